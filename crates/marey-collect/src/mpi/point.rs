//! Point-to-point calls: what is sent, what is received, what is merely begun.

use marey_measure::message::{self, Half};
use marey_measure::{Runtime, Scratch, Thread};
use marey_model::spool::{Direction, op};

use super::FUNCTIONS;
use super::communicator::{communicator, communicator_noun};
use super::datatype::datatype;
use super::flavour::{STATUS_WORDS, flavour};
use super::request::{self, Kind, Request};
use super::wrap::{Call, Open};

/// A count argument: `int`, or `MPI_Count` in the functions whose name ends in `_c`.
#[inline(always)]
pub(crate) fn count(call: Call, word: usize) -> u64 {
    if FUNCTIONS[call.index].large_count {
        word as u64
    } else {
        u64::from((word as i32).max(0).unsigned_abs())
    }
}

/// The half that arguments `(buffer, count, datatype, peer, tag, comm)` describe; `None` if the
/// peer is nobody.
#[inline(always)]
fn half(runtime: &Runtime, call: Call, direction: Direction, words: [usize; 6]) -> Option<Half> {
    let flavour = flavour();
    let [buffer, n, kind, peer, tag, comm] = words;
    let peer = flavour.peer(peer)?;
    let kind = datatype(runtime, kind);
    let count = count(call, n);
    Some(Half {
        direction,
        communicator: communicator(comm)?.number,
        peer,
        tag: flavour.tag(tag),
        datatype: kind.number,
        bytes: count * kind.size,
        count,
        buffer: buffer as u64,
    })
}

/// Puts `opcode` and the slot of `half`.
///
/// # Safety
/// Inside `write`, with the calling thread's descriptor.
#[inline(always)]
pub(crate) unsafe fn put_message(
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

unsafe fn put_post(
    runtime: &Runtime,
    thread: *mut Thread,
    scratch: &mut Scratch,
    opcode: u8,
    half: &Half,
    serial: u64,
) {
    // SAFETY: the caller's promise, as for `put_message`.
    unsafe {
        let slot = if opcode == op::POST_SEND {
            message::slot(runtime, thread, scratch, half)
        } else {
            message::posted_slot(runtime, thread, scratch, half)
        };
        scratch.byte(opcode);
        scratch.byte(slot);
        message::put_serial(thread, scratch, serial);
    }
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

/// The user's status, or `own` if there is none.
#[inline(always)]
pub(crate) fn status_or(word: usize, own: &mut [u64; STATUS_WORDS]) -> usize {
    if word == flavour().status_ignore { own.as_mut_ptr() as usize } else { word }
}

/// Blocking sends.
#[inline(always)]
pub(crate) unsafe fn send(call: Call, args: [usize; 6], f: impl Fn([usize; 6]) -> usize) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        let Some(open) = call.begin(communicator_noun(args[5])) else { return f(args) };
        let result = f(args);
        let runtime = open.runtime;
        match half(runtime, call, Direction::Send, args) {
            Some(half) if result as i32 == 0 => {
                open.finish(|thread, scratch| put_message(runtime, thread, scratch, op::SEND, &half));
            }
            _ => open.finish_plain(),
        }
        result
    }
}

/// The blocking receive.
#[inline(always)]
pub(crate) unsafe fn recv(call: Call, mut args: [usize; 7], f: impl Fn([usize; 7]) -> usize) -> usize {
    // SAFETY: arguments are those of the class; `own` lives as long as it is used.
    unsafe {
        let Some(open) = call.begin(communicator_noun(args[5])) else { return f(args) };
        let mut own = [0; STATUS_WORDS];
        args[6] = status_or(args[6], &mut own);
        let result = f(args);
        let runtime = open.runtime;
        let [buffer, n, kind, peer, tag, comm, status] = args;
        let half = half(runtime, call, Direction::Receive, [buffer, n, kind, peer, tag, comm])
            .filter(|_| result as i32 == 0)
            .and_then(|posted| arrived(&posted, status));
        match half {
            Some(half) => {
                open.finish(|thread, scratch| put_message(runtime, thread, scratch, op::RECEIVE, &half))
            }
            None => open.finish_plain(),
        }
        result
    }
}

