//! The boundary elements of `examples/coarray/boundary.f90`: what is wrong with the program is told by array and line.
//!
//! The program says in its source what it does how often, so numbers follow from the numbers of points and images; how
//! long image 1 works alone it measures by itself. Whether it is right it knows from a solution that can be written down.
//! That it became faster is tested apart, where nothing runs beside it (`mpi_coarray_speed`).

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{Build, Compiler, Job, Mpi, Place, Run, need};

const SOURCE: &str = "../../examples/coarray/boundary.f90";

const IMAGES: u64 = 3;
/// Elements on the edge, 19 on each side; points with 7 * 7 within; steps of time.
const EDGE: u64 = 4 * 19;
const POINTS: u64 = EDGE + 7 * 7;
const TIMES: u64 = 10;
/// Of each image, the last of which has one row of zeros.
const ROWS: u64 = POINTS.div_ceil(IMAGES);
/// Images that elements are fetched from, or brought to, without the image itself.
const OTHERS: u64 = IMAGES - 1;

fn program() -> Option<PathBuf> {
    if !Path::new("/usr/lib/x86_64-linux-gnu/libcaf_openmpi.so").exists() {
        return None;
    }
    let build = Build {
        mpi: Mpi::Open,
        compiler: Compiler::Fortran,
        sources: &["../../../../examples/coarray/boundary.f90"],
        flags: &["-O2", "-fcoarray=lib", "-lcaf_openmpi"],
        output: "boundary",
    };
    build.path()
}

fn job(program: &Path, step: u32) -> Job {
    Job::new(Mpi::Open, 3, program).arg(step.to_string()).arg("19").arg("7").arg(TIMES.to_string())
}

/// The first line of the program that holds a text.
fn line_of(text: &str) -> u64 {
    line_after(0, text)
}

/// The first line beyond `line` that does.
fn line_after(line: u64, text: &str) -> u64 {
    let source = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(SOURCE)).unwrap();
    let mut lines = source.lines().zip(1..);
    let found = lines.find(|(found, at)| *at > line && found.contains(text));
    found.unwrap_or_else(|| panic!("no line beyond {line} has {text}")).1
}

/// The number behind a word of what the program prints.
fn number(printed: &str, word: &str) -> f64 {
    let (_, rest) = printed.split_once(word).unwrap_or_else(|| panic!("no {word} in {printed}"));
    rest.split_whitespace().next().unwrap().parse().unwrap()
}

fn array<'a>(arrays: &'a Value, name: &str) -> &'a Value {
    let mut rows = arrays["arrays"].as_array().unwrap().iter();
    rows.find(|row| row["array"] == name).unwrap_or_else(|| panic!("no array {name} in {arrays:#}"))
}

/// Number, bytes, and transfers beneath, of what a line does to an array.
fn done(arrays: &Value, name: &str, verb: &str, line: u64) -> [u64; 3] {
    let mut statements = array(arrays, name)["statements"].as_array().unwrap().iter();
    let statement = statements
        .find(|row| row["verb"] == verb && row["line"] == line)
        .unwrap_or_else(|| panic!("no {verb} {name} at line {line}: {:#}", array(arrays, name)));
    let beneath = statement["beneath"].as_array().unwrap().iter();
    let transfers = beneath.filter(|call| call["is_transfer"] == true);
    let transfers = transfers.map(|call| call["calls"].as_u64().unwrap()).sum();
    [statement["accesses"].as_u64().unwrap(), statement["bytes"].as_u64().unwrap(), transfers]
}

/// What is made piece by piece: why, verb, array and line, in order.
fn piecemeal(arrays: &Value) -> Vec<(String, String, String, u64)> {
    let text = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
    let rows = arrays["piecemeal"].as_array().unwrap().iter();
    let mut found: Vec<_> = rows
        .map(|row| (text(row, "why"), text(row, "verb"), text(row, "array"), row["line"].as_u64().unwrap()))
        .collect();
    found.sort();
    found
}

/// Arrays that are made and then left alone by all other images.
fn alone(arrays: &Value) -> Vec<&str> {
    let rows = arrays["arrays"].as_array().unwrap().iter();
    let mut found: Vec<&str> =
        rows.filter(|row| row["accesses"] == 0).map(|row| row["array"].as_str().unwrap()).collect();
    found.sort_unstable();
    found
}

/// Records one of the versions, and looks whether it has the right result.
fn recorded(program: &Path, step: u32, place: &Place) -> (Run, f64) {
    let run = job(program, step).record(&place.dir(&format!("step-{step}")));
    assert_eq!(run.output.status.code(), Some(0), "{}", run.stderr());
    run.expect_no_problems(&["unmatched_sends"]);
    let printed = run.stdout();
    // Constant elements this long, and so few steps, are that good; with a wrong term one of both is several times as much.
    assert!(number(&printed, "error") < 0.02 && number(&printed, "flux") < 0.2, "{printed}");
    (run, number(&printed, "sum"))
}

#[test]
fn what_is_wrong_with_a_program_of_boundary_elements_is_told_by_array() {
    let mpi = need!(Mpi::Open.installed(), "Open MPI");
    let program = need!(program(), "coarrays of Fortran for {mpi:?}");
    let place = Place::new();
    let (first, sum) = recorded(&program, 1, &place);
    let plain = String::from_utf8(job(&program, 1).plain(place.path()).stdout).unwrap();
    assert_eq!(number(&plain, "sum"), sum);
    read_element_by_element(&first);
    image_1_works_alone(&first);

    let (last, again) = recorded(&program, 6, &place);
    // Only the order of sums is another.
    assert!((again - sum).abs() < 1e-9 * sum, "{again} instead of {sum}");
    nothing_is_left(&last);
}

