//! Which send belongs to which receive: messages carry a serial number, and the programs write down
//! which number went and came when. Both ends of every recorded message must lie inside the two
//! calls that the program timed around the same number.
//!
//! The one idea: the ends are recognised one by one, each by its place in the order of its thread
//! and then by its time; only after that is asked whether both ends of a message have the same
//! number. So a wrong pair cannot pass for a right one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, need};

/// One end of a message, on the clock of whoever wrote it down, ns.
#[derive(Clone, Copy, Debug)]
struct End {
    /// The thread that sent or completed the receive, as the operating system numbers it.
    thread: i64,
    tag: i64,
    /// The serial number, or the row of the message.
    number: i64,
    /// Truth: just before the first call. Recorded: its enter.
    from: i64,
    /// Truth: just after the last call. Recorded: its leave, of a send its enter.
    to: i64,
}

/// Sends and receives.
#[derive(Debug, Default)]
struct Ends {
    sends: Vec<End>,
    recvs: Vec<End>,
}

/// What the processes wrote down.
fn truth(dir: &Path) -> Ends {
    let mut ends = Ends::default();
    for entry in std::fs::read_dir(dir).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |at: usize| words[at].parse::<i64>().unwrap();
            let end =
                End { tag: number(3), number: number(4), from: number(5), to: number(6), thread: number(7) };
            if words[0] == "send" { ends.sends.push(end) } else { ends.recvs.push(end) }
        }
    }
    ends
}

/// What was recorded.
fn recorded(run: &Run) -> Ends {
    let (messages, locations) = (run.table("messages"), run.table("locations"));
    let threads = locations.i64("os_thread").unwrap();
    let mut ends = Ends::default();
    for row in 0..messages.len() {
        let time = |name: &str| messages.i64(name).unwrap()[row];
        let end = |location: &str, from: i64, to: i64| {
            // An end that is not known lies on no location.
            let thread = *threads.get(messages.u32(location).unwrap()[row] as usize)?;
            Some(End { thread, tag: time("tag"), number: i64::try_from(row).unwrap(), from, to })
        };
        ends.sends.extend(end("send_location", time("send_time"), time("send_time")));
        ends.recvs.extend(end("recv_location", time("recv_post"), time("recv_time")));
    }
    ends
}

/// The ends of each thread and tag in the order of their first calls, then of their last.
fn in_order(ends: &[End]) -> BTreeMap<(i64, i64), Vec<End>> {
    let mut series: BTreeMap<_, Vec<End>> = BTreeMap::new();
    for end in ends {
        series.entry((end.thread, end.tag)).or_default().push(*end);
    }
    for ends in series.values_mut() {
        ends.sort_by_key(|end| (end.from, end.to, end.number));
    }
    series
}

/// A recorded end and the program's.
type Same = (End, End);

/// Recorded ends beside those of the program: a thread does one thing after the other, so the
/// first recorded is the first that the program made.
fn side_by_side(recorded: &[End], truth: &[End], what: &str) -> Vec<Same> {
    let (ours, theirs) = (in_order(recorded), in_order(truth));
    let lengths = |series: &BTreeMap<(i64, i64), Vec<End>>| -> Vec<_> {
        series.iter().map(|(key, ends)| (*key, ends.len())).collect()
    };
    assert_eq!(lengths(&ours), lengths(&theirs), "number of {what} by (thread, tag)");
    ours.into_values().flatten().zip(theirs.into_values().flatten()).collect()
}

/// Readings of two clocks may differ by this much at the same instant, ns.
const TOLERANCE: i64 = 2_000;

/// Fails unless there is one difference between the clocks with which every recorded end lies
/// within the calls that it was recognised as. Returns by how much the clocks are at odds, ns.
fn expect_in_time(same: &[Same]) -> i64 {
    let least = same.iter().map(|(ours, theirs)| theirs.from - ours.from).max().unwrap();
    let most = same.iter().map(|(ours, theirs)| theirs.to - ours.to).min().unwrap();
    assert!(least - most <= TOLERANCE, "some calls lie {} ns out of time", least - most);
    (least - most).max(0)
}

/// Compares a run with what its processes wrote to `dir`.
fn compare(run: &Run, dir: &Path) {
    let (truth, recorded) = (truth(dir), recorded(run));
    assert_eq!(problem(run, "ambiguous"), 0, "no two threads share a channel in these programs");
    let sends = side_by_side(&recorded.sends, &truth.sends, "sends");
    let recvs = side_by_side(&recorded.recvs, &truth.recvs, "receives");
    let both: Vec<Same> = sends.iter().chain(&recvs).copied().collect();
    let at_odds = expect_in_time(&both);
    let serials = |same: Vec<Same>| -> BTreeMap<i64, i64> {
        same.into_iter().map(|(ours, theirs)| (ours.number, theirs.number)).collect()
    };
    let (sends, recvs) = (serials(sends), serials(recvs));

    let rows = run.table("messages").len();
    let (mut wrong, mut right) = (Vec::new(), BTreeSet::new());
    for row in 0..i64::try_from(rows).unwrap() {
        match (sends.get(&row), recvs.get(&row)) {
            (Some(sent), Some(received)) if sent == received => {
                right.insert(*sent);
            }
            (sent, received) => wrong.push(format!("row {row}: sent {sent:?}, received {received:?}")),
        }
    }
    let missing: Vec<&End> = truth.recvs.iter().filter(|end| !right.contains(&end.number)).collect();
    eprintln!(
        "{} true pairs, {rows} recorded, {} right, {} wrong, {} missing, clocks at odds by {at_odds} ns",
        truth.recvs.len(),
        right.len(),
        wrong.len(),
        missing.len(),
    );
    assert!(truth.recvs.len() > 10, "too little to compare");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(missing.is_empty(), "{missing:#?}");
}

