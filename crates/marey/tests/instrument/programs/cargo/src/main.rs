//! The program.
use things::shapes::{called_back, largest, Circle, Shape, Square};

fn quietly<T>(run: impl FnOnce() -> T + std::panic::UnwindSafe) -> Option<T> {
    std::panic::set_hook(Box::new(|_| {}));
    std::panic::catch_unwind(run).ok()
}

fn main() {
    let threads: Vec<_> = (10..13).map(|n| std::thread::spawn(move || things::fib(n))).collect();
    let sum: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    println!("{} {} {}", sum, things::fib(15), things::square(4));
    println!("{:?}", quietly(|| things::deep(6)));
    println!("{:?}", (0..12).map(things::early).collect::<Vec<_>>());
    println!("{} {} {}", things::outer(), things::double(4), line!());
    drop(things::later());
    let (square, one, two) = (Square(2.0), Circle(1.5_f32), Circle(2_u8));
    let found = largest(&[&square, &one, &two]).map(|it| it.told());
    println!("{found:?} {} {} {}", square.told(), called_back(1), file!());
    if let Some(calls) = std::env::args().nth(1) {
        let calls = calls.parse().unwrap();
        let threads: Vec<_> = (0..2).map(|_| std::thread::spawn(move || things::warm(calls))).collect();
        let sum = threads.into_iter().fold(0_u64, |sum, thread| sum.wrapping_add(thread.join().unwrap()));
        println!("{sum}");
    }
    std::process::exit(5);
}
