//! ALOG, as a slow reader of its lines finds it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::figures::{Figures, Message, Sums};
use crate::place::Place;
use crate::{ODD_NAMES, messages_run, odd_run, sample};

/// A line: six numbers and a text.
fn line(text: &str) -> ([i64; 6], String) {
    assert!(text.len() <= 1023, "{text}");
    let mut rest = text;
    let number = |_| {
        let (word, behind) = rest.trim_start().split_once(' ').unwrap_or((rest.trim_start(), ""));
        rest = behind;
        word.parse().unwrap_or_else(|_| panic!("{text}"))
    };
    let numbers = [0; 6].map(number);
    (numbers, rest.to_owned())
}

fn escaped(name: &str) -> String {
    let letter = |it: char| if it.is_control() { it.escape_default().to_string() } else { it.to_string() };
    name.chars().map(letter).collect()
}

/// A log, and how many events of each name it has, with data and comment.
fn check(place: &Place, run: &str) -> (String, Vec<(String, i64, String)>) {
    let figures = Figures::rounded(place, run, 1000);
    place.ok(&["export", run, "--to", "alog", "-o", "out.alog", "--force"]);
    let text = std::fs::read_to_string(place.path("out.alog")).unwrap();
    let lines: Vec<_> = text.lines().filter(|it| !it.starts_with('#')).map(line).collect();
    let n_head = lines.iter().position(|it| !(-100..0).contains(&it.0[0])).unwrap();
    let (head, body) = lines.split_at(n_head);
    let said = |kind: i64| head.iter().find(|it| it.0[0] == kind).unwrap().0;
    assert_eq!(said(-2)[3], body.len() as i64, "{run}");
    assert!(body.windows(2).all(|pair| pair[0].0[5] <= pair[1].0[5]) && said(-6)[5] == 0);
    assert!(body.last().unwrap().0[5] <= said(-7)[5]);
    assert_eq!((said(-4)[3], said(-8)[3], said(-11)[5]), (1, 1, 4_294_967_295));
    let (mut starts, mut ends, mut names) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for (numbers, comment) in head {
        match numbers[0] {
            -13 => {
                let (colour, name) = comment.split_once(' ').unwrap();
                assert!(colour.contains(':'));
                assert_eq!(starts.insert(numbers[2], name.to_owned()), None);
                assert_eq!(ends.insert(numbers[3], name.to_owned()), None);
            }
            -9 => assert_eq!(names.insert(numbers[3], comment.clone()), None),
            -10 => assert_eq!(comment, "%d"),
            -15 | -11 | -8..=-1 => {}
            _ => panic!("{numbers:?}"),
        }
    }
    assert_eq!(said(-5)[3], (starts.len() + ends.len() + names.len()) as i64);
    let places: BTreeSet<(i64, i64)> = body.iter().map(|it| (it.0[1], it.0[2])).collect();
    let location = |at: (i64, i64)| places.iter().position(|it| *it == at).unwrap() as u64;
    assert_eq!(said(-3)[3], places.iter().map(|it| it.0).collect::<BTreeSet<_>>().len() as i64);
    let (mut sums, mut open) = (Sums::new(), BTreeMap::<u64, Vec<(String, i64)>>::new());
    let (mut sent, mut messages) = (BTreeMap::<_, VecDeque<_>>::new(), Vec::<Message>::new());
    let (mut begin, mut events, mut received) = (None, Vec::new(), Vec::new());
    for (numbers, comment) in body {
        let [kind, process, task, data, _, time] = *numbers;
        let (at, ns) = (location((process, task)), time * 1000);
        if let Some(name) = starts.get(&kind) {
            begin = begin.or(Some(ns));
            open.entry(at).or_default().push((name.clone(), ns));
        } else if let Some(name) = ends.get(&kind) {
            let (entered, since) = open.get_mut(&at).unwrap().pop().unwrap();
            assert_eq!(&entered, name);
            let sum = sums.entry((at, entered)).or_default();
            *sum = (sum.0 + 1, sum.1 + ns - since);
        } else if kind == -101 {
            let key = (process, data, comment.clone());
            sent.entry(key).or_default().push_back((at, ns - begin.unwrap()));
        } else if kind == -102 {
            received.push(((data, process, comment.clone()), at, ns - begin.unwrap()));
        } else {
            events.push((names[&kind].clone(), data, comment.clone()));
        }
    }
    // Clocks may differ, so that something is received before it is sent.
    for (key, to, time) in received {
        let (from, sent) = sent.get_mut(&key).unwrap().pop_front().unwrap();
        let (tag, size) = key.2.split_once(' ').unwrap();
        messages.push((from, to, sent, time, size.parse().unwrap(), tag.parse().unwrap()));
    }
    messages.sort_unstable();
    assert!(open.values().all(Vec::is_empty) && sent.values().all(VecDeque::is_empty));
    let expected: Sums = figures.sums.iter().map(|((at, name), sum)| ((*at, escaped(name)), *sum)).collect();
    assert_eq!((&sums, &messages), (&expected, &figures.messages), "{run}");
    let others = ["instant", "collective", "counter", "heap_peak"].map(|kind| figures.count(kind));
    assert_eq!(events.len() as u64, others.iter().sum::<u64>(), "{run}");
    place.ok(&["import", "out.alog", "-o", "back.marey", "--force"]);
    let mut back = Figures::of(place, "back.marey");
    // In the sample receives are complete when their calls have been left.
    back.sums.retain(|(_, name), sum| run != "sample.marey" || name != "receive" || sum.1 != 0);
    assert_eq!((&back.sums, &back.messages), (&expected, &figures.messages), "{run} after a round trip");
    assert_eq!(back.count("instant"), others.iter().sum::<u64>(), "{run} after a round trip");
    (text, events)
}

