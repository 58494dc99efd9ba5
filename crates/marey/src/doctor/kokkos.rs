//! Whether what a program does with Kokkos can be seen.
//!
//! The one idea: Kokkos tells one tool, and that is the recorder unless the user has named another one.
//!
//! Deliberately absent: a Kokkos that is part of the program, which tells the recorder too.

use super::finding::{Finding, Topic};
use super::loader::Listing;
use crate::record::kokkos_tool;

const WHY: &str = "Kokkos tells one tool what it does, which KOKKOS_TOOLS_LIBS (before 3.7 KOKKOS_PROFILE_LIBRARY) names; \
                   `marey record` names itself unless you have named another one.";

/// What the libraries of a program say of Kokkos; nothing of one without it.
pub(super) fn examine(shown: &str, listing: &Listing) -> Option<Finding> {
    let (library, _) = listing.libraries.iter().find(|(name, _)| name.contains("kokkoscore.so"))?;
    Some(found(shown, library, kokkos_tool()))
}

fn found(shown: &str, library: &str, tool: Option<&str>) -> Finding {
    let finding = |found: String| Finding::ok(Topic::Threads, shown, found, WHY);
    match tool {
        None => finding(format!("Kokkos ({library}): its kernels, copies and Views are recorded")),
        Some(name) => finding(format!(
            "Kokkos ({library}): not recorded, for {name} names another tool, which stays alone"
        ))
        .note("Take that out of the environment to have Kokkos recorded")
        .command(format!("unset {name}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::State;

    #[test]
    fn another_tool_is_told_with_what_to_do() {
        let library = "libkokkoscore.so.4.0".to_owned();
        let listing =
            |name: &str| Listing { libraries: vec![(name.to_owned(), "/x".into())], ..Listing::default() };
        assert!(examine("app", &listing("libkokkoscore.so.4.0")).is_some());
        assert!(examine("app", &listing("libkokkoskernels.so.4.0")).is_none());
        let alone = found("app", &library, None);
        assert_eq!((alone.state, alone.command), (State::Ok, None));
        let other = found("app", &library, Some("KOKKOS_TOOLS_LIBS"));
        assert_eq!((other.state, other.command.as_deref()), (State::Note, Some("unset KOKKOS_TOOLS_LIBS")));
        assert!(other.found.contains("KOKKOS_TOOLS_LIBS"), "{}", other.found);
    }
}
