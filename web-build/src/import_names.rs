//! Short names for what the glue hands to the module.
//!
//! wasm-bindgen calls an import by what it does and sixteen digits that are alike nowhere, and writes the glue's name before each: fifteen
//! kilobytes that a browser only compares.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use anyhow::{Context as _, Result};
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{ImportSection, Module};
use wasmparser::{Import, Imports, Parser, Payload};

/// The module and its glue with short names for the imports on both sides. What the glue does not name as a key exactly once stays as it is.
pub(crate) fn shorten_imports(wasm: &[u8], glue: &str) -> Result<(Vec<u8>, String)> {
    let mut imports = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        if let Payload::ImportSection(section) = payload.context("failed to read the page's wasm")? {
            for import in section.into_imports() {
                imports.push(import?);
            }
        }
    }
    let names: HashSet<&str> = imports.iter().flat_map(|import| [import.module, import.name]).collect();
    let keys = keys(glue);
    let mut short = short_names().filter(|name| !names.contains(name.as_str()));
    let mut renamed: HashMap<&str, String> = HashMap::new();
    for name in imports.iter().flat_map(|import| [import.module, import.name]) {
        if keys.get(name).is_some_and(|places| *places == 1)
            && !renamed.contains_key(name)
            && let Some(short) = short.next()
        {
            renamed.insert(name, short);
        }
    }
    let mut module = Module::new();
    Renamer { renamed: &renamed }
        .parse_core_module(&mut module, Parser::new(0), wasm)
        .context("failed to rename the module's imports")?;
    let lines = glue.split_inclusive('\n').map(|line| match key(line) {
        Some(name) if renamed.contains_key(name) => line.replacen(name, &renamed[name], 1),
        _ => line.to_owned(),
    });
    let glue = lines.collect();
    Ok((module.finish(), glue))
}

/// How often each name is the key at the start of a line.
fn keys(glue: &str) -> HashMap<&str, usize> {
    let mut keys = HashMap::new();
    for name in glue.lines().filter_map(key) {
        *keys.entry(name).or_default() += 1;
    }
    keys
}

/// The key of an object's property, with or without quotation marks, that a line of the glue starts with.
fn key(line: &str) -> Option<&str> {
    let (key, _) = line.trim_start().split_once(": ")?;
    let key = key.strip_prefix('"').and_then(|key| key.strip_suffix('"')).unwrap_or(key);
    (!key.is_empty() && !key.contains(['"', '\'', ' ', '(', '{'])).then_some(key)
}

/// a, b, … z, aa, ba, …
fn short_names() -> impl Iterator<Item = String> {
    (0_usize..).map(|mut number| {
        let mut name = String::new();
        loop {
            name.push(char::from(b'a' + (number % 26) as u8));
            number /= 26;
            if number == 0 {
                return name;
            }
            number -= 1;
        }
    })
}

struct Renamer<'a> {
    renamed: &'a HashMap<&'a str, String>,
}

impl Renamer<'_> {
    fn name<'n>(&'n self, name: &'n str) -> &'n str {
        self.renamed.get(name).map_or(name, String::as_str)
    }
}

impl Reencode for Renamer<'_> {
    type Error = Infallible;

    fn parse_imports(&mut self, section: &mut ImportSection, imports: Imports<'_>) -> Result<(), Error> {
        for import in imports {
            let (_, Import { module, name, ty }) = import?;
            let ty = self.entity_type(ty)?;
            section.import(self.name(module), self.name(name), ty);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{EntityType, TypeSection};

    use super::*;

    const GLUE: &str = "const imports = {\n    \"./x_bg.js\": {\n        __wbg_log_0123: function(text) {\n            console.log(text);\n        \
                        },\n        __wbg_twice_1: function() {},\n        __wbg_twice_1: function() {},\n    },\n};\n";

    fn module(names: &[&str]) -> Vec<u8> {
        let mut module = Module::new();
        let mut types = TypeSection::new();
        types.ty().function([], []);
        module.section(&types);
        let mut imports = ImportSection::new();
        for name in names {
            imports.import("./x_bg.js", name, EntityType::Function(0));
        }
        module.section(&imports);
        module.finish()
    }

    fn names(wasm: &[u8]) -> Vec<(String, String)> {
        let mut names = Vec::new();
        for payload in Parser::new(0).parse_all(wasm) {
            if let Payload::ImportSection(section) = payload.unwrap() {
                for import in section.into_imports() {
                    let import = import.unwrap();
                    names.push((import.module.to_owned(), import.name.to_owned()));
                }
            }
        }
        names
    }

    #[test]
    fn both_sides_call_an_import_the_same() {
        let (wasm, glue) =
            shorten_imports(&module(&["__wbg_log_0123", "b", "__wbg_twice_1", "elsewhere"]), GLUE).unwrap();
        let expected = [("a", "c"), ("a", "b"), ("a", "__wbg_twice_1"), ("a", "elsewhere")];
        assert_eq!(names(&wasm), expected.map(|(module, name)| (module.to_owned(), name.to_owned())));
        assert_eq!(glue, GLUE.replace("./x_bg.js", "a").replace("__wbg_log_0123", "c"));
    }

    #[test]
    fn no_two_short_names_are_the_same() {
        let names: HashSet<String> = short_names().take(2000).collect();
        assert_eq!(names.len(), 2000);
        assert!(names.contains("a") && names.contains("zz"));
    }
}
