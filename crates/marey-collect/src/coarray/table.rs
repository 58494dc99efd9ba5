//! Which functions there are: what they do, and where their arguments name arrays and images.
//!
//! The one idea: a row says all that is to be known of a function; the code of the calls is the same for all.

use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering};

use marey_model::Role;

use super::call;
use crate::entry::{Entry, plain_noting_jump};

/// What a function does to arrays, and where its arguments say so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Acts {
    /// Nothing.
    Not,
    /// `(size, kind, token, descriptor, …)`: makes one.
    Makes,
    /// `(token, …)`: gives one back.
    Frees,
    /// `(token, offset, image, remote, vector, local, …)`: reads.
    Gets,
    /// The same: writes.
    Sends,
    /// `(token, offset, image, remote, vector)` to write, and the same to read.
    SendsGets,
    /// `(token, image, local, references, …)`: reads.
    GetsByReference,
    /// The same: writes.
    SendsByReference,
    /// `(token, image, references)` to write, and the same to read.
    SendsGetsByReference,
    /// `(descriptor, …)`: all images combine theirs.
    Combines,
    /// Token, offset in bytes and image from this argument on: read and written as one.
    Updates(usize),
    /// The same, only read.
    Reads(usize),
    /// The same, only written.
    Writes(usize),
    /// `(token, index, image)` of a lock or an event.
    Signals,
    /// `(team, …)`: images have the numbers of this team afterwards.
    EntersTeam,
    /// They have those of the team around it again.
    LeavesTeam,
}

/// A function.
pub(super) struct Row {
    /// Name under which calls are recorded.
    pub(super) verb: &'static str,
    /// The same for calls that the library makes by itself.
    pub(super) implied: &'static str,
    pub(super) role: Role,
    pub(super) acts: Acts,
}

macro_rules! word {
    ($arg:ident) => {
        usize
    };
}

macro_rules! functions {
    ($($symbol:ident $name:ident $verb:literal $role:ident $acts:expr, ($($arg:ident)*);)*) => {
        /// Numbers of the functions.
        #[expect(non_camel_case_types, reason = "the names are those of the functions")]
        #[derive(Clone, Copy)]
        #[repr(usize)]
        enum Function { $($name,)* }

        /// What is known of them.
        pub(super) static FUNCTIONS: &[Row] = {
            use Acts::*;
            &[$(Row {
                verb: $verb,
                implied: concat!($verb, " (implied)"),
                role: Role::$role,
                acts: $acts,
            },)*]
        };

        const NAMES: &[&str] = &[$(concat!(stringify!($symbol), "\0"),)*];

        static REAL: [AtomicUsize; NAMES.len()] = [const { AtomicUsize::new(0) }; NAMES.len()];

        /// Where stubs of a program lead, by number: not by the exported names, which that may have as well.
        pub(super) static WRAPPERS: &[unsafe extern "C" fn()] = &[$($name::entry,)*];

        $(
            mod $name {
                use super::{Entry, Function, call, plain_noting_jump, real};

                unsafe extern "C-unwind" fn body($($arg: usize),*) -> usize {
                    let entry = Entry::take();
                    const INDEX: usize = Function::$name as usize;
                    // SAFETY: the address is that of a function whose parameters are words; it gets the program's own
                    // arguments.
                    unsafe {
                        let real: unsafe extern "C-unwind" fn($(word!($arg)),*) -> usize =
                            core::mem::transmute(real(INDEX));
                        call::made(INDEX, entry, &[$($arg),*], || real($($arg),*))
                    }
                }

                #[unsafe(naked)]
                #[unsafe(no_mangle)]
                unsafe extern "C" fn $symbol() {
                    plain_noting_jump!(body)
                }

                #[unsafe(naked)]
                pub(super) unsafe extern "C" fn entry() {
                    plain_noting_jump!(body)
                }
            }
        )*
    };
}

