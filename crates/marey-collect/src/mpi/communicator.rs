//! Communicators: numbers, labels, and the facts from which the merge tells which communicators of
//! different processes are one and the same — without a message of ours.
//!
//! Making a communicator is collective, so its members agree on how many were made from the same
//! parent before. Together with the rank, in the parent, of its first member that tells it apart.

use core::sync::atomic::AtomicU64;

use marey_measure::Runtime;
use marey_model::spool::{CommunicatorKind, Definition, DefinitionKind};

use super::flavour::flavour;
use super::handles::{Handles, Known};
use super::real::ask;
use super::topology::{Neighbours, Topology};
use crate::site;

/// What is known of a communicator.
#[derive(Clone, Copy)]
pub(crate) struct Communicator {
    pub(crate) number: u32,
    /// Its label as a noun of sites.
    pub(crate) noun: u32,
    pub(crate) rank: u32,
    is_inter: bool,
    pub(crate) size: u32,
    pub(crate) more: &'static More,
}

/// What a message does not ask for.
pub(crate) struct More {
    remote_size: u32,
    pub(crate) label: String,
    pub(crate) handle: usize,
    /// Communicators made from it so far.
    pub(crate) children: AtomicU64,
    topology: Topology,
}

impl Communicator {
    /// Those that operations among neighbours move data between.
    pub(super) fn neighbours(&self) -> Neighbours {
        self.more.topology.neighbours(self.more.handle, self.rank)
    }

    /// Members of the remote group; `None` of an intracommunicator.
    #[inline(always)]
    pub(crate) fn remote_size(&self) -> Option<u32> {
        if self.is_inter { Some(self.more.remote_size) } else { None }
    }
}

impl Known<3> for Communicator {
    fn words(self) -> [u64; 3] {
        let pair = |upper: u32, lower: u32| u64::from(upper) << 32 | u64::from(lower);
        let place = self.rank << 1 | u32::from(self.is_inter);
        [pair(self.number, self.noun), pair(place, self.size), core::ptr::from_ref(self.more) as u64]
    }

    #[inline(always)]
    unsafe fn of([names, members, more]: [u64; 3]) -> Self {
        let place = (members >> 32) as u32;
        Self {
            number: (names >> 32) as u32,
            noun: names as u32,
            rank: place >> 1,
            is_inter: place & 1 != 0,
            size: members as u32,
            // SAFETY: by the caller's promise the word comes from a static reference.
            more: unsafe { &*(more as *const More) },
        }
    }
}

pub(crate) static COMMUNICATORS: Handles<Communicator, 3> = Handles::new();

/// What is known of the communicator that the argument `word` names.
#[inline(always)]
pub(crate) fn communicator(word: usize) -> Option<Communicator> {
    COMMUNICATORS.get(flavour().handle(word))
}

/// The noun of sites that act on the communicator `word`.
#[inline(always)]
pub(crate) fn communicator_noun(word: usize) -> u32 {
    communicator(word).map_or(u32::MAX, |known| known.noun)
}

/// The two that every process has.
pub(crate) fn define_predefined(runtime: &Runtime) {
    let flavour = flavour();
    for (handle, kind, label) in [
        (flavour.comm_world, CommunicatorKind::World, "MPI_COMM_WORLD"),
        (flavour.comm_self, CommunicatorKind::SelfOnly, "MPI_COMM_SELF"),
    ] {
        define(runtime, &Made { handle, kind, parent: None, number: 0, tag: 0, leader: 0, port: "" }, label);
    }
}

/// How a communicator came to be.
pub(crate) struct Made<'a> {
    pub(crate) handle: usize,
    pub(crate) kind: CommunicatorKind,
    pub(crate) parent: Option<Communicator>,
    pub(crate) number: u64,
    pub(crate) tag: i64,
    pub(crate) leader: i64,
    pub(crate) port: &'a str,
}

