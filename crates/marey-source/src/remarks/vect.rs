//! What GCC means by its messages.
//!
//! The one idea: GCC thinks aloud. It looks at a loop, tries one width of vectors after the other, and says at the end
//! whether it worked; the reason that matters is the first, of the widest vectors, for later ones fail for want of vectors at
//! all. So messages are gone through in order, and what was said of a loop is kept until its end is told.

use super::gcc::{ChainLink, Location, Message};
use super::row::{Compiler, Dependence, DependenceKind, Remark, RemarkKind, Site};
use super::words;

/// Parts of GCC that are listened to. `slp` is the vectoriser of straight code, `ldist` makes calls of the library.
const PASSES: [&str; 7] = ["vect", "slp", "slp1", "slp2", "ldist", "inline", "einline"];

/// Whether a message says something that is used here.
pub(super) fn is_of_use(message: &Message) -> bool {
    let is_listened_to = PASSES.contains(&message.pass.as_str());
    let text = message.text.as_str();
    is_listened_to
        && match message.kind.as_str() {
            "failure" => !text.is_empty(),
            "success" => true,
            "scope" => text.contains("analyze_loop_nest"),
            "note" => {
                message.pass == "vect"
                    && (text.contains("dependence distance") || text.starts_with("got vectype for stmt"))
            }
            _ => false,
        }
}

/// What was said of a loop until now.
#[derive(Default)]
struct Thought {
    function: String,
    location: Location,
    /// The distance that was told last, as long as nothing was said that makes it harmless.
    distance: Option<i64>,
    /// The smallest that leaves vectors fewer iterations than the narrowest of them has.
    narrow: Option<i64>,
    /// Memory that it reads and writes, in terms of GCC: `a[_1]`, and whether it is written.
    references: Vec<(String, bool)>,
    lanes: u32,
    /// The first failure that ended an attempt.
    fatal: String,
    /// What was said last of a statement.
    last: String,
}

/// Goes through messages.
pub(super) struct Vect {
    rows: Vec<Remark>,
    max_rows: usize,
    thought: Thought,
}

impl Vect {
    pub(super) fn new(max_rows: usize) -> Self {
        Self { rows: Vec::new(), max_rows, thought: Thought::default() }
    }

    pub(super) fn finish(self) -> Vec<Remark> {
        self.rows
    }

    pub(super) fn add(&mut self, message: Message) {
        if self.max_rows <= self.rows.len() {
            return;
        }
        let row = match message.pass.as_str() {
            "vect" => self.think(message),
            "inline" | "einline" => inlining(message),
            "ldist" => is_call(&message).then(|| row(&message, RemarkKind::Replaced)).flatten(),
            _ => (message.kind == "success" && message.text.contains("vectorized using"))
                .then(|| row(&message, RemarkKind::Statements))
                .flatten(),
        };
        self.rows.extend(row);
    }

    fn think(&mut self, message: Message) -> Option<Remark> {
        let text = message.text.as_str();
        let thought = &mut self.thought;
        match message.kind.as_str() {
            "scope" => {
                let location = message.location.unwrap_or_default();
                // A loop within another is looked at in the course of that.
                if thought.location != location || thought.function != message.function {
                    *thought = Thought { function: message.function, location, ..Thought::default() };
                }
                None
            }
            _ if thought.function != message.function => {
                *thought = Thought { function: message.function.clone(), ..Thought::default() };
                self.told(&message)
            }
            "note" if thought.fatal.is_empty() => {
                match text.split_once("dependence distance") {
                    Some((_, said)) => thought.hear_distance(said),
                    None => thought.hear_reference(text),
                }
                None
            }
            "failure" | "success" => self.told(&message),
            _ => None,
        }
    }

    /// A failure, or a success.
    fn told(&mut self, message: &Message) -> Option<Remark> {
        let text = message.text.as_str();
        if message.kind == "success" {
            let is_loop = text.starts_with("loop vectorized") || text.starts_with("OUTER LOOP VECTORIZED");
            let lanes = self.thought.lanes;
            let row = is_loop.then(|| row(message, RemarkKind::Vectorised)).flatten();
            return row.map(|row| Remark { lanes, ..row });
        }
        if !text.starts_with("couldn't vectorize loop") {
            self.thought.hear_failure(text);
            return None;
        }
        let mut row = row(message, RemarkKind::NotVectorised)?;
        self.thought.explain(&mut row);
        Some(row)
    }
}

