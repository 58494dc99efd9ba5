//! Selected elements of an array: what the selection snaps to, and what accesses to them cost.
//!
//! The one idea: all of it is `marey-analyze`'s; the table of accesses is read once for a question.

use std::collections::BTreeSet;

use marey_analyze::{
    AccessSum, Selected, SelectedAccesses, SelectedProcess, Snap, Snapped, Statement, SubArray,
    SubArrayCosts, accesses_not_kept, array_parts,
};
use marey_archive::Wanted;
use marey_model::{NounId, ProcessId};

use super::part::is_meant;
use super::sentences::{more, region_of};
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{
    SnapTo, SubArrayHead, SubArrayOf, WireAccesses, WireSelected, WireSelectedPart, WireSelectedProcess,
    WireSelectedStatement,
};

/// More rows of a table are not told.
const MOST_ROWS: usize = 5000;

pub(super) fn answer(run: &Opened<'_>, asked: &SubArrayOf) -> Vec<u8> {
    let head = found(run, asked).unwrap_or_else(|why| SubArrayHead {
        section: Vec::new(),
        snapped: Vec::new(),
        distributed: Vec::new(),
        fits: true,
        parts: Vec::new(),
        more_parts: 0,
        total: selected(Selected::default()),
        statements: Vec::new(),
        more_statements: 0,
        processes: Vec::new(),
        more_processes: 0,
        not_kept: 0,
        why_not: Some(why),
        damage: Vec::new(),
    });
    Columns::default().frame("sub-array", &head)
}

fn found(run: &Opened<'_>, asked: &SubArrayOf) -> Result<SubArrayHead, String> {
    let noun = NounId(asked.array);
    let parts = array_parts(&run.trace, noun);
    let all = |place: usize| {
        let bounds = parts.iter().filter_map(|part| part.bounds.get(place).copied());
        bounds.reduce(|one, more| (one.0.min(more.0), one.1.max(more.1))).unwrap_or((0, 0))
    };
    let section: Vec<_> =
        asked.section.iter().enumerate().map(|(place, it)| it.unwrap_or_else(|| all(place))).collect();
    let processes = asked.processes.as_ref().map(|all| all.iter().map(|it| ProcessId(*it)).collect());
    let how = match asked.snap {
        SnapTo::Expand => Snap::Expand,
        SnapTo::Shrink => Snap::Shrink,
        SnapTo::None => Snap::No,
    };
    let it = SubArray { section, processes };
    let snapped = it.snapped(&parts, how).map_err(|error| error.to_string())?;
    if !run.archive.has_accesses() {
        return Err(
            "single accesses are not in this page, or none were recorded: open the run itself".to_owned()
        );
    }
    let (costs, damage) = costs(run, asked, &snapped)?;
    let held = parts.iter().filter_map(|part| {
        let selected = snapped.pieces.get(&part.process)?.clone();
        Some(WireSelectedPart { process: part.process.0, bounds: part.bounds.clone(), selected })
    });
    let named: BTreeSet<ProcessId> = costs.processes.keys().chain(snapped.pieces.keys()).copied().collect();
    let process = |it: &ProcessId| process(*it, costs.processes.get(it).copied().unwrap_or_default());
    Ok(SubArrayHead {
        parts: held.take(MOST_ROWS).collect(),
        more_parts: more(snapped.pieces.len(), MOST_ROWS),
        total: selected(costs.total),
        statements: costs.statements.iter().take(MOST_ROWS).map(|it| statement(run, it)).collect(),
        more_statements: more(costs.statements.len(), MOST_ROWS),
        processes: named.iter().take(MOST_ROWS).map(process).collect(),
        more_processes: more(named.len(), MOST_ROWS),
        not_kept: match asked.part.span {
            None => accesses_not_kept(&run.trace, noun, &|location| is_meant(&asked.part, location.0)),
            Some(_) => 0,
        },
        section: it.section,
        snapped: snapped.section,
        distributed: snapped.distributed,
        fits: snapped.fits,
        why_not: None,
        damage,
    })
}

fn costs(
    run: &Opened<'_>,
    asked: &SubArrayOf,
    snapped: &Snapped,
) -> Result<(SubArrayCosts, Vec<String>), String> {
    use marey_analyze::Trace;

    let arrays = run.trace.arrays();
    let is_it = |at: usize| arrays[at].is_acted_on() && arrays[at].noun.0 == asked.array;
    let (from, to) = asked.part.span.as_ref().map_or((i64::MIN, i64::MAX), |it| (it.from_ns, it.to_ns));
    let wanted =
        Wanted { array: &is_it, location: &|location| is_meant(&asked.part, location.0), span: from..to };
    let mut sums = SelectedAccesses::new(snapped);
    let read = run.archive.accesses(&run.trace, &wanted, |access| {
        sums.add(access);
    });
    let damage = read.map_err(|error| format!("single accesses cannot be read: {error}"))?;
    Ok((sums.costs(&run.trace), damage.iter().map(ToString::to_string).collect()))
}

fn accesses(sum: AccessSum) -> WireAccesses {
    WireAccesses { accesses: sum.accesses, bytes: sum.bytes, time_ns: sum.time.0 }
}

fn selected(it: Selected) -> WireSelected {
    WireSelected {
        met: accesses(it.met),
        inside: it.inside,
        elements: it.elements,
        perhaps: accesses(it.perhaps),
        perhaps_inside: it.perhaps_inside,
    }
}

fn statement(run: &Opened<'_>, (it, sum): &(Statement, Selected)) -> WireSelectedStatement {
    WireSelectedStatement {
        verb: it.verb.clone(),
        kind: it.kind.name().to_owned(),
        function: it.function.clone(),
        file: it.file.clone(),
        line: it.line,
        region: it.call_paths.iter().next().and_then(|path| region_of(run, *path)),
        selected: selected(*sum),
    }
}

fn process(process: ProcessId, it: SelectedProcess) -> WireSelectedProcess {
    WireSelectedProcess {
        process: process.0,
        local: selected(it.local),
        remote: selected(it.remote),
        asked: selected(it.asked),
    }
}
