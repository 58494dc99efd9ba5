//! Rules that say how much is recorded of which regions: the text of a filter file.
//!
//! The one idea: a rule is a word and a pattern, one a line, and the last rule that fits a region counts.
//! The command line checks the text with the same code by which the measured process follows it.
//!
//! ```
//! use marey_model::{Detail, Rules};
//! let rules = Rules::parse("count  mpi:*   # no times\n\ntrace  MPI_Send\noff  file:*/kernels.f90").unwrap();
//! assert_eq!(rules.detail("mpi", "MPI_Recv", ""), Some(Detail::Count));
//! assert_eq!(rules.detail("mpi", "MPI_Send", ""), Some(Detail::Trace));
//! assert_eq!(rules.detail("source", "axpy", "src/kernels.f90"), Some(Detail::Off));
//! assert_eq!(rules.detail("source", "halo", "src/halo.f90"), None);
//! ```
//!
//! Deliberately absent: where rules come from, and what following them means.

use std::fmt;

use crate::Level;

/// How much is recorded of visits of a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// Nothing.
    Off,
    /// How many there were, by call path.
    Count,
    /// Also how long they took, added up.
    Time,
    /// Each by itself.
    Trace,
}

impl Detail {
    /// All, by rising detail.
    pub const ALL: [Self; 4] = [Self::Off, Self::Count, Self::Time, Self::Trace];

    /// The word that stands for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Count => "count",
            Self::Time => "time",
            Self::Trace => "trace",
        }
    }

    /// What a word stands for.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|detail| detail.name() == name)
    }
}

/// Rules in their order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rules(Vec<Rule>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Rule {
    detail: Detail,
    regions: Regions,
}

/// What a rule is about: patterns in which `*` stands for any text and `?` for any character.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Regions {
    /// Those of a name, of one level or of any.
    Named { level: Option<String>, name: String },
    /// Those of a source file.
    InFile(String),
    /// Loops of functions, as `marey instrument` names them.
    LoopsOf(String),
}

/// Stands in the name of a loop between that of its function and its file and line.
pub const LOOP_AT: &str = ":loop at ";

impl Rules {
    /// Reads rules, one a line. Empty lines and what follows a `#` after a blank are comments.
    ///
    /// # Errors
    /// At the first line that is no rule.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let mut rules = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = without_comment(line).trim();
            if line.is_empty() {
                continue;
            }
            let (word, pattern) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let error = |what| RuleError { line: number, text: line.to_owned(), what };
            let detail = Detail::from_name(word).ok_or_else(|| error(RuleFault::UnknownWord))?;
            let regions = Regions::parse(pattern.trim()).map_err(error)?;
            rules.push(Rule { detail, regions });
        }
        Ok(Self(rules))
    }

    /// Adds a rule that counts before those that are there. False if the pattern is none.
    pub fn push(&mut self, detail: Detail, pattern: &str) -> bool {
        let Ok(regions) = Regions::parse(pattern.trim()) else { return false };
        self.0.retain(|rule| rule.regions != regions);
        self.0.push(Rule { detail, regions });
        true
    }

    /// What the rules say of a region of `level` by its name — a function's, or one that the user gave it —
    /// and source file. `None` if none of them fits. Time: the number of rules.
    pub fn detail(&self, level: &str, name: &str, file: &str) -> Option<Detail> {
        let rule = self.0.iter().rev().find(|rule| rule.regions.fit(level, name, file))?;
        Some(rule.detail)
    }

    /// Those that fit none of `regions`, each a level, a name and a source file as in [`Rules::detail`], as
    /// texts. Time: the number of rules times that of the regions.
    pub fn idle<'a>(&self, regions: &[(&'a str, &'a str, &'a str)]) -> Vec<String> {
        let is_idle =
            |rule: &&Rule| !regions.iter().any(|(level, name, file)| rule.regions.fit(level, name, file));
        self.0.iter().filter(is_idle).map(Rule::to_string).collect()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// As a filter file has them, one a line.
impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, rule) in self.0.iter().enumerate() {
            write!(f, "{}{rule}", if idx == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.detail.name())?;
        match &self.regions {
            Regions::Named { level: None, name } => write!(f, "{name}"),
            Regions::Named { level: Some(level), name } => write!(f, "{level}:{name}"),
            Regions::InFile(file) => write!(f, "file:{file}"),
            Regions::LoopsOf(function) => write!(f, "loops:{function}"),
        }
    }
}

