/* Calls 120 different MPI functions once or a few times, the same number on every rank, and checks
 * the values that arrive. Usage: c_all FILE (a file that may be overwritten); 2, 4 … ranks.
 *
 * Calls per rank, counted by hand in this text (name: calls; no number is one call):
 *   Accumulate  Allgather  Allgatherv  Allreduce 2  Alltoall  Alltoallv  Barrier 3  Bcast
 *   Bsend  Buffer_attach  Buffer_detach  Cart_coords  Cart_create  Cart_rank  Cart_shift  Cart_sub
 *   Comm_compare  Comm_create  Comm_create_keyval  Comm_dup  Comm_free 6  Comm_free_keyval
 *   Comm_get_attr  Comm_get_name  Comm_group  Comm_rank 2  Comm_set_attr  Comm_set_name  Comm_size
 *   Comm_split  Dims_create  Dist_graph_create_adjacent  Exscan  Fetch_and_op  File_close
 *   File_get_size  File_iwrite_at  File_open  File_read_at_all  File_seek  File_read  File_set_view
 *   File_write_at_all  Finalize  Finalized 2  Gather  Gatherv  Get  Get_address 2  Get_count
 *   Get_processor_name  Get_version  Group_free 2  Group_incl  Group_size  Group_translate_ranks
 *   Iallgather  Iallreduce  Ialltoall  Ibarrier  Ibcast  Ineighbor_allgather  Init  Initialized
 *   Iprobe  Irecv 5  Isend  Issend  Mprobe  Mrecv  Neighbor_allgather  Neighbor_alltoall
 *   Op_create  Op_free  Pack  Pack_size  Probe  Put  Recv 3  Recv_init  Reduce 2  Reduce_scatter
 *   Reduce_scatter_block  Request_free 2  Request_get_status  Rsend  Scan  Scatter  Scatterv  Send 4
 *   Send_init  Sendrecv  Sendrecv_replace  Ssend  Start 2  Startall 3  Test  Testall  Testany
 *   Testsome  Type_commit 2  Type_contiguous  Type_create_struct  Type_free 3  Type_get_extent
 *   Type_size  Type_vector  Unpack  Wait 12  Waitall 4  Waitany  Waitsome  Win_allocate  Win_create
 *   Win_fence 3  Win_flush  Win_free 2  Win_lock  Win_unlock  Wtime 2
 * 120 functions, 167 calls.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int errors;
static void expect(long found, long wanted, int line) {
    if (found != wanted) errors++, fprintf(stderr, "line %d: %ld instead of %ld\n", line, found, wanted);
}
#define EXPECT(found, wanted) expect((long)(found), (long)(wanted), __LINE__)

static const MPI_Comm *const W = &(const MPI_Comm){MPI_COMM_WORLD};
static int rank, size, partner;
static MPI_Status st;

static void point_to_point(void) {
    int x = rank, y = -1, flag, n, i, idx[2];
    char buffer[1000];
    void *old;
    MPI_Request r[2];
    MPI_Message m;
    MPI_Status sts[2];
    MPI_Irecv(&y, 1, MPI_INT, partner, 1, *W, &r[0]);
    MPI_Send(&x, 1, MPI_INT, partner, 1, *W);
    MPI_Wait(&r[0], &st), EXPECT(y, partner);
    MPI_Irecv(&y, 1, MPI_INT, partner, 2, *W, &r[0]);
    MPI_Ssend(&x, 1, MPI_INT, partner, 2, *W);
    MPI_Waitany(1, r, &i, &st), EXPECT(st.MPI_TAG, 2);
    MPI_Irecv(&y, 1, MPI_INT, partner, 3, *W, &r[0]);
    MPI_Barrier(*W);
    MPI_Rsend(&x, 1, MPI_INT, partner, 3, *W);
    MPI_Waitsome(1, r, &n, idx, sts), EXPECT(n, 1);
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Bsend(&x, 1, MPI_INT, partner, 4, *W);
    MPI_Recv(&y, 1, MPI_INT, partner, 4, *W, &st), EXPECT(st.MPI_SOURCE, partner);
    MPI_Buffer_detach(&old, &n);
    MPI_Send(&x, 1, MPI_INT, partner, 5, *W);
    MPI_Probe(partner, 5, *W, &st), MPI_Get_count(&st, MPI_INT, &n), EXPECT(n, 1);
    MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 5, *W, MPI_STATUS_IGNORE), EXPECT(y, partner);
    MPI_Send(&x, 1, MPI_INT, partner, 6, *W);
    MPI_Mprobe(partner, 6, *W, &m, &st), MPI_Mrecv(&y, 1, MPI_INT, &m, &st), EXPECT(y, partner);
    MPI_Sendrecv(&x, 1, MPI_INT, (rank + 1) % size, 7, &y, 1, MPI_INT, (rank + size - 1) % size, 7, *W, &st);
    MPI_Sendrecv_replace(&y, 1, MPI_INT, (rank + size - 1) % size, 8, (rank + 1) % size, 8, *W, &st);
    EXPECT(y, rank);
    MPI_Iprobe(partner, 99, *W, &flag, &st), EXPECT(flag, 0);
    MPI_Irecv(&y, 1, MPI_INT, partner, 9, *W, &r[0]), MPI_Isend(&x, 1, MPI_INT, partner, 9, *W, &r[1]);
    MPI_Waitall(2, r, sts), EXPECT(y, partner);
    MPI_Irecv(&y, 1, MPI_INT, partner, 10, *W, &r[0]), MPI_Issend(&x, 1, MPI_INT, partner, 10, *W, &r[1]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE), MPI_Wait(&r[1], &st);
    MPI_Test(&r[0], &flag, &st), MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE), EXPECT(flag, 1);
    MPI_Testany(2, r, &i, &flag, &st), MPI_Testsome(2, r, &n, idx, sts), EXPECT(n, MPI_UNDEFINED);
    MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, *W), MPI_Recv(&y, 1, MPI_INT, MPI_PROC_NULL, 0, *W, &st);
    MPI_Recv_init(&y, 1, MPI_INT, partner, 11, *W, &r[0]), MPI_Send_init(&x, 1, MPI_INT, partner, 11, *W, &r[1]);
    for (i = 0; i < 3; i++) x = 10 * rank + i, MPI_Startall(2, r), MPI_Waitall(2, r, sts), EXPECT(y, 10 * partner + i);
    MPI_Start(&r[0]), MPI_Start(&r[1]), MPI_Wait(&r[0], &st), MPI_Wait(&r[1], &st);
    MPI_Request_get_status(r[0], &flag, &st), EXPECT(flag, 1);
    MPI_Request_free(&r[0]), MPI_Request_free(&r[1]);
}

static void add(void *in, void *out, int *n, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *n; i++) ((int *)out)[i] += ((int *)in)[i];
}

static void collectives(void) {
    int *a = calloc(size, sizeof(int)), *b = calloc(size, sizeof(int)), *ones = calloc(size, sizeof(int));
    int *at = calloc(size, sizeof(int)), x = rank + 1, y = 0, sum = size * (size + 1) / 2;
    MPI_Op op;
    MPI_Request r;
    for (int i = 0; i < size; i++) ones[i] = 1, at[i] = i, a[i] = 100 * rank + i;
    MPI_Barrier(*W);
    MPI_Bcast(&y, 1, MPI_INT, 0, *W), MPI_Op_create(add, 1, &op);
    MPI_Reduce(&x, &y, 1, MPI_INT, op, 0, *W), MPI_Op_free(&op), EXPECT(y, rank == 0 ? sum : 0);
    MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, *W), EXPECT(y, sum);
    MPI_Gather(&x, 1, MPI_INT, b, 1, MPI_INT, 0, *W), MPI_Scatter(b, 1, MPI_INT, &y, 1, MPI_INT, 0, *W), EXPECT(y, x);
    MPI_Gatherv(&x, 1, MPI_INT, b, ones, at, MPI_INT, 1, *W);
    MPI_Scatterv(b, ones, at, MPI_INT, &y, 1, MPI_INT, 1, *W), EXPECT(y, x);
    MPI_Allgather(&x, 1, MPI_INT, b, 1, MPI_INT, *W), EXPECT(b[size - 1], size);
    MPI_Allgatherv(&x, 1, MPI_INT, b, ones, at, MPI_INT, *W), EXPECT(b[0], 1);
    MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, *W), EXPECT(b[1], 100 + rank);
    MPI_Alltoallv(a, ones, at, MPI_INT, b, ones, at, MPI_INT, *W), EXPECT(b[1], 100 + rank);
    MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, *W), EXPECT(y, (rank + 1) * (rank + 2) / 2);
    MPI_Exscan(&x, &y, 1, MPI_INT, MPI_SUM, *W);
    MPI_Reduce_scatter(ones, &y, ones, MPI_INT, MPI_SUM, *W), EXPECT(y, size);
    MPI_Reduce_scatter_block(ones, &y, 1, MPI_INT, MPI_SUM, *W), EXPECT(y, size);
    MPI_Ibarrier(*W, &r), MPI_Wait(&r, &st);
    MPI_Ibcast(&y, 1, MPI_INT, 1, *W, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, *W, &r), MPI_Wait(&r, &st), EXPECT(y, sum);
    MPI_Ialltoall(a, 1, MPI_INT, b, 1, MPI_INT, *W, &r), MPI_Wait(&r, &st), EXPECT(b[1], 100 + rank);
    free(a), free(ones), free(at), free(b);
}

static void communicators(void) {
    int dims[1] = {0}, periods[1] = {1}, left, right, n, me[1], b[4] = {0}, a[2] = {rank, rank}, flag, key, *value;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm dup, split, cart, sub, graph, part;
    MPI_Group all, group;
    MPI_Request r;
    MPI_Comm_dup(*W, &dup), MPI_Comm_compare(*W, dup, &n), EXPECT(n, MPI_CONGRUENT);
    MPI_Comm_set_name(dup, "ours"), MPI_Comm_get_name(dup, name, &n), EXPECT(n, 4);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(dup, key, &rank), MPI_Comm_get_attr(dup, key, &value, &flag), EXPECT(*value, rank);
    MPI_Comm_split(*W, rank % 2, -rank, &split), MPI_Comm_rank(split, &n), EXPECT(n, (size - 1 - rank) / 2);
    MPI_Dims_create(size, 1, dims), MPI_Cart_create(*W, 1, dims, periods, 0, &cart);
    MPI_Cart_coords(cart, rank, 1, me), MPI_Cart_rank(cart, me, &n), EXPECT(n, rank);
    MPI_Cart_shift(cart, 0, 1, &left, &right), EXPECT(right, (rank + 1) % size);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, b, 1, MPI_INT, cart), EXPECT(b[0], left);
    MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, cart), EXPECT(b[1], right);
    MPI_Ineighbor_allgather(&rank, 1, MPI_INT, b, 1, MPI_INT, cart, &r), MPI_Wait(&r, &st), EXPECT(b[0], left);
    MPI_Cart_sub(cart, (int[]){1}, &sub);
    MPI_Dist_graph_create_adjacent(*W, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Comm_group(*W, &all), MPI_Group_incl(all, 2, (int[]){1, 0}, &group), MPI_Group_size(group, &n), EXPECT(n, 2);
    MPI_Group_translate_ranks(group, 1, (int[]){0}, all, &n), EXPECT(n, 1);
    MPI_Comm_create(*W, all, &part);
    MPI_Group_free(&group), MPI_Group_free(&all), MPI_Comm_free(&part), MPI_Comm_free(&graph), MPI_Comm_free(&sub);
    MPI_Comm_free(&cart), MPI_Comm_free(&split), MPI_Comm_free(&dup), MPI_Comm_free_keyval(&key);
}

static void types_and_windows(void) {
    _Alignas(16) int x[8] = {0}; /* MPICH 4.0 loses puts into windows that are not so aligned */
    int *shared, n, at = 0, old, one = 1, bytes, lengths[2] = {1, 1};
    char packed[100];
    MPI_Aint lower, extent, offsets[2];
    MPI_Datatype two, every_other, both;
    MPI_Win made, given;
    MPI_Type_contiguous(2, MPI_INT, &two), MPI_Type_vector(2, 1, 2, MPI_INT, &every_other);
    MPI_Get_address(&x[0], &offsets[0]), MPI_Get_address(&x[5], &offsets[1]);
    offsets[1] -= offsets[0], offsets[0] = 0;
    MPI_Type_create_struct(2, lengths, offsets, (MPI_Datatype[]){MPI_INT, MPI_INT}, &both);
    MPI_Type_commit(&two), MPI_Type_commit(&every_other);
    MPI_Type_size(two, &n), EXPECT(n, 2 * sizeof(int)), MPI_Type_get_extent(both, &lower, &extent), EXPECT(extent, 24);
    MPI_Pack_size(1, two, *W, &bytes), MPI_Pack(x, 1, two, packed, sizeof packed, &at, *W), EXPECT(at <= bytes, 1);
    at = 0, MPI_Unpack(packed, sizeof packed, &at, x, 1, every_other, *W);
    MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, *W, &shared, &made);
    MPI_Win_create(x, sizeof x, sizeof(int), MPI_INFO_NULL, *W, &given);
    shared[0] = shared[1] = shared[2] = 0, MPI_Win_fence(0, made);
    MPI_Put(&rank, 1, MPI_INT, partner, 0, 1, MPI_INT, made), MPI_Win_fence(0, made), EXPECT(shared[0], partner);
    MPI_Get(&n, 1, MPI_INT, partner, 0, 1, MPI_INT, made);
    MPI_Accumulate(&one, 1, MPI_INT, partner, 1, 1, MPI_INT, MPI_SUM, made), MPI_Win_fence(0, made), EXPECT(n, rank);
    MPI_Win_lock(MPI_LOCK_SHARED, partner, 0, given), MPI_Fetch_and_op(&one, &old, MPI_INT, partner, 7, MPI_SUM, given);
    MPI_Win_flush(partner, given), MPI_Win_unlock(partner, given), EXPECT(old, 0), EXPECT(shared[1], 1);
    MPI_Win_free(&given), MPI_Win_free(&made), EXPECT(x[7], 1);
    MPI_Type_free(&both), MPI_Type_free(&every_other), MPI_Type_free(&two);
}

