use super::*;
use crate::example;
use crate::table::shown::{Filter, StateFilter};

fn lines_of(dataset: &Dataset, shown: &Shown) -> Vec<Line> {
    let layout = TableLayout::new(dataset, shown, Zoom::default());
    (0..layout.line_count()).filter_map(|index| layout.line(index)).collect()
}

fn lines(shown: &Shown) -> Vec<Line> {
    lines_of(&example::dataset(), shown)
}

fn mesh(world: u32) -> Dataset {
    example::mesh(world, 8, 19).dataset()
}

fn tiny() -> Zoom {
    (0..20).fold(Zoom::default(), |zoom, _| zoom.farther())
}

#[test]
fn every_row_under_its_head() {
    let mut expected = vec![Line::Head(0)];
    expected.extend((0..10).map(Line::Row));
    expected.push(Line::Head(1));
    expected.extend((10..13).map(Line::Row));
    assert_eq!(lines(&Shown::default()), expected);
}

#[test]
fn closed_and_filtered_bands() {
    let closed = Shown { closed: [0].into(), ..Shown::default() };
    assert_eq!(lines(&closed), [Line::Head(0), Line::Head(1), Line::Row(10), Line::Row(11), Line::Row(12)]);
    let filtered = |filter| lines(&Shown { filter, ..Shown::default() });
    assert_eq!(filtered(Filter { band: Some(1), ..Filter::default() })[0], Line::Head(1));
    assert_eq!(filtered(Filter { op: Some("barrier".to_owned()), ..Filter::default() }), []);
    assert_eq!(filtered(Filter { op: Some("all_reduce".to_owned()), ..Filter::default() }).len(), 15);
    let missing = Filter { state: Some(StateFilter::Missing), ..Filter::default() };
    assert_eq!(filtered(missing), [Line::Head(0), Line::Row(9), Line::Head(1), Line::Row(12)]);
    let ranks = Filter { ranks: "0-3".to_owned(), ..Filter::default() };
    assert_eq!(filtered(ranks)[0], Line::Head(1), "none of these ranks is in the other group");
    assert_eq!(filtered(Filter { group: "tp".to_owned(), ..Filter::default() }).len(), 11);
}

#[test]
fn folds_what_agrees_but_not_what_leads_to_a_finding() {
    let mut index = example::index();
    // 20 rows in the first band instead of ten: ten more that agree at the front.
    let heads = index.rows.clone();
    index.rows = std::iter::repeat_n(heads.get(0), 10).flatten().chain(heads.iter()).collect();
    index.bands[0].row_count = 20;
    index.bands[1].first_row = 20;
    index.findings[0].row = Some(19);
    let dataset = example::from_parts(example::report(), &index, Vec::new());

    let shown = Shown { folded: true, ..Shown::default() };
    let layout = TableLayout::new(&dataset, &shown, Zoom::default());
    assert_eq!(layout.line(1), Some(Line::Fold(0, 11)));
    assert_eq!(layout.line(2), Some(Line::Row(11)), "eight rows before the finding");
    assert_eq!(layout.line(10), Some(Line::Row(19)));
    assert_eq!(layout.line(12), Some(Line::Row(20)), "two rows are not worth folding");
    assert_eq!(layout.line_of(5), Some(1));
    assert_eq!(layout.line_of(19), Some(10));
    assert_eq!(layout.stats.rows, 12);
    assert_eq!(layout.row_of(&dataset, 1), Some(0), "the keyboard can be on a fold");

    let opened = Shown { opened: [0].into(), ..shown };
    assert_eq!(TableLayout::new(&dataset, &opened, Zoom::default()).line_of(5), Some(6));
}

#[test]
fn one_group_stands_for_all_that_are_alike() {
    let dataset = mesh(64);
    let shown = Shown { folded: true, groups_folded: true, ..Shown::default() };
    let layout = TableLayout::new(&dataset, &shown, Zoom::default());
    let heads: Vec<Line> = (0..layout.line_count())
        .filter_map(|line| layout.line(line))
        .filter(|line| matches!(line, Line::Head(_) | Line::Alike(..)))
        .collect();
    let expected = [
        Line::Head(0),
        Line::Alike(1, 6),
        Line::Head(2),
        Line::Head(8),
        Line::Alike(9, 6),
        Line::Head(11),
        Line::Head(16),
    ];
    assert_eq!(heads, expected, "the finding's groups stand by themselves");
    assert_eq!((layout.stats.bands, layout.stats.bands_alike), (5, 12));
    let alike = layout.line_of(dataset.index().bands[5].first_row + 3).unwrap();
    assert_eq!(layout.line(alike), Some(Line::Alike(1, 6)), "a folded row leads to what stands for it");
    assert_eq!(layout.row_of(&dataset, alike), Some(dataset.index().bands[1].first_row));

    let single = Shown { single_bands: [5].into(), ..shown.clone() };
    let layout = TableLayout::new(&dataset, &single, Zoom::default());
    assert_eq!((layout.stats.bands, layout.stats.bands_alike), (6, 11));
    let opened = Shown { opened_groups: [dataset.likeness().bands[0]].into(), ..shown.clone() };
    assert_eq!(TableLayout::new(&dataset, &opened, Zoom::default()).stats.bands_alike, 6);
    let filter = Filter { ranks: "16-23".to_owned(), ..Filter::default() };
    let of_ranks = TableLayout::new(&dataset, &Shown { filter, ..shown }, Zoom::default());
    assert_eq!(of_ranks.stats.bands, 1 + 2 + 1, "what is left out is not counted");
}

