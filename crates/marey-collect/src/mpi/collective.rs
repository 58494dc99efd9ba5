//! Collective operations: what each member gives and gets, in bytes of data.
//!
//! Bytes are those that the program hands over and takes back, not those that an algorithm moves.
//! A member's own share counts too: it is part of what the arguments say.

use marey_measure::message::{self, Part};
use marey_measure::{Runtime, Scratch, Thread};
use marey_model::spool::op;

use super::call::{Call, Open, Passing, Real};
use super::class::Class;
use super::communicator::{Communicator, communicator, communicator_noun};
use super::datatype::datatype;
use super::flavour::flavour;
use super::point::count;
use super::request::{self, Kind, Request};
use super::start;

/// Blocking collective operations.
#[inline(always)]
pub(crate) unsafe fn blocking<const N: usize>(mut p: Passing<N, impl Real<N>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(communicator_noun(p.comm()), |p, open| {
            // Of what has failed nothing is looked at: a type that is none would end the program.
            let part = if p.pass() { part(&open, p.call, &p.args) } else { None };
            finish(open, part);
        })
    }
}

/// Nonblocking ones; the request is the last argument.
pub(crate) unsafe fn nonblocking<const N: usize>(mut p: Passing<N, impl Real<N>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(communicator_noun(p.comm()), |p, open| {
            let part = if p.pass() { part(&open, p.call, &p.args) } else { None };
            post(open, part, p.args[N - 1]);
        })
    }
}

/// Persistent ones, which a start begins; the request is the last argument.
pub(crate) unsafe fn persistent<const N: usize>(mut p: Passing<N, impl Real<N>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(communicator_noun(p.comm()), |p, open| {
            if p.pass()
                && let Some(part) = part(&open, p.call, &p.args)
            {
                start::prepare(p.args[N - 1], Kind::Collective(part));
            }
            open.finish_plain();
        })
    }
}

/// A part without data in a collective operation on `word`.
pub(crate) fn plain(word: usize) -> Option<Part> {
    communicator(word).map(|known| Part {
        communicator: known.number,
        root: -1,
        bytes_out: 0,
        bytes_in: 0,
        data: [message::NO_DATA; 2],
    })
}

/// Puts `opcode` and the slot of `part`.
///
/// # Safety
/// Inside `write`, with the calling thread's descriptor.
pub(crate) unsafe fn put(
    runtime: &Runtime,
    thread: *mut Thread,
    scratch: &mut Scratch,
    opcode: u8,
    part: &Part,
) {
    // SAFETY: the caller's promise.
    let slot = unsafe { message::collective_slot(runtime, thread, scratch, part) };
    scratch.byte(opcode);
    scratch.byte(slot);
}

/// Leaves the call, which was this part of a collective operation.
///
/// # Safety
/// As for [`Open::finish`].
pub(crate) unsafe fn finish(open: Open, part: Option<Part>) {
    // SAFETY: the caller's promise.
    unsafe {
        open.finish_with_aside(part, |runtime, thread, scratch, part| {
            put(runtime, thread, scratch, op::COLLECTIVE, &part);
        });
    }
}

/// Leaves the call, which began this part; the request at `place` completes it.
///
/// # Safety
/// As for [`Open::finish`]; if there is a part, MPI has stored a request at `place`.
pub(crate) unsafe fn post(open: Open, part: Option<Part>, place: usize) {
    let serial = open.runtime.next_serial();
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(part) = part {
            let handle = flavour().handle_at(place);
            if handle != flavour().request_null {
                let kind = Kind::Collective(part);
                request::insert(handle, Request { kind, serial, persistent: false });
            }
        }
        open.finish_with(part, |runtime, thread, scratch, part| {
            put(runtime, thread, scratch, op::POST_COLLECTIVE, &part);
            message::put_serial(thread, scratch, serial);
        });
    }
}

/// What a member is in an operation with a root. Arguments that are for others hold anything, and are not looked at.
struct Rooted {
    /// Its rank, or −1 for the root's own group of an intercommunicator.
    root: i32,
    /// The arguments of the root count.
    is_root: bool,
    /// Those of who gives to the root, or gets from it, count: within one group those of the root as well.
    is_leaf: bool,
}

/// Reads counts and types of one call.
struct Reader<'a> {
    call: Call,
    runtime: &'a Runtime,
    comm: Communicator,
    args: &'a [usize],
}

