//! Sends and receives: what is sent, what is received, what is merely begun.

use marey_measure::message::{self, Half};
use marey_measure::{Runtime, Scratch, Thread};
use marey_model::spool::{ANY_SOURCE, ANY_TAG, Direction, op};

use super::call::{Call, Passing, Real};
use super::communicator::{communicator, communicator_noun};
use super::contents;
use super::datatype::datatype;
use super::flavour::{Family, Outcome, flavour};
use super::request::{self, Kind, Request};
use crate::data::buffers;

/// A count argument: `int`, or `MPI_Count` in the functions whose name ends in `_c`.
#[inline(always)]
pub(crate) fn count(call: Call, word: usize) -> u64 {
    if call.function().large_count { word as u64 } else { u64::from((word as i32).max(0).unsigned_abs()) }
}

/// The half that arguments `(buffer, count, datatype, peer, tag, comm)` describe; `None` if the
/// peer is nobody.
#[inline(always)]
pub(crate) fn half(runtime: &Runtime, call: Call, direction: Direction, words: [usize; 6]) -> Option<Half> {
    half_of(runtime, call, direction, count(call, words[1]), words)
}

/// The same with a count that has been read already.
#[inline(always)]
pub(crate) fn half_of(
    runtime: &Runtime,
    call: Call,
    direction: Direction,
    count: u64,
    words: [usize; 6],
) -> Option<Half> {
    let flavour = flavour();
    let [buffer, _, kind, peer, tag, comm] = words;
    let peer = flavour.peer(peer)?;
    let word = kind;
    let kind = datatype(runtime, word);
    let buffer = if 0 < count { kind.first_byte(word, buffer) } else { buffer };
    Some(Half {
        direction,
        communicator: communicator(comm)?.number,
        peer,
        tag: flavour.tag(tag),
        datatype: kind.number,
        bytes: count.saturating_mul(kind.size),
        count,
        buffer: buffer as u64,
        data: buffers::data(runtime, call.entry, buffer),
    })
}

/// What arrived, by the status, of the receive that `posted` describes.
///
/// # Safety
/// `status` points to a status that MPI has filled.
#[inline(always)]
pub(crate) unsafe fn arrived(posted: &Half, status: usize) -> Option<Half> {
    // SAFETY: the caller's promise.
    let (peer, tag, bytes) = unsafe { flavour().message(status)? };
    Some(Half { peer, tag, bytes, ..*posted })
}

/// The same for a receive whose request is a send's too. MPICH 4.0 leaves the status of such a request
/// as it was, so what it was posted for must do; what was posted for anybody stays unknown.
///
/// # Safety
/// As for [`arrived`].
pub(crate) unsafe fn arrived_beside_send(posted: &Half, status: usize) -> Option<Half> {
    match flavour().family {
        // SAFETY: the caller's promise.
        Family::OpenMpi => unsafe { arrived(posted, status) },
        Family::Mpich => {
            let is_known = i64::from(posted.peer) != ANY_SOURCE && i64::from(posted.tag) != ANY_TAG;
            is_known.then_some(*posted)
        }
    }
}

/// Puts `opcode` and the slot of `half`.
///
/// # Safety
/// Inside `write`, with the calling thread's descriptor.
#[inline(always)]
unsafe fn put_message(
    runtime: &Runtime,
    thread: *mut Thread,
    scratch: &mut Scratch,
    opcode: u8,
    half: &Half,
) {
    // SAFETY: the caller's promise.
    let slot = unsafe { message::slot(runtime, thread, scratch, half) };
    scratch.byte(opcode);
    scratch.byte(slot);
}

/// Puts that `half` has been begun as operation `serial`.
///
/// # Safety
/// As for [`put_message`].
pub(crate) unsafe fn put_post(
    runtime: &Runtime,
    thread: *mut Thread,
    scratch: &mut Scratch,
    half: &Half,
    serial: u64,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let (opcode, slot) = match half.direction {
            Direction::Send => (op::POST_SEND, message::slot(runtime, thread, scratch, half)),
            Direction::Receive => (op::POST_RECEIVE, message::posted_slot(runtime, thread, scratch, half)),
        };
        scratch.byte(opcode);
        scratch.byte(slot);
        message::put_serial(thread, scratch, serial);
    }
}

