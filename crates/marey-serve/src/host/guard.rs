//! Who may ask.
//!
//! The one idea: three questions to every request, whatever it is for. Is it addressed to this machine by one of its own
//! names? A page elsewhere whose name was made to point here is not (DNS rebinding). Does it come from our own page? A page
//! elsewhere that posts here does not. Does it have the key?
//!
//! Every answer says what the page may load: its own files and nothing else.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::connections::Seat;
use super::{MOST_REQUEST, Shared};

/// What the page may load. Workers and pictures are made by its own scripts.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    connect-src 'self'; font-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

pub(super) async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let mut response = match admitted(&shared, &request) {
        Err(refusal) => refusal.into_response(),
        Ok(cookie) => {
            request.extensions().get::<Seat>().inspect(|seat| seat.is_of_user());
            let mut response = match whole(request, &shared).await {
                Ok(request) => next.run(request).await,
                Err(refusal) => refusal.into_response(),
            };
            if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    response
}

/// A request with all of its body: one that comes letter by letter would never end.
///
/// # Errors
/// Why it is not answered.
async fn whole(request: Request, shared: &Shared) -> Result<Request, (StatusCode, &'static str)> {
    let (head, body) = request.into_parts();
    let late = (StatusCode::REQUEST_TIMEOUT, "the request did not come to its end in time");
    let large = (StatusCode::PAYLOAD_TOO_LARGE, "a request has at most 1 MiB, and as much as it says");
    let body = tokio::time::timeout(shared.limits.idle, to_bytes(body, MOST_REQUEST)).await;
    let body = body.map_err(|_| late)?.map_err(|_| large)?;
    Ok(Request::from_parts(head, Body::from(body)))
}

/// The cookie for who comes with the key of the address, which opens once; nothing for who has the cookie already.
///
/// # Errors
/// Why a request is not answered.
fn admitted(shared: &Shared, request: &Request) -> Result<Option<String>, (StatusCode, &'static str)> {
    let headers = request.headers();
    let host = text(headers, header::HOST).unwrap_or_default();
    if !is_loopback(host) {
        let why = "this server answers to localhost, 127.0.0.1 and [::1] only; behind `ssh -L` use localhost";
        return Err((StatusCode::MISDIRECTED_REQUEST, why));
    }
    let own = [format!("http://{host}"), format!("https://{host}")];
    if text(headers, header::ORIGIN).is_some_and(|origin| !own.iter().any(|it| it == origin)) {
        return Err((StatusCode::FORBIDDEN, "asked by another page"));
    }
    let mut cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    if cookies.any(|cookies| shared.key.is_in(cookies)) {
        return Ok(None);
    }
    // The key of the address stays behind in histories and lists of processes: used before, it opens nothing. Who only asks
    // whether there is something does not use it.
    let key = key_in_address(request).filter(|_| request.method() != Method::HEAD);
    let cookie = key.and_then(|given| shared.key.exchange(given, &shared.prefix));
    let why = "the address of this page opens it once, in one browser; start `marey view` again for another";
    cookie.map(Some).ok_or((StatusCode::UNAUTHORIZED, why))
}

fn key_in_address(request: &Request) -> Option<&str> {
    request.uri().query()?.split('&').find_map(|pair| pair.strip_prefix("key="))
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Whether a host, perhaps with a port, is this machine by one of its own names.
fn is_loopback(host: &str) -> bool {
    let port = |rest: &str| {
        rest.is_empty()
            || rest.strip_prefix(':').is_some_and(|port| port.bytes().all(|it| it.is_ascii_digit()))
    };
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| host.strip_prefix(name).is_some_and(port))
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn a_machine_has_three_names_of_its_own() {
        for host in ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]:65535"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["", "localhost.evil.example", "127.0.0.1.evil.example:80", "evil.example", "localhost:x"]
        {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
