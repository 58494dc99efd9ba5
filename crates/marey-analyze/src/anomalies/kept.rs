//! The anomalous visits with the largest excess, of as many as there are.
//!
//! The one idea: twice as many as are wanted are gathered and the lesser half thrown away, so that each costs as much as
//! in a sort, and memory is bounded.
//!
//! What is deliberately absent: why they are anomalous.

use marey_model::Nanos;

use super::{Anomalies, Anomaly};

/// Visits that are kept.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Kept {
    list: Vec<Anomaly>,
    long: u64,
    short: u64,
    excess: f64,
}

impl Kept {
    pub(super) fn add(&mut self, anomaly: Anomaly) {
        let excess = anomaly.excess();
        if excess > 0.0 {
            self.long += 1;
            self.excess += excess;
        } else {
            self.short += 1;
        }
        self.list.push(anomaly);
        if self.list.len() >= 2 * MOST {
            self.cut();
        }
    }

    fn cut(&mut self) {
        // Of equals the earlier, so that the order in which they come makes no difference.
        self.list.sort_by(|a, b| {
            let key = |it: &Anomaly| (it.start, it.location, it.call_path);
            b.excess().total_cmp(&a.excess()).then_with(|| key(a).cmp(&key(b)))
        });
        self.list.truncate(MOST);
    }

    #[expect(clippy::cast_possible_truncation, reason = "a sum of durations of a run")]
    pub(super) fn finish(mut self) -> Anomalies {
        self.cut();
        Anomalies {
            list: self.list,
            long: self.long,
            short: self.short,
            excess: Nanos(self.excess.round() as i64),
            ..Anomalies::default()
        }
    }
}
