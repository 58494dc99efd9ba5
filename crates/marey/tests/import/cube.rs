//! CUBE 4: against the numbers that a written profile has by its making, and those that pycubexr reads.

use std::path::Path;

use super::otf2::{imported, marey};
use super::sums::{Sum, sums_and_extremes_of, sums_of};

#[path = "../../../marey-formats/tests/cube/writer.rs"]
mod writer;

use writer::{CALL_PATHS, LOCATIONS, PLAIN};

fn name_of(path: usize) -> String {
    let (name, above) = CALL_PATHS[path];
    above.map_or(name.to_owned(), |above| format!("{} > {name}", name_of(above)))
}

#[test]
fn each_value_of_a_written_profile_is_where_it_was_measured() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("p.cubex"), writer::profile(PLAIN)).unwrap();
    imported(dir.path(), "p.cubex");
    let sums = sums_of(&dir.path().join("run.marey"));
    assert_eq!(sums.len(), CALL_PATHS.len() * LOCATIONS.len(), "{sums:#?}");
    for path in 0..CALL_PATHS.len() {
        for (location, rank) in LOCATIONS {
            let ms = |ms: usize| ms as i64 * 1_000_000;
            let balance = i64::from(writer::balance(path, location));
            let counts = [
                ("instructions", writer::instructions(path, location) as i64),
                ("min_time", 1000 * (path as i64 + 1)),
                ("balance", balance),
            ];
            let expected = Sum {
                visits: writer::visits(path, location) as i64,
                exclusive: ms(writer::own_ms(path, location)),
                inclusive: ms(writer::with_beneath(path, |path| writer::own_ms(path, location))),
                counts: counts.iter().filter(|it| it.1 > 0).map(|it| (it.0.to_owned(), it.1)).collect(),
            };
            let key = (rank, format!("thread {location}"), name_of(path));
            assert_eq!(sums.get(&key), Some(&expected), "{key:?}: {sums:#?}");
        }
    }
    let dump = marey(dir.path(), &["dump", "run.marey"]);
    let dump = String::from_utf8_lossy(&dump.stdout);
    for text in ["attribute", "a test 1.0", "statistics", "sum_of_squares", "1.5 2"] {
        assert!(dump.contains(text), "{text}: {dump}");
    }
    let report = marey(dir.path(), &["report", "run.marey"]);
    let report = String::from_utf8_lossy(&report.stdout);
    for text in ["a < b", "MPI_Send", "instructions"] {
        assert!(report.contains(text), "{text}: {report}");
    }
}

