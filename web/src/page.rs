//! The page's state, and what the user can make it do. Every component gets it by context.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use hangscope_analyzer_core::report::{CellDetail, ColourBy, ProgramOrderView};
use leptos::prelude::*;
use wasm_bindgen::JsValue;

use crate::dataset::{CellPlace, Dataset};
use crate::load::protocol::{Answer, FunctionHit, Request};
use crate::load::{Analyst, BUDGET_BYTES, LoadEvent, Loading, Opened, Progress, memory_bytes, viewer};
use crate::overview::LayerData;
use crate::parts::{panel_covers, save_json};
use crate::table::{FrameRows, Order, Shown, Stats, Zoom};

/// What the page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Landing,
    /// Files are read. What was there before comes back if the user cancels.
    Reading,
    /// What was opened may need more memory than there is: nothing was read yet.
    TooLarge {
        title: String,
        bytes: u64,
        needed_bytes: u64,
    },
    /// A dataset is there.
    Loaded,
    /// Files were opened and no dump was among them: the dataset has the notes on them.
    NothingReadable,
    /// It did not work. `in_worker`: while reading or analysing, for which the command may have more memory.
    Failed {
        title: String,
        reason: String,
        in_worker: bool,
    },
}

/// A dialogue over the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialog {
    Open,
    Keys,
    Notes,
}

/// What of a finding is unfolded below the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum More {
    Why,
    NextSteps,
    /// The call stacks of all sides.
    Stacks,
}

/// All state of the page. Signals for what is small and changes; the dataset stands outside.
#[derive(Clone, Copy)]
pub(crate) struct Page {
    glue_url: StoredValue<String>,
    pub(crate) phase: RwSignal<Phase>,
    pub(crate) progress: RwSignal<Progress>,
    pub(crate) dragging: RwSignal<bool>,
    loading: StoredValue<Option<Loading>, LocalStorage>,
    before_reading: StoredValue<Phase>,
    /// What may be too large.
    held_back: StoredValue<Option<Opened>, LocalStorage>,

    dataset: StoredValue<Option<Rc<Dataset>>, LocalStorage>,
    /// Counts the datasets that were shown: who shows something of the dataset depends on it.
    pub(crate) version: RwSignal<u32>,
    analyst: StoredValue<Option<Analyst>, LocalStorage>,

    /// Index of the finding that the verdict shows.
    pub(crate) finding: RwSignal<usize>,
    pub(crate) more: RwSignal<Option<More>>,
    pub(crate) shown: RwSignal<Shown>,
    pub(crate) zoom: RwSignal<Zoom>,
    /// How much of the table there is to see, as it is shown.
    pub(crate) stats: RwSignal<Stats>,
    /// What the user wants the cells to be coloured by, if not by their state.
    pub(crate) colour: RwSignal<Option<ColourBy>>,
    layer: StoredValue<Option<Rc<LayerData>>, LocalStorage>,
    /// Counts the layers that came, and those that were put away.
    layers: RwSignal<u32>,
    /// One order over the rows of all groups, once somebody has asked for it.
    order: RwSignal<Option<Order>>,
    order_is_wanted: StoredValue<bool>,
    /// The place in the code that rows are to be called from, as it is typed.
    pub(crate) frame: RwSignal<String>,
    /// Whether the analysis is looking for such a place.
    seeks_frame: StoredValue<bool>,
    /// Whether the map of the whole table is there.
    pub(crate) map: RwSignal<bool>,
    /// The active cell.
    pub(crate) active: RwSignal<Option<CellPlace>>,
    /// The column that moves up and down keep to.
    pub(crate) wanted_column: StoredValue<u32>,
    /// Counts the wishes that the active cell be brought into view.
    pub(crate) reveal: RwSignal<u32>,
    /// Counts the wishes that all ranks fit into the window.
    pub(crate) fit: RwSignal<u32>,
    /// Counts the wishes that the table get the keyboard.
    pub(crate) focus_table: RwSignal<u32>,
    pub(crate) panel_open: RwSignal<bool>,
    pub(crate) detail: RwSignal<Option<CellDetail>>,
    pub(crate) dialog: RwSignal<Option<Dialog>>,
    /// What a screen reader says next.
    pub(crate) announcement: RwSignal<String>,
    /// Answer to a search for functions: the text and what was found.
    pub(crate) functions: RwSignal<(String, Vec<FunctionHit>)>,
}

