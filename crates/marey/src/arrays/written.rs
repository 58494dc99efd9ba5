//! A part of an array as somebody writes it: `1:10,5`, or as Fortran has it, `u(1:10, 5)[3:4]`.
//!
//! The one idea: what can be copied from the source means the same here. A bound that is left away is that of the array, and
//! images count from 1.
//!
//! Deliberately absent: steps, since a selection has all elements between its bounds; several codimensions, of which a run
//! does not tell.

use std::collections::BTreeSet;

/// Lower and upper subscript of a dimension, each `None` where it is left away.
pub(super) type Bounds = (Option<i64>, Option<i64>);

/// What was written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Written {
    /// The array, if it is named.
    pub(super) array: Option<String>,
    /// Its dimensions; none = all of all.
    pub(super) dimensions: Vec<Bounds>,
    /// Numbers of images, if there are brackets.
    pub(super) images: Option<BTreeSet<u32>>,
}

/// More images in one range are a slip.
const MOST_IMAGES: u32 = 1 << 24;

impl Written {
    /// Reads it. The error says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text.trim().to_owned();
        let mut written = Self::default();
        if let Some(open) = rest.find('[') {
            let Some(length) = rest[open..].find(']') else {
                return Err(format!("{text}: the bracket is not closed"));
            };
            written.images = Some(images(&rest[open + 1..open + length])?);
            // Blanks around a bracket are none of a name, those within one are.
            let before = rest[..open].trim_end().len();
            let after = rest.len() - rest[open + length + 1..].trim_start().len();
            rest.replace_range(before..after, "");
        }
        if rest.contains(['[', ']']) {
            return Err(format!("{text}: there is more than one bracket"));
        }
        let is_name = |text: &str| text.chars().any(|it| it.is_alphabetic() || it == '_');
        let inner = match rest.rfind('(') {
            Some(open) => {
                let Some(inner) = rest[open + 1..].strip_suffix(')') else {
                    return Err(format!("{text}: a selection ends with its parenthesis: u(1:10,5)"));
                };
                let name = rest[..open].trim_end();
                written.array = (!name.is_empty()).then(|| name.to_owned());
                inner
            }
            None if is_name(&rest) => {
                written.array = Some(rest);
                return Ok(written);
            }
            None => rest.as_str(),
        };
        if inner.trim().is_empty() && written.images.is_some() {
            return Ok(written);
        }
        written.dimensions = inner.split(',').map(dimension).collect::<Result<_, _>>()?;
        Ok(written)
    }
}

fn dimension(text: &str) -> Result<Bounds, String> {
    let number = |text: &str| -> Result<i64, String> {
        text.trim()
            .parse()
            .map_err(|_| format!("`{text}` is no subscript: write lower:upper, one subscript, or : for all"))
    };
    let bound = |text: &str| if text.trim().is_empty() { Ok(None) } else { number(text).map(Some) };
    match text.split(':').collect::<Vec<_>>()[..] {
        [one] => number(one).map(|it| (Some(it), Some(it))),
        [lower, upper] => Ok((bound(lower)?, bound(upper)?)),
        _ => Err(format!(
            "`{text}` has a step; a selection has all elements between its bounds: leave it away"
        )),
    }
}

/// Numbers of images: `3,4`, `3:4`.
pub(super) fn images(text: &str) -> Result<BTreeSet<u32>, String> {
    let number = |text: &str| -> Result<u32, String> {
        let found = text.trim().parse::<u32>().ok().filter(|it| *it > 0);
        found.ok_or_else(|| {
            format!("`{}` is no number of an image: they count from 1, write 3,4 or 3:4", text.trim())
        })
    };
    let mut found = BTreeSet::new();
    for range in text.split(',') {
        let (first, last) = match range.split_once(':') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(range)?, number(range)?),
        };
        if last < first {
            return Err(format!("images {range} are none: the first is beyond the last"));
        }
        if MOST_IMAGES <= last - first {
            return Err(format!("images {range} are more than {MOST_IMAGES}"));
        }
        found.extend(first..=last);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fortran_writes_is_read() {
        let one = |at: i64| (Some(at), Some(at));
        let written = |array: Option<&str>, dimensions: &[Bounds], images: Option<&[u32]>| Written {
            array: array.map(str::to_owned),
            dimensions: dimensions.to_vec(),
            images: images.map(|it| it.iter().copied().collect()),
        };
        let rows = [
            ("1:10,5", written(None, &[(Some(1), Some(10)), one(5)], None)),
            ("(1:10, 5)[3:4]", written(None, &[(Some(1), Some(10)), one(5)], Some(&[3, 4]))),
            ("u(:, -3:)[1, 3]", written(Some("u"), &[(None, None), (Some(-3), None)], Some(&[1, 3]))),
            ("parts[2]%values(2:4)", written(Some("parts%values"), &[(Some(2), Some(4))], Some(&[2]))),
            ("u", written(Some("u"), &[], None)),
            ("[2]", written(None, &[], Some(&[2]))),
            (":7", written(None, &[(None, Some(7))], None)),
            (
                " block of main ( 0 : 7 ) [ 2 ]",
                written(Some("block of main"), &[(Some(0), Some(7))], Some(&[2])),
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(Written::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_it_is_not_is_said() {
        let rows = [
            ("1:10:2", "has a step"),
            ("", "is no subscript"),
            ("1,,2", "is no subscript"),
            ("u(1:10", "ends with its parenthesis"),
            ("u(1)[2", "not closed"),
            ("u(1)[2][3]", "more than one bracket"),
            ("u(1)[0]", "count from 1"),
            ("u(1)[4:3]", "none: the first is beyond the last"),
            ("u(1)[1:99999999]", "more than 16777216"),
            ("99999999999999999999", "is no subscript"),
        ];
        for (text, words) in rows {
            let error = Written::parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
