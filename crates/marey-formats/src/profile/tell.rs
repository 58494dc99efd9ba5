//! From what was noted, in order, to spools.
//!
//! The one idea: threads come one after the other, each with all that is known of it, so what lies beneath a call path can
//! be added up before it is written.

use std::collections::BTreeMap;
use std::path::Path;

use marey_model::spool::samples::{NO_NODE, Node, NodeKind};
use marey_model::spool::sums::Sums;
use marey_model::spool::{Definition, FieldType, get, get_bytes};

use super::{CallPath, Kind, Profile, code, number};
use crate::sorted::{Key, Sorted, Sorter};
use crate::spool::{Identity, PathSums, Process, Region, Spool, World};
use crate::{Error, Imported, Progress};

/// What a call path of a thread comes to.
#[derive(Clone, Debug, Default)]
struct Sum {
    visits: u64,
    exclusive: u64,
    inclusive: Option<u64>,
    shortest: Option<u64>,
    longest: Option<u64>,
    counts: BTreeMap<u32, u64>,
}

/// What is known of one thread.
#[derive(Debug, Default)]
struct Known {
    paths: BTreeMap<u32, Sum>,
    outside: BTreeMap<u32, u64>,
    notes: Vec<(u32, Vec<u8>)>,
}

pub(super) fn all(
    mut profile: Profile,
    spool: &Path,
    (progress, share): (&dyn Progress, u64),
) -> Result<Imported, Error> {
    let target = Spool::create(spool, profile.epoch_ns.unwrap_or(0))?;
    let mut sorted = std::mem::replace(&mut profile.sorter, Sorter::new(spool)).sorted()?;
    let mut next = sorted_next(&mut sorted)?;
    let mut imported = Imported { is_profile: true, ..Imported::default() };
    let tables = Tables::take(&mut profile);
    let mut problems = std::mem::take(&mut profile.problems);
    let mut threads: Vec<Vec<(u32, &str)>> = vec![Vec::new(); profile.processes.len()];
    for (id, (process, name)) in (0..).zip(&profile.threads) {
        threads[*process as usize].push((id, name));
    }
    let last = (0..number(threads.len())).rev().find(|process| !threads[*process as usize].is_empty());
    for (id, threads) in (0..).zip(&threads) {
        if threads.is_empty() {
            continue;
        }
        let mut teller = Teller::begin(&profile, &tables, &target, id)?;
        imported.processes += 1;
        for (thread, name) in threads {
            let mut known = Known::default();
            while let Some((_, record)) =
                next.take_if(|(key, _)| key.process == id && key.ns == i64::from(*thread))
            {
                known.add(&record);
                next = sorted_next(&mut sorted)?;
            }
            imported.locations += 1;
            teller.thread(name, known)?;
        }
        if Some(id) == last {
            // All problems are known by now.
            let all = std::mem::take(&mut problems);
            all.iter().try_for_each(|(kind, text, count)| teller.process.trouble(kind, count, text))?;
            imported.problems = all.iter().map(|(_, text, number)| (text.to_owned(), number)).collect();
        }
        teller.process.end(0)?;
    }
    progress.advance(share);
    imported.problems.extend(problems.iter().map(|(_, text, number)| (text.to_owned(), number)));
    Ok(imported)
}

fn sorted_next(sorted: &mut Sorted) -> Result<Option<(Key, Noted)>, Error> {
    let mut record = Vec::new();
    Ok(sorted.next(&mut record)?.map(|key| (key, Noted { tie: key.tie, record })))
}

/// A record, and what it is about.
struct Noted {
    tie: u64,
    record: Vec<u8>,
}

impl Known {
    /// Adds a record, which is one of our own; nothing of what makes no sense.
    fn add(&mut self, one: &Noted) {
        self.read(one).unwrap_or_default();
    }

    fn read(&mut self, Noted { tie, record }: &Noted) -> Option<()> {
        let mut at = 1;
        let path = tie.checked_sub(1).and_then(|path| u32::try_from(path).ok());
        match *record.first()? {
            code::TIME => {
                let [visits, exclusive, has_inclusive, inclusive] = [
                    get(record, &mut at)?,
                    get(record, &mut at)?,
                    get(record, &mut at)?,
                    get(record, &mut at)?,
                ];
                let sum = self.paths.entry(path?).or_default();
                sum.visits = sum.visits.saturating_add(visits);
                sum.exclusive = sum.exclusive.saturating_add(exclusive);
                if has_inclusive == 1 {
                    sum.inclusive = Some(sum.inclusive.unwrap_or(0).saturating_add(inclusive));
                }
            }
            code::EXTREMES => {
                let [shortest, longest] =
                    [get(record, &mut at)?, get(record, &mut at)?].map(|ns| ns.checked_sub(1));
                let sum = self.paths.entry(path?).or_default();
                sum.shortest = sum.shortest.into_iter().chain(shortest).min();
                sum.longest = sum.longest.max(longest);
            }
            code::COUNT => {
                let (metric, value) = (u32::try_from(get(record, &mut at)?).ok()?, get(record, &mut at)?);
                let counts = match path {
                    Some(path) => &mut self.paths.entry(path).or_default().counts,
                    None => &mut self.outside,
                };
                let count = counts.entry(metric).or_default();
                *count = count.saturating_add(value);
            }
            _ => {
                let kind = u32::try_from(get(record, &mut at)?).ok()?;
                self.notes.push((kind, get_bytes(record, &mut at)?.to_vec()));
            }
        }
        Some(())
    }

