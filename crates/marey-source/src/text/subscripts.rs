//! Which elements a subscript means, as far as its text shows.
//!
//! The one idea: most subscripts of loops are a variable times a number plus a number; two of that kind can be compared
//! without the values. Source: the tests of single subscripts in Goff, Kennedy and Tseng, *Practical Dependence Testing*
//! (1991).
//!
//! Deliberately absent: what a variable is worth, and subscripts of several variables at once. Of those nothing is said, so
//! whoever asks must take it that they may mean the same element.

use rustc_hash::FxHashSet;
use tree_sitter::Node;

/// A number, or a variable times a number plus a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Linear {
    /// The variable, in small letters; `None` = a number alone.
    pub(super) variable: Option<String>,
    factor: i64,
    plus: i64,
}

/// What stands for one dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subscript {
    /// One element.
    One(Linear),
    /// From the least element to the greatest; `None` = as far as the array goes.
    Range(Option<Linear>, Option<Linear>),
    /// Something else, in which these variables stand.
    Other(Vec<String>),
}

/// A variable that counts iterations.
#[derive(Debug)]
pub(super) struct Counter {
    pub(super) name: String,
    /// By how much; `None` = not a number.
    pub(super) step: Option<i64>,
    /// How many there are; `None` = not a number.
    pub(super) iterations: Option<i64>,
}

/// What changes from one iteration of a loop to the next.
#[derive(Debug, Default)]
pub(super) struct Variables {
    /// Variables that count its iterations.
    pub(super) counters: Vec<Counter>,
    /// Other variables that are given values in it, and in loops within.
    pub(super) assigned: FxHashSet<String>,
    /// Variables that are given to procedures there, which may change them.
    pub(super) passed: FxHashSet<String>,
    /// Whether iterations have no order: those of `forall` and `do concurrent`.
    pub(super) is_unordered: bool,
}

impl Variables {
    /// Whether one of these names surely changes.
    pub(super) fn change_any(&self, names: &[String]) -> bool {
        names.iter().any(|name| self.counts(name) || self.assigned.contains(name))
    }

    fn counts(&self, name: &str) -> bool {
        self.counters.iter().any(|counter| counter.name == name)
    }

    /// Whether a name may be given any other value.
    pub(super) fn may_set(&self, name: &str) -> bool {
        self.assigned.contains(name) || self.passed.contains(name)
    }
}

/// How far apart in iterations of a loop two subscripts mean the same element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Apart {
    /// They do not say.
    Unknown,
    /// The second so many iterations after the first.
    By(i64),
    /// Never.
    Never,
}

/// Expressions that are deeper say nothing that could be compared.
const DEEPEST: u32 = 200;

impl Linear {
    /// What an expression says; `None` = nothing that could be compared.
    pub(super) fn of(node: Node<'_>, text: &[u8]) -> Option<Self> {
        Self::within(node, text, 0)
    }

