//! Where the windows of a spool lie: the first pass, which reads heads only.
//!
//! The one idea: a window is found by its aligned head and believed by its check word. Whatever
//! lies between sound windows is a hole if it is zero and damage if not; neither stops the scan.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use marey_model::Triple;
use marey_model::spool::{
    ALIGN, HEAD_LEN, Head, MAX_DEPTH, OPEN_LEN, Open, Stream, at, busy_len, view, window_len,
};

use crate::Error;

/// Where one window lies and what its head says.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// Which of [`Index::files`].
    pub file: u32,
    /// Offset of the head in the file.
    pub offset: u64,
    /// Number in its stream.
    pub sequence: u64,
    /// The time that the first record counts from.
    pub ticks: u64,
    /// The beginning on three clocks.
    pub triple: Triple,
    /// Number of regions open at the beginning.
    pub depth: u32,
    /// Offset of the end of the committed records from the head.
    pub end: u32,
    /// Bytes of records of the stream before this window.
    pub bytes_before: u64,
    /// Serial number of the last nonblocking operation that the stream named before this window.
    pub serial: u64,
    /// Buffer address that the first signature counts from.
    pub buffer: u64,
    /// How often the thread's records had been added up before.
    pub round: u64,
    /// Whether it is one that is added up when it is full.
    pub is_summing: bool,
    /// Events whose clock had run backwards, so far.
    pub late: u64,
    /// Events not written, so far.
    pub dropped: u64,
    /// Uncontended lock acquisitions, so far.
    pub locks: u64,
    /// Ticks at which the writer left the window; 0 while it has not.
    pub sealed: u64,
    /// Ticks that the recorder took in sampled calls of interposed functions, so far.
    pub sampled_ticks: u64,
    /// Calls that were sampled, so far.
    pub sampled_calls: u64,
    /// The call that was under way and not among the records ([`marey_model::spool::announced`]).
    pub announced: u64,
}

impl Window {
    /// Offset of the first record from the head.
    pub(crate) fn records_at(&self) -> u32 {
        u32::try_from(Head::records_at(self.depth as usize)).expect("depth is bounded by MAX_DEPTH")
    }

    /// Bytes of committed records.
    pub(crate) fn len(&self) -> u64 {
        u64::from(self.end.saturating_sub(self.records_at()))
    }
}

/// The windows of one stream in their order.
#[derive(Debug)]
pub(crate) struct StreamIndex {
    /// Key of the process.
    pub process: u64,
    /// Serial number of the thread.
    pub thread: u32,
    /// What it holds.
    pub kind: Stream,
    /// By sequence number, each once.
    pub windows: Vec<Window>,
    /// Windows that are missing between the first and the last one, and before the first.
    pub lost: u64,
    /// Which of [`Index::sums`] are the thread's, of events that there was no room for.
    pub sums: Option<usize>,
    /// Which are those of visits that were only to be counted or timed.
    pub beside: Option<usize>,
}

/// Where sums of a thread lie that did not record all of its events.
#[derive(Debug)]
pub(crate) struct SumsIndex {
    /// Key of the process.
    pub process: u64,
    /// Serial number of the thread.
    pub thread: u32,
    /// Since when there are sums, ticks.
    pub ticks: u64,
    /// How often records have been added up.
    pub summed: u64,
    /// They are of visits that were only to be counted or timed, beside events.
    pub is_beside: bool,
    /// The windows with the sums.
    pub windows: Vec<Window>,
    /// Windows with sums that are missing between the first and the last one.
    pub lost: u64,
    /// Those that say when their time passed.
    pub courses: Vec<Window>,
    /// Windows of these that are missing.
    pub lost_courses: u64,
}

/// Where samples of a thread lie.
#[derive(Debug)]
pub(crate) struct SamplesIndex {
    /// Key of the process.
    pub process: u64,
    /// Serial number of the thread.
    pub thread: u32,
    /// The windows with the tree, up to the first that is missing.
    pub tree: Vec<Window>,
    /// Those with the instants.
    pub instants: Vec<Window>,
    /// Windows that are missing between the first and the last one.
    pub lost: u64,
}

/// Where the heap of a process lies.
#[derive(Debug)]
pub(crate) struct HeapIndex {
    /// Key of the process.
    pub process: u64,
    /// The windows with the tree, up to the first that is missing.
    pub tree: Vec<Window>,
    /// Windows that are missing between the first and the last one.
    pub lost: u64,
}

/// A file of the spool.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its path, for messages.
    pub path: PathBuf,
    /// Open for reading.
    pub file: File,
}

