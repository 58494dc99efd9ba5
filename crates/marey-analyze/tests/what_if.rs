//! What if: drawings of which the changed run times were worked out by hand, and a slow replay.
//!
//! The one idea: every drawing in `tests/what_if/drawn` says what a change would give, worked out by hand from
//! `docs/what-if.md`; the slow replay was written from the same page. The analysis is compared with both, on all
//! drawings, on random runs and with random changes. And what nobody changes must come out as it was.

#[expect(dead_code, reason = "only its waits are needed here")]
mod reference;
#[path = "what_if/slow.rs"]
mod slow;
#[path = "what_if/statement.rs"]
mod statement;

use std::collections::BTreeMap;
use std::path::Path;

use marey_analyze::what_if::{Limits, Replayed, Scaling};
use marey_analyze::{
    Causes, Happenings, Selection, Span, Trace, causes, causes_of, critical_path, efficiency, what_if,
    what_if_each,
};
use marey_model::{LocationId, Nanos, Role};
use marey_testkit::{Drawing, MadeUp, disturbed_drawing, random_drawing};

use slow::Slow;
use statement::{Deed, Statement};

/// How far times may be apart that are the same, ns: what is added in another order differs in the last digits.
const TOLERANCE: f64 = 1e-6;

const RANDOM_RUNS: u32 = 1000;

/// Windows of so few gates and arrivals that small runs have several.
const SMALL: Limits = Limits { points: 7, steps: 1 << 22, slack: 1 << 23 };

/// Names, drawings and statements of all files in a directory.
fn drawings(dir: &str) -> Vec<(String, Drawing, Vec<Statement>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(dir);
    let entries = std::fs::read_dir(dir).expect("the drawings are there");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    files.sort();
    let read = |file: &std::path::PathBuf| {
        let name = file.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file).expect("a drawing can be read");
        let (drawing, statements) = parsed(&name, &text);
        (name, drawing, statements)
    };
    files.iter().map(read).collect()
}

fn parsed(name: &str, text: &str) -> (Drawing, Vec<Statement>) {
    let is_ours = |line: &&str| line.starts_with("what-if");
    let drawn: Vec<&str> = text.lines().map(|line| if is_ours(&line) { "" } else { line }).collect();
    let drawing = Drawing::parse(&drawn.join("\n")).unwrap_or_else(|wrong| panic!("{name}: {wrong}\n{text}"));
    (drawing, text.lines().filter(is_ours).map(Statement::parse).collect())
}

fn random_runs() -> impl Iterator<Item = (String, Drawing)> {
    let sane = (1..=RANDOM_RUNS).map(|seed| (format!("random run {seed}"), random_drawing(seed)));
    let odd = (1..=RANDOM_RUNS / 2).map(|seed| (format!("disturbed run {seed}"), disturbed_drawing(seed)));
    sane.chain(odd).map(|(name, text)| (format!("{name}:\n{text}"), parsed(&name, &text).0))
}

/// What the analysis finds, and what explains the run.
fn replayed(run: &(impl Trace + Happenings), deeds: &[Deed], limits: &Limits) -> (Causes, Replayed) {
    let causes = causes(run, run).expect("all can be read");
    let change = statement::change(run, deeds);
    let found = what_if(run, run, &causes, &change, limits).expect("all can be read");
    assert_eq!(found.unlisted, 0, "small runs have room for all");
    (causes, found.changed)
}

/// The time of the path by the name of the location, and of the network.
fn path_of(drawing: &Drawing, found: &Replayed) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for row in &found.path {
        *sums.entry(drawing.name(row.location).to_owned()).or_default() += row.time;
    }
    sums.insert("network".to_owned(), found.network);
    sums.retain(|_, time| *time != 0.0);
    sums
}

fn are_close(a: &BTreeMap<String, f64>, b: &BTreeMap<String, f64>) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < TOLERANCE)
}

