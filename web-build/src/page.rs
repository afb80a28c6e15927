//! The page's files: names with their content's hash, and the three texts that name other files.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use sha2::{Digest as _, Sha256};

use crate::dist::{DistFile, all_files};
use crate::fingerprint::hex;
use crate::html::{Asset, replace_assets};

/// What wasm-bindgen calls its files, and what `boot.js` imports. Trunk uses the same name.
pub(crate) const OUT_NAME: &str = "hangscope-web";

/// Puts the page together from `index.html`, the files that it names, and what wasm-bindgen wrote (content by name).
///
/// Every file but `index.html` and those of copied folders has its content's hash in its name, so that a server may let
/// browsers keep it forever; all addresses are relative, so that the folder works under any path.
pub(crate) fn assemble(root: &Path, mut bindgen_files: BTreeMap<String, Vec<u8>>) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut take = |name: &str| bindgen_files.remove(name).with_context(|| format!("wasm-bindgen wrote no {name}"));
    let wasm_name = format!("{OUT_NAME}_bg.wasm");
    let glue_name = format!("{OUT_NAME}.js");
    let wasm = take(&wasm_name)?;
    let glue = take(&glue_name)?;
    // What is left are snippets of JavaScript that crates bring along; their folders have hashes already.
    let mut files = bindgen_files;

    let hashed_wasm = add(&mut files, &wasm_name, wasm);
    let glue = rename(&text(glue, &glue_name)?, &glue_name, &wasm_name, &hashed_wasm)?;
    let hashed_glue = add(&mut files, &glue_name, glue.into_bytes());

    let html = read(root, "index.html")?;
    let html = replace_assets(&html, |asset| {
        Ok(match asset {
            Asset::Css(path) => {
                let name = add(&mut files, file_name(path), read(root, path)?.into_bytes());
                format!("<link rel=\"stylesheet\" href=\"./{name}\">")
            }
            Asset::Script(path) => {
                let script = rename(&read(root, path)?, path, &glue_name, &hashed_glue)?;
                let name = add(&mut files, file_name(path), script.into_bytes());
                format!("<script type=\"module\" src=\"./{name}\"></script>")
            }
            Asset::Folder(path) => {
                let folder = root.join(path);
                for DistFile { name, path: file } in all_files(&folder)? {
                    let content = std::fs::read(&file).with_context(|| format!("failed to read {}", file.display()))?;
                    files.insert(format!("{}/{name}", file_name(path)), content);
                }
                String::new()
            }
            // The script loads both; named here, the browser asks for them at once and not one after the other.
            Asset::Rust => format!(
                "<link rel=\"modulepreload\" href=\"./{hashed_glue}\">\n    \
                 <link rel=\"preload\" href=\"./{hashed_wasm}\" as=\"fetch\" type=\"application/wasm\" crossorigin>"
            ),
        })
    })?;
    files.insert("index.html".to_owned(), html.into_bytes());
    Ok(files)
}

fn add(files: &mut BTreeMap<String, Vec<u8>>, name: &str, content: Vec<u8>) -> String {
    let hash = hex(&Sha256::digest(&content)).chars().take(16).collect::<String>();
    let hashed = match name.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}-{hash}.{extension}"),
        None => format!("{name}-{hash}"),
    };
    files.insert(hashed.clone(), content);
    hashed
}

fn rename(text: &str, text_name: &str, from: &str, to: &str) -> Result<String> {
    ensure!(text.contains(from), "{text_name} does not name {from}, so it would load nothing");
    Ok(text.replace(from, to))
}

fn text(content: Vec<u8>, name: &str) -> Result<String> {
    String::from_utf8(content).with_context(|| format!("{name} is not UTF-8"))
}

fn read(root: &Path, path: &str) -> Result<String> {
    std::fs::read_to_string(root.join(path)).with_context(|| format!("failed to read {path}"))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const HTML: &str = r#"<link data-trunk rel="css" href="web/s.css"><link data-trunk rel="rust" href="web/Cargo.toml">
<link data-trunk rel="copy-dir" href="fixtures/sample"><script data-trunk type="module" src="web/boot.js"></script>"#;

    fn page(wasm: &str, boot: &str) -> Result<BTreeMap<String, Vec<u8>>> {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("web")).unwrap();
        fs::write(root.path().join("index.html"), HTML).unwrap();
        fs::write(root.path().join("web/s.css"), "p{}").unwrap();
        fs::write(root.path().join("web/boot.js"), boot).unwrap();
        fs::create_dir_all(root.path().join("fixtures/sample")).unwrap();
        fs::write(root.path().join("fixtures/sample/rank_0"), [0x80, 2]).unwrap();
        let bindgen_files = BTreeMap::from([
            ("hangscope-web_bg.wasm".to_owned(), wasm.as_bytes().to_vec()),
            ("hangscope-web.js".to_owned(), b"new URL('hangscope-web_bg.wasm', import.meta.url)".to_vec()),
            ("snippets/x-123/y.js".to_owned(), b"export {}".to_vec()),
        ]);
        assemble(root.path(), bindgen_files)
    }

    #[test]
    fn every_name_in_the_page_is_the_name_of_a_file() {
        let files = page("1", "import './hangscope-web.js'").unwrap();
        assert_eq!(files.len(), 7);
        assert_eq!(files["sample/rank_0"], [0x80, 2]);
        let text = |name: &str| String::from_utf8(files[name].clone()).unwrap();
        let find = |stem: &str, extension: &str| {
            files
                .keys()
                .find(|name| name.starts_with(&format!("{stem}-")) && name.ends_with(extension))
                .unwrap()
                .as_str()
        };
        let (wasm, glue) = (find("hangscope-web_bg", ".wasm"), find("hangscope-web", ".js"));
        let (boot, style) = (find("boot", ".js"), find("s", ".css"));
        assert_eq!(text(glue), format!("new URL('{wasm}', import.meta.url)"));
        assert_eq!(text(boot), format!("import './{glue}'"));
        for name in [wasm, glue, boot, style] {
            assert!(text("index.html").contains(&format!("\"./{name}\"")), "{name}");
        }
        assert!(files.contains_key("snippets/x-123/y.js"));
    }

    #[test]
    fn a_change_in_the_wasm_changes_all_names_up_to_the_index() {
        let names = |wasm| page(wasm, "import './hangscope-web.js'").unwrap().into_keys().collect::<Vec<_>>();
        let (first, second) = (names("1"), names("2"));
        let same: Vec<_> = first.iter().filter(|name| second.contains(name)).map(String::as_str).collect();
        assert_eq!(same.len(), 4, "{same:?}");
        let starts = ["index.html", "s-", "sample/", "snippets/"];
        assert!(same.iter().zip(starts).all(|(name, start)| name.starts_with(start)), "{same:?}");
    }

    #[test]
    fn a_script_that_loads_nothing_is_refused() {
        assert!(page("1", "import './other.js'").is_err());
    }
}
