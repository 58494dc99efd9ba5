//! Sections of the program's, which begin and end whenever it says so and need not nest with anything.
//!
//! The one idea: a section is told by a number that it got when it was made; while it runs it is a state beside the regions,
//! so that their times stay right.

use marey_measure::{Lock, TABLE};
use rustc_hash::FxHashMap;

use super::Verb;
use super::names::Kind;
use super::open::Call;

/// Sections that there can be at a time.
const MOST: usize = 1 << 14;

#[derive(Clone, Copy)]
struct Section {
    noun: u32,
    /// Of the state that is open; 0 for none.
    token: u64,
}

#[derive(Default)]
struct Sections {
    known: FxHashMap<u32, Section>,
    last: u32,
}

static SECTIONS: Lock<Option<Sections>> = Lock::new(None);

fn with<R>(f: impl FnOnce(&mut Sections) -> Option<R>) -> Option<R> {
    SECTIONS.with_or_renew(Option::default, |sections| f(sections.get_or_insert_default())).flatten()
}

/// A new section of this name; its number, if there is room for it.
pub(super) fn create(call: &mut Call, name: &[u8]) -> Option<u32> {
    let noun = call.here.met.noun(Kind::Section, 0, name, str::to_owned);
    with(|sections| {
        if MOST <= sections.known.len() {
            return None;
        }
        sections.last = sections.last.wrapping_add(1);
        sections.known.insert(sections.last, Section { noun, token: 0 });
        Some(sections.last)
    })
}

/// Begins a section. If it runs already it ends first.
pub(super) fn start(call: &mut Call, number: u32) {
    stop(number);
    let Some(noun) = with(|sections| sections.known.get(&number).map(|section| section.noun)) else { return };
    let Some(site) = call.site(Verb::Section, noun) else { return };
    // SAFETY: the site was given out by the process's recorder.
    let token = unsafe { (TABLE.begin)(site) };
    with(|sections| {
        sections.known.get_mut(&number)?.token = token;
        Some(())
    });
}

/// Ends a section, if it runs.
pub(super) fn stop(number: u32) {
    let token = with(|sections| Some(core::mem::take(&mut sections.known.get_mut(&number)?.token)));
    if let Some(token) = token {
        (TABLE.end)(token);
    }
}

/// Forgets a section.
pub(super) fn destroy(number: u32) {
    stop(number);
    with(|sections| sections.known.remove(&number));
}
