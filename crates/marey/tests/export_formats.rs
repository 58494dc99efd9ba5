//! Runs in formats of other tools, read by somebody else's eyes.
//!
//! The one idea: of each format a slow reader in the test, or the format's own tool, finds the visits, times and messages that
//! `marey dump` has; and what `marey import` makes of it has them again, but for what docs/formats.md says.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "export_formats/chrome.rs"]
mod chrome;
#[path = "export_formats/figures.rs"]
mod figures;
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
