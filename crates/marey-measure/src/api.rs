//! The user's side: regions, events, counters, overlapping states and lanes of a Rust program.
//!
//! ```
//! fn step(n: u32) {
//!     marey_measure::region!("step");
//!     marey_measure::event!("residual", iteration = n, norm = 0.5);
//!     marey_measure::counter!("cells", "1", 17.0);
//! }
//! step(1); // Costs a nanosecond while nothing records.
//! ```

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, Ordering};

use marey_model::spool::{FieldType, put, put_signed};

use crate::attach::{table, thread_of};
use crate::definitions::mode_of;
use crate::definitions::place_of;
use crate::runtime::Mode;
use crate::table::{NONE, RuntimeTable};
use crate::write;

/// A place in the source that regions are entered from. Made by [`crate::region!`], one for each place.
pub struct Site {
    /// The site's number plus one; 0 before it has one.
    id: AtomicU32,
    name: &'static str,
    file: &'static str,
    line: u32,
}

impl Site {
    /// A place with its name.
    pub const fn new(name: &'static str, file: &'static str, line: u32) -> Self {
        Self { id: AtomicU32::new(0), name, file, line }
    }

    /// Enters the region; it is left when the guard goes.
    #[inline(always)]
    pub fn enter(&'static self) -> Region {
        let Some(table) = table() else { return Region::new(NONE) };
        enter(table, self.site(table))
    }

    /// Begins a state of this name that need not nest with others.
    pub fn begin(&'static self) -> Span {
        let Some(table) = table() else { return Span { token: 0 } };
        // SAFETY: the site was given out by this table.
        Span { token: unsafe { (table.begin)(self.site(table)) } }
    }

    /// The site's number. Whoever sees it must also see the mode that was set before, or would take
    /// the site for one that nobody knows and not record the visit.
    #[inline(always)]
    fn site(&'static self, table: &'static RuntimeTable) -> u32 {
        let id = self.id.load(Ordering::Acquire);
        if id == 0 { self.define(table) } else { id - 1 }
    }

    #[cold]
    fn define(&'static self, table: &'static RuntimeTable) -> u32 {
        // SAFETY: the strings are what their lengths say.
        let site = unsafe {
            (table.region)(
                self.name.as_ptr(),
                self.name.len(),
                self.file.as_ptr(),
                self.file.len(),
                self.line,
            )
        };
        if site != NONE {
            self.id.store(site + 1, Ordering::Release);
        }
        site
    }
}

#[inline(always)]
pub(crate) fn enter(table: &'static RuntimeTable, site: u32) -> Region {
    if site == NONE {
        return Region::new(NONE);
    }
    let modes = table.modes.load(Ordering::Relaxed);
    // SAFETY: the table of modes has a byte for every site that it gives out.
    let mode = unsafe { mode_of(modes, site) }.load(Ordering::Relaxed);
    if mode == Mode::Off as u8 {
        return Region::new(NONE);
    }
    let thread = thread_of(table);
    if thread.is_null() {
        return Region::new(NONE);
    }
    // SAFETY: the descriptor is the calling thread's.
    unsafe {
        if mode == Mode::Trace as u8 {
            write::enter(thread, site);
        } else if place_of(mode).is_some_and(|place| write::tally(thread, site, place))
            || (table.enter)(thread, site) == 0
        {
            return Region::new(NONE);
        }
    }
    Region::new(site)
}

/// An entered region. It must be left on the thread that entered it, so it cannot be sent.
#[must_use = "the region is left when the guard goes"]
pub struct Region {
    site: u32,
    not_send: PhantomData<*mut ()>,
}

impl Region {
    #[inline(always)]
    pub(crate) const fn new(site: u32) -> Self {
        Self { site, not_send: PhantomData }
    }

    /// Whether the visit is more than counted, so that what is recorded now belongs to it.
    pub fn is_entered(&self) -> bool {
        self.site != NONE
    }
}

impl Drop for Region {
    #[inline(always)]
    fn drop(&mut self) {
        if self.site == NONE {
            return;
        }
        if let Some(table) = table() {
            let thread = thread_of(table);
            if !thread.is_null() {
                // SAFETY: the descriptor is the calling thread's.
                unsafe { write::leave_site(thread, self.site) };
            }
        }
    }
}

