//! Coarray Fortran: components of coarrays, and coarrays without end.
//!
//! The program prints what its text means, from the addresses of its own part: these are the expected rows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::mpi_coarrays::accesses;
use crate::support::{Build, Compiler, Job, Mpi, Place, need, programs};

fn program(source: &str) -> Option<PathBuf> {
    if !Path::new("/usr/lib/x86_64-linux-gnu/libcaf_openmpi.so").exists() {
        return None;
    }
    let build = Build {
        mpi: Mpi::Open,
        compiler: Compiler::Fortran,
        sources: &[source],
        flags: &["-O1", "-fcoarray=lib", "-lcaf_openmpi"],
        output: source.trim_end_matches(".f90"),
    };
    build.path()
}

#[test]
fn elements_of_components_are_those_that_the_text_means() {
    let program = need!(program("components.f90"), "coarrays of Fortran for Open MPI");
    let place = Place::new();
    let run = Job::new(Mpi::Open, 2, &program).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let found = accesses(&run);
    let found: Vec<_> = found.iter().filter(|row| row.0 == "read").collect();
    let said = run.stdout();
    assert_eq!(found.len(), said.lines().count(), "{found:#?}");
    assert_eq!(found.len(), 19);
    for (line, (_, array, rank, bytes, offset, told)) in said.lines().zip(found) {
        let (name, numbers) = line.split_once(' ').unwrap();
        let numbers: Vec<i64> = numbers.split(' ').map(|number| number.parse().unwrap()).collect();
        let (&first, numbers) = numbers.split_first().unwrap();
        assert_eq!((array.as_str(), *rank, *offset), (name, 1, first), "{line}");
        // Elements by their places in memory, or by subscripts: first, step and number.
        let expected: Vec<(&str, i64, i64, i64)> = match name {
            "parts" => numbers.chunks(2).map(|it| ("elements", 0, it[0], it[1])).collect(),
            _ => numbers.chunks(3).map(|it| ("subscripts", it[0], it[1], it[2])).collect(),
        };
        let elements: i64 = expected.iter().map(|it| it.3).product();
        assert_eq!(bytes % elements, 0, "{line}: {bytes} bytes");
        let size = bytes / elements;
        let of_memory = |kind: &str, stride: i64| if kind == "elements" { stride * size } else { stride };
        let told: Vec<_> =
            told.iter().map(|it| (it.0.as_str(), it.1, of_memory(&it.0, it.2), it.3)).collect();
        let expected = if elements == 1 { Vec::new() } else { expected };
        assert_eq!(told, expected, "{line}");
        let size_of_type = match (name, first) {
            ("parts", 355) => 3,
            ("parts", 248) => 4,
            ("parts", _) => 8,
            _ => 4,
        };
        assert_eq!(size, size_of_type, "{line}");
    }
}

/// What the reader has of the same name is no measure of what is read.
#[test]
fn components_that_differ_from_image_to_image_are_told_with_what_was_moved() {
    let program = need!(program("components_differ.f90"), "coarrays of Fortran for Open MPI");
    let source = std::fs::read_to_string(programs().join("components_differ.f90")).unwrap();
    let line = |name: &str| {
        let at = source.lines().position(|line| line.ends_with(&format!("! {name}")));
        1 + at.unwrap() as u64
    };
    let place = Place::new();
    let run = Job::new(Mpi::Open, 3, &program).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let mut expected: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for said in run.stdout().lines() {
        let (name, elements) = said.trim().split_once(' ').unwrap();
        let sum = expected.entry(line(name)).or_default();
        *sum = (sum.0 + 1, sum.1 + 8 * elements.parse::<u64>().unwrap());
    }
    assert_eq!((expected.len(), expected[&line("alone")]), (9, (2, 2 * 20 * 8)));
    let mut found: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    let arrays = run.json("arrays");
    let statements =
        arrays["arrays"].as_array().unwrap().iter().flat_map(|it| it["statements"].as_array().unwrap());
    for it in statements.filter(|it| ["get", "send", "sendget"].contains(&it["verb"].as_str().unwrap())) {
        let sum = found.entry(it["line"].as_u64().unwrap()).or_default();
        *sum = (sum.0 + it["accesses"].as_u64().unwrap(), sum.1 + it["bytes"].as_u64().unwrap());
    }
    assert_eq!(found, expected, "{arrays:#}");
}

