//! What lines of clang's tree mean.
//!
//! The one idea: a declaration is taken when it is met, with what is open around it; a function when its body is.

use super::super::row;
use super::{Open, Reader};

const LOOPS: [&str; 4] = ["ForStmt", "WhileStmt", "DoStmt", "CXXForRangeStmt"];
const FUNCTIONS: [&str; 5] =
    ["FunctionDecl", "CXXMethodDecl", "CXXConstructorDecl", "CXXDestructorDecl", "CXXConversionDecl"];
const RECORDS: [&str; 4] = [
    "RecordDecl",
    "CXXRecordDecl",
    "ClassTemplateSpecializationDecl",
    "ClassTemplatePartialSpecializationDecl",
];
/// What stands before the name of a declaration.
const FLAGS: [&str; 5] = ["implicit", "used", "referenced", "constexpr", "invalid"];

impl Reader {
    pub(super) fn take(&mut self, it: &mut Open, rest: &str, line: &str) {
        let depth = self.open.len();
        let is_callee = self.callee.take() == Some(depth);
        let around = self.open.last().cloned().unwrap_or_default();
        let kind = it.kind.as_str();
        if is_callee {
            self.call(it, rest);
        }
        if LOOPS.contains(&kind) {
            let lines = self.written(it.first).zip(self.written(it.last));
            if let Some(((path, first), (_, last))) = lines {
                let span = (path.to_owned(), first, last);
                self.found.loops.insert(span);
            }
        } else if ["CallExpr", "CXXMemberCallExpr"].contains(&kind) {
            self.callee = Some(depth + 1);
        } else if FUNCTIONS.contains(&kind) {
            // What the compiler writes has a body, too.
            let is_made = rest.starts_with("implicit") || rest.split(' ').any(|it| it == "default");
            let name = if kind == "CXXConversionDecl" {
                "operator".to_owned()
            } else {
                without_arguments(named(rest))
            };
            it.name.clone_from(&name);
            self.member(it, rest);
            it.name = if is_made { String::new() } else { name };
        } else if ["FieldDecl", "VarDecl"].contains(&kind) {
            it.name = named(rest).to_owned();
            self.member(it, rest);
        } else if RECORDS.contains(&kind) {
            let words: Vec<&str> = rest.split(' ').filter(|word| !FLAGS.contains(word)).collect();
            if let [tag, name, "definition"] = words[..]
                && !rest.starts_with("implicit")
            {
                it.name = name.to_owned();
                it.access = if tag == "class" { "private" } else { "public" }.to_owned();
                self.define(it);
            }
        } else if kind == "EnumConstantDecl" && around.kind == "EnumDecl" {
            let name = named(rest).to_owned();
            let name = Open { name, ..it.clone() };
            self.define(&around);
            self.add_member(&name, "public", false);
        } else if kind == "EnumDecl" {
            let words = rest.split(" '").next().unwrap_or_default();
            it.name = words.split(' ').filter(|word| !FLAGS.contains(word) && *word != "class").collect();
        } else if kind == "AccessSpecDecl" {
            if let Some(around) = self.open.last_mut() {
                rest.clone_into(&mut around.access);
            }
        } else if ["CompoundStmt", "CXXTryStmt"].contains(&kind) && FUNCTIONS.contains(&around.kind.as_str())
        {
            let last = self.written(around.last).map(|(_, line)| line);
            if let (Some((path, at)), Some(last)) = (self.written(around.at), last)
                && around.is_whole()
            {
                let row = row(path, at, &around.name);
                self.found.functions.insert((row, last));
            }
        } else if ["public", "protected", "private", "virtual"].contains(&kind) && !around.name.is_empty() {
            self.base(&around, line);
        }
    }

    fn define(&mut self, it: &Open) {
        let last = self.written(it.last).map(|(_, line)| line);
        if let (Some((path, at)), Some(last)) = (self.written(it.at), last)
            && it.is_whole()
        {
            let row = row(path, at, &it.name);
            self.found.types.insert((row, last));
        }
    }

