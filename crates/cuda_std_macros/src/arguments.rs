//! What stands in the parentheses of `#[kernel(..)]`.

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, LitInt, LitStr, Result, Token, TypePath, bracketed};

/// The most threads that a block can have, on every architecture.
const MOST_THREADS: u32 = 1024;

/// The most blocks that a multiprocessor can hold, on every architecture.
const MOST_BLOCKS: u32 = 32;

/// `max_threads = 256, min_blocks = 2, prefix = "transpose", types = [f32, f64]`, each optional.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) max_threads: Option<u32>,
    pub(crate) min_blocks: Option<u32>,
    pub(crate) prefix: Option<String>,
    pub(crate) types: Vec<TypePath>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut arguments = Arguments::default();
        let start = input.span();
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            match name.to_string().as_str() {
                "max_threads" => arguments.max_threads = Some(number(input, MOST_THREADS, "threads in a block")?),
                "min_blocks" => arguments.min_blocks = Some(number(input, MOST_BLOCKS, "blocks on a multiprocessor")?),
                "prefix" => arguments.prefix = Some(prefix(input)?),
                "types" => arguments.types = types(input)?,
                other => {
                    let message =
                        format!("unknown option `{other}`: a kernel takes max_threads, min_blocks, prefix and types");
                    return Err(syn::Error::new(name.span(), message));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        if arguments.min_blocks.is_some() && arguments.max_threads.is_none() {
            let message = "min_blocks says nothing without max_threads: how many blocks fit depends on their size";
            return Err(syn::Error::new(start, message));
        }
        Ok(arguments)
    }
}

fn number(input: ParseStream<'_>, most: u32, what: &str) -> Result<u32> {
    let literal: LitInt = input.parse()?;
    let value: u32 = literal.base10_parse()?;
    if value == 0 || value > most {
        return Err(syn::Error::new(
            literal.span(),
            format!("the hardware allows 1 to {most} {what}, not {value}"),
        ));
    }
    Ok(value)
}

fn prefix(input: ParseStream<'_>) -> Result<String> {
    let literal: LitStr = input.parse()?;
    let prefix: Ident = literal.parse()?;
    Ok(prefix.to_string())
}

fn types(input: ParseStream<'_>) -> Result<Vec<TypePath>> {
    let list;
    let brackets = bracketed!(list in input);
    let types = Punctuated::<TypePath, Token![,]>::parse_terminated(&list)?;
    if types.is_empty() {
        return Err(syn::Error::new(
            brackets.span.join(),
            "a list of types without a type makes no kernel",
        ));
    }
    Ok(types.into_iter().collect())
}
