//! Costs of loops of the source: numbers that a made-up run was made to have, and any run against a slow look through all
//! loops for each frame.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use marey_analyze::{LoopCost, SourceLoop, Trace, source_loops, waits};
use marey_model::{LocationId, Role};
use marey_testkit::{Chance, MadeUp};

const PERIOD: i64 = 1000;

fn of(lines: &[(u32, u32)]) -> Vec<SourceLoop<'static>> {
    lines.iter().map(|&(first, last)| SourceLoop { file: "made_up.c", first, last }).collect()
}

/// Of a main loop in lines 10 to 30, with loops in 12 to 15 and 20 to 25, and a function of lines 50 to 60 whose loop, 52 to
/// 58, the second of these calls.
#[test]
fn what_was_done_in_loops_is_theirs() {
    let mut run = MadeUp::new(1);
    run.sample(PERIOD);
    let rank = LocationId(0);
    let compute = |run: &mut MadeUp, frames: &[(&str, u32)], periods: i64| {
        run.compute_in(frames);
        run.pause(rank, periods * PERIOD);
    };
    compute(&mut run, &[("main", 5)], 7);
    compute(&mut run, &[("main", 13)], 20);
    compute(&mut run, &[("main", 22), ("part", 53)], 30);
    compute(&mut run, &[("main", 27)], 3);
    let call = run.mpi("MPI_Barrier", Role::Barrier, &[("main", 22), ("part", 55)]);
    for _ in 0..4 {
        run.visit(rank, call, 2 * PERIOD);
    }
    let outside = run.mpi("MPI_Finalize", Role::End, &[("main", 40)]);
    run.visit(rank, outside, PERIOD);
    let (costs, whole) = source_loops(&run, &of(&[(10, 30), (12, 15), (20, 25), (52, 58)]), None);
    let own: Vec<i64> = costs.iter().map(|cost| cost.exclusive.time.0 / PERIOD).collect();
    assert_eq!(own, [3, 20, 0, 30]);
    let calls: Vec<(u64, i64)> = costs.iter().map(|cost| (cost.calls, cost.call_time.0 / PERIOD)).collect();
    assert_eq!(calls, [(4, 8), (0, 0), (4, 8), (4, 8)]);
    // Whether a call uses the processor while it takes its time is the made-up run's business.
    let in_call = whole.time.0 / PERIOD - 60;
    let all: Vec<i64> = costs.iter().map(|cost| cost.inclusive.time.0 / PERIOD).collect();
    assert_eq!((all[1], all[0] - all[2]), (20, 23));
    assert!(all[2] == all[3] && (30..=30 + in_call).contains(&all[2]), "{all:?}, {in_call} in calls");
}

#[test]
fn any_loops_of_any_run_have_what_a_slow_look_finds() {
    let mut chance = Chance::new(5);
    let mut below = |most: u32| u32::try_from(chance.below(most.into())).unwrap();
    for _ in 0..60 {
        let mut run = MadeUp::new(2);
        run.sample(PERIOD);
        // Nested by halves, so that they lie in each other or apart; some on the same lines, some of one line.
        let mut lines = vec![(1, 200)];
        for _ in 0..below(40) {
            let (first, last) = lines[below(u32::try_from(lines.len()).unwrap()) as usize];
            let middle = first + (last - first) / 2;
            lines.push([(first, middle), ((middle + 1).min(last), last), (first, last)][below(3) as usize]);
        }
        lines.retain(|_| below(5) > 0);
        for _ in 0..30 {
            let mut frames = Vec::new();
            for function in 0..1 + below(4) {
                frames.push((["f", "g", "h", "i"][function as usize], below(220)));
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
        let loops = of(&lines);
        let waits = waits(&run, &run).unwrap();
        let (found, _) = source_loops(&run, &loops, Some(&waits));
        assert_eq!(found, slow(&run, &loops), "{lines:?}");
    }
}

/// Each loop by itself, and each frame of each stack.
fn slow(run: &MadeUp, loops: &[SourceLoop<'_>]) -> Vec<LoopCost> {
    let lies_in = |it: &SourceLoop<'_>, line: u32| line != 0 && it.first <= line && line <= it.last;
    let lines = |stack| run.stack(stack).iter().map(|frame| frame.line).collect::<Vec<_>>();
    let mut costs = vec![LoopCost::default(); loops.len()];
    for (place, it) in loops.iter().enumerate() {
        let cost = &mut costs[place];
        for row in run.samples() {
            let path = row.call_path.map(|path| &run.call_paths()[path.idx()]);
            let stack = path.and_then(|path| path.stack).or(row.stack).map_or_else(Vec::new, lines);
            if stack.iter().any(|line| lies_in(it, *line)) {
                cost.inclusive.samples += row.samples;
                cost.inclusive.time = cost.inclusive.time + row.time;
            }
            // The shortest around the line; of several on the same lines the last.
            let around = stack.first().filter(|_| path.is_none()).and_then(|line| {
                let around = loops.iter().enumerate().filter(|(_, it)| lies_in(it, *line));
                around.min_by_key(|(place, it)| (it.last - it.first, std::cmp::Reverse(*place)))
            });
            if around.is_some_and(|(innermost, _)| innermost == place) {
                cost.exclusive.samples += row.samples;
                cost.exclusive.time = cost.exclusive.time + row.time;
            }
        }
        for row in run.profile() {
            let stack = run.call_paths()[row.call_path.idx()].stack.map_or_else(Vec::new, lines);
            if stack.iter().any(|line| lies_in(it, *line)) {
                cost.calls += row.visits;
                cost.call_time = cost.call_time + row.inclusive;
                cost.bytes += row.bytes;
            }
        }
    }
    for wait in &waits(run, run).unwrap().list {
        let stack = wait.call_path.and_then(|path| run.call_paths()[path.idx()].stack);
        let stack = stack.map_or_else(Vec::new, lines);
        for (cost, _) in
            costs.iter_mut().zip(loops).filter(|(_, it)| stack.iter().any(|line| lies_in(it, *line)))
        {
            cost.waiting = cost.waiting + wait.length();
        }
    }
    costs
}
