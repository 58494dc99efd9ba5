//! The user call stack behind an intercepted call, as cheaply as a cache allows.
//!
//! Its one idea: a stack is walked once by the compiler's unwind tables, and together with the return
//! addresses the walk notes every stack slot that it depended on. As long as those slots are unchanged, so
//! is the stack, and a caller that keeps [`StackCapture`]s recognises it by a few loads.
//!
//! * [`modules`]: what is loaded where, with identity and unwind tables.
//! * [`rules`]: return address → how to step from there; parsed once.
//! * [`step`]: the walk, and the check of an earlier one.
//!
//! Frame pointers are never guessed at: where the tables end, the stack says so. (A general unwinder,
//! framehop, was rejected: it takes gcc's realigned stacks for frame-pointer ones and gives plausible wrong
//! answers.) On processors other than x86-64 a stack is the return address alone.
//!
//! It does not intern, symbolise or lock; one [`Unwinder`] belongs to one thread.

mod modules;

mod rules;

mod step;

#[cfg(not(feature = "linked"))]
pub(crate) use modules::{CLOSING, UnwindTables, program_has_recorder};
pub(crate) use modules::{Modules, UnwindModule};
#[cfg(not(feature = "linked"))]
pub(crate) use rules::{Cfa, Rule, RuleReader, SavedRbp};
#[cfg(not(feature = "linked"))]
pub(crate) use step::FrameOf;
pub(crate) use step::{EntryRegs, StackCapture, StackEnd, Unwinder};

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
