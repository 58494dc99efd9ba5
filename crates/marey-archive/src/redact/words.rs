//! Names in pieces: which of them are paths.
//!
//! The one idea: a path of Windows may have blanks, so it is what lies between letters that no path has; one of any other
//! system ends where a word does.

/// Letters that end a path of Windows, as it stands in a name.
const ENDS: &[char] =
    &['\'', '"', '<', '>', '|', '*', '?', ':', ',', ';', '(', ')', '[', ']', '{', '}', '\n', '`'];

/// A text in pieces: words that could be a path or a node, and what stands between them.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = match windows_path(rest) {
            Some(end) => end,
            None => rest.find(|letter| is_in_word(letter) != is_in_word(first)).unwrap_or(rest.len()),
        };
        let (word, behind) = rest.split_at(end);
        rest = behind;
        Some(word)
    })
}

fn is_in_word(letter: char) -> bool {
    letter.is_alphanumeric() || r"/\._-~+".contains(letter)
}

/// Where a path of Windows ends that begins here: at a drive, or on a server.
fn windows_path(text: &str) -> Option<usize> {
    let mut letters = text.bytes();
    let (first, second, third) = (letters.next()?, letters.next()?, letters.next()?);
    let is_of_drive = first.is_ascii_alphabetic() && second == b':' && matches!(third, b'\\' | b'/');
    let start = match (is_of_drive, text.starts_with(r"\\")) {
        (true, _) => 3,
        (_, true) => 2,
        _ => return None,
    };
    let most = text[start..].find(ENDS).map_or(text.len(), |end| start + end);
    // Blanks are of it as far as directories go. Behind them a name may end with a word of its own, as with `x.dat`.
    let directories = text[..most].rfind(['\\', '/']).map_or(start, |last| last + 1);
    let name = &text[directories..most];
    let end_of_word = name.find(|letter| !is_in_word(letter)).unwrap_or(name.len());
    let is_file = |(at, word): &(usize, &str)| *at > end_of_word && word.contains('.');
    let blanks =
        name.match_indices(' ').map(|(at, _)| (at + 1, name[at + 1..].split(' ').next().unwrap_or("")));
    let last = blanks.rev().find(is_file).map(|(at, word)| at + word.len());
    Some(directories + last.unwrap_or(end_of_word))
}

/// Whether a word is a path: it begins at a root or where somebody was, or leads through a directory to a file. A name may
/// have a stroke without being one: `operator/`, `step/solve`. The other stroke is of no name.
pub(super) fn is_path(word: &str) -> bool {
    let begins = ["/", "./", "../", "~"].iter().any(|start| word.starts_with(start));
    let last = word.rsplit('/').find(|part| !part.is_empty());
    let is_of_windows = word.contains('\\') && word.contains(|letter: char| letter.is_alphanumeric());
    is_of_windows
        || windows_path(word).is_some()
        || (word.contains('/') && last.is_some_and(|last| begins || last.contains('.')))
}
