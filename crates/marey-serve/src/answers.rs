//! One function that answers all requests.
//!
//! The one idea: a request picks a module; it reads what it needs, and makes a frame. Answers are not kept: what
//! many of them need of the tables the archive keeps by itself.

mod annotations;
mod arrays;
mod causes;
mod collectives;
#[cfg(feature = "http")]
mod compare;
mod counters;
mod course;
mod events;
mod flows;
mod histogram;
mod instances;
#[cfg(feature = "http")]
mod iterations;
mod levels;
mod overlaps;
mod part;
mod paths;
mod remarks;
mod sample;
mod sections;
mod sentences;
mod shares;
mod source;
mod states;
mod step;
mod sub_array;
mod totals;
mod traffic;
mod utilisation;
mod visit;
mod waits;

use crate::frame::Columns;
use crate::ranges;
use crate::run::Opened;
use crate::wire::{
    Counters, Course, ErrorHead, Histogram, Instances, PartOf, Request, Sample, SharesOf, SpanOf, SubArrayOf,
    Traffic, Which, Window, WireSentence,
};

/// More locations than this are not asked about at a time.
const MOST_RANGES: usize = 1 << 16;

/// Answers a request, a text in JSON: [`Request`]. The frame of a request that makes no sense says so.
pub fn answer(run: &Opened<'_>, request: &[u8]) -> Vec<u8> {
    let parsed = serde_json::from_slice(request).map_err(|error| error.to_string());
    match parsed.and_then(|request| checked(run, request)) {
        Ok(request) => answer_to(run, &request),
        Err(message) => refused(message),
    }
}

fn refused(message: String) -> Vec<u8> {
    Columns::default().frame("error", &ErrorHead { message })
}

fn answer_to(run: &Opened<'_>, request: &Request) -> Vec<u8> {
    match request {
        Request::Run => Columns::default().frame("run", &run.head),
        Request::Report => report(run),
        Request::States(window) => states::answer(run, window),
        Request::Totals(window) => totals::answer(run, window),
        Request::Course(asked) => course::answer(run, asked),
        Request::Messages(window) => flows::messages(run, window),
        Request::Traffic(asked) => traffic::answer(run, asked),
        Request::CollectiveSums(span) => collectives::sums::answer(run, span),
        Request::Collectives(window) => collectives::in_window(run, window),
        Request::Collective(operation) => collectives::one(run, operation),
        Request::CounterPlaces => counters::places(run),
        Request::Counters(asked) => counters::answer(run, asked),
        Request::OverlapPlaces => overlaps::places(run),
        Request::Overlaps(window) => overlaps::answer(run, window),
        Request::Events(window) => events::in_window(run, window),
        Request::EventsAt(span) => events::at(run, span),
        Request::Waits(window) => waits::answer(run, window),
        Request::Path(window) => flows::path(run, window),
        Request::Causes(span) => causes::answer(run, span),
        Request::Visit(at) => visit::answer(run, at),
        Request::Step(step) => step::answer(run, step),
        Request::Shares(asked) => shares::answer(run, asked),
        Request::CallPaths(span) => paths::answer(run, span),
        Request::Levels => levels::answer(run),
        Request::Utilisation(until) => utilisation::answer(run, until),
        Request::Situations => annotations::situations(run),
        Request::Anomalies => annotations::anomalies(run),
        Request::Histogram(histogram) => histogram::answer(run, histogram),
        Request::Instances(instances) => instances::answer(run, instances),
        Request::Source => source::outline(run),
        Request::SourceFile(asked) => source::file(run, asked),
        Request::SourceCodes(asked) => source::codes(run, asked),
        Request::SourceCode(asked) => source::code(run, asked),
        Request::SourceLoop(asked) => source::within_loop(run, asked),
        Request::SourceFunctions => source::functions(run),
        Request::SourceTypes => source::types(run),
        Request::SourceType(asked) => source::type_(run, asked),
        Request::Callees(asked) => source::callees(run, asked),
        Request::SourceWay(asked) => source::way(run, asked),
        Request::Remarks => run.remarked(remarks::answer).to_vec(),
        Request::Sentences(asked) => sentences::answer(run, asked),
        Request::SentenceTimes(asked) => sentences::times(run, asked),
        Request::Arrays(part) => arrays::answer(run, part),
        Request::Array(asked) => arrays::one(run, asked),
        Request::Sections(asked) => sections::answer(run, asked),
        Request::SubArray(asked) => sub_array::answer(run, asked),
        Request::Compare | Request::Iterations => match &run.told {
            Some(told) if *request == Request::Compare => told.compare.clone(),
            Some(told) => told.iterations.clone(),
            None => of_both(run, request),
        },
    }
}

