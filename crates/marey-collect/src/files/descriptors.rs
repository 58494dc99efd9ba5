//! Which file each descriptor stands for, and where in it is read or written next.
//!
//! The one idea: a word for each descriptor and one for the place, without locks, in tables that a forked child finds
//! as they were, as it finds its descriptors. A word says nothing as long as nobody has seen the descriptor: then
//! the kernel is asked, once. The place is counted along, unless others may move it: another descriptor that was
//! made from this one, another process, a stream's buffer, or the end of the file. Then the kernel is asked each time.
//!
//! A descriptor that is closed by the bare instruction and given out again by a call that is not seen either keeps its
//! old name. Deliberately absent: a look at the kernel in each call, which would cost as much as the rest together.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI64, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use marey_measure::{Runtime, sys};

use super::names::{self, Name};

/// What is known of a descriptor.
#[derive(Clone, Copy)]
pub(super) struct File {
    pub(super) name: Name,
    entry: Option<&'static Entry>,
    /// It has a place.
    has_place: bool,
    /// Others may move it.
    is_shared: bool,
}

/// Zeros are a descriptor of which nothing is known.
#[derive(Default)]
struct Entry {
    /// Number of the name plus 1, [`HAS_PLACE`], [`IS_SHARED`], and from bit [`FORKS_AT`] on [`FORKS`] when it was
    /// opened.
    word: AtomicU64,
    place: AtomicI64,
}

const HAS_PLACE: u64 = 1 << 32;
const IS_SHARED: u64 = 1 << 33;
const FORKS_AT: u32 = 40;

const CHUNK: usize = 1024;
type Chunk = [Entry; CHUNK];
/// Descriptors beyond a million are not followed.
static CHUNKS: [AtomicPtr<Chunk>; CHUNK] = [const { AtomicPtr::new(core::ptr::null_mut()) }; CHUNK];

/// How often the process was about to have a child: what was open before, the child may move.
pub(crate) static FORKS: AtomicU32 = AtomicU32::new(0);

/// The process that the tables are of, 0 if it is not known; on a page that a fork wipes. A child of `vfork` has
/// descriptors of its own and its parent's memory, so that it must not change the tables.
static OWNER: AtomicPtr<AtomicU32> = AtomicPtr::new(core::ptr::null_mut());

/// To be called before anything else. False where descriptors cannot be followed.
pub(super) fn open() -> bool {
    let Some(page) = sys::map_zeros(sys::PAGE).filter(|&page| sys::wipe_on_fork(page, sys::PAGE)) else {
        return false;
    };
    OWNER.store(page.cast(), Ordering::Release);
    // The page is this process's until a fork wipes it.
    set_owner()
}

/// Whether the tables are those of this process. A process that never had a child need not ask the kernel.
#[inline]
fn are_ours() -> bool {
    FORKS.load(Ordering::Relaxed) == 0 || set_owner()
}

/// Whether the tables are those of this process, which takes them if they are nobody's.
fn set_owner() -> bool {
    // SAFETY: the page stays mapped.
    let Some(owner) = (unsafe { OWNER.load(Ordering::Acquire).as_ref() }) else { return false };
    let me = sys::process_id();
    match owner.compare_exchange(0, me, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => true,
        Err(known) => known == me,
    }
}

fn forks() -> u64 {
    u64::from(FORKS.load(Ordering::Relaxed)) << FORKS_AT
}

/// The entry of a descriptor, if there is one.
fn existing(fd: c_int) -> Option<&'static Entry> {
    let fd = usize::try_from(fd).ok()?;
    // SAFETY: chunks are never unmapped, and zeros are a valid value.
    let chunk = unsafe { CHUNKS.get(fd / CHUNK)?.load(Ordering::Acquire).as_ref()? };
    Some(&chunk[fd % CHUNK])
}

/// The entry of a descriptor, made if need be.
fn entry(fd: c_int) -> Option<&'static Entry> {
    if let Some(entry) = existing(fd) {
        return Some(entry);
    }
    let len = size_of::<Chunk>();
    let place = CHUNKS.get(usize::try_from(fd).ok()? / CHUNK)?;
    let fresh = sys::map_zeros(len)?.cast();
    let (order, failed) = (Ordering::AcqRel, Ordering::Acquire);
    if place.compare_exchange(core::ptr::null_mut(), fresh, order, failed).is_err() {
        // SAFETY: nobody knows the mapping.
        unsafe { sys::unmap(fresh.cast(), len) };
    }
    existing(fd)
}

/// What is known of a descriptor already.
pub(super) fn known(fd: c_int) -> Option<File> {
    let entry = existing(fd)?;
    let word = entry.word.load(Ordering::Acquire);
    let name = Name((word as u32).checked_sub(1)?);
    let is_shared = word & IS_SHARED != 0 || (word ^ forks()) >> FORKS_AT != 0;
    Some(File { name, entry: Some(entry), has_place: word & HAS_PLACE != 0, is_shared })
}

/// What is known of a descriptor, or can be learnt.
#[inline]
pub(super) fn find(runtime: &Runtime, fd: c_int) -> Option<File> {
    known(fd).or_else(|| learn(runtime, fd))
}

