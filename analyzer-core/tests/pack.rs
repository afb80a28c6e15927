//! Packs: what goes in comes out, in any division, and damage is described.

#![allow(clippy::unwrap_used, reason = "a test may stop where its own set-up fails")]

#[path = "dump/fixtures.rs"]
mod fixtures;

use hangscope_analyzer_core::dump::{FaultKind, Reading, read};
use hangscope_analyzer_core::report::{render_json, render_text};
use hangscope_analyzer_core::shard::{Shard, pack};
use hangscope_analyzer_core::{Analysis, analyze, analyze_shard};

fn packed(readings: Vec<Reading>) -> Vec<u8> {
    pack::PackWriter::new(readings.into_iter().collect()).to_bytes()
}

/// Report, table and every cell in full: all that anybody gets to see.
fn shown(analysis: &Analysis) -> String {
    let mut text = render_json(analysis.report()) + &render_text(analysis.report());
    let index = analysis.table_index();
    text.push_str(&format!("{index:?}{:?}", analysis.cells()));
    for row in 0..index.rows.len() as u32 {
        for column in &index.ranks {
            text.push_str(&format!("{:?}", analysis.cell_detail(row, column.rank)));
        }
    }
    text
}

#[test]
fn a_pack_shows_what_the_files_show() {
    for job in fixtures::jobs() {
        let readings = fixtures::readings(&job);
        let bytes = packed(readings.clone());
        let shard = pack::read("job.hangscope", &bytes);
        assert!(pack::is_pack(&bytes));
        assert_eq!(shown(&analyze_shard(shard)), shown(&analyze(readings)), "{job}");
    }
}

#[test]
fn packs_of_parts_are_as_good_as_one_of_all() {
    for job in fixtures::jobs() {
        let readings = fixtures::readings(&job);
        let whole = packed(readings.clone());
        let mut merged = Shard::default();
        // The second half first: the order of the parts does not matter.
        for part in [&readings[readings.len() / 2..], &readings[..readings.len() / 2]] {
            merged.merge(pack::read("part.hangscope", &packed(part.to_vec())));
        }
        assert_eq!(pack::PackWriter::new(merged.clone()).to_bytes(), whole, "{job}");
        assert_eq!(shown(&analyze_shard(merged)), shown(&analyze(readings)), "{job}");
    }
}

#[test]
fn faults_of_files_are_kept() {
    let readings = || vec![read("rank_0", b"no dump"), read("rank_1", b"")];
    let shard = pack::read("job.hangscope", &packed(readings()));
    assert_eq!(shown(&analyze_shard(shard)), shown(&analyze(readings())));
}

#[test]
fn a_cut_pack_says_so_and_gives_what_is_there() {
    let readings = fixtures::many(200);
    let bytes = packed(readings);
    assert_eq!(pack::read("job.hangscope", &bytes).len(), 200);
    let mut most = 0;
    for len in (0..bytes.len()).step_by(97).chain([bytes.len() - 1]) {
        let shard = pack::read("job.hangscope", &bytes[..len]);
        let kinds: Vec<FaultKind> =
            shard.notes().iter().flat_map(|note| &note.faults).map(|fault| fault.kind).collect();
        assert!(kinds.contains(&FaultKind::Truncated), "cut at {len} of {}: {kinds:?}", bytes.len());
        assert!(shard.len() < 200 || len > bytes.len() - 40, "cut at {len}");
        most = most.max(shard.len());
    }
    assert!(most > 0, "a cut pack still has its first dumps");
}

#[test]
fn a_flipped_bit_is_noticed_wherever_it_is() {
    let bytes = packed(fixtures::many(3));
    let whole = shown(&analyze_shard(pack::read("job.hangscope", &bytes)));
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        let shard = pack::read("job.hangscope", &damaged);
        let noted = shard.notes().iter().any(|note| note.file == "job.hangscope" && !note.faults.is_empty());
        assert!(noted, "byte {at} of {}", bytes.len());
        let report = analyze_shard(shard);
        assert_ne!(shown(&report), whole, "byte {at}");
    }
}

#[test]
fn what_is_no_pack_or_a_newer_one_is_said() {
    let said = |bytes: &[u8]| {
        let shard = pack::read("job.hangscope", bytes);
        assert!(shard.is_empty());
        shard.notes()[0].faults[0].message.clone()
    };
    let mut newer = packed(fixtures::many(2));
    newer[8] = 9;
    assert_eq!(said(&newer), "this pack has format 9, and this hangscope reads format 1: update hangscope");
    assert_eq!(said(b"something else"), "this is no pack: make one with `hangscope pack`");
    assert!(said(b"").starts_with("the pack breaks off here"));
}

#[test]
fn two_packs_in_one_file_are_not_read_in_silence() {
    let mut bytes = packed(fixtures::many(2));
    bytes.extend(bytes.clone());
    let shard = pack::read("job.hangscope", &bytes);
    assert_eq!(shard.len(), 2);
    assert!(shard.notes()[0].faults[0].message.contains("what follows is left out"));
}

#[test]
fn a_pack_is_a_fraction_of_the_dumps() {
    let readings = fixtures::readings("m_fsdp_skip_block_4r");
    let pickles: u64 = readings.iter().map(|reading| reading.size_bytes).sum();
    let pack = packed(readings).len() as u64;
    assert!(pack * 4 < pickles, "{pack} of {pickles}: even a small job shrinks");
}
