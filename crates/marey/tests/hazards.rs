//! Programs that do what recorders trip over. Each must end as it would have ended alone, and the run
//! must say what was recorded and what was not.
//!
//! The one idea: a program in C of a few lines for each hazard, compiled here, and figures that follow
//! from its source alone.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// A compiled program in a directory of its own.
struct Hazard {
    place: TempDir,
}

impl Hazard {
    /// `None`, said aloud, without a C compiler.
    fn new(source: &str) -> Option<Self> {
        let place = TempDir::new().unwrap();
        let file = place.path().join("program.c");
        std::fs::write(&file, format!("#define _GNU_SOURCE\n#include \"marey.h\"\n{source}")).unwrap();
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../marey-collect/include");
        let mut compile = Command::new("cc");
        compile
            .args(["-O1", "-pthread", "-I"])
            .arg(include)
            .arg(&file)
            .arg("-o")
            .arg(place.path().join("program"));
        match compile.output() {
            Err(error) => {
                marey_testkit::skip(&format!("a C compiler: {error}"));
                None
            }
            Ok(output) => {
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                Some(Self { place })
            }
        }
    }

    fn run(&self) -> PathBuf {
        self.place.path().join("run.marey")
    }

    /// Records a command of the shell and expects it to exit with `status`. What `marey info` says.
    fn record(&self, options: &[&str], line: &str, status: i32) -> Value {
        self.start(options, line, status);
        self.json("info")
    }

    /// The same without looking into the run. What is told on standard error.
    fn start(&self, options: &[&str], line: &str, status: i32) -> String {
        let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
        record.current_dir(self.place.path()).env_remove("LD_PRELOAD");
        // Events are what these tests are about.
        record.args(["record", "--budget", "off"]).args(options).args(["--", "sh", "-c", line]);
        let output = record.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{told}");
        told
    }

    fn json(&self, command: &str) -> Value {
        serde_json::from_str(&self.text(&[command, "--json"])).unwrap()
    }

