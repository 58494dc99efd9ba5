//! OTF2: against `otf2-print`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use marey_archive::Archive;
use marey_archive::merge::{self, Config};
use serde_json::Value;

/// A line of `otf2-print`: the kind of the record, location, ticks and the rest.
#[derive(Debug)]
struct Line {
    kind: String,
    location: u64,
    ticks: u64,
    rest: String,
}

const RESOLUTION: f64 = 2.5;
const BEGIN: u64 = 1_000_000_007;

pub(super) fn marey(dir: &Path, words: &[&str]) -> Output {
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    marey.current_dir(dir).env("XDG_STATE_HOME", dir.join(".state")).args(words).output().unwrap()
}

/// The program that writes archives. `None`, said aloud, without OTF2's library or its tools.
fn writer(dir: &Path) -> Option<PathBuf> {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs/otf2_all.c");
    let program = dir.join("otf2_all");
    let mut build = Command::new("gcc");
    build.args(["-O1", "-Wno-deprecated-declarations", "-o"]).args([&program, &source]).arg("-lotf2");
    let is_built = build.output().is_ok_and(|output| output.status.success());
    if !is_built || Command::new("otf2-print").arg("--version").output().is_err() {
        marey_testkit::skip("OTF2 (libotf2-trace-dev, otf2-tools)");
        return None;
    }
    Some(program)
}

fn written(dir: &Path, number: u32, steps: u32) -> Option<()> {
    let status = Command::new(writer(dir)?)
        .current_dir(dir)
        .args(["all", &number.to_string(), &steps.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
    Some(())
}

fn printed(dir: &Path, archive: &str) -> Vec<Line> {
    let output = Command::new("otf2-print").current_dir(dir).arg(archive).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let (kind, location, ticks) =
            (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Line { kind: kind.to_owned(), location, ticks, rest: words.collect::<Vec<_>>().join(" ") })
    };
    text.lines()
        .filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()))
        .filter_map(line)
        .collect()
}

