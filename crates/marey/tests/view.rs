//! The server of `marey view`, asked as a browser asks, and as somebody who should not.
//!
//! Requests are written by hand, letter by letter: a client library would mend what must be refused.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod again;
mod beside;
mod listed;
mod replaced;
mod sample;
mod shifted;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A viewer that is being served.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn new(dir: &Path, words: &[&str]) -> Self {
        let run = dir.join("run.marey");
        if !run.exists() {
            sample::write(&run);
        }
        Self::asked_for(dir, &[&["run.marey"], words].concat())
    }

    fn asked_for(dir: &Path, words: &[&str]) -> Self {
        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        // The list of recent runs is of this test alone.
        marey
            .args(["view", "--no-open"])
            .args(words)
            .current_dir(dir)
            .env("XDG_STATE_HOME", dir.join(".state"));
        let mut child = marey.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { child, address: address.trim().to_owned() }
    }

    /// Host with port, and the path with the key.
    fn parts(&self) -> (&str, &str) {
        let rest = self.address.strip_prefix("http://").unwrap();
        rest.split_at(rest.find('/').unwrap())
    }

    /// A path of the page, behind what all of them begin with.
    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.prefix().trim_end_matches('/'))
    }

    /// What they begin with.
    fn prefix(&self) -> &str {
        self.parts().1.split_once('?').unwrap().0
    }

    fn ask(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(self.parts().0).unwrap();
        talk(&mut stream, request)
    }

    /// Ends it by a signal that it does not see.
    fn kill(self) {
        let mut served = std::mem::ManuallyDrop::new(self);
        served.child.kill().unwrap();
        served.child.wait().unwrap();
    }

    /// Comes with the key, as a browser does; what it is to say from then on.
    fn cookie(&self) -> String {
        let (host, path) = self.parts();
        let answer = self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
        assert_eq!(answer.status, 303);
        answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).ok();
        assert!(self.child.wait().is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(it, _)| it.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

fn talk(stream: &mut (impl Read + Write), request: &str) -> Answer {
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head, body: bytes[end + 4..].to_vec() }
}

