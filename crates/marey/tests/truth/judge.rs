//! Whether programs did what their cases say, by what they measured.
//!
//! The one idea: the machine can add waits to a run but not take any away, and adds them to a different place each time.
//! So what was meant must be right in one run, and of what was not meant the least counts that any run had.

use std::collections::BTreeMap;

use crate::cases::{Case, Inefficiency, Pattern, Place, Wait};
use crate::measured::{Line, Truth};

/// Fails unless one of `truths` has the inefficiency of the case, and all of them together show no other.
pub(crate) fn judge(case: &Case, truths: &[Truth]) -> Result<(), String> {
    let run_s = truths.iter().map(Truth::run_s).fold(f64::INFINITY, f64::min);
    if !(0.2..1.5).contains(&run_s) {
        return Err(format!("it ran for {run_s:.3} s"));
    }
    if let Some(it) = &case.inefficiency {
        let mut verdicts = truths.iter().map(|truth| shows(it, truth));
        // The last run's complaint is as good as any.
        let last = verdicts.next_back().expect("a case was run");
        if last.is_err() && verdicts.all(|verdict| verdict.is_err()) {
            return last;
        }
    }
    let others = least_others(case, truths);
    let sum: f64 = others.values().sum();
    if run_s / 100.0 < sum {
        return Err(format!("of {run_s:.3} s it waited {sum:.6} s where it should not: {others:?}"));
    }
    Ok(())
}

/// The figures of a run in one line, for whoever reads the output of the test.
pub(crate) fn figures(case: &Case, truth: &Truth) -> String {
    let Some(it) = &case.inefficiency else {
        let others = least_others(case, std::slice::from_ref(truth)).values().fold(0.0, |sum, s| sum + s);
        return format!("runs {:.3} s, waits {others:.6} s", truth.run_s());
    };
    let (delay_s, n) = delay(it, truth);
    let mut text = format!("{} delays {delay_s:.4} s ({n}×) in {:?}", it.cause.place, it.cause.functions);
    for wait in &it.waits {
        let (wait_s, call_s) = time(wait, truth);
        let Wait { pattern, place, region, functions } = wait;
        text += &format!("; {pattern} {place} {region} {functions:?} {wait_s:.4} s (calls {call_s:.4} s)");
    }
    text
}

fn shows(it: &Inefficiency, truth: &Truth) -> Result<(), String> {
    let (delay_s, n) = delay(it, truth);
    let meant_s = f64::from(it.cause.each_ms * it.cause.instances) / 1e3;
    if n != it.cause.instances || meant_s * 0.2 < (delay_s - meant_s).abs() {
        return Err(format!("{n} delays of {delay_s:.4} s instead of {} of {meant_s} s", it.cause.instances));
    }
    let held_up_s = delay_s - f64::from(it.ahead_ms) / 1e3;
    let slack_s = held_up_s * 0.05 + 0.002;
    for wait in &it.waits {
        let (wait_s, call_s) = time(wait, truth);
        // A call that returns late makes the next wait of a series shorter by as much, so that there the delay lies
        // between what the calls waited and what they took.
        let (least_s, most_call_s) = if it.cause.instances == 1 {
            (held_up_s - slack_s, wait_s * 1.1 + 0.01)
        } else {
            (held_up_s / 2.0, f64::INFINITY)
        };
        if !(least_s..held_up_s + slack_s).contains(&wait_s) || call_s < held_up_s - slack_s {
            return Err(format!(
                "{} waited {wait_s:.4} s of {call_s:.4} s instead of {held_up_s:.4} s",
                wait.region
            ));
        }
        // Setting a library up takes long by itself, and nobody else is there to compare it with.
        let most_call_s = if wait.pattern == Pattern::WaitAtInit { f64::INFINITY } else { most_call_s };
        // The times of entry that the wait is made of must be those of the calls that took so long.
        if !(wait_s..most_call_s).contains(&call_s) {
            return Err(format!("{} took {call_s:.4} s to wait {wait_s:.4} s", wait.region));
        }
    }
    Ok(())
}

/// Seconds and instances of the cause.
fn delay(it: &Inefficiency, truth: &Truth) -> (f64, u32) {
    let function = it.cause.functions.last().expect("a cause has a function");
    let lines = truth.lines("delay", it.cause.place, "", function);
    lines.fold((0.0, 0), |sum, line| (sum.0 + line.seconds, sum.1 + line.instances))
}

/// Seconds that a wait took, and its calls with it.
pub(crate) fn time(wait: &Wait, truth: &Truth) -> (f64, f64) {
    let function = wait.functions.last().expect("a wait has a function");
    let lines = truth.lines("wait", wait.place, wait.region, function);
    lines.fold((0.0, 0.0), |sum, line| (sum.0 + line.seconds, sum.1 + line.call))
}

/// Seconds of the waits that the case does not name, by place, region and function: the least of all runs.
fn least_others(case: &Case, truths: &[Truth]) -> BTreeMap<String, f64> {
    let waits = case.inefficiency.as_ref().map_or(&[][..], |it| &it.waits);
    let is_other = |line: &&Line| {
        let is_it = |wait: &Wait| {
            line.is_of(wait.place)
                && line.region == wait.region
                && wait.functions.last() == Some(&line.function.as_str())
        };
        line.what == "wait" && !waits.iter().any(is_it)
    };
    let mut least: BTreeMap<String, f64> = BTreeMap::new();
    for (at, truth) in truths.iter().enumerate() {
        let mut sums: BTreeMap<String, f64> = BTreeMap::new();
        for line in truth.0.iter().filter(is_other) {
            let name = format!("{}.{} {} {}", line.who, line.thread, line.region, line.function);
            *sums.entry(name).or_default() += line.seconds;
        }
        if at == 0 {
            least = sums;
        } else {
            least.retain(|name, _| sums.contains_key(name));
            least.iter_mut().for_each(|(name, s)| *s = s.min(sums[name]));
        }
    }
    least
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.rank, self.thread)
    }
}
