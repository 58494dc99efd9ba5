//! The heaps of ranks, by call path: what the program allocates itself, and what MPI does inside its calls.

use crate::support::{Build, Compiler, Job, Mpi, Place, need};

#[test]
fn ranks_have_heaps_of_their_own() {
    for mpi in [Mpi::Open, Mpi::Mpich] {
        let mpi = need!(mpi.installed(), "{mpi:?}");
        let build = Build {
            mpi,
            compiler: Compiler::C,
            sources: &["heap_mpi.c"],
            flags: &["-O1", "-g"],
            output: "heap_mpi",
        };
        let program = need!(build.path(), "a C compiler for {mpi:?}");
        let place = Place::new();
        let run = Job::new(mpi, 4, program).record(&place.dir("recorded"));
        assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
        run.expect_no_problems(&[]);
        let memory = run.json("report")["memory"].clone();
        let processes = memory["processes"].as_array().unwrap();
        assert_eq!(processes.len(), 4);
        let number = |row: &serde_json::Value, field: &str| row[field].as_u64().unwrap();
        let rows = memory["call_paths"].as_array().unwrap();
        let own: Vec<_> = rows.iter().filter(|row| row["function"] == "own").collect();
        // The buffer of each rank, of which that of rank 0 is freed at the end.
        let buffer = own.iter().find(|row| number(row, "blocks") == 4).expect("it is there");
        let numbers =
            ["bytes", "peak_bytes", "freed_blocks", "freed_bytes"].map(|field| number(buffer, field));
        assert_eq!((numbers, number(buffer, "processes")), ([1_000_000, 400_000, 1, 100_000], 4));
        assert_eq!(buffer["path"].as_array().unwrap().len(), 1);
        // 1 + 2 + 3 + 4 blocks that come and go.
        let brief = own.iter().find(|row| number(row, "blocks") == 10).expect("it is there");
        let numbers = ["bytes", "peak_bytes", "freed_bytes", "processes"].map(|field| number(brief, field));
        assert_eq!(numbers, [500_000, 50_000, 500_000, 4]);
        // What MPI allocates lies in the call that it is for, and is called by the program's line.
        let inside = |name: &str| -> u64 {
            let is_inside = |row: &&serde_json::Value| row["path"][0] == name && row["function"] == "main";
            rows.iter().filter(is_inside).map(|row| number(row, "bytes")).sum()
        };
        assert!(inside("MPI_Init") > 100_000, "{memory:#}");
        assert!(inside("MPI_Alloc_mem") >= 4 * 600_000 || mpi == Mpi::Mpich, "{memory:#}");
        // Nobody visits an allocation, and the recorder stands in no stack.
        let report = run.json("report");
        let is_memory = |row: &serde_json::Value| row["path"].as_array().unwrap().last().unwrap() == "malloc";
        assert!(!report["call_paths"].as_array().unwrap().iter().any(is_memory));
        assert!(!report["regions"].as_array().unwrap().iter().any(|row| row["level"] == "memory"));
        let frames = rows.iter().flat_map(|row| row["stack"].as_array().unwrap());
        let ours = frames.filter(|frame| frame["function"].as_str().unwrap().starts_with("libmarey.so"));
        assert_eq!(ours.count(), 0);
        for row in processes {
            let sum = trace_sum(&run, number(row, "process"));
            assert_eq!(sum, [number(row, "peak_bytes"), number(row, "end_bytes")]);
        }
    }
}

/// What all call paths of a process had at its peak and have at the end, from the archive.
fn trace_sum(run: &crate::support::Run, process: u64) -> [u64; 2] {
    let archive = run.archive();
    let table = archive.table("allocations").unwrap();
    let (of, peaks) = (table.u32("process").unwrap(), table.i64("at_peak").unwrap());
    let (bytes, freed) = (table.i64("bytes").unwrap(), table.i64("freed_bytes").unwrap());
    let rows = (0..table.len()).filter(|&row| u64::from(of[row]) == process);
    rows.fold([0, 0], |[peak, end], row| {
        [peak + peaks[row].cast_unsigned(), end + (bytes[row] - freed[row]).cast_unsigned()]
    })
}
