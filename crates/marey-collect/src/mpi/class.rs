//! What an MPI function is to the recorder: its class and what is known of its arguments.
//!
//! The one idea: arguments are machine words whose meaning depends on the class alone, so there is
//! one reader of arguments per class and not one per function. Which function has which class is
//! decided where the table is generated (`cargo xtask generate-mpi`).
//!
//! Deliberately absent: the recording itself, and the differences between MPI libraries.

use marey_model::Role;

/// One function of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Function {
    /// The name in C: `MPI_Send`.
    pub name: &'static str,
    /// What its arguments mean.
    pub class: Class,
    /// What it does, for analysis.
    pub role: Role,
    /// The number of its arguments (of `MPI_Pcontrol`: of those before the `...`).
    pub arity: u8,
    /// Which argument, from 0, is the communicator that the call acts on, by value.
    pub comm_arg: Option<u8>,
    /// Which argument points to a communicator: one that is made, freed or returned.
    pub comm_ptr_arg: Option<u8>,
    /// Which argument is a window, by value.
    pub win_arg: Option<u8>,
    /// Which argument is a file, by value.
    pub file_arg: Option<u8>,
    /// Whether counts and arrays of counts are `MPI_Count` (64 bits) instead of `int`: the twins
    /// of MPI-4.0 whose names end in `_c`.
    pub large_count: bool,
}