    /// `virtual public 'base<int>':'base<int>'`
    fn base(&mut self, of: &Open, line: &str) {
        let words: Vec<&str> = line.split(" '").next().unwrap_or_default().split(' ').collect();
        let name = line.split('\'').nth(1).unwrap_or_default();
        let Some((path, _)) = self.written(of.at) else { return };
        let access = words.last().copied().unwrap_or_default();
        let base =
            (path.to_owned(), of.name.clone(), plain(name), access.to_owned(), words.contains(&"virtual"));
        self.found.bases.insert(base);
    }

    /// A declaration that stands in a type, or is the template of one that does.
    fn member(&mut self, it: &Open, rest: &str) {
        let mut around = self.open.iter().rev().filter(|it| it.kind != "FunctionTemplateDecl");
        let Some(of) = around.next().filter(|it| RECORDS.contains(&it.kind.as_str()) && !it.name.is_empty())
        else {
            return;
        };
        if rest.starts_with("implicit") {
            return;
        }
        let access = of.access.clone();
        let behind = rest.rsplit('\'').next().unwrap_or_default();
        let is_virtual = behind.split(' ').any(|word| word == "virtual");
        self.add_member(it, &access, is_virtual);
    }

    fn add_member(&mut self, it: &Open, access: &str, is_virtual: bool) {
        if let Some((path, at)) = self.written(it.at)
            && !it.name.is_empty()
        {
            let member = (row(path, at, &it.name), access.to_owned(), is_virtual);
            self.found.members.insert(member);
        }
    }

    /// What a call is of, below casts.
    fn call(&mut self, it: &Open, rest: &str) {
        let (name, place) = match it.kind.as_str() {
            "ImplicitCastExpr" => {
                self.callee = Some(self.open.len() + 1);
                return;
            }
            // `'int ()' lvalue Function 0x5c4c 'name' 'int ()'`
            "DeclRefExpr" => (rest.split("0x").nth(1).and_then(|it| it.split('\'').nth(1)), it.first),
            // `'<overloaded function type>' lvalue (ADL) = 'swap' 0x5c4c`
            "UnresolvedLookupExpr" => {
                (rest.split(" = '").nth(1).and_then(|it| it.split('\'').next()), it.first)
            }
            // `'<bound member function type>' ->size 0x5c4c`
            "MemberExpr" | "CXXDependentScopeMemberExpr" | "UnresolvedMemberExpr" => {
                let behind = rest.rsplit('\'').next().unwrap_or_default();
                let name = behind.split(' ').find_map(|it| it.strip_prefix("->").or(it.strip_prefix('.')));
                (name, it.last)
            }
            _ => return,
        };
        // What a loop over a range asks for is not written there.
        let is_made = self.open.iter().any(|it| it.kind == "CXXForRangeStmt")
            && ["begin", "end"].contains(&name.unwrap_or_default());
        let name = name.filter(|it| !is_made && !it.starts_with("operator"));
        if let (Some(name), Some((path, line))) = (name, self.written(place)) {
            let row = row(path, line, name);
            self.found.calls.insert(row);
        }
    }
}

/// `used name 'type' inline` → `name`
fn named(rest: &str) -> &str {
    let mut name = rest.split(" '").next().unwrap_or_default();
    while let Some((word, behind)) = name.split_once(' ').filter(|(word, _)| FLAGS.contains(word)) {
        let _: &str = word;
        name = behind;
    }
    name
}

/// Constructors have the arguments of their template in their names.
fn without_arguments(name: &str) -> String {
    if name.starts_with("operator") {
        return name.to_owned();
    }
    name.split('<').next().unwrap_or_default().to_owned()
}

/// The last name, without arguments of templates.
pub(crate) fn plain(name: &str) -> String {
    let mut depth = 0;
    let outside = name.chars().filter(|c| {
        depth += i32::from(*c == '<');
        let is_outside = depth == 0;
        depth -= i32::from(*c == '>');
        is_outside
    });
    let name: String = outside.collect();
    name.rsplit("::").next().unwrap_or_default().trim().to_owned()
}