#[test]
fn the_analysis_gives_what_is_drawn() {
    let mut number = 0;
    for (name, drawing, statements) in drawings("what_if/drawn") {
        assert!(!statements.is_empty(), "{name} says nothing");
        for statement in statements {
            for (run, limits) in [
                (drawing.clone(), Limits::default()),
                (drawing.clone().cut_every(Nanos(30)), Limits::default()),
                (drawing.clone().cut_every(Nanos(30)), SMALL),
            ] {
                let (_, found) = replayed(&run, &statement.deeds, &limits);
                let what = format!("{name}: {}", statement.text);
                assert!((found.run_time - statement.run_time).abs() < TOLERANCE, "{what}: {found:#?}");
                let path = path_of(&drawing, &found);
                assert!(are_close(&path, &statement.path), "{what}: {path:?}");
                number += 1;
            }
        }
    }
    assert!(3 * 60 <= number, "{number}");
}

#[test]
fn the_slow_replay_gives_what_is_drawn() {
    for (name, drawing, statements) in drawings("what_if/drawn") {
        for statement in statements {
            let found = Slow::new(&drawing).run_time(&statement.deeds);
            assert!((found - statement.run_time).abs() < TOLERANCE, "{name}: {}: {found}", statement.text);
        }
    }
}

/// Fails unless every location ends when it did, and the path is the run.
fn is_as_it_was(name: &str, drawing: &Drawing, limits: &Limits) {
    let (_, found) = replayed(drawing, &[], limits);
    let ends: Vec<f64> = found.ends.clone();
    let expected: Vec<f64> = drawing.locations().iter().map(|location| float(location.end)).collect();
    assert_eq!(ends, expected, "{name}");
    assert_eq!(found.run_time, float(drawing.duration()), "{name}");
    path_is_whole(name, &found);
}

fn path_is_whole(name: &str, found: &Replayed) {
    let sum: f64 = found.path.iter().map(|row| row.time).sum::<f64>() + found.network + found.before_path;
    assert!((sum - found.run_time).abs() < TOLERANCE, "{name}: {sum} of {}: {found:#?}", found.run_time);
}

#[expect(clippy::cast_precision_loss, reason = "drawn times are small")]
fn float(time: Nanos) -> f64 {
    time.0 as f64
}

#[test]
fn without_a_change_the_run_is_as_it_was() {
    let drawn = drawings("drawn").into_iter().chain(drawings("what_if/drawn"));
    for (name, drawing) in drawn.map(|(name, drawing, _)| (name, drawing)).chain(random_runs()) {
        is_as_it_was(&name, &drawing, &Limits::default());
        is_as_it_was(&name, &drawing.clone().cut_every(Nanos(30)), &SMALL);
        let slow = Slow::new(&drawing);
        assert_eq!(slow.run_time(&[]), float(drawing.duration()), "{name}");
        let first = Deed::Longer(LocationId(0), 0, 5);
        assert!(float(drawing.duration()) <= slow.run_time(&[first]), "{name}");
        let (_, found) = replayed(&drawing, &[], &Limits::default());
        let waiting =
            (0..).map(LocationId).take(found.waiting.len()).map(|id| float(Nanos(slow.waiting(id))));
        assert!(waiting.zip(&found.waiting).all(|(slow, found)| *found <= slow + TOLERANCE), "{name}");
    }
}

/// Where the replay knows no more than the waits do, and nobody was last together with another, its path is the path.
#[test]
fn without_a_change_the_path_is_as_it_was() {
    let mut number = 0;
    for (name, drawing, _) in drawings("drawn") {
        let (causes, found) = replayed(&drawing, &[], &Limits::default());
        let path = critical_path(&drawing, &drawing, &causes.waits).expect("all can be read");
        let mut expected: BTreeMap<String, f64> = BTreeMap::new();
        for span in path.spans {
            *expected.entry(drawing.name(span.location).to_owned()).or_default() +=
                float(span.to - span.from);
        }
        if are_close(&path_of(&drawing, &found), &expected) {
            number += 1;
        } else {
            eprintln!("{name}: {:?} instead of {expected:?}", path_of(&drawing, &found));
        }
    }
    assert!(65 <= number, "only {number} paths are the same");
}

