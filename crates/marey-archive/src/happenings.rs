//! An archive's events as analysis sees them.
//!
//! The one idea: parts are read one after the other and rows handed out batch by batch, so that memory does not grow
//! with the run. What lies across slabs stands apart in the archive, is little, and is put back among the others here.
//!
//! What is deliberately absent: definitions and sums ([`crate::RunTrace`]).

mod on_path;
mod one_sided;
mod overlapping;
mod windows;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use marey_analyze::{
    CommunicatorId, Done, Edge, Happenings, Interval, Member, Message, Receiving, SampledRow, Sending, Span,
    Tick, Trace, Unread, Visit,
};
use marey_model::{CallPathId, EdgeKind, LocationId, Nanos, ProcessId, StackId};
use rustc_hash::FxHashMap;

use crate::columns::Columns;
use crate::schema::{self, NONE};
use crate::{Archive, Error, Filter, Part, RunTrace};

/// The events of a run.
#[derive(Debug)]
pub struct Events<'a> {
    archive: &'a Archive,
    communicators: Vec<Processes>,
    /// Process of each location.
    process_of: Vec<ProcessId>,
    /// Slabs: when each begins, and its number in the archive.
    slabs: Vec<(Nanos, u32)>,
    /// Intervals across slabs, by the slab that they begin in, location and start.
    long: Vec<Vec<Visit>>,
    /// When the last of them ends, by that slab.
    long_until: Vec<Nanos>,
    /// From the first instant of any location to the last.
    life: (Nanos, Nanos),
    /// Edges of one-sided windows, once somebody has asked for them.
    of_windows: OnceLock<(Vec<Edge>, Result<(), Unread>)>,
}

