//! Records that have a meaning by their name: those of Dimemas, and of ParAide, which it has taken some from.
//!
//! The one idea: where they have no time, a burst makes the time of its thread pass, and all else happens where it has come
//! to. Messages of Dimemas name tasks, and not ranks in a communicator.

use std::collections::BTreeMap;

use marey_model::spool::{FieldType, put_bytes, put_signed};
use marey_model::{Level, Role};

use super::convert::{Convert, Track};
use super::item::Value;
use super::meaning::{Meaning, Special};
use crate::draft::{Act, Group};
use crate::spool::{Half, Member, Region};
use crate::{Error, mpe, mpi};

/// Definitions of each kind that are kept.
const MOST: usize = 1 << 16;
/// What a record of a receive is that only posts it.
const POSTED: i64 = 1;

/// What definitions have said.
#[derive(Clone, Debug, Default)]
pub(super) struct Dimemas {
    blocks: BTreeMap<i64, Region>,
    ops: BTreeMap<i64, String>,
    types: BTreeMap<i64, String>,
    values: BTreeMap<(i64, i64), String>,
    groups: BTreeMap<i64, Members>,
    /// Blocks of MPI that are open, by track.
    open: BTreeMap<u32, u64>,
}

/// A communicator.
#[derive(Clone, Debug)]
struct Members {
    tasks: Vec<u32>,
    /// Its number in the draft, once it has been used; that of all is 0.
    number: Option<u32>,
}

/// The fields of a record, by name.
#[derive(Clone, Copy)]
struct Fields<'a> {
    meaning: &'a Meaning,
    values: &'a [Value],
}

