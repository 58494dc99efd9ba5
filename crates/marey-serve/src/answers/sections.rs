//! Which elements of an array were referred to: a picture of its index space.
//!
//! The one idea: the table of accesses is read once for a question and each row put into the cells that it means.

use marey_analyze::{Axis, HeatMap, Reference, Trace};
use marey_archive::Wanted;

use super::part::is_meant;
use crate::fold::float;
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{SectionsHead, SectionsOf};

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
    if !run.archive.has_accesses() {
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
    let (from, to) = asked.part.span.as_ref().map_or((i64::MIN, i64::MAX), |it| (it.from_ns, it.to_ns));
    let wanted = Wanted {
        array: &|at| is_one(at),
        location: &|location| is_meant(&asked.part, location.0),
        span: from..to,
    };
    let read = run.archive.accesses(&run.trace, &wanted, |access| {
        map.add(&Reference {
            elements: access.elements,
            process: access.peer.and_then(|peer| processes.binary_search(&peer.0).ok()),
            is_remote: access.is_remote(),
        });
    });
    let damage = read.map_err(|error| format!("single accesses cannot be read: {error}"))?;
    Ok((map, damage.iter().map(ToString::to_string).collect()))
}
