//! `marey pack`: one file out of a run.
//!
//! The one idea: what is packed can be read, so a run that is not finished, or no run at all, is refused
//! before anything is written. The format is the archive's matter.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::cli::PackArgs;
use crate::exit::{Usage, say};
use crate::run;

/// Runs the command.
pub(crate) fn run(args: &PackArgs) -> anyhow::Result<ExitCode> {
    let shown = args.run.display();
    run::open_archive(&args.run)?;
    if args.run.is_file() {
        bail!(Usage(format!("{shown} is packed already")));
    }
    let out = args.output.clone().unwrap_or_else(|| beside(&args.run, ".zip"));
    is_for_files(&out)?;
    if out.exists() && !args.force {
        bail!(Usage(format!("{} is there; use --force to replace it, or -o", out.display())));
    }
    if is_inside(&out, &args.run) {
        bail!(Usage(format!("{} lies in the run itself; choose another place with -o", out.display())));
    }
    marey_archive::pack(&args.run, &out).with_context(|| format!("cannot pack {shown}"))?;
    let bytes = std::fs::metadata(&out).map_or(0, |metadata| metadata.len());
    say(&format!("{} ({})", out.display(), crate::format::bytes(bytes)));
    Ok(ExitCode::SUCCESS)
}

/// Refuses places that a file cannot take without taking away something else: devices, pipes, `-`.
pub(crate) fn is_for_files(out: &Path) -> anyhow::Result<()> {
    if out == Path::new("-") {
        bail!(Usage(
            "nothing is written to standard output; name a file with -o (./- for one called -)".to_owned()
        ));
    }
    if out.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        bail!(Usage(format!("{} is no ordinary file; choose another place with -o", out.display())));
    }
    Ok(())
}

/// Whether a file would be written into the run, perhaps in the place of one of its tables.
pub(crate) fn is_inside(out: &Path, run: &Path) -> bool {
    let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Ok(parent), Ok(run)) = (parent.canonicalize(), run.canonicalize()) else { return false };
    parent.starts_with(run)
}

/// A name beside a run: `run.marey/` becomes `run.marey.zip`. A run that has none as it was typed, such as `.`, has one all
/// the same.
pub(crate) fn beside(run: &Path, end: &str) -> PathBuf {
    let typed = run.components().as_path();
    let mut name = match typed.file_name() {
        Some(_) => typed.as_os_str().to_owned(),
        None => run.canonicalize().unwrap_or_else(|_| typed.to_owned()).into_os_string(),
    };
    name.push(end);
    PathBuf::from(name)
}
