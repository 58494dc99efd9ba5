//! How the ranks of a world agree, without a message, on whether they will all do something.
//!
//! The one idea: files of a shared directory are seen late, in different order and perhaps never, but
//! one name can be linked only once. So the first who links the decision has made it for all, and who
//! has waited long enough links a *no*: nobody goes on without having seen what all others will see.
//! *Yes* is for the first of them to say, when everybody has said to be ready, which commits nobody to
//! anything but to wait for the decision.
//!
//! What is lost, or not supported by the file system, ends in *no*.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use marey_measure::clock;

/// How long the others wait for the decision beyond the time in which the first should have made it.
const GRACE_NS: u64 = 300_000_000;
/// Between two looks at the directory.
const PAUSE: Duration = Duration::from_micros(200);

const YES: &str = "yes";
const NO: &str = "no";

/// Where the ranks of one world write: lines of a common file, and the decision beside it.
pub(super) struct Board {
    lines: PathBuf,
    decision: PathBuf,
}

impl Board {
    /// The board at `lines`, in a directory that all ranks share.
    pub(super) fn new(lines: PathBuf) -> Self {
        let decision = lines.with_extension("decision");
        Self { lines, decision }
    }

    /// Says something of a rank. One write, so that lines of different ranks do not mix; behind a network one
    /// machine may overwrite what another has said, which is as if that had not been said.
    pub(super) fn say(&self, rank: usize, text: &str) -> bool {
        let mut options = std::fs::OpenOptions::new();
        options.append(true).create(true).mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC);
        let line = format!("{rank} {text}\n");
        options.open(&self.lines).is_ok_and(|mut file| file.write_all(line.as_bytes()).is_ok())
    }

    /// What each of `size` ranks has said first that begins with `start`, without that; `None` unless
    /// all have.
    pub(super) fn said(&self, size: usize, start: &str) -> Option<Vec<String>> {
        let text = std::fs::read_to_string(&self.lines).ok()?;
        let mut said = vec![None; size];
        for line in text.lines() {
            let Some((rank, said_now)) = line.split_once(' ') else { continue };
            let place = rank.parse::<usize>().ok().and_then(|rank| said.get_mut(rank));
            if let (Some(place @ None), Some(rest)) = (place, said_now.strip_prefix(start)) {
                *place = Some(rest.to_owned());
            }
        }
        said.into_iter().collect()
    }

    /// Whether all `size` ranks will, each of which asks this if it is able to. The answer is the same
    /// for all of them, and comes soon after `deadline`, in ns of the monotonic clock, or earlier.
    pub(super) fn all_will(&self, rank: usize, size: usize, deadline: u64) -> bool {
        if !self.say(rank, "ready") {
            return false;
        }
        let is_first = rank == 0;
        let patience = if is_first { deadline } else { deadline + GRACE_NS };
        loop {
            if let Ok(decided) = std::fs::read_to_string(&self.decision) {
                return decided == YES;
            }
            let is_late = clock::monotonic_ns() > patience;
            if is_late {
                self.decide(rank, NO);
            } else if is_first && self.said(size, "ready").is_some() {
                self.decide(rank, YES);
            }
            if is_late {
                // Made now, or by another before; without either the directory cannot be used.
                return std::fs::read_to_string(&self.decision).is_ok_and(|decided| decided == YES);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Makes the decision unless it is made.
    fn decide(&self, rank: usize, what: &str) {
        let aside = self.lines.with_extension(format!("decision.{rank}"));
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC);
        let written = options.open(&aside).and_then(|mut file| file.write_all(what.as_bytes()));
        if written.is_ok() {
            link_once(&aside, &self.decision);
        }
        std::fs::remove_file(&aside).ok();
    }
}

/// Gives a whole file a second name, unless the name exists.
fn link_once(file: &Path, name: &Path) {
    // If it exists, or cannot be: whoever looks for it will see.
    std::fs::hard_link(file, name).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// What ranks answer that ask after so many ms; `None` never asks.
    fn answers(after: &[Option<u64>], patience_ms: u64) -> Vec<Option<bool>> {
        let place = tempfile::tempdir().expect("a directory can be made");
        let board = Board::new(place.path().join("world-1"));
        let begin = clock::monotonic_ns();
        let answer = |rank: usize, ms: u64| {
            while clock::monotonic_ns() < begin + ms * MS {
                std::thread::yield_now();
            }
            board.all_will(rank, after.len(), begin + patience_ms * MS)
        };
        std::thread::scope(|scope| {
            let asked: Vec<_> = after
                .iter()
                .enumerate()
                .map(|(rank, after)| after.map(|ms| scope.spawn(move || answer(rank, ms))))
                .collect();
            asked
                .into_iter()
                .map(|thread| thread.map(|thread| thread.join().expect("no rank panics")))
                .collect()
        })
    }

    #[test]
    fn all_will_if_all_say_so_in_time() {
        assert_eq!(answers(&[Some(0), Some(20), Some(5)], 10_000), [Some(true); 3]);
    }

    #[test]
    fn nobody_will_if_one_does_not_ask_or_the_first_is_late() {
        assert_eq!(answers(&[Some(0), None, Some(0)], 30), [Some(false), None, Some(false)]);
        assert_eq!(answers(&[None, Some(0), Some(0)], 30), [None, Some(false), Some(false)]);
        assert_eq!(answers(&[Some(600), Some(0), Some(0)], 30), [Some(false); 3]);
    }

    #[test]
    fn whatever_comes_when_all_get_the_same_answer() {
        for round in 0..40 {
            // The last one asks about when the first loses patience.
            let answers = answers(&[Some(0), Some(round % 7), Some(15 + round % 11)], 20);
            assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        }
    }

    #[test]
    fn the_first_decision_is_the_only_one() {
        for _ in 0..100 {
            let place = tempfile::tempdir().expect("a directory can be made");
            let board = Board::new(place.path().join("world-1"));
            let together = std::sync::Barrier::new(4);
            let decide_and_look = |rank: usize| {
                together.wait();
                board.decide(rank, if rank == 0 { YES } else { NO });
                std::fs::read_to_string(&board.decision).expect("it has been made")
            };
            let seen: Vec<String> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4)
                    .map(|rank| {
                        scope.spawn({
                            let look = &decide_and_look;
                            move || look(rank)
                        })
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().expect("no rank panics")).collect()
            });
            assert!(seen.iter().all(|decided| *decided == seen[0]), "{seen:?}");
        }
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_a_no() {
        let board = Board::new(PathBuf::from("/nowhere/world-1"));
        assert!(!board.all_will(0, 1, clock::monotonic_ns() + 20 * MS));
    }
}
