//! All channels, spread over the cores.
//!
//! The one idea: channels know nothing of each other, so they are dealt out to a fixed number of
//! shards by what they are. Each shard takes its own halves in the order of processes, whatever core
//! works on it and when: so the order of the rows depends on the input alone.
//!
//! What happens within a channel is told in `channels`.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::channels::Channel;
use super::counting::Counting;
use super::halves::{Half, Key};
use super::messages::Join;
use super::outcome::{MessageRow, Outcome, SentPlace, Tally};
use super::sides::Horizon;
use super::tighten::Shift;
use crate::schema::NONE;

/// Enough for any number of cores, few enough to cost nothing. Part of what makes the order of
/// work the same for any number of threads.
const SHARDS: usize = 64;

/// All channels.
#[derive(Debug)]
pub(crate) struct Shards(Vec<Shard>);

/// The channels that one core works on at a time.
#[derive(Debug, Default)]
struct Shard {
    known: FxHashMap<Key, u32>,
    /// The channel of the half before: most programs send many in a row.
    last: Option<(Key, u32)>,
    channels: Vec<Channel>,
    /// Channels in which something waits.
    active: Vec<u32>,
    outcome: Outcome,
}

/// Decided halves by shard, so that each shard finds its own. Empty until there are some.
#[derive(Debug, Default)]
pub(crate) struct Decided(Vec<Vec<(Key, Half)>>);

impl Decided {
    pub(crate) fn push(&mut self, key: Key, half: Half) {
        if self.0.is_empty() {
            self.0.resize_with(SHARDS, Vec::new);
        }
        self.0[shard_of(&key)].push((key, half));
    }

    fn of(&self, shard: usize) -> &[(Key, Half)] {
        self.0.get(shard).map_or(&[], |halves| halves)
    }

    fn clear(&mut self) {
        self.0.iter_mut().for_each(Vec::clear);
    }
}

impl Shards {
    /// `counting` says which messages processes have counted without keeping them, `shifts` say for each process
    /// by how much its clock was moved; none if no clock was.
    pub(crate) fn new(counting: Counting, shifts: Vec<Shift>) -> Self {
        let (counting, shifts) = (Arc::new(counting), Arc::new(shifts));
        let outcome =
            || Outcome { counting: Arc::clone(&counting), shifts: Arc::clone(&shifts), ..Outcome::default() };
        Self((0..SHARDS).map(|_| Shard { outcome: outcome(), ..Shard::default() }).collect())
    }

    /// Takes the halves that processes decided and matches what can be matched by the end of the
    /// slab, or of the run.
    pub(crate) fn advance(&mut self, joins: &mut [Join], horizons: &[Horizon], end: bool) {
        let decided: &[Join] = joins;
        self.0.par_iter_mut().enumerate().for_each(|(place, shard)| {
            shard.outcome.rows.clear();
            for &(key, half) in decided.iter().flat_map(|join| join.out.of(place)) {
                shard.put(key, half);
            }
            shard.advance(decided, horizons, end);
        });
        for join in joins {
            join.out.clear();
        }
    }

    /// What the last slab gave, unsorted but in an order that depends on the input alone.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &MessageRow> {
        self.0.iter().flat_map(|shard| &shard.outcome.rows)
    }

    /// What was found in all slabs so far.
    pub(crate) fn tally(&self) -> Tally {
        let mut sum = Tally::default();
        for tally in self.0.iter().map(|shard| &shard.outcome.tally) {
            sum.matched += tally.matched;
            sum.violations += tally.violations;
            sum.mended.add(tally.mended);
            sum.ambiguous += tally.ambiguous;
            sum.unmatched_sends += tally.unmatched_sends;
            sum.unmatched_receives += tally.unmatched_receives;
            sum.counted_halves += tally.counted_halves;
            sum.unmatchable_halves += tally.unmatchable_halves;
        }
        sum
    }

    /// Sends of which the receive was only counted, see [`Outcome`].
    pub(crate) fn counted_sends(&self) -> impl Iterator<Item = (SentPlace, (i64, i64))> {
        self.0.iter().flat_map(|shard| shard.outcome.counted_sends.iter().map(|(key, sum)| (*key, *sum)))
    }

    /// Channels that ended in a gap, by the process that the gap is in.
    pub(crate) fn broken(&self) -> BTreeMap<u32, u64> {
        let mut found = BTreeMap::new();
        let all = self.0.iter().flat_map(|shard| shard.channels.iter().map(move |channel| (shard, channel)));
        for (_, channel) in all.filter(|(shard, channel)| !shard.outcome.is_counted(channel.key)) {
            let side = [&channel.send, &channel.recv].into_iter().find(|side| side.is_broken);
            if let Some(side) = side {
                *found.entry(side.who.map_or(NONE, |who| who.0)).or_default() += 1;
            }
        }
        found
    }
}

impl Shard {
    fn put(&mut self, key: Key, half: Half) {
        let idx = match self.last {
            Some((last, idx)) if last == key => idx,
            _ => self.find(key),
        };
        let channel = &mut self.channels[idx as usize];
        if !channel.is_active {
            channel.is_active = true;
            self.active.push(idx);
        }
        channel.take(half, &mut self.outcome);
    }

    fn find(&mut self, key: Key) -> u32 {
        let channels = &mut self.channels;
        let idx = *self.known.entry(key).or_insert_with(|| {
            channels.push(Channel::new(key));
            channels.len() as u32 - 1
        });
        self.last = Some((key, idx));
        idx
    }

    fn advance(&mut self, joins: &[Join], horizons: &[Horizon], end: bool) {
        let active = std::mem::take(&mut self.active);
        for idx in active {
            let channel = &mut self.channels[idx as usize];
            channel.advance(joins, horizons, end, &mut self.outcome);
            channel.is_active = !channel.is_idle();
            if channel.is_active {
                self.active.push(idx);
            }
        }
    }
}

/// Which of the shards a channel belongs to.
fn shard_of(key: &Key) -> usize {
    let mut hash = u64::from(key.from) << 32 | u64::from(key.to);
    hash ^= u64::from(key.communicator) << 17 ^ key.tag.cast_unsigned() << 40;
    (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize % SHARDS
}
