//! A call of an MPI function from its entry to its end: what all functions have in common.
//!
//! The one idea: a handler gets the arguments and the function that they go on to ([`Passing`]), says
//! what the call acts on, and is asked for the rest only if the call is to be recorded. It makes the
//! real call itself, in the middle of what it has to do before and after.
//!
//! Deliberately absent: what any function's arguments mean.

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering};

use marey_measure::{Kept, Mode, Runtime, Scratch, Thread, current_thread, existing_thread, leave_with};
use marey_model::SiteId;

use super::class::Function;
use super::flavour::{Outcome, STATUS_WORDS, flavour};
use super::table::N_FUNCTIONS;
use super::{FUNCTIONS, communicator, object, window};
use crate::entry::{Entry, slot};
use crate::process;
use crate::site::{self, What};

/// A call of an MPI function.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) index: usize,
    pub(crate) entry: Entry,
}

/// A call that is being recorded. Whoever has one leaves the function by one of the `finish`es.
#[must_use]
pub(crate) struct Open {
    pub(crate) runtime: &'static Runtime,
    pub(crate) thread: *mut Thread,
    pub(super) entry: Entry,
    /// What becomes of it if it is not recorded, because rules say so; `None` if it is.
    pub(super) kept: Option<Kept>,
}

/// The real function, given its arguments.
pub(crate) trait Real<const N: usize>: Fn([usize; N]) -> usize {}

impl<const N: usize, F: Fn([usize; N]) -> usize> Real<N> for F {}

/// A call on its way to the real function.
pub(crate) struct Passing<const N: usize, F> {
    pub(crate) call: Call,
    /// What the real function gets: the program's arguments, or a handler's for them.
    pub(crate) args: [usize; N],
    real: F,
    result: usize,
    /// A status, if the program wants none.
    own: MaybeUninit<[u64; STATUS_WORDS]>,
}

impl<const N: usize, F: Real<N>> Passing<N, F> {
    #[inline(always)]
    pub(super) fn new(call: Call, args: [usize; N], real: F) -> Self {
        Self { call, args, real, result: 0, own: MaybeUninit::uninit() }
    }

    /// Makes the call, which acts on `noun`: by way of `record`, which passes it on and leaves the
    /// function, or unrecorded. What the real function returned.
    ///
    /// # Safety
    /// The call is under way, and its arguments are those that `record` takes them for.
    #[inline(always)]
    pub(crate) unsafe fn record(&mut self, noun: u32, record: impl FnOnce(&mut Self, Open)) -> usize {
        // SAFETY: the caller's promise.
        match unsafe { self.call.begin(noun) } {
            Some(open) => record(self, open),
            None => _ = self.pass(),
        }
        self.result
    }

    /// Makes a call on communicator `comm` that somebody else waits for, and records it when it is over;
    /// with what `put` puts in of what `made` makes of the arguments, if the call succeeds. With it all of the
    /// operation `is_over`, or it is to be completed. What the real function returned.
    ///
    /// # Safety
    /// As for [`Self::record`]; `put` writes whole records, at most 190 bytes.
    #[inline(always)]
    pub(crate) unsafe fn send_off<T: Copy>(
        &mut self,
        comm: usize,
        is_over: bool,
        made: impl Fn(&Self, &Runtime) -> Option<T>,
        put: impl Fn(&Runtime, *mut Thread, &mut Scratch, &T),
    ) -> usize {
        let (call, thread) = (self.call, existing_thread());
        // SAFETY: the caller's promise; the descriptor is the calling thread's. The words are those that
        // `announced_site` takes them for.
        unsafe {
            let Some((runtime, brief)) = call.announceable(thread) else {
                return self.record(communicator::communicator_noun(comm), |p, open| {
                    let made = if p.pass() { made(p, open.runtime) } else { None };
                    let put = |runtime: &Runtime, thread: *mut Thread, scratch: &mut Scratch, made: T| {
                        put(runtime, thread, scratch, &made);
                    };
                    if is_over { open.finish_with_aside(made, put) } else { open.finish_with(made, put) }
                });
            };
            if !call.entry.go_inside() {
                self.pass();
                return self.result;
            }
            let words = [call.entry.sp, call.entry.bp, call.index, comm];
            marey_measure::announce(thread, brief, words, announced_site);
            let is_sent = self.pass();
            let ended = marey_measure::now(thread);
            let made = if is_sent { made(self, runtime) } else { None };
            let records = |thread: *mut Thread, scratch: &mut Scratch| {
                if let Some(made) = &made {
                    put(runtime, thread, scratch, made);
                }
            };
            match marey_measure::settle(thread) {
                None => leave_with(thread, records),
                Some(began) => call.write_down(comm, thread, (began, ended), records),
            }
            call.entry.come_out();
        }
        self.result
    }

