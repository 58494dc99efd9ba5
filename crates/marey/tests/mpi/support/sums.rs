//! What must add up in every run, whatever the program did.
//!
//! The one idea: the same time is told in several ways, by tables that were made apart from each other; if two of them do
//! not agree, one of them is wrong.

use std::collections::BTreeMap;

use marey_analyze::{Trace, causes};
use marey_archive::{Events, RunTrace, prepared};
use marey_model::Nanos;
use marey_testkit::expect_parts_add_up;
use serde_json::Value;

use super::Run;

impl Run {
    /// Fails unless times in the archive and in what explains the run add up.
    pub(crate) fn expect_sums(&self) {
        self.inclusive_times_are_those_of_their_parts();
        self.what_was_prepared_is_what_events_give();
        self.spans_have_what_the_run_has();
        let waits = self.json("waits");
        let sum = |rows: &Value, field: &str| -> i64 {
            rows.as_array().unwrap().iter().map(|row| row[field].as_i64().unwrap()).sum()
        };
        let number = |value: &Value| value.as_i64().unwrap();
        let listed = sum(&waits["waits"], "wait_ns");
        assert_eq!(listed + number(&waits["unlisted"]["wait_ns"]), number(&waits["waiting_ns"]));
        // Each cost is rounded to whole ns.
        let rows = i64::try_from(waits["delays"].as_array().unwrap().len()).unwrap() + 1;
        let costs = sum(&waits["delays"], "cost_ns") + number(&waits["unexplained_ns"]);
        assert!((costs - listed).abs() <= rows, "waits of {listed} ns cost {costs} ns");
        assert_eq!(waits["unexplained_ns"], 0);
        let path = self.json("path");
        let on_path = sum(&path["critical_path"], "time_ns") + number(&path["before_ns"]);
        assert_eq!(on_path, number(&path["duration_ns"]), "the critical path is not as long as the run");
        let report = self.json("report");
        for region in report["regions"].as_array().unwrap() {
            let (waiting, time) = (region["waiting_ns"].as_i64().unwrap(), number(&region["inclusive_ns"]));
            // What a loop that asks takes to go round is waiting, but no time of the call.
            let verb = region["verb"].as_str().unwrap();
            let asks = marey_model::Asking::of_function(verb).is_some();
            assert!(0 <= waiting && (asks || waiting <= time), "{region}");
        }
        let efficiency = &report["efficiency"];
        if !efficiency.is_null() {
            let factor = |name: &str| efficiency[name].as_f64().unwrap();
            let is_product = |whole: &str, parts: &[&str]| {
                (factor(whole) - parts.iter().map(|name| factor(name)).product::<f64>()).abs() < 1e-9
            };
            assert!(is_product("parallel", &["load_balance", "communication"]), "{efficiency}");
            let parts = ["serialisation", "setting_up", "transfer"];
            assert!(is_product("communication", &parts), "{efficiency}");
        }
    }

    fn what_was_prepared_is_what_events_give(&self) {
        let archive = self.archive();
        let trace = RunTrace::load(&archive).unwrap();
        let events = Events::open(&archive, &trace).unwrap();
        assert_eq!(prepared(&archive, &trace), Some(causes(&trace, &events).unwrap()));
    }

    /// Unless some of it has no events.
    fn spans_have_what_the_run_has(&self) {
        let archive = self.archive();
        let trace = RunTrace::load(&archive).unwrap();
        let count = |name: &str| archive.meta().counts.get(name).copied().unwrap_or(0);
        let without_events = ["summed_locations", "beside_visits", "half_counted_messages"];
        if without_events.into_iter().any(|name| count(name) > 0) {
            return;
        }
        let events = Events::open(&archive, &trace).unwrap();
        // No two of the same length, and some ends in the midst of what happens.
        let length = trace.duration().0;
        let cuts = [7, 20, 21, 50, 83, 99].map(|percent| Nanos(length * percent / 100 + percent));
        expect_parts_add_up(&trace, &events, &cuts);
    }

    /// Of each call path on each location, what it has itself and what those beneath it have.
    fn inclusive_times_are_those_of_their_parts(&self) {
        let (profile, paths) = (self.table("profile"), self.table("call_paths"));
        let parents = paths.u32("parent").unwrap();
        let (at, locations) = (profile.u32("call_path").unwrap(), profile.u32("location").unwrap());
        let (inclusive, exclusive) = (profile.i64("inclusive").unwrap(), profile.i64("exclusive").unwrap());
        let mut parts: BTreeMap<(u32, u32), i64> = BTreeMap::new();
        for row in 0..profile.len() {
            *parts.entry((locations[row], at[row])).or_default() += exclusive[row];
            let parent = parents[at[row] as usize];
            if parent != u32::MAX {
                *parts.entry((locations[row], parent)).or_default() += inclusive[row];
            }
        }
        for row in 0..profile.len() {
            let sum = parts[&(locations[row], at[row])];
            assert_eq!(inclusive[row], sum, "call path {} on location {}", at[row], locations[row]);
        }
    }
}
