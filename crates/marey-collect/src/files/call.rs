//! A call from its beginning to its end.
//!
//! The one idea: a call is entered with its file before it is made, and left with what it has moved. Only which file
//! is opened is known when that is done; so opening is announced, and written down when it is over.
//!
//! A handler of signals may come at any time: what it calls while our own code runs is passed on and counted as not
//! recorded. A call that is left by a jump is over when the next one comes from further out.

use core::ffi::{CStr, c_char, c_int};

use marey_measure::{Kept, Mode, Runtime, Scratch, Thread, sys};
use marey_model::IoKind;
use marey_model::spool::{op, zigzag};

use super::descriptors::{self, File, Moved};
use super::table::{CALLS, FUNCTIONS, Gives, Moves, NO_POINTER, On, Place, Row};
use super::{change, is_active, names};
use crate::c_library::inside::{self, BeneathMpi, Calls, Inside};
use crate::c_library::ours;
use crate::c_library::wrapper::Frame;
use crate::entry::Entry;
use crate::own::{Own, local};
use crate::process;
use crate::site::{self, FILE_FUNCTIONS, What};

/// What is pending during a call.
#[derive(Clone, Copy)]
struct Call {
    how: How,
    /// The thread is recorded, even if the call is not.
    is_recorded: bool,
    fd: c_int,
    file: Option<File>,
    thread: *mut Thread,
    site: u32,
    /// The place in a stream, or when the call began, ticks.
    before: i64,
    /// Where the frame keeps what the thread was in before.
    outer: *mut Inside,
}
const _: () = assert!(size_of::<Call>() <= 80);

/// What becomes of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// Nothing.
    Passed,
    /// It is not recorded; what it does to descriptors is noted.
    Noted,
    /// It has been entered.
    Entered,
    /// It has been entered, to be timed only.
    Timed,
    /// It has been announced.
    Announced,
    /// It is recorded when it is over, by its beginning.
    Late,
}

/// What is done before the real function, whose address this returns.
pub(crate) unsafe extern "C" fn before(frame: *mut Frame, index: usize) -> usize {
    let row = &FUNCTIONS[index];
    // SAFETY: the frame is that of the call, which is under way.
    unsafe {
        let mut call = Call {
            how: How::Passed,
            is_recorded: false,
            fd: -1,
            file: None,
            thread: core::ptr::null_mut(),
            site: u32::MAX,
            before: -1,
            outer: (*frame).outer.as_mut_ptr(),
        };
        if is_active() && !ours::is_ours(*((*frame).sp as *const usize)) {
            if (*local()).own == 0 {
                let _own = Own::begin();
                call.begin(&*frame, index, row);
            } else {
                ours::count_missed();
                call.note(&*frame, row);
            }
        }
        (*frame).pending.as_mut_ptr().cast::<Call>().write(call);
    }
    CALLS.address(row.to)
}

/// What is done when the real function has returned.
pub(crate) unsafe extern "C" fn after(frame: *mut Frame, index: usize) {
    // SAFETY: `before` has filled the frame.
    unsafe {
        let call = (*frame).pending.as_ptr().cast::<Call>().read();
        let row = &FUNCTIONS[index];
        if call.how == How::Passed {
            return;
        }
        // What is left does nothing that a handler of signals must not see.
        let _own = (row.kind == Some(IoKind::Open) || row.moves == Moves::Scanned).then(Own::begin);
        call.end(&*frame, row, index);
    }
}

/// The descriptor that a function acts on; −1 for none.
unsafe fn descriptor(on: On, args: &[usize; 6]) -> c_int {
    if let On::Fd(at) = on {
        return args[usize::from(at)] as c_int;
    }
    match stream(on, args) {
        // All of them.
        0 => -1,
        // SAFETY: the argument is a stream.
        stream => unsafe { libc::fileno(stream as *mut libc::FILE) },
    }
}

/// The stream that a function acts on; 0 for none.
fn stream(on: On, args: &[usize; 6]) -> usize {
    match on {
        On::Stream(at) => args[usize::from(at)],
        On::Again => args[2],
        // SAFETY: the C library's own variables.
        On::Input => unsafe { stdin as usize },
        // SAFETY: as above.
        On::Output => unsafe { stdout as usize },
        _ => 0,
    }
}

