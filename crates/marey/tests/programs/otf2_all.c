/* Writes an OTF2 archive with every kind of record that events can have, by OTF2's own library: two ranks, one with a
 * thread beside it. Numbers in events are those of the location, and differ from those of the archive; clocks of all but
 * the first location are off, by more and more. What is random follows from a number that is given. */
#include <otf2/otf2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOCATIONS = 3, REGIONS = 6, STRINGS = 40, RESOLUTION = 2500000000U, BEGIN = 1000000007 };

static uint64_t state;

static uint64_t next(uint64_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state % below;
}

static OTF2_FlushType flush(void *u, OTF2_FileType t, OTF2_LocationRef l, void *c, bool f) {
    (void)u, (void)t, (void)l, (void)c, (void)f;
    return OTF2_FLUSH;
}
static OTF2_TimeStamp after(void *u, OTF2_FileType t, OTF2_LocationRef l) {
    (void)u, (void)t, (void)l;
    return 0;
}
static OTF2_FlushCallbacks flushes = {flush, after};

static void must(OTF2_ErrorCode code) {
    if (code != OTF2_SUCCESS) fprintf(stderr, "%s\n", OTF2_Error_GetName(code)), exit(1);
}

/* Numbers of a location stand the other way round. */
static uint32_t own(uint32_t number, uint32_t location, uint32_t of) { return location ? of - 1 - number : number; }

static OTF2_EvtWriter *writer[LOCATIONS];
static uint64_t now = BEGIN;

/* What the clock of a location shows then. */
static uint64_t shown(uint32_t location) { return location ? now - 1000 * location - (now - BEGIN) / 100000 : now; }

static OTF2_AttributeList *attributes(void) {
    if (next(4)) return NULL;
    OTF2_AttributeList *list = OTF2_AttributeList_New();
    OTF2_AttributeList_AddUint8(list, 0, next(256));
    OTF2_AttributeList_AddInt16(list, 1, -(int16_t)next(1000));
    OTF2_AttributeList_AddUint64(list, 2, next(1ULL << 60));
    OTF2_AttributeList_AddInt32(list, 3, -(int32_t)next(1000));
    OTF2_AttributeList_AddFloat(list, 4, 0.25F);
    OTF2_AttributeList_AddDouble(list, 5, -1.5);
    OTF2_AttributeList_AddInt64(list, 6, -(int64_t)next(1ULL << 60));
    return list;
}

/* Messages that are under way to each rank: sender's rank, tag and size. */
static struct { uint32_t tag; uint64_t bytes; } queue[2][1 << 16];
static size_t head[2], tail[2];

