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

macro_rules! handle {
    (send, $($c:tt)*) => { handlers::point::send($($c)*) };
    (isend, $($c:tt)*) => { handlers::point::isend($($c)*) };
    (recv, $($c:tt)*) => { handlers::point::recv($($c)*) };
    (irecv, $($c:tt)*) => { handlers::point::irecv($($c)*) };
    (sendrecv, $($c:tt)*) => { handlers::point::sendrecv($($c)*) };
    (sendrecv_replace, $($c:tt)*) => { handlers::point::sendrecv_replace($($c)*) };
    (send_init, $($c:tt)*) => { handlers::point::send_init($($c)*) };
    (recv_init, $($c:tt)*) => { handlers::point::recv_init($($c)*) };
    (start, $($c:tt)*) => { handlers::point::start($($c)*) };
    (startall, $($c:tt)*) => { handlers::point::startall($($c)*) };
    (mprobe, $($c:tt)*) => { handlers::point::mprobe($($c)*) };
    (improbe, $($c:tt)*) => { handlers::point::improbe($($c)*) };
    (mrecv, $($c:tt)*) => { handlers::point::mrecv($($c)*) };
    (imrecv, $($c:tt)*) => { handlers::point::imrecv($($c)*) };
    (wait, $($c:tt)*) => { handlers::complete::wait($($c)*) };
    (test, $($c:tt)*) => { handlers::complete::test($($c)*) };
    (waitall, $($c:tt)*) => { handlers::complete::waitall($($c)*) };
    (testall, $($c:tt)*) => { handlers::complete::testall($($c)*) };
    (waitany, $($c:tt)*) => { handlers::complete::waitany($($c)*) };
    (testany, $($c:tt)*) => { handlers::complete::testany($($c)*) };
    (waitsome, $($c:tt)*) => { handlers::complete::some($($c)*) };
    (testsome, $($c:tt)*) => { handlers::complete::some($($c)*) };
    (request_free, $($c:tt)*) => { handlers::complete::request_free($($c)*) };
    (barrier, $($c:tt)*) => { handlers::collective($($c)*) };
    (bcast, $($c:tt)*) => { handlers::collective($($c)*) };
    (gather, $($c:tt)*) => { handlers::collective($($c)*) };
    (gatherv, $($c:tt)*) => { handlers::collective($($c)*) };
    (scatter, $($c:tt)*) => { handlers::collective($($c)*) };
    (scatterv, $($c:tt)*) => { handlers::collective($($c)*) };
    (allgather, $($c:tt)*) => { handlers::collective($($c)*) };
    (allgatherv, $($c:tt)*) => { handlers::collective($($c)*) };
    (alltoall, $($c:tt)*) => { handlers::collective($($c)*) };
    (alltoallv, $($c:tt)*) => { handlers::collective($($c)*) };
    (alltoallw, $($c:tt)*) => { handlers::collective($($c)*) };
    (reduce, $($c:tt)*) => { handlers::collective($($c)*) };
    (allreduce, $($c:tt)*) => { handlers::collective($($c)*) };
    (reduce_scatter, $($c:tt)*) => { handlers::collective($($c)*) };
    (reduce_scatter_block, $($c:tt)*) => { handlers::collective($($c)*) };
    (scan, $($c:tt)*) => { handlers::collective($($c)*) };
    (exscan, $($c:tt)*) => { handlers::collective($($c)*) };
    (neighbor_allgather, $($c:tt)*) => { handlers::collective($($c)*) };
    (neighbor_allgatherv, $($c:tt)*) => { handlers::collective($($c)*) };
    (neighbor_alltoall, $($c:tt)*) => { handlers::collective($($c)*) };
    (neighbor_alltoallv, $($c:tt)*) => { handlers::collective($($c)*) };
    (neighbor_alltoallw, $($c:tt)*) => { handlers::collective($($c)*) };
    (ibarrier, $($c:tt)*) => { handlers::icollective($($c)*) };
    (ibcast, $($c:tt)*) => { handlers::icollective($($c)*) };
    (igather, $($c:tt)*) => { handlers::icollective($($c)*) };
    (igatherv, $($c:tt)*) => { handlers::icollective($($c)*) };
    (iscatter, $($c:tt)*) => { handlers::icollective($($c)*) };
    (iscatterv, $($c:tt)*) => { handlers::icollective($($c)*) };
    (iallgather, $($c:tt)*) => { handlers::icollective($($c)*) };
    (iallgatherv, $($c:tt)*) => { handlers::icollective($($c)*) };
    (ialltoall, $($c:tt)*) => { handlers::icollective($($c)*) };
    (ialltoallv, $($c:tt)*) => { handlers::icollective($($c)*) };
    (ialltoallw, $($c:tt)*) => { handlers::icollective($($c)*) };
    (ireduce, $($c:tt)*) => { handlers::icollective($($c)*) };
    (iallreduce, $($c:tt)*) => { handlers::icollective($($c)*) };
    (ireduce_scatter, $($c:tt)*) => { handlers::icollective($($c)*) };
    (ireduce_scatter_block, $($c:tt)*) => { handlers::icollective($($c)*) };
    (iscan, $($c:tt)*) => { handlers::icollective($($c)*) };
    (iexscan, $($c:tt)*) => { handlers::icollective($($c)*) };
    (ineighbor_allgather, $($c:tt)*) => { handlers::icollective($($c)*) };
    (ineighbor_allgatherv, $($c:tt)*) => { handlers::icollective($($c)*) };
    (ineighbor_alltoall, $($c:tt)*) => { handlers::icollective($($c)*) };
    (ineighbor_alltoallv, $($c:tt)*) => { handlers::icollective($($c)*) };
    (ineighbor_alltoallw, $($c:tt)*) => { handlers::icollective($($c)*) };
    (comm_create, $($c:tt)*) => { handlers::comm::create($($c)*) };
    (comm_idup, $($c:tt)*) => { handlers::comm::idup($($c)*) };
    (comm_create_group, $($c:tt)*) => { handlers::comm::create_group($($c)*) };
    (intercomm_create, $($c:tt)*) => { handlers::comm::intercomm_create($($c)*) };
    (intercomm_merge, $($c:tt)*) => { handlers::comm::merge($($c)*) };
    (comm_spawn, $($c:tt)*) => { handlers::comm::reach($($c)*) };
    (comm_spawn_multiple, $($c:tt)*) => { handlers::comm::reach($($c)*) };
    (comm_accept, $($c:tt)*) => { handlers::comm::reach($($c)*) };
    (comm_connect, $($c:tt)*) => { handlers::comm::reach($($c)*) };
    (comm_get_parent, $($c:tt)*) => { handlers::comm::get_parent($($c)*) };
    (comm_free, $($c:tt)*) => { handlers::comm::free($($c)*) };
    (comm_disconnect, $($c:tt)*) => { handlers::comm::free($($c)*) };
    (comm_set_name, $($c:tt)*) => { handlers::comm::set_name($($c)*) };
    (type_set_name, $($c:tt)*) => { handlers::object::type_set_name($($c)*) };
    (type_free, $($c:tt)*) => { handlers::object::type_free($($c)*) };
    (init, $($c:tt)*) => { handlers::world::init($($c)*) };
    (init_thread, $($c:tt)*) => { handlers::world::init($($c)*) };
    (finalize, $($c:tt)*) => { handlers::world::finalize($($c)*) };
    (abort, $($c:tt)*) => { handlers::world::abort($($c)*) };
    (win_create, $($c:tt)*) => { handlers::object::win_create($($c)*) };
    (win_allocate, $($c:tt)*) => { handlers::object::win_create($($c)*) };
    (win_allocate_shared, $($c:tt)*) => { handlers::object::win_create($($c)*) };
    (win_create_dynamic, $($c:tt)*) => { handlers::object::win_create($($c)*) };
    (win_free, $($c:tt)*) => { handlers::object::win_free($($c)*) };
    (win_fence, $($c:tt)*) => { handlers::object::synchronise($($c)*) };
    (win_post, $($c:tt)*) => { handlers::object::synchronise($($c)*) };
    (win_start, $($c:tt)*) => { handlers::object::synchronise($($c)*) };
    (win_complete, $($c:tt)*) => { handlers::object::synchronise($($c)*) };
    (win_wait, $($c:tt)*) => { handlers::object::synchronise($($c)*) };
    (win_lock, $($c:tt)*) => { handlers::object::synchronise($($c)*) };
    (win_unlock, $($c:tt)*) => { handlers::object::synchronise($($c)*) };
    (win_lock_all, $($c:tt)*) => { handlers::object::synchronise($($c)*) };
    (win_unlock_all, $($c:tt)*) => { handlers::object::synchronise($($c)*) };
    (win_flush, $($c:tt)*) => { handlers::object::synchronise($($c)*) };
    (put, $($c:tt)*) => { handlers::object::transfer($($c)*) };
    (get, $($c:tt)*) => { handlers::object::transfer($($c)*) };
    (accumulate, $($c:tt)*) => { handlers::object::transfer($($c)*) };
    (get_accumulate, $($c:tt)*) => { handlers::object::transfer($($c)*) };
    (fetch_and_op, $($c:tt)*) => { handlers::object::transfer($($c)*) };
    (compare_and_swap, $($c:tt)*) => { handlers::object::transfer($($c)*) };
    (rput, $($c:tt)*) => { handlers::object::transfer($($c)*) };
    (rget, $($c:tt)*) => { handlers::object::transfer($($c)*) };
    (raccumulate, $($c:tt)*) => { handlers::object::transfer($($c)*) };
    (rget_accumulate, $($c:tt)*) => { handlers::object::transfer($($c)*) };
    (file_open, $($c:tt)*) => { handlers::object::file_open($($c)*) };
    (file_close, $($c:tt)*) => { handlers::object::file_close($($c)*) };
    (file_read, $($c:tt)*) => { handlers::object::file_move($($c)*) };
    (file_write, $($c:tt)*) => { handlers::object::file_move($($c)*) };
    (file_iread, $($c:tt)*) => { handlers::object::file_move($($c)*) };
    (file_iwrite, $($c:tt)*) => { handlers::object::file_move($($c)*) };
    (file_split_begin, $($c:tt)*) => { handlers::object::file_move($($c)*) };
    (local, $($c:tt)*) => { handlers::local($($c)*) };
    ($other:ident, $($c:tt)*) => { handlers::generic($($c)*) };
}

