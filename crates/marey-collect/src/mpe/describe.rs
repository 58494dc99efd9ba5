//! Describing states and events: giving them names, regions and kinds in the recording.
//!
//! The one idea: the last definition of a region counts, so one that is needed before anybody has
//! described it is defined by its numbers and defined again when the description is there, at the
//! latest when logging or the process ends.
//!
//! The recording keeps of a description what a region can have: its name. The description itself, with
//! colour and format, is an event of its own.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use marey_measure::{Runtime, level};
use marey_model::spool::{Definition, DefinitionKind, FieldType};
use marey_model::{RegionId, Role};

use super::board::{Board, Described};
use super::format::parse;
use super::what::{Meaning, NONE, Registry, What, with};
use crate::process::{running, runtime_for_mpi};

/// A program describes a state or an event.
#[cold]
pub(super) fn describe(described: &Described) {
    let Some(runtime) = runtime_for_mpi() else { return };
    let is_new = with(|registry| {
        let what = registry.make(described.start, described.end)?;
        let fields = parse(&described.format);
        let is_same =
            |known: &Meaning| !known.is_made_up && known.name == described.name && known.fields == fields;
        // A program may say it in every step.
        if what.meaning().is_some_and(is_same) {
            return None;
        }
        mean(runtime, what, described);
        board_of(registry, runtime).say(described);
        Some(())
    });
    if is_new.flatten().is_none() {
        return;
    }
    let Described { start, end, name, color, format } = described;
    if start == end {
        marey_measure::event!(
            "MPE_Describe_event",
            event = start,
            name = name,
            color = color,
            format = format
        );
    } else {
        marey_measure::event!(
            "MPE_Describe_state",
            start = start,
            end = end,
            name = name,
            color = color,
            format = format
        );
    }
}

/// Notes that these numbers belong together, though nobody has said what they are called.
#[cold]
pub(super) fn reserve(start: i32, end: i32) {
    if runtime_for_mpi().is_some() {
        with(|registry| registry.make(start, end));
    }
}

/// What an event stands for that is logged for the first time, ready to be recorded; `None` if nobody has
/// said yet.
#[cold]
pub(super) fn learn(runtime: &Runtime, event: i32) -> Option<&'static What> {
    with(|registry| {
        let known = |registry: &Registry| registry.find(event);
        if known(registry).is_none_or(|what| what.meaning().is_none()) {
            take_news(runtime, registry);
        }
        let what = known(registry)?;
        if what.meaning().is_none() {
            what.mean(Meaning::new(name_by_numbers(what), Vec::new(), true));
        }
        if what.is_state() && what.site.load(Ordering::Relaxed) == NONE {
            let meaning = what.meaning()?;
            define(runtime, &meaning.name, &what.region, &what.site);
        }
        Some(what)
    })
    .flatten()
}

fn name_by_numbers(what: &What) -> String {
    let What { start, end, .. } = what;
    if what.is_state() { format!("MPE state {start}-{end}") } else { format!("MPE event {start}") }
}

fn board_of<'a>(registry: &'a mut Registry, runtime: &Runtime) -> &'a mut Board {
    registry.board.get_or_insert_with(|| Board::of_world(runtime))
}

/// Takes over what other ranks have described and this one has not.
fn take_news(runtime: &Runtime, registry: &mut Registry) {
    for described in board_of(registry, runtime).news() {
        let known = registry.find(described.start);
        if known.and_then(What::meaning).is_none_or(|meaning| meaning.is_made_up)
            && let Some(what) = registry.make(described.start, described.end)
        {
            mean(runtime, what, &described);
        }
    }
}

/// Gives `what` its meaning, and what has been recorded of it already its name.
fn mean(runtime: &Runtime, what: &What, described: &Described) {
    let meaning = Meaning::new(described.name.clone(), parse(&described.format), false);
    if let Some(made_up) = what.meaning().filter(|former| former.is_made_up) {
        for (kinds, former, is_attribute) in
            [(&meaning.kinds[0], &made_up.kinds[0], false), (&meaning.kinds[1], &made_up.kinds[1], true)]
        {
            for cargo in [0, Meaning::TEXT] {
                let known = former[cargo].load(Ordering::Relaxed);
                if known != 0 {
                    define_kind(runtime, &meaning, cargo, is_attribute, Some(known - 1));
                    kinds[cargo].store(known, Ordering::Relaxed);
                }
            }
        }
    }
    for (region, name) in
        [(&what.region, meaning.name.clone()), (&what.rest_region, name_of_rest(&meaning.name))]
    {
        let region = region.load(Ordering::Relaxed);
        if region != NONE {
            runtime.define(|definitions| definitions.define(&region_of(region, &name)));
        }
    }
    what.mean(meaning);
}

