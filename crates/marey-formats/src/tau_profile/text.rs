//! `profile.NODE.CONTEXT.THREAD`: a file for each thread and metric.

use std::path::{Path, PathBuf};

use super::convert::{Convert, Row, UserEvent, Who};
use crate::input::{Input, Line};
use crate::problems::kind;
use crate::{Error, Progress};

/// How the first line goes on behind the number of functions.
const MAGIC: &str = "templated_functions";
/// How directories of one metric each are called.
const MULTI: &str = "MULTI__";
/// Files of a profile.
const MOST_FILES: usize = 1 << 20;

pub(super) fn is_beginning(beginning: &[u8]) -> bool {
    let line = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_whitespace();
    let has_number = words.next().is_some_and(|word| word.parse::<u64>().is_ok());
    has_number && words.next().is_some_and(|word| word.starts_with(MAGIC))
}

/// Whether a file is called as one of a thread.
pub(crate) fn is_of_thread(path: &Path) -> bool {
    who(path).is_some()
}

fn who(path: &Path) -> Option<Who> {
    let rest = path.file_name()?.to_str()?.strip_prefix("profile.")?;
    let mut numbers = rest.split('.').map(|number| number.parse().ok());
    let who = (numbers.next()??, numbers.next()??, numbers.next()??);
    numbers.next().is_none().then_some(who)
}

/// Reads all files of the profile that a file is of.
pub(super) fn read(file: &Path, convert: &mut Convert, progress: &dyn Progress) -> Result<(), Error> {
    let files = all_of(file)?;
    let len = |file: &PathBuf| std::fs::metadata(file).map_or(0, |it| it.len());
    progress.begin(files.iter().map(len).sum());
    let metrics: Vec<String> = files.iter().map(|file| metric_of(file)).collect::<Result<_, _>>()?;
    let mut distinct = metrics.clone();
    distinct.sort();
    distinct.dedup();
    convert.metrics(&distinct);
    for file in &files {
        read_one(file, who(file).unwrap_or_default(), convert)?;
        progress.advance(len(file));
    }
    Ok(())
}

/// The files of all threads and metrics that lie beside a file.
fn all_of(file: &Path) -> Result<Vec<PathBuf>, Error> {
    if who(file).is_none() {
        return Ok(vec![file.to_owned()]);
    }
    let parent = |path: &Path| match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir.to_owned(),
        _ => PathBuf::from("."),
    };
    let dir = parent(file);
    let whole = dir.canonicalize().unwrap_or_else(|_| dir.clone());
    let is_multi =
        |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(MULTI));
    let dirs = if is_multi(&whole) {
        let beside = entries(&parent(&whole))?;
        beside.into_iter().filter(|path| path.is_dir() && is_multi(path)).collect()
    } else {
        vec![dir]
    };
    let mut files = Vec::new();
    for dir in dirs {
        files.extend(entries(&dir)?.into_iter().filter_map(|path| Some((who(&path)?, path))));
    }
    files.sort();
    Ok(files.into_iter().map(|it| it.1).collect())
}

fn entries(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = std::fs::read_dir(dir).map_err(|source| Error::Read { path: dir.to_owned(), source })?;
    Ok(entries.take(MOST_FILES).flatten().map(|entry| entry.path()).collect())
}

fn metric_of(file: &Path) -> Result<String, Error> {
    let mut line = Vec::new();
    Input::open(file)?.line(&mut line)?;
    Ok(metric(&String::from_utf8_lossy(&line)))
}

/// The metric that a first line names; TAU's own is the time.
fn metric(line: &str) -> String {
    let name = line.split_once("_MULTI_").map_or("TIME", |it| it.1);
    name.trim().to_owned()
}

