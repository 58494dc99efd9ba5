//! What is parallel: names of functions and directives of the programming models that are known.
//!
//! The one idea: a table of names. A call counts by its name alone, as its author reads it; whether a library of that name
//! is linked, the binary knows.

use super::facts::{Lines, Model};
use super::walk::FileFacts;

/// Functions by the whole of their names.
const NAMES: &[(&str, Model)] = &[
    ("pthread_create", Model::Pthread),
    ("pthread_join", Model::Pthread),
    ("pthread_barrier_wait", Model::Pthread),
    ("thrd_create", Model::Thread),
    ("thrd_join", Model::Thread),
    ("std::thread", Model::Thread),
    ("std::jthread", Model::Thread),
    ("std::async", Model::Thread),
    ("thread::spawn", Model::Thread),
    ("thread::scope", Model::Thread),
    ("std::thread::spawn", Model::Thread),
    ("std::thread::scope", Model::Thread),
    ("rayon::join", Model::Rayon),
    ("rayon::scope", Model::Rayon),
    ("rayon::scope_fifo", Model::Rayon),
    ("rayon::in_place_scope", Model::Rayon),
    ("rayon::spawn", Model::Rayon),
    ("rayon::spawn_fifo", Model::Rayon),
    ("rayon::broadcast", Model::Rayon),
    ("tokio::spawn", Model::Tokio),
    ("tokio::task::spawn", Model::Tokio),
    ("tokio::task::spawn_blocking", Model::Tokio),
    ("tokio::task::spawn_local", Model::Tokio),
    ("task::spawn_blocking", Model::Tokio),
    ("tokio::join", Model::Tokio),
    ("tokio::select", Model::Tokio),
];

/// Functions by how their names begin.
const PREFIXES: &[(&str, Model)] = &[
    ("MPI_", Model::Mpi),
    ("PMPI_", Model::Mpi),
    ("shmem_", Model::Shmem),
    ("Kokkos::parallel_", Model::Kokkos),
    ("tbb::parallel_", Model::Tbb),
    ("oneapi::tbb::parallel_", Model::Tbb),
];

/// What a call by name is part of, in C, C++ and Rust.
pub(super) fn of_call(name: &str) -> Option<Model> {
    let is_prefix = |(prefix, _): &&(&str, Model)| name.starts_with(prefix);
    let whole = NAMES.iter().find(|(known, _)| *known == name);
    whole.or_else(|| PREFIXES.iter().find(is_prefix)).map(|(_, model)| *model)
}

/// The same in Fortran, where capitals mean nothing.
pub(super) fn of_fortran_call(name: &str) -> Option<Model> {
    let name = name.to_ascii_lowercase();
    if ["co_sum", "co_max", "co_min", "co_reduce", "co_broadcast"].contains(&name.as_str())
        || name.starts_with("atomic_") && name != "atomic_"
        || ["event_query"].contains(&name.as_str())
    {
        return Some(Model::Coarray);
    }
    match () {
        () if name.starts_with("mpi_") || name.starts_with("pmpi_") => Some(Model::Mpi),
        () if name.starts_with("shmem_") => Some(Model::Shmem),
        () => None,
    }
}

/// What a method of Rust is part of.
pub(super) fn of_method(name: &str) -> Option<Model> {
    let is_rayon = name == "into_par_iter" || name.starts_with("par_") && name != "par_";
    is_rayon.then_some(Model::Rayon)
}

/// What a directive is part of, and its words, from its text behind `#pragma` or the sign of a comment.
pub(super) fn of_directive(text: &str) -> Option<(Model, String)> {
    let mut words = text.split_whitespace();
    let model = match words.next()?.to_ascii_lowercase().as_str() {
        "omp" => Model::OpenMp,
        "acc" => Model::OpenAcc,
        _ => return None,
    };
    let words: Vec<&str> = words.filter(|word| *word != "\\").collect();
    Some((model, words.join(" ").replace("\\", "")))
}

/// The name of a directive: its words before the first clause in parentheses, in small letters.
fn head(text: &str) -> String {
    let head: String = text.chars().take_while(|c| c.is_alphabetic() || c.is_whitespace()).collect();
    head.to_ascii_lowercase()
}

/// Whether a directive governs no statement.
pub(super) fn stands_alone(text: &str) -> bool {
    const ALONE: [&str; 24] = [
        "barrier",
        "taskwait",
        "taskyield",
        "flush",
        "threadprivate",
        "cancel",
        "cancellation",
        "declare",
        "requires",
        "error",
        "interop",
        "update",
        "enter",
        "exit",
        "wait",
        "routine",
        "cache",
        "init",
        "shutdown",
        "set",
        "end",
        "depobj",
        "nothing",
        "assumes",
    ];
    let head = head(text);
    let mut words = head.split_whitespace();
    match words.next() {
        Some("target") => matches!(words.next(), Some("update" | "enter" | "exit")),
        Some(first) => ALONE.contains(&first),
        None => true,
    }
}

/// Whether a directive governs the loop behind it.
fn governs_loop(text: &str) -> bool {
    head(text)
        .split_whitespace()
        .any(|word| matches!(word, "do" | "loop" | "simd" | "taskloop" | "distribute"))
}

/// Lets the directives of Fortran last to what ends them: a directive of the same words behind `end`, or else the end of
/// the loop that they govern. Those that end another are no rows of their own.
pub(super) fn end_regions(out: &mut FileFacts) {
    let mut open: Vec<usize> = Vec::new();
    let mut ends: Vec<bool> = vec![false; out.constructs.len()];
    for (row, is_end) in ends.iter_mut().enumerate() {
        let construct = &out.constructs[row];
        if !matches!(construct.model, Model::OpenMp | Model::OpenAcc) {
            continue;
        }
        let head = head(out.texts.get(construct.text));
        let words: Vec<&str> = head.split_whitespace().collect();
        // `enddo`, `endparallel` are written as well.
        let ended = match words.as_slice() {
            ["end", rest @ ..] => rest.concat(),
            [first, rest @ ..] if first.starts_with("end") => {
                let first = first.trim_start_matches("end");
                [&[first], rest].concat().concat()
            }
            _ => {
                if !stands_alone(&head) {
                    open.push(row);
                }
                continue;
            }
        };
        let (last, model) = (construct.lines.last, construct.model);
        *is_end = true;
        let begins = |row: &usize| {
            let head = self::head(out.texts.get(out.constructs[*row].text));
            out.constructs[*row].model == model
                && head.split_whitespace().collect::<String>().starts_with(&ended)
        };
        if let Some(place) = open.iter().rposition(begins) {
            let begun = open[place];
            out.constructs[begun].lines.last = last;
            // What was begun inside and not ended has no end of its own: the loop's, below.
            open.remove(place);
        }
    }
    let loops: Vec<Lines> = out.loops.iter().map(|it| it.lines).collect();
    for row in open {
        let lines = out.constructs[row].lines;
        if governs_loop(out.texts.get(out.constructs[row].text))
            && let Some(governed) = loops.iter().filter(|it| lines.last < it.first).min_by_key(|it| it.first)
        {
            out.constructs[row].lines.last = governed.last;
        }
    }
    let mut ends = ends.into_iter();
    out.constructs.retain(|_| !ends.next().unwrap_or(false));
}
