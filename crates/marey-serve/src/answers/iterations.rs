//! Iterations of the main loop of two runs, one by one.
//!
//! The one idea: the loop of the base is looked for in the other run by the name of the call that tells its iterations, so
//! that the k-th of the one stands beside the k-th of the other.
//!
//! What is deliberately absent: how loops are found (`docs/phases.md`).

use marey_analyze::{Comparison, FunctionName, Iteration, Loop, Phases, RegionName, Trace, compare};

use crate::fold::float;
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{IterationsHead, WireLoop};

/// What a loop is known by in any run: what its iterations are told by, in words of the base.
type Key = (RegionName, Option<FunctionName>);

pub(super) fn answer(run: &Opened<'_>) -> Result<Vec<u8>, String> {
    let beside = run.other()?;
    let compared = beside.compared()?;
    let comparison = compare(&compared.base, &compared.other);
    let [old, new] = run.phases_of_both()?;
    let base = old.main.and_then(|main| old.loops.get(main));
    let (other, is_same) = same(run, base, new, &comparison)?;
    let per = base.map_or(1, |it| it.per).max(1);
    let per = other.map_or(per, |it| common(per, it.per.max(1)));
    let mut columns = Columns::default();
    let names = [("base_from", "base_to"), ("other_from", "other_to")];
    for (it, (from, to)) in [base, other].into_iter().zip(names) {
        let all = it.map_or_else(Vec::new, |it| together(&it.iterations, per / it.per.max(1)));
        columns.f64(from, all.iter().map(|span| span.0));
        columns.f64(to, all.iter().map(|span| span.1));
    }
    let head = IterationsHead {
        base: base.map(|it| described(run, it)),
        other: other.map(|it| described(&beside.run, it)),
        is_same,
        per,
    };
    Ok(columns.frame("iterations", &head))
}

/// The loop of the other run that is told by the same call, else its main loop; whether it is the same.
fn same<'p>(
    run: &Opened<'_>,
    base: Option<&Loop>,
    new: &'p Phases,
    comparison: &Comparison<'_>,
) -> Result<(Option<&'p Loop>, bool), String> {
    let main = new.main.and_then(|main| new.loops.get(main));
    let Some(base) = base else { return Ok((main, false)) };
    let other = &run.other()?.run;
    let wanted = key(run, base, None);
    let is_same = |it: &&Loop| key(other, it, Some(comparison)) == wanted;
    let found = main.filter(is_same).or_else(|| new.loops.iter().find(is_same));
    Ok((found.or(main), found.is_some()))
}

fn key(run: &Opened<'_>, it: &Loop, comparison: Option<&Comparison<'_>>) -> Key {
    let path = run.trace.call_paths().get(it.site.call_path.idx());
    let region = path.and_then(|path| run.trace.regions().get(path.region.idx()));
    let region = region.map_or_else(RegionName::default, RegionName::of);
    let function = it.site.frame.as_ref().map(FunctionName::of);
    match comparison {
        None => (region, function),
        Some(comparison) => {
            let region = comparison.old_regions([&region]).pop().unwrap_or_default();
            (region, function.map(|function| comparison.old_function(&function)))
        }
    }
}

fn described(run: &Opened<'_>, it: &Loop) -> WireLoop {
    let path = run.trace.call_paths().get(it.site.call_path.idx());
    let region = path.and_then(|path| run.head.regions.get(path.region.idx()));
    let region = region.map_or_else(String::new, |region| region.name.clone());
    let function = it.site.frame.as_ref().map_or("", |frame| &frame.function);
    let name = match (function, it.site.is_single) {
        ("", _) => region,
        (function, true) => format!("{region} in {function}"),
        (function, false) => format!("calls of {function}"),
    };
    let each = float(i64::try_from(it.per.max(1)).unwrap_or(i64::MAX));
    WireLoop { name, number: it.number, median_ns: it.time.median / each }
}

/// Begin and end of so many iterations in a row, ns.
fn together(all: &[Iteration], number: u64) -> Vec<(f64, f64)> {
    let number = usize::try_from(number.max(1)).unwrap_or(usize::MAX);
    let span = |some: &[Iteration]| {
        let (first, last) = (some.first()?, some.last()?);
        Some((float(first.from.0), float(last.to.0)))
    };
    all.chunks(number).filter_map(span).collect()
}

/// The least number that both divide.
fn common(a: u64, b: u64) -> u64 {
    let (mut larger, mut smaller) = (a.max(b), a.min(b));
    while smaller > 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    (a / larger.max(1)).saturating_mul(b)
}

#[cfg(test)]
mod tests {
    use super::common;

    #[test]
    fn iterations_are_taken_together_as_many_as_both_divide() {
        for (a, b, expected) in [(1, 1, 1), (1, 3, 3), (2, 3, 6), (4, 6, 12), (5, 5, 5)] {
            assert_eq!((common(a, b), common(b, a)), (expected, expected));
        }
    }
}