fn name_of_rest(name: &str) -> String {
    format!("{name} (rest)")
}

fn region_of(id: u32, name: &str) -> Definition {
    Definition::Region {
        id,
        level: level::SOURCE,
        verb: "execute".to_owned(),
        role: Role::Work.code(),
        noun_kind: "state".to_owned(),
        noun: name.to_owned(),
        file: String::new(),
        line: 0,
    }
}

fn define(runtime: &Runtime, name: &str, region: &AtomicU32, site: &AtomicU32) {
    let made = runtime.define(|definitions| {
        let id = definitions.next_id(DefinitionKind::Region);
        definitions.define(&region_of(id, name));
        (id, definitions.site(Some(RegionId(id)), None).0)
    });
    if let Some(made) = made {
        region.store(made.0, Ordering::Relaxed);
        site.store(made.1, Ordering::Release);
    }
}

/// The site of what is left of a state that was cut.
pub(super) fn rest_of(runtime: &Runtime, what: &What) -> u32 {
    if what.rest.load(Ordering::Relaxed) == NONE
        && let Some(meaning) = what.meaning()
    {
        define(runtime, &name_of_rest(&meaning.name), &what.rest_region, &what.rest);
    }
    what.rest.load(Ordering::Relaxed)
}

/// The kind of events (or attributes) of this meaning with such a cargo.
pub(super) fn kind_of(runtime: &Runtime, meaning: &Meaning, cargo: usize, is_attribute: bool) -> Option<u32> {
    let known = &meaning.kinds[usize::from(is_attribute)][cargo];
    match known.load(Ordering::Acquire) {
        0 => {
            // Threads that define a kind at once define two of the same content.
            let id = define_kind(runtime, meaning, cargo, is_attribute, None)?;
            known.store(id + 1, Ordering::Release);
            Some(id)
        }
        id => Some(id - 1),
    }
}

/// Defines a kind, new or again.
#[cold]
fn define_kind(
    runtime: &Runtime,
    meaning: &Meaning,
    cargo: usize,
    attribute: bool,
    again: Option<u32>,
) -> Option<u32> {
    let fields = match cargo {
        Meaning::TEXT => vec![("text".to_owned(), FieldType::Text as u8)],
        n => meaning
            .fields
            .iter()
            .take(n)
            .map(|field| (field.name.clone(), field.field_type() as u8))
            .collect(),
    };
    let name = meaning.name.clone();
    runtime.define(|definitions| {
        let id = again.unwrap_or_else(|| definitions.next_id(DefinitionKind::EventKind));
        definitions.define(&Definition::EventKind { id, name, attribute, fields });
        id
    })
}

/// Something that could not be recorded as it should.
pub(super) struct Trouble {
    kind: &'static str,
    detail: &'static str,
    count: AtomicU64,
}

impl Trouble {
    const fn new(kind: &'static str, detail: &'static str) -> Self {
        Self { kind, detail, count: AtomicU64::new(0) }
    }

    pub(super) fn count(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }
}

pub(super) static STOPPED: Trouble =
    Trouble::new("mpe_stopped", "MPE events logged while logging was stopped");
pub(super) static UNKNOWN: Trouble =
    Trouble::new("mpe_unknown", "MPE events without a description, recorded by their numbers");
pub(super) static UNMATCHED: Trouble =
    Trouble::new("unmatched_ends", "ends of MPE states that had not begun on their thread");
pub(super) static UNORDERED: Trouble =
    Trouble::new("mpe_unordered", "MPE states that were to end inside another region, ended later");

/// To be called now and then, and when logging or the process ends: puts in names that have become
/// known, and writes down what has been counted.
pub(crate) fn settle() {
    let Some(runtime) = running().filter(|_| super::what::is_used()) else { return };
    with(|registry| {
        if registry.whats.iter().any(|what| what.meaning().is_none_or(|meaning| meaning.is_made_up)) {
            take_news(runtime, registry);
        }
    });
    for trouble in [&STOPPED, &UNKNOWN, &UNMATCHED, &UNORDERED] {
        let count = trouble.count.swap(0, Ordering::Relaxed);
        if count != 0 {
            let (kind, detail) = (trouble.kind.to_owned(), trouble.detail.to_owned());
            runtime.define(|definitions| definitions.define(&Definition::Trouble { kind, count, detail }));
        }
    }
}