/// All windows of a spool.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// The files, by name.
    pub files: Vec<Source>,
    /// The streams by (process, thread, kind).
    pub streams: Vec<StreamIndex>,
    /// Sums of threads, by (process, thread).
    pub sums: Vec<SumsIndex>,
    /// Samples of threads, by (process, thread).
    pub samples: Vec<SamplesIndex>,
    /// Heaps of processes, by process.
    pub heaps: Vec<HeapIndex>,
    /// Places where a window's head or end was damaged.
    pub damaged: u64,
    /// Processes that left two empty files.
    pub empty: u64,
}

/// Finds all windows of all files of a spool.
pub(crate) fn scan(spool: &Path) -> Result<Index, Error> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(spool).map_err(Error::io(spool))? {
        let entry = entry.map_err(Error::io(spool))?;
        let path = entry.path();
        let wanted = path.extension().is_some_and(|ext| ext == "events" || ext == "definitions");
        // Links are not followed: processes leave none, and they could lead to what is not of this run.
        if wanted && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            paths.push(path);
        }
    }
    paths.sort();
    let mut index = Index::default();
    let mut found = Vec::new();
    let is_empty = |path: &Path| path.metadata().is_ok_and(|file| file.len() == 0);
    for path in paths {
        if path.extension().is_some_and(|kind| kind == "definitions") && is_empty(&path) {
            let events = path.with_extension("events");
            index.empty += u64::from(!events.exists() || is_empty(&events));
        }
        let file = File::open(&path).map_err(Error::io(&path))?;
        let idx = u32::try_from(index.files.len()).expect("fewer files than 2^32");
        let source = Source { path, file };
        index.damaged += scan_file(&source, idx, &mut found)?;
        index.files.push(source);
    }
    found.sort_by_key(|(key, window): &(Key, Window)| (*key, window.sequence, window.file, window.offset));
    for (key, window) in found {
        index.add(key, window);
    }
    index.part_samples();
    index.part_heaps();
    index.part_sums();
    Ok(index)
}

/// (process, thread, kind)
type Key = (u64, u32, Stream);

/// Windows before the first that is missing. Nodes of a tree have the numbers that they have behind all
/// of them.
fn before_gap(windows: Vec<Window>) -> Vec<Window> {
    let numbered = (0..).zip(windows);
    numbered.take_while(|(number, window)| window.sequence == *number).map(|(_, window)| window).collect()
}

impl Index {
    fn add(&mut self, key: Key, window: Window) {
        let (process, thread, kind) = key;
        let same = self.streams.last().is_some_and(|last| (last.process, last.thread, last.kind) == key);
        if !same {
            let lost = window.sequence;
            self.streams.push(StreamIndex {
                process,
                thread,
                kind,
                windows: vec![window],
                lost,
                sums: None,
                beside: None,
            });
            return;
        }
        let stream = self.streams.last_mut().expect("just found");
        let last = stream.windows.last().expect("streams have a window").sequence;
        if window.sequence == last {
            // Two windows of one number: one of them is a stale copy; the first in the file stays.
            self.damaged += 1;
            return;
        }
        stream.lost = stream.lost.saturating_add(window.sequence - last - 1);
        stream.windows.push(window);
    }

