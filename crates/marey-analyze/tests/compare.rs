//! Comparisons: known truth. Pairs of drawn runs, worked out by hand from `docs/compare.md`, and renamed functions.
//!
//! The one idea: what is found is written as the lines of the drawing's expectation, and the lines are compared.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "made/drawn.rs"]
mod drawn;
mod made;

use marey_analyze::{
    Basis, Cause, Change, Comparison, Digest, Direction, FunctionName, FunctionSums, Place, PlaceKind,
    RenamedHow, Subject, causes, compare,
};
use marey_model::Nanos;
use marey_testkit::Drawing;

use made::Made;

fn digest(text: &str) -> Digest {
    let drawing = Drawing::parse(text).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
    let run = Made::with_sums(&drawing);
    let mut digest = Digest::new(&run);
    digest.explain(&run, &causes(&drawing, &drawing).expect("it can be read"));
    digest
}

/// The name in the base, or in the other where that has not the place.
fn name(comparison: &Comparison<'_>, place: usize) -> String {
    let of = |place: &Place| match place.kind {
        PlaceKind::Call => place.region.name().to_owned(),
        PlaceKind::Outside => "computation".to_owned(),
        PlaceKind::NotStarted => "not started".to_owned(),
    };
    comparison.old_name(place).map_or_else(|| of(comparison.name(place).0), of)
}

fn number(value: f64) -> String {
    format!("{value}")
}

fn cause(comparison: &Comparison<'_>, word: &str, cause: &Cause) -> String {
    let place = match cause.subject {
        Subject::Place(place) => name(comparison, place),
        Subject::Before => "before".to_owned(),
    };
    let mut line = format!("{word} {place} {:+}", cause.difference());
    let ranks: Vec<String> = cause
        .locations
        .iter()
        .map(|at| &comparison.other.locations[*at as usize])
        .map(|at| format!("rank {}", at.rank.unwrap()))
        .collect();
    if !ranks.is_empty() {
        line += &format!(" on {}", ranks.join(", "));
    }
    let mean = |mean: Option<f64>| mean.map_or_else(|| "-".to_owned(), number);
    if let Some((old, new)) = cause.visits {
        line += &format!("; {old} x {} -> {new} x {}", mean(cause.mean.0), mean(cause.mean.1));
    }
    if let Some((share, place)) = cause.share {
        line += &format!("; {} % in {}", share * 100.0, name(comparison, place.unwrap()));
    }
    line
}

/// What was found, in the words of the drawings.
fn lines(comparison: &Comparison<'_>) -> Vec<String> {
    let mut lines = vec![match comparison.basis {
        Basis::Sums => "sums".to_owned(),
        Basis::Means => "means".to_owned(),
    }];
    let renamed =
        comparison.renamed.iter().map(|pair| format!("renamed {} -> {}", pair.old.name, pair.new.name));
    lines.extend(renamed);
    let direction = match comparison.verdict.direction {
        Direction::AsLong => "as long",
        Direction::Longer => "longer",
        Direction::Shorter => "shorter",
    };
    lines.push(format!("{direction} {} -> {}", comparison.base.duration.0, comparison.other.duration.0));
    assert!(comparison.verdict.is_of_path);
    let change = |word: &str, row: &Change| {
        format!("{word} {} {} -> {}", name(comparison, row.place), number(row.old), number(row.new))
    };
    lines.extend(comparison.path.iter().map(|row| change("path", row)));
    let waits =
        comparison.waits.iter().map(|(pattern, row)| change(&format!("waits {} in", pattern.name()), row));
    lines.extend(waits);
    lines.extend(comparison.costs.iter().map(|row| change("cost", row)));
    lines.extend(comparison.verdict.causes.iter().map(|it| cause(comparison, "cause", it)));
    lines.extend(comparison.verdict.elsewhere.iter().map(|it| cause(comparison, "elsewhere", it)));
    lines
}

/// The parts of a file of the directory, each behind its heading.
fn parts(text: &str) -> [&str; 3] {
    let part = |heading: &str| {
        let from = text.find(heading).unwrap_or_else(|| panic!("there is no {heading}")) + heading.len();
        let rest = &text[from..];
        &rest[..rest.find("\n===").unwrap_or(rest.len())]
    };
    ["=== base", "=== other", "=== expected"].map(part)
}

fn drawn() -> Vec<(String, String)> {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compared");
    let entries = std::fs::read_dir(dir).expect("the drawings are there").map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.collect();
    files.sort();
    let read = |file: &std::path::PathBuf| {
        (file.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(file).unwrap())
    };
    files.iter().map(read).collect()
}

#[test]
fn pairs_that_are_drawn_are_told_right() {
    let files = drawn();
    assert!(8 <= files.len());
    for (file, text) in files {
        let [base, other, expected] = parts(&text);
        let (base, other) = (digest(base), digest(other));
        let comparison = compare(&base, &other);
        let mut expected: Vec<String> = expected
            .lines()
            .map(|line| line.split('#').next().unwrap_or_default().trim().to_owned())
            .filter(|line| !line.is_empty())
            .collect();
        let mut found = lines(&comparison);
        // Renamed functions are told behind the basis; the order of all others of a kind is their size.
        for lines in [&mut expected, &mut found] {
            lines.sort_by_key(|line| line.split(' ').next().unwrap_or_default().to_owned());
        }
        assert_eq!(found, expected, "{file}");
    }
}