    /// Gives every call path the paths above it, and all of them their inclusive times. How long the thread was there.
    fn complete(&mut self, paths: &[CallPath]) -> u64 {
        let own: Vec<u32> = self.paths.keys().copied().collect();
        for path in own {
            let mut above = paths[path as usize].parent;
            while let Some(path) = above.filter(|path| !self.paths.contains_key(path)) {
                self.paths.insert(path, Sum::default());
                above = paths[path as usize].parent;
            }
        }
        let mut beneath: BTreeMap<u32, u64> = BTreeMap::new();
        let (mut exclusive, mut longest) = (0_u64, 0);
        for (path, sum) in self.paths.iter_mut().rev() {
            let of_tree = beneath.remove(path).unwrap_or(0).saturating_add(sum.exclusive);
            let inclusive = *sum.inclusive.get_or_insert(of_tree);
            exclusive = exclusive.saturating_add(sum.exclusive);
            longest = inclusive.max(longest);
            if let Some(parent) = paths[*path as usize].parent {
                let sum = beneath.entry(parent).or_default();
                *sum = sum.saturating_add(inclusive);
            }
        }
        exclusive.max(longest)
    }
}

/// What the profile speaks of, by number.
struct Tables {
    regions: Vec<Region>,
    kinds: Vec<Kind>,
}

impl Tables {
    fn take(profile: &mut Profile) -> Self {
        let mut regions: Vec<_> = std::mem::take(&mut profile.regions).into_iter().collect();
        regions.sort_by_key(|it| it.1);
        let mut kinds: Vec<_> = std::mem::take(&mut profile.kinds).into_iter().collect();
        kinds.sort_by_key(|it| it.1);
        Self {
            regions: regions.into_iter().map(|it| it.0).collect(),
            kinds: kinds.into_iter().map(|it| it.0).collect(),
        }
    }
}

/// One process on its way.
struct Teller<'a> {
    paths: &'a [CallPath],
    tables: &'a Tables,
    process: Process,
}

impl<'a> Teller<'a> {
    fn begin(profile: &'a Profile, tables: &'a Tables, target: &Spool, id: u32) -> Result<Self, Error> {
        let owner = &profile.processes[id as usize];
        let mut process = target.process(&Identity {
            number: id,
            pid: owner.pid,
            host: owner.host.clone(),
            command: owner.command.clone(),
            recorder: profile.recorder.clone(),
        })?;
        if let Some(rank) = owner.rank {
            let highest = profile.processes.iter().filter_map(|it| it.rank).max().unwrap_or(0);
            let size = highest.saturating_add(1);
            // Which library it was no profile says.
            process.join(&World { rank, size, library: String::new() })?;
        }
        for (id, (name, unit)) in (0..).zip(&profile.metrics) {
            process.define(&Definition::Counted {
                id,
                name: name.clone(),
                unit: unit.clone(),
                source: "imported".to_owned(),
            })?;
        }
        Ok(Self { paths: &profile.paths, tables, process })
    }

    fn thread(&mut self, name: &str, mut known: Known) -> Result<(), Error> {
        let lasted = known.complete(self.paths);
        let thread = self.process.thread(name, 0)?;
        let mut places = BTreeMap::new();
        let mut sums: Vec<PathSums> = Vec::with_capacity(known.paths.len());
        for (place, (path, sum)) in (0..).zip(&known.paths) {
            let CallPath { parent, region, .. } = self.paths[*path as usize];
            let site = self.process.site(&self.tables.regions[region as usize])?;
            let above = parent.and_then(|parent| places.get(&parent)).copied();
            places.insert(*path, place);
            let extremes = sum.shortest.zip(sum.longest).filter(|it| it.0 <= it.1);
            let sums_of_it = Sums {
                number: sum.visits,
                inclusive: sum.inclusive.unwrap_or(sum.exclusive),
                exclusive: sum.exclusive,
                shortest: extremes.map_or(u64::MAX, |it| it.0),
                longest: extremes.map_or(0, |it| it.1),
                ..Sums::default()
            };
            sums.push((site, above, sums_of_it));
        }
        self.process.sums(thread, &sums)?;
        let nodes = nodes(&known, &sums);
        if nodes.len() > 1 {
            self.process.counts(thread, &nodes)?;
        }
        for (kind, fields) in &known.notes {
            let (name, its) = &self.tables.kinds[*kind as usize];
            let its: Vec<_> = its
                .iter()
                .filter_map(|(name, code)| Some((name.as_str(), FieldType::from_code(*code)?)))
                .collect();
            let kind = self.process.event_kind(name, false, &its)?;
            self.process.event(thread, kind, lasted, fields)?;
        }
        self.process.end_thread(thread, lasted)
    }
}

/// A tree in which what was counted hangs beneath its call paths.
fn nodes(known: &Known, sums: &[PathSums]) -> Vec<Node> {
    let mut nodes = vec![Node { parent: NO_NODE, kind: NodeKind::Root, value: 1, periods: 0, samples: 0 }];
    let count = |parent, (metric, value): (&u32, &u64)| Node {
        parent,
        kind: NodeKind::Count,
        value: (*metric).into(),
        periods: *value,
        samples: 1,
    };
    nodes.extend(known.outside.iter().map(|it| count(0, it)));
    if known.paths.values().all(|sum| sum.counts.is_empty()) {
        return nodes;
    }
    let mut of_paths: Vec<u32> = Vec::with_capacity(sums.len());
    for (sum, (site, parent, _)) in known.paths.values().zip(sums) {
        let parent = parent.and_then(|parent| of_paths.get(parent as usize)).copied().unwrap_or(0);
        let its = number(nodes.len());
        nodes.push(Node { parent, kind: NodeKind::Site, value: (*site).into(), periods: 0, samples: 0 });
        of_paths.push(its);
        nodes.extend(sum.counts.iter().map(|it| count(its, it)));
    }
    nodes
}
