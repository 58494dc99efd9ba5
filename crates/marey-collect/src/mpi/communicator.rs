//! Communicators: numbers, labels, and the facts from which the merge tells which communicators of
//! different processes are one and the same — without a message of ours.
//!
//! Making a communicator is collective, so its members agree on how many were made from the same
//! parent before. Together with the rank, in the parent, of its first member that tells it apart.

use core::sync::atomic::{AtomicU64, Ordering};

use marey_measure::message::Part;
use marey_measure::{Lock, Runtime};
use marey_model::spool::{CommunicatorKind, Definition};
use rustc_hash::FxHashMap;

use super::class::Class;
use super::flavour::flavour;
use super::handles::Handles;
use super::real::ask;
use super::wrap::{Call, Open};
use super::{FUNCTIONS, collective};
use crate::site;

/// What is known of a communicator.
pub(crate) struct Communicator {
    pub(crate) number: u32,
    pub(crate) rank: i32,
    pub(crate) size: u32,
    /// 0 for an intracommunicator.
    pub(crate) remote_size: u32,
    /// Its label as a noun of sites.
    pub(crate) noun: u32,
    label: String,
    handle: usize,
    /// Communicators made from it so far.
    children: AtomicU64,
}

static COMMUNICATORS: Handles<Communicator> = Handles::new();
/// How many communicators were made of (parent, members, tag) by part of the parent.
static PARTIAL: Lock<Option<FxHashMap<Partial, u64>>> = Lock::new(None);
/// Parent (any for an intercommunicator), hash of the members, tag.
type Partial = (u32, u64, i64);

/// What is known of the communicator that the argument `word` names.
#[inline(always)]
pub(crate) fn communicator(word: usize) -> Option<&'static Communicator> {
    COMMUNICATORS.get(flavour().handle(word))
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
struct Made<'a> {
    handle: usize,
    kind: CommunicatorKind,
    parent: Option<&'static Communicator>,
    number: u64,
    tag: i64,
    leader: i64,
    port: &'a str,
}

