//! Where call paths come from, in as few words as tell them apart.
//!
//! The one idea: the innermost function says what was done, but where everybody calls the same helper (`xmalloc`,
//! `Memory::grow`) it tells nobody where to look. So each path is shown with the function that called it, and paths
//! that still look alike with as many more as it takes.

use std::collections::BTreeMap;

use super::chains::Step;
use crate::paint::shorten;

/// Callers that are shown at most; what differs further out, the call tree tells.
const MOST: usize = 4;
/// Characters of all names together.
const WIDTH: usize = 64;
/// Between a function and who called it.
const BY: &str = " ← ";

/// Where a call path comes from. All is empty where that is not known.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Origin {
    /// The innermost function of the program and who called it: `xmalloc ← grow`.
    pub(super) functions: String,
    /// Where in the innermost.
    pub(super) place: String,
}

/// Those of some rows. `of` gives the functions of one, innermost first, and what else tells it from others. In at most
/// [`MOST`] rounds, each of which gives one caller more to those that look alike.
pub(super) fn told_apart<T>(rows: &[T], of: impl Fn(&T) -> (&[Step], &str)) -> Vec<Origin> {
    let mut depths = vec![1; rows.len()];
    loop {
        let shown: Vec<Origin> =
            rows.iter().zip(&depths).map(|(row, &depth)| origin(of(row).0, depth)).collect();
        let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (idx, (origin, row)) in shown.iter().zip(rows).enumerate() {
            alike.entry((origin, of(row).1)).or_default().push(idx);
        }
        let can_tell = |&idx: &usize| depths[idx] < MOST && depths[idx] + 1 < of(&rows[idx]).0.len();
        let vague: Vec<usize> =
            alike.into_values().filter(|rows| rows.len() > 1).flatten().filter(can_tell).collect();
        if vague.is_empty() {
            return shown;
        }
        for idx in vague {
            depths[idx] += 1;
        }
    }
}

fn origin(steps: &[Step], callers: usize) -> Origin {
    let shown = &steps[..steps.len().min(callers + 1)];
    let width = (WIDTH + BY.chars().count()) / shown.len().max(1) - BY.chars().count();
    let names: Vec<String> = shown.iter().map(|step| brief(&step.name, width)).collect();
    Origin {
        functions: names.join(BY),
        place: shown.first().map_or_else(String::new, |innermost| innermost.place.clone()),
    }
}

/// A name in at most `width` characters: without scopes from outside, and then without its middle.
fn brief(mut name: &str, width: usize) -> String {
    while name.chars().count() > width
        && let Some(inner) = without_scope(name)
    {
        name = inner;
    }
    shorten(name, width)
}

/// `b::c` of `a::b::c`; `None` if there is no scope but one, or arguments of a template or the like come first.
fn without_scope(name: &str) -> Option<&str> {
    let (scope, inner) = name.split_once("::")?;
    (!scope.contains(['<', '(', '{']) && inner.contains("::")).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_scopes_first() {
        for (name, width, expected) in [
            ("LAMMPS_NS::Memory::srealloc", 27, "LAMMPS_NS::Memory::srealloc"),
            ("LAMMPS_NS::Memory::srealloc", 26, "Memory::srealloc"),
            ("LAMMPS_NS::Memory::srealloc", 10, "Memor…lloc"),
            ("a::Page<b::Int>::allocate", 16, "Page<b::…llocate"),
            ("<a::B as c::D>::call", 12, "<a::B …:call"),
        ] {
            assert_eq!(brief(name, width), expected, "{name}");
        }
    }

    fn functions(paths: &[(&str, &str)]) -> Vec<String> {
        let step = |name: &str| Step { name: name.to_owned(), ..Step::default() };
        let paths: Vec<(Vec<Step>, &str)> =
            paths.iter().map(|(names, word)| (names.split_whitespace().map(step).collect(), *word)).collect();
        told_apart(&paths, |(steps, word)| (steps, *word))
            .into_iter()
            .map(|origin| origin.functions)
            .collect()
    }

    #[test]
    fn callers_are_shown_until_paths_differ() {
        /// Functions and region of each path, and what is shown of it.
        type Case<'c> = (&'c [(&'c str, &'c str)], &'c [&'c str]);
        let cases: &[Case<'_>] = &[
            (&[("f g main", "malloc")], &["f ← g"]),
            (&[("main", "malloc"), ("", "malloc")], &["main", ""]),
            // Two differ at the second caller, the third at the first.
            (
                &[("f g a main", "malloc"), ("f g b main", "malloc"), ("f h a main", "malloc")],
                &["f ← g ← a", "f ← g ← b", "f ← h"],
            ),
            // What they call tells them apart already.
            (&[("f g a", "malloc"), ("f g b", "calloc")], &["f ← g", "f ← g"]),
            // One ends where the other goes on.
            (&[("f g", "malloc"), ("f g main", "malloc")], &["f ← g", "f ← g ← main"]),
            // Too far out.
            (
                &[("f a b c d x", "malloc"), ("f a b c d y", "malloc")],
                &["f ← a ← b ← c ← d", "f ← a ← b ← c ← d"],
            ),
        ];
        for (paths, expected) in cases {
            assert_eq!(functions(paths), *expected, "{paths:?}");
        }
    }
}