    /// [`Self::pass`] for a function that acts on files, as those beneath it do.
    pub(crate) fn pass_on_file(&mut self) -> bool {
        // SAFETY: the slot is the calling thread's own.
        unsafe {
            (*slot()).on_file = 1;
            let has_succeeded = self.pass();
            (*slot()).on_file = 0;
            has_succeeded
        }
    }

    /// Calls the real function. Whether it succeeded.
    #[inline(always)]
    pub(crate) fn pass(&mut self) -> bool {
        self.result = (self.real)(self.args);
        self.result as i32 == 0
    }

    /// What the real function has returned.
    #[inline(always)]
    pub(super) fn result(&self) -> usize {
        self.result
    }

    /// What the call that was passed on has done to an operation that it was to complete.
    #[inline(always)]
    pub(crate) fn outcome(&self) -> Outcome {
        flavour().outcome(self.result as i32)
    }

    /// Where the status at argument `at` will be: ours if the program wants none.
    #[inline(always)]
    pub(crate) fn status(&mut self, at: usize) -> usize {
        if self.args[at] == flavour().status_ignore {
            self.args[at] = self.own.write([0; STATUS_WORDS]).as_mut_ptr() as usize;
        }
        self.args[at]
    }

    /// What is known of the function.
    #[inline(always)]
    pub(crate) fn function(&self) -> &'static Function {
        self.call.function()
    }

    /// The communicator that the arguments name; 0 if they name none.
    #[inline(always)]
    pub(crate) fn comm(&self) -> usize {
        self.named(self.function().comm_arg)
    }

    /// Where the arguments say that a new communicator is to be stored.
    pub(crate) fn comm_place(&self) -> usize {
        self.named(self.function().comm_ptr_arg)
    }

    /// The window that the arguments name.
    pub(crate) fn window(&self) -> usize {
        self.named(self.function().win_arg)
    }

    #[inline(always)]
    fn named(&self, at: Option<u8>) -> usize {
        at.map_or(0, |at| self.args[usize::from(at)])
    }

    /// The communicator, file or window that the arguments name, as a noun.
    #[inline(always)]
    fn noun(&self) -> u32 {
        let function = self.function();
        match (function.comm_arg, function.file_arg, function.win_arg) {
            (Some(at), ..) => communicator::communicator_noun(self.args[usize::from(at)]),
            (_, Some(at), _) => object::file_noun(self.args[usize::from(at)]),
            (.., Some(at)) => window::window_noun(self.args[usize::from(at)]),
            _ => u32::MAX,
        }
    }
}

/// Functions of which only the time is recorded.
pub(super) unsafe fn generic<const N: usize>(mut p: Passing<N, impl Real<N>>) -> usize {
    // SAFETY: nothing is read but what the call acts on.
    unsafe {
        p.record(p.noun(), |p, open| {
            if p.function().file_arg.is_some() {
                p.pass_on_file()
            } else {
                p.pass()
            };
            open.finish_plain();
        })
    }
}