impl Reader<'_> {
    /// Bytes of one block: arguments `at` (count) and `at + 1` (type).
    fn block(&self, at: usize) -> u64 {
        self.bytes(self.args[at], self.args[at + 1])
    }

    /// Where nothing is moved, programs say of nothing what type it is of.
    fn bytes(&self, n: usize, kind: usize) -> u64 {
        self.sized(count(self.call, n), kind)
    }

    fn sized(&self, n: u64, kind: usize) -> u64 {
        if n == 0 { 0 } else { n.saturating_mul(datatype(self.runtime, kind).size) }
    }

    /// Sum of an array of counts, one for each member that data go to or come from.
    unsafe fn counts(&self, at: usize, len: usize) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { self.counts_of(at, 0..len) }
    }

    /// The same of some of its places.
    unsafe fn counts_of(&self, at: usize, places: impl Iterator<Item = usize>) -> u64 {
        let place = self.args[at];
        if place == 0 {
            return 0;
        }
        // SAFETY: the standard asks for an array of this length here.
        unsafe {
            if self.call.function().large_count {
                places.map(|idx| (*(place as *const i64).add(idx)).max(0).unsigned_abs()).sum()
            } else {
                places.map(|idx| u64::from((*(place as *const i32).add(idx)).max(0).unsigned_abs())).sum()
            }
        }
    }

    /// Sum over members of count times size of an own type for each.
    unsafe fn counts_of_types(
        &self,
        counts: usize,
        types: usize,
        places: impl Iterator<Item = usize>,
    ) -> u64 {
        let flavour = flavour();
        let (counts, types) = (self.args[counts], self.args[types]);
        if counts == 0 || types == 0 {
            return 0;
        }
        // SAFETY: the standard asks for arrays of this length here.
        unsafe {
            places
                .map(|idx| {
                    let n = if self.call.function().large_count {
                        *(counts as *const i64).add(idx) as usize
                    } else {
                        *(counts as *const i32).add(idx) as usize
                    };
                    self.bytes(n, flavour.handle_at(types + idx * flavour.handle_len()))
                })
                .sum()
        }
    }

    /// Members that data go to or come from: the remote group of an intercommunicator.
    fn others(&self) -> u64 {
        self.comm.remote_size().unwrap_or(self.comm.size).into()
    }

    /// This member's part in what has a root, which the argument `at` is.
    fn rooted(&self, at: usize) -> Rooted {
        let root = flavour().root(self.args[at]);
        match self.comm.remote_size() {
            None => Rooted { root, is_root: root == self.comm.rank as i32, is_leaf: true },
            Some(_) => {
                let is_leaf = root != marey_model::spool::NO_PEER as i32;
                Rooted { root, is_root: !is_leaf && !flavour().is_aside(self.args[at]), is_leaf }
            }
        }
    }

    fn in_place(&self, at: usize) -> bool {
        self.args[at] == flavour().in_place
    }
}

/// This member's part, by the class's arguments. `None` for an unknown communicator.
unsafe fn part(open: &Open, call: Call, args: &[usize]) -> Option<Part> {
    let comm = communicator(args[usize::from(call.function().comm_arg?)])?;
    let r = Reader { call, runtime: open.runtime, comm, args };
    // SAFETY: the arguments are those of the class.
    let (root, bytes_out, bytes_in) = unsafe { bytes(&r, call.function().class) };
    let buffers = buffers(call.function().class).map_or([0; 2], |at| at.map(|at| args[at]));
    let in_place = flavour().in_place;
    // What is given in place lies where the result comes.
    let given = if buffers[0] == in_place { buffers[1] } else { buffers[0] };
    // Of a broadcast there is but one buffer.
    let got = if buffers[1] == in_place { buffers[0] } else { buffers[1] };
    let types = types(call.function().class).map(|at| at.map(|at| args[at]));
    let data = |bytes: u64, buffer: usize| {
        if bytes == 0 {
            return message::NO_DATA;
        }
        let kind = types.map(|types| types[usize::from(buffer != buffers[0])]);
        let first = kind.map_or(buffer, |kind| datatype(open.runtime, kind).first_byte(kind, buffer));
        crate::data::buffers::data(open.runtime, call.entry, first)
    };
    let data = [data(bytes_out, given), data(bytes_in, got)];
    Some(Part { communicator: comm.number, root, bytes_out, bytes_in, data })
}

/// Which arguments are the buffers that data are given from and got into.
fn buffers(class: Class) -> Option<[usize; 2]> {
    use Class as C;
    Some(match class {
        C::Bcast => [0, 0],
        C::Gather | C::Gatherv | C::Scatter | C::Allgather | C::Allgatherv | C::Alltoall => [0, 3],
        C::NeighborAllgather | C::NeighborAllgatherv | C::NeighborAlltoall => [0, 3],
        C::NeighborAlltoallv | C::NeighborAlltoallw => [0, 4],
        C::Scatterv | C::Alltoallv | C::Alltoallw => [0, 4],
        C::Reduce | C::Allreduce | C::Scan | C::Exscan | C::ReduceScatter | C::ReduceScatterBlock => [0, 1],
        _ => return None,
    })
}

/// Which arguments are their types; `None` = there are many.
fn types(class: Class) -> Option<[usize; 2]> {
    use Class as C;
    Some(match class {
        C::Bcast => [2, 2],
        C::Gather | C::Scatter | C::Allgather | C::Alltoall => [2, 5],
        C::NeighborAllgather | C::NeighborAlltoall => [2, 5],
        C::NeighborAllgatherv => [2, 6],
        C::NeighborAlltoallv => [3, 7],
        C::Gatherv | C::Allgatherv => [2, 6],
        C::Scatterv => [3, 6],
        C::Alltoallv => [3, 7],
        C::Reduce | C::Allreduce | C::Scan | C::Exscan | C::ReduceScatter | C::ReduceScatterBlock => [3, 3],
        _ => return None,
    })
}

