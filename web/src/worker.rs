//! The worker's side: reads files, or holds the analysis and tells about it. Which of the two, the page's requests say.

use std::cell::RefCell;

use hangscope_analyzer_core::dump::{self, Fault, FaultKind, Reading};
use hangscope_analyzer_core::report::{RankState, Report};
use hangscope_analyzer_core::shard::{Shard, message, pack};
use hangscope_analyzer_core::tree_map::TreeMap;
use hangscope_analyzer_core::{Analysis, analyze_shard, report};
use js_sys::{Array, ArrayBuffer, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{
    Blob, DedicatedWorkerGlobalScope, File, FileReaderSync, MessageEvent, XmlHttpRequest, XmlHttpRequestResponseType,
};

use crate::load::PACK_ENDING;
use crate::load::protocol::{Answer, FunctionHit, Request};
use crate::overview::{LayerData, TableData};
use crate::rank_status::enough;

/// How many rows are looked through for functions, and how many hits are enough.
const SEARCHED_ROWS: u32 = 20_000;
const ENOUGH_HITS: usize = 8;

/// Files larger than this are looked at before they are read whole, as the command does.
const LARGE_BYTES: f64 = 4_194_304.0;
/// So many bytes tell whether a file can be a dump.
const HEAD_BYTES: f64 = 65_536.0;
/// A file is in memory with what is read from it, and a browser gives a worker two gigabytes that can be relied on.
const LARGEST_BYTES: f64 = 800_000_000.0;

/// What a pack takes in memory, of each of its bytes, ...
const BYTES_A_PACK_BYTE: u64 = 3;
/// ... and what the analysis takes of each entry beside the entries.
const WORK_BYTES_AN_ENTRY: u64 = 9;
/// No more than this is got at once, whatever a file says.
const MOST_RESERVED: u64 = 1_000_000_000;

#[derive(Default)]
struct State {
    shard: Shard,
    analysis: Option<Analysis>,
    /// Functions and the last row that was called from each; made when somebody looks for one.
    functions: Option<Vec<FunctionHit>>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Runs in the worker once the module is loaded there: puts the handler on, then says "ready".
#[wasm_bindgen]
pub fn worker_main() {
    std::panic::set_hook(Box::new(|panic| {
        post(&Answer::Panicked { message: panic.to_string() }, &Array::new(), &Array::new());
    }));
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(|event: MessageEvent| {
        let Ok(message) = event.data().dyn_into::<Array>() else { return };
        let header = Uint8Array::new(&message.get(0)).to_vec();
        if let Ok(request) = postcard::from_bytes(&header) {
            STATE.with_borrow_mut(|state| handle(state, request, &message.get(1)));
        }
    });
    scope().set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    on_message.forget();
    post(&Answer::Ready, &Array::new(), &Array::new());
}

fn handle(state: &mut State, request: Request, payload: &JsValue) {
    match request {
        Request::ReadFile { name } => answer_read(state, read_file(&name, payload)),
        Request::ReadUrl { name, url } => answer_read(state, read_url(&name, &url)),
        Request::HandOver => {
            let buffer = buffer_of(&message::encode(&std::mem::take(&mut state.shard)));
            post(&Answer::Shard, &Array::of1(&buffer), &Array::of1(&buffer));
        }
        Request::Add => {
            let bytes = Uint8Array::new(payload).to_vec();
            // What another worker of this build wrote can be read; if not, this is a fault of the program.
            match message::decode(&bytes) {
                Ok(shard) => state.shard.merge(shard),
                Err(error) => post(&Answer::Panicked { message: error.to_string() }, &Array::new(), &Array::new()),
            }
        }
        Request::AddUnreadable { name, reason } => {
            let fault = Fault { kind: FaultKind::Malformed, offset: None, message: reason };
            state.shard.add(Reading { file: name, faults: vec![fault], ..Reading::default() });
        }
        Request::Analyze => {
            reserve(state.shard.entries().saturating_mul(WORK_BYTES_AN_ENTRY));
            let analysis = analyze_shard(std::mem::take(&mut state.shard));
            post_analysis(&analysis);
            state.analysis = Some(analysis);
            state.functions = None;
        }
        Request::Detail { row, rank } => {
            let detail = state.analysis.as_ref().and_then(|analysis| analysis.cell_detail(row, rank)).map(Box::new);
            post(&Answer::Detail { row, rank, detail }, &Array::new(), &Array::new());
        }
        Request::ReportJson => {
            let json = state.analysis.as_ref().map(|analysis| report::render_json(analysis.report()));
            let buffer = buffer_of(json.unwrap_or_default().as_bytes());
            post(&Answer::ReportJson, &Array::of1(&buffer), &Array::of1(&buffer));
        }
        Request::FindFunction { text } => {
            let wanted = text.to_ascii_lowercase();
            let analysis = state.analysis.as_ref();
            let functions = state.functions.get_or_insert_with(|| analysis.map(functions).unwrap_or_default());
            let hits = functions.iter().filter(|hit| hit.function.to_ascii_lowercase().contains(&wanted));
            let hits = hits.take(ENOUGH_HITS).cloned().collect();
            post(&Answer::Functions { text, hits }, &Array::new(), &Array::new());
        }
        Request::RowsWithFrame { text } => {
            let rows = state.analysis.as_ref().map(|analysis| analysis.rows_with_frame(&text)).unwrap_or_default();
            let buffer = js_sys::Uint32Array::from(rows.as_slice()).buffer();
            post(&Answer::RowsWithFrame { text }, &Array::of1(&buffer), &Array::of1(&buffer));
        }
        Request::ProgramOrder => {
            let order = state.analysis.as_ref().map(Analysis::program_order).unwrap_or_default();
            let buffer = js_sys::Uint32Array::from(order.rows.as_slice()).buffer();
            let (contradictions, contradicted) = (order.contradictions, order.contradicted);
            let answer = Answer::ProgramOrder { contradictions, contradicted };
            post(&answer, &Array::of1(&buffer), &Array::of1(&buffer));
        }
        Request::Layer { by } => {
            let Some(analysis) = state.analysis.as_ref() else { return };
            let layer = LayerData::new(by, analysis.layer(by), &analysis.table_index().bands, analysis.cells());
            let (legend, blocks) = layer.into_blocks();
            let blocks = blocks.iter().map(|block| buffer_of(block)).collect::<Array>();
            post(&Answer::Layer { by, legend }, &blocks, &blocks);
        }
    }
}

/// What a file held, and its size in bytes.
type Read = (Shard, u64);

fn answer_read(state: &mut State, read: Result<Read, JsValue>) {
    match read {
        Ok((shard, size_bytes)) => {
            let entries = shard.entries();
            state.shard.merge(shard);
            post(&Answer::Read { size_bytes, entries }, &Array::new(), &Array::new());
        }
        Err(error) => {
            let reason = js_sys::Error::from(error).message().into();
            post(&Answer::Unreadable { reason }, &Array::new(), &Array::new());
        }
    }
}

fn read_bytes(name: &str, bytes: &[u8]) -> Read {
    let size_bytes = bytes.len() as u64;
    if pack::is_pack(bytes) {
        return (pack::read(name, bytes), size_bytes);
    }
    (std::iter::once(dump::read(name, bytes)).collect(), size_bytes)
}

/// Reads a file: of a large one that is no dump only its first bytes, since a folder may hold checkpoints too, and of a pack one section
/// after the other.
fn read_file(name: &str, file: &JsValue) -> Result<Read, JsValue> {
    let file: &File = file.dyn_ref().ok_or_else(|| js_sys::Error::new("no file came with the request"))?;
    let reader = FileReaderSync::new()?;
    let bytes = |blob: &Blob| Ok::<_, JsValue>(Uint8Array::new(&reader.read_as_array_buffer(blob)?.into()).to_vec());
    let part = |from: f64, len: f64| bytes(&file.slice_with_f64_and_f64(from, from + len)?);
    if file.size() <= LARGE_BYTES {
        return Ok(read_bytes(name, &bytes(file)?));
    }
    let head = part(0.0, HEAD_BYTES)?;
    if pack::is_pack(&head) {
        let part = |offset: u64, len: usize| {
            part(offset as f64, len as f64).map_err(|error| String::from(js_sys::Error::from(error).message()))
        };
        return Ok((read_pack(name, file.size() as u64, part), file.size() as u64));
    }
    if !can_be_dump(&head) {
        return Ok(read_bytes(name, &head));
    }
    if file.size() > LARGEST_BYTES {
        let size = crate::text::bytes(file.size() as u64);
        return Err(
            js_sys::Error::new(&format!("{size} is too much for a browser; `hangscope analyze` reads it")).into()
        );
    }
    Ok(read_bytes(name, &bytes(file)?))
}

fn read_pack(name: &str, size_bytes: u64, part: impl Fn(u64, usize) -> Result<Vec<u8>, String>) -> Shard {
    reserve(size_bytes.saturating_mul(BYTES_A_PACK_BYTE));
    let mut reader = pack::PackReader::new(name, size_bytes, &part);
    for place in reader.sections().to_vec() {
        let section = part(place.offset, place.size_bytes)
            .map_err(|message| Fault { kind: FaultKind::Malformed, offset: Some(place.offset), message })
            .and_then(|bytes| place.decode(&bytes));
        reader.put(&place, section);
    }
    reader.finish()
}

/// Gets memory that will be needed in one piece: it grows by 64 KB otherwise, and every time takes the browser a millisecond. What is not
/// needed is never touched, so that it takes none of the machine's.
fn reserve(bytes: u64) {
    let mut piece: Vec<u8> = Vec::new();
    let bytes = usize::try_from(bytes.min(MOST_RESERVED)).unwrap_or_default();
    // Where a browser has less, memory grows as it did.
    let _ = piece.try_reserve_exact(bytes);
    std::hint::black_box(&piece);
}

fn can_be_dump(head: &[u8]) -> bool {
    let reading = dump::read("", head);
    !reading.dumps.is_empty() || !reading.faults.iter().any(|fault| fault.kind == FaultKind::NotADump)
}

/// Reads a file of the page's own server, a pack one section after the other if the server gives parts of files.
fn read_url(name: &str, url: &str) -> Result<Read, JsValue> {
    let whole = || url_bytes(url, None).map(|(bytes, _)| read_bytes(name, &bytes));
    if !name.ends_with(PACK_ENDING) {
        return whole();
    }
    let (head, size_bytes) = url_bytes(url, Some((0, HEAD_BYTES as usize)))?;
    let Some(size_bytes) = size_bytes else { return Ok(read_bytes(name, &head)) };
    if !pack::is_pack(&head) {
        return whole();
    }
    let part = |offset: u64, len: usize| match url_bytes(url, Some((offset, len))) {
        Ok((bytes, _)) => Ok(bytes),
        Err(error) => Err(js_sys::Error::from(error).message().into()),
    };
    Ok((read_pack(name, size_bytes, part), size_bytes))
}

/// Waits for a file, as a worker may, or for a part of it: offset and length. With a part comes the size of the file; a server may
/// send the whole file all the same, and without it.
fn url_bytes(url: &str, part: Option<(u64, usize)>) -> Result<(Vec<u8>, Option<u64>), JsValue> {
    let request = XmlHttpRequest::new()?;
    request.open_with_async("GET", url, false)?;
    request.set_response_type(XmlHttpRequestResponseType::Arraybuffer);
    if let Some((offset, len)) = part {
        let last = offset.saturating_add(len as u64).saturating_sub(1);
        request.set_request_header("Range", &format!("bytes={offset}-{last}"))?;
    }
    request.send()?;
    let size_bytes = match request.status()? {
        200 => None,
        206 => {
            // `bytes 0-9/100`
            let part = request.get_response_header("Content-Range")?;
            part.and_then(|part| part.rsplit('/').next()?.parse().ok())
        }
        status => return Err(js_sys::Error::new(&format!("the server answered with status {status}")).into()),
    };
    Ok((Uint8Array::new(&request.response()?).to_vec(), size_bytes))
}

fn post_analysis(analysis: &Analysis) {
    // The table goes over as it is: to take it apart there would hold the page up.
    let table = TableData::new(analysis.report(), analysis.table_index().clone(), analysis.cells().to_vec());
    let facts = buffer_of(&postcard::to_allocvec(&for_page(analysis.report())).unwrap_or_default());
    let moved = Array::of1(&facts).concat(&table.into_blocks().to_buffers());
    let report = Array::of1(&report::render_text(analysis.report()).into());
    post(&Answer::Analyzed, &report.concat(&moved), &moved);
}

/// The report as the page shows it. The report of ten thousand ranks has 66 MB, nearly all of them to say for whom each rank waits.
fn for_page(report: &Report) -> Report {
    let rank = |state: &RankState| RankState {
        rank: state.rank,
        status: state.status,
        waits_in: state.waits_in.clone(),
        waits_for: enough(&state.waits_for.to_string()).into(),
    };
    Report {
        schema: report.schema,
        tool: report.tool.clone(),
        verdict: report.verdict.clone(),
        headline: report.headline.clone(),
        job: report.job.clone(),
        findings: report.findings.clone(),
        ranks: report.ranks.iter().map(rank).collect(),
        data_quality: report.data_quality.clone(),
    }
}

/// Every function that called an operation, with the last row that one of its ranks called.
fn functions(analysis: &Analysis) -> Vec<FunctionHit> {
    let index = analysis.table_index();
    let mut found = TreeMap::new();
    let mut left = SEARCHED_ROWS;
    for band in &index.bands {
        let Some(rank) = band.columns.first().and_then(|column| index.ranks.get(*column as usize)) else { continue };
        // From the end: that is where it hangs.
        for row in (band.first_row..band.first_row.saturating_add(band.row_count)).rev() {
            let Some(enough) = left.checked_sub(1) else { break };
            left = enough;
            let Some(detail) = analysis.cell_detail(row, rank.rank) else { continue };
            for frame in detail.frames.into_iter().filter(|frame| !frame.library) {
                let place = crate::text::place(&frame.file, frame.line);
                found.entry((frame.function, place)).or_insert(row);
            }
        }
    }
    found.into_iter().map(|((function, place), row)| FunctionHit { function, place, row }).collect()
}

fn buffer_of(bytes: &[u8]) -> ArrayBuffer {
    // `from` copies out of the wasm memory: the buffer is the bytes and nothing else.
    Uint8Array::from(bytes).buffer()
}

/// Posts an answer and what goes with it.
fn post(answer: &Answer, payload: &Array, transferred: &Array) {
    let Ok(header) = postcard::to_allocvec(answer) else { return };
    let message = Array::of1(&Uint8Array::from(header.as_slice())).concat(payload);
    // Fails only if the page has gone, and then nobody is left to be told.
    let _ = scope().post_message_with_transfer(&message, transferred);
}

fn scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}
