//! Debug information of a binary as `readelf` prints it, read line by line.
//!
//! The one idea: entries in the order of the file, each with what it lies in; nothing is looked up but names, places and
//! what an entry is a copy of. It shares no code with what it is held against.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use rustc_hash::FxHashMap;

#[derive(Debug, Default)]
pub(super) struct Entry {
    offset: u64,
    pub(super) tag: String,
    /// What it lies in, of the kinds that are kept.
    pub(super) scope: Option<usize>,
    unit: usize,
    own_name: String,
    linkage: String,
    /// The entry that says the rest.
    origin: Option<u64>,
    of_type: Option<u64>,
    file: Option<u32>,
    line: Option<u32>,
    pub(super) bytes: Option<u64>,
    access: Option<String>,
    pub(super) is_virtual: bool,
    pub(super) is_declaration: bool,
    pub(super) is_artificial: bool,
    pub(super) low: Option<u64>,
    pub(super) is_in_parts: bool,
    call: (Option<u32>, Option<u32>),
}

#[derive(Default)]
pub(super) struct Read {
    pub(super) entries: Vec<Entry>,
    by_offset: FxHashMap<u64, usize>,
    /// Names that `typedef` gives to types without one.
    given: FxHashMap<u64, usize>,
    /// By unit: names of files by their numbers.
    files: Vec<FxHashMap<u32, String>>,
}

const KEPT: [&str; 12] = [
    "namespace",
    "class_type",
    "structure_type",
    "union_type",
    "enumeration_type",
    "enumerator",
    "member",
    "variable",
    "inheritance",
    "typedef",
    "subprogram",
    "inlined_subroutine",
];

/// Whether something can lie in it that is asked for.
fn is_scope(tag: &str) -> bool {
    is_type(tag) || ["namespace", "subprogram", "inlined_subroutine"].contains(&tag)
}

pub(super) fn is_type(tag: &str) -> bool {
    ["class_type", "structure_type", "union_type", "enumeration_type"].contains(&tag)
}

/// Hands each line of what `readelf` prints to a function.
fn lines(path: &Path, dump: &str, mut take: impl FnMut(&str)) {
    let mut command = Command::new("readelf");
    command.arg(format!("--debug-dump={dump}")).arg(path).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut reader = BufReader::with_capacity(1 << 20, child.stdout.take().unwrap());
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).unwrap() != 0 {
        take(std::str::from_utf8(&line).unwrap_or_default().trim_end_matches('\n'));
        line.clear();
    }
    assert!(child.wait().unwrap().success());
}

