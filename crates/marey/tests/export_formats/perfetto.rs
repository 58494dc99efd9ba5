//! Perfetto, as `protoc` reads it by the definitions of the Perfetto project.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use crate::figures::{Figures, Message, Sums};
use crate::place::Place;
use crate::{ODD_NAMES, messages_run, odd_run, sample};

/// What is looked at, out of the `.proto` files of the Perfetto project.
const PROTO: &str = r#"syntax = "proto2";
message Trace { repeated TracePacket packet = 1; }
message TracePacket { optional uint64 timestamp = 8; optional uint32 trusted_packet_sequence_id = 10;
  optional uint32 sequence_flags = 13; optional InternedData interned_data = 12; optional ClockSnapshot clock_snapshot = 6;
  optional TrackEvent track_event = 11; optional TrackDescriptor track_descriptor = 60; }
message Interned { optional uint64 iid = 1; optional string text = 2; }
message SourceLocation { optional uint64 iid = 1; optional string file_name = 2; optional string function_name = 3; optional uint32 line_number = 4; }
message InternedData { repeated Interned event_categories = 1; repeated Interned event_names = 2; repeated SourceLocation source_locations = 4; }
message Clock { optional uint32 clock_id = 1; optional uint64 timestamp = 2; }
message ClockSnapshot { repeated Clock clocks = 1; optional uint32 primary_trace_clock = 2; }
message ProcessDescriptor { optional int32 pid = 1; optional string process_name = 6; }
message ThreadDescriptor { optional int32 pid = 1; optional int32 tid = 2; optional string thread_name = 5; }
message CounterDescriptor { optional string unit_name = 6; }
message TrackDescriptor { optional uint64 uuid = 1; optional string name = 2; optional ProcessDescriptor process = 3;
  optional ThreadDescriptor thread = 4; optional uint64 parent_uuid = 5; optional CounterDescriptor counter = 8; }
message DebugAnnotation { optional string name = 10; optional bool bool_value = 2; optional uint64 uint_value = 3;
  optional int64 int_value = 4; optional double double_value = 5; optional string string_value = 6; }
message LegacyEvent { optional int32 phase = 2; optional uint64 global_id = 11; }
message TrackEvent { repeated uint64 category_iids = 3; repeated string categories = 22; optional uint64 name_iid = 10;
  optional string name = 23; optional int32 type = 9; optional uint64 track_uuid = 11; optional double double_counter_value = 44;
  repeated DebugAnnotation debug_annotations = 4; optional LegacyEvent legacy_event = 6; optional uint64 source_location_iid = 34;
  repeated fixed64 flow_ids = 47; repeated fixed64 terminating_flow_ids = 48; }
"#;

/// A message as `protoc` shows it: names with a value or what is within.
#[derive(Clone, Debug, Default)]
struct Node(Vec<(String, Value)>);

#[derive(Clone, Debug)]
enum Value {
    Plain(String),
    Message(Node),
}

impl Node {
    fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Node> + use<'a> {
        let name = name.to_owned();
        self.0.iter().filter(move |it| it.0 == name).filter_map(|it| match &it.1 {
            Value::Message(node) => Some(node),
            Value::Plain(_) => None,
        })
    }

    fn of(&self, name: &str) -> Option<&Node> {
        self.all(name).next()
    }

    fn text(&self, name: &str) -> Option<String> {
        let plain = self.0.iter().find(|it| it.0 == name).map(|it| &it.1)?;
        let Value::Plain(plain) = plain else { return None };
        Some(unescaped(plain.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(plain)))
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }
}

