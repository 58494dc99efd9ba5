//! Perfetto traces: against numbers that are known because the test has written them, and against `protoc`.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use flate2::{Compression, write::GzEncoder, write::ZlibEncoder};
use marey_archive::Archive;
use serde_json::{Value, json};

use super::otf2::{imported, marey, run_of};

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap());
    out
}

/// A field that holds a number.
fn n(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

/// One that holds eight bytes.
fn fixed(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3 | 1), value.to_le_bytes().to_vec()].concat()
}

/// One that holds a message or a text.
fn m(field: u64, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    [varint(field << 3 | 2), varint(content.len() as u64), content].concat()
}

fn t(field: u64, text: &str) -> Vec<u8> {
    m(field, &[text.as_bytes()])
}

/// A text with a number of its sequence.
fn interned(table: u64, id: u64, text: &str) -> Vec<u8> {
    m(table, &[&n(1, id), &t(2, text)])
}

/// A packet of a sequence with a track event.
fn event(sequence: u64, time: u64, parts: &[&[u8]]) -> Vec<u8> {
    m(1, &[&n(8, time), &n(10, sequence), &n(13, 2), &m(11, parts)])
}

fn descriptor(uuid: u64, parent: u64, parts: &[&[u8]]) -> Vec<u8> {
    m(1, &[&n(10, 9), &m(60, &[&n(1, uuid), &n(5, parent), &parts.concat()])])
}

const DATE: u64 = 1_700_000_000_000_000_000;

