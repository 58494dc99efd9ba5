//! Sentences on the wire: what is asked for, what it cost, and what else could be asked for.

use serde::{Deserialize, Serialize};

use super::SpanOf;

/// A sentence, or a context: what is `null` is anything. Of a name `*` is any text, `?` any character.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct WireSentence {
    /// The level.
    pub level: Option<String>,
    /// The verb, or of the program's own the name of a function.
    pub verb: Option<String>,
    /// The noun.
    pub noun: Option<String>,
}

/// A part of a run: a span, locations, or both.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct PartOf {
    /// The span; `null` = the whole run.
    pub span: Option<SpanOf>,
    /// Ranges of locations, each its first and the one behind its last; `null` = all.
    pub locations: Option<Vec<(u32, u32)>>,
}

/// What sentences are told apart by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum SentenceBy {
    /// By noun.
    Noun,
    /// By verb.
    Verb,
    /// By line of the source.
    Line,
    /// By process.
    Rank,
}

/// Sentences that are asked about.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct Sentences {
    /// Of which part of the run.
    pub part: PartOf,
    /// What is asked for.
    pub of: WireSentence,
    /// Under what: each must hold.
    pub under: Vec<WireSentence>,
    /// What they are told apart by.
    pub by: SentenceBy,
}

/// When sentences happened is asked for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct SentenceTimes {
    /// Of which part of the run; times are told of its span.
    pub part: PartOf,
    /// What is asked for.
    pub of: WireSentence,
    /// Under what.
    pub under: Vec<WireSentence>,
    /// Into how many equal spans it is cut.
    pub spans: u32,
}

/// What sentences cost.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SentencesHead {
    /// How often.
    #[cfg_attr(test, ts(type = "number"))]
    pub visits: u64,
    /// How many of these were only counted.
    #[cfg_attr(test, ts(type = "number"))]
    pub untimed: u64,
    /// Time with all that lies beneath, ns; what lies in another one counts once.
    #[cfg_attr(test, ts(type = "number"))]
    pub time_ns: i64,
    /// Bytes that they say to have moved.
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: u64,
    /// Time of all threads of the part, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub of_ns: i64,
    /// What the time was made of: adds up to it.
    pub shares: Vec<WireShare>,
    /// Told apart, those with most time first: with what is left out they add up to the time.
    pub groups: Vec<WireGroup>,
    /// How many more there are.
    pub more: u32,
    /// Their time, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub more_ns: i64,
    /// Levels that could be asked for in its place.
    pub levels: WireChoices,
    /// Verbs.
    pub verbs: WireChoices,
    /// Nouns.
    pub nouns: WireChoices,
    /// Whether the part was counted: spans with very many visits are not.
    pub is_whole: bool,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// Part of what a sentence cost.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireShare {
    /// The level.
    pub level: String,
    /// `computation`, `communication` or `waiting`.
    pub class: String,
    /// Whether it is what the sentence says, or serves it by doing the same.
    pub is_explicit: bool,
    /// Visits.
    #[cfg_attr(test, ts(type = "number"))]
    pub visits: u64,
    /// Exclusive time, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub time_ns: i64,
}

/// Some of the sentences.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireGroup {
    /// What they have in common: noun, verb, or place; empty = they have none.
    pub name: String,
    /// The process, if they are told apart by that.
    pub process: Option<u32>,
    /// The region of that one of them with most time.
    pub region: Option<u32>,
    /// The function that it was called from; empty = unknown.
    pub function: String,
    /// File of that; empty = unknown.
    pub file: String,
    /// Line of that; 0 = unknown.
    pub line: u32,
    /// Outermost visits.
    #[cfg_attr(test, ts(type = "number"))]
    pub visits: u64,
    /// Time with what lies beneath, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub time_ns: i64,
    /// Bytes that they say to have moved.
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: u64,
}

/// What can be chosen.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireChoices {
    /// Those with most time first.
    pub rows: Vec<WireChoice>,
    /// How many more there are.
    pub more: u32,
}

/// A level, verb or noun.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WireChoice {
    /// What it is called.
    pub name: String,
    /// How often it was visited.
    #[cfg_attr(test, ts(type = "number"))]
    pub visits: u64,
    /// Time with what lies beneath, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub time_ns: i64,
}

/// When sentences happened, in equal spans. Columns `visits` (how many began in each) and `time` (ns, of all threads).
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SentenceTimesHead {
    /// Where the first begins, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub from_ns: i64,
    /// Where the last ends, ns.
    #[cfg_attr(test, ts(type = "number"))]
    pub to_ns: i64,
    /// Threads of the part: lanes have no time of their own.
    pub threads: u32,
    /// Whether they were counted: spans with very many visits are not.
    pub is_whole: bool,
    /// What could not be read.
    pub damage: Vec<String>,
}

/// As TypeScript has them.
#[cfg(test)]
pub(super) fn declarations() -> Vec<String> {
    use ts_rs::TS;

    vec![
        WireSentence::decl(),
        PartOf::decl(),
        SentenceBy::decl(),
        Sentences::decl(),
        SentenceTimes::decl(),
        SentencesHead::decl(),
        WireShare::decl(),
        WireGroup::decl(),
        WireChoices::decl(),
        WireChoice::decl(),
        SentenceTimesHead::decl(),
    ]
}
