//! What becomes of events.

use std::collections::BTreeMap;

use marey_model::spool::{FieldType, put_bytes};

use super::header::{Code, Event, KINDS};
use super::known::{Known, TYPE};
use super::links::{End, Links, Meeting};
use crate::draft::{Act, Draft, Owner};
use crate::problems::kind;
use crate::spool::Half;
use crate::{Error, mpe, mpi};

/// Threads, with those of further types of states.
const MOST_TRACKS: usize = 1 << 20;
/// Fields that events of all kinds have.
const COMMON: [&str; 7] = ["Time", "Type", "EntityType", "ContainerType", "Container", "Value", "Color"];

/// How many events there are of each kind.
pub(super) type Count = [u64; KINDS.len()];

/// A trace on its way into a draft.
#[derive(Debug)]
pub(super) struct Convert<'a> {
    draft: &'a mut Draft,
    known: &'a Known,
    count: Count,
    /// By rank; none is that of what lies in none.
    processes: BTreeMap<Option<u32>, u32>,
    /// By container and type of states.
    tracks: BTreeMap<(usize, String), u32>,
    /// The first of each container.
    own: BTreeMap<usize, u32>,
    /// Regions that are open, by track.
    open: BTreeMap<u32, Vec<u32>>,
    variables: BTreeMap<(usize, String), f64>,
    links: Links,
    flows: u64,
}

impl<'a> Convert<'a> {
    pub(super) fn new(draft: &'a mut Draft, known: &'a Known) -> Self {
        let mut processes = BTreeMap::new();
        for rank in known.ranks() {
            processes.insert(Some(rank), draft.process(Owner { rank: Some(rank), ..Owner::default() }));
        }
        Self {
            draft,
            known,
            count: Count::default(),
            processes,
            tracks: BTreeMap::new(),
            own: BTreeMap::new(),
            open: BTreeMap::new(),
            variables: BTreeMap::new(),
            links: Links::default(),
            flows: 0,
        }
    }

    pub(super) fn stray(&mut self, line: u64) {
        self.draft.trouble(format!("line {line} is no event that is defined"));
    }

    /// How many events there were.
    pub(super) fn end(self) -> Result<Count, Error> {
        let what = "links without their other end";
        self.draft.problems.add(kind::MISSING, what, self.links.waiting as u64);
        Ok(self.count)
    }

    /// Notes what an event says.
    ///
    /// # Errors
    /// If what does not fit into memory cannot be written.
    pub(super) fn event(&mut self, event: &Event<'_>) -> Result<(), Error> {
        if let Some(count) = self.count.get_mut(event.code as usize) {
            *count += 1;
        }
        match event.code {
            Code::ContainerType
            | Code::EventType
            | Code::StateType
            | Code::VariableType
            | Code::LinkType
            | Code::Value
            | Code::Create => return Ok(()),
            Code::File => {
                self.draft.problems.add(kind::MISSING, "files that a trace names, and that are not read", 1);
                return Ok(());
            }
            _ => {}
        }
        let time = event.get(&["Time"]).and_then(|time| time.parse().ok()).and_then(mpe::nanoseconds);
        let Some(ns) = time else {
            self.draft.trouble("events whose time is no time");
            return Ok(());
        };
        let name = if event.code == Code::Destroy { &["Name", "Container"] } else { &["Container", "Name"] };
        let container = event.get(name).and_then(|name| self.known.container(name));
        if matches!(event.code, Code::StartLink | Code::EndLink) {
            return self.link(event, ns);
        }
        let Some(container) = container else {
            self.draft.trouble("events in containers that were never created");
            return Ok(());
        };
        let of = event.get(&TYPE).unwrap_or_default();
        let value = self.known.value(of, event.get(&["Value"]).unwrap_or_default());
        match event.code {
            Code::Destroy => self.destroy(container, ns),
            Code::Event => self.keep(event, (container, ns), of, value),
            Code::Set | Code::Push | Code::Pop | Code::Reset => {
                let Some(track) = self.track(container, Some(of)) else { return Ok(()) };
                self.state(event.code, (track, ns), value)
            }
            _ => self.variable(event, (container, ns), of),
        }
    }

    fn process(&mut self, container: usize) -> u32 {
        let rank = self.known.containers.get(container).and_then(|container| container.rank);
        let draft = &mut *self.draft;
        *self.processes.entry(rank).or_insert_with(|| draft.process(Owner { rank, ..Owner::default() }))
    }

    /// The track of a container, or of a type of states of it.
    fn track(&mut self, container: usize, of: Option<&str>) -> Option<u32> {
        let name = &self.known.containers.get(container)?.name;
        let Some(of) = of else {
            if let Some(own) = self.own.get(&container) {
                return Some(*own);
            }
            let process = self.process(container);
            let track = self.draft.track(process, name);
            self.own.insert(container, track);
            return Some(track);
        };
        let of = self.known.type_name(of);
        if let Some(track) = self.tracks.get(&(container, of.to_owned())) {
            return Some(*track);
        }
        if self.tracks.len() == MOST_TRACKS {
            self.draft.trouble("states of more threads than can be told apart");
            return None;
        }
        // The first type of states has the container's own.
        let next = self.tracks.range((container, String::new())..).next();
        let has_other = next.is_some_and(|(key, _)| key.0 == container);
        let track = if has_other {
            let process = self.process(container);
            self.draft.track(process, &format!("{name} {of}"))
        } else {
            self.track(container, None)?
        };
        self.tracks.insert((container, of.to_owned()), track);
        Some(track)
    }

