//! Regions by the place in the source that they are about, each made once.
//!
//! The one idea: places are static, so what belongs to one may live for ever, and an address is enough to find it: first
//! among the few that the thread used last, without a lock, then among all.

use core::cell::Cell;
use core::panic::Location;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::thread::LocalKey;

/// What tells places from each other: an address of something static, and of a name with its length.
pub(crate) type Key = (usize, usize, usize);

/// The key of a name that is used at a place.
#[cfg(any(feature = "rayon", feature = "tokio"))]
pub(crate) fn key(name: &'static str, at: &'static Location<'static>) -> Key {
    (core::ptr::from_ref(at).addr(), name.as_ptr().addr(), name.len())
}

/// The places that a thread used last.
pub(crate) type Recent<T> = [Cell<(Key, Option<&'static T>)>; 16];

/// None yet.
pub(crate) const fn none<T>() -> Recent<T> {
    [const { Cell::new(((0, 0, 0), None)) }; 16]
}

/// All places of a kind.
pub(crate) struct Places<T: 'static>(Mutex<BTreeMap<Key, &'static T>>);

impl<T> Places<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// What belongs to a place; made if nobody has come by yet.
    pub(crate) fn get(
        &self,
        recent: &'static LocalKey<Recent<T>>,
        key: Key,
        make: impl FnOnce() -> T,
    ) -> &'static T {
        // Addresses are multiples of eight, and what stands side by side in the source often does there.
        let slot = (key.0 >> 3 ^ key.1) % 16;
        // A thread that is ending has none any more.
        let known = recent.try_with(|recent| recent[slot].get()).ok();
        if let Some((_, Some(found))) = known.filter(|(of, _)| *of == key) {
            return found;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = *all.entry(key).or_insert_with(|| Box::leak(Box::new(make())));
        drop(all);
        let note = recent.try_with(|recent| recent[slot].set((key, Some(found))));
        note.unwrap_or_default();
        found
    }
}
