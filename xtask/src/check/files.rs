//! Rules about the text of files: unsafe code, exported symbols, size, heads, foreign paths, tests
//! that skip themselves, and whether the documents name the crates that exist.
//!
//! Plain searches in text, on purpose: the compiler denies `unsafe` already, so here it is enough
//! to find who lifted that, and a rule that one can read in a minute is a rule one can trust.

use super::{Finding, TrackedFile};
use crate::shell::root;

/// Where `unsafe` may be allowed, and why there.
const UNSAFE: &[(&str, &str)] = &[
    ("crates/marey-measure/", "writes spools through a memory map, from signal handlers too"),
    ("crates/marey-collect/", "is called by foreign code and calls it"),
    ("crates/marey-page/src/lib.rs", "has names that a page calls"),
    ("crates/marey-rust/examples/tasks/mixed.rs", "is a program that calls MPI"),
    ("crates/marey/src/inherited.rs", "hands on signal dispositions, which no safe interface shows"),
];

/// Files that may be longer than [`MAX_LINES`], and why.
const LONG_FILES: &[(&str, &str)] = &[
    ("crates/marey-collect/src/mpi/table.rs", "generated from the headers of both MPIs"),
    ("docs/archive.md", "generated from the schema"),
    ("Cargo.lock", "written by cargo"),
    ("benches/peers/Cargo.lock", "written by cargo"),
];

/// A file over 500 lines deserves a thought; over this it holds two ideas.
const MAX_LINES: usize = 800;

/// Ends of the names of files that people write by the line.
const WRITTEN: &[&str] = &[".rs", ".c", ".h", ".f90", ".py", ".ts", ".tsx", ".css", ".md", ".lock"];

/// Hosts that a manifest or a lock file may name: the public ones that everybody reaches.
const HOSTS: &[&str] = &[
    "github.com",
    "docs.rs",
    "json-schema.org",
    // Where packages of npm say that they take money, in the lock.
    "opencollective.com",
    "tidelift.com",
];

pub(super) fn check(files: &[TrackedFile]) -> Vec<Finding> {
    let machine = MachinePaths::of_this_machine();
    let mut findings = Vec::new();
    for file in files {
        findings.extend(unsafe_allowed(file));
        findings.extend(exported_symbols(file));
        findings.extend(length(file));
        findings.extend(head(file));
        findings.extend(lints_inherited(file));
        findings.extend(machine.named_in(file));
        findings.extend(foreign_hosts(file));
        findings.extend(silent_skips(file));
    }
    findings.extend(documents(files));
    findings
}

/// The lint `unsafe_code` denies every block; lifting it is what needs a place on the list.
fn unsafe_allowed(file: &TrackedFile) -> Vec<Finding> {
    let listed = UNSAFE.iter().any(|(place, _)| file.path.starts_with(place));
    if !file.path.starts_with("crates/") || !file.path.ends_with(".rs") || listed {
        return Vec::new();
    }
    let lifts = |line: &str| line.contains("unsafe_code") && line.contains("#");
    lines_with(file, lifts, "unsafe code is allowed here", {
        "find a safe way, or move it to marey-measure or marey-collect; UNSAFE in xtask/src/check/files.rs is the list"
    })
}

fn exported_symbols(file: &TrackedFile) -> Vec<Finding> {
    // The latter's are those of a module of WebAssembly, which no program meets.
    let collect = ["crates/marey-collect/", "crates/marey-page/"].iter().any(|it| file.path.starts_with(it));
    // An example is a program of its own: one plays the part of the preloaded library in tests.
    let example = file.path.contains("/examples/") || file.path.contains("/tests/");
    if !file.path.starts_with("crates/") || !file.path.ends_with(".rs") || collect || example {
        return Vec::new();
    }
    let exports = |line: &str| {
        let line = line.trim_start();
        line.starts_with("#[") && (line.contains("no_mangle") || line.contains("export_name"))
    };
    lines_with(
        file,
        exports,
        "a symbol is exported",
        "export it from marey-collect, the only crate with a C interface",
    )
}

