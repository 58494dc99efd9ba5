//! A call from its beginning to its end.
//!
//! The one idea: which arrays a call acts on is found out before it is made, since its site names the array; what it did
//! to them is written down with its end.
//!
//! Deliberately absent: exceptions and jumps, which Fortran has not; a region that was left by `stop` is open at the end.

use core::sync::atomic::Ordering;

use marey_measure::{Kept, Mode, Runtime, Thread, current_thread};
use marey_model::spool::Access;
use marey_model::{AccessKind, SiteId};

use super::arrays::{self, Array, Making};
use super::cache::known;
use super::descriptor::Descriptor;
use super::images;
use super::reference;
use super::section::{self, Section};
use super::table::{Acts, FUNCTIONS};
use crate::entry::Entry;
use crate::own::{Own, local};
use crate::process;
use crate::site::{self, What};

/// A call that is being recorded.
struct Open {
    runtime: &'static Runtime,
    thread: *mut Thread,
    site: SiteId,
    kept: Option<Kept>,
    accesses: [Option<Access>; 2],
    /// What is read, where only what has been read says how much that is.
    read: Option<Section>,
}

/// Makes a call of the function of number `index`, which `real` does, and records it.
///
/// # Safety
/// The call is under way, `arguments` are its own, and `entry` is where it came in.
pub(super) unsafe fn made(
    index: usize,
    entry: Entry,
    arguments: &[usize],
    real: impl FnOnce() -> usize,
) -> usize {
    // SAFETY: the caller's promise; the variables are the calling thread's own.
    unsafe {
        let outer = (*known()).sp;
        // A call that was left without returning lies further in.
        let is_implied = entry.sp < outer;
        let begun =
            if (*local()).own == 0 { Open::begin(index, entry, arguments, is_implied) } else { Begun::Not };
        if !is_implied {
            (*known()).sp = entry.sp;
        }
        let result = real();
        if !is_implied {
            (*known()).sp = 0;
        }
        teams(index, arguments);
        match begun {
            Begun::Recorded(open) => open.end(index, arguments),
            Begun::Silent(runtime, site) => {
                let _own = Own::begin();
                made_array(runtime, index, arguments, site);
            }
            Begun::Not => {}
        }
        result
    }
}

/// Notes which team is the current one after a call, whether that is recorded or not.
unsafe fn teams(index: usize, arguments: &[usize]) {
    let acts = FUNCTIONS[index].acts;
    if !matches!(acts, Acts::EntersTeam | Acts::LeavesTeam) || process::running().is_none() {
        return;
    }
    let _own = Own::begin();
    match acts {
        // SAFETY: the caller's promise: the arguments are those of a call that has returned.
        Acts::EntersTeam => unsafe { images::entered(arguments.first().copied().unwrap_or(0)) },
        _ => images::left(),
    }
}

/// What becomes of a call.
enum Begun {
    /// It is recorded.
    Recorded(Open),
    /// Nobody wants to know of it, but what it makes others name.
    Silent(&'static Runtime, SiteId),
    /// Nothing.
    Not,
}

/// The array that a call which has returned has made, if that is what it does.
///
/// # Safety
/// The arguments are those of the call.
unsafe fn made_array(
    runtime: &Runtime,
    index: usize,
    arguments: &[usize],
    site: SiteId,
) -> Option<std::sync::Arc<Array>> {
    let (Acts::Makes, &[size, kind, token_at, descriptor_at, ..]) = (FUNCTIONS[index].acts, arguments) else {
        return None;
    };
    // SAFETY: the caller's promise.
    unsafe { arrays::made(runtime, Making { size, kind, token_at, descriptor_at, site: site.0 }) }
}

impl Open {
    unsafe fn begin(index: usize, entry: Entry, arguments: &[usize], is_implied: bool) -> Begun {
        let Some(runtime) = process::runtime_for_mpi() else { return Begun::Not };
        if super::IS_OFF.load(Ordering::Relaxed) {
            return Begun::Not;
        }
        let thread = current_thread();
        if thread.is_null() {
            return Begun::Not;
        }
        let _own = Own::begin();
        // SAFETY: the caller's promise; the descriptor is the calling thread's.
        unsafe {
            arrays::describe(runtime);
            let ((noun, accesses), read) = acts(runtime, FUNCTIONS[index].acts, arguments);
            let function = site::COARRAY_FUNCTIONS + 2 * index as u32 + u32::from(is_implied);
            let Some(site) = site::find(thread, What { function, noun }, entry) else {
                marey_measure::count_unrecorded(thread);
                return Begun::Not;
            };
            let kept = match Thread::mode(thread, site.0) {
                Mode::Trace => None,
                Mode::Time => Some(Kept::Timed),
                Mode::Count => Some(Kept::Counted),
                Mode::Off | Mode::Unknown => return Begun::Silent(runtime, site),
            };
            match kept {
                None => marey_measure::enter(thread, site.0),
                Some(kept) => marey_measure::enter_timed(thread, site.0, kept),
            }
            Begun::Recorded(Self { runtime, thread, site, kept, accesses, read })
        }
    }

