//! Profiles of pprof: one with all fields, and broken ones. What becomes of it in a run is told in the tests of `marey`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "pprof/writer.rs"]
mod writer;

use std::io::Write;
use std::path::Path;

use flate2::{Compression, write::GzEncoder};
use marey_formats::{Error, Fate, Format, Imported, import, recognise};

fn read(dir: &Path, content: &[u8]) -> Result<Imported, Error> {
    let file = dir.join("profile");
    std::fs::write(&file, content).unwrap();
    let spool = dir.join("spool");
    std::fs::remove_dir_all(&spool).ok();
    import(&file, &spool, &())
}

#[test]
fn fields_are_counted_by_what_becomes_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&writer::profile()).unwrap();
    for content in [writer::profile(), packed.finish().unwrap()] {
        let imported = read(dir.path(), &content).unwrap();
        assert_eq!(recognise(&dir.path().join("profile")).unwrap().0, Format::Pprof);
        assert_eq!((imported.processes, imported.locations, imported.events), (1, 2, 4));
        assert_eq!(imported.problems, [("values that are less than nothing".to_owned(), 1)]);
        let number = |name: &str| {
            let all = imported.records.iter().chain(&imported.definitions);
            all.filter(|it| it.0 == name).map(|it| (it.1, it.2)).next()
        };
        assert_eq!(number("sample"), Some((Fate::Mapped, 4)));
        assert_eq!(number("label"), Some((Fate::Ignored, 1)));
        assert_eq!(number("location"), Some((Fate::Mapped, 4)));
        assert_eq!(number("function"), Some((Fate::Mapped, 4)));
        assert_eq!(number("drop_frames"), Some((Fate::Ignored, 1)));
    }
}

/// Its fields come in another order than most have, and say what is measured behind the date. `protoc --decode_raw` has as
/// many samples.
#[test]
fn a_large_profile_has_all_its_samples() {
    let sample =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/pprof/google_pprof/large.cpu");
    if !sample.exists() {
        marey_testkit::skip("no samples of foreign formats beside the project");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let imported = import(&sample, &dir.path().join("spool"), &()).unwrap();
    assert_eq!((imported.events, imported.problems), (20_430, Vec::new()));
}

#[test]
fn broken_profiles_give_what_can_be_read() {
    let whole = writer::profile();
    let mut troubled = 0;
    for at in 0..whole.len() {
        for mut broken in [whole.clone(), whole[..at].to_vec()] {
            if let Some(byte) = broken.get_mut(at) {
                *byte ^= 0x11;
            }
            let dir = tempfile::tempdir().unwrap();
            let is_told = read(dir.path(), &broken).map_or(true, |it| it.problems.len() > 1);
            troubled += usize::from(is_told);
        }
    }
    assert!(troubled > whole.len() / 2, "{troubled} of {}", 2 * whole.len());
}
