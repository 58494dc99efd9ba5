//! Formats that are known and not read are refused by their names.

use std::path::Path;

use marey_formats::recognise;

#[test]
fn samples_that_are_not_read_are_refused_by_name() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples");
    if !samples.exists() {
        marey_testkit::skip("no samples of foreign formats beside the project");
        return;
    }
    for (path, name) in [
        ("hpctoolkit-v4/hpcgroup_pipit/ping-pong-hpctoolkit", "there is a file of HPCToolkit in it"),
        ("hpctoolkit-v3/LLNL_hatchet/cpi", "there is a database of HPCToolkit 3 in it"),
        ("ctf/efficios_babeltrace/multi-domains", "there is the metadata of a CTF trace in it"),
        ("charm-projections/hpcgroup_pipit", "there is a trace of Charm++ Projections in it"),
        ("pprof/google_pprof/legacy-cppbench.cpu", "this is a profile of gperftools in its older form"),
        ("gprof/UO-OACISS_tau2/wrf-gprof.out", "this is a profile of gprof"),
        ("caliper/LLNL_hatchet/example-profile.cali", "this is a Caliper file"),
        ("firefox/firefox-devtools_profiler/processed-3.json", "this is a profile of the Firefox Profiler"),
        ("dhat/firefox-devtools_profiler/dhat.json.gz", "this is a profile of DHAT"),
        ("slog2-traceapi-text/pmodels_mpe/arrow.txt", "this is the text form of a SLOG-2 log"),
    ] {
        let error = recognise(&samples.join(path)).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("what can: OTF2"), "{path}: {error}");
    }
}
