//! Exit statuses, and the one place where an error becomes text.
//!
//! The one idea: errors travel as `anyhow::Error` up to `main`; those that are the user's to
//! mend by typing something else are marked [`Usage`] on the way and exit with 2.

use std::io::Write;
use std::process::ExitCode;

use crate::paint::harmless;

/// Wrong usage that clap cannot see, such as a run that would be overwritten. What the user typed
/// is wrong, the files and the machine are not.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Tells `error` on standard error and gives the status to exit with.
pub(crate) fn report_error(error: &anyhow::Error) -> ExitCode {
    // `marey report | head` closes our output on purpose: nothing went wrong.
    if is_closed_pipe(error) {
        return ExitCode::SUCCESS;
    }
    let hint = if is_other_file(error) { COPY_AGAIN } else { "" };
    say(&format!("error: {}{hint}", text_of(error)));
    if error.downcast_ref::<Usage>().is_some() { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// An error and its causes. Those that tell their cause themselves do not tell it twice.
pub(crate) fn text_of(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.contains(&cause) {
            let gap = if text.is_empty() { "" } else { ": " };
            text.extend([gap, &cause]);
        }
    }
    text
}

/// One line for the user on standard error.
pub(crate) fn say(line: &str) {
    // Standard error is the last resort: when it is closed, there is nobody left to tell.
    // Names of files, of which a line may be full, can hold anything.
    writeln!(std::io::stderr(), "marey: {}", harmless_lines(line)).ok();
}

fn harmless_lines(text: &str) -> String {
    text.split('\n').map(harmless).collect::<Vec<_>>().join("\n")
}

/// What helps where a file of a run was replaced by another.
const COPY_AGAIN: &str =
    "; `marey merge RUN --force` makes it anew if its spool was kept, else copy the run again";

fn is_other_file(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<marey_archive::Error>());
    causes.any(|cause| matches!(cause, marey_archive::Error::NotAsListed { .. }))
}

/// Whether nobody reads any more what is printed.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let by_io = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        let by_json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        by_io.or(by_json) == Some(std::io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let cause = || anyhow::anyhow!("cut off");
        assert_eq!(
            text_of(&cause().context("cut off: a.parquet").context("cannot open a")),
            "cannot open a: cut off: a.parquet"
        );
        assert_eq!(text_of(&cause().context("cannot open a")), "cannot open a: cut off");
    }
}