/// Without the escapes that `protoc` writes.
fn unescaped(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.bytes().peekable());
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next().unwrap() {
            b'n' => bytes.push(b'\n'),
            b't' => bytes.push(b'\t'),
            b'r' => bytes.push(b'\r'),
            digit @ b'0'..=b'7' => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    value = value * 8 + u32::from(rest.next().unwrap() - b'0');
                }
                bytes.push(u8::try_from(value).unwrap());
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// The whole trace; `None` where `protoc` is not installed.
fn decoded(place: &Place, file: &str) -> Option<Node> {
    std::fs::write(place.path("trace.proto"), PROTO).unwrap();
    let mut protoc = Command::new("protoc");
    let input = std::fs::File::open(place.path(file)).unwrap();
    let protoc = protoc.current_dir(place.path(".")).args(["--decode=Trace", "trace.proto"]);
    let output = protoc.stdin(input).stderr(Stdio::inherit()).output().ok()?;
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let mut open = vec![(String::new(), Node::default())];
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_suffix(" {") {
            open.push((name.to_owned(), Node::default()));
        } else if line == "}" {
            let (name, node) = open.pop().unwrap();
            open.last_mut().unwrap().1.0.push((name, Value::Message(node)));
        } else {
            let (name, value) = line.split_once(": ").unwrap();
            assert!(
                !name.starts_with(|it: char| it.is_ascii_digit()),
                "a field that the definitions lack: {line}"
            );
            open.last_mut().unwrap().1.0.push((name.to_owned(), Value::Plain(value.to_owned())));
        }
    }
    Some(open.pop().unwrap().1)
}

fn check(place: &Place, run: &str) -> Option<Node> {
    let figures = Figures::of(place, run);
    place.ok(&["export", run, "--to", "perfetto", "-o", "out.pftrace", "--force"]);
    place.ok(&["import", "out.pftrace", "-o", "back.marey", "--force"]);
    let back = Figures::of(place, "back.marey");
    assert_eq!(back.sums, figures.sums, "{run} after a round trip");
    assert_eq!((back.count("begin"), back.count("end")), (figures.count("begin"), figures.count("end")));
    assert_eq!(back.count("counter"), figures.count("counter") + figures.count("heap_peak"));
    let trace = decoded(place, "out.pftrace")?;
    let (mut names, mut tracks) = (BTreeMap::new(), BTreeMap::new());
    let (mut sums, mut open) = (Sums::new(), BTreeMap::<u64, Vec<(String, u64)>>::new());
    let (mut flows, mut received, mut messages) = (BTreeMap::new(), Vec::new(), Vec::<Message>::new());
    let (mut begin, mut last, mut n_counters, mut n_states) = (None, 0, 0, 0);
    let since = |time: u64, begin: u64| i64::try_from(time).unwrap() - i64::try_from(begin).unwrap();
    for packet in trace.all("packet") {
        for entry in packet.of("interned_data").iter().flat_map(|it| it.all("event_names")) {
            names.insert(entry.number("iid").unwrap(), entry.text("text").unwrap());
        }
        if let Some(track) = packet.of("track_descriptor").filter(|it| it.of("thread").is_some()) {
            tracks.insert(track.number("uuid").unwrap(), tracks.len() as u64);
        }
        let Some(event) = packet.of("track_event") else { continue };
        let time = packet.number("timestamp").unwrap();
        assert!(last <= time, "packets are in the order of time");
        last = time;
        let uuid = event.number("track_uuid").unwrap();
        let name = || names[&event.number("name_iid").unwrap()].clone();
        match event.number("type") {
            Some(1) => {
                begin = begin.or(Some(time));
                open.entry(uuid).or_default().push((name(), time));
            }
            Some(2) => {
                let (name, start) = open.get_mut(&uuid).unwrap().pop().unwrap();
                let sum = sums.entry((tracks[&uuid], name)).or_default();
                *sum = (sum.0 + 1, sum.1 + since(time, start));
            }
            Some(4) => n_counters += 1,
            Some(3) => {
                let annotation = |wanted: &str, kind: &str| {
                    let of = |it: &&Node| it.text("name").as_deref() == Some(wanted);
                    event.all("debug_annotations").find(of).and_then(|it| it.text(kind))
                };
                let facts =
                    || (annotation("bytes", "uint_value").unwrap(), annotation("tag", "uint_value").unwrap());
                if let Some(flow) = event.number("flow_ids").filter(|_| name() == "send") {
                    flows.insert(flow, (tracks[&uuid], time, facts()));
                }
                if let Some(flow) = event.number("terminating_flow_ids").filter(|_| name() == "receive") {
                    received.push((flow, tracks[&uuid], time, facts()));
                }
            }
            _ => {
                assert!(event.of("legacy_event").is_some());
                n_states += 1;
            }
        }
    }
    for (flow, to, time, facts) in received {
        let (from, sent, said) = flows.remove(&flow).unwrap();
        assert_eq!(said, facts);
        let (begin, bytes, tag) = (begin.unwrap(), said.0.parse().unwrap(), said.1.parse().unwrap());
        messages.push((from, to, since(sent, begin), since(time, begin), bytes, tag));
    }
    messages.sort_unstable();
    assert!(open.values().all(Vec::is_empty) && flows.is_empty());
    assert_eq!(sums, figures.sums, "{run}");
    assert_eq!(messages, figures.messages, "{run}");
    assert_eq!(n_counters, figures.count("counter") + figures.count("heap_peak"), "{run}");
    assert_eq!(n_states, figures.count("begin") + figures.count("end"), "{run}");
    Some(trace)
}