static void odd(uint32_t location, uint64_t at, OTF2_AttributeList *list, uint32_t which) {
    OTF2_EvtWriter *to = writer[location];
    uint64_t big = next(1ULL << 62);
    uint32_t small = next(1000);
    switch (which) {
    case 0: must(OTF2_EvtWriter_BufferFlush(to, list, at, at)); break;
    case 1: must(OTF2_EvtWriter_MeasurementOnOff(to, list, at, small % 2 ? OTF2_MEASUREMENT_ON : OTF2_MEASUREMENT_OFF)); break;
    case 2: must(OTF2_EvtWriter_MpiRequestTest(to, list, at, big)); break;
    case 3: must(OTF2_EvtWriter_MpiCollectiveBegin(to, list, at)); break;
    case 4: must(OTF2_EvtWriter_OmpFork(to, list, at, small)); break;
    case 5: must(OTF2_EvtWriter_OmpJoin(to, list, at)); break;
    case 6: must(OTF2_EvtWriter_OmpAcquireLock(to, list, at, small, 1)); break;
    case 7: must(OTF2_EvtWriter_OmpReleaseLock(to, list, at, small, 1)); break;
    case 8: must(OTF2_EvtWriter_OmpTaskCreate(to, list, at, big)); break;
    case 9: must(OTF2_EvtWriter_OmpTaskSwitch(to, list, at, big)); break;
    case 10: must(OTF2_EvtWriter_OmpTaskComplete(to, list, at, big)); break;
    case 11: must(OTF2_EvtWriter_ParameterString(to, list, at, 0, own(3, location, STRINGS))); break;
    case 12: must(OTF2_EvtWriter_ParameterInt(to, list, at, 1, -(int64_t)big)); break;
    case 13: must(OTF2_EvtWriter_ParameterUnsignedInt(to, list, at, 2, big)); break;
    case 14: must(OTF2_EvtWriter_RmaWinCreate(to, list, at, 0)); break;
    case 15: must(OTF2_EvtWriter_RmaWinDestroy(to, list, at, 0)); break;
    case 16: must(OTF2_EvtWriter_RmaCollectiveBegin(to, list, at)); break;
    case 17: must(OTF2_EvtWriter_RmaCollectiveEnd(to, list, at, OTF2_COLLECTIVE_OP_BARRIER, OTF2_RMA_SYNC_LEVEL_PROCESS, 0, 0, big, small)); break;
    case 18: must(OTF2_EvtWriter_RmaGroupSync(to, list, at, OTF2_RMA_SYNC_LEVEL_MEMORY, 0, 1)); break;
    case 19: must(OTF2_EvtWriter_RmaRequestLock(to, list, at, 0, small, big, OTF2_LOCK_EXCLUSIVE)); break;
    case 20: must(OTF2_EvtWriter_RmaAcquireLock(to, list, at, 0, small, big, OTF2_LOCK_SHARED)); break;
    case 21: must(OTF2_EvtWriter_RmaTryLock(to, list, at, 0, small, big, OTF2_LOCK_SHARED)); break;
    case 22: must(OTF2_EvtWriter_RmaReleaseLock(to, list, at, 0, small, big)); break;
    case 23: must(OTF2_EvtWriter_RmaSync(to, list, at, 0, small, OTF2_RMA_SYNC_TYPE_NOTIFY_IN)); break;
    case 24: must(OTF2_EvtWriter_RmaWaitChange(to, list, at, 0)); break;
    case 25: must(OTF2_EvtWriter_RmaPut(to, list, at, 0, small, big, 7)); break;
    case 26: must(OTF2_EvtWriter_RmaGet(to, list, at, 0, small, big, 7)); break;
    case 27: must(OTF2_EvtWriter_RmaAtomic(to, list, at, 0, small, OTF2_RMA_ATOMIC_TYPE_SWAP, big, 8, 9)); break;
    case 28: must(OTF2_EvtWriter_RmaOpCompleteBlocking(to, list, at, 0, big)); break;
    case 29: must(OTF2_EvtWriter_RmaOpCompleteNonBlocking(to, list, at, 0, big)); break;
    case 30: must(OTF2_EvtWriter_RmaOpTest(to, list, at, 0, big)); break;
    case 31: must(OTF2_EvtWriter_RmaOpCompleteRemote(to, list, at, 0, big)); break;
    case 32: must(OTF2_EvtWriter_ThreadFork(to, list, at, OTF2_PARADIGM_OPENMP, small)); break;
    case 33: must(OTF2_EvtWriter_ThreadJoin(to, list, at, OTF2_PARADIGM_OPENMP)); break;
    case 34: must(OTF2_EvtWriter_ThreadTeamBegin(to, list, at, 1)); break;
    case 35: must(OTF2_EvtWriter_ThreadTeamEnd(to, list, at, 1)); break;
    case 36: must(OTF2_EvtWriter_ThreadAcquireLock(to, list, at, OTF2_PARADIGM_PTHREAD, small, 2)); break;
    case 37: must(OTF2_EvtWriter_ThreadReleaseLock(to, list, at, OTF2_PARADIGM_PTHREAD, small, 2)); break;
    case 38: must(OTF2_EvtWriter_ThreadTaskCreate(to, list, at, 1, small, 3)); break;
    case 39: must(OTF2_EvtWriter_ThreadTaskSwitch(to, list, at, 1, small, 3)); break;
    case 40: must(OTF2_EvtWriter_ThreadTaskComplete(to, list, at, 1, small, 3)); break;
    case 41: must(OTF2_EvtWriter_ThreadCreate(to, list, at, 1, big)); break;
    case 42: must(OTF2_EvtWriter_ThreadBegin(to, list, at, 1, big)); break;
    case 43: must(OTF2_EvtWriter_ThreadWait(to, list, at, 1, big)); break;
    case 44: must(OTF2_EvtWriter_ThreadEnd(to, list, at, 1, big)); break;
    case 45: must(OTF2_EvtWriter_CallingContextSample(to, list, at, 0, small, 0)); break;
    case 46: must(OTF2_EvtWriter_IoCreateHandle(to, list, at, 0, OTF2_IO_ACCESS_MODE_READ_WRITE, small, 1)); break;
    case 47: must(OTF2_EvtWriter_IoDestroyHandle(to, list, at, 0)); break;
    case 48: must(OTF2_EvtWriter_IoDuplicateHandle(to, list, at, 0, 0, small)); break;
    case 49: must(OTF2_EvtWriter_IoSeek(to, list, at, 0, -(int64_t)big, OTF2_IO_SEEK_FROM_END, big)); break;
    case 50: must(OTF2_EvtWriter_IoChangeStatusFlags(to, list, at, 0, small)); break;
    case 51: must(OTF2_EvtWriter_IoDeleteFile(to, list, at, 0, 0)); break;
    case 52: must(OTF2_EvtWriter_IoOperationBegin(to, list, at, 0, OTF2_IO_OPERATION_MODE_WRITE, 1, big, 5)); break;
    case 53: must(OTF2_EvtWriter_IoOperationTest(to, list, at, 0, big)); break;
    case 54: must(OTF2_EvtWriter_IoOperationIssued(to, list, at, 0, big)); break;
    case 55: must(OTF2_EvtWriter_IoOperationComplete(to, list, at, 0, big, 5)); break;
    case 56: must(OTF2_EvtWriter_IoOperationCancelled(to, list, at, 0, big)); break;
    case 57: must(OTF2_EvtWriter_IoAcquireLock(to, list, at, 0, OTF2_LOCK_SHARED)); break;
    case 58: must(OTF2_EvtWriter_IoReleaseLock(to, list, at, 0, OTF2_LOCK_SHARED)); break;
    case 59: must(OTF2_EvtWriter_IoTryLock(to, list, at, 0, OTF2_LOCK_SHARED)); break;
    case 60: must(OTF2_EvtWriter_NonBlockingCollectiveRequest(to, list, at, big)); break;
    case 61: must(OTF2_EvtWriter_NonBlockingCollectiveComplete(to, list, at, OTF2_COLLECTIVE_OP_BARRIER, 0, OTF2_COLLECTIVE_ROOT_NONE, 0, 0, big)); break;
    case 62: must(OTF2_EvtWriter_CommCreate(to, list, at, 0)); break;
    case 63: must(OTF2_EvtWriter_CommDestroy(to, list, at, 0)); break;
    }
}

