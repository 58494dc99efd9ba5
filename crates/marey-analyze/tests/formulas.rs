//! Expressions: values and errors of the table `formulas.txt`, which were worked out by hand.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod made;

use made::Made;
use marey_analyze::{Digest, Formula, NoValue, Of, QUANTITIES, Wrong};

/// The run of the table.
const RUN: &str = "\
    rank 0 10 s processor 8 s memory 1000
    rank 1 8 s processor 4 s memory 3000
    call 0 main>step MPI_Send 4 2 s 4000 longest 0.9 s
    call 0 main>step>check MPI_Barrier 1 1 s 0
    call 1 main>step MPI_Recv 4 3 s 4000
    sample 0 main>kernel 30 6 s
    message 0 1 4 4000
";

fn run() -> Digest {
    Digest::new(&Made::list(RUN))
}

#[test]
fn the_table_is_right() {
    let run = run();
    let table = include_str!("formulas.txt");
    let mut counts = [0; 3];
    for line in table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let (text, rest) = line.split_at(line.char_indices().nth(32).map_or(line.len(), |(at, _)| at));
        // Some expressions are longer than the column.
        let (text, rest) = match rest.chars().next() {
            Some('=' | '!') => (text, rest),
            _ => line.rsplit_once(" = ").map(|(a, b)| (a, &line[line.len() - b.len() - 2..])).unwrap(),
        };
        let text = text.trim_end();
        let (sign, expected) = rest.split_at(1);
        let expected = expected.trim();
        let read = Formula::parse(text);
        if sign == "!" {
            let (at, what) = expected.split_once(' ').unwrap();
            let error = read.expect_err(text);
            assert_eq!(error.at, at.parse::<usize>().unwrap(), "{text}: {error}");
            assert!(error.to_string().contains(what), "{text}: {error}");
            counts[2] += 1;
            continue;
        }
        let formula = read.unwrap_or_else(|error| panic!("{text}: {error} at {}", error.at));
        let value = formula.value(&run);
        if expected == "-" {
            assert!(value.is_err(), "{text}: {value:?}");
            counts[1] += 1;
        } else {
            let expected: f64 = expected.parse().unwrap();
            let value = value.unwrap_or_else(|why| panic!("{text}: {why}"));
            assert!((value - expected).abs() <= expected.abs() * 1e-12, "{text}: {value}");
            counts[0] += 1;
        }
    }
    // Values, no values, errors.
    assert_eq!(counts, [59, 9, 35]);
}

#[test]
fn reasons_of_no_value_are_told() {
    let reason = |text: &str| Formula::parse(text).unwrap().value(&run()).unwrap_err();
    assert_eq!(reason("2 + 1 / 0"), NoValue::DivisionByZero(6));
    assert_eq!(reason("waiting"), NoValue::NoEvents("waiting"));
    assert_eq!(reason("1 - heap_peak"), NoValue::NotMeasured("heap_peak"));
    assert_eq!(reason("1e300 * 1e300"), NoValue::TooLarge);
}

#[test]
fn nothing_is_nested_so_deeply_that_the_stack_overflows() {
    let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(Formula::parse(&deep).is_err());
    assert!(Formula::parse(&"-".repeat(100_000)).is_err());
    let wide = |more: usize| Formula::parse(&format!("1{}", " + 1".repeat(more)));
    assert_eq!(wide(2_000).unwrap().value(&run()), Ok(2001.0));
    // What stands to the left of an operator is one level further down.
    let error = wide(200_000).unwrap_err();
    assert_eq!((error.at, error.wrong), (8002, Wrong::TooLong));
}

#[test]
fn what_an_expression_is_follows_from_its_quantities() {
    let formula = |text: &str| Formula::parse(text).unwrap();
    for (text, exact, better, events) in [
        ("messages", true, false, false),
        ("message_bytes / messages", true, false, false),
        ("message_bytes / time", false, false, false),
        ("exact(allocated_bytes) / processes", true, false, false),
        ("parallel_efficiency", false, true, true),
        ("1 - parallel_efficiency", false, false, true),
        ("higher_is_better(message_bytes / time)", false, true, false),
        ("exact(higher_is_better(time))", true, true, false),
        ("region(\"a\").path_time", false, false, true),
    ] {
        let found = formula(text);
        assert_eq!(
            (found.is_exact(), found.is_higher_better(), found.needs_events()),
            (exact, better, events),
            "{text}"
        );
    }
    let unit = |text: &str| formula(text).unit().map(|unit| (unit.seconds, unit.bytes));
    assert_eq!(unit("time"), Some((1, 0)));
    assert_eq!(unit("mpi_time / time"), Some((0, 0)));
    assert_eq!(unit("bytes / time"), Some((-1, 1)));
    assert_eq!(unit("1 - load_balance"), Some((0, 0)));
    assert_eq!(unit("time + 1"), Some((1, 0)));
    assert_eq!(unit("time + bytes"), None);
}

