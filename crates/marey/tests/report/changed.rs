//! The small run with a table or a column of it changed, where a few other numbers or names show what
//! matters.

use marey_archive::schema::TableSpec;
use marey_archive::{Archive, Column};

use super::*;

/// Puts a table in the place of the one of its name.
fn put(run: &Path, spec: &'static TableSpec, table: &Columns) {
    let mut meta = Meta::load(run).unwrap();
    meta.add(spec, Part::new(spec, 0, 0, write_table(run, table).unwrap()));
    meta.save(run).unwrap();
}

/// Puts rows in the place of those of a table.
fn replace(run: &Path, spec: &'static TableSpec, rows: &[&[Value<'_>]]) {
    let mut table = Columns::new(spec);
    rows.iter().for_each(|row| table.push(row).unwrap());
    put(run, spec, &table);
}

/// Changes the texts of a column by their rows.
fn change(run: &Path, spec: &'static TableSpec, column: &str, changed: impl Fn(usize, &str) -> String) {
    let table = Archive::open(run).unwrap().table(spec.name).unwrap();
    let mut columns = table.columns().to_vec();
    let place = spec.columns.iter().position(|known| known.name == column).unwrap();
    let Column::Text(texts) = &mut columns[place] else { panic!("{column} is no text") };
    for (row, text) in texts.iter_mut().enumerate() {
        *text = changed(row, text);
    }
    put(run, spec, &Columns::from_columns(spec, columns).unwrap());
}

/// The lines of a section of the report, without those of its title.
fn section<'t>(report: &'t str, title: &str) -> Vec<&'t str> {
    let from = report.find(&format!("\n{title}  ")).unwrap() + 1;
    let lines = report[from..].lines().take_while(|line| !line.is_empty());
    lines.skip(1).skip_while(|line| line.starts_with("     ") && !line.contains("share")).collect()
}

/// A row of the table `sampled`, of the first thread: 5 ms a sample.
fn sampled(path: u32, stack: u32, samples: i64) -> [Value<'static>; 7] {
    let (numbers, time) = (Value::I64(samples), Value::I64(5_000_000 * samples));
    [Value::U32(path), Value::U32(0), Value::U32(stack), numbers, numbers, time, Value::U32(1)]
}

/// A region of one millisecond had shown five in the tree, for so much a sample stands for.
#[test]
fn samples_divide_the_time_of_a_region_and_do_not_add_to_it() {
    let dir = with_run();
    let run = dir.path().join("run.marey");
    // 35 ms in the region `halo` itself, which took 23: 15 of them in `exchange`, 20 in `kernel`.
    replace(&run, &schema::SAMPLED, &[&sampled(0, 0, 3), &sampled(0, 3, 4)]);
    let report = marey(dir.path(), &["report"]);
    let tree = section(&report, "CALL TREE");
    let time_of = |name: &str| {
        let line = tree.iter().find(|line| line.split_whitespace().any(|word| word == name)).unwrap();
        line.trim_start().split("  ").next().unwrap()
    };
    let times = ["halo", "kernel", "exchange", "MPI_Recv", "MPI_Send", "main"].map(time_of);
    assert_eq!(times, ["40.0 ms", "13.1 ms", "40.0 ms", "14.0 ms", "3.00 ms", "80.0 ms"], "{report}");
}

