//! A recording of nothing, to see that recording works.
//!
//! The one idea: instead of guessing from settings whether a library can be preloaded and files be
//! mapped, `marey record` is run as the user would run it, on a shell that does nothing.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::ask;
use super::finding::{Finding, Topic};
use super::place::{self, Place};
use super::shell;
use crate::merge::holds_recordings;
use crate::record::SPOOL;

/// Records in the first place that has room.
pub(super) fn examine(places: &[Place], words: &[OsString]) -> Option<Finding> {
    // If there is none at all, that has been said already.
    let place = places.iter().find(|place| place.is_usable())?;
    let run = place.path.join(format!(".marey-doctor-{}", std::process::id()));
    let mut record = Command::new("/proc/self/exe");
    // Without what a batch system or launcher has set: it would make this one of several recorders.
    record.env_clear();
    for name in ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "LD_PRELOAD"] {
        record.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    record.args(["record", "--all", "--no-merge", "-o"]).arg(&run).args(["--", "/bin/sh", "-c", ":"]);
    let output = ask::output(&mut record);
    let is_recorded = holds_recordings(&run.join(SPOOL));
    let finding = Finding::ok(
        Topic::Recording,
        "trial",
        format!("a process was started and recorded in {}", place.path.display()),
        "All measuring stands on a library that is preloaded into programs and writes to mapped files.",
    );
    let told = output.as_ref().map_or_else(|| "it did not end in time".to_owned(), ask::text);
    remove(&run);
    if is_recorded {
        return Some(finding);
    }
    let told = told.trim().lines().next().unwrap_or("nothing was recorded");
    let signs = ["marey: ", "error: ", "ERROR: ld.so: "];
    let told = signs.iter().fold(told, |told, sign| told.trim_start_matches(sign));
    let found = format!("nothing could be recorded in {}: {told}", place.path.display());
    let finding = Finding { found, ..finding };
    Some(advise(finding, place, places, words))
}

/// The likeliest way out: a place for the library from which code may be loaded.
fn advise(finding: Finding, place: &Place, places: &[Place], words: &[OsString]) -> Finding {
    let temporary = std::env::temp_dir();
    let noexec = |path: &Path| places.iter().any(|known| known.path == path && !known.allows_code());
    if noexec(&place.path) && fs::canonicalize(&temporary).is_ok_and(|path| noexec(&path)) {
        let other = places.iter().find(|known| known.allows_code() && known.is_usable());
        let other = other.map_or_else(|| PathBuf::from("DIR"), |known| known.path.clone());
        return finding
            .problem(
                "The recorder can be loaded neither from here nor from the directory for what is \
                 temporary: they allow no code (noexec). Name one that does",
            )
            .command(format!(
                "TMPDIR={} {}",
                shell::quote(&other.to_string_lossy()),
                shell::record("", words)
            ));
    }
    let spare = place::best_spare(places).map_or_else(|| PathBuf::from("DIR"), |place| place.path.clone());
    let spare = shell::quote(&spare.join("run.marey").to_string_lossy());
    finding
        .problem("Mend what is told here, or try another directory")
        .command(format!("marey record --all -o {spare} -- /bin/sh -c :"))
}

/// What the trial has left. If it cannot be removed, it could not be made either.
fn remove(run: &Path) {
    fs::remove_dir_all(run).ok();
}
