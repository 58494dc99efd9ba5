/* Stands for an MPE library that a program is linked with: gives out numbers of its own, calls its own
 * functions by their public names as such libraries do, and says in the end how much it was given. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int next = 3000, described, logged, finished;
typedef char bytes_of_event[32];

int MPE_Init_log(void) { return 0; }
int MPE_Initialized_logging(void) { return 1 + finished; }
int MPE_Start_log(void) { return 0; }
int MPE_Stop_log(void) { return 0; }
int MPE_Log_sync_clocks(void) { return 0; }

int MPE_Log_get_state_eventIDs(int *start, int *end) {
    *start = next++;
    *end = next++;
    return 0;
}

int MPE_Log_get_solo_eventID(int *event) {
    *event = next++;
    return 0;
}

int MPE_Describe_comm_state(MPI_Comm comm, int start, int end, const char *name, const char *color,
                            const char *format) {
    (void)comm, (void)start, (void)end, (void)name, (void)color, (void)format;
    described++;
    return 0;
}

int MPE_Describe_info_state(int start, int end, const char *name, const char *color, const char *format) {
    return MPE_Describe_comm_state(MPI_COMM_WORLD, start, end, name, color, format);
}

int MPE_Describe_state(int start, int end, const char *name, const char *color) {
    return MPE_Describe_info_state(start, end, name, color, NULL);
}

int MPE_Describe_comm_event(MPI_Comm comm, int event, const char *name, const char *color, const char *format) {
    (void)comm, (void)event, (void)name, (void)color, (void)format;
    described++;
    return 0;
}

int MPE_Describe_info_event(int event, const char *name, const char *color, const char *format) {
    return MPE_Describe_comm_event(MPI_COMM_WORLD, event, name, color, format);
}

int MPE_Log_comm_event(MPI_Comm comm, int event, const char *bytes) {
    (void)comm, (void)event, (void)bytes;
    logged++;
    return 0;
}

int MPE_Log_event(int event, int data, const char *bytes) {
    (void)data;
    return MPE_Log_comm_event(MPI_COMM_WORLD, event, bytes);
}

int MPE_Log_info_event(int event, const char *bytes) { return MPE_Log_event(event, 0, bytes); }
int MPE_Log_bare_event(int event) { return MPE_Log_event(event, 0, NULL); }

int MPE_Log_send(int receiver, int tag, int size) {
    (void)receiver, (void)tag, (void)size;
    return 0;
}

int MPE_Log_pack(bytes_of_event bytes, int *position, char token, int count, const void *data) {
    /* Numbers here are one at a time. */
    const int unit = token == 'd' ? 4 : token == 'E' ? 8 : 1;
    int idx;
    if (unit == 1) {
        bytes[(*position)++] = 0;
        bytes[(*position)++] = (char)count;
    }
    for (idx = 0; idx < unit * count; idx++) {
        bytes[(*position)++] = ((const char *)data)[unit == 1 ? idx : unit - 1 - idx];
    }
    return 0;
}

int MPE_Finish_log(const char *name) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    finished = 1;
    if (rank == 0) printf("%s: %d described, %d logged\n", name, described, logged);
    return 0;
}

const char *MPE_Log_merged_logfilename(void) { return "a file of the library"; }

void MPE_Seq_begin(MPI_Comm comm, int at_once) {
    int rank;
    (void)at_once;
    MPI_Comm_rank(comm, &rank);
    while (rank-- > 0) MPI_Barrier(comm);
}

void MPE_Seq_end(MPI_Comm comm, int at_once) {
    int rank, size;
    (void)at_once;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    while (rank++ < size) MPI_Barrier(comm);
}
