//! Matching of calls on windows: cases worked out by hand, and a slow reference that is the page read aloud.

use std::collections::BTreeSet;

use super::*;

/// Calls drawn as text, one a line: process (and location) `start..end kind peer`, on one window.
fn calls(text: &str) -> Vec<Call> {
    let call = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |word: &str| word.parse::<i64>().unwrap();
        let process = u32::try_from(number(words[0])).unwrap();
        let (start, end) = words[1].split_once("..").unwrap();
        Call {
            window: 7,
            process,
            location: process,
            start: number(start),
            end: number(end),
            kind: RmaKind::from_name(words[2]).unwrap(),
            peer: words.get(3).map(|word| word.parse().unwrap()),
        }
    };
    text.trim().lines().map(call).collect()
}

/// Edges as the fast way finds them, as `kind from@time to@time`.
fn fast(all: &[Call]) -> BTreeSet<String> {
    let (transfers, others): (Vec<Call>, Vec<Call>) = all.iter().partition(|call| call.kind.is_transfer());
    let mut found = OneSided::new(others);
    if found.asks_for_transfers() {
        transfers.iter().for_each(|transfer| found.transfer(transfer));
    }
    let name = |edge: Edge| {
        let ((from, left), (to, came)) = (edge.from, edge.to);
        format!("{} {}@{} {}@{}", edge.kind.name(), from.0, left.0, to.0, came.0)
    };
    let edges = found.finish();
    let names: BTreeSet<String> = edges.iter().map(|edge| name(*edge)).collect();
    assert_eq!(names.len(), edges.len(), "an edge is there twice");
    names
}

/// "Edges of one-sided windows" in `docs/wait-states.md`, sentence by sentence.
fn slow(all: &[Call]) -> BTreeSet<String> {
    let mut edges = posts_and_completes(all);
    edges.extend(locks(all));
    edges
}

fn said(kind: &str, from: &Call, to: &Call) -> String {
    format!("{kind} {}@{} {}@{}", from.location, from.start, to.location, to.end)
}

/// Of a process the calls that begin an epoch with a peer, each with the call that ends it.
fn epochs(
    all: &[Call],
    process: u32,
    peer: u32,
    begins: RmaKind,
    ends: RmaKind,
) -> Vec<(Call, Option<Call>)> {
    let mut own: Vec<Call> = all.iter().filter(|call| call.process == process).copied().collect();
    own.sort_by_key(|call| call.start);
    let begun = own.iter().filter(|call| call.kind == begins && call.peer == Some(peer));
    let end = |begin: &Call| {
        let next =
            own.iter().find(|call| call.start > begin.start && (call.kind == ends || call.kind == begins));
        next.filter(|call| call.kind == ends).copied()
    };
    begun.map(|begin| (*begin, end(begin))).collect()
}

fn posts_and_completes(all: &[Call]) -> BTreeSet<String> {
    let mut edges = BTreeSet::new();
    let processes: BTreeSet<u32> = all.iter().map(|call| call.process).collect();
    for &origin in &processes {
        for &target in &processes {
            let accesses = epochs(all, origin, target, RmaKind::Start, RmaKind::Complete);
            let exposures = epochs(all, target, origin, RmaKind::Post, RmaKind::Wait);
            for ((start, complete), (post, wait)) in accesses.iter().zip(&exposures) {
                let p = post.start;
                let mut candidates = vec![*start];
                if let Some(complete) = complete {
                    candidates.push(*complete);
                    let transfers = all.iter().filter(|call| {
                        call.kind.is_transfer()
                            && (call.process, call.peer) == (origin, Some(target))
                            && start.start < call.start
                            && call.start < complete.start
                    });
                    candidates.extend(transfers);
                }
                let lies_in = |call: &&Call| call.start < p && p <= call.end;
                if let Some(call) = candidates.iter().find(lies_in) {
                    edges.insert(said("post", post, call));
                } else if let Some(complete) = complete.filter(|complete| p <= complete.end) {
                    edges.insert(said("post", post, &complete));
                }
                if let (Some(complete), Some(wait)) = (complete, wait) {
                    edges.insert(said("complete", complete, wait));
                }
            }
        }
    }
    edges
}

