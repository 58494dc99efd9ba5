//! Whom a call is passed on to, and how it comes in.
//!
//! The one idea: the next definition of each function after ours is looked up once, when recording
//! begins, for later a call may come in a moment in which nothing can be looked up: in a signal handler,
//! under a lock of the dynamic linker. What is exported is a few instructions that keep the entry's
//! registers, and leave no frame of Rust's where a thread can be cancelled.

use core::ffi::{CStr, c_int};
use core::sync::atomic::{AtomicUsize, Ordering};

use marey_model::Role;

macro_rules! functions {
    ($($name:ident $recorded:literal $role:ident,)*) => {
        /// The functions that are passed on.
        #[expect(non_camel_case_types, reason = "the names are those of the functions")]
        #[derive(Clone, Copy)]
        #[repr(usize)]
        pub(super) enum Function { $($name,)* }

        const NAMES: &[&str] = &[$(concat!(stringify!($name), "\0"),)*];

        /// Names under which calls are recorded, and what they do.
        pub(crate) const FUNCTIONS: &[(&str, Role)] = &[$(($recorded, Role::$role),)*];

        static REAL: [AtomicUsize; NAMES.len()] = [const { AtomicUsize::new(0) }; NAMES.len()];
    };
}

functions! {
    pthread_create "pthread_create" Create,
    thrd_create "thrd_create" Create,
    pthread_join "pthread_join" Wait,
    pthread_tryjoin_np "pthread_tryjoin_np" Wait,
    pthread_timedjoin_np "pthread_timedjoin_np" Wait,
    pthread_clockjoin_np "pthread_clockjoin_np" Wait,
    thrd_join "thrd_join" Wait,
    pthread_setname_np "pthread_setname_np" Manage,
    pthread_barrier_init "pthread_barrier_init" Manage,
    pthread_barrier_destroy "pthread_barrier_destroy" Manage,
    pthread_barrier_wait "pthread_barrier_wait" Barrier,
    pthread_mutex_lock "pthread_mutex_lock" Acquire,
    pthread_mutex_trylock "pthread_mutex_trylock" Acquire,
    pthread_mutex_timedlock "pthread_mutex_timedlock" Acquire,
    pthread_mutex_clocklock "pthread_mutex_clocklock" Acquire,
    pthread_mutex_unlock "pthread_mutex_unlock" Release,
    pthread_rwlock_rdlock "pthread_rwlock_rdlock" Acquire,
    pthread_rwlock_tryrdlock "pthread_rwlock_tryrdlock" Acquire,
    pthread_rwlock_timedrdlock "pthread_rwlock_timedrdlock" Acquire,
    pthread_rwlock_clockrdlock "pthread_rwlock_clockrdlock" Acquire,
    pthread_rwlock_wrlock "pthread_rwlock_wrlock" Acquire,
    pthread_rwlock_trywrlock "pthread_rwlock_trywrlock" Acquire,
    pthread_rwlock_timedwrlock "pthread_rwlock_timedwrlock" Acquire,
    pthread_rwlock_clockwrlock "pthread_rwlock_clockwrlock" Acquire,
    pthread_rwlock_unlock "pthread_rwlock_unlock" Release,
    mtx_lock "mtx_lock" Acquire,
    mtx_trylock "mtx_trylock" Acquire,
    mtx_timedlock "mtx_timedlock" Acquire,
    mtx_unlock "mtx_unlock" Release,
    pthread_cond_wait "pthread_cond_wait" Wait,
    pthread_cond_timedwait "pthread_cond_timedwait" Wait,
    pthread_cond_clockwait "pthread_cond_clockwait" Wait,
    pthread_cond_signal "pthread_cond_signal" Release,
    pthread_cond_broadcast "pthread_cond_broadcast" Release,
    cnd_wait "cnd_wait" Wait,
    cnd_timedwait "cnd_timedwait" Wait,
    cnd_signal "cnd_signal" Release,
    cnd_broadcast "cnd_broadcast" Release,
    sem_wait "sem_wait" Wait,
    sem_timedwait "sem_timedwait" Wait,
    sem_clockwait "sem_clockwait" Wait,
    sem_post "sem_post" Release,
    futex_wait "futex wait" Wait,
}

impl Function {
    /// What the region of a call is made from.
    pub(super) fn number(index: usize) -> u32 {
        crate::site::THREAD_FUNCTIONS + index as u32
    }
}

/// Calls the next function after ours; surplus words lie in registers that it does not look at.
///
/// # Safety
/// The words are valid arguments of the function.
#[inline(always)]
pub(super) unsafe fn call(index: usize, [a, b, c, d]: [usize; 4]) -> c_int {
    let address = address(index);
    // SAFETY: the address is that of a function of words that returns an int.
    unsafe {
        let function: unsafe extern "C-unwind" fn(usize, usize, usize, usize) -> c_int =
            core::mem::transmute(address);
        function(a, b, c, d)
    }
}