/// Imports the archive, of which nothing may be wrong; what was said of it.
pub(super) fn imported(dir: &Path, archive: &str) -> Value {
    let output = marey(dir, &["import", archive, "-o", "run.marey", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// How `otf2-print` writes the name of a record.
fn plain(name: &str) -> String {
    let name = match name {
        "IoChangeStatusFlags" => "IoChangeFlags",
        "ParameterInt" => "ParameterInt64",
        "ParameterUnsignedInt" => "ParameterUint64",
        name => name,
    };
    name.to_ascii_uppercase()
}

/// The text between the first quotes.
fn quoted(text: &str) -> &str {
    text.split('"').nth(1).unwrap()
}

/// The number behind a word.
fn behind(text: &str, word: &str) -> i64 {
    let rest = text.split_once(word).unwrap_or_else(|| panic!("{word} in {text}")).1;
    let end = rest.find(|sign: char| !sign.is_ascii_digit() && sign != '-').unwrap_or(rest.len());
    rest[..end].parse().unwrap()
}

/// Visits and inclusive time by location and region, ns.
type Sums = BTreeMap<(u64, String), (u64, f64)>;

fn sums_of(lines: &[Line]) -> Sums {
    let mut open: BTreeMap<u64, Vec<(String, u64)>> = BTreeMap::new();
    let mut sums = Sums::new();
    for line in lines {
        let stack = open.entry(line.location).or_default();
        match line.kind.as_str() {
            "ENTER" | "CALLING_CONTEXT_ENTER" => stack.push((quoted(&line.rest).to_owned(), line.ticks)),
            "LEAVE" | "CALLING_CONTEXT_LEAVE" => {
                let (name, since) = stack.pop().unwrap();
                assert_eq!(name, quoted(&line.rest));
                let sum = sums.entry((line.location, name)).or_default();
                *sum = (sum.0 + 1, sum.1 + (line.ticks - since) as f64 / RESOLUTION);
            }
            _ => {}
        }
    }
    sums
}

pub(super) fn run_of(dir: &Path) -> Archive {
    Archive::open(&dir.join("run.marey")).unwrap()
}

fn sums_in(run: &Archive) -> Sums {
    let table = |name: &str| run.table(name).unwrap();
    let (intervals, paths, regions) = (table("intervals"), table("call_paths"), table("regions"));
    let mut sums = Sums::new();
    for row in 0..intervals.len() {
        let path = intervals.u32("call_path").unwrap()[row] as usize;
        let region = paths.u32("region").unwrap()[path] as usize;
        let (noun, verb) = (&regions.text("noun").unwrap()[region], &regions.text("verb").unwrap()[region]);
        let name = if verb == "execute" { noun.clone() } else { verb.clone() };
        let sum = sums.entry((intervals.u32("location").unwrap()[row].into(), name)).or_default();
        *sum = (sum.0 + 1, sum.1 + intervals.i64("duration").unwrap()[row] as f64);
    }
    sums
}

#[test]
fn records_of_all_kinds_are_those_that_its_own_tool_prints() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = dir.path();
    for (number, steps) in [(1, 3000), (2, 20_000)] {
        if written(dir, number, steps).is_none() {
            return;
        }
        let said = imported(dir, "all/traces.otf2");
        let lines = printed(dir, "all/traces.otf2");
        assert_eq!(said["problems"], serde_json::json!([]));
        // How many there are of each kind.
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for line in &lines {
            *counts.entry(line.kind.replace('_', "")).or_default() += 1;
        }
        let records = said["records"].as_array().unwrap();
        let told: BTreeMap<String, u64> = records
            .iter()
            .map(|it| (plain(it["name"].as_str().unwrap()), it["number"].as_u64().unwrap()))
            .collect();
        assert_eq!(told, counts);
        assert_eq!(told.len(), 79, "each kind of record is there");
        definitions_are_those(&said, dir);

        let run = run_of(dir);
        regions_are_those(&run, &lines);
        messages_are_those(&run, &lines);
        counters_are_those(&run, &lines);
        events_are_those(&run, &lines);
        std::fs::remove_dir_all(dir.join("all")).unwrap();
        std::fs::remove_dir_all(dir.join("run.marey")).unwrap();
    }
}

fn definitions_are_those(said: &Value, dir: &Path) {
    let output =
        Command::new("otf2-print").current_dir(dir).args(["-G", "all/traces.otf2"]).output().unwrap();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let is_name = |word: &&str| word.chars().all(|sign| sign.is_ascii_uppercase() || sign == '_');
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let first = line.split(' ').next().filter(is_name).filter(|word| !word.is_empty());
        *counts.entry(first.unwrap_or("other").replace('_', "")).or_default() += 1;
    }
    counts.remove("OTHER");
    counts.remove("other");
    let definitions = said["definitions"].as_array().unwrap();
    let told: BTreeMap<String, u64> = definitions
        .iter()
        .map(|it| (plain(it["name"].as_str().unwrap()), it["number"].as_u64().unwrap()))
        .collect();
    assert_eq!(told, counts);
}

fn regions_are_those(run: &Archive, lines: &[Line]) {
    let (truth, mut told) = (sums_of(lines), sums_in(run));
    // Those that are made for messages outside of MPI take no time.
    let made: Vec<_> =
        told.extract_if(.., |key, _| ["send", "receive", "complete"].contains(&key.1.as_str())).collect();
    assert!(made.len() >= 3 && made.iter().all(|(_, sum)| sum.1 == 0.0), "{made:?}");
    assert_eq!(told.keys().collect::<Vec<_>>(), truth.keys().collect::<Vec<_>>());
    for (key, (visits, time)) in &truth {
        let (told_visits, told_time) = told[key];
        // Each end is rounded to 1 ns.
        assert!(
            told_visits == *visits && (told_time - time).abs() <= *visits as f64,
            "{key:?}: {:?} is {time}",
            told[key]
        );
    }
}

/// By sender, tag and size: when each was sent and received is within the calls that did.
fn messages_are_those(run: &Archive, lines: &[Line]) {
    let mut sent: BTreeMap<(u64, i64), Vec<(u64, i64)>> = BTreeMap::new();
    let mut received = sent.clone();
    for line in lines {
        let (map, from) = match line.kind.as_str() {
            "MPI_SEND" | "MPI_ISEND" => (&mut sent, line.location),
            "MPI_RECV" | "MPI_IRECV" => (&mut received, 2 - line.location),
            _ => continue,
        };
        let key = (from, behind(&line.rest, "Tag: "));
        map.entry(key).or_default().push((line.ticks, behind(&line.rest, "Length: ")));
    }
    let messages = run.table("messages").unwrap();
    let column = |name: &str| messages.i64(name).unwrap().to_vec();
    let (sent_at, received_at, bytes, tags) =
        (column("send_time"), column("recv_time"), column("bytes"), column("tag"));
    // When it was sent and received, and its size.
    type Row = (i64, i64, i64);
    let mut told: BTreeMap<(u64, i64), Vec<Row>> = BTreeMap::new();
    for row in 0..messages.len() {
        let from = messages.u32("send_location").unwrap()[row].into();
        told.entry((from, tags[row])).or_default().push((sent_at[row], received_at[row], bytes[row]));
    }
    assert_eq!(told.keys().collect::<Vec<_>>(), sent.keys().collect::<Vec<_>>());
    for (key, rows) in &mut told {
        rows.sort_unstable();
        let (sent, received) = (&sent[key], &received[key]);
        assert_eq!((rows.len(), rows.len()), (sent.len(), received.len()));
        for (row, (sent, received)) in rows.iter().zip(sent.iter().zip(received)) {
            assert_eq!((row.2, row.2), (sent.1, received.1), "{key:?}");
            // A call begins before its message is sent, and ends behind what it has received.
            let ns = |ticks: u64| (ticks - BEGIN) as f64 / RESOLUTION;
            let is_within = row.0 as f64 <= ns(sent.0) + 1.0 && ns(received.0) - 1.0 <= row.1 as f64;
            assert!(is_within, "{key:?}: {row:?}");
        }
    }
    // A row for each member of each.
    let mut instances = run.table("collectives").unwrap().u32("instance").unwrap().to_vec();
    instances.sort_unstable();
    assert_eq!(instances, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
    assert_eq!(run.table("problems").unwrap().len(), 0);
}

fn counters_are_those(run: &Archive, lines: &[Line]) {
    let mut truth: BTreeMap<(u64, String), Vec<f64>> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.kind == "METRIC") {
        for value in line.rest.split_once("Values: ").unwrap().1.split("), (") {
            let number: f64 = value.rsplit(' ').next().unwrap().trim_end_matches(')').parse().unwrap();
            // The second is told in thousands.
            let scale = if quoted(value) == "hits" { 1000.0 } else { 1.0 };
            truth.entry((line.location, quoted(value).to_owned())).or_default().push(scale * number);
        }
    }
    let (counters, kinds) = (run.table("counters").unwrap(), run.table("counter_kinds").unwrap());
    let mut told: BTreeMap<(u64, String), Vec<f64>> = BTreeMap::new();
    for row in 0..counters.len() {
        let name = &kinds.text("name").unwrap()[counters.u32("counter").unwrap()[row] as usize];
        let location = counters.u32("location").unwrap()[row].into();
        told.entry((location, name.clone())).or_default().push(counters.f64("value").unwrap()[row]);
    }
    assert_eq!(told, truth);
}

/// What has no place of its own is kept with its fields: of each kind how many, and of some all values.
fn events_are_those(run: &Archive, lines: &[Line]) {
    let (events, kinds) = (run.table("events").unwrap(), run.table("event_kinds").unwrap());
    let mut told: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for row in 0..events.len() {
        let kind = events.u32("kind").unwrap()[row] as usize;
        let name = &kinds.text("name").unwrap()[kind];
        if kinds.text("kind").unwrap()[kind] == "event" {
            let fields = serde_json::from_str(&events.text("fields").unwrap()[row]).unwrap();
            told.entry(plain(name)).or_default().push(fields);
        }
    }
    for (name, values) in &told {
        let lines: Vec<&Line> = lines.iter().filter(|line| line.kind.replace('_', "") == *name).collect();
        assert_eq!(values.len(), lines.len(), "{name}");
        let fields: &[(&str, &str)] = match name.as_str() {
            "RMAATOMIC" => &[
                ("remote", "Remote: "),
                ("sent", "Sent: "),
                ("received", "Received: "),
                ("matching", "Matching: "),
            ],
            "IOSEEK" => &[("request", "Offset Request: "), ("result", "Offset Result: ")],
            "IOOPERATIONBEGIN" => &[("bytes", "Bytes Request: "), ("matching", "Matching Id: ")],
            "THREADTASKCREATE" => &[("creator", "Creating Thread: "), ("generation", "Generation Number: ")],
            "OMPACQUIRELOCK" => &[("lock", "Lock: "), ("order", "Acquisition Order: ")],
            _ => &[],
        };
        for (field, word) in fields {
            let mut truth: Vec<i64> = lines.iter().map(|line| behind(&line.rest, word)).collect();
            let mut told: Vec<i64> = values
                .iter()
                .map(|it| it[field].as_i64().unwrap_or_else(|| panic!("{field} of {it}")))
                .collect();
            truth.sort_unstable();
            told.sort_unstable();
            assert_eq!(told, truth, "{field} of {name}");
        }
    }
    assert!(told.len() > 50, "{:?}", told.keys());
}

/// Whatever byte is another, and wherever a file ends: a run or an error with the file in it, and no panic.
#[test]
fn archives_that_are_damaged_give_what_can_be_read() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = dir.path();
    if written(dir, 3, 150).is_none() {
        return;
    }
    let whole = marey_formats::import(&dir.join("all/traces.otf2"), &dir.join("spool"), &()).unwrap();
    std::fs::remove_dir_all(dir.join("spool")).unwrap();
    let (mut n_errors, mut n_attempts) = (0, 0);
    for name in ["all/traces.otf2", "all/traces.def", "all/traces/1.evt", "all/traces/1.def"] {
        let path = dir.join(name);
        let bytes = std::fs::read(&path).unwrap();
        let mut attempt = |content: &[u8]| {
            std::fs::write(&path, content).unwrap();
            let spool = dir.join("spool");
            let imported = marey_formats::import(&dir.join("all/traces.otf2"), &spool, &());
            match &imported {
                Ok(imported) => assert!(imported.events <= 2 * whole.events, "{imported:?}"),
                Err(error) => {
                    n_errors += 1;
                    assert!(error.to_string().contains("traces"), "{error}");
                }
            }
            n_attempts += 1;
            if n_attempts % 50 == 0 && imported.is_ok_and(|imported| imported.locations > 0) {
                let run = dir.join("run.marey");
                let config = Config { threads: Some(1), memory_bytes: 64 << 20, keep_spool: true };
                merge::merge(&spool, &run, &config, &()).unwrap();
                std::fs::remove_dir_all(&run).unwrap();
            }
            std::fs::remove_dir_all(&spool).ok();
        };
        for at in (0..bytes.len()).step_by(7) {
            attempt(&bytes[..at]);
            for flipped in [0xff, 0x01, 0x80] {
                let mut other = bytes.clone();
                other[at] ^= flipped;
                attempt(&other);
            }
        }
        std::fs::write(&path, &bytes).unwrap();
    }
    assert!(n_errors > 10, "{n_errors}");
}

