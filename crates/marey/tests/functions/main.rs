//! Functions of programs that were compiled with `-finstrument-functions`: each has the visits that the program
//! counted itself, under its name in the source, beneath whom it was called by.
//!
//! The one idea: a program prints what it has counted, one name and number a line, and the archive must say the
//! same of every function, and have no other. A name with slashes is a path of calls.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod build;
mod run;

use build::{Build, Compiler};
use run::{Run, same_counts};

/// Each program by each compiler of its language, without optimisation and with all of it.
fn check(source: &str, compilers: &[Compiler]) {
    for &compiler in compilers {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let Some(program) = Build::new(compiler, source).flags(&[level]).make() else { continue };
            let run = Run::of(&program, &[]);
            same_counts(&run, &format!("{source} {compiler:?} {level}"));
            run.expect_no_problems();
        }
    }
}

#[test]
fn calls_of_all_kinds_in_c() {
    check("calls.c", &[Compiler::Gcc, Compiler::Clang]);
}

#[test]
fn calls_that_are_left_by_jumps() {
    check("jumps.c", &[Compiler::Gcc, Compiler::Clang]);
}

#[test]
fn calls_of_cpp_and_exceptions() {
    check("calls.cpp", &[Compiler::Gxx, Compiler::Clangxx]);
}

#[test]
fn calls_of_fortran() {
    check("calls.f90", &[Compiler::Gfortran]);
}
