//! The table through which code that was compiled elsewhere — a Rust program's own copy of this
//! crate, a C program's `marey.h`, the Fortran module — writes through the one runtime of the
//! process. Hot paths write through the [`Thread`] descriptor themselves; the rest is called here.
//!
//! The table only ever grows at its end; a reader checks [`RuntimeTable::abi`] first and does
//! without recording if it differs.

#![expect(clippy::cast_possible_truncation, reason = "the size of the table is known and small")]

use core::sync::atomic::{AtomicPtr, Ordering};

use marey_model::spool::{Definition, DefinitionKind, op};
use marey_model::{Detail, Role};

use crate::attach::{current_thread, existing_thread};
use crate::definitions::{MAX_SITES, RegionKey, mode_of, place_of};
use crate::made::{self, Described};
use crate::runtime::{self, Mode, Runtime, level};
use crate::thread::Thread;
use crate::write;

/// Version of the layout of [`RuntimeTable`] and of the public part of [`Thread`], and of what its fields mean.
pub const ABI_VERSION: u32 = 3;
/// Most lanes of a process: whoever reads the run has room for each of them.
const MOST_LANES: u32 = 1 << 14;
/// A number that stands for nothing.
pub(crate) const NONE: u32 = u32::MAX;

/// The runtime's entry points. Strings are pointer and length.
#[repr(C)]
pub struct RuntimeTable {
    /// [`ABI_VERSION`].
    pub abi: u32,
    /// Size of this table in bytes.
    pub size: u32,
    /// One mode byte for each site (see [`Mode`]).
    pub modes: AtomicPtr<u8>,
    /// The calling thread's descriptor; null if it cannot record.
    pub thread: extern "C" fn() -> *mut Thread,
    /// The site of a user region `(name, file, line)`; `u32::MAX` if none can be had.
    pub region: unsafe extern "C" fn(*const u8, usize, *const u8, usize, u32) -> u32,
    /// Enters a site whose mode is not trace, or not known yet. 1 if it was entered.
    pub enter: unsafe extern "C" fn(*mut Thread, u32) -> u32,
    /// Leaves a site that was entered.
    pub leave: unsafe extern "C" fn(*mut Thread, u32),
    /// Begins a state that need not nest; the token ends it.
    pub begin: unsafe extern "C" fn(u32) -> u64,
    /// Ends such a state, on whichever thread.
    pub end: extern "C" fn(u64),
    /// A kind of event (or attribute, if the flag is 1): name, then `n` field names as pointer and
    /// length, then `n` type codes.
    pub event_kind:
        unsafe extern "C" fn(*const u8, usize, u32, *const (*const u8, usize), *const u8, usize) -> u32,
    /// Records an event with its encoded fields.
    pub event: unsafe extern "C" fn(u32, *const u8, usize),
    /// Records an attribute of the innermost open region.
    pub attribute: unsafe extern "C" fn(u32, *const u8, usize),
    /// A counter (name, unit).
    pub counter: unsafe extern "C" fn(*const u8, usize, *const u8, usize) -> u32,
    /// Records a counter's new value.
    pub count: extern "C" fn(u32, f64),
    /// A lane (name).
    pub lane: unsafe extern "C" fn(*const u8, usize) -> u32,
    /// Enters a site on a lane.
    pub lane_enter: extern "C" fn(u32, u32),
    /// Leaves the innermost region of a lane.
    pub lane_leave: extern "C" fn(u32, u32),
    /// Enters a site on the calling thread: one call for those who cannot write themselves.
    pub enter_here: extern "C" fn(u32),
    /// Leaves a site that was entered on the calling thread.
    pub leave_here: extern "C" fn(u32),
    /// See [`crate::keep`]; 1 is true.
    pub keep: extern "C" fn(u32),
    /// See [`crate::set_detail`]: a place in [`Detail::ALL`] and a pattern. 1 if it is one.
    pub detail: unsafe extern "C" fn(u32, *const u8, usize) -> u32,
    /// The site of a region on whichever level; `u32::MAX` if none can be had.
    pub described: unsafe extern "C" fn(*const Described) -> u32,
    /// Enters (1) or leaves (0) a site on a lane at the given ticks, which are over.
    pub lane_earlier: extern "C" fn(u32, u32, u64, u32),
    /// The calling thread's number, `u32::MAX` if it cannot record, and the clock's reading.
    pub moment: unsafe extern "C" fn(*mut u64) -> u32,
    /// The calling thread's last record could not come before what a thread did: code of the kind of the edge, the
    /// thread's number, the ticks there, the noun.
    pub because: extern "C" fn(u32, u32, u64, u64),
    /// Counts an event or attribute that could not be recorded, because there is no kind for it.
    pub without_kind: extern "C" fn(),
}

