//! Names of functions as rules can know them while the program runs: from the symbol table of the module's file.
//!
//! The one idea: a file is read once, when the first rule asks for a name in it, and never without rules. A
//! symbol becomes the name that the report will show ([`readable`]), as far as that is cheap: what stands between
//! the angle brackets of a C++ template is left out, so rules say `ns::add<*>`.
//!
//! Deliberately absent: debug information, and separate files of it. A function of a stripped file is called
//! after its place, and rules fit that.

mod readable;
mod symbols;

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use marey_measure::Lock;
use rustc_hash::FxHashMap;

use self::readable::readable;
use self::symbols::{Of, Symbols};

/// A module that functions were found in.
struct Module {
    path: CString,
    /// `None` before it was asked for.
    symbols: Option<Symbols>,
    /// The same of its variables.
    objects: Option<Symbols>,
}

/// Modules by their numbers. Taken while definitions are made, so nothing is defined while it is held.
static KNOWN: Lock<Option<FxHashMap<u32, Module>>> = Lock::new(None);

/// Says which file a module's number stands for.
pub(super) fn know(number: u32, path: &Path) {
    KNOWN.with_or_renew(Option::default, |known| {
        known.get_or_insert_default().entry(number).or_insert_with(|| Module {
            path: CString::new(path.as_os_str().as_bytes()).unwrap_or_default(),
            symbols: None,
            objects: None,
        });
    });
}

/// The name of the function that begins at an address of a module, if its file tells.
pub(crate) fn name_of(module: u32, vaddr: u64) -> Option<String> {
    KNOWN
        .with_or_renew(Option::default, |known| {
            let module = known.as_mut()?.get_mut(&module)?;
            let symbols = module.symbols.get_or_insert_with(|| Symbols::read(&module.path, Of::Functions));
            symbols.find(vaddr).map(readable)
        })
        .flatten()
}

/// The name of the variable that begins at an address of a module, as its symbol table has it.
pub(crate) fn object_at(module: u32, vaddr: u64) -> Option<String> {
    KNOWN
        .with_or_renew(Option::default, |known| {
            let module = known.as_mut()?.get_mut(&module)?;
            let objects = module.objects.get_or_insert_with(|| Symbols::read(&module.path, Of::Objects));
            objects.find(vaddr).map(str::to_owned)
        })
        .flatten()
}
