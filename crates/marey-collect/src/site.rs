//! From a call to the site it is recorded under: function, principal noun and user call stack.
//!
//! A stack is walked once; then it is recognised by checking the few stack slots that the walk had
//! depended on ([`crate::unwind`]), in a cache of the thread's ([`crate::stack_cache`]).

use core::sync::atomic::{Ordering, compiler_fence};

use marey_measure::{Definitions, Lock, RegionKey, Runtime, Thread, level};
use marey_model::spool::{Definition, DefinitionKind};
use marey_model::{RegionId, Role, SiteId};
use rustc_hash::FxHashMap;

use crate::entry::Entry;
use crate::stack_cache::{Hash, StackCache, hash_of};
use crate::unwind::{EntryRegs, Modules, StackCapture, StackEnd, UnwindModule, Unwinder};

/// What a site is made from besides the stack. The number of the noun is the communicator's,
/// window's or file's label; `u32::MAX` for none.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct What {
    pub(crate) function: u32,
    pub(crate) noun: u32,
}

impl What {
    /// All of it, for hashes.
    #[inline(always)]
    pub(crate) fn word(self) -> u64 {
        u64::from(self.function) | u64::from(self.noun) << 32
    }
}

/// A thread's cache of sites, with all it takes to walk a stack. What each call needs comes first.
#[repr(C)]
pub(crate) struct Sites {
    /// Its epoch is the number of [`CLOSINGS`] since which it was filled.
    cache: StackCache,
    /// Sites by a hash of function, noun and return addresses: for stacks that are known, but at
    /// another place in memory than the cache has seen them.
    by_frames: FxHashMap<Hash, SiteId>,
    capture: Box<StackCapture>,
    modules: Modules,
    unwinder: Unwinder,
    /// By [`UnwindModule::serial`].
    numbers: Vec<Option<NumberedModule>>,
    regions: FxHashMap<What, RegionId>,
    /// Room for the frames of a stack that is being defined.
    frames: Vec<(u32, u64)>,
    stack: (usize, usize),
    /// Stack pointer of the call whose stack is being looked up; 0 if none is. A handler of signals that comes then,
    /// or what the C library allocates meanwhile, must leave all of this alone.
    busy: usize,
}

/// What it takes to write down an address in a module.
#[derive(Clone, Copy)]
struct NumberedModule {
    number: u32,
    bias: usize,
    /// Whether it is a runtime library of OpenMP.
    is_openmp: bool,
}

/// Stacks that a thread remembers by their frames; beyond it the memory starts anew.
const MAX_BY_FRAMES: usize = 1 << 14;

/// How often the program has closed a library: addresses may mean something else since.
pub(crate) static CLOSINGS: core::sync::atomic::AtomicU64 = core::sync::atomic::AtomicU64::new(0);

impl Sites {
    pub(crate) fn new(depth: u32) -> Box<Self> {
        Box::new(Self {
            cache: StackCache::new(),
            by_frames: FxHashMap::default(),
            capture: Box::new(StackCapture::empty()),
            modules: Modules::default(),
            unwinder: Unwinder::with_depth(depth as usize),
            numbers: Vec::new(),
            regions: FxHashMap::default(),
            frames: Vec::new(),
            stack: (0, 0),
            busy: 0,
        })
    }

    /// The site of `what`, called with `regs`, if the call's stack is in the cache.
    ///
    /// # Safety
    /// The call has not returned, and is of the calling thread, whose sites these are.
    #[inline(always)]
    unsafe fn known(&mut self, what: What, regs: EntryRegs) -> Option<SiteId> {
        if self.is_stale() {
            return None;
        }
        // SAFETY: the caller's promise.
        unsafe { self.cache.find(what, regs) }
    }

    /// Whether the program has closed a library since the cache was filled.
    #[inline(always)]
    fn is_stale(&self) -> bool {
        self.cache.epoch != CLOSINGS.load(Ordering::Relaxed)
    }

    #[cold]
    fn walk(&mut self, runtime: &Runtime, what: What, regs: EntryRegs) -> Option<SiteId> {
        let end = self.stack_end(regs.sp);
        // SAFETY: the entry is the caller's promise; `end` bounds the stack that it lies on.
        unsafe { self.unwinder.unwind(&self.modules, regs, end, &mut self.capture) };
        if self.capture.end() == StackEnd::UnknownModule {
            self.refresh(runtime);
            // SAFETY: as above.
            unsafe { self.unwinder.unwind(&self.modules, regs, end, &mut self.capture) };
        }
        let frames = self.capture.frames().iter().map(|&frame| frame as u64);
        let key = hash_of(core::iter::once(what.word()).chain(frames));
        let site = match self.by_frames.get(&key) {
            Some(&site) => site,
            None => {
                let site = self.define(runtime, what)?;
                if self.by_frames.len() >= MAX_BY_FRAMES {
                    self.by_frames.clear();
                }
                self.by_frames.insert(key, site);
                site
            }
        };
        // SAFETY: as above.
        unsafe { self.cache.insert(what, regs, &self.capture, site) };
        Some(site)
    }

