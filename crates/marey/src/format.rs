//! Numbers as people read them: spans of time, bytes, counts, shares.
//!
//! The one idea: three significant digits and the unit that keeps the number below a thousand, so
//! a column can be compared at a glance. Exact numbers are in the JSON.

use marey_model::Nanos;

/// A span of time: `1.23 s`, `45.6 ms`, `789 µs`, `12 ns`.
pub(crate) fn duration(span: Nanos) -> String {
    let sign = if span.0 < 0 { "-" } else { "" };
    let ns = span.0.unsigned_abs();
    if ns < 1_000 {
        return format!("{sign}{ns} ns");
    }
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let ns = ns as f64;
    // The limits are where three digits would round up to a fourth.
    let (value, unit) = match ns {
        ns if ns < 999_500.0 => (ns / 1e3, "µs"),
        ns if ns < 999_500_000.0 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{sign}{} {unit}", three_digits(value))
}

/// An amount of data in powers of 1024: `12 B`, `3.40 KiB`, `1.20 GiB`.
pub(crate) fn bytes(amount: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if amount < 1024 {
        return format!("{amount} B");
    }
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let mut value = amount as f64 / 1024.0;
    let mut unit = 0;
    while 999.5 <= value && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", three_digits(value), UNITS[unit])
}

/// An amount of data in at most four characters, where space is dear: `12`, `3.4K`, `120M`.
pub(crate) fn bytes_short(amount: u64) -> String {
    if amount < 1000 {
        return amount.to_string();
    }
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    let mut value = amount as f64 / 1024.0;
    let mut units = "KMGTPE".chars();
    let mut unit = units.next().unwrap_or(' ');
    while 999.5 <= value {
        value /= 1024.0;
        unit = units.next().unwrap_or(unit);
    }
    if value < 9.95 { format!("{value:.1}{unit}") } else { format!("{value:.0}{unit}") }
}

/// A count with thin groups of three digits: `1 234 567`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position != 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// An amount of whatever is counted in powers of 1000, three digits: `12`, `3.40 k`, `1.20 G`.
pub(crate) fn amount(value: f64) -> String {
    const UNITS: [&str; 6] = ["k", "M", "G", "T", "P", "E"];
    if value < 999.5 {
        return format!("{value:.0}");
    }
    let (mut value, mut unit) = (value / 1000.0, 0);
    while 999.5 <= value && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{} {}", three_digits(value), UNITS[unit])
}

/// A count with its noun: `1 message`, `2 messages`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    counted_as(number, noun, &format!("{noun}s"))
}

/// The same for nouns with a plural of their own.
pub(crate) fn counted_as(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// A number that no line break may tear apart.
pub(crate) fn solid(number: String) -> String {
    number.replace(' ', "\u{a0}")
}

/// A text without what only holds lines together.
pub(crate) fn plain(text: &str) -> String {
    text.replace('\u{a0}', " ")
}

/// The share of `part` in `whole`: `12.3 %`. Empty where there is no whole.
pub(crate) fn percent(part: i64, whole: i64) -> String {
    if whole <= 0 {
        return String::new();
    }
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let share = part as f64 / whole as f64 * 100.0;
    if 99.95 <= share { format!("{share:.0} %") } else { format!("{share:.1} %") }
}

/// A point in time as seconds with nanoseconds, for columns: `1.234567890`.
pub(crate) fn seconds(at: Nanos) -> String {
    let sign = if at.0 < 0 { "-" } else { "" };
    let ns = at.0.unsigned_abs();
    format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// A moment of the calendar, from ns since 1970: `2026-11-21 07:15:32 UTC`. Always UTC: a run is
/// read elsewhere than it was made. 0 is that of a trace that does not say.
pub(crate) fn date(realtime_ns: i64) -> String {
    if realtime_ns == 0 {
        return "date not known".to_owned();
    }
    let seconds = realtime_ns.div_euclid(1_000_000_000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil_from_days(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// The Gregorian date of a day counted from 1970-01-01, by Howard Hinnant's algorithm: years begin
/// in March, so that the leap day is the last.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// What the user types for a time: `1.5`, `1.5s`, `20ms`, `300us`, `7ns`.
pub(crate) fn parse_time(text: &str) -> Result<Nanos, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let ns_per_unit = match unit.trim() {
        "" | "s" => 1e9,
        "ms" => 1e6,
        "us" | "µs" => 1e3,
        "ns" => 1.0,
        other => return Err(format!("unknown unit {other:?}; use ns, us, ms or s")),
    };
    let number: f64 = number.parse().map_err(|_| "not a number".to_owned())?;
    let ns = (number * ns_per_unit).round();
    // 2⁵³ ns are 104 days: up to there every nanosecond can be typed exactly.
    if 9_007_199_254_740_992.0 < ns.abs() {
        return Err("further than 104 days".to_owned());
    }
    #[expect(clippy::cast_possible_truncation, reason = "below 2⁵³ by the check above")]
    Ok(Nanos(ns as i64))
}

fn three_digits(value: f64) -> String {
    if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_expected() {
        let cases = [
            (duration(Nanos(0)), "0 ns"),
            (duration(Nanos(999)), "999 ns"),
            (duration(Nanos(1_000)), "1.00 µs"),
            (duration(Nanos(999_499)), "999 µs"),
            (duration(Nanos(999_500)), "1.00 ms"),
            (duration(Nanos(-12_340_000)), "-12.3 ms"),
            (duration(Nanos(61_000_000_000)), "61.0 s"),
            (bytes(1023), "1023 B"),
            (bytes(1024), "1.00 KiB"),
            (bytes(1_048_575), "1.00 MiB"),
            (bytes(u64::MAX), "16384 PiB"),
            (bytes_short(999), "999"),
            (bytes_short(1000), "1.0K"),
            (bytes_short(1_023_999), "1.0M"),
            (bytes_short(u64::MAX), "16E"),
            (count(0), "0"),
            (count(123), "123"),
            (count(1_234_567), "1 234 567"),
            (counted(1, "message"), "1 message"),
            (percent(1, 8), "12.5 %"),
            (percent(8, 8), "100 %"),
            (percent(1, 0), ""),
            (date(0), "date not known"),
            (date(1), "1970-01-01 00:00:00 UTC"),
            (date(1_795_245_324_822_086_083), "2026-11-21 07:15:24 UTC"),
            (date(951_782_400_000_000_000), "2000-02-29 00:00:00 UTC"),
            (date(-1), "1969-12-31 23:59:59 UTC"),
            (seconds(Nanos(1_234_567_890)), "1.234567890"),
        ];
        for (found, expected) in cases {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn times_are_read_with_their_unit() {
        let cases = [("1.5", 1_500_000_000), ("20ms", 20_000_000), ("3us", 3_000), ("7ns", 7), ("0", 0)];
        for (text, expected) in cases {
            assert_eq!(parse_time(text), Ok(Nanos(expected)), "{text}");
        }
        for text in ["", "s", "1h", "1.2.3", "1e300", "9999999999"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
