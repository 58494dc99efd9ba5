//! Small programs report their own call addresses and where in the source they stand; symbolisation must
//! find the same, however the program was built. Each case needs its compiler and says so when skipped.

#[expect(unreachable_pub, clippy::unwrap_used, reason = "a module of tests")]
mod toolchain;

use std::path::Path;

use marey_source::{Address, ModuleRef, Problem, Quality, Resolved, Symbolizer, SymbolizerConfig};
use toolchain::{Call, Workspace};

/// A symbolizer that looks for debug files under `root` only.
fn symbolizer(root: &Path) -> Symbolizer {
    Symbolizer::new(config(root))
}

fn config(root: &Path) -> SymbolizerConfig {
    SymbolizerConfig { debug_roots: vec![root.to_owned()], max_bytes: 1 << 30, only_symbols: vec![] }
}

fn resolve(symbolizer: &mut Symbolizer, call: &Call, build_id: Option<&[u8]>) -> Resolved {
    symbolizer.resolve(&ModuleRef { path: &call.module, build_id }, Address::Return(call.vaddr))
}

/// Every call must resolve to the function, file and line that the program said.
#[track_caller]
fn check_lines(workspace: &Workspace, calls: &[Call], source: &str) {
    let mut symbolizer = symbolizer(workspace.dir());
    assert!(3 <= calls.len(), "the program reported {} calls", calls.len());
    for call in calls {
        let resolved = resolve(&mut symbolizer, call, None);
        let frame = &resolved.frames[0];
        let file = frame.file.as_deref().unwrap_or_default();
        assert_eq!(frame.function.split("::<").next(), Some(call.function.as_str()), "{resolved:?}");
        assert_eq!(frame.line, Some(call.line), "{resolved:?}");
        assert_eq!(Path::new(file).file_name(), Some(source.as_ref()), "{resolved:?}");
        assert_eq!(resolved.quality, Quality::Lines);
    }
    assert_eq!(symbolizer.problems(), []);
}

/// C with these flags, as an executable: lines, and the chain of inlined functions.
#[track_caller]
fn check_c(flags: &[&str]) {
    let Some(workspace) = Workspace::with("gcc") else { return };
    let calls = workspace.run(&workspace.executable("calls.c", flags));
    check_lines(&workspace, &calls, "calls.c");
    check_inlining(&workspace, &calls);
}

#[track_caller]
fn check_inlining(workspace: &Workspace, calls: &[Call]) {
    let inlined =
        calls.iter().find(|call| call.function == "innermost").expect("it calls from an inlined function");
    let resolved = resolve(&mut symbolizer(workspace.dir()), inlined, None);
    let chain: Vec<_> = resolved.frames.iter().map(|frame| (frame.function.as_str(), frame.line)).collect();
    assert_eq!(chain, [("innermost", Some(8)), ("middle", Some(11)), ("outer", Some(14))]);
}

#[test]
fn position_independent_executable() {
    check_c(&["-g", "-O0", "-fPIE", "-pie"])
}

#[test]
fn fixed_executable() {
    check_c(&["-g", "-O2", "-no-pie"])
}

#[test]
fn optimised_with_old_and_new_debug_formats() {
    check_c(&["-gdwarf-4", "-O2"]);
    check_c(&["-gdwarf-5", "-O2"]);
    check_c(&["-gdwarf-3", "-gstrict-dwarf", "-O2"]);
}

#[test]
fn compressed_debug_sections() {
    check_c(&["-g", "-O2", "-gz=zlib"]);
}

#[test]
fn debug_sections_compressed_by_zstd() {
    let Some(workspace) = Workspace::with("objcopy") else { return };
    let calls = workspace.run(&workspace.executable("calls.c", &["-g", "-O2"]));
    if !workspace.tool("objcopy", &["--help"]).contains("zstd") {
        return marey_testkit::skip("an objcopy that knows zstd");
    }
    workspace.tool("objcopy", &["--compress-debug-sections=zstd", "program"]);
    check_lines(&workspace, &calls, "calls.c");
}