impl<'a> Fields<'a> {
    fn get(self, names: &[&str]) -> Option<&'a Value> {
        self.values.get(self.meaning.field(names)?)
    }

    fn number(self, names: &[&str]) -> Option<i64> {
        match self.get(names)? {
            Value::Whole(number) => Some(*number),
            _ => None,
        }
    }

    fn text(self, names: &[&str]) -> Option<String> {
        match self.get(names)? {
            Value::Text(text) => Some(text.clone()),
            // A text may be written as an array of one.
            Value::Array(texts) => match texts.first()? {
                Value::Text(text) => Some(text.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    fn size(self, names: &[&str]) -> u64 {
        self.number(names).and_then(|size| u64::try_from(size).ok()).unwrap_or(0)
    }
}

impl Dimemas {
    /// Takes what a record defines: none if it is of another kind, and whether it makes sense.
    pub(super) fn define(&mut self, special: Special, meaning: &Meaning, values: &[Value]) -> Option<bool> {
        let fields = Fields { meaning, values };
        let taken = match special {
            Special::BlockDefinition => self.block(fields),
            Special::OpDefinition => {
                keep(&mut self.ops, fields.number(&["glop id"]), fields.text(&["glop name"]))
            }
            Special::TypeDefinition => {
                keep(&mut self.types, fields.number(&["type"]), fields.text(&["name"]))
            }
            Special::ValueDefinition => {
                let key = fields.number(&["type"]).zip(fields.number(&["value"]));
                keep(&mut self.values, key, fields.text(&["name"]))
            }
            Special::GroupDefinition => self.group(fields),
            _ => return None,
        };
        Some(taken.is_some())
    }

    fn block(&mut self, fields: Fields<'_>) -> Option<()> {
        let mut region = mpi::region(&fields.text(&["block name"])?);
        region.file = fields.text(&["src file"]).unwrap_or_default();
        region.line = fields.number(&["src line"]).and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
        keep(&mut self.blocks, fields.number(&["block id", "blockid"]), Some(region))
    }

    fn group(&mut self, fields: Fields<'_>) -> Option<()> {
        let Value::Array(ranks) = fields.get(&["global ranks"])? else { return None };
        let task = |value: &Value| match value {
            Value::Whole(task) => mpe::rank(*task),
            _ => None,
        };
        let tasks = ranks.iter().map(task).collect::<Option<Vec<u32>>>()?;
        // An array is kept up to a length; of a larger communicator, not all is known.
        let is_whole = fields.size(&["comm size"]) == tasks.len() as u64;
        let number = self.groups.is_empty().then_some(0);
        let members = is_whole.then_some(Members { tasks, number });
        keep(&mut self.groups, fields.number(&["comm id", "commid"]), members)
    }
}

/// Keeps what a definition says, if it says that; of one number, the first holds.
fn keep<K: Ord, V>(map: &mut BTreeMap<K, V>, key: Option<K>, value: Option<V>) -> Option<()> {
    let (key, value) = key.zip(value)?;
    if map.len() < MOST {
        map.entry(key).or_insert(value);
    }
    Some(())
}

impl Convert {
    /// Notes a record that has a meaning by its name.
    pub(super) fn special(
        &mut self,
        special: Special,
        track: &mut Track,
        meaning: &Meaning,
        values: &[Value],
    ) -> Result<(), Error> {
        let fields = Fields { meaning, values };
        match special {
            Special::Burst => self.burst(track, fields),
            Special::Send => self.message(*track, fields, &["dest taskid", "dest node", "dest"], Act::Send),
            Special::Receive if fields.number(&["type"]) == Some(POSTED) => {
                self.keep(*track, meaning, values)
            }
            Special::Receive => {
                self.message(*track, fields, &["source taskid", "source node", "source"], Act::Receive)
            }
            Special::BlockBegin | Special::BlockEnd => self.block(special, *track, fields),
            Special::UserEvent => self.user_event(*track, fields),
            Special::GlobalOp => self.global_op(*track, fields),
            // Definitions have been taken before.
            _ => Ok(()),
        }
    }

    fn burst(&mut self, track: &mut Track, fields: Fields<'_>) -> Result<(), Error> {
        let seconds = match fields.get(&["time", "seconds", "duration"]) {
            Some(Value::Real(seconds)) => Some(*seconds),
            #[expect(clippy::cast_precision_loss, reason = "so many seconds no program takes")]
            Some(Value::Whole(seconds)) => Some(*seconds as f64),
            _ => None,
        };
        let length = seconds.and_then(mpe::nanoseconds).filter(|ns| *ns >= 0);
        let Some(end) = length.and_then(|ns| track.ns.checked_add(ns)) else {
            self.draft.trouble("bursts whose length is none");
            return Ok(());
        };
        let region = self.draft.region(&Region::of_program("CPU burst"));
        self.draft.add(track.id, track.ns, &Act::Enter { region })?;
        track.ns = end;
        self.draft.add(track.id, track.ns, &Act::Leave { region: Some(region) })
    }

    fn message(
        &mut self,
        track: Track,
        fields: Fields<'_>,
        peers: &[&str],
        act: fn(Half) -> Act<'static>,
    ) -> Result<(), Error> {
        self.has_mpi = true;
        let peer = fields.number(peers).and_then(mpe::rank);
        let Some((communicator, peer)) = peer.and_then(|peer| self.channel(fields, peer)) else {
            self.draft.trouble("messages from or to a task that is not in their communicator");
            return Ok(());
        };
        let tag = fields.number(&["tag", "msg type"]).unwrap_or(0);
        let bytes = fields.size(&["msg length", "length", "size"]);
        self.draft.add(track.id, track.ns, &act(Half { communicator, peer: peer.into(), tag, bytes }))
    }

    /// The communicator that a record names, and the rank of a task in it.
    fn channel(&mut self, fields: Fields<'_>, task: u32) -> Option<(u32, u32)> {
        let Some(named) = fields.number(&["commid", "comm id"]) else { return Some((0, task)) };
        if self.dimemas.groups.is_empty() {
            return Some((0, task));
        }
        let place = self.dimemas.groups.get(&named)?.tasks.iter().position(|it| *it == task)?;
        let number = self.communicator(named)?;
        Some((number, if number == 0 { task } else { u32::try_from(place).ok()? }))
    }

    fn communicator(&mut self, named: i64) -> Option<u32> {
        let group = self.dimemas.groups.get_mut(&named)?;
        if group.number.is_none() {
            let name = format!("communicator {named}");
            group.number = Some(self.draft.group(Group { name, members: group.tasks.clone() }));
        }
        group.number
    }

    fn block(&mut self, special: Special, track: Track, fields: Fields<'_>) -> Result<(), Error> {
        let Some(number) = fields.number(&["blockid", "block id"]) else {
            self.draft.trouble("blocks without a number");
            return Ok(());
        };
        let known = self.dimemas.blocks.get(&number).cloned();
        let region = known.unwrap_or_else(|| Region::of_program(&format!("block {number}")));
        let is_mpi = region.level.0 == Level::MPI;
        self.has_mpi |= is_mpi;
        let region = self.draft.region(&region);
        let open = self.dimemas.open.entry(track.id).or_default();
        if special == Special::BlockBegin {
            *open += u64::from(is_mpi);
            return self.draft.add(track.id, track.ns, &Act::Enter { region });
        }
        *open = open.saturating_sub(u64::from(is_mpi));
        self.draft.add(track.id, track.ns, &Act::Leave { region: Some(region) })
    }

    fn user_event(&mut self, track: Track, fields: Fields<'_>) -> Result<(), Error> {
        let (Some(number), Some(value)) = (fields.number(&["type"]), fields.number(&["value"])) else {
            self.draft.trouble("user events without a type and a value");
            return Ok(());
        };
        let name = self.dimemas.types.get(&number).cloned();
        let name = name.unwrap_or_else(|| format!("user event {number}"));
        let mut kinds = vec![("value", FieldType::Signed)];
        let mut bytes = Vec::new();
        put_signed(&mut bytes, value);
        if let Some(text) = self.dimemas.values.get(&(number, value)) {
            kinds.push(("name", FieldType::Text));
            put_bytes(&mut bytes, text.as_bytes());
        }
        self.event(track, &name, &kinds, &bytes)
    }

    fn global_op(&mut self, track: Track, fields: Fields<'_>) -> Result<(), Error> {
        self.has_mpi = true;
        let number = fields.number(&["glop id"]).unwrap_or(-1);
        let name = self.dimemas.ops.get(&number).cloned();
        let name = name.unwrap_or_else(|| format!("global OP {number}"));
        let role = match mpi::role(&name) {
            Role::Manage => mpi::role(&format!("MPI_{name}")),
            role => role,
        };
        let communicator = match fields.number(&["comm id", "commid"]) {
            Some(named) if !self.dimemas.groups.is_empty() => self.communicator(named),
            _ => Some(0),
        };
        let Some(communicator) = communicator else {
            self.draft.trouble("collectives on communicators that are not defined");
            return Ok(());
        };
        let has_root = matches!(role, Role::OneToAll | Role::AllToOne);
        let root = fields.number(&["root rank"]).filter(|root| has_root && *root >= 0).unwrap_or(-1);
        let (bytes_out, bytes_in) = (fields.size(&["bytes sent"]), fields.size(&["bytes recvd"]));
        let member = Act::Collective(Member { communicator, root, bytes_out, bytes_in });
        if self.dimemas.open.get(&track.id).is_some_and(|open| *open > 0) {
            return self.draft.add(track.id, track.ns, &member);
        }
        let region = self.draft.region(&Region::of_mpi(&name, role));
        self.draft.add(track.id, track.ns, &Act::Enter { region })?;
        self.draft.also(track.id, &member)?;
        self.draft.also(track.id, &Act::Leave { region: Some(region) })
    }
}
