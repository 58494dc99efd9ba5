//! The exported functions, `MPI_x` and `PMPI_x`, and what all of them do.
//!
//! Fortran reaches MPI through C in every library that is known: Open MPI's Fortran layer calls
//! `PMPI_x`, MPICH's the one or the other. So wrapping both names sees every language, and a call
//! that comes in while the thread is inside MPI already belongs to the first.

use core::ffi::c_int;

use marey_measure::{Runtime, Scratch, Thread, current_thread, existing_thread, leave_with};

use marey_model::SiteId;

use super::real::real;
use super::table::for_each_mpi_function;
use super::{collective, communicator, complete, object, point, world};
use crate::entry::{Entry, noting_jump};
use crate::process;
use crate::sample::Span;
use crate::site::{self, What};

/// A call of an MPI function.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) index: usize,
    pub(crate) entry: Entry,
}

/// A call that is being recorded.
pub(crate) struct Open {
    pub(crate) runtime: &'static Runtime,
    pub(crate) thread: *mut Thread,
    entry: Entry,
}

impl Call {
    /// The call of function `index` that came in last.
    #[inline(always)]
    fn of(index: usize) -> Self {
        Self { index, entry: Entry::take() }
    }

    /// Enters the function, unless the call comes from inside MPI or nothing is to be recorded.
    ///
    /// One piece of code for all functions: inlined into each of them it would hardly ever be in the
    /// processor's cache when a program calls many different ones.
    ///
    /// # Safety
    /// The call has not returned and is of the calling thread.
    #[inline(never)]
    pub(crate) unsafe fn begin(self, noun: u32) -> Option<Open> {
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
                marey_measure::enter(thread, site.0);
                return Some(Open { runtime, thread, entry: self.entry });
            }
        }
        self.entry.come_out();
        None
    }

    /// The call's site, if it is to be recorded.
    #[inline(always)]
    unsafe fn site(self, noun: u32, thread: *mut Thread) -> Option<SiteId> {
        let what = What { function: self.index as u32, noun };
        // SAFETY: the caller's promise.
        unsafe { site::find(thread, what, self.entry).filter(|site| Thread::traces(thread, site.0)) }
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
                marey_measure::passed(thread, site.0, began, ended);
            }
        }
        self.entry.come_out();
    }
}

impl Open {
    /// Leaves the function.
    ///
    /// # Safety
    /// As for [`Call::begin`].
    #[inline(never)]
    pub(crate) unsafe fn finish_plain(self) {
        // SAFETY: the caller's promise.
        unsafe { leave_with(self.thread, |_, _| ()) };
        self.entry.come_out();
    }

    /// Leaves the function, after the records that `f` writes (at most 190 bytes).
    ///
    /// # Safety
    /// As for [`Call::begin`], and `f` writes whole records.
    #[inline(always)]
    pub(crate) unsafe fn finish(self, f: impl FnOnce(*mut Thread, &mut Scratch)) {
        // SAFETY: the caller's promise.
        unsafe { leave_with(self.thread, f) };
        self.entry.come_out();
    }

    /// Writes records (at most 190 bytes) that belong to the function before it is left.
    ///
    /// # Safety
    /// As for [`Self::finish`].
    #[inline(always)]
    pub(crate) unsafe fn record(&self, f: impl FnOnce(*mut Thread, &mut Scratch)) {
        // SAFETY: the caller's promise.
        unsafe { marey_measure::write(self.thread, marey_measure::ROOM, f) };
    }
}

/// Functions of which only the time is recorded.
unsafe fn generic<const N: usize>(call: Call, args: [usize; N], f: impl Fn([usize; N]) -> usize) -> usize {
    // SAFETY: the call is under way.
    unsafe { timed(call, noun(call, args), || f(args)) }
}

unsafe fn timed<R>(call: Call, noun: u32, f: impl Fn() -> R) -> R {
    // SAFETY: the call is under way.
    unsafe {
        let Some(open) = call.begin(noun) else { return f() };
        let result = f();
        open.finish_plain();
        result
    }
}

/// Functions that return at once and call nothing of the program. What is to be done is done when the
/// call is over: so it is not part of the time that is recorded, and half of it is saved.
#[inline(always)]
pub(crate) unsafe fn local<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    // SAFETY: the call is under way.
    unsafe { over_at_once(call, || noun(call, args), || f(args)) }
}

