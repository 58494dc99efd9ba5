//! A small run, written table by table: two ranks that exchange messages under a region of the
//! program, with names of every kind that a report has to get along with.

use std::path::Path;

use marey_archive::schema::{self, NONE, TableSpec};
use marey_archive::{Columns, Meta, Part, RunFacts, State, Value, write_table};

/// A row of a table, written down shortly.
enum V {
    U(u32),
    I(i64),
    F(f64),
    T(&'static str),
}
use V::{F, I, T, U};

impl V {
    fn value(&self) -> Value<'_> {
        match self {
            U(value) => Value::U32(*value),
            I(value) => Value::I64(*value),
            F(value) => Value::F64(*value),
            T(value) => Value::Text(value),
        }
    }
}

const MS: i64 = 1_000_000;

/// Writes the run into `dir`, which must not exist yet.
pub(crate) fn write(dir: &Path) {
    std::fs::create_dir(dir).unwrap();
    let run = RunFacts {
        command: ["mpirun", "-n", "2", "./app"].map(str::to_owned).to_vec(),
        start_realtime_ns: 1_795_245_324_000_000_000,
        duration_ns: 100 * MS,
        hosts: vec!["node1".to_owned()],
        launcher: "mpirun".to_owned(),
        mpi_library: "Open MPI v4.1.4, package: Debian".to_owned(),
        git_commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
        title: "a small run".to_owned(),
        memo: String::new(),
        rules: Vec::new(),
        directory: String::new(),
        job_step: String::new(),
        settings: None,
        imported_from: String::new(),
        without_times: false,
    };
    let mut meta = Meta::new(run);
    meta.state = State::Finished;
    meta.counts =
        [("intervals", 8), ("messages", 2), ("events", 1), ("recorded", 20), ("overhead_ns", 500_000)]
            .into_iter()
            .chain([("sampled_calls", 4), ("sampled_ns", 480)])
            .chain([("heap_blocks", 304), ("heap_bytes", 22_815_528)])
            .chain([("samples", 18), ("sampled_time_ns", 90_000_000)])
            .map(|(name, count)| (name.to_owned(), count))
            .collect();
    let mut put = |spec: &'static TableSpec, rows: &[Vec<V>]| add(dir, &mut meta, spec, rows);
    definitions(&mut put);
    happenings(&mut put);
    sums(&mut put);
    meta.save(dir).unwrap();
}

fn add(dir: &Path, meta: &mut Meta, spec: &'static TableSpec, rows: &[Vec<V>]) {
    let mut columns = Columns::new(spec);
    for row in rows {
        columns.push(&row.iter().map(V::value).collect::<Vec<_>>()).unwrap();
    }
    let part = match spec.layout {
        schema::Layout::Single => Part::new(spec, 0, 0, write_table(dir, &columns).unwrap()),
        schema::Layout::Parts => {
            let mut writer = marey_archive::PartWriter::create(&dir.join(spec.file(0, 0)), spec).unwrap();
            writer.write(&columns).unwrap();
            Part::new(spec, 0, 0, writer.finish().unwrap())
        }
    };
    meta.add(spec, part);
}

type Put<'a> = dyn FnMut(&'static TableSpec, &[Vec<V>]) + 'a;

