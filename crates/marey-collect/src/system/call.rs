//! A call from its beginning to its end.
//!
//! The one idea: a call that may wait is entered before it is made, so that a process that dies in it was seen to be
//! there. One whose arguments say that it only asks is announced instead, and if nothing has come it is written down
//! together with those before it: programs ask by the hundred thousand.

use marey_measure::{Kept, Mode, Runtime, Thread};

use super::table::{Also, Asks, CALLS, FUNCTIONS, Row};
use crate::c_library::inside::{self, BeneathMpi, Inside};
use crate::c_library::ours;
use crate::c_library::wrapper::Frame;
use crate::entry::Entry;
use crate::own::{Own, local};
use crate::process;
use crate::site::{self, SYSTEM_FUNCTIONS, What};

/// What is pending during a call.
#[derive(Clone, Copy)]
struct Call {
    how: How,
    thread: *mut Thread,
    /// Where the frame keeps what the thread was in before.
    outer: *mut Inside,
}
const _: () = assert!(size_of::<Call>() <= 80);

/// What becomes of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// Nothing.
    Passed,
    /// It has been entered.
    Entered,
    /// It has been entered, to be timed only.
    Timed,
    /// It has been announced.
    Announced,
}

/// What is done before the real function, whose address this returns.
pub(crate) unsafe extern "C" fn before(frame: *mut Frame, index: usize) -> usize {
    let row = &FUNCTIONS[index];
    // SAFETY: the frame is that of the call, which is under way.
    unsafe {
        let outer = (*frame).outer.as_mut_ptr();
        let mut call = Call { how: How::Passed, thread: core::ptr::null_mut(), outer };
        if !ours::is_ours(*((*frame).sp as *const usize)) {
            also(frame, row);
            if super::is_recorded() {
                if (*local()).own == 0 {
                    let _own = Own::begin();
                    call.begin(&*frame, index, row);
                } else {
                    ours::count_missed();
                }
            }
        }
        (*frame).pending.as_mut_ptr().cast::<Call>().write(call);
    }
    CALLS.address(index)
}

/// What is done when the real function has returned.
pub(crate) unsafe extern "C" fn after(frame: *mut Frame, index: usize) {
    // SAFETY: `before` has filled the frame; the call has returned.
    unsafe {
        let call = (*frame).pending.as_ptr().cast::<Call>().read();
        if call.how != How::Passed {
            call.end(&*frame, index);
        }
    }
}

/// Does what is to be done whether the call is recorded or not.
unsafe fn also(frame: *mut Frame, row: &Row) {
    crate::sampler::goes_on();
    // SAFETY: the arguments are the function's, and behind the frame of one that waits for signals there is room for
    // a set.
    unsafe {
        let first = &mut (*frame).args[0];
        match row.also {
            Also::Nothing => {}
            Also::MakesChild => _ = crate::files::FORKS.fetch_add(1, core::sync::atomic::Ordering::Relaxed),
            Also::ClosesStream => crate::files::closes_stream(*first),
            Also::AwaitsSignals => {
                *first = crate::sampler::awaited(*first as *const _, frame.add(1).cast()) as usize;
            }
        }
    }
}

/// Whether a call only asks.
unsafe fn only_asks(asks: Asks, args: &[usize; 6]) -> bool {
    let has = |at: u8, flag: i32| args[usize::from(at)] as i32 & flag != 0;
    match asks {
        Asks::Never => false,
        Asks::NoTime(at) => args[usize::from(at)] as i32 == 0,
        Asks::NoTimeAt(at) => {
            let time = args[usize::from(at)] as *const [i64; 2];
            // SAFETY: the program's own argument, which the C library is about to read. What cannot be a pointer is left
            // to that.
            4096 <= time as usize && unsafe { time.read_unaligned() } == [0, 0]
        }
        Asks::NoHang(at) => has(at, libc::WNOHANG),
        Asks::NoWait(at) => has(at, libc::MSG_DONTWAIT),
    }
}

