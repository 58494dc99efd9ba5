//! The process: when it begins to be measured, and how it ends.
//!
//! `marey record` loads this library into everything that the command starts: launchers, shells,
//! helpers. It records only in a process that makes a first call worth measuring (MPI, the user
//! API), or that is the command itself and no known launcher or shell.

#![cfg_attr(feature = "linked", expect(non_snake_case, reason = "the names are those of the C library"))]

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use marey_measure::{ABI_VERSION, Config, Mode, Runtime, RuntimeTable, TABLE, current_runtime, sys};
use marey_model::spool::{Definition, EndingKind};
use marey_model::{Elements, Rules};

use crate::next::Next;
#[cfg(not(feature = "linked"))]
use crate::next::next;

/// Not decided yet, recording, never to record, or being decided by [`STARTER`].
static STATE: AtomicU8 = AtomicU8::new(WAITING);
const WAITING: u8 = 0;
const RECORDING: u8 = 1;
const NEVER: u8 = 2;
const STARTING: u8 = 3;
/// Process and thread that start the recorder.
static STARTER: AtomicU64 = AtomicU64::new(0);

/// The recorder, for a call that is worth one: made if this is the first.
#[inline(always)]
pub(crate) fn runtime_for_mpi() -> Option<&'static Runtime> {
    match STATE.load(Ordering::Relaxed) {
        RECORDING => current_runtime().or_else(after_fork),
        NEVER => None,
        _ => begin(),
    }
}

/// The recorder if the process is being recorded already.
pub(crate) fn running() -> Option<&'static Runtime> {
    if STATE.load(Ordering::Relaxed) == RECORDING { current_runtime() } else { None }
}

/// Whether the process is being recorded, or may be yet: a program of MPI is from the first call of that on.
#[cfg(not(feature = "linked"))]
pub(crate) fn may_be_recorded() -> bool {
    STATE.load(Ordering::Relaxed) != NEVER
}

/// In a forked child the recorder comes back with the first record of a thread.
#[cold]
fn after_fork() -> Option<&'static Runtime> {
    #[cfg(not(feature = "linked"))]
    crate::sampler::forked();
    marey_measure::revive();
    current_runtime()
}

#[cold]
fn begin() -> Option<&'static Runtime> {
    let me = u64::from(sys::process_id()) << 32 | u64::from(sys::thread_id());
    if let Err(state) = STATE.compare_exchange(WAITING, STARTING, Ordering::AcqRel, Ordering::Acquire) {
        return if state == STARTING { started_by_another(me) } else { running() };
    }
    STARTER.store(me, Ordering::Release);
    let Some(config) = configuration() else {
        STATE.store(NEVER, Ordering::Relaxed);
        return None;
    };
    if !crate::alloc::prepare() {
        Runtime::leave_empty(&config);
        STATE.store(NEVER, Ordering::Relaxed);
        return None;
    }
    let runtime = Runtime::start(config, thread_is_gone).or_else(current_runtime);
    if runtime.is_some() {
        resolve_endings();
        #[cfg(not(feature = "linked"))]
        {
            crate::filter::resolve();
            crate::files::resolve_all();
            crate::sampler::resolve_all();
        }
        // SAFETY: a function of the right type; it runs at `exit` and at return from `main`.
        unsafe { on_exit(process_exits, core::ptr::null_mut()) };
        marey_measure::know_stacks(crate::site::known_stack);
        #[cfg(not(feature = "linked"))]
        if let Some(runtime) = runtime {
            marey_measure::know_names(crate::functions::name_of);
            crate::sampler::begin(runtime);
        }
    }
    STATE.store(if runtime.is_some() { RECORDING } else { NEVER }, Ordering::Release);
    if runtime.is_some() {
        crate::threads::begin();
        crate::files::begin();
        #[cfg(not(feature = "linked"))]
        crate::system::begin();
        #[cfg(not(feature = "linked"))]
        crate::openmp::begin();
        #[cfg(not(feature = "linked"))]
        crate::coarray::begin();
        #[cfg(not(feature = "linked"))]
        crate::data::buffers::begin();
    }
    #[cfg(not(feature = "linked"))]
    if let Some(runtime) = runtime {
        crate::heap::begin(runtime);
    }
    runtime
}

