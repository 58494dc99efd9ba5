//! The definitions of the whole archive: what numbers in events mean.
//!
//! The one idea: they are read into maps by number and looked at later, so their order is no matter, and one that is
//! missing is a name that is missing.
//!
//! Deliberately absent: call sites and call paths, which no event names; coordinates of topologies.

use std::collections::BTreeMap;
use std::path::Path;

use rustc_hash::FxHashMap;

use super::chunks::{Chunks, Content, Packed};
use super::paradigm;
use crate::bytes::Bytes;
use crate::problems::{self, Problems};
use crate::{Error, Fate};

/// The clock of the archive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Ticks in a second.
    pub resolution: u64,
    /// Where the trace begins, ticks.
    pub begin: u64,
    /// The same on the calendar, ns since 1970; 0 if unknown.
    pub realtime_ns: u64,
}

impl Clock {
    /// A time in ns since the trace begins.
    pub(super) fn ns(&self, ticks: u64) -> u64 {
        const SECOND: u64 = 1_000_000_000;
        let ticks = ticks.saturating_sub(self.begin);
        let (whole, rest) = (ticks / self.resolution, ticks % self.resolution);
        let rest = u128::from(rest) * u128::from(SECOND) / u128::from(self.resolution);
        whole.saturating_mul(SECOND).saturating_add(u64::try_from(rest).unwrap_or(0))
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub name: u32,
    class: u32,
    parent: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct LocationGroup {
    node: u32,
    /// The process whose device it is.
    of: Option<u32>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Location {
    pub name: u32,
    pub group: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Region {
    pub name: u32,
    pub file: u32,
    pub line: u32,
    pub role: u8,
    pub paradigm: u8,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub members: Vec<u64>,
    pub kind: u8,
    pub paradigm: u8,
}

/// An intracommunicator, or with a second group an intercommunicator.
#[derive(Clone, Debug, Default)]
pub(super) struct Communicator {
    pub name: u32,
    pub group: u32,
    pub second: Option<u32>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Metric {
    pub name: u32,
    pub unit: u32,
    /// Values are to be multiplied by this.
    pub scale: f64,
}

/// The type of groups of locations that are streams of a device.
const ACCELERATOR: u8 = 2;
/// The type of groups of locations that take part in communication.
pub(super) const COMM_LOCATIONS: u8 = 4;

/// A kind of definition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub code: u8,
    pub name: &'static str,
    pub fate: Fate,
    /// What it is in a run.
    pub becomes: &'static str,
}

use Fate::{Ignored, Mapped};

const fn kind(code: u8, name: &'static str, fate: Fate, becomes: &'static str) -> Kind {
    Kind { code, name, fate, becomes }
}

/// All kinds of global definitions. Source: the functions of `OTF2_GlobalDefWriter.h` of OTF2 3.0.2, in whose order they are
/// numbered.
pub(super) const KINDS: [Kind; 38] = [
    kind(5, "ClockProperties", Mapped, "times, and the date of the run"),
    kind(6, "Paradigm", Ignored, ""),
    kind(7, "ParadigmProperty", Ignored, ""),
    kind(8, "IoParadigm", Ignored, ""),
    kind(10, "String", Mapped, "names"),
    kind(11, "Attribute", Mapped, "names of facts about regions"),
    kind(12, "SystemTreeNode", Mapped, "the host of a process: the innermost node of the class `node`"),
    kind(13, "LocationGroup", Mapped, "processes"),
    kind(14, "Location", Mapped, "threads and streams of a process"),
    kind(
        15,
        "Region",
        Mapped,
        "regions: level by the paradigm, role by the name of a function of MPI, else by the role",
    ),
    kind(16, "Callsite", Ignored, ""),
    kind(17, "Callpath", Ignored, ""),
    kind(18, "Group", Mapped, "ranks, members of communicators"),
    kind(19, "MetricMember", Mapped, "counters with their units"),
    kind(20, "MetricClass", Mapped, "which counters a record has"),
    kind(21, "MetricInstance", Mapped, "the same"),
    kind(22, "Comm", Mapped, "communicators of MPI"),
    kind(23, "Parameter", Mapped, "names of facts about regions"),
    kind(24, "RmaWin", Ignored, ""),
    kind(25, "MetricClassRecorder", Ignored, ""),
    kind(26, "SystemTreeNodeProperty", Ignored, ""),
    kind(27, "SystemTreeNodeDomain", Ignored, ""),
    kind(28, "LocationGroupProperty", Ignored, ""),
    kind(29, "LocationProperty", Ignored, ""),
    kind(30, "CartDimension", Ignored, ""),
    kind(31, "CartTopology", Ignored, ""),
    kind(32, "CartCoordinate", Ignored, ""),
    kind(33, "SourceCodeLocation", Ignored, ""),
    kind(34, "CallingContext", Mapped, "which regions are open"),
    kind(35, "CallingContextProperty", Ignored, ""),
    kind(36, "InterruptGenerator", Ignored, ""),
    kind(37, "IoFileProperty", Ignored, ""),
    kind(38, "IoRegularFile", Ignored, ""),
    kind(39, "IoDirectory", Ignored, ""),
    kind(40, "IoHandle", Ignored, ""),
    kind(41, "IoPreCreatedHandleState", Ignored, ""),
    kind(42, "CallpathParameter", Ignored, ""),
    kind(43, "InterComm", Mapped, "communicators between two groups"),
];

/// All of them.
#[derive(Debug)]
pub(super) struct Definitions {
    pub clock: Clock,
    strings: FxHashMap<u32, String>,
    nodes: FxHashMap<u32, Node>,
    pub groups_of_locations: BTreeMap<u32, LocationGroup>,
    pub locations: BTreeMap<u64, Location>,
    pub regions: FxHashMap<u32, Region>,
    pub groups: BTreeMap<u32, Group>,
    /// Those of locations that communicate, in which places others have members: eztrace gives them numbers of other groups.
    pub communicating: Vec<Group>,
    pub communicators: BTreeMap<u32, Communicator>,
    pub metrics: FxHashMap<u32, Metric>,
    /// Members of each class of metrics, and the class of each instance.
    pub classes: FxHashMap<u32, Vec<u32>>,
    pub instances: FxHashMap<u32, u32>,
    /// Names.
    pub attributes: FxHashMap<u32, u32>,
    pub parameters: FxHashMap<u32, u32>,
    /// Region and parent of each calling context.
    pub contexts: FxHashMap<u32, (u32, u32)>,
    /// Definitions by type.
    pub counts: BTreeMap<u8, u64>,
}

/// Types of records, as far as they are looked at.
mod record {
    pub(super) const CLOCK: u8 = 5;
    pub(super) const STRING: u8 = 10;
    pub(super) const ATTRIBUTE: u8 = 11;
    pub(super) const NODE: u8 = 12;
    pub(super) const LOCATION_GROUP: u8 = 13;
    pub(super) const LOCATION: u8 = 14;
    pub(super) const REGION: u8 = 15;
    pub(super) const GROUP: u8 = 18;
    pub(super) const METRIC: u8 = 19;
    pub(super) const METRIC_CLASS: u8 = 20;
    pub(super) const METRIC_INSTANCE: u8 = 21;
    pub(super) const COMMUNICATOR: u8 = 22;
    pub(super) const PARAMETER: u8 = 23;
    pub(super) const CONTEXT: u8 = 34;
    pub(super) const INTERCOMMUNICATOR: u8 = 43;
}

impl Definitions {
    /// Reads the file of global definitions.
    pub(super) fn read(path: &Path, chunk_len: u64, found: &mut Problems) -> Result<Self, Error> {
        let Some(mut chunks) = Chunks::open(path, Content::Definitions, chunk_len)? else {
            let source = std::io::ErrorKind::NotFound.into();
            return Err(Error::Read { path: path.to_owned(), source });
        };
        let mut all = Self {
            clock: Clock { resolution: 0, begin: 0, realtime_ns: 0 },
            strings: FxHashMap::default(),
            nodes: FxHashMap::default(),
            groups_of_locations: BTreeMap::new(),
            locations: BTreeMap::new(),
            regions: FxHashMap::default(),
            groups: BTreeMap::new(),
            communicating: Vec::new(),
            communicators: BTreeMap::new(),
            metrics: FxHashMap::default(),
            classes: FxHashMap::default(),
            instances: FxHashMap::default(),
            attributes: FxHashMap::default(),
            parameters: FxHashMap::default(),
            contexts: FxHashMap::default(),
            counts: BTreeMap::new(),
        };
        let shown = path.display();
        while let Some(raw) = chunks.next()? {
            *all.counts.entry(raw.kind).or_default() += 1;
            let known = all.define(raw.kind, raw.body);
            if known.is_none() {
                let place = chunks.offset();
                found.add(
                    problems::kind::DAMAGED,
                    format!("{shown}: the definition before byte {place} ends too early"),
                    1,
                );
            }
        }
        if let Some((at, why)) = chunks.damage {
            found.add(
                problems::kind::DAMAGED,
                format!("{shown}: from byte {at} on: {why}"),
                chunks.n_damaged,
            );
        }
        if all.clock.resolution == 0 {
            found.add(problems::kind::MISSING, format!("{shown}: no clock; ticks are taken for ns"), 1);
            all.clock.resolution = 1_000_000_000;
        }
        Ok(all)
    }

    fn define(&mut self, kind: u8, mut body: Bytes<'_>) -> Option<()> {
        let body = &mut body;
        match kind {
            record::CLOCK => {
                let (resolution, begin) = (body.packed64()?, body.packed64()?);
                // Added in version 2 of the definition.
                let realtime = body.packed64().and_then(|_| body.packed64());
                let realtime_ns = realtime.filter(|it| *it != u64::MAX).unwrap_or(0);
                self.clock = Clock { resolution, begin, realtime_ns };
            }
            record::STRING => {
                let id = body.packed32()?;
                self.strings.insert(id, body.text()?);
            }
            record::ATTRIBUTE | record::PARAMETER => {
                let map = if kind == record::ATTRIBUTE { &mut self.attributes } else { &mut self.parameters };
                map.insert(body.packed32()?, body.packed32()?);
            }
            record::NODE => {
                let id = body.packed32()?;
                let node = Node { name: body.packed32()?, class: body.packed32()?, parent: body.packed32()? };
                self.nodes.insert(id, node);
            }
            record::LOCATION_GROUP => {
                let id = body.packed32()?;
                let (_, kind, node) = (body.packed32()?, body.u8()?, body.packed32()?);
                // Added in version 3: who has made it.
                let creator = body.packed32().filter(|creator| *creator != u32::MAX);
                let group = LocationGroup { node, of: creator.filter(|_| kind == ACCELERATOR) };
                self.groups_of_locations.insert(id, group);
            }
            record::LOCATION => {
                let (id, name) = (body.packed64()?, body.packed32()?);
                // Whether it is a thread or a stream, and how many events there are, which is wrong in some traces.
                let _ = (body.u8()?, body.packed64()?);
                self.locations.insert(id, Location { name, group: body.packed32()? });
            }
            record::REGION => self.region(body)?,
            record::GROUP => self.group(body)?,
            record::METRIC => self.metric(body)?,
            record::METRIC_CLASS => {
                let (id, len) = (body.packed32()?, body.u8()?);
                let members = (0..len).map(|_| body.packed32()).collect::<Option<_>>()?;
                self.classes.insert(id, members);
            }
            record::METRIC_INSTANCE => {
                let id = body.packed32()?;
                self.instances.insert(id, body.packed32()?);
            }
            record::COMMUNICATOR => {
                let id = body.packed32()?;
                let (name, group) = (body.packed32()?, body.packed32()?);
                self.communicators.insert(id, Communicator { name, group, second: None });
            }
            record::INTERCOMMUNICATOR => {
                let id = body.packed32()?;
                let (name, group, second) = (body.packed32()?, body.packed32()?, Some(body.packed32()?));
                self.communicators.insert(id, Communicator { name, group, second });
            }
            record::CONTEXT => {
                let (id, region, _) = (body.packed32()?, body.packed32()?, body.packed32()?);
                self.contexts.insert(id, (region, body.packed32()?));
            }
            _ => {}
        }
        Some(())
    }

    fn region(&mut self, body: &mut Bytes<'_>) -> Option<()> {
        let (id, name, _) = (body.packed32()?, body.packed32()?, body.packed32()?);
        // A type of version 1, by which roles were told.
        let legacy = body.u8()?;
        let (file, line, _) = (body.packed32()?, body.packed32()?, body.packed32()?);
        let newer = body.packed32().and_then(|_| Some((body.u8()?, body.u8()?)));
        let (role, paradigm) = newer.unwrap_or((legacy, paradigm::UNKNOWN));
        self.regions.insert(id, Region { name, file, line, role, paradigm });
        Some(())
    }

    fn group(&mut self, body: &mut Bytes<'_>) -> Option<()> {
        let (id, _, legacy) = (body.packed32()?, body.packed32()?, body.u8()?);
        let len = body.packed32()? as usize;
        // Each member takes a byte at least.
        if body.left() < len {
            return None;
        }
        let members = (0..len).map(|_| body.packed64()).collect::<Option<_>>()?;
        let newer = body.u8().and_then(|kind| Some((kind, body.u8()?)));
        let (kind, paradigm) = newer.unwrap_or((legacy, paradigm::UNKNOWN));
        let group = Group { members, kind, paradigm };
        if kind == COMM_LOCATIONS {
            self.communicating.push(group);
        } else {
            self.groups.insert(id, group);
        }
        Some(())
    }

    fn metric(&mut self, body: &mut Bytes<'_>) -> Option<()> {
        let (id, name, _) = (body.packed32()?, body.packed32()?, body.packed32()?);
        // Type, mode and type of values.
        body.take(3)?;
        let (base, exponent) = (body.u8()?, body.packed64()?.cast_signed());
        let base = if base == 0 { 2.0_f64 } else { 10.0 };
        let scale = i32::try_from(exponent).map_or(1.0, |exponent| base.powi(exponent));
        self.metrics.insert(id, Metric { name, unit: body.packed32()?, scale });
        Some(())
    }

    /// A text; empty if it is not there.
    pub(super) fn string(&self, id: u32) -> &str {
        self.strings.get(&id).map_or("", String::as_str)
    }

    /// The process that a group of locations belongs to: itself, or the one whose device it is.
    pub(super) fn process_of(&self, group: u32) -> u32 {
        self.groups_of_locations.get(&group).and_then(|it| it.of).unwrap_or(group)
    }

    /// The name of the machine that a group of locations is on: the innermost node of its system tree that is called one, or
    /// the innermost at all.
    pub(super) fn host(&self, group: &LocationGroup) -> &str {
        let first = self.nodes.get(&group.node);
        let mut node = first;
        // A tree is no deeper, and one that leads into itself has no node.
        for _ in 0..64 {
            let Some(it) = node else { break };
            if self.string(it.class) == "node" {
                return self.string(it.name);
            }
            node = self.nodes.get(&it.parent);
        }
        first.map_or("", |node| self.string(node.name))
    }
}
