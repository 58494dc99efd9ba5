//! Sentences: what a noun and a verb on a level cost, under which others, and what that was made of.
//!
//! The one idea: a sentence is a pattern of regions, a context a pattern that one above it must fit, and what lower levels
//! did for it hangs beneath; so every question is one walk through the tree of call paths, and the parts add up to the
//! whole. Source: Irvin and Miller, *Mapping Performance Data for High-Level and Data Views of Parallel Program
//! Performance* (1996).
//!
//! What is *explicit*: the sentence itself, and what serves it by doing the same, such as the transfers of lower levels
//! beneath a transfer; of what is asked for under another sentence, that one says what is served. What is *implicit*: all
//! else beneath, done to keep what the sentence means, such as the lock around a transfer or the barrier in an allocation.
//!
//! Deliberately absent: when something happened, but for [`over_time`].

use std::collections::{BTreeMap, BTreeSet};

use marey_model::{CallPathId, LocationId, Nanos, NounId, ProcessId, Role, fits};

use crate::happenings::{Happenings, Unread, Visit};
use crate::names::is_named;
use crate::paths::{Paths, add, process_of};
use crate::trace::{Region, Trace};

mod choices;

pub use choices::{Choice, Choices, choices};

/// A pattern of sentences. `*` is any text, `?` any character.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sentence {
    /// The level; `None` = any.
    pub level: Option<String>,
    /// The verb; of a function or region of the program also its name. `None` = any.
    pub verb: Option<String>,
    /// The noun: array, function, communicator, file … `None` = any or none.
    pub noun: Option<String>,
}

/// A context that is no sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotASentence(pub String);

impl Sentence {
    /// Reads `LEVEL:VERB NOUN`, of which any part may be left out or be `*`: `coarray:get u`, `mpi:`, `get`.
    ///
    /// # Errors
    /// If nothing is left.
    pub fn parse(text: &str) -> Result<Self, NotASentence> {
        let word = |text: &str| (!text.is_empty() && text != "*").then(|| text.to_owned());
        let (level, rest) = match text.split_once(':') {
            // `a::b` is a name.
            Some((level, rest)) if !rest.starts_with(':') => (word(level.trim()), rest.trim()),
            _ => (None, text.trim()),
        };
        let (verb, noun) = match last_blank(rest) {
            Some(at) => (rest[..at].trim(), &rest[at + 1..]),
            None => (rest, ""),
        };
        let sentence = Self { level, verb: word(verb), noun: word(noun) };
        if sentence == Self::default() && text.trim() != "*" {
            return Err(NotASentence(text.to_owned()));
        }
        Ok(sentence)
    }

