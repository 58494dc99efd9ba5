//! What samples cost a program, beside the same recording without them.
//!
//! The one idea: as for whole programs, runs are paired and ratios are taken within pairs. Processor time is compared,
//! since the signals take that; elapsed time spreads more than what is measured.

use super::build::{self, Tools};
use super::goal::{Goals, Target};
use super::sample::{Case, Samples, take};
use super::stats::{Random, Summary, upper_bound_95};
use super::table::{Table, with_range};
use super::{Plan, Section};
use anyhow::Result;

const TEXT: &str = "\
Processor time of a program that computes ten functions deep, recorded with and without samples, one right after \
the other, which of them first by lot.
*Ratio* is the median within such pairs; *95 %* is what the median lies below with that confidence (bootstrap).
How many samples a second arrive depends on the kernel's ticks as well: 250 on most systems.";

const CPU: &str = "program_cpu_ns";
/// Of some 10 µs each.
const ROUNDS: u64 = 100_000;

/// Measures both rates.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let mut table = Table::new(&["case", "without, s", "with, s", "ratio", "95 %"]);
    for (name, hertz, target) in
        [("sampling 200 Hz", "200", Target::AtMost(1.01)), ("sampling 1 kHz", "1000", Target::Open)]
    {
        if plan.wants(name) {
            let [without, with] = pairs(plan, tools, name, hertz)?;
            let ratios: Vec<f64> = with
                .values(CPU)
                .iter()
                .zip(without.values(CPU))
                .map(|(with, without)| with / without)
                .collect();
            let (ratio, bound) = (Summary::of(&ratios), upper_bound_95(&ratios));
            goals.add(name, "× without", ratio, target);
            goals.add(
                name,
                "× without, 95 % bound",
                bound.and_then(|bound| Summary::of(&[bound])),
                Target::Open,
            );
            let seconds = |samples: &Samples| with_range(samples.summary(CPU).map(|time| time.times(1e-9)));
            table.push(vec![
                name.to_owned(),
                seconds(&without),
                seconds(&with),
                ratio.map_or("–".into(), |ratio| format!("{:.4}", ratio.median)),
                bound.map_or("–".into(), |bound| format!("{bound:.4}")),
            ]);
        }
    }
    Ok(Section { title: "Samples", text: TEXT, table, absent: Vec::new() })
}

fn pairs(plan: &Plan, tools: &Tools, name: &str, hertz: &str) -> Result<[Samples; 2]> {
    let program = build::compile("gcc", "stacks.c", "stacks", &["-lm"])?;
    let rounds = if plan.program_pairs > 1 { ROUNDS } else { ROUNDS / 10 };
    let case = |rate: &str| {
        let program = [program.clone(), rounds.to_string()];
        let record = tools.record(&["--sample", rate]);
        Case::new(name, [tools.spent.clone()].into_iter().chain(record).chain(program).collect())
    };
    let cases = [case("off"), case(hertz)];
    let mut samples = [(); 2].map(|()| Samples::default());
    let mut random = Random::new();
    for _ in 0..2 * plan.program_pairs {
        let first = random.below(2);
        for turn in [first, 1 - first] {
            take(plan, &cases[turn], &mut samples[turn])?;
        }
    }
    Ok(samples)
}