    unsafe fn end(mut self, index: usize, arguments: &[usize]) {
        let _own = Own::begin();
        if process::running().is_none() {
            return;
        }
        // SAFETY: the caller's promise: the call has returned.
        unsafe {
            let made = made_array(self.runtime, index, arguments, self.site);
            if let Some(array) = made {
                self.accesses[0] = Some(whole(&array, AccessKind::Make));
            }
            if let (Some(section), &[_, image, local, ..]) = (self.read.take(), arguments) {
                self.accesses[0] =
                    Some(access(&section.told_by(self.runtime, local), AccessKind::Read, image));
            }
            let accesses = self.accesses;
            let put = |_: *mut Thread, scratch: &mut marey_measure::Scratch| {
                accesses.iter().flatten().for_each(|access| scratch.access(access));
            };
            match self.kept {
                None => marey_measure::leave_with(self.thread, put),
                Some(kept) => marey_measure::leave_timed_with(self.thread, kept, put),
            }
        }
    }
}

/// That of all of an array.
fn whole(array: &Array, kind: AccessKind) -> Access {
    let bytes = array.bytes;
    Access { kind: kind as u8, data: array.data, target: images::own(), bytes, offset: 0, shape: u32::MAX }
}

/// How a section is accessed that lies with an image.
fn access(section: &Section, kind: AccessKind, image: usize) -> Access {
    Access {
        kind: kind as u8,
        data: section.array.data,
        target: images::rank_of(image),
        bytes: section.bytes(),
        offset: section.offset,
        shape: section.shape,
    }
}

/// The noun of a call, and what it does to arrays.
type Acted = (u32, [Option<Access>; 2]);

/// What a call does, and what it reads if that is known only afterwards.
unsafe fn acts(runtime: &Runtime, acts: Acts, arguments: &[usize]) -> (Acted, Option<Section>) {
    if let (Acts::GetsByReference, &[token, image, _, references, ..]) = (acts, arguments) {
        // SAFETY: the caller's promise.
        let read = unsafe { reference::referred(runtime, token, image, references) };
        let noun = read.as_ref().map_or(u32::MAX, |section| section.array.noun);
        return ((noun, [None, None]), read);
    }
    // SAFETY: the caller's promise.
    (unsafe { acts_at_once(runtime, acts, arguments) }, None)
}

unsafe fn acts_at_once(runtime: &Runtime, acts: Acts, arguments: &[usize]) -> Acted {
    let nothing = (u32::MAX, [None, None]);
    let one = |section: Option<Section>, kind: AccessKind, image: usize| match section {
        Some(section) => (section.array.noun, [Some(access(&section, kind, image)), None]),
        None => nothing,
    };
    let (read, write) = (AccessKind::Read, AccessKind::Write);
    // SAFETY: the caller's promise: the arguments are those of a call of the library's that is under way.
    unsafe {
        match (acts, arguments) {
            (Acts::Gets, &[token, offset, image, remote, vector, ..]) => {
                one(section::described(runtime, token, offset, remote, vector), read, image)
            }
            (Acts::Sends, &[token, offset, image, remote, vector, ..]) => {
                one(section::described(runtime, token, offset, remote, vector), write, image)
            }
            (
                Acts::SendsGets,
                &[
                    to,
                    to_at,
                    to_image,
                    to_remote,
                    to_vector,
                    from,
                    from_at,
                    from_image,
                    from_remote,
                    from_vector,
                    ..,
                ],
            ) => {
                let sent = section::described(runtime, to, to_at, to_remote, to_vector);
                let got = section::described(runtime, from, from_at, from_remote, from_vector);
                both(sent, to_image, got, from_image)
            }
            (Acts::SendsByReference, &[token, image, local, references, ..]) => {
                let sent = reference::referred(runtime, token, image, references);
                one(sent.map(|section| section.told_by(runtime, local)), write, image)
            }
            (
                Acts::SendsGetsByReference,
                &[to, to_image, to_references, from, from_image, from_references, ..],
            ) => {
                // Neither side is this image's.
                let sent = reference::referred(runtime, to, to_image, to_references);
                let got = reference::referred(runtime, from, from_image, from_references);
                match (sent, got) {
                    (Some(sent), Some(got)) => {
                        let [sent, got] = Section::alike(runtime, sent, got);
                        both(Some(sent), to_image, Some(got), from_image)
                    }
                    (sent, got) => {
                        let alone = |it: Option<Section>| it.map(|it| it.told_by(runtime, 0));
                        both(alone(sent), to_image, alone(got), from_image)
                    }
                }
            }
            (Acts::Frees, &[token_at, ..]) => match arrays::freed(runtime, token_at) {
                Some(array) => (array.noun, [Some(whole(&array, AccessKind::Free)), None]),
                None => nothing,
            },
            (Acts::Combines, &[descriptor, ..]) => combined(runtime, descriptor).unwrap_or(nothing),
            (Acts::Updates(at), _) => one(single(arguments, at), AccessKind::Update, image_at(arguments, at)),
            (Acts::Reads(at), _) => one(single(arguments, at), read, image_at(arguments, at)),
            (Acts::Writes(at), _) => one(single(arguments, at), write, image_at(arguments, at)),
            (Acts::Signals, &[token, ..]) => {
                let noun = arrays::of_token(token).map_or(u32::MAX, |array| array.noun);
                (noun, [None, None])
            }
            _ => nothing,
        }
    }
}

fn image_at(arguments: &[usize], at: usize) -> usize {
    arguments.get(at + 2).copied().unwrap_or(0)
}

/// The one element that an atomic operation acts on.
fn single(arguments: &[usize], at: usize) -> Option<Section> {
    let array = arrays::of_token(*arguments.get(at)?)?;
    // The last argument is the size of what is accessed, which may be a component of an element.
    let kind = arguments.last().map(|kind| u64::from(*kind as u32));
    let element = kind.filter(|kind| matches!(kind, 1 | 2 | 4 | 8 | 16)).unwrap_or(array.element);
    let offset = *arguments.get(at + 1)? as u64;
    Some(Section { array, offset, elements: 1, element, shape: u32::MAX, is_assumed: false })
}

/// What is sent to one image from another; the noun is what is written.
fn both(sent: Option<Section>, to: usize, got: Option<Section>, from: usize) -> Acted {
    let noun = sent.as_ref().or(got.as_ref()).map_or(u32::MAX, |section| section.array.noun);
    let sent = sent.map(|section| access(&section, AccessKind::Write, to));
    (noun, [sent, got.map(|section| access(&section, AccessKind::Read, from))])
}

/// What all images combine, if it is a coarray.
unsafe fn combined(runtime: &Runtime, descriptor: usize) -> Option<(u32, [Option<Access>; 2])> {
    // SAFETY: the caller's promise.
    let descriptor = unsafe { Descriptor::at(descriptor)? };
    let array = arrays::at(descriptor.base)?;
    let bytes = descriptor.elements().saturating_mul(descriptor.element as u64);
    let offset = (descriptor.base - array.base) as u64;
    let update = AccessKind::Update as u8;
    let shape = section::shape(runtime, section::plain(descriptor.dimensions()));
    let access = Access { kind: update, data: array.data, target: -1, bytes, offset, shape };
    Some((array.noun, [Some(access), None]))
}
