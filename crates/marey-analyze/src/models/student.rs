//! Student's distribution: how far chance goes with few measurements.
//!
//! The one idea: for whole degrees of freedom its probabilities are finite sums (M. Abramowitz, I. A. Stegun, *Handbook of
//! Mathematical Functions*, 26.7.3 and 26.7.4), and a quantile is found by halving.

/// The probability that a value lies between −t and t, with `t = tan(angle)·√freedom`.
fn between(angle: f64, freedom: u32) -> f64 {
    let (sin, cos) = angle.sin_cos();
    let mut sum = 0.0;
    if freedom.is_multiple_of(2) {
        let mut part = 1.0;
        for i in (2..=freedom).step_by(2) {
            sum += part;
            part *= f64::from(i - 1) / f64::from(i) * cos * cos;
        }
        return sum * sin;
    }
    let mut part = cos;
    for i in (3..=freedom).step_by(2) {
        sum += part;
        part *= f64::from(i - 1) / f64::from(i) * cos * cos;
    }
    std::f64::consts::FRAC_2_PI * (angle + sin * sum)
}

/// The quantile of Student's distribution, of a probability between ½ and 1.
pub fn student(probability: f64, freedom: u32) -> f64 {
    // Beyond that it is the normal distribution.
    let freedom = freedom.clamp(1, 10_000);
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        if between(middle, freedom) < 2.0 * probability - 1.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high).tan() * f64::from(freedom).sqrt()
}
