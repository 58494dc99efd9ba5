//! Which elements a subscript means, as far as its text shows.
//!
//! The one idea: most subscripts of loops are a variable times a number plus a number; two of that kind can be compared
//! without the values. Source: the tests of single subscripts in Goff, Kennedy and Tseng, *Practical Dependence Testing*
//! (1991).
//!
//! Deliberately absent: what a variable is worth, and subscripts of several variables at once. Of those nothing is said, so
//! whoever asks must take it that they may mean the same element.

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
    /// From one element to another; `None` = from where the array begins, or as far as it goes.
    Range(Option<Linear>, Option<Linear>),
    /// Something else.
    Other,
}

/// What changes from one iteration of a loop to the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Variables {
    /// Variables that count its iterations.
    pub(super) counters: Vec<String>,
    /// Other variables that are given values in it, and in no loop within.
    pub(super) assigned: Vec<String>,
}

impl Variables {
    /// Whether one of these names is among them.
    pub(super) fn have_any(&self, names: &[String]) -> bool {
        names.iter().any(|name| self.counters.contains(name) || self.assigned.contains(name))
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

impl Linear {
    /// What an expression says; `None` = nothing that could be compared.
    pub(super) fn of(node: Node<'_>, text: &[u8]) -> Option<Self> {
        let word = || std::str::from_utf8(text.get(node.byte_range())?).ok();
        match node.kind() {
            "number_literal" => {
                Some(Self { variable: None, factor: 0, plus: word()?.split('_').next()?.parse().ok()? })
            }
            "identifier" => Some(Self { variable: Some(word()?.to_ascii_lowercase()), factor: 1, plus: 0 }),
            "parenthesized_expression" => Self::of(node.named_child(0)?, text),
            "unary_expression" => {
                let inner = Self::of(node.child_by_field_name("argument")?, text)?;
                match operator(node)? {
                    "+" => Some(inner),
                    "-" => inner.times(-1),
                    _ => None,
                }
            }
            "math_expression" => {
                let left = Self::of(node.child_by_field_name("left")?, text)?;
                let right = Self::of(node.child_by_field_name("right")?, text)?;
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
    const fn number(&self) -> Option<i64> {
        if self.variable.is_none() { Some(self.plus) } else { None }
    }

    fn follows(&self, variables: &[String]) -> bool {
        self.variable.as_ref().is_some_and(|it| variables.contains(it))
    }
}

fn operator<'t>(node: Node<'t>) -> Option<&'t str> {
    let mut cursor = node.walk();
    let found = node.children(&mut cursor).find(|child| !child.is_named())?;
    Some(found.kind())
}

impl Subscript {
    /// What an argument of a reference says.
    pub(super) fn of(node: Node<'_>, text: &[u8]) -> Self {
        if node.kind() != "extent_specifier" {
            return Linear::of(node, text).map_or(Self::Other, Self::One);
        }
        let (mut bounds, mut colons) = ([None, None], 0_usize);
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if child.kind() == ":" {
                colons += 1;
            } else if let Some(bound) = bounds.get_mut(colons) {
                match Linear::of(child, text) {
                    Some(it) => *bound = Some(it),
                    // An end that cannot be compared.
                    None => return Self::Other,
                }
            }
        }
        let [lower, upper] = bounds;
        Self::Range(lower, upper)
    }

    /// Whether it follows one of these variables.
    fn follows(&self, variables: &[String]) -> bool {
        let is_so = |it: &Option<Linear>| it.as_ref().is_some_and(|it| it.follows(variables));
        match self {
            Self::One(it) => it.follows(variables),
            Self::Range(lower, upper) => is_so(lower) || is_so(upper),
            Self::Other => false,
        }
    }

    /// Whether two subscripts can never mean the same element, whatever variables are worth.
    fn is_never(&self, other: &Self) -> bool {
        let least = |it: &Self| match it {
            Self::One(it) => it.number(),
            Self::Range(lower, _) => lower.as_ref().and_then(Linear::number),
            Self::Other => None,
        };
        let most = |it: &Self| match it {
            Self::One(it) => it.number(),
            Self::Range(_, upper) => upper.as_ref().and_then(Linear::number),
            Self::Other => None,
        };
        let is_before =
            |one: &Self, other: &Self| most(one).zip(least(other)).is_some_and(|(most, least)| most < least);
        is_before(self, other) || is_before(other, self)
    }

    /// How many iterations of a loop after the first means an element the second means it too; `None` = neither says
    /// anything about that loop.
    pub(super) fn apart(&self, second: &Self, of: &Variables) -> Option<Apart> {
        if self.is_never(second) {
            return Some(Apart::Never);
        }
        if self.follows(&of.assigned) || second.follows(&of.assigned) {
            return Some(Apart::Unknown);
        }
        if !self.follows(&of.counters) && !second.follows(&of.counters) {
            return None;
        }
        let (Self::One(first), Self::One(second)) = (self, second) else { return Some(Apart::Unknown) };
        if first.variable != second.variable || first.factor != second.factor {
            return Some(Apart::Unknown);
        }
        // factor * i + plus = factor * j + plus': j - i is what is looked for.
        let difference = first.plus.checked_sub(second.plus);
        Some(match difference.zip(difference.and_then(|it| it.checked_rem(first.factor))) {
            Some((difference, 0)) => difference.checked_div(first.factor).map_or(Apart::Unknown, Apart::By),
            Some(_) => Apart::Never,
            None => Apart::Unknown,
        })
    }
}
