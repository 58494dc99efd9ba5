//! References to other images, and what stands at their other ends, against what a reader says of small programs.

#![expect(clippy::unwrap_used, reason = "the file is tests throughout")]

use std::fs;

use marey_source::text::{Sources, TextConfig};

/// `line reads|writes reference @image [moved by the loop of a line] [turned by …]: other ends`, in the order of the text.
fn rows(text: &str) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.f90");
    fs::write(&path, text).unwrap();
    let it = Sources::of(&path, &TextConfig::system());
    assert!(it.problems.is_empty(), "{:?}", it.problems);
    assert_eq!(it.files[0].unclear, 0);
    let first = |row: u32| it.loops[row as usize].lines.first;
    let mut rows = Vec::new();
    for of in &it.references {
        let done = match (of.reads, of.writes) {
            (true, true) => "reads or writes",
            (true, false) => "reads",
            _ => "writes",
        };
        let mut row = format!("{} {done} {} of {}", of.line, it.text(of.text), it.text(of.image));
        if let Some(moved) = of.moved_by {
            row.push_str(&format!(", moved by {}", first(moved)));
        }
        if let Some(turned) = of.turned_by {
            row.push_str(&format!(", turned by {}", first(turned)));
        }
        for end in &of.dependences {
            let word = if end.is_sink { "written" } else { "read" };
            row.push_str(&format!("; {word} {}: {}", end.line, it.text(end.other)));
            match (end.carried, end.distance) {
                (None, _) => row.push_str(" same"),
                (Some(carried), None) => row.push_str(&format!(" by {} or so", first(carried))),
                (Some(carried), Some(by)) => row.push_str(&format!(" by {} + {by}", first(carried))),
            }
        }
        rows.push(row);
    }
    rows
}

#[test]
fn a_halo_is_written_in_one_step_and_read_in_the_next() {
    let text = "program p\nreal :: u(0:11)[*], v(10)\ninteger :: i, t, left\ndo t = 1, 9\nu(0) = u(10)[left]\nsync all\n\
                do i = 1, 10\nv(i) = u(i - 1)\nend do\ndo i = 1, 10\nu(i) = v(i)\nend do\nend do\nend program\n";
    assert_eq!(rows(text), ["5 reads u(10)[left] of left; written 11: u(i) by 4 + 1"]);
}

#[test]
fn subscripts_say_how_many_iterations_later() {
    let text = "subroutine s(n)\ndo i = 3, n\nx = a(i - 2)[p]\na(i) = x\nend do\ndo i = 1, n\ny = a(i + 1)[p]\na(i) = y\n\
                end do\ndo i = 1, n\nz = a(2 * i)[p]\na(2 * i + 1) = z\nend do\nend subroutine\n";
    assert_eq!(
        rows(text),
        [
            "3 reads a(i - 2)[p] of p, moved by 2; written 4: a(i) by 2 + 2",
            // What the loop itself writes lies behind what it reads.
            "7 reads a(i + 1)[p] of p, moved by 6; written 4: a(i) same",
            // Even and odd elements never meet.
            "11 reads a(2 * i)[p] of p, moved by 10; written 8: a(i) same; written 4: a(i) same",
        ]
    );
}

#[test]
fn what_is_put_is_read_elsewhere() {
    let text = "subroutine s\ndo k = 1, 4\nif (me > 1) b(1:5, k)[me - 1] = c(1:5)\nsync all\ncall work(b(:, k))\nb(9, k) = 0\n\
                d = b(6, k) + b(2, 7)\nend do\nend subroutine\n";
    assert_eq!(
        rows(text),
        [
            "3 writes b(1:5, k)[me - 1] of me - 1, moved by 2; read 5: b(:, k) same; read 7: b(2, 7) by 2 or so"
        ]
    );
}

#[test]
fn remarks_within_a_statement_do_not_end_it() {
    let text = "subroutine s\nw = u(3)[ & ! the left one\n  mod(me, n) + 1]\nw = u(1 + & ! more\n\n ! still\n 2) &\n  [p]\n\
                v(4)[ q &\n ! last\n ] = w\nend subroutine\n";
    assert_eq!(
        rows(text),
        [
            "2 reads u(3)[mod(me, n) + 1] of mod(me, n) + 1",
            "4 reads u(1 +2)[p] of p",
            "9 writes v(4)[ q] of q"
        ]
    );
}

