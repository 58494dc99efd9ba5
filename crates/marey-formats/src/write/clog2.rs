//! CLOG-2, the format of MPE2, for Jumpshot.
//!
//! The one idea: records of all processes in one stream, in the order of time, definitions first, in blocks that are written
//! when they are full. The preamble is written again at the end, once it is known where the blocks end.
//!
//! * [`blocks`]: records in blocks. * [`groups`]: communicators. * [`texts`]: names of few bytes.
//!   * [`table`]: what becomes of what.
//!
//! Source of the layout: MPE2's writer. Deliberately absent: formats of data other than one field.

mod blocks;
mod groups;
mod table;
mod texts;

use std::path::Path;

use marey_model::{LocationId, Nanos, RegionId, Role};

use self::blocks::{Blocks, Head, fixed};
use self::groups::Groups;
pub(super) use self::table::document;
use self::texts::Names;
use super::brief::Brief;
use super::event::{Event, Message, Part, What};
use super::ranks::Ranks;
use super::{Definitions, Tally, Writer, Written, names};
use crate::Error;
use crate::clog2::{code, len};
use crate::mpe::{RECEIVE, SEND};

/// The first event that is not MPE's own.
const FIRST: usize = 600;
/// Bytes that an event can carry.
const CARGO: usize = 32;

pub(super) struct Clog2<'a> {
    run: &'a Definitions<'a>,
    blocks: Blocks,
    ranks: Ranks,
    groups: Groups,
    brief: Brief,
    tally: Tally,
}

impl<'a> Clog2<'a> {
    pub(super) fn create(run: &'a Definitions<'a>, out: &Path) -> Result<Self, Error> {
        let ranks = Ranks::new(run.trace);
        let mut it = Self {
            run,
            blocks: Blocks::create(out)?,
            groups: Groups::new(run, &ranks),
            ranks,
            brief: Brief::default(),
            tally: Tally::default(),
        };
        it.definitions()?;
        Ok(it)
    }

    fn definitions(&mut self) -> Result<(), Error> {
        for member in self.groups.told() {
            self.blocks.record(Head::default(), code::COMMUNICATOR, &member)?;
        }
        let trace = self.run.trace;
        let mut known = Names::default();
        let regions = trace.regions().iter().map(|region| (names::region(region), colour(region.role)));
        for (number, (name, colour)) in (0..).zip(regions.chain([("(unknown region)", colour(Role::Manage))]))
        {
            let mut bytes = Vec::new();
            for value in [number, start(number), start(number) + 1, 0] {
                bytes.extend(value.to_be_bytes());
            }
            bytes.extend(texts(colour, &known.short(name), ""));
            self.blocks.record(Head::default(), code::STATE, &bytes)?;
        }
        let mut known_events = Names::default();
        let own = [("heap peak", "bytes=%l"), ("(unknown event)", "fields=%s")].into_iter();
        let counters = trace.counters().iter().map(|it| (it.name.as_str(), "value=%E"));
        let kinds = self.run.event_kinds.iter().map(|it| (it.as_str(), "fields=%s"));
        for (number, (name, format)) in (self.first()..).zip(own.chain(counters).chain(kinds)) {
            let mut bytes = Vec::from(number.to_be_bytes());
            bytes.extend(0_i32.to_be_bytes());
            bytes.extend(texts("white", &known_events.short(name), format));
            self.blocks.record(Head::default(), code::EVENT, &bytes)?;
        }
        for _ in 0..known.cut + known_events.cut {
            self.tally.left_out("ends of names longer than 31 bytes");
        }
        Ok(())
    }

    /// The number of the first event that is no state's.
    fn first(&self) -> i32 {
        start(small(self.run.trace.regions().len() + 1))
    }

    fn counter(&self, number: u32) -> i32 {
        let known = usize::try_from(number).ok().filter(|at| *at < self.run.trace.counters().len());
        self.first() + small(known.map_or(1, |at| 2 + at))
    }

