//! What `marey phases` and `marey anomalies` print of a small run that iterates, compared with files under
//! `tests/shown`.
//!
//! `SNAPSHOTS=overwrite cargo test -p marey --test recurring` accepts what is printed now.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

use marey_testkit::{Message, Spool};
use serde_json::Value;
use snapbox::{Data, assert_data_eq, file};

const US: u64 = 1000;

/// Two ranks: 64 iterations of some 4 ms of work on both and a message from rank 0 to rank 1; every 8th also writes.
/// Rank 0 works 9 ms longer in the 42nd.
fn write_run(dir: &Path) {
    let mut spool = Spool::world(2);
    for (rank, process) in spool.processes.iter_mut().enumerate() {
        let [setup, work, write] = ["setup", "work", "write_state"].map(|name| process.site(0, name));
        let (call, message) = match rank {
            0 => (process.site(1, "MPI_Send"), Message { communicator: 0, peer: 1, tag: 7, bytes: 4096 }),
            _ => (process.site(1, "MPI_Recv"), Message { communicator: 0, peer: 0, tag: 7, bytes: 4096 }),
        };
        let mut now = 1_000 * US;
        process.start = now;
        process.enter(0, setup, now);
        now += 30_000 * US;
        process.leave(0, now);
        // Both ranks know when the message is sent.
        let mut sent = now;
        for at in 1..=64 {
            let usual = (4_000 + at * 37 % 101) * US;
            let long = if at == 42 { 9_000 * US } else { 0 };
            let more = if at % 8 == 0 { 1_500 * US } else { 0 };
            process.enter(0, work, now);
            process.leave(0, now + usual + if rank == 0 { long } else { 0 });
            if at % 8 == 0 {
                let from = now + usual + if rank == 0 { long } else { 0 };
                process.enter(0, write, from);
                process.leave(0, from + more);
            }
            sent += usual + long + more;
            let enter = if rank == 0 { sent } else { now + usual + more };
            process.enter(0, call, enter);
            match rank {
                0 => process.send(0, message),
                _ => process.receive(0, message),
            }
            now = sent + 20 * US;
            sent = now;
            process.leave(0, now);
        }
        process.end = Some(now + 5_000 * US);
    }
    spool.write(&dir.join("spool")).unwrap();
    marey(dir, &["merge", "spool", "-o", "run.marey"], "");
}

fn marey(dir: &Path, args: &[&str], columns: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
    command.args(args).current_dir(dir).env_remove("COLUMNS");
    if !columns.is_empty() {
        command.env("COLUMNS", columns);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn with_run() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    write_run(dir.path());
    dir
}

fn check(args: &[&str], columns: &str, expected: Data) {
    assert_data_eq!(marey(with_run().path(), args, columns), expected.raw());
}

#[test]
fn iterations_are_told() {
    check(&["phases"], "", file!["shown/phases.txt"]);
    check(&["phases"], "60", file!["shown/phases-narrow.txt"]);
}

#[test]
fn anomalous_visits_are_told() {
    check(&["anomalies"], "", file!["shown/anomalies.txt"]);
    check(&["anomalies"], "60", file!["shown/anomalies-narrow.txt"]);
    check(&["anomalies", "--method", "normal", "--percent", "2"], "", file!["shown/anomalies-normal.txt"]);
}

#[test]
fn lines_fit_the_terminal() {
    let dir = with_run();
    let commands = [&["phases"][..], &["anomalies"], &["anomalies", "--method", "normal"]];
    for args in commands {
        for (columns, width) in [("40", 40), ("60", 60), ("80", 80), ("104", 104), ("", 104)] {
            for line in marey(dir.path(), args, columns).lines() {
                assert!(line.chars().count() <= width, "{args:?} at {columns}: {line}");
            }
        }
    }
}

/// Every field that is printed is explained, and told by the help.
#[test]
fn the_document_on_json_names_every_field() {
    let dir = with_run();
    let document = include_str!("../../../docs/json.md");
    for command in ["phases", "anomalies"] {
        let section = document
            .split("\n## ")
            .find(|text| text.starts_with(&format!("`marey {command} --json`")))
            .unwrap();
        let help = marey(dir.path(), &[command, "--help"], "");
        let value: Value = serde_json::from_str(&marey(dir.path(), &[command, "--json"], "")).unwrap();
        let mut names = Vec::new();
        collect(&value, &mut names);
        assert!(20 <= names.len(), "{command}: {names:?}");
        for name in names {
            assert!(section.contains(&format!("`{name}`")), "{command}: {name}");
            assert!(help.contains(&name), "{command} --help: {name}");
        }
    }
}

fn collect(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(object) => object.iter().for_each(|(name, value)| {
            names.push(name.clone());
            collect(value, names);
        }),
        Value::Array(list) => list.iter().for_each(|value| collect(value, names)),
        _ => {}
    }
}

