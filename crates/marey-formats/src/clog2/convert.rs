//! What becomes of records.

use std::collections::BTreeMap;

use marey_model::spool::{FieldType, put_bytes, put_signed};

use super::blocks::{Record, signed, text};
use super::known::{Known, Meaning, unnamed};
use super::records::code;
use crate::draft::{Act, Draft, Group, Owner};
use crate::mpe::cargo::Format;
use crate::spool::{Half, Member};
use crate::{Error, mpe};

/// Threads of a process, more than any has; what says more is damaged.
const MOST_THREADS: u32 = 1 << 16;

/// A log on its way into a draft.
#[derive(Debug)]
pub(super) struct Convert<'a> {
    draft: &'a mut Draft,
    known: &'a Known,
    world_size: u32,
    /// Processes by rank in the world.
    processes: BTreeMap<u32, u32>,
    tracks: BTreeMap<(u32, u32), u32>,
    groups: BTreeMap<i32, Option<u32>>,
    regions: Vec<u32>,
}

/// Where and when something happens.
#[derive(Clone, Copy, Debug)]
struct Place {
    track: u32,
    ns: i64,
}

/// A side of a message, as a record has it.
#[derive(Clone, Copy, Debug)]
struct Side {
    event: i32,
    communicator: i32,
    rank: i32,
    tag: i32,
    size: i32,
}

impl<'a> Convert<'a> {
    pub(super) fn new(draft: &'a mut Draft, known: &'a Known, world_size: u32) -> Self {
        let regions = known.states.iter().map(|state| draft.region(&state.region)).collect();
        let (processes, tracks, groups) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut convert = Self { draft, known, world_size, processes, tracks, groups, regions };
        // So processes are in the order of their ranks, whoever has the first event.
        for rank in known.world_ranks() {
            convert.process(rank);
        }
        convert
    }

    /// The process of a rank, if that can be.
    fn process(&mut self, rank: u32) -> Option<u32> {
        if let Some(process) = self.processes.get(&rank) {
            return Some(*process);
        }
        if self.world_size <= rank {
            return None;
        }
        let owner = Owner { host: self.known.host(rank), rank: Some(rank), ..Owner::default() };
        let process = self.draft.process(owner);
        self.processes.insert(rank, process);
        Some(process)
    }

    fn track(&mut self, record: &Record<'_>) -> Option<u32> {
        let rank = self.known.rank(record.communicator, record.rank)?;
        let thread = u32::try_from(record.thread).ok().filter(|thread| *thread < MOST_THREADS)?;
        if let Some(track) = self.tracks.get(&(rank, thread)) {
            return Some(*track);
        }
        let process = self.process(rank)?;
        let track = self.draft.track(process, &format!("thread {thread}"));
        self.tracks.insert((rank, thread), track);
        Some(track)
    }

    /// Notes what a record says.
    ///
    /// # Errors
    /// If what does not fit into memory cannot be written.
    pub(super) fn record(&mut self, record: &Record<'_>) -> Result<(), Error> {
        if record.kind.is_definition {
            return Ok(());
        }
        let Some(ns) = mpe::nanoseconds(record.seconds) else {
            self.draft.trouble("records whose time is no time");
            return Ok(());
        };
        let Some(track) = self.track(record) else {
            self.draft.trouble("records of ranks or threads that are not in the world");
            return Ok(());
        };
        let place = Place { track, ns };
        // Each record is as long as its type, so all of it is there.
        let noted = match record.kind.code {
            code::BARE | code::CARGO => self.event(place, record),
            code::MESSAGE => self.message(place, record),
            code::COLLECTIVE => self.collective(place, record),
            code::SOURCE => self.source(place, record),
            code::SHIFT => self.shift(place, record),
            _ => None,
        };
        noted.unwrap_or(Ok(()))
    }

    fn event(&mut self, Place { track, ns }: Place, record: &Record<'_>) -> Option<Result<(), Error>> {
        let mut rest = record.rest.clone();
        let (event, _) = (signed(&mut rest)?, signed(&mut rest)?);
        let cargo = rest.take(rest.left())?;
        let known = self.known;
        let region = |place: usize| self.regions.get(place).copied();
        Some(match known.meaning(event) {
            Meaning::Start(place, state) => {
                let enter = Act::Enter { region: region(place)? };
                self.draft.add(track, ns, &enter).and_then(|()| {
                    let fields = state.format.unpack(cargo);
                    let Some((kind, as_event)) = self.fact(&state.name, &fields.kinds) else { return Ok(()) };
                    self.draft.also(track, &Act::Fact { kind, as_event, fields: &fields.bytes })
                })
            }
            Meaning::Final(place, state) => {
                let leave = Act::Leave { region: Some(region(place)?) };
                let fields = state.format.unpack(cargo);
                let Some((kind, as_event)) = self.fact(&state.name, &fields.kinds) else {
                    return Some(self.draft.add(track, ns, &leave));
                };
                let fact = Act::Fact { kind, as_event, fields: &fields.bytes };
                self.draft.add(track, ns, &fact).and_then(|()| self.draft.also(track, &leave))
            }
            Meaning::Solo(solo) => {
                let fields = solo.format.unpack(cargo);
                self.keep(Place { track, ns }, &solo.name, &fields.kinds, &fields.bytes)
            }
            Meaning::Unknown => {
                let format = Format::default();
                let fields = format.unpack(cargo);
                self.keep(Place { track, ns }, &unnamed(event), &fields.kinds, &fields.bytes)
            }
        })
    }

