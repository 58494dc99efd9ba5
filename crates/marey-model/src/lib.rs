//! The vocabulary that every part of marey shares: ids, times, levels, verbs and their roles,
//! and the layout of the bytes that a measured process leaves behind.
//!
//! The one idea: everything measured is a *sentence* — a verb done by or to nouns on a level of
//! abstraction, at a cost — and a level is data, never code.
//!
//! What is deliberately absent: input and output, threads, clocks, unsafe code and dependencies.
//! The writer ([`marey-measure`]) and the reader (`marey-archive`) of a spool both stand on the
//! definitions here, so the two cannot drift apart.
//!
//! [`marey-measure`]: https://docs.rs/marey-measure

mod asking;
pub mod counters;
mod data;
mod elements;
mod files;
mod ids;
mod rules;
pub mod spool;
mod time;
mod vocabulary;

pub use asking::*;
pub use data::*;
pub use elements::*;
pub use files::*;
pub use ids::*;
pub use rules::*;
pub use time::*;
pub use vocabulary::*;
