//! Which communicators of different processes are the same one, found out without communication.
//!
//! The one idea: all members of a communicator made the same call on the same parent in the same
//! order, so (parent, kind, how many before, who is rank 0) names it everywhere. Intercommunicators
//! are named by their two groups. Where nothing common is known — `MPI_Comm_join`, a spawn with
//! several possible parents — a communicator stays its process's own, and messages on it
//! are reported as unmatchable rather than guessed.

use std::collections::BTreeMap;

use marey_model::spool::CommunicatorKind as Kind;
use rustc_hash::FxHashMap;

use super::definitions::{CommDef, ProcessDefs};

/// A communicator as one process sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// Row of the `communicators` table.
    pub id: u32,
    /// The process's rank in its (local) group.
    pub rank: u32,
    /// Which group the process is in, and which its peers: equal for an intracommunicator.
    pub side: u8,
    /// See `side`.
    pub peer_side: u8,
    /// Other processes' halves can be told to belong to it.
    pub matchable: bool,
    /// Members of its own group call it the same; holds for what is made from it, too.
    named: bool,
}

/// A communicator of the run.
#[derive(Clone, Debug)]
pub(crate) struct Communicator {
    pub name: String,
    pub size: u32,
    pub parent: Option<u32>,
    pub inter: bool,
    /// Members by (side, rank), as far as they were measured.
    pub members: BTreeMap<(u8, u32), u32>,
    sizes: [u32; 2],
}

/// All communicators.
#[derive(Debug, Default)]
pub(crate) struct Communicators {
    pub rows: Vec<Communicator>,
    /// For each process, by its own numbers.
    pub seen: Vec<FxHashMap<u32, Seen>>,
    known: FxHashMap<Vec<u64>, u32>,
}

/// Where a process belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Number of its world; `None` without MPI.
    pub world: Option<u32>,
    /// Its start on the common clock, ns.
    pub init_enter: i64,
}

/// Finds the communicators of processes that are given in their final order. `time` turns a
/// process's ticks into ns.
pub(crate) fn unify(
    processes: &[ProcessDefs],
    places: &[Place],
    time: impl Fn(usize, u64) -> i64,
) -> Communicators {
    let mut links = BTreeMap::new();
    // A link can make a spawned world's own spawns recognisable, hence the rounds.
    for _ in 0..8 {
        let found = Communicators::intern(processes, places, &links);
        let more = spawn_links(&found, processes, places, &time);
        if more == links {
            return found;
        }
        links = more;
    }
    Communicators::intern(processes, places, &links)
}

/// Number of a world → key of the intercommunicator that its parents got from the spawn.
type Links = BTreeMap<u32, Vec<u64>>;

impl Communicators {
    fn intern(processes: &[ProcessDefs], places: &[Place], links: &Links) -> Self {
        let mut all = Self::default();
        for (idx, process) in processes.iter().enumerate() {
            let mut seen = FxHashMap::default();
            for (&number, def) in &process.communicators {
                let name = process.communicator_names.get(&number).map_or("", String::as_str);
                let entry = all.see(idx, number, def, name, &seen, places[idx], links);
                seen.insert(number, entry);
            }
            all.seen.push(seen);
        }
        all
    }

