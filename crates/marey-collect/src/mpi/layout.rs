//! Which bytes of a target's memory a datatype means.
//!
//! The one idea: nearly all types are runs of bytes of one length at one distance: a number of elements side by side, or a
//! vector of them. MPI is asked once for each type, and what it says stands beside the handle, so that a call pays for one
//! look. What is dense needs no words, for an access says where it begins and how much it moves.
//!
//! Deliberately absent: types of any other form, such as those by lists of displacements, of parts of arrays of several
//! dimensions, or of structures: of those it is said that they are not told.

use marey_measure::{Lock, Runtime};
use marey_model::DimensionKind;
use marey_model::spool::{Definition, DefinitionKind};
use rustc_hash::FxHashMap;

use super::flavour::{Family, flavour};
use super::handles::{Handles, Known};
use super::real::ask;

/// How elements of a type lie: `runs` of `bytes`, `stride` bytes from one to the next, and again after `extent`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Runs {
    bytes: u32,
    runs: u32,
    stride: u32,
    extent: u32,
}

/// What is known of a type.
#[derive(Clone, Copy)]
struct Layout {
    /// `None` = it is not told.
    runs: Option<Runs>,
    /// How many of them were meant last, and the shape of that.
    last: (u32, u32),
}

impl Known<3> for Layout {
    fn words(self) -> [u64; 3] {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let runs = self.runs.unwrap_or(Runs { bytes: 0, runs: 0, stride: 0, extent: 0 });
        [pair(runs.bytes, runs.runs), pair(runs.stride, runs.extent), pair(self.last.0, self.last.1)]
    }

    #[inline(always)]
    unsafe fn of(words: [u64; 3]) -> Self {
        let [(bytes, runs), (stride, extent), last] = words.map(|word| ((word >> 32) as u32, word as u32));
        Self { runs: (runs != 0).then_some(Runs { bytes, runs, stride, extent }), last }
    }
}

static LAYOUTS: Handles<Layout, 3> = Handles::new();

/// Number of elements that no call means.
const NEVER: u32 = u32::MAX;
/// [`Runs::runs`] of a type that has been freed, whose handle may come back as another.
const GONE: u32 = u32::MAX;

/// The type is gone.
pub(super) fn freed(handle: usize) {
    let gone = Runs { bytes: 0, runs: GONE, stride: 0, extent: 0 };
    LAYOUTS.replace(handle, Layout { runs: Some(gone), last: (NEVER, u32::MAX) });
}

/// The shape of `n` elements of the type that the argument `word` names; `u32::MAX` if they lie side by side.
#[inline(always)]
pub(super) fn shape(runtime: &Runtime, word: usize, n: u64) -> u32 {
    let handle = flavour().handle(word);
    match LAYOUTS.get(handle) {
        Some(Layout { runs: Some(runs), .. }) if runs.is_dense(n) => u32::MAX,
        Some(Layout { last: (of, shape), .. }) if u64::from(of) == n && of != NEVER => shape,
        known => learn(runtime, handle, known, n),
    }
}

impl Runs {
    #[inline(always)]
    fn is_dense(self, n: u64) -> bool {
        self.runs == 1 && (n <= 1 || self.bytes == self.extent)
    }

    fn dimensions(self, n: u64) -> Dimensions {
        let bytes = |stride: u32, count: u64| (DimensionKind::Bytes as u8, (0, (i64::from(stride), count)));
        let mut all = vec![bytes(1, self.bytes.into())];
        if 1 < self.runs {
            all.push(bytes(self.stride, self.runs.into()));
        }
        if 1 < n {
            all.push(bytes(self.extent, n));
        }
        all
    }
}

/// Kind, start, stride and number of each dimension.
type Dimensions = Vec<(u8, (i64, (i64, u64)))>;

/// Shapes by what they are.
static SHAPES: Lock<Option<FxHashMap<Dimensions, u32>>> = Lock::new(None);
/// Beyond this many nothing is told of those that are new.
const MAX_SHAPES: usize = 1 << 14;

#[cold]
fn learn(runtime: &Runtime, handle: usize, known: Option<Layout>, n: u64) -> u32 {
    let is_gone = |layout: &Layout| layout.runs.is_some_and(|runs| runs.runs == GONE);
    let runs = match known.filter(|layout| !is_gone(layout)) {
        Some(layout) => layout.runs,
        None => runs_of(handle),
    };
    let number = match runs {
        Some(runs) if runs.is_dense(n) => u32::MAX,
        Some(runs) => {
            number(runtime, runs.dimensions(n)).or_else(|| number(runtime, untold())).unwrap_or(u32::MAX)
        }
        None => number(runtime, untold()).unwrap_or(u32::MAX),
    };
    let of = u32::try_from(n).unwrap_or(NEVER);
    LAYOUTS.insert(handle, Layout { runs, last: (of, number) });
    number
}

fn untold() -> Dimensions {
    vec![(DimensionKind::Untold as u8, (0, (0, 0)))]
}

fn number(runtime: &Runtime, dimensions: Dimensions) -> Option<u32> {
    let known = SHAPES.with_or_renew(Option::default, |shapes| {
        let shapes = shapes.get_or_insert_default();
        if let Some(&id) = shapes.get(&dimensions) {
            return Some(id);
        }
        // Room for what says that nothing is told is kept.
        if MAX_SHAPES <= shapes.len() && dimensions != untold() {
            return None;
        }
        let id = runtime.define(|definitions| {
            let id = definitions.next_id(DefinitionKind::Shape);
            definitions.define(&Definition::Shape { id, dimensions: dimensions.clone() });
            id
        })?;
        shapes.insert(dimensions, id);
        Some(id)
    });
    known.flatten()
}