/// Waits for the recorder that another thread is starting; a few milliseconds. What that thread itself
/// calls meanwhile is not recorded, nor is a child that was forked in that moment.
fn started_by_another(me: u64) -> Option<&'static Runtime> {
    while STATE.load(Ordering::Acquire) == STARTING {
        let starter = STARTER.load(Ordering::Acquire);
        if starter != 0 && (starter == me || starter >> 32 != me >> 32) {
            return None;
        }
        // SAFETY: takes no arguments.
        unsafe { sys::syscall(libc::SYS_sched_yield, [0; 6]) };
    }
    running()
}

extern "C" fn thread_is_gone() {
    #[cfg(not(feature = "linked"))]
    crate::openmp::thread_ends();
    #[cfg(not(feature = "linked"))]
    crate::kokkos::thread_ends();
    #[cfg(not(feature = "linked"))]
    crate::coarray::thread_ends();
    #[cfg(not(feature = "linked"))]
    crate::data::thread_ends();
    crate::threads::ended();
    #[cfg(not(feature = "linked"))]
    crate::sampler::thread_ends();
    marey_measure::forget_thread();
    crate::site::thread_ends();
}

/// Whether the environment says that a level is left out.
///
/// `name` is that of the variable.
pub(crate) fn is_off(name: &core::ffi::CStr) -> bool {
    // SAFETY: the name ends with a zero byte; the value is compared at once.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        !value.is_null() && core::ffi::CStr::from_ptr(value) == c"off"
    }
}

/// The settings that `marey record` put into the environment; `None` without a spool, in a process
/// with rights that its user has not (setuid), behind another copy of the library, and where recording
/// is switched off.
fn configuration() -> Option<Config> {
    // SAFETY: getauxval has no preconditions.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 || is_second() {
        return None;
    }
    let spool = PathBuf::from(std::env::var_os("MAREY_SPOOL")?);
    // Set where each machine records into a directory of its own, which the first process may have to make.
    if std::env::var_os("MAREY_BOARD").is_some() && !have_directory(&spool) {
        return None;
    }
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let is_profile = match std::env::var("MAREY_MODE").as_deref() {
        Ok("quiet") => return None,
        mode => mode == Ok("profile"),
    };
    // Whoever has set them has checked them; others are followed as far as they make sense.
    if let Some(elements) = std::env::var("MAREY_ELEMENTS").ok().and_then(|text| Elements::parse(&text)) {
        crate::mpi::contents::begin(elements);
    }
    let rules = std::env::var("MAREY_RULES").ok().and_then(|text| Rules::parse(&text).ok());
    Some(Config {
        spool,
        mode: Mode::Trace,
        rules: rules.unwrap_or_default(),
        is_profile,
        max_bytes: number("MAREY_MAX_MB").unwrap_or(0).saturating_mul(1 << 20),
        budget: number("MAREY_BUDGET").map_or(0, |share| share.min(10_000) as u32),
        stack_depth: number("MAREY_STACK_DEPTH").map_or(32, |depth| depth.clamp(1, 32) as u32),
        skew: skew(),
    })
}

/// Makes a directory, unless it is there and can be nobody's but ours.
fn have_directory(path: &Path) -> bool {
    match std::fs::DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => true,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            // SAFETY: takes no arguments and cannot fail.
            let me = unsafe { libc::geteuid() };
            std::fs::symlink_metadata(path)
                .is_ok_and(|data| data.is_dir() && data.uid() == me && data.mode() & 0o022 == 0)
        }
        Err(_) => false,
    }
}

/// Whether the process has another recorder that comes first: one linked into the program, or another
/// copy of the library, of a nested or repeated preload.
#[cfg(not(feature = "linked"))]
fn is_second() -> bool {
    crate::unwind::program_has_recorder() || is_second_copy()
}

