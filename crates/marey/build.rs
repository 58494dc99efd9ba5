//! Builds the shared library that is loaded into measured programs, so that the `marey` binary can
//! carry it inside itself and `cargo install` has one file to copy.
//!
//! The one idea: an inner cargo with a target directory and an environment of its own. It always
//! uses the profile `preload`, also in a debug build, because what is measured with must be the
//! same in tests as in production.
//!
//! `MAREY_PRELOAD_SO=/path/to/libmarey.so` takes a library built elsewhere instead, for packagers
//! who build it against an older C library; so does `MAREY_LINKED_O=/path/to/marey.o` for the second
//! artefact, the object that `marey link` links into programs. Both are built at the same time, since the
//! longest part of each uses one processor.
//!
//! Not used: artifact dependencies (nightly only), and a library next to the executable (`cargo
//! install` does not copy it).

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// The crates whose sources end up in the library, those that exist.
const CRATES: [&str; 4] = ["marey-collect", "marey-measure", "marey-model", "marey-macros"];

fn main() {
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    watch_sources(&root());
    let (library, object) = (given("MAREY_PRELOAD_SO"), given("MAREY_LINKED_O"));
    // Both at once: what takes longest, the optimisation of the whole, uses one processor.
    let library = library.map_or_else(|| Made::begin(&out_dir, &LIBRARY), Made::There);
    let object = object.map_or_else(|| Made::begin(&out_dir, &LINKED), Made::There);
    let library = read(&library.path());
    fs::write(out_dir.join("libmarey.so"), &library).expect("OUT_DIR is writable");
    println!("cargo::rustc-env=MAREY_LIBRARY_HASH={:016x}", fnv1a(&library));
    let object = match object {
        Made::There(path) => read(&path),
        building => only_our_names(&read(&building.path()), &out_dir),
    };
    fs::write(out_dir.join("marey.o"), &object).expect("OUT_DIR is writable");
    println!("cargo::rustc-env=MAREY_LINKED_HASH={:016x}", fnv1a(&object));
}

/// What was built elsewhere.
fn given(variable: &str) -> Option<PathBuf> {
    println!("cargo::rerun-if-env-changed={variable}");
    let path = PathBuf::from(env::var_os(variable)?);
    println!("cargo::rerun-if-changed={}", path.display());
    Some(path)
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path)
        .unwrap_or_else(|error| panic!("cannot read what is to be embedded: {error}: {}", path.display()))
}

/// A form of marey-collect.
struct Form {
    /// What the compiler is asked for.
    arguments: &'static [&'static str],
    /// Directory inside the outer target directory.
    target_dir: &'static str,
    /// What it makes.
    file: &'static str,
}

/// What is loaded into programs.
const LIBRARY: Form =
    Form { arguments: &["--crate-type", "cdylib"], target_dir: "preload-target", file: "libmarey.so" };

/// What is linked into programs.
const LINKED: Form = Form {
    arguments: &["--crate-type", "staticlib", "--features", "linked"],
    target_dir: "linked-target",
    file: "libmarey.a",
};

/// The workspace. Asked when the script runs: it may have been compiled in another copy of it.
fn root() -> PathBuf {
    Path::new(&env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR")).join("../..")
}

/// A file that is there, or will be when a cargo has ended.
enum Made {
    There(PathBuf),
    Soon(Child, PathBuf),
}

impl Made {
    /// Starts the inner cargo.
    fn begin(out_dir: &Path, form: &Form) -> Self {
        // OUT_DIR is <target>/<profile>/build/marey-<hash>/out. A directory inside <target> is shared
        // by all outer profiles, is cleaned with them, and has a lock that the outer cargo does not hold.
        let outer_target =
            out_dir.ancestors().nth(4).expect("OUT_DIR lies four levels below the target directory");
        let inner_target = outer_target.join(form.target_dir);
        // A static command line (musl) still measures programs that use the system's C library.
        let triple = env::var("TARGET").expect("cargo sets TARGET").replace("-musl", "-gnu");

        let mut cargo = Command::new(env::var_os("CARGO").expect("cargo sets CARGO"));
        // `rustc --crate-type`, not `build`: with an rlib beside it cargo could not run the
        // link-time optimisation that the profile asks for.
        cargo.args(["rustc", "--quiet", "--package", "marey-collect", "--lib"]).args(form.arguments);
        cargo.args(["--profile", "preload", "--target", &triple, "--target-dir"]).arg(&inner_target);
        cargo.current_dir(root());
        clean_environment(&mut cargo);
        let child = cargo.spawn().expect("the cargo that runs this script can be run again");
        Self::Soon(child, inner_target.join(&triple).join("preload").join(form.file))
    }

    /// Waits for it.
    fn path(self) -> PathBuf {
        match self {
            Self::There(path) => path,
            Self::Soon(mut child, path) => {
                let status = child.wait().expect("a child can be waited for");
                assert!(
                    status.success(),
                    "building {} failed ({status}); the errors stand above",
                    path.display()
                );
                watch_dep_info(&path.with_extension("d"));
                path
            }
        }
    }
}

/// The first object of a static library, which after the optimisation of the whole has all that is ours;
/// with no names to the outside but our own, so that it can be linked with other programs in Rust.
fn only_our_names(library: &[u8], out_dir: &Path) -> Vec<u8> {
    let [whole, ours] = ["linked-whole.o", "linked-ours.o"].map(|name| out_dir.join(name));
    fs::write(&whole, first_object(library).expect("rustc makes static libraries with an object"))
        .expect("OUT_DIR is writable");
    let tools = ["objcopy", "llvm-objcopy", "rust-objcopy"];
    let is_done = |tool: &&str| {
        let mut objcopy = Command::new(tool);
        objcopy.args(["--strip-unneeded", "--wildcard", "--keep-global-symbol=marey_*"]);
        objcopy.args([&whole, &ours]).status().is_ok_and(|status| status.success())
    };
    assert!(tools.iter().any(is_done), "none of {tools:?} works; binutils has the first");
    read(&ours)
}

/// The first member of an archive that is an object, not a table of names.
fn first_object(archive: &[u8]) -> Option<&[u8]> {
    const HEADER: usize = 60;
    let mut at = b"!<arch>\n".len();
    loop {
        let header = archive.get(at..at + HEADER)?;
        let len: usize = std::str::from_utf8(&header[48..58]).ok()?.trim_end().parse().ok()?;
        let content = archive.get(at + HEADER..at + HEADER + len)?;
        if content.starts_with(b"\x7fELF") {
            return Some(content);
        }
        at += HEADER + len.next_multiple_of(2);
    }
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
