//! Wait states, delay costs and the critical path: known truth, in drawings and by a slow reference.
//!
//! The one idea: every drawing in `tests/drawn` was worked out by hand from `docs/wait-states.md`, and the reference was
//! written from the same page; where the two agree, both are right. What is fast is then compared with the drawings
//! and, on random runs, with the reference ([`agree`] is all that takes).

mod fast;
mod reference;

use std::path::{Path, PathBuf};

use marey_analyze::{Happenings, Trace};
use marey_model::Nanos;
use marey_testkit::{
    Doing, Drawing, Expected, ExpectedDelay, PATTERNS, accessing_drawing, disturbed_drawing, random_drawing,
};

/// How far two costs may be apart that are the same, ns: what is added in another order differs in the last digits.
const TOLERANCE: f64 = 1e-6;

/// Number of random runs that everything is compared on.
const RANDOM_RUNS: u32 = 1000;

/// Names and drawings of all files.
fn drawings() -> Vec<(String, Drawing)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drawn");
    let entries = std::fs::read_dir(dir).expect("the drawings are there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    files.sort();
    let read = |file: &PathBuf| {
        let name = file.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file).expect("a drawing can be read");
        let drawing = Drawing::parse(&text).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        (name, drawing)
    };
    files.iter().map(read).collect()
}

/// Random runs, with names by which they are found again.
fn random_runs() -> impl Iterator<Item = (String, Drawing)> {
    let own = (1..=RANDOM_RUNS).map(|seed| parsed(&format!("random run {seed}"), &random_drawing(seed)));
    own.chain(
        (1..=RANDOM_RUNS / 4).map(|seed| parsed(&format!("accessing run {seed}"), &accessing_drawing(seed))),
    )
}

/// Fewer of those that no program could have had.
fn disturbed_runs() -> impl Iterator<Item = (String, Drawing)> {
    (1..=RANDOM_RUNS / 2).map(|seed| parsed(&format!("disturbed run {seed}"), &disturbed_drawing(seed)))
}

fn parsed(name: &str, text: &str) -> (String, Drawing) {
    let drawing = Drawing::parse(text).unwrap_or_else(|wrong| panic!("{name}: {wrong}\n{text}"));
    (format!("{name}:\n{text}"), drawing)
}

/// Fails unless all that is expected was found.
fn agree(name: &str, drawing: &Drawing, found: &Expected, expected: &Expected) {
    let is_same_cost = |a: &ExpectedDelay, b: &ExpectedDelay| {
        (a.location, a.activity) == (b.location, b.activity)
            && (a.short_term - b.short_term).abs() < TOLERANCE
            && (a.long_term - b.long_term).abs() < TOLERANCE
    };
    let same_delays = match (&found.delays, &expected.delays) {
        (Some(found), Some(expected)) => {
            found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| is_same_cost(a, b))
        }
        (_, expected) => expected.is_none(),
    };
    let same_path = expected.critical.is_none()
        || (&found.critical, found.before) == (&expected.critical, expected.before);
    let is_same = (expected.waits.is_none() || found.waits == expected.waits)
        && (expected.completions.is_none() || found.completions == expected.completions)
        && same_delays
        && same_path;
    assert!(is_same, "{name}\nexpected:\n{}\nfound:\n{}", drawing.written(expected), drawing.written(found));
}

#[test]
fn the_reference_finds_what_is_drawn() {
    let drawings = drawings();
    assert!(!drawings.is_empty());
    for (name, drawing) in &drawings {
        assert!(drawing.expected.waits.is_some(), "{name} does not say whether anybody waits");
        agree(name, drawing, &reference::all(drawing), &drawing.expected);
    }
}

#[test]
fn it_does_not_matter_how_a_run_is_cut() {
    for (name, drawing) in drawings() {
        let cut = drawing.clone().cut_every(Nanos(30));
        agree(&name, &drawing, &reference::all(&cut), &reference::all(&drawing));
    }
}

