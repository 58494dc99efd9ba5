//! For adapters of other ways to instrument a program: regions, kinds of events, lanes and edges that are known by their
//! numbers, because they are made while the program runs.
//!
//! The one idea: what [`crate::Site`], [`crate::Kind`] and [`crate::LaneHandle`] keep in a place of the source, an adapter
//! keeps itself, as small values that may be copied. Nothing here allocates but making a number, and each call costs a
//! load and a comparison while nothing records.
//!
//! What is deliberately absent: names of adapters, and caches; who adapts knows best what stays the same.

use marey_model::spool::{FieldType, MAX_SHORT, op, short_len};
use marey_model::{EdgeKind, Role};

use crate::api::{self, Region};
use crate::attach::{current_thread, table};
use crate::definitions::RegionKey;
use crate::order::{Cause, begin_because};
use crate::runtime::{self, Mode, level};
use crate::table::{NONE, is_kept, no_site, text, with_thread};
use crate::write;

/// Whether anything records this process.
#[inline(always)]
pub fn is_recorded() -> bool {
    table().is_some()
}

/// What kind of thing a region of an adapter is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum NounKind {
    /// A stretch of the program, named by the user.
    Region = 0,
    /// The same by the words of the crate `tracing`.
    Span = 1,
    /// Something that is begun, suspended and gone on with.
    Task = 2,
    /// Something that a pool of threads does in one go.
    Job = 3,
    /// A thread that tasks or jobs run on.
    Worker = 4,
}

impl NounKind {
    const NAMES: [&str; 5] = ["region", "span", "task", "job", "worker"];
}

/// What a region says: who does what, on which level, and where that stands in the source.
#[derive(Clone, Copy, Debug)]
pub struct Sentence<'a> {
    /// Number of the level, see [`crate::level`].
    pub level: u32,
    /// The verb.
    pub verb: &'a str,
    /// What the verb does.
    pub role: Role,
    /// Kind of the noun.
    pub kind: NounKind,
    /// The noun.
    pub noun: &'a str,
    /// Source file, or empty.
    pub file: &'a str,
    /// Line, or 0.
    pub line: u32,
}

/// The same as it goes through the table. Strings are pointer and length.
#[repr(C)]
pub struct Described {
    level: u32,
    role: u32,
    kind: u32,
    line: u32,
    verb: (*const u8, usize),
    noun: (*const u8, usize),
    file: (*const u8, usize),
}

/// A region that was made while the program runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Made(u32);

impl Made {
    /// One that is never entered.
    pub const NONE: Self = Self(NONE);

    /// The region that says this, new or known; one that is never entered if nothing records.
    pub fn new(sentence: &Sentence<'_>) -> Self {
        let Some(table) = table() else { return Self(NONE) };
        let Sentence { level, verb, role, kind, noun, file, line } = *sentence;
        let parts = |text: &str| (text.as_ptr(), text.len());
        let (verb, noun, file) = (parts(verb), parts(noun), parts(file));
        let described =
            Described { level, role: role.code().into(), kind: kind as u32, line, verb, noun, file };
        // SAFETY: the strings are what their lengths say.
        Self(unsafe { (table.described)(&raw const described) })
    }

    /// Enters the region; it is left when the guard goes.
    #[inline(always)]
    pub fn enter(self) -> Region {
        let Some(table) = table() else { return Region::new(NONE) };
        api::enter(table, self.0)
    }

    /// Enters the region for those who cannot keep a guard. Leave it by [`Self::close`], on the same thread. Says whether
    /// the visit is more than counted.
    pub fn open(self) -> bool {
        let region = self.enter();
        let is_entered = region.is_entered();
        core::mem::forget(region);
        is_entered
    }

    /// Leaves the region. If it is not open on this thread, nothing happens.
    pub fn close(self) {
        if let (true, Some(table)) = (self.0 != NONE, table()) {
            (table.leave_here)(self.0);
        }
    }
}

/// A kind of event (or attribute) that was made while the program runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MadeKind(u32, bool);

impl MadeKind {
    /// The kind of what cannot be told apart any more: whatever is recorded with it is counted as dropped.
    pub const NONE: Self = Self(NONE, false);

    /// A new kind with the names and types of its fields.
    pub fn new(name: &str, is_attribute: bool, fields: &[(&str, FieldType)]) -> Self {
        let Some(table) = table() else { return Self(NONE, is_attribute) };
        let names: Vec<(*const u8, usize)> =
            fields.iter().map(|(name, _)| (name.as_ptr(), name.len())).collect();
        let codes: Vec<u8> = fields.iter().map(|(_, kind)| *kind as u8).collect();
        // SAFETY: as many names as codes, and strings are what their lengths say.
        let id = unsafe {
            let (names, codes) = (names.as_ptr(), codes.as_ptr());
            (table.event_kind)(name.as_ptr(), name.len(), is_attribute.into(), names, codes, fields.len())
        };
        Self(id, is_attribute)
    }

    /// Records an event, or an attribute of the innermost open region, with its encoded fields. One of a kind that could not
    /// be made is counted as dropped.
    pub fn record(self, fields: &[u8]) {
        let Some(table) = table() else { return };
        if self.0 == NONE {
            (table.without_kind)();
        } else {
            let record = if self.1 { table.attribute } else { table.event };
            // SAFETY: the bytes are what their length says.
            unsafe { record(self.0, fields.as_ptr(), fields.len()) };
        }
    }
}

/// When something was done, and by which thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    thread: u32,
    ticks: u64,
}