impl Page {
    pub(crate) fn new(glue_url: String) -> Self {
        Self {
            glue_url: StoredValue::new(glue_url),
            phase: RwSignal::new(Phase::Landing),
            progress: RwSignal::default(),
            dragging: RwSignal::new(false),
            loading: StoredValue::new_local(None),
            before_reading: StoredValue::new(Phase::Landing),
            held_back: StoredValue::new_local(None),
            dataset: StoredValue::new_local(None),
            version: RwSignal::new(0),
            analyst: StoredValue::new_local(None),
            finding: RwSignal::new(0),
            more: RwSignal::new(None),
            shown: RwSignal::default(),
            zoom: RwSignal::default(),
            stats: RwSignal::default(),
            colour: RwSignal::new(None),
            layer: StoredValue::new_local(None),
            layers: RwSignal::new(0),
            order: RwSignal::new(None),
            order_is_wanted: StoredValue::new(false),
            frame: RwSignal::default(),
            seeks_frame: StoredValue::new(false),
            map: RwSignal::new(false),
            active: RwSignal::new(None),
            wanted_column: StoredValue::new(0),
            reveal: RwSignal::new(0),
            fit: RwSignal::new(0),
            focus_table: RwSignal::new(0),
            panel_open: RwSignal::new(false),
            detail: RwSignal::new(None),
            dialog: RwSignal::new(None),
            announcement: RwSignal::default(),
            functions: RwSignal::default(),
        }
    }

    /// The page's state, of the component that asks.
    pub(crate) fn of_context() -> Self {
        expect_context()
    }

    /// The dataset; who asks is told when another one comes.
    pub(crate) fn dataset(&self) -> Option<Rc<Dataset>> {
        self.version.track();
        self.dataset.get_value()
    }

    /// The dataset as it is now.
    pub(crate) fn dataset_untracked(&self) -> Option<Rc<Dataset>> {
        self.dataset.try_get_value().flatten()
    }

    // ---- opening ----

    /// Reads what was dropped or picked.
    pub(crate) fn open(self, opened: Opened) {
        self.dialog.set(None);
        if opened.sources.is_empty() {
            self.stop_loading();
            self.phase.set(Phase::Failed {
                title: opened.title,
                reason: "There are no files in it".to_owned(),
                in_worker: false,
            });
            return;
        }
        let needed_bytes = memory_bytes(&opened.sources);
        if needed_bytes > BUDGET_BYTES {
            self.stop_loading();
            let bytes = opened.sources.iter().map(|source| source.size_bytes).fold(0, u64::saturating_add);
            self.phase.set(Phase::TooLarge { title: opened.title.clone(), bytes, needed_bytes });
            self.held_back.set_value(Some(opened));
            return;
        }
        self.read(opened);
    }

    /// Reads what may be too large.
    pub(crate) fn read_all_the_same(self) {
        if let Some(opened) = self.held_back.try_update_value(Option::take).flatten() {
            self.read(opened);
        }
    }

    fn read(self, opened: Opened) {
        self.stop_loading();
        if self.phase.get_untracked() != Phase::Reading {
            self.before_reading.set_value(self.phase.get_untracked());
        }
        self.progress.set(Progress { title: opened.title.clone(), files: opened.sources.len(), ..Progress::default() });
        self.phase.set(Phase::Reading);
        let glue_url = self.glue_url.get_value();
        let title = opened.title.clone();
        let loading = Loading::start(
            &glue_url,
            opened,
            move |event| self.on_load(event),
            move |answer, payload| self.on_answer(answer, &payload),
        );
        match loading {
            Ok(loading) => self.loading.set_value(Some(loading)),
            Err(error) => self.phase.set(Phase::Failed { title, reason: message(&error), in_worker: false }),
        }
    }

    /// Reads what `opening` will have found.
    pub(crate) fn open_later(self, opening: impl Future<Output = Result<Opened, JsValue>> + 'static) {
        leptos::task::spawn_local(async move {
            match opening.await {
                Ok(opened) => self.open(opened),
                Err(error) => {
                    self.phase.set(Phase::Failed { title: String::new(), reason: message(&error), in_worker: false });
                }
            }
        });
    }

    pub(crate) fn open_sample(self) {
        self.open_later(async { viewer::sample() });
    }

    /// Stops reading and shows what was there before.
    pub(crate) fn cancel(self) {
        self.stop_loading();
        self.phase.set(self.before_reading.get_value());
    }

    /// Workers may be in a callback of theirs right now: they go when that has returned.
    fn stop_loading(self) {
        if let Some(loading) = self.loading.try_update_value(Option::take).flatten() {
            leptos::task::spawn_local(async move { drop(loading) });
        }
    }

