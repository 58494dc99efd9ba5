//! `marey export`: a run in another form.
//!
//! The one idea of a page: it asks itself what the viewer asks a server, so it holds the engine and the tables that answers are
//! made of. What leaves the machine with it is said, and with `--redact` a copy without all that takes the run's place
//! before anything is read for the page, the report included. Of two runs it also holds what differs between them, for which
//! the engine in the page has no means. All other forms are those of other tools, for which a run is told event by event
//! (`formats`).

mod formats;
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
use crate::pack::{beside, is_for_files, is_inside};
use crate::report;
use crate::run::{damaged, open_archive};
use page::{Beside, Page, Viewer};

/// Runs the command.
pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    match args.to.of_other_tools() {
        Some(form) => formats::run(args, form),
        None => page(args),
    }
}

fn page(args: &ExportArgs) -> anyhow::Result<ExitCode> {
    if args.json {
        bail!(Usage("--json is for the forms of other tools; a page says all it has to say".to_owned()));
    }
    let viewer = Viewer::built()?;
    std::iter::once(&args.run).chain(&args.other).try_for_each(|run| open_archive(run).map(drop))?;
    let out = args.output.clone().unwrap_or_else(|| beside(&args.run, ".html"));
    may_be_written(args, &out, std::slice::from_ref(&out))?;
    let (page, left_out) = if args.redact { redacted(args, &out)? } else { as_it_is(args)? };
    page.write(&viewer, &out).with_context(|| format!("cannot write {}", out.display()))?;
    let bytes = std::fs::metadata(&out).map_or(0, |metadata| metadata.len());
    say(&format!("{} ({})", out.display(), format::bytes(bytes)));
    for table in left_out {
        let what = match *table {
            "intervals" => "single visits",
            "accesses" => "single accesses to arrays",
            other => other,
        };
        let most = most_mib(args);
        say(&format!("{what} are left out: with them the run has more than {most} MiB (--most-mib)"));
    }
    if !args.redact {
        say("it tells names of nodes, paths and the command line; --redact leaves them out");
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a form may be put there: `files` are all that belong to it.
fn may_be_written(args: &ExportArgs, out: &Path, files: &[PathBuf]) -> anyhow::Result<()> {
    for file in files {
        is_for_files(file)?;
        if file.exists() && !args.force {
            bail!(Usage(format!("{} is there; use --force to replace it, or -o", file.display())));
        }
    }
    let lies_in = |run: &PathBuf| files.iter().any(|file| is_inside(file, run) || is_same(file, run));
    if std::iter::once(&args.run).chain(&args.other).any(lies_in) {
        bail!(Usage(format!("{} lies in the run itself; choose another place with -o", out.display())));
    }
    Ok(())
}

/// How much of a run a page may hold, in MiB.
fn most_mib(args: &ExportArgs) -> u64 {
    args.most_mib.unwrap_or(256)
}

type Left = &'static [&'static str];

fn as_it_is(args: &ExportArgs) -> anyhow::Result<(Page, Left)> {
    let paths: Vec<&Path> = std::iter::once(&*args.run).chain(args.other.as_deref()).collect();
    // Not where they lie, unless that alone tells them apart: it is nobody's business.
    let names = names(&paths);
    page_of(&paths, &names, most_mib(args) << 20, &exit::text_of)
}

/// A page of a run, or of two. `why` says why there is no report.
fn page_of(
    paths: &[&Path],
    names: &[String],
    most: u64,
    why: &dyn Fn(&anyhow::Error) -> String,
) -> anyhow::Result<(Page, Left)> {
    let report = |place: usize| {
        report::as_json_called(paths[place], Path::new(&names[place])).unwrap_or_else(|error| {
            serde_json::json!({ "unexplained": why(&error) }).to_string().into_bytes()
        })
    };
    let (run, left_out) = packed(paths[0], most)?;
    let page = Page { name: names[0].clone(), report: report(0), run, beside: None };
    let Some(other) = paths.get(1) else { return Ok((page, left_out)) };
    let (packed, left_out_of_other) = packed(other, most)?;
    let [compare, iterations] = answers_of_both(paths[0], other, names)?;
    let beside = Beside { name: names[1].clone(), report: report(1), run: packed, compare, iterations };
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
    let runs: Vec<&Path> = std::iter::once(&*args.run).chain(args.other.as_deref()).collect();
    let names: &[&str] = if runs.len() == 1 { &["run"] } else { &["run-1", "run-2"] };
    let aside = AsideDirectory::beside(out)?;
    let copies: Vec<PathBuf> = names.iter().map(|name| aside.0.join(name)).collect();
    let pairs: Vec<(&Path, &Path)> = runs.iter().copied().zip(copies.iter().map(PathBuf::as_path)).collect();
    let redacted = redact(&pairs, &users()).map_err(|error| match &args.other {
        None => damaged(&args.run, &error),
        Some(other) => {
            let both = format!("cannot make copies of {} and {}", args.run.display(), other.display());
            anyhow::Error::new(error).context(both)
        }
    })?;
    let copies: Vec<&Path> = copies.iter().map(PathBuf::as_path).collect();
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    // The reason would tell where the copy was.
    let why = |_: &anyhow::Error| "the report could not be made".to_owned();
    let made = page_of(&copies, &names, most_mib(args) << 20, &why)?;
    // Made of the copy, it cannot have any; what is not looked at is not known.
    let beside = made.0.beside.iter().flat_map(|it| [&it.report, &it.compare, &it.iterations]);
    let texts: Vec<_> =
        std::iter::once(&made.0.report).chain(beside).map(|it| String::from_utf8_lossy(it)).collect();
    let is_long_path = |text: &&String| text.matches('/').count() > 1 && text.len() > 6;
    let is_left = |gone: &&String| texts.iter().any(|text| text.contains(gone.as_str()));
    let left = redacted.removed.iter().filter(is_long_path).find(is_left);
    ensure!(left.is_none(), "the report still has a path that should be gone; this is a mistake of marey");
    Ok(made)
}

/// Who exports may well be who recorded.
fn users() -> Vec<String> {
    ["USER", "LOGNAME"].iter().filter_map(|name| std::env::var(name).ok()).collect()
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

fn is_same(out: &Path, run: &Path) -> bool {
    matches!((out.canonicalize(), run.canonicalize()), (Ok(out), Ok(run)) if out == run)
}

/// A directory that nobody else can open, which goes when it was used.
struct AsideDirectory(PathBuf);

impl AsideDirectory {
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

impl Drop for AsideDirectory {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            say(&format!("cannot remove {}: {error}", self.0.display()));
        }
    }
}