/// Puts the completion of receive `serial`, which turned out to be `half`.
///
/// # Safety
/// As for [`put_message`].
pub(crate) unsafe fn put_received(
    runtime: &Runtime,
    thread: *mut Thread,
    scratch: &mut Scratch,
    serial: u64,
    half: &Half,
) {
    // SAFETY: the caller's promise.
    unsafe {
        put_message(runtime, thread, scratch, op::RECEIVED, half);
        message::put_back(thread, scratch, serial);
    }
}

/// Blocking sends.
#[inline(always)]
pub(crate) unsafe fn send(mut p: Passing<6, impl Real<6>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.send_off(
            p.args[5],
            true,
            |p, runtime| {
                half(runtime, p.call, Direction::Send, p.args).inspect(|half| contents::tell(runtime, half))
            },
            |runtime, thread, scratch, half| put_message(runtime, thread, scratch, op::SEND, half),
        )
    }
}

/// The blocking receive.
#[inline(always)]
pub(crate) unsafe fn recv(mut p: Passing<7, impl Real<7>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(communicator_noun(p.args[5]), |p, open| {
            let [buffer, n, kind, peer, tag, comm, _] = p.args;
            let status = p.status(6);
            p.pass();
            let came = if p.outcome() == Outcome::Done {
                half(open.runtime, p.call, Direction::Receive, [buffer, n, kind, peer, tag, comm])
                    .and_then(|posted| arrived(&posted, status))
            } else {
                None
            };
            came.iter().for_each(|half| contents::tell(open.runtime, half));
            open.finish_with_aside(came, |runtime, thread, scratch, half| {
                put_message(runtime, thread, scratch, op::RECEIVE, &half);
            });
        })
    }
}

/// Nonblocking sends.
pub(crate) unsafe fn isend(mut p: Passing<7, impl Real<7>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.send_off(
            p.args[5],
            false,
            |p, runtime| {
                let [buffer, n, kind, peer, tag, comm, place] = p.args;
                let half = half(runtime, p.call, Direction::Send, [buffer, n, kind, peer, tag, comm])?;
                let serial = runtime.next_serial();
                let request = Request { kind: Kind::of(half), serial, persistent: false };
                request::insert(flavour().handle_at(place), request);
                contents::tell(runtime, &half);
                Some((half, serial))
            },
            |runtime, thread, scratch, &(half, serial)| put_post(runtime, thread, scratch, &half, serial),
        )
    }
}

/// The nonblocking receive.
pub(crate) unsafe fn irecv(mut p: Passing<7, impl Real<7>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(communicator_noun(p.args[5]), |p, open| {
            let [buffer, n, kind, peer, tag, comm, place] = p.args;
            let half = half(open.runtime, p.call, Direction::Receive, [buffer, n, kind, peer, tag, comm]);
            // Before the call: another thread may find the operation complete as soon as it returns.
            let serial = open.runtime.next_serial();
            let begun = if p.pass() { half } else { None };
            if let Some(half) = begun {
                let kind = Kind::of(half);
                request::insert(flavour().handle_at(place), Request { kind, serial, persistent: false });
            }
            open.finish_with(begun, |runtime, thread, scratch, half| {
                put_post(runtime, thread, scratch, &half, serial);
            });
        })
    }
}

/// `MPI_Sendrecv`: a send and a receive, both from the beginning to the end of the call.
pub(crate) unsafe fn sendrecv(mut p: Passing<12, impl Real<12>>) -> usize {
    let [sb, sn, st, dest, stag, rb, rn, rt, source, rtag, comm, _] = p.args;
    // SAFETY: arguments are those of the class.
    unsafe { both(&mut p, [sb, sn, st, dest, stag, comm], [rb, rn, rt, source, rtag, comm]) }
}

/// `MPI_Sendrecv_replace`.
pub(crate) unsafe fn sendrecv_replace(mut p: Passing<9, impl Real<9>>) -> usize {
    let [buffer, n, kind, dest, stag, source, rtag, comm, _] = p.args;
    // SAFETY: arguments are those of the class.
    unsafe { both(&mut p, [buffer, n, kind, dest, stag, comm], [buffer, n, kind, source, rtag, comm]) }
}

