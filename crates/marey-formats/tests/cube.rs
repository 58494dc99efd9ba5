//! CUBE 4: what is counted of a profile with everything in it, of profiles of Score-P and CubeLib, and of damaged ones.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "cube/writer.rs"]
mod writer;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use marey_formats::{Error, Fate, Format, Imported, import, recognise};
use writer::{Config, PLAIN, member, profile};

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// What comes of it, and the spool, file by file.
fn spool_of(content: &[u8]) -> Result<(Imported, BTreeMap<PathBuf, Vec<u8>>), Error> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("profile");
    std::fs::write(&file, content).unwrap();
    let spool = dir.path().join("spool");
    let imported = import(&file, &spool, &())?;
    let mut files = BTreeMap::new();
    let mut open = vec![spool.clone()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                files.insert(path.strip_prefix(&spool).unwrap().to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    // What is left beside is none.
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    Ok((imported, files))
}

fn read(content: &[u8]) -> Result<Imported, Error> {
    spool_of(content).map(|it| it.0)
}

fn counts(rows: &[(String, Fate, u64)]) -> Vec<(&str, u64)> {
    rows.iter().map(|(name, _, number)| (name.as_str(), *number)).collect()
}

#[test]
fn all_that_is_in_a_profile_is_counted() {
    let imported = read(&profile(PLAIN)).unwrap();
    let records = [
        ("row of an exclusive metric", 4 + 5 + 5),
        ("row of an inclusive metric", 5 + 5),
        ("row of values of several numbers", 3),
    ];
    assert_eq!(counts(&imported.records), records);
    let definitions = [
        ("attribute", 1),
        ("attribute of a part of the machine", 1),
        ("call path", 5),
        ("derived metric", 1),
        ("location", 4),
        ("metric", 8),
        ("metric of functions or unknown values", 1),
        ("metric without values", 1),
        ("mirror", 1),
        ("other member of the archive", 1),
        ("parameter of a call path", 1),
        ("part of the machine", 3),
        ("process", 2),
        ("region", 5),
        ("topology", 1),
    ];
    assert_eq!(counts(&imported.definitions), definitions);
    assert_eq!((imported.processes, imported.locations, imported.events), (2, 4, 27));
    assert!(imported.is_profile);
    let problem = ("metric balance: values that are less than nothing, or no numbers".to_owned(), 1);
    assert_eq!(imported.problems, [problem]);
}

#[test]
fn how_it_is_packed_and_in_which_order_bytes_stand_changes_nothing() {
    let (_, plain) = spool_of(&profile(PLAIN)).unwrap();
    assert!(!plain.is_empty());
    let same = |content: &[u8], what: &str| {
        let (imported, files) = spool_of(content).unwrap();
        assert_eq!(imported.problems.len(), 1, "{what}: {:?}", imported.problems);
        assert!(files == plain, "{what}");
    };
    same(&profile(Config { is_big: true, ..PLAIN }), "big-endian");
    same(&profile(Config { pack: Some(zlib), ..PLAIN }), "rows of zlib");
    same(&profile(Config { is_big: true, pack: Some(zlib), pack_anchor: Some(gzip) }), "all but the archive");
    same(&gzip(&profile(PLAIN)), "an archive of gzip");
}

#[test]
fn a_profile_is_recognised_by_its_first_member() {
    let dir = tempfile::tempdir().unwrap();
    let check = |content: &[u8]| {
        let file = dir.path().join("file");
        std::fs::write(&file, content).unwrap();
        recognise(&file).map(|it| it.0).map_err(|error| error.to_string())
    };
    assert_eq!(check(&profile(PLAIN)), Ok(Format::Cube));
    assert_eq!(check(&gzip(&profile(PLAIN))), Ok(Format::Cube));
    assert_eq!(check(&member("./anchor.xml", b"")), Ok(Format::Cube));
    let error = check(&member("letter.txt", b"dear")).unwrap_err();
    assert!(error.contains("this is a tar archive, which cannot be imported"), "{error}");
}

#[test]
fn what_is_cut_off_says_so() {
    let whole = profile(PLAIN);
    // The two empty blocks at the end say nothing.
    let end = whole.len() - 1024;
    for len in (0..whole.len()).step_by(97) {
        match read(&whole[..len]) {
            Ok(imported) => assert!(len >= end - 512 || imported.problems.len() > 1, "{len}"),
            Err(error) => assert!(len < end, "{len}: {error}"),
        }
    }
}

#[test]
fn no_damage_makes_it_panic() {
    for whole in [profile(PLAIN), profile(Config { is_big: true, pack: Some(zlib), pack_anchor: Some(gzip) })]
    {
        // Much of an archive is empty, so of zeros only some are changed; and the way an archive is read has few turns.
        for at in (0..whole.len()).step_by(7) {
            if whole[at] == 0 && at % 49 != 0 {
                continue;
            }
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            match read(&damaged) {
                Ok(imported) => assert!(imported.locations > 0, "{at}"),
                Err(error) => assert!(
                    matches!(error, Error::Unreadable { .. } | Error::Unknown { .. }),
                    "{at}: {error}"
                ),
            }
        }
    }
}

#[test]
fn members_longer_than_the_file_and_paths_that_lead_out_are_harmless() {
    let mut long = member("../../anchor.xml", b"<cube>");
    long[124..136].copy_from_slice(b"777777777777");
    let error = read(&long).unwrap_err().to_string();
    assert!(error.contains("it ends amid its elements, at byte"), "{error}");
    let mut longest = profile(PLAIN);
    longest[124] = 0x80;
    longest[125..128].fill(0);
    longest[128..136].fill(0xff);
    let error = read(&longest).unwrap_err().to_string();
    assert!(error.contains("there is no anchor.xml in it"), "{error}");
}

#[test]
fn bombs_cost_no_memory_and_no_disk() {
    let zeros = vec![0; 80 << 20];
    let bomb = gzip(&member("0.data", &zeros));
    let error = read(&bomb).unwrap_err().to_string();
    assert!(error.contains("it unpacks to more than 256 times its size"), "{error}");
    // A text of 32 MiB in an anchor of 32 KiB, and elements within each other without end.
    let text = [b"<cube><metrics><metric id=\"1\"><uniq_name>".to_vec(), vec![b'x'; 32 << 20]].concat();
    let error = read(&member("anchor.xml", &gzip(&text))).unwrap_err().to_string();
    assert!(error.contains("a tag or text is too long"), "{error}");
    let nested = b"<cnode>".repeat((1 << 20) + 1);
    let error = read(&member("anchor.xml", &nested)).unwrap_err().to_string();
    assert!(error.contains("elements are too deep within each other"), "{error}");
}

fn check_sample(name: &str, expected: &[(&str, u64)], (processes, locations, call_paths): (u64, u64, u64)) {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples");
    let path = samples.join("cube4").join(name);
    if !path.exists() {
        marey_testkit::skip("samples of CUBE (../shared)");
        return;
    }
    assert_eq!(recognise(&path).unwrap().0, Format::Cube);
    let dir = tempfile::tempdir().unwrap();
    let imported = import(&path, &dir.path().join("spool"), &()).unwrap();
    assert_eq!(counts(&imported.records), expected);
    assert_eq!((imported.processes, imported.locations), (processes, locations));
    assert!(counts(&imported.definitions).contains(&("call path", call_paths)), "{:?}", imported.definitions);
}

const EXCLUSIVE: &str = "row of an exclusive metric";
const INCLUSIVE: &str = "row of an inclusive metric";

// The numbers are those that pycubexr 2.1.1 has; it cannot read HISTOGRAM, of which there are three rows.

#[test]
fn samples_of_score_p_have_the_rows_that_pycubexr_finds() {
    check_sample(
        "extra-p_pycubexr/kripke.p8.d2.g32.r1_profile.cubex",
        &[(EXCLUSIVE, 44), (INCLUSIVE, 84)],
        (8, 8, 14),
    );
    check_sample(
        "extra-p_pycubexr/blast.p64.r1_profile.cubex",
        &[(EXCLUSIVE, 121), (INCLUSIVE, 192)],
        (64, 64, 32),
    );
    check_sample(
        "extra-p_pycubexr/call_tree_test_call_tree_test.cubex",
        &[(EXCLUSIVE, 54), (INCLUSIVE, 18)],
        (1, 1, 18),
    );
    check_sample("sa2c_cupybe/profile.wsampling.cubex", &[(EXCLUSIVE, 964), (INCLUSIVE, 241)], (1, 1, 241));
}

#[test]
fn samples_of_cubelib_have_the_rows_that_pycubexr_finds() {
    check_sample("extra-p_extrap/cube-example1.cubex", &[(EXCLUSIVE, 5), (INCLUSIVE, 4)], (2, 4, 5));
    check_sample(
        "extra-p_pycubexr/test_only_files_cube-values_example.cubex",
        &[(EXCLUSIVE, 6), (INCLUSIVE, 27), ("row of values of several numbers", 18)],
        (2, 4, 3),
    );
}