/// What is asked of two runs.
#[cfg(feature = "http")]
fn of_both(run: &Opened<'_>, request: &Request) -> Vec<u8> {
    let answered = match request {
        Request::Iterations => iterations::answer(run),
        _ => compare::answer(run),
    };
    answered.unwrap_or_else(refused)
}

/// A page does without what compares two runs: it was told, or holds one.
#[cfg(not(feature = "http"))]
fn of_both(_run: &Opened<'_>, _request: &Request) -> Vec<u8> {
    refused("this page holds one run".to_owned())
}

/// The report is JSON already, so it is the head as it stands.
fn report(run: &Opened<'_>) -> Vec<u8> {
    match serde_json::from_slice::<&serde_json::value::RawValue>(run.report()) {
        Ok(text) => Columns::default().frame("report", &text),
        Err(error) => refused(error.to_string()),
    }
}

/// Refuses what no viewer asks, and brings the locations that are asked about into order: answers look for one by halving.
fn checked(run: &Opened<'_>, mut request: Request) -> Result<Request, String> {
    let known = u32::try_from(run.head.locations.len()).unwrap_or(u32::MAX);
    match &mut request {
        Request::States(window)
        | Request::Totals(window)
        | Request::Messages(window)
        | Request::Collectives(window)
        | Request::Overlaps(window)
        | Request::Events(window)
        | Request::Waits(window)
        | Request::Path(window) => check_window(window, known)?,
        Request::Course(asked) => check_course(asked, known)?,
        Request::Counters(asked) => check_counters(asked, known)?,
        Request::Traffic(asked) => check_traffic(asked)?,
        Request::Shares(SharesOf { span: Some(span) })
        | Request::CallPaths(span)
        | Request::Causes(span)
        | Request::CollectiveSums(span) => check_span(span)?,
        Request::Histogram(histogram) => check_histogram(histogram, known)?,
        Request::Instances(instances) => check_instances(instances, known)?,
        Request::Sentences(asked) => check_sentences(&mut asked.part, &asked.under, known)?,
        Request::SentenceTimes(asked) => {
            check_sentences(&mut asked.part, &asked.under, known)?;
            check_cells(asked.spans)?;
        }
        Request::Arrays(part) => check_part(part, known)?,
        Request::Array(asked) => check_part(&mut asked.part, known)?,
        Request::Sections(asked) => {
            check_part(&mut asked.part, known)?;
            check_cells(asked.cells.0)?;
            check_cells(asked.cells.1)?;
            if asked.axes.0 == asked.axes.1 {
                return Err("both axes of the picture are the same; choose another one".to_owned());
            }
        }
        Request::SubArray(asked) => {
            check_part(&mut asked.part, known)?;
            check_selection(asked)?;
        }
        Request::Run
        | Request::Report
        | Request::Shares(_)
        | Request::Levels
        | Request::Compare
        | Request::Iterations
        | Request::Situations
        | Request::Anomalies
        | Request::Utilisation(_)
        | Request::CounterPlaces
        | Request::OverlapPlaces
        | Request::Source
        | Request::SourceFile(_)
        | Request::SourceCodes(_)
        | Request::SourceCode(_)
        | Request::SourceLoop(_)
        | Request::SourceFunctions
        | Request::SourceTypes
        | Request::SourceType(_)
        | Request::Callees(_)
        | Request::SourceWay(_)
        | Request::Remarks
        | Request::EventsAt(_)
        | Request::Visit(_)
        | Request::Collective(_)
        | Request::Step(_) => {}
    }
    Ok(request)
}

fn check_window(window: &mut Window, known: u32) -> Result<(), String> {
    /// More buckets than there are pixels on three walls of screens.
    const MOST_BUCKETS: i64 = 1 << 17;
    if window.to_ns <= window.from_ns {
        return Err(format!("the window from {} to {} ns is empty", window.from_ns, window.to_ns));
    }
    let length = window.to_ns.checked_sub(window.from_ns).ok_or("the window is longer than time")?;
    if window.resolution_log2 > 62 || length >> window.resolution_log2 > MOST_BUCKETS {
        return Err(format!(
            "a window of {length} ns in steps of 2^{} ns is more than a picture holds; ask for longer steps",
            window.resolution_log2
        ));
    }
    if window.locations.len() > MOST_RANGES {
        return Err(format!("{} ranges of locations are too many", window.locations.len()));
    }
    ranges::in_order(&mut window.locations, known);
    Ok(())
}