    fn kind(&self, number: u32) -> i32 {
        let known = usize::try_from(number).ok().filter(|at| *at < self.run.event_kinds.len());
        self.first() + small(known.map_or(1, |at| 2 + self.run.trace.counters().len() + at))
    }

    fn region(&self, what: &What) -> u32 {
        let unknown = u32::try_from(self.run.trace.regions().len()).unwrap_or(u32::MAX);
        let (What::Enter(visit) | What::Leave(visit) | What::Visit(visit)) = what else { return unknown };
        names::region_of(self.run.trace, visit.path).map_or(unknown, |RegionId(id)| id.min(unknown))
    }

    /// Where and when something happens, in the world.
    fn head(&self, (location, time): (LocationId, Nanos)) -> Head {
        let (rank, thread) = self.ranks.place(location);
        Head { time, communicator: 0, rank: number(rank), thread: number(thread) }
    }

    fn bare(&mut self, at: (LocationId, Nanos), region: u32, is_end: bool) -> Result<(), Error> {
        let event = start(number(region)) + i32::from(is_end);
        let mut bytes = Vec::from(event.to_be_bytes());
        bytes.extend(0_i32.to_be_bytes());
        self.blocks.record(self.head(at), code::BARE, &bytes)
    }

    fn leave_brief(&mut self, left: Option<(LocationId, Nanos, u32)>) -> Result<(), Error> {
        left.map_or(Ok(()), |(location, time, region)| self.bare((location, time), region, true))
    }

    /// An event with what it carries, as much as there is room for.
    fn carry(&mut self, event: &Event, of: i32, cargo: &[u8]) -> Result<(), Error> {
        self.tally.event(&event.what);
        let mut bytes = Vec::from(of.to_be_bytes());
        bytes.extend(0_i32.to_be_bytes());
        bytes.extend(fixed(cargo, CARGO));
        let head = self.head((event.key.location, event.key.time));
        self.blocks.record(head, code::CARGO, &bytes)
    }

    fn instant(&mut self, event: &Event, kind: u32, fields: &str) -> Result<(), Error> {
        let text = names::one_line(&names::fields(fields));
        let part = &text[..text.floor_char_boundary(CARGO - 2)];
        if part.len() < text.len() {
            self.tally.left_out("ends of fields of events longer than 30 bytes");
        }
        let mut cargo = Vec::from(i16::try_from(part.len()).unwrap_or(0).to_be_bytes());
        cargo.extend(part.as_bytes());
        self.carry(event, self.kind(kind), &cargo)
    }

    fn message(&mut self, event: &Event, message: &Message) -> Result<(), Error> {
        let (Some((from, _)), Some((to, _))) = (message.sent, message.received) else {
            self.tally.left_out("messages of which one end is not known");
            return Ok(());
        };
        self.tally.event(&event.what);
        let (is_send, own) = (matches!(event.what, What::Send(_)), event.key.location);
        let (kind, peer) = if is_send { (SEND, to) } else { (RECEIVE, from) };
        let mut head = self.head((own, event.key.time));
        let mut peer_rank = number(self.ranks.place(peer).0);
        let process = |of: LocationId| self.run.trace.locations().get(of.idx()).map(|it| it.process);
        let both = process(own).zip(process(peer));
        let channel = both.and_then(|(own, peer)| {
            let own = self.groups.rank(message.communicator, own)?;
            Some((own, self.groups.rank(message.communicator, peer)?))
        });
        // Between two groups, or where members are not known, the world has both.
        if let Some(((communicator, own), (_, peer))) = channel {
            (head.communicator, head.rank, peer_rank) = (communicator, own, peer);
        }
        let (tag, size) = (i32::try_from(message.tag), i32::try_from(message.bytes));
        if tag.is_err() || size.is_err() {
            self.tally.left_out("tags and sizes of messages beyond 31 bits");
        }
        let size = size.unwrap_or(i32::MAX);
        let mut bytes = Vec::new();
        let kind = i32::try_from(kind).unwrap_or(0);
        for value in [kind, head.communicator, peer_rank, tag.unwrap_or(i32::MAX), size, 0] {
            bytes.extend(value.to_be_bytes());
        }
        self.blocks.record(head, code::MESSAGE, &bytes)
    }