/// All differences of the critical path are that of the runs.
#[test]
fn nothing_is_left_over() {
    for (file, text) in drawn() {
        let [base, other, _] = parts(&text);
        let (base, other) = (digest(base), digest(other));
        let there_and_back = [compare(&base, &other), compare(&other, &base)];
        for comparison in &there_and_back {
            let sum: f64 = comparison.path.iter().map(Change::difference).sum();
            let before = |run: &Digest| run.explained.as_ref().unwrap().before.0;
            let difference = (comparison.other.duration - comparison.base.duration).0;
            let expected = difference - (before(comparison.other) - before(comparison.base));
            assert!((sum - expected as f64).abs() < 1e-6, "{file}: {sum} of {expected}");
        }
        let [there, back] = &there_and_back;
        assert_eq!(there.renamed.len(), back.renamed.len(), "{file}");
        assert_eq!(there.path.len(), back.path.len(), "{file}");
        // A run does not differ from itself.
        let same = compare(&base, &base);
        assert_eq!((same.verdict.direction, same.verdict.causes.len()), (Direction::AsLong, 0), "{file}");
        assert!(same.path.iter().all(|row| row.difference() == 0.0), "{file}");
    }
}

/// What is taken for renamed: `old -> new, how`.
fn renamed(base: &str, other: &str) -> Vec<String> {
    let (base, other) = (Digest::new(&Made::list(base)), Digest::new(&Made::list(other)));
    let how = |how| match how {
        RenamedHow::Moved => "moved",
        RenamedHow::Neighbours => "neighbours",
        RenamedHow::Samples => "samples",
    };
    let line = |pair: &marey_analyze::Renamed| {
        format!(
            "{}:{} -> {}:{}, {}",
            pair.old.file,
            pair.old.name,
            pair.new.file,
            pair.new.name,
            how(pair.how)
        )
    };
    compare(&base, &other).renamed.iter().map(line).collect()
}

#[test]
fn functions_are_taken_for_renamed_only_where_that_is_evident() {
    type Case<'a> = (&'a str, &'a [&'a str], &'a [&'a str], &'a [&'a str]);
    let cases: [Case<'_>; 16] = [
        ("nothing changed", &["main>step MPI_Send"], &["main>step MPI_Send"], &[]),
        (
            "a name",
            &["main>step MPI_Send", "main>out MPI_Bcast"],
            &["main>go MPI_Send", "main>out MPI_Bcast"],
            &["app.c:step -> app.c:go, neighbours"],
        ),
        (
            "a file",
            &["main>step MPI_Send"],
            &["main>new.c:step MPI_Send"],
            &["app.c:step -> new.c:step, moved"],
        ),
        (
            "name and file",
            &["main>step MPI_Send"],
            &["main>new.c:go MPI_Send"],
            &["app.c:step -> new.c:go, neighbours"],
        ),
        // Both of a chain: each has a neighbour that is known.
        (
            "a chain",
            &["main>step>halo MPI_Send"],
            &["main>go>swap MPI_Send"],
            &["app.c:halo -> app.c:swap, neighbours", "app.c:step -> app.c:go, neighbours"],
        ),
        // The middle one only after those around it.
        (
            "a long chain",
            &["main>a>b>c MPI_Send"],
            &["main>x>y>z MPI_Send"],
            &[
                "app.c:a -> app.c:x, neighbours",
                "app.c:b -> app.c:y, neighbours",
                "app.c:c -> app.c:z, neighbours",
            ],
        ),
        ("another callee", &["main>step MPI_Send"], &["main>go MPI_Isend"], &[]),
        ("one callee more", &["main>step MPI_Send"], &["main>go MPI_Send", "main>go MPI_Recv"], &[]),
        (
            "another caller",
            &["main>a>step MPI_Send", "main>b MPI_Recv"],
            &["main>b>go MPI_Send", "main>b MPI_Recv", "main>a MPI_Bcast"],
            &[],
        ),
        ("two candidates", &["main>step MPI_Send"], &["main>go MPI_Send", "main>run MPI_Send"], &[]),
        (
            "two for two",
            &["main>a MPI_Send", "main>b MPI_Send"],
            &["main>c MPI_Send", "main>d MPI_Send"],
            &[],
        ),
        (
            "one of two is told apart",
            &["main>a MPI_Send", "main>b MPI_Recv"],
            &["main>c MPI_Send", "main>d MPI_Recv"],
            &["app.c:a -> app.c:c, neighbours", "app.c:b -> app.c:d, neighbours"],
        ),
        ("gone", &["main>step MPI_Send", "main>out MPI_Bcast"], &["main>out MPI_Bcast"], &[]),
        ("another neighbour", &["step MPI_Send"], &["go MPI_Recv"], &[]),
        ("no neighbour is known", &["f>p MPI_Send", "f>q MPI_Send"], &["g>r MPI_Send", "g>s MPI_Send"], &[]),
        ("a neighbour is missing", &["main>f MPI_Send", "main>f>p MPI_Send"], &["main>g MPI_Send"], &[]),
    ];
    let list = |calls: &[&str]| {
        let calls = calls.iter().map(|call| format!("call 0 {call} 1 1 s 0\n"));
        format!("rank 0 10 s processor 10 s memory 1\n{}", calls.collect::<String>())
    };
    for (what, base, other, expected) in cases {
        assert_eq!(renamed(&list(base), &list(other)), expected, "{what}");
    }
}

