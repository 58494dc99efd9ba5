//! What `strace` says that a program did to the files of a directory: the other witness.
//!
//! The one idea: it names files by itself (`-y`), from the kernel; where in a file was read or written follows from
//! the calls before, with places that are shared by descriptors and processes as the kernel shares them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

/// Calls, and the bytes that they moved, by kind.
pub(crate) type Sums = BTreeMap<&'static str, (u64, u64)>;
/// By file.
pub(crate) type Files = BTreeMap<String, Sums>;

/// A call that moved bytes: kind, file, bytes, place.
pub(crate) type Move = (&'static str, String, i64, i64);

/// System calls by what they do to a file: as their manual pages say, and not as the recorder takes it.
const KINDS: [(&str, &[&str]); 7] = [
    ("open", &["open", "openat", "creat"]),
    ("close", &["close"]),
    ("read", &["read", "readv", "pread64", "preadv", "preadv2"]),
    (
        "write",
        &["write", "writev", "pwrite64", "pwritev", "pwritev2", "sendfile", "copy_file_range", "splice"],
    ),
    ("seek", &["lseek"]),
    ("sync", &["fsync", "fdatasync", "sync_file_range"]),
    ("resize", &["ftruncate", "fallocate"]),
];

/// Those that give a file another descriptor.
const COPIES: [&str; 4] = ["dup", "dup2", "dup3", "fcntl"];

/// What is known of a program.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    pub(crate) files: Files,
    /// Of the first process, in their order.
    pub(crate) moves: Vec<Move>,
    /// All calls of it that did what they should, those too: kind and file.
    pub(crate) done: Vec<(&'static str, String)>,
    /// Descriptors of each process, by what they stand for.
    descriptors: BTreeMap<(u32, i64), usize>,
    /// Places, and whether writes go to the end.
    opened: Vec<(i64, bool)>,
    sizes: BTreeMap<String, i64>,
    first: Option<u32>,
    met: BTreeSet<u32>,
}

/// Runs `words` in `dir` under strace. `None` without it.
pub(crate) fn watch(command: &[&str], dir: &Path) -> Option<Witness> {
    let out = dir.join("calls.strace");
    let calls: Vec<&str> = KINDS.iter().flat_map(|(_, calls)| *calls).chain(&COPIES).copied().collect();
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-s", "0", "-e", &format!("trace={}", calls.join(",")), "-o"]);
    strace.arg(&out).args(command);
    strace.current_dir(dir).stdin(Stdio::null()).env_remove("LD_PRELOAD");
    strace.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    let output = match strace.output() {
        Err(error) => {
            marey_testkit::skip(&format!("strace: {error}"));
            return None;
        }
        Ok(output) => output,
    };
    let text = String::from_utf8_lossy(&std::fs::read(&out).unwrap_or_default()).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut witness = Witness::default();
    let mut begun: BTreeMap<u32, String> = BTreeMap::new();
    for line in text.lines() {
        let (process, call) = line.split_once(' ').expect("a process and a call");
        let (process, call) = (process.parse().expect("a number"), call.trim_start());
        if let Some(first) = call.strip_suffix("<unfinished ...>") {
            begun.insert(process, first.to_owned());
        } else if let Some((_, rest)) =
            call.strip_prefix("<... ").and_then(|call| call.split_once(" resumed>"))
        {
            let whole = begun.remove(&process).unwrap_or_default() + rest;
            witness.call(process, &whole, dir);
        } else {
            witness.call(process, call, dir);
        }
    }
    Some(witness)
}

impl Witness {
    /// `write(3</tmp/x/data>, ""..., 1000) = 1000`
    fn call(&mut self, process: u32, call: &str, dir: &Path) {
        self.meet(process);
        let Some((name, rest)) = call.split_once('(') else { return };
        let Some((inside, result)) = rest.rsplit_once(" = ") else { return };
        let arguments: Vec<&str> =
            inside.trim_end().trim_end_matches(')').split(", ").map(str::trim).collect();
        let value =
            result.split(['<', ' ']).next().and_then(|number| number.parse::<i64>().ok()).unwrap_or(-1);
        let fd = number(arguments[0]);
        if name == "fcntl" && !inside.contains("F_DUPFD") {
            return;
        }
        if COPIES.contains(&name) {
            return self.copied(process, fd, value);
        }
        let kind = kind(name).expect("one of those asked for");
        let is_open = kind == "open";
        let at = if is_open { result } else { arguments[target(name)] };
        let Some(path) = path(at).and_then(|path| Path::new(path).strip_prefix(dir).ok()) else { return };
        let path = path.to_str().expect("names of ours").to_owned();
        if is_open {
            self.opened(process, value, inside, &path);
        }
        let sums = self.files.entry(path.clone()).or_default().entry(kind).or_default();
        sums.0 += 1;
        if is_move(kind) && 0 <= value {
            sums.1 += value.cast_unsigned();
        }
        if 0 <= value {
            if self.first == Some(process) {
                self.done.push((kind, path.clone()));
            }
            self.moved(process, (name, kind), &arguments, (&path, value));
        }
    }

    /// A process that is new has what the first one had when it was forked, which is now.
    fn meet(&mut self, process: u32) {
        let first = *self.first.get_or_insert(process);
        if self.met.insert(process) && process != first {
            let of_first: Vec<_> = self.descriptors.range((first, i64::MIN)..=(first, i64::MAX)).collect();
            let copies: Vec<_> =
                of_first.into_iter().map(|(&(_, fd), &opened)| ((process, fd), opened)).collect();
            self.descriptors.extend(copies);
        }
    }

    fn copied(&mut self, process: u32, old: i64, new: i64) {
        if let Some(&opened) = self.descriptors.get(&(process, old)).filter(|_| 0 <= new) {
            self.descriptors.insert((process, new), opened);
        }
    }

    fn opened(&mut self, process: u32, fd: i64, words: &str, path: &str) {
        self.descriptors.insert((process, fd), self.opened.len());
        self.opened.push((0, words.contains("O_APPEND")));
        if words.contains("O_TRUNC") {
            self.sizes.insert(path.to_owned(), 0);
        }
    }

    fn moved(
        &mut self,
        process: u32,
        (name, kind): (&str, &'static str),
        arguments: &[&str],
        (path, value): (&str, i64),
    ) {
        let fd = number(arguments[target(name)]);
        let Some(&opened) = self.descriptors.get(&(process, fd)) else { return };
        let (place, is_appended) = self.opened[opened];
        let size = self.sizes.entry(path.to_owned()).or_default();
        // Counted from the end, for there may be a list before.
        let from_end = match name {
            "preadv2" | "pwritev2" => 2,
            _ => usize::from(name.starts_with('p')),
        };
        let explicit = arguments.len().checked_sub(from_end).and_then(|at| arguments.get(at));
        let explicit = explicit.map(|argument| number(argument)).filter(|&place| 0 <= place);
        // Where it is read from, if that is another file, and who says at which place.
        let source = match name {
            "sendfile" => Some((1, 2)),
            "copy_file_range" | "splice" => Some((0, 1)),
            _ => None,
        };
        let source = source.filter(|&(_, place)| arguments[place] == "NULL");
        let source = source.and_then(|(fd, _)| self.descriptors.get(&(process, number(arguments[fd]))));
        if let Some(&source) = source {
            self.opened[source].0 += value;
        }
        let at = explicit.unwrap_or(if is_appended && kind == "write" { *size } else { place });
        match kind {
            "seek" => self.opened[opened].0 = value,
            kind if is_move(kind) => {
                if explicit.is_none() {
                    self.opened[opened].0 = at + value;
                }
                if kind == "write" {
                    *size = (*size).max(at + value);
                }
                if self.first == Some(process) {
                    self.moves.push((kind, path.to_owned(), value, at));
                }
            }
            _ => {}
        }
    }
}

/// What a system call does to a file.
fn kind(call: &str) -> Option<&'static str> {
    KINDS.iter().find(|(_, calls)| calls.contains(&call)).map(|(kind, _)| *kind)
}

fn is_move(kind: &str) -> bool {
    matches!(kind, "read" | "write")
}

/// Which argument is the file that it is done to: where there are two, that which is written.
fn target(call: &str) -> usize {
    if matches!(call, "copy_file_range" | "splice") { 2 } else { 0 }
}

/// The number that an argument begins with.
fn number(argument: &str) -> i64 {
    argument.split('<').next().and_then(|number| number.parse().ok()).unwrap_or(-1)
}

/// The file of `3</tmp/x/data>`.
fn path(descriptor: &str) -> Option<&str> {
    let (_, path) = descriptor.split_once('<')?;
    Some(path.trim_end_matches('>').trim_end_matches("(deleted)"))
}
