//! Which arrays messages come from and go to.
//!
//! The one idea: each message moves its bytes out of one datum and into another, so both ends are counted, each where it
//! lies; what lies in memory that nobody knows is a row like the others, and its name says why.
//!
//! Deliberately absent: single messages, and instances of an array.

use std::collections::BTreeMap;

use marey_model::ProcessId;

use crate::patterns::FlowPattern;
use crate::trace::{Datum, Trace};

/// A datum, and what messages moved out of it and into it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArrayTraffic<'t> {
    /// What it is; `None` = messages without a buffer.
    pub datum: Option<&'t Datum>,
    /// Messages that were sent from it.
    pub sent: u64,
    /// Their data, bytes.
    pub sent_bytes: u64,
    /// Messages that were received into it.
    pub received: u64,
    /// Their data, bytes.
    pub received_bytes: u64,
    /// Bytes that it gave or got, by sender and receiver, most first.
    pub pairs: Vec<((ProcessId, ProcessId), u64)>,
}

impl ArrayTraffic<'_> {
    /// Whether it is known what the memory is.
    pub fn is_known(&self) -> bool {
        self.datum.is_some_and(|datum| datum.kind != "other")
    }

    /// Between which ranks its data goes; `None` = it stays where it is.
    pub fn pattern(&self, trace: &dyn Trace) -> Option<FlowPattern> {
        FlowPattern::of_processes(trace, self.pairs.iter().map(|(pair, _)| *pair))
    }

    /// Bytes in both directions.
    pub fn bytes(&self) -> u64 {
        self.sent_bytes.saturating_add(self.received_bytes)
    }
}

/// All data that messages name, those with most bytes first.
pub fn array_traffic(trace: &dyn Trace) -> Vec<ArrayTraffic<'_>> {
    #[derive(Default)]
    struct Sums {
        sent: (u64, u64),
        received: (u64, u64),
        pairs: BTreeMap<(ProcessId, ProcessId), u64>,
    }
    let mut sums: BTreeMap<Option<usize>, Sums> = BTreeMap::new();
    for row in trace.array_messages() {
        let add = |sum: &mut (u64, u64)| {
            *sum = (sum.0.saturating_add(row.messages), sum.1.saturating_add(row.bytes));
        };
        add(&mut sums.entry(row.sent).or_default().sent);
        add(&mut sums.entry(row.received).or_default().received);
        for datum in [Some(row.sent), Some(row.received).filter(|it| *it != row.sent)].into_iter().flatten() {
            let pair = sums.entry(datum).or_default().pairs.entry((row.from, row.to)).or_default();
            *pair = pair.saturating_add(row.bytes);
        }
    }
    let mut found: Vec<ArrayTraffic<'_>> = sums
        .into_iter()
        .map(|(datum, sums)| {
            let mut pairs: Vec<_> = sums.pairs.into_iter().collect();
            pairs.sort_by_key(|&(pair, bytes)| (std::cmp::Reverse(bytes), pair));
            ArrayTraffic {
                datum: datum.and_then(|datum| trace.data().get(datum)),
                sent: sums.sent.0,
                sent_bytes: sums.sent.1,
                received: sums.received.0,
                received_bytes: sums.received.1,
                pairs,
            }
        })
        .collect();
    // Stable: of equal ones the order of the data.
    found.sort_by_key(|row| std::cmp::Reverse(row.bytes()));
    found
}
