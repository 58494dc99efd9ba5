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
use crate::trace::{ProfileRow, Trace};

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

/// What was only counted.
pub(super) struct All {
    pub(super) found: Vec<Counted>,
    /// Whether a call acted on a coarray of which nobody knows which one it is.
    pub(super) has_unknown: bool,
}

/// All of them. Time: linear in the profile and the sums of accesses, times the arrays of a call path.
pub(super) fn counted(trace: &dyn Trace, names: &BTreeMap<&str, Option<NounId>>) -> All {
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
    let mut all = All { found: Vec::new(), has_unknown: false };
    for row in trace.profile() {
        let own = here.get(&(row.call_path, row.location)).unwrap_or(&none);
        let bytes = row.bytes.saturating_sub(sum(own.values()).bytes);
        if bytes == 0 || row.visits == 0 {
            continue;
        }
        // What the location itself has done there says more than what others have.
        let known = [Some(own), anywhere.get(&row.call_path)];
        match known.into_iter().flatten().find(|known| sum(known.values()).bytes > 0) {
            Some(like) => like_known(row, own, like, bytes, &mut all.found),
            None => as_region_says(trace, names, row, bytes, &mut all),
        }
    }
    all
}

/// What is missing of a row is made of what is known of its call path, in the same proportions.
fn like_known(row: &ProfileRow, own: &Known, like: &Known, bytes: u64, found: &mut Vec<Counted>) {
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
        let arrays: Vec<(Option<NounId>, &AccessSum)> =
            like.iter().filter(|((_, of), _)| *of == kind).map(|((noun, _), it)| (*noun, it)).collect();
        let accesses: Vec<u64> = arrays.iter().map(|(_, it)| it.accesses).collect();
        let sizes: Vec<u64> = arrays.iter().map(|(_, it)| it.bytes).collect();
        let time = u64::try_from(missing.time.0).unwrap_or(0);
        let shares =
            (shared(missing.accesses, &accesses), shared(missing.bytes, &sizes), shared(time, &accesses));
        for (at, (noun, _)) in arrays.iter().enumerate() {
            let Some(noun) = *noun else { continue };
            let time = Nanos(i64::try_from(shares.2[at]).unwrap_or(i64::MAX));
            let sum = AccessSum { accesses: shares.0[at], bytes: shares.1[at], time };
            found.push(Counted { call_path: row.call_path, noun, kind, sum });
        }
    }
}

/// No access from its call path is known; its region may say which array it is about.
fn as_region_says(
    trace: &dyn Trace,
    names: &BTreeMap<&str, Option<NounId>>,
    row: &ProfileRow,
    bytes: u64,
    all: &mut All,
) {
    let path = trace.call_paths().get(row.call_path.idx());
    let Some(region) = path.and_then(|path| trace.regions().get(path.region.idx())) else { return };
    let Some((kind, data)) = AccessKind::of_verb(&region.level, &region.verb) else { return };
    let noun = names.get(region.noun.as_str()).copied().flatten().filter(|_| !region.noun.is_empty());
    // Beneath coarrays, calls of MPI without a noun serve those; of arrays that share a name each is named.
    all.has_unknown |= region.level == Level::COARRAY && (data > 1 || region.noun.is_empty());
    let Some(noun) = noun else { return };
    let sum = AccessSum { accesses: row.visits, bytes: bytes / data, time: row.inclusive };
    all.found.push(Counted { call_path: row.call_path, noun, kind, sum });
}

fn sum<'s>(sums: impl Iterator<Item = &'s AccessSum>) -> AccessSum {
    sums.fold(AccessSum::default(), |all, one| all.with(*one))
}

/// So much of a whole as `own` is of `all`.
fn part(whole: u64, own: u64, all: u64) -> u64 {
    let part = u128::from(whole) * u128::from(own) / u128::from(all.max(1));
    u64::try_from(part).unwrap_or(u64::MAX)
}

/// A whole in these proportions; what rounding leaves over goes to the largest, so that parts add up.
fn shared(whole: u64, of: &[u64]) -> Vec<u64> {
    let all: u128 = of.iter().map(|own| u128::from(*own)).sum();
    let share = |own: &u64| u128::from(whole) * u128::from(*own) / all.max(1);
    // None is more than the whole.
    let mut parts: Vec<u64> = of.iter().map(|own| u64::try_from(share(own)).unwrap_or(whole)).collect();
    let given: u128 = parts.iter().map(|part| u128::from(*part)).sum();
    let left = u64::try_from(u128::from(whole).saturating_sub(given)).unwrap_or(0);
    if let Some((at, _)) = of.iter().enumerate().max_by_key(|(_, own)| **own) {
        parts[at] = parts[at].saturating_add(left);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::shared;

    #[test]
    fn parts_add_up_to_the_whole() {
        assert_eq!(shared(1, &[5, 5]), [0, 1]);
        assert_eq!(shared(10, &[1, 2]), [3, 7]);
        assert_eq!(shared(7, &[0, 0]), [0, 7]);
        assert_eq!(shared(7, &[]), [0_u64; 0]);
        assert_eq!(shared(u64::MAX, &[u64::MAX, 0]), [u64::MAX, 0]);
        // Sums of a damaged run.
        let parts = shared(1 << 63, &[u64::MAX >> 1; 5]);
        assert_eq!(parts.iter().sum::<u64>(), 1 << 63);
    }
}
