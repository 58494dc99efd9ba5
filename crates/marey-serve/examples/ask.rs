//! Asks a run what a viewer asks, and prints how long answers took: `ask RUN`. For benches; `ask RUN NAME` asks only what
//! is printed under that name, for a profiler.
//!
//! Figures, one a line: `first_ns` from the start of the process to the first complete timeline; then quantiles of
//! questions about windows of any length anywhere; and the most memory that it ever had.
//!
//! A screen is 1 700 pixels wide and has room for 50 rows.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that times and prints figures"
)]

use std::path::Path;
use std::time::Instant;

use marey_archive::Archive;
use marey_serve::{Opened, answer};
use serde_json::{Value, json};

const PIXELS: i64 = 1700;
const ROWS: u32 = 50;
const QUESTIONS: usize = 300;

fn main() {
    let begin = Instant::now();
    let path = std::env::args().nth(1).expect("usage: ask RUN [NAME]");
    let only = std::env::args().nth(2);
    let wants = |name: &str| only.as_ref().is_none_or(|only| only == name);
    let archive: &'static Archive =
        Box::leak(Box::new(Archive::open(Path::new(&path)).expect("the run can be opened")));
    let run = Opened::new(archive, "run", Vec::new).expect("the run can be opened");
    let head = decoded(&answer(&run, br#"{"ask":"run"}"#));
    let end = head["head"]["duration_ns"].as_i64().expect("it has a length").max(1);
    let locations = head["head"]["locations"].as_array().map_or(0, Vec::len);
    let all = u32::try_from(locations).expect("fewer locations than that");
    let rows = ROWS.min(all);
    for ask in ["states", "waits", "messages"] {
        asked(&run, &window(ask, (0, end), (0, rows), PIXELS, false));
    }
    println!("first_ns {}", begin.elapsed().as_nanos());
    // What is drawn beneath the rows, and sums.
    for (name, request) in [
        ("whole_ns", window("states", (0, end), (0, rows), PIXELS, false)),
        ("mountains_ns", window("course", (0, end), (0, all), PIXELS / 2, false)),
        ("totals_ns", window("totals", (0, end), (0, all), 500, false)),
    ] {
        if wants(name) {
            once(&run, name, &request);
        }
    }

    let mut chance = Chance(7);
    let mut any = |least: i64| {
        // As many short windows as long ones, and of all lengths between two powers of two: a picture has up to twice as many
        // buckets just above one as just below, whatever the run's length.
        let octaves = f64::log2(float(end) / float(least)).max(0.0);
        let length = floor(float(end) / f64::exp2(chance.share() * octaves)).clamp(least, end);
        let from = i64::try_from(chance.next() % u64::try_from(end - length + 1).unwrap_or(1)).unwrap_or(0);
        (from, from + length)
    };
    let first = |chance: u64| u32::try_from(chance % u64::from(all - rows + 1)).unwrap_or(0);
    let mut picks = Chance(11);
    for (name, ask, pixels, every) in [
        ("states", "states", PIXELS, false),
        ("mountain_span", "course", PIXELS / 2, true),
        ("totals_span", "totals", 500, true),
    ] {
        let questions = if wants(name) { QUESTIONS } else { 0 };
        let times = (0..questions).map(|_| {
            let from = first(picks.next());
            let range = if every { (0, all) } else { (from, from + rows) };
            timed(&run, &window(ask, any(2000), range, pixels, false))
        });
        print(name, times.collect());
    }
    let exact = (0..if wants("exact_ms") { QUESTIONS } else { 0 }).map(|_| {
        let (from, _) = any(1_000_000.min(end));
        let row = first(picks.next());
        timed(&run, &window("states", (from, from + 1_000_000), (row, row + rows), 1 << 16, true))
    });
    print("exact_ms", exact.collect());
    let at = (0..if wants("visit") { QUESTIONS } else { 0 }).map(|_| {
        let line = i64::try_from(picks.next() % u64::from(all)).unwrap_or(0);
        let request =
            json!({ "ask": "visit", "line": line, "at_ns": any(1).0, "near_ns": 1000, "region": null });
        timed(&run, &request)
    });
    print("visit", at.collect());
    println!("peak_bytes {}", peak());
}

fn window(ask: &str, (from, to): (i64, i64), rows: (u32, u32), pixels: i64, exact: bool) -> Value {
    // As the timeline does where rows are many: in steps of up to two pixels.
    let log2 = ((to - from) / pixels).max(1).ilog2() + u32::from(rows.1 - rows.0 > 16 && pixels == PIXELS);
    json!({ "ask": ask, "from_ns": from, "to_ns": to, "resolution_log2": log2,
        "locations": [rows], "exact": exact })
}

fn asked(run: &Opened<'_>, request: &Value) -> usize {
    let frame = answer(run, request.to_string().as_bytes());
    assert_ne!(decoded(&frame)["kind"], "error", "{request}");
    frame.len()
}

fn timed(run: &Opened<'_>, request: &Value) -> f64 {
    let request = request.to_string();
    let begin = Instant::now();
    let frame = answer(run, request.as_bytes());
    let took = begin.elapsed();
    if std::env::var_os("ASK_TOLD").is_some() {
        eprintln!("{:9.2} ms {:10} bytes {request}", took.as_secs_f64() * 1e3, frame.len());
    }
    assert_ne!(decoded(&frame)["kind"], "error", "{request}");
    took.as_secs_f64() * 1e9
}

fn once(run: &Opened<'_>, name: &str, request: &Value) {
    println!("{name} {}", timed(run, request));
}

fn print(name: &str, mut times: Vec<f64>) {
    if times.is_empty() {
        return;
    }
    times.sort_by(f64::total_cmp);
    for (quantile, place) in
        [("50", times.len() / 2), ("95", times.len() * 95 / 100), ("99", times.len() * 99 / 100)]
    {
        println!("{name}_p{quantile}_ns {}", times[place]);
    }
}

fn decoded(frame: &[u8]) -> Value {
    let len = u32::from_le_bytes(frame[..4].try_into().expect("four bytes")) as usize;
    serde_json::from_slice(&frame[4..4 + len]).expect("heads are JSON")
}

fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib =
        line.and_then(|line| line.trim().strip_suffix(" kB")).and_then(|kib| kib.trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

#[expect(clippy::cast_precision_loss, reason = "lengths of runs have fewer than 53 bits")]
fn float(length: i64) -> f64 {
    length as f64
}

#[expect(clippy::cast_possible_truncation, reason = "at most the length of a run")]
fn floor(length: f64) -> i64 {
    length as i64
}

/// Numbers as good as random, the same every time.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        // The upper halves of two: the lower bits of one repeat soon, and 31 of them end after two seconds.
        (self.upper() << 32) | self.upper()
    }

    /// At least 0 and less than 1.
    fn share(&mut self) -> f64 {
        f64::from(u32::try_from(self.upper()).unwrap_or(u32::MAX)) / f64::from(1_u32 << 31) / 2.0
    }

    fn upper(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 32
    }
}
