//! Messages in the order of time.
//!
//! The one idea: a message is handed out once for each instant that a fold wants of it; slab by slab, so that no more
//! than a slab's messages have to be put in order at a time.
//!
//! What is deliberately absent: messages without the end that is wanted.

use marey_model::Nanos;

use crate::happenings::{Happenings, Message, Span, Unread};

/// Hands out instants of the messages of a span in the order of time; in memory are those of one slab.
pub(crate) fn messages_in_order<K: Ord + Copy>(
    events: &impl Happenings,
    span: Span,
    // Adds the instants of a message that are wanted; of those at the same time, the smaller key comes first.
    instants: impl Fn(&Message, &mut Vec<(Nanos, K)>),
    mut each: impl FnMut(Nanos, K, &Message),
) -> Result<(), Unread> {
    let slabs = events.slabs();
    let mut wanted = Vec::new();
    // Messages are large, so their places are put in order.
    let mut messages: Vec<Message> = Vec::new();
    let mut found: Vec<(Nanos, K, usize)> = Vec::new();
    for (place, _) in slabs.iter().enumerate() {
        // What is before the first slab and behind the last belongs to them.
        let from = if place == 0 { Nanos(i64::MIN) } else { slabs[place] };
        let to = slabs.get(place + 1).copied().unwrap_or(Nanos(i64::MAX));
        let Some((from, to)) = span.clip(from, to) else { continue };
        events.messages_in(Span { from, to }, &mut |batch| {
            for message in batch {
                wanted.clear();
                instants(message, &mut wanted);
                let before = found.len();
                let within = wanted.iter().filter(|(at, _)| (from..to).contains(at));
                found.extend(within.map(|(at, key)| (*at, *key, messages.len())));
                if before < found.len() {
                    messages.push(*message);
                }
            }
        })?;
        // Whoever hands messages out does so in the same order each time, but for slabs.
        found.sort_unstable_by(|a, b| {
            let by_message = || order(&messages[a.2]).cmp(&order(&messages[b.2])).then(a.2.cmp(&b.2));
            (a.0, a.1).cmp(&(b.0, b.1)).then_with(by_message)
        });
        for (at, key, place) in found.drain(..) {
            each(at, key, &messages[place]);
        }
        messages.clear();
    }
    Ok(())
}

/// Tells messages of the same instant apart, so that it does not matter how a run is cut.
fn order(message: &Message) -> (u32, Nanos, u32, Nanos, u64) {
    let (from, send) = message.sending.map_or((u32::MAX, Nanos(0)), |it| (it.location.0, it.send));
    let (to, end) = message.receiving.map_or((u32::MAX, Nanos(0)), |it| (it.location.0, it.done.end));
    (from, send, to, end, message.bytes)
}
