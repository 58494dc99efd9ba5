//! What messages hold, in mode `full`: elements are those that the program has put there.

use serde_json::{Value, json};

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, need};

/// Events by rank, in the order of time: the name of each, and its fields.
fn events(run: &Run) -> [Vec<(String, Value)>; 2] {
    let (events, kinds) = (run.table("events"), run.table("event_kinds"));
    let ranks = run.table("locations").i64("rank").unwrap().to_vec();
    let mut found: Vec<_> = (0..events.len())
        .map(|row| {
            let rank = ranks[events.u32("location").unwrap()[row] as usize];
            let name = kinds.text("name").unwrap()[events.u32("kind").unwrap()[row] as usize].clone();
            let fields: Value = serde_json::from_str(&events.text("fields").unwrap()[row]).unwrap();
            (rank, events.i64("time").unwrap()[row], name, fields)
        })
        .collect();
    found.sort_by_key(|event| (event.0, event.1));
    [0, 1].map(|rank| {
        let own = found.iter().filter(|event| event.0 == rank);
        own.map(|event| (event.2.clone(), event.3.clone())).collect()
    })
}

/// Elements at `places` of a message with this tag.
fn elements(tag: u64, places: &[u64], is_real: bool) -> Value {
    let value = |place: &u64| {
        let value = 100 * tag + place;
        if is_real { json!(value as f64) } else { json!(value) }
    };
    places.iter().map(|place| (place.to_string(), value(place))).collect::<serde_json::Map<_, _>>().into()
}

/// All that rank 0 sends and rank 1 receives, with these places of ten.
fn expected(places: &[u64], text: &str) -> [Vec<(String, Value)>; 2] {
    let mut ends = [Vec::new(), Vec::new()];
    let words = ["sent", "received"];
    let short = |tag: u64| {
        let places: Vec<u64> = places.iter().copied().filter(|&place| place < 3).collect();
        elements(tag, &places, false)
    };
    let mut message = |kind: &str, sent: Option<&Value>, received: &Value| {
        if let Some(sent) = sent {
            ends[0].push((format!("{} {kind}", words[0]), sent.clone()));
        }
        ends[1].push((format!("{} {kind}", words[1]), received.clone()));
    };
    for (tag, kind, is_real) in [
        (1, "MPI_INT", false),
        (2, "MPI_DOUBLE", true),
        (3, "MPI_FLOAT", true),
        (4, "MPI_INT64_T", false),
        (5, "MPI_UNSIGNED_SHORT", false),
        (6, "MPI_DOUBLE", true),
    ] {
        let all = elements(tag, places, is_real);
        message(kind, Some(&all), &all);
    }
    for tag in [9, 9] {
        let all = elements(tag, places, true);
        message("MPI_DOUBLE", Some(&all), &all);
    }
    message("MPI_CHAR", Some(&json!({ "text": text })), &json!({ "text": text }));
    message("MPI_INT", Some(&short(11)), &short(11));
    // Both ways, after the sixth message.
    let both = elements(7, places, true);
    for (rank, own) in ends.iter_mut().enumerate() {
        let replaced = ("received MPI_DOUBLE".to_owned(), elements(8, places, true));
        let exchanged = words.map(|word| (format!("{word} MPI_DOUBLE"), both.clone()));
        own.splice(6..6, exchanged.into_iter().chain([replaced]));
        assert!(rank < 2);
    }
    ends
}

#[test]
fn elements_of_messages_are_those_that_were_sent() {
    for mpi in Mpi::BOTH {
        let mpi = need!(mpi.installed(), "{}", mpi.launcher());
        let build = Build {
            mpi,
            compiler: Compiler::C,
            sources: &["contents.c"],
            flags: &["-O1"],
            output: "contents",
        };
        let program = need!(build.path(), "a C compiler for {mpi:?}");
        let first: &[u64] = &[0, 1, 2, 3, 4, 5, 6, 7];
        for (which, places, text) in [("8", first, "klmnopqr"), ("9,0-1", &[9, 0, 1], "tkl")] {
            let place = Place::new();
            let job = Job::new(mpi, 2, &program).option("--mode").option("full");
            let run = job.option("--elements").option(which).record(place.path());
            assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
            let (found, expected) = (events(&run), expected(places, text));
            for rank in 0..2 {
                assert_eq!(found[rank], expected[rank], "rank {rank}, {which}, {mpi:?}");
            }
            run.expect_no_problems(&[]);
            assert!(run.text("dump", &[]).contains("sent MPI_DOUBLE"), "{}", run.text("dump", &[]));
        }
        let place = Place::new();
        let run = Job::new(mpi, 2, &program).record(place.path());
        assert_eq!(run.table("events").len(), 0);
    }
}