enum { ODD = 64, MPI = 3 };

/* Messages are sent and received by calls of their own, also where one of MPI is open; in functions of the program some
 * are by none. */
static bool call(uint32_t location, uint32_t open) {
    bool is_own = open == 1 || open == MPI || open == 4 || next(2);
    if (is_own) must(OTF2_EvtWriter_Enter(writer[location], NULL, shown(location), own(MPI, location, REGIONS)));
    return is_own;
}

static void back(uint32_t location, bool is_own) {
    if (is_own) must(OTF2_EvtWriter_Leave(writer[location], NULL, shown(location), own(MPI, location, REGIONS)));
}

static void events(uint64_t steps) {
    uint32_t stack[LOCATIONS][64], depth[LOCATIONS] = {0}, todo = 0;
    for (uint32_t it = 0; it < LOCATIONS; it++) {
        uint32_t arguments[] = {own(4, it, STRINGS), own(5, it, STRINGS)};
        must(OTF2_EvtWriter_ProgramBegin(writer[it], NULL, shown(it), own(3, it, STRINGS), 2, arguments));
    }
    for (uint64_t step = 0; step < steps; step++) {
        uint32_t it = next(LOCATIONS), rank = it / 2, peer = !rank;
        now += 1 + next(next(8) ? 5000 : 50000000);
        uint64_t at = shown(it);
        OTF2_AttributeList *list = attributes();
        uint32_t what = next(12);
        if (depth[it] == 0 || (what < 3 && depth[it] < 60)) {
            uint32_t region = stack[it][depth[it]++] = next(REGIONS);
            must(OTF2_EvtWriter_Enter(writer[it], list, at, own(region, it, REGIONS)));
        } else if (what < 6) {
            must(OTF2_EvtWriter_Leave(writer[it], list, at, own(stack[it][--depth[it]], it, REGIONS)));
        } else if (what == 6 && it != 1) {
            /* To the other rank, and what has come from it. */
            uint32_t tag = next(3);
            uint64_t bytes = next(1 << 20), request = step + 1;
            bool is_own = call(it, stack[it][depth[it] - 1]);
            if (next(2)) {
                must(OTF2_EvtWriter_MpiSend(writer[it], list, at, peer, 0, tag, bytes));
            } else {
                must(OTF2_EvtWriter_MpiIsend(writer[it], list, at, peer, 0, tag, bytes, request));
                must(OTF2_EvtWriter_MpiIsendComplete(writer[it], NULL, at, request));
            }
            queue[peer][tail[peer]].tag = tag, queue[peer][tail[peer]++].bytes = bytes;
            back(it, is_own);
        } else if (what == 7 && it != 1 && head[rank] < tail[rank]) {
            uint32_t tag = queue[rank][head[rank]].tag;
            uint64_t bytes = queue[rank][head[rank]++].bytes, request = step + 1;
            bool is_own = call(it, stack[it][depth[it] - 1]);
            if (next(2)) {
                must(OTF2_EvtWriter_MpiRecv(writer[it], list, at, peer, 0, tag, bytes));
            } else {
                must(OTF2_EvtWriter_MpiIrecvRequest(writer[it], NULL, at, request));
                must(OTF2_EvtWriter_MpiIrecv(writer[it], list, at, peer, 0, tag, bytes, request));
            }
            back(it, is_own);
        } else if (what == 8) {
            OTF2_Type types[] = {OTF2_TYPE_UINT64, OTF2_TYPE_INT64, OTF2_TYPE_DOUBLE};
            OTF2_MetricValue values[3];
            values[0].unsigned_int = next(1ULL << 50), values[1].signed_int = -(int64_t)next(1ULL << 50), values[2].floating_point = next(1000) / 8.0;
            must(OTF2_EvtWriter_Metric(writer[it], list, at, 0, 3, types, values));
        } else if (what == 9 && it == 1) {
            must(OTF2_EvtWriter_MpiIrecvRequest(writer[it], NULL, at, step));
            must(OTF2_EvtWriter_MpiRequestCancelled(writer[it], list, at, step));
        } else {
            odd(it, at, list, todo++ % ODD);
        }
        if (list) OTF2_AttributeList_Delete(list);
    }
    /* What has not arrived yet does, collectives that both ranks are in, and what is open ends. */
    for (uint32_t it = 0; it < LOCATIONS; it += 2)
        for (uint32_t rank = it / 2; head[rank] < tail[rank]; head[rank]++)
        {
            now += 10;
            bool is_own = call(it, MPI);
            must(OTF2_EvtWriter_MpiRecv(writer[it], NULL, shown(it), !rank, 0, queue[rank][head[rank]].tag, queue[rank][head[rank]].bytes));
            back(it, is_own);
        }
    for (int turn = 0; turn < 5; turn++)
        for (uint32_t it = 0; it < LOCATIONS; it += 2) {
            now += 100;
            must(OTF2_EvtWriter_Enter(writer[it], NULL, shown(it), own(1, it, REGIONS)));
            now += 100;
            must(OTF2_EvtWriter_MpiCollectiveEnd(writer[it], NULL, shown(it), OTF2_COLLECTIVE_OP_ALLREDUCE, 0, OTF2_COLLECTIVE_ROOT_NONE, 8, 16));
            must(OTF2_EvtWriter_Leave(writer[it], NULL, shown(it), own(1, it, REGIONS)));
        }
    for (uint32_t it = 0; it < LOCATIONS; it++) {
        while (depth[it]) now += 1000, must(OTF2_EvtWriter_Leave(writer[it], NULL, shown(it), own(stack[it][--depth[it]], it, REGIONS)));
        /* By way of calling contexts: in and out of one and the one within. */
        for (uint32_t context = 0; context < 2; context++) now += 7, must(OTF2_EvtWriter_CallingContextEnter(writer[it], NULL, shown(it), context, 1));
        for (uint32_t context = 2; context-- > 0;) now += 7, must(OTF2_EvtWriter_CallingContextLeave(writer[it], NULL, shown(it), context));
        must(OTF2_EvtWriter_ProgramEnd(writer[it], NULL, shown(it), 0));
    }
}