#[test]
fn places() {
    let dataset = example::dataset();
    let layout = TableLayout::new(&dataset, &Shown::default(), Zoom::default());
    let second_head = HEAD_HEIGHT + 10.0 * 18.0 + 8.0;
    assert_eq!(layout.extent(11), (second_head, HEAD_HEIGHT));
    assert_eq!(layout.height(), second_head + HEAD_HEIGHT + 3.0 * 18.0 + 8.0);
    assert_eq!(layout.line_at(0.0), Some(0));
    assert_eq!(layout.line_at(26.0), Some(1));
    assert_eq!(layout.line_at(second_head - 1.0), None, "between bands");
    assert_eq!(layout.line_at(1e9), None);
    assert_eq!(layout.lines_between(0.0, 27.0), 0..2);
    assert_eq!(layout.lines_between(27.0, 28.0), 1..2);
    assert_eq!(layout.lines_between(0.0, 1e9), 0..15);
    assert_eq!(layout.lines_between(0.0, 26.0), 0..1, "a line that only begins there is not in it");
    assert_eq!(layout.lines_between(1e9, 2e9), 15..15);
    for row in 0..13 {
        let line = layout.line_of(row).unwrap();
        assert_eq!(layout.line(line), Some(Line::Row(row)));
    }
    assert_eq!(layout.line_of(13), None);
    assert_eq!(layout.head_before(14), Some(11));
    assert_eq!(layout.stop_from(&dataset, 11, true), Some(10));
    assert_eq!(layout.stop_from(&dataset, 11, false), Some(9));
    assert_eq!(layout.stop_from(&dataset, 0, false), None);
}

#[test]
fn pieces_of_what_is_in_view() {
    let dataset = example::dataset();
    let layout = TableLayout::new(&dataset, &Shown::default(), Zoom::default());
    let pieces: Vec<_> = layout.pieces(30.0, 60.0).collect();
    assert_eq!(pieces.len(), 1);
    assert_eq!((pieces[0].kind, pieces[0].top), (RunKind::Rows { first: 0, count: 2 }, 26.0));
    let all: Vec<_> = layout.pieces(0.0, 1e6).map(|piece| (piece.kind, piece.line)).collect();
    let rows = |first, count| RunKind::Rows { first, count };
    assert_eq!(all, [(RunKind::Head(0), 0), (rows(0, 10), 1), (RunKind::Head(1), 11), (rows(10, 3), 12)]);
    // Four rows share a pixel: the pieces begin with whole ones.
    let layout = TableLayout::new(&dataset, &Shown::default(), tiny());
    assert_eq!(layout.extent(1).0, 3.0);
    let pieces: Vec<_> = layout.pieces(4.5, 5.0).collect();
    assert_eq!((pieces[0].kind, pieces[0].run, pieces[0].top), (rows(4, 4), (0, 10), 4.0));
}

#[test]
fn a_million_rows_are_few_runs() {
    let dataset = mesh(4096);
    let layout = TableLayout::new(&dataset, &Shown::default(), tiny());
    assert_eq!(layout.runs.len(), 2 * dataset.index().bands.len());
    let line = layout.line_of(dataset.rows().len() as u32 - 1).unwrap();
    assert_eq!(line, layout.line_count() - 1);
    let (top, height) = layout.extent(line);
    assert_eq!(layout.line_at(top + height / 2.0), Some(line));
}

#[test]
fn an_empty_table() {
    let mut index = example::index();
    index.bands.clear();
    let dataset = example::from_parts(example::report(), &index, Vec::new());
    let layout = TableLayout::new(&dataset, &Shown::default(), Zoom::default());
    assert_eq!((layout.height(), layout.line_at(0.0), layout.line_of(0)), (0.0, None, None));
    assert_eq!(layout.lines_between(0.0, 100.0), 0..0);
    assert_eq!(layout.head_before(0), None);
}
