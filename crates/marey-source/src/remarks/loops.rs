//! Which loop of the text a remark is about, and what became of the loop.
//!
//! The one idea: the innermost loop around the line. A compiler makes several loops of one (copies for callers, a part that
//! is vectorised and a rest), and one of several; all that it says of a line is kept together, and a loop of which one part
//! was vectorised and another not says both.
//!
//! Loops of Rust often are told at a line of its library, in which the iterator is. Such remarks are about the one loop of
//! the function that they name, or about the function if it has no loop, if it calls nothing that could have brought a loop of
//! its own, and all that is said of it agrees; else code that was put there may be meant,
//! and they are about no loop. Which function that is, its whole name says ([`super::whose`]).

use rustc_hash::FxHashMap;

use super::row::{Remark, RemarkKind};
use super::whose::Crates;
use crate::joined::key;
use crate::text::{CallKind, Lines, Loop, Sources};

/// What became of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// It was vectorised.
    Vectorised,
    /// One copy of it was, another not.
    Both,
    /// It became a call of the library.
    Replaced,
    /// Some of its statements were put into vectors.
    Statements,
    /// It was not vectorised.
    NotVectorised,
    /// Nothing is said of it.
    Silent,
}

/// A loop and what was said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopRemarks {
    /// Number in [`Sources::loops`]; `None` = it is none of the text: the line of a remark whose source could not be read, or a
    /// function without loops whose iterators are one.
    pub place: Option<u32>,
    /// The source.
    pub file: String,
    /// Its first line.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// The function, as its author wrote it; else as the compiler names it.
    pub function: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Remarks about the loop and about calls in it, by their place in the list that was given.
    pub remarks: Vec<usize>,
}

/// Lays remarks beside loops. All loops of files that remarks are about are told, in the order of files and lines.
pub fn join(remarks: &[Remark], text: &Sources) -> Vec<LoopRemarks> {
    let files: FxHashMap<&str, u32> =
        (0..).zip(&text.files).map(|(number, file)| (text.text(file.path), number)).collect();
    let files_of: Vec<Option<u32>> =
        remarks.iter().map(|remark| files.get(remark.file.as_str()).copied()).collect();
    let functions = only_loops(text);
    let crates = Crates::of(remarks, &files_of, text);
    let mut of_loop: Vec<Vec<usize>> = vec![Vec::new(); text.loops.len()];
    let mut by_function: Vec<Vec<usize>> = vec![Vec::new(); text.loops.len()];
    let mut is_told = vec![false; text.files.len()];
    // What is no loop of the text: file, lines and function.
    let mut alone: FxHashMap<(&str, Lines, &str), Vec<usize>> = FxHashMap::default();
    for (number, remark) in remarks.iter().enumerate() {
        let file = files.get(remark.file.as_str());
        if let Some(told) = file.and_then(|file| is_told.get_mut(*file as usize)) {
            *told = true;
        }
        let found = file.and_then(|file| innermost(&text.loops, *file, remark.line));
        if let Some(place) = found {
            of_loop[place as usize].push(number);
        } else if is_of_loop(remark) && file.is_none() {
            let line = Lines { first: remark.line, last: remark.line };
            match meant(remark, &functions, &crates, text) {
                Loops::One(place) => by_function[place as usize].push(number),
                // Iterators that go on by themselves: the loop is the function.
                Loops::None(row) => {
                    let it = &text.functions[row as usize];
                    let place = (text.path(it.file), it.lines, text.text(it.name));
                    alone.entry(place).or_default().push(number);
                }
                Loops::Unclear => {
                    alone.entry((&remark.file, line, &remark.function)).or_default().push(number);
                }
            }
        }
    }
    for (numbers, more) in of_loop.iter_mut().zip(by_function) {
        let both: Vec<usize> = numbers.iter().chain(&more).copied().collect();
        if outcome(remarks, &both) != Outcome::Both {
            *numbers = both;
        }
    }
    let told = |it: &Loop| is_told.get(it.file as usize).copied().unwrap_or(false);
    let mut found: Vec<LoopRemarks> = (0..)
        .zip(&text.loops)
        .zip(of_loop)
        .filter(|((_, it), remarks)| told(it) || !remarks.is_empty())
        .map(|((place, it), numbers)| LoopRemarks {
            place: Some(place),
            file: text.path(it.file).to_owned(),
            first: it.lines.first,
            last: it.lines.last,
            function: function(text, it),
            outcome: outcome(remarks, &numbers),
            remarks: numbers,
        })
        .collect();
    found.extend(alone.into_iter().map(|((file, lines, function), numbers)| LoopRemarks {
        place: None,
        file: file.to_owned(),
        first: lines.first,
        last: lines.last,
        function: function.to_owned(),
        outcome: outcome(remarks, &numbers),
        remarks: numbers,
    }));
    found.sort_by(|a, b| (&a.file, a.first, b.last, a.place).cmp(&(&b.file, b.first, a.last, b.place)));
    found
}

