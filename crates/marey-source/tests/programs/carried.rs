//! One loop in which each iteration needs the one before, and the same without.

#[inline(never)]
fn carry(grid: &mut [f32], source: &[f32], factor: f32) {
    let n = grid.len().min(source.len());
    let (grid, source) = (&mut grid[..n], &source[..n]);
    let mut i = 1;
    while i < n { // loop carried
        grid[i] = grid[i - 1] * factor + source[i];
        i += 1;
    }
}

#[inline(never)]
fn spread(result: &mut [f32], source: &[f32], factor: f32) {
    let n = result.len().min(source.len());
    let (result, source) = (&mut result[..n], &source[..n]);
    let mut i = 0;
    while i < n { // loop free
        result[i] = source[i] * factor + 1.0;
        i += 1;
    }
}

fn main() {
    let mut grid = vec![0.0; 4096];
    let mut result = vec![0.0; 4096];
    let source = vec![1.0; 4096];
    carry(&mut grid, &source, 0.5);
    spread(&mut result, &source, 0.5);
    println!("{} {}", grid[4095], result[4095]);
}
