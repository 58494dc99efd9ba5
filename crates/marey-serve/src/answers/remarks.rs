//! What compilers said of loops, laid beside what the loops cost.
//!
//! The one idea: the run keeps the remarks, so they are told as `marey remarks` tells them, and found once.
//!
//! What is deliberately absent: records of compilers. No path is opened.

use marey_analyze::{LoopOutcome, OnPath, RemarkRow, Remarked, RemarkedLoop, remarked};
use marey_model::Nanos;

use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{RemarksHead, WireRemark, WireRemarked};

/// More loops are not told: those that are left out took no time, or hardly any.
const MOST_LOOPS: usize = 5000;
/// More remarks of one loop are copies of it that say the same.
const MOST_REMARKS: usize = 6;
/// Letters of the compiler's own words.
const MOST_SAID: usize = 400;

const WITHOUT: &str = "No remarks of compilers are known of this run: none were found when it was recorded, or it is a redacted \
    copy. Compile with records and record again: with gcc, g++, gfortran and clang add -g -fsave-optimization-record; with cargo \
    RUSTFLAGS='-Ccodegen-units=1 -Cdebuginfo=1 -Cremark=all' cargo build --release 2> app.remarks";

pub(super) fn answer(run: &Opened<'_>) -> Vec<u8> {
    Columns::default().frame("remarks", &head(run))
}

fn head(run: &Opened<'_>) -> RemarksHead {
    let none = |why: String| RemarksHead {
        why_not: Some(why),
        path_ns: None,
        processor_ns: 0,
        loops: Vec::new(),
        left_out: 0,
    };
    let rows = match marey_archive::remarks(run.archive) {
        Ok(rows) if rows.is_empty() => return none(WITHOUT.to_owned()),
        Ok(rows) => rows,
        Err(error) => return none(format!("What compilers said of this run cannot be read: {error}")),
    };
    // Behind what was added up there are no samples of their time.
    let causes = if run.added_up_since().is_some() { None } else { run.causes() };
    let samples = causes.and_then(|it| run.events.sampled_on(&it.path).ok()).unwrap_or_default();
    let length =
        causes.map_or(Nanos(0), |it| it.path.spans.iter().fold(Nanos(0), |sum, it| sum + (it.to - it.from)));
    let on_path = (!samples.is_empty()).then_some(OnPath { samples: &samples, length });
    told(run, &remarked(&run.trace, &rows, on_path))
}

fn told(run: &Opened<'_>, it: &Remarked<'_>) -> RemarksHead {
    let program = run.program();
    let numbers: std::collections::BTreeMap<&str, u32> =
        program.files.iter().map(|file| file.path.as_str()).zip(0..).collect();
    // Calls that were inlined or not are no news of a loop.
    let is_told = |it: &&RemarkedLoop<'_>| it.at.outcome != LoopOutcome::Silent;
    let all = it.loops.iter().filter(is_told).count();
    let loops = it.loops.iter().filter(is_told).take(MOST_LOOPS);
    RemarksHead {
        why_not: None,
        path_ns: it.path.map(|length| length.0),
        processor_ns: it.whole.time.0,
        loops: loops.map(|it| of_loop(it, numbers.get(it.at.file.as_str()).copied())).collect(),
        left_out: u32::try_from(all.saturating_sub(MOST_LOOPS)).unwrap_or(u32::MAX),
    }
}

fn of_loop(it: &RemarkedLoop<'_>, file: Option<u32>) -> WireRemarked {
    let (lanes, lanes_told) = it.lanes();
    let is_left = it.at.outcome.is_left();
    WireRemarked {
        file,
        path: it.at.file.clone(),
        first: it.at.first_line,
        last: it.at.last_line,
        is_read: it.at.is_read,
        function: it.at.function.clone(),
        outcome: it.at.outcome.name().to_owned(),
        is_left,
        own_ns: it.own.time.0,
        path_ns: it.on_path.map(|on_path| on_path.time.0),
        lanes,
        lanes_told,
        gain_ns: if is_left { it.gain().0 } else { 0 },
        remarks: it.remarks.iter().take(MOST_REMARKS).map(|row| remark(row)).collect(),
        more: u32::try_from(it.remarks.len().saturating_sub(MOST_REMARKS)).unwrap_or(u32::MAX),
    }
}

fn remark(row: &RemarkRow) -> WireRemark {
    WireRemark {
        kind: row.kind.clone(),
        line: row.line,
        compiler: row.compiler.clone(),
        reason: row.reason.clone(),
        said: row.said.chars().take(MOST_SAID).collect(),
        dependence: row.dependence.clone(),
        distance: (row.distance > 0).then_some(row.distance),
        array: row.array.clone(),
        is_array_of_text: row.is_array_of_text,
        callee: row.callee.clone(),
        inlined_into: row.inlined_into.clone(),
    }
}