/// A state that need not nest with others and may end on another thread. It is kept apart from
/// the call paths, so that exclusive times stay right.
#[must_use = "the state ends when the guard goes"]
pub struct Span {
    token: u64,
}

impl Drop for Span {
    fn drop(&mut self) {
        if let (true, Some(table)) = (self.token != 0, table()) {
            (table.end)(self.token);
        }
    }
}

/// A lane: a place of its own that is no thread — a task, a request, a transfer. What is entered
/// on it may happen on different threads, one after the other.
pub struct LaneHandle {
    id: u32,
}

impl LaneHandle {
    /// A new lane of this name.
    pub fn new(name: &str) -> Self {
        // SAFETY: the string is what its length says.
        Self { id: table().map_or(NONE, |table| unsafe { (table.lane)(name.as_ptr(), name.len()) }) }
    }

    /// Enters a region on the lane.
    pub fn enter(&mut self, site: &'static Site) -> LaneRegion<'_> {
        let mut entered = NONE;
        if let (true, Some(table)) = (self.id != NONE, table()) {
            entered = site.site(table);
            (table.lane_enter)(self.id, entered);
        }
        LaneRegion { lane: self.id, site: entered, borrow: PhantomData }
    }
}

/// An entered region of a lane.
#[must_use = "the region is left when the guard goes"]
pub struct LaneRegion<'a> {
    lane: u32,
    site: u32,
    borrow: PhantomData<&'a mut LaneHandle>,
}

impl Drop for LaneRegion<'_> {
    fn drop(&mut self) {
        if let (true, Some(table)) = (self.site != NONE, table()) {
            (table.lane_leave)(self.lane, self.site);
        }
    }
}

/// A value that an event can carry.
pub trait Value {
    /// Its type.
    const TYPE: FieldType;
    /// Appends its bytes.
    fn put(&self, out: &mut Vec<u8>);
}

macro_rules! values {
    ($($type:ty => $kind:ident, |$value:ident, $out:ident| $put:expr;)*) => {$(
        impl Value for $type {
            const TYPE: FieldType = FieldType::$kind;
            fn put(&self, $out: &mut Vec<u8>) {
                let $value = self;
                $put;
            }
        }
    )*};
}

values! {
    u8 => Unsigned, |value, out| put(out, u64::from(*value));
    u16 => Unsigned, |value, out| put(out, u64::from(*value));
    u32 => Unsigned, |value, out| put(out, u64::from(*value));
    u64 => Unsigned, |value, out| put(out, *value);
    usize => Unsigned, |value, out| put(out, *value as u64);
    i8 => Signed, |value, out| put_signed(out, i64::from(*value));
    i16 => Signed, |value, out| put_signed(out, i64::from(*value));
    i32 => Signed, |value, out| put_signed(out, i64::from(*value));
    i64 => Signed, |value, out| put_signed(out, *value);
    isize => Signed, |value, out| put_signed(out, *value as i64);
    f32 => Real, |value, out| out.extend_from_slice(&f64::from(*value).to_le_bytes());
    f64 => Real, |value, out| out.extend_from_slice(&value.to_le_bytes());
    bool => Bool, |value, out| out.push(u8::from(*value));
    str => Text, |value, out| marey_model::spool::put_bytes(out, value.as_bytes());
    String => Text, |value, out| marey_model::spool::put_bytes(out, value.as_bytes());
}

impl<T: Value + ?Sized> Value for &T {
    const TYPE: FieldType = T::TYPE;
    fn put(&self, out: &mut Vec<u8>) {
        T::put(self, out);
    }
}

/// A user-defined kind of event, or of attribute. Made by [`crate::event!`] and [`crate::attribute!`].
pub struct Kind {
    /// Its number plus one; 0 before it has one.
    id: AtomicU32,
    name: &'static str,
    attribute: bool,
    fields: &'static [&'static str],
}