/// Loops of a function.
#[derive(Clone, Copy)]
enum Loops {
    /// It has this one alone.
    One(u32),
    /// It, by its number, has none.
    None(u32),
    /// It has several, or code of others may be in it, or several functions have the name.
    Unclear,
}

/// Methods that make a loop of iterators, or none; whatever else is called may have a loop that was put into the caller.
const PART_OF_LOOPS: [&str; 28] = [
    "abs",
    "chunks_exact",
    "clamp",
    "cloned",
    "copied",
    "enumerate",
    "filter",
    "fold",
    "for_each",
    "into_iter",
    "is_empty",
    "iter",
    "iter_mut",
    "len",
    "map",
    "max",
    "min",
    "mul_add",
    "powi",
    "product",
    "rev",
    "skip",
    "sqrt",
    "step_by",
    "sum",
    "take",
    "windows",
    "zip",
];

/// By function of the text, whether it calls nothing that could bring a loop of its own.
fn are_alone(text: &Sources) -> Vec<bool> {
    let mut are_alone = vec![true; text.functions.len()];
    for call in &text.calls {
        let is_part = call.kind == CallKind::Member && PART_OF_LOOPS.contains(&text.text(call.name));
        if let Some(alone) = call.caller.and_then(|row| are_alone.get_mut(row as usize)) {
            *alone &= is_part;
        }
    }
    are_alone
}

/// By the last names of functions: which these are, and their loops.
fn only_loops(text: &Sources) -> FxHashMap<String, Vec<(u32, Loops)>> {
    let mut of_function: Vec<Vec<u32>> = vec![Vec::new(); text.functions.len()];
    for (place, it) in (0..).zip(&text.loops) {
        if let Some(loops) = it.function.and_then(|row| of_function.get_mut(row as usize)) {
            loops.push(place);
        }
    }
    let mut found: FxHashMap<String, Vec<(u32, Loops)>> = FxHashMap::default();
    for ((row, loops), is_alone) in (0..).zip(of_function).zip(are_alone(text)) {
        let only = match loops[..] {
            _ if !is_alone => Loops::Unclear,
            [] => Loops::None(row),
            [only] => Loops::One(only),
            _ => Loops::Unclear,
        };
        let name = key(text.text(text.functions[row as usize].name));
        found.entry(name).or_default().push((row, only));
    }
    found
}

/// Functions of one last name that are looked at.
const MOST_NAMESAKES: usize = 64;

/// The loops of the one function that a remark names with all that it lies in.
fn meant(
    remark: &Remark,
    functions: &FxHashMap<String, Vec<(u32, Loops)>>,
    crates: &Crates,
    text: &Sources,
) -> Loops {
    let named = functions.get(&key(&remark.function)).map_or(&[][..], Vec::as_slice);
    let is_meant = |row: u32| crates.is_same(&remark.function, &text.functions[row as usize], text);
    let mut meant = named.iter().take(MOST_NAMESAKES).filter(|(row, _)| is_meant(*row));
    match (meant.next(), meant.next()) {
        (Some((_, loops)), None) if named.len() <= MOST_NAMESAKES => *loops,
        _ => Loops::Unclear,
    }
}

/// Loops of a file are in the order of their lines, those within others behind them.
fn innermost(loops: &[Loop], file: u32, line: u32) -> Option<u32> {
    let begin = loops.partition_point(|it| it.file < file);
    let end = begin + loops[begin..].partition_point(|it| it.file == file && it.lines.first <= line);
    let found = (begin..end).rev().find(|place| loops[*place].lines.has(line));
    found.and_then(|place| u32::try_from(place).ok())
}

fn is_of_loop(remark: &Remark) -> bool {
    !matches!(remark.kind, RemarkKind::Inlined | RemarkKind::NotInlined)
}

fn function(text: &Sources, it: &Loop) -> String {
    let function = it.function.and_then(|row| text.functions.get(row as usize));
    function.map_or_else(String::new, |function| text.text(function.name).to_owned())
}

fn outcome(remarks: &[Remark], numbers: &[usize]) -> Outcome {
    let has = |kind| numbers.iter().any(|number| remarks[*number].kind == kind);
    match (has(RemarkKind::Vectorised), has(RemarkKind::NotVectorised)) {
        (true, true) => Outcome::Both,
        (true, false) => Outcome::Vectorised,
        _ if has(RemarkKind::Statements) => Outcome::Statements,
        // Of a part that became a call nothing is left, but of this.
        (false, true) => Outcome::NotVectorised,
        _ if has(RemarkKind::Replaced) => Outcome::Replaced,
        (false, false) => Outcome::Silent,
    }
}