#[test]
fn visits_messages_and_the_rest_are_those_of_the_run() {
    let place = Place::new();
    sample::write(&place.path("sample.marey"));
    let Some(trace) = check(&place, "sample.marey") else {
        return marey_testkit::skip("protoc");
    };
    let descriptors: Vec<&Node> = trace.all("packet").filter_map(|it| it.of("track_descriptor")).collect();
    let units: Vec<_> = descriptors
        .iter()
        .filter_map(|it| Some((it.text("name")?, it.of("counter")?.text("unit_name")?)))
        .collect();
    assert_eq!(
        units,
        [("heap peak", "bytes"), ("residual", "m"), ("heap peak", "bytes")]
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
    );
    let place_of =
        trace.all("packet").filter_map(|it| it.of("interned_data")?.of("source_locations")).next().unwrap();
    assert_eq!(
        (place_of.text("file_name").unwrap(), place_of.number("line_number")),
        ("/src/halo.cpp".to_owned(), Some(30))
    );
    let mut located = trace.all("packet").filter_map(|it| {
        let event = it.of("track_event")?;
        Some((event.number("source_location_iid")?, event.number("name_iid")?))
    });
    let halo =
        trace.all("packet").filter_map(|it| it.of("interned_data")).flat_map(|it| it.all("event_names"));
    let halo =
        halo.filter(|it| it.text("text").as_deref() == Some("halo")).find_map(|it| it.number("iid")).unwrap();
    assert_eq!(located.next(), Some((place_of.number("iid").unwrap(), halo)));
    let values: Vec<_> =
        trace.all("packet").filter_map(|it| it.of("track_event")?.text("double_counter_value")).collect();
    assert_eq!(values[1], "0.25");
    let told = place.ok(&["info", "back.marey"]);
    assert!(told.contains("2026-11-21"), "the date comes back: {told}");
    let messages_place = Place::new();
    messages_run(&messages_place);
    check(&messages_place, "messages.marey");
}

#[test]
fn odd_names_survive() {
    let place = Place::new();
    odd_run(&place);
    let Some(trace) = check(&place, "odd.marey") else {
        return marey_testkit::skip("protoc");
    };
    let threads: Vec<_> = trace
        .all("packet")
        .filter_map(|it| it.of("track_descriptor")?.of("thread")?.text("thread_name"))
        .collect();
    for name in ODD_NAMES {
        assert!(threads.iter().any(|it| it == name), "{name}");
    }
}