impl Thought {
    fn hear_distance(&mut self, said: &str) {
        let said = said.trim().trim_end_matches('.');
        match said.strip_prefix('=').and_then(|number| number.trim().parse::<i64>().ok()) {
            // Within one iteration.
            Some(0) => self.distance = None,
            Some(number) => self.distance = Some(number),
            // `== 0 between`, `negative`, `>= VF`: it is in nobody's way, but for vectors that are longer than it is.
            None => {
                let told = self.distance.take().map(i64::saturating_abs);
                let is_narrow = |it: &i64| said.contains(">= VF") && *it < i64::from(self.lanes);
                self.narrow = self.narrow.into_iter().chain(told.filter(is_narrow)).min();
            }
        }
    }

    /// How many iterations the dependence is long that GCC gave up for; `None` = it was not sure of any.
    fn dependence(&self) -> Option<i64> {
        self.distance.or(self.narrow)
    }

    /// `got vectype for stmt: _2 = a[_1];` and behind it `vector(4) float`.
    fn hear_reference(&mut self, text: &str) {
        let Some((statement, behind)) = text.split_once(';') else { return };
        let lanes = behind.split_once("vector(").and_then(|(_, rest)| rest.split_once(')'));
        let lanes = lanes.and_then(|(number, _)| number.parse().ok()).unwrap_or(0);
        self.lanes = self.lanes.max(lanes);
        let statement = statement.split_once("stmt:").map_or("", |(_, statement)| statement);
        let Some((to, from)) = statement.split_once(" = ") else { return };
        if self.references.len() < MOST_REFERENCES {
            self.references.extend([(to.trim().to_owned(), true), (from.trim().to_owned(), false)]);
        }
    }

    fn hear_failure(&mut self, text: &str) {
        let is_fatal = text.starts_with("not vectorized")
            || text.starts_with("bad ")
            || text.contains("never be profitable")
            || text.starts_with("loop nest containing");
        if is_fatal && self.fatal.is_empty() {
            self.fatal = first_line(text).to_owned();
        }
        if is_fatal || text.starts_with("possible alias") {
            self.last = first_line(text).to_owned();
        }
    }

    fn explain(&mut self, row: &mut Remark) {
        let is_dependence = self.fatal.starts_with("bad data dependence");
        let mut said = self.fatal.clone();
        if is_dependence
            && self.dependence().is_none()
            && !self.last.is_empty()
            && !self.last.contains("no vectype")
        {
            said.clone_from(&self.last);
        }
        row.lanes = self.lanes;
        if is_dependence {
            // Without a distance GCC was not sure of anything.
            let distance = self.dependence();
            let kind = if distance.is_some() { DependenceKind::Carried } else { DependenceKind::Unknown };
            row.dependence = Some(Dependence { kind, distance });
            row.arrays = dependent(&self.references).into_iter().collect();
        }
        if !said.is_empty() {
            row.reason = words::of_gcc(&said).map_or_else(|| said.clone(), str::to_owned);
            row.said = said;
        }
    }
}

/// Statements of a loop whose memory is looked at.
const MOST_REFERENCES: usize = 1000;

/// The one array that is written, and used with another subscript; `None` if several are, or one without a name.
fn dependent(references: &[(String, bool)]) -> Option<String> {
    let named: Vec<(Option<String>, &str, bool)> = references
        .iter()
        .filter(|(text, _)| text.contains('[') || text.contains('*') || text.contains("MEM"))
        .map(|(text, is_written)| (array(text), text.as_str(), *is_written))
        .collect();
    let is_dependent = |(name, text, is_written): &&(Option<String>, &str, bool)| {
        *is_written && named.iter().any(|(other, said, _)| other == name && said != text)
    };
    let mut found: Vec<&Option<String>> = named.iter().filter(is_dependent).map(|(name, ..)| name).collect();
    found.sort_unstable();
    found.dedup();
    match found[..] {
        [Some(name)] => Some(name.clone()),
        _ => None,
    }
}

/// `a` of `a[_1]`, `(*a_15(D))[_4]`, `MEM <real(kind=8)[0:D.4280]> [(real(kind=8)[0:D.4236] *)&a][_28]`; `s->a` of
/// `s_9(D)->a[_1]`. `None` = it has no name, but a number of GCC's.
fn array(text: &str) -> Option<String> {
    // Behind what comes from outside of the function.
    let text = text.replace("(D)", "");
    let text = match text.strip_prefix("MEM") {
        Some(rest) => rest.rsplit_once("*)").map_or(rest, |(_, name)| name).trim_start_matches('&'),
        None => text.trim_start_matches(['(', '*', '&']),
    };
    let mut name = String::new();
    for (place, part) in text.split_inclusive("->").enumerate() {
        let end = part.find(['[', ' ', ')', ']', ';']).unwrap_or(part.len());
        let word = &part[..end];
        let is_open = end == part.len();
        // Only what stands first has a number behind its name.
        match place {
            0 => name += &plain(word),
            _ => name += word,
        }
        if !is_open {
            break;
        }
    }
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (is_name && !is_numbered(&name)).then_some(name)
}