unsafe extern "C" {
    static stdin: *mut libc::FILE;
    static stdout: *mut libc::FILE;
}

impl Call {
    /// Notes what a call does to descriptors that comes in a moment in which nothing can be recorded.
    unsafe fn note(&mut self, frame: &Frame, row: &Row) {
        // SAFETY: the caller's promise: the frame is that of a call which is under way.
        unsafe {
            match row.on {
                On::Table(change) => change::before(change, &frame.args),
                On::Fd(_) if row.kind == Some(IoKind::Close) => {
                    descriptors::forget(descriptor(row.on, &frame.args));
                }
                _ => return,
            }
        }
        self.how = How::Noted;
    }

    unsafe fn begin(&mut self, frame: &Frame, index: usize, row: &Row) {
        let args = &frame.args;
        let entry = Entry { sp: frame.sp, bp: frame.bp };
        self.how = How::Noted;
        // SAFETY: the caller's promise: the frame is that of a call of the calling thread, which is under way.
        unsafe {
            let recorded = inside::recorded(frame.sp, BeneathMpi::OnFiles);
            match row.on {
                On::Table(change) => return change::before(change, args),
                On::Path(_) | On::PathAt(_) | On::Again => {
                    if row.on == On::Again {
                        descriptors::forget(descriptor(row.on, args));
                    }
                    if let Some((runtime, thread)) = recorded {
                        self.is_recorded = true;
                        self.announce(runtime, thread, entry, index);
                    }
                    return;
                }
                _ => self.fd = descriptor(row.on, args),
            }
            self.file = match recorded {
                // To ask what was never used is too much for its end.
                Some((runtime, _)) if row.kind != Some(IoKind::Close) => descriptors::find(runtime, self.fd),
                _ => descriptors::known(self.fd),
            };
            if row.kind == Some(IoKind::Close) {
                descriptors::forget(self.fd);
            } else if !matches!(row.on, On::Fd(_)) {
                descriptors::is_of_stream(self.fd);
            }
            let Some((_, thread)) = recorded else { return };
            // It asks the kernel, which a filter may forbid.
            if row.moves == Moves::Scanned && !sys::is_refrained(libc::SYS_lseek) {
                self.before = libc::ftello(stream(row.on, args) as *mut libc::FILE);
            }
            self.enter(thread, entry, index);
        }
    }

    /// Enters the call.
    unsafe fn enter(&mut self, thread: *mut Thread, entry: Entry, index: usize) {
        // SAFETY: the caller's promise; the descriptor is the calling thread's.
        unsafe {
            inside::end_left(thread, entry.sp);
            let Some(site) = site(thread, index, self.file, entry) else { return };
            self.how = match Thread::mode(thread, site) {
                Mode::Trace => How::Entered,
                Mode::Time => How::Timed,
                Mode::Count => return marey_measure::count(thread, site),
                Mode::Off | Mode::Unknown => return,
            };
            // First this: a jump out of a handler that comes now ends what is not there yet, and not the other way
            // round.
            self.go_inside(thread, entry, site);
            match self.how {
                How::Timed => marey_measure::enter_timed(thread, site, Kept::Timed),
                _ => marey_measure::enter(thread, site),
            }
        }
    }

    unsafe fn go_inside(&mut self, thread: *mut Thread, entry: Entry, site: u32) {
        (self.thread, self.site) = (thread, site);
        // SAFETY: the caller's promise: the frame is the call's.
        unsafe { inside::go_inside(entry.sp, site, Calls::Seen, self.outer) };
    }

    /// Announces a call that opens a file.
    unsafe fn announce(&mut self, runtime: &Runtime, thread: *mut Thread, entry: Entry, index: usize) {
        // SAFETY: the caller's promise; the descriptor is the calling thread's.
        unsafe {
            inside::end_left(thread, entry.sp);
            let Some(brief) = brief(runtime, index) else { return marey_measure::count_unrecorded(thread) };
            match Thread::mode(thread, brief) {
                Mode::Trace if Thread::is_ready(thread) => {
                    self.how = How::Announced;
                    self.go_inside(thread, entry, brief);
                    let words = [entry.sp, entry.bp, function(index) as usize, 0];
                    marey_measure::announce(thread, brief, words, inside::announced_site);
                }
                Mode::Off | Mode::Unknown => {}
                _ => {
                    (self.how, self.thread) = (How::Late, thread);
                    self.before = marey_measure::now(thread).cast_signed();
                }
            }
        }
    }