/* What differs between a location's numbers and those of the archive, and how far its clock is off. */
static void local(OTF2_DefWriter *to, uint32_t location) {
    if (location) {
        uint64_t strings[STRINGS], regions[REGIONS];
        for (uint32_t it = 0; it < STRINGS; it++) strings[it] = STRINGS - 1 - it;
        for (uint32_t it = 0; it < REGIONS; it++) regions[it] = REGIONS - 1 - it;
        OTF2_IdMap *map = OTF2_IdMap_CreateFromUint64Array(STRINGS, strings, false);
        must(OTF2_DefWriter_WriteMappingTable(to, OTF2_MAPPING_STRING, map));
        OTF2_IdMap_Free(map);
        map = OTF2_IdMap_CreateFromUint64Array(REGIONS, regions, location == 2);
        must(OTF2_DefWriter_WriteMappingTable(to, OTF2_MAPPING_REGION, map));
        OTF2_IdMap_Free(map);
    }
    uint64_t last = now;
    now = BEGIN;
    must(OTF2_DefWriter_WriteClockOffset(to, shown(location), (int64_t)(now - shown(location)), 0));
    now = last;
    must(OTF2_DefWriter_WriteClockOffset(to, shown(location), (int64_t)(now - shown(location)), 0));
}

static void definitions(OTF2_GlobalDefWriter *to, uint64_t *counts) {
    static const char *names[] = {"", "machine", "node", "program", "first", "second", "source.c", "main", "MPI_Allreduce", "solve", "MPI_Send", "MPI_Wait", "loop at 5", "MPI_COMM_WORLD", "misses", "1", "residual", "MPI", "thread", "process", "window", "attribute", "unsigned", "signed", "text", "file", "POSIX", "hits"};
    uint32_t n_names = sizeof names / sizeof *names;
    must(OTF2_GlobalDefWriter_WriteClockProperties(to, RESOLUTION, BEGIN, now - BEGIN, 1700000000000000000ULL));
    for (uint32_t it = 0; it < STRINGS; it++) must(OTF2_GlobalDefWriter_WriteString(to, it, it < n_names ? names[it] : "more"));
    must(OTF2_GlobalDefWriter_WriteSystemTreeNode(to, 0, 1, 1, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    must(OTF2_GlobalDefWriter_WriteSystemTreeNode(to, 1, 19, 2, 0));
    for (uint32_t it = 0; it < 2; it++) must(OTF2_GlobalDefWriter_WriteLocationGroup(to, it, 19, OTF2_LOCATION_GROUP_TYPE_PROCESS, 1, OTF2_UNDEFINED_LOCATION_GROUP));
    for (uint32_t it = 0; it < LOCATIONS; it++) must(OTF2_GlobalDefWriter_WriteLocation(to, it, 18, OTF2_LOCATION_TYPE_CPU_THREAD, counts[it], it / 2));
    uint32_t regions[REGIONS] = {7, 8, 9, 10, 11, 12};
    for (uint32_t it = 0; it < REGIONS; it++) {
        bool is_mpi = !strncmp(names[regions[it]], "MPI_", 4);
        must(OTF2_GlobalDefWriter_WriteRegion(to, it, regions[it], regions[it], 0, is_mpi ? OTF2_REGION_ROLE_POINT2POINT : OTF2_REGION_ROLE_FUNCTION, is_mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_COMPILER, OTF2_REGION_FLAG_NONE, is_mpi ? 0 : 6, 10 + it, 20 + it));
    }
    for (uint32_t it = 0; it < 7; it++) {
        OTF2_Type types[] = {OTF2_TYPE_UINT8, OTF2_TYPE_INT16, OTF2_TYPE_UINT64, OTF2_TYPE_INT32, OTF2_TYPE_FLOAT, OTF2_TYPE_DOUBLE, OTF2_TYPE_INT64};
        must(OTF2_GlobalDefWriter_WriteAttribute(to, it, 21, 0, types[it]));
    }
    uint64_t locations[] = {0, 2}, ranks[] = {0, 1};
    must(OTF2_GlobalDefWriter_WriteGroup(to, 0, 17, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2, locations));
    must(OTF2_GlobalDefWriter_WriteGroup(to, 1, 17, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2, ranks));
    must(OTF2_GlobalDefWriter_WriteComm(to, 0, 13, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    must(OTF2_GlobalDefWriter_WriteComm(to, 1, 18, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    must(OTF2_GlobalDefWriter_WriteRmaWin(to, 0, 20, 0, OTF2_RMA_WIN_FLAG_NONE));
    uint32_t members[] = {0, 1, 2};
    for (uint32_t it = 0; it < 3; it++) {
        OTF2_Type types[] = {OTF2_TYPE_UINT64, OTF2_TYPE_INT64, OTF2_TYPE_DOUBLE};
        must(OTF2_GlobalDefWriter_WriteMetricMember(to, it, it == 2 ? 16 : it == 1 ? 27 : 14, 0, OTF2_METRIC_TYPE_USER, OTF2_METRIC_ABSOLUTE_POINT, types[it], OTF2_BASE_DECIMAL, it == 1 ? 3 : 0, 15));
    }
    must(OTF2_GlobalDefWriter_WriteMetricClass(to, 0, 3, members, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
    must(OTF2_GlobalDefWriter_WriteParameter(to, 0, 24, OTF2_PARAMETER_TYPE_STRING));
    must(OTF2_GlobalDefWriter_WriteParameter(to, 1, 23, OTF2_PARAMETER_TYPE_INT64));
    must(OTF2_GlobalDefWriter_WriteParameter(to, 2, 22, OTF2_PARAMETER_TYPE_UINT64));
    must(OTF2_GlobalDefWriter_WriteCallingContext(to, 0, 0, OTF2_UNDEFINED_SOURCE_CODE_LOCATION, OTF2_UNDEFINED_CALLING_CONTEXT));
    must(OTF2_GlobalDefWriter_WriteCallingContext(to, 1, 2, OTF2_UNDEFINED_SOURCE_CODE_LOCATION, 0));
    must(OTF2_GlobalDefWriter_WriteInterruptGenerator(to, 0, 14, OTF2_INTERRUPT_GENERATOR_MODE_TIME, OTF2_BASE_DECIMAL, -3, 1));
    OTF2_IoParadigmProperty properties[1];
    OTF2_Type types[1];
    OTF2_AttributeValue values[1];
    must(OTF2_GlobalDefWriter_WriteIoParadigm(to, 0, 26, 26, OTF2_IO_PARADIGM_CLASS_SERIAL, OTF2_IO_PARADIGM_FLAG_OS, 0, properties, types, values));
    must(OTF2_GlobalDefWriter_WriteIoRegularFile(to, 0, 25, 1));
    must(OTF2_GlobalDefWriter_WriteIoHandle(to, 0, 25, 0, 0, 0, 0, OTF2_UNDEFINED_IO_HANDLE));
}

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "DIRECTORY NUMBER STEPS\n"), 2;
    state = strtoull(argv[2], NULL, 10) * 2654435761U + 88172645463325252ULL;
    OTF2_Archive *archive = OTF2_Archive_Open(argv[1], "traces", OTF2_FILEMODE_WRITE, 256 << 10, 256 << 10, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    must(OTF2_Archive_SetFlushCallbacks(archive, &flushes, NULL));
    must(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
    must(OTF2_Archive_SetCreator(archive, "a foreign writer"));
    must(OTF2_Archive_OpenEvtFiles(archive));
    for (uint32_t it = 0; it < LOCATIONS; it++) writer[it] = OTF2_Archive_GetEvtWriter(archive, it);
    events(strtoull(argv[3], NULL, 10));
    uint64_t counts[LOCATIONS];
    for (uint32_t it = 0; it < LOCATIONS; it++) {
        must(OTF2_EvtWriter_GetNumberOfEvents(writer[it], &counts[it]));
        must(OTF2_Archive_CloseEvtWriter(archive, writer[it]));
    }
    must(OTF2_Archive_CloseEvtFiles(archive));
    must(OTF2_Archive_OpenDefFiles(archive));
    for (uint32_t it = 0; it < LOCATIONS; it++) {
        OTF2_DefWriter *to = OTF2_Archive_GetDefWriter(archive, it);
        local(to, it);
        must(OTF2_Archive_CloseDefWriter(archive, to));
    }
    must(OTF2_Archive_CloseDefFiles(archive));
    definitions(OTF2_Archive_GetGlobalDefWriter(archive), counts);
    must(OTF2_Archive_Close(archive));
    return 0;
}
