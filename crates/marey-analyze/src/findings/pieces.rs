//! Whether what a finding is about is made piece by piece, where one operation for many would do.
//!
//! The one idea: of a slow transfer that is the one thing which the source alone can mend; so who reads the finding should
//! read it there, not only where arrays are told ([`crate::arrays`]).

use marey_model::Tier;

use super::Finding;
use crate::activities::Activity;
use crate::arrays::{Piecemeal, arrays, piecemeal};
use crate::trace::Trace;

/// How accesses are made that are made piece by piece.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pieces {
    /// In which way.
    pub kind: Piecemeal,
    /// Name of the array.
    pub array: String,
    /// Its dimensions, as far as they are known.
    pub dimensions: usize,
    /// Accesses from that line.
    pub accesses: u64,
    /// Bytes that these moved.
    pub bytes: u64,
    /// Calls of lower levels that moved them.
    pub transfers: u64,
}

/// Says so of those that are, of the first of several about one statement. Time: that of [`arrays`], if any finding is about an operation of a programming model.
pub(super) fn tell(run: &dyn Trace, findings: &mut [Finding]) {
    let path_of = |finding: &Finding| {
        let Activity::Path(path) = finding.activity else { return None };
        let region = run.regions().get(run.call_paths().get(path.idx())?.region.idx())?;
        (region.tier == Tier::Model && !region.noun.is_empty()).then_some(path)
    };
    if findings.iter().all(|finding| path_of(finding).is_none()) {
        return;
    }
    let rows = arrays(run);
    let mut pieces = piecemeal(&rows);
    for finding in findings {
        let Some(path) = path_of(finding) else { continue };
        let place = pieces.iter().position(|piece| piece.statement.call_paths.contains(&path));
        // Once is enough.
        finding.pieces = place.map(|place| pieces.remove(place)).map(|piece| Pieces {
            kind: piece.kind,
            array: piece.array.name.clone(),
            dimensions: piece.array.bounds.len(),
            accesses: piece.statement.sum.accesses,
            bytes: piece.statement.sum.bytes,
            transfers: piece.transfers,
        });
    }
}
