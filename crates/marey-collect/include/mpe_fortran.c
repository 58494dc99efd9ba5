/* mpe_fortran.c — the logging calls of MPE for Fortran programs, compiled with them.
 *
 * The one idea: Fortran names with one underscore and lengths behind the arguments, over the functions
 * of mpe.h, which find the recorder or do without. Blank text stands for none.
 */
#include "mpe.h"

/* The length of a character argument: 8 bytes in new compilers, of which the lower 4 count in old ones. */
typedef size_t marey_len_;

/* Text without trailing blanks, as C has it. */
#define MAREY_TEXT_ 256
static const char *marey_text_(char *room, const char *at, marey_len_ len) {
    len = (uint32_t)len;
    while (len > 0 && at[len - 1] == ' ') len--;
    if (len >= MAREY_TEXT_) len = MAREY_TEXT_ - 1;
    memcpy(room, at, len);
    room[len] = 0;
    return room;
}

/* The bytes of an event as MPE has them; null if all are blank. */
static const char *marey_bytes_(MPE_LOG_BYTES room, const char *at, marey_len_ len) {
    size_t idx, some = 0;
    len = (uint32_t)len;
    for (idx = 0; idx < len; idx++) some |= at[idx] != ' ';
    if (!some) return 0;
    memset(room, 0, MPE_LOG_BYTESIZE);
    memcpy(room, at, len < MPE_LOG_BYTESIZE ? len : MPE_LOG_BYTESIZE);
    return room;
}

#ifdef MPE_NOMPI
#define MAREY_COMM_(comm) (*(comm))
#else
#define MAREY_COMM_(comm) MPI_Comm_f2c(*(comm))
#endif

int mpe_init_log_(void) { return MPE_Init_log(); }
int mpe_initialized_logging_(void) { return MPE_Initialized_logging(); }
int mpe_start_log_(void) { return MPE_Start_log(); }
int mpe_stop_log_(void) { return MPE_Stop_log(); }
int mpe_log_sync_clocks_(void) { return MPE_Log_sync_clocks(); }
int mpe_log_get_event_number_(void) { return MPE_Log_get_event_number(); }
int mpe_log_get_state_eventids_(int *start, int *end) { return MPE_Log_get_state_eventIDs(start, end); }
int mpe_log_get_solo_eventid_(int *event) { return MPE_Log_get_solo_eventID(event); }

int mpe_finish_log_(const char *name, marey_len_ len) {
    char room[MAREY_TEXT_];
    return MPE_Finish_log(marey_text_(room, name, len));
}

int mpe_describe_comm_state_(const int *comm, const int *start, const int *end, const char *name,
                             const char *color, const char *format, marey_len_ name_len,
                             marey_len_ color_len, marey_len_ format_len) {
    char n[MAREY_TEXT_], c[MAREY_TEXT_], f[MAREY_TEXT_];
    return MPE_Describe_comm_state(MAREY_COMM_(comm), *start, *end, marey_text_(n, name, name_len),
                                   marey_text_(c, color, color_len), marey_text_(f, format, format_len));
}

int mpe_describe_info_state_(const int *start, const int *end, const char *name, const char *color,
                             const char *format, marey_len_ name_len, marey_len_ color_len,
                             marey_len_ format_len) {
    char n[MAREY_TEXT_], c[MAREY_TEXT_], f[MAREY_TEXT_];
    return MPE_Describe_info_state(*start, *end, marey_text_(n, name, name_len),
                                   marey_text_(c, color, color_len), marey_text_(f, format, format_len));
}

int mpe_describe_state_(const int *start, const int *end, const char *name, const char *color,
                        marey_len_ name_len, marey_len_ color_len) {
    char n[MAREY_TEXT_], c[MAREY_TEXT_];
    return MPE_Describe_state(*start, *end, marey_text_(n, name, name_len), marey_text_(c, color, color_len));
}

int mpe_describe_comm_event_(const int *comm, const int *event, const char *name, const char *color,
                             const char *format, marey_len_ name_len, marey_len_ color_len,
                             marey_len_ format_len) {
    char n[MAREY_TEXT_], c[MAREY_TEXT_], f[MAREY_TEXT_];
    return MPE_Describe_comm_event(MAREY_COMM_(comm), *event, marey_text_(n, name, name_len),
                                   marey_text_(c, color, color_len), marey_text_(f, format, format_len));
}

int mpe_describe_info_event_(const int *event, const char *name, const char *color, const char *format,
                             marey_len_ name_len, marey_len_ color_len, marey_len_ format_len) {
    char n[MAREY_TEXT_], c[MAREY_TEXT_], f[MAREY_TEXT_];
    return MPE_Describe_info_event(*event, marey_text_(n, name, name_len), marey_text_(c, color, color_len),
                                   marey_text_(f, format, format_len));
}

int mpe_describe_event_(const int *event, const char *name, const char *color, marey_len_ name_len,
                        marey_len_ color_len) {
    char n[MAREY_TEXT_], c[MAREY_TEXT_];
    return MPE_Describe_event(*event, marey_text_(n, name, name_len), marey_text_(c, color, color_len));
}

int mpe_log_event_(const int *event, const int *data, const char *bytes, marey_len_ len) {
    MPE_LOG_BYTES room;
    return MPE_Log_event(*event, *data, marey_bytes_(room, bytes, len));
}

int mpe_log_info_event_(const int *event, const char *bytes, marey_len_ len) {
    MPE_LOG_BYTES room;
    return MPE_Log_info_event(*event, marey_bytes_(room, bytes, len));
}

int mpe_log_comm_event_(const int *comm, const int *event, const char *bytes, marey_len_ len) {
    MPE_LOG_BYTES room;
    return MPE_Log_comm_event(MAREY_COMM_(comm), *event, marey_bytes_(room, bytes, len));
}

int mpe_log_bare_event_(const int *event) { return MPE_Log_bare_event(*event); }

int mpe_log_send_(const int *receiver, const int *tag, const int *size) {
    return MPE_Log_send(*receiver, *tag, *size);
}

int mpe_log_receive_(const int *sender, const int *tag, const int *size) {
    return MPE_Log_receive(*sender, *tag, *size);
}

/* The buffer is character(len=32), the token one character, the data anything. */
int mpe_log_pack_(char *bytes, int *position, const char *token, const int *count, const void *data) {
    return MPE_Log_pack(bytes, position, *token, *count, data);
}

void mpe_seq_begin_(const int *comm, const int *at_once) { MPE_Seq_begin(MAREY_COMM_(comm), *at_once); }
void mpe_seq_end_(const int *comm, const int *at_once) { MPE_Seq_end(MAREY_COMM_(comm), *at_once); }
