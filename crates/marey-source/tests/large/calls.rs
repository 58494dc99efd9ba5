//! Calls of a large library, against every call that `objdump` shows.

use std::collections::{BTreeMap, BTreeSet};

use marey_source::database::{CallKind, Callee, Database};

use super::super::{Called, Calls, disassembled, known, toolchain::Workspace};

/// Calls by instructions, caller by caller, where nothing that was inlined stands between; all of them by callees.
pub(super) fn check(it: &Database, workspace: &Workspace, path: &str) {
    let inlined = it.calls.iter().filter(|call| call.kind == CallKind::Inlined);
    let mixed: BTreeSet<u32> = inlined
        .flat_map(|call| {
            let callee = if let Callee::Function(row) = call.callee { Some(row) } else { None };
            [Some(call.caller), callee]
        })
        .flatten()
        .collect();
    let (ours, theirs) = (known(it, true), disassembled(workspace, path, it, true));
    let own = |calls: &Calls| -> Calls {
        let is_own = |caller: &Option<u32>| caller.is_some_and(|row| !mixed.contains(&row));
        calls
            .iter()
            .filter(|((caller, _), _)| is_own(caller))
            .map(|(row, times)| (row.clone(), *times))
            .collect()
    };
    let all = |calls: &Calls| {
        let mut sums = BTreeMap::<Called, u32>::new();
        calls.iter().for_each(|((_, callee), times)| *sums.entry(callee.clone()).or_default() += times);
        sums
    };
    assert!(own(&ours) == own(&theirs), "{:#?}", differing(&own(&ours), &own(&theirs)));
    assert!(all(&ours) == all(&theirs), "{:#?}", differing(&all(&ours), &all(&theirs)));
    assert!(15_000 <= own(&theirs).len() && 5000 <= all(&theirs).len());
}

fn differing<K: Ord + Clone>(
    ours: &BTreeMap<K, u32>,
    theirs: &BTreeMap<K, u32>,
) -> Vec<(K, Option<u32>, Option<u32>)> {
    let rows: BTreeSet<&K> = ours.keys().chain(theirs.keys()).collect();
    let rows = rows.into_iter().map(|row| (row.clone(), ours.get(row).copied(), theirs.get(row).copied()));
    rows.filter(|(_, ours, theirs)| ours != theirs).take(20).collect()
}
