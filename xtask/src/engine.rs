//! The engine of exported pages: `marey-page` as WebAssembly, gzipped into `ui/dist`, from where `cargo build` takes it.
//!
//! The one idea: whichever compiler for WebAssembly is there is used, that of rustup or Debian's, which has to build the
//! standard library first. Where neither can be had, everything else goes on, and `marey export` says how to get it.

use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::setup::{self, WEB_PACKAGES};
use crate::shell::{cargo, command, output, run, target};

const TARGET: &str = "wasm32-unknown-unknown";

/// What is asked of cargo. `rustc --crate-type`, not `build`: with an rlib beside it there would be no optimisation of the
/// whole.
const ASKED: [&str; 10] = [
    "rustc",
    "--quiet",
    "--package=marey-page",
    "--lib",
    "--crate-type=cdylib",
    "--profile=page",
    "--locked",
    "--target",
    TARGET,
    "--target-dir",
];

/// Builds it into the directory `dist`; whether there was a compiler that could.
pub(crate) fn build(dist: &Path) -> Result<bool> {
    let (mut cargo, dir) = if has_target() {
        (cargo(ASKED), target())
    } else if has_debians() {
        (debians(), target().join("debian"))
    } else {
        println!("ui: WARNING: no compiler for WebAssembly; `marey export --to html` will not work. Type\n");
        println!("    rustup target add {TARGET}\n");
        return Ok(false);
    };
    if let Err(error) = run(cargo.arg(&dir)) {
        // A compiler of a distribution may be too old for a library; that is no reason to go without all the rest.
        println!("ui: WARNING: {error:#}; `marey export --to html` will not work");
        return Ok(false);
    }
    let engine = dir.join(TARGET).join("page/marey_page.wasm");
    let packed = dist.join("engine.wasm.gz");
    let out = File::create(&packed).with_context(|| format!("{} cannot be written", packed.display()))?;
    // Without name and time, so that the same engine makes the same bytes.
    let mut gzip = command("gzip");
    let status = gzip.arg("-9nc").arg(&engine).stdout(out).status().context("gzip cannot be started")?;
    ensure!(status.success(), "gzip of {} failed", engine.display());
    let size = packed.metadata().context("just written")?.len();
    println!("ui: the engine of exported pages has {} kB gzipped", size / 1000);
    Ok(true)
}

/// Whether rustup has brought the target.
fn has_target() -> bool {
    let mut rustc = command(rustc());
    rustc.args(["--print", "target-libdir", "--target", TARGET]);
    output(&mut rustc).is_ok_and(|dir| Path::new(dir.trim()).is_dir())
}

/// Whether Debian's compiler is there, after trying to get it.
fn has_debians() -> bool {
    setup::debian_packages(WEB_PACKAGES)
}

/// Debian's cargo. It has no standard library for the target, but its sources, which are built along; and no linker of its
/// own, but that of our own tool chain will do.
fn debians() -> Command {
    let sysroot = output(command(rustc()).args(["--print", "sysroot"])).unwrap_or_default();
    let linker = PathBuf::from(sysroot.trim()).join("lib/rustlib/x86_64-unknown-linux-gnu/bin/rust-lld");
    let mut cargo = command("/usr/bin/cargo");
    cargo.args(ASKED.iter().take(1)).args(["-Z", "build-std=std,panic_abort"]).args(ASKED.iter().skip(1));
    cargo.env("RUSTC", "/usr/bin/rustc").env("RUSTC_BOOTSTRAP", "1");
    cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
    // What was set for the compiler that we are built by.
    for name in ["RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
        cargo.env_remove(name);
    }
    cargo
}

fn rustc() -> PathBuf {
    env::var_os("RUSTC").map_or_else(|| "rustc".into(), PathBuf::from)
}
