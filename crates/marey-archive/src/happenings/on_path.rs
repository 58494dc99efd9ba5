//! What was sampled on the critical path.

use marey_analyze::{CriticalPath, SampledRow, Span, Unread};
use marey_model::{LocationId, Nanos, StackId};

use super::{Events, known, path};

impl Events<'_> {
    /// A row for each sample that was taken where and when the critical path led.
    ///
    /// # Errors
    /// As for [`marey_analyze::Happenings::intervals`].
    pub fn sampled_on(&self, critical: &CriticalPath) -> Result<Vec<SampledRow>, Unread> {
        let (Some(first), Some(last)) = (critical.spans.first(), critical.spans.last()) else {
            return Ok(Vec::new());
        };
        let (from, to) = (first.from.min(last.from), first.to.max(last.to));
        let mut spans: Vec<_> = critical.spans.iter().collect();
        spans.sort_by_key(|span| span.from);
        // At the end of a period a sample tells of what was before.
        let is_on = |location: u32, time: i64| {
            let behind = spans.partition_point(|span| span.from.0 < time);
            behind.checked_sub(1).is_some_and(|at| time <= spans[at].to.0 && spans[at].location.0 == location)
        };
        let periods = self.periods().map_err(|error| Unread(vec![error.to_string()]))?;
        let mut rows = Vec::new();
        let columns = ["location", "time", "call_path", "stack", "periods"];
        self.read("samples", &columns, Span { from, to: Nanos(to.0.saturating_add(1)) }, |batch| {
            let (locations, times) = (batch.u32("location")?, batch.i64("time")?);
            let (paths, stacks, numbers) =
                (batch.u32("call_path")?, batch.u32("stack")?, batch.i64("periods")?);
            for row in (0..batch.len()).filter(|row| is_on(locations[*row], times[*row])) {
                let of = periods.get(&(locations[row], paths[row], stacks[row])).copied().unwrap_or_default();
                rows.push(SampledRow {
                    call_path: path(paths[row]),
                    location: LocationId(locations[row]),
                    stack: known(stacks[row]).map(StackId),
                    samples: 1,
                    time: Nanos(numbers[row].max(0).saturating_mul(of.ns)),
                    is_complete: of.is_complete,
                });
            }
            Ok(())
        })?;
        Ok(rows)
    }
}