    /// The same, where verbs and nouns of these regions may have blanks in them: of `sync all`, the verb is the longest one of
    /// theirs that the text begins with. Time: linear in regions.
    ///
    /// # Errors
    /// If nothing is left.
    pub fn parse_of(text: &str, regions: &[Region]) -> Result<Self, NotASentence> {
        let mut found = Self::parse(text)?;
        let said = match text.split_once(':') {
            Some((_, said)) if !said.starts_with(':') => said.trim(),
            _ => text.trim(),
        };
        // A function with blanks in its name, of arguments of a template and the like.
        let is_function = |region: &Region| region.role == Role::Work && region.noun == said;
        if regions.iter().any(is_function) {
            (found.verb, found.noun) = (Some(said.to_owned()), None);
            return Ok(found);
        }
        let of_level = |region: &&Region| found.level.as_ref().is_none_or(|level| fits(level, &region.level));
        let begins = |verb: &&str| {
            said.strip_prefix(*verb).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        let verbs = regions.iter().filter(of_level).map(|region| region.verb.as_str());
        if let Some(verb) = verbs.filter(|verb| !verb.is_empty()).filter(begins).max_by_key(|verb| verb.len())
        {
            let noun = said[verb.len()..].trim();
            found.noun = (!noun.is_empty() && noun != "*").then(|| noun.to_owned());
            found.verb = Some(verb.to_owned());
        }
        Ok(found)
    }

    /// Whether a region is one.
    pub fn is(&self, region: &Region) -> bool {
        let fit =
            |pattern: &Option<String>, text: &str| pattern.as_ref().is_none_or(|pattern| fits(pattern, text));
        let is_verb = self.verb.as_ref().is_none_or(|verb| {
            fits(verb, &region.verb) || region.role == Role::Work && is_named(&region.noun, verb)
        });
        fit(&self.level, &region.level) && is_verb && fit(&self.noun, &region.noun)
    }
}

/// The last blank that is in no brackets, as those of templates' arguments are.
fn last_blank(text: &str) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, letter) in text.bytes().enumerate().rev() {
        match letter {
            b'>' | b')' | b']' | b'}' => depth += 1,
            b'<' | b'(' | b'[' | b'{' => depth -= 1,
            b' ' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// What time goes to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// The program's own work, and book-keeping.
    Computation,
    /// Moving data.
    Communication,
    /// Until others have done something.
    Waiting,
}

impl Class {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Computation, Self::Communication, Self::Waiting];

    /// What a role is.
    pub const fn of(role: Role) -> Self {
        match role {
            Role::Transfer | Role::AllToAll | Role::OneToAll | Role::AllToOne => Self::Communication,
            Role::Wait | Role::Acquire | Role::Barrier => Self::Waiting,
            _ => Self::Computation,
        }
    }

    /// A word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Computation => "computation",
            Self::Communication => "communication",
            Self::Waiting => "waiting",
        }
    }
}

/// Part of what a sentence cost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Share {
    /// The level.
    pub level: String,
    /// What was done there.
    pub class: Class,
    /// Whether it is what the sentence says.
    pub is_explicit: bool,
    /// Visits.
    pub visits: u64,
    /// Exclusive time.
    pub time: Nanos,
}

/// What costs are told apart by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// Nouns.
    Noun,
    /// Verbs.
    Verb,
    /// Lines of the source.
    Line,
    /// Processes.
    Process,
}

/// The costs of some of the sentences that were asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// What they have in common: noun, verb, or `file:line`; of a process its number.
    pub name: String,
    /// The process, if they are told apart by that.
    pub process: Option<ProcessId>,
    /// How often.
    pub visits: u64,
    /// Time, with what lies beneath.
    pub time: Nanos,
    /// Bytes that they say to have moved.
    pub bytes: u64,
    /// That of them with most time: where to look for all of them.
    pub longest: CallPathId,
}

/// What sentences cost.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SentenceCost {
    /// How often.
    pub visits: u64,
    /// How many of these were counted only: no time of them is known.
    pub untimed: u64,
    /// Time, with what lies beneath; what lies in another one that is asked for counts once.
    pub time: Nanos,
    /// Bytes that they say to have moved.
    pub bytes: u64,
    /// What the time was made of: adds up to it.
    pub shares: Vec<Share>,
    /// Told apart.
    pub groups: Vec<Group>,
    /// The outermost call paths that are meant.
    pub call_paths: BTreeSet<CallPathId>,
}