    /// The kinds of a fact about a state's region, if there is any.
    fn fact(&mut self, name: &str, fields: &[(&str, FieldType)]) -> Option<(u32, u32)> {
        if fields.is_empty() {
            return None;
        }
        Some((self.draft.kind(name, true, fields)?, self.draft.kind(name, false, fields)?))
    }

    /// Keeps what describes itself.
    fn keep(
        &mut self,
        Place { track, ns }: Place,
        name: &str,
        kinds: &[(&str, FieldType)],
        fields: &[u8],
    ) -> Result<(), Error> {
        let Some(kind) = self.draft.kind(name, false, kinds) else {
            self.draft.trouble("events of more kinds than can be told apart");
            return Ok(());
        };
        self.draft.add(track, ns, &Act::Event { kind, fields })
    }

    fn message(&mut self, place: Place, record: &Record<'_>) -> Option<Result<(), Error>> {
        let mut rest = record.rest.clone();
        let side = Side {
            event: signed(&mut rest)?,
            communicator: signed(&mut rest)?,
            rank: signed(&mut rest)?,
            tag: signed(&mut rest)?,
            size: signed(&mut rest)?,
        };
        let (communicator, peer) = match self.channel(record.communicator, side) {
            Ok(channel) => channel,
            Err(why) => {
                self.draft.trouble(why);
                return Some(Ok(()));
            }
        };
        let bytes = u64::try_from(side.size).unwrap_or_else(|_| {
            self.draft.trouble("messages with a negative size");
            0
        });
        let half = Half { communicator, peer: peer.into(), tag: side.tag.into(), bytes };
        let act = match i64::from(side.event) {
            mpe::SEND => Act::Send(half),
            mpe::RECEIVE => Act::Receive(half),
            _ => {
                self.draft.trouble("messages that are neither sent nor received");
                return Some(Ok(()));
            }
        };
        Some(self.draft.add(place.track, place.ns, &act))
    }

    /// The communicator that a message goes through, and the other side's rank in it.
    fn channel(&mut self, own: i32, side: Side) -> Result<(u32, u32), &'static str> {
        const NOWHERE: &str = "messages from or to a rank that is not in their communicator";
        if side.communicator != own {
            // Between two groups, which only the world has both of.
            return Ok((0, self.known.rank(side.communicator, side.rank).ok_or(NOWHERE)?));
        }
        let Some(group) = self.group(own) else {
            return Err("messages on communicators whose members are not known");
        };
        let in_world = self.known.rank(own, side.rank).ok_or(NOWHERE)?;
        if self.world_size <= in_world {
            return Err(NOWHERE);
        }
        Ok((group, u32::try_from(side.rank).map_err(|_| NOWHERE)?))
    }

    /// The number of a communicator in the draft, if its members are known.
    fn group(&mut self, communicator: i32) -> Option<u32> {
        if self.known.is_world(communicator) {
            return Some(0);
        }
        if let Some(group) = self.groups.get(&communicator) {
            return *group;
        }
        let members = self.known.members(communicator);
        let name = format!("communicator {communicator}");
        let group = (!members.is_empty()).then(|| self.draft.group(Group { name, members }));
        self.groups.insert(communicator, group);
        group
    }

    fn collective(&mut self, place: Place, record: &Record<'_>) -> Option<Result<(), Error>> {
        let mut rest = record.rest.clone();
        let (event, root, size) = (signed(&mut rest)?, signed(&mut rest)?, signed(&mut rest)?);
        let bytes = u64::try_from(size).ok();
        if let (Some(communicator), Some(bytes_out)) = (self.group(record.communicator), bytes) {
            let root = i64::from(root).max(-1);
            let member = Member { communicator, root, bytes_out, bytes_in: 0 };
            return Some(self.draft.add(place.track, place.ns, &Act::Collective(member)));
        }
        const KINDS: &[(&str, FieldType)] =
            &[("event", FieldType::Signed), ("root", FieldType::Signed), ("bytes", FieldType::Signed)];
        let mut fields = Vec::new();
        for value in [event, root, size] {
            put_signed(&mut fields, value.into());
        }
        Some(self.keep(place, "COLLEVT", KINDS, &fields))
    }

    fn source(&mut self, place: Place, record: &Record<'_>) -> Option<Result<(), Error>> {
        const KINDS: &[(&str, FieldType)] =
            &[("id", FieldType::Signed), ("line", FieldType::Signed), ("file", FieldType::Text)];
        let mut rest = record.rest.clone();
        let mut fields = Vec::new();
        put_signed(&mut fields, signed(&mut rest)?.into());
        put_signed(&mut fields, signed(&mut rest)?.into());
        let len = rest.left();
        put_bytes(&mut fields, text(&mut rest, len)?.as_bytes());
        Some(self.keep(place, record.kind.name, KINDS, &fields))
    }

    fn shift(&mut self, place: Place, record: &Record<'_>) -> Option<Result<(), Error>> {
        let seconds = f64::from_bits(record.rest.clone().u64()?);
        Some(self.keep(place, record.kind.name, &[("seconds", FieldType::Real)], &seconds.to_le_bytes()))
    }
}
