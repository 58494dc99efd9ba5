//! Views that there are: what each is called, where it lies, and since when.
//!
//! The one idea: Kokkos says when it allocates memory for a View and when it gives it back, so a View is a datum in between,
//! and any address in it is an address of that View, for copies, and for messages of MPI
//! ([`crate::data::buffers`]).
//!
//! What is told is where a head of Kokkos's lies, and the data are behind it. Memory that Kokkos takes for itself has no
//! such head; which it is can be seen when the memory is used, for by then the head has been written.
//!
//! Deliberately absent: Views of memory that the program has itself, of which Kokkos tells nothing.

use core::sync::atomic::{AtomicU32, Ordering};
use std::collections::BTreeMap;

use marey_measure::sys::copy_own;
use marey_measure::{Lock, Runtime};
use marey_model::spool::{Access, Definition, DefinitionKind};
use marey_model::{AccessKind, DataKind};

use super::Verb;
use super::names::{Kind, named};
use super::open::Call;
use super::space::{SpaceHandle, in_space};
use crate::data::{self, Key, made};

/// Bytes of the head (`SharedAllocationHeader`).
const HEAD: usize = 128;
/// Where the label lies in it, and how long it can be.
const LABEL_AT: usize = 8;
const LABEL_MOST: usize = HEAD - LABEL_AT;
/// What the kernel says if there is no memory at an address.
const NO_MEMORY: isize = -(libc::EFAULT as isize);

/// Views that are known at a time, and that a process defines in all.
const MOST: usize = 1 << 16;
const MOST_MADE: u32 = 1 << 17;

/// A View. Nothing of it is memory of its own, which would take calls of the kernel.
#[derive(Clone, Copy, Debug)]
struct View {
    data: u32,
    noun: u32,
    /// Where its data begin.
    base: usize,
    bytes: u64,
    /// The label, as long as it is not known whether there is a head.
    unseen: Option<Label>,
    /// The number of its name; `None` without one.
    named: Option<u32>,
    site: Option<u32>,
    ticks: u64,
}

/// The beginning of a label, as a head has it.
#[derive(Clone, Copy, Debug)]
struct Label {
    bytes: [u8; LABEL_MOST - 1],
    len: usize,
}

impl Label {
    fn of(label: &[u8]) -> Self {
        let mut bytes = [0; LABEL_MOST - 1];
        let len = label.len().min(bytes.len());
        bytes[..len].copy_from_slice(&label[..len]);
        Self { bytes, len }
    }
}

/// By the address that Kokkos tells.
static VIEWS: Lock<Option<BTreeMap<usize, View>>> = Lock::new(None);

static N_MADE: AtomicU32 = AtomicU32::new(0);

fn with<R>(f: impl FnOnce(&mut BTreeMap<usize, View>) -> Option<R>) -> Option<R> {
    VIEWS.with_or_renew(Option::default, |views| f(views.get_or_insert_default())).flatten()
}

/// What Kokkos calls memory that nobody has given a name to.
fn is_label(label: &[u8]) -> bool {
    !matches!(label, b"" | b"[unlabeled]" | b"no-label" | b"(none)" | b"unlabeled")
}

/// What calls say of memory.
#[derive(Clone, Copy)]
pub(super) struct Told<'a> {
    pub(super) space: &'a SpaceHandle,
    pub(super) label: &'a [u8],
    pub(super) address: usize,
    pub(super) bytes: u64,
}

/// Notes a View that has just been allocated.
pub(super) fn allocated(call: &mut Call, told: Told<'_>) {
    let Told { space, label, address, bytes } = told;
    let ticks = call.runtime.ticks();
    let is_room = address != 0 && N_MADE.load(Ordering::Relaxed) < MOST_MADE;
    let data = if is_room { call.runtime.define(|it| it.next_id(DefinitionKind::Data)) } else { None };
    let Some(data) = data else { return call.instant(call.site(Verb::Allocate, u32::MAX), [None, None]) };
    let shown = |name: &str| in_space(name, &space.name());
    let named = is_label(label).then(|| call.here.met.noun(Kind::View, space.told(), label, shown));
    let (noun, site) = match named {
        Some(number) => {
            let noun = call.here.noun_of_view(number, || data::noun("view", Key::Named(number), data));
            (noun, call.site(Verb::Allocate, noun))
        }
        None => {
            let made = call.site(Verb::Allocate, u32::MAX);
            let noun = made.map_or(u32::MAX, |made| data::noun("view", Key::Made(made), data));
            (noun, call.site(Verb::Allocate, noun))
        }
    };
    let unseen = space.is_host().then(|| Label::of(label));
    let view = View { data, noun, base: address.wrapping_add(HEAD), bytes, unseen, named, site, ticks };
    view.define(call.runtime);
    let known = with(|views| {
        let is_kept = views.len() < MOST || views.contains_key(&address);
        Some(if is_kept { views.insert(address, view) } else { Some(view) })
    });
    // What lay there has been given back by a way that nobody saw.
    if let Some(before) = known.flatten() {
        before.gone(call.runtime);
    }
    N_MADE.fetch_add(1, Ordering::Relaxed);
    // Whether it has a head is not known yet. One without elements is where it begins.
    made::note(address, usize::try_from(bytes).unwrap_or(usize::MAX).saturating_add(HEAD + 1));
    call.instant(site, [Some(view.all(AccessKind::Make)), None]);
}