/// Root (−1 without one), bytes given and bytes got.
unsafe fn bytes(r: &Reader<'_>, class: Class) -> (i32, u64, u64) {
    use Class as C;
    let others = r.others();
    let members = others as usize;
    // SAFETY: the arguments are those of the class.
    unsafe {
        match class {
            C::Bcast => {
                let Rooted { root, is_root, is_leaf } = r.rooted(3);
                let bytes = if is_root || is_leaf { r.block(1) } else { 0 };
                if is_root { (root, bytes, 0) } else { (root, 0, bytes) }
            }
            C::Gather | C::Gatherv => {
                let Rooted { root, is_root, is_leaf } = r.rooted(if class == C::Gather { 6 } else { 7 });
                let given = if is_leaf && !r.in_place(0) { r.block(1) } else { 0 };
                let got = match class {
                    _ if !is_root => 0,
                    C::Gather => r.block(4).saturating_mul(others),
                    _ => r.sized(r.counts(4, members), r.args[6]),
                };
                (root, given, got)
            }
            C::Scatter | C::Scatterv => {
                let block = if class == C::Scatter { 3 } else { 4 };
                let Rooted { root, is_root, is_leaf } = r.rooted(block + 3);
                let given = match class {
                    _ if !is_root => 0,
                    C::Scatter => r.block(1).saturating_mul(others),
                    _ => r.sized(r.counts(1, members), r.args[3]),
                };
                (root, given, if is_leaf && !r.in_place(block) { r.block(block + 1) } else { 0 })
            }
            C::Allgather => {
                (-1, if r.in_place(0) { r.block(4) } else { r.block(1) }, r.block(4).saturating_mul(others))
            }
            C::Allgatherv => {
                let got = r.sized(r.counts(4, members), r.args[6]);
                (-1, if r.in_place(0) { 0 } else { r.block(1) }, got)
            }
            C::Alltoall => {
                let got = r.block(4).saturating_mul(others);
                (-1, if r.in_place(0) { got } else { r.block(1).saturating_mul(others) }, got)
            }
            C::Alltoallv => {
                let got = r.sized(r.counts(5, members), r.args[7]);
                let given = if r.in_place(0) { got } else { r.sized(r.counts(1, members), r.args[3]) };
                (-1, given, got)
            }
            C::Alltoallw => {
                let got = r.counts_of_types(5, 7, 0..members);
                (-1, if r.in_place(0) { got } else { r.counts_of_types(1, 3, 0..members) }, got)
            }
            C::Reduce => {
                let Rooted { root, is_root, is_leaf } = r.rooted(5);
                let bytes = if is_root || is_leaf { r.block(2) } else { 0 };
                (root, if is_leaf { bytes } else { 0 }, if is_root { bytes } else { 0 })
            }
            C::Allreduce | C::Scan | C::Exscan => {
                let bytes = r.block(2);
                (-1, bytes, bytes)
            }
            C::ReduceScatter => {
                let total = r.sized(r.counts(2, r.comm.size as usize), r.args[3]);
                let own = r.sized(r.own_count(2), r.args[3]);
                (-1, total, own)
            }
            C::ReduceScatterBlock => {
                let bytes = r.block(2);
                (-1, bytes.saturating_mul(u64::from(r.comm.size)), bytes)
            }
            C::NeighborAllgather
            | C::NeighborAllgatherv
            | C::NeighborAlltoall
            | C::NeighborAlltoallv
            | C::NeighborAlltoallw => {
                let all = r.comm.neighbours();
                let (to, from) = (|| all.present(all.destinations), || all.present(all.sources));
                let given = match class {
                    C::NeighborAlltoall => r.block(1).saturating_mul(all.number(all.destinations)),
                    C::NeighborAlltoallv => r.sized(r.counts_of(1, to()), r.args[3]),
                    C::NeighborAlltoallw => r.counts_of_types(1, 3, to()),
                    // As of `MPI_Allgather`, once for all.
                    _ => r.block(1),
                };
                let got = match class {
                    C::NeighborAllgather | C::NeighborAlltoall => {
                        r.block(4).saturating_mul(all.number(all.sources))
                    }
                    C::NeighborAllgatherv => r.sized(r.counts_of(4, from()), r.args[6]),
                    C::NeighborAlltoallv => r.sized(r.counts_of(5, from()), r.args[7]),
                    _ => r.counts_of_types(5, 7, from()),
                };
                (-1, given, got)
            }
            _ => (-1, 0, 0),
        }
    }
}

impl Reader<'_> {
    unsafe fn own_count(&self, at: usize) -> u64 {
        let (place, rank) = (self.args[at], self.comm.rank as usize);
        // SAFETY: the standard asks for a count for each member here.
        unsafe {
            if self.call.function().large_count {
                (*(place as *const i64).add(rank)).max(0).unsigned_abs()
            } else {
                u64::from((*(place as *const i32).add(rank)).max(0).unsigned_abs())
            }
        }
    }
}