    /// The site of `what` with the captured stack, as a definition.
    fn define(&mut self, runtime: &Runtime, what: What) -> Option<SiteId> {
        let of_openmp = self.number_frames(runtime);
        // A construct that the runtime itself tells of is called for by whoever called the runtime.
        let is_construct = crate::openmp::verb(what.function).is_some();
        let frames = &self.frames[if is_construct { of_openmp } else { 0 }..];
        let complete = self.capture.end() == StackEnd::Complete;
        let known = self.regions.get(&what).copied();
        let key = if known.is_none() { Some(region_of(what)?) } else { None };
        let (region, site) = runtime.define(|definitions| {
            let region = known.or_else(|| define_region(definitions, what, key.as_ref()?));
            let stack = if frames.is_empty() { None } else { definitions.stack(frames, complete) };
            (region, definitions.site(region, stack))
        })?;
        if let Some(region) = region {
            self.regions.insert(what, region);
        }
        Some(site)
    }

    /// Fills in the frames as (number of the module, virtual address). How many of the innermost are those of a runtime
    /// library of OpenMP, one after the other.
    fn number_frames(&mut self, runtime: &Runtime) -> usize {
        self.frames.clear();
        let mut of_openmp = 0;
        for (&address, &serial) in self.capture.frames().iter().zip(self.capture.modules()) {
            let known = serial.idx().and_then(|idx| self.numbers.get(idx).copied().flatten());
            let module = match known {
                Some(module) => module,
                None => {
                    let Some(module) = self.modules.find(address) else { break };
                    let is_openmp = crate::openmp::is_runtime(module.path.as_os_str().as_encoded_bytes());
                    let number = number_of(runtime, module);
                    let numbered = NumberedModule { number, bias: module.bias, is_openmp };
                    if let Some(idx) = serial.idx() {
                        self.numbers.resize(self.numbers.len().max(idx + 1), None);
                        self.numbers[idx] = Some(numbered);
                    }
                    numbered
                }
            };
            if module.is_openmp && of_openmp == self.frames.len() {
                of_openmp += 1;
            }
            self.frames.push((module.number, (address - module.bias) as u64));
        }
        of_openmp
    }

    /// The module that a variable lies in, and the virtual address there.
    #[cfg(not(feature = "linked"))]
    pub(crate) fn place(&mut self, runtime: &Runtime, address: usize) -> Option<(u32, u64)> {
        if self.modules.find(address).is_none() {
            self.refresh(runtime);
        }
        let module = self.modules.find(address)?;
        Some((number_of(runtime, module), (address - module.bias) as u64))
    }

    /// The module that an address lies in, if that is known without asking, and the virtual address there.
    #[cfg(not(feature = "linked"))]
    pub(crate) fn known_place(&mut self, runtime: &Runtime, address: usize) -> Option<(u32, u64)> {
        let module = self.modules.find(address)?;
        Some((number_of(runtime, module), (address - module.bias) as u64))
    }

    /// The frame that an address of the stack lies in, and where its function goes on.
    ///
    /// # Safety
    /// `entry` is that of a call that has not returned, of the calling thread.
    #[cfg(not(feature = "linked"))]
    pub(crate) unsafe fn frame_of(
        &mut self,
        runtime: &Runtime,
        entry: Entry,
        address: usize,
    ) -> Option<(crate::unwind::FrameOf, (u32, u64))> {
        // SAFETY: the return address lies at the stack pointer of the entry.
        let regs = EntryRegs { ip: unsafe { *(entry.sp as *const usize) }, sp: entry.sp, rbp: entry.bp };
        let end = self.stack_end(regs.sp);
        if !(regs.sp..end).contains(&address) {
            return None;
        }
        if self.is_stale() {
            self.forget(runtime);
        }
        self.busy = regs.sp;
        compiler_fence(Ordering::SeqCst);
        let frame = marey_measure::sys::undisturbed(|| {
            // SAFETY: the entry is the caller's promise; `end` bounds the stack that it lies on.
            unsafe { self.unwinder.frame_of(&self.modules, regs, end, address) }
        });
        compiler_fence(Ordering::SeqCst);
        self.busy = 0;
        let frame = frame?;
        Some((frame, self.known_place(runtime, frame.pc)?))
    }