#[inline(always)]
unsafe fn over_at_once<R>(call: Call, noun: impl Fn() -> u32, f: impl Fn() -> R) -> R {
    let thread = existing_thread();
    // SAFETY: the call is under way, and the descriptor is the calling thread's.
    unsafe {
        if !Thread::is_ready(thread) {
            return timed(call, noun(), f);
        }
        if !call.entry.go_inside() {
            return f();
        }
        let began = marey_measure::now(thread);
        let result = f();
        let ended = marey_measure::now(thread);
        call.passed(noun(), thread, began, ended);
        result
    }
}

/// The communicator, file or window that the arguments name.
#[inline(always)]
fn noun<const N: usize>(call: Call, args: [usize; N]) -> u32 {
    let function = &super::FUNCTIONS[call.index];
    match (function.comm_arg, function.file_arg, function.win_arg) {
        (Some(at), ..) => communicator::communicator_noun(args[usize::from(at)]),
        (_, Some(at), _) => object::file_noun(args[usize::from(at)]),
        (.., Some(at)) => object::window_noun(args[usize::from(at)]),
        _ => u32::MAX,
    }
}

/// `MPI_Wtime` and `MPI_Wtick`, which return a double.
unsafe fn seconds(call: Call, f: impl Fn() -> f64) -> f64 {
    // SAFETY: the call is under way.
    unsafe { over_at_once(call, || u32::MAX, f) }
}

/// A call of which our own work is timed. The real function is behind a pointer, so that the handler is
/// there once for all functions of a class, and not a second time for each.
#[inline(never)]
unsafe fn sample<'a, const N: usize>(
    call: Call,
    args: [usize; N],
    span: &Span,
    f: &'a dyn Fn([usize; N]) -> usize,
    handler: unsafe fn(Call, [usize; N], &'a dyn Fn([usize; N]) -> usize) -> usize,
) -> usize {
    // SAFETY: the call is under way, and its arguments are those of the handler's class.
    unsafe { span.sample(call.entry, || handler(call, args, f)) }
}

/// Which handler reads the arguments of which class.
mod handlers {
    pub(super) use super::collective::{blocking as collective, nonblocking as icollective};
    pub(super) use super::communicator as comm;
    pub(super) use super::complete;
    pub(super) use super::object;
    pub(super) use super::point;
    pub(super) use super::world;
    pub(super) use super::{generic, local};
}