    /// What a command says of the run in words.
    fn text(&self, command: &[&str]) -> String {
        let mut ask = Command::new(env!("CARGO_BIN_EXE_marey"));
        let output = ask.args(&command[..1]).arg(self.run()).args(&command[1..]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Calls of all regions of the program's own level.
    fn calls(&self) -> u64 {
        self.count(|region| region["level"] == "source")
    }

    /// Calls of the region of this name.
    fn calls_of(&self, name: &str) -> u64 {
        self.count(|region| region["noun"] == name)
    }

    fn count(&self, is_meant: impl Fn(&Value) -> bool) -> u64 {
        let report = self.json("report");
        let regions = report["regions"].as_array().unwrap().iter();
        regions.filter(|region| is_meant(region)).map(|region| region["calls"].as_u64().unwrap()).sum()
    }
}

#[test]
fn a_child_of_vfork_ends_itself_and_not_its_parent() {
    let source = r#"
        #include <sys/wait.h>
        int main(void) {
            static marey_region work = MAREY_REGION("work");
            int status;
            marey_enter(&work);
            pid_t child = vfork();
            if (child == 0) execl("/nonexistent", "nothing", (char *)0), _exit(127);
            waitpid(child, &status, 0);
            marey_leave(&work);
            return WEXITSTATUS(status) == 127 ? 3 : 4;
        }"#;
    let Some(hazard) = Hazard::new(source) else { return };
    let info = hazard.record(&[], "exec ./program", 3);
    assert_eq!(info["processes"], 1, "{info}");
    assert!(info["ended_early"].as_array().unwrap().iter().all(|end| end["exit_code"] == 3), "{info}");
    let told = Command::new(env!("CARGO_BIN_EXE_marey")).arg("info").arg(hazard.run()).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(!told.contains("_exit"), "{told}");
    assert_eq!(hazard.calls(), 1);
}

#[test]
fn threads_that_begin_at_once_share_one_recorder() {
    let source = r#"
        #include <pthread.h>
        static pthread_barrier_t all;
        static void *work(void *nothing) {
            static marey_region first = MAREY_REGION("first");
            pthread_barrier_wait(&all);
            marey_enter(&first), marey_leave(&first);
            return nothing;
        }
        int main(void) {
            pthread_t threads[8];
            pthread_barrier_init(&all, 0, 8);
            for (int i = 0; i < 8; i++) pthread_create(&threads[i], 0, work, 0);
            for (int i = 0; i < 8; i++) pthread_join(threads[i], 0);
            return 0;
        }"#;
    let Some(hazard) = Hazard::new(source) else { return };
    // Beneath a shell, so that the process is not measured from its start.
    for _ in 0..5 {
        let info = hazard.record(&["--force"], "./program; exit 0", 0);
        assert_eq!((&info["processes"], hazard.calls()), (&Value::from(1), 8), "{info}");
    }
}

/// Of each thread's window a part stays unused, and room for sums is reserved.
#[test]
fn with_the_limit_that_info_names_all_is_kept() {
    let source = r#"
        #include <pthread.h>
        static void *work(void *nothing) {
            static marey_region step = MAREY_REGION("step");
            for (int i = 0; i < 70000; i++) marey_enter(&step), marey_leave(&step);
            return nothing;
        }
        int main(void) {
            pthread_t threads[32];
            for (int i = 0; i < 32; i++) pthread_create(&threads[i], 0, work, 0);
            for (int i = 0; i < 32; i++) pthread_join(threads[i], 0);
            return 0;
        }"#;
    let Some(hazard) = Hazard::new(source) else { return };
    let limit = |mb: &str| hazard.record(&["--force", "--max-mb", mb], "exec ./program", 0);
    let info = limit("1");
    assert_ne!(info["summed"]["locations"], 0, "{info}");
    let needed = info["trace"]["needed_mb"].to_string();
    assert!(hazard.text(&["info", "--estimate"]).contains(&format!("--max-mb {needed}`")));
    let info = limit(&needed);
    assert_eq!((&info["summed"]["locations"], hazard.calls()), (&Value::from(0), 32 * 70_000), "{info}");
    // The records alone would not fit into as much.
    let bytes = info["trace"]["largest_process_bytes"].as_u64().unwrap();
    let info = limit(&(bytes.div_ceil(1 << 20) + 1).to_string());
    assert_ne!(info["summed"]["locations"], 0, "{info}");
}

/// Of a run whose end was only added up the beginning is explained: as many steps as `report` counts until then.
#[test]
fn what_recurs_is_told_of_the_beginning_that_has_events() {
    let source = r#"
        int main(void) {
            static marey_region step = MAREY_REGION("step"), inner = MAREY_REGION("inner");
            for (int i = 0; i < 400000; i++) {
                marey_enter(&step);
                marey_enter(&inner);
                for (volatile int spin = 0; spin < 200; spin++);
                marey_leave(&inner);
                marey_leave(&step);
            }
            return 0;
        }"#;
    let Some(hazard) = Hazard::new(source) else { return };
    let info = hazard.record(&["--force", "--max-mb", "1", "--sample", "off"], "exec ./program", 0);
    let since = info["summed"]["since_ns"].as_u64().unwrap();
    let duration = info["duration_ns"].as_u64().unwrap();
    assert!(0 < since && since < duration / 10 * 9, "{info}");
    let json = |args: &[&str]| -> Value {
        serde_json::from_str(&hazard.text(&[args, &["--json"]].concat())).unwrap()
    };
    let part = json(&["report", "--to", &format!("{since}ns")]);
    let steps = part["regions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["verb"] == "step" || row["noun"] == "step")
        .unwrap();
    let steps = steps["calls"].as_u64().unwrap();
    assert!((1000..400_000).contains(&steps), "{steps}");
    for command in ["phases", "anomalies", "situations"] {
        let told = json(&[command]);
        assert_eq!((told["from_ns"].as_u64(), told["to_ns"].as_u64()), (Some(0), Some(since)), "{command}");
        let words = hazard.text(&[command]).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("explained is the beginning, the first"), "{command}: {words}");
    }
    let found = json(&["phases"]);
    let told = found["loops"][0]["iterations"].as_u64().unwrap();
    assert!(told.abs_diff(steps) <= 1, "{told} of {steps}");
    let judged = json(&["anomalies", "--context", "step"]);
    let visits = judged["judged"].as_u64().unwrap() + judged["not_judged"].as_u64().unwrap();
    assert!(visits.abs_diff(2 * steps) <= 2, "{visits} of {steps}");
}

/// Children that the program below forks.
const CHILDREN: u64 = 60;

#[test]
fn children_do_not_wait_for_threads_that_only_their_parent_has() {
    let source = r#"
        #include <pthread.h>
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <sys/wait.h>
        static volatile int done;
        static void *learn(void *nothing) {
            for (unsigned i = 0; !done && i < 50000; i++) {
                marey_region *region = calloc(1, sizeof *region);
                *region = (marey_region)MAREY_REGION("learnt");
                region->line = i;
                marey_enter(region), marey_leave(region);
            }
            return nothing;
        }
        int main(void) {
            static marey_region child = MAREY_REGION("child");
            pthread_t threads[3];
            int failed = 0;
            for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, learn, 0);
            for (int i = 0; i < 60; i++) {
                int status;
                pid_t pid = syscall(SYS_fork);
                if (pid == 0) {
                    alarm(20);
                    marey_enter(&child), marey_leave(&child);
                    _exit(7);
                }
                waitpid(pid, &status, 0);
                failed += !WIFEXITED(status) || WEXITSTATUS(status) != 7;
            }
            done = 1;
            for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
            return failed != 0;
        }"#;
    let Some(hazard) = Hazard::new(source) else { return };
    let info = hazard.record(&[], "exec ./program", 0);
    // A child whose parent was in the middle of its definitions has nothing to go on from, and says so.
    let (recorded, not) = (hazard.calls_of("child"), info["problems"]["missing"].as_u64().unwrap());
    assert_eq!((recorded + not, info["processes"].as_u64()), (CHILDREN, Some(CHILDREN + 1)));
}

#[test]
fn a_program_without_memory_for_a_recorder_goes_on_alone() {
    // After the limit is set no page can be had for what is learnt of another region.
    let source = r#"
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/resource.h>
        static marey_region regions[60000];
        int main(void) {
            static marey_region before = MAREY_REGION("before");
            char line[256];
            unsigned long kib = 0;
            marey_enter(&before), marey_leave(&before);
            FILE *status = fopen("/proc/self/status", "r");
            while (fgets(line, sizeof line, status)) sscanf(line, "VmSize: %lu", &kib);
            fclose(status);
            struct rlimit limit = { kib * 1024, kib * 1024 };
            setrlimit(RLIMIT_AS, &limit);
            for (unsigned i = 0; i < 60000; i++) {
                regions[i] = (marey_region)MAREY_REGION("after");
                regions[i].line = i;
                marey_enter(&regions[i]), marey_leave(&regions[i]);
            }
            return 5;
        }"#;
    let Some(hazard) = Hazard::new(source) else { return };
    let info = hazard.record(&[], "exec ./program", 5);
    let (calls, problems) = (hazard.calls(), &info["problems"]);
    assert!((1..60_001).contains(&calls), "{calls} {info}");
    // What was dropped are events, two of each call but for one that was recorded in part.
    let told = 2 * calls + problems["dropped"].as_u64().unwrap();
    assert!((2 * 60_001..=2 * 60_001 + 1).contains(&told), "{calls} {info}");
}

#[test]
fn threads_with_the_smallest_stack_survive() {
    // A wait for a lock, at a barrier and for a thread: each has its call stack walked and defined.
    let source = r#"
        #include <limits.h>
        #include <pthread.h>
        #include <unistd.h>
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static pthread_barrier_t all;
        static void *nothing(void *argument) { return argument; }
        static void *work(void *attributes) {
            pthread_t thread;
            pthread_mutex_lock(&lock), usleep(20000), pthread_mutex_unlock(&lock);
            pthread_barrier_wait(&all);
            pthread_create(&thread, attributes, nothing, 0), pthread_join(thread, 0);
            return 0;
        }
        int main(void) {
            pthread_attr_t small;
            pthread_t threads[3];
            pthread_attr_init(&small);
            pthread_attr_setstacksize(&small, 16384);
            pthread_barrier_init(&all, 0, 3);
            for (int i = 0; i < 3; i++) if (pthread_create(&threads[i], &small, work, &small)) return 1;
            for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
            return 6;
        }"#;
    let Some(hazard) = Hazard::new(source) else { return };
    let info = hazard.record(&["--all"], "exec ./program", 6);
    assert!(info["locations"].as_u64().unwrap() >= 7, "{info}");
}

#[test]
fn more_regions_than_there_are_sites_are_counted_together() {
    let source = r#"
        #include <stdlib.h>
        int main(void) {
            for (unsigned i = 0; i < 1100000; i++) {
                marey_region *region = calloc(1, sizeof *region);
                *region = (marey_region)MAREY_REGION("many");
                region->line = i;
                marey_enter(region), marey_leave(region);
            }
            return 0;
        }"#;
    let Some(hazard) = Hazard::new(source) else { return };
    // Merging a million regions takes a minute without optimisation, so the events are weighed: each
    // takes two bytes or more.
    hazard.start(&["--no-merge"], "exec ./program", 0);
    let spool = std::fs::read_dir(hazard.run().join("spool")).unwrap().map(|entry| entry.unwrap());
    let events = spool.filter(|entry| entry.path().extension().is_some_and(|kind| kind == "events"));
    let bytes: u64 = events.map(|entry| entry.metadata().unwrap().len()).sum();
    assert!(bytes > 4 * 1_100_000, "{bytes} bytes");
}

/// Only 1024 regions are timed at once. Each of them lasts as long as the innermost call, and so does a
/// call on the mean, however many there are inside that were only counted.
#[test]
fn calls_too_deep_to_be_timed_have_no_part_in_means() {
    let source = r#"
        #include <time.h>
        static void down(int left) {
            static marey_region region = MAREY_REGION("down");
            marey_enter(&region);
            if (left > 1) down(left - 1);
            else nanosleep(&(struct timespec){0, 50000000}, 0);
            marey_leave(&region);
        }
        int main(void) {
            down(3000);
            return 0;
        }"#;
    let Some(hazard) = Hazard::new(source) else { return };
    hazard.record(&[], "exec ./program", 0);
    let report = hazard.json("report");
    let row = report["regions"].as_array().unwrap().iter().find(|row| row["noun"] == "down").unwrap();
    assert_eq!((&row["calls"], &row["untimed_calls"]), (&3000.into(), &(3000 - 1024).into()), "{row}");
    let ns = |name: &str| row[name].as_f64().unwrap();
    assert!(ns("min_ns") >= 50e6 && ns("min_ns") <= ns("mean_ns") && ns("mean_ns") <= ns("max_ns"), "{row}");
    assert!(ns("std_ns") <= ns("max_ns") - ns("min_ns"), "{row}");
}

const MANY_VISITS: &str = r#"
    int main(void) {
        static marey_region busy = MAREY_REGION("busy");
        for (int i = 0; i < 300000; i++) marey_enter(&busy), marey_leave(&busy);
        return 5;
    }"#;

#[test]
fn a_limit_on_the_size_of_files_costs_events_and_not_the_program() {
    let Some(hazard) = Hazard::new(MANY_VISITS) else { return };
    let info = hazard.record(&[], "ulimit -f 400; exec ./program", 5);
    let dropped = info["problems"]["dropped"].as_u64().unwrap();
    assert!(dropped > 0, "{info}");
    assert_eq!(info["events"].as_u64().unwrap() + dropped, 600_000, "{info}");
}

/// At some of these there is room for the window but not for the sums, at some for both.
#[test]
fn a_profile_without_room_for_its_sums_costs_events_and_not_the_program() {
    let Some(hazard) = Hazard::new(MANY_VISITS) else { return };
    let mut exact = 0;
    for blocks in [150, 164, 172, 180, 192, 400] {
        let line = format!("ulimit -f {blocks}; exec ./program");
        let info = hazard.record(&["--mode", "profile", "--force"], &line, 5);
        let dropped = info["problems"]["dropped"].as_u64().unwrap();
        // That a thread has ended is an event too; of a visit during which events began to be dropped one is
        // in no sum.
        let all = info["events"].as_u64().unwrap() + dropped;
        assert!((599_999..=600_001).contains(&all), "{blocks}: {info}");
        exact += u32::from(dropped == 0);
    }
    assert!((1..6).contains(&exact), "{exact}");
}

#[test]
fn an_event_that_is_too_long_is_the_only_one_lost() {
    let source = r#"
        #include <stdlib.h>
        #include <string.h>
        int main(void) {
            static marey_region after = MAREY_REGION("after");
            char *text = malloc(20000001);
            memset(text, 'x', 20000000), text[20000000] = 0;
            for (int i = 0; i < 500; i++) marey_enter(&after), marey_leave(&after);
            MAREY_EVENT("long", "text", text);
            for (int i = 0; i < 500; i++) marey_enter(&after), marey_leave(&after);
            return 0;
        }"#;
    let Some(hazard) = Hazard::new(source) else { return };
    let info = hazard.record(&["--max-mb", "10"], "exec ./program", 0);
    assert_eq!((&info["problems"]["dropped"], hazard.calls()), (&Value::from(1), 1000), "{info}");
}

const ONE_REGION: &str = r#"
    int main(void) {
        static marey_region work = MAREY_REGION("work");
        marey_enter(&work), marey_leave(&work);
        return 6;
    }"#;

#[test]
fn a_recording_inside_another_measures_alone() {
    let Some(hazard) = Hazard::new(ONE_REGION) else { return };
    let marey = env!("CARGO_BIN_EXE_marey");
    let inner = format!("exec {marey} record -o run.marey -- ./program");
    let told = hazard.start(&["-o", "outer.marey"], &inner, 6);
    assert!(told.contains("nothing was measured; outer.marey holds no run"), "{told}");
    assert_eq!((&hazard.json("info")["processes"], hazard.calls()), (&Value::from(1), 1));
}

#[test]
fn of_two_copies_of_the_library_one_records() {
    let Some(hazard) = Hazard::new(ONE_REGION) else { return };
    let line = "cp $LD_PRELOAD other.so; LD_PRELOAD=$PWD/other.so:$LD_PRELOAD exec ./program";
    let info = hazard.record(&[], line, 6);
    assert_eq!((&info["processes"], hazard.calls()), (&Value::from(1), 1), "{info}");
}

/// Seen where a batch system limited the memory: the merge was aborted, and its 134 took the place of
/// the program's status.
#[test]
fn a_merge_without_memory_leaves_the_status_to_the_program() {
    let source = r#"
        int main(void) {
            static marey_region work = MAREY_REGION("work");
            for (int i = 0; i < 100000; i++) marey_enter(&work), marey_leave(&work);
            return 5;
        }"#;
    let Some(hazard) = Hazard::new(source) else { return };
    // From what the launcher itself needs, which depends on how it was built, to enough for all.
    let under = |limit: u32, words: &str| {
        let line = format!("ulimit -v {limit}; exec {} {words}", env!("CARGO_BIN_EXE_marey"));
        let mut command = Command::new("sh");
        command.args(["-c", &line]).current_dir(hazard.place.path()).env_remove("LD_PRELOAD");
        command.output().unwrap()
    };
    let least = (10_000..).step_by(1000).find(|limit| under(*limit, "--version").status.success()).unwrap();
    let mut cut_short = 0;
    for limit in (least + 4000..least + 40_000).step_by(4000) {
        let output = under(limit, "record --force -- ./program");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{limit}: {told}");
        if told.contains("`marey merge run.marey`") {
            cut_short += 1;
            let mut merge = Command::new(env!("CARGO_BIN_EXE_marey"));
            assert!(merge.arg("merge").arg(hazard.run()).output().unwrap().status.success(), "{limit}");
        }
        assert_eq!(hazard.json("info")["processes"], 1, "{limit}: {told}");
    }
    assert!(cut_short > 0);
}

/// The dynamic linker splits what it is to load at blanks.
#[test]
fn blanks_in_the_names_of_all_directories_are_no_matter() {
    let Some(hazard) = Hazard::new(ONE_REGION) else { return };
    let [run, temporary] = ["a run", "for temporary files"].map(|name| hazard.place.path().join(name));
    std::fs::create_dir_all(&run).unwrap();
    std::fs::create_dir_all(&temporary).unwrap();
    let mut record = Command::new(env!("CARGO_BIN_EXE_marey"));
    record.args(["record", "--"]).arg(hazard.place.path().join("program"));
    record.current_dir(&run).env_remove("LD_PRELOAD").env("TMPDIR", &temporary);
    let output = record.output().unwrap();
    assert_eq!(output.status.code(), Some(6), "{}", String::from_utf8_lossy(&output.stderr));
    let mut info = Command::new(env!("CARGO_BIN_EXE_marey"));
    let info = info.args(["info", "--json"]).arg(run.join("run.marey")).output().unwrap();
    let info: Value = serde_json::from_slice(&info.stdout).unwrap();
    assert_eq!((&info["processes"], &info["intervals"]), (&Value::from(1), &Value::from(1)), "{info}");
}

/// Killed when the spool was gone already.
#[test]
fn what_a_merge_has_left_undone_the_next_one_does() {
    let Some(hazard) = Hazard::new(ONE_REGION) else { return };
    hazard.start(&["--no-merge"], "exec ./program", 6);
    let marey = |words: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_marey")).args(words).arg(hazard.run()).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert!(marey(&["merge", "--no-causes"]).0);
    let explained = hazard.run().join("explanation.parquet");
    let (unfinished, warning) = (hazard.run().join("merging"), "the merge of the run is not through");
    assert!(!explained.exists() && !unfinished.exists());
    assert!(!marey(&["info"]).1.contains(warning));
    std::fs::write(&unfinished, "").unwrap();
    assert!(marey(&["info"]).1.contains(warning));
    let (is_done, told) = marey(&["merge"]);
    assert!(is_done && told.contains("what was left of its merge is done"), "{told}");
    assert!(explained.exists() && !unfinished.exists());
    let (is_done, told) = marey(&["merge"]);
    assert!(!is_done && told.contains("merged already"), "{told}");
}

#[test]
fn an_abort_that_a_handler_leaves_is_not_the_end() {
    let source = r#"
        #include <setjmp.h>
        #include <signal.h>
        #include <stdlib.h>
        static sigjmp_buf back;
        static void leave(int signal) { siglongjmp(back, signal); }
        int main(int count, char **words) {
            static marey_region work = MAREY_REGION("work");
            marey_enter(&work);
            if (count == 1) signal(SIGABRT, leave);
            if (!sigsetjmp(back, 1)) abort();
            marey_leave(&work);
            return 0;
        }"#;
    let Some(hazard) = Hazard::new(source) else { return };
    let info = hazard.record(&[], "exec ./program", 0);
    assert_eq!(info["ended_early"], serde_json::json!([]), "{info}");
    let info = hazard.record(&["--force"], "ulimit -c 0; exec ./program aborts", 134);
    assert_eq!(info["ended_early"][0]["outcome"], "aborted", "{info}");
}

#[test]
fn a_process_that_goes_on_as_another_program_is_not_said_to_be_killed() {
    let source = r#"
        #include <stdlib.h>
        #include <unistd.h>
        int main(void) {
            static marey_region work = MAREY_REGION("work");
            marey_enter(&work), marey_leave(&work);
            clearenv();
            return execl("/bin/true", "true", (char *)0);
        }"#;
    let Some(hazard) = Hazard::new(source) else { return };
    let info = hazard.record(&[], "exec ./program", 0);
    let outcome = info["ended_early"][0]["outcome"].as_str().unwrap();
    assert_eq!(outcome, "ended without notice (killed, or went on as another program)");
    assert!(!hazard.text(&["report"]).contains("was killed, it seems"));
}

#[test]
fn a_child_that_outlives_the_command_is_still_running() {
    let source = r#"
        #include <stdio.h>
        #include <unistd.h>
        int main(void) {
            static marey_region work = MAREY_REGION("work");
            int ends[2];
            char ready;
            marey_enter(&work), marey_leave(&work);
            if (pipe(ends)) return 1;
            pid_t child = fork();
            if (child == 0) {
                marey_enter(&work), marey_leave(&work);
                close(0), close(1), close(2);
                write(ends[1], "x", 1);
                for (alarm(300);;) pause();
            }
            FILE *file = fopen("child", "w");
            fprintf(file, "%d", (int)child), fclose(file);
            return read(ends[0], &ready, 1) != 1;
        }"#;
    let Some(hazard) = Hazard::new(source) else { return };
    hazard.start(&[], "exec ./program", 0);
    let child = std::fs::read_to_string(hazard.place.path().join("child")).unwrap();
    assert!(Command::new("kill").args(["-9", &child]).status().unwrap().success());
    let info = hazard.json("info");
    assert_eq!((&info["processes"], &info["ended_early"]), (&2.into(), &serde_json::json!([])), "{info}");
    assert!(hazard.text(&["info"]).contains("still running when the recording ended"));
}

/// What an older or newer marey.h does: it asks for what it knows, gets nothing, and records nothing.
#[test]
fn a_program_with_the_user_api_of_another_version_says_so() {
    let source = r#"
        #include <dlfcn.h>
        int main(void) {
            void *symbol = dlsym(RTLD_DEFAULT, "marey_runtime");
            const void *(*ask)(uint32_t) = (const void *(*)(uint32_t))symbol;
            return !ask || ask(MAREY_ABI + 1) || ask(MAREY_ABI + 1) || !ask(MAREY_ABI);
        }"#;
    let Some(hazard) = Hazard::new(source) else { return };
    hazard.start(&[], "exec ./program", 0);
    let report = hazard.text(&["report", "--by", "problem"]);
    assert!(report.contains("other api") && report.contains("Compile it anew"), "{report}");
}

#[test]
fn recursion_counts_every_call_and_says_which_were_too_deep_for_times() {
    let source = r#"
        static void down(marey_region *region, int levels) {
            marey_enter(region);
            if (levels > 1) down(region, levels - 1);
            for (volatile int n = 0; levels == 1 && n < 1000000; n++);
            marey_leave(region);
        }
        int main(void) {
            static marey_region shallow = MAREY_REGION("shallow"), deep = MAREY_REGION("deep");
            down(&shallow, 10);
            down(&deep, 1100);
            return 0;
        }"#;
    let Some(hazard) = Hazard::new(source) else { return };
    hazard.record(&[], "exec ./program", 0);
    let report = hazard.json("report");
    let regions = report["regions"].as_array().unwrap();
    let shallow = regions.iter().find(|region| region["noun"] == "shallow").unwrap();
    let mean = shallow["mean_ns"].as_f64().unwrap();
    let text = hazard.text(&["report", "--by", "region"]);
    let line = text.lines().find(|line| line.trim_start().starts_with("shallow")).unwrap();
    let (number, unit) = line.trim_end().rsplit("  ").next().unwrap().trim().split_once(' ').unwrap();
    let unit = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)].iter().find(|it| it.0 == unit).unwrap().1;
    let shown = number.parse::<f64>().unwrap() * unit;
    assert!((shown / mean - 1.0).abs() < 0.01, "{shown} {mean}\n{text}");
    let problems = hazard.text(&["report", "--by", "problem"]);
    let line = problems.lines().find(|line| line.trim_start().starts_with("untimed")).unwrap();
    assert_eq!(line.split_whitespace().nth(1), Some("76"), "{problems}");
}
