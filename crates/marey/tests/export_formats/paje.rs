//! Pajé, as `pj_dump` of PajeNG finds it.

use std::collections::BTreeMap;
use std::process::Command;

use crate::figures::{Figures, Message, Sums};
use crate::place::Place;
use crate::{ODD_NAMES, messages_run, odd_run, sample};

/// What `pj_dump` prints; `None` where it is not installed.
fn dumped(place: &Place) -> Option<String> {
    let mut dump = Command::new("pj_dump");
    let dump = dump.current_dir(place.path(".")).args(["-u", "--float-precision=9", "out.trace"]);
    let output = dump.output().ok()?;
    let (text, wrong) =
        (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && wrong.is_empty(), "{wrong}\n{text}");
    Some(text)
}

/// Seconds as ns.
fn ns(text: &str) -> i64 {
    let (whole, part) = text.split_once('.').unwrap();
    assert_eq!(part.len(), 9);
    whole.parse::<i64>().unwrap() * 1_000_000_000 + part.parse::<i64>().unwrap()
}

/// A name as it has to be mended.
fn mended(name: &str) -> String {
    let letter = |it: char| if it.is_control() { it.escape_default().to_string() } else { it.to_string() };
    name.chars().map(letter).collect::<String>().replace('"', "'")
}

/// The locations by their names, in the order in which they are told.
fn locations(text: &str) -> BTreeMap<String, u64> {
    let mut known = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("6 ") && line.contains(" T p")) {
        let name = line.split_once('"').unwrap().1.trim_end_matches('"');
        assert_eq!(known.insert(name.to_owned(), known.len() as u64), None, "{line}");
    }
    known
}

fn check(place: &Place, run: &str) -> Option<(String, String)> {
    let figures = Figures::of(place, run);
    place.ok(&["export", run, "--to", "paje", "-o", "out.trace", "--force"]);
    let text = std::fs::read_to_string(place.path("out.trace")).unwrap();
    let expected: Sums = figures.sums.iter().map(|((at, name), sum)| ((*at, mended(name)), *sum)).collect();
    place.ok(&["import", "out.trace", "-o", "back.marey", "--force"]);
    let mut back = Figures::of(place, "back.marey");
    // Both ends of a link are noted when both are known, so behind a call that is left at that time; and in the sample
    // receives are complete when their calls have been left.
    let is_own = |name: &str| name == "send" || name == "receive";
    back.sums.retain(|(_, name), sum| sum.1 != 0 || !is_own(name));
    assert_eq!(back.sums, expected, "{run} after a round trip");
    assert_eq!(back.messages, figures.messages, "{run} after a round trip");
    let instants = figures.count("instant") + figures.count("collective");
    assert_eq!(back.count("instant"), instants, "{run} after a round trip");
    let readings = figures.count("counter") + figures.count("heap_peak");
    assert_eq!(back.count("counter"), readings, "{run} after a round trip");
    if run == "sample.marey" {
        let is_own = |it: &&(String, i64, String)| it.0 != "heap peak";
        let back: Vec<_> = back.counters.iter().filter(is_own).cloned().collect();
        assert_eq!(back, figures.counters, "{run} after a round trip");
    }
    let (dump, locations) = (dumped(place)?, locations(&text));
    let (mut sums, mut messages) = (Sums::new(), Vec::<Message>::new());
    let mut begin = i64::MAX;
    for line in dump.lines().filter(|line| line.starts_with("State, ")) {
        let (container, rest) = line["State, ".len()..].split_once(", State, ").unwrap();
        let words: Vec<&str> = rest.splitn(7, ", ").collect();
        let (start, end) = (ns(words[0]), ns(words[1]));
        begin = begin.min(start);
        // Behind it stand the level and place of its value.
        let name = words[4..].join(", ");
        let sum = sums.entry((locations[container], name)).or_default();
        *sum = (sum.0 + 1, sum.1 + end - start);
    }
    assert_eq!(sums, expected, "{run}");
    for line in dump.lines().filter(|line| line.starts_with("Link, 0, message, ")) {
        let words: Vec<&str> = line.split(", ").collect();
        let (from, to) = (locations[words[7]], locations[words[8]]);
        let (sent, received) = (ns(words[3]) - begin, ns(words[4]) - begin);
        assert_eq!(words[10..12], words[12..14], "both ends say the same: {line}");
        messages.push((from, to, sent, received, words[11].parse().unwrap(), words[10].parse().unwrap()));
    }
    messages.sort_unstable();
    assert_eq!(messages, figures.messages, "{run}");
    let n = |kind: &str| dump.lines().filter(|line| line.starts_with(kind)).count() as u64;
    assert_eq!(n("Event, "), instants, "{run}");
    assert_eq!(n("Variable, "), readings, "{run}");
    let edges = dump.lines().filter(|line| line.starts_with("Link, 0, edge, ")).count() as u64;
    assert_eq!(edges, figures.count("effect"), "{run}");
    Some((text, dump))
}

#[test]
fn visits_messages_and_the_rest_are_those_of_the_run() {
    let place = Place::new();
    sample::write(&place.path("sample.marey"));
    let Some((text, dump)) = check(&place, "sample.marey") else {
        return marey_testkit::skip("pj_dump of pajeng");
    };
    let has = |text: &str, line: &str| assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
    has(&text, "# command line: mpirun -n 2 ./app");
    has(&text, "5 r0 S \"halo\" \"0.3 0.6 0.9\" \"source\" \"/src/halo.cpp:30\"");
    has(&dump, "Event, rank 0 main, step, 0.050000000, n=1");
    let other = Place::new();
    messages_run(&other);
    let (_, dump) = check(&other, "messages.marey").unwrap();
    assert!(dump.contains(", MPI_COMM_WORLD, "), "{dump}");
}

#[test]
fn odd_names_are_mended() {
    let place = Place::new();
    odd_run(&place);
    let Some((text, dump)) = check(&place, "odd.marey") else {
        return marey_testkit::skip("pj_dump of pajeng");
    };
    for name in ODD_NAMES.map(mended) {
        assert!(text.contains(&format!("\"{name}\"")), "{name} is not in\n{text}");
        assert!(dump.contains(&format!(", {name}")), "{name} is not in\n{dump}");
    }
}
