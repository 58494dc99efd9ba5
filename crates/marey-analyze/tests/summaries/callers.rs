//! Which function of a call stack is said to have called.

use super::*;

/// The caller on a stack of `name:line`, innermost first; a line 0 is not known.
fn check(stack: &str, expected: &str) {
    let frames = stack.split_whitespace().map(|text| {
        let (function, line) = text.rsplit_once(':').expect("a function and a line");
        frame(function, line.parse().expect("a number"))
    });
    let run = Run {
        regions: vec![region("mpi", "MPI_Send", "", Role::Transfer)],
        call_paths: vec![path(None, 0, Some(0))],
        stacks: vec![frames.collect()],
        processes: vec![process(0, Some(0), 1000)],
        locations: vec![location(0, 0, 0, 1000)],
        profile: vec![row(0, 0, &[10], 10, 0)],
        ..Run::default()
    };
    let found = caller(&run, CallPathId(0)).map_or_else(String::new, |frame| frame.function.clone());
    assert_eq!(found, expected, "{stack}");
    // Whoever names a caller names the same.
    assert_eq!(call_paths(&run)[0].function, expected, "{stack}");
    let site = headline(&run).largest_call_site.expect("MPI was called");
    assert_eq!(site.function, expected, "{stack}");
}

#[test]
fn the_caller_is_the_innermost_of_the_program_with_a_line() {
    check("solve:30 main:9", "solve");
    check("mpi_send_:0 solve:30 main:9", "solve");
    check("std::vector<int>::push_back:99 solve:30 main:9", "solve");
    check("__gthread_create:8 solve:30 main:9", "solve");
    check("__solver_MOD_step:30 MAIN__:9", "__solver_MOD_step");
}

#[test]
fn without_lines_the_caller_is_what_comes_nearest() {
    check("std::sort<int*>:0 solve:0 main:0", "solve");
    // The standard library of Rust has lines where the program was compiled without.
    check("core::fmt::write:99 solve:0 main:0", "solve");
    check("__pyx_pw_3mpi_Send:0 _PyEval_EvalFrameDefault:0 main:0", "__pyx_pw_3mpi_Send");
    check("__memcpy:0 std::sort:7", "std::sort");
    check("__memcpy:0 __start:0", "__memcpy");
    check("", "");
}

/// What lies between the caller on a stack of `name:line` and what was called: the routine, and the innermost function.
#[track_caller]
fn check_routine(stack: &str, expected: &str) {
    let all: Vec<Frame> = stack
        .split_whitespace()
        .map(|text| {
            let (function, line) = text.rsplit_once(':').expect("a function and a line");
            frame(function, line.parse().expect("a number"))
        })
        .collect();
    let frames: Vec<&Frame> = all.iter().collect();
    let place = caller_on(&frames).expect("there are frames");
    let found = format!("{} {}", routine_on(&frames, place).unwrap_or("-"), innermost(&frames, place));
    assert_eq!(found.trim(), expected, "{stack}");
}

#[test]
fn a_library_is_told_by_the_routine_that_the_program_called() {
    check_routine("dgemm_:0 PB_Cptrsm:0 pdgetrf_:0 main:60", "pdgetrf_ dgemm_");
    // What moves memory is not what anybody chose.
    check_routine("__memcpy_avx:0 BI_Srecv:0 pdgetrf_:0 main:60", "pdgetrf_ BI_Srecv");
    check_routine("solve:30 main:60", "-");
    check_routine("mpi_send_:0 solve:30", "-");
    check_routine("PMPI_Send:0 solve:30", "-");
    check_routine("std::filebuf::open:0 solve:30", "-");
    // Who calls back into the program is passed through.
    check_routine("compare:7 qsort:0 main:60", "-");
    // Without lines nothing tells a library from the program.
    check_routine("pair:0 run:0 main:0", "-");
}

#[test]
fn kernels_are_launched_by_whoever_calls_kokkos() {
    let of = |function: &str, file: &str, line: u32| Frame { file: file.to_owned(), ..frame(function, line) };
    let stack = [
        of("Kokkos::Tools::beginParallelFor(std::string const&)", "", 0),
        // As debug information tells of functions that have been inlined.
        of("begin_parallel_for<Scale>", "/usr/include/kokkos/impl/Kokkos_Tools_Generic.hpp", 120),
        of("Kokkos::parallel_for<Scale>", "/usr/include/kokkos/Kokkos_Parallel.hpp", 140),
        of("step", "/home/me/Kokkos_app.cpp", 12),
        of("main", "/home/me/main.cpp", 30),
    ];
    let place = caller_on(&stack.iter().collect::<Vec<_>>()).expect("there are frames");
    assert_eq!(stack[place].function, "step");
}
