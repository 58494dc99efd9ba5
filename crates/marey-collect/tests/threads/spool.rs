//! Reading a spool back: the records of each thread with their times, and what they mean.

use std::collections::BTreeMap;
use std::path::Path;

use marey_model::EdgeKind;
use marey_model::spool::{Definition, Record, Stream, view, window_len};

/// An edge, from where it comes to where it goes.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) kind: EdgeKind,
    pub(crate) from: u32,
    pub(crate) from_ticks: u64,
    pub(crate) to_ticks: u64,
    /// Name of the region whose leave it stands behind; empty for a thread's first instant.
    pub(crate) region: String,
}

/// What one thread did.
#[derive(Default, Debug)]
pub(crate) struct Thread {
    pub(crate) name: String,
    pub(crate) creator: Option<u32>,
    pub(crate) begin: u64,
    pub(crate) locks: u64,
    pub(crate) ended: bool,
    pub(crate) edges: Vec<Edge>,
    /// Closed intervals: name of the region, enter, leave.
    pub(crate) intervals: Vec<(String, u64, u64)>,
    pub(crate) left_open: Vec<String>,
}

/// What one process did.
#[derive(Default, Debug)]
pub(crate) struct Process {
    pub(crate) threads: BTreeMap<u32, Thread>,
    pub(crate) dropped: u64,
}

impl Process {
    pub(crate) fn edges(&self, kind: EdgeKind) -> Vec<(u32, &Edge)> {
        let all =
            self.threads.iter().flat_map(|(&to, thread)| thread.edges.iter().map(move |edge| (to, edge)));
        all.filter(|(_, edge)| edge.kind == kind).collect()
    }

    pub(crate) fn count(&self, region: &str) -> u64 {
        let intervals = self.threads.values().flat_map(|thread| &thread.intervals);
        intervals.filter(|(name, ..)| name == region).count() as u64
    }

    pub(crate) fn locks(&self) -> u64 {
        self.threads.values().map(|thread| thread.locks).sum()
    }
}

/// All processes of a spool, in the order of their files' names.
pub(crate) fn read(spool: &Path) -> Vec<Process> {
    let mut files: Vec<_> = std::fs::read_dir(spool).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "events"))
        .map(|path| process(path))
        .collect()
}

fn process(events: &Path) -> Process {
    let mut process = Process::default();
    let (mut regions, mut sites) = (BTreeMap::new(), BTreeMap::new());
    let bytes = std::fs::read(events.with_extension("definitions")).unwrap();
    each_window(&bytes, |window| {
        let mut at = 0;
        while at < window.records.len() {
            match Definition::decode(window.records, &mut at) {
                None => break,
                Some(Some(Definition::Region { id, verb, .. })) => drop(regions.insert(id, verb)),
                Some(Some(Definition::Site { id, region, .. })) => drop(sites.insert(id, region)),
                Some(Some(Definition::Thread { serial, name, ticks, creator, .. })) => {
                    let thread = process.threads.entry(serial).or_default();
                    (thread.name, thread.creator, thread.begin) = (name, creator, ticks);
                }
                _ => {}
            }
        }
    });
    let bytes = std::fs::read(events).unwrap();
    let mut open: BTreeMap<u32, Vec<(u32, u64)>> = BTreeMap::new();
    each_window(&bytes, |window| {
        process.dropped += window.tail.dropped;
        assert_eq!(window.head.stream, Stream::Events);
        let serial = window.head.thread;
        let thread = process.threads.get_mut(&serial).expect("threads are defined before they record");
        thread.locks = thread.locks.max(window.tail.locks);
        let (mut at, mut now) = (0, window.head.ticks);
        let mut last = String::new();
        let open = open.entry(serial).or_default();
        while at < window.records.len() {
            match Record::decode(window.records, &mut at).expect("whole records") {
                Record::Enter { site, delta } => {
                    now += delta;
                    open.push((site, now));
                }
                Record::Leave { delta } => {
                    now += delta;
                    let (site, enter) = open.pop().expect("leaves follow enters");
                    last = regions.get(&sites[&site]).cloned().unwrap_or_default();
                    thread.intervals.push((last.clone(), enter, now));
                }
                Record::Edge { kind, thread: from, back, .. } => thread.edges.push(Edge {
                    kind: EdgeKind::from_code(kind).unwrap(),
                    from,
                    from_ticks: now - back,
                    to_ticks: now,
                    region: std::mem::take(&mut last),
                }),
                Record::ThreadEnd { .. } => thread.ended = true,
                other => panic!("{other:?}"),
            }
        }
        thread.left_open = open.iter().map(|(site, _)| regions[&sites[site]].clone()).collect();
    });
    process
}

fn each_window(bytes: &[u8], mut f: impl FnMut(marey_model::spool::WindowView<'_>)) {
    let mut at = 0;
    while at + 4096 <= bytes.len() {
        let Some(len) = window_len(&bytes[at..]) else {
            at += 4096;
            continue;
        };
        f(view(&bytes[at..]).expect("a sound head"));
        at += len;
    }
}