#[test]
fn random_changes_give_what_the_slow_replay_does() {
    let mut random = statement::Random::new();
    let (mut shorter, mut same, mut longer) = (0, 0, 0);
    for (name, drawing) in random_runs() {
        for turn in [0, 3] {
            let deeds = statement::random_deeds(&mut random, &drawing);
            let run = if turn % 2 == 0 { drawing.clone() } else { drawing.clone().cut_every(Nanos(25)) };
            let limits = if turn < 2 { Limits::default() } else { SMALL };
            let (_, found) = replayed(&run, &deeds, &limits);
            let slow = Slow::new(&drawing);
            let ends = slow.ends(&deeds);
            let is_close = found.ends.iter().zip(&ends).all(|(a, b)| (a - b).abs() < TOLERANCE);
            assert!(is_close, "{name}\n{deeds:?}\nfound {:?}\nslow  {ends:?}", found.ends);
            let run_time = slow.run_time(&deeds);
            assert!((found.run_time - run_time).abs() < TOLERANCE, "{name}\n{deeds:?}: {run_time}");
            // Of one in 250 disturbed runs the path of a balanced replay is not: those with barriers of threads that had
            // not begun, or had ended.
            if !(name.starts_with("disturbed") && deeds.contains(&Deed::Balance)) {
                path_is_whole(&format!("{name}\n{deeds:?}"), &found);
            }
            match found.run_time - float(drawing.duration()) {
                gain if gain < -TOLERANCE => shorter += 1,
                gain if TOLERANCE < gain => longer += 1,
                _ => same += 1,
            }
        }
    }
    assert!([shorter, same, longer].iter().all(|number| 200 <= *number), "{shorter} {same} {longer}");
}

/// A faster part never makes a run longer, and ideal networks do not either.
#[test]
fn faster_is_never_slower() {
    let mut random = statement::Random::new();
    for (name, drawing) in random_runs().take(300) {
        for mut deeds in
            [statement::random_deeds(&mut random, &drawing), vec![Deed::Network(0.0, f64::INFINITY)]]
        {
            deeds.retain(|deed| match deed {
                Deed::Faster(_, factor) | Deed::Rank(_, factor) => 1.0 <= *factor,
                Deed::Balance | Deed::Longer(..) => false,
                Deed::Network(latency, bandwidth) => *latency == 0.0 && bandwidth.is_infinite(),
            });
            let (_, found) = replayed(&drawing, &deeds, &Limits::default());
            assert!(found.run_time <= float(drawing.duration()) + TOLERANCE, "{name}\n{deeds:?}");
        }
    }
}

/// Many at once give what each gives.
#[test]
fn each_place_gives_what_it_gives_alone() {
    let mut number = 0;
    for (name, drawing) in random_runs().take(300) {
        let causes = causes(&drawing, &drawing).expect("all can be read");
        let each = what_if_each(&drawing, &drawing, &causes, 5, &SMALL).expect("all can be read");
        let gains: Vec<f64> = each.rows.iter().map(|row| row.twice).collect();
        assert!(gains.is_sorted_by(|a, b| a <= b), "{name}: {gains:?}");
        for row in &each.rows {
            assert!(row.at_once <= row.twice + TOLERANCE, "{name}: {row:?}");
            for (factor, found) in [(2.0, row.twice), (f64::INFINITY, row.at_once)] {
                let alone =
                    what_if(&drawing, &drawing, &causes, &row.change(&drawing, factor), &Limits::default());
                let alone = alone.expect("all can be read").changed.run_time;
                assert!((alone - found).abs() < TOLERANCE, "{name}: {row:?} {factor}: {alone}");
                number += 1;
            }
        }
    }
    assert!(1000 <= number, "{number}");
}

/// The ideal network is the same to whoever asks for it: efficiencies, and what-if with and without a place.
#[test]
fn there_is_one_ideal_network() {
    let mut set_up = 0;
    for (name, drawing) in random_runs().take(300) {
        let causes = causes(&drawing, &drawing).expect("all can be read");
        let (_, asked) = replayed(&drawing, &[Deed::Network(0.0, f64::INFINITY)], &Limits::default());
        for (location, ((_, end), asked)) in causes.ideal.iter().zip(&asked.ends).enumerate() {
            assert!((float(*end) - asked).abs() <= 0.5, "{name}\n{location}: {end:?} {asked}");
        }
        let each = what_if_each(&drawing, &drawing, &causes, 1, &SMALL).expect("all can be read");
        assert!((asked.run_time - each.ideal).abs() < TOLERANCE, "{name}: {} {}", asked.run_time, each.ideal);
        if let Some(found) = efficiency(&drawing, &causes) {
            let product = found.serialisation * found.setting_up * found.transfer;
            assert!((product - found.communication).abs() < 1e-9, "{name}: {found:?}");
            set_up += usize::from(found.setting_up < 1.0);
        }
    }
    assert!(50 <= set_up, "{set_up}");
}

