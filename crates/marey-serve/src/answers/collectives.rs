//! Operations of all: those of a window, and all about one of them.
//!
//! The one idea: the table has a row a member, by slab and operation. So those who were in one in the window say which
//! operations are meant, and these are read as wholes, for who came last may have come outside of it.

use std::collections::BTreeMap;

use marey_analyze::{CommunicatorId, Trace};
use marey_archive::{Columns as Rows, Error, Filter};
use marey_model::{CallPathId, LocationId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::visit::region_of;
use crate::fold::float;
use crate::frame::Columns;
use crate::ranges;
use crate::run::Opened;
use crate::wire::{CollectiveHead, CollectivesHead, Operation, Window, WireOperation};

mod shapes;
pub(super) mod sums;

use shapes::{Shape, Shapes};

/// Stands for a region, or a line, that is not known.
const NONE: u32 = u32::MAX;

/// More parts than this are not read for a picture.
const MOST_READ: f64 = 2_000_000.0;

/// The part of a member in an operation.
#[derive(Clone, Copy, Debug)]
struct Part {
    operation: Operation,
    location: u32,
    enter: i64,
    leave: Option<i64>,
    /// Enter of the call that completed it.
    start: Option<i64>,
    path: u32,
    done_path: u32,
    root: i64,
    bytes_out: i64,
    bytes_in: i64,
}

impl Part {
    /// Call path of the call that completed it, or of that which began it.
    fn last_path(&self) -> CallPathId {
        CallPathId(if self.done_path == NONE { self.path } else { self.done_path })
    }
}

/// The operations of a window.
pub(super) fn in_window(run: &Opened<'_>, window: &Window) -> Vec<u8> {
    let mut shapes = Shapes::new(run, window);
    let is_too_much = expected(run, window) > MOST_READ;
    let damage =
        if is_too_much { Vec::new() } else { read_touched(run, window, &mut |parts| shapes.add(parts)) };
    let (number, told) = shapes.finish();
    let head = CollectivesHead { number: (!is_too_much).then_some(number), damage };
    let mut sum = 0;
    let behind = told.iter().map(|shape| {
        sum += u32::try_from(shape.members.len()).unwrap_or(0);
        sum
    });
    let behind: Vec<u32> = behind.collect();
    let members = || told.iter().flat_map(|shape| &shape.members);
    let mut columns = Columns::default();
    columns.u32("communicator", told.iter().map(|shape| shape.first.communicator));
    columns.u32("instance", told.iter().map(|shape| shape.first.instance));
    columns.u32("region", told.iter().map(|shape| shape.region));
    columns.u32("last", told.iter().map(|shape| shape.last));
    columns.u32("number", told.iter().map(|shape: &Shape| u32::try_from(shape.number).unwrap_or(NONE)));
    columns.u32("behind", behind);
    columns.u32("location", members().map(|member| member.location));
    columns.u32("line", members().map(|member| member.line));
    columns.f64("enter", members().map(|member| float(member.enter)));
    columns.f64("leave", members().map(|member| member.leave.map_or(f64::NAN, float)));
    columns.frame("collectives", &head)
}

/// How many parts lie in a window, if there are as many in one moment as in another.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn expected(run: &Opened<'_>, window: &Window) -> f64 {
    let rows: u64 = run.archive.parts("collectives").iter().map(|part| part.rows).sum();
    let end = run.trace.duration().0.max(1);
    let inside = (window.to_ns.min(end) - window.from_ns.max(0)).max(0);
    rows as f64 * float(inside) / float(end)
}

