//! The summaries of small runs drawn by hand; the expected numbers are worked out in the comments.

#[path = "summaries/callers.rs"]
mod callers;
#[path = "summaries/counted.rs"]
mod counted;
#[path = "summaries/heap.rs"]
mod heap;
#[path = "summaries/reduced.rs"]
mod reduced;
#[path = "summaries/sampled.rs"]
mod sampled;

use std::collections::BTreeMap;

use marey_analyze::{
    AllocationRow, BinRow, CallPath, CommunicationRow, CommunicatorId, CountedRow, Counter, CounterId, Deeds,
    EarlyEnding, Frame, HeapRow, LastPlace, LastSeen, Location, LocationKind, OpenRegion, Population,
    Problem, Process, ProfileRow, ReducedRow, Region, Sampled, SampledRow, Spread, Trace, allocations,
    call_paths, caller, caller_on, communication, counted, early_endings, exclusive_by_process, files,
    headline, hot, innermost, lines, memory, message_sizes, ranks, regions, routine_on, waiting,
};
use marey_model::{
    CallPathId, IoKind, LocationId, Nanos, ProcessId, RegionId, Role, StackId, ThreadSerial, Tier,
};

/// A run in memory.
#[derive(Default)]
struct Run {
    regions: Vec<Region>,
    call_paths: Vec<CallPath>,
    stacks: Vec<Vec<Frame>>,
    processes: Vec<Process>,
    locations: Vec<Location>,
    profile: Vec<ProfileRow>,
    reduced: Vec<ReducedRow>,
    durations: Vec<BinRow>,
    sizes: Vec<BinRow>,
    communication: Vec<CommunicationRow>,
    samples: Vec<SampledRow>,
    counters: Vec<Counter>,
    counted: Vec<CountedRow>,
    allocations: Vec<AllocationRow>,
    heaps: Vec<HeapRow>,
    problems: Vec<Problem>,
    open_at_end: Option<Vec<OpenRegion>>,
}

impl Trace for Run {
    fn duration(&self) -> Nanos {
        Nanos(1000)
    }
    fn regions(&self) -> &[Region] {
        &self.regions
    }
    fn call_paths(&self) -> &[CallPath] {
        &self.call_paths
    }
    fn stack(&self, stack: StackId) -> Vec<&Frame> {
        self.stacks.get(stack.idx()).map_or_else(Vec::new, |frames| frames.iter().collect())
    }
    fn processes(&self) -> &[Process] {
        &self.processes
    }
    fn locations(&self) -> &[Location] {
        &self.locations
    }
    fn profile(&self) -> &[ProfileRow] {
        &self.profile
    }
    fn reduced(&self) -> &[ReducedRow] {
        &self.reduced
    }
    fn durations(&self) -> &[BinRow] {
        &self.durations
    }
    fn sizes(&self) -> &[BinRow] {
        &self.sizes
    }
    fn communication(&self) -> &[CommunicationRow] {
        &self.communication
    }
    fn samples(&self) -> &[SampledRow] {
        &self.samples
    }
    fn counters(&self) -> &[Counter] {
        &self.counters
    }
    fn counted(&self) -> &[CountedRow] {
        &self.counted
    }
    fn allocations(&self) -> &[AllocationRow] {
        &self.allocations
    }
    fn heaps(&self) -> &[HeapRow] {
        &self.heaps
    }
    fn problems(&self) -> &[Problem] {
        &self.problems
    }
    fn open_at_end(&self) -> Option<&[OpenRegion]> {
        self.open_at_end.as_deref()
    }
}

fn region(level: &str, verb: &str, noun: &str, role: Role) -> Region {
    let [level, verb, noun, file] = [level, verb, noun, "region.c"].map(str::to_owned);
    Region { level, tier: Tier::Runtime, verb, noun, role, file, line: 9, label: None }
}

fn path(parent: Option<u32>, region: u32, stack: Option<u32>) -> CallPath {
    let (parent, stack) = (parent.map(CallPathId), stack.map(StackId));
    CallPath { parent, region: RegionId(region), stack }
}

