//! What the tests and the demo need from the machine: Debian packages, cargo-nextest, and a Python
//! with DuckDB.
//!
//! The one idea: install what can be installed, else say exactly what to type, and go on with what
//! is there. Nothing is installed that is there already, so a second run is quick and offline.

use crate::shell::{cargo, command, run, succeeds, target, which};
use std::path::{Path, PathBuf};

/// Both MPIs with their compilers: what the demo needs as well.
pub(crate) const MPI_PACKAGES: &[&str] = &["openmpi-bin", "libopenmpi-dev", "lammps"];

/// All that the tests run: both MPIs, the compilers, real applications, valgrind, what makes odd
/// debug information.
pub(crate) const TEST_PACKAGES: &[&str] = &[
    "openmpi-bin",
    "libopenmpi-dev",
    "mpich",
    "libmpich-dev",
    // Coarrays of Fortran, over both.
    "libcoarrays-openmpi-dev",
    "libcoarrays-mpich-dev",
    "gcc",
    "g++",
    "gfortran",
    "clang",
    // The runtime of clang's OpenMP.
    "libomp-dev",
    "libtrilinos-kokkos-dev",
    "dwz",
    // Another reader of sources.
    "universal-ctags",
    // Sources of other people.
    "libpetsc3.18-dev-examples",
    "libslicot-doc",
    // A large library in C++ with its debug information.
    "libstdc++6-12-dbg",
    "lammps",
    "hpcc",
    "quantum-espresso",
    "quantum-espresso-data",
    "scalapack-mpi-test",
    "netpipe-openmpi",
    "strace",
    "python3",
    "python3-mpi4py",
    "python3-venv",
    "valgrind",
    // Looks at the viewer as users do.
    "chromium",
    "libotf2-trace-dev",
    "otf2-tools",
    // The reader of Pajé traces.
    "pajeng",
];

/// A compiler for WebAssembly, where rustup has none.
pub(crate) const WEB_PACKAGES: &[&str] = &["rustc-web", "cargo-web", "rust-web-src"];

/// What the benchmarks need: compilers, peers, real programs.
pub(crate) const BENCH_PACKAGES: &[&str] = &[
    "gcc",
    "gfortran",
    "openmpi-bin",
    "libopenmpi-dev",
    "libcoarrays-openmpi-dev",
    "libotf2-trace-dev",
    "eztrace",
    "uftrace",
    "lammps",
    "hpcc",
    "scalapack-mpi-test",
    "netpipe-openmpi",
    "libtrilinos-kokkos-dev",
];

/// Somebody else's reader of the archive, pinned so that a test cannot change overnight.
const DUCKDB: &str = "duckdb==2.0.0";

/// A program whose sources are read in tests, of a version that is known.
const RIPGREP: &str = "14.1.1";

/// Fetches the sources of ripgrep beside those of our dependencies, whose package it is not; whether they are there.
pub(crate) fn ripgrep() -> bool {
    let directory = target().join("peers");
    let manifest = format!(
        "[package]\nname = \"peers\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\nripgrep = \"={RIPGREP}\"\n\n\
         [workspace]\n"
    );
    let write = || {
        std::fs::create_dir_all(directory.join("src"))?;
        std::fs::write(directory.join("src/lib.rs"), "")?;
        std::fs::write(directory.join("Cargo.toml"), manifest)
    };
    let fetched = write()
        .map_err(anyhow::Error::from)
        .and_then(|()| run(cargo(["fetch", "--quiet", "--manifest-path"]).arg(directory.join("Cargo.toml"))));
    if let Err(error) = &fetched {
        println!("setup: WARNING: {error:#}; tests that read the sources of ripgrep ARE SKIPPED");
    }
    fetched.is_ok()
}

/// Installs the packages that are missing if we may; else says how. Whether all are there now. Never
/// fails: who needs a missing program says so.
pub(crate) fn debian_packages(packages: &[&str]) -> bool {
    if which("dpkg-query").is_none() || which("apt-get").is_none() {
        println!("setup: this is no Debian; the following must be there: {}", packages.join(" "));
        return false;
    }
    let missing: Vec<&str> = packages.iter().copied().filter(|package| !installed(package)).collect();
    if missing.is_empty() {
        println!("setup: all {} Debian packages are there", packages.len());
        return true;
    }
    if !is_root() {
        println!(
            "setup: {} Debian packages are missing; what needs them is left out or fails.",
            missing.len()
        );
        println!("setup: to install them type\n");
        println!("    sudo apt-get install --no-install-recommends {}\n", missing.join(" "));
        return false;
    }
    let apt = || {
        let mut apt = command("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive");
        apt
    };
    let install = run(apt().args(["update", "--quiet"])).and_then(|()| {
        run(apt().args(["install", "--quiet", "--yes", "--no-install-recommends"]).args(&missing))
    });
    if let Err(error) = &install {
        println!("setup: WARNING: {error:#}; going on with what is there");
    }
    install.is_ok()
}

fn installed(package: &str) -> bool {
    let mut query = command("dpkg-query");
    query.args(["--show", "--showformat=${db:Status-Status}", package]);
    query.output().is_ok_and(|output| output.status.success() && output.stdout == b"installed")
}

/// Whether we are root: Open MPI asks for a confirmation then, and packages can be installed.
pub(crate) fn is_root() -> bool {
    let mut id = command("id");
    id.arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Whether `cargo nextest` works, after trying to install it.
pub(crate) fn nextest() -> bool {
    if succeeds(&mut cargo(["nextest", "--version"])) {
        return true;
    }
    println!("setup: cargo-nextest is missing; building it takes a few minutes, once");
    match run(&mut cargo(["install", "cargo-nextest", "--locked"])) {
        Ok(()) => true,
        Err(error) => {
            println!("setup: WARNING: {error:#}; using `cargo test`, which has no time limits");
            false
        }
    }
}

/// The Python of a virtual environment with DuckDB in it, or `None` after saying why not.
pub(crate) fn python_with_duckdb() -> Option<PathBuf> {
    let venv = target().join("venv");
    let python = venv.join("bin/python");
    let has_duckdb = |python: &Path| succeeds(command(python).args(["-c", "import duckdb"]));
    if has_duckdb(&python) {
        return Some(python);
    }
    // Debian's own Python first: another one on the PATH may lack the module `venv`.
    let debian = PathBuf::from("/usr/bin/python3");
    let system = if debian.is_file() { debian } else { which("python3")? };
    let made = run(command(system).args(["-m", "venv"]).arg(&venv))
        .and_then(|()| run(command(&python).args(["-m", "pip", "install", "--quiet", DUCKDB])));
    match made {
        Ok(()) => Some(python),
        Err(error) => {
            println!("setup: WARNING: {error:#}");
            println!("setup: WARNING: no DuckDB; the test that reads an archive with it IS SKIPPED");
            None
        }
    }
}
