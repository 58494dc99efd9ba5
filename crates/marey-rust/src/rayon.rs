//! Jobs of rayon: who made them, who did them, and whether that was somebody else.
//!
//! The one idea: rayon tells nobody of what it does inside, but each job is a closure of the caller's, and a closure
//! can tell where it runs. One that runs on another thread than the one that made it was stolen, or fetched from the
//! queue of the pool.
//!
//! What is deliberately absent: calls of rayon that are not made through here, whose jobs are part of whatever is around
//! them, and the search of an idle thread for work, of which only its sleep is seen (`docs/rust.md`).

use core::panic::Location;

use ::rayon::{ThreadPool, ThreadPoolBuilder};
use marey_measure::{Made, Moment, NounKind, Sentence, is_recorded, level};
use marey_model::{EdgeKind, Role};

use crate::places::{Places, Recent, key, none};

mod parallel;

pub use self::parallel::{Jobs, Named};

/// What is recorded of the jobs of one name from one place.
struct Regions {
    /// The call that makes them and waits for them.
    call: Made,
    run: Made,
    steal: Made,
}

static ALL: Places<Regions> = Places::new();
std::thread_local! {
    static RECENT: Recent<Regions> = const { none() };
}

impl Regions {
    /// Those of a place; its name is the call's and, without one, file and line.
    fn of(verb: &'static str, name: &'static str, at: &'static Location<'static>) -> &'static Self {
        // A place may stand for several calls only if these have names.
        let told = if name.is_empty() { verb } else { name };
        ALL.get(&RECENT, key(told, at), || {
            let file = at.file().rsplit('/').next().unwrap_or_default();
            let place = format!("{file}:{}", at.line());
            let noun = if name.is_empty() { &place } else { name };
            let made = |verb, role| {
                let (file, line) = (at.file(), at.line());
                Made::new(&Sentence {
                    level: level::TASKS,
                    verb,
                    role,
                    kind: NounKind::Job,
                    noun,
                    file,
                    line,
                })
            };
            Self {
                call: made(verb, if verb == "spawn" { Role::Create } else { Role::Work }),
                run: made("run", Role::Work),
                steal: made("steal", Role::Work),
            }
        })
    }

    /// Does a job that was made at a moment, and says when it was over.
    fn job<R>(&self, made: Option<Moment>, work: impl FnOnce() -> R) -> (R, Option<Moment>) {
        let begin = Moment::now();
        let stolen = made.zip(begin).filter(|(made, begin)| !made.is_on_thread_of(*begin));
        let visit = if stolen.is_some() { self.steal.enter() } else { self.run.enter() };
        if let Some((made, _)) = stolen.filter(|_| visit.is_entered()) {
            made.leads_here(EdgeKind::Spawn);
        }
        let result = work();
        drop(visit);
        (result, stolen.and_then(|_| Moment::now()))
    }
}

/// Does two things, perhaps at a time, as `rayon::join`.
#[track_caller]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    if !is_recorded() {
        return ::rayon::join(a, b);
    }
    let regions = Regions::of("join", "", Location::caller());
    let visit = regions.call.enter();
    let made = Moment::now();
    // The first is done by whoever has come to it; only a thread from outside of the pool hands on both.
    let ((a, _), (b, end)) = ::rayon::join(|| regions.job(made, a), || regions.job(made, b));
    drop(visit);
    if let Some(end) = end {
        end.leads_here(EdgeKind::Done);
    }
    (a, b)
}

/// A scope in which jobs are spawned, as `rayon::Scope`, which it gives access to.
pub struct Scope<'a, 'scope> {
    inner: &'a ::rayon::Scope<'scope>,
}

/// Makes a scope and waits for what is spawned in it, as `rayon::scope`.
#[track_caller]
pub fn scope<'scope, R: Send>(work: impl FnOnce(&Scope<'_, 'scope>) -> R + Send) -> R {
    if !is_recorded() {
        return ::rayon::scope(|inner| work(&Scope { inner }));
    }
    let regions = Regions::of("scope", "", Location::caller());
    let _visit = regions.call.enter();
    ::rayon::scope(|inner| work(&Scope { inner }))
}

impl<'scope> Scope<'_, 'scope> {
    /// Rayon's own.
    pub fn inner(&self) -> &::rayon::Scope<'scope> {
        self.inner
    }

    /// Spawns a job of that name.
    #[track_caller]
    pub fn spawn(&self, name: &'static str, work: impl FnOnce(&Scope<'_, 'scope>) + Send + 'scope) {
        if !is_recorded() {
            return self.inner.spawn(|inner| work(&Scope { inner }));
        }
        let regions = Regions::of("spawn", name, Location::caller());
        let _visit = regions.call.enter();
        let made = Moment::now();
        self.inner.spawn(move |inner| regions.job(made, || work(&Scope { inner })).0);
    }
}

/// Spawns a job of that name that nobody waits for, as `rayon::spawn`.
#[track_caller]
pub fn spawn(name: &'static str, work: impl FnOnce() + Send + 'static) {
    if !is_recorded() {
        return ::rayon::spawn(work);
    }
    let regions = Regions::of("spawn", name, Location::caller());
    let _visit = regions.call.enter();
    let made = Moment::now();
    ::rayon::spawn(move || regions.job(made, work).0);
}

/// Has a pool do something and waits for it, as `ThreadPool::install`.
#[track_caller]
pub fn install<R: Send>(pool: &ThreadPool, name: &'static str, work: impl FnOnce() -> R + Send) -> R {
    if !is_recorded() {
        return pool.install(work);
    }
    let regions = Regions::of("install", name, Location::caller());
    let visit = regions.call.enter();
    let made = Moment::now();
    let (result, end) = pool.install(|| regions.job(made, work));
    drop(visit);
    if let Some(end) = end {
        end.leads_here(EdgeKind::Done);
    }
    result
}

/// Names the threads of a pool `NAME 0`, `NAME 1` …, so that they can be told apart; rayon gives them no names. Takes
/// the place of the builder's `thread_name`.
pub fn named(builder: ThreadPoolBuilder, name: &'static str) -> ThreadPoolBuilder {
    builder.thread_name(move |number| format!("{name} {number}"))
}
