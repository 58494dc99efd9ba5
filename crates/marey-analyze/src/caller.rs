//! Who called: the function of the program that a call stack stands for, and where it called.
//!
//! The one idea: between the program and what was called lie functions that its author did not write and
//! cannot change: containers of a standard library, runtimes of languages, bindings. So the caller is the
//! innermost function of which the line is known and that is not one of these. Where debug information lacks
//! that, what comes nearest is taken, so that each stack has a caller. Everything that names one asks here:
//! two answers would look like two places.

use marey_model::CallPathId;

use crate::trace::{Frame, Trace};

/// The caller on the stack of a call path. `None` without a stack.
pub fn caller(trace: &dyn Trace, path: CallPathId) -> Option<&Frame> {
    let frames = trace.stack(trace.call_paths().get(path.idx())?.stack?);
    caller_on(&frames).map(|place| frames[place])
}

/// Which of the frames of a stack, innermost first, is the caller: the innermost that has a line and is of
/// the program; without one the innermost of the program, or else the innermost that has a line, or else the
/// innermost.
pub fn caller_on(frames: &[&Frame]) -> Option<usize> {
    let has_line = |frame: &&Frame| frame.line != 0;
    let is_own =
        |frame: &&Frame| !is_internal(&frame.function) && !is_of_kokkos(&frame.function, &frame.file);
    let both = frames.iter().position(|frame| has_line(frame) && is_own(frame));
    let one = || frames.iter().position(is_own).or_else(|| frames.iter().position(has_line));
    both.or_else(one).or((!frames.is_empty()).then_some(0))
}

/// The routine of a library that the caller on the stack of a call path called, if it did not make the call itself.
pub fn routine(trace: &dyn Trace, path: CallPathId) -> Option<&str> {
    let frames = trace.stack(trace.call_paths().get(path.idx())?.stack?);
    routine_on(&frames, caller_on(&frames)?)
}

/// The routine of a library that a caller called on the way to what a stack, innermost frame first, is about: next to the
/// caller, without a line where that has one, and not the standard library's. The name of an MPI function is not one: that is
/// how Fortran calls it.
pub fn routine_on<'t>(frames: &[&'t Frame], caller: usize) -> Option<&'t str> {
    let (caller, within) = (frames.get(caller)?, frames.get(caller.checked_sub(1)?)?);
    let is_mpi = |name: &str| {
        let name = name.strip_prefix(['P', 'p']).unwrap_or(name);
        name.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("MPI_"))
    };
    let name = within.function.as_str();
    let is_one =
        caller.line != 0 && within.line == 0 && !name.is_empty() && !is_mpi(name) && !is_internal(name);
    is_one.then_some(name)
}

/// The innermost function on a stack that is of no standard library, if a caller reached it by way of a routine of a library;
/// else empty.
pub fn innermost<'t>(frames: &[&'t Frame], caller: usize) -> &'t str {
    let within = routine_on(frames, caller).map(|routine| {
        let known = |name: &&str| !name.is_empty() && !is_internal(name);
        frames[..caller].iter().map(|frame| frame.function.as_str()).find(known).unwrap_or(routine)
    });
    within.unwrap_or_default()
}

/// Whether a function is of no author that a user knows: of a standard library, or by its name reserved for
/// the system's. What compilers of Fortran and Cython call the user's own functions is not.
fn is_internal(function: &str) -> bool {
    let is_own = || function.contains("_MOD_") || function.starts_with("__pyx_");
    is_of_library(function) || (function.starts_with("__") && !is_own())
}

/// Whether a function, which stands in a file, is one of Kokkos's, through whose templates programs launch kernels and make
/// Views. Of those that have been inlined debug information may have the last part of the name alone.
pub fn is_of_kokkos(function: &str, file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    function.starts_with("Kokkos::") || name.starts_with("Kokkos_") && name.ends_with(".hpp")
}

/// Whether a function belongs to the standard library of C++ or Rust: correct, and of no help to somebody
/// who asks where in the program a call comes from.
pub fn is_of_library(function: &str) -> bool {
    const PREFIXES: [&str; 8] =
        ["std::", "core::", "alloc::", "<std::", "<core::", "<alloc::", "__gnu_cxx::", "__rust_"];
    // Rust's own deeds for types of others: `<u8 as alloc::vec::spec_from_elem::SpecFromElem>::from_elem`.
    const OF_TRAITS: [&str; 3] = [" as std::", " as core::", " as alloc::"];
    let is_of_trait = || function.starts_with('<') && OF_TRAITS.iter().any(|part| function.contains(part));
    PREFIXES.iter().any(|prefix| function.starts_with(prefix)) || is_of_trait()
}
