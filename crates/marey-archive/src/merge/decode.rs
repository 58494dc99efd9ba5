//! One stream's records, turned into intervals and everything else that happened on a location.
//!
//! The one idea: a stream is decoded up to a reading of its clock and goes on from there in the
//! next slab. Between slabs it keeps numbers only; bytes are read again, 64 KiB at a time, into a
//! buffer that belongs to the worker. So memory does not grow with the number of streams.
//!
//! Damage ends the window it is in, never the stream.

use marey_model::AccessKind;
use marey_model::spool::{Access, Open, Record, RmaKind, announced};

use super::added_up::{self, AddedUp};
use super::build::Builder;
use super::clock::Clock;
use super::folded::Folded;
use super::globals::{Context, Globals, Part};
use super::happen::{Accessed, Happened, LaneMark, Rma};
use super::index::{Index, Window};
use super::slots::Slots;
use crate::Error;
use crate::schema::NONE;

mod operations;

/// Bytes read at a time: small against a slab's share of a stream, large against a system call.
const CHUNK: usize = 64 << 10;

/// Ticks that the last window of a stream can take, which is not sealed when its process ends: 69 days at
/// 3 GHz, more than jobs may run. What claims to be later is damage.
const LONGEST: u64 = 1 << 54;

/// Where the decoding of a stream stands.
#[derive(Debug)]
pub(crate) struct Decoder {
    /// Which of [`Index::streams`].
    stream: usize,
    /// The next window.
    window: usize,
    /// Offset of the next record in it.
    at: u64,
    /// Bytes of records in the windows before, and in this one.
    passed: u64,
    len: u64,
    /// The window's head has been applied.
    inside: bool,
    /// The sequence number that the next window should have.
    expected: u64,
    /// Records before the next window were lost.
    gap: bool,
    ticks: u64,
    now: i64,
    /// No record of the window is that late: the next window begins before.
    cap: u64,
    serial: u64,
    slots: Slots,
    /// Everything has been decoded.
    pub done: bool,
    /// The thread said that it ended.
    ended: bool,
    /// Records are missing at the end.
    breaks_off: bool,
    /// Windows that ended in bytes that are no record.
    pub damaged: u64,
    /// Regions that were closed because the records that say when they were left are missing.
    pub truncated: u64,
    /// Regions in which the thread was when its process ended, outermost first.
    pub at_end: Vec<OpenRegion>,
    /// Timed records.
    pub events: u64,
    /// Readings below the one before, found here.
    pub late: u64,
    /// Visits that were only counted.
    pub untimed: u64,
    /// What was added up in the process.
    pub added_up: AddedUp,
    /// When that was, ns, and how often until the present window.
    summed: Vec<(i64, i64)>,
    round: u64,
}

/// How many of the regions that were open when a window began are those that the builder has.
fn common(builder: &Builder, open: &[Open]) -> usize {
    let same = builder.stack.iter().zip(open);
    same.take_while(|(frame, open)| frame.site == open.site && frame.ticks == open.ticks).count()
}

/// A region in which a thread was when its process ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpenRegion {
    /// The location's number of the call path.
    pub path: u32,
    pub start: i64,
}

/// Why decoding of a chunk stopped.
enum Stop {
    Boundary,
    Short,
}

/// What a stream is decoded with.
pub(crate) struct With<'a> {
    pub index: &'a Index,
    pub globals: &'a Globals,
    pub context: &'a Context,
}

impl Decoder {
    pub(crate) fn new(stream: usize) -> Self {
        Self {
            stream,
            window: 0,
            at: 0,
            passed: 0,
            len: 0,
            inside: false,
            expected: 0,
            gap: false,
            ticks: 0,
            now: 0,
            cap: u64::MAX,
            serial: 0,
            slots: Slots::default(),
            done: false,
            ended: false,
            breaks_off: false,
            damaged: 0,
            truncated: 0,
            at_end: Vec::new(),
            events: 0,
            late: 0,
            untimed: 0,
            added_up: AddedUp::default(),
            summed: Vec::new(),
            round: 0,
        }
    }

