//! What an odd program says of its own visits, and whether a run agrees.
//!
//! The one idea: a program counts a visit as begun before it enters and as done after it has left, so a
//! recorder may have seen any number between the two, and what it has not seen it must tell.

use std::path::Path;

use serde_json::Value;

use crate::cases::Loss;

/// Bytes of a slot: a key, a name, and two numbers.
const SLOT: usize = 48;

/// No window is longer than 256 KiB, and no visit shorter than two bytes to enter and two to leave.
const VISITS_IN_WINDOW: u64 = 1 << 16;

/// The program's own counts.
#[derive(Debug)]
pub(crate) struct Truth {
    /// Programs in processes that have made a visit.
    pub(crate) images: u64,
    /// Name of the region, visits begun, visits done.
    pub(crate) visits: Vec<(String, u64, u64)>,
}

impl Truth {
    /// Reads the file that `odd.h` describes; a program that made no visit has left none.
    pub(crate) fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap_or_default();
        let number = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
        let slots = (8..bytes.len().saturating_sub(SLOT - 1)).step_by(SLOT).filter(|&at| number(at) != 0);
        let visits = slots.map(|at| {
            let name = bytes[at + 8..at + 32].split(|&byte| byte == 0).next().unwrap();
            (String::from_utf8_lossy(name).into_owned(), number(at + 32), number(at + 40))
        });
        Self { images: if bytes.is_empty() { 0 } else { number(0) }, visits: visits.collect() }
    }

    /// What is wrong with what `report` and `info` say of the run.
    pub(crate) fn differs(&self, report: &Value, info: &Value, loss: Loss) -> Option<String> {
        let Some(regions) = report["regions"].as_array() else {
            return Some(format!("the report has no regions: {report}"));
        };
        let calls = |name: &str| -> u64 {
            // Programs have regions of names that functions on files have, too.
            let is_it =
                |row: &&Value| (row["noun"] == name || row["verb"] == name) && row["level"] != "files";
            let rows = regions.iter().filter(is_it);
            rows.map(|row| row["calls"].as_u64().unwrap()).sum()
        };
        let mut missing = 0;
        for (name, begun, done) in &self.visits {
            let calls = calls(name);
            if calls > *begun {
                return Some(format!("{calls} calls of {name}, but {begun} were made"));
            }
            missing += done.saturating_sub(calls);
        }
        let told = ["dropped", "lost", "missing"].map(|kind| info["problems"][kind].as_u64().unwrap_or(0));
        let [dropped, lost, missed] = told;
        // Two events are a visit. Those of children that were not recorded are among the dropped ones.
        let explained = (dropped + missed).div_ceil(2)
            + lost * VISITS_IN_WINDOW
            + calls("(other regions)")
            + calls("(other paths)")
            + if loss == Loss::Uncounted && missed != 0 { u64::MAX / 2 } else { 0 };
        if missing > if loss == Loss::Nothing { 0 } else { explained } {
            return Some(format!("{missing} visits are missing, told are {told:?}: {:?}", self.visits));
        }
        None
    }
}