fn define(runtime: &Runtime, made: &Made<'_>, label: &str) -> Option<&'static Communicator> {
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
        let id = definitions.next_id(10);
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
    COMMUNICATORS.insert(
        handle,
        Box::leak(Box::new(Communicator {
            number,
            rank,
            size: size.max(0).unsigned_abs(),
            remote_size: remote.max(0).unsigned_abs(),
            noun: site::noun("communicator", label),
            label: label.to_owned(),
            handle,
            children: AtomicU64::new(0),
        })),
    )
}

/// Ranks in `MPI_COMM_WORLD` of a communicator's members, as runs of consecutive ones.
fn members(handle: usize, remote: bool, size: i32) -> Vec<(i64, u64)> {
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
fn leader(parent: usize, child: usize) -> i64 {
    let (first, mut there) = (0_i32, -1_i32);
    with_group(child, false, |group| {
        with_group(parent, false, |parents| {
            ask!(PMPI_Group_translate_ranks(group, 1_usize, &raw const first, parents, &raw mut there));
        });
    });
    there.into()
}

fn hash_members(runs: &[(i64, u64)]) -> u64 {
    runs.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &(first, len)| {
        (hash ^ first.cast_unsigned() ^ len << 32).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn kind_of(name: &str) -> CommunicatorKind {
    match name {
        "MPI_Comm_dup" | "MPI_Comm_dup_with_info" | "MPI_Comm_idup" | "MPI_Comm_idup_with_info" => {
            CommunicatorKind::Dup
        }
        "MPI_Comm_split" | "MPI_Comm_split_type" => CommunicatorKind::Split,
        "MPI_Comm_create" => CommunicatorKind::Create,
        "MPI_Cart_create" | "MPI_Cart_sub" => CommunicatorKind::Cart,
        "MPI_Graph_create" => CommunicatorKind::Graph,
        "MPI_Dist_graph_create" | "MPI_Dist_graph_create_adjacent" => CommunicatorKind::DistGraph,
        _ => CommunicatorKind::Unknown,
    }
}

/// A function collective over its parent that makes a communicator at `place`. Every member of the
/// parent counts it, also those that get none.
unsafe fn made_collectively(open: &Open, call: &Call, parent: usize, place: usize, kind: CommunicatorKind) {
    let flavour = flavour();
    let Some(parent) = communicator(parent) else { return };
    let number = parent.children.fetch_add(1, Ordering::Relaxed);
    // SAFETY: MPI has stored a handle there.
    let handle = unsafe { flavour.handle_at(place) };
    if handle == 0 || handle == flavour.comm_null {
        return;
    }
    let word = match kind {
        CommunicatorKind::Unknown => FUNCTIONS[call.index].name,
        kind => kind.name(),
    };
    let label = format!("{}/{word}#{number}", parent.label);
    let leader = if kind == CommunicatorKind::Merge { 0 } else { leader(parent.handle, handle) };
    let made = Made { handle, kind, parent: Some(parent), number, tag: 0, leader, port: "" };
    define(open.runtime, &made, &label);
}

/// `MPI_Comm_dup`, `MPI_Comm_split` … and `MPI_Comm_idup`, whose handle is there at once.
pub(crate) unsafe fn create<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    let function = &FUNCTIONS[call.index];
    let parent = args[usize::from(function.comm_arg.unwrap_or(0))];
    // SAFETY: arguments are those of the function's class.
    unsafe {
        let Some(open) = call.begin(communicator_noun(parent)) else { return f(args) };
        let result = f(args);
        if result as i32 != 0 {
            open.finish_plain();
            return result;
        }
        let place = args[usize::from(function.comm_ptr_arg.unwrap_or(0))];
        made_collectively(&open, &call, parent, place, kind_of(function.name));
        collective::finish(open, &collective::plain(parent));
        result
    }
}

/// `MPI_Comm_idup`.
pub(crate) unsafe fn idup<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    let function = &FUNCTIONS[call.index];
    let parent = args[usize::from(function.comm_arg.unwrap_or(0))];
    // SAFETY: arguments are those of the function's class.
    unsafe {
        let Some(open) = call.begin(communicator_noun(parent)) else { return f(args) };
        let result = f(args);
        if result as i32 != 0 {
            open.finish_plain();
            return result;
        }
        let place = args[usize::from(function.comm_ptr_arg.unwrap_or(0))];
        made_collectively(&open, &call, parent, place, CommunicatorKind::Dup);
        collective::post(open, &collective::plain(parent), args[N - 1]);
        result
    }
}

/// `(comm, group, tag, newcomm)`.
pub(crate) unsafe fn create_group<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    // SAFETY: arguments are those of the function's class.
    unsafe {
        let Some(open) = call.begin(communicator_noun(args[0])) else { return f(args) };
        let result = f(args);
        let handle = flavour().handle_at(args[3]);
        if result as i32 == 0 && handle != flavour().comm_null && handle != 0 {
            made_partially(&open, handle, args[0], args[2] as i32, CommunicatorKind::CreateGroup);
        }
        open.finish_plain();
        result
    }
}

/// `(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm)`.
pub(crate) unsafe fn intercomm_create<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    // SAFETY: arguments are those of the function's class.
    unsafe {
        let Some(open) = call.begin(communicator_noun(args[0])) else { return f(args) };
        let result = f(args);
        if result as i32 == 0 {
            made_partially(
                &open,
                flavour().handle_at(args[5]),
                args[0],
                args[4] as i32,
                CommunicatorKind::Intercomm,
            );
        }
        open.finish_plain();
        result
    }
}

fn made_partially(open: &Open, handle: usize, parent: usize, tag: i32, kind: CommunicatorKind) {
    let Some(parent) = communicator(parent) else { return };
    let (mut size, mut remote) = (0_i32, 0_i32);
    ask!(PMPI_Comm_size(handle, &raw mut size));
    let mut hash = hash_members(&members(handle, false, size));
    if kind == CommunicatorKind::Intercomm {
        ask!(PMPI_Comm_remote_size(handle, &raw mut remote));
        // Either side sees the other as remote: the sum is the same for both.
        hash = hash.wrapping_add(hash_members(&members(handle, true, remote)));
    }
    let scope = if kind == CommunicatorKind::Intercomm { u32::MAX } else { parent.number };
    let number = PARTIAL
        .with(|partial| {
            let count = partial.get_or_insert_default().entry((scope, hash, tag.into())).or_insert(0);
            *count += 1;
            *count - 1
        })
        .unwrap_or(0);
    let label = format!("{}/{}({tag})#{number}", parent.label, kind.name());
    let made = Made { handle, kind, parent: Some(parent), number, tag: tag.into(), leader: 0, port: "" };
    define(open.runtime, &made, &label);
}

/// `(intercomm, high, newintracomm)`.
pub(crate) unsafe fn merge<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    // SAFETY: arguments are those of the function's class.
    unsafe {
        let Some(open) = call.begin(communicator_noun(args[0])) else { return f(args) };
        let result = f(args);
        if result as i32 == 0 {
            made_collectively(&open, &call, args[0], args[2], CommunicatorKind::Merge);
        }
        open.finish_plain();
        result
    }
}

