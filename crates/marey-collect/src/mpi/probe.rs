//! Matching probes and the receives of what they found.
//!
//! The one idea: such a probe takes a message out of the queue, so the message has its place in the
//! order from then on, as if the receive had been posted there; the receive that follows names it by its
//! serial number. Probes that leave the message where it is are calls like any other.

use marey_measure::message::{self, Half};
use marey_model::spool::{Direction, op};

use super::call::{Open, Passing, Real};
use super::communicator::{communicator, communicator_noun};
use super::contents;
use super::datatype::datatype;
use super::flavour::flavour;
use super::point::{arrived, count, put_received};
use super::request::{self, Kind, Request};

/// `(source, tag, comm, message, status)`.
pub(crate) unsafe fn mprobe(mut p: Passing<5, impl Real<5>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(communicator_noun(p.args[2]), |p, open| {
            let status = p.status(4);
            if p.pass() {
                found(&open, p.args[2], p.args[3], status);
            }
            open.finish_plain();
        })
    }
}

/// `(source, tag, comm, flag, message, status)`.
pub(crate) unsafe fn improbe(mut p: Passing<6, impl Real<6>>) -> usize {
    let [_, _, comm, _, place, _] = p.args;
    // SAFETY: arguments are those of the class.
    unsafe {
        p.poll(
            comm,
            (),
            |p, ()| {
                let status = p.status(5);
                (p.pass() && p.is_set(3)).then_some(status)
            },
            |open, (), status| found(open, comm, place, status),
        )
    }
}

/// Records what a probe on `comm` has taken out of the queue and stored at `place`, if that is a message.
unsafe fn found(open: &Open, comm: usize, place: usize, status: usize) {
    // SAFETY: the caller's promise: MPI has stored a message at `place` and filled the status.
    unsafe {
        let Some(half) = found_half(comm, place, status) else { return };
        let serial = open.runtime.next_serial();
        request::probed(flavour().handle_at(place), serial, half);
        open.record(|runtime, thread, scratch| {
            let slot = message::posted_slot(runtime, thread, scratch, &half);
            scratch.byte(op::PROBED);
            scratch.byte(slot);
            message::put_serial(thread, scratch, serial);
        });
    }
}

/// What the probe found, if it is a message at all.
unsafe fn found_half(comm: usize, place: usize, status: usize) -> Option<Half> {
    let flavour = flavour();
    // SAFETY: MPI has stored a message at `place` and filled the status.
    let (handle, (peer, tag, bytes)) = unsafe { (flavour.handle_at(place), flavour.message(status)?) };
    if handle == flavour.message_null || handle == flavour.message_no_proc {
        return None;
    }
    Some(Half {
        direction: Direction::Receive,
        communicator: communicator(comm)?.number,
        peer,
        tag,
        datatype: u32::MAX,
        bytes,
        count: bytes,
        buffer: 0,
        data: message::NO_DATA,
    })
}

/// `(buf, count, datatype, message, status)`.
pub(crate) unsafe fn mrecv(mut p: Passing<5, impl Real<5>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(u32::MAX, |p, open| {
            let taken = taken(p, &open);
            let status = p.status(4);
            let done = if p.pass() { taken } else { None };
            let came = done.and_then(|(serial, posted)| Some((serial, arrived(&posted, status)?)));
            came.iter().for_each(|(_, half)| contents::tell(open.runtime, half));
            open.finish_with(came, |runtime, thread, scratch, (serial, half)| {
                put_received(runtime, thread, scratch, serial, &half);
            });
        })
    }
}

/// `(buf, count, datatype, message, request)`.
pub(crate) unsafe fn imrecv(mut p: Passing<5, impl Real<5>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(u32::MAX, |p, open| {
            let taken = taken(p, &open);
            if p.pass()
                && let Some((serial, posted)) = taken
            {
                let request = Request { kind: Kind::of(posted), serial, persistent: false };
                request::insert(flavour().handle_at(p.args[4]), request);
            }
            open.finish_plain();
        })
    }
}

/// The probed message that is about to be received, with the buffer that it is received into.
unsafe fn taken(p: &Passing<5, impl Real<5>>, open: &Open) -> Option<(u64, Half)> {
    let [buffer, n, kind, message, _] = p.args;
    // SAFETY: the class says that the argument points to a message.
    let (serial, probed) = request::take_message(unsafe { flavour().handle_at(message) })?;
    let datatype = datatype(open.runtime, kind);
    let buffer = datatype.first_byte(kind, buffer);
    let datatype = datatype.number;
    let data = crate::data::buffers::data(open.runtime, p.call.entry, buffer);
    Some((serial, Half { buffer: buffer as u64, count: count(p.call, n), datatype, data, ..probed }))
}