/// Functions that return at once and call nothing of the program. What is to be done is done when the
/// call is over: so it is not part of the time that is recorded, and half of it is saved.
#[inline(always)]
pub(crate) unsafe fn local<const N: usize>(p: Passing<N, impl Real<N>>) -> usize {
    // SAFETY: the call is under way.
    unsafe { p.call.over_at_once(|| p.noun(), || (p.real)(p.args)) }
}

/// The site of an announced call, by its stack pointer, frame pointer, function and communicator.
pub(super) unsafe fn announced_site(thread: *mut Thread, [sp, bp, index, comm]: [usize; 4]) -> Option<u32> {
    let call = Call { index, entry: Entry { sp, bp } };
    // SAFETY: whoever announced the call is the calling thread; if the call is still under way, so that its
    // return address is where it was, its stack can be read.
    unsafe {
        let noun = communicator::communicator_noun(comm);
        let site = if call.entry.is_under_way() {
            call.site(noun, thread)
        } else {
            site::without_stack(Thread::runtime(thread)?, What { function: index as u32, noun })
        };
        let site =
            site.map_or_else(|| BRIEF[index].load(Ordering::Relaxed).checked_sub(1), |site| Some(site.0))?;
        (*slot()).site = site;
        Some(site)
    }
}

/// What becomes of a call in a mode; `None` if it is recorded.
#[inline(always)]
fn kept_of(mode: Mode) -> Option<Kept> {
    match mode {
        Mode::Trace => None,
        Mode::Time => Some(Kept::Timed),
        Mode::Count => Some(Kept::Counted),
        Mode::Off | Mode::Unknown => Some(Kept::Messages),
    }
}

/// A call that is over at once and not to be recorded.
#[cold]
unsafe fn passed_beside(thread: *mut Thread, site: u32, mode: Mode, (began, ended): (u64, u64)) {
    // SAFETY: the caller's promise; the descriptor is the calling thread's.
    unsafe {
        match mode {
            Mode::Time => {
                let took = Some(ended.saturating_sub(began));
                if !marey_measure::add_visit(thread, site, took) {
                    marey_measure::passed(thread, site, began, ended);
                }
            }
            Mode::Count => marey_measure::count(thread, site),
            _ => {}
        }
    }
}

/// For each function the site that only says which it is, plus 1; 0 while there is none.
static BRIEF: [AtomicU32; N_FUNCTIONS] = [const { AtomicU32::new(0) }; N_FUNCTIONS];

impl Call {
    /// The call of `function`, a number of [`super::real::numbered`], that came in last.
    #[inline(always)]
    pub(super) fn of(function: usize) -> Self {
        Self { index: function >> 1, entry: Entry::take() }
    }

