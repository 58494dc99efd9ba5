//! Two runs that are looked at together.
//!
//! The one idea: the run that is looked at is the base, and has the other beside it; both answer for themselves, and only
//! what differs between them is asked of the base. So whoever carries requests names one of two runs by its number, and
//! can name no other.
//!
//! What is deliberately absent: sums by names, and words. The host makes them as `marey diff` does, so that both say the
//! same.

use std::sync::OnceLock;

use marey_analyze::{Digest, Phases, phases};

use crate::run::Opened;

/// Two runs by names, and what is said of them.
#[derive(Debug)]
pub struct Compared {
    /// The run that is compared with.
    pub base: Digest,
    /// The run that is compared.
    pub other: Digest,
    /// What differs, the most important first.
    pub sentences: Vec<String>,
    /// What must be known to read the rest.
    pub remarks: Vec<String>,
}

/// How a host compares two runs, or why it cannot.
type Compare = dyn Fn() -> Result<Compared, String> + Send + Sync;

/// The other run, and what both are known to have in common once somebody has asked.
pub(crate) struct Beside<'a> {
    pub(crate) run: Box<Opened<'a>>,
    compare: Box<Compare>,
    compared: OnceLock<Result<Compared, String>>,
    phases: OnceLock<Result<[Phases; 2], String>>,
}

impl<'a> Opened<'a> {
    /// The run as the base of another one. `compare` compares them, when somebody asks for that.
    #[must_use]
    pub fn beside(
        mut self,
        other: Self,
        compare: impl Fn() -> Result<Compared, String> + Send + Sync + 'static,
    ) -> Self {
        self.head.other = Some(other.head.name.clone());
        self.beside = Some(Beside {
            run: Box::new(other),
            compare: Box::new(compare),
            compared: OnceLock::new(),
            phases: OnceLock::new(),
        });
        self
    }

    /// One of the runs that were opened, by its number: the base is 0, the other 1.
    pub fn numbered(&self, number: usize) -> Option<&Self> {
        match number {
            0 => Some(self),
            1 => self.beside.as_ref().map(|beside| &*beside.run),
            _ => None,
        }
    }

    /// The other run.
    pub(crate) fn other(&self) -> Result<&Beside<'a>, String> {
        let none = "there is one run only; `marey view BASE OTHER` opens two";
        self.beside.as_ref().ok_or_else(|| none.to_owned())
    }

    /// The loops of both runs.
    pub(crate) fn phases_of_both(&self) -> Result<&[Phases; 2], String> {
        let beside = self.other()?;
        let of = |run: &Self| {
            phases(&run.trace, &run.events)
                .map_err(|unread| format!("parts of {} cannot be read: {unread}", run.head.name))
        };
        let found = beside.phases.get_or_init(|| Ok([of(self)?, of(&beside.run)?]));
        found.as_ref().map_err(Clone::clone)
    }
}

impl Beside<'_> {
    /// Both runs by names.
    pub(crate) fn compared(&self) -> Result<&Compared, String> {
        self.compared.get_or_init(|| (self.compare)()).as_ref().map_err(Clone::clone)
    }
}
