//! Merging of made-up spools: what comes out is what was put in, and nothing else.
#![expect(clippy::unwrap_used, reason = "a test may fail where it likes")]

use std::collections::BTreeMap;
use std::path::Path;

use marey_archive::merge::{Config, Summary, merge};
use marey_archive::{Archive, Columns};
use marey_model::spool::{ANY_SOURCE, ANY_TAG, Definition, Direction, Record, at};
use marey_testkit::{Message, Process, Spool};
use proptest::prelude::*;

mod clocks;
mod happenings;
mod identity;
mod missing;
mod programs;
mod progress;

const NONE: u32 = u32::MAX;

struct Merged {
    _dir: tempfile::TempDir,
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
    Merged { _dir: dir, archive, summary }
}

fn merged(spool: &Spool) -> Merged {
    merged_with(spool, &config(2, Config::DEFAULT_MEMORY_BYTES))
}

impl Merged {
    fn table(&self, name: &str) -> Columns {
        self.archive.table(name).unwrap()
    }

    fn problem(&self, kind: &str) -> u64 {
        self.summary.problems.iter().find(|(name, _)| name == kind).map_or(0, |found| found.1)
    }

    /// Call paths as the verbs from the outermost on.
    fn paths(&self) -> Vec<String> {
        let (paths, regions) = (self.table("call_paths"), self.table("regions"));
        let mut names: Vec<String> = Vec::new();
        for (&parent, &region) in paths.u32("parent").unwrap().iter().zip(paths.u32("region").unwrap()) {
            let verb = &regions.text("verb").unwrap()[region as usize];
            let name =
                if parent == NONE { verb.clone() } else { format!("{}/{verb}", names[parent as usize]) };
            names.push(name);
        }
        names
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

#[test]
fn nested_regions_become_intervals_call_paths_and_sums() {
    let mut process = Process::new(7);
    let (main, work) = (process.site(0, "main"), process.site(0, "work"));
    process.enter(0, main, 10);
    for start in [20, 40] {
        process.enter(0, work, start);
        process.leave(0, start + 5);
    }
    process.leave(0, 100);
    process.end = Some(200);
    let merged = merged(&Spool { processes: vec![process] });
    assert_eq!(merged.intervals(), ["0 main 10+90", "0 main/work 20+5", "0 main/work 40+5"]);
    let profile = merged.profile();
    assert_eq!(profile["main"], (1, 90, 80));
    assert_eq!(profile["main/work"], (2, 10, 10));
    assert_eq!(merged.summary.problems, []);
    assert_eq!(merged.summary.duration_ns, 200);
    assert_eq!(merged.table("processes").text("outcome").unwrap(), ["finished"]);
}

#[test]
fn overlapping_states_leave_exclusive_times_alone() {
    let mut process = Process::new(7);
    let (main, state) = (process.site(0, "main"), process.site(0, "state"));
    process.enter(0, main, 10);
    let first = process.begin(0, state, 15);
    let second = process.begin(0, state, 20);
    process.end_of(0, first, 30);
    process.end_of(0, second, 40);
    process.leave(0, 50);
    let open = process.begin(0, state, 60);
    process.end = Some(100);
    assert_ne!(open, second);
    let merged = merged(&Spool { processes: vec![process] });
    assert_eq!(merged.profile()["main"], (1, 40, 40));
    let overlaps = merged.table("overlaps");
    assert_eq!(overlaps.i64("start").unwrap(), [15, 20, 60]);
    assert_eq!(overlaps.i64("duration").unwrap()[..2], [15, 20]);
    assert_eq!(overlaps.i64("latest_end").unwrap()[..2], [30, 40]);
    assert_eq!(merged.problem("unmatched_begins"), 1);
}

#[test]
fn a_killed_process_ends_at_its_last_record() {
    let mut process = Process::new(7);
    let (main, work) = (process.site(0, "main"), process.site(0, "work"));
    process.enter(0, main, 10);
    process.enter(0, work, 30);
    let merged = merged(&Spool { processes: vec![process] });
    assert_eq!(merged.intervals(), ["0 main 10+20", "0 main/work 30+0"]);
    assert_eq!(merged.open_at_end(), ["0 main since 10", "0 main/work since 30"]);
    assert_eq!(merged.summary.problems, []);
    assert_eq!(
        merged.table("processes").text("outcome").unwrap(),
        ["ended without notice (killed, or went on as another program)"]
    );
}

/// Thread 1 waits while thread 0 goes on: it waits until the last that was heard of the process.
#[test]
fn a_thread_is_inside_its_region_as_long_as_its_process_lives() {
    for (end, expected) in [(None, 90), (Some(150), 150)] {
        let mut process = Process::new(7);
        let (wait, work) = (process.site(0, "wait"), process.site(0, "work"));
        process.enter(1, wait, 20);
        process.enter(0, work, 10);
        process.leave(0, 90);
        process.end = end;
        let merged = merged(&Spool { processes: vec![process] });
        let waited = format!("1 wait 20+{}", expected - 20);
        assert_eq!(merged.intervals(), ["0 work 10+80", &waited]);
        assert_eq!(merged.open_at_end(), ["1 wait since 20"]);
        assert_eq!(merged.summary.problems, []);
        assert_eq!(merged.table("locations").i64("end").unwrap(), [expected, expected]);
    }
}

#[test]
fn a_thread_that_is_over_is_in_no_region_when_its_process_ends() {
    let mut process = Process::new(7);
    let (wait, work) = (process.site(0, "wait"), process.site(0, "work"));
    process.enter(1, wait, 20);
    process.timed(1, 40, |delta| Record::ThreadEnd { delta });
    process.enter(0, work, 10);
    process.end = Some(100);
    let merged = merged(&Spool { processes: vec![process] });
    assert_eq!(merged.intervals(), ["0 work 10+90", "1 wait 20+20"]);
    assert_eq!(merged.open_at_end(), ["0 work since 10"]);
    assert_eq!(merged.summary.problems, []);
    assert_eq!(merged.table("locations").i64("end").unwrap(), [100, 40]);
}

/// The last window breaks off in bytes that are no record, or events found no place behind it; so
/// whether its region was left nobody knows.
#[test]
fn regions_behind_which_records_are_missing_are_truncated() {
    for (noise, dropped, kind) in [([0x3F_u8].as_slice(), 0_u8, "damaged"), (&[], 1, "dropped")] {
        let mut process = Process::new(7);
        process.site(0, "main");
        let mut records = Vec::new();
        Record::Enter { site: 0, delta: 5 }.encode(&mut records);
        records.extend(noise);
        process.raw_window(0, 100, 0, records);
        process.end = Some(1000);
        let mut events = process.event_bytes();
        events[at::DROPPED] = dropped;
        let dir = tempfile::tempdir().unwrap();
        let [spool, run] = ["spool", "run"].map(|name| dir.path().join(name));
        std::fs::create_dir(&spool).unwrap();
        std::fs::write(spool.join("a.definitions"), process.definition_bytes()).unwrap();
        std::fs::write(spool.join("a.events"), events).unwrap();
        let summary = merge(&spool, &run, &config(1, 1 << 20), &()).unwrap();
        assert_eq!(summary.problems, [(kind.to_owned(), 1), ("truncated".to_owned(), 1)]);
        let archive = Archive::open(&run).unwrap();
        assert_eq!(archive.table("open_at_end").unwrap().len(), 0);
        // Time goes as far as records do, not to the end of the process.
        assert_eq!(archive.table("profile").unwrap().i64("inclusive").unwrap(), [0]);
        assert_eq!(archive.table("locations").unwrap().i64("end").unwrap(), [105]);
        assert_eq!(archive.table("processes").unwrap().i64("end").unwrap(), [1000]);
    }
}

#[test]
fn blocking_messages_match_in_order() {
    let mut spool = Spool::world(2);
    for n in 0..3 {
        call(&mut spool.processes[0], 0, "MPI_Send", 100 * n + 10, 100 * n + 20, |p| {
            p.send(0, message(1, 5))
        });
        call(&mut spool.processes[1], 0, "MPI_Recv", 100 * n + 5, 100 * n + 50, |p| {
            p.receive(0, message(0, 5))
        });
    }
    let merged = merged(&spool);
    assert_eq!(merged.pairs(), [(10, 50), (110, 150), (210, 250)]);
    assert_eq!(merged.problem("unmatched_sends") + merged.problem("unmatchable_channels"), 0);
    let communication = merged.table("communication");
    assert_eq!(communication.i64("messages").unwrap(), [3]);
    assert_eq!(communication.i64("size_log2").unwrap(), [3]);
    let table = merged.table("intervals");
    assert!(table.u32("participants").unwrap().iter().all(|&set| set != NONE));
}

#[test]
fn receives_match_in_the_order_of_posting_whatever_wildcards_and_completion_order() {
    let mut spool = Spool::world(2);
    for n in 0..2 {
        call(&mut spool.processes[0], 0, "MPI_Send", 100 * n + 10, 100 * n + 20, |p| {
            p.send(0, message(1, 5))
        });
    }
    let receiver = &mut spool.processes[1];
    let wild = message(ANY_SOURCE, ANY_TAG);
    let first = call(receiver, 0, "MPI_Irecv", 1, 2, |p| p.post_receive(0, wild));
    let second = call(receiver, 0, "MPI_Irecv", 3, 4, |p| p.post_receive(0, message(0, 5)));
    call(receiver, 0, "MPI_Wait", 200, 210, |p| p.received(0, second, message(0, 5)));
    call(receiver, 0, "MPI_Wait", 300, 310, |p| p.received(0, first, message(0, 5)));
    assert_eq!(merged(&spool).pairs(), [(10, 310), (110, 210)]);
}

#[test]
fn cancelled_operations_take_no_message() {
    let mut spool = Spool::world(2);
    let sender = &mut spool.processes[0];
    let gone = call(sender, 0, "MPI_Isend", 10, 11, |p| p.post_send(0, message(1, 5)));
    call(sender, 0, "MPI_Wait", 12, 13, |p| p.cancelled(0, gone));
    call(sender, 0, "MPI_Send", 20, 21, |p| p.send(0, message(1, 5)));
    let receiver = &mut spool.processes[1];
    let gone = call(receiver, 0, "MPI_Irecv", 1, 2, |p| p.post_receive(0, message(0, 5)));
    call(receiver, 0, "MPI_Wait", 3, 4, |p| p.cancelled(0, gone));
    call(receiver, 0, "MPI_Recv", 15, 30, |p| p.receive(0, message(0, 5)));
    let merged = merged(&spool);
    assert_eq!(merged.pairs(), [(20, 30)]);
    assert_eq!(merged.summary.problems, []);
}

#[test]
fn another_thread_may_complete_what_one_began() {
    let mut spool = Spool::world(2);
    call(&mut spool.processes[0], 0, "MPI_Send", 10, 20, |p| p.send(0, message(1, 5)));
    let receiver = &mut spool.processes[1];
    let serial = call(receiver, 0, "MPI_Irecv", 1, 2, |p| p.post_receive(0, message(0, 5)));
    receiver.timed(1, 3, |delta| Record::Event { kind: 99, delta, fields: &[] });
    // The other thread names the operation relative to the last it mentioned: none.
    let slot = message(0, 5);
    call(receiver, 1, "MPI_Wait", 30, 40, |p| p.received(1, serial, slot));
    let merged = merged(&spool);
    assert_eq!(merged.pairs(), [(10, 40)]);
    let table = merged.table("messages");
    assert_eq!(table.i64("recv_post").unwrap(), [1]);
    assert_eq!(table.u32("recv_location").unwrap(), [2]);
}

#[test]
fn concurrent_threads_on_one_channel_are_ambiguous_unless_sizes_tell() {
    // What cannot be decided is told half by half: both sends, both receives.
    let halves = [(-1, 20), (-1, 30), (10, -1), (20, -1)].as_slice();
    for (sizes, ambiguous, pairs) in [([8, 8], 2, halves), ([8, 16], 0, &[(10, 20), (20, 30)])] {
        let mut spool = Spool::world(2);
        for (n, bytes) in (0..).zip(sizes) {
            let what = Message { bytes, ..message(1, 5) };
            call(&mut spool.processes[0], 0, "MPI_Send", 10 + 10 * n, 15 + 10 * n, |p| p.send(0, what));
        }
        let receiver = &mut spool.processes[1];
        let site = receiver.site(1, "MPI_Recv");
        receiver.enter(0, site, 5);
        receiver.enter(1, site, 6);
        // Thread 1's receive got the first message.
        receiver.receive(1, Message { bytes: sizes[0], ..message(0, 5) });
        receiver.leave(1, 20);
        receiver.receive(0, Message { bytes: sizes[1], ..message(0, 5) });
        receiver.leave(0, 30);
        let merged = merged(&spool);
        assert_eq!(merged.pairs(), pairs);
        assert_eq!(merged.problem("ambiguous"), ambiguous);
        assert_eq!(merged.summary.messages, 2 - ambiguous);
    }
}

#[test]
fn nothing_behind_a_gap_is_guessed() {
    let mut spool = Spool::world(2);
    for n in 0..3 {
        if n == 1 {
            spool.processes[0].skip_messages(Direction::Send, message(1, 5), 1);
        }
        call(&mut spool.processes[0], 0, "MPI_Send", 100 * n + 10, 100 * n + 20, |p| {
            p.send(0, message(1, 5))
        });
    }
    for n in 0..4 {
        call(&mut spool.processes[1], 0, "MPI_Recv", 100 * n + 5, 100 * n + 50, |p| {
            p.receive(0, message(0, 5))
        });
    }
    let merged = merged(&spool);
    assert_eq!(merged.summary.messages, 1);
    assert!(merged.pairs().contains(&(10, 50)));
    assert_eq!(merged.problem("unmatchable_channels"), 1);
    assert_eq!(merged.problem("unmatched_sends") + merged.problem("unmatched_receives"), 0);
    // The halves are told as what they are.
    assert_eq!(merged.pairs().len(), 1 + 2 + 3);
}

#[test]
fn halves_without_the_other_are_counted() {
    let mut spool = Spool::world(2);
    call(&mut spool.processes[0], 0, "MPI_Send", 10, 20, |p| p.send(0, message(1, 5)));
    call(&mut spool.processes[1], 0, "MPI_Recv", 10, 20, |p| p.receive(0, message(0, 6)));
    let merged = merged(&spool);
    assert_eq!((merged.problem("unmatched_sends"), merged.problem("unmatched_receives")), (1, 1));
    assert_eq!(merged.pairs(), [(-1, 20), (10, -1)]);
}

#[test]
fn a_message_that_arrives_before_it_is_sent_is_counted() {
    let mut spool = Spool::world(2);
    call(&mut spool.processes[0], 0, "MPI_Send", 100, 120, |p| p.send(0, message(1, 5)));
    call(&mut spool.processes[1], 0, "MPI_Recv", 10, 20, |p| p.receive(0, message(0, 5)));
    assert_eq!(merged(&spool).problem("clock_violations"), 1);
}

/// Four ranks split into two halves by two calls on WORLD.
#[test]
fn communicators_of_one_name_are_told_apart_by_their_first_rank() {
    let mut spool = Spool::world(4);
    for (rank, process) in (0..).zip(&mut spool.processes) {
        let half = rank / 2;
        let members = [(half * 2, 2)];
        process.communicator(2, 3, Some(0), 0, half * 2, &members, u32::try_from(rank % 2).unwrap());
        let what = Message { communicator: 2, peer: 1 - rank % 2, tag: 0, bytes: 8 };
        let at = 100 * u64::try_from(rank).unwrap();
        if rank % 2 == 0 {
            call(process, 0, "MPI_Send", 10 + at, 20 + at, |p| p.send(0, what));
        } else {
            call(process, 0, "MPI_Recv", 10 + at, 30 + at, |p| p.receive(0, what));
        }
    }
    let merged = merged(&spool);
    assert_eq!(merged.pairs(), [(10, 130), (210, 330)]);
    let table = merged.table("communicators");
    assert_eq!(table.text("members").unwrap(), ["0-3", "0-1", "2-3"]);
    assert_eq!(table.u32("parent").unwrap(), [NONE, 0, 0]);
}

#[test]
fn both_groups_of_an_intercommunicator_find_each_other() {
    let mut spool = Spool::world(4);
    for (rank, process) in (0..).zip(&mut spool.processes) {
        let group = i64::from(rank / 2);
        process.definitions.push(Definition::Communicator {
            id: 2,
            kind: 9,
            parent: Some(0),
            number: 0,
            tag: 77,
            leader: group * 2,
            size: 2,
            rank: rank % 2,
            remote_size: 2,
            members: vec![(group * 2, 2)],
            remote_members: vec![(2 - group * 2, 2)],
            port: String::new(),
            ticks: 4,
        });
        let what = Message { communicator: 2, peer: 1, tag: 0, bytes: 8 };
        // Rank 1 of the one group and rank 1 of the other send to each other.
        if rank % 2 == 1 {
            let at = u64::from(rank) * 1000;
            call(process, 0, "MPI_Send", at + 10, at + 20, |p| p.send(0, what));
            call(process, 0, "MPI_Recv", at + 30, 5000 + at, |p| p.receive(0, what));
        }
    }
    let merged = merged(&spool);
    assert_eq!(merged.pairs(), [(1010, 8000), (3010, 6000)]);
    assert_eq!(merged.table("communicators").text("members").unwrap()[1], "0-1|2-3");
}

#[test]
fn collectives_of_a_communicator_share_their_instance() {
    let mut spool = Spool::world(2);
    for (rank, process) in (0_u64..).zip(&mut spool.processes) {
        call(process, 0, "MPI_Barrier", 10 + rank, 20, |p| p.collective(0, 0, -1, 0, 0));
        let serial = call(process, 0, "MPI_Ibcast", 30, 31, |p| p.post_collective(0, 0, 1, 64));
        call(process, 0, "MPI_Wait", 40, 50 + rank, |p| p.collected(0, serial));
    }
    let merged = merged(&spool);
    let table = merged.table("collectives");
    assert_eq!(table.u32("instance").unwrap(), [0, 0, 1, 1]);
    assert_eq!(table.u32("location").unwrap(), [0, 1, 0, 1]);
    assert_eq!(table.i64("enter").unwrap(), [10, 11, 30, 30]);
    assert_eq!(table.i64("leave").unwrap(), [20, 20, 50, 51]);
    assert_eq!(table.i64("root").unwrap(), [-1, -1, 1, 1]);
}

#[test]
fn offset_and_drift_between_machines_are_found_from_exchanges() {
    let mut spool = Spool::world(2);
    let second = 1_000_000_000_u64;
    {
        // The other machine's clock counts 40 ppm too fast and began half a second early; its
        // calendar is right to the moment only by the exchanges.
        let other = &mut spool.processes[1];
        other.boot = "elsewhere".to_owned();
        other.host = "node2".to_owned();
        let reading = |ns: u64| ns + ns * 40 / 1_000_000 + second / 2;
        for ns in [second, 9 * second] {
            other.definitions.push(Definition::Exchange {
                peer: 0,
                sent: reading(ns),
                received: ns + 1000,
                returned: ns + 1500,
                came_back: reading(ns + 2500),
            });
        }
        call(other, 0, "MPI_Recv", reading(5 * second), reading(5 * second + 5000), |p| {
            p.receive(0, message(0, 5))
        });
        other.end = Some(reading(10 * second));
    }
    call(&mut spool.processes[0], 0, "MPI_Send", 5 * second, 5 * second + 100, |p| p.send(0, message(1, 5)));
    spool.processes[0].end = Some(10 * second);
    let merged = merged(&spool);
    let (send, recv) = merged.pairs()[0];
    assert!((recv - send - 5000).abs() < 300, "{}", recv - send);
    let clocks = merged.table("clocks");
    assert!((clocks.f64("drift_ppm").unwrap()[1] + 40.0).abs() < 0.1);
    let uncertainty = clocks.i64("uncertainty_ns").unwrap()[1];
    assert!((1000..1500).contains(&uncertainty), "{uncertainty}");
}

/// Enough intervals on several ranks to need slabs, with regions and messages across them.
fn long_run() -> Spool {
    let mut spool = Spool::world(3);
    for (rank, process) in (0_u64..).zip(&mut spool.processes) {
        let (main, step) = (process.site(0, "main"), process.site(0, "step"));
        process.enter(0, main, 5);
        for n in 0..60_000 {
            let at = 1000 * n + rank;
            process.enter(0, step, at + 10);
            let (to, from) = (i64::try_from((rank + 1) % 3).unwrap(), i64::try_from((rank + 2) % 3).unwrap());
            let sent = call(process, 0, "MPI_Isend", at + 20, at + 30, |p| p.post_send(0, message(to, 1)));
            call(process, 0, "MPI_Recv", at + 40, at + 90, |p| p.receive(0, message(from, 1)));
            call(process, 0, "MPI_Wait", at + 100, at + 110, |p| p.sent(0, sent));
            process.leave(0, at + 120);
        }
        process.leave(0, 61_000_000);
        process.end = Some(62_000_000);
    }
    spool
}

#[test]
fn slabs_hold_everything_once() {
    let merged = merged_with(&long_run(), &config(2, 1));
    let slabs = merged.archive.meta().counts["slabs"];
    assert!(slabs > 3, "{slabs}");
    assert_eq!(merged.summary.intervals, 3 * (1 + 4 * 60_000));
    assert_eq!(merged.summary.messages, 3 * 60_000);
    assert_eq!(merged.summary.problems, []);
    let profile = merged.profile();
    assert_eq!(profile["main/step"], (180_000, 180_000 * 110, 180_000 * 40));
    assert_eq!(profile["main"].1, 3 * (61_000_000 - 5));
    assert_eq!(profile["main"].2, 3 * (61_000_000 - 5) - 180_000 * 110);
    // Every slab but the first begins inside main on all three locations.
    let snapshots = merged.table("snapshots");
    let mains = snapshots.i64("start").unwrap().iter().filter(|&&start| start == 5).count() as u64;
    assert_eq!(mains, 3 * (slabs - 1));
    for part in merged.archive.parts("intervals") {
        assert!(part.rows <= 2_000_000);
    }
    let histogram: i64 = merged.table("histogram").i64("time").unwrap().iter().sum();
    assert_eq!(histogram, 3 * (61_000_000 - 5));
    let lod = merged.table("lod");
    let mut by_resolution: BTreeMap<(u32, u32, u32), i64> = BTreeMap::new();
    for row in 0..lod.len() {
        let value = |name: &str| lod.u32(name).unwrap()[row];
        let time: i64 =
            ["time1", "time2", "time3", "rest"].iter().map(|name| lod.i64(name).unwrap()[row]).sum();
        *by_resolution.entry((value("level"), value("depth"), value("resolution_log2"))).or_default() += time;
    }
    // At every resolution all of the time is there: steps at depth 1, MPI calls at depth 0.
    let steps: Vec<i64> =
        by_resolution.iter().filter(|((_, depth, _), _)| *depth == 1).map(|(_, t)| *t).collect();
    assert!(steps.len() > 3 && steps.iter().all(|&time| time == 180_000 * 110), "{steps:?}");
}

fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            found.insert(name, std::fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn any_number_of_threads_makes_the_same_bytes_and_a_restart_too() {
    let dir = tempfile::tempdir().unwrap();
    let spool = dir.path().join("spool");
    long_run().write(&spool).unwrap();
    let run = |name: &str, threads| {
        let run = dir.path().join(name);
        merge(&spool, &run, &config(threads, 1), &()).unwrap();
        files(&run)
    };
    let one = run("one", 1);
    let three = run("three", 3);
    assert!(one == three);
    // Restarted with a part missing and one of another input: both are made anew, the others kept.
    let part = dir.path().join("one/intervals/s000001-g00000.parquet");
    let kept = dir.path().join("one/intervals/s000002-g00000.parquet");
    let before = std::fs::metadata(&kept).unwrap().modified().unwrap();
    std::fs::remove_file(&part).unwrap();
    assert!(run("one", 2) == three);
    assert_eq!(std::fs::metadata(&kept).unwrap().modified().unwrap(), before);
}

#[test]
fn the_spool_goes_when_the_archive_is_verified() {
    let dir = tempfile::tempdir().unwrap();
    let spool = dir.path().join("spool");
    Spool::world(2).write(&spool).unwrap();
    let config = Config { keep_spool: false, ..config(1, 1 << 20) };
    merge(&spool, &dir.path().join("run"), &config, &()).unwrap();
    assert!(!spool.exists());
}

#[test]
fn a_lost_window_is_counted_and_the_stream_goes_on() {
    let mut process = Process::new(7);
    let (main, work) = (process.site(0, "main"), process.site(0, "work"));
    process.enter(0, main, 10);
    for n in 0..20_000 {
        process.enter(0, work, 100 * n + 20);
        process.leave(0, 100 * n + 50);
    }
    process.leave(0, 3_000_000);
    process.end = Some(3_000_001);
    let mut windows = process.event_windows();
    assert!(windows.len() > 4);
    windows.remove(2);
    let dir = tempfile::tempdir().unwrap();
    let spool = dir.path().join("spool");
    std::fs::create_dir(&spool).unwrap();
    std::fs::write(spool.join("a.definitions"), process.definition_bytes()).unwrap();
    std::fs::write(spool.join("a.events"), windows.concat()).unwrap();
    let run = dir.path().join("run");
    let summary = merge(&spool, &run, &config(1, 1 << 20), &()).unwrap();
    // What was open where the window before ended was left in the lost one.
    let kinds: Vec<&str> = summary.problems.iter().map(|problem| problem.0.as_str()).collect();
    assert_eq!(kinds, ["lost", "truncated"]);
    assert_eq!(summary.problems[0].1, 1);
    assert!((15_000..20_000).contains(&summary.intervals));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn damage_never_panics(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..8), 0..40),
        cut in any::<prop::sample::Index>(),
        noise in prop::collection::vec(any::<u8>(), 0..300),
        place in any::<prop::sample::Index>(),
        which in 0..3,
    ) {
        let mut spool = Spool::world(2);
        for n in 0..300 {
            call(&mut spool.processes[0], 0, "MPI_Send", 100 * n + 10, 100 * n + 20, |p| p.send(0, message(1, 5)));
            call(&mut spool.processes[1], 0, "MPI_Recv", 100 * n + 5, 100 * n + 50, |p| p.receive(0, message(0, 5)));
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("spool");
        spool.write(&path).unwrap();
        for entry in std::fs::read_dir(&path).unwrap() {
            let path = entry.unwrap().path();
            let mut bytes = std::fs::read(&path).unwrap();
            for (index, bit) in &flips {
                // Most of a window is empty; what is used stands at its beginning.
                let at = index.index(bytes.len().min(6000));
                bytes[at] ^= 1 << bit;
            }
            if which == 1 {
                bytes.truncate(cut.index(bytes.len()));
            }
            if which == 2 {
                let at = place.index(bytes.len() - noise.len());
                bytes[at..at + noise.len()].copy_from_slice(&noise);
            }
            std::fs::write(&path, bytes).unwrap();
        }
        let summary = merge(&path, &dir.path().join("run"), &config(1, 1 << 20), &()).unwrap();
        prop_assert!(summary.messages <= 300);
    }
}

/// Bytes that look like records: opcodes and small numbers, with some of anything in between.
fn recordish() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        6 => 1_u8..0x20,
        4 => 0x40_u8..0x44,
        // One-byte numbers.
        6 => (0_u8..8).prop_map(|number| number << 1 | 1),
        1 => any::<u8>(),
    ];
    prop::collection::vec(byte, 0..600)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn records_without_sense_in_sound_windows_never_panic(
        pieces in prop::collection::vec(recordish(), 1..4),
        lose_one in any::<bool>(),
    ) {
        let mut spool = Spool::world(1);
        let process = &mut spool.processes[0];
        for verb in ["a", "b", "c"] {
            process.site(0, verb);
        }
        for (n, piece) in pieces.into_iter().enumerate() {
            process.raw_window(0, 100 + 1000 * n as u64, n as u64 + u64::from(lose_one && n > 0), piece);
        }
        process.end = Some(1_000_000);
        let dir = tempfile::tempdir().unwrap();
        spool.write(&dir.path().join("spool")).unwrap();
        let run = dir.path().join("run");
        let summary = merge(&dir.path().join("spool"), &run, &config(1, 1 << 20), &()).unwrap();
        let lost = summary.problems.iter().any(|problem| problem.0 == "lost");
        prop_assert!(!lost || lose_one);
    }
}