macro_rules! handler {
    (send) => {
        handlers::point::send
    };
    (isend) => {
        handlers::point::isend
    };
    (recv) => {
        handlers::point::recv
    };
    (irecv) => {
        handlers::point::irecv
    };
    (sendrecv) => {
        handlers::point::sendrecv
    };
    (sendrecv_replace) => {
        handlers::point::sendrecv_replace
    };
    (send_init) => {
        handlers::point::send_init
    };
    (recv_init) => {
        handlers::point::recv_init
    };
    (start) => {
        handlers::point::start
    };
    (startall) => {
        handlers::point::startall
    };
    (mprobe) => {
        handlers::point::mprobe
    };
    (improbe) => {
        handlers::point::improbe
    };
    (mrecv) => {
        handlers::point::mrecv
    };
    (imrecv) => {
        handlers::point::imrecv
    };
    (wait) => {
        handlers::complete::wait
    };
    (test) => {
        handlers::complete::test
    };
    (waitall) => {
        handlers::complete::waitall
    };
    (testall) => {
        handlers::complete::testall
    };
    (waitany) => {
        handlers::complete::waitany
    };
    (testany) => {
        handlers::complete::testany
    };
    (waitsome) => {
        handlers::complete::some
    };
    (testsome) => {
        handlers::complete::some
    };
    (request_free) => {
        handlers::complete::request_free
    };
    (barrier) => {
        handlers::collective
    };
    (bcast) => {
        handlers::collective
    };
    (gather) => {
        handlers::collective
    };
    (gatherv) => {
        handlers::collective
    };
    (scatter) => {
        handlers::collective
    };
    (scatterv) => {
        handlers::collective
    };
    (allgather) => {
        handlers::collective
    };
    (allgatherv) => {
        handlers::collective
    };
    (alltoall) => {
        handlers::collective
    };
    (alltoallv) => {
        handlers::collective
    };
    (alltoallw) => {
        handlers::collective
    };
    (reduce) => {
        handlers::collective
    };
    (allreduce) => {
        handlers::collective
    };
    (reduce_scatter) => {
        handlers::collective
    };
    (reduce_scatter_block) => {
        handlers::collective
    };
    (scan) => {
        handlers::collective
    };
    (exscan) => {
        handlers::collective
    };
    (neighbor_allgather) => {
        handlers::collective
    };
    (neighbor_allgatherv) => {
        handlers::collective
    };
    (neighbor_alltoall) => {
        handlers::collective
    };
    (neighbor_alltoallv) => {
        handlers::collective
    };
    (neighbor_alltoallw) => {
        handlers::collective
    };
    (ibarrier) => {
        handlers::icollective
    };
    (ibcast) => {
        handlers::icollective
    };
    (igather) => {
        handlers::icollective
    };
    (igatherv) => {
        handlers::icollective
    };
    (iscatter) => {
        handlers::icollective
    };
    (iscatterv) => {
        handlers::icollective
    };
    (iallgather) => {
        handlers::icollective
    };
    (iallgatherv) => {
        handlers::icollective
    };
    (ialltoall) => {
        handlers::icollective
    };
    (ialltoallv) => {
        handlers::icollective
    };
    (ialltoallw) => {
        handlers::icollective
    };
    (ireduce) => {
        handlers::icollective
    };
    (iallreduce) => {
        handlers::icollective
    };
    (ireduce_scatter) => {
        handlers::icollective
    };
    (ireduce_scatter_block) => {
        handlers::icollective
    };
    (iscan) => {
        handlers::icollective
    };
    (iexscan) => {
        handlers::icollective
    };
    (ineighbor_allgather) => {
        handlers::icollective
    };
    (ineighbor_allgatherv) => {
        handlers::icollective
    };
    (ineighbor_alltoall) => {
        handlers::icollective
    };
    (ineighbor_alltoallv) => {
        handlers::icollective
    };
    (ineighbor_alltoallw) => {
        handlers::icollective
    };
    (comm_create) => {
        handlers::comm::create
    };
    (comm_idup) => {
        handlers::comm::idup
    };
    (comm_create_group) => {
        handlers::comm::create_group
    };
    (intercomm_create) => {
        handlers::comm::intercomm_create
    };
    (intercomm_merge) => {
        handlers::comm::merge
    };
    (comm_spawn) => {
        handlers::comm::reach
    };
    (comm_spawn_multiple) => {
        handlers::comm::reach
    };
    (comm_accept) => {
        handlers::comm::reach
    };
    (comm_connect) => {
        handlers::comm::reach
    };
    (comm_get_parent) => {
        handlers::comm::get_parent
    };
    (comm_free) => {
        handlers::comm::free
    };
    (comm_disconnect) => {
        handlers::comm::free
    };
    (comm_set_name) => {
        handlers::comm::set_name
    };
    (type_set_name) => {
        handlers::object::type_set_name
    };
    (type_free) => {
        handlers::object::type_free
    };
    (init) => {
        handlers::world::init
    };
    (init_thread) => {
        handlers::world::init
    };
    (finalize) => {
        handlers::world::finalize
    };
    (abort) => {
        handlers::world::abort
    };
    (win_create) => {
        handlers::object::win_create
    };
    (win_allocate) => {
        handlers::object::win_create
    };
    (win_allocate_shared) => {
        handlers::object::win_create
    };
    (win_create_dynamic) => {
        handlers::object::win_create
    };
    (win_free) => {
        handlers::object::win_free
    };
    (win_fence) => {
        handlers::object::synchronise
    };
    (win_post) => {
        handlers::object::synchronise
    };
    (win_start) => {
        handlers::object::synchronise
    };
    (win_complete) => {
        handlers::object::synchronise
    };
    (win_wait) => {
        handlers::object::synchronise
    };
    (win_lock) => {
        handlers::object::synchronise
    };
    (win_unlock) => {
        handlers::object::synchronise
    };
    (win_lock_all) => {
        handlers::object::synchronise
    };
    (win_unlock_all) => {
        handlers::object::synchronise
    };
    (win_flush) => {
        handlers::object::synchronise
    };
    (put) => {
        handlers::object::transfer
    };
    (get) => {
        handlers::object::transfer
    };
    (accumulate) => {
        handlers::object::transfer
    };
    (get_accumulate) => {
        handlers::object::transfer
    };
    (fetch_and_op) => {
        handlers::object::transfer
    };
    (compare_and_swap) => {
        handlers::object::transfer
    };
    (rput) => {
        handlers::object::transfer
    };
    (rget) => {
        handlers::object::transfer
    };
    (raccumulate) => {
        handlers::object::transfer
    };
    (rget_accumulate) => {
        handlers::object::transfer
    };
    (file_open) => {
        handlers::object::file_open
    };
    (file_close) => {
        handlers::object::file_close
    };
    (file_read) => {
        handlers::object::file_move
    };
    (file_write) => {
        handlers::object::file_move
    };
    (file_iread) => {
        handlers::object::file_move
    };
    (file_iwrite) => {
        handlers::object::file_move
    };
    (file_split_begin) => {
        handlers::object::file_move
    };
    (local) => {
        handlers::local
    };
    ($other:ident) => {
        handlers::generic
    };
}

