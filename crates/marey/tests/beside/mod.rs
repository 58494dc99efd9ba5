//! Two runs that are served side by side: the page is told what `marey diff` says, and can name no other run.

use std::path::Path;
use std::process::{Command, Stdio};

use marey_archive::merge::{Config, merge};
use marey_archive::prepare;
use marey_testkit::{Message, Spool};
use serde_json::Value;

use super::{Served, question};

/// Ranks that work and talk: rank 1 waits for rank 0, which works so long. `own` is what only this run does.
fn write(run: &Path, ranks: u32, work: u64, own: &str) {
    let mut spool = Spool::world(ranks);
    let message = |peer: i64| Message { communicator: 0, peer, tag: 3, bytes: work };
    for (rank, process) in (0..).zip(&mut spool.processes) {
        let [working, owned] = ["work", own].map(|name| process.site(0, name));
        let (send, receive) = (process.site(1, "MPI_Send"), process.site(1, "MPI_Recv"));
        for step in 0..30 {
            let at = 5000 + 137 * rank + step * (work + 4000);
            let worked = at + if rank == 0 { work } else { 300 + 7 * step };
            process.enter(0, working, at);
            process.enter(0, owned, at + 20);
            process.leave(0, at + 60 + step);
            process.leave(0, worked);
            match rank {
                0 => {
                    process.enter(0, send, worked + 5);
                    process.send(0, message(1));
                    process.leave(0, worked + 90);
                }
                1 => {
                    process.enter(0, receive, worked + 5);
                    process.receive(0, message(0));
                    process.leave(0, worked.max(at + work) + 200);
                }
                _ => {}
            }
        }
        process.end = Some(5000 + 30 * (work + 4000));
    }
    let dir = run.with_extension("spool");
    spool.write(&dir).unwrap();
    merge(&dir, run, &Config { threads: Some(1), memory_bytes: 1 << 20, keep_spool: false }, &()).unwrap();
    prepare(run).unwrap();
}

fn head(served: &Served, cookie: &str, path: &str, ask: &str) -> Value {
    let (host, more) = (served.parts().0, format!("Cookie: {cookie}\r\n"));
    let body = format!(r#"{{"ask":"{ask}"}}"#);
    let answer = served.ask(&question(host, &served.at("/"), &more, &body).replace("api/answer", path));
    assert_eq!(answer.status, 200, "{path}");
    let len = u32::from_le_bytes(answer.body[..4].try_into().unwrap()) as usize;
    let head: Value = serde_json::from_slice(&answer.body[4..4 + len]).unwrap();
    assert_eq!(head["kind"], ask, "{head}");
    head["head"].clone()
}

/// Both runs, served, and what `marey diff --json` says of them.
struct Pair {
    served: Served,
    cookie: String,
    told: Value,
    dir: tempfile::TempDir,
}

fn pair((ranks, work): (u32, u64), metrics: &[&str]) -> Pair {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("run.marey"), 2, 2000, "before");
    write(&dir.path().join("other.marey"), ranks, work, "after");
    let served = Served::new(dir.path(), &["other.marey"]);
    let cookie = served.cookie();
    let mut diff = Command::new(env!("CARGO_BIN_EXE_marey"));
    diff.args(["diff", "run.marey", "other.marey", "--json"]).current_dir(dir.path()).stdin(Stdio::null());
    metrics.iter().for_each(|metric| {
        diff.args(["--metric", metric]);
    });
    let output = diff.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    Pair { served, cookie, told: told["comparisons"][0].clone(), dir }
}

fn rows(table: &Value) -> impl Iterator<Item = &Value> {
    table.as_array().unwrap().iter()
}

