//! What connects and says nothing: it goes, and is in nobody's way.
//!
//! Limits are small here; how large they usually are is a matter of `Limits::usual`.
#![cfg(feature = "http")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use marey_serve::Opened;
use marey_serve::host::{Config, Entry, Limits, Mark, Place, Progress, Runs, Shelf, serve, stopping};
use marey_serve::wire::{WireRuns, WireShift};

/// Longer than any of these tests.
const EVER: Duration = Duration::from_secs(600);
const SOON: Duration = Duration::from_millis(50);

/// A shelf without runs.
struct Empty;

impl Shelf for Empty {
    fn list(&self) -> WireRuns {
        WireRuns { directory: "/".to_owned(), is_cut: false, runs: Vec::new() }
    }

    fn open(&self, _: usize, _: Option<usize>, _: &Progress<'_>) -> Result<Opened<'static>, String> {
        Err("none".to_owned())
    }

    fn mark(&self, _: usize) -> Result<Mark, String> {
        Err("none".to_owned())
    }

    fn why_no_shift(&self, _: usize) -> Option<String> {
        None
    }

    fn shift(&self, _: usize, _: Mark, _: WireShift) -> Result<(), String> {
        Err("none".to_owned())
    }
}

struct Served {
    entry: Entry,
    stop: Option<Box<dyn FnOnce() + Send>>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn new(place: Place, connections: usize, idle: Duration) -> Self {
        let (tell, told) = mpsc::channel();
        let (stop, stopped) = stopping();
        let thread = std::thread::spawn(move || {
            let config =
                Config { place, prefix: Box::new(|_| "/".to_owned()), limits: Limits { connections, idle } };
            let runs = Runs { shelf: Box::new(Empty), only: None };
            let ready = move |entry: &Entry| {
                tell.send(entry.clone()).unwrap();
                Ok(())
            };
            serve(runs, config, ready, stopped).unwrap();
        });
        Self { entry: told.recv().unwrap(), stop: Some(Box::new(stop)), thread: Some(thread) }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.entry.port.unwrap())).unwrap()
    }

    /// The user comes with the key; what the cookie is.
    fn cookie(&self) -> String {
        let answer = ask(self.connect(), &get(&self.entry.path, "Connection: close\r\n"));
        let cookie = answer.split("set-cookie: ").nth(1).unwrap_or_else(|| panic!("{answer}"));
        format!("Cookie: {}\r\n", cookie.split(';').next().unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.take().unwrap()();
        assert!(self.thread.take().unwrap().join().is_ok() || std::thread::panicking());
    }
}

fn get(path: &str, more: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n")
}

/// All that comes back until the server hangs up.
fn ask(mut stream: impl Read + Write, request: &str) -> String {
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    // Who was hung up on by force has got what came before.
    stream.read_to_end(&mut answer).ok();
    String::from_utf8_lossy(&answer).into_owned()
}

/// Waits for the server to hang up; what it has said.
fn hung_up(mut stream: impl Read) -> String {
    let mut said = Vec::new();
    stream.read_to_end(&mut said).ok();
    String::from_utf8_lossy(&said).into_owned()
}

#[test]
fn who_says_nothing_is_hung_up_on() {
    let served = Served::new(Place::Port(0), 100, SOON);
    let cookie = served.cookie();
    assert_eq!(hung_up(served.connect()), "", "no letter at all");
    let mut half = served.connect();
    half.write_all(b"GET / HTTP/1.1\r\nHost: loc").unwrap();
    hung_up(half);
    // One that is answered, and says nothing more.
    let answer = ask(served.connect(), &get("/api/runs", &cookie));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // A body that never ends.
    let body =
        format!("POST /run/0/api/answer HTTP/1.1\r\nHost: localhost\r\n{cookie}Content-Length: 9\r\n\r\n{{");
    let answer = ask(served.connect(), &body);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    let dir = tempfile::tempdir().unwrap();
    let socket: PathBuf = dir.path().join("view.sock");
    let served = Served::new(Place::Socket(socket.clone()), 100, SOON);
    assert_eq!(served.entry.port, None);
    hung_up(UnixStream::connect(&socket).unwrap());
}

#[test]
fn the_user_finds_a_place_among_many() {
    const MOST: usize = 8;
    let served = Served::new(Place::Port(0), MOST, EVER);
    let crowd = || (0..3 * MOST).map(|_| served.connect()).collect::<Vec<_>>();
    let mut before = crowd();
    let cookie = served.cookie();
    // The first of them had to go, and nobody else has to wait.
    hung_up(before.remove(0));

    // Who has shown the cookie keeps the place, whoever comes.
    let mut mine = served.connect();
    let request = get("/api/runs", &cookie);
    let mut once = || {
        mine.write_all(request.as_bytes()).unwrap();
        let mut answer = [0; 4096];
        let read = mine.read(&mut answer).unwrap();
        assert!(answer[..read].starts_with(b"HTTP/1.1 200"));
    };
    once();
    let behind = crowd();
    let request = get("/api/runs", "Connection: close\r\n");
    assert!(ask(served.connect(), &request).starts_with("HTTP/1.1 401"), "all are listened to");
    once();
    drop((before, behind));
}

#[test]
fn one_who_has_begun_a_request_does_not_hold_up_the_end() {
    let served = Served::new(Place::Port(0), 8, EVER);
    let silent = served.connect();
    let request = get("/api/runs", "Connection: close\r\n");
    assert!(ask(served.connect(), &request).starts_with("HTTP/1.1 401"));
    drop(served);
    hung_up(silent);
}
