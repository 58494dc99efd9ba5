//! Coarray Fortran: components of coarrays, and coarrays without end.
//!
//! The program prints what its text means, from the addresses of its own part: these are the expected rows.

use std::path::{Path, PathBuf};

use crate::mpi_coarrays::accesses;
use crate::support::{Build, Compiler, Job, Mpi, Place, need};

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