fn length(file: &TrackedFile) -> Vec<Finding> {
    let lines = file.text.lines().count();
    let listed = LONG_FILES.iter().any(|(path, _)| file.path == *path);
    let written = WRITTEN.iter().any(|end| file.path.ends_with(end));
    if lines <= MAX_LINES || listed || !written {
        return Vec::new();
    }
    vec![Finding {
        what: format!("file has {lines} lines, more than {MAX_LINES}"),
        place: file.path.clone(),
        remedy: "split it by idea; tables and generated files may go on LONG_FILES in xtask/src/check/files.rs",
    }]
}

fn head(file: &TrackedFile) -> Vec<Finding> {
    let fixture =
        ["/fixtures/", "/snapshots/", "/tests/programs/"].iter().any(|part| file.path.contains(part));
    if !file.path.ends_with(".rs") || fixture || file.text.starts_with("//!") {
        return Vec::new();
    }
    vec![Finding {
        what: "file does not say what it is for".into(),
        place: format!("{}:1", file.path),
        remedy: "begin it with //! and what it is for, its one idea, what it deliberately does not do",
    }]
}

/// Without this line none of the workspace's lints, `unsafe_code` among them, reach the crate.
fn lints_inherited(file: &TrackedFile) -> Vec<Finding> {
    let member = file.path.starts_with("crates/") || file.path.starts_with("xtask/");
    if !member || !file.path.ends_with("/Cargo.toml") || file.text.contains("[lints]\nworkspace = true") {
        return Vec::new();
    }
    vec![Finding {
        what: "crate does not take over the lints of the workspace".into(),
        place: file.path.clone(),
        remedy: "add the two lines `[lints]` and `workspace = true`",
    }]
}

/// Paths that mean something on one machine only.
struct MachinePaths(Vec<String>);

impl MachinePaths {
    fn of_this_machine() -> Self {
        // Invented paths, such as a user's home in a test, are nobody's; so only real ones count.
        // Root's home is written in halves, so that this file does not break its own rule.
        let mut paths = vec![["/ro", "ot/"].concat(), root().display().to_string()];
        paths.extend(std::env::var("HOME").ok().filter(|home| home.len() > 1));
        Self(paths)
    }

    fn named_in(&self, file: &TrackedFile) -> Vec<Finding> {
        let names = |line: &str| self.0.iter().any(|path| contains_path(line, path));
        lines_with(
            file,
            names,
            "a path of one machine is named",
            "use a relative path, or one the program finds out",
        )
    }
}

/// Whether `line` names `path` from its root: `/a/` is found in `"/a/x"` but not in `b/a/x`.
fn contains_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !"._-~*/}>".contains(c))
    })
}

/// A lock file or a configuration that names a mirror works on one network only.
fn foreign_hosts(file: &TrackedFile) -> Vec<Finding> {
    const ENDS: [&str; 6] =
        [".toml", ".lock", "package.json", "package-lock.json", ".npmrc", "requirements.txt"];
    if !ENDS.iter().any(|end| file.path.ends_with(end)) {
        return Vec::new();
    }
    let foreign = |line: &str| {
        line.split("://").skip(1).any(|rest| {
            let host = rest.split(['/', ':', '"', '\'', '?', '#', ' ']).next().unwrap_or_default();
            !HOSTS.contains(&host)
        })
    };
    lines_with(file, foreign, "a host is named that is not public or not known", {
        "name the public registry; HOSTS in xtask/src/check/files.rs is the list"
    })
}

/// A test that decides for itself to pass without its program passes where it must not.
fn silent_skips(file: &TrackedFile) -> Vec<Finding> {
    let test = file.path.contains("/tests/") || file.path.ends_with("/tests.rs");
    if !file.path.starts_with("crates/") || !file.path.ends_with(".rs") || !test {
        return Vec::new();
    }
    // In halves, as this file is not meant.
    let says = |line: &str| line.to_ascii_lowercase().contains(&["print", "ln!(\"skip"].concat());
    lines_with(file, says, "a test skips itself", "call marey_testkit::skip, which fails where all must run")
}

