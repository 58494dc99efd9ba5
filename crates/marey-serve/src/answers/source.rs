//! What the program consists of: which sources and functions there are, and one of something at a time.
//!
//! The one idea: the program is read when the first question about it comes ([`crate::program`]); answers are rows of it.

mod code;
mod file;
mod graph;
mod types;

use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) use code::{code, codes};
pub(super) use file::{file, within_loop};
pub(super) use graph::{callees, way};
pub(super) use types::{type_, types};

use super::{part, refused};
use crate::frame::Columns;
use crate::program::{Program, weight};
use crate::run::Opened;
use crate::wire::{
    PartOf, SourceFunctionsHead, SourceHead, WireCost, WireModule, WireSource, WireSourceFunction,
};

/// More functions are not listed: nobody looks through them, and a file lists its own.
const MOST_FUNCTIONS: usize = 20_000;

pub(super) fn outline(run: &Opened<'_>) -> Vec<u8> {
    let it = run.program();
    let mut files: Vec<WireSource> = it
        .files
        .iter()
        .map(|file| WireSource {
            path: file.path.clone(),
            state: file.state.clone(),
            language: file.language.clone(),
            lines: file.lines,
            unclear: file.unclear,
            is_of_system: file.is_of_system,
            has_text: false,
            functions: 0,
            types: 0,
            loops: 0,
            cost: WireCost::default(),
        })
        .collect();
    for file in &it.texts {
        if let Some(file) = files.get_mut(*file as usize) {
            file.has_text = true;
        }
    }
    let mut count = |file: Option<u32>, what: fn(&mut WireSource) -> &mut u32| {
        if let Some(file) = file.and_then(|file| files.get_mut(file as usize)) {
            *what(file) += 1;
        }
    };
    it.functions.iter().for_each(|it| count(it.file, |file| &mut file.functions));
    it.types.iter().for_each(|it| count(it.file, |file| &mut file.types));
    it.loops.iter().for_each(|it| count(it.file, |file| &mut file.loops));
    for ((file, _), cost) in &it.lines {
        let Some(file) = files.get_mut(*file as usize) else { continue };
        // What is in a line and in those that it calls would count twice.
        file.cost.exclusive_ns += cost.exclusive_ns;
        file.cost.inclusive_ns += cost.exclusive_ns;
    }
    // By region, where its calls took longest.
    let mut places: BTreeMap<u32, (i64, u32, u32)> = BTreeMap::new();
    for ((file, line, region), cost) in &it.line_calls {
        if let Some(file) = files.get_mut(*file as usize) {
            file.cost.calls += cost.calls;
            file.cost.call_ns += cost.call_ns;
            file.cost.waiting_ns += cost.waiting_ns;
            file.cost.bytes += cost.bytes;
        }
        let place = places.entry(*region).or_insert((-1, 0, 0));
        if place.0 < cost.call_ns {
            *place = (cost.call_ns, *file, *line);
        }
    }
    let mut columns = Columns::default();
    columns.u32("region", places.keys().copied());
    columns.u32("file", places.values().map(|it| it.1));
    columns.u32("line", places.values().map(|it| it.2));
    let modules = it.modules.iter().map(|it| WireModule {
        path: it.path.clone(),
        has_debug_information: it.has_debug_information,
        has_calls: it.has_calls,
        problem: it.problem.clone(),
    });
    let head = SourceHead {
        why_not: it.why_not.clone(),
        has_texts: !it.texts.is_empty(),
        has_code: run.archive.meta().rows("source_codes") != 0,
        has_waits: run.causes().is_some(),
        processor_ns: it.whole.time.0,
        calls_ns: it.calls_ns,
        communication_ns: it.communication_ns,
        whole_ns: part::time_of(run, &PartOf { span: None, locations: None }),
        samples: it.whole.samples,
        modules: modules.collect(),
        files,
        damage: it.damage.clone(),
    };
    columns.frame("source", &head)
}

/// Functions of the user's.
pub(super) fn functions(run: &Opened<'_>) -> Vec<u8> {
    let it = run.program();
    let is_users = |file: Option<u32>| {
        file.and_then(|file| it.files.get(file as usize)).is_some_and(|file| !file.is_of_system)
    };
    let numbered = (0_u32..).zip(&it.functions).filter(|(_, function)| is_users(function.file));
    let mut numbers: Vec<u32> = numbered.map(|(number, _)| number).collect();
    let cost =
        |number: &u32| it.graph.nodes.get(*number as usize).map(|node| weight(&node.cost)).unwrap_or(0);
    numbers.sort_by_key(|number| (Reverse(cost(number)), *number));
    let all = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    numbers.truncate(MOST_FUNCTIONS);
    let functions = numbers.into_iter().filter_map(|number| function(it, number)).collect();
    Columns::default().frame("source-functions", &SourceFunctionsHead { functions, number: all })
}

fn function(it: &Program, number: u32) -> Option<WireSourceFunction> {
    let found = it.functions.get(number as usize)?;
    Some(WireSourceFunction {
        number,
        name: found.name.clone(),
        kind: found.kind.clone(),
        attributes: found.attributes.clone(),
        known_to: found.known_to.clone(),
        of: found.of,
        file: found.file,
        line: found.line,
        first: found.first,
        last: found.last,
        cost: it.graph.nodes.get(number as usize).map(|node| node.cost).unwrap_or_default(),
    })
}

fn none(what: &str, number: u32) -> Vec<u8> {
    refused(format!("the run has no {what} of the number {number}"))
}
