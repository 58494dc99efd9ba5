//! `marey instrument`: a copy of a source tree whose functions say when they are entered and left.
//!
//! The one idea: what the compiler does with `-finstrument-functions`, but for chosen functions and loops, and for Rust too.
//! The database of text says where bodies are; a guard behind the brace enters a region and leaves it however the body is
//! left. The source tree is only read.
//!
//! What is deliberately absent: building the copy. Whoever can build the sources can build it.

mod before;
mod built;
mod cargo;
mod choose;
mod copy;
mod guard;
mod head;
mod json;
mod loops;
mod page;
mod tree;
mod world;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use marey_model::Rules;
use marey_source::text::{Sources, TextConfig};

use self::cargo::Package;
use self::choose::{Choice, Chooser, Verdict};
use self::tree::{Kind, Tree};
use crate::cli::InstrumentArgs;
use crate::paint::Paint;
use crate::record::read_rules;

/// What was found and done.
struct Done {
    source: PathBuf,
    copy: Option<PathBuf>,
    tree: Tree,
    choice: Choice,
    rules: Rules,
    /// Of which a rule says other than off and trace, which the next recording can follow.
    filter: Option<PathBuf>,
    problems: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(args: &InstrumentArgs) -> anyhow::Result<ExitCode> {
    let rules = read_rules(args.filter.as_deref(), &args.rule)?;
    let source = args.source.canonicalize();
    let source = source.with_context(|| format!("cannot read {}", args.source.display()))?;
    let root = match source.is_dir() {
        true => source.clone(),
        false => source.parent().unwrap_or(Path::new("/")).to_owned(),
    };
    let place = args
        .output
        .as_deref()
        .map(|copy| copy::Place::find(&root, copy, !source.is_dir(), args.force))
        .transpose()?;
    let tree = Tree::of(&root, &source)?;
    let packages = packages(&root, &tree);
    let sealed = tree.entries.iter().filter(|it| it.path.ends_with(".cargo-checksum.json"));
    let sealed: Vec<PathBuf> = sealed.filter_map(|it| Some(it.path.parent()?.to_owned())).collect();
    let files = tree.entries.iter().filter(|it| matches!(it.kind, Kind::File));
    let files = files.map(|it| root.join(&it.path)).filter(|path| Sources::has_source_name(path));
    let sources = Sources::of_files(&files.collect::<Vec<_>>(), &TextConfig::system());
    let chooser =
        Chooser { rules: Chooser::rules(&rules), root: &root, packages: &packages, sealed: &sealed };
    let choice = chooser.choose(&sources);
    let mut problems: Vec<String> = sources.problems.iter().map(ToString::to_string).collect();
    problems.extend(unclear(&root, &sources));
    problems.extend(choice.problems.iter().cloned());
    problems.extend(tree.problems.iter().cloned());
    if let Some(package) = packages.iter().find(|it| it.inherits) {
        let has_root = packages.iter().any(|it| it.directory.as_os_str().is_empty())
            || tree.entries.iter().any(|it| it.path == Path::new("Cargo.toml"));
        if !has_root {
            let manifest = package.directory.join("Cargo.toml");
            let text = format!(
                "{} takes something from its workspace, whose root is not in the copy; give the root of the workspace",
                manifest.display()
            );
            problems.push(text);
        }
    }
    if let Some(place) = &place {
        place.write(&root, &tree, &choice, &packages)?;
    }
    let copy = args.output.clone();
    let done = Done {
        source: args.source.clone(),
        copy,
        tree,
        choice,
        rules,
        filter: args.filter.clone(),
        problems,
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.json {
        serde_json::to_writer_pretty(&mut out, &json::Json::new(&done))?;
        writeln!(out)?;
    } else {
        let paint = Paint::for_stdout();
        let paint = if args.no_color { paint.without_colour() } else { paint };
        page::print(&done, if args.list { page::Rows::All } else { page::Rows::Few }, &mut out, paint)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

impl Done {
    fn guards(&self) -> usize {
        self.choice.rows.iter().filter(|row| row.verdict == Verdict::Guarded).count()
    }
}

/// Packages of cargo.
fn packages(root: &Path, tree: &Tree) -> Vec<Package> {
    let manifests = tree.entries.iter().filter(|it| it.path.file_name().is_some_and(|it| it == "Cargo.toml"));
    let read = |path: &Path| {
        let text = std::fs::read_to_string(root.join(path)).ok()?;
        cargo::package(path.parent().unwrap_or(Path::new("")), &text)
    };
    let mut packages: Vec<Package> = manifests.filter_map(|it| read(&it.path)).collect();
    packages.sort_by(|one, other| one.directory.cmp(&other.directory));
    for package in &mut packages {
        let script = package.build_script();
        if tree.entries.binary_search_by(|it| it.path.cmp(&script)).is_ok() {
            package.read_build_script(&std::fs::read_to_string(root.join(script)).unwrap_or_default());
        }
    }
    packages
}

/// Files in which functions may be missing.
fn unclear(root: &Path, sources: &Sources) -> Vec<String> {
    let unclear: Vec<_> = sources.files.iter().filter(|file| file.unclear != 0).collect();
    let Some(worst) = unclear.iter().max_by_key(|file| file.unclear) else { return Vec::new() };
    let path = Path::new(sources.text(worst.path));
    let path = path.strip_prefix(root).unwrap_or(path);
    let parts: u64 = unclear.iter().map(|file| u64::from(file.unclear)).sum();
    vec![format!(
        "{} in {} could not be parsed; functions that stand there may have no guard; most: {}:{}",
        crate::format::counted(parts, "place"),
        crate::format::counted(unclear.len() as u64, "source"),
        path.display(),
        worst.first_unclear
    )]
}