/// This copy's table.
pub static TABLE: RuntimeTable = RuntimeTable {
    abi: ABI_VERSION,
    size: size_of::<RuntimeTable>() as u32,
    modes: AtomicPtr::new(core::ptr::null_mut()),
    thread: table_thread,
    region: table_region,
    enter: table_enter,
    leave: table_leave,
    begin: table_begin,
    end: table_end,
    event_kind: table_event_kind,
    event: table_event,
    attribute: table_attribute,
    counter: table_counter,
    count: table_count,
    lane: table_lane,
    lane_enter: table_lane_enter,
    lane_leave: table_lane_leave,
    enter_here: table_enter_here,
    leave_here: table_leave_here,
    keep: table_keep,
    detail: table_detail,
    described: made::described,
    lane_earlier: made::lane_earlier,
    moment: made::moment,
    because: made::because,
    without_kind: table_without_kind,
};

/// Makes the mode table known to everybody who holds [`TABLE`].
pub(crate) fn publish(modes: *mut u8) {
    TABLE.modes.store(modes, Ordering::Release);
}

/// Text from outside; bytes that are not UTF-8 are replaced.
pub(crate) unsafe fn text(at: *const u8, len: usize) -> String {
    if at.is_null() {
        return String::new();
    }
    // SAFETY: the caller of the table's function promises `len` readable bytes.
    String::from_utf8_lossy(unsafe { core::slice::from_raw_parts(at, len) }).into_owned()
}

unsafe fn bytes<'a>(at: *const u8, len: usize) -> &'a [u8] {
    if at.is_null() {
        return &[];
    }
    // SAFETY: as in `text`.
    unsafe { core::slice::from_raw_parts(at, len) }
}

extern "C" fn table_thread() -> *mut Thread {
    let thread = current_thread();
    if thread.is_null() {
        // Who asks wants to enter a region, and will not leave it.
        runtime::count_homeless(2);
    }
    thread
}

/// What there is to say of a region for which no number can be had, because a signal handler has
/// interrupted the making of others or there is no recorder: a visit is lost.
#[cold]
pub(crate) fn no_site() -> u32 {
    // A thread without a descriptor is counted when it asks for one.
    if !current_thread().is_null() {
        runtime::count_homeless(2);
    }
    NONE
}

unsafe extern "C" fn table_region(
    name: *const u8,
    len: usize,
    file: *const u8,
    file_len: usize,
    line: u32,
) -> u32 {
    let Some(runtime) = runtime::here() else { return no_site() };
    // SAFETY: the caller's promise.
    let (noun, file) = unsafe { (text(name, len), text(file, file_len)) };
    let key = RegionKey {
        level: level::SOURCE,
        verb: "execute".to_owned(),
        role: Role::Work,
        noun_kind: "region",
        noun,
        file,
        line,
    };
    runtime
        .define(|definitions| {
            let region = definitions.region(&key);
            definitions.site(region, None).0
        })
        .unwrap_or_else(no_site)
}

unsafe extern "C" fn table_enter(thread: *mut Thread, site: u32) -> u32 {
    // SAFETY: `thread` is the calling thread's descriptor, given out by `table_thread`.
    unsafe {
        let Some(runtime) = runtime::here() else {
            runtime::count_homeless(1);
            return 0;
        };
        if let Some(place) = runtime.reduced(site) {
            return enter_reduced(thread, site, place);
        }
        match runtime.mode(site) {
            Mode::Trace => write::enter(thread, site),
            Mode::Count | Mode::Off if runtime.fades(site) && write::is_open(thread, site) => {
                write::enter(thread, site);
            }
            Mode::Time => write::enter_timed(thread, site, write::Kept::Timed),
            Mode::Count => {
                write::count(thread, site);
                return 0;
            }
            Mode::Off | Mode::Unknown => return 0,
        }
    }
    1
}

/// Counts a visit of a region that is reduced. 1 if it was entered.
unsafe fn enter_reduced(thread: *mut Thread, site: u32, place: usize) -> u32 {
    // SAFETY: as in `table_enter`.
    unsafe {
        if write::tally(thread, site, place) {
            return 0;
        }
        match write::visit(thread, site) {
            write::Told::Counted => 0,
            write::Told::Open => {
                let leaving =
                    write::Leaving { function: leave_learning, arguments: [thread as usize, site as usize] };
                write::learn_cost(thread, leaving, |_| ());
                write::begin_timing(thread)
            }
            write::Told::Not => {
                write::enter(thread, site);
                1
            }
        }
    }
}

unsafe extern "C" fn table_leave(thread: *mut Thread, site: u32) {
    // SAFETY: as in `table_enter`.
    unsafe {
        if (*thread).timing == site + 1 {
            write::end_timing(thread);
            if write::is_learning(thread) {
                return;
            }
        }
        if !is_only_counted(thread, site) {
            write::leave_site(thread, site);
        }
    }
}