impl<'a> Events<'a> {
    /// The events of an archive of which `trace` has the definitions.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn open(archive: &'a Archive, trace: &RunTrace) -> Result<Self, Error> {
        let communicators = archive.table("communicators")?;
        let communicators = communicators.text("members")?.iter().map(|text| Processes::of(text)).collect();
        let process_of = trace.locations().iter().map(|location| location.process).collect();
        let life = || trace.locations().iter();
        let life = (life().map(|it| it.start).min(), life().map(|it| it.end).max());
        let life = (life.0.unwrap_or_default(), life.1.unwrap_or_default());
        // The last slab has what lies across the others.
        let last = archive.parts("intervals").iter().map(|part| part.slab).max().unwrap_or(0);
        let mut begins: BTreeMap<u32, i64> = BTreeMap::new();
        for part in archive.parts("intervals").iter().filter(|part| part.slab < last) {
            let begin = begins.entry(part.slab).or_insert(i64::MAX);
            *begin = part.min_time.unwrap_or(0).min(*begin);
        }
        let mut slabs: Vec<_> = begins.into_iter().map(|(slab, begin)| (Nanos(begin), slab)).collect();
        if slabs.is_empty() {
            slabs.push((Nanos(0), NONE));
        }
        slabs[0].0 = Nanos(0);
        let long = vec![Vec::new(); slabs.len()];
        let of_windows = OnceLock::new();
        let long_until = vec![Nanos(i64::MIN); slabs.len()];
        let mut events =
            Self { archive, communicators, process_of, long, long_until, slabs, life, of_windows };
        let mut long = std::mem::take(&mut events.long);
        for part in events.parts("intervals", last) {
            events.read_intervals(part, |rows: &[Visit]| {
                for row in rows {
                    let slab = events.slabs.partition_point(|slab| slab.0 <= row.interval.start).max(1) - 1;
                    long[slab].push(*row);
                }
            })?;
        }
        for (rows, until) in long.iter_mut().zip(&mut events.long_until) {
            rows.sort_by_key(|row| order(&row.interval));
            *until = rows.iter().map(|row| row.interval.end).max().unwrap_or(*until);
        }
        events.long = long;
        Ok(events)
    }

    /// The parts of a table in a slab, by location.
    fn parts(&self, table: &str, slab: u32) -> Vec<&'a Part> {
        let mut parts: Vec<_> = self.archive.parts(table).iter().filter(|part| part.slab == slab).collect();
        parts.sort_by_key(|part| part.group);
        parts
    }

    /// Hands out the rows of a part, of which only those columns are read that are wanted.
    fn read_intervals<R: Row>(&self, part: &Part, each: impl FnMut(&[R])) -> Result<(), Error> {
        self.read_some_intervals(part, &[], each)
    }

    /// The same of rows that pass all filters.
    fn read_some_intervals<R: Row>(
        &self,
        part: &Part,
        filters: &[Filter<'_>],
        mut each: impl FnMut(&[R]),
    ) -> Result<(), Error> {
        let mut rows = Vec::new();
        let mut damage = Ok(());
        let mut outside = 0;
        self.archive.scan_part(&schema::INTERVALS, part, R::COLUMNS, filters, |batch| {
            rows.clear();
            match R::read(batch, &mut rows) {
                Ok(()) => {
                    let before = rows.len();
                    rows.retain(|row| {
                        let (location, start, end) = row.life();
                        start <= end && self.is_in_run([start, end]) && self.is_known(location)
                    });
                    outside += (before - rows.len()) as u64;
                    each(&rows);
                }
                Err(error) => damage = Err(error),
            }
        })?;
        damage.and_then(|()| outside_of_run("intervals", outside))
    }

    /// Whether times can be right. Nothing is recorded before the first location is there or behind the end of the last, and
    /// a single bit that has tipped over makes a visit longer than the run a hundred times; all sums would be of that.
    fn is_in_run<const N: usize>(&self, times: [Nanos; N]) -> bool {
        times.iter().all(|time| self.life.0 <= *time && *time <= self.life.1)
    }

    /// Whether a location is there. An id is damaged as easily as a time, and tables as long as there are locations are looked up
    /// by it.
    fn is_known(&self, location: LocationId) -> bool {
        location.idx() < self.process_of.len()
    }

    fn is_call_in_run(&self, call: &Done) -> bool {
        self.is_in_run([call.start, call.end]) && call.start <= call.end
    }

    /// Whether all that is known of a message can be right.
    fn is_message_in_run(&self, message: &Message) -> bool {
        let is_sent = |it: &Sending| {
            self.is_known(it.location)
                && self.is_in_run([it.send])
                && it.done.as_ref().is_none_or(|done| self.is_call_in_run(done))
        };
        let is_received = |it: &Receiving| {
            self.is_known(it.location) && self.is_in_run([it.post]) && self.is_call_in_run(&it.done)
        };
        message.sending.as_ref().is_none_or(is_sent) && message.receiving.as_ref().is_none_or(is_received)
    }

    /// All rows of a slab in order, those that lie across slabs put back among the others.
    fn rows_of<R: Row>(&self, slab: usize, each: &mut dyn FnMut(&[R])) -> Result<(), Unread> {
        let mut long = self.long[slab].iter().map(|visit| R::from(*visit)).peekable();
        let mut damage = Vec::new();
        let mut merged = Vec::new();
        for part in self.parts("intervals", self.slabs[slab].1) {
            let done = self.read_intervals(part, |rows: &[R]| {
                let Some(last) = rows.last() else { return };
                if long.peek().is_none_or(|row| row.order() > last.order()) {
                    return each(rows);
                }
                merged.clear();
                for row in rows {
                    while let Some(earlier) = long.next_if(|earlier| earlier.order() < row.order()) {
                        merged.push(earlier);
                    }
                    merged.push(*row);
                }
                each(&merged);
            });
            damage.extend(done.err());
        }
        let rest: Vec<R> = long.collect();
        if !rest.is_empty() {
            each(&rest);
        }
        unread(&damage)
    }

    /// Reads a table, but for parts of which all rows lie outside of a span.
    fn read(
        &self,
        table: &str,
        columns: &[&str],
        span: Span,
        mut each: impl FnMut(&Columns) -> Result<(), Error>,
    ) -> Result<(), Unread> {
        let Some(spec) = schema::table(table) else { return Ok(()) };
        let mut damage = Vec::new();
        for part in self.archive.parts(table) {
            // Parts without times have rows of any time.
            let (first, last) = (part.min_time.unwrap_or(i64::MIN), part.max_time.unwrap_or(i64::MAX));
            if last < span.from.0 || span.to.0 <= first {
                continue;
            }
            let mut wrong = None;
            let done = self
                .archive
                .scan_part(spec, part, columns, &[], |batch| wrong = each(batch).err().or(wrong.take()));
            damage.extend(done.err().into_iter().chain(wrong));
        }
        unread(&damage)
    }

    /// What samples of a context stand for, which only their sums say: by location, call path and stack.
    fn periods(&self) -> Result<FxHashMap<(u32, u32, u32), Period>, Error> {
        let rows = self.archive.table("sampled")?;
        let (paths, locations, stacks) = (rows.u32("call_path")?, rows.u32("location")?, rows.u32("stack")?);
        let (numbers, times, complete) = (rows.i64("periods")?, rows.i64("time")?, rows.u32("complete")?);
        let period = |row: usize| {
            let ns = times[row].checked_div(numbers[row]).unwrap_or(0).max(0);
            ((locations[row], paths[row], stacks[row]), Period { ns, is_complete: complete[row] != 0 })
        };
        Ok((0..rows.len()).map(period).collect())
    }

    /// How many processes of a communicator were measured, of an intercommunicator of both groups.
    pub fn measured_of(&self, communicator: CommunicatorId) -> Option<usize> {
        self.communicators.get(communicator.0 as usize).map(|it| it.number)
    }

    /// The process of a rank of a communicator; `None` = it was not measured, or there is none, as in an intercommunicator.
    pub fn process_of_rank(&self, communicator: CommunicatorId, rank: i64) -> Option<ProcessId> {
        let communicator = self.communicators.get(communicator.0 as usize)?;
        *communicator.by_rank.get(usize::try_from(rank).ok()?)?
    }

    /// Names the root of an operation of which all known members are there.
    fn find_root(&self, operation: &mut [Member], root: i64) {
        let process = operation.first().and_then(|first| self.process_of_rank(first.communicator, root));
        let is_root = |member: &&Member| self.process_of.get(member.location.idx()).copied() == process;
        let root = operation.iter().find(is_root).map(|member| member.location).filter(|_| process.is_some());
        operation.iter_mut().for_each(|member| member.root = root);
    }
}

