//! Nodes and users, taken out of names wherever they stand as whole words.
//!
//! The one idea: who somebody is stands in the paths of a run, below the directory of all homes. What is known from there is
//! looked for in all names.
//!
//! What is deliberately absent: guesses. A user who is named in a region and nowhere else is not known.

use std::collections::BTreeMap;

/// Directories that hold those of users.
const HOMES: &[&str] = &["/home/", "/Users/", "/users/", r"\Users\", r"\users\"];

/// These say nothing of anybody.
const NOBODY: &[&str] = &["root", "public", "shared", "default", "user", "users", "runner"];

/// Names in lower case, and what stands in their place.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// By their first word, for there may be thousands of nodes and a million names to look into; the longest first.
    names: BTreeMap<String, Vec<(String, String)>>,
    users: usize,
}

impl Known {
    /// A node, by its whole name and by its first part.
    pub(super) fn node(&mut self, host: &str, new: &str) {
        let first = host.split('.').next().unwrap_or_default();
        // The first part of an address is only a number.
        let is_name = first.contains(|letter: char| letter.is_alphabetic());
        for name in [Some(host), Some(first).filter(|_| is_name)].into_iter().flatten() {
            self.add(name.to_lowercase(), new.to_owned());
        }
    }

    /// Adds a name, unless it is there.
    fn add(&mut self, name: String, new: String) {
        let first = first_word(&name).to_owned();
        if first.is_empty() {
            return;
        }
        let names = self.names.entry(first).or_default();
        if names.iter().all(|(there, _)| *there != name) {
            names.push((name, new));
            names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        }
    }

    pub(super) fn user(&mut self, user: &str) {
        let user = user.trim().to_lowercase();
        let is_known = |names: &Vec<(String, String)>| names.iter().any(|(there, _)| *there == user);
        if user.chars().count() < 2
            || NOBODY.contains(&user.as_str())
            || self.names.get(first_word(&user)).is_some_and(is_known)
        {
            return;
        }
        self.users += 1;
        self.add(user, format!("user-{}", self.users));
    }

    /// A text without them, and what went, as it was written.
    pub(super) fn taken_out(&self, text: &str) -> (String, Vec<String>) {
        let (mut kept, mut gone) = (String::with_capacity(text.len()), Vec::new());
        let (mut rest, mut before) = (text, None);
        while let Some(first) = rest.chars().next() {
            let found = if before.is_some_and(is_in_name) { None } else { self.at_start(rest) };
            let taken = match found {
                Some((len, new)) => {
                    kept.push_str(new);
                    gone.push(rest[..len].to_owned());
                    len
                }
                None => {
                    kept.push(first);
                    first.len_utf8()
                }
            };
            before = rest[..taken].chars().last();
            rest = &rest[taken..];
        }
        (kept, gone)
    }

    /// The longest that a text begins with, as a whole word.
    fn at_start(&self, text: &str) -> Option<(usize, &str)> {
        let names = self.names.get(&first_word(text).to_lowercase())?;
        let is_here = |name: &str| {
            let start = text.get(..name.len());
            start.is_some_and(|start| start.to_lowercase() == name)
                && !text[name.len()..].starts_with(is_in_name)
        };
        let found = names.iter().find(|(name, _)| is_here(name));
        found.map(|(name, new)| (name.len(), new.as_str()))
    }
}

fn is_in_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn first_word(text: &str) -> &str {
    &text[..text.find(|letter| !is_in_name(letter)).unwrap_or(text.len())]
}

fn is_in_user(letter: char) -> bool {
    letter.is_alphanumeric() || "._-".contains(letter)
}

/// Letters that are in no name of a directory.
const QUOTES: &[char] = &['\'', '"', ':', '\n'];

/// Users whose directories a text names.
pub(super) fn users_in(text: &str) -> Vec<String> {
    let mut users = Vec::new();
    for home in HOMES {
        for (at, _) in text.match_indices(home) {
            let behind = &text[at + home.len()..];
            let word = || behind.find(|letter| !is_in_user(letter)).unwrap_or(behind.len());
            // On Windows names have blanks, and a stroke behind them.
            let end =
                behind.find('\\').filter(|end| home.starts_with('\\') && !behind[..*end].contains(QUOTES));
            users.push(behind[..end.unwrap_or_else(word)].to_owned());
        }
    }
    users.sort();
    users
}

#[cfg(test)]
mod tests {
    use super::users_in;

    #[test]
    fn users_are_known_by_their_directories() {
        for (text, expected) in [
            ("/home/ada/x.c", &["ada"][..]),
            (r"C:\Users\Ada Lovelace\x.c", &["Ada Lovelace"]),
            ("/Users/grace and /home/linus", &["grace", "linus"]),
            ("--input='/home/ada'", &["ada"]),
            ("/opt/home", &[]),
        ] {
            assert_eq!(users_in(text), expected, "{text}");
        }
    }
}
