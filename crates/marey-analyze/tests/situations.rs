//! Situations, and calls too small for their cost: known truth, in drawings.
//!
//! The one idea: every file in `tests/situated` and `tests/small` was worked out by hand from `docs/situations.md`, and
//! says in its last lines what is to be found, or nothing. It does not matter how a run is cut into slabs.
//!
//! Files are drawings with two abbreviations: `12(s.)` is `s.` twelve times, and `repeat 1-12 …%…` a line for each
//! number, with `%*60+10` for a sum. A line `span 450 660` before the rules says that no more than that part of the run
//! is looked at, ns.

#[path = "situations/many.rs"]
mod many;
#[path = "situations/pace.rs"]
mod pace;

use std::fmt::Write;
use std::path::Path;

use marey_analyze::{
    Activity, ProbableCause, Selection, Situation, SituationKind, SituationRules, Small, Span, Threshold,
    Trace, causes, causes_of, granularity, situations,
};
use marey_model::{CallPathId, LocationId, Nanos};
use marey_testkit::Drawing;

/// A file: what part of the run is meant, its rules, its drawing, and what is to be found.
struct Known {
    name: String,
    span: Span,
    rules: SituationRules,
    drawing: Drawing,
    expected: String,
}

fn all(dir: &str) -> Vec<Known> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(dir);
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    files.sort();
    assert!(10 <= files.len());
    files.iter().map(|file| read(file)).collect()
}

fn read(file: &Path) -> Known {
    let name = file.file_stem().expect("it has a name").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(file).expect("it can be read");
    let (head, expected) = text.split_once("\nexpected\n").expect("it says what is expected");
    let (head, drawing) = head.split_once("\ndrawing\n").expect("it has a drawing");
    let head = format!("\n{head}");
    let rules = head.split_once("\nrules\n").map_or("", |(_, rules)| rules);
    let span = head.lines().find_map(|line| line.strip_prefix("span ")).map_or(Span::ALL, |span| {
        let ends: Vec<i64> = span.split(' ').map(|at| at.parse().expect("an instant")).collect();
        Span { from: Nanos(ends[0]), to: Nanos(ends[1]) }
    });
    let rules = SituationRules::parse(rules).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
    let mut long = String::new();
    for line in drawing.lines() {
        if let Some((head, row)) = line.split_once('|') {
            writeln!(long, "{head:<24}|{}", repeated(row.trim_end_matches('|'))).expect("a string grows");
        } else if let Some(rest) = line.strip_prefix("repeat ") {
            for line in lines(rest) {
                writeln!(long, "{line}").expect("a string grows");
            }
        } else {
            writeln!(long, "{line}").expect("a string grows");
        }
    }
    let drawing = Drawing::parse(&long).unwrap_or_else(|wrong| panic!("{name}: {wrong}\n{long}"));
    Known { name, span, rules, drawing, expected: expected.to_owned() }
}

/// `12(s.)`, `3(s2(.))`: the innermost first.
fn repeated(row: &str) -> String {
    let mut row = row.to_owned();
    while let Some(open) = row.rfind('(') {
        let close = open + row[open..].find(')').expect("it is closed");
        let head = row[..open].trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let number: usize = row[head..open].parse().expect("a number stands before it");
        row = format!("{}{}{}", &row[..head], row[open + 1..close].repeat(number), &row[close + 1..]);
    }
    row
}

/// `1-12 message a:S% -> b:R%`, `0-8 create a@%*60+10 -> b.start`
fn lines(rest: &str) -> Vec<String> {
    let (range, pattern) = rest.split_once(' ').expect("a range and a pattern");
    let (first, last) = range.split_once('-').expect("a range");
    let number = |text: &str| text.parse::<i64>().expect("a number");
    let line = |n: i64| {
        let mut parts = pattern.split('%');
        let mut line = parts.next().expect("there is a first").to_owned();
        for part in parts {
            let Some((factor, rest)) = part.strip_prefix('*').and_then(|part| part.split_once('+')) else {
                line += &format!("{n}{part}");
                continue;
            };
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            line += &format!("{}{}", n * number(factor) + number(&rest[..end]), &rest[end..]);
        }
        line
    };
    (number(first)..=number(last)).map(line).collect()
}

