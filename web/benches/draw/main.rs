//! What it costs to lay out a large table and to make the draw commands of what is in view.
//!
//! `cargo bench -p hangscope-web --bench draw`. The page has 16 ms for a frame: scrolling makes a draw list for each of them, while folding and
//! zooming lay the table out anew.

#![allow(dead_code, unused_imports, reason = "the page uses more of its files, and they have unit tests")]
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

// The page is a module for browsers, and no crate can use another such one: these are its own files that need no browser.
#[path = "../../src/dataset.rs"]
mod dataset;
#[path = "../../src/example.rs"]
mod example;
#[path = "../../../analyzer-core/benches/growth/job.rs"]
mod job;
#[path = "../../src/overview/mod.rs"]
mod overview;
#[path = "../../src/rank_status.rs"]
mod rank_status;
mod table;
#[path = "../../src/text.rs"]
mod text;

use hangscope_analyzer_core::tree_set::TreeSet;
use std::sync::{Arc, LazyLock};

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use hangscope_analyzer_core::analyze;
use hangscope_analyzer_core::report::ColourBy;

use dataset::Dataset;
use job::{Fault, Job, Shape};
use overview::{LayerData, TableData};
use table::draw_list::draw_list;
use table::layout::TableLayout;
use table::minimap::Minimap;
use table::scene::{Scene, View};
use table::shown::{Order, Shown};
use table::zoom::Zoom;

static NOTHING: TreeSet<u32> = TreeSet::new();

/// A job of a thousand ranks, as the page holds it.
struct Page {
    dataset: Dataset,
    layer: LayerData,
    order: Order,
}

static PAGE: LazyLock<Page> = LazyLock::new(|| {
    let job = Job { shape: Shape::Mesh, ranks: 1024, entries: 1000, fault: Fault::Skip, nameless: false };
    let analysis = analyze(job.readings());
    let (index, cells) = (analysis.table_index().clone(), analysis.cells().to_vec());
    let layer = LayerData::new(ColourBy::CallSite, analysis.layer(ColourBy::CallSite), &index.bands, &cells);
    let table = TableData::new(analysis.report(), index, cells);
    let report = analysis.report().clone();
    let dataset = Dataset::new("job".to_owned(), report, table, String::new());
    Page { dataset, layer, order: Order(Arc::new(analysis.program_order())) }
});

/// How the table is looked at.
#[derive(Clone, Copy, Debug)]
enum Look {
    /// As it opens: what agrees is folded, and so are ranks and groups that are alike.
    Folded,
    /// Every row and rank, as large as it opens.
    Near,
    /// Every row and rank, so small that all that fits is seen.
    Far,
    /// Every row and rank, coloured by call site.
    Layer,
    /// All rows in one order.
    Order,
}

const LOOKS: [Look; 5] = [Look::Folded, Look::Near, Look::Far, Look::Layer, Look::Order];

impl Look {
    fn shown(self) -> Shown {
        let first = Shown::at_first(&PAGE.dataset);
        let order = Some(PAGE.order.clone());
        match self {
            Look::Folded => first,
            Look::Near | Look::Far | Look::Layer => Shown::default(),
            Look::Order => Shown { order, ..Shown::default() },
        }
    }

    fn zoom(self) -> Zoom {
        match self {
            Look::Far | Look::Layer => Zoom::showing_all(|_| false),
            _ => Zoom::default(),
        }
    }

    fn layout(self) -> TableLayout {
        TableLayout::new(&PAGE.dataset, &self.shown(), self.zoom())
    }

    /// In the middle of the table, on a large screen.
    fn scene(self, layout: &TableLayout) -> Scene<'_> {
        let (width, height) = (1920.0, 1080.0);
        let zoom = self.zoom();
        let middle = |whole: f64, room: f64| ((whole - room) / 2.0).max(0.0).floor();
        let view = View {
            width,
            height,
            scroll_x: middle(layout.columns.width(zoom), width),
            scroll_y: middle(layout.height(), height),
        };
        let layer = matches!(self, Look::Layer).then_some(&PAGE.layer);
        Scene { dataset: &PAGE.dataset, layout, zoom, view, active: None, layer, contradicted: &NOTHING }
    }
}

fn main() {
    let (ranks, rows) = (PAGE.dataset.column_count(), PAGE.dataset.rows().len());
    println!("{ranks} ranks, {rows} rows, {} cells", PAGE.dataset.cells().len());
    for look in LOOKS {
        let layout = look.layout();
        let commands = draw_list(&look.scene(&layout));
        assert!(layout.line_count() > 0 && commands.len() > 10, "{look:?} shows nothing");
        println!(
            "{look:?}: {} lines, {} columns, {} commands",
            layout.line_count(),
            layout.columns.len(),
            commands.len()
        );
    }
    divan::main();
}

#[divan::bench(args = LOOKS, sample_count = 30)]
fn draw(bencher: Bencher<'_, '_>, look: Look) {
    let layout = look.layout();
    let scene = look.scene(&layout);
    bencher.bench_local(|| draw_list(black_box(&scene)));
}

#[divan::bench(args = LOOKS, sample_count = 20)]
fn layout(bencher: Bencher<'_, '_>, look: Look) {
    bencher.counter(ItemsCount::new(PAGE.dataset.rows().len())).bench_local(|| look.layout());
}

#[divan::bench(args = LOOKS, sample_count = 20)]
fn minimap(bencher: Bencher<'_, '_>, look: Look) {
    let layout = look.layout();
    bencher.bench_local(|| Minimap::new(&PAGE.dataset, black_box(&layout), look.zoom(), 1080.0));
}