fn hexadecimal(text: &str) -> Option<u64> {
    let text = text.trim_start_matches('<').trim_end_matches('>');
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

/// `(indirect string, offset: 0x8084): size_t` → `size_t`.
fn string(text: &str) -> &str {
    if !text.starts_with("(indirect") {
        return text;
    }
    text.split_once("): ").map_or("", |(_, text)| text).trim_end()
}

impl Read {
    pub(super) fn of(path: &Path) -> Self {
        let mut it = Self::default();
        let mut tables: FxHashMap<u64, FxHashMap<u32, String>> = FxHashMap::default();
        let (mut table, mut is_files) = (0, false);
        lines(path, "rawline", |line| {
            if let Some(offset) = line.strip_prefix("  Offset:") {
                table = hexadecimal(offset.trim()).unwrap();
                is_files = false;
            } else if line.starts_with(" The File Name Table") {
                is_files = true;
            } else if is_files && let Some((number, rest)) = line.trim_start().split_once('\t') {
                let name = rest.split_once('\t').map(|(_, name)| string(name).to_owned());
                if let (Ok(number), Some(name)) = (number.parse(), name) {
                    tables.entry(table).or_default().insert(number, name);
                }
            } else if is_files && line.is_empty() {
                is_files = false;
            }
        });
        // By depth: the number of the entry around what lies there.
        let mut around: Vec<Option<usize>> = Vec::new();
        let mut takes = false;
        lines(path, "info", |line| {
            if let Some(head) = line.strip_prefix(" <") {
                let (depth, rest) = head.split_once("><").unwrap();
                let (offset, rest) = rest.split_once(">: ").unwrap();
                let depth: usize = depth.parse().unwrap();
                let tag = rest.split_once("(DW_TAG_").map(|(_, tag)| tag.trim_end_matches(')'));
                let Some(tag) = tag else {
                    takes = false;
                    return;
                };
                around.truncate(depth);
                let scope = around.last().copied().flatten();
                takes = KEPT.contains(&tag);
                if tag == "compile_unit" {
                    it.files.push(FxHashMap::default());
                    it.entries.push(Entry { tag: tag.to_owned(), ..Entry::default() });
                    takes = true;
                } else if takes {
                    let offset = hexadecimal(offset).unwrap();
                    it.by_offset.insert(offset, it.entries.len());
                    let unit = it.files.len() - 1;
                    it.entries.push(Entry { offset, tag: tag.to_owned(), scope, unit, ..Entry::default() });
                }
                around.push(if is_scope(tag) { Some(it.entries.len() - 1) } else { scope });
            } else if takes && let Some(at) = line.find("DW_AT_") {
                let Some((name, value)) = line[at + 6..].split_once(':') else { return };
                let entry = it.entries.last_mut().unwrap();
                let value = value.trim_start_matches([' ', '\t']);
                let number = || value.split_whitespace().next().and_then(|it| it.parse().ok());
                match name.trim_end() {
                    "stmt_list" if entry.tag == "compile_unit" => {
                        let table = hexadecimal(value.trim()).unwrap();
                        *it.files.last_mut().unwrap() = tables.get(&table).cloned().unwrap_or_default();
                    }
                    "name" => string(value).clone_into(&mut entry.own_name),
                    "linkage_name" => string(value).clone_into(&mut entry.linkage),
                    "specification" | "abstract_origin" => entry.origin = hexadecimal(value.trim()),
                    "type" => entry.of_type = hexadecimal(value.trim()),
                    "decl_file" => entry.file = number(),
                    "decl_line" => entry.line = number(),
                    "call_file" => entry.call.0 = number(),
                    "call_line" => entry.call.1 = number(),
                    "byte_size" => entry.bytes = number().map(u64::from),
                    "low_pc" => entry.low = hexadecimal(value.trim()),
                    "ranges" => entry.is_in_parts = true,
                    "accessibility" => {
                        entry.access =
                            value.split_once('(').map(|(_, it)| it.trim_end_matches(')').to_owned());
                    }
                    "virtuality" => entry.is_virtual = true,
                    "declaration" => entry.is_declaration = true,
                    "artificial" => entry.is_artificial = true,
                    _ => {}
                }
            }
        });
        for (row, entry) in it.entries.iter().enumerate().filter(|(_, entry)| entry.tag == "typedef") {
            if let Some(of) = entry.of_type {
                it.given.entry(of).or_insert(row);
            }
        }
        it
    }

    fn chain(&self, of: usize) -> impl Iterator<Item = &Entry> {
        let next = |it: &&Entry| self.entries.get(*self.by_offset.get(&it.origin?)?);
        std::iter::successors(Some(&self.entries[of]), next)
    }

    fn find<'e>(&'e self, of: usize, take: impl Fn(&'e Entry) -> Option<&'e str>) -> &'e str {
        self.chain(of).filter_map(take).find(|it| !it.is_empty()).unwrap_or_default()
    }

    pub(super) fn linkage(&self, of: usize) -> &str {
        self.find(of, |it| Some(&it.linkage))
    }

    pub(super) fn short(&self, of: usize) -> &str {
        self.find(of, |it| Some(&it.own_name))
    }

    /// What was declared first.
    pub(super) fn root(&self, of: usize) -> usize {
        self.chain(of).last().map_or(of, |it| self.by_offset[&it.offset])
    }

    /// The name with all that it lies in; `None` = something of that has no name.
    pub(super) fn name(&self, of: usize) -> Option<String> {
        let root = self.root(of);
        let short = match (self.short(root), self.entries[root].tag.as_str()) {
            ("", "namespace") => "(anonymous namespace)",
            ("", tag) if is_type(tag) => &self.entries[*self.given.get(&self.entries[root].offset)?].own_name,
            ("", _) => return None,
            (name, _) => name,
        };
        match self.entries[root].scope {
            Some(scope) => Some(format!("{}::{short}", self.name(scope)?)),
            None => Some(short.to_owned()),
        }
    }

    pub(super) fn is_in_function(&self, of: usize) -> bool {
        let scope = |of: &usize| self.entries[self.root(*of)].scope;
        std::iter::successors(scope(&of), scope).any(|it| self.entries[it].tag == "subprogram")
    }

    /// `file:line`, of the definition if that tells it, each alone.
    pub(super) fn place(&self, of: usize) -> String {
        let line = self.chain(of).find_map(|it| it.line).unwrap_or(0);
        let file = self.chain(of).find_map(|it| Some((it.unit, it.file?)));
        self.written(file, line)
    }

    fn written(&self, file: Option<(usize, u32)>, line: u32) -> String {
        let name = file.and_then(|(unit, file)| self.files[unit].get(&file));
        // In some versions the directory stands before it.
        let name = name.and_then(|name| name.rsplit('/').next());
        format!("{}:{line}", name.unwrap_or_default())
    }

    /// Where the call stood that was replaced by this entry.
    pub(super) fn call(&self, of: usize) -> String {
        let it = &self.entries[of];
        self.written(it.call.0.map(|file| (it.unit, file)), it.call.1.unwrap_or(0))
    }

    /// The entry that a reference means, behind other names of it.
    pub(super) fn of_type(&self, of: usize) -> Option<usize> {
        let mut at = *self.by_offset.get(&self.entries[of].of_type?)?;
        while self.entries[at].tag == "typedef" {
            at = *self.by_offset.get(&self.entries[at].of_type?)?;
        }
        Some(at)
    }

    /// Who can name it, being in a type.
    pub(super) fn access(&self, of: usize, scope: usize) -> &str {
        let usual = if self.entries[scope].tag == "class_type" { "private" } else { "public" };
        self.entries[of].access.as_deref().unwrap_or(usual)
    }

    /// The entry by a reference of its own, if it is of the kinds that are kept.
    pub(super) fn origin(&self, of: usize) -> Option<usize> {
        self.by_offset.get(&self.entries[of].origin?).copied()
    }
}
