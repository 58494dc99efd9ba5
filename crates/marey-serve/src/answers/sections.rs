//! Which elements of an array were referred to: a picture of its index space.
//!
//! The one idea: the table of accesses is read once for a question and each row put into the cells that it means.

use std::collections::BTreeMap;

use marey_analyze::{Axis, HeatMap, Reference, SectionRange, Trace};
use marey_model::{AccessKind, DataKind, DimensionKind};

use super::part::is_meant;
use crate::fold::float;
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{SectionsHead, SectionsOf};

/// More dimensions of sections than a run of any sense has.
const MOST_SHAPES: u64 = 1 << 22;

pub(super) fn answer(run: &Opened<'_>, asked: &SectionsOf) -> Vec<u8> {
    match found(run, asked) {
        Ok((map, damage)) => {
            let cell = |cells: &[u64]| {
                cells.iter().map(|it| float(i64::try_from(*it).unwrap_or(i64::MAX))).collect::<Vec<_>>()
            };
            let mut columns = Columns::default();
            columns.f64("local", cell(&map.local));
            columns.f64("remote", cell(&map.remote));
            let size = map.size.map(|it| u32::try_from(it).unwrap_or(u32::MAX));
            let head = SectionsHead {
                size: (size[0], size[1]),
                spans: map.spans(),
                nowhere: map.nowhere,
                why_not: None,
                damage,
            };
            columns.frame("sections", &head)
        }
        Err(why) => {
            let head = SectionsHead {
                size: (0, 0),
                spans: [(0, 0); 2],
                nowhere: 0,
                why_not: Some(why),
                damage: Vec::new(),
            };
            let mut columns = Columns::default();
            columns.f64("local", []);
            columns.f64("remote", []);
            columns.frame("sections", &head)
        }
    }
}

fn found(run: &Opened<'_>, asked: &SectionsOf) -> Result<(HeatMap, Vec<String>), String> {
    let all = run.trace.arrays();
    let is_one = |at: usize| all.get(at).is_some_and(|it| it.is_acted_on() && it.noun.0 == asked.array);
    let own: Vec<_> = (0..all.len()).filter(|at| is_one(*at)).collect();
    if run.archive.parts("accesses").is_empty() {
        return Err(
            "single accesses are not in this page, or none were recorded: open the run itself".to_owned()
        );
    }
    // Processes that have some of it, in the order of their numbers.
    let mut processes: Vec<u32> = own.iter().map(|at| all[*at].process.0).collect();
    processes.sort_unstable();
    processes.dedup();
    let axis = |axis: Option<u32>| axis.map_or(Axis::Process, |place| Axis::Dimension(place as usize));
    let span = |axis: Axis| match axis {
        Axis::Process => i64::try_from(processes.len()).ok().filter(|it| *it > 0).map(|it| (0, it - 1)),
        Axis::Dimension(place) => {
            let bounds = own.iter().filter_map(|at| all[*at].bounds.get(place).copied());
            bounds.reduce(|(least, most), (lower, upper)| (least.min(lower), most.max(upper)))
        }
    };
    let axes = [axis(asked.axes.0), axis(asked.axes.1)];
    let (Some(across), Some(down)) = (span(axes[0]), span(axes[1])) else {
        return Err("the array has no such dimension, or its bounds are not known".to_owned());
    };
    let most = [asked.cells.0 as usize, asked.cells.1 as usize];
    let mut map = HeatMap::new(axes, [across, down], most);
    let shapes = shapes(run)?;
    // Those of the last access of a window, which says how many there are by their bytes.
    let mut by_bytes: Vec<SectionRange> = Vec::new();
    let of = |at: u32| is_one(at as usize).then(|| &all[at as usize]);
    let columns = ["location", "time", "kind", "array", "peer", "bytes", "offset", "shape"];
    let (from, to) = asked.part.span.as_ref().map_or((i64::MIN, i64::MAX), |it| (it.from_ns, it.to_ns));
    let scanned = run.archive.scan("accesses", &columns, &[], |rows| {
        let (Ok(location), Ok(time), Ok(kind)) = (rows.u32("location"), rows.i64("time"), rows.text("kind"))
        else {
            return;
        };
        let (Ok(array), Ok(peer), Ok(bytes), Ok(offset), Ok(shape)) =
            (rows.u32("array"), rows.u32("peer"), rows.i64("bytes"), rows.i64("offset"), rows.u32("shape"))
        else {
            return;
        };
        for row in 0..rows.len() {
            let Some(array) = of(array[row]) else { continue };
            let is_access = AccessKind::from_name(&kind[row]).is_some_and(AccessKind::moves);
            if !is_access || time[row] < from || to <= time[row] || !is_meant(&asked.part, location[row]) {
                continue;
            }
            let shape = shapes.get(&shape[row]);
            let ranges = match array.kind {
                DataKind::Window => {
                    let unit = array.element_bytes.unwrap_or(0);
                    // Where an access begins of which that is not known nobody can tell.
                    let shape = if offset[row] < 0 { Some(&Shape::default()) } else { shape };
                    by_bytes = in_displacements(shape, unit, bytes[row]);
                    by_bytes.as_slice()
                }
                _ => shape.map_or(&[][..], |shape| &shape.ranges),
            };
            let owner = run.trace.locations().get(location[row] as usize).map(|it| it.process.0);
            map.add(&Reference {
                bounds: &array.bounds,
                element_bytes: array.element_bytes.unwrap_or(0),
                offset: offset[row],
                ranges,
                process: processes.binary_search(&peer[row]).ok(),
                is_remote: owner != Some(peer[row]),
            });
        }
    });
    let scanned = scanned.map_err(|error| format!("single accesses cannot be read: {error}"))?;
    Ok((map, scanned.damage.iter().map(ToString::to_string).collect()))
}

