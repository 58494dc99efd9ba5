//! Traits, generics and what ends.

/// With a default.
pub trait Shape {
    /// Of the plane.
    fn area(&self) -> f64;
    /// In a text.
    fn told(&self) -> String {
        format!("{:.1}", self.area())
    }
}

/// A square.
pub struct Square(pub f64);
/// A circle of any number.
pub struct Circle<T>(pub T);

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl<T: Copy + Into<f64>> Shape for Circle<T> {
    fn area(&self) -> f64 {
        3.0 * self.0.into() * self.0.into()
    }
    fn told(&self) -> String {
        "round".to_owned()
    }
}

impl Drop for Square {
    fn drop(&mut self) {
        self.0 = 0.0;
    }
}

/// Of any shapes.
pub fn largest<'s>(shapes: &'s [&'s dyn Shape]) -> Option<&'s dyn Shape> {
    shapes.iter().copied().max_by(|one, other| one.area().total_cmp(&other.area()))
}

/// For whoever calls it from elsewhere.
pub extern "C" fn called_back(n: i32) -> i32 {
    n + 1
}
