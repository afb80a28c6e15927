//! What cells can be coloured by, and which rows a text finds.

use hangscope_analyzer_core::Analysis;
use hangscope_analyzer_core::report::{CellCode, ColourBy, Layer};
use serde_json::json;

use crate::fake::{Fake, op};

fn legend(layer: &Layer) -> Vec<(&str, u64)> {
    layer.legend.iter().map(|item| (item.label.as_str(), item.cells)).collect()
}

/// That the codes are those of the legend, as often as it says, and 0 where there is no entry.
#[track_caller]
fn check_codes(analysis: &Analysis, layer: &Layer) {
    assert_eq!(layer.codes.len(), analysis.cells().len());
    for item in &layer.legend {
        assert_eq!(layer.codes.iter().filter(|&&code| code == item.code).count() as u64, item.cells, "{item:?}");
    }
    let has_entry =
        |code: u8| matches!(CellCode(code).state(), CellCode::COMPLETED | CellCode::STARTED | CellCode::SCHEDULED);
    let with_entry = analysis.cells().iter().map(|&code| has_entry(code));
    assert!(with_entry.eq(layer.codes.iter().map(|&code| code != 0)));
}

#[test]
fn operations_sizes_and_dtypes() {
    let mut job = Fake::trained(4);
    job.all(op("broadcast").no_tensors());
    job.some(&[0, 1], op("all_reduce")).some(&[2], op("all_reduce").dtype("Half"));
    let analysis = job.analyze();
    let layer = analysis.layer(ColourBy::Signature);
    // 16 floats in row 4 or 5, whoever made them.
    let expected = [("all_reduce [16] Float", 14), ("broadcast", 4), ("all_reduce [16] Half", 1)];
    assert_eq!(legend(&layer), expected);
    check_codes(&analysis, &layer);
}

#[test]
fn splits_make_no_other_signature() {
    let mut job = Fake::new(2);
    let exchange = op("all_to_all").sizes(&[8], &[8]);
    job.all(exchange.clone().splits(&[4, 4], &[4, 4])).all(exchange.splits(&[2, 6], &[2, 6]));
    let layer = job.analyze().layer(ColourBy::Signature);
    assert_eq!(legend(&layer), [("all_to_all [8] Float", 4)]);
}

#[test]
fn the_rest_shares_a_code() {
    let mut job = Fake::new(2);
    for size in 1..=20 {
        job.all(op("all_reduce").size(&[size]));
    }
    job.all(op("all_reduce").size(&[20]));
    let analysis = job.analyze();
    let layer = analysis.layer(ColourBy::Signature);
    check_codes(&analysis, &layer);
    let found = legend(&layer);
    assert_eq!(found.len(), 12);
    // The most frequent first, then by their texts.
    assert_eq!(&found[..3], [("all_reduce [20] Float", 4), ("all_reduce [10] Float", 2), ("all_reduce [11] Float", 2)]);
    assert_eq!((found[11], layer.legend[11].code), (("other", 18), 12));
}

#[test]
fn places_in_the_code() {
    let mut job = Fake::trained(2);
    job.all(op("all_reduce").at("train_step", 10)).all(op("broadcast").at("save", 7));
    job.message(0, "send 0->1", op("").at("send_forward", 3));
    let analysis = job.analyze();
    let layer = analysis.layer(ColourBy::CallSite);
    check_codes(&analysis, &layer);
    let expected = [
        ("train_step (train.py:10)", 4),
        ("save (train.py:7)", 2),
        ("train_step (train.py:11)", 2),
        ("train_step (train.py:12)", 2),
        ("send_forward (train.py:3)", 1),
    ];
    assert_eq!(legend(&layer), expected);
}

#[test]
fn files_of_one_name_and_no_stack() {
    let mut job = Fake::trained(3);
    job.edit_all(|rank, entry| match rank {
        0 => entry["frames"] = json!([{"name": "step", "filename": "/job/a/run.py", "line": 5}]),
        1 => entry["frames"] = json!([{"name": "step", "filename": "/job/b/run.py", "line": 5}]),
        _ => entry["frames"] = json!([]),
    });
    let analysis = job.analyze();
    let layer = analysis.layer(ColourBy::CallSite);
    let expected = [("no call stack", 3), ("step (/job/a/run.py:5)", 3), ("step (/job/b/run.py:5)", 3)];
    assert_eq!(legend(&layer), expected);
}

#[test]
fn rows_by_the_text_of_a_frame() {
    let mut job = Fake::trained(2);
    job.some(&[1], op("all_reduce").at("Clip_Grad", 20)).some(&[0], op("all_reduce").at("backward", 21));
    job.message(0, "send 0->1", op("").at("send_forward", 3));
    let analysis = job.analyze();
    assert_eq!(analysis.rows_with_frame("clip_grad"), [3]);
    assert_eq!(analysis.rows_with_frame("forward"), [4]);
    assert_eq!(analysis.rows_with_frame("TRAIN.py"), [0, 1, 2, 3, 4]);
    assert_eq!(analysis.rows_with_frame("train_step"), [0, 1, 2]);
    assert_eq!(analysis.rows_with_frame("no such thing"), [0; 0]);
}
