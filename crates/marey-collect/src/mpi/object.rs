//! Windows of one-sided communication, files and datatypes.

use marey_measure::{Runtime, Scratch};
use marey_model::spool::{Definition, RmaKind, op, zigzag};

use super::FUNCTIONS;
use super::class::Class;
use super::collective::{self, plain};
use super::communicator::{communicator, communicator_noun, text};
use super::datatype::{self, datatype};
use super::flavour::flavour;
use super::handles::Handles;
use super::point::count;
use super::wrap::{Call, Open, local};
use crate::site;

/// A window or file that records name.
struct Object {
    number: u32,
    noun: u32,
}

static WINDOWS: Handles<Object> = Handles::new();
static FILES: Handles<Object> = Handles::new();

/// The noun of sites that act on the window `word`.
pub(crate) fn window_noun(word: usize) -> u32 {
    WINDOWS.get(flavour().handle(word)).map_or(u32::MAX, |known| known.noun)
}

/// The noun of sites that act on the file `word`.
pub(crate) fn file_noun(word: usize) -> u32 {
    FILES.get(flavour().handle(word)).map_or(u32::MAX, |known| known.noun)
}

/// `(datatype)`, by pointer.
pub(crate) unsafe fn type_free<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        datatype::freed(flavour().handle_at(args[0]));
        local(call, args, f)
    }
}

/// `(datatype, type_name)`.
pub(crate) unsafe fn type_set_name<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        datatype::renamed(flavour().handle(args[0]));
        local(call, args, f)
    }
}

/// All functions that make a window; it is the last argument.
pub(crate) unsafe fn win_create<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    let function = &FUNCTIONS[call.index];
    let comm = args[usize::from(function.comm_arg.unwrap_or(0))];
    // SAFETY: arguments are those of the class.
    unsafe {
        let Some(open) = call.begin(communicator_noun(comm)) else { return f(args) };
        let result = f(args);
        if result as i32 == 0 {
            let (base, size) = match function.class {
                Class::WinCreate => (args[0], args[1]),
                Class::WinCreateDynamic => (0, 0),
                _ => (*(args[4] as *const usize), args[0]),
            };
            let handle = flavour().handle_at(args[N - 1]);
            define_window(open.runtime, handle, comm, base as u64, size as u64);
        }
        collective::finish(open, &plain(comm));
        result
    }
}

fn define_window(runtime: &Runtime, handle: usize, comm: usize, base: u64, size: u64) {
    let communicator = communicator(comm).map_or(u32::MAX, |known| known.number);
    let number = runtime.define(|definitions| {
        let id = definitions.next_id(14);
        let number = u64::from(id);
        definitions.define(&Definition::Window { id, communicator, number, base, size });
        id
    });
    if let Some(number) = number {
        let noun = site::noun("window", &format!("window {number}"));
        WINDOWS.insert(handle, Box::leak(Box::new(Object { number, noun })));
    }
}

/// `(win)`, by pointer.
pub(crate) unsafe fn win_free<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        let handle = flavour().handle_at(args[0]);
        let Some(open) = call.begin(window_noun(handle)) else { return f(args) };
        WINDOWS.remove(handle);
        let result = f(args);
        open.finish_plain();
        result
    }
}

struct Transfer {
    kind: RmaKind,
    target: i64,
    bytes: u64,
    displacement: i64,
}

unsafe fn finish_rma(open: Open, window: usize, transfer: &Transfer) {
    let window = WINDOWS.get(flavour().handle(window)).map_or(u32::MAX, |known| known.number);
    // SAFETY: the caller's call is under way.
    unsafe {
        open.finish(|_, scratch: &mut Scratch| {
            scratch.byte(op::RMA);
            scratch.byte(transfer.kind as u8);
            scratch.number(window.into());
            scratch.number(zigzag(transfer.target));
            scratch.number(transfer.bytes);
            scratch.number(zigzag(transfer.displacement));
        });
    }
}