struct Epoch {
    target: Option<u32>,
    is_exclusive: bool,
    lock: Call,
    flushes: Vec<Call>,
    unlock: Option<Call>,
}

fn locks(all: &[Call]) -> BTreeSet<String> {
    let mut held: Vec<Epoch> = Vec::new();
    for lock in all {
        let (is_exclusive, ends) = match lock.kind {
            RmaKind::ExclusiveLock => (true, RmaKind::Unlock),
            RmaKind::SharedLock => (false, RmaKind::Unlock),
            RmaKind::LockAll => (false, RmaKind::UnlockAll),
            _ => continue,
        };
        let later = || all.iter().filter(|call| call.process == lock.process && lock.start < call.start);
        let unlocks = later().filter(|call| call.kind == ends && call.peer == lock.peer);
        let unlock = unlocks.min_by_key(|call| call.start).copied();
        let until = unlock.map_or(i64::MAX, |unlock| unlock.start);
        let is_meant = |call: &&Call| {
            call.kind == RmaKind::Flush
                && call.start < until
                && (call.peer.is_none() || call.peer == lock.peer)
        };
        let flushes = later().filter(is_meant).copied().collect();
        held.push(Epoch { target: lock.peer, is_exclusive, lock: *lock, flushes, unlock });
    }
    let conflict = |a: &Epoch, b: &Epoch| {
        let on_one_target = a.target.is_none() || b.target.is_none() || a.target == b.target;
        a.lock.process != b.lock.process && on_one_target && (a.is_exclusive || b.is_exclusive)
    };
    let mut edges = BTreeSet::new();
    for own in &held {
        let mut look = |call: &Call, was_there: &dyn Fn(&Epoch) -> Option<i64>| {
            let gives_way = |other: &&Epoch| {
                conflict(own, other)
                    && was_there(other).is_some()
                    && other.unlock.is_some_and(|it| call.start < it.start && it.start <= call.end)
            };
            let ways: Vec<&Epoch> = held.iter().filter(gives_way).collect();
            if !ways.iter().any(|other| was_there(other).unwrap() < call.start) {
                return;
            }
            let unlocks = ways.iter().filter_map(|other| other.unlock);
            let last = unlocks.max_by_key(|it| (it.start, std::cmp::Reverse(it.location))).unwrap();
            edges.insert(said("lock-hand-over", &last, call));
        };
        look(&own.lock, &|other| Some(other.lock.start));
        if own.target.is_some() {
            for call in own.flushes.iter().chain(&own.unlock) {
                look(call, &|other| other.flushes.iter().map(|flush| flush.end).min());
            }
        }
    }
    edges
}

/// Both ways find what is expected.
fn check(text: &str, expected: &[&str]) {
    let all = calls(text);
    let expected: BTreeSet<String> = expected.iter().map(|edge| (*edge).to_owned()).collect();
    assert_eq!(slow(&all), expected, "the slow reference");
    assert_eq!(fast(&all), expected);
}

#[test]
fn a_start_waits_for_the_post() {
    check(
        "0 40..45 post 1\n0 50..90 wait\n1 10..42 start 0\n1 43..44 put 0\n1 80..85 complete",
        &["post 0@40 1@42", "complete 1@80 0@90"],
    );
}

#[test]
fn a_transfer_waits_where_the_start_does_not() {
    let calls = "0 40..45 post 1\n0 50..90 wait\n1 10..11 start 0\n1 20..22 put 0\n1 30..41 get 0\n\
                 1 80..85 complete";
    check(calls, &["post 0@40 1@41", "complete 1@80 0@90"]);
}

#[test]
fn a_transfer_to_another_target_does_not_wait() {
    let calls = "0 40..45 post 1\n0 50..90 wait\n1 10..11 start 0\n1 30..41 get 2\n1 80..85 complete";
    check(calls, &["post 0@40 1@85", "complete 1@80 0@90"]);
}

#[test]
fn a_complete_waits_where_nothing_before_does() {
    check(
        "0 40..45 post 1\n0 46..60 wait\n1 10..11 start 0\n1 20..41 complete",
        &["post 0@40 1@41", "complete 1@20 0@60"],
    );
}

#[test]
fn a_post_behind_the_complete_was_waited_for_by_nobody() {
    check("0 40..45 post 1\n0 46..60 wait\n1 10..11 start 0\n1 20..30 complete", &["complete 1@20 0@60"]);
}