/// A question to the engine.
fn question(host: &str, path: &str, more: &str, body: &str) -> String {
    format!(
        "POST {path}api/answer HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn a_key_opens_the_page_once() {
    let dir = tempfile::tempdir().unwrap();
    let served = Served::new(dir.path(), &[]);
    let (host, path) = served.parts();
    let entry = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let looked = entry.replace("GET", "HEAD");
    assert_eq!(served.ask(&looked).status, 401, "who only looks does not use it");
    let first = served.ask(&entry);
    assert_eq!((first.status, first.header("location")), (303, Some(served.prefix())));
    let cookie = first.header("set-cookie").unwrap();
    // Servers of others on this machine are not told: they do not know the path.
    assert!(served.prefix().len() > 16, "{}", served.address);
    let scope = format!("; HttpOnly; SameSite=Strict; Path={}", served.prefix());
    assert!(cookie.ends_with(&scope), "{cookie}");
    let again = served.ask(&entry);
    assert_eq!((again.status, again.header("set-cookie")), (401, None), "the key works once");
    let key = path.split_once('?').unwrap().1;
    let used = format!(
        "POST {}api/answer?{key} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        served.prefix()
    );
    assert_eq!(served.ask(&used).status, 401, "nor does it open what is behind the page");
    let pair = cookie.split(';').next().unwrap();
    let answer =
        served.ask(&question(host, served.prefix(), &format!("Cookie: {pair}\r\n"), r#"{"ask":"run"}"#));
    assert_eq!(answer.status, 200);
    assert!(String::from_utf8_lossy(&answer.body).contains(r#""kind":"run""#));
}

#[test]
fn nobody_else_is_answered() {
    let dir = tempfile::tempdir().unwrap();
    let served = Served::new(dir.path(), &[]);
    let cookie = format!("Cookie: {}\r\n", served.cookie());
    let host = served.parts().0;
    let run = r#"{"ask":"run"}"#;
    let status = |host: &str, more: &str| served.ask(&question(host, served.prefix(), more, run)).status;
    assert_eq!(status(host, &cookie), 200);
    assert_eq!(status(host, ""), 401, "without the cookie");
    assert_eq!(status(host, "Cookie: marey=1\r\n"), 401, "with another");
    assert_eq!(status("evil.example", &cookie), 421, "by a name that was made to point here");
    assert_eq!(status(host, &format!("{cookie}Origin: http://evil.example\r\n")), 403, "by another page");
    assert_eq!(status(host, &format!("{cookie}Origin: null\r\n")), 403, "by a page of a file");
    assert_eq!(status(host, &format!("{cookie}Origin: http://{host}\r\n")), 200, "by its own page");
    for path in ["", "assets/marey.js", "api/answer", "anything"] {
        let request =
            format!("GET {}{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n", served.prefix());
        assert_eq!(served.ask(&request).status, 401, "{path}");
    }
    // Who does not know the path does not learn it.
    let elsewhere = served.ask(&question(host, "/", &cookie, run));
    assert_eq!(elsewhere.status, 404);
    assert!(String::from_utf8_lossy(&elsewhere.body).contains("the address that `marey view` printed"));
    assert!(!String::from_utf8_lossy(&elsewhere.body).contains(served.prefix().trim_matches('/')));
}

#[test]
fn a_page_may_load_its_own_files_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let served = Served::new(dir.path(), &[]);
    let cookie = served.cookie();
    let host = served.parts().0;
    let prefix = served.prefix().trim_end_matches('/');
    let get = |path: &str| {
        served.ask(&format!(
            "GET {prefix}{path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
        ))
    };
    let page = get("/");
    assert_eq!(page.status, 200);
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    std::fs::write(dir.path().join("secret"), "secret").unwrap();
    for path in
        ["/secret", "/../secret", "/%2e%2e/secret", "/..%2fsecret", "//etc/passwd", "/assets/../../secret"]
    {
        let answer = get(path);
        assert!(answer.status == 404 || answer.status == 400, "{path}: {}", answer.status);
        assert!(!String::from_utf8_lossy(&answer.body).contains("secret\n"));
    }
}

#[test]
fn nonsense_is_refused_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let served = Served::new(dir.path(), &[]);
    let cookie = format!("Cookie: {}\r\n", served.cookie());
    let host = served.parts().0;
    let window = r#"{"ask":"states","from_ns":5,"to_ns":5,"resolution_log2":0,"locations":[],"exact":false}"#;
    for (body, reason) in [
        ("", "EOF"),
        ("[]", "missing field"),
        (r#"{"ask":"everything"}"#, "unknown variant"),
        (r#"{"ask":"states"}"#, "missing field"),
        (window, "is empty"),
        (&window.replace("5,\"to_ns\":5", "0,\"to_ns\":9007199254740991"), "more than a picture holds"),
    ] {
        let answer = served.ask(&question(host, served.prefix(), &cookie, body));
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(text.contains(r#""kind":"error""#) && text.contains(reason), "{body}: {text}");
    }
    let large = served.ask(&question(host, served.prefix(), &cookie, &" ".repeat(2 << 20)));
    assert_eq!(large.status, 413);
}

/// A page whose server was started again goes on; who takes the port of another server has another path.
#[test]
fn a_port_keeps_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let first = Served::new(dir.path(), &[]);
    let port = first.parts().0.rsplit_once(':').unwrap().1.to_owned();
    let (prefix, cookie) = (first.prefix().to_owned(), first.cookie());
    let beside = Served::asked_for(dir.path(), &["run.marey"]);
    assert_ne!(beside.prefix(), prefix, "each port has its own");
    drop(first);
    let again = Served::asked_for(dir.path(), &["run.marey", "--port", &port]);
    assert_eq!(again.prefix(), prefix);
    assert_ne!(again.cookie(), cookie, "the way in is another");
    drop(again);
    // What nobody could have written there is as if it were not there.
    let places = dir.path().join(".state/marey/places");
    assert_eq!(std::fs::metadata(&places).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::write(&places, format!("{port} ../../etc\n{port}\n\n70000 0123456789abcdef\n")).unwrap();
    let other = Served::asked_for(dir.path(), &["run.marey", "--port", &port]);
    assert!(other.prefix() != prefix && other.prefix().len() == prefix.len(), "{}", other.address);
    drop(other);
    // Nor does anybody wait for a pipe.
    std::fs::remove_file(&places).unwrap();
    assert!(Command::new("mkfifo").arg(&places).status().unwrap().success());
    assert_eq!(Served::asked_for(dir.path(), &["run.marey"]).prefix().len(), prefix.len());
}

#[test]
fn behind_a_prefix_and_on_a_socket() {
    let dir = tempfile::tempdir().unwrap();
    let served = Served::new(dir.path(), &["--prefix", "some/where"]);
    assert!(served.parts().1.starts_with("/some/where/?key="), "{}", served.address);
    let cookie = served.cookie();
    let more = format!("Cookie: {cookie}\r\n");
    let host = served.parts().0;
    assert_eq!(served.ask(&question(host, "/some/where/", &more, r#"{"ask":"run"}"#)).status, 200);
    assert_eq!(served.ask(&question(host, "/", &more, r#"{"ask":"run"}"#)).status, 404);
    drop(served);

    let served = Served::new(dir.path(), &["--socket", "view.sock"]);
    let socket = dir.path().join("view.sock");
    assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    let path = served.parts().1;
    let mut stream = UnixStream::connect(&socket).unwrap();
    let entry = format!("GET {path} HTTP/1.1\r\nHost: localhost:8080\r\nConnection: close\r\n\r\n");
    assert_eq!(talk(&mut stream, &entry).status, 303);
    assert!(
        served.address.starts_with(&format!("http://localhost:8080{}?key=", served.prefix())),
        "{}",
        served.address
    );
    drop(served);
    assert!(!socket.exists(), "it leaves nothing behind");

    // What a server left that was killed is no obstacle.
    drop(UnixListener::bind(&socket).unwrap());
    assert!(socket.exists());
    let served = Served::new(dir.path(), &["--socket", "view.sock"]);
    assert!(UnixStream::connect(&socket).is_ok());
    drop(served);
}

/// How a viewer ends, and the first line of its standard error. It is ended once that says where it is.
fn told(dir: &Path, words: &[&str], redirected: &str) -> (Option<i32>, String) {
    let marey = env!("CARGO_BIN_EXE_marey");
    let line = format!("exec \"$0\" view --no-open \"$@\" {redirected}");
    let mut child = Command::new("sh")
        .args(["-c", &line, marey])
        .args(words)
        .current_dir(dir)
        .env("XDG_STATE_HOME", dir.join(".state"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    lines.read_line(&mut first).unwrap();
    let is_serving = first.contains("key=");
    if is_serving {
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    }
    (child.wait().unwrap().code(), first)
}

#[test]
fn an_address_is_told_where_it_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    sample::write(&dir.path().join("run.marey"));
    for redirected in [">/dev/full", ">&-"] {
        let (code, line) = told(dir.path(), &["run.marey"], redirected);
        assert!(line.starts_with("http://127.0.0.1:"), "{redirected}: {line}");
        assert_eq!(code, Some(0), "{redirected}");
    }
    for redirected in [">/dev/full 2>/dev/full", ">&- 2>&-"] {
        assert_eq!(
            told(dir.path(), &["run.marey"], redirected).0,
            Some(1),
            "{redirected}: nobody can be told"
        );
    }
    // A reader who went away.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
    marey.args(["view", "--no-open", "run.marey"]).current_dir(dir.path());
    marey.env("XDG_STATE_HOME", dir.path().join(".state"));
    let (out, err) = (writer.try_clone().unwrap(), writer);
    let status = marey.stdin(Stdio::null()).stdout(out).stderr(err).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_socket_is_told_with_the_way_to_it() {
    let dir = tempfile::tempdir().unwrap();
    sample::write(&dir.path().join("run.marey"));
    std::fs::create_dir(dir.path().join("my place")).unwrap();
    let (code, line) = told(dir.path(), &["run.marey", "--socket", "my place/view.sock"], ">/dev/null");
    let socket = dir.path().canonicalize().unwrap().join("my place/view.sock");
    let command = format!("ssh -L 8080:'{}' ", socket.display());
    assert!(
        line.contains(&command) && line.contains("open http://localhost:8080/") && line.contains("/?key="),
        "{line}"
    );
    assert_eq!(code, Some(0));
}

#[test]
fn what_cannot_be_served_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let view = |words: &[&str]| {
        let mut marey = Command::new(env!("CARGO_BIN_EXE_marey"));
        let output =
            marey.arg("view").args(words).current_dir(dir.path()).stdin(Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, text) = view(&["nothing.marey", "--no-open"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("nothing.marey"), "{text}");
    sample::write(&dir.path().join("run.marey"));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (code, text) = view(&["run.marey", "--no-open", "--port", &port]);
    assert_eq!(code, Some(1));
    assert!(text.contains("cannot listen on 127.0.0.1"), "{text}");
    std::fs::write(dir.path().join("file"), "mine").unwrap();
    let listening = UnixListener::bind(dir.path().join("taken.sock")).unwrap();
    for (name, why) in
        [("file", "there is a file of that name"), ("taken.sock", "another server listens there")]
    {
        let (code, text) = view(&["run.marey", "--no-open", "--socket", name]);
        assert_eq!(code, Some(1));
        assert!(text.contains(why), "{text}");
    }
    drop(listening);
    assert_eq!(std::fs::read_to_string(dir.path().join("file")).unwrap(), "mine");
    let (code, text) = view(&["run.marey", "--prefix", "../x"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("a path such as /marey/"), "{text}");
}
