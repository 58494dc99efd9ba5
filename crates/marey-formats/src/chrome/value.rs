//! Numbers and texts of events.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};
use serde_json::value::RawValue;

/// A text that is not copied where that is not needed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Text<'a>(pub Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Of;
        impl<'de> Visitor<'de> for Of {
            type Value = Text<'de>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        from.deserialize_str(Of)
    }
}

/// A text, or what else stands there as it is written.
pub(super) fn text(raw: &RawValue) -> Cow<'_, str> {
    let written = raw.get();
    match written.as_bytes().first() {
        Some(b'"') => serde_json::from_str::<Text<'_>>(written).map_or(Cow::Borrowed(written), |text| text.0),
        _ => Cow::Borrowed(written),
    }
}

/// Microseconds in ns, exactly as long as there are no more than three digits behind the point; others are cut off. `None` if it
/// is no number, or one that no clock shows.
pub(super) fn ns(raw: &RawValue) -> Option<i64> {
    let written = raw.get().trim_matches('"');
    let (sign, digits) = written.strip_prefix('-').map_or((1, written), |rest| (-1, rest));
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !are_digits(whole) || !are_digits(rest) {
        return by_power(written);
    }
    let whole: i64 = whole.parse().ok()?;
    let mut part = 0;
    for at in 0..3 {
        part = part * 10 + i64::from(rest.as_bytes().get(at).map_or(0, |digit| digit - b'0'));
    }
    whole.checked_mul(1000)?.checked_add(part)?.checked_mul(sign)
}

/// The same of a number with an exponent.
fn by_power(written: &str) -> Option<i64> {
    let number: f64 = written.parse().ok()?;
    let ns = (number * 1000.0).round();
    #[expect(clippy::cast_possible_truncation, reason = "it is looked at before")]
    (ns.abs() < 9e18).then_some(ns as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        let ns = |written: &str| super::ns(serde_json::from_str::<&RawValue>(written).unwrap());
        assert_eq!(ns("1712170279000123.456"), Some(1_712_170_279_000_123_456));
        assert_eq!(ns("0.0019"), Some(1));
        assert_eq!(ns("-7.25"), Some(-7250));
        assert_eq!(ns("1.5e3"), Some(1_500_000));
        assert_eq!(ns("\"12\""), Some(12_000));
        assert_eq!(ns("99999999999999999999"), None);
        assert_eq!(ns("1e300"), None);
        assert_eq!(ns("null"), None);
        assert_eq!(text(serde_json::from_str(r#""a\"b""#).unwrap()), "a\"b");
        assert_eq!(text(serde_json::from_str("17").unwrap()), "17");
    }
}
