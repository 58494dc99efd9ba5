//! The table of loaded modules: what lies where in memory, which file that is, how to unwind through it.
//!
//! Unwind tables are read in place. That is safe as they are only read for code on the reader's own stack:
//! nobody may unload that, and [`Modules::is_current`] tells before whether the address still belongs to
//! the module that the table names. A sampler, which looks at any time, goes by what the program has closed meanwhile
//! (`sampler/walk.rs`).

#![expect(unsafe_code, reason = "reads the loader's records and the program headers of mapped modules")]

use std::ffi::{CStr, OsStr, OsString, c_int, c_void};
use std::mem::offset_of;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libc::{PT_GNU_EH_FRAME, PT_LOAD, PT_NOTE, dl_phdr_info};
use marey_measure::sys;

/// All modules of the process.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    /// Sorted by start.
    list: Vec<Arc<UnwindModule>>,
    /// How often the loader had added and removed modules at the last look.
    counts: Option<LoaderCounts>,
    generation: u64,
    /// Modules that were ever found.
    n_found: usize,
}

/// What a module is called among all that one table ever held: the count of those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ModuleSerial(u16);

impl ModuleSerial {
    /// That of modules beyond as many as there are numbers for, and of no module at all.
    pub(crate) const UNKNOWN: Self = Self(u16::MAX);

    /// For tables by serial; `None` of [`Self::UNKNOWN`].
    pub(crate) fn idx(self) -> Option<usize> {
        (self != Self::UNKNOWN).then_some(usize::from(self.0))
    }
}

/// One loaded executable or shared library.
#[derive(Debug, Clone)]
pub(crate) struct UnwindModule {
    /// File, as the loader knows it; for the executable its resolved path.
    pub(crate) path: PathBuf,
    /// Run-time address − virtual address in the file (`dlpi_addr`); 0 for fixed executables.
    pub(crate) bias: usize,
    /// First mapped address.
    pub(crate) start: usize,
    /// Behind the last mapped address.
    pub(crate) end: usize,
    /// Content of its `NT_GNU_BUILD_ID` note; empty without one.
    pub(crate) build_id: Vec<u8>,
    /// Whose code it is.
    pub(crate) kind: ModuleKind,
    /// Its number in the table, for tables of those who know it.
    pub(crate) serial: ModuleSerial,
    /// Its unwind tables, if it has them.
    pub(crate) tables: Option<UnwindTables>,
}

/// Whose code a module holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModuleKind {
    /// The program and its libraries.
    User,
    /// An MPI library or what it is made of.
    Mpi,
    /// Our own library.
    Ours,
}

/// What a [`Modules::refresh`] found.
#[derive(Debug, Default)]
pub(crate) struct ModuleChange {
    /// Now mapped.
    pub(crate) added: Vec<Arc<UnwindModule>>,
    /// No longer mapped.
    pub(crate) removed: Vec<Arc<UnwindModule>>,
}

/// `.eh_frame_hdr` and `.eh_frame` with the run-time addresses that their pointers are relative to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnwindTables {
    header: (usize, usize),
    frames: (usize, usize),
}

impl UnwindTables {
    /// Addresses of the header and of the frames.
    pub(super) fn addresses(&self) -> (usize, usize) {
        (self.header.0, self.frames.0)
    }

    /// Those whose header lies at an address, both in memory that is mapped up to another. `None` if the header
    /// makes no sense.
    ///
    /// # Safety
    /// As for [`Self::bytes`].
    #[cfg(not(feature = "linked"))]
    pub(crate) unsafe fn at(header: usize, end: usize) -> Option<Self> {
        // SAFETY: by contract.
        let frames = super::rules::frames_address(unsafe { mapped(header, end) }, header)?;
        Some(Self { header: (header, end), frames: (frames, end) })
    }