#[test]
fn images_in_turn_and_components_are_told() {
    let text = "subroutine s\ndo p = 1, num_images()\ndo i = 1, 3\nt = t + x%f(i)[p] * g(i)%part[p]%w(2) - q(k(i)[p])[3]\nend do\nend do\n\
                x%f = 1\nif (h(1)[2] > 0) stop\ncall take(h(3)[p])\nend subroutine\n";
    assert_eq!(
        rows(text),
        [
            "4 reads x%f(i)[p] of p, moved by 3, turned by 2",
            "4 reads g(i)%part[p]%w(2) of p, moved by 3, turned by 2",
            "4 reads q(k(i)[p])[3] of 3, moved by 3",
            "4 reads k(i)[p] of p, moved by 3, turned by 2",
            // Element 3 is not element 1.
            "8 reads h(1)[2] of 2",
            "9 reads or writes h(3)[p] of p",
        ]
    );
}

#[test]
fn a_variable_that_a_loop_sets_moves_what_it_says() {
    let text = "subroutine s\ndo k = 1, 2\nfrom = 1\ndo i = 1, 9\nat = mod(i + 3, 9) + 1\na(i) = b(at, other)[from]\nb(at, 1) = 0\n\
                end do\nother = 2\nend do\nend subroutine\n";
    assert_eq!(
        rows(text),
        ["6 reads b(at, other)[from] of from, moved by 4, turned by 2; written 7: b(at, 1) by 2 or so"]
    );
}

/// What is said of `x = u(…)[p]`, and nothing of where it stands.
fn ends(text: &str) -> Vec<String> {
    let rows = rows(text);
    let ends = rows.iter().filter(|row| row.contains("reads u"));
    ends.map(|row| row.split_once("; ").map_or(String::new(), |(_, ends)| ends.to_owned())).collect()
}

#[test]
fn dependences_are_what_theory_says() {
    let within = |body: &str| format!("subroutine s(n, me)\n{body}\nend subroutine\n");
    for (body, expected) in [
        // The value is read before the statement writes.
        ("u(i) = &\n  u(i)[p]", ""),
        ("u(1) = 0; x = u(1)[p]", "written 2: u(1) same"),
        // Steps are counted, and may go down.
        ("do i = n-1, 1, -1\nx = u(i+1)[p]\nu(i) = x\nend do", "written 4: u(i) by 2 + 1"),
        ("do i = n-1, 1, -1\nx = u(i-1)[p]\nu(i) = x\nend do", ""),
        ("do i = 1, n, 2\nx = u(i-1)[p]\nu(i) = x\nend do", ""),
        ("do i = 1, n, k\nx = u(i-1)[p]\nu(i) = x\nend do", "written 4: u(i) by 2 or so"),
        // No further than a loop goes.
        ("do i = 1, 50\nx = u(i-49)[p]\nu(i) = x\nend do", "written 4: u(i) by 2 + 49"),
        ("do i = 1, 50\nx = u(i-50)[p]\nu(i) = x\nend do", ""),
        ("do i = 50, 1, -7\nx = u(i+49)[p]\nu(i) = x\nend do", "written 4: u(i) by 2 + 7"),
        ("do i = 50, 1, -7\nx = u(i+56)[p]\nu(i) = x\nend do", ""),
        // Nothing is known of where these lead.
        ("do i = 1, n\nx = u(f(i))[p]\nu(f(i)) = x\nend do", "written 4: u(f(i)) by 2 or so"),
        ("do i = 1, n\nx = u(i+j)[p]\nu(i+j) = x\nend do", "written 4: u(i+j) by 2 or so"),
        // Odd and even, whatever the outer loop says.
        ("do i = 1, n\ndo j = 1, n\nx = u(i-1, 2*j)[p]\nu(i, 2*j+1) = x\nend do\nend do", ""),
        // The two ends of a halo are not each other's.
        (
            "do t = 1, 9\ny = u(n)[p]\nu(n+1) = u(1)[q]\nend do",
            // Element 1 may be n + 1, as far as the text knows.
            "|written 4: u(n+1) by 2 + 1",
        ),
        ("do t = 1, 9\ny = u(n)[p]\nu(n+1) = y\ncall change(n)\nend do", "written 4: u(n+1) by 2 or so"),
        ("u(1:n) = 0\ny = u(n+1)[p]", ""),
        ("u(10:1:-1) = v\nx = u(5)[p]", "written 2: u(10:1:-1) same"),
        // These have no order.
        ("forall (i = 2:n) u(i) = u(i-1)[p]", ""),
        ("do concurrent (i = 2:n)\nu(i) = u(i-1)[p]\nend do", ""),
        (
            "do t = 1, 9\ndo concurrent (i = 2:n)\nu(i) = u(i-1)[p]\nend do\nend do",
            "written 4: u(i) by 2 + 1",
        ),
        // Two sweeps with the same counter.
        ("do i = 1, n\nu(i) = 0\nend do\ndo i = 1, n\nx = u(i+1)[p]\nend do", "written 3: u(i) same"),
    ] {
        assert_eq!(ends(&within(body)).join("|"), expected, "{body}");
    }
}

