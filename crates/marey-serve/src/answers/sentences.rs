//! What a verb and a noun cost on a level, under which others, when, and what else could be asked for.
//!
//! The one idea: all of it is `marey-analyze`'s, of the run or of a part of it; here it gets numbers of regions and places.

use marey_analyze::{By, Choice, Group, Sentence, Trace, caller, choices, sentences};
use marey_model::{CallPathId, Nanos};

use super::part::{self, is_meant};
use super::shares::visits_of;
use crate::fold::float;
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{
    PartOf, SentenceBy, SentenceTimes, SentenceTimesHead, Sentences, SentencesHead, SpanOf, WireChoice,
    WireChoices, WireGroup, WireSentence, WireShare,
};

/// More groups are not told: what is left out hardly took time.
const MOST_GROUPS: usize = 2000;
/// Nor more that can be chosen.
const MOST_CHOICES: usize = 500;

fn sentence(run: &Opened<'_>, of: &WireSentence) -> Sentence {
    let noun = of.noun.as_ref().map(|noun| as_named(run, noun));
    Sentence { level: of.level.clone(), verb: of.verb.clone(), noun }
}

/// The noun that is meant. The viewer asks for names as it shows them (`ui/src/base/text.ts`), controls by their signs.
fn as_named(run: &Opened<'_>, asked: &str) -> String {
    let is_sign = |letter: char| ('\u{2400}'..='\u{2421}').contains(&letter);
    let nouns = || run.trace.regions().iter().map(|region| region.noun.as_str());
    let found = asked.contains(is_sign).then(|| nouns().find(|noun| *noun != asked && shown(noun) == asked));
    found.flatten().unwrap_or(asked).to_owned()
}

fn shown(name: &str) -> String {
    let letter = |letter: char| match letter {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(letter)).unwrap_or(letter),
        '\u{7f}' => '\u{2421}',
        other => other,
    };
    name.chars().map(letter).collect()
}

pub(super) fn answer(run: &Opened<'_>, asked: &Sentences) -> Vec<u8> {
    let part = part::of(run, &asked.part);
    let under: Vec<Sentence> = asked.under.iter().map(|it| sentence(run, it)).collect();
    let of = sentence(run, &asked.of);
    let by = match asked.by {
        SentenceBy::Noun => By::Noun,
        SentenceBy::Verb => By::Verb,
        SentenceBy::Line => By::Line,
        SentenceBy::Rank => By::Process,
    };
    let cost = sentences(&part.trace, &of, &under, by);
    let beside = choices(&part.trace, &of, &under);
    let shares = cost.shares.iter().map(|it| WireShare {
        level: it.level.clone(),
        class: it.class.name().to_owned(),
        is_explicit: it.is_explicit,
        visits: it.visits,
        time_ns: it.time.0,
    });
    let left_out = cost.groups.iter().skip(MOST_GROUPS);
    let head = SentencesHead {
        visits: cost.visits,
        untimed: cost.untimed,
        time_ns: cost.time.0,
        bytes: cost.bytes,
        of_ns: part.of_ns,
        shares: shares.collect(),
        groups: cost.groups.iter().take(MOST_GROUPS).map(|it| group(run, it)).collect(),
        more: more(cost.groups.len(), MOST_GROUPS),
        more_ns: left_out.fold(Nanos(0), |sum, it| sum + it.time).0,
        levels: told(&beside.levels),
        verbs: told(&beside.verbs),
        nouns: told(&beside.nouns),
        is_whole: part.is_whole,
        damage: part.damage,
    };
    Columns::default().frame("sentences", &head)
}

/// How many are left out of a list.
pub(super) fn more(all: usize, told: usize) -> u32 {
    u32::try_from(all.saturating_sub(told)).unwrap_or(u32::MAX)
}

fn told(rows: &[Choice]) -> WireChoices {
    let row = |it: &Choice| WireChoice { name: it.name.clone(), visits: it.visits, time_ns: it.time.0 };
    WireChoices {
        rows: rows.iter().take(MOST_CHOICES).map(row).collect(),
        more: more(rows.len(), MOST_CHOICES),
    }
}

/// Where a call path was entered from: function, file and line; without a stack the place of its region.
pub(super) fn place_of(run: &Opened<'_>, path: CallPathId) -> (String, String, u32) {
    match caller(&run.trace, path) {
        Some(frame) => (frame.function.clone(), frame.file.clone(), frame.line),
        None => {
            let region = region_of(run, path).and_then(|region| run.trace.regions().get(region as usize));
            region.map_or_else(Default::default, |it| (String::new(), it.file.clone(), it.line))
        }
    }
}