/// The cost of sentences, each beneath one of every context. Time: linear in call paths and the profile.
pub fn sentences(trace: &dyn Trace, asked: &Sentence, contexts: &[Sentence], by: By) -> SentenceCost {
    let tree = Tree::new(trace, asked, contexts);
    let paths = Paths::new(trace);
    let arrays = if by == By::Noun { acted_on(trace) } else { BTreeMap::new() };
    let mut cost = SentenceCost::default();
    let mut shares: BTreeMap<(String, Class, bool), (u64, Nanos)> = BTreeMap::new();
    let mut groups: BTreeMap<(String, Option<ProcessId>), (Group, Nanos)> = BTreeMap::new();
    for row in trace.profile() {
        let at = row.call_path.idx();
        let (Some(path), Some(place)) = (trace.call_paths().get(at), tree.places.get(at)) else { continue };
        let Some(region) = trace.regions().get(path.region.idx()) else { continue };
        let Some(root) = place.root else { continue };
        // Of what is asked for, however deep.
        if place.is_meant {
            cost.visits = cost.visits.saturating_add(row.visits);
            cost.untimed = cost.untimed.saturating_add(row.untimed);
        }
        let is_root = root.idx() == at;
        if is_root {
            add(&mut cost.time, row.inclusive);
            cost.bytes = cost.bytes.saturating_add(row.bytes);
            cost.call_paths.insert(root);
            let process = process_of(trace, row.location);
            let name = match by {
                By::Noun => match (region.noun.is_empty(), arrays.get(&root)) {
                    (true, Some(name)) => (*name).to_owned(),
                    _ => region.noun.clone(),
                },
                By::Verb => region.verb.clone(),
                By::Line => {
                    let site = paths.call_site(root);
                    if site.file.is_empty() {
                        site.function.clone()
                    } else {
                        format!("{}:{}", site.file, site.line)
                    }
                }
                By::Process => process.map_or_else(String::new, |process| process.0.to_string()),
            };
            let of = (by == By::Process).then_some(process).flatten();
            let (group, longest) = groups.entry((name.clone(), of)).or_insert_with(|| {
                let group = Group { name, process: of, visits: 0, time: Nanos(0), bytes: 0, longest: root };
                (group, row.inclusive)
            });
            if *longest < row.inclusive {
                (group.longest, *longest) = (root, row.inclusive);
            }
            group.visits = group.visits.saturating_add(row.visits);
            add(&mut group.time, row.inclusive);
            group.bytes = group.bytes.saturating_add(row.bytes);
        }
        // Beneath a context, what keeps that one's meaning is implicit.
        let said = place.context.unwrap_or(root);
        let of_said = trace.call_paths().get(said.idx());
        let of_said = of_said.and_then(|path| trace.regions().get(path.region.idx()));
        let is_explicit = said.idx() == at || of_said.is_some_and(|said| said.role == region.role);
        let share = shares.entry((region.level.clone(), Class::of(region.role), is_explicit)).or_default();
        share.0 = share.0.saturating_add(row.visits);
        add(&mut share.1, row.exclusive);
    }
    let share =
        |((level, class, is_explicit), (visits, time))| Share { level, class, is_explicit, visits, time };
    cost.shares = shares.into_iter().map(share).collect();
    cost.shares.sort_by_key(|share| std::cmp::Reverse(share.time));
    cost.groups = groups.into_values().map(|(group, _)| group).collect();
    if by == By::Line {
        shorten_paths(&mut cost.groups);
    }
    cost.groups.sort_by_key(|group| std::cmp::Reverse(group.time));
    cost
}

/// Where a call path stands to what is asked for.
#[derive(Clone, Copy, Default)]
struct Place {
    /// It is one.
    is_meant: bool,
    /// The outermost one that it is or lies in.
    root: Option<CallPathId>,
    /// The nearest region around it that is a context.
    context: Option<CallPathId>,
}

struct Tree {
    places: Vec<Place>,
}

