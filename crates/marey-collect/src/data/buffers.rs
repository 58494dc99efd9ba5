//! In which datum a buffer lies that is given to MPI.
//!
//! The one idea: it is found out while the call is under way, when nothing that is there can be mistaken for what was
//! there before. A block of the heap is found by any address in it, a variable by its place in its module, part of a frame
//! by the function whose frame it is and its distance from the frame's canonical address; names come when the run is
//! merged. What is not known is a datum too, of the kind `other`, whose name says why.
//!
//! Deliberately absent: blocks smaller than those that the level `memory` records, which cost more to follow than most
//! programs would want to pay.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use marey_measure::message::{MOST_DATA, NO_DATA};
use marey_measure::{Lock, Runtime};
use marey_model::spool::{Definition, DefinitionKind};
use marey_model::{DataKind, USED_BEFORE};
use rustc_hash::FxHashMap;

use super::cache::{self, Cache, Holds};
use super::holder;
use super::made;
use crate::entry::Entry;
use crate::own::{Own, local};
use crate::site;

/// Data that buffers may define; with more a program makes a buffer for each message, and each of them is a row.
const MOST: usize = 1 << 15;
const _: () = assert!(cache::MOST <= MOST_DATA);

/// Places of the tables of blocks that are gone through in all: a second of one processor.
pub(super) const MOST_WORK: usize = 1 << 30;
/// How often what is not known is taken for unknown before somebody looks again.
const USES: u32 = 255;

static WORK: AtomicUsize = AtomicUsize::new(0);

/// Why it is not known what a buffer lies in. Names that a report shows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Unknown {
    SmallBlock,
    Frame,
    Mapped,
    NoHeap,
    TooMany,
    TooMuch,
}

impl Unknown {
    const ALL: [Self; 6] =
        [Self::SmallBlock, Self::Frame, Self::Mapped, Self::NoHeap, Self::TooMany, Self::TooMuch];

    const fn name(self) -> &'static str {
        match self {
            Self::SmallBlock => "small blocks of the heap",
            Self::Frame => "stack of a function without unwind tables, or of another thread",
            Self::Mapped => "mapped memory, or a small block of a thread's",
            Self::NoHeap => "memory of an allocator that is not recorded",
            Self::TooMany => "more buffers than are told apart",
            Self::TooMuch => "buffers that would take too long to find",
        }
    }
}

/// What makes buffers one datum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Key {
    /// The block that begins here.
    Block(usize),
    /// Module and virtual address.
    Variable(u32, u64),
    /// The same of where a function goes on, and the distance from its frame's canonical address.
    Frame(u32, u64, i64),
    /// What the variable there points to, of which nothing else is known: module and virtual address, and in a frame the
    /// distance from its canonical address.
    Held(u32, u64, Option<i64>),
    Unknown(Unknown),
}

static KNOWN: Lock<Option<FxHashMap<Key, u32>>> = Lock::new(None);

/// Whether nobody wants to know.
static IS_OFF: AtomicBool = AtomicBool::new(false);

/// To be called once the process is recorded.
pub(crate) fn begin() {
    IS_OFF.store(crate::process::is_off(c"MAREY_BUFFERS"), Ordering::Relaxed);
}

/// The number of the datum that a buffer lies in; [`NO_DATA`] for no buffer.
#[inline(always)]
pub(crate) fn data(runtime: &Runtime, entry: Entry, buffer: usize) -> u32 {
    // At no address, and in the lines of a cache that are not used yet, is nothing.
    if buffer == 0 || IS_OFF.load(Ordering::Relaxed) {
        return NO_DATA;
    }
    // SAFETY: calls are under way while their buffers are named.
    let known = Cache::of_thread(runtime).and_then(|cache| unsafe { cache.find(entry, buffer) });
    match known {
        Some(data) => data,
        None => found(runtime, entry, buffer),
    }
}

#[cold]
fn found(runtime: &Runtime, entry: Entry, buffer: usize) -> u32 {
    // SAFETY: the variable is the calling thread's own; calls are under way while their buffers are named.
    if unsafe { (*local()).own } != 0 {
        return NO_DATA;
    }
    let _own = Own::begin();
    let cache = match Cache::of_thread(runtime) {
        Some(cache) => cache,
        None => Cache::renewed(runtime),
    };
    let (data, holds) = resolve(runtime, cache, entry, buffer);
    if data != NO_DATA {
        // SAFETY: as above.
        unsafe { cache.set(entry, buffer, data, holds) };
    }
    data
}