    /// Decodes everything before `limit` ticks.
    pub(crate) fn run(
        &mut self,
        with: &With<'_>,
        limit: u64,
        builder: &mut Builder,
        out: &mut Happened,
        buffer: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let windows = &with.index.streams[self.stream].windows;
        let mut wanted = CHUNK;
        while let Some(window) = windows.get(self.window) {
            if !self.inside {
                if window.ticks >= limit {
                    return Ok(());
                }
                self.begin_window(with, window, builder, out)?;
            }
            let left = usize::try_from(u64::from(window.end).saturating_sub(self.at)).unwrap_or(0);
            if left == 0 {
                self.end_window();
                continue;
            }
            let len = left.min(wanted);
            if buffer.len() < len {
                buffer.resize(len, 0);
            }
            let read = with.index.read(window.file, window.offset + self.at, &mut buffer[..len])?;
            let (used, stop) = self.records(with, &buffer[..read], limit.min(self.cap), builder, out);
            self.at += used as u64;
            match stop {
                Stop::Boundary if self.cap < limit => self.give_up_window(),
                Stop::Boundary => return Ok(()),
                Stop::Short if used > 0 => wanted = CHUNK,
                // A record that is longer than the chunk, or no record at all.
                Stop::Short if read == len && len < left => wanted = len * 2,
                Stop::Short => self.give_up_window(),
            }
        }
        self.done = true;
        Ok(())
    }

    /// The rest of the window makes no sense; the next one's head says how to go on.
    fn give_up_window(&mut self) {
        self.damaged += 1;
        self.gap = true;
        self.end_window();
    }

    /// Bytes of records decoded so far.
    pub(crate) fn position(&self, index: &Index) -> u64 {
        let inside = index.streams[self.stream].windows.get(self.window).filter(|_| self.inside);
        self.passed + inside.map_or(0, |window| self.at.saturating_sub(window.records_at().into()))
    }

    /// If records were added up before `window`, or before the end, which is at `until` ticks: nothing is known of
    /// that time but sums.
    fn pass_sums(
        &mut self,
        with: &With<'_>,
        (window, until): (Option<&Window>, u64),
        builder: &mut Builder,
        out: &mut Happened,
    ) -> Result<(), Error> {
        let Some(sums) = with.index.sums_of(&with.index.streams[self.stream]) else { return Ok(()) };
        let round = window.map_or(sums.summed, |window| window.round);
        if round <= self.round {
            return Ok(());
        }
        self.round = round;
        let clock = &with.context.clock;
        // Before the first window there is no time.
        let from = clock.ns(if self.ticks == 0 { sums.ticks } else { self.ticks });
        let to = clock.ns(until).max(from);
        builder.advance(from);
        self.summed.push((from, to));
        let open = window.map_or(Ok(Vec::new()), |window| with.index.open_stack(window))?;
        let common = common(builder, &open);
        builder.skip(common, from, out.slab_of(from), to);
        // What these calls did was done by the last instant of which there are events: it must not wait for another call.
        out.left(u32::try_from(common).unwrap_or(u32::MAX), from);
        if let Some(window) = window {
            self.enter_open(with, window, &open[common..], builder, out);
        }
        Ok(())
    }

    /// Adds what was added up to the call paths, when the stream is over.
    fn add_sums(&mut self, with: &With<'_>, builder: &mut Builder) -> Result<(), Error> {
        let stream = &with.index.streams[self.stream];
        let of = |sums: Option<_>, of| sums.map(|sums| (sums, of));
        let all = [
            of(with.index.sums_of(stream), added_up::Of::Times(&self.summed)),
            of(with.index.beside(stream), added_up::Of::Beside),
        ];
        for (sums, of) in all.into_iter().flatten() {
            let of_process = (with.globals, with.context);
            added_up::add((with.index, sums), of_process, builder, of, &mut self.added_up)?;
        }
        self.untimed = self.untimed.saturating_add(self.added_up.untimed);
        Ok(())
    }

    /// The stream is over. Regions that are still open are closed when the process ended. Nothing
    /// of them is missing, the thread was inside them; unless records are missing before, for then
    /// nobody knows, and they are closed at the last record.
    pub(crate) fn finish(
        &mut self,
        with: &With<'_>,
        ending: u64,
        builder: &mut Builder,
        out: &mut Happened,
    ) -> Result<(), Error> {
        self.pass_sums(with, (None, ending), builder, out)?;
        self.add_sums(with, builder)?;
        let last = with.index.streams[self.stream].windows.last();
        self.breaks_off = self.gap || last.is_some_and(|window| window.dropped != 0);
        if let Some(window) = last.filter(|window| window.sealed == 0 && self.is_alive()) {
            self.enter_announced(with, window, builder, out);
        }
        if self.is_alive() {
            self.end_idle(with, ending, builder, out);
        }
        if builder.stack.is_empty() {
            return Ok(());
        }
        if ending >= self.ticks && self.is_alive() {
            builder.advance(with.context.clock.ns(ending));
        }
        let before = self.truncated;
        let open = builder.stack.iter().map(|frame| OpenRegion { path: frame.path, start: frame.start });
        let open = open.collect();
        self.close(&with.context.clock, builder, out, 0);
        if !self.breaks_off {
            self.truncated = before;
            // A thread that ended inside a region was nowhere when its process ended.
            self.at_end = if self.ended { Vec::new() } else { open };
        }
        Ok(())
    }

