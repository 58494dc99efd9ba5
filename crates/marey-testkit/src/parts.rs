//! Spans behind one another have what the run has.
//!
//! The one idea: the sums of a run were made while it was merged, those of its parts from its events; if they are not
//! equal, one of them is wrong.
//!
//! What is deliberately absent: runs of which something has no events (sums after a limit, rules, lost records).

use std::collections::BTreeMap;

use marey_analyze::{Excerpt, Happenings, Selection, Span, Trace};
use marey_model::Nanos;

type Channel = (u32, u32, Option<u32>, Option<u32>);
type Context = (Option<u32>, u32, Option<u32>);

/// What adds up.
#[derive(Debug, Default, PartialEq)]
struct Sums {
    /// By call path and location: visits, inclusive, exclusive, bytes.
    profile: BTreeMap<(u32, u32), (u64, i64, i64, u64)>,
    /// By sender, receiver, communicator and size: number and bytes.
    messages: BTreeMap<Channel, (u64, u64)>,
    /// By call path, location and stack: number and time.
    samples: BTreeMap<Context, (u64, i64)>,
    /// By location, and by process.
    lives: BTreeMap<(bool, usize), i64>,
}

impl Sums {
    fn add(&mut self, part: &dyn Trace) {
        for row in part.profile().iter().filter(|row| row.visits > 0 || row.inclusive > Nanos(0)) {
            let sum = self.profile.entry((row.call_path.0, row.location.0)).or_default();
            sum.0 += row.visits;
            sum.1 += row.inclusive.0;
            sum.2 += row.exclusive.0;
            sum.3 += row.bytes;
        }
        for row in part.communication() {
            let key = (row.from.0, row.to.0, row.communicator.map(|id| id.0), row.size_log2);
            let sum = self.messages.entry(key).or_default();
            *sum = (sum.0 + row.messages, sum.1 + row.bytes);
        }
        for row in part.samples() {
            let key = (row.call_path.map(|id| id.0), row.location.0, row.stack.map(|id| id.0));
            let sum = self.samples.entry(key).or_default();
            *sum = (sum.0 + row.samples, sum.1 + row.time.0);
        }
        let locations = part.locations().iter().map(|it| it.end - it.start).enumerate();
        let processes = part.processes().iter().map(|it| it.end - it.start).enumerate();
        for ((place, life), is_process) in
            locations.map(|it| (it, false)).chain(processes.map(|it| (it, true)))
        {
            *self.lives.entry((is_process, place)).or_default() += life.0;
        }
    }
}

/// Cuts a run at these instants and panics unless the sums of its parts are those of the run.
///
/// # Panics
/// If something cannot be read, too.
pub fn expect_parts_add_up(run: &impl Trace, events: &impl Happenings, cuts: &[Nanos]) {
    let mut cuts: Vec<Nanos> =
        cuts.iter().copied().filter(|at| Nanos(0) < *at && *at < run.duration()).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut ends = cuts.clone();
    ends.push(Nanos(i64::MAX));
    cuts.insert(0, Nanos(i64::MIN));
    let (mut parts, mut whole) = (Sums::default(), Sums::default());
    for (from, to) in cuts.into_iter().zip(ends) {
        let selection = Selection { span: Span { from, to }, ..Selection::default() };
        parts.add(&Excerpt::new(run, events, &selection).expect("all of the run can be read"));
    }
    whole.add(run);
    // Table by table, for whoever reads what differs.
    for (key, sum) in &whole.profile {
        assert_eq!(parts.profile.get(key), Some(sum), "call path and location {key:?}");
    }
    assert_eq!(parts.profile.len(), whole.profile.len());
    assert_eq!(parts.messages, whole.messages);
    assert_eq!(parts.samples, whole.samples);
    assert_eq!(parts.lives, whole.lives);
}
