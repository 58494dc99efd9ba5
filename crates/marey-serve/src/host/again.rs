//! Requests of the page to record the run that it shows once more.
//!
//! The one idea: a page says which rules, and nothing else; what is run, where, and where it is written the host knows, and
//! only if the user has allowed it when the server was started. Who asks is asked the same three questions as everybody
//! else, and must have seen the run that is there.
//!
//! What is deliberately absent: starting anything. The command line does that, behind [`Again`].

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use marey_model::Rules;

use super::{Looked, Shared, json, no_such_run, of_run, refused};
use crate::wire::{WireAgain, WireAgainState};

/// Longer than this no rules are.
const MOST_RULES: usize = 64 << 10;

/// What can record the run that is served, the one of number 0, once more.
pub trait Again: Send + Sync {
    /// What would be done.
    fn plan(&self) -> WireAgain;

    /// Begins to do it, with rules that were read.
    ///
    /// # Errors
    /// In words, if it cannot be done, or is being done already.
    fn start(&self, rules: &str) -> Result<(), String>;

    /// Ends what was started. Nothing, if it has ended.
    fn cancel(&self);

    /// What was started last; `None` = nothing was.
    fn state(&self) -> Option<WireAgainState>;
}

pub(super) fn routes() -> Router<Arc<Shared>> {
    let all = || {
        Router::new()
            .route("/again", get(planned).post(started))
            .route("/again/state", get(told))
            .route("/again/cancel", post(cancelled))
    };
    Router::new().nest("/api", all()).nest("/run/{looked}/api", all())
}

/// Of which run; `None` = there is none of that number, or it is not the first of those that were named.
fn of_named(shared: &Shared, looked: Option<&Path<String>>) -> Option<Looked> {
    shared.looked(looked.map(|Path(looked)| looked.as_str())).filter(|looked| looked.is_of(0))
}

async fn planned(State(shared): State<Arc<Shared>>) -> Response {
    let plan = move || shared.shelved.again().map_or_else(WireAgain::not, Again::plan);
    in_words(tokio::task::spawn_blocking(plan).await.map(|plan| json(&plan)))
}

async fn told(State(shared): State<Arc<Shared>>) -> Response {
    json(&shared.shelved.again().ok().and_then(Again::state))
}

async fn started(
    State(shared): State<Arc<Shared>>,
    looked: Option<Path<String>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let start = move || {
        let again = match shared.shelved.again() {
            Ok(again) => again,
            Err(why) => return (StatusCode::FORBIDDEN, why).into_response(),
        };
        let rules = match rules_of(&body) {
            Ok(rules) => rules,
            Err((status, why)) => return (status, why).into_response(),
        };
        let Some(looked) = of_named(&shared, looked.as_ref()) else { return no_such_run() };
        let Some(meant) = of_run(&headers) else {
            let why = "it is not said which run is meant; open the page anew";
            return (StatusCode::BAD_REQUEST, why).into_response();
        };
        if let Err(refusal) = shared.shelved.is_meant(looked, Some(&meant)) {
            return refused(refusal);
        }
        match again.start(rules) {
            Ok(()) => StatusCode::NO_CONTENT.into_response(),
            Err(why) => (StatusCode::CONFLICT, why).into_response(),
        }
    };
    in_words(tokio::task::spawn_blocking(start).await)
}

async fn cancelled(State(shared): State<Arc<Shared>>) -> Response {
    match shared.shelved.again() {
        Ok(again) => {
            again.cancel();
            StatusCode::NO_CONTENT.into_response()
        }
        Err(why) => (StatusCode::FORBIDDEN, why).into_response(),
    }
}

/// A text that is rules.
fn rules_of(body: &[u8]) -> Result<&str, (StatusCode, String)> {
    if body.len() > MOST_RULES {
        return Err((StatusCode::PAYLOAD_TOO_LARGE, "rules have at most 64 KiB".to_owned()));
    }
    let wrong = |why: String| (StatusCode::BAD_REQUEST, why);
    let text = std::str::from_utf8(body).map_err(|_| wrong("rules are text in UTF-8".to_owned()))?;
    // They come to stand in a file that somebody may look at in a terminal.
    if text.chars().any(|letter| letter.is_control() && letter != '\n') {
        return Err(wrong("rules are plain text, without control characters".to_owned()));
    }
    Rules::parse(text).map_err(|error| wrong(format!("these are no rules: {error}")))?;
    Ok(text)
}

fn in_words(done: Result<Response, tokio::task::JoinError>) -> Response {
    done.unwrap_or_else(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_few_and_plain_and_rules() {
        assert_eq!(rules_of(b"off x\ntime mpi:MPI_*\n").unwrap(), "off x\ntime mpi:MPI_*\n");
        let refused = |text: &[u8]| rules_of(text).unwrap_err().0.as_u16();
        assert_eq!(refused(b"forget x"), 400);
        assert_eq!(refused(b"off x\x1b[2J"), 400);
        assert_eq!(refused(b"off \xff"), 400);
        assert_eq!(rules_of("off x\n".repeat(10_000).as_bytes()).unwrap().len(), 60_000);
        assert_eq!(refused("off x\n".repeat(11_000).as_bytes()), 413);
    }
}
