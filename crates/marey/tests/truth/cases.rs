//! Which programs there are, and what each of them should show.
//!
//! The one idea: a case has one inefficiency with one cause, or none, and all of it follows from
//! `docs/wait-states.md` and from how the program is written. A wait in a chain is one of several that have the same
//! cause.
//!
//! Deliberately absent: how long anything took. That the program measures itself.

use std::fmt;

use Pattern::{
    EarlyReduce, LateBroadcast, LateComplete, LatePost, LateReceiver, LateSender, LateSenderWrongOrder,
    LockContention, WaitAtBarrier, WaitAtExit, WaitAtInit, WaitAtJoin, WaitAtNxN, WaitForCondition,
};

/// A source of programs, one for each of its cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Two ranks.
    Messages,
    /// Two ranks, some with a thread beside.
    Collectives,
    /// Two ranks.
    Polls,
    /// Two ranks.
    Windows,
    /// Two ranks.
    Skew,
    /// One process.
    Threads,
    /// One process.
    RustThreads,
}

impl Source {
    pub(crate) const ALL: [Self; 7] = [
        Self::Messages,
        Self::Collectives,
        Self::Polls,
        Self::Windows,
        Self::Skew,
        Self::Threads,
        Self::RustThreads,
    ];

    pub(crate) fn file(self) -> &'static str {
        match self {
            Self::Messages => "messages.c",
            Self::Collectives => "collectives.c",
            Self::Polls => "polls.c",
            Self::Windows => "windows.c",
            Self::Skew => "skew.c",
            Self::Threads => "threads.c",
            Self::RustThreads => "threads.rs",
        }
    }
}

/// What is waited for, as `docs/wait-states.md` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    LateSender,
    LateSenderWrongOrder,
    LateReceiver,
    WaitAtBarrier,
    WaitAtNxN,
    LateBroadcast,
    EarlyReduce,
    LockContention,
    WaitAtJoin,
    WaitForCondition,
    LatePost,
    LateComplete,
    WaitAtInit,
    WaitAtExit,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LateSender => "late sender",
            LateSenderWrongOrder => "late sender, wrong order",
            LateReceiver => "late receiver",
            WaitAtBarrier => "wait at barrier",
            WaitAtNxN => "wait at N×N",
            LateBroadcast => "late broadcast",
            EarlyReduce => "early reduce",
            LockContention => "lock contention",
            WaitAtJoin => "wait at join",
            WaitForCondition => "wait for condition",
            LatePost => "late post",
            LateComplete => "late complete",
            WaitAtInit => "wait at init",
            WaitAtExit => "wait at exit",
        })
    }
}

/// A thread of a rank; a program without ranks is rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) rank: u32,
    /// `main`, or what it is called.
    pub(crate) thread: &'static str,
}

/// Functions of the call stack, outermost first. Others may lie between them. Of a name in Rust the last part.
pub(crate) type Functions = &'static [&'static str];

/// Who waits, and where.
#[derive(Clone, Debug)]
pub(crate) struct Wait {
    pub(crate) pattern: Pattern,
    pub(crate) place: Place,
    /// The waiting call.
    pub(crate) region: &'static str,
    /// The last is the one that makes the call.
    pub(crate) functions: Functions,
}

/// Why they wait.
#[derive(Clone, Debug)]
pub(crate) struct Cause {
    pub(crate) place: Place,
    /// The last is the one that takes too long.
    pub(crate) functions: Functions,
    /// How often.
    pub(crate) instances: u32,
    /// How long each time.
    pub(crate) each_ms: u32,
}

/// Waits that have one cause.
#[derive(Clone, Debug)]
pub(crate) struct Inefficiency {
    pub(crate) waits: Vec<Wait>,
    pub(crate) cause: Cause,
    /// By how much less each of them waits than the delay takes, because those who wait had that much more to do.
    pub(crate) ahead_ms: u32,
}

/// One program.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The word that it is started with.
    pub(crate) name: &'static str,
    pub(crate) inefficiency: Option<Inefficiency>,
}

const fn rank(rank: u32) -> Place {
    Place { rank, thread: "main" }
}

const fn thread(thread: &'static str) -> Place {
    Place { rank: 0, thread }
}

