//! Names in declarations of C and C++, which stand inside what is declared of them.
//!
//! The one idea: `*(*f)(int)` is unwrapped from the outside inwards until only a name is left; what was met last decides
//! whether it is a function.

use tree_sitter::Node;

use super::walk::Walk;

/// Pointers to arrays of pointers: more than anybody writes.
const MOST_STEPS: usize = 64;

/// What a declarator declares.
pub(super) struct Declared<'t> {
    /// The name.
    pub(super) at: Node<'t>,
    /// Parameters and qualifiers, where it is a function.
    pub(super) function: Option<Node<'t>>,
}

/// Unwraps a declarator.
pub(super) fn declared(declarator: Node<'_>) -> Declared<'_> {
    let (mut at, mut function) = (declarator, None);
    for _ in 0..MOST_STEPS {
        let inner = match at.kind() {
            "function_declarator" => {
                function = Some(at);
                at.child_by_field_name("declarator")
            }
            "pointer_declarator" | "array_declarator" | "init_declarator" => {
                function = None;
                at.child_by_field_name("declarator")
            }
            "pointer_type_declarator" | "type_declarator" => at.child_by_field_name("declarator"),
            "reference_declarator" | "attributed_declarator" | "variadic_declarator" => {
                function = None;
                at.named_child(0)
            }
            // A calling convention of another system may stand before the name.
            "parenthesized_declarator" => {
                let last = u32::try_from(at.named_child_count()).unwrap_or(0).saturating_sub(1);
                at.named_child(last)
            }
            "operator_cast" => {
                function = Some(at);
                break;
            }
            _ => break,
        };
        match inner {
            Some(inner) => at = inner,
            None => break,
        }
    }
    Declared { at, function }
}

/// A name without arguments of templates, and the node of its last part.
pub(super) fn path<'t>(walk: &Walk<'_>, name: Node<'t>) -> (String, Node<'t>) {
    let mut parts: Vec<String> = Vec::new();
    let mut node = name;
    for _ in 0..MOST_STEPS {
        match node.kind() {
            "qualified_identifier" => {
                if let Some(scope) = node.child_by_field_name("scope") {
                    parts.push(part(walk, scope).0);
                }
                match node.child_by_field_name("name") {
                    Some(inner) => node = inner,
                    None => break,
                }
            }
            "dependent_name" | "dependent_type" => match node.named_child(0) {
                Some(inner) => node = inner,
                None => break,
            },
            _ => break,
        }
    }
    let (last, node) = part(walk, node);
    parts.push(last);
    (parts.join("::"), node)
}

fn part<'t>(walk: &Walk<'_>, node: Node<'t>) -> (String, Node<'t>) {
    let name = match node.kind() {
        "template_type" | "template_function" | "template_method" => node.child_by_field_name("name"),
        _ => None,
    };
    let node = name.unwrap_or(node);
    let text = walk.str(node);
    let text = match node.kind() {
        "operator_cast" => {
            // Its parameters are no part of its name.
            let of = node.child_by_field_name("type").map(|of| walk.str(of).into_owned());
            return (format!("operator {}", of.unwrap_or_default()), node);
        }
        "operator_name" | "destructor_name" => text.split_whitespace().collect::<String>(),
        _ => text.split_whitespace().collect::<Vec<_>>().join(" "),
    };
    (text, node)
}
