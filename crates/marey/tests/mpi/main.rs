//! The whole chain on MPI programs: `marey record`, the merge, and what can be read afterwards.
//!
//! The one idea: every test compares a recording with a truth that is known without it — another
//! counter in the same run, serial numbers inside messages, a file that outlives a killed process,
//! marks in the source.
//!
//! One binary for all of them, because linking it takes longer than many of its tests. The module
//! names begin with `mpi`, by which the test runner knows to start one job at a time. What is not
//! installed is not tested: such a test says `SKIPPED: …`, and fails where `MAREY_TEST_ALL` is set.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../strace/mod.rs"]
mod strace;
mod support;

mod mpi_across;
mod mpi_arrays;
mod mpi_blocks;
mod mpi_boundary;
mod mpi_budget;
mod mpi_clocks;
mod mpi_coarray_counts;
mod mpi_coarray_parts;
mod mpi_coarray_speed;
mod mpi_coarray_sums;
mod mpi_coarrays;
mod mpi_contents;
mod mpi_cost;
mod mpi_counters;
mod mpi_counts;
mod mpi_crash;
mod mpi_duckdb;
mod mpi_files;
mod mpi_functions;
mod mpi_heap;
mod mpi_hosts;
mod mpi_ignored;
mod mpi_jumps;
mod mpi_kokkos;
mod mpi_launch;
mod mpi_limits;
mod mpi_linked;
mod mpi_match;
mod mpi_mpe;
mod mpi_odd_data;
mod mpi_openmp;
mod mpi_pauses;
mod mpi_polls;
mod mpi_redistribution;
mod mpi_rules;
mod mpi_rust;
mod mpi_sections;
mod mpi_signals;
mod mpi_sites;
mod mpi_sizes;
mod mpi_steps;
mod mpi_sums;
mod mpi_view;
mod mpi_view_again;
mod mpi_view_levels;
mod mpi_view_machine;
mod mpi_view_made;
mod mpi_view_reduced;
mod mpi_view_remarks;
mod mpi_view_source;
mod mpi_waiting;
mod mpi_windows;
