//! What manifests of cargo say of the sources beside them.
//!
//! The one idea: a handful of facts is needed (names of crates and of their root files), which everybody writes as
//! `key = "value"` below a heading; they are read so, instead of by a parser of all of TOML. The dependency is a table of its
//! own at the end of a manifest, so nothing that stands in it is touched.

use std::path::{Path, PathBuf};

use super::guard::fnv1a;

/// The directory of the crate that guards come from, in the copy.
pub(super) const CRATE: &str = "marey-instrument";

/// A package.
#[derive(Debug, Default)]
pub(super) struct Package {
    /// Its directory, below the source tree.
    pub(super) directory: PathBuf,
    name: String,
    /// The library's, if it is not called like the package.
    library: Option<String>,
    /// Whether its functions run in the compiler.
    pub(super) is_proc_macro: bool,
    /// The script that runs when it is built, in its directory.
    build: Option<PathBuf>,
    /// Its modules without their endings, below the source tree.
    modules: Vec<PathBuf>,
    /// Whether it names other files.
    takes_in: bool,
    /// Root files that the manifest names, with their crates.
    roots: Vec<(PathBuf, String)>,
    /// Whether it takes something from a manifest of a directory above.
    pub(super) inherits: bool,
}

/// What a manifest says.
pub(super) fn package(directory: &Path, text: &str) -> Option<Package> {
    let mut it = Package { directory: directory.to_owned(), ..Package::default() };
    let mut heading = "";
    // The name and the path of the target that is being read.
    let mut target: (Option<String>, Option<String>) = (None, None);
    let mut is_package = false;
    for line in text.lines().map(str::trim).chain(["[end]"]) {
        if line.starts_with('[') {
            if let (Some(path), true) = (target.1.take(), is_target(heading)) {
                let name = target.0.take().or_else(|| it.library.clone());
                it.roots.push((PathBuf::from(path), name.unwrap_or_else(|| it.name.clone())));
            }
            target = (None, None);
            heading = line.split('#').next().unwrap_or(line).trim().trim_matches(['[', ']']).trim();
            is_package |= heading == "package";
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let (key, value) = (key.trim(), value.trim());
        let text = value.strip_prefix(['"', '\'']).and_then(|value| value.split(['"', '\'']).next());
        let text = text.map(str::to_owned);
        match (heading, key) {
            ("package", "name") => it.name = text.unwrap_or_default(),
            ("package", "build") => it.build = text.map(PathBuf::from),
            ("lib", "proc-macro" | "proc_macro") => it.is_proc_macro = value.starts_with("true"),
            ("lib", "name") => {
                it.library.clone_from(&text);
                target.0 = text;
            }
            (_, "name") if is_target(heading) => target.0 = text,
            (_, "path") if is_target(heading) => target.1 = text,
            _ => {}
        }
        it.inherits |= key.ends_with(".workspace") || value.contains("workspace = true");
    }
    is_package.then_some(it)
}

/// Whether what stands below a heading is compiled by itself.
fn is_target(heading: &str) -> bool {
    matches!(heading, "lib" | "bin" | "example" | "test" | "bench")
}

/// The number of the package that a path is of, among packages in the order of their directories.
pub(super) fn around(packages: &[Package], path: &Path) -> Option<usize> {
    let number =
        |directory: &Path| packages.binary_search_by(|it| it.directory.as_path().cmp(directory)).ok();
    path.ancestors().skip(1).find_map(number)
}

impl Package {
    /// The script that runs when the package is built, whether there is one or not.
    pub(super) fn build_script(&self) -> PathBuf {
        self.directory.join(self.build.as_deref().unwrap_or(Path::new("build.rs")))
    }

    /// Takes what the script says: which files are its modules, and whether it may take in others.
    pub(super) fn read_build_script(&mut self, text: &str) {
        self.takes_in = text.contains("include!") || text.contains("#[path");
        for (_, rest) in text.match_indices("mod ").map(|(at, word)| text.split_at(at + word.len())) {
            let name: String =
                rest.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if !name.is_empty() && rest.trim_start()[name.len()..].trim_start().starts_with(';') {
                self.modules.push(self.build_script().with_file_name(name));
            }
        }
    }

    /// Whether a file is the script that runs when the package is built, or one of its modules.
    pub(super) fn is_of_build_script(&self, path: &Path) -> bool {
        path == self.build_script()
            || self.modules.iter().any(|it| path == it.with_extension("rs") || path.starts_with(it))
    }

    /// Whether the script may have guards, because it takes in files of the package.
    pub(super) fn for_build_script(&self) -> ForBuildScript {
        if self.takes_in { ForBuildScript::Too } else { ForBuildScript::No }
    }

    /// The crate and the modules that a file is, by where it lies. What `#[path]` says is not asked.
    pub(super) fn module(&self, path: &Path) -> String {
        let inside = path.strip_prefix(&self.directory).unwrap_or(path).with_extension("");
        let library = self.library.as_ref().unwrap_or(&self.name);
        let named = self.roots.iter().filter_map(|(root, name)| {
            let directory = root.parent().unwrap_or(Path::new(""));
            let is_root = root.with_extension("") == inside;
            let below = inside.strip_prefix(directory).ok()?;
            // The usual places are looked at below.
            let is_usual = !is_root && (directory == Path::new("src") || directory == Path::new(""));
            let len = if is_root { usize::MAX } else { directory.components().count() };
            (!is_usual).then(|| (len, name, if is_root { PathBuf::new() } else { below.to_owned() }))
        });
        let (name, below) = match named.max_by_key(|(len, ..)| *len) {
            Some((_, name, below)) => (name.clone(), below),
            None => usual(&inside, &self.name, library),
        };
        let mut modules: Vec<String> =
            below.iter().map(|module| module.to_string_lossy().into_owned()).collect();
        let is_root = modules.len() == 1 && matches!(modules[0].as_str(), "main" | "lib");
        if is_root || modules.last().is_some_and(|last| last == "mod") {
            modules.pop();
        }
        modules.insert(0, name.replace('-', "_"));
        modules.join("::")
    }
}

/// The crate of a file, and its modules, where cargo looks by itself.
fn usual(inside: &Path, package: &str, library: &str) -> (String, PathBuf) {
    let parts: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let (name, modules) = match parts.as_slice() {
        ["src", "bin", name, modules @ ..] | ["tests" | "examples" | "benches", name, modules @ ..] => {
            (*name, modules)
        }
        ["src", "main"] => (package, &[][..]),
        ["src", modules @ ..] => (library, modules),
        modules => (library, modules),
    };
    (name.to_owned(), modules.iter().collect())
}

/// A manifest with the dependency at its end. `up` is the way to the root of the copy.
pub(super) fn with_dependency(
    text: &str,
    up: &str,
    crate_: &str,
    for_build_script: ForBuildScript,
) -> String {
    let mut text = text.to_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let mut tables = vec!["dependencies"];
    if for_build_script == ForBuildScript::Too {
        tables.push("build-dependencies");
    }
    for table in tables {
        text.push_str(&format!("\n[{table}.{CRATE}]\npath = \"{up}{CRATE}\"\npackage = \"{crate_}\"\n"));
    }
    text
}

/// Whether the script that runs when the package is built has guards, because it takes in a file of the package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ForBuildScript {
    No,
    Too,
}

/// The name of the crate that guards come from, in the copy of a source tree: one build may have copies of several, and packages
/// of one name and version would be one to cargo.
pub(super) fn crate_of(root: &Path) -> String {
    format!("{CRATE}-{:08x}", fnv1a(root.as_os_str().as_encoded_bytes()))
}

/// The manifest of that crate.
pub(super) fn manifest(crate_: &str) -> String {
    format!("[package]\nname = \"{crate_}\"\n{MANIFEST}")
}

const MANIFEST: &str = "\
version = \"0.1.0\"
edition = \"2021\"
description = \"What guards call that `marey instrument` has put into functions\"
publish = false

[lib]
path = \"lib.rs\"
test = false
doctest = false
";
