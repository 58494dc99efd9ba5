//! A program: its sources in a directory of their own, and what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use marey_archive::Archive;
use tempfile::TempDir;

/// A file and a line.
pub(crate) type Place = (String, u64);
/// Calls by where a function stands, and its name.
pub(crate) type Counts = BTreeMap<(Place, String), u64>;
/// Standard output and exit code.
pub(crate) type Output = (String, Option<i32>);

/// Sources, and what was made of them.
pub(crate) struct Program {
    place: Rc<TempDir>,
    /// `src`, or the name of a copy.
    name: String,
}

/// The command, in a directory.
pub(crate) fn marey(dir: &Path) -> Command {
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    marey.current_dir(dir).env("XDG_STATE_HOME", dir.join(".state")).env_remove("LD_PRELOAD");
    marey
}

impl Program {
    /// Sources of these tests. `None` is never: it makes callers look alike.
    pub(crate) fn of(files: &[impl AsRef<str>]) -> Option<Self> {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/instrument/programs");
        let it = Self { place: Rc::new(TempDir::new().unwrap()), name: "src".to_owned() };
        for file in files {
            // A manifest of that name would be a package of ours.
            let to = it.root().join(file.as_ref().replace("manifest.toml", "Cargo.toml"));
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            let text = std::fs::read_to_string(programs.join(file.as_ref())).unwrap();
            let forbids = ["#![forbid(unsafe", "_code)]"].concat();
            std::fs::write(to, text.replace("// Here the test forbids unsafe code.", &forbids)).unwrap();
        }
        Some(it)
    }

    /// Another directory beside those of a program.
    pub(crate) fn at(beside: &Self, name: &str) -> Self {
        Self { place: Rc::clone(&beside.place), name: name.to_owned() }
    }

    /// The directory around sources and copies.
    pub(crate) fn dir(&self) -> &Path {
        self.place.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.path(&self.name)
    }

    /// The copy, and what was said of it.
    pub(crate) fn instrumented(&self, options: &[&str]) -> (Self, serde_json::Value) {
        let name =
            (0..).map(|number| format!("copy{number}")).find(|name| !self.path(name).exists()).unwrap();
        let mut command = marey(self.dir());
        let output =
            command.args(["instrument", "src", "--json", "-o", &name]).args(options).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let json = serde_json::from_slice(&output.stdout).unwrap();
        (Self { place: Rc::clone(&self.place), name }, json)
    }

    /// Compiles a source; `None`, said aloud, without such a compiler.
    pub(crate) fn compile(&self, compiler: &str, source: &str, flags: &[&str]) -> Option<String> {
        let mut command = Command::new(compiler);
        command.current_dir(self.root()).args(["-g", "-pthread", source, "-o", "program"]).args(flags);
        match command.output() {
            Err(error) => {
                marey_testkit::skip(&format!("{compiler}: {error}"));
                None
            }
            Ok(output) => {
                let told = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{command:?}: {told}");
                Some("./program".to_owned())
            }
        }
    }

    /// What a compiler warns about, by file and line.
    pub(crate) fn warnings(&self, compiler: &str, source: &str) -> Vec<String> {
        let mut command = Command::new(compiler);
        command.current_dir(self.root()).args(if source.ends_with(".c") {
            // Some of what it warns about it finds when it optimises.
            ["-S", "-O2", "-o", "program.s", source].to_vec()
        } else {
            ["-fsyntax-only", source].to_vec()
        });
        command.args(["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wredundant-decls", "-Wconversion"]);
        let output = command.arg("-fno-diagnostics-show-caret").output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        let warnings = told.lines().filter(|line| line.contains("warning:") || line.contains("note:"));
        let without_column = |line: &str| {
            let parts: Vec<&str> = line.splitn(4, ':').collect();
            format!("{}:{}:{}", parts[0], parts[1], parts[3])
        };
        warnings.map(without_column).collect()
    }

    /// Builds a package; `None`, said aloud, without cargo.
    pub(crate) fn cargo(&self, package: &str) -> Option<String> {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(["build", "--offline", "--quiet"]).current_dir(self.root().join(package));
        for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET"] {
            command.env_remove(variable);
        }
        let Ok(output) = command.output() else {
            marey_testkit::skip("cargo");
            return None;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(format!("./{package}/target/debug/various-things"))
    }

