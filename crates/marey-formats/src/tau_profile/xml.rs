//! `tauprofile.xml`: many documents in one file.
//!
//! The one idea: it is read twice. First which profile of each thread is its last, for a later one has all that those before
//! it had; then these alone.

use std::collections::BTreeMap;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use rustc_hash::FxHashMap;

use super::convert::{Convert, Row, UserEvent, Who};
use crate::input::Input;
use crate::{Error, Progress};

/// Names by number, of all threads or of one.
#[derive(Debug, Default)]
struct Names {
    metrics: FxHashMap<u64, String>,
    /// With their groups.
    functions: FxHashMap<u64, (String, String)>,
    user_events: FxHashMap<u64, String>,
}

/// What is being read.
#[derive(Debug, Default)]
struct State {
    names: BTreeMap<Option<Who>, Names>,
    /// The thread that definitions or a profile are of.
    who: Option<Who>,
    id: u64,
    text: String,
    name: String,
    group: String,
    /// Metrics of the rows that follow.
    metrics: Vec<u64>,
    /// Profiles so far.
    number: u64,
    /// The last profile of each thread.
    last: BTreeMap<Who, u64>,
    is_counting: bool,
    damage: u64,
}

/// Reads a merged profile.
pub(super) fn read(file: &Path, convert: &mut Convert, progress: &dyn Progress) -> Result<(), Error> {
    let input = Input::open(file)?;
    progress.begin(input.len().saturating_mul(2));
    let mut state = State { is_counting: true, ..State::default() };
    let damage = pass(file, input, &mut state, convert, progress)?;
    if let Some(text) = damage {
        convert.profile.trouble(text);
    }
    let metrics: BTreeMap<u64, String> =
        state.names.values().flat_map(|names| names.metrics.iter().map(|it| (*it.0, it.1.clone()))).collect();
    convert.metrics(&metrics.into_values().collect::<Vec<_>>());
    let mut state = State { last: state.last, ..State::default() };
    pass(file, Input::open(file)?, &mut state, convert, progress)?;
    for _ in 0..state.damage {
        convert.profile.trouble("rows that make no sense");
    }
    Ok(())
}

/// What is damaged, if anything is.
fn pass(
    file: &Path,
    input: Input,
    state: &mut State,
    convert: &mut Convert,
    progress: &dyn Progress,
) -> Result<Option<String>, Error> {
    let mut reader = Reader::from_reader(input);
    let config = reader.config_mut();
    // Each thread has a document of its own, and names are as they are.
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Eof) => return Ok(None),
            Ok(Event::Start(tag)) => state.begin(&tag),
            Ok(Event::Text(text)) => state.text += &*text,
            Ok(Event::CData(text)) => state.text += &*text,
            Ok(Event::GeneralRef(name)) => state.text += entity(&name),
            Ok(Event::End(tag)) => {
                let name = tag.name().as_ref().to_owned();
                state.end(&name, convert)?;
                reader.get_mut().tell(progress);
            }
            Ok(_) => {}
            Err(quick_xml::Error::Io(error)) if !crate::input::is_of_content(&error) => {
                let source = std::io::Error::new(error.kind(), error.to_string());
                return Err(Error::Read { path: file.to_owned(), source });
            }
            Err(error) => {
                return Ok(Some(format!(
                    "{error}, at byte {}; nothing is read from there on",
                    reader.buffer_position()
                )));
            }
        }
    }
}

/// The character that an entity stands for.
pub(crate) fn entity(name: &str) -> &'static str {
    match name {
        "lt" => "<",
        "gt" => ">",
        "amp" => "&",
        "quot" => "\"",
        "apos" => "'",
        _ => "",
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> String {
    let found = tag.try_get_attribute(name).ok().flatten();
    found.map(|it| it.value.into_owned()).unwrap_or_default()
}

/// `NODE.CONTEXT.THREAD`, and perhaps a number of the process.
fn who(text: &str) -> Option<Who> {
    let mut numbers = text.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??, numbers.next()??))
}