/// Size of a type, where its first byte lies, and how far its last one reaches; its extent.
struct Measured {
    bytes: u32,
    lower: i64,
    reach: u32,
    extent: u32,
}

fn measured(handle: usize) -> Option<Measured> {
    let (mut bytes, mut lower, mut extent, mut first, mut reach) = (0_i32, 0_i64, 0_i64, 0_i64, 0_i64);
    let is_known = ask!(PMPI_Type_size(handle, &raw mut bytes))
        && ask!(PMPI_Type_get_extent(handle, &raw mut lower, &raw mut extent))
        && ask!(PMPI_Type_get_true_extent(handle, &raw mut first, &raw mut reach));
    // One that begins before where it is said to lie, or is larger than what fits, is not told.
    let fits = |number: i64| u32::try_from(number).ok().filter(|number| *number < GONE);
    is_known.then_some(())?;
    Some(Measured { bytes: fits(bytes.into())?, lower: first, reach: fits(reach)?, extent: fits(extent)? })
}

/// Where the data of a type begin, from where it is said to lie.
fn first(handle: usize) -> Option<i64> {
    let (mut first, mut reach) = (0_i64, 0_i64);
    ask!(PMPI_Type_get_true_extent(handle, &raw mut first, &raw mut reach)).then_some(first)
}

/// Whether that is elsewhere.
pub(super) fn is_displaced(handle: usize) -> bool {
    first(handle).is_some_and(|first| first != 0)
}

/// Where the first byte lies of data of the type that the argument `word` names, which is said to lie at `buffer`; 0 = at no
/// address.
#[cold]
pub(super) fn first_byte(word: usize, buffer: usize) -> usize {
    /// Types that are to be laid at an address, from `MPI_BOTTOM` on, begin near it.
    const NEAR: usize = 1 << 16;
    let first = first(flavour().handle(word)).unwrap_or(0);
    let at = buffer.wrapping_add_signed(first as isize);
    if buffer == 0 && at < NEAR { 0 } else { at }
}

impl Measured {
    /// Whether there are no gaps in an element.
    fn is_solid(&self) -> bool {
        self.lower == 0 && self.bytes == self.reach
    }
}

fn runs_of(handle: usize) -> Option<Runs> {
    let whole = measured(handle)?;
    if whole.is_solid() {
        let bytes = whole.bytes;
        return Some(Runs { bytes, runs: 1, stride: 0, extent: whole.extent });
    }
    if whole.lower != 0 {
        return None;
    }
    let (runs, bytes, stride) = vector(handle)?;
    let reach = u64::from(runs - 1) * u64::from(stride) + u64::from(bytes);
    // What has been made wider or narrower afterwards is another type; this one says how far it goes itself.
    let is_it =
        reach == u64::from(whole.reach) && u64::from(runs) * u64::from(bytes) == u64::from(whole.bytes);
    is_it.then_some(Runs { bytes, runs, stride, extent: whole.extent })
}

/// `MPI_COMBINER_VECTOR`, `_HVECTOR_INTEGER` and `_HVECTOR` of Open MPI; those of MPICH are greater by one.
const VECTOR: i32 = 3;
const HVECTOR_INTEGER: i32 = 4;
const HVECTOR: i32 = 5;

/// How many blocks a vector has, the bytes of one, and from one to the next, if it is one of elements without gaps.
fn vector(handle: usize) -> Option<(u32, u32, u32)> {
    let (form, [n_integers, n_addresses, n_types]) = form(handle)?;
    let is_vector = matches!(form, VECTOR | HVECTOR_INTEGER | HVECTOR);
    if !is_vector || 3 < n_integers || 1 < n_addresses || n_types != 1 {
        return None;
    }
    let (mut integers, mut addresses, mut types) = ([0_i32; 3], [0_i64; 1], [0_usize; 1]);
    let is_told = ask!(PMPI_Type_get_contents(
        handle,
        n_integers,
        n_addresses,
        n_types,
        integers.as_mut_ptr(),
        addresses.as_mut_ptr(),
        types.as_mut_ptr()
    ));
    if !is_told {
        return None;
    }
    let mut inner = flavour().handle(types[0]);
    let element = measured(inner).filter(|it| it.is_solid() && it.bytes == it.extent).map(|it| it.bytes);
    // What is not predefined is ours to give back; the original stays.
    if self::form(inner).is_some_and(|(form, _)| form != NAMED) {
        ask!(PMPI_Type_free(&raw mut inner));
    }
    let element = element?;
    let [runs, length, stride] = integers;
    let stride = match form {
        VECTOR => i64::from(stride).checked_mul(element.into())?,
        HVECTOR_INTEGER => stride.into(),
        _ => addresses[0],
    };
    let runs = u32::try_from(runs).ok().filter(|runs| 0 < *runs)?;
    let bytes = u32::try_from(length).ok()?.checked_mul(element)?;
    let stride = u32::try_from(stride).ok().filter(|stride| bytes <= *stride)?;
    Some((runs, bytes, stride))
}

const NAMED: i32 = 0;

/// How a type was made, as a number of Open MPI's, and how many integers, addresses and types that takes.
fn form(handle: usize) -> Option<(i32, [i32; 3])> {
    let (mut integers, mut addresses, mut types, mut form) = (0_i32, 0_i32, 0_i32, 0_i32);
    let is_told = ask!(PMPI_Type_get_envelope(
        handle,
        &raw mut integers,
        &raw mut addresses,
        &raw mut types,
        &raw mut form
    ));
    let form = match flavour().family {
        Family::OpenMpi => form,
        Family::Mpich => form - 1,
    };
    is_told.then_some((form, [integers, addresses, types]))
}
