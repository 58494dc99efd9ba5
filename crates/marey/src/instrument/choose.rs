//! Which functions and loops get a guard, and why others do not.
//!
//! The one idea: each function and loop that the database of text knows has a verdict, so that nothing is left out silently:
//! it has a guard, or nobody wanted one, or it can have none for a reason.
//!
//! It changes no text.

use std::path::{Path, PathBuf};

use marey_model::{Detail, LOOP_AT, Rules};
use marey_source::text::{Bytes, Function, Language, Lines, Loop, Mark, MarkKind, Model, Sources};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cargo::{self, Package};
use super::head;
use super::loops::Surroundings;
use super::world::{World, declared};

/// What can have a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    Function,
    Loop,
}

/// What becomes of a function or a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Guarded,
    /// No rule wants it.
    NotChosen,
    /// It can have no guard.
    Refused(&'static str),
}

/// A function or a loop.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) what: Chosen,
    pub(super) name: String,
    /// Number of its file in [`Choice::files`].
    pub(super) file: usize,
    pub(super) line: u32,
    pub(super) verdict: Verdict,
}

/// A guard: where, and what it says.
#[derive(Debug)]
pub(super) struct Guarded {
    pub(super) what: Chosen,
    pub(super) name: String,
    pub(super) line: u32,
    pub(super) bytes: Bytes,
}

/// A source.
#[derive(Debug)]
pub(super) struct File {
    /// Below the source tree.
    pub(super) path: PathBuf,
    pub(super) language: Language,
    /// How many bytes it had when it was read.
    pub(super) len: usize,
    /// In the order of the text.
    pub(super) guards: Vec<Guarded>,
}

/// All verdicts.
#[derive(Debug, Default)]
pub(super) struct Choice {
    pub(super) files: Vec<File>,
    /// In the order of files and lines.
    pub(super) rows: Vec<Row>,
    pub(super) problems: Vec<String>,
}

/// What decides.
pub(super) struct Chooser<'t> {
    /// One rule each, in their order.
    pub(super) rules: Vec<(Detail, Rules)>,
    pub(super) root: &'t Path,
    pub(super) packages: &'t [Package],
    /// Directories of which a tool compares the files with what they were.
    pub(super) sealed: &'t [PathBuf],
}

impl<'t> Chooser<'t> {
    /// With rules as a filter has them.
    pub(super) fn rules(rules: &Rules) -> Vec<(Detail, Rules)> {
        let text = rules.to_string();
        let one = |line: &str| {
            let detail = Detail::from_name(line.split(' ').next()?)?;
            Some((detail, Rules::parse(line).ok()?))
        };
        text.lines().filter_map(one).collect()
    }

    /// Judges all that the sources consist of.
    pub(super) fn choose(&self, sources: &Sources) -> Choice {
        let mut choice = Choice::default();
        let mut by_file: Vec<Parts<'_>> = sources.files.iter().map(|_| Parts::default()).collect();
        for (row, it) in (0..).zip(&sources.functions) {
            by_file[it.file as usize].functions.push((row, it));
        }
        for it in &sources.loops {
            by_file[it.file as usize].loops.push(it);
        }
        for it in &sources.marks {
            by_file[it.file as usize].marks.push(it);
        }
        for it in &sources.constructs {
            let is_elsewhere = it.model == Model::OpenAcc
                || it.model == Model::OpenMp && sources.text(it.text).contains("target");
            if is_elsewhere {
                by_file[it.file as usize].devices.push(it.lines);
            }
        }
        let mut world = World::default();
        for file in sources.files.iter().filter(|file| matches!(file.language, Language::C | Language::Cpp)) {
            // What cannot be read is told below.
            world.add(&std::fs::read(sources.text(file.path)).unwrap_or_default());
        }
        for (file, mut parts) in sources.files.iter().zip(by_file) {
            let path = Path::new(sources.text(file.path));
            let text = match std::fs::read(path) {
                Ok(text) => text,
                Err(error) => {
                    choice.problems.push(format!("cannot read {}: {error}", path.display()));
                    continue;
                }
            };
            let path = path.strip_prefix(self.root).unwrap_or(path).to_owned();
            parts.declared = declared(&text);
            parts.marks.sort_by_key(|mark| mark.at);
            let one = OneFile {
                of: self,
                world: &world,
                sources,
                path: &path,
                language: file.language,
                text: &text,
            };
            let number = choice.files.len();
            let (rows, mut guards) = one.judge(number, &parts);
            guards.sort_by_key(|it| (it.bytes.first, std::cmp::Reverse(it.bytes.end)));
            choice.rows.extend(rows);
            choice.files.push(File { path, language: file.language, len: text.len(), guards });
        }
        choice
    }
}

/// What a file consists of.
#[derive(Default)]
struct Parts<'s> {
    /// With their numbers among all.
    functions: Vec<(u32, &'s Function)>,
    loops: Vec<&'s Loop>,
    marks: Vec<&'s Mark>,
    devices: Vec<Lines>,
    /// Lines, from and to, of declarations for another device.
    declared: Vec<(u32, u32)>,
}

