//! What becomes of an anchor and of rows.
//!
//! The one idea: a metric at a time, and of it a call path at a time with those right beneath it: what is measured with them
//! becomes what is measured without, as the difference of rows. Call paths that have the same regions are one.
//!
//! Deliberately absent: sums of metrics over those that are parts of them; a run has each as it is stored.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use marey_model::spool::{FieldType, put, put_bytes};

use super::anchor::{Anchor, Metric};
use super::definitions;
use super::rows::{Rows, Value, Values};
use super::tar::{Archive, Part};
use super::tree::Tree;
use crate::Error;
use crate::problems::kind::MISSING;
use crate::profile::{Profile, Time, whole};

/// A profile on its way.
pub(super) struct Convert {
    pub profile: Profile,
    /// Rows by kind, as [`super::KINDS`] names them.
    pub counts: BTreeMap<&'static str, u64>,
    anchor: Anchor,
    /// The call path of each node of the call tree.
    paths: Vec<u32>,
    tree: Tree,
    /// The thread of each location, in the order of rows.
    threads: Vec<u32>,
    has_time: bool,
    /// Least and greatest durations of visits are both there.
    has_extremes: bool,
}

/// What values of a metric become.
#[derive(Clone, Copy, Debug)]
enum Target {
    Time {
        is_inclusive: bool,
    },
    Visits,
    /// Of the durations of single visits.
    Shortest,
    Longest,
    Counter {
        metric: u32,
    },
}

/// Units of time, and ns in each.
const UNITS: [(&str, f64); 5] = [("sec", 1e9), ("s", 1e9), ("msec", 1e6), ("usec", 1e3), ("nsec", 1.0)];

impl Convert {
    pub(super) fn new(dir: &Path, anchor: Anchor) -> Self {
        let creator = anchor.attributes.iter().find(|it| it.0 == "Creator" || it.0 == "CUBE Library version");
        let mut profile = Profile::new(dir, creator.map_or("CUBE", |it| it.1.as_str()));
        let paths = definitions::paths(&mut profile, &anchor);
        let tree = Tree::of(&anchor);
        let threads = definitions::threads(&mut profile, &anchor);
        let counts = BTreeMap::new();
        Self { profile, counts, anchor, paths, tree, threads, has_time: false, has_extremes: false }
    }

    /// Takes all metrics in.
    ///
    /// # Errors
    /// If what does not fit into memory cannot be written.
    pub(super) fn metrics(&mut self, archive: &Archive) -> Result<(), Error> {
        let metrics = std::mem::take(&mut self.anchor.metrics);
        let is_there = |name: &str| metrics.iter().any(|it| it.name == name && is_extreme(it));
        self.has_extremes = is_there("min_time") && is_there("max_time");
        let mut seen = BTreeSet::new();
        for metric in &metrics {
            if seen.insert(metric.id) {
                self.metric(metric, archive)?;
            } else {
                self.profile.trouble("metrics that have the number of another");
            }
        }
        if let Some(thread) = self.threads.iter().min().copied() {
            let attributes = std::mem::take(&mut self.anchor.attributes);
            let kind =
                self.profile.kind("attribute", &[("name", FieldType::Text), ("value", FieldType::Text)]);
            for (name, value) in &attributes {
                let mut fields = Vec::new();
                put_bytes(&mut fields, name.as_bytes());
                put_bytes(&mut fields, value.as_bytes());
                self.profile.note(thread, kind, &fields)?;
            }
        }
        Ok(())
    }

    pub(super) const fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    fn metric(&mut self, metric: &Metric, archive: &Archive) -> Result<(), Error> {
        let is_inclusive = match metric.kind.as_str() {
            "INCLUSIVE" => true,
            "EXCLUSIVE" => false,
            _ => {
                self.count_definition("derived metric");
                return Ok(());
            }
        };
        let has_data = archive.parts.contains_key(&Part::Data(metric.id));
        if !has_data && !archive.parts.contains_key(&Part::Index(metric.id)) {
            self.count_definition("metric without values");
            return Ok(());
        }
        let Some(values) = Values::of(&metric.values) else {
            self.count_definition("metric of functions or unknown values");
            return Ok(());
        };
        self.count_definition("metric");
        if self.threads.is_empty() {
            return Ok(());
        }
        let (rows, numbers) = match Rows::open(archive, metric.id, values, self.threads.len()) {
            Ok(it) => it,
            Err(what) => {
                self.profile.trouble(format!("metric {}: {what}", metric.name));
                return Ok(());
            }
        };
        let order = if is_inclusive { Some(self.tree.wide()) } else { None };
        let mut places: Vec<Option<u32>> = vec![None; self.paths.len()];
        for (place, number) in (0..).zip(numbers) {
            let cnode = order.as_ref().map_or(Some(number), |order| order.get(number as usize).copied());
            match cnode.and_then(|cnode| places.get_mut(cnode as usize)) {
                Some(slot) if slot.is_none() => *slot = Some(place),
                Some(_) => {
                    self.profile.trouble(format!("metric {}: several rows of a call path", metric.name))
                }
                None => {
                    let text = format!("metric {}: rows of call paths that are not there", metric.name);
                    self.profile.problems.add(MISSING, text, 1);
                }
            }
        }
        match values {
            Values::Reals(_) | Values::Atomic => self.several(metric, &rows, &places),
            _ if is_inclusive => self.inclusive(metric, &rows, &places),
            _ => self.exclusive(metric, &rows, &places),
        }
    }