    /// What a program prints and how it ends.
    pub(crate) fn run(&self, binary: &str) -> Output {
        // Counts of coverage add up over runs.
        for file in std::fs::read_dir(self.root()).unwrap().flatten() {
            if file.path().extension().is_some_and(|it| it == "gcda") {
                std::fs::remove_file(file.path()).unwrap();
            }
        }
        let output = Command::new(binary).current_dir(self.root()).output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), output.status.code())
    }

    /// The same recorded, and the calls of all functions and loops.
    pub(crate) fn recorded(&self, command: &[&str], options: &[&str]) -> (Output, Counts) {
        let mut record = marey(&self.root());
        record.args(["record", "--force", "-o", "run.marey"]).args(options).arg("--").args(command);
        let output = record.output().unwrap();
        let status = (String::from_utf8(output.stdout).unwrap(), output.status.code());
        let archive = Archive::open(&self.root().join("run.marey")).unwrap();
        let table = |name: &str| archive.table(name).unwrap();
        let (profile, paths, regions, nouns) =
            (table("profile"), table("call_paths"), table("regions"), table("nouns"));
        let mut counts = Counts::new();
        for row in 0..profile.len() {
            let path = profile.u32("call_path").unwrap()[row] as usize;
            let region = paths.u32("region").unwrap()[path] as usize;
            let noun = regions.u32("noun_id").unwrap()[region] as usize;
            if nouns.text("kind").unwrap().get(noun).is_none_or(|kind| kind != "region") {
                continue;
            }
            let name = regions.text("noun").unwrap()[region].clone();
            let place =
                (regions.text("file").unwrap()[region].clone(), regions.u32("line").unwrap()[region].into());
            let visits = profile.i64("visits").unwrap()[row].cast_unsigned();
            *counts.entry((place, name)).or_default() += visits;
        }
        counts.retain(|_, visits| *visits > 0);
        (status, counts)
    }

    /// What a command says of the run that was recorded last.
    pub(crate) fn json(&self, command: &str) -> serde_json::Value {
        let output = marey(&self.root()).args([command, "run.marey", "--json"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Visits of a region that were kept one by one.
    pub(crate) fn intervals(&self, region: &str) -> usize {
        let output = marey(&self.root()).args(["dump", "run.marey", "--json"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        text.lines().filter(|line| line.contains(&format!("\"{region}\""))).count()
    }

    /// Calls of functions as gcov counts them.
    pub(crate) fn gcov(&self, source: &str) -> Counts {
        let mut counts = Counts::new();
        self.coverage(source, |file, json| {
            for function in json["functions"].as_array().unwrap() {
                let line = function["start_line"].as_u64().unwrap();
                let name = function["demangled_name"].as_str().unwrap();
                let name = if name.contains("lambda") { name } else { function["name"].as_str().unwrap() };
                let key = ((file.to_owned(), line), name.to_owned());
                *counts.entry(key).or_default() += function["execution_count"].as_u64().unwrap();
            }
        });
        counts
    }

    /// Lines that gcov knows of.
    pub(crate) fn gcov_lines(&self, source: &str) -> BTreeSet<Place> {
        let mut lines = BTreeSet::new();
        self.coverage(source, |file, json| {
            let numbers = json["lines"].as_array().unwrap().iter();
            lines.extend(numbers.map(|line| (file.to_owned(), line["line_number"].as_u64().unwrap())));
        });
        lines
    }

    fn coverage(&self, source: &str, mut take: impl FnMut(&str, &serde_json::Value)) {
        let stem = Path::new(source).with_extension("");
        let notes = format!("program-{}.gcda", stem.display());
        let mut gcov = Command::new("gcov");
        gcov.args(["--json-format", "--stdout", &notes]).current_dir(self.root());
        let output = gcov.output().expect("gcov comes with gcc");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        for file in json["files"].as_array().unwrap() {
            let name = file["file"].as_str().unwrap();
            // Of templates of the library there are many.
            if name.starts_with("various") {
                take(name, file);
            }
        }
    }
}
