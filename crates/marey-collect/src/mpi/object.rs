//! What is done on windows of one-sided communication, files and datatypes.
//!
//! The one idea: whatever is made by a call gets a number and becomes a noun, so that what is done with
//! it says which one it was; transfers say how much and to whom as well.
//!
//! How windows are made is told in `window`, what a datatype measures in `datatype` and how its bytes lie in `layout`, how
//! handles are found again in `handles`.

use marey_measure::message::NO_DATA;
use marey_measure::message::Part;
use marey_measure::{Runtime, Scratch, Thread};
use marey_model::spool::{Definition, DefinitionKind, RmaKind, op, zigzag};

use super::call::{Open, Passing, Real, local};
use super::class::Class;
use super::collective::{finish, plain};
use super::communicator::{communicator, communicator_noun};
use super::datatype::{self, datatype};
use super::flavour::flavour;
use super::handles::{Handles, Known};
use super::layout;
use super::point::count;
use super::real::ask;
use super::window::{window, window_noun};
use crate::site;

/// A window or file that records name.
#[derive(Clone, Copy)]
pub(super) struct Object {
    pub(super) number: u32,
    pub(super) noun: u32,
    /// The number of the communicator that it was made with; `u32::MAX` = none is known.
    pub(super) communicator: u32,
}

impl Object {
    /// A part in the operation of all members by which it is freed: all of them count it where they made it.
    pub(super) fn part(self) -> Option<Part> {
        let communicator = self.communicator;
        (communicator != u32::MAX).then_some(Part {
            communicator,
            root: -1,
            bytes_out: 0,
            bytes_in: 0,
            data: [NO_DATA; 2],
        })
    }
}

impl Known<2> for Object {
    fn words(self) -> [u64; 2] {
        [u64::from(self.number) << 32 | u64::from(self.noun), self.communicator.into()]
    }

    unsafe fn of([word, communicator]: [u64; 2]) -> Self {
        Self { number: (word >> 32) as u32, noun: word as u32, communicator: communicator as u32 }
    }
}

static FILES: Handles<Object, 2> = Handles::new();

/// The noun of sites that act on the file `word`.
pub(crate) fn file_noun(word: usize) -> u32 {
    FILES.get(flavour().handle(word)).map_or(u32::MAX, |known| known.noun)
}

/// `(datatype)`, by pointer.
pub(crate) unsafe fn type_free(p: Passing<1, impl Real<1>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        let handle = flavour().handle_at(p.args[0]);
        datatype::freed(handle);
        layout::freed(handle);
        local(p)
    }
}

/// `(datatype, type_name)`.
pub(crate) unsafe fn type_set_name(p: Passing<2, impl Real<2>>) -> usize {
    datatype::renamed(flavour().handle(p.args[0]));
    // SAFETY: arguments are those of the class.
    unsafe { local(p) }
}

/// A one-sided operation.
#[derive(Clone, Copy)]
struct Rma {
    kind: RmaKind,
    window: usize,
    target: i64,
    bytes: u64,
    displacement: i64,
    /// What the origin's buffer lies in.
    data: u32,
    /// What is meant at the target.
    shape: u32,
}

/// [`Rma::shape`] of what needs none.
const NO_SHAPE: u32 = u32::MAX;

fn put_rma(_: &Runtime, _: *mut Thread, scratch: &mut Scratch, rma: Rma) {
    let window = window(rma.window).map_or(u32::MAX, |known| known.object.number);
    scratch.byte(op::RMA);
    scratch.byte(rma.kind as u8);
    scratch.number(window.into());
    scratch.number(zigzag(rma.target));
    scratch.number(rma.bytes);
    scratch.number(zigzag(rma.displacement));
    scratch.number(rma.data.wrapping_add(1).into());
    scratch.number(rma.shape.wrapping_add(1).into());
}

