//! Samples, and events without times: a profile.
//!
//! The one idea: what lies between two events belongs to what is open there, as a weight belongs to its stack.

use std::path::Path;

use super::stream::{Bodies, EVENTED, Event, Heads};
use super::{Counts, FACTS, facts, ns_in, regions, thread_name};
use crate::draft::Owner;
use crate::problems::kind::MISSING;
use crate::profile::{Profile, Time, whole};
use crate::{Error, Imported, Progress};

/// A profile on its way.
pub(super) struct Sums<'a> {
    profile: Profile,
    heads: &'a Heads,
    regions: Vec<u32>,
    threads: Vec<u32>,
    /// Frames that are open, with their call paths, and where the last event was.
    open: Vec<(u64, u32)>,
    last: Option<f64>,
    current: usize,
    counts: [u64; 4],
}

impl<'a> Sums<'a> {
    pub(super) fn new(dir: &Path, heads: &'a Heads, damage: Option<String>) -> Result<Self, Error> {
        let recorder = if heads.exporter.is_empty() { "Speedscope" } else { &heads.exporter };
        let mut profile = Profile::new(dir, recorder);
        if let Some(damage) = damage {
            profile.trouble(damage);
        }
        let command = Some(heads.name.clone()).filter(|name| !name.is_empty()).into_iter().collect();
        let process = profile.process(Owner { command, ..Owner::default() });
        let regions = regions(heads).iter().map(|region| profile.region(region)).collect();
        let kind = profile.kind("profile", &FACTS);
        let mut threads = Vec::new();
        for (number, head) in heads.profiles.iter().enumerate() {
            let thread = profile.thread(process, &thread_name(head, number));
            profile.note(thread, kind, &facts(head))?;
            threads.push(thread);
        }
        Ok(Self {
            profile,
            heads,
            regions,
            threads,
            open: Vec::new(),
            last: None,
            current: 0,
            counts: [0; 4],
        })
    }

    /// Adds a weight to a call path, or to what is outside of all.
    fn weigh(&mut self, at: usize, path: Option<u32>, weight: f64) -> Result<(), Error> {
        if weight < 0.0 {
            self.profile.trouble("weights that are less than nothing");
        }
        let unit = self.heads.profiles[at].unit.as_str();
        let thread = self.threads[at];
        let value = whole(weight * ns_in(unit).unwrap_or(1.0));
        if value == 0 {
            return Ok(());
        }
        match (ns_in(unit), path) {
            (Some(_), Some(path)) => {
                self.profile.time(thread, path, Time { exclusive_ns: value, ..Time::default() })
            }
            (Some(_), None) => {
                let metric = self.profile.metric("time outside of frames", "ns");
                self.profile.count(thread, None, metric, value)
            }
            (None, path) => {
                let metric = match unit {
                    "bytes" => self.profile.metric("bytes", "bytes"),
                    _ => self.profile.metric("weight", ""),
                };
                self.profile.count(thread, path, metric, value)
            }
        }
    }

    fn region(&mut self, frame: u64) -> Option<u32> {
        let region = usize::try_from(frame).ok().and_then(|frame| self.regions.get(frame)).copied();
        if region.is_none() {
            self.profile.problems.add(MISSING, "frames that events or samples speak of", 1);
        }
        region
    }

    /// Takes in what lies between the last event and this place.
    fn advance(&mut self, at: f64) -> Result<(), Error> {
        let last = self.last.unwrap_or(at);
        if at < last {
            self.profile.trouble("events that are earlier than those before them");
        }
        self.last = Some(at.max(last));
        match self.open.last() {
            Some((_, path)) => self.weigh(self.current, Some(*path), (at - last).max(0.0)),
            None => Ok(()),
        }
    }

    fn close_all(&mut self) -> Result<(), Error> {
        if self.open.is_empty() {
            return Ok(());
        }
        let end = self.heads.profiles[self.current].end.max(self.last.unwrap_or(f64::MIN));
        self.advance(end)?;
        for _ in 0..self.open.len() {
            self.profile.trouble("frames that are never closed");
        }
        self.open.clear();
        Ok(())
    }

    pub(super) fn end(mut self, spool: &Path, progress: &dyn Progress) -> Result<(Imported, Counts), Error> {
        self.close_all()?;
        let names = ["open", "close", "sample", "event of no known type"];
        let counts = names.into_iter().zip(self.counts).collect();
        Ok((self.profile.finish(spool, (progress, 0))?, counts))
    }
}

impl Bodies for Sums<'_> {
    fn event(&mut self, profile: usize, event: &Event) -> Result<(), Error> {
        if self.heads.profiles.get(profile).is_none_or(|head| head.kind != EVENTED) {
            self.counts[3] += 1;
            return Ok(());
        }
        if profile != self.current {
            self.close_all()?;
            (self.current, self.last) = (profile, None);
        }
        self.advance(event.at)?;
        match event.kind.as_str() {
            "O" => {
                self.counts[0] += 1;
                let Some(region) = self.region(event.frame) else { return Ok(()) };
                let path = self.profile.path(self.open.last().map(|it| it.1), region);
                self.open.push((event.frame, path));
                self.profile.time(self.threads[profile], path, Time { visits: 1, ..Time::default() })?;
            }
            "C" => {
                self.counts[1] += 1;
                match self.open.iter().rposition(|it| it.0 == event.frame) {
                    Some(place) => {
                        for _ in place + 1..self.open.len() {
                            self.profile.trouble("frames that are closed after those around them");
                        }
                        self.open.truncate(place);
                    }
                    None => self.profile.trouble("frames that are closed and were not open"),
                }
            }
            _ => self.counts[3] += 1,
        }
        Ok(())
    }

    fn sample(&mut self, profile: usize, number: usize, stack: &[u64]) -> Result<(), Error> {
        let Some(head) = self.heads.profiles.get(profile).filter(|head| head.kind != EVENTED) else {
            self.counts[3] += 1;
            return Ok(());
        };
        self.counts[2] += 1;
        let Some(weight) = head.weights.get(number).copied() else {
            self.profile.trouble("samples without weight");
            return Ok(());
        };
        let mut path = None;
        for frame in stack {
            let Some(region) = self.region(*frame) else { continue };
            path = Some(self.profile.path(path, region));
        }
        self.weigh(profile, path, weight)
    }
}
