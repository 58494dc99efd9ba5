//! Programs that start the ranks of an MPI program.
//!
//! The one idea: they are few, and known by name; what an MPI adds to a name behind a point does not matter.
//!
//! Deliberately absent: how they are asked what they are, and what their options mean.

use std::ffi::OsStr;
use std::path::Path;

/// Their names, as they are looked for.
pub(crate) const LAUNCHERS: [&str; 14] = [
    "mpirun",
    "mpiexec",
    "mpirun.openmpi",
    "mpiexec.openmpi",
    "mpirun.mpich",
    "mpiexec.mpich",
    "mpiexec.hydra",
    "mpirun_rsh",
    "orterun",
    "prterun",
    "prun",
    "srun",
    "aprun",
    "jsrun",
];

/// Whether this starts MPI programs, by its name.
pub(crate) fn is_launcher(word: &OsStr) -> bool {
    let name = Path::new(word).file_name().unwrap_or_default().to_string_lossy();
    LAUNCHERS.contains(&name.split('.').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_known_by_their_names() {
        for name in LAUNCHERS.into_iter().chain(["/opt/x/bin/mpirun", "mpiexec.gforker"]) {
            assert!(is_launcher(name.as_ref()), "{name}");
        }
        for name in ["", "./mpirunner", "./app", "mpirun/app", "my.mpirun"] {
            assert!(!is_launcher(name.as_ref()), "{name}");
        }
    }
}
