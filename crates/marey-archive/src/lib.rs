//! Archives of runs: Parquet parts plus `meta.json`, their writer and their reader.
//!
//! The one idea: an archive is a set of plain tables that anybody's tools read. [`schema`] says
//! what the tables are; everything else here follows it. This is the only crate that knows Parquet.
//!
//! What is deliberately absent: analysis, terminals and HTTP.
//!
//! Where programs are measured there is Unix. Elsewhere — in a browser — archives are read, from memory, and nothing is
//! merged.

pub mod corrections;
#[cfg(unix)]
pub mod merge;
pub mod schema;

mod columns;
mod detail;
mod error;
mod explained;
mod happenings;
mod meta;
mod pack;
mod part;
mod read;
mod redact;
mod store;
mod trace;

pub use columns::{Column, Columns, Value};
pub use detail::{Bucket, Detail};
pub use error::Error;
pub use explained::{prepare, prepared};
pub use happenings::Events;
pub use meta::{META_FILE, Meta, Part, RunFacts, State};
pub use pack::{pack, pack_tables};
pub use part::{PartStats, PartWriter, write_table};
pub use read::{Archive, Filter, Scanned, panics_are_caught};
pub use redact::{Redacted, redact};
pub use trace::RunTrace;
