//! `cargo xtask demo`: records a real MPI program and prints where its time went.
//!
//! The program is Debian's LAMMPS with an input of our own, because a demo of a tool for unmodified
//! programs should not come with a program of its own. Without MPI it records a threaded example.

use crate::setup;
use crate::shell::{cargo, command, root, run, succeeds, target, which};
use crate::ui;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Sets up, builds, records, reports.
pub(crate) fn run_all() -> Result<()> {
    setup::debian_packages(setup::MPI_PACKAGES);
    if ui::set_up() {
        ui::build()?;
    }
    run(&mut cargo(["build", "--release", "--package", "marey"]))?;

    let marey = target().join("release/marey");
    let dir = target().join("demo");
    // The directory is ours alone, and a finished run is never overwritten.
    if dir.exists() {
        fs::remove_dir_all(&dir).with_context(|| format!("cannot empty {}", dir.display()))?;
    }
    fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let archive = dir.join("run.marey");

    let program = match lammps() {
        Some(program) => program,
        None => threads_example()?,
    };
    println!("\n── record ──");
    run(&mut recorded(&marey, &archive, &program))?;
    println!("\n── report ──");
    run(command(&marey).arg("report").arg(&archive))?;
    println!("\n`{} view {}` shows it in the browser", marey.display(), archive.display());
    Ok(())
}

/// A command line and the environment it needs.
struct Program {
    words: Vec<String>,
    environment: Vec<(&'static str, &'static str)>,
}

/// Two ranks of LAMMPS, of which one has more than twice as many atoms as the other, if Open MPI and LAMMPS are here and start.
fn lammps() -> Option<Program> {
    let absent = ["mpirun.openmpi", "lmp"].into_iter().find(|program| which(program).is_none());
    if let Some(absent) = absent {
        println!("demo: there is no {absent}, so a threaded example is recorded instead of an MPI program");
        return None;
    }
    // One thread a rank, or each rank starts as many as there are processors.
    let mut environment = vec![("OMP_NUM_THREADS", "1")];
    if setup::is_root() {
        environment.extend([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    }
    let mut probe = command("mpirun.openmpi");
    probe.envs(environment.iter().copied()).args(["-n", "2", "--oversubscribe", "true"]);
    if !succeeds(&mut probe) {
        println!("demo: mpirun.openmpi cannot start jobs here, so a threaded example is recorded instead");
        return None;
    }
    let words = "mpirun.openmpi -n 2 --oversubscribe lmp -in examples/lammps/in.uneven -log none";
    Some(Program { words: words.split(' ').map(str::to_owned).collect(), environment })
}

/// Builds the threaded example.
fn threads_example() -> Result<Program> {
    run(&mut cargo(["build", "--release", "--package", "marey", "--example", "threads"]))?;
    let path: PathBuf = target().join("release/examples/threads");
    let path = path.strip_prefix(root()).map(Path::to_path_buf).unwrap_or(path);
    Ok(Program { words: vec![path.display().to_string()], environment: Vec::new() })
}

fn recorded(marey: &Path, archive: &Path, program: &Program) -> Command {
    let mut record = command(marey);
    record.envs(program.environment.iter().copied());
    record.arg("record").arg("-o").arg(archive).arg("--").args(&program.words);
    record
}