fn problem(run: &Run, kind: &str) -> u64 {
    let problems = run.table("problems");
    let (kinds, counts) = (problems.text("kind").unwrap(), problems.i64("count").unwrap());
    kinds.iter().zip(counts).filter(|(k, _)| *k == kind).map(|(_, n)| n.cast_unsigned()).sum()
}

/// Exit code of a program that the MPI library cannot run.
const NOT_AVAILABLE: i32 = 77;

fn check(mpi: Mpi, ranks: u32, source: &str) {
    check_and(mpi, ranks, source, |_| {});
}

/// Compares the messages, and asks what else there is to ask of the run.
fn check_and(mpi: Mpi, ranks: u32, source: &str, further: impl Fn(&Run)) {
    let mpi = need!(mpi.installed(), "{}", mpi.launcher());
    let build = Build {
        mpi,
        compiler: Compiler::C,
        sources: &[source],
        flags: &["-O1", "-pthread"],
        output: "program",
    };
    let program = need!(build.path(), "a C compiler for {mpi:?}");
    let place = Place::new();
    let out = place.dir("truth");
    let job = Job::new(mpi, ranks, program).env("MATCH_OUT", &out);
    let run = job.record(place.path());
    let code = run.output.status.code();
    if code == Some(NOT_AVAILABLE) {
        assert_eq!(job.plain(place.path()).status.code(), code, "it is not the recorder that prevents it");
        return marey_testkit::leave_out(&format!("{source} cannot run with {mpi:?}: {}", run.stdout()));
    }
    assert_eq!(code, Some(0), "{}{}", run.stdout(), run.stderr());
    eprint!("{source} with {mpi:?}: ");
    compare(&run, &out);
    run.expect_no_problems(&[]);
    further(&run);
}

#[test]
fn communicators_of_every_kind() {
    check_and(Mpi::Open, 4, "match_comms.c", expect_waits_to_name_communicators);
    check_and(Mpi::Mpich, 2, "match_comms.c", expect_waits_to_name_communicators);
}

/// All that these programs wait for was begun on a communicator, be it a send or a receive.
fn expect_waits_to_name_communicators(run: &Run) {
    let (intervals, paths, regions) = (run.table("intervals"), run.table("call_paths"), run.table("regions"));
    let (path, set) = (intervals.u32("call_path").unwrap(), intervals.u32("participants").unwrap());
    let verb = |row: usize| {
        &regions.text("verb").unwrap()[paths.u32("region").unwrap()[path[row] as usize] as usize]
    };
    let waits: Vec<usize> = (0..intervals.len())
        .filter(|&row| ["MPI_Wait", "MPI_Waitall"].contains(&verb(row).as_str()))
        .collect();
    let named = waits.iter().filter(|&&row| set[row] != u32::MAX).count();
    assert!(named > 10, "{named} of {} waits name a communicator", waits.len());
    assert_eq!(named, waits.len());
}

#[test]
fn wildcards_and_every_kind_of_request() {
    check(Mpi::Open, 4, "match_wild.c");
    check(Mpi::Mpich, 2, "match_wild.c");
}

#[test]
fn threads_that_send_at_the_same_time() {
    check(Mpi::Open, 2, "match_threads.c");
    check(Mpi::Mpich, 2, "match_threads.c");
}

#[test]
fn spawned_processes() {
    check(Mpi::Open, 2, "match_spawn.c");
}

/// Parts in collectives of a run as (root, bytes given, bytes got), sorted.
fn collectives(run: &Run) -> Vec<(i64, i64, i64)> {
    let table = run.table("collectives");
    let column = |name: &str| table.i64(name).unwrap().to_vec();
    let (root, out, got) = (column("root"), column("bytes_out"), column("bytes_in"));
    let mut rows: Vec<_> = (0..table.len()).map(|row| (root[row], out[row], got[row])).collect();
    rows.sort_unstable();
    rows
}

/// Each start of a collective that was prepared is one operation of each of two ranks: five barriers,
/// five sums of 8 bytes, five broadcasts of 8 bytes from rank 1. The last sum is `match_result`'s.
#[test]
fn what_mpi_4_has_added() {
    let parts = [vec![(-1, 0, 0); 10], vec![(-1, 8, 8); 10], vec![(-1, 16, 16); 2]];
    let roots = [vec![(1, 0, 8); 5], vec![(1, 8, 0); 5]];
    let expected: Vec<_> = parts.into_iter().chain(roots).flatten().collect();
    for mpi in Mpi::BOTH {
        check_and(mpi, 2, "match_mpi4.c", |run| assert_eq!(collectives(run), expected));
    }
}
