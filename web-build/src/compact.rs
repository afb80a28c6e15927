//! The module in fewer bytes, as it is and as a server sends it: without custom sections, one function where several are the same,
//! and functions that are alike side by side.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::Write as _;

use anyhow::{Context as _, Result, bail};
use flate2::Compression;
use flate2::write::GzEncoder;
use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{CodeSection, FunctionSection, Module};
use wasmparser::{
    CodeSectionReader, CustomSectionReader, FunctionBody, FunctionSectionReader, Parser, Payload, TypeRef,
};

use crate::function_order::{SETTINGS, function_order};

/// Writes `wasm` anew. What it does is the same.
pub(crate) fn compact(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut wasm = wasm.to_vec();
    // Callers of functions that have become one may be the same now.
    loop {
        let functions = Functions::read(&wasm)?;
        let kept = functions.different();
        if kept.len() == functions.bodies.len() {
            let bodies: Vec<&[u8]> = functions.bodies.iter().map(FunctionBody::as_bytes).collect();
            return smallest(SETTINGS, |setting| functions.write(&wasm, &function_order(&bodies, setting)));
        }
        wasm = functions.write(&wasm, &kept)?;
    }
}

/// The module that gzip makes smallest, of those that are made with each setting; of equal ones the first.
fn smallest<S: Send, const N: usize>(settings: [S; N], make: impl Fn(S) -> Result<Vec<u8>> + Sync) -> Result<Vec<u8>> {
    let made = std::thread::scope(|scope| {
        settings
            .map(|setting| scope.spawn(|| make(setting).and_then(|module| Ok((gzip_size_bytes(&module)?, module)))))
            .map(|thread| thread.join().unwrap_or_else(|_| bail!("a thread that puts functions in order ended early")))
    });
    let made = made.into_iter().collect::<Result<Vec<_>>>()?;
    let best = made.into_iter().min_by_key(|(size_bytes, _)| *size_bytes);
    Ok(best.context("there is no setting for the order of functions")?.1)
}

fn gzip_size_bytes(module: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(module)?;
    Ok(encoder.finish()?.len())
}

/// The functions that the module defines.
struct Functions<'wasm> {
    imported: u32,
    types: Vec<u32>,
    bodies: Vec<FunctionBody<'wasm>>,
}

impl<'wasm> Functions<'wasm> {
    fn read(wasm: &'wasm [u8]) -> Result<Self> {
        let mut functions = Self { imported: 0, types: Vec::new(), bodies: Vec::new() };
        for payload in Parser::new(0).parse_all(wasm) {
            match payload.context("failed to read the page's wasm")? {
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let is_function = matches!(import?.ty, TypeRef::Func(_) | TypeRef::FuncExact(_));
                        functions.imported += u32::from(is_function);
                    }
                }
                Payload::FunctionSection(section) => {
                    functions.types = section.into_iter().collect::<Result<_, _>>()?;
                }
                Payload::CodeSectionEntry(body) => functions.bodies.push(body),
                _ => {}
            }
        }
        Ok(functions)
    }

    /// Of functions that are the same, the first.
    fn different(&self) -> Vec<usize> {
        let mut seen = HashMap::new();
        (0..self.bodies.len()).filter(|&at| *seen.entry(self.key(at)).or_insert(at) == at).collect()
    }

    fn key(&self, at: usize) -> (u32, &[u8]) {
        (self.types[at], self.bodies[at].as_bytes())
    }

    /// The module with the functions of `order` in that order; the others are the same as one of them.
    fn write(&self, wasm: &[u8], order: &[usize]) -> Result<Vec<u8>> {
        let places: HashMap<(u32, &[u8]), u32> =
            order.iter().zip(self.imported..).map(|(&at, index)| (self.key(at), index)).collect();
        let indices = (0..self.bodies.len()).map(|at| places.get(&self.key(at)).copied());
        let indices: Option<Vec<u32>> = indices.collect();
        let indices = indices.context("a function has no place in the new order")?;
        let mut writer = Writer { functions: self, order, indices };
        let mut module = Module::new();
        writer.parse_core_module(&mut module, Parser::new(0), wasm).context("failed to write the page's wasm anew")?;
        Ok(module.finish())
    }
}

