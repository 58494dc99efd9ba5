//! Whether the coarrays of a program can be seen.
//!
//! The one idea: calls of a library that is inside the program are bound when that is linked, and nobody can come between;
//! then MPI is all that is seen of coarrays.

use super::elf::Elf;
use super::finding::{Finding, Topic};

const WHY: &str = "gfortran has a library do what coarrays do across images. Its calls are recorded where it is loaded as a \
                   shared library.";

/// What there is to say of a program; nothing of one without coarrays.
pub(super) fn examine(shown: &str, elf: &Elf) -> Option<Finding> {
    let finding = |found: &str| Finding::ok(Topic::Mpi, shown, found, WHY);
    if elf.has_coarray_stubs {
        return Some(finding(
            "coarrays, with their library inside and stubs in front of it; recorded by array, line and image",
        ));
    }
    if elf.defines_coarrays {
        let found = "coarrays, with their library inside, linked statically; only the calls of MPI beneath are recorded";
        return Some(
            finding(found)
                .note("Link it with the shared library of coarrays, as `marey f90` does, or put stubs in front of the static one")
                .command("marey f90 -g -O2 app.f90 -o app, or: marey link --coarrays -- caf -g -O2 app.f90 -o app"),
        );
    }
    elf.calls_coarrays.then(|| finding("coarrays, recorded by array, line and image"))
}
