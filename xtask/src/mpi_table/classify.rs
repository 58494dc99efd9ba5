//! The class and the role of each function, by its name.
//!
//! A class says that arguments mean the same thing at the same place, so that the recorder needs
//! one reader of arguments per class; `generic` means that only time is recorded.

/// Families whose members share one class but not their names.
const FAMILIES: &[(&str, &[&str])] = &[
    ("send", &["Send", "Ssend", "Bsend", "Rsend"]),
    ("isend", &["Isend", "Ibsend", "Issend", "Irsend"]),
    ("send_init", &["Send_init", "Bsend_init", "Ssend_init", "Rsend_init"]),
    (
        "comm_create",
        &[
            "Comm_dup",
            "Comm_dup_with_info",
            "Comm_split",
            "Comm_split_type",
            "Comm_create",
            "Cart_create",
            "Graph_create",
            "Dist_graph_create",
            "Dist_graph_create_adjacent",
            "Cart_sub",
        ],
    ),
    ("comm_idup", &["Comm_idup", "Comm_idup_with_info"]),
    ("win_flush", &["Win_flush", "Win_flush_all", "Win_flush_local", "Win_flush_local_all"]),
    (
        "file_read",
        &[
            "File_read",
            "File_read_all",
            "File_read_at",
            "File_read_at_all",
            "File_read_ordered",
            "File_read_shared",
        ],
    ),
    (
        "file_write",
        &[
            "File_write",
            "File_write_all",
            "File_write_at",
            "File_write_at_all",
            "File_write_ordered",
            "File_write_shared",
        ],
    ),
    (
        "file_iread",
        &["File_iread", "File_iread_all", "File_iread_at", "File_iread_at_all", "File_iread_shared"],
    ),
    (
        "file_iwrite",
        &["File_iwrite", "File_iwrite_all", "File_iwrite_at", "File_iwrite_at_all", "File_iwrite_shared"],
    ),
    ("wtime", &["Wtime", "Wtick"]),
];

/// Blocking collectives with their roles; each has twins with `i` in front and with `_init` behind, whose
/// arguments begin alike.
const COLLECTIVES: &[(&str, &str)] = &[
    ("barrier", "Barrier"),
    ("bcast", "OneToAll"),
    ("scatter", "OneToAll"),
    ("scatterv", "OneToAll"),
    ("gather", "AllToOne"),
    ("gatherv", "AllToOne"),
    ("reduce", "AllToOne"),
    ("allgather", "AllToAll"),
    ("allgatherv", "AllToAll"),
    ("alltoall", "AllToAll"),
    ("alltoallv", "AllToAll"),
    ("alltoallw", "AllToAll"),
    ("allreduce", "AllToAll"),
    ("reduce_scatter", "AllToAll"),
    ("reduce_scatter_block", "AllToAll"),
    ("scan", "AllToAll"),
    ("exscan", "AllToAll"),
    ("neighbor_allgather", "AllToAll"),
    ("neighbor_allgatherv", "AllToAll"),
    ("neighbor_alltoall", "AllToAll"),
    ("neighbor_alltoallv", "AllToAll"),
    ("neighbor_alltoallw", "AllToAll"),
];

/// What returns at once, whatever other processes do, and calls nothing of the program: queries,
/// groups, infos, datatypes. Only whole calls of these are recorded, when they are over.
const LOCAL: &[&str] = &[
    "Aint_add",
    "Aint_diff",
    "Cart_coords",
    "Cart_get",
    "Cart_rank",
    "Cart_shift",
    "Cartdim_get",
    "Comm_compare",
    "Comm_group",
    "Comm_rank",
    "Comm_remote_group",
    "Comm_remote_size",
    "Comm_size",
    "Comm_test_inter",
    "Dims_create",
    "Dist_graph_neighbors",
    "Dist_graph_neighbors_count",
    "Error_class",
    "Finalized",
    "Graph_get",
    "Graph_neighbors",
    "Graph_neighbors_count",
    "Graphdims_get",
    "Group_compare",
    "Group_difference",
    "Group_excl",
    "Group_free",
    "Group_incl",
    "Group_intersection",
    "Group_range_excl",
    "Group_range_incl",
    "Group_rank",
    "Group_size",
    "Group_translate_ranks",
    "Group_union",
    "Initialized",
    "Is_thread_main",
    "Op_commutative",
    "Op_create",
    "Op_free",
    "Pack_external_size",
    "Pack_size",
    "Query_thread",
    "Status_set_cancelled",
    "Test_cancelled",
    "Topo_test",
    "Type_commit",
    "Type_contiguous",
    "Type_extent",
    "Type_hindexed",
    "Type_hvector",
    "Type_indexed",
    "Type_lb",
    "Type_match_size",
    "Type_size",
    "Type_size_x",
    "Type_struct",
    "Type_ub",
    "Type_vector",
];

