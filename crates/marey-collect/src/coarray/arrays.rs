//! Coarrays that have been made, by their tokens.
//!
//! The one idea: the library hands out a token for each coarray, and every later call names it by that. What gfortran
//! writes into the descriptor of an array that it allocates, its bounds, stands there only after the call that makes it;
//! so an array is described when the next call comes.
//!
//! Deliberately absent: names; where debug information has them is said (see [`crate::data`]).

use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::BTreeMap;
use std::sync::Arc;

use marey_measure::{Lock, Runtime};
use marey_model::DataKind;
use marey_model::spool::{Definition, DefinitionKind};
use marey_model::type_code::{CRITICAL, EVENT, LOCK};
use rustc_hash::FxHashMap;

use super::cache;
use super::descriptor::Descriptor;
use crate::data::{self, Key};

/// `CAF_REGTYPE_…`: what is made.
const REGISTERED_ONLY: usize = 7;
/// `CAF_REGTYPE_COARRAY_STATIC`, and the same of locks, critical constructs and events.
const KINDS_OF_STATIC: [usize; 4] = [0, 2, 4, 5];

/// Coarrays that are told apart; a program that makes more of them makes one in each step, and each is a definition. Of those
/// beyond, all of a noun are one.
const MOST: u32 = 1 << 15;

/// A coarray, this image's part of it.
#[derive(Clone, Debug)]
pub(super) struct Array {
    /// The number of the datum.
    pub(super) data: u32,
    /// The noun for sites.
    pub(super) noun: u32,
    pub(super) base: usize,
    pub(super) bytes: u64,
    pub(super) element: u64,
    /// Lower bound and extent of each dimension, as far as they are known.
    pub(super) bounds: Vec<(i64, u64)>,
    code: u8,
    place: Option<(u32, u64)>,
    within: Option<(u32, u64)>,
    site: Option<u32>,
    /// Where its descriptor lies, if it has one that stays.
    descriptor: usize,
    ticks: u64,
    /// Whether it stands for others of its noun, which are not told apart; whether it is one of these.
    is_shared: bool,
    is_another: bool,
}

impl Array {
    fn contains(&self, address: usize) -> bool {
        address.checked_sub(self.base).is_some_and(|offset| (offset as u64) < self.bytes)
    }
}

#[derive(Default)]
struct Arrays {
    by_token: FxHashMap<usize, Arc<Array>>,
    /// Tokens by where the parts of this image begin, and by where descriptors lie that stay.
    by_base: BTreeMap<usize, usize>,
    by_descriptor: FxHashMap<usize, usize>,
    /// Tokens of those that are not described yet.
    undescribed: Vec<usize>,
    /// How many have been told apart.
    told: u32,
    /// The datum of those that are not told apart, by their noun.
    shared: FxHashMap<u32, u32>,
}

impl Arrays {
    fn insert(&mut self, token: usize, array: &Arc<Array>) {
        // The library may give a token again whose end was not seen.
        self.remove(token);
        self.by_base.insert(array.base, token);
        if array.descriptor != 0 {
            self.by_descriptor.insert(array.descriptor, token);
        }
        self.by_token.insert(token, Arc::clone(array));
    }

    fn remove(&mut self, token: usize) -> Option<Arc<Array>> {
        let array = self.by_token.remove(&token)?;
        // Another one may have taken the place meanwhile.
        if self.by_base.get(&array.base) == Some(&token) {
            self.by_base.remove(&array.base);
        }
        if self.by_descriptor.get(&array.descriptor) == Some(&token) {
            self.by_descriptor.remove(&array.descriptor);
        }
        Some(array)
    }

    fn at(&self, address: usize) -> Option<&Arc<Array>> {
        let (_, token) = self.by_base.range(..=address).next_back()?;
        self.by_token.get(token).filter(|array| array.contains(address))
    }

    fn of_descriptor(&self, address: usize) -> Option<&Arc<Array>> {
        self.by_token.get(self.by_descriptor.get(&address)?)
    }
}

/// Whether there are such.
static IS_UNDESCRIBED: AtomicBool = AtomicBool::new(false);

static ARRAYS: Lock<Option<Arrays>> = Lock::new(None);

fn with<R>(f: impl FnOnce(&mut Arrays) -> R) -> Option<R> {
    ARRAYS.with_or_renew(Option::default, |arrays| f(arrays.get_or_insert_default()))
}

/// The coarray of a token.
pub(super) fn of_token(token: usize) -> Option<Arc<Array>> {
    cache::array(token, || with(|arrays| arrays.by_token.get(&token).cloned()).flatten())
}

/// The coarray in whose part of this image an address lies.
pub(super) fn at(address: usize) -> Option<Arc<Array>> {
    with(|arrays| arrays.at(address).cloned()).flatten()
}

/// The coarray whose descriptor lies at an address.
pub(super) fn of_descriptor(address: usize) -> Option<Arc<Array>> {
    with(|arrays| arrays.of_descriptor(address).cloned()).flatten()
}