    /// Ends what others know that it was over before the process ended.
    fn end_idle(&mut self, with: &With<'_>, ending: u64, builder: &mut Builder, out: &mut Happened) {
        let (context, thread) = (with.context, with.index.streams[self.stream].thread);
        let Some(idle) = context.idle.get(&thread).filter(|idle| idle.ticks <= ending) else { return };
        // What it waited for after its last task is all that it waited there for the others.
        let has_executed = idle.since != 0;
        if has_executed && idle.wait != u32::MAX && !builder.stack.is_empty() && idle.since < idle.ticks {
            let since = self.ticks.max(idle.since);
            let now = context.clock.ns(since);
            builder.advance(now);
            builder.enter_earlier(idle.wait, since, now, out.slab_of(now), || {
                context.site(with.globals, idle.wait)
            });
            self.ticks = since;
        }
        self.ticks = self.ticks.max(idle.ticks);
        self.now = context.clock.ns(self.ticks);
        builder.advance(self.now);
        let truncated = self.truncated;
        // The edge leads to the innermost. Nobody waits for himself.
        let has_waited = idle.by != thread && (!has_executed || idle.since < idle.ticks);
        if !builder.stack.is_empty() && has_waited {
            out.edge(context, idle.kind, idle.by, context.clock.ns(idle.ticks), self.now, 0);
        }
        self.close(&context.clock, builder, out, 0);
        self.truncated = truncated;
        if idle.site != u32::MAX {
            let (ticks, now, slab) = (self.ticks, self.now, out.slab_of(self.now));
            builder.enter_earlier(idle.site, ticks, now, slab, || context.site(with.globals, idle.site));
        }
    }

    /// The call that the process died in, if its window says that there was one.
    fn enter_announced(
        &mut self,
        with: &With<'_>,
        window: &Window,
        builder: &mut Builder,
        out: &mut Happened,
    ) {
        let Some((site, delta)) = announced(window.announced) else { return };
        self.ticks = self.ticks.saturating_add(delta);
        self.now = with.context.clock.ns(self.ticks);
        self.events += 1;
        builder.advance(self.now);
        let slab = out.slab_of(self.now);
        let context = with.context;
        builder.enter_earlier(site, self.ticks, self.now, slab, || context.site(with.globals, site));
    }

    /// Whether the thread was still there when its process ended, and nothing that it did before
    /// is missing.
    pub(crate) fn is_alive(&self) -> bool {
        !self.ended && !self.breaks_off
    }

    fn end_window(&mut self) {
        self.window += 1;
        self.inside = false;
        self.passed += self.len;
    }

    fn begin_window(
        &mut self,
        with: &With<'_>,
        window: &Window,
        builder: &mut Builder,
        out: &mut Happened,
    ) -> Result<(), Error> {
        self.inside = true;
        self.len = window.len();
        self.at = window.records_at().into();
        self.pass_sums(with, (Some(window), window.ticks), builder, out)?;
        if window.sequence != self.expected {
            self.gap = true;
        }
        self.expected = window.sequence.wrapping_add(1);
        let next = with.index.streams[self.stream].windows.get(self.window + 1);
        let known = next.map(|next| next.ticks).or((window.sealed != 0).then_some(window.sealed));
        let last = known.unwrap_or(window.ticks.saturating_add(LONGEST)).max(window.ticks).max(self.ticks);
        self.cap = last.saturating_add(1);
        self.serial = window.serial;
        self.slots.begin_window(window.buffer);
        if window.ticks < self.ticks {
            self.late += 1;
        }
        self.ticks = window.ticks.max(self.ticks);
        self.now = with.context.clock.ns(self.ticks);
        if self.gap {
            self.gap = false;
            self.resume(with, window, builder, out)?;
        }
        Ok(())
    }

