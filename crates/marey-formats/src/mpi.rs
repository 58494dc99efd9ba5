//! What functions of MPI do, by their names: what every trace of an MPI program has.
//!
//! Source of the roles: the MPI standard, version 4.1; they are those that marey's own recorder gives.

use marey_model::Role;

use crate::spool::Region;

/// The region that something is by its name: a function of MPI, else one of the program.
pub(crate) fn region(name: &str) -> Region {
    if name.starts_with("MPI_") || name.starts_with("PMPI_") {
        Region::of_mpi(name, role(name))
    } else {
        Region::of_program(name)
    }
}

/// The role of a function of MPI, with or without the `P` of the profiling interface.
pub(crate) fn role(name: &str) -> Role {
    // Some tools add parentheses, or where the function is.
    let name = name.split(['(', ' ']).next().unwrap_or_default();
    let name = name.trim_end_matches('_').to_ascii_lowercase();
    let Some(name) = name.strip_prefix("mpi_").or_else(|| name.strip_prefix("pmpi_")) else {
        return Role::Manage;
    };
    let name = name.strip_suffix("_c").unwrap_or(name);
    if name.ends_with("_init") {
        return Role::Manage;
    }
    match name {
        "barrier" | "ibarrier" | "win_fence" => Role::Barrier,
        "bcast" | "ibcast" | "scatter" | "iscatter" | "scatterv" | "iscatterv" => Role::OneToAll,
        "gather" | "igather" | "gatherv" | "igatherv" | "reduce" | "ireduce" => Role::AllToOne,
        "allgather"
        | "allgatherv"
        | "allreduce"
        | "alltoall"
        | "alltoallv"
        | "alltoallw"
        | "exscan"
        | "scan"
        | "reduce_scatter"
        | "reduce_scatter_block"
        | "iallgather"
        | "iallgatherv"
        | "iallreduce"
        | "ialltoall"
        | "ialltoallv"
        | "ialltoallw"
        | "iexscan"
        | "iscan"
        | "ireduce_scatter"
        | "ireduce_scatter_block" => Role::AllToAll,
        _ if name.starts_with("neighbor_") || name.starts_with("ineighbor_") => Role::AllToAll,
        "send" | "bsend" | "ssend" | "rsend" | "isend" | "ibsend" | "issend" | "irsend" | "recv"
        | "irecv" | "mrecv" | "imrecv" | "sendrecv" | "sendrecv_replace" | "isendrecv"
        | "isendrecv_replace" | "start" | "startall" | "pready" | "pready_list" | "pready_range" | "put"
        | "get" | "accumulate" | "get_accumulate" | "fetch_and_op" | "compare_and_swap" | "rput" | "rget"
        | "raccumulate" | "rget_accumulate" => Role::Transfer,
        "wait"
        | "waitall"
        | "waitany"
        | "waitsome"
        | "test"
        | "testall"
        | "testany"
        | "testsome"
        | "probe"
        | "iprobe"
        | "mprobe"
        | "improbe"
        | "parrived"
        | "request_get_status"
        | "win_complete"
        | "win_flush"
        | "win_flush_all"
        | "win_flush_local"
        | "win_flush_local_all"
        | "win_lock"
        | "win_lock_all"
        | "win_start"
        | "win_test"
        | "win_unlock"
        | "win_unlock_all"
        | "win_wait" => Role::Wait,
        "comm_spawn" | "comm_spawn_multiple" => Role::Create,
        _ if name.starts_with("file_") => Role::Io,
        _ => Role::Manage,
    }
}
