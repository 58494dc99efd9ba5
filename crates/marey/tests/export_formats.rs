//! Runs in formats of other tools, read by somebody else's eyes.
//!
//! The one idea: of each format a slow reader in the test, or the format's own tool, finds the visits, times and messages that
//! `marey dump` has; and what `marey import` makes of it has them again, but for what docs/formats.md says.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "export_formats/alog.rs"]
mod alog;
#[path = "export_formats/chrome.rs"]
mod chrome;
#[path = "export_formats/clog2.rs"]
mod clog2;
#[path = "export_formats/figures.rs"]
mod figures;
#[path = "export_formats/otf2.rs"]
mod otf2;
#[path = "export_formats/paje.rs"]
mod paje;
#[path = "export_formats/paraver.rs"]
mod paraver;
#[path = "export_formats/perfetto.rs"]
mod perfetto;
mod place;
mod sample;

use place::{Place, stderr};

/// Names of all kinds that formats have to get along with.
const ODD_NAMES: [&str; 8] = [
    "a \"quoted\" name",
    "two\nlines",
    "tab\tand \u{1} and \u{1b}[31m",
    "</script><b>&amp;",
    "größe 大きさ 🦀",
    "back\\slash : colon , comma | bar % percent",
    "{\"json\": [1]}",
    "'single' $HOME `x` # hash",
];

/// Makes a run with these names of regions, each around the next, and the same of threads and counters.
fn odd_run(place: &Place) {
    let mut events = Vec::new();
    for (number, name) in (0..).zip(ODD_NAMES) {
        let (start, length) = (f64::from(number), f64::from(100 - 2 * number));
        events.push(
            serde_json::json!({ "ph": "X", "pid": 1, "tid": 1, "ts": start, "dur": length, "name": name }),
        );
        events.push(
            serde_json::json!({ "ph": "C", "pid": 1, "tid": 1, "ts": start, "name": name, "args": { "value": number } }),
        );
        events.push(
            serde_json::json!({ "ph": "M", "pid": 1, "tid": number + 2, "name": "thread_name", "args": { "name": name } }),
        );
        events.push(serde_json::json!({ "ph": "X", "pid": 1, "tid": number + 2, "ts": 200, "dur": 1.5, "name": "same" }));
    }
    std::fs::write(place.path("odd.json"), serde_json::Value::from(events).to_string()).unwrap();
    place.ok(&["import", "odd.json", "-o", "odd.marey"]);
}

/// Of each form its name, and what its files end in.
const FORMS: [(&str, &str); 7] = [
    ("chrome", "json"),
    ("paraver", "prv"),
    ("perfetto", "pftrace"),
    ("otf2", "otf2"),
    ("paje", "trace"),
    ("alog", "alog"),
    ("clog2", "clog2"),
];

/// Makes a run with messages, collectives, states, counters and two threads, of a small Paraver trace.
fn messages_run(place: &Place) {
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../marey-formats/tests/paraver");
    place.ok(&["import", trace, "-o", "messages.marey"]);
}

#[test]
fn what_only_concerns_a_page_is_refused() {
    let place = Place::new();
    sample::write(&place.path("run.marey"));
    sample::write(&place.path("other.marey"));
    let refused = |args: &[&str], why: &str| {
        let output = place.marey(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(why), "{args:?}: {}", stderr(&output));
    };
    refused(&["export", "run.marey", "other.marey", "--to", "chrome"], "hold one run");
    refused(&["export", "run.marey", "--to", "chrome", "--most-mib", "3"], "--most-mib is for --to html");
    refused(&["export", "run.marey", "--to", "chrome", "-o", "/dev/full"], "no ordinary file");
    refused(&["export", "run.marey", "--to", "chrome", "-o", "run.marey/x.json"], "lies in the run itself");
    place.ok(&["export", "run.marey", "--to", "chrome"]);
    refused(&["export", "run.marey", "--to", "chrome"], "use --force");
    place.ok(&["export", "run.marey", "--to", "chrome", "--force"]);
}

#[test]
fn a_redacted_run_is_written_without_what_is_nobodys_business() {
    let place = Place::new();
    sample::write(&place.path("run.marey"));
    for (form, end) in FORMS {
        let out = format!("out.{end}");
        place.ok(&["export", "run.marey", "--to", form, "-o", &out, "--redact"]);
        let mut files = vec![place.path(&out), place.path("out.pcf"), place.path("out.row")];
        files.extend(["traces.def", "traces/0.evt"].map(|name| place.path(&format!("{out}/{name}"))));
        let mut all = Vec::new();
        for file in files.iter().filter(|file| file.is_file()) {
            all.extend(std::fs::read(file).unwrap());
        }
        let all = String::from_utf8_lossy(&all);
        for secret in ["node1", "/src", "mpirun", "halo.cpp"] {
            assert!(!all.contains(secret), "{form} tells {secret}");
        }
        assert!(all.contains("MPI_Barrier"), "{form}");
        let left = std::fs::read_dir(place.path(".")).unwrap().filter_map(Result::ok);
        let aside = left.filter(|entry| entry.file_name().to_string_lossy().ends_with(".tmp")).count();
        assert_eq!(aside, 0, "{form} leaves nothing beside it");
    }
}

/// On a full disk, which a limit on the size of files stands for.
#[test]
fn what_cannot_be_written_is_an_error_and_leaves_nothing() {
    let place = Place::new();
    let mut events = Vec::new();
    for number in 0..20_000 {
        events.push(
            serde_json::json!({ "ph": "X", "pid": 1, "tid": 1, "ts": number, "dur": 0.5, "name": "work" }),
        );
    }
    std::fs::write(place.path("many.json"), serde_json::Value::from(events).to_string()).unwrap();
    place.ok(&["import", "many.json", "-o", "many.marey"]);
    for (form, end) in FORMS {
        // Without the signal, what goes beyond the limit cannot be written.
        let line =
            format!("trap '' XFSZ; ulimit -f 64; exec \"$0\" export many.marey --to {form} -o small.{end}");
        let mut shell = std::process::Command::new("bash");
        let shell = shell.current_dir(place.path(".")).args(["-c", &line, env!("CARGO_BIN_EXE_marey")]);
        let output = shell.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{form}: {}", stderr(&output));
        assert!(stderr(&output).contains("cannot write "), "{form}: {}", stderr(&output));
        let there = std::fs::read_dir(place.path(".")).unwrap().filter_map(Result::ok);
        let left: Vec<_> =
            there.map(|it| it.file_name()).filter(|it| it.to_string_lossy().contains("small")).collect();
        assert!(left.is_empty(), "{form} leaves {left:?}");
    }
}

#[test]
fn runs_without_visits_are_files_without_visits() {
    let place = Place::new();
    let event = serde_json::json!([{ "ph": "i", "pid": 1, "tid": 1, "ts": 1, "name": "only" }]);
    std::fs::write(place.path("source.json"), event.to_string()).unwrap();
    place.ok(&["import", "source.json", "-o", "one.marey"]);
    for (form, end) in FORMS {
        let told = place.ok(&[
            "export",
            "one.marey",
            "--to",
            form,
            "-o",
            &format!("one.{end}"),
            "--json",
            "--force",
        ]);
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told["written"], serde_json::json!([{ "what": "events", "number": 1 }]), "{form}");
        assert_eq!(
            (&told["left_out"], &told["visits_only_in_sums"]),
            (&serde_json::json!([]), &serde_json::json!(0))
        );
    }
}
