//! Whether a measured process still runs while its recording is merged.
//!
//! The one idea: a process that records has the files of its recording mapped into its memory, and
//! their names hold a random number. So nothing has to be compared that could belong to another
//! process, such as its number or its start; and a program that took the process's place by `exec`
//! does not have them. Where the system does not show this, the process counts as ended.

use super::definitions::ProcessDefs;

/// Whether the process is there and still records.
pub(crate) fn is_recording(process: &ProcessDefs) -> bool {
    let maps = std::fs::read(format!("/proc/{}/maps", process.pid)).unwrap_or_default();
    let name = format!("-{}-{:016x}.", process.pid, process.key);
    maps.windows(name.len()).any(|part| part == name.as_bytes())
}
