//! Archives of runs: Parquet parts plus `meta.json`, their writer and their reader.
//!
//! The one idea: an archive is a set of plain tables that anybody's tools read. [`schema`] says
//! what the tables are; everything else here follows it. This is the only crate that knows Parquet.
//!
//! What is deliberately absent: analysis, terminals and HTTP.
//!
//! Where programs are measured there is Unix. Elsewhere — in a browser — archives are read, from memory, and nothing is
//! merged.

#![cfg_attr(not(unix), expect(dead_code, unused_imports, reason = "what writes archives"))]

pub mod corrections;
#[cfg(unix)]
pub mod merge;
pub mod schema;

mod addresses;
mod all_to_all;
mod array_messages;
mod aside;
#[cfg(unix)]
mod beside;
mod columns;
mod detail;
mod error;
mod explained;
mod happenings;
mod meta;
#[cfg(unix)]
mod pack;
mod part;
mod read;
#[cfg(unix)]
mod redact;
mod remarks;
mod single_accesses;
mod source_symbols;
mod store;
mod trace;

pub use addresses::{AddressCost, Addresses};
pub use all_to_all::all_to_all;
pub use aside::Aside;
#[cfg(unix)]
pub use beside::{add_problems, add_tables};
pub use columns::{Column, Columns, Value};
pub use detail::{Bucket, Detail};
pub use error::Error;
#[cfg(unix)]
pub use explained::prepare;
pub use explained::prepared;
pub use happenings::{Bar, Events};
pub use meta::{META_FILE, Meta, Part, RunFacts, State};
#[cfg(unix)]
pub use pack::{pack, pack_tables};
pub use part::{PartStats, PartWriter, Tail, write_table};
pub use read::{Archive, Filter, Scanned, panics_are_caught};
#[cfg(unix)]
pub use redact::{Redacted, redact};
#[cfg(unix)]
pub use remarks::keep_remarks;
pub use remarks::remarks;
pub use single_accesses::Wanted;
pub use source_symbols::{SourceSymbols, source_symbols};
pub use trace::RunTrace;
