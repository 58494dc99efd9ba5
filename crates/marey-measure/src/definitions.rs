//! Definitions: giving numbers to regions, stacks and whatever else records name, and writing
//! down what the numbers mean before anybody can use them.

use core::cell::Cell;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use marey_model::spool::{Definition, DefinitionKind, Head, SLACK, Stream, at};
use marey_model::{Detail, RegionId, Role, Rules, SiteId, StackId, Triple};
use rustc_hash::FxHashMap;

mod functions;

pub use self::functions::know_names;
use crate::runtime::{Config, Mode, level};
use crate::spool::SpoolFile;
use crate::sys;
use crate::write::PLACES;

/// Bytes at the end of a window that are kept for the region that stands for all others, and for how the
/// process ended.
const KEPT: usize = 256;

/// What tells one region from another.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RegionKey {
    /// Its level's number.
    pub level: u32,
    /// The verb.
    pub verb: String,
    /// What the verb does.
    pub role: Role,
    /// Kind of the principal noun.
    pub noun_kind: &'static str,
    /// Its name.
    pub noun: String,
    /// Source file, or empty.
    pub file: String,
    /// Line, or 0.
    pub line: u32,
}

/// Most sites of a process; beyond, calls are put down to their region without a stack.
pub(crate) const MAX_SITES: usize = 1 << 20;

/// The mode of a site, one byte of the table that `modes` points to.
///
/// Threads look at it while another sets it. No order is needed: one that saw the new mode late
/// merely came earlier.
///
/// # Safety
/// `modes` is a table of modes, and `site` is below its length, [`MAX_SITES`].
#[inline(always)]
pub(crate) unsafe fn mode_of<'a>(modes: *const u8, site: u32) -> &'a AtomicU8 {
    // SAFETY: the caller's promise; tables are never unmapped, and all who use one come through here.
    unsafe { AtomicU8::from_ptr(modes.add(site as usize).cast_mut()) }
}

/// Added to a mode that leaves visits out since some time ago: on a thread on which one is open from before, they
/// are recorded until that is left. Languages without guards leave what they have not entered, too, and only so is
/// it known what is meant.
pub(crate) const FADING: u8 = 8;

/// The bytes from this one on are those of sites whose visits are counted, and only some of them timed, because they
/// are too dear to record: with the place of each thread's where they are counted. Whoever does not know of that takes
/// it for [`Mode::Trace`], and records.
pub(crate) const REDUCED: u8 = 0x80;

/// Places of a thread's, as what a byte has of them.
const N_PLACES: u8 = 64;
const _: () = assert!(N_PLACES as usize == PLACES);

/// The place where visits of `site` are counted; `None` if they are not.
///
/// # Safety
/// As for [`mode_in`].
#[inline(always)]
pub(crate) unsafe fn reduced_in(modes: *const u8, site: u32) -> Option<usize> {
    if modes.is_null() || site as usize >= MAX_SITES {
        return None;
    }
    // SAFETY: the caller's promise.
    place_of(unsafe { mode_of(modes, site) }.load(Ordering::Relaxed))
}

/// The same by the byte of a site.
#[inline(always)]
pub(crate) const fn place_of(mode: u8) -> Option<usize> {
    if mode >= REDUCED { Some((mode - REDUCED) as usize % PLACES) } else { None }
}

/// What is done with calls from `site`, by a table of modes or none.
///
/// # Safety
/// `modes` is null or a table of modes.
#[inline(always)]
pub(crate) unsafe fn mode_in(modes: *const u8, site: u32) -> Mode {
    if modes.is_null() || site as usize >= MAX_SITES {
        return Mode::Unknown;
    }
    // SAFETY: the caller's promise.
    Mode::from_byte(unsafe { mode_of(modes, site) }.load(Ordering::Relaxed))
}

