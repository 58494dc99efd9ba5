//! The events of a location, decoded one after the other.
//!
//! The one idea: an event is its code, its time on the common clock, and its fields in the order of the table, with the
//! numbers that they have in the whole archive. What could not be decoded is counted, and passed over.

use super::Archive;
use super::chunks::{Chunks, Content, Packed};
use super::definitions::Clock;
use super::local::{Local, Numbered};
use super::records::{self, Field, Kind, code};
use crate::Error;
use crate::bytes::Bytes;
use crate::problems::{Problems, kind};

/// Fields that a record has at most.
const FIELDS: usize = 6;

/// A value beside an event.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Beside {
    /// Of an attribute its number, of a metric which member it is of.
    pub number: u32,
    /// Code of its type.
    pub kind: u8,
    /// Its bits.
    pub value: u64,
}

/// An event.
#[derive(Clone, Debug, Default)]
pub(super) struct Event {
    pub code: u8,
    pub ns: u64,
    values: [u64; FIELDS],
    len: usize,
    /// Values of metrics, or the arguments of a program.
    pub list: Vec<Beside>,
    pub attributes: Vec<Beside>,
}

impl Event {
    /// A field; all ones if it is not there, as what is undefined.
    pub(super) const fn value(&self, at: usize) -> u64 {
        if at < self.len { self.values[at] } else { u64::MAX }
    }

    /// The same, if it fits.
    pub(super) fn word(&self, at: usize) -> u32 {
        u32::try_from(self.value(at)).unwrap_or(u32::MAX)
    }

    /// Its fields, as many as there are.
    pub(super) fn values(&self) -> &[u64] {
        &self.values[..self.len]
    }
}

/// A location whose events are being read.
pub(super) struct Lane {
    pub location: u64,
    pub thread: usize,
    chunks: Option<Chunks>,
    local: Local,
    clock: Clock,
    /// Records that are of no known kind, or too short.
    too_short: u64,
    before_begin: u64,
    /// Damage that was told of.
    n_told: u64,
}

impl Lane {
    pub(super) fn open(archive: &Archive, location: u64, thread: usize) -> Result<Self, Error> {
        let local = Local::read(&archive.local(location), archive.anchor.definition_chunk)?;
        let chunks = Chunks::open(&archive.events(location), Content::Events, archive.anchor.event_chunk)?;
        let clock = archive.definitions.clock;
        Ok(Self { location, thread, chunks, local, clock, too_short: 0, before_begin: 0, n_told: 0 })
    }

    /// Decodes the next event into `event`; false behind the last one.
    pub(super) fn next(&mut self, event: &mut Event) -> Result<bool, Error> {
        let Some(chunks) = self.chunks.as_mut() else { return Ok(false) };
        loop {
            let Some(raw) = chunks.next()? else { return Ok(false) };
            let ticks = self.local.corrected(raw.ticks);
            self.before_begin += u64::from(ticks < self.clock.begin);
            event.ns = self.clock.ns(ticks);
            (event.code, event.len) = (raw.kind, 0);
            event.list.clear();
            event.attributes.clear();
            if let Some(attributes) = raw.attributes
                && read_attributes(attributes, &self.local, &mut event.attributes).is_none()
            {
                self.too_short += 1;
            }
            // One of a later version of OTF2 is counted by its code.
            let Some(known) = records::of(raw.kind) else { return Ok(true) };
            let mut body = raw.body;
            let is_whole = read_fields(known, &mut body, &self.local, event).is_some();
            if known.fields.first().is_some_and(|field| field.1 == Field::Ticks) {
                event.values[0] = self.clock.ns(self.local.corrected(event.values[0]));
            }
            let len = body.at;
            match (known.is_single, is_whole) {
                (true, true) => chunks.skip(len),
                (true, false) => {
                    chunks.leave("a record does not fit into its chunk");
                    continue;
                }
                (false, true) => {}
                (false, false) => {
                    self.too_short += 1;
                    continue;
                }
            }
            return Ok(true);
        }
    }

    /// Whether something could not be read since it was asked last: then events are missing.
    pub(super) fn take_damage(&mut self) -> bool {
        let n_damaged = self.chunks.as_ref().map_or(0, |chunks| chunks.n_damaged) + self.too_short;
        std::mem::replace(&mut self.n_told, n_damaged) != n_damaged
    }

    /// Bytes read since it was asked last.
    pub(super) fn take_read(&mut self) -> u64 {
        self.chunks.as_mut().map_or(0, Chunks::take_read)
    }

