//! Whether what changed the pace had a processor.
//!
//! The one idea: a sample is a period of processor time that was used up, so samples within the pieces of an activity, before
//! the change and behind it, tell whether the program did more or was left waiting for a processor.
//!
//! The definitions are those of `docs/situations.md`.
//!
//! What is deliberately absent: who had the processor instead.

use marey_model::{CallPathId, LocationId, Nanos};

use crate::activities::{Activity, Piece, pieces};
use crate::happenings::{Happenings, Span, Unread};
use crate::paths::float;
use crate::samples::mean_period;
use crate::trace::Trace;
use crate::waits::Waits;

/// Periods that a change has at least to be looked at.
const FEWEST: f64 = 4.0;

/// The part of its time for which a call uses the processor, if it does so as a rule.
const AS_A_RULE: f64 = 0.8;

/// The cause of a change of pace.
pub(super) struct Suspect {
    pub(super) location: LocationId,
    pub(super) activity: Activity,
    /// Whether it is the program's own computing: what blocks has regions of its own.
    pub(super) computes: bool,
    /// As long as the old pace was kept, and the new one; and a beat of each, ns.
    pub(super) spans: [Span; 2],
    pub(super) beats: [f64; 2],
}

/// Time of an activity in a span, and processor time in it, ns.
#[derive(Clone, Copy, Default)]
struct Used {
    time: f64,
    periods: u64,
}

/// Of each suspect by how much more a beat it was without a processor; `None` = not known, or it never computes. Two passes: over
/// the samples and the intervals of all spans.
pub(super) fn without_processor(
    run: &impl Trace,
    events: &impl Happenings,
    waits: &Waits,
    places: &[CallPathId],
    suspects: &[Suspect],
) -> Result<Vec<Option<f64>>, Unread> {
    let all = || suspects.iter().flat_map(|it| it.spans);
    let (Some(from), Some(to)) = (all().map(|span| span.from).min(), all().map(|span| span.to).max()) else {
        return Ok(Vec::new());
    };
    let Some(period) = mean_period(run) else { return Ok(vec![None; suspects.len()]) };
    let span = Span { from, to };
    // Of each suspect its samples, and up to each how many periods.
    let mut ticks: Vec<Vec<(Nanos, u64)>> = vec![Vec::new(); suspects.len()];
    events.ticks_in(span, &mut |batch| {
        for tick in batch {
            for (suspect, ticks) in suspects.iter().zip(&mut ticks) {
                let is_meant = |span: &Span| span.from < tick.time && tick.time <= span.to;
                if suspect.location == tick.location && suspect.spans.iter().any(is_meant) {
                    ticks.push((tick.time, tick.periods));
                }
            }
        }
    })?;
    for ticks in &mut ticks {
        ticks.sort_unstable();
        let mut sum = 0_u64;
        for (_, periods) in ticks {
            sum = sum.saturating_add(*periods);
            *periods = sum;
        }
    }
    let mut used = vec![[Used::default(); 2]; suspects.len()];
    let each = |location: LocationId, piece: Piece| {
        if piece.waits_until > Nanos(0) {
            return;
        }
        let Some(activity) = piece.doing.activity() else { return };
        for ((suspect, ticks), used) in suspects.iter().zip(&ticks).zip(&mut used) {
            if suspect.location != location || suspect.activity != by_place(activity, places) {
                continue;
            }
            for (span, used) in suspect.spans.iter().zip(used) {
                let Some((from, to)) = span.clip(piece.start, piece.end) else { continue };
                let up_to = |at: Nanos| match ticks.partition_point(|tick| tick.0 <= at) {
                    0 => 0,
                    number => ticks[number - 1].1,
                };
                used.time += float(to - from);
                used.periods += up_to(to).saturating_sub(up_to(from));
            }
        }
    };
    pieces(run, events, waits, span, each, |_| {})?;
    Ok(suspects.iter().zip(&used).map(|(suspect, used)| judge(suspect, used, period)).collect())
}

/// The activity that stands for all of its place.
pub(super) fn by_place(activity: Activity, places: &[CallPathId]) -> Activity {
    match activity {
        Activity::Path(path) => Activity::Path(places.get(path.idx()).copied().unwrap_or(path)),
        other => other,
    }
}

fn judge(suspect: &Suspect, used: &[Used; 2], period: f64) -> Option<f64> {
    let length = |at: usize| float(suspect.spans[at].to - suspect.spans[at].from);
    if length(0) <= 0.0 || length(1) <= 0.0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2⁵³ samples")]
    let processor = |at: usize| used[at].periods as f64 * period;
    let per_beat = |at: usize, time: f64| time / length(at) * suspect.beats[at];
    let more = |of: [f64; 2]| per_beat(1, of[1]) - per_beat(0, of[0]);
    let (fast, slow) = if suspect.beats[0] <= suspect.beats[1] { (0, 1) } else { (1, 0) };
    let change = more([used[0].time, used[1].time]).abs() * length(slow) / suspect.beats[slow];
    let uses_processor = suspect.computes || AS_A_RULE * used[fast].time <= processor(fast);
    if !uses_processor || change < FEWEST * period {
        return None;
    }
    let without = |at: usize| (used[at].time - processor(at)).max(0.0);
    Some(more([without(0), without(1)]))
}
