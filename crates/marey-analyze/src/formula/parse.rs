//! From the text of an expression to its parts.
//!
//! The one idea: one look ahead is enough, so the grammar is written down as functions; places are counted in characters,
//! as people and terminals do.

use super::quantities::{Of, QUANTITIES, nearest};
use super::{Ask, Expr, Operator, Whose};

/// What is wrong with an expression, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{wrong}")]
pub struct FormulaError {
    /// The character at which it shows, from 0.
    pub at: usize,
    /// What it is.
    pub wrong: Wrong,
}

/// What can be wrong with an expression.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Wrong {
    /// There is none.
    #[error("an expression is expected")]
    Empty,
    /// Something must follow.
    #[error("the expression ends where a number, a quantity or `(` is expected")]
    Ends,
    /// Something else must stand here.
    #[error("a number, a quantity or `(` is expected")]
    NoOperand,
    /// Two values stand side by side.
    #[error("an operator is expected: +, -, * or /")]
    NoOperator,
    /// A parenthesis is not closed.
    #[error("`)` is missing")]
    NotClosed,
    /// A parenthesis does not follow.
    #[error("`(` is expected")]
    NotOpened,
    /// A character that means nothing.
    #[error("`{0}` is not understood")]
    Character(char),
    /// A number that is none, or too large.
    #[error("`{0}` is not a number")]
    Number(String),
    /// A rank is a number.
    #[error("a number is expected")]
    NoNumber,
    /// And one without fraction.
    #[error("a whole number is expected")]
    NotWhole,
    /// A name is in quotes.
    #[error("a name in quotes is expected, such as \"MPI_Recv\"")]
    NoName,
    /// And is something.
    #[error("the name is empty")]
    EmptyName,
    /// And ends.
    #[error("the quote is not closed")]
    Quote,
    /// What of it?
    #[error("a quantity of the {0} is expected, such as .{1}")]
    NoQuantity(&'static str, &'static str),
    /// No such quantity.
    #[error("there is no quantity `{name}` of a {of}{}", .like.map_or_else(String::new, |like| format!("; did you mean `{like}`?")))]
    Unknown {
        /// What was written.
        name: String,
        /// Of what.
        of: &'static str,
        /// What may have been meant.
        like: Option<&'static str>,
    },
    /// Nobody needs that.
    #[error("parentheses and signs are nested too deeply")]
    TooDeep,
    /// Nor so much in a row.
    #[error("there are more than {MOST_OPERATORS} operators")]
    TooLong,
}

/// So that no expression overflows the stack.
const DEEPEST: usize = 100;

/// The same: what stands to the left of an operator is beneath it, so a chain is as deep as it is long.
const MOST_OPERATORS: usize = 2000;

pub(super) fn parse(text: &str) -> Result<Expr, FormulaError> {
    let tokens = tokens(text)?;
    let mut parser =
        Parser { tokens: &tokens, end: text.trim_end().chars().count(), depth: 0, n_operators: 0 };
    if tokens.is_empty() {
        return Err(error(0, Wrong::Empty));
    }
    let expr = parser.sum()?;
    match parser.tokens.first() {
        None => Ok(expr),
        Some((at, _)) => Err(error(*at, Wrong::NoOperator)),
    }
}

fn error(at: usize, wrong: Wrong) -> FormulaError {
    FormulaError { at, wrong }
}

#[derive(Clone, PartialEq, Debug)]
enum Token {
    Number(f64),
    Word(String),
    /// A name, without its quotes.
    Quoted(String),
    Sign(char),
}

/// A character with its place, counted in characters.
type Chars<'t> = std::iter::Peekable<std::iter::Enumerate<std::str::Chars<'t>>>;

