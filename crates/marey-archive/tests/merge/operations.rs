//! Collective operations as analysis sees them: whole, and with the root that was meant.

use marey_analyze::{Happenings, LocationKind, Member, Trace};
use marey_archive::{Events, RunTrace};
use marey_model::spool::Definition;
use marey_testkit::Spool;

use super::{Merged, call, config, merged, merged_with};

/// All operations: how many members each has that are handed out one after the other, and the rank that is its root.
fn operations(merged: &Merged) -> Vec<(usize, Option<u32>)> {
    let trace = RunTrace::load(&merged.archive).unwrap();
    assert!(trace.locations().iter().all(|location| location.kind == LocationKind::Thread));
    let rank = |member: &Member| {
        let process = trace.locations()[member.root?.idx()].process;
        trace.processes()[process.idx()].rank
    };
    let events = Events::open(&merged.archive, &trace).unwrap();
    let mut all: Vec<Member> = Vec::new();
    events.members(&mut |batch| all.extend(batch)).unwrap();
    let operations = all.chunk_by(|a, b| (a.communicator, a.instance) == (b.communicator, b.instance));
    operations.map(|members| (members.len(), rank(&members[0]))).collect()
}

/// Of a world of three ranks the one in the middle was not measured.
#[test]
fn a_root_is_known_by_its_rank_whoever_was_not_measured() {
    let mut spool = Spool::world(3);
    spool.processes.remove(1);
    for process in &mut spool.processes {
        for (at, root) in [(100, 0), (200, 1), (300, 2)] {
            call(process, 0, "MPI_Bcast", at, at + 50, |p| p.collective(0, 0, root, 8, 8));
        }
    }
    assert_eq!(operations(&merged(&spool)), [(2, Some(0)), (2, None), (2, Some(2))]);
}

/// One group leaves a barrier of both at the beginning of the run, the other at its end.
#[test]
fn an_operation_of_two_groups_is_one_though_they_leave_it_in_different_slabs() {
    const END: u64 = 61_000_000;
    let mut spool = Spool::world(4);
    for (rank, process) in (0_u32..).zip(&mut spool.processes) {
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
        let barrier = call(process, 0, "MPI_Ibarrier", 10, 20, |p| p.post_collective(0, 2, -1, 0));
        if group == 0 {
            call(process, 0, "MPI_Wait", 30, 40, |p| p.collected(0, barrier));
        }
        let step = process.site(0, "step");
        for at in (1000..END).step_by(500) {
            process.enter(0, step, at);
            process.leave(0, at + 100);
        }
        call(process, 0, "MPI_Barrier", END + 10, END + 20, |p| p.collective(0, 0, -1, 0, 0));
        if group == 1 {
            call(process, 0, "MPI_Wait", END + 30, END + 40, |p| p.collected(0, barrier));
        }
        process.end = Some(END + 100);
    }
    let merged = merged_with(&spool, &config(2, 1));
    assert!(merged.archive.meta().counts["slabs"] > 3);
    assert_eq!(operations(&merged), [(4, None); 2]);
}