    fn refresh(&mut self, runtime: &Runtime) {
        let change = self.modules.refresh();
        // Where we are linked, our module is the program.
        #[cfg(not(feature = "linked"))]
        self.modules.mark_ours(Self::new as *const () as usize);
        for module in &change.removed {
            unmapped(runtime, module);
        }
        self.numbers.clear();
    }

    /// After a library was closed.
    #[cold]
    fn forget(&mut self, runtime: &Runtime) {
        self.cache.epoch = CLOSINGS.load(Ordering::Relaxed);
        self.cache.clear();
        self.by_frames.clear();
        self.refresh(runtime);
    }

    /// Finds out where the calling thread's stack lies. Asking takes memory from the program's
    /// `malloc`, which a call from inside that very `malloc` could not have.
    pub(crate) fn know_stack(&mut self) {
        self.stack = own_stack();
    }

    /// Where the thread's own stack lies, as far as that is known; it may be part of it.
    pub(crate) fn own_stack(&self) -> core::ops::Range<usize> {
        self.stack.0..self.stack.1
    }

    /// The end of the stack that `sp` lies on. A stack that is not the thread's own (a coroutine's,
    /// a signal stack) is only trusted for as far as a page goes.
    fn stack_end(&mut self, sp: usize) -> usize {
        // A handler of signals may run on another stack, and must not ask.
        if self.stack == (0, 0) {
            self.stack = own_stack();
        }
        if (self.stack.0..self.stack.1).contains(&sp) { self.stack.1 } else { (sp | 4095) + 1 }
    }
}

/// The site of a call of the calling thread, by its own cache.
///
/// # Safety
/// `entry` is that of a call that has not returned, of the calling thread, whose descriptor `thread` is.
#[inline(always)]
pub(crate) unsafe fn find(thread: *mut Thread, what: What, entry: Entry) -> Option<SiteId> {
    // SAFETY: the return address lies at the entry's stack pointer; the slot is the calling thread's
    // own, and so are the sites.
    unsafe {
        let regs = EntryRegs { ip: *(entry.sp as *const usize), sp: entry.sp, rbp: entry.bp };
        if let Some(sites) = (*crate::entry::slot()).sites.as_mut() {
            sites.busy = regs.sp;
            compiler_fence(Ordering::SeqCst);
            let known = sites.known(what, regs);
            compiler_fence(Ordering::SeqCst);
            sites.busy = 0;
            if known.is_some() {
                return known;
            }
        }
        learn(Thread::runtime(thread)?, what, regs)
    }
}

/// Whether the sites of the calling thread can be asked for a call at stack pointer `sp`, whose stack is the thread's
/// own and has `room` bytes left: not in a handler of signals that has interrupted them.
#[cfg(not(feature = "linked"))]
#[inline(always)]
pub(crate) fn is_free(sp: usize, room: usize) -> bool {
    // SAFETY: the slot is the calling thread's own, and the sites live as long as the process.
    let Some(sites) = (unsafe { (*crate::entry::slot()).sites.as_ref() }) else { return false };
    let own = sites.own_stack();
    // What was left by a jump lies further in.
    own.contains(&sp) && room <= sp - own.start && !(own.contains(&sites.busy) && sp < sites.busy)
}

/// The site of a call whose stack is not in the cache.
#[cold]
fn learn(runtime: &Runtime, what: What, regs: EntryRegs) -> Option<SiteId> {
    if crate::alloc::is_exhausted() {
        return None;
    }
    #[cfg(not(feature = "linked"))]
    crate::sampler::settle(runtime);
    let sites = of_thread(runtime);
    sites.busy = regs.sp;
    compiler_fence(Ordering::SeqCst);
    // Once for all locks that are taken on the way.
    let site = marey_measure::sys::undisturbed(|| {
        if sites.is_stale() {
            sites.forget(runtime);
        }
        sites.walk(runtime, what, regs)
    });
    compiler_fence(Ordering::SeqCst);
    sites.busy = 0;
    site
}

/// Where the calling thread's own stack lies, as far as that is known.
pub(crate) extern "C" fn known_stack() -> marey_measure::Stack {
    // SAFETY: the slot and the sites are the calling thread's own.
    let known = unsafe { (*crate::entry::slot()).sites.as_ref() }.map_or(0..0, Sites::own_stack);
    marey_measure::Stack { start: known.start, end: known.end }
}

