//! Chrome trace events: against a plain parser of JSON that holds all of it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::{Compression, write::GzEncoder};
use marey_archive::Archive;
use serde_json::{Value, json};

use super::otf2::{imported, run_of};

/// Visits and inclusive time by process and region, ns.
type Sums = BTreeMap<(String, String), (u64, f64)>;

fn samples() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/chrome-trace");
    let Ok(dirs) = std::fs::read_dir(&dir) else { return Vec::new() };
    let files = dirs.flatten().flat_map(|dir| std::fs::read_dir(dir.path()).into_iter().flatten().flatten());
    let mut files: Vec<PathBuf> = files.filter_map(|file| file.path().canonicalize().ok()).collect();
    files.sort();
    files
}

/// All events of a trace, as a parser that knows nothing of it reads them.
fn events_of(file: &Path) -> Vec<Value> {
    let mut text = String::new();
    let raw = std::fs::File::open(file).unwrap();
    match file.extension().is_some_and(|end| end == "gz") {
        true => std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(raw), &mut text),
        false => std::io::Read::read_to_string(&mut std::io::BufReader::new(raw), &mut text),
    }
    .unwrap();
    let whole: Value = serde_json::from_str(&text)
        .or_else(|_| serde_json::from_str(&format!("{}]", text.trim_end().trim_end_matches(','))))
        .unwrap();
    let list = whole.get("traceEvents").unwrap_or(&whole);
    list.as_array().unwrap().clone()
}

fn phase(event: &Value) -> &str {
    event["ph"].as_str().unwrap_or_default()
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Regions by the slow way: of each thread all events in order of time, with a stack.
fn sums_of(events: &[Value]) -> Sums {
    let us = |value: &Value| value.as_f64().unwrap();
    let mut sums = Sums::new();
    let mut add = |event: &Value, name: &str, ns: f64| {
        let sum = sums.entry((plain(&event["pid"]), name.to_owned())).or_default();
        *sum = (sum.0 + 1, sum.1 + ns);
    };
    let mut open: BTreeMap<(String, String), Vec<(String, f64)>> = BTreeMap::new();
    let mut timed: Vec<&Value> =
        events.iter().filter(|event| ["B", "E", "X"].contains(&phase(event))).collect();
    timed.sort_by(|a, b| us(&a["ts"]).total_cmp(&us(&b["ts"])));
    for event in timed {
        let name = event["name"].as_str().unwrap_or_default();
        let stack = open.entry((plain(&event["pid"]), plain(&event["tid"]))).or_default();
        match phase(event) {
            "X" => {
                let length = event.get("dur").or_else(|| event.get("tdur")).map_or(0.0, us);
                add(event, name, 1000.0 * length);
            }
            "B" => stack.push((name.to_owned(), us(&event["ts"]))),
            _ => {
                let at = stack.iter().rposition(|(open, _)| name.is_empty() || open == name);
                if let Some(at) = at {
                    let (name, since) = stack.remove(at);
                    add(event, &name, 1000.0 * (us(&event["ts"]) - since));
                }
            }
        }
    }
    sums
}

/// The same of a run: intervals, and what overlaps others, but for states that `b` and `S` begin.
fn sums_in(run: &Archive, states: &[&str], named: &[&str]) -> Sums {
    let table = |name: &str| run.table(name).unwrap();
    let (intervals, overlaps, paths) = (table("intervals"), table("overlaps"), table("call_paths"));
    let (regions, locations, processes) = (table("regions"), table("locations"), table("processes"));
    let mut sums = Sums::new();
    let mut add = |location: u32, region: u32, ns: i64| {
        let process = locations.u32("process").unwrap()[location as usize] as usize;
        let pid = processes.u32("pid").unwrap()[process];
        let command = processes.text("command").unwrap()[process].clone();
        let region = region as usize;
        let verb = &regions.text("verb").unwrap()[region];
        let name = if verb == "execute" { &regions.text("noun").unwrap()[region] } else { verb };
        let process = if named.contains(&command.as_str()) { command } else { pid.to_string() };
        let sum = sums.entry((process, name.clone())).or_default();
        *sum = (sum.0 + 1, sum.1 + ns as f64);
    };
    for row in 0..intervals.len() {
        let path = intervals.u32("call_path").unwrap()[row] as usize;
        let region = paths.u32("region").unwrap()[path];
        add(intervals.u32("location").unwrap()[row], region, intervals.i64("duration").unwrap()[row]);
    }
    for row in 0..overlaps.len() {
        let region = overlaps.u32("region").unwrap()[row];
        if !states.contains(&regions.text("noun").unwrap()[region as usize].as_str()) {
            add(overlaps.u32("location").unwrap()[row], region, overlaps.i64("duration").unwrap()[row]);
        }
    }
    sums
}

fn sums_are_those(run: &Archive, events: &[Value]) {
    let states: Vec<&str> = events
        .iter()
        .filter(|event| ["b", "S"].contains(&phase(event)))
        .map(|event| event["name"].as_str().unwrap())
        .collect();
    // Processes that have a text for a number.
    let named = events.iter().filter_map(|event| event["pid"].as_str());
    let named: Vec<&str> = named.filter(|name| !name.is_empty()).collect();
    let (truth, told) = (sums_of(events), sums_in(run, &states, &named));
    for (key, (visits, time)) in &truth {
        let told = told.get(key).copied().unwrap_or_default();
        // Each end is rounded to 1 ns.
        assert!(
            told.0 == *visits && (told.1 - time).abs() <= 2.0 * *visits as f64,
            "{key:?}: {told:?}, but {visits} visits of {time}"
        );
    }
    assert_eq!(told.keys().collect::<Vec<_>>(), truth.keys().collect::<Vec<_>>());
}

fn counts_are_those(said: &Value, events: &[Value]) {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for event in events {
        *counts.entry(phase(event)).or_default() += 1;
    }
    let letter =
        |name: &str| name.rsplit_once(" (").map_or(String::new(), |it| it.1.trim_end_matches(')').to_owned());
    let told: BTreeMap<String, u64> = said["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let name = it["name"].as_str().unwrap();
            let letter = if name.ends_with("())") { ")".to_owned() } else { letter(name) };
            (letter, it["number"].as_u64().unwrap())
        })
        .collect();
    let told: BTreeMap<&str, u64> = told.iter().map(|(letter, number)| (letter.as_str(), *number)).collect();
    assert_eq!(told, counts);
}

