//! Datatypes: the bytes in an element, and a number for records.

use core::ffi::c_char;
use core::sync::atomic::{AtomicU64, Ordering};

use marey_measure::{Lock, Runtime};
use marey_model::spool::{Definition, DefinitionKind};
use rustc_hash::FxHashMap;

use super::flavour::{Family, flavour, object};
use super::handles::{Handles, Known};
use super::real::ask;
use super::{contents, layout};

/// What is known of a datatype.
#[derive(Clone, Copy)]
pub(crate) struct Datatype {
    pub(crate) number: u32,
    /// Bytes of data in an element.
    pub(crate) size: u64,
    /// Whether its data begin elsewhere than where it is said to lie.
    is_displaced: bool,
}

impl Datatype {
    /// Where data begin of the type that the argument `word` names, and this is, at a buffer; 0 = at no address.
    #[inline(always)]
    pub(crate) fn first_byte(self, word: usize, buffer: usize) -> usize {
        if self.is_displaced { layout::first_byte(word, buffer) } else { buffer }
    }
}

/// A number, whether it is displaced, and a size in one word, so that none is looked for elsewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Packed(u64);

static DATATYPES: Handles<Packed, 1> = Handles::new();
/// Types by what tells them apart.
type ByKey<K> = Option<FxHashMap<K, Datatype>>;

/// Types that have been defined, by name and size: a program that makes and frees a type for each message
/// must not have a definition for each.
static NAMED: Lock<ByKey<(Box<[u8]>, u64)>> = Lock::new(None);
/// The same for types without a name, which are the ones made for each message.
static UNNAMED: Lock<ByKey<u64>> = Lock::new(None);
/// Some of those, found by their size without a lock.
static RECENT: [AtomicU64; 1 << RECENT_BITS] = [const { AtomicU64::new(0) }; 1 << RECENT_BITS];
/// A page. A program that works on ever smaller parts of a matrix goes through hundreds of sizes.
const RECENT_BITS: u32 = 9;
const UNKNOWN: Datatype = Datatype { number: u32::MAX, size: 0, is_displaced: false };

impl Packed {
    const NUMBER_BITS: u32 = 24;
    const NUMBERS: u64 = (1 << Self::NUMBER_BITS) - 1;
    const DISPLACED: u64 = 1 << Self::NUMBER_BITS;
    const SIZE_AT: u32 = Self::NUMBER_BITS + 1;
    /// What a handle stands for whose type has been freed: if it comes back, then as a derived type,
    /// which has no name unless the program gives it one.
    const DERIVED: Self = Self(u64::MAX);

    /// `None` of the rare type that does not fit, which is looked up anew each time.
    fn new(Datatype { number, size, is_displaced }: Datatype) -> Option<Self> {
        let fits = u64::from(number) < Self::NUMBERS && size >> (u64::BITS - Self::SIZE_AT) == 0;
        let displaced = if is_displaced { Self::DISPLACED } else { 0 };
        fits.then_some(Self(size << Self::SIZE_AT | displaced | u64::from(number)))
    }

    #[inline(always)]
    fn open(self) -> Datatype {
        Datatype {
            number: (self.0 & Self::NUMBERS) as u32,
            size: self.0 >> Self::SIZE_AT,
            is_displaced: self.0 & Self::DISPLACED != 0,
        }
    }
}

impl Known<1> for Packed {
    fn words(self) -> [u64; 1] {
        [self.0]
    }

    #[inline(always)]
    unsafe fn of([word]: [u64; 1]) -> Self {
        Self(word)
    }
}

/// What is known of the datatype that the argument `word` names.
///
/// The argument must be one that counts in this call: MPI is asked for what is not known, and a type that is none ends the
/// program there.
#[inline(always)]
pub(crate) fn datatype(runtime: &Runtime, word: usize) -> Datatype {
    let handle = flavour().handle(word);
    match DATATYPES.get(handle) {
        Some(Packed::DERIVED) => learn_derived(runtime, handle),
        Some(known) => known.open(),
        None => learn(runtime, handle),
    }
}

