//! Builds the shared library that is loaded into measured programs, so that the `marey` binary can
//! carry it inside itself and `cargo install` has one file to copy.
//!
//! The one idea: an inner cargo with a target directory and an environment of its own. It always
//! uses the profile `preload`, also in a debug build, because what is measured with must be the
//! same in tests as in production.
//!
//! `MAREY_PRELOAD_SO=/path/to/libmarey.so` takes a library built elsewhere instead, for packagers
//! who build it against an older C library.
//!
//! Not used: artifact dependencies (nightly only), and a library next to the executable (`cargo
//! install` does not copy it).

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates whose sources end up in the library, those that exist.
const CRATES: [&str; 4] = ["marey-collect", "marey-measure", "marey-model", "marey-macros"];

fn main() {
    println!("cargo::rerun-if-env-changed=MAREY_PRELOAD_SO");
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let library = match env::var_os("MAREY_PRELOAD_SO") {
        Some(given) => {
            let given = PathBuf::from(given);
            println!("cargo::rerun-if-changed={}", given.display());
            given
        }
        None => build_library(&out_dir),
    };
    let bytes = match fs::read(&library) {
        Ok(bytes) => bytes,
        Err(error) => panic!("cannot read the library to embed: {error}: {}", library.display()),
    };
    fs::write(out_dir.join("libmarey.so"), &bytes).expect("OUT_DIR is writable");
    println!("cargo::rustc-env=MAREY_LIBRARY_HASH={:016x}", fnv1a(&bytes));
}

/// Runs the inner cargo and returns the path of the library it made.
fn build_library(out_dir: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    watch_sources(&root);

    // OUT_DIR is <target>/<profile>/build/marey-<hash>/out. A directory inside <target> is shared
    // by all outer profiles, is cleaned with them, and has a lock that the outer cargo does not hold.
    let outer_target =
        out_dir.ancestors().nth(4).expect("OUT_DIR lies four levels below the target directory");
    let inner_target = outer_target.join("preload-target");
    // A static command line (musl) still measures programs that use the system's C library.
    let triple = env::var("TARGET").expect("cargo sets TARGET").replace("-musl", "-gnu");

    let mut cargo = Command::new(env::var_os("CARGO").expect("cargo sets CARGO"));
    // `rustc --crate-type cdylib`, not `build`: with an rlib beside it cargo could not run the
    // link-time optimisation that the profile asks for.
    cargo.args(["rustc", "--quiet", "--package", "marey-collect", "--lib", "--crate-type", "cdylib"]);
    cargo.args(["--profile", "preload", "--target", &triple, "--target-dir"]).arg(&inner_target);
    cargo.current_dir(&root);
    clean_environment(&mut cargo);
    let status = cargo.status().expect("the cargo that runs this script can be run again");
    assert!(status.success(), "building libmarey.so failed ({status}); the errors stand above");

    let library = inner_target.join(&triple).join("preload/libmarey.so");
    watch_dep_info(&library.with_extension("d"));
    library
}

/// Takes away what the outer cargo, clippy or a coverage tool set for the *outer* build. The
/// job server stays, so both together use as many processors as one.
fn clean_environment(cargo: &mut Command) {
    const NAMES: [&str; 12] = [
        "RUSTC",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_LINKER",
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_BUILD_TARGET",
        "CARGO_TARGET_DIR",
        "CARGO_BUILD_TARGET_DIR",
        "CLIPPY_ARGS",
        "CLIPPY_CONF_DIR",
        "LLVM_PROFILE_FILE",
    ];
    const PREFIXES: [&str; 5] = ["CARGO_FEATURE_", "CARGO_CFG_", "CARGO_PKG_", "CARGO_MANIFEST_", "DEP_"];
    // Cargo tells build scripts about their own build in these; an inner cargo must not inherit them.
    const SCRIPT: [&str; 7] = ["TARGET", "HOST", "OUT_DIR", "PROFILE", "OPT_LEVEL", "DEBUG", "NUM_JOBS"];
    for (name, _) in env::vars_os() {
        if is_outer(&name, &NAMES, &PREFIXES, &SCRIPT) {
            cargo.env_remove(name);
        }
    }
}

fn is_outer(name: &OsStr, names: &[&str], prefixes: &[&str], script: &[&str]) -> bool {
    name.to_str().is_some_and(|name| {
        names.contains(&name)
            || script.contains(&name)
            || prefixes.iter().any(|prefix| name.starts_with(prefix))
    })
}

/// What must be watched even when the inner build fails and leaves no dependency file.
fn watch_sources(root: &Path) {
    watch(&root.join("Cargo.toml"));
    watch(&root.join("Cargo.lock"));
    for name in CRATES {
        let dir = root.join("crates").join(name);
        watch(&dir.join("Cargo.toml"));
        watch(&dir.join("src"));
    }
}

/// Watches every file that went into the library, such as tables included from elsewhere.
fn watch_dep_info(dep_info: &Path) {
    // Missing only if cargo stops writing it; the source directories are watched in any case.
    let Ok(text) = fs::read_to_string(dep_info) else { return };
    let Some((_, files)) = text.split_once(": ") else { return };
    // Make syntax: spaces separate, an escaped one belongs to the name.
    for file in files.replace("\\ ", "\0").split_whitespace() {
        watch(Path::new(&file.replace('\0', " ")));
    }
}

/// Cargo runs a script again and again if a watched path does not exist, so only existing ones count.
fn watch(path: &Path) {
    if path.exists() {
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// FNV-1a: the hash only names the file that the library is unpacked to, it guards nothing.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
