//! A program in Rust that panics, spawns, and ends in odd ways.
use std::process::Command;
use std::sync::mpsc;
use std::thread;

unsafe extern "C" {
    safe fn odd_visits(times: u32);
    safe fn odd_start(seed: u32);
    safe fn odd_number(below: u32) -> u32;
}

struct Late(u32);
impl Drop for Late {
    fn drop(&mut self) {
        odd_visits(self.0);
    }
}
thread_local! {
    static LATE: Late = const { Late(3) };
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    odd_start(words[2].parse().unwrap());
    std::panic::set_hook(Box::new(|_| odd_visits(1)));
    match words[1].as_str() {
        "panics" => {
            for _ in 0..odd_number(20) {
                let result = thread::spawn(|| {
                    LATE.with(|late| odd_visits(late.0));
                    let _unwound = Late(2);
                    panic!("as planned");
                });
                assert!(result.join().is_err());
            }
        }
        "channels" => {
            let (send, receive) = mpsc::sync_channel(4);
            let threads: Vec<_> = (0..8_u32)
                .map(|number| {
                    let send = send.clone();
                    thread::spawn(move || {
                        odd_visits(number);
                        (0..200).for_each(|_| send.send(number).unwrap());
                    })
                })
                .collect();
            drop(send);
            println!("{}", receive.iter().sum::<u32>());
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
        "spawns" => {
            odd_visits(odd_number(100));
            let output = Command::new("sh").args(["-c", "echo child; exit 3"]).output().unwrap();
            println!("{:?} {:?}", output.status.code(), String::from_utf8_lossy(&output.stdout));
        }
        "exits" => {
            LATE.with(|late| odd_visits(late.0));
            thread::spawn(|| std::process::exit(131)).join().unwrap();
        }
        "aborts" => {
            odd_visits(odd_number(100));
            std::process::abort();
        }
        other => println!("no {other}"),
    }
    println!("{} done", words[1]);
    std::process::exit(130);
}