/// The address of the next function after ours.
#[inline(always)]
pub(super) fn address(index: usize) -> usize {
    let address = REAL[index].load(Ordering::Relaxed);
    if address == 0 { resolve(index) } else { address }
}

/// The C library lacks the function; nobody who could have linked with it lands here.
extern "C" fn missing() -> c_int {
    libc::ENOSYS
}

#[cold]
fn resolve(index: usize) -> usize {
    let address = match CStr::from_bytes_with_nul(NAMES[index].as_bytes()).map_or(0, next) {
        0 => missing as *const () as usize,
        address => address,
    };
    REAL[index].store(address, Ordering::Relaxed);
    address
}

/// Finds all functions, so that later no call has to search in an odd moment.
pub(super) fn resolve_all() {
    (0..Function::futex_wait as usize).for_each(|index| {
        resolve(index);
    });
}

/// The instructions of an exported function of at most four words, which `$body` gets along with
/// the stack and frame pointer at the entry. They travel in registers, not in memory as for MPI,
/// because signal handlers call some of these functions.
macro_rules! export {
    ($($name:ident = $body:path;)*) => {$(
        #[unsafe(naked)]
        #[cfg_attr(not(feature = "linked"), unsafe(no_mangle))]
        #[cfg_attr(feature = "linked", unsafe(export_name = concat!("marey_thread_", stringify!($name))))]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!("mov r8, rsp", "mov r9, rbp", "jmp {body}", body = sym $body)
        }
    )*};
}
pub(super) use export;

/// A call that may be a point of cancellation, as its exported function keeps it on the stack.
#[repr(C)]
pub(super) struct Frame {
    /// What is to be known after the real call.
    pub(super) pending: core::mem::MaybeUninit<[usize; 8]>,
    /// Stack pointer at the entry.
    pub(super) sp: usize,
    /// Frame pointer at the entry.
    pub(super) bp: usize,
    /// The arguments; the first becomes the result.
    pub(super) args: [usize; 4],
}

/// The instructions of an exported function during which its thread may be cancelled: `$before`
/// gets the [`Frame`] and gives the address to call, `$after` gets the frame with the result. Only
/// this frame lies on the stack during the call, because a cancellation unwinds it, and would end
/// in an abort at one of Rust's.
macro_rules! export_cancellable {
    ($($name:ident = $before:path, $after:path;)*) => {$(
        #[unsafe(naked)]
        #[cfg_attr(not(feature = "linked"), unsafe(no_mangle))]
        #[cfg_attr(feature = "linked", unsafe(export_name = concat!("marey_thread_", stringify!($name))))]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "mov r8, rsp",
                "sub rsp, 120",
                ".cfi_adjust_cfa_offset 120",
                "mov qword ptr [rsp + 64], r8",
                "mov qword ptr [rsp + 72], rbp",
                "mov qword ptr [rsp + 80], rdi",
                "mov qword ptr [rsp + 88], rsi",
                "mov qword ptr [rsp + 96], rdx",
                "mov qword ptr [rsp + 104], rcx",
                "mov rdi, rsp",
                "call {before}",
                "mov rdi, qword ptr [rsp + 80]",
                "mov rsi, qword ptr [rsp + 88]",
                "mov rdx, qword ptr [rsp + 96]",
                "mov rcx, qword ptr [rsp + 104]",
                "call rax",
                "mov qword ptr [rsp + 80], rax",
                "mov rdi, rsp",
                "call {after}",
                "mov rax, qword ptr [rsp + 80]",
                "add rsp, 120",
                ".cfi_adjust_cfa_offset -120",
                "ret",
                ".cfi_endproc",
                before = sym $before,
                after = sym $after,
            )
        }
    )*};
}
pub(super) use export_cancellable;

/// The next definition of `name` after ours.
#[cfg(not(feature = "linked"))]
pub(super) fn next(name: &CStr) -> usize {
    // SAFETY: the names end with a zero byte.
    unsafe {
        // The conditions of before 2003 live on under the old version, and a plain search finds them.
        if name.to_bytes().starts_with(b"pthread_cond") {
            let found = libc::dlvsym(libc::RTLD_NEXT, name.as_ptr(), c"GLIBC_2.3.2".as_ptr());
            if !found.is_null() {
                return found as usize;
            }
        }
    }
    crate::next::next(name)
}

#[cfg(feature = "linked")]
pub(super) use crate::next::next;
