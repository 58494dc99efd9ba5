//! Programs that die: what they had done is in the archive, call by call, and it says how they
//! ended.
//!
//! The one idea: the program raises a number in a mapped file of its own whenever an MPI call has
//! returned. The file outlives it, so it is the truth: as many calls are recorded, or one more,
//! the one that had not yet returned.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, need};

pub(crate) fn program(mpi: Mpi) -> Option<PathBuf> {
    let mpi = mpi.installed()?;
    let sources = &["crash_loop.c"];
    Build { mpi, compiler: Compiler::C, sources, flags: &["-O1"], output: "crash_loop" }.path()
}

/// Calls that have returned, and the process.
pub(crate) fn read_state(file: &Path) -> Option<(u64, u32)> {
    let bytes = std::fs::read(file).ok()?;
    let number = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    Some((number(0)?, u32::try_from(number(8)?).ok()?))
}

/// Compares the run with the files of so many ranks, and returns what became of each rank.
pub(crate) fn compare(run: &Run, out: &Path, ranks: u32) -> BTreeMap<u32, String> {
    let recorded = run.mpi_calls();
    let processes = run.table("processes");
    let places = places(run);
    let mut outcomes = BTreeMap::new();
    for rank in 0..ranks {
        let (returned, pid) = read_state(&out.join(rank.to_string())).unwrap();
        let calls: u64 = recorded.get(&pid).map_or(0, |functions| functions.values().sum());
        let functions = &recorded.get(&pid);
        assert!(
            calls == returned || calls == returned + 1,
            "rank {rank}: {returned} calls returned, {calls} recorded: {functions:?}\n{}",
            run.text("info", &[])
        );
        // A call that it was in has not returned.
        if places.get(&rank).is_some_and(|path| !path.is_empty()) {
            assert_eq!(calls, returned + 1, "rank {rank} was in {places:?}");
        }
        let row = processes.u32("pid").unwrap().iter().position(|&other| other == pid).unwrap();
        outcomes.insert(rank, processes.text("outcome").unwrap()[row].clone());
    }
    // Being killed inside a call is no loss of records.
    run.expect_no_problems(&["unmatched_sends", "unmatched_receives"]);
    outcomes
}

/// For each rank that did not end well, the regions that it was in.
fn places(run: &Run) -> BTreeMap<u32, Vec<String>> {
    let info: Value = serde_json::from_str(&run.text("info", &["--json"])).unwrap();
    let row = |row: &Value| {
        let path = row["threads"][0]["path"].as_array().unwrap();
        let path = path.iter().map(|name| name.as_str().unwrap().to_owned()).collect();
        Some((u32::try_from(row["rank"].as_u64()?).unwrap(), path))
    };
    info["ended_early"].as_array().unwrap().iter().filter_map(row).collect()
}

const SIGKILL: i32 = 9;

/// A mode in which the program ends itself: what becomes of rank 1, in the words of `marey info`.
fn check(mode: &str, outcome: &str) {
    for mpi in Mpi::BOTH {
        let program = need!(program(mpi), "{mpi:?}");
        let place = Place::new();
        let out = place.dir("out");
        let job = Job::new(mpi, 2, program).arg(mode).env("CRASH_OUT", &out);
        let plain = job.plain(place.path());
        let run = job.record(place.path());
        let (code, plain_code) = (run.output.status.code(), plain.status.code());
        // MPICH's launcher joins the bits of all statuses, and the signal by which it ends the rank
        // that is left is sometimes among them, recorded or not.
        let ignored = if mpi == Mpi::Mpich { SIGKILL } else { 0 };
        let told = |code: Option<i32>| code.map(|code| code | ignored);
        assert_eq!(told(code), told(plain_code), "{mpi:?} {mode}: {code:?}: {}", run.stderr());
        let outcomes = compare(&run, &out, 2);
        assert_eq!(outcomes[&1], outcome, "{mpi:?} {mode}");
        let info = run.text("info", &[]);
        assert!(info.contains(outcome), "{mpi:?} {mode}: {info}");
        if mode == "mpi_abort" {
            assert_eq!(places(&run)[&1], ["MPI_Abort"], "{mpi:?}");
            let source = include_str!("../programs/crash_loop.c");
            let line = 1 + source.lines().position(|line| line.contains("MPI_Abort(MPI_COMM_WORLD")).unwrap();
            let report = run.text("report", &[]).split_whitespace().collect::<Vec<_>>().join(" ");
            let expected = format!("inside MPI_Abort called from main (crash_loop.c:{line})");
            assert!(report.contains(&expected), "{mpi:?}: {report}");
        }
    }
}