const R0: Place = rank(0);
const R1: Place = rank(1);
/// The function of a cause that lies before its process was measured. There is nothing in it to be won, so no finding.
pub(crate) const NOT_STARTED: &str = "";
const MAIN: Place = thread("main");
const WORKER: Place = thread("worker");
/// The name of the calls in which Rust's standard library waits for all but threads. A futex does not say what it is for:
/// of a mutex as of a condition there is no more to be seen than that somebody woke somebody else.
const FUTEX: &str = "futex wait";

/// A case in which the cause is `late_part`, once, of 300 ms, unless it is said otherwise.
fn late(
    name: &'static str,
    pattern: Pattern,
    place: Place,
    region: &'static str,
    functions: Functions,
    by: Place,
) -> Case {
    let cause = Cause { place: by, functions: &["late_part"], instances: 1, each_ms: 300 };
    let waits = vec![Wait { pattern, place, region, functions }];
    Case { name, inefficiency: Some(Inefficiency { waits, cause, ahead_ms: 0 }) }
}

impl Case {
    fn change(mut self, change: impl FnOnce(&mut Inefficiency)) -> Self {
        change(self.inefficiency.as_mut().unwrap());
        self
    }

    fn takes(self, instances: u32, each_ms: u32) -> Self {
        self.change(|it| (it.cause.instances, it.cause.each_ms) = (instances, each_ms))
    }

    fn because_of(self, functions: Functions) -> Self {
        self.change(|it| it.cause.functions = functions)
    }

    fn ahead(self, ms: u32) -> Self {
        self.change(|it| it.ahead_ms = ms)
    }

    fn and(self, pattern: Pattern, place: Place, region: &'static str, functions: Functions) -> Self {
        self.change(|it| it.waits.push(Wait { pattern, place, region, functions }))
    }
}