impl Kind {
    /// A kind with the names of its fields.
    pub const fn new(name: &'static str, attribute: bool, fields: &'static [&'static str]) -> Self {
        Self { id: AtomicU32::new(0), name, attribute, fields }
    }

    /// Records an event (or attribute) if anything records; `values` is asked for types and bytes
    /// only then.
    #[inline(always)]
    pub fn record(&'static self, types: &[FieldType], values: impl FnOnce(&mut Vec<u8>)) {
        if let Some(table) = table() {
            self.record_to(table, types, values);
        }
    }

    fn record_to(
        &'static self,
        table: &'static RuntimeTable,
        types: &[FieldType],
        values: impl FnOnce(&mut Vec<u8>),
    ) {
        let kind = match self.id.load(Ordering::Relaxed) {
            0 => self.define(table, types),
            id => id - 1,
        };
        if kind == NONE {
            return (table.without_kind)();
        }
        let mut bytes = Vec::new();
        values(&mut bytes);
        let record = if self.attribute { table.attribute } else { table.event };
        // SAFETY: the bytes are what their length says.
        unsafe { record(kind, bytes.as_ptr(), bytes.len()) };
    }

    #[cold]
    fn define(&'static self, table: &'static RuntimeTable, types: &[FieldType]) -> u32 {
        let names: Vec<(*const u8, usize)> =
            self.fields.iter().map(|name| (name.as_ptr(), name.len())).collect();
        let codes: Vec<u8> = types.iter().map(|&kind| kind as u8).collect();
        let n = names.len().min(codes.len());
        // SAFETY: `n` names and `n` codes.
        let id = unsafe {
            let attribute = u32::from(self.attribute);
            (table.event_kind)(
                self.name.as_ptr(),
                self.name.len(),
                attribute,
                names.as_ptr(),
                codes.as_ptr(),
                n,
            )
        };
        if id != NONE {
            self.id.store(id + 1, Ordering::Relaxed);
        }
        id
    }
}

/// A user-defined counter. Made by [`crate::counter!`].
pub struct CounterSite {
    id: AtomicU32,
    name: &'static str,
    unit: &'static str,
}

impl CounterSite {
    /// A counter with its unit.
    pub const fn new(name: &'static str, unit: &'static str) -> Self {
        Self { id: AtomicU32::new(0), name, unit }
    }

    /// Records its new value.
    #[inline(always)]
    pub fn set(&'static self, value: f64) {
        let Some(table) = table() else { return };
        let mut id = self.id.load(Ordering::Relaxed);
        if id == 0 {
            // SAFETY: the strings are what their lengths say.
            let new = unsafe {
                (table.counter)(self.name.as_ptr(), self.name.len(), self.unit.as_ptr(), self.unit.len())
            };
            if new == NONE {
                return;
            }
            id = new + 1;
            self.id.store(id, Ordering::Relaxed);
        }
        (table.count)(id - 1, value);
    }
}

/// Enters a region that is left at the end of the enclosing block.
#[macro_export]
macro_rules! region {
    ($name:expr) => {
        let _marey_region = $crate::site!($name).enter();
    };
}

/// The place in the source where it stands, as a [`Site`] of the given name.
#[macro_export]
macro_rules! site {
    ($name:expr) => {{
        static SITE: $crate::Site = $crate::Site::new($name, file!(), line!());
        &SITE
    }};
}

/// Records an event with fields: `event!("name", field = value, …)`. A field is an integer, a
/// float, a bool or text.
#[macro_export]
macro_rules! event {
    ($name:expr $(, $field:ident = $value:expr)* $(,)?) => { $crate::__record!(false, $name $(, $field = $value)*) };
}

/// Adds facts to the innermost open region, like [`crate::event!`].
#[macro_export]
macro_rules! attribute {
    ($name:expr $(, $field:ident = $value:expr)* $(,)?) => { $crate::__record!(true, $name $(, $field = $value)*) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __record {
    ($attribute:expr, $name:expr $(, $field:ident = $value:expr)*) => {{
        static KIND: $crate::Kind = $crate::Kind::new($name, $attribute, &[$(stringify!($field)),*]);
        match ($(&$value,)*) {
            ($($field,)*) => KIND.record(&[$($crate::type_of($field)),*], |_bytes| {
                $($crate::Value::put($field, _bytes);)*
            }),
        }
    }};
}

/// The type of a value.
pub fn type_of<T: Value + ?Sized>(_: &T) -> FieldType {
    T::TYPE
}

/// Records a counter's new value: `counter!("name", "unit", value)`.
#[macro_export]
macro_rules! counter {
    ($name:expr, $unit:expr, $value:expr) => {{
        static COUNTER: $crate::CounterSite = $crate::CounterSite::new($name, $unit);
        COUNTER.set($value)
    }};
}

/// The Rust example of the user's guide is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/user-api.md")]
pub struct Guide;
