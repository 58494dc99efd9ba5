//! Connections: how many there may be, and how long one may say nothing.
//!
//! The one idea: anybody on this machine can connect, but only the user is answered, so the user must find a place however
//! many others are there. Of those who have not shown the key the one that came first goes when a place is needed; the
//! user's own stay.
//!
//! What is deliberately absent: a limit of time for answers. A large one takes as long as it takes.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::serve::Listener;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;

/// More of a head than this is no request. Without it the letters of each who connects are kept up to 400 kB.
const MOST_HEAD: usize = 64 << 10;

/// How long who is being answered may take when serving ends.
const ENDING: Duration = Duration::from_secs(5);

/// What connections may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many there are at most. A browser has six for each of its pages.
    pub connections: usize,
    /// How long a request may take to come, its head and then its body, and how long there may be none.
    pub idle: Duration,
}

impl Limits {
    /// 256 connections, and no more than a quarter of the descriptors that we may have, since runs need some, too; 30
    /// seconds.
    pub fn usual() -> Self {
        let descriptors = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let quarter = descriptors.and_then(|most| usize::try_from(most / 4).ok()).unwrap_or(usize::MAX);
        Self { connections: quarter.clamp(8, 256), idle: Duration::from_secs(30) }
    }
}

/// A connection, as who answers knows it.
#[derive(Clone, Default)]
pub(super) struct Seat(Arc<AtomicBool>);

impl Seat {
    /// Who sits here has shown the key, or the cookie.
    pub(super) fn is_of_user(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Answers who connects until `stop` is done, and then those who wait for an answer.
pub(super) async fn carry<L: Listener>(
    mut listener: L,
    app: &Router,
    limits: Limits,
    stop: impl Future<Output = ()>,
) {
    let room = Arc::new(Room::default());
    let (close, closing) = watch::channel(());
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.idle).max_buf_size(MOST_HEAD);
    let mut stop = pin!(stop);
    let mut number = 0_u64;
    loop {
        let came = async {
            let (io, _) = listener.accept().await;
            room.has_place(limits.connections).await;
            io
        };
        let io = tokio::select! {
            io = came => io,
            () = &mut stop => break,
        };
        number += 1;
        let seat = Seat::default();
        let service = TowerToHyperService::new(app.clone().layer(Extension(seat.clone())));
        let connection = http.serve_connection(TokioIo::new(io), service);
        let place = Place { room: Arc::clone(&room), number };
        let mut closing = closing.clone();
        let carried = async move {
            let _until_it_ends = place;
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                _ = closing.changed() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            // Who went away, or said nothing, needs no answer.
            ended.ok();
        };
        // Held until the guest is in, for it may leave at once.
        let mut guests = room.guests();
        let task = tokio::spawn(carried).abort_handle();
        guests.insert(number, Guest { seat, task });
    }
    close.send(()).ok();
    // Who does not end by then is cut off.
    tokio::time::timeout(ENDING, room.is_empty()).await.ok();
}

/// Who is connected.
#[derive(Default)]
struct Room {
    /// In the order in which they came.
    guests: Mutex<BTreeMap<u64, Guest>>,
    left: Notify,
}

struct Guest {
    seat: Seat,
    task: AbortHandle,
}

impl Room {
    fn guests(&self) -> MutexGuard<'_, BTreeMap<u64, Guest>> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place; where there is none it is made, unless all are the user's.
    async fn has_place(&self, most: usize) {
        self.until(|guests| {
            if guests.len() < most {
                return true;
            }
            let stranger = guests.iter().find(|(_, guest)| !guest.seat.0.load(Ordering::Acquire));
            let Some(number) = stranger.map(|(number, _)| *number) else { return false };
            guests.remove(&number).inspect(|guest| guest.task.abort());
            true
        })
        .await;
    }

    async fn is_empty(&self) {
        self.until(|guests| guests.is_empty()).await;
    }

    async fn until(&self, mut holds: impl FnMut(&mut BTreeMap<u64, Guest>) -> bool) {
        loop {
            // Before it is looked, so that who leaves meanwhile is not missed.
            let mut left = pin!(self.left.notified());
            left.as_mut().enable();
            if holds(&mut self.guests()) {
                return;
            }
            left.await;
        }
    }
}

/// Is given back when the connection ends, however that comes.
struct Place {
    room: Arc<Room>,
    number: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.room.guests().remove(&self.number);
        self.room.left.notify_waiters();
    }
}