#[test]
fn visits_messages_and_the_rest_are_those_of_the_run() {
    let place = Place::new();
    sample::write(&place.path("sample.marey"));
    let (text, events) = check(&place, "sample.marey");
    let has = |name: &str, data, comment: &str| {
        let event = (name.to_owned(), data, comment.to_owned());
        assert!(events.contains(&event), "{event:?} is not in {events:?}");
    };
    has("step", 1, "n=1");
    has("residual", 0, "0.25");
    has("collective", 0, "MPI_COMM_WORLD, operation 0, bytes out 0, in 0");
    assert!(
        text.contains("\n# command line: mpirun -n 2 ./app\n") || text.starts_with("# command line: mpirun")
    );
    assert!(text.lines().any(|line| line == "-101 0 0 1 0 12000 7 4096"), "{text}");
    let other = Place::new();
    messages_run(&other);
    check(&other, "messages.marey");
}

#[test]
fn odd_names_are_one_line_each() {
    let place = Place::new();
    odd_run(&place);
    let (text, events) = check(&place, "odd.marey");
    for name in ODD_NAMES.map(escaped) {
        assert!(text.lines().any(|line| line.starts_with("-13") && line.ends_with(&name)), "{name}");
        let name = name.replace('"', "'");
        assert!(events.iter().any(|it| it.0.ends_with(&name)), "{name} is not in {events:?}");
    }
}

#[test]
fn long_names_are_cut_and_said() {
    let place = Place::new();
    let name = "é".repeat(1000);
    let event = serde_json::json!([{ "ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "name": name }]);
    std::fs::write(place.path("long.json"), event.to_string()).unwrap();
    place.ok(&["import", "long.json", "-o", "long.marey"]);
    let told = place.ok(&["export", "long.marey", "--to", "alog", "-o", "long.alog", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["left_out"], serde_json::json!([{ "what": "ends of long names", "number": 1 }]));
    let text = std::fs::read_to_string(place.path("long.alog")).unwrap();
    assert!(text.lines().any(|line| line.ends_with(&format!(" {}", "é".repeat(440)))), "{text}");
}
