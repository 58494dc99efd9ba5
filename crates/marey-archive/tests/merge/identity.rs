//! Who is who: forked children, programs that were replaced, worlds that others spawned.

use marey_model::spool::Definition;
use marey_testkit::{Message, Process, Spool};

use super::{NONE, call, merged};

#[test]
fn a_forked_child_speaks_in_its_parents_terms() {
    let mut parent = Process::new(7);
    let work = parent.site(0, "work");
    parent.definitions.push(Definition::Thread {
        serial: 0,
        os_thread: 100,
        name: "main".to_owned(),
        ticks: 0,
        creator: None,
    });
    let inherited = parent.definition_text().len() as u64;
    // Defined after the fork under a number that the child uses otherwise.
    let later = parent.site(0, "later");
    let mut child = Process::new(8);
    child.definitions.clear();
    child.forked_from = Some((7, inherited));
    let own = |id, verb: &str| Definition::Region {
        id,
        level: 0,
        verb: verb.to_owned(),
        role: 0,
        noun_kind: String::new(),
        noun: String::new(),
        file: String::new(),
        line: 0,
    };
    child.definitions.push(own(later, "of the child"));
    child.definitions.push(Definition::Site { id: later, region: later, stack: None });
    let inherited = child.definition_text().len() as u64;
    let mut grandchild = Process::new(9);
    grandchild.definitions.clear();
    grandchild.forked_from = Some((8, inherited));
    for (at, process) in [(10, &mut parent), (20, &mut child), (30, &mut grandchild)] {
        process.enter(0, work, at);
        process.enter(0, later, at + 1);
        process.leave(0, at + 2);
        process.leave(0, at + 3);
        process.end = Some(100);
    }
    let merged = merged(&Spool { processes: vec![parent, child, grandchild] });
    let expected = [
        "0 work 10+3",
        "0 work/later 11+1",
        "1 work 20+3",
        "1 work/of the child 21+1",
        "2 work 30+3",
        "2 work/of the child 31+1",
    ];
    assert_eq!(merged.intervals(), expected);
    // Names are inherited, threads are not.
    assert_eq!(merged.table("locations").text("name").unwrap(), ["main", "thread 0", "thread 0"]);
    assert_eq!(merged.summary.problems, []);
}

#[test]
fn a_child_without_its_parent_is_damaged_but_there() {
    let mut child = Process::new(8);
    child.forked_from = Some((7, 1000));
    let own = child.site(0, "own");
    child.enter(0, own, 10);
    child.leave(0, 20);
    child.end = Some(30);
    let merged = merged(&Spool { processes: vec![child] });
    assert_eq!(merged.intervals(), ["0 own 10+10"]);
    assert_eq!(merged.problem("damaged"), 1);
}

#[test]
fn endings_have_names() {
    let endings = [
        ((0, 0), "finished", 0),
        ((0, 3), "exited", 3),
        // A status has eight bits.
        ((0, 256), "finished", 0),
        ((0, -1), "exited", 255),
        ((1, -2), "exited at once (_exit)", 254),
        ((1, 4), "exited at once (_exit)", 4),
        ((2, 6), "aborted", -1),
        ((3, 5), "aborted (MPI_Abort)", 5),
        ((4, 0), "replaced by exec", -1),
        ((99, 0), "ended", -1),
    ];
    for (ending, outcome, code) in endings {
        let mut process = Process::new(7);
        process.end = Some(10);
        process.ending = ending;
        let merged = merged(&Spool { processes: vec![process] });
        let table = merged.table("processes");
        assert_eq!(table.text("outcome").unwrap(), [outcome]);
        assert_eq!(table.i64("exit_code").unwrap(), [code]);
    }
}

/// A program that was replaced without a word is told by the next one of its number.
#[test]
fn exec_is_told_from_a_kill() {
    let (mut first, mut second) = (Process::new(7), Process::new(8));
    (first.pid, second.pid) = (50, 50);
    second.start = 30;
    for (process, at) in [(&mut first, 10), (&mut second, 40)] {
        let main = process.site(0, "main");
        process.enter(0, main, at);
        process.leave(0, at + 10);
    }
    let merged = merged(&Spool { processes: vec![second, first] });
    let table = merged.table("processes");
    let outcomes = table.text("outcome").unwrap();
    assert_eq!(
        outcomes,
        ["replaced by exec", "ended without notice (killed, or went on as another program)"]
    );
}

