//! Sentences as people write them: verbs and nouns may have blanks.

use marey_analyze::{Region, Sentence};
use marey_model::{Role, Tier};

fn region(level: &str, verb: &str, noun: &str) -> Region {
    Region {
        level: level.to_owned(),
        tier: Tier::Model,
        verb: verb.to_owned(),
        noun: noun.to_owned(),
        role: Role::Manage,
        file: String::new(),
        line: 0,
        label: None,
    }
}

#[test]
fn the_longest_verb_that_stands_there_is_meant() {
    let regions = [
        region("coarray", "sync", "images"),
        region("coarray", "sync all", ""),
        region("coarray", "get", "u"),
        region("openmp", "implicit task", "end of loop"),
        region("openmp", "task", ""),
    ];
    let of = |text: &str| {
        let it = Sentence::parse_of(text, &regions).unwrap();
        let word = |word: Option<String>| word.unwrap_or_else(|| "-".to_owned());
        format!("{}|{}|{}", word(it.level), word(it.verb), word(it.noun))
    };
    for (text, expected) in [
        ("coarray:sync all", "coarray|sync all|-"),
        ("coarray:sync images", "coarray|sync|images"),
        ("coarray:get u", "coarray|get|u"),
        ("sync all", "-|sync all|-"),
        ("openmp:implicit task end of loop", "openmp|implicit task|end of loop"),
        ("openmp:", "openmp|-|-"),
        ("coarray:get *", "coarray|get|-"),
        // What the run does not have is read as it always was.
        ("mpi:MPI_Send data", "mpi|MPI_Send|data"),
        ("solve", "-|solve|-"),
        ("ns::task", "-|ns::task|-"),
        // Of another level it is no verb.
        ("mpi:sync all", "mpi|sync|all"),
    ] {
        assert_eq!(of(text), expected, "{text}");
    }
    assert!(Sentence::parse_of(" ", &regions).is_err());
}