/// `MPI_Comm_spawn`, `MPI_Comm_spawn_multiple`, `MPI_Comm_accept`, `MPI_Comm_connect`: collective
/// over a communicator, giving an intercommunicator to another world.
pub(crate) unsafe fn reach<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    let function = &FUNCTIONS[call.index];
    let parent = args[usize::from(function.comm_arg.unwrap_or(0))];
    // SAFETY: arguments are those of the function's class.
    unsafe {
        let Some(open) = call.begin(communicator_noun(parent)) else { return f(args) };
        let port = if matches!(function.class, Class::CommAccept | Class::CommConnect) {
            text(args[0])
        } else {
            String::new()
        };
        let result = f(args);
        let handle = flavour().handle_at(args[usize::from(function.comm_ptr_arg.unwrap_or(0))]);
        if result as i32 == 0
            && let Some(parent) = communicator(parent)
        {
            let kind = match function.class {
                Class::CommAccept => CommunicatorKind::Accept,
                Class::CommConnect => CommunicatorKind::Connect,
                _ => CommunicatorKind::Spawn,
            };
            let number = parent.children.fetch_add(1, Ordering::Relaxed);
            let label = format!("{}/{}#{number}", parent.label, kind.name());
            let made = Made { handle, kind, parent: Some(parent), number, tag: 0, leader: 0, port: &port };
            define(open.runtime, &made, &label);
        }
        open.finish_plain();
        result
    }
}

/// `MPI_Comm_get_parent`: the same communicator at each call.
pub(crate) unsafe fn get_parent<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    // SAFETY: arguments are those of the function's class.
    unsafe {
        let Some(open) = call.begin(u32::MAX) else { return f(args) };
        let result = f(args);
        let handle = flavour().handle_at(args[0]);
        if result as i32 == 0 && handle != flavour().comm_null && communicator(handle).is_none() {
            let kind = CommunicatorKind::Parent;
            let made = Made { handle, kind, parent: None, number: 0, tag: 0, leader: 0, port: "" };
            define(open.runtime, &made, "parents");
        }
        open.finish_plain();
        result
    }
}

/// `MPI_Comm_free` and `MPI_Comm_disconnect`.
pub(crate) unsafe fn free<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    // SAFETY: arguments are those of the function's class.
    unsafe {
        let handle = flavour().handle_at(args[0]);
        let Some(open) = call.begin(communicator_noun(handle)) else { return f(args) };
        let part = collective::plain(handle);
        // Before the call: its handle may be given out again by another thread as soon as it returns.
        if let Some(gone) = COMMUNICATORS.remove(handle) {
            let ticks = open.runtime.ticks();
            let freed = Definition::CommunicatorFreed { id: gone.number, ticks };
            open.runtime.define(|definitions| definitions.define(&freed));
        }
        let result = f(args);
        collective::finish(open, &part);
        result
    }
}

/// `(comm, comm_name)`.
pub(crate) unsafe fn set_name<const N: usize>(
    call: Call,
    args: [usize; N],
    f: impl Fn([usize; N]) -> usize,
) -> usize {
    // SAFETY: arguments are those of the function's class.
    unsafe {
        let Some(open) = call.begin(communicator_noun(args[0])) else { return f(args) };
        let result = f(args);
        if let Some(named) = communicator(args[0]) {
            let name = Definition::CommunicatorName { id: named.number, name: text(args[1]) };
            open.runtime.define(|definitions| definitions.define(&name));
        }
        open.finish_plain();
        result
    }
}

/// A C string argument, at most 4096 bytes.
pub(crate) unsafe fn text(at: usize) -> String {
    if at == 0 {
        return String::new();
    }
    // SAFETY: MPI's strings end with a zero byte; a longer one is cut.
    unsafe {
        let len = libc::strnlen(at as *const _, 4096);
        String::from_utf8_lossy(core::slice::from_raw_parts(at as *const u8, len)).into_owned()
    }
}

/// The noun of sites that act on the communicator `word`.
#[inline(always)]
pub(crate) fn communicator_noun(word: usize) -> u32 {
    communicator(word).map_or(u32::MAX, |known| known.noun)
}

/// A part without data in a collective operation on `word`.
pub(crate) fn plain_part(word: usize) -> Option<Part> {
    communicator(word).map(|known| Part { communicator: known.number, root: -1, bytes_out: 0, bytes_in: 0 })
}