/// Whether visits of `site` that are open are not to be left out yet.
///
/// # Safety
/// As for [`mode_of`].
#[inline(always)]
pub(crate) unsafe fn fades_in(modes: *const u8, site: u32) -> bool {
    // SAFETY: the caller's promise.
    let mode = unsafe { mode_of(modes, site) }.load(Ordering::Relaxed);
    mode < REDUCED && mode & FADING != 0
}

/// Whether visits of a region may be counted where they are too dear. Zero is no.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Reducible {
    /// It is not the program's own, or a rule says what is done with it.
    Not = 0,
    /// A region that the program enters.
    Region = 1,
    /// A function that tells of itself.
    Function = 2,
}

/// The definitions of a process.
pub struct Definitions {
    file: SpoolFile,
    process: u64,
    start: u64,
    window: *mut u8,
    /// The first of the windows, which stays mapped.
    first_window: *mut u8,
    window_len: usize,
    cursor: usize,
    sequence: u64,
    bytes: u64,
    buffer: Vec<u8>,
    regions: FxHashMap<RegionKey, u32>,
    /// Regions of functions, by module and virtual address, each with what it is called without its name.
    functions: FxHashMap<(u32, u64), (u32, Box<str>)>,
    /// What the rules say of each region, by its number.
    region_modes: Vec<u8>,
    reducible: Vec<Reducible>,
    /// The region of each site.
    site_regions: Vec<u32>,
    rules: Rules,
    stacks: FxHashMap<Box<[(u32, u64)]>, u32>,
    sites: FxHashMap<(u32, u32), u32>,
    /// See [`Self::other_regions`].
    other: Option<(SiteId, u32)>,
    /// A bit for each level that has been defined.
    levels: u32,
    modes: *mut u8,
    mode: Mode,
    /// Sites that have got a place where visits are counted.
    n_reduced: Cell<u8>,
    counts: [u32; 256],
}

// SAFETY: the pointers are to mappings that only the holder of the lock around this value uses.
unsafe impl Send for Definitions {}

impl Definitions {
    pub(crate) fn new(file: SpoolFile, process: u64, start: u64, modes: *mut u8, config: &Config) -> Self {
        Self {
            file,
            process,
            start,
            window: core::ptr::null_mut(),
            first_window: core::ptr::null_mut(),
            window_len: 0,
            cursor: 0,
            sequence: 0,
            bytes: 0,
            buffer: Vec::new(),
            regions: FxHashMap::default(),
            functions: FxHashMap::default(),
            region_modes: Vec::new(),
            reducible: Vec::new(),
            site_regions: Vec::new(),
            rules: config.rules.clone(),
            stacks: FxHashMap::default(),
            sites: FxHashMap::default(),
            other: None,
            levels: 0,
            modes,
            mode: config.mode,
            n_reduced: Cell::new(0),
            counts: [0; 256],
        }
    }

    /// For a forked child: the same numbers with the same meanings, in a file of its own. What is replaced is
    /// not freed, for the parent's copy may be needed once more.
    pub(crate) fn inherit(&mut self, file: SpoolFile, process: u64, start: u64, modes: *mut u8) {
        core::mem::forget(core::mem::replace(&mut self.file, file));
        core::mem::forget(core::mem::take(&mut self.buffer));
        self.process = process;
        self.start = start;
        (self.window, self.first_window) = (core::ptr::null_mut(), core::ptr::null_mut());
        (self.window_len, self.cursor, self.sequence, self.bytes) = (0, 0, 0, 0);
        self.modes = modes;
        self.set_modes();
    }

    /// The first window, null before there is one.
    pub(crate) fn first_window(&self) -> *mut u8 {
        self.first_window
    }

    /// Removes the file, which is of no use.
    pub(crate) fn remove(&self) {
        self.file.remove();
    }

    /// Bytes written, over all windows.
    pub(crate) fn written(&self) -> u64 {
        self.bytes
    }

    /// The next number of its kind, from 0.
    pub fn next_id(&mut self, kind: DefinitionKind) -> u32 {
        let id = self.counts[kind as usize];
        self.counts[kind as usize] += 1;
        id
    }