    fn on_load(self, event: LoadEvent) {
        match event {
            LoadEvent::Progress(progress) => self.progress.set(progress),
            LoadEvent::Failed { title, reason } => {
                self.stop_loading();
                self.phase.set(Phase::Failed { title, reason, in_worker: true });
            }
            LoadEvent::Done(dataset, analyst) => {
                self.stop_loading();
                // In a task of its own: to take the data over and to show it is too much for one.
                set_timeout(move || self.show(*dataset, analyst), Duration::ZERO);
            }
        }
    }

    fn show(self, dataset: Dataset, analyst: Analyst) {
        let nothing_readable = dataset.report.job.ranks_loaded == 0;
        let (title, headline) = (dataset.title.clone(), dataset.report.headline.clone());
        let first_cell = dataset.finding_cell(0);
        let shown = Shown::at_first(&dataset);
        self.map.set(shown.ranks_folded && !panel_covers());
        self.shown.set(shown);
        self.dataset.set_value(Some(Rc::new(dataset)));
        self.analyst.set_value(Some(analyst));
        self.finding.set(0);
        self.more.set(None);
        self.dialog.set(None);
        self.detail.set(None);
        self.functions.set(Default::default());
        self.order.set(None);
        self.order_is_wanted.set_value(false);
        self.frame.set(String::new());
        self.seeks_frame.set_value(false);
        self.colour_by(None);
        self.active.set(None);
        // Where it would lie over the table it waits until it is asked for.
        self.panel_open.set(first_cell.is_some() && !panel_covers());
        self.version.update(|version| *version += 1);
        self.phase.set(if nothing_readable { Phase::NothingReadable } else { Phase::Loaded });
        if let Some(cell) = first_cell {
            self.go_to(cell);
        }
        document().set_title(&format!("{title}, hangscope"));
        self.announcement.set(headline);
    }

    fn on_answer(self, answer: Answer, payload: &js_sys::Array) {
        match answer {
            Answer::Detail { row, rank, detail } => {
                let is_wanted = self.active.get_untracked().is_some_and(|active| {
                    let dataset = self.dataset.get_value();
                    active.row == row && dataset.is_some_and(|dataset| dataset.rank(active.column) == Some(rank))
                });
                // An answer to an older question is of no use.
                if is_wanted {
                    self.detail.set(detail.map(|detail| *detail));
                }
            }
            Answer::ReportJson => {
                let title = self.dataset.get_value().map(|dataset| dataset.title.clone()).unwrap_or_default();
                // A browser that refuses the download says so itself.
                let _ = save_json(&format!("{title}.hangscope.json"), &payload.get(0));
            }
            Answer::Functions { text, hits } => self.functions.set((text, hits)),
            Answer::RowsWithFrame { text } => {
                self.seeks_frame.set_value(false);
                if text != self.frame.get_untracked().trim() {
                    // Somebody typed on, or does not want it any more.
                    return self.filter_frame();
                }
                let rows = js_sys::Uint32Array::new(&payload.get(0)).to_vec().into();
                self.shown.update(|shown| shown.filter.frame = Some(FrameRows { text, rows }));
            }
            Answer::ProgramOrder { contradictions, contradicted } => {
                let rows = js_sys::Uint32Array::new(&payload.get(0)).to_vec();
                let order = Order(Arc::new(ProgramOrderView { rows, contradictions, contradicted }));
                self.order.set(Some(order));
                if self.order_is_wanted.get_value() {
                    self.show_program_order(true);
                }
            }
            Answer::Layer { by, legend } => {
                let blocks = payload.iter().map(|block| js_sys::Uint8Array::new(&block).to_vec()).collect();
                let layer = self
                    .dataset
                    .get_value()
                    .filter(|_| self.colour.get_untracked() == Some(by))
                    .and_then(|dataset| LayerData::from_blocks(by, legend, &dataset.index().bands, blocks));
                if let Some(layer) = layer {
                    self.layer.set_value(Some(Rc::new(layer)));
                    self.layers.update(|count| *count += 1);
                }
            }
            Answer::Panicked { message } => {
                let title = self.dataset.get_value().map(|dataset| dataset.title.clone()).unwrap_or_default();
                self.phase.set(Phase::Failed { title, reason: message, in_worker: true });
                // It goes when its callback, which this is, has returned.
                let dead = self.analyst.try_update_value(Option::take);
                leptos::task::spawn_local(async move { drop(dead) });
            }
            Answer::Ready | Answer::Read { .. } | Answer::Shard | Answer::Unreadable { .. } | Answer::Analyzed => {}
        }
    }

    // ---- the table ----

    /// Makes a cell the active one and brings it into view.
    pub(crate) fn go_to(self, place: CellPlace) {
        self.wanted_column.set_value(place.column);
        self.activate(place);
        self.reveal.update(|count| *count += 1);
    }