/// A send and a receive in one call, whose last argument is the receive's status.
unsafe fn both<const N: usize>(
    p: &mut Passing<N, impl Real<N>>,
    sent: [usize; 6],
    received: [usize; 6],
) -> usize {
    // SAFETY: the caller passes on the arguments of its class.
    unsafe {
        p.record(communicator_noun(sent[5]), |p, open| {
            let status = p.status(N - 1);
            p.pass();
            // A receive that has failed says nothing of the send; it may never have been begun.
            if p.outcome() != Outcome::Done {
                return open.finish_plain();
            }
            let runtime = open.runtime;
            let sent = half(runtime, p.call, Direction::Send, sent);
            let posted = half(runtime, p.call, Direction::Receive, received);
            let came = posted.and_then(|posted| arrived(&posted, status));
            // What was sent from where something has come is no longer there.
            let is_replaced = |half: &Half| came.is_some_and(|came| came.buffer == half.buffer);
            sent.iter().filter(|half| !is_replaced(half)).for_each(|half| contents::tell(runtime, half));
            came.iter().for_each(|half| contents::tell(runtime, half));
            open.finish_aside(|thread, scratch| {
                for (opcode, half) in [(op::SEND, &sent), (op::RECEIVE, &came)] {
                    if let Some(half) = half {
                        put_message(runtime, thread, scratch, opcode, half);
                    }
                }
            });
        })
    }
}

/// `MPI_Isendrecv`.
pub(crate) unsafe fn isendrecv(mut p: Passing<12, impl Real<12>>) -> usize {
    let [sb, sn, st, dest, stag, rb, rn, rt, source, rtag, comm, _] = p.args;
    // SAFETY: arguments are those of the class.
    unsafe { both_begun(&mut p, [sb, sn, st, dest, stag, comm], [rb, rn, rt, source, rtag, comm]) }
}

/// `MPI_Isendrecv_replace`.
pub(crate) unsafe fn isendrecv_replace(mut p: Passing<9, impl Real<9>>) -> usize {
    let [buffer, n, kind, dest, stag, source, rtag, comm, _] = p.args;
    // SAFETY: arguments are those of the class.
    unsafe { both_begun(&mut p, [buffer, n, kind, dest, stag, comm], [buffer, n, kind, source, rtag, comm]) }
}

/// A send and a receive begun in one call, whose last argument is the request of both.
unsafe fn both_begun<const N: usize>(
    p: &mut Passing<N, impl Real<N>>,
    sent: [usize; 6],
    received: [usize; 6],
) -> usize {
    // SAFETY: the caller passes on the arguments of its class.
    unsafe {
        p.record(communicator_noun(sent[5]), |p, open| {
            let send = half(open.runtime, p.call, Direction::Send, sent);
            let receive = half(open.runtime, p.call, Direction::Receive, received);
            let (send_serial, receive_serial) = (open.runtime.next_serial(), open.runtime.next_serial());
            if !p.pass() {
                return open.finish_plain();
            }
            let noted = match (send, receive) {
                (Some(_), Some(receive)) => Some((Kind::Both(receive, receive_serial), send_serial)),
                (Some(send), None) => Some((Kind::Send(send), send_serial)),
                (None, Some(receive)) => Some((Kind::Receive(receive), receive_serial)),
                (None, None) => None,
            };
            if let Some((kind, serial)) = noted {
                let handle = flavour().handle_at(p.args[N - 1]);
                request::insert(handle, Request { kind, serial, persistent: false });
            }
            if let Some(send) = send {
                if receive.is_none_or(|receive| receive.buffer != send.buffer) {
                    contents::tell(open.runtime, &send);
                }
                open.record(|runtime, thread, scratch| {
                    put_post(runtime, thread, scratch, &send, send_serial)
                });
            }
            open.finish_with(receive, |runtime, thread, scratch, receive| {
                put_post(runtime, thread, scratch, &receive, receive_serial);
            });
        })
    }
}