    /// Writes a definition down. False if there is no place left; its number means nothing then.
    pub fn define(&mut self, definition: &Definition) -> bool {
        // How the process ended is always worth the last place.
        let kept = if matches!(definition, Definition::Ending { .. }) { 0 } else { KEPT };
        self.define_before(definition, kept)
    }

    /// The same, but that `kept` bytes of the last window stay free.
    fn define_before(&mut self, definition: &Definition, kept: usize) -> bool {
        self.buffer.clear();
        definition.encode(&mut self.buffer);
        let len = self.buffer.len();
        if self.cursor + len + 8 + kept > self.window_len
            && !self.next_window(len + kept)
            && (kept != 0 || self.cursor + len + 8 > self.window_len)
        {
            return false;
        }
        // SAFETY: the bytes fit between the cursor and the end of the window; readers look behind
        // the committed cursor only after the release store.
        unsafe {
            core::ptr::copy_nonoverlapping(self.buffer.as_ptr(), self.window.add(self.cursor), len);
            self.cursor += len;
            let commit = self.window.add(at::CURSOR).cast::<AtomicU64>();
            (*commit).store(self.cursor as u64, Ordering::Release);
        }
        self.bytes += len as u64;
        true
    }

    fn next_window(&mut self, room: usize) -> bool {
        let mut head = Head {
            size: 0,
            process: self.process,
            thread: 0,
            stream: Stream::Definitions,
            sequence: self.sequence,
            ticks: self.start,
            triple: Triple::default(),
            bytes_before: self.bytes,
            serial: 0,
            buffer: 0,
            round: 0,
            is_summing: false,
        };
        let len = (64 << 10).max(room + 2 * SLACK + Head::records_at(0));
        let Some(window) = self.file.window(&mut head, &[], len) else {
            return false;
        };
        if !self.window.is_null() {
            // SAFETY: the window is ours, mapped, and not used after this.
            unsafe {
                (*self.window.add(at::SEALED).cast::<AtomicU64>()).store(1, Ordering::Release);
                if self.window != self.first_window {
                    sys::unmap(self.window, self.window_len);
                }
            }
        } else {
            self.first_window = window;
        }
        self.window = window;
        self.window_len = head.size as usize;
        self.cursor = Head::records_at(0);
        self.sequence += 1;
        true
    }

    /// Says what level a number of [`level`] stands for, unless that has been said.
    pub(crate) fn level(&mut self, id: u32) {
        let (Some(name), Some((tier, built_on))) =
            (level::NAMES.get(id as usize), level::ROWS.get(id as usize))
        else {
            return;
        };
        let bit = 1 << id;
        if self.levels & bit == 0 {
            self.levels |= bit;
            self.define(&Definition::Level {
                id,
                name: (*name).to_owned(),
                tier: *tier as u8,
                built_on: built_on.iter().map(|&name| name.to_owned()).collect(),
            });
        }
    }

    /// The number of a region, new or known. `None` without memory for it.
    pub fn region(&mut self, key: &RegionKey) -> Option<RegionId> {
        if let Some(&id) = self.regions.get(key) {
            return Some(RegionId(id));
        }
        // An allocation that simply failed would end the measured program.
        self.regions.try_reserve(1).ok()?;
        let id = self.define_region(key, KEPT)?;
        self.regions.insert(key.clone(), id);
        Some(RegionId(id))
    }

