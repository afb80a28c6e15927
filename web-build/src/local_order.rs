//! Numbers for a function's locals by how often they are used.
//!
//! A compiler numbers them as its registers happened to be given out. Where the much used ones come first, functions look more alike, and
//! gzip finds more to repeat.

use std::convert::Infallible;

use anyhow::{Context as _, Result};
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{CodeSection, Function, Module, ValType};
use wasmparser::{FunctionBody, Operator, Parser, Payload};

/// Numbers the locals of each function of `wasm` anew: of each type the most used first, and those without a use are gone.
pub(crate) fn order_locals(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut parameters_of_type = Vec::new();
    let mut parameters = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        match payload.context("failed to read the page's wasm")? {
            Payload::TypeSection(section) => {
                for types in section.into_iter_err_on_gc_types() {
                    parameters_of_type.push(types?.params().len());
                }
            }
            Payload::FunctionSection(section) => {
                for ty in section {
                    let count = parameters_of_type.get(ty? as usize);
                    parameters.push(*count.context("a function has a type that is not there")?);
                }
            }
            _ => {}
        }
    }
    let mut module = Module::new();
    let mut renumberer = Renumberer { parameters: parameters.into_iter() };
    renumberer.parse_core_module(&mut module, Parser::new(0), wasm).context("failed to number the locals anew")?;
    Ok(module.finish())
}

/// Copies a module; of the functions that come one after the other it is told how many parameters each has.
struct Renumberer {
    parameters: std::vec::IntoIter<usize>,
}

impl Reencode for Renumberer {
    type Error = Infallible;

    fn parse_function_body(&mut self, code: &mut CodeSection, body: FunctionBody<'_>) -> Result<(), Error> {
        let parameters = self.parameters.next().unwrap_or_default();
        let mut types = Vec::new();
        for group in body.get_locals_reader()? {
            let (count, ty) = group?;
            types.extend(std::iter::repeat_n(self.val_type(ty)?, count as usize));
        }
        let mut uses = vec![0_u32; parameters + types.len()];
        for operator in body.get_operators_reader()? {
            if let Some(local) = local(&mut operator?) {
                uses[*local as usize] += 1;
            }
        }
        let (numbers, groups) = numbers(parameters, &types, &uses);
        let mut function = Function::new(groups);
        for operator in body.get_operators_reader()? {
            let mut operator = operator?;
            if let Some(local) = local(&mut operator) {
                *local = numbers[*local as usize];
            }
            function.instruction(&self.instruction(operator)?);
        }
        code.function(&function);
        Ok(())
    }
}

/// By old number the new one, and how many locals of which type there are.
fn numbers(parameters: usize, types: &[ValType], uses: &[u32]) -> (Vec<u32>, Vec<(u32, ValType)>) {
    let mut order: Vec<usize> = (parameters..uses.len()).filter(|&local| uses[local] > 0).collect();
    let type_of = |local: usize| types[local - parameters];
    order.sort_by_key(|&local| {
        let place =
            [ValType::I32, ValType::I64, ValType::F32, ValType::F64].iter().position(|&ty| ty == type_of(local));
        (place.unwrap_or(usize::MAX), u32::MAX - uses[local])
    });
    let mut numbers: Vec<u32> = (0..uses.len() as u32).collect();
    let mut groups: Vec<(u32, ValType)> = Vec::new();
    for (new, local) in (parameters as u32..).zip(order) {
        numbers[local] = new;
        match groups.last_mut() {
            Some((count, ty)) if *ty == type_of(local) => *count += 1,
            _ => groups.push((1, type_of(local))),
        }
    }
    (numbers, groups)
}

fn local<'op>(operator: &'op mut Operator<'_>) -> Option<&'op mut u32> {
    match operator {
        Operator::LocalGet { local_index }
        | Operator::LocalSet { local_index }
        | Operator::LocalTee { local_index } => Some(local_index),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{FunctionSection, TypeSection};

    use super::*;

    /// A function with two parameters and the locals of `groups` that gets and drops `gets`.
    fn module(groups: &[(u32, ValType)], gets: &[u32]) -> Vec<u8> {
        let mut module = Module::new();
        let mut types = TypeSection::new();
        types.ty().function([ValType::I64, ValType::I32], []);
        module.section(&types);
        let mut functions = FunctionSection::new();
        functions.function(0);
        module.section(&functions);
        let mut function = Function::new(groups.iter().copied());
        for &get in gets {
            function.instructions().local_get(get).drop();
        }
        function.instructions().end();
        let mut code = CodeSection::new();
        code.function(&function);
        module.section(&code);
        module.finish()
    }

    #[test]
    fn the_most_used_of_each_type_come_first() {
        use ValType::{F64, I32, I64};
        // By number: 2 and 3 are F64, 4 to 6 are I32, 7 is I64.
        let before = module(&[(2, F64), (3, I32), (1, I64)], &[1, 6, 5, 6, 7, 3, 0, 2, 2]);
        let after = module(&[(2, I32), (1, I64), (2, F64)], &[1, 2, 3, 2, 4, 6, 0, 5, 5]);
        assert_eq!(order_locals(&before).unwrap(), after);
        assert_eq!(order_locals(&after).unwrap(), after);
    }

    #[test]
    fn what_is_no_module_is_an_error() {
        assert!(order_locals(b"\0asm\x01\0\0\0\x0a\xff").is_err());
    }
}
