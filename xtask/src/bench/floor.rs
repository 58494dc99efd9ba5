//! The floor under the cost of recording a program: a library that only reads the clock twice a call.
//!
//! The one idea: what is wanted of a recorder can be less than any recorder takes, on a program that calls
//! MPI often enough and on a machine that is fast enough. So the same program runs beside it with wrappers
//! that do nothing but take the times.

use super::build::compile;
use crate::shell::{root, target};
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::fs;

/// Builds the library; its path.
pub(super) fn library() -> Result<String> {
    let table = root().join("crates/marey-collect/src/mpi/table.rs");
    let table = fs::read_to_string(&table).with_context(|| format!("cannot read {}", table.display()))?;
    let dir = target().join("bench");
    fs::write(dir.join("passing_functions.h"), functions(&table))
        .context("cannot write passing_functions.h")?;
    compile(
        "gcc",
        "passing.c",
        "libpassing.so",
        &["-shared", "-fPIC", "-I", &dir.display().to_string(), "-ldl"],
    )
}

/// A line of C for each function of the table and each of its names. Those that return no integer or
/// take any number of arguments are left out; nobody calls them often.
fn functions(table: &str) -> String {
    let mut lines = String::new();
    let entries =
        table.lines().filter_map(|line| line.trim().strip_prefix("$callback! {")?.strip_suffix('}'));
    for entry in entries {
        let Some((head, parameters)) = entry.split_once('(') else { continue };
        let words: Vec<&str> = head.split(',').map(str::trim).collect();
        let &[_, name, p_name, handler, returned, _] = &words[..] else { continue };
        if returned == "f64" || handler == "pcontrol" || handler == "convert" {
            continue;
        }
        let count =
            parameters.split(',').filter(|name| !name.trim().trim_end_matches(')').is_empty()).count();
        let names: Vec<String> = (0..count).map(|idx| format!("a{idx}")).collect();
        let typed: Vec<String> = names.iter().map(|name| format!("long {name}")).collect();
        let typed = if typed.is_empty() { "void".to_owned() } else { typed.join(", ") };
        for name in [name, p_name] {
            writeln!(lines, "PASS({name}, ({typed}), ({}))", names.join(", ")).expect("a string takes all");
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::functions;

    #[test]
    fn each_function_has_a_line_for_each_of_its_names() {
        let table = "\
            $callback! { 0, MPI_Abort, PMPI_Abort, abort, i32, (comm, errorcode) }\n\
            $callback! { 1, MPI_Finalize, PMPI_Finalize, finalize, i32, () }\n\
            $callback! { 2, MPI_Wtime, PMPI_Wtime, generic, f64, () }\n";
        assert_eq!(
            functions(table),
            "PASS(MPI_Abort, (long a0, long a1), (a0, a1))\nPASS(PMPI_Abort, (long a0, long a1), (a0, a1))\n\
             PASS(MPI_Finalize, (void), ())\nPASS(PMPI_Finalize, (void), ())\n",
        );
    }
}