#[test]
fn a_post_before_all_is_a_dependency_of_the_complete() {
    check(
        "0 5..6 post 1\n0 7..60 wait\n1 10..11 start 0\n1 20..30 complete",
        &["post 0@5 1@30", "complete 1@20 0@60"],
    );
}

#[test]
fn epochs_of_each_pair_are_counted_apart() {
    // The second epoch of 2 is the first with 1, and the second with 0.
    let calls = "0 1..2 post 2\n0 3..14 wait\n0 20..21 post 2\n0 22..44 wait\n1 30..31 post 2\n1 32..45 wait\n\
                 2 5..6 start 0\n2 10..11 complete\n2 15..33 start 0\n2 15..33 start 1\n2 40..41 complete";
    let expected = [
        "post 0@1 2@11",
        "complete 2@10 0@14",
        "post 0@20 2@33",
        "post 1@30 2@33",
        "complete 2@40 0@44",
        "complete 2@40 1@45",
    ];
    check(calls, &expected);
}

#[test]
fn an_exposure_of_several_waits_for_each() {
    let calls = "0 1..2 post 1\n0 1..2 post 2\n0 3..60 wait\n1 5..6 start 0\n1 20..21 complete\n\
                 2 5..6 start 0\n2 50..51 complete";
    let expected = ["post 0@1 1@21", "post 0@1 2@51", "complete 1@20 0@60", "complete 2@50 0@60"];
    check(calls, &expected);
}

#[test]
fn calls_whose_group_is_not_known_belong_to_nothing() {
    check("0 40..45 post\n0 50..90 wait\n1 10..42 start\n1 80..85 complete", &[]);
}

#[test]
fn a_lock_waits_for_who_had_it() {
    let calls = "0 10..11 exclusive-lock 5\n0 50..55 unlock 5\n1 20..53 exclusive-lock 5\n1 60..61 unlock 5";
    check(calls, &["lock-hand-over 0@50 1@53"]);
    let calls = "0 10..11 shared-lock 5\n0 50..55 unlock 5\n1 20..53 exclusive-lock 5\n1 60..61 unlock 5";
    check(calls, &["lock-hand-over 0@50 1@53"]);
}

#[test]
fn shared_locks_and_those_of_other_targets_do_not_conflict() {
    let calls = "0 10..11 shared-lock 5\n0 50..55 unlock 5\n1 20..53 shared-lock 5\n1 60..61 unlock 5";
    check(calls, &[]);
    let calls = "0 10..11 exclusive-lock 5\n0 50..55 unlock 5\n1 20..53 exclusive-lock 6\n1 60..61 unlock 6";
    check(calls, &[]);
}

#[test]
fn who_came_later_was_not_waited_for() {
    // MPICH: the target does not look at the lock of 1 before it comes to MPI itself.
    let calls = "0 24..25 exclusive-lock 0\n0 26..27 unlock 0\n1 2..28 exclusive-lock 0\n1 46..55 unlock 0";
    check(calls, &[]);
}

#[test]
fn who_came_later_and_went_first_is_waited_for_if_others_were() {
    let calls = "0 1..2 exclusive-lock 5\n0 30..31 unlock 5\n2 32..33 exclusive-lock 5\n2 50..51 unlock 5\n\
                 1 10..52 exclusive-lock 5\n1 60..61 unlock 5";
    check(calls, &["lock-hand-over 2@50 1@52"]);
}

#[test]
fn who_is_there_may_have_a_lock_of_another_kind_than_who_goes_last() {
    let calls = "0 1..2 shared-lock 5\n0 30..31 unlock 5\n2 32..33 exclusive-lock 5\n2 50..51 unlock 5\n\
                 1 10..52 exclusive-lock 5\n1 60..61 unlock 5";
    check(calls, &["lock-hand-over 2@50 1@52"]);
}

#[test]
fn a_lock_of_all_targets_conflicts_with_an_exclusive_one() {
    let calls = "0 1..2 lock-all\n0 50..51 unlock-all\n1 20..53 exclusive-lock 5\n1 60..61 unlock 5";
    check(calls, &["lock-hand-over 0@50 1@53"]);
    let calls = "1 1..2 exclusive-lock 5\n1 50..51 unlock 5\n0 20..53 lock-all\n0 60..61 unlock-all";
    check(calls, &["lock-hand-over 1@50 0@53"]);
    check("1 1..2 lock-all\n1 50..51 unlock-all\n0 20..53 lock-all\n0 60..61 unlock-all", &[]);
}