/// Two threads with interned names, one of the older kind, and what describes their tracks at the end.
fn everything() -> Vec<u8> {
    let clock = |id, ticks, more: &[u8]| m(1, &[&n(1, id), &n(2, ticks), more]);
    let own_clock = clock(64, 5, &[n(3, 1), n(4, 1000)].concat());
    let snapshot =
        m(6, &[&own_clock, &clock(3, 500_000, b""), &clock(6, 1_000_000, b""), &clock(1, DATE, b"")]);
    let argument = |name: &str, value: Vec<u8>| m(4, &[&t(10, name), &value]);
    let zipped =
        [event(2, 1_100_000, &[&n(9, 1), &t(23, "zipped")]), event(2, 1_110_000, &[&n(9, 2)])].concat();
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    zlib.write_all(&zipped).unwrap();
    let legacy = |phase: char, more: &[u8]| m(6, &[&n(2, phase as u64), more]);
    [
        // Not readable: nothing was said in this sequence.
        event(3, 1_005_000, &[&n(9, 1), &n(10, 1)]),
        m(
            1,
            &[
                &n(10, 1),
                &n(13, 1),
                &m(59, &[&n(58, 64), &m(11, &[&n(11, 1), &m(31, &[&varint(20)])])]),
                &m(
                    12,
                    &[
                        &interned(1, 1, "io"),
                        &interned(2, 1, "outer"),
                        &interned(2, 2, "inner"),
                        &interned(3, 1, "n"),
                        &interned(29, 1, "of a table"),
                        &m(4, &[&n(1, 1), &t(2, "solver.c"), &t(3, "outer"), &n(4, 17)]),
                    ],
                ),
                &snapshot,
            ],
        ),
        // Its clock goes on in steps of 1 us from 5 us, which is 1 ms of the trace's.
        event(
            1,
            10,
            &[
                &n(9, 1),
                &n(10, 1),
                &n(3, 1),
                &n(12, 100),
                &n(34, 1),
                &fixed(47, 77),
                &m(4, &[&n(1, 1), &n(4, -3_i64 as u64)]),
                &argument("u", n(3, 9)),
                &argument("is", n(2, 1)),
                &argument("r", fixed(5, 0.5_f64.to_bits())),
                &argument("what", t(6, "a\nb")),
                &argument("at", n(7, 255)),
                &argument("text", n(17, 1)),
                &argument("json", t(9, "{\"a\": [1]}")),
                &argument(
                    "dict",
                    [m(11, &[&t(10, "x"), &n(4, 1)]), m(11, &[&t(10, "y"), &n(2, 0)])].concat(),
                ),
                &argument("list", [m(12, &[&n(4, 1)]), m(12, &[&t(6, "two")])].concat()),
            ],
        ),
        event(1, 5, &[&n(9, 1), &n(10, 2), &n(3, 1), &n(12, 50)]),
        event(1, 5, &[&n(9, 2)]),
        event(1, 20, &[&n(9, 2), &argument("late", n(3, 1))]),
        // Later in the file and earlier in time, with a step of the flow that ends here.
        m(1, &[&n(10, 2), &n(13, 1), &m(59, &[&m(11, &[&n(11, 2)])]), &m(12, &[&interned(2, 1, "other")])]),
        event(2, 1_030_000, &[&n(9, 1), &n(10, 1), &fixed(48, 77)]),
        event(2, 1_032_000, &[&n(9, 3), &t(23, "hit"), &t(22, "net"), &argument("k", n(3, 2))]),
        event(2, 1_050_000, &[&n(9, 2)]),
        event(2, 1_001_000, &[&n(9, 4), &n(11, 30), &n(30, 1024)]),
        event(2, 1_002_000, &[&n(9, 4), &n(11, 30), &fixed(44, 2.5_f64.to_bits())]),
        event(2, 1_060_000, &[&t(23, "whole"), &legacy('X', &n(3, 5))]),
        event(2, 1_070_000, &[&t(23, "request"), &legacy('b', &n(10, 9))]),
        event(2, 1_080_000, &[&t(23, "request"), &legacy('n', &n(10, 9))]),
        event(2, 1_090_000, &[&t(23, "request"), &legacy('e', &n(10, 9))]),
        event(2, 1_091_000, &[&t(23, "load"), &legacy('C', b""), &argument("value", n(3, 3))]),
        m(1, &[&n(10, 2), &m(50, &[&zlib.finish().unwrap()])]),
        m(1, &[&n(8, 700_000), &n(58, 3), &n(10, 2), &m(11, &[&n(9, 3), &n(11, 40), &t(23, "beside")])]),
        // A thread as it was described once.
        m(1, &[&n(10, 4), &n(41, 1), &m(44, &[&n(1, 7), &n(2, 8), &t(5, "old"), &n(6, 1000), &n(7, 4)])]),
        m(1, &[&n(10, 4), &m(43, &[&n(1, 7), &t(2, "program"), &t(2, "-x")])]),
        m(1, &[&n(10, 4), &m(11, &[&n(1, 10), &n(2, 3), &t(23, "MPI_Barrier"), &legacy('B', b"")])]),
        m(1, &[&n(10, 4), &m(11, &[&n(1, 5), &legacy('E', b"")])]),
        m(1, &[&n(10, 5), &m(1, &[b"\x08\x01"])]),
        m(1, &[&n(10, 5), &t(1500, "what nobody knows")]),
        descriptor(10, 0, &[&m(3, &[&n(1, 42), &t(6, "solver")])]),
        descriptor(1, 10, &[&m(4, &[&n(1, 42), &n(2, 43), &t(5, "main")])]),
        descriptor(2, 10, &[&m(4, &[&n(1, 42), &n(2, 44), &t(5, "worker")])]),
        descriptor(20, 1, &[&m(8, &[&n(1, 1), &n(4, 1000), &n(5, 1)])]),
        descriptor(30, 10, &[&t(2, "mem"), &m(8, &[&n(3, 3)])]),
        descriptor(40, 10, &[&t(2, "async")]),
    ]
    .concat()
}

fn numbers(said: &Value) -> BTreeMap<String, u64> {
    let records = said["records"].as_array().unwrap().iter();
    records.map(|it| (it["name"].as_str().unwrap().to_owned(), it["number"].as_u64().unwrap())).collect()
}

