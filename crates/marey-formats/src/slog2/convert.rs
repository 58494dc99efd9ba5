//! What becomes of drawables.

use std::collections::BTreeMap;

use marey_model::spool::FieldType;

use super::file::Place;
use super::lines::{Line, Lines};
use super::names::{Categories, Category, Shape, is_size, is_tag};
use super::node::{self, Count, Drawable, Vertex};
use crate::draft::{Act, Draft, Owner};
use crate::mpe::cargo::{Fields, Format};
use crate::problems::kind;
use crate::spool::Half;
use crate::{Error, mpe};

/// Lines of maps that have a track whether anything is on them or not.
const MOST_EMPTY: usize = 4096;

/// A log on its way into a draft.
#[derive(Debug)]
pub(super) struct Convert<'a> {
    draft: &'a mut Draft,
    categories: &'a Categories,
    lines: &'a Lines,
    /// By rank; none is the process of lines without.
    processes: BTreeMap<Option<u32>, u32>,
    tracks: BTreeMap<Line, u32>,
    regions: BTreeMap<i32, u32>,
    /// Arrows that are no messages.
    flows: u64,
}

/// Where and when something happens.
#[derive(Clone, Copy, Debug)]
struct At {
    track: u32,
    line: Line,
    ns: i64,
}

impl<'a> Convert<'a> {
    pub(super) fn new(draft: &'a mut Draft, categories: &'a Categories, lines: &'a Lines) -> Self {
        let mut processes = BTreeMap::new();
        // So processes are in the order of their ranks, whoever has the first drawable.
        for rank in lines.ranks() {
            processes.insert(Some(rank), draft.process(Owner { rank: Some(rank), ..Owner::default() }));
        }
        let (tracks, regions) = (BTreeMap::new(), BTreeMap::new());
        let mut convert = Self { draft, categories, lines, processes, tracks, regions, flows: 0 };
        // And threads in theirs, unless a map names so many that hardly all of them do something.
        for line in lines.all().take(MOST_EMPTY) {
            convert.track(line);
        }
        convert
    }

    /// Notes what a node has.
    ///
    /// # Errors
    /// If what does not fit into memory cannot be written.
    pub(super) fn node(
        &mut self,
        place: Place,
        bytes: &[u8],
        has_weights: bool,
        count: &mut Count,
    ) -> Result<(), Error> {
        let (mut shadows, mut buffers) = (0, 0);
        let end = node::each(bytes, has_weights, (&mut shadows, &mut buffers), &mut |drawable| {
            self.drawable(drawable, count)
        })?;
        count.shadows += shadows;
        count.buffers += buffers;
        if let Some(end) = end {
            let at = place.at + end as u64;
            let what = format!("the node at byte {} makes no sense from byte {at} on", place.at);
            self.draft.problems.add(kind::DAMAGED, what, 1);
        }
        Ok(())
    }

    fn drawable(&mut self, drawable: &Drawable<'_>, count: &mut Count) -> Result<(), Error> {
        let known = self.categories.get(drawable.category);
        let unnamed = known.is_none().then(|| unnamed(drawable));
        let Some(category) = known.or(unnamed.as_ref()) else { return Ok(()) };
        if unnamed.is_some() {
            self.draft.problems.add(kind::MISSING, "drawables of categories that nothing names", 1);
        }
        if drawable.is_composite {
            count.composites += 1;
            let fields = category.format.unpack(drawable.info);
            return self.place(drawable.first).map_or(Ok(()), |at| match fields.kinds.is_empty() {
                true => Ok(()),
                false => self.keep(at, &category.name, &fields),
            });
        }
        match category.shape {
            Shape::Event => {
                count.events += 1;
                let Some(at) = self.place(drawable.first) else { return Ok(()) };
                self.keep(at, &category.name, &category.format.unpack(drawable.info))
            }
            Shape::State => {
                count.states += 1;
                let Some((begin, end)) = self.ends(drawable) else { return Ok(()) };
                self.state((begin, end), drawable, category)
            }
            Shape::Arrow => {
                count.arrows += 1;
                let Some((begin, end)) = self.ends(drawable) else { return Ok(()) };
                self.arrow((begin, end), drawable, category)
            }
        }
    }

    /// Where both ends of a drawable are.
    fn ends(&mut self, drawable: &Drawable<'_>) -> Option<(At, At)> {
        let Some(last) = drawable.last else {
            self.draft.trouble("states and arrows with a single end");
            return None;
        };
        Some((self.place(drawable.first)?, self.place(last)?))
    }

