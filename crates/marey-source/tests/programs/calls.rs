use std::ffi::{c_char, c_int};
unsafe extern "C" { fn probe(line: c_int, function: *const c_char); }

mod halo {
    pub struct Solver(pub u32);
    impl Solver {
        #[inline(never)]
        pub fn step(&mut self) {
            unsafe { probe(line!() as c_int, c"calls::halo::Solver::step".as_ptr()) };
            self.0 += 1;
        }
    }
    use super::*;
}

#[inline(never)]
fn generic<T: Default + std::fmt::Debug>() -> T {
    unsafe { probe(line!() as c_int, c"calls::generic".as_ptr()) };
    std::hint::black_box(T::default())
}

fn main() {
    let mut solver = halo::Solver(0);
    solver.step();
    let zero: u32 = generic();
    unsafe { probe(line!() as c_int, c"calls::main".as_ptr()) };
    std::process::exit((solver.0 + zero) as i32 - 1);
}