    /// Parts samples from events.
    fn part_samples(&mut self) {
        let is_samples = |stream: &StreamIndex| matches!(stream.kind, Stream::Samples | Stream::Instants);
        let (samples, streams): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.streams).into_iter().partition(is_samples);
        self.streams = streams;
        for stream in samples {
            let StreamIndex { process, thread, windows, lost, .. } = stream;
            if stream.kind == Stream::Samples {
                let (tree, instants) = (before_gap(windows), Vec::new());
                self.samples.push(SamplesIndex { process, thread, tree, instants, lost });
                continue;
            }
            // The tree stands before the instants, which mean nothing without.
            match self.samples.last_mut().filter(|last| (last.process, last.thread) == (process, thread)) {
                Some(samples) => {
                    samples.instants = windows;
                    samples.lost = samples.lost.saturating_add(lost);
                }
                None => self.damaged += 1,
            }
        }
    }

    /// Parts heaps from events.
    fn part_heaps(&mut self) {
        let is_heap = |stream: &StreamIndex| stream.kind == Stream::Heap;
        let (heaps, streams): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.streams).into_iter().partition(is_heap);
        self.streams = streams;
        for StreamIndex { process, windows, lost, .. } in heaps {
            let tree = before_gap(windows);
            // Without its first window nobody knows what the others are of. A process has one heap; what
            // claims to be another is none.
            if tree.is_empty() || self.heaps.last().is_some_and(|last| last.process == process) {
                self.damaged += 1;
            } else {
                self.heaps.push(HeapIndex { process, tree, lost });
            }
        }
    }

    /// Which of the samples are those of a thread.
    pub(crate) fn samples_of(&self, stream: &StreamIndex) -> Option<usize> {
        let key = (stream.process, stream.thread);
        let place = self.samples.binary_search_by_key(&key, |its| (its.process, its.thread)).ok();
        place.filter(|_| stream.kind == Stream::Events)
    }

    /// Parts streams of sums from those of events, and from these what has been added up there.
    fn part_sums(&mut self) {
        let is_sums = |stream: &StreamIndex| matches!(stream.kind, Stream::Sums | Stream::Beside);
        let (sums, streams): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.streams).into_iter().partition(is_sums);
        let (mut courses, streams): (Vec<_>, Vec<_>) =
            streams.into_iter().partition(|stream| stream.kind == Stream::Courses);
        self.streams = streams;
        for stream in sums {
            // Without its first window nobody knows what the others are of.
            let Some(first) = stream.windows.first().filter(|first| first.sequence == 0) else {
                self.damaged += 1;
                continue;
            };
            // In such a window this word of the head says something else.
            let summed = first.sampled_calls;
            let (process, thread, ticks) = (stream.process, stream.thread, first.ticks);
            let key = (process, thread, Stream::Events);
            let of = |stream: &StreamIndex| (stream.process, stream.thread, stream.kind);
            let place = self.streams.partition_point(|stream| of(stream) < key);
            if self.streams.get(place).is_none_or(|stream| of(stream) != key) {
                // The process died while the thread's only window was being begun anew.
                let (kind, windows) = (Stream::Events, Vec::new());
                let events =
                    StreamIndex { process, thread, kind, windows, lost: 0, sums: None, beside: None };
                self.streams.insert(place, events);
            }
            let events = &mut self.streams[place];
            let is_beside = stream.kind == Stream::Beside;
            let (windows, lost) = (stream.windows, stream.lost);
            let mut sums = SumsIndex {
                process,
                thread,
                ticks,
                summed,
                is_beside,
                windows,
                lost,
                courses: Vec::new(),
                lost_courses: 0,
            };
            if !is_beside {
                // One that has been added up and not yet been begun anew.
                events.windows.retain(|window| !window.is_summing || window.round >= summed);
                events.sums = Some(self.sums.len());
                if let Ok(its) =
                    courses.binary_search_by_key(&(process, thread), |its| (its.process, its.thread))
                {
                    sums.courses = std::mem::take(&mut courses[its].windows);
                    sums.lost_courses = courses[its].lost;
                }
            } else {
                events.beside = Some(self.sums.len());
            }
            self.sums.push(sums);
        }
    }

    /// The sums of a stream of events, if its thread has some.
    pub(crate) fn sums_of(&self, stream: &StreamIndex) -> Option<&SumsIndex> {
        stream.sums.map(|place| &self.sums[place])
    }

    /// Those of the visits of its thread that were only to be counted or timed.
    pub(crate) fn beside(&self, stream: &StreamIndex) -> Option<&SumsIndex> {
        stream.beside.map(|place| &self.sums[place])
    }

    /// Which of `streams` are those of a process.
    pub(crate) fn streams_of(&self, process: u64) -> Range<usize> {
        let begin = self.streams.partition_point(|stream| stream.process < process);
        let len = self.streams[begin..].partition_point(|stream| stream.process == process);
        begin..begin + len
    }

    /// Reads up to `buffer.len()` bytes at `offset` of a file; fewer at its end.
    pub(crate) fn read(&self, file: u32, offset: u64, buffer: &mut [u8]) -> Result<usize, Error> {
        let source = &self.files[file as usize];
        read_up_to(&source.file, offset, buffer).map_err(Error::io(&source.path))
    }

    /// The regions open at the beginning of a window, outermost first.
    pub(crate) fn open_stack(&self, window: &Window) -> Result<Vec<Open>, Error> {
        let mut bytes = vec![0; window.depth as usize * OPEN_LEN];
        let read = self.read(window.file, window.offset + HEAD_LEN as u64, &mut bytes)?;
        let entries = bytes[..read].chunks_exact(OPEN_LEN);
        Ok(entries
            .map(|entry| {
                let (ticks, rest) = entry.split_first_chunk::<8>().expect("entries have 16 bytes");
                let site = rest.first_chunk::<4>().expect("entries have 16 bytes");
                Open { ticks: u64::from_le_bytes(*ticks), site: u32::from_le_bytes(*site), reserved: 0 }
            })
            .collect())
    }

    /// A number that changes with the committed content of the spool.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hash = Fingerprint::new();
        for stream in &self.streams {
            hash.add(stream.process);
            hash.add(u64::from(stream.thread) << 8 | stream.kind as u64);
            for window in &stream.windows {
                for value in [window.sequence, window.offset, window.ticks, u64::from(window.end)] {
                    hash.add(value);
                }
            }
        }
        for sums in &self.sums {
            for value in [sums.process, sums.thread.into(), sums.summed] {
                hash.add(value);
            }
        }
        for samples in &self.samples {
            hash.add(samples.process);
            hash.add(samples.thread.into());
            for window in samples.tree.iter().chain(&samples.instants) {
                hash.add(window.end.into());
            }
        }
        for heap in &self.heaps {
            hash.add(heap.process);
            heap.tree.iter().for_each(|window| hash.add(window.end.into()));
        }
        hash.0
    }
}

