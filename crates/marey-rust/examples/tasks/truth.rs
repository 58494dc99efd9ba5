//! What a program knows of itself.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

/// Something that happens and is counted.
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn say(&self, name: &str) {
        println!("{name} {}", self.get());
    }
}

/// A future that counts its polls.
pub(crate) struct Polls<'c, F> {
    future: Pin<Box<F>>,
    polls: &'c Count,
}

pub(crate) fn polls<F>(polls: &Count, future: F) -> Polls<'_, F> {
    Polls { future: Box::pin(future), polls }
}

impl<F: Future> Future for Polls<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.polls.add();
        self.future.as_mut().poll(context)
    }
}

/// Pending so many times, each time woken at once.
pub(crate) struct Yields(pub(crate) u64);

impl Future for Yields {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Something that takes about so many microseconds.
pub(crate) fn compute(microseconds: u64) {
    let end = std::time::Duration::from_micros(microseconds);
    #[expect(clippy::disallowed_methods, reason = "this is the program that is measured")]
    let begin = std::time::Instant::now();
    while begin.elapsed() < end {
        std::hint::spin_loop();
    }
}
