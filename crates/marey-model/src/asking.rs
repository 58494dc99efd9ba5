//! Calls that ask whether something has come: what each finds, by its name.
//!
//! The one idea: a program that has to wait may ask again and again; which call found something, and what that was, differs
//! between a few kinds of calls, and only their names tell of which kind one is.
//!
//! Deliberately absent: whether a visit found anything.

/// How a call finds what it asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asking {
    /// It completes what it finds.
    Tests,
    /// It takes the message that it finds out of the queue, as if its receive had been posted there.
    Takes,
    /// It leaves the message that it finds where it is.
    Probes,
    /// It leaves the request that it finds complete for another call to complete.
    Peeks,
}

impl Asking {
    /// How the MPI function of this name asks; `None` if it does not.
    pub fn of_function(name: &str) -> Option<Self> {
        Some(match name {
            "MPI_Test" | "MPI_Testall" | "MPI_Testany" | "MPI_Testsome" => Self::Tests,
            "MPI_Mprobe" | "MPI_Improbe" => Self::Takes,
            "MPI_Probe" | "MPI_Iprobe" => Self::Probes,
            "MPI_Request_get_status" => Self::Peeks,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_that_can_find_nothing_and_return_or_wait_for_a_message_ask() {
        assert_eq!(Asking::of_function("MPI_Testsome"), Some(Asking::Tests));
        assert_eq!(Asking::of_function("MPI_Iprobe"), Some(Asking::Probes));
        assert_eq!(Asking::of_function("MPI_Mprobe"), Some(Asking::Takes));
        assert_eq!(Asking::of_function("MPI_Request_get_status"), Some(Asking::Peeks));
        for name in ["MPI_Wait", "MPI_Test_cancelled", "MPI_Win_test", "MPI_Testify", "mpi_test"] {
            assert_eq!(Asking::of_function(name), None, "{name}");
        }
    }
}
