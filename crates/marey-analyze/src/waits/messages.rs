//! Late senders and late receivers.

use marey_model::{LocationId, Nanos};
use rustc_hash::FxHashMap;

use super::asked::asks;
use super::kept::Kept;
use super::{Found, Pattern, Wait, in_call};
use crate::happenings::{Happenings, Message, Span, Unread};
use crate::trace::Trace;

/// Finds the waits of both ends of all messages.
pub(super) fn find(events: &impl Happenings, span: Span, found: &mut Kept) -> Result<(), Unread> {
    events.messages_in(span, &mut |messages| {
        for message in messages {
            waits_of(message).into_iter().flatten().for_each(|wait| found.add(wait));
        }
    })
}

fn waits_of(message: &Message) -> [Option<Found>; 2] {
    let (Some(sending), Some(receiving)) = (message.sending, message.receiving) else { return [None; 2] };
    let receiver =
        in_call(receiving.location, receiving.done, (sending.location, sending.send), Pattern::LateSender);
    let sender = sending.done.filter(|done| receiving.post < done.end).and_then(|done| {
        in_call(sending.location, done, (receiving.location, receiving.post), Pattern::LateReceiver)
    });
    [receiver, sender].map(|found| found.map(|found| found.on(message.communicator)))
}

/// Tells late senders whose receivers could have received another message first: one that had been sent before, and that
/// they received after.
pub(super) fn mark_wrong_order(
    run: &impl Trace,
    events: &impl Happenings,
    span: Span,
    list: &mut [Wait],
) -> Result<(), Unread> {
    if !list.iter().any(|wait| wait.pattern == Pattern::LateSender) {
        return Ok(());
    }
    let mut places: FxHashMap<LocationId, (usize, usize)> = FxHashMap::default();
    for (place, wait) in list.iter().enumerate() {
        places.entry(wait.location).or_insert((place, place)).1 = place + 1;
    }
    // How many messages say so of each wait: they begin to at one and cease to at another.
    let mut changes = vec![0_i64; list.len() + 1];
    // What was received after the span says so too.
    let later = Span { to: Nanos(i64::MAX), ..span };
    events.messages_in(later, &mut |messages| {
        for message in messages {
            let (Some(sending), Some(receiving)) = (message.sending, message.receiving) else { continue };
            let Some(&(first, end)) = places.get(&receiving.location) else { continue };
            let own = &list[first..end];
            // Waits of one location do not overlap, so both bounds grow.
            let begin = own.partition_point(|wait| wait.to <= sending.send);
            let end = own.partition_point(|wait| wait.from < receiving.done.start);
            if begin < end {
                changes[first + begin] += 1;
                changes[first + end] -= 1;
            }
        }
    })?;
    let mut number = 0;
    for (wait, change) in list.iter_mut().zip(changes) {
        number += change;
        // Who asks may have asked for both.
        if number > 0 && wait.pattern == Pattern::LateSender && !asks(run, wait.call_path) {
            wait.pattern = Pattern::WrongOrder;
        }
    }
    Ok(())
}