    /// What was wrong with its files.
    pub(super) fn tell(&self, archive: &Archive, problems: &mut Problems) {
        let events = archive.events(self.location);
        let shown = events.display();
        let Some(chunks) = &self.chunks else {
            problems.add(kind::MISSING, format!("{shown} is not there: events of that location"), 1);
            return;
        };
        if let Some((at, why)) = chunks.damage {
            problems.add(kind::DAMAGED, format!("{shown}: from byte {at} on: {why}"), chunks.n_damaged);
        }
        problems.add(kind::DAMAGED, format!("{shown}: records that end too early"), self.too_short);
        let own = archive.local(self.location);
        problems.add(
            kind::DAMAGED,
            format!("{}: definitions that cannot be read", own.display()),
            self.local.damaged,
        );
        let early = format!("{shown}: events before the trace begins, which are taken for its first");
        problems.add(kind::DAMAGED, early, self.before_begin);
    }
}

/// Reads the fields that are there; `None` if one is cut off.
fn read_fields(known: &Kind, body: &mut Bytes<'_>, local: &Local, event: &mut Event) -> Option<()> {
    for (at, (_, field)) in known.fields.iter().enumerate() {
        // Earlier versions wrote fewer fields.
        if body.left() == 0 && at > 0 {
            break;
        }
        event.values[at] = match field {
            Field::Byte => body.u8()?.into(),
            Field::Word => body.packed32()?.into(),
            Field::Long | Field::Signed => body.packed64()?,
            Field::Ticks => body.u64()?,
            Field::Of(numbered) => local.global(*numbered, body.packed32()?).into(),
        };
        event.len = at + 1;
    }
    match known.code {
        code::METRIC => {
            // Each is a type and a value.
            for number in 0..event.word(1) {
                event.list.push(Beside { number, kind: body.u8()?, value: body.packed64()? });
            }
        }
        code::PROGRAM_BEGIN => {
            let len = usize::try_from(event.value(1)).ok().filter(|len| *len <= body.left())?;
            for _ in 0..len {
                let value = local.global(Numbered::String, body.packed32()?).into();
                event.list.push(Beside { number: 0, kind: 0, value });
            }
        }
        _ => {}
    }
    Some(())
}

/// Types of values.
pub(super) mod value {
    pub(crate) const F32: u8 = 9;
    pub(crate) const F64: u8 = 10;
    pub(crate) const STRING: u8 = 11;
    pub(crate) const SIGNED: std::ops::RangeInclusive<u8> = 5..=8;
}

/// What a value of a type is the number of.
const fn numbered(kind: u8) -> Option<Numbered> {
    Some(match kind {
        12 => Numbered::Attribute,
        14 => Numbered::Region,
        15 => Numbered::Group,
        16 => Numbered::Metric,
        17 => Numbered::Communicator,
        18 => Numbered::Parameter,
        19 => Numbered::Window,
        20 => Numbered::SourceLocation,
        21 => Numbered::Context,
        22 => Numbered::Generator,
        23 => Numbered::File,
        24 => Numbered::Handle,
        25 => Numbered::LocationGroup,
        _ => return None,
    })
}

fn read_attributes(mut body: Bytes<'_>, local: &Local, attributes: &mut Vec<Beside>) -> Option<()> {
    let len = body.packed32()? as usize;
    if body.left() < len {
        return None;
    }
    for _ in 0..len {
        let number = local.global(Numbered::Attribute, body.packed32()?);
        let kind = body.u8()?;
        let value = match kind {
            1 => body.u8()?.into(),
            5 => i64::from(body.u8()?.cast_signed()).cast_unsigned(),
            2 => body.short(2)?,
            6 => i64::from(u16::try_from(body.short(2)?).ok()?.cast_signed()).cast_unsigned(),
            3 => body.packed32()?.into(),
            12 | 14..=25 => {
                let number = body.packed32()?;
                numbered(kind).map_or(number, |of| local.global(of, number)).into()
            }
            7 => i64::from(body.packed32()?.cast_signed()).cast_unsigned(),
            4 | 8 | 13 => body.packed64()?,
            value::F32 => f64::from(f32::from_bits(body.u32()?)).to_bits(),
            value::F64 => body.u64()?,
            value::STRING => local.global(Numbered::String, body.packed32()?).into(),
            _ => return None,
        };
        attributes.push(Beside { number, kind, value });
    }
    Some(())
}