#[test]
fn a_flush_waits_for_who_is_known_to_have_the_lock() {
    let held = "0 1..2 exclusive-lock 5\n0 3..4 flush 5\n0 50..51 unlock 5\n";
    let late = "1 5..6 exclusive-lock 5\n1 20..53 flush 5\n1 60..61 unlock 5";
    check(&format!("{held}{late}"), &["lock-hand-over 0@50 1@53"]);
    let late = "1 5..6 exclusive-lock 5\n1 20..53 unlock 5";
    check(&format!("{held}{late}"), &["lock-hand-over 0@50 1@53"]);
    // Who has not flushed may have asked later than the other.
    let asked = "0 1..2 exclusive-lock 5\n0 50..51 unlock 5\n";
    check(&format!("{asked}{late}"), &[]);
}

/// A random sequence of calls; who waits for whom is left to chance.
fn random_calls(seed: u32) -> Vec<Call> {
    let mut state = seed.wrapping_mul(0x9E37_79B9) | 1;
    let mut below = move |bound: u32| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) % bound
    };
    let mut all = Vec::new();
    let n_processes = 2 + below(3);
    for process in 0..n_processes {
        let mut now = i64::from(below(30));
        // Locks that are held: target, or all.
        let mut held: Vec<Option<u32>> = Vec::new();
        let mut call = |kind: RmaKind, peers: &[Option<u32>], takes: u32| {
            now += 1 + i64::from(takes % 7);
            let (start, end) = (now, now + i64::from(takes));
            now = end;
            let one = |peer: &Option<u32>| Call {
                window: 7,
                process,
                location: process,
                start,
                end,
                kind,
                peer: *peer,
            };
            all.extend(peers.iter().map(one));
        };
        for _ in 0..4 + below(25) {
            let takes = if below(2) == 0 { below(3) } else { below(40) };
            let target = below(n_processes);
            match below(12) {
                0 | 1 => {
                    let group: Vec<Option<u32>> =
                        (0..n_processes).filter(|_| below(2) == 0).map(Some).collect();
                    call(RmaKind::Start, if group.is_empty() { &[None] } else { &group }, takes);
                }
                2 | 3 => {
                    let group: Vec<Option<u32>> =
                        (0..n_processes).filter(|_| below(2) == 0).map(Some).collect();
                    call(RmaKind::Post, if group.is_empty() { &[None] } else { &group }, takes);
                }
                4 => call(RmaKind::Complete, &[None], takes),
                5 => call(RmaKind::Wait, &[None], takes),
                6 => call(RmaKind::Put, &[Some(target)], takes),
                7 => call(RmaKind::Flush, &[Some(target).filter(|_| below(3) > 0)], takes),
                8 | 9 if !held.contains(&Some(target)) && !held.contains(&None) => {
                    let kind = if below(3) > 0 { RmaKind::ExclusiveLock } else { RmaKind::SharedLock };
                    held.push(Some(target));
                    call(kind, &[Some(target)], takes);
                }
                10 if held.is_empty() => {
                    held.push(None);
                    call(RmaKind::LockAll, &[None], takes);
                }
                _ => match held.pop() {
                    Some(None) => call(RmaKind::UnlockAll, &[None], takes),
                    Some(peer) => call(RmaKind::Unlock, &[peer], takes),
                    None => {}
                },
            }
        }
    }
    all
}

#[test]
fn random_calls_are_matched_as_the_slow_reference_does() {
    let mut counts = [0_usize; 3];
    for seed in 1..=2000 {
        let all = random_calls(seed);
        let expected = slow(&all);
        assert_eq!(fast(&all), expected, "seed {seed}: {all:#?}");
        for (count, kind) in counts.iter_mut().zip(["post", "complete", "lock-hand-over"]) {
            *count += expected.iter().filter(|edge| edge.starts_with(kind)).count();
        }
    }
    assert!(counts.iter().all(|count| 200 <= *count), "{counts:?}");
}
