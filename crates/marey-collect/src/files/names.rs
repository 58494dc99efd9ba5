//! Names of files, and their numbers.
//!
//! The one idea: a file is the absolute path that it was opened by, whatever it is called later. Each path has one
//! number in the process, however often it is opened, and beyond a thousand of them files share one: a program that
//! makes a file in each step does not have regions for each.
//!
//! Deliberately absent: two names of one file; they are two files here.

use core::ffi::{CStr, c_int};
use core::hash::Hasher;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use marey_measure::{Lock, Runtime, sys};
use marey_model::spool::{Definition, DefinitionKind};
use rustc_hash::FxHasher;

/// The number of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Name(pub(super) u32);

/// Files beyond this many share one number.
const MAX: usize = 1 << 10;
/// Nouns from here on are the names of this file, see [`crate::site::What::noun`].
const NOUNS: u32 = 1 << 31;

/// A file, of which there is one for each number, for ever.
struct Known {
    name: Box<[u8]>,
    /// The number of its definition.
    definition: u32,
}

/// By their numbers; null where there is none yet.
static KNOWN: [AtomicPtr<Known>; MAX + 1] = [const { AtomicPtr::new(core::ptr::null_mut()) }; MAX + 1];
/// How many there are. Whoever holds it makes new ones.
static NUMBER: Lock<usize> = Lock::new(0);
/// By a hash of names, the number of the file seen last, plus 1: most files are opened again and again, and then
/// nothing need be locked.
static SEEN: [AtomicU32; PLACES] = [const { AtomicU32::new(0) }; PLACES];
const PLACES: usize = 4 * MAX;

fn known(number: u32) -> Option<&'static Known> {
    // SAFETY: what is there stays.
    unsafe { KNOWN.get(number as usize)?.load(Ordering::Acquire).as_ref() }
}

impl Name {
    /// What regions that act on the file have for a noun.
    pub(super) fn noun(self) -> u32 {
        NOUNS + self.0
    }

    /// The number of its definition.
    pub(super) fn definition(self) -> u32 {
        known(self.0).map_or(u32::MAX, |known| known.definition)
    }
}

/// The text of a noun, if it is the name of a file.
pub(crate) fn text(noun: u32) -> Option<String> {
    let known = known(noun.checked_sub(NOUNS)?)?;
    Some(String::from_utf8_lossy(&known.name).into_owned())
}

/// The number of a file by its name, new or known. `None` without memory for it, and in a handler of signals that
/// has interrupted such work.
pub(super) fn number(runtime: &Runtime, name: &[u8]) -> Option<Name> {
    let mut hasher = FxHasher::default();
    hasher.write(name);
    let place = &SEEN[hasher.finish() as usize % PLACES];
    let seen = place.load(Ordering::Relaxed).checked_sub(1);
    if let Some(seen) = seen.filter(|&seen| known(seen).is_some_and(|known| *known.name == *name)) {
        return Some(Name(seen));
    }
    let number = NUMBER.with(|number| find_or_make(runtime, number, name)).flatten()?;
    if number < MAX as u32 {
        place.store(number + 1, Ordering::Relaxed);
    }
    Some(Name(number))
}

#[cold]
fn find_or_make(runtime: &Runtime, number: &mut usize, name: &[u8]) -> Option<u32> {
    let same = (0..*number as u32).find(|&number| known(number).is_some_and(|known| *known.name == *name));
    if same.is_some() || *number > MAX || crate::alloc::is_exhausted() {
        return same.or((*number > MAX).then_some(MAX as u32));
    }
    let name = if *number < MAX { name } else { b"(other files)" };
    let definition = runtime.define(|definitions| {
        let id = definitions.next_id(DefinitionKind::File);
        let name = String::from_utf8_lossy(name).into_owned();
        definitions.define(&Definition::File { id, name }).then_some(id)
    });
    let known = Box::new(Known { name: name.into(), definition: definition?? });
    KNOWN[*number].store(Box::into_raw(known), Ordering::Release);
    *number += 1;
    Some(*number as u32 - 1)
}

/// The number of the file that has just been opened as `fd` by `path`, relative to the directory `from`.
pub(super) fn opened(runtime: &Runtime, fd: c_int, from: c_int, path: &[u8]) -> Option<Name> {
    // Most need no memory to be made of.
    let odd = |pair: &[u8]| pair[0] == b'/' && matches!(pair[1], b'/' | b'.');
    let is_tidy = path.first() == Some(&b'/') && path.last() != Some(&b'/') && !path.windows(2).any(odd);
    if is_tidy { number(runtime, path) } else { number(runtime, &absolute(fd, from, path)) }
}

/// The name of the file that has just been opened as `fd` by `path`, relative to the directory `from`.
fn absolute(fd: c_int, from: c_int, path: &[u8]) -> Vec<u8> {
    // Which directory is above another one only the kernel knows.
    if path.split(|&byte| byte == b'/').any(|part| part == b"..") {
        return link(fd);
    }
    if path.first() == Some(&b'/') {
        return tidy(path);
    }
    let mut whole = if from == libc::AT_FDCWD { sys::directory() } else { link(from) };
    whole.push(b'/');
    whole.extend_from_slice(path);
    tidy(&whole)
}

/// A path without what means nothing in it.
fn tidy(path: &[u8]) -> Vec<u8> {
    let mut tidy = Vec::with_capacity(path.len());
    for part in path.split(|&byte| byte == b'/').filter(|part| !matches!(*part, b"" | b".")) {
        tidy.push(b'/');
        tidy.extend_from_slice(part);
    }
    if tidy.is_empty() {
        tidy.push(b'/');
    }
    tidy
}

/// What the kernel calls the file of a descriptor; empty if it does not say.
pub(super) fn link(fd: c_int) -> Vec<u8> {
    let path = format!("/proc/self/fd/{fd}\0");
    CStr::from_bytes_with_nul(path.as_bytes()).map_or_else(|_| Vec::new(), sys::read_link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_what_means_nothing() {
        for (path, expected) in [("/a//b/./c", "/a/b/c"), ("/", "/"), ("/./", "/"), ("/a/.b.", "/a/.b.")] {
            assert_eq!(tidy(path.as_bytes()), expected.as_bytes());
        }
        let here = sys::directory();
        assert_eq!(absolute(0, libc::AT_FDCWD, b"./x"), [&here[..], b"/x"].concat());
    }
}
