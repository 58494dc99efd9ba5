//! Constructs of programs whose runtime tells of them by itself: the tools interface of OpenMP, OMPT, as LLVM's runtime
//! and those made from it have it.
//!
//! The one idea: the runtime finds our `ompt_start_tool` by its name and calls us for each beginning and end; the same
//! is recorded as of a runtime whose calls are interposed. Calls of such a runtime's, which exports many of them too, are passed
//! on unseen from then on; what is passed on to another one in the same process is looked at.
//!
//! A tool of the user's, linked, preloaded or named by `OMP_TOOL_LIBRARIES`, is left in its place.
//!
//! Codes of kinds differ between versions of the interface; they are told apart here and nowhere else. How each call is
//! recorded is told in [`events`].

mod events;

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use marey_measure::Lock;

use super::tables::tables;
use super::{IS_ACTIVE, library};
use crate::next::next;
use crate::process;

/// What the runtime keeps of a tool.
#[repr(C)]
struct StartToolResult {
    initialize: unsafe extern "C" fn(Lookup, c_int, *mut c_void) -> c_int,
    finalize: unsafe extern "C" fn(*mut c_void),
    data: u64,
}

// SAFETY: it holds two addresses of functions and a number that nobody changes.
unsafe impl Sync for StartToolResult {}

type Lookup = unsafe extern "C" fn(*const c_char) -> *const c_void;
type SetCallback = unsafe extern "C" fn(c_int, *const c_void) -> c_int;
type StartTool = unsafe extern "C" fn(u32, *const c_char) -> *const StartToolResult;

/// Whether a runtime tells of its constructs, so that its calls need not be looked at.
static TELLS: AtomicBool = AtomicBool::new(false);

pub(super) fn tells() -> bool {
    TELLS.load(Ordering::Acquire)
}

static RESULT: StartToolResult = StartToolResult { initialize, finalize, data: 0 };

/// What the runtime calls when it starts.
#[unsafe(no_mangle)]
unsafe extern "C" fn ompt_start_tool(version: u32, runtime: *const c_char) -> *const StartToolResult {
    // The next one is another tool's, or the runtime's own, which looks for further ones.
    let other = next(c"ompt_start_tool");
    if other != 0 {
        // SAFETY: whatever is called so has this type.
        let result = unsafe { core::mem::transmute::<usize, StartTool>(other)(version, runtime) };
        if !result.is_null() {
            return result;
        }
    }
    let is_named = std::env::var_os("OMP_TOOL_LIBRARIES").is_some_and(|libraries| !libraries.is_empty());
    // The runtime asks once, when the program first needs it, which may be before MPI begins. As long as nobody records,
    // callbacks note nothing.
    if is_named || process::is_off(c"MAREY_OPENMP") || !process::may_be_recorded() {
        return core::ptr::null();
    }
    &raw const RESULT
}

unsafe extern "C" fn initialize(lookup: Lookup, _device: c_int, _data: *mut c_void) -> c_int {
    let find = |name: &CStr| {
        // SAFETY: the name ends with a zero byte.
        unsafe { lookup(name.as_ptr()) }
    };
    let set = find(c"ompt_set_callback");
    if set.is_null() {
        return 0;
    }
    // SAFETY: the function of this name has this type.
    let set: SetCallback = unsafe { core::mem::transmute(set) };
    for (kind, callback) in events::CALLBACKS {
        // Those that the runtime never makes are refused.
        // SAFETY: each is a function of the type that belongs to its kind.
        unsafe { set(kind, callback as *const c_void) };
    }
    if let Some(library) = library_of(lookup as usize) {
        keep(&TELLING, library);
    }
    TELLS.store(true, Ordering::Release);
    // What gcc compiles may have another runtime in the same process, which tells nothing.
    match library_of(next(c"GOMP_parallel")) {
        Some(library) => passed_on_to(library),
        None => decide(),
    }
    1
}

/// A few libraries, by where they begin; more of them than these are not looked for.
type Libraries = [AtomicUsize; 8];

/// Those of runtimes that tell of their constructs.
static TELLING: Libraries = [const { AtomicUsize::new(0) }; 8];
/// Those that calls are passed on to.
static KNOWN: Libraries = [const { AtomicUsize::new(0) }; 8];

/// Those that have been made to begin if they tell of their constructs.
static BEGUN: Libraries = [const { AtomicUsize::new(0) }; 8];

fn keep(libraries: &Libraries, library: usize) {
    let is_it = |known: &AtomicUsize| {
        let free = known.compare_exchange(0, library, Ordering::AcqRel, Ordering::Acquire);
        free.is_ok() || free == Err(library)
    };
    _ = libraries.iter().any(is_it);
}

/// Whether the runtime of this library tells of its constructs.
pub(super) fn tells_of(library: usize) -> bool {
    has(&TELLING, library)
}

fn has(libraries: &Libraries, library: usize) -> bool {
    library != 0 && libraries.iter().any(|it| it.load(Ordering::Acquire) == library)
}

