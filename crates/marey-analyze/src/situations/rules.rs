//! Rules that say which situations are looked for: the text of a file.
//!
//! The one idea: a rule is a word, a family and settings, one a line; a family is a name for locations. All rules are
//! followed, each by itself.
//!
//! What is deliberately absent: where rules come from, and what following them means.

use std::fmt;

use marey_model::{LocationId, Nanos, fits, without_comment};

use crate::trace::{LocationKind, Trace};

/// The rules that are used if no others are given; reasons stand in `docs/situations.md`.
const USUAL: &str = "speed-ups        everyone  by 50%
slow-downs       everyone  by 50%
under-utilised   everyone  by 25%
over-utilised    everyone  by 25%
message-queue    everyone  over 32 messages
message-queue    everyone  over 64 MiB
processing-time  everyone  by 100%";

/// The word that begins a line that names a family.
const FAMILY: &str = "family";

/// The family of all.
const EVERYONE: &str = "everyone";

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SituationKind {
    /// Visits come faster than before.
    SpeedUp,
    /// Visits come more slowly than before.
    SlowDown,
    /// Useful for less of the time than the mean.
    UnderUtilised,
    /// Useful for more of the time than the mean.
    OverUtilised,
    /// Messages are sent faster than they are asked for.
    MessageQueue,
    /// A long time from one message to the next.
    ProcessingTime,
}

impl SituationKind {
    /// The name that files have.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SpeedUp => "speed-up",
            Self::SlowDown => "slow-down",
            Self::UnderUtilised => "under-utilised",
            Self::OverUtilised => "over-utilised",
            Self::MessageQueue => "message-queue",
            Self::ProcessingTime => "processing-time",
        }
    }
}

/// The words that begin a rule: what they look for, and whether only the first.
const WORDS: [(&str, SituationKind, bool); 8] = [
    ("speed-ups", SituationKind::SpeedUp, false),
    ("first-speed-up", SituationKind::SpeedUp, true),
    ("slow-downs", SituationKind::SlowDown, false),
    ("first-slow-down", SituationKind::SlowDown, true),
    ("under-utilised", SituationKind::UnderUtilised, false),
    ("over-utilised", SituationKind::OverUtilised, false),
    ("message-queue", SituationKind::MessageQueue, false),
    ("processing-time", SituationKind::ProcessingTime, false),
];

/// From when on something is told.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Threshold {
    /// By this part more than the mean of the family, or than before.
    By(f64),
    /// More messages than that.
    Messages(u64),
    /// More bytes than that.
    Bytes(u64),
    /// Longer than that.
    Time(Nanos),
}

/// A rule.
#[derive(Clone, PartialEq, Debug)]
pub struct SituationRule {
    /// What it looks for.
    pub kind: SituationKind,
    /// Only the first of them.
    pub is_first: bool,
    /// In which family.
    pub family: String,
    /// From when on.
    pub threshold: Threshold,
    /// Regions that it is about: a pattern of their names. `None` = all.
    pub region: Option<String>,
}

/// A part of a family.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Members {
    All,
    /// First and last of each range.
    Ranks(Vec<(u32, u32)>),
    Threads(String),
}

/// Rules in their order, and the families that they speak of.
#[derive(Clone, PartialEq, Debug)]
pub struct SituationRules {
    families: Vec<(String, Members)>,
    /// The rules.
    pub rules: Vec<SituationRule>,
}

impl Default for SituationRules {
    fn default() -> Self {
        Self::parse(USUAL).expect("a test reads them")
    }
}