fn read_one(file: &Path, who: Who, convert: &mut Convert) -> Result<(), Error> {
    let mut lines = Lines { input: Input::open(file)?, line: Vec::new(), number: 0, is_damaged: false };
    let damaged = |convert: &mut Convert, number: u64, what: &str| {
        let text = format!("{}: {what}, at line {number}", file.display());
        convert.profile.problems.add(kind::DAMAGED, text, 1);
    };
    let first = lines.next()?.unwrap_or_default();
    let metric = metric(&first);
    let n_functions = number(&first);
    let second = lines.next()?.unwrap_or_default();
    metadata(&second, who, convert)?;
    let mut rows = Vec::new();
    for _ in 0..n_functions.unwrap_or(0) {
        let Some(line) = lines.next()? else { break };
        match row(&line) {
            Some(row) => rows.push(row),
            None => damaged(convert, lines.number, "no row of a function"),
        }
    }
    if n_functions.is_none_or(|number| number > rows.len() as u64) {
        damaged(convert, lines.number, "fewer functions than it says");
    }
    convert.rows(who, &metric, &rows)?;
    while let Some(line) = lines.next()? {
        let Some(n_events) = number(&line).filter(|_| line.contains("userevents")) else { continue };
        // The head of the table.
        lines.next()?;
        for _ in 0..n_events {
            let Some(line) = lines.next()? else {
                damaged(convert, lines.number, "fewer user events than it says");
                break;
            };
            match user_event(&line) {
                Some(event) => convert.user_event(who, &event)?,
                None => damaged(convert, lines.number, "no row of a user event"),
            }
        }
    }
    if lines.is_damaged {
        damaged(convert, lines.number, "damaged, and not read from there on");
    }
    Ok(())
}

struct Lines {
    input: Input,
    line: Vec<u8>,
    number: u64,
    is_damaged: bool,
}

impl Lines {
    fn next(&mut self) -> Result<Option<String>, Error> {
        self.number += 1;
        Ok(match self.input.line(&mut self.line)? {
            Line::Whole => Some(String::from_utf8_lossy(&self.line).into_owned()),
            Line::TooLong | Line::Broken => {
                self.is_damaged = true;
                None
            }
            Line::End => None,
        })
    }
}

fn number(line: &str) -> Option<u64> {
    line.split_whitespace().next()?.parse().ok()
}

/// `"NAME" CALLS SUBROUTINES EXCLUSIVE INCLUSIVE PROFILED GROUP="A | B"`; names may have quotes in them.
fn row(line: &str) -> Option<Row> {
    let (before, groups) = line.rsplit_once("GROUP=\"").unwrap_or((line, ""));
    let (name, rest) = before.strip_prefix('"')?.rsplit_once('"')?;
    let mut numbers = rest.split_whitespace().map(|word| word.parse::<f64>().ok());
    let (calls, _, exclusive, inclusive) =
        (numbers.next()??, numbers.next()??, numbers.next()??, numbers.next()??);
    let groups = groups.trim_end().trim_end_matches('"').to_owned();
    Some(Row { name: name.to_owned(), groups, calls, exclusive, inclusive })
}

/// `"NAME" NUMBER GREATEST LEAST MEAN SUM-OF-SQUARES`
fn user_event(line: &str) -> Option<UserEvent> {
    let (name, rest) = line.strip_prefix('"')?.rsplit_once('"')?;
    let mut numbers = rest.split_whitespace().map(|word| word.parse::<f64>().ok());
    let mut next = || numbers.next().flatten();
    let (number, greatest, least, mean, squares) = (next()?, next()?, next()?, next()?, next()?);
    Some(UserEvent { name: name.trim().to_owned(), number, least, greatest, mean, squares })
}

/// `<attribute><name>NAME</name><value>VALUE</value></attribute>`, any number of times.
fn metadata(line: &str, who: Who, convert: &mut Convert) -> Result<(), Error> {
    for attribute in line.split("<attribute>").skip(1) {
        let part = |tag: &str| {
            let (_, rest) = attribute.split_once(&format!("<{tag}>"))?;
            let text = rest.split_once(&format!("</{tag}>"))?.0;
            Some(quick_xml::escape::unescape(text).map_or_else(|_| text.to_owned(), |it| it.into_owned()))
        };
        if let (Some(name), Some(value)) = (part("name"), part("value")) {
            convert.fact(who, &name, &value)?;
        }
    }
    Ok(())
}
