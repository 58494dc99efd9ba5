//! Calls that make, name and free communicators.
//!
//! The one idea: whoever makes a communicator counts, on every member alike, how many were made before
//! by the same members from the same parent; so the count is part of its name.

use core::sync::atomic::Ordering;

use marey_measure::message::Part;
use marey_measure::{Lock, sys};
use marey_model::spool::{CommunicatorKind, Definition};
use rustc_hash::FxHashMap;

use super::call::{Call, Open, Passing, Real};
use super::collective::{finish, plain, post};
use super::communicator::{
    COMMUNICATORS, Made, communicator, communicator_noun, define, hash_members, leader, members,
};
use super::flavour::flavour;
use super::object::text;
use super::real::ask;

/// How many communicators were made of (parent, members, tag) by part of the parent.
static PARTIAL: Lock<Option<FxHashMap<Partial, u64>>> = Lock::new(None);
/// Parent (any for an intercommunicator), hash of the members, tag.
type Partial = (u32, u64, i64);

/// What functions that are collective over one communicator make.
const KINDS: [(&str, CommunicatorKind); 17] = [
    ("MPI_Comm_dup", CommunicatorKind::Dup),
    ("MPI_Comm_dup_with_info", CommunicatorKind::Dup),
    ("MPI_Comm_idup", CommunicatorKind::Dup),
    ("MPI_Comm_idup_with_info", CommunicatorKind::Dup),
    ("MPI_Comm_split", CommunicatorKind::Split),
    ("MPI_Comm_split_type", CommunicatorKind::Split),
    ("MPI_Comm_create", CommunicatorKind::Create),
    ("MPI_Cart_create", CommunicatorKind::Cart),
    ("MPI_Cart_sub", CommunicatorKind::Cart),
    ("MPI_Graph_create", CommunicatorKind::Graph),
    ("MPI_Dist_graph_create", CommunicatorKind::DistGraph),
    ("MPI_Dist_graph_create_adjacent", CommunicatorKind::DistGraph),
    ("MPI_Intercomm_merge", CommunicatorKind::Merge),
    ("MPI_Comm_spawn", CommunicatorKind::Spawn),
    ("MPI_Comm_spawn_multiple", CommunicatorKind::Spawn),
    ("MPI_Comm_accept", CommunicatorKind::Accept),
    ("MPI_Comm_connect", CommunicatorKind::Connect),
];

fn kind_of(call: Call) -> CommunicatorKind {
    let name = call.function().name;
    KINDS.iter().find(|(known, _)| *known == name).map_or(CommunicatorKind::Unknown, |(_, kind)| *kind)
}

/// A function collective over `parent` has made a communicator at `place`. Every member of the
/// parent counts it, also those that get none.
unsafe fn made_collectively(open: &Open, call: Call, parent: usize, place: usize, port: &str) {
    let flavour = flavour();
    let Some(parent) = communicator(parent) else { return };
    let number = parent.more.children.fetch_add(1, Ordering::Relaxed);
    // SAFETY: MPI has stored a handle there.
    let handle = unsafe { flavour.handle_at(place) };
    if handle == 0 || handle == flavour.comm_null {
        return;
    }
    let kind = kind_of(call);
    let word = if kind == CommunicatorKind::Unknown { call.function().name } else { kind.name() };
    let label = format!("{}/{word}#{number}", parent.more.label);
    // Members of the other group are no members of the parent.
    let leader = if crosses(kind) { 0 } else { leader(parent.more.handle, handle) };
    let made = Made { handle, kind, parent: Some(parent), number, tag: 0, leader, port };
    define(open.runtime, &made, &label);
}

/// Whether the communicator has members that its parent has not.
fn crosses(kind: CommunicatorKind) -> bool {
    use CommunicatorKind as K;
    matches!(kind, K::Merge | K::Spawn | K::Accept | K::Connect)
}

/// `MPI_Comm_dup`, `MPI_Comm_split` …
pub(crate) unsafe fn create<const N: usize>(mut p: Passing<N, impl Real<N>>) -> usize {
    // SAFETY: arguments are those of the function's class.
    unsafe { made_from_parent(&mut p, |_, open, part| finish(open, part)) }
}

/// `MPI_Comm_idup`, whose handle is there at once.
pub(crate) unsafe fn idup<const N: usize>(mut p: Passing<N, impl Real<N>>) -> usize {
    // SAFETY: arguments are those of the function's class.
    unsafe { made_from_parent(&mut p, |p, open, part| post(open, part, p.args[N - 1])) }
}

/// A communicator of members of its parent's; `end` leaves the call with its part in the making.
unsafe fn made_from_parent<const N: usize, F: Real<N>>(
    p: &mut Passing<N, F>,
    end: impl FnOnce(&Passing<N, F>, Open, Option<Part>),
) -> usize {
    let parent = p.comm();
    // SAFETY: the caller passes on the arguments of its class.
    unsafe {
        p.record(communicator_noun(parent), |p, open| {
            let made = p.pass();
            if made {
                made_collectively(&open, p.call, parent, p.comm_place(), "");
            }
            end(p, open, plain(parent).filter(|_| made));
        })
    }
}

/// `(intercomm, high, newintracomm)`.
pub(crate) unsafe fn merge<const N: usize>(mut p: Passing<N, impl Real<N>>) -> usize {
    let parent = p.comm();
    // SAFETY: arguments are those of the function's class.
    unsafe {
        p.record(communicator_noun(parent), |p, open| {
            if p.pass() {
                made_collectively(&open, p.call, parent, p.comm_place(), "");
            }
            open.finish_plain();
        })
    }
}