/// The bare run is as long as a replay in which every call of a parallel library costs nothing.
#[test]
fn efficiency_knows_what_setting_up_costs() {
    for (name, drawing) in random_runs().take(300) {
        let causes = causes(&drawing, &drawing).expect("all can be read");
        let ends = Slow::new(&drawing).ideal_ends();
        let found: Vec<f64> = causes.bare.iter().map(|(_, end)| float(*end)).collect();
        assert_eq!(found.len(), ends.len(), "{name}");
        for (location, (found, slow)) in found.iter().zip(&ends).enumerate() {
            let name_of = LocationId::from_idx(location).map(|id| drawing.name(id).to_owned());
            assert!((found - slow).abs() <= 0.5, "{name}\n{name_of:?}: {found} {slow}");
        }
    }
}

/// A part is replayed alone: whoever got ahead before it does not keep that. So its ideal time is no less than what the whole
/// replay has there, and no more than it took; and where it begins with the run it is just that of the whole replay.
#[test]
fn ideal_times_of_spans_are_their_own() {
    type Lives = fn(Causes) -> Vec<(Nanos, Nanos)>;
    let lives: [Lives; 2] = [|it| it.ideal, |it| it.bare];
    let (mut divided, mut longer) = (0, 0);
    for ((name, drawing), lives) in random_runs().take(300).flat_map(|run| lives.map(|it| (run.clone(), it)))
    {
        let length = drawing.duration().0;
        let of = |from: i64, to: i64| {
            let span = Span { from: Nanos(from), to: Nanos(to) };
            let selection = Selection { span, ..Selection::default() };
            lives(causes_of(&drawing, &drawing, &selection).expect("all can be read"))
        };
        let latest = |ideal: &[(Nanos, Nanos)]| ideal.iter().map(|(_, end)| end.0).max().unwrap_or_default();
        let whole = lives(causes(&drawing, &drawing).expect("all can be read"));
        assert_eq!(latest(&of(0, length)), latest(&whole), "{name}");
        for (from, to) in [(length / 3, length / 2), (length / 2, length), (length / 3, length)] {
            if to <= from {
                continue;
            }
            let (before, until, alone) = (of(0, from), of(0, to), of(from, to));
            for (location, (begin, end)) in alone.iter().enumerate() {
                let life = &drawing.locations()[location];
                if life.start < Nanos(from) && Nanos(from) < life.end {
                    assert_eq!(*begin, Nanos(from), "{name}, location {location}: {from} to {to}");
                    assert!(end.0 <= to, "{name}, location {location}: {from} to {to}");
                    divided += 1;
                }
            }
            let (alone, in_whole) = (latest(&alone) - from, latest(&until) - latest(&before));
            // Both are rounded.
            assert!(in_whole <= alone + 1, "{name}, {from} to {to}: {in_whole} {alone}");
            longer += i32::from(in_whole + 1 < alone);
        }
    }
    assert!(500 <= divided && 30 <= longer, "{divided} {longer}");
}

/// Rank 0 of a world that was spawned is another process.
#[test]
fn a_rank_is_one_of_the_first_world() {
    let mut run = MadeUp::new(3);
    let barrier = run.mpi("MPI_Barrier", Role::Barrier, &[("main", 7)]);
    for (location, time) in (0..).map(LocationId).zip([10, 20, 40]) {
        run.pause(location, time);
    }
    run.collective(barrier, 1);
    run.spawn_from(2);
    let causes = causes(&run, &run).expect("all can be read");
    let meant = |rank| Scaling::rank(&run, rank, 2.0).matched(&run, &causes).locations;
    assert_eq!([meant(0), meant(1), meant(2)], [vec![LocationId(0)], vec![LocationId(1)], vec![]]);
}
