//! What could not be read, matched or kept: counted, with the first place where it was found.

use std::collections::BTreeMap;

/// Problems by kind and text.
#[derive(Clone, Debug, Default)]
pub struct Problems(BTreeMap<(&'static str, String), u64>);

/// Kinds, as the table `problems` of a run has them.
pub mod kind {
    /// Something in a file makes no sense.
    pub const DAMAGED: &str = "damaged";
    /// Something is not there that other parts of the trace speak of.
    pub const MISSING: &str = "missing";
    /// Something was lost by the tool that recorded.
    pub const DROPPED: &str = "dropped";
}

/// Texts that are kept apart.
const MOST: usize = 1000;

impl Problems {
    /// Counts a problem.
    pub fn add(&mut self, kind: &'static str, text: impl Into<String>, number: u64) {
        if number == 0 {
            return;
        }
        let text = if self.0.len() < MOST { text.into() } else { "further problems".to_owned() };
        *self.0.entry((kind, text)).or_default() += number;
    }

    /// Adds those of another.
    pub fn merge(&mut self, other: Self) {
        for ((kind, text), number) in other.0 {
            self.add(kind, text, number);
        }
    }

    /// All of them: kind, text, how often.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str, u64)> {
        self.0.iter().map(|((kind, text), number)| (*kind, text.as_str(), *number))
    }
}
