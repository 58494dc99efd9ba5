//! Naming what buffers of messages lie in: variables, blocks of the heap and frames.
//!
//! The one idea: of a block it is first asked which variable says where it lies, for that is what the source calls it;
//! only then who allocated it, and of the functions on the way the first that is there for more than allocating. What the
//! library of gfortran allocates for its callers is a temporary: what the text allocates it allocates without that library.

use marey_archive::Columns;
use marey_archive::merge::{DataPlace, Datum};
use marey_model::{DataKind, TEMPORARY};
use marey_source::variables::{Holder, Variable};
use marey_source::{Address, Symbolizer};

use super::resolve_one;

/// What pieces of names of functions mean that they allocate for others.
const ALLOCATING: [&str; 13] = [
    "alloc",
    "operator new",
    "std::",
    "__gnu_cxx",
    "core::",
    "create",
    "grow",
    "resize",
    "reserve",
    "_M_",
    "memalign",
    "new_array",
    "raw_vec",
];

/// The name of a datum of a kind, of whose place debug information tells of a variable.
pub(super) fn named(
    kind: DataKind,
    place: &DataPlace,
    variable: Option<Variable>,
    modules: &Columns,
    symbolizer: &mut Symbolizer,
) -> anyhow::Result<Option<Datum>> {
    let holds = variable.as_ref().is_some_and(|it| it.holder != Holder::Storage && it.offset == 0);
    Ok(match (kind, variable) {
        // A function is called with this block and with that one: they are not one for it.
        (DataKind::Block, Some(variable)) if holds && variable.is_parameter => {
            made(&place.made, modules, symbolizer)?.or(Some(datum(variable)))
        }
        (DataKind::Block, Some(variable)) if holds && is_its(place, &variable, modules, symbolizer)? => {
            Some(datum(variable))
        }
        (DataKind::Block, _) => made(&place.made, modules, symbolizer)?,
        (_, Some(variable)) => Some(datum(variable)),
        (DataKind::Frame, None) => match place.place {
            Some(of) => functions(of, modules, symbolizer)?
                .into_iter()
                .next()
                .map(|it| Datum { name: format!("stack of {}", it.name), ..it }),
            None => None,
        },
        (_, None) => None,
    })
}

/// Whether a variable that holds a block's address does so because of that block, and has not kept it of one that lay there before:
/// allocatable ones of Fortran hold nothing afterwards, and where a file's own code was under way when the block was
/// made, it is that which keeps it.
fn is_its(
    place: &DataPlace,
    variable: &Variable,
    modules: &Columns,
    symbolizer: &mut Symbolizer,
) -> anyhow::Result<bool> {
    if !place.may_be_stale || variable.holder == Holder::Allocatable {
        return Ok(true);
    }
    for &frame in &place.made {
        let files = functions(frame, modules, symbolizer)?.into_iter().map(|it| it.file);
        if !variable.file.is_empty() && files.into_iter().any(|file| file == variable.file) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn datum(variable: Variable) -> Datum {
    let Variable { name, scope, .. } = variable;
    let bound = |&(lower, extent): &(i64, Option<u64>)| Some((lower, extent?));
    Datum {
        name: if scope.is_empty() { name } else { format!("{scope}::{name}") },
        file: variable.file,
        line: variable.line,
        element: variable.element,
        element_bytes: variable.element_bytes,
        bounds: variable.bounds.iter().map(bound).collect::<Option<_>>().unwrap_or_default(),
        offset: variable.offset,
        bytes: variable.bytes,
    }
}

/// A block that is called after who made it, and for whom.
fn made(
    path: &[(u32, u64)],
    modules: &Columns,
    symbolizer: &mut Symbolizer,
) -> anyhow::Result<Option<Datum>> {
    let (mut innermost, mut found): (_, Option<Datum>) = (None, None);
    let mut kind = "block of ";
    for &frame in path {
        let is_of_runtime = found.is_none() && is_of_gfortran(frame.0, modules)?;
        if is_of_runtime {
            kind = TEMPORARY;
        }
        for function in functions(frame, modules, symbolizer)? {
            // What calls `main` is nobody's to read.
            if function.name.starts_with("__libc_start") || function.name == "_start" {
                return Ok(found.or(innermost));
            }
            let lower = function.name.to_lowercase();
            let is_allocating =
                is_of_runtime || ALLOCATING.iter().any(|piece| lower.contains(&piece.to_lowercase()));
            if let Some(found) = found {
                return Ok(Some(Datum { name: format!("{} ← {}", found.name, function.name), ..found }));
            }
            let function = Datum { name: format!("{kind}{}", function.name), ..function };
            if is_allocating {
                innermost.get_or_insert(function);
            } else {
                found = Some(function);
            }
        }
    }
    Ok(found.or(innermost))
}

/// Whether a module is the library that programs of gfortran call.
fn is_of_gfortran(module: u32, modules: &Columns) -> anyhow::Result<bool> {
    let row = modules.u32("id")?.iter().position(|&id| id == module);
    let path = row.map_or("", |row| modules.text("path").map_or("", |paths| paths[row].as_str()));
    Ok(path.rsplit('/').next().is_some_and(|name| name.starts_with("libgfortran")))
}

/// The functions of the source where a call returns to, innermost first; without any, the place in the module.
fn functions(
    (module, vaddr): (u32, u64),
    modules: &Columns,
    symbolizer: &mut Symbolizer,
) -> anyhow::Result<Vec<Datum>> {
    let resolved = resolve_one(module, Address::Return(vaddr), modules, symbolizer)?;
    let datum = |frame: marey_source::Frame| Datum {
        name: frame.function,
        file: frame.file.unwrap_or_default(),
        line: frame.line.unwrap_or(0),
        element: String::new(),
        element_bytes: 0,
        bounds: Vec::new(),
        offset: 0,
        bytes: 0,
    };
    Ok(resolved.map_or_else(Vec::new, |it| it.frames.into_iter().map(datum).collect()))
}
