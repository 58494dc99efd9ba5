//! Processes whose definitions are missing: files are lost, or a disk was full.
//!
//! The one idea: readings without a known clock are mere numbers and must not say when the run was.
//! But processes of one node count one clock. If what heads of windows say fits the clock of exactly
//! one other group of processes on the node that the file's name names, the process is taken to
//! count it too, and only the names of what it did are unknown. Else its events are left out, and
//! counted.

use std::ops::Range;

use marey_model::spool::Stream;
use marey_model::{ClockKind, Triple};

use super::clocks::spread_ns;
use super::definitions::ProcessDefs;
use super::index::Index;
use super::slabs::timed_records;
use crate::Error;

/// Readings of one clock are read one after the other, and a reader may lose the processor in
/// between, ns.
const TOLERANCE: f64 = 10e6;

/// Events that are in no table, for nobody knows when they were.
#[derive(Clone, Debug)]
pub(crate) struct LeftOut {
    /// What the name of its file says of the process.
    pub name: String,
    /// Timed records.
    pub events: u64,
    /// Length of all records, bytes.
    pub bytes: u64,
}

/// Gives processes without definitions the clock of others, or takes them out.
pub(crate) fn settle(index: &mut Index, processes: &mut Vec<ProcessDefs>) -> Result<Vec<LeftOut>, Error> {
    let mut left_out = Vec::new();
    if processes.iter().all(|process| process.is_defined) {
        return Ok(left_out);
    }
    let groups = groups(index, processes);
    let mut gone = Vec::new();
    for process in processes.iter_mut().filter(|process| !process.is_defined) {
        let streams = index.streams_of(process.key);
        let (name, host, pid) = file_name(index, streams.clone());
        let own = readings(index, streams.clone());
        let mut fitting = groups.iter().filter(|group| host.is_some() && group.fits(host.as_deref(), &own));
        if let (Some(group), None, Some(start)) = (fitting.next(), fitting.next(), own.first()) {
            (process.host, process.boot, process.clock) =
                (group.host.clone(), group.boot.clone(), group.clock);
            (process.start, process.pid) = (*start, pid);
            continue;
        }
        let (mut events, mut bytes) = (0_u64, 0_u64);
        for stream in &index.streams[streams] {
            if stream.kind != Stream::Definitions {
                events = events.saturating_add(timed_records(index, stream)?);
                bytes += stream.windows.iter().map(super::index::Window::len).sum::<u64>();
            }
        }
        left_out.push(LeftOut { name, events, bytes });
        gone.push(process.key);
    }
    processes.retain(|process| gone.binary_search(&process.key).is_err());
    index.streams.retain(|stream| gone.binary_search(&stream.process).is_err());
    Ok(left_out)
}

/// Processes that share a clock.
struct Group {
    host: String,
    boot: String,
    clock: u8,
    readings: Vec<Triple>,
}

impl Group {
    fn fits(&self, host: Option<&str>, own: &[Triple]) -> bool {
        let mut all = [self.readings.as_slice(), own].concat();
        host == Some(&in_file_name(&self.host)) && spread_ns(&mut all) <= TOLERANCE
    }
}

/// The groups of processes that say which clock they count and share it.
fn groups(index: &Index, processes: &[ProcessDefs]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for process in processes.iter().filter(|process| process.is_defined && !process.boot.is_empty()) {
        if ClockKind::from_code(process.clock).is_none_or(|kind| kind == ClockKind::Skewed) {
            continue;
        }
        let same = |group: &Group| {
            (&group.host, &group.boot, group.clock) == (&process.host, &process.boot, process.clock)
        };
        let place = groups.iter().position(same).unwrap_or_else(|| {
            let (host, boot) = (process.host.clone(), process.boot.clone());
            groups.push(Group { host, boot, clock: process.clock, readings: Vec::new() });
            groups.len() - 1
        });
        let readings = &mut groups[place].readings;
        readings.push(process.start);
        readings.extend(process.ending.iter().map(|ending| ending.2));
        readings.extend(self::readings(index, index.streams_of(process.key)));
    }
    groups
}

/// What the heads of windows say, by their ticks.
pub(crate) fn readings(index: &Index, streams: Range<usize>) -> Vec<Triple> {
    let events = index.streams[streams].iter().filter(|stream| stream.kind != Stream::Definitions);
    let heads = events.flat_map(|stream| stream.windows.iter().map(|window| window.triple));
    let mut readings: Vec<Triple> = heads.filter(|triple| *triple != Triple::default()).collect();
    readings.sort_by_key(|triple| triple.ticks);
    readings
}

/// What `host-pid-key` says of the process that left the first of `streams`.
fn file_name(index: &Index, streams: Range<usize>) -> (String, Option<String>, u32) {
    let windows = index.streams[streams].iter().filter_map(|stream| stream.windows.first());
    let path = windows.map(|window| &index.files[window.file as usize].path).next();
    let name = path.and_then(|path| path.file_stem()).unwrap_or_default().to_string_lossy().into_owned();
    let mut parts = name.rsplitn(3, '-').skip(1);
    let pid = parts.next().and_then(|pid| pid.parse().ok()).unwrap_or(0);
    let host = parts.next().map(str::to_owned);
    let name = host.as_ref().map_or_else(|| name.clone(), |host| format!("process {pid} on {host}"));
    (name, host, pid)
}

/// The name of a node as recorders put it into the names of files.
fn in_file_name(host: &str) -> String {
    host.chars().filter(|c| c.is_ascii_alphanumeric() || "-.".contains(*c)).collect()
}