macro_rules! wrap {
    // Open MPI's Fortran layer converts the handles of every call through these; they say nothing
    // about the program.
    ($index:literal, $name:ident, $p_name:ident, convert, $($rest:tt)*) => {};
    ($index:literal, $name:ident, $p_name:ident, $class:ident, f64, ()) => {
        const _: () = {
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name() { noting_jump!(body::<false>) }

            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $p_name() { noting_jump!(body::<true>) }

            unsafe extern "C" fn body<const PROFILING: bool>() -> f64 {
                let call = Call { index: $index, entry: Entry::take() };
                // SAFETY: the address is that of a function of this type.
                unsafe {
                    let function: unsafe extern "C" fn() -> f64 =
                        core::mem::transmute(real($index, PROFILING));
                    seconds(call, || function())
                }
            }
        };
    };
    ($index:literal, $name:ident, $p_name:ident, pcontrol, $($rest:tt)*) => {
        const _: () = {
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name() { noting_jump!(body::<false>) }

            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $p_name() { noting_jump!(body::<true>) }

            /// The one variadic function: as many words are passed on as registers may hold.
            unsafe extern "C" fn body<const PROFILING: bool>(
                a: c_int, b: usize, c: usize, d: usize, e: usize, f: usize,
            ) -> usize {
                let call = Call { index: $index, entry: Entry::take() };
                // SAFETY: the address is that of a function of this type; words that it does not
                // look for are ignored.
                unsafe {
                    let function: unsafe extern "C" fn(c_int, ...) -> usize =
                        core::mem::transmute(real($index, PROFILING));
                    generic(call, [0; 0], |[]| function(a, b, c, d, e, f))
                }
            }
        };
    };
    ($index:literal, $name:ident, $p_name:ident, $class:ident, $ret:ident, ($($arg:ident),*)) => {
        const _: () = {
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name() { noting_jump!(body::<false>) }

            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $p_name() { noting_jump!(body::<true>) }

            unsafe extern "C" fn body<const PROFILING: bool>($($arg: usize),*) -> usize {
                let call = Call { index: $index, entry: Entry::take() };
                // SAFETY: the address is that of a function whose parameters are words; it gets the
                // program's own arguments, or the handler's for them.
                unsafe {
                    let function: unsafe extern "C" fn($($crate::mpi::real::word!($arg)),*) -> usize =
                        core::mem::transmute(real($index, PROFILING));
                    handle!($class, call, [$($arg),*], |[$($arg),*]| function($($arg),*))
                }
            }
        };
    };
}

for_each_mpi_function!(wrap);
