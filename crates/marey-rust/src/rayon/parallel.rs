//! Parallel iterators whose jobs are told: the stretches that one thread goes through without a break.
//!
//! The one idea: a parallel iterator splits its consumer until the pieces are small enough, and each piece then becomes
//! a folder that takes its items one after the other. The life of a folder is a job, the place where its consumer was
//! split off is where it was made. So nothing of the items is touched.

use core::cell::Cell;
use core::panic::Location;

use ::rayon::iter::ParallelIterator;
use ::rayon::iter::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};
use marey_measure::{Moment, Region, is_recorded};
use marey_model::EdgeKind;

use super::Regions;

/// Adds [`Named::jobs`] to parallel iterators.
pub trait Named: ParallelIterator {
    /// Has the jobs recorded under that name which whatever consumes this iterator is split into. Put it last, before
    /// `sum`, `for_each`, `collect` or the like: what stands before it is done within the jobs.
    #[track_caller]
    fn jobs(self, name: &'static str) -> Jobs<Self> {
        let regions = is_recorded().then(|| Regions::of("iterate", name, Location::caller()));
        Jobs { base: self, regions }
    }
}

impl<I: ParallelIterator> Named for I {}

/// A parallel iterator with jobs that are told; see [`Named::jobs`].
#[derive(Clone)]
pub struct Jobs<I> {
    base: I,
    regions: Option<&'static Regions>,
}

impl<I: ParallelIterator> ParallelIterator for Jobs<I> {
    type Item = I::Item;

    fn drive_unindexed<C: UnindexedConsumer<I::Item>>(self, consumer: C) -> C::Result {
        let Some(regions) = self.regions else { return self.base.drive_unindexed(consumer) };
        let _visit = regions.call.enter();
        self.base.drive_unindexed(Told { inner: consumer, regions, made: Cell::new(Moment::now()) })
    }
}

/// A consumer that knows where it was made. Who splits one goes on with the left part, which so was made where the whole
/// was, and puts the right one where others may take it. So each theft shows in one job: the first of what was stolen.
struct Told<C> {
    inner: C,
    regions: &'static Regions,
    made: Cell<Option<Moment>>,
}

impl<T, C: Consumer<T>> Consumer<T> for Told<C> {
    type Folder = Job<C::Folder>;
    type Reducer = Joined<C::Reducer>;
    type Result = C::Result;

    fn split_at(self, index: usize) -> (Self, Self, Self::Reducer) {
        let (regions, made) = (self.regions, self.made);
        let (left, right, reducer) = self.inner.split_at(index);
        let right = Self { inner: right, regions, made: Cell::new(Moment::now()) };
        (Self { inner: left, regions, made }, right, Joined(reducer))
    }

    fn into_folder(self) -> Self::Folder {
        let Self { inner, regions, made } = self;
        let stolen = made.get().zip(Moment::now()).filter(|(made, now)| !made.is_on_thread_of(*now));
        let visit = if stolen.is_some() { regions.steal.enter() } else { regions.run.enter() };
        if let Some((made, _)) = stolen.filter(|_| visit.is_entered()) {
            made.leads_here(EdgeKind::Spawn);
        }
        Job { inner: inner.into_folder(), visit }
    }

    fn full(&self) -> bool {
        self.inner.full()
    }
}

impl<T, C: UnindexedConsumer<T>> UnindexedConsumer<T> for Told<C> {
    fn split_off_left(&self) -> Self {
        let made = Cell::new(self.made.replace(Moment::now()));
        Self { inner: self.inner.split_off_left(), regions: self.regions, made }
    }

    fn to_reducer(&self) -> Self::Reducer {
        Joined(self.inner.to_reducer())
    }
}

/// Puts together what two jobs came to, as the consumer's own does.
struct Joined<R>(R);

impl<T, R: Reducer<T>> Reducer<T> for Joined<R> {
    fn reduce(self, left: T, right: T) -> T {
        self.0.reduce(left, right)
    }
}

/// A job: a stretch of items that one thread goes through.
struct Job<F> {
    inner: F,
    visit: Region,
}

impl<T, F: Folder<T>> Folder<T> for Job<F> {
    type Result = F::Result;

    fn consume(self, item: T) -> Self {
        Self { inner: self.inner.consume(item), visit: self.visit }
    }

    fn consume_iter<I: IntoIterator<Item = T>>(self, items: I) -> Self {
        Self { inner: self.inner.consume_iter(items), visit: self.visit }
    }

    fn complete(self) -> F::Result {
        let result = self.inner.complete();
        drop(self.visit);
        result
    }

    fn full(&self) -> bool {
        self.inner.full()
    }
}