/// What is linked into the program comes first.
#[cfg(feature = "linked")]
fn is_second() -> bool {
    false
}

/// The code that a name stands for is compared by the library it lies in: the address of our own function
/// would be looked up by that name too.
#[cfg(not(feature = "linked"))]
fn is_second_copy() -> bool {
    let base = |address: *const c_void| {
        let mut found = core::mem::MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: `found` is writable, and zeros are a valid value of it.
        unsafe {
            libc::dladdr(address, found.as_mut_ptr());
            found.assume_init().dli_fbase
        }
    };
    // SAFETY: the name ends with a zero byte.
    let first = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"marey_runtime".as_ptr()) };
    !first.is_null() && base(first) != base((&raw const STATE).cast())
}

/// `MAREY_CLOCK_SKEW`: see `marey_measure::clock::Skew`.
fn skew() -> Option<marey_measure::clock::Skew> {
    marey_measure::clock::Skew::parse(&std::env::var("MAREY_CLOCK_SKEW").ok()?)
}

/// Launchers and shells, by the names of their executables.
const PASSED_OVER: [&str; 27] = [
    "marey",
    "mpirun",
    "mpiexec",
    "mpiexec.hydra",
    "hydra_pmi_proxy",
    "hydra_nameserver",
    "orterun",
    "orted",
    "prte",
    "prterun",
    "prted",
    "srun",
    "slurmstepd",
    "aprun",
    "jsrun",
    "ssh",
    "env",
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "csh",
    "tcsh",
    "fish",
    "time",
    "timeout",
];

/// Whether this process is the command that `marey record` was given, to be measured from its start.
fn is_command() -> bool {
    if std::env::var_os("MAREY_ALL").is_some() {
        return true;
    }
    let parent = std::env::var("MAREY_PARENT_PID").ok().and_then(|pid| pid.parse::<u32>().ok());
    if parent != Some(std::os::unix::process::parent_id()) {
        return false;
    }
    let name = std::fs::read_link("/proc/self/exe").unwrap_or_default();
    let name = name.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    !PASSED_OVER.iter().any(|passed| *passed == name || *passed == stem)
}

/// Runs when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = {
    extern "C" fn loaded() {
        if std::env::var_os("MAREY_SPOOL").is_none() {
            STATE.store(NEVER, Ordering::Relaxed);
            return;
        }
        #[cfg(feature = "linked")]
        crate::linked::activate();
        #[cfg(not(feature = "linked"))]
        crate::kokkos::loaded();
        #[cfg(not(feature = "linked"))]
        crate::coarray::loaded();
        if is_command()
            && let Some(runtime) = begin()
        {
            marey_measure::current_thread();
            crate::threads::prime(runtime);
        }
    }
    loaded
};

/// The runtime for code compiled elsewhere (`marey.h`, the Rust crate). A call is a first call of
/// the user API: from then on the process is recorded.
#[unsafe(no_mangle)]
extern "C" fn marey_runtime(abi: u32) -> *const RuntimeTable {
    match runtime_for_mpi() {
        Some(_) if abi == ABI_VERSION => &TABLE,
        Some(runtime) => {
            tell_other_api(runtime, abi);
            core::ptr::null()
        }
        None => core::ptr::null(),
    }
}

/// Writes down, once, that code asked which was compiled with the user API of another version.
#[cold]
fn tell_other_api(runtime: &Runtime, abi: u32) {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    if !IS_TOLD.swap(true, Ordering::Relaxed) {
        let detail =
            format!("compiled with version {abi} of the user API, recorded by version {ABI_VERSION}");
        let trouble = Definition::Trouble { kind: "other_api".to_owned(), count: 1, detail };
        runtime.define(|definitions| definitions.define(&trouble));
    }
}

/// With which status the process leaves by `exit`, plus one; 0 if it does not.
#[cfg(feature = "linked")]
static EXITS: AtomicU64 = AtomicU64::new(0);

