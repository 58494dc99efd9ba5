//! The logging calls of MPE, the library that programs were instrumented with for Jumpshot.
//!
//! The one idea: what MPE writes into a CLOG file, events with numbers of which a pair makes a state,
//! is told to the recorder in its own terms: a state is a region, an event that stands alone an
//! instant with fields. A program finds these functions by their names, through the header `mpe.h` of
//! ours without linking anything, or instead of those of an MPE library that it is linked with. That
//! library gets every call as well, and still writes its file.
//!
//! * [`c`], [`fortran`]: the exported functions.
//! * [`log`]: events; the path of a state that nests is that of a region.
//! * [`overlap`]: states that do not nest.
//! * [`what`], [`describe`], [`board`]: what the numbers mean; usually only one rank says it.
//! * [`format`](mod@format): the bytes that an event may carry.
//! * [`next`], [`sequence`]: the MPE library behind us, and sections that ranks go through in turn.
//!
//! What is deliberately absent: MPE's graphics, its wrappers of MPI functions (ours are better), and
//! CLOG files.

mod board;
mod c;
mod describe;
mod format;
mod fortran;
mod log;
mod next;
mod overlap;
mod sequence;
mod what;

pub(crate) use describe::settle;