fn balanced<const N: usize>(names: [&'static str; N]) -> impl Iterator<Item = Case> {
    names.into_iter().map(|name| Case { name, inefficiency: None })
}

/// All cases of a source.
pub(crate) fn of(source: Source) -> Vec<Case> {
    match source {
        Source::Messages => messages(),
        Source::Collectives => collectives(),
        Source::Polls => polls(),
        Source::Windows => windows(),
        Source::Skew => skew(),
        Source::Threads => threads(),
        Source::RustThreads => rust_threads(),
    }
}

fn messages() -> Vec<Case> {
    let (recv, wait) = ("MPI_Recv", "MPI_Wait");
    let mut cases = vec![
        late("late_sender_recv", LateSender, R1, recv, &["receiver"], R0),
        late("late_sender_recv_many", LateSender, R0, recv, &["receiver"], R1).takes(50, 5),
        late("late_sender_any", LateSender, R0, recv, &["any_receiver"], R1).takes(1, 250),
        late("late_sender_big", LateSender, R1, recv, &["receiver"], R0),
        late("late_sender_wait", LateSender, R1, wait, &["early_receiver", "finisher"], R0),
        late("late_sender_wait_many", LateSender, R1, wait, &["early_receiver", "finisher"], R0)
            .takes(10, 25),
        late("late_sender_persistent", LateSender, R1, wait, &["finisher"], R0).takes(2, 150),
        late("late_sender_waitall", LateSender, R1, "MPI_Waitall", &["all_receiver"], R0),
        // It waits for the other to receive as well, as long; that comes later on the page.
        late("late_sender_sendrecv", LateSender, R1, "MPI_Sendrecv", &["swapper"], R0),
        late("late_sender_paths", LateSender, R1, recv, &["rough_phase", "receiver"], R0)
            .because_of(&["rough_phase", "late_part"]),
        late("late_sender_shared", LateSender, R1, recv, &["receiver"], R0)
            .because_of(&["extra_phase", "shared_part"]),
        late("late_sender_unequal", LateSender, R1, recv, &["receiver"], R0).takes(1, 400).ahead(100),
        late("late_sender_before_step", LateSender, R1, recv, &["receiver"], R0),
        late("wrong_order_recv", LateSenderWrongOrder, R1, recv, &["receiver"], R0),
        late("wrong_order_many", LateSenderWrongOrder, R1, recv, &["receiver"], R0).takes(10, 30),
        late("late_receiver_ssend", LateReceiver, R0, "MPI_Ssend", &["strict_sender"], R1),
        late("late_receiver_ssend_many", LateReceiver, R1, "MPI_Ssend", &["strict_sender"], R0).takes(20, 12),
        late("late_receiver_big", LateReceiver, R0, "MPI_Send", &["sender"], R1),
        late("late_receiver_issend", LateReceiver, R0, wait, &["strict_starter"], R1),
        late("late_receiver_irecv", LateReceiver, R1, "MPI_Ssend", &["strict_sender"], R0),
        late("late_receiver_unequal", LateReceiver, R0, "MPI_Ssend", &["strict_sender"], R1)
            .takes(1, 400)
            .ahead(100),
    ];
    cases.extend(balanced([
        "balanced_messages",
        "balanced_many",
        "balanced_overlap",
        "balanced_buffered",
        "balanced_order",
        "alone",
    ]));
    cases
}

fn collectives() -> Vec<Case> {
    let joins: Functions = &["with_thread", "joiner"];
    let mut cases = vec![
        late("barrier_once", WaitAtBarrier, R1, "MPI_Barrier", &["meet"], R0),
        late("barrier_other", WaitAtBarrier, R0, "MPI_Barrier", &["meet"], R1),
        late("barrier_many", WaitAtBarrier, R1, "MPI_Barrier", &["meet"], R0).takes(50, 5),
        late("barrier_unequal", WaitAtBarrier, R1, "MPI_Barrier", &["meet"], R0).takes(1, 400).ahead(100),
        late("barrier_paths", WaitAtBarrier, R0, "MPI_Barrier", &["rough_phase", "meet"], R1)
            .because_of(&["rough_phase", "late_part"]),
        late("ibarrier_wait", WaitAtBarrier, R1, "MPI_Wait", &["meet_after"], R0),
        late("ibarrier_overlap", WaitAtBarrier, R1, "MPI_Wait", &["meet_after"], R0).takes(1, 400).ahead(100),
        late("fence_once", WaitAtBarrier, R1, "MPI_Win_fence", &["give_and_fence"], R0),
        late("fence_many", WaitAtBarrier, R0, "MPI_Win_fence", &["give_and_fence"], R1).takes(50, 5),
        late("allreduce_once", WaitAtNxN, R1, "MPI_Allreduce", &["add"], R0),
        late("allreduce_many", WaitAtNxN, R0, "MPI_Allreduce", &["add"], R1).takes(50, 5),
        late("alltoall_once", WaitAtNxN, R0, "MPI_Alltoall", &["transpose"], R1),
        late("allgather_once", WaitAtNxN, R1, "MPI_Allgather", &["collect"], R0),
        late("iallreduce_wait", WaitAtNxN, R0, "MPI_Wait", &["add_after"], R1),
        late("bcast_once", LateBroadcast, R1, "MPI_Bcast", &["spread"], R0),
        late("bcast_many", LateBroadcast, R1, "MPI_Bcast", &["spread"], R0).takes(50, 5),
        late("bcast_root_1", LateBroadcast, R0, "MPI_Bcast", &["spread"], R1),
        late("bcast_reversed", LateBroadcast, R0, "MPI_Bcast", &["spread"], R1),
        late("scatter_once", LateBroadcast, R1, "MPI_Scatter", &["hand_out"], R0),
        late("ibcast_wait", LateBroadcast, R1, "MPI_Wait", &["spread_after"], R0),
        late("reduce_once", EarlyReduce, R0, "MPI_Reduce", &["fold"], R1),
        late("reduce_many", EarlyReduce, R0, "MPI_Reduce", &["fold"], R1).takes(50, 5),
        late("gather_root_1", EarlyReduce, R1, "MPI_Gather", &["fetch"], R0),
        late("chain_join_recv", WaitAtJoin, R0, "pthread_join", joins, WORKER).and(
            LateSender,
            R1,
            "MPI_Recv",
            &["chain_receiver"],
        ),
        late("chain_join_barrier", WaitAtJoin, R0, "pthread_join", joins, WORKER).and(
            WaitAtBarrier,
            R1,
            "MPI_Barrier",
            &["meet"],
        ),
    ];
    cases.extend(balanced([
        "balanced_collectives",
        "balanced_collectives_many",
        "balanced_overlap_collectives",
        "balanced_fences",
        "balanced_early_root",
        "balanced_late_root",
    ]));
    cases
}

fn polls() -> Vec<Case> {
    let (test, tester): (_, Functions) = ("MPI_Test", &["tester"]);
    let mut cases = vec![
        late("late_sender_probe", LateSender, R1, "MPI_Probe", &["prober"], R0),
        late("late_sender_mprobe", LateSender, R1, "MPI_Mprobe", &["match_prober"], R0),
        late("late_sender_iprobe", LateSender, R1, "MPI_Iprobe", &["asker"], R0),
        late("late_sender_improbe", LateSender, R1, "MPI_Improbe", &["match_asker"], R0),
        late("late_sender_test", LateSender, R1, test, tester, R0),
        late("late_sender_get_status", LateSender, R1, "MPI_Request_get_status", &["looker"], R0),
        late("late_sender_iprobe_many", LateSender, R0, "MPI_Iprobe", &["asker"], R1).takes(20, 12),
        late("late_sender_iprobe_unnamed", LateSender, R0, "MPI_Iprobe", &["asker"], R1).takes(20, 12),
        late("late_sender_testall", LateSender, R1, "MPI_Testall", &["all_tester"], R0),
        // It works three times meanwhile.
        late("late_sender_test_and_work", LateSender, R1, test, tester, R0).ahead(150),
        late("late_receiver_test", LateReceiver, R0, test, tester, R1),
        late("ibarrier_test", WaitAtBarrier, R1, test, tester, R0),
        late("dup_once", WaitAtNxN, R1, "MPI_Comm_dup", &["copy"], R0),
        late("split_once", WaitAtNxN, R0, "MPI_Comm_split", &["part"], R1),
        late("win_create_once", WaitAtNxN, R1, "MPI_Win_create", &["open_window"], R0),
        late("win_free_once", WaitAtNxN, R0, "MPI_Win_free", &["close_window"], R1),
        late("file_open_once", WaitAtNxN, R1, "MPI_File_open", &["open_file"], R0),
        late("file_close_once", WaitAtNxN, R1, "MPI_File_close", &["close_file"], R0),
    ];
    cases.extend(balanced(["balanced_asking", "balanced_overlap_asking", "balanced_set_up"]));
    cases
}

fn windows() -> Vec<Case> {
    let (start, wait, lock) = ("MPI_Win_start", "MPI_Win_wait", "MPI_Win_lock");
    // What the other works meanwhile, it does not wait.
    let held = |name, by, place, region, functions| {
        late(name, LockContention, place, region, functions, by).because_of(&["hold_own", "late_part"])
    };
    let completes: Functions = &["access_other", "late_part"];
    let mut cases = vec![
        late("late_post_once", LatePost, R1, start, &["access_other"], R0),
        late("late_post_many", LatePost, R0, start, &["access_other"], R1).takes(10, 30),
        late("late_post_paths", LatePost, R1, start, &["rough_phase", "access_other"], R0)
            .because_of(&["rough_phase", "late_part"]),
        late("late_complete_once", LateComplete, R0, wait, &["expose"], R1).because_of(completes),
        late("late_complete_many", LateComplete, R1, wait, &["expose"], R0)
            .because_of(completes)
            .takes(10, 30),
        held("lock_once", R0, R1, lock, &["lock_other"]).takes(1, 320).ahead(20),
        held("lock_many", R1, R0, lock, &["lock_other"]).takes(5, 80).ahead(100),
        held("lock_shared", R1, R0, lock, &["lock_other"]).takes(1, 320).ahead(20),
        held("lock_of_all", R0, R1, "MPI_Win_lock_all", &["lock_all"]).takes(1, 320).ahead(20),
    ];
    cases.extend(balanced(["balanced_epochs", "balanced_locks"]));
    cases
}

fn skew() -> Vec<Case> {
    let mut cases = vec![
        // What it did before it was measured has no name.
        late("init_once", WaitAtInit, R0, "MPI_Init_thread", &["come"], R1).because_of(&[NOT_STARTED]),
        late("exit_once", WaitAtExit, R1, "MPI_Finalize", &["leave"], R0),
        late("exit_unequal", WaitAtExit, R0, "MPI_Finalize", &["leave"], R1).takes(1, 400).ahead(100),
    ];
    cases.extend(balanced(["balanced_skew"]));
    cases
}

fn threads() -> Vec<Case> {
    let (join, lock, condition) = ("pthread_join", "pthread_mutex_lock", "pthread_cond_wait");
    let barrier = "pthread_barrier_wait";
    let mut cases =
        vec![
            late("join_once", WaitAtJoin, MAIN, join, &["joiner"], WORKER),
            late("join_many", WaitAtJoin, MAIN, join, &["joiner"], WORKER).takes(10, 25),
            late("join_paths", WaitAtJoin, MAIN, join, &["rough_phase", "joiner"], WORKER),
            late("join_unequal", WaitAtJoin, MAIN, join, &["joiner"], WORKER).takes(1, 400).ahead(100),
            late("barrier_once", WaitAtBarrier, MAIN, barrier, &["meet"], WORKER),
            late("barrier_main_late", WaitAtBarrier, WORKER, barrier, &["meet"], MAIN),
            late("barrier_many", WaitAtBarrier, MAIN, barrier, &["meet"], WORKER).takes(40, 6),
            late("mutex_once", LockContention, MAIN, lock, &["locker"], WORKER),
            late("mutex_many", LockContention, MAIN, lock, &["locker"], WORKER).takes(25, 10),
            late("rwlock_once", LockContention, MAIN, "pthread_rwlock_rdlock", &["reader"], WORKER),
            late("condition_once", WaitForCondition, MAIN, condition, &["awaiter"], WORKER),
            late("condition_many", WaitForCondition, MAIN, condition, &["awaiter"], WORKER).takes(40, 6),
            late("semaphore_once", WaitForCondition, MAIN, "sem_wait", &["taker"], WORKER),
            late("chain_condition_join", WaitAtJoin, MAIN, join, &["joiner"], thread("first")).and(
                WaitForCondition,
                thread("second"),
                condition,
                &["awaiter"],
            ),
            late("chain_locks", LockContention, MAIN, lock, &["chain_locker", "locker"], thread("first"))
                .and(LockContention, thread("second"), lock, &["chain_holds_both", "locker"]),
        ];
    cases.extend(balanced([
        "balanced_join",
        "balanced_barrier",
        "balanced_mutex",
        "balanced_condition",
        "alone",
    ]));
    cases
}

fn rust_threads() -> Vec<Case> {
    let mut cases = vec![
        late("join_once", WaitAtJoin, MAIN, "pthread_join", &["joiner"], WORKER),
        late("join_many", WaitAtJoin, MAIN, "pthread_join", &["joiner"], WORKER).takes(10, 25),
        late("mutex_once", WaitForCondition, MAIN, FUTEX, &["locker"], WORKER),
        late("mutex_many", WaitForCondition, MAIN, FUTEX, &["locker"], WORKER).takes(25, 10),
        late("condition_once", WaitForCondition, MAIN, FUTEX, &["awaiter"], WORKER),
        late("condition_many", WaitForCondition, MAIN, FUTEX, &["awaiter"], WORKER).takes(40, 6),
        late("channel_once", WaitForCondition, MAIN, FUTEX, &["taker"], WORKER),
        late("channel_many", WaitForCondition, MAIN, FUTEX, &["taker"], WORKER).takes(40, 6),
        late("barrier_once", WaitForCondition, WORKER, FUTEX, &["meet"], MAIN),
        late("barrier_many", WaitForCondition, WORKER, FUTEX, &["meet"], MAIN).takes(10, 30),
        late("chain_channel_join", WaitAtJoin, MAIN, "pthread_join", &["joiner"], thread("first"))
            .and(WaitForCondition, thread("second"), FUTEX, &["taker"])
            // They begin later by as much as it takes a thread to start.
            .ahead(20),
    ];
    cases.extend(balanced(["balanced_join", "balanced_barrier", "balanced_channel"]));
    cases
}
