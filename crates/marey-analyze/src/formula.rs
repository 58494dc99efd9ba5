//! Derived metrics: numbers that users compute from quantities of a run.
//!
//! The one idea: an expression is read once and then asked of any run; what it needs, whether it is exact and which unit
//! it has follows from the quantities in it. Every complaint says where in the expression it is.
//!
//! The language and all names are those of `docs/compare.md`.
//!
//! What is deliberately absent: variables, functions of several values, comparisons.

mod parse;
mod quantities;
mod value;

use crate::digest::Digest;

pub use parse::{FormulaError, Wrong};
pub use quantities::{Of, QUANTITIES, Quantity, Unit};
pub use value::NoValue;

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Formula {
    root: Expr,
}

/// A part of an expression.
#[derive(Clone, PartialEq, Debug)]
enum Expr {
    Number(f64),
    Quantity(Ask),
    Negative(Box<Expr>),
    /// Operator, where it stands, and its sides.
    Two(Operator, usize, Box<[Expr; 2]>),
    Exact(Box<Expr>),
    HigherIsBetter(Box<Expr>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// A quantity of something.
#[derive(Clone, PartialEq, Debug)]
struct Ask {
    /// Where the name of the quantity stands in the expression, in characters.
    at: usize,
    /// Where the name of what it is of stands.
    of_at: usize,
    of: Whose,
    quantity: &'static Quantity,
    /// The name of the counter, if it is one, and where that stands.
    counter: Option<(String, usize)>,
}

/// What a quantity is of.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Whose {
    Run,
    Region(String),
    Level(String),
    Function(String),
    Rank(u32),
}

/// A name that is in no run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownName {
    /// Where it stands in the expression, in characters.
    pub at: usize,
    /// `region`, `level`, `function`, `rank`, `counter`.
    pub what: &'static str,
    /// The name.
    pub name: String,
    /// One that is there and is written nearly so.
    pub like: Option<String>,
}

impl Formula {
    /// Reads an expression.
    ///
    /// # Errors
    /// Where it cannot be understood, and why.
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        parse::parse(text).map(|root| Self { root })
    }

    /// Its value in a run.
    ///
    /// # Errors
    /// Why there is none.
    pub fn value(&self, run: &Digest) -> Result<f64, NoValue> {
        value::value(&self.root, run)
    }

    /// Whether it asks for something that only the events of a run tell.
    pub fn needs_events(&self) -> bool {
        self.asks().iter().any(|ask| ask.quantity.needs_events)
    }

    /// Whether its value does not depend on the speed of the machine.
    pub fn is_exact(&self) -> bool {
        is_exact(&self.root)
    }

    /// Whether more of it is better: it says so, or is an efficiency.
    pub fn is_higher_better(&self) -> bool {
        match &self.root {
            Expr::HigherIsBetter(_) => true,
            Expr::Exact(inner) => Self { root: (**inner).clone() }.is_higher_better(),
            Expr::Quantity(ask) => ask.quantity.is_efficiency,
            _ => false,
        }
    }

    /// Whether it counts visits, and nothing else.
    pub fn counts_visits(&self) -> bool {
        let asks = self.asks();
        !asks.is_empty() && asks.iter().all(|ask| ask.quantity.name == "visits")
    }

    /// Its unit; `None` = times and sizes are added, or the like.
    pub fn unit(&self) -> Option<Unit> {
        quantities::unit(&self.root)
    }

    /// The first name in it that none of the runs has.
    pub fn unknown_name(&self, runs: &[&Digest]) -> Option<UnknownName> {
        self.asks().into_iter().find_map(|ask| value::unknown_name(ask, runs))
    }

    /// Regions and functions that it asks for by name.
    pub fn named(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for ask in self.asks() {
            let found = match &ask.of {
                Whose::Region(name) | Whose::Function(name) => Some(name.as_str()),
                _ => None,
            };
            names.extend(found.filter(|name| !names.contains(name)));
        }
        names
    }

    fn asks(&self) -> Vec<&Ask> {
        let mut asks = Vec::new();
        collect(&self.root, &mut asks);
        asks
    }
}

fn collect<'e>(expr: &'e Expr, asks: &mut Vec<&'e Ask>) {
    match expr {
        Expr::Number(_) => {}
        Expr::Quantity(ask) => asks.push(ask),
        Expr::Negative(inner) | Expr::Exact(inner) | Expr::HigherIsBetter(inner) => collect(inner, asks),
        Expr::Two(.., sides) => sides.iter().for_each(|side| collect(side, asks)),
    }
}

fn is_exact(expr: &Expr) -> bool {
    match expr {
        Expr::Number(_) | Expr::Exact(_) => true,
        Expr::Quantity(ask) => ask.quantity.is_exact,
        Expr::Negative(inner) | Expr::HigherIsBetter(inner) => is_exact(inner),
        Expr::Two(.., sides) => sides.iter().all(is_exact),
    }
}
