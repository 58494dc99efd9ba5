//! Requests that no viewer makes: each is answered, or refused with a reason.

use marey_serve::answer;
use marey_testkit::Chance;

use super::Made;
use super::counters::counting;
use super::decoded::decoded;
use super::operations::meeting;
use super::overlaps::overlapping;
use super::traffic::talking;

const REQUESTS: [&str; 22] = [
    r#"{"ask":"causes","from_ns":A,"to_ns":B}"#,
    r#"{"ask":"course","from_ns":A,"to_ns":B,"resolution_log2":C,"locations":[[D,E]],"exact":true,"without":[E,0,D,0]}"#,
    r#"{"ask":"shares","span":{"from_ns":A,"to_ns":B}}"#,
    r#"{"ask":"call-paths","from_ns":A,"to_ns":B}"#,
    r#"{"ask":"events","from_ns":A,"to_ns":B,"resolution_log2":C,"locations":[[0,E]],"exact":true}"#,
    r#"{"ask":"events-at","location":D,"from_ns":A,"to_ns":B}"#,
    r#"{"ask":"collective-sums","from_ns":A,"to_ns":B}"#,
    r#"{"ask":"traffic","from_ns":A,"to_ns":B,"processes":[[0,E],[D,E]],"pair":[[C,D],[0,E]],"sizes":[C,D],"durations":null,"tag":D,"order":"sent"}"#,
    r#"{"ask":"overlaps","from_ns":A,"to_ns":B,"resolution_log2":C,"locations":[[0,E]],"exact":true}"#,
    r#"{"ask":"counters","window":{"from_ns":A,"to_ns":B,"resolution_log2":C,"locations":[[0,E]],"exact":true},"counters":[0,D]}"#,
    r#"{"ask":"collectives","from_ns":A,"to_ns":B,"resolution_log2":C,"locations":[[0,E]],"exact":true}"#,
    r#"{"ask":"collective","communicator":D,"instance":E}"#,
    r#"{"ask":"utilisation","at_ns":A}"#,
    r#"{"ask":"states","from_ns":A,"to_ns":B,"resolution_log2":C,"locations":[[D,E]],"exact":true}"#,
    r#"{"ask":"totals","from_ns":A,"to_ns":B,"resolution_log2":C,"locations":[[D,E],[A,B]],"exact":false}"#,
    r#"{"ask":"course","from_ns":A,"to_ns":B,"resolution_log2":C,"locations":[[D,E]],"exact":true}"#,
    r#"{"ask":"messages","from_ns":A,"to_ns":B,"resolution_log2":C,"locations":[[0,E]],"exact":true}"#,
    r#"{"ask":"visit","line":D,"at_ns":A,"near_ns":B,"region":E}"#,
    r#"{"ask":"step","line":D,"region":E,"at_ns":A,"towards":"previous"}"#,
    r#"{"ask":"histogram","sample":{"from_ns":A,"to_ns":B,"locations":[[0,9]],"regions":[E,0,D],"of":"duration"},"bins":D,"logarithmic":true,"range":[A,B]}"#,
    r#"{"ask":"instances","sample":{"from_ns":A,"to_ns":B,"locations":[[0,9]],"regions":[0,E],"of":"bytes"},"which":{"range":[D,E]}}"#,
    r#"{"ask":"instances","sample":{"from_ns":A,"to_ns":B,"locations":[[0,9]],"regions":[0,E,1],"of":"duration"},"which":{"normal":C}}"#,
];

/// Numbers at all ends of what a request can hold.
const NUMBERS: [i64; 14] =
    [0, 1, 2, 7, 30, 62, 63, 64, 4_000_000_000, 1 << 53, i64::MAX, i64::MIN, -1, 1_000_000];

#[test]
fn whatever_is_asked_has_an_answer() {
    let runs = [
        talking(36, 300).open(),
        Made::random(31).open(),
        meeting(33, 200, 2).open(),
        counting(34).open(),
        overlapping(35, 12).open(),
    ];
    let mut chance = Chance::new(32);
    let (mut answered, mut refused) = (0, 0);
    for number in 0..3000 {
        let run = &runs[number % runs.len()];
        let mut request = REQUESTS[usize::try_from(chance.below(REQUESTS.len() as u64)).unwrap()].to_owned();
        for letter in ["A", "B", "C", "D", "E"] {
            let number = match chance.below(3) {
                0 => NUMBERS[usize::try_from(chance.below(14)).unwrap()],
                1 => i64::try_from(chance.below(20)).unwrap(),
                _ => i64::try_from(chance.below(2_000_000)).unwrap(),
            };
            request = request.replace(letter, &number.to_string());
        }
        let answer = decoded(answer(run, request.as_bytes()));
        if answer.kind == "error" {
            assert!(!answer.head["message"].as_str().unwrap().is_empty(), "{request}");
            refused += 1;
        } else {
            answered += 1;
        }
    }
    assert!(answered > 200 && refused > 200, "{answered} answered, {refused} refused");
}

/// A location is read once, however often it is named, and in whatever order.
#[test]
fn ranges_that_overlap_are_asked_once() {
    let made = Made::random(37);
    let run = made.open();
    let asked = |locations: &str| {
        let request = format!(
            r#"{{"ask":"states","from_ns":0,"to_ns":1000000,"resolution_log2":10,"locations":[{locations}],"exact":true}}"#
        );
        decoded(answer(&run, request.as_bytes())).u32("line")
    };
    let once = asked("[0,4]");
    assert!(!once.is_empty());
    let often = vec!["[0,4294967295]"; 60_000].join(",");
    assert_eq!(asked(&often), once);
    assert_eq!(asked("[2,4],[0,3],[1,2]"), once);
}
