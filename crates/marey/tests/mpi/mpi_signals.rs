//! Jobs that are ended from outside, as users and batch systems do it.
//!
//! The one idea: that of `mpi_crash`: each rank counts its calls in a file that outlives it. However the job
//! was ended, as many are in the run, or one more.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::mpi_crash::{Recording, compare, program, read_state};
use crate::support::{Job, Mpi, Place, Run, need};

/// A job of two ranks that goes on for ever, under a recorder.
struct Endless {
    place: Place,
    out: PathBuf,
    recording: Recording,
}

impl Endless {
    /// Starts it and waits until both ranks have made a thousand calls. `start` is what the ranks do first.
    fn start(mpi: Mpi, start: &str) -> Option<Self> {
        let program = need!(program(mpi), "{mpi:?}" => None);
        let place = Place::new();
        let out = place.dir("out");
        let job = Job::new(mpi, 2, "/bin/sh").arg("-c").arg(format!("{start} exec \"$0\" loop"));
        // How long Open MPI's launcher waits, even for who has ended, before it kills what it was to end.
        let patience = if start.is_empty() { "0" } else { "60" };
        let job = job.arg(program).env("CRASH_OUT", &out).env("OMPI_MCA_odls_base_sigkill_timeout", patience);
        let mut command: Command = job.recording(place.path());
        Some(Self::wait(place, out, &mut command))
    }

    /// The same with a recorder for each rank, behind the launcher, which takes the recorder's place here.
    fn start_behind(mpi: Mpi) -> Option<Self> {
        let program = need!(program(mpi), "{mpi:?}" => None);
        let place = Place::new();
        let out = place.dir("out");
        let job = Job::new(mpi, 2, env!("CARGO_BIN_EXE_marey")).arg("record").arg("-o").arg("run.marey");
        let job = job.arg("--").arg(program).arg("loop").env("CRASH_OUT", &out);
        let mut command = job.unrecorded(place.path());
        Some(Self::wait(place, out, &mut command))
    }

    fn wait(place: Place, out: PathBuf, command: &mut Command) -> Self {
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut endless = Self { place, out, recording: Recording(child) };
        while (0..2).any(|rank| endless.state(rank).is_none_or(|(calls, pid)| calls < 1000 || pid == 0)) {
            assert!(endless.recording.0.try_wait().unwrap().is_none(), "the job ended by itself");
            // Only to leave the processor to the program: what is waited for is the number.
            std::thread::sleep(Duration::from_micros(100));
        }
        endless
    }

    fn state(&self, rank: u32) -> Option<(u64, u32)> {
        read_state(&self.out.join(rank.to_string()))
    }

    fn ranks(&self) -> [Pid; 2] {
        [0, 1].map(|rank| pid(self.state(rank).unwrap().1))
    }

    fn recorder(&self) -> Pid {
        pid(self.recording.0.id())
    }

    /// The recorder's child.
    fn launcher(&self) -> Pid {
        let recorder = self.recording.0.id();
        let children = std::fs::read_to_string(format!("/proc/{recorder}/task/{recorder}/children")).unwrap();
        pid(children.split_whitespace().next().unwrap().parse().unwrap())
    }

    /// Waits for the recorder's end. The run, if it has merged.
    fn finish(&mut self) -> Run {
        let status = self.recording.0.wait().unwrap();
        Run::new(self.place.path(), Output { status, stdout: Vec::new(), stderr: Vec::new() })
    }

    fn compare(&self, run: &Run) {
        let outcomes = compare(run, &self.out, 2);
        assert!(outcomes.values().all(|outcome| outcome.contains("killed")), "{outcomes:?}");
    }
}

fn pid(number: u32) -> Pid {
    Pid::from_raw(i32::try_from(number).unwrap()).unwrap()
}

fn kill(pid: Pid, signal: Signal) {
    kill_process(pid, signal).unwrap();
}

fn parent_of(child: Pid) -> Pid {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.as_raw_nonzero())).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    pid(fields.split_whitespace().nth(1).unwrap().parse().unwrap())
}

/// Until nobody can receive a signal any more.
fn wait_for_the_end_of(pids: &[Pid]) {
    while pids.iter().any(|pid| test_kill_process(*pid).is_ok() && !is_zombie(*pid)) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Ended, and nobody has asked for its status yet: in a container there may be nobody to do so.
fn is_zombie(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, fields)| fields.trim_start().starts_with('Z'))
}

