//! Which variable says where a block lies.
//!
//! The one idea: a block has no name, but the pointer or descriptor that a program keeps to it has. When a block is met
//! for the first time, the program's own data and the stack are searched for a word that is its address. Whether a variable
//! that can hold such a word lies there is for debug information to say, when the run is merged.
//!
//! Deliberately absent: pointers in other blocks, whose names nobody has; who allocated the block is known of it anyway.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use marey_measure::sys::copy_own;
use marey_measure::{Lock, Runtime};
use rustc_hash::FxHashMap;

use super::buffers::MOST_WORK;
use crate::entry::Entry;
use crate::site::{CLOSINGS, Sites};

/// Data of a module that are searched, and all of them together, bytes.
const MOST_OF_MODULE: usize = 16 << 20;
/// Stack that is searched, bytes.
const MOST_OF_STACK: usize = 1 << 20;
/// Segments of modules that are searched.
const MOST_SEGMENTS: usize = 64;
/// Blocks of one call path for which all is searched; of later ones it is only looked whether the same word holds them.
const MOST_SEARCHES: u32 = 3;
/// Libraries of the system and of MPI, which hold no data of the program's.
const FOREIGN: [&[u8]; 12] = [
    b"libc.so",
    b"ld-linux",
    b"libm.so",
    b"libmpi",
    b"libopen-",
    b"libpmix",
    b"libevent",
    b"libhwloc",
    b"libuc",
    b"libgfortran",
    b"libstdc++",
    b"libgcc_s",
];
/// As much of a module is copied at a time, bytes; a multiple of a page.
const PIECE: usize = 1 << 16;
const PAGE: usize = 4096;
/// What the kernel says if nothing can be read at an address.
const NO_MEMORY: isize = -(libc::EFAULT as isize);
/// Words that are compared in the time that a place of a table of blocks takes.
const WORDS_A_PLACE: usize = 4;

/// Where it stands that a block lies where it does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// Module and virtual address of the word; with `from_frame` where the function goes on whose frame it lies in.
    pub(super) place: (u32, u64),
    /// Its distance from the canonical address of that frame.
    pub(super) from_frame: Option<i64>,
}

/// What was found of the blocks of a call path: how often was searched, and the word that held the last.
#[derive(Clone, Copy, Default)]
struct Found {
    searches: u32,
    held: Option<(usize, Held)>,
    closings: u64,
}

static FOUND: Lock<Option<FxHashMap<u32, Found>>> = Lock::new(None);

/// Who holds a block that a site has allocated.
pub(super) fn of(
    runtime: &Runtime,
    sites: &mut Sites,
    entry: Entry,
    (block, site): (usize, Option<u32>),
    work: &AtomicUsize,
) -> Option<Held> {
    let site = site?;
    let closings = CLOSINGS.load(Ordering::Relaxed);
    let before =
        FOUND.with_or_renew(Option::default, |found| found.get_or_insert_default().get(&site).copied())?;
    let before = before.filter(|before| before.closings == closings).unwrap_or_default();
    if let Some((at, held)) = before.held {
        let is_held = match held.from_frame {
            // The kernel looks: another thread may be closing the module.
            None => {
                let mut word = [0; 8];
                copy_own(at, &mut word) == 8 && usize::from_ne_bytes(word) == block
            }
            Some(_) => {
                let is_mapped = entry.sp <= at && sites.own_stack().contains(&at);
                // SAFETY: the stack is there from the stack pointer on.
                is_mapped && unsafe { words(at, at + 8) }.iter().any(|word| is(word, block))
            }
        };
        if is_held {
            return Some(held);
        }
    }
    if MOST_SEARCHES <= before.searches || MOST_WORK < work.load(Ordering::Relaxed) {
        return None;
    }
    let held = searched(runtime, sites, entry, block, work);
    let now = Found { searches: before.searches + 1, held: held.or(before.held), closings };
    FOUND.with_or_renew(Option::default, |found| found.get_or_insert_default().insert(site, now))?;
    held.map(|(_, held)| held)
}

