//! Parts of arrays that are selected, and sections with frequencies, of a program that says which elements it accesses.
//!
//! The accesses below are the loops of the program, written again; each selection is counted element by element.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, need, programs};

/// Extents of `u`, and of the part of `values` that an image has.
const N: i64 = 12;
const M: i64 = 8;
const BLOCK: i64 = 5;
/// Line with the vector of subscripts, of which only the least, the greatest and the number are told.
const VECTOR: &str = "three = u(subscripts, 5)[2]";

pub(crate) fn program() -> Option<PathBuf> {
    if !std::path::Path::new("/usr/lib/x86_64-linux-gnu/libcaf_openmpi.so").exists() {
        return None;
    }
    let build = Build {
        mpi: Mpi::Open,
        compiler: Compiler::Fortran,
        sources: &["sections.f90"],
        flags: &["-O1", "-fcoarray=lib", "-lcaf_openmpi"],
        output: "sections",
    };
    build.path()
}

pub(crate) fn line_of(text: &str) -> u64 {
    let source = std::fs::read_to_string(programs().join("sections.f90")).unwrap();
    let at =
        source.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("no line has {text}"));
    at as u64 + 1
}

/// One access to `u`: line, verb, images that ask and have it, and the elements.
struct Access {
    line: u64,
    verb: &'static str,
    from: i64,
    to: i64,
    elements: Vec<(i64, i64)>,
}

fn accesses() -> Vec<Access> {
    let mut all = Vec::new();
    let mut add = |text: &str, verb: &'static str, from: i64, to: i64, rows: Vec<i64>, columns: Vec<i64>| {
        let elements = columns.iter().flat_map(|j| rows.iter().map(move |i| (*i, *j))).collect();
        all.push(Access { line: line_of(text), verb, from, to, elements });
    };
    for j in 1..=M {
        add("column = u(:, j)[2]", "get", 1, 2, (1..=N).collect(), vec![j]);
        add("u(:, j)[3] = column", "send", 1, 3, (1..=N).collect(), vec![j]);
    }
    for j in (1..=N).step_by(2) {
        add("row = u(j, :)[3]", "get", 1, 3, vec![j], (1..=M).collect());
    }
    for j in 1..=4 {
        add("box = u(j:j + 3, j:j + 1)[2]", "get", 1, 2, (j..=j + 3).collect(), vec![j, j + 1]);
    }
    add("column(1:4) = u(10:1:-3, 5)[2]", "get", 1, 2, vec![10, 7, 4, 1], vec![5]);
    add(VECTOR, "get", 1, 2, vec![2, 11, 5], vec![5]);
    for j in 1..=8 {
        add("u(j, j)[2] = j", "send", 1, 2, vec![j], vec![j]);
    }
    add("column(1:3) = u(1:3, 1)[2]", "get", 2, 2, vec![1, 2, 3], vec![1]);
    all
}

fn arrays(run: &Run, options: &[&str]) -> Value {
    serde_json::from_str(&run.text("arrays", &[options, &["--json"]].concat())).unwrap()
}

/// Accesses, bytes, selected elements and all elements.
fn sum(of: &Value) -> [u64; 4] {
    ["accesses", "bytes", "selected_elements", "elements"].map(|name| of[name].as_u64().unwrap())
}

