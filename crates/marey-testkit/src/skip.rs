//! Leaving a test that cannot run here, so that nobody takes it for one that has passed.
//!
//! The one idea: a test never decides for itself what a missing program means. Without further
//! words the test is left loudly; where [`ALL`] is set, as `cargo xtask test` does after it has
//! installed everything, whatever is missing is a failure.
//!
//! Deliberately absent: looking for programs. Each test knows best how to find out what it needs.

use std::io::Write;

/// The environment variable that turns [`skip`] into a failure. Empty or `0` is as good as unset.
pub const ALL: &str = "MAREY_TEST_ALL";

/// Says that the test is left because something that could be installed is `missing`, such as
/// `mpicc.openmpi`. The caller returns afterwards.
///
/// # Panics
///
/// If [`ALL`] is set: then the test must run, and fails with what is to be done.
#[track_caller]
pub fn skip(missing: &str) {
    let all = std::env::var_os(ALL).is_some_and(|value| !value.is_empty() && value != "0");
    assert!(
        !all,
        "this test needs what is not here: {missing}. \
         `cargo xtask test` installs it on Debian when run as root and says what to type otherwise; \
         unset {ALL} to go without"
    );
    say(&format!("not here: {missing}"));
}

/// Says that the test is left because of something that no installation brings: an MPI library of
/// another release, a right that only some containers give, input from outside the repository.
/// Never a failure.
pub fn leave_out(why: &str) {
    say(why);
}

fn say(why: &str) {
    // Past the test harness, which keeps to itself what passing tests print by the usual macros.
    writeln!(std::io::stderr(), "SKIPPED: {why}").expect("standard error can be written");
}