#[test]
fn packets_of_all_kinds_become_what_the_documentation_says() {
    for is_compressed in [false, true] {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let dir = dir.path();
        let mut content = everything();
        if is_compressed {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
            gzip.write_all(&content).unwrap();
            content = gzip.finish().unwrap();
        }
        std::fs::write(dir.join("trace"), content).unwrap();
        let said = imported(dir, "trace");
        assert_eq!(said["format"], "a Perfetto trace");
        assert_eq!(
            said["problems"],
            json!([{"text": "events that need what their sequence has lost or not yet said", "number": 1}])
        );
        let expected = [
            ("asynchronous begin (b)", 1),
            ("asynchronous end (e)", 1),
            ("asynchronous instant (n)", 1),
            ("clock_snapshot (6)", 1),
            ("complete (X)", 1),
            ("compressed_packets (50)", 1),
            ("counter", 2),
            ("counter (older) (C)", 1),
            ("ftrace_events (1)", 1),
            ("instant", 2),
            ("packet field 1500", 1),
            ("packet without data", 1),
            ("process_descriptor (43)", 1),
            ("slice begin", 5),
            ("slice begin (B)", 1),
            ("slice end", 4),
            ("slice end (E)", 1),
            ("thread_descriptor (44)", 1),
            ("track_descriptor (60)", 6),
        ];
        assert_eq!(numbers(&said), expected.map(|(name, number)| (name.to_owned(), number)).into());
        assert_eq!(said["events"], 20);
        regions_flows_and_states(&run_of(dir));
        facts_and_counters(&run_of(dir));
        let told = marey(dir, &["info", "run.marey"]);
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(told.contains("2023-11-14 22:13:20"), "{told}");
    }
}

fn regions_flows_and_states(run: &Archive) {
    let table = |name: &str| run.table(name).unwrap();
    let (intervals, paths, regions) = (table("intervals"), table("call_paths"), table("regions"));
    let (locations, processes) = (table("locations"), table("processes"));
    let mut told = Vec::new();
    for row in 0..intervals.len() {
        let region = paths.u32("region").unwrap()[intervals.u32("call_path").unwrap()[row] as usize] as usize;
        let location = intervals.u32("location").unwrap()[row] as usize;
        let (verb, noun) = (&regions.text("verb").unwrap()[region], &regions.text("noun").unwrap()[region]);
        told.push((
            intervals.i64("start").unwrap()[row],
            intervals.i64("duration").unwrap()[row],
            if verb == "execute" { noun.clone() } else { verb.clone() },
            locations.text("name").unwrap()[location].clone(),
        ));
    }
    told.sort();
    // Times from the first event on, which is the counter's at 1 001 000 ns.
    let expected = [
        (9_000, 30_000, "outer", "main"),
        (14_000, 5_000, "inner", "main"),
        (29_000, 20_000, "other", "worker"),
        (59_000, 5_000, "whole", "worker"),
        (99_000, 10_000, "zipped", "worker"),
        (509_000, 5_000, "MPI_Barrier", "old"),
    ];
    assert_eq!(told, expected.map(|(at, ns, name, of)| (at, ns, name.to_owned(), of.to_owned())));
    let column = |table: &str, name: &str| run.table(table).unwrap().i64(name).unwrap().to_vec();
    assert_eq!((column("edges", "from_time"), column("edges", "to_time")), (vec![9_000], vec![29_000]));
    assert_eq!((column("overlaps", "start"), column("overlaps", "duration")), (vec![69_000], vec![20_000]));
    assert_eq!(processes.text("command").unwrap().to_vec(), ["program -x", "solver"]);
    assert_eq!(processes.u32("pid").unwrap().to_vec(), [7, 42]);
    let mut names = locations.text("name").unwrap().to_vec();
    names.sort();
    assert_eq!(names, ["async", "main", "old", "process", "worker"]);
}

fn facts_and_counters(run: &Archive) {
    let (counters, kinds) = (run.table("counters").unwrap(), run.table("counter_kinds").unwrap());
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in 0..counters.len() {
        let kind = counters.u32("counter").unwrap()[row] as usize;
        let name = format!("{} {}", kinds.text("name").unwrap()[kind], kinds.text("unit").unwrap()[kind]);
        values.entry(name).or_default().push(counters.f64("value").unwrap()[row]);
    }
    let expected = [
        ("load ", vec![3.0]),
        ("mem bytes", vec![1024.0, 2.5]),
        ("thread time ns", vec![7_000.0, 100_000.0, 150_000.0]),
    ];
    assert_eq!(values, expected.map(|(name, values)| (name.to_owned(), values)).into());
    let (events, kinds) = (run.table("events").unwrap(), run.table("event_kinds").unwrap());
    let mut told: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for row in 0..events.len() {
        let kind = events.u32("kind").unwrap()[row] as usize;
        let fields = serde_json::from_str(&events.text("fields").unwrap()[row]).unwrap();
        told.entry(kinds.text("name").unwrap()[kind].clone()).or_default().push(fields);
    }
    let arguments = json!({"n": -3, "u": 9, "is": true, "r": 0.5, "what": "a\nb", "at": "0xff",
        "text": "of a table", "json": "{\"a\":[1]}", "dict": "{\"x\":1,\"y\":false}", "list": "[1,\"two\"]"});
    assert_eq!(told["arguments"], [arguments, json!({"late": 1})]);
    assert_eq!(told["hit"], [json!({"k": 2, "category": "net"})]);
    assert_eq!(told["request"], [json!({"phase": "asynchronous instant", "id": 9})]);
    assert_eq!(told["beside"], [json!({})]);
}

