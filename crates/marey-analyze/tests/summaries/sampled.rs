//! What samples say of functions and lines.

use super::*;

/// Two functions, one of which calls itself, and a call of MPI in the other:
///
/// ```text
/// main:10 → work:20 → work:21 → kernel:30   60 samples
///                     work:22                20
/// main:11 → MPI_Recv → (what it does)        15, in a region with a stack of its own
///           MPI_Send → (what it does)         5, in one that is known by its name only
/// ```
#[test]
fn samples_count_once_for_each_function_around_them() {
    let frame = |function: &str, line| Frame {
        function: function.to_owned(),
        file: if line == 0 { String::new() } else { "a.c".to_owned() },
        line,
    };
    let inside = |call: &str| vec![frame("libmpi.so+0x12", 0), frame(call, 0), frame("main", 11)];
    let run = Run {
        regions: vec![
            region("mpi", "MPI_Recv", "", Role::Transfer),
            region("mpi", "MPI_Send", "", Role::Transfer),
            region("source", "execute", "solve", Role::Work),
        ],
        call_paths: vec![path(None, 0, Some(4)), path(None, 1, None), path(None, 2, None)],
        stacks: vec![
            vec![frame("kernel", 30), frame("work", 21), frame("work", 20), frame("main", 10)],
            vec![frame("work", 22), frame("work", 20), frame("main", 10)],
            inside("MPI_Recv"),
            inside("PMPI_Send"),
            vec![frame("main", 11)],
        ],
        samples: [
            (None, 0, 60, true),
            (Some(2), 1, 20, true),
            (Some(0), 2, 15, false),
            (Some(1), 3, 5, true),
        ]
        .map(|(path, stack, samples, is_complete)| SampledRow {
            call_path: path.map(CallPathId),
            location: LocationId(0),
            stack: Some(StackId(stack)),
            samples,
            time: Nanos(1000 * i64::try_from(samples).unwrap()),
            is_complete,
        })
        .into(),
        ..Run::default()
    };
    let hot = hot(&run);
    assert_eq!((hot.whole.samples, hot.whole.time, hot.incomplete.samples), (100, Nanos(100_000), 15));
    let functions: Vec<_> = hot
        .functions
        .iter()
        .map(|row| (row.name, row.level, row.exclusive.samples, row.inclusive.samples))
        .collect();
    assert_eq!(
        functions,
        [
            ("kernel", None, 60, 60),
            ("work", None, 20, 80),
            ("MPI_Recv", Some("mpi"), 15, 15),
            ("MPI_Send", Some("mpi"), 5, 5),
            ("main", None, 0, 100),
        ]
    );
    let lines: Vec<_> =
        hot.lines.iter().map(|row| (row.line, row.exclusive.samples, row.inclusive.samples)).collect();
    assert_eq!(lines, [(30, 60, 60), (22, 20, 20), (10, 0, 80), (20, 0, 80), (21, 0, 60), (11, 0, 20)]);
}

/// Of a program without symbols what is known by who called it; other code goes by its module.
#[test]
fn main_has_its_name_without_symbols() {
    let frame = |function: &str| Frame { function: function.to_owned(), file: String::new(), line: 0 };
    let stack =
        ["lmp+0x20", "lmp+0x30", "__libc_start_call_main", "__libc_start_main@@GLIBC_2.34", "lmp+0x1"];
    let run = Run {
        stacks: vec![stack.map(frame).to_vec()],
        samples: vec![SampledRow {
            call_path: None,
            location: LocationId(0),
            stack: Some(StackId(0)),
            samples: 7,
            time: Nanos(7),
            is_complete: true,
        }],
        ..Run::default()
    };
    let hot = hot(&run);
    let mut names: Vec<_> = hot.functions.iter().map(|row| row.name).collect();
    names.sort_unstable();
    assert_eq!(names, ["__libc_start_call_main", "__libc_start_main@@GLIBC_2.34", "_start", "lmp", "main"]);
    assert_eq!(hot.functions[0].name, "lmp");
}

/// Bounds from R. G. Newcombe, *Two-sided confidence intervals for the single proportion*, Statistics in
/// Medicine 17 (1998), table I, method 3.
#[test]
fn shares_are_as_uncertain_as_wilson_says() {
    let sampled = |samples: u64| Sampled { samples, time: Nanos(5 * i64::try_from(samples).unwrap()) };
    for (part, whole, low, high) in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        // The others of the last two.
        (20, 20, 1.0 - 0.1611, 1.0),
        (28, 29, 1.0 - 0.1718, 1.0 - 0.0061),
    ] {
        let (share, error) = sampled(part).share(&sampled(whole));
        let farther = f64::max(share - low, high - share);
        assert!((error - farther).abs() < 0.0001, "{part} of {whole}: {error} is not {farther}");
    }
    assert_eq!(sampled(0).share(&sampled(0)), (0.0, 0.0));
}

#[test]
fn time_in_functions_without_lines_is_with_the_callees_of_the_line_that_called_them() {
    let frame = |function: &str, line| Frame { function: function.to_owned(), file: "a.c".to_owned(), line };
    let row = |stack, samples| SampledRow {
        call_path: None,
        location: LocationId(0),
        stack: Some(StackId(stack)),
        samples,
        time: Nanos(5),
        is_complete: true,
    };
    let run = Run {
        stacks: vec![vec![frame("sin", 0), frame("main", 10)], vec![frame("main", 10)]],
        samples: vec![row(0, 7), row(1, 2)],
        ..Run::default()
    };
    let rows = lines(&run, &hot(&run));
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].line, rows[0].exclusive.samples, rows[0].inclusive.samples), (10, 2, 9));
}