/// Exports both names of a function; one call in some 64 takes the time of our own work.
macro_rules! export {
    ($name:ident, $p_name:ident, { $($bodies:item)* }) => {
        const _: () = {
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name() { noting_jump!(body::<false>, sampled::<false>) }

            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $p_name() { noting_jump!(body::<true>, sampled::<true>) }

            $($bodies)*
        };
    };
}

macro_rules! wrap {
    // Open MPI's Fortran layer converts the handles of every call through these; they say nothing
    // about the program.
    ($index:literal, $name:ident, $p_name:ident, convert, $($rest:tt)*) => {};
    ($index:literal, $name:ident, $p_name:ident, $class:ident, f64, ()) => {
        export!($name, $p_name, {
            unsafe extern "C" fn body<const PROFILING: bool>() -> f64 {
                // SAFETY: the address is that of a function of this type.
                unsafe {
                    let function: unsafe extern "C" fn() -> f64 =
                        core::mem::transmute(real($index, PROFILING));
                    seconds(Call::of($index), || function())
                }
            }

            unsafe extern "C" fn sampled<const PROFILING: bool>() -> f64 {
                let (call, span) = (Call::of($index), Span::new());
                // SAFETY: as above.
                unsafe {
                    let function: unsafe extern "C" fn() -> f64 =
                        core::mem::transmute(real($index, PROFILING));
                    span.sample(call.entry, || seconds(call, || span.around(|| function())))
                }
            }
        });
    };
    ($index:literal, $name:ident, $p_name:ident, pcontrol, $($rest:tt)*) => {
        export!($name, $p_name, {
            /// The one variadic function: as many words are passed on as registers may hold.
            unsafe extern "C" fn body<const PROFILING: bool>(
                a: c_int, b: usize, c: usize, d: usize, e: usize, f: usize,
            ) -> usize {
                // SAFETY: the address is that of a function of this type; words that it does not
                // look for are ignored.
                unsafe {
                    let function: unsafe extern "C" fn(c_int, ...) -> usize =
                        core::mem::transmute(real($index, PROFILING));
                    generic(Call::of($index), [0; 0], |[]| function(a, b, c, d, e, f))
                }
            }

            use body as sampled;
        });
    };
    ($index:literal, $name:ident, $p_name:ident, $class:ident, $ret:ident, ($($arg:ident),*)) => {
        export!($name, $p_name, {
            type Function = unsafe extern "C" fn($($crate::mpi::real::word!($arg)),*) -> usize;

            unsafe extern "C" fn body<const PROFILING: bool>($($arg: usize),*) -> usize {
                // SAFETY: the address is that of a function whose parameters are words; it gets the
                // program's own arguments, or the handler's for them.
                unsafe {
                    let function: Function = core::mem::transmute(real($index, PROFILING));
                    handler!($class)(Call::of($index), [$($arg),*], |[$($arg),*]| function($($arg),*))
                }
            }

            unsafe extern "C" fn sampled<const PROFILING: bool>($($arg: usize),*) -> usize {
                let (call, span) = (Call::of($index), Span::new());
                // SAFETY: as above.
                unsafe {
                    let function: Function = core::mem::transmute(real($index, PROFILING));
                    sample(call, [$($arg),*], &span, &|[$($arg),*]| span.around(|| function($($arg),*)), handler!($class))
                }
            }
        });
    };
}

for_each_mpi_function!(wrap);