/// A file that is being judged.
struct OneFile<'t> {
    of: &'t Chooser<'t>,
    world: &'t World,
    sources: &'t Sources,
    path: &'t Path,
    language: Language,
    text: &'t [u8],
}

impl OneFile<'_> {
    fn judge(&self, number: usize, parts: &Parts<'_>) -> (Vec<Row>, Vec<Guarded>) {
        let (mut rows, mut guards) = (Vec::new(), Vec::new());
        let module = self.package().map(|package| package.module(self.path));
        let full = |name: &str| match &module {
            Some(module) if self.language == Language::Rust => format!("{module}::{name}"),
            _ => name.to_owned(),
        };
        let whole_file = self.refusal_of_file();
        let resolvers = resolvers(self.text);
        let mut judged: FxHashMap<u32, (String, &Function, Option<&'static str>)> = FxHashMap::default();
        let mut bodies = FxHashSet::default();
        for &(row, it) in &parts.functions {
            let short = self.sources.text(it.name);
            let name = full(short);
            let refusal = whole_file.or_else(|| self.refusal(it, short, &resolvers, parts));
            // Two heads under one condition have one body.
            let is_second = it.body.is_some_and(|body| !bodies.insert(body.first));
            if is_second {
                continue;
            }
            judged.insert(row, (name.clone(), it, refusal));
            let row = self.row(Chosen::Function, name, number, it.line, refusal);
            if let (Verdict::Guarded, Some(bytes)) = (row.verdict, it.body) {
                let name = row.name.clone();
                guards.push(Guarded { what: Chosen::Function, name, line: it.line, bytes });
            }
            rows.push(row);
        }
        for it in &parts.marks {
            let (MarkKind::InMacro(name) | MarkKind::InPattern(name)) = &it.kind else { continue };
            let reason = match it.kind {
                MarkKind::InMacro(_) => "in what is given to a macro, which may make anything of it",
                _ => "in the definition of a macro: it is a pattern of code elsewhere",
            };
            let name = full(self.sources.text(*name));
            let reason = Some(whole_file.unwrap_or(reason));
            rows.push(self.row(Chosen::Function, name, number, it.line, reason));
        }
        let surroundings =
            Surroundings::new(self.text, self.language, &parts.marks, &parts.devices, &parts.loops);
        for it in &parts.loops {
            let function = it.function.and_then(|row| judged.get(&row));
            let at = format!("{}:{}", self.path.display(), it.lines.first);
            let (name, refusal) = match function {
                None => (format!("{LOOP_AT}{at}"), Some("it stands in no function")),
                Some((name, function, refusal)) => {
                    let refusal = refusal.or_else(|| surroundings.refusal(it, function.bytes));
                    (format!("{name}{LOOP_AT}{at}"), refusal)
                }
            };
            let row = self.row(Chosen::Loop, name, number, it.lines.first, refusal);
            if let (Verdict::Guarded, Some(bytes)) = (row.verdict, it.bytes) {
                let (name, line) = (row.name.clone(), it.lines.first);
                guards.push(Guarded { what: Chosen::Loop, name, line, bytes });
            }
            rows.push(row);
        }
        rows.sort_by_key(|row| row.line);
        (rows, guards)
    }

    fn row(&self, what: Chosen, name: String, file: usize, line: u32, refusal: Option<&'static str>) -> Row {
        let verdict = match (self.is_wanted(what, &name), refusal) {
            (false, _) => Verdict::NotChosen,
            (true, Some(reason)) => Verdict::Refused(reason),
            (true, None) => Verdict::Guarded,
        };
        Row { what, name, file, line, verdict }
    }

    /// What the last rule says that fits; functions are wanted if there is none, loops if a rule for loops is among them.
    fn is_wanted(&self, what: Chosen, name: &str) -> bool {
        let (inside, whole) = (self.path.to_string_lossy(), self.of.root.join(self.path));
        let whole = whole.to_string_lossy();
        let fits =
            |rule: &Rules| [&inside, &whole].iter().any(|file| rule.detail("source", name, file).is_some());
        let mut fitting = self.of.rules.iter().rev().filter(|(_, rule)| fits(rule)).peekable();
        let last = fitting.peek().map_or(Detail::Trace, |(detail, _)| *detail);
        let is_named = |(detail, rule): &(Detail, Rules)| {
            *detail != Detail::Off
                && rule.to_string().split(' ').nth(1).is_some_and(|it| it.starts_with("loops:"))
        };
        last != Detail::Off && (what == Chosen::Function || fitting.any(is_named))
    }

    /// The package that the file is of.
    fn package(&self) -> Option<&Package> {
        cargo::around(self.of.packages, self.path).map(|row| &self.of.packages[row])
    }

    /// Why nothing in the file can have a guard.
    fn refusal_of_file(&self) -> Option<&'static str> {
        if matches!(self.language, Language::Fortran | Language::FixedFortran) {
            return Some("Fortran: compile it with -finstrument-functions");
        }
        if self.of.sealed.iter().any(|sealed| self.path.starts_with(sealed)) {
            return Some("vendored: its checksums would no longer be right");
        }
        if self.language != Language::Rust {
            let extension = self.path.extension().unwrap_or_default();
            let is_marey = self.path.file_name().is_some_and(|name| name == "marey.h" || name == "mpe.h");
            let is_device = extension == "cu" || extension == "cuh";
            let device = is_device.then_some("CUDA: it may run on another device");
            return device.or_else(|| is_marey.then_some("it is of marey itself"));
        }
        match self.package() {
            None => Some("Rust without a Cargo.toml: there is no place for the dependency"),
            Some(package) if package.is_proc_macro => {
                Some("crate of procedural macros: it runs in the compiler")
            }
            Some(package) if package.is_of_build_script(self.path) => {
                Some("build script: it runs when the program is built")
            }
            Some(_) => None,
        }
    }

    fn refusal(
        &self,
        it: &Function,
        name: &str,
        resolvers: &[&[u8]],
        parts: &Parts<'_>,
    ) -> Option<&'static str> {
        let Some(body) = it.body else { return Some("behind a macro: no function of its own, as it seems") };
        let text = |from: u32, to: u32| self.text.get(from as usize..to as usize).unwrap_or_default();
        let head = text(it.bytes.first, body.first);
        if self.language == Language::Rust {
            let attributes: Vec<&str> = it.attributes.words().collect();
            return match () {
                () if attributes.contains(&"const") => Some("const: it may run in the compiler"),
                () if attributes.contains(&"async") => Some("async: between its polls it does not run"),
                () if is_naked(self.text, it.bytes.first) => Some("naked: it has no frame"),
                () => None,
            };
        }
        if !head.ends_with(b"{") {
            return Some("its brace is not where it seems");
        }
        // A word that the grammar does not know may stand before it.
        let words = head::words(&self.text[self.begin(it.bytes.first as usize)..body.first as usize]);
        let last = name.rsplit("::").next().unwrap_or(name);
        let behind = words.iter().position(|word| *word == last.as_bytes()).unwrap_or(words.len());
        let words = [&words[behind..], &self.world.expanded(&words[..behind])].concat();
        if let Some(reason) = head::refusal(self.language, name, &words) {
            return Some(reason);
        }
        if resolvers.contains(&name.as_bytes()) {
            return Some("ifunc: it runs before the program is linked");
        }
        let is_around = |(first, last): &(u32, u32)| *first < it.line && it.line <= *last;
        if self.world.is_of_device(name) || parts.declared.iter().any(is_around) {
            return Some(head::DEVICE);
        }
        if let Some(reason) = head::refusal_of_body(text(body.first, body.end)) {
            return Some(reason);
        }
        let from = parts.marks.partition_point(|mark| mark.at < body.first);
        let mut within = parts.marks[from..].iter().take_while(|mark| mark.at < body.end);
        within
            .any(|mark| mark.kind == MarkKind::Pause)
            .then_some("coroutine: it may pause, and go on in another thread")
    }
}

