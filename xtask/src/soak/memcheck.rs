//! Valgrind's memcheck over recorded programs: what it finds with the library loaded and not without
//! is ours.
//!
//! Each program runs plainly and with two builds of the library: as it is, and with the allocator of
//! the C library in place of our own, of whose blocks valgrind sees every end. An error counts if it
//! has a frame of ours at its top, or if the plain run does not have it. What the library loses once
//! a process does not count (it frees little by design), what it loses again and again does.

mod errors;

use crate::setup::is_root;
use crate::shell::{cargo, command, output, root, succeeds, target, typed, which};
use anyhow::{Context, Result, bail};
use errors::Found;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Open MPI knows what it does itself.
const SUPPRESSIONS: &str = "/usr/share/openmpi/openmpi-valgrind.supp";
/// Threads, each its own way (see `programs.c`).
const THREADS: [&str; 10] =
    ["locks", "handover", "barriers", "conditions", "ends", "c11", "codes", "signals", "forks", "names"];

/// A program and how it is started.
struct Case {
    name: String,
    launcher: &'static [&'static str],
    program: PathBuf,
    words: Vec<String>,
}

/// Runs all programs.
pub(super) fn run_all() -> Result<()> {
    if !succeeds(command("valgrind").arg("--version")) {
        bail!("there is no valgrind; on Debian type `sudo apt-get install valgrind`");
    }
    let dir = target().join("soak/valgrind");
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let libraries =
        [library(&dir, "own", &[])?, library(&dir, "system", &["--features", "system-allocator"])?];
    let mut ours = Vec::new();
    for case in cases(&dir)? {
        let plain = errors_of(&dir, &case, None)?;
        let known: BTreeSet<&str> = plain.iter().map(|found| found.identity.as_str()).collect();
        for library in &libraries {
            let recorded = errors_of(&dir, &case, Some(library))?;
            let new =
                recorded.iter().filter(|found| found.is_ours || !known.contains(found.identity.as_str()));
            let new: Vec<&Found> = new.collect();
            println!("{}: {} errors without the library, {} of ours", case.name, plain.len(), new.len());
            ours.extend(new.into_iter().map(|found| format!("{}: {}", case.name, found.text)));
        }
    }
    if !ours.is_empty() {
        bail!("{} errors are ours:\n{}", ours.len(), ours.join("\n"));
    }
    Ok(())
}

/// Builds the library with names and lines in it.
fn library(dir: &Path, name: &str, features: &[&str]) -> Result<PathBuf> {
    let (built, triple) = (dir.join(name), "x86_64-unknown-linux-gnu");
    let mut build =
        cargo(["rustc", "--quiet", "--package", "marey-collect", "--lib", "--crate-type", "cdylib"]);
    build.args(["--profile", "preload", "--target", triple]).args(features);
    build.arg("--target-dir").arg(&built);
    build.env("CARGO_PROFILE_PRELOAD_DEBUG", "1").env("CARGO_PROFILE_PRELOAD_STRIP", "false");
    println!("$ {}", typed(&build));
    output(&mut build)?;
    Ok(built.join(triple).join("preload/libmarey.so"))
}