/// FNV-1a over words, enough to tell inputs apart that nobody forges.
pub(crate) struct Fingerprint(pub u64);

impl Fingerprint {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn add(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x0000_0100_0000_01b3);
        self.0 ^= self.0 >> 29;
    }
}

fn read_up_to(file: &File, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Adds the windows of one file and returns the number of damaged places.
fn scan_file(source: &Source, idx: u32, found: &mut Vec<(Key, Window)>) -> Result<u64, Error> {
    let io = || Error::io(&source.path);
    let len = source.file.metadata().map_err(io())?.len();
    let mut damaged = 0;
    let mut in_garbage = false;
    let mut at = 0;
    let mut head = [0; HEAD_LEN];
    while at < len {
        let read = read_up_to(&source.file, at, &mut head).map_err(io())?;
        let window = match window_len(&head[..read]) {
            Some(size) => read_head(source, at, &head)?.map(|seen| (size, seen)),
            None => None,
        };
        let Some((size, (key, mut window))) = window else {
            if let Some(size) = busy_len(&head[..read]) {
                at += size as u64;
                continue;
            }
            let is_hole = head[..read].iter().all(|&byte| byte == 0);
            damaged += u64::from(!is_hole && !in_garbage);
            in_garbage = !is_hole;
            at += ALIGN as u64;
            continue;
        };
        in_garbage = false;
        let claimed = window.0;
        let room = (len - at).min(size as u64);
        let end = claimed.clamp(u64::from(window.1.records_at()).min(room), room);
        damaged += u64::from(end != claimed);
        window.1.end = u32::try_from(end).expect("windows are below 2^30 bytes");
        window.1.file = idx;
        found.push((key, window.1));
        at += size as u64;
    }
    Ok(damaged)
}

/// The head at `at` with its claimed end; `None` if its check word is wrong.
#[expect(clippy::type_complexity, reason = "one caller")]
fn read_head(source: &Source, at: u64, head: &[u8]) -> Result<Option<(Key, (u64, Window))>, Error> {
    let depth = head.get(12..16).and_then(|b| b.first_chunk::<4>()).map_or(0, |b| u32::from_le_bytes(*b));
    let depth_len = (depth as usize).min(MAX_DEPTH) * OPEN_LEN;
    let mut bytes = vec![0; HEAD_LEN + depth_len];
    let read = read_up_to(&source.file, at, &mut bytes).map_err(Error::io(&source.path))?;
    let Some(seen) = view(&bytes[..read]) else { return Ok(None) };
    let claimed =
        bytes.get(at::CURSOR..).and_then(|b| b.first_chunk::<8>()).map_or(0, |b| u64::from_le_bytes(*b));
    let window = Window {
        file: 0,
        offset: at,
        sequence: seen.head.sequence,
        ticks: seen.head.ticks,
        triple: seen.head.triple,
        depth,
        end: 0,
        bytes_before: seen.head.bytes_before,
        serial: seen.head.serial,
        buffer: seen.head.buffer,
        round: seen.head.round,
        is_summing: seen.head.is_summing,
        late: seen.tail.late,
        dropped: seen.tail.dropped,
        locks: seen.tail.locks,
        sealed: seen.tail.sealed,
        sampled_ticks: seen.tail.sampled_ticks,
        sampled_calls: seen.tail.sampled_calls,
        announced: seen.tail.announced,
    };
    Ok(Some(((seen.head.process, seen.head.thread, seen.head.stream), (claimed, window))))
}