/// What the run was made of, to the nanosecond.
#[test]
fn the_numbers_are_those_of_the_run() {
    let dir = with_run();
    let phases: Value = serde_json::from_str(&marey(dir.path(), &["phases", "--json"], "")).unwrap();
    let it = &phases["loops"][0];
    assert_eq!(
        (&it["iterations"], &it["kinds"][1]["number"], &it["kinds"][1]["every"]),
        (&64.into(), &8.into(), &8.into())
    );
    let list = phases["told"]["list"].as_array().unwrap();
    let mut from = 30_000_000;
    for (at, row) in (1..).zip(list) {
        let long = if at == 42 { 9_000_000 } else { 0 };
        let more = if at % 8 == 0 { 1_500_000 } else { 0 };
        let to = from + 4_000_000 + at * 37 % 101 * 1000 + long + more + 20_000;
        assert_eq!((&row["from_ns"], &row["to_ns"]), (&from.into(), &to.into()), "{at}");
        // Rank 1 waited for as long as rank 0 worked longer.
        assert_eq!(row["waiting_ns"], long / 2);
        from = to;
    }
    // Beyond the mean of the others, which is not that of the iteration.
    let excess = phases["told"]["different"][0]["excess_ns"].as_i64().unwrap();
    assert!((excess - 9_000_000).abs() < 100_000, "{excess}");
    assert_eq!(it["kinds"].as_array().unwrap().len(), 2);
    let found: Value = serde_json::from_str(&marey(dir.path(), &["anomalies", "--json"], "")).unwrap();
    let rows = found["anomalies"].as_array().unwrap();
    let told: Vec<_> =
        rows.iter().map(|row| (row["region"].as_str().unwrap(), &row["rank"], &row["iteration"])).collect();
    assert_eq!(told.len(), 2, "{rows:#?}");
    assert!(
        told.contains(&("work", &0.into(), &42.into()))
            && told.contains(&("MPI_Recv", &1.into(), &42.into()))
    );
    let wait = rows.iter().find(|row| row["region"] == "MPI_Recv").unwrap();
    assert_eq!(
        (&wait["waiting_ns"], &wait["waits_for"], &wait["bytes"]),
        (&9_000_000.into(), &"rank 0".into(), &4096.into())
    );
    let because = usize::try_from(wait["because"].as_u64().unwrap()).unwrap() - 1;
    assert_eq!(rows[because]["region"], "work");
}

#[test]
fn a_packed_run_says_the_same() {
    let dir = with_run();
    marey(dir.path(), &["pack"], "");
    for command in ["phases", "anomalies"] {
        let of_directory = marey(dir.path(), &[command, "run.marey", "--json"], "");
        assert_eq!(marey(dir.path(), &[command, "run.marey.zip", "--json"], ""), of_directory, "{command}");
    }
}

#[test]
fn what_cannot_be_told_is_said() {
    let dir = with_run();
    let cases: [(&[&str], &str); 4] = [
        (
            &["phases", "--loop", "3"],
            "there is no loop 3 in run.marey: one was found; `marey phases` lists them",
        ),
        (&["phases", "--loop", "0"], "not a number of 1 or more"),
        (&["anomalies", "--percent", "0"], "not a number above 0, up to 50"),
        (&["anomalies", "nothing.marey"], "there is no run at nothing.marey"),
    ];
    for (args, expected) in cases {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
        let output = command.args(args).current_dir(dir.path()).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && text.contains(expected), "{args:?}: {text}");
    }
    // A run in which nothing happened.
    let mut spool = Spool::world(1);
    spool.processes[0].end = Some(1_000);
    spool.write(&dir.path().join("empty")).unwrap();
    marey(dir.path(), &["merge", "empty", "-o", "empty.marey"], "");
    for command in ["phases", "anomalies"] {
        for columns in ["", "40"] {
            let text = marey(dir.path(), &[command, "empty.marey"], columns);
            assert!(text.contains("No "), "{text}");
        }
        serde_json::from_str::<Value>(&marey(dir.path(), &[command, "empty.marey", "--json"], "")).unwrap();
    }
}

