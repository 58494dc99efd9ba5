//! The exported functions, `MPI_x` and `PMPI_x`.
//!
//! Fortran reaches MPI through C in every library that is known: Open MPI's Fortran layer calls
//! `PMPI_x`, MPICH's the one or the other. So wrapping both names sees every language, and a call
//! that comes in while the thread is inside MPI already belongs to the first.
//!
//! Which handler a function has is said by the generated table.

#![cfg_attr(
    feature = "linked",
    expect(non_snake_case, reason = "functions have MPI's names, and symbols made of them")
)]

use core::ffi::c_int;

use super::call::{Call, Passing, generic};
use super::handlers::{Handler, Shared, by_name, sample};
use super::real::{numbered, real};
use super::table::for_each_mpi_function;
use crate::entry::noting_jump;
use crate::sample::Span;

/// Exports both names of a function (where they are linked, stubs jump to it: [`crate::linked`]); one call in
/// some 256 takes the time of our own work.
macro_rules! export {
    ($index:literal, $name:ident, $p_name:ident, $($jump:tt)*) => {
        #[unsafe(naked)]
        #[cfg_attr(not(feature = "linked"), unsafe(no_mangle))]
        #[cfg_attr(feature = "linked", unsafe(export_name = concat!("marey_mpi_", stringify!($name))))]
        unsafe extern "C" fn $name() {
            export! { jump $index, false, $($jump)* }
        }

        #[unsafe(naked)]
        #[cfg_attr(not(feature = "linked"), unsafe(no_mangle))]
        #[cfg_attr(feature = "linked", unsafe(export_name = concat!("marey_mpi_", stringify!($p_name))))]
        unsafe extern "C" fn $p_name() {
            export! { jump $index, true, $($jump)* }
        }
    };
    // To code that is told which function it is.
    (jump $index:literal, $profiling:literal, shared $handler:ident $n:tt) => {
        noting_jump!(
            number numbered($index, $profiling),
            { <by_name::$handler as Shared<$n>>::body },
            { <by_name::$handler as Shared<$n>>::sampled }
        )
    };
    // To the function's own, a `body` and a `sampled` that know it.
    (jump $index:literal, $profiling:literal, own) => {
        noting_jump!(
            body::<{ numbered($index, $profiling) }>,
            sampled::<{ numbered($index, $profiling) }>
        )
    };
}

/// How many.
macro_rules! count {
    ($($arg:ident),*) => { { 0 $(+ { _ = stringify!($arg); 1 })* } };
}

macro_rules! wrap {
    // Open MPI's Fortran layer converts the handles of every call through these; they say nothing
    // about the program.
    ($index:literal, $name:ident, $p_name:ident, convert, $($rest:tt)*) => {};
    ($index:literal, $name:ident, $p_name:ident, $handler:ident, f64, ()) => {
        const _: () = {
            type Function = unsafe extern "C" fn() -> f64;

            unsafe extern "C" fn body<const FUNCTION: usize>() -> f64 {
                // SAFETY: the address is that of a function of this type.
                unsafe {
                    let function: Function = core::mem::transmute(real(FUNCTION));
                    Call::of(FUNCTION).over_at_once(|| u32::MAX, || function())
                }
            }

            unsafe extern "C" fn sampled<const FUNCTION: usize>() -> f64 {
                let (call, span) = (Call::of(FUNCTION), Span::new());
                // SAFETY: as above.
                unsafe {
                    let function: Function = core::mem::transmute(real(FUNCTION));
                    let handler = || call.over_at_once(|| u32::MAX, || span.around(|| function()));
                    span.sample(call.entry, handler)
                }
            }

            export! { $index, $name, $p_name, own }
        };
    };
    ($index:literal, $name:ident, $p_name:ident, pcontrol, $($rest:tt)*) => {
        const _: () = {
            /// The one variadic function: as many words are passed on as registers may hold.
            unsafe extern "C" fn body<const FUNCTION: usize>(
                a: c_int, b: usize, c: usize, d: usize, e: usize, f: usize,
            ) -> usize {
                // SAFETY: the address is that of a function of this type; words that it does not
                // look for are ignored.
                unsafe {
                    let function: unsafe extern "C" fn(c_int, ...) -> usize =
                        core::mem::transmute(real(FUNCTION));
                    let passing = Passing::new(Call::of(FUNCTION), [], |[]| function(a, b, c, d, e, f));
                    let result = generic(passing);
                    // 0 switches profiling off: what happens is only added up then. The other levels
                    // that the standard names are on.
                    marey_measure::keep(a != 0);
                    result
                }
            }

            use body as sampled;

            export! { $index, $name, $p_name, own }
        };
    };
    // Six arguments and more leave no register to say which function it is.
    (
        $index:literal, $name:ident, $p_name:ident, $handler:ident, $ret:ident,
        ($a:ident, $b:ident, $c:ident, $d:ident, $e:ident, $f:ident $(, $rest:ident)*)
    ) => {
        wrap! { own $index, $name, $p_name, $handler, ($a, $b, $c, $d, $e, $f $(, $rest)*) }
    };
    ($index:literal, $name:ident, $p_name:ident, $handler:ident, $ret:ident, ($($arg:ident),*)) => {
        const _: () = {
            export! { $index, $name, $p_name, shared $handler { count!($($arg),*) } }
        };
    };
    (own $index:literal, $name:ident, $p_name:ident, $handler:ident, ($($arg:ident),*)) => {
        const _: () = {
            type Function = unsafe extern "C" fn($($crate::mpi::real::word!($arg)),*) -> usize;

            unsafe extern "C" fn body<const FUNCTION: usize>($($arg: usize),*) -> usize {
                // SAFETY: the address is that of a function whose parameters are words; it gets the
                // program's own arguments, or the handler's for them.
                unsafe {
                    let function: Function = core::mem::transmute(real(FUNCTION));
                    let real = |[$($arg),*]: [usize; _]| function($($arg),*);
                    by_name::$handler::handle(Passing::new(Call::of(FUNCTION), [$($arg),*], real))
                }
            }

            unsafe extern "C" fn sampled<const FUNCTION: usize>($($arg: usize),*) -> usize {
                let (call, span) = (Call::of(FUNCTION), Span::new());
                // SAFETY: as above.
                unsafe {
                    let function: Function = core::mem::transmute(real(FUNCTION));
                    let real = |[$($arg),*]: [usize; _]| span.around(|| function($($arg),*));
                    sample::<_, by_name::$handler>(call, [$($arg),*], &span, &real)
                }
            }

            export! { $index, $name, $p_name, own }
        };
    };
}

for_each_mpi_function!(wrap);