impl Tree {
    fn new(trace: &dyn Trace, asked: &Sentence, contexts: &[Sentence]) -> Self {
        let paths = trace.call_paths();
        let fit: Vec<bool> = trace.regions().iter().map(|region| asked.is(region)).collect();
        let in_data = accessing(trace, asked);
        // Bits for the contexts that hold; more than 64 nobody asks for.
        let contexts = &contexts[..contexts.len().min(64)];
        let all = if contexts.len() == 64 { u64::MAX } else { (1 << contexts.len()) - 1 };
        let by_region: Vec<u64> = trace
            .regions()
            .iter()
            .map(|region| {
                let bit = |(at, it): (usize, &Sentence)| u64::from(it.is(region)) << at;
                contexts.iter().enumerate().map(bit).fold(0, |sum, bit| sum | bit)
            })
            .collect();
        let mut held: Vec<u64> = Vec::with_capacity(paths.len());
        let mut places: Vec<Place> = Vec::with_capacity(paths.len());
        for (at, path) in paths.iter().enumerate() {
            let parent = path.parent.map(CallPathId::idx).filter(|parent| *parent < at);
            let above = parent.map_or(0, |parent| held[parent]) | on_stack(trace, path.stack, contexts);
            let own = by_region.get(path.region.idx()).copied().unwrap_or(0);
            // A context is around: what is asked for may be one itself, but then there must be another.
            held.push(above | own);
            let is_one = fit.get(path.region.idx()).copied().unwrap_or(false)
                || in_data.contains(&CallPathId::from_idx(at).unwrap_or_default());
            let is_meant = is_one && above & all == all;
            let outer = parent.and_then(|parent| places[parent].root);
            let id = CallPathId::from_idx(at);
            let here = id.filter(|_| by_region.get(path.region.idx()).is_some_and(|bits| *bits != 0));
            let context = here.or_else(|| parent.and_then(|parent| places[parent].context));
            places.push(Place { is_meant, root: outer.or(id.filter(|_| is_meant)), context });
        }
        Self { places }
    }
}

/// Contexts that are functions on the stack from which a call path was entered.
fn on_stack(trace: &dyn Trace, stack: Option<marey_model::StackId>, contexts: &[Sentence]) -> u64 {
    let is_function = |it: &Sentence| {
        it.noun.is_none() && it.level.as_ref().is_none_or(|level| level == marey_model::Level::SOURCE)
    };
    let Some(stack) = stack.filter(|_| contexts.iter().any(is_function)) else { return 0 };
    let frames = trace.stack(stack);
    let bit = |(at, it): (usize, &Sentence)| {
        let name = it.verb.as_ref().filter(|_| is_function(it));
        let is_on = name.is_some_and(|name| frames.iter().any(|frame| is_named(&frame.function, name)));
        u64::from(is_on) << at
    };
    contexts.iter().enumerate().map(bit).fold(0, |sum, bit| sum | bit)
}

/// Call paths that act on an array of the noun which is asked for, though their region has another.
fn accessing(trace: &dyn Trace, asked: &Sentence) -> BTreeSet<CallPathId> {
    let Some(noun) = &asked.noun else { return BTreeSet::new() };
    let other = Sentence { noun: None, ..asked.clone() };
    let nouns: BTreeSet<NounId> =
        trace.arrays().iter().filter(|array| fits(noun, &array.name)).map(|array| array.noun).collect();
    let path_of = |row: &crate::trace::AccessRow| {
        let array = trace.arrays().get(row.array?)?;
        let path = row.call_path.filter(|_| nouns.contains(&array.noun))?;
        let region = trace.regions().get(trace.call_paths().get(path.idx())?.region.idx())?;
        other.is(region).then_some(path)
    };
    trace.accessed().iter().filter_map(path_of).collect()
}

/// The array that each call path acts on, if it is always the same: what makes an array cannot name it beforehand.
fn acted_on(trace: &dyn Trace) -> BTreeMap<CallPathId, &str> {
    let mut found: BTreeMap<CallPathId, Option<&str>> = BTreeMap::new();
    for row in trace.accessed() {
        let array = row.array.and_then(|array| trace.arrays().get(array));
        let (Some(path), Some(array)) = (row.call_path, array) else { continue };
        let known = found.entry(path).or_insert(Some(&array.name));
        *known = known.filter(|name| *name == array.name);
    }
    found.into_iter().filter_map(|(path, name)| Some((path, name?))).collect()
}