fn cases(dir: &Path) -> Result<Vec<Case>> {
    let compile = |compiler: &str, words: &[&str], program: &str| -> Result<PathBuf> {
        let path = dir.join(program);
        let mut compile = command(compiler);
        compile.args(["-g", "-O1", "-w", "-pthread", "-I"]).arg(root().join("crates/marey-collect/include"));
        compile.args(words).arg("-o").arg(&path);
        output(&mut compile)?;
        Ok(path)
    };
    let case = |name: &str, program: &Path, words: &[&str]| Case {
        name: name.to_owned(),
        launcher: &[],
        program: program.to_owned(),
        words: words.iter().map(|&word| word.to_owned()).collect(),
    };
    let threads = compile("gcc", &["crates/marey-collect/tests/threads/programs.c"], "threads")?;
    let mut cases: Vec<Case> = THREADS.iter().map(|name| case(name, &threads, &[name])).collect();
    let cpp = compile("g++", &["crates/marey-collect/tests/threads/program.cpp"], "cpp")?;
    cases.push(case("threads of C++", &cpp, &[]));

    let api = "crates/marey-measure/tests/programs";
    compile("gcc", &["-fPIC", "-shared", &format!("{api}/library.c")], "liball.so")?;
    let (c, cxx, from) = (format!("{api}/all.c"), format!("{api}/all.cc"), format!("-L{}", dir.display()));
    let words = ["-x", "c", &c, "-x", "c++", &cxx, "-x", "none", &from, "-lall", "-Wl,-rpath,$ORIGIN"];
    cases.push(case("the API for C", &compile("g++", &words, "api")?, &[]));

    if which("mpicc.openmpi").is_none() {
        bail!("there is no Open MPI; on Debian type `sudo apt-get install openmpi-bin libopenmpi-dev`");
    }
    let scratch = dir.join("scratch").display().to_string();
    for (name, source, words) in
        [("MPI", "c_all.c", &[scratch.as_str()][..]), ("MPI with threads", "match_threads.c", &[&scratch])]
    {
        let source = format!("crates/marey/tests/programs/{source}");
        let program = compile("mpicc.openmpi", &[&source], name)?;
        let launcher = &["mpirun.openmpi", "--oversubscribe", "-n", "2"];
        cases.push(Case { launcher, ..case(name, &program, words) });
    }
    Ok(cases)
}

/// Runs a program under valgrind, with a library loaded or without, and reads what was found.
fn errors_of(dir: &Path, case: &Case, library: Option<&Path>) -> Result<Vec<Found>> {
    let (reports, spool) = (dir.join("reports"), dir.join("spool"));
    for fresh in [&reports, &spool] {
        if fresh.exists() {
            std::fs::remove_dir_all(fresh).with_context(|| format!("cannot empty {}", fresh.display()))?;
        }
        std::fs::create_dir(fresh).with_context(|| format!("cannot make {}", fresh.display()))?;
    }
    let mut run = command(case.launcher.first().unwrap_or(&"valgrind"));
    if let Some((_, words)) = case.launcher.split_first() {
        run.args(words).arg("valgrind");
    }
    if is_root() {
        run.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    // Some programs write files where they are started.
    run.current_dir(dir);
    run.args(["--quiet", "--xml=yes", "--trace-children=yes", "--num-callers=40"]);
    run.arg(format!("--xml-file={}/%p.xml", reports.display()));
    if Path::new(SUPPRESSIONS).is_file() {
        run.arg(format!("--suppressions={SUPPRESSIONS}"));
    }
    // Behind `env`, so that valgrind itself and the launcher are not measured.
    run.arg("env");
    if let Some(library) = library {
        run.arg(format!("LD_PRELOAD={}", library.display())).arg(format!("MAREY_SPOOL={}", spool.display()));
        if case.launcher.is_empty() {
            run.arg("MAREY_ALL=1");
        }
    }
    run.arg(&case.program).args(&case.words);
    finish(&mut run)?;
    if library.is_some() && !has_events(&spool) {
        bail!("{} was not recorded", case.name);
    }
    let mut found = Vec::new();
    for path in files(&reports)? {
        let text = std::fs::read_to_string(&path).with_context(|| format!("no {}", path.display()))?;
        found.extend(errors::read(&text));
    }
    Ok(found)
}

/// The program must end well: what broke under valgrind proves nothing.
fn finish(run: &mut Command) -> Result<()> {
    output(run).map(drop)
}

fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = std::fs::read_dir(dir)
        .and_then(|entries| {
            entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()
        })
        .with_context(|| format!("cannot list {}", dir.display()))?;
    paths.sort();
    Ok(paths)
}

fn has_events(spool: &Path) -> bool {
    let is_events = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "events");
    files(spool).is_ok_and(|paths| {
        paths.iter().any(|path| is_events(path) && path.metadata().is_ok_and(|file| file.len() > 0))
    })
}
