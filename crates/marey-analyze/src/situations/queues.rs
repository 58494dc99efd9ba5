//! Queues of messages: what was sent and not yet asked for; and the time from one message to the next.
//!
//! The one idea: two passes over messages in the order of time, with a few numbers for each location.
//!
//! What is deliberately absent: messages of which an end is not known.

use std::collections::BTreeMap;

use marey_model::{CallPathId, LocationId, Nanos};
use rustc_hash::FxHashMap;

use super::MOST;
use super::rules::Threshold;
use crate::happenings::{Happenings, Span, Unread};
use crate::in_order::messages_in_order;

/// Where messages came from.
pub(super) type Senders = BTreeMap<(LocationId, Option<CallPathId>), u64>;

/// A time in which a queue was too long.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Episode {
    pub(super) location: LocationId,
    pub(super) from: Nanos,
    pub(super) to: Nanos,
    /// Messages and bytes that there were at most.
    pub(super) most: [u64; 2],
    pub(super) senders: Senders,
}

/// The queue of one location.
#[derive(Clone, Default)]
struct Queue {
    /// Messages and bytes in it.
    now: [u64; 2],
    most: [u64; 2],
    from: Option<Nanos>,
    senders: Senders,
}

impl Queue {
    /// Sees what is in it.
    fn look(&mut self) {
        self.most = [self.most[0].max(self.now[0]), self.most[1].max(self.now[1])];
    }
}

/// All queues, as one rule sees them.
pub(super) struct Queues {
    /// Which of the two numbers counts, and from when on.
    place: usize,
    threshold: u64,
    /// What is looked at: of episodes that reach beyond it, that part counts.
    span: Span,
    /// Of each location whether it belongs to the family.
    members: Vec<bool>,
    queues: BTreeMap<LocationId, Queue>,
    found: Vec<Episode>,
    /// How many were found that matter less.
    more: u64,
}

impl Queues {
    pub(super) fn new(threshold: Threshold, span: Span, members: Vec<bool>) -> Self {
        let (place, threshold) = match threshold {
            Threshold::Messages(number) => (0, number),
            Threshold::Bytes(number) => (1, number),
            Threshold::By(_) | Threshold::Time(_) => (0, u64::MAX),
        };
        Self { place, threshold, span, members, queues: BTreeMap::new(), found: Vec::new(), more: 0 }
    }

    /// A message was sent, which is asked for at `post`.
    fn sent(
        &mut self,
        (at, post): (Nanos, Nanos),
        to: LocationId,
        from: (LocationId, Option<CallPathId>),
        bytes: u64,
    ) {
        let queue = self.queues.entry(to).or_default();
        queue.now = [queue.now[0] + 1, queue.now[1].saturating_add(bytes)];
        if self.span.from <= at {
            queue.look();
        }
        if self.span.clip(at, post).is_some() {
            *queue.senders.entry(from).or_default() += 1;
        }
        if queue.now[self.place] > self.threshold && queue.from.is_none() {
            queue.from = Some(at);
        }
    }

    fn asked_for(&mut self, at: Nanos, location: LocationId, bytes: u64) {
        let Some(queue) = self.queues.get_mut(&location) else { return };
        // What was there when the span began may be the most that there was in it.
        if self.span.from < at {
            queue.look();
        }
        queue.now = [queue.now[0].saturating_sub(1), queue.now[1].saturating_sub(bytes)];
        if queue.now[self.place] <= self.threshold / 2 {
            let ended = std::mem::take(queue);
            queue.now = ended.now;
            self.end(location, ended, at);
        }
    }

    fn end(&mut self, location: LocationId, queue: Queue, to: Nanos) {
        if self.members.get(location.idx()) != Some(&true) {
            return;
        }
        // What was over before the span is none of it.
        let Some((from, to)) = queue.from.and_then(|from| self.span.clip(from, to)) else { return };
        self.found.push(Episode { location, from, to, most: queue.most, senders: queue.senders });
        if self.found.len() > 4 * MOST {
            self.keep();
        }
    }

    /// Leaves what matters most; of equals the first.
    fn keep(&mut self) {
        let place = self.place;
        self.found.sort_by_key(|it| (std::cmp::Reverse(it.most[place]), it.from, it.location));
        self.more += self.found.len().saturating_sub(MOST) as u64;
        self.found.truncate(MOST);
    }

    /// Episodes, those that matter most first, and how many more there are.
    pub(super) fn finish(mut self, until: impl Fn(LocationId) -> Nanos) -> (Vec<Episode>, u64) {
        for (location, mut queue) in std::mem::take(&mut self.queues) {
            queue.look();
            self.end(location, queue, until(location));
        }
        self.keep();
        (self.found, self.more)
    }
}

