//! In-process measurement of marey: clock, spools, regions, counters, messages; the Rust user API.
