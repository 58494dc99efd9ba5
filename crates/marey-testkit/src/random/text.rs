//! The text of a random program: legend, rows and statements.
//!
//! The one idea: each region has two letters, and a visit that touches one of the same letter gets the other.

use std::fmt::Write as _;

use super::{Call, Completion, Location, Program, RegionIdx, Statement};

pub(super) const WORK: RegionIdx = 0;
pub(super) const SORT: RegionIdx = 1;
pub(super) const SEND: RegionIdx = 2;
pub(super) const RECV: RegionIdx = 3;
pub(super) const ISEND: RegionIdx = 4;
pub(super) const IRECV: RegionIdx = 5;
pub(super) const WAIT: RegionIdx = 6;
pub(super) const SENDRECV: RegionIdx = 7;
/// Blocking operations of the four roles, then the nonblocking ones.
pub(super) const COLLECTIVES: [RegionIdx; 4] = [8, 9, 10, 11];
pub(super) const NONBLOCKING: [RegionIdx; 4] = [12, 13, 14, 15];
pub(super) const LOCK: RegionIdx = 16;
pub(super) const UNLOCK: RegionIdx = 17;
pub(super) const AWAIT: RegionIdx = 18;
pub(super) const SIGNAL: RegionIdx = 19;
pub(super) const CREATE: RegionIdx = 20;
pub(super) const JOIN: RegionIdx = 21;
pub(super) const BEAT: RegionIdx = 22;
pub(super) const PASS: RegionIdx = 23;
pub(super) const START: RegionIdx = 24;
pub(super) const POST: RegionIdx = 25;
pub(super) const COMPLETE: RegionIdx = 26;
pub(super) const CLOSE: RegionIdx = 27;
pub(super) const INIT: RegionIdx = 28;
pub(super) const FINALIZE: RegionIdx = 29;
pub(super) const SET_UP: RegionIdx = 30;
pub(super) const TEST: RegionIdx = 31;
pub(super) const PROBE: RegionIdx = 32;

/// Two letters of each region, and what it is.
const REGIONS: [(char, char, &str); 33] = [
    ('w', 'v', "source execute work solve"),
    ('z', 'y', "source execute work sort"),
    ('S', 's', "mpi MPI_Send transfer"),
    ('R', 'r', "mpi MPI_Recv transfer"),
    ('I', 'i', "mpi MPI_Isend transfer"),
    ('P', 'p', "mpi MPI_Irecv transfer"),
    ('A', 'a', "mpi MPI_Waitall wait"),
    ('X', 'x', "mpi MPI_Sendrecv transfer"),
    ('B', 'b', "mpi MPI_Barrier barrier"),
    ('G', 'g', "mpi MPI_Allreduce all-to-all"),
    ('C', 'c', "mpi MPI_Bcast one-to-all"),
    ('D', 'd', "mpi MPI_Reduce all-to-one"),
    ('E', 'e', "mpi MPI_Ibarrier barrier"),
    ('F', 'f', "mpi MPI_Iallreduce all-to-all"),
    ('H', 'h', "mpi MPI_Ibcast one-to-all"),
    ('J', 'j', "mpi MPI_Ireduce all-to-one"),
    ('L', 'l', "threads pthread_mutex_lock acquire"),
    ('U', 'u', "threads pthread_mutex_unlock release"),
    ('V', 'ä', "threads pthread_cond_wait wait"),
    ('Y', 'ö', "threads pthread_cond_signal release"),
    ('K', 'k', "threads pthread_create create"),
    ('Q', 'q', "threads pthread_join wait"),
    ('N', 'n', "loom beat barrier"),
    ('O', 'o', "loom pass transfer"),
    ('T', 't', "mpi MPI_Win_start wait"),
    ('M', 'm', "mpi MPI_Win_post manage"),
    ('Z', 'ü', "mpi MPI_Win_complete wait"),
    ('W', 'ß', "mpi MPI_Win_wait wait"),
    ('Á', 'á', "mpi MPI_Init manage"),
    ('É', 'é', "mpi MPI_Finalize manage"),
    ('Ó', 'ó', "mpi MPI_Comm_dup manage world"),
    ('Ú', 'ú', "mpi MPI_Testall wait"),
    ('Ñ', 'ñ', "mpi MPI_Iprobe wait"),
];

