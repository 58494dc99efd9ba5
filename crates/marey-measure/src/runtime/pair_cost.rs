//! What measuring itself costs in this process.
//!
//! The one idea: it is found out anew at each start, by the code that records events, because machine
//! and load decide. What calls of MPI cost beyond that is sampled elsewhere ([`crate::add_sample`]).

use marey_model::ClockKind;
use marey_model::spool::{Head, SLACK, Stream};

use crate::clock;
use crate::sys;
use crate::thread::Thread;
use crate::write;

/// Costs, in hundredths of a tick.
#[derive(Clone, Copy, Default)]
pub(super) struct Costs {
    /// Of an enter and a leave.
    pub(super) pair: u64,
    /// Of a visit that is only counted ([`write::tally`]).
    pub(super) count: u64,
}

/// What it costs here and now: the real code, on a window that nobody keeps. The least of several rounds, for noise
/// only ever adds.
pub(super) fn pair_cost(kind: ClockKind) -> Costs {
    const LEN: usize = 16 << 10;
    let (Some(thread), Some(window)) = (Thread::allocate(), sys::map_zeros(LEN)) else {
        return Costs::default();
    };
    let mut best = u64::MAX;
    let count;
    // SAFETY: both mappings are ours alone and unmapped after their last use. The window is large
    // enough for the pairs of a round.
    unsafe {
        Thread::begin(thread, 0, Stream::Events, kind.code());
        (*thread).window = window as u64;
        (*thread).ready = 1;
        for _ in 0..8 {
            (*thread).cursor = window as u64 + Head::records_at(0) as u64;
            Thread::set_brim(thread, window as u64 + (LEN - SLACK) as u64);
            let before = clock::ticks_of(kind);
            (*thread).last = before;
            for _ in 0..200 {
                write::enter(thread, 1);
                write::leave(thread);
            }
            best = best.min(clock::ticks_of(kind).saturating_sub(before));
        }
        count = write::count_cost(thread, kind);
        sys::unmap(window, LEN);
        sys::unmap(thread.cast(), Thread::LEN);
    }
    Costs { pair: best / 2, count }
}
