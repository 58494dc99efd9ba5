//! What a run has, as `marey dump --json` tells it: the reference for what was written of it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::place::Place;

/// Visits and inclusive time by location and region, ns.
pub(crate) type Sums = BTreeMap<(u64, String), (u64, i64)>;

/// Sender, receiver, time of both, bytes, tag.
pub(crate) type Message = (u64, u64, i64, i64, u64, i64);

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Figures {
    pub(crate) sums: Sums,
    /// Sorted.
    pub(crate) messages: Vec<Message>,
    /// How many events of each kind.
    pub(crate) counts: BTreeMap<String, u64>,
    /// Location, communicator, root, bytes out and in, as they come.
    pub(crate) collectives: Vec<(u64, String, String, u64, u64)>,
    /// Name, time, value.
    pub(crate) counters: Vec<(String, i64, String)>,
}

/// What a region is called in other tools.
pub(crate) fn name(event: &Value) -> String {
    let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
    if text("verb") == "execute" && !text("noun").is_empty() { text("noun") } else { text("verb") }
}

impl Figures {
    /// Those of a run; times since its first visit.
    pub(crate) fn of(place: &Place, run: &str) -> Self {
        Self::rounded(place, run, 1)
    }

    /// The same with times rounded down to multiples of so many ns.
    pub(crate) fn rounded(place: &Place, run: &str, unit: i64) -> Self {
        let mut events = events(place, run);
        events.iter_mut().for_each(|event| round(event, unit));
        let number = |event: &Value, key: &str| event[key].as_i64().unwrap_or(-1);
        let is_begin = |event: &&Value| event["event"] == "enter" || event["event"] == "visit";
        let begin = events.iter().filter(is_begin).map(|event| number(event, "time_ns")).min().unwrap_or(0);
        let mut it = Self::default();
        let mut ends: BTreeMap<bool, Vec<Message>> = BTreeMap::new();
        for event in &events {
            let kind = event["event"].as_str().unwrap().to_owned();
            let (location, time) = (event["location"].as_u64().unwrap(), number(event, "time_ns") - begin);
            match kind.as_str() {
                "leave" | "visit" => {
                    let sum = it.sums.entry((location, name(event))).or_default();
                    *sum = (sum.0 + 1, sum.1 + number(event, "duration_ns"));
                }
                "send" | "receive" if !event["peer_location"].is_null() => {
                    let peer = event["peer_location"].as_u64().unwrap();
                    let (bytes, tag) = (event["bytes"].as_u64().unwrap(), number(event, "tag"));
                    let is_send = kind == "send";
                    let (from, to) = if is_send { (location, peer) } else { (peer, location) };
                    ends.entry(is_send).or_default().push((from, to, time, 0, bytes, tag));
                }
                "collective" => {
                    let text = |key: &str| event[key].to_string();
                    let bytes = |key: &str| event[key].as_u64().unwrap();
                    let (out, into) = (bytes("bytes_out"), bytes("bytes_in"));
                    it.collectives.push((location, text("communicator"), text("root"), out, into));
                }
                "counter" => {
                    let name = event["name"].as_str().unwrap().to_owned();
                    it.counters.push((name, time, event["value"].to_string()));
                }
                _ => {}
            }
            *it.counts.entry(kind).or_default() += 1;
        }
        // Messages of one channel overtake nobody.
        let mut received = ends.remove(&false).unwrap_or_default();
        for (from, to, sent, _, bytes, tag) in ends.remove(&true).unwrap_or_default() {
            let is_same = |it: &Message| (it.0, it.1, it.4, it.5) == (from, to, bytes, tag);
            let at = received.iter().position(is_same).unwrap();
            it.messages.push((from, to, sent, received.remove(at).2, bytes, tag));
        }
        assert_eq!(received, [], "each has a sender");
        it.messages.sort_unstable();
        it.counters.sort();
        it
    }

    pub(crate) fn count(&self, kind: &str) -> u64 {
        self.counts.get(kind).copied().unwrap_or(0)
    }
}

/// Rounds the times of an event down.
fn round(event: &mut Value, unit: i64) {
    let time = event["time_ns"].as_i64().unwrap();
    let down = |time: i64| time.div_euclid(unit) * unit;
    if let Some(duration) = event["duration_ns"].as_i64() {
        let start = if event["event"] == "leave" { time - duration } else { time };
        event["duration_ns"] = (down(start + duration) - down(start)).into();
    }
    event["time_ns"] = down(time).into();
}

/// All events of a run.
pub(crate) fn events(place: &Place, run: &str) -> Vec<Value> {
    place.ok(&["dump", run, "--json"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