fn definitions(put: &mut Put<'_>) {
    put(
        &schema::LEVELS,
        &[
            vec![U(0), T("source"), T("source"), T("")],
            vec![U(1), T("mpi"), T("runtime"), T("")],
            vec![U(2), T("memory"), T("runtime"), T("")],
        ],
    );
    let region = |id, level: &'static str, verb, noun, role, file, line| {
        vec![U(id), T(level), T(verb), T(noun), T(role), U(0), U(0), U(NONE), T(file), U(line)]
    };
    put(
        &schema::REGIONS,
        &[
            region(0, "source", "execute", "halo", "work", "/src/halo.cpp", 30),
            region(1, "mpi", "MPI_Send", "", "transfer", "", 0),
            region(2, "mpi", "MPI_Recv", "", "wait", "", 0),
            region(3, "mpi", "MPI_Barrier", "", "barrier", "", 0),
            region(4, "memory", "malloc", "", "manage", "", 0),
        ],
    );
    let process = |id, rank, end, outcome, code| {
        let start = vec![U(id), T("node1"), U(4000 + id), U(0), I(rank), I(2), T("./app"), T("/bin/app")];
        let rest = vec![I(0), I(end), T(outcome), I(code), T("Open MPI v4.1.4"), T("single"), I(3 << 20)];
        // The one that was killed could not say what it had used.
        let known = |value: i64| I(if code == 0 { value } else { -1 });
        let used = vec![known(64 << 20), known(80 * MS), known(5 * MS), known(0), known(12), known(3)];
        [start, rest, used].into_iter().flatten().collect()
    };
    put(&schema::PROCESSES, &[process(0, 0, 100 * MS, "finished", 0), process(1, 1, 90 * MS, "killed", -1)]);
    // Rank 1 was killed in its barrier.
    put(&schema::OPEN_AT_END, &[vec![U(1), U(0), U(3), I(60 * MS)]]);
    let location = |id, rank, end| {
        let start = vec![U(id), U(id), T("main"), T("thread"), U(0), I(4000), T("node1"), U(0), I(rank)];
        [start, vec![I(0), I(end), I(-1)]].into_iter().flatten().collect()
    };
    put(&schema::LOCATIONS, &[location(0, 0, 100 * MS), location(1, 1, 90 * MS)]);
    put(&schema::MODULES, &[vec![U(0), T("/bin/app"), T("")]]);
    let stacks: [&[i64]; 5] = [
        &[0x300, 0x200, 0x100],
        &[0x310, 0x200, 0x100],
        &[0x110, 0x100],
        &[0x400, 0x200, 0x100],
        &[0x410, 0x200, 0x100],
    ];
    let mut rows = Vec::new();
    for (id, stack) in (0..).zip(stacks) {
        for (place, &vaddr) in (0..).zip(stack) {
            rows.push(vec![U(id), U(place), U(0), I(vaddr)]);
        }
    }
    put(&schema::STACKS, &rows);
    let frame =
        |vaddr, function, file, line| vec![U(0), I(vaddr), U(0), T(function), T(file), U(line), T("lines")];
    put(
        &schema::FRAMES,
        &[
            frame(0x100, "_start", "", 0),
            frame(0x110, "main", "/src/main.c", 12),
            frame(0x200, "main", "/src/main.c", 10),
            frame(0x300, "exchange(double*, \x1b[31mint)", "/src/halo.cpp", 41),
            frame(0x310, "exchange(double*, \x1b[31mint)", "/src/halo.cpp", 43),
            frame(0x400, "kernel(double*)", "/src/kernel.cpp", 7),
            frame(0x410, "kernel(double*)", "/src/kernel.cpp", 8),
        ],
    );
    let path =
        |id, parent, region, stack, depth| vec![U(id), U(parent), U(region), U(stack), U(depth), U(0), U(0)];
    put(
        &schema::CALL_PATHS,
        &[
            path(0, NONE, 0, NONE, 0),
            path(1, 0, 1, 0, 1),
            path(2, 0, 2, 1, 1),
            path(3, NONE, 3, 2, 0),
            path(4, 0, 4, 0, 1),
            path(5, NONE, 4, 3, 0),
        ],
    );
    put(&schema::COMMUNICATORS, &[vec![U(0), T("MPI_COMM_WORLD"), U(2), U(NONE), T("intra"), T("0-1")]]);
    let counter = |id, name, source| vec![U(id), T(name), T(if id == 0 { "m" } else { "" }), T(source)];
    put(
        &schema::COUNTER_KINDS,
        &[
            counter(0, "residual", "program"),
            counter(1, "cycles", "hardware"),
            counter(2, "instructions", "hardware"),
            counter(3, "cache-misses", "hardware"),
        ],
    );
    put(&schema::EVENT_KINDS, &[vec![U(0), T("step"), T("event"), T("n"), T("i64")]]);
}

fn happenings(put: &mut Put<'_>) {
    let interval = |location, start, duration, path, depth, bytes| {
        vec![U(location), I(start * MS), I(duration * MS), U(path), U(depth), U(NONE), I(bytes), U(1), I(0)]
    };
    put(
        &schema::INTERVALS,
        &[
            interval(0, 10, 20, 0, 0, -1),
            interval(0, 12, 3, 1, 1, 4096),
            interval(0, 20, 8, 2, 1, 64),
            interval(0, 80, 10, 3, 0, 0),
            interval(1, 10, 20, 0, 0, -1),
            interval(1, 11, 0, 1, 1, 64),
            interval(1, 12, 6, 2, 1, 4096),
            interval(1, 60, 30, 3, 0, 0),
        ],
    );
    let message = |from, sent, to, (entered, received), bytes| {
        let send = vec![U(from), I(sent * MS), I(sent * MS)];
        let receive = vec![U(to), I(entered * MS), I(entered * MS), I(received * MS)];
        let rest = vec![I(bytes), I(7), U(0), U(NONE), U(NONE), I(-1), I(-1), U(1), U(2), I(sent * MS), U(1)];
        let arrays = vec![U(NONE), U(NONE)];
        [send, receive, rest, arrays].into_iter().flatten().collect()
    };
    put(&schema::MESSAGES, &[message(0, 12, 1, (12, 18), 4096), message(1, 11, 0, (20, 28), 64)]);
    let member = |location, enter, leave| {
        vec![
            U(0),
            U(0),
            U(location),
            I(enter * MS),
            I(leave * MS),
            U(3),
            I(-1),
            I(0),
            I(0),
            I(enter * MS),
            U(3),
            U(NONE),
            U(NONE),
        ]
    };
    put(&schema::COLLECTIVES, &[member(0, 80, 90), member(1, 60, 90)]);
    put(&schema::EVENTS, &[vec![U(0), I(50 * MS), U(0), T("{\"n\":1}")]]);
    put(&schema::COUNTERS, &[vec![U(1), I(55 * MS), U(0), F(0.25)]]);
}

