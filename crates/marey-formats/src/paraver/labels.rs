//! The two files beside a trace: `.pcf` says what numbers of states, types and values mean, `.row` names threads and nodes.
//!
//! Both are text in sections. What is in no section that is known is passed over: colours, and how Paraver shows the trace.

use std::path::Path;

use rustc_hash::FxHashMap;

use crate::Error;
use crate::input::{Input, Line};
use crate::problems::{Problems, kind};

/// What numbers mean.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    pub states: FxHashMap<i64, String>,
    pub types: FxHashMap<i64, Type>,
    /// Labels of values; several types may share a list.
    lists: Vec<FxHashMap<i64, String>>,
    /// Labels of values that were read.
    pub n_values: u64,
}

/// A type of events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Type {
    pub label: String,
    /// Its list of values.
    list: Option<usize>,
}

/// Names of threads and nodes, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub threads: Vec<String>,
    pub nodes: Vec<String>,
    pub tasks: Vec<String>,
}

/// Where in a `.pcf` a line stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Section {
    Other,
    States,
    Types,
    Values,
}

impl Labels {
    /// # Errors
    /// If the file is there and cannot be read.
    pub(super) fn read(path: &Path, problems: &mut Problems) -> Result<Self, Error> {
        let mut labels = Self::default();
        let mut section = Section::Other;
        // Types that the next list of values is for.
        let mut block: Vec<i64> = Vec::new();
        lines(path, problems, |line| {
            let line = line.trim();
            match line {
                "" => {}
                "STATES" => section = Section::States,
                "EVENT_TYPE" => {
                    section = Section::Types;
                    block.clear();
                }
                "VALUES" if section == Section::Types => {
                    section = Section::Values;
                    let list = labels.lists.len();
                    labels.lists.push(FxHashMap::default());
                    for number in &block {
                        if let Some(it) = labels.types.get_mut(number) {
                            it.list = Some(list);
                        }
                    }
                }
                _ if line.starts_with(|it: char| it.is_ascii_uppercase()) => section = Section::Other,
                _ => labels.line(section, line, &mut block),
            }
        })?;
        Ok(labels)
    }

    fn line(&mut self, section: Section, line: &str, block: &mut Vec<i64>) {
        let Some((number, rest)) = numbered(line) else { return };
        match section {
            Section::Other => {}
            Section::States => {
                self.states.insert(number, rest.to_owned());
            }
            Section::Types => {
                // The first number is one of a colour.
                let Some((number, label)) = numbered(rest) else { return };
                self.types.insert(number, Type { label: label.to_owned(), list: None });
                block.push(number);
            }
            Section::Values => {
                if let Some(list) = self.lists.last_mut() {
                    list.insert(number, whole(rest).to_owned());
                    self.n_values += 1;
                }
            }
        }
    }

    /// The list of labels that a type has for its values.
    pub(super) fn values(&self, kind: i64) -> Option<&FxHashMap<i64, String>> {
        let list = self.types.get(&kind)?.list?;
        self.lists.get(list).filter(|list| !list.is_empty())
    }

    pub(super) fn value(&self, kind: i64, value: i64) -> Option<&str> {
        self.values(kind)?.get(&value).map(String::as_str)
    }
}

impl Rows {
    /// # Errors
    /// If the file is there and cannot be read.
    pub(super) fn read(path: &Path, problems: &mut Problems) -> Result<Self, Error> {
        let mut rows = Self::default();
        let mut level = String::new();
        lines(path, problems, |line| {
            if let Some(rest) = line.strip_prefix("LEVEL ") {
                level = rest.split_whitespace().next().unwrap_or_default().to_owned();
                return;
            }
            let line = line.trim();
            let names = match level.as_str() {
                "THREAD" => &mut rows.threads,
                "NODE" => &mut rows.nodes,
                "TASK" => &mut rows.tasks,
                _ => return,
            };
            if !line.is_empty() {
                names.push(line.to_owned());
            }
        })?;
        Ok(rows)
    }

    pub(super) fn len(&self) -> usize {
        self.threads.len() + self.nodes.len() + self.tasks.len()
    }
}

/// A number and what stands behind it.
fn numbered(line: &str) -> Option<(i64, &str)> {
    let (number, rest) = line.split_once(|it: char| it.is_whitespace()).unwrap_or((line, ""));
    Some((number.parse().ok()?, rest.trim()))
}

/// Extrae shortens names and has the whole one in brackets behind; `tau_convert` has some in quotes.
fn whole(label: &str) -> &str {
    let label = label.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(label).trim();
    let long = label.split_once(" [").filter(|(short, _)| short.contains(".."));
    long.and_then(|(_, long)| long.strip_suffix(']')).unwrap_or(label)
}

/// Calls `each` with the lines of a file; that there is none is a problem, and no error.
fn lines(path: &Path, problems: &mut Problems, mut each: impl FnMut(&str)) -> Result<(), Error> {
    if !path.is_file() {
        problems.add(kind::MISSING, format!("{}: no such file, so names are missing", path.display()), 1);
        return Ok(());
    }
    let mut input = Input::open(path)?;
    let mut line = Vec::new();
    loop {
        match input.line(&mut line)? {
            Line::Whole => each(&String::from_utf8_lossy(&line)),
            Line::TooLong => {
                problems.add(kind::DAMAGED, format!("{}: lines that are too long", path.display()), 1);
            }
            Line::Broken => {
                problems.add(kind::DAMAGED, format!("{}: damaged from here on", path.display()), 1);
                return Ok(());
            }
            Line::End => return Ok(()),
        }
    }
}