/// Who holds a block, and by which word. Of words in the program's data the first, else of those on the stack the
/// outermost, which is that of whoever has had the address longest.
fn searched(
    runtime: &Runtime,
    sites: &mut Sites,
    entry: Entry,
    block: usize,
    work: &AtomicUsize,
) -> Option<(usize, Held)> {
    let mut search = Search { block, found: None, n_segments: 0, bytes: 0, piece: vec![0; PIECE] };
    // SAFETY: `visit` gets the pointer to `search`, which lives and is used by nobody else until the call returns.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    // A coroutine's stack ends nobody knows where.
    let own = sites.own_stack();
    let end = if own.contains(&entry.sp) { own.end } else { entry.sp };
    let stack = entry.sp..end.min(entry.sp.saturating_add(MOST_OF_STACK));
    let on_stack = match search.found {
        Some(_) => None,
        // SAFETY: the thread's own stack is mapped from the stack pointer of a call that is under way up to its end.
        None => unsafe { words(stack.start, stack.end) }.iter().rposition(|word| is(word, block)),
    };
    work.fetch_add((search.bytes + stack.len()) / 8 / WORDS_A_PLACE, Ordering::Relaxed);
    if let Some(at) = search.found {
        return Some((at, Held { place: sites.known_place(runtime, at)?, from_frame: None }));
    }
    let at = stack.start + on_stack? * 8;
    // SAFETY: the call is under way.
    let (frame, place) = unsafe { sites.frame_of(runtime, entry, at) }?;
    Some((at, Held { place, from_frame: Some((at as i64).wrapping_sub(frame.cfa as i64)) }))
}

struct Search {
    block: usize,
    found: Option<usize>,
    n_segments: usize,
    bytes: usize,
    /// Room for what is looked through.
    piece: Vec<u8>,
}

impl Search {
    /// Where in a segment a word is the block's address. The kernel copies it in pieces: a program can forbid itself to read
    /// pages of its own.
    fn within(&mut self, start: usize, end: usize) -> Option<usize> {
        let mut at = start;
        while at < end {
            let piece = &mut self.piece[..PIECE.min(end - at) / 8 * 8];
            if piece.is_empty() {
                return None;
            }
            let copied = match copy_own(at, piece) {
                NO_MEMORY => 0,
                // A kernel that copies nothing for anybody.
                copied => usize::try_from(copied).ok()?,
            };
            let words = piece[..copied].chunks_exact(8);
            let is_it = |word: &[u8]| word == self.block.to_ne_bytes();
            if let Some(place) = words.into_iter().position(is_it) {
                return Some(at + place * 8);
            }
            // Behind the page at which it ended.
            at = if copied == piece.len() { at + copied } else { (at + copied + 1).next_multiple_of(PAGE) };
        }
        None
    }
}

/// Looks through what a module has that can be written.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: the loader gives a description that holds until we return, and the pointer that we have given.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
    // SAFETY: so many headers are there.
    let headers = unsafe { core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let path = match info.dlpi_name.is_null() {
        true => c"",
        // SAFETY: the name ends with a zero byte; that of the program is empty.
        false => unsafe { core::ffi::CStr::from_ptr(info.dlpi_name) },
    };
    let name = path.to_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    if is_ours(info.dlpi_addr as usize, headers) || FOREIGN.iter().any(|begin| name.starts_with(begin)) {
        return 0;
    }
    let is_data =
        |header: &&libc::Elf64_Phdr| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0;
    for header in headers.iter().filter(is_data) {
        let first = (info.dlpi_addr as usize).wrapping_add(header.p_vaddr as usize);
        let start = first.next_multiple_of(8);
        let whole = (header.p_memsz as usize).saturating_sub(start - first);
        let len = whole.min(MOST_OF_MODULE.saturating_sub(search.bytes));
        search.bytes += len;
        if let Some(at) = search.within(start, start + len) {
            search.found = Some(at);
            return 1;
        }
        search.n_segments += 1;
        if MOST_SEGMENTS <= search.n_segments {
            return 1;
        }
    }
    0
}

/// Whether a module is our own.
fn is_ours(bias: usize, headers: &[libc::Elf64_Phdr]) -> bool {
    let own = visit as *const () as usize;
    headers.iter().any(|header| {
        let start = bias.wrapping_add(header.p_vaddr as usize);
        header.p_type == libc::PT_LOAD && own.wrapping_sub(start) < header.p_memsz as usize
    })
}

fn is(word: &AtomicUsize, block: usize) -> bool {
    word.load(Ordering::Relaxed) == block
}

/// The words from one address up to another, as they are at this moment.
///
/// # Safety
/// They are mapped.
unsafe fn words<'a>(start: usize, end: usize) -> &'a [AtomicUsize] {
    let len = end.saturating_sub(start) / 8;
    // SAFETY: the caller's promise. Others may write there meanwhile, so each word is read in one piece; what comes of it is
    // checked against debug information.
    unsafe { core::slice::from_raw_parts(start as *const AtomicUsize, len) }
}
