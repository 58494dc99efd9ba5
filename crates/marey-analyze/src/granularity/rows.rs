//! Messages and collective operations in a row.
//!
//! The one idea: a row is calls of one place of which each begins sooner after the one before than that took.
//!
//! What is deliberately absent: whether the data of the later calls was there when the first was made.

use std::collections::BTreeMap;

use marey_model::{CallPathId, LocationId, Nanos, Role};
use rustc_hash::FxHashMap;

use super::{IN_A_ROW, Small, SmallKind, Sums, count};
use crate::happenings::{Happenings, Member, Span, Unread};
use crate::in_order::messages_in_order;
use crate::paths::float;
use crate::trace::{CommunicatorId, Trace};
use crate::waits::{operations, role_of_all};

/// Messages that are larger are not small.
const LARGEST_MESSAGE: f64 = 4096.0;

/// Collective operations with more data are not small.
const LARGEST_COLLECTIVE: u64 = 1024;

/// Larger messages that there must be to compare with …
const TO_COMPARE: u64 = 4;

/// … which may be larger than a row by so much, as a power of two.
const LARGER: usize = 4;

/// Where a location is on its way through its calls.
#[derive(Clone, Copy, Default)]
struct Latest {
    end: Nanos,
    cost: Nanos,
}

impl Latest {
    /// Whether a call that begins now goes on with the row.
    fn goes_on(&self, start: Nanos, recording: f64) -> bool {
        start >= self.end && float(start - self.end) - recording <= float(self.cost)
    }
}

pub(super) fn messages(
    run: &impl Trace,
    events: &impl Happenings,
    recording: f64,
) -> Result<Vec<Small>, Unread> {
    // By sender: what it sent latest, where from and to whom, and when it last received something.
    type Key = (LocationId, LocationId, CallPathId);
    let mut latest: FxHashMap<LocationId, (Key, Latest)> = FxHashMap::default();
    let mut received: FxHashMap<LocationId, Nanos> = FxHashMap::default();
    let mut all: BTreeMap<Key, Sums> = BTreeMap::new();
    // Number and time of calls by ⌊log₂⌋ of the size; nothing is 0.
    let mut by_size = [(0_u64, Nanos(0)); 65];
    messages_in_order(
        events,
        Span::ALL,
        |message, wanted| {
            wanted.extend(message.sending.map(|it| (it.send, true)));
            wanted.extend(message.receiving.map(|it| (it.done.end, false)));
        },
        |at, is_send, message| {
            if !is_send {
                if let Some(receiving) = message.receiving {
                    received.insert(receiving.location, at);
                }
                return;
            }
            let Some(sending) = message.sending else { return };
            // Only of a call that begins and completes it is known what it took.
            let (Some(path), Some(call)) =
                (sending.call_path, sending.done.filter(|it| it.start == sending.send))
            else {
                latest.remove(&sending.location);
                return;
            };
            let waits =
                message.receiving.filter(|it| it.post < call.end).map_or(Nanos(0), |it| it.post - call.start);
            let cost = (call.end - call.start) - waits.max(Nanos(0));
            let class = &mut by_size[message.bytes.checked_ilog2().map_or(0, |log| log as usize + 1)];
            *class = (class.0 + 1, class.1 + cost);
            let Some(receiving) = message.receiving else {
                latest.remove(&sending.location);
                return;
            };
            let key = (sending.location, receiving.location, path);
            let heard = received.get(&sending.location).copied();
            let goes_on = latest.get(&sending.location).is_some_and(|(before, latest)| {
                *before == key
                    && latest.goes_on(call.start, recording)
                    && heard.is_none_or(|at| at <= latest.end)
            });
            all.entry(key).or_default().add(sending.location, !goes_on, message.bytes, cost);
            latest.insert(sending.location, (key, Latest { end: call.end, cost }));
        },
    )?;
    let small = |((_, to, path), sums): (_, Sums)| {
        let is_small = sums.mean(count(sums.bytes)) <= LARGEST_MESSAGE && sums.number >= IN_A_ROW * sums.rows;
        let small = sums.small(run, SmallKind::Messages, Some(path)).filter(|_| is_small)?;
        let row = small.bytes * count(small.number) / count(small.rows);
        let larger = time_of_larger(&by_size, row);
        #[expect(clippy::cast_possible_truncation, reason = "runs are shorter than 200 years")]
        let gain =
            larger.map(|time| Nanos((float(small.cost) - count(small.rows) * time).round().max(0.0) as i64));
        Some(Small { to: Some(to), gain, ..small })
    };
    Ok(all.into_iter().filter_map(small).collect())
}

/// The mean time of messages of at least this size, ns, and not many times as large.
fn time_of_larger(by_size: &[(u64, Nanos); 65], bytes: f64) -> Option<f64> {
    // The first class in which all are at least as large.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "logarithms are small")]
    let first = bytes.max(1.0).log2().ceil() as usize + 1;
    let classes = by_size.iter().skip(first).take(LARGER);
    let (number, time) = classes.fold((0, Nanos(0)), |sum, class| (sum.0 + class.0, sum.1 + class.1));
    (number >= TO_COMPARE).then(|| float(time) / count(number))
}

pub(super) fn collectives(
    run: &impl Trace,
    events: &impl Happenings,
    recording: f64,
) -> Result<Vec<Small>, Unread> {
    let mut latest: FxHashMap<(CommunicatorId, LocationId), (CallPathId, u32, Latest)> = FxHashMap::default();
    let mut all: BTreeMap<CallPathId, Sums> = BTreeMap::new();
    operations(run, events, Span::ALL, |operation| {
        let has_data =
            matches!(role_of_all(run, operation), Some(Role::AllToAll | Role::OneToAll | Role::AllToOne));
        let last = operation.iter().map(|member| member.enter).max().unwrap_or_default();
        for member in operation {
            let key = (member.communicator, member.location);
            let (Some(path), Some(call)) =
                (member.call_path, member.done.filter(|it| it.start == member.enter))
            else {
                latest.remove(&key);
                continue;
            };
            if !has_data || bytes(member) > LARGEST_COLLECTIVE {
                latest.remove(&key);
                continue;
            }
            // Whoever comes early waits; nobody can be faster than that.
            let cost = (call.end - last.clamp(call.start, call.end.max(call.start))).max(Nanos(0));
            let goes_on = latest.get(&key).is_some_and(|(before, instance, latest)| {
                (*before, instance.wrapping_add(1)) == (path, member.instance)
                    && latest.goes_on(call.start, recording)
            });
            all.entry(path).or_default().add(member.location, !goes_on, bytes(member), cost);
            latest.insert(key, (path, member.instance, Latest { end: call.end, cost }));
        }
    })?;
    let small = |(path, sums): (_, Sums)| {
        let is_in_rows = sums.number >= IN_A_ROW * sums.rows;
        let small = sums.small(run, SmallKind::Collectives, Some(path)).filter(|_| is_in_rows)?;
        let part = count(small.number - small.rows) / count(small.number);
        #[expect(clippy::cast_possible_truncation, reason = "runs are shorter than 200 years")]
        let gain = Nanos((part * float(small.cost)).round() as i64);
        Some(Small { gain: Some(gain), ..small })
    };
    Ok(all.into_iter().filter_map(small).collect())
}

fn bytes(member: &Member) -> u64 {
    member.bytes_in.max(member.bytes_out)
}