    fn define_region(&mut self, key: &RegionKey, kept: usize) -> Option<u32> {
        let id = self.next_id(DefinitionKind::Region);
        let len = id as usize + 1;
        if self.region_modes.try_reserve(len.saturating_sub(self.region_modes.len())).is_ok() {
            // Some may be missing, for want of memory.
            self.region_modes.resize(len, Mode::Trace as u8);
            let rule = self.rule_for(key);
            self.region_modes[id as usize] = rule.map_or(Mode::Trace, Mode::from) as u8;
            let reducible = match key.noun_kind {
                _ if rule.is_some() => Reducible::Not,
                "region" | "span" | "task" | "job" => Reducible::Region,
                "function" => Reducible::Function,
                _ => Reducible::Not,
            };
            self.note_reducible(id, reducible);
        }
        self.level(key.level);
        let definition = Definition::Region {
            id,
            level: key.level,
            verb: key.verb.clone(),
            role: key.role.code(),
            noun_kind: key.noun_kind.to_owned(),
            noun: key.noun.clone(),
            file: key.file.clone(),
            line: key.line,
        };
        self.define_before(&definition, kept).then_some(id)
    }

    /// The number of a call stack of (module, virtual address), innermost first. `None` without memory
    /// for it.
    pub fn stack(&mut self, frames: &[(u32, u64)], complete: bool) -> Option<StackId> {
        if let Some(&id) = self.stacks.get(frames) {
            return Some(StackId(id));
        }
        self.stacks.try_reserve(1).ok()?;
        let id = self.next_id(DefinitionKind::Stack);
        if !self.define(&Definition::Stack { id, frames: frames.to_vec(), complete }) {
            return None;
        }
        self.stacks.insert(frames.into(), id);
        Some(StackId(id))
    }

    /// The number of a region entered from a stack. When there are too many, calls are put down
    /// to the region without a stack, so that counts and times stay exact; without memory for a site
    /// or even the region, to one that stands for all others.
    pub fn site(&mut self, region: Option<RegionId>, stack: Option<StackId>) -> SiteId {
        let Some(region) = region else { return self.other_regions() };
        // Room for one site without a stack for every region is kept free.
        let full = self.sites.len() + self.regions.len() + self.functions.len() + 1 >= MAX_SITES;
        let stack = if full { None } else { stack };
        let key = (region.0, stack.map_or(u32::MAX, |stack| stack.0));
        if let Some(&id) = self.sites.get(&key) {
            return SiteId(id);
        }
        if self.sites.len() + 1 >= MAX_SITES || self.sites.try_reserve(1).is_err() {
            return self.other_regions();
        }
        let id = self.next_id(DefinitionKind::Site);
        if !self.define(&Definition::Site { id, region: region.0, stack: stack.map(|stack| stack.0) }) {
            // The number goes to the next one: the table of modes has no room for unused ones.
            self.counts[DefinitionKind::Site as usize] -= 1;
            return self.other_regions();
        }
        self.sites.insert(key, id);
        self.note_site(id, region.0);
        self.set_mode_of(id, region.0);
        SiteId(id)
    }

    /// The last site, which stands for all regions that there is no site for: a program that makes
    /// names as it goes.
    fn other_regions(&mut self) -> SiteId {
        if let Some((other, _)) = self.other {
            return other;
        }
        let key = RegionKey {
            level: level::SOURCE,
            verb: "(other regions)".to_owned(),
            role: Role::Work,
            noun_kind: "",
            noun: String::new(),
            file: String::new(),
            line: 0,
        };
        // There is room kept for it. Where there is not even that, there is no window of events either.
        let region = self.define_region(&key, 0).unwrap_or(u32::MAX);
        let id = self.next_id(DefinitionKind::Site);
        let other = SiteId(id);
        self.other = Some((other, region));
        self.define_before(&Definition::Site { id, region, stack: None }, 0);
        self.set_mode_of(id, region);
        other
    }

    /// Adds a rule, which counts before those that are there, and follows it from now on.
    #[expect(clippy::iter_over_hash_type, reason = "each region by itself")]
    pub fn add_rule(&mut self, detail: Detail, pattern: &str) -> bool {
        let is_rule = self.rules.push(detail, pattern);
        for (key, &id) in &self.regions {
            let rule = self.rule_for(key);
            change_mode((&mut self.region_modes, &mut self.reducible), id, rule);
        }
        for (&place, (id, noun)) in &self.functions {
            let rule = self.rule_for_function(place, noun);
            change_mode((&mut self.region_modes, &mut self.reducible), *id, rule);
        }
        self.set_modes();
        is_rule
    }