/// Copies a module with its functions in another order.
struct Writer<'a> {
    functions: &'a Functions<'a>,
    order: &'a [usize],
    /// By old place among the functions that the module defines: the new index.
    indices: Vec<u32>,
}

impl Reencode for Writer<'_> {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, Error> {
        let own = function.checked_sub(self.functions.imported);
        Ok(own.and_then(|own| self.indices.get(own as usize).copied()).unwrap_or(function))
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        _section: FunctionSectionReader<'_>,
    ) -> Result<(), Error> {
        for &at in self.order {
            functions.function(self.functions.types[at]);
        }
        Ok(())
    }

    fn parse_code_section(&mut self, code: &mut CodeSection, _section: CodeSectionReader<'_>) -> Result<(), Error> {
        let functions = self.functions;
        self.order.iter().try_for_each(|&at| utils::parse_function_body(self, code, functions.bodies[at].clone()))
    }

    fn parse_custom_section(&mut self, _module: &mut Module, _section: CustomSectionReader<'_>) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use wasm_encoder::{CustomSection, ExportKind, ExportSection, Function, ImportSection, TypeSection, ValType};
    use wasmparser::{ExternalKind, Operator};

    use super::*;

    /// One import, and functions that give 7, 7, 8, and what the first and the second of them give.
    fn module() -> Vec<u8> {
        let mut module = Module::new();
        let mut types = TypeSection::new();
        types.ty().function([], [ValType::I32]);
        module.section(&types);
        let mut imports = ImportSection::new();
        imports.import("env", "f", wasm_encoder::EntityType::Function(0));
        module.section(&imports);
        let mut functions = FunctionSection::new();
        let mut code = CodeSection::new();
        let constant = |number| {
            let mut function = Function::new([]);
            function.instructions().i32_const(number).end();
            function
        };
        let call = |index| {
            let mut function = Function::new([]);
            function.instructions().call(index).end();
            function
        };
        for function in [constant(7), constant(7), constant(8), call(1), call(2)] {
            functions.function(0);
            code.function(&function);
        }
        module.section(&functions);
        let mut exports = ExportSection::new();
        for (name, index) in [("imported", 0), ("seven", 1), ("eight", 3), ("first", 4), ("second", 5)] {
            exports.export(name, ExportKind::Func, index);
        }
        module.section(&exports);
        module.section(&code);
        module.section(&CustomSection { name: "producers".into(), data: Cow::Borrowed(b"someone") });
        module.finish()
    }

    /// What the function `index` does, calls followed: a number, or nothing for the import.
    fn result(functions: &Functions<'_>, index: u32) -> Option<i32> {
        let own = index.checked_sub(functions.imported)?;
        let mut operators = functions.bodies[own as usize].get_operators_reader().unwrap();
        match operators.read().unwrap() {
            Operator::I32Const { value } => Some(value),
            Operator::Call { function_index } => result(functions, function_index),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_export_does_what_it_did() {
        let compacted = compact(&module()).unwrap();
        let functions = Functions::read(&compacted).unwrap();
        let mut found = Vec::new();
        for payload in Parser::new(0).parse_all(&compacted) {
            match payload.unwrap() {
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export.unwrap();
                        assert_eq!(export.kind, ExternalKind::Func);
                        found.push((export.name.to_owned(), result(&functions, export.index)));
                    }
                }
                Payload::CustomSection(_) => panic!("a custom section is left"),
                _ => {}
            }
        }
        let expected =
            [("imported", None), ("seven", Some(7)), ("eight", Some(8)), ("first", Some(7)), ("second", Some(7))];
        assert_eq!(found, expected.map(|(name, result)| (name.to_owned(), result)));
    }

    #[test]
    fn functions_that_are_the_same_are_one() {
        // Seven, eight, and one that calls seven: the second caller is the same once both call the same.
        assert_eq!(Functions::read(&compact(&module()).unwrap()).unwrap().bodies.len(), 3);
    }

    #[test]
    fn the_smallest_is_taken() {
        let made = smallest([3_u8, 1, 2], |times| Ok((0..times * 40).collect())).unwrap();
        assert_eq!(made.len(), 40);
        assert!(smallest([1, 2], |_| bail!("no")).is_err());
    }

    #[test]
    fn what_is_no_module_is_an_error() {
        assert!(compact(b"\0asm\x01\0\0\0\x0a\xff").is_err());
    }
}
