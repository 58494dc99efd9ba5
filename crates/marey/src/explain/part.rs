//! The part of a run that the user asks for, and of that what can be explained.
//!
//! The one idea: a part is a selection and its words. A run whose later events were only added up is explained as far as all
//! of its events are there, which is a part, too, though nobody has asked for it.
//!
//! What numbers of a part mean is told in `docs/selections.md`.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::bail;
use marey_analyze::{
    Causes, Excerpt, Selection, Span, Trace, Unread, Until, Waits, causes_of, causes_within, in_context,
    on_communicator, on_level, on_noun, stacks_in_context, waits,
};
use marey_archive::Events;
use marey_model::{Nanos, StackId};

use crate::busy::Busy;
use crate::cli::{Ranks, When, Which};
use crate::exit::Usage;
use crate::format;
use crate::paint::{harmless, shorten};
use crate::run::{Run, damaged};

/// Communicators that an error names at most.
const MOST_NAMED: usize = 10;

/// A part of a run.
#[derive(Debug)]
pub(crate) struct Part {
    /// What is meant, no later than all events are there.
    pub(crate) selection: Selection,
    /// Until when they are, if not until the end.
    pub(crate) until: Option<Nanos>,
    /// `from 1.2 s to 3.4 s, ranks 0–3`; empty = nothing was asked for.
    pub(crate) words: String,
    pub(crate) options: Options,
}

/// How a part is asked for, as it is typed behind a command; both begin with a space if they are not empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) when: String,
    pub(crate) ranks: String,
    /// Level and communicator.
    pub(crate) which: String,
    pub(crate) context: String,
}

impl Options {
    /// Whether some calls are not meant.
    pub(crate) fn choose_calls(&self) -> bool {
        !self.context.is_empty() || !self.which.is_empty()
    }
}

impl Part {
    /// The part that is meant.
    pub(crate) fn asked(run: &Run, path: &Path, when: &When, which: &Which) -> anyhow::Result<Self> {
        let until = crate::info::summed_since(&run.archive);
        let selection = selection(run, when, which)?;
        let mut part = Self {
            words: words(run, &selection.span, when, which),
            options: options(when, which),
            selection,
            until,
        };
        if let Some(until) = until {
            part.end_at(run, path, until)?;
        }
        Ok(part)
    }

    /// Nothing behind `until` is meant.
    fn end_at(&mut self, run: &Run, path: &Path, until: Nanos) -> anyhow::Result<()> {
        let span = &mut self.selection.span;
        let is_asked = !self.words.is_empty();
        if is_asked && until <= span.from.max(Nanos(0)) {
            bail!(Usage(format!(
                "the events of {} were kept until {} of {} only, and then added up: nothing is known of a part of \
                 that",
                path.display(),
                format::duration(until),
                format::duration(run.trace.duration())
            )));
        }
        span.to = span.to.min(until);
        Ok(())
    }

    /// Whether the user wants less than all.
    pub(crate) fn is_asked(&self) -> bool {
        !self.words.is_empty()
    }

    /// What of the run tables are about.
    pub(crate) fn span(&self, run: &Run) -> Span {
        let end = run.trace.duration();
        let Span { from, to } = if self.is_asked() { self.selection.span } else { Span::ALL };
        Span { from: from.max(Nanos(0)), to: to.min(end) }
    }

    /// What of the run is told of, where nothing is of what has no events.
    pub(crate) fn covered(&self, run: &Run) -> Span {
        let Span { from, to } = self.selection.span;
        Span { from: from.max(Nanos(0)), to: to.min(run.trace.duration()) }
    }

    /// Whether somebody or some calls are not meant.
    pub(crate) fn shows_rows(&self) -> bool {
        self.selection.locations.is_some() || self.chooses_calls()
    }

    /// Whether some calls are not meant.
    pub(crate) fn chooses_calls(&self) -> bool {
        self.selection.call_paths.is_some() || self.selection.communicators.is_some()
    }

    /// `explained is the first 3.2 s of 10 s, …`, if that is so.
    pub(crate) fn cut(&self, run: &Run) -> Option<String> {
        let until = self.until?;
        Some(format!(
            "explained is the beginning, the first {} of {}, of which all events are recorded; after that only sums \
             are",
            format::solid(format::duration(until)),
            format::solid(format::duration(run.trace.duration())),
        ))
    }

    /// Refuses a run of which nothing has events.
    pub(crate) fn has_a_beginning(&self, run: &Run, path: &Path) -> anyhow::Result<()> {
        if let Some(words) = crate::info::without_times(run.archive.meta()) {
            bail!("{} cannot be explained: it was imported from {words}", path.display());
        }
        if self.until.is_some_and(|until| until <= Nanos(0)) {
            bail!(
                "{} cannot be explained: its events were not kept, but added up from the start; record less of it \
                 (--rule, --filter), or more (--max-mb)",
                path.display()
            );
        }
        Ok(())
    }