#[test]
fn names_that_no_run_has_are_found_out() {
    let (one, other) = (
        run(),
        Digest::new(&Made::list("rank 0 1 s processor 1 s memory 1\ncall 0 main>go MPI_Wait 1 1 s 0")),
    );
    let unknown = |text: &str, runs: &[&Digest]| {
        let found = Formula::parse(text).unwrap().unknown_name(runs)?;
        Some((found.at, found.what, found.like))
    };
    assert_eq!(unknown("1 + region(\"MPI_Recv\").time", &[&one]), None);
    assert_eq!(
        unknown("1 + region(\"MPI_Rceive\").time", &[&one]),
        Some((11, "region", Some("MPI_Recv".to_owned())))
    );
    assert_eq!(unknown("region(\"MPI_Wait\").time", &[&one]), Some((7, "region", None)));
    // What one of them has is there.
    assert_eq!(unknown("region(\"MPI_Wait\").time", &[&one, &other]), None);
    assert_eq!(Formula::parse("region(\"MPI_Wait\").time").unwrap().value(&one), Ok(0.0));
    assert_eq!(
        unknown("function(\"stepp\").visits", &[&one]),
        Some((9, "function", Some("step".to_owned())))
    );
    assert_eq!(unknown("level(\"mpj\").visits", &[&one]), Some((6, "level", Some("mpi".to_owned()))));
    assert_eq!(unknown("rank(2).time", &[&one, &other]), Some((5, "rank", None)));
    assert_eq!(unknown("counter(\"cycles\")", &[&one]), Some((8, "counter", None)));
}

/// The names that `--context` takes.
#[test]
fn functions_are_named_with_parameters_and_what_they_are_in_or_without() {
    let run = Digest::new(&Made::list(
        "rank 0 1 s processor 1 s memory 1\ncall 0 main>a.cc:ns::work(int) MPI_Wait 3 1 s 0",
    ));
    for name in ["work", "ns::work", "ns::work(int)"] {
        let formula = Formula::parse(&format!("function(\"{name}\").visits")).unwrap();
        assert!(formula.unknown_name(&[&run]).is_none(), "{name}");
        assert_eq!(formula.value(&run), Ok(3.0), "{name}");
    }
    let other = Formula::parse("function(\"ns\").visits").unwrap();
    assert!(other.unknown_name(&[&run]).is_some());
}

/// Every quantity is told by the documentation, in the table of what it is of, with what is said of it there.
#[test]
fn the_documentation_names_every_quantity() {
    let document = include_str!("../../../docs/compare.md");
    let table = |heading: &str| {
        let from = document.find(heading).unwrap_or_else(|| panic!("{heading}"));
        let end = document[from..].find("\n\n").unwrap();
        &document[from..from + end]
    };
    for (of, heading) in [
        (Of::Run, "| quantity of a run"),
        (Of::Region, "| of `region(\"NAME\")`"),
        (Of::Level, "| of `level(\"NAME\")`"),
        (Of::Function, "| of `function(\"NAME\")`"),
        (Of::Rank, "| of `rank(N)`"),
    ] {
        let rows: Vec<(&str, &str, &str)> = table(heading)
            .lines()
            .skip(2)
            .map(|row| {
                let cells: Vec<&str> = row.split('|').map(str::trim).collect();
                let name = cells[1].split('`').nth(1).unwrap();
                (name.split('(').next().unwrap(), cells[1].rsplit('`').next().unwrap().trim(), cells[2])
            })
            .collect();
        let known: Vec<(&str, &str, &str)> = QUANTITIES
            .iter()
            .filter(|quantity| quantity.of == of)
            .map(|quantity| {
                let mark = match (quantity.is_exact, quantity.needs_events) {
                    (true, _) => "!",
                    (_, true) => "*",
                    _ => "",
                };
                let unit = match (quantity.unit.seconds, quantity.unit.bytes) {
                    (1, 0) => "s",
                    (0, 1) => "B",
                    _ => "",
                };
                (quantity.name, mark, unit)
            })
            .collect();
        assert_eq!(rows, known);
    }
}
