//! How large recordings and archives are, and how fast one becomes the other.
//!
//! The one idea: recordings are made once and merged many times, on one thread and on two in turns, so
//! that what differs between turns is the merge alone.

use super::build::Tools;
use super::goal::{Goals, Target};
use super::recording::{Recording, Unit, record, sources};
use super::sample::{Case, Samples, rotate};
use super::stats::Summary;
use super::table::{Table, median, with_range};
use super::{Plan, Section};
use anyhow::Result;

const TEXT: &str = "\
`marey merge` of recordings made beforehand, start-up and exit included: from the spool to the archive with \
its profile, index and level of detail.
The events of the streams lie 0.1 to 5 µs apart (50 names, two levels deep); those of 200 M events follow each \
other at once; messages are those of the ping-pong, each with four events of its calls.
*Spool* and *archive* are bytes an event, or a message, of the whole directories; the last window of each \
stream counts whole, so that short streams seem dear.
*M/s* are millions of events, or messages, in a second of elapsed time.";

const WALL: &str = "program_wall_ns";
const PEAK_MIB: f64 = 1.0 / (1024.0 * 1024.0);

/// Records, then merges in turns.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let mut table =
        Table::new(&["case", "millions", "spool", "archive", "M/s, 1 thread", "M/s, 2 threads", "peak MiB"]);
    let mut absent = Vec::new();
    let mut recordings = Vec::new();
    for source in sources(plan) {
        if !plan.wants(&format!("merge {}", source.name)) && !plan.wants(&format!("size {}", source.name)) {
            continue;
        }
        match record(plan, tools, &source) {
            Ok(recording) => recordings.push(recording),
            Err(error) => absent.push(format!("merge {}: {error:#}", source.name)),
        }
    }
    let cases: Vec<Case> = recordings
        .iter()
        .flat_map(|recording| [1, 2].map(|threads| case(tools, recording, threads)))
        .collect();
    let mut results = rotate(plan, &cases).into_iter();
    for recording in &recordings {
        match (results.next(), results.next()) {
            (Some(Ok(one)), Some(Ok(two))) => {
                table.push(row(recording, &one, &two));
                judge_size(recording, &one, goals);
                judge_speed(recording, &one, &two, goals);
            }
            (one, two) => absent.extend([one, two].into_iter().flatten().filter_map(Result::err)),
        }
    }
    Ok(Section { title: "Sizes and merge", text: TEXT, table, absent })
}

fn case(tools: &Tools, recording: &Recording, threads: u32) -> Case {
    let spool = recording.spool.display().to_string();
    let threads = threads.to_string();
    let words =
        [&tools.spent, &tools.marey, "merge", &spool, "-o", "{output}/run", "--keep-spool", "--threads"];
    let words = words.into_iter().chain([threads.as_str()]).map(str::to_owned).collect();
    Case::new(format!("merge {}, {threads} threads", recording.name), words)
}

fn judge_size(recording: &Recording, one: &Samples, goals: &mut Goals) {
    let Recording { name, unit, amount, spool_bytes, .. } = recording;
    let (what, spool, archive) = match unit {
        Unit::Events => ("event", Target::AtMost(3.2), Target::AtMost(2.6)),
        Unit::DenseEvents => ("event", Target::Open, Target::Open),
        Unit::Messages => ("message", Target::AtMost(20.0), Target::AtMost(20.0)),
    };
    let name = format!("size {name}");
    goals.add(&name, &format!("bytes/{what} in the spool"), Summary::of(&[spool_bytes / amount]), spool);
    goals.add(&name, &format!("bytes/{what} archived"), archived(one, *amount), archive);
}

fn judge_speed(recording: &Recording, one: &Samples, two: &Samples, goals: &mut Goals) {
    let name = format!("merge {}", recording.name);
    // The goal for messages is not one for each core, so all cores are there to reach it.
    let (what, alone, together) = match recording.unit {
        Unit::Events | Unit::DenseEvents => ("M events/s", Target::AtLeast(25.0), Target::Open),
        Unit::Messages => ("M messages/s", Target::Open, Target::AtLeast(5.0)),
    };
    goals.add(&format!("{name}, 1 thread"), what, speed(recording, one), alone);
    goals.add(&format!("{name}, 2 threads"), what, speed(recording, two), together);
    let gained = one.ratio(WALL, two);
    goals.add(&format!("{name}, 2 threads"), "× 1 thread", gained, Target::AtLeast(1.7));
    let peak = match recording.unit {
        Unit::DenseEvents => Target::AtMost(512.0),
        Unit::Events | Unit::Messages => Target::Open,
    };
    goals.add(&name, "MiB at the peak", peak_mib(two), peak);
}

fn row(recording: &Recording, one: &Samples, two: &Samples) -> Vec<String> {
    vec![
        recording.name.to_owned(),
        format!("{:.1}", recording.amount / 1e6),
        format!("{:.2}", recording.spool_bytes / recording.amount),
        median(archived(one, recording.amount), 2),
        with_range(speed(recording, one)),
        with_range(speed(recording, two)),
        median(peak_mib(two), 0),
    ]
}

fn archived(samples: &Samples, amount: f64) -> Option<Summary> {
    samples.summary("output_bytes").map(|bytes| bytes.times(1.0 / amount))
}

/// Millions a second. The fastest turn is the greatest.
fn speed(recording: &Recording, samples: &Samples) -> Option<Summary> {
    let speeds: Vec<f64> =
        samples.values(WALL).iter().map(|wall_ns| recording.amount * 1e3 / wall_ns).collect();
    Summary::of(&speeds)
}

fn peak_mib(samples: &Samples) -> Option<Summary> {
    samples.summary("peak_bytes").map(|bytes| bytes.times(PEAK_MIB))
}