#[test]
fn a_selection_costs_what_accesses_to_its_elements_cost() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let program = need!(program(), "coarrays of Fortran for Open MPI");
    let place = Place::new();
    let run = Job::new(mpi, 3, &program).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    // Written as the source has it, rows and columns, and images.
    type Selection<'s> = (&'s str, (i64, i64), (i64, i64), &'s [i64]);
    let selections: [Selection<'_>; 7] = [
        ("u(1:10, 5)[2:3]", (1, 10), (5, 5), &[2, 3]),
        ("u(:, 3:4)", (1, N), (3, 4), &[1, 2, 3]),
        ("U(7:, 1)[3]", (7, N), (1, 1), &[3]),
        ("u(4,4)[2]", (4, 4), (4, 4), &[2]),
        ("u(2:11, 5)", (2, 11), (5, 5), &[1, 2, 3]),
        ("u(12, 8)[1, 3]", (12, 12), (8, 8), &[1, 3]),
        ("u", (1, N), (1, M), &[1, 2, 3]),
    ];
    for (text, rows, columns, images) in selections {
        let told = arrays(&run, &["--section", text]);
        assert_eq!([&told["section"], &told["not_kept"]], [&json!([rows, columns]), &json!(0)], "{text}");
        // Each image has all of both dimensions, so it fits as it is.
        assert_eq!(
            [&told["snapped"], &told["distributed"]],
            [&told["section"], &json!([false, false])],
            "{text}"
        );
        let parts: Vec<i64> = told["parts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|part| part["process"].as_i64().unwrap() + 1)
            .collect();
        assert_eq!(parts, images, "{text}");
        assert!(
            told["parts"].as_array().unwrap().iter().all(|part| part["bounds"] == json!([[1, N], [1, M]]))
        );
        let mut lines: BTreeMap<(u64, &str), [u64; 4]> = BTreeMap::new();
        let mut sides: BTreeMap<(i64, &str), u64> = BTreeMap::new();
        let vector = line_of(VECTOR);
        for access in accesses().iter().filter(|access| images.contains(&access.to)) {
            let is_in =
                |(i, j): &&(i64, i64)| rows.0 <= *i && *i <= rows.1 && columns.0 <= *j && *j <= columns.1;
            let selected = access.elements.iter().filter(is_in).count() as u64;
            if selected == 0 || access.line == vector {
                continue;
            }
            let number = access.elements.len() as u64;
            let line = lines.entry((access.line, access.verb)).or_default();
            for (all, more) in line.iter_mut().zip([1, 8 * number, selected, number]) {
                *all += more;
            }
            let side = if access.from == access.to { "local" } else { "remote" };
            *sides.entry((access.from - 1, side)).or_default() += 1;
            if side == "remote" {
                *sides.entry((access.to - 1, "asked")).or_default() += 1;
            }
        }
        // Of 2, 11 and 5 the least and the greatest are told.
        let of_vector = told["statements"].as_array().unwrap().iter().find(|row| row["line"] == vector);
        let in_vector = [2, 11, 5].iter().filter(|i| rows.0 <= **i && **i <= rows.1).count() as u64;
        let in_vector = if columns.0 <= 5 && 5 <= columns.1 && images.contains(&2) { in_vector } else { 0 };
        let sure = of_vector.map_or(0, |row| row["selected_elements"].as_u64().unwrap());
        let perhaps = of_vector.map_or(0, |row| row["perhaps"]["selected_elements"].as_u64().unwrap());
        assert!(sure <= in_vector && in_vector <= sure + perhaps, "{text}: {of_vector:?}");
        assert_eq!(perhaps, if text == "u(1:10, 5)[2:3]" { 1 } else { 0 }, "{text}");
        let found: BTreeMap<(u64, &str), [u64; 4]> = told["statements"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["line"] != vector)
            .map(|row| ((row["line"].as_u64().unwrap(), row["verb"].as_str().unwrap()), sum(row)))
            .collect();
        assert_eq!(found, lines, "{text}");
        // The parts add up to the whole, and so does time.
        let statements = told["statements"].as_array().unwrap();
        let mut total = [0; 4];
        statements.iter().for_each(|row| total.iter_mut().zip(sum(row)).for_each(|(all, more)| *all += more));
        assert_eq!(sum(&told["total"]), total, "{text}");
        let time: i64 = statements.iter().map(|row| row["time_ns"].as_i64().unwrap()).sum();
        assert_eq!(told["total"]["time_ns"], time, "{text}");
        let mut found: BTreeMap<(i64, &str), u64> = BTreeMap::new();
        for row in told["by_process"].as_array().unwrap() {
            for side in ["local", "remote", "asked"] {
                let number = row[side]["accesses"].as_u64().unwrap();
                if number > 0 {
                    found.insert((row["process"].as_i64().unwrap(), side), number);
                }
            }
        }
        if sure > 0 {
            *sides.entry((0, "remote")).or_default() += 1;
            *sides.entry((1, "asked")).or_default() += 1;
        }
        assert_eq!(found, sides, "{text}");
    }
    all_of_it_is_what_the_array_costs(&run);
    both_ways_of_writing_are_one(&run);
    blocks_snap(&run);
    sections(&run);
    what_is_wrong_is_told(&run);
}

