//! The shared library of marey that is loaded into measured programs: MPI, threads, the C API.
