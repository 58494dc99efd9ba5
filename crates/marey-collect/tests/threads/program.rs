//! The same from Rust, whose locks are built on the futex.
use std::sync::{Arc, Barrier, Condvar, Mutex, mpsc};
use std::thread;

fn main() {
    let shared = Arc::new((Mutex::new(0_u64), Condvar::new(), Barrier::new(3)));
    let (sender, receiver) = mpsc::channel();
    let threads: Vec<_> = (0..3_u64)
        .map(|me| {
            let (shared, sender) = (Arc::clone(&shared), sender.clone());
            thread::Builder::new()
                .name(format!("worker {me}"))
                .spawn(move || {
                    for _ in 0..200 {
                        let mut turn = shared.0.lock().unwrap();
                        while *turn % 3 != me {
                            turn = shared.1.wait(turn).unwrap();
                        }
                        *turn += 1;
                        shared.1.notify_all();
                    }
                    shared.2.wait();
                    sender.send(me).unwrap();
                    thread::park();
                })
                .unwrap()
        })
        .collect();
    let mut got: Vec<u64> = (0..3).map(|_| receiver.recv().unwrap()).collect();
    got.sort();
    println!("got {got:?} after {}", shared.0.lock().unwrap());
    for thread in threads {
        thread.thread().unpark();
        thread.join().unwrap();
    }
    let failed = thread::spawn(|| if std::hint::black_box(true) { std::panic::panic_any(5) }).join();
    println!("panicked {}", failed.is_err());
}
