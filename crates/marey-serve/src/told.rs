//! What a page that holds two runs was told of both.
//!
//! The one idea: what differs between two runs is found once, where both are whole and `marey diff` is; the page holds the
//! answers, and its engine gives them as they are.

use crate::run::Opened;

/// Answers about two runs.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) compare: Vec<u8>,
    pub(crate) iterations: Vec<u8>,
}

impl Opened<'_> {
    /// The run as the base of another one of that name, with the answers to [`Compare`](crate::wire::Request::Compare) and
    /// [`Iterations`](crate::wire::Request::Iterations).
    #[must_use]
    pub fn told(mut self, other: &str, compare: Vec<u8>, iterations: Vec<u8>) -> Self {
        self.head.other = Some(other.to_owned());
        self.told = Some(Told { compare, iterations });
        self
    }
}
