//! `marey export`: a run in another form.
//!
//! The one idea: a page asks itself what the viewer asks a server, so it holds the engine and the tables that answers are
//! made of. What leaves the machine with it is said, and with `--redact` a copy without all that takes the run's place
//! before anything is read for the page, the report included. Of two runs it also holds what differs between them, for which
//! the engine in the page has no means.

mod page;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use marey_archive::{Archive, pack_tables, redact};
use marey_serve::{Opened, SPARED, TABLES, answer};

use crate::cli::ExportArgs;
use crate::compare::names;
use crate::compare::viewed::compared;
use crate::exit::{self, Usage, say};
use crate::format;
use crate::pack::{is_for_files, is_inside};
use crate::report;
use crate::run::{damaged, open_archive};
use page::{Beside, Page, Viewer};

/// Runs the command.
pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let viewer = Viewer::built()?;
    open_archive(&args.run)?;
    if args.redact && args.other.is_some() {
        bail!(Usage(
            "--redact is for one run: files would go by other names in each, and could not be compared"
                .to_owned()
        ));
    }
    let out = args.output.clone().unwrap_or_else(|| beside(&args.run));
    is_for_files(&out)?;
    if out.exists() && !args.force {
        bail!(Usage(format!("{} is there; use --force to replace it, or -o", out.display())));
    }
    let lies_in = |run: &PathBuf| is_inside(&out, run) || is_same(&out, run);
    if std::iter::once(&args.run).chain(&args.other).any(lies_in) {
        bail!(Usage(format!("{} lies in the run itself; choose another place with -o", out.display())));
    }
    let (page, left_out) = if args.redact { redacted(args, &out)? } else { as_it_is(args)? };
    page.write(&viewer, &out).with_context(|| format!("cannot write {}", out.display()))?;
    let bytes = std::fs::metadata(&out).map_or(0, |metadata| metadata.len());
    say(&format!("{} ({})", out.display(), format::bytes(bytes)));
    for table in left_out {
        let what = if *table == "intervals" { "single visits" } else { table };
        say(&format!(
            "{what} are left out: with them the run has more than {} MiB (--most-mib)",
            args.most_mib
        ));
    }
    if !args.redact {
        say("it tells names of nodes, paths and the command line; --redact leaves them out");
    }
    Ok(ExitCode::SUCCESS)
}

type Left = &'static [&'static str];

fn as_it_is(args: &ExportArgs) -> anyhow::Result<(Page, Left)> {
    let paths: Vec<&Path> = std::iter::once(&*args.run).chain(args.other.as_deref()).collect();
    // Not where they lie, unless that alone tells them apart: it is nobody's business.
    let names = names(&paths);
    let report = |run: &Path, name: &str| {
        report::as_json_called(run, Path::new(name)).unwrap_or_else(|error| {
            serde_json::json!({ "unexplained": exit::text_of(&error) }).to_string().into_bytes()
        })
    };
    let most = args.most_mib << 20;
    let (run, left_out) = packed(&args.run, most)?;
    let page = Page { name: names[0].clone(), report: report(&args.run, &names[0]), run, beside: None };
    let Some(other) = &args.other else { return Ok((page, left_out)) };
    let (packed, left_out_of_other) = packed(other, most)?;
    let [compare, iterations] = answers_of_both(&args.run, other, &names)?;
    let report = report(other, &names[1]);
    let beside = Beside { name: names[1].clone(), report, run: packed, compare, iterations };
    // What more is left out of one is left out of what can be compared.
    let left_out = if left_out.len() < left_out_of_other.len() { left_out_of_other } else { left_out };
    Ok((Page { beside: Some(beside), ..page }, left_out))
}

