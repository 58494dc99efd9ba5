//! Reads function prototypes out of the text of a C header.
//!
//! The one idea: prototypes of `MPI_*` are so regular that splitting the text into statements and
//! those into tokens is enough; no preprocessing, so that functions behind `#if` (those that
//! MPI-3.0 removed, which libraries still export) are seen too.

use anyhow::{Result, bail};

/// What a function returns, as far as forwarding it needs to know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Return {
    /// `int`.
    Int,
    /// Any other integer or pointer.
    Word,
    /// `double`.
    Double,
}

/// One parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Parameter {
    /// The type without `const` and spaces, arrays as pointers: `MPI_Comm`, `int*`.
    pub(crate) kind: String,
    /// The name, if the header gives one.
    pub(crate) name: Option<String>,
}

/// One function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Prototype {
    pub(crate) name: String,
    pub(crate) returns: Return,
    /// Without the `...` of `MPI_Pcontrol`.
    pub(crate) parameters: Vec<Parameter>,
}

impl Prototype {
    /// Takes over the names that `other`, the same function in another header, has in addition.
    pub(crate) fn complete_from(&mut self, other: &Self) -> Result<()> {
        if self.returns != other.returns || self.parameters.len() != other.parameters.len() {
            bail!("the headers disagree about {}: {self:?} and {other:?}", self.name);
        }
        for (mine, theirs) in self.parameters.iter_mut().zip(&other.parameters) {
            if mine.name.is_none() {
                mine.name.clone_from(&theirs.name);
            }
        }
        Ok(())
    }

    /// The names of all parameters, spelled the same way in all functions.
    pub(crate) fn parameter_names(&self) -> Vec<String> {
        let named = self.parameters.iter().enumerate();
        named
            .map(|(i, parameter)| parameter.name.as_deref().map_or_else(|| format!("p{i}"), canonical))
            .collect()
    }

    /// Where the first parameter of a type stands.
    pub(crate) fn position(&self, kind: &str) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.kind == kind)
    }
}

/// One spelling for what the headers spell differently from function to function.
fn canonical(name: &str) -> String {
    match name {
        "function" | "user_fn" => "function",
        "oldcomm" | "comm_old" | "old_comm" => "comm_old",
        "comm_cart" | "comm_graph" | "comm_dist_graph" | "new_comm" | "comm_new" | "newcomm" => "newcomm",
        "array_of_request" | "requests" => "array_of_requests",
        "array_of_status" | "statuses" => "array_of_statuses",
        "type" | "data_type" | "dtype" => "datatype",
        "new_type" => "newtype",
        "old_type" => "oldtype",
        "req" => "request",
        "file" => "fh",
        // Reserved words of Rust.
        "in" | "match" | "ref" | "fn" | "move" | "final" | "override" => return format!("{name}_"),
        other => other,
    }
    .to_owned()
}

/// All prototypes of `MPI_*` functions in the text, in its order.
pub(crate) fn parse(header: &str) -> Vec<Prototype> {
    let code = without_directives(&without_comments(header));
    code.split([';', '{', '}']).filter_map(|statement| prototype(&tokens(statement))).collect()
}

fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("/*") {
        out.push_str(&rest[..start]);
        out.push(' ');
        rest = rest[start..].find("*/").map_or("", |end| &rest[start + end + 2..]);
    }
    out.push_str(rest);
    out.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn without_directives(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_directive = false;
    for line in text.lines() {
        in_directive = in_directive || line.trim_start().starts_with('#');
        if !in_directive {
            out.push_str(line);
            out.push('\n');
        }
        in_directive = in_directive && line.ends_with('\\');
    }
    out
}

fn tokens(statement: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = statement.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let len = if rest.starts_with("...") { 3 } else { word.max(first.len_utf8()) };
        tokens.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    tokens
}

/// `MPI_Send`, but neither `MPIX_…`, `PMPI_…` nor predefined callbacks such as `MPI_DUP_FN`.
fn is_function_name(token: &str) -> bool {
    token.strip_prefix("MPI_").is_some_and(|rest| rest.chars().any(|c| c.is_ascii_lowercase()))
}

