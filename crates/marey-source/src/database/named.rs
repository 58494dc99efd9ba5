//! Whether a database can know a name, told before it is made.
//!
//! The one idea: debug information keeps names as text. One that is nowhere in it is no function's, and looking for it takes
//! a thousandth of the time that reading all of it does, so that a slip of the pen is answered at once.
//!
//! What is deliberately absent: the answer yes for certain; a name may be that of a variable.

use memchr::memmem;

use crate::elf::Sections;
use crate::module::Files;
use crate::problem::{BuildId, Problems};
use crate::symbolizer::{ModuleRef, SymbolizerConfig};

/// Whether debug information of a module may know a function by a word, the last identifier of its name.
pub fn may_name(module: &ModuleRef<'_>, config: &SymbolizerConfig, word: &str) -> bool {
    let recorded = module.build_id.filter(|id| !id.is_empty()).map(|id| BuildId(id.to_vec()));
    let files = Files::of(module.path, recorded.as_ref(), config, &mut Problems::default());
    let Some((file, head)) = files.with_dwarf(module.path) else { return false };
    // Names may lie in files that come with it.
    if head.alt_link.is_some() {
        return true;
    }
    const NAMES: [&str; 3] = [".debug_str", ".debug_info", ".debug_addr"];
    let Ok(sections) = Sections::read(file, &NAMES, config.max_bytes) else { return true };
    let is_split = !sections.get(".debug_addr").is_empty();
    is_split || [".debug_str", ".debug_info"].iter().any(|name| has_word(sections.get(name), word))
}

/// Whether a word ends somewhere. Texts share their ends, so where it begins says nothing.
fn has_word(bytes: &[u8], word: &str) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    memmem::find_iter(bytes, word).any(|at| bytes.get(at + word.len()).is_none_or(|next| !is_part(next)))
}

#[cfg(test)]
mod tests {
    use super::has_word;

    #[test]
    fn words_end_where_others_begin() {
        let names = b"misstep\0twice<int>\0stepping\0";
        for (word, expected) in
            [("step", true), ("twice", true), ("stepp", false), ("int", true), ("swep", false)]
        {
            assert_eq!(has_word(names, word), expected, "{word}");
        }
    }
}
