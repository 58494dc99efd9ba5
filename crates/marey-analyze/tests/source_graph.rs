//! The measured call graph: numbers that a made-up run was made to have, and any run against a slow count stack by stack.

use marey_analyze::{
    MeasuredGraph, SourceLoop, Trace, calls_within, communication_time, line_calls, measured_graph,
    source_loops, waits,
};
use marey_model::{LocationId, Nanos, Role};
use marey_testkit::{Chance, MadeUp};

const PERIOD: i64 = 1000;

fn node(graph: &MeasuredGraph<'_>, name: &str) -> usize {
    graph.functions.iter().position(|it| it.name == name).unwrap_or_else(|| panic!("{name}: {graph:#?}"))
}

/// Processor time in periods, calls, and the line of an edge.
fn edge(graph: &MeasuredGraph<'_>, caller: &str, callee: &str) -> Option<(i64, u64, u32)> {
    let (caller, callee) = (node(graph, caller), node(graph, callee));
    let found = graph.calls.iter().find(|it| (it.caller, it.callee) == (caller, callee))?;
    Some((found.cost.inclusive.time.0 / PERIOD, found.cost.calls, found.line))
}

/// `main` calls `part` twice, at lines 22 and 27, which calls itself and a barrier.
#[test]
fn what_was_seen_on_stacks_is_an_edge() {
    let mut run = MadeUp::new(1);
    run.sample(PERIOD);
    let rank = LocationId(0);
    let compute = |run: &mut MadeUp, frames: &[(&str, u32)], periods: i64| {
        run.compute_in(frames);
        run.pause(rank, periods * PERIOD);
    };
    compute(&mut run, &[("main", 5)], 7);
    compute(&mut run, &[("main", 27), ("part", 53)], 20);
    compute(&mut run, &[("main", 22), ("part", 55), ("part", 55), ("part", 51)], 30);
    let call = run.mpi("MPI_Barrier", Role::Barrier, &[("main", 22), ("part", 55), ("part", 57)]);
    for _ in 0..4 {
        run.visit(rank, call, 2 * PERIOD);
    }
    let graph = measured_graph(&run, None);
    let of = |name: &str| &graph.functions[node(&graph, name)];
    let in_call = of("MPI_Barrier").exclusive.time.0 / PERIOD;
    assert_eq!(of("main").exclusive.time.0 / PERIOD, 7);
    assert_eq!(of("part").exclusive.time.0 / PERIOD, 50);
    // Each once, however often it is on the stack.
    assert_eq!(of("part").cost.inclusive.time.0 / PERIOD, 50 + in_call);
    assert_eq!(of("main").cost.inclusive.time.0 / PERIOD, 57 + in_call);
    assert_eq!((of("main").cost.calls, of("main").cost.call_time), (4, Nanos(8 * PERIOD)));
    assert_eq!(edge(&graph, "main", "part"), Some((50 + in_call, 4, 22)));
    assert_eq!(edge(&graph, "part", "part"), Some((30 + in_call, 4, 55)));
    assert_eq!(edge(&graph, "part", "MPI_Barrier"), Some((in_call, 4, 57)));
    assert_eq!(edge(&graph, "main", "MPI_Barrier"), None);
    // The line has what it called by itself, lines around what was called from within.
    let lines: Vec<(u32, u64)> = line_calls(&run, None).iter().map(|it| (it.line, it.cost.calls)).collect();
    assert_eq!(lines, [(57, 4)]);
    let within = |first, last| {
        let lines = SourceLoop { file: "made_up.c", first, last };
        calls_within(&run, &lines, None).iter().map(|(_, cost)| cost.calls).sum::<u64>()
    };
    assert_eq!([within(20, 23), within(50, 57), within(24, 30), within(51, 54)], [4, 4, 0, 0]);
}

/// An access of a model with what serves it, a barrier within a call that only makes something, work, also in what communicates,
/// and a barrier of threads.
#[test]
fn communication_is_what_moves_data_or_waits_whatever_it_does_beneath() {
    let mut run = MadeUp::new(2);
    let rank = LocationId(0);
    let get = run.path(None, ("coarray", "get", Role::Transfer), &[("main", 5)]);
    let lock = run.path(Some(get), ("mpi", "MPI_Win_lock", Role::Acquire), &[("main", 5)]);
    let note = run.path(Some(get), ("mpi", "MPI_Get_address", Role::Manage), &[("main", 5)]);
    let make = run.path(None, ("coarray", "allocate", Role::Create), &[("main", 3)]);
    let barrier = run.path(Some(make), ("mpi", "MPI_Barrier", Role::Barrier), &[("main", 3)]);
    let work = run.path(None, ("source", "work", Role::Work), &[("main", 9)]);
    run.visit(rank, work, 1000);
    run.enter(rank, make);
    run.pause(rank, 20);
    run.visit(rank, barrier, 300);
    run.leave(rank);
    run.enter(rank, get);
    run.visit(rank, lock, 4);
    run.pause(rank, 50);
    run.visit(rank, note, 6);
    run.leave(rank);
    run.visit(LocationId(1), barrier, 7000);
    let threads = run.path(None, ("openmp", "barrier", Role::Barrier), &[("main", 7)]);
    let task = run.path(Some(threads), ("openmp", "task", Role::Work), &[("main", 7)]);
    run.enter(rank, threads);
    run.visit(rank, task, 500_000);
    run.leave(rank);
    let reduce = run.path(None, ("mpi", "MPI_Allreduce", Role::AllToAll), &[("main", 8)]);
    let combine = run.path(Some(reduce), ("source", "combine", Role::Work), &[("main", 8)]);
    let within = run.path(Some(combine), ("mpi", "MPI_Get", Role::Transfer), &[("main", 8)]);
    run.enter(rank, reduce);
    run.pause(rank, 90);
    run.enter(rank, combine);
    run.pause(rank, 40_000);
    run.visit(rank, within, 8);
    run.leave(rank);
    run.leave(rank);
    // The get with all beneath it once, both barriers of processes, and the reduction without what is computed in it, which gets
    // something itself.
    assert_eq!(communication_time(&run), Nanos(60 + 300 + 7000 + 90 + 8));
}

