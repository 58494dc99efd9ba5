//! Windows of one-sided communication as collections of data: what each process gives to them and every access to them is
//! what programs say themselves, by formulas and by the addresses that they see.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, need, programs};

/// What a process gives to a window: name, address, bytes, unit.
type Part = (String, i64, i64, i64);
/// How it reaches into one: name, kind, rank of the target, bytes, offset, shape.
type Access = (String, String, i64, i64, i64, String);

/// What each rank says, in the order of its calls.
fn said(dir: &Path, ranks: u32) -> Vec<(Vec<Part>, Vec<Access>)> {
    let of = |rank: u32| {
        let text = std::fs::read_to_string(dir.join(format!("said.{rank}"))).unwrap();
        let (mut parts, mut accesses) = (Vec::new(), Vec::new());
        for line in text.lines() {
            let number = |text: &str| text.parse::<i64>().unwrap();
            match line.split('\t').collect::<Vec<_>>()[..] {
                ["part", name, address, bytes, unit] => {
                    parts.push((name.to_owned(), number(address), number(bytes), number(unit)));
                }
                ["access", name, kind, target, bytes, offset, shape] => {
                    let (name, kind, shape) = (name.to_owned(), kind.to_owned(), shape.to_owned());
                    accesses.push((name, kind, number(target), number(bytes), number(offset), shape));
                }
                _ => panic!("{line:?}"),
            }
        }
        (parts, accesses)
    };
    (0..ranks).map(of).collect()
}

/// The rows of `arrays` that are windows, of each process in the order in which they were made.
fn told_parts(run: &Run, ranks: u32) -> Vec<Vec<(usize, Part)>> {
    let (arrays, nouns) = (run.table("arrays"), run.table("nouns"));
    let number = |name: &str, row: usize| arrays.i64(name).unwrap()[row];
    let mut rows: Vec<usize> =
        (0..arrays.len()).filter(|row| arrays.text("kind").unwrap()[*row] == "window").collect();
    rows.sort_by_key(|row| (number("from", *row), *row));
    let part = |row: usize| {
        let name = nouns.text("name").unwrap()[arrays.u32("noun").unwrap()[row] as usize].clone();
        (row, (name, number("address", row), number("bytes", row), number("element_bytes", row)))
    };
    let of = |process: u32| {
        let own = rows.iter().filter(|row| arrays.u32("process").unwrap()[**row] == process);
        own.map(|row| part(*row)).collect()
    };
    (0..ranks).map(of).collect()
}

/// The sections that shapes mean, in bytes: `24:1 5:80` = five times 24, 80 bytes apart; `-` = side by side.
fn shapes(run: &Run) -> BTreeMap<u32, String> {
    let shapes = run.table("shapes");
    let mut found: BTreeMap<u32, String> = BTreeMap::new();
    for row in 0..shapes.len() {
        let number = |name: &str| shapes.i64(name).unwrap()[row];
        let text = found.entry(shapes.u32("id").unwrap()[row]).or_default();
        match shapes.text("kind").unwrap()[row].as_str() {
            "bytes" if text.is_empty() => *text = format!("{}:{}", number("count"), number("stride")),
            "bytes" => text.push_str(&format!(" {}:{}", number("count"), number("stride"))),
            kind => text.push_str(kind),
        }
    }
    found.insert(u32::MAX, "-".to_owned());
    found
}

/// The accesses that move data, of each process in their order, each with the row of `arrays`.
fn told_accesses(run: &Run, ranks: u32) -> Vec<Vec<(usize, Access)>> {
    let (rows, arrays, nouns) = (run.table("accesses"), run.table("arrays"), run.table("nouns"));
    let (shapes, locations) = (shapes(run), run.table("locations"));
    let mut found = vec![Vec::new(); ranks as usize];
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|row| rows.i64("time").unwrap()[*row]);
    for row in order {
        let kind = rows.text("kind").unwrap()[row].clone();
        if kind == "make" || kind == "free" {
            continue;
        }
        let array = rows.u32("array").unwrap()[row] as usize;
        let (peer, target) = (rows.u32("peer").unwrap()[row], rows.i64("target").unwrap()[row]);
        assert_eq!(arrays.u32("process").unwrap()[array], peer, "the part is the target's");
        assert_eq!(i64::from(peer), target, "processes stand in the order of their ranks");
        let name = nouns.text("name").unwrap()[arrays.u32("noun").unwrap()[array] as usize].clone();
        let number = |name: &str| rows.i64(name).unwrap()[row];
        let shape = shapes[&rows.u32("shape").unwrap()[row]].clone();
        let process = locations.u32("process").unwrap()[rows.u32("location").unwrap()[row] as usize];
        let access = (name, kind, target, number("bytes"), number("offset"), shape);
        found[process as usize].push((array, access));
    }
    found
}

/// All that a program says must be told, and nothing else.
fn check(mpi: Mpi, ranks: u32, compiler: Compiler, (source, flags): (&str, &[&str])) -> Option<(Run, Place)> {
    let mpi = need!(mpi.installed(), "{mpi:?}" => None);
    let build = Build { mpi, compiler, sources: &[source], flags, output: "windows" };
    let program = need!(build.path(), "a compiler for {}", source => None);
    let place = Place::new();
    let dir = place.dir("recorded");
    let run = Job::new(mpi, ranks, program).record(&dir);
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    run.expect_no_problems(&[]);
    let (parts, accesses) = (told_parts(&run, ranks), told_accesses(&run, ranks));
    let rma = run.table("rma");
    let named: Vec<u32> =
        rma.u32("target_array").unwrap().iter().copied().filter(|row| *row != u32::MAX).collect();
    for (rank, (said_parts, said_accesses)) in said(&dir, ranks).into_iter().enumerate() {
        let told: Vec<Part> = parts[rank].iter().map(|(_, part)| part.clone()).collect();
        assert_eq!(told, said_parts, "parts of rank {rank}");
        let told: Vec<Access> = accesses[rank].iter().map(|(_, access)| access.clone()).collect();
        assert_eq!(told, said_accesses, "accesses of rank {rank}");
    }
    assert_eq!(named.len(), accesses.iter().map(Vec::len).sum::<usize>());
    Some((run, place))
}

