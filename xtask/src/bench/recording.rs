//! Spools to measure sizes and merge with, recorded once and merged many times.
//!
//! The one idea: the recorder itself makes them, from programs that say how much they did, so that
//! bytes and speeds are told per event that was executed.

use super::build::{self, Tools};
use super::sample::{Samples, figure, size_of_files};
use super::{Extent, MPI_ENVIRONMENT, Plan, message};
use crate::shell::{command, output, target};
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;

/// A finished recording that is not merged.
pub(super) struct Recording {
    pub name: &'static str,
    pub unit: Unit,
    /// How many of these it holds.
    pub amount: f64,
    pub spool: PathBuf,
    pub spool_bytes: f64,
}

/// What a recording consists of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// Enters and leaves, with the gaps of a program.
    Events,
    /// Enters and leaves with nothing between them: for the sake of their number.
    DenseEvents,
    Messages,
}

/// What is to be recorded.
pub(super) struct Source {
    pub name: &'static str,
    unit: Unit,
    streams: u64,
}

/// All sources of a run, each under the name that cases begin with.
pub(super) fn sources(plan: &Plan) -> Vec<Source> {
    let source = |name, unit, streams| Source { name, unit, streams };
    let mut sources = vec![
        source("1 stream", Unit::Events, 1),
        source("8 streams", Unit::Events, 8),
        source("64 streams", Unit::Events, 64),
        source("messages", Unit::Messages, 2),
    ];
    if plan.extent == Extent::Full {
        sources.push(source("200 M events", Unit::DenseEvents, 8));
    }
    sources
}

/// Records a source, into a directory that outlives all turns.
pub(super) fn record(plan: &Plan, tools: &Tools, source: &Source) -> Result<Recording> {
    let dir = target().join("bench/recordings").join(source.name.replace(' ', "-"));
    if dir.exists() {
        fs::remove_dir_all(&dir).with_context(|| format!("cannot empty {}", dir.display()))?;
    }
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let line = match source.unit {
        Unit::Events => {
            let program = build::compile("gcc", "marey.c", "marey-c-gaps", &["-DGAPS"])?;
            format!("{program} {} {} none", plan.spread_pairs / source.streams, source.streams)
        }
        Unit::DenseEvents => {
            let program = build::compile("gcc", "marey.c", "marey-c", &[])?;
            format!("{program} {} {} none", 100_000_000 / source.streams, source.streams)
        }
        Unit::Messages => message::ping_pong(4 * plan.messages)?,
    };
    eprintln!("recording {}", source.name);
    let mut record = command(&tools.marey);
    record.envs(MPI_ENVIRONMENT).args(["record", "--no-merge", "-o"]).arg(dir.join("run"));
    record.arg("--").args(line.split(' '));
    let mut printed = Samples::default();
    output(&mut record)?.lines().filter_map(figure).for_each(|(name, value)| printed.push(&name, value));
    let (figure, factor) = match source.unit {
        Unit::Messages => ("messages", 1.0),
        Unit::Events | Unit::DenseEvents => ("executed", 2.0),
    };
    let [amount] = printed.values(figure) else { anyhow::bail!("{line} does not say what it did") };
    let spool = dir.join("run/spool");
    Ok(Recording {
        name: source.name,
        unit: source.unit,
        amount: amount * factor,
        spool_bytes: size_of_files(&spool)? as f64,
        spool,
    })
}
