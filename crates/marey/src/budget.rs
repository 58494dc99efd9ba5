//! The budget of `marey record`, and what had to be done to keep within it, in words and as JSON.
//!
//! The one idea: whoever reads a number that is an estimate is told so where the number is looked for: which regions,
//! since when, why, how sure, and what to do about it.
//!
//! Deliberately absent: the choice of these regions, which is the recorder's.

use anyhow::Context;
use marey_analyze::Trace;
use marey_archive::Archive;
use marey_model::{CallPathId, Nanos, RegionId};
use serde::Serialize;

use crate::format;
use crate::info::Overhead;
use crate::paint::harmless;
use crate::words;

/// How much of a thread's processor time recording may take, hundredths of a per cent; 0 for any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget(pub(crate) u32);

/// Reads `--budget`: per cent, or off.
pub(crate) fn parse(text: &str) -> Result<Budget, String> {
    if text == "off" {
        return Ok(Budget(0));
    }
    let share = text.trim_end_matches('%').trim().parse::<f64>().ok();
    // Whatever is recorded costs something; what would round to nothing would mean off.
    let share = share.filter(|share| (0.01..=100.0).contains(share));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is at most 10 000")]
    share
        .map(|share| Budget((share * 100.0).round() as u32))
        .ok_or_else(|| "neither per cent, from 0.01 to 100, nor off".to_owned())
}

/// What had to be done. Names and units are an interface.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Governed {
    /// Part of a thread's processor time that recording could take; `null` where there was no budget.
    budget: Option<f64>,
    /// Visits that were only counted.
    visits: u64,
    /// From when the first region's were.
    since_ns: Option<i64>,
    /// The regions, those with most visits first.
    regions: Vec<Reduced>,
}

/// A region of which visits were only counted.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Reduced {
    region: String,
    file: String,
    line: u32,
    since_ns: i64,
    /// Visits that were only counted.
    visits: i64,
    /// Visits that their time is known from.
    timed: i64,
    /// What they took together.
    time_ns: i64,
    /// How far the true time may be off; −1 = not known.
    error_ns: i64,
    /// What recording each took of its thread's processor time before.
    share: f64,
}

/// What a run says.
pub(crate) fn read(archive: &Archive, trace: &dyn Trace) -> anyhow::Result<Governed> {
    let count = |name: &str| archive.meta().counts.get(name).copied().unwrap_or(0);
    let table = archive.table("reduced").context("cannot read the table of reduced regions")?;
    let paths = table.u32("call_path")?;
    let (since, visits, timed) = (table.i64("since")?, table.i64("visits")?, table.i64("timed")?);
    let (time, error, share) = (table.i64("time")?, table.i64("error")?, table.f64("share")?);
    let mut by_region: std::collections::BTreeMap<RegionId, Reduced> = std::collections::BTreeMap::new();
    for row in 0..table.len() {
        let Some(path) = trace.call_paths().get(CallPathId(paths[row]).idx()) else { continue };
        let Some(region) = trace.regions().get(path.region.idx()) else { continue };
        let sum = by_region.entry(path.region).or_insert_with(|| Reduced {
            region: harmless(region.name()),
            file: harmless(&region.file),
            line: region.line,
            since_ns: i64::MAX,
            visits: 0,
            timed: 0,
            time_ns: 0,
            error_ns: 0,
            share: 0.0,
        });
        sum.since_ns = sum.since_ns.min(since[row]);
        sum.visits = sum.visits.saturating_add(visits[row]);
        sum.timed = sum.timed.saturating_add(timed[row]);
        sum.time_ns = sum.time_ns.saturating_add(time[row]);
        // Errors of the same visits add up.
        sum.error_ns =
            if error[row] < 0 || sum.error_ns < 0 { -1 } else { sum.error_ns.saturating_add(error[row]) };
        sum.share = sum.share.max(share[row]);
    }
    let mut regions: Vec<Reduced> = by_region.into_values().collect();
    regions.sort_by_key(|region| std::cmp::Reverse(region.visits));
    #[expect(clippy::cast_precision_loss, reason = "at most 10 000")]
    let budget = count("budget") as f64 / 10_000.0;
    Ok(Governed {
        budget: (budget > 0.0).then_some(budget),
        visits: count("reduced_visits"),
        since_ns: regions.iter().map(|region| region.since_ns).min(),
        regions,
    })
}

/// Regions that are named; `marey info --json` has all.
const NAMED: usize = 3;

/// What took less altogether is no matter, ns.
const NO_MATTER_NS: u64 = 10_000_000;

impl Governed {
    /// What is said where recording took far more than the budget, and nothing was done. `overhead_ns` is what it took on all
    /// threads.
    pub(crate) fn beyond(&self, overhead: Overhead, overhead_ns: u64) -> Option<String> {
        let budget = self.budget.filter(|budget| overhead.fraction > 2.0 * budget)?;
        if self.since_ns.is_some() || overhead_ns < NO_MATTER_NS {
            return None;
        }
        Some(format!(
            "Measuring took {:.1} % of the time, more than the budget of {} %: no region takes so much of it alone that it \
             could be counted instead, or it is one of those that always are recorded, as calls of MPI are. Numbers of \
             calls are exact, and times have this in them; `--rule 'off NAME*'` leaves regions out, `--rule 'count NAME*'` \
             only counts them",
            overhead.fraction * 100.0,
            per_cent(budget),
        ))
    }

    /// What is said of it, if anything had to be done.
    pub(crate) fn in_words(&self, overhead: Overhead) -> Option<String> {
        let since = Nanos(self.since_ns?);
        let named: Vec<String> = self.regions.iter().take(NAMED).map(Reduced::in_words).collect();
        let others = self.regions.len().saturating_sub(NAMED) as u64;
        let more = match others {
            0 => String::new(),
            more => format!("; and {}", format::counted_as(more, "other", "others")),
        };
        Some(format!(
            "Measuring took {:.2} % of the time{}: {} of {} were counted from {} on, and only some timed, since \
             recording each would have cost more: {}{more}. Counts are exact; `--budget off` records each",
            overhead.fraction * 100.0,
            self.budget.map_or_else(String::new, |budget| format!(" (budget {} %)", per_cent(budget))),
            format::solid(format::counted(self.visits, "visit")),
            format::solid(format::counted(self.regions.len() as u64, "region")),
            format::solid(format::duration(since)),
            named.join("; "),
        ))
    }
}

fn per_cent(share: f64) -> String {
    format!("{:.2}", share * 100.0).trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Reduced {
    fn in_words(&self) -> String {
        let place = words::place(&self.file, self.line);
        let place = if place.is_empty() { place } else { format!(" ({place})") };
        let error = match (self.error_ns, self.time_ns) {
            (error, time) if error >= 0 && time > 0 => {
                #[expect(clippy::cast_precision_loss, reason = "a share")]
                let share = error as f64 / time as f64 * 100.0;
                format!(", its time known to ± {share:.1} %")
            }
            _ => ", its time that of visits before, and not known how well".to_owned(),
        };
        format!("{}{place}{error}", self.region)
    }
}
