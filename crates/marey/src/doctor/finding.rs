//! A finding: what was looked at, what was found, why it matters, what to do.
//!
//! The one idea: whatever is not in order comes with its remedy, so there is no way to make a note or
//! a problem without one.

use serde::Serialize;

/// How much stands against measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// It cannot be measured, or not as it is meant.
    Problem,
    /// It can, with less detail, at a higher cost, or with something to know.
    Note,
    /// Nothing.
    Ok,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Topic {
    /// Whether a recording works at all.
    Recording,
    /// Kernel, architecture, what confines processes.
    System,
    /// The clock that events are stamped with.
    Clock,
    /// How many processors there are for how many ranks.
    Processors,
    /// Hardware counters.
    Counters,
    /// How often a thread can be sampled.
    Sampling,
    /// A directory that recordings may go to.
    Directory,
    /// A limit of the shell.
    Limit,
    /// A variable of the environment.
    Environment,
    /// What starts MPI programs.
    Launcher,
    /// The file that is to be measured.
    Program,
    /// Whether a library can be loaded into it.
    Loading,
    /// The libraries that it needs.
    Libraries,
    /// Its MPI library.
    Mpi,
    /// Whether its functions and lines will be known.
    Source,
    /// Its threads.
    Threads,
}

impl Topic {
    /// The word for it, in text as in JSON.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Recording => "recording",
            Self::System => "system",
            Self::Clock => "clock",
            Self::Processors => "processors",
            Self::Counters => "counters",
            Self::Sampling => "sampling",
            Self::Directory => "directory",
            Self::Limit => "limit",
            Self::Environment => "environment",
            Self::Launcher => "launcher",
            Self::Program => "program",
            Self::Loading => "loading",
            Self::Libraries => "libraries",
            Self::Mpi => "mpi",
            Self::Source => "source",
            Self::Threads => "threads",
        }
    }
}

/// One answer. Names are an interface.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Finding {
    /// What it is about.
    pub(crate) topic: Topic,
    /// What was looked at.
    pub(crate) subject: String,
    /// How much stands against measuring.
    pub(crate) state: State,
    /// What was found.
    pub(crate) found: String,
    /// Why it matters: one sentence.
    pub(crate) why: &'static str,
    /// What to do: one sentence.
    pub(crate) remedy: Option<String>,
    /// The command that does it, to be pasted into a shell.
    pub(crate) command: Option<String>,
}

impl Finding {
    /// Something that is as it should be.
    pub(crate) fn ok(topic: Topic, subject: &str, found: impl Into<String>, why: &'static str) -> Self {
        let subject = subject.to_owned();
        Self { topic, subject, state: State::Ok, found: found.into(), why, remedy: None, command: None }
    }

    /// The same as a note: measuring works, but …
    pub(crate) fn note(self, remedy: impl Into<String>) -> Self {
        Self { state: State::Note, remedy: Some(remedy.into()), ..self }
    }

    /// The same as a problem: it cannot be measured unless …
    pub(crate) fn problem(self, remedy: impl Into<String>) -> Self {
        Self { state: State::Problem, remedy: Some(remedy.into()), ..self }
    }

    /// With the command that follows the remedy.
    pub(crate) fn command(self, command: impl Into<String>) -> Self {
        Self { command: Some(command.into()), ..self }
    }
}