    fn within(node: Node<'_>, text: &[u8], depth: u32) -> Option<Self> {
        // Nothing that anybody writes; but a text may have it, and a stack has an end.
        if depth > DEEPEST {
            return None;
        }
        let word = || std::str::from_utf8(text.get(node.byte_range())?).ok();
        match node.kind() {
            "number_literal" => {
                Some(Self { variable: None, factor: 0, plus: word()?.split('_').next()?.parse().ok()? })
            }
            "identifier" => Some(Self { variable: Some(word()?.to_ascii_lowercase()), factor: 1, plus: 0 }),
            "parenthesized_expression" => Self::within(node.named_child(0)?, text, depth + 1),
            "unary_expression" => {
                let inner = Self::within(node.child_by_field_name("argument")?, text, depth + 1)?;
                match operator(node)? {
                    "+" => Some(inner),
                    "-" => inner.times(-1),
                    _ => None,
                }
            }
            "math_expression" => {
                let left = Self::within(node.child_by_field_name("left")?, text, depth + 1)?;
                let right = Self::within(node.child_by_field_name("right")?, text, depth + 1)?;
                match operator(node)? {
                    "+" => left.and(right),
                    "-" => left.and(right.times(-1)?),
                    "*" if left.variable.is_none() => right.times(left.plus),
                    "*" if right.variable.is_none() => left.times(right.plus),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn times(self, number: i64) -> Option<Self> {
        let (factor, plus) = (self.factor.checked_mul(number)?, self.plus.checked_mul(number)?);
        Some(Self { variable: self.variable.filter(|_| factor != 0), factor, plus })
    }

    fn and(self, other: Self) -> Option<Self> {
        let variable = match (self.variable, other.variable) {
            (Some(one), Some(other)) if one == other => Some(one),
            (Some(_), Some(_)) => return None,
            (one, other) => one.or(other),
        };
        let (factor, plus) = (self.factor.checked_add(other.factor)?, self.plus.checked_add(other.plus)?);
        Some(Self { variable: variable.filter(|_| factor != 0), factor, plus })
    }

    /// The number, if it is one.
    pub(super) const fn number(&self) -> Option<i64> {
        if self.variable.is_none() { Some(self.plus) } else { None }
    }

    /// What it is worth, where `of` says what variables are.
    pub(super) fn worth(&self, of: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        match &self.variable {
            None => Some(self.plus),
            Some(name) => self.factor.checked_mul(of(name)?)?.checked_add(self.plus),
        }
    }

    /// Whether it is surely less than another one, where `is_fixed` says which variables have one value.
    fn is_less(&self, other: &Self, is_fixed: &dyn Fn(&str) -> bool) -> bool {
        let is_same = self.variable == other.variable && self.factor == other.factor;
        is_same && self.variable.as_deref().is_none_or(is_fixed) && self.plus < other.plus
    }
}

fn operator<'t>(node: Node<'t>) -> Option<&'t str> {
    let mut cursor = node.walk();
    let found = node.children(&mut cursor).find(|child| !child.is_named())?;
    Some(found.kind())
}

impl Subscript {
    /// What an argument of a reference says, in which these variables stand.
    pub(super) fn of(node: Node<'_>, text: &[u8], names: Vec<String>) -> Self {
        if node.kind() != "extent_specifier" {
            return Linear::of(node, text).map_or(Self::Other(names), Self::One);
        }
        let (mut parts, mut colons) = ([None, None, None], 0_usize);
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if child.kind() == ":" {
                colons += 1;
            } else if let Some(part) = parts.get_mut(colons) {
                match Linear::of(child, text) {
                    Some(it) => *part = Some(it),
                    // An end that cannot be compared.
                    None => return Self::Other(names),
                }
            }
        }
        let [lower, upper, step] = parts;
        match step {
            Some(Linear { variable: Some(_), .. }) => Self::Other(names),
            Some(Linear { plus, .. }) if plus < 0 => Self::Range(upper, lower),
            _ => Self::Range(lower, upper),
        }
    }

    fn has(&self, is_one: &dyn Fn(&str) -> bool) -> bool {
        let ends = match self {
            Self::One(it) => [Some(it), None],
            Self::Range(lower, upper) => [lower.as_ref(), upper.as_ref()],
            Self::Other(names) => return names.iter().any(|name| is_one(name)),
        };
        ends.into_iter().flatten().filter_map(|it| it.variable.as_deref()).any(is_one)
    }

    /// Whether two subscripts can never mean the same element, where `is_fixed` says which variables have one value.
    pub(super) fn is_never(&self, other: &Self, is_fixed: &dyn Fn(&str) -> bool) -> bool {
        let least = |it: &Self| match it {
            Self::One(it) => Some(it.clone()),
            Self::Range(lower, _) => lower.clone(),
            Self::Other(_) => None,
        };
        let most = |it: &Self| match it {
            Self::One(it) => Some(it.clone()),
            Self::Range(_, upper) => upper.clone(),
            Self::Other(_) => None,
        };
        let is_before = |one: &Self, other: &Self| {
            most(one).zip(least(other)).is_some_and(|(most, least)| most.is_less(&least, is_fixed))
        };
        is_before(self, other) || is_before(other, self)
    }

    /// How many iterations of a loop after the first means an element the second means it too; `None` = neither says
    /// anything about that loop.
    pub(super) fn apart(&self, second: &Self, of: &Variables) -> Option<Apart> {
        let is_set = |name: &str| of.may_set(name);
        if self.has(&is_set) || second.has(&is_set) {
            return Some(Apart::Unknown);
        }
        let counts = |name: &str| of.counts(name);
        if !self.has(&counts) && !second.has(&counts) {
            return None;
        }
        let (Self::One(first), Self::One(second)) = (self, second) else { return Some(Apart::Unknown) };
        if first.variable != second.variable || first.factor != second.factor {
            return Some(Apart::Unknown);
        }
        // factor * i + plus = factor * j + plus': j - i is what is looked for, in steps of the counter.
        let counter = of.counters.iter().find(|it| Some(&it.name) == first.variable.as_ref());
        let difference = first.plus.checked_sub(second.plus);
        if difference == Some(0) {
            return Some(Apart::By(0));
        }
        let by = counter.and_then(|it| it.step).and_then(|step| first.factor.checked_mul(step));
        let (Some(difference), Some(by)) = (difference, by.filter(|by| *by != 0)) else {
            return Some(Apart::Unknown);
        };
        Some(match (difference.checked_rem(by), difference.checked_div(by)) {
            // As strong subscripts are tested: no further than the loop goes.
            (Some(0), Some(apart))
                if counter
                    .and_then(|it| it.iterations)
                    .is_some_and(|all| i128::from(apart).abs() >= i128::from(all)) =>
            {
                Apart::Never
            }
            (Some(0), Some(iterations)) => Apart::By(iterations),
            (Some(_), _) => Apart::Never,
            _ => Apart::Unknown,
        })
    }
}