    fn state(&mut self, code: Code, (track, ns): (u32, i64), value: &str) -> Result<(), Error> {
        if matches!(code, Code::Set | Code::Reset) {
            self.leave_all(track, ns)?;
        }
        if code == Code::Pop {
            let Some(region) = self.open.get_mut(&track).and_then(Vec::pop) else {
                self.draft.trouble("states that are left and not entered");
                return Ok(());
            };
            return self.draft.add(track, ns, &Act::Leave { region: Some(region) });
        }
        if code == Code::Reset {
            return Ok(());
        }
        let region = self.draft.region(&mpi::region(value));
        self.open.entry(track).or_default().push(region);
        self.draft.add(track, ns, &Act::Enter { region })
    }

    fn leave_all(&mut self, track: u32, ns: i64) -> Result<(), Error> {
        for region in self.open.remove(&track).unwrap_or_default().into_iter().rev() {
            self.draft.add(track, ns, &Act::Leave { region: Some(region) })?;
        }
        Ok(())
    }

    fn destroy(&mut self, container: usize, ns: i64) -> Result<(), Error> {
        let of_it = self.tracks.range((container, String::new())..);
        let tracks: Vec<u32> = of_it.take_while(|it| it.0.0 == container).map(|it| *it.1).collect();
        tracks.into_iter().try_for_each(|track| self.leave_all(track, ns))
    }

    fn keep(
        &mut self,
        event: &Event<'_>,
        (container, ns): (usize, i64),
        of: &str,
        value: &str,
    ) -> Result<(), Error> {
        let Some(track) = self.track(container, None) else { return Ok(()) };
        let mut kinds = vec![("value", FieldType::Text)];
        let mut bytes = Vec::new();
        put_bytes(&mut bytes, value.as_bytes());
        for (name, text) in event.fields.iter().filter(|it| !COMMON.contains(&it.0)) {
            kinds.push((name, FieldType::Text));
            put_bytes(&mut bytes, text.as_bytes());
        }
        let Some(kind) = self.draft.kind(self.known.type_name(of), false, &kinds) else {
            self.draft.trouble("events of more kinds than can be told apart");
            return Ok(());
        };
        self.draft.add(track, ns, &Act::Event { kind, fields: &bytes })
    }

    fn variable(&mut self, event: &Event<'_>, (container, ns): (usize, i64), of: &str) -> Result<(), Error> {
        let Some(number) = event.get(&["Value"]).and_then(|value| value.parse::<f64>().ok()) else {
            self.draft.trouble("variables whose value is no number");
            return Ok(());
        };
        let Some(track) = self.track(container, None) else { return Ok(()) };
        let of = self.known.type_name(of);
        let process = self.process(container);
        let has_name = self.known.containers.get(container).filter(|_| !self.known.has_ranks);
        let name = has_name.map_or(of.to_owned(), |it| format!("{} {of}", it.name));
        let counter = self.draft.counter(process, &name, "");
        let before = self.variables.entry((container, of.to_owned())).or_default();
        *before = match event.code {
            Code::AddVariable => *before + number,
            Code::SubVariable => *before - number,
            _ => number,
        };
        let value = *before;
        self.draft.add(track, ns, &Act::Counter { counter, value })
    }

    fn link(&mut self, event: &Event<'_>, ns: i64) -> Result<(), Error> {
        const STARTS: [&str; 3] = ["StartContainer", "SourceContainer", "StartContainerType"];
        const ENDS: [&str; 3] = ["EndContainer", "DestContainer", "EndContainerType"];
        let is_start = event.code == Code::StartLink;
        let container = event.get(if is_start { &STARTS } else { &ENDS });
        let Some(container) = container.and_then(|name| self.known.container(name)) else {
            self.draft.trouble("links from or to containers that were never created");
            return Ok(());
        };
        let number = |end: &str| {
            let field = event.fields.iter().find(|it| it.0.to_ascii_lowercase().ends_with(end));
            field.and_then(|it| it.1.parse::<i64>().ok())
        };
        let bytes = number("size").and_then(|size| u64::try_from(size).ok()).unwrap_or(0);
        let own = End { container, ns, tag: number("tag").unwrap_or(0), bytes };
        let part = |names: &[&str]| event.get(names).unwrap_or_default();
        let of = self.known.type_name(part(&TYPE));
        let key = [of, part(&["Container"]), part(&["Value"]), part(&["Key"])].join("\0");
        match self.links.meet(is_start, key, own) {
            Meeting::Of { start, end } => self.linked(of, &start, &end),
            Meeting::Waits => Ok(()),
            Meeting::Lost => {
                self.draft.trouble("links that wait for their other end, more than can be told apart");
                Ok(())
            }
        }
    }

    fn linked(&mut self, of: &str, start: &End, end: &End) -> Result<(), Error> {
        let ends = (self.track(start.container, None), self.track(end.container, None));
        let (Some(from), Some(to)) = ends else { return Ok(()) };
        let rank = |end: &End| self.known.containers.get(end.container).and_then(|it| it.rank);
        if let (Some(source), Some(target)) = (rank(start), rank(end)) {
            // Whichever end says more.
            let (tag, bytes) = (start.tag.max(end.tag), start.bytes.max(end.bytes));
            let half = |peer: u32| Half { communicator: 0, peer: peer.into(), tag, bytes };
            self.draft.add(from, start.ns, &Act::Send(half(target)))?;
            return self.draft.add(to, end.ns, &Act::Receive(half(source)));
        }
        self.flows += 1;
        let key = self.flows;
        self.draft.add(from, start.ns, &Act::FlowOut { key })?;
        // An edge leads to what is noted last, so there is something at its end.
        if let Some(kind) = self.draft.kind(of, false, &[]) {
            self.draft.add(to, end.ns, &Act::Event { kind, fields: &[] })?;
        }
        self.draft.add(to, end.ns, &Act::FlowIn { key, is_next: false })
    }
}
