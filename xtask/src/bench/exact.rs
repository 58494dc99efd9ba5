//! Whether everything that was executed is recorded: counted in the merged run, region by region.
//!
//! The one idea: the program counts for itself, and the run is asked through the command line, as a
//! user would. A count has no spread, so every case runs once; times are not taken.

use super::build::Tools;
use super::goal::Goals;
use super::pair::{LANGUAGES, marey_program};
use super::sample::{empty, empty_directory};
use super::table::Table;
use super::{Extent, Plan, Section};
use crate::shell::{command, output};
use anyhow::{Context, Result};
use serde_json::Value;

const TEXT: &str = "\
Pairs that the program says it executed, and visits of its regions that `marey report` finds in the run; \
*dropped* is what the recorder says it could not keep, lost in the merge included.";

/// What one recorded program executed, and what its run holds.
struct Count {
    executed: u64,
    recorded: u64,
    dropped: u64,
}

/// Counts in every language, once: a count has no spread.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let mut table = Table::new(&["case", "executed", "recorded", "dropped"]);
    let mut absent = Vec::new();
    let mut cases: Vec<(&str, u64, u32)> = LANGUAGES
        .iter()
        .flat_map(|language| [(*language, plan.pairs, 1), (*language, plan.pairs, 2)])
        .collect();
    if plan.extent == Extent::Full {
        cases.push(("C", 100_000_000, 1));
    }
    for (language, pairs, threads) in cases {
        let millions = pairs / 1_000_000;
        let name = format!("exact {language}, {threads} × {millions} M pairs");
        if !plan.wants(&name) {
            continue;
        }
        eprintln!("{name}");
        match marey_program(language).and_then(|program| count(tools, &program, pairs, threads)) {
            Ok(Count { executed, recorded, dropped }) => {
                table.push(vec![
                    name.clone(),
                    executed.to_string(),
                    recorded.to_string(),
                    dropped.to_string(),
                ]);
                let missing = format!("{} missing, {dropped} dropped", executed.abs_diff(recorded));
                let met = executed == recorded && dropped == 0;
                goals.push(&name, missing, "pairs", "0 and 0".into(), Some(met));
            }
            Err(error) => absent.push(format!("{name}: {error:#}")),
        }
    }
    Ok(Section { title: "Nothing is lost", text: TEXT, table, absent })
}

fn count(tools: &Tools, program: &str, pairs: u64, threads: u32) -> Result<Count> {
    let dir = empty_directory()?;
    let run = dir.join("run");
    let mut record = command(&tools.marey);
    record.args(["record", "-o"]).arg(&run).arg("--").arg(program);
    record.args([pairs.to_string(), threads.to_string()]).arg(&dir);
    let printed = output(&mut record)?;
    let executed = printed.lines().find_map(|line| line.strip_prefix("executed ")?.parse().ok());
    let executed = executed.with_context(|| format!("{program} does not say what it executed"))?;

    let read = |words: [&str; 2]| -> Result<Value> {
        let text = output(command(&tools.marey).arg(words[0]).arg(&run).arg(words[1]))?;
        serde_json::from_str(&text).with_context(|| format!("marey {} prints no JSON", words[0]))
    };
    let recorded = calls_of_source(&read(["report", "--json"])?)?;
    let problems = read(["info", "--json"])?;
    let dropped = ["lost", "dropped"].map(|name| problems["problems"][name].as_u64());
    let dropped = dropped.into_iter().sum::<Option<u64>>().context("marey info counts problems")?;
    empty(&dir)?;
    Ok(Count { executed, recorded, dropped })
}

/// Visits of regions that the program itself names; those of threads are not its.
fn calls_of_source(report: &Value) -> Result<u64> {
    let regions = report["regions"].as_array().context("a report lists regions")?;
    let source = regions.iter().filter(|region| region["level"] == "source");
    source.map(|region| region["calls"].as_u64()).sum::<Option<u64>>().context("a region has calls")
}

#[cfg(test)]
mod tests {
    use super::calls_of_source;

    #[test]
    fn only_calls_of_the_program_itself_are_counted() {
        let report = serde_json::json!({ "regions": [
            { "level": "source", "calls": 3 }, { "level": "threads", "calls": 5 }, { "level": "source", "calls": 4 },
        ] });
        assert_eq!(calls_of_source(&report).unwrap(), 7);
        assert!(calls_of_source(&serde_json::json!({})).is_err());
    }
}