#[test]
fn functions_that_only_samples_know_need_enough_of_them() {
    let list = |function: &str, samples: u32| {
        format!(
            "rank 0 10 s processor 10 s memory 1\ncall 0 main>step MPI_Send 1 1 s 0\nsample 0 main>step>{function} {samples} 1 s\n"
        )
    };
    let found =
        |base: (&str, u32), other: (&str, u32)| renamed(&list(base.0, base.1), &list(other.0, other.1));
    assert_eq!(found(("kernel", 20), ("force", 20)), ["app.c:kernel -> app.c:force, samples"]);
    assert!(found(("kernel", 19), ("force", 30)).is_empty());
    assert!(found(("kernel", 30), ("force", 19)).is_empty());
    assert!(found(("kernel", 30), ("other.c:force", 30)).is_empty());
    assert_eq!(found(("kernel", 3), ("other.c:kernel", 3)), ["app.c:kernel -> other.c:kernel, moved"]);
}

/// 20 ns more of computation: in which function, and whether anybody computed.
#[test]
fn computation_is_told_by_function_and_processor() {
    let run = |row: &str, kernel: i64, other: i64| {
        let text = format!("1 char = 10 ns\nw = source execute work output\n\na rank 0|{row}");
        let mut run = digest(&text);
        let function = |name: &str, time: i64| FunctionSums {
            function: FunctionName { name: name.to_owned(), file: "app.c".to_owned() },
            line: 7,
            samples: 30,
            time: Nanos(time),
            caller: None,
        };
        run.functions = vec![function("kernel", kernel), function("other", other)];
        run
    };
    let base = run("ww..", 10, 10);
    let found = |kernel, other| {
        let new = run("ww....", kernel, other);
        let comparison = compare(&base, &new);
        let [cause] = comparison.verdict.causes.as_slice() else { panic!("{:?}", comparison.verdict) };
        assert_eq!((cause.old, cause.new), (20.0, 40.0));
        let function = cause.function.map(|at| comparison.functions[at].function.name.clone());
        (function.unwrap_or_default(), cause.is_without_processor())
    };
    assert_eq!(found(30, 10), ("kernel".to_owned(), false));
    assert_eq!(found(10, 30), ("other".to_owned(), false));
    // 10 of 20 ns are half of it, 9 are not.
    assert_eq!(found(20, 10), ("kernel".to_owned(), false));
    assert_eq!(found(19, 10), (String::new(), true));
    assert_eq!(found(10, 5), (String::new(), true));
}

/// Where only some of the events were kept, their critical path is none of the run.
#[test]
fn a_part_of_the_events_is_no_critical_path() {
    let (file, text) = drawn().into_iter().find(|(file, _)| file == "longer-on-one-rank").unwrap();
    let [base, other, _] = parts(&text);
    let (base, mut other) = (digest(base), digest(other));
    assert!(compare(&base, &other).verdict.is_of_path, "{file}");
    other.explained.as_mut().unwrap().is_whole = false;
    let found = compare(&base, &other);
    assert!(!found.verdict.is_of_path);
    assert_eq!((found.path.len(), found.waits.len(), found.costs.len()), (0, 0, 0));
    // Own time of MPI_Barrier is 20 ns in the base and 40 ns, of two processes; of solve 80 and 100.
    let causes: Vec<_> = found.verdict.causes.iter().map(|cause| (cause.old, cause.new)).collect();
    assert_eq!(causes, [(10.0, 20.0), (40.0, 50.0)]);
}

/// Without events the profile tells: rank 0 and 1 have 3 s more each for the sends of step.
#[test]
fn sums_alone_tell_what_they_can() {
    let list = |seconds: u32| {
        format!(
            "rank 0 1{seconds} s processor 1 s memory 1\nrank 1 1{seconds} s processor 1 s memory 1\n\
             call 0 main>step MPI_Send 2 {seconds} s 8\ncall 1 main>step MPI_Send 2 {seconds} s 8\n"
        )
    };
    let (base, other) = (Digest::new(&Made::list(&list(2))), Digest::new(&Made::list(&list(5))));
    let comparison = compare(&base, &other);
    let verdict = &comparison.verdict;
    assert_eq!((verdict.direction, verdict.is_of_path, verdict.causes.len()), (Direction::Longer, false, 1));
    let cause = &verdict.causes[0];
    assert_eq!((cause.old, cause.new, cause.visits), (2e9, 5e9, Some((4.0, 4.0))));
    assert_eq!(cause.mean, (Some(1e9), Some(2.5e9)));
    assert!(comparison.path.is_empty());
}
