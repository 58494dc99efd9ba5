//! How large the page of a run is, and how soon somebody can use it.
//!
//! The one idea: what a user does: `marey export`, and the file opened in a browser without a network. The browser says when
//! the overview is there, which is when every view can be asked for.

use super::build::Tools;
use super::explain;
use super::goal::{Goals, Target};
use super::stats::Summary;
use super::table::{Table, with_range};
use super::{Plan, Section};
use crate::shell::{command, output, which};
use crate::ui::ui;
use anyhow::{Context, Result};
use std::path::Path;
use std::time::Instant;

const TEXT: &str = "\
`marey export --to html` of a finished run of two ranks in a ring, which has a message for three to four intervals: the \
file, how long writing it takes, and how long it takes in Chromium from opening the file to the overview, unpacked and \
without a network.";

const NAME: &str = "page 1 M";

/// Exports a run of a million intervals, and opens it.
pub(super) fn measure(plan: &Plan, tools: &Tools, goals: &mut Goals) -> Result<Section> {
    let mut section = Section {
        title: "Exported pages",
        text: TEXT,
        table: Table::new(&["case", "MB", "seconds to write", "seconds to open"]),
        absent: Vec::new(),
    };
    if !plan.wants(NAME) {
        return Ok(section);
    }
    match figures(plan, tools) {
        Ok((size, written, opened)) => {
            // What still goes by mail, and what nobody calls waiting.
            goals.add(NAME, "MB", Some(size), Target::AtMost(15.0));
            goals.add(NAME, "seconds to open", opened, Target::AtMost(2.0));
            let cells = [Some(size), written, opened].map(with_range);
            section.table.push([vec![NAME.to_owned()], cells.to_vec()].concat());
        }
        Err(error) => section.absent.push(format!("{NAME}: {error:#}")),
    }
    Ok(section)
}

/// Size, MB, seconds to write and, where there is a browser, to open.
#[expect(clippy::disallowed_methods, reason = "a bench's own time is not measured time")]
fn figures(plan: &Plan, tools: &Tools) -> Result<(Summary, Option<Summary>, Option<Summary>)> {
    let [run, _] = explain::record(tools, NAME, 1.0)?;
    let page = run.with_extension("html");
    let (mut written, mut opened) = (Vec::new(), Vec::new());
    for _ in 0..plan.rounds {
        let before = Instant::now();
        let mut export = command(&tools.marey);
        output(export.arg("export").arg(&run).args(["--to", "html", "--force", "-o"]).arg(&page))?;
        written.push(before.elapsed().as_secs_f64());
        opened.extend(open(&page)?);
    }
    #[expect(clippy::cast_precision_loss, reason = "a page is small")]
    let size = page.metadata().context("just written")?.len() as f64 / 1e6;
    let size = Summary::of(&[size]).context("there is one")?;
    Ok((size, Summary::of(&written), Summary::of(&opened)))
}

/// Whether pages can be looked at here.
pub(super) fn has_browser() -> bool {
    let is_there = which("node").is_some() && ui().join("node_modules/playwright-core").is_dir();
    is_there && which("chromium").is_some()
}

/// Seconds until the page is open; `None` = there is no browser.
fn open(page: &Path) -> Result<Option<f64>> {
    if !has_browser() {
        return Ok(None);
    }
    let mut script = command("node");
    script
        .current_dir(ui())
        .arg("test/browser.mjs")
        .arg(format!("file://{}", page.display()))
        .arg("openCutOff");
    let said = output(&mut script)?;
    let ms = said.lines().find_map(|line| line.strip_prefix("open after ")?.strip_suffix(" ms"));
    Ok(Some(ms.and_then(|ms| ms.parse::<f64>().ok()).context("the browser tells how long it took")? / 1e3))
}