/// What is known of a location's queue over the whole time that is looked at.
#[derive(Clone, Debug, Default)]
pub(super) struct Whole {
    /// Sum of the times that messages were in it, ns; over a time that is the mean length.
    pub(super) time: f64,
    /// Bytes that there were at most.
    pub(super) bytes: u64,
    now: u64,
    /// Of the messages that were in it.
    pub(super) senders: Senders,
}

/// Follows the queues of all locations for all rules.
pub(super) fn follow(
    events: &impl Happenings,
    span: Span,
    rules: &mut [Queues],
) -> Result<FxHashMap<LocationId, Whole>, Unread> {
    let mut whole: FxHashMap<LocationId, Whole> = FxHashMap::default();
    messages_in_order(
        events,
        // What is in a queue at the span's begin was sent before.
        Span { from: Span::ALL.from, to: span.to },
        |message, wanted| {
            if let (Some(sending), Some(receiving)) = (message.sending, message.receiving)
                && receiving.post > sending.send
            {
                wanted.extend([(sending.send, true), (receiving.post, false)]);
            }
        },
        |at, is_sent, message| {
            let (Some(sending), Some(receiving)) = (message.sending, message.receiving) else { return };
            let (to, from) = (receiving.location, (sending.location, sending.call_path));
            let sums = whole.entry(to).or_default();
            if is_sent {
                sums.now = sums.now.saturating_add(message.bytes);
                if span.from <= at {
                    sums.bytes = sums.bytes.max(sums.now);
                }
                if let Some((begin, end)) = span.clip(at, receiving.post) {
                    sums.time += crate::paths::float(end - begin);
                    *sums.senders.entry(from).or_default() += 1;
                }
                rules.iter_mut().for_each(|rule| rule.sent((at, receiving.post), to, from, message.bytes));
            } else {
                // What was there when the span began may be the most that there was in it.
                if span.from < at {
                    sums.bytes = sums.bytes.max(sums.now);
                }
                sums.now = sums.now.saturating_sub(message.bytes);
                rules.iter_mut().for_each(|rule| rule.asked_for(at, to, message.bytes));
            }
        },
    )?;
    whole.values_mut().for_each(|sums| sums.bytes = sums.bytes.max(sums.now));
    Ok(whole)
}

/// From one message to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Processing {
    pub(super) location: LocationId,
    /// The end of the call that received the one.
    pub(super) from: Nanos,
    /// The beginning of the call that received the next.
    pub(super) to: Nanos,
    /// The call that received the one.
    pub(super) call_path: Option<CallPathId>,
}

impl Processing {
    pub(super) fn time(&self) -> Nanos {
        self.to - self.from
    }
}

/// What a location took for its messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    pub(super) first: Nanos,
    pub(super) last: Nanos,
    /// Times between messages, and how many.
    pub(super) time: Nanos,
    pub(super) number: u64,
    pub(super) call_path: Option<CallPathId>,
    /// Calls that received, of which the latest is not over until then.
    at: (Nanos, Nanos),
    latest: Option<CallPathId>,
}

/// Goes through all times between messages.
pub(super) fn served(
    events: &impl Happenings,
    span: Span,
    mut each: impl FnMut(&Processing),
) -> Result<FxHashMap<LocationId, Served>, Unread> {
    let mut served: FxHashMap<LocationId, Served> = FxHashMap::default();
    messages_in_order(
        events,
        span,
        |message, wanted| wanted.extend(message.receiving.map(|it| (it.done.end, ()))),
        |_, (), message| {
            let Some(receiving) = message.receiving else { return };
            let (location, call) = (receiving.location, receiving.done);
            let Some(row) = served.get_mut(&location) else {
                served.insert(
                    location,
                    Served {
                        first: call.end,
                        last: call.end,
                        time: Nanos(0),
                        number: 0,
                        call_path: call.call_path,
                        at: (call.start, call.end),
                        latest: call.call_path,
                    },
                );
                return;
            };
            // One call that received several, or a call within another.
            if call.start < row.at.1 {
                row.at.1 = row.at.1.max(call.end);
                return;
            }
            let processing = Processing { location, from: row.at.1, to: call.start, call_path: row.latest };
            row.time = row.time + processing.time();
            row.number += 1;
            (row.last, row.at, row.latest) = (call.start, (call.start, call.end), call.call_path);
            each(&processing);
        },
    )?;
    Ok(served)
}
