//! Tasks of tokio: when they were made, when they could run, when and where they ran, and who woke them.
//!
//! The one idea: a task is told apart by a future around its own, which sees each poll, and by a waker around the
//! runtime's, which sees who wakes it. That is all stable tokio lets see, and all that is needed.
//!
//! What is deliberately absent: what the scheduler does by itself. Which queue a task waited in is not told; that it
//! was ready, and how long, is.

use core::future::Future;
use core::ops::{Deref, DerefMut};
use core::panic::Location;
use core::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use ::tokio::runtime::{Builder, Runtime};
use marey_measure::{Made, NounKind, Region, Sentence, is_recorded, level};
use marey_model::Role;
use pin_project_lite::pin_project;

use crate::task::{Life, Regions};

pin_project! {
    /// A future whose life is recorded. It goes wherever a future goes: `tokio::spawn`, a `JoinSet`, `select!`.
    pub struct Task<F> {
        // First, so that what it drops is dropped while the task is there.
        #[pin]
        future: F,
        told: Option<Told>,
    }
}

/// A task that is recorded, and its waker.
struct Told {
    life: Arc<Life>,
    waker: Waker,
}

impl Drop for Told {
    fn drop(&mut self) {
        self.life.give_up();
    }
}

impl<F: Future> Future for Task<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        match this.told {
            Some(Told { life, waker }) => life.poll(context, waker, |context| this.future.poll(context)),
            None => this.future.poll(context),
        }
    }
}

/// Names a future, so that it is recorded as a task from now on.
#[track_caller]
pub fn task<F: Future>(name: &'static str, future: F) -> Task<F> {
    if !is_recorded() {
        return Task { future, told: None };
    }
    begun(Regions::of(name, Location::caller()), future)
}

fn begun<F: Future>(regions: &'static Regions, future: F) -> Task<F> {
    let life = Life::begin(regions);
    let told = life.map(|life| Told { waker: Waker::from(Arc::clone(&life)), life });
    Task { future, told }
}

/// Spawns a future as a task of that name, as `tokio::spawn` does.
///
/// # Panics
/// As that: outside of a runtime.
#[track_caller]
pub fn spawn<F>(name: &'static str, future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    if !is_recorded() {
        return JoinHandle { inner: ::tokio::spawn(future), life: None };
    }
    let regions = Regions::of(name, Location::caller());
    let _spawn: Region = regions.spawn.enter();
    let task = begun(regions, future);
    let life = task.told.as_ref().map(|told| Arc::clone(&told.life));
    JoinHandle { inner: ::tokio::spawn(task), life }
}

/// Runs a future on a runtime until it is over, as a task of that name.
#[track_caller]
pub fn block_on<F: Future>(runtime: &Runtime, name: &'static str, future: F) -> F::Output {
    runtime.block_on(task(name, future))
}

/// Runs something that blocks on a thread that may be blocked, as a job of that name.
///
/// # Panics
/// As `tokio::task::spawn_blocking`: outside of a runtime.
#[track_caller]
pub fn spawn_blocking<T: Send + 'static>(
    name: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    if !is_recorded() {
        return JoinHandle { inner: ::tokio::task::spawn_blocking(work), life: None };
    }
    let regions = Regions::of(name, Location::caller());
    let _spawn: Region = regions.spawn.enter();
    let Some(life) = Life::begin(regions) else {
        return JoinHandle { inner: ::tokio::task::spawn_blocking(work), life: None };
    };
    let told = Told { waker: Waker::noop().clone(), life: Arc::clone(&life) };
    let inner = ::tokio::task::spawn_blocking(move || {
        let waker = Waker::noop();
        let mut work = Some(work);
        let run = |_: &mut Context<'_>| work.take().map_or(Poll::Pending, |work| Poll::Ready(work()));
        match told.life.poll(&Context::from_waker(waker), waker, run) {
            Poll::Ready(value) => value,
            Poll::Pending => unreachable!("the work is there, for it is done once"),
        }
    });
    JoinHandle { inner, life: Some(life) }
}

/// Has workers of a runtime recorded as they park, which is where they are idle. Takes the place of the hooks
/// `on_thread_park` and `on_thread_unpark`; a program that is not recorded keeps its own.
pub fn workers(builder: &mut Builder) -> &mut Builder {
    if !is_recorded() {
        return builder;
    }
    let park = Made::new(&Sentence {
        level: level::TASKS,
        verb: "park",
        role: Role::Wait,
        kind: NounKind::Worker,
        noun: "tokio worker",
        file: "",
        line: 0,
    });
    let begin = move || {
        park.open();
    };
    builder.on_thread_park(begin).on_thread_unpark(move || park.close())
}

/// What a task comes to, as tokio's own handle, which it gives access to: `abort`, `is_finished`.
pub struct JoinHandle<T> {
    inner: ::tokio::task::JoinHandle<T>,
    life: Option<Arc<Life>>,
}

impl<T> JoinHandle<T> {
    /// Tokio's own.
    pub fn into_inner(self) -> ::tokio::task::JoinHandle<T> {
        self.inner
    }
}

impl<T> Deref for JoinHandle<T> {
    type Target = ::tokio::task::JoinHandle<T>;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

impl<T> DerefMut for JoinHandle<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.inner
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, ::tokio::task::JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = Pin::new(&mut self.inner).poll(context);
        if polled.is_ready()
            && let Some(life) = self.life.take()
        {
            life.joined();
        }
        polled
    }
}
