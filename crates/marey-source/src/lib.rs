//! Program database of marey: functions, files and lines for recorded addresses.
//!
//! A run records addresses as (module, virtual address inside its file). After the run, on the machine
//! that still has the files, [`Symbolizer`] turns each into the chain of source functions it stands for.
//! What cannot be known is said, not guessed: an address outside every symbol stays module+offset, and a
//! file that is no longer the one that ran is not used.
//!
//! [`database`] says what else is known of a module without running it: what it consists of, and who calls whom.
//!
//! [`text`] says what its sources tell; [`joined`] lays both side by side.
//!
//! [`remarks`] says what compilers told of its loops and calls when they made it.
//!
//! [`variables`] turns addresses of data into variables.
//!
//! It never reads the memory of a process, and knows nothing about runs, archives or call paths.

pub mod database;

pub mod text;

pub mod joined;

pub mod remarks;

pub mod variables;

mod symbolizer;

mod module;

mod dwarf;

mod symbols;

mod debug_file;

mod elf;

mod names;

mod problem;

mod texts;

pub use names::type_name;
pub use problem::{BuildId, Problem};
pub use symbolizer::{Address, Frame, ModuleRef, Quality, Resolved, Symbolizer, SymbolizerConfig};