/// What a metric comes to, over all call paths and locations.
#[derive(Clone, Copy)]
enum Total {
    Visits(i64),
    /// Seconds, exclusive.
    Time(f64),
    Count(&'static str, i64),
    /// The same, of seconds.
    TimeCount(&'static str, f64),
}
use Total::{Count, Time, TimeCount, Visits};

/// A call path of a process's first thread, and its visits, exclusive and inclusive time in seconds.
type Single = (u32, &'static str, i64, f64, f64);

fn check_sample(name: &str, totals: &[Total], singles: &[Single]) {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/cube4").join(name);
    if !sample.exists() {
        marey_testkit::skip("samples of CUBE (../shared)");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    imported(dir.path(), sample.to_str().unwrap());
    // Score-P says of a whole program, `PARALLEL`, that it is of MPI.
    let report = marey(dir.path(), &["report", "run.marey", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    let is_it = |region: &&serde_json::Value| region["verb"] == "PARALLEL";
    assert_eq!(report["regions"].as_array().unwrap().iter().find(is_it), None, "that is a verb of MPI");
    let sums = sums_and_extremes_of(&dir.path().join("run.marey"));
    let count = |name: &str| sums.values().filter_map(|sum| sum.counts.get(name)).sum::<i64>();
    // Each value is rounded to 1 ns.
    let is_near = |ns: i64, seconds: f64, values: usize| {
        let off = (ns as f64 - seconds * 1e9).abs();
        assert!(off <= values as f64 / 2.0 + 1e-3, "{name}: {ns} ns, {seconds} s");
    };
    for total in totals {
        match *total {
            Visits(expected) => assert_eq!(sums.values().map(|sum| sum.visits).sum::<i64>(), expected),
            Time(seconds) => is_near(sums.values().map(|sum| sum.exclusive).sum(), seconds, sums.len()),
            Count(name, expected) => assert_eq!(count(name), expected, "{name}"),
            TimeCount(name, seconds) => is_near(count(name), seconds, sums.len()),
        }
    }
    for (process, path, visits, exclusive, inclusive) in singles {
        let found = sums.iter().find(|(key, _)| key.0 == *process && key.2 == *path);
        let (_, sum) = found.unwrap_or_else(|| panic!("{path}: {sums:#?}"));
        assert_eq!(sum.visits, *visits, "{path}");
        is_near(sum.exclusive, *exclusive, 1);
        is_near(sum.inclusive, *inclusive, 1);
    }
}

// All numbers are those of pycubexr 2.1.1: sums of `cnode_values` with `convert_to_exclusive`, `location_value` of location 5.

#[test]
fn kripke_has_the_sums_that_pycubexr_finds() {
    let totals = [
        Visits(401_106),
        Time(148.631_509_911_250_02),
        TimeCount("min_time", 297.359_315_539_375),
        TimeCount("max_time", 297.464_587_521_25),
        Count("PAPI_TOT_INS", 43_981_966_152),
        Count("PAPI_FP_INS", 6_638_898_631),
        Count("PAPI_FP_OPS", 13_757_333_824),
        Count("PEVT_L2_FETCH_LINE", 807_937_410),
        Count("PEVT_L2_STORE_LINE", 1_594_461_509),
        Count("bytes_sent", 1_770_240_000),
        Count("bytes_received", 1_770_240_000),
    ];
    let singles = [
        (5, "PARALLEL > Solve > LTimes", 1000, 7.510_036_839_375, 7.510_036_839_375),
        (5, "PARALLEL > Solve > Sweep > MPI_Testany", 40_049, 0.626_458_640_625, 0.626_458_640_625),
    ];
    check_sample("extra-p_pycubexr/kripke.p8.d2.g32.r1_profile.cubex", &totals, &singles);
}

#[test]
fn blast_has_the_sums_that_pycubexr_finds() {
    let totals = [
        Visits(6_278_914),
        Time(2_869.106_131_520_625_2),
        TimeCount("min_time", 2_941.347_412_520_625_8),
        TimeCount("max_time", 2_969.611_949_404_375_5),
        Count("PAPI_TOT_INS", 732_833_917_381),
        Count("PAPI_FP_INS", 67_159_637_526),
        Count("PAPI_FP_OPS", 116_834_799_978),
        Count("PEVT_L2_FETCH_LINE", 172_477_592_438),
        Count("PEVT_L2_STORE_LINE", 30_814_473_484),
        Count("bytes_sent", 1_265_430_732),
        Count("bytes_received", 1_265_430_732),
    ];
    let singles = [
        (5, "PARALLEL > main", 100, 2.178_537_736_875_003, 42.821_736_226_25),
        (5, "PARALLEL > MPI_Waitall", 21, 0.279_896_010_625, 0.279_896_010_625),
    ];
    check_sample("extra-p_pycubexr/blast.p64.r1_profile.cubex", &totals, &singles);
}

#[test]
fn profiles_of_score_p_of_one_process_have_the_sums_that_pycubexr_finds() {
    let totals = [
        Visits(72),
        Time(74.050_535_252_309_02),
        TimeCount("min_time", 248.095_874_109_571_44),
        TimeCount("max_time", 248.096_486_212_517_96),
    ];
    check_sample("extra-p_pycubexr/call_tree_test_call_tree_test.cubex", &totals, &[]);
    let totals = [
        Visits(287_682),
        // Two differences are less than nothing, by 0.4 ms together, and count as nothing.
        Time(25.297_830_190_936_818),
        TimeCount("min_time", 25.456_686_757_656_364),
        TimeCount("max_time", 25.626_652_993_283_702),
        Count("hits", 79_469),
    ];
    check_sample("sa2c_cupybe/profile.wsampling.cubex", &totals, &[]);
}

#[test]
fn profiles_of_cubelib_have_the_sums_that_pycubexr_finds() {
    check_sample("extra-p_extrap/cube-example1.cubex", &[Visits(58), Time(34.2)], &[]);
    // Four differences of `main` are less than nothing where a type has a sign, and count as nothing.
    let totals = [
        TimeCount("UINT8", 68.0),
        TimeCount("UINT16", 68.0),
        TimeCount("UINT32", 68.0),
        TimeCount("UINT64", 68.0),
        TimeCount("INT8", 68.0),
        TimeCount("INT16", 68.0),
        TimeCount("INT32", 68.0),
        TimeCount("INT64", 68.0),
        TimeCount("DOUBLE", 71.83),
        TimeCount("MINDOUBLE", 82.83),
        TimeCount("MAXDOUBLE", 82.83),
    ];
    check_sample("extra-p_pycubexr/test_only_files_cube-values_example.cubex", &totals, &[]);
}
