//! Waits as Rust programs do: a line for each function, `CALL FUNCTION CALLS LEAST_NS OWN_NS`, by its own clock. CALL
//! is what the standard library makes of it, `|` between those that it might be.
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

fn timed(what: &str, calls: u32, least: Duration, f: impl FnOnce()) {
    let began = Instant::now();
    f();
    println!("{what} {calls} {} {}", least.as_nanos(), began.elapsed().as_nanos());
}

#[inline(never)]
fn naps(each: Duration) -> Instant {
    for _ in 0..3 {
        sleep(each);
    }
    // Or the last call would be a jump, and nobody could see where it came from.
    Instant::now()
}

#[inline(never)]
fn accepts(listener: &TcpListener) -> TcpStream {
    listener.accept().unwrap().0
}

#[inline(never)]
fn receives(socket: &UnixDatagram) -> usize {
    socket.recv(&mut [0; 8]).unwrap()
}

#[inline(never)]
fn runs() -> bool {
    Command::new("sleep").arg("0.02").status().unwrap().success()
}

fn main() {
    let each = Duration::from_millis(20);
    timed("nanosleep|clock_nanosleep naps", 3, 3 * each, || _ = naps(each));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connects = std::thread::spawn(move || {
        sleep(Duration::from_millis(30));
        TcpStream::connect(address).unwrap().write_all(b"abc").unwrap();
    });
    timed("accept4 accepts", 1, Duration::ZERO, || {
        let mut text = Vec::new();
        accepts(&listener).read_to_end(&mut text).unwrap();
        assert_eq!(text, b"abc");
    });
    connects.join().unwrap();
    let (one, other) = UnixDatagram::pair().unwrap();
    let sends = std::thread::spawn(move || {
        sleep(Duration::from_millis(30));
        other.send(b"ab").unwrap();
    });
    timed("recv|recvfrom receives", 1, Duration::ZERO, || assert_eq!(receives(&one), 2));
    sends.join().unwrap();
    timed("waitpid|waitid|poll runs", 1, Duration::ZERO, || assert!(runs()));
}