/// A section.
#[derive(Default)]
struct Shape {
    ranges: Vec<SectionRange>,
    /// Whether strides, and how many stand side by side, are bytes.
    is_in_bytes: bool,
}

/// The displacements that an access to a window means, which is told by bytes: of none that begin or end within one.
fn in_displacements(shape: Option<&Shape>, unit: u64, bytes: i64) -> Vec<SectionRange> {
    let bytes = u64::try_from(bytes).unwrap_or(0);
    let untold = || vec![SectionRange::Vector { count: bytes.checked_div(unit).unwrap_or(0).max(1) }];
    let whole = |bytes: u64| (bytes % unit.max(1) == 0).then(|| bytes.checked_div(unit)).flatten();
    let side_by_side = |bytes: u64| Some(SectionRange::Elements { stride: 1, count: whole(bytes)? });
    let one = |(place, range): (usize, &SectionRange)| match *range {
        SectionRange::Elements { count, .. } if place == 0 => side_by_side(count),
        SectionRange::Elements { stride, count } => {
            let stride = i64::try_from(whole(u64::try_from(stride).ok()?)?).ok()?;
            Some(SectionRange::Elements { stride, count })
        }
        _ => None,
    };
    let found = match shape {
        None => side_by_side(bytes).map(|range| vec![range]),
        Some(shape) if shape.is_in_bytes => shape.ranges.iter().enumerate().map(one).collect(),
        Some(_) => None,
    };
    found.unwrap_or_else(untold)
}

/// Each section, by its number.
fn shapes(run: &Opened<'_>) -> Result<BTreeMap<u32, Shape>, String> {
    let unread = |error: marey_archive::Error| format!("sections cannot be read: {error}");
    if run.archive.meta().rows("shapes") > MOST_SHAPES {
        return Err("the run has too many kinds of sections for a picture".to_owned());
    }
    let table = run.archive.table("shapes").map_err(unread)?;
    let (ids, kinds) = (table.u32("id").map_err(unread)?, table.text("kind").map_err(unread)?);
    let (starts, strides, counts) = (
        table.i64("start").map_err(unread)?,
        table.i64("stride").map_err(unread)?,
        table.i64("count").map_err(unread)?,
    );
    let mut found: BTreeMap<u32, Shape> = BTreeMap::new();
    for row in 0..table.len() {
        let count = u64::try_from(counts[row]).unwrap_or(0);
        let (start, stride) = (starts[row], strides[row]);
        let section = found.entry(ids[row]).or_default();
        section.is_in_bytes = kinds[row] == DimensionKind::Bytes.name();
        section.ranges.push(match kinds[row].as_str() {
            "elements" | "bytes" => SectionRange::Elements { stride, count },
            "subscripts" => SectionRange::Subscripts { start, stride, count },
            _ => SectionRange::Vector { count },
        });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_window_are_displacements_where_they_are_whole_ones() {
        let run = |stride: i64, count: u64| SectionRange::Elements { stride, count };
        let untold = |count: u64| vec![SectionRange::Vector { count }];
        let in_bytes = |ranges: &[SectionRange]| Shape { ranges: ranges.to_vec(), is_in_bytes: true };
        assert_eq!(in_displacements(None, 8, 24), [run(1, 3)]);
        assert_eq!(in_displacements(None, 1, 24), [run(1, 24)]);
        // Five times three elements of 8 bytes, ten apart.
        let vector = in_bytes(&[run(1, 24), run(80, 5)]);
        assert_eq!(in_displacements(Some(&vector), 8, 120), [run(1, 3), run(10, 5)]);
        assert_eq!(in_displacements(Some(&vector), 4, 120), [run(1, 6), run(20, 5)]);
        // Half an element, strides that are none of whole ones, what is not told, and no unit.
        assert_eq!(in_displacements(None, 8, 20), untold(2));
        assert_eq!(in_displacements(Some(&in_bytes(&[run(1, 8), run(12, 5)])), 8, 40), untold(5));
        assert_eq!(in_displacements(Some(&Shape::default()), 8, 40), untold(5));
        assert_eq!(in_displacements(None, 0, 40), untold(1));
    }
}
