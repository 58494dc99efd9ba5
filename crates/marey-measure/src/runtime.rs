//! The process's recorder: where its files are, which threads it has, what happens at the rare
//! moments — start, a thread's first event, a full window, a fork, the end.
//!
//! Everything hangs on one page that a forked child finds wiped ([`Anchor`]). A child that records
//! thereby notices that it is one, and begins files of its own under a new key, with the numbers
//! and definitions that it inherited.

#![expect(
    clippy::cast_possible_truncation,
    reason = "lengths of windows fit any pointer, and codes their bytes"
)]

use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, compiler_fence};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use marey_model::spool::{Definition, DefinitionKind, EndingKind, Head, SLACK, Stream, at, op};
use marey_model::{ClockKind, Level, Tier};

use crate::clock;
use crate::definitions::{Definitions, MAX_SITES, is_traced};
use crate::lock::{self, Lock};
use crate::message::Channels;
use crate::spool::{SpoolFile, window_len};
use crate::sys;
use crate::thread::{Thread, state};
use crate::write;

/// What is done with events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Mode {
    /// Not known in this process: the slow path finds out. Zero, because a fork wipes the table.
    Unknown = 0,
    /// Nothing.
    Off = 1,
    /// Visits are counted.
    Count = 2,
    /// Visits are counted and timed.
    Time = 3,
    /// Every visit is recorded.
    Trace = 4,
}

/// How to record.
#[derive(Clone, Debug)]
pub struct Config {
    /// An existing directory for the spool.
    pub spool: PathBuf,
    /// What is done with events from the start.
    pub mode: Mode,
    /// Most bytes of events that this process may write; 0 for any number.
    pub max_bytes: u64,
    /// Most frames of a call stack.
    pub stack_depth: u32,
    /// Error to put into the clock, for tests (see [`clock::detect`]).
    pub skew: Option<(i64, i64)>,
}

/// A recorder. There is one in a process; it lives until the process ends.
pub struct Runtime {
    key: u64,
    config: Config,
    clock: ClockKind,
    events: SpoolFile,
    definitions: Lock<Definitions>,
    modes: *mut u8,
    next_thread: AtomicU32,
    serials: AtomicU64,
    thread_key: libc::pthread_key_t,
    channels: Lock<Channels>,
    homeless: AtomicU64,
    /// 1 if nothing more is to be said about the end.
    ended: AtomicU32,
    /// The process that it records.
    pid: u32,
}

// SAFETY: `modes` points to a table of bytes that is written under the definitions' lock and read
// as single bytes.
unsafe impl Send for Runtime {}
// SAFETY: as above.
unsafe impl Sync for Runtime {}

/// The page that a fork wipes.
#[repr(C)]
struct Anchor {
    runtime: AtomicPtr<Runtime>,
    /// Held while a child makes its recorder. Here, because a fork must not copy it held.
    forking: Lock<()>,
    /// What tells locks that they were copied by a fork.
    generation: AtomicU64,
}

static ANCHOR: AtomicPtr<Anchor> = AtomicPtr::new(core::ptr::null_mut());
/// The same recorder, not wiped: what a child was forked from.
static LAST: AtomicPtr<Runtime> = AtomicPtr::new(core::ptr::null_mut());
/// Called with null when a thread's descriptor is no more, so that whoever keeps a pointer to the
/// current thread's forgets it.
static FORGET: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());

/// The recorder of this process, if there is one. In a forked child that has not recorded yet
/// there is none.
#[inline]
pub fn current() -> Option<&'static Runtime> {
    let anchor = ANCHOR.load(Ordering::Acquire);
    if anchor.is_null() {
        return None;
    }
    // SAFETY: the anchor is mapped for ever, and recorders are never freed.
    unsafe { (*anchor).runtime.load(Ordering::Acquire).as_ref() }
}

/// The recorder of this process, which a forked child makes if it has none yet.
#[inline]
pub(crate) fn here() -> Option<&'static Runtime> {
    current().or_else(fork_recorder)
}

#[cold]
fn fork_recorder() -> Option<&'static Runtime> {
    // SAFETY: the anchor is mapped for ever.
    let anchor = unsafe { ANCHOR.load(Ordering::Acquire).as_ref()? };
    anchor.forking.with(|()| current().or_else(Runtime::fork)).flatten()
}