fn merge(place: &Path) {
    let mut merge = Command::new(env!("CARGO_BIN_EXE_marey"));
    let output = merge.args(["merge", "run.marey"]).current_dir(place).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_recorder_that_is_told_to_end_tells_the_launcher() {
    for (mpi, signal) in [(Mpi::Open, Signal::TERM), (Mpi::Open, Signal::INT), (Mpi::Mpich, Signal::TERM)] {
        let Some(mut job) = Endless::start(mpi, "") else { continue };
        kill(job.recorder(), signal);
        let run = job.finish();
        // The launcher's own: MPICH's is sometimes 0 and sometimes 15, recorded or not.
        let code = run.output.status.code();
        assert!(code.is_some_and(|code| mpi == Mpi::Mpich || code != 0), "{mpi:?}: {code:?}");
        job.compare(&run);
    }
}

/// A batch system at the end of the time: SIGTERM to all, which the ranks here ignore, and SIGKILL to all
/// when they are still there after a while.
#[test]
fn a_job_that_is_out_of_time_is_merged_later() {
    for mpi in Mpi::BOTH {
        let Some(mut job) = Endless::start(mpi, "trap '' TERM;") else { continue };
        let ranks = job.ranks();
        let all = [job.recorder(), job.launcher(), ranks[0], ranks[1]];
        let before = job.state(0).unwrap().0;
        for pid in [ranks[0], ranks[1], job.recorder()] {
            kill(pid, Signal::TERM);
        }
        // What they ignore they live through.
        while job.state(0).unwrap().0 < before + 1000 && !is_zombie(ranks[0]) {
            std::thread::sleep(Duration::from_millis(1));
        }
        for pid in all {
            // Some have ended of themselves.
            kill_process(pid, Signal::KILL).ok();
        }
        wait_for_the_end_of(&all);
        let run = job.finish();
        merge_unless_finished(&job, &run);
        job.compare(&run);
    }
}

/// The recorder may have got as far as that, if the launcher was quick.
fn merge_unless_finished(job: &Endless, run: &Run) {
    let text = std::fs::read_to_string(run.path().join("meta.json")).unwrap_or_default();
    if !text.contains("\"finished\"") {
        merge(job.place.path());
    }
}

/// The launcher ends recorders and ranks, and may not leave them the time to merge.
#[test]
fn a_launcher_that_is_told_to_end_takes_its_recorders_with_it() {
    for mpi in Mpi::BOTH {
        let Some(mut job) = Endless::start_behind(mpi) else { continue };
        let ranks = job.ranks();
        let recorders = ranks.map(parent_of);
        kill(pid(job.recording.0.id()), Signal::TERM);
        let run = job.finish();
        wait_for_the_end_of(&[ranks, recorders].concat());
        merge_unless_finished(&job, &run);
        job.compare(&run);
    }
}

/// The program goes on, and all that it does from then on is recorded too.
#[test]
fn a_killed_recorder_takes_nothing_with_it() {
    for mpi in Mpi::BOTH {
        let Some(mut job) = Endless::start(mpi, "") else { continue };
        let (launcher, ranks) = (job.launcher(), job.ranks());
        kill(job.recorder(), Signal::KILL);
        let run = job.finish();
        assert_eq!(run.output.status.code(), None);
        let calls = job.state(0).unwrap().0;
        while job.state(0).unwrap().0 < calls + 10_000 {
            assert!(!is_zombie(ranks[0]), "{mpi:?}: the program has ended");
            std::thread::sleep(Duration::from_millis(1));
        }
        kill(launcher, Signal::TERM);
        wait_for_the_end_of(&[launcher, ranks[0], ranks[1]]);
        assert!(!run.path().join("meta.json").exists());
        merge(job.place.path());
        job.compare(&run);
        let left: Vec<_> =
            std::fs::read_dir(run.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        let is_rest = |name: &&std::ffi::OsString| {
            let name = name.to_string_lossy();
            name == "spool" || name == "recording.lock" || name.starts_with("recorder-")
        };
        assert_eq!(left.iter().find(is_rest), None, "{left:?}");
    }
}