    unsafe fn end(mut self, frame: &Frame, row: &Row, index: usize) {
        let (args, entry) = (&frame.args, Entry { sp: frame.sp, bp: frame.bp });
        let result = succeeded(row, frame.result);
        // SAFETY: the caller's promise: the call has returned, and the frame is its own.
        unsafe {
            match row.on {
                On::Table(change) => return change::after(change, args, frame.result as c_int),
                On::Path(_) | On::PathAt(_) | On::Again => {
                    self.open(row, args, result);
                    return self.leave_open(entry, index, result.is_some());
                }
                _ => {}
            }
            let bytes = result.map(|result| self.bytes(row, args, result));
            let offset = bytes.map_or(-1, |bytes| self.place(row, args, (result.unwrap_or(0), bytes)));
            let Some(kind) = row.kind.filter(|_| self.how != How::Noted) else { return };
            // A handler of signals has forked, and this is the child: the call was its parent's.
            if process::running().is_none() {
                return inside::come_out(self.outer);
            }
            let definition = self.definition();
            let put = |_: *mut Thread, scratch: &mut Scratch| {
                if let Some(bytes) = bytes {
                    put(scratch, kind, definition, (bytes, offset));
                }
            };
            match self.how {
                How::Timed => marey_measure::leave_timed_with(self.thread, Kept::Timed, put),
                _ => marey_measure::leave_with(self.thread, put),
            }
            inside::come_out(self.outer);
        }
    }

    fn definition(&self) -> u32 {
        self.file.map_or(u32::MAX, |file| file.name.definition())
    }

    /// How many bytes a call has moved that succeeded.
    unsafe fn bytes(&self, row: &Row, args: &[usize; 6], result: u64) -> u64 {
        let len = |text: usize| match text {
            0 => 0,
            // SAFETY: what has been read or written is a text.
            text => unsafe { CStr::from_ptr(text as *const c_char) }.count_bytes() as u64,
        };
        match row.moves {
            Moves::Nothing => 0,
            Moves::Result => result,
            Moves::Items(size) => result.saturating_mul(args[usize::from(size)] as u64),
            Moves::Text => len(result as usize),
            Moves::Given(more) => len(args[0]) + u64::from(more),
            Moves::Scanned => {
                if self.before < 0 || sys::is_refrained(libc::SYS_lseek) {
                    return 0;
                }
                // SAFETY: the stream that has been read.
                let now = unsafe { libc::ftello(stream(row.on, args) as *mut libc::FILE) };
                u64::try_from(now - self.before).unwrap_or(0)
            }
        }
    }

    /// Where a call has moved `bytes`; −1 where that is not known.
    fn place(&self, row: &Row, args: &[usize; 6], (result, bytes): (u64, u64)) -> i64 {
        let here = || self.file.map_or(-1, |file| file.advance(self.fd, bytes));
        match row.place {
            Place::Hidden => -1,
            Place::Here => here(),
            Place::At(at) => match args[usize::from(at)] as i64 {
                -1 => here(),
                place => place,
            },
            Place::Returned => {
                if let Some(file) = self.file {
                    file.is_at(result.cast_signed());
                }
                result.cast_signed()
            }
            Place::Both(to, from, pointer) => {
                let from = args[usize::from(from)] as c_int;
                if args[usize::from(pointer)] == 0
                    && let Some(file) = descriptors::known(from)
                {
                    file.advance(from, bytes);
                }
                if to == NO_POINTER || args[usize::from(to)] == 0 { here() } else { -1 }
            }
        }
    }