#[test]
fn supplementary_file_of_shared_debug_information() {
    let Some(workspace) = Workspace::with("dwz") else { return };
    let program = workspace.executable("calls.cpp", &["-gdwarf-4", "-O2"]);
    let calls = workspace.run(&program);
    std::fs::copy(&program, workspace.dir().join("twin")).unwrap();
    workspace.tool("dwz", &["-m", "common.debug", "program", "twin"]);
    assert!(workspace.tool("readelf", &["-S", "program"]).contains(".gnu_debugaltlink"));
    check_lines(&workspace, &calls, "calls.cpp");
    std::fs::remove_file(workspace.dir().join("common.debug")).unwrap();
    let mut symbolizer = symbolizer(workspace.dir());
    resolve(&mut symbolizer, &calls[0], None);
    assert!(
        matches!(symbolizer.problems()[0], Problem::DebugPartMissing { .. }),
        "{:?}",
        symbolizer.problems()
    );
}

#[test]
fn split_debug_information() {
    check_c(&["-g", "-O2", "-gsplit-dwarf"])
}

#[test]
fn split_debug_information_in_a_package() {
    let Some(workspace) = Workspace::with("dwp") else { return };
    let program = workspace.executable("calls.c", &["-gdwarf-4", "-O2", "-gsplit-dwarf"]);
    workspace.tool("dwp", &["-e", "program", "-o", "program.dwp"]);
    workspace.remove_by_extension("dwo");
    let calls = workspace.run(&program);
    check_lines(&workspace, &calls, "calls.c");
}

#[test]
fn split_debug_information_that_is_gone_leaves_symbols() {
    let Some(workspace) = Workspace::with("gcc") else { return };
    let calls = workspace.run(&workspace.executable("calls.c", &["-g", "-O2", "-gsplit-dwarf"]));
    workspace.remove_by_extension("dwo");
    let mut symbolizer = symbolizer(workspace.dir());
    let resolved = resolve(&mut symbolizer, &calls[0], None);
    assert_eq!(resolved.frames.last().map(|frame| frame.function.as_str()), Some("outer"));
    assert!(
        matches!(symbolizer.problems(), [Problem::DebugPartMissing { .. }]),
        "{:?}",
        symbolizer.problems()
    );
}

#[test]
fn shared_library() {
    let Some(workspace) = Workspace::with("gcc") else { return };
    let calls = workspace.run(&workspace.executable_with_library("calls.c", &["-g", "-O2"]));
    assert!(calls.iter().all(|call| call.module.ends_with("libcalls.so")));
    check_lines(&workspace, &calls, "calls.c");
    check_inlining(&workspace, &calls);
}

#[test]
fn cpp_program() {
    let Some(workspace) = Workspace::with("g++") else { return };
    let calls = workspace.run(&workspace.executable("calls.cpp", &["-g", "-O2"]));
    check_lines(&workspace, &calls, "calls.cpp");
}

#[test]
fn a_symbol_that_is_another_function_gives_no_name() {
    let Some(workspace) = Workspace::with("g++") else { return };
    // As a linker leaves it that folds equal code: `in`, of which debug information has the short name, lies
    // under a symbol that comes first.
    let source = "namespace { __attribute__((noinline, used)) int in(int n) { return n * 3; } }\n\
                  int b(int) __attribute__((alias(\"_ZN12_GLOBAL__N_12inEi\")));\n\
                  int main(int n, char **) { return in(n); }\n";
    std::fs::write(workspace.dir().join("folded.cpp"), source).unwrap();
    workspace.tool("g++", &["-g", "-O1", "folded.cpp", "-o", "folded"]);
    let symbols = workspace.tool("nm", &["folded"]);
    let line = symbols.lines().find(|line| line.ends_with(" _Z1bi")).unwrap();
    let vaddr = u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap();
    let path = workspace.dir().join("folded");
    let resolved = symbolizer(workspace.dir())
        .resolve(&ModuleRef { path: &path, build_id: None }, Address::Exact(vaddr));
    assert_eq!(resolved.frames.last().unwrap().function, "in");
}

#[test]
fn fortran_program() {
    let Some(workspace) = Workspace::with("gfortran") else { return };
    let calls = workspace.run(
        &workspace
            .executable("calls.f90", &["-g", "-cpp", "-O1", "-fno-optimize-sibling-calls", "-fno-inline"]),
    );
    check_lines(&workspace, &calls, "calls.f90");
}