    /// `; from 1.2 s to 3.4 s`, behind a remark; nothing of a whole run.
    pub(crate) fn remark(&self) -> String {
        if self.is_asked() { format!("; {}", self.words) } else { String::new() }
    }

    /// All waits of the run, or of what of it has all events.
    pub(super) fn all_waits(&self, run: &Run, events: &Events<'_>) -> Result<Waits, Unread> {
        match self.until {
            None => super::all_waits(run, events),
            Some(until) => waits(&Until::new(&run.trace, until), events),
        }
    }

    /// Why it took as long as it did.
    pub(crate) fn causes(&self, run: &Run, path: &Path) -> anyhow::Result<Causes> {
        self.has_a_beginning(run, path)?;
        let unread = |unread: Unread| {
            anyhow::anyhow!(
                "{} cannot be explained, for parts of it cannot be read: {unread}",
                path.display()
            )
        };
        let prepared =
            if self.until.is_none() { marey_archive::prepared(&run.archive, &run.trace) } else { None };
        let _busy = Busy::with("explaining");
        let events = || Events::open(&run.archive, &run.trace).map_err(|error| damaged(path, &error));
        match (prepared, self.until) {
            (Some(causes), _) if self.selection == Selection::default() => Ok(causes),
            (Some(whole), _) => causes_within(&run.trace, &events()?, &self.selection, whole).map_err(unread),
            (None, Some(until)) => {
                causes_of(&Until::new(&run.trace, until), &events()?, &self.selection).map_err(unread)
            }
            (None, None) => causes_of(&run.trace, &events()?, &self.selection).map_err(unread),
        }
    }

    /// Its sums, if it is not the whole run.
    pub(crate) fn excerpt<'r>(&self, run: &'r Run, path: &Path) -> anyhow::Result<Option<Excerpt<'r>>> {
        if self.selection == Selection::default() {
            return Ok(None);
        }
        let _busy = Busy::with("adding up");
        let events = Events::open(&run.archive, &run.trace).map_err(|error| damaged(path, &error))?;
        let excerpt = Excerpt::new(&run.trace, &events, &self.selection);
        excerpt.map(Some).map_err(|unread| {
            anyhow::anyhow!(
                "a part of {} cannot be added up, for it cannot be read: {unread}",
                path.display()
            )
        })
    }
}

fn selection(run: &Run, when: &When, which: &Which) -> anyhow::Result<Selection> {
    let trace: &dyn Trace = &run.trace;
    let (from, to) = (when.from.unwrap_or(Span::ALL.from), when.to.unwrap_or(Span::ALL.to));
    if to <= from
        || when.from.is_some_and(|from| from >= trace.duration())
        || when.to.is_some_and(|to| to <= Nanos(0))
    {
        bail!(Usage(format!(
            "nothing lies between --from and --to; the run goes from 0 to {}",
            format::duration(trace.duration())
        )));
    }
    let locations = which.whose.ranks.as_ref().map(|ranks| of_ranks(trace, ranks)).transpose()?;
    let context = which.whose.context.as_ref().map(|name| named(trace, name)).transpose()?;
    let (context, stacks) = context.map_or((None, BTreeSet::new()), |(paths, stacks)| (Some(paths), stacks));
    let level = which.whose.level.as_ref().map(|level| of_level(trace, level)).transpose()?;
    let communicators = which.communicator.as_ref().map(|name| of_communicator(run, name)).transpose()?;
    let call_paths = match (context, level) {
        (Some(a), Some(b)) => Some(a.iter().zip(b).map(|(&a, b)| a && b).collect()),
        (one, other) => one.or(other),
    };
    // What is no call is on no level.
    let stacks = if which.whose.level.is_none() { stacks } else { BTreeSet::new() };
    Ok(Selection { span: Span { from, to }, locations, call_paths, communicators, stacks })
}

/// `from 1.2 s to 3.4 s, ranks 0–3`
fn words(run: &Run, span: &Span, when: &When, which: &Which) -> String {
    let mut words = Vec::new();
    if when.from.is_some() || when.to.is_some() {
        let at = |time: Nanos| format::solid(format::duration(time.max(Nanos(0)).min(run.trace.duration())));
        words.push(format!("from {} to {}", at(span.from), at(span.to)));
    }
    if let Some(Ranks(ranks)) = &which.whose.ranks {
        let range = |(first, last): &(u32, u32)| {
            if first == last { first.to_string() } else { format!("{first}–{last}") }
        };
        let is_one = matches!(ranks.as_slice(), [(first, last)] if first == last);
        let ranks = ranks.iter().map(range).collect::<Vec<_>>().join(", ");
        words.push(format!("rank{} {ranks}", if is_one { "" } else { "s" }));
    }
    let name = |name: &str| shorten(&harmless(name), 40);
    words.extend(which.whose.context.as_ref().map(|context| format!("in {} and beneath", name(context))));
    words.extend(which.whose.level.as_ref().map(|level| format!("calls of level {}", name(level))));
    words.extend(which.communicator.as_ref().map(|it| format!("communicator {}", name(it))));
    words.join(", ")
}