/// `a->` of `a_15->`.
fn plain(word: &str) -> String {
    let (word, arrow) = word.strip_suffix("->").map_or((word, ""), |word| (word, "->"));
    let plain = match word.rsplit_once('_') {
        Some((name, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            name
        }
        _ => word,
    };
    if plain.is_empty() { word.to_owned() } else { format!("{plain}{arrow}") }
}

/// Values that GCC has made itself: `_15`.
fn is_numbered(name: &str) -> bool {
    name.strip_prefix('_').is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether a loop became a call, and no loop is left of it: `split to 0 loops and 1 library calls`.
fn is_call(message: &Message) -> bool {
    let split = message.text.split_once("split to ").and_then(|(_, split)| split.split_once(" loops and "));
    let is_none = |number: &str| number.trim() == "0";
    let calls = |rest: &str| rest.split_once(" library calls").is_some_and(|(number, _)| !is_none(number));
    message.kind == "success" && split.is_some_and(|(loops, rest)| is_none(loops) && calls(rest))
}

/// `Inlining f into g.`, `not inlinable: g -> f, why`.
fn inlining(message: Message) -> Option<Remark> {
    let [first, second, ..] = &message.nodes[..] else { return None };
    let line = first_line(&message.text);
    if message.kind == "success" {
        let row = row(&message, RemarkKind::Inlined)?;
        return Some(Remark { callee: first.clone(), function: caller(&message, second), ..row });
    }
    let is_refusal = line.contains("not inlinable") || line.contains("will not");
    let said = line.rsplit_once(", ").map_or(line, |(_, said)| said);
    let row = is_refusal.then(|| row(&message, RemarkKind::NotInlined)).flatten()?;
    Some(Remark {
        callee: second.clone(),
        function: caller(&message, first),
        reason: words::of_inlining(said).unwrap_or(said).to_owned(),
        said: said.to_owned(),
        ..row
    })
}

/// The function whose author wrote the call.
fn caller(message: &Message, told: &str) -> String {
    message.chain.first().map_or_else(|| told.to_owned(), |link| link.fndecl.clone())
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or("").trim_end_matches('.')
}

fn row(message: &Message, kind: RemarkKind) -> Option<Remark> {
    let at = message.location.clone().filter(|at| at.line != 0 && !at.file.is_empty())?;
    let function = message.chain.first().map_or(&message.function, |link| &link.fndecl);
    Some(Remark {
        compiler: Compiler::Gcc,
        file: at.file,
        line: at.line,
        column: at.column,
        function: function.clone(),
        pass: message.pass.clone(),
        kind,
        reason: String::new(),
        said: first_line(&message.text).to_owned(),
        dependence: None,
        arrays: Vec::new(),
        lanes: 0,
        callee: String::new(),
        chain: sites(&message.chain),
    })
}

/// The first is the function itself; each other says where the one before was called.
fn sites(chain: &[ChainLink]) -> Vec<Site> {
    let site = |link: &ChainLink| {
        let at = link.site.clone().unwrap_or_default();
        Site { function: link.fndecl.clone(), file: at.file, line: at.line, column: at.column }
    };
    chain.iter().skip(1).map(site).collect()
}

#[cfg(test)]
mod tests {
    use super::{array, dependent};

    #[test]
    fn arrays_are_named_as_their_author_did() {
        for (text, name) in [
            ("a[_1]", Some("a")),
            ("(*a_15(D))[_4]", Some("a")),
            ("MEM <real(kind=8)[0:D.4280]> [(real(kind=8)[0:D.4236] *)&a][_28]", Some("a")),
            ("s_9(D)->a[i_14]", Some("s->a")),
            ("*_6", None),
            ("work_2[i_3]", Some("work")),
            ("old_grid[i_3]", Some("old_grid")),
            ("*m_12", Some("m")),
        ] {
            assert_eq!(array(text).as_deref(), name, "{text}");
        }
    }

    #[test]
    fn an_array_is_named_if_no_other_can_be_meant() {
        let of = |list: &[(&str, bool)]| {
            dependent(&list.iter().map(|(text, written)| ((*text).to_owned(), *written)).collect::<Vec<_>>())
        };
        assert_eq!(of(&[("a[_1]", false), ("b[i_2]", false), ("a[i_2]", true)]).as_deref(), Some("a"));
        // c is read and written at one place.
        assert_eq!(
            of(&[("a[_1]", false), ("c[i_2]", false), ("c[i_2]", true), ("a[i_2]", true)]).as_deref(),
            Some("a")
        );
        assert_eq!(of(&[("a[_1]", false), ("a[i_2]", true), ("b[_1]", false), ("b[i_2]", true)]), None);
        assert_eq!(of(&[("*_3", false), ("*_5", true), ("a[_1]", false), ("a[i_2]", true)]), None);
    }
}