#[test]
fn names_of_a_run_cannot_steer_the_terminal() {
    const SECTIONS: [&str; 14] = [
        "rank",
        "region",
        "function",
        "hot",
        "counter",
        "path",
        "communication",
        "size",
        "collective",
        "waiting",
        "file",
        "memory",
        "ending",
        "problem",
    ];
    let dir = with_run();
    let run = dir.path().join("run.marey");
    let hostile = |text: &str| format!("\x1b[31m{text}");
    // The program waits in a call of the system, and samples were taken there and in one of a level that
    // nobody knows.
    let level = |row: usize, text: &str| match row {
        2 => hostile(text),
        3 => "system".to_owned(),
        _ => text.to_owned(),
    };
    change(&run, &schema::REGIONS, "level", level);
    for (spec, column) in [
        (&schema::REGIONS, "verb"),
        (&schema::REGIONS, "noun"),
        (&schema::REGIONS, "file"),
        (&schema::FRAMES, "function"),
        (&schema::FRAMES, "file"),
        (&schema::COUNTER_KINDS, "unit"),
        (&schema::LEVELS, "name"),
        (&schema::PROBLEMS, "detail"),
    ] {
        change(&run, spec, column, |_, text| hostile(text));
    }
    replace(
        &run,
        &schema::SAMPLED,
        &[&sampled(0, 0, 1), &sampled(2, 0, 3), &sampled(3, 2, 9), &sampled(3, 3, 4)],
    );
    let counted = |path, stack| {
        [path, 0, stack, 1].map(Value::U32).into_iter().chain([1000, 4].map(Value::I64)).collect::<Vec<_>>()
    };
    replace(&run, &schema::COUNTED, &[&counted(0, 0), &counted(2, 0), &counted(3, 2)]);
    let sections: Vec<[&str; 3]> = SECTIONS.map(|name| ["report", "--by", name]).into();
    let others = [
        &["report"][..],
        &["dump"],
        &["info"],
        &["hot"],
        &["waits"],
        &["path"],
        &["lines", "run.marey", "main.c"],
    ];
    for args in others.into_iter().chain(sections.iter().map(|args| &args[..])) {
        let text = marey(dir.path(), args);
        assert!(!text.contains('\x1b'), "{args:?}: {text}");
    }
    let said = marey(dir.path(), &["report", "--by", "waiting"]);
    assert!(said.contains("\u{fffd}[31mMPI_Barrier"), "{said}");
}