impl SituationRules {
    /// Reads rules, one a line. Empty lines and what follows a `#` after a blank are comments.
    ///
    /// # Errors
    /// At the first line that is no rule.
    pub fn parse(text: &str) -> Result<Self, SituationRuleError> {
        let mut found = Self { families: vec![(EVERYONE.to_owned(), Members::All)], rules: Vec::new() };
        for (number, line) in (1..).zip(text.lines()) {
            let line = without_comment(line).trim();
            if !line.is_empty() {
                found.line(line).map_err(|what| SituationRuleError {
                    line: number,
                    text: line.to_owned(),
                    what,
                })?;
            }
        }
        // A family may be named behind the rule that speaks of it.
        for (number, line) in (1..).zip(text.lines()) {
            let mut words = without_comment(line).split_whitespace();
            let (Some(word), Some(family)) = (words.next(), words.next()) else { continue };
            if word != FAMILY && !found.families.iter().any(|(name, _)| name == family) {
                let text = without_comment(line).trim().to_owned();
                let family = shortened(family);
                let what =
                    format!("speaks of the family {family}, which no line names: `family {family} rank 0-3`");
                return Err(SituationRuleError { line: number, text, what });
            }
        }
        Ok(found)
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words[0] == FAMILY {
            let [_, name, rest @ ..] = words.as_slice() else {
                return Err("names no family: `family left rank 0-3`".to_owned());
            };
            if *name == EVERYONE {
                return Err(
                    "names everyone, the family of all, which cannot be less; take another name".to_owned()
                );
            }
            self.families.push(((*name).to_owned(), Members::parse(rest)?));
            return Ok(());
        }
        let known = WORDS.iter().find(|(word, ..)| *word == words[0]);
        let &(_, kind, is_first) = known.ok_or_else(|| {
            let words: Vec<&str> = WORDS.iter().map(|(word, ..)| *word).collect();
            format!("begins with none of family, {}", words.join(", "))
        })?;
        let family = *words.get(1).ok_or("names no family; everyone is one")?;
        let mut rule = SituationRule {
            kind,
            is_first,
            family: family.to_owned(),
            threshold: Threshold::By(f64::NAN),
            region: None,
        };
        let mut settings = words[2..].iter().peekable();
        let mut has_threshold = false;
        while let Some(&word) = settings.next() {
            let value = *settings.next().ok_or_else(|| format!("has nothing behind `{word}`"))?;
            match word {
                "by" => rule.threshold = Threshold::By(percent(value)?),
                "over" => {
                    // `64 MiB`, `64MiB`
                    let is_number = value.ends_with(|c: char| c.is_ascii_digit());
                    let unit = settings.next_if(|_| is_number).copied().unwrap_or("");
                    rule.threshold = amount(&format!("{value}{unit}"))?;
                }
                "of" => {
                    if rule.region.replace(value.to_owned()).is_some() {
                        return Err("has two regions; write two rules, or one with `*`".to_owned());
                    }
                    continue;
                }
                _ => return Err(format!("has `{}`, which is none of by, over and of", shortened(word))),
            }
            if std::mem::replace(&mut has_threshold, true) {
                return Err("has two thresholds; write two rules".to_owned());
            }
        }
        if !has_threshold {
            return Err("does not say from when on: `by 50%`, or `over` an amount".to_owned());
        }
        rule.check()?;
        self.rules.push(rule);
        Ok(())
    }

    /// For each location whether it is of a family.
    pub fn members(&self, run: &dyn Trace, family: &str) -> Vec<bool> {
        let parts: Vec<&Members> =
            self.families.iter().filter(|(name, _)| name == family).map(|(_, members)| members).collect();
        let is_member = |id: u32| parts.iter().any(|part| part.has(run, LocationId(id)));
        (0..).take(run.locations().len()).map(is_member).collect()
    }

    /// Names of families that have nobody in a run.
    pub fn empty_families(&self, run: &dyn Trace) -> Vec<String> {
        let mut names: Vec<String> = self.rules.iter().map(|rule| rule.family.clone()).collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| !self.members(run, name).contains(&true));
        names
    }
}

impl SituationRule {
    /// Whether the settings are those of this kind.
    fn check(&self) -> Result<(), String> {
        use SituationKind::{MessageQueue, ProcessingTime, SlowDown, SpeedUp};
        let is_rate = matches!(self.kind, SpeedUp | SlowDown);
        let is_right = match self.threshold {
            Threshold::By(_) => true,
            Threshold::Messages(_) | Threshold::Bytes(_) => self.kind == MessageQueue,
            Threshold::Time(_) => self.kind == ProcessingTime,
        };
        if !is_right {
            let takes = match self.kind {
                MessageQueue => "`by N%`, `over N messages` or `over N MiB`",
                ProcessingTime => "`by N%` or `over 10ms`",
                _ => "`by N%`",
            };
            return Err(format!("takes {takes}"));
        }
        if self.region.is_some() && !is_rate {
            return Err("takes no `of`: only speed-ups and slow-downs are of a region".to_owned());
        }
        Ok(())
    }
}

impl Members {
    fn parse(words: &[&str]) -> Result<Self, String> {
        match words {
            ["rank" | "ranks", list] => {
                let number = |text: &str| {
                    text.parse::<u32>().map_err(|_| format!("has `{}`, which is no rank", shortened(text)))
                };
                let range = |piece: &str| {
                    let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
                    let (first, last) = (number(first)?, number(last)?);
                    if first <= last {
                        Ok((first, last))
                    } else {
                        Err(format!("has `{piece}`, which is empty"))
                    }
                };
                Ok(Self::Ranks(list.split(',').map(range).collect::<Result<_, _>>()?))
            }
            ["thread" | "threads", names @ ..] if !names.is_empty() => Ok(Self::Threads(names.join(" "))),
            ["*"] => Ok(Self::All),
            _ => Err("does not say who: `rank 0-3,7`, `thread worker*` or `*`".to_owned()),
        }
    }