fn prototype(tokens: &[&str]) -> Option<Prototype> {
    let at = tokens.windows(2).position(|pair| is_function_name(pair[0]) && pair[1] == "(")?;
    let before = &tokens[..at];
    if at == 0 || before.iter().any(|token| ["typedef", "(", "=", "return"].contains(token)) {
        return None;
    }
    let returns = match *before.last()? {
        "int" => Return::Int,
        "double" => Return::Double,
        _ => Return::Word,
    };
    let mut parameters = Vec::new();
    let (mut depth, mut start) = (0, at + 2);
    for (i, token) in tokens.iter().enumerate().skip(at + 1) {
        match *token {
            "(" => depth += 1,
            ")" => depth -= 1,
            "," if depth == 1 => {}
            _ => continue,
        }
        if depth == 0 || *token == "," {
            parameters.extend(parameter(&tokens[start..i]));
            start = i + 1;
        }
        if depth == 0 {
            return Some(Prototype { name: tokens[at].to_owned(), returns, parameters });
        }
    }
    None
}

fn parameter(tokens: &[&str]) -> Option<Parameter> {
    const PARTS_OF_TYPES: [&str; 10] =
        ["void", "int", "char", "unsigned", "long", "short", "float", "double", "struct", "size_t"];
    let is_type = |token: &str| token.starts_with("MPI_") || PARTS_OF_TYPES.contains(&token);
    let is_word = |token: &str| token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let tokens: Vec<&str> = tokens.iter().copied().filter(|&token| token != "const").collect();
    if tokens.is_empty() || tokens == ["void"] || tokens == ["..."] {
        return None;
    }
    let name = tokens.iter().copied().rfind(|token| is_word(token) && !is_type(token));
    let kind = tokens
        .iter()
        .filter(|&&token| is_type(token) || token == "*" || token == "[")
        .map(|&token| if token == "[" { "*" } else { token })
        .collect();
    Some(Parameter { kind, name: name.map(str::to_owned) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(header: &str, expected: &[&str]) {
        let shown: Vec<String> = parse(header)
            .iter()
            .map(|p| {
                let kinds = p.parameters.iter().zip(p.parameter_names());
                let params: Vec<String> = kinds.map(|(a, name)| format!("{} {name}", a.kind)).collect();
                format!("{:?} {}({})", p.returns, p.name, params.join(", "))
            })
            .collect();
        assert_eq!(shown, expected, "{header}");
    }

    #[test]
    fn prototypes_are_read_as_c_means_them() {
        check(
            "OMPI_DECLSPEC int MPI_Waitall(int count, MPI_Request array_of_requests[],\n MPI_Status *s);",
            &["Int MPI_Waitall(int count, MPI_Request* array_of_requests, MPI_Status* s)"],
        );
        check("int MPI_Barrier(MPI_Comm) ATTR(1,2);", &["Int MPI_Barrier(MPI_Comm p0)"]);
        check("double MPI_Wtime(void);", &["Double MPI_Wtime()"]);
        check("extern MPI_Fint MPI_Comm_c2f(MPI_Comm comm);", &["Word MPI_Comm_c2f(MPI_Comm comm)"]);
        check("int MPI_Pcontrol(const int level, ...);", &["Int MPI_Pcontrol(int level)"]);
        check("int MPI_Ab(int r[][3]) gone(MPI_Ab, MPI_Cd);", &["Int MPI_Ab(int** r)"]);
    }

    #[test]
    fn what_is_no_prototype_of_the_standard_is_left_out() {
        check("typedef int MPI_Copy_function(MPI_Comm, int);", &[]);
        check("typedef void (MPI_User_function)(void *a);", &[]);
        check("/* int MPI_Send(int a); */ #define MPI_Xy(a) MPI_Yz(a)\n", &[]);
        check("#define A \\\n int MPI_Send(int a);\nint MPIX_Query(void); int MPI_DUP_FN(int a);", &[]);
        check("int PMPI_Send(int a); extern \"C\" { int MPI_Recv(int a); }", &["Int MPI_Recv(int a)"]);
    }

    #[test]
    fn names_come_from_whichever_header_has_them() {
        let mut one = parse("int MPI_Send(void *, int);").remove(0);
        one.complete_from(&parse("int MPI_Send(const void *buf, int count);")[0]).unwrap();
        assert_eq!(one.parameter_names(), ["buf", "count"]);
        assert!(one.complete_from(&parse("int MPI_Send(int buf);")[0]).is_err());
    }
}
