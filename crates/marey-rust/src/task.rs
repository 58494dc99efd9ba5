//! The life of a task: made, ready to run, run by some thread, waiting until it is woken, over.
//!
//! The one idea: who polls and who wakes go through one state, so each moment of the task's life is known to be one of
//! these; what they mean is told twice, to the lane of the task and to the thread that polls.

use core::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use marey_measure::{Made, MadeKind, Moment, NounKind, Sentence, level};
use marey_model::spool::{FieldType, put_bytes};
use marey_model::{EdgeKind, Role};

use crate::lanes::{Lanes, Taken};
use crate::places::{Places, Recent, key, none};

/// What is recorded of tasks of one name from one place.
pub(crate) struct Regions {
    pub(crate) spawn: Made,
    pub(crate) join: Made,
    poll: Made,
    live: Made,
    ready: Made,
    run: Made,
    dropped: MadeKind,
    panicked: MadeKind,
    /// Its name as a field of these.
    field: Vec<u8>,
    lanes: Lanes,
}

static ALL: Places<Regions> = Places::new();
std::thread_local! {
    static RECENT: Recent<Regions> = const { none() };
}

impl Regions {
    /// The regions of tasks of this name that are made here.
    pub(crate) fn of(name: &'static str, at: &'static Location<'static>) -> &'static Self {
        ALL.get(&RECENT, key(name, at), || Self::new(name, at))
    }

    fn new(name: &str, at: &Location<'_>) -> Self {
        let made = |verb, role| {
            let (file, line) = (at.file(), at.line());
            Made::new(&Sentence {
                level: level::TASKS,
                verb,
                role,
                kind: NounKind::Task,
                noun: name,
                file,
                line,
            })
        };
        let event = |what: &str| MadeKind::new(what, false, &[("task", FieldType::Text)]);
        let mut field = Vec::new();
        put_bytes(&mut field, name.as_bytes());
        Self {
            spawn: made("spawn", Role::Create),
            join: made("join", Role::End),
            poll: made("poll", Role::Work),
            live: made("live", Role::Work),
            ready: made("ready", Role::Wait),
            run: made("run", Role::Work),
            dropped: event("task dropped"),
            panicked: event("task panicked"),
            field,
            lanes: Lanes::new(name.to_owned()),
        }
    }
}

/// Where a task is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Ready,
    Running,
    /// It is to run again as soon as this is over.
    RunningAndWoken,
    Waiting,
    Over,
}

struct State {
    phase: Phase,
    /// Who made or woke it, until it runs.
    cause: Option<(EdgeKind, Moment)>,
    /// Whom to tell that it can go on.
    waker: Waker,
    /// When it was over.
    end: Option<Moment>,
}

/// A task. It is also the waker that its future gets.
pub(crate) struct Life {
    regions: &'static Regions,
    taken: Taken,
    state: Mutex<State>,
}

impl Life {
    /// Begins now; `None` if the calling thread cannot record.
    pub(crate) fn begin(regions: &'static Regions) -> Option<Arc<Self>> {
        let now = Moment::now()?;
        let taken = regions.lanes.take(now.ticks());
        taken.lane.enter(regions.live);
        taken.lane.enter(regions.ready);
        let cause = Some((EdgeKind::Spawn, now));
        let state = State { phase: Phase::Ready, cause, waker: Waker::noop().clone(), end: None };
        Some(Arc::new(Self { regions, taken, state: Mutex::new(state) }))
    }

    /// Whether a thread is at it. What is done then is recorded before who waits for the lock goes on.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Polls its future by `poll`, which is given the waker to hand on.
    pub(crate) fn poll<T>(
        self: &Arc<Self>,
        context: &Context<'_>,
        waker: &Waker,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let Regions { poll: region, ready, run, .. } = self.regions;
        let lane = self.taken.lane;
        let mut state = self.state();
        if !state.waker.will_wake(context.waker()) {
            state.waker.clone_from(context.waker());
        }
        if state.phase == Phase::Ready {
            lane.leave(*ready);
        }
        state.phase = Phase::Running;
        let cause = state.cause.take();
        drop(state);
        let visit = region.enter();
        if let Some((kind, moment)) = cause.filter(|_| visit.is_entered()) {
            moment.leads_here(kind);
        }
        lane.enter(*run);
        // Left also where the future panics.
        let mut piece = Piece { life: self, came_to: None };
        let polled = poll(&mut Context::from_waker(waker));
        piece.came_to = Some(polled.is_ready());
        drop(piece);
        drop(visit);
        polled
    }

    fn end(&self, state: &mut State) {
        let (lane, regions) = (self.taken.lane, self.regions);
        lane.leave(regions.live);
        state.phase = Phase::Over;
        state.end = Moment::now();
        if let Some(end) = state.end {
            regions.lanes.give(self.taken, end.ticks());
        }
    }

    /// The task is no more.
    pub(crate) fn give_up(&self) {
        let mut state = self.state();
        if state.phase != Phase::Over {
            self.regions.dropped.record(&self.regions.field);
            self.end(&mut state);
        }
    }

    /// Somebody has got what the task came to.
    pub(crate) fn joined(&self) {
        let end = self.state().end;
        let visit = self.regions.join.enter();
        if let Some(end) = end.filter(|_| visit.is_entered()) {
            end.leads_here(EdgeKind::Done);
        }
    }
}

/// A stretch in which a thread is at a task.
struct Piece<'a> {
    life: &'a Life,
    /// Whether the task was over when it came back; `None` = it did not.
    came_to: Option<bool>,
}

impl Drop for Piece<'_> {
    fn drop(&mut self) {
        let (lane, regions) = (self.life.taken.lane, self.life.regions);
        let mut state = self.life.state();
        lane.leave(regions.run);
        if self.came_to != Some(false) {
            if self.came_to.is_none() {
                regions.panicked.record(&regions.field);
            }
            self.life.end(&mut state);
        } else if state.phase == Phase::RunningAndWoken {
            lane.enter(regions.ready);
            state.phase = Phase::Ready;
        } else {
            state.phase = Phase::Waiting;
        }
    }
}

impl Wake for Life {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut state = self.state();
        let next = match state.phase {
            Phase::Waiting => Some(Phase::Ready),
            Phase::Running => Some(Phase::RunningAndWoken),
            _ => None,
        };
        if let Some(next) = next {
            state.cause = Moment::now().map(|now| (EdgeKind::Wake, now));
            state.phase = next;
            if next == Phase::Ready {
                self.taken.lane.enter(self.regions.ready);
            }
        }
        let waker = state.waker.clone();
        drop(state);
        waker.wake();
    }
}
