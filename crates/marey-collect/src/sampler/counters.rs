//! Counters beside the time: which ones, and what could not be had.
//!
//! The one idea: each is tried once when the process begins, so that what there is not is said once and not for every
//! thread.
//!
//! Deliberately absent: reading them ([`marey_measure::Counting`]), and choosing others in place of those that are
//! missing.

use std::sync::OnceLock;

use marey_measure::{Counting, Runtime, Samples, Thread, Uncounted};
use marey_model::counters::{Counter, parse};
use marey_model::spool::Definition;

/// Those that are read, by their numbers; set when the process begins, if any can be had.
static COUNTERS: OnceLock<Vec<Counter>> = OnceLock::new();

/// Whether anything is counted.
pub(super) fn is_on() -> bool {
    COUNTERS.get().is_some()
}

/// Begins with those that the environment names. Whether there are any.
pub(super) fn begin(runtime: &Runtime) -> bool {
    let Some(list) = std::env::var("MAREY_COUNTERS").ok().filter(|list| !list.is_empty()) else {
        return false;
    };
    let Ok(asked) = parse(&list) else { return false };
    let mut missing: Vec<(Uncounted, Vec<String>)> = Vec::new();
    let mut found = Vec::new();
    for counter in asked {
        match marey_measure::try_counter(&counter) {
            Ok(()) => found.push(counter),
            Err(reason) => match missing.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, names)) => names.push(counter.name),
                None => missing.push((reason, vec![counter.name])),
            },
        }
    }
    for (reason, names) in missing {
        let detail = format!("{}: {}", names.join(", "), reason_of(reason));
        tell(runtime, names.len() as u64, detail);
    }
    for (number, counter) in found.iter().enumerate() {
        let definition = Definition::Counted {
            id: u32::try_from(number).unwrap_or(u32::MAX),
            name: counter.name.clone(),
            unit: counter.unit.to_owned(),
            source: counter.source.name().to_owned(),
        };
        runtime.define(|definitions| definitions.define(&definition));
    }
    !found.is_empty() && COUNTERS.set(found).is_ok()
}

fn reason_of(reason: Uncounted) -> String {
    match reason {
        Uncounted::Unknown => "the kernel sees no such counter in this processor".to_owned(),
        Uncounted::Forbidden => {
            "closed to this user: kernel.perf_event_paranoid, or what confines the process".to_owned()
        }
        Uncounted::NoRoom => "the process has no descriptors or no memory for it".to_owned(),
        Uncounted::Other(error) => std::io::Error::from_raw_os_error(error).to_string(),
    }
}

fn tell(runtime: &Runtime, count: u64, detail: String) {
    let trouble = Definition::Trouble { kind: "uncounted".to_owned(), count, detail };
    runtime.define(|definitions| definitions.define(&trouble));
}

/// Begins to count for the calling thread.
///
/// # Safety
/// As for [`Counting::begin`].
pub(super) unsafe fn thread_begins(thread: *mut Thread, samples: *mut Samples) {
    if let Some(counters) = COUNTERS.get() {
        // SAFETY: the caller's promise.
        unsafe { Counting::begin(thread, samples, counters) };
    }
}

/// To be called when the process ends.
pub(super) fn ends(runtime: &Runtime) {
    // SAFETY: the descriptor is the calling thread's.
    unsafe { marey_measure::count_now(marey_measure::existing_thread()) };
    let reasons = [
        "counters of threads for which there were no descriptors, or no memory",
        "counters of threads from where on their descriptors were closed by the program",
    ];
    for (count, detail) in marey_measure::take_uncounted().into_iter().zip(reasons) {
        if count != 0 {
            tell(runtime, count.into(), detail.to_owned());
        }
    }
}