/// Nonblocking sends.
pub(crate) unsafe fn isend(call: Call, args: [usize; 7], f: impl Fn([usize; 7]) -> usize) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe { begun(call, args, f, Direction::Send) }
}

/// The nonblocking receive.
pub(crate) unsafe fn irecv(call: Call, args: [usize; 7], f: impl Fn([usize; 7]) -> usize) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe { begun(call, args, f, Direction::Receive) }
}

unsafe fn begun(
    call: Call,
    args: [usize; 7],
    f: impl Fn([usize; 7]) -> usize,
    direction: Direction,
) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        let Some(open) = call.begin(communicator_noun(args[5])) else { return f(args) };
        let [buffer, n, kind, peer, tag, comm, place] = args;
        let runtime = open.runtime;
        let half = half(runtime, call, direction, [buffer, n, kind, peer, tag, comm]);
        // Before the call: another thread may find the operation complete as soon as it returns.
        let serial = runtime.next_serial();
        let result = f(args);
        match half {
            Some(half) if result as i32 == 0 => {
                let kind = match direction {
                    Direction::Send => Kind::Send(half),
                    Direction::Receive => Kind::Receive(half),
                };
                let opcode = opcode_of(&kind);
                request::insert(flavour().handle_at(place), Request { kind, serial, persistent: false });
                open.finish(|thread, scratch| put_post(runtime, thread, scratch, opcode, &half, serial));
            }
            _ => open.finish_plain(),
        }
        result
    }
}

fn opcode_of(kind: &Kind) -> u8 {
    if matches!(kind, Kind::Send(_)) { op::POST_SEND } else { op::POST_RECEIVE }
}

/// `MPI_Sendrecv`: a send and a receive, both from the beginning to the end of the call.
pub(crate) unsafe fn sendrecv(call: Call, mut args: [usize; 12], f: impl Fn([usize; 12]) -> usize) -> usize {
    // SAFETY: arguments are those of the class; `own` lives as long as it is used.
    unsafe {
        let Some(open) = call.begin(communicator_noun(args[10])) else { return f(args) };
        let mut own = [0; STATUS_WORDS];
        args[11] = status_or(args[11], &mut own);
        let result = f(args);
        let [sb, sn, st, dest, stag, rb, rn, rt, source, rtag, comm, status] = args;
        finish_both(
            open,
            call,
            result,
            [sb, sn, st, dest, stag, comm],
            [rb, rn, rt, source, rtag, comm],
            status,
        );
        result
    }
}

/// `MPI_Sendrecv_replace`.
pub(crate) unsafe fn sendrecv_replace(
    call: Call,
    mut args: [usize; 9],
    f: impl Fn([usize; 9]) -> usize,
) -> usize {
    // SAFETY: arguments are those of the class; `own` lives as long as it is used.
    unsafe {
        let Some(open) = call.begin(communicator_noun(args[7])) else { return f(args) };
        let mut own = [0; STATUS_WORDS];
        args[8] = status_or(args[8], &mut own);
        let result = f(args);
        let [buffer, n, kind, dest, stag, source, rtag, comm, status] = args;
        finish_both(
            open,
            call,
            result,
            [buffer, n, kind, dest, stag, comm],
            [buffer, n, kind, source, rtag, comm],
            status,
        );
        result
    }
}