    fn has(&self, run: &dyn Trace, id: LocationId) -> bool {
        let Some(location) = run.locations().get(id.idx()) else { return false };
        match self {
            Self::All => location.has_time(),
            // Ranks are what MPI knows; threads beside have names.
            Self::Ranks(ranges) if location.has_time() => {
                let process = run.processes().get(location.process.idx());
                process
                    .and_then(crate::trace::Process::first_rank)
                    .is_some_and(|rank| ranges.iter().any(|(first, last)| (*first..=*last).contains(&rank)))
            }
            Self::Ranks(_) => false,
            Self::Threads(pattern) => location.kind == LocationKind::Thread && fits(pattern, &location.name),
        }
    }
}

impl fmt::Display for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("*"),
            Self::Threads(pattern) => write!(f, "thread {pattern}"),
            Self::Ranks(ranges) => {
                let range = |(first, last): &(u32, u32)| {
                    if first == last { first.to_string() } else { format!("{first}-{last}") }
                };
                write!(f, "rank {}", ranges.iter().map(range).collect::<Vec<_>>().join(","))
            }
        }
    }
}

/// As a file has them, one a line.
impl fmt::Display for SituationRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The first is everyone, which need not be said.
        for (name, members) in &self.families[1..] {
            writeln!(f, "family {name}  {members}")?;
        }
        for rule in &self.rules {
            writeln!(f, "{rule}")?;
        }
        Ok(())
    }
}

impl fmt::Display for SituationRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = WORDS.iter().find(|(_, kind, is_first)| (*kind, *is_first) == (self.kind, self.is_first));
        write!(f, "{:<15}  {}  {}", word.map_or("", |(word, ..)| word), self.family, self.threshold)?;
        if let Some(region) = &self.region {
            write!(f, "  of {region}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // What `by 33%` has become must not be written with all its digits.
            Self::By(part) => write!(f, "by {}%", (part * 1e8).round() / 1e6),
            Self::Messages(number) => write!(f, "over {number} messages"),
            Self::Bytes(number) if number % (1 << 20) == 0 => write!(f, "over {} MiB", number >> 20),
            Self::Bytes(number) => write!(f, "over {number} bytes"),
            Self::Time(time) => write!(f, "over {}ns", time.0),
        }
    }
}

/// `50%`
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    let is_one = |number: &f64| (0.0..=1e6).contains(number);
    let wrong = || format!("has `{}`, which is no percentage such as 50%", shortened(text));
    number.filter(is_one).map(|number| number / 100.0).ok_or_else(wrong)
}

/// `32messages`, `64MiB`, `10ms`
fn amount(text: &str) -> Result<Threshold, String> {
    let wrong = || {
        let text = shortened(text);
        format!("has `{text}`, which is neither messages nor bytes nor a time: 32 messages, 64 MiB, 10ms")
    };
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
    let (number, unit) = text.split_at(split);
    let whole = || number.parse::<u64>().map_err(|_| wrong());
    let time = |factor: f64| {
        let number: f64 = number.parse().map_err(|_| wrong())?;
        #[expect(clippy::cast_possible_truncation, reason = "too large becomes the largest")]
        Ok(Threshold::Time(Nanos((number * factor).round() as i64)))
    };
    let bytes = |shift: u32| whole()?.checked_mul(1_u64 << shift).map(Threshold::Bytes).ok_or_else(wrong);
    match unit {
        "message" | "messages" => whole().map(Threshold::Messages),
        "byte" | "bytes" | "B" => bytes(0),
        "KiB" => bytes(10),
        "MiB" => bytes(20),
        "GiB" => bytes(30),
        "ns" => time(1.0),
        "us" | "µs" => time(1e3),
        "ms" => time(1e6),
        "s" => time(1e9),
        _ => Err(wrong()),
    }
}

/// Characters of a wrong line, or a word of it, that are told.
const SHOWN: usize = 60;

/// The beginning of a text, and whether that is not all.
fn shortened(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    shown + more
}

/// A line that is no rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SituationRuleError {
    /// Its number, from 1.
    pub line: usize,
    /// The line.
    pub text: String,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for SituationRuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, `{}`, {}", self.line, shortened(&self.text), self.what)
    }
}

impl std::error::Error for SituationRuleError {}
