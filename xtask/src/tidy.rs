//! What the repository's own files have to keep to.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A tracked text file.
struct Text {
    name: String,
    content: String,
}

impl Text {
    fn has_extension(&self, extension: &str) -> bool {
        self.name.rsplit_once('.').is_some_and(|(_, found)| found == extension)
    }

    /// `name:line: text` of every line that `is_wrong`.
    fn lines<'text>(&'text self, is_wrong: impl Fn(&str) -> bool + 'text) -> impl Iterator<Item = String> + 'text {
        let numbered = self.content.lines().enumerate();
        numbered
            .filter(move |(_, line)| is_wrong(line))
            .map(|(index, line)| format!("{}:{}: {line}", self.name, index + 1))
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All tracked files that are text, but recorded and generated data.
fn texts() -> Vec<Text> {
    let output = Command::new("git").current_dir(root()).args(["ls-files", "-z"]).output().unwrap();
    assert!(output.status.success(), "git cannot list the files");
    let names = String::from_utf8(output.stdout).unwrap();
    let texts: Vec<Text> = names
        .split_terminator('\0')
        .filter(|name| !name.starts_with("tests/fixtures/") && !name.starts_with("analyzer-core/tests/data/"))
        // A file that is deleted but not committed yet is no text.
        .filter_map(|name| Some(Text { name: name.to_owned(), content: fs::read_to_string(root().join(name)).ok()? }))
        .collect();
    assert!(texts.iter().any(|text| text.name == "Cargo.toml"), "git lists other files than these");
    texts
}

fn assert_none(wrong: impl Iterator<Item = String>, advice: &str) {
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{advice}:\n{}", wrong.join("\n"));
}

#[test]
fn rust_files_are_short() {
    let long = texts().into_iter().filter(|text| text.has_extension("rs")).filter_map(|text| {
        let count = text.content.lines().count();
        (count > 700).then(|| format!("{}: {count} lines", text.name))
    });
    assert_none(long, "a file over 700 lines holds two things; give each its own");
}

#[test]
fn the_architecture_page_is_short() {
    let texts = texts();
    let page = texts.iter().find(|text| text.name == "ARCHITECTURE.md");
    assert!(page.is_none_or(|page| page.content.lines().count() < 300), "ARCHITECTURE.md has 300 lines or more");
}

#[test]
fn nothing_is_left_open() {
    // Written in two parts, so that this file does not name them itself.
    let marks = [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[", "ignore"), concat!("FIX", "ME")];
    let texts = texts();
    let rust = texts.iter().filter(|text| text.has_extension("rs") || text.has_extension("js"));
    assert_none(rust.flat_map(|text| text.lines(|line| marks.iter().any(|mark| line.contains(mark)))), "unfinished");
}

#[test]
fn no_file_names_a_machine() {
    let marks =
        [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("artif", "actory"), concat!("https://regi", "stry.")];
    let texts = texts();
    let wrong = texts.iter().flat_map(|text| text.lines(|line| marks.iter().any(|mark| line.contains(mark))));
    assert_none(wrong, "a path or host of one machine has no meaning on another");
}

#[test]
fn lines_end_where_their_text_ends() {
    let texts = texts();
    let own = texts.iter().filter(|text| !text.has_extension("snap") && text.name != "Cargo.lock");
    let wrong = own.flat_map(|text| {
        let trailing = text.lines(|line| line.ends_with([' ', '\t', '\r']));
        let open_end = (!text.content.is_empty() && !text.content.ends_with('\n'))
            .then(|| format!("{}: the last line has no end", text.name));
        trailing.chain(open_end)
    });
    assert_none(wrong, "stray white space");
}

#[test]
fn both_sides_of_wasm_bindgen_have_the_locked_version() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    for name in ["wasm-bindgen", "wasm-bindgen-cli-support"] {
        let expected = format!("name = \"{name}\"\nversion = \"{}\"\n", hangscope_web_build::WASM_BINDGEN_VERSION);
        assert!(lock.contains(&expected), "{name}");
    }
}
