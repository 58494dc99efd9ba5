//! Clock exchanges at the beginning and the end of a world whose processes count different clocks.
//!
//! The only messages that are ever added to a program's own, and only where they are needed and
//! cannot do harm: every rank has announced itself in the spool before `MPI_Init`, the announced
//! clocks differ, all have agreed to take part ([`super::agreement`]), and nothing here waits without
//! a deadline. On one machine with one clock, which is what most test runs are, nothing is sent at all.
//!
//! Rank 0 asks each rank in turn, a few times: sent here, received there, sent back there,
//! received here. The merge takes the rounds with the least time in between (Cristian 1989).

use core::sync::atomic::{AtomicUsize, Ordering};

use marey_measure::{Runtime, clock, sys};
use marey_model::ClockKind;
use marey_model::spool::Definition;

use super::agreement::Board;
use super::flavour::flavour;
use super::real::ask;

/// Rounds with each rank. The first is slow, because it sets up the connection.
const ROUNDS: usize = 10;
/// In larger worlds one rank asking all others in turn takes too long; the bounds that messages
/// give must do.
const MAX_RANKS: usize = 1024;
/// Patience at the beginning, when all ranks have just left `MPI_Init` together.
const AT_START_NS: u64 = 2_000_000_000;
/// Patience until all have said that they will take part.
const AGREED_NS: u64 = 1_000_000_000;
/// Patience at the end: ranks reach `MPI_Finalize` when they have done their work, and the
/// program's own call would wait for them without limit.
const AT_END_NS: u64 = 60_000_000_000;

/// The communicator of the exchanges; 0 if there are none.
static COMMUNICATOR: AtomicUsize = AtomicUsize::new(0);

/// Where the ranks of a world announce themselves: in the spool, or where that lies on a disk of each
/// machine, in the directory that all machines see.
fn board(runtime: &Runtime, world: &str) -> Board {
    let hash = world.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let common = std::env::var_os("MAREY_BOARD").map(std::path::PathBuf::from);
    let directory = common.as_ref().unwrap_or(&runtime.config().spool);
    Board::new(directory.join(format!("world-{hash:016x}")))
}

/// What a rank says of its clock.
const CLOCK: &str = "clock ";

/// What tells clocks apart: a machine's boot, and the kind of clock. A clock that was made wrong
/// for a test is like no other.
fn domain(runtime: &Runtime) -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let own = if runtime.clock() == ClockKind::Skewed { sys::process_id() } else { 0 };
    format!("{}/{}/{own}", boot.trim(), runtime.clock().name())
}

/// To be called before the real `MPI_Init`: afterwards every rank's announcement is there.
pub(crate) fn announce(runtime: &Runtime, world: &str) {
    let rank = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"]
        .iter()
        .find_map(|name| std::env::var(name).ok()?.parse::<usize>().ok());
    if let Some(rank) = rank {
        // What is lost means no exchange.
        board(runtime, world).say(rank, &format!("{CLOCK}{}", domain(runtime)));
    }
}

/// Whether all ranks have announced themselves, with clocks that differ.
fn is_needed(board: &Board, size: usize) -> bool {
    (2..=MAX_RANKS).contains(&size)
        && board.said(size, CLOCK).is_some_and(|clocks| clocks.iter().any(|clock| *clock != clocks[0]))
}

/// The exchange after `MPI_Init`.
pub(crate) fn at_start(runtime: &Runtime, world: &str, rank: i32, size: i32) {
    let (Ok(index), Ok(ranks)) = (usize::try_from(rank), usize::try_from(size)) else { return };
    let board = board(runtime, world);
    if !is_needed(&board, ranks) || !board.all_will(index, ranks, clock::monotonic_ns() + AGREED_NS) {
        return;
    }
    let deadline = clock::monotonic_ns() + AT_START_NS;
    let (mut comm, mut request) = (0_usize, 0_usize);
    // Not the program's communicator: its receives of any source could catch our messages.
    if !ask!(PMPI_Comm_idup(flavour().comm_world, &raw mut comm, &raw mut request)) {
        return;
    }
    if !finished(&mut request, deadline) {
        return;
    }
    COMMUNICATOR.store(flavour().handle(comm), Ordering::Relaxed);
    run(runtime, rank, size, deadline);
}

