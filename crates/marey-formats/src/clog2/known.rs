//! What numbers mean in a log: events, states, and whose rank in a communicator is whose in the world.

use std::collections::BTreeMap;

use super::blocks::{Record, signed, text};
use super::records::code;
use crate::bytes::Bytes;
use crate::mpe::cargo::Format;
use crate::mpi;
use crate::problems::{Problems, kind};
use crate::spool::Region;

/// Codes of what a COMMEVT tells.
pub(crate) mod event {
    pub(crate) const WORLD: i32 = 0;
    pub(crate) const OWN: i32 = 1;
    pub(crate) const FREE: i32 = 10;
    pub(crate) const INTRA: i32 = 100;
    /// Of the remote group of an intercommunicator: whoever tells it is no member.
    pub(crate) const REMOTE: i32 = 102;
}

/// Lengths of texts in records.
pub(crate) mod len {
    pub(crate) const COLOUR: usize = 24;
    pub(crate) const NAME: usize = 32;
    pub(crate) const FORMAT: usize = 40;
    /// A number and a time, of which an identity is made besides the host.
    pub(crate) const IDENTITY: usize = 12;
    pub(crate) const HOST: usize = 20;
}

/// A state: what is between two events of a thread.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub region: Region,
    pub name: String,
    /// What its events carry.
    pub format: Format,
}

/// An event that belongs to no state.
#[derive(Clone, Debug)]
pub(super) struct Solo {
    pub name: String,
    pub format: Format,
}

/// What an event is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning<'a> {
    /// The beginning of a state, by its place.
    Start(usize, &'a State),
    Final(usize, &'a State),
    Solo(&'a Solo),
    Unknown,
}

/// All that is known before events are read.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    pub states: Vec<State>,
    starts: BTreeMap<i32, usize>,
    finals: BTreeMap<i32, usize>,
    solos: BTreeMap<i32, Solo>,
    /// Ranks in the world by communicator and rank in it.
    ranks: BTreeMap<(i32, i32), u32>,
    /// The number of the world.
    world: i32,
    /// Hosts by rank in the world.
    hosts: BTreeMap<u32, String>,
    /// Colours of states and events.
    pub colours: u64,
    contradictions: u64,
}

impl Known {
    /// Takes what a definition says; of one number, the first holds.
    pub(super) fn learn(&mut self, record: &Record<'_>) {
        // What a record has is there: its length is its type's.
        let learned = match record.kind.code {
            code::STATE => self.state(record),
            code::EVENT => self.event(record),
            code::COMMUNICATOR => self.member(record),
            _ => Some(()),
        };
        self.contradictions += u64::from(learned.is_none());
    }

    fn state(&mut self, record: &Record<'_>) -> Option<()> {
        let mut rest = record.rest.clone();
        let (_, start, last, _) =
            (signed(&mut rest)?, signed(&mut rest)?, signed(&mut rest)?, signed(&mut rest)?);
        let (name, format) = self.texts(&mut rest)?;
        let name = if name.is_empty() { format!("state {start}") } else { name };
        let place = self.states.len();
        if self.starts.contains_key(&start) && self.finals.contains_key(&last) {
            return Some(());
        }
        self.starts.entry(start).or_insert(place);
        self.finals.entry(last).or_insert(place);
        self.states.push(State { region: mpi::region(&name), name, format });
        Some(())
    }

    fn event(&mut self, record: &Record<'_>) -> Option<()> {
        let mut rest = record.rest.clone();
        let (event, _) = (signed(&mut rest)?, signed(&mut rest)?);
        let (name, format) = self.texts(&mut rest)?;
        let name = if name.is_empty() { unnamed(event) } else { name };
        self.solos.entry(event).or_insert(Solo { name, format });
        Some(())
    }

    /// Name and format behind a colour.
    fn texts(&mut self, rest: &mut Bytes<'_>) -> Option<(String, Format)> {
        let colour = text(rest, len::COLOUR)?;
        self.colours += u64::from(!colour.is_empty());
        Some((text(rest, len::NAME)?, Format::of(&text(rest, len::FORMAT)?)))
    }

    fn member(&mut self, record: &Record<'_>) -> Option<()> {
        let mut rest = record.rest.clone();
        let (event, communicator) = (signed(&mut rest)?, signed(&mut rest)?);
        let (rank, in_world) = (signed(&mut rest)?, signed(&mut rest)?);
        if matches!(event, event::FREE | event::REMOTE) {
            return Some(());
        }
        let in_world = u32::try_from(in_world).ok().filter(|_| rank >= 0)?;
        if event == event::WORLD {
            self.world = communicator;
        }
        if event == event::OWN {
            rest.take(len::IDENTITY)?;
            let host = text(&mut rest, len::HOST)?;
            self.hosts.entry(in_world).or_insert(host);
        }
        let known = *self.ranks.entry((communicator, rank)).or_insert(in_world);
        (known == in_world).then_some(())
    }

    /// Tells what was wrong, once all definitions are known.
    pub(super) fn settle(&self, problems: &mut Problems) {
        let what = "COMMEVT records that contradict others, or name no rank";
        problems.add(kind::DAMAGED, what, self.contradictions);
    }

    pub(super) fn meaning(&self, event: i32) -> Meaning<'_> {
        let state = |place: Option<&usize>| place.and_then(|at| Some((*at, self.states.get(*at)?)));
        if let Some((place, state)) = state(self.starts.get(&event)) {
            return Meaning::Start(place, state);
        }
        if let Some((place, state)) = state(self.finals.get(&event)) {
            return Meaning::Final(place, state);
        }
        self.solos.get(&event).map_or(Meaning::Unknown, Meaning::Solo)
    }

    /// The rank in the world of a rank in a communicator.
    pub(super) fn rank(&self, communicator: i32, rank: i32) -> Option<u32> {
        let known = self.ranks.get(&(communicator, rank)).copied();
        known.or_else(|| u32::try_from(rank).ok().filter(|_| self.is_world(communicator)))
    }

    pub(super) const fn is_world(&self, communicator: i32) -> bool {
        communicator == self.world
    }

    /// Ranks that events of communicators name, in order.
    pub(super) fn world_ranks(&self) -> impl Iterator<Item = u32> {
        self.ranks.range((self.world, 0)..=(self.world, i32::MAX)).map(|it| *it.1)
    }

    /// The members of a communicator by their rank in it; none if not all are known.
    pub(super) fn members(&self, communicator: i32) -> Vec<u32> {
        let named = self.ranks.range((communicator, 0)..=(communicator, i32::MAX));
        let all: Vec<(i32, u32)> = named.map(|((_, rank), in_world)| (*rank, *in_world)).collect();
        let is_whole = (0..).zip(&all).all(|(at, (rank, _))| at == *rank);
        if is_whole { all.into_iter().map(|it| it.1).collect() } else { Vec::new() }
    }

    pub(super) fn host(&self, rank: u32) -> String {
        self.hosts.get(&rank).cloned().unwrap_or_default()
    }
}

/// What an event is called that nothing names.
pub(super) fn unnamed(event: i32) -> String {
    format!("event {event}")
}