#[test]
fn samples_are_what_a_plain_parser_finds() {
    let files = samples();
    if files.is_empty() {
        return marey_testkit::skip("samples of Chrome traces (../shared)");
    }
    for file in &files {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let dir = dir.path();
        let said = imported(dir, &file.to_string_lossy());
        let events = events_of(file);
        // Regions of these tools nest.
        assert!(!said["problems"].to_string().contains("overlap"), "{said}");
        assert_eq!(said["events"].as_u64().unwrap(), events.len() as u64, "{}", file.display());
        counts_are_those(&said, &events);
        sums_are_those(&run_of(dir), &events);
    }
    assert!(files.len() >= 9, "{files:?}");
}

/// Events of every kind, in no order, with `steps` calls; and what is to come out of them.
fn everything(steps: u64) -> Value {
    let mut events = vec![
        json!({"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "solver \"a\" é"}}),
        json!({"ph": "M", "name": "thread_name", "pid": 7, "tid": "main", "args": {"name": "first"}}),
        json!({"ph": "M", "name": "process_sort_index", "pid": 7, "args": {"sort_index": 3}}),
        json!({"ph": "M", "name": "process_labels", "pid": 7, "args": {"labels": "of a kind"}}),
        // Beside each other, one within the other, and one that takes no time.
        json!({"ph": "X", "name": "inner", "cat": "io", "pid": 7, "tid": "main", "ts": 1_000_010, "dur": 20.5}),
        json!({"ph": "X", "name": "outer", "cat": "io,x", "pid": 7, "tid": "main", "ts": 1_000_000.25, "dur": 100,
            "args": {"n": -3, "u": 9, "r": 0.5, "is": true, "what": "a\nb", "list": [1, {"a": null}], "none": null},
            "tts": 5}),
        // Of two that begin at once the inner one is written first, as it ends first.
        json!({"ph": "X", "name": "within", "pid": 7, "tid": 3, "ts": 1_000_060, "dur": 5}),
        json!({"ph": "X", "name": "around", "pid": 7, "tid": 3, "ts": 1_000_060, "dur": 20}),
        json!({"ph": "X", "name": "nothing", "pid": 7, "tid": "main", "ts": 1_000_040, "dur": 0}),
        json!({"ph": "X", "name": "across", "pid": 7, "tid": "main", "ts": 1_000_050, "dur": 80}),
        json!({"ph": "B", "name": "MPI_Barrier", "pid": 8, "tid": 1, "ts": 1_000_100, "args": {"a": 1}}),
        json!({"ph": "E", "pid": 8, "tid": 1, "ts": 1_000_130, "args": {"b": 2}}),
        json!({"ph": "b", "name": "request", "cat": "net", "id": 5, "pid": 7, "tid": 2, "ts": 1_000_020}),
        json!({"ph": "b", "name": "request", "cat": "net", "id": 6, "pid": 7, "tid": 2, "ts": 1_000_025,
            "args": {"url": "u"}}),
        json!({"ph": "n", "name": "hit", "cat": "net", "id": 5, "pid": 7, "tid": 2, "ts": 1_000_026}),
        json!({"ph": "e", "name": "request", "cat": "net", "id": 5, "pid": 7, "tid": "main", "ts": 1_000_070}),
        json!({"ph": "e", "name": "request", "cat": "net", "id": 6, "pid": 7, "tid": 2, "ts": 1_000_060}),
        json!({"ph": "S", "name": "old", "cat": "net", "id": "5", "pid": 7, "tid": 2, "ts": 1_000_020}),
        json!({"ph": "T", "name": "old", "cat": "net", "id": "5", "pid": 7, "tid": 2, "ts": 1_000_022}),
        json!({"ph": "p", "name": "old", "cat": "net", "id": "5", "pid": 7, "tid": 2, "ts": 1_000_023}),
        json!({"ph": "F", "name": "old", "cat": "net", "id": "5", "pid": 7, "tid": 2, "ts": 1_000_090}),
        // From within `outer` to the next region of thread 2, and from there into one that is open.
        json!({"ph": "s", "name": "flow", "cat": "f", "id": 1, "pid": 7, "tid": "main", "ts": 1_000_012}),
        json!({"ph": "f", "name": "flow", "cat": "f", "id": 1, "pid": 7, "tid": 2, "ts": 1_000_100}),
        json!({"ph": "X", "name": "target", "pid": 7, "tid": 2, "ts": 1_000_101, "dur": 9}),
        json!({"ph": "s", "name": "flow", "cat": "f", "id": 2, "pid": 7, "tid": 2, "ts": 1_000_102}),
        json!({"ph": "t", "name": "flow", "cat": "f", "id": 2, "pid": 7, "tid": 3, "ts": 1_000_110}),
        json!({"ph": "X", "name": "between", "pid": 7, "tid": 3, "ts": 1_000_110, "dur": 9}),
        json!({"ph": "f", "name": "flow", "cat": "f", "id": 2, "pid": 7, "tid": 4, "ts": 1_000_120, "bp": "e"}),
        json!({"ph": "X", "name": "last", "pid": 7, "tid": 4, "ts": 1_000_120, "dur": 9}),
        json!({"pid": 7, "tid": 4, "ts": 1_000_125, "name": "no phase", "args": {"q": 1}}),
    ];
    for letter in ["i", "I", "P", "N", "O", "D", "R", "c", "(", ")", "v", "V", "="] {
        let name = format!("kept {letter}");
        events.push(json!({"ph": letter, "name": name, "pid": 8, "tid": 1, "ts": 1_000_110, "id": 1, "args": {"k": 2}}));
    }
    for step in 0..steps {
        // Later ones first.
        let ts = 2_000_000 + 10 * (steps - step);
        events.push(
            json!({"ph": "C", "name": "load", "pid": 8, "tid": 1, "ts": ts, "args": {"a": step, "b": 0.5}}),
        );
        events.push(
            json!({"ph": "C", "name": "size", "pid": 8, "tid": 1, "ts": ts, "args": {"value": step * step}}),
        );
        events.push(json!({"ph": "B", "name": "step", "pid": 8, "tid": 1, "ts": ts}));
        events.push(json!({"ph": "B", "name": "half", "pid": 8, "tid": 1, "ts": ts + 1}));
        events.push(json!({"ph": "E", "name": "step", "pid": 8, "tid": 1, "ts": ts + 5}));
        events.push(json!({"ph": "E", "name": "half", "pid": 8, "tid": 1, "ts": ts + 5}));
    }
    json!({"displayTimeUnit": "ms", "traceEvents": events, "baseTimeNanoseconds": 1_700_000_000_000_000_000_u64,
        "other \"thing\"": {"a": [1, 2]}, "stackFrames": {"1": {}}})
}

