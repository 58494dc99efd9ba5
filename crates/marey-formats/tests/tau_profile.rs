//! Profiles of TAU: the same small one in all three forms, of which all is known, real ones, and broken ones.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use marey_formats::{Error, Fate, Format, Imported, import, recognise};

/// A call path, its functions by themselves, one that samples alone have met, one by the value of a parameter.
const TEXT: &str = include_str!("tau_profile/profile.0.0.0");

fn written(dir: &Path, files: &[(&str, &[u8])]) -> Result<Imported, Error> {
    for (name, content) in files {
        let path = dir.join("in").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    import(&dir.join("in"), &dir.join("spool"), &())
}

fn counts(imported: &Imported) -> Vec<(&str, Fate, u64)> {
    imported.records.iter().map(|(name, fate, number)| (name.as_str(), *fate, *number)).collect()
}

#[test]
fn rows_are_counted_by_what_becomes_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let second = TEXT.replace("MULTI_TIME", "MULTI_PAPI_TOT_INS");
    let files = [("MULTI__TIME/profile.0.0.0", TEXT), ("MULTI__PAPI_TOT_INS/profile.0.0.0", &second)];
    let files = files.map(|(name, text)| (name, text.as_bytes()));
    let imported = written(dir.path(), &files).unwrap();
    assert_eq!((imported.processes, imported.locations, imported.is_profile), (1, 1, true));
    assert_eq!(imported.problems, []);
    let expected = [
        ("function", Fate::Mapped, 3 + 2),
        ("function that was only met by samples", Fate::Mapped, 6),
        ("function, of another metric than the time", Fate::Mapped, 3),
        ("metadata", Fate::Kept, 2),
        ("user event", Fate::Kept, 2),
    ];
    assert_eq!(counts(&imported), expected);
}

fn samples() -> Option<PathBuf> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples");
    if !samples.exists() {
        marey_testkit::skip("no samples of foreign formats beside the project");
        return None;
    }
    Some(samples)
}

/// Numbers of rows that shell tools find: lines with `GROUP=`, `<attribute>`, and lines behind `# eventname`.
#[test]
fn real_profiles_have_the_rows_that_were_counted() {
    let Some(samples) = samples() else { return };
    let cases = [
        ("tau-profile/LLNL_hatchet/tau-cpi-mpi", 4, 92, 388, 8),
        ("tau-profile/UO-OACISS_tau2/wrap", 2, 16, 46, 0),
        ("tau-profile/generated_with_TAU/cpi", 4, 36, 320, 8),
    ];
    for (name, threads, functions, metadata, user_events) in cases {
        let dir = tempfile::tempdir().unwrap();
        let imported = import(&samples.join(name), &dir.path().join("spool"), &()).unwrap();
        assert_eq!(imported.locations, threads, "{name}");
        assert_eq!(imported.problems, [], "{name}");
        let all = counts(&imported);
        let number = |name: &str| all.iter().find(|it| it.0 == name).map_or(0, |it| it.2);
        assert_eq!(
            [number("function"), number("metadata"), number("user event")],
            [functions, metadata, user_events],
            "{name}"
        );
    }
    for (name, threads) in [
        ("tau-xml/UO-OACISS_tau2/tauprofile-unweighted.xml", 8),
        ("tau-xml/generated_with_TAU/cpi-tauprofile.xml", 4),
        ("tau-ppk/UO-OACISS_tau2/LoadImbalance/2.ppk", 2),
        ("tau-ppk/UO-OACISS_tau2/LoadImbalance/32.ppk", 32),
        ("tau-ppk/UO-OACISS_tau2/DrawGraph/8.ppk", 8),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let imported = import(&samples.join(name), &dir.path().join("spool"), &()).unwrap();
        assert_eq!((imported.locations, imported.problems), (threads, Vec::new()), "{name}");
    }
}

fn xml() -> Vec<u8> {
    br#"<profile_xml>
<definitions thread="*"><metric id="0"><name>TIME</name><units>us</units></metric>
<event id="0"><name>main() C &lt;int&gt;</name><group>TAU_USER</group></event>
<userevent id="0"><name>size</name></userevent></definitions></profile_xml>
<profile_xml><thread id="0.0.0.7" node="0" context="0" thread="0"><metadata><attribute><name>pid</name><value>7</value></attribute></metadata></thread>
<profile thread="0.0.0.7"><interval_data metrics="0 ">
0 1 0 5 5 
</interval_data></profile>
<profile thread="0.0.0.7"><interval_data metrics="0 ">
0 2 0 8 9 
</interval_data><atomic_data>
0 2 64 32 48 5120 
</atomic_data></profile></profile_xml>
"#
    .to_vec()
}

fn packed() -> Vec<u8> {
    let text = |text: &str| [&u16::try_from(text.len()).unwrap().to_be_bytes()[..], text.as_bytes()].concat();
    let word = |number: u32| number.to_be_bytes().to_vec();
    let reals = |all: &[f64]| all.iter().flat_map(|real| real.to_be_bytes()).collect::<Vec<u8>>();
    let words = |all: &[u32]| all.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<u8>>();
    [
        b"\0P\0P\0K".to_vec(),
        words(&[2, 1, 0, 0, 1]),
        text("pid"),
        text("9"),
        words(&[1, 0, 0, 0, 0, 1]),
        text("TIME"),
        word(1),
        text("TAU_USER"),
        word(1),
        text("work()"),
        words(&[1, 0, 1]),
        text("size"),
        words(&[1, 0, 0, 0, 1, 0]),
        reals(&[3.0, 0.0, 12.5, 14.0]),
        words(&[1, 0, 2]),
        reals(&[32.0, 64.0, 48.0, 5120.0]),
    ]
    .concat()
}

#[test]
fn other_forms_have_the_same_rows() {
    let dir = tempfile::tempdir().unwrap();
    for (name, content, functions) in [("tauprofile.xml", xml(), 1), ("a.ppk", packed(), 1)] {
        let dir = dir.path().join(name);
        let imported = written(&dir, &[(name, &content)]).unwrap();
        assert_eq!(imported.problems, [], "{name}");
        let expected = [
            ("function", Fate::Mapped, functions),
            ("metadata", Fate::Kept, 1),
            ("user event", Fate::Kept, 1),
        ];
        assert_eq!(counts(&imported), expected, "{name}");
        assert_eq!(recognise(&dir.join("in")).unwrap().0, Format::TauProfile);
    }
}

/// Each byte changed, and each end: a problem or an error, and no panic.
#[test]
fn broken_profiles_give_what_can_be_read() {
    for (name, content) in
        [("profile.0.0.0", TEXT.as_bytes().to_vec()), ("tauprofile.xml", xml()), ("a.ppk", packed())]
    {
        let mut troubled = 0;
        for at in 0..content.len() {
            for mut broken in [content.clone(), content[..at].to_vec()] {
                if let Some(byte) = broken.get_mut(at) {
                    *byte ^= 0x11;
                }
                let dir = tempfile::tempdir().unwrap();
                let is_told =
                    written(dir.path(), &[(name, &broken)]).map_or(true, |it| !it.problems.is_empty());
                troubled += u32::from(is_told);
            }
        }
        assert!(troubled > 20, "{name}: {troubled}");
    }
}
