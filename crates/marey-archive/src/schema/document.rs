//! `docs/archive.md`, written from the tables themselves.

use super::{Layout, SCHEMA_VERSION, TABLES, TableSpec};

/// The text of `docs/archive.md`.
pub fn document() -> String {
    let mut text = HEAD.replace("{version}", &SCHEMA_VERSION.to_string());
    for table in TABLES {
        push_table(&mut text, table);
    }
    text
}

fn push_table(text: &mut String, table: &TableSpec) {
    let place = match table.layout {
        Layout::Single => format!("`{}.parquet`", table.name),
        Layout::Parts => format!("`{}/*.parquet`", table.name),
    };
    text.push_str(&format!("\n### {}\n\n{place} — {}\n\n", table.name, table.doc));
    text.push_str("| column | type | unit | meaning |\n|---|---|---|---|\n");
    for column in table.columns {
        let mut doc = column.doc.replace('|', "\\|");
        if column.since > 1 {
            doc.push_str(&format!(" Since version {}.", column.since));
        }
        text.push_str(&format!("| {} | {} | {} | {doc} |\n", column.name, column.kind.name(), column.unit));
    }
}

const HEAD: &str = "\
# The archive

<!-- Written from crates/marey-archive/src/schema; \
`MAREY_UPDATE_DOCS=1 cargo test -p marey-archive` renews it. -->

A recorded run is a directory `run.marey/` of [Parquet](https://parquet.apache.org) files and a `meta.json`.
It needs no program of marey's to be read: DuckDB, Polars, Spark or DataFusion read it as it is.
This is version {version} of the schema.
Older archives stay readable; they lack the columns that are newer.
Times are as they were merged; a file `corrections.json` beside `meta.json` says what marey adds when it reads them \
([clocks](clocks.md)).

## Questions in one line

Total time per MPI function, seconds:

```sql
SELECT r.verb, sum(p.visits) AS calls, sum(p.inclusive) / 1e9 AS seconds FROM 'run.marey/profile.parquet' p JOIN 'run.marey/call_paths.parquet' c ON c.id = p.call_path JOIN 'run.marey/regions.parquet' r ON r.id = c.region WHERE r.level = 'mpi' GROUP BY ALL ORDER BY seconds DESC;
```

The ten longest visits, and where:

```sql
SELECT r.verb, l.name, i.start, i.duration FROM 'run.marey/intervals/*.parquet' i JOIN 'run.marey/call_paths.parquet' c ON c.id = i.call_path JOIN 'run.marey/regions.parquet' r ON r.id = c.region JOIN 'run.marey/locations.parquet' l ON l.id = i.location ORDER BY i.duration DESC LIMIT 10;
```

Who sent how much to whom:

```sql
SELECT s.rank AS source, d.rank AS destination, count(*) AS messages, sum(m.bytes) AS bytes FROM 'run.marey/messages/*.parquet' m JOIN 'run.marey/locations.parquet' s ON s.id = m.send_location JOIN 'run.marey/locations.parquet' d ON d.id = m.recv_location GROUP BY ALL ORDER BY bytes DESC;
```

A packed run (`marey pack`) is a ZIP file with the same files in it, stored without compression.

## Rules that hold for every table

- Times are whole nanoseconds since the start of the run, durations whole nanoseconds.
- No column has nulls.
  Where a value can be missing, −1 (`i64`) or 4294967295 (`u32`) stands for it; the column says so.
- A unit such as `regions.id` means: the column refers to that column of that table.
- Ids count from 0 and are the row number of their table unless a table has several rows per id.
- Large tables are directories of parts, `TABLE/sSLAB-gGROUP.parquet`, one per slab of time and group of locations.
  A part is written aside and renamed when it is complete, so a file that ends in `.parquet` is whole.
  A table of which the run has no rows may have no file.
- `meta.json` lists the parts of every table with number of rows, bytes and the time they span, and the facts of the \
run: command line, start (ns since 1970), duration (ns), hosts, launcher, MPI library, commit, title and memo, rules, directory, and the settings of the recorder as words of its command line (`settings`; `null` where they are not known), and what it was imported from (`imported_from`; empty where it was recorded), and whether it is a profile that does not say when anything was done (`without_times`).
  Its `state` is `merging` until all parts are there, then `finished`.
- Each page has its checksum in its header (CRC-32), as Parquet has it; `meta.json` has that of what stands behind the pages \
of a file, the footer and the bounds of pages, and in its first line (`crc32`) that of what stands behind this line.
  What does not fit is refused with the name of the file; whoever changes `meta.json` on purpose leaves out that line.
- Integers that come in long runs of one value are stored as runs (`RLE_DICTIONARY`), other instants and `lod.bucket` \
delta-packed (`DELTA_BINARY_PACKED`), other numbers byte by byte with LZ4 (`BYTE_STREAM_SPLIT`), texts with a \
dictionary and LZ4.
  Durations of which there are few are stored with a dictionary (`RLE_DICTIONARY`) where that is shorter.
  Each row group chooses for itself.
- A page has at most 16384 rows, or it is a single longer run, and there is a page index: \
a reader that uses the index reads only the pages that a condition on time or location can hit.

## Tables
";
