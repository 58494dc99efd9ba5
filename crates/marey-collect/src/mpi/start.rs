//! Persistent operations: prepared once, started as often as the program likes.
//!
//! Nothing moves before a start, and every start is an operation of its own: that of a send or
//! receive posts a message, that of a collective begins one's part.

use marey_measure::message;
use marey_model::spool::{Direction, op};

use super::call::{Passing, Real};
use super::collective;
use super::communicator::communicator_noun;
use super::contents;
use super::flavour::flavour;
use super::point::{half, half_of, put_post};
use super::request::{self, Kind, Request};

/// Persistent sends.
pub(crate) unsafe fn send_init(p: Passing<7, impl Real<7>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe { prepared(p, Direction::Send) }
}

/// The persistent receive.
pub(crate) unsafe fn recv_init(p: Passing<7, impl Real<7>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe { prepared(p, Direction::Receive) }
}

unsafe fn prepared(mut p: Passing<7, impl Real<7>>, direction: Direction) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(communicator_noun(p.args[5]), |p, open| {
            let [buffer, n, kind, peer, tag, comm, place] = p.args;
            if p.pass()
                && let Some(half) = half(open.runtime, p.call, direction, [buffer, n, kind, peer, tag, comm])
            {
                prepare(place, Kind::of(half));
            }
            open.finish_plain();
        })
    }
}

/// `MPI_Psend_init`.
pub(crate) unsafe fn psend_init(p: Passing<9, impl Real<9>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe { prepared_in_partitions(p, Direction::Send) }
}

/// `MPI_Precv_init`.
pub(crate) unsafe fn precv_init(p: Passing<9, impl Real<9>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe { prepared_in_partitions(p, Direction::Receive) }
}

/// All partitions together are one message for each start, however many each side has. (In MPI these
/// match no messages of other functions; a program that uses one tag for both is not told apart.)
unsafe fn prepared_in_partitions(mut p: Passing<9, impl Real<9>>, direction: Direction) -> usize {
    let [buffer, partitions, n, kind, peer, tag, comm, _, place] = p.args;
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(communicator_noun(comm), |p, open| {
            let partitions = u64::from((partitions as i32).max(0).unsigned_abs());
            let count = partitions.saturating_mul(n as u64);
            if p.pass()
                && let Some(half) =
                    half_of(open.runtime, p.call, direction, count, [buffer, n, kind, peer, tag, comm])
            {
                prepare(place, Kind::of(half));
            }
            open.finish_plain();
        })
    }
}

/// The request that MPI has stored at `place` stands for `kind`, whenever it is started.
///
/// # Safety
/// `place` points to a request.
pub(crate) unsafe fn prepare(place: usize, kind: Kind) {
    // SAFETY: the caller's promise.
    request::insert(unsafe { flavour().handle_at(place) }, Request { kind, serial: 0, persistent: true });
}

/// `MPI_Start`.
pub(crate) unsafe fn start(p: Passing<1, impl Real<1>>) -> usize {
    let place = p.args[0];
    // SAFETY: arguments are those of the class.
    unsafe { started(p, 1, place) }
}

/// `MPI_Startall`.
pub(crate) unsafe fn startall(p: Passing<2, impl Real<2>>) -> usize {
    let [n, places] = p.args;
    // SAFETY: arguments are those of the class.
    unsafe { started(p, (n as i32).max(0) as usize, places) }
}

unsafe fn started<const N: usize>(mut p: Passing<N, impl Real<N>>, n: usize, places: usize) -> usize {
    // SAFETY: arguments are those of the class: `n` handles at `places`.
    unsafe {
        p.record(u32::MAX, |p, open| {
            let flavour = flavour();
            for idx in 0..n {
                let handle = flavour.handle_at(places + idx * flavour.handle_len());
                let serial = open.runtime.next_serial();
                let Some(kind) = request::activate(handle, serial) else { continue };
                if let Kind::Send(half) = &kind {
                    contents::tell(open.runtime, half);
                }
                open.record(|runtime, thread, scratch| match kind {
                    Kind::Send(half) | Kind::Receive(half) => {
                        put_post(runtime, thread, scratch, &half, serial);
                    }
                    // Not persistent.
                    Kind::Both(..) => {}
                    Kind::Collective(part) => {
                        collective::put(runtime, thread, scratch, op::POST_COLLECTIVE, &part);
                        message::put_serial(thread, scratch, serial);
                    }
                });
            }
            p.pass();
            open.finish_plain();
        })
    }
}
