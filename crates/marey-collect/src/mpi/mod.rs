//! Calls of the Message Passing Interface, whichever library answers them.
//!
//! The one idea: on this machine every argument of every MPI function is a machine word, so one
//! wrapper forwards `int` handles and pointer handles alike, and only reading them needs to know
//! which library it is ([`flavour`]).
//!
//! * [`table`], [`class`]: all functions; generated, and what their arguments mean.
//! * [`real`]: whom a call is passed on to.
//! * [`wrap`], [`handlers`], [`call`]: the exported functions, their shared code, what all of them do.
//! * [`point`], [`probe`], [`start`], [`complete`], [`request`]: messages from their start to their
//!   completion.
//! * [`collective`], [`communicator`], [`make`], [`object`], [`window`]: collectives, communicators, files, windows.
//! * [`exchange`], [`agreement`]: clock exchanges where clocks differ, if all ranks take part.
//! * [`world`]: from `MPI_Init` to `MPI_Finalize`.

mod agreement;
mod call;
pub(crate) mod class;
pub(crate) mod collective;
pub(crate) mod communicator;
pub(crate) mod complete;
pub(crate) mod contents;
mod datatype;
mod exchange;
mod flavour;
mod handlers;
mod handles;
mod layout;
mod make;
pub(crate) mod object;
pub(crate) mod point;
mod poll;
mod probe;
#[cfg(not(feature = "linked"))]
mod ranks;
pub(crate) mod real;
mod request;
mod start;
mod table;
mod topology;
mod window;
pub(crate) mod world;
mod wrap;

#[cfg(not(feature = "linked"))]
pub(crate) use ranks::{translate_to_world, world_rank};
pub(crate) use table::FUNCTIONS;
