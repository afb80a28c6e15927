//! Dumps that the page's own server has: the local viewer's, and the sample job.

use serde::Deserialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::Response;

use crate::load::source::{Opened, Source, SourcePlace};

/// The sample job stands beside the page in this folder: one dump per rank.
const SAMPLE: &str = "sample";
const SAMPLE_RANKS: u32 = 8;

/// A list of dumps.
#[derive(Debug, Deserialize)]
struct DumpList {
    /// What to call them.
    #[serde(default)]
    title: String,
    dumps: Vec<ListedDump>,
}

#[derive(Debug, Deserialize)]
struct ListedDump {
    name: String,
    #[serde(default)]
    size_bytes: u64,
    /// The address, relative to the list's.
    url: String,
}

/// The list that the local viewer names in the page's head.
pub(crate) fn viewer_list() -> Option<String> {
    let document = web_sys::window()?.document()?;
    let meta = document.query_selector("meta[name=hangscope-dumps]").ok()??;
    meta.get_attribute("content").filter(|content| !content.is_empty())
}

/// Gets a list, whose address is relative to the page's.
pub(crate) async fn fetch_list(list: &str) -> Result<Opened, JsValue> {
    let window = web_sys::window().ok_or_else(|| JsValue::from_str("there is no window"))?;
    let list_url = absolute(list)?;
    let response: Response = JsFuture::from(window.fetch_with_str(&list_url)).await?.dyn_into()?;
    if !response.ok() {
        return Err(js_sys::Error::new(&format!("the server answered with status {}", response.status())).into());
    }
    let text = JsFuture::from(response.text()?).await?.as_string().unwrap_or_default();
    let list: DumpList = serde_json::from_str(&text).map_err(|error| js_sys::Error::new(&error.to_string()))?;
    let sources = list
        .dumps
        .into_iter()
        .map(|dump| {
            let url = web_sys::Url::new_with_base(&dump.url, &list_url)?.href();
            Ok(Source { name: dump.name, size_bytes: dump.size_bytes, place: SourcePlace::Server(url) })
        })
        .collect::<Result<Vec<_>, JsValue>>()?;
    let title = if list.title.is_empty() { crate::text::counted(sources.len() as u64, "file") } else { list.title };
    Ok(Opened { title, sources })
}

/// The sample job.
pub(crate) fn sample() -> Result<Opened, JsValue> {
    let source = |rank| {
        let name = sample_file(rank);
        let url = absolute(&name)?;
        Ok(Source { name, size_bytes: 0, place: SourcePlace::Server(url) })
    };
    let sources = (0..SAMPLE_RANKS).map(source).collect::<Result<Vec<_>, JsValue>>()?;
    Ok(Opened { title: "sample".to_owned(), sources })
}

fn sample_file(rank: u32) -> String {
    format!("{SAMPLE}/nccl_trace_rank_{rank}")
}

/// An address that is relative to the page's.
fn absolute(url: &str) -> Result<String, JsValue> {
    let document = web_sys::window().and_then(|window| window.document());
    let base = document.and_then(|document| document.base_uri().ok().flatten()).unwrap_or_default();
    Ok(web_sys::Url::new_with_base(url, &base)?.href())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_what_is_copied_beside_the_page() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/sample");
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|file| format!("{SAMPLE}/{}", file.unwrap().file_name().to_string_lossy()))
            .collect();
        files.sort();
        assert_eq!(files, (0..SAMPLE_RANKS).map(sample_file).collect::<Vec<_>>());
    }
}