    #[expect(clippy::too_many_arguments, reason = "one caller")]
    fn see(
        &mut self,
        process: usize,
        number: u32,
        def: &CommDef,
        name: &str,
        seen: &FxHashMap<u32, Seen>,
        place: Place,
        links: &Links,
    ) -> Seen {
        let parent = def.parent.and_then(|parent| seen.get(&parent)).copied();
        let inter = def.remote_size > 0;
        let key = key(def, parent, place, links);
        let is_self = Kind::from_code(def.kind) == Kind::SelfOnly;
        let named = (key.is_some() || is_self) && parent.is_none_or(|parent| parent.named);
        // All messages of a spawn cross from one world to the other, so the two must be linked.
        let matchable = named
            && match Kind::from_code(def.kind) {
                Kind::Spawn => links.values().any(|link| Some(link) == key.as_ref()),
                Kind::Parent => place.world.is_some_and(|world| links.contains_key(&world)),
                _ => true,
            };
        let own = || vec![9, process as u64, u64::from(number)];
        let key = key.unwrap_or_else(own);
        let id = match self.known.get(&key) {
            Some(&id) => id,
            None => {
                let id = u32::try_from(self.rows.len()).expect("definitions are fewer than 2^32");
                self.rows.push(Communicator {
                    name: String::new(),
                    size: def.size.saturating_add(def.remote_size),
                    parent: parent.map(|parent| parent.id),
                    inter,
                    members: BTreeMap::new(),
                    sizes: [def.size, def.remote_size],
                });
                self.known.insert(key, id);
                id
            }
        };
        let side = if inter { side(def, place) } else { 0 };
        let row = &mut self.rows[id as usize];
        row.members.entry((side, def.rank)).or_insert(process as u32);
        if row.name.is_empty() {
            row.name = if name.is_empty() { default_name(def) } else { name.to_owned() };
        }
        Seen { id, rank: def.rank, side, peer_side: if inter { 1 - side } else { 0 }, matchable, named }
    }
}

fn default_name(def: &CommDef) -> String {
    match Kind::from_code(def.kind) {
        Kind::World => "MPI_COMM_WORLD".to_owned(),
        Kind::SelfOnly => "MPI_COMM_SELF".to_owned(),
        _ => String::new(),
    }
}

/// The two groups as (world, ranks), the smaller first: the same from both sides.
fn groups(def: &CommDef, place: Place) -> [Vec<u64>; 2] {
    let group = |runs: &[(i64, u64)]| {
        let mut words = vec![u64::from(place.world.unwrap_or(u32::MAX))];
        words.extend(runs.iter().flat_map(|&(first, count)| [first.cast_unsigned(), count]));
        words
    };
    let (local, remote) = (group(&def.members), group(&def.remote_members));
    if local <= remote { [local, remote] } else { [remote, local] }
}

/// Which of the two groups of an intercommunicator the process is in.
fn side(def: &CommDef, place: Place) -> u8 {
    match Kind::from_code(def.kind) {
        // Parents and whoever accepts are on the one side, children and whoever connects on the other.
        Kind::Spawn | Kind::Accept => 0,
        Kind::Parent | Kind::Connect => 1,
        _ => {
            let [first, _] = groups(def, place);
            let mut local = vec![u64::from(place.world.unwrap_or(u32::MAX))];
            local.extend(def.members.iter().flat_map(|&(first, count)| [first.cast_unsigned(), count]));
            u8::from(local != first)
        }
    }
}

/// What names a communicator in all its members; `None` if nothing does.
fn key(def: &CommDef, parent: Option<Seen>, place: Place, links: &Links) -> Option<Vec<u64>> {
    let world = u64::from(place.world?);
    let kind = Kind::from_code(def.kind);
    let on_parent = parent.map(|parent| u64::from(parent.id));
    let inter = def.remote_size > 0;
    Some(match kind {
        Kind::World => vec![0, world],
        Kind::SelfOnly => return None,
        Kind::Spawn => vec![7, on_parent?, def.number],
        Kind::Parent => links.get(&place.world?).cloned().unwrap_or_else(|| vec![8, world]),
        Kind::Accept | Kind::Connect => {
            let port = def.port.bytes().map(u64::from);
            [5, def.number].into_iter().chain(port).collect()
        }
        Kind::Join | Kind::Unknown => return None,
        Kind::Merge => vec![6, on_parent?, def.number],
        Kind::CreateGroup => {
            let mut key = vec![3, on_parent?, def.number, def.tag.cast_unsigned()];
            key.extend(def.members.iter().flat_map(|&(first, count)| [first.cast_unsigned(), count]));
            key
        }
        Kind::Intercomm => {
            let mut key = vec![4, def.number, def.tag.cast_unsigned()];
            key.extend(groups(def, place).concat());
            key
        }
        // Made from an intercommunicator: each side has a rank 0 of its own, so the groups decide.
        _ if inter => {
            let mut key = vec![2, on_parent?, kind as u64, def.number];
            key.extend(groups(def, place).concat());
            key
        }
        _ => vec![1, on_parent?, kind as u64, def.number, def.leader.cast_unsigned()],
    })
}