fn read_element_by_element(run: &Run) {
    let arrays = run.json("arrays");
    let element = line_of("row(j) = m(at, j)[owner]");
    let bytes = 8;
    // Each image reads each row of both matrices, those of its own too; only for the others' is MPI needed.
    let each = [IMAGES * POINTS * POINTS, bytes * IMAGES * POINTS * POINTS, OTHERS * POINTS * POINTS];
    assert_eq!(done(&arrays, "f", "get", element), each);
    assert_eq!(done(&arrays, "a", "get", element), each);
    // Blocks that image 1 receives into rows of a larger matrix, and sends from there: their elements lie apart.
    let block = |columns: u64| [IMAGES, bytes * IMAGES * ROWS * columns, OTHERS * ROWS * columns];
    let (h, g) = (line_of("= h(:, :)[image]"), line_of("= g(:, :)[image]"));
    let (f, s) = (line_of("= f(:, :)[image]"), line_of("s(:, :)[image] ="));
    assert_eq!(done(&arrays, "h", "get", h), block(EDGE));
    assert_eq!(done(&arrays, "g", "get", g), block(EDGE));
    assert_eq!(done(&arrays, "f", "get", f), block(POINTS));
    assert_eq!(done(&arrays, "s", "send", s), block(POINTS));
    let expected = [
        ("elements", "get", "a", element),
        ("elements", "get", "f", element),
        ("sections", "get", "f", f),
        ("sections", "get", "g", g),
        ("sections", "get", "h", h),
        ("sections", "send", "s", s),
    ];
    let expected: Vec<_> =
        expected.map(|(why, verb, name, line)| (why.into(), verb.into(), name.into(), line)).into();
    assert_eq!(piecemeal(&arrays), expected);

    assert_eq!(alone(&arrays), ["f_kept", "q_hat", "u_hat"]);
    let size = POINTS * ROWS * bytes;
    assert!(["f_kept", "q_hat", "u_hat"].iter().all(|name| array(&arrays, name)["bytes"] == size));
    // gfortran makes it anew whenever it is assigned to; it is told where.
    assert_eq!(array(&arrays, "solution")["instances"], IMAGES * (1 + TIMES));
    let anew = line_of("solution = matmul");
    assert_eq!(done(&arrays, "solution", "allocate", anew)[0], IMAGES * TIMES);
    assert_eq!(done(&arrays, "solution", "deallocate", anew)[0], IMAGES * TIMES);
    assert_eq!(array(&arrays, "side")["instances"], IMAGES);
}

/// While image 1 combines the matrices the others wait, as long as it says itself.
fn image_1_works_alone(run: &Run) {
    let words = ["--level", "coarray", "--verb", "sync all", "--under", "combine_alone"];
    let ask = |by: &str| -> Value {
        let words = [&words[..], &["--by", by, "--json"]].concat();
        serde_json::from_str(&run.text("sentence", &words)).unwrap()
    };
    let time = |row: &Value| row["time_ns"].as_f64().unwrap() / 1e9;
    let lines = ask("line");
    let line = line_after(line_of("s(:, :)[image] ="), "sync all");
    let name = format!("boundary.f90:{line}");
    let row = lines["groups"].as_array().unwrap().iter().find(|row| row["name"] == name.as_str());
    let row = row.unwrap_or_else(|| panic!("no {name} in {lines:#}"));
    assert_eq!(row["visits"], IMAGES);
    // Those who wait may come a bit later than image 1, and wake up later.
    let alone = number(&run.stdout(), "combine");
    let (least, most) = (0.6 * OTHERS as f64 * alone, 1.05 * OTHERS as f64 * alone + 0.01);
    assert!((least..most).contains(&time(row)), "{} of {alone} s on image 1", time(row));
    // All of it is waiting, and none is image 1's.
    let shares = lines["shares"].as_array().unwrap();
    assert!(shares.iter().all(|share| share["class"] == "waiting"), "{shares:#?}");
    let ranks = ask("rank");
    let of_first = ranks["groups"].as_array().unwrap().iter().find(|row| row["process"] == 0).unwrap();
    assert!(time(of_first) < 0.2 * time(row), "{ranks:#}");
}

fn nothing_is_left(run: &Run) {
    let arrays = run.json("arrays");
    let bytes = 8;
    let rows = 2 * POINTS;
    let pivot = line_of("row = pivot(:, turn)[owner]");
    let expected = [IMAGES * rows, bytes * IMAGES * rows * POINTS, OTHERS * rows];
    assert_eq!(done(&arrays, "pivot", "get", pivot), expected);
    let part = line_of("part = f(:, :)[image]");
    let expected = [IMAGES * IMAGES, bytes * IMAGES * IMAGES * ROWS * POINTS, IMAGES * OTHERS];
    assert_eq!(done(&arrays, "f", "get", part), expected);
    assert_eq!(piecemeal(&arrays), []);
    assert_eq!(array(&arrays, "solution")["instances"], IMAGES);
    // They are used, but by the image alone that has them.
    assert_eq!(alone(&arrays), ["a", "g", "h", "s"]);
}