fn take_while(chars: &mut Chars<'_>, mut is_it: impl FnMut(char) -> bool) -> String {
    let mut taken = String::new();
    while let Some((_, c)) = chars.next_if(|&(_, c)| is_it(c)) {
        taken.push(c);
    }
    taken
}

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, FormulaError> {
    let mut chars = text.chars().enumerate().peekable();
    let mut tokens = Vec::new();
    while let Some(&(at, c)) = chars.peek() {
        let token = match c {
            c if c.is_whitespace() => {
                chars.next();
                continue;
            }
            '+' | '-' | '*' | '/' | '(' | ')' => {
                chars.next();
                Token::Sign(c)
            }
            '.' if !starts_fraction(&chars) => {
                chars.next();
                Token::Sign('.')
            }
            '0'..='9' | '.' => number(at, &mut chars)?,
            '"' => {
                chars.next();
                let name = take_while(&mut chars, |c| c != '"');
                if chars.next().is_none() {
                    return Err(error(at, Wrong::Quote));
                }
                Token::Quoted(name)
            }
            c if c.is_alphabetic() || c == '_' => {
                Token::Word(take_while(&mut chars, |c| c.is_alphanumeric() || c == '_'))
            }
            other => return Err(error(at, Wrong::Character(other))),
        };
        tokens.push((at, token));
    }
    Ok(tokens)
}

/// Whether a digit follows the point.
fn starts_fraction(chars: &Chars<'_>) -> bool {
    let mut ahead = chars.clone();
    ahead.next();
    ahead.next().is_some_and(|(_, c)| c.is_ascii_digit())
}

/// A sign belongs to a number if it follows its `e`.
fn number(at: usize, chars: &mut Chars<'_>) -> Result<Token, FormulaError> {
    let mut last = ' ';
    let text = take_while(chars, |c| {
        let is_exponent = matches!(last, 'e' | 'E') && matches!(c, '+' | '-');
        let is_it = c.is_alphanumeric() || c == '.' || is_exponent;
        last = c;
        is_it
    });
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Token::Number(number)),
        _ => Err(error(at, Wrong::Number(text))),
    }
}

struct Parser<'t> {
    tokens: &'t [(usize, Token)],
    end: usize,
    depth: usize,
    n_operators: usize,
}

