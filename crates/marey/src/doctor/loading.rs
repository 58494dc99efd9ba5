//! Whether the dynamic loader would load the recorder and the program's own libraries.
//!
//! The one idea: nothing else stands between a program and being measured, so each way in which the
//! loader can refuse has its remedy here.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{StatVfsMountFlags, getxattr, statvfs};
use rustix::process::{getegid, geteuid};

use super::finding::{Finding, Topic};
use super::loader::Listing;
use super::program::Context;
use super::shell::{quote, record};
use crate::paint::harmless;

const WHY: &str = "The recorder is a library that the dynamic loader puts into the program.";

/// A program that is linked statically.
pub(super) fn without_loader(shown: &str) -> Finding {
    let why =
        "The recorder is a library that the dynamic loader puts into the program, and this one has none.";
    Finding::ok(Topic::Loading, shown, "linked statically, with no recorder inside", why)
        .problem("Link it again with the words that `marey link` prints; or without -static")
        .command("mpicc -static app.o $(marey link) -o app   # marey link --mpi off: a program without MPI")
}

/// A program that the recorder is linked into.
pub(super) fn linked(shown: &str, version: u32) -> Finding {
    let why = "It needs no library to be loaded: with `marey record` it records itself.";
    let finding = Finding::ok(Topic::Loading, shown, "has the recorder linked into it", why);
    if version == marey_measure::ABI_VERSION {
        return finding;
    }
    finding
        .problem("It is the recorder of another version of marey: link it again with the words of this one")
        .command("marey link")
}

/// A program whose loader is not there.
pub(super) fn loader_gone(shown: &str, loader: &Path) -> Finding {
    let found = format!("asks for the loader {}, which is not there", harmless(&loader.to_string_lossy()));
    Finding::ok(Topic::Loading, shown, found, "Without its loader no program can be started.")
        .problem("Build it on this system, or start it in the container that it was built in")
}

/// Whether the recorder would be loaded.
pub(super) fn recorder(shown: &str, listing: &Listing, context: &Context<'_>) -> Option<Finding> {
    let finding = |found: String| Finding::ok(Topic::Loading, shown, found, WHY);
    if let Some(refusal) = &listing.refusal {
        return Some(
            finding(format!("the recorder cannot be loaded into it: {}", harmless(refusal)))
                .problem("Build it against the C library of this system, which the recorder needs")
                .command("ldd --version"),
        );
    }
    let is_sanitizer =
        |name: &str| ["libasan.", "libclang_rt.asan"].iter().any(|known| name.starts_with(known));
    let sanitizer = listing.libraries.iter().find(|(name, _)| is_sanitizer(name));
    let preloaded = std::env::var("LD_PRELOAD").unwrap_or_default();
    if let Some((name, path)) = sanitizer
        && !preloaded.contains(name.split('.').next().unwrap_or(name))
    {
        return Some(
            finding(format!("{name} (AddressSanitizer) refuses to run behind another library"))
                .problem(
                    "Preload it before the recorder; or build without -fsanitize=address, since a \
                     sanitised program spends its time otherwise",
                )
                .command(format!(
                    "LD_PRELOAD={} {}",
                    quote(&path.to_string_lossy()),
                    record("", context.words)
                )),
        );
    }
    context.recorder.map(|_| finding("linked dynamically; its loader takes the recorder".to_owned()))
}

/// Whether the program's own libraries are there.
pub(super) fn libraries(shown: &str, listing: &Listing) -> Option<Finding> {
    const WHY: &str = "A program whose libraries are not found does not start, with or without the recorder.";
    let finding = |found: String| Finding::ok(Topic::Libraries, shown, found, WHY);
    if !listing.missing.is_empty() {
        let missing: Vec<String> = listing.missing.iter().map(|name| harmless(name)).collect();
        return Some(
            finding(format!("{} cannot be found", missing.join(", ")))
                .problem("Load the modules that it was built with, or name the directory that has them")
                .command("export LD_LIBRARY_PATH=/path/to/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"),
        );
    }
    let complaint =
        listing.complaints.iter().find(|line| line.contains("not found") || line.contains("error"));
    complaint.map(|line| {
        finding(harmless(line))
            .problem("Load the modules that it was built with, or build it again on this system")
            .command("ldd --version")
    })
}

/// What the kernel would give the program on top, if it would: then the loader obeys no `LD_PRELOAD`.
pub(super) fn privileges(shown: &str, path: &Path) -> Option<Finding> {
    let data = std::fs::metadata(path).ok()?;
    let is_ignored = statvfs(path).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::NOSUID));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_denied = status.lines().any(|line| line.split_whitespace().eq(["NoNewPrivs:", "1"]));
    if is_ignored || is_denied {
        return None;
    }
    let (user, group) = (geteuid(), getegid());
    // The bit for the group counts only where the group may execute.
    let (is_setuid, is_setgid) = (data.mode() & 0o4000 != 0, data.mode() & 0o2010 == 0o2010);
    let mut capability = [0_u8; 64];
    let has_capabilities = getxattr(path, c"security.capability", &mut capability).is_ok();
    let found = if is_setuid && data.uid() != user.as_raw() {
        format!("setuid: it runs as user {}", data.uid())
    } else if is_setgid && data.gid() != group.as_raw() {
        format!("setgid: it runs as group {}", data.gid())
    } else if has_capabilities && !user.is_root() {
        "has file capabilities".to_owned()
    } else {
        return None;
    };
    let why = "The loader preloads nothing into a program that has more rights than its user.";
    let [from, to] = ["", ".plain"].map(|end| quote(&format!("{}{end}", path.display())));
    Some(
        Finding::ok(Topic::Loading, shown, found, why)
            .problem("Measure a copy, which has no such rights")
            .command(format!("install -m 755 {from} {to}")),
    )
}
