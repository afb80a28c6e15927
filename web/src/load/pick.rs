//! Files and folders as browsers hand them over: dropped, or picked in a dialogue.
//!
//! A drop must be asked for its items before the first wait, or it has none. A folder is asked for as a handle first;
//! where a browser has none, the older entry does, and that one gives at most a hundred names at a time.

use hangscope_analyzer_core::dump::is_bystander;
use hangscope_analyzer_core::small_sort::SmallSort as _;
use js_sys::{Array, Function, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{DataTransfer, DataTransferItem, File, FileList, FileSystemEntry};

use crate::load::source::{Opened, Source};

#[wasm_bindgen]
extern "C" {
    /// A file or folder of the newer kind; bound here, since only some browsers have it.
    type Handle;

    #[wasm_bindgen(method, getter)]
    fn kind(this: &Handle) -> String;
    #[wasm_bindgen(method, getter)]
    fn name(this: &Handle) -> String;
    #[wasm_bindgen(method, catch, js_name = "getFile")]
    fn get_file(this: &Handle) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn values(this: &Handle) -> Result<js_sys::AsyncIterator, JsValue>;

    /// A file or folder of the older kind.
    type Entry;

    #[wasm_bindgen(method, getter, js_name = "isDirectory")]
    fn is_directory(this: &Entry) -> bool;
    #[wasm_bindgen(method, getter, js_name = "name")]
    fn entry_name(this: &Entry) -> String;
    #[wasm_bindgen(method, catch)]
    fn file(this: &Entry, done: &Function, failed: &Function) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch, js_name = "createReader")]
    fn create_reader(this: &Entry) -> Result<EntryReader, JsValue>;

    type EntryReader;

    #[wasm_bindgen(method, catch, js_name = "readEntries")]
    fn read_entries(this: &EntryReader, done: &Function, failed: &Function) -> Result<(), JsValue>;
}

/// A dropped item, in both of its forms.
struct Item {
    handle: Option<Promise>,
    entry: Option<FileSystemEntry>,
    file: Option<File>,
}

/// Takes the items out of a drop. The future then walks through the folders.
pub(crate) fn dropped(transfer: &DataTransfer) -> impl Future<Output = Result<Opened, JsValue>> + 'static {
    let list = transfer.items();
    let items: Vec<Item> = (0..list.length())
        .filter_map(|index| list.get(index))
        .filter(|item| item.kind() == "file")
        .map(|item| Item {
            handle: handle_of(&item),
            entry: item.webkit_get_as_entry().ok().flatten(),
            file: item.get_as_file().ok().flatten(),
        })
        .collect();
    async move {
        let mut sources = Vec::new();
        let mut folders = Vec::new();
        for item in items {
            let found = expand(item).await?;
            match found.folder {
                Some(folder) => {
                    // With the folder's own name before them, as the command names them.
                    let files = found.files.into_iter();
                    sources.extend(files.map(|(path, file)| Source::from_disk(format!("{folder}/{path}"), file)));
                    folders.push(folder);
                }
                None => sources.extend(found.files.into_iter().map(|(path, file)| Source::from_disk(path, file))),
            }
        }
        Ok(opened(folders, sources))
    }
}

/// What the user picked in the browser's dialogue for files or for a folder.
pub(crate) fn picked(files: &FileList) -> Opened {
    let mut folders: Vec<String> = Vec::new();
    let mut sources = Vec::new();
    for file in (0..files.length()).filter_map(|index| files.get(index)) {
        let path = Reflect::get(&file, &"webkitRelativePath".into()).ok().and_then(|path| path.as_string());
        let path = path.filter(|path| !path.is_empty()).unwrap_or_else(|| file.name());
        if let Some((folder, _)) = path.split_once('/')
            && folders.last().is_none_or(|last| last != folder)
        {
            folders.push(folder.to_owned());
        }
        sources.push(Source::from_disk(path, file));
    }
    opened(folders, sources)
}

