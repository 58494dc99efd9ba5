//! Whether a measured process still runs while its recording is merged.
//!
//! The one idea: a process that records has the files of its recording mapped into its memory, and
//! their names hold a random number. So nothing has to be compared that could belong to another
//! process, such as its number or its start; and a program that took the process's place by `exec`
//! does not have them. Where the system does not show this, the process counts as ended.

use std::path::Path;

use super::definitions::ProcessDefs;

/// Whether the process is there and still records.
pub(crate) fn is_recording(process: &ProcessDefs) -> bool {
    has_mapped(process.pid, &format!("-{}-{:016x}.", process.pid, process.key))
}

/// Whether a process is there that still records into a spool.
pub(crate) fn any_recording(spool: &Path) -> bool {
    let entries = std::fs::read_dir(spool).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|name| {
        // host-pid-key.definitions, of which the host's name may have dashes too.
        let name = name.to_str().and_then(|name| name.strip_suffix(".definitions"));
        let parts = name.and_then(|name| name.rsplit_once('-')).and_then(|(front, key)| {
            let (_, pid) = front.rsplit_once('-')?;
            Some((pid.parse().ok()?, key))
        });
        parts.is_some_and(|(pid, key)| has_mapped(pid, &format!("-{pid}-{key}.")))
    })
}

/// Whether the files of this name lie in the memory of a process.
fn has_mapped(pid: u32, name: &str) -> bool {
    let maps = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    maps.windows(name.len()).any(|part| part == name.as_bytes())
}
