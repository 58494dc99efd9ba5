//! Reading of a run whose files were cut, flipped, removed or exchanged, and of one whose tables are
//! sound Parquet full of senseless values. An error is fine, and so is a wrong result; a panic, a
//! hang or a gigabyte of memory is not.
//!
//! An input is a list of damages of eight bytes each: what, to which file, where, and with what.
#![no_main]

use libfuzzer_sys::fuzz_target;
use marey_analyze as analyze;
use marey_analyze::what_if::{Change, Limits};
use marey_analyze::{Method, Selection, SituationRules, Span};
use marey_archive::corrections::{CORRECTIONS_FILE, Corrections, Fit, FitKnot};
use marey_archive::merge::{Config, merge};
use marey_archive::schema::TABLES;
use marey_archive::{Archive, Column, Columns, Events, PartWriter, RunTrace, prepare, prepared};
use marey_model::Nanos;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Of more damages than this, the first ones would hide the rest.
const MAX_DAMAGES: usize = 6;

struct Run {
    dir: tempfile::TempDir,
    /// All files with what belongs in them.
    files: Vec<(PathBuf, Vec<u8>)>,
    /// The tables that have rows, with their files.
    tables: Vec<(PathBuf, Columns)>,
}

fn run() -> &'static Run {
    static RUN: OnceLock<Run> = OnceLock::new();
    RUN.get_or_init(|| {
        // The fuzzer's own hook aborts at every panic, also at those of the Parquet library that the
        // reader catches and makes errors of. What nobody catches still comes to the fuzzer.
        std::panic::set_hook(Box::new(|panic| {
            if panic.location().is_none_or(|place| !place.file().contains("/parquet-")) {
                eprintln!("{panic}");
            }
        }));
        let dir = tempfile::tempdir().expect("there is room");
        let (spool, run) = (dir.path().join("spool"), dir.path().join("run"));
        marey_fuzz::everything().write(&spool).expect("there is room");
        let config = Config { threads: Some(1), memory_bytes: 1 << 20, keep_spool: false };
        merge(&spool, &run, &config, &()).expect("the run is sound");
        prepare(&run).expect("the run is sound");
        let archive = Archive::open(&run).expect("the run is sound");
        let table = |spec: &&'static marey_archive::schema::TableSpec| {
            let part = archive.parts(spec.name).first()?;
            Some((run.join(&part.file), archive.table(spec.name).expect("the run is sound")))
        };
        let tables = TABLES.iter().filter_map(table).collect();
        corrections([1000, 0, 5, 10, 2_000_000, 20, 10]).save(&run).expect("there is room");
        let mut files = Vec::new();
        list(&run, &mut files);
        files.sort();
        Run { dir, files, tables }
    })
}

/// Corrections with these numbers: an offset, and time, what is added and uncertainty of two knots.
fn corrections([offset, time, add, bar, later, more, last_bar]: [i64; 7]) -> Corrections {
    let knot = |(time, add, uncertainty)| FitKnot { time, add, uncertainty };
    let fits = vec![Fit {
        processes: vec![0, 1],
        knots: [(time, add, bar), (later, more, last_bar)].map(knot).into(),
    }];
    Corrections { offsets: [(1, offset)].into(), fits, ..Corrections::default() }
}