/// Whether `_exit` with this status is the last deed of `exit`: where that is linked with the program, it
/// comes by us, and says nothing new.
fn is_end_of_exit(status: c_int) -> bool {
    #[cfg(feature = "linked")]
    return EXITS.load(Ordering::Relaxed) == u64::from(status as u32) + 1;
    #[cfg(not(feature = "linked"))]
    {
        _ = status;
        false
    }
}

extern "C" fn process_exits(status: c_int, _: *mut c_void) {
    #[cfg(feature = "linked")]
    EXITS.store(u64::from(status as u32) + 1, Ordering::Relaxed);
    #[cfg(not(feature = "linked"))]
    crate::mpe::settle();
    if let Some(runtime) = running() {
        end(runtime, EndingKind::Exit, status);
    }
}

/// Writes down what is told at the end of a process, and how it ends. A handler of signals, which may end it in any
/// moment, tells the latter alone.
fn end(runtime: &Runtime, kind: EndingKind, code: c_int) {
    #[cfg(not(feature = "linked"))]
    if runtime.is_of_caller() && (kind == EndingKind::Exit || marey_measure::is_outside_handlers()) {
        crate::c_library::ends(runtime);
        crate::openmp::ends(runtime);
        crate::sampler::ends(runtime);
    }
    runtime.end(kind, code.into());
}

unsafe extern "C" {
    fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
}

/// Interposed functions that end the process: noted, then passed on.
macro_rules! ending {
    ($($name:ident $next:ident ($($arg:ident: $type:ty),*) $kind:ident $code:expr;)*) => {
        $(
        static $next: Next = Next::of(concat!(stringify!($name), "\0"));

        #[cfg_attr(not(feature = "linked"), unsafe(no_mangle))]
        #[cfg_attr(feature = "linked", unsafe(export_name = concat!("marey_ending_", stringify!($name))))]
        unsafe extern "C" fn $name($($arg: $type),*) -> ! {
            if let Some(runtime) = running()
                && !is_end_of_exit($code)
            {
                end(runtime, EndingKind::$kind, $code);
            }
            // SAFETY: the next function of this name has this type.
            unsafe {
                let next = $next.address();
                if next != 0 {
                    core::mem::transmute::<usize, unsafe extern "C" fn($($type),*) -> !>(next)($($arg),*)
                }
                marey_measure::sys::pass_on(libc::SYS_exit_group, [127, 0, 0, 0, 0, 0]);
            }
            loop {
                core::hint::spin_loop();
            }
        }
        )*

        /// Finds them all: handlers of signals may call them, in which nothing can be looked up.
        fn resolve_endings() {
            $($next.find();)*
        }
    };
}

ending! {
    _exit NEXT_EXIT_AT_ONCE (status: c_int) ImmediateExit status;
    _Exit NEXT_EXIT_OF_C (status: c_int) ImmediateExit status;
    quick_exit NEXT_QUICK_EXIT (status: c_int) ImmediateExit status;
    abort NEXT_ABORT () Abort libc::SIGABRT;
}

/// Passed on; afterwards addresses may mean something else. (Not where we are linked: a program that is
/// linked statically closes nothing, and to be asked for `dlclose` the linker would warn.)
#[cfg(not(feature = "linked"))]
#[unsafe(no_mangle)]
unsafe extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    // SAFETY: the next function of this name has this type.
    let result = unsafe {
        let next = next(c"dlclose");
        if next == 0 {
            return -1;
        }
        crate::unwind::CLOSING.fetch_add(1, Ordering::Relaxed);
        core::mem::transmute::<usize, unsafe extern "C" fn(*mut c_void) -> c_int>(next)(handle)
    };
    crate::unwind::CLOSING.fetch_sub(1, Ordering::Relaxed);
    crate::site::CLOSINGS.fetch_add(1, Ordering::Relaxed);
    crate::functions::forget();
    crate::openmp::forget();
    result
}