fn column(run: &Archive, table: &str, name: &str) -> Vec<i64> {
    run.table(table).unwrap().i64(name).unwrap().to_vec()
}

#[test]
fn events_of_all_kinds_become_what_the_documentation_says() {
    for steps in [3, 4000] {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let dir = dir.path();
        let trace = everything(steps);
        let events = trace["traceEvents"].as_array().unwrap();
        let mut file = GzEncoder::new(std::fs::File::create(dir.join("trace")).unwrap(), Compression::fast());
        file.write_all(trace.to_string().as_bytes()).unwrap();
        file.finish().unwrap();
        let said = imported(dir, "trace");
        assert_eq!(
            said["problems"],
            json!([{"text": "spans that overlap others, and are states beside them", "number": 1}])
        );
        counts_are_those(&said, events);
        assert_eq!(said["records"].as_array().unwrap().len(), 29, "each kind is there");
        let run = run_of(dir);
        sums_are_those(&run, events);
        flows_and_states(&run);
        facts_and_events(&run);
        let counters = run.table("counters").unwrap();
        let kinds = run.table("counter_kinds").unwrap();
        let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for row in 0..counters.len() {
            let name = &kinds.text("name").unwrap()[counters.u32("counter").unwrap()[row] as usize];
            values.entry(name).or_default().push(counters.f64("value").unwrap()[row]);
        }
        let down = || (0..steps).rev().map(|step| step as f64);
        assert_eq!(values["load: a"], down().collect::<Vec<_>>());
        assert_eq!(values["load: b"], down().map(|_| 0.5).collect::<Vec<_>>());
        assert_eq!(values["size"], down().map(|step| step * step).collect::<Vec<_>>());
        assert_eq!(values.len(), 3);
        // 1.7e18 ns is 2023-11-14 22:13:20, and the first event is a second later.
        assert_eq!(run.table("processes").unwrap().text("command").unwrap()[0], "solver \"a\" é");
        let mut names = run.table("locations").unwrap().text("name").unwrap().to_vec();
        names.sort();
        assert_eq!(names, ["first", "thread 1", "thread 2", "thread 3", "thread 4"]);
        let told = super::otf2::marey(dir, &["info", "run.marey"]);
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(told.contains("2023-11-14 22:13:21") && told.contains("from a Chrome trace"), "{told}");
    }
}