fn opened(folders: Vec<String>, mut sources: Vec<Source>) -> Opened {
    sources.retain(|source| !source.name.contains('/') || !is_bystander(&source.name));
    sources.sort_small_by(|a, b| a.name.cmp(&b.name));
    let title = match (folders.as_slice(), sources.as_slice()) {
        ([folder], _) => folder.clone(),
        ([], [only]) => only.name.clone(),
        (_, sources) => crate::text::counted(sources.len() as u64, "file"),
    };
    Opened { title, sources }
}

/// The files of an item with their paths; `folder` is its name if it is one.
struct Expanded {
    folder: Option<String>,
    files: Vec<(String, File)>,
}

async fn expand(item: Item) -> Result<Expanded, JsValue> {
    let mut files = Vec::new();
    if let Some(promise) = item.handle
        && let Ok(handle) = JsFuture::from(promise).await
        && handle.is_object()
    {
        let handle: Handle = handle.unchecked_into();
        if handle.kind() == "directory" {
            walk_handle(&handle, "", &mut files).await?;
            return Ok(Expanded { folder: Some(handle.name()), files });
        }
        let file = JsFuture::from(handle.get_file()?).await?;
        return Ok(Expanded { folder: None, files: vec![(handle.name(), file.unchecked_into())] });
    }
    if let Some(entry) = item.entry {
        let entry: Entry = JsValue::from(entry).unchecked_into();
        if entry.is_directory() {
            walk_entry(&entry, "", &mut files).await?;
            return Ok(Expanded { folder: Some(entry.entry_name()), files });
        }
        return Ok(Expanded { folder: None, files: vec![(entry.entry_name(), entry_file(&entry).await?)] });
    }
    Ok(Expanded { folder: None, files: item.file.into_iter().map(|file| (file.name(), file)).collect() })
}

fn handle_of(item: &DataTransferItem) -> Option<Promise> {
    let function: Function = Reflect::get(item, &"getAsFileSystemHandle".into()).ok()?.dyn_into().ok()?;
    function.call0(item).ok()?.dyn_into().ok()
}

async fn walk_handle(folder: &Handle, path: &str, files: &mut Vec<(String, File)>) -> Result<(), JsValue> {
    let items = folder.values()?;
    loop {
        let next = JsFuture::from(items.next()?).await?;
        if Reflect::get(&next, &"done".into())?.is_truthy() {
            return Ok(());
        }
        let item: Handle = Reflect::get(&next, &"value".into())?.unchecked_into();
        let name = format!("{path}{}", item.name());
        if item.kind() == "directory" {
            Box::pin(walk_handle(&item, &format!("{name}/"), files)).await?;
        } else {
            // A file that vanished meanwhile or may not be read is none.
            if let Ok(file) = JsFuture::from(item.get_file()?).await {
                files.push((name, file.unchecked_into()));
            }
        }
    }
}

async fn walk_entry(folder: &Entry, path: &str, files: &mut Vec<(String, File)>) -> Result<(), JsValue> {
    let reader = folder.create_reader()?;
    loop {
        let some = callback(|done, failed| reader.read_entries(done, failed)).await?;
        let some: Array = some.unchecked_into();
        if some.length() == 0 {
            return Ok(());
        }
        for item in some.iter() {
            let item: Entry = item.unchecked_into();
            let name = format!("{path}{}", item.entry_name());
            if item.is_directory() {
                Box::pin(walk_entry(&item, &format!("{name}/"), files)).await?;
            } else if let Ok(file) = entry_file(&item).await {
                files.push((name, file));
            }
        }
    }
}

async fn entry_file(entry: &Entry) -> Result<File, JsValue> {
    Ok(callback(|done, failed| entry.file(done, failed)).await?.unchecked_into())
}

/// A function that takes two callbacks, as a future.
async fn callback(call: impl Fn(&Function, &Function) -> Result<(), JsValue>) -> Result<JsValue, JsValue> {
    let promise = Promise::new(&mut |done, failed| {
        if let Err(error) = call(&done, &failed) {
            let _ = failed.call1(&JsValue::NULL, &error);
        }
    });
    JsFuture::from(promise).await
}