impl Moment {
    /// Now, on the calling thread; `None` if that cannot be recorded.
    pub fn now() -> Option<Self> {
        let table = table()?;
        let mut ticks = 0;
        // SAFETY: `ticks` is writable.
        let thread = unsafe { (table.moment)(&raw mut ticks) };
        (thread != NONE).then_some(Self { thread, ticks })
    }

    /// When it was: readings of one process may be compared.
    pub fn ticks(self) -> u64 {
        self.ticks
    }

    /// Whether it was on the same thread as another.
    pub fn is_on_thread_of(self, other: Self) -> bool {
        self.thread == other.thread
    }

    /// What the calling thread recorded last could not come before this moment.
    pub fn leads_here(self, kind: EdgeKind) {
        if let Some(table) = table() {
            (table.because)(kind as u32, self.thread, self.ticks, 0);
        }
    }
}

/// A lane that several threads may use one after the other, who see to it themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lane(u32);

impl Lane {
    /// A new lane; one that stays empty if nothing records.
    pub fn new(name: &str) -> Self {
        // SAFETY: the string is what its length says.
        let id = table().map_or(NONE, |table| unsafe { (table.lane)(name.as_ptr(), name.len()) });
        Self(id)
    }

    /// Enters a region on the lane.
    pub fn enter(self, region: Made) {
        if let (true, Some(table)) = (self.0 != NONE && region.0 != NONE, table()) {
            (table.lane_enter)(self.0, region.0);
        }
    }

    /// Leaves it, with all that is open inside.
    pub fn leave(self, region: Made) {
        if let (true, Some(table)) = (self.0 != NONE && region.0 != NONE, table()) {
            (table.lane_leave)(self.0, region.0);
        }
    }

    /// Enters a region as of a moment that is over, behind all that is known of the lane.
    pub fn enter_at(self, region: Made, ticks: u64) {
        self.earlier(region, ticks, 1);
    }

    /// Leaves it in the same way.
    pub fn leave_at(self, region: Made, ticks: u64) {
        self.earlier(region, ticks, 0);
    }

    fn earlier(self, region: Made, ticks: u64, is_enter: u32) {
        if let (true, Some(table)) = (self.0 != NONE && region.0 != NONE, table()) {
            (table.lane_earlier)(self.0, region.0, ticks, is_enter);
        }
    }
}

/// See [`crate::RuntimeTable::described`].
pub(crate) unsafe extern "C" fn described(it: *const Described) -> u32 {
    let Some(runtime) = runtime::here() else { return no_site() };
    // SAFETY: the caller's promise.
    let (it, verb, noun, file) = unsafe {
        let it = &*it;
        let text = |(at, len): (*const u8, usize)| text(at, len);
        (it, text(it.verb), text(it.noun), text(it.file))
    };
    let role = u8::try_from(it.role).ok().and_then(Role::from_code);
    let noun_kind = NounKind::NAMES.get(it.kind as usize);
    let (Some(role), Some(&noun_kind), true) = (role, noun_kind, level::NAMES.len() > it.level as usize)
    else {
        return no_site();
    };
    let key = RegionKey { level: it.level, verb, role, noun_kind, noun, file, line: it.line };
    runtime
        .define(|definitions| {
            let region = definitions.region(&key);
            definitions.site(region, None).0
        })
        .unwrap_or_else(no_site)
}

/// See [`crate::RuntimeTable::lane_earlier`].
pub(crate) extern "C" fn lane_earlier(lane: u32, site: u32, ticks: u64, is_enter: u32) {
    let Some(runtime) = runtime::here() else { return };
    let is_kept = if is_enter != 0 { is_kept(runtime, site) } else { runtime.config().mode == Mode::Trace };
    if lane == NONE || !is_kept {
        return;
    }
    // An opcode, a length and four numbers.
    with_thread(write::ROOM, |thread, scratch| {
        // SAFETY: the descriptor is the calling thread's.
        let last = unsafe { (*thread).last };
        if last < ticks {
            scratch.byte(if is_enter != 0 { op::LANE_ENTER } else { op::LANE_LEAVE });
            scratch.number(lane.into());
            scratch.number(site.into());
            // SAFETY: inside `write`.
            unsafe { write::put_delta_to(thread, scratch, ticks) };
            return;
        }
        let numbers = [lane.into(), site.into(), last - ticks, u64::from(is_enter != 0)];
        scratch.byte(op::LANE_EARLIER);
        scratch.number(numbers.iter().map(|&number| len(number)).sum::<u32>().into());
        for number in numbers {
            scratch.number(number);
        }
    });
}

/// Bytes of a number in a record.
const fn len(number: u64) -> u32 {
    if number > MAX_SHORT { 9 } else { short_len(number) }
}

/// See [`crate::RuntimeTable::moment`].
pub(crate) unsafe extern "C" fn moment(ticks: *mut u64) -> u32 {
    let thread = current_thread();
    if thread.is_null() {
        return NONE;
    }
    // SAFETY: the descriptor is the calling thread's, and the caller's promise.
    unsafe {
        *ticks = write::now(thread);
        (*thread).serial
    }
}

/// See [`crate::RuntimeTable::because`].
pub(crate) extern "C" fn because(kind: u32, from: u32, ticks: u64, noun: u64) {
    let kind = u8::try_from(kind).ok().and_then(EdgeKind::from_code);
    let thread = current_thread();
    let (Some(kind), false) = (kind, thread.is_null()) else { return };
    if runtime::here().is_none_or(|runtime| runtime.config().mode != Mode::Trace) {
        return;
    }
    // SAFETY: the descriptor is the calling thread's.
    unsafe { begin_because(thread, Cause { kind, thread: from, ticks, noun }) };
}