fn list(dir: &Path, into: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(dir).expect("the run is there") {
        let path = entry.expect("the run is there").path();
        match std::fs::read(&path) {
            Ok(bytes) => into.push((path, bytes)),
            Err(_) => list(&path, into),
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let run = run();
    let mut touched = Vec::new();
    for damage in bytes.as_chunks::<8>().0.iter().take(MAX_DAMAGES) {
        touched.push(harm(run, *damage));
    }
    read_all(&run.dir.path().join("run"));
    for (path, bytes) in &run.files {
        if touched.contains(path) {
            std::fs::write(path, bytes).expect("there is room");
        }
    }
});

/// Does one damage and says which file has it.
fn harm(run: &Run, [kind, file, a, b, c, d, e, f]: [u8; 8]) -> PathBuf {
    let (place, with) = (u32::from_le_bytes([a, b, c, d]) as usize, u16::from_le_bytes([e, f]));
    if kind % 8 >= 6 {
        return falsify(run, file.into(), place, with);
    }
    let (path, _) = &run.files[usize::from(file) % run.files.len()];
    let Ok(mut bytes) = std::fs::read(path) else { return path.clone() };
    if bytes.is_empty() {
        return path.clone();
    }
    let at = place % bytes.len();
    match kind % 8 {
        0 => bytes.truncate(at),
        1 => bytes[at] ^= 1 << (with % 8),
        // Near the end lie the index and the footer.
        2 => {
            let at = bytes.len() - 1 - place % bytes.len().min(400);
            bytes[at] = e;
        }
        3 => {
            let to = bytes.len().min(at + usize::from(f));
            bytes[at..to].fill(e);
        }
        4 => bytes = run.files[place % run.files.len()].1.clone(),
        _ => {
            std::fs::remove_file(path).expect("it was just read");
            return path.clone();
        }
    }
    std::fs::write(path, bytes).expect("there is room");
    path.clone()
}

/// Writes a table, or the corrections, anew with one value that nothing checks: a sound file that makes no sense.
fn falsify(run: &Run, table: usize, place: usize, with: u16) -> PathBuf {
    // Small numbers, and those at either end.
    let number = match with {
        0..0x8000 => i64::from(with % 512) - 256,
        0x8000..0xC000 => i64::MIN + i64::from(with & 0xFF),
        _ => i64::MAX - i64::from(with & 0xFF),
    };
    let Some((path, rows)) = run.tables.get(table % (run.tables.len() + 1)) else {
        let mut numbers = [1000, 0, 5, 10, 2_000_000, 20, 10];
        numbers[place % 7] = number;
        let run = run.dir.path().join("run");
        corrections(numbers).save(&run).expect("there is room");
        return run.join(CORRECTIONS_FILE);
    };
    let mut columns = rows.columns().to_vec();
    let idx = place % columns.len();
    let row = place / columns.len() % rows.len().max(1);
    match &mut columns[idx] {
        Column::U32(values) => replace(values, row, number as u32),
        Column::I64(values) => replace(values, row, number),
        Column::F64(values) => replace(values, row, f64::from_bits(number.cast_unsigned())),
        Column::Text(values) => replace(values, row, "x".repeat(usize::from(with % 64))),
    }
    let rows = Columns::from_columns(rows.spec(), columns).expect("the types are the same");
    let write = || {
        let mut writer = PartWriter::create(path, rows.spec())?;
        writer.write(&rows)?;
        writer.finish()
    };
    write().expect("there is room");
    path.clone()
}

fn replace<T>(values: &mut [T], row: usize, value: T) {
    if let Some(place) = values.get_mut(row) {
        *place = value;
    }
}

fn read_all(path: &Path) {
    let Ok(archive) = Archive::open(path) else { return };
    for spec in TABLES {
        if let Ok(rows) = archive.table(spec.name) {
            assert!(rows.columns().iter().all(|column| column.len() == rows.len()));
        }
    }
    let Ok(trace) = RunTrace::load(&archive) else { return };
    let of_old = prepared(&archive, &trace);
    sums(&trace);
    if let Ok(events) = Events::open(&archive, &trace) {
        explain(&trace, &events, of_old);
    }
    view(&archive);
}

/// What a viewer asks, whatever the run is like.
fn view(archive: &Archive) {
    let Ok(run) = marey_serve::Opened::new(archive, "run", Vec::new) else { return };
    let window = r#""from_ns":0,"to_ns":1000,"resolution_log2":3,"locations":[[0,9]],"exact":true"#;
    let sample = r#"{"from_ns":0,"to_ns":1000,"locations":[[0,9]],"region":1,"of":"duration"}"#;
    for ask in ["run", "shares"] {
        marey_serve::answer(&run, format!(r#"{{"ask":"{ask}"}}"#).as_bytes());
    }
    for ask in ["states", "totals", "course", "messages", "waits", "path"] {
        marey_serve::answer(&run, format!(r#"{{"ask":"{ask}",{window}}}"#).as_bytes());
    }
    for request in [
        r#"{"ask":"visit","line":1,"at_ns":300,"near_ns":1000,"region":null}"#.to_owned(),
        r#"{"ask":"step","line":null,"region":1,"at_ns":0,"towards":"next"}"#.to_owned(),
        format!(r#"{{"ask":"histogram","sample":{sample},"bins":9,"logarithmic":true,"range":null}}"#),
        format!(r#"{{"ask":"instances","sample":{sample},"which":{{"anomalous":1}}}}"#),
    ] {
        marey_serve::answer(&run, request.as_bytes());
    }
}

fn sums(trace: &RunTrace) {
    analyze::regions(trace);
    analyze::call_paths(trace);
    analyze::ranks(trace);
    analyze::communication(trace);
    analyze::message_sizes(trace);
    analyze::headline(trace);
    analyze::lines(trace, &analyze::hot(trace));
    analyze::counted(trace);
    analyze::regions_across(trace, None);
}

/// All that goes through events. Causes that were prepared are those of other events, if these were falsified.
fn explain(trace: &RunTrace, events: &Events<'_>, of_old: Option<analyze::Causes>) {
    let part = Selection { span: Span { from: Nanos(100), to: Nanos(400) }, ..Selection::default() };
    drop(analyze::Excerpt::new(trace, events, &part));
    let loops = analyze::phases(trace, events).map_or_else(|_| Vec::new(), |phases| phases.loops);
    let limits = Limits::default();
    for found in analyze::causes(trace, events).into_iter().chain(of_old) {
        for method in [Method::Normal, Method::Robust] {
            drop(analyze::anomalies(trace, events, &found.waits, loops.first(), (method, 1.0)));
        }
        let findings = analyze::findings(trace, &found);
        analyze::dominant(trace, &found, &findings);
        analyze::efficiency(trace, &found);
        analyze::call_paths_across(trace, Some(&found));
        drop(analyze::granularity(trace, events, &found, 10.0));
        drop(analyze::situations(trace, events, &found, &SituationRules::default()));
        drop(analyze::what_if(trace, events, &found, &Change::default(), &limits));
        drop(analyze::slack(trace, events, &found, &limits));
        drop(analyze::causes_within(trace, events, &part, found));
    }
}