/// Fills a forked child's descriptor anew. False if that cannot be.
///
/// # Safety
/// `thread` is the wiped descriptor of the calling thread.
pub(crate) unsafe fn after_fork(thread: *mut Thread) -> bool {
    // SAFETY: the caller's promise.
    here().is_some_and(|runtime| unsafe { runtime.begin_thread(thread) })
}

/// In a forked child that has not recorded yet: gives it its own recorder, if the calling thread
/// had a descriptor in the parent. Nothing happens otherwise.
pub fn revive() {
    let thread = crate::attach::existing_thread();
    if current().is_none() && !thread.is_null() && !LAST.load(Ordering::Acquire).is_null() {
        // SAFETY: without a recorder the descriptor is one that the fork has wiped.
        unsafe { after_fork(thread) };
    }
}

/// Counts an event of a thread that never had a window.
pub(crate) fn count_homeless() {
    if let Some(runtime) = current() {
        runtime.homeless.fetch_add(1, Ordering::Relaxed);
    }
}

/// Goes on to a window with room for a record of `room` bytes. False if there is none.
///
/// # Safety
/// `thread` is a recording descriptor of the calling thread, which has made it not ready.
pub(crate) unsafe fn next_window(thread: *mut Thread, room: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let opened = current().is_some_and(|runtime| runtime.open_window(thread, room));
        // A record that is too long for what is left says nothing of those after it.
        if !opened && room <= write::ROOM {
            (*thread).state = state::DROPPING;
        }
        opened
    }
}

/// The second lane of `thread`, made if need be. `None` if it cannot be, or in a handler that
/// interrupted its making.
///
/// # Safety
/// `thread` is a descriptor of the calling thread.
pub(crate) unsafe fn second(thread: *mut Thread) -> Option<*mut Thread> {
    let order = Ordering::Relaxed;
    // SAFETY: the caller's promise.
    let second = unsafe { &(*thread).second };
    match second.compare_exchange(core::ptr::null_mut(), thread, order, order) {
        Err(made) => (made != thread).then_some(made),
        Ok(_) => {
            // SAFETY: the caller's promise.
            let made = unsafe { make_second(thread) };
            second.store(made.unwrap_or(core::ptr::null_mut()), order);
            made
        }
    }
}

unsafe fn make_second(thread: *mut Thread) -> Option<*mut Thread> {
    let (runtime, second) = (current()?, Thread::allocate()?);
    // SAFETY: `thread` is the calling thread's; `second` is new.
    unsafe {
        Thread::begin(second, (*thread).serial, Stream::Second, runtime.clock.code());
        (*second).last = write::now(second);
        if !runtime.open_window(second, 0) {
            sys::unmap(second.cast(), Thread::LEN);
            return None;
        }
        (*second).ready = 1;
    }
    Some(second)
}