/// Writes down what a communicator is, and knows it from now on.
pub(crate) fn define(runtime: &Runtime, made: &Made<'_>, label: &str) -> Option<Communicator> {
    let (mut rank, mut size, mut remote, mut inter) = (0_i32, 0_i32, 0_i32, 0_i32);
    let handle = made.handle;
    ask!(PMPI_Comm_rank(handle, &raw mut rank));
    ask!(PMPI_Comm_size(handle, &raw mut size));
    ask!(PMPI_Comm_test_inter(handle, &raw mut inter));
    let mut remote_members = Vec::new();
    if inter != 0 {
        ask!(PMPI_Comm_remote_size(handle, &raw mut remote));
        remote_members = members(handle, true, remote);
    }
    let members = if made.kind == CommunicatorKind::World {
        vec![(0, size.max(0).unsigned_abs().into())]
    } else {
        members(handle, false, size)
    };
    let ticks = runtime.ticks();
    let number = runtime.define(|definitions| {
        let id = definitions.next_id(DefinitionKind::Communicator);
        definitions.define(&Definition::Communicator {
            id,
            kind: made.kind as u8,
            parent: made.parent.map(|parent| parent.number),
            number: made.number,
            tag: made.tag,
            leader: made.leader,
            size: size.max(0).unsigned_abs(),
            rank: rank.max(0).unsigned_abs(),
            remote_size: remote.max(0).unsigned_abs(),
            members,
            remote_members,
            port: made.port.to_owned(),
            ticks,
        });
        id
    })?;
    let more = Box::leak(Box::new(More {
        remote_size: remote.max(0).unsigned_abs(),
        label: label.to_owned(),
        handle,
        children: AtomicU64::new(0),
        topology: Topology::default(),
    }));
    let known = Communicator {
        number,
        noun: site::noun("communicator", label),
        rank: rank.max(0).unsigned_abs(),
        is_inter: inter != 0,
        size: size.max(0).unsigned_abs(),
        more,
    };
    COMMUNICATORS.insert(handle, known)
}

/// Ranks in `MPI_COMM_WORLD` of a communicator's members, as runs of consecutive ones.
pub(crate) fn members(handle: usize, remote: bool, size: i32) -> Vec<(i64, u64)> {
    let size = usize::try_from(size).unwrap_or(0);
    let ranks: Vec<i32> = (0..size).map(|rank| rank as i32).collect();
    let mut there = vec![-1_i32; size];
    with_group(handle, remote, |group| {
        with_group(flavour().comm_world, false, |world| {
            ask!(PMPI_Group_translate_ranks(group, size, ranks.as_ptr(), world, there.as_mut_ptr()));
        });
    });
    let mut runs: Vec<(i64, u64)> = Vec::new();
    for rank in there {
        let rank = if rank < 0 { -1 } else { i64::from(rank) };
        match runs.last_mut() {
            Some((first, len)) if rank >= 0 && *first >= 0 && *first + *len as i64 == rank => *len += 1,
            Some((-1, len)) if rank < 0 => *len += 1,
            _ => runs.push((rank, 1)),
        }
    }
    runs
}

/// Calls `f` with the group of a communicator.
fn with_group(handle: usize, remote: bool, f: impl FnOnce(usize)) {
    let mut group = 0_usize;
    let got = if remote {
        ask!(PMPI_Comm_remote_group(handle, &raw mut group))
    } else {
        ask!(PMPI_Comm_group(handle, &raw mut group))
    };
    if got {
        f(flavour().handle(group));
        ask!(PMPI_Group_free(&raw mut group));
    }
}

/// Rank in `parent` of the first member of `child`.
pub(crate) fn leader(parent: usize, child: usize) -> i64 {
    let (first, mut there) = (0_i32, -1_i32);
    with_group(child, false, |group| {
        with_group(parent, false, |parents| {
            ask!(PMPI_Group_translate_ranks(group, 1_usize, &raw const first, parents, &raw mut there));
        });
    });
    there.into()
}

/// A number for a set of members.
pub(crate) fn hash_members(runs: &[(i64, u64)]) -> u64 {
    runs.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &(first, len)| {
        (hash ^ first.cast_unsigned() ^ len << 32).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
