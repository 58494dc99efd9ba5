//! Clocks of a merged run on the command line: offsets that are applied on reading, and fitting again.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::process::{Command, Output};

use marey_testkit::{Message, Spool};
use serde_json::Value;
use tempfile::TempDir;

struct Place(TempDir);

/// When both clocks were at the start of the run, ns.
const START: u64 = 500_000_000_000;

impl Place {
    /// A run of two machines, of which rank 0 sends 100 messages that seem to take 50 µs.
    fn new() -> Self {
        let place = Self(TempDir::new().unwrap());
        let mut spool = Spool::world(2);
        for (rank, process) in spool.processes.iter_mut().enumerate() {
            (process.host, process.boot) = (format!("node{rank}"), format!("boot{rank}"));
            (process.start, process.end) = (START, Some(START + 200_000_000));
        }
        for n in 1..=100 {
            let at = START + n * 1_000_000;
            for (rank, verb, from, to) in
                [(0, "MPI_Send", at, at + 900), (1, "MPI_Recv", at - 1000, at + 50_000)]
            {
                let process = &mut spool.processes[rank];
                let site = process.site(1, verb);
                process.enter(0, site, from);
                let message = Message { communicator: 0, peer: 1 - rank as i64, tag: 5, bytes: 8 };
                if rank == 0 {
                    process.send(0, message)
                } else {
                    process.receive(0, message)
                }
                process.leave(0, to);
            }
        }
        spool.write(&place.path("spool")).unwrap();
        place.ok(&["merge", "spool", "-o", "run.marey", "--keep-spool"]);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn marey(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
        command.current_dir(self.0.path()).args(args).env_remove("LD_PRELOAD").output().unwrap()
    }

    /// Runs marey, expects it to succeed and returns all that it says.
    fn ok(&self, args: &[&str]) -> String {
        let output = self.marey(args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{args:?}: {said}");
        said + &String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(args)).unwrap()
    }

    /// When rank 1 received its messages, as `marey dump` says.
    fn received(&self, run: &str) -> Vec<i64> {
        let lines = self.ok(&["dump", run, "--rank", "1", "--json"]);
        let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let received = events.filter(|event| event["event"] == "receive");
        received.map(|event| event["time_ns"].as_i64().unwrap()).collect()
    }

    /// Runs marey, which must refuse and say all of `expected`.
    fn refused(&self, args: &[&str], expected: &[&str]) {
        let output = self.marey(args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(expected.iter().all(|part| said.contains(part)), "{args:?}: {said}");
    }
}

#[test]
fn offsets_are_applied_by_every_command_and_forgotten_again() {
    let place = Place::new();
    let merged = place.received("run.marey");
    assert_eq!(merged.len(), 100);
    let said = place.ok(&["merge", "run.marey", "--offset", "1=+30us"]);
    assert!(said.contains("process 1 by +30.0 µs") && said.contains("--reset"), "{said}");
    let moved: Vec<i64> = merged.iter().map(|time| time + 30_000).collect();
    assert_eq!(place.received("run.marey"), moved);

    // By the name of its host, and messages that then run backwards are said and counted.
    let said = place.ok(&["merge", "run.marey", "--offset", "node1=-60us"]);
    assert!(said.contains("100 messages seem to arrive before being sent; before there were 0"), "{said}");
    let info = place.json(&["info", "run.marey", "--json"]);
    assert_eq!(info["problems"]["clock_violations"], 100);
    assert_eq!(info["corrections"]["offsets"][0]["offset_ns"], -60_000);
    assert_eq!(info["duration_ns"], 200_060_000);
    assert!(place.ok(&["info", "run.marey"]).contains("Applied on reading: moved: process 1 by -60.0 µs"));
    assert!(place.ok(&["report", "run.marey"]).contains("corrected after the merge"));

    // It goes with a packed run, and is not changed there.
    place.ok(&["pack", "run.marey", "-o", "packed.zip"]);
    assert_eq!(place.received("packed.zip"), place.received("run.marey"));
    place.refused(
        &["merge", "packed.zip", "--offset", "1=0"],
        &["packed.zip is packed", "unzip packed.zip -d DIR"],
    );
    place.refused(&["merge", "packed.zip", "--reclock"], &["packed.zip is packed", "unzip"]);

    let said = place.ok(&["merge", "run.marey", "--reset"]);
    assert!(said.contains("as they were merged") && said.contains("before there were 100"), "{said}");
    assert_eq!(place.received("run.marey"), merged);
    assert!(!place.path("run.marey/corrections.json").exists());
    assert!(!place.ok(&["info", "run.marey"]).contains("Applied on reading"));
}

#[test]
fn an_offset_takes_the_place_of_the_one_before() {
    let place = Place::new();
    let merged = place.received("run.marey");
    place.ok(&["merge", "run.marey", "--offset", "1=1ms", "--offset", "0=1ms"]);
    place.ok(&["merge", "run.marey", "--offset", "1=2ms"]);
    assert_eq!(place.received("run.marey"), merged.iter().map(|time| time + 2_000_000).collect::<Vec<_>>());
    place.ok(&["merge", "run.marey", "--offset", "1=0", "--offset", "0=0"]);
    assert_eq!(place.received("run.marey"), merged);
    // A merge makes times anew, and what was applied to the old ones is gone.
    place.ok(&["merge", "run.marey", "--offset", "1=2ms"]);
    place.ok(&["merge", "spool", "-o", "run.marey", "--force", "--keep-spool"]);
    assert_eq!(place.received("run.marey"), merged);
}

#[test]
fn fitting_again_takes_the_spool_if_it_is_there() {
    let place = Place::new();
    let merged = place.received("run.marey");
    let said = place.ok(&["merge", "run.marey", "--reclock"]);
    assert!(said.contains("the fit of 2 clocks stays as it was"), "{said}");
    assert_eq!(place.received("run.marey"), merged);
    std::fs::rename(place.path("spool"), place.path("run.marey/spool")).unwrap();
    place.ok(&["merge", "run.marey", "--offset", "1=2ms"]);
    let said = place.ok(&["merge", "run.marey", "--reclock"]);
    assert!(said.contains("2 processes, 200 intervals"), "{said}");
    assert_eq!(place.received("run.marey"), merged);
    assert!(place.path("run.marey/spool").is_dir());
}

#[test]
fn what_cannot_be_moved_is_said() {
    let place = Place::new();
    let run = "run.marey";
    place.refused(
        &["merge", run, "--offset", "7=1ms"],
        &["no process and no host \"7\"", "marey info run.marey"],
    );
    place.refused(&["merge", run, "--offset", "1"], &["not of the form PROCESS=TIME", "3=+20us"]);
    place.refused(&["merge", run, "--offset", "1=3 parsecs"], &["unknown unit", "use ns, us, ms or s"]);
    place.refused(&["merge", run, "--offset", "1=1ms", "--reclock"], &["cannot be used with"]);
    place.refused(&["merge", run, "--reset", "--force"], &["cannot be used with"]);
    place.refused(&["merge", "nothing.marey", "--reset"], &["there is no run at nothing.marey"]);
    place.refused(&["merge", "spool", "--reclock"], &["spool is not a run"]);
}