impl Parser<'_> {
    fn at(&self) -> usize {
        self.tokens.first().map_or(self.end, |(at, _)| *at)
    }

    /// Takes one of these signs, if it is next.
    fn sign(&mut self, signs: &[char]) -> Option<(usize, char)> {
        let (at, Token::Sign(sign)) = self.tokens.first()? else { return None };
        let found = signs.contains(sign).then_some((*at, *sign))?;
        self.tokens = &self.tokens[1..];
        Some(found)
    }

    /// The same of operators, of which there may not be too many.
    fn operator(&mut self, signs: &[char]) -> Result<Option<(usize, char)>, FormulaError> {
        let found = self.sign(signs);
        self.n_operators += usize::from(found.is_some());
        match found {
            Some((at, _)) if self.n_operators > MOST_OPERATORS => Err(error(at, Wrong::TooLong)),
            found => Ok(found),
        }
    }

    fn sum(&mut self) -> Result<Expr, FormulaError> {
        let mut left = self.product()?;
        while let Some((at, sign)) = self.operator(&['+', '-'])? {
            let operator = if sign == '+' { Operator::Add } else { Operator::Subtract };
            left = Expr::Two(operator, at, Box::new([left, self.product()?]));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expr, FormulaError> {
        let mut left = self.factor()?;
        while let Some((at, sign)) = self.operator(&['*', '/'])? {
            let operator = if sign == '*' { Operator::Multiply } else { Operator::Divide };
            left = Expr::Two(operator, at, Box::new([left, self.factor()?]));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expr, FormulaError> {
        let at = self.at();
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(error(at, Wrong::TooDeep));
        }
        let expr = self.operand(at);
        self.depth -= 1;
        expr
    }

    fn operand(&mut self, at: usize) -> Result<Expr, FormulaError> {
        let Some((_, token)) = self.tokens.first() else { return Err(error(at, Wrong::Ends)) };
        match token.clone() {
            Token::Sign('-') => {
                self.tokens = &self.tokens[1..];
                Ok(Expr::Negative(Box::new(self.factor()?)))
            }
            Token::Sign('(') => self.parenthesis(),
            Token::Number(number) => {
                self.tokens = &self.tokens[1..];
                Ok(Expr::Number(number))
            }
            Token::Word(word) => {
                self.tokens = &self.tokens[1..];
                self.word(at, &word)
            }
            Token::Sign(_) | Token::Quoted(_) => Err(error(at, Wrong::NoOperand)),
        }
    }

    fn parenthesis(&mut self) -> Result<Expr, FormulaError> {
        self.open()?;
        let expr = self.sum()?;
        self.close()?;
        Ok(expr)
    }

    fn open(&mut self) -> Result<(), FormulaError> {
        self.sign(&['(']).map(|_| ()).ok_or_else(|| error(self.at(), Wrong::NotOpened))
    }

    fn close(&mut self) -> Result<(), FormulaError> {
        self.sign(&[')']).map(|_| ()).ok_or_else(|| error(self.at(), Wrong::NotClosed))
    }

    fn word(&mut self, at: usize, word: &str) -> Result<Expr, FormulaError> {
        let (of, of_at, whose) = match word {
            "exact" => return Ok(Expr::Exact(Box::new(self.parenthesis()?))),
            "higher_is_better" => return Ok(Expr::HigherIsBetter(Box::new(self.parenthesis()?))),
            "region" => self.named(Of::Region, Whose::Region)?,
            "level" => self.named(Of::Level, Whose::Level)?,
            "function" => self.named(Of::Function, Whose::Function)?,
            "rank" => self.rank()?,
            _ => return self.quantity(Of::Run, Whose::Run, at, at, word),
        };
        if self.sign(&['.']).is_none() {
            return Err(error(self.at(), Wrong::NoQuantity(of.name(), of.example())));
        }
        let at = self.at();
        let Some((_, Token::Word(name))) = self.tokens.first() else {
            return Err(error(at, Wrong::NoQuantity(of.name(), of.example())));
        };
        self.tokens = &self.tokens[1..];
        self.quantity(of, whose, of_at, at, name)
    }

    /// `("NAME")`
    fn name(&mut self) -> Result<(usize, String), FormulaError> {
        self.open()?;
        let at = self.at();
        let Some((_, Token::Quoted(name))) = self.tokens.first() else {
            return Err(error(at, Wrong::NoName));
        };
        if name.is_empty() {
            return Err(error(at, Wrong::EmptyName));
        }
        self.tokens = &self.tokens[1..];
        self.close()?;
        Ok((at, name.clone()))
    }

    fn named(&mut self, of: Of, whose: fn(String) -> Whose) -> Result<(Of, usize, Whose), FormulaError> {
        let (at, name) = self.name()?;
        Ok((of, at, whose(name)))
    }

    fn rank(&mut self) -> Result<(Of, usize, Whose), FormulaError> {
        self.open()?;
        let at = self.at();
        let Some((_, Token::Number(number))) = self.tokens.first() else {
            return Err(error(at, Wrong::NoNumber));
        };
        if number.fract() != 0.0 || *number > f64::from(u32::MAX) {
            return Err(error(at, Wrong::NotWhole));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "by the check above")]
        let rank = *number as u32;
        self.tokens = &self.tokens[1..];
        self.close()?;
        Ok((Of::Rank, at, Whose::Rank(rank)))
    }

    fn quantity(
        &mut self,
        of: Of,
        whose: Whose,
        of_at: usize,
        at: usize,
        name: &str,
    ) -> Result<Expr, FormulaError> {
        let Some(quantity) = QUANTITIES.iter().find(|known| known.of == of && known.name == name) else {
            let names = QUANTITIES.iter().filter(|known| known.of == of).map(|known| known.name);
            let wrong = Wrong::Unknown { name: name.to_owned(), of: of.name(), like: nearest(name, names) };
            return Err(error(at, wrong));
        };
        let counter = match quantity.is_counter() {
            true => Some(self.name()?).map(|(at, name)| (name, at)),
            false => None,
        };
        Ok(Expr::Quantity(Ask { at, of_at, of: whose, quantity, counter }))
    }
}