/// Asks the kernel about a descriptor that was opened when nobody looked. Others may have it too.
#[cold]
fn learn(runtime: &Runtime, fd: c_int) -> Option<File> {
    let status = status(fd)?;
    let link = names::link(fd);
    let kind = status.st_mode & libc::S_IFMT;
    let name = match link.split(|&byte| byte == b':').next().unwrap_or_default() {
        path if path.first() == Some(&b'/') && !is_terminal(&status) => link.clone(),
        _ if is_terminal(&status) => b"(terminal)".to_vec(),
        b"anon_inode" => link[11..]
            .iter()
            .map(|&byte| {
                if byte == b'[' {
                    b'('
                } else if byte == b']' {
                    b')'
                } else {
                    byte
                }
            })
            .collect(),
        b"" => match kind {
            libc::S_IFIFO => b"(pipe)".to_vec(),
            libc::S_IFSOCK => b"(socket)".to_vec(),
            _ => b"(file)".to_vec(),
        },
        kind => [b"(", kind, b")"].concat(),
    };
    let name = names::number(runtime, &name)?;
    // A directory is closed by `closedir`, which nobody sees.
    if kind == libc::S_IFDIR || !are_ours() {
        return None;
    }
    set(fd, name, &status, IS_SHARED);
    known(fd)
}

/// What the kernel says of a descriptor.
fn status(fd: c_int) -> Option<libc::stat> {
    let mut status = core::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the kernel fills the memory, of which zeros are a valid value.
    unsafe {
        let args = [fd as usize, status.as_mut_ptr() as usize, 0, 0, 0, 0];
        (sys::syscall(libc::SYS_fstat, args) == 0).then(|| status.assume_init())
    }
}

/// Whether it is a terminal: a console, a serial line, or what is made by programs.
fn is_terminal(status: &libc::stat) -> bool {
    status.st_mode & libc::S_IFMT == libc::S_IFCHR && matches!(libc::major(status.st_rdev), 4 | 5 | 136..=143)
}

fn set(fd: c_int, name: Name, status: &libc::stat, flags: u64) {
    let Some(entry) = entry(fd) else { return };
    let has_place = matches!(status.st_mode & libc::S_IFMT, libc::S_IFREG | libc::S_IFBLK);
    let flags = flags | if has_place { HAS_PLACE } else { 0 } | forks();
    entry.place.store(0, Ordering::Relaxed);
    entry.word.store(u64::from(name.0 + 1) | flags, Ordering::Release);
}

/// How the place of a descriptor that has been opened is found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    /// By the calls on it.
    ByUs,
    /// By others as well: a stream's buffer, or the end of the file.
    ByOthers,
}

/// A file has been opened.
pub(super) fn opened(fd: c_int, name: Name, moved: Moved) {
    if !are_ours() {
        return;
    }
    match status(fd) {
        Some(status) => set(fd, name, &status, if moved == Moved::ByOthers { IS_SHARED } else { 0 }),
        None => forget(fd),
    }
}

/// Nothing is known of a descriptor any more.
pub(super) fn forget(fd: c_int) {
    if let Some(entry) = existing(fd).filter(|_| are_ours()) {
        entry.word.store(0, Ordering::Release);
    }
}

/// Nothing is known of the descriptors in a range any more.
pub(super) fn forget_all(first: u32, last: u32) {
    if !are_ours() {
        return;
    }
    let (first, last) = (first as usize, last as usize);
    for (number, chunk) in
        CHUNKS.iter().enumerate().skip(first / CHUNK).take_while(|(at, _)| at * CHUNK <= last)
    {
        // SAFETY: as in `existing`.
        let Some(chunk) = (unsafe { chunk.load(Ordering::Acquire).as_ref() }) else { continue };
        for (place, entry) in (number * CHUNK..).zip(chunk) {
            if (first..=last).contains(&place) {
                entry.word.store(0, Ordering::Release);
            }
        }
    }
}

/// `new` stands for the same file as `old`, and they move each other's place.
pub(super) fn copied(old: c_int, new: c_int) {
    if old == new || !are_ours() {
        return;
    }
    let word = existing(old).map_or(0, |entry| entry.word.load(Ordering::Acquire));
    let word = if word == 0 { 0 } else { word | IS_SHARED };
    if let Some(entry) = existing(old).filter(|_| word != 0) {
        entry.word.store(word, Ordering::Release);
    }
    if let Some(entry) = if word == 0 { existing(new) } else { entry(new) } {
        entry.word.store(word, Ordering::Release);
    }
}

/// The descriptor belongs to a stream, which reads ahead and writes later.
pub(super) fn is_of_stream(fd: c_int) {
    if let Some(entry) = existing(fd) {
        let word = entry.word.load(Ordering::Relaxed);
        if word != 0 && word & IS_SHARED == 0 {
            entry.word.store(word | IS_SHARED, Ordering::Release);
        }
    }
}

impl File {
    /// Where `bytes` have been read or written, which have moved the place of `fd`; −1 if it has none.
    pub(super) fn advance(self, fd: c_int, bytes: u64) -> i64 {
        let bytes = bytes.cast_signed();
        if !self.has_place {
            -1
        } else if self.is_shared {
            // SAFETY: asks, and changes nothing.
            let now =
                unsafe { sys::syscall(libc::SYS_lseek, [fd as usize, 0, libc::SEEK_CUR as usize, 0, 0, 0]) };
            if now < 0 { -1 } else { (now as i64 - bytes).max(-1) }
        } else {
            self.entry.map_or(-1, |entry| entry.place.fetch_add(bytes, Ordering::Relaxed))
        }
    }

    /// The place is this one now.
    pub(super) fn is_at(self, place: i64) {
        if let Some(entry) = self.entry {
            entry.place.store(place, Ordering::Relaxed);
        }
    }

    /// One of which nothing but the name matters.
    pub(super) fn without_descriptor(name: Name) -> Self {
        Self { name, entry: None, has_place: false, is_shared: false }
    }
}
