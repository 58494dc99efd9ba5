//! What blocks of the heap cost, recorded and not.
//!
//! The one idea: the same pairs of malloc and free are made without a recorder, with one that leaves the heap alone, and
//! with one that records large blocks; ratios are taken within each round.

use super::build::{self, Tools};
use super::goal::{Goals, Target};
use super::sample::{Case, Samples, rotate};
use super::stats::Summary;
use super::table::{Table, with_range};
use super::{Plan, Section};
use anyhow::Result;

const TEXT: &str = "\
Processor time of a pair of malloc and free, in ns, of blocks of one size, 12 and 46 functions deep; *off* and *4096* are \
`marey record --heap`, without samples; × plain are medians of the ratios within a round.
Blocks of 4096 bytes and more are recorded with their call paths, smaller ones pass by.
*Work* multiplies matrices of 64 × 64, each product in a block of its own (32 KiB): the whole program, ms.";

const PLAIN: &str = "heap plain";
const OFF: &str = "heap off";
const RECORDED: &str = "heap 4096";
const SIZES: [(&str, &str); 4] = [("64", "64 B"), ("2048", "2 KiB"), ("8192", "8 KiB"), ("1048576", "1 MiB")];
const WORK: &str = "work_ns";

/// Measures all three.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let mut table = Table::new(&["pair", "plain", "off", "× plain", "4096", "× plain"]);
    let mut absent = Vec::new();
    if plan.wants(OFF) || plan.wants(RECORDED) {
        let program = build::compile("gcc", "heap.c", "heap", &[])?;
        let case = |name: &str, mut words: Vec<String>| {
            words.extend([program.clone(), (plan.pairs / 10).to_string()]);
            Case::new(name, words)
        };
        let record = |least: &str| tools.record(&["--sample", "off", "--heap", least]);
        let cases = [case(PLAIN, Vec::new()), case(OFF, record("off")), case(RECORDED, record("4096"))];
        let results = rotate(plan, &cases);
        if let [Ok(plain), Ok(off), Ok(recorded)] = &results[..] {
            for depth in ["12", "46"] {
                for (size, name) in SIZES {
                    let figure = format!("ns_{size}_{depth}");
                    table.push(row(&format!("{name}, depth {depth}"), &figure, 1.0, [plain, off, recorded]));
                }
            }
            table.push(row("work, ms", WORK, 1e-6, [plain, off, recorded]));
            for (samples, name) in [(off, OFF), (recorded, RECORDED)] {
                goals.add(
                    &format!("{name}, 64 B"),
                    "× plain",
                    ratio(samples, plain, "ns_64_12"),
                    Target::Open,
                );
                goals.add(
                    &format!("{name}, work"),
                    "× plain",
                    ratio(samples, plain, WORK),
                    Target::AtMost(1.02),
                );
            }
        }
        absent.extend(results.into_iter().filter_map(Result::err));
    }
    Ok(Section { title: "Heap", text: TEXT, table, absent })
}

fn row(name: &str, figure: &str, unit: f64, [plain, off, recorded]: [&Samples; 3]) -> Vec<String> {
    let value = |samples: &Samples| with_range(samples.summary(figure).map(|summary| summary.times(unit)));
    let times =
        |samples| ratio(samples, plain, figure).map_or("–".into(), |ratio| format!("{:.3}", ratio.median));
    vec![name.to_owned(), value(plain), value(off), times(off), value(recorded), times(recorded)]
}

fn ratio(samples: &Samples, plain: &Samples, figure: &str) -> Option<Summary> {
    let rounds = samples.values(figure).iter().zip(plain.values(figure));
    Summary::of(&rounds.map(|(with, without)| with / without).collect::<Vec<_>>())
}
