//! Text for a terminal: colour where it helps, and names made harmless.
//!
//! The one idea: colour is a second sign, never the only one; without it the same text stands
//! there. Names come from the measured program and may hold anything, so control characters never
//! reach the terminal.

use std::io::{self, IsTerminal, Write};

/// How text may be coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Plain text.
    Plain,
    /// With the escape sequences of a terminal.
    Colour,
}

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
    pub(crate) fn for_stdout() -> Self {
        let objects = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if std::io::stdout().is_terminal() && !objects && !is_dumb { Self::Colour } else { Self::Plain }
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
        if self == Self::Plain || code.is_empty() || text.is_empty() {
            return text.to_owned();
        }
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// The heading of a section, with a word of explanation beside it.
pub(crate) fn title(out: &mut dyn Write, paint: Paint, name: &str, remark: &str) -> io::Result<()> {
    let gap = if remark.is_empty() { "" } else { "  " };
    writeln!(out, "\n{}{gap}{}", paint.paint(Look::Title, name), paint.paint(Look::Faint, remark))
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
    fn bars_show_their_share() {
        for (part, whole, expected) in
            [(0, 8, ""), (8, 8, "████"), (4, 8, "██"), (1, 1000, "▏"), (9, 8, "████"), (1, 0, "")]
        {
            assert_eq!(bar(part, whole, 4), expected, "{part}/{whole}");
        }
    }
}
