//! callgrind: a small profile of which all is known, and what `callgrind_annotate` says of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::otf2::{imported, marey};
use super::sums::{Sum, sums_of};

const MS: i64 = 1_000_000;

fn small() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../marey-formats/tests/callgrind/small.callgrind")
}

fn sum(visits: i64, [exclusive, inclusive]: [i64; 2], counts: &[(&str, i64)]) -> Sum {
    let counts = counts.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    Sum { visits, exclusive: exclusive * MS, inclusive: inclusive * MS, counts }
}

#[test]
fn functions_have_their_own_costs_and_those_of_what_they_call() {
    let dir = tempfile::tempdir().unwrap();
    imported(dir.path(), small().to_str().unwrap());
    let sums = sums_of(&dir.path().join("run.marey"));
    let key = |thread: u32, name: &str| (0, format!("thread {thread}"), name.to_owned());
    // Of `work`, which calls itself, the calls of itself are not what it costs beside itself.
    let expected = BTreeMap::from([
        (key(1, "main"), sum(0, [15, 89], &[("Ir", 350)])),
        (key(1, "work"), sum(5, [69, 70], &[("Ir", 580)])),
        (key(1, "puts"), sum(5, [5, 5], &[("Ir", 50)])),
        (key(1, "helper"), sum(0, [1, 1], &[("Ir", 20)])),
        (key(2, "main"), sum(0, [10, 10], &[("Misses", 1)])),
        (key(2, "helper"), sum(0, [2, 2], &[("Misses", 8)])),
    ]);
    assert_eq!(sums, expected);
    let dump = marey(dir.path(), &["dump", "run.marey"]);
    let dump = String::from_utf8_lossy(&dump.stdout);
    let calls: Vec<&str> = dump.lines().filter(|line| line.contains("caller")).collect();
    assert_eq!(calls.len(), 4, "{dump}");
    assert!(
        calls.iter().any(|line| ["work", "puts", "4", "20"].iter().all(|it| line.contains(it))),
        "{calls:#?}"
    );
}

/// Costs by function, as `callgrind_annotate` adds them up over the files of what is inlined.
fn annotated(profile: &Path) -> Option<BTreeMap<String, i64>> {
    let output =
        Command::new("callgrind_annotate").args(["--threshold=100", "--show=Ir"]).arg(profile).output();
    let Ok(output) = output else {
        marey_testkit::skip("callgrind_annotate (valgrind)");
        return None;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let mut sums = BTreeMap::new();
    let rows = text.lines().skip_while(|line| !line.contains("file:function")).skip(2);
    for line in rows.take_while(|line| !line.is_empty()) {
        // What costs nothing has no share.
        let Some((cost, rest)) = line.trim().split_once(" (") else { continue };
        let name = rest.split_once(") ").unwrap().1.trim();
        let name = name.split_once(" [").map_or(name, |it| it.0).rsplit_once(':').unwrap().1;
        *sums.entry(name.to_owned()).or_default() += cost.replace(',', "").parse::<i64>().unwrap();
    }
    Some(sums)
}

fn check_against_annotate(profile: &Path) {
    let Some(expected) = annotated(profile) else { return };
    assert!(expected.len() > 3, "{expected:?}");
    let dir = tempfile::tempdir().unwrap();
    imported(dir.path(), profile.to_str().unwrap());
    let mut found: BTreeMap<String, i64> = BTreeMap::new();
    for ((_, _, name), sum) in sums_of(&dir.path().join("run.marey")) {
        if let Some(cost) = sum.counts.get("Ir") {
            *found.entry(name).or_default() += cost;
        }
    }
    assert_eq!(found, expected);
    let report = marey(dir.path(), &["report", "run.marey"]);
    assert!(report.status.success() && String::from_utf8_lossy(&report.stdout).contains("Ir"));
}

#[test]
fn costs_of_functions_are_those_that_callgrind_annotate_finds() {
    // That tool knows one list of events in a file, and takes costs in hexadecimal for 0.
    let text = std::fs::read_to_string(small()).unwrap().replace("0x14", "20");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("first.callgrind");
    std::fs::write(&path, text.split_once("part: 2").unwrap().0).unwrap();
    check_against_annotate(&path);
}

#[test]
fn a_fresh_profile_of_valgrind_is_as_callgrind_annotate_has_it() {
    let dir = tempfile::tempdir().unwrap();
    let profile = dir.path().join("callgrind.out.1");
    let mut valgrind = Command::new("valgrind");
    valgrind.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", profile.display()));
    if !valgrind.arg("/bin/true").output().is_ok_and(|output| output.status.success()) {
        marey_testkit::skip("valgrind");
        return;
    }
    check_against_annotate(&profile);
}
