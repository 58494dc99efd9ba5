//! Commands for the user to paste.
//!
//! The one idea: a word is quoted only where a shell would take it apart, so that most commands look
//! as they were typed.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Words as a line for a POSIX shell.
pub(crate) fn line<W: AsRef<OsStr>>(words: &[W]) -> String {
    words.iter().map(|word| quote(&word.as_ref().to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// One word.
pub(crate) fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./,:=@%+^".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The recording of `words`, with options of `marey record`.
pub(crate) fn record(options: &str, words: &[OsString]) -> String {
    let gap = if options.is_empty() { "" } else { " " };
    let command = if words.is_empty() { "CMD".to_owned() } else { line(words) };
    format!("marey record{gap}{options} -- {command}")
}

/// `words` with the first `old` replaced. Nothing if there is none: then there is nothing to advise.
pub(crate) fn replaced(words: &[OsString], old: &OsStr, new: &OsStr) -> Option<Vec<OsString>> {
    let at = words.iter().position(|word| word == old)?;
    Some([&words[..at], &[new.to_owned()], &words[at + 1..]].concat())
}

/// The file that a shell would run for `name`, if there is one that may be executed.
pub(crate) fn find_program(name: &OsStr) -> Option<PathBuf> {
    let is_program =
        |path: &Path| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    if name.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|path| is_program(path));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| is_program(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_shell_would_take_apart_is_quoted() {
        let cases =
            [("./a-b_1", "./a-b_1"), ("a b", "'a b'"), ("", "''"), ("it's", r"'it'\''s'"), ("$x", "'$x'")];
        for (word, expected) in cases {
            assert_eq!(quote(word), expected);
        }
    }
}
