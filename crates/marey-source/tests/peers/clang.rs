//! What clang reads in sources of C and C++, from the tree that it prints.
//!
//! The one idea: the tree is read line by line as it is printed (`-ast-dump`); a line's place is told against that of the
//! line before, so all of them are looked at. Instances of templates stand where their templates do, and are one with
//! them. What a macro has written stands in its definition; lines of definitions are left out.

mod meaning;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use super::Row;
pub(crate) use meaning::plain;

/// First and last line of something in a file, by its path.
pub(crate) type Span = (String, u32, u32);

/// What stands in the files that were read.
#[derive(Default)]
pub(crate) struct Tree {
    /// Functions with a body, and their last lines.
    pub(crate) functions: BTreeSet<(Row, u32)>,
    /// Types that are defined, and their last lines.
    pub(crate) types: BTreeSet<(Row, u32)>,
    /// With the word for who can name it, and whether `virtual` stands there.
    pub(crate) members: BTreeSet<(Row, String, bool)>,
    /// The file and name of a type, the name of one that it is derived from, who knows that, and whether all share one.
    pub(crate) bases: BTreeSet<(String, String, String, String, bool)>,
    pub(crate) loops: BTreeSet<Span>,
    /// By the names of functions, and of members.
    pub(crate) calls: BTreeSet<Row>,
}

impl Tree {
    /// Keeps what stands in some files.
    pub(crate) fn retain(&mut self, files: &BTreeSet<String>) {
        self.functions.retain(|((path, ..), _)| files.contains(path));
        self.types.retain(|((path, ..), _)| files.contains(path));
        self.members.retain(|((path, ..), ..)| files.contains(path));
        self.bases.retain(|(path, ..)| files.contains(path));
        self.loops.retain(|(path, ..)| files.contains(path));
        self.calls.retain(|(path, ..)| files.contains(path));
    }
}

/// Asks clang; `None`, said aloud, if it is not there.
pub(crate) fn clang(path: &Path, flags: &[String]) -> Option<Tree> {
    let mut command = Command::new("clang");
    command.args(["-fsyntax-only", "-Xclang", "-ast-dump"]).args(flags).arg(path);
    let Ok(mut child) = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn() else {
        marey_testkit::skip("clang");
        return None;
    };
    let mut reader = BufReader::with_capacity(1 << 20, child.stdout.take().unwrap());
    let mut it = Reader::default();
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).unwrap() != 0 {
        it.line(std::str::from_utf8(&line).unwrap().trim_end_matches('\n'));
        line.clear();
    }
    assert!(child.wait().unwrap().success(), "{}", path.display());
    Some(it.found)
}

/// A file that places stand in.
struct File {
    path: String,
    /// Lines of definitions of macros, and those that ask for instances of templates.
    others: BTreeSet<u32>,
}

impl File {
    fn of(printed: &str) -> Self {
        // What the compiler has made up is in no file.
        let text = std::fs::read(printed).unwrap_or_default();
        let path =
            std::fs::canonicalize(printed).map_or_else(|_| String::new(), |it| it.display().to_string());
        let mut others = BTreeSet::new();
        let (mut is_in, mut is_asked) = (false, false);
        for (number, line) in (1..).zip(String::from_utf8_lossy(&text).lines()) {
            let words = line.trim_start().strip_prefix('#').map(str::trim_start);
            if is_in || words.is_some_and(|it| it.starts_with("define")) {
                others.insert(number);
                is_in = line.ends_with('\\');
            }
            is_asked = is_asked || line.trim_start().starts_with("extern template");
            if is_asked {
                others.insert(number);
                is_asked = !line.contains(';');
            }
        }
        Self { path, others }
    }
}

/// A place: the number of the file, the line.
type Place = (usize, u32);

/// What is open around a line.
#[derive(Default, Clone)]
struct Open {
    kind: String,
    name: String,
    first: Option<Place>,
    last: Option<Place>,
    at: Option<Place>,
    /// In a type: who can name what comes next.
    access: String,
}

impl Open {
    /// An instance of a template may be declared in one place and lie in another.
    fn is_whole(&self) -> bool {
        !self.name.is_empty() && self.first <= self.at && self.at <= self.last
    }
}

#[derive(Default)]
struct Reader {
    files: Vec<File>,
    by_name: BTreeMap<String, usize>,
    /// Those of the last place that was told.
    file: usize,
    line: u32,
    /// By depth.
    open: Vec<Open>,
    /// How deep the callee of a call stands, if it is the next line.
    callee: Option<usize>,
    found: Tree,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let Some(begin) = line.find(|c: char| !matches!(c, ' ' | '|' | '`' | '-')) else { return };
        let (depth, line) = (begin / 2, &line[begin..]);
        let (kind, mut rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut it = Open { kind: kind.to_owned(), ..Open::default() };
        // `CXXMethodDecl 0x5c4c parent 0x5c37 prev 0x554e <line:3:1, line:5:3> line:3:8 used name 'type'`
        if let Some(at) = rest.find(" <").map(|at| at + 1).or_else(|| rest.starts_with('<').then_some(0))
            && let Some((range, behind)) = range(&rest[at..])
        {
            let (first, last) = range.split_once(", ").unwrap_or((range, ""));
            it.first = self.place(first);
            it.last = if last.is_empty() { it.first } else { self.place(last) };
            rest = behind.trim_start();
            let word = rest.split(' ').next().unwrap_or_default();
            if is_place(word) {
                it.at = self.place(word);
                rest = rest[word.len()..].trim_start();
            } else if let Some(behind) = rest.strip_prefix("<invalid sloc> ") {
                rest = behind;
            }
        }
        self.open.truncate(depth);
        self.open.resize(depth, Open::default());
        self.take(&mut it, rest, line);
        self.open.push(it);
    }

    /// `path:3:5`, `line:3:5`, `col:5`.
    fn place(&mut self, text: &str) -> Option<Place> {
        if text.starts_with("<invalid") {
            return None;
        }
        let (text, _) = text.rsplit_once(':')?;
        if text != "col" {
            let (file, line) = text.rsplit_once(':')?;
            self.line = line.parse().ok()?;
            if file != "line" {
                let files = &mut self.files;
                self.file = *self.by_name.entry(file.to_owned()).or_insert_with(|| {
                    files.push(File::of(file));
                    files.len() - 1
                });
            }
        }
        Some((self.file, self.line))
    }

    /// The path and line of a place that is in a file, and where an author has written it.
    fn written(&self, place: Option<Place>) -> Option<(&str, u32)> {
        let (file, line) = place?;
        let file = &self.files[file];
        (!file.path.is_empty() && !file.others.contains(&line)).then_some((&file.path, line))
    }
}

/// `<line:3:1, <invalid sloc>> rest` → what lies between the outer brackets, and the rest.
fn range(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('<')?;
    let is_range = is_place(inner) || inner.starts_with('<');
    let mut depth = 1;
    let end = inner.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '<') - i32::from(*c == '>');
        depth == 0
    })?;
    is_range.then(|| (&inner[..end.0], &inner[end.0 + 1..]))
}

fn is_place(text: &str) -> bool {
    ["line:", "col:", "/"].iter().any(|it| text.starts_with(it))
}
