//! Fitting clocks again from what an archive has, when what was recorded is gone.
//!
//! The one idea: what the merge knew of a clock is in its knots and their bars: there the truth is no
//! farther away than that. With this in the place of exchanges, messages as they were merged say the rest,
//! in the same way as in a merge. What comes out is added when the archive is read.
//!
//! Barriers are not looked at again: the archive does not say of each on which clock it was counted.

use std::path::Path;

use rustc_hash::FxHashMap;

use super::{Corrections, Fit, FitKnot};
use crate::merge::{Bounds, Tie, tie};
use crate::schema::NONE;
use crate::{Archive, Columns, Error};

/// What fitting again has given.
#[derive(Clone, Debug)]
pub struct Refit {
    /// What is to be added; nothing if the fit is as good as it was.
    pub fits: Vec<Fit>,
    /// Number of clocks.
    pub clocks: usize,
}

/// The clocks of an archive.
struct Clocks {
    /// Clock of each process.
    of: Vec<usize>,
    /// First and last time of each that is known, ns.
    spans: Vec<(f64, f64)>,
    reference: usize,
}

/// A correction that changes nothing by more than this is none, ns.
const LEAST: f64 = 2.0;

/// Fits the clocks of the run in a directory again.
pub fn refit(run: &Path) -> Result<Refit, Error> {
    let archive = Archive::open_as_merged(run)?;
    let table = archive.table("clocks")?;
    let known = knots(&archive, &table)?;
    let clocks = Clocks::of(&archive, &table, &known)?;
    let held = clocks.held(&known);
    let messages = clocks.messages(&archive)?;
    let ties = tie::all(&clocks.spans, clocks.reference, &held, &messages);
    let moved = |tie: &Tie| tie.knots.iter().any(|knot| knot.offset.abs() > LEAST);
    let fits = ties.iter().enumerate().filter(|(_, tie)| moved(tie));
    let fits = fits.map(|(clock, tie)| clocks.fit(clock, tie)).collect();
    Ok(Refit { fits, clocks: clocks.spans.len() })
}

/// For each process, what is known of its clock: (time, bar), ns.
fn knots(archive: &Archive, clocks: &Columns) -> Result<Vec<Vec<(f64, f64)>>, Error> {
    let mut found = vec![Vec::new(); clocks.len()];
    let table = archive.table("clock_knots")?;
    let rows = table.u32("process")?.iter().zip(table.i64("time")?).zip(table.i64("uncertainty_ns")?);
    for ((&process, &time), &bar) in rows {
        if let Some(own) = found.get_mut(process as usize) {
            own.push((time as f64, bar as f64));
        }
    }
    // Archives before version 4 have the two ends of a line.
    let rows = found.iter_mut().zip(clocks.text("knots")?).zip(clocks.i64("uncertainty_ns")?);
    for ((own, text), &bar) in rows.filter(|((own, _), _)| own.is_empty()) {
        let ends: Vec<(f64, f64)> = serde_json::from_str(text).unwrap_or_default();
        own.extend(ends.iter().map(|&(_, time)| (time, bar as f64)));
    }
    Ok(found)
}

impl Clocks {
    fn of(archive: &Archive, table: &Columns, known: &[Vec<(f64, f64)>]) -> Result<Self, Error> {
        let (processes, numbers, texts) =
            (archive.table("processes")?, table.u32("clock")?, table.text("knots")?);
        let mut places: FxHashMap<(u32, &str), usize> = FxHashMap::default();
        let mut of = Vec::with_capacity(table.len());
        for (&number, text) in numbers.iter().zip(texts) {
            // Older archives give clocks no number; but processes that share one have the same line.
            let key = if number == NONE { (NONE, text.as_str()) } else { (number, "") };
            let next = places.len();
            of.push(*places.entry(key).or_insert(next));
        }
        let mut spans = vec![(f64::INFINITY, f64::NEG_INFINITY); places.len()];
        let lives = processes.i64("start")?.iter().zip(processes.i64("end")?);
        for ((&clock, (&start, &end)), own) in of.iter().zip(lives).zip(known) {
            let span = &mut spans[clock];
            let times = own.iter().map(|knot| knot.0).chain([start as f64, end as f64]);
            *span = times.fold(*span, |span, time| (span.0.min(time), span.1.max(time)));
        }
        let first = processes.i64("rank")?.iter().position(|&rank| rank == 0).unwrap_or(0);
        let reference = of.get(first).copied().unwrap_or(0);
        Ok(Self { of, spans, reference })
    }

    /// What knots say, as if their readings had been exchanged with the reference.
    fn held(&self, known: &[Vec<(f64, f64)>]) -> Bounds {
        let mut bounds = Bounds::default();
        let mut is_done = vec![false; self.spans.len()];
        for (&clock, own) in self.of.iter().zip(known) {
            if clock == self.reference || std::mem::replace(&mut is_done[clock], true) {
                continue;
            }
            for &(time, bar) in own.iter().filter(|(_, bar)| *bar >= 0.0) {
                bounds.add(self.reference, clock, time - bar, time);
                bounds.add(clock, self.reference, time, time + bar);
            }
        }
        bounds
    }

    fn messages(&self, archive: &Archive) -> Result<Bounds, Error> {
        let locations = archive.table("locations")?;
        let processes = locations.u32("process")?;
        let clock = |location: u32| self.of.get(*processes.get(location as usize)? as usize).copied();
        let mut bounds = Bounds::default();
        let columns = ["send_location", "send_time", "recv_location", "recv_time"];
        let mut result = Ok(());
        let mut add = |rows: &Columns| -> Result<(), Error> {
            let sends = rows.u32("send_location")?.iter().zip(rows.i64("send_time")?);
            let receives = rows.u32("recv_location")?.iter().zip(rows.i64("recv_time")?);
            for ((&from, &sent), (&to, &received)) in sends.zip(receives) {
                if let (Some(from), Some(to)) = (clock(from), clock(to))
                    && from != to
                    && sent.min(received) >= 0
                {
                    bounds.add(from, to, sent as f64, received as f64);
                }
            }
            Ok(())
        };
        let scanned = archive.scan("messages", &columns, &[], |rows| {
            if result.is_ok() {
                result = add(rows);
            }
        })?;
        result?;
        scanned.damage.into_iter().next().map_or(Ok(bounds), Err)
    }

    #[expect(clippy::cast_possible_truncation, reason = "times of a run, and less than 2⁵³ of them")]
    fn fit(&self, clock: usize, tie: &Tie) -> Fit {
        let of = (0_u32..).zip(&self.of).filter(|(_, own)| **own == clock);
        let knot = |knot: &crate::merge::TieKnot| FitKnot {
            time: knot.time.round() as i64,
            add: knot.offset.round() as i64,
            uncertainty: if knot.error.is_finite() { knot.error.ceil() as i64 } else { -1 },
        };
        Fit {
            processes: of.map(|(process, _)| process).collect(),
            knots: tie.knots.iter().map(knot).collect(),
        }
    }
}

impl Refit {
    /// The same as corrections of a run, beside what the user had added.
    pub fn into_corrections(self, before: &Corrections) -> Corrections {
        Corrections { fits: self.fits, offsets: before.offsets.clone(), ..Corrections::default() }
    }
}