fn resolve(runtime: &Runtime, cache: &mut Cache, entry: Entry, buffer: usize) -> (u32, Holds) {
    // Before anything is looked for: what is made meanwhile may not be found.
    let since = made::n_made();
    let sites = site::of_thread(runtime);
    let named = |unknown: Unknown| {
        let name = unknown.name().to_owned();
        let data = datum(runtime, Key::Unknown(unknown), || New { name, ..New::at(DataKind::Other, buffer) });
        (data.unwrap_or(NO_DATA), Holds::Uses { left: USES, since })
    };
    let or_too_many = |data: Option<u32>, holds| match data {
        Some(data) => (data, holds),
        None => named(Unknown::TooMany),
    };
    if sites.own_stack().contains(&buffer) {
        // SAFETY: the call is under way.
        let known = unsafe { cache.frame(entry, buffer) };
        let known = known.and_then(|frame| Some((frame, sites.known_place(runtime, frame.pc)?)));
        // SAFETY: as above.
        let found = known.or_else(|| unsafe { sites.frame_of(runtime, entry, buffer) });
        let Some((frame, (module, vaddr))) = found else { return named(Unknown::Frame) };
        let from_cfa = (buffer as i64).wrapping_sub(frame.cfa as i64);
        let data = datum(runtime, Key::Frame(module, vaddr, from_cfa), || New {
            place: Some((module, vaddr)),
            from_frame: Some(from_cfa),
            ..New::at(DataKind::Frame, buffer)
        });
        return or_too_many(data, Holds::Frame(frame));
    }
    if let Some((module, vaddr)) = sites.known_place(runtime, buffer) {
        let data = datum(runtime, Key::Variable(module, vaddr), || New {
            place: Some((module, vaddr)),
            ..New::at(DataKind::Variable, buffer)
        });
        return or_too_many(data, Holds::Always);
    }
    if let Some(data) = cache.recent(buffer) {
        return (data, Holds::UntilGone);
    }
    if let Some((data, (start, end))) = crate::kokkos::at(runtime, buffer).filter(|it| it.0 < cache::MOST) {
        cache.set_recent(start, end, data);
        return (data, Holds::UntilGone);
    }
    let Some(heap) = crate::heap::heap() else { return named(Unknown::NoHeap) };
    let block = heap.mark_beginning(buffer);
    if block.is_none() && MOST_WORK < WORK.load(Ordering::Relaxed) {
        return named(Unknown::TooMuch);
    }
    let block = block.or_else(|| {
        let (block, work) = heap.mark(buffer);
        WORK.fetch_add(work, Ordering::Relaxed);
        block
    });
    let Some((start, block)) = block else { return named(why_no_block(buffer)) };
    let key = Key::Block(start);
    if !block.is_marked {
        // Whatever was known here was given back by a way that nobody saw.
        forget(runtime, key);
    }
    let data = datum(runtime, key, || {
        let held = holder::of(runtime, sites, entry, (start, heap.site(block)), &WORK);
        New {
            place: held.map(|held| held.place),
            from_frame: held.and_then(|held| held.from_frame),
            site: heap.site(block),
            bytes: block.size,
            code: if crate::heap::was_used(start) { USED_BEFORE } else { 0 },
            ..New::at(DataKind::Block, start)
        }
    });
    if let Some(data) = data {
        cache.set_recent(start, start.saturating_add(block.size as usize), data);
    }
    or_too_many(data, Holds::UntilGone)
}

/// Module and virtual address; with a distance from its canonical address the return address into the function of a frame.
pub(crate) type Place = ((u32, u64), Option<i64>);