functions! {
    _gfortran_caf_init init "initialise" Manage Not, (a b);
    _gfortran_caf_finalize finalize "finalise" Manage Not, ();
    _gfortran_caf_register register "allocate" Create Makes, (a b c d e f g);
    _gfortran_caf_deregister deregister "deallocate" Manage Frees, (a b c d e);
    _gfortran_caf_get get "get" Transfer Gets, (a b c d e f g h i j);
    _gfortran_caf_send send "send" Transfer Sends, (a b c d e f g h i j);
    _gfortran_caf_sendget sendget "sendget" Transfer SendsGets, (a b c d e f g h i j k l m n);
    _gfortran_caf_get_by_ref get_by_ref "get" Transfer GetsByReference, (a b c d e f g h i j);
    _gfortran_caf_send_by_ref send_by_ref "send" Transfer SendsByReference, (a b c d e f g h i j);
    _gfortran_caf_sendget_by_ref sendget_by_ref "sendget" Transfer SendsGetsByReference,
        (a b c d e f g h i j k l m);
    _gfortran_caf_sync_all sync_all "sync all" Barrier Not, (a b c);
    _gfortran_caf_sync_images sync_images "sync images" Wait Not, (a b c d e);
    _gfortran_caf_sync_memory sync_memory "sync memory" Wait Not, (a b c);
    _gfortran_caf_sync_team sync_team "sync team" Barrier Not, (a b);
    _gfortran_caf_co_broadcast co_broadcast "co_broadcast" OneToAll Combines, (a b c d e);
    _gfortran_caf_co_sum co_sum "co_sum" AllToAll Combines, (a b c d e);
    _gfortran_caf_co_max co_max "co_max" AllToAll Combines, (a b c d e f);
    _gfortran_caf_co_min co_min "co_min" AllToAll Combines, (a b c d e f);
    _gfortran_caf_co_reduce co_reduce "co_reduce" AllToAll Combines, (a b c d e f g h);
    _gfortran_caf_atomic_define atomic_define "atomic_define" Transfer Writes(0), (a b c d e f g);
    _gfortran_caf_atomic_ref atomic_ref "atomic_ref" Transfer Reads(0), (a b c d e f g);
    _gfortran_caf_atomic_cas atomic_cas "atomic_cas" Transfer Updates(0), (a b c d e f g h i);
    _gfortran_caf_atomic_op atomic_op "atomic_op" Transfer Updates(1), (a b c d e f g h i);
    _gfortran_caf_lock lock "lock" Acquire Signals, (a b c d e f g);
    _gfortran_caf_unlock unlock "unlock" Release Signals, (a b c d e f);
    _gfortran_caf_event_post event_post "event post" Release Signals, (a b c d e f);
    _gfortran_caf_event_wait event_wait "event wait" Wait Signals, (a b c d e f);
    _gfortran_caf_event_query event_query "event_query" Manage Signals, (a b c d e);
    _gfortran_caf_form_team form_team "form team" Create Not, (a b c);
    _gfortran_caf_change_team change_team "change team" Barrier EntersTeam, (a b);
    _gfortran_caf_end_team end_team "end team" Barrier LeavesTeam, (a);
}

/// The number of the function of a name.
pub(super) fn number(name: &CStr) -> Option<usize> {
    NAMES.iter().position(|known| known.as_bytes() == name.to_bytes_with_nul())
}

/// Says where the function of a number is.
pub(super) fn is_at(index: usize, address: usize) {
    REAL[index].store(address, Ordering::Relaxed);
}

/// The address of the next function of this number after ours.
#[inline(always)]
fn real(index: usize) -> usize {
    match REAL[index].load(Ordering::Relaxed) {
        0 => resolve(index),
        address => address,
    }
}

/// Only a program whose library lacks the function, and that calls it nevertheless, gets here.
extern "C" fn missing() -> usize {
    0
}

#[cold]
fn resolve(index: usize) -> usize {
    let name = CStr::from_bytes_with_nul(NAMES[index].as_bytes());
    let address = match name.map_or(0, crate::next::next) {
        0 => missing as *const () as usize,
        address => address,
    };
    REAL[index].store(address, Ordering::Relaxed);
    address
}