    fn count_definition(&mut self, kind: &'static str) {
        *self.anchor.counts.entry(kind).or_default() += 1;
    }

    fn count_row(&mut self, kind: &'static str) {
        *self.counts.entry(kind).or_default() += 1;
    }

    /// What a metric becomes, and what to multiply its values by.
    fn target(&mut self, metric: &Metric, is_inclusive: bool) -> (Target, Option<f64>) {
        let ns = UNITS.iter().find(|it| it.0 == metric.unit).map(|it| it.1);
        match metric.name.as_str() {
            "time" if ns.is_some() && !self.has_time => {
                self.has_time = true;
                (Target::Time { is_inclusive }, ns)
            }
            "visits" if !is_inclusive => (Target::Visits, None),
            "min_time" if self.has_extremes => (Target::Shortest, ns),
            "max_time" if self.has_extremes => (Target::Longest, ns),
            name => {
                let unit = match metric.unit.as_str() {
                    _ if ns.is_some() => "ns",
                    "#" | "occ" => "",
                    unit => unit,
                };
                (Target::Counter { metric: self.profile.metric(name, unit) }, ns)
            }
        }
    }

    fn exclusive(&mut self, metric: &Metric, rows: &Rows<'_>, places: &[Option<u32>]) -> Result<(), Error> {
        let (target, scale) = self.target(metric, false);
        let mut row = Vec::new();
        for (cnode, place) in (0..).zip(places) {
            let Some(place) = place else { continue };
            if !self.read(metric, rows, *place, &mut row) {
                continue;
            }
            self.count_row("row of an exclusive metric");
            for location in 0..self.threads.len() {
                let value = rows.value(&row, location);
                let Some(exclusive) = value.and_then(|value| self.number(metric, value, scale)) else {
                    continue;
                };
                self.tell((cnode, location), target, (exclusive, None))?;
            }
        }
        Ok(())
    }

    fn inclusive(&mut self, metric: &Metric, rows: &Rows<'_>, places: &[Option<u32>]) -> Result<(), Error> {
        let (target, scale) = self.target(metric, true);
        let mut row = Vec::new();
        for (cnode, place) in (0..).zip(places) {
            let Some(place) = place else { continue };
            if !self.read(metric, rows, *place, &mut row) {
                continue;
            }
            self.count_row("row of an inclusive metric");
            let all: Vec<_> = (0..self.threads.len()).map(|location| rows.value(&row, location)).collect();
            let mut own = all.clone();
            let children: Vec<u32> = self.tree.children(cnode).filter_map(|it| places[it as usize]).collect();
            for place in children {
                // What cannot be read is a problem where it is told itself.
                if rows.row(place, &mut row).is_err() {
                    continue;
                }
                for (location, own) in own.iter_mut().enumerate() {
                    *own = match (*own, rows.value(&row, location)) {
                        (Some(Value::Whole(own)), Some(Value::Whole(of_child))) => {
                            Some(Value::Whole(own.saturating_sub(of_child)))
                        }
                        (Some(Value::Real(own)), Some(Value::Real(of_child))) => {
                            Some(Value::Real(own - of_child))
                        }
                        (own, _) => own,
                    };
                }
            }
            for (location, (all, own)) in all.into_iter().zip(own).enumerate() {
                let (Some(all), Some(own)) = (all, own) else { continue };
                let Some(inclusive) = self.number(metric, all, scale) else { continue };
                // Differences of sums of reals may be a little less than nothing, which is no damage below 1 ns.
                let exclusive = self.number(metric, own, scale).unwrap_or(0);
                self.tell((cnode, location), target, (exclusive, Some(inclusive)))?;
            }
        }
        Ok(())
    }

    fn read(&mut self, metric: &Metric, rows: &Rows<'_>, place: u32, row: &mut Vec<u8>) -> bool {
        match rows.row(place, row) {
            Ok(()) => true,
            Err(what) => {
                self.profile.trouble(format!("metric {}: {what}", metric.name));
                false
            }
        }
    }