/// Bounds of the calling thread's stack.
fn own_stack() -> (usize, usize) {
    // SAFETY: the attributes are initialised by the first call and destroyed by the last.
    unsafe {
        let mut attributes: libc::pthread_attr_t = core::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
            return (0, 0);
        }
        let (mut start, mut len) = (core::ptr::null_mut(), 0);
        libc::pthread_attr_getstack(&attributes, &mut start, &mut len);
        libc::pthread_attr_destroy(&mut attributes);
        (start as usize, start as usize + len)
    }
}

/// Modules that have been defined, by start and bias: number and path.
static DEFINED: Lock<Option<FxHashMap<(usize, usize), Defined>>> = Lock::new(None);
type Defined = (u32, std::path::PathBuf);

pub(crate) fn number_of(runtime: &Runtime, module: &UnwindModule) -> u32 {
    let key = (module.start, module.bias);
    DEFINED
        .with_or_renew(Option::default, |defined| {
            let defined = defined.get_or_insert_default();
            if let Some((number, path)) = defined.get(&key)
                && *path == module.path
            {
                return *number;
            }
            let ticks = runtime.ticks();
            let number = runtime.define(|definitions| {
                let id = definitions.next_id(DefinitionKind::Module);
                definitions.define(&Definition::Module {
                    id,
                    path: module.path.to_string_lossy().into_owned(),
                    build_id: module.build_id.clone(),
                    bias: module.bias as u64,
                    start: module.start as u64,
                    end: module.end as u64,
                    ticks,
                });
                id
            });
            let number = number.unwrap_or(u32::MAX);
            defined.insert(key, (number, module.path.clone()));
            number
        })
        .unwrap_or(u32::MAX)
}

/// Looks what is loaded, and defines all that is new. Whether anything has changed.
#[cfg(not(feature = "linked"))]
pub(crate) fn define_modules(runtime: &Runtime, modules: &mut Modules) -> bool {
    let change = modules.refresh();
    for module in &change.removed {
        unmapped(runtime, module);
    }
    for module in &change.added {
        number_of(runtime, module);
    }
    !change.removed.is_empty() || !change.added.is_empty()
}

pub(crate) fn unmapped(runtime: &Runtime, module: &UnwindModule) {
    let number = DEFINED
        .with_or_renew(Option::default, |defined| {
            defined.as_mut().and_then(|defined| defined.remove(&(module.start, module.bias)))
        })
        .flatten();
    if let Some((id, _)) = number {
        let ticks = runtime.ticks();
        runtime.define(|definitions| definitions.define(&Definition::Unmapped { id, ticks }));
    }
}

