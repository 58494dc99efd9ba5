//! Samples against what a program knows of itself.
//!
//! The one idea: a program takes the time of its own functions by its thread's clock and prints it; where samples say
//! that time went must be the same. What may call what is plain in its source, so stacks can be checked edge by edge.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use marey_analyze::{Happenings, Span, Trace};
use marey_archive::{Archive, Events, RunTrace};
use serde_json::Value;
use tempfile::TempDir;

/// Stands among the options for interrupting waiting threads, too.
const BY_THE_WALL: &str = "(by the wall)";

/// A program that was compiled in a directory of its own.
struct Program {
    place: TempDir,
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

impl Program {
    /// By the words of a compiler's command line, in which `{}` stands for the directory of the sources. `None`,
    /// said aloud, without the compiler.
    fn compile(lines: &[&str]) -> Option<Self> {
        let place = TempDir::new().unwrap();
        for line in lines {
            let line = line.replace("{}", &sources().display().to_string());
            let mut words = line.split_whitespace();
            let compiler = words.next().unwrap();
            match Command::new(compiler).args(words).current_dir(place.path()).output() {
                Err(error) => {
                    marey_testkit::skip(&format!("{compiler}: {error}"));
                    return None;
                }
                Ok(output) => {
                    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
                }
            }
        }
        Some(Self { place })
    }

    /// Records it. What it printed.
    fn record(&self, options: &[&str]) -> String {
        self.start(options, &[], 0)
    }

