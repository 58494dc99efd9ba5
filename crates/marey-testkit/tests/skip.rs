//! A test that lacks something is left loudly, or fails where every test is asked for.
//!
//! The one idea: this program starts itself again as the test that lacks something, under the test
//! harness as it is, so that what is asserted is what a person sees.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Output};

use marey_testkit::{ALL, leave_out, skip};

const ROLE: &str = "MAREY_TEST_ROLE";

/// The test `name` of this program as the one that lacks something, and what the variable says.
fn run(name: &str, all: Option<&str>) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name]).env(ROLE, name).env_remove(ALL);
    command.envs(all.map(|value| (ALL, value))).output().unwrap()
}

fn plays(name: &str) -> bool {
    std::env::var_os(ROLE).is_some_and(|role| role == name)
}

fn expect_loud_pass(output: &Output, line: &str) {
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{out}{errors}");
    assert_eq!(errors.trim_end(), line);
}

#[test]
fn what_is_missing_is_skipped_or_fails() {
    const NAME: &str = "what_is_missing_is_skipped_or_fails";
    if plays(NAME) {
        return skip("the compiler abc");
    }
    for all in [None, Some(""), Some("0")] {
        expect_loud_pass(&run(NAME, all), "SKIPPED: not here: the compiler abc");
    }
    let output = run(NAME, Some("1"));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && said.contains("1 failed"), "{said}");
    for words in ["the compiler abc", "cargo xtask test", "unset MAREY_TEST_ALL", "tests/skip.rs"] {
        assert!(said.contains(words), "{words} is not in {said}");
    }
}

#[test]
fn what_no_installation_brings_is_left_out_in_any_case() {
    const NAME: &str = "what_no_installation_brings_is_left_out_in_any_case";
    if plays(NAME) {
        return leave_out("this library is too old");
    }
    for all in [None, Some("1")] {
        expect_loud_pass(&run(NAME, all), "SKIPPED: this library is too old");
    }
}