/// With all elements selected, statements are those of the table of the array, to the nanosecond.
fn all_of_it_is_what_the_array_costs(run: &Run) {
    let all = arrays(run, &["--array", "u"]);
    let rows = |of: &Value| -> BTreeMap<(u64, String), [i64; 3]> {
        let rows =
            of.as_array().unwrap().iter().filter(|row| row["kind"] == "read" || row["kind"] == "write");
        let key = |row: &Value| (row["line"].as_u64().unwrap(), row["verb"].as_str().unwrap().to_owned());
        let numbers = |row: &Value| ["accesses", "bytes", "time_ns"].map(|name| row[name].as_i64().unwrap());
        rows.map(|row| (key(row), numbers(row))).collect()
    };
    let selected = arrays(run, &["--section", "u(:,:)"]);
    assert_eq!(rows(&selected["statements"]), rows(&all["arrays"][0]["statements"]));
    assert!(rows(&selected["statements"]).values().all(|row| row[2] > 0));
}

fn both_ways_of_writing_are_one(run: &Run) {
    let fortran = arrays(run, &["--section", "u(1:10, 5)[2:3]"]);
    assert_eq!(arrays(run, &["--array", "u", "--section", "1:10,5", "--on", "2,3"]), fortran);
    assert_eq!(arrays(run, &["--array", "u", "--section", "(:10,5)", "--on", "2:3"]), fortran);
    let text = run.text("arrays", &["--section", "u(1:10, 5)[2:3]"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "u(1:10, 5)[2:3]",
        "It lies with images 2 to 3 (ranks 1 to 2), each of which has u(1:12, 1:8).",
        "It fits the distribution as it is.",
        "11 of 37 accesses to u mean 35 elements of it, of 80 in all",
        "1 more element perhaps, by a vector of subscripts",
    ] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
}

/// Image 1 has 1:5 of the components, image 2 has 6:10, image 3 has 11:15; image 1 reads 6:8, 9:10 and 12:14.
fn blocks_snap(run: &Run) {
    let read = [(6, 8), (9, 10), (12, 14)];
    let block = |image: i64| (1 + (image - 1) * BLOCK, image * BLOCK);
    // What is asked for, how, and what becomes of it: pieces by image.
    type Row<'r> = (&'r str, &'r str, Vec<(i64, (i64, i64))>);
    let rows: [Row<'_>; 5] = [
        ("parts%values(8:12)", "expand", vec![(2, block(2)), (3, block(3))]),
        ("parts%values(8:12)", "none", vec![(2, (8, 10)), (3, (11, 12))]),
        ("parts%values(6:12)", "shrink", vec![(2, block(2))]),
        ("parts[3]%values(8:12)", "expand", vec![(3, block(3))]),
        ("parts%values(9:9)", "none", vec![(2, (9, 9))]),
    ];
    for (text, snap, pieces) in rows {
        let told = arrays(run, &["--section", text, "--snap", snap]);
        assert_eq!(told["distributed"], json!([true]));
        let found: Vec<(i64, (i64, i64))> = told["parts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|part| {
                let image = part["process"].as_i64().unwrap() + 1;
                assert_eq!(part["bounds"], json!([block(image)]));
                let selected = &part["selected"][0];
                (image, (selected[0].as_i64().unwrap(), selected[1].as_i64().unwrap()))
            })
            .collect();
        assert_eq!(found, pieces, "{text} {snap}");
        let mut expected = [0; 4];
        for (lower, upper) in read {
            let of = |&&(image, _): &&(i64, (i64, i64))| block(image).0 <= lower && upper <= block(image).1;
            let piece = pieces.iter().find(of).map_or((1, 0), |(_, piece)| *piece);
            let selected = (lower..=upper).filter(|at| piece.0 <= *at && *at <= piece.1).count() as u64;
            let number = (upper - lower + 1) as u64;
            if selected > 0 {
                expected
                    .iter_mut()
                    .zip([1, 8 * number, selected, number])
                    .for_each(|(all, more)| *all += more);
            }
        }
        assert_eq!(sum(&told["total"]), expected, "{text} {snap}");
    }
}