/// Whether calls have been passed on to this library before.
pub(super) fn is_known(library: usize) -> bool {
    has(&KNOWN, library)
}

/// Whether the runtime of this library need not be made to begin.
pub(super) fn has_begun(library: usize) -> bool {
    has(&BEGUN, library)
}

/// To be called when that has been done, or is not to be.
pub(super) fn begins(library: usize) {
    keep(&BEGUN, library);
}

/// To be called when it becomes known which library calls of gcc's interface are passed on to.
pub(super) fn passed_on_to(library: usize) {
    keep(&KNOWN, library);
    decide();
}

/// Decides whether calls are looked at: not as long as all are those of runtimes that tell. To be called after whatever that
/// depends on has changed; whoever comes last has seen it all.
pub(super) fn decide() {
    static DECIDES: Lock<()> = Lock::new(());
    let decides = || {
        let is_other = |library: &AtomicUsize| {
            let library = library.load(Ordering::Acquire);
            library != 0 && !tells_of(library)
        };
        let is_needed = !TELLS.load(Ordering::Acquire) || KNOWN.iter().any(is_other);
        // There are tables where constructs are recorded.
        IS_ACTIVE.store(is_needed && tables().is_some(), Ordering::Release);
    };
    // A thread that only the parent has may have been inside when it forked.
    _ = DECIDES.with_or_renew(|| (), |()| decides());
}

/// After a library was closed: another one may come to lie where it was.
pub(super) fn forget() {
    for known in TELLING.iter().chain(&KNOWN).chain(&BEGUN) {
        let library = known.load(Ordering::Acquire);
        if library != 0 && library_of(library) != Some(library) {
            known.store(0, Ordering::Release);
        }
    }
    decide();
}

/// Where the library of an address begins; `None` = it is in none.
pub(super) fn library_of(address: usize) -> Option<usize> {
    library::of(address).map(|library| library.begin)
}

unsafe extern "C" fn finalize(_: *mut c_void) {}

/// A call of the runtime's, as the instructions of a callback keep it on the stack.
#[repr(C)]
struct Call {
    /// Stack pointer at the entry.
    sp: usize,
    /// Frame pointer at the entry.
    bp: usize,
    args: [usize; 6],
}

/// The instructions of a callback, which `$body` gets with all that it takes to walk the stack of whoever calls.
macro_rules! callback {
    ($($name:ident = $body:path;)*) => {$(
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                ".cfi_startproc",
                "mov r11, rsp",
                "sub rsp, 72",
                ".cfi_adjust_cfa_offset 72",
                "mov qword ptr [rsp], r11",
                "mov qword ptr [rsp + 8], rbp",
                "mov qword ptr [rsp + 16], rdi",
                "mov qword ptr [rsp + 24], rsi",
                "mov qword ptr [rsp + 32], rdx",
                "mov qword ptr [rsp + 40], rcx",
                "mov qword ptr [rsp + 48], r8",
                "mov qword ptr [rsp + 56], r9",
                "mov rdi, rsp",
                "call {body}",
                "add rsp, 72",
                ".cfi_adjust_cfa_offset -72",
                "ret",
                ".cfi_endproc",
                body = sym $body,
            )
        }
    )*};
}
use callback;

/// What begins or ends a loop, sections or a `single`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    /// With the name of its schedule, if that is known.
    Loop(&'static str),
    Sections,
    /// Of the thread that executes it.
    Single,
    Other,
}

impl Work {
    fn of(code: usize) -> Self {
        match code as u32 {
            1 => Self::Loop(""),
            10 => Self::Loop("static"),
            11 => Self::Loop("dynamic"),
            12 => Self::Loop("guided"),
            13 => Self::Loop("other"),
            2 => Self::Sections,
            3 => Self::Single,
            _ => Self::Other,
        }
    }
}

/// Where a thread waits for others of its team.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SyncRegion {
    Barrier,
    Taskwait,
    Taskgroup,
    Other,
}

impl SyncRegion {
    fn of(code: usize) -> Self {
        match code as u32 {
            // 4 is one that the runtime needs for itself. 10 is that of a league, whose teams are of no region.
            1..=4 | 8 | 9 => Self::Barrier,
            5 => Self::Taskwait,
            6 => Self::Taskgroup,
            _ => Self::Other,
        }
    }
}

/// What one thread at a time can have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mutex {
    Lock,
    /// One that who has it may take again.
    NestLock,
    /// A try, which waits for nobody.
    Test,
    Critical,
    Atomic,
    Ordered,
    Other,
}

impl Mutex {
    fn of(code: usize) -> Self {
        match code as u32 {
            1 => Self::Lock,
            3 => Self::NestLock,
            2 | 4 => Self::Test,
            5 => Self::Critical,
            6 => Self::Atomic,
            7 => Self::Ordered,
            _ => Self::Other,
        }
    }
}
