//! The server that carries requests of a browser on this machine to [`crate::answer`].
//!
//! The one idea: it is for one user. It listens on the loopback interface or on a socket file of that user's, and knows
//! the user by a [`Key`] that only the browser it was started for is given.
//!
//! Requests go to `api/answer` by POST, those to the run beside it to `api/answer/1`; everything else are files of the
//! viewer. Where there are many runs `api/runs` lists them, and the page of one, or of two, is `run/3/` or `run/3-5/`, with
//! paths of its own as if it were alone.
//!
//! If the user allows it, the run is recorded once more, with rules that the page gives (`host/again.rs`).
//!
//! What is deliberately absent: files of a run or of this machine; no path that somebody sends is ever opened. Of runs
//! there are those that the user has named or was offered, by their numbers.

mod again;
mod connections;
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
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};

use self::shelf::{Looked, Refusal, Shelved};
use crate::{Opened, answer, viewer};
pub use again::Again;
pub use connections::Limits;
pub use key::Key;
pub use shelf::{Mark, Progress, Shelf};

/// More than this is no request.
const MOST_REQUEST: usize = 1 << 20;

/// Which run an answer is of; a page that has one says with each question that it means no other.
const OF_RUN: &str = "x-marey-run";

/// Where and for whom to serve.
pub struct Config {
    /// Where to listen.
    pub place: Place,
    /// What the paths of everything begin with, `/` or `/something/`, by the port; `None` = a socket file, which has none.
    pub prefix: Box<dyn FnOnce(Option<u16>) -> String>,
    /// What connections may cost.
    pub limits: Limits,
}

/// What a browser has to open; that works once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The port of this machine; `None` = a socket file, which has none.
    pub port: Option<u16>,
    /// The path, with the key.
    pub path: String,
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
    /// Nobody could be told where it is.
    #[error("nobody can be told the address: {0}")]
    Untold(std::io::Error),
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
    limits: Limits,
}

impl Shared {
    /// Which runs an address means; `None` = none.
    fn looked(&self, named: Option<&str>) -> Option<Looked> {
        match named {
            None => (!self.has_list).then_some(Looked::ONLY),
            // Of a run that was named there may be new ones, which lie beside it.
            Some(named) => Looked::parse(named)
                .filter(|it| self.has_list || (self.shelved.again().is_ok() && it.is_of(0))),
        }
    }
}