    /// What is known of the function.
    #[inline(always)]
    pub(crate) fn function(self) -> &'static Function {
        &FUNCTIONS[self.index]
    }

    /// Enters the function, unless the call comes from inside MPI or nothing is to be recorded.
    ///
    /// One piece of code for all functions: inlined into each of them it would hardly ever be in the
    /// processor's cache when a program calls many different ones.
    ///
    /// # Safety
    /// The call has not returned and is of the calling thread.
    #[inline(never)]
    unsafe fn begin(self, noun: u32) -> Option<Open> {
        let thread = existing_thread();
        // SAFETY: the caller's promise; `thread` is the calling thread's.
        unsafe {
            if !Thread::is_ready(thread) {
                return self.begin_anew(noun);
            }
            if !self.entry.go_inside() {
                return None;
            }
            self.enter(noun, thread)
        }
    }

    /// [`Self::begin`] where the process or the thread is not being recorded yet.
    #[cold]
    unsafe fn begin_anew(self, noun: u32) -> Option<Open> {
        process::runtime_for_mpi()?;
        if !self.entry.go_inside() {
            let thread = existing_thread();
            if !thread.is_null() {
                // A handler of errors, say, that will throw an exception: now the stack can be read.
                // SAFETY: the descriptor is the calling thread's.
                unsafe { marey_measure::enter_announced(thread) };
            }
            return None;
        }
        let thread = current_thread();
        if thread.is_null() {
            self.entry.come_out();
            return None;
        }
        // SAFETY: the caller's promise.
        unsafe { self.enter(noun, thread) }
    }

    #[inline(always)]
    unsafe fn enter(self, noun: u32, thread: *mut Thread) -> Option<Open> {
        // SAFETY: the caller's promise.
        unsafe {
            if let Some(site) = self.site(noun, thread)
                && let Some(runtime) = Thread::runtime(thread)
            {
                let kept = kept_of(Thread::mode(thread, site.0));
                match kept {
                    None => marey_measure::enter(thread, site.0),
                    Some(kept) => marey_measure::enter_timed(thread, site.0, kept),
                }
                (*slot()).site = site.0;
                return Some(Open { runtime, thread, entry: self.entry, kept });
            }
        }
        self.entry.come_out();
        None
    }

    /// The recorder, and the site under which the call can be announced; `None` if it must be entered.
    #[inline(always)]
    pub(super) unsafe fn announceable(self, thread: *mut Thread) -> Option<(&'static Runtime, u32)> {
        // SAFETY: the descriptor is the calling thread's or null.
        unsafe {
            if !Thread::is_ready(thread) {
                return None;
            }
            let runtime = Thread::runtime(thread)?;
            match BRIEF[self.index].load(Ordering::Relaxed) {
                0 => self.define_brief(runtime),
                site => Some((runtime, site - 1)),
            }
            .filter(|&(_, brief)| Thread::mode(thread, brief) == Mode::Trace)
        }
    }

    #[cold]
    fn define_brief(self, runtime: &'static Runtime) -> Option<(&'static Runtime, u32)> {
        let site = site::without_stack(runtime, What { function: self.index as u32, noun: u32::MAX })?;
        BRIEF[self.index].store(site.0 + 1, Ordering::Relaxed);
        Some((runtime, site.0))
    }

    /// Writes down an announced call, which is over and has taken from `began` to `ended`.
    #[inline(always)]
    unsafe fn write_down(
        self,
        comm: usize,
        thread: *mut Thread,
        (began, ended): (u64, u64),
        f: impl FnOnce(*mut Thread, &mut Scratch),
    ) {
        // SAFETY: the caller has settled the announcement on the calling thread.
        unsafe {
            match self.site(communicator::communicator_noun(comm), thread) {
                Some(site) => marey_measure::write_announced(thread, site.0, began, ended, f),
                None => marey_measure::withdraw(thread),
            }
        }
    }

    /// The call's site, if there is one.
    #[inline(always)]
    pub(super) unsafe fn site(self, noun: u32, thread: *mut Thread) -> Option<SiteId> {
        let what = What { function: self.index as u32, noun };
        // SAFETY: the caller's promise.
        unsafe {
            let site = site::find(thread, what, self.entry);
            if site.is_none() {
                marey_measure::count_unrecorded(thread);
            }
            site
        }
    }

    /// Calls `f`, and records it when it is over.
    ///
    /// # Safety
    /// As for [`Self::begin`].
    #[inline(always)]
    pub(super) unsafe fn over_at_once<R>(self, noun: impl Fn() -> u32, f: impl Fn() -> R) -> R {
        let thread = existing_thread();
        // SAFETY: the caller's promise; the descriptor is the calling thread's.
        unsafe {
            if !Thread::is_ready(thread) {
                return self.timed(noun(), f);
            }
            if !self.entry.go_inside() {
                return f();
            }
            let began = marey_measure::now(thread);
            let result = f();
            let ended = marey_measure::now(thread);
            self.passed(noun(), thread, began, ended);
            result
        }
    }

    /// [`Self::over_at_once`] where the process or the thread is not being recorded yet.
    #[cold]
    unsafe fn timed<R>(self, noun: u32, f: impl Fn() -> R) -> R {
        // SAFETY: the caller's promise.
        unsafe {
            let Some(open) = self.begin(noun) else { return f() };
            let result = f();
            open.finish_plain();
            result
        }
    }

    /// Records the whole call, which is over; the inverse of [`Entry::go_inside`] besides.
    ///
    /// # Safety
    /// As for [`Self::begin`]; `thread` is the calling thread's.
    #[inline(never)]
    unsafe fn passed(self, noun: u32, thread: *mut Thread, began: u64, ended: u64) {
        // SAFETY: the caller's promise.
        unsafe {
            if let Some(site) = self.site(noun, thread) {
                match Thread::mode(thread, site.0) {
                    Mode::Trace => marey_measure::passed(thread, site.0, began, ended),
                    mode => passed_beside(thread, site.0, mode, (began, ended)),
                }
            }
        }
        self.entry.come_out();
    }
}

