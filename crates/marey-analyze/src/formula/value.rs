//! The value of an expression in a run.
//!
//! The one idea: what was not measured is no number, and so is whatever is computed from it; a thing that a run does not
//! have, such as a region that was never visited, is measured all the same: there is none of it.

use marey_model::Nanos;

use super::quantities::nearest;
use super::{Ask, Expr, Operator, UnknownName, Whose};
use crate::digest::{Digest, Explained, PlaceSums, ProcessSums, RegionSums};
use crate::names::is_named;
use crate::paths::float;
use crate::profile::count;

/// Why an expression has no value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoValue {
    /// Something is divided by zero; at this character, from 0.
    #[error("division by zero")]
    DivisionByZero(usize),
    /// The run does not know it.
    #[error("`{0}` was not measured")]
    NotMeasured(&'static str),
    /// Events of the run are not there.
    #[error("`{0}` needs events, which are not there")]
    NoEvents(&'static str),
    /// Larger than any number.
    #[error("the value is too large")]
    TooLarge,
}

/// Nanoseconds of a second. A time divided by it is the number nearest to its seconds, which a product would not be.
const NS_PER_S: f64 = 1e9;

pub(super) fn value(expr: &Expr, run: &Digest) -> Result<f64, NoValue> {
    let value = match expr {
        Expr::Number(number) => *number,
        Expr::Quantity(ask) => quantity(ask, run)?,
        Expr::Negative(inner) => -value(inner, run)?,
        Expr::Exact(inner) | Expr::HigherIsBetter(inner) => value(inner, run)?,
        Expr::Two(operator, at, sides) => {
            let (left, right) = (value(&sides[0], run)?, value(&sides[1], run)?);
            match operator {
                Operator::Add => left + right,
                Operator::Subtract => left - right,
                Operator::Multiply => left * right,
                Operator::Divide if right == 0.0 => return Err(NoValue::DivisionByZero(*at)),
                Operator::Divide => left / right,
            }
        }
    };
    if value.is_finite() { Ok(value) } else { Err(NoValue::TooLarge) }
}

/// The name in a question that no run has.
pub(super) fn unknown_name(ask: &Ask, runs: &[&Digest]) -> Option<UnknownName> {
    if let Some((name, at)) = &ask.counter {
        let names: Vec<&str> =
            runs.iter().flat_map(|run| run.counters.iter().map(|counter| counter.name.as_str())).collect();
        if !names.contains(&name.as_str()) {
            return Some(unknown(*at, "counter", name, &names));
        }
    }
    let (what, name, names): (_, &str, Vec<&str>) = match &ask.of {
        Whose::Run => return None,
        Whose::Rank(rank) => {
            let is_there = runs.iter().any(|run| rank_of(run, *rank).is_some());
            return (!is_there).then(|| unknown(ask.of_at, "rank", &rank.to_string(), &[]));
        }
        Whose::Region(name) => (
            "region",
            name,
            runs.iter().flat_map(|run| run.regions.iter().map(|row| row.region.name())).collect(),
        ),
        Whose::Level(name) => (
            "level",
            name,
            runs.iter().flat_map(|run| run.regions.iter().map(|row| row.region.level.as_str())).collect(),
        ),
        Whose::Function(name) => ("function", name, runs.iter().flat_map(|run| functions(run)).collect()),
    };
    let is_function = what == "function";
    let is_there = names.iter().any(|known| *known == name || is_function && is_named(known, name));
    (!is_there).then(|| unknown(ask.of_at, what, name, &names))
}

fn unknown(at: usize, what: &'static str, name: &str, names: &[&str]) -> UnknownName {
    UnknownName {
        at,
        what,
        name: name.to_owned(),
        like: nearest(name, names.iter().copied()).map(str::to_owned),
    }
}

fn functions(run: &Digest) -> impl Iterator<Item = &str> {
    let callers = run.places.iter().map(|row| row.place.caller.name.as_str());
    let sampled = run.functions.iter().map(|row| row.function.name.as_str());
    callers.chain(sampled).filter(|name| !name.is_empty())
}

fn rank_of(run: &Digest, rank: u32) -> Option<(u32, &ProcessSums)> {
    let mut ranks = (0..).zip(&run.processes);
    ranks.find(|(_, process)| (process.world, process.rank) == (0, Some(rank)))
}

fn seconds(time: Nanos) -> f64 {
    float(time) / NS_PER_S
}

fn quantity(ask: &Ask, run: &Digest) -> Result<f64, NoValue> {
    let name = ask.quantity.name;
    let found = if let Some((counter, _)) = &ask.counter {
        counted(run, counter, &ask.of)
    } else if ask.quantity.needs_events {
        let explained = run.explained.as_ref().filter(|explained| explained.is_whole);
        explain(run, explained.ok_or(NoValue::NoEvents(name))?, &ask.of, name)
    } else {
        match &ask.of {
            Whose::Run => of_run(run, name),
            Whose::Rank(rank) => {
                Some(rank_of(run, *rank).map_or(Some(0.0), |(_, process)| of_rank(process, name))).flatten()
            }
            Whose::Region(region) => of_region(run, region, name),
            Whose::Level(_) | Whose::Function(_) => of_places(run, &ask.of, name),
        }
    };
    found.ok_or(NoValue::NotMeasured(name))
}

fn counted(run: &Digest, counter: &str, of: &Whose) -> Option<f64> {
    let counter = run.counters.iter().find(|known| known.name == counter)?;
    Some(count(match of {
        Whose::Region(name) => {
            let regions = counter.regions.iter().filter(|(region, _)| region.name() == name);
            regions.fold(0, |sum, (_, value)| sum.saturating_add(*value))
        }
        _ => counter.total,
    }))
}

fn of_run(run: &Digest, name: &str) -> Option<f64> {
    let sum = |of: fn(&ProcessSums) -> Nanos| run.processes.iter().map(|process| seconds(of(process))).sum();
    let sums = || run.regions.iter().map(|row| row.sums);
    Some(match name {
        "duration" => seconds(run.duration),
        "time" => sum(|process| process.time),
        "mpi_time" => sum(|process| process.mpi),
        // Of one that could not say it nobody knows.
        "processor_time" => {
            run.processes.iter().map(|process| process.processor_time.map(seconds)).sum::<Option<f64>>()?
        }
        "processes" => count(run.processes.len() as u64),
        "ranks" => count(run.processes.iter().filter(|process| process.rank.is_some()).count() as u64),
        "threads" => count(run.locations.iter().filter(|at| at.lane.is_empty()).count() as u64),
        "visits" => count(sums().fold(0, |sum, row| sum.saturating_add(row.visits))),
        "bytes" => count(sums().fold(0, |sum, row| sum.saturating_add(row.bytes))),
        "messages" => count(run.messages),
        "message_bytes" => count(run.message_bytes),
        "peak_memory" => count(run.processes.iter().filter_map(|process| process.peak_memory).max()?),
        "heap_peak" => count(run.heap_peak?),
        "allocated_bytes" => count(run.allocated?),
        "imbalance" => run.imbalance?,
        _ => return None,
    })
}

fn of_rank(process: &ProcessSums, name: &str) -> Option<f64> {
    Some(match name {
        "time" => seconds(process.time),
        "mpi_time" => seconds(process.mpi),
        "processor_time" => seconds(process.processor_time?),
        "peak_memory" => count(process.peak_memory?),
        "visits" => count(process.visits),
        "bytes" => count(process.bytes),
        "sent_messages" => count(process.sent.0),
        "sent_bytes" => count(process.sent.1),
        "received_messages" => count(process.received.0),
        "received_bytes" => count(process.received.1),
        _ => return None,
    })
}

fn of_region(run: &Digest, region: &str, name: &str) -> Option<f64> {
    let rows = || run.regions.iter().filter(|row| row.region.name() == region);
    let sum = |of: fn(&RegionSums) -> u64| count(rows().fold(0, |sum, row| of(row).saturating_add(sum)));
    Some(match name {
        "time" => rows().map(|row| seconds(row.sums.inclusive)).sum(),
        "self_time" => rows().map(|row| seconds(row.sums.exclusive)).sum(),
        "visits" => sum(|row| row.sums.visits),
        "bytes" => sum(|row| row.sums.bytes),
        "longest" => rows().filter_map(|row| row.longest).max().map_or(0.0, seconds),
        _ => return None,
    })
}

/// Whether a place is of what is asked about.
fn is_of(row: &PlaceSums, of: &Whose) -> bool {
    match of {
        Whose::Region(name) => row.place.region.name() == name,
        Whose::Level(name) => row.place.region.level == *name,
        Whose::Function(name) => is_named(&row.place.caller.name, name),
        Whose::Run | Whose::Rank(_) => false,
    }
}

fn of_places(run: &Digest, of: &Whose, name: &str) -> Option<f64> {
    let rows = || run.places.iter().filter(|row| is_of(row, of));
    Some(match (name, of) {
        ("self_time", _) => rows().map(|row| seconds(row.sums.exclusive)).sum(),
        ("visits", _) => count(rows().fold(0, |sum, row| row.sums.visits.saturating_add(sum))),
        ("bytes", _) => count(rows().fold(0, |sum, row| row.sums.bytes.saturating_add(sum))),
        ("processor_time", Whose::Function(function)) => {
            let rows = run.functions.iter().filter(|row| is_named(&row.function.name, function));
            rows.map(|row| seconds(row.time)).sum()
        }
        _ => return None,
    })
}

/// What events tell.
fn explain(run: &Digest, explained: &Explained, of: &Whose, name: &str) -> Option<f64> {
    let efficiency = |of: fn(&crate::efficiency::Efficiency) -> f64| explained.efficiency.as_ref().map(of);
    if *of == Whose::Run {
        return match name {
            "waiting" => Some(seconds(explained.waiting)),
            "parallel_efficiency" => efficiency(|it| it.parallel),
            "load_balance" => efficiency(|it| it.load_balance),
            "communication_efficiency" => efficiency(|it| it.communication),
            "serialisation" => efficiency(|it| it.serialisation),
            "setting_up" => efficiency(|it| it.setting_up),
            "transfer" => efficiency(|it| it.transfer),
            _ => None,
        };
    }
    let is_there = |place: u32, location: Option<u32>| match of {
        Whose::Rank(rank) => {
            let at = location.and_then(|location| run.locations.get(location as usize));
            at.is_some_and(|at| (at.world, at.rank) == (0, Some(*rank)))
        }
        _ => run.places.get(place as usize).is_some_and(|row| is_of(row, of)),
    };
    let times = || explained.times.iter().filter(|row| is_there(row.place, Some(row.location)));
    match name {
        "path_time" => Some(times().map(|row| seconds(row.on_path)).sum()),
        "delay_cost" => {
            let costs = explained.costs.iter().filter(|row| is_there(row.0, Some(row.1)));
            Some(costs.map(|row| row.2 / NS_PER_S).sum())
        }
        // Waits are in the calls that wait; of a rank, in all of them.
        "waiting" => match of {
            Whose::Rank(_) => Some(times().map(|row| seconds(row.waiting)).sum()),
            _ => {
                let waits = explained.waits.iter().filter(|row| is_there(row.place, None));
                Some(waits.map(|row| seconds(row.time)).sum())
            }
        },
        _ => None,
    }
}
