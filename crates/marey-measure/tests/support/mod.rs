//! Reads what a process recorded and checks what must hold of every stream, by the slow and obvious
//! way: windows follow each other without a gap, times never go back, every leave has its enter,
//! each window's open stack is what the reader arrived at, and the bytes are the very ones that
//! [`Record::encode`] gives for the records they decode to.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use marey_model::spool::courses::{self, unit_log2, width_log2};
use marey_model::spool::sums::{self, Cell};
use marey_model::spool::{
    Definition, Direction, FieldType, HEAD_LEN, Head, Open, Record, Stream, Tail, get, get_signed, get_text,
};

const TEST: &str = "MAREY_TEST";
const SPOOL: &str = "MAREY_TEST_SPOOL";

/// The spool directory, in the process that plays the child in the test of this name.
pub(crate) fn spool_of(test: &str) -> Option<PathBuf> {
    (std::env::var(TEST).ok()? == test).then(|| PathBuf::from(std::env::var_os(SPOOL).unwrap()))
}

/// Runs a test of this program again, as the child that records. Its spool directory.
pub(crate) fn child(test: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let output = command(test, directory.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    directory
}

/// The command that [`child`] runs.
pub(crate) fn command(test: &str, directory: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(TEST, test).env(SPOOL, directory);
    command
}

pub(crate) struct Window {
    pub(crate) head: Head,
    pub(crate) tail: Tail,
    pub(crate) open: Vec<Open>,
    pub(crate) records: Vec<u8>,
}

/// What one process left.
pub(crate) struct Process {
    pub(crate) key: u64,
    pub(crate) streams: BTreeMap<(u32, u8), Vec<Window>>,
    pub(crate) definitions: Vec<u8>,
}

pub(crate) struct Spool {
    pub(crate) processes: Vec<Process>,
}

/// What the streams of a spool say together.
#[derive(Default, Debug)]
pub(crate) struct Checked {
    /// Enters of each region.
    pub(crate) visits: BTreeMap<String, u64>,
    /// Visits of each region that were counted only.
    pub(crate) counted: BTreeMap<String, u64>,
    pub(crate) enters: u64,
    /// Visits that were added up, and call paths of a thread that have sums.
    pub(crate) added_up: u64,
    pub(crate) cells: u64,
    /// Most buckets that a call path's time is known for.
    pub(crate) buckets: usize,
    /// Records that stand for several visits.
    pub(crate) folds: u64,
    pub(crate) leaves: u64,
    /// Regions still open at the ends of streams.
    pub(crate) open: u64,
    pub(crate) deepest: usize,
    pub(crate) dropped: u64,
    pub(crate) late: u64,
    pub(crate) windows: usize,
    /// Streams of handlers that interrupted a record.
    pub(crate) second: usize,
    pub(crate) threads: usize,
    pub(crate) threads_ended: usize,
    /// `name field=value …` of each event; those of attributes begin with `+`.
    pub(crate) events: Vec<String>,
    /// `name=value` of each counter record.
    pub(crate) counters: Vec<String>,
    /// Threads on which each token began and ended.
    pub(crate) spans: BTreeMap<u64, (Option<u32>, Option<u32>)>,
    /// `lane region`, and `lane` alone for a leave.
    pub(crate) lanes: Vec<String>,
    /// Numbers of the messages of each channel, in the order of the streams.
    pub(crate) messages: BTreeMap<Channel, Vec<u64>>,
    /// How often it was written down what a slot stands for.
    pub(crate) signatures: usize,
}

/// Direction, communicator, peer and tag; collective operations are neither sent nor received.
pub(crate) type Channel = (Option<Direction>, u32, i64, i64);

/// What a window has said of messages: which channel each slot stands for, and how many messages
/// each channel has had.
#[derive(Default)]
struct Messages {
    slots: BTreeMap<u8, Channel>,
    collective_slots: BTreeMap<u8, Channel>,
    numbers: BTreeMap<Channel, u64>,
}

#[derive(Default)]
struct Names {
    regions: BTreeMap<u32, String>,
    sites: BTreeMap<u32, u32>,
    kinds: BTreeMap<u32, (String, Vec<(String, u8)>)>,
    counters: BTreeMap<u32, String>,
    lanes: BTreeMap<u32, String>,
}

impl Spool {
    pub(crate) fn read(directory: &Path) -> Self {
        let mut processes: BTreeMap<u64, Process> = BTreeMap::new();
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if !path.is_file() {
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            let mut at = 0;
            while at < bytes.len() {
                let Some(view) = marey_model::spool::view(&bytes[at..]) else {
                    // A window that could not be reserved leaves a hole.
                    at += marey_model::spool::ALIGN;
                    continue;
                };
                assert!(!view.damaged, "{path:?} at {at}");
                at += view.head.size as usize;
                let key = view.head.process;
                let process = processes.entry(key).or_insert_with(|| Process {
                    key,
                    streams: BTreeMap::new(),
                    definitions: Vec::new(),
                });
                let stream = (view.head.thread, view.head.stream as u8);
                let records = view.records.to_vec();
                let window = Window { head: view.head, tail: view.tail, open: view.open, records };
                process.streams.entry(stream).or_default().push(window);
            }
        }
        for process in processes.values_mut() {
            for windows in process.streams.values_mut() {
                windows.sort_by_key(|window| window.head.sequence);
            }
            if let Some(windows) = process.streams.remove(&(0, Stream::Definitions as u8)) {
                process.definitions = windows.into_iter().flat_map(|window| window.records).collect();
            }
        }
        Self { processes: processes.into_values().collect() }
    }

    /// The definitions that hold in a process: those it inherited, then its own.
    pub(crate) fn definitions(&self, process: &Process) -> Vec<Definition> {
        let own = decode_definitions(&process.definitions);
        let Some(Definition::Process { forked_from: Some(parent), inherited, .. }) = own.first() else {
            return own;
        };
        let parent = self.processes.iter().find(|process| process.key == *parent).unwrap();
        let bytes = &parent.definitions[..usize::try_from(*inherited).unwrap()];
        let mut all = self.definitions(&Process {
            key: parent.key,
            streams: BTreeMap::new(),
            definitions: bytes.to_vec(),
        });
        all.extend(own);
        all
    }

    /// Checks all streams of all processes.
    pub(crate) fn checked(&self) -> Checked {
        let mut sum = Checked::default();
        for process in &self.processes {
            self.check_process(process, &mut sum);
        }
        sum
    }

    /// Checks the streams of one process.
    pub(crate) fn check_process(&self, process: &Process, sum: &mut Checked) {
        let names = names(&self.definitions(process));
        for (&(thread, stream), windows) in &process.streams {
            if [Stream::Sums as u8, Stream::Beside as u8].contains(&stream) {
                let is_its = stream == Stream::Sums as u8;
                let courses = process.streams.get(&(thread, Stream::Courses as u8)).filter(|_| is_its);
                sum_cells(windows, courses.map_or(&[], Vec::as_slice), &names, sum);
                continue;
            }
            if stream == Stream::Courses as u8 {
                continue;
            }
            let sums = process.streams.get(&(thread, Stream::Sums as u8)).map(|windows| &windows[0].tail);
            let summed = sums.filter(|_| stream == Stream::Events as u8).map_or(0, |tail| tail.sampled_calls);
            let is_there = |window: &&Window| !window.head.is_summing || window.head.round >= summed;
            let there: Vec<&Window> = windows.iter().filter(is_there).collect();
            if stream == Stream::Second as u8 {
                sum.second += 1;
            } else {
                sum.threads += 1;
            }
            sum.windows += there.len();
            let last = windows.last().unwrap();
            sum.dropped += last.tail.dropped;
            sum.late += last.tail.late;
            sum.open += check_stream(thread, &there, &names, sum);
        }
    }
}

/// Adds what windows of sums say. Records that were added up are in there, and nowhere else.
fn sum_cells(windows: &[Window], courses: &[Window], names: &Names, sum: &mut Checked) {
    let summed = windows[0].tail.sampled_calls;
    // Timed visits of each cell, and those in its bins.
    let (mut timed, mut in_bins) = (Vec::new(), BTreeMap::new());
    let mut exclusive = BTreeMap::new();
    let mut sites = BTreeMap::new();
    for window in windows {
        let bytes = [vec![0; HEAD_LEN], window.records.clone()].concat();
        for cell in sums::cells(&bytes, summed) {
            timed.push(0);
            let (site, sums) = match cell.expect("cells make sense") {
                Cell::Path { site, sums, .. } => (site, sums),
                Cell::Sent { .. } | Cell::Received { .. } | Cell::Sizes { .. } => continue,
                Cell::Tally { cell, visits } => {
                    let name = names.region(sites[&cell]).to_owned();
                    *sum.counted.entry(name).or_default() += visits;
                    continue;
                }
                Cell::Durations { cell, visits, .. } => {
                    *in_bins.entry(cell as usize).or_insert(0) += visits.iter().sum::<u64>();
                    continue;
                }
            };
            exclusive.insert(u32::try_from(timed.len()).unwrap() - 1, sums.exclusive);
            sites.insert(u32::try_from(timed.len()).unwrap() - 1, site);
            *timed.last_mut().unwrap() = sums.number - sums.untimed;
            // One cell is there in case that others find no place.
            if site == sums::NOBODY && sums.number == 0 {
                continue;
            }
            sum.cells += 1;
            let name = if site == sums::NOBODY { "(other paths)" } else { names.region(site) };
            *sum.visits.entry(name.to_owned()).or_default() += sums.number - sums.untimed;
            if sums.untimed > 0 {
                *sum.counted.entry(name.to_owned()).or_default() += sums.untimed;
            }
            sum.added_up += sums.number - sums.untimed;
            if sums.number > sums.untimed {
                assert!(sums.shortest <= sums.longest, "{sums:?}");
                assert!(sums.inclusive <= sums.longest.saturating_mul(sums.number), "{sums:?}");
                assert!(sums.squares >= (sums.longest as f64).powi(2) * 0.99, "{sums:?}");
            }
        }
    }
    for (cell, course) in courses_of(courses, &exclusive) {
        let all = course.times.iter().map(|(_, time)| time).sum::<u64>() + course.rest;
        assert_eq!(all, exclusive[&cell], "of cell {cell}");
        sum.buckets = sum.buckets.max(course.times.len());
        let most = (1 << width_log2(course.scale)) + (1 << unit_log2(course.scale));
        assert!(course.times.iter().all(|&(_, time)| time <= most), "of cell {cell}: {course:?}");
    }
    for (cell, &timed) in timed.iter().enumerate() {
        assert_eq!(in_bins.get(&cell).copied().unwrap_or(0), timed, "of cell {cell}");
    }
}

/// When the time of a call path passed.
#[derive(Debug)]
pub(crate) struct Course {
    /// How often its buckets became wider.
    pub(crate) scale: u32,
    /// The time in each bucket that has ended, and what passed later.
    pub(crate) times: Vec<(u64, u64)>,
    pub(crate) rest: u64,
}

/// The courses of all cells that had time, in the windows of a thread.
pub(crate) fn courses_of(windows: &[Window], exclusive: &BTreeMap<u32, u64>) -> BTreeMap<u32, Course> {
    let windows: Vec<_> =
        windows.iter().map(|window| [vec![0; HEAD_LEN], window.records.clone()].concat()).collect();
    let found = courses::courses(&windows);
    assert!(!found.is_full || found.courses.len() > 1000);
    let mut all = BTreeMap::new();
    for course in found.courses {
        let (times, rest) = course.times(exclusive[&course.cell]);
        assert!(all.insert(course.cell, Course { scale: course.scale, times, rest }).is_none());
    }
    // What has no course had no time before the last bucket.
    for (&cell, &rest) in exclusive.iter().filter(|(_, time)| !found.is_full && **time > 0) {
        all.entry(cell).or_insert(Course { scale: 0, times: Vec::new(), rest });
    }
    all
}

fn decode_definitions(bytes: &[u8]) -> Vec<Definition> {
    let mut at = 0;
    let mut found = Vec::new();
    while at < bytes.len() {
        found.push(Definition::decode(bytes, &mut at).unwrap().unwrap());
    }
    found
}

fn names(definitions: &[Definition]) -> Names {
    let mut names = Names::default();
    for definition in definitions.iter().cloned() {
        match definition {
            Definition::Region { id, noun, .. } => _ = names.regions.insert(id, noun),
            Definition::Site { id, region, .. } => _ = names.sites.insert(id, region),
            Definition::EventKind { id, name, attribute, fields } => {
                let name = if attribute { format!("+{name}") } else { name };
                names.kinds.insert(id, (name, fields));
            }
            Definition::Counter { id, name, .. } => _ = names.counters.insert(id, name),
            Definition::Lane { id, name, .. } => _ = names.lanes.insert(id, name),
            _ => {}
        }
    }
    names
}

impl Names {
    /// Every number in a record must have been defined before.
    fn region(&self, site: u32) -> &str {
        &self.regions[&self.sites[&site]]
    }
}

/// Checks a stream and gives the number of regions open at its end.
fn check_stream(thread: u32, windows: &[&Window], names: &Names, sum: &mut Checked) -> u64 {
    let mut stack: Vec<Open> = Vec::new();
    let (mut ticks, mut bytes_before) = (0, 0);
    let mut round = 0;
    for (sequence, window) in (0..).zip(windows) {
        assert_eq!(window.head.sequence, sequence);
        assert!(ticks <= window.head.ticks);
        if std::mem::replace(&mut round, window.head.round) < window.head.round {
            // What was left in between is in the sums, and what is still open is not.
            let same = stack.iter().zip(&window.open).take_while(|(before, now)| before == now).count();
            let visits = |open: &Open| names.region(open.site).to_owned();
            stack.iter().skip(same).for_each(|open| *sum.visits.entry(visits(open)).or_default() -= 1);
            window.open.iter().skip(same).for_each(|open| *sum.visits.entry(visits(open)).or_default() += 1);
            stack.clone_from(&window.open);
            bytes_before = window.head.bytes_before;
        }
        assert_eq!(window.head.bytes_before, bytes_before);
        assert_eq!(window.open, stack);
        ticks = window.head.ticks;
        let (mut at, mut again) = (0, Vec::new());
        let mut messages = Messages::default();
        while at < window.records.len() {
            let record = Record::decode(&window.records, &mut at).expect("whole records");
            record.encode(&mut again);
            if !messages.step(&record, sum) {
                step(thread, &record, &mut ticks, &mut stack, names, sum);
            }
        }
        assert_eq!(again, window.records);
        bytes_before += window.records.len() as u64;
    }
    stack.len() as u64
}

impl Messages {
    /// Whether the record is one of messages.
    fn step(&mut self, record: &Record<'_>, sum: &mut Checked) -> bool {
        let is_signature = matches!(record, Record::Signature { .. } | Record::CollectiveSignature { .. });
        sum.signatures += usize::from(is_signature);
        match *record {
            Record::Signature { slot, signature } => {
                let direction = Some(signature.direction);
                let channel = (direction, signature.communicator, signature.peer, signature.tag);
                self.slots.insert(slot, channel);
                self.numbers.insert(channel, signature.number);
            }
            Record::CollectiveSignature { slot, signature } => {
                let channel = (None, signature.communicator, 0, 0);
                self.collective_slots.insert(slot, channel);
                self.numbers.insert(channel, signature.number);
            }
            Record::Send { slot } | Record::Receive { slot } => self.count(self.slots[&slot], sum),
            Record::Collective { slot } => self.count(self.collective_slots[&slot], sum),
            Record::PostReceive { slot, .. } => assert!(self.numbers.contains_key(&self.slots[&slot])),
            _ => return false,
        }
        true
    }

    fn count(&mut self, channel: Channel, sum: &mut Checked) {
        let number = self.numbers.get_mut(&channel).unwrap();
        sum.messages.entry(channel).or_default().push(*number);
        *number += 1;
    }
}

fn step(
    thread: u32,
    record: &Record<'_>,
    ticks: &mut u64,
    stack: &mut Vec<Open>,
    names: &Names,
    sum: &mut Checked,
) {
    let mut after = |delta: u64| *ticks = ticks.checked_add(delta).expect("times do not go back");
    match *record {
        Record::Enter { site, delta } => {
            after(delta);
            stack.push(Open { ticks: *ticks, site, reserved: 0 });
            *sum.visits.entry(names.region(site).to_owned()).or_default() += 1;
            sum.enters += 1;
            sum.deepest = sum.deepest.max(stack.len());
        }
        Record::Leave { delta } => {
            after(delta);
            stack.pop().expect("a leave has its enter");
            sum.leaves += 1;
        }
        Record::Folded { site, delta, visits } => {
            after(delta);
            after(visits.span);
            assert!(visits.shortest <= visits.longest && visits.inside <= visits.span);
            assert!(visits.shortest * visits.number <= visits.inside);
            assert!(visits.inside <= visits.longest * visits.number);
            *sum.visits.entry(names.region(site).to_owned()).or_default() += visits.number;
            sum.folds += 1;
        }
        Record::Counted { site, visits } => {
            *sum.counted.entry(names.region(site).to_owned()).or_default() += visits;
        }
        Record::Begin { token, delta, .. } => {
            after(delta);
            assert!(sum.spans.entry(token).or_default().0.replace(thread).is_none());
        }
        Record::End { token, delta } => {
            after(delta);
            assert!(sum.spans.entry(token).or_default().1.replace(thread).is_none());
        }
        Record::LaneEnter { lane, site, delta } => {
            after(delta);
            sum.lanes.push(format!("{} {}", names.lanes[&lane], names.region(site)));
        }
        Record::LaneLeave { lane, delta, .. } => {
            after(delta);
            sum.lanes.push(names.lanes[&lane].clone());
        }
        Record::Event { kind, delta, fields } => {
            after(delta);
            sum.events.push(event(&names.kinds[&kind], fields));
        }
        Record::Attribute { kind, fields } => sum.events.push(event(&names.kinds[&kind], fields)),
        Record::Counter { counter, delta, value } => {
            after(delta);
            sum.counters.push(format!("{}={value}", names.counters[&counter]));
        }
        Record::ThreadEnd { delta } => {
            after(delta);
            sum.threads_ended += 1;
        }
        other => panic!("{other:?} was not recorded by anybody"),
    }
}

fn event((name, fields): &(String, Vec<(String, u8)>), bytes: &[u8]) -> String {
    let mut text = name.clone();
    let mut at = 0;
    for (field, code) in fields {
        let value = match FieldType::from_code(*code).unwrap() {
            FieldType::Unsigned => get(bytes, &mut at).unwrap().to_string(),
            FieldType::Signed => get_signed(bytes, &mut at).unwrap().to_string(),
            FieldType::Real => {
                at += 8;
                f64::from_le_bytes(bytes[at - 8..at].try_into().unwrap()).to_string()
            }
            FieldType::Bool => {
                at += 1;
                (bytes[at - 1] != 0).to_string()
            }
            FieldType::Text => format!("{:?}", get_text(bytes, &mut at).unwrap()),
        };
        text.push_str(&format!(" {field}={value}"));
    }
    assert_eq!(at, bytes.len());
    text
}