/// ARCHITECTURE.md has a paragraph for every crate, and none for one that is gone.
fn documents(files: &[TrackedFile]) -> Vec<Finding> {
    let crates: Vec<&str> = files
        .iter()
        .filter_map(|file| file.path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml"))
        .collect();
    let Some(architecture) = files.iter().find(|file| file.path == "ARCHITECTURE.md") else {
        return Vec::new();
    };
    let absent =
        crates.iter().filter(|name| !architecture.text.contains(&format!("`{name}`"))).map(|name| Finding {
            what: format!("crate {name} is not described"),
            place: architecture.path.clone(),
            remedy: "give it a paragraph: what it is for and what it deliberately does not know",
        });
    let named = architecture.text.split('`').skip(1).step_by(2);
    let gone = named
        .filter(|word| {
            word.starts_with("marey-") && !word.contains(char::is_whitespace) && !crates.contains(word)
        })
        .map(|name| Finding {
            what: format!("{name} is described but does not exist"),
            place: architecture.path.clone(),
            remedy: "describe what is there",
        });
    absent.chain(gone).collect()
}

fn lines_with(
    file: &TrackedFile,
    found: impl Fn(&str) -> bool,
    what: &str,
    remedy: &'static str,
) -> Vec<Finding> {
    file.text
        .lines()
        .enumerate()
        .filter(|(_, line)| found(line))
        .map(|(idx, line)| Finding {
            what: format!("{what}: {}", line.trim()),
            place: format!("{}:{}", file.path, idx + 1),
            remedy,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{TrackedFile, check};

    /// `expected` holds the places of the findings.
    fn check_text(path: &str, text: &str, expected: &[&str]) {
        let file = TrackedFile { path: path.into(), text: text.into() };
        let found = check(&[file]);
        let found: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(found, expected, "{path}: {text}");
    }

    #[test]
    fn lifting_the_ban_on_unsafe_is_found_outside_the_listed_places() {
        let text = "//! Head.\n#![expect(unsafe_code, reason = \"speed\")]\n";
        check_text("crates/marey-archive/src/lib.rs", text, &["crates/marey-archive/src/lib.rs:2"]);
        check_text("crates/marey-measure/src/lib.rs", text, &[]);
    }

    #[test]
    fn exported_symbol_is_found_outside_collect() {
        let text = "//! Head.\n#[unsafe(no_mangle)]\n";
        check_text("crates/marey-measure/src/lib.rs", text, &["crates/marey-measure/src/lib.rs:2"]);
        check_text("crates/marey-collect/src/lib.rs", text, &[]);
    }

    #[test]
    fn long_file_is_found() {
        let text = "//! Head.\n".repeat(801);
        check_text("crates/marey/src/main.rs", &text, &["crates/marey/src/main.rs"]);
        check_text("crates/marey-collect/src/mpi/table.rs", &text, &[]);
    }

    #[test]
    fn file_without_head_is_found() {
        check_text("crates/marey/src/main.rs", "fn main() {}\n", &["crates/marey/src/main.rs:1"]);
        check_text("crates/marey/tests/fixtures/main.rs", "fn main() {}\n", &[]);
    }

    #[test]
    fn path_of_one_machine_is_found() {
        let here = crate::shell::root().display();
        check_text("docs/a.md", &format!("see {here}/app"), &["docs/a.md:1"]);
        check_text("docs/a.md", &format!("see build{here}/app"), &[]);
        check_text("docs/a.md", "see /home/user/app", &[]);
    }

    #[test]
    fn foreign_registry_is_found() {
        check_text("Cargo.lock", "source = \"registry+https://github.com/rust-lang/crates.io-index\"", &[]);
        check_text("Cargo.lock", "source = \"registry+https://mirror.example/index\"", &["Cargo.lock:1"]);
    }

    #[test]
    fn test_that_skips_itself_is_found() {
        let text = "//! Head.\neprintln!(\"SKIPPED: no compiler\");\n";
        check_text("crates/marey/tests/hazards.rs", text, &["crates/marey/tests/hazards.rs:2"]);
        check_text("crates/marey/tests/hazards.rs", "//! Head.\nmarey_testkit::skip(\"cc\");\n", &[]);
    }

    #[test]
    fn crate_without_lints_is_found() {
        check_text("crates/marey/Cargo.toml", "[package]\n", &["crates/marey/Cargo.toml"]);
        check_text("crates/marey/Cargo.toml", "[lints]\nworkspace = true\n", &[]);
    }
}