/// The type is gone, its handle may come back as another.
pub(crate) fn freed(handle: usize) {
    DATATYPES.replace(handle, Packed::DERIVED);
}

/// The type gets a name: it is to be asked for when the type is used next.
pub(crate) fn renamed(handle: usize) {
    DATATYPES.remove(handle);
}

/// The handle of `MPI_BYTE`.
pub(crate) fn byte() -> usize {
    match flavour().family {
        Family::OpenMpi => object(c"ompi_mpi_byte"),
        Family::Mpich => 0x4c00_010d,
    }
}

/// Bytes of data in an element of the type.
fn size_of_type(handle: usize) -> Option<u64> {
    let mut size = 0_i32;
    if !ask!(PMPI_Type_size(handle, &raw mut size)) {
        return None;
    }
    // More than 2 GiB in one element comes back as MPI_UNDEFINED.
    let mut large = 0_i64;
    if size < 0 && ask!(PMPI_Type_size_x(handle, &raw mut large)) {
        return Some(u64::try_from(large).unwrap_or(0));
    }
    Some(u64::try_from(size).unwrap_or(0))
}

fn learn_derived(runtime: &Runtime, handle: usize) -> Datatype {
    let Some(size) = size_of_type(handle) else { return UNKNOWN };
    let known = Datatype { is_displaced: layout::is_displaced(handle), ..unnamed(runtime, size) };
    if let Some(packed) = Packed::new(known) {
        DATATYPES.replace(handle, packed);
    }
    known
}

/// The type without a name that has this size.
fn unnamed(runtime: &Runtime, size: u64) -> Datatype {
    let hash = size.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - RECENT_BITS);
    let recent = &RECENT[hash as usize];
    let word = recent.load(Ordering::Relaxed);
    let known = Packed(word).open();
    if known.size == size && word != 0 {
        return known;
    }
    let known = known_as(&UNNAMED, size, || define_as(runtime, "derived".to_owned(), size));
    if let Some(packed) = Packed::new(known) {
        recent.store(packed.0, Ordering::Relaxed);
    }
    known
}

#[cold]
fn learn(runtime: &Runtime, handle: usize) -> Datatype {
    // To ask for what is none is an error, which ends the program.
    if handle == 0 || handle == flavour().datatype_null {
        return UNKNOWN;
    }
    let Some(size) = size_of_type(handle) else { return UNKNOWN };
    let mut name = [0_u8; 512];
    let mut len = 0_i32;
    let named = ask!(PMPI_Type_get_name(handle, name.as_mut_ptr().cast::<c_char>(), &raw mut len)) && len > 0;
    let known = if named {
        let name = &name[..usize::try_from(len).unwrap_or(0).min(name.len())];
        let text = || String::from_utf8_lossy(name).into_owned();
        let known = known_as(&NAMED, (name.into(), size), || define_as(runtime, text(), size));
        contents::datatype(known.number, name, size);
        known
    } else {
        unnamed(runtime, size)
    };
    let known = Datatype { is_displaced: layout::is_displaced(handle), ..known };
    if let Some(packed) = Packed::new(known) {
        DATATYPES.insert(handle, packed);
    }
    known
}

fn known_as<K: std::hash::Hash + Eq>(
    known: &Lock<ByKey<K>>,
    key: K,
    new: impl FnOnce() -> Datatype,
) -> Datatype {
    known
        .with_or_renew(Option::default, |known| *known.get_or_insert_default().entry(key).or_insert_with(new))
        .unwrap_or(UNKNOWN)
}

fn define_as(runtime: &Runtime, name: String, size: u64) -> Datatype {
    let number = runtime.define(|definitions| {
        let id = definitions.next_id(DefinitionKind::Datatype);
        definitions.define(&Definition::Datatype { id, name, size });
        id
    });
    Datatype { number: number.unwrap_or(u32::MAX), size, is_displaced: false }
}