#[expect(clippy::cast_possible_truncation, reason = "made-up runs are short")]
fn whole(value: &Value, factor: &Value) -> i64 {
    (value.as_f64().unwrap() * factor.as_f64().unwrap()).round() as i64
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// What tells a row, and its times in both runs, ns of all ranks.
type Told = (String, String, i64, i64);

/// Rows as the page is told them, in the order of their names.
fn shown(table: &Value, divisors: &Value) -> Vec<Told> {
    let mut found: Vec<Told> = rows(&table["rows"])
        .filter(|row| row["place"]["activity"] != "before")
        .map(|row| {
            let names =
                [rows(&row["around"]).map(text).collect(), vec![text(&row["place"]["name"])]].concat();
            let (old, new) = (whole(&row["old"], &divisors[0]), whole(&row["new"], &divisors[1]));
            (names.join("/"), text(&row["pattern"]), old, new)
        })
        .collect();
    assert_eq!(table["number"], rows(&table["rows"]).count());
    found.sort();
    found
}

/// The same as `marey diff` tells them.
fn diffed(table: &Value, old: &str, new: &str) -> Vec<Told> {
    let mut found: Vec<Told> = rows(table)
        .map(|row| {
            let name = match (row["path"].as_array(), row["verb"].as_str(), row["region"].as_str()) {
                (Some(path), ..) => path.iter().map(text).collect::<Vec<_>>().join("/"),
                (None, Some(verb), _) => verb.to_owned(),
                (None, None, region) => region.unwrap_or_default().to_owned(),
            };
            let pattern = row["pattern"].as_str().unwrap_or_default().to_owned();
            (name, pattern, row[old].as_i64().unwrap(), row[new].as_i64().unwrap())
        })
        .collect();
    found.sort();
    found
}

#[test]
fn two_runs_are_compared_as_marey_diff_does() {
    for other in [(2, 3500), (3, 1200)] {
        let metrics =
            ["duration", "waiting", "parallel_efficiency", "load_balance", "transfer", "visits", "bytes"];
        let pair = pair(other, &metrics);
        let found = head(&pair.served, &pair.cookie, "api/answer", "compare");
        let told = &pair.told;
        let (once, divisors) = (serde_json::json!([1, 1]), &found["divisors"]);
        let n = if other.0 == 2 { (1.0, 1.0) } else { (2.0, 3.0) };
        assert_eq!(divisors, &serde_json::json!([n.0, n.1]));
        assert_eq!(found["sentences"], told["verdict"]["sentences"]);
        assert_eq!(shown(&found["path"], &once), diffed(&told["critical_path"], "old_ns", "new_ns"));
        let own = ("old_exclusive_ns", "new_exclusive_ns");
        assert_eq!(shown(&found["regions"], divisors), diffed(&told["regions"], own.0, own.1));
        assert_eq!(shown(&found["call_paths"], divisors), diffed(&told["call_paths"], own.0, own.1));
        assert_eq!(shown(&found["waits"], divisors), diffed(&told["waits"], "old_ns", "new_ns"));
        assert!(rows(&told["waits"]).count() > 0 && rows(&told["call_paths"]).count() > 4);
        for metric in rows(&told["metrics"]) {
            let number = rows(&found["numbers"]).find(|it| it["name"] == metric["name"]).unwrap();
            assert_eq!((&number["old"], &number["new"]), (&metric["old"], &metric["new"]), "{metric}");
        }
        // The counts of calls and bytes, too.
        for region in rows(&told["regions"]) {
            let row =
                rows(&found["regions"]["rows"]).find(|row| row["place"]["name"] == region["verb"]).unwrap();
            for (ours, theirs) in
                [("calls", ["old_calls", "new_calls"]), ("bytes", ["old_bytes", "new_bytes"])]
            {
                let sums = [0, 1].map(|side| whole(&row[ours][side], &divisors[side]));
                assert_eq!(sums.map(Value::from), theirs.map(|name| region[name].clone()), "{row}");
            }
        }
    }
}

#[test]
fn runs_go_by_their_numbers_and_there_are_no_others() {
    let pair = pair((3, 1200), &[]);
    let name = |path: &str| head(&pair.served, &pair.cookie, path, "run")["name"].clone();
    assert_eq!(
        (name("api/answer"), name("api/answer/0"), name("api/answer/1")),
        ("run.marey".into(), "run.marey".into(), "other.marey".into())
    );
    let (host, run) = (pair.served.parts().0, r#"{"ask":"run"}"#);
    let status = |path: &str, more: &str| {
        pair.served.ask(&question(host, &pair.served.at("/"), more, run).replace("api/answer", path)).status
    };
    let more = format!("Cookie: {}\r\n", pair.cookie);
    for path in [
        "2",
        "-1",
        "01x",
        "18446744073709551616",
        "other.marey",
        "..%2fother.marey",
        "%2fetc%2fpasswd",
        "1/1",
    ] {
        let status = status(&format!("api/answer/{path}"), &more);
        assert!([400, 404, 405].contains(&status), "{path}: {status}");
    }
    assert_eq!(status("api/answer/1", ""), 401, "without the cookie");
    let one = Served::new(pair.dir.path(), &[]);
    let more = format!("Cookie: {}\r\n", one.cookie());
    let asked = question(one.parts().0, &one.at("/"), &more, run).replace("api/answer", "api/answer/1");
    assert_eq!(one.ask(&asked).status, 404, "one run has none beside it");
}

#[test]
fn a_second_run_that_is_not_there_is_told() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("run.marey"), 2, 2000, "before");
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    marey.args(["view", "run.marey", "nothing.marey", "--no-open"]).current_dir(dir.path());
    let output = marey.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("nothing.marey"));
}
