//! What messages hold: chosen elements of their buffers, in mode `full`.
//!
//! The one idea: the elements of a message are an event like one of the user's, whose fields they are, each
//! under its place in the buffer. So whoever reads events reads them, and needs no description of datatypes.
//!
//! Memory is read by way of the kernel: a buffer on an accelerator, or none at all, gives no event and no fault.
//! A datatype that is not one of MPI's own gives none either: where its elements lie is for MPI to know.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;

use marey_measure::message::Half;
use marey_measure::{Lock, Runtime, TABLE};
use marey_model::Elements;
use marey_model::spool::{Definition, DefinitionKind, Direction, FieldType, put, put_bytes, put_signed};
use rustc_hash::FxHashMap;

static IS_FULL: AtomicBool = AtomicBool::new(false);
static ELEMENTS: OnceLock<Elements> = OnceLock::new();

/// Records from now on these elements of each message.
pub(crate) fn begin(elements: Elements) {
    IS_FULL.store(ELEMENTS.set(elements).is_ok(), Ordering::Release);
}

/// Records what `half`, which has just been sent or has come, holds, if that is wanted.
#[inline(always)]
pub(super) fn tell(runtime: &Runtime, half: &Half) {
    if IS_FULL.load(Ordering::Relaxed) {
        record(runtime, half);
    }
}

/// How the elements of a datatype are to be read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Sort {
    Signed,
    Unsigned,
    Real,
    Bool,
    /// All elements together are one field.
    Text,
}

/// A datatype of MPI's own.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Basic {
    name: &'static str,
    sort: Sort,
    size: usize,
}

/// By their numbers in records.
static BASIC: Lock<Option<FxHashMap<u32, Basic>>> = Lock::new(None);
/// Kinds of events, by what they are of and the number of fields.
static KINDS: Lock<Kinds> = Lock::new(None);
type Kinds = Option<FxHashMap<(bool, Basic, usize), u32>>;

const SORTS: [(Sort, &[&str]); 5] = [
    (
        Sort::Signed,
        &[
            "MPI_INT",
            "MPI_SHORT",
            "MPI_LONG",
            "MPI_LONG_LONG",
            "MPI_LONG_LONG_INT",
            "MPI_SIGNED_CHAR",
            "MPI_INT8_T",
            "MPI_INT16_T",
            "MPI_INT32_T",
            "MPI_INT64_T",
            "MPI_INTEGER",
            "MPI_INTEGER1",
            "MPI_INTEGER2",
            "MPI_INTEGER4",
            "MPI_INTEGER8",
            "MPI_AINT",
            "MPI_OFFSET",
            "MPI_COUNT",
        ],
    ),
    (
        Sort::Unsigned,
        &[
            "MPI_UNSIGNED",
            "MPI_UNSIGNED_SHORT",
            "MPI_UNSIGNED_LONG",
            "MPI_UNSIGNED_LONG_LONG",
            "MPI_UNSIGNED_CHAR",
            "MPI_UINT8_T",
            "MPI_UINT16_T",
            "MPI_UINT32_T",
            "MPI_UINT64_T",
            "MPI_BYTE",
        ],
    ),
    (Sort::Real, &["MPI_FLOAT", "MPI_DOUBLE", "MPI_REAL", "MPI_REAL4", "MPI_REAL8", "MPI_DOUBLE_PRECISION"]),
    (Sort::Bool, &["MPI_C_BOOL", "MPI_CXX_BOOL", "MPI_LOGICAL"]),
    (Sort::Text, &["MPI_CHAR", "MPI_CHARACTER"]),
];

/// Notes that a datatype has this number, name and size.
pub(super) fn datatype(number: u32, name: &[u8], size: u64) {
    let Ok(size) = usize::try_from(size) else { return };
    if !IS_FULL.load(Ordering::Relaxed) || ![1, 2, 4, 8].contains(&size) {
        return;
    }
    let names = SORTS.iter().flat_map(|(sort, names)| names.iter().map(move |&name| (*sort, name)));
    let mut found = names.filter(|(_, own)| own.as_bytes() == name);
    if let Some((sort, name)) = found.next() {
        let basic = Basic { name, sort, size };
        BASIC.with_or_renew(Option::default, |all| all.get_or_insert_default().insert(number, basic));
    }
}