/// Notes that a View is about to be given back.
pub(super) fn deallocated(call: &mut Call, told: Told<'_>) {
    let Some(mut view) = with(|views| views.remove(&told.address)) else {
        return call.instant(call.site(Verb::Deallocate, u32::MAX), [None, None]);
    };
    // What is given back now is there, or the program has lied to its tools; either way it is gone.
    view.look(call.runtime, told.address);
    view.gone(call.runtime);
    let access = view.all(AccessKind::Free);
    call.instant(call.site(Verb::Deallocate, view.noun), [Some(access), None]);
}

/// A View that something lies in.
pub(super) struct Holding {
    pub(super) data: u32,
    pub(super) noun: u32,
    /// Bytes from its beginning.
    pub(super) offset: u64,
    range: (usize, usize),
}

/// The Views that addresses lie in.
pub(super) fn holding<const N: usize>(runtime: &Runtime, addresses: [usize; N]) -> [Option<Holding>; N] {
    if N_MADE.load(Ordering::Relaxed) == 0 {
        return [const { None }; N];
    }
    let found = with(|views| Some(addresses.map(|address| held(runtime, views, address))));
    found.unwrap_or([const { None }; N])
}

fn held(runtime: &Runtime, views: &mut BTreeMap<usize, View>, address: usize) -> Option<Holding> {
    let (&start, view) = views.range_mut(..=address).next_back()?;
    if view.bytes.saturating_add(HEAD as u64) < (address - start) as u64 {
        return None;
    }
    if !view.look(runtime, start) {
        // It was given back while the program had paused its tools.
        view.gone(runtime);
        views.remove(&start);
        return None;
    }
    let offset = address.checked_sub(view.base)? as u64;
    // One without elements is where it begins.
    let is_in = offset < view.bytes || offset == 0;
    let range = (view.base, view.base.saturating_add(view.bytes as usize));
    is_in.then_some(Holding { data: view.data, noun: view.noun, offset, range })
}

/// The same for a buffer of a message: datum, and where it begins and ends.
pub(crate) fn at(runtime: &Runtime, buffer: usize) -> Option<(u32, (usize, usize))> {
    let [holding] = holding(runtime, [buffer]);
    holding.map(|holding| (holding.data, holding.range))
}

/// The noun of the View that Kokkos tells by the address of its head.
pub(super) fn noun_of(address: usize) -> Option<u32> {
    with(|views| views.get(&address).map(|view| view.noun))
}

impl Holding {
    /// How some bytes of it are accessed.
    pub(super) fn access(&self, kind: AccessKind, bytes: u64) -> Access {
        let (data, offset) = (self.data, self.offset);
        Access { kind: kind as u8, data, target: Access::HERE, bytes, offset, shape: u32::MAX }
    }
}

impl View {
    fn all(&self, kind: AccessKind) -> Access {
        let (data, bytes) = (self.data, self.bytes);
        Access { kind: kind as u8, data, target: Access::HERE, bytes, offset: 0, shape: u32::MAX }
    }

    /// Looks whether there is a head, if nobody has yet, and corrects what has been said; false if there is no memory
    /// any more. The kernel looks, since a program can pause its tools and give back what nobody is told of then.
    fn look(&mut self, runtime: &Runtime, start: usize) -> bool {
        let Some(label) = self.unseen.take() else { return true };
        // What is shorter than this is a View's with its head, for it is none that Kokkos takes for itself.
        if (self.bytes as usize) <= LABEL_AT + label.len {
            return true;
        }
        let mut found = [0_u8; LABEL_MOST];
        let found = &mut found[..=label.len];
        match copy_own(start + LABEL_AT, found) {
            NO_MEMORY => return false,
            copied if copied == found.len() as isize => {}
            // A kernel that copies nothing for anybody: it is a View's, as most are.
            _ => return true,
        }
        if found[..label.len] != label.bytes[..label.len] || found[label.len] != 0 {
            self.base = start;
            self.define(runtime);
        }
        true
    }

    fn define(&self, runtime: &Runtime) {
        let definition = Definition::Data {
            id: self.data,
            kind: DataKind::View as u8,
            name: self.named.and_then(named).map(|(_, name)| name).unwrap_or_default(),
            place: None,
            from_frame: None,
            within: None,
            site: self.site,
            address: self.base as u64,
            bytes: self.bytes,
            element: 0,
            code: 0,
            bounds: Vec::new(),
            ticks: self.ticks,
        };
        runtime.define(|definitions| definitions.define(&definition));
    }

    /// From now on nothing lies there.
    fn gone(&self, runtime: &Runtime) {
        data::buffers::set_gone(self.data);
        let ticks = runtime.ticks();
        runtime.define(|definitions| definitions.define(&Definition::DataFreed { id: self.data, ticks }));
    }
}
