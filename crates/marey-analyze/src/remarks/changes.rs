//! Loops of which compilers say something else in another run.
//!
//! The one idea: between two builds lines move and directories change their names, so a loop is known again by what stays: the
//! end of its file's path, its function, and its place among the function's loops. Where that leaves a doubt, nothing is said.

use std::collections::BTreeMap;

use super::{LoopOutcome, Remarked, RemarkedLoop};

/// A loop of which a compiler says something else in another run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopChange<'r> {
    /// As it was.
    pub old: RemarkedLoop<'r>,
    /// As it is.
    pub new: RemarkedLoop<'r>,
}

impl LoopChange<'_> {
    /// Whether it is vectorised now and was not, all of it or more of it.
    pub fn is_gain(&self) -> bool {
        self.new.at.outcome < self.old.at.outcome
    }
}

/// Loops that both runs know and of which the compiler says something else, those with most time first. A loop is known by its
/// file, its function, and its place among the loops of the function, as long as both have as many: lines move. Of files with
/// one name only those are compared of which it is clear which is which.
pub fn changed_loops<'r>(old: &Remarked<'r>, new: &Remarked<'r>) -> Vec<LoopChange<'r>> {
    let (before, after) = (by_function(old), by_function(new));
    let roots = (root(old), root(new));
    let mut found = Vec::new();
    for (function, olds) in &before {
        let Some(news) = after.get(function) else { continue };
        for (old, new) in pairs(olds, news, roots) {
            if old.len() != new.len() {
                continue;
            }
            for (old, new) in old.iter().zip(new) {
                let is_silent = [old, new].iter().any(|it| it.at.outcome == LoopOutcome::Silent);
                if old.at.outcome != new.at.outcome && !is_silent {
                    found.push(LoopChange { old: (*old).clone(), new: (*new).clone() });
                }
            }
        }
    }
    found.sort_by_key(|it| std::cmp::Reverse(it.old.own.time.max(it.new.own.time)));
    found
}

/// Loops of a function in one file, in the order of lines, by the path of the file.
type OfFile<'a, 'r> = BTreeMap<&'r str, Vec<&'a RemarkedLoop<'r>>>;

/// Loops by the last part of the path of their file and their function.
fn by_function<'a, 'r>(it: &'a Remarked<'r>) -> BTreeMap<(&'r str, &'r str), OfFile<'a, 'r>> {
    let mut found: BTreeMap<_, OfFile<'_, '_>> = BTreeMap::new();
    for it in it.loops.iter().filter(|it| it.at.is_read) {
        let file = it.at.file.rsplit('/').next().unwrap_or(&it.at.file);
        let files = found.entry((file, it.at.function.as_str())).or_default();
        files.entry(it.at.file.as_str()).or_default().push(it);
    }
    for loops in found.values_mut().flat_map(BTreeMap::values_mut) {
        loops.sort_by_key(|it| (it.at.first_line, std::cmp::Reverse(it.at.last_line)));
    }
    found
}

/// The directory that all files of loops lie in.
fn root<'r>(it: &Remarked<'r>) -> &'r str {
    let mut files = it.loops.iter().filter(|it| it.at.is_read).map(|it| it.at.file.as_str());
    let of = |file: &'r str| file.rfind('/').map_or("", |end| &file[..=end]);
    let mut root = files.next().map_or("", of);
    for file in files {
        while !file.starts_with(root) {
            root = of(root.trim_end_matches('/'));
        }
    }
    root
}

/// Files of one name in two runs: those with one path, then those whose paths below what is common to all are one, or end so
/// where nothing else can be meant.
fn pairs<'p, 'a, 'r>(
    old: &'p OfFile<'a, 'r>,
    new: &'p OfFile<'a, 'r>,
    roots: (&str, &str),
) -> Vec<(&'p Vec<&'a RemarkedLoop<'r>>, &'p Vec<&'a RemarkedLoop<'r>>)> {
    let mut found: Vec<_> = old.iter().filter_map(|(path, loops)| Some((loops, new.get(path)?))).collect();
    let alone = |these: &OfFile<'a, 'r>, others: &OfFile<'a, 'r>| -> Vec<&'r str> {
        these.keys().filter(|path| !others.contains_key(*path)).copied().collect()
    };
    let (olds, news) = (alone(old, new), alone(new, old));
    let is_one = |before: &str, after: &str| {
        let before = before.strip_prefix(roots.0).unwrap_or(before);
        let after = after.strip_prefix(roots.1).unwrap_or(after);
        let (short, long) = if before.len() < after.len() { (before, after) } else { (after, before) };
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    for before in &olds {
        let mut fitting = news.iter().filter(|after| is_one(before, after));
        let (Some(after), None) = (fitting.next(), fitting.next()) else { continue };
        if olds.iter().filter(|other| is_one(other, after)).count() == 1 {
            found.extend(old.get(before).zip(new.get(after)));
        }
    }
    found
}