impl State {
    fn begin(&mut self, tag: &BytesStart<'_>) {
        self.text.clear();
        match tag.name().as_ref() {
            "definitions" => self.who = who(&attribute(tag, "thread")),
            "metric" | "event" | "userevent" => {
                self.id = attribute(tag, "id").parse().unwrap_or(u64::MAX);
                self.name.clear();
                self.group.clear();
            }
            "thread" => self.who = who(&attribute(tag, "id")),
            "profile" => {
                self.who = who(&attribute(tag, "thread"));
                self.number += 1;
            }
            "interval_data" => {
                let metrics = attribute(tag, "metrics");
                self.metrics = metrics.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: &str, convert: &mut Convert) -> Result<(), Error> {
        let text = std::mem::take(&mut self.text);
        match tag {
            "name" => text.trim().clone_into(&mut self.name),
            "group" => self.group = text,
            "value" => {
                if let Some(who) = self.who.filter(|_| !self.is_counting) {
                    convert.fact(who, &self.name, text.trim())?;
                }
            }
            "metric" => {
                let (id, name) = (self.id, self.name.clone());
                self.named().metrics.insert(id, name);
            }
            "event" => {
                let (id, names) = (self.id, (self.name.clone(), self.group.clone()));
                self.named().functions.insert(id, names);
            }
            "userevent" => {
                let (id, name) = (self.id, self.name.clone());
                self.named().user_events.insert(id, name);
            }
            "profile" if self.is_counting => {
                if let Some(who) = self.who {
                    self.last.insert(who, self.number);
                }
            }
            "interval_data" if self.is_last() => self.functions(&text, convert)?,
            "atomic_data" if self.is_last() => self.user_events(&text, convert)?,
            _ => {}
        }
        Ok(())
    }

    fn named(&mut self) -> &mut Names {
        self.names.entry(self.who).or_default()
    }

    /// Whether this profile is the last of its thread, and rows are wanted.
    fn is_last(&self) -> bool {
        !self.is_counting && self.who.is_some_and(|who| self.last.get(&who) == Some(&self.number))
    }

    /// A name of this thread, or of all.
    fn find<'a, T>(&'a self, of: impl Fn(&'a Names) -> Option<&'a T>) -> Option<&'a T> {
        let own = self.names.get(&self.who).and_then(&of);
        own.or_else(|| self.names.get(&None).and_then(&of))
    }

    /// `ID CALLS SUBROUTINES`, and for each metric `EXCLUSIVE INCLUSIVE`.
    fn functions(&mut self, text: &str, convert: &mut Convert) -> Result<(), Error> {
        let Some(who) = self.who else { return Ok(()) };
        let mut rows: Vec<Vec<Row>> = vec![Vec::new(); self.metrics.len()];
        let mut damage = 0;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let numbers: Option<Vec<f64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
            let id = line.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
            let function = id.and_then(|id| self.find(|names| names.functions.get(&id)));
            let (Some(numbers), Some((name, groups))) = (numbers, function) else {
                damage += 1;
                continue;
            };
            let [_, calls, _, measured @ ..] = numbers.as_slice() else {
                damage += 1;
                continue;
            };
            for (rows, pair) in rows.iter_mut().zip(measured.as_chunks::<2>().0) {
                let [exclusive, inclusive] = *pair;
                rows.push(Row {
                    name: name.clone(),
                    groups: groups.clone(),
                    calls: *calls,
                    exclusive,
                    inclusive,
                });
            }
        }
        self.damage += damage;
        for (metric, rows) in self.metrics.iter().zip(&rows) {
            let name = self.find(|names| names.metrics.get(metric)).cloned();
            convert.rows(who, &name.unwrap_or_else(|| format!("metric {metric}")), rows)?;
        }
        Ok(())
    }

    /// `ID NUMBER GREATEST LEAST MEAN SUM-OF-SQUARES`
    fn user_events(&mut self, text: &str, convert: &mut Convert) -> Result<(), Error> {
        let Some(who) = self.who else { return Ok(()) };
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let id = line.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
            let name = id.and_then(|id| self.find(|names| names.user_events.get(&id))).cloned();
            let numbers: Option<Vec<f64>> =
                line.split_whitespace().skip(1).map(|word| word.parse().ok()).collect();
            let (Some(name), Some(numbers)) = (name, numbers) else {
                self.damage += 1;
                continue;
            };
            let &[number, greatest, least, mean, squares, ..] = numbers.as_slice() else {
                self.damage += 1;
                continue;
            };
            // What never happened says nothing.
            if number > 0.0 {
                convert.user_event(who, &UserEvent { name, number, least, greatest, mean, squares })?;
            }
        }
        Ok(())
    }
}
