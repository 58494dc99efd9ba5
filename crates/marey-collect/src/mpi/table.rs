//! Every MPI function: the union of what two libraries declare. Generated, do not edit.
//!
//! Regenerate with `cargo xtask generate-mpi`; what the classes mean stands in `class.rs`.
//! Made from MPICH 4.0.2 and Open MPI 4.1.4.

use marey_model::Role;

use super::class::{Class, Function};

/// Calls `$callback!` once per function with: its index, its name, its profiling name, its
/// handler, what it returns (`i32`, `f64`, or `word` for any other integer or pointer), its parameters.
macro_rules! for_each_mpi_function {
    ($callback:ident) => {
        $callback! { 0, MPI_Abort, PMPI_Abort, abort, i32, (comm, errorcode) }
        $callback! { 1, MPI_Accumulate, PMPI_Accumulate, transfer, i32, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win) }
        $callback! { 2, MPI_Accumulate_c, PMPI_Accumulate_c, transfer, i32, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win) }
        $callback! { 3, MPI_Add_error_class, PMPI_Add_error_class, generic, i32, (errorclass) }
        $callback! { 4, MPI_Add_error_code, PMPI_Add_error_code, generic, i32, (errorclass, errorcode) }
        $callback! { 5, MPI_Add_error_string, PMPI_Add_error_string, generic, i32, (errorcode, string) }
        $callback! { 6, MPI_Address, PMPI_Address, generic, i32, (location, address) }
        $callback! { 7, MPI_Aint_add, PMPI_Aint_add, local, word, (base, disp) }
        $callback! { 8, MPI_Aint_diff, PMPI_Aint_diff, local, word, (addr1, addr2) }
        $callback! { 9, MPI_Allgather, PMPI_Allgather, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) }
        $callback! { 10, MPI_Allgather_c, PMPI_Allgather_c, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) }
        $callback! { 11, MPI_Allgather_init, PMPI_Allgather_init, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request) }
        $callback! { 12, MPI_Allgather_init_c, PMPI_Allgather_init_c, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request) }
        $callback! { 13, MPI_Allgatherv, PMPI_Allgatherv, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm) }
        $callback! { 14, MPI_Allgatherv_c, PMPI_Allgatherv_c, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm) }
        $callback! { 15, MPI_Allgatherv_init, PMPI_Allgatherv_init, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info, request) }
        $callback! { 16, MPI_Allgatherv_init_c, PMPI_Allgatherv_init_c, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info, request) }
        $callback! { 17, MPI_Alloc_mem, PMPI_Alloc_mem, generic, i32, (size, info, baseptr) }
        $callback! { 18, MPI_Allreduce, PMPI_Allreduce, collective, i32, (sendbuf, recvbuf, count, datatype, op, comm) }
        $callback! { 19, MPI_Allreduce_c, PMPI_Allreduce_c, collective, i32, (sendbuf, recvbuf, count, datatype, op, comm) }
        $callback! { 20, MPI_Allreduce_init, PMPI_Allreduce_init, collective_init, i32, (sendbuf, recvbuf, count, datatype, op, comm, info, request) }
        $callback! { 21, MPI_Allreduce_init_c, PMPI_Allreduce_init_c, collective_init, i32, (sendbuf, recvbuf, count, datatype, op, comm, info, request) }
        $callback! { 22, MPI_Alltoall, PMPI_Alltoall, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) }
        $callback! { 23, MPI_Alltoall_c, PMPI_Alltoall_c, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) }
        $callback! { 24, MPI_Alltoall_init, PMPI_Alltoall_init, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request) }
        $callback! { 25, MPI_Alltoall_init_c, PMPI_Alltoall_init_c, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request) }
        $callback! { 26, MPI_Alltoallv, PMPI_Alltoallv, collective, i32, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm) }
        $callback! { 27, MPI_Alltoallv_c, PMPI_Alltoallv_c, collective, i32, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm) }
        $callback! { 28, MPI_Alltoallv_init, PMPI_Alltoallv_init, collective_init, i32, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info, request) }
        $callback! { 29, MPI_Alltoallv_init_c, PMPI_Alltoallv_init_c, collective_init, i32, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info, request) }
        $callback! { 30, MPI_Alltoallw, PMPI_Alltoallw, collective, i32, (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm) }
        $callback! { 31, MPI_Alltoallw_c, PMPI_Alltoallw_c, collective, i32, (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm) }
        $callback! { 32, MPI_Alltoallw_init, PMPI_Alltoallw_init, collective_init, i32, (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info, request) }
        $callback! { 33, MPI_Alltoallw_init_c, PMPI_Alltoallw_init_c, collective_init, i32, (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info, request) }
        $callback! { 34, MPI_Attr_delete, PMPI_Attr_delete, generic, i32, (comm, keyval) }
        $callback! { 35, MPI_Attr_get, PMPI_Attr_get, generic, i32, (comm, keyval, attribute_val, flag) }
        $callback! { 36, MPI_Attr_put, PMPI_Attr_put, generic, i32, (comm, keyval, attribute_val) }
        $callback! { 37, MPI_Barrier, PMPI_Barrier, collective, i32, (comm) }
        $callback! { 38, MPI_Barrier_init, PMPI_Barrier_init, collective_init, i32, (comm, info, request) }
        $callback! { 39, MPI_Bcast, PMPI_Bcast, collective, i32, (buffer, count, datatype, root, comm) }
        $callback! { 40, MPI_Bcast_c, PMPI_Bcast_c, collective, i32, (buffer, count, datatype, root, comm) }
        $callback! { 41, MPI_Bcast_init, PMPI_Bcast_init, collective_init, i32, (buffer, count, datatype, root, comm, info, request) }
        $callback! { 42, MPI_Bcast_init_c, PMPI_Bcast_init_c, collective_init, i32, (buffer, count, datatype, root, comm, info, request) }
        $callback! { 43, MPI_Bsend, PMPI_Bsend, send, i32, (buf, count, datatype, dest, tag, comm) }
        $callback! { 44, MPI_Bsend_c, PMPI_Bsend_c, send, i32, (buf, count, datatype, dest, tag, comm) }
        $callback! { 45, MPI_Bsend_init, PMPI_Bsend_init, send_init, i32, (buf, count, datatype, dest, tag, comm, request) }
        $callback! { 46, MPI_Bsend_init_c, PMPI_Bsend_init_c, send_init, i32, (buf, count, datatype, dest, tag, comm, request) }
        $callback! { 47, MPI_Buffer_attach, PMPI_Buffer_attach, generic, i32, (buffer, size) }
        $callback! { 48, MPI_Buffer_attach_c, PMPI_Buffer_attach_c, generic, i32, (buffer, size) }
        $callback! { 49, MPI_Buffer_detach, PMPI_Buffer_detach, generic, i32, (buffer_addr, size) }
        $callback! { 50, MPI_Buffer_detach_c, PMPI_Buffer_detach_c, generic, i32, (buffer_addr, size) }
        $callback! { 51, MPI_Cancel, PMPI_Cancel, generic, i32, (request) }
        $callback! { 52, MPI_Cart_coords, PMPI_Cart_coords, local, i32, (comm, rank, maxdims, coords) }
        $callback! { 53, MPI_Cart_create, PMPI_Cart_create, comm_create, i32, (comm_old, ndims, dims, periods, reorder, newcomm) }
        $callback! { 54, MPI_Cart_get, PMPI_Cart_get, local, i32, (comm, maxdims, dims, periods, coords) }
        $callback! { 55, MPI_Cart_map, PMPI_Cart_map, generic, i32, (comm, ndims, dims, periods, newrank) }
        $callback! { 56, MPI_Cart_rank, PMPI_Cart_rank, local, i32, (comm, coords, rank) }
        $callback! { 57, MPI_Cart_shift, PMPI_Cart_shift, local, i32, (comm, direction, disp, rank_source, rank_dest) }
        $callback! { 58, MPI_Cart_sub, PMPI_Cart_sub, comm_create, i32, (comm, remain_dims, newcomm) }
        $callback! { 59, MPI_Cartdim_get, PMPI_Cartdim_get, local, i32, (comm, ndims) }
        $callback! { 60, MPI_Close_port, PMPI_Close_port, generic, i32, (port_name) }
        $callback! { 61, MPI_Comm_accept, PMPI_Comm_accept, reach, i32, (port_name, info, root, comm, newcomm) }
        $callback! { 62, MPI_Comm_c2f, PMPI_Comm_c2f, convert, word, (comm) }
        $callback! { 63, MPI_Comm_call_errhandler, PMPI_Comm_call_errhandler, generic, i32, (comm, errorcode) }
        $callback! { 64, MPI_Comm_compare, PMPI_Comm_compare, local, i32, (comm1, comm2, result) }
        $callback! { 65, MPI_Comm_connect, PMPI_Comm_connect, reach, i32, (port_name, info, root, comm, newcomm) }
        $callback! { 66, MPI_Comm_create, PMPI_Comm_create, comm_create, i32, (comm, group, newcomm) }
        $callback! { 67, MPI_Comm_create_errhandler, PMPI_Comm_create_errhandler, generic, i32, (comm_errhandler_fn, errhandler) }
        $callback! { 68, MPI_Comm_create_from_group, PMPI_Comm_create_from_group, generic, i32, (group, stringtag, info, errhandler, newcomm) }
        $callback! { 69, MPI_Comm_create_group, PMPI_Comm_create_group, comm_create_group, i32, (comm, group, tag, newcomm) }
        $callback! { 70, MPI_Comm_create_keyval, PMPI_Comm_create_keyval, generic, i32, (comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state) }
        $callback! { 71, MPI_Comm_delete_attr, PMPI_Comm_delete_attr, generic, i32, (comm, comm_keyval) }
        $callback! { 72, MPI_Comm_disconnect, PMPI_Comm_disconnect, comm_free, i32, (comm) }
        $callback! { 73, MPI_Comm_dup, PMPI_Comm_dup, comm_create, i32, (comm, newcomm) }
        $callback! { 74, MPI_Comm_dup_with_info, PMPI_Comm_dup_with_info, comm_create, i32, (comm, info, newcomm) }
        $callback! { 75, MPI_Comm_f2c, PMPI_Comm_f2c, convert, word, (comm) }
        $callback! { 76, MPI_Comm_free, PMPI_Comm_free, comm_free, i32, (comm) }
        $callback! { 77, MPI_Comm_free_keyval, PMPI_Comm_free_keyval, generic, i32, (comm_keyval) }
        $callback! { 78, MPI_Comm_get_attr, PMPI_Comm_get_attr, generic, i32, (comm, comm_keyval, attribute_val, flag) }
        $callback! { 79, MPI_Comm_get_errhandler, PMPI_Comm_get_errhandler, generic, i32, (comm, errhandler) }
        $callback! { 80, MPI_Comm_get_info, PMPI_Comm_get_info, generic, i32, (comm, info_used) }
        $callback! { 81, MPI_Comm_get_name, PMPI_Comm_get_name, generic, i32, (comm, comm_name, resultlen) }
        $callback! { 82, MPI_Comm_get_parent, PMPI_Comm_get_parent, comm_get_parent, i32, (parent) }
        $callback! { 83, MPI_Comm_group, PMPI_Comm_group, local, i32, (comm, group) }
        $callback! { 84, MPI_Comm_idup, PMPI_Comm_idup, comm_idup, i32, (comm, newcomm, request) }
        $callback! { 85, MPI_Comm_idup_with_info, PMPI_Comm_idup_with_info, comm_idup, i32, (comm, info, newcomm, request) }
        $callback! { 86, MPI_Comm_join, PMPI_Comm_join, generic, i32, (fd, intercomm) }
        $callback! { 87, MPI_Comm_rank, PMPI_Comm_rank, local, i32, (comm, rank) }
        $callback! { 88, MPI_Comm_remote_group, PMPI_Comm_remote_group, local, i32, (comm, group) }
        $callback! { 89, MPI_Comm_remote_size, PMPI_Comm_remote_size, local, i32, (comm, size) }
        $callback! { 90, MPI_Comm_set_attr, PMPI_Comm_set_attr, generic, i32, (comm, comm_keyval, attribute_val) }
        $callback! { 91, MPI_Comm_set_errhandler, PMPI_Comm_set_errhandler, generic, i32, (comm, errhandler) }
        $callback! { 92, MPI_Comm_set_info, PMPI_Comm_set_info, generic, i32, (comm, info) }
        $callback! { 93, MPI_Comm_set_name, PMPI_Comm_set_name, comm_set_name, i32, (comm, comm_name) }
        $callback! { 94, MPI_Comm_size, PMPI_Comm_size, local, i32, (comm, size) }
        $callback! { 95, MPI_Comm_spawn, PMPI_Comm_spawn, reach, i32, (command, argv, maxprocs, info, root, comm, intercomm, array_of_errcodes) }
        $callback! { 96, MPI_Comm_spawn_multiple, PMPI_Comm_spawn_multiple, reach, i32, (count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info, root, comm, intercomm, array_of_errcodes) }
        $callback! { 97, MPI_Comm_split, PMPI_Comm_split, comm_create, i32, (comm, color, key, newcomm) }
        $callback! { 98, MPI_Comm_split_type, PMPI_Comm_split_type, comm_create, i32, (comm, split_type, key, info, newcomm) }
        $callback! { 99, MPI_Comm_test_inter, PMPI_Comm_test_inter, local, i32, (comm, flag) }
        $callback! { 100, MPI_Compare_and_swap, PMPI_Compare_and_swap, transfer, i32, (origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win) }
        $callback! { 101, MPI_Dims_create, PMPI_Dims_create, local, i32, (nnodes, ndims, dims) }
        $callback! { 102, MPI_Dist_graph_create, PMPI_Dist_graph_create, comm_create, i32, (comm_old, n, sources, degrees, destinations, weights, info, reorder, newcomm) }
        $callback! { 103, MPI_Dist_graph_create_adjacent, PMPI_Dist_graph_create_adjacent, comm_create, i32, (comm_old, indegree, sources, sourceweights, outdegree, destinations, destweights, info, reorder, newcomm) }
        $callback! { 104, MPI_Dist_graph_neighbors, PMPI_Dist_graph_neighbors, local, i32, (comm, maxindegree, sources, sourceweights, maxoutdegree, destinations, destweights) }
        $callback! { 105, MPI_Dist_graph_neighbors_count, PMPI_Dist_graph_neighbors_count, local, i32, (comm, indegree, outdegree, weighted) }
        $callback! { 106, MPI_Errhandler_c2f, PMPI_Errhandler_c2f, convert, word, (errhandler) }
        $callback! { 107, MPI_Errhandler_create, PMPI_Errhandler_create, generic, i32, (comm_errhandler_fn, errhandler) }
        $callback! { 108, MPI_Errhandler_f2c, PMPI_Errhandler_f2c, convert, word, (errhandler) }
        $callback! { 109, MPI_Errhandler_free, PMPI_Errhandler_free, generic, i32, (errhandler) }
        $callback! { 110, MPI_Errhandler_get, PMPI_Errhandler_get, generic, i32, (comm, errhandler) }
        $callback! { 111, MPI_Errhandler_set, PMPI_Errhandler_set, generic, i32, (comm, errhandler) }
        $callback! { 112, MPI_Error_class, PMPI_Error_class, local, i32, (errorcode, errorclass) }
        $callback! { 113, MPI_Error_string, PMPI_Error_string, generic, i32, (errorcode, string, resultlen) }
        $callback! { 114, MPI_Exscan, PMPI_Exscan, collective, i32, (sendbuf, recvbuf, count, datatype, op, comm) }
        $callback! { 115, MPI_Exscan_c, PMPI_Exscan_c, collective, i32, (sendbuf, recvbuf, count, datatype, op, comm) }
        $callback! { 116, MPI_Exscan_init, PMPI_Exscan_init, collective_init, i32, (sendbuf, recvbuf, count, datatype, op, comm, info, request) }
        $callback! { 117, MPI_Exscan_init_c, PMPI_Exscan_init_c, collective_init, i32, (sendbuf, recvbuf, count, datatype, op, comm, info, request) }
        $callback! { 118, MPI_Fetch_and_op, PMPI_Fetch_and_op, transfer, i32, (origin_addr, result_addr, datatype, target_rank, target_disp, op, win) }
        $callback! { 119, MPI_File_c2f, PMPI_File_c2f, convert, word, (fh) }
        $callback! { 120, MPI_File_call_errhandler, PMPI_File_call_errhandler, generic, i32, (fh, errorcode) }
        $callback! { 121, MPI_File_close, PMPI_File_close, file_close, i32, (fh) }
        $callback! { 122, MPI_File_create_errhandler, PMPI_File_create_errhandler, generic, i32, (file_errhandler_fn, errhandler) }
        $callback! { 123, MPI_File_delete, PMPI_File_delete, generic, i32, (filename, info) }
        $callback! { 124, MPI_File_f2c, PMPI_File_f2c, convert, word, (fh) }
        $callback! { 125, MPI_File_get_amode, PMPI_File_get_amode, generic, i32, (fh, amode) }
        $callback! { 126, MPI_File_get_atomicity, PMPI_File_get_atomicity, generic, i32, (fh, flag) }
        $callback! { 127, MPI_File_get_byte_offset, PMPI_File_get_byte_offset, generic, i32, (fh, offset, disp) }
        $callback! { 128, MPI_File_get_errhandler, PMPI_File_get_errhandler, generic, i32, (fh, errhandler) }
        $callback! { 129, MPI_File_get_group, PMPI_File_get_group, generic, i32, (fh, group) }
        $callback! { 130, MPI_File_get_info, PMPI_File_get_info, generic, i32, (fh, info_used) }
        $callback! { 131, MPI_File_get_position, PMPI_File_get_position, generic, i32, (fh, offset) }
        $callback! { 132, MPI_File_get_position_shared, PMPI_File_get_position_shared, generic, i32, (fh, offset) }
        $callback! { 133, MPI_File_get_size, PMPI_File_get_size, generic, i32, (fh, size) }
        $callback! { 134, MPI_File_get_type_extent, PMPI_File_get_type_extent, generic, i32, (fh, datatype, extent) }
        $callback! { 135, MPI_File_get_type_extent_c, PMPI_File_get_type_extent_c, generic, i32, (fh, datatype, extent) }
        $callback! { 136, MPI_File_get_view, PMPI_File_get_view, generic, i32, (fh, disp, etype, filetype, datarep) }
        $callback! { 137, MPI_File_iread, PMPI_File_iread, file_move, i32, (fh, buf, count, datatype, request) }
        $callback! { 138, MPI_File_iread_all, PMPI_File_iread_all, file_move, i32, (fh, buf, count, datatype, request) }
        $callback! { 139, MPI_File_iread_all_c, PMPI_File_iread_all_c, file_move, i32, (fh, buf, count, datatype, request) }
        $callback! { 140, MPI_File_iread_at, PMPI_File_iread_at, file_move, i32, (fh, offset, buf, count, datatype, request) }
        $callback! { 141, MPI_File_iread_at_all, PMPI_File_iread_at_all, file_move, i32, (fh, offset, buf, count, datatype, request) }
        $callback! { 142, MPI_File_iread_at_all_c, PMPI_File_iread_at_all_c, file_move, i32, (fh, offset, buf, count, datatype, request) }
        $callback! { 143, MPI_File_iread_at_c, PMPI_File_iread_at_c, file_move, i32, (fh, offset, buf, count, datatype, request) }
        $callback! { 144, MPI_File_iread_c, PMPI_File_iread_c, file_move, i32, (fh, buf, count, datatype, request) }
        $callback! { 145, MPI_File_iread_shared, PMPI_File_iread_shared, file_move, i32, (fh, buf, count, datatype, request) }
        $callback! { 146, MPI_File_iread_shared_c, PMPI_File_iread_shared_c, file_move, i32, (fh, buf, count, datatype, request) }
        $callback! { 147, MPI_File_iwrite, PMPI_File_iwrite, file_move, i32, (fh, buf, count, datatype, request) }
        $callback! { 148, MPI_File_iwrite_all, PMPI_File_iwrite_all, file_move, i32, (fh, buf, count, datatype, request) }
        $callback! { 149, MPI_File_iwrite_all_c, PMPI_File_iwrite_all_c, file_move, i32, (fh, buf, count, datatype, request) }
        $callback! { 150, MPI_File_iwrite_at, PMPI_File_iwrite_at, file_move, i32, (fh, offset, buf, count, datatype, request) }
        $callback! { 151, MPI_File_iwrite_at_all, PMPI_File_iwrite_at_all, file_move, i32, (fh, offset, buf, count, datatype, request) }
        $callback! { 152, MPI_File_iwrite_at_all_c, PMPI_File_iwrite_at_all_c, file_move, i32, (fh, offset, buf, count, datatype, request) }
        $callback! { 153, MPI_File_iwrite_at_c, PMPI_File_iwrite_at_c, file_move, i32, (fh, offset, buf, count, datatype, request) }
        $callback! { 154, MPI_File_iwrite_c, PMPI_File_iwrite_c, file_move, i32, (fh, buf, count, datatype, request) }
        $callback! { 155, MPI_File_iwrite_shared, PMPI_File_iwrite_shared, file_move, i32, (fh, buf, count, datatype, request) }
        $callback! { 156, MPI_File_iwrite_shared_c, PMPI_File_iwrite_shared_c, file_move, i32, (fh, buf, count, datatype, request) }
        $callback! { 157, MPI_File_open, PMPI_File_open, file_open, i32, (comm, filename, amode, info, fh) }
        $callback! { 158, MPI_File_preallocate, PMPI_File_preallocate, generic, i32, (fh, size) }
        $callback! { 159, MPI_File_read, PMPI_File_read, file_move, i32, (fh, buf, count, datatype, status) }
        $callback! { 160, MPI_File_read_all, PMPI_File_read_all, file_move, i32, (fh, buf, count, datatype, status) }
        $callback! { 161, MPI_File_read_all_begin, PMPI_File_read_all_begin, file_move, i32, (fh, buf, count, datatype) }
        $callback! { 162, MPI_File_read_all_begin_c, PMPI_File_read_all_begin_c, file_move, i32, (fh, buf, count, datatype) }
        $callback! { 163, MPI_File_read_all_c, PMPI_File_read_all_c, file_move, i32, (fh, buf, count, datatype, status) }
        $callback! { 164, MPI_File_read_all_end, PMPI_File_read_all_end, generic, i32, (fh, buf, status) }
        $callback! { 165, MPI_File_read_at, PMPI_File_read_at, file_move, i32, (fh, offset, buf, count, datatype, status) }
        $callback! { 166, MPI_File_read_at_all, PMPI_File_read_at_all, file_move, i32, (fh, offset, buf, count, datatype, status) }
        $callback! { 167, MPI_File_read_at_all_begin, PMPI_File_read_at_all_begin, file_move, i32, (fh, offset, buf, count, datatype) }
        $callback! { 168, MPI_File_read_at_all_begin_c, PMPI_File_read_at_all_begin_c, file_move, i32, (fh, offset, buf, count, datatype) }
        $callback! { 169, MPI_File_read_at_all_c, PMPI_File_read_at_all_c, file_move, i32, (fh, offset, buf, count, datatype, status) }
        $callback! { 170, MPI_File_read_at_all_end, PMPI_File_read_at_all_end, generic, i32, (fh, buf, status) }
        $callback! { 171, MPI_File_read_at_c, PMPI_File_read_at_c, file_move, i32, (fh, offset, buf, count, datatype, status) }
        $callback! { 172, MPI_File_read_c, PMPI_File_read_c, file_move, i32, (fh, buf, count, datatype, status) }
        $callback! { 173, MPI_File_read_ordered, PMPI_File_read_ordered, file_move, i32, (fh, buf, count, datatype, status) }
        $callback! { 174, MPI_File_read_ordered_begin, PMPI_File_read_ordered_begin, file_move, i32, (fh, buf, count, datatype) }
        $callback! { 175, MPI_File_read_ordered_begin_c, PMPI_File_read_ordered_begin_c, file_move, i32, (fh, buf, count, datatype) }
        $callback! { 176, MPI_File_read_ordered_c, PMPI_File_read_ordered_c, file_move, i32, (fh, buf, count, datatype, status) }
        $callback! { 177, MPI_File_read_ordered_end, PMPI_File_read_ordered_end, generic, i32, (fh, buf, status) }
        $callback! { 178, MPI_File_read_shared, PMPI_File_read_shared, file_move, i32, (fh, buf, count, datatype, status) }
        $callback! { 179, MPI_File_read_shared_c, PMPI_File_read_shared_c, file_move, i32, (fh, buf, count, datatype, status) }
        $callback! { 180, MPI_File_seek, PMPI_File_seek, generic, i32, (fh, offset, whence) }
        $callback! { 181, MPI_File_seek_shared, PMPI_File_seek_shared, generic, i32, (fh, offset, whence) }
        $callback! { 182, MPI_File_set_atomicity, PMPI_File_set_atomicity, generic, i32, (fh, flag) }
        $callback! { 183, MPI_File_set_errhandler, PMPI_File_set_errhandler, generic, i32, (fh, errhandler) }
        $callback! { 184, MPI_File_set_info, PMPI_File_set_info, generic, i32, (fh, info) }
        $callback! { 185, MPI_File_set_size, PMPI_File_set_size, generic, i32, (fh, size) }
        $callback! { 186, MPI_File_set_view, PMPI_File_set_view, generic, i32, (fh, disp, etype, filetype, datarep, info) }
        $callback! { 187, MPI_File_sync, PMPI_File_sync, generic, i32, (fh) }
        $callback! { 188, MPI_File_write, PMPI_File_write, file_move, i32, (fh, buf, count, datatype, status) }
        $callback! { 189, MPI_File_write_all, PMPI_File_write_all, file_move, i32, (fh, buf, count, datatype, status) }
        $callback! { 190, MPI_File_write_all_begin, PMPI_File_write_all_begin, file_move, i32, (fh, buf, count, datatype) }
        $callback! { 191, MPI_File_write_all_begin_c, PMPI_File_write_all_begin_c, file_move, i32, (fh, buf, count, datatype) }
        $callback! { 192, MPI_File_write_all_c, PMPI_File_write_all_c, file_move, i32, (fh, buf, count, datatype, status) }
        $callback! { 193, MPI_File_write_all_end, PMPI_File_write_all_end, generic, i32, (fh, buf, status) }
        $callback! { 194, MPI_File_write_at, PMPI_File_write_at, file_move, i32, (fh, offset, buf, count, datatype, status) }
        $callback! { 195, MPI_File_write_at_all, PMPI_File_write_at_all, file_move, i32, (fh, offset, buf, count, datatype, status) }
        $callback! { 196, MPI_File_write_at_all_begin, PMPI_File_write_at_all_begin, file_move, i32, (fh, offset, buf, count, datatype) }
        $callback! { 197, MPI_File_write_at_all_begin_c, PMPI_File_write_at_all_begin_c, file_move, i32, (fh, offset, buf, count, datatype) }
        $callback! { 198, MPI_File_write_at_all_c, PMPI_File_write_at_all_c, file_move, i32, (fh, offset, buf, count, datatype, status) }
        $callback! { 199, MPI_File_write_at_all_end, PMPI_File_write_at_all_end, generic, i32, (fh, buf, status) }
        $callback! { 200, MPI_File_write_at_c, PMPI_File_write_at_c, file_move, i32, (fh, offset, buf, count, datatype, status) }
        $callback! { 201, MPI_File_write_c, PMPI_File_write_c, file_move, i32, (fh, buf, count, datatype, status) }
        $callback! { 202, MPI_File_write_ordered, PMPI_File_write_ordered, file_move, i32, (fh, buf, count, datatype, status) }
        $callback! { 203, MPI_File_write_ordered_begin, PMPI_File_write_ordered_begin, file_move, i32, (fh, buf, count, datatype) }
        $callback! { 204, MPI_File_write_ordered_begin_c, PMPI_File_write_ordered_begin_c, file_move, i32, (fh, buf, count, datatype) }
        $callback! { 205, MPI_File_write_ordered_c, PMPI_File_write_ordered_c, file_move, i32, (fh, buf, count, datatype, status) }
        $callback! { 206, MPI_File_write_ordered_end, PMPI_File_write_ordered_end, generic, i32, (fh, buf, status) }
        $callback! { 207, MPI_File_write_shared, PMPI_File_write_shared, file_move, i32, (fh, buf, count, datatype, status) }
        $callback! { 208, MPI_File_write_shared_c, PMPI_File_write_shared_c, file_move, i32, (fh, buf, count, datatype, status) }
        $callback! { 209, MPI_Finalize, PMPI_Finalize, finalize, i32, () }
        $callback! { 210, MPI_Finalized, PMPI_Finalized, local, i32, (flag) }
        $callback! { 211, MPI_Free_mem, PMPI_Free_mem, generic, i32, (base) }
        $callback! { 212, MPI_Gather, PMPI_Gather, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm) }
        $callback! { 213, MPI_Gather_c, PMPI_Gather_c, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm) }
        $callback! { 214, MPI_Gather_init, PMPI_Gather_init, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request) }
        $callback! { 215, MPI_Gather_init_c, PMPI_Gather_init_c, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request) }
        $callback! { 216, MPI_Gatherv, PMPI_Gatherv, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm) }
        $callback! { 217, MPI_Gatherv_c, PMPI_Gatherv_c, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm) }
        $callback! { 218, MPI_Gatherv_init, PMPI_Gatherv_init, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info, request) }
        $callback! { 219, MPI_Gatherv_init_c, PMPI_Gatherv_init_c, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, info, request) }
        $callback! { 220, MPI_Get, PMPI_Get, transfer, i32, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win) }
        $callback! { 221, MPI_Get_accumulate, PMPI_Get_accumulate, transfer, i32, (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win) }
        $callback! { 222, MPI_Get_accumulate_c, PMPI_Get_accumulate_c, transfer, i32, (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win) }
        $callback! { 223, MPI_Get_address, PMPI_Get_address, local, i32, (location, address) }
        $callback! { 224, MPI_Get_c, PMPI_Get_c, transfer, i32, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win) }
        $callback! { 225, MPI_Get_count, PMPI_Get_count, local, i32, (status, datatype, count) }
        $callback! { 226, MPI_Get_count_c, PMPI_Get_count_c, local, i32, (status, datatype, count) }
        $callback! { 227, MPI_Get_elements, PMPI_Get_elements, local, i32, (status, datatype, count) }
        $callback! { 228, MPI_Get_elements_c, PMPI_Get_elements_c, local, i32, (status, datatype, count) }
        $callback! { 229, MPI_Get_elements_x, PMPI_Get_elements_x, local, i32, (status, datatype, count) }
        $callback! { 230, MPI_Get_library_version, PMPI_Get_library_version, local, i32, (version, resultlen) }
        $callback! { 231, MPI_Get_processor_name, PMPI_Get_processor_name, local, i32, (name, resultlen) }
        $callback! { 232, MPI_Get_version, PMPI_Get_version, local, i32, (version, subversion) }
        $callback! { 233, MPI_Graph_create, PMPI_Graph_create, comm_create, i32, (comm_old, nnodes, indx, edges, reorder, newcomm) }
        $callback! { 234, MPI_Graph_get, PMPI_Graph_get, local, i32, (comm, maxindex, maxedges, indx, edges) }
        $callback! { 235, MPI_Graph_map, PMPI_Graph_map, generic, i32, (comm, nnodes, indx, edges, newrank) }
        $callback! { 236, MPI_Graph_neighbors, PMPI_Graph_neighbors, local, i32, (comm, rank, maxneighbors, neighbors) }
        $callback! { 237, MPI_Graph_neighbors_count, PMPI_Graph_neighbors_count, local, i32, (comm, rank, nneighbors) }
        $callback! { 238, MPI_Graphdims_get, PMPI_Graphdims_get, local, i32, (comm, nnodes, nedges) }
        $callback! { 239, MPI_Grequest_complete, PMPI_Grequest_complete, generic, i32, (request) }
        $callback! { 240, MPI_Grequest_start, PMPI_Grequest_start, generic, i32, (query_fn, free_fn, cancel_fn, extra_state, request) }
        $callback! { 241, MPI_Group_c2f, PMPI_Group_c2f, convert, word, (group) }
        $callback! { 242, MPI_Group_compare, PMPI_Group_compare, local, i32, (group1, group2, result) }
        $callback! { 243, MPI_Group_difference, PMPI_Group_difference, local, i32, (group1, group2, newgroup) }
        $callback! { 244, MPI_Group_excl, PMPI_Group_excl, local, i32, (group, n, ranks, newgroup) }
        $callback! { 245, MPI_Group_f2c, PMPI_Group_f2c, convert, word, (group) }
        $callback! { 246, MPI_Group_free, PMPI_Group_free, local, i32, (group) }
        $callback! { 247, MPI_Group_from_session_pset, PMPI_Group_from_session_pset, generic, i32, (session, pset_name, newgroup) }
        $callback! { 248, MPI_Group_incl, PMPI_Group_incl, local, i32, (group, n, ranks, newgroup) }
        $callback! { 249, MPI_Group_intersection, PMPI_Group_intersection, local, i32, (group1, group2, newgroup) }
        $callback! { 250, MPI_Group_range_excl, PMPI_Group_range_excl, local, i32, (group, n, ranges, newgroup) }
        $callback! { 251, MPI_Group_range_incl, PMPI_Group_range_incl, local, i32, (group, n, ranges, newgroup) }
        $callback! { 252, MPI_Group_rank, PMPI_Group_rank, local, i32, (group, rank) }
        $callback! { 253, MPI_Group_size, PMPI_Group_size, local, i32, (group, size) }
        $callback! { 254, MPI_Group_translate_ranks, PMPI_Group_translate_ranks, local, i32, (group1, n, ranks1, group2, ranks2) }
        $callback! { 255, MPI_Group_union, PMPI_Group_union, local, i32, (group1, group2, newgroup) }
        $callback! { 256, MPI_Iallgather, PMPI_Iallgather, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request) }
        $callback! { 257, MPI_Iallgather_c, PMPI_Iallgather_c, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request) }
        $callback! { 258, MPI_Iallgatherv, PMPI_Iallgatherv, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request) }
        $callback! { 259, MPI_Iallgatherv_c, PMPI_Iallgatherv_c, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request) }
        $callback! { 260, MPI_Iallreduce, PMPI_Iallreduce, icollective, i32, (sendbuf, recvbuf, count, datatype, op, comm, request) }
        $callback! { 261, MPI_Iallreduce_c, PMPI_Iallreduce_c, icollective, i32, (sendbuf, recvbuf, count, datatype, op, comm, request) }
        $callback! { 262, MPI_Ialltoall, PMPI_Ialltoall, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request) }
        $callback! { 263, MPI_Ialltoall_c, PMPI_Ialltoall_c, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request) }
        $callback! { 264, MPI_Ialltoallv, PMPI_Ialltoallv, icollective, i32, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request) }
        $callback! { 265, MPI_Ialltoallv_c, PMPI_Ialltoallv_c, icollective, i32, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request) }
        $callback! { 266, MPI_Ialltoallw, PMPI_Ialltoallw, icollective, i32, (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request) }
        $callback! { 267, MPI_Ialltoallw_c, PMPI_Ialltoallw_c, icollective, i32, (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request) }
        $callback! { 268, MPI_Ibarrier, PMPI_Ibarrier, icollective, i32, (comm, request) }
        $callback! { 269, MPI_Ibcast, PMPI_Ibcast, icollective, i32, (buffer, count, datatype, root, comm, request) }
        $callback! { 270, MPI_Ibcast_c, PMPI_Ibcast_c, icollective, i32, (buffer, count, datatype, root, comm, request) }
        $callback! { 271, MPI_Ibsend, PMPI_Ibsend, isend, i32, (buf, count, datatype, dest, tag, comm, request) }
        $callback! { 272, MPI_Ibsend_c, PMPI_Ibsend_c, isend, i32, (buf, count, datatype, dest, tag, comm, request) }
        $callback! { 273, MPI_Iexscan, PMPI_Iexscan, icollective, i32, (sendbuf, recvbuf, count, datatype, op, comm, request) }
        $callback! { 274, MPI_Iexscan_c, PMPI_Iexscan_c, icollective, i32, (sendbuf, recvbuf, count, datatype, op, comm, request) }
        $callback! { 275, MPI_Igather, PMPI_Igather, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request) }
        $callback! { 276, MPI_Igather_c, PMPI_Igather_c, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request) }
        $callback! { 277, MPI_Igatherv, PMPI_Igatherv, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request) }
        $callback! { 278, MPI_Igatherv_c, PMPI_Igatherv_c, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm, request) }
        $callback! { 279, MPI_Improbe, PMPI_Improbe, improbe, i32, (source, tag, comm, flag, message, status) }
        $callback! { 280, MPI_Imrecv, PMPI_Imrecv, imrecv, i32, (buf, count, datatype, message, request) }
        $callback! { 281, MPI_Imrecv_c, PMPI_Imrecv_c, imrecv, i32, (buf, count, datatype, message, request) }
        $callback! { 282, MPI_Ineighbor_allgather, PMPI_Ineighbor_allgather, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request) }
        $callback! { 283, MPI_Ineighbor_allgather_c, PMPI_Ineighbor_allgather_c, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request) }
        $callback! { 284, MPI_Ineighbor_allgatherv, PMPI_Ineighbor_allgatherv, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request) }
        $callback! { 285, MPI_Ineighbor_allgatherv_c, PMPI_Ineighbor_allgatherv_c, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, request) }
        $callback! { 286, MPI_Ineighbor_alltoall, PMPI_Ineighbor_alltoall, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request) }
        $callback! { 287, MPI_Ineighbor_alltoall_c, PMPI_Ineighbor_alltoall_c, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request) }
        $callback! { 288, MPI_Ineighbor_alltoallv, PMPI_Ineighbor_alltoallv, icollective, i32, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request) }
        $callback! { 289, MPI_Ineighbor_alltoallv_c, PMPI_Ineighbor_alltoallv_c, icollective, i32, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request) }
        $callback! { 290, MPI_Ineighbor_alltoallw, PMPI_Ineighbor_alltoallw, icollective, i32, (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request) }
        $callback! { 291, MPI_Ineighbor_alltoallw_c, PMPI_Ineighbor_alltoallw_c, icollective, i32, (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request) }
        $callback! { 292, MPI_Info_c2f, PMPI_Info_c2f, convert, word, (info) }
        $callback! { 293, MPI_Info_create, PMPI_Info_create, local, i32, (info) }
        $callback! { 294, MPI_Info_create_env, PMPI_Info_create_env, local, i32, (argc, argv, info) }
        $callback! { 295, MPI_Info_delete, PMPI_Info_delete, local, i32, (info, key) }
        $callback! { 296, MPI_Info_dup, PMPI_Info_dup, local, i32, (info, newinfo) }
        $callback! { 297, MPI_Info_f2c, PMPI_Info_f2c, convert, word, (info) }
        $callback! { 298, MPI_Info_free, PMPI_Info_free, local, i32, (info) }
        $callback! { 299, MPI_Info_get, PMPI_Info_get, local, i32, (info, key, valuelen, value, flag) }
        $callback! { 300, MPI_Info_get_nkeys, PMPI_Info_get_nkeys, local, i32, (info, nkeys) }
        $callback! { 301, MPI_Info_get_nthkey, PMPI_Info_get_nthkey, local, i32, (info, n, key) }
        $callback! { 302, MPI_Info_get_string, PMPI_Info_get_string, local, i32, (info, key, buflen, value, flag) }
        $callback! { 303, MPI_Info_get_valuelen, PMPI_Info_get_valuelen, local, i32, (info, key, valuelen, flag) }
        $callback! { 304, MPI_Info_set, PMPI_Info_set, local, i32, (info, key, value) }
        $callback! { 305, MPI_Init, PMPI_Init, init, i32, (argc, argv) }
        $callback! { 306, MPI_Init_thread, PMPI_Init_thread, init, i32, (argc, argv, required, provided) }
        $callback! { 307, MPI_Initialized, PMPI_Initialized, local, i32, (flag) }
        $callback! { 308, MPI_Intercomm_create, PMPI_Intercomm_create, intercomm_create, i32, (local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm) }
        $callback! { 309, MPI_Intercomm_create_from_groups, PMPI_Intercomm_create_from_groups, generic, i32, (local_group, local_leader, remote_group, remote_leader, stringtag, info, errhandler, newintercomm) }
        $callback! { 310, MPI_Intercomm_merge, PMPI_Intercomm_merge, intercomm_merge, i32, (intercomm, high, newintracomm) }
        $callback! { 311, MPI_Iprobe, PMPI_Iprobe, iprobe, i32, (source, tag, comm, flag, status) }
        $callback! { 312, MPI_Irecv, PMPI_Irecv, irecv, i32, (buf, count, datatype, source, tag, comm, request) }
        $callback! { 313, MPI_Irecv_c, PMPI_Irecv_c, irecv, i32, (buf, count, datatype, source, tag, comm, request) }
        $callback! { 314, MPI_Ireduce, PMPI_Ireduce, icollective, i32, (sendbuf, recvbuf, count, datatype, op, root, comm, request) }
        $callback! { 315, MPI_Ireduce_c, PMPI_Ireduce_c, icollective, i32, (sendbuf, recvbuf, count, datatype, op, root, comm, request) }
        $callback! { 316, MPI_Ireduce_scatter, PMPI_Ireduce_scatter, icollective, i32, (sendbuf, recvbuf, recvcounts, datatype, op, comm, request) }
        $callback! { 317, MPI_Ireduce_scatter_block, PMPI_Ireduce_scatter_block, icollective, i32, (sendbuf, recvbuf, recvcount, datatype, op, comm, request) }
        $callback! { 318, MPI_Ireduce_scatter_block_c, PMPI_Ireduce_scatter_block_c, icollective, i32, (sendbuf, recvbuf, recvcount, datatype, op, comm, request) }
        $callback! { 319, MPI_Ireduce_scatter_c, PMPI_Ireduce_scatter_c, icollective, i32, (sendbuf, recvbuf, recvcounts, datatype, op, comm, request) }
        $callback! { 320, MPI_Irsend, PMPI_Irsend, isend, i32, (buf, count, datatype, dest, tag, comm, request) }
        $callback! { 321, MPI_Irsend_c, PMPI_Irsend_c, isend, i32, (buf, count, datatype, dest, tag, comm, request) }
        $callback! { 322, MPI_Is_thread_main, PMPI_Is_thread_main, local, i32, (flag) }
        $callback! { 323, MPI_Iscan, PMPI_Iscan, icollective, i32, (sendbuf, recvbuf, count, datatype, op, comm, request) }
        $callback! { 324, MPI_Iscan_c, PMPI_Iscan_c, icollective, i32, (sendbuf, recvbuf, count, datatype, op, comm, request) }
        $callback! { 325, MPI_Iscatter, PMPI_Iscatter, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request) }
        $callback! { 326, MPI_Iscatter_c, PMPI_Iscatter_c, icollective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request) }
        $callback! { 327, MPI_Iscatterv, PMPI_Iscatterv, icollective, i32, (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request) }
        $callback! { 328, MPI_Iscatterv_c, PMPI_Iscatterv_c, icollective, i32, (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, request) }
        $callback! { 329, MPI_Isend, PMPI_Isend, isend, i32, (buf, count, datatype, dest, tag, comm, request) }
        $callback! { 330, MPI_Isend_c, PMPI_Isend_c, isend, i32, (buf, count, datatype, dest, tag, comm, request) }
        $callback! { 331, MPI_Isendrecv, PMPI_Isendrecv, isendrecv, i32, (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, request) }
        $callback! { 332, MPI_Isendrecv_c, PMPI_Isendrecv_c, isendrecv, i32, (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, request) }
        $callback! { 333, MPI_Isendrecv_replace, PMPI_Isendrecv_replace, isendrecv_replace, i32, (buf, count, datatype, dest, sendtag, source, recvtag, comm, request) }
        $callback! { 334, MPI_Isendrecv_replace_c, PMPI_Isendrecv_replace_c, isendrecv_replace, i32, (buf, count, datatype, dest, sendtag, source, recvtag, comm, request) }
        $callback! { 335, MPI_Issend, PMPI_Issend, isend, i32, (buf, count, datatype, dest, tag, comm, request) }
        $callback! { 336, MPI_Issend_c, PMPI_Issend_c, isend, i32, (buf, count, datatype, dest, tag, comm, request) }
        $callback! { 337, MPI_Keyval_create, PMPI_Keyval_create, generic, i32, (copy_fn, delete_fn, keyval, extra_state) }
        $callback! { 338, MPI_Keyval_free, PMPI_Keyval_free, generic, i32, (keyval) }
        $callback! { 339, MPI_Lookup_name, PMPI_Lookup_name, generic, i32, (service_name, info, port_name) }
        $callback! { 340, MPI_Message_c2f, PMPI_Message_c2f, convert, word, (message) }
        $callback! { 341, MPI_Message_f2c, PMPI_Message_f2c, convert, word, (message) }
        $callback! { 342, MPI_Mprobe, PMPI_Mprobe, mprobe, i32, (source, tag, comm, message, status) }
        $callback! { 343, MPI_Mrecv, PMPI_Mrecv, mrecv, i32, (buf, count, datatype, message, status) }
        $callback! { 344, MPI_Mrecv_c, PMPI_Mrecv_c, mrecv, i32, (buf, count, datatype, message, status) }
        $callback! { 345, MPI_Neighbor_allgather, PMPI_Neighbor_allgather, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) }
        $callback! { 346, MPI_Neighbor_allgather_c, PMPI_Neighbor_allgather_c, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) }
        $callback! { 347, MPI_Neighbor_allgather_init, PMPI_Neighbor_allgather_init, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request) }
        $callback! { 348, MPI_Neighbor_allgather_init_c, PMPI_Neighbor_allgather_init_c, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request) }
        $callback! { 349, MPI_Neighbor_allgatherv, PMPI_Neighbor_allgatherv, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm) }
        $callback! { 350, MPI_Neighbor_allgatherv_c, PMPI_Neighbor_allgatherv_c, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm) }
        $callback! { 351, MPI_Neighbor_allgatherv_init, PMPI_Neighbor_allgatherv_init, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info, request) }
        $callback! { 352, MPI_Neighbor_allgatherv_init_c, PMPI_Neighbor_allgatherv_init_c, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, info, request) }
        $callback! { 353, MPI_Neighbor_alltoall, PMPI_Neighbor_alltoall, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) }
        $callback! { 354, MPI_Neighbor_alltoall_c, PMPI_Neighbor_alltoall_c, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) }
        $callback! { 355, MPI_Neighbor_alltoall_init, PMPI_Neighbor_alltoall_init, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request) }
        $callback! { 356, MPI_Neighbor_alltoall_init_c, PMPI_Neighbor_alltoall_init_c, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request) }
        $callback! { 357, MPI_Neighbor_alltoallv, PMPI_Neighbor_alltoallv, collective, i32, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm) }
        $callback! { 358, MPI_Neighbor_alltoallv_c, PMPI_Neighbor_alltoallv_c, collective, i32, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm) }
        $callback! { 359, MPI_Neighbor_alltoallv_init, PMPI_Neighbor_alltoallv_init, collective_init, i32, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info, request) }
        $callback! { 360, MPI_Neighbor_alltoallv_init_c, PMPI_Neighbor_alltoallv_init_c, collective_init, i32, (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info, request) }
        $callback! { 361, MPI_Neighbor_alltoallw, PMPI_Neighbor_alltoallw, collective, i32, (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm) }
        $callback! { 362, MPI_Neighbor_alltoallw_c, PMPI_Neighbor_alltoallw_c, collective, i32, (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm) }
        $callback! { 363, MPI_Neighbor_alltoallw_init, PMPI_Neighbor_alltoallw_init, collective_init, i32, (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info, request) }
        $callback! { 364, MPI_Neighbor_alltoallw_init_c, PMPI_Neighbor_alltoallw_init_c, collective_init, i32, (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info, request) }
        $callback! { 365, MPI_Op_c2f, PMPI_Op_c2f, convert, word, (op) }
        $callback! { 366, MPI_Op_commutative, PMPI_Op_commutative, local, i32, (op, commute) }
        $callback! { 367, MPI_Op_create, PMPI_Op_create, local, i32, (function, commute, op) }
        $callback! { 368, MPI_Op_create_c, PMPI_Op_create_c, local, i32, (function, commute, op) }
        $callback! { 369, MPI_Op_f2c, PMPI_Op_f2c, convert, word, (op) }
        $callback! { 370, MPI_Op_free, PMPI_Op_free, local, i32, (op) }
        $callback! { 371, MPI_Open_port, PMPI_Open_port, generic, i32, (info, port_name) }
        $callback! { 372, MPI_Pack, PMPI_Pack, generic, i32, (inbuf, incount, datatype, outbuf, outsize, position, comm) }
        $callback! { 373, MPI_Pack_c, PMPI_Pack_c, generic, i32, (inbuf, incount, datatype, outbuf, outsize, position, comm) }
        $callback! { 374, MPI_Pack_external, PMPI_Pack_external, generic, i32, (datarep, inbuf, incount, datatype, outbuf, outsize, position) }
        $callback! { 375, MPI_Pack_external_c, PMPI_Pack_external_c, generic, i32, (datarep, inbuf, incount, datatype, outbuf, outsize, position) }
        $callback! { 376, MPI_Pack_external_size, PMPI_Pack_external_size, local, i32, (datarep, incount, datatype, size) }
        $callback! { 377, MPI_Pack_external_size_c, PMPI_Pack_external_size_c, local, i32, (datarep, incount, datatype, size) }
        $callback! { 378, MPI_Pack_size, PMPI_Pack_size, local, i32, (incount, datatype, comm, size) }
        $callback! { 379, MPI_Pack_size_c, PMPI_Pack_size_c, local, i32, (incount, datatype, comm, size) }
        $callback! { 380, MPI_Parrived, PMPI_Parrived, parrived, i32, (request, partition, flag) }
        $callback! { 381, MPI_Pcontrol, PMPI_Pcontrol, pcontrol, i32, (level) }
        $callback! { 382, MPI_Pready, PMPI_Pready, generic, i32, (partition, request) }
        $callback! { 383, MPI_Pready_list, PMPI_Pready_list, generic, i32, (length, array_of_partitions, request) }
        $callback! { 384, MPI_Pready_range, PMPI_Pready_range, generic, i32, (partition_low, partition_high, request) }
        $callback! { 385, MPI_Precv_init, PMPI_Precv_init, precv_init, i32, (buf, partitions, count, datatype, dest, tag, comm, info, request) }
        $callback! { 386, MPI_Probe, PMPI_Probe, generic, i32, (source, tag, comm, status) }
        $callback! { 387, MPI_Psend_init, PMPI_Psend_init, psend_init, i32, (buf, partitions, count, datatype, dest, tag, comm, info, request) }
        $callback! { 388, MPI_Publish_name, PMPI_Publish_name, generic, i32, (service_name, info, port_name) }
        $callback! { 389, MPI_Put, PMPI_Put, transfer, i32, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win) }
        $callback! { 390, MPI_Put_c, PMPI_Put_c, transfer, i32, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win) }
        $callback! { 391, MPI_Query_thread, PMPI_Query_thread, local, i32, (provided) }
        $callback! { 392, MPI_Raccumulate, PMPI_Raccumulate, transfer, i32, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request) }
        $callback! { 393, MPI_Raccumulate_c, PMPI_Raccumulate_c, transfer, i32, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request) }
        $callback! { 394, MPI_Recv, PMPI_Recv, recv, i32, (buf, count, datatype, source, tag, comm, status) }
        $callback! { 395, MPI_Recv_c, PMPI_Recv_c, recv, i32, (buf, count, datatype, source, tag, comm, status) }
        $callback! { 396, MPI_Recv_init, PMPI_Recv_init, recv_init, i32, (buf, count, datatype, source, tag, comm, request) }
        $callback! { 397, MPI_Recv_init_c, PMPI_Recv_init_c, recv_init, i32, (buf, count, datatype, source, tag, comm, request) }
        $callback! { 398, MPI_Reduce, PMPI_Reduce, collective, i32, (sendbuf, recvbuf, count, datatype, op, root, comm) }
        $callback! { 399, MPI_Reduce_c, PMPI_Reduce_c, collective, i32, (sendbuf, recvbuf, count, datatype, op, root, comm) }
        $callback! { 400, MPI_Reduce_init, PMPI_Reduce_init, collective_init, i32, (sendbuf, recvbuf, count, datatype, op, root, comm, info, request) }
        $callback! { 401, MPI_Reduce_init_c, PMPI_Reduce_init_c, collective_init, i32, (sendbuf, recvbuf, count, datatype, op, root, comm, info, request) }
        $callback! { 402, MPI_Reduce_local, PMPI_Reduce_local, generic, i32, (inbuf, inoutbuf, count, datatype, op) }
        $callback! { 403, MPI_Reduce_local_c, PMPI_Reduce_local_c, generic, i32, (inbuf, inoutbuf, count, datatype, op) }
        $callback! { 404, MPI_Reduce_scatter, PMPI_Reduce_scatter, collective, i32, (sendbuf, recvbuf, recvcounts, datatype, op, comm) }
        $callback! { 405, MPI_Reduce_scatter_block, PMPI_Reduce_scatter_block, collective, i32, (sendbuf, recvbuf, recvcount, datatype, op, comm) }
        $callback! { 406, MPI_Reduce_scatter_block_c, PMPI_Reduce_scatter_block_c, collective, i32, (sendbuf, recvbuf, recvcount, datatype, op, comm) }
        $callback! { 407, MPI_Reduce_scatter_block_init, PMPI_Reduce_scatter_block_init, collective_init, i32, (sendbuf, recvbuf, recvcount, datatype, op, comm, info, request) }
        $callback! { 408, MPI_Reduce_scatter_block_init_c, PMPI_Reduce_scatter_block_init_c, collective_init, i32, (sendbuf, recvbuf, recvcount, datatype, op, comm, info, request) }
        $callback! { 409, MPI_Reduce_scatter_c, PMPI_Reduce_scatter_c, collective, i32, (sendbuf, recvbuf, recvcounts, datatype, op, comm) }
        $callback! { 410, MPI_Reduce_scatter_init, PMPI_Reduce_scatter_init, collective_init, i32, (sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request) }
        $callback! { 411, MPI_Reduce_scatter_init_c, PMPI_Reduce_scatter_init_c, collective_init, i32, (sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request) }
        $callback! { 412, MPI_Register_datarep, PMPI_Register_datarep, generic, i32, (datarep, read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state) }
        $callback! { 413, MPI_Register_datarep_c, PMPI_Register_datarep_c, generic, i32, (datarep, read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state) }
        $callback! { 414, MPI_Request_c2f, PMPI_Request_c2f, convert, word, (request) }
        $callback! { 415, MPI_Request_f2c, PMPI_Request_f2c, convert, word, (request) }
        $callback! { 416, MPI_Request_free, PMPI_Request_free, request_free, i32, (request) }
        $callback! { 417, MPI_Request_get_status, PMPI_Request_get_status, request_get_status, i32, (request, flag, status) }
        $callback! { 418, MPI_Rget, PMPI_Rget, transfer, i32, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request) }
        $callback! { 419, MPI_Rget_accumulate, PMPI_Rget_accumulate, transfer, i32, (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request) }
        $callback! { 420, MPI_Rget_accumulate_c, PMPI_Rget_accumulate_c, transfer, i32, (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype, target_rank, target_disp, target_count, target_datatype, op, win, request) }
        $callback! { 421, MPI_Rget_c, PMPI_Rget_c, transfer, i32, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request) }
        $callback! { 422, MPI_Rput, PMPI_Rput, transfer, i32, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request) }
        $callback! { 423, MPI_Rput_c, PMPI_Rput_c, transfer, i32, (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype, win, request) }
        $callback! { 424, MPI_Rsend, PMPI_Rsend, send, i32, (buf, count, datatype, dest, tag, comm) }
        $callback! { 425, MPI_Rsend_c, PMPI_Rsend_c, send, i32, (buf, count, datatype, dest, tag, comm) }
        $callback! { 426, MPI_Rsend_init, PMPI_Rsend_init, send_init, i32, (buf, count, datatype, dest, tag, comm, request) }
        $callback! { 427, MPI_Rsend_init_c, PMPI_Rsend_init_c, send_init, i32, (buf, count, datatype, dest, tag, comm, request) }
        $callback! { 428, MPI_Scan, PMPI_Scan, collective, i32, (sendbuf, recvbuf, count, datatype, op, comm) }
        $callback! { 429, MPI_Scan_c, PMPI_Scan_c, collective, i32, (sendbuf, recvbuf, count, datatype, op, comm) }
        $callback! { 430, MPI_Scan_init, PMPI_Scan_init, collective_init, i32, (sendbuf, recvbuf, count, datatype, op, comm, info, request) }
        $callback! { 431, MPI_Scan_init_c, PMPI_Scan_init_c, collective_init, i32, (sendbuf, recvbuf, count, datatype, op, comm, info, request) }
        $callback! { 432, MPI_Scatter, PMPI_Scatter, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm) }
        $callback! { 433, MPI_Scatter_c, PMPI_Scatter_c, collective, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm) }
        $callback! { 434, MPI_Scatter_init, PMPI_Scatter_init, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request) }
        $callback! { 435, MPI_Scatter_init_c, PMPI_Scatter_init_c, collective_init, i32, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request) }
        $callback! { 436, MPI_Scatterv, PMPI_Scatterv, collective, i32, (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm) }
        $callback! { 437, MPI_Scatterv_c, PMPI_Scatterv_c, collective, i32, (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm) }
        $callback! { 438, MPI_Scatterv_init, PMPI_Scatterv_init, collective_init, i32, (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request) }
        $callback! { 439, MPI_Scatterv_init_c, PMPI_Scatterv_init_c, collective_init, i32, (sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request) }
        $callback! { 440, MPI_Send, PMPI_Send, send, i32, (buf, count, datatype, dest, tag, comm) }
        $callback! { 441, MPI_Send_c, PMPI_Send_c, send, i32, (buf, count, datatype, dest, tag, comm) }
        $callback! { 442, MPI_Send_init, PMPI_Send_init, send_init, i32, (buf, count, datatype, dest, tag, comm, request) }
        $callback! { 443, MPI_Send_init_c, PMPI_Send_init_c, send_init, i32, (buf, count, datatype, dest, tag, comm, request) }
        $callback! { 444, MPI_Sendrecv, PMPI_Sendrecv, sendrecv, i32, (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status) }
        $callback! { 445, MPI_Sendrecv_c, PMPI_Sendrecv_c, sendrecv, i32, (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status) }
        $callback! { 446, MPI_Sendrecv_replace, PMPI_Sendrecv_replace, sendrecv_replace, i32, (buf, count, datatype, dest, sendtag, source, recvtag, comm, status) }
        $callback! { 447, MPI_Sendrecv_replace_c, PMPI_Sendrecv_replace_c, sendrecv_replace, i32, (buf, count, datatype, dest, sendtag, source, recvtag, comm, status) }
        $callback! { 448, MPI_Session_call_errhandler, PMPI_Session_call_errhandler, generic, i32, (session, errorcode) }
        $callback! { 449, MPI_Session_create_errhandler, PMPI_Session_create_errhandler, generic, i32, (session_errhandler_fn, errhandler) }
        $callback! { 450, MPI_Session_finalize, PMPI_Session_finalize, generic, i32, (session) }
        $callback! { 451, MPI_Session_get_errhandler, PMPI_Session_get_errhandler, generic, i32, (session, errhandler) }
        $callback! { 452, MPI_Session_get_info, PMPI_Session_get_info, generic, i32, (session, info_used) }
        $callback! { 453, MPI_Session_get_nth_pset, PMPI_Session_get_nth_pset, generic, i32, (session, info, n, pset_len, pset_name) }
        $callback! { 454, MPI_Session_get_num_psets, PMPI_Session_get_num_psets, generic, i32, (session, info, npset_names) }
        $callback! { 455, MPI_Session_get_pset_info, PMPI_Session_get_pset_info, generic, i32, (session, pset_name, info) }
        $callback! { 456, MPI_Session_init, PMPI_Session_init, generic, i32, (info, errhandler, session) }
        $callback! { 457, MPI_Session_set_errhandler, PMPI_Session_set_errhandler, generic, i32, (session, errhandler) }
        $callback! { 458, MPI_Ssend, PMPI_Ssend, send, i32, (buf, count, datatype, dest, tag, comm) }
        $callback! { 459, MPI_Ssend_c, PMPI_Ssend_c, send, i32, (buf, count, datatype, dest, tag, comm) }
        $callback! { 460, MPI_Ssend_init, PMPI_Ssend_init, send_init, i32, (buf, count, datatype, dest, tag, comm, request) }
        $callback! { 461, MPI_Ssend_init_c, PMPI_Ssend_init_c, send_init, i32, (buf, count, datatype, dest, tag, comm, request) }
        $callback! { 462, MPI_Start, PMPI_Start, start, i32, (request) }
        $callback! { 463, MPI_Startall, PMPI_Startall, startall, i32, (count, array_of_requests) }
        $callback! { 464, MPI_Status_c2f, PMPI_Status_c2f, convert, i32, (c_status, f_status) }
        $callback! { 465, MPI_Status_c2f08, PMPI_Status_c2f08, convert, i32, (c_status, f08_status) }
        $callback! { 466, MPI_Status_f082c, PMPI_Status_f082c, convert, i32, (f08_status, c_status) }
        $callback! { 467, MPI_Status_f082f, PMPI_Status_f082f, convert, i32, (f08_status, f_status) }
        $callback! { 468, MPI_Status_f2c, PMPI_Status_f2c, convert, i32, (f_status, c_status) }
        $callback! { 469, MPI_Status_f2f08, PMPI_Status_f2f08, convert, i32, (f_status, f08_status) }
        $callback! { 470, MPI_Status_set_cancelled, PMPI_Status_set_cancelled, local, i32, (status, flag) }
        $callback! { 471, MPI_Status_set_elements, PMPI_Status_set_elements, generic, i32, (status, datatype, count) }
        $callback! { 472, MPI_Status_set_elements_x, PMPI_Status_set_elements_x, generic, i32, (status, datatype, count) }
        $callback! { 473, MPI_T_category_changed, PMPI_T_category_changed, generic, i32, (update_number) }
        $callback! { 474, MPI_T_category_get_categories, PMPI_T_category_get_categories, generic, i32, (cat_index, len, indices) }
        $callback! { 475, MPI_T_category_get_cvars, PMPI_T_category_get_cvars, generic, i32, (cat_index, len, indices) }
        $callback! { 476, MPI_T_category_get_events, PMPI_T_category_get_events, generic, i32, (cat_index, len, indices) }
        $callback! { 477, MPI_T_category_get_index, PMPI_T_category_get_index, generic, i32, (name, cat_index) }
        $callback! { 478, MPI_T_category_get_info, PMPI_T_category_get_info, generic, i32, (cat_index, name, name_len, desc, desc_len, num_cvars, num_pvars, num_categories) }
        $callback! { 479, MPI_T_category_get_num, PMPI_T_category_get_num, generic, i32, (num_cat) }
        $callback! { 480, MPI_T_category_get_num_events, PMPI_T_category_get_num_events, generic, i32, (cat_index, num_events) }
        $callback! { 481, MPI_T_category_get_pvars, PMPI_T_category_get_pvars, generic, i32, (cat_index, len, indices) }
        $callback! { 482, MPI_T_cvar_get_index, PMPI_T_cvar_get_index, generic, i32, (name, cvar_index) }
        $callback! { 483, MPI_T_cvar_get_info, PMPI_T_cvar_get_info, generic, i32, (cvar_index, name, name_len, verbosity, datatype, enumtype, desc, desc_len, bind, scope) }
        $callback! { 484, MPI_T_cvar_get_num, PMPI_T_cvar_get_num, generic, i32, (num_cvar) }
        $callback! { 485, MPI_T_cvar_handle_alloc, PMPI_T_cvar_handle_alloc, generic, i32, (cvar_index, obj_handle, handle, count) }
        $callback! { 486, MPI_T_cvar_handle_free, PMPI_T_cvar_handle_free, generic, i32, (handle) }
        $callback! { 487, MPI_T_cvar_read, PMPI_T_cvar_read, generic, i32, (handle, buf) }
        $callback! { 488, MPI_T_cvar_write, PMPI_T_cvar_write, generic, i32, (handle, buf) }
        $callback! { 489, MPI_T_enum_get_info, PMPI_T_enum_get_info, generic, i32, (enumtype, num, name, name_len) }
        $callback! { 490, MPI_T_enum_get_item, PMPI_T_enum_get_item, generic, i32, (enumtype, indx, value, name, name_len) }
        $callback! { 491, MPI_T_event_callback_get_info, PMPI_T_event_callback_get_info, generic, i32, (event_registration, cb_safety, info_used) }
        $callback! { 492, MPI_T_event_callback_set_info, PMPI_T_event_callback_set_info, generic, i32, (event_registration, cb_safety, info) }
        $callback! { 493, MPI_T_event_copy, PMPI_T_event_copy, generic, i32, (event_instance, buffer) }
        $callback! { 494, MPI_T_event_get_index, PMPI_T_event_get_index, generic, i32, (name, event_index) }
        $callback! { 495, MPI_T_event_get_info, PMPI_T_event_get_info, generic, i32, (event_index, name, name_len, verbosity, array_of_datatypes, array_of_displacements, num_elements, enumtype, info, desc, desc_len, bind) }
        $callback! { 496, MPI_T_event_get_num, PMPI_T_event_get_num, generic, i32, (num_events) }
        $callback! { 497, MPI_T_event_get_source, PMPI_T_event_get_source, generic, i32, (event_instance, source_index) }
        $callback! { 498, MPI_T_event_get_timestamp, PMPI_T_event_get_timestamp, generic, i32, (event_instance, event_timestamp) }
        $callback! { 499, MPI_T_event_handle_alloc, PMPI_T_event_handle_alloc, generic, i32, (event_index, obj_handle, info, event_registration) }
        $callback! { 500, MPI_T_event_handle_free, PMPI_T_event_handle_free, generic, i32, (event_registration, user_data, free_cb_function) }
        $callback! { 501, MPI_T_event_handle_get_info, PMPI_T_event_handle_get_info, generic, i32, (event_registration, info_used) }
        $callback! { 502, MPI_T_event_handle_set_info, PMPI_T_event_handle_set_info, generic, i32, (event_registration, info) }
        $callback! { 503, MPI_T_event_read, PMPI_T_event_read, generic, i32, (event_instance, element_index, buffer) }
        $callback! { 504, MPI_T_event_register_callback, PMPI_T_event_register_callback, generic, i32, (event_registration, cb_safety, info, user_data, event_cb_function) }
        $callback! { 505, MPI_T_event_set_dropped_handler, PMPI_T_event_set_dropped_handler, generic, i32, (event_registration, dropped_cb_function) }
        $callback! { 506, MPI_T_finalize, PMPI_T_finalize, generic, i32, () }
        $callback! { 507, MPI_T_init_thread, PMPI_T_init_thread, generic, i32, (required, provided) }
        $callback! { 508, MPI_T_pvar_get_index, PMPI_T_pvar_get_index, generic, i32, (name, var_class, pvar_index) }
        $callback! { 509, MPI_T_pvar_get_info, PMPI_T_pvar_get_info, generic, i32, (pvar_index, name, name_len, verbosity, var_class, datatype, enumtype, desc, desc_len, bind, readonly, continuous, atomic) }
        $callback! { 510, MPI_T_pvar_get_num, PMPI_T_pvar_get_num, generic, i32, (num_pvar) }
        $callback! { 511, MPI_T_pvar_handle_alloc, PMPI_T_pvar_handle_alloc, generic, i32, (session, pvar_index, obj_handle, handle, count) }
        $callback! { 512, MPI_T_pvar_handle_free, PMPI_T_pvar_handle_free, generic, i32, (session, handle) }
        $callback! { 513, MPI_T_pvar_read, PMPI_T_pvar_read, generic, i32, (session, handle, buf) }
        $callback! { 514, MPI_T_pvar_readreset, PMPI_T_pvar_readreset, generic, i32, (session, handle, buf) }
        $callback! { 515, MPI_T_pvar_reset, PMPI_T_pvar_reset, generic, i32, (session, handle) }
        $callback! { 516, MPI_T_pvar_session_create, PMPI_T_pvar_session_create, generic, i32, (session) }
        $callback! { 517, MPI_T_pvar_session_free, PMPI_T_pvar_session_free, generic, i32, (session) }
        $callback! { 518, MPI_T_pvar_start, PMPI_T_pvar_start, generic, i32, (session, handle) }
        $callback! { 519, MPI_T_pvar_stop, PMPI_T_pvar_stop, generic, i32, (session, handle) }
        $callback! { 520, MPI_T_pvar_write, PMPI_T_pvar_write, generic, i32, (session, handle, buf) }
        $callback! { 521, MPI_T_source_get_info, PMPI_T_source_get_info, generic, i32, (source_index, name, name_len, desc, desc_len, ordering, ticks_per_second, max_ticks, info) }
        $callback! { 522, MPI_T_source_get_num, PMPI_T_source_get_num, generic, i32, (num_sources) }
        $callback! { 523, MPI_T_source_get_timestamp, PMPI_T_source_get_timestamp, generic, i32, (source_index, timestamp) }
        $callback! { 524, MPI_Test, PMPI_Test, test, i32, (request, flag, status) }
        $callback! { 525, MPI_Test_cancelled, PMPI_Test_cancelled, local, i32, (status, flag) }
        $callback! { 526, MPI_Testall, PMPI_Testall, testall, i32, (count, array_of_requests, flag, array_of_statuses) }
        $callback! { 527, MPI_Testany, PMPI_Testany, testany, i32, (count, array_of_requests, indx, flag, status) }
        $callback! { 528, MPI_Testsome, PMPI_Testsome, testsome, i32, (incount, array_of_requests, outcount, array_of_indices, array_of_statuses) }
        $callback! { 529, MPI_Topo_test, PMPI_Topo_test, local, i32, (comm, status) }
        $callback! { 530, MPI_Type_c2f, PMPI_Type_c2f, convert, word, (datatype) }
        $callback! { 531, MPI_Type_commit, PMPI_Type_commit, local, i32, (datatype) }
        $callback! { 532, MPI_Type_contiguous, PMPI_Type_contiguous, local, i32, (count, oldtype, newtype) }
        $callback! { 533, MPI_Type_contiguous_c, PMPI_Type_contiguous_c, local, i32, (count, oldtype, newtype) }
        $callback! { 534, MPI_Type_create_darray, PMPI_Type_create_darray, local, i32, (size, rank, ndims, array_of_gsizes, array_of_distribs, array_of_dargs, array_of_psizes, order, oldtype, newtype) }
        $callback! { 535, MPI_Type_create_darray_c, PMPI_Type_create_darray_c, local, i32, (size, rank, ndims, array_of_gsizes, array_of_distribs, array_of_dargs, array_of_psizes, order, oldtype, newtype) }
        $callback! { 536, MPI_Type_create_f90_complex, PMPI_Type_create_f90_complex, local, i32, (p, r, newtype) }
        $callback! { 537, MPI_Type_create_f90_integer, PMPI_Type_create_f90_integer, local, i32, (r, newtype) }
        $callback! { 538, MPI_Type_create_f90_real, PMPI_Type_create_f90_real, local, i32, (p, r, newtype) }
        $callback! { 539, MPI_Type_create_hindexed, PMPI_Type_create_hindexed, local, i32, (count, array_of_blocklengths, array_of_displacements, oldtype, newtype) }
        $callback! { 540, MPI_Type_create_hindexed_block, PMPI_Type_create_hindexed_block, local, i32, (count, blocklength, array_of_displacements, oldtype, newtype) }
        $callback! { 541, MPI_Type_create_hindexed_block_c, PMPI_Type_create_hindexed_block_c, local, i32, (count, blocklength, array_of_displacements, oldtype, newtype) }
        $callback! { 542, MPI_Type_create_hindexed_c, PMPI_Type_create_hindexed_c, local, i32, (count, array_of_blocklengths, array_of_displacements, oldtype, newtype) }
        $callback! { 543, MPI_Type_create_hvector, PMPI_Type_create_hvector, local, i32, (count, blocklength, stride, oldtype, newtype) }
        $callback! { 544, MPI_Type_create_hvector_c, PMPI_Type_create_hvector_c, local, i32, (count, blocklength, stride, oldtype, newtype) }
        $callback! { 545, MPI_Type_create_indexed_block, PMPI_Type_create_indexed_block, local, i32, (count, blocklength, array_of_displacements, oldtype, newtype) }
        $callback! { 546, MPI_Type_create_indexed_block_c, PMPI_Type_create_indexed_block_c, local, i32, (count, blocklength, array_of_displacements, oldtype, newtype) }
        $callback! { 547, MPI_Type_create_keyval, PMPI_Type_create_keyval, local, i32, (type_copy_attr_fn, type_delete_attr_fn, type_keyval, extra_state) }
        $callback! { 548, MPI_Type_create_resized, PMPI_Type_create_resized, local, i32, (oldtype, lb, extent, newtype) }
        $callback! { 549, MPI_Type_create_resized_c, PMPI_Type_create_resized_c, local, i32, (oldtype, lb, extent, newtype) }
        $callback! { 550, MPI_Type_create_struct, PMPI_Type_create_struct, local, i32, (count, array_of_blocklengths, array_of_displacements, array_of_types, newtype) }
        $callback! { 551, MPI_Type_create_struct_c, PMPI_Type_create_struct_c, local, i32, (count, array_of_blocklengths, array_of_displacements, array_of_types, newtype) }
        $callback! { 552, MPI_Type_create_subarray, PMPI_Type_create_subarray, local, i32, (ndims, array_of_sizes, array_of_subsizes, array_of_starts, order, oldtype, newtype) }
        $callback! { 553, MPI_Type_create_subarray_c, PMPI_Type_create_subarray_c, local, i32, (ndims, array_of_sizes, array_of_subsizes, array_of_starts, order, oldtype, newtype) }
        $callback! { 554, MPI_Type_delete_attr, PMPI_Type_delete_attr, generic, i32, (datatype, type_keyval) }
        $callback! { 555, MPI_Type_dup, PMPI_Type_dup, generic, i32, (oldtype, newtype) }
        $callback! { 556, MPI_Type_extent, PMPI_Type_extent, local, i32, (datatype, extent) }
        $callback! { 557, MPI_Type_f2c, PMPI_Type_f2c, convert, word, (datatype) }
        $callback! { 558, MPI_Type_free, PMPI_Type_free, type_free, i32, (datatype) }
        $callback! { 559, MPI_Type_free_keyval, PMPI_Type_free_keyval, generic, i32, (type_keyval) }
        $callback! { 560, MPI_Type_get_attr, PMPI_Type_get_attr, local, i32, (datatype, type_keyval, attribute_val, flag) }
        $callback! { 561, MPI_Type_get_contents, PMPI_Type_get_contents, local, i32, (datatype, max_integers, max_addresses, max_datatypes, array_of_integers, array_of_addresses, array_of_datatypes) }
        $callback! { 562, MPI_Type_get_contents_c, PMPI_Type_get_contents_c, local, i32, (datatype, max_integers, max_addresses, max_large_counts, max_datatypes, array_of_integers, array_of_addresses, array_of_large_counts, array_of_datatypes) }
        $callback! { 563, MPI_Type_get_envelope, PMPI_Type_get_envelope, local, i32, (datatype, num_integers, num_addresses, num_datatypes, combiner) }
        $callback! { 564, MPI_Type_get_envelope_c, PMPI_Type_get_envelope_c, local, i32, (datatype, num_integers, num_addresses, num_large_counts, num_datatypes, combiner) }
        $callback! { 565, MPI_Type_get_extent, PMPI_Type_get_extent, local, i32, (datatype, lb, extent) }
        $callback! { 566, MPI_Type_get_extent_c, PMPI_Type_get_extent_c, local, i32, (datatype, lb, extent) }
        $callback! { 567, MPI_Type_get_extent_x, PMPI_Type_get_extent_x, local, i32, (datatype, lb, extent) }
        $callback! { 568, MPI_Type_get_name, PMPI_Type_get_name, local, i32, (datatype, type_name, resultlen) }
        $callback! { 569, MPI_Type_get_true_extent, PMPI_Type_get_true_extent, local, i32, (datatype, true_lb, true_extent) }
        $callback! { 570, MPI_Type_get_true_extent_c, PMPI_Type_get_true_extent_c, local, i32, (datatype, true_lb, true_extent) }
        $callback! { 571, MPI_Type_get_true_extent_x, PMPI_Type_get_true_extent_x, local, i32, (datatype, true_lb, true_extent) }
        $callback! { 572, MPI_Type_hindexed, PMPI_Type_hindexed, local, i32, (count, array_of_blocklengths, array_of_displacements, oldtype, newtype) }
        $callback! { 573, MPI_Type_hvector, PMPI_Type_hvector, local, i32, (count, blocklength, stride, oldtype, newtype) }
        $callback! { 574, MPI_Type_indexed, PMPI_Type_indexed, local, i32, (count, array_of_blocklengths, array_of_displacements, oldtype, newtype) }
        $callback! { 575, MPI_Type_indexed_c, PMPI_Type_indexed_c, local, i32, (count, array_of_blocklengths, array_of_displacements, oldtype, newtype) }
        $callback! { 576, MPI_Type_lb, PMPI_Type_lb, local, i32, (datatype, displacement) }
        $callback! { 577, MPI_Type_match_size, PMPI_Type_match_size, local, i32, (typeclass, size, datatype) }
        $callback! { 578, MPI_Type_set_attr, PMPI_Type_set_attr, generic, i32, (datatype, type_keyval, attribute_val) }
        $callback! { 579, MPI_Type_set_name, PMPI_Type_set_name, type_set_name, i32, (datatype, type_name) }
        $callback! { 580, MPI_Type_size, PMPI_Type_size, local, i32, (datatype, size) }
        $callback! { 581, MPI_Type_size_c, PMPI_Type_size_c, local, i32, (datatype, size) }
        $callback! { 582, MPI_Type_size_x, PMPI_Type_size_x, local, i32, (datatype, size) }
        $callback! { 583, MPI_Type_struct, PMPI_Type_struct, local, i32, (count, array_of_blocklengths, array_of_displacements, array_of_types, newtype) }
        $callback! { 584, MPI_Type_ub, PMPI_Type_ub, local, i32, (datatype, displacement) }
        $callback! { 585, MPI_Type_vector, PMPI_Type_vector, local, i32, (count, blocklength, stride, oldtype, newtype) }
        $callback! { 586, MPI_Type_vector_c, PMPI_Type_vector_c, local, i32, (count, blocklength, stride, oldtype, newtype) }
        $callback! { 587, MPI_Unpack, PMPI_Unpack, generic, i32, (inbuf, insize, position, outbuf, outcount, datatype, comm) }
        $callback! { 588, MPI_Unpack_c, PMPI_Unpack_c, generic, i32, (inbuf, insize, position, outbuf, outcount, datatype, comm) }
        $callback! { 589, MPI_Unpack_external, PMPI_Unpack_external, generic, i32, (datarep, inbuf, insize, position, outbuf, outcount, datatype) }
        $callback! { 590, MPI_Unpack_external_c, PMPI_Unpack_external_c, generic, i32, (datarep, inbuf, insize, position, outbuf, outcount, datatype) }
        $callback! { 591, MPI_Unpublish_name, PMPI_Unpublish_name, generic, i32, (service_name, info, port_name) }
        $callback! { 592, MPI_Wait, PMPI_Wait, wait, i32, (request, status) }
        $callback! { 593, MPI_Waitall, PMPI_Waitall, waitall, i32, (count, array_of_requests, array_of_statuses) }
        $callback! { 594, MPI_Waitany, PMPI_Waitany, waitany, i32, (count, array_of_requests, indx, status) }
        $callback! { 595, MPI_Waitsome, PMPI_Waitsome, waitsome, i32, (incount, array_of_requests, outcount, array_of_indices, array_of_statuses) }
        $callback! { 596, MPI_Win_allocate, PMPI_Win_allocate, win_create, i32, (size, disp_unit, info, comm, baseptr, win) }
        $callback! { 597, MPI_Win_allocate_c, PMPI_Win_allocate_c, win_create, i32, (size, disp_unit, info, comm, baseptr, win) }
        $callback! { 598, MPI_Win_allocate_shared, PMPI_Win_allocate_shared, win_create, i32, (size, disp_unit, info, comm, baseptr, win) }
        $callback! { 599, MPI_Win_allocate_shared_c, PMPI_Win_allocate_shared_c, win_create, i32, (size, disp_unit, info, comm, baseptr, win) }
        $callback! { 600, MPI_Win_attach, PMPI_Win_attach, win_attach, i32, (win, base, size) }
        $callback! { 601, MPI_Win_c2f, PMPI_Win_c2f, convert, word, (win) }
        $callback! { 602, MPI_Win_call_errhandler, PMPI_Win_call_errhandler, generic, i32, (win, errorcode) }
        $callback! { 603, MPI_Win_complete, PMPI_Win_complete, synchronise, i32, (win) }
        $callback! { 604, MPI_Win_create, PMPI_Win_create, win_create, i32, (base, size, disp_unit, info, comm, win) }
        $callback! { 605, MPI_Win_create_c, PMPI_Win_create_c, win_create, i32, (base, size, disp_unit, info, comm, win) }
        $callback! { 606, MPI_Win_create_dynamic, PMPI_Win_create_dynamic, win_create, i32, (info, comm, win) }
        $callback! { 607, MPI_Win_create_errhandler, PMPI_Win_create_errhandler, generic, i32, (win_errhandler_fn, errhandler) }
        $callback! { 608, MPI_Win_create_keyval, PMPI_Win_create_keyval, generic, i32, (win_copy_attr_fn, win_delete_attr_fn, win_keyval, extra_state) }
        $callback! { 609, MPI_Win_delete_attr, PMPI_Win_delete_attr, generic, i32, (win, win_keyval) }
        $callback! { 610, MPI_Win_detach, PMPI_Win_detach, win_detach, i32, (win, base) }
        $callback! { 611, MPI_Win_f2c, PMPI_Win_f2c, convert, word, (win) }
        $callback! { 612, MPI_Win_fence, PMPI_Win_fence, synchronise, i32, (assert, win) }
        $callback! { 613, MPI_Win_flush, PMPI_Win_flush, synchronise, i32, (rank, win) }
        $callback! { 614, MPI_Win_flush_all, PMPI_Win_flush_all, synchronise, i32, (win) }
        $callback! { 615, MPI_Win_flush_local, PMPI_Win_flush_local, synchronise, i32, (rank, win) }
        $callback! { 616, MPI_Win_flush_local_all, PMPI_Win_flush_local_all, synchronise, i32, (win) }
        $callback! { 617, MPI_Win_free, PMPI_Win_free, win_free, i32, (win) }
        $callback! { 618, MPI_Win_free_keyval, PMPI_Win_free_keyval, generic, i32, (win_keyval) }
        $callback! { 619, MPI_Win_get_attr, PMPI_Win_get_attr, generic, i32, (win, win_keyval, attribute_val, flag) }
        $callback! { 620, MPI_Win_get_errhandler, PMPI_Win_get_errhandler, generic, i32, (win, errhandler) }
        $callback! { 621, MPI_Win_get_group, PMPI_Win_get_group, generic, i32, (win, group) }
        $callback! { 622, MPI_Win_get_info, PMPI_Win_get_info, generic, i32, (win, info_used) }
        $callback! { 623, MPI_Win_get_name, PMPI_Win_get_name, generic, i32, (win, win_name, resultlen) }
        $callback! { 624, MPI_Win_lock, PMPI_Win_lock, synchronise, i32, (lock_type, rank, assert, win) }
        $callback! { 625, MPI_Win_lock_all, PMPI_Win_lock_all, synchronise, i32, (assert, win) }
        $callback! { 626, MPI_Win_post, PMPI_Win_post, synchronise, i32, (group, assert, win) }
        $callback! { 627, MPI_Win_set_attr, PMPI_Win_set_attr, generic, i32, (win, win_keyval, attribute_val) }
        $callback! { 628, MPI_Win_set_errhandler, PMPI_Win_set_errhandler, generic, i32, (win, errhandler) }
        $callback! { 629, MPI_Win_set_info, PMPI_Win_set_info, generic, i32, (win, info) }
        $callback! { 630, MPI_Win_set_name, PMPI_Win_set_name, win_set_name, i32, (win, win_name) }
        $callback! { 631, MPI_Win_shared_query, PMPI_Win_shared_query, generic, i32, (win, rank, size, disp_unit, baseptr) }
        $callback! { 632, MPI_Win_shared_query_c, PMPI_Win_shared_query_c, generic, i32, (win, rank, size, disp_unit, baseptr) }
        $callback! { 633, MPI_Win_start, PMPI_Win_start, synchronise, i32, (group, assert, win) }
        $callback! { 634, MPI_Win_sync, PMPI_Win_sync, generic, i32, (win) }
        $callback! { 635, MPI_Win_test, PMPI_Win_test, generic, i32, (win, flag) }
        $callback! { 636, MPI_Win_unlock, PMPI_Win_unlock, synchronise, i32, (rank, win) }
        $callback! { 637, MPI_Win_unlock_all, PMPI_Win_unlock_all, synchronise, i32, (win) }
        $callback! { 638, MPI_Win_wait, PMPI_Win_wait, synchronise, i32, (win) }
        $callback! { 639, MPI_Wtick, PMPI_Wtick, generic, f64, () }
        $callback! { 640, MPI_Wtime, PMPI_Wtime, generic, f64, () }
    };
}
pub(crate) use for_each_mpi_function;