#[test]
fn fortran_program_without_debug_information() {
    let Some(workspace) = Workspace::with("gfortran") else { return };
    let calls = workspace.run(
        &workspace.executable("calls.f90", &["-cpp", "-O1", "-fno-optimize-sibling-calls", "-fno-inline"]),
    );
    let mut symbolizer = symbolizer(workspace.dir());
    for call in calls.iter().filter(|call| call.function != "diffusion") {
        let resolved = resolve(&mut symbolizer, call, None);
        assert_eq!(
            (resolved.frames[0].function.as_str(), resolved.quality),
            (call.function.as_str(), Quality::Symbols)
        );
    }
}

#[test]
fn rust_program() {
    let Some(workspace) = Workspace::with("rustc") else { return };
    let calls = workspace.run(&workspace.executable("calls.rs", &["-g", "-O"]));
    check_lines(&workspace, &calls, "calls.rs");
}

#[test]
fn debug_file_by_link() {
    let Some(workspace) = Workspace::with("objcopy") else { return };
    // Without a build id the CRC of the link decides.
    let program = workspace.executable("calls.c", &["-g", "-O2", "-Wl,--build-id=none"]);
    let calls = workspace.run(&program);
    workspace.tool("objcopy", &["--only-keep-debug", "program", "program.debug"]);
    workspace.tool("objcopy", &["--strip-all", "--add-gnu-debuglink=program.debug", "program"]);
    check_lines(&workspace, &calls, "calls.c");

    workspace.append("program.debug", b"another build");
    let mut symbolizer = symbolizer(workspace.dir());
    assert_eq!(resolve(&mut symbolizer, &calls[0], None).quality, Quality::ModuleOffset);
    assert!(
        matches!(symbolizer.problems(), [Problem::DebugFileMismatch { .. }]),
        "{:?}",
        symbolizer.problems()
    );
}

#[test]
fn debug_file_by_build_id_survives_the_loss_of_the_module() {
    let Some(workspace) = Workspace::with("objcopy") else { return };
    let program = workspace.executable("calls.c", &["-g", "-O2", "-Wl,--build-id=0xabcdef0123456789"]);
    let calls = workspace.run(&program);
    workspace.tool("mkdir", &["-p", ".build-id/ab"]);
    workspace.tool("objcopy", &["--only-keep-debug", "program", ".build-id/ab/cdef0123456789.debug"]);
    workspace.tool("strip", &["program"]);
    check_lines(&workspace, &calls, "calls.c");

    std::fs::remove_file(&program).unwrap();
    let mut symbolizer = symbolizer(workspace.dir());
    let build_id = [0xab, 0xcd, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89];
    assert_eq!(resolve(&mut symbolizer, &calls[0], Some(&build_id)).quality, Quality::Lines);
    assert!(matches!(symbolizer.problems(), [Problem::Unreadable { .. }]), "{:?}", symbolizer.problems());
}

#[test]
fn rebuilt_module_is_not_used() {
    let Some(workspace) = Workspace::with("gcc") else { return };
    let calls = workspace.run(&workspace.executable("calls.c", &["-g", "-Wl,--build-id=0x0102"]));
    let mut symbolizer = symbolizer(workspace.dir());
    assert_eq!(resolve(&mut symbolizer, &calls[0], Some(&[1, 2])).quality, Quality::Lines);
    let resolved = resolve(&mut symbolizer, &calls[0], Some(&[1, 3]));
    assert_eq!(resolved.quality, Quality::ModuleOffset);
    assert_eq!(resolved.frames[0].function, format!("program+{:#x}", calls[0].vaddr));
    assert!(
        matches!(symbolizer.problems(), [Problem::BuildIdMismatch { .. }]),
        "{:?}",
        symbolizer.problems()
    );
}

#[test]
fn stripped_program_falls_back_to_symbols_then_to_offsets() {
    let Some(workspace) = Workspace::with("strip") else { return };
    let program = workspace.executable("calls.c", &["-g", "-O2", "-rdynamic"]);
    let calls = workspace.run(&program);
    let named = |name: &str| calls.iter().find(|call| call.function == name).unwrap();
    let check = |call: &Call, function: &str, quality: Quality| {
        let resolved = resolve(&mut symbolizer(workspace.dir()), call, None);
        let frame = &resolved.frames[0];
        assert_eq!((frame.function.as_str(), &frame.file, resolved.quality), (function, &None, quality));
    };

    workspace.tool("strip", &["-g", "program"]);
    check(named("outer"), "outer", Quality::Symbols);
    check(named("file_local"), "file_local", Quality::Symbols);

    workspace.tool("strip", &["program"]);
    check(named("outer"), "outer", Quality::Symbols);
    // It lies right behind an exported function, which is not its name.
    check(named("file_local"), &format!("program+{:#x}", named("file_local").vaddr), Quality::ModuleOffset);
}