fn frame(function: &str, line: u32) -> Frame {
    Frame { function: function.to_owned(), file: "app.c".to_owned(), line }
}

fn process(world: u32, rank: Option<u32>, end: i64) -> Process {
    let [host, outcome] = ["node", "finished"].map(str::to_owned);
    Process {
        host,
        pid: 1,
        world,
        rank,
        start: Nanos(0),
        end: Nanos(end),
        outcome,
        exit_code: Some(0),
        peak_memory: None,
        processor_time: None,
    }
}

fn location(process: u32, thread: u32, start: i64, end: i64) -> Location {
    Location {
        process: ProcessId(process),
        name: String::new(),
        kind: LocationKind::Thread,
        thread: ThreadSerial(thread),
        start: Nanos(start),
        end: Nanos(end),
    }
}

/// Visits of the given durations.
fn row(call_path: u32, location: u32, durations: &[i64], exclusive: i64, bytes: u64) -> ProfileRow {
    ProfileRow {
        call_path: CallPathId(call_path),
        location: LocationId(location),
        visits: durations.len() as u64,
        untimed: 0,
        inclusive: Nanos(durations.iter().sum()),
        exclusive: Nanos(exclusive),
        min: durations.iter().min().copied().map(Nanos),
        max: durations.iter().max().copied().map(Nanos),
        sum_squares: durations.iter().map(|&ns| (ns * ns) as f64).sum(),
        bytes,
    }
}

