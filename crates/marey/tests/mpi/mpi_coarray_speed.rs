//! The case studies of coarrays: what marey says is slow is worth mending.
//!
//! Times are those that the programs print themselves, without a recorder, the best of three. Limits are a third of what is
//! measured, and less, so that only a repair that is none any more fails, and no busy machine.

use std::path::{Path, PathBuf};

use crate::support::{Build, Compiler, Job, Mpi, Place, need};

fn program(sources: &[&str], output: &str) -> Option<PathBuf> {
    if !Path::new("/usr/lib/x86_64-linux-gnu/libcaf_openmpi.so").exists() {
        return None;
    }
    let flags = &["-O2", "-fcoarray=lib", "-lcaf_openmpi"];
    Build { mpi: Mpi::Open, compiler: Compiler::Fortran, sources, flags, output }.path()
}

/// The sum of all times that a program prints, in seconds.
fn printed(job: &Job, place: &Path) -> f64 {
    let output = job.plain(place);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let times: Vec<f64> = text
        .lines()
        .filter_map(|line| line.strip_suffix(" s"))
        .map(|line| line.rsplit_once(' ').unwrap().1.parse().unwrap())
        .collect();
    assert!(!times.is_empty(), "{text}");
    times.iter().sum()
}

/// Times have three digits behind the point.
const ROUNDED: f64 = 0.0005;

/// The best of three runs of each, in turn.
fn best(jobs: [&Job; 2], place: &Path) -> [f64; 2] {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..3 {
        for (best, job) in best.iter_mut().zip(jobs) {
            *best = best.min(printed(job, place));
        }
    }
    best
}

#[test]
fn alone_an_assignment_of_arrays_laid_out_alike_is_twenty_times_as_fast() {
    let place = Place::new();
    // Of 4 steps the repaired one takes a millisecond.
    let source = include_str!("../../../../examples/coarray/misaligned.f90");
    let longer = source.replace("steps = 4\n", "steps = 8\n");
    assert_ne!(longer, source);
    let path = place.path().join("misaligned.f90");
    std::fs::write(&path, longer).unwrap();
    let program = need!(program(&[path.to_str().unwrap()], "misaligned"), "coarrays of Fortran for Open MPI");
    let (misaligned, aligned) =
        (Job::new(Mpi::Open, 2, &program), Job::new(Mpi::Open, 2, &program).arg("aligned"));
    let [before, after] = best([&misaligned, &aligned], place.path());
    assert!(20.0 * (after + ROUNDED) <= before - ROUNDED, "{before} s, repaired {after} s");
    // Nothing is left of what it was.
    let run = aligned.record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let arrays = run.json("arrays");
    let b = arrays["arrays"].as_array().unwrap().iter().find(|row| row["array"] == "b").unwrap();
    assert_eq!((&b["accesses"], &b["instances"]), (&0.into(), &2.into()), "{b:#}");
}

#[test]
fn alone_boundary_elements_that_are_repaired_are_three_times_as_fast() {
    let program = need!(
        program(&["../../../../examples/coarray/boundary.f90"], "boundary"),
        "coarrays of Fortran for Open MPI"
    );
    let place = Place::new();
    let step = |step: &str| {
        [step, "50", "9", "20"].iter().fold(Job::new(Mpi::Open, 3, &program), |job, word| job.arg(word))
    };
    let [before, after] = best([&step("1"), &step("6")], place.path());
    // A sum of five times.
    let rounded = 5.0 * ROUNDED;
    assert!(3.0 * (after + rounded) <= before - rounded, "{before} s, repaired {after} s");
}
