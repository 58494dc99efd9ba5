//! Our stacks against those of glibc's `backtrace`, in code of several compilers and flags: libraries are
//! built here, loaded, and call back into the test from frames of every kind.

#![expect(unsafe_code, reason = "loads libraries built by the test and compares with glibc's unwinder")]
#![expect(clippy::unwrap_used, reason = "the file is tests throughout")]

use std::cell::RefCell;
use std::ffi::{CString, c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;

use marey_model::SiteId;

use crate::site::What;
use crate::stack_cache::StackCache;

use super::modules::is_mpi_file;
use super::step::MAX_FRAMES;
use super::*;

unsafe extern "C" {
    fn backtrace(buffer: *mut *mut c_void, size: c_int) -> c_int;
    fn marey_test_entry();
}

// Stands for an intercepted function: passes its return address, stack pointer and rbp on. The directives
// let glibc's unwinder pass it.
std::arch::global_asm!(
    ".globl marey_test_entry",
    ".type marey_test_entry, @function",
    "marey_test_entry:",
    ".cfi_startproc",
    "mov rdi, [rsp]",
    "mov rsi, rsp",
    "mov rdx, rbp",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "call {record}",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "ret",
    ".cfi_endproc",
    ".size marey_test_entry, .-marey_test_entry",
    record = sym record,
);

/// One callback: our capture and glibc's answer, from the entry's return address on.
struct Seen {
    capture: Box<StackCapture>,
    theirs: Vec<usize>,
    /// Earlier callbacks whose captures still held.
    held: Vec<usize>,
}

struct Recorder {
    modules: Modules,
    unwinder: Unwinder,
    stack_end: usize,
    seen: Vec<Seen>,
    /// What the recorder keeps instead of captures; its sites are places in `seen`.
    cache: StackCache,
    /// Says what is ours, again after each change of the modules.
    prepare: Box<dyn Fn(&mut Modules)>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            modules: Modules::default(),
            unwinder: Unwinder::with_depth(MAX_FRAMES),
            stack_end: stack_end(),
            seen: Vec::new(),
            cache: StackCache::new(),
            prepare: Box::new(|_| ()),
        }
    }
}

thread_local! {
    static RECORDER: RefCell<Recorder> = RefCell::default();
}

extern "C" fn record(ip: usize, sp: usize, rbp: usize) {
    RECORDER.with_borrow_mut(|recorder| {
        let entry = EntryRegs { ip, sp, rbp };
        let mut capture = Box::new(StackCapture::empty());
        // SAFETY: the entry is the one of the running callback; `stack_end` is of this thread.
        unsafe { recorder.unwinder.unwind(&recorder.modules, entry, recorder.stack_end, &mut capture) };
        // Other tests load and close libraries at the same time.
        while capture.end() == StackEnd::UnknownModule {
            recorder.modules.refresh();
            (recorder.prepare)(&mut recorder.modules);
            // SAFETY: as before.
            unsafe { recorder.unwinder.unwind(&recorder.modules, entry, recorder.stack_end, &mut capture) };
        }
        // SAFETY: the earlier captures are of this thread and its only stack.
        let holds = |seen: &Seen| unsafe { seen.capture.still_holds(entry) };
        let held = (0..recorder.seen.len()).filter(|&i| holds(&recorder.seen[i])).collect();
        let what = What { function: 0, noun: 0 };
        // SAFETY: the cache is this thread's, and the call has not returned.
        let cached = unsafe { recorder.cache.find(what, entry) };
        match cached {
            // A stack that the cache takes for an earlier one has that one's frames.
            Some(site) => assert_eq!(recorder.seen[site.idx()].capture.frames(), capture.frames()),
            None => {
                let site = SiteId::from_idx(recorder.seen.len()).expect("tests make few calls");
                // SAFETY: as above.
                unsafe { recorder.cache.insert(what, entry, &capture, site) };
                // SAFETY: as above.
                assert_eq!(unsafe { recorder.cache.find(what, entry) }, Some(site));
            }
        }
        let mut buffer = [std::ptr::null_mut(); 200];
        // SAFETY: the buffer has room for as many addresses.
        let n = unsafe { backtrace(buffer.as_mut_ptr(), 200) };
        let all: Vec<usize> =
            buffer[..usize::try_from(n).unwrap()].iter().map(|frame| frame.addr()).collect();
        let first = all.iter().position(|&address| address == ip).expect("glibc passes our entry");
        recorder.seen.push(Seen { capture, theirs: all[first..].to_vec(), held });
    });
}