/// Two ranks run 1000 ns each: `main` calls MPI_Send (path 1) and MPI_Allreduce (path 2), which the
/// MPI library does by an MPI_Send of its own (path 3).
///
///     rank 0: main 1000, MPI_Send 10+30, MPI_Allreduce 400 (in it MPI_Send 100)
///     rank 1: main 1000, MPI_Send 20,    MPI_Allreduce 100 (in it MPI_Send  50)
fn two_ranks() -> Run {
    Run {
        regions: vec![
            region("source", "execute", "main", Role::Work),
            region("mpi", "MPI_Send", "MPI_COMM_WORLD", Role::Transfer),
            region("mpi", "MPI_Allreduce", "MPI_COMM_WORLD", Role::AllToAll),
        ],
        call_paths: vec![
            path(None, 0, None),
            path(Some(0), 1, Some(0)),
            path(Some(0), 2, Some(1)),
            path(Some(2), 1, Some(7)),
        ],
        stacks: vec![vec![frame("exchange", 12), frame("main", 40)], vec![frame("main", 44)]],
        processes: vec![process(0, Some(0), 1000), process(0, Some(1), 1000)],
        locations: vec![location(0, 0, 0, 1000), location(1, 0, 0, 1000)],
        profile: vec![
            row(0, 0, &[1000], 560, 0),
            row(0, 1, &[1000], 880, 0),
            row(1, 0, &[10, 30], 40, 16),
            row(1, 1, &[20], 20, 8),
            row(2, 0, &[400], 300, 0),
            row(2, 1, &[100], 50, 0),
            row(3, 0, &[100], 100, 4),
            row(3, 1, &[50], 50, 4),
        ],
        ..Run::default()
    }
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

#[test]
fn a_region_sums_its_call_paths_over_all_locations() {
    let run = two_ranks();
    let rows = regions(&run);
    assert_eq!(rows.len(), 3);
    // MPI_Send: visits 10, 30, 20, 100, 50.
    let send = &rows[1];
    assert_eq!((send.level, send.verb, send.noun), ("mpi", "MPI_Send", "MPI_COMM_WORLD"));
    assert_eq!((send.role, send.visits, send.bytes), (Role::Transfer, 5, 32));
    // Not beneath itself in either path, so all of it counts: 10+30+20+100+50.
    assert_eq!((send.inclusive, send.exclusive), (Nanos(210), Nanos(210)));
    assert_eq!((send.min, send.max), (Some(Nanos(10)), Some(Nanos(100))));
    // Mean 210/5 = 42; squares 100+900+400+10000+2500 = 13900, /5 = 2780, − 42² = 1016.
    close(send.mean, 42.0);
    close(send.std, 1016_f64.sqrt());
    // MPI_Allreduce: 400+100 with, 300+50 without the sends.
    assert_eq!((rows[2].inclusive, rows[2].exclusive), (Nanos(500), Nanos(350)));
}

#[test]
fn recursion_is_not_counted_twice() {
    // f 100 → f 60 → g 30 → f 20.
    let run = Run {
        regions: vec![
            region("source", "execute", "f", Role::Work),
            region("source", "execute", "g", Role::Work),
        ],
        call_paths: vec![
            path(None, 0, None),
            path(Some(0), 0, None),
            path(Some(1), 1, None),
            path(Some(2), 0, None),
        ],
        processes: vec![process(0, None, 100)],
        locations: vec![location(0, 0, 0, 100)],
        profile: vec![
            row(0, 0, &[100], 40, 0),
            row(1, 0, &[60], 30, 0),
            row(2, 0, &[30], 10, 0),
            row(3, 0, &[20], 20, 0),
        ],
        ..Run::default()
    };
    let rows = regions(&run);
    // Only the outermost f counts: 100, not 100+60+20. Exclusive times add up: 40+30+20.
    assert_eq!((rows[0].inclusive, rows[0].exclusive, rows[0].visits), (Nanos(100), Nanos(90), 3));
    // Single visits are all of them: 100, 60, 20; mean 60, squares 14000/3 − 3600 = 1066.67.
    assert_eq!((rows[0].min, rows[0].max), (Some(Nanos(20)), Some(Nanos(100))));
    close(rows[0].mean, 60.0);
    close(rows[0].std, (14000.0_f64 / 3.0 - 3600.0).sqrt());
    assert_eq!(rows[1].inclusive, Nanos(30));
    let names: Vec<_> = call_paths(&run).into_iter().map(|row| row.path.join("/")).collect();
    assert_eq!(names, ["f", "f/f", "f/f/g", "f/f/g/f"]);
}

/// f 100 → f 60 → so many visits of f that only their number is known: they have part in no mean.
#[test]
fn visits_without_times_count_and_have_no_part_in_means() {
    let untimed = |path, visits| ProfileRow { visits, untimed: visits, ..row(path, 0, &[], 0, 0) };
    let mut run = Run {
        regions: vec![region("source", "execute", "f", Role::Work)],
        call_paths: vec![path(None, 0, None), path(Some(0), 0, None), path(Some(1), 0, None)],
        processes: vec![process(0, None, 100)],
        locations: vec![location(0, 0, 0, 100)],
        profile: vec![row(0, 0, &[100], 40, 0), row(1, 0, &[60], 60, 0), untimed(2, 7)],
        ..Run::default()
    };
    let found = regions(&run)[0].clone();
    assert_eq!((found.visits, found.untimed, found.durations), (9, 7, Nanos(160)));
    assert_eq!((found.min, found.max, found.inclusive), (Some(Nanos(60)), Some(Nanos(100)), Nanos(100)));
    close(found.mean, 80.0);
    close(found.std, 20.0);
    let paths: Vec<_> = call_paths(&run).iter().map(|row| (row.visits, row.untimed)).collect();
    assert_eq!(paths, [(1, 0), (1, 0), (7, 7)]);

    run.profile = vec![untimed(0, 7)];
    let found = regions(&run)[0].clone();
    assert_eq!((found.visits, found.min), (7, None));
    close(found.mean, 0.0);
    close(found.std, 0.0);
}

#[test]
fn a_region_that_was_never_visited_has_a_row_of_zeros() {
    let run = Run { regions: vec![region("mpi", "MPI_Recv", "", Role::Transfer)], ..Run::default() };
    let rows = regions(&run);
    assert_eq!((rows[0].visits, rows[0].inclusive, rows[0].min), (0, Nanos(0), None));
    close(rows[0].mean, 0.0);
    close(rows[0].std, 0.0);
}

#[test]
fn a_call_path_names_its_regions_and_its_call_site() {
    let run = two_ranks();
    let rows = call_paths(&run);
    assert_eq!(rows[1].path, ["main", "MPI_Send"]);
    assert_eq!((&*rows[1].function, &*rows[1].file, rows[1].line), ("exchange", "app.c", 12));
    assert_eq!(rows[3].path, ["main", "MPI_Allreduce", "MPI_Send"]);
    // Its stack is not there, so the place of the region stands in for it.
    assert_eq!((&*rows[3].function, &*rows[3].file, rows[3].line), ("", "region.c", 9));
    assert_eq!((rows[1].visits, rows[1].inclusive, rows[1].exclusive), (3, Nanos(60), Nanos(60)));
    assert_eq!(rows[1].bytes, 24);
}

#[test]
fn a_call_path_tells_how_ranks_differ() {
    let run = two_ranks();
    // MPI_Allreduce: rank 0 400, rank 1 100; mean 250, each 150 off it.
    let expected = Spread {
        processes: 2,
        min: Nanos(100),
        max: Nanos(400),
        mean: 250.0,
        std: 150.0,
        min_process: ProcessId(1),
        max_process: ProcessId(0),
    };
    assert_eq!(call_paths(&run)[2].spread, expected);
}

#[test]
fn ranks_that_never_came_there_count_as_zero() {
    let mut run = two_ranks();
    // Path 1 now only on rank 0 (10+30); a process of another world must not be counted.
    run.profile.retain(|row| row.call_path != CallPathId(1) || row.location == LocationId(0));
    run.processes.push(process(1, Some(0), 500));
    let spread = call_paths(&run)[1].spread;
    assert_eq!((spread.processes, spread.min, spread.max), (2, Nanos(0), Nanos(40)));
    assert_eq!((spread.min_process, spread.max_process), (ProcessId(1), ProcessId(0)));
    close(spread.mean, 20.0);
    close(spread.std, 20.0);
}

/// Exclusive time of MPI_Send over paths 1 and 3: rank 0 40 + 100 = 140, rank 1 20 + 50 = 70, and
/// a third rank none; so the mean is 70, and the deviations are 70, 0 and 70: √(9800 / 3).
#[test]
fn exclusive_times_of_a_region_are_compared_between_all_ranks() {
    let mut run = two_ranks();
    run.processes.push(process(0, Some(2), 1000));
    run.locations.push(location(2, 0, 0, 1000));
    let times = exclusive_by_process(&run);
    let ranks = |times: &[(u32, i64)]| times.iter().map(|&(id, ns)| (ProcessId(id), Nanos(ns))).collect();
    let expected: [BTreeMap<_, _>; 3] =
        [ranks(&[(0, 560), (1, 880)]), ranks(&[(0, 140), (1, 70)]), ranks(&[(0, 300), (1, 50)])];
    assert_eq!(times, expected);
    let spread = Population::new(&run).spread(&times[1]);
    assert_eq!((spread.processes, spread.min, spread.max), (3, Nanos(0), Nanos(140)));
    assert_eq!((spread.min_process, spread.max_process), (ProcessId(2), ProcessId(0)));
    close(spread.mean, 70.0);
    close(spread.std, (9800.0_f64 / 3.0).sqrt());
    assert_eq!(Population::new(&run).spread(&BTreeMap::new()), Spread::default());
}

#[test]
fn a_process_that_did_not_end_well_says_where_its_threads_were() {
    let mut run = two_ranks();
    run.processes[1].outcome = "killed".to_owned();
    run.processes[1].exit_code = None;
    // Locations 2 to 5: threads of rank 1, the last of which is a lane; 6: of rank 0.
    run.locations.extend((1..5).map(|thread| location(1, thread, 0, 1000)));
    run.locations[5].kind = LocationKind::Lane;
    run.locations.push(location(0, 1, 0, 1000));
    let open = |location, call_path, start| OpenRegion {
        location: LocationId(location),
        call_path: CallPathId(call_path),
        start: Nanos(start),
    };
    // Thread 0 of rank 1 in an MPI_Send of MPI_Allreduce of main, thread 2 in main; thread 1 in none.
    run.open_at_end = Some(vec![
        open(1, 0, 0),
        open(1, 2, 800),
        open(1, 3, 850),
        open(3, 0, 500),
        open(5, 0, 1),
        open(6, 0, 2),
    ]);
    // Of thread 3 records are missing.
    let kind = "truncated".to_owned();
    let location = Some(LocationId(4));
    run.problems.push(Problem { kind, process: None, location, count: 1, detail: String::new() });
    let inside = |call_path, path: &[&'static str], start| LastPlace::Inside {
        call_path: CallPathId(call_path),
        path: path.to_vec(),
        start: Nanos(start),
    };
    let seen = |location, place| LastSeen { location: LocationId(location), place };
    let threads = vec![
        seen(1, inside(3, &["main", "MPI_Allreduce", "MPI_Send"], 850)),
        seen(3, inside(0, &["main"], 500)),
        seen(4, LastPlace::Unknown),
    ];
    let expected = EarlyEnding { process: ProcessId(1), outcome: "killed", exit_code: None, threads };
    assert_eq!(early_endings(&run), [expected]);
    // A run that does not say is not taken for one in which nobody was anywhere.
    run.open_at_end = None;
    let places: Vec<_> = early_endings(&run)[0].threads.iter().map(|seen| seen.place.clone()).collect();
    assert_eq!(places, vec![LastPlace::Unknown; 4]);
    run.open_at_end = Some(Vec::new());
    assert_eq!(early_endings(&run)[0].threads[0].place, LastPlace::Outside);
}

#[test]
fn an_exit_status_of_zero_is_a_good_end_and_an_abort_never_is() {
    let cases = [
        ("finished", Some(0), true),
        ("replaced by exec", None, true),
        ("exited at once (_exit)", Some(0), true),
        ("exited at once (_exit)", Some(3), false),
        ("exited", Some(1), false),
        ("exited", None, false),
        ("aborted (MPI_Abort)", Some(0), false),
        ("ended without notice (killed, or went on as another program)", None, false),
    ];
    for (outcome, exit_code, expected) in cases {
        let process = Process { outcome: outcome.to_owned(), exit_code, ..process(0, None, 1) };
        assert_eq!(process.ended_well(), expected, "{outcome} {exit_code:?}");
    }
    // A rank that goes on when the recording is ended hangs, or was left alone; another process may serve.
    for rank in [None, Some(0)] {
        let outcome = "still running when the recording ended".to_owned();
        assert_eq!(Process { outcome, exit_code: None, ..process(0, rank, 1) }.ended_well(), rank.is_none());
    }
}

#[test]
fn a_rank_sums_its_outermost_mpi_calls() {
    let rows = ranks(&two_ranks());
    // Rank 0: 10+30+400 = 440; the send within the allreduce is in its 400 already. Rank 1: 20+100.
    let found: Vec<_> = rows.iter().map(|row| (row.rank, row.time.0, row.mpi.0, row.threads)).collect();
    assert_eq!(found, [(Some(0), 1000, 440, 1), (Some(1), 1000, 120, 1)]);
    close(rows[0].mpi_share(), 0.44);
}

#[test]
fn threads_in_mpi_add_up() {
    let mut run = two_ranks();
    // A second thread of rank 0, alive from 200 to 1000, sends for 800 ns; a third calls nothing.
    run.locations.push(location(0, 1, 200, 1000));
    run.locations.push(location(0, 2, 0, 1000));
    run.profile.push(row(1, 2, &[800], 800, 0));
    let rows = ranks(&run);
    assert_eq!((rows[0].threads, rows[0].time, rows[0].mpi), (3, Nanos(1000), Nanos(1240)));
    // The time of those that called MPI: 1000 + 800; the third thread does not dilute it.
    assert_eq!(rows[0].mpi_base, Nanos(1800));
}

#[test]
fn the_headline_says_where_the_time_is() {
    let found = headline(&two_ranks());
    assert_eq!(found.process_time, Nanos(2000));
    // 440 + 120 of 2000.
    assert_eq!(found.mpi, Nanos(560));
    close(found.mpi_share, 0.28);
    // Outermost calls only: sends 40+20, allreduces 400+100.
    assert_eq!(found.mpi_by_role, [(Role::AllToAll, Nanos(500)), (Role::Transfer, Nanos(60))]);
    let (most, least) = (found.most_mpi.unwrap(), found.least_mpi.unwrap());
    assert_eq!((most.rank, least.rank), (0, 1));
    close(most.share, 0.44);
    close(least.share, 0.12);
    let site = found.largest_call_site.unwrap();
    assert_eq!((&*site.verb, &*site.function, site.line), ("MPI_Allreduce", "main", 44));
    assert_eq!((site.visits, site.inclusive), (2, Nanos(500)));
    // Computing: 560 and 880, mean 720; 880/720 − 1.
    close(found.imbalance.unwrap(), 880.0 / 720.0 - 1.0);
}

#[test]
fn call_paths_from_one_place_make_one_call_site() {
    let mut run = two_ranks();
    // MPI_Send from the same line, beneath another region: 300 on rank 0 and 190 on rank 1, with
    // 40 and 20 from before 550, more than the 500 of MPI_Allreduce.
    run.regions.push(region("source", "execute", "halo", Role::Work));
    run.call_paths.push(path(Some(0), 3, None));
    run.call_paths.push(path(Some(4), 1, Some(0)));
    run.profile.push(row(5, 0, &[300], 300, 0));
    run.profile.push(row(5, 1, &[190], 190, 0));
    let site = headline(&run).largest_call_site.unwrap();
    assert_eq!((&*site.verb, site.line, site.visits, site.inclusive), ("MPI_Send", 12, 5, Nanos(550)));
}

#[test]
fn a_run_without_mpi_has_no_mpi_headline() {
    let run = Run {
        regions: vec![region("source", "execute", "main", Role::Work)],
        call_paths: vec![path(None, 0, None)],
        processes: vec![process(0, None, 100)],
        locations: vec![location(0, 0, 0, 100)],
        profile: vec![row(0, 0, &[100], 100, 0)],
        ..Run::default()
    };
    let found = headline(&run);
    assert_eq!((found.process_time, found.mpi), (Nanos(100), Nanos(0)));
    close(found.mpi_share, 0.0);
    assert!(found.mpi_by_role.is_empty());
    assert!(found.most_mpi.is_none() && found.largest_call_site.is_none() && found.imbalance.is_none());
    // The spread of a path is then over the processes that came there.
    assert_eq!(call_paths(&run)[0].spread.processes, 1);
}

#[test]
fn messages_are_summed_by_pair_and_by_size() {
    let mut run = two_ranks();
    let sent = |from, to, communicator, size_log2, messages, bytes| CommunicationRow {
        from: ProcessId(from),
        to: ProcessId(to),
        communicator: Some(CommunicatorId(communicator)),
        size_log2,
        is_size_known: true,
        messages,
        bytes,
    };
    run.communication = vec![
        sent(1, 0, 0, Some(3), 2, 20),
        sent(0, 1, 0, Some(3), 1, 8),
        sent(0, 1, 1, Some(10), 4, 5000),
        sent(0, 1, 0, None, 3, 0),
    ];
    let pairs: Vec<_> =
        communication(&run).iter().map(|p| (p.from_rank, p.to_rank, p.messages, p.bytes)).collect();
    assert_eq!(pairs, [(Some(0), Some(1), 8, 5008), (Some(1), Some(0), 2, 20)]);
    let sizes: Vec<_> =
        message_sizes(&run).iter().map(|row| (row.size_log2, row.messages, row.bytes)).collect();
    assert_eq!(sizes, [(None, 3, 0), (Some(3), 3, 28), (Some(10), 4, 5000)]);
}

#[test]
fn ids_that_point_nowhere_are_skipped() {
    let mut run = two_ranks();
    let before = (headline(&run), ranks(&run));
    // A path that is its own parent, one of no region, rows of no path and of no location, and a
    // location of no process.
    run.call_paths.push(path(Some(4), 1, None));
    run.call_paths.push(path(Some(9), 99, Some(99)));
    run.locations.push(location(77, 0, 0, 1000));
    for (call_path, location) in [(5, 0), (99, 0), (1, 99), (1, 2)] {
        run.profile.push(row(call_path, location, &[500], 500, 0));
    }
    assert_eq!((headline(&run), ranks(&run)), before);
    assert_eq!(call_paths(&run).len(), 4);
    assert_eq!(regions(&run)[1].inclusive, Nanos(210));
    run.profile.push(row(4, 0, &[5], 5, 0));
    assert_eq!(call_paths(&run)[4].path, ["MPI_Send"]);
}

/// Of rank 2 the events are missing: what it did is unknown, not nothing.
#[test]
fn ranks_of_which_nothing_is_known_are_in_no_conclusion() {
    let mut run = two_ranks();
    run.processes.push(process(0, Some(2), 5000));
    let before = headline(&two_ranks());
    run.problems.push(Problem {
        kind: "missing".to_owned(),
        process: Some(ProcessId(2)),
        location: None,
        count: 1,
        detail: String::new(),
    });
    let known: Vec<bool> = ranks(&run).iter().map(|row| row.is_known).collect();
    assert_eq!(known, [true, true, false]);
    let after = headline(&run);
    assert_eq!((after.mpi_share, after.imbalance), (before.mpi_share, before.imbalance));
    assert_eq!((after.least_mpi, after.most_mpi), (before.least_mpi, before.most_mpi));
    let times = &exclusive_by_process(&run)[1];
    assert_eq!(Population::new(&run).spread(times).processes, 2);
}

/// Call path 0 is of region 0 on two locations whose clocks differ a little, call path 1 of the same region.
#[test]
fn durations_of_a_region_are_those_of_its_call_paths() {
    let row = |call_path: u32, location: u32, bin, number| BinRow {
        call_path: CallPathId(call_path),
        location: LocationId(location),
        bin,
        number,
    };
    let path = |parent| CallPath { parent, region: RegionId(0), stack: None };
    let run = Run {
        regions: vec![Region {
            level: "source".into(),
            tier: Tier::Source,
            verb: "execute".into(),
            noun: "f".into(),
            role: Role::Work,
            file: String::new(),
            line: 0,
            label: None,
        }],
        call_paths: vec![path(None), path(Some(CallPathId(0)))],
        durations: vec![
            row(0, 0, Some((None, (0, 1))), 1),
            row(0, 0, Some((Some(4), (16, 32))), 50),
            row(0, 1, Some((Some(4), (15, 30))), 25),
            row(1, 0, Some((Some(9), (512, 1024))), 23),
            row(1, 1, None, 1),
            row(7, 0, None, 1_000),
        ],
        ..Run::default()
    };
    let found = &regions(&run)[0].by_duration;
    let bins: Vec<_> = found.bins().map(|bin| (bin.from, bin.to, bin.number)).collect();
    assert_eq!((bins, found.unknown), (vec![(0, 1, 1), (15, 32, 75), (512, 1024, 23)], 1));
    // 100 in all; where the last of them lies is not known.
    let bounds = [0.0, 0.01, 0.5, 0.76, 0.77, 0.99, 1.0].map(|part| found.bound_of(part));
    assert_eq!(bounds, [Some(1), Some(1), Some(32), Some(32), Some(1024), Some(1024), None]);
}

#[test]
fn files_are_summed_level_by_level() {
    // MPI_File_write_at 100 → pwrite 80; read 30+10 and 5; open 7 of the same file, and 9 of another.
    let run = Run {
        regions: vec![
            region("mpi", "MPI_File_write_at", "/a", Role::Io),
            region("files", "pwrite", "/a", Role::Io),
            region("files", "read", "/a", Role::Io),
            region("files", "open", "/a", Role::Io),
            region("files", "open", "/b", Role::Io),
            region("mpi", "MPI_File_open", "MPI_COMM_WORLD", Role::Io),
            // Not of these levels, whatever it is called.
            region("source", "read", "mine", Role::Work),
        ],
        call_paths: vec![
            path(None, 0, None),
            path(Some(0), 1, None),
            path(None, 2, None),
            path(None, 3, None),
            path(None, 4, None),
            path(None, 5, None),
            path(None, 6, None),
        ],
        processes: vec![process(0, Some(0), 1000), process(0, Some(1), 1000)],
        locations: vec![location(0, 0, 0, 1000), location(1, 0, 0, 1000)],
        profile: vec![
            row(0, 0, &[100], 20, 64),
            row(1, 0, &[80], 80, 64),
            row(2, 0, &[30, 10], 40, 12),
            row(2, 1, &[5], 5, 3),
            row(3, 0, &[7], 7, 0),
            row(4, 1, &[9], 9, 0),
            row(5, 1, &[50], 50, 0),
            row(6, 0, &[500], 500, 9),
        ],
        ..Run::default()
    };
    let rows = files(&run);
    let found: Vec<_> =
        rows.iter().map(|row| (row.level, row.name, row.time(), row.processes.len())).collect();
    let expected =
        [("files", "/a", Nanos(132), 2), ("mpi", "/a", Nanos(100), 1), ("files", "/b", Nanos(9), 1)];
    assert_eq!(found, expected);
    let deeds = |kind| (rows[0].of(kind).calls, rows[0].of(kind).bytes, rows[0].of(kind).time);
    assert_eq!((deeds(IoKind::Read), deeds(IoKind::Write)), ((3, 15, Nanos(45)), (1, 64, Nanos(80))));
    assert_eq!((deeds(IoKind::Open), deeds(IoKind::Close)), ((1, 0, Nanos(7)), (0, 0, Nanos(0))));
    assert_eq!(rows[1].of(IoKind::Write), Deeds { calls: 1, untimed: 0, time: Nanos(100), bytes: 64 });
}

#[test]
fn threads_that_only_wait_are_told_apart() {
    // Of threads that live for 1000: the first one only waits, and yet is not idle; of the others one waits for 600,
    // one for 900 by two calls, one for 950 in a lock, and a lane cannot be idle.
    let mut run = Run {
        regions: vec![
            region("system", "poll", "", Role::Wait),
            region("system", "nanosleep", "", Role::Wait),
            region("threads", "pthread_mutex_lock", "", Role::Acquire),
            region("threads", "pthread_create", "", Role::Create),
            region("mpi", "MPI_Recv", "", Role::Wait),
        ],
        call_paths: vec![
            path(None, 0, None),
            path(None, 1, None),
            path(None, 2, None),
            path(None, 3, None),
            path(None, 4, None),
            // A handler that sleeps within poll.
            path(Some(0), 1, None),
        ],
        processes: vec![process(0, None, 1000)],
        locations: (0..6).map(|thread| location(0, thread, 0, 1000)).collect(),
        profile: vec![
            row(0, 0, &[500, 500], 950, 0),
            row(5, 0, &[50], 50, 0),
            row(1, 1, &[600], 600, 0),
            row(0, 2, &[700], 700, 0),
            row(1, 2, &[200], 200, 0),
            row(2, 3, &[950], 950, 0),
            row(3, 4, &[950], 950, 0),
            row(4, 5, &[950], 950, 0),
            ProfileRow { untimed: 3, ..row(1, 4, &[0, 0, 0], 0, 0) },
        ],
        ..Run::default()
    };
    let found = waiting(&run);
    assert_eq!(found.idle.iter().map(|id| id.0).collect::<Vec<_>>(), [2, 3]);
    assert_eq!((found.time, found.base), (Nanos(1600), Nanos(4000)));
    let rows: Vec<_> = found
        .rows
        .iter()
        .map(|row| {
            let calls = (row.calls, row.busy_calls, row.untimed);
            (row.call_path.0, calls, row.time.0, row.idle.0, row.longest.map(|it| it.0))
        })
        .collect();
    assert_eq!(
        rows,
        [
            (0, (3, 2, 0), 950, 700, Some(700)),
            (1, (5, 4, 3), 600, 200, Some(600)),
            (5, (1, 1, 0), 50, 0, Some(50))
        ]
    );
    run.locations[2].kind = LocationKind::Lane;
    assert_eq!(waiting(&run).idle.len(), 1);
}