impl Regions {
    fn parse(pattern: &str) -> Result<Self, RuleFault> {
        if pattern.is_empty() {
            return Err(RuleFault::NoPattern);
        }
        Ok(match pattern.split_once(':') {
            Some(("file", file)) => Self::InFile(file.to_owned()),
            Some(("loops", function)) if !function.starts_with(':') => Self::LoopsOf(function.to_owned()),
            // `Solver::step` is a name.
            Some((level, name)) if is_level(level) && !name.starts_with(':') => {
                if !Level::RECORDED.contains(&level) {
                    return Err(RuleFault::UnknownLevel);
                }
                Self::Named { level: Some(level.to_owned()), name: name.to_owned() }
            }
            _ => Self::Named { level: None, name: pattern.to_owned() },
        })
    }

    fn fit(&self, level: &str, name: &str, file: &str) -> bool {
        match self {
            Self::InFile(pattern) => !file.is_empty() && fits(pattern, file),
            Self::LoopsOf(pattern) => {
                let of = name.rsplit_once(LOOP_AT).filter(|_| level == "source");
                of.is_some_and(|(function, _)| fits(pattern, function))
            }
            Self::Named { level: wanted, name: pattern } => {
                wanted.as_ref().is_none_or(|wanted| wanted == level) && fits(pattern, name)
            }
        }
    }
}

fn is_level(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// What of a line stands before its comment: a `#` after a blank, or at its beginning.
pub fn without_comment(line: &str) -> &str {
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        if c == '#' && before.is_whitespace() {
            return &line[..at];
        }
        before = c;
    }
    line
}

/// Whether all of `text` is what `pattern` describes: `*` is any text, `?` any character. Time: the product of their
/// lengths at most.
pub fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where the last star stood, and how much of the text it stands for so far.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => (p, t) = (p + 1, t + 1),
            _ => {
                let Some((at, until)) = star else { return false };
                star = Some((at, until + 1));
                (p, t) = (at + 1, until + 1);
            }
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

/// Characters of a wrong line that are told.
const SHOWN: usize = 60;

/// A line that is no rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleError {
    /// Its number, from 1.
    pub line: usize,
    /// The line.
    pub text: String,
    /// What is wrong with it.
    pub what: RuleFault,
}

/// What is wrong with a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RuleFault {
    /// It begins with a word that is no [`Detail`].
    UnknownWord,
    /// It does not say of which regions it is.
    NoPattern,
    /// It names a level that no recorder speaks of, so it would never fit.
    UnknownLevel,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, text, what } = self;
        // One that is no rule at all may be as long as the file.
        let shown: String = text.chars().take(SHOWN).collect();
        let more = if shown.len() < text.len() { "…" } else { "" };
        write!(f, "line {line}, `{shown}{more}`, {what}")
    }
}

impl fmt::Display for RuleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownWord => "does not begin with off, count, time or trace",
            Self::NoPattern => "names no regions: a name, LEVEL:NAME, file:PATH or loops:FUNCTION, with * and ?",
            Self::UnknownLevel => {
                "names a level that is none of source, mpi, threads, files, system, memory, coarray, openmp, kokkos and \
                 tasks; a region of yours with a colon in its name is source:NAME"
            }
        })
    }
}