#[test]
fn a_rank_that_calls_abort() {
    check("abort", "aborted");
}

#[test]
fn a_rank_that_calls_mpi_abort() {
    check("mpi_abort", "aborted (MPI_Abort)");
}

#[test]
fn ranks_that_leave_by_exit_without_finalize() {
    check("exit", "exited at once (_exit)");
}

#[test]
fn ranks_that_return_without_finalize() {
    check("nofinal", "finished");
}

/// Ends what it has started, whatever happens to the test.
pub(crate) struct Recording(pub(crate) Child);

impl Drop for Recording {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            self.0.kill().expect("it is our child");
        }
    }
}

/// Waits until the rank has made so many calls, and kills it in the middle of the next ones.
fn kill_after(job: &mut Recording, file: &Path, calls: u64) {
    kill_when(job, file, calls, |_| ());
}

/// Waits until the rank has made so many calls, and then for what `wait` waits for, and kills it.
fn kill_when(job: &mut Recording, file: &Path, calls: u64, wait: impl Fn(u32)) {
    loop {
        match read_state(file) {
            Some((returned, pid)) if returned >= calls && pid != 0 => {
                wait(pid);
                let pid = i32::try_from(pid).unwrap();
                let pid = rustix::process::Pid::from_raw(pid).unwrap();
                return rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
            }
            _ => assert!(job.0.try_wait().unwrap().is_none(), "the program ended by itself"),
        }
        // Only to leave the processor to the program: what is waited for is the number.
        std::thread::sleep(Duration::from_micros(100));
    }
}

/// Processor time that the process has taken, in ticks of the kernel's: hundredths of a second.
fn processor_time(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let fields: Vec<&str> = fields.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn a_rank_that_is_killed_in_a_send() {
    let program = need!(program(Mpi::Open), "Open MPI");
    let place = Place::new();
    let out = place.dir("out");
    let job = Job::new(Mpi::Open, 2, &program).arg("blocked").env("CRASH_OUT", &out);
    let mut command: Command = job.env("OMPI_MCA_odls_base_sigkill_timeout", "0").recording(place.path());
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut recording = Recording(child);
    // What returns has returned by then; the rest of its time the rank spends waiting in the send.
    kill_when(&mut recording, &out.join("1"), 1000, |pid| {
        let before = processor_time(pid);
        while processor_time(pid) < before + 5 {
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    let status = recording.0.wait().unwrap();
    let run = Run::new(place.path(), std::process::Output { status, stdout: Vec::new(), stderr: Vec::new() });
    let outcomes = compare(&run, &out, 2);
    assert!(outcomes[&1].contains("killed"), "{outcomes:?}");
    assert_eq!(places(&run)[&1], ["MPI_Ssend"]);
}

/// Numbers that look random and are the same in every run.
fn scramble(n: u64) -> u64 {
    let n = (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (n ^ (n >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 20
}

#[test]
fn a_rank_that_is_killed() {
    let program = need!(program(Mpi::Open), "Open MPI");
    let soak = std::env::var_os("MAREY_SOAK").is_some();
    let place = Place::new();
    for round in 0..if soak { 200 } else { 20 } {
        let out = place.dir(&format!("out{round}"));
        let job = Job::new(Mpi::Open, 2, &program).arg("loop").env("CRASH_OUT", &out);
        // Else mpirun gives the other rank a second to end by itself, which it never does.
        let job = job.env("OMPI_MCA_odls_base_sigkill_timeout", "0");
        let mut command: Command = job.recording(place.path());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut recording = Recording(child);
        let victim = u32::try_from(round % 2).unwrap();
        kill_after(&mut recording, &out.join(victim.to_string()), scramble(round) % 30_000);
        let status = recording.0.wait().unwrap();
        // The status of mpirun, which is that of a shell: 128 and the number of the signal.
        assert_eq!(status.code(), Some(137), "round {round}");
        let output = std::process::Output { status, stdout: Vec::new(), stderr: Vec::new() };
        let run = Run::new(place.path(), output);
        let outcomes = compare(&run, &out, 2);
        assert!(outcomes[&victim].contains("killed"), "round {round}: {outcomes:?}");
        assert!(run.text("info", &[]).contains("killed"), "round {round}");
    }
}
