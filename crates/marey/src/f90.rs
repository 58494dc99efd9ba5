//! `marey f90`: coarray Fortran, compiled so that its coarrays can be recorded.
//!
//! The one idea: all that is needed is the library of coarrays as a shared one; the compiler itself knows whether it has
//! that, and for which MPI it is.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, bail};

use crate::cli::F90Args;
use crate::doctor::quote;
use crate::exit::say;

/// Runs the command.
pub(crate) fn run(args: &F90Args) -> anyhow::Result<ExitCode> {
    let is_named = args.arguments.iter().any(|word| word.as_encoded_bytes().starts_with(b"-lcaf"));
    let mut words: Vec<OsString> = vec!["-fcoarray=lib".into()];
    words.extend(args.arguments.iter().cloned());
    // Who only compiles links nothing.
    let is_linked = !args.arguments.iter().any(|word| word == "-c" || word == "-S" || word == "-E");
    if is_linked && !is_named {
        if let Err(error) = Command::new(&args.compiler).arg("--version").output() {
            return Ok(cannot_run(&args.compiler, &error));
        }
        words.push(library(&args.compiler)?);
    }
    if args.show {
        let line: Vec<String> = std::iter::once(&args.compiler)
            .chain(&words)
            .map(|word| quote(&word.to_string_lossy()))
            .collect();
        writeln!(std::io::stdout(), "{}", line.join(" ")).context("cannot write to standard output")?;
        return Ok(ExitCode::SUCCESS);
    }
    match Command::new(&args.compiler).args(&words).status() {
        Ok(status) => {
            let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
            Ok(ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
        }
        Err(error) => Ok(cannot_run(&args.compiler, &error)),
    }
}

fn cannot_run(compiler: &OsStr, error: &std::io::Error) -> ExitCode {
    say(&format!("error: cannot run {}: {error}; --compiler names another", compiler.display()));
    ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 })
}

/// The word that links the shared library of coarrays for the MPI of a compiler.
fn library(compiler: &OsStr) -> anyhow::Result<OsString> {
    let is_mpich = ask(compiler, "-show").is_some_and(|line| line.contains("mpich"));
    let own = if is_mpich { "caf_mpich" } else { "caf_openmpi" };
    for name in [own, "caf_mpi"] {
        let found = ask(compiler, &format!("-print-file-name=lib{name}.so"));
        // What it does not find it gives back as it is.
        if found.is_some_and(|path| Path::new(path.trim()).is_absolute() && Path::new(path.trim()).exists()) {
            return Ok(format!("-l{name}").into());
        }
    }
    let package = if is_mpich { "libcoarrays-mpich-dev" } else { "libcoarrays-openmpi-dev" };
    bail!(
        "{} finds no shared library of coarrays (lib{own}.so, libcaf_mpi.so); install OpenCoarrays, in Debian the package \
         {package}, or say where it is with -L DIR and -lcaf_mpi",
        compiler.display()
    );
}

/// What a compiler says to one word; `None` if it says nothing.
fn ask(compiler: &OsStr, word: &str) -> Option<String> {
    let output = Command::new(compiler).arg(word).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}