    /// Notes what has been opened.
    unsafe fn open(&mut self, row: &Row, args: &[usize; 6], result: Option<u64>) {
        let is_stream = row.gives == Gives::Pointer;
        let (from, path) = match row.on {
            On::PathAt(at) => (args[usize::from(at) - 1] as c_int, usize::from(at)),
            _ => (libc::AT_FDCWD, 0),
        };
        let runtime = process::running().filter(|_| self.is_recorded);
        let Some(result) = result else {
            let name = runtime.and_then(|runtime| names::number(runtime, b"(not opened)"));
            self.file = name.map(File::without_descriptor);
            return;
        };
        // SAFETY: the call has succeeded, so its path is one, and a stream is one.
        unsafe {
            self.fd = if is_stream { libc::fileno(result as *mut libc::FILE) } else { result as c_int };
            let name = runtime.filter(|_| args[path] != 0).and_then(|runtime| {
                let path = CStr::from_ptr(args[path] as *const c_char).to_bytes();
                names::opened(runtime, self.fd, from, path)
            });
            let Some(name) = name else { return descriptors::forget(self.fd) };
            let is_appended = args[path + 1] as c_int & libc::O_APPEND != 0;
            let moved = if is_stream || is_appended { Moved::ByOthers } else { Moved::ByUs };
            descriptors::opened(self.fd, name, moved);
            self.file = Some(File::without_descriptor(name));
        }
    }

    /// Records a call that has opened a file, or failed to.
    unsafe fn leave_open(&self, entry: Entry, index: usize, is_open: bool) {
        let thread = self.thread;
        if matches!(self.how, How::Noted) {
            return;
        }
        let definition = self.definition();
        let put = |_: *mut Thread, scratch: &mut Scratch| {
            if is_open {
                put(scratch, IoKind::Open, definition, (0, -1));
            }
        };
        // SAFETY: the caller's promise; the descriptor is the calling thread's.
        unsafe {
            if process::running().is_none() {
                if self.how == How::Announced {
                    inside::come_out(self.outer);
                }
                return;
            }
            let ended = marey_measure::now(thread);
            if self.how == How::Announced {
                match marey_measure::settle(thread) {
                    None => marey_measure::leave_with(thread, put),
                    Some(began) => match site(thread, index, self.file, entry) {
                        Some(site) => marey_measure::write_announced(thread, site, began, ended, put),
                        None => marey_measure::withdraw(thread),
                    },
                }
                return inside::come_out(self.outer);
            }
            let Some(site) = site(thread, index, self.file, entry) else { return };
            let began = self.before.cast_unsigned();
            match Thread::mode(thread, site) {
                Mode::Time if marey_measure::add_visit(thread, site, Some(ended.saturating_sub(began))) => {}
                Mode::Time | Mode::Trace => marey_measure::passed(thread, site, began, ended),
                Mode::Count => marey_measure::count(thread, site),
                Mode::Off | Mode::Unknown => {}
            }
        }
    }
}

fn put(scratch: &mut Scratch, kind: IoKind, file: u32, (bytes, offset): (u64, i64)) {
    scratch.byte(op::IO);
    scratch.byte(kind as u8);
    scratch.number(file.into());
    scratch.number(bytes);
    scratch.number(zigzag(offset));
}

/// What a function has returned; `None` if that says that it failed.
fn succeeded(row: &Row, result: usize) -> Option<u64> {
    match row.gives {
        Gives::Int => u64::try_from(result as c_int).ok(),
        Gives::Long => u64::try_from(result as i64).ok(),
        Gives::Pointer => (result != 0).then_some(result as u64),
        Gives::Error => (result as c_int == 0).then_some(0),
        Gives::Nothing => Some(result as u64),
    }
}

/// [`What::function`] of a call.
fn function(index: usize) -> u32 {
    FILE_FUNCTIONS + index as u32
}

/// The site of a call.
unsafe fn site(thread: *mut Thread, index: usize, file: Option<File>, entry: Entry) -> Option<u32> {
    let noun = file.map_or(u32::MAX, |file| file.name.noun());
    // SAFETY: the caller's promise.
    unsafe { inside::site(thread, What { function: function(index), noun }, entry) }
}

fn brief(runtime: &Runtime, index: usize) -> Option<u32> {
    let what = What { function: function(index), noun: u32::MAX };
    CALLS.brief(index, || site::without_stack(runtime, what).map(|site| site.0))
}
