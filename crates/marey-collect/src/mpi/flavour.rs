//! Which MPI library it is: what its handles, constants and statuses look like.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering};

use marey_measure::Lock;
use marey_model::spool::{ANY_SOURCE, ANY_TAG, NO_PEER};

#[cfg(not(feature = "linked"))]
use super::real;

/// The family of a library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    /// Handles are addresses of objects.
    OpenMpi,
    /// Handles are `int`s.
    Mpich,
}

/// What an error code, in a result or a status, says of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// It is complete. A message that is longer than its buffer has been received all the same.
    Done,
    /// The statuses tell.
    InStatus,
    /// It goes on.
    Pending,
    /// It has failed; what it was is no more.
    Failed,
}

/// What must be known of a library to read arguments. What nearly every call looks at comes first.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Flavour {
    pub(crate) family: Family,
    /// Bytes of a status.
    pub(crate) status_len: u8,
    source_at: u8,
    cancelled_at: u8,
    error_at: u8,
    any_source: i32,
    proc_null: i32,
    root: i32,
    pub(crate) status_ignore: usize,
    pub(crate) request_null: usize,
    pub(crate) in_place: usize,
    pub(crate) comm_null: usize,
    pub(crate) comm_world: usize,
    pub(crate) comm_self: usize,
    pub(crate) message_null: usize,
    pub(crate) message_no_proc: usize,
    pub(crate) datatype_null: usize,
    /// `MPI_NO_OP`, with which nothing is given.
    no_op: usize,
    /// The classes `MPI_ERR_TRUNCATE`, `MPI_ERR_IN_STATUS` and `MPI_ERR_PENDING`.
    err_truncate: i32,
    err_in_status: i32,
    err_pending: i32,
}

/// The longest status, in words.
pub(crate) const STATUS_WORDS: usize = 3;

/// The flavour, and before it on the same line of the processor's cache whether it is known.
#[repr(C, align(64))]
struct Known {
    is_known: AtomicBool,
    flavour: UnsafeCell<MaybeUninit<Flavour>>,
}

// SAFETY: the flavour is written once, under a lock; others look at it only after that.
unsafe impl Sync for Known {}

static KNOWN: Known =
    Known { is_known: AtomicBool::new(false), flavour: UnsafeCell::new(MaybeUninit::uninit()) };
static DETECTED: Lock<()> = Lock::new(());

/// The flavour of the library that is loaded.
#[inline(always)]
pub(crate) fn flavour() -> &'static Flavour {
    if !KNOWN.is_known.load(Ordering::Acquire) {
        return detect();
    }
    // SAFETY: it has been written and is never written again.
    unsafe { (*KNOWN.flavour.get()).assume_init_ref() }
}

#[cold]
fn detect() -> &'static Flavour {
    let found = || match object(c"ompi_mpi_comm_world") {
        0 => Flavour::mpich(),
        _ => Flavour::open_mpi(),
    };
    let written = DETECTED.with_or_renew(
        || (),
        |()| {
            if !KNOWN.is_known.load(Ordering::Acquire) {
                // SAFETY: the lock keeps other writers away, and nobody looks before `is_known` says so.
                unsafe { (*KNOWN.flavour.get()).write(found()) };
                KNOWN.is_known.store(true, Ordering::Release);
            }
        },
    );
    match written {
        Some(()) => self::flavour(),
        // A signal handler amid the above: what it has found is the same.
        None => Box::leak(Box::new(found())),
    }
}

/// Address of a data object of the library. The executable may hold a copy of it, made by the
/// linker, which then is the one in use; so the search begins there and not behind us.
#[cfg(not(feature = "linked"))]
pub(crate) fn object(name: &core::ffi::CStr) -> usize {
    // SAFETY: the name ends with a zero byte.
    match unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as usize } {
        0 => real::in_library(name),
        address => address,
    }
}

#[cfg(feature = "linked")]
pub(crate) use crate::linked::object;

impl Flavour {
    fn open_mpi() -> Self {
        Self {
            family: Family::OpenMpi,
            any_source: -1,
            proc_null: -2,
            root: -4,
            in_place: 1,
            status_ignore: 0,
            request_null: object(c"ompi_request_null"),
            comm_null: object(c"ompi_mpi_comm_null"),
            comm_world: object(c"ompi_mpi_comm_world"),
            comm_self: object(c"ompi_mpi_comm_self"),
            message_null: object(c"ompi_message_null"),
            message_no_proc: object(c"ompi_message_no_proc"),
            datatype_null: object(c"ompi_mpi_datatype_null"),
            no_op: object(c"ompi_mpi_op_no_op"),
            status_len: 24,
            source_at: 0,
            cancelled_at: 12,
            error_at: 8,
            err_truncate: 15,
            err_in_status: 18,
            err_pending: 19,
        }
    }

    fn mpich() -> Self {
        Self {
            family: Family::Mpich,
            any_source: -2,
            proc_null: -1,
            root: -3,
            in_place: usize::MAX,
            status_ignore: 1,
            request_null: 0x2c00_0000,
            comm_null: 0x0400_0000,
            comm_world: 0x4400_0000,
            comm_self: 0x4400_0001,
            message_null: 0x2c00_0000,
            message_no_proc: 0x6c00_0000,
            datatype_null: 0x0c00_0000,
            no_op: 0x5800_000e,
            status_len: 20,
            source_at: 8,
            cancelled_at: 4,
            error_at: 16,
            err_truncate: 14,
            err_in_status: 17,
            err_pending: 18,
        }
    }