unsafe fn finish_both(
    open: Open,
    call: Call,
    result: usize,
    sent: [usize; 6],
    received: [usize; 6],
    status: usize,
) {
    // SAFETY: the caller passes on the arguments of its class.
    unsafe {
        if result as i32 != 0 {
            return open.finish_plain();
        }
        let runtime = open.runtime;
        if let Some(half) = half(runtime, call, Direction::Send, sent) {
            open.record(|thread, scratch| put_message(runtime, thread, scratch, op::SEND, &half));
        }
        let half =
            half(runtime, call, Direction::Receive, received).and_then(|posted| arrived(&posted, status));
        open.finish(|thread, scratch| {
            if let Some(half) = half {
                put_message(runtime, thread, scratch, op::RECEIVE, &half);
            }
        });
    }
}

/// Persistent sends: nothing moves before a start.
pub(crate) unsafe fn send_init(call: Call, args: [usize; 7], f: impl Fn([usize; 7]) -> usize) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe { prepared(call, args, f, Direction::Send) }
}

/// The persistent receive.
pub(crate) unsafe fn recv_init(call: Call, args: [usize; 7], f: impl Fn([usize; 7]) -> usize) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe { prepared(call, args, f, Direction::Receive) }
}

unsafe fn prepared(
    call: Call,
    args: [usize; 7],
    f: impl Fn([usize; 7]) -> usize,
    direction: Direction,
) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        let Some(open) = call.begin(communicator_noun(args[5])) else { return f(args) };
        let result = f(args);
        let [buffer, n, kind, peer, tag, comm, place] = args;
        let half = half(open.runtime, call, direction, [buffer, n, kind, peer, tag, comm]);
        if let (Some(half), 0) = (half, result as i32) {
            let kind = match direction {
                Direction::Send => Kind::Send(half),
                Direction::Receive => Kind::Receive(half),
            };
            request::insert(flavour().handle_at(place), Request { kind, serial: 0, persistent: true });
        }
        open.finish_plain();
        result
    }
}

/// `MPI_Start`.
pub(crate) unsafe fn start(call: Call, args: [usize; 1], f: impl Fn([usize; 1]) -> usize) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe { started(call, args, f, 1, args[0]) }
}

/// `MPI_Startall`.
pub(crate) unsafe fn startall(call: Call, args: [usize; 2], f: impl Fn([usize; 2]) -> usize) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe { started(call, args, f, (args[0] as i32).max(0) as usize, args[1]) }
}

unsafe fn started<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
    n: usize,
    places: usize,
) -> usize {
    // SAFETY: arguments are those of the class: `n` handles at `places`.
    unsafe {
        let flavour = flavour();
        let Some(open) = call.begin(u32::MAX) else { return f(args) };
        let runtime = open.runtime;
        for idx in 0..n {
            let handle = flavour.handle_at(places + idx * flavour.handle_len());
            let serial = runtime.next_serial();
            if let Some(kind) = request::activate(handle, serial) {
                let (Kind::Send(half) | Kind::Receive(half)) = kind else { continue };
                let opcode = opcode_of(&kind);
                open.record(|thread, scratch| put_post(runtime, thread, scratch, opcode, &half, serial));
            }
        }
        let result = f(args);
        open.finish_plain();
        result
    }
}

/// `(source, tag, comm, message, status)`.
pub(crate) unsafe fn mprobe(call: Call, mut args: [usize; 5], f: impl Fn([usize; 5]) -> usize) -> usize {
    // SAFETY: arguments are those of the class; `own` lives as long as it is used.
    unsafe {
        let Some(open) = call.begin(communicator_noun(args[2])) else { return f(args) };
        let mut own = [0; STATUS_WORDS];
        args[4] = status_or(args[4], &mut own);
        let serial = open.runtime.next_serial();
        let result = f(args);
        probed(open, result as i32 == 0, args[2], args[3], args[4], serial);
        result
    }
}