/// The same, as it is called while it is found out what that takes.
#[expect(clippy::cast_possible_truncation, reason = "it was a site")]
unsafe extern "C" fn leave_learning(thread: usize, site: usize) {
    // SAFETY: as in `table_enter`.
    unsafe { table_leave(thread as *mut Thread, site as u32) };
}

/// Whether a visit that is left now was only counted, and never entered. Those of regions that are reduced and entered
/// lie innermost when they are left, unless a jump has skipped others, with which they are left then.
#[inline(always)]
unsafe fn is_only_counted(thread: *const Thread, site: u32) -> bool {
    // SAFETY: the descriptor is the calling thread's; entries below `depth` are filled.
    unsafe {
        let depth = (*thread).depth as usize;
        (depth == 0 || (*(*thread).stack.add(depth - 1)).site != site)
            && Thread::is_reduced(thread, site)
            && !write::is_open_beside(thread, site)
    }
}

extern "C" fn table_enter_here(site: u32) {
    let thread = existing_thread();
    // What is rare is a jump out of here: with a call in the middle every enter would save
    // registers, which costs as much as the record.
    if thread.is_null() || site as usize >= MAX_SITES {
        return enter_here_rarely(site);
    }
    let modes = TABLE.modes.load(Ordering::Relaxed);
    // SAFETY: whoever got a site from this table finds the modes there, a byte for every site; the descriptor is the
    // calling thread's.
    unsafe {
        let mode = mode_of(modes, site).load(Ordering::Relaxed);
        if mode != Mode::Trace as u8 {
            if place_of(mode).is_some_and(|place| write::tally(thread, site, place)) {
                return;
            }
            return enter_here_rarely(site);
        }
    }
    // SAFETY: the descriptor is the calling thread's.
    unsafe { write::enter(thread, site) };
}

#[cold]
#[inline(never)]
extern "C" fn enter_here_rarely(site: u32) {
    let thread = current_thread();
    if !thread.is_null() {
        // SAFETY: the descriptor is the calling thread's.
        unsafe { table_enter(thread, site) };
    }
}

extern "C" fn table_leave_here(site: u32) {
    let thread = existing_thread();
    // SAFETY: as above.
    unsafe {
        if !thread.is_null() && !is_only_counted(thread, site) {
            write::end_timing(thread);
            write::leave_site(thread, site);
        }
    }
}

extern "C" fn table_keep(events: u32) {
    runtime::keep(events != 0);
}

unsafe extern "C" fn table_detail(detail: u32, pattern: *const u8, len: usize) -> u32 {
    let detail = Detail::ALL.get(detail as usize);
    let (Some(runtime), Some(&detail)) = (runtime::here(), detail) else { return 0 };
    // SAFETY: the caller's promise.
    let pattern = unsafe { text(pattern, len) };
    runtime.define(|definitions| definitions.add_rule(detail, &pattern)).unwrap_or(false).into()
}

/// Whether a visit that is no part of a thread's time is recorded. If it is only to be counted or timed, it is
/// counted here.
pub(crate) fn is_kept(runtime: &Runtime, site: u32) -> bool {
    let mode = runtime.mode(site);
    if matches!(mode, Mode::Count | Mode::Time) {
        let thread = current_thread();
        if !thread.is_null() {
            // SAFETY: the descriptor is the calling thread's.
            unsafe { write::count(thread, site) };
        }
    }
    mode == Mode::Trace
}

/// Writes with the calling thread's descriptor, if it has one or can have one.
pub(crate) fn with_thread(room: usize, f: impl FnOnce(*mut Thread, &mut write::Scratch)) {
    let thread = current_thread();
    if thread.is_null() {
        return runtime::count_homeless(1);
    }
    // SAFETY: the descriptor is the calling thread's; callers name the room they need.
    unsafe { write::write(thread, room, f) };
}

unsafe extern "C" fn table_begin(site: u32) -> u64 {
    let Some(runtime) = runtime::here() else { return 0 };
    if !is_kept(runtime, site) {
        return 0;
    }
    let token = runtime.next_serial();
    with_thread(write::ROOM, |thread, scratch| {
        scratch.byte(op::BEGIN);
        scratch.number(site.into());
        scratch.number(token);
        // SAFETY: inside `write`.
        unsafe { write::put_delta(thread, scratch) };
    });
    token
}

extern "C" fn table_end(token: u64) {
    if token == 0 || existing_thread().is_null() && runtime::here().is_none() {
        return;
    }
    with_thread(write::ROOM, |thread, scratch| {
        scratch.byte(op::END);
        scratch.number(token);
        // SAFETY: inside `write`.
        unsafe { write::put_delta(thread, scratch) };
    });
}