    /// A value as a run has it, rounded; `None` of what is less than nothing or no number, which is said.
    fn number(&mut self, metric: &Metric, value: Value, scale: Option<f64>) -> Option<u64> {
        let number = match (value, scale) {
            (Value::Whole(whole), None) => u64::try_from(whole).ok(),
            #[expect(clippy::cast_precision_loss, reason = "as exact as a time in seconds is")]
            (Value::Whole(number), Some(scale)) => positive(number as f64 * scale),
            (Value::Real(real), scale) => positive(real * scale.unwrap_or(1.0)),
        };
        if number.is_none() {
            let text = format!("metric {}: values that are less than nothing, or no numbers", metric.name);
            self.profile.trouble(text);
        }
        number
    }

    fn tell(
        &mut self,
        (cnode, location): (u32, usize),
        target: Target,
        (exclusive, inclusive): (u64, Option<u64>),
    ) -> Result<(), Error> {
        if exclusive == 0 && inclusive.unwrap_or(0) == 0 {
            return Ok(());
        }
        let (thread, path) = (self.threads[location], self.paths[cnode as usize]);
        match target {
            Target::Time { is_inclusive } => {
                // What is told for a path above itself is in that one's time already.
                let above = self.anchor.cnodes[cnode as usize].parent.map(|it| self.paths[it as usize]);
                let inclusive_ns = inclusive.filter(|_| is_inclusive && above != Some(path));
                self.profile.time(thread, path, Time { visits: 0, exclusive_ns: exclusive, inclusive_ns })
            }
            Target::Visits => self.profile.time(thread, path, Time { visits: exclusive, ..Time::default() }),
            Target::Shortest => self.profile.extremes(thread, path, (Some(exclusive), None)),
            Target::Longest => self.profile.extremes(thread, path, (None, Some(exclusive))),
            Target::Counter { .. } if exclusive == 0 => Ok(()),
            Target::Counter { metric } => self.profile.count(thread, Some(path), metric, exclusive),
        }
    }

    /// Values of several numbers, which are kept as they are.
    fn several(&mut self, metric: &Metric, rows: &Rows<'_>, places: &[Option<u32>]) -> Result<(), Error> {
        let mut row = Vec::new();
        for (cnode, place) in places.iter().enumerate() {
            let Some(place) = place else { continue };
            if !self.read(metric, rows, *place, &mut row) {
                continue;
            }
            self.count_row("row of values of several numbers");
            for location in 0..self.threads.len() {
                let Some((first, numbers)) = rows.numbers(&row, location) else { continue };
                if first.unwrap_or(0) == 0 && numbers.iter().all(|number| *number == 0.0) {
                    continue;
                }
                self.note(metric, (cnode, location), first, &numbers)?;
            }
        }
        Ok(())
    }

    fn note(
        &mut self,
        metric: &Metric,
        (cnode, location): (usize, usize),
        first: Option<u32>,
        numbers: &[f64],
    ) -> Result<(), Error> {
        let mut fields = Vec::new();
        put_bytes(&mut fields, metric.name.as_bytes());
        // Regions may have one name: the number is that of the call path in the anchor, from 0.
        put(&mut fields, cnode as u64);
        let kind = if let Some(first) = first {
            put(&mut fields, first.into());
            numbers.iter().for_each(|number| fields.extend(number.to_le_bytes()));
            let kinds = [
                ("metric", FieldType::Text),
                ("call_path", FieldType::Unsigned),
                ("number", FieldType::Unsigned),
                ("least", FieldType::Real),
                ("greatest", FieldType::Real),
                ("sum", FieldType::Real),
                ("sum_of_squares", FieldType::Real),
            ];
            self.profile.kind("statistics", &kinds)
        } else {
            let text: Vec<String> = numbers.iter().map(f64::to_string).collect();
            put_bytes(&mut fields, text.join(" ").as_bytes());
            let kinds = [
                ("metric", FieldType::Text),
                ("call_path", FieldType::Unsigned),
                ("values", FieldType::Text),
            ];
            self.profile.kind("values", &kinds)
        };
        self.profile.note(self.threads[location], kind, &fields)
    }
}

/// Whether a metric is the least or the greatest of single visits.
fn is_extreme(metric: &Metric) -> bool {
    let is_time = UNITS.iter().any(|it| it.0 == metric.unit);
    is_time && metric.kind == "EXCLUSIVE" && matches!(metric.values.as_str(), "MINDOUBLE" | "MAXDOUBLE")
}

/// A number that is 0 at least, rounded.
fn positive(number: f64) -> Option<u64> {
    (number > -1.0 && number < 2_f64.powi(64)).then(|| whole(number))
}