/// Leaves the directory out of names that say a line, where that is the only one of a name.
fn shorten_paths(groups: &mut [Group]) {
    let short = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
    let mut times: BTreeMap<String, u32> = BTreeMap::new();
    for group in groups.iter() {
        *times.entry(short(&group.name)).or_default() += 1;
    }
    for group in groups {
        let name = short(&group.name);
        if times.get(&name) == Some(&1) {
            group.name = name;
        }
    }
}

/// How long each of so many equal spans of a run is, which [`over_time`] tells of; the last one may end behind the run.
pub fn span_length(trace: &dyn Trace, spans: usize) -> Nanos {
    let spans = i64::try_from(spans).unwrap_or(i64::MAX).max(1);
    Nanos(trace.duration().0.max(1).saturating_add(spans - 1) / spans)
}

/// When sentences happened: their time in equal spans of the run, and how many of them began in each, in constant space
/// however long the run is. Visits that were only added up are in none.
///
/// # Errors
/// What could not be read of the run.
pub fn over_time(
    trace: &dyn Trace,
    events: &impl Happenings,
    of: &BTreeSet<CallPathId>,
    spans: usize,
) -> Result<Vec<(u64, Nanos)>, Unread> {
    let spans = spans.clamp(1, 4096);
    let mut found = vec![(0_u64, Nanos(0)); spans];
    let len = span_length(trace, spans).0;
    for slab in 0..events.slabs().len() {
        events.visits(slab, &mut |batch| {
            // Lanes have no time of their own, here and in the sums.
            let has_time = |at: LocationId| trace.locations().get(at.idx()).is_some_and(|it| it.has_time());
            let is_one = |it: &&Visit| of.contains(&it.interval.call_path) && has_time(it.interval.location);
            for visit in batch.iter().filter(is_one) {
                let interval = visit.interval;
                let span = |time: Nanos| usize::try_from(time.0 / len).unwrap_or(0).min(spans - 1);
                let (first, last) = (span(interval.start), span(interval.end));
                found[first].0 = found[first].0.saturating_add(interval.visits.into());
                for (at, cell) in found.iter_mut().enumerate().take(last + 1).skip(first) {
                    let (from, to) = ((at as i64).saturating_mul(len), (at as i64 + 1).saturating_mul(len));
                    let (from, to) = (interval.start.max(Nanos(from)), interval.end.min(Nanos(to)));
                    let within = visit.inside_before(to) - visit.inside_before(from);
                    add(&mut cell.1, within.max(Nanos(0)));
                }
            }
        })?;
    }
    Ok(found)
}

/// What each level cost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LevelRow {
    /// The level.
    pub level: String,
    /// Visits of its regions.
    pub visits: u64,
    /// Time in it, with what lies beneath; what lies in another region of the level counts once.
    pub time: Nanos,
    /// Its own.
    pub own: Nanos,
    /// What lies beneath, by level, that with most time first: adds up to the rest.
    pub beneath: Vec<(String, Nanos)>,
}

/// One row for each level that was visited, in the order of their first regions.
pub fn levels(trace: &dyn Trace) -> Vec<LevelRow> {
    let mut names: Vec<&str> = Vec::new();
    for region in trace.regions() {
        if !names.contains(&region.level.as_str()) {
            names.push(&region.level);
        }
    }
    let row = |name: &&str| {
        let asked = Sentence { level: Some((*name).to_owned()), ..Sentence::default() };
        let cost = sentences(trace, &asked, &[], By::Verb);
        let mut beneath: BTreeMap<&str, Nanos> = BTreeMap::new();
        let mut own = Nanos(0);
        for share in &cost.shares {
            if share.level == **name {
                add(&mut own, share.time);
            } else {
                add(beneath.entry(share.level.as_str()).or_default(), share.time);
            }
        }
        let mut beneath: Vec<(String, Nanos)> =
            beneath.into_iter().map(|(level, time)| (level.to_owned(), time)).collect();
        beneath.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        LevelRow { level: (*name).to_owned(), visits: cost.visits, time: cost.time, own, beneath }
    };
    names.iter().map(row).filter(|row| row.visits > 0).collect()
}