/// Classes that are one function each, in lower case like it; those that share a handler stand in
/// [`HANDLERS`].
const SINGLES: &[&str] = &[
    "recv",
    "irecv",
    "sendrecv",
    "sendrecv_replace",
    "isendrecv",
    "isendrecv_replace",
    "recv_init",
    "psend_init",
    "precv_init",
    "start",
    "startall",
    "wait",
    "waitall",
    "waitany",
    "test",
    "testall",
    "testany",
    "waitsome",
    "testsome",
    "request_free",
    "request_get_status",
    "parrived",
    "iprobe",
    "mprobe",
    "improbe",
    "mrecv",
    "imrecv",
    "comm_create_group",
    "intercomm_create",
    "intercomm_merge",
    "comm_get_parent",
    "comm_set_name",
    "type_free",
    "type_set_name",
    "finalize",
    "abort",
    "pcontrol",
    "win_free",
    "win_attach",
    "win_detach",
    "win_set_name",
    "file_open",
    "file_close",
    "init",
    "comm_free",
    "win_create",
];

/// Handlers for several classes. Every other class that is recorded at all has one of its own name.
const HANDLERS: &[(&str, &[&str])] = &[
    ("reach", &["comm_spawn", "comm_spawn_multiple", "comm_accept", "comm_connect"]),
    ("comm_free", &["comm_disconnect"]),
    ("init", &["init_thread"]),
    ("win_create", &["win_allocate", "win_allocate_shared", "win_create_dynamic"]),
    (
        "synchronise",
        &[
            "win_fence",
            "win_post",
            "win_start",
            "win_complete",
            "win_wait",
            "win_lock",
            "win_unlock",
            "win_lock_all",
            "win_unlock_all",
            "win_flush",
        ],
    ),
    (
        "transfer",
        &[
            "put",
            "get",
            "accumulate",
            "get_accumulate",
            "fetch_and_op",
            "compare_and_swap",
            "rput",
            "rget",
            "raccumulate",
            "rget_accumulate",
        ],
    ),
    ("file_move", &["file_read", "file_write", "file_iread", "file_iwrite", "file_split_begin"]),
    // Only their time is recorded.
    ("generic", &["cancel", "probe", "comm_join", "win_test", "file_split_end", "wtime"]),
];

/// Which function of the recorder reads the arguments.
pub(crate) fn handler(mpi_name: &str) -> String {
    let class = class(mpi_name);
    let lower = base(mpi_name).to_ascii_lowercase();
    if let Some((handler, _)) = collective(&lower) {
        return handler.to_owned();
    }
    let shared = HANDLERS.iter().find(|(_, classes)| classes.contains(&class.as_str()));
    shared.map_or(class.clone(), |(handler, _)| (*handler).to_owned())
}

/// The class of a function, in snake case.
pub(crate) fn class(mpi_name: &str) -> String {
    let name = base(mpi_name);
    if let Some((class, _)) = FAMILIES.iter().find(|(_, members)| members.contains(&name)) {
        return (*class).to_owned();
    }
    let lower = name.to_ascii_lowercase();
    if is_local(name, &lower) {
        return "local".to_owned();
    }
    if let Some((_, class)) = collective(&lower) {
        return class.to_owned();
    }
    if SINGLES.contains(&lower.as_str())
        || HANDLERS.iter().any(|(_, shared)| shared.contains(&lower.as_str()))
    {
        return lower;
    }
    let class = match lower.strip_prefix("file_") {
        Some(rest) if rest.ends_with("_begin") => "file_split_begin",
        Some(rest) if rest.ends_with("_end") => "file_split_end",
        _ if is_conversion(&lower) => "convert",
        _ => "generic",
    };
    class.to_owned()
}

fn is_conversion(lower: &str) -> bool {
    ["_f2c", "_c2f", "_f082c", "_c2f08", "_f082f", "_f2f08"].iter().any(|end| lower.ends_with(end))
}

/// Whether the function is one of [`LOCAL`] or of the families that make or read infos and datatypes.
/// (Making a key notes functions of the program's; nothing calls them yet.)
fn is_local(name: &str, lower: &str) -> bool {
    let families = ["Get_", "Info_", "Type_create_", "Type_get_"];
    let is_family = families.iter().any(|start| name.starts_with(start)) && name != "Get_accumulate";
    LOCAL.contains(&name) || (is_family && !is_conversion(lower))
}

