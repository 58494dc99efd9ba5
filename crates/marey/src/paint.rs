//! Text for a terminal: colour where it helps, and names made harmless.
//!
//! The one idea: colour is a second sign, never the only one; without it the same text stands
//! there. Names come from the measured program and may hold anything, so control characters never
//! reach the terminal.

use std::io::{self, IsTerminal, Write};

/// What the output can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paint {
    has_colour: bool,
    /// Characters of a line.
    width: usize,
}

/// Longer lines of prose are hard to read, whatever the width of the terminal.
const MAX_PROSE: usize = 98;
/// Below this nothing can be laid out.
const MIN_WIDTH: usize = 40;

/// What a piece of text is, which decides how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Nothing special.
    Text,
    /// The title of a section.
    Title,
    /// The answer to the question asked.
    Strong,
    /// Explanations and column heads, which the eye may skip.
    Faint,
    /// Bars.
    Bar,
    /// Something went wrong.
    Alarm,
    /// All is well.
    Good,
}

impl Paint {
    /// Colour if standard output is a terminal and the user does not object.
    ///
    /// Lines are as wide as the terminal, or as `COLUMNS` says; in a file or a pipe they are as
    /// long as they need to be.
    pub(crate) fn for_stdout() -> Self {
        let stdout = io::stdout();
        let objects = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let seen = || rustix::termios::tcgetwinsize(&stdout).ok().map(|size| usize::from(size.ws_col));
        let width = said.or_else(seen).filter(|&columns| columns != 0);
        Self {
            has_colour: stdout.is_terminal() && !objects && !is_dumb,
            width: width.map_or(usize::MAX, |columns| columns.max(MIN_WIDTH)),
        }
    }

    /// The same in black and white.
    pub(crate) fn without_colour(self) -> Self {
        Self { has_colour: false, ..self }
    }

    /// Characters of a line of a table.
    pub(crate) fn width(self) -> usize {
        self.width
    }

    /// Characters of a line of prose.
    pub(crate) fn prose_width(self) -> usize {
        self.width.min(MAX_PROSE)
    }

    /// `text` as it looks.
    pub(crate) fn paint(self, look: Look, text: &str) -> String {
        let code = match look {
            Look::Text => "",
            Look::Title => "1;36",
            Look::Strong => "1",
            Look::Faint => "2",
            Look::Bar => "36",
            Look::Alarm => "1;33",
            Look::Good => "32",
        };
        if !self.has_colour || code.is_empty() || text.is_empty() {
            return text.to_owned();
        }
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// The heading of a section, with words of explanation beside it.
pub(crate) fn title(out: &mut dyn Write, paint: Paint, name: &str, remark: &str) -> io::Result<()> {
    let head = paint.paint(Look::Title, name);
    if remark.is_empty() {
        return writeln!(out, "\n{head}");
    }
    let beside = name.chars().count() + 2;
    let lines = wrap(remark, paint.prose_width() - beside);
    for (place, line) in lines.iter().enumerate() {
        let line = paint.paint(Look::Faint, line);
        match place {
            0 => writeln!(out, "\n{head}  {line}")?,
            _ => writeln!(out, "{:beside$}{line}", "")?,
        }
    }
    Ok(())
}

/// What is worth saying of a table, and what to do.
pub(crate) fn remark(out: &mut dyn Write, paint: Paint, text: &str) -> io::Result<()> {
    for (place, line) in wrap(text, paint.prose_width() - 4).iter().enumerate() {
        let mark = if place == 0 { paint.paint(Look::Bar, "▸ ") } else { "  ".to_owned() };
        writeln!(out, "  {mark}{line}")?;
    }
    Ok(())
}

/// A sentence or two below a table.
pub(crate) fn note(out: &mut dyn Write, paint: Paint, text: &str) -> io::Result<()> {
    let lines = wrap(text, paint.prose_width() - 2);
    lines.iter().try_for_each(|line| writeln!(out, "  {}", paint.paint(Look::Faint, line)))
}

/// Breaks a text at spaces into lines of at most `width` characters. No line ends at a no-break
/// space.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && width < line.chars().count() + 1 + word.chars().count() {
            lines.push(word.to_owned());
        } else {
            let gap = if line.is_empty() { "" } else { " " };
            line.extend([gap, word]);
        }
    }
    lines.iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

/// A name without control characters.
pub(crate) fn harmless(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// At most `width` characters of `text`; what is cut is the middle, since names differ at both ends.
pub(crate) fn shorten(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let head = kept.div_ceil(2);
    let tail = kept - head;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{start}…{end}")
}

/// A bar of at most `width` characters that stands for `part` of `whole`, in eighths of a character.
pub(crate) fn bar(part: i64, whole: i64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if whole <= 0 || part <= 0 {
        return String::new();
    }
    let eighths = i128::from(part.min(whole)) * 8 * width as i128 / i128::from(whole);
    // Rounded down, but never to nothing: what is there is seen.
    let eighths = usize::try_from(eighths.max(1)).unwrap_or(0);
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

#[cfg(test)]
impl Paint {
    /// Black and white, with lines of so many characters.
    pub(crate) const fn plain(width: usize) -> Self {
        Self { has_colour: false, width }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_steer_the_terminal() {
        assert_eq!(harmless("a\x1b[2Jb\nc\u{9b}d"), "a\u{fffd}[2Jb\u{fffd}c\u{fffd}d");
    }

    #[test]
    fn long_names_lose_their_middle() {
        for (text, width, expected) in [("abcdef", 6, "abcdef"), ("abcdefg", 6, "abc…fg"), ("ä–ö", 2, "ä…")]
        {
            assert_eq!(shorten(text, width), expected);
        }
    }

    #[test]
    fn prose_is_broken_at_spaces_but_not_within_numbers() {
        assert_eq!(wrap("ab cd\u{a0}ms e", 5), ["ab", "cd ms", "e"]);
        let mut out = Vec::new();
        title(&mut out, Paint::plain(12), "NAME", "some words of it").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "\nNAME  some\n      words\n      of it\n");
    }

    #[test]
    fn bars_show_their_share() {
        for (part, whole, expected) in
            [(0, 8, ""), (8, 8, "████"), (4, 8, "██"), (1, 1000, "▏"), (9, 8, "████"), (1, 0, "")]
        {
            assert_eq!(bar(part, whole, 4), expected, "{part}/{whole}");
        }
    }
}