fn sections(run: &Run) {
    let expected = [
        ("column = u(:, j)[2]", "u(1:12, j), j = 1…8", 8, 8 * 12),
        ("u(:, j)[3] = column", "u(1:12, j), j = 1…8", 8, 8 * 12),
        ("row = u(j, :)[3]", "u(i, 1:8), i = 1…11 by 2", 6, 6 * 8),
        ("box = u(j:j + 3, j:j + 1)[2]", "u(i:i+3, j:j+1), i = 1…4, j = 1…4", 4, 4 * 8),
        ("column(1:4) = u(10:1:-3, 5)[2]", "u(10:1:-3, 5)", 1, 4),
        (VECTOR, "u(3 of 2:11, 5)", 1, 3),
        ("u(j, j)[2] = j", "u(i, j), i = 1…8, j = 1…8", 8, 8),
        ("column(1:3) = u(1:3, 1)[2]", "u(1:3, 1)", 1, 3),
        ("three = parts[2]%values(6:8)", "parts%values(6:8)", 1, 3),
        ("three(1:2) = parts[2]%values(9:10)", "parts%values(9:10)", 1, 2),
        ("three = parts[3]%values(12:14)", "parts%values(12:14)", 1, 3),
    ];
    let all = arrays(run, &[]);
    let mut found = BTreeMap::new();
    for statement in
        all["arrays"].as_array().unwrap().iter().flat_map(|it| it["statements"].as_array().unwrap())
    {
        let Some(rows) = statement["sections"].as_array() else { continue };
        let accesses: u64 = rows.iter().map(|row| row["accesses"].as_u64().unwrap()).sum();
        let time: i64 = rows.iter().map(|row| row["time_ns"].as_i64().unwrap()).sum();
        assert_eq!((&statement["accesses"], &statement["time_ns"]), (&json!(accesses), &json!(time)));
        for row in rows {
            let numbers = (row["accesses"].as_u64().unwrap(), row["elements"].as_u64().unwrap());
            let section = row["section"].as_str().unwrap().to_owned();
            assert!(found.insert((statement["line"].as_u64().unwrap(), section), numbers).is_none());
        }
    }
    let expected: BTreeMap<(u64, String), (u64, u64)> = expected
        .into_iter()
        .map(|(text, section, accesses, elements)| {
            ((line_of(text), section.to_owned()), (accesses, elements))
        })
        .collect();
    assert_eq!(found, expected);
    let text = run.text("arrays", &["--by", "section", "--array", "u"]);
    let row = text.lines().find(|line| line.contains("i = 1…11 by 2")).unwrap();
    assert!(row.contains(&format!("sections.f90:{}", line_of("row = u(j, :)[3]"))), "{row}");
    // Of a selection, the sections of what means elements of it.
    let some = run.text("arrays", &["--by", "section", "--section", "u(9:, 1:8)[2]"]);
    assert!(some.contains("u(10:1:-3, 5)") && !some.contains("i:i+3"), "{some}");
}