fn flows_and_states(run: &Archive) {
    // Times are told from the first event on, which is `outer`.
    let (from, to) = (column(run, "edges", "from_time"), column(run, "edges", "to_time"));
    let mut edges: Vec<(i64, i64)> = from.into_iter().zip(to).collect();
    edges.sort_unstable();
    assert_eq!(edges, [(11_750, 100_750), (101_750, 109_750), (109_750, 119_750)]);
    let (start, length) = (column(run, "overlaps", "start"), column(run, "overlaps", "duration"));
    let mut states: Vec<(i64, i64)> = start.into_iter().zip(length).collect();
    states.sort_unstable();
    // Two requests, the older one, and what lies across.
    assert_eq!(states, [(19_750, 50_000), (19_750, 70_000), (24_750, 35_000), (49_750, 80_000)]);
}

fn facts_and_events(run: &Archive) {
    let (events, kinds) = (run.table("events").unwrap(), run.table("event_kinds").unwrap());
    let mut told: BTreeMap<(String, String), Vec<Value>> = BTreeMap::new();
    for row in 0..events.len() {
        let kind = events.u32("kind").unwrap()[row] as usize;
        let key = (kinds.text("kind").unwrap()[kind].clone(), kinds.text("name").unwrap()[kind].clone());
        let fields = serde_json::from_str(&events.text("fields").unwrap()[row]).unwrap();
        told.entry(key).or_default().push(fields);
    }
    let of = |kind: &str, name: &str| told[&(kind.to_owned(), name.to_owned())].clone();
    assert_eq!(
        of("attribute", "arguments"),
        [
            json!({"n": -3, "u": 9, "r": 0.5, "is": true, "what": "a\nb", "list": "[1,{\"a\":null}]", "tts": 5}),
            json!({"a": 1}),
            json!({"b": 2}),
        ]
    );
    assert_eq!(of("event", "kept i"), [json!({"k": 2, "id": 1})]);
    assert_eq!(of("event", "kept O"), [json!({"k": 2, "id": 1, "phase": "object snapshot"})]);
    assert_eq!(of("event", "no phase"), [json!({"q": 1, "phase": ""})]);
    assert_eq!(of("event", "request"), [json!({"url": "u"})]);
    assert_eq!(of("event", "process_labels"), [json!({"labels": "of a kind"})]);
    assert_eq!(of("event", "other \"thing\""), [json!({"value": "{\"a\":[1,2]}"})]);
    assert_eq!(of("event", "displayTimeUnit"), [json!({"value": "ms"})]);
    // Thirteen that are kept, one step of a request and two of the older kind, one of no kind, one with arguments, and
    // four from the beginning.
    let number: usize = told.iter().filter(|it| it.0.0 == "event").map(|it| it.1.len()).sum();
    assert_eq!(number, 13 + 3 + 1 + 1 + 4);
}

