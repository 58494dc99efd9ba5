//! OTF2, as its own tool prints it.

use std::collections::BTreeMap;
use std::process::Command;

use crate::figures::{Figures, Message, Sums};
use crate::place::Place;
use crate::{ODD_NAMES, messages_run, odd_run, sample};

/// What `otf2-print` prints; `None` where it is not installed.
fn printed(place: &Place, args: &[&str]) -> Option<String> {
    let mut print = Command::new("otf2-print");
    let output = print.current_dir(place.path(".")).args(args).arg("out.otf2/traces.otf2").output().ok()?;
    let (text, wrong) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    assert!(output.status.success() && wrong.is_empty(), "{wrong}\n{text}");
    Some(text)
}

/// Kinds of events with their numbers as OTF2's own library for Python reads them, which wants each definition before what
/// refers to it; `None` where it is not installed.
fn read_by_python(place: &Place) -> Option<BTreeMap<String, u64>> {
    const SCRIPT: &str = "
import sys
try:
    import otf2
except ImportError:
    sys.exit(77)
from collections import Counter
with otf2.reader.open('out.otf2/traces.otf2') as trace:
    for name, number in Counter(type(event).__name__ for _, event in trace.events).items():
        print(name, number)
";
    // The one of the system, for which it is packaged.
    let python =
        Command::new("/usr/bin/python3").current_dir(place.path(".")).args(["-c", SCRIPT]).output().ok()?;
    if python.status.code() == Some(77) {
        return None;
    }
    assert!(python.status.success(), "{}", String::from_utf8_lossy(&python.stderr));
    let text = String::from_utf8_lossy(&python.stdout).into_owned();
    let count =
        |line: &str| line.split_once(' ').map(|(name, number)| (name.to_owned(), number.parse().unwrap()));
    Some(text.lines().filter_map(count).collect())
}

/// The number behind a word of a line.
fn number(line: &str, word: &str) -> u64 {
    let rest = line.split_once(word).unwrap().1.trim_start();
    rest.split(|it: char| !it.is_ascii_digit()).next().unwrap().parse().unwrap()
}