/// Track events and all packets of a trace, as `protoc` shows them; `None` where it is not installed.
fn decoded(file: &Path) -> Option<(u64, u64)> {
    let mut protoc = Command::new("protoc");
    let protoc = protoc.arg("--decode_raw").stdin(std::fs::File::open(file).unwrap());
    let output = protoc.stdout(Stdio::piped()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = |begin: &str| text.lines().filter(|line| *line == begin).count() as u64;
    Some((number("  11 {"), number("1 {")))
}

#[test]
fn samples_are_what_protoc_finds() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/perfetto");
    if !dir.is_dir() {
        return marey_testkit::skip("samples of Perfetto traces (../shared)");
    }
    // Counted once in what `protoc --decode_raw` prints.
    let known = [
        ("legacy_async_event.pb", 6),
        ("track_event_counters.pb", 14),
        ("track_event_name_resolution_extended.pb", 4),
        ("track_event_tracks.pb", 16),
    ];
    for (name, n_events) in known {
        let file = dir.join("google_perfetto_textproto-encoded").join(name);
        let there = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let said = imported(there.path(), &file.to_string_lossy());
        assert_eq!(said["events"], n_events, "{name}");
        assert_eq!(said["problems"], json!([]), "{name}");
        if let Some((events, packets)) = decoded(&file) {
            assert_eq!(said["events"], events, "{name}");
            assert_eq!(numbers(&said).values().sum::<u64>(), packets, "{name}");
        }
    }
    for name in ["input-events", "protolog", "windowmanager"] {
        let file = format!("aosp-mirror_platform_development/{name}.perfetto-trace");
        let there = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let told = marey(there.path(), &["import", &dir.join(file).to_string_lossy(), "-o", "run.marey"]);
        let text = String::from_utf8_lossy(&told.stderr);
        assert!(!told.status.success(), "{name}");
        assert!(text.contains("holds no process and no thread: its packets hold no track events"), "{text}");
    }
}

/// Whatever byte is another, and wherever the file ends: a spool or an error that names the file, and no panic.
#[test]
fn traces_that_are_damaged_give_what_can_be_read() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = dir.path();
    let whole = everything();
    let file = dir.join("it.pftrace");
    let (mut n_errors, mut n_good) = (0, 0);
    let mut attempt = |content: &[u8]| {
        std::fs::write(&file, content).unwrap();
        let spool = dir.join("spool");
        match marey_formats::import(&file, &spool, &()) {
            Ok(imported) => {
                n_good += 1;
                std::fs::remove_dir_all(&spool).unwrap();
                Some(imported)
            }
            Err(error) => {
                n_errors += 1;
                assert!(error.to_string().contains("it.pftrace"), "{error}");
                None
            }
        }
    };
    let mut most = 0;
    for at in 0..whole.len() {
        if let Some(imported) = attempt(&whole[..at]) {
            // Packets before the end are all there, and more of the file is never less.
            assert!(most <= imported.events && imported.events <= 20, "{at}: {imported:?}");
            most = imported.events;
        }
        let mut other = whole.clone();
        other[at] ^= [0xff, 0x01, 0x04, 0x80][at % 4];
        attempt(&other);
    }
    assert_eq!(most, 20);
    assert!(n_errors > 0 && n_good > 10 * n_errors, "{n_errors} {n_good}");
}
