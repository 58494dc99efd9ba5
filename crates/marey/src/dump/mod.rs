//! `marey dump`: the events of a run in the order of time.
//!
//! The one idea: events come in order from `events`, and each is printed as it comes, so `--limit` stops reading early.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::bail;
use marey_analyze::Trace;
use marey_formats::write::What;
use marey_model::{LocationId, Nanos, ProcessId};
use rustc_hash::FxHashSet;

use crate::cli::DumpArgs;
use crate::events::{Go, Window, in_order};
use crate::exit::Usage;
use crate::run::Run;

mod line;

use line::Printer;

/// Runs the command.
pub(crate) fn run(args: &DumpArgs) -> anyhow::Result<ExitCode> {
    if let (Some(from), Some(to)) = (args.from, args.to)
        && to < from
    {
        bail!(Usage("--to lies before --from: no event can be between".to_owned()));
    }
    let Run { archive, trace, .. } = Run::open(&args.run)?;
    let window = Window {
        from: args.from.unwrap_or(Nanos(i64::MIN)),
        to: args.to.unwrap_or(Nanos(i64::MAX)),
        locations: wanted_locations(args, &trace)?,
    };
    let mut printer = Printer::new(&archive, &trace, args.json)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    printer.head(&mut out)?;
    let mut left = args.limit.unwrap_or(u64::MAX);
    if left == 0 {
        return Ok(out.flush().map(|()| ExitCode::SUCCESS)?);
    }
    in_order((&archive, &trace), &window, &|_| {}, &mut |event| {
        // What comes of it has a line.
        if matches!(event.what, What::Cause(_)) {
            return Ok(Go::On);
        }
        left -= 1;
        printer.print(&mut out, event)?;
        Ok(if left == 0 { Go::Stop } else { Go::On })
    })?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn wanted_locations(args: &DumpArgs, trace: &dyn Trace) -> anyhow::Result<Option<FxHashSet<LocationId>>> {
    if let Some(location) = args.location.map(LocationId) {
        if trace.locations().get(location.idx()).is_none() {
            bail!(Usage(format!("this run has no location {}", location.0)));
        }
        return Ok(Some(FxHashSet::from_iter([location])));
    }
    let Some(rank) = args.rank else { return Ok(None) };
    let is_of_rank = |process: ProcessId| {
        trace.processes().get(process.idx()).is_some_and(|process| process.rank == Some(rank))
    };
    let places = trace.locations().iter().enumerate().filter(|(_, place)| is_of_rank(place.process));
    let wanted: FxHashSet<LocationId> = places.filter_map(|(idx, _)| LocationId::from_idx(idx)).collect();
    if wanted.is_empty() {
        bail!(Usage(format!("this run has no rank {rank}")));
    }
    Ok(Some(wanted))
}