/// What is asked about two runs, answered.
fn answers_of_both(base: &Path, other: &Path, names: &[String]) -> anyhow::Result<[Vec<u8>; 2]> {
    let archives = [open_archive(base)?, open_archive(other)?];
    let opened = |place: usize, path: &Path| {
        Opened::new(&archives[place], &names[place], Vec::new).map_err(|error| damaged(path, &error))
    };
    let (run, second) = (opened(0, base)?, opened(1, other)?);
    let paths = (base.to_owned(), other.to_owned());
    let compare = move || compared(&paths.0, &paths.1).map_err(|error| exit::text_of(&error));
    let both = run.beside(second, compare);
    Ok([br#"{"ask":"compare"}"#.as_slice(), br#"{"ask":"iterations"}"#].map(|request| answer(&both, request)))
}

fn redacted(args: &ExportArgs, out: &Path) -> anyhow::Result<(Page, Left)> {
    const NAME: &str = "run";
    let copy = Aside::beside(out)?;
    let redacted = redact(&args.run, &copy.0).map_err(|error| damaged(&args.run, &error))?;
    let report = report::as_json_called(&copy.0, Path::new(NAME)).unwrap_or_else(|_| {
        // The reason would tell where the copy was.
        serde_json::json!({ "unexplained": "the report could not be made" }).to_string().into_bytes()
    });
    // Made of the copy, it cannot have any; what is not looked at is not known.
    let text = String::from_utf8_lossy(&report);
    let is_long_path = |text: &&String| text.matches('/').count() > 1 && text.len() > 6;
    let left = redacted.removed.iter().filter(is_long_path).find(|removed| text.contains(removed.as_str()));
    ensure!(left.is_none(), "the report still has a path that should be gone; this is a mistake of marey");
    let (run, left_out) = packed(&copy.0, args.most_mib << 20)?;
    Ok((Page { name: NAME.to_owned(), report, run, beside: None }, left_out))
}

/// The tables that answers are made of, as many as fit, and which do not.
fn packed(run: &Path, most: u64) -> anyhow::Result<(Vec<u8>, Left)> {
    let archive = Archive::open_as_merged(run).map_err(|error| damaged(run, &error))?;
    let of_table = |table: &&str| archive.bytes(table);
    let sizes: Result<Vec<u64>, _> = TABLES.iter().map(of_table).collect();
    let sizes = sizes.map_err(|error| damaged(run, &error))?;
    let kept = |spared: Left| TABLES.iter().zip(&sizes).filter(|(table, _)| !spared.contains(table));
    let mut least = 0;
    for spared in SPARED {
        least = kept(spared).map(|(_, bytes)| bytes).sum();
        // What is empty anyway is not worth a word.
        let is_there = |table: &&str| !archive.parts(table).is_empty();
        if least <= most && spared.iter().all(is_there) {
            let tables: Vec<&str> = kept(spared).map(|(table, _)| *table).collect();
            let bytes = pack_tables(run, &tables, spared).map_err(|error| damaged(run, &error))?;
            return Ok((opens(run, bytes)?, spared));
        }
    }
    bail!(
        "the run is too large for a page: without single visits and messages it has {}; --most-mib {} allows that",
        format::bytes(least),
        least.div_ceil(1 << 20)
    )
}

/// What was packed, if a page can open it.
fn opens(run: &Path, bytes: Vec<u8>) -> anyhow::Result<Vec<u8>> {
    let archive = Archive::open_in_memory(run, bytes.clone()).map_err(|error| damaged(run, &error))?;
    Opened::new(&archive, "", Vec::new).map_err(|error| damaged(run, &error))?;
    Ok(bytes)
}

/// `run.marey/` becomes `run.marey.html`.
fn beside(run: &Path) -> PathBuf {
    let mut name = run.components().as_path().as_os_str().to_owned();
    name.push(".html");
    PathBuf::from(name)
}

fn is_same(out: &Path, run: &Path) -> bool {
    matches!((out.canonicalize(), run.canonicalize()), (Ok(out), Ok(run)) if out == run)
}

/// A directory that nobody else can open, which goes when it was used.
struct Aside(PathBuf);

impl Aside {
    fn beside(out: &Path) -> anyhow::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        let mut name = out.as_os_str().to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let path = PathBuf::from(name);
        let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            say(&format!("cannot remove {}: {error}", self.0.display()));
        }
    }
}