pub(super) fn drawing(program: &Program) -> String {
    let lettered: Vec<Vec<(char, usize)>> = program.locations.iter().map(letters).collect();
    let mut text = String::from("1 char = 1 ns\n");
    for (idx, (first, second, what)) in REGIONS.into_iter().enumerate() {
        if program.locations.iter().flat_map(|location| &location.visits).any(|visit| visit.region == idx) {
            line(&mut text, format_args!("{first} {second} = {what}"));
        }
    }
    text.push('\n');
    for (idx, (location, letters)) in program.locations.iter().zip(&lettered).enumerate() {
        let name = name(idx);
        let mut head = match location.thread {
            0 => format!("{name} rank {}", location.rank),
            thread => format!("{name} thread {thread} of rank {}", location.rank),
        };
        for row in rows(location, letters) {
            line(&mut text, format_args!("{head:20}|{}", row.trim_end()));
            head.clear();
        }
    }
    text.push('\n');
    let call = |call: &Call| {
        let (letter, number) = lettered[call.location][call.visit];
        format!("{}:{letter}{number}", name(call.location))
    };
    for statement in &program.statements {
        line(&mut text, format_args!("{}", said(statement, &call)));
    }
    text
}

fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    writeln!(text, "{what}").expect("a string takes all");
}

fn name(location: usize) -> char {
    char::from(b'a' + u8::try_from(location).expect("there are few locations"))
}

/// Of each visit its letter, and how many of that letter there are up to it.
fn letters(location: &Location) -> Vec<(char, usize)> {
    let visits = &location.visits;
    let mut order: Vec<usize> = (0..visits.len()).collect();
    order.sort_by_key(|visit| (visits[*visit].start, visits[*visit].depth));
    let mut lettered = vec![(' ', 0); visits.len()];
    // End and letter of the last visit of each depth.
    let mut last = [(-1, ' '); 8];
    let mut numbers = std::collections::BTreeMap::<char, usize>::new();
    for idx in order {
        let visit = visits[idx];
        let (first, second, _) = REGIONS[visit.region];
        let letter = if last[visit.depth] == (visit.start, first) { second } else { first };
        last[visit.depth] = (visit.end, letter);
        let number = numbers.entry(letter).or_default();
        *number += 1;
        lettered[idx] = (letter, *number);
    }
    lettered
}

fn rows(location: &Location, letters: &[(char, usize)]) -> Vec<String> {
    let n_rows = location.visits.iter().map(|visit| visit.depth + 1).max().unwrap_or(1);
    let column = |time: i64| usize::try_from(time).expect("the run begins at 0");
    let (start, end) = (column(location.start), column(location.now));
    let mut rows = vec![vec![' '; end]; n_rows];
    rows[0][start..].fill('.');
    for (visit, (letter, _)) in location.visits.iter().zip(letters) {
        rows[visit.depth][column(visit.start)..column(visit.end)].fill(*letter);
    }
    rows.into_iter().map(String::from_iter).collect()
}

fn said(statement: &Statement, call: &dyn Fn(&Call) -> String) -> String {
    match statement {
        Statement::Message { from, to, posted, completed } => {
            let end = |end: &Option<Call>| end.as_ref().map_or("?".to_owned(), call);
            let mut text = format!("message {} -> {}", end(from), end(to));
            if let (Some(posted), Some(_)) = (posted, to) {
                text.push_str(&format!(", posted {}", call(posted)));
            }
            match completed {
                Completion::By(by) if from.is_some() => text.push_str(&format!(", completed {}", call(by))),
                Completion::NotKnown if from.is_some() => text.push_str(", completed ?"),
                _ => {}
            }
            text
        }
        Statement::Collective { members, root } => {
            let mut text = String::from("collective");
            for (began, completed) in members {
                let completed = match completed {
                    Completion::Itself => String::new(),
                    Completion::By(by) => format!("+{}", call(by)),
                    Completion::NotKnown => "+?".to_owned(),
                };
                text.push_str(&format!(" {}{completed}", call(began)));
            }
            if let Some(root) = root {
                text.push_str(&format!(" root {}", name(*root)));
            }
            text
        }
        Statement::Edge { kind, from, to } => {
            format!("{kind} {}@{} -> {}@{}", name(from.0), from.1, name(to.0), to.1)
        }
    }
}
