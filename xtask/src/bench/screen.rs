//! How long a user waits for the viewer, in a browser.
//!
//! The one idea: what a user does, done by a script in Chromium: a made-up run is opened, moved in, and looked at elsewhere. The
//! script prints what it saw; here it is gathered.

use super::build::Tools;
use super::goal::{Goals, Target};
use super::page::has_browser;
use super::stats::Summary;
use super::table::{Table, median};
use super::view::{make, sizes};
use super::{Plan, Section};
use crate::shell::{command, output};
use crate::ui::ui;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

const TEXT: &str = "\
The viewer in Chromium without a graphics processor, 1 440 × 860 pixels, in milliseconds; it shares its processors with the engine.
*Painted* is from opening the address to the first timeline, as exact as it will be. *Work* is how long the main thread was on a \
processor from one picture to the next while the timeline is moved sideways: scripts, style, layout, drawing, garbage. *Lasted* is \
how long that took by the clock, which is more where it waits for the compositor or for a processor. *Settled* is from looking at \
another span, anywhere and of any length, until it is drawn, at least two frames.";

const FIGURES: [&str; 8] = [
    "painted_ms",
    "busy_p50_ms",
    "busy_p95_ms",
    "busy_p99_ms",
    "frame_p95_ms",
    "settled_p50_ms",
    "settled_p95_ms",
    "settled_p99_ms",
];

type Figures = BTreeMap<String, Vec<f64>>;

pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let heads = ["case", "painted", "work p50", "p95", "p99", "lasted p95", "settled p50", "p95", "p99"];
    let mut section = Section {
        title: "Viewing a run in a browser",
        text: TEXT,
        table: Table::new(&heads),
        absent: Vec::new(),
    };
    for (millions, locations) in sizes(plan) {
        let name = format!("screen {millions} M, {locations} locations");
        if !plan.wants(&name) {
            continue;
        }
        match seen(plan, tools, (millions, locations)) {
            Ok(figures) => {
                let summary = |figure: &str| figures.get(figure).and_then(|values| Summary::of(values));
                goals.add(&name, "ms until it is painted", summary("painted_ms"), Target::AtMost(1000.0));
                goals.add(&name, "ms of work a frame, p95", summary("busy_p95_ms"), Target::AtMost(8.0));
                let cells = FIGURES.iter().map(|figure| median(summary(figure), 1));
                section.table.push(std::iter::once(name).chain(cells).collect());
            }
            Err(error) => section.absent.push(format!("{name}: {error:#}")),
        }
    }
    Ok(section)
}

fn seen(plan: &Plan, tools: &Tools, (millions, locations): (u64, u64)) -> Result<Figures> {
    if !has_browser() {
        bail!("there is no Chromium, or no page was built");
    }
    let path = make(tools, millions, locations)?;
    let mut figures = Figures::new();
    for _ in 0..plan.rounds {
        let served = Served::new(tools, &path)?;
        let mut script = command("node");
        script.current_dir(ui()).arg("test/browser.mjs").arg(&served.address).arg("speed");
        for line in output(&mut script)?.lines() {
            if let Some((name, value)) = line.split_once(' ')
                && FIGURES.contains(&name)
            {
                figures
                    .entry(name.to_owned())
                    .or_default()
                    .push(value.parse().context("the script prints numbers")?);
            }
        }
    }
    Ok(figures)
}

/// A viewer that is being served.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn new(tools: &Tools, run: &Path) -> Result<Self> {
        let mut view = command(&tools.marey);
        let mut child = view.arg("view").arg(run).arg("--no-open").stdout(Stdio::piped()).spawn()?;
        let mut address = String::new();
        let read = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut address));
        let served = Self { child, address: address.trim().to_owned() };
        match read {
            Some(Ok(1..)) => Ok(served),
            _ => bail!("the viewer does not say where it is"),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It holds nothing that has to be written.
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}