    fn part(&mut self, event: &Event, part: &Part) -> Result<(), Error> {
        let mut head = self.head((event.key.location, event.key.time));
        let own = self.run.trace.locations().get(event.key.location.idx()).map(|it| it.process);
        let Some((communicator, rank)) = own.and_then(|own| self.groups.rank(part.communicator, own)) else {
            self.tally.left_out("parts in collectives of which not all members are known");
            return Ok(());
        };
        self.tally.event(&event.what);
        (head.communicator, head.rank) = (communicator, rank);
        let region = part.path.and_then(|path| names::region_of(self.run.trace, path));
        let region = region.map_or_else(|| small(self.run.trace.regions().len()), |it| number(it.0));
        let root = part.root.map_or(-1, number);
        let size = i32::try_from(part.bytes_out).unwrap_or(i32::MAX);
        if u64::try_from(size) != Ok(part.bytes_out) {
            self.tally.left_out("sizes of collectives beyond 31 bits");
        }
        let mut bytes = Vec::new();
        for value in [start(region), root, size, 0] {
            bytes.extend(value.to_be_bytes());
        }
        self.blocks.record(head, code::COLLECTIVE, &bytes)
    }
}

/// Colour, name and format as definitions have them.
fn texts(colour: &str, name: &str, format: &str) -> Vec<u8> {
    let fields = [(colour, len::COLOUR), (name, len::NAME), (format, len::FORMAT)];
    fields.iter().flat_map(|(text, len)| fixed(text.as_bytes(), *len)).collect()
}

/// The event that begins a state.
fn start(state: i32) -> i32 {
    small(FIRST).saturating_add(state.saturating_mul(2))
}

fn small(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

fn number(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

impl Writer for Clog2<'_> {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        let left = self.brief.left_before(event);
        self.leave_brief(left)?;
        let at = (event.key.location, event.key.time);
        match &event.what {
            What::Enter(_) => {
                self.tally.event(&event.what);
                self.bare(at, self.region(&event.what), false)
            }
            What::Leave(_) => self.bare(at, self.region(&event.what), true),
            What::Visit(_) => {
                self.tally.event(&event.what);
                let region = self.region(&event.what);
                self.brief.enter(event, region);
                self.bare(at, region, false)
            }
            What::Receive(message) if message.sent.is_some() && message.received.is_none() => Ok(()),
            What::Send(message) | What::Receive(message) => self.message(event, message),
            What::Collective(part) => self.part(event, part),
            What::Instant { kind, fields } => self.instant(event, *kind, fields),
            What::Counter { counter, value } => {
                self.carry(event, self.counter(*counter), &value.to_be_bytes())
            }
            What::HeapPeak { bytes } => self.carry(event, self.first(), &bytes.to_be_bytes()),
            What::Begin(_) => {
                self.tally.left_out("states that overlap others");
                Ok(())
            }
            What::Effect(_) => {
                self.tally.left_out("edges");
                Ok(())
            }
            What::End(_) | What::Cause(_) => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written, Error> {
        let left = self.brief.left_at_end();
        self.leave_brief(left)?;
        let (states, world) = (self.run.trace.regions().len() + 1, self.groups.world_size());
        let solos = 2 + self.run.trace.counters().len() + self.run.event_kinds.len();
        let threads = self.ranks.most_threads();
        let this = *self;
        let path =
            this.blocks.finish(&this.groups.table(), &blocks::Facts { states, solos, world, threads })?;
        Ok(this.tally.finish(vec![path]))
    }
}

const fn colour(role: Role) -> &'static str {
    match role {
        Role::Work => "blue",
        Role::Transfer => "orange",
        Role::Wait | Role::Acquire | Role::Release => "red",
        Role::Barrier | Role::AllToAll | Role::OneToAll | Role::AllToOne => "purple",
        Role::Io => "yellow",
        Role::Create | Role::Start | Role::End | Role::Manage => "gray",
    }
}