/// What a period of a sample is.
#[derive(Clone, Copy, Debug, Default)]
struct Period {
    /// Processor time, ns.
    ns: i64,
    /// Whether stacks there go up to the beginning of the thread.
    is_complete: bool,
}

/// What is read of an interval.
trait Row: Copy + From<Visit> {
    const COLUMNS: &'static [&'static str];

    fn read(batch: &Columns, rows: &mut Vec<Self>) -> Result<(), Error>;

    /// Where, from when, and until when.
    fn life(&self) -> (LocationId, Nanos, Nanos);

    /// Rows of a slab are in this order.
    fn order(&self) -> (LocationId, Nanos, u32);
}

/// What a picture shows of a visit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bar {
    /// Where.
    pub location: LocationId,
    /// When the region was entered.
    pub start: Nanos,
    /// When it was left.
    pub end: Nanos,
    /// The region and those above it.
    pub call_path: CallPathId,
    /// How much of its time lies between the visits that it stands for.
    pub between: Nanos,
}

impl From<Visit> for Bar {
    fn from(Visit { interval: it, between, .. }: Visit) -> Self {
        Self { location: it.location, start: it.start, end: it.end, call_path: it.call_path, between }
    }
}

impl Row for Bar {
    const COLUMNS: &'static [&'static str] = &["location", "start", "duration", "call_path", "gaps"];

    fn read(batch: &Columns, rows: &mut Vec<Self>) -> Result<(), Error> {
        let (locations, paths) = (batch.u32("location")?, batch.u32("call_path")?);
        let (starts, durations) = (batch.i64("start")?, batch.i64("duration")?);
        let gaps = batch.i64("gaps")?;
        rows.extend((0..batch.len()).map(|row| Self {
            location: LocationId(locations[row]),
            start: Nanos(starts[row]),
            end: Nanos(starts[row].saturating_add(durations[row])),
            call_path: CallPathId(paths[row]),
            between: Nanos(gaps[row].max(0)),
        }));
        Ok(())
    }

    fn life(&self) -> (LocationId, Nanos, Nanos) {
        (self.location, self.start, self.end)
    }

    fn order(&self) -> (LocationId, Nanos, u32) {
        (self.location, self.start, 0)
    }
}