fn line_of(source: &str, text: &str) -> u64 {
    let all = std::fs::read_to_string(programs().join(source)).unwrap();
    1 + all.lines().position(|line| line.contains(text)).unwrap() as u64
}

/// Accesses and bytes of an array with the process itself and with others.
fn sums(arrays: &Value, name: &str) -> [(u64, u64); 2] {
    let mut all = arrays["arrays"].as_array().unwrap().iter();
    let array = all.find(|row| row["array"] == name).unwrap_or_else(|| panic!("no {name} in {arrays:#}"));
    ["local", "remote"].map(|of| {
        let number = |what: &str| array[of][what].as_u64().unwrap();
        (number("accesses"), number("bytes"))
    })
}

/// What the formulas of `windows.c` come to, by hand.
fn of_c(run: &Run, ranks: u64) {
    let arrays = run.json("arrays");
    // Of `u` rank r reads 2 + t elements of 8 bytes with each t, and writes three to itself.
    let all = |own: bool| -> u64 {
        let pairs = (0..ranks).flat_map(|r| (0..ranks).map(move |t| (r, t)));
        pairs.filter(|(r, t)| (r == t) == own).map(|(_, t)| 8 * (2 + t)).sum()
    };
    let others = ranks * (ranks - 1);
    let expected = [(ranks + 3 * ranks, all(true) + 24 * ranks), (others, all(false))];
    assert_eq!(sums(&arrays, "u"), expected);
    // Seven with rank 0, and one with the next.
    assert_eq!(
        sums(&arrays, "of_frame::counters"),
        [(7, 56), (7 * (ranks - 1) + ranks, 56 * (ranks - 1) + 8 * ranks)]
    );
    // With itself who is in the middle.
    let middle = ranks % 2;
    assert_eq!(sums(&arrays, "shared halo"), [(middle, 4 * middle), (ranks - middle, 4 * (ranks - middle))]);
    let array = arrays["arrays"].as_array().unwrap().iter().find(|it| it["array"] == "u").unwrap();
    assert_eq!((array["kind"].as_str(), array["instances"].as_u64()), (Some("window"), Some(4 * ranks)));
    let line = line_of("windows.c", "MPI_Get(got, 2 + t");
    let read = array["statements"].as_array().unwrap().iter().find(|it| it["line"] == line).unwrap();
    assert_eq!((read["verb"].as_str(), read["kind"].as_str()), (Some("MPI_Get"), Some("read")));
    assert_eq!(read["accesses"], ranks * ranks);
}

/// What is gone is another one than what is made at its address.
fn of_time(run: &Run, ranks: u32) {
    let arrays = run.table("arrays");
    let (from, until) = (arrays.i64("from").unwrap(), arrays.i64("until").unwrap());
    let (parts, accesses) = (told_parts(run, ranks), told_accesses(run, ranks));
    let of = |name: &str, parts: &[(usize, Part)]| -> Vec<usize> {
        parts.iter().filter(|(_, part)| part.0 == name).map(|(row, _)| *row).collect()
    };
    for (parts, accesses) in parts.iter().zip(&accesses) {
        let rows = of("u", parts);
        assert_eq!(rows.len(), 4);
        assert!(rows.windows(2).all(|pair| 0 < until[pair[0]] && until[pair[0]] <= from[pair[1]]));
        let written = accesses.iter().filter(|(_, it)| it.0 == "u" && it.1 == "write");
        assert_eq!(written.map(|(row, _)| *row).collect::<Vec<_>>(), rows[1..]);
        assert!(parts.iter().all(|(row, _)| from[*row] < until[*row]), "all are given back");
    }
    // What was attached twice, by those who reach it.
    let mut reached: Vec<usize> =
        accesses.iter().flatten().filter(|(_, it)| it.0 == "left").map(|(row, _)| *row).collect();
    let mut attached: Vec<usize> = parts.iter().flat_map(|parts| of("left", parts)).collect();
    reached.sort_unstable();
    attached.sort_unstable();
    assert_eq!(reached, attached);
}

#[test]
fn windows_of_c_are_what_the_program_says() {
    if let Some((run, _place)) = check(Mpi::Open, 3, Compiler::C, ("windows.c", &["-O1"])) {
        of_c(&run, 3);
        of_time(&run, 3);
    }
}

#[test]
fn windows_of_another_library_are_what_the_program_says() {
    if let Some((run, _place)) = check(Mpi::Mpich, 2, Compiler::C, ("windows.c", &["-O1"])) {
        of_c(&run, 2);
        of_time(&run, 2);
    }
}

#[test]
fn windows_of_fortran_are_what_the_program_says() {
    check(Mpi::Open, 3, Compiler::Fortran, ("windows.F90", &["-O0"]));
    check(Mpi::Open, 2, Compiler::Fortran, ("windows.F90", &["-O0", "-DOLD"]));
}
