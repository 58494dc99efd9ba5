/* Words that stand for others. */
#define SILENT __attribute__((no_instrument_function))
#define QUIET \
    SILENT
#define EVERYWHERE constexpr
