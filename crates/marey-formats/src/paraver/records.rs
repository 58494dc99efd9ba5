//! Lines of a trace: numbers between colons.

/// A thread, by the numbers that the trace has for it, all from 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Who {
    pub application: u64,
    pub task: u64,
    pub thread: u64,
}

/// A line. Times are in the unit of the trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Record {
    State {
        who: Who,
        begin: i64,
        end: i64,
        state: i64,
    },
    /// Its types and values are put elsewhere.
    Event {
        who: Who,
        time: i64,
    },
    Message {
        from: Who,
        /// When the call that sends it was entered.
        sent: i64,
        to: Who,
        /// When the call that gets it was entered.
        awaited: i64,
        /// When it was there.
        received: i64,
        bytes: u64,
        tag: i64,
    },
    Communicator {
        application: u64,
        id: i64,
        /// Numbers of its tasks, from 1.
        tasks: Vec<u64>,
    },
    /// A remark.
    Remark,
}

/// What is wrong with a line.
pub(super) const NO_RECORD: &str = "lines that are no records";
pub(super) const ODD: &str = "events that have a type and no value";

/// Reads a line. Types and values of an event go to `pairs`; where one value is missing, so says the second of what is
/// returned.
pub(super) fn parse(
    line: &[u8],
    pairs: &mut Vec<(i64, i64)>,
) -> Result<(Record, Option<&'static str>), &'static str> {
    let (first, rest) = line.split_at_checked(2).ok_or(NO_RECORD)?;
    let mut numbers = Numbers(Some(rest));
    let read = match first {
        b"1:" => state(&mut numbers),
        b"2:" => return event(numbers, pairs),
        b"3:" => message(&mut numbers),
        b"c:" | b"C:" => communicator(numbers),
        _ if first.starts_with(b"#") => Some(Record::Remark),
        _ => None,
    };
    read.map(|record| (record, None)).ok_or(NO_RECORD)
}

fn state(numbers: &mut Numbers<'_>) -> Option<Record> {
    let who = numbers.who()?;
    let (begin, end, state) = (numbers.time()?, numbers.time()?, numbers.next()?);
    (begin <= end && numbers.0.is_none()).then_some(Record::State { who, begin, end, state })
}

fn event(
    mut numbers: Numbers<'_>,
    pairs: &mut Vec<(i64, i64)>,
) -> Result<(Record, Option<&'static str>), &'static str> {
    let who = numbers.who().ok_or(NO_RECORD)?;
    let time = numbers.time().ok_or(NO_RECORD)?;
    pairs.clear();
    let mut wrong = None;
    while numbers.0.is_some() {
        match (numbers.next(), numbers.next()) {
            (Some(kind), Some(value)) => pairs.push((kind, value)),
            _ => wrong = Some(ODD),
        }
    }
    Ok((Record::Event { who, time }, wrong))
}

fn message(numbers: &mut Numbers<'_>) -> Option<Record> {
    let (from, sent, _) = (numbers.who()?, numbers.time()?, numbers.time()?);
    let (to, awaited, received) = (numbers.who()?, numbers.time()?, numbers.time()?);
    let (bytes, tag) = (u64::try_from(numbers.next()?).ok()?, numbers.next()?);
    numbers.0.is_none().then_some(Record::Message { from, sent, to, awaited, received, bytes, tag })
}

fn communicator(mut numbers: Numbers<'_>) -> Option<Record> {
    let (application, id, _) = (numbers.whole()?, numbers.next()?, numbers.whole()?);
    let mut tasks = Vec::new();
    while numbers.0.is_some() {
        tasks.push(numbers.whole()?);
    }
    Some(Record::Communicator { application, id, tasks })
}

/// Numbers that are still to be read; `None` behind the last.
struct Numbers<'a>(Option<&'a [u8]>);

impl Numbers<'_> {
    #[inline]
    fn next(&mut self) -> Option<i64> {
        let rest = self.0?;
        // Tasks of communicators stand between commas in some traces.
        let end = rest.iter().position(|byte| matches!(byte, b':' | b','));
        let (text, rest) = match end {
            Some(end) => (rest.get(..end)?, rest.get(end + 1..)),
            None => (rest, None),
        };
        self.0 = rest;
        number(text.trim_ascii())
    }

    fn whole(&mut self) -> Option<u64> {
        u64::try_from(self.next()?).ok()
    }

    fn time(&mut self) -> Option<i64> {
        self.next().filter(|time| *time >= 0)
    }

    /// A processor, which says nothing of the program, and a thread.
    fn who(&mut self) -> Option<Who> {
        self.next()?;
        Some(Who { application: self.whole()?, task: self.whole()?, thread: self.whole()? })
    }
}

/// A number with sign, or one of 64 bits without, whose bits are taken.
#[inline]
fn number(text: &[u8]) -> Option<i64> {
    let (is_negative, digits) = match text.split_first() {
        Some((b'-', digits)) => (true, digits),
        _ => (false, text),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0_u64;
    for digit in digits {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit <= 9)?;
        value = value.checked_mul(10)?.checked_add(digit.into())?;
    }
    if is_negative { 0_i64.checked_sub_unsigned(value) } else { Some(value.cast_signed()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<&Record>) {
        let read = parse(line.as_bytes(), &mut Vec::new()).ok();
        assert_eq!(read.map(|it| it.0).as_ref(), expected, "{line}");
    }

    const WHO: Who = Who { application: 1, task: 2, thread: 3 };

    #[test]
    fn records_are_read_and_others_are_not() {
        check("1:9:1:2:3:4:5:6", Some(&Record::State { who: WHO, begin: 4, end: 5, state: 6 }));
        check("1:9:1:2:3:5:4:6", None);
        check("1:9:1:2:3:4:5", None);
        check("1:9:1:2:3:4:5:6:7", None);
        check("2:9:1:2:3:4", Some(&Record::Event { who: WHO, time: 4 }));
        check("2:9:1:2:3:-4", None);
        let message = Record::Message {
            from: WHO,
            sent: 4,
            to: Who { task: 1, ..WHO },
            awaited: 6,
            received: 7,
            bytes: 8,
            tag: -9,
        };
        check("3:9:1:2:3:4:5:9:1:1:3:6:7:8:-9", Some(&message));
        check("3:9:1:2:3:4:5:9:1:1:3:6:7:-8:9", None);
        let group = |tasks: &[u64]| Record::Communicator { application: 1, id: 5, tasks: tasks.to_vec() };
        check("c:1:5:2:3:4", Some(&group(&[3, 4])));
        check("c:1:5:2:3,4", Some(&group(&[3, 4])));
        check("# 1:2", Some(&Record::Remark));
        check("4:1", None);
        check("1", None);
    }

    #[test]
    fn values_are_numbers_of_64_bits() {
        let mut pairs = Vec::new();
        let (_, wrong) = parse(b"2:0:1:1:1:0:7:18446744073709551615:8:-1:9", &mut pairs).unwrap();
        assert_eq!((pairs, wrong), (vec![(7, -1), (8, -1)], Some(ODD)));
        assert_eq!(number(b"18446744073709551616"), None);
        assert_eq!(number(b"-9223372036854775808"), Some(i64::MIN));
    }
}