/// Labels of the nouns of [`What::noun`]: kind and name.
static NOUNS: Lock<Vec<(&'static str, String)>> = Lock::new(Vec::new());
/// Nouns beyond this many share one number, so that a program that makes a communicator in every
/// step does not have a region for each.
const MAX_NOUNS: usize = 256;

/// The number of a noun for [`What`].
pub(crate) fn noun(kind: &'static str, name: &str) -> u32 {
    NOUNS
        .with(|nouns| {
            if let Some(idx) = nouns.iter().position(|(k, n)| *k == kind && n == name) {
                return idx as u32;
            }
            if nouns.len() >= MAX_NOUNS {
                let other = format!("(other {kind}s)");
                if let Some(idx) = nouns.iter().position(|(k, n)| *k == kind && *n == other) {
                    return idx as u32;
                }
                nouns.push((kind, other));
            } else {
                nouns.push((kind, name.to_owned()));
            }
            (nouns.len() - 1) as u32
        })
        .unwrap_or(u32::MAX)
}

/// Base of the function numbers of thread functions in [`What::function`].
pub(crate) const THREAD_FUNCTIONS: u32 = 1 << 16;
/// The same of functions on files.
#[cfg(not(feature = "linked"))]
pub(crate) const FILE_FUNCTIONS: u32 = 1 << 17;
/// The same of functions of the system that wait.
#[cfg(not(feature = "linked"))]
pub(crate) const SYSTEM_FUNCTIONS: u32 = 1 << 18;

/// The same of functions of coarrays.
#[cfg(not(feature = "linked"))]
pub(crate) const COARRAY_FUNCTIONS: u32 = 1 << 21;

/// The same of what Kokkos tells.
#[cfg(not(feature = "linked"))]
pub(crate) const KOKKOS_VERBS: u32 = 1 << 22;

/// The same of functions that allocate.
#[cfg(not(feature = "linked"))]
pub(crate) const HEAP_FUNCTIONS: u32 = 1 << 19;

/// The same of constructs of OpenMP.
#[cfg(not(feature = "linked"))]
pub(crate) const OPENMP_CONSTRUCTS: u32 = 1 << 20;

/// The site that says nothing of where the call came from.
#[cold]
pub(crate) fn without_stack(runtime: &Runtime, what: What) -> Option<SiteId> {
    let key = region_of(what)?;
    runtime.define(|definitions| {
        let region = define_region(definitions, what, &key);
        definitions.site(region, None)
    })
}

/// The number of a region. Where its noun is a construct of the program's, the place of that goes with it; where it is a
/// datum, it is said which.
fn define_region(definitions: &mut Definitions, what: What, key: &RegionKey) -> Option<RegionId> {
    if let Some((module, vaddr)) = crate::openmp::place(what.noun) {
        return definitions.region_at(key, module, vaddr);
    }
    let region = definitions.region(key)?;
    if let Some(data) = crate::data::of_noun(what.noun) {
        definitions.define(&Definition::RegionData { region: region.0, data });
    }
    Some(region)
}

fn region_of(what: What) -> Option<RegionKey> {
    let (noun_kind, noun) = match crate::files::name(what.noun) {
        Some(name) => ("file", name),
        None if crate::data::of_noun(what.noun).is_some() => ("data", format!("data {}", what.noun)),
        None if crate::openmp::place(what.noun).is_some() => ("construct", crate::openmp::name(what.noun)?),
        None => match crate::kokkos::named(what.noun) {
            Some(named) => named,
            None => NOUNS.with(|nouns| nouns.get(what.noun as usize).cloned()).flatten().unwrap_or_default(),
        },
    };
    let (level, verb, role) = if what.function < THREAD_FUNCTIONS {
        let function = crate::mpi::FUNCTIONS.get(what.function as usize)?;
        (level::MPI, function.name, function.role)
    } else if let Some(verb) = crate::files::verb(what.function) {
        (level::FILES, verb, Role::Io)
    } else if let Some((verb, role)) = crate::system::verb(what.function) {
        (level::SYSTEM, verb, role)
    } else if let Some((verb, role)) = crate::coarray::verb(what.function) {
        (level::COARRAY, verb, role)
    } else if let Some((verb, role)) = crate::kokkos::verb(what.function) {
        (level::KOKKOS, verb, role)
    } else if let Some(verb) = crate::heap::verb(what.function) {
        (level::MEMORY, verb, Role::Manage)
    } else if let Some((verb, role)) = crate::openmp::verb(what.function) {
        (level::OPENMP, verb, role)
    } else {
        let &(name, role) = crate::threads::FUNCTIONS.get((what.function - THREAD_FUNCTIONS) as usize)?;
        (level::THREADS, name, role)
    };
    Some(RegionKey { level, verb: verb.to_owned(), role, noun_kind, noun, file: String::new(), line: 0 })
}

/// The calling thread's sites, made if need be. They live as long as the process: a thread's end
/// is no place to run our destructors.
pub(crate) fn of_thread(runtime: &Runtime) -> &'static mut Sites {
    let slot = crate::entry::slot();
    // SAFETY: the slot is the calling thread's own, and so are the sites.
    unsafe {
        if (*slot).sites.is_null() {
            (*slot).sites =
                take_free().unwrap_or_else(|| Box::into_raw(Sites::new(runtime.config().stack_depth)));
        }
        &mut *(*slot).sites
    }
}

/// Sites of threads that have ended, for those to come.
static FREE: Lock<Vec<SitesPointer>> = Lock::new(Vec::new());

struct SitesPointer(*mut Sites);

// SAFETY: whoever takes the pointer out of the list owns what it points to.
unsafe impl Send for SitesPointer {}

fn take_free() -> Option<*mut Sites> {
    let sites = FREE.with_or_renew(Vec::new, Vec::pop).flatten()?.0;
    // The cache reads slots of the stack that it was filled on; the new thread's may end earlier.
    // SAFETY: whoever takes the pointer out of the list owns what it points to.
    unsafe {
        (*sites).cache.clear();
        ((*sites).stack, (*sites).busy) = ((0, 0), 0);
    }
    Some(sites)
}

/// To be called when a thread ends.
pub(crate) fn thread_ends() {
    let slot = crate::entry::slot();
    // SAFETY: as in `of_thread`.
    unsafe {
        if !(*slot).sites.is_null() {
            let sites = SitesPointer((*slot).sites);
            (*slot).sites = core::ptr::null_mut();
            FREE.with_or_renew(Vec::new, |free| free.push(sites));
        }
    }
}