/// Wherever a file ends too early, that is said.
#[test]
fn archives_that_are_cut_off_say_so() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = dir.path();
    if written(dir, 4, 100).is_none() {
        return;
    }
    for name in ["all/traces.otf2", "all/traces.def", "all/traces/1.evt", "all/traces/1.def"] {
        let path = dir.join(name);
        let bytes = std::fs::read(&path).unwrap();
        // The last two are the end of the buffer and of the file.
        for at in 0..bytes.len() - 2 {
            std::fs::write(&path, &bytes[..at]).unwrap();
            let imported = marey_formats::import(&dir.join("all/traces.otf2"), &dir.join("spool"), &());
            assert!(imported.map_or(true, |it| !it.problems.is_empty()), "{at} bytes of {name}");
            std::fs::remove_dir_all(dir.join("spool")).ok();
        }
        std::fs::write(&path, &bytes).unwrap();
    }
}

/// Recorded by Score-P: two ranks that send each other messages of 16 KiB and more.
#[test]
fn a_trace_of_score_p_is_what_its_own_tool_prints() {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/samples/otf2/hpcgroup_pipit/ping-pong-otf2");
    if !sample.is_dir() || Command::new("otf2-print").arg("--version").output().is_err() {
        return marey_testkit::skip("samples of OTF2 (../shared), otf2-print");
    }
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = dir.path();
    let archive = sample.join("traces.otf2").canonicalize().unwrap();
    let said = imported(dir, &archive.to_string_lossy());
    let lines = printed(dir, &archive.to_string_lossy());
    assert_eq!(
        (said["events"].as_u64().unwrap(), said["problems"].as_array().unwrap().len()),
        (lines.len() as u64, 0)
    );
    let run = run_of(dir);
    let bytes: i64 = run.table("messages").unwrap().i64("bytes").unwrap().iter().sum();
    let sent = lines.iter().filter(|line| line.kind == "MPI_SEND").map(|line| behind(&line.rest, "Length: "));
    assert_eq!((bytes, run.table("messages").unwrap().len()), (sent.sum(), 16));
}