unsafe extern "C" fn table_event_kind(
    name: *const u8,
    len: usize,
    attribute: u32,
    names: *const (*const u8, usize),
    types: *const u8,
    n: usize,
) -> u32 {
    let Some(runtime) = runtime::here() else { return NONE };
    // SAFETY: the caller's promise: `n` names and `n` types.
    let (name, fields) = unsafe {
        let fields: Vec<(String, u8)> = (0..n)
            .map(|idx| {
                let (at, len) = *names.add(idx);
                (text(at, len), *types.add(idx))
            })
            .collect();
        (text(name, len), fields)
    };
    runtime
        .define(|definitions| {
            let id = definitions.next_id(DefinitionKind::EventKind);
            definitions.define(&Definition::EventKind { id, name, attribute: attribute != 0, fields });
            id
        })
        .unwrap_or(NONE)
}

unsafe extern "C" fn table_event(kind: u32, fields: *const u8, len: usize) {
    if runtime::here().is_none_or(|runtime| runtime.config().mode != Mode::Trace) {
        return;
    }
    // SAFETY: the caller's promise.
    let fields = unsafe { bytes(fields, len) };
    with_thread(len + 64, |thread, scratch| {
        scratch.byte(op::EVENT);
        scratch.number(kind.into());
        // SAFETY: inside `write`.
        unsafe { write::put_delta(thread, scratch) };
        scratch.number(len as u64);
        scratch.bytes(fields);
    });
}

unsafe extern "C" fn table_attribute(kind: u32, fields: *const u8, len: usize) {
    if runtime::here().is_none_or(|runtime| runtime.config().mode != Mode::Trace) {
        return;
    }
    // SAFETY: the caller's promise.
    let fields = unsafe { bytes(fields, len) };
    with_thread(len + 64, |_, scratch| {
        scratch.byte(op::ATTRIBUTE);
        scratch.number(kind.into());
        scratch.number(len as u64);
        scratch.bytes(fields);
    });
}

extern "C" fn table_without_kind() {
    // What is only added up has no events that could be missing.
    if runtime::here().is_none_or(|runtime| runtime.config().mode != Mode::Trace) {
        return;
    }
    let thread = current_thread();
    if thread.is_null() {
        return runtime::count_homeless(1);
    }
    // SAFETY: the descriptor is the calling thread's.
    unsafe { write::count_unrecorded(thread) };
}

unsafe extern "C" fn table_counter(name: *const u8, len: usize, unit: *const u8, unit_len: usize) -> u32 {
    let Some(runtime) = runtime::here() else { return NONE };
    // SAFETY: the caller's promise.
    let (name, unit) = unsafe { (text(name, len), text(unit, unit_len)) };
    runtime
        .define(|definitions| {
            let id = definitions.next_id(DefinitionKind::Counter);
            definitions.define(&Definition::Counter { id, name, unit });
            id
        })
        .unwrap_or(NONE)
}

extern "C" fn table_count(counter: u32, value: f64) {
    if runtime::here().is_none_or(|runtime| runtime.config().mode != Mode::Trace) {
        return;
    }
    with_thread(write::ROOM, |thread, scratch| {
        scratch.byte(op::COUNTER);
        scratch.number(counter.into());
        // SAFETY: inside `write`.
        unsafe { write::put_delta(thread, scratch) };
        scratch.bytes(&value.to_le_bytes());
    });
}

unsafe extern "C" fn table_lane(name: *const u8, len: usize) -> u32 {
    let Some(runtime) = runtime::here() else { return NONE };
    // SAFETY: the caller's promise.
    let name = unsafe { text(name, len) };
    let ticks = runtime.ticks();
    runtime
        .define(|definitions| {
            let id = definitions.next_id(DefinitionKind::Lane);
            if id >= MOST_LANES {
                runtime::count_homeless(1);
                return NONE;
            }
            definitions.define(&Definition::Lane { id, name, ticks });
            id
        })
        .unwrap_or(NONE)
}

extern "C" fn table_lane_enter(lane: u32, site: u32) {
    if lane == NONE || !runtime::here().is_some_and(|runtime| is_kept(runtime, site)) {
        return;
    }
    with_thread(write::ROOM, |thread, scratch| {
        scratch.byte(op::LANE_ENTER);
        scratch.number(lane.into());
        scratch.number(site.into());
        // SAFETY: inside `write`.
        unsafe { write::put_delta(thread, scratch) };
    });
}

extern "C" fn table_lane_leave(lane: u32, site: u32) {
    if lane == NONE || runtime::here().is_none_or(|runtime| runtime.config().mode != Mode::Trace) {
        return;
    }
    with_thread(write::ROOM, |thread, scratch| {
        scratch.byte(op::LANE_LEAVE);
        scratch.number(lane.into());
        scratch.number(site.into());
        // SAFETY: inside `write`.
        unsafe { write::put_delta(thread, scratch) };
    });
}
