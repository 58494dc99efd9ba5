//! In-process measurement: what runs inside a measured program.
//!
//! The one idea: each thread appends to windows of a file that is mapped into its memory, and a
//! record counts from the release store that moves the window's cursor behind it. No lock, no
//! allocation and no system call for an event, and nothing to save when the program dies.
//!
//! The user's side is [`region!`], [`event!`], [`counter!`], [`Span`] and [`LaneHandle`]; a
//! program depends on this crate as `marey = { package = "marey-measure" }`. Started by
//! `marey record`, such a program writes through the runtime that the preloaded library owns, so
//! that its regions and the library's MPI calls nest; otherwise [`start`] records by itself.
//!
//! What is deliberately absent: reading, merging, names of any parallel programming model beyond
//! what a record needs, and output of any kind.
#![expect(unsafe_code, reason = "writes mapped memory that other processes read")]

mod abandoned;
mod api;
mod attach;
mod channel;
pub mod clock;
mod cost;
mod counting;
mod definitions;
mod govern;
mod heap;
mod items;
mod lock;
mod made;
pub mod message;
mod order;
mod runtime;
mod samples;
mod spool;
mod sums;
pub mod sys;
mod table;
mod thread;
mod undisturbed;
mod write;

pub use abandoned::{Stack, StackOf, is_outside_handlers, know_stacks};
pub use api::*;
pub use attach::{
    created_thread, current_thread, existing_thread, forget_thread, keep, set_detail, start, start_with,
};
pub use clock::ticks_of;
pub use cost::add_sample;
pub use counting::{Counting, Uncounted, count_now, take_uncounted, try_counter};
pub use definitions::{Definitions, RegionKey, know_names};
pub use heap::{Heap, Taken};
pub use lock::Lock;
pub use made::{Lane, Made, MadeKind, Moment, NounKind, Sentence, is_recorded};
pub use marey_macros::instrument;
pub use marey_model::Detail;
pub use order::{Cause, begin_because, count_free_lock, leave_because, leave_because_at};
pub use runtime::{
    Config, Mode, Runtime, count_homeless, current as current_runtime, level, lose_clock, revive, tell_begins,
};
pub use samples::{Sample, SampledFrame, Samples, open_sites, take_lost_samples};
#[doc(hidden)]
pub use sums::add_up;
pub use table::{ABI_VERSION, RuntimeTable, TABLE};
pub use thread::{Frame, Thread};
pub use write::{
    Kept, Leaving, Place, ROOM, Scratch, SiteOf, Told, add_visit, announce, begin_timing, count,
    count_unrecorded, end_timing, enter, enter_announced, enter_marked, enter_timed, innermost, is_learning,
    is_open_beside, learn_cost, leave, leave_site, leave_timed_with, leave_with, now, passed, settle, tally,
    visit, withdraw, write, write_announced, write_poll,
};