fn region(run: &Drawing, path: CallPathId) -> &str {
    run.regions()[run.call_paths()[path.idx()].region.idx()].name()
}

fn names(run: &Drawing, locations: &[LocationId]) -> String {
    locations.iter().map(|id| run.name(*id)).collect::<Vec<_>>().join(" ")
}

/// Three decimals at most.
fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn because(run: &Drawing, word: &str, cause: Option<ProbableCause>) -> String {
    let Some(cause) = cause else { return String::new() };
    let what = match cause.activity {
        Activity::Path(path) => region(run, path),
        Activity::Outside => "outside",
        Activity::NotStarted => "not started",
    };
    let waits = if cause.is_waiting { "waits in " } else { "" };
    format!("; {word} {} {waits}{what} {}", run.name(cause.location), short(cause.amount))
}

fn line(run: &Drawing, it: &Situation) -> String {
    format!(
        "{} {} [{}, {}) {} {} of {} x{} cost {}{}{}\n",
        it.kind.name(),
        names(run, &it.locations),
        it.from.0,
        it.to.0,
        it.call_path.map_or("-", |path| region(run, path)),
        short(it.measured),
        short(it.normal),
        it.number,
        it.cost.0,
        because(run, "because", it.cause),
        because(run, "meanwhile", it.meanwhile),
    )
}

fn found(run: &Drawing, span: Span, rules: &SituationRules) -> String {
    let selection = Selection { span, ..Selection::default() };
    let causes = causes_of(run, run, &selection).expect("all can be read");
    let found = situations(run, run, &causes, rules).expect("all can be read");
    assert_eq!((found.unfollowed, found.more.len()), (0, 0));
    found.list.iter().map(|it| line(run, it)).collect()
}