impl Row for Interval {
    const COLUMNS: &'static [&'static str] =
        &["location", "start", "duration", "call_path", "depth", "visits", "gaps"];

    fn read(batch: &Columns, rows: &mut Vec<Self>) -> Result<(), Error> {
        let (locations, paths, depths) =
            (batch.u32("location")?, batch.u32("call_path")?, batch.u32("depth")?);
        let (starts, durations) = (batch.i64("start")?, batch.i64("duration")?);
        // Archives of before version 3 do not have them, nor any interval that stands for several visits.
        let (numbers, gaps) = (batch.u32("visits")?, batch.i64("gaps")?);
        rows.extend((0..batch.len()).map(|row| Interval {
            location: LocationId(locations[row]),
            start: Nanos(starts[row]),
            end: Nanos(starts[row].saturating_add(durations[row])),
            call_path: CallPathId(paths[row]),
            depth: depths[row],
            visits: known(numbers[row]).unwrap_or(1),
            computed: match gaps[row] {
                ..1 => Nanos(0),
                gaps => {
                    let gaps = gaps.min(durations[row].max(0));
                    Interval::computed_between(Nanos(gaps), known(numbers[row]).unwrap_or(1))
                }
            },
        }));
        Ok(())
    }

    fn life(&self) -> (LocationId, Nanos, Nanos) {
        (self.location, self.start, self.end)
    }

    fn order(&self) -> (LocationId, Nanos, u32) {
        order(self)
    }
}

impl Row for Visit {
    const COLUMNS: &'static [&'static str] =
        &["location", "start", "duration", "call_path", "depth", "bytes", "visits", "gaps"];

    fn read(batch: &Columns, rows: &mut Vec<Self>) -> Result<(), Error> {
        let mut intervals = Vec::with_capacity(batch.len());
        Interval::read(batch, &mut intervals)?;
        let (bytes, gaps) = (batch.i64("bytes")?, batch.i64("gaps")?);
        rows.extend(intervals.into_iter().zip(0..).map(|(interval, row): (_, usize)| Self {
            interval,
            bytes: u64::try_from(bytes[row]).ok(),
            between: Nanos(gaps[row].max(0)),
        }));
        Ok(())
    }

    fn life(&self) -> (LocationId, Nanos, Nanos) {
        self.interval.life()
    }

    fn order(&self) -> (LocationId, Nanos, u32) {
        order(&self.interval)
    }
}

/// Visits of a slab are in this order.
fn order(interval: &Interval) -> (LocationId, Nanos, u32) {
    (interval.location, interval.start, interval.depth)
}

