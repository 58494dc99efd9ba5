//! This machine: clock, processors, counters, limits, what confines processes.
//!
//! The one idea: each judgement is a function of what a file of the kernel or a system call says, so
//! that machines which are not at hand can be judged in tests.

use std::fs;

use marey_measure::clock;
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_getres};

use super::finding::{Finding, Topic};
use crate::embedded;
use crate::format;

/// All there is to say without a program.
pub(super) fn examine() -> Vec<Finding> {
    let mut findings = vec![system()];
    let clocks = "/sys/devices/system/clocksource/clocksource0";
    let [current, available] =
        ["current_clocksource", "available_clocksource"].map(|name| read(&format!("{clocks}/{name}")));
    findings.push(clock_source(current.as_deref(), available.as_deref().unwrap_or(""), reading_ns()));
    let usable = std::thread::available_parallelism().map_or(1, usize::from);
    findings.push(processors(read("/sys/devices/system/cpu/online").as_deref(), usable));
    let status = read("/proc/self/status").unwrap_or_default();
    let devices = fs::read_dir("/sys/bus/event_source/devices").map_or_else(
        |_| Vec::new(),
        |entries| entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect(),
    );
    let paranoid = read("/proc/sys/kernel/perf_event_paranoid");
    findings.push(counters(&devices, paranoid.as_deref(), may_use_perf(&status)));
    findings.push(sampling(&rustix::system::uname().release().to_string_lossy(), tick()));
    findings.extend(confinement(&status, read("/proc/self/attr/current").as_deref()));
    let limits = [Resource::Fsize, Resource::As, Resource::Nofile].map(|limit| getrlimit(limit).current);
    findings.extend(file_size(limits[0]));
    findings.extend(address_space(limits[1]));
    findings.extend(open_files(limits[2]));
    if findings.iter().all(|finding| finding.topic != Topic::Limit) {
        findings.push(Finding::ok(
            Topic::Limit,
            "ulimit",
            "files, memory and descriptors are not limited in a way that matters",
            "What is recorded goes to files that are mapped into memory.",
        ));
    }
    findings.extend(preloaded(std::env::var("LD_PRELOAD").ok().as_deref()));
    findings
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim_matches(['\0', '\n', ' ']).to_owned())
}

fn system() -> Finding {
    let uname = rustix::system::uname();
    let [name, release, machine] =
        [uname.sysname(), uname.release(), uname.machine()].map(|text| text.to_string_lossy());
    let finding = Finding::ok(
        Topic::System,
        "kernel",
        format!("{name} {release} on {machine}"),
        "Recording is made for Linux on x86-64.",
    );
    if name == "Linux" && machine == "x86_64" {
        return finding;
    }
    finding.problem("Measure on a machine with Linux on x86-64")
}

/// Time that one reading of the clock takes: the shortest of a few batches.
fn reading_ns() -> u64 {
    const READINGS: u64 = 1000;
    let kind = clock::detect(None);
    let batch = || {
        let before = clock::monotonic_ns();
        for _ in 0..READINGS {
            std::hint::black_box(clock::ticks_of(kind));
        }
        clock::monotonic_ns().saturating_sub(before) / READINGS
    };
    (0..10).map(|_| batch()).min().unwrap_or(0)
}

/// Judges the kernel's choice of its clock, as a recorder does.
fn clock_source(current: Option<&str>, available: &str, reading_ns: u64) -> Finding {
    const WHY: &str = "The clock is read twice for every event, and is most of what recording costs.";
    let current = current.unwrap_or("unknown");
    if current == "tsc" {
        let found = format!(
            "the time-stamp counter, which the kernel trusts; {reading_ns} ns a reading, the same on all \
             processors"
        );
        return Finding::ok(Topic::Clock, "clock source", found, WHY);
    }
    let finding = Finding::ok(
        Topic::Clock,
        "clock source",
        format!(
            "the kernel keeps time with {current}, so recorders ask it for CLOCK_MONOTONIC: {reading_ns} \
             ns a reading instead of about 10"
        ),
        WHY,
    );
    if available.split_whitespace().any(|name| name == "tsc") {
        return finding
            .note(
                "The kernel offers the time-stamp counter too. Unless somebody had a reason to choose \
                 otherwise, choose it until the next start of the machine",
            )
            .command("echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource");
    }
    finding
        .note(
            "The kernel does not offer the time-stamp counter: either it found it unsteady, or this is a \
             virtual machine without an invariant one (for QEMU: -cpu host,+invtsc). It says why",
        )
        .command("sudo dmesg | grep -iE 'tsc|clocksource'")
}

