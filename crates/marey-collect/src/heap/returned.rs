//! Where blocks have begun that were given back, or were to have another size and may have moved.
//!
//! The one idea: a pointer that nobody has set to null goes on holding the address of a block that is no more, and of the next
//! block there it says nothing. So of each address one bit says whether a block has begun there before; several share a bit, and
//! then one is taken for used that is not, which costs a name and makes no wrong one.
//!
//! Deliberately absent: blocks that are too small to be recorded.

use core::sync::atomic::{AtomicU64, Ordering};

const BITS: usize = 20;
static BEFORE: [AtomicU64; 1 << (BITS - 6)] = [const { AtomicU64::new(0) }; 1 << (BITS - 6)];

fn bit(address: usize) -> (&'static AtomicU64, u64) {
    let hash = (address as u64 >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS);
    (&BEFORE[hash as usize >> 6], 1 << (hash & 63))
}

/// A block that begins at this address is given back.
pub(super) fn note(address: usize) {
    let (word, bit) = bit(address);
    if word.load(Ordering::Relaxed) & bit == 0 {
        word.fetch_or(bit, Ordering::Relaxed);
    }
}

/// Whether another block may have begun at this address before.
pub(crate) fn was_used(address: usize) -> bool {
    let (word, bit) = bit(address);
    word.load(Ordering::Relaxed) & bit != 0
}