/// The exchange before `MPI_Finalize`.
pub(crate) fn at_end(runtime: &Runtime) {
    if COMMUNICATOR.load(Ordering::Relaxed) == 0 {
        return;
    }
    let (mut rank, mut size) = (0_i32, 0_i32);
    ask!(PMPI_Comm_rank(flavour().comm_world, &raw mut rank));
    ask!(PMPI_Comm_size(flavour().comm_world, &raw mut size));
    run(runtime, rank, size, clock::monotonic_ns() + AT_END_NS);
}

/// Second word of a question that is none: rank 0 has stopped asking.
const GIVEN_UP: u64 = 1;

/// Waits for a request until the deadline.
fn finished(request: &mut usize, deadline: u64) -> bool {
    let flavour = flavour();
    loop {
        let mut flag = 0_i32;
        let mut status = [0_u64; 3];
        if !ask!(PMPI_Test(std::ptr::from_mut(request), &raw mut flag, status.as_mut_ptr())) {
            return false;
        }
        if flag != 0 || flavour.handle(*request) == flavour.request_null {
            return true;
        }
        if clock::monotonic_ns() > deadline {
            return false;
        }
    }
}

fn send(words: &[u64; 2], to: i32, tag: i32, deadline: u64) -> bool {
    let comm = COMMUNICATOR.load(Ordering::Relaxed);
    let mut request = 0_usize;
    // Leaked, like what is received: MPI may still read it after the deadline.
    let words = Box::leak(Box::new(*words));
    let byte = byte_type();
    ask!(PMPI_Isend(words.as_ptr(), 16_usize, byte, to, tag, comm, &raw mut request))
        && finished(&mut request, deadline)
}

fn receive(from: i32, tag: i32, deadline: u64) -> Option<[u64; 2]> {
    let comm = COMMUNICATOR.load(Ordering::Relaxed);
    let mut request = 0_usize;
    // Leaked if the message does not come in time: MPI would still write to it later.
    let words = Box::leak(Box::new([0_u64; 2]));
    let byte = byte_type();
    let came = ask!(PMPI_Irecv(words.as_mut_ptr(), 16_usize, byte, from, tag, comm, &raw mut request))
        && finished(&mut request, deadline);
    came.then_some(*words)
}

/// `MPI_BYTE`.
fn byte_type() -> usize {
    super::datatype::byte()
}

fn run(runtime: &Runtime, rank: i32, size: i32, deadline: u64) {
    let done = if rank == 0 {
        (1..size).all(|peer| (0..ROUNDS).all(|_| ask_peer(runtime, peer, deadline)))
    } else {
        (0..ROUNDS).all(|_| answer(runtime, deadline))
    };
    if !done && rank == 0 {
        // Those who have had their turn must not wait for another at the end.
        for peer in 1..size {
            send(&[0, GIVEN_UP], peer, 1, 0);
        }
    }
    if !done {
        // Somebody did not answer in time; the ranks may be out of step now.
        COMMUNICATOR.store(0, Ordering::Relaxed);
    }
}

fn ask_peer(runtime: &Runtime, peer: i32, deadline: u64) -> bool {
    let sent = runtime.ticks();
    if !send(&[sent, 0], peer, 1, deadline) {
        return false;
    }
    let Some([received, returned]) = receive(peer, 2, deadline) else { return false };
    let came_back = runtime.ticks();
    let exchange =
        Definition::Exchange { peer: peer.max(0).unsigned_abs(), sent, received, returned, came_back };
    runtime.define(|definitions| definitions.define(&exchange));
    true
}

fn answer(runtime: &Runtime, deadline: u64) -> bool {
    if receive(0, 1, deadline).is_none_or(|[_, word]| word == GIVEN_UP) {
        return false;
    }
    let received = runtime.ticks();
    send(&[received, runtime.ticks()], 0, 2, deadline)
}
