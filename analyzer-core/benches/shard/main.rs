//! What it costs to gather readings in shards, to merge shards, to hand them from thread to thread of the page, and to write and read packs.
//!
//! `cargo bench -p hangscope-analyzer-core --bench shard`.

#![expect(clippy::print_stdout, reason = "a benchmark prints, and stops when its own data are wrong")]

#[allow(dead_code, reason = "other benchmarks have more faults")]
#[path = "../diagnose/mesh.rs"]
mod mesh;
#[path = "../../tests/dump/pickler.rs"]
mod pickler;
#[path = "../read/stacks.rs"]
mod stacks;

use std::sync::LazyLock;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use hangscope_analyzer_core::dump::{Reading, read};
use hangscope_analyzer_core::shard::{Shard, message, pack};

use mesh::{Fault, Mesh};

const RANKS: usize = 128;
const ENTRIES: usize = 2000;
/// Ranks that one thread reads: the job in four parts.
const RANKS_A_PART: usize = RANKS / 4;

static READINGS: LazyLock<Vec<Reading>> = LazyLock::new(|| {
    let mesh = Mesh { ranks: RANKS, entries: ENTRIES, fault: Fault::Skip };
    let stacks = stacks::stacks(30, 150);
    (0..RANKS).filter_map(|rank| mesh.dump(rank, &stacks).map(|bytes| read(&format!("rank_{rank}"), &bytes))).collect()
});
static PARTS: LazyLock<Vec<Shard>> =
    LazyLock::new(|| READINGS.chunks(RANKS_A_PART).map(|part| part.iter().cloned().collect()).collect());
static PACK: LazyLock<Vec<u8>> = LazyLock::new(|| pack::PackWriter::new(whole()).to_bytes());

fn whole() -> Shard {
    PARTS.iter().cloned().fold(Shard::default(), |mut all, part| {
        all.merge(part);
        all
    })
}

/// All entries of the job, so that times are said for each of them.
fn entries() -> ItemsCount {
    ItemsCount::new(PARTS.iter().map(Shard::entries).sum::<u64>())
}

fn main() {
    let entries: u64 = PARTS.iter().map(Shard::entries).sum();
    let again = pack::read("job.hangscope", &PACK);
    assert!(again.entries() == entries && again.notes().is_empty() && again.len() == RANKS);
    println!("{RANKS} ranks, {entries} entries; as a pack {} bytes", PACK.len());
    divan::main();
}

#[divan::bench(name = "gather readings", sample_count = 20)]
fn gather(bencher: Bencher<'_, '_>) {
    bencher
        .counter(entries())
        .with_inputs(|| READINGS.clone())
        .bench_local_values(|readings| readings.into_iter().collect::<Shard>());
}

#[divan::bench(name = "merge four shards", sample_count = 50)]
fn merge(bencher: Bencher<'_, '_>) {
    bencher.counter(entries()).with_inputs(|| PARTS.clone()).bench_local_values(|parts| {
        parts.into_iter().fold(Shard::default(), |mut all, part| {
            all.merge(part);
            all
        })
    });
}

#[divan::bench(name = "write a message", sample_count = 20)]
fn write_message(bencher: Bencher<'_, '_>) {
    let whole = whole();
    bencher.counter(entries()).bench_local(|| message::encode(black_box(&whole)));
}

#[divan::bench(name = "read a message", sample_count = 20)]
fn read_message(bencher: Bencher<'_, '_>) {
    let bytes = message::encode(&whole());
    bencher.counter(entries()).bench_local(|| message::decode(black_box(&bytes)));
}

/// Putting the shard in order is part of it.
#[divan::bench(name = "write a pack", sample_count = 10)]
fn write_pack(bencher: Bencher<'_, '_>) {
    bencher.counter(entries()).with_inputs(whole).bench_local_values(|shard| pack::PackWriter::new(shard).to_bytes());
}

#[divan::bench(name = "read a pack", sample_count = 10)]
fn read_pack(bencher: Bencher<'_, '_>) {
    bencher.counter(entries()).bench_local(|| pack::read("job.hangscope", black_box(&PACK)));
}