/// Functions whose arguments mean the same. The docs show the arguments in their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Class {
    // Point to point.
    /// `(buf, count, datatype, dest, tag, comm)`: Send, Ssend, Bsend, Rsend.
    Send,
    /// As [`Send`](Self::Send) `+ request`: Isend, Issend, Ibsend, Irsend.
    Isend,
    /// `(buf, count, datatype, source, tag, comm, status)`.
    Recv,
    /// `(buf, count, datatype, source, tag, comm, request)`.
    Irecv,
    /// `(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag,
    /// comm, status)`.
    Sendrecv,
    /// `(buf, count, datatype, dest, sendtag, source, recvtag, comm, status)`.
    SendrecvReplace,
    /// As [`Sendrecv`](Self::Sendrecv), with a request instead of the status.
    Isendrecv,
    /// As [`SendrecvReplace`](Self::SendrecvReplace), with a request instead of the status.
    IsendrecvReplace,
    /// As [`Isend`](Self::Isend), but nothing is sent before a start.
    SendInit,
    /// As [`Irecv`](Self::Irecv), but nothing is received before a start.
    RecvInit,
    /// `(buf, partitions, count, datatype, dest, tag, comm, info, request)`; a count is of one partition,
    /// and always an `MPI_Count`.
    PsendInit,
    /// As [`PsendInit`](Self::PsendInit), from a source.
    PrecvInit,
    /// `(request, partition, flag)`; the request by value.
    Parrived,
    /// `(request)`, by pointer.
    Start,
    /// `(count, array_of_requests)`.
    Startall,
    // Completion.
    /// `(request, status)`.
    Wait,
    /// `(count, array_of_requests, array_of_statuses)`.
    Waitall,
    /// `(count, array_of_requests, index, status)`.
    Waitany,
    /// `(incount, array_of_requests, outcount, array_of_indices, array_of_statuses)`.
    Waitsome,
    /// `(request, flag, status)`.
    Test,
    /// `(count, array_of_requests, flag, array_of_statuses)`.
    Testall,
    /// `(count, array_of_requests, index, flag, status)`.
    Testany,
    /// As [`Waitsome`](Self::Waitsome); nothing done is `outcount` 0.
    Testsome,
    /// `(request)`, by pointer.
    RequestFree,
    /// `(request, flag, status)`; the request by value, and it lives on.
    RequestGetStatus,
    /// `(request)`, by pointer.
    Cancel,
    // Probes and matched receives.
    /// `(source, tag, comm, status)`.
    Probe,
    /// `(source, tag, comm, flag, status)`.
    Iprobe,
    /// `(source, tag, comm, message, status)`.
    Mprobe,
    /// `(source, tag, comm, flag, message, status)`.
    Improbe,
    /// `(buf, count, datatype, message, status)`; the message by pointer.
    Mrecv,
    /// `(buf, count, datatype, message, request)`; the message by pointer.
    Imrecv,
    // Collectives. Nonblocking ones have a request at the end besides, persistent ones an info and a
    // request.
    /// `(comm)`.
    Barrier,
    /// `(buffer, count, datatype, root, comm)`.
    Bcast,
    /// `(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)`.
    Gather,
    /// `(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm)`.
    Gatherv,
    /// `(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)`.
    Scatter,
    /// `(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm)`.
    Scatterv,
    /// `(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)`.
    Allgather,
    /// `(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)`.
    Allgatherv,
    /// `(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)`.
    Alltoall,
    /// `(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm)`.
    Alltoallv,
    /// As [`Alltoallv`](Self::Alltoallv), with arrays of types and displacements in bytes.
    Alltoallw,
    /// `(sendbuf, recvbuf, count, datatype, op, root, comm)`.
    Reduce,
    /// `(sendbuf, recvbuf, count, datatype, op, comm)`.
    Allreduce,
    /// `(sendbuf, recvbuf, recvcounts, datatype, op, comm)`.
    ReduceScatter,
    /// `(sendbuf, recvbuf, recvcount, datatype, op, comm)`.
    ReduceScatterBlock,
    /// `(sendbuf, recvbuf, count, datatype, op, comm)`.
    Scan,
    /// `(sendbuf, recvbuf, count, datatype, op, comm)`.
    Exscan,
    /// As [`Allgather`](Self::Allgather), among neighbours of a topology.
    NeighborAllgather,
    /// As [`Allgatherv`](Self::Allgatherv), among neighbours.
    NeighborAllgatherv,
    /// As [`Alltoall`](Self::Alltoall), among neighbours.
    NeighborAlltoall,
    /// As [`Alltoallv`](Self::Alltoallv), among neighbours.
    NeighborAlltoallv,
    /// As [`Alltoallw`](Self::Alltoallw), among neighbours, displacements are addresses.
    NeighborAlltoallw,
    // Communicators and processes.
    /// Collective over [`comm_arg`](Function::comm_arg); makes the one that
    /// [`comm_ptr_arg`](Function::comm_ptr_arg) points to.
    CommCreate,
    /// As [`CommCreate`](Self::CommCreate), and usable once the last argument, a request, is complete.
    CommIdup,
    /// `(comm, group, tag, newcomm)`; collective over the group only.
    CommCreateGroup,
    /// `(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm)`.
    IntercommCreate,
    /// `(intercomm, high, newintracomm)`.
    IntercommMerge,
    /// `(command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes)`.
    CommSpawn,
    /// `(count, commands, argvs, maxprocs, infos, root, comm, intercomm, array_of_errcodes)`.
    CommSpawnMultiple,
    /// `(port_name, info, root, comm, newcomm)`.
    CommAccept,
    /// `(port_name, info, root, comm, newcomm)`.
    CommConnect,
    /// `(fd, intercomm)`.
    CommJoin,
    /// `(parent)`, by pointer.
    CommGetParent,
    /// `(comm)`, by pointer.
    CommDisconnect,
    /// `(comm)`, by pointer.
    CommFree,
    /// `(comm, comm_name)`.
    CommSetName,
    // Datatypes.
    /// `(datatype)`, by pointer.
    TypeFree,
    /// `(datatype, type_name)`.
    TypeSetName,
    // The library itself.
    /// `(argc, argv)`.
    Init,
    /// `(argc, argv, required, provided)`.
    InitThread,
    /// `()`.
    Finalize,
    /// `(comm, errorcode)`.
    Abort,
    /// `(level, ...)`, the only variadic function.
    Pcontrol,
    /// `()`, returns seconds as a double: Wtime and Wtick.
    Wtime,
    // One-sided.
    /// `(base, size, disp_unit, info, comm, win)`.
    WinCreate,
    /// `(size, disp_unit, info, comm, baseptr, win)`.
    WinAllocate,
    /// `(size, disp_unit, info, comm, baseptr, win)`.
    WinAllocateShared,
    /// `(info, comm, win)`.
    WinCreateDynamic,
    /// `(win, base, size)`.
    WinAttach,
    /// `(win, base)`.
    WinDetach,
    /// `(win, win_name)`.
    WinSetName,
    /// `(win)`, by pointer.
    WinFree,
    /// `(assert, win)`.
    WinFence,
    /// `(group, assert, win)`.
    WinPost,
    /// `(group, assert, win)`.
    WinStart,
    /// `(win)`.
    WinComplete,
    /// `(win)`.
    WinWait,
    /// `(win, flag)`.
    WinTest,
    /// `(lock_type, rank, assert, win)`.
    WinLock,
    /// `(rank, win)`.
    WinUnlock,
    /// `(assert, win)`.
    WinLockAll,
    /// `(win)`.
    WinUnlockAll,
    /// `(rank, win)`, or `(win)` for the two `_all`: four functions.
    WinFlush,
    /// `(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
    /// target_datatype, win)`.
    Put,
    /// As [`Put`](Self::Put).
    Get,
    /// As [`Put`](Self::Put), with `op` before `win`.
    Accumulate,
    /// `(origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
    /// target_rank, target_disp, target_count, target_datatype, op, win)`.
    GetAccumulate,
    /// `(origin_addr, result_addr, datatype, target_rank, target_disp, op, win)`.
    FetchAndOp,
    /// `(origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win)`.
    CompareAndSwap,
    /// [`Put`](Self::Put) `+ request`.
    Rput,
    /// [`Get`](Self::Get) `+ request`.
    Rget,
    /// [`Accumulate`](Self::Accumulate) `+ request`.
    Raccumulate,
    /// [`GetAccumulate`](Self::GetAccumulate) `+ request`.
    RgetAccumulate,
    // Files.
    /// `(comm, filename, amode, info, fh)`.
    FileOpen,
    /// `(fh)`, by pointer.
    FileClose,
    /// `(fh, [offset,] buf, count, datatype, status)`; read from the end.
    FileRead,
    /// As [`FileRead`](Self::FileRead).
    FileWrite,
    /// `(fh, [offset,] buf, count, datatype, request)`; read from the end.
    FileIread,
    /// As [`FileIread`](Self::FileIread).
    FileIwrite,
    /// `(fh, [offset,] buf, count, datatype)`; read from the end.
    FileSplitBegin,
    /// `(fh, buf, status)`.
    FileSplitEnd,
    // The rest.
    /// Handles and statuses between C and Fortran. Open MPI's Fortran layer itself calls one for
    /// nearly every argument of every call, so they say more about the library than about the user.
    Convert,
    /// Returns at once, whatever other processes do, and calls nothing of the program. Only its time
    /// is recorded, when the call is over.
    Local,
    /// Only its time is recorded.
    Generic,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::table::{FUNCTIONS, for_each_mpi_function};

    fn function(name: &str) -> Function {
        FUNCTIONS[FUNCTIONS.binary_search_by_key(&name, |function| function.name).unwrap()]
    }

    #[test]
    fn indices_of_the_table_are_dense_and_its_names_sorted() {
        let mut rows = Vec::new();
        macro_rules! row {
            ($index:literal, $name:ident, $p_name:ident, $class:ident, $returns:ident, ($($arg:ident),*)) => {
                rows.push(($index, stringify!($name), stringify!($p_name), [$(stringify!($arg)),*].as_slice()));
            };
        }
        for_each_mpi_function!(row);
        assert!(rows.len() >= 400, "{}", rows.len());
        assert_eq!(rows.len(), FUNCTIONS.len());
        for (i, ((index, name, p_name, args), function)) in rows.iter().zip(&FUNCTIONS).enumerate() {
            let args: &[&str] = args;
            assert_eq!((*index, *name), (i, function.name));
            assert_eq!(p_name.strip_prefix('P'), Some(*name));
            assert_eq!(args.len(), usize::from(function.arity), "{name}");
        }
        assert!(FUNCTIONS.is_sorted_by(|a, b| a.name < b.name));
    }

    #[test]
    fn well_known_functions_are_what_the_standard_says() {
        use Class as C;
        use Role as R;
        for (name, class, role, arity, comm) in [
            ("MPI_Send", C::Send, R::Transfer, 6, Some(5)),
            ("MPI_Issend", C::Isend, R::Transfer, 7, Some(5)),
            ("MPI_Recv", C::Recv, R::Transfer, 7, Some(5)),
            ("MPI_Sendrecv", C::Sendrecv, R::Transfer, 12, Some(10)),
            ("MPI_Waitsome", C::Waitsome, R::Wait, 5, None),
            ("MPI_Improbe", C::Improbe, R::Wait, 6, Some(2)),
            ("MPI_Barrier", C::Barrier, R::Barrier, 1, Some(0)),
            ("MPI_Iallreduce", C::Allreduce, R::AllToAll, 7, Some(5)),
            ("MPI_Scatterv", C::Scatterv, R::OneToAll, 9, Some(8)),
            ("MPI_Reduce", C::Reduce, R::AllToOne, 7, Some(6)),
            ("MPI_Dist_graph_create", C::CommCreate, R::Manage, 9, Some(0)),
            ("MPI_Intercomm_create", C::IntercommCreate, R::Manage, 6, Some(0)),
            ("MPI_Comm_spawn", C::CommSpawn, R::Create, 8, Some(5)),
            ("MPI_Comm_free", C::CommFree, R::Manage, 1, None),
            ("MPI_Win_create", C::WinCreate, R::Manage, 6, Some(4)),
            ("MPI_File_open", C::FileOpen, R::Io, 5, Some(0)),
            ("MPI_Type_struct", C::Local, R::Manage, 5, None),
            ("MPI_Wtime", C::Wtime, R::Manage, 0, None),
            ("MPI_Pcontrol", C::Pcontrol, R::Manage, 1, None),
        ] {
            let found = function(name);
            assert_eq!(
                (found.class, found.role, found.arity, found.comm_arg),
                (class, role, arity, comm),
                "{name}"
            );
        }
        assert_eq!(function("MPI_Put").win_arg, Some(7));
        assert_eq!(function("MPI_Win_create").win_arg, None);
        assert_eq!(function("MPI_File_read_at").file_arg, Some(0));
        assert_eq!(function("MPI_Cart_create").comm_ptr_arg, Some(5));
        assert!(FUNCTIONS.iter().all(|f| f.large_count == f.name.ends_with("_c")));
    }
}