/// Arguments that are longer than a record may be are left out, and each event that had such is counted once.
#[test]
fn arguments_that_are_too_long_are_left_out_and_counted() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = dir.path();
    let long: serde_json::Map<String, Value> = (0..9000).map(|n| (format!("k{n}"), json!(n))).collect();
    let event = |ts: u64, args: Value| json!({"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": ts, "dur": 1, "args": args});
    let list = json!([event(1, json!(long)), event(3, json!({"n": 1})), event(5, json!(long))]);
    std::fs::write(dir.join("trace"), list.to_string()).unwrap();
    let said = imported(dir, "trace");
    let text = "arguments of events that are longer than 15 KiB";
    assert_eq!(said["problems"], json!([{"text": text, "number": 2}]));
    assert_eq!(run_of(dir).table("intervals").unwrap().len(), 3);
}

/// What is compressed and cut off gives what can be unpacked, and says that there was more.
#[test]
fn compressed_traces_that_are_cut_off_say_so() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = dir.path();
    // A list may end anywhere, so nothing but the compression says that this one was longer.
    let list = everything(3000)["traceEvents"].to_string();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(list.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let file = dir.join("trace");
    let mut before = 0;
    for part in 1..=4 {
        std::fs::write(&file, &packed[..part * packed.len() / 4]).unwrap();
        let imported = marey_formats::import(&file, &dir.join("spool"), &()).unwrap();
        std::fs::remove_dir_all(dir.join("spool")).unwrap();
        let told = imported.problems.iter().any(|it| it.0.contains("the compressed bytes make no sense"));
        assert_eq!(told, part < 4, "{:?}", imported.problems);
        assert!(imported.events > before, "{part}: {} after {before}", imported.events);
        before = imported.events;
    }
}

/// Whatever byte is another, and wherever the text ends: a spool or an error that names the file, and no panic.
#[test]
fn traces_that_are_damaged_give_what_can_be_read() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = dir.path();
    let whole = everything(1).to_string().replace("},{\"", "},\n{\"");
    let n_events = everything(1)["traceEvents"].as_array().unwrap().len() as u64;
    let file = dir.join("trace.json");
    let (mut n_errors, mut n_good) = (0, 0);
    let mut attempt = |content: &[u8]| {
        std::fs::write(&file, content).unwrap();
        let spool = dir.join("spool");
        match marey_formats::import(&file, &spool, &()) {
            Ok(imported) => {
                n_good += 1;
                assert!(imported.events <= n_events, "{imported:?}");
                std::fs::remove_dir_all(&spool).unwrap();
                Some(imported.events)
            }
            Err(error) => {
                n_errors += 1;
                assert!(error.to_string().contains("trace.json"), "{error}");
                None
            }
        }
    };
    for at in (0..whole.len()).step_by(3) {
        let events = attempt(&whole.as_bytes()[..at]);
        let complete = String::from_utf8_lossy(&whole.as_bytes()[..at]).matches("},\n{").count() as u64;
        assert!(events.is_none_or(|events| events >= complete), "{at}: {events:?} of {complete}");
        for flipped in [0xff, 0x01, 0x04] {
            let mut other = whole.clone().into_bytes();
            other[at] ^= flipped;
            let events = attempt(&other);
            // What is damaged costs the events that it stands in, not those behind.
            assert!(events.is_none_or(|events| events + 3 >= n_events), "{at} ^ {flipped}: {events:?}");
        }
    }
    assert!(n_errors > 10 && n_good > 10 * n_errors, "{n_errors} {n_good}");
}
