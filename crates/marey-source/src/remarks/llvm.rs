//! What LLVM means by its remarks, however they were written down.
//!
//! The one idea: LLVM has passes that say in a fixed wording what they did or did not. Those that tell of loops and of
//! inlining are listened to; most others count instructions.

use super::row::{Compiler, Dependence, DependenceKind, Remark, RemarkKind};
use super::{bounded, words};

/// Whether a pass did what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Passed,
    Missed,
    Analysis,
    Failure,
}

impl State {
    /// `!Passed`
    pub(super) fn of_tag(tag: &str) -> Option<Self> {
        match tag {
            "!Passed" => Some(Self::Passed),
            "!Missed" => Some(Self::Missed),
            "!Failure" => Some(Self::Failure),
            tag if tag.starts_with("!Analysis") => Some(Self::Analysis),
            _ => None,
        }
    }

    /// As rustc says it.
    pub(super) fn of_word(word: &str) -> Option<Self> {
        match word {
            "success" => Some(Self::Passed),
            "missed" => Some(Self::Missed),
            "failure" => Some(Self::Failure),
            word if word.starts_with("analysis") => Some(Self::Analysis),
            _ => None,
        }
    }
}

/// A remark in the words of LLVM.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) state: Option<State>,
    pub(super) pass: String,
    pub(super) function: String,
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) text: String,
    pub(super) callee: String,
    pub(super) caller: String,
}

impl Said {
    /// Who calls whom, where only the text tells it: `'f' inlined into 'g' with …`.
    pub(super) fn names_from_text(&mut self) {
        if self.pass != "inline" {
            return;
        }
        for middle in [" not inlined into ", " will not be inlined into ", " inlined into "] {
            let Some((callee, rest)) = self.text.split_once(middle) else { continue };
            let caller = rest.split([' ', ':']).next().unwrap_or("");
            self.callee = callee.trim_matches('\'').to_owned();
            self.caller = caller.trim_matches('\'').to_owned();
            self.function.clone_from(&self.caller);
            return;
        }
    }
}

/// What is of use of it.
pub(super) fn row(said: Said) -> Option<Remark> {
    if said.line == 0 || said.file.is_empty() {
        return None;
    }
    let (kind, why) = match said.pass.as_str() {
        "loop-vectorize" => vectorising(&said)?,
        "slp-vectorizer" if said.state == Some(State::Passed) => (RemarkKind::Statements, String::new()),
        "loop-idiom" if said.state == Some(State::Passed) && said.text.contains("call to") => {
            (RemarkKind::Replaced, String::new())
        }
        "inline" => inlining(&said)?,
        _ => return None,
    };
    let is_rust = said.file.ends_with(".rs");
    let dependence = dependence(&why);
    let reason = match kind {
        RemarkKind::NotInlined => words::of_inlining(&why),
        _ => words::of_llvm(&why),
    };
    let name = |linkage: &str| readable(linkage);
    Some(Remark {
        compiler: if is_rust { Compiler::Rustc } else { Compiler::Clang },
        line: said.line,
        column: said.column,
        function: name(&said.function),
        kind,
        reason: reason.map_or_else(|| first_line(&why), str::to_owned),
        dependence,
        arrays: Vec::new(),
        lanes: if kind == RemarkKind::Vectorised { width(&said.text) } else { 0 },
        callee: name(&said.callee),
        // LLVM tells the place where the author wrote it, and the function that it is in now.
        chain: Vec::new(),
        said: bounded(why),
        file: bounded(said.file),
        pass: bounded(said.pass),
    })
}

/// A vectorised loop, or why it is none; texts that say neither are no remarks.
fn vectorising(said: &Said) -> Option<(RemarkKind, String)> {
    match said.state? {
        State::Passed => said.text.starts_with("vectorized").then(|| (RemarkKind::Vectorised, String::new())),
        State::Analysis | State::Missed | State::Failure => {
            // What costs too much is told in other words than what cannot be done.
            let why = match said.text.strip_prefix("loop not vectorized") {
                Some(why) => why,
                None => Some(said.text.as_str())
                    .filter(|text| text.contains("vectorization is not beneficial"))?,
            };
            Some((RemarkKind::NotVectorised, why.trim_start_matches([':', ' ']).to_owned()))
        }
    }
}

fn inlining(said: &Said) -> Option<(RemarkKind, String)> {
    match said.state? {
        State::Passed => Some((RemarkKind::Inlined, String::new())),
        State::Missed => {
            let why = said.text.split_once(" because ").map_or("", |(_, why)| why);
            Some((RemarkKind::NotInlined, why.trim_start_matches("it ").to_owned()))
        }
        State::Analysis | State::Failure => None,
    }
}

/// What is said behind `unsafe dependent memory operations`.
fn dependence(why: &str) -> Option<Dependence> {
    let kind = if why.contains("loop carried data dependence") {
        DependenceKind::Carried
    } else if why.contains("value that could not be identified as reduction") {
        DependenceKind::Value
    } else if why.contains("unsafe dependent memory operations")
        || why.contains("cannot identify array bounds")
    {
        DependenceKind::Unknown
    } else {
        return None;
    };
    Some(Dependence { kind, distance: None })
}

/// `4` of `vectorized loop (vectorization width: 4, interleaved count: 2)`.
fn width(text: &str) -> u32 {
    let behind = text.split_once("vectorization width: ").map_or("", |(_, behind)| behind);
    behind.split([',', ')']).next().and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

/// Names are never long enough to be a burden, but may be made so.
fn readable(linkage: &str) -> String {
    crate::names::Names::default().readable(&bounded(linkage.to_owned()), crate::names::Language::Unknown)
}

/// The advice to use a pragma for Clang is none for others.
fn first_line(why: &str) -> String {
    let line = why.lines().next().unwrap_or("");
    bounded(line.split(". Use #pragma").next().unwrap_or(line).to_owned())
}