    /// The bytes of the header and of the frames.
    ///
    /// # Safety
    /// The module must stay loaded while the result is used.
    pub(super) unsafe fn bytes<'a>(&self) -> (&'a [u8], &'a [u8]) {
        // SAFETY: by contract; both ranges are inside mapped parts of the module.
        unsafe { (mapped(self.header.0, self.header.1), mapped(self.frames.0, self.frames.1)) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LoaderCounts {
    adds: u64,
    subs: u64,
}

impl Modules {
    /// Looks what is loaded. Costs one call into the loader (about 0.1 µs) when nothing changed.
    pub(crate) fn refresh(&mut self) -> ModuleChange {
        let mut scan = Scan {
            known: &self.list,
            last: self.counts,
            found: Vec::new(),
            counts: None,
            is_unchanged: false,
        };
        // SAFETY: `visit` gets the pointer to `scan`, which lives and is used by nobody else until the
        // call returns.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut scan).cast()) };
        if scan.is_unchanged {
            return ModuleChange::default();
        }
        let (found, counts) = (scan.found, scan.counts);
        let mut change = ModuleChange::default();
        let mut list: Vec<Arc<UnwindModule>> = Vec::with_capacity(found.len());
        for module in found {
            match module {
                Found::Known(index) => list.push(self.list[index].clone()),
                Found::New(mut module) => {
                    module.serial = u16::try_from(self.n_found).map_or(ModuleSerial::UNKNOWN, ModuleSerial);
                    self.n_found += 1;
                    let module = Arc::new(module);
                    change.added.push(module.clone());
                    list.push(module);
                }
            }
        }
        list.sort_unstable_by_key(|module| module.start);
        change.removed =
            self.list.iter().filter(|old| !list.iter().any(|new| Arc::ptr_eq(old, new))).cloned().collect();
        self.generation += u64::from(!change.removed.is_empty());
        (self.list, self.counts) = (list, counts);
        change
    }

    /// True when nothing was loaded or unloaded since the last refresh. Costs one call into the loader.
    pub(crate) fn is_current(&self) -> bool {
        let mut counts: Option<LoaderCounts> = None;
        // SAFETY: `visit_counts` gets the pointer to `counts`, which lives until the call returns.
        unsafe { libc::dl_iterate_phdr(Some(visit_counts), (&raw mut counts).cast()) };
        counts.is_some() && counts == self.counts
    }

    /// The module that `address` lies in.
    pub(crate) fn find(&self, address: usize) -> Option<&Arc<UnwindModule>> {
        let after = self.list.partition_point(|module| module.start <= address);
        self.list[..after].last().filter(|module| address < module.end)
    }

    /// All modules, by address.
    #[cfg(any(test, not(feature = "linked")))]
    pub(crate) fn list(&self) -> &[Arc<UnwindModule>] {
        &self.list
    }

    /// Changes whenever a module went away, so that its addresses may from now on mean something else:
    /// stacks captured before are not to be trusted any more.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// Says that the module holding `address` is our own library. To be called before stacks are captured.
    #[cfg_attr(feature = "linked", expect(dead_code, reason = "linked, we are part of the program"))]
    pub(crate) fn mark_ours(&mut self, address: usize) {
        for module in &mut self.list {
            if module.start <= address && address < module.end && module.kind != ModuleKind::Ours {
                // The lists of the refresh may share the module: a twin then takes its place.
                Arc::make_mut(module).kind = ModuleKind::Ours;
            }
        }
    }
}

/// True when a file of this name belongs to an MPI library: itself, its Fortran layer, its run-time
/// system, plugins and transports.
pub(crate) fn is_mpi_file(path: &Path) -> bool {
    const PREFIXES: [&str; 20] = [
        "libmpi.",
        "libmpi_",
        "libmpi-",
        "libmpi++",
        "libmpich",
        "libmpicxx",
        "libmpifort",
        "libpmpi",
        "libfmpich",
        "libopen-rte",
        "libopen-pal",
        "libopal_",
        "libpmix",
        "libprrte",
        "mca_",
        "libmca_",
        "libucp.",
        "libuct",
        "libucs",
        "libucm",
    ];
    let name = path.file_name().unwrap_or_default().as_bytes();
    PREFIXES.iter().any(|prefix| name.starts_with(prefix.as_bytes()))
}

/// One iteration over the loader's records.
struct Scan<'a> {
    known: &'a [Arc<UnwindModule>],
    last: Option<LoaderCounts>,
    found: Vec<Found>,
    counts: Option<LoaderCounts>,
    is_unchanged: bool,
}

enum Found {
    /// Index in `known`.
    Known(usize),
    New(UnwindModule),
}

/// Called by the loader for each module, under its lock.
unsafe extern "C" fn visit(info: *mut dl_phdr_info, size: usize, scan: *mut c_void) -> c_int {
    // SAFETY: `refresh` passed a pointer to a `Scan` that nobody else uses meanwhile.
    let scan = unsafe { &mut *scan.cast::<Scan<'_>>() };
    // SAFETY: the loader passes a valid record.
    let info = unsafe { &*info };
    if scan.counts.is_none() {
        scan.counts = LoaderCounts::read(info, size);
        scan.is_unchanged = scan.counts.is_some() && scan.counts == scan.last;
        if scan.is_unchanged {
            return 1;
        }
    }
    if !is_there(info) {
        return 0;
    }
    if let Some(image) = Image::read(info) {
        let known = scan.known.iter().position(|module| image.is(module));
        scan.found.push(match known {
            Some(index) => Found::Known(index),
            None => Found::New(image.module()),
        });
    }
    0
}

/// How many threads are closing a library.
#[cfg(not(feature = "linked"))]
pub(crate) static CLOSING: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);

/// Whether a module that the loader lists is mapped. A handler of signals may have interrupted the loader between
/// unmapping a library and taking it from its list.
#[cfg(not(feature = "linked"))]
fn is_there(info: &dl_phdr_info) -> bool {
    use marey_measure::sys;

    if CLOSING.load(core::sync::atomic::Ordering::Relaxed) == 0 || info.dlpi_phdr.is_null() {
        return true;
    }
    // Where the kernel may not be asked, it is taken to be there.
    let read = sys::copy_own(info.dlpi_phdr as usize, &mut [0]);
    read != -(libc::EFAULT as isize)
}

/// Nothing is ever closed where we are linked.
#[cfg(feature = "linked")]
fn is_there(_: &dl_phdr_info) -> bool {
    true
}

/// The same, for the counts alone.
unsafe extern "C" fn visit_counts(info: *mut dl_phdr_info, size: usize, counts: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid record.
    let found = LoaderCounts::read(unsafe { &*info }, size);
    // SAFETY: `is_current` passed a pointer to an `Option<LoaderCounts>` that nobody else uses meanwhile.
    unsafe { *counts.cast::<Option<LoaderCounts>>() = found };
    1
}

impl LoaderCounts {
    /// `None` from loaders that do not count.
    fn read(info: &dl_phdr_info, size: usize) -> Option<Self> {
        let is_counting = offset_of!(dl_phdr_info, dlpi_subs) + size_of::<u64>() <= size;
        is_counting.then_some(Self { adds: info.dlpi_adds, subs: info.dlpi_subs })
    }
}

/// A module as its program headers describe it.
struct Image {
    bias: usize,
    start: usize,
    end: usize,
    name: &'static [u8],
    /// Loaded parts as addresses from–to; tables are only read inside one of them.
    parts: Vec<(usize, usize)>,
    header: Option<(usize, usize)>,
    build_id: &'static [u8],
    /// A recorder is linked into it.
    #[cfg_attr(feature = "linked", expect(dead_code, reason = "asked by the library that is loaded"))]
    has_recorder: bool,
}

impl Image {
    /// The lifetimes are those of the loader's iteration; [`Image::module`] copies what outlives it.
    fn read(info: &dl_phdr_info) -> Option<Self> {
        let bias = usize::try_from(info.dlpi_addr).ok()?;
        if info.dlpi_phdr.is_null() {
            return None;
        }
        // SAFETY: the loader keeps `dlpi_phnum` headers at `dlpi_phdr` while the module is loaded.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
        let range = |header: &libc::Elf64_Phdr| {
            let start = bias.wrapping_add(usize::try_from(header.p_vaddr).ok()?);
            Some((start, start.checked_add(usize::try_from(header.p_memsz).ok()?)?))
        };
        let of_type = |wanted| headers.iter().filter(move |header| header.p_type == wanted);
        let parts: Vec<_> = of_type(PT_LOAD).filter_map(range).collect();
        let is_loaded =
            |&(from, to): &(usize, usize)| parts.iter().any(|part| part.0 <= from && to <= part.1);
        let start = parts.iter().map(|part| part.0).min()?;
        let end = parts.iter().map(|part| part.1).max()?;
        let note = |owner: &[u8], kind| {
            of_type(PT_NOTE).filter_map(range).filter(is_loaded).find_map(|(from, to)| {
                // SAFETY: the range lies in a part that the loader has mapped.
                find_note(unsafe { mapped(from, to) }, owner, kind)
            })
        };
        const NT_GNU_BUILD_ID: u32 = 3;
        let build_id = note(b"GNU\0", NT_GNU_BUILD_ID);
        let has_recorder = note(RECORDER.0, RECORDER.1).is_some();
        let header = of_type(PT_GNU_EH_FRAME).filter_map(range).find(is_loaded);
        let name = if info.dlpi_name.is_null() {
            &b""[..]
        } else {
            // SAFETY: the loader keeps a terminated string there while the module is loaded.
            unsafe { CStr::from_ptr::<'static>(info.dlpi_name) }.to_bytes()
        };
        Some(Self {
            bias,
            start,
            end,
            name,
            header,
            build_id: build_id.unwrap_or_default(),
            has_recorder,
            parts,
        })
    }

    fn is(&self, module: &UnwindModule) -> bool {
        (self.start, self.end, self.bias) == (module.start, module.end, module.bias)
            && self.build_id == module.build_id
            && (self.name.is_empty() || self.name == module.path.as_os_str().as_bytes())
    }

    fn module(&self) -> UnwindModule {
        let path = if self.name.is_empty() {
            // The executable. Without /proc its name stays unknown, which later reads as such.
            PathBuf::from(OsString::from_vec(sys::read_link(c"/proc/self/exe")))
        } else {
            PathBuf::from(OsStr::from_bytes(self.name))
        };
        UnwindModule {
            kind: if is_mpi_file(&path) { ModuleKind::Mpi } else { ModuleKind::User },
            path,
            bias: self.bias,
            start: self.start,
            end: self.end,
            build_id: self.build_id.to_vec(),
            serial: ModuleSerial::UNKNOWN,
            tables: self.tables(),
        }
    }

    fn tables(&self) -> Option<UnwindTables> {
        let header = self.header?;
        // SAFETY: `read` has checked that the range lies in a mapped part.
        let frames = super::rules::frames_address(unsafe { mapped(header.0, header.1) }, header.0)?;
        // The table ends before the end of its part, with a mark of its own.
        let part = self.parts.iter().find(|part| part.0 <= frames && frames < part.1)?;
        Some(UnwindTables { header, frames: (frames, part.1) })
    }
}

/// The bytes of a mapped range.
///
/// # Safety
/// The range must be mapped readable for as long as the result is used.
unsafe fn mapped(from: usize, to: usize) -> &'static [u8] {
    let start = std::ptr::with_exposed_provenance::<u8>(from);
    // SAFETY: by contract of this function.
    unsafe { std::slice::from_raw_parts(start, to.saturating_sub(from)) }
}

/// The note of a recorder that is linked into a program: owner and kind.
const RECORDER: (&[u8], u32) = (b"marey\0", 1);

/// Whether a recorder is linked into the program, beside this library.
#[cfg(not(feature = "linked"))]
pub(crate) fn program_has_recorder() -> bool {
    /// Called by the loader for the program first, and by us told to stop there.
    unsafe extern "C" fn visit(info: *mut dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid record.
        let has_note = Image::read(unsafe { &*info }).is_some_and(|image| image.has_recorder);
        // SAFETY: `found` is the caller's.
        unsafe { *found.cast::<bool>() = has_note };
        1
    }
    let mut found = false;
    // SAFETY: `visit` gets the pointer to `found`, which lives until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    found
}

/// The content of the note of this owner and kind, in a note segment.
fn find_note(mut notes: &'static [u8], owner: &[u8], wanted: u32) -> Option<&'static [u8]> {
    let word = |bytes: &[u8], at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let padded = |len: u32| usize::try_from(len).ok().map(|len| len.next_multiple_of(4));
    while let Some(kind) = word(notes, 8) {
        let name_end = 12usize.checked_add(padded(word(notes, 0)?)?)?;
        let len = word(notes, 4)?;
        let content = notes.get(name_end..)?;
        if kind == wanted && notes.get(12..).is_some_and(|name| name.starts_with(owner)) {
            return content.get(..usize::try_from(len).ok()?);
        }
        // Notes of 8-byte alignment (GNU properties) are multiples of 8 long, so 4 fits them too.
        notes = content.get(padded(len)?..)?;
    }
    None
}
