//! Which language a file is written in.
//!
//! The one idea: its name says so; only headers, whose names are the same in C and C++, are looked into.

use std::path::Path;

use super::both::{contains, is_cpp};

/// The language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// C.
    C,
    /// C++ and CUDA.
    Cpp,
    /// Fortran in free form.
    Fortran,
    /// Fortran in fixed form, whose columns have a meaning.
    FixedFortran,
    /// Rust.
    Rust,
}

impl Language {
    /// By the name of a file; `None` = it is none of those that are read.
    pub(super) fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        Some(match extension {
            // In capitals it is C++ to all compilers.
            "C" | "H" => Self::Cpp,
            _ => match extension.to_ascii_lowercase().as_str() {
                "c" | "h" => Self::C,
                "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "h++" | "ipp" | "tpp" | "txx"
                | "tcc" | "inl" | "cu" | "cuh" => Self::Cpp,
                "f90" | "f95" | "f03" | "f08" | "f18" | "f23" => Self::Fortran,
                "f" | "for" | "ftn" | "f77" | "fpp" => Self::FixedFortran,
                "rs" => Self::Rust,
                _ => return None,
            },
        })
    }

    /// By name and text. What has no known name may say in its first line, for editors, that it is C++, as headers of the
    /// standard library do.
    pub(super) fn of(path: &Path, text: &[u8]) -> Option<Self> {
        match Self::of_path(path) {
            Some(Self::C) if is_header(path) && is_fortran(text) => Some(Self::Fortran),
            Some(Self::C) if is_header(path) && is_cpp(text) => Some(Self::Cpp),
            Some(known) => Some(known),
            None => {
                let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
                contains(first, b"-*- C++ -*-").then_some(Self::Cpp)
            }
        }
    }

    /// Whether names mean the same in capitals.
    pub fn ignores_case(self) -> bool {
        matches!(self, Self::Fortran | Self::FixedFortran)
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::C => "C",
            Self::Cpp => "C++",
            Self::Fortran => "Fortran",
            Self::FixedFortran => "Fortran, fixed form",
            Self::Rust => "Rust",
        }
    }
}

/// Whether a name is that of a header of C or C++.
pub(super) fn is_header(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "h")
}

/// Whether a header is one that Fortran includes: it begins with a comment of Fortran, or declares as it does.
fn is_fortran(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    if lines.clone().next().is_some_and(|line| line.starts_with(b"!")) {
        return true;
    }
    lines.any(|line| {
        let starts: [&[u8]; 5] =
            [b"implicit none", b"end subroutine", b"end interface", b"endinterface", b"integer, parameter"];
        starts
            .iter()
            .any(|start| line.get(..start.len()).is_some_and(|line| line.eq_ignore_ascii_case(start)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_cpp_in_comments_make_no_cpp() {
        let language = |text: &str| Language::of(Path::new("a.h"), text.as_bytes());
        for text in [
            "/* Squares,\n   using only C. */\nstatic inline int sq(int x) { return x * x; }",
            "// class of its own\nint f(void);\n",
            "int f(void); /* as Rust's `std::slice::binary_search` */\n",
            "#ifdef __cplusplus\nnamespace n { class c; }\n#endif\nint f(void);\n",
            "#if defined(__cplusplus)\n#if X\n#endif\ntemplate <class T> T g(T);\n#else\nint f(void);\n#endif\n",
        ] {
            assert_eq!(language(text), Some(Language::C), "{text}");
        }
        for text in [
            "/* in C++ */ class c {};",
            "const char *s = \"/*\";\nclass c {};\n/* */",
            "#ifndef __cplusplus\n#error\n#endif\nnamespace n {}",
            "#ifdef __cplusplus\nint x;\n#endif\nusing y = int;",
            "#ifndef H\n#if __cplusplus >= 201703L\nnamespace n {}\n#endif\n#endif\n",
            "inline std::string f();",
        ] {
            assert_eq!(language(text), Some(Language::Cpp), "{text}");
        }
    }
}
