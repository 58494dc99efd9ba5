//! The handlers of MPI functions, as types; and the code that calls with few arguments jump to.
//!
//! The one idea: programs call many different functions in turn, and what lies between two calls drives
//! our code out of the processor's cache. So functions of one handler and as many arguments share their
//! code, and which of them it is comes in the register behind the arguments. Functions with more
//! arguments than that leaves room for have code of their own ([`super::wrap`]).

use super::call::{Call, Passing, Real};
use super::real::real;
use crate::sample::Span;

/// Registers that are left for arguments when one says which function is called.
pub(super) const FEW: usize = 5;

/// A handler of functions with `N` arguments.
pub(super) trait Handler<const N: usize> {
    /// Makes the call and records it. What the real function returned.
    ///
    /// # Safety
    /// The call is under way, and its arguments are those of the handler's class.
    unsafe fn handle<F: Real<N>>(passing: Passing<N, F>) -> usize;
}

/// Code for all functions of a handler with `N` arguments, at most [`FEW`]. What is in the registers that
/// a function does not use is not looked at.
pub(super) trait Shared<const N: usize>: Handler<N> {
    /// What a call of `function` (see [`super::real::real`]) jumps to.
    ///
    /// # Safety
    /// As for [`Handler::handle`]; the call came in by the jump of [`crate::entry`].
    unsafe extern "C" fn body(a: usize, b: usize, c: usize, d: usize, e: usize, function: usize) -> usize {
        // SAFETY: the caller's promise; the real function has as many parameters.
        unsafe {
            let address = real(function);
            Self::handle(Passing::new(Call::of(function), first([a, b, c, d, e]), |args| pass(address, args)))
        }
    }

    /// The same for a call of which our own work is timed.
    ///
    /// # Safety
    /// As for [`Self::body`].
    unsafe extern "C" fn sampled(a: usize, b: usize, c: usize, d: usize, e: usize, function: usize) -> usize {
        let (call, span) = (Call::of(function), Span::new());
        // SAFETY: as above.
        unsafe {
            let address = real(function);
            let real = |args| span.around(|| pass(address, args));
            sample::<N, Self>(call, first([a, b, c, d, e]), &span, &real)
        }
    }
}

impl<const N: usize, H: Handler<N>> Shared<N> for H {}

/// The first `N` words.
#[inline(always)]
fn first<const N: usize>(words: [usize; FEW]) -> [usize; N] {
    const { assert!(N <= FEW, "the register behind them says which function it is") };
    core::array::from_fn(|at| words[at])
}

/// Calls the function at `address`.
///
/// # Safety
/// It has `N` parameters, which are words, and the arguments are meant for it.
#[inline(always)]
unsafe fn pass<const N: usize>(address: usize, args: [usize; N]) -> usize {
    use core::mem::transmute;
    // SAFETY: the caller's promise.
    unsafe {
        match args[..] {
            [] => transmute::<usize, unsafe extern "C" fn() -> usize>(address)(),
            [a] => transmute::<usize, unsafe extern "C" fn(usize) -> usize>(address)(a),
            [a, b] => transmute::<usize, unsafe extern "C" fn(usize, usize) -> usize>(address)(a, b),
            [a, b, c] => {
                transmute::<usize, unsafe extern "C" fn(usize, usize, usize) -> usize>(address)(a, b, c)
            }
            [a, b, c, d] => {
                type Four = unsafe extern "C" fn(usize, usize, usize, usize) -> usize;
                transmute::<usize, Four>(address)(a, b, c, d)
            }
            [a, b, c, d, e, ..] => {
                type Five = unsafe extern "C" fn(usize, usize, usize, usize, usize) -> usize;
                transmute::<usize, Five>(address)(a, b, c, d, e)
            }
        }
    }
}

