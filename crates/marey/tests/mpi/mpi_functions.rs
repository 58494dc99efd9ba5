//! Programs compiled with `-finstrument-functions`: their functions and MPI's calls nest, whoever calls whom.

use std::collections::BTreeMap;

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, need};

/// Visits by rank and call path, `main/reduce/MPI_Allreduce`.
fn visits(run: &Run) -> BTreeMap<(i64, String), i64> {
    let (profile, paths, regions) = (run.table("profile"), run.table("call_paths"), run.table("regions"));
    let ranks = run.table("locations").i64("rank").unwrap().to_vec();
    let mut visits = BTreeMap::new();
    for row in 0..profile.len() {
        let mut names = Vec::new();
        let mut path = profile.u32("call_path").unwrap()[row];
        while path != u32::MAX {
            let region = paths.u32("region").unwrap()[path as usize] as usize;
            let text = |column: &str| regions.text(column).unwrap()[region].clone();
            names.insert(0, if text("level") == "source" { text("noun") } else { text("verb") });
            path = paths.u32("parent").unwrap()[path as usize];
        }
        let rank = ranks[profile.u32("location").unwrap()[row] as usize];
        *visits.entry((rank, names.join("/"))).or_default() += profile.i64("visits").unwrap()[row];
    }
    visits
}

#[test]
fn functions_and_calls_of_mpi_nest_both_ways() {
    for mpi in Mpi::BOTH {
        let mpi = need!(mpi.installed(), "{mpi:?}");
        let build = Build {
            mpi,
            compiler: Compiler::C,
            sources: &["functions.c"],
            flags: &["-O1", "-finstrument-functions"],
            output: "program",
        };
        let program = need!(build.path(), "a C compiler for {mpi:?}");
        let place = Place::new();
        let run = Job::new(mpi, 2, program).option("--files").option("off").record(place.path());
        assert_eq!(run.output.status.code(), Some(0), "{}{}", run.stdout(), run.stderr());
        let found = visits(&run);
        let mut told = 0;
        for line in run.stdout().lines().filter_map(|line| line.strip_prefix("rank ")) {
            let (path, number) = line.rsplit_once(' ').unwrap();
            let (rank, path) = path.split_once(": ").unwrap();
            let key = (rank.parse().unwrap(), path.to_owned());
            assert_eq!(
                found.get(&key).copied().unwrap_or(0),
                number.parse::<i64>().unwrap(),
                "{mpi:?} {line} {found:#?}"
            );
            told += 1;
        }
        assert_eq!(told, 6);
        assert!(found.iter().all(|((_, path), _)| path.starts_with("main")), "{found:#?}");
    }
}