fn marey(run: &Run, options: &[&str]) -> Output {
    let path = run.path().to_str().unwrap();
    Command::new(env!("CARGO_BIN_EXE_marey")).args(["arrays", path]).args(options).output().unwrap()
}

fn what_is_wrong_is_told(run: &Run) {
    let rows: [(&[&str], &str); 13] = [
        (&["--section", "u(1:3)"], "u(1:12, 1:8): it has 2 dimensions, one is selected"),
        (&["--section", "u(1:13, 2)"], "1:13 in dimension 1 is beyond its bounds, 1:12"),
        (&["--section", "u(3:2, 2)"], "3:2 in dimension 1 is empty"),
        (&["--section", "u(1:9:2, 2)"], "`1:9:2` has a step"),
        (&["--section", "u(1:9, 2)[4]"], "there is no image 4: the run has 3"),
        (&["--section", "u(1:9, 2)[1]", "--on", "2"], "say them once"),
        (&["--section", "1:9,2"], "of which array?"),
        (&["--section", "w(1:9)"], "there is no array w; there are"),
        (&["--section", "u(1,1)", "--array", "parts"], "--array says parts, and --section u"),
        (&["--section", "parts%values(7:9)", "--snap", "shrink"], "it holds no part as a whole"),
        (&["--section", "parts%values(7:9)", "--on", "1"], "none of the processes has elements there"),
        (&["--snap", "none"], "select with --section or --on"),
        (&["--section", "u", "--by", "array"], "--by line, process or section"),
    ];
    for (options, words) in rows {
        let output = marey(run, options);
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}: {told}");
        assert!(told.contains(words), "{options:?}: {told}");
        assert!(output.stdout.is_empty());
    }
}

/// Of accesses that were only counted it is said how many they are; nothing else is made of them.
#[test]
fn a_run_with_sums_says_of_how_many_accesses_it_knows_no_elements() {
    const STEPS: u64 = 4;
    const PER_IMAGE: u64 = 20_000;
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    need!(program(), "coarrays of Fortran for Open MPI");
    let place = Place::new();
    let source = include_str!("../../../../examples/coarray/misaligned.f90");
    let short = source.replace("per_image = 250000", &format!("per_image = {PER_IMAGE}"));
    assert_ne!(short, source);
    std::fs::write(place.path().join("misaligned.f90"), short).unwrap();
    let words = ["f90", "--compiler", "mpif90.openmpi", "-g", "misaligned.f90", "-o", "misaligned"];
    let built =
        Command::new(env!("CARGO_BIN_EXE_marey")).args(words).current_dir(place.path()).status().unwrap();
    assert!(built.success());
    let run =
        Job::new(mpi, 2, place.path().join("misaligned")).option("--mode=profile").record(&place.dir("of"));
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let told = arrays(&run, &["--section", "b(:)"]);
    let (kept, rest) = (sum(&told["total"])[0], told["not_kept"].as_u64().unwrap());
    assert!(rest > 0, "{told:#}");
    assert_eq!(kept + rest, 2 * STEPS * PER_IMAGE);
    for options in [&["--section", "b(:)"][..], &["--by", "section"]] {
        let output = marey(&run, options);
        assert_eq!(output.status.code(), Some(0));
        let text = String::from_utf8(output.stdout).unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("more accesses were only counted"), "{text}");
    }
}