fn json(dir: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&marey(dir, &[args, &["--json"]].concat(), "")).unwrap()
}

/// Begins of iterations, and the end of the last.
fn borders() -> Vec<u64> {
    let mut all = vec![30_000 * US];
    for at in 1..=64 {
        let long = if at == 42 { 9_000 } else { 0 };
        let more = if at % 8 == 0 { 1_500 } else { 0 };
        all.push(all[all.len() - 1] + (4_000 + at * 37 % 101 + long + more + 20) * US);
    }
    all
}

/// From the 17th iteration to the 56th: these 40, counted anew.
#[test]
fn a_span_has_its_own_iterations() {
    let dir = with_run();
    let borders = borders();
    let (from, to) = (borders[16], borders[56]);
    let nanos = |at: u64| format!("{at}ns");
    let part = json(dir.path(), &["phases", "--from", &nanos(from), "--to", &nanos(to)]);
    assert_eq!((&part["from_ns"], &part["to_ns"]), (&from.into(), &to.into()));
    let list = part["told"]["list"].as_array().unwrap();
    let spans: Vec<_> =
        list.iter().map(|row| (row["from_ns"].as_u64().unwrap(), row["to_ns"].as_u64().unwrap())).collect();
    assert_eq!(spans, borders[16..=56].windows(2).map(|ends| (ends[0], ends[1])).collect::<Vec<_>>());
    assert_eq!(
        (&part["loops"][0]["outliers"][0]["iteration"], &part["loops"][0]["kinds"][1]["number"]),
        (&26.into(), &5.into())
    );
    // What rank 1 waited for is what it waited in the run.
    assert_eq!(list[25]["waiting_ns"], 4_500_000);
    assert_eq!(part["phases"].as_array().unwrap().len(), 1, "{}", part["phases"]);
    let whole = json(dir.path(), &["phases"]);
    let told = |value: &Value, at: usize| value["told"]["list"][at]["useful_ns"].clone();
    for at in 0..40 {
        assert_eq!(told(&part, at), told(&whole, at + 16), "{at}");
    }
    // Rank 1 alone does nothing long: it waits.
    let one = json(dir.path(), &["phases", "--ranks", "1"]);
    assert_eq!(one["told"]["list"][41]["waiting_ns"], 9_000_000);
    assert_eq!(
        (&one["loops"][0]["locations"], &one["looked_at"]),
        (&serde_json::json!(["rank 1"]), &1.into())
    );
    let text = marey(dir.path(), &["phases", "--ranks", "1", "--from", "10ms"], "");
    assert!(text.contains("from 10.0\u{a0}ms to") || text.contains("from 10.0 ms to"), "{text}");
}