impl Happenings for Events<'_> {
    fn slabs(&self) -> Vec<Nanos> {
        self.slabs.iter().map(|slab| slab.0).collect()
    }

    fn intervals(&self, slab: usize, each: &mut dyn FnMut(&[Interval])) -> Result<(), Unread> {
        self.rows_of(slab, each)
    }

    fn visits(&self, slab: usize, each: &mut dyn FnMut(&[Visit])) -> Result<(), Unread> {
        self.rows_of(slab, each)
    }

    fn open_at(&self, slab: usize) -> Result<Vec<Interval>, Unread> {
        Ok(self.visits_open_at(slab)?.into_iter().map(Interval::from).collect())
    }

    fn visits_open_at(&self, slab: usize) -> Result<Vec<Visit>, Unread> {
        // They lie across slabs, so they are among the long ones.
        let Some(begin) = self.slabs.get(slab).map(|slab| slab.0) else { return Ok(Vec::new()) };
        let earlier = self.long[..slab].iter().flatten().copied();
        let mut open: Vec<Visit> = earlier.filter(|visit| visit.interval.end > begin).collect();
        open.sort_by_key(|visit| order(&visit.interval));
        Ok(open)
    }

    fn messages(&self, each: &mut dyn FnMut(&[Message])) -> Result<(), Unread> {
        self.messages_in(Span::ALL, each)
    }

    fn messages_in(&self, span: Span, each: &mut dyn FnMut(&[Message])) -> Result<(), Unread> {
        let columns = [
            "send_location",
            "send_time",
            "send_end",
            "send_start",
            "send_path",
            "send_done_path",
            "recv_location",
            "recv_post",
            "recv_start",
            "recv_time",
            "recv_path",
            "bytes",
            "communicator",
        ];
        let mut rows = Vec::new();
        let mut outside = 0;
        let read = self.read("messages", &columns, span, |batch| {
            let number = |name| batch.i64(name);
            let (sends, send_ends, send_starts) =
                (number("send_time")?, number("send_end")?, number("send_start")?);
            let (posts, starts, ends) = (number("recv_post")?, number("recv_start")?, number("recv_time")?);
            let (senders, receivers) = (batch.u32("send_location")?, batch.u32("recv_location")?);
            let (send_paths, done_paths) = (batch.u32("send_path")?, batch.u32("send_done_path")?);
            let (paths, communicators) = (batch.u32("recv_path")?, batch.u32("communicator")?);
            let bytes = number("bytes")?;
            let sending = |row: usize| {
                (senders[row] != NONE && sends[row] >= 0).then(|| Sending {
                    location: LocationId(senders[row]),
                    send: Nanos(sends[row]),
                    call_path: path(send_paths[row]),
                    done: done(send_starts[row], send_ends[row], done_paths[row]),
                })
            };
            let receiving = |row: usize| {
                let done = done(starts[row], ends[row], paths[row])?;
                // A post that is not known is not before the completion at least.
                let post = if posts[row] < 0 { done.start } else { Nanos(posts[row]) };
                (receivers[row] != NONE).then(|| Receiving {
                    location: LocationId(receivers[row]),
                    post,
                    done,
                })
            };
            rows.clear();
            rows.extend((0..batch.len()).map(|row| Message {
                sending: sending(row),
                receiving: receiving(row),
                bytes: u64::try_from(bytes[row]).unwrap_or(0),
                communicator: known(communicators[row]).map(CommunicatorId),
            }));
            rows.retain(|row| self.is_message_in_run(row));
            outside += (batch.len() - rows.len()) as u64;
            each(&rows);
            Ok(())
        });
        read.and_then(|()| unread(&Vec::from_iter(outside_of_run("messages", outside).err())))
    }

    fn members(&self, each: &mut dyn FnMut(&[Member])) -> Result<(), Unread> {
        let columns = [
            "communicator",
            "instance",
            "location",
            "enter",
            "leave",
            "call_path",
            "root",
            "bytes_out",
            "bytes_in",
            "start",
            "done_path",
        ];
        // Operations of which members left in different slabs come in pieces.
        let mut open: FxHashMap<(u32, u32), Vec<Member>> = FxHashMap::default();
        let mut roots: FxHashMap<(u32, u32), i64> = FxHashMap::default();
        let mut emit = |mut operation: Vec<Member>, root: i64| {
            self.find_root(&mut operation, root);
            each(&operation);
        };
        let mut outside = 0;
        let result = self.read("collectives", &columns, Span::ALL, |batch| {
            let (communicators, instances) = (batch.u32("communicator")?, batch.u32("instance")?);
            let (locations, enters, leaves) =
                (batch.u32("location")?, batch.i64("enter")?, batch.i64("leave")?);
            let (starts, paths, done_paths) =
                (batch.i64("start")?, batch.u32("call_path")?, batch.u32("done_path")?);
            let (outs, ins, all_roots) =
                (batch.i64("bytes_out")?, batch.i64("bytes_in")?, batch.i64("root")?);
            for row in 0..batch.len() {
                let key = (communicators[row], instances[row]);
                let done = done(starts[row], leaves[row], done_paths[row]);
                let is_right = done.as_ref().is_none_or(|done| self.is_call_in_run(done));
                let is_right = is_right && self.is_known(LocationId(locations[row]));
                if !is_right || !self.is_in_run([Nanos(enters[row])]) {
                    outside += 1;
                    continue;
                }
                let operation = open.entry(key).or_default();
                operation.push(Member {
                    communicator: CommunicatorId(key.0),
                    instance: key.1,
                    location: LocationId(locations[row]),
                    enter: Nanos(enters[row]),
                    call_path: path(paths[row]),
                    done,
                    root: None,
                    bytes_out: u64::try_from(outs[row]).unwrap_or(0),
                    bytes_in: u64::try_from(ins[row]).unwrap_or(0),
                });
                if all_roots[row] >= 0 {
                    roots.insert(key, all_roots[row]);
                }
                let all = self.communicators.get(key.0 as usize).map_or(usize::MAX, |it| it.number);
                if operation.len() >= all {
                    let operation = open.remove(&key).unwrap_or_default();
                    emit(operation, roots.remove(&key).unwrap_or(-1));
                }
            }
            Ok(())
        });
        let mut left: Vec<_> = open.into_iter().collect();
        left.sort_unstable_by_key(|(key, _)| *key);
        for (key, operation) in left {
            emit(operation, roots.remove(&key).unwrap_or(-1));
        }
        let whole =
            result.and_then(|()| unread(&Vec::from_iter(outside_of_run("collectives", outside).err())));
        whole.and(self.fences(each))
    }

    fn ticks_in(&self, span: Span, each: &mut dyn FnMut(&[Tick])) -> Result<(), Unread> {
        let mut rows = Vec::new();
        self.read("samples", &["location", "time", "periods"], span, |batch| {
            let (locations, times, periods) =
                (batch.u32("location")?, batch.i64("time")?, batch.i64("periods")?);
            rows.clear();
            rows.extend(
                (0..batch.len()).filter(|row| span.from.0 <= times[*row] && times[*row] < span.to.0).map(
                    |row| Tick {
                        location: LocationId(locations[row]),
                        time: Nanos(times[row]),
                        periods: u64::try_from(periods[row]).unwrap_or(0),
                    },
                ),
            );
            each(&rows);
            Ok(())
        })
    }

    fn sampled_in(&self, span: Span, each: &mut dyn FnMut(&[SampledRow])) -> Result<(), Unread> {
        let periods = self.periods().map_err(|error| Unread(vec![error.to_string()]))?;
        let mut rows = Vec::new();
        self.read("samples", &["location", "time", "call_path", "stack", "periods"], span, |batch| {
            let (locations, times) = (batch.u32("location")?, batch.i64("time")?);
            let (paths, stacks, numbers) =
                (batch.u32("call_path")?, batch.u32("stack")?, batch.i64("periods")?);
            let sampled = |row: usize| {
                let of = periods.get(&(locations[row], paths[row], stacks[row])).copied().unwrap_or_default();
                SampledRow {
                    call_path: path(paths[row]),
                    location: LocationId(locations[row]),
                    stack: known(stacks[row]).map(StackId),
                    samples: 1,
                    time: Nanos(numbers[row].max(0).saturating_mul(of.ns)),
                    is_complete: of.is_complete,
                }
            };
            rows.clear();
            let is_in = |row: &usize| span.from.0 <= times[*row] && times[*row] < span.to.0;
            rows.extend((0..batch.len()).filter(is_in).map(sampled));
            each(&rows);
            Ok(())
        })
    }

    fn edges(&self, each: &mut dyn FnMut(&[Edge])) -> Result<(), Unread> {
        self.edges_in(Span::ALL, each)
    }

    fn edges_in(&self, span: Span, each: &mut dyn FnMut(&[Edge])) -> Result<(), Unread> {
        let columns = ["kind", "from_location", "from_time", "to_location", "to_time"];
        let (of_windows, whether) = self.of_windows.get_or_init(|| self.edges_of_windows());
        let is_in = |edge: &&Edge| edge.from.1 < span.to && span.from <= edge.to.1;
        let mut rows: Vec<Edge> = of_windows.iter().filter(is_in).copied().collect();
        each(&rows);
        let is_right = |edge: &Edge| {
            let ends = [edge.from, edge.to];
            self.is_in_run(ends.map(|end| end.1)) && ends.iter().all(|end| self.is_known(end.0))
        };
        let mut outside = 0;
        let read = self.read("edges", &columns, span, |batch| {
            let kinds = batch.text("kind")?;
            let (from, to) = (batch.u32("from_location")?, batch.u32("to_location")?);
            let (left, arrived) = (batch.i64("from_time")?, batch.i64("to_time")?);
            rows.clear();
            // Those of a kind that this version does not know are nothing to it.
            rows.extend((0..batch.len()).filter_map(|row| {
                Some(Edge {
                    kind: EdgeKind::from_name(&kinds[row])?,
                    from: (LocationId(from[row]), Nanos(left[row])),
                    to: (LocationId(to[row]), Nanos(arrived[row])),
                })
            }));
            let before = rows.len();
            rows.retain(is_right);
            outside += (before - rows.len()) as u64;
            each(&rows);
            Ok(())
        });
        read.and_then(|()| unread(&Vec::from_iter(outside_of_run("edges", outside).err())))
            .and_then(|()| whether.clone())
    }
}