/// With sums only, arrays have what single accesses come to, though nobody knows then where they lead to.
#[test]
fn what_was_only_counted_is_in_the_sums_of_arrays() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let program = need!(program(), "coarrays of Fortran for Open MPI");
    let sums = |options: &[&str]| {
        let place = Place::new();
        let job = options.iter().fold(Job::new(mpi, 3, &program), |job, option| job.option(option));
        let run = job.record(place.path());
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        let told = arrays(&run, &[]);
        let of = |row: &Value| {
            let statements = row["statements"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|it| it["kind"] != "make" && it["kind"] != "free");
            let mut lines: Vec<String> = statements
                .map(|it| format!("{} {} {} {}", it["line"], it["verb"], it["accesses"], it["bytes"]))
                .collect();
            lines.sort();
            (row["array"].to_string(), row["accesses"].as_u64(), row["moved_bytes"].as_u64(), lines)
        };
        let rows = told["arrays"].as_array().unwrap();
        let counted: u64 = rows.iter().map(|row| row["counted"]["accesses"].as_u64().unwrap()).sum();
        let local = |row: &Value| {
            row["local"]["accesses"].as_u64().unwrap() + row["remote"]["accesses"].as_u64().unwrap()
        };
        let led: u64 = rows.iter().map(local).sum();
        let mut rows: Vec<_> = rows.iter().map(of).collect();
        rows.sort();
        (rows, counted, led)
    };
    let (each, none, led) = sums(&[]);
    let (counted, all, unknown) = sums(&["--rule", "count *"]);
    assert_eq!((none, all + unknown), (0, led));
    assert!(unknown < all, "{unknown} and {all}");
    assert_eq!(counted, each);
}

/// Subscripts that are too many to be told, none at all, and an atomic operation on a component; calls that take so long that
/// a slab ends before they do.
#[test]
fn long_and_empty_lists_of_subscripts_are_told_as_what_they_are() {
    let build = Build {
        mpi: Mpi::Open,
        compiler: Compiler::Fortran,
        sources: &["long_lists.f90"],
        flags: &["-O1", "-fcoarray=lib", "-lcaf_openmpi"],
        output: "long_lists",
    };
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    need!(program(), "coarrays of Fortran for Open MPI");
    let place = Place::new();
    let run = Job::new(mpi, 2, build.path().unwrap()).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    assert_eq!(String::from_utf8_lossy(&run.output.stdout).trim(), "sum 9 0");
    let told = arrays(&run, &[]);
    let sections = |name: &str| {
        let array = told["arrays"].as_array().unwrap().iter().find(|it| it["array"] == name).unwrap();
        let statements =
            array["statements"].as_array().unwrap().iter().filter(|it| !it["sections"].is_null());
        let of = |it: &Value| {
            let rows = it["sections"].as_array().unwrap();
            assert_eq!(rows.len(), 1, "{rows:#?}");
            // What single accesses take is what the sum of all does.
            assert_eq!(rows[0]["time_ns"], it["time_ns"]);
            let numbers = ["accesses", "elements", "bytes"].map(|of| rows[0][of].as_u64().unwrap());
            (rows[0]["section"].as_str().unwrap().to_owned(), numbers)
        };
        let mut rows: Vec<_> = statements.map(of).collect();
        rows.sort();
        rows
    };
    // By two images, each with the other; integers of four bytes.
    let long = ("u, not told which elements".to_owned(), [2, 140_000, 560_000]);
    assert_eq!(sections("u"), [("u(none)".to_owned(), [2, 0, 0]), long]);
    assert_eq!(sections("c"), [("c".to_owned(), [18, 18, 72])]);
    let part = arrays(&run, &["--section", "u(1:10)"]);
    assert_eq!((sum(&part["total"]), &part["total"]["perhaps"]["accesses"]), ([0; 4], &json!(2)), "{part:#}");
}

/// Line of `symbols.f90`, expression, what it says, and what it is worth on an image, access by access.
type Told = (u64, &'static str, &'static str, fn(i64) -> Vec<i64>);