#[cold]
#[inline(never)]
fn record(runtime: &Runtime, half: &Half) {
    let basic = |all: &mut Option<FxHashMap<u32, Basic>>| all.as_ref()?.get(&half.datatype).copied();
    let basic = BASIC.with_or_renew(Option::default, basic).flatten();
    let (Some(basic), Some(elements)) = (basic, ELEMENTS.get()) else { return };
    let mut memory = [[0_u8; 8]; Elements::MOST as usize];
    let (mut places, mut len) = ([0_u64; Elements::MOST as usize], 0);
    for range in elements.within(half.bytes / basic.size as u64) {
        for place in range {
            let from = half.buffer.wrapping_add(place * basic.size as u64);
            if !read(from, &mut memory[len][..basic.size]) {
                return;
            }
            places[len] = place;
            len += 1;
        }
    }
    if len == 0 {
        return;
    }
    let is_send = half.direction == Direction::Send;
    let Some(kind) = kind(runtime, (is_send, basic), &places[..len]) else { return };
    let mut fields = Vec::new();
    if basic.sort == Sort::Text {
        let text: Vec<u8> = memory[..len].iter().map(|element| element[0]).collect();
        put_bytes(&mut fields, String::from_utf8_lossy(&text).as_bytes());
    } else {
        memory[..len].iter().for_each(|element| put_element(&mut fields, basic, *element));
    }
    // SAFETY: the bytes are what their length says.
    unsafe { (TABLE.event)(kind, fields.as_ptr(), fields.len()) };
}

/// The kind of event of these elements, made if need be.
fn kind(runtime: &Runtime, (is_send, basic): (bool, Basic), places: &[u64]) -> Option<u32> {
    let key = (is_send, basic, places.len());
    let known = |kinds: &mut Kinds| kinds.as_ref()?.get(&key).copied();
    if let Some(kind) = KINDS.with_or_renew(Option::default, known).flatten() {
        return Some(kind);
    }
    let (of, what) = (basic.name, if is_send { "sent" } else { "received" });
    let field = match basic.sort {
        Sort::Signed => FieldType::Signed,
        Sort::Unsigned => FieldType::Unsigned,
        Sort::Real => FieldType::Real,
        Sort::Bool => FieldType::Bool,
        Sort::Text => FieldType::Text,
    };
    let fields = match basic.sort {
        Sort::Text => vec![("text".to_owned(), field as u8)],
        _ => places.iter().map(|place| (place.to_string(), field as u8)).collect(),
    };
    let id = runtime.define(|definitions| {
        let id = definitions.next_id(DefinitionKind::EventKind);
        let name = format!("{what} {of}");
        definitions.define(&Definition::EventKind { id, name, attribute: false, fields });
        id
    })?;
    KINDS.with_or_renew(Option::default, |kinds| kinds.get_or_insert_default().insert(key, id));
    Some(id)
}

fn put_element(fields: &mut Vec<u8>, basic: Basic, element: [u8; 8]) {
    let bits = u64::from_le_bytes(element);
    let unused = 64 - 8 * basic.size as u32;
    match basic.sort {
        Sort::Signed => put_signed(fields, (bits << unused).cast_signed() >> unused),
        Sort::Real if basic.size == 4 => {
            let real = f32::from_bits(bits as u32);
            fields.extend_from_slice(&f64::from(real).to_le_bytes());
        }
        Sort::Real => fields.extend_from_slice(&element),
        Sort::Bool => fields.push(u8::from(bits != 0)),
        Sort::Unsigned | Sort::Text => put(fields, bits),
    }
}

/// Reads the process's own memory, whether or not there is any.
fn read(from: u64, into: &mut [u8]) -> bool {
    marey_measure::sys::copy_own(from as usize, into) as usize == into.len()
}