/// Each choice has its own of the two that there are, and what is asked for together holds together.
#[test]
fn anomalies_are_those_of_the_part() {
    let dir = with_run();
    let told = |args: &[&str]| {
        let found = json(dir.path(), &[&["anomalies"], args].concat());
        let rows = found["anomalies"].as_array().unwrap();
        let name = |row: &Value| {
            (
                row["region"].as_str().unwrap().to_owned(),
                row["rank"].as_u64().unwrap(),
                row["iteration"].clone(),
            )
        };
        (
            rows.iter().map(name).collect::<Vec<_>>(),
            found["judged"].as_u64().unwrap() + found["not_judged"].as_u64().unwrap(),
        )
    };
    let at = Value::from(42);
    let (work, receive) = (("work".to_owned(), 0, at.clone()), ("MPI_Recv".to_owned(), 1, at));
    let all = 2 * (1 + 64 + 8 + 64);
    assert_eq!(told(&[]).1, all);
    assert_eq!(told(&["--from", "0", "--ranks", "0,1"]), told(&[]));
    assert_eq!(told(&["--ranks", "0"]), (vec![work.clone()], all / 2));
    assert_eq!(told(&["--ranks", "1"]), (vec![receive.clone()], all / 2));
    assert_eq!(told(&["--level", "mpi"]), (vec![receive.clone()], 128));
    assert_eq!(told(&["--communicator", "MPI_COMM_WORLD"]), (vec![receive], 128));
    assert_eq!(told(&["--context", "work"]), (vec![work.clone()], 128));
    assert_eq!(told(&["--context", "work", "--ranks", "1"]), (vec![], 64));
    // The long visit of work begins at the 42nd border.
    let border = borders()[41];
    let [here, behind] = [format!("{border}ns"), format!("{}ns", border + 1)];
    assert_eq!(told(&["--from", &here, "--ranks", "0"]).0, [work]);
    assert_eq!(told(&["--from", &behind, "--ranks", "0"]).0, []);
    assert_eq!(told(&["--to", &here]).0, []);
    let (before, since) = (told(&["--to", &here]).1, told(&["--from", &here]).1);
    assert_eq!(before + since, all);
    assert_eq!(json(dir.path(), &["anomalies", "--from", &here])["from_ns"], border);
    let text = marey(dir.path(), &["anomalies", "--level", "mpi"], "");
    assert!(text.contains("calls of level mpi"), "{text}");
}

#[test]
fn a_part_that_is_not_there_is_said() {
    let dir = with_run();
    for (args, expected) in [
        (&["phases", "--ranks", "2"][..], "the run has no rank 2; it has 0 to 1"),
        (&["anomalies", "--ranks", "2"], "the run has no rank 2; it has 0 to 1"),
        (&["anomalies", "--level", "files"], "the run has no calls of level \"files\""),
        (&["phases", "--from", "1000s"], "nothing lies between --from and --to"),
        (&["phases", "--context", "work"], "unexpected argument '--context'"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_marey"));
        let output = command.args(args).current_dir(dir.path()).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && text.contains(expected), "{args:?}: {text}");
    }
}

/// Ranks 0 and 1, of which rank 1 takes twice as long for its second half.
fn write_slow(dir: &Path) {
    let mut spool = Spool::world(2);
    for (rank, process) in spool.processes.iter_mut().enumerate() {
        let [work, other] = ["work", "other"].map(|name| process.site(0, name));
        let mut now = 1_000 * US;
        process.start = now;
        for at in 0..400 {
            for site in [work, other] {
                let slow = rank == 1 && at >= 200 && site == work;
                process.enter(0, site, now);
                now += if slow { 4_000 } else { 1_000 } * US;
                process.leave(0, now);
            }
        }
        process.end = Some(now);
    }
    spool.write(&dir.join("spool")).unwrap();
    marey(dir, &["merge", "spool", "-o", "run.marey"], "");
}

/// Each situation is shown with those that are meant if somebody in it or its cause is.
#[test]
fn situations_are_chosen_by_who_and_where() {
    let dir = tempfile::tempdir().unwrap();
    write_slow(dir.path());
    let list = |args: &[&str]| {
        json(dir.path(), &[&["situations"], args].concat())["situations"].as_array().unwrap().clone()
    };
    let all = list(&[]);
    let is_of = |it: &Value, rank: u64| {
        it["ranks"].as_array().unwrap().contains(&rank.into()) || it["cause"]["rank"] == rank
    };
    let of = |rank: u64| all.iter().filter(|it| is_of(it, rank)).cloned().collect::<Vec<_>>();
    assert!(!of(1).is_empty(), "{all:#?}");
    assert!(of(0).len() < all.len(), "{all:#?}");
    assert_eq!((list(&["--ranks", "0"]), list(&["--ranks", "1"])), (of(0), of(1)));
    assert_eq!(list(&["--ranks", "0,1"]), all);
    assert!(list(&["--context", "work"]).iter().all(|it| all.contains(it)));
    assert!(list(&["--context", "work"]).iter().any(|it| it["kind"] == "slow-down"), "{all:#?}");
    let text = marey(dir.path(), &["situations", "--ranks", "1", "--context", "work"], "");
    assert!(text.contains("rank 1, in work and beneath"), "{text}");
}