/// Serves runs until `stop` is done. When it is ready, `ready` is told what a browser has to open.
///
/// # Errors
/// If it cannot listen there, or `ready` could tell nobody.
pub fn serve(
    runs: Runs,
    config: Config,
    ready: impl FnOnce(&Entry) -> io::Result<()>,
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
        let limits = config.limits;
        let serving = |port| {
            let prefix = prefix(port);
            let path = format!("{prefix}?key={}", key.once());
            (router(&Arc::new(Shared { shelved, has_list, key, prefix, limits })), Entry { port, path })
        };
        match config.place {
            Place::Port(port) => {
                let address = SocketAddr::from(([127, 0, 0, 1], port));
                let failed = |error| Error::Listen { place: address.to_string(), error };
                let listener = tokio::net::TcpListener::bind(address).await.map_err(failed)?;
                let (app, entry) = serving(Some(listener.local_addr().map_err(Error::Ended)?.port()));
                ready(&entry).map_err(Error::Untold)?;
                connections::carry(listener, &app, limits, stop).await;
                Ok(())
            }
            Place::Socket(socket) => {
                let failed = |error| Error::Listen { place: socket.display().to_string(), error };
                let listener = private_socket(&socket).map_err(failed)?;
                let (app, entry) = serving(None);
                let told = ready(&entry).map_err(Error::Untold);
                if told.is_ok() {
                    connections::carry(listener, &app, limits, stop).await;
                }
                // It was ours; who comes later must not meet it.
                std::fs::remove_file(&socket).map_err(Error::Ended).and(told)
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
        .route("/api/here", get(here))
        .route("/run/{looked}/api/here", get(here_of))
        .route("/api/clock", post(clock))
        .route("/run/{looked}/api/clock", post(clock_of))
        .route("/", get(index))
        .route("/run/{looked}/", get(index))
        .route("/run/{looked}/api/opening", get(opening))
        .route("/run/{looked}/api/answer", post(asked_of))
        .route("/run/{looked}/api/answer/{number}", post(asked_of_numbered))
        .route("/run/{looked}/{*path}", get(file_of))
        .route("/{*path}", get(file))
        .merge(again::routes())
        .layer(middleware::from_fn_with_state(Arc::clone(shared), guard::guard))
        .with_state(Arc::clone(shared));
    match shared.prefix.trim_end_matches('/') {
        "" => inner,
        prefix => {
            let whole = shared.prefix.clone();
            let to_whole = get(move || async move { Redirect::permanent(&whole) });
            Router::new().nest(&format!("{prefix}/"), inner).route(prefix, to_whole).fallback(elsewhere)
        }
    }
}

/// What stands at all other paths says nothing of the one that there is.
async fn elsewhere() -> Response {
    (StatusCode::NOT_FOUND, "marey: nothing is here; open the address that `marey view` printed\n")
        .into_response()
}

async fn asked(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    answered(shared, None, 0, of_run(&headers), body).await
}

async fn asked_numbered(
    State(shared): State<Arc<Shared>>,
    Path(number): Path<usize>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    answered(shared, None, number, of_run(&headers), body).await
}

async fn asked_of(
    State(shared): State<Arc<Shared>>,
    Path(looked): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    answered(shared, Some(looked), 0, of_run(&headers), body).await
}

async fn asked_of_numbered(
    State(shared): State<Arc<Shared>>,
    Path((looked, number)): Path<(String, usize)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    answered(shared, Some(looked), number, of_run(&headers), body).await
}

/// The run that who asks has seen; `None` = none yet.
fn of_run(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(OF_RUN)?.to_str().ok()?.to_owned())
}

async fn answered(
    shared: Arc<Shared>,
    looked: Option<String>,
    number: usize,
    meant: Option<String>,
    body: Bytes,
) -> Response {
    // Reading takes its time, so that others are served meanwhile.
    let answered = tokio::task::spawn_blocking(move || {
        let Some(looked) = shared.looked(looked.as_deref()) else { return Ok(None) };
        let (run, marks) = shared.shelved.get(looked, meant.as_deref())?;
        let frame = run.numbered(number).map(|run| answer(run, &body));
        // What was replaced meanwhile would be told as damage.
        shared.shelved.is_still(looked, marks)?;
        Ok(frame.map(|frame| (frame, marks.to_string())))
    });
    match answered.await {
        Ok(Ok(Some((frame, marks)))) => {
            let mut response = ([(header::CONTENT_TYPE, "application/octet-stream")], frame).into_response();
            if let Ok(marks) = HeaderValue::from_str(&marks) {
                response.headers_mut().insert(OF_RUN, marks);
            }
            response
        }
        Ok(Ok(None)) => no_such_run(),
        Ok(Err(refusal)) => refused(refusal),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

fn no_such_run() -> Response {
    (StatusCode::NOT_FOUND, "there is no such run").into_response()
}

fn refused(refusal: Refusal) -> Response {
    match refusal {
        Refusal::Said(why) => (StatusCode::CONFLICT, why).into_response(),
        Refusal::Replaced(why) => (StatusCode::GONE, why).into_response(),
    }
}

async fn here(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    if shared.has_list {
        // The list is here, whatever is in it.
        return StatusCode::NO_CONTENT.into_response();
    }
    is_here(shared, None, of_run(&headers)).await
}

async fn here_of(
    State(shared): State<Arc<Shared>>,
    Path(looked): Path<String>,
    headers: HeaderMap,
) -> Response {
    is_here(shared, Some(looked), of_run(&headers)).await
}

/// Whether the run that somebody has seen is still the one that would be opened.
async fn is_here(shared: Arc<Shared>, looked: Option<String>, meant: Option<String>) -> Response {
    let Some(looked) = shared.looked(looked.as_deref()) else { return no_such_run() };
    let is_meant = move || shared.shelved.is_meant(looked, meant.as_deref());
    match tokio::task::spawn_blocking(is_meant).await {
        Ok(Ok(())) => StatusCode::NO_CONTENT.into_response(),
        Ok(Err(refusal)) => refused(refusal),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

async fn clock(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    shifted(shared, None, of_run(&headers), body).await
}

async fn clock_of(
    State(shared): State<Arc<Shared>>,
    Path(looked): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    shifted(shared, Some(looked), of_run(&headers), body).await
}

/// Moves the clock of a process: the one thing that a page can change, beside the tables of the run, and take back.
async fn shifted(
    shared: Arc<Shared>,
    looked: Option<String>,
    meant: Option<String>,
    body: Bytes,
) -> Response {
    let shift = match serde_json::from_slice(&body) {
        Ok(shift) => shift,
        Err(error) => return (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    };
    let Some(looked) = shared.looked(looked.as_deref()) else { return no_such_run() };
    let shift = move || shared.shelved.shift(looked, meant.as_deref(), shift);
    match tokio::task::spawn_blocking(shift).await {
        Ok(Ok(())) => StatusCode::NO_CONTENT.into_response(),
        Ok(Err(refusal)) => refused(refusal),
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
struct Entered {
    key: Option<String>,
}

/// The page; who comes with the key is given the cookie, and the key leaves the address.
async fn index(State(shared): State<Arc<Shared>>, Query(entered): Query<Entered>) -> Response {
    if entered.key.is_some() {
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
