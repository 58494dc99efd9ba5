//! Fortran in which macros stand for types and calls, as in programs that use PETSc.
//!
//! The one idea: a statement of Fortran begins with a word of the language, or gives something a value. What does neither is
//! made by a preprocessor. `PetscInt n` declares what no grammar knows; it is blanked. `PetscCall(VecSet(x, ierr))` is a call
//! with something around it; the call is left. All lines and columns stay where they are.
//!
//! What is deliberately absent: what macros are made of. Nobody is asked for their definitions.

use super::fixed_form::without_comment;

/// Words that a statement can begin with. Those that begin with `end` are all the language's.
const WORDS: &str = "allocatable allocate assign associate asynchronous backspace bind block call case change character class close \
    codimension common complex concurrent contains contiguous continue critical cycle data deallocate default \
    dimension do double doubleprecision elemental else elseif elsewhere entry enum enumerator equivalence error \
    event exit external fail final flush forall form format function generic go goto if implicit import impure \
    include inquire integer intent interface intrinsic lock logical module namelist nullify open optional \
    parameter pause pointer print private procedure program protected public pure read real recursive return \
    rewind save select sequence stop submodule subroutine sync target type unlock use value volatile wait where \
    write";

/// A text of the same length, without what only macros can be; `None` = there is nothing of that kind.
pub(super) fn without(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = text.to_vec();
    let (mut from, mut is_changed) = (0, false);
    while from < text.len() {
        let to = statement(text, from);
        is_changed |= clean(&mut out[from..to]);
        from = to;
    }
    is_changed.then_some(out)
}

/// Where the statement ends that begins at `from`: behind the first line that says something and does not end with `&`.
fn statement(text: &[u8], mut from: usize) -> usize {
    let mut is_begun = false;
    loop {
        let line = text[from..].split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
        from += line.len();
        let said = without_comment(line).trim_ascii();
        // Remarks and empty lines can stand between a statement and what continues it, but none of them begins one.
        let goes_on = said.ends_with(b"&") || is_begun && said.is_empty();
        if from == text.len() || !goes_on {
            return from;
        }
        is_begun = true;
    }
}

/// Whether something of the statement was changed.
fn clean(statement: &mut [u8]) -> bool {
    let begin = statement.len() - statement.trim_ascii_start().len();
    let word = statement[begin..].iter().take_while(|byte| is_part(**byte)).count();
    if word == 0 || statement[begin].is_ascii_digit() || is_known(&statement[begin..begin + word]) {
        return false;
    }
    let behind = begin + word;
    let next = blanks(statement, behind);
    match statement.get(next..).unwrap_or_default() {
        [b':', b':', ..] | [b',', ..] => {}
        [byte, ..] if byte.is_ascii_alphabetic() && behind < next => {}
        [b'(', ..] => {
            let Some(end) = closed(statement, next) else { return false };
            let rest = blanks(statement, end + 1);
            let is_last = statement.get(rest).is_none_or(|byte| matches!(byte, b'\n' | b'\r' | b'!'));
            let is_name = statement.get(rest).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b':');
            if !is_last && !is_name {
                return false;
            }
            let inner = blanks(statement, next + 1);
            // There is room for the word, and what stands there is called.
            if is_last && 4 < next - begin && is_call(statement, inner, end) {
                statement[begin..=next].fill(b' ');
                statement[begin..begin + 4].copy_from_slice(b"call");
                statement[end] = b' ';
                return true;
            }
        }
        [] | [b'\n' | b'\r' | b'!', ..] => {}
        _ => return false,
    }
    statement.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    true
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_known(word: &[u8]) -> bool {
    let is = |known: &str| word.eq_ignore_ascii_case(known.as_bytes());
    word.get(..3).is_some_and(|it| it.eq_ignore_ascii_case(b"end")) || WORDS.split_ascii_whitespace().any(is)
}

fn blanks(text: &[u8], from: usize) -> usize {
    from + text.get(from..).unwrap_or_default().iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Where the bracket closes that opens at `from`.
fn closed(text: &[u8], from: usize) -> Option<usize> {
    let (mut depth, mut quote, mut is_comment) = (0_usize, None, false);
    for (place, byte) in text.iter().enumerate().skip(from) {
        is_comment = (is_comment || quote.is_none() && *byte == b'!') && *byte != b'\n';
        match (quote, byte) {
            _ if is_comment => {}
            (Some(sign), _) if sign == byte => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'(') => depth += 1,
            (None, b')') => {
                depth -= 1;
                if depth == 0 {
                    return Some(place);
                }
            }
            (None, _) => {}
        }
    }
    None
}

/// Whether a name and its arguments are all that stands there.
fn is_call(text: &[u8], from: usize, end: usize) -> bool {
    let name = text[from..end].iter().take_while(|byte| is_part(**byte)).count();
    let open = blanks(text, from + name);
    let is_named = name != 0 && text[from].is_ascii_alphabetic() && text.get(open) == Some(&b'(');
    is_named && closed(text, open).is_some_and(|last| blanks(text, last + 1) == end)
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn what_only_macros_can_be_is_blanked_and_calls_in_macros_are_left() {
        let text = "\
subroutine fill(x, n, ierr) ! PetscInt n
  PetscInt, intent(in) :: n
  Vec x
  integer :: rows(3)
  rows(n) = 3; PETSC_BEGIN
  outer: do i = 1, n
    PetscCall(VecSet(x, &
      ! a comment (within it

      (/ 1, 2 /), ierr))
    PetscCallA(f)
    PetscReal(kind=8) y
    x%y(i) = 'a)(' // c
  end do outer
  PETSC_END ! of it
end subroutine fill
";
        let expected = "\
subroutine fill(x, n, ierr) ! PetscInt n


  integer :: rows(3)
  rows(n) = 3; PETSC_BEGIN
  outer: do i = 1, n
    call      VecSet(x, &
      ! a comment (within it

      (/ 1, 2 /), ierr)


    x%y(i) = 'a)(' // c
  end do outer

end subroutine fill
";
        let found = without(text.as_bytes()).unwrap();
        let lines = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
        assert_eq!(lines(std::str::from_utf8(&found).unwrap()), lines(expected));
        assert_eq!(found.len(), text.len());
        assert_eq!(without(b"program p\n  x = 1\nend\n"), None);
    }
}