impl<const N: usize, R: Real<N>> Passing<N, R> {
    /// What a put, a get or one of their kin moved, which has succeeded; `None` = nothing, for there is nobody at the target.
    ///
    /// # Safety
    /// The arguments are those of the class.
    unsafe fn moved(&self, open: &Open, window: usize) -> Option<Rma> {
        use Class as C;
        let (p, runtime) = (self, open.runtime);
        // Where the target's rank stands, with the displacement behind it; count, if there is
        // one, and type. Behind the displacement stand those of the target then.
        let (kind, target, n, datatype_at) = match p.function().class {
            C::Put | C::Rput => (RmaKind::Put, 3, Some(1), 2),
            C::Get | C::Rget => (RmaKind::Get, 3, Some(1), 2),
            C::GetAccumulate | C::RgetAccumulate => (RmaKind::GetAccumulate, 6, Some(4), 5),
            C::FetchAndOp => (RmaKind::FetchAndOp, 3, None, 2),
            C::CompareAndSwap => (RmaKind::CompareAndSwap, 4, None, 3),
            _ => (RmaKind::Accumulate, 3, Some(1), 2),
        };
        let (rank, displacement) = (i64::from(p.args[target] as i32), p.args[target + 1] as i64);
        if rank < 0 {
            return None;
        }
        let count = |at: usize| count(p.call, p.args[at]);
        let size =
            |n: u64, at: usize| if n == 0 { 0 } else { n.saturating_mul(datatype(runtime, p.args[at]).size) };
        let shape = match n {
            Some(_) if 0 < count(target + 2) => layout::shape(runtime, p.args[target + 3], count(target + 2)),
            // One of a predefined type, or nothing.
            _ => NO_SHAPE,
        };
        let bytes = size(n.map_or(1, count), datatype_at);
        // The buffer, and its type. Who only reads gives nothing, so it is what comes that lies somewhere.
        let (buffer, at) = match kind {
            RmaKind::GetAccumulate if flavour().is_no_op(p.args[10]) => (3, 5),
            RmaKind::FetchAndOp if flavour().is_no_op(p.args[5]) => (1, 2),
            RmaKind::CompareAndSwap => (0, 3),
            _ => (0, 2),
        };
        let (buffer, word) = (p.args[buffer], p.args[at]);
        let first = if bytes == 0 { buffer } else { datatype(runtime, word).first_byte(word, buffer) };
        let data = crate::data::buffers::data(runtime, p.call.entry, first);
        Some(Rma { kind, window, target: rank, bytes, displacement, data, shape })
    }
}

/// Put, get and their kin.
pub(crate) unsafe fn transfer<const N: usize>(mut p: Passing<N, impl Real<N>>) -> usize {
    let window = p.window();
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(window_noun(window), |p, open| {
            let done = p.pass();
            // Arguments of what has failed, or goes nowhere, need not be what they should be.
            let rma = done.then(|| p.moved(&open, window)).flatten();
            open.finish_with_aside(rma, put_rma);
        })
    }
}

/// Fences, locks, flushes, and the general active target.
pub(crate) unsafe fn synchronise<const N: usize>(mut p: Passing<N, impl Real<N>>) -> usize {
    use Class as C;
    let window = p.window();
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(window_noun(window), |p, open| {
            p.pass();
            let (kind, target) = match p.function().class {
                C::WinFence => (RmaKind::Fence, None),
                C::WinPost => return finish_group(open, RmaKind::Post, window, p.args[0]),
                C::WinStart => return finish_group(open, RmaKind::Start, window, p.args[0]),
                C::WinComplete => (RmaKind::Complete, None),
                // It polls: only the one that finds the epoch over ends it.
                C::WinTest if *(p.args[1] as *const i32) == 0 => return open.finish_plain(),
                C::WinLock if flavour().is_exclusive(p.args[0]) => (RmaKind::ExclusiveLock, Some(1)),
                C::WinLock => (RmaKind::SharedLock, Some(1)),
                C::WinUnlock => (RmaKind::Unlock, Some(0)),
                C::WinLockAll => (RmaKind::LockAll, None),
                C::WinUnlockAll => (RmaKind::UnlockAll, None),
                C::WinFlush => (RmaKind::Flush, (N == 2).then_some(0)),
                _ => (RmaKind::Wait, None),
            };
            let target = target.map_or(-1, |at: usize| i64::from(p.args[at] as i32));
            open.finish_with_aside(
                Some(Rma { kind, window, target, bytes: 0, displacement: 0, data: NO_DATA, shape: NO_SHAPE }),
                put_rma,
            );
        })
    }
}

