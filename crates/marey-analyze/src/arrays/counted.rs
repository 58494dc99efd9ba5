//! Accesses that were only added up with the calls that made them.
//!
//! The one idea: at a limit, or where only sums were asked for, no access is recorded by itself, but the profile still knows
//! visits, bytes and time of the call path, and the accesses before, or the noun of its region, say which array that is.
//! What of a call path is beyond the accesses that are known is theirs, in proportion where there are several.
//!
//! Deliberately absent: with whom the elements lie, which nobody has recorded; calls that moved nothing, such as those to
//! MPI_PROC_NULL, for these are accesses to nothing.

use std::collections::BTreeMap;

use marey_model::{AccessKind, CallPathId, Level, LocationId, Nanos, NounId};

use super::AccessSum;
use crate::trace::{Region, Trace};

/// Accesses from a call path on a location that were only counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) call_path: CallPathId,
    pub(super) noun: NounId,
    pub(super) kind: AccessKind,
    pub(super) sum: AccessSum,
}

/// By array and kind; arrays that are not known have none.
type Known = BTreeMap<(Option<NounId>, AccessKind), AccessSum>;

/// All of them. Time: linear in the profile and the sums of accesses, times the arrays of a call path.
pub(super) fn counted(trace: &dyn Trace, names: &BTreeMap<&str, Option<NounId>>) -> Vec<Counted> {
    let mut here: BTreeMap<(CallPathId, LocationId), Known> = BTreeMap::new();
    let mut anywhere: BTreeMap<CallPathId, Known> = BTreeMap::new();
    for row in trace.accessed().iter().filter(|row| row.kind.moves()) {
        let Some(path) = row.call_path else { continue };
        let noun = row.array.and_then(|at| trace.arrays().get(at)).map(|array| array.noun);
        for known in [here.entry((path, row.location)).or_default(), anywhere.entry(path).or_default()] {
            known.entry((noun, row.kind)).or_default().add(row);
        }
    }
    let none = Known::new();
    let mut found = Vec::new();
    for row in trace.profile() {
        let own = here.get(&(row.call_path, row.location)).unwrap_or(&none);
        let bytes = row.bytes.saturating_sub(sum(own.values()).bytes);
        if bytes == 0 || row.visits == 0 {
            continue;
        }
        let by_region: Known;
        let like = match anywhere.get(&row.call_path).filter(|known| sum(known.values()).bytes > 0) {
            Some(known) => known,
            None => {
                let path = trace.call_paths().get(row.call_path.idx());
                let region = path.and_then(|path| trace.regions().get(path.region.idx()));
                let Some((noun, kind)) = region.and_then(|region| says(region, names)) else { continue };
                let one = AccessSum { accesses: 1, bytes: 1, time: Nanos(0) };
                by_region = Known::from([((Some(noun), kind), one)]);
                &by_region
            }
        };
        for kind in AccessKind::ALL {
            let of_kind = |known: &Known| sum(known.iter().filter(|(of, _)| of.1 == kind).map(|(_, it)| it));
            let (all, known) = (of_kind(like), of_kind(own));
            // One visit does a thing once.
            let missing = AccessSum {
                accesses: row.visits.saturating_sub(known.accesses),
                bytes: part(bytes, all.bytes, sum(like.values()).bytes),
                time: (row.inclusive - known.time).max(Nanos(0)),
            };
            if all.accesses == 0 || missing.accesses == 0 {
                continue;
            }
            for ((noun, _), own) in like.iter().filter(|((_, of), _)| *of == kind) {
                let Some(noun) = *noun else { continue };
                let share = |whole: u64| part(whole, own.accesses, all.accesses);
                let time = share(u64::try_from(missing.time.0).unwrap_or(0));
                let sum = AccessSum {
                    accesses: share(missing.accesses),
                    bytes: part(missing.bytes, own.bytes, all.bytes),
                    time: Nanos(i64::try_from(time).unwrap_or(i64::MAX)),
                };
                found.push(Counted { call_path: row.call_path, noun, kind, sum });
            }
        }
    }
    found
}

fn sum<'s>(sums: impl Iterator<Item = &'s AccessSum>) -> AccessSum {
    sums.fold(AccessSum::default(), |all, one| all.with(*one))
}

/// So much of a whole as `own` is of `all`.
fn part(whole: u64, own: u64, all: u64) -> u64 {
    let part = u128::from(whole) * u128::from(own) / u128::from(all.max(1));
    u64::try_from(part).unwrap_or(u64::MAX)
}

/// The array that a region names, if there is one of that name only, and what its verb does to it.
fn says(region: &Region, names: &BTreeMap<&str, Option<NounId>>) -> Option<(NounId, AccessKind)> {
    let noun = (*names.get(region.noun.as_str())?)?;
    let begins = |words: &[&str]| words.iter().any(|word| region.verb.starts_with(word));
    let kind = match region.level.as_str() {
        Level::COARRAY if begins(&["get"]) => AccessKind::Read,
        Level::COARRAY if begins(&["send"]) => AccessKind::Write,
        Level::COARRAY if begins(&["atomic"]) => AccessKind::Update,
        Level::MPI if begins(&["MPI_Put", "MPI_Rput"]) => AccessKind::Write,
        Level::MPI if begins(&["MPI_Get_accumulate", "MPI_Rget_accumulate"]) => AccessKind::Update,
        Level::MPI if begins(&["MPI_Get", "MPI_Rget"]) => AccessKind::Read,
        Level::MPI if begins(&["MPI_Accumulate", "MPI_Raccumulate", "MPI_Fetch", "MPI_Compare"]) => {
            AccessKind::Update
        }
        _ => return None,
    };
    Some((noun, kind))
}