#[test]
fn the_reference_keeps_its_promises() {
    for (name, drawing) in drawings().into_iter().chain(random_runs()).chain(disturbed_runs()) {
        keeps_promises(&name, &drawing, &reference::all(&drawing));
    }
}

#[test]
fn random_runs_are_different_and_know_everything() {
    let mut texts: Vec<String> = (1..=RANDOM_RUNS).map(random_drawing).collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), RANDOM_RUNS as usize);

    let mut n_waits = [0; PATTERNS.len()];
    let (mut n_long_term, mut n_not_started, mut n_outside, mut n_late, mut n_completions) = (0, 0, 0, 0, 0);
    for (_, drawing) in random_runs() {
        let all = reference::all(&drawing);
        for wait in all.waits.iter().flatten() {
            let which = PATTERNS.iter().position(|pattern| *pattern == wait.pattern);
            n_waits[which.expect("it has a name")] += 1;
        }
        let delays = || all.delays.iter().flatten();
        n_long_term += delays().filter(|delay| 0.0 < delay.long_term).count();
        n_not_started += delays().filter(|delay| delay.activity == Doing::NotStarted).count();
        n_outside += delays().filter(|delay| delay.activity == Doing::Outside).count();
        n_late += usize::from(0 < all.before.0);
        n_completions += all.completions.iter().flatten().count();
    }
    let counts = [&n_waits[..], &[n_long_term, n_not_started, n_outside, n_late, n_completions]].concat();
    assert!(counts.iter().all(|count| 20 <= *count), "{counts:?}");
}

/// Fails unless the analysis finds what the reference does, however the run is cut.
fn are_equal(name: &str, drawing: &Drawing) {
    let expected = Expected { completions: None, ..reference::all(drawing) };
    agree(name, drawing, &fast::all(drawing), &expected);
    let spans = reference::completions(drawing);
    let completions = fast::added_up(spans.iter().map(|span| (span.location, span.to - span.from)));
    assert_eq!(fast::completion_of_locations(drawing), completions, "{name}");
    let cut = drawing.clone().cut_every(Nanos(30));
    agree(name, drawing, &fast::all(&cut), &expected);
}

#[test]
fn the_analysis_finds_what_is_drawn() {
    for (name, drawing) in drawings() {
        let expected = Expected { completions: None, ..drawing.expected.clone() };
        agree(&name, &drawing, &fast::all(&drawing), &expected);
        are_equal(&name, &drawing);
    }
}

#[test]
fn the_analysis_finds_what_the_reference_does() {
    for (name, drawing) in random_runs().chain(disturbed_runs()) {
        are_equal(&name, &drawing);
    }
}

/// Fails unless waits lie apart and within their locations, costs are the waits, and the path with the time before it is
/// the run.
fn keeps_promises(name: &str, run: &(impl Trace + Happenings), found: &Expected) {
    let waits = found.waits.as_deref().unwrap_or_default();
    let delays = found.delays.as_deref().unwrap_or_default();
    let critical = found.critical.as_deref().unwrap_or_default();
    for pair in waits.windows(2) {
        assert!(
            pair[0].location != pair[1].location || pair[0].to <= pair[1].from,
            "{name}: waits overlap: {pair:?}"
        );
    }
    for wait in waits {
        let life = &run.locations()[wait.location.idx()];
        assert!(life.start <= wait.from && wait.to <= life.end, "{name}: {wait:?}");
    }
    #[expect(clippy::cast_precision_loss, reason = "drawn times are small")]
    let waited = waits.iter().map(|wait| (wait.to - wait.from).0).sum::<i64>() as f64;
    let cost: f64 = delays.iter().map(|delay| delay.short_term + delay.long_term).sum();
    assert!((waited - cost).abs() < TOLERANCE, "{name}: waits of {waited} ns cost {cost} ns");
    let mut at = found.before;
    for span in critical {
        assert_eq!(span.from, at, "{name}: the path has a gap: {critical:?}");
        at = span.to;
    }
    assert_eq!(at, run.duration(), "{name}: the path does not lead to the end: {critical:?}");
}