impl Runtime {
    /// Starts recording. `None` if the process records already or the spool cannot be written.
    /// `forget` is called on a thread when its descriptor is no more.
    pub fn start(config: Config, forget: extern "C" fn()) -> Option<&'static Self> {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        if current().is_some() || TAKEN.swap(true, Ordering::AcqRel) {
            return None;
        }
        let started = Self::begin(config, forget);
        if started.is_none() {
            TAKEN.store(false, Ordering::Release);
        }
        started
    }

    fn begin(config: Config, forget: extern "C" fn()) -> Option<&'static Self> {
        FORGET.store(forget as *mut (), Ordering::Relaxed);
        let clock = clock::detect(config.skew);
        let mut thread_key = 0;
        // SAFETY: `thread_key` is writable and the destructor is a function of the right type.
        if unsafe { libc::pthread_key_create(&mut thread_key, Some(thread_ends)) } != 0 {
            return None;
        }
        let start = clock::triple(clock);
        let (key, events, file) = new_files(&config)?;
        let modes = new_modes()?;
        let definitions = Definitions::new(file, key, start.ticks, modes, config.mode);
        let runtime = Box::leak(Box::new(Self {
            key,
            config,
            clock,
            events,
            definitions: Lock::new(definitions),
            modes,
            next_thread: AtomicU32::new(0),
            serials: AtomicU64::new(0),
            thread_key,
            channels: Lock::new(Channels::default()),
            homeless: AtomicU64::new(0),
            ended: AtomicU32::new(0),
            pid: sys::process_id(),
        }));
        runtime.define_process(start, None);
        runtime.define_levels();
        let anchor = sys::map_zeros(4096)?.cast::<Anchor>();
        if !sys::wipe_on_fork(anchor.cast(), 4096) {
            return None;
        }
        // SAFETY: the page is mapped and zero, which is a null pointer.
        unsafe {
            (*anchor).runtime.store(runtime, Ordering::Release);
            lock::count_generations(&raw mut (*anchor).generation);
        }
        LAST.store(runtime, Ordering::Release);
        // Whoever finds the recorder finds its modes.
        crate::table::publish(modes);
        ANCHOR.store(anchor, Ordering::Release);
        Some(runtime)
    }

    /// The recorder of a forked child. The parent's memory has been copied in whatever state it
    /// was; if another thread was making definitions in that moment, the copy is unusable and the
    /// child records nothing.
    fn fork() -> Option<&'static Self> {
        // SAFETY: recorders are never freed, and the copy is this process's own.
        let parent = unsafe { LAST.load(Ordering::Acquire).as_ref()? };
        if parent.definitions.is_held() || parent.channels.is_held() {
            return None;
        }
        let start = clock::triple(parent.clock);
        let (key, events, file) = new_files(&parent.config)?;
        let modes = new_modes()?;
        // SAFETY: nobody else runs in this process, and the parent's value is not used after this.
        let (definitions, channels) = unsafe {
            (core::ptr::read(&raw const parent.definitions), core::ptr::read(&raw const parent.channels))
        };
        let inherited = definitions.with(|definitions| {
            let written = definitions.written();
            definitions.inherit(file, key, start.ticks, modes);
            written
        })?;
        let runtime = Box::leak(Box::new(Self {
            key,
            config: parent.config.clone(),
            clock: parent.clock,
            events,
            definitions,
            modes,
            next_thread: AtomicU32::new(0),
            serials: AtomicU64::new(parent.serials.load(Ordering::Relaxed)),
            thread_key: parent.thread_key,
            channels,
            homeless: AtomicU64::new(0),
            ended: AtomicU32::new(0),
            pid: sys::process_id(),
        }));
        runtime.define_process(start, Some((parent.key, inherited)));
        LAST.store(runtime, Ordering::Release);
        crate::table::publish(modes);
        let anchor = ANCHOR.load(Ordering::Acquire);
        // SAFETY: the anchor is mapped for ever.
        unsafe { (*anchor).runtime.store(runtime, Ordering::Release) };
        Some(runtime)
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Which clock is counted.
    pub fn clock(&self) -> ClockKind {
        self.clock
    }

    /// A reading of it.
    pub fn ticks(&self) -> u64 {
        clock::ticks_of(self.clock)
    }

    /// The mode of a site; [`Mode::Trace`] is the only one that is recorded.
    #[inline(always)]
    pub fn traces(&self, site: u32) -> bool {
        // SAFETY: `modes` is the recorder's own table.
        unsafe { is_traced(self.modes, site) }
    }

    /// Works with the definitions; `None` in a signal handler that interrupted such work.
    pub fn define<R>(&self, f: impl FnOnce(&mut Definitions) -> R) -> Option<R> {
        self.definitions.with(f)
    }

    /// Numbers of the messages that have gone through each channel.
    pub(crate) fn channels(&self) -> &Lock<Channels> {
        &self.channels
    }

    /// The number of the next nonblocking operation.
    pub fn next_serial(&self) -> u64 {
        self.serials.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A descriptor for the calling thread, which has none yet.
    pub fn attach(&'static self, creator: Option<u32>) -> Option<*mut Thread> {
        let thread = Thread::allocate()?;
        // SAFETY: `thread` is new and given to the calling thread.
        unsafe {
            (*thread).creator = creator.map_or(0, |creator| u64::from(creator) + 1);
            self.begin_thread(thread);
            libc::pthread_setspecific(self.thread_key, thread.cast::<c_void>());
        }
        Some(thread)
    }

    /// Gives `thread` a number and its first window. Without a window it counts its events.
    ///
    /// # Safety
    /// `thread` is an empty descriptor of the calling thread.
    unsafe fn begin_thread(&'static self, thread: *mut Thread) -> bool {
        let serial = self.next_thread.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe {
            Thread::begin(thread, serial, Stream::Events, self.clock.code());
            ((*thread).runtime, (*thread).modes) = (Some(self), self.modes);
            (*thread).last = write::now(thread);
            (*thread).born = (*thread).last;
            self.define_thread(thread, &thread_name());
            if !self.open_window(thread, 0) {
                (*thread).state = state::DROPPING;
                return false;
            }
            (*thread).ready = 1;
        }
        true
    }

    /// Writes down who a thread is. Called again it gives the thread another name: a reader keeps
    /// the last definition of a number.
    ///
    /// # Safety
    /// `thread` is a filled descriptor of the calling thread.
    pub unsafe fn define_thread(&self, thread: *const Thread, name: &str) {
        // SAFETY: the caller's promise.
        let definition = unsafe {
            Definition::Thread {
                serial: (*thread).serial,
                os_thread: (*thread).os_thread,
                name: name.to_owned(),
                ticks: (*thread).born,
                creator: (*thread).creator.checked_sub(1).and_then(|creator| u32::try_from(creator).ok()),
            }
        };
        self.define(|definitions| definitions.define(&definition));
    }

    /// Opens the next window of a descriptor, with room for `room` bytes.
    ///
    /// # Safety
    /// `thread` is a filled descriptor of the calling thread, and not ready.
    unsafe fn open_window(&self, thread: *mut Thread, room: usize) -> bool {
        // SAFETY: the caller's promise; the open stack has `depth` filled entries.
        unsafe {
            let open = core::slice::from_raw_parts((*thread).stack, (*thread).depth as usize);
            let used = (*thread).cursor - (*thread).first;
            let mut head = Head {
                size: 0,
                process: self.key,
                thread: (*thread).serial,
                stream: Stream::from_code((*thread).stream as u8).unwrap_or(Stream::Events),
                sequence: (*thread).sequence,
                ticks: (*thread).last,
                triple: clock::triple(self.clock),
                bytes_before: (*thread).bytes_before + used,
                serial: (*thread).serial_seen,
                buffer: (*thread).buffer,
            };
            let room = if room == 0 { 0 } else { room + 2 * SLACK + Head::records_at(open.len()) };
            let len = window_len(head.bytes_before).max(room);
            let Some(window) = self.events.window(&mut head, open, len) else { return false };
            let old = ((*thread).window, (*thread).window_len);
            let fresh = window as u64;
            (*thread).bytes_before += used;
            (*thread).sequence += 1;
            (*thread).generation += 1;
            (*thread).window = fresh;
            (*thread).window_len = u64::from(head.size);
            (*thread).first = fresh + Head::records_at(open.len()) as u64;
            (*thread).cursor = (*thread).first;
            (*thread).limit = fresh + u64::from(head.size) - SLACK as u64;
            if old.0 != 0 {
                leave_window(thread, old);
            }
            true
        }
    }

    /// Says how the process ends. The last word counts: a handler may take a program out of `abort`,
    /// and one that runs at `exit` may end it in another way. Only `MPI_Abort` has the last word at once,
    /// because it ends the process by one of the other ways. Recording goes on until the end. A child of
    /// `vfork`, which borrows its parent's memory, ends itself and not the parent.
    pub fn end(&self, kind: EndingKind, code: i64) {
        let is_final = u32::from(kind == EndingKind::MpiAbort);
        if sys::process_id() != self.pid || self.ended.fetch_or(is_final, Ordering::Relaxed) != 0 {
            return;
        }
        let end = clock::triple(self.clock);
        let homeless = self.homeless.swap(0, Ordering::Relaxed);
        self.define(|definitions| {
            if homeless != 0 {
                let kind = "dropped".to_owned();
                let detail = "events of threads that could not be given a window".to_owned();
                definitions.define(&Definition::Trouble { kind, count: homeless, detail });
            }
            definitions.define(&Definition::Ending { kind: kind as u8, code, end });
        });
    }

    fn define_process(&self, start: marey_model::Triple, parent: Option<(u64, u64)>) {
        let text = |path: std::io::Result<PathBuf>| {
            path.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let settings = Definition::Settings {
            mode: if self.config.mode == Mode::Trace { "trace" } else { "quiet" }.to_owned(),
            stack_depth: self.config.stack_depth,
            max_bytes: self.config.max_bytes,
        };
        let process = Definition::Process {
            key: self.key,
            pid: sys::process_id(),
            // SAFETY: takes no arguments.
            parent_pid: unsafe { sys::syscall(libc::SYS_getppid, [0; 6]) } as u32,
            host: read_line("/proc/sys/kernel/hostname"),
            boot: read_line("/proc/sys/kernel/random/boot_id"),
            clock: self.clock.code(),
            start,
            command: command_line(),
            executable: text(std::fs::read_link("/proc/self/exe")),
            directory: text(std::env::current_dir()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            environment: Vec::new(),
            forked_from: parent.map(|(key, _)| key),
            inherited: parent.map_or(0, |(_, bytes)| bytes),
            pair_cost: pair_cost(self.clock),
        };
        self.define(|definitions| {
            definitions.define(&process);
            definitions.define(&settings);
        });
    }

    fn define_levels(&self) {
        let levels: [(&str, Tier, &[&str]); 3] = [
            (Level::SOURCE, Tier::Source, &[Level::MPI, Level::THREADS]),
            (Level::MPI, Tier::Runtime, &[]),
            (Level::THREADS, Tier::Runtime, &[]),
        ];
        self.define(|definitions| {
            for (name, tier, built_on) in levels {
                let id = definitions.next_id(DefinitionKind::Level);
                definitions.define(&Definition::Level {
                    id,
                    name: name.to_owned(),
                    tier: tier as u8,
                    built_on: built_on.iter().map(|&name| name.to_owned()).collect(),
                });
            }
        });
    }
}

/// Numbers of the levels that every recorder has.
pub mod level {
    /// [`super::Level::SOURCE`].
    pub const SOURCE: u32 = 0;
    /// [`super::Level::MPI`].
    pub const MPI: u32 = 1;
    /// [`super::Level::THREADS`].
    pub const THREADS: u32 = 2;
}

/// Runs when a thread ends. Other destructors may still record, so the descriptor goes last: the
/// C library calls us again for as long as we set the value anew, up to four times.
extern "C" fn thread_ends(value: *mut c_void) {
    let thread = value.cast::<Thread>();
    let Some(runtime) = current() else { return };
    // SAFETY: the value is the descriptor that `attach` set on this thread.
    unsafe {
        (*thread).end_rounds += 1;
        if (*thread).end_rounds < 3 {
            libc::pthread_setspecific(runtime.thread_key, value);
            return;
        }
        let forget = FORGET.load(Ordering::Relaxed);
        if !forget.is_null() {
            // SAFETY: only `start` stores here, and it stores such a function.
            core::mem::transmute::<*mut (), extern "C" fn()>(forget)();
        }
        end_thread(thread);
        // Not unmapped: a destructor of another library may still hold the pointer and would, with
        // an empty descriptor, merely begin anew.
        sys::discard(thread.cast(), Thread::LEN);
    }
}

/// Takes the counters of an old window over to the present one, seals and unmaps the old.
///
/// # Safety
/// `old` is the address and length of a mapped window of the calling thread's `thread`, which has
/// gone on to another, so that handlers count there already.
unsafe fn leave_window(thread: *mut Thread, old: (u64, u64)) {
    compiler_fence(Ordering::SeqCst);
    // SAFETY: the caller's promise; heads are longer than every offset.
    unsafe {
        let counter = |offset: usize| &*((old.0 as *const u8).add(offset).cast::<AtomicU64>());
        for offset in [at::LATE, at::DROPPED, at::LOCKS, at::SAMPLED_TICKS, at::SAMPLED_CALLS] {
            let before = counter(offset).load(Ordering::Relaxed);
            (*write::head_counter(thread, offset)).fetch_add(before, Ordering::Relaxed);
        }
        counter(at::SEALED).store((*thread).last, Ordering::Release);
        sys::unmap(old.0 as *mut u8, old.1 as usize);
    }
}

/// Ends a descriptor's stream.
///
/// # Safety
/// `thread` belongs to the calling thread.
unsafe fn end_thread(thread: *mut Thread) {
    // SAFETY: the caller's promise.
    unsafe {
        if (*thread).state == state::RECORDING {
            write::write(thread, write::ROOM, |thread, scratch| {
                scratch.byte(op::THREAD_END);
                write::put_delta(thread, scratch);
            });
        }
        let second = (*thread).second.load(Ordering::Relaxed);
        if !second.is_null() {
            end_thread(second);
            sys::discard(second.cast(), Thread::LEN);
        }
        (*thread).ready = 0;
        (*thread).state = state::ENDED;
        (*thread).seen = None;
        let window = (*thread).window;
        if window != 0 {
            (*write::head_counter(thread, at::SEALED)).store((*thread).last, Ordering::Release);
            (*thread).window = 0;
            sys::unmap(window as *mut u8, (*thread).window_len as usize);
        }
    }
}

fn new_modes() -> Option<*mut u8> {
    let modes = sys::map_zeros(MAX_SITES)?;
    sys::wipe_on_fork(modes, MAX_SITES).then_some(modes)
}

/// The two files of a process, under a new key.
fn new_files(config: &Config) -> Option<(u64, SpoolFile, SpoolFile)> {
    let mut random = [0; 8];
    if !sys::random(&mut random) {
        random = (clock::realtime_ns() ^ u64::from(sys::process_id()) << 40).to_le_bytes();
    }
    let key = u64::from_le_bytes(random);
    let host = read_line("/proc/sys/kernel/hostname");
    let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || "-.".contains(*c)).collect();
    let path = |extension: &str| {
        let name = format!("{host}-{}-{key:016x}.{extension}", sys::process_id());
        CString::new(config.spool.join(name).as_os_str().as_bytes()).ok()
    };
    let definitions = SpoolFile::create(path("definitions")?, 0)?;
    let events = SpoolFile::create(path("events")?, config.max_bytes)?;
    Some((key, events, definitions))
}

fn read_line(path: &str) -> String {
    std::fs::read(path)
        .map(|bytes| String::from_utf8_lossy(bytes.trim_ascii()).into_owned())
        .unwrap_or_default()
}

fn command_line() -> Vec<String> {
    let bytes = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let words = bytes.strip_suffix(b"\0").unwrap_or(&bytes).split(|&byte| byte == 0);
    // A run's metadata are not the place for a megabyte of generated arguments.
    words.take(256).map(|word| String::from_utf8_lossy(&word[..word.len().min(4096)]).into_owned()).collect()
}

fn thread_name() -> String {
    let mut name = [0_u8; 16];
    // SAFETY: PR_GET_NAME writes at most 16 bytes.
    unsafe {
        let args = [libc::PR_GET_NAME as usize, name.as_mut_ptr() as usize, 0, 0, 0, 0];
        sys::syscall(libc::SYS_prctl, args);
    }
    let len = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..len]).into_owned()
}

/// What an enter and a leave cost here and now, in hundredths of a tick: the real code, on a
/// window that nobody keeps. The least of several rounds, for noise only ever adds.
fn pair_cost(kind: ClockKind) -> u64 {
    const LEN: usize = 16 << 10;
    let (Some(thread), Some(window)) = (Thread::allocate(), sys::map_zeros(LEN)) else { return 0 };
    let mut best = u64::MAX;
    // SAFETY: both mappings are ours alone and unmapped after their last use. The window is large
    // enough for the pairs of a round.
    unsafe {
        Thread::begin(thread, 0, Stream::Events, kind.code());
        (*thread).window = window as u64;
        (*thread).ready = 1;
        for _ in 0..8 {
            (*thread).cursor = window as u64 + Head::records_at(0) as u64;
            (*thread).limit = window as u64 + (LEN - SLACK) as u64;
            let before = clock::ticks_of(kind);
            (*thread).last = before;
            for _ in 0..200 {
                write::enter(thread, 1);
                write::leave(thread);
            }
            best = best.min(clock::ticks_of(kind).saturating_sub(before));
        }
        sys::unmap(window, LEN);
        sys::unmap(thread.cast(), Thread::LEN);
    }
    best / 2
}
