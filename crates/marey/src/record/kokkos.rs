//! Whether Kokkos tells the recorder what it does, or a tool of the user's.
//!
//! The one idea: Kokkos has one tool, which a variable names. If the user has named one, it stays what it was and alone;
//! else the recorder is named. What an outer recorder has named is nobody's choice.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use super::spool_dir::LIBRARY_FILE;
use crate::cli::Switch;

/// The variables: of Kokkos since 3.7, and before. Neither version minds that of the other, but that the later ones warn.
const VARIABLES: [&str; 2] = ["KOKKOS_TOOLS_LIBS", "KOKKOS_PROFILE_LIBRARY"];

/// Sets for a program what it is to find.
pub(super) fn set(command: &mut Command, library: &Path, switch: Switch) {
    let is_ours_to_set = switch == Switch::On && users().is_none();
    // Kokkos splits what it reads there.
    let is_one = !library.as_os_str().as_bytes().contains(&b';');
    for name in VARIABLES {
        let is_users = lookup(name).is_some_and(|value| is_users(&value));
        if is_ours_to_set && is_one {
            command.env(name, library);
        } else if !is_users {
            command.env_remove(name);
        }
    }
}

/// What there is to tell of it to somebody who wants Kokkos recorded.
pub(super) fn told(switch: Switch) -> Option<String> {
    let name = users().filter(|_| switch == Switch::On)?;
    Some(format!(
        "{name} names a tool, which stays the only one of Kokkos: kernels, Views and copies are not recorded; \
         unset it to have them recorded"
    ))
}

/// The variable that names a tool of the user's, if one does.
pub(crate) fn users() -> Option<&'static str> {
    users_tool(lookup)
}

fn lookup(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// The variable that names a tool of the user's.
fn users_tool(lookup: impl Fn(&str) -> Option<OsString>) -> Option<&'static str> {
    VARIABLES.into_iter().find(|name| lookup(name).is_some_and(|value| is_users(&value)))
}

fn is_users(value: &OsStr) -> bool {
    let libraries = value.as_bytes().split(|byte| *byte == b';').filter(|library| !library.is_empty());
    libraries.into_iter().any(|library| !Path::new(OsStr::from_bytes(library)).ends_with(LIBRARY_FILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_the_users_unless_an_outer_recorder_has_named_it() {
        let ours = format!("/run.marey/spool/{LIBRARY_FILE}");
        for (value, expected) in [
            ("", false),
            (";", false),
            (ours.as_str(), false),
            ("kp_kernel_timer.so", true),
            (&format!("{ours};/x/kp_memory.so"), true),
        ] {
            assert_eq!(is_users(OsStr::new(value)), expected, "{value}");
        }
        let set = |of: &'static str| move |name: &str| (name == of).then(|| "tool.so".into());
        assert_eq!(users_tool(set(VARIABLES[1])), Some("KOKKOS_PROFILE_LIBRARY"));
        assert_eq!((users_tool(set(VARIABLES[0])), users_tool(set("X"))), (Some("KOKKOS_TOOLS_LIBS"), None));
    }
}