#[test]
fn lines_equal_those_of_binutils() {
    let Some(workspace) = Workspace::with("addr2line") else { return };
    let program = workspace.executable("calls.c", &["-g", "-O2"]);
    let calls = workspace.run(&program);
    let first = calls.iter().map(|call| call.vaddr).min().unwrap() - 16;
    let last = calls.iter().map(|call| call.vaddr).max().unwrap();
    let mut symbolizer = symbolizer(workspace.dir());
    let mut compared = 0;
    for vaddr in first..=last {
        let theirs = workspace.binutils_lines("program", vaddr);
        let resolved =
            symbolizer.resolve(&ModuleRef { path: &program, build_id: None }, Address::Exact(vaddr));
        let ours: Vec<_> = resolved.frames.iter().map(|f| (f.function.clone(), f.line)).collect();
        // The padding between functions has lines but no function; binutils names the nearest one.
        let is_padding = ours.iter().any(|(function, _)| function.starts_with("program+"));
        if resolved.quality == Quality::Lines && !is_padding {
            assert_eq!(ours, theirs, "at {vaddr:#x}");
            compared += 1;
        }
    }
    assert!(50 < compared, "only {compared} addresses had lines");
}

#[test]
fn modules_are_dropped_and_read_again_beyond_the_memory_limit() {
    let Some(workspace) = Workspace::with("gcc") else { return };
    let program = workspace.executable("calls.c", &["-g", "-O2"]);
    let calls = workspace.run(&program);
    let copy = workspace.dir().join("copy");
    std::fs::copy(&program, &copy).unwrap();
    // Room for one of the two.
    let config = SymbolizerConfig { max_bytes: 7000, ..config(workspace.dir()) };
    let mut small = Symbolizer::new(config);
    let mut large = symbolizer(workspace.dir());
    for call in calls.iter().chain(&calls) {
        for path in [&program, &copy] {
            let module = ModuleRef { path, build_id: None };
            let address = Address::Return(call.vaddr);
            assert_eq!(small.resolve(&module, address), large.resolve(&module, address));
        }
    }
    assert_eq!(small.problems(), []);
}

#[test]
fn the_debug_information_of_some_modules_is_not_read() {
    let Some(workspace) = Workspace::with("gcc") else { return };
    let calls = workspace.run(&workspace.executable("calls.c", &["-g", "-O0"]));
    // One that is not inlined: the symbol names the physical function.
    let call = calls.iter().find(|call| call.function == "main").unwrap();
    let name = call.module.file_name().unwrap().to_str().unwrap();
    let only_symbols = vec![name[..name.len() - 1].to_owned()];
    let mut poor = Symbolizer::new(SymbolizerConfig { only_symbols, ..config(workspace.dir()) });
    let resolved = resolve(&mut poor, call, None);
    assert_eq!(
        (resolved.frames[0].function.as_str(), resolved.frames[0].line),
        (call.function.as_str(), None)
    );
    assert_eq!(resolved.quality, Quality::Symbols);
    assert_eq!(poor.problems(), []);
}

#[test]
fn missing_and_pseudo_modules_are_named_by_offset() {
    let mut symbolizer = symbolizer(Path::new("/nonexistent"));
    let mut check = |path: &str, function: &str| {
        let module = ModuleRef { path: Path::new(path), build_id: Some(&[1, 2, 3]) };
        assert_eq!(symbolizer.resolve(&module, Address::Return(0x10)).frames[0].function, function);
        symbolizer.problems().len()
    };
    assert_eq!(check("linux-vdso.so.1", "linux-vdso.so.1+0x10"), 0);
    assert_eq!(check("", "+0x10"), 0);
    assert_eq!(check("/nonexistent/libx.so", "libx.so+0x10"), 1);
    assert_eq!(check("/nonexistent/libx.so", "libx.so+0x10"), 1);
}