fn expected_symbols() -> Vec<Told> {
    let next: fn(i64) -> Vec<i64> = |me| vec![me % 3 + 1];
    vec![
        (13, "lo", "lower", |_| (1..=10).map(|i| (i + 1) / 2).collect()),
        (13, "lo + 3", "upper", |_| (1..=10).map(|i| (i + 1) / 2 + 3).collect()),
        (13, "next", "image", |me| vec![me % 3 + 1; 10]),
        (16, "i - 9", "subscript", |_| vec![2]),
        (16, "next", "image", next),
        (16, "i - 6", "subscript", |_| vec![5]),
        (16, "next", "image", next),
        (20, "lo", "lower", |_| vec![5]),
        (20, "me + 4", "step", |me| vec![me + 4]),
        (23, "mod(i, 8) + 1", "subscript", |_| (1..=60).map(|i| i % 8 + 1).collect()),
        (23, "next", "image", |me| vec![me % 3 + 1; 60]),
    ]
}

#[test]
fn symbols_are_worth_what_the_program_makes_of_them_and_are_kept_when_that_changes() {
    let build = Build {
        mpi: Mpi::Open,
        compiler: Compiler::Fortran,
        sources: &["symbols.f90"],
        flags: &["-O1", "-fcoarray=lib", "-lcaf_openmpi"],
        output: "symbols",
    };
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    need!(program(), "coarrays of Fortran for Open MPI");
    let place = Place::new();
    let run = Job::new(mpi, 3, build.path().unwrap()).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let told = arrays(&run, &[]);
    let symbols = told["symbols"].as_array().unwrap();
    let expected = expected_symbols();
    assert_eq!(symbols.len(), expected.len(), "{symbols:#?}");
    for (symbol, (line, text, end, worth)) in symbols.iter().zip(&expected) {
        let is = (symbol["line"].as_u64().unwrap(), symbol["symbol"].as_str().unwrap());
        assert_eq!((is, symbol["end"].as_str().unwrap()), ((*line, *text), *end));
        // One location an image, in the order of images.
        let locations = symbol["locations"].as_array().unwrap();
        assert_eq!(locations.len(), 3, "{symbol:#}");
        let mut found: Vec<_> = locations.iter().map(rows_of).collect();
        let mut wanted: Vec<_> = (1..=3).map(|me| changes_of(&worth(me))).collect();
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "line {line}, {text}");
        let all: Vec<i64> = (1..=3).flat_map(worth).collect();
        let span = (symbol["least"].as_i64(), symbol["greatest"].as_i64());
        assert_eq!(span, (all.iter().min().copied(), all.iter().max().copied()));
        assert_eq!(symbol["accesses"].as_u64().unwrap(), all.len() as u64);
    }
    let table = marey(&run, &["--by", "symbol"]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("lower of subscript 1"), "{table}");
    // Nothing tells the two references of the line apart.
    assert!(!table.contains("symbols.f90:18"), "{table}");
}

/// Least, greatest, changes and accesses of each row; that times go on is asserted.
fn rows_of(location: &Value) -> Vec<[i64; 4]> {
    let rows = location["values"].as_array().unwrap();
    let from: Vec<i64> = rows.iter().map(|row| row["from_ns"].as_i64().unwrap()).collect();
    assert!(from.windows(2).all(|two| two[0] < two[1]), "{from:?}");
    let of = |row: &Value| ["least", "greatest", "changes", "accesses"].map(|it| row[it].as_i64().unwrap());
    rows.iter().map(of).collect()
}

/// The same from what it is worth access by access: a row a change, the 32nd with all that follows.
fn changes_of(worth: &[i64]) -> Vec<[i64; 4]> {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for value in worth {
        match runs.last_mut() {
            Some((last, times)) if last == value => *times += 1,
            _ => runs.push((*value, 1)),
        }
    }
    let rest = runs.split_off(runs.len().min(31));
    let mut rows: Vec<_> = runs.iter().map(|(value, times)| [*value, *value, 1, *times]).collect();
    if let (Some(least), Some(greatest)) =
        (rest.iter().map(|it| it.0).min(), rest.iter().map(|it| it.0).max())
    {
        rows.push([least, greatest, rest.len() as i64, rest.iter().map(|it| it.1).sum()]);
    }
    rows
}
