//! `marey completions` and `marey man`.
//!
//! The one idea: shell completions and manual pages are made from the same definitions as the help, so
//! there is nothing to keep in step.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs, ManArgs};

/// `marey completions`
pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "marey", &mut script);
    std::io::stdout().write_all(&script).context("cannot write to standard output")?;
    Ok(ExitCode::SUCCESS)
}

/// `marey man`
pub(crate) fn man(args: &ManArgs) -> anyhow::Result<ExitCode> {
    let command = Cli::command();
    if let Some(directory) = &args.directory {
        let cannot = || format!("cannot write manual pages to {}", directory.display());
        std::fs::create_dir_all(directory).with_context(cannot)?;
        clap_mangen::generate_to(command, directory).with_context(cannot)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).context("cannot render the manual page")?;
    std::io::stdout().write_all(&page).context("cannot write to standard output")?;
    Ok(ExitCode::SUCCESS)
}