/// The arguments of the call that makes one.
#[derive(Clone, Copy)]
pub(super) struct Making {
    pub(super) size: usize,
    pub(super) kind: usize,
    /// Where the token has been stored.
    pub(super) token_at: usize,
    pub(super) descriptor_at: usize,
    /// The site of the call.
    pub(super) site: u32,
}

/// What the call that makes one has made; `None` if nothing, or not yet.
///
/// # Safety
/// The arguments are those of a call that has returned.
pub(super) unsafe fn made(runtime: &Runtime, making: Making) -> Option<Arc<Array>> {
    if making.kind == REGISTERED_ONLY || making.token_at == 0 {
        return None;
    }
    // SAFETY: the caller's promise.
    let (token, descriptor) =
        unsafe { (*(making.token_at as *const usize), Descriptor::at(making.descriptor_at)?) };
    if token == 0 || descriptor.base == 0 {
        return None;
    }
    // Static ones are registered with a descriptor that is gone afterwards.
    let has_descriptor = !KINDS_OF_STATIC.contains(&making.kind);
    let variable = if has_descriptor { making.descriptor_at } else { making.token_at };
    let outer = at(variable);
    let place = if outer.is_none() { data::place(runtime, variable) } else { None };
    let within = outer.as_ref().map(|outer| (outer.data, (variable - outer.base) as u64));
    let key = match (&outer, place) {
        (Some(outer), _) => Key::Within(outer.noun, variable - outer.base),
        (None, Some(_)) => Key::Variable(variable),
        (None, None) => Key::Made(making.site),
    };
    let next = runtime.define(|definitions| definitions.next_id(DefinitionKind::Data))?;
    let noun = data::noun("coarray", key, next);
    let (data, is_shared) = with(|arrays| {
        if arrays.told < MOST {
            arrays.told += 1;
            return (next, false);
        }
        (*arrays.shared.entry(noun).or_insert(next), true)
    })?;
    let array = Arc::new(Array {
        data,
        noun,
        base: descriptor.base,
        bytes: match making.kind {
            // Locks and events are counted, not measured.
            2..=6 => making.size as u64 * 4,
            // What has no elements is given a byte.
            _ if making.size == 1 && descriptor.element > 1 => 0,
            _ => making.size as u64,
        },
        element: descriptor.element as u64,
        bounds: Vec::new(),
        code: match making.kind {
            2 | 3 => LOCK,
            4 => CRITICAL,
            5 | 6 => EVENT,
            _ => descriptor.code.unsigned_abs(),
        },
        place,
        within,
        site: Some(making.site),
        descriptor: if has_descriptor { making.descriptor_at } else { 0 },
        ticks: runtime.ticks(),
        is_shared,
        is_another: data != next,
    });
    let known = with(|arrays| {
        arrays.undescribed.push(token);
        arrays.insert(token, &array);
    });
    IS_UNDESCRIBED.store(true, Ordering::Release);
    cache::changed();
    known.map(|()| array)
}

/// Describes what has been made since this was called last.
///
/// # Safety
/// Descriptors of arrays that have been made are where they were.
pub(super) unsafe fn describe(runtime: &Runtime) {
    if !IS_UNDESCRIBED.load(Ordering::Acquire) {
        return;
    }
    IS_UNDESCRIBED.store(false, Ordering::Release);
    let described = with(|arrays| {
        let tokens = core::mem::take(&mut arrays.undescribed);
        let mut described = Vec::new();
        for token in tokens {
            let Some(array) = arrays.by_token.get_mut(&token) else { continue };
            // SAFETY: the caller's promise.
            if let Some(descriptor) = unsafe { Descriptor::at(array.descriptor) }
                && descriptor.base == array.base
                && descriptor.elements().checked_mul(array.element) == Some(array.bytes)
            {
                *array = Arc::new(Array { bounds: descriptor.bounds(), ..Array::clone(array) });
            }
            described.push(Arc::clone(array));
        }
        described
    });
    cache::changed();
    for array in described.unwrap_or_default().iter().filter(|array| !array.is_another) {
        runtime.define(|definitions| definitions.define(&array.definition()));
    }
}

/// Forgets the coarray of the token at an address, which is given back.
///
/// # Safety
/// The address is the argument of a call that is under way.
pub(super) unsafe fn freed(runtime: &Runtime, token_at: usize) -> Option<Arc<Array>> {
    // SAFETY: the caller's promise.
    let token = unsafe { *(token_at as *const usize).as_ref()? };
    // SAFETY: the arrays are still there.
    unsafe { describe(runtime) };
    let array = with(|arrays| arrays.remove(token)).flatten()?;
    cache::changed();
    if array.is_shared {
        return Some(array);
    }
    let ticks = runtime.ticks();
    runtime.define(|definitions| definitions.define(&Definition::DataFreed { id: array.data, ticks }));
    Some(array)
}

impl Array {
    fn definition(&self) -> Definition {
        Definition::Data {
            id: self.data,
            kind: DataKind::Coarray as u8,
            name: String::new(),
            place: self.place,
            from_frame: None,
            within: self.within,
            site: self.site,
            address: self.base as u64,
            bytes: self.bytes,
            element: self.element,
            code: self.code,
            bounds: self.bounds.clone(),
            ticks: self.ticks,
        }
    }
}
