//! Events with times: a trace.
//!
//! The one idea: of each profile the frames that are open are known, so that one is left only where it was entered.

use std::path::Path;

use super::stream::{Bodies, Event, Heads};
use super::{Counts, FACTS, facts, ns_in, regions, thread_name};
use crate::draft::{Act, Draft, Owner};
use crate::problems::kind::MISSING;
use crate::{Error, Imported, Progress};

/// A trace on its way.
pub(super) struct Trace<'a> {
    draft: Draft,
    heads: &'a Heads,
    regions: Vec<u32>,
    tracks: Vec<u32>,
    /// Frames of the profile that are open, and when it was there last.
    open: Vec<u64>,
    last: f64,
    profile: usize,
    opens: u64,
    closes: u64,
    others: u64,
}

/// Times are that near to 0, ns.
const FARTHEST: f64 = (1_u64 << 60) as f64;

impl<'a> Trace<'a> {
    pub(super) fn new(dir: &Path, heads: &'a Heads, damage: Option<String>) -> Result<Self, Error> {
        let recorder = if heads.exporter.is_empty() { "Speedscope" } else { &heads.exporter };
        let mut draft = Draft::new(dir, recorder);
        if let Some(damage) = damage {
            draft.trouble(damage);
        }
        let command = Some(heads.name.clone()).filter(|name| !name.is_empty()).into_iter().collect();
        let process = draft.process(Owner { command, ..Owner::default() });
        let regions = regions(heads).iter().map(|region| draft.region(region)).collect();
        let mut tracks = Vec::new();
        for (number, head) in heads.profiles.iter().enumerate() {
            let track = draft.track(process, &thread_name(head, number));
            if let Some(kind) = draft.kind("profile", false, &FACTS) {
                draft.at_begin(track, &Act::Event { kind, fields: &facts(head) })?;
            }
            tracks.push(track);
        }
        Ok(Self {
            draft,
            heads,
            regions,
            tracks,
            open: Vec::new(),
            last: f64::MIN,
            profile: 0,
            opens: 0,
            closes: 0,
            others: 0,
        })
    }

    fn add(&mut self, at: f64, act: &Act<'_>) -> Result<(), Error> {
        let scale = self.heads.profiles.get(self.profile).and_then(|head| ns_in(&head.unit)).unwrap_or(1.0);
        #[expect(clippy::cast_possible_truncation, reason = "it is clamped to what fits")]
        let ns = (at * scale).round().clamp(-FARTHEST, FARTHEST) as i64;
        self.draft.add(self.tracks[self.profile], ns, act)
    }

    /// Leaves what was never closed in the profile that was read last.
    fn close_all(&mut self) -> Result<(), Error> {
        let end = self.heads.profiles.get(self.profile).map_or(self.last, |head| head.end.max(self.last));
        while let Some(frame) = self.open.pop() {
            self.draft.trouble("frames that are never closed");
            let region = self.regions.get(usize::try_from(frame).unwrap_or(usize::MAX)).copied();
            self.add(end, &Act::Leave { region })?;
        }
        Ok(())
    }

    pub(super) fn end(mut self, spool: &Path, progress: &dyn Progress) -> Result<(Imported, Counts), Error> {
        self.close_all()?;
        let imported = self.draft.finish(spool, (progress, 0))?;
        let counts =
            vec![("open", self.opens), ("close", self.closes), ("event of no known type", self.others)];
        Ok((imported, counts))
    }
}

impl Bodies for Trace<'_> {
    fn event(&mut self, profile: usize, event: &Event) -> Result<(), Error> {
        if profile >= self.tracks.len() {
            return Ok(());
        }
        if profile != self.profile {
            self.close_all()?;
            (self.profile, self.last) = (profile, f64::MIN);
        }
        if event.at < self.last {
            self.draft.trouble("events that are earlier than those before them");
        }
        self.last = event.at.max(self.last);
        let at = self.last;
        let region = usize::try_from(event.frame).ok().and_then(|frame| self.regions.get(frame)).copied();
        match event.kind.as_str() {
            "O" => self.opens += 1,
            "C" => self.closes += 1,
            _ => {
                self.others += 1;
                return Ok(());
            }
        }
        let Some(region) = region else {
            self.draft.problems.add(MISSING, "frames that events speak of", 1);
            return Ok(());
        };
        if event.kind == "O" {
            self.open.push(event.frame);
            return self.add(at, &Act::Enter { region });
        }
        let Some(place) = self.open.iter().rposition(|frame| *frame == event.frame) else {
            self.draft.trouble("frames that are closed and were not open");
            return Ok(());
        };
        while self.open.len() > place {
            let frame = self.open.pop().unwrap_or(event.frame);
            if self.open.len() > place {
                self.draft.trouble("frames that are closed after those around them");
            }
            let region = usize::try_from(frame).ok().and_then(|frame| self.regions.get(frame)).copied();
            self.add(at, &Act::Leave { region })?;
        }
        Ok(())
    }

    fn sample(&mut self, _: usize, _: usize, _: &[u64]) -> Result<(), Error> {
        self.others += 1;
        Ok(())
    }
}