/// Put, get and their kin.
pub(crate) unsafe fn transfer<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    use Class as C;
    let function = &FUNCTIONS[call.index];
    let window = args[usize::from(function.win_arg.unwrap_or(0))];
    // SAFETY: arguments are those of the class.
    unsafe {
        let Some(open) = call.begin(window_noun(window)) else { return f(args) };
        let result = f(args);
        let runtime = open.runtime;
        let block = |n: usize, kind: usize| count(call, n) * datatype(runtime, kind).size;
        let (kind, target, displacement, bytes) = match function.class {
            C::Put | C::Rput => (RmaKind::Put, 3, 4, block(args[1], args[2])),
            C::Get | C::Rget => (RmaKind::Get, 3, 4, block(args[1], args[2])),
            C::GetAccumulate | C::RgetAccumulate => (RmaKind::GetAccumulate, 6, 7, block(args[4], args[5])),
            C::FetchAndOp => (RmaKind::FetchAndOp, 3, 4, datatype(runtime, args[2]).size),
            C::CompareAndSwap => (RmaKind::CompareAndSwap, 4, 5, datatype(runtime, args[3]).size),
            _ => (RmaKind::Accumulate, 3, 4, block(args[1], args[2])),
        };
        let target = i64::from(args[target] as i32);
        if result as i32 == 0 && target >= 0 {
            let displacement = args[displacement] as i64;
            finish_rma(open, window, &Transfer { kind, target, bytes, displacement });
        } else {
            open.finish_plain();
        }
        result
    }
}

/// Fences, locks, flushes, and the general active target.
pub(crate) unsafe fn synchronise<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    use Class as C;
    let function = &FUNCTIONS[call.index];
    let window = args[usize::from(function.win_arg.unwrap_or(0))];
    // SAFETY: arguments are those of the class.
    unsafe {
        let Some(open) = call.begin(window_noun(window)) else { return f(args) };
        let result = f(args);
        let (kind, target) = match function.class {
            C::WinFence => (RmaKind::Fence, None),
            C::WinPost => (RmaKind::Post, None),
            C::WinStart => (RmaKind::Start, None),
            C::WinComplete => (RmaKind::Complete, None),
            C::WinLock => (RmaKind::Lock, Some(1)),
            C::WinUnlock => (RmaKind::Unlock, Some(0)),
            C::WinLockAll => (RmaKind::LockAll, None),
            C::WinUnlockAll => (RmaKind::UnlockAll, None),
            C::WinFlush => (RmaKind::Flush, (N == 2).then_some(0)),
            _ => (RmaKind::Wait, None),
        };
        let target = target.map_or(-1, |at: usize| i64::from(args[at] as i32));
        finish_rma(open, window, &Transfer { kind, target, bytes: 0, displacement: 0 });
        result
    }
}

/// `(comm, filename, amode, info, fh)`.
pub(crate) unsafe fn file_open<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        let Some(open) = call.begin(communicator_noun(args[0])) else { return f(args) };
        let result = f(args);
        if result as i32 == 0 {
            let name = text(args[1]);
            let noun = site::noun("file", &name);
            let number = open.runtime.define(|definitions| {
                let id = definitions.next_id(15);
                definitions.define(&Definition::File { id, name });
                id
            });
            if let Some(number) = number {
                FILES.insert(flavour().handle_at(args[4]), Box::leak(Box::new(Object { number, noun })));
            }
        }
        collective::finish(open, &plain(args[0]));
        result
    }
}

/// `(fh)`, by pointer.
pub(crate) unsafe fn file_close<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    // SAFETY: arguments are those of the class.
    unsafe {
        let handle = flavour().handle_at(args[0]);
        let Some(open) = call.begin(file_noun(handle)) else { return f(args) };
        FILES.remove(handle);
        let result = f(args);
        open.finish_plain();
        result
    }
}

/// Reads and writes of all kinds: `(fh, [offset,] buf, count, datatype[, status or request])`.
pub(crate) unsafe fn file_move<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    let function = &FUNCTIONS[call.index];
    // SAFETY: arguments are those of the class.
    unsafe {
        let Some(open) = call.begin(file_noun(args[0])) else { return f(args) };
        let result = f(args);
        // Split operations have no last argument; those with an offset have one more in front.
        let end = if function.class == Class::FileSplitBegin { N } else { N - 1 };
        let bytes = count(call, args[end - 2]) * datatype(open.runtime, args[end - 1]).size;
        let offset = if end == 5 { args[1] as i64 } else { -1 };
        let is_write = function.name.contains("write");
        let file = FILES.get(flavour().handle(args[0])).map_or(u32::MAX, |known| known.number);
        let moved = result as i32 == 0;
        open.finish(|_, scratch| {
            if moved {
                scratch.byte(op::IO);
                scratch.byte(u8::from(is_write));
                scratch.number(file.into());
                scratch.number(bytes);
                scratch.number(zigzag(offset));
            }
        });
        result
    }
}
