//! Whether functions and lines of a program will be known.
//!
//! The one idea: the merge's own symboliser is asked about addresses all over the code, so whatever
//! it can use counts: debug information inside, beside or in the system's directory.

use std::path::Path;

use marey_source::{Address, ModuleRef, Quality, Symbolizer, SymbolizerConfig};

use super::elf::Elf;
use super::finding::{Finding, Topic};
use crate::paint::harmless;

/// Addresses that are asked about beside that of `main`: enough for one to lie in what the user compiled
/// and not in what the linker put around it.
const PROBES: u64 = 256;

/// Asks about one file.
pub(super) fn examine(subject: &str, path: &Path, elf: &Elf) -> Finding {
    const WHY: &str = "Reports name the function and line of each call, and the call stack that led to it.";
    let mut symbolizer = Symbolizer::new(SymbolizerConfig::system());
    let module = ModuleRef { path, build_id: None };
    let length = elf.code.end - elf.code.start;
    // In two parts, so that the product is not too large for any length that a damaged file claims.
    let probe = |probe: u64| elf.code.start + length / PROBES * probe + length % PROBES * probe / PROBES;
    let mut best = Quality::ModuleOffset;
    for place in elf.main.into_iter().chain((0..PROBES).map(probe)) {
        best = best.max(symbolizer.resolve(&module, Address::Exact(place)).quality);
        if best == Quality::Lines {
            break;
        }
    }
    let finding = |found: &str| Finding::ok(Topic::Source, subject, found, WHY);
    let finding = match best {
        Quality::Lines => return finding("functions, files and lines are known"),
        Quality::Symbols if elf.has_symbols => {
            finding("no debug information: functions are known, lines are not")
        }
        Quality::Symbols => finding("stripped: only functions that it exports are known, and no lines"),
        Quality::ModuleOffset => finding("stripped: neither functions nor lines are known"),
    };
    if let Some(problem) = symbolizer.problems().first() {
        let found = format!("{} ({})", finding.found, harmless(&problem.to_string()));
        let finding = Finding { found, ..finding };
        return finding
            .note("Compile it again with -g, so that program and debug information are of one build");
    }
    if ["/usr/", "/lib", "/opt/"].iter().any(|root| path.starts_with(root.trim_end_matches('/'))) {
        return finding.note(
            "Install its debug symbols if they are wanted: NAME-dbgsym on Debian and Ubuntu, \
             NAME-debuginfo on Fedora and SUSE",
        );
    }
    finding.note(
        "Compile with -g beside -O2 or -O3, which changes nothing in the speed, and do not strip (-s, strip)",
    )
}