fn sums(put: &mut Put<'_>) {
    let sum = |path, location, inclusive: i64, exclusive: i64, bytes| {
        let time = I(inclusive * MS);
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let square = ((inclusive * MS) as f64).powi(2);
        vec![
            U(path),
            U(location),
            I(1),
            time,
            I(exclusive * MS),
            I(inclusive * MS),
            I(inclusive * MS),
            F(square),
            I(bytes),
            I(0),
        ]
    };
    put(
        &schema::PROFILE,
        &[
            sum(0, 0, 20, 9, 0),
            sum(1, 0, 3, 3, 4096),
            sum(2, 0, 8, 8, 64),
            sum(3, 0, 10, 10, 0),
            sum(0, 1, 20, 14, 0),
            sum(1, 1, 0, 0, 64),
            sum(2, 1, 6, 6, 4096),
            sum(3, 1, 30, 30, 0),
        ],
    );
    let sampled = |path, location, stack, samples: i64| {
        vec![U(path), U(location), U(stack), I(samples), I(samples), I(5 * samples * MS), U(1)]
    };
    // In a function outside of all regions, in the program's own region, and inside a barrier.
    put(
        &schema::SAMPLED,
        &[sampled(0, 0, 0, 1), sampled(3, 1, 2, 5), sampled(NONE, 0, 3, 8), sampled(NONE, 1, 4, 4)],
    );
    let counted = |path, location, stack, counter, value| {
        vec![U(path), U(location), U(stack), U(counter), I(value), I(4)]
    };
    put(
        &schema::COUNTED,
        &[
            counted(0, 0, NONE, 1, 10_000_000),
            counted(0, 0, NONE, 2, 12_000_000),
            counted(3, 1, 2, 1, 60_000_000),
            counted(3, 1, 2, 2, 150_000_000),
            counted(3, 1, NONE, 1, 30_000_000),
            counted(3, 1, NONE, 2, 75_000_000),
            counted(NONE, 0, 3, 1, 80_000_000),
            counted(NONE, 0, 3, 2, 40_000_000),
            counted(NONE, 0, 3, 3, 1_000_000),
            counted(NONE, 0, NONE, 1, 12_000_000),
            counted(NONE, 0, NONE, 2, 6_000_000),
            counted(NONE, 1, 4, 1, 40_000_000),
            counted(NONE, 1, 4, 2, 20_000_000),
            counted(NONE, 1, 4, 3, 500_000),
        ],
    );
    let coverage = |location, counter, running| vec![U(location), U(counter), I(100 * MS), I(running * MS)];
    put(
        &schema::COUNTER_COVERAGE,
        &[coverage(0, 1, 100), coverage(0, 2, 100), coverage(0, 3, 70), coverage(1, 3, 54)],
    );
    let allocated = |path, process, sums: [i64; 6]| {
        [vec![U(path), U(process)], sums.map(I).into_iter().collect()].into_iter().flatten().collect()
    };
    // A buffer that each rank keeps, blocks that come and go, and some of which nobody knows.
    put(
        &schema::ALLOCATIONS,
        &[
            allocated(4, 0, [1, 1 << 20, 0, 0, 1 << 20, 1 << 20]),
            allocated(4, 1, [1, 2 << 20, 0, 0, 2 << 20, 2 << 20]),
            allocated(5, 0, [300, 300 << 16, 300, 300 << 16, 8 << 16, 2 << 16]),
            allocated(NONE, 1, [2, 9000, 1, 5000, 9000, 4000]),
        ],
    );
    put(
        &schema::HEAP,
        &[
            vec![U(0), I(4096), I((1 << 20) + (2 << 16)), I(40 * MS), I(1 << 20), I(0), I(0)],
            vec![U(1), I(4096), I((2 << 20) + 4000), I(-1), I((2 << 20) + 4000), I(5), I(25_000)],
        ],
    );
    put(
        &schema::COMMUNICATION,
        &[vec![U(0), U(1), U(0), I(12), I(1), I(4096)], vec![U(1), U(0), U(0), I(6), I(1), I(64)]],
    );
    let clock = |process, offset, drift| {
        vec![U(process), T("tsc"), I(offset), F(drift), I(150), I(0), F(2.6e9), T("[]"), U(process)]
    };
    put(&schema::CLOCKS, &[clock(0, 0, 0.0), clock(1, -1200, 0.25)]);
    put(
        &schema::PROBLEMS,
        &[
            vec![T("unmatched_sends"), U(1), U(1), I(3), T("to rank 0, tag 7")],
            vec![T("ambiguous"), U(NONE), U(NONE), I(4), T("messages that could be paired in several ways")],
            vec![
                T("truncated"),
                U(0),
                U(NONE),
                I(1),
                T("regions that were closed because records are missing"),
            ],
            vec![T("strange_new_kind"), U(NONE), U(NONE), I(2), T("still shown")],
        ],
    );
}
