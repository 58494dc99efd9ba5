//! From a handle to what is known of it, without a lock.
//!
//! An open-addressing table of (handle, pointer). Looking up is a few loads; adding and removing
//! happens under a lock. What a handle stands for is static, because another thread may still look
//! at it when the handle is gone.

use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use marey_measure::Lock;

const LEN: usize = 1 << 13;
const PROBES: usize = 64;
const REMOVED: usize = usize::MAX;

/// A table of handles.
pub(crate) struct Handles<T: 'static> {
    entries: [(AtomicUsize, AtomicPtr<T>); LEN],
    writer: Lock<()>,
}

fn start(handle: usize) -> usize {
    handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - LEN.trailing_zeros())
}

impl<T> Handles<T> {
    pub(crate) const fn new() -> Self {
        Self {
            entries: [const { (AtomicUsize::new(0), AtomicPtr::new(core::ptr::null_mut())) }; LEN],
            writer: Lock::new(()),
        }
    }

    /// What is known of `handle`. Handles are never 0.
    #[inline(always)]
    pub(crate) fn get(&self, handle: usize) -> Option<&'static T> {
        let start = start(handle);
        for idx in 0..PROBES {
            let (key, value) = &self.entries[(start + idx) % LEN];
            match key.load(Ordering::Acquire) {
                0 => return None,
                // SAFETY: values are static.
                found if found == handle => return unsafe { value.load(Ordering::Acquire).as_ref() },
                _ => {}
            }
        }
        None
    }

    /// Makes `handle` stand for `value`, unless the table is crowded: then it stays unknown.
    pub(crate) fn insert(&self, handle: usize, value: &'static T) -> Option<&'static T> {
        if handle == 0 {
            return None;
        }
        let inserted = self.writer.with_or_renew(
            || (),
            |()| {
                let start = start(handle);
                let slots = (0..PROBES).map(|idx| &self.entries[(start + idx) % LEN]);
                let mut place = None;
                for slot in slots {
                    match slot.0.load(Ordering::Relaxed) {
                        0 => {
                            place = place.or(Some(slot));
                            break;
                        }
                        REMOVED => place = place.or(Some(slot)),
                        found if found == handle => {
                            place = Some(slot);
                            break;
                        }
                        _ => {}
                    }
                }
                let (key, pointer) = place?;
                pointer.store(core::ptr::from_ref(value).cast_mut(), Ordering::Release);
                key.store(handle, Ordering::Release);
                Some(())
            },
        );
        inserted.flatten().map(|()| value)
    }

    /// Makes a known handle stand for another value, without a lock.
    pub(crate) fn replace(&self, handle: usize, value: &'static T) {
        let start = start(handle);
        for idx in 0..PROBES {
            let (key, pointer) = &self.entries[(start + idx) % LEN];
            match key.load(Ordering::Acquire) {
                0 => return,
                found if found == handle => {
                    return pointer.store(core::ptr::from_ref(value).cast_mut(), Ordering::Release);
                }
                _ => {}
            }
        }
    }

    /// Forgets `handle`; its number may be given to something else from now on.
    pub(crate) fn remove(&self, handle: usize) -> Option<&'static T> {
        self.writer
            .with(|()| {
                let start = start(handle);
                for idx in 0..PROBES {
                    let (key, value) = &self.entries[(start + idx) % LEN];
                    match key.load(Ordering::Relaxed) {
                        0 => return None,
                        found if found == handle => {
                            key.store(REMOVED, Ordering::Release);
                            // SAFETY: values are static.
                            return unsafe { value.load(Ordering::Relaxed).as_ref() };
                        }
                        _ => {}
                    }
                }
                None
            })
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_are_found_until_they_are_removed_and_may_come_back() {
        static TABLE: Handles<u32> = Handles::new();
        for handle in 1..3000 {
            TABLE.insert(handle * 0x1_0000, Box::leak(Box::new(handle as u32)));
        }
        assert_eq!(TABLE.get(0x10_0000), Some(&16));
        assert_eq!(TABLE.remove(0x10_0000), Some(&16));
        assert_eq!(TABLE.get(0x10_0000), None);
        TABLE.replace(0x10_0000, &98);
        assert_eq!(TABLE.get(0x10_0000), None, "only what is known can be replaced");
        TABLE.insert(0x10_0000, &97);
        TABLE.replace(0x10_0000, &99);
        assert_eq!(TABLE.get(0x10_0000), Some(&99));
        assert_eq!(TABLE.get(2999 * 0x1_0000), Some(&2999));
    }
}