    fn place(&mut self, vertex: Vertex) -> Option<At> {
        let Some(ns) = mpe::nanoseconds(vertex.seconds) else {
            self.draft.trouble("drawables whose time is no time");
            return None;
        };
        let Some(line) = self.lines.get(vertex.line) else {
            self.draft.trouble("drawables on lines that cannot be");
            return None;
        };
        Some(At { track: self.track(line), line, ns })
    }

    fn track(&mut self, line: Line) -> u32 {
        if let Some(track) = self.tracks.get(&line) {
            return *track;
        }
        let draft = &mut *self.draft;
        let owner = || draft.process(Owner { rank: line.rank, ..Owner::default() });
        let process = *self.processes.entry(line.rank).or_insert_with(owner);
        let name = if line.rank.is_some() { "thread" } else { "line" };
        let track = self.draft.track(process, &format!("{name} {}", line.thread));
        self.tracks.insert(line, track);
        track
    }

    fn state(
        &mut self,
        (begin, end): (At, At),
        drawable: &Drawable<'_>,
        category: &Category,
    ) -> Result<(), Error> {
        let ns = end.ns.checked_sub(begin.ns).and_then(|ns| u64::try_from(ns).ok());
        let Some(ns) = ns.filter(|_| begin.track == end.track) else {
            self.draft.trouble("states that end before they begin, or on another line");
            return Ok(());
        };
        let region = match self.regions.get(&drawable.category) {
            Some(region) => *region,
            None => {
                let region = self.draft.region(&self.categories.region(&category.name));
                self.regions.insert(drawable.category, region);
                region
            }
        };
        self.draft.add(begin.track, begin.ns, &Act::Span { region, ns })?;
        let fields = category.format.unpack(drawable.info);
        if fields.kinds.is_empty() {
            return Ok(());
        }
        let kinds = [true, false].map(|is_fact| self.draft.kind(&category.name, is_fact, &fields.kinds));
        let [Some(kind), Some(as_event)] = kinds else { return Ok(()) };
        self.draft.also(begin.track, &Act::Fact { kind, as_event, fields: &fields.bytes })
    }

    fn arrow(
        &mut self,
        (begin, end): (At, At),
        drawable: &Drawable<'_>,
        category: &Category,
    ) -> Result<(), Error> {
        let fields = category.format.unpack(drawable.info);
        let (Some(source), Some(target)) = (begin.line.rank, end.line.rank) else {
            self.flows += 1;
            let key = self.flows;
            self.draft.add(begin.track, begin.ns, &Act::FlowOut { key })?;
            // An edge leads to what is noted last, so there is something at its end.
            self.keep(end, &category.name, &fields)?;
            return self.draft.add(end.track, end.ns, &Act::FlowIn { key, is_next: false });
        };
        let numbers = fields.numbers();
        let number =
            |is_meant: fn(&str) -> bool| numbers.iter().find(|it| is_meant(it.0)).map_or(0, |it| it.1);
        let bytes = u64::try_from(number(is_size)).unwrap_or_else(|_| {
            self.draft.trouble("messages with a negative size");
            0
        });
        let half = |peer: u32| Half { communicator: 0, peer: peer.into(), tag: number(is_tag), bytes };
        // A message is sent in the state that begins with it, and has come in the one that ends with it.
        self.draft.add_within(begin.track, begin.ns, &Act::Send(half(target)))?;
        self.draft.add(end.track, end.ns, &Act::Receive(half(source)))
    }

    fn keep(&mut self, at: At, name: &str, fields: &Fields<'_>) -> Result<(), Error> {
        let kinds: &[(&str, FieldType)] = &fields.kinds;
        let Some(kind) = self.draft.kind(name, false, kinds) else {
            self.draft.trouble("events of more kinds than can be told apart");
            return Ok(());
        };
        self.draft.add(at.track, at.ns, &Act::Event { kind, fields: &fields.bytes })
    }
}

/// The category that a drawable has by its shape.
fn unnamed(drawable: &Drawable<'_>) -> Category {
    let shape = match drawable.last {
        None => Shape::Event,
        Some(last) if last.line == drawable.first.line => Shape::State,
        Some(_) => Shape::Arrow,
    };
    Category { name: format!("category {}", drawable.category), shape, format: Format::default() }
}