/// The region of a call path.
pub(super) fn region_of(run: &Opened<'_>, path: CallPathId) -> Option<u32> {
    run.trace.call_paths().get(path.idx()).map(|path| path.region.0)
}

fn group(run: &Opened<'_>, it: &Group) -> WireGroup {
    let (function, file, line) = place_of(run, it.longest);
    WireGroup {
        name: it.name.clone(),
        process: it.process.map(|process| process.0),
        region: region_of(run, it.longest),
        function,
        file,
        line,
        visits: it.visits,
        time_ns: it.time.0,
        bytes: it.bytes,
    }
}

pub(super) fn times(run: &Opened<'_>, asked: &SentenceTimes) -> Vec<u8> {
    // Which call paths are meant is the same in each span.
    let whole = PartOf { span: None, locations: None };
    let under: Vec<Sentence> = asked.under.iter().map(|it| sentence(run, it)).collect();
    let of = sentences(&part::of(run, &whole).trace, &sentence(run, &asked.of), &under, By::Verb).call_paths;
    let mut is_one = vec![false; run.trace.call_paths().len()];
    for path in of {
        is_one[path.idx()] = true;
    }
    let duration = run.trace.duration().0.max(1);
    let span = asked.part.span.clone().unwrap_or(SpanOf { from_ns: 0, to_ns: duration });
    let spans = i64::from(asked.spans);
    let length = span.to_ns.saturating_sub(span.from_ns).max(1);
    // The edge of each, so that they end with the span.
    let edge = |at: i64| {
        let inside = i128::from(length) * i128::from(at) / i128::from(spans);
        span.from_ns.saturating_add(i64::try_from(inside).unwrap_or(i64::MAX))
    };
    let place = |time: i64| {
        let at = i128::from(time.saturating_sub(span.from_ns)) * i128::from(spans) / i128::from(length);
        let at = i64::try_from(at).unwrap_or(0).clamp(0, spans - 1);
        // The last edge that is not behind it.
        if at + 1 < spans && edge(at + 1) <= time { at + 1 } else { at }
    };
    let mut found = vec![(0_u64, 0_i64); usize::try_from(spans).unwrap_or(0)];
    let read = visits_of(run, &span, &mut |visit, _, _| {
        let it = &visit.interval;
        // Lanes have no time of their own, here and in the sums.
        let has_time = run.trace.locations().get(it.location.idx()).is_some_and(|it| it.has_time());
        if !has_time || !is_one[it.call_path.idx()] || !is_meant(&asked.part, it.location.0) {
            return;
        }
        let (from, to) = (it.start.0.max(span.from_ns), it.end.0.min(span.to_ns));
        for at in place(from)..=place(to) {
            let Some(cell) = usize::try_from(at).ok().and_then(|at| found.get_mut(at)) else { continue };
            let (from, to) = (Nanos(from.max(edge(at))), Nanos(to.min(edge(at + 1))));
            cell.1 += (visit.inside_before(to) - visit.inside_before(from)).0.max(0);
        }
        let begun = usize::try_from(place(from)).ok().filter(|_| span.from_ns <= it.start.0);
        if let Some(cell) = begun.and_then(|at| found.get_mut(at)) {
            cell.0 = cell.0.saturating_add(it.visits.into());
        }
    });
    let threads =
        (0..).zip(run.trace.locations()).filter(|(place, it)| it.has_time() && is_meant(&asked.part, *place));
    let head = SentenceTimesHead {
        from_ns: span.from_ns,
        to_ns: span.to_ns,
        threads: u32::try_from(threads.count()).unwrap_or(u32::MAX),
        is_whole: read.is_some(),
        damage: read.unwrap_or_default(),
    };
    let mut columns = Columns::default();
    columns.f64("visits", found.iter().map(|(visits, _)| float(i64::try_from(*visits).unwrap_or(i64::MAX))));
    columns.f64("time", found.iter().map(|(_, time)| float(*time)));
    columns.frame("sentence-times", &head)
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn controls_are_asked_for_by_their_signs() {
        assert_eq!(shown("u\n\t\u{7f} ü"), "u\u{240a}\u{2409}\u{2421} ü");
    }
}
