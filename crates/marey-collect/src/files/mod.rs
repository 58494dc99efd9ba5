//! Files: what a program reads and writes, by file and call path.
//!
//! The one idea: the calls of the C library on files are regions of a level of their own, `files`. Which file a
//! descriptor stands for is learnt when it is opened, and kept in a table by descriptor; where in the file is read or
//! written is counted along, and only asked of the kernel where others may move the place.
//!
//! What calls what is counted once: a call of the C library's own inside another of its calls is not seen, so `fwrite`
//! has what the program hands over, whenever that comes to the kernel. `MPI_File_write` and the `pwrite` that it is
//! made of are both there, one beneath the other and each on its level.
//!
//! A call takes 90 to 120 ns more (measured: `read` of a byte 207 → 320, `fwrite` of 8 bytes 21 → 114, `fprintf` of a
//! number 48 → 140), opening and closing a file together 530, and nothing where files are not watched. So it is on
//! unless somebody says otherwise: what moves little in each call can be left out by rules.
//!
//! * [`table`]: which functions there are. * [`call`]: a call from its beginning to its end. * [`change`]: calls that
//!   change what descriptors stand for. * [`descriptors`], [`names`]: the files. How calls come in is told in
//!   [`crate::c_library`].
//!
//! What is deliberately absent: memory that files are mapped to, single characters (`putc`, `getc`), wide characters,
//! `aio_read` and `io_uring`, what is done to files by name (`unlink`, `stat`), everything inside MPI but beneath
//! `MPI_File_…`, and forked children that record nothing else.

mod call;
mod change;
mod descriptors;
mod names;
mod table;

pub(crate) use call::{after, before};
pub(crate) use change::{by_number, closes_stream, resolve_all};
pub(crate) use descriptors::FORKS;
pub(crate) use names::text as name;
pub(crate) use table::{CALLS, Calls, Function};

use crate::c_library;

/// What the functions of this level are called, by their numbers in [`crate::site::What::function`].
pub(crate) fn verb(number: u32) -> Option<&'static str> {
    let index = number.checked_sub(crate::site::FILE_FUNCTIONS)?;
    table::FUNCTIONS.get(index as usize).map(|function| function.verb)
}

/// Whether files are watched.
fn is_active() -> bool {
    CALLS.is_active(0)
}

/// To be called when the process begins to be recorded: from then on files are watched.
pub(crate) fn begin() {
    if !crate::process::is_off(c"MAREY_FILES") && descriptors::open() {
        c_library::begin();
        CALLS.resolve_all();
        (0..table::FUNCTIONS.len()).for_each(|index| CALLS.activate(index));
    }
}