static void files(char *name) {
    int x = 7 * rank, y = -1, z = 1;
    MPI_Offset bytes;
    MPI_File f;
    MPI_Request r;
    MPI_File_open(*W, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
    MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(f, rank, &x, 1, MPI_INT, &st), MPI_File_read_at_all(f, rank, &y, 1, MPI_INT, &st), EXPECT(y, x);
    MPI_File_iwrite_at(f, size + rank, &z, 1, MPI_INT, &r), MPI_Wait(&r, &st);
    MPI_File_seek(f, size + rank, MPI_SEEK_SET), MPI_File_read(f, &y, 1, MPI_INT, &st), EXPECT(y, 1), MPI_Barrier(*W);
    MPI_File_get_size(f, &bytes), EXPECT(bytes, 2 * size * sizeof(int)), MPI_File_close(&f);
}

int main(int argc, char **argv) {
    int flag, version, sub, n, total, *all;
    char name[MPI_MAX_PROCESSOR_NAME];
    MPI_Request r;
    MPI_Finalized(&flag), MPI_Init(&argc, &argv), MPI_Initialized(&flag), EXPECT(flag, 1);
    MPI_Comm_rank(*W, &rank), MPI_Comm_size(*W, &size), partner = rank ^ 1, all = malloc(size * sizeof(int));
    if (argc != 2 || size % 2) MPI_Abort(*W, 2);
    MPI_Get_version(&version, &sub), MPI_Get_processor_name(name, &n);
    double start = MPI_Wtime();
    point_to_point(), collectives(), communicators(), types_and_windows(), files(argv[1]);
    EXPECT(MPI_Wtime() >= start, 1);
    MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, *W, &r), MPI_Wait(&r, &st), EXPECT(all[size - 1], size - 1);
    MPI_Allreduce(&errors, &flag, 1, MPI_INT, MPI_SUM, *W), MPI_Reduce(&rank, &total, 1, MPI_INT, MPI_SUM, 0, *W);
    if (rank == 0) printf("c_all size %d rank sum %d errors %d\n", size, total, flag);
    MPI_Finalize(), MPI_Finalized(&n);
    return flag != 0;
}