/// `(source, tag, comm, flag, message, status)`.
pub(crate) unsafe fn improbe(call: Call, mut args: [usize; 6], f: impl Fn([usize; 6]) -> usize) -> usize {
    // SAFETY: arguments are those of the class; `own` lives as long as it is used.
    unsafe {
        let Some(open) = call.begin(communicator_noun(args[2])) else { return f(args) };
        let mut own = [0; STATUS_WORDS];
        args[5] = status_or(args[5], &mut own);
        let serial = open.runtime.next_serial();
        let result = f(args);
        let found = result as i32 == 0 && *(args[3] as *const i32) != 0;
        probed(open, found, args[2], args[4], args[5], serial);
        result
    }
}

unsafe fn probed(open: Open, found: bool, comm: usize, place: usize, status: usize, serial: u64) {
    // SAFETY: the caller passes on the arguments of its class.
    unsafe {
        let flavour = flavour();
        let handle = if found { flavour.handle_at(place) } else { flavour.message_null };
        let real = found && handle != flavour.message_null && handle != flavour.message_no_proc;
        let known = communicator(comm).filter(|_| real).zip(flavour.message(status).filter(|_| real));
        let Some((comm, (peer, tag, bytes))) = known else { return open.finish_plain() };
        let half = Half {
            direction: Direction::Receive,
            communicator: comm.number,
            peer,
            tag,
            datatype: u32::MAX,
            bytes,
            count: bytes,
            buffer: 0,
        };
        request::probed(handle, serial, half);
        let runtime = open.runtime;
        open.finish(|thread, scratch| {
            let slot = message::posted_slot(runtime, thread, scratch, &half);
            scratch.byte(op::PROBED);
            scratch.byte(slot);
            message::put_serial(thread, scratch, serial);
        });
    }
}

/// `(buf, count, datatype, message, status)`.
pub(crate) unsafe fn mrecv(call: Call, mut args: [usize; 5], f: impl Fn([usize; 5]) -> usize) -> usize {
    // SAFETY: arguments are those of the class; `own` lives as long as it is used.
    unsafe {
        let Some(open) = call.begin(u32::MAX) else { return f(args) };
        let taken = request::take_message(flavour().handle_at(args[3]));
        let mut own = [0; STATUS_WORDS];
        args[4] = status_or(args[4], &mut own);
        let result = f(args);
        let runtime = open.runtime;
        let half = taken.filter(|_| result as i32 == 0).and_then(|(serial, probed)| {
            Some((serial, arrived(&into(runtime, call, &probed, args), args[4])?))
        });
        open.finish(|thread, scratch| {
            if let Some((serial, half)) = half {
                put_received(runtime, thread, scratch, serial, &half);
            }
        });
        result
    }
}

/// `(buf, count, datatype, message, request)`.
pub(crate) unsafe fn imrecv(call: Call, args: [usize; 5], f: impl Fn([usize; 5]) -> usize) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        let Some(open) = call.begin(u32::MAX) else { return f(args) };
        let taken = request::take_message(flavour().handle_at(args[3]));
        let result = f(args);
        if let (Some((serial, probed)), 0) = (taken, result as i32) {
            let kind = Kind::Receive(into(open.runtime, call, &probed, args));
            request::insert(flavour().handle_at(args[4]), Request { kind, serial, persistent: false });
        }
        open.finish_plain();
        result
    }
}

/// The probed half with the buffer that it is received into.
fn into(runtime: &Runtime, call: Call, probed: &Half, args: [usize; 5]) -> Half {
    let [buffer, n, kind, ..] = args;
    Half { buffer: buffer as u64, count: count(call, n), datatype: datatype(runtime, kind).number, ..*probed }
}

/// Puts the completion of receive `serial`, which turned out to be `half`.
///
/// # Safety
/// Inside `write`, with the calling thread's descriptor.
pub(crate) unsafe fn put_received(
    runtime: &Runtime,
    thread: *mut Thread,
    scratch: &mut Scratch,
    serial: u64,
    half: &Half,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let slot = message::slot(runtime, thread, scratch, half);
        scratch.byte(op::RECEIVED);
        scratch.byte(slot);
        message::put_back(thread, scratch, serial);
    }
}