    /// Records it with these words, and expects it to exit with `status`. What it printed.
    fn start(&self, options: &[&str], words: &[&str], status: i32) -> String {
        let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
        record.current_dir(self.place.path()).env_remove("LD_PRELOAD");
        if options.contains(&BY_THE_WALL) {
            record.env("MAREY_SAMPLE_BY_THE_WALL", "1");
        }
        let options = options.iter().filter(|&&option| option != BY_THE_WALL);
        let output =
            record.arg("record").args(options).args(["--", "./program"]).args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, command: &str) -> Value {
        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        let output = marey.current_dir(self.place.path()).args([command, "--json"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn archive(&self) -> Archive {
        Archive::open(&self.place.path().join("run.marey")).unwrap()
    }

    fn trace(&self) -> RunTrace {
        RunTrace::load(&self.archive()).unwrap()
    }

    /// How many periods each sample stands for.
    fn weights(&self) -> Vec<f64> {
        let (archive, trace) = (self.archive(), self.trace());
        let mut weights = Vec::new();
        let events = Events::open(&archive, &trace).unwrap();
        events
            .ticks_in(Span::ALL, &mut |ticks| weights.extend(ticks.iter().map(|tick| tick.periods as f64)))
            .unwrap();
        weights
    }

    /// The sum of a column of a table.
    fn sum(&self, table: &str, column: &str) -> i64 {
        self.archive().table(table).unwrap().i64(column).unwrap().iter().sum()
    }
}

/// The numbers behind the names that a program has printed.
fn numbers(printed: &str) -> Vec<(&str, f64)> {
    let pairs = printed.lines().filter_map(|line| line.split_once(' '));
    pairs.map(|(name, number)| (name, number.trim().parse().unwrap())).collect()
}

/// Whether a function has this name, whatever stands before and behind it.
fn is_named(function: &str, name: &str) -> bool {
    let bare = function.split(['(', '<']).next().unwrap();
    bare.rsplit("::").next().unwrap() == name
}

/// Time of a function with what it called, by samples, ns.
fn inclusive(hot: &Value, name: &str) -> f64 {
    let rows = hot["functions"].as_array().unwrap().iter();
    let rows = rows.filter(|row| is_named(row["name"].as_str().unwrap(), name));
    rows.map(|row| row["inclusive_ns"].as_f64().unwrap()).sum()
}

/// Compares shares: each of the four functions within two points; where other work leaves so little of the processors
/// that samples are few, within three standard errors. A sample counts for all periods since the one before it, so
/// one that the kernel was late with weighs as much as it stands for: as many samples of equal weight would be as
/// good as these as the square of the sum of their weights is times the sum of the squares.
fn shares_are_right(printed: &str, program: &Program) {
    let hot = &program.json("hot");
    let truth: Vec<_> = numbers(printed).into_iter().filter(|(name, _)| *name != "waited").collect();
    assert_eq!(truth.len(), 4);
    let whole: f64 = truth.iter().map(|(_, time)| time).sum();
    let sampled = hot["time_ns"].as_f64().unwrap();
    assert!((sampled / whole - 1.0).abs() < 0.05, "{sampled} ns were sampled of {whole}");
    let weights = program.weights();
    assert_eq!(u64::try_from(weights.len()).ok(), hot["samples"].as_u64());
    let samples =
        weights.iter().sum::<f64>().powi(2) / weights.iter().map(|weight| weight * weight).sum::<f64>();
    for (name, time) in truth {
        let (is, should_be) = (inclusive(hot, name) / sampled, time / whole);
        eprintln!("{name}: {:.2} % of {:.2} %", 100.0 * is, 100.0 * should_be);
        let error = (should_be * (1.0 - should_be) / samples).sqrt();
        let most = if samples * 1e9 / whole < 240.0 { 3.0 * error } else { 0.02 };
        assert!((is - should_be).abs() < most, "{name}: {is} instead of {should_be}, {samples:.0} samples");
    }
}

/// Whether a function is none of the program's. Names with an underscore first are the implementation's, by the
/// standards of C and C++.
fn is_of_system(name: &str) -> bool {
    ["_", "<", "core::", "std::", "clock_gettime", "pthread_", "printf"]
        .iter()
        .any(|begin| name.starts_with(begin))
        || name.contains("clock_gettime")
        || name.contains(".so")
}

/// Checks each stack from its innermost function to `root`: whatever a function was called from must be able to call
/// it; what the C library and those of languages do inside is not looked at. At least 99 % of all samples have such a
/// stack, and go up to the thread's beginning; time of threads that no tick has met is at no place and does not count.
fn stacks_are_right(trace: &RunTrace, root: &str, calls: &[(&str, &str)]) {
    let (mut right, mut all, mut wrong) = (0, 0, Vec::new());
    let met: HashSet<_> =
        trace.samples().iter().filter(|row| row.stack.is_some()).map(|row| row.location).collect();
    for row in trace.samples().iter().filter(|row| met.contains(&row.location)) {
        let frames = row.stack.map_or_else(Vec::new, |stack| trace.stack(stack));
        let names: Vec<&str> = frames.iter().map(|frame| frame.function.as_str()).collect();
        let until = names.iter().position(|name| is_named(name, root));
        let inside = &names[..until.unwrap_or(0)];
        let from = inside.iter().rposition(|name| is_of_system(name)).unwrap_or(0);
        let is_right = until.filter(|&until| from <= until).is_some_and(|until| {
            let may_call = |pair: &[&str]| {
                let known = |name: &str, wanted: &str| wanted == "*" || is_named(name, wanted);
                calls.iter().any(|(outer, inner)| known(pair[1], outer) && known(pair[0], inner))
            };
            row.is_complete && names[from..=until].windows(2).all(may_call)
        });
        all += row.samples;
        right += if is_right { row.samples } else { 0 };
        if !is_right {
            wrong.push(names);
        }
    }
    eprintln!("{right} of {all} stacks are right");
    // Where threads share processors with many others there are few.
    assert!(all >= 40, "{all} samples");
    assert!(100 * right >= 99 * all, "{right} of {all} stacks are right: {wrong:#?}");
}

/// What may call what in `shares.c`.
const C_CALLS: [(&str, &str); 17] = [
    ("main", "phase"),
    ("phase", "ten"),
    ("phase", "around_twenty"),
    ("around_twenty", "twenty"),
    ("phase", "into_thirty"),
    ("into_thirty", "thirty"),
    ("thirty", "thirty"),
    ("phase", "into_library"),
    ("into_library", "shares_forty"),
    ("phase", "now"),
    ("now", "clock_gettime"),
    ("main", "pthread_create"),
    ("main", "pthread_mutex_lock"),
    ("main", "pthread_mutex_unlock"),
    ("main", "pthread_cond_signal"),
    ("main", "pthread_join"),
    ("main", "printf"),
];

/// `shares.c` and its library, compiled with these words.
fn shares_in_c(words: &str) -> Option<Program> {
    let library = format!("cc {words} -shared -fPIC {{}}/shares_library.c -o libshares.so");
    let program = format!("cc {words} -g {{}}/shares.c -o program -L. -lshares -Wl,-rpath,$ORIGIN -pthread");
    Program::compile(&[&library, &program])
}

#[test]
fn c_functions_have_their_shares() {
    let Some(program) = shares_in_c("-O2 -fomit-frame-pointer") else { return };
    let printed = program.record(&["--sample", "1000"]);
    shares_are_right(&printed, &program);
    stacks_are_right(&program.trace(), "main", &C_CALLS);
    // A thread that waits takes no processor time, and its region says how long it waited.
    let waited = numbers(&printed).into_iter().find(|(name, _)| *name == "waited").unwrap().1;
    let report = program.json("report");
    let regions = report["regions"].as_array().unwrap();
    let wait = regions.iter().find(|row| row["verb"] == "pthread_cond_wait").unwrap();
    let share = wait["inclusive_ns"].as_f64().unwrap() / waited;
    assert!((0.98..1.02).contains(&share), "{share} of the time that the thread waited");
}

/// With frame pointers, and with stacks that each function aligns anew.
#[test]
fn stacks_are_right_however_frames_are_laid_out() {
    for words in
        ["-O0", "-O2 -fno-omit-frame-pointer", "-O2 -mstackrealign", "-O3 -march=native -mstackrealign"]
    {
        let Some(program) = shares_in_c(words) else { return };
        program.start(&["--sample", "1000"], &["1"], 0);
        stacks_are_right(&program.trace(), "main", &C_CALLS);
    }
}

#[test]
fn cxx_functions_have_their_shares() {
    let Some(program) = Program::compile(&["c++ -std=c++17 -O2 -g {}/shares.cpp -o program"]) else { return };
    let printed = program.record(&["--sample", "1000"]);
    shares_are_right(&printed, &program);
    let calls = [
        ("main", "phase"),
        ("phase", "operator"),
        ("operator", "ten"),
        ("operator", "around_twenty"),
        ("around_twenty", "twenty"),
        ("operator", "thirty"),
        ("thirty", "thirty"),
        ("thirty", "__cxa_throw"),
        ("operator", "forty"),
        ("forty", "for_each"),
        ("for_each", "operator"),
        ("phase", "now"),
        ("now", "*"),
    ];
    stacks_are_right(&program.trace(), "main", &calls);
}

#[test]
fn fortran_procedures_have_their_shares() {
    for flags in ["-O2", "-O3 -march=native"] {
        let line = format!("gfortran {flags} -fno-inline -g {{}}/shares.f90 -o program");
        let Some(program) = Program::compile(&[&line]) else { return };
        let printed = program.record(&["--sample", "1000"]);
        shares_are_right(&printed, &program);
        let calls = [
            ("main", "MAIN_"),
            ("MAIN_", "ten"),
            ("MAIN_", "twenty"),
            ("MAIN_", "thirty"),
            ("thirty", "thirty"),
            ("MAIN_", "forty"),
            ("MAIN_", "now"),
            ("now", "*"),
        ];
        stacks_are_right(&program.trace(), "main", &calls);
    }
}

#[test]
fn rust_functions_have_their_shares() {
    let line = "rustc --edition=2024 -O -g {}/shares.rs -o program";
    let Some(program) = Program::compile(&[line]) else { return };
    let printed = program.record(&["--sample", "1000"]);
    shares_are_right(&printed, &program);
    let calls = [
        ("main", "phase"),
        ("phase", "{{closure}}"),
        ("{{closure}}", "ten"),
        ("ten", "*"),
        ("{{closure}}", "around_twenty"),
        ("around_twenty", "*"),
        ("twenty", "*"),
        ("thirty", "*"),
        ("forty", "*"),
        ("{{closure}}", "thirty"),
        ("thirty", "thirty"),
        ("{{closure}}", "forty"),
        ("phase", "now"),
        ("now", "*"),
    ];
    stacks_are_right(&program.trace(), "phase", &calls);
}

/// What the recorder calls for itself around calls is the recorder's.
#[test]
fn functions_that_the_recorder_calls_are_its_own() {
    let Some(program) = Program::compile(&["cc -O2 -g {}/often.c -o program"]) else { return };
    program.start(&["--sample", "1000"], &["600000"], 0);
    let hot = program.json("hot");
    let functions = hot["functions"].as_array().unwrap();
    let time = |name: &str| {
        let rows = functions.iter().filter(|row| row["name"] == name);
        rows.map(|row| row["exclusive_ns"].as_f64().unwrap()).sum::<f64>() / hot["time_ns"].as_f64().unwrap()
    };
    // How much of the time is the recorder's depends on what opening a file costs: more than half, or a thirtieth.
    assert!(time("fopen") > 0.05 && time("libmarey.so") > 0.0, "{functions:#?}");
    for name in ["pthread_setcancelstate", "__errno_location"] {
        assert_eq!(time(name), 0.0, "{name}: {functions:#?}");
    }
}

/// The call that a sample has ended is made anew. Without that, some eighty of these would return EINTR: where a timer
/// goes by the calendar, that is; by processor time it is seldom, and on newer kernels never.
#[test]
fn no_call_of_the_program_is_ended_by_a_sample() {
    let line = "cc -O1 -pthread -I {}/../../../marey-collect/include {}/../odd/programs/interrupted.c -o program -lm";
    let Some(program) = Program::compile(&[line]) else { return };
    let printed = program.start(&["--sample", "200", BY_THE_WALL], &["waits", "1"], 7);
    assert_eq!(printed, "0 interrupted, 0 early\n");
    assert!(program.sum("sampled", "samples") > 30);
    // Those that the program's own handlers end do end, though samples come in that very moment.
    let printed = program.start(&["--force", "--sample", "10000", BY_THE_WALL], &["awaits", "1"], 7);
    assert_eq!(printed, "2000 of 2000\n");
    // The rate matters little here: waking up is what lets samples be due.
    let printed = program.start(&["--force", "--sample", "1000"], &["wakes", "1"], 7);
    assert_eq!(printed, "6000 of 6000, 0 lost\n");
    // Where nobody sees the calls they must end all the same.
    program.start(&["--force", "--sample", "10000", "--system", "off", BY_THE_WALL], &["awaits", "1"], 7);
}

/// A program of a few lines, which uses 64 MiB of memory and as much processor time as its first word says, ms, and
/// ends by the signal that the second says, if any. Prints what it has used, ns, and with a signal what a timer of its
/// own was told of by then, every 5 ms.
const BURN: &str = "
    #include <signal.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <time.h>
    static volatile double sink;
    static volatile long told;
    static void hears(int signal, siginfo_t *what, void *where) { told += 1 + what->si_overrun; }
    static void listens(void) {
        struct sigaction action = {.sa_sigaction = hears, .sa_flags = SA_SIGINFO | SA_RESTART};
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
        struct itimerspec times = {{0, 5000000}, {0, 5000000}};
        timer_t timer;
        sigaction(SIGRTMIN, &action, 0);
        timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer);
        timer_settime(timer, 0, &times, 0);
    }
    static double used(void) {
        struct timespec time;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
    }
    int main(int count, char **words) {
        static volatile char memory[64 << 20];
        if (count > 2) listens();
        double begin = used(), until = atof(words[1]) * 1e6, now;
        for (long i = 0; i < (long)sizeof memory; i += 4096) memory[i] = 1;
        while ((now = used() - begin) < until || (count > 2 && told * 5e6 < until)) for (int i = 0; i < 20000; i++) sink = sink + i;
        printf(\"used %.0f\\n\", now), fflush(stdout);
        if (count > 2) printf(\"told %ld\\n\", told), fflush(stdout), raise(atoi(words[2]));
    }";

fn burn() -> Option<Program> {
    let place = TempDir::new().unwrap();
    let source = place.path().join("burn.c");
    std::fs::write(&source, BURN).unwrap();
    Program::compile(&[&format!("cc -O2 {} -o program", source.display())])
}

#[test]
fn samples_stand_for_the_processor_time() {
    let Some(program) = burn() else { return };
    let used = numbers(&program.start(&["--sample", "200"], &["1000"], 0))[0].1;
    let (time, samples) = (program.sum("sampled", "time"), program.sum("sampled", "samples"));
    // What starting the recorder and the last period take lies beyond.
    assert!((time as f64 / used - 1.0).abs() < 0.03, "{time} ns of {used}");
    // Each sample is there at its time as well.
    assert_eq!(program.sum("samples", "periods") * 5_000_000, time);
    assert_eq!(program.archive().table("samples").unwrap().len() as i64, samples);
    let times = program.archive().table("samples").unwrap();
    assert!(times.i64("time").unwrap().windows(2).all(|pair| pair[0] < pair[1]));
}

/// A call that is under way for longer than many periods moves as much as alone, and a process that becomes another meanwhile
/// goes on: nobody handles the signal there.
#[test]
fn no_call_of_the_program_does_less_for_a_sample() {
    let line = "cc -O2 -pthread {}/long_calls.c -o program";
    let Some(program) = Program::compile(&[line]) else { return };
    assert_eq!(program.start(&["--sample", "10000"], &["moves"], 0), "0 of 80 moved less\n");
    assert!(program.sum("sampled", "samples") > 30);
    assert_eq!(program.start(&["--force", "--sample", "10000"], &["becomes", "50"], 0), "done\n");
}

/// What a thread blocks before anybody looks, it has blocked still, as far as it can see.
#[test]
fn threads_that_block_all_signals_are_sampled() {
    let place = TempDir::new().unwrap();
    let source = place.path().join("blocked.c");
    let text = BURN
        .replace("int main(", "static int begun(")
        .replace("#include <stdio.h>", "#include <stdio.h>\n#include <pthread.h>");
    let text = format!(
        "{text}
        static void *burns(void *words) {{ begun(2, words); return 0; }}
        int main(int count, char **words) {{
            sigset_t all, now;
            pthread_t thread;
            sigfillset(&all);
            pthread_sigmask(SIG_SETMASK, &all, 0);
            pthread_create(&thread, 0, burns, words);
            pthread_join(thread, 0);
            begun(2, words);
            pthread_sigmask(SIG_BLOCK, 0, &now);
            printf(\"blocked %d\\n\", sigismember(&now, SIGRTMAX - 4));
            return count - 2;
        }}"
    );
    std::fs::write(&source, text).unwrap();
    let line = format!("cc -O2 -pthread {} -o program", source.display());
    let Some(program) = Program::compile(&[&line]) else { return };
    let printed = program.start(&["--sample", "200"], &["400"], 0);
    let printed = numbers(&printed);
    assert_eq!(printed[2], ("blocked", 1.0), "{printed:?}");
    let (used, time) = (printed[0].1 + printed[1].1, program.sum("sampled", "time"));
    assert!((time as f64 / used - 1.0).abs() < 0.05, "{time} ns of {used}");
}

/// The kernel looks at a thread's time at its ticks. One that works between them alone is never seen, which short
/// threads of a busy machine are by chance.
#[test]
fn the_time_of_a_thread_that_meets_no_tick_is_there() {
    let place = TempDir::new().unwrap();
    let source = place.path().join("between.c");
    let text = "
    #include <pthread.h>
    #include <stdio.h>
    #include <time.h>
    static double at(clockid_t clock) {
        struct timespec time;
        clock_gettime(clock, &time);
        return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
    }
    static void *works(void *words) {
        double used;
        while ((used = at(CLOCK_THREAD_CPUTIME_ID)) < 60e6) {
            double tick = at(CLOCK_MONOTONIC_COARSE);
            struct timespec moment = {0, 100000};
            while (at(CLOCK_MONOTONIC_COARSE) == tick) nanosleep(&moment, 0);
            while (at(CLOCK_THREAD_CPUTIME_ID) - used < 0.7e6) ;
        }
        printf(\"used %.0f\\n\", used);
        return words;
    }
    int main(void) {
        pthread_t thread;
        pthread_create(&thread, 0, works, 0);
        return pthread_join(thread, 0);
    }";
    std::fs::write(&source, text).unwrap();
    let Some(program) = Program::compile(&[&format!("cc -O2 -pthread {} -o program", source.display())])
    else {
        return;
    };
    let used = numbers(&program.record(&["--sample", "1000"]))[0].1;
    let time = program.sum("sampled", "time") as f64;
    // The main thread makes the other one, which takes it a few milliseconds.
    assert!((0.95..1.15).contains(&(time / used)), "{time} ns of {used}");
}

#[test]
fn a_profile_has_samples_without_their_times() {
    let Some(program) = burn() else { return };
    let used = numbers(&program.start(&["--sample", "200", "--mode", "profile"], &["400"], 0))[0].1;
    let time = program.sum("sampled", "time") as f64;
    assert!((time / used - 1.0).abs() < 0.05, "{time} ns of {used}");
    assert_eq!(program.archive().table("samples").unwrap().len(), 0);
}

#[test]
fn a_process_that_is_killed_keeps_its_samples() {
    let Some(program) = burn() else { return };
    let printed = program.start(&["--sample", "200"], &["400", "9"], 137);
    let printed = numbers(&printed);
    let time = program.sum("sampled", "time") as f64;
    // The kernel tells when it looks at timers, which on a busy machine it does late; a killed process has what it was told.
    let told = printed[1].1 * 5e6;
    assert!((time - told).abs() < 0.05 * printed[0].1, "{time} ns, the program was told of {told}");
    let hot = program.json("hot");
    assert!(inclusive(&hot, "main") / time > 0.97, "{hot}");
}

/// GNU time asks the kernel about the same process, from outside.
#[test]
fn memory_and_processor_time_are_what_time_says() {
    let Some(program) = burn() else { return };
    if !Path::new("/usr/bin/time").exists() {
        return marey_testkit::skip("/usr/bin/time");
    }
    let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
    record.current_dir(program.place.path()).env_remove("LD_PRELOAD");
    record.args(["record", "--all", "--", "/usr/bin/time", "-f", "%M %U %S", "./program", "300"]);
    let output = record.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    let line = told.lines().find(|line| line.split(' ').count() == 3 && !line.contains(':')).unwrap();
    let [kib, user, system] =
        line.split(' ').map(|word| word.parse::<f64>().unwrap()).collect::<Vec<_>>()[..]
    else {
        panic!("{told}");
    };
    let report = program.json("report");
    let ranks = report["ranks"].as_array().unwrap().iter();
    let memory = ranks.clone().map(|rank| rank["peak_memory_bytes"].as_f64().unwrap()).fold(0.0, f64::max);
    // What the process still does when it has said so.
    assert!((memory / 1024.0 / kib - 1.0).abs() < 0.02, "{memory} bytes, {kib} KiB by time");
    let time = ranks.map(|rank| rank["processor_ns"].as_f64().unwrap()).fold(0.0, f64::max);
    assert!((time * 1e-9 - user - system).abs() < 0.03, "{time} ns, {user} + {system} s by time");
}
