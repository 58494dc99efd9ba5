//! Clocks of a merged run on the command line: offsets that are applied on reading, and fitting again.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod place;

use marey_testkit::{Message, Spool};
use place::{Place, stderr};
use serde_json::Value;

/// When both clocks were at the start of the run, ns.
const START: u64 = 500_000_000_000;

/// A run of two machines, of which rank 0 sends 100 messages that seem to take 50 µs.
fn made() -> Place {
    let place = Place::new();
    let mut spool = Spool::world(2);
    for (rank, process) in spool.processes.iter_mut().enumerate() {
        (process.host, process.boot) = (format!("node{rank}"), format!("boot{rank}"));
        (process.start, process.end) = (START, Some(START + 200_000_000));
    }
    for n in 1..=100 {
        let at = START + n * 1_000_000;
        for (rank, verb, from, to) in [(0, "MPI_Send", at, at + 900), (1, "MPI_Recv", at - 1000, at + 50_000)]
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
    run(&place, &["merge", "spool", "-o", "run.marey", "--keep-spool"]);
    place
}

/// Runs marey, expects it to succeed and returns all that it says.
fn run(place: &Place, args: &[&str]) -> String {
    let output = place.marey(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    stderr(&output) + &String::from_utf8(output.stdout).unwrap()
}

fn json(place: &Place, args: &[&str]) -> Value {
    serde_json::from_str(&place.ok(args)).unwrap()
}

/// When rank 1 received its messages, as `marey dump` says.
fn received(place: &Place, run: &str) -> Vec<i64> {
    let lines = place.ok(&["dump", run, "--rank", "1", "--json"]);
    let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let received = events.filter(|event| event["event"] == "receive");
    received.map(|event| event["time_ns"].as_i64().unwrap()).collect()
}

/// Runs marey, which must refuse and say all of `expected`.
fn refused(place: &Place, args: &[&str], expected: &[&str]) {
    let output = place.marey(args);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert!(expected.iter().all(|part| said.contains(part)), "{args:?}: {said}");
}

#[test]
fn offsets_are_applied_by_every_command_and_forgotten_again() {
    let place = made();
    let merged = received(&place, "run.marey");
    assert_eq!(merged.len(), 100);
    let said = run(&place, &["merge", "run.marey", "--offset", "1=+30us"]);
    assert!(said.contains("process 1 by +30.0 µs") && said.contains("--reset"), "{said}");
    let moved: Vec<i64> = merged.iter().map(|time| time + 30_000).collect();
    assert_eq!(received(&place, "run.marey"), moved);

    // By the name of its host, and messages that then run backwards are said and counted.
    let said = run(&place, &["merge", "run.marey", "--offset", "node1=-60us"]);
    assert!(said.contains("100 messages seem to arrive before being sent; before there were 0"), "{said}");
    let info = json(&place, &["info", "run.marey", "--json"]);
    assert_eq!(info["problems"]["clock_violations"], 100);
    assert_eq!(info["corrections"]["offsets"][0]["offset_ns"], -60_000);
    assert_eq!(info["duration_ns"], 200_060_000);
    assert!(run(&place, &["info", "run.marey"]).contains("Applied on reading: moved: process 1 by -60.0 µs"));
    assert!(run(&place, &["report", "run.marey"]).contains("corrected after the merge"));

    // It goes with a packed run, and is not changed there.
    run(&place, &["pack", "run.marey", "-o", "packed.zip"]);
    assert_eq!(received(&place, "packed.zip"), received(&place, "run.marey"));
    refused(
        &place,
        &["merge", "packed.zip", "--offset", "1=0"],
        &["packed.zip is packed", "unzip packed.zip -d DIR"],
    );
    refused(&place, &["merge", "packed.zip", "--reclock"], &["packed.zip is packed", "unzip"]);

    let said = run(&place, &["merge", "run.marey", "--reset"]);
    assert!(said.contains("as they were merged") && said.contains("before there were 100"), "{said}");
    assert_eq!(received(&place, "run.marey"), merged);
    assert!(!place.path("run.marey/corrections.json").exists());
    assert!(!run(&place, &["info", "run.marey"]).contains("Applied on reading"));
}

#[test]
fn an_offset_takes_the_place_of_the_one_before() {
    let place = made();
    let merged = received(&place, "run.marey");
    run(&place, &["merge", "run.marey", "--offset", "1=1ms", "--offset", "0=1ms"]);
    run(&place, &["merge", "run.marey", "--offset", "1=2ms"]);
    assert_eq!(received(&place, "run.marey"), merged.iter().map(|time| time + 2_000_000).collect::<Vec<_>>());
    run(&place, &["merge", "run.marey", "--offset", "1=0", "--offset", "0=0"]);
    assert_eq!(received(&place, "run.marey"), merged);
    // A merge makes times anew, and what was applied to the old ones is gone.
    run(&place, &["merge", "run.marey", "--offset", "1=2ms"]);
    run(&place, &["merge", "spool", "-o", "run.marey", "--force", "--keep-spool"]);
    assert_eq!(received(&place, "run.marey"), merged);
}

#[test]
fn causes_that_the_merge_has_left_are_found_by_whoever_asks() {
    let place = made();
    assert!(place.path("run.marey/waits.parquet").exists());
    run(&place, &["merge", "spool", "-o", "left.marey", "--keep-spool", "--no-causes"]);
    assert!(!place.path("left.marey/waits.parquet").exists());
    let waits = run(&place, &["waits", "run.marey", "--json"]);
    assert!(waits.contains("MPI_Recv"), "{waits}");
    assert_eq!(waits.replace("run.marey", "left.marey"), run(&place, &["waits", "left.marey", "--json"]));
}

#[test]
fn fitting_again_takes_the_spool_if_it_is_there() {
    let place = made();
    let merged = received(&place, "run.marey");
    let said = run(&place, &["merge", "run.marey", "--reclock"]);
    assert!(said.contains("the fit of 2 clocks stays as it was"), "{said}");
    assert_eq!(received(&place, "run.marey"), merged);
    std::fs::rename(place.path("spool"), place.path("run.marey/spool")).unwrap();
    run(&place, &["merge", "run.marey", "--offset", "1=2ms"]);
    let said = run(&place, &["merge", "run.marey", "--reclock"]);
    assert!(said.contains("2 processes, 200 intervals"), "{said}");
    assert_eq!(received(&place, "run.marey"), merged);
    assert!(place.path("run.marey/spool").is_dir());
}

#[test]
fn what_cannot_be_moved_is_said() {
    let place = made();
    let run = "run.marey";
    refused(
        &place,
        &["merge", run, "--offset", "7=1ms"],
        &["no process and no host \"7\"", "marey info run.marey"],
    );
    refused(&place, &["merge", run, "--offset", "1"], &["not of the form PROCESS=TIME", "3=+20us"]);
    refused(&place, &["merge", run, "--offset", "1=3 parsecs"], &["unknown unit", "use ns, us, ms or s"]);
    refused(&place, &["merge", run, "--offset", "1=1ms", "--reclock"], &["cannot be used with"]);
    refused(&place, &["merge", run, "--reset", "--force"], &["cannot be used with"]);
    refused(&place, &["merge", "nothing.marey", "--reset"], &["there is no run at nothing.marey"]);
    refused(&place, &["merge", "spool", "--reclock"], &["spool is not a run"]);
}

#[test]
fn corrections_that_cannot_be_read_are_thrown_away() {
    let place = made();
    let merged = received(&place, "run.marey");
    let nonsense = [
        "nonsense",
        "",
        "[]",
        "{\"fits\":[[]]}",
        "{\"fits\":[{\"knots\":[[]]}]}",
        "{\"version\":99}",
        "{\"a\":1}",
    ];
    for text in nonsense {
        std::fs::write(place.path("run.marey/corrections.json"), text).unwrap();
        for command in ["report", "info", "dump", "pack"] {
            let output = place.marey(&[command, "run.marey"]);
            assert_eq!(output.status.code(), Some(1), "{command} with {text:?}");
            assert!(stderr(&output).contains("`marey merge run.marey --reset`"), "{}", stderr(&output));
        }
        let said = run(&place, &["merge", "run.marey", "--reset"]);
        assert!(said.contains("thrown away") && said.contains("as they were merged"), "{text:?}: {said}");
        assert!(!place.path("run.marey/corrections.json").exists());
        assert_eq!(received(&place, "run.marey"), merged);
    }
}
