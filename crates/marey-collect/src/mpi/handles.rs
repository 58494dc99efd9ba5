//! From a handle to what is known of it, without a lock.
//!
//! An open-addressing table of handles, each with what is known beside it, so that looking up takes one
//! line of memory. Adding and removing happens under a lock. A handle that is removed while another
//! thread looks at it may give that thread a mixture of what it and the next one stand for; only a
//! program that uses a handle which it has freed can see that, and it sees numbers.
//!
//! What does not fit into a few words lies elsewhere, for ever, and only its address here.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use marey_measure::Lock;

const LEN: usize = 1 << 13;
const PROBES: usize = 64;
const REMOVED: usize = usize::MAX;

/// What is known of a handle.
pub(crate) trait Known<const WORDS: usize>: Copy {
    /// It in words.
    fn words(self) -> [u64; WORDS];

    /// The inverse of [`Self::words`].
    ///
    /// # Safety
    /// Each word comes from there; addresses among them stay valid for ever.
    unsafe fn of(words: [u64; WORDS]) -> Self;
}

/// A table of handles. No entry lies on two lines.
#[repr(C, align(64))]
pub(crate) struct Handles<T, const WORDS: usize> {
    entries: [Entry<WORDS>; LEN],
    writer: Lock<()>,
    known: PhantomData<fn(T) -> T>,
}

#[repr(C)]
struct Entry<const WORDS: usize> {
    handle: AtomicUsize,
    words: [AtomicU64; WORDS],
}

impl<const WORDS: usize> Entry<WORDS> {
    #[expect(clippy::declare_interior_mutable_const, reason = "what tables begin with")]
    const FREE: Self = Self { handle: AtomicUsize::new(0), words: [const { AtomicU64::new(0) }; WORDS] };

    fn store(&self, words: [u64; WORDS]) {
        for (place, word) in self.words.iter().zip(words) {
            place.store(word, Ordering::Relaxed);
        }
    }
}

fn start(handle: usize) -> usize {
    handle.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - LEN.trailing_zeros())
}

impl<T: Known<WORDS>, const WORDS: usize> Handles<T, WORDS> {
    pub(crate) const fn new() -> Self {
        Self { entries: [const { Entry::FREE }; LEN], writer: Lock::new(()), known: PhantomData }
    }

    #[inline(always)]
    fn entry(&self, handle: usize) -> Option<&Entry<WORDS>> {
        let start = start(handle);
        for idx in 0..PROBES {
            let entry = &self.entries[(start + idx) % LEN];
            match entry.handle.load(Ordering::Acquire) {
                0 => return None,
                found if found == handle => return Some(entry),
                _ => {}
            }
        }
        None
    }

    /// What is known of `handle`. Handles are never 0.
    #[inline(always)]
    pub(crate) fn get(&self, handle: usize) -> Option<T> {
        let entry = self.entry(handle)?;
        let words = core::array::from_fn(|idx| entry.words[idx].load(Ordering::Relaxed));
        // SAFETY: words are only stored as such.
        Some(unsafe { T::of(words) })
    }

    /// Makes `handle` stand for `known`, unless the table is crowded: then it stays unknown.
    pub(crate) fn insert(&self, handle: usize, known: T) -> Option<T> {
        if handle == 0 {
            return None;
        }
        let inserted = self.writer.with_or_renew(
            || (),
            |()| {
                let start = start(handle);
                let entries = (0..PROBES).map(|idx| &self.entries[(start + idx) % LEN]);
                let mut place = None;
                for entry in entries {
                    match entry.handle.load(Ordering::Relaxed) {
                        0 => {
                            place = place.or(Some(entry));
                            break;
                        }
                        REMOVED => place = place.or(Some(entry)),
                        found if found == handle => {
                            place = Some(entry);
                            break;
                        }
                        _ => {}
                    }
                }
                let place = place?;
                place.store(known.words());
                place.handle.store(handle, Ordering::Release);
                Some(known)
            },
        );
        inserted.flatten()
    }

    /// Makes a known handle stand for something else, without a lock.
    pub(crate) fn replace(&self, handle: usize, known: T) {
        if let Some(entry) = self.entry(handle) {
            entry.store(known.words());
        }
    }

    /// Forgets `handle`; its number may be given to something else from now on.
    pub(crate) fn remove(&self, handle: usize) -> Option<T> {
        self.writer
            .with(|()| {
                let known = self.get(handle)?;
                self.entry(handle)?.handle.store(REMOVED, Ordering::Release);
                Some(known)
            })
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Known<3> for u32 {
        fn words(self) -> [u64; 3] {
            [self.into(), u64::from(self) * 2, u64::from(self) * 3]
        }

        unsafe fn of(words: [u64; 3]) -> Self {
            assert_eq!((words[0] * 2, words[0] * 3), (words[1], words[2]));
            words[0] as u32
        }
    }

    #[test]
    fn handles_are_found_until_they_are_removed_and_may_come_back() {
        static TABLE: Handles<u32, 3> = Handles::new();
        for handle in 1..3000 {
            TABLE.insert(handle * 0x1_0000, handle as u32);
        }
        assert_eq!(TABLE.get(0x10_0000), Some(16));
        assert_eq!(TABLE.remove(0x10_0000), Some(16));
        assert_eq!(TABLE.get(0x10_0000), None);
        TABLE.replace(0x10_0000, 98);
        assert_eq!(TABLE.get(0x10_0000), None, "only what is known can be replaced");
        TABLE.insert(0x10_0000, 97);
        TABLE.replace(0x10_0000, 99);
        assert_eq!(TABLE.get(0x10_0000), Some(99));
        assert_eq!(TABLE.get(2999 * 0x1_0000), Some(2999));
    }
}
