//! The command that shows the evidence of a finding.
//!
//! The one idea: who reads a sentence should not have to look up how to see more of it; so the command stands below, ready
//! to be pasted.

use std::path::Path;

use marey_analyze::{Causes, Finding, FindingKind, Trace};
use marey_model::{LocationId, Nanos};

use super::Place;
use super::part::Options;
use crate::doctor::quote;
use crate::paint::harmless;
use crate::words;

/// `marey waits run.marey --context exchange --ranks 1`
/// Of a part that was asked for it shows that part.
pub(super) fn of(
    trace: &dyn Trace,
    finding: &Finding,
    causes: &Causes,
    run: &Path,
    part: &Options,
) -> String {
    let run = harmless(&quote(&run.to_string_lossy()));
    if let Some(pieces) = finding.pieces.as_ref().filter(|it| harmless(&it.array) == it.array) {
        return format!("marey arrays {run} --by line --array {}", quote(&pieces.array));
    }
    match finding.kind {
        FindingKind::Transfer => format!("marey what-if {run} --zero-latency"),
        FindingKind::Files => {
            let Options { when, ranks, which, context } = part;
            format!("marey report {run} --by file{context}{ranks}{when}{which}")
        }
        FindingKind::Delay => match finding.effects.first() {
            None => format!("marey path {run}{}", part.when),
            Some(effect) => {
                let either = |own: String, asked: &str| if own.is_empty() { asked.to_owned() } else { own };
                let context = either(context(&Place::of_call(trace, effect.call_path)), &part.context);
                let ranks = either(ranks(trace, &effect.locations), &part.ranks);
                let when = either(span(finding, causes), &part.when);
                format!("marey waits {run}{context}{ranks}{when}{}", part.which)
            }
        },
    }
}

/// The function that called, or else the region, as `--context` takes it. What would steer a terminal nobody can paste.
fn context(place: &Place<'_>) -> String {
    let function = words::without_parameters(place.function);
    let is_fit = |name: &&str| !name.is_empty() && harmless(name) == **name;
    let name = [function, place.region].into_iter().find(is_fit);
    name.map_or_else(String::new, |name| format!(" --context {}", quote(name)))
}

/// Who waited, if all of them are ranks, and not all ranks.
fn ranks(trace: &dyn Trace, locations: &[LocationId]) -> String {
    let rank =
        |id: &LocationId| trace.processes().get(trace.locations().get(id.idx())?.process.idx())?.first_rank();
    let Some(mut ranks) = locations.iter().map(rank).collect::<Option<Vec<u32>>>() else {
        return String::new();
    };
    ranks.sort_unstable();
    ranks.dedup();
    let all = trace.processes().iter().filter(|process| process.rank.is_some()).count();
    if ranks.is_empty() || ranks.len() == all {
        return String::new();
    }
    let runs = ranks.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let text = |run: &[u32]| match run {
        [first, .., last] => format!("{first}-{last}"),
        one => one.iter().map(u32::to_string).collect(),
    };
    format!(" --ranks {}", runs.map(text).collect::<Vec<_>>().join(","))
}

/// When, if that is less than half of the run; to the microsecond.
fn span(finding: &Finding, causes: &Causes) -> String {
    let all = causes.span.to - causes.span.from;
    if all.0 / 2 <= (finding.to - finding.from).0 {
        return String::new();
    }
    let seconds = |at: i64| {
        let text = format!("{}.{:06}", at / 1_000_000, at % 1_000_000);
        format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
    };
    let Nanos(from) = finding.from.max(Nanos(0));
    let Nanos(to) = finding.to.max(Nanos(0));
    format!(" --from {} --to {}", seconds(from / 1000), seconds(to.saturating_add(999) / 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_is_the_function_without_its_parameters() {
        let cases = [
            ("step", " --context step"),
            ("(anonymous namespace)::work(int)", " --context '(anonymous namespace)::work'"),
            ("Grid::operator()(int) const", " --context 'Grid::operator()'"),
            ("", " --context MPI_Send"),
        ];
        for (function, expected) in cases {
            let (level, region, file, routine) = ("mpi", "MPI_Send", "a.cc", "");
            let place = Place { activity: "region", level, region, function, file, line: 7, routine };
            assert_eq!(context(&place), expected);
        }
    }
}