/// Compares the processors of the machine with those that this process may use.
fn processors(online: Option<&str>, usable: usize) -> Finding {
    const WHY: &str = "Ranks and threads that share a processor wait for each other, and that looks like \
                       waiting for messages.";
    let all = online.map_or(usable, count_ranges).max(usable);
    let counted = |n: usize| format::counted(n as u64, "processor");
    if usable == all {
        return Finding::ok(Topic::Processors, "processors", format!("{}, all usable", counted(all)), WHY);
    }
    let found = format!("{} of {} may be used here", format::count(usable as u64), counted(all));
    Finding::ok(Topic::Processors, "processors", found, WHY)
        .note(format!(
            "Start no more than {} ranks times threads, or ask the batch system for more; the mask is \
             shown by",
            format::count(usable as u64)
        ))
        .command("grep Cpus_allowed_list /proc/self/status; cat /sys/fs/cgroup/cpu.max")
}

/// How many numbers a list such as `0-3,8` has.
fn count_ranges(list: &str) -> usize {
    let length = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        Some(last.checked_sub(first)? + 1)
    };
    list.split(',').filter_map(length).sum()
}

/// Whether the capabilities of a process open hardware counters to it, whatever the setting says.
fn may_use_perf(status: &str) -> bool {
    const SYS_ADMIN: u32 = 21;
    const PERFMON: u32 = 38;
    let held = field(status, "CapEff:").and_then(|text| u64::from_str_radix(text, 16).ok()).unwrap_or(0);
    held & (1 << SYS_ADMIN | 1 << PERFMON) != 0
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// Judges the hardware counters by the sources of events that the kernel has.
fn counters(devices: &[String], paranoid: Option<&str>, is_privileged: bool) -> Finding {
    const WHY: &str = "Times, calls and messages need no hardware counters; counts of instructions and \
                       cache misses beside them (marey record --counters auto) do.";
    let topic = Topic::Counters;
    let subject = "hardware counters";
    let Some(level) = paranoid.and_then(|text| text.trim().parse::<i32>().ok()) else {
        return Finding::ok(topic, subject, "none: this kernel has no perf events", WHY)
            .note("Use a kernel built with CONFIG_PERF_EVENTS, if counts are wanted");
    };
    // Hybrid processors have one source for each kind of core.
    if !devices.iter().any(|name| name == "cpu" || name.starts_with("cpu_")) {
        return Finding::ok(topic, subject, "none: the kernel sees no counters in these processors", WHY)
            .note(
                "Measure on the bare machine if counts are wanted, or have the virtual PMU of this guest \
                 switched on (for QEMU: -cpu host,pmu=on)",
            );
    }
    if 2 < level && !is_privileged {
        let found = format!("closed to users: kernel.perf_event_paranoid is {level}");
        return Finding::ok(topic, subject, found, WHY)
            .note("Open them to processes of one's own, if counts are wanted")
            .command("sudo sysctl kernel.perf_event_paranoid=2");
    }
    Finding::ok(topic, subject, format!("open: kernel.perf_event_paranoid is {level}"), WHY)
}

/// Time between two looks of the kernel at a thread's timers, ns. 0 = not known.
fn tick() -> u64 {
    let time = clock_getres(ClockId::MonotonicCoarse);
    if time.tv_sec == 0 { time.tv_nsec.cast_unsigned() } else { 0 }
}

/// Judges how threads can be sampled: timers are looked at when the kernel's clock ticks, and older kernels interrupt calls.
fn sampling(release: &str, tick: u64) -> Finding {
    const WHY: &str = "A sample is taken when a thread has used so much more processor time.";
    /// Since then the signal of such a timer comes on the way back from the kernel, and not in the middle of a call.
    const FIRST: (u32, u32) = (5, 9);
    let found = match 1_000_000_000_u64.checked_div(tick) {
        None => "by timers of processor time".to_owned(),
        Some(rate) => format!("up to {} a second of processor time", format::count(rate)),
    };
    let mut numbers = release.split(['.', '-']).map(str::parse::<u32>);
    let version = numbers.next().and_then(Result::ok).zip(numbers.next().and_then(Result::ok));
    let finding = Finding::ok(Topic::Sampling, "call stacks", found, WHY);
    if version.is_some_and(|version| version < FIRST) {
        return finding.note(
            "This kernel is older than 5.9: a sample may come while a long read or write is under way, which then moves \
             less than it was asked to; a program that does not go on with the rest is to be recorded with",
        )
        .command("marey record --sample off");
    }
    finding
}

/// What confines this process. Whether that matters, the trial recording tells.
fn confinement(status: &str, profile: Option<&str>) -> Option<Finding> {
    let mut held = Vec::new();
    if field(status, "Seccomp:").is_some_and(|mode| mode != "0") {
        held.push("a filter of system calls (seccomp)".to_owned());
    }
    if field(status, "NoNewPrivs:") == Some("1") {
        held.push("no_new_privs".to_owned());
    }
    let is_confining = |profile: &&str| !profile.is_empty() && !profile.starts_with("unconfined");
    held.extend(profile.filter(is_confining).map(|profile| format!("the security profile {profile}")));
    (!held.is_empty()).then(|| {
        Finding::ok(
            Topic::System,
            "confinement",
            format!("processes here are under {}", held.join(", ")),
            "What is forbidden to a program is forbidden to the recorder in it.",
        )
    })
}

fn file_size(limit: Option<u64>) -> Option<Finding> {
    let limit = limit?;
    let needed = embedded::LIBRARY.len() as u64;
    let finding = Finding::ok(
        Topic::Limit,
        "ulimit -f",
        format!("no file may have more than {}", format::bytes(limit)),
        "Each process records into two files, and the recorder itself is unpacked from marey.",
    );
    Some(if limit < needed {
        finding
            .problem("Raise the limit in the shell or the job script before recording")
            .command("ulimit -f unlimited")
    } else {
        finding
            .note(
                "At the limit events are added up, and those of threads that have recorded little are dropped. \
                 Raise it in the shell or the job script",
            )
            .command("ulimit -f unlimited")
    })
}

/// Address space that a program of a few threads takes more when it is measured.
const ROOM: u64 = 256 << 20;

fn address_space(limit: Option<u64>) -> Option<Finding> {
    Some(
        Finding::ok(
            Topic::Limit,
            "ulimit -v",
            format!("no process may have more than {} of address space", format::bytes(limit?)),
            "The recorder maps its files into the program, some megabytes a thread, which counts as the \
             program's.",
        )
        .note(format!("Leave {} to spare, or take the limit away", format::bytes(ROOM)))
        .command("ulimit -v unlimited"),
    )
}

fn open_files(limit: Option<u64>) -> Option<Finding> {
    let limit = limit.filter(|&limit| limit < 256)?;
    Some(
        Finding::ok(
            Topic::Limit,
            "ulimit -n",
            format!("no process may have more than {limit} files open"),
            "MPI opens several for each rank, and a recorder one for a moment whenever a thread needs \
             more space.",
        )
        .note("Raise the limit in the shell or the job script")
        .command("ulimit -n 1024"),
    )
}

fn preloaded(list: Option<&str>) -> Option<Finding> {
    let list = list.filter(|list| !list.trim().is_empty())?;
    Some(
        Finding::ok(
            Topic::Environment,
            "LD_PRELOAD",
            format!("holds {list} already"),
            "It is kept and stands before the recorder, so what it does in a call is not in the time of \
             the call.",
        )
        .note("Keep it if it belongs to the program; if it is another tool that measures, measure without")
        .command("unset LD_PRELOAD"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::State;

    /// What is found, and what is to be done about it, hold these words.
    fn check(finding: Option<Finding>, state: State, found: &str, remedy: &str) {
        let finding = finding.unwrap_or_else(|| panic!("nothing is said, where {found:?} is expected"));
        let advice = format!(
            "{} {}",
            finding.remedy.clone().unwrap_or_default(),
            finding.command.clone().unwrap_or_default()
        );
        assert_eq!(finding.state, state, "{finding:?}");
        assert!(finding.found.contains(found), "{finding:?}");
        assert!(advice.contains(remedy), "{finding:?}");
    }

    #[test]
    fn clock_sources_are_judged_as_recorders_do() {
        let judge = |current, available| Some(clock_source(current, available, 21));
        check(judge(Some("tsc"), "tsc hpet"), State::Ok, "21 ns a reading", "");
        check(judge(Some("kvm-clock"), "kvm-clock tsc"), State::Note, "kvm-clock", "echo tsc | sudo tee");
        check(judge(Some("hpet"), "hpet acpi_pm"), State::Note, "hpet", "dmesg");
        check(judge(None, ""), State::Note, "unknown", "invtsc");
    }

    #[test]
    fn counters_are_judged_by_what_the_kernel_offers() {
        let judge = |devices: &[&str], paranoid, privileged| {
            let devices: Vec<String> = devices.iter().map(|&name| name.to_owned()).collect();
            Some(counters(&devices, paranoid, privileged))
        };
        check(judge(&["cpu", "software"], Some("2"), false), State::Ok, "open", "");
        check(judge(&["cpu_core", "cpu_atom"], Some("-1"), false), State::Ok, "open", "");
        check(judge(&["cpu"], Some("4"), true), State::Ok, "open", "");
        check(judge(&["cpu"], Some("3"), false), State::Note, "is 3", "sysctl kernel.perf_event_paranoid=2");
        check(judge(&["software"], Some("2"), false), State::Note, "no counters", "PMU");
        check(judge(&["cpu"], None, false), State::Note, "no perf events", "CONFIG_PERF_EVENTS");
    }

    #[test]
    fn sampling_is_judged_by_ticks_and_kernel() {
        let judge = |release, tick| Some(sampling(release, tick));
        check(judge("6.1.0-18-amd64", 4_000_000), State::Ok, "up to 250 a second", "");
        check(judge("5.9.0", 1_000_000), State::Ok, "up to 1 000 a second", "");
        check(judge("4.18.0-477.el8", 1_000_000), State::Note, "1 000", "--sample off");
        check(judge("unknown", 0), State::Ok, "by timers", "");
    }

    #[test]
    fn processors_that_may_not_be_used_are_told() {
        check(Some(processors(Some("0-3"), 4)), State::Ok, "4 processors, all usable", "");
        check(Some(processors(Some("0-7,9"), 2)), State::Note, "2 of 9 processors", "cgroup");
        check(Some(processors(None, 1)), State::Ok, "1 processor", "");
    }

    #[test]
    fn limits_are_told_where_they_matter() {
        assert!(
            file_size(None).is_none() && address_space(None).is_none() && open_files(Some(1024)).is_none()
        );
        check(file_size(Some(1 << 10)), State::Problem, "1.00 KiB", "ulimit -f unlimited");
        check(file_size(Some(1 << 30)), State::Note, "1.00 GiB", "ulimit -f unlimited");
        check(address_space(Some(1 << 30)), State::Note, "1.00 GiB", "ulimit -v unlimited");
        check(open_files(Some(64)), State::Note, "64", "ulimit -n");
    }

    #[test]
    fn what_confines_is_named() {
        assert!(confinement("NoNewPrivs:\t0\nSeccomp:\t0\n", Some("unconfined")).is_none());
        check(confinement("NoNewPrivs:\t1\nSeccomp:\t2\n", None), State::Ok, "seccomp), no_new_privs", "");
        check(confinement("", Some("docker-default (enforce)")), State::Ok, "docker-default", "");
        assert!(may_use_perf("CapEff:\t000001ffffffffff") && !may_use_perf("CapEff:\t0000000000000000"));
    }

    #[test]
    fn libraries_of_others_are_named() {
        assert!(preloaded(None).is_none() && preloaded(Some(" ")).is_none());
        check(preloaded(Some("libdarshan.so")), State::Note, "libdarshan.so", "unset LD_PRELOAD");
    }
}