impl OneFile<'_> {
    /// Where that begins which may belong to a function that begins at a byte.
    fn begin(&self, at: usize) -> usize {
        let before = &self.text[..at.min(self.text.len())];
        let mut from = before.iter().rposition(|byte| b";{}".contains(byte)).map_or(0, |end| end + 1);
        let mut line = from;
        for text in before[from..].split_inclusive(|byte| *byte == b'\n') {
            line += text.len();
            if text.trim_ascii_start().starts_with(b"#") {
                from = line;
            }
        }
        from
    }
}

/// Whether attributes before a function of Rust say that it is naked.
fn is_naked(text: &[u8], at: u32) -> bool {
    let before = text.get(..at as usize).unwrap_or_default();
    let mut lines = before.rsplit(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    // What stands on the same line comes first.
    let same = lines.next().unwrap_or_default();
    let above = lines.take_while(|line| line.starts_with(b"#[") || line.starts_with(b"//"));
    std::iter::once(same)
        .chain(above)
        .any(|line| line.starts_with(b"#[") && line.windows(5).any(|word| word == b"naked"))
}

/// Names of functions that choose others while the program is linked: `ifunc("name")`.
fn resolvers(text: &[u8]) -> Vec<&[u8]> {
    const WORD: &[u8] = b"ifunc";
    let mut found = Vec::new();
    for (at, _) in text.windows(WORD.len()).enumerate().filter(|(_, word)| *word == WORD) {
        let rest = text[at + WORD.len()..].trim_ascii_start();
        let rest = rest.strip_prefix(b"__").unwrap_or(rest).trim_ascii_start();
        let name =
            rest.strip_prefix(b"(").map(<[u8]>::trim_ascii_start).and_then(|it| it.strip_prefix(b"\""));
        found.extend(name.and_then(|name| name.split(|byte| *byte == b'"').next()));
    }
    found
}
