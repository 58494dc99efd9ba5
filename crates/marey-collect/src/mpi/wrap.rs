//! The exported functions, `MPI_x` and `PMPI_x`.
//!
//! Fortran reaches MPI through C in every library that is known: Open MPI's Fortran layer calls
//! `PMPI_x`, MPICH's the one or the other. So wrapping both names sees every language, and a call
//! that comes in while the thread is inside MPI already belongs to the first.
//!
//! Which handler a function has is said by the generated table.

use core::ffi::c_int;

use super::call::{Call, Passing, generic};
use super::real::real;
use super::table::for_each_mpi_function;
use crate::entry::noting_jump;
use crate::sample::Span;

/// The handlers, by the names that the table gives them.
mod handlers {
    pub(super) use super::super::call::{generic, local};
    pub(super) use super::super::collective::{
        blocking as collective, nonblocking as icollective, persistent as collective_init,
    };
    pub(super) use super::super::complete::{
        request_free, some, test, testall, testany, wait, waitall, waitany,
    };
    pub(super) use super::super::make::{
        create as comm_create, create_group as comm_create_group, free as comm_free,
        get_parent as comm_get_parent, idup as comm_idup, intercomm_create, merge as intercomm_merge, reach,
        set_name as comm_set_name,
    };
    pub(super) use super::super::object::{
        file_close, file_move, file_open, synchronise, transfer, type_free, type_set_name, win_create,
        win_free,
    };
    pub(super) use super::super::point::{
        irecv, isend, isendrecv, isendrecv_replace, recv, send, sendrecv, sendrecv_replace,
    };
    pub(super) use super::super::probe::{improbe, imrecv, mprobe, mrecv};
    pub(super) use super::super::start::{precv_init, psend_init, recv_init, send_init, start, startall};
    pub(super) use super::super::world::{abort, finalize, init};
}

/// A call whose real function is behind a pointer.
type Pointed<'a, const N: usize> = Passing<N, &'a dyn Fn([usize; N]) -> usize>;

/// A call of which our own work is timed. The real function is behind a pointer, so that the handler is
/// there once for all functions of a class, and not a second time for each.
#[inline(never)]
unsafe fn sample<'a, const N: usize>(
    call: Call,
    args: [usize; N],
    span: &Span,
    real: &'a dyn Fn([usize; N]) -> usize,
    handler: unsafe fn(Pointed<'a, N>) -> usize,
) -> usize {
    // SAFETY: the call is under way, and its arguments are those of the handler's class.
    unsafe { span.sample(call.entry, || handler(Passing::new(call, args, real))) }
}

/// Exports both names of a function; one call in some 256 takes the time of our own work.
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
    ($index:literal, $name:ident, $p_name:ident, $handler:ident, f64, ()) => {
        export!($name, $p_name, {
            type Function = unsafe extern "C" fn() -> f64;

            unsafe extern "C" fn body<const PROFILING: bool>() -> f64 {
                // SAFETY: the address is that of a function of this type.
                unsafe {
                    let function: Function = core::mem::transmute(real($index, PROFILING));
                    Call::of($index).over_at_once(|| u32::MAX, || function())
                }
            }

            unsafe extern "C" fn sampled<const PROFILING: bool>() -> f64 {
                let (call, span) = (Call::of($index), Span::new());
                // SAFETY: as above.
                unsafe {
                    let function: Function = core::mem::transmute(real($index, PROFILING));
                    let handler = || call.over_at_once(|| u32::MAX, || span.around(|| function()));
                    span.sample(call.entry, handler)
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
                    generic(Passing::new(Call::of($index), [], |[]| function(a, b, c, d, e, f)))
                }
            }

            use body as sampled;
        });
    };
    ($index:literal, $name:ident, $p_name:ident, $handler:ident, $ret:ident, ($($arg:ident),*)) => {
        export!($name, $p_name, {
            type Function = unsafe extern "C" fn($($crate::mpi::real::word!($arg)),*) -> usize;

            unsafe extern "C" fn body<const PROFILING: bool>($($arg: usize),*) -> usize {
                // SAFETY: the address is that of a function whose parameters are words; it gets the
                // program's own arguments, or the handler's for them.
                unsafe {
                    let function: Function = core::mem::transmute(real($index, PROFILING));
                    let real = |[$($arg),*]: [usize; _]| function($($arg),*);
                    handlers::$handler(Passing::new(Call::of($index), [$($arg),*], real))
                }
            }

            unsafe extern "C" fn sampled<const PROFILING: bool>($($arg: usize),*) -> usize {
                let (call, span) = (Call::of($index), Span::new());
                // SAFETY: as above.
                unsafe {
                    let function: Function = core::mem::transmute(real($index, PROFILING));
                    let real = |[$($arg),*]: [usize; _]| span.around(|| function($($arg),*));
                    sample(call, [$($arg),*], &span, &real, handlers::$handler)
                }
            }
        });
    };
}

for_each_mpi_function!(wrap);
