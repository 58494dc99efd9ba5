//! What one enter and one leave cost, on one thread and on two.

use super::sample::{Case, Samples, rotate};
use super::table::{Table, median, with_range};
use super::{Plan, Section, build};
use anyhow::{Context, Result};

const TEXT: &str = "\
Processor time of the recording thread for one enter and one leave, in ns; 50 names, two levels deep, \
nothing between the events.
F, the floor, is two readings of the time-stamp counter and two stores of 16 bytes, kept by nobody; \
× F is the median of the ratios within each round.
*All CPU* counts the whole process, threads in the background and flushing included; *in the file* is \
elapsed time until everything is there; both on one thread.
*Handed over* is what the library says it recorded, in parts of what was executed.";

/// The case that all others are compared with.
const FLOOR: &str = "F";

/// A way to record pairs. Its command takes PAIRS THREADS OUTPUT as its last words.
struct Recorder {
    name: &'static str,
    /// Pairs are divided by this: some keep everything in memory.
    divisor: u64,
    /// The words before PAIRS, or why there are none.
    words: Result<Vec<String>>,
}

/// Measures all recorders that can be built here.
pub(super) fn measure(plan: &Plan) -> Result<Section> {
    let mut absent = Vec::new();
    let mut names = Vec::new();
    let mut cases = Vec::new();
    for Recorder { name, divisor, words } in recorders() {
        match words {
            Ok(words) => {
                names.push(name);
                cases.extend([1, 2].map(|threads| case(name, &words, plan.pairs / divisor, threads)));
            }
            Err(error) => absent.push(format!("{name}: {error:#}")),
        }
    }
    let results = rotate(&cases, plan.rounds)?;
    let mut table = Table::new(&[
        "case",
        "1 thread",
        "× F",
        "2 threads",
        "all CPU",
        "in the file",
        "bytes/event",
        "handed over",
    ]);
    let floor =
        names.iter().position(|name| *name == FLOOR).context("without a C compiler there is no floor")?;
    let floor = results[2 * floor].as_ref().map_err(|error| anyhow::anyhow!("the floor failed: {error}"))?;
    for (name, result) in names.iter().zip(results.chunks_exact(2)) {
        match result {
            [Ok(one), Ok(two)] => table.push(row(name, one, two, floor)),
            _ => absent.extend(result.iter().filter_map(|result| result.as_ref().err().cloned())),
        }
    }
    Ok(Section { title: "Enter and leave", text: TEXT, table, absent })
}

fn row(name: &str, one: &Samples, two: &Samples, floor: &Samples) -> Vec<String> {
    const PAIR: &str = "ns_per_pair";
    let per = |figure: &str, per: f64| {
        let (value, executed) = (one.summary(figure)?, one.summary("executed")?);
        Some(value.median / (executed.median * per))
    };
    let number =
        |value: Option<f64>, digits: usize| value.map_or("–".into(), |value| format!("{value:.digits$}"));
    vec![
        name.to_owned(),
        with_range(one.summary(PAIR)),
        median(one.ratio(PAIR, floor), 2),
        with_range(two.summary(PAIR)),
        median(one.summary("process_ns_per_pair"), 1),
        median(one.summary("flushed_ns_per_pair"), 1),
        number(per("output_bytes", 2.0), 2),
        number(per("recorded", 1.0), 6),
    ]
}

fn case(name: &str, words: &[String], pairs: u64, threads: u32) -> Case {
    let mut words = words.to_vec();
    words.extend([pairs.to_string(), threads.to_string(), "{output}".into()]);
    Case {
        name: format!("{name}, {threads} thread{}", if threads == 1 { "" } else { "s" }),
        words,
        environment: Vec::new(),
    }
}

fn recorders() -> Vec<Recorder> {
    let one = |program: Result<String>| program.map(|program| vec![program]);
    let mut recorders = vec![
        Recorder {
            name: "empty loop",
            divisor: 1,
            words: one(build::compile("gcc", "floor.c", "empty", &["-DEMPTY"])),
        },
        Recorder { name: FLOOR, divisor: 1, words: one(build::compile("gcc", "floor.c", "floor", &[])) },
        Recorder {
            name: "libotf2",
            divisor: 1,
            words: one(build::compile("gcc", "otf2.c", "otf2", &["-lotf2"])),
        },
    ];
    let peers = build::peers().map_err(|error| format!("{error:#}"));
    for (name, program, divisor) in [
        ("tracing, no subscriber", "tracing_off", 1),
        ("tracing + tracing-chrome", "tracing_chrome", 10),
        ("fastrace", "fastrace", 2),
        ("puffin, packed and saved", "puffin", 2),
    ] {
        let words = match &peers {
            Ok(dir) => Ok(vec![dir.join(program).display().to_string()]),
            Err(error) => Err(anyhow::anyhow!("{error}")),
        };
        recorders.push(Recorder { name, divisor, words });
    }
    recorders
}