/// A call of which our own work is timed. The real function is behind a pointer, so that the handler is
/// there once for all functions of a class, and not a second time for each.
///
/// # Safety
/// As for [`Handler::handle`].
#[inline(never)]
pub(super) unsafe fn sample<'a, const N: usize, H: Handler<N> + ?Sized>(
    call: Call,
    args: [usize; N],
    span: &Span,
    real: &'a (dyn Fn([usize; N]) -> usize + 'a),
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { span.sample(call.entry, || H::handle(Passing::new(call, args, real))) }
}

/// Declares handlers: type, number of arguments (`N` for any), function.
macro_rules! handlers {
    ($($name:ident[$($n:tt)+] = $($path:ident)::+;)*) => {$(
        pub(in crate::mpi) struct $name;

        handlers! { impl $name [$($n)+] $($path)::+ }
    )*};
    (impl $name:ident [N] $($path:tt)+) => {
        handlers! { impl [const N: usize] $name [N] $($path)+ }
    };
    (impl $name:ident [$n:literal] $($path:tt)+) => {
        handlers! { impl [] $name [$n] $($path)+ }
    };
    (impl [$($generic:tt)*] $name:ident [$n:tt] $($path:ident)::+) => {
        impl<$($generic)*> Handler<$n> for $name {
            #[inline(always)]
            unsafe fn handle<F: Real<$n>>(passing: Passing<$n, F>) -> usize {
                // SAFETY: the caller's promise.
                unsafe { $($path)::+(passing) }
            }
        }
    };
}

/// The handlers, by the names that the table gives them.
#[expect(non_camel_case_types, reason = "the names are the table's")]
pub(super) mod by_name {
    use super::super::{
        call, collective as coll, complete, make, object, point, poll, probe, start as begin, window, world,
    };
    use super::{Handler, Passing, Real};

    handlers! {
        abort[2] = world::abort;
        collective[N] = coll::blocking;
        collective_init[N] = coll::persistent;
        comm_create[N] = make::create;
        comm_create_group[4] = make::create_group;
        comm_free[1] = make::free;
        comm_get_parent[1] = make::get_parent;
        comm_idup[N] = make::idup;
        comm_set_name[2] = make::set_name;
        file_close[1] = object::file_close;
        file_move[N] = object::file_move;
        file_open[5] = object::file_open;
        finalize[0] = world::finalize;
        generic[N] = call::generic;
        icollective[N] = coll::nonblocking;
        improbe[6] = probe::improbe;
        imrecv[5] = probe::imrecv;
        init[N] = world::init;
        intercomm_create[6] = make::intercomm_create;
        intercomm_merge[N] = make::merge;
        iprobe[5] = poll::iprobe;
        irecv[7] = point::irecv;
        isend[7] = point::isend;
        isendrecv[12] = point::isendrecv;
        isendrecv_replace[9] = point::isendrecv_replace;
        local[N] = call::local;
        mprobe[5] = probe::mprobe;
        mrecv[5] = probe::mrecv;
        parrived[3] = poll::parrived;
        precv_init[9] = begin::precv_init;
        psend_init[9] = begin::psend_init;
        reach[N] = make::reach;
        recv[7] = point::recv;
        recv_init[7] = begin::recv_init;
        request_free[1] = complete::request_free;
        request_get_status[3] = poll::request_get_status;
        send[6] = point::send;
        send_init[7] = begin::send_init;
        sendrecv[12] = point::sendrecv;
        sendrecv_replace[9] = point::sendrecv_replace;
        start[1] = begin::start;
        startall[2] = begin::startall;
        synchronise[N] = object::synchronise;
        test[3] = complete::test;
        testall[4] = complete::testall;
        testany[5] = complete::testany;
        testsome[5] = complete::testsome;
        transfer[N] = object::transfer;
        type_free[1] = object::type_free;
        type_set_name[2] = object::type_set_name;
        wait[2] = complete::wait;
        waitall[3] = complete::waitall;
        waitany[4] = complete::waitany;
        waitsome[5] = complete::waitsome;
        win_attach[3] = window::attach;
        win_create[N] = window::create;
        win_detach[2] = window::detach;
        win_free[1] = window::free;
        win_set_name[2] = window::set_name;
    }
}