    /// A handle passed by value. The upper half of an `int` argument's register is anything.
    #[inline(always)]
    pub(crate) fn handle(&self, word: usize) -> usize {
        match self.family {
            Family::OpenMpi => word,
            Family::Mpich => word & 0xffff_ffff,
        }
    }

    /// The handle that `place` points to.
    ///
    /// # Safety
    /// `place` is null or points to a handle.
    #[inline(always)]
    pub(crate) unsafe fn handle_at(&self, place: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe {
            match self.family {
                _ if place == 0 => 0,
                Family::OpenMpi => *(place as *const usize),
                Family::Mpich => *(place as *const u32) as usize,
            }
        }
    }

    /// Bytes of a handle in an array.
    #[inline(always)]
    pub(crate) fn handle_len(&self) -> usize {
        match self.family {
            Family::OpenMpi => 8,
            Family::Mpich => 4,
        }
    }

    /// A rank argument in marey's terms; `None` for nobody.
    #[inline(always)]
    pub(crate) fn peer(&self, word: usize) -> Option<i32> {
        let rank = word as i32;
        if rank >= 0 {
            Some(rank)
        } else if rank == self.any_source {
            Some(ANY_SOURCE as i32)
        } else {
            None
        }
    }

    /// A root argument: the rank, or −1 for the members of a root's own group that are not it.
    #[inline(always)]
    pub(crate) fn root(&self, word: usize) -> i32 {
        let rank = word as i32;
        if rank == self.root || rank == self.proc_null { NO_PEER as i32 } else { rank }
    }

    /// Whether a root argument says that this member has no part in it.
    #[inline(always)]
    pub(crate) fn is_aside(&self, word: usize) -> bool {
        word as i32 == self.proc_null
    }

    /// Whether an argument is `MPI_NO_OP`.
    pub(crate) fn is_no_op(&self, word: usize) -> bool {
        self.handle(word) == self.no_op
    }

    /// Whether a lock's type is `MPI_LOCK_EXCLUSIVE`; the only other one is `MPI_LOCK_SHARED`.
    pub(crate) fn is_exclusive(&self, word: usize) -> bool {
        word as i32
            == match self.family {
                Family::OpenMpi => 1,
                Family::Mpich => 234,
            }
    }

    /// A tag argument in marey's terms.
    #[inline(always)]
    pub(crate) fn tag(&self, word: usize) -> i32 {
        let tag = word as i32;
        if tag < 0 { ANY_TAG as i32 } else { tag }
    }

    /// Source, tag and bytes that a status tells; `None` for nobody.
    ///
    /// # Safety
    /// `status` points to a status that MPI has filled.
    #[inline(always)]
    pub(crate) unsafe fn message(&self, status: usize) -> Option<(i32, i32, u64)> {
        // SAFETY: the caller's promise; offsets and lengths are those of the library's header.
        unsafe {
            let source = *((status + usize::from(self.source_at)) as *const i32);
            let tag = *((status + usize::from(self.source_at) + 4) as *const i32);
            let bytes = match self.family {
                Family::OpenMpi => *((status + 16) as *const u64),
                Family::Mpich => {
                    let low = *(status as *const u32);
                    // The lowest bit of the upper word says that the operation was cancelled.
                    let high = *((status + 4) as *const u32) >> 1;
                    u64::from(low) | u64::from(high) << 32
                }
            };
            (source >= 0).then_some((source, tag, bytes))
        }
    }

    /// What an error code says.
    #[inline(always)]
    pub(crate) fn outcome(&self, code: i32) -> Outcome {
        if code == 0 { Outcome::Done } else { self.unusual(code) }
    }

    #[cold]
    fn unusual(&self, code: i32) -> Outcome {
        // MPICH's codes are classes with more in the upper bits.
        let class = if self.family == Family::Mpich { code & 0x7f } else { code };
        match class {
            class if class == self.err_truncate => Outcome::Done,
            class if class == self.err_in_status => Outcome::InStatus,
            class if class == self.err_pending => Outcome::Pending,
            _ => Outcome::Failed,
        }
    }

    /// What a status says, of a call whose result points to the statuses.
    ///
    /// # Safety
    /// As for [`Self::message`].
    pub(crate) unsafe fn outcome_in(&self, status: usize) -> Outcome {
        // SAFETY: the caller's promise.
        self.outcome(unsafe { *((status + usize::from(self.error_at)) as *const i32) })
    }

    /// Whether a status says that the operation was cancelled.
    ///
    /// # Safety
    /// As for [`Self::message`].
    #[inline(always)]
    pub(crate) unsafe fn is_cancelled(&self, status: usize) -> bool {
        // SAFETY: the caller's promise.
        let word = unsafe { *((status + usize::from(self.cancelled_at)) as *const u32) };
        match self.family {
            Family::OpenMpi => word != 0,
            Family::Mpich => word & 1 != 0,
        }
    }
}
