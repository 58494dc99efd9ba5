//! Operations of all of a span, by region and communicator.
//!
//! The one idea: one pass over the parts of members; which operations were met is kept as a bit each, since their numbers on
//! a communicator follow each other.

use std::collections::BTreeMap;

use marey_archive::Filter;
use rustc_hash::FxHashMap;

use super::{NONE, Part, read, waited};
use crate::answers::traffic::named;
use crate::answers::visit::region_of;
use crate::fold::float;
use crate::frame::Columns;
use crate::run::Opened;
use crate::wire::{CollectiveSumsHead, SpanOf};

/// Of a region and a communicator.
#[derive(Default)]
struct Sums {
    /// A bit for each operation: those of 64 numbers together.
    met: FxHashMap<u32, u64>,
    operations: u64,
    parts: u64,
    time: i64,
    longest: i64,
    waited: Option<i64>,
    bytes_out: i64,
    bytes_in: i64,
    first: Option<u32>,
}

impl Sums {
    fn add(&mut self, run: &Opened<'_>, part: &Part) {
        let instance = part.operation.instance;
        let (met, bit) = (self.met.entry(instance / 64).or_default(), 1_u64 << (instance % 64));
        if *met & bit == 0 {
            *met |= bit;
            self.operations += 1;
        }
        self.first = Some(self.first.map_or(instance, |first| first.min(instance)));
        self.parts += 1;
        let length = part.leave.map_or(0, |leave| leave - part.enter);
        self.time = self.time.saturating_add(length);
        self.longest = self.longest.max(length);
        if let Some(waited) = waited(run, part) {
            self.waited = Some(self.waited.unwrap_or(0).saturating_add(waited));
        }
        self.bytes_out = self.bytes_out.saturating_add(part.bytes_out.max(0));
        self.bytes_in = self.bytes_in.saturating_add(part.bytes_in.max(0));
    }
}

pub(in crate::answers) fn answer(run: &Opened<'_>, span: &SpanOf) -> Vec<u8> {
    let mut sums: BTreeMap<(u32, u32), Sums> = BTreeMap::new();
    let mut damage = Vec::new();
    let begun = Filter { column: "enter", range: 0..span.to_ns.max(0) };
    // Who never left was there at the moment of entering.
    for filters in [
        [begun.clone(), Filter { column: "leave", range: span.from_ns.max(0)..i64::MAX }],
        [
            Filter { column: "enter", range: span.from_ns.max(0)..span.to_ns.max(0) },
            Filter { column: "leave", range: i64::MIN..0 },
        ],
    ] {
        damage.extend(read(run, &filters, &mut |part| {
            let region = region_of(run, marey_model::CallPathId(part.path)).unwrap_or(NONE);
            sums.entry((region, part.operation.communicator)).or_default().add(run, part);
        }));
    }
    let number = |value: u64| float(i64::try_from(value).unwrap_or(i64::MAX));
    let mut columns = Columns::default();
    columns.u32("region", sums.keys().map(|it| it.0));
    columns.u32("communicator", sums.keys().map(|it| it.1));
    columns.f64("operations", sums.values().map(|it| number(it.operations)));
    columns.f64("parts", sums.values().map(|it| number(it.parts)));
    columns.f64("time", sums.values().map(|it| float(it.time)));
    columns.f64("longest", sums.values().map(|it| float(it.longest)));
    columns.f64("waited", sums.values().map(|it| it.waited.map_or(f64::NAN, float)));
    columns.f64("bytes_out", sums.values().map(|it| float(it.bytes_out)));
    columns.f64("bytes_in", sums.values().map(|it| float(it.bytes_in)));
    columns.u32("first", sums.values().map(|it| it.first.unwrap_or(NONE)));
    let communicators = named(run, sums.keys().map(|it| it.1));
    columns.frame("collective-sums", &CollectiveSumsHead { communicators, damage })
}
