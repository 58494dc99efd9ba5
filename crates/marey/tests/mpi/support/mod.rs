//! What the tests share: programs are built once, jobs are run with and without the recorder, and
//! what was recorded is read back.

mod build;
mod counter;
mod job;
mod run;
mod sums;

pub(crate) use build::{Build, Compiler, cached, programs, which};
pub(crate) use counter::{Counter, Counts};
pub(crate) use job::{Job, Mpi, prepare};
pub(crate) use run::{Place, Run};

/// Leaves the test if something is not installed; `marey_testkit::skip` decides whether that is right.
macro_rules! need {
    ($thing:expr, $why:literal $(, $word:expr)* $(=> $instead:expr)?) => {
        match $thing {
            Some(thing) => thing,
            None => {
                marey_testkit::skip(&format!($why $(, $word)*));
                return $($instead)?;
            }
        }
    };
}
pub(crate) use need;
