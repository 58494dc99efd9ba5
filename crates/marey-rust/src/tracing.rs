//! A layer of `tracing` that records spans and events.
//!
//! The one idea: a span is a stretch of the program's own code, so it is a region of the level `source` on the thread
//! that enters it, like one of `marey_measure::region!`. A span that is left and entered again was suspended in between:
//! from then on it is known to be something that lasts beside the threads, and has a lane on the level `tasks`, from its
//! creation to its close.
//!
//! What is deliberately absent: filters and levels of verbosity, which stay the program's (`Layer::with_filter`).

use core::fmt;

use marey_measure::{Made, Moment, NounKind, Sentence, is_recorded, level};
use marey_model::{EdgeKind, Role};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use self::fields::{Fields, Kinds};
use crate::lanes::{Lanes, Taken};
use crate::places::{Key, Places, Recent, none};

/// So many causes of a span's going on are kept until it does.
const MOST_CAUSES: usize = 8;

mod fields;

/// A layer that records all spans and events that reach it: `tracing_subscriber::registry().with(layer()).init()`.
pub fn layer() -> Marey {
    Marey(())
}

/// See [`layer`].
pub struct Marey(());

impl fmt::Debug for Marey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Marey")
    }
}

/// What is recorded of the spans, or of the events, of one place.
struct Recorded {
    execute: Made,
    live: Made,
    run: Made,
    lanes: Lanes,
    attributes: Kinds,
    events: Kinds,
}

static ALL: Places<Recorded> = Places::new();
std::thread_local! {
    static RECENT: Recent<Recorded> = const { none() };
}

impl Recorded {
    fn of(metadata: &'static Metadata<'static>) -> &'static Self {
        let key: Key = (core::ptr::from_ref(metadata).addr(), 0, 0);
        ALL.get(&RECENT, key, || Self::new(metadata))
    }

    fn new(metadata: &Metadata<'_>) -> Self {
        // Events without a name are called `event FILE:LINE`.
        let name = metadata.name();
        let name = match name.strip_prefix("event ") {
            Some(place) => format!("{} {place}", metadata.level().as_str().to_ascii_lowercase()),
            None => format!("{}::{name}", metadata.target()),
        };
        let made = |level, verb| {
            if !metadata.is_span() {
                return Made::NONE;
            }
            let (file, line) = (metadata.file().unwrap_or_default(), metadata.line().unwrap_or(0));
            let (role, kind, noun) = (Role::Work, NounKind::Span, name.as_str());
            Made::new(&Sentence { level, verb, role, kind, noun, file, line })
        };
        Self {
            execute: made(level::SOURCE, "execute"),
            live: made(level::TASKS, "live"),
            run: made(level::TASKS, "run"),
            attributes: Kinds::new(name.clone(), true),
            events: Kinds::new(name.clone(), false),
            lanes: Lanes::new(name),
        }
    }
}

/// What goes with a span.
struct Span {
    recorded: &'static Recorded,
    created: Moment,
    /// Facts that are not written down yet, because the span is not the innermost region.
    facts: Fields,
    /// What had to come before it is entered the next time.
    causes: Vec<Moment>,
    /// How many threads are in it.
    inside: u32,
    /// When it was entered and left the first time.
    first: Option<(u64, u64)>,
    lane: Option<Taken>,
    /// When it was entered or left last.
    last: Moment,
}

impl Span {
    /// Gives it a lane, on which it has been since it was created.
    fn suspended(&mut self) -> Taken {
        let Recorded { live, run, lanes, .. } = self.recorded;
        let created = self.created.ticks();
        *self.lane.get_or_insert_with(|| {
            let taken = lanes.take(created);
            taken.lane.enter_at(*live, created);
            if let Some((entered, left)) = self.first {
                taken.lane.enter_at(*run, entered);
                taken.lane.leave_at(*run, left);
            }
            taken
        })
    }

    /// Writes down what is known of it. It is the innermost region of the calling thread.
    fn tell(&mut self) {
        if !self.facts.is_empty() {
            self.recorded.attributes.record(&self.facts);
            self.facts.clear();
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Marey {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let (true, Some(span)) = (is_recorded(), context.span(id)) else { return };
        let Some(created) = Moment::now() else { return };
        let mut facts = Fields::default();
        attributes.record(&mut facts);
        let recorded = Recorded::of(attributes.metadata());
        let (causes, last) = (Vec::new(), created);
        let new = Span { recorded, created, facts, causes, inside: 0, first: None, lane: None, last };
        span.extensions_mut().replace(new);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if !is_recorded() {
            return;
        }
        // Values are the program's own code: not while the span is held.
        let mut facts = Fields::default();
        values.record(&mut facts);
        with(id, &context, |span| {
            if !span.facts.fits(&facts) {
                span.recorded.events.record(&span.facts);
                span.facts.clear();
            }
            span.facts.append(facts);
        });
    }

    fn on_follows_from(&self, id: &Id, follows: &Id, context: Context<'_, S>) {
        let mut cause = None;
        with(follows, &context, |span| cause = Some(span.last));
        // One that is not entered again needs no more than the last ones.
        with(id, &context, |span| {
            if MOST_CAUSES <= span.causes.len() {
                span.causes.remove(0);
            }
            span.causes.extend(cause);
        });
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        with(id, &context, |span| {
            let Some(now) = Moment::now() else { return };
            if span.inside == 0 {
                if span.first.is_some() || !span.created.is_on_thread_of(now) {
                    span.suspended();
                }
                if let Some(taken) = span.lane {
                    taken.lane.enter(span.recorded.run);
                }
            }
            span.inside += 1;
            let is_entered = span.recorded.execute.open();
            for cause in span.causes.drain(..).filter(|_| is_entered) {
                cause.leads_here(EdgeKind::Wake);
            }
            span.tell();
            if span.inside == 1 {
                span.last = now;
            }
        });
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        with(id, &context, |span| {
            span.tell();
            span.recorded.execute.close();
            let Some(now) = Moment::now() else { return };
            span.inside = span.inside.saturating_sub(1);
            if span.inside == 0 {
                if let Some(taken) = span.lane {
                    taken.lane.leave(span.recorded.run);
                }
                let entered = span.last.ticks();
                span.first.get_or_insert((entered, now.ticks()));
                span.last = now;
            }
        });
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        with(&id, &context, |span| {
            // Never entered since they were told.
            if !span.facts.is_empty() {
                span.recorded.events.record(&span.facts);
            }
            if span.first.is_none() {
                span.suspended();
            }
            if let Some((taken, now)) = span.lane.take().zip(Moment::now()) {
                taken.lane.leave(span.recorded.live);
                span.recorded.lanes.give(taken, now.ticks());
            }
        });
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if is_recorded() {
            let mut fields = Fields::default();
            event.record(&mut fields);
            Recorded::of(event.metadata()).events.record(&fields);
        }
    }
}

/// Does something with a span that is recorded.
fn with<S: Subscriber + for<'a> LookupSpan<'a>>(
    id: &Id,
    context: &Context<'_, S>,
    work: impl FnOnce(&mut Span),
) {
    if !is_recorded() {
        return;
    }
    if let Some(span) = context.span(id)
        && let Some(known) = span.extensions_mut().get_mut()
    {
        work(known);
    }
}