/// Hands out all parts of each operation in which somebody who is asked about was in the window.
fn read_touched(run: &Opened<'_>, window: &Window, each: &mut dyn FnMut(&[Part])) -> Vec<String> {
    let is_meant = |location: u32| ranges::hold(&window.locations, location);
    let mut meant: FxHashSet<Operation> = FxHashSet::default();
    let mut damage = Vec::new();
    let entered = Filter { column: "enter", range: 0..window.to_ns.max(0) };
    // Who never left was there at the moment of entering.
    for filters in [
        [entered.clone(), Filter { column: "leave", range: window.from_ns.max(0)..i64::MAX }],
        [
            Filter { column: "enter", range: window.from_ns.max(0)..window.to_ns.max(0) },
            Filter { column: "leave", range: i64::MIN..0 },
        ],
    ] {
        damage.extend(read(run, &filters, &mut |part| {
            if is_meant(part.location) {
                meant.insert(part.operation);
            }
        }));
    }
    // Members that left in different slabs stand apart.
    let mut open: FxHashMap<Operation, Vec<Part>> = FxHashMap::default();
    let mut again = Vec::new();
    for filters in of_operations(&meant) {
        again.extend(read(run, &filters, &mut |part| {
            if !meant.contains(&part.operation) {
                return;
            }
            let parts = open.entry(part.operation).or_default();
            parts.push(*part);
            let all = run.events.measured_of(CommunicatorId(part.operation.communicator));
            if all.is_some_and(|all| parts.len() >= all) {
                each(&open.remove(&part.operation).unwrap_or_default());
            }
        }));
    }
    let mut left: Vec<_> = open.into_iter().collect();
    left.sort_unstable_by_key(|(operation, _)| *operation);
    left.iter().for_each(|(_, parts)| each(parts));
    // What cannot be read now could not be read before.
    if damage.is_empty() { again } else { damage }
}

/// Filters that operations pass, and few others: instances are counted by each communicator for itself, so they are asked for
/// one by one, unless there are many of them.
fn of_operations(meant: &FxHashSet<Operation>) -> Vec<[Filter<'static>; 2]> {
    /// More than these are passed over as often as is worth it.
    const MOST_PASSES: usize = 16;
    let mut instances: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    meant.iter().for_each(|it| {
        let (least, most) = instances.entry(it.communicator).or_insert((it.instance, it.instance));
        (*least, *most) = ((*least).min(it.instance), (*most).max(it.instance));
    });
    let filters = |(first, last): (u32, u32), (least, most): (u32, u32)| {
        let range = |least: u32, most: u32| i64::from(least)..i64::from(most) + 1;
        [
            Filter { column: "communicator", range: range(first, last) },
            Filter { column: "instance", range: range(least, most) },
        ]
    };
    if instances.len() > MOST_PASSES {
        let all = instances.iter().map(|(communicator, range)| ((*communicator, *communicator), *range));
        let around = |a: (u32, u32), b: (u32, u32)| (a.0.min(b.0), a.1.max(b.1));
        let all = all.reduce(|a, b| (around(a.0, b.0), around(a.1, b.1)));
        return all.map(|(communicators, range)| filters(communicators, range)).into_iter().collect();
    }
    instances.into_iter().map(|(communicator, range)| filters((communicator, communicator), range)).collect()
}

/// Hands out the parts that pass all filters; what could not be read.
fn read(run: &Opened<'_>, filters: &[Filter<'_>], each: &mut dyn FnMut(&Part)) -> Vec<String> {
    const COLUMNS: [&str; 11] = [
        "communicator",
        "instance",
        "location",
        "enter",
        "leave",
        "call_path",
        "root",
        "bytes_out",
        "bytes_in",
        "start",
        "done_path",
    ];
    let known = run.trace.locations().len();
    let mut wrong: Option<Error> = None;
    let scanned = run.archive.scan("collectives", &COLUMNS, filters, |batch| {
        wrong = wrong.take().or(rows(batch, known, each).err());
    });
    let damage = match scanned {
        Ok(scanned) => scanned.damage,
        Err(error) => vec![error],
    };
    damage.iter().chain(&wrong).map(ToString::to_string).collect()
}

fn rows(batch: &Rows, known: usize, each: &mut dyn FnMut(&Part)) -> Result<(), Error> {
    let (communicators, instances) = (batch.u32("communicator")?, batch.u32("instance")?);
    let (locations, paths, done_paths) =
        (batch.u32("location")?, batch.u32("call_path")?, batch.u32("done_path")?);
    let (enters, leaves, starts) = (batch.i64("enter")?, batch.i64("leave")?, batch.i64("start")?);
    let (roots, outs, ins) = (batch.i64("root")?, batch.i64("bytes_out")?, batch.i64("bytes_in")?);
    for row in (0..batch.len()).filter(|row| (locations[*row] as usize) < known) {
        each(&Part {
            operation: Operation { communicator: communicators[row], instance: instances[row] },
            location: locations[row],
            enter: enters[row],
            leave: Some(leaves[row]).filter(|leave| enters[row] <= *leave),
            start: Some(starts[row]).filter(|start| 0 <= *start),
            path: paths[row],
            done_path: done_paths[row],
            root: roots[row],
            bytes_out: outs[row],
            bytes_in: ins[row],
        });
    }
    Ok(())
}