/// The library looks again and again, and sleeps meanwhile: that is not the program's work.
#[test]
fn alone_who_waits_for_a_lock_or_an_event_does_nothing_useful() {
    let program = need!(program("coarray_locks.f90"), "coarrays of Fortran for Open MPI");
    let place = Place::new();
    let run = Job::new(Mpi::Open, 2, &program).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let mut computed: BTreeMap<u64, f64> = BTreeMap::new();
    for line in run.stdout().lines() {
        let (image, time) = line.trim().split_once(' ').unwrap();
        computed.insert(image.parse().unwrap(), time.parse().unwrap());
    }
    let efficiency = run.json("report")["efficiency"].clone();
    let is_near = |name: &str, expected: f64| {
        let found = efficiency[name].as_f64().unwrap();
        assert!(
            (expected..expected * 1.1).contains(&found),
            "{name}: {found}, and the program says {computed:?}"
        );
    };
    is_near("largest_useful_ns", computed[&1]);
    is_near("mean_useful_ns", (computed[&1] + computed[&2]) / 2.0);
    assert_eq!(efficiency["busiest"], "rank 0");
}

#[test]
fn coarrays_that_are_made_without_end_are_counted_and_not_each_of_them_is_told() {
    let program = need!(program("coarrays_often.f90"), "coarrays of Fortran for Open MPI");
    let place = Place::new();
    let run = Job::new(Mpi::Open, 2, &program).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let arrays = run.json("arrays");
    let [a] = &arrays["arrays"].as_array().unwrap()[..] else { panic!("{arrays:#}") };
    assert_eq!((a["array"].as_str(), a["line"].as_u64()), (Some("a"), Some(4)), "{a:#}");
    assert_eq!(a["bounds"].to_string(), "[[1,4]]");
    // Made and given back by each image, and written to in the last ten steps.
    assert_eq!(a["instances"], 2 * 33_000);
    assert_eq!(a["managed"], 4 * 33_000);
    assert_eq!((a["accesses"].as_u64(), a["moved_bytes"].as_u64()), (Some(20), Some(80)));
    assert_eq!(a["remote"]["accesses"], 20);
    // Of each image, 2¹⁵ and one that stands for all others.
    let kinds = run.table("arrays");
    let coarrays = kinds.text("kind").unwrap().iter().filter(|kind| *kind == "coarray").count();
    assert_eq!(coarrays, 2 * ((1 << 15) + 1));
    let rows = accesses(&run);
    let written: Vec<_> = rows.iter().filter(|row| row.0 == "write").collect();
    assert!(written.len() == 20 && written.iter().all(|row| (row.3, row.4) == (4, 4)), "{written:?}");
}

#[test]
fn loops_around_calls_that_lead_to_a_statement_are_told_as_far_as_all_have_them_in_common() {
    let program = need!(program("nested_calls.f90"), "coarrays of Fortran for Open MPI");
    let place = Place::new();
    let run = Job::new(Mpi::Open, 2, &program).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let source = std::fs::read_to_string(programs().join("nested_calls.f90")).unwrap();
    let line = |text: &str| 1 + source.lines().position(|line| line.trim() == text).unwrap();
    // Each ends with the first `end do` behind it.
    let loop_at = |text: &str| {
        let first = line(text);
        (first, first + 1 + source.lines().skip(first).position(|line| line.trim() == "end do").unwrap())
    };
    let arrays = run.json("arrays");
    let [u] = &arrays["arrays"].as_array().unwrap()[..] else { panic!("{arrays:#}") };
    let at = |line: usize| {
        let mut rows = u["statements"].as_array().unwrap().iter();
        rows.find(|row| row["line"] == line && row["verb"] == "get").unwrap_or_else(|| panic!("{u:#}"))
    };
    let own = |row: &serde_json::Value| -> Vec<(usize, usize)> {
        let number =
            |row: &serde_json::Value, name: &str| usize::try_from(row[name].as_u64().unwrap()).unwrap();
        let rows = row.as_array().unwrap().iter();
        rows.map(|row| (number(row, "first_line"), number(row, "last_line"))).collect()
    };
    let inner = at(line("taken = u(i)[2]"));
    assert_eq!(inner["accesses"], 3 * 2 * 5);
    assert_eq!(own(&inner["loops"]), [loop_at("do i = 1, n")]);
    let callers = &inner["callers_loops"];
    assert_eq!(own(callers), [loop_at("do k = 1, 2"), loop_at("do step = 1, 3")], "{callers:#}");
    let functions: Vec<&str> =
        callers.as_array().unwrap().iter().map(|it| it["function"].as_str().unwrap()).collect();
    assert!(functions[0].contains("twice") && functions[1].contains("nested_calls"), "{functions:?}");
    // One of four visits is not in the main loop.
    let once = at(line("taken = u(n)[2]"));
    assert_eq!((once["accesses"].as_u64(), own(&once["loops"])), (Some(4), vec![]));
    assert_eq!(own(&once["callers_loops"]), [], "{once:#}");
    let table = run.text("arrays", &[]);
    let (k, step) = (loop_at("do k = 1, 2"), loop_at("do step = 1, 3"));
    let words = format!("{}–{} of steps::twice in {}–{} of nested_calls", k.0, k.1, step.0, step.1);
    assert!(table.contains(&words), "{words}: {table}");
}