#[test]
fn any_graph_of_any_run_is_what_a_slow_count_finds() {
    let mut chance = Chance::new(7);
    let mut below = |most: u32| u32::try_from(chance.below(most.into())).unwrap();
    for _ in 0..40 {
        let mut run = MadeUp::new(2);
        run.sample(PERIOD);
        for _ in 0..30 {
            let mut frames = Vec::new();
            for _ in 0..1 + below(5) {
                frames.push((["f", "g", "h"][below(3) as usize], 1 + below(9)));
            }
            let rank = LocationId(below(2));
            if below(2) == 0 {
                run.compute_in(&frames);
                run.pause(rank, i64::from(1 + below(9)) * PERIOD);
            } else {
                let call = run.mpi(["MPI_Send", "MPI_Wait"][below(2) as usize], Role::Wait, &frames);
                run.visit(rank, call, PERIOD);
            }
        }
        let waits = waits(&run, &run).unwrap();
        let graph = measured_graph(&run, Some(&waits));
        for (place, function) in graph.functions.iter().enumerate().filter(|(_, it)| it.region.is_none()) {
            // Lines of all of it: every function of a made-up run lies in one file, so names tell them apart.
            let names =
                |stack| run.stack(stack).iter().map(|frame| frame.function.clone()).collect::<Vec<_>>();
            let has = |stack: &[String]| stack.iter().any(|name| name == function.name);
            let calls_of = |stack: &[String], callee: &str| {
                stack.windows(2).any(|pair| pair[1] == function.name && pair[0] == callee)
            };
            let (mut inclusive, mut exclusive, mut calls) = (0, 0, 0);
            let mut of_edge = std::collections::BTreeMap::<String, (i64, u64)>::new();
            for row in run.samples() {
                let path = row.call_path.map(|path| &run.call_paths()[path.idx()]);
                let stack = path.and_then(|path| path.stack).or(row.stack).map_or_else(Vec::new, names);
                inclusive += if has(&stack) { row.time.0 } else { 0 };
                let is_own = path.is_none() && stack.first().is_some_and(|name| name == function.name);
                exclusive += if is_own { row.time.0 } else { 0 };
                for callee in ["f", "g", "h"].iter().filter(|callee| calls_of(&stack, callee)) {
                    of_edge.entry((*callee).to_owned()).or_default().0 += row.time.0;
                }
            }
            for row in run.profile() {
                let stack = run.call_paths()[row.call_path.idx()].stack.map_or_else(Vec::new, names);
                calls += if has(&stack) { row.visits } else { 0 };
                for callee in ["f", "g", "h"].iter().filter(|callee| calls_of(&stack, callee)) {
                    of_edge.entry((*callee).to_owned()).or_default().1 += row.visits;
                }
            }
            let found = (function.cost.inclusive.time.0, function.exclusive.time.0, function.cost.calls);
            assert_eq!(found, (inclusive, exclusive, calls), "{}", function.name);
            let edges = graph.calls.iter().filter(|it| it.caller == place);
            let edges = edges.filter(|it| graph.functions[it.callee].region.is_none());
            let edges: std::collections::BTreeMap<String, (i64, u64)> = edges
                .map(|it| {
                    (graph.functions[it.callee].name.to_owned(), (it.cost.inclusive.time.0, it.cost.calls))
                })
                .collect();
            assert_eq!(edges, of_edge, "{}", function.name);
        }
        // What lines have together in the whole file is what a loop around all of it has.
        let whole = SourceLoop { file: "made_up.c", first: 1, last: 99 };
        let (costs, _) = source_loops(&run, &[whole], Some(&waits));
        let sum =
            calls_within(&run, &whole, Some(&waits)).iter().fold((0, Nanos(0), Nanos(0)), |sum, (_, it)| {
                (sum.0 + it.calls, sum.1 + it.call_time, sum.2 + it.waiting)
            });
        assert_eq!(sum, (costs[0].calls, costs[0].call_time, costs[0].waiting));
    }
}