/// All about one.
pub(super) fn one(run: &Opened<'_>, operation: &Operation) -> Vec<u8> {
    let (communicator, instance) = (i64::from(operation.communicator), i64::from(operation.instance));
    let filters = [
        Filter { column: "communicator", range: communicator..communicator + 1 },
        Filter { column: "instance", range: instance..instance + 1 },
    ];
    let mut parts = Vec::new();
    let damage = read(run, &filters, &mut |part| parts.push(*part));
    parts.sort_by_key(|part| (part.enter, part.location));
    let line = |part: &Part| run.line_of(LocationId(part.location), part.last_path()).unwrap_or(NONE);
    let mut columns = Columns::default();
    columns.u32("location", parts.iter().map(|part| part.location));
    columns.u32("line", parts.iter().map(line));
    columns.f64("enter", parts.iter().map(|part| float(part.enter)));
    columns.f64("leave", parts.iter().map(|part| part.leave.map_or(f64::NAN, float)));
    columns.f64("start", parts.iter().map(|part| part.start.map_or(f64::NAN, float)));
    columns.f64("waited", parts.iter().map(|part| waited(run, part).map_or(f64::NAN, float)));
    columns.f64("bytes_out", parts.iter().map(|part| float(part.bytes_out.max(0))));
    columns.f64("bytes_in", parts.iter().map(|part| float(part.bytes_in.max(0))));
    columns.frame("collective", &CollectiveHead { operation: described(run, operation, &parts), damage })
}

fn described(run: &Opened<'_>, operation: &Operation, parts: &[Part]) -> Option<WireOperation> {
    let communicator = run.trace.communicators().get(operation.communicator as usize);
    let rank = parts.iter().map(|part| part.root).find(|root| 0 <= *root);
    let process =
        rank.and_then(|rank| run.events.process_of_rank(CommunicatorId(operation.communicator), rank));
    let locations = run.trace.locations();
    let is_root = |part: &&Part| locations.get(part.location as usize).map(|it| it.process) == process;
    Some(WireOperation {
        region: region(run, parts),
        communicator: communicator.map_or(String::new(), |it| it.name.clone()),
        size: communicator.map_or(0, |it| it.size),
        root: process.and_then(|_| parts.iter().find(is_root)).map(|part| part.location),
        last: last(parts)?,
        start_ns: parts.iter().map(|part| part.enter).min()?,
        end_ns: parts.iter().filter_map(|part| part.leave.or(Some(part.enter))).max()?,
    })
}

/// The operation in which a visit took part: it began it, or completed it.
pub(super) fn of_visit(run: &Opened<'_>, location: LocationId, start: i64) -> Option<Operation> {
    let own = Filter { column: "location", range: i64::from(location.0)..i64::from(location.0) + 1 };
    ["enter", "start"].into_iter().find_map(|column| {
        let mut found = None;
        let filters = [own.clone(), Filter { column, range: start..start.saturating_add(1) }];
        // What cannot be read is not found.
        let _damage = read(run, &filters, &mut |part| found = found.or(Some(part.operation)));
        found
    })
}

/// Who came last: of several at once, the location that comes first.
fn last(parts: &[Part]) -> Option<u32> {
    let last = parts.iter().max_by_key(|part| (part.enter, std::cmp::Reverse(part.location)));
    last.map(|part| part.location)
}

/// The region of the call that began it, as the first location says that knows it.
fn region(run: &Opened<'_>, parts: &[Part]) -> Option<u32> {
    let known = parts.iter().filter_map(|part| Some((part.location, region_of(run, CallPathId(part.path))?)));
    known.min().map(|(_, region)| region)
}

/// How long a member waited in the call that completed its part; `None` = that is not known.
fn waited(run: &Opened<'_>, part: &Part) -> Option<i64> {
    let (start, leave) = (part.start?, part.leave?);
    let waits = run.causes()?.waits.of(LocationId(part.location));
    let first = waits.partition_point(|wait| wait.to.0 <= start);
    // Neither waits nor calls of a location overlap.
    let own = waits[first..].iter().take_while(|wait| wait.from.0 < leave);
    Some(own.map(|wait| wait.length().0).sum())
}
