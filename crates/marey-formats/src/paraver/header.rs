//! The first line of a trace: when, how long, and who there is.
//!
//! `#Paraver (dd/mm/yyyy at hh:mm):END[_ns]:NODES:N_APPS:TASKS(THREADS:NODE,…)[,N_COMMUNICATORS]:…`, where the nodes are
//! their number with the processors of each in parentheses, or 0.
//!
//! Numbers in it are not believed: a task is there if it is listed, so no more are made than the line has bytes for.

/// What the first line says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Header {
    /// Calendar time, ns since 1970, of what has no time zone.
    pub epoch_ns: Option<i64>,
    /// ns in a unit of time: 1 or 1000.
    pub unit: i64,
    /// End of the trace in that unit; 0 where unknown.
    pub end: i64,
    /// Tasks by application.
    pub applications: Vec<Vec<Task>>,
    /// Whether all that the line says is there.
    pub is_whole: bool,
}

/// A process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Task {
    pub n_threads: u64,
    /// From 1; 0 where unknown.
    pub node: u64,
}

/// How a trace begins.
pub(crate) const MAGIC: &str = "#Paraver";
/// The date of traces that have none: ovni writes it into each.
const NO_DATE: &str = "19/01/38 at 03:14";
const NS_PER_MINUTE: i64 = 60_000_000_000;

impl Header {
    /// `None` if it is no such line.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let rest = line.strip_prefix(MAGIC)?.trim_start();
        let (date, rest) = rest.strip_prefix('(')?.split_once("):")?;
        let (end, rest) = rest.split_once(':')?;
        let (end, unit) = end.strip_suffix("_ns").map_or((end, 1000), |end| (end, 1));
        let end = end.trim().parse::<i64>().ok().filter(|end| *end >= 0)?;
        let mut header = Self { epoch_ns: epoch(date), unit, end, ..Self::default() };
        let mut parts = outside_parentheses(rest, ':');
        // The nodes: their names are in another file.
        parts.next()?;
        let n_applications = parts.next()?.trim().parse::<u64>().ok()?;
        header.is_whole = true;
        for part in parts {
            let (tasks, is_whole) = application(part)?;
            header.is_whole &= is_whole;
            header.applications.push(tasks);
        }
        header.is_whole &= n_applications == header.applications.len() as u64;
        (!header.applications.is_empty()).then_some(header)
    }
}

/// `TASKS(THREADS:NODE,…)`, and whether as many are listed as it says.
fn application(text: &str) -> Option<(Vec<Task>, bool)> {
    let (number, list) = text.split_once('(')?;
    let (list, is_closed) = list.split_once(')').map_or((list, false), |(list, _)| (list, true));
    let task = |text: &str| {
        let (n_threads, node) = text.split_once(':')?;
        Some(Task { n_threads: n_threads.trim().parse().ok()?, node: node.trim().parse().ok()? })
    };
    let tasks: Vec<Task> = list.split(',').map_while(task).collect();
    let is_whole = is_closed && number.trim().parse::<u64>().is_ok_and(|number| number == tasks.len() as u64);
    Some((tasks, is_whole))
}

/// Parts between separators that stand in no parentheses.
fn outside_parentheses(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    text.split(move |it: char| {
        match it {
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        it == separator && depth == 0
    })
}

/// `dd/mm/yyyy at hh:mm`, of years also the last two digits; taken for universal time.
fn epoch(date: &str) -> Option<i64> {
    if date == NO_DATE {
        return None;
    }
    let (day, time) = date.split_once(" at ")?;
    let mut day = day.split('/').map(|part| part.trim().parse::<i64>().ok());
    let (d, m, y) = (day.next()??, day.next()??, day.next()??);
    let (hour, minute) = time.split_once(':')?;
    let (hour, minute) = (hour.trim().parse::<i64>().ok()?, minute.trim().parse::<i64>().ok()?);
    let y = match y {
        0..=69 => y + 2000,
        70..=99 => y + 1900,
        _ => y,
    };
    let is_date = (1970..2200).contains(&y) && (1..=12).contains(&m) && (1..=31).contains(&d);
    if !is_date || !(0..24).contains(&hour) || !(0..60).contains(&minute) {
        return None;
    }
    // Days since 1970 with years that begin in March, so that leap days are at their end.
    let (y, m) = if m <= 2 { (y - 1, m + 9) } else { (y, m - 3) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + d - 1 - 719_468;
    Some(((days * 24 + hour) * 60 + minute) * NS_PER_MINUTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(n_threads: u64, node: u64) -> Task {
        Task { n_threads, node }
    }

    #[test]
    fn extrae() {
        let header =
            Header::parse("#Paraver (09/10/2019 at 16:10):3513_ns:2(8,4):2:2(1:1,3:2),9:1(1:0),0").unwrap();
        assert_eq!((header.unit, header.end, header.is_whole), (1, 3513, true));
        // date -u -d '2019-10-09 16:10' +%s
        assert_eq!(header.epoch_ns, Some(1_570_637_400_000_000_000));
        assert_eq!(header.applications, [vec![task(1, 1), task(3, 2)], vec![task(1, 0)]]);
    }

    #[test]
    fn tau_and_ovni() {
        let tau = Header::parse("#Paraver (21/11/26 at 02:38):829261:4:1:4(1:1,1:2,1:3,1:4)").unwrap();
        assert_eq!((tau.unit, tau.end, tau.applications[0].len()), (1000, 829_261, 4));
        let ovni = Header::parse("#Paraver (19/01/38 at 03:14):00000000000000000042_ns:0:1:1(7:1)").unwrap();
        assert_eq!((ovni.epoch_ns, ovni.end), (None, 42));
        assert_eq!(ovni.applications, [vec![task(7, 1)]]);
    }

    #[test]
    fn counts_are_not_believed() {
        let header = Header::parse("#Paraver (a):1_ns:1(4):1:1000000000(1:1,1:1").unwrap();
        assert_eq!((header.applications[0].len(), header.is_whole), (2, false));
        assert_eq!(Header::parse("#Paraver (a):1_ns:1(4)"), None);
    }
}
