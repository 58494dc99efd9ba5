//! `cargo xtask ui`: the viewer's page, built into `ui/dist`, from where `cargo build` takes it.
//!
//! The engine of exported pages goes beside it ([`engine`]).
//!
//! The one idea: npm installs exactly what `package-lock.json` says, types and imports are checked, Vite builds. Where npm
//! or its registry cannot be had, everything else goes on without the page.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::engine;
use crate::shell::{command, root, run, which};

/// More than this the page may not be, gzipped, bytes.
const MOST: u64 = 300_000;

/// What is built for exported pages, which hold all else that is built once more.
const EXPORTED: [&str; 2] = ["exported.html", "engine.wasm.gz"];

/// Builds the page; what fails is an error. Whether runs can be exported as pages, too.
pub(crate) fn build() -> Result<bool> {
    ensure!(has_npm(), "npm is missing; Node.js brings it");
    install()?;
    run(npm().args(["run", "--silent", "check"]))?;
    run(npm().args(["run", "--silent", "build"]))?;
    // Vite empties the directory, and cargo watches it by this file.
    std::fs::write(dist().join(".gitkeep"), "").context("ui/dist cannot be written")?;
    let size = gzipped(&dist())?;
    println!("ui: {} kB gzipped of at most {}", size / 1000, MOST / 1000);
    ensure!(size <= MOST, "the page has {size} bytes gzipped, more than {MOST}");
    engine::build(&dist())
}

/// Whether the page and what its tests need is there, after trying to get it.
pub(crate) fn set_up() -> bool {
    if !has_npm() {
        println!("setup: WARNING: npm is missing; the viewer is left out. Node.js brings npm");
        return false;
    }
    match install() {
        Ok(()) => true,
        Err(error) => {
            println!("setup: WARNING: {error:#}; the viewer is left out");
            false
        }
    }
}

fn has_npm() -> bool {
    which("npm").is_some() && which("node").is_some()
}

/// Installs what the lock names, unless that is there.
fn install() -> Result<()> {
    let (lock, installed) = (ui().join("package-lock.json"), ui().join("node_modules/.package-lock.json"));
    let age = |path: &Path| path.metadata().and_then(|it| it.modified()).ok();
    if age(&installed).is_some_and(|installed| age(&lock).is_some_and(|lock| lock <= installed)) {
        return Ok(());
    }
    run(npm().args(["ci", "--no-audit", "--no-fund", "--silent"]))
}

/// Size of all files of the page, each gzipped.
fn gzipped(dist: &Path) -> Result<u64> {
    let mut sum = 0;
    let is_of_page = |file: &PathBuf| !EXPORTED.iter().any(|name| file.ends_with(name));
    for file in files(dist)?.into_iter().filter(is_of_page) {
        let output = command("gzip").arg("-9c").arg(&file).output().context("gzip cannot be started")?;
        ensure!(output.status.success(), "gzip of {} failed", file.display());
        sum += output.stdout.len() as u64;
    }
    Ok(sum)
}

fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).with_context(|| format!("{} cannot be read", dir.display()))? {
        let path = entry?.path();
        if path.is_dir() { found.extend(files(&path)?) } else { found.push(path) }
    }
    Ok(found)
}

fn npm() -> Command {
    let mut npm = command("npm");
    npm.current_dir(ui());
    npm
}

pub(crate) fn ui() -> PathBuf {
    root().join("ui")
}

fn dist() -> PathBuf {
    ui().join("dist")
}