/// Ties spawned worlds to the spawns that made them, where only one can have.
fn spawn_links(
    found: &Communicators,
    processes: &[ProcessDefs],
    places: &[Place],
    time: impl Fn(usize, u64) -> i64,
) -> Links {
    // For each spawn: its key, sizes of both groups, when the earliest parent came back from it,
    // and when that parent had come back from the spawn before.
    let mut spawns: BTreeMap<Vec<u64>, ([u32; 2], i64, i64)> = BTreeMap::new();
    let mut children: BTreeMap<u32, ([u32; 2], i64)> = BTreeMap::new();
    for (idx, process) in processes.iter().enumerate() {
        let mut before = i64::MIN;
        for def in process.communicators.values() {
            let made = time(idx, def.ticks);
            match Kind::from_code(def.kind) {
                Kind::Spawn => {
                    let parent = def.parent.and_then(|parent| found.seen[idx].get(&parent));
                    let Some(key) = key(def, parent.copied(), places[idx], &Links::new()) else { continue };
                    let entry = spawns.entry(key).or_insert(([def.size, def.remote_size], made, before));
                    entry.1 = entry.1.max(made);
                    entry.2 = entry.2.max(before);
                    before = made;
                }
                Kind::Parent => {
                    let Some(world) = places[idx].world else { continue };
                    let enter = places[idx].init_enter;
                    let entry = children.entry(world).or_insert(([def.remote_size, def.size], enter));
                    entry.1 = entry.1.max(enter);
                }
                _ => {}
            }
        }
    }
    let fits = |spawn: &([u32; 2], i64, i64), child: &([u32; 2], i64)| {
        spawn.0 == child.0 && spawn.2 <= child.1 && child.1 <= spawn.1
    };
    let mut links = Links::new();
    for (&world, child) in &children {
        let mut candidates = spawns.iter().filter(|(_, spawn)| fits(spawn, child));
        let (Some((key, spawn)), None) = (candidates.next(), candidates.next()) else { continue };
        // Only if the spawn could not have made another world either.
        if children.values().filter(|other| fits(spawn, other)).count() == 1 {
            links.insert(world, key.clone());
        }
    }
    links
}

impl Communicator {
    /// Members as ids of processes: `0-3,7`, groups separated by `|`, `?` for one not measured.
    pub(crate) fn member_text(&self) -> String {
        let sides = if self.inter { 2 } else { 1 };
        let groups = (0..sides).map(|side| {
            let known = self.members.range((side, 0)..=(side, u32::MAX));
            let known: Vec<(u32, u32)> = known.map(|(&(_, rank), &process)| (rank, process)).collect();
            runs(&known, if self.inter { 0 } else { self.sizes[0] })
        });
        groups.collect::<Vec<_>>().join("|")
    }
}

fn runs(members: &[(u32, u32)], size: u32) -> String {
    let mut text = String::new();
    let mut rank = 0_u32;
    let mut idx = 0;
    while idx < members.len() {
        let (first_rank, first) = members[idx];
        for _ in rank..first_rank.min(rank.saturating_add(1 << 16)) {
            push(&mut text, "?");
        }
        let mut len = 1;
        while idx + len < members.len()
            && members[idx + len].0 == first_rank + len as u32
            && members[idx + len].1 == first + len as u32
        {
            len += 1;
        }
        let last = first + len as u32 - 1;
        push(&mut text, &if len == 1 { first.to_string() } else { format!("{first}-{last}") });
        rank = first_rank + len as u32;
        idx += len;
    }
    for _ in rank..size.min(rank.saturating_add(1 << 16)) {
        push(&mut text, "?");
    }
    text
}

fn push(text: &mut String, entry: &str) {
    if !text.is_empty() {
        text.push(',');
    }
    text.push_str(entry);
}
