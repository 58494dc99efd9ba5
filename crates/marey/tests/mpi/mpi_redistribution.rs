//! Data that is laid out otherwise, of programs whose sources say how much of it is moved, and that take the time themselves.

use serde_json::{Value, json};

use crate::mpi_sections::program;
use crate::mpi_view::look_for;
use crate::support::{Build, Compiler, Job, Mpi, Place, Run, need};

const RANKS: u64 = 4;

/// What is redistributed: by what, verb, from, to, times and bytes; and times by the place in the list.
fn redistributed(run: &Run) -> (Vec<Value>, Vec<Option<f64>>) {
    let told: Value = serde_json::from_str(&run.text("arrays", &["--json"])).unwrap();
    let rows = told["redistributions"].as_array().unwrap();
    let of =
        |row: &Value| json!(["by", "verb", "from", "to", "times", "bytes"].map(|name| row[name].clone()));
    (rows.iter().map(of).collect(), rows.iter().map(|row| row["time_ns"].as_f64()).collect())
}

#[test]
fn what_each_rank_sends_to_each_is_redistributed() {
    const STEPS: u64 = 5;
    const BLOCK: u64 = 100;
    let build = Build {
        mpi: Mpi::Open,
        compiler: Compiler::C,
        sources: &["redistributed.c"],
        flags: &["-g", "-O1"],
        output: "redistributed",
    };
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let place = Place::new();
    let run = Job::new(mpi, 4, build.path().unwrap()).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let (rows, times) = redistributed(&run);
    let counts: u64 = (1..=RANKS).sum();
    let expected = [
        json!(["collective", "MPI_Alltoall", "rows", "columns", STEPS, STEPS * RANKS * RANKS * BLOCK * 8]),
        json!(["collective", "MPI_Ialltoallv", "columns", "rows", STEPS, STEPS * RANKS * counts * 8]),
        // Two operations at once, each from one part of `pipe` to another, and one wait for both.
        json!([
            "collective",
            "MPI_Ialltoall",
            "pipe",
            "pipe",
            2 * STEPS,
            2 * STEPS * RANKS * RANKS * BLOCK * 8
        ]),
        json!([
            "messages",
            "",
            "by_hand",
            "transposed",
            STEPS * RANKS * RANKS,
            STEPS * RANKS * RANKS * BLOCK * 4
        ]),
    ];
    assert_eq!(rows.len(), expected.len(), "{rows:#?}");
    let printed = String::from_utf8(run.output.stdout.clone()).unwrap();
    let clocked: Vec<f64> = printed.split_whitespace().map(|word| word.parse().unwrap()).collect();
    for (nth, wanted) in expected.iter().enumerate() {
        let at = rows.iter().position(|row| row == wanted);
        let at = at.unwrap_or_else(|| panic!("{wanted} is not among {rows:#?}"));
        match clocked.get(nth) {
            // What lies around the call is the program's: its clock, and what a preempted thread waits for.
            Some(clocked) => {
                let time = times[at].unwrap();
                assert!(
                    (0.9..=1.0).contains(&(time / clocked)),
                    "{wanted}: {time} ns, and the program saw {clocked}"
                );
            }
            None => assert_eq!(times[at], None),
        }
    }
    // A datum of messages is no array of the language, and asked for all the same.
    let of = |name: &str| run.text("arrays", &["--by", "redistribution", "--array", name]);
    assert!(of("by_hand").contains("by_hand → transposed") && !of("by_hand").contains("MPI_Alltoall"));
    // By where it is declared; other tables go by the name.
    let of = |array: &str| -> Value {
        serde_json::from_str(&run.text("arrays", &["--array", array, "--json"])).unwrap()
    };
    let (there, by_name) = (of("Rows@redistributed.c:11"), of("rows"));
    assert_eq!(there["arrays"][0]["array"], "rows");
    assert_eq!(there["redistributions"].as_array().unwrap().len(), 2);
    assert_eq!(there, by_name);
    let page = run.text("arrays", &["--by", "redistribution", "--array", "rows@redistributed.c:11"]);
    assert!(page.contains("rows → columns") && !page.contains("by_hand"), "{page}");
    let mut elsewhere = std::process::Command::new(env!("CARGO_BIN_EXE_marey"));
    elsewhere.arg("arrays").arg(run.path()).args(["--by", "redistribution", "--array", "rows@nowhere.c:9"]);
    assert_eq!(elsewhere.output().unwrap().status.code(), Some(2));
    let page = run.text("arrays", &["--by", "redistribution"]);
    assert!(page.contains("rows → columns") && page.contains("by_hand → transposed"), "{page}");
    assert!(!page.contains("halo"), "{page}");
    seen_in_the_browser(&run, STEPS, &place);
}

/// Numbers as the page writes them, below 1000.
fn seen_in_the_browser(run: &Run, steps: u64, place: &Place) {
    let pairs = (0..RANKS)
        .flat_map(|from| (0..RANKS).map(move |to| json!([from, to].map(|it| format!("rank {it}")))));
    let messages = steps * RANKS * RANKS;
    let expected = json!({
        "ranks": RANKS,
        "redistributions": [
            ["rows → columns", "MPI_Alltoall", steps.to_string()],
            ["columns → rows", "MPI_Ialltoallv", steps.to_string()],
            ["pipe", "MPI_Ialltoall", (2 * steps).to_string()],
            ["by_hand → transposed", "messages", messages.to_string()],
        ],
        // Sent, and received.
        "buffers": [
            ["by_hand", messages.to_string(), "0"],
            ["transposed", "0", messages.to_string()],
            ["inner", (steps * RANKS).to_string(), "0"],
            ["halo", "0", (steps * RANKS).to_string()],
        ],
        "pairs": { "of": "by_hand", "all": Vec::from_iter(pairs) },
    });
    let file = place.path().join("expected.json");
    std::fs::write(&file, expected.to_string()).unwrap();
    look_for(run.path(), "redistributed", &file, place);
}

#[test]
fn a_coarray_that_is_transposed_is_redistributed() {
    const STEPS: u64 = 3;
    let build = Build {
        mpi: Mpi::Open,
        compiler: Compiler::Fortran,
        sources: &["redistributed.f90"],
        flags: &["-g", "-O1", "-fcoarray=lib", "-lcaf_openmpi"],
        output: "redistributed-caf",
    };
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    need!(program(), "coarrays of Fortran for Open MPI");
    let place = Place::new();
    let run = Job::new(mpi, 4, build.path().unwrap()).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let (rows, times) = redistributed(&run);
    let accesses = STEPS * RANKS * RANKS;
    // Four elements of 8 bytes each; what is only shifted is none.
    assert_eq!(rows, [json!(["accesses", "get", "matrix", "", accesses, accesses * 32])]);
    assert!(times[0].unwrap() > 0.0);
}