/// Lines of 32 bits had been printed up to the last one that was named, with nothing in four thousand
/// million of them.
#[test]
fn of_lines_that_a_text_does_not_have_those_with_numbers_are_shown() {
    let dir = with_run();
    let run = dir.path().join("run.marey");
    let far = u32::MAX;
    let rows = [(0x400, 2), (0x410, far)].map(|(address, line)| {
        let [module, depth, line] = [0, 0, line].map(Value::U32);
        let [function, file, quality] = ["kernel", "/src/kernel.cpp", "lines"].map(Value::Text);
        [module, Value::I64(address), depth, function, file, line, quality]
    });
    replace(&run, &schema::FRAMES, &[&rows[0], &rows[1]]);
    std::fs::write(dir.path().join("kernel.cpp"), "one\ntwo\nthree\n").unwrap();
    let lines = |args: &[&str]| {
        let args = [&["lines", "run.marey", "kernel.cpp"], args].concat();
        let text = marey(dir.path(), &args);
        let rows = text.lines().skip_while(|line| !line.starts_with("     self")).skip(1);
        rows.map(|row| row.split_whitespace().last().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(lines(&[]), ["one", "two", "three", "⋮", "4294967295"]);
    assert_eq!(lines(&["--context", "0"]), ["⋮", "two", "⋮", "4294967295"]);
    std::fs::remove_file(dir.path().join("kernel.cpp")).unwrap();
    assert_eq!(lines(&[]), ["2", "4294967295"]);
}

/// A row of the table `profile`: so many visits of 1 ms each.
fn visits(path: u32, location: u32, visits: i64) -> [Value<'static>; 10] {
    const MS: i64 = 1_000_000;
    let [path, location] = [path, location].map(Value::U32);
    let [n, sum, one, none] = [visits, visits * MS, MS, 0].map(Value::I64);
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let squares = Value::F64((visits * MS * MS) as f64);
    [path, location, n, sum, sum, one, one, squares, none, none]
}

/// The time of threads that do something had stood beside the calls of all, and its share was one of the
/// time of all.
#[test]
fn threads_that_only_wait_are_in_no_number_of_the_first_sentences() {
    let dir = with_run();
    let run = dir.path().join("run.marey");
    change(&run, &schema::REGIONS, "level", |row, level| {
        ["source", "system", "system", "threads"]
            .get(row)
            .map_or_else(|| level.to_owned(), |&it| it.to_owned())
    });
    // Two threads live for 100 ms; the second waits for 90 of them in MPI_Recv.
    let thread = |id: u32| {
        let [id, none] = [id, 0].map(Value::U32);
        let [name, kind, host] = ["t", "thread", "node1"].map(Value::Text);
        let [tid, rank, start, end, stopped] = [4000, -1, 0, 100_000_000, -1].map(Value::I64);
        [id, none, name, kind, id, tid, host, none, rank, start, end, stopped]
    };
    replace(&run, &schema::LOCATIONS, &[&thread(0), &thread(1)]);
    let told = |rows: &[&[Value<'_>]]| {
        replace(&run, &schema::PROFILE, rows);
        let report = marey(dir.path(), &["report"]);
        let lines: Vec<&str> = report.lines().skip_while(|line| !line.contains('▸')).collect();
        lines
            .split(|line| line.is_empty())
            .next()
            .unwrap()
            .join(" ")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let waits = told(&[&visits(2, 0, 20), &visits(2, 1, 90)]);
    assert!(waits.contains("for 20.0 % of the time of its threads, most in MPI_Recv"), "{waits}");
    assert!(waits.contains("(halo.cpp:43): 20.0 ms in 20 calls."), "{waits}");
    let works = told(&[&visits(0, 0, 40), &visits(0, 1, 5), &visits(2, 1, 90)]);
    let expected =
        "in halo (level source): 40.0 ms in 40 calls, 40.0 % of the time of threads that do more than wait.";
    assert!(works.contains(expected), "{works}");
    let locks = told(&[&visits(3, 0, 30), &visits(3, 1, 91)]);
    assert!(locks.contains("comes from main (main.c:12): 30.0 ms."), "{locks}");
}

/// Where the system had refused to sample, `marey hot` had blamed `--sample off`.
#[test]
fn why_there_are_no_samples_is_said() {
    let dir = with_run();
    let run = dir.path().join("run.marey");
    let problem = |kind, count, detail| {
        let [kind, detail] = [kind, detail].map(Value::Text);
        [kind, Value::U32(0), Value::U32(schema::NONE), Value::I64(count), detail]
    };
    let refused = problem("unsampled", 1, "not sampled: no real-time signal is free");
    let lost = problem("lost_samples", 1200, "periods");
    let hot = || marey(dir.path(), &["hot"]).split_whitespace().collect::<Vec<_>>().join(" ");
    replace(&run, &schema::PROBLEMS, &[&lost, &refused, &refused]);
    let text = hot();
    assert!(
        text.contains("of 1 200 further periods of processor time it is not known where they went"),
        "{text}"
    );
    assert_eq!(text.matches("not sampled: no real-time signal is free").count(), 1, "{text}");
    let json: Json = serde_json::from_str(&marey(dir.path(), &["hot", "--json"])).unwrap();
    let found = (&json["lost_samples"], &json["unsampled"]);
    assert_eq!(found, (&1200.into(), &serde_json::json!(["not sampled: no real-time signal is free"])));

    replace(&run, &schema::SAMPLED, &[]);
    let text = hot();
    assert!(
        text.contains("not sampled: no real-time signal is free") && !text.contains("--sample off"),
        "{text}"
    );
    replace(&run, &schema::PROBLEMS, &[]);
    assert!(hot().contains("no samples: recorded with --sample off"), "{}", hot());
}

/// The text had begun with what a library without lines did for the program, the JSON with the program.
#[test]
fn the_text_of_memory_begins_with_the_function_that_the_json_names() {
    let dir = with_run();
    let run = dir.path().join("run.marey");
    // `exchange` calls a function that has no line, which allocates.
    change(&run, &schema::FRAMES, "function", |row, text| match row {
        5 => "grow_buffer".to_owned(),
        2 => "exchange".to_owned(),
        _ => text.to_owned(),
    });
    let table = Archive::open(&run).unwrap().table("frames").unwrap();
    let mut columns = table.columns().to_vec();
    let Column::U32(lines) = &mut columns[5] else { panic!("lines are numbers") };
    lines[5] = 0;
    put(&run, &schema::FRAMES, &Columns::from_columns(&schema::FRAMES, columns).unwrap());
    let report: Json = serde_json::from_str(&marey(dir.path(), &["report", "--json"])).unwrap();
    let path = report["memory"]["call_paths"].as_array().unwrap().iter().find(|row| row["blocks"] == 300);
    assert_eq!(path.unwrap()["function"], "exchange", "{report}");
    let text = marey(dir.path(), &["report", "--by", "memory"]);
    let line = text.lines().find(|line| line.contains(" 300 ")).unwrap();
    assert!(line.contains("  exchange") && !line.contains("grow_buffer"), "{text}");
}

/// What is read may be damaged or made up; sums of it must not bring a command down.
#[test]
fn numbers_that_no_sum_can_hold_are_the_largest_there_are() {
    const MOST: Value<'_> = Value::I64(i64::MAX);
    let dir = with_run();
    let run = dir.path().join("run.marey");
    for levels in [["mpi", "mpi", "mpi"], ["files", "system", "threads"]] {
        change(&run, &schema::REGIONS, "level", |row, level| {
            if (1..=3).contains(&row) { levels[row - 1].to_owned() } else { level.to_owned() }
        });
        // Several regions of one name, and functions of files.
        change(&run, &schema::REGIONS, "verb", |row, verb| if row == 1 { "read" } else { verb }.to_owned());
        let thread = |id: u32| {
            let [id, process] = [id, 0].map(Value::U32);
            let [name, kind, host] = ["t", "thread", "node1"].map(Value::Text);
            let numbers = [Value::I64(4000), process, Value::I64(-1), Value::I64(0), MOST, Value::I64(-1)];
            [[id, process, name, kind, id].as_slice(), &[numbers[0], host], &numbers[1..]].concat()
        };
        let threads: Vec<_> = (0..3).map(thread).collect();
        replace(&run, &schema::LOCATIONS, &threads.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let sums = |path, location| {
            let [path, location] = [path, location].map(Value::U32);
            let [one, untimed] = [1, i64::MAX].map(Value::I64);
            [path, location, MOST, MOST, MOST, one, MOST, Value::F64(1e40), MOST, untimed]
        };
        let profile: Vec<_> = (0..4).flat_map(|path| (0..3).map(move |place| sums(path, place))).collect();
        replace(&run, &schema::PROFILE, &profile.iter().map(<[_; 10]>::as_slice).collect::<Vec<_>>());
        let sampled = |path, stack| {
            [Value::U32(path), Value::U32(0), Value::U32(stack), MOST, MOST, MOST, Value::U32(1)]
        };
        let samples: Vec<_> = [(0, 0), (0, 3), (3, 2), (schema::NONE, 3), (schema::NONE, 4)]
            .map(|(path, stack)| sampled(path, stack))
            .into();
        replace(&run, &schema::SAMPLED, &samples.iter().map(<[_; 7]>::as_slice).collect::<Vec<_>>());
        let counted = |path, stack| {
            [path, 0, stack, 1].map(Value::U32).into_iter().chain([MOST, MOST]).collect::<Vec<_>>()
        };
        let counts: Vec<_> = [(0, 0), (0, 3), (0, 4), (0, schema::NONE), (3, 2)]
            .map(|(path, stack)| counted(path, stack))
            .into();
        replace(&run, &schema::COUNTED, &counts.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let messages =
            [(0, 1, 3), (1, 0, 3), (0, 0, 3), (1, 1, 70)].map(|(from, to, size): (u32, u32, i64)| {
                let [from, to, communicator] = [from, to, 0].map(Value::U32);
                [from, to, communicator, Value::I64(size), MOST, MOST]
            });
        replace(&run, &schema::COMMUNICATION, &messages.each_ref().map(<[_; 6]>::as_slice));
        for args in
            [&["report"][..], &["report", "--json"], &["report", "--by", "function"], &["hot"], &["info"]]
        {
            marey(dir.path(), args);
        }
        marey(dir.path(), &["lines", "run.marey", "main.c"]);
    }
}
