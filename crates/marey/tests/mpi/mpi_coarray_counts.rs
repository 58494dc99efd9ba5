//! Coarray Fortran: operations that the program of `mpi_coarrays` leaves out, each as often as the text of another says.
//!
//! Expected rows are counted by hand from that text; each operation has a number of its own, so one that is taken for
//! another is seen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::mpi_coarray_sums::{expect_lines_agree, expect_mappings};
use crate::mpi_coarrays::{accesses, statements, visits};
use crate::support::{Build, Compiler, Job, Mpi, Place, need, programs};

fn program() -> Option<PathBuf> {
    if !Path::new("/usr/lib/x86_64-linux-gnu/libcaf_openmpi.so").exists() {
        return None;
    }
    let build = Build {
        mpi: Mpi::Open,
        compiler: Compiler::Fortran,
        sources: &["coarrays_all.f90"],
        // What a reduction calls lies beneath MPI then.
        flags: &["-O1", "-finstrument-functions", "-fcoarray=lib", "-lcaf_openmpi"],
        output: "coarrays_all",
    };
    build.path()
}

/// The line of the program that holds a text.
fn line_of(text: &str) -> u64 {
    let source = std::fs::read_to_string(programs().join("coarrays_all.f90")).unwrap();
    let at = source.lines().position(|line| line.contains(text));
    at.unwrap_or_else(|| panic!("no line has {text}")) as u64 + 1
}

const IMAGES: u64 = 3;

/// How often, and bytes, by verb, array and line.
fn by_array_and_line() -> BTreeMap<(String, String, u64), (u64, u64)> {
    [
        ("co_min", "low", "call co_min(low)", 2 * IMAGES, 6 * 4),
        ("co_max", "high", "call co_max", 3 * IMAGES, 5 * 8),
        ("co_reduce", "folded", "call co_reduce", 5 * IMAGES, 8),
        ("co_sum", "pair", "call co_sum", IMAGES, 2 * 4),
        ("atomic_define", "cell", "call atomic_define", 4, 4),
        ("atomic_cas", "cell", "call atomic_cas", 6, 4),
        ("atomic_ref", "cell", "call atomic_ref", IMAGES, 4),
        ("sendget", "low", "low(2:4)[2] = spare(5:7)", 11, 3 * 4),
        ("sendget", "spare", "low(2:4)[2] = spare(5:7)", 11, 3 * 4),
    ]
    .map(|(verb, array, text, times, bytes)| {
        ((verb.to_owned(), array.to_owned(), line_of(text)), (times, times * bytes))
    })
    .into()
}

