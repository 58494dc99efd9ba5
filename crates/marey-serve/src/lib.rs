//! What a viewer asks about a run, and the answers.
//!
//! The one idea: everything that is shown is the answer to a [`Request`](wire::Request), given by one function, [`answer`]. Who carries
//! requests and answers — a server on this machine, a page that holds the run itself — is no matter of this crate's
//! larger part; [`host`] is the server.
//!
//! An answer is one piece of bytes, a [frame]: a head in JSON and columns of numbers behind it that a browser can
//! use as they lie there.
//!
//! What is deliberately absent: analysis (`marey-analyze`), tables (`marey-archive`), drawing (`ui/`).

pub mod frame;
#[cfg(feature = "http")]
pub mod host;
pub mod wire;

mod answers;
mod counters;
mod fold;
mod overlaps;
#[cfg(feature = "http")]
mod pair;
mod program;
mod ranges;
mod run;
mod tables;
mod told;
#[cfg(feature = "http")]
pub mod viewer;

pub use answers::answer;
#[cfg(feature = "http")]
pub use pair::Compared;
pub use run::{OpenError, Opened};
pub use tables::{SPARED, TABLES};
