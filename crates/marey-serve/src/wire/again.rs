//! What goes over the wire of a run that is recorded once more.

use serde::Serialize;

/// What would be done, if the user says so.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireAgain {
    /// Why it is not, and what to do about that; `null` = it can be.
    pub why_not: Option<String>,
    /// The command that would run, as one types it.
    pub command: String,
    /// Where it would.
    pub directory: String,
    /// Name of the new run, which lies beside the one that is looked at.
    pub output: String,
    /// Options of the first recording that are not the usual ones, as one types them, and which it gets again; `null` = the
    /// run does not say which it had.
    pub options: Option<String>,
    /// Rules of the first recording, which it does not get again.
    pub rules: Vec<String>,
}

impl WireAgain {
    /// What cannot be done.
    pub fn not(why: String) -> Self {
        Self { why_not: Some(why), ..Self::default() }
    }
}

/// What was started last.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireAgainState {
    /// Name of the new run.
    pub output: String,
    /// Whether it has not ended yet.
    pub is_running: bool,
    /// Whether somebody has ended it.
    pub is_cancelled: bool,
    /// How long it has taken, ms.
    pub elapsed_ms: f64,
    /// Its exit status, which is the program's; `null` = it has not ended, or was killed.
    pub code: Option<i32>,
    /// The last lines of what it has said.
    pub lines: Vec<String>,
    /// The page of both runs, from where all pages begin; `null` = there is no new run.
    pub page: Option<String>,
}

#[cfg(test)]
pub(super) fn declarations() -> Vec<String> {
    use ts_rs::TS;
    vec![WireAgain::decl(), WireAgainState::decl()]
}