/// Whether a call that only asked has asked in vain.
fn is_in_vain(asks: Asks, result: usize) -> bool {
    match asks {
        // SAFETY: the thread's own.
        Asks::NoWait(_) => result as i64 == -1 && unsafe { *libc::__errno_location() } == libc::EAGAIN,
        _ => result as i32 == 0,
    }
}

impl Call {
    unsafe fn begin(&mut self, frame: &Frame, index: usize, row: &Row) {
        let entry = Entry { sp: frame.sp, bp: frame.bp };
        // SAFETY: the caller's promise: the frame is that of a call of the calling thread, which is under way.
        unsafe {
            let Some((runtime, thread)) = inside::recorded(frame.sp, BeneathMpi::None) else { return };
            inside::end_left(thread, entry.sp);
            if only_asks(row.asks, &frame.args) && self.announce(runtime, thread, entry, index) {
                return;
            }
            let Some(site) = inside::site(thread, what(index), entry) else { return };
            self.how = match Thread::mode(thread, site) {
                Mode::Trace => How::Entered,
                Mode::Time => How::Timed,
                Mode::Count => return marey_measure::count(thread, site),
                Mode::Off | Mode::Unknown => return,
            };
            self.thread = thread;
            // First this: a jump out of a handler that comes now ends what is not there yet, and not the other way
            // round.
            inside::go_inside(entry.sp, site, row.within(), self.outer);
            match self.how {
                How::Timed => marey_measure::enter_timed(thread, site, Kept::Timed),
                _ => marey_measure::enter(thread, site),
            }
        }
    }

    /// Announces a call that only asks. False if it is to be entered.
    unsafe fn announce(
        &mut self,
        runtime: &Runtime,
        thread: *mut Thread,
        entry: Entry,
        index: usize,
    ) -> bool {
        let brief = CALLS.brief(index, || site::without_stack(runtime, what(index)).map(|site| site.0));
        // SAFETY: the caller's promise; the descriptor is the calling thread's.
        unsafe {
            let Some(brief) = brief.filter(|&brief| Thread::mode(thread, brief) == Mode::Trace) else {
                return false;
            };
            if !Thread::is_ready(thread) {
                return false;
            }
            (self.how, self.thread) = (How::Announced, thread);
            inside::go_inside(entry.sp, brief, inside::Calls::Seen, self.outer);
            let words = [entry.sp, entry.bp, what(index).function as usize, 0];
            marey_measure::announce(thread, brief, words, inside::announced_site);
        }
        true
    }

    unsafe fn end(self, frame: &Frame, index: usize) {
        // SAFETY: the caller's promise: the call has returned, and the frame is its own.
        unsafe {
            // Otherwise a handler of signals has forked, and this is the child: the call was its parent's.
            if process::running().is_some() {
                match self.how {
                    How::Passed => {}
                    How::Entered => marey_measure::leave(self.thread),
                    How::Timed => marey_measure::leave_timed_with(self.thread, Kept::Timed, |_, _| ()),
                    How::Announced => self.write_down(frame, index),
                }
            }
            inside::come_out(self.outer);
        }
    }

    /// Writes down a call that was announced.
    unsafe fn write_down(self, frame: &Frame, index: usize) {
        let thread = self.thread;
        // SAFETY: as in `end`.
        unsafe {
            let ended = marey_measure::now(thread);
            let Some(began) = marey_measure::settle(thread) else { return marey_measure::leave(thread) };
            let is_in_vain = is_in_vain(FUNCTIONS[index].asks, frame.result);
            let _own = Own::begin();
            match inside::site(thread, what(index), Entry { sp: frame.sp, bp: frame.bp }) {
                None => marey_measure::withdraw(thread),
                Some(site) if is_in_vain => marey_measure::write_poll(thread, site, began, ended),
                Some(site) => marey_measure::write_announced(thread, site, began, ended, |_, _| ()),
            }
        }
    }
}

/// What the site of a call is made from.
fn what(index: usize) -> What {
    What { function: SYSTEM_FUNCTIONS + index as u32, noun: u32::MAX }
}
