//! `marey`: the command line.
//!
//! This file only dispatches. Each command is a module with one `run` function that takes what the
//! user typed and returns an exit status; analysis, file formats and measurement live in the
//! libraries below.

use std::process::ExitCode;

use clap::Parser;

mod arrays;
mod bar;
mod budget;
mod busy;
mod cli;
mod clocks;
mod compare;
mod doctor;
mod dump;
mod embedded;
mod endings;
mod events;
mod exit;
mod explain;
mod export;
mod f90;
mod file_system;
mod format;
mod gather;
mod generate;
mod hot;
mod import;
mod info;
mod inherited;
mod instrument;
mod launchers;
mod lines;
mod link;
mod merge;
mod pack;
mod paint;
mod problems;
mod recent;
mod record;
mod remarks;
mod report;
mod run;
mod sentence;
mod source;
mod symbolize;
mod table;
mod view;
mod words;

fn main() -> ExitCode {
    inherited::survive_large_files();
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !marey_archive::panics_are_caught() {
            tell(panic);
        }
    }));
    let cli = cli::Cli::parse();
    let result = match &cli.command {
        cli::Command::Record(args) => record::run(args),
        cli::Command::Doctor(args) => doctor::run(args),
        cli::Command::Merge(args) => merge::run(args),
        cli::Command::Import(args) => import::run(args),
        cli::Command::Gather(args) => gather::run(args),
        cli::Command::Link(args) => link::run(args),
        cli::Command::F90(args) => f90::run(args),
        cli::Command::Report(args) => report::run(args),
        cli::Command::Waits(args) => explain::waits::run(args),
        cli::Command::Path(args) => explain::path::run(args),
        cli::Command::Situations(args) => explain::situations::run(args),
        cli::Command::Diff(args) => compare::diff::run(args),
        cli::Command::Check(args) => compare::check::run(args),
        cli::Command::Scale(args) => compare::scale::run(args),
        cli::Command::Phases(args) => explain::phases::run(args),
        cli::Command::Anomalies(args) => explain::anomalies::run(args),
        cli::Command::WhatIf(args) => explain::what_if::run(args),
        cli::Command::Hot(args) => hot::run(args),
        cli::Command::Arrays(args) => arrays::run(args),
        cli::Command::Sentence(args) => sentence::run(args),
        cli::Command::Source(args) => source::run(args),
        cli::Command::Remarks(args) => remarks::run(args),
        cli::Command::Instrument(args) => instrument::run(args),
        cli::Command::Lines(args) => lines::run(args),
        cli::Command::Info(args) => info::run(args),
        cli::Command::Dump(args) => dump::run(args),
        cli::Command::View(args) => view::run(args),
        cli::Command::Pack(args) => pack::run(args),
        cli::Command::Export(args) => export::run(args),
        cli::Command::Completions(args) => generate::completions(args),
        cli::Command::Man(args) => generate::man(args),
    };
    result.unwrap_or_else(|error| exit::report_error(&error))
}
