//! A loop in which each iteration needs the one before; a line is exchanged to make it free of that.

#[inline(never)]
fn sweep(grid: &mut [f32], source: &[f32], old: &[f32], factor: f32) {
    let n = grid.len().min(source.len()).min(old.len());
    let (grid, source, old) = (&mut grid[..n], &source[..n], &old[..n]);
    grid[0] = old[0];
    let mut i = 1;
    while i < n { // the loop
        grid[i] = grid[i - 1] * factor + source[i];
        i += 1;
    }
}

fn main() {
    let times: u32 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    let source: Vec<f32> = (0..4096).map(|i| (i % 7) as f32).collect();
    let old: Vec<f32> = (0..4096).map(|i| (i % 5) as f32).collect();
    let mut grid = vec![0.0; 4096];
    for _ in 0..times {
        sweep(&mut grid, &source, &old, 0.5);
    }
    println!("{}", grid[4095]);
}
