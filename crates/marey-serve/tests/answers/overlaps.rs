//! States that need not nest, against the rows of their table.

use std::collections::{BTreeMap, BTreeSet};

use marey_testkit::{Chance, Spool};
use serde_json::{Value, json};

use super::Made;
use super::decoded::ask;

/// Two ranks that begin and end states in any order, at most so many at a time.
pub(super) fn overlapping(seed: u64, most: usize) -> Made {
    let mut chance = Chance::new(seed);
    let mut spool = Spool::world(2);
    for process in &mut spool.processes {
        let sites: Vec<u32> = (0..4).map(|number| process.site(0, &format!("state {number}"))).collect();
        let (mut now, mut open) = (1000, Vec::new());
        for _ in 0..1500 {
            let bits = chance.below(12);
            now += chance.below(1 << bits);
            if open.len() == most || (!open.is_empty() && chance.below(2) == 0) {
                let place = usize::try_from(chance.below(open.len() as u64)).unwrap();
                process.end_of(0, open.swap_remove(place), now);
            } else {
                let site = sites[usize::try_from(chance.below(4)).unwrap()];
                open.push(process.begin(0, site, now));
            }
        }
        process.enter(0, sites[0], now + 1000);
        process.leave(0, now + 2000);
        process.end = Some(now + 3000);
    }
    Made::of(&spool)
}

/// A state: start, end, region.
type State = (i64, i64, u32);

fn states(made: &Made) -> BTreeMap<u32, Vec<State>> {
    let table = made.archive.table("overlaps").unwrap();
    let mut found: BTreeMap<u32, Vec<State>> = BTreeMap::new();
    for row in 0..table.len() {
        let start = table.i64("start").unwrap()[row];
        let end = start + table.i64("duration").unwrap()[row];
        let location = table.u32("location").unwrap()[row];
        found.entry(location).or_default().push((start, end, table.u32("region").unwrap()[row]));
    }
    found
}

fn asked((from, to): (i64, i64), log2: u32) -> Value {
    json!({ "ask": "overlaps", "from_ns": from, "to_ns": to, "resolution_log2": log2,
        "locations": [[0, 2]], "exact": false })
}

#[test]
fn there_are_as_many_lanes_as_states_overlap() {
    for (seed, most) in [(1, 1), (2, 3), (3, 8), (4, 12)] {
        let made = overlapping(seed, most);
        let places = ask(&made.open(), &json!({ "ask": "overlap-places" }));
        let all = states(&made);
        assert_eq!(places.u32("location"), all.keys().copied().collect::<Vec<_>>());
        for (place, states) in all.values().enumerate() {
            assert_eq!(places.u32("number")[place] as usize, states.len());
            let at_a_time = |at: i64| states.iter().filter(|state| state.0 <= at && at < state.1).count();
            let deepest = states.iter().map(|state| at_a_time(state.0)).max().unwrap();
            let lanes = places.u32("lanes")[place] as usize;
            // One that is begun and ended at an instant needs a lane among those that are there then.
            assert!(deepest.min(8) <= lanes && lanes <= (deepest + 1).min(8), "{lanes} lanes, {deepest}");
            assert_eq!(places.u32("left_out")[place] > 0, deepest > 8);
        }
    }
}

#[test]
#[expect(clippy::cast_possible_truncation, reason = "made-up runs are short")]
fn any_window_has_the_states_that_a_count_says() {
    let mut chance = Chance::new(9);
    let (mut joined, mut told) = (0, 0);
    for (seed, most) in [(10, 6), (11, 6), (12, 1), (13, 1)] {
        let made = overlapping(seed, most);
        let (run, all) = (made.open(), states(&made));
        let end = all.values().flatten().map(|state| state.1).max().unwrap();
        for _ in 0..150 {
            let from = i64::try_from(chance.below(u64::try_from(end).unwrap())).unwrap();
            let bits = 3 + chance.below(18);
            let to = from + 1 + i64::try_from(chance.below(1 << bits)).unwrap();
            let log2 = u32::try_from(chance.below(12)).unwrap().max((to - from).ilog2().saturating_sub(10));
            let answer = ask(&run, &asked((from, to), log2));
            let (location, lane) = (answer.u32("location"), answer.u32("lane"));
            let (start, duration) = (answer.f64("start"), answer.f64("duration"));
            let (region, number) = (answer.u32("region"), answer.u32("number"));
            for (of, states) in &all {
                let is_in = |state: &&State| {
                    let overlaps = state.0 < to && from < state.1;
                    overlaps || (state.0 == state.1 && from <= state.0 && state.0 < to)
                };
                let inside: Vec<&State> = states.iter().filter(is_in).collect();
                let pieces: Vec<usize> =
                    (0..location.len()).filter(|piece| location[*piece] == *of).collect();
                let sum: u32 = pieces.iter().map(|piece| number[*piece]).sum();
                assert_eq!(sum as usize, inside.len(), "{from} {to} {log2}");
                // Those that can be seen are told one by one, as they are.
                let long: BTreeSet<State> =
                    inside.iter().filter(|it| (it.1 - it.0) >> log2 > 0).map(|it| **it).collect();
                let span = |piece: usize| (start[piece] as i64, (start[piece] + duration[piece]) as i64);
                let single = pieces.iter().filter(|piece| number[**piece] == 1);
                let single: BTreeSet<State> =
                    single.map(|piece| (span(*piece).0, span(*piece).1, region[*piece])).collect();
                assert!(long.is_subset(&single), "{from} {to} {log2}");
                for piece in pieces.iter().filter(|piece| number[**piece] > 1) {
                    let (first, last) = span(*piece);
                    let among: Vec<&&State> =
                        inside.iter().filter(|it| first <= it.0 && it.1 <= last).collect();
                    // Those in a lane are known if there is but one.
                    let longest = among.iter().map(|it| it.1 - it.0).max().unwrap();
                    let is_right = |it: &&&&State| most > 1 || it.1 - it.0 == longest;
                    assert!(among.iter().filter(is_right).any(|it| it.2 == region[*piece]));
                    assert!(first >> log2 == (last - 1).max(first) >> log2 || last - first < 2 << log2);
                    joined += 1;
                }
                // In a lane none overlaps another.
                for pair in pieces.windows(2).filter(|pair| lane[pair[0]] == lane[pair[1]]) {
                    assert!(span(pair[0]).1 <= span(pair[1]).0, "{from} {to} {log2}");
                }
                told += pieces.len();
            }
        }
    }
    assert!(joined > 100 && told > 1000, "{joined} joined, {told} pieces");
}
