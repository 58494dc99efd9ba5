//! Allocates by Rust's means; what is expected of each function is worked out in the test.

use std::hint::black_box;

#[inline(never)]
fn growing() -> usize {
    let mut numbers: Vec<u64> = Vec::new();
    for number in 0..100_000 {
        numbers.push(number);
    }
    black_box(&numbers).len()
}

#[inline(never)]
fn zeroed() {
    for len in 0..5 {
        black_box(vec![0_u8; 50_000 + len]);
    }
}

#[inline(never)]
fn forgotten() {
    std::mem::forget(black_box(Box::new([1_u8; 10_000])));
}

#[inline(never)]
fn handed_over() {
    let block = black_box(Vec::<u8>::with_capacity(20_000));
    std::thread::spawn(move || drop(black_box(block))).join().unwrap();
}

fn main() {
    let sum = growing();
    zeroed();
    forgotten();
    handed_over();
    println!("{sum}");
}
