"""Asks a run in SQL what a viewer asks: `ask.py RUN`. For benches, with DuckDB.

Figures, one a line, in ns: `whole_ns`, a picture of the whole run, the time of each region in each bucket of each line;
`states_…` the same of windows of any length, as many short ones as long ones; `exact_ms_…` all visits in 1 ms;
`totals_ns` and `totals_span_…`, the time of each region over all locations, of the whole run and of any window.

A screen is 1 700 pixels wide and has room for 50 rows. Windows are drawn by chance as the engine's are, fewer of them.
The files are read by their names alone, in one process that stays: its connection keeps what it learned of their footers.
"""

import sys
import time

import duckdb

PIXELS = 1700
ROWS = 50


class Chance:
    """Numbers as good as random, the same every time."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return self.state >> 33


run = sys.argv[1]
db = duckdb.connect()
db.execute("SET parquet_metadata_cache = true")
db.execute(
    f"""CREATE TABLE paths AS SELECT c.id AS path, r.id AS region, r.level_id AS level FROM '{run}/call_paths.parquet' c
        JOIN '{run}/regions.parquet' r ON r.id = c.region"""
)
intervals = f"'{run}/intervals/*.parquet'"
end, locations = db.execute(
    f"""SELECT (SELECT max("end") FROM '{run}/locations.parquet'), (SELECT count(*) FROM '{run}/locations.parquet')"""
).fetchone()


def timed(sql, repeat):
    """How long it took to have all rows, in columns in memory, in ns, so many times."""
    times = []
    for number in range(repeat):
        text = sql(number)
        begin = time.perf_counter_ns()
        db.execute(f"CREATE OR REPLACE TEMP TABLE answer AS {text}")
        times.append(time.perf_counter_ns() - begin)
    return sorted(times)


def within(first, to, rows):
    return f"""FROM {intervals} i JOIN paths p ON p.path = i.call_path WHERE i.location >= {rows[0]}
        AND i.location < {rows[1]} AND i.start < {to} AND i.start + i.duration > {first}"""


def picture(first, to, rows):
    """Visits are cut where buckets begin."""
    log2 = max((to - first) // PIXELS, 1).bit_length() - 1 + (rows[1] - rows[0] > 16)
    return f"""WITH pieces AS (SELECT location, level, depth, region, start, start + duration AS stop,
            unnest(range(greatest(start, {first}) >> {log2}, ((least(start + duration, {to}) - 1) >> {log2}) + 1)) AS bucket
            {within(first, to, rows)})
        SELECT location, level, depth, bucket, region,
            sum(least(stop, {to}, (bucket + 1) << {log2}) - greatest(start, {first}, bucket << {log2})) AS busy
        FROM pieces GROUP BY ALL ORDER BY location, level, depth, bucket, busy DESC"""


def totals(first, to):
    return f"""SELECT region, sum(least(start + duration, {to}) - greatest(start, {first})) AS busy
        {within(first, to, (0, locations))} GROUP BY ALL ORDER BY busy DESC"""


chance, picks = Chance(7), Chance(11)


def window(least):
    octaves = max(end // least, 2).bit_length() - 1
    length = min(max(end >> (chance.next() % (octaves + 1)), least), end)
    first = chance.next() % (end - length + 1)
    return first, first + length


def some_rows():
    rows = min(ROWS, locations)
    first = picks.next() % (locations - rows + 1)
    return first, first + rows


def exact(first):
    return f"SELECT i.* EXCLUDE (call_path), p.region {within(first, first + 1_000_000, some_rows())} ORDER BY location, start"


def say(name, times):
    for quantile in (50, 95, 99):
        print(f"{name}_p{quantile}_ns", times[len(times) * quantile // 100])


whole = timed(lambda _: picture(0, end, (0, min(ROWS, locations))), 3)
print("whole_ns", whole[1])
say("states", timed(lambda _: picture(*window(2000), some_rows()), 40))
say("exact_ms", timed(lambda _: exact(window(min(1_000_000, end))[0]), 40))
everything = timed(
    lambda _: f"""SELECT region, sum(inclusive) AS busy FROM '{run}/profile.parquet' f JOIN paths p ON p.path = f.call_path
        GROUP BY ALL ORDER BY busy DESC""",
    5,
)
print("totals_ns", everything[2])
say("totals_span", timed(lambda _: totals(*window(2000)), 40))
