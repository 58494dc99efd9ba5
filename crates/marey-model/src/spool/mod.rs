//! The layout of a spool: the bytes that a measured process leaves behind, one file of event
//! windows and one of definitions for each process. `docs/spool.md` shows it as a whole.
//!
//! The one idea: a window decodes alone. Its head holds everything a reader must know of what
//! came before, so the oldest can be dropped, the newest tailed and a damaged one skipped.
//!
//! What is deliberately absent: files. This module turns values into bytes and bytes into values;
//! who stores them where is not its matter. Decoding never panics: damaged input gives `None`.

pub mod courses;
mod define;
pub mod heap;
mod record;
pub mod samples;
pub mod sums;
mod varint;
mod window;

pub use define::*;
pub use record::*;
pub use varint::*;
pub use window::*;
