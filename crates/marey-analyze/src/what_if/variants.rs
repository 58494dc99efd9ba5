//! Variants: changes that are replayed side by side, and how long in each of them a piece of time takes.
//!
//! The one idea: what a location does has one row of factors, a variant each, made when it is met first; a piece of time
//! then costs a look-up and a multiplication for each variant.

use std::cell::RefCell;

use marey_model::{LocationId, Nanos, Role};
use rustc_hash::FxHashMap;

use super::balance::{self, Step};
use super::change::{Change, Network, Scaling};
use super::graph::Graph;
use crate::activities::{Activity, Doing};
use crate::causes::Causes;
use crate::efficiency::is_useful;
use crate::happenings::{Happenings, Unread};
use crate::trace::Trace;
use crate::waits::Waits;

/// Which calls cost nothing but waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Free {
    #[default]
    None,
    /// Those of parallel libraries that move data or synchronise.
    Transfer,
    /// All of parallel libraries.
    Libraries,
}

impl Free {
    fn is_free(self, run: &impl Trace, activity: Activity) -> bool {
        let Activity::Path(path) = activity else { return false };
        if self == Self::None || is_useful(run, activity) {
            return false;
        }
        let region = run.call_paths().get(path.idx()).and_then(|path| run.regions().get(path.region.idx()));
        let moves = |role: Role| {
            matches!(
                role,
                Role::Transfer
                    | Role::Wait
                    | Role::Acquire
                    | Role::Barrier
                    | Role::AllToAll
                    | Role::OneToAll
                    | Role::AllToOne
            )
        };
        self == Self::Libraries || region.is_some_and(|region| moves(region.role))
    }
}

/// One change, ready to be replayed.
#[derive(Debug, Default)]
pub(crate) struct Variant {
    scalings: Vec<Scaling>,
    free: Free,
    network: Option<Network>,
    /// Of each location its steps, if it is balanced; else none.
    steps: Vec<Vec<Step>>,
}

impl Variant {
    /// One pass over the run if it is balanced.
    pub(crate) fn new(
        run: &impl Trace,
        events: &impl Happenings,
        graph: &Graph,
        waits: &Waits,
        causes: &Causes,
        change: &Change,
    ) -> Result<Self, Unread> {
        let mut variant = Self {
            scalings: change.scalings.clone(),
            free: if change.network.is_some() { Free::Transfer } else { Free::None },
            network: change.network,
            steps: Vec::new(),
        };
        if change.is_balanced {
            variant.steps = balance::steps(run, events, graph, waits, causes, &variant)?;
        }
        Ok(variant)
    }

    /// Nothing changed but what parallel libraries cost: nothing for moving data and synchronising, as in a change of the
    /// network to one that costs nothing; and nothing for whatever they do.
    pub(crate) fn ideals() -> Vec<Self> {
        vec![
            Self { free: Free::Transfer, network: Some(Network::default()), ..Self::default() },
            Self { free: Free::Libraries, ..Self::default() },
        ]
    }

    /// The new time over the old, before balancing.
    pub(super) fn factor(&self, run: &impl Trace, location: LocationId, activity: Activity) -> f64 {
        if self.free.is_free(run, activity) {
            return 0.0;
        }
        self.scalings.iter().map(|scaling| scaling.factor(run, location, activity)).product()
    }
}

/// Several of them.
pub(crate) struct Variants {
    pub(super) all: Vec<Variant>,
    n_paths: usize,
    rows: RefCell<Rows>,
    /// Whether any is balanced.
    pub(super) are_balanced: bool,
}

/// Rows of factors that are known.
#[derive(Default)]
struct Rows {
    places: FxHashMap<(LocationId, Doing), usize>,
    factors: Vec<f64>,
    useful: Vec<bool>,
}

impl Variants {
    pub(crate) fn new(run: &impl Trace, all: Vec<Variant>) -> Self {
        let are_balanced = all.iter().any(|variant| !variant.steps.is_empty());
        Self { all, n_paths: run.call_paths().len(), rows: RefCell::default(), are_balanced }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The steps of a location in a variant; none if it is not balanced there.
    pub(super) fn steps(&self, variant: usize, location: usize) -> &[Step] {
        self.all[variant].steps.get(location).map_or(&[], Vec::as_slice)
    }

    /// Tells the factors of a doing, and whether it is useful.
    pub(super) fn with_factors<T>(
        &self,
        run: &impl Trace,
        location: LocationId,
        doing: Doing,
        each: impl FnOnce(&[f64], bool) -> T,
    ) -> T {
        let n = self.all.len();
        let mut rows = self.rows.borrow_mut();
        let Rows { places, factors, useful } = &mut *rows;
        let place = *places.entry((location, doing)).or_insert_with(|| {
            let activity = doing.activity().unwrap_or(Activity::NotStarted);
            factors.extend(self.all.iter().map(|variant| variant.factor(run, location, activity)));
            useful.push(is_useful(run, activity));
            useful.len() - 1
        });
        debug_assert!(doing.place(self.n_paths) < Doing::places(self.n_paths));
        each(&factors[place * n..(place + 1) * n], useful[place])
    }

    /// What the network costs at the gates of an operation.
    pub(super) fn cost(&self, variant: usize, of: &Moved) -> f64 {
        let Some(network) = self.all[variant].network else { return 0.0 };
        #[expect(
            clippy::cast_precision_loss,
            reason = "runs are shorter than 104 days, and messages than 9 PB"
        )]
        let (latency, data) = (network.latency.0 as f64, of.bytes as f64 * network.ns_per_byte);
        let hops = f64::from(of.members.max(1).next_power_of_two().trailing_zeros());
        match of.kind {
            Kind::Message => latency + data,
            Kind::Barrier => hops * latency,
            Kind::Collective => hops * (latency + data),
            Kind::Edge | Kind::Start => 0.0,
        }
    }
}

/// What sort of thing a dependency is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Message,
    Barrier,
    Collective,
    Edge,
    /// The beginning of a location.
    Start,
}

/// What it moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Moved {
    pub(super) kind: Kind,
    pub(super) bytes: u64,
    pub(super) members: u32,
}

/// The length of a span of time.
#[expect(clippy::cast_precision_loss, reason = "exact below 104 days")]
pub(super) fn length(from: Nanos, to: Nanos) -> f64 {
    (to - from).0 as f64
}