    /// Makes a cell the active one.
    pub(crate) fn activate(self, place: CellPlace) {
        self.active.set(Some(place));
        if let Some(dataset) = self.dataset.get_value() {
            self.announcement.set(dataset.describe(place));
        }
    }

    /// Asks about the active cell for the panel.
    pub(crate) fn ask_detail(self) {
        let (Some(place), Some(dataset)) = (self.active.get_untracked(), self.dataset.get_value()) else { return };
        if let Some(rank) = dataset.rank(place.column) {
            self.send(&Request::Detail { row: place.row, rank });
        }
    }

    /// Saves what the command prints with `--format json`.
    pub(crate) fn save_json(self) {
        if self.analyst.with_value(Option::is_none) {
            let title = self.dataset.get_value().map(|dataset| dataset.title.clone()).unwrap_or_default();
            let reason = "what held the analysis has ended; open the files again".to_owned();
            return self.phase.set(Phase::Failed { title, reason, in_worker: true });
        }
        self.send(&Request::ReportJson);
    }

    pub(crate) fn find_function(self, text: String) {
        self.send(&Request::FindFunction { text });
    }

    /// Puts the rows of all groups in one order, or one group after the other.
    pub(crate) fn show_program_order(self, wanted: bool) {
        self.order_is_wanted.set_value(wanted);
        let order = self.order.get_untracked().filter(|_| wanted);
        if wanted && order.is_none() {
            return self.send(&Request::ProgramOrder);
        }
        self.shown.update(|shown| shown.order = order);
        if self.active.get_untracked().is_some() {
            self.reveal.update(|count| *count += 1);
        }
    }

    /// Colours the cells by something else than their state.
    pub(crate) fn colour_by(self, by: Option<ColourBy>) {
        self.colour.set(by);
        self.layer.set_value(None);
        self.layers.update(|count| *count += 1);
        if let Some(by) = by {
            self.send(&Request::Layer { by });
        }
    }

    /// What the cells are coloured by; who asks is told when that changes.
    pub(crate) fn layer(self) -> Option<Rc<LayerData>> {
        self.layers.track();
        self.layer.get_value()
    }

    /// The same, as it is now.
    pub(crate) fn layer_untracked(self) -> Option<Rc<LayerData>> {
        self.layer.try_get_value().flatten()
    }

    /// Shows only rows that were called from the place that is typed; with no text, all.
    pub(crate) fn filter_frame(self) {
        let text = self.frame.get_untracked().trim().to_owned();
        let known = self.shown.with_untracked(|shown| shown.filter.frame.as_ref().map(|frame| frame.text == text));
        if text.is_empty() {
            if known.is_some() {
                self.shown.update(|shown| shown.filter.frame = None);
            }
        } else if known != Some(true) && !self.seeks_frame.get_value() {
            // One after the other: what has been typed meanwhile follows upon the answer.
            self.seeks_frame.set_value(true);
            self.send(&Request::RowsWithFrame { text });
        }
    }

    fn send(self, request: &Request) {
        self.analyst.with_value(|analyst| {
            if let Some(analyst) = analyst {
                analyst.send(request, None);
            }
        });
    }

    /// Shows a finding and its cells.
    pub(crate) fn show_finding(self, finding: usize) {
        let Some(dataset) = self.dataset.get_value() else { return };
        if finding >= dataset.report.findings.len() {
            return;
        }
        self.finding.set(finding);
        if let Some(cell) = dataset.finding_cell(finding) {
            self.panel_open.set(!panel_covers());
            self.go_to(cell);
        }
    }

    /// Shows the finding after or before this one; after the last comes the first.
    pub(crate) fn step_finding(self, forward: bool) {
        let count = self.dataset.get_value().map_or(0, |dataset| dataset.report.findings.len());
        if count == 0 {
            self.announcement.set("There are no findings".to_owned());
            return;
        }
        // With the active cell elsewhere, the first step leads back to the finding that is shown.
        let current = self.finding.get_untracked();
        let at_home =
            self.dataset.get_value().and_then(|dataset| dataset.finding_cell(current)) == self.active.get_untracked();
        let next = match (at_home, forward) {
            (false, _) => current,
            (true, true) => (current + 1) % count,
            (true, false) => (current + count - 1) % count,
        };
        self.show_finding(next);
        self.focus_table.update(|count| *count += 1);
    }
}

/// What went wrong, in the browser's words.
pub(crate) fn message(error: &JsValue) -> String {
    use wasm_bindgen::JsCast as _;
    match error.dyn_ref::<js_sys::Error>() {
        Some(error) => error.message().into(),
        None => error.as_string().unwrap_or_else(|| "the browser gave no reason".to_owned()),
    }
}
