//! `#[instrument]`: a whole function as a region.
//!
//! The one idea: of a function only three things matter here — the words before `fn`, its name and
//! its body, which is always the last group in braces. So the tokens are looked at as they come,
//! and every program that uses marey is spared a parser of all of Rust in its build.
//!
//! What is deliberately absent: arguments as fields (an event in the body says that better), and
//! `async` functions, whose time is that of their polls and not that of a block.

use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

/// Enters a region for as long as a call of the function lasts.
///
/// The region is named after the module and the function. `#[instrument(name = "solver")]` names
/// it otherwise; the name may be any constant expression. `#[instrument(crate = path)]` says where
/// marey is if not at `::marey`.
#[proc_macro_attribute]
pub fn instrument(arguments: TokenStream, item: TokenStream) -> TokenStream {
    match instrumented(arguments, item.clone()) {
        Ok(function) => function,
        // The function itself stays, so that the one error is not drowned in others.
        Err(error) => [error.into_tokens(), item].into_iter().collect(),
    }
}

struct Error {
    at: Span,
    message: &'static str,
}

impl Error {
    fn into_tokens(self) -> TokenStream {
        let tokens: TokenStream = format!("::core::compile_error!({:?});", self.message)
            .parse()
            .expect("a macro call with a string literal is Rust");
        tokens
            .into_iter()
            .map(|mut token| {
                token.set_span(self.at);
                token
            })
            .collect()
    }
}

#[derive(Default)]
struct Options {
    name: Option<TokenStream>,
    path: Option<TokenStream>,
}

fn instrumented(arguments: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    let options = options(arguments)?;
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let name = function_name(&tokens)?.clone();
    let at = name.span();
    let body = match tokens.pop() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => group,
        _ => return Err(Error { at, message: "#[instrument] needs a function with a body" }),
    };
    let path = options.path.map_or_else(|| "::marey".to_owned(), |path| path.to_string());
    let region_name = options.name.map_or_else(
        || {
            let name = name.to_string();
            format!("::core::concat!(::core::module_path!(), \"::\", {:?})", name.trim_start_matches("r#"))
        },
        |name| name.to_string(),
    );
    let statement: TokenStream = format!("{path}::region!({region_name});")
        .parse()
        .map_err(|_| Error { at, message: "the options of #[instrument] are not Rust" })?;
    tokens.push(TokenTree::Group(with_first_statement(&body, statement)));
    Ok(tokens.into_iter().collect())
}

/// The name of the function, if it is one that can be measured.
fn function_name(tokens: &[TokenTree]) -> Result<&Ident, Error> {
    let nowhere = Error { at: Span::call_site(), message: "#[instrument] goes with a function" };
    let word = |token: &TokenTree, wanted: &str| matches!(token, TokenTree::Ident(ident) if ident.to_string() == wanted);
    let Some(at) = tokens.iter().position(|token| word(token, "fn")) else { return Err(nowhere) };
    for token in &tokens[..at] {
        if word(token, "async") {
            let message = "#[instrument] cannot measure an async fn: between its polls it does not run. \
                           Use a Span, or regions in its body that no await crosses";
            return Err(Error { at: token.span(), message });
        }
        if word(token, "const") {
            let message = "#[instrument] cannot measure a const fn: it may run in the compiler";
            return Err(Error { at: token.span(), message });
        }
    }
    match tokens.get(at + 1) {
        Some(TokenTree::Ident(name)) => Ok(name),
        _ => Err(nowhere),
    }
}

/// The block with a statement before all others, but behind its inner attributes.
fn with_first_statement(body: &Group, statement: TokenStream) -> Group {
    let tokens: Vec<TokenTree> = body.stream().into_iter().collect();
    let mut at = 0;
    while let [TokenTree::Punct(hash), TokenTree::Punct(bang), TokenTree::Group(_), ..] = &tokens[at..] {
        if hash.as_char() != '#' || bang.as_char() != '!' {
            break;
        }
        at += 3;
    }
    let mut stream = TokenStream::new();
    stream.extend(tokens[..at].iter().cloned());
    stream.extend(statement);
    stream.extend(tokens[at..].iter().cloned());
    let mut block = Group::new(Delimiter::Brace, stream);
    block.set_span(body.span());
    block
}

fn options(arguments: TokenStream) -> Result<Options, Error> {
    let mut options = Options::default();
    let tokens: Vec<TokenTree> = arguments.into_iter().collect();
    let is = |token: &TokenTree, wanted: char| matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted);
    for option in tokens.split(|token| is(token, ',')).filter(|option| !option.is_empty()) {
        let message = "the options of #[instrument] are name = \"…\" and crate = path";
        let [TokenTree::Ident(key), equals, value @ ..] = option else {
            return Err(Error { at: option[0].span(), message });
        };
        if !is(equals, '=') || value.is_empty() {
            return Err(Error { at: key.span(), message });
        }
        let value = Some(value.iter().cloned().collect());
        match key.to_string().as_str() {
            "name" => options.name = value,
            "crate" => options.path = value,
            _ => return Err(Error { at: key.span(), message }),
        }
    }
    Ok(options)
}