fn check(place: &Place, run: &str) -> Option<String> {
    let figures = Figures::of(place, run);
    place.ok(&["export", run, "--to", "otf2", "-o", "out.otf2", "--force"]);
    place.ok(&["import", "out.otf2", "-o", "back.marey", "--force"]);
    let mut back = Figures::of(place, "back.marey");
    // In the sample receives were posted when they were complete, as nothing that was recorded has it; they get a call of
    // their own, that takes no time.
    back.sums.retain(|(_, name), sum| run != "sample.marey" || name != "receive" || sum.1 != 0);
    assert_eq!(back.sums, figures.sums, "{run} after a round trip");
    assert_eq!(back.messages, figures.messages, "{run} after a round trip");
    assert_eq!(back.collectives, figures.collectives, "{run}");
    assert_eq!(back.count("counter"), figures.count("counter") + figures.count("heap_peak"), "{run}");
    let text = printed(place, &[])?;
    let (mut sums, mut open) = (Sums::new(), BTreeMap::<u64, Vec<(String, i64)>>::new());
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    let (mut begin, mut counts) = (None, BTreeMap::<&str, u64>::new());
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(kind), Some(location), Some(time)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let (Ok(location), Ok(time)) = (location.parse::<u64>(), time.parse::<i64>()) else { continue };
        *counts.entry(kind).or_default() += 1;
        // Names may have line breaks; numbers stand behind them, and are looked up.
        match kind {
            "ENTER" => {
                begin = begin.or(Some(time));
                open.entry(location).or_default().push((line.to_owned(), time));
            }
            "LEAVE" => {
                let (entered, start) = open.get_mut(&location).unwrap().pop().unwrap();
                let name = |line: &str| {
                    let text = line.split_once("Region: \"").unwrap().1;
                    text.rsplit_once("\" <").map_or_else(|| text.to_owned(), |it| it.0.to_owned())
                };
                assert_eq!(name(&entered), name(line));
                let sum = sums.entry((location, name(line))).or_default();
                *sum = (sum.0 + 1, sum.1 + time - start);
            }
            "MPI_SEND" => sent.push((
                location,
                number(line, "Receiver:"),
                time,
                number(line, "Length:"),
                number(line, "Tag:"),
            )),
            "MPI_RECV" => received.push((
                number(line, "Sender:"),
                location,
                time,
                number(line, "Length:"),
                number(line, "Tag:"),
            )),
            _ => {}
        }
    }
    assert!(open.values().all(Vec::is_empty));
    if run != "odd.marey" {
        assert_eq!(sums, figures.sums, "{run}");
    }
    let mut messages: Vec<Message> = Vec::new();
    for (from, to, time, bytes, tag) in sent {
        let at = received.iter().position(|it| (it.0, it.1, it.3, it.4) == (from, to, bytes, tag)).unwrap();
        let begin = begin.unwrap();
        let arrived = received.remove(at).2;
        messages.push((from, to, time - begin, arrived - begin, bytes, tag.try_into().unwrap()));
    }
    messages.sort_unstable();
    assert!(received.is_empty());
    assert_eq!(messages, figures.messages, "{run}");
    let count = |kind: &str| counts.get(kind).copied().unwrap_or(0);
    if let Some(read) = read_by_python(place) {
        let kinds = [
            ("Enter", "ENTER"),
            ("Leave", "LEAVE"),
            ("MpiSend", "MPI_SEND"),
            ("MpiRecv", "MPI_RECV"),
            ("Metric", "METRIC"),
        ];
        for (name, kind) in kinds {
            assert_eq!(read.get(name).copied().unwrap_or(0), count(kind), "{run}: {name}");
        }
    }
    assert_eq!(count("ENTER"), figures.sums.values().map(|sum| sum.0).sum::<u64>());
    assert_eq!(count("METRIC"), figures.count("counter") + figures.count("heap_peak"), "{run}");
    assert_eq!(count("MPI_COLLECTIVE_END"), figures.count("collective"), "{run}");
    assert_eq!(count("PARAMETER_STRING"), figures.count("instant"), "{run}");
    Some(text)
}

#[test]
fn visits_messages_and_the_rest_are_those_of_the_run() {
    let place = Place::new();
    sample::write(&place.path("sample.marey"));
    let Some(text) = check(&place, "sample.marey") else {
        return marey_testkit::skip("otf2-print");
    };
    let has = |text: &str, part: &str| assert!(text.contains(part), "{part} is not in\n{text}");
    has(&text, "Operation: BARRIER, Communicator: \"MPI_COMM_WORLD\" <0>");
    has(&text, "Value: (\"residual\" <0>; DOUBLE; 0.25)");
    has(&text, "Parameter: \"step\" <0>, Value: \"{\"n\":1}\"");
    let definitions = printed(&place, &["-G"]).unwrap();
    has(&definitions, "Name: \"halo\"");
    for name in ["bytes", "visits", "gaps_ns"] {
        let line = definitions
            .lines()
            .find(|it| it.starts_with("ATTRIBUTE ") && it.contains(&format!("\"{name}\"")));
        has(line.unwrap(), "Description: \"\"");
        has(line.unwrap(), "Type: UINT64");
    }
    has(&definitions, "File: \"/src/halo.cpp\"");
    has(&definitions, "Role: BARRIER, Paradigm: \"MPI\"");
    has(&definitions, "Ticks per Seconds: 1000000000");
    let told = place.ok(&["info", "back.marey"]);
    assert!(told.contains("2026-11-21"), "the date comes back: {told}");
    let other = Place::new();
    messages_run(&other);
    check(&other, "messages.marey");
}

#[test]
fn odd_names_survive() {
    let place = Place::new();
    odd_run(&place);
    if check(&place, "odd.marey").is_none() {
        return marey_testkit::skip("otf2-print");
    }
    let definitions = printed(&place, &["-G"]).unwrap();
    for name in ODD_NAMES {
        assert!(definitions.contains(&format!("\"{name}\"")), "{name} is not in\n{definitions}");
    }
}