    /// Makes the open stack what the window's head says, after records were lost.
    fn resume(
        &mut self,
        with: &With<'_>,
        window: &Window,
        builder: &mut Builder,
        out: &mut Happened,
    ) -> Result<(), Error> {
        let open = with.index.open_stack(window)?;
        let common = common(builder, &open);
        self.close(&with.context.clock, builder, out, common);
        builder.advance(self.now);
        self.enter_open(with, window, &open[common..], builder, out);
        Ok(())
    }

    /// Enters regions that were open when a window began.
    fn enter_open(
        &self,
        with: &With<'_>,
        window: &Window,
        open: &[Open],
        builder: &mut Builder,
        out: &Happened,
    ) {
        let now = with.context.clock.ns(window.ticks.max(self.ticks));
        for entry in open {
            let start = with.context.clock.ns(entry.ticks).min(now);
            let slab = out.slab_of(start);
            let context = with.context;
            builder.enter_earlier(entry.site, entry.ticks, start, slab, || {
                context.site(with.globals, entry.site)
            });
        }
    }

    /// Closes all regions but the outermost `keep` at the last known instant.
    fn close(&mut self, clock: &Clock, builder: &mut Builder, out: &mut Happened, keep: usize) {
        while builder.stack.len() > keep {
            self.truncated += 1;
            let now = builder.last;
            if builder.leave(clock.ticks_at(now), now).is_some_and(|frame| frame.waiting) {
                out.left(builder.stack.len() as u32, now);
            }
        }
    }

    #[inline]
    fn records(
        &mut self,
        with: &With<'_>,
        bytes: &[u8],
        limit: u64,
        builder: &mut Builder,
        out: &mut Happened,
    ) -> (usize, Stop) {
        let clock = &with.context.clock;
        let mut at = 0;
        loop {
            let before = at;
            let Some(record) = Record::decode(bytes, &mut at) else { return (before, Stop::Short) };
            match record {
                Record::Enter { site, delta } => {
                    let ticks = self.ticks.saturating_add(delta);
                    if ticks >= limit {
                        return (before, Stop::Boundary);
                    }
                    self.ticks = ticks;
                    self.now = clock.ns(ticks);
                    self.events += 1;
                    builder.enter(site, ticks, self.now, || with.context.site(with.globals, site));
                }
                Record::Leave { delta } => {
                    let ticks = self.ticks.saturating_add(delta);
                    if ticks >= limit {
                        return (before, Stop::Boundary);
                    }
                    self.ticks = ticks;
                    self.now = clock.ns(ticks);
                    self.events += 1;
                    if let Some(frame) = builder.leave(ticks, self.now)
                        && frame.waiting
                    {
                        out.left(builder.stack.len() as u32, self.now);
                    }
                }
                other => {
                    if !self.rare(with, other, limit, builder, out) {
                        return (before, Stop::Boundary);
                    }
                }
            }
        }
    }

    /// Goes on by `delta` ticks; false if that is beyond the limit.
    fn pass(&mut self, with: &With<'_>, delta: u64, limit: u64, builder: &mut Builder) -> bool {
        let ticks = self.ticks.saturating_add(delta);
        if ticks >= limit {
            return false;
        }
        self.ticks = ticks;
        self.now = with.context.clock.ns(ticks);
        self.events += 1;
        builder.advance(self.now);
        true
    }