fn stack_end() -> usize {
    // SAFETY: an all-zero attribute object is what pthread_getattr_np fills.
    let mut attributes: libc::pthread_attr_t = unsafe { std::mem::zeroed() };
    let (mut low, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: both calls get valid pointers; the attributes are those of this thread.
    unsafe {
        assert_eq!(libc::pthread_getattr_np(libc::pthread_self(), &mut attributes), 0);
        assert_eq!(libc::pthread_attr_getstack(&attributes, &mut low, &mut size), 0);
        libc::pthread_attr_destroy(&mut attributes);
    }
    low.addr() + size
}

/// A shared library built for one test; closed when dropped.
struct Library {
    handle: *mut c_void,
    path: PathBuf,
    _dir: tempfile::TempDir,
}

impl Library {
    /// `None`, said aloud, when the compiler is missing.
    fn build(compiler: &str, source: &str, name: &str, flags: &[&str]) -> Option<Self> {
        if Command::new(compiler).arg("--version").output().is_err() {
            marey_testkit::skip(compiler);
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/unwind/testdata").join(source);
        let output = Command::new(compiler)
            .args(flags)
            .args(["-shared", "-fPIC", "-o"])
            .args([&path, &source])
            .args(["-J", dir.path().to_str().unwrap()].iter().take(if compiler == "gfortran" {
                2
            } else {
                0
            }))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let name = CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: the library has no constructors of its own.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!handle.is_null());
        Some(Self { handle, path, _dir: dir })
    }

    fn run_address(&self) -> usize {
        // SAFETY: the handle is open.
        unsafe { libc::dlsym(self.handle, c"run_stacks".as_ptr()) }.expose_provenance()
    }

    fn run(&self) {
        // SAFETY: `run_stacks` takes one function pointer and calls it without arguments.
        let run: extern "C" fn(unsafe extern "C" fn()) =
            unsafe { std::mem::transmute(std::ptr::with_exposed_provenance::<c_void>(self.run_address())) };
        run(marey_test_entry);
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: opened by `build`, and nothing of it is in use any more.
        unsafe { libc::dlclose(self.handle) };
    }
}

/// Runs the library's calls with a fresh recorder and returns what was seen.
fn callbacks(library: &Library, depth: usize, prepare: impl Fn(&mut Modules) + 'static) -> Vec<Seen> {
    RECORDER.with_borrow_mut(|recorder| {
        let unwinder = Unwinder::with_depth(depth);
        *recorder = Recorder { unwinder, prepare: Box::new(prepare), ..Recorder::default() };
    });
    library.run();
    RECORDER.with_borrow_mut(|recorder| std::mem::take(&mut recorder.seen))
}

/// Every stack equals glibc's, and a capture holds exactly when the stack is the same again.
#[track_caller]
fn check(compiler: &str, source: &str, flags: &[&str]) {
    let Some(library) = Library::build(compiler, source, "libstacks.so", flags) else { return };
    let seen = callbacks(&library, MAX_FRAMES, |_| ());
    assert!(10 < seen.len());
    for one in &seen {
        let (ours, theirs) = (one.capture.frames(), &one.theirs);
        if theirs.len() <= MAX_FRAMES {
            assert_eq!((ours, one.capture.end()), (&theirs[..], StackEnd::Complete), "{flags:?}");
        } else {
            assert_eq!((ours, one.capture.end()), (&theirs[..MAX_FRAMES], StackEnd::TooDeep), "{flags:?}");
        }
        for &earlier in &one.held {
            assert_eq!(seen[earlier].theirs[..ours.len()], theirs[..ours.len()]);
        }
    }
    let is_same = |a: &Seen, b: &Seen| a.theirs == b.theirs && a.capture.entry() == b.capture.entry();
    for (i, one) in seen.iter().enumerate() {
        let missed: Vec<_> = (0..i).filter(|&j| is_same(&seen[j], one) && !one.held.contains(&j)).collect();
        assert_eq!(missed, [], "stacks that were the same and not recognised");
    }
}

#[test]
fn c_at_several_levels_of_optimisation() {
    check("gcc", "stacks.c", &["-O0"]);
    check("gcc", "stacks.c", &["-O2", "-fomit-frame-pointer"]);
    check("gcc", "stacks.c", &["-O2", "-fno-omit-frame-pointer"]);
    check("gcc", "stacks.c", &["-O3", "-march=native"]);
    check("gcc", "stacks.c", &["-O3", "-mavx2", "-mstackrealign"]);
}

#[test]
fn c_of_another_compiler() {
    check("clang", "stacks.c", &["-O2"]);
    check("clang", "stacks.c", &["-O3", "-march=native"]);
}

#[test]
fn fortran_with_realigned_stacks() {
    check("gfortran", "stacks.f90", &["-O0"]);
    check("gfortran", "stacks.f90", &["-O2"]);
    check("gfortran", "stacks.f90", &["-O3", "-march=native"]);
}

#[test]
fn repeated_stacks_are_recognised_and_twins_told_apart() {
    let Some(library) = Library::build("gcc", "stacks.c", "libstacks.so", &["-O2"]) else { return };
    let seen = callbacks(&library, MAX_FRAMES, |_| ());
    // The rounds call `left`, then `right`: the same entry, other stacks.
    assert_eq!(seen[0].capture.entry(), seen[1].capture.entry());
    assert_eq!(seen[1].held, []);
    assert_ne!(seen[0].theirs, seen[1].theirs);
    assert!(seen.iter().filter(|one| !one.held.is_empty()).count() > seen.len() / 3);
}

#[test]
fn frames_of_our_library_before_the_first_user_frame_are_left_out() {
    let Some(library) = Library::build("gcc", "stacks.c", "libstacks.so", &["-O2"]) else { return };
    let address = library.run_address();
    let seen = callbacks(&library, MAX_FRAMES, move |modules| modules.mark_ours(address));
    check_skipped(&library, &seen);
}

#[test]
fn frames_of_mpi_libraries_before_the_first_user_frame_are_left_out() {
    let Some(library) = Library::build("gcc", "stacks.c", "libmpi_mpifh.so.40", &["-O2"]) else { return };
    let seen = callbacks(&library, MAX_FRAMES, |_| ());
    check_skipped(&library, &seen);
}

/// Frames of the library are gone below the first other one (the test's, or libc's `qsort`).
#[track_caller]
fn check_skipped(library: &Library, seen: &[Seen]) {
    let mut modules = Modules::default();
    modules.refresh();
    let is_inside = |address: usize| modules.find(address).is_some_and(|module| module.path == library.path);
    for one in seen {
        let first_user = one.theirs.iter().position(|&address| !is_inside(address)).unwrap();
        assert!(0 < first_user);
        let ours = one.capture.frames();
        // Recursion in the library may use up the checks before the first user frame.
        if one.capture.end() == StackEnd::Complete {
            assert_eq!(ours, &one.theirs[first_user..]);
        } else {
            assert_eq!(ours, &one.theirs[first_user..][..ours.len()]);
        }
    }
    assert!(seen.iter().any(|one| one.capture.end() == StackEnd::Complete));
}

#[test]
fn a_walk_takes_no_more_frames_than_wanted() {
    let Some(library) = Library::build("gcc", "stacks.c", "libstacks.so", &["-O2"]) else { return };
    for depth in [0, 1, 3] {
        for one in callbacks(&library, depth, |_| ()) {
            assert_eq!((one.capture.frames(), one.capture.end()), (&one.theirs[..depth], StackEnd::TooDeep));
        }
    }
}

#[test]
fn loading_and_unloading_is_seen() {
    let mut modules = Modules::default();
    let at_start = modules.refresh().added;
    let executable = std::fs::read_link("/proc/self/exe").unwrap();
    assert!(at_start.iter().any(|module| module.path == executable
        && module.start <= check_address()
        && check_address() < module.end));
    assert!(modules.find(check_address()).is_some_and(|module| module.path == executable));
    let flags = ["-O1", "-Wl,--build-id=0x0123456789abcdef"];
    let Some(library) = Library::build("gcc", "stacks.c", "libstacks.so", &flags) else { return };

    let added = modules.refresh().added;
    // Other tests load libraries at the same time.
    let ours = added.iter().find(|module| module.path == library.path).unwrap();
    assert_eq!(ours.build_id, [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef]);
    assert!(ours.start <= library.run_address() && library.run_address() < ours.end);
    assert_eq!(ours.bias, ours.start);
    let generation = modules.generation();
    let path = library.path.clone();
    drop(library);
    assert!(modules.refresh().removed.iter().any(|module| module.path == path));
    assert!(generation < modules.generation());
    assert!(!modules.list().iter().any(|module| module.path == path));
}

fn check_address() -> usize {
    (stack_end as *const ()).expose_provenance()
}

#[test]
fn mpi_files_are_known_by_name() {
    for name in
        ["libmpi.so.40", "libmpich.so.12", "libmpi_usempif08.so.40", "libopen-pal.so.40", "mca_btl_vader.so"]
    {
        assert!(is_mpi_file(&Path::new("/usr/lib").join(name)), "{name}");
    }
    for name in ["libmpir.so", "liblammps.so.0", "MPI.cpython-311-x86_64-linux-gnu.so", "libc.so.6", ""] {
        assert!(!is_mpi_file(Path::new(name)), "{name}");
    }
}

#[test]
fn walks_stay_inside_the_given_bounds() {
    let mut modules = Modules::default();
    modules.refresh();
    let words = [0usize; 64];
    let sp = words.as_ptr().expose_provenance();
    for (ip, n_words) in [(check_address() + 5, 8), (check_address() + 5, 0), (1, 8), (0, 8), (usize::MAX, 8)]
    {
        for rbp in [0, 1, sp + 64, usize::MAX - 7] {
            let mut capture = StackCapture::empty();
            let entry = EntryRegs { ip, sp, rbp };
            // SAFETY: the bounds are those of an array of this frame, or empty.
            unsafe {
                Unwinder::with_depth(MAX_FRAMES).unwind(&modules, entry, sp + 8 * n_words, &mut capture)
            };
            assert!(capture.frames().len() <= n_words + 1);
        }
    }
}