impl Open {
    /// Whether the call is recorded, and not only counted or timed because rules say so.
    pub(crate) fn is_recorded(&self) -> bool {
        self.kept.is_none()
    }

    /// Leaves the function.
    ///
    /// # Safety
    /// As for [`Passing::record`], which gave it.
    #[inline(never)]
    pub(crate) unsafe fn finish_plain(self) {
        // SAFETY: the caller's promise.
        unsafe { self.finish_aside(|_, _| ()) };
    }

    /// Leaves the function, after the records that `f` writes (at most 190 bytes).
    ///
    /// # Safety
    /// As for [`Passing::record`], which gave it, and `f` writes whole records.
    #[inline(always)]
    pub(crate) unsafe fn finish(self, f: impl FnOnce(*mut Thread, &mut Scratch)) {
        // SAFETY: the caller's promise.
        unsafe { leave_with(self.thread, f) };
        self.entry.come_out();
    }

    /// The same for records that can be counted instead of kept, because nothing that comes later refers to
    /// them. What begins or completes an operation is always kept, and its call with it: a message that others
    /// are matched by must not be missing.
    ///
    /// # Safety
    /// As for [`Self::finish`].
    #[inline(always)]
    pub(crate) unsafe fn finish_aside(self, f: impl Fn(*mut Thread, &mut Scratch)) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.kept {
                None => leave_with(self.thread, f),
                Some(kept) => marey_measure::leave_timed_with(self.thread, kept, f),
            }
        }
        self.entry.come_out();
    }

    /// Leaves the function, after the records that `f` writes of `what` if there is anything.
    ///
    /// # Safety
    /// As for [`Self::finish`].
    #[inline(always)]
    pub(crate) unsafe fn finish_with<T>(
        self,
        what: Option<T>,
        f: impl FnOnce(&Runtime, *mut Thread, &mut Scratch, T),
    ) {
        let runtime = self.runtime;
        // SAFETY: the caller's promise.
        unsafe {
            match what {
                Some(what) => self.finish(|thread, scratch| f(runtime, thread, scratch, what)),
                None => self.finish_plain(),
            }
        }
    }

    /// [`Self::finish_aside`] with the records that `f` writes of `what`, if there is anything.
    ///
    /// # Safety
    /// As for [`Self::finish`].
    #[inline(always)]
    pub(crate) unsafe fn finish_with_aside<T: Copy>(
        self,
        what: Option<T>,
        f: impl Fn(&Runtime, *mut Thread, &mut Scratch, T),
    ) {
        let runtime = self.runtime;
        // SAFETY: the caller's promise.
        unsafe {
            match what {
                Some(what) => self.finish_aside(|thread, scratch| f(runtime, thread, scratch, what)),
                None => self.finish_plain(),
            }
        }
    }

    /// Writes records (at most 190 bytes) that belong to the function before it is left.
    ///
    /// # Safety
    /// As for [`Self::finish`].
    #[inline(always)]
    pub(crate) unsafe fn record(&self, f: impl FnOnce(&Runtime, *mut Thread, &mut Scratch)) {
        let runtime = self.runtime;
        // SAFETY: the caller's promise.
        unsafe {
            marey_measure::write(self.thread, marey_measure::ROOM, |thread, scratch| {
                f(runtime, thread, scratch);
            });
        }
    }
}
