//! A program that was recorded: what it printed, and what the archive says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use marey_archive::{Archive, Columns};
use tempfile::TempDir;

use crate::build::Program;

/// Numbers by names.
pub(crate) type Counts = BTreeMap<String, u64>;

/// A recorded run.
pub(crate) struct Run {
    _place: TempDir,
    stdout: String,
    archive: Archive,
}

/// A function as the archive has it.
pub(crate) struct Region {
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) line: u32,
    is_function: bool,
}

impl Run {
    /// Records a program with these options of `marey record`.
    pub(crate) fn of(program: &Program, options: &[&str]) -> Self {
        Self::of_command(&[program.path.to_str().unwrap()], options)
    }

    /// Records a command, which must succeed.
    pub(crate) fn of_command(command: &[&str], options: &[&str]) -> Self {
        let place = TempDir::new().unwrap();
        let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
        record.current_dir(place.path()).env_remove("LD_PRELOAD").env("OMPI_ALLOW_RUN_AS_ROOT", "1");
        record.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1").env("OMPI_MCA_rmaps_base_oversubscribe", "1");
        record.arg("record").args(options).arg("--").args(command);
        let output = record.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {:?} {told}", output.status);
        let archive = Archive::open(&run_of(place.path())).unwrap();
        Self { _place: place, stdout: String::from_utf8(output.stdout).unwrap(), archive }
    }

    /// What the program has counted: of functions, and of paths.
    pub(crate) fn told(&self) -> (Counts, Counts) {
        let lines = self.stdout.lines().filter_map(|line| line.rsplit_once(' '));
        lines
            .map(|(name, number)| (name.to_owned(), number.parse().unwrap()))
            .partition(|(name, _)| !name.contains('/'))
    }

    fn table(&self, name: &str) -> Columns {
        self.archive.table(name).unwrap()
    }

    fn regions(&self) -> Vec<Region> {
        let (regions, nouns) = (self.table("regions"), self.table("nouns"));
        let region = |row: usize| {
            let noun = regions.u32("noun_id").unwrap()[row] as usize;
            let kind = nouns.text("kind").unwrap().get(noun).cloned().unwrap_or_default();
            let verb = &regions.text("verb").unwrap()[row];
            let is_function = kind == "function";
            Region {
                name: if kind.is_empty() { verb.clone() } else { regions.text("noun").unwrap()[row].clone() },
                file: regions.text("file").unwrap()[row].clone(),
                line: regions.u32("line").unwrap()[row],
                is_function,
            }
        };
        (0..regions.len()).map(region).collect()
    }

    /// All functions.
    pub(crate) fn functions(&self) -> Vec<Region> {
        self.regions().into_iter().filter(|region| region.is_function).collect()
    }

    /// Visits by the names of functions, and by paths of these.
    pub(crate) fn recorded(&self) -> (Counts, Counts) {
        let (profile, paths, regions) = (self.table("profile"), self.table("call_paths"), self.regions());
        let (mut functions, mut by_path) = (Counts::new(), Counts::new());
        for row in 0..profile.len() {
            let mut at = profile.u32("call_path").unwrap()[row] as usize;
            let visits = profile.i64("visits").unwrap()[row].cast_unsigned();
            let innermost = &regions[paths.u32("region").unwrap()[at] as usize];
            if innermost.is_function && visits > 0 {
                *functions.entry(innermost.name.clone()).or_default() += visits;
            }
            let mut names = Vec::new();
            loop {
                names.insert(0, regions[paths.u32("region").unwrap()[at] as usize].name.as_str());
                match paths.u32("parent").unwrap()[at] {
                    u32::MAX => break,
                    parent => at = parent as usize,
                }
            }
            *by_path.entry(names.join("/")).or_default() += visits;
        }
        (functions, by_path)
    }

    /// How often something of this kind went wrong.
    pub(crate) fn problem(&self, kind: &str) -> u64 {
        let problems = self.table("problems");
        let rows = (0..problems.len()).filter(|&row| problems.text("kind").unwrap()[row] == kind);
        rows.map(|row| problems.i64("count").unwrap()[row].cast_unsigned()).sum()
    }

    /// Everything was recorded; what lies too deep without times.
    pub(crate) fn expect_no_problems(&self) {
        let problems = self.table("problems");
        let found: Vec<_> = (0..problems.len())
            .map(|row| (&problems.text("kind").unwrap()[row], &problems.text("detail").unwrap()[row]))
            .filter(|(kind, _)| *kind != "untimed")
            .collect();
        assert!(found.is_empty(), "{found:?}");
    }
}

fn run_of(place: &Path) -> PathBuf {
    place.join("run.marey")
}

/// Whether a name or path is meant. A star stands for what compilers tell differently, in one name.
pub(crate) fn is_called(pattern: &str, name: &str) -> bool {
    let is_one = |(pattern, name): (&str, &str)| match pattern.split_once('*') {
        None => pattern == name,
        Some((begin, end)) => {
            begin.len() + end.len() <= name.len() && name.starts_with(begin) && name.ends_with(end)
        }
    };
    let len = |path: &str| path.split('/').count();
    len(pattern) == len(name) && pattern.split('/').zip(name.split('/')).all(is_one)
}

/// Whether the archive has what the program has counted, and no other function.
pub(crate) fn same_counts(run: &Run, what: &str) {
    let ((functions, paths), (found, found_paths)) = (run.told(), run.recorded());
    assert!(!functions.is_empty(), "{what}: {}", run.stdout);
    let sum = |pattern: &str, counts: &Counts| -> u64 {
        counts.iter().filter(|(name, _)| is_called(pattern, name)).map(|(_, number)| number).sum()
    };
    for (name, &number) in &functions {
        assert_eq!(sum(name, &found), number, "{what}: {name} in {found:#?}");
    }
    for (path, &number) in &paths {
        assert_eq!(sum(path, &found_paths), number, "{what}: {path} in {found_paths:#?}");
    }
    let others: Vec<_> =
        found.keys().filter(|name| !functions.keys().any(|pattern| is_called(pattern, name))).collect();
    assert!(others.is_empty(), "{what}: {others:?} were not counted by the program");
}