#[test]
fn lines_are_those_of_the_name() {
    assert_eq!(rows("subroutine s\nv = w + &\n  u(1)[p]\nend subroutine\n"), ["3 reads u(1)[p] of p"]);
    let text = "subroutine s\ndo t = 1, 9\ndo j = 1, 9\nif (a(j) > b) k = j\nend do\nx = u(k)[p]\nend do\nend subroutine\n";
    assert_eq!(rows(text), ["6 reads u(k)[p] of p, moved by 2"]);
}

#[test]
fn a_file_without_images_has_none() {
    assert!(rows("subroutine s\nx = [1, 2]\na(1) = a(2)\nend subroutine\n").is_empty());
}

/// `line: end of subscript text [= value]`.
fn symbols(text: &str) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.f90");
    fs::write(&path, text).unwrap();
    let it = Sources::of(&path, &TextConfig::system());
    let mut rows = Vec::new();
    for of in &it.references {
        for symbol in &of.symbols {
            let mut row = format!(
                "{}: {:?} {}/{} {}",
                of.line,
                symbol.end,
                symbol.subscript,
                of.subscripts,
                it.text(symbol.text)
            );
            if let Some(value) = symbol.value {
                row.push_str(&format!(" = {value}"));
            }
            rows.push(row.replace("Subscript", "One"));
        }
    }
    rows
}

#[test]
fn expressions_of_a_reference_are_symbols_unless_the_text_says_what_they_are_worth() {
    let text = "module m\ninteger, parameter :: n = 8, half = n / 2, twice = 2 * n\nreal :: u(n, n)[*]\nend module\n\
                subroutine s(left, n)\nuse m, only: u, twice\ninteger :: left, n\ninteger, parameter :: edge = 3\n\
                u(1:n:2, edge) = u(edge + 1:twice - 2, j)[left + 1]\nu(:, 4) = u(half:, i + &\n 1)[2]\n\
                x = f(k)%v(:m)[p, q]\nend subroutine\n";
    assert_eq!(
        symbols(text),
        [
            // A constant of the module that the procedure does not declare itself.
            "9: Lower 0/2 edge + 1 = 4",
            "9: Upper 0/2 twice - 2 = 14",
            "9: One 1/2 j",
            "9: Image 0/2 left + 1",
            // What is divided is not worked out.
            "10: Lower 0/2 half",
            "10: One 1/2 i +1",
            "10: Image 0/2 2 = 2",
            // Which image two subscripts mean no single value says.
            "12: One 0/2 k",
            "12: Upper 1/2 m",
        ]
    );
    // The argument of the procedure has the name of a constant of the module.
    let text = text.replace("u(edge + 1:twice - 2, j)", "u(edge + 1:n, j)");
    assert!(symbols(&text).contains(&"9: Upper 0/2 n".to_owned()), "{:?}", symbols(&text));
}
