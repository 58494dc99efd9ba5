//! Paraver, as a slow reader of its lines finds it.

use std::collections::BTreeMap;

use crate::figures::{Figures, Message, Sums};
use crate::place::Place;
use crate::{ODD_NAMES, messages_run, odd_run, sample};

/// Labels of types, and of values by type.
#[derive(Default)]
struct Labels {
    types: BTreeMap<i64, String>,
    values: BTreeMap<(i64, i64), String>,
}

fn labels(text: &str) -> Labels {
    let mut it = Labels::default();
    let (mut section, mut kind) = ("", 0);
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some(word) if word == "EVENT_TYPE" || word == "VALUES" || word == "STATES" => {
                section = if word == "VALUES" { "VALUES" } else { word };
            }
            Some(first) if section == "EVENT_TYPE" && first.parse::<i64>().is_ok() => {
                kind = words.next().unwrap().parse().unwrap();
                it.types.insert(kind, line.split_whitespace().skip(2).collect::<Vec<_>>().join(" "));
            }
            Some(first) if section == "VALUES" && first.parse::<i64>().is_ok() => {
                let label = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches("   ");
                it.values.insert((kind, first.parse().unwrap()), label.to_owned());
            }
            _ => {}
        }
    }
    it
}

fn text(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path(name)).unwrap()
}

fn check(place: &Place, run: &str) -> (String, Labels) {
    let figures = Figures::of(place, run);
    place.ok(&["export", run, "--to", "paraver", "-o", "out.prv", "--force"]);
    let (prv, labels) = (text(place, "out.prv"), labels(&text(place, "out.pcf")));
    let mut who: BTreeMap<(i64, i64, i64), u64> = BTreeMap::new();
    let head = prv.lines().next().unwrap();
    let tasks = head.split_once("):").unwrap().1.split_once(":1:").unwrap().1;
    let tasks = tasks.split_once('(').unwrap().1.split_once(')').unwrap().0;
    for (task, of) in (1..).zip(tasks.split(',')) {
        for thread in 1..=of.split_once(':').unwrap().0.parse().unwrap() {
            who.insert((1, task, thread), who.len() as u64);
        }
    }
    let (mut sums, mut open) = (Sums::new(), BTreeMap::<(u64, i64), Vec<(i64, i64)>>::new());
    let (mut messages, mut states) = (Vec::<Message>::new(), BTreeMap::<u64, i64>::new());
    let (mut last, mut begin) = (0, None);
    for line in prv.lines().skip(1).filter(|line| !line.starts_with('c')) {
        let n: Vec<i64> = line.split(':').map(|it| it.parse().unwrap()).collect();
        assert!(last <= n[5], "lines are in the order of time: {line}");
        last = n[5];
        let location = who[&(n[2], n[3], n[4])];
        match n[0] {
            1 => {
                assert!(n[5] < n[6] && states.insert(location, n[6]).unwrap_or(0) <= n[5], "{line}");
                assert!(n[7] < 17, "{line}");
            }
            2 => {
                for pair in n[6..].chunks(2) {
                    let (kind, value) = (pair[0], pair[1]);
                    if !labels.values.contains_key(&(kind, 0)) || kind == 60_000_119 {
                        assert!(labels.types.contains_key(&kind) || kind == 60_000_119, "{line}");
                        continue;
                    }
                    if value != 0 {
                        begin = begin.or(Some(n[5]));
                        open.entry((location, kind)).or_default().push((value, n[5]));
                        continue;
                    }
                    let (value, since) = open.get_mut(&(location, kind)).unwrap().pop().unwrap();
                    let sum = sums.entry((location, labels.values[&(kind, value)].clone())).or_default();
                    *sum = (sum.0 + 1, sum.1 + n[5] - since);
                }
            }
            3 => {
                assert!(n[5] <= n[6] && n[11] <= n[12], "{line}");
                let to = who[&(n[8], n[9], n[10])];
                let begin = begin.unwrap();
                messages.push((location, to, n[5] - begin, n[12] - begin, n[13].try_into().unwrap(), n[14]));
            }
            _ => panic!("{line}"),
        }
    }
    assert!(open.values().all(Vec::is_empty));
    messages.sort_unstable();
    let escaped = |name: &str| -> String {
        name.chars()
            .map(|it| if it.is_control() { it.escape_default().to_string() } else { it.to_string() })
            .collect()
    };
    let expected: Sums = figures.sums.iter().map(|((at, name), sum)| ((*at, escaped(name)), *sum)).collect();
    assert_eq!(sums, expected, "{run}");
    assert_eq!(messages, figures.messages, "{run}");
    place.ok(&["import", "out.prv", "-o", "back.marey", "--force"]);
    let mut back = Figures::of(place, "back.marey");
    // In the sample receives were posted when they were complete, as nothing that was recorded has it; they get a call of
    // their own, that takes no time.
    back.sums.retain(|(_, name), sum| run != "sample.marey" || name != "receive" || sum.1 != 0);
    assert_eq!(back.sums, expected, "{run} after a round trip");
    assert_eq!(back.messages, figures.messages, "{run} after a round trip");
    assert_eq!(back.collectives, figures.collectives, "{run}");
    (prv, labels)
}

#[test]
fn visits_and_messages_are_those_of_the_run() {
    let place = Place::new();
    sample::write(&place.path("sample.marey"));
    let (prv, labels) = check(&place, "sample.marey");
    let mut lines = prv.lines();
    assert_eq!(lines.next(), Some("#Paraver (21/11/2026 at 07:15):100000000_ns:1(2):1:2(1:1,1:1),1"));
    assert_eq!(lines.next(), Some("c:1:1:2:1:2"));
    // A place of the source, a message with its four times, a collective with what is known of it, and a counter.
    let has = |line: &str| assert!(prv.lines().any(|it| it == line), "{line} is not in\n{prv}");
    has("2:0:1:1:1:10000000:60000019:1000:60000119:1000");
    has("3:0:1:1:1:12000000:12000000:0:1:2:1:12000000:18000000:4096:7");
    has("2:0:1:2:1:60000000:50000002:8:50100001:0:50100002:0:50100004:1");
    has("1:0:1:2:1:60000000:90000000:5");
    assert_eq!(labels.values[&(50_000_002, 8)], "MPI_Barrier");
    assert_eq!(labels.values[&(60_000_119, 1000)], "30 (/src/halo.cpp, /src/halo.cpp)");
    assert_eq!(labels.types[&93_000_000], "residual [m]");
    let rows = text(&place, "out.row");
    assert!(rows.contains("LEVEL THREAD SIZE 2\nrank 0 main\nrank 1 main\n"), "{rows}");
}

#[test]
fn a_trace_with_threads_and_a_root_comes_back() {
    let place = Place::new();
    messages_run(&place);
    let (prv, _) = check(&place, "messages.marey");
    assert!(prv.lines().any(|line| line.contains("50100001:4:50100002:0:50100004:1:50100003:1")), "{prv}");
}

#[test]
fn odd_names_are_one_line_each() {
    let place = Place::new();
    odd_run(&place);
    let (_, labels) = check(&place, "odd.marey");
    assert_eq!(
        labels.values.iter().filter(|((kind, value), _)| *kind == 60_000_019 && *value != 0).count(),
        ODD_NAMES.len() + 1
    );
}
