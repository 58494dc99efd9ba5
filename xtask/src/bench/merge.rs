//! How large recordings and archives are, and how fast one becomes the other.
//!
//! The one idea: recordings are made once and merged many times, on one thread and on two in turns, so
//! that what differs between turns is the merge alone. What explaining adds to that, as `marey record` has it done, is
//! a case of its own; how fast that is depends on what waits, see [`super::explain`].

use super::build::Tools;
use super::goal::{Goals, Target};
use super::recording::{Recording, Unit, record, sources};
use super::sample::{Case, Samples, rotate};
use super::stats::Summary;
use super::table::{Table, median, with_range};
use super::{Plan, Section};
use anyhow::Result;

const TEXT: &str = "\
`marey merge --no-causes` of recordings made beforehand, start-up and exit included: from the spool to the archive with \
its profile, index and level of detail.
*Explained* is without that option and with two threads, as `marey record` merges: waits, their causes and the critical path are \
found as well; of the ping-pong, each message is waited for.
The events of the streams lie 0.1 to 5 µs apart (50 names, two levels deep); those of 200 M events follow each \
other at once; messages are those of the ping-pong, each with four events of its calls.
*Spool* and *archive* are bytes an event, or a message, of disk that the whole directories take; the last \
window of a stream counts nearly whole, so that short streams seem dear.
*M/s* are millions of events, or messages, in a second of elapsed time; *gained* is what the second thread \
makes of it, × 1 thread.
*Ceiling* is what the machine gives for a second processor: how much two merges that know nothing of each other, \
of one thread each and at the same time, do in a second, × one alone.
They share memory, caches and the disk but have nothing to wait for: what *gained* lacks to *ceiling* is ours, and \
what *ceiling* lacks to 2 is the machine's.";

const WALL: &str = "program_wall_ns";
const PEAK_MIB: f64 = 1.0 / (1024.0 * 1024.0);

/// Records, then merges in turns.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let mut table = Table::new(&[
        "case",
        "millions",
        "spool",
        "archive",
        "M/s, 1 thread",
        "M/s, 2 threads",
        "gained",
        "ceiling",
        "peak MiB",
        "M/s, explained",
    ]);
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
        .flat_map(|recording| {
            [
                case(tools, recording, 1),
                case(tools, recording, 2),
                two_at_once(tools, recording),
                explained(tools, recording),
            ]
        })
        .collect();
    let mut results = rotate(plan, &cases).into_iter();
    for recording in &recordings {
        match (results.next(), results.next(), results.next(), results.next()) {
            (Some(Ok(one)), Some(Ok(two)), Some(Ok(both)), Some(Ok(explained))) => {
                let merges = Merges { one, two, both, explained };
                table.push(row(recording, &merges));
                judge_size(recording, &merges.one, goals);
                judge_speed(recording, &merges, goals);
            }
            (one, two, both, explained) => {
                absent.extend([one, two, both, explained].into_iter().flatten().filter_map(Result::err));
            }
        }
    }
    Ok(Section { title: "Sizes and merge", text: TEXT, table, absent })
}

fn case(tools: &Tools, recording: &Recording, threads: u32) -> Case {
    let spool = recording.spool.display().to_string();
    let threads = threads.to_string();
    let words = [&tools.spent, &tools.marey, "merge", &spool, "-o", "{output}/run", "--keep-spool"];
    let words = words.into_iter().chain(["--no-causes", "--threads", threads.as_str()]);
    Case::new(format!("merge {}, {threads} threads", recording.name), words.map(str::to_owned).collect())
}

/// With all that `marey record` has done.
fn explained(tools: &Tools, recording: &Recording) -> Case {
    let spool = recording.spool.display().to_string();
    let words = [&tools.spent, &tools.marey, "merge", &spool, "-o", "{output}/run", "--keep-spool"];
    let words = words.into_iter().chain(["--threads", "2"]);
    Case::new(format!("merge {}, explained", recording.name), words.map(str::to_owned).collect())
}

/// Two merges of one thread each at the same time: what the machine gives for two processors.
fn two_at_once(tools: &Tools, recording: &Recording) -> Case {
    const SCRIPT: &str = r#"
        "$1" merge "$2" -o "$3/one" --keep-spool --no-causes --threads 1 & one=$!
        "$1" merge "$2" -o "$3/two" --keep-spool --no-causes --threads 1 && wait $one"#;
    let spool = recording.spool.display().to_string();
    let words = [&tools.spent, "sh", "-c", SCRIPT, "sh", &tools.marey, &spool, "{output}"];
    Case::new(format!("merge {}, two at once", recording.name), words.map(str::to_owned).to_vec())
}

/// What was measured of a recording.
struct Merges {
    /// With one thread.
    one: Samples,
    /// With two.
    two: Samples,
    /// Two with one thread each, at once.
    both: Samples,
    /// With waits and their causes.
    explained: Samples,
}

impl Merges {
    /// Speed of two threads, × one.
    fn gained(&self) -> Option<Summary> {
        self.one.ratio(WALL, &self.two)
    }

    /// What two merges do at once, × one.
    fn ceiling(&self) -> Option<Summary> {
        self.one.ratio(WALL, &self.both).map(|ratio| ratio.times(2.0))
    }
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

fn judge_speed(recording: &Recording, merges: &Merges, goals: &mut Goals) {
    let Merges { one, two, explained, .. } = merges;
    let name = format!("merge {}", recording.name);
    // The goal for messages is not one for each core, so all cores are there to reach it.
    let (what, alone, together) = match recording.unit {
        Unit::Events | Unit::DenseEvents => ("M events/s", Target::AtLeast(25.0), Target::Open),
        Unit::Messages => ("M messages/s", Target::Open, Target::AtLeast(5.0)),
    };
    goals.add(&format!("{name}, 1 thread"), what, speed(recording, one), alone);
    goals.add(&format!("{name}, 2 threads"), what, speed(recording, two), together);
    goals.add(&format!("{name}, 2 threads"), "× 1 thread", merges.gained(), Target::AtLeast(1.7));
    goals.add(&format!("{name}, two at once"), "× 1 merge, the ceiling", merges.ceiling(), Target::Open);
    let peak = match recording.unit {
        Unit::DenseEvents => Target::AtMost(512.0),
        Unit::Events | Unit::Messages => Target::Open,
    };
    goals.add(&name, "MiB at the peak", peak_mib(two), peak);
    goals.add(&format!("{name}, explained"), what, speed(recording, explained), Target::Open);
    goals.add(&format!("{name}, explained"), "MiB at the peak", peak_mib(explained), Target::Open);
}

fn row(recording: &Recording, merges: &Merges) -> Vec<String> {
    let Merges { one, two, explained, .. } = merges;
    vec![
        recording.name.to_owned(),
        format!("{:.1}", recording.amount / 1e6),
        format!("{:.2}", recording.spool_bytes / recording.amount),
        median(archived(one, recording.amount), 2),
        with_range(speed(recording, one)),
        with_range(speed(recording, two)),
        median(merges.gained(), 2),
        median(merges.ceiling(), 2),
        median(peak_mib(two), 0),
        with_range(speed(recording, explained)),
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
