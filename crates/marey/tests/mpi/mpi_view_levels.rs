//! Levels and Data in a browser: the example of arrays that are laid out otherwise, whose numbers its source says.
//!
//! What is seen and pressed stands in `ui/test/levels.mjs`. The example is built with shorter arrays, so that the test is
//! quick; everything else of it stays.

use std::path::Path;
use std::process::Command;

use marey_archive::merge::{Config, merge};
use marey_testkit::Spool;
use serde_json::json;

use crate::mpi_view::{look, look_for};
use crate::support::{Compiler, Job, Mpi, Place, need, which};

const IMAGES: u32 = 2;
const STEPS: u32 = 4;
const PER_IMAGE: u32 = 3000;

#[test]
fn from_an_array_to_its_gets_to_the_line_in_the_browser() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let library = Path::new("/usr/lib/x86_64-linux-gnu/libcaf_openmpi.so");
    need!(library.exists().then_some(()), "coarrays of Fortran for Open MPI");
    let compiler = need!(which(mpi.compiler(Compiler::Fortran)), "a Fortran compiler for Open MPI");
    let place = Place::new();
    let dir = place.dir("misaligned");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/coarray/misaligned.f90");
    let text = std::fs::read_to_string(example).unwrap();
    let short =
        text.replace("per_image = 250000, steps = 4", &format!("per_image = {PER_IMAGE}, steps = {STEPS}"));
    assert_ne!(short, text);
    std::fs::write(dir.join("misaligned.f90"), &short).unwrap();
    let words = ["-g", "-O2", "-fcoarray=lib", "misaligned.f90", "-lcaf_openmpi", "-o", "misaligned"];
    assert!(Command::new(compiler).args(words).current_dir(&dir).status().unwrap().success());
    let embed = format!("--embed-sources={}", dir.display());
    let run = Job::new(mpi, IMAGES, dir.join("misaligned")).option(&embed).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());

    let line_of = |what: &str| short.lines().position(|line| line.contains(what)).unwrap() + 1;
    let gets = IMAGES * STEPS * PER_IMAGE;
    let expected = json!({
        "gets": gets,
        // Every second element that an image reads lies with the other.
        "remote": gets / IMAGES,
        "images": IMAGES,
        "per_image": PER_IMAGE,
        "line": line_of("a(i) = b(at)[from]"),
        // The loop around it, and where what it reads is written.
        "loop": [line_of("do i = 1, per_image"), line_of("a(i) = b(at)[from]") + 1],
        // Two elements behind each other have one subscript, and come from one image after the other.
        "symbols": [
            ["at", "subscript 1", 1, PER_IMAGE, PER_IMAGE * STEPS / IMAGES - 1],
            ["from", "which image", 1, IMAGES, PER_IMAGE * STEPS - 1],
        ],
        "filled": line_of("b = "),
        "declared": line_of(":: a(:)[:], b(:)[:]"),
    });
    let file = place.path().join("expected.json");
    std::fs::write(&file, expected.to_string()).unwrap();
    look_for(run.path(), "levels", &file, &place);
}

#[test]
fn a_part_of_an_array_is_selected_in_the_browser() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let program = need!(crate::mpi_sections::program(), "coarrays of Fortran for Open MPI");
    let place = Place::new();
    let run = Job::new(mpi, 3, &program).record(place.path());
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    let expected = json!({ "rows": crate::mpi_sections::line_of("row = u(j, :)[3]") });
    let file = place.path().join("expected.json");
    std::fs::write(&file, expected.to_string()).unwrap();
    look_for(run.path(), "selection", &file, &place);
}

#[test]
fn a_run_without_arrays_and_messages_in_the_browser() {
    let place = Place::new();
    let mut spool = Spool::new();
    let mut process = marey_testkit::Process::new(1);
    let site = process.site(0, "main");
    process.enter(0, site, 1000);
    process.leave(0, 900_000);
    process.end = Some(1_000_000);
    spool.processes.push(process);
    let (from, to) = (place.path().join("spool"), place.path().join("plain.marey"));
    spool.write(&from).unwrap();
    merge(&from, &to, &Config { threads: Some(1), memory_bytes: 1 << 20, keep_spool: false }, &()).unwrap();
    look(&to, &[], "levelless", &place);
}
