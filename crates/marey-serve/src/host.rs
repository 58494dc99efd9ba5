//! The server that carries requests of a browser on this machine to [`crate::answer`].
//!
//! The one idea: it is for one user. It listens on the loopback interface or on a socket file of that user's, and knows
//! the user by a [`Key`] that only the browser it was started for is given.
//!
//! Requests go to `api/answer` by POST, those to the run beside it to `api/answer/1`; everything else are files of the
//! viewer. Where there are many runs `api/runs` lists them, and the page of one, or of two, is `run/3/` or `run/3-5/`, with
//! paths of its own as if it were alone.
//!
//! What is deliberately absent: files of a run or of this machine; no path that somebody sends is ever opened. Of runs
//! there are those that the user has named or was offered, by their numbers.

mod guard;
mod key;
mod shelf;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};

use self::shelf::{Looked, Shelved};
use crate::{Opened, answer, viewer};
pub use key::Key;
pub use shelf::{Progress, Shelf};

/// More than this is no request.
const MOST_REQUEST: usize = 1 << 20;

/// Where and for whom to serve.
#[derive(Debug)]
pub struct Config {
    /// Where to listen.
    pub place: Place,
    /// What the paths of everything begin with, for a proxy: `/` or `/something/`.
    pub prefix: String,
}

/// What to serve.
pub struct Runs {
    /// Where runs come from.
    pub shelf: Box<dyn Shelf>,
    /// The one to look at, of number 0, perhaps with another beside it; `None` = whichever somebody chooses from the list.
    pub only: Option<Box<Opened<'static>>>,
}

/// Where to listen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// On a port of the loopback interface; 0 = any that is free.
    Port(u16),
    /// On a socket file, which only its owner can use.
    Socket(PathBuf),
}

/// Why it does not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The place is taken, or not ours.
    #[error("cannot listen on {place}: {error}")]
    Listen {
        /// Where.
        place: String,
        /// Why.
        error: std::io::Error,
    },
    /// The kernel has no random numbers.
    #[error("no random numbers for the key: {0}")]
    Random(std::io::Error),
    /// Serving came to an end.
    #[error("serving ended: {0}")]
    Ended(std::io::Error),
}

/// What handlers share.
struct Shared {
    shelved: Shelved,
    has_list: bool,
    key: Key,
    prefix: String,
}

impl Shared {
    /// Which runs an address means; `None` = none.
    fn looked(&self, named: Option<&str>) -> Option<Looked> {
        match named {
            None => (!self.has_list).then_some(Looked::ONLY),
            Some(named) => Looked::parse(named).filter(|_| self.has_list),
        }
    }
}

/// Serves runs until `stop` is done. When it is ready, `ready` is told the address that a browser has to open; that works
/// once.
///
/// # Errors
/// If it cannot listen there.
pub fn serve(
    runs: Runs,
    config: Config,
    ready: impl FnOnce(&str),
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Error> {
    let key = Key::new().map_err(Error::Random)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Error::Ended)?;
    runtime.block_on(async move {
        let prefix = config.prefix;
        let shelved = Shelved::new(runs.shelf);
        let has_list = runs.only.is_none();
        if let Some(run) = runs.only {
            shelved.put(Looked::ONLY, *run);
        }
        let shared = Arc::new(Shared { shelved, has_list, key, prefix: prefix.clone() });
        let app = router(&shared);
        match config.place {
            Place::Port(port) => {
                let address = SocketAddr::from(([127, 0, 0, 1], port));
                let failed = |error| Error::Listen { place: address.to_string(), error };
                let listener = tokio::net::TcpListener::bind(address).await.map_err(failed)?;
                let address = listener.local_addr().map_err(Error::Ended)?;
                ready(&format!("http://{address}{prefix}?key={}", shared.key.once()));
                axum::serve(listener, app).with_graceful_shutdown(stop).await.map_err(Error::Ended)
            }
            Place::Socket(path) => {
                let failed = |error| Error::Listen { place: path.display().to_string(), error };
                let listener = private_socket(&path).map_err(failed)?;
                ready(&format!("http://localhost{prefix}?key={}", shared.key.once()));
                let served = axum::serve(listener, app).with_graceful_shutdown(stop).await;
                // It was ours; who comes later must not meet it.
                if let Err(error) = std::fs::remove_file(&path) {
                    return Err(Error::Ended(error));
                }
                served.map_err(Error::Ended)
            }
        }
    })
}

/// A future for `stop`, and what makes it come true.
pub fn stopping() -> (impl FnOnce() + Send, impl Future<Output = ()> + Send + 'static) {
    let (tell, told) = tokio::sync::oneshot::channel::<()>();
    let tell = move || {
        // Nobody listens any more if serving has ended by itself.
        tell.send(()).ok();
    };
    let told = async move {
        if told.await.is_err() {
            // Whoever could have told is gone: then nobody ever will.
            std::future::pending::<()>().await;
        }
    };
    (tell, told)
}

/// A socket file that nobody else can open, from its first moment on.
fn private_socket(path: &std::path::Path) -> io::Result<tokio::net::UnixListener> {
    if let Ok(there) = path.symlink_metadata() {
        if !there.file_type().is_socket() {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is a file of that name"));
        }
        match std::os::unix::net::UnixStream::connect(path) {
            // Who made it was killed and could not take it away.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path)?,
            _ => return Err(io::Error::new(io::ErrorKind::AddrInUse, "another server listens there")),
        }
    }
    let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
    let listener = tokio::net::UnixListener::bind(path);
    rustix::process::umask(before);
    listener
}