#[test]
fn each_operation_of_coarrays_is_counted_by_verb_array_and_line() {
    let program = need!(program(), "coarrays of Fortran for Open MPI");
    let place = Place::new();
    let job = Job::new(Mpi::Open, 3, &program);
    let alone = job.plain(place.path());
    let run = job.record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    run.expect_no_problems(&["unmatched_sends"]);
    let sorted = |text: &str| -> Vec<String> {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    // Two images print.
    assert_eq!(sorted(&run.stdout()), sorted(&String::from_utf8(alone.stdout).unwrap()));
    let last = "low 1 sent 30 high 3 apart 2 folded 3 pair 6 own 1 seen 11 ready 3";
    assert_eq!(sorted(&run.stdout()), [last, "old 11"]);

    // By verb: what moves nothing, too.
    let mine: [(&str, u64); 20] = [
        ("co_min", (2 + 7) * IMAGES),
        ("co_max", 3 * IMAGES),
        ("co_reduce", 5 * IMAGES),
        ("co_sum", IMAGES),
        ("atomic_define", 4),
        ("atomic_cas", 6),
        ("atomic_ref", IMAGES),
        ("sync memory", 8 * IMAGES),
        ("event post", 3),
        ("event_query", 9),
        ("event wait", 1),
        ("sendget", 11),
        ("sync team", 10 * IMAGES),
        ("form team", IMAGES),
        ("change team", IMAGES),
        ("end team", IMAGES),
        ("sync all", 5 * IMAGES),
        ("allocate", 7 * IMAGES),
        ("initialise", IMAGES),
        ("finalise", IMAGES),
    ];
    let expected: BTreeMap<String, i64> =
        mine.iter().map(|(verb, visits)| ((*verb).to_owned(), visits.cast_signed())).collect();
    let [asked, implied] = visits(&run);
    assert_eq!(asked, expected);
    assert_eq!(implied, [("initialise".to_owned(), IMAGES.cast_signed())].into());

    // By array and line: how often, and bytes.
    let arrays = run.json("arrays");
    let mut found = statements(&arrays);
    found.retain(|(verb, ..), _| verb != "allocate");
    let found: BTreeMap<_, _> = found.iter().map(|(key, row)| (key.clone(), (row.0, row.1))).collect();
    assert_eq!(found, by_array_and_line());

    // What acts on no array is in no row of one, and what acts on two is in both.
    expect_lines_agree(&run, &arrays, &[("co_min", line_of("call co_min(own)"), 7 * IMAGES)]);

    // What the program's own functions do on another level, and what is done for that. `MPI_Allreduce` calls back: what the
    // program's function takes in it is not its own.
    let images = IMAGES.cast_signed();
    let mappings = [
        ("execute", "sync all", "implicit", 5 * images),
        ("execute", "allocate", "implicit", 7 * images),
        // Within the first allocation, which is of its own level.
        ("execute", "initialise (implied)", "implicit", images),
        ("co_reduce", "MPI_Allreduce", "explicit", 5 * images),
    ];
    expect_mappings(&run, &mappings);

    // What is done to the elements, with whom they lie (−1 = with all), and where they begin.
    let mut kinds: BTreeMap<(String, String, i64, i64), usize> = BTreeMap::new();
    for (kind, array, target, _, offset, _) in accesses(&run) {
        if kind != "make" {
            *kinds.entry((kind, array, target, offset)).or_default() += 1;
        }
    }
    let expected: BTreeMap<_, _> = [
        ("update", "low", -1, 0, 2 * 3),
        ("update", "folded", -1, 0, 5 * 3),
        ("update", "pair", -1, 4, 3),
        ("update", "high", -1, 8, 3 * 3),
        ("write", "cell", 1, 0, 4),
        ("update", "cell", 1, 0, 6),
        ("read", "cell", 1, 0, 3),
        ("write", "low", 1, 4, 11),
        ("read", "spare", 2, 16, 11),
    ]
    .map(|(kind, array, target, offset, times)| ((kind.to_owned(), array.to_owned(), target, offset), times))
    .into();
    assert_eq!(kinds, expected);

    // Which elements collectives act on, as the source has them.
    let section = |name: &str, verb: &str| {
        let array = arrays["arrays"].as_array().unwrap().iter().find(|it| it["array"] == name).unwrap();
        let row = array["statements"].as_array().unwrap().iter().find(|it| it["verb"] == verb).unwrap();
        row["sections"][0]["section"].clone()
    };
    assert_eq!(section("low", "co_min"), "low(1:6)");
    assert_eq!(section("high", "co_max"), "high(2, 1:5)");
    assert_eq!(section("folded", "co_reduce"), "folded");
    assert_eq!(section("pair", "co_sum"), "pair(2:3)");
}

/// The first access of each call path is known, and says what the others are, of which only visits and bytes are.
#[test]
fn what_was_only_counted_is_told_by_its_verb() {
    let program = need!(program(), "coarrays of Fortran for Open MPI");
    for options in [["--rule", "count coarray:*"], ["--mode", "profile"]] {
        let place = Place::new();
        let job = Job::new(Mpi::Open, 3, &program).option(options[0]).option(options[1]);
        let run = job.record(place.path());
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        let arrays = run.json("arrays");
        let mut found = statements(&arrays);
        found.retain(|(verb, ..), _| verb != "allocate");
        let found: BTreeMap<_, _> = found.iter().map(|(key, row)| (key.clone(), (row.0, row.1))).collect();
        assert_eq!(found, by_array_and_line(), "{options:?}");
        let kind = |verb: &str, name: &str| {
            let array = arrays["arrays"].as_array().unwrap().iter().find(|it| it["array"] == name).unwrap();
            let row = array["statements"].as_array().unwrap().iter().find(|it| it["verb"] == verb).unwrap();
            row["kind"].as_str().unwrap().to_owned()
        };
        let kinds = [("atomic_define", "cell"), ("atomic_ref", "cell"), ("sendget", "low")];
        assert_eq!(kinds.map(|(verb, name)| kind(verb, name)), ["write", "read", "write"], "{options:?}");
    }
}
