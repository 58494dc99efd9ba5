//! Speedscope: against a plain parser that holds all of a file, gone through the slow way.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::otf2::imported;
use super::sums::{Sum, Sums, sums_of};

fn ns_in(unit: &str) -> Option<f64> {
    Some(match unit {
        "microseconds" => 1e3,
        "milliseconds" => 1e6,
        "seconds" => 1e9,
        _ => return None,
    })
}

/// What each call path comes to, with nothing beneath it; in the profile's own unit.
fn slow_own(file: &Value, profile: &Value) -> Vec<(Vec<usize>, i64, f64)> {
    let mut own = Vec::new();
    let frame = |event: &Value| usize::try_from(event["frame"].as_u64().unwrap()).unwrap();
    if profile["type"] == "sampled" {
        let weights = profile["weights"].as_array().unwrap();
        for (stack, weight) in profile["samples"].as_array().unwrap().iter().zip(weights) {
            let stack = stack
                .as_array()
                .unwrap()
                .iter()
                .map(|it| usize::try_from(it.as_u64().unwrap()).unwrap())
                .collect();
            own.push((stack, 0, weight.as_f64().unwrap()));
        }
        return own;
    }
    let (mut open, mut last): (Vec<usize>, f64) = (Vec::new(), 0.0);
    for event in profile["events"].as_array().unwrap() {
        let at = event["at"].as_f64().unwrap();
        own.push((open.clone(), 0, at - last));
        last = at;
        if event["type"] == "O" {
            open.push(frame(event));
            own.push((open.clone(), 1, 0.0));
        } else if event["type"] == "C" {
            while open.pop().unwrap() != frame(event) {}
        }
    }
    own.push((open, 0, profile["endValue"].as_f64().unwrap() - last));
    assert!(!file["shared"]["frames"].as_array().unwrap().is_empty());
    own
}

fn slow(file: &Value) -> Sums {
    let mut sums = Sums::new();
    for profile in file["profiles"].as_array().unwrap() {
        let unit = profile["unit"].as_str().unwrap();
        for (stack, visits, weight) in slow_own(file, profile) {
            let names: Vec<&str> =
                stack.iter().map(|frame| file["shared"]["frames"][frame]["name"].as_str().unwrap()).collect();
            let key =
                |depth: usize| (0, profile["name"].as_str().unwrap().to_owned(), names[..depth].join(" > "));
            #[expect(clippy::cast_possible_truncation, reason = "ns of a small sample")]
            let ns = (weight * ns_in(unit).unwrap_or(1.0)).round() as i64;
            let counter = match (unit, stack.is_empty()) {
                ("bytes", _) => Some("bytes"),
                ("none", _) => Some("weight"),
                (_, true) => Some("time outside of frames"),
                _ => None,
            };
            // What lies between events and within none is nothing of a profile.
            if stack.is_empty() && (ns == 0 || profile["type"] == "evented") || ns == 0 && visits == 0 {
                continue;
            }
            let sum = sums.entry(key(stack.len())).or_default();
            sum.visits += visits;
            match counter {
                Some(name) if ns > 0 => *sum.counts.entry(name.to_owned()).or_default() += ns,
                Some(_) => {}
                None => {
                    sum.exclusive += ns;
                    (1..=stack.len()).for_each(|depth| sums.entry(key(depth)).or_default().inclusive += ns);
                }
            }
        }
    }
    sums
}

fn check(path: &Path) {
    let dir = tempfile::tempdir().unwrap();
    imported(dir.path(), path.to_str().unwrap());
    let mut found = sums_of(&dir.path().join("run.marey"));
    found.retain(|_, sum| *sum != Sum::default());
    let expected = slow(&serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap());
    assert!(!expected.is_empty());
    assert_eq!(found, expected, "{}", path.display());
}

fn written(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../marey-formats/tests/speedscope").join(name)
}

#[test]
fn call_paths_of_a_trace_are_those_that_a_slow_parser_finds() {
    check(&written("trace.json"));
}

#[test]
fn sums_are_those_that_a_slow_parser_finds() {
    check(&written("sums.json"));
}

#[test]
fn samples_are_as_a_slow_parser_finds_them() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/speedscope");
    if !samples.exists() {
        marey_testkit::skip("samples of Speedscope (../shared)");
        return;
    }
    for name in ["simple.speedscope.json", "simple-sampled.speedscope.json", "incomplete-trace.json"] {
        check(&samples.join("jlfwong_speedscope").join(name));
    }
}