/// Leaves a call that names the processes of a group, with a record for each of them; one for none if they are not known,
/// or if all that is kept is how long the call took.
unsafe fn finish_group(open: Open, kind: RmaKind, window: usize, group: usize) {
    let rma =
        |target: i64| Rma { kind, window, target, bytes: 0, displacement: 0, data: NO_DATA, shape: NO_SHAPE };
    let members = if open.is_recorded() { members_in(window, group) } else { Vec::new() };
    // SAFETY: the caller's promise; a record is far shorter than what there is room for.
    unsafe {
        let Some((&last, others)) = members.split_last() else {
            return open.finish_with_aside(Some(rma(-1)), put_rma);
        };
        for &rank in others {
            open.record(|runtime, thread, scratch| put_rma(runtime, thread, scratch, rma(rank.into())));
        }
        open.finish_with_aside(Some(rma(last.into())), put_rma);
    }
}

/// Ranks in the communicator of a window of a group's members.
fn members_in(window: usize, group: usize) -> Vec<i32> {
    let mut size = 0_i32;
    ask!(PMPI_Group_size(group, &raw mut size));
    let size = usize::try_from(size).unwrap_or(0);
    let ranks: Vec<i32> = (0..size).map(|rank| rank as i32).collect();
    let mut there = vec![-1_i32; size];
    let mut all = 0_usize;
    if ask!(PMPI_Win_get_group(window, &raw mut all)) {
        let all_of_window = flavour().handle(all);
        ask!(PMPI_Group_translate_ranks(group, size, ranks.as_ptr(), all_of_window, there.as_mut_ptr()));
        ask!(PMPI_Group_free(&raw mut all));
    }
    there.retain(|rank| 0 <= *rank);
    there
}

/// `(comm, filename, amode, info, fh)`.
pub(crate) unsafe fn file_open(mut p: Passing<5, impl Real<5>>) -> usize {
    let [comm, name, _, _, place] = p.args;
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(communicator_noun(comm), |p, open| {
            let opened = p.pass_on_file();
            if opened {
                define_file(open.runtime, flavour().handle_at(place), comm, text(name));
            }
            finish(open, plain(comm).filter(|_| opened));
        })
    }
}

fn define_file(runtime: &Runtime, handle: usize, comm: usize, name: String) {
    let communicator = communicator(comm).map_or(u32::MAX, |known| known.number);
    let noun = site::noun("file", &name);
    let number = runtime.define(|definitions| {
        let id = definitions.next_id(DefinitionKind::File);
        definitions.define(&Definition::File { id, name });
        id
    });
    if let Some(number) = number {
        FILES.insert(handle, Object { number, noun, communicator });
    }
}

/// A C string argument, at most 4096 bytes.
pub(crate) unsafe fn text(at: usize) -> String {
    if at == 0 {
        return String::new();
    }
    // SAFETY: MPI's strings end with a zero byte; a longer one is cut.
    unsafe {
        let len = libc::strnlen(at as *const _, 4096);
        String::from_utf8_lossy(core::slice::from_raw_parts(at as *const u8, len)).into_owned()
    }
}

/// `(fh)`, by pointer.
pub(crate) unsafe fn file_close(mut p: Passing<1, impl Real<1>>) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        let handle = flavour().handle_at(p.args[0]);
        p.record(file_noun(handle), |p, open| {
            let part = FILES.remove(handle).and_then(Object::part);
            let is_closed = p.pass_on_file();
            finish(open, part.filter(|_| is_closed));
        })
    }
}

/// Reads and writes of all kinds: `(fh, [offset,] buf, count, datatype[, status or request])`.
pub(crate) unsafe fn file_move<const N: usize>(mut p: Passing<N, impl Real<N>>) -> usize {
    let file = p.args[0];
    // SAFETY: arguments are those of the class.
    unsafe {
        p.record(file_noun(file), |p, open| {
            let moved = p.pass_on_file().then(|| {
                // Split operations have no last argument; those with an offset have one more in front.
                let end = if p.function().class == Class::FileSplitBegin { N } else { N - 1 };
                let size = datatype(open.runtime, p.args[end - 1]).size;
                let bytes = count(p.call, p.args[end - 2]).saturating_mul(size);
                (bytes, if end == 5 { p.args[1] as i64 } else { -1 })
            });
            let is_write = p.function().name.contains("write");
            open.finish_with_aside(moved, |_, _, scratch, (bytes, offset)| {
                let file = FILES.get(flavour().handle(file)).map_or(u32::MAX, |known| known.number);
                scratch.byte(op::IO);
                scratch.byte(u8::from(is_write));
                scratch.number(file.into());
                scratch.number(bytes);
                scratch.number(zigzag(offset));
            });
        })
    }
}