/// How many functions there are.
pub(crate) const N_FUNCTIONS: usize = 641;

/// What is known of each function, by its index.
#[rustfmt::skip]
pub(crate) static FUNCTIONS: [Function; N_FUNCTIONS] = [
    Function { name: "MPI_Abort", class: Class::Abort, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Accumulate", class: Class::Accumulate, role: Role::Transfer, arity: 9, comm_arg: None, comm_ptr_arg: None, win_arg: Some(8), file_arg: None, large_count: false },
    Function { name: "MPI_Accumulate_c", class: Class::Accumulate, role: Role::Transfer, arity: 9, comm_arg: None, comm_ptr_arg: None, win_arg: Some(8), file_arg: None, large_count: true },
    Function { name: "MPI_Add_error_class", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Add_error_code", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Add_error_string", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Address", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Aint_add", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Aint_diff", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Allgather", class: Class::Allgather, role: Role::AllToAll, arity: 7, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Allgather_c", class: Class::Allgather, role: Role::AllToAll, arity: 7, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Allgather_init", class: Class::Allgather, role: Role::Manage, arity: 9, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Allgather_init_c", class: Class::Allgather, role: Role::Manage, arity: 9, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Allgatherv", class: Class::Allgatherv, role: Role::AllToAll, arity: 8, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Allgatherv_c", class: Class::Allgatherv, role: Role::AllToAll, arity: 8, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Allgatherv_init", class: Class::Allgatherv, role: Role::Manage, arity: 10, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Allgatherv_init_c", class: Class::Allgatherv, role: Role::Manage, arity: 10, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Alloc_mem", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Allreduce", class: Class::Allreduce, role: Role::AllToAll, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Allreduce_c", class: Class::Allreduce, role: Role::AllToAll, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Allreduce_init", class: Class::Allreduce, role: Role::Manage, arity: 8, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Allreduce_init_c", class: Class::Allreduce, role: Role::Manage, arity: 8, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Alltoall", class: Class::Alltoall, role: Role::AllToAll, arity: 7, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Alltoall_c", class: Class::Alltoall, role: Role::AllToAll, arity: 7, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Alltoall_init", class: Class::Alltoall, role: Role::Manage, arity: 9, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Alltoall_init_c", class: Class::Alltoall, role: Role::Manage, arity: 9, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Alltoallv", class: Class::Alltoallv, role: Role::AllToAll, arity: 9, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Alltoallv_c", class: Class::Alltoallv, role: Role::AllToAll, arity: 9, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Alltoallv_init", class: Class::Alltoallv, role: Role::Manage, arity: 11, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Alltoallv_init_c", class: Class::Alltoallv, role: Role::Manage, arity: 11, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Alltoallw", class: Class::Alltoallw, role: Role::AllToAll, arity: 9, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Alltoallw_c", class: Class::Alltoallw, role: Role::AllToAll, arity: 9, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Alltoallw_init", class: Class::Alltoallw, role: Role::Manage, arity: 11, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Alltoallw_init_c", class: Class::Alltoallw, role: Role::Manage, arity: 11, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Attr_delete", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Attr_get", class: Class::Generic, role: Role::Manage, arity: 4, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Attr_put", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Barrier", class: Class::Barrier, role: Role::Barrier, arity: 1, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Barrier_init", class: Class::Barrier, role: Role::Manage, arity: 3, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Bcast", class: Class::Bcast, role: Role::OneToAll, arity: 5, comm_arg: Some(4), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Bcast_c", class: Class::Bcast, role: Role::OneToAll, arity: 5, comm_arg: Some(4), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Bcast_init", class: Class::Bcast, role: Role::Manage, arity: 7, comm_arg: Some(4), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Bcast_init_c", class: Class::Bcast, role: Role::Manage, arity: 7, comm_arg: Some(4), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Bsend", class: Class::Send, role: Role::Transfer, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Bsend_c", class: Class::Send, role: Role::Transfer, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Bsend_init", class: Class::SendInit, role: Role::Manage, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Bsend_init_c", class: Class::SendInit, role: Role::Manage, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Buffer_attach", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Buffer_attach_c", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Buffer_detach", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Buffer_detach_c", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Cancel", class: Class::Cancel, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Cart_coords", class: Class::Local, role: Role::Manage, arity: 4, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Cart_create", class: Class::CommCreate, role: Role::Manage, arity: 6, comm_arg: Some(0), comm_ptr_arg: Some(5), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Cart_get", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Cart_map", class: Class::Generic, role: Role::Manage, arity: 5, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Cart_rank", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Cart_shift", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Cart_sub", class: Class::CommCreate, role: Role::Manage, arity: 3, comm_arg: Some(0), comm_ptr_arg: Some(2), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Cartdim_get", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Close_port", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_accept", class: Class::CommAccept, role: Role::Manage, arity: 5, comm_arg: Some(3), comm_ptr_arg: Some(4), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_c2f", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_call_errhandler", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_compare", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_connect", class: Class::CommConnect, role: Role::Manage, arity: 5, comm_arg: Some(3), comm_ptr_arg: Some(4), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_create", class: Class::CommCreate, role: Role::Manage, arity: 3, comm_arg: Some(0), comm_ptr_arg: Some(2), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_create_errhandler", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_create_from_group", class: Class::Generic, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: Some(4), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_create_group", class: Class::CommCreateGroup, role: Role::Manage, arity: 4, comm_arg: Some(0), comm_ptr_arg: Some(3), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_create_keyval", class: Class::Generic, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_delete_attr", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_disconnect", class: Class::CommDisconnect, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: Some(0), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_dup", class: Class::CommCreate, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: Some(1), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_dup_with_info", class: Class::CommCreate, role: Role::Manage, arity: 3, comm_arg: Some(0), comm_ptr_arg: Some(2), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_f2c", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_free", class: Class::CommFree, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: Some(0), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_free_keyval", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_get_attr", class: Class::Generic, role: Role::Manage, arity: 4, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_get_errhandler", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_get_info", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_get_name", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_get_parent", class: Class::CommGetParent, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: Some(0), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_group", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_idup", class: Class::CommIdup, role: Role::Manage, arity: 3, comm_arg: Some(0), comm_ptr_arg: Some(1), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_idup_with_info", class: Class::CommIdup, role: Role::Manage, arity: 4, comm_arg: Some(0), comm_ptr_arg: Some(2), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_join", class: Class::CommJoin, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: Some(1), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_rank", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_remote_group", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_remote_size", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_set_attr", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_set_errhandler", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_set_info", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_set_name", class: Class::CommSetName, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_size", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_spawn", class: Class::CommSpawn, role: Role::Create, arity: 8, comm_arg: Some(5), comm_ptr_arg: Some(6), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_spawn_multiple", class: Class::CommSpawnMultiple, role: Role::Create, arity: 9, comm_arg: Some(6), comm_ptr_arg: Some(7), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_split", class: Class::CommCreate, role: Role::Manage, arity: 4, comm_arg: Some(0), comm_ptr_arg: Some(3), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_split_type", class: Class::CommCreate, role: Role::Manage, arity: 5, comm_arg: Some(0), comm_ptr_arg: Some(4), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Comm_test_inter", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Compare_and_swap", class: Class::CompareAndSwap, role: Role::Transfer, arity: 7, comm_arg: None, comm_ptr_arg: None, win_arg: Some(6), file_arg: None, large_count: false },
    Function { name: "MPI_Dims_create", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Dist_graph_create", class: Class::CommCreate, role: Role::Manage, arity: 9, comm_arg: Some(0), comm_ptr_arg: Some(8), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Dist_graph_create_adjacent", class: Class::CommCreate, role: Role::Manage, arity: 10, comm_arg: Some(0), comm_ptr_arg: Some(9), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Dist_graph_neighbors", class: Class::Local, role: Role::Manage, arity: 7, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Dist_graph_neighbors_count", class: Class::Local, role: Role::Manage, arity: 4, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Errhandler_c2f", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Errhandler_create", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Errhandler_f2c", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Errhandler_free", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Errhandler_get", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Errhandler_set", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Error_class", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Error_string", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Exscan", class: Class::Exscan, role: Role::AllToAll, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Exscan_c", class: Class::Exscan, role: Role::AllToAll, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Exscan_init", class: Class::Exscan, role: Role::Manage, arity: 8, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Exscan_init_c", class: Class::Exscan, role: Role::Manage, arity: 8, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Fetch_and_op", class: Class::FetchAndOp, role: Role::Transfer, arity: 7, comm_arg: None, comm_ptr_arg: None, win_arg: Some(6), file_arg: None, large_count: false },
    Function { name: "MPI_File_c2f", class: Class::Convert, role: Role::Io, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_call_errhandler", class: Class::Generic, role: Role::Io, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_close", class: Class::FileClose, role: Role::Io, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_File_create_errhandler", class: Class::Generic, role: Role::Io, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_File_delete", class: Class::Generic, role: Role::Io, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_File_f2c", class: Class::Convert, role: Role::Io, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_File_get_amode", class: Class::Generic, role: Role::Io, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_get_atomicity", class: Class::Generic, role: Role::Io, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_get_byte_offset", class: Class::Generic, role: Role::Io, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_get_errhandler", class: Class::Generic, role: Role::Io, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_get_group", class: Class::Generic, role: Role::Io, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_get_info", class: Class::Generic, role: Role::Io, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_get_position", class: Class::Generic, role: Role::Io, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_get_position_shared", class: Class::Generic, role: Role::Io, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_get_size", class: Class::Generic, role: Role::Io, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_get_type_extent", class: Class::Generic, role: Role::Io, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_get_type_extent_c", class: Class::Generic, role: Role::Io, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_get_view", class: Class::Generic, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_iread", class: Class::FileIread, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_iread_all", class: Class::FileIread, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_iread_all_c", class: Class::FileIread, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_iread_at", class: Class::FileIread, role: Role::Io, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_iread_at_all", class: Class::FileIread, role: Role::Io, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_iread_at_all_c", class: Class::FileIread, role: Role::Io, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_iread_at_c", class: Class::FileIread, role: Role::Io, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_iread_c", class: Class::FileIread, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_iread_shared", class: Class::FileIread, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_iread_shared_c", class: Class::FileIread, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_iwrite", class: Class::FileIwrite, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_iwrite_all", class: Class::FileIwrite, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_iwrite_all_c", class: Class::FileIwrite, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_iwrite_at", class: Class::FileIwrite, role: Role::Io, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_iwrite_at_all", class: Class::FileIwrite, role: Role::Io, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_iwrite_at_all_c", class: Class::FileIwrite, role: Role::Io, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_iwrite_at_c", class: Class::FileIwrite, role: Role::Io, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_iwrite_c", class: Class::FileIwrite, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_iwrite_shared", class: Class::FileIwrite, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_iwrite_shared_c", class: Class::FileIwrite, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_open", class: Class::FileOpen, role: Role::Io, arity: 5, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_File_preallocate", class: Class::Generic, role: Role::Io, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_read", class: Class::FileRead, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_read_all", class: Class::FileRead, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_read_all_begin", class: Class::FileSplitBegin, role: Role::Io, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_read_all_begin_c", class: Class::FileSplitBegin, role: Role::Io, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_read_all_c", class: Class::FileRead, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_read_all_end", class: Class::FileSplitEnd, role: Role::Io, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_read_at", class: Class::FileRead, role: Role::Io, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_read_at_all", class: Class::FileRead, role: Role::Io, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_read_at_all_begin", class: Class::FileSplitBegin, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_read_at_all_begin_c", class: Class::FileSplitBegin, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_read_at_all_c", class: Class::FileRead, role: Role::Io, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_read_at_all_end", class: Class::FileSplitEnd, role: Role::Io, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_read_at_c", class: Class::FileRead, role: Role::Io, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_read_c", class: Class::FileRead, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_read_ordered", class: Class::FileRead, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_read_ordered_begin", class: Class::FileSplitBegin, role: Role::Io, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_read_ordered_begin_c", class: Class::FileSplitBegin, role: Role::Io, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_read_ordered_c", class: Class::FileRead, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_read_ordered_end", class: Class::FileSplitEnd, role: Role::Io, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_read_shared", class: Class::FileRead, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_read_shared_c", class: Class::FileRead, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_seek", class: Class::Generic, role: Role::Io, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_seek_shared", class: Class::Generic, role: Role::Io, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_set_atomicity", class: Class::Generic, role: Role::Io, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_set_errhandler", class: Class::Generic, role: Role::Io, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_set_info", class: Class::Generic, role: Role::Io, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_set_size", class: Class::Generic, role: Role::Io, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_set_view", class: Class::Generic, role: Role::Io, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_sync", class: Class::Generic, role: Role::Io, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_write", class: Class::FileWrite, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_write_all", class: Class::FileWrite, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_write_all_begin", class: Class::FileSplitBegin, role: Role::Io, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_write_all_begin_c", class: Class::FileSplitBegin, role: Role::Io, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_write_all_c", class: Class::FileWrite, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_write_all_end", class: Class::FileSplitEnd, role: Role::Io, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_write_at", class: Class::FileWrite, role: Role::Io, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_write_at_all", class: Class::FileWrite, role: Role::Io, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_write_at_all_begin", class: Class::FileSplitBegin, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_write_at_all_begin_c", class: Class::FileSplitBegin, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_write_at_all_c", class: Class::FileWrite, role: Role::Io, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_write_at_all_end", class: Class::FileSplitEnd, role: Role::Io, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_write_at_c", class: Class::FileWrite, role: Role::Io, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_write_c", class: Class::FileWrite, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_write_ordered", class: Class::FileWrite, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_write_ordered_begin", class: Class::FileSplitBegin, role: Role::Io, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_write_ordered_begin_c", class: Class::FileSplitBegin, role: Role::Io, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_write_ordered_c", class: Class::FileWrite, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_File_write_ordered_end", class: Class::FileSplitEnd, role: Role::Io, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_write_shared", class: Class::FileWrite, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: false },
    Function { name: "MPI_File_write_shared_c", class: Class::FileWrite, role: Role::Io, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: Some(0), large_count: true },
    Function { name: "MPI_Finalize", class: Class::Finalize, role: Role::Manage, arity: 0, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Finalized", class: Class::Local, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Free_mem", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Gather", class: Class::Gather, role: Role::AllToOne, arity: 8, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Gather_c", class: Class::Gather, role: Role::AllToOne, arity: 8, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Gather_init", class: Class::Gather, role: Role::Manage, arity: 10, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Gather_init_c", class: Class::Gather, role: Role::Manage, arity: 10, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Gatherv", class: Class::Gatherv, role: Role::AllToOne, arity: 9, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Gatherv_c", class: Class::Gatherv, role: Role::AllToOne, arity: 9, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Gatherv_init", class: Class::Gatherv, role: Role::Manage, arity: 11, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Gatherv_init_c", class: Class::Gatherv, role: Role::Manage, arity: 11, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Get", class: Class::Get, role: Role::Transfer, arity: 8, comm_arg: None, comm_ptr_arg: None, win_arg: Some(7), file_arg: None, large_count: false },
    Function { name: "MPI_Get_accumulate", class: Class::GetAccumulate, role: Role::Transfer, arity: 12, comm_arg: None, comm_ptr_arg: None, win_arg: Some(11), file_arg: None, large_count: false },
    Function { name: "MPI_Get_accumulate_c", class: Class::GetAccumulate, role: Role::Transfer, arity: 12, comm_arg: None, comm_ptr_arg: None, win_arg: Some(11), file_arg: None, large_count: true },
    Function { name: "MPI_Get_address", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Get_c", class: Class::Get, role: Role::Transfer, arity: 8, comm_arg: None, comm_ptr_arg: None, win_arg: Some(7), file_arg: None, large_count: true },
    Function { name: "MPI_Get_count", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Get_count_c", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Get_elements", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Get_elements_c", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Get_elements_x", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Get_library_version", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Get_processor_name", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Get_version", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Graph_create", class: Class::CommCreate, role: Role::Manage, arity: 6, comm_arg: Some(0), comm_ptr_arg: Some(5), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Graph_get", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Graph_map", class: Class::Generic, role: Role::Manage, arity: 5, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Graph_neighbors", class: Class::Local, role: Role::Manage, arity: 4, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Graph_neighbors_count", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Graphdims_get", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Grequest_complete", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Grequest_start", class: Class::Generic, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Group_c2f", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Group_compare", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Group_difference", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Group_excl", class: Class::Local, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Group_f2c", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Group_free", class: Class::Local, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Group_from_session_pset", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Group_incl", class: Class::Local, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Group_intersection", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Group_range_excl", class: Class::Local, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Group_range_incl", class: Class::Local, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Group_rank", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Group_size", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Group_translate_ranks", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Group_union", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Iallgather", class: Class::Allgather, role: Role::AllToAll, arity: 8, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Iallgather_c", class: Class::Allgather, role: Role::AllToAll, arity: 8, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Iallgatherv", class: Class::Allgatherv, role: Role::AllToAll, arity: 9, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Iallgatherv_c", class: Class::Allgatherv, role: Role::AllToAll, arity: 9, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Iallreduce", class: Class::Allreduce, role: Role::AllToAll, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Iallreduce_c", class: Class::Allreduce, role: Role::AllToAll, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Ialltoall", class: Class::Alltoall, role: Role::AllToAll, arity: 8, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Ialltoall_c", class: Class::Alltoall, role: Role::AllToAll, arity: 8, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Ialltoallv", class: Class::Alltoallv, role: Role::AllToAll, arity: 10, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Ialltoallv_c", class: Class::Alltoallv, role: Role::AllToAll, arity: 10, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Ialltoallw", class: Class::Alltoallw, role: Role::AllToAll, arity: 10, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Ialltoallw_c", class: Class::Alltoallw, role: Role::AllToAll, arity: 10, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Ibarrier", class: Class::Barrier, role: Role::Barrier, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Ibcast", class: Class::Bcast, role: Role::OneToAll, arity: 6, comm_arg: Some(4), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Ibcast_c", class: Class::Bcast, role: Role::OneToAll, arity: 6, comm_arg: Some(4), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Ibsend", class: Class::Isend, role: Role::Transfer, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Ibsend_c", class: Class::Isend, role: Role::Transfer, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Iexscan", class: Class::Exscan, role: Role::AllToAll, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Iexscan_c", class: Class::Exscan, role: Role::AllToAll, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Igather", class: Class::Gather, role: Role::AllToOne, arity: 9, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Igather_c", class: Class::Gather, role: Role::AllToOne, arity: 9, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Igatherv", class: Class::Gatherv, role: Role::AllToOne, arity: 10, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Igatherv_c", class: Class::Gatherv, role: Role::AllToOne, arity: 10, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Improbe", class: Class::Improbe, role: Role::Wait, arity: 6, comm_arg: Some(2), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Imrecv", class: Class::Imrecv, role: Role::Transfer, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Imrecv_c", class: Class::Imrecv, role: Role::Transfer, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Ineighbor_allgather", class: Class::NeighborAllgather, role: Role::AllToAll, arity: 8, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Ineighbor_allgather_c", class: Class::NeighborAllgather, role: Role::AllToAll, arity: 8, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Ineighbor_allgatherv", class: Class::NeighborAllgatherv, role: Role::AllToAll, arity: 9, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Ineighbor_allgatherv_c", class: Class::NeighborAllgatherv, role: Role::AllToAll, arity: 9, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Ineighbor_alltoall", class: Class::NeighborAlltoall, role: Role::AllToAll, arity: 8, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Ineighbor_alltoall_c", class: Class::NeighborAlltoall, role: Role::AllToAll, arity: 8, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Ineighbor_alltoallv", class: Class::NeighborAlltoallv, role: Role::AllToAll, arity: 10, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Ineighbor_alltoallv_c", class: Class::NeighborAlltoallv, role: Role::AllToAll, arity: 10, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Ineighbor_alltoallw", class: Class::NeighborAlltoallw, role: Role::AllToAll, arity: 10, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Ineighbor_alltoallw_c", class: Class::NeighborAlltoallw, role: Role::AllToAll, arity: 10, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Info_c2f", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Info_create", class: Class::Local, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Info_create_env", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Info_delete", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Info_dup", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Info_f2c", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Info_free", class: Class::Local, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Info_get", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Info_get_nkeys", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Info_get_nthkey", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Info_get_string", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Info_get_valuelen", class: Class::Local, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Info_set", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Init", class: Class::Init, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Init_thread", class: Class::InitThread, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Initialized", class: Class::Local, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Intercomm_create", class: Class::IntercommCreate, role: Role::Manage, arity: 6, comm_arg: Some(0), comm_ptr_arg: Some(5), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Intercomm_create_from_groups", class: Class::Generic, role: Role::Manage, arity: 8, comm_arg: None, comm_ptr_arg: Some(7), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Intercomm_merge", class: Class::IntercommMerge, role: Role::Manage, arity: 3, comm_arg: Some(0), comm_ptr_arg: Some(2), win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Iprobe", class: Class::Iprobe, role: Role::Wait, arity: 5, comm_arg: Some(2), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Irecv", class: Class::Irecv, role: Role::Transfer, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Irecv_c", class: Class::Irecv, role: Role::Transfer, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Ireduce", class: Class::Reduce, role: Role::AllToOne, arity: 8, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Ireduce_c", class: Class::Reduce, role: Role::AllToOne, arity: 8, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Ireduce_scatter", class: Class::ReduceScatter, role: Role::AllToAll, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Ireduce_scatter_block", class: Class::ReduceScatterBlock, role: Role::AllToAll, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Ireduce_scatter_block_c", class: Class::ReduceScatterBlock, role: Role::AllToAll, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Ireduce_scatter_c", class: Class::ReduceScatter, role: Role::AllToAll, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Irsend", class: Class::Isend, role: Role::Transfer, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Irsend_c", class: Class::Isend, role: Role::Transfer, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Is_thread_main", class: Class::Local, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Iscan", class: Class::Scan, role: Role::AllToAll, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Iscan_c", class: Class::Scan, role: Role::AllToAll, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Iscatter", class: Class::Scatter, role: Role::OneToAll, arity: 9, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Iscatter_c", class: Class::Scatter, role: Role::OneToAll, arity: 9, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Iscatterv", class: Class::Scatterv, role: Role::OneToAll, arity: 10, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Iscatterv_c", class: Class::Scatterv, role: Role::OneToAll, arity: 10, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Isend", class: Class::Isend, role: Role::Transfer, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Isend_c", class: Class::Isend, role: Role::Transfer, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Isendrecv", class: Class::Isendrecv, role: Role::Transfer, arity: 12, comm_arg: Some(10), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Isendrecv_c", class: Class::Isendrecv, role: Role::Transfer, arity: 12, comm_arg: Some(10), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Isendrecv_replace", class: Class::IsendrecvReplace, role: Role::Transfer, arity: 9, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Isendrecv_replace_c", class: Class::IsendrecvReplace, role: Role::Transfer, arity: 9, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Issend", class: Class::Isend, role: Role::Transfer, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Issend_c", class: Class::Isend, role: Role::Transfer, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Keyval_create", class: Class::Generic, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Keyval_free", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Lookup_name", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Message_c2f", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Message_f2c", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Mprobe", class: Class::Mprobe, role: Role::Wait, arity: 5, comm_arg: Some(2), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Mrecv", class: Class::Mrecv, role: Role::Transfer, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Mrecv_c", class: Class::Mrecv, role: Role::Transfer, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Neighbor_allgather", class: Class::NeighborAllgather, role: Role::AllToAll, arity: 7, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Neighbor_allgather_c", class: Class::NeighborAllgather, role: Role::AllToAll, arity: 7, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Neighbor_allgather_init", class: Class::NeighborAllgather, role: Role::Manage, arity: 9, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Neighbor_allgather_init_c", class: Class::NeighborAllgather, role: Role::Manage, arity: 9, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Neighbor_allgatherv", class: Class::NeighborAllgatherv, role: Role::AllToAll, arity: 8, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Neighbor_allgatherv_c", class: Class::NeighborAllgatherv, role: Role::AllToAll, arity: 8, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Neighbor_allgatherv_init", class: Class::NeighborAllgatherv, role: Role::Manage, arity: 10, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Neighbor_allgatherv_init_c", class: Class::NeighborAllgatherv, role: Role::Manage, arity: 10, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Neighbor_alltoall", class: Class::NeighborAlltoall, role: Role::AllToAll, arity: 7, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Neighbor_alltoall_c", class: Class::NeighborAlltoall, role: Role::AllToAll, arity: 7, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Neighbor_alltoall_init", class: Class::NeighborAlltoall, role: Role::Manage, arity: 9, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Neighbor_alltoall_init_c", class: Class::NeighborAlltoall, role: Role::Manage, arity: 9, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Neighbor_alltoallv", class: Class::NeighborAlltoallv, role: Role::AllToAll, arity: 9, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Neighbor_alltoallv_c", class: Class::NeighborAlltoallv, role: Role::AllToAll, arity: 9, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Neighbor_alltoallv_init", class: Class::NeighborAlltoallv, role: Role::Manage, arity: 11, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Neighbor_alltoallv_init_c", class: Class::NeighborAlltoallv, role: Role::Manage, arity: 11, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Neighbor_alltoallw", class: Class::NeighborAlltoallw, role: Role::AllToAll, arity: 9, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Neighbor_alltoallw_c", class: Class::NeighborAlltoallw, role: Role::AllToAll, arity: 9, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Neighbor_alltoallw_init", class: Class::NeighborAlltoallw, role: Role::Manage, arity: 11, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Neighbor_alltoallw_init_c", class: Class::NeighborAlltoallw, role: Role::Manage, arity: 11, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Op_c2f", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Op_commutative", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Op_create", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Op_create_c", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Op_f2c", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Op_free", class: Class::Local, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Open_port", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Pack", class: Class::Generic, role: Role::Manage, arity: 7, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Pack_c", class: Class::Generic, role: Role::Manage, arity: 7, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Pack_external", class: Class::Generic, role: Role::Manage, arity: 7, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Pack_external_c", class: Class::Generic, role: Role::Manage, arity: 7, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Pack_external_size", class: Class::Local, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Pack_external_size_c", class: Class::Local, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Pack_size", class: Class::Local, role: Role::Manage, arity: 4, comm_arg: Some(2), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Pack_size_c", class: Class::Local, role: Role::Manage, arity: 4, comm_arg: Some(2), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Parrived", class: Class::Parrived, role: Role::Wait, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Pcontrol", class: Class::Pcontrol, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Pready", class: Class::Generic, role: Role::Transfer, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Pready_list", class: Class::Generic, role: Role::Transfer, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Pready_range", class: Class::Generic, role: Role::Transfer, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Precv_init", class: Class::PrecvInit, role: Role::Manage, arity: 9, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Probe", class: Class::Probe, role: Role::Wait, arity: 4, comm_arg: Some(2), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Psend_init", class: Class::PsendInit, role: Role::Manage, arity: 9, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Publish_name", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Put", class: Class::Put, role: Role::Transfer, arity: 8, comm_arg: None, comm_ptr_arg: None, win_arg: Some(7), file_arg: None, large_count: false },
    Function { name: "MPI_Put_c", class: Class::Put, role: Role::Transfer, arity: 8, comm_arg: None, comm_ptr_arg: None, win_arg: Some(7), file_arg: None, large_count: true },
    Function { name: "MPI_Query_thread", class: Class::Local, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Raccumulate", class: Class::Raccumulate, role: Role::Transfer, arity: 10, comm_arg: None, comm_ptr_arg: None, win_arg: Some(8), file_arg: None, large_count: false },
    Function { name: "MPI_Raccumulate_c", class: Class::Raccumulate, role: Role::Transfer, arity: 10, comm_arg: None, comm_ptr_arg: None, win_arg: Some(8), file_arg: None, large_count: true },
    Function { name: "MPI_Recv", class: Class::Recv, role: Role::Transfer, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Recv_c", class: Class::Recv, role: Role::Transfer, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Recv_init", class: Class::RecvInit, role: Role::Manage, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Recv_init_c", class: Class::RecvInit, role: Role::Manage, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Reduce", class: Class::Reduce, role: Role::AllToOne, arity: 7, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Reduce_c", class: Class::Reduce, role: Role::AllToOne, arity: 7, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Reduce_init", class: Class::Reduce, role: Role::Manage, arity: 9, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Reduce_init_c", class: Class::Reduce, role: Role::Manage, arity: 9, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Reduce_local", class: Class::Generic, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Reduce_local_c", class: Class::Generic, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Reduce_scatter", class: Class::ReduceScatter, role: Role::AllToAll, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Reduce_scatter_block", class: Class::ReduceScatterBlock, role: Role::AllToAll, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Reduce_scatter_block_c", class: Class::ReduceScatterBlock, role: Role::AllToAll, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Reduce_scatter_block_init", class: Class::ReduceScatterBlock, role: Role::Manage, arity: 8, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Reduce_scatter_block_init_c", class: Class::ReduceScatterBlock, role: Role::Manage, arity: 8, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Reduce_scatter_c", class: Class::ReduceScatter, role: Role::AllToAll, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Reduce_scatter_init", class: Class::ReduceScatter, role: Role::Manage, arity: 8, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Reduce_scatter_init_c", class: Class::ReduceScatter, role: Role::Manage, arity: 8, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Register_datarep", class: Class::Generic, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Register_datarep_c", class: Class::Generic, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Request_c2f", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Request_f2c", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Request_free", class: Class::RequestFree, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Request_get_status", class: Class::RequestGetStatus, role: Role::Wait, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Rget", class: Class::Rget, role: Role::Transfer, arity: 9, comm_arg: None, comm_ptr_arg: None, win_arg: Some(7), file_arg: None, large_count: false },
    Function { name: "MPI_Rget_accumulate", class: Class::RgetAccumulate, role: Role::Transfer, arity: 13, comm_arg: None, comm_ptr_arg: None, win_arg: Some(11), file_arg: None, large_count: false },
    Function { name: "MPI_Rget_accumulate_c", class: Class::RgetAccumulate, role: Role::Transfer, arity: 13, comm_arg: None, comm_ptr_arg: None, win_arg: Some(11), file_arg: None, large_count: true },
    Function { name: "MPI_Rget_c", class: Class::Rget, role: Role::Transfer, arity: 9, comm_arg: None, comm_ptr_arg: None, win_arg: Some(7), file_arg: None, large_count: true },
    Function { name: "MPI_Rput", class: Class::Rput, role: Role::Transfer, arity: 9, comm_arg: None, comm_ptr_arg: None, win_arg: Some(7), file_arg: None, large_count: false },
    Function { name: "MPI_Rput_c", class: Class::Rput, role: Role::Transfer, arity: 9, comm_arg: None, comm_ptr_arg: None, win_arg: Some(7), file_arg: None, large_count: true },
    Function { name: "MPI_Rsend", class: Class::Send, role: Role::Transfer, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Rsend_c", class: Class::Send, role: Role::Transfer, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Rsend_init", class: Class::SendInit, role: Role::Manage, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Rsend_init_c", class: Class::SendInit, role: Role::Manage, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Scan", class: Class::Scan, role: Role::AllToAll, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Scan_c", class: Class::Scan, role: Role::AllToAll, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Scan_init", class: Class::Scan, role: Role::Manage, arity: 8, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Scan_init_c", class: Class::Scan, role: Role::Manage, arity: 8, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Scatter", class: Class::Scatter, role: Role::OneToAll, arity: 8, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Scatter_c", class: Class::Scatter, role: Role::OneToAll, arity: 8, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Scatter_init", class: Class::Scatter, role: Role::Manage, arity: 10, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Scatter_init_c", class: Class::Scatter, role: Role::Manage, arity: 10, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Scatterv", class: Class::Scatterv, role: Role::OneToAll, arity: 9, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Scatterv_c", class: Class::Scatterv, role: Role::OneToAll, arity: 9, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Scatterv_init", class: Class::Scatterv, role: Role::Manage, arity: 11, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Scatterv_init_c", class: Class::Scatterv, role: Role::Manage, arity: 11, comm_arg: Some(8), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Send", class: Class::Send, role: Role::Transfer, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Send_c", class: Class::Send, role: Role::Transfer, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Send_init", class: Class::SendInit, role: Role::Manage, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Send_init_c", class: Class::SendInit, role: Role::Manage, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Sendrecv", class: Class::Sendrecv, role: Role::Transfer, arity: 12, comm_arg: Some(10), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Sendrecv_c", class: Class::Sendrecv, role: Role::Transfer, arity: 12, comm_arg: Some(10), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Sendrecv_replace", class: Class::SendrecvReplace, role: Role::Transfer, arity: 9, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Sendrecv_replace_c", class: Class::SendrecvReplace, role: Role::Transfer, arity: 9, comm_arg: Some(7), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Session_call_errhandler", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Session_create_errhandler", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Session_finalize", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Session_get_errhandler", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Session_get_info", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Session_get_nth_pset", class: Class::Generic, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Session_get_num_psets", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Session_get_pset_info", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Session_init", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Session_set_errhandler", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Ssend", class: Class::Send, role: Role::Transfer, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Ssend_c", class: Class::Send, role: Role::Transfer, arity: 6, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Ssend_init", class: Class::SendInit, role: Role::Manage, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Ssend_init_c", class: Class::SendInit, role: Role::Manage, arity: 7, comm_arg: Some(5), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Start", class: Class::Start, role: Role::Transfer, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Startall", class: Class::Startall, role: Role::Transfer, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Status_c2f", class: Class::Convert, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Status_c2f08", class: Class::Convert, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Status_f082c", class: Class::Convert, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Status_f082f", class: Class::Convert, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Status_f2c", class: Class::Convert, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Status_f2f08", class: Class::Convert, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Status_set_cancelled", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Status_set_elements", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Status_set_elements_x", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_category_changed", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_category_get_categories", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_category_get_cvars", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_category_get_events", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_category_get_index", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_category_get_info", class: Class::Generic, role: Role::Manage, arity: 8, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_category_get_num", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_category_get_num_events", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_category_get_pvars", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_cvar_get_index", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_cvar_get_info", class: Class::Generic, role: Role::Manage, arity: 10, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_cvar_get_num", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_cvar_handle_alloc", class: Class::Generic, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_cvar_handle_free", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_cvar_read", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_cvar_write", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_enum_get_info", class: Class::Generic, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_enum_get_item", class: Class::Generic, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_event_callback_get_info", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_event_callback_set_info", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_event_copy", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_event_get_index", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_event_get_info", class: Class::Generic, role: Role::Manage, arity: 12, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_event_get_num", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_event_get_source", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_event_get_timestamp", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_event_handle_alloc", class: Class::Generic, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_event_handle_free", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_event_handle_get_info", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_event_handle_set_info", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_event_read", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_event_register_callback", class: Class::Generic, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_event_set_dropped_handler", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_finalize", class: Class::Generic, role: Role::Manage, arity: 0, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_init_thread", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_pvar_get_index", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_pvar_get_info", class: Class::Generic, role: Role::Manage, arity: 13, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_pvar_get_num", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_pvar_handle_alloc", class: Class::Generic, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_pvar_handle_free", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_pvar_read", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_pvar_readreset", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_pvar_reset", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_pvar_session_create", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_pvar_session_free", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_pvar_start", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_pvar_stop", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_pvar_write", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_source_get_info", class: Class::Generic, role: Role::Manage, arity: 9, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_source_get_num", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_T_source_get_timestamp", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Test", class: Class::Test, role: Role::Wait, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Test_cancelled", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Testall", class: Class::Testall, role: Role::Wait, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Testany", class: Class::Testany, role: Role::Wait, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Testsome", class: Class::Testsome, role: Role::Wait, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Topo_test", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: Some(0), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_c2f", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_commit", class: Class::Local, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_contiguous", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_contiguous_c", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Type_create_darray", class: Class::Local, role: Role::Manage, arity: 10, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_create_darray_c", class: Class::Local, role: Role::Manage, arity: 10, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Type_create_f90_complex", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_create_f90_integer", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_create_f90_real", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_create_hindexed", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_create_hindexed_block", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_create_hindexed_block_c", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Type_create_hindexed_c", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Type_create_hvector", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_create_hvector_c", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Type_create_indexed_block", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_create_indexed_block_c", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Type_create_keyval", class: Class::Local, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_create_resized", class: Class::Local, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_create_resized_c", class: Class::Local, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Type_create_struct", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_create_struct_c", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Type_create_subarray", class: Class::Local, role: Role::Manage, arity: 7, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_create_subarray_c", class: Class::Local, role: Role::Manage, arity: 7, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Type_delete_attr", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_dup", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_extent", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_f2c", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_free", class: Class::TypeFree, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_free_keyval", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_get_attr", class: Class::Local, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_get_contents", class: Class::Local, role: Role::Manage, arity: 7, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_get_contents_c", class: Class::Local, role: Role::Manage, arity: 9, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Type_get_envelope", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_get_envelope_c", class: Class::Local, role: Role::Manage, arity: 6, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Type_get_extent", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_get_extent_c", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Type_get_extent_x", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_get_name", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_get_true_extent", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_get_true_extent_c", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Type_get_true_extent_x", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_hindexed", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_hvector", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_indexed", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_indexed_c", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Type_lb", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_match_size", class: Class::Local, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_set_attr", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_set_name", class: Class::TypeSetName, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_size", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_size_c", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Type_size_x", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_struct", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_ub", class: Class::Local, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_vector", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Type_vector_c", class: Class::Local, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Unpack", class: Class::Generic, role: Role::Manage, arity: 7, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Unpack_c", class: Class::Generic, role: Role::Manage, arity: 7, comm_arg: Some(6), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Unpack_external", class: Class::Generic, role: Role::Manage, arity: 7, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Unpack_external_c", class: Class::Generic, role: Role::Manage, arity: 7, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Unpublish_name", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Wait", class: Class::Wait, role: Role::Wait, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Waitall", class: Class::Waitall, role: Role::Wait, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Waitany", class: Class::Waitany, role: Role::Wait, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Waitsome", class: Class::Waitsome, role: Role::Wait, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Win_allocate", class: Class::WinAllocate, role: Role::Manage, arity: 6, comm_arg: Some(3), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Win_allocate_c", class: Class::WinAllocate, role: Role::Manage, arity: 6, comm_arg: Some(3), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Win_allocate_shared", class: Class::WinAllocateShared, role: Role::Manage, arity: 6, comm_arg: Some(3), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Win_allocate_shared_c", class: Class::WinAllocateShared, role: Role::Manage, arity: 6, comm_arg: Some(3), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Win_attach", class: Class::WinAttach, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_c2f", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_call_errhandler", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_complete", class: Class::WinComplete, role: Role::Wait, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_create", class: Class::WinCreate, role: Role::Manage, arity: 6, comm_arg: Some(4), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Win_create_c", class: Class::WinCreate, role: Role::Manage, arity: 6, comm_arg: Some(4), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: true },
    Function { name: "MPI_Win_create_dynamic", class: Class::WinCreateDynamic, role: Role::Manage, arity: 3, comm_arg: Some(1), comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Win_create_errhandler", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Win_create_keyval", class: Class::Generic, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Win_delete_attr", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_detach", class: Class::WinDetach, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_f2c", class: Class::Convert, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Win_fence", class: Class::WinFence, role: Role::Barrier, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: Some(1), file_arg: None, large_count: false },
    Function { name: "MPI_Win_flush", class: Class::WinFlush, role: Role::Wait, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: Some(1), file_arg: None, large_count: false },
    Function { name: "MPI_Win_flush_all", class: Class::WinFlush, role: Role::Wait, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_flush_local", class: Class::WinFlush, role: Role::Wait, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: Some(1), file_arg: None, large_count: false },
    Function { name: "MPI_Win_flush_local_all", class: Class::WinFlush, role: Role::Wait, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_free", class: Class::WinFree, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Win_free_keyval", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Win_get_attr", class: Class::Generic, role: Role::Manage, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_get_errhandler", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_get_group", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_get_info", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_get_name", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_lock", class: Class::WinLock, role: Role::Wait, arity: 4, comm_arg: None, comm_ptr_arg: None, win_arg: Some(3), file_arg: None, large_count: false },
    Function { name: "MPI_Win_lock_all", class: Class::WinLockAll, role: Role::Wait, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: Some(1), file_arg: None, large_count: false },
    Function { name: "MPI_Win_post", class: Class::WinPost, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: Some(2), file_arg: None, large_count: false },
    Function { name: "MPI_Win_set_attr", class: Class::Generic, role: Role::Manage, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_set_errhandler", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_set_info", class: Class::Generic, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_set_name", class: Class::WinSetName, role: Role::Manage, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_shared_query", class: Class::Generic, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_shared_query_c", class: Class::Generic, role: Role::Manage, arity: 5, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: true },
    Function { name: "MPI_Win_start", class: Class::WinStart, role: Role::Wait, arity: 3, comm_arg: None, comm_ptr_arg: None, win_arg: Some(2), file_arg: None, large_count: false },
    Function { name: "MPI_Win_sync", class: Class::Generic, role: Role::Manage, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_test", class: Class::WinTest, role: Role::Wait, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_unlock", class: Class::WinUnlock, role: Role::Wait, arity: 2, comm_arg: None, comm_ptr_arg: None, win_arg: Some(1), file_arg: None, large_count: false },
    Function { name: "MPI_Win_unlock_all", class: Class::WinUnlockAll, role: Role::Wait, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Win_wait", class: Class::WinWait, role: Role::Wait, arity: 1, comm_arg: None, comm_ptr_arg: None, win_arg: Some(0), file_arg: None, large_count: false },
    Function { name: "MPI_Wtick", class: Class::Wtime, role: Role::Manage, arity: 0, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
    Function { name: "MPI_Wtime", class: Class::Wtime, role: Role::Manage, arity: 0, comm_arg: None, comm_ptr_arg: None, win_arg: None, file_arg: None, large_count: false },
];