#[test]
fn situations_are_found_where_they_are_drawn_and_nowhere_else() {
    let mut wrong = Vec::new();
    for known in all("situated") {
        for length in [30, 70, 1000, i64::MAX] {
            let cut = known.drawing.clone().cut_every(Nanos(length));
            let found = found(&cut, known.span, &known.rules);
            if found != known.expected {
                wrong.push(format!("{} cut every {length} ns\n{}found\n{found}", known.name, known.expected));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn advice(run: &Drawing) -> String {
    let causes = causes(run, run).expect("all can be read");
    let line = |it: &Small| {
        format!(
            "{} {}{} {} x{} in {} bytes {} cost {} gain {} less {}\n",
            it.kind.name(),
            names(run, &it.locations),
            it.to.map_or(String::new(), |to| format!(" -> {}", run.name(to))),
            it.call_path.map_or("-", |path| region(run, path)),
            it.number,
            it.rows,
            short(it.bytes),
            it.cost.0,
            it.gain.map_or("?".to_owned(), |gain| gain.0.to_string()),
            short(it.work),
        )
    };
    granularity(run, run, &causes, 0.0).expect("all can be read").iter().map(line).collect()
}

#[test]
fn calls_too_small_are_found_where_they_are_drawn_and_nowhere_else() {
    let mut wrong = Vec::new();
    for known in all("small") {
        for length in [30, 70, 1000, i64::MAX] {
            let found = advice(&known.drawing.clone().cut_every(Nanos(length)));
            if found != known.expected {
                wrong.push(format!("{} cut every {length} ns\n{}found\n{found}", known.name, known.expected));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// However strange a run is, nothing breaks, and it does not matter how it is cut.
#[test]
fn random_runs_have_the_same_situations_however_they_are_cut() {
    let text = "speed-ups everyone by 5%\nslow-downs everyone by 5%\nunder-utilised everyone by 1%\n\
                over-utilised everyone by 1%\nmessage-queue everyone over 0 messages\nmessage-queue everyone by 1%\n\
                processing-time everyone over 0ns\nprocessing-time everyone by 1%";
    let rules = SituationRules::parse(text).expect("they are rules");
    let mut kinds = std::collections::BTreeMap::new();
    for seed in 1..=300 {
        let texts = [marey_testkit::random_drawing(seed), marey_testkit::disturbed_drawing(seed)];
        for text in texts {
            let run = Drawing::parse(&text).expect("it is a drawing");
            let causes_of = causes(&run, &run).expect("all can be read");
            let whole = situations(&run, &run, &causes_of, &rules).expect("all can be read");
            let cut = run.clone().cut_every(Nanos(30));
            let causes_of = causes(&cut, &cut).expect("all can be read");
            let parts = situations(&cut, &cut, &causes_of, &rules).expect("all can be read");
            assert_eq!(whole, parts, "seed {seed}:\n{text}");
            whole.list.iter().for_each(|it| *kinds.entry(it.kind.name()).or_insert(0) += 1);
        }
    }
    // They are too short for changes of pace.
    let often = kinds.values().filter(|number| **number >= 20).count();
    assert!(often >= 4, "{kinds:?}");
}

#[test]
fn rules_come_back_from_their_text() {
    let text = "family left   rank 0-3,7 # half\nfamily pool thread worker*\nfamily left thread io\n\nslow-downs  left by 12.5%\n\
                first-speed-up pool of MPI_* by 50%\nmessage-queue everyone over 64MiB\nprocessing-time  pool over 1.5ms";
    let rules = SituationRules::parse(text).expect("they are rules");
    let again = "family left  rank 0-3,7\nfamily pool  thread worker*\nfamily left  thread io\n\
                 slow-downs       left  by 12.5%\nfirst-speed-up   pool  by 50%  of MPI_*\n\
                 message-queue    everyone  over 64 MiB\nprocessing-time  pool  over 1500000ns\n";
    assert_eq!(rules.to_string(), again);
    assert_eq!(SituationRules::parse(again), Ok(rules.clone()));
    assert_eq!(rules.rules[1].kind, SituationKind::SpeedUp);
    assert_eq!(rules.rules[2].threshold, Threshold::Bytes(64 << 20));
    let usual = SituationRules::default();
    assert_eq!(SituationRules::parse(&usual.to_string()), Ok(usual));
}

#[test]
fn what_is_no_rule_is_told() {
    let cases = [
        (
            "\nslow-down everyone by 5%",
            "line 2, `slow-down everyone by 5%`, begins with none of family, speed-ups",
        ),
        ("slow-downs", "names no family"),
        ("slow-downs left by 5%", "the family left, which no line names"),
        ("slow-downs everyone", "from when on"),
        ("slow-downs everyone by 5", "no percentage"),
        ("slow-downs everyone by -5%", "no percentage"),
        ("slow-downs everyone by", "nothing behind `by`"),
        ("slow-downs everyone over 3 messages", "takes `by N%`"),
        ("message-queue everyone over 3", "neither messages nor bytes nor a time"),
        ("message-queue everyone over 3 s", "takes `by N%`, `over N messages`"),
        ("message-queue everyone by 5% of MPI_*", "takes no `of`"),
        ("slow-downs everyone by 5% by 6%", "two thresholds"),
        ("slow-downs everyone at 5%", "none of by, over and of"),
        ("slow-downs everyone by 5% of MPI_Send of MPI_Recv", "two regions"),
        (
            "family everyone rank 0\nslow-downs everyone by 5%",
            "line 1, `family everyone rank 0`, names everyone",
        ),
        ("family left rank 3-1", "is empty"),
        ("family left rank x", "is no rank"),
        ("family left", "who"),
        ("family", "names no family"),
        ("message-queue everyone over 99999999999999999999 GiB", "neither"),
    ];
    for (text, expected) in cases {
        let error = SituationRules::parse(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{error}");
    }
    // However long a word is.
    let long = "x".repeat(100_000);
    for text in [
        format!("slow-downs {long} by 5%"),
        format!("slow-downs everyone by {long}%"),
        format!("message-queue everyone over 3{long}"),
        format!("slow-downs everyone {long} 5%"),
        format!("family left rank {long}"),
    ] {
        let error = SituationRules::parse(&text).expect_err("no rule").to_string();
        assert!(error.chars().count() < 400, "{error}");
    }
}