/// The name of a port, which counts at the root only: elsewhere there may be none, and what is there may be no text.
///
/// # Safety
/// If the kernel copies no memory for the program, the address is 0 or that of a text.
unsafe fn port(at: usize) -> String {
    const CHUNK: usize = 64;
    let (mut name, mut at) = (Vec::new(), at);
    while name.len() < 1024 {
        let mut chunk = [0; CHUNK];
        // To where the next one begins: none reaches beyond a page.
        let chunk = &mut chunk[..CHUNK - at % CHUNK];
        if at == 0 {
            return String::new();
        }
        match sys::copy_own(at, chunk) {
            copied if copied == chunk.len() as isize => {}
            // Nothing is there, or not enough.
            copied if copied >= 0 || copied == -(libc::EFAULT as isize) => return String::new(),
            // A kernel that copies nothing for anybody.
            // SAFETY: the caller's promise.
            _ => return unsafe { text(at) },
        }
        if let Some(end) = chunk.iter().position(|byte| *byte == 0) {
            name.extend(&chunk[..end]);
            break;
        }
        name.extend(&*chunk);
        at += chunk.len();
    }
    String::from_utf8_lossy(&name).into_owned()
}

/// `MPI_Comm_spawn`, `MPI_Comm_spawn_multiple`, `MPI_Comm_accept`, `MPI_Comm_connect`: collective
/// over a communicator, giving an intercommunicator to another world.
pub(crate) unsafe fn reach<const N: usize>(mut p: Passing<N, impl Real<N>>) -> usize {
    let parent = p.comm();
    // SAFETY: arguments are those of the function's class.
    unsafe {
        p.record(communicator_noun(parent), |p, open| {
            let named = matches!(kind_of(p.call), CommunicatorKind::Accept | CommunicatorKind::Connect);
            let port = if named { port(p.args[0]) } else { String::new() };
            if p.pass() {
                made_collectively(&open, p.call, parent, p.comm_place(), &port);
            }
            open.finish_plain();
        })
    }
}

/// `(comm, group, tag, newcomm)`.
pub(crate) unsafe fn create_group(mut p: Passing<4, impl Real<4>>) -> usize {
    let [parent, _, tag, place] = p.args;
    // SAFETY: arguments are those of the function's class.
    unsafe {
        p.record(communicator_noun(parent), |p, open| {
            if p.pass() {
                made_partially(&open, place, parent, tag as i32, CommunicatorKind::CreateGroup);
            }
            open.finish_plain();
        })
    }
}

/// `(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm)`.
pub(crate) unsafe fn intercomm_create(mut p: Passing<6, impl Real<6>>) -> usize {
    let [parent, _, _, _, tag, place] = p.args;
    // SAFETY: arguments are those of the function's class.
    unsafe {
        p.record(communicator_noun(parent), |p, open| {
            if p.pass() {
                made_partially(&open, place, parent, tag as i32, CommunicatorKind::Intercomm);
            }
            open.finish_plain();
        })
    }
}

/// Members of part of `parent` have made a communicator at `place`.
unsafe fn made_partially(open: &Open, place: usize, parent: usize, tag: i32, kind: CommunicatorKind) {
    // SAFETY: MPI has stored a handle there.
    let handle = unsafe { flavour().handle_at(place) };
    let Some(parent) = communicator(parent) else { return };
    if handle == 0 || handle == flavour().comm_null {
        return;
    }
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
    let label = format!("{}/{}({tag})#{number}", parent.more.label, kind.name());
    let made = Made { handle, kind, parent: Some(parent), number, tag: tag.into(), leader: 0, port: "" };
    define(open.runtime, &made, &label);
}

/// `MPI_Comm_get_parent`: the same communicator at each call.
pub(crate) unsafe fn get_parent(mut p: Passing<1, impl Real<1>>) -> usize {
    // SAFETY: arguments are those of the function's class.
    unsafe {
        p.record(u32::MAX, |p, open| {
            let handle = if p.pass() { flavour().handle_at(p.args[0]) } else { flavour().comm_null };
            if handle != flavour().comm_null && communicator(handle).is_none() {
                let kind = CommunicatorKind::Parent;
                let made = Made { handle, kind, parent: None, number: 0, tag: 0, leader: 0, port: "" };
                define(open.runtime, &made, "parents");
            }
            open.finish_plain();
        })
    }
}

/// `MPI_Comm_free` and `MPI_Comm_disconnect`.
pub(crate) unsafe fn free(mut p: Passing<1, impl Real<1>>) -> usize {
    // SAFETY: arguments are those of the function's class.
    unsafe {
        let handle = flavour().handle_at(p.args[0]);
        p.record(communicator_noun(handle), |p, open| {
            let part = plain(handle);
            // Before the call: its handle may be given out again by another thread as soon as it returns.
            if let Some(gone) = COMMUNICATORS.remove(handle) {
                let ticks = open.runtime.ticks();
                let freed = Definition::CommunicatorFreed { id: gone.number, ticks };
                open.runtime.define(|definitions| definitions.define(&freed));
            }
            p.pass();
            finish(open, part);
        })
    }
}

/// `(comm, comm_name)`.
pub(crate) unsafe fn set_name(mut p: Passing<2, impl Real<2>>) -> usize {
    let [comm, name] = p.args;
    // SAFETY: arguments are those of the function's class.
    unsafe {
        p.record(communicator_noun(comm), |p, open| {
            p.pass();
            if let Some(named) = communicator(comm) {
                let name = Definition::CommunicatorName { id: named.number, name: text(name) };
                open.runtime.define(|definitions| definitions.define(&name));
            }
            open.finish_plain();
        })
    }
}