impl std::error::Error for RuleError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_what_a_slow_matcher_says() {
        fn slow(pattern: &[u8], text: &[u8]) -> bool {
            match pattern.split_first() {
                None => text.is_empty(),
                Some((b'*', rest)) => (0..=text.len()).any(|n| slow(rest, &text[n..])),
                Some((b'?', rest)) => !text.is_empty() && slow(rest, &text[1..]),
                Some((c, rest)) => text.first() == Some(c) && slow(rest, &text[1..]),
            }
        }
        let words = |letters: &[u8], len: u32| -> Vec<String> {
            let base = letters.len();
            let word = |mut n: usize, len| {
                let mut word = String::new();
                for _ in 0..len {
                    word.push(char::from(letters[n % base]));
                    n /= base;
                }
                word
            };
            (0..=len).flat_map(|len| (0..base.pow(len)).map(move |n| word(n, len))).collect()
        };
        let texts = words(b"ab", 5);
        let mut found = 0;
        for pattern in words(b"ab*?", 5) {
            for text in &texts {
                let expected = slow(pattern.as_bytes(), text.as_bytes());
                assert_eq!(fits(&pattern, text), expected, "{pattern} {text}");
                found += usize::from(expected);
            }
        }
        assert!(found > 5000);
    }

    #[test]
    fn rules_come_back_from_their_text() {
        let text = "off mpi:MPI_Type_*\ncount Solver::step\ntime file:*/a b.c\ntrace # no comment#here";
        let rules = Rules::parse(text).unwrap_err();
        assert_eq!((rules.line, rules.what), (4, RuleFault::NoPattern));
        let text = "off mpi:MPI_Type_*\ncount Solver::step\ntime file:*/a b.c\ntrace no#comment";
        let rules = Rules::parse(&format!("# of a file\n\n{text}   # said so\n")).unwrap();
        assert_eq!((rules.to_string().as_str(), rules.len()), (text, 4));
        assert_eq!(rules.detail("source", "Solver::step", ""), Some(Detail::Count));
        assert_eq!(rules.detail("source", "MPI_Type_size", ""), None);
        assert_eq!(rules.detail("source", "MPI_Type_size", "x/a b.c"), Some(Detail::Time));
        assert_eq!(rules.detail("threads", "no#comment", ""), Some(Detail::Trace));
    }

    #[test]
    fn loops_are_those_of_their_functions() {
        let rules = Rules::parse("off *\ntrace loops:Solver::*\ncount loops:main").unwrap();
        let detail = |name: &str| rules.detail("source", name, "a.c");
        assert_eq!(detail("Solver::step:loop at src/a.c:12"), Some(Detail::Trace));
        assert_eq!(detail("main:loop at a.c:3"), Some(Detail::Count));
        assert_eq!(detail("Solver::step"), Some(Detail::Off));
        assert_eq!(rules.detail("mpi", "main:loop at a.c:3", ""), Some(Detail::Off));
        assert_eq!(Rules::parse(&rules.to_string()), Ok(rules));
        // A function of a namespace that is called so.
        let rules = Rules::parse("off loops::step").unwrap();
        assert_eq!(rules.detail("source", "loops::step", ""), Some(Detail::Off));
    }

    #[test]
    fn what_is_no_rule_is_told() {
        let cases = [
            (
                "trace *\nskip MPI_Test",
                "line 2, `skip MPI_Test`, does not begin with off, count, time or trace",
            ),
            ("count mip:MPI_*", "line 1, `count mip:MPI_*`, names a level that is none of source, mpi"),
            ("off io:read", "source:NAME"),
        ];
        for (text, expected) in cases {
            let error = Rules::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            let (word, pattern) = text.lines().last().unwrap().split_once(' ').unwrap();
            let is_word = Detail::from_name(word).is_some();
            assert!(!is_word || !Rules::default().push(Detail::Off, pattern), "{pattern}");
        }
        let rules = Rules::parse("off source:io:read").unwrap();
        assert_eq!(rules.detail("source", "io:read", ""), Some(Detail::Off));
    }

    #[test]
    fn rules_that_fit_nothing_are_known() {
        let rules = Rules::parse("off mpi:MPI_Test*\ncount halo\ntime file:*.f90\noff MPI_Tset").unwrap();
        let regions = [("mpi", "MPI_Testany", ""), ("source", "MPI_Tset?", "a.f90")];
        assert_eq!(rules.idle(&regions), ["count halo", "off MPI_Tset"]);
        assert_eq!(rules.idle(&[("mpi", "halo", "")]).len(), 3);
    }
}
