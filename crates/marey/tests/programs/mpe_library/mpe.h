/* What the header of an MPE library declares, of that what `mpe_all.c` calls: plain functions to link. */
#include <mpi.h>

typedef char MPE_LOG_BYTES[32];

int MPE_Init_log(void);
int MPE_Initialized_logging(void);
int MPE_Start_log(void);
int MPE_Stop_log(void);
int MPE_Log_sync_clocks(void);
int MPE_Finish_log(const char *);
const char *MPE_Log_merged_logfilename(void);
int MPE_Log_get_state_eventIDs(int *, int *);
int MPE_Log_get_solo_eventID(int *);
int MPE_Describe_state(int, int, const char *, const char *);
int MPE_Describe_info_state(int, int, const char *, const char *, const char *);
int MPE_Describe_info_event(int, const char *, const char *, const char *);
int MPE_Describe_comm_event(MPI_Comm, int, const char *, const char *, const char *);
int MPE_Log_event(int, int, const char *);
int MPE_Log_bare_event(int);
int MPE_Log_info_event(int, const char *);
int MPE_Log_pack(MPE_LOG_BYTES, int *, char, int, const void *);
int MPE_Log_send(int, int, int);
void MPE_Seq_begin(MPI_Comm, int);
void MPE_Seq_end(MPI_Comm, int);