/// The variant of `marey_model::Role`. One-sided synchronisation is waiting for others, whatever
/// its name: that is where its time goes. The rest that moves no data and waits for nobody is
/// book-keeping, files apart.
pub(crate) fn role(mpi_name: &str) -> &'static str {
    let class = class(mpi_name);
    if let Some((_, role)) = COLLECTIVES.iter().find(|(name, _)| *name == class) {
        // To prepare one is no operation yet.
        return if base(mpi_name).ends_with("_init") { "Manage" } else { role };
    }
    match class.as_str() {
        "send" | "isend" | "recv" | "irecv" | "sendrecv" | "sendrecv_replace" | "isendrecv"
        | "isendrecv_replace" | "start" | "startall" | "mrecv" | "imrecv" | "put" | "get" | "accumulate"
        | "get_accumulate" | "fetch_and_op" | "compare_and_swap" | "rput" | "rget" | "raccumulate"
        | "rget_accumulate" => "Transfer",
        "wait" | "waitall" | "waitany" | "waitsome" | "test" | "testall" | "testany" | "testsome"
        | "request_get_status" | "parrived" | "probe" | "iprobe" | "mprobe" | "improbe" | "win_start"
        | "win_complete" | "win_wait" | "win_test" | "win_lock" | "win_unlock" | "win_lock_all"
        | "win_unlock_all" | "win_flush" => "Wait",
        // All who have the window take part.
        "win_fence" => "Barrier",
        "comm_spawn" | "comm_spawn_multiple" => "Create",
        _ if base(mpi_name).starts_with("File_") => "Io",
        _ if base(mpi_name).starts_with("Pready") => "Transfer",
        _ => "Manage",
    }
}

/// Whether counts (and displacements in bytes) are `MPI_Count` instead of `int`: the twins of
/// MPI-4.0 whose names end in `_c`.
pub(crate) fn is_large_count(mpi_name: &str) -> bool {
    mpi_name.ends_with("_c")
}

/// `win_lock_all` → `WinLockAll`.
pub(crate) fn camel(class: &str) -> String {
    let capital = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
    class.split('_').filter(|word| !word.is_empty()).map(capital).collect()
}

/// The name without `MPI_` and without the mark of a large count.
fn base(mpi_name: &str) -> &str {
    let name = mpi_name.strip_prefix("MPI_").unwrap_or(mpi_name);
    name.strip_suffix("_c").unwrap_or(name)
}

/// Handler and class of a collective, by its name in lower case.
fn collective(lower: &str) -> Option<(&'static str, &'static str)> {
    let known = |name: &str| COLLECTIVES.iter().find(|(class, _)| *class == name).map(|(class, _)| *class);
    let twin = |handler, name: Option<&str>| Some((handler, known(name?)?));
    twin("collective", Some(lower))
        .or_else(|| twin("icollective", lower.strip_prefix('i')))
        .or_else(|| twin("collective_init", lower.strip_suffix("_init")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_given_by_name() {
        for (name, expected_class, expected_role) in [
            ("MPI_Bcast_init", "bcast", "Manage"),
            ("MPI_Rsend", "send", "Transfer"),
            ("MPI_Send_c", "send", "Transfer"),
            ("MPI_Ineighbor_alltoallw", "neighbor_alltoallw", "AllToAll"),
            ("MPI_Ibarrier", "barrier", "Barrier"),
            ("MPI_Comm_f2c", "convert", "Manage"),
            ("MPI_Info_f2c", "convert", "Manage"),
            ("MPI_Info_get", "local", "Manage"),
            ("MPI_Status_f082f", "convert", "Manage"),
            ("MPI_Initialized", "local", "Manage"),
            ("MPI_Init_thread", "init_thread", "Manage"),
            ("MPI_Isendrecv", "isendrecv", "Transfer"),
            ("MPI_Psend_init", "psend_init", "Manage"),
            ("MPI_Pready_list", "generic", "Transfer"),
            ("MPI_Type_create_keyval", "local", "Manage"),
            ("MPI_Type_create_f90_real", "local", "Manage"),
            ("MPI_Type_dup", "generic", "Manage"),
            ("MPI_Get_accumulate", "get_accumulate", "Transfer"),
            ("MPI_Get_count", "local", "Manage"),
            ("MPI_File_iread_at_all", "file_iread", "Io"),
            ("MPI_File_write_ordered_begin", "file_split_begin", "Io"),
            ("MPI_File_set_view", "generic", "Io"),
            ("MPI_Win_flush_local_all", "win_flush", "Wait"),
            ("MPI_Scatterv", "scatterv", "OneToAll"),
        ] {
            assert_eq!((class(name).as_str(), role(name)), (expected_class, expected_role), "{name}");
        }
    }

    #[test]
    fn functions_that_are_read_alike_have_one_handler() {
        for (name, expected) in [
            ("MPI_Ssend_c", "send"),
            ("MPI_Scan", "collective"),
            ("MPI_Igather", "icollective"),
            ("MPI_Reduce_scatter_block_init", "collective_init"),
            ("MPI_Testsome", "testsome"),
            ("MPI_Rget", "transfer"),
            ("MPI_File_iread_at", "file_move"),
            ("MPI_Type_size", "local"),
            ("MPI_Iprobe", "iprobe"),
            ("MPI_Type_dup", "generic"),
        ] {
            assert_eq!(handler(name), expected, "{name}");
        }
    }
}
