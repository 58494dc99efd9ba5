//! Sentences for other programs; `docs/sentences.md` says what each name means.

use serde::Serialize;

use super::Told;
use crate::cli::SentenceBy;

#[derive(Serialize)]
pub(super) struct Json<'a> {
    level: Option<&'a str>,
    verb: Option<&'a str>,
    noun: Option<&'a str>,
    under: &'a [String],
    visits: u64,
    untimed_visits: u64,
    time_ns: i64,
    bytes: u64,
    of_ns: i64,
    shares: Vec<Share<'a>>,
    by: &'static str,
    groups: Vec<Group<'a>>,
    spans: Vec<Span>,
}

#[derive(Serialize)]
struct Share<'a> {
    level: &'a str,
    class: &'static str,
    is_explicit: bool,
    visits: u64,
    time_ns: i64,
}

#[derive(Serialize)]
struct Group<'a> {
    name: &'a str,
    process: Option<u32>,
    visits: u64,
    time_ns: i64,
    bytes: u64,
}

#[derive(Serialize)]
struct Span {
    from_ns: i64,
    to_ns: i64,
    visits: u64,
    time_ns: i64,
}

impl<'a> Json<'a> {
    pub(super) fn new(told: &'a Told<'_>) -> Self {
        let (asked, cost) = (told.asked, told.cost);
        let share = |it: &'a marey_analyze::Share| Share {
            level: &it.level,
            class: it.class.name(),
            is_explicit: it.is_explicit,
            visits: it.visits,
            time_ns: it.time.0,
        };
        let group = |it: &'a marey_analyze::Group| Group {
            name: &it.name,
            process: it.process.map(|process| process.0),
            visits: it.visits,
            time_ns: it.time.0,
            bytes: it.bytes,
        };
        let len = marey_analyze::span_length(told.trace, told.spans.len()).0;
        let span = |(at, (visits, time)): (i64, &(u64, marey_model::Nanos))| Span {
            from_ns: at * len,
            to_ns: ((at + 1) * len).min(told.trace.duration().0),
            visits: *visits,
            time_ns: time.0,
        };
        let groups = if told.args.by == SentenceBy::Time { &[][..] } else { &cost.groups[..] };
        Self {
            level: asked.level.as_deref(),
            verb: asked.verb.as_deref(),
            noun: asked.noun.as_deref(),
            under: &told.args.under,
            visits: cost.visits,
            untimed_visits: cost.untimed,
            time_ns: cost.time.0,
            bytes: cost.bytes,
            of_ns: told.whole.0,
            shares: cost.shares.iter().map(share).collect(),
            by: match told.args.by {
                SentenceBy::Line => "line",
                SentenceBy::Noun => "noun",
                SentenceBy::Verb => "verb",
                SentenceBy::Rank => "rank",
                SentenceBy::Time => "time",
            },
            groups: groups.iter().map(group).collect(),
            spans: (0..).zip(told.spans).map(span).collect(),
        }
    }
}
