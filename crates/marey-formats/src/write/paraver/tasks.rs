//! Which application, task and thread of the trace a location is, and the first line and the names that say so.

use std::fmt::Write;

use marey_analyze::Trace;
use marey_model::{LocationId, Nanos, ProcessId};

use super::super::{Definitions, names};

pub(super) struct Tasks {
    /// `0:APPLICATION:TASK:THREAD` of each location.
    who: Vec<String>,
    /// Processes of each application in the order of their tasks, each with its locations.
    applications: Vec<Vec<(usize, Vec<LocationId>)>>,
    nodes: Vec<String>,
}

impl Tasks {
    pub(super) fn new(trace: &dyn Trace) -> Self {
        let processes = trace.processes();
        let mut first: Vec<usize> = Vec::new();
        let mut others: Vec<usize> = Vec::new();
        for (idx, process) in processes.iter().enumerate() {
            if process.first_rank().is_some() { first.push(idx) } else { others.push(idx) }
        }
        first.sort_by_key(|idx| processes[*idx].first_rank());
        let mut locations: Vec<Vec<LocationId>> = vec![Vec::new(); processes.len()];
        for (idx, location) in trace.locations().iter().enumerate() {
            if let (Some(of), Some(id)) =
                (locations.get_mut(location.process.idx()), LocationId::from_idx(idx))
            {
                of.push(id);
            }
        }
        let mut nodes: Vec<String> = Vec::new();
        for process in processes {
            if !nodes.contains(&process.host) {
                nodes.push(process.host.clone());
            }
        }
        let mut who = vec!["0:1:1:1".to_owned(); trace.locations().len()];
        let groups = [first, others].into_iter().filter(|group| !group.is_empty());
        let mut applications = Vec::new();
        for (application, group) in (1..).zip(groups) {
            let mut tasks = Vec::new();
            for (task, process) in (1..).zip(group) {
                let locations = std::mem::take(&mut locations[process]);
                for (thread, location) in (1..).zip(&locations) {
                    who[location.idx()] = format!("0:{application}:{task}:{thread}");
                }
                tasks.push((process, locations));
            }
            applications.push(tasks);
        }
        Self { who, applications, nodes }
    }

    pub(super) fn who(&self, location: LocationId) -> &str {
        self.who.get(location.idx()).map_or("0:1:1:1", String::as_str)
    }

    /// Numbers of the tasks of a communicator; `None` if the trace cannot have it.
    pub(super) fn group(&self, run: &Definitions<'_>, communicator: usize) -> Option<Vec<usize>> {
        let [members] = run.members.get(communicator)?.as_slice() else { return None };
        let tasks = self.applications.first()?;
        let has_ranks =
            |id: &ProcessId| run.trace.processes().get(id.idx()).is_some_and(|it| it.first_rank().is_some());
        if members.is_empty() || !members.iter().all(has_ranks) {
            return None;
        }
        members.iter().map(|id| tasks.iter().position(|task| task.0 == id.idx()).map(|at| at + 1)).collect()
    }

    /// The first line, and those of communicators.
    pub(super) fn header(&self, run: &Definitions<'_>, end: Nanos) -> String {
        let trace = run.trace;
        let node = |process: usize| {
            let host = trace.processes().get(process).map(|it| &it.host);
            self.nodes.iter().position(|it| Some(it) == host).map_or(0, |at| at + 1)
        };
        let cpus = |number: usize| {
            let tasks = self.applications.iter().flatten();
            tasks
                .filter(|(process, _)| node(*process) == number)
                .map(|(_, locations)| locations.len())
                .sum::<usize>()
        };
        let cpus: Vec<String> = (1..=self.nodes.len()).map(|number| cpus(number).to_string()).collect();
        let groups: Vec<(usize, Vec<usize>)> =
            (0..run.members.len()).filter_map(|id| Some((id + 1, self.group(run, id)?))).collect();
        let mut text = format!(
            "#Paraver ({}):{}_ns:{}({}):{}",
            date(run.epoch_ns),
            end.0.max(0),
            self.nodes.len(),
            cpus.join(","),
            self.applications.len()
        );
        // A text takes all that is written to it.
        for (number, application) in self.applications.iter().enumerate() {
            let tasks: Vec<String> =
                application.iter().map(|(process, of)| format!("{}:{}", of.len(), node(*process))).collect();
            let groups = if number == 0 { groups.len() } else { 0 };
            write!(text, ":{}({}),{groups}", application.len(), tasks.join(",")).ok();
        }
        text.push('\n');
        for (id, tasks) in groups {
            let list: Vec<String> = tasks.iter().map(usize::to_string).collect();
            writeln!(text, "c:1:{id}:{}:{}", tasks.len(), list.join(":")).ok();
        }
        text
    }

    /// The `.row`.
    pub(super) fn rows(&self, trace: &dyn Trace) -> String {
        let tasks = || self.applications.iter().flatten();
        let node = |(number, host): (usize, &String)| {
            if host.is_empty() { format!("node {}", number + 1) } else { names::one_line(host) }
        };
        let nodes: Vec<String> = self.nodes.iter().enumerate().map(node).collect();
        let process = |(process, _): &(usize, Vec<LocationId>)| {
            trace
                .processes()
                .get(*process)
                .map_or_else(String::new, |it| names::one_line(&names::process(it)))
        };
        let threads: Vec<String> = tasks()
            .flat_map(|(_, locations)| locations)
            .map(|location| names::one_line(&names::location_of_all(trace, *location)))
            .collect();
        let levels = [("NODE", nodes), ("TASK", tasks().map(process).collect()), ("THREAD", threads)];
        let mut text = String::new();
        for (level, names) in levels {
            writeln!(text, "LEVEL {level} SIZE {}", names.len()).ok();
            for name in names {
                writeln!(text, "{}", if name.trim().is_empty() { "-" } else { &name }).ok();
            }
            text.push('\n');
        }
        text
    }
}

/// `dd/mm/yyyy at hh:mm` of ns since 1970, of universal time.
fn date(epoch_ns: i64) -> String {
    let minutes = epoch_ns.div_euclid(60_000_000_000);
    let (days, minute) = (minutes.div_euclid(24 * 60), minutes.rem_euclid(24 * 60));
    // Years begin in March, so that leap days are at their end; eras of 400 years are alike.
    let shifted = days + 719_468;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = era * 400 + year + i64::from(month <= 2);
    format!("{day:02}/{month:02}/{year:04} at {:02}:{:02}", minute / 60, minute % 60)
}

#[cfg(test)]
mod tests {
    #[test]
    fn dates_are_those_of_the_calendar() {
        // date -u -d '2019-10-09 16:10' +%s, and the leap day of 2024.
        assert_eq!(super::date(1_570_637_400_000_000_000), "09/10/2019 at 16:10");
        assert_eq!(super::date(1_709_164_800_000_000_000), "29/02/2024 at 00:00");
        assert_eq!(super::date(0), "01/01/1970 at 00:00");
    }
}