fn router(shared: &Arc<Shared>) -> Router {
    let inner = Router::new()
        .route("/api/answer", post(asked))
        .route("/api/answer/{number}", post(asked_numbered))
        .route("/api/runs", get(listed))
        .route("/api/clock", post(clock))
        .route("/run/{looked}/api/clock", post(clock_of))
        .route("/", get(index))
        .route("/run/{looked}/", get(index))
        .route("/run/{looked}/api/opening", get(opening))
        .route("/run/{looked}/api/answer", post(asked_of))
        .route("/run/{looked}/api/answer/{number}", post(asked_of_numbered))
        .route("/run/{looked}/{*path}", get(file_of))
        .route("/{*path}", get(file))
        .layer(DefaultBodyLimit::max(MOST_REQUEST))
        .layer(middleware::from_fn_with_state(Arc::clone(shared), guard::guard))
        .with_state(Arc::clone(shared));
    match shared.prefix.trim_end_matches('/') {
        "" => inner,
        prefix => {
            let whole = shared.prefix.clone();
            let to_whole = get(move || async move { Redirect::permanent(&whole) });
            Router::new().nest(&format!("{prefix}/"), inner).route(prefix, to_whole)
        }
    }
}

async fn asked(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    answered(shared, None, 0, body).await
}

async fn asked_numbered(
    State(shared): State<Arc<Shared>>,
    Path(number): Path<usize>,
    body: Bytes,
) -> Response {
    answered(shared, None, number, body).await
}

async fn asked_of(State(shared): State<Arc<Shared>>, Path(looked): Path<String>, body: Bytes) -> Response {
    answered(shared, Some(looked), 0, body).await
}

async fn asked_of_numbered(
    State(shared): State<Arc<Shared>>,
    Path((looked, number)): Path<(String, usize)>,
    body: Bytes,
) -> Response {
    answered(shared, Some(looked), number, body).await
}

async fn answered(shared: Arc<Shared>, looked: Option<String>, number: usize, body: Bytes) -> Response {
    // Reading takes its time, so that others are served meanwhile.
    let answered = tokio::task::spawn_blocking(move || {
        let Some(looked) = shared.looked(looked.as_deref()) else { return Ok(None) };
        shared.shelved.get(looked).map(|run| run.numbered(number).map(|run| answer(run, &body)))
    });
    match answered.await {
        Ok(Ok(Some(frame))) => ([(header::CONTENT_TYPE, "application/octet-stream")], frame).into_response(),
        Ok(Ok(None)) => (StatusCode::NOT_FOUND, "there is no such run").into_response(),
        Ok(Err(why)) => (StatusCode::CONFLICT, why).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

async fn clock(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    shifted(shared, None, body).await
}

async fn clock_of(State(shared): State<Arc<Shared>>, Path(looked): Path<String>, body: Bytes) -> Response {
    shifted(shared, Some(looked), body).await
}

/// Moves the clock of a process: the one thing that a page can change, beside the tables of the run, and take back.
async fn shifted(shared: Arc<Shared>, looked: Option<String>, body: Bytes) -> Response {
    let shift = match serde_json::from_slice(&body) {
        Ok(shift) => shift,
        Err(error) => return (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    };
    let Some(looked) = shared.looked(looked.as_deref()) else {
        return (StatusCode::NOT_FOUND, "there is no such run").into_response();
    };
    match tokio::task::spawn_blocking(move || shared.shelved.shift(looked, shift)).await {
        Ok(Ok(())) => StatusCode::NO_CONTENT.into_response(),
        Ok(Err(why)) => (StatusCode::CONFLICT, why).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// The list of runs; `null` where one is served.
async fn listed(State(shared): State<Arc<Shared>>) -> Response {
    let list = move || shared.has_list.then(|| shared.shelved.list());
    match tokio::task::spawn_blocking(list).await {
        Ok(list) => json(&list),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// How far the opening of a run is; `null` = it is not being opened.
async fn opening(State(shared): State<Arc<Shared>>, Path(looked): Path<String>) -> Response {
    json(&shared.looked(Some(&looked)).and_then(|looked| shared.shelved.progress(looked)))
}

fn json(value: &impl serde::Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

#[derive(serde::Deserialize)]
struct Entry {
    key: Option<String>,
}

/// The page; who comes with the key is given the cookie, and the key leaves the address.
async fn index(State(shared): State<Arc<Shared>>, Query(entry): Query<Entry>) -> Response {
    if entry.key.is_some() {
        return Redirect::to(&shared.prefix).into_response();
    }
    match viewer::file("index.html") {
        Some(file) => content(file),
        None => ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], viewer::MISSING).into_response(),
    }
}

async fn file(Path(path): Path<String>) -> Response {
    match viewer::file(&path) {
        Some(file) => content(file),
        None => (StatusCode::NOT_FOUND, "there is no such file").into_response(),
    }
}

/// The files of the page of one of many runs are those of all pages.
async fn file_of(Path((_, path)): Path<(String, String)>) -> Response {
    file(Path(path)).await
}

fn content(file: &'static viewer::File) -> Response {
    ([(header::CONTENT_TYPE, file.media_type)], file.content).into_response()
}
