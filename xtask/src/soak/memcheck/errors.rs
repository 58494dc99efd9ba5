//! Reading what valgrind found out of the XML that it writes.
//!
//! Only what is needed to tell errors apart is taken from it, by the names of its elements: kind,
//! and function and object of each frame. The text has no other `<error>` in it, and names are
//! compared as they are escaped.

/// An error.
pub(super) struct Found {
    /// Whether the library did it: its frame is the innermost, apart from those of the allocator.
    pub is_ours: bool,
    /// What makes it the same in a run without the library: kind and frames that are not ours.
    pub identity: String,
    /// For people.
    pub text: String,
}

const LIBRARY: &str = "libmarey.so";
/// Frames that tell errors apart.
const TELLING: usize = 6;

/// All errors in a report that matter.
pub(super) fn read(report: &str) -> Vec<Found> {
    report.split("<error>").skip(1).filter_map(|part| error(part.split("</error>").next()?)).collect()
}

fn error(xml: &str) -> Option<Found> {
    let kind = element(xml, "kind")?;
    let stack = xml.split("<stack>").nth(1)?.split("</stack>").next()?;
    let frames: Vec<(&str, &str)> = stack
        .split("<frame>")
        .skip(1)
        .map(|frame| {
            let object = element(frame, "obj").unwrap_or("?");
            (element(frame, "fn").unwrap_or("?"), object.rsplit('/').next().unwrap_or(object))
        })
        .collect();
    let innermost = frames.iter().find(|(_, object)| !object.starts_with("vgpreload_"));
    let is_ours = innermost.is_some_and(|(_, object)| *object == LIBRARY);
    if kind.starts_with("Leak_") {
        let lost: u64 = element(xml, "leakedblocks")?.parse().ok()?;
        if kind != "Leak_DefinitelyLost" || !is_ours || lost < 2 {
            return None;
        }
    }
    let telling = frames.iter().filter(|(_, object)| *object != LIBRARY).take(TELLING);
    let telling: Vec<String> = telling.map(|(function, object)| format!("{function} ({object})")).collect();
    let all: Vec<String> =
        frames.iter().map(|(function, object)| format!("    {function} ({object})")).collect();
    Some(Found {
        is_ours,
        identity: format!("{kind}: {}", telling.join(" < ")),
        text: format!("{kind}\n{}", all.join("\n")),
    })
}

/// The text of the first element of this name.
fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let begin = xml.find(&open)? + open.len();
    Some(&xml[begin..begin + xml[begin..].find(&close)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames as `function object`, the innermost first.
    fn check(kind: &str, blocks: u64, frames: &[&str], expected: Option<(bool, &str)>) {
        let frames: String = frames
            .iter()
            .map(|frame| {
                let (function, object) = frame.split_once(' ').expect("two words");
                format!("<frame><ip>0x1</ip><obj>/lib/{object}</obj><fn>{function}</fn></frame>")
            })
            .collect();
        let report = format!(
            "<status/><error>\n<kind>{kind}</kind><xwhat><leakedblocks>{blocks}</leakedblocks></xwhat>\
             <stack>{frames}</stack><stack><frame><fn>other</fn></frame></stack></error>\n<errorcounts/>"
        );
        let found = read(&report);
        let found = found.first().map(|found| (found.is_ours, found.identity.as_str()));
        assert_eq!(found, expected);
    }

    #[test]
    fn an_error_is_ours_by_its_innermost_frame_or_by_being_new() {
        let ours = ["enter libmarey.so", "main app"];
        check("UninitCondition", 0, &ours, Some((true, "UninitCondition: main (app)")));
        let theirs = ["writev libc.so.6", "MPI_Send libmarey.so", "main app"];
        check("SyscallParam", 0, &theirs, Some((false, "SyscallParam: writev (libc.so.6) < main (app)")));
    }

    #[test]
    fn a_leak_is_ours_when_it_happens_again() {
        let ours = ["malloc vgpreload_memcheck.so", "begin libmarey.so", "main app"];
        let identity = "Leak_DefinitelyLost: malloc (vgpreload_memcheck.so) < main (app)";
        check("Leak_DefinitelyLost", 2, &ours, Some((true, identity)));
        check("Leak_DefinitelyLost", 1, &ours, None);
        check("Leak_PossiblyLost", 9, &ours, None);
        check("Leak_DefinitelyLost", 9, &["malloc vgpreload_memcheck.so", "main app", "f libmarey.so"], None);
    }
}
