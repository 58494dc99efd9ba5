//! Single accesses to arrays, as analysis sees them.
//!
//! The one idea: the table is read once for a question and handed out row by row, each with the elements that its shape and
//! the bounds of its array make of it; nothing is kept but shapes.
//!
//! Deliberately absent: whom they are handed to, and sums.

mod displacements;

use std::ops::Range;

use marey_analyze::{Elements, SectionRange, SingleAccess, Trace};
use marey_model::{AccessKind, CallPathId, DataKind, DimensionKind, LocationId, Nanos, ProcessId};
use rustc_hash::FxHashMap;

use self::displacements::{Shape, in_displacements};
use crate::schema::NONE;
use crate::{Archive, Error};

/// More dimensions of shapes than a run of any sense has.
const MOST_SHAPES: u64 = 1 << 22;

/// Which accesses are wanted.
#[expect(missing_debug_implementations, reason = "closures have none")]
pub struct Wanted<'w> {
    /// Arrays, by their places in [`Trace::arrays`].
    pub array: &'w dyn Fn(usize) -> bool,
    /// Who made the call.
    pub location: &'w dyn Fn(LocationId) -> bool,
    /// When it began, the end excluded. What lies beyond it of an access that began inside is cut off.
    pub span: Range<i64>,
}

impl Archive {
    /// Whether the run has single accesses.
    pub fn has_accesses(&self) -> bool {
        !self.parts("accesses").is_empty()
    }

    /// Hands out those accesses of a run that moved data and are wanted, in the order of the parts. What could not be read is
    /// returned. Time: linear in the accesses of the run.
    ///
    /// # Errors
    /// If shapes cannot be read, or there are too many.
    pub fn accesses(
        &self,
        trace: &dyn Trace,
        wanted: &Wanted<'_>,
        mut act: impl FnMut(&SingleAccess<'_>),
    ) -> Result<Vec<Error>, Error> {
        let shapes = shapes(self)?;
        let arrays = trace.arrays();
        // Those of the last access of a window, which says how many there are by their bytes.
        let mut by_bytes: Vec<SectionRange> = Vec::new();
        let columns =
            ["location", "time", "call_path", "kind", "array", "peer", "bytes", "offset", "shape", "leave"];
        let scanned = self.scan("accesses", &columns, &[], |rows| {
            let (Ok(location), Ok(time), Ok(path), Ok(kind), Ok(array)) = (
                rows.u32("location"),
                rows.i64("time"),
                rows.u32("call_path"),
                rows.text("kind"),
                rows.u32("array"),
            ) else {
                return;
            };
            let (Ok(peer), Ok(bytes), Ok(offset), Ok(shape), Ok(leave)) = (
                rows.u32("peer"),
                rows.i64("bytes"),
                rows.i64("offset"),
                rows.u32("shape"),
                rows.i64("leave"),
            ) else {
                return;
            };
            for row in 0..rows.len() {
                let place = array[row] as usize;
                let Some(of) = arrays.get(place).filter(|_| (wanted.array)(place)) else { continue };
                let Some(kind) = AccessKind::from_name(&kind[row]).filter(|kind| kind.moves()) else {
                    continue;
                };
                let location = LocationId(location[row]);
                if !wanted.span.contains(&time[row]) || !(wanted.location)(location) {
                    continue;
                }
                let shape = shapes.get(&shape[row]);
                let bytes = u64::try_from(bytes[row]).unwrap_or(0);
                let element_bytes = of.element_bytes.unwrap_or(0);
                let ranges = match of.kind {
                    DataKind::Window => {
                        // Where an access begins of which that is not known nobody can tell.
                        let shape = if offset[row] < 0 { Some(&Shape::default()) } else { shape };
                        by_bytes = in_displacements(shape, element_bytes, bytes);
                        by_bytes.as_slice()
                    }
                    _ => shape.map_or(&[][..], |shape| &shape.ranges),
                };
                act(&SingleAccess {
                    location,
                    process: trace.locations().get(location.idx()).map(|it| it.process),
                    call_path: (path[row] != NONE).then_some(CallPathId(path[row])),
                    kind,
                    array: place,
                    peer: (peer[row] != NONE).then_some(ProcessId(peer[row])),
                    enter: Nanos(time[row]),
                    leave: (leave[row] >= 0).then_some(Nanos(leave[row].min(wanted.span.end))),
                    elements: Elements {
                        bounds: &of.bounds,
                        element_bytes,
                        bytes,
                        offset: offset[row],
                        ranges,
                    },
                });
            }
        })?;
        Ok(scanned.damage)
    }
}

/// Dimensions of each section, by the number of its shape.
fn shapes(archive: &Archive) -> Result<FxHashMap<u32, Shape>, Error> {
    let rows = archive.meta().rows("shapes");
    if rows > MOST_SHAPES {
        return Err(Error::TooManyRows { table: "shapes", rows });
    }
    let table = archive.table("shapes")?;
    let (ids, kinds) = (table.u32("id")?, table.text("kind")?);
    let (starts, strides, counts) = (table.i64("start")?, table.i64("stride")?, table.i64("count")?);
    let mut found: FxHashMap<u32, Shape> = FxHashMap::default();
    for row in 0..table.len() {
        let count = u64::try_from(counts[row]).unwrap_or(0);
        let (start, stride) = (starts[row], strides[row]);
        let section = found.entry(ids[row]).or_default();
        section.is_in_bytes = kinds[row] == DimensionKind::Bytes.name();
        section.ranges.push(match kinds[row].as_str() {
            "elements" | "bytes" => SectionRange::Elements { stride, count },
            "subscripts" => SectionRange::Subscripts { start, stride, count },
            "untold" => SectionRange::Anywhere { count },
            _ => SectionRange::Vector { least: start, greatest: stride, count },
        });
    }
    Ok(found)
}
