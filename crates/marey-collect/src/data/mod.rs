//! Data: arrays, variables and blocks of memory that calls act on.
//!
//! The one idea: what a datum is called is found when the run is merged; here it is only said where debug information
//! has the name: at which address of which module a variable lies, or in what other datum. What is made anew in every
//! step is a datum each time, and one noun.
//!
//! Deliberately absent: which calls act on data; that is a matter of their levels.

pub(crate) mod buffers;
mod cache;
mod holder;
mod lines;
pub(crate) mod made;

pub(crate) use cache::thread_ends;

use marey_measure::{Lock, Runtime};
use rustc_hash::FxHashMap;

use crate::site;

/// Numbers of nouns that are data begin here, below those of constructs and files.
const NOUNS: u32 = 1 << 29;
/// Data beyond this many that are not the same share one noun, so that a program which makes arrays without end does not
/// have a region for each.
const MAX_NOUNS: usize = 512;

/// What makes data one noun.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Key {
    /// The variable at this address, which they are or which describes them.
    Variable(usize),
    /// Part of what this noun is of, so many bytes from its beginning.
    Within(u32, usize),
    /// The site that made them.
    Made(u32),
    /// The name of this number, which the program has given them.
    Named(u32),
    /// The datum of this number, whose memory they are.
    Memory(u32),
}

#[derive(Default)]
struct Nouns {
    known: FxHashMap<Key, u32>,
    /// The first datum of each.
    data: Vec<u32>,
}

static KNOWN: Lock<Option<Nouns>> = Lock::new(None);

/// The noun of a datum.
pub(crate) fn noun(kind: &'static str, key: Key, data: u32) -> u32 {
    let known = KNOWN.with_or_renew(Option::default, |nouns| {
        let nouns = nouns.get_or_insert_default();
        if let Some(noun) = nouns.known.get(&key) {
            return Some(*noun);
        }
        if nouns.data.len() >= MAX_NOUNS {
            return None;
        }
        let noun = NOUNS + nouns.data.len() as u32;
        nouns.data.push(data);
        nouns.known.insert(key, noun);
        Some(noun)
    });
    known.flatten().unwrap_or_else(|| site::noun(kind, "(other arrays)"))
}

/// The first datum of a noun; `None` if the noun is no datum.
pub(crate) fn of_noun(noun: u32) -> Option<u32> {
    let at = noun.checked_sub(NOUNS).filter(|at| *at < MAX_NOUNS as u32)?;
    KNOWN.with_or_renew(Option::default, |nouns| nouns.as_ref()?.data.get(at as usize).copied()).flatten()
}

/// The module that an address of a variable lies in, and the virtual address there.
pub(crate) fn place(runtime: &Runtime, address: usize) -> Option<(u32, u64)> {
    site::of_thread(runtime).place(runtime, address)
}