/// An error if there are such rows.
fn outside_of_run(table: &'static str, number: u64) -> Result<(), Error> {
    if number == 0 { Ok(()) } else { Err(Error::OutsideOfRun { table, number }) }
}

fn known(id: u32) -> Option<u32> {
    (id != NONE).then_some(id)
}

fn path(id: u32) -> Option<CallPathId> {
    known(id).map(CallPathId)
}

/// A completing call, if all of it is known.
fn done(start: i64, end: i64, call_path: u32) -> Option<Done> {
    (start >= 0 && end >= start).then(|| Done {
        start: Nanos(start),
        end: Nanos(end),
        call_path: path(call_path),
    })
}

fn unread(damage: &[Error]) -> Result<(), Unread> {
    if damage.is_empty() { Ok(()) } else { Err(Unread(damage.iter().map(ToString::to_string).collect())) }
}

/// The processes of a communicator.
#[derive(Debug)]
struct Processes {
    /// In the order of their ranks, `None` for those that were not measured; of an intercommunicator, none: ranks of both
    /// groups begin at 0.
    by_rank: Vec<Option<ProcessId>>,
    /// How many were measured, of both groups.
    number: usize,
}

impl Processes {
    /// Those of a text such as `0-3,?,7`, or `0-1|2,3`.
    fn of(text: &str) -> Self {
        // More than there are locations would be nonsense; a damaged text must not fill the memory.
        let all = text.split([',', '|']).flat_map(ids).take(1 << 24);
        if text.contains('|') {
            return Self { by_rank: Vec::new(), number: all.flatten().count() };
        }
        let by_rank: Vec<Option<ProcessId>> = all.collect();
        Self { number: by_rank.iter().flatten().count(), by_rank }
    }
}

/// The processes of a piece such as `0-3`; of `?` one that was not measured.
fn ids(piece: &str) -> impl Iterator<Item = Option<ProcessId>> {
    let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
    let range = first.trim().parse::<u32>().ok().zip(last.trim().parse().ok());
    let unknown = range.is_none().then_some(None);
    range.map(|(first, last)| first..=last).into_iter().flatten().map(|id| Some(ProcessId(id))).chain(unknown)
}