fn check_course(asked: &mut Course, known: u32) -> Result<(), String> {
    check_window(&mut asked.window, known)?;
    // Answers look for one by halving.
    asked.without.sort_unstable();
    asked.without.dedup();
    Ok(())
}

fn check_counters(asked: &mut Counters, known: u32) -> Result<(), String> {
    /// More are not drawn at a time.
    const MOST_COUNTERS: usize = 1 << 8;
    check_window(&mut asked.window, known)?;
    if asked.counters.len() > MOST_COUNTERS {
        return Err(format!("{} counters are too many at a time", asked.counters.len()));
    }
    Ok(())
}

fn check_span(span: &SpanOf) -> Result<(), String> {
    if span.to_ns <= span.from_ns || span.to_ns.checked_sub(span.from_ns).is_none() {
        return Err(format!("the span from {} to {} ns is none", span.from_ns, span.to_ns));
    }
    Ok(())
}

fn check_part(part: &mut PartOf, known: u32) -> Result<(), String> {
    if let Some(span) = &part.span {
        check_span(span)?;
    }
    if let Some(locations) = &mut part.locations {
        if locations.len() > MOST_RANGES {
            return Err(format!("{} ranges of locations are too many", locations.len()));
        }
        ranges::in_order(locations, known);
    }
    Ok(())
}

fn check_selection(asked: &SubArrayOf) -> Result<(), String> {
    /// More than any language allows.
    const MOST_DIMENSIONS: usize = 32;
    let processes = asked.processes.as_ref().map_or(0, Vec::len);
    if asked.section.len() > MOST_DIMENSIONS || processes > MOST_RANGES {
        return Err(format!("{} dimensions and {processes} processes are too many", asked.section.len()));
    }
    Ok(())
}

fn check_sentences(part: &mut PartOf, under: &[WireSentence], known: u32) -> Result<(), String> {
    /// More contexts than anybody looks through.
    const MOST_CONTEXTS: usize = 64;
    check_part(part, known)?;
    match under.len() {
        number if number > MOST_CONTEXTS => Err(format!("{number} contexts are too many")),
        _ => Ok(()),
    }
}

/// Cells across or down a picture.
fn check_cells(number: u32) -> Result<(), String> {
    const MOST_CELLS: u32 = 1 << 12;
    match number {
        1..=MOST_CELLS => Ok(()),
        _ => Err(format!("a picture has 1 to {MOST_CELLS} cells across or down, not {number}")),
    }
}

fn check_traffic(asked: &Traffic) -> Result<(), String> {
    let ranges = asked.processes.iter().chain(asked.pair.iter().flatten());
    match ranges.into_iter().find(|(from, to)| to <= from) {
        Some((from, to)) => Err(format!("processes from {from} to before {to} are none")),
        None => Ok(()),
    }
}

fn check_histogram(histogram: &mut Histogram, known: u32) -> Result<(), String> {
    /// More bins than a histogram has pixels.
    const MOST_BINS: u32 = 1 << 13;
    check_sample(&mut histogram.sample, known)?;
    if !(1..=MOST_BINS).contains(&histogram.bins) {
        return Err(format!("a histogram has 1 to {MOST_BINS} bins, not {}", histogram.bins));
    }
    match histogram.range {
        Some((least, most)) if most < least => Err(format!("the range from {least} to {most} is empty")),
        _ => Ok(()),
    }
}

fn check_instances(instances: &mut Instances, known: u32) -> Result<(), String> {
    check_sample(&mut instances.sample, known)?;
    match instances.which {
        Which::Normal(percent) | Which::Anomalous(percent) if !(0.0..=50.0).contains(&percent) => {
            Err(format!("a percentage of what is anomalous is from 0 to 50, not {percent}"))
        }
        _ => Ok(()),
    }
}

fn check_sample(sample: &mut Sample, known: u32) -> Result<(), String> {
    /// More regions than colours that can be told apart.
    const MOST_REGIONS: usize = 64;
    // Each once, in the order in which they are named.
    let mut named = std::collections::BTreeSet::new();
    sample.regions.retain(|region| named.insert(*region));
    if sample.regions.len() > MOST_REGIONS {
        return Err(format!("a sample is of up to {MOST_REGIONS} regions, not {}", sample.regions.len()));
    }
    if sample.to_ns <= sample.from_ns {
        return Err(format!("the span from {} to {} ns is empty", sample.from_ns, sample.to_ns));
    }
    if sample.locations.len() > MOST_RANGES {
        return Err(format!("{} ranges of locations are too many", sample.locations.len()));
    }
    ranges::in_order(&mut sample.locations, known);
    Ok(())
}