    /// Any record but enter and leave; false if it lies beyond the limit.
    #[inline(never)]
    fn rare(
        &mut self,
        with: &With<'_>,
        record: Record<'_>,
        limit: u64,
        builder: &mut Builder,
        out: &mut Happened,
    ) -> bool {
        let context = with.context;
        if record.passed().is_some_and(|passed| self.ticks.saturating_add(passed) >= self.cap) {
            return false;
        }
        if record.delta().is_some_and(|delta| !self.pass(with, delta, limit, builder)) {
            return false;
        }
        let now = self.now;
        match record {
            Record::Begin { site, token, .. } => {
                out.begin(token, context.site(with.globals, site).region, now);
            }
            Record::End { token, .. } => out.end(token, now),
            Record::LaneEnter { lane, site, .. } => {
                out.lanes.push(LaneMark { lane, time: now, ticks: self.ticks, site, is_enter: true });
            }
            Record::LaneLeave { lane, site, .. } => {
                out.lanes.push(LaneMark { lane, time: now, ticks: self.ticks, site, is_enter: false });
            }
            Record::LaneEarlier { lane, site, back, is_enter } => {
                let ticks = self.ticks.saturating_sub(back);
                out.lanes.push(LaneMark { lane, time: context.clock.ns(ticks), ticks, site, is_enter });
            }
            Record::Event { kind, fields, .. } => out.event(context, kind, now, fields),
            Record::Attribute { kind, fields } => {
                let time = builder.stack.last().map_or(now, |frame| frame.start);
                out.event(context, kind, time, fields);
            }
            Record::Counter { counter, value, .. } => {
                if let Some(&counter) = context.counters.get(&counter) {
                    out.counters.push((now, counter, value));
                }
            }
            Record::Edge { kind, thread, back, noun } => {
                let from = context.clock.ns(self.ticks.saturating_sub(back));
                out.edge(context, kind, thread, from, now, noun);
            }
            Record::ThreadEnd { .. } => self.ended = true,
            Record::Folded { site, visits, .. } => {
                let folded = Folded::new(&context.clock, self.ticks, &visits);
                self.ticks = self.ticks.saturating_add(visits.span);
                self.now = folded.stretch.end;
                builder.fold(site, &folded, || context.site(with.globals, site));
            }
            Record::Counted { site, visits } => {
                self.untimed = self.untimed.saturating_add(visits);
                builder.count(site, visits, || context.site(with.globals, site));
            }
            Record::Rma { .. } | Record::Io { .. } | Record::Access { .. } => {
                self.access(with, &record, builder, out)
            }
            other => self.operation(context, other, builder, out),
        }
        true
    }

    /// An operation on a window, a file or a datum.
    fn access(&self, with: &With<'_>, record: &Record<'_>, builder: &mut Builder, out: &mut Happened) {
        let context = with.context;
        let moved = record.accessed();
        let mut begin = |part: Option<&Part>| {
            let path = builder.access(part.map(|part| part.set), moved);
            let enter = builder.stack.last().map_or(self.now, |frame| frame.start);
            (enter, path, part.map_or(NONE, |part| part.noun))
        };
        match *record {
            Record::Rma { kind, window, target, bytes, displacement, data, shape } => {
                let known = context.windows.get(&window);
                let (time, path, window) = begin(known.map(|(part, _)| part));
                let kind = RmaKind::from_code(kind.into());
                let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
                let peer = known.map_or(NONE, |(_, seen)| with.globals.process_of(seen.communicator, target));
                let array = context.data.get(&data).map_or(NONE, |(row, _)| *row);
                let windows = &with.globals.windows;
                let how = kind.and_then(RmaKind::access);
                let reached = how.zip(known).and_then(|(how, (_, seen))| {
                    let both = (context.process, peer);
                    Some((how, windows.reached(seen.window, both, displacement, self.now)?))
                });
                if let Some((how, (array, offset))) = reached {
                    out.accesses.push(Accessed {
                        time,
                        path,
                        kind: how.name(),
                        array,
                        target: windows.rank(peer),
                        peer,
                        bytes,
                        offset,
                        shape: context.shapes.get(&shape).copied().unwrap_or(NONE),
                        leave: -1,
                    });
                }
                let target_array = reached.map_or(NONE, |(_, (array, _))| array);
                let kind = kind.map_or("unknown", RmaKind::name);
                let row =
                    Rma { time, path, kind, window, target, bytes, displacement, peer, array, target_array };
                out.rma.push(row);
            }
            Record::Access { access } => {
                let known = context.data.get(&access.data);
                let (time, path, _) = begin(known.map(|(_, part)| part));
                let (target, peer) = match access.target {
                    Access::HERE => (-1, context.process),
                    rank => (rank, context.worlds_process(with.globals, rank)),
                };
                out.accesses.push(Accessed {
                    time,
                    path,
                    kind: AccessKind::from_code(access.kind).map_or("unknown", AccessKind::name),
                    array: known.map_or(NONE, |(array, _)| *array),
                    target,
                    peer,
                    bytes: i64::try_from(access.bytes).unwrap_or(i64::MAX),
                    offset: i64::try_from(access.offset).unwrap_or(i64::MAX),
                    shape: context.shapes.get(&access.shape).copied().unwrap_or(NONE),
                    leave: -1,
                });
            }
            Record::Io { file, kind, bytes, offset } => {
                let (enter, path, noun) = begin(context.files.get(&file));
                out.io(enter, path, kind, noun, bytes, offset);
            }
            _ => {}
        }
    }
}
