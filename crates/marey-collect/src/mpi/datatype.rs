//! Datatypes: the bytes in an element, and a number for records.

use core::ffi::c_char;

use marey_measure::{Lock, Runtime};
use marey_model::spool::Definition;
use rustc_hash::FxHashMap;

use super::flavour::flavour;
use super::handles::Handles;
use super::real::ask;

/// What is known of a datatype.
pub(crate) struct Datatype {
    pub(crate) number: u32,
    /// Bytes of data in an element.
    pub(crate) size: u64,
}

static DATATYPES: Handles<Datatype> = Handles::new();
/// Numbers given out, by name and size: a program that makes and frees a type for each message
/// must not have a definition for each.
static NUMBERS: Lock<Option<FxHashMap<(String, u64), u32>>> = Lock::new(None);
static UNKNOWN: Datatype = Datatype { number: u32::MAX, size: 0 };

/// What is known of the datatype that the argument `word` names.
#[inline(always)]
pub(crate) fn datatype(runtime: &Runtime, word: usize) -> &'static Datatype {
    let handle = flavour().handle(word);
    match DATATYPES.get(handle) {
        Some(known) => known,
        None => learn(runtime, handle),
    }
}

/// The type is gone, its handle may come back as another.
pub(crate) fn freed(handle: usize) {
    DATATYPES.remove(handle);
}

#[cold]
fn learn(runtime: &Runtime, handle: usize) -> &'static Datatype {
    let mut size = 0_i32;
    if !ask!(PMPI_Type_size(handle, &raw mut size)) {
        return &UNKNOWN;
    }
    // More than 2 GiB in one element comes back as MPI_UNDEFINED.
    let mut large = 0_i64;
    if size < 0 && ask!(PMPI_Type_size_x(handle, &raw mut large)) {
        return define(runtime, handle, u64::try_from(large).unwrap_or(0));
    }
    define(runtime, handle, u64::try_from(size).unwrap_or(0))
}

fn define(runtime: &Runtime, handle: usize, size: u64) -> &'static Datatype {
    let name = name_of(handle);
    let number = NUMBERS
        .with(|numbers| {
            let numbers = numbers.get_or_insert_default();
            if let Some(&number) = numbers.get(&(name.clone(), size)) {
                return number;
            }
            let number = runtime
                .define(|definitions| {
                    let id = definitions.next_id(13);
                    definitions.define(&Definition::Datatype { id, name: name.clone(), size });
                    id
                })
                .unwrap_or(u32::MAX);
            numbers.insert((name.clone(), size), number);
            number
        })
        .unwrap_or(u32::MAX);
    DATATYPES.insert(handle, Datatype { number, size }).unwrap_or(&UNKNOWN)
}

/// The name, or how an unnamed type was made (`MPI_Type_get_envelope`).
fn name_of(handle: usize) -> String {
    let mut name = [0_u8; 512];
    let mut len = 0_i32;
    if ask!(PMPI_Type_get_name(handle, name.as_mut_ptr().cast::<c_char>(), &raw mut len)) && len > 0 {
        let len = usize::try_from(len).unwrap_or(0).min(name.len());
        return String::from_utf8_lossy(&name[..len]).into_owned();
    }
    "derived".to_owned()
}
