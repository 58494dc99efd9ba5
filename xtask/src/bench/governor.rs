//! Whether recording stays within its budget where it would be too dear, and what is known then.
//!
//! The one idea: the same program takes turns with hooks that nobody listens to and recorded, so that a ratio within a
//! round is what recording adds. What the run says of the function is held against the time of its loop, which the
//! program takes itself; calls wait for each other there, so the loop around them takes no time of its own. Where other work
//! lies between them, a loop of that alone is taken off.

use super::build::{self, Tools};
use super::goal::{Goals, Target};
use super::sample::{Case, Samples, empty_directory, rotate};
use super::stats::Summary;
use super::table::{Table, median, with_range};
use super::{Plan, Section};
use crate::shell::{command, output};
use anyhow::{Context, Result, ensure};
use serde_json::Value;

const TEXT: &str = "\
A function of some 20 ns in C that is called all the time: processor time of a call in its loop, in ns, and the ratio \
to the same program with hooks that do nothing, in the same round. *Told* is what the run says that a call takes, \
over what the program says; at most what passes in the loop, which is not known of the forms where other work lies \
between two calls.";

const TIME: &str = "ns_per_call";
const FORMS: [(&str, &[&str]); 4] = [
    ("governor function", &["-finstrument-functions"]),
    ("governor region", &["-DREGIONS"]),
    ("governor function apart", &["-finstrument-functions", "-DAPART"]),
    ("governor region apart", &["-DREGIONS", "-DAPART"]),
];
/// Names of forms in which the loop does other things, too: their costs are differences, which are uncertain.
const APART: &str = "apart";

/// Measures both forms of the program.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let mut table = Table::new(&["case", "ns/call", "× hooks", "told"]);
    let mut absent = Vec::new();
    for (name, flags) in FORMS.into_iter().filter(|(name, _)| plan.wants(name)) {
        let program = build::compile("gcc", "governor.c", &name.replace(' ', "-"), flags)?;
        let calls = (4 * plan.pairs).to_string();
        let case = |what: &str, mut words: Vec<String>| {
            words.extend([program.clone(), calls.clone()]);
            Case::new(format!("{name}, {what}"), words)
        };
        let cases = [
            case("not recorded", Vec::new()),
            case("left out", tools.record(&["--rule", "off *"])),
            case("budget 2 %", tools.record(&["--budget", "2"])),
            case("no budget", tools.record(&[])),
        ];
        let results = rotate(plan, &cases);
        let Some(Ok(idle)) = results.first() else {
            absent.extend(results.into_iter().filter_map(Result::err));
            continue;
        };
        let told = told(plan, tools, &program, &calls)?;
        for (case, result) in cases.iter().zip(&results) {
            let Ok(samples) = result else { continue };
            let is_governed = case.name.ends_with("2 %");
            let ratio = samples.ratio(TIME, idle);
            let its = if is_governed { Summary::of(told.values("told")) } else { None };
            table.push(vec![
                case.name.clone(),
                with_range(samples.summary(TIME)),
                median(ratio, 3),
                median(its, 3),
            ]);
            if is_governed {
                if !name.ends_with(APART) {
                    goals.add(name, "× hooks that do nothing", ratio, Target::AtMost(1.02));
                }
                let off = told.values("told").iter().map(|told| (told - 1.0).abs()).collect::<Vec<_>>();
                goals.add(name, "time told, off by", Summary::of(&off), Target::AtMost(0.02));
            }
        }
        absent.extend(results.into_iter().filter_map(Result::err));
    }
    Ok(Section { title: "Within the budget", text: TEXT, table, absent })
}

/// What runs say that a call takes, over what the program says, a round each. Numbers of calls must be equal.
fn told(plan: &Plan, tools: &Tools, program: &str, calls: &str) -> Result<Samples> {
    let mut samples = Samples::default();
    for _ in 0..plan.rounds {
        let run = empty_directory()?.join("run");
        let mut record = command(&tools.marey);
        record
            .args(["record", "--sample", "off", "--budget", "2", "-o"])
            .arg(&run)
            .args(["--", program, calls]);
        let printed = output(&mut record)?;
        let figure = |name: &str| {
            let value = printed.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
            value.with_context(|| format!("the program printed no {name}"))
        };
        let read = |word: &str| -> Result<Value> {
            let text = output(command(&tools.marey).args([word, "--json"]).arg(&run))?;
            Ok(serde_json::from_str(&text)?)
        };
        let (info, report) = (read("info")?, read("report")?);
        let hot = report["regions"].as_array().context("regions")?.iter().find(|it| it["noun"] == "hot");
        let found = hot.context("the run has no hot")?["calls"].as_f64();
        ensure!(found == Some(figure("calls")?), "{found:?} calls of {}", figure("calls")?);
        let reduced = info["reduced"]["regions"].as_array().context("reduced")?;
        ensure!(reduced.len() == 1 && reduced[0]["region"] == "hot", "reduced: {reduced:?}");
        let number = |name: &str| reduced[0][name].as_f64().context("a number");
        samples.push("told", number("time_ns")? / number("visits")? / figure(TIME)?);
    }
    Ok(samples)
}