fn options(when: &When, which: &Which) -> Options {
    let quoted = |name: &str| harmless(&crate::doctor::quote(name));
    let at = |option: &str, time: Option<Nanos>| {
        time.map_or_else(String::new, |time| format!(" --{option} {}", seconds(time)))
    };
    let named = |option: &str, name: &Option<String>| {
        name.as_ref().map_or_else(String::new, |name| format!(" --{option} {}", quoted(name)))
    };
    let range = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    let ranks = |Ranks(ranks): &Ranks| ranks.iter().map(range).collect::<Vec<_>>().join(",");
    Options {
        when: at("from", when.from) + &at("to", when.to),
        ranks: which.whose.ranks.as_ref().map_or_else(String::new, |it| format!(" --ranks {}", ranks(it))),
        which: named("level", &which.whose.level) + &named("communicator", &which.communicator),
        context: named("context", &which.whose.context),
    }
}

/// `1.25s`, exact.
fn seconds(time: Nanos) -> String {
    let ns = time.0.max(0);
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

fn of_ranks(trace: &dyn Trace, ranks: &Ranks) -> anyhow::Result<Vec<bool>> {
    let rank_of = marey_analyze::Process::first_rank;
    let known: Vec<u32> = trace.processes().iter().filter_map(rank_of).collect();
    for (first, last) in &ranks.0 {
        if !known.iter().any(|rank| (first..=last).contains(&rank)) {
            match (known.iter().min(), known.iter().max()) {
                (Some(least), Some(most)) => {
                    bail!(Usage(format!("the run has no rank {first}; it has {least} to {most}")))
                }
                _ => bail!(Usage("the run has no ranks: it is none of MPI".to_owned())),
            }
        }
    }
    let is_meant = |location: &marey_analyze::Location| {
        let rank = trace.processes().get(location.process.idx()).and_then(rank_of);
        rank.is_some_and(|rank| ranks.0.iter().any(|(first, last)| (*first..=*last).contains(&rank)))
    };
    Ok(trace.locations().iter().map(is_meant).collect())
}

/// The calls that lie in a context, and the stacks of samples there.
fn named(trace: &dyn Trace, name: &str) -> anyhow::Result<(Vec<bool>, BTreeSet<StackId>)> {
    let (is_in, stacks) = (in_context(trace, name), stacks_in_context(trace, name));
    if !is_in.contains(&true) && stacks.is_empty() {
        bail!(Usage(format!(
            "no recorded call and no sample is in or beneath {name:?}; `marey report --by path` and `marey hot` show \
             what there is"
        )));
    }
    Ok((is_in, stacks))
}

fn of_level(trace: &dyn Trace, level: &str) -> anyhow::Result<Vec<bool>> {
    let is_on = on_level(trace, level);
    if !is_on.contains(&true) {
        let levels: BTreeSet<String> = trace.regions().iter().map(|region| harmless(&region.level)).collect();
        let known = levels.into_iter().collect::<Vec<_>>().join(", ");
        bail!(Usage(format!("the run has no calls of level {level:?}; it has {known}")));
    }
    Ok(is_on)
}

fn of_communicator(run: &Run, name: &str) -> anyhow::Result<Vec<bool>> {
    let trace: &dyn Trace = &run.trace;
    let found = on_communicator(trace, name);
    if found.contains(&true) {
        return Ok(found);
    }
    let shown = Events::open(&run.archive, &run.trace)?;
    let shown = on_noun(&run.trace, &shown, name)?;
    if shown.contains(&true) {
        return Ok(shown);
    }
    let all = trace.communicators();
    if all.is_empty() {
        bail!(Usage(format!("the run has no communicator {name:?}; it has none at all")));
    }
    let names: BTreeSet<String> = all.iter().map(|it| harmless(&it.name)).collect();
    let known: Vec<String> = names.iter().take(MOST_NAMED).cloned().collect();
    let more =
        if names.len() > MOST_NAMED { format!(", {} more", names.len() - MOST_NAMED) } else { String::new() };
    bail!(Usage(format!(
        "the run has no communicator {name:?}; it has {}{more}, with numbers from 0 to {}",
        known.join(", "),
        all.len() - 1
    )))
}