/// The datum that memory lies in which the program keeps for more than a call, from `base` on; of blocks that are not
/// followed at least by whom they are held. `None` if nothing is known of it. `site` is that of the call that is given it.
#[cold]
pub(crate) fn memory(runtime: &Runtime, entry: Entry, base: usize, site: u32) -> Option<u32> {
    let data = data(runtime, entry, base);
    if data == NO_DATA {
        return None;
    }
    let is_unknown = KNOWN.with_or_renew(Option::default, |known| {
        let known = known.get_or_insert_default();
        Unknown::ALL.iter().any(|unknown| known.get(&Key::Unknown(*unknown)) == Some(&data))
    })?;
    if !is_unknown {
        return Some(data);
    }
    let _own = Own::begin();
    let held = holder::of(runtime, site::of_thread(runtime), entry, (base, Some(site)), &WORK)?;
    let key = Key::Held(held.place.0, held.place.1, held.from_frame);
    datum(runtime, key, || New {
        place: Some(held.place),
        from_frame: held.from_frame,
        site: Some(site),
        // Nobody has followed what is given back there.
        code: USED_BEFORE,
        ..New::at(DataKind::Block, base)
    })
}

/// Where debug information has the name of the variable at an address; `None` of one in the heap.
#[cold]
pub(crate) fn variable(runtime: &Runtime, entry: Entry, address: usize) -> Option<Place> {
    let _own = Own::begin();
    let sites = site::of_thread(runtime);
    if sites.own_stack().contains(&address) {
        // SAFETY: the call is under way.
        let (frame, place) = unsafe { sites.frame_of(runtime, entry, address) }?;
        return Some((place, Some((address as i64).wrapping_sub(frame.cfa as i64))));
    }
    Some((sites.known_place(runtime, address)?, None))
}

/// What is known of a datum that is to be defined.
struct New {
    kind: DataKind,
    name: String,
    place: Option<(u32, u64)>,
    from_frame: Option<i64>,
    site: Option<u32>,
    address: usize,
    bytes: u64,
    code: u8,
}

impl New {
    fn at(kind: DataKind, address: usize) -> Self {
        let (place, from_frame, site) = (None, None, None);
        Self { kind, name: String::new(), place, from_frame, site, address, bytes: 0, code: 0 }
    }

    fn definition(self, id: u32, ticks: u64) -> Definition {
        Definition::Data {
            id,
            kind: self.kind as u8,
            name: self.name,
            place: self.place,
            from_frame: self.from_frame,
            within: None,
            site: self.site,
            address: self.address as u64,
            bytes: self.bytes,
            element: 0,
            code: self.code,
            bounds: Vec::new(),
            ticks,
        }
    }
}

/// The datum of a key, defined if it is new. `None` if there are too many.
fn datum(runtime: &Runtime, key: Key, new: impl FnOnce() -> New) -> Option<u32> {
    let known = || {
        KNOWN.with_or_renew(Option::default, |known| {
            let known = known.get_or_insert_default();
            known.get(&key).copied().ok_or(known.len())
        })
    };
    match known()? {
        Ok(data) => return Some(data),
        Err(n_known) if MOST <= n_known && !matches!(key, Key::Unknown(_)) => return None,
        Err(_) => {}
    }
    let ticks = runtime.ticks();
    let data = runtime.define(|definitions| definitions.next_id(DefinitionKind::Data))?;
    if cache::MOST <= data {
        return None;
    }
    let definition = new().definition(data, ticks);
    runtime.define(|definitions| definitions.define(&definition)).filter(|is_defined| *is_defined)?;
    // Another thread may have been quicker: then its datum is the one that ends when the memory is given back.
    KNOWN.with_or_renew(Option::default, |known| *known.get_or_insert_default().entry(key).or_insert(data))
}

fn forget(runtime: &Runtime, key: Key) {
    let data = KNOWN.with_or_renew(Option::default, |known| known.as_mut()?.remove(&key)).flatten();
    if let Some(id) = data {
        cache::set_gone(id);
        let ticks = runtime.ticks();
        runtime.define(|definitions| definitions.define(&Definition::DataFreed { id, ticks }));
    }
}

/// Says that the block that begins at an address is given back.
pub(crate) fn gone(runtime: &Runtime, start: usize) {
    forget(runtime, Key::Block(start));
}

/// Says that a datum is gone that nobody has asked for by its block.
pub(crate) fn set_gone(data: u32) {
    cache::set_gone(data);
}

/// What memory is that no module, stack or recorded block holds.
fn why_no_block(buffer: usize) -> Unknown {
    // SAFETY: asks for the end of the heap, and changes nothing.
    let end = unsafe { libc::sbrk(0) } as usize;
    // It begins behind the program, of which nobody knows here how far it goes; other memory is far away.
    let near = 1 << 40;
    if buffer < end && end - buffer < near { Unknown::SmallBlock } else { Unknown::Mapped }
}