/// An intercommunicator of two parents and `children` others, as one side sees it.
fn inter(id: u32, kind: u8, parent: Option<u32>, rank: u32, sizes: [u32; 2], ticks: u64) -> Definition {
    let world = |size: u32| vec![(0, u64::from(size))];
    Definition::Communicator {
        id,
        kind,
        parent,
        number: 0,
        tag: 0,
        leader: 0,
        size: sizes[0],
        rank,
        remote_size: sizes[1],
        members: world(sizes[0]),
        remote_members: vec![(-1, sizes[1].into())],
        port: String::new(),
        ticks,
    }
}

/// Two parents spawn a world of two; all merge into one communicator.
fn spawned() -> Spool {
    let mut spool = Spool::world(2);
    for (rank, process) in (0..).zip(&mut spool.processes) {
        process.definitions.push(inter(2, 11, Some(0), rank, [2, 2], 500));
        process.communicator(3, 10, Some(2), 0, 0, &[(0, 2), (-1, 2)], rank);
    }
    for rank in 0..2 {
        let mut child = Process::new(u64::from(rank) + 11);
        child.join_world("children", 2, rank);
        child.start = 100;
        child.definitions.push(inter(2, 12, None, rank, [2, 2], 90));
        child.communicator(3, 10, Some(2), 0, 0, &[(-1, 2), (0, 2)], rank + 2);
        spool.processes.push(child);
    }
    spool
}

#[test]
fn a_spawned_world_finds_its_parents() {
    let mut spool = spawned();
    let what = |communicator, peer| Message { communicator, peer, tag: 0, bytes: 8 };
    // Parent 1 to child 0 over the intercommunicator, child 0 to parent 1 over the merged one.
    let parent = &mut spool.processes[1];
    call(parent, 0, "MPI_Send", 600, 610, |p| p.send(0, what(2, 0)));
    call(parent, 0, "MPI_Recv", 620, 800, |p| p.receive(0, what(3, 2)));
    let child = &mut spool.processes[2];
    call(child, 0, "MPI_Recv", 620, 630, |p| p.receive(0, what(2, 1)));
    call(child, 0, "MPI_Send", 700, 710, |p| p.send(0, what(3, 1)));
    let merged = merged(&spool);
    assert_eq!(merged.pairs(), [(600, 630), (700, 800)]);
    let table = merged.table("communicators");
    assert_eq!(table.text("members").unwrap(), ["0-1", "0-1|2-3", "0-3", "2-3"]);
    assert_eq!(table.text("kind").unwrap(), ["intra", "inter", "intra", "intra"]);
    assert_eq!(merged.table("processes").u32("world").unwrap(), [0, 0, 1, 1]);
    assert_eq!(merged.summary.problems, []);
}

/// Two worlds that may both come from one of two spawns: nothing on them is matched.
#[test]
fn messages_to_a_world_of_uncertain_parents_are_unmatchable() {
    let mut spool = spawned();
    for rank in 0..2 {
        let mut child = Process::new(u64::from(rank) + 21);
        child.join_world("others", 2, rank);
        child.start = 100;
        child.definitions.push(inter(2, 12, None, rank, [2, 2], 90));
        spool.processes.push(child);
    }
    let what = |peer| Message { communicator: 2, peer, tag: 0, bytes: 8 };
    call(&mut spool.processes[1], 0, "MPI_Send", 600, 610, |p| p.send(0, what(0)));
    call(&mut spool.processes[2], 0, "MPI_Recv", 620, 630, |p| p.receive(0, what(1)));
    let merged = merged(&spool);
    assert_eq!(merged.pairs(), [(-1, 630), (600, -1)]);
    assert_eq!(merged.problem("unmatchable_channels"), 2);
    assert_eq!(merged.problem("unmatched_sends") + merged.problem("unmatched_receives"), 0);
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
