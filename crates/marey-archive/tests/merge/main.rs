//! Merging of made-up spools: what comes out is what was put in, and nothing else.
#![expect(clippy::unwrap_used, reason = "a test may fail where it likes")]

use std::collections::BTreeMap;

use marey_archive::merge::{Config, Summary, merge};
use marey_archive::{Archive, Columns};
use marey_testkit::{Message, Process, Spool};

mod added_up;
mod clocks;
mod corrected;
mod counted;
mod explained;
mod falsified;
mod folded;
mod functions;
mod happenings;
mod heap;
mod histograms;
mod identity;
mod intervals;
mod lanes;
mod messages;
mod missing;
mod operations;
mod programs;
mod progress;
mod reduced;
mod remarks;
mod samples;
mod simulated;
mod slabs;

const NONE: u32 = u32::MAX;

struct Merged {
    dir: tempfile::TempDir,
    archive: Archive,
    summary: Summary,
}

fn config(threads: usize, memory_bytes: usize) -> Config {
    Config { threads: Some(threads), memory_bytes, keep_spool: true }
}

fn merged_with(spool: &Spool, config: &Config) -> Merged {
    let dir = tempfile::tempdir().unwrap();
    spool.write(&dir.path().join("spool")).unwrap();
    let summary = merge(&dir.path().join("spool"), &dir.path().join("run"), config, &()).unwrap();
    let archive = Archive::open(&dir.path().join("run")).unwrap();
    Merged { dir, archive, summary }
}

fn merged(spool: &Spool) -> Merged {
    merged_with(spool, &config(2, Config::DEFAULT_MEMORY_BYTES))
}

impl Merged {
    fn path(&self) -> std::path::PathBuf {
        self.dir.path().join("run")
    }

    fn table(&self, name: &str) -> Columns {
        self.archive.table(name).unwrap()
    }

    fn problem(&self, kind: &str) -> u64 {
        self.summary.problems.iter().find(|(name, _)| name == kind).map_or(0, |found| found.1)
    }

    fn paths(&self) -> Vec<String> {
        paths_of(&self.archive)
    }

    /// Intervals as `location path start+duration`, sorted by location and start.
    fn intervals(&self) -> Vec<String> {
        let (table, paths) = (self.table("intervals"), self.paths());
        let mut rows: Vec<_> = (0..table.len())
            .map(|row| {
                let path = &paths[table.u32("call_path").unwrap()[row] as usize];
                let (start, duration) =
                    (table.i64("start").unwrap()[row], table.i64("duration").unwrap()[row]);
                let location = table.u32("location").unwrap()[row];
                (
                    location,
                    start,
                    table.u32("depth").unwrap()[row],
                    format!("{location} {path} {start}+{duration}"),
                )
            })
            .collect();
        rows.sort();
        rows.into_iter().map(|row| row.3).collect()
    }

    /// Pairs as (send time, receive time), sorted; −1 for an unknown end.
    fn pairs(&self) -> Vec<(i64, i64)> {
        let table = self.table("messages");
        let times = table.i64("send_time").unwrap().iter().zip(table.i64("recv_time").unwrap());
        let mut pairs: Vec<(i64, i64)> = times.map(|(&send, &recv)| (send, recv)).collect();
        pairs.sort_unstable();
        pairs
    }

    /// Regions that were open at the end as `location path since start`.
    fn open_at_end(&self) -> Vec<String> {
        let (table, paths) = (self.table("open_at_end"), self.paths());
        let row = |row: usize| {
            let path = &paths[table.u32("call_path").unwrap()[row] as usize];
            let start = table.i64("start").unwrap()[row];
            format!("{} {path} since {start}", table.u32("location").unwrap()[row])
        };
        (0..table.len()).map(row).collect()
    }

    /// Profile as `path` → (visits, inclusive, exclusive).
    fn profile(&self) -> BTreeMap<String, (i64, i64, i64)> {
        let (table, paths) = (self.table("profile"), self.paths());
        let mut sums: BTreeMap<String, (i64, i64, i64)> = BTreeMap::new();
        for row in 0..table.len() {
            let path = paths[table.u32("call_path").unwrap()[row] as usize].clone();
            let sum = sums.entry(path).or_default();
            sum.0 += table.i64("visits").unwrap()[row];
            sum.1 += table.i64("inclusive").unwrap()[row];
            sum.2 += table.i64("exclusive").unwrap()[row];
        }
        sums
    }
}

/// Call paths as the verbs from the outermost on.
fn paths_of(archive: &Archive) -> Vec<String> {
    let (paths, regions) = (archive.table("call_paths").unwrap(), archive.table("regions").unwrap());
    let mut names: Vec<String> = Vec::new();
    for (&parent, &region) in paths.u32("parent").unwrap().iter().zip(paths.u32("region").unwrap()) {
        let verb = &regions.text("verb").unwrap()[region as usize];
        let name = if parent == NONE { verb.clone() } else { format!("{}/{verb}", names[parent as usize]) };
        names.push(name);
    }
    names
}

fn message(peer: i64, tag: i64) -> Message {
    Message { communicator: 0, peer, tag, bytes: 8 }
}

/// An MPI call that takes from `from` to `to` and does `f`.
fn call<R>(
    process: &mut Process,
    thread: usize,
    verb: &str,
    from: u64,
    to: u64,
    f: impl FnOnce(&mut Process) -> R,
) -> R {
    let site = process.site(1, verb);
    process.enter(thread, site, from);
    let result = f(process);
    process.leave(thread, to);
    result
}