    /// Has visits of a site counted from now on, and those of the other sites of its region.
    pub(crate) fn reduce(&mut self, site: u32) {
        let Some(&region) = self.site_regions.get(site as usize) else { return };
        if let Some(mode) = self.region_modes.get_mut(region as usize) {
            *mode = REDUCED;
        }
        self.note_reducible(region, Reducible::Not);
        for (_, &site) in self.sites.iter().filter(|((of, _), _)| *of == region) {
            self.set_mode_of(site, region);
        }
    }

    /// Whether visits of a site may be counted.
    pub(crate) fn reducible(&self, site: u32) -> Reducible {
        let region = self.site_regions.get(site as usize).copied().unwrap_or(u32::MAX);
        self.reducible.get(region as usize).copied().unwrap_or(Reducible::Not)
    }

    fn note_reducible(&mut self, region: u32, reducible: Reducible) {
        let len = region as usize + 1;
        // Without memory for it, it stays as it is.
        if self.reducible.try_reserve(len.saturating_sub(self.reducible.len())).is_ok() {
            self.reducible.resize(len.max(self.reducible.len()), Reducible::Not);
            self.reducible[region as usize] = reducible;
        }
    }

    fn note_site(&mut self, site: u32, region: u32) {
        let len = site as usize + 1;
        if self.site_regions.try_reserve(len.saturating_sub(self.site_regions.len())).is_ok() {
            self.site_regions.resize(len.max(self.site_regions.len()), u32::MAX);
            self.site_regions[site as usize] = region;
        }
    }

    fn rule_for(&self, key: &RegionKey) -> Option<Detail> {
        let level = level::NAMES.get(key.level as usize).copied().unwrap_or_default();
        let name = if key.level == level::SOURCE { &key.noun } else { &key.verb };
        self.rules.detail(level, name, &key.file)
    }

    #[expect(clippy::iter_over_hash_type, reason = "each site by itself")]
    fn set_modes(&self) {
        for (&(region, _), &site) in &self.sites {
            self.set_mode_of(site, region);
        }
        if let Some((other, region)) = self.other {
            self.set_mode_of(other.0, region);
        }
    }

    fn set_mode_of(&self, site: u32, region: u32) {
        let by_rules = self.region_modes.get(region as usize).copied().unwrap_or(Mode::Trace as u8);
        let mode = if self.mode == Mode::Trace { by_rules } else { self.mode as u8 };
        // SAFETY: the table has MAX_SITES bytes and sites are below that.
        let known = unsafe { mode_of(self.modes, site) };
        if mode != REDUCED {
            known.store(mode, Ordering::Relaxed);
        } else if known.load(Ordering::Relaxed) < REDUCED {
            // One place after the other: only beyond so many does a site take that of another.
            let place = self.n_reduced.replace(self.n_reduced.get().wrapping_add(1)) % N_PLACES;
            known.store(REDUCED + place, Ordering::Relaxed);
        }
    }
}

/// Lets a region be recorded otherwise from now on, as a rule says. What is reduced stays so without one.
fn change_mode((modes, reducible): (&mut [u8], &mut [Reducible]), region: u32, rule: Option<Detail>) {
    let mode = rule.map_or(Mode::Trace, Mode::from);
    if let (Some(reducible), true) = (reducible.get_mut(region as usize), rule.is_some()) {
        *reducible = Reducible::Not;
    }
    if let Some(known) = modes.get_mut(region as usize)
        && (rule.is_some() || *known != REDUCED)
    {
        // Some may be open.
        let fades = matches!(mode, Mode::Off | Mode::Count) && *known != mode as u8;
        *known = mode as u8 | if fades { FADING } else { 0 };
    }
}
