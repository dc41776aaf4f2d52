//! Expansion of `#[kernel]`.
//!
//! For the GPU, a function becomes an entry point with the PTX calling convention, and its launch bounds a mark that
//! `cuda_builder` reads. With `types`, one entry point is made for each type by writing the type in the place of the
//! parameter: what is declared inside, shared memory above all, is then each entry point's own, which a generic
//! function could not have. For the host, the function stays as it is written, so that it is type-checked.

use proc_macro2::{Group, Literal, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, FnArg, GenericParam, Ident, ItemFn, Result, ReturnType, TypePath};

use crate::arguments::Arguments;

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let arguments: Arguments = syn::parse2(arguments)?;
    let span = item.span();
    let function: ItemFn = syn::parse2(item)
        .map_err(|error| Error::new(span, format!("#[kernel] goes on a function, and this is none: {error}")))?;
    check(&function)?;
    let parameter = type_parameter(&function, &arguments)?;
    let name = match &arguments.prefix {
        Some(prefix) => format_ident!("{prefix}_{}", function.sig.ident),
        None => function.sig.ident.clone(),
    };
    let entries = match &parameter {
        None => vec![entry(function.clone(), name, &arguments)],
        Some(parameter) => {
            let instances = arguments
                .types
                .iter()
                .map(|ty| instance(&function, parameter, ty, &name, &arguments));
            instances.collect::<Result<_>>()?
        }
    };
    let copies = parameters_are_copy(&function);
    Ok(quote! {
        #[cfg(not(target_os = "cuda"))]
        #function
        #copies
        #(#entries)*
    })
}

/// What the launch cannot give or take back.
fn check(function: &ItemFn) -> Result<()> {
    let signature = &function.sig;
    if signature.unsafety.is_none() {
        let message =
            "a kernel is an `unsafe fn`: nothing checks what its pointers point to, nor what other threads do";
        return Err(Error::new(signature.fn_token.span, message));
    }
    if let ReturnType::Type(_, ty) = &signature.output {
        return Err(Error::new(
            ty.span(),
            "a kernel returns nothing: write results through a pointer parameter",
        ));
    }
    if let Some(token) = &signature.asyncness {
        return Err(Error::new(token.span, "a kernel cannot be async"));
    }
    if let Some(token) = &signature.constness {
        return Err(Error::new(token.span, "a kernel cannot be const"));
    }
    if let Some(abi) = &signature.abi {
        return Err(Error::new(
            abi.span(),
            "#[kernel] chooses the calling convention: leave it out",
        ));
    }
    if let Some(variadic) = &signature.variadic {
        return Err(Error::new(variadic.span(), "a kernel has a fixed number of parameters"));
    }
    if let Some(FnArg::Receiver(receiver)) = signature.inputs.first() {
        return Err(Error::new(
            receiver.span(),
            "a kernel is a free function: it has no self",
        ));
    }
    Ok(())
}

/// The one generic parameter that `types` fills.
fn type_parameter(function: &ItemFn, arguments: &Arguments) -> Result<Option<Ident>> {
    let generics = &function.sig.generics;
    let mut parameters = generics.params.iter();
    match (parameters.next(), parameters.next(), arguments.types.is_empty()) {
        (None, _, true) => Ok(None),
        (None, _, false) => {
            let message =
                "`types` lists types for a generic parameter, but the kernel has none: write `fn name<T>(..)`";
            Err(Error::new(function.sig.ident.span(), message))
        }
        (Some(GenericParam::Type(ty)), None, false) => Ok(Some(ty.ident.clone())),
        (Some(_), _, _) => {
            let message = "a launch names one entry point, so a kernel has no generic parameters, \
                           except for one type with #[kernel(types = [f32, f64])]";
            Err(Error::new(generics.span(), message))
        }
    }
}

/// The function with `ty` written for `parameter`, as an entry point `name_ty`.
fn instance(
    function: &ItemFn,
    parameter: &Ident,
    ty: &TypePath,
    name: &Ident,
    arguments: &Arguments,
) -> Result<TokenStream> {
    let mut concrete = function.clone();
    concrete.sig.generics = syn::Generics::default();
    let tokens = substitute(concrete.into_token_stream(), parameter, &ty.to_token_stream());
    let last = ty
        .path
        .segments
        .last()
        .map(|segment| segment.ident.to_string().to_lowercase())
        .unwrap_or_default();
    Ok(entry(syn::parse2(tokens)?, format_ident!("{name}_{last}"), arguments))
}

fn substitute(tokens: TokenStream, parameter: &Ident, ty: &TokenStream) -> TokenStream {
    let replaced = tokens.into_iter().flat_map(|token| match token {
        TokenTree::Ident(ident) if ident == *parameter => ty.clone(),
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), substitute(group.stream(), parameter, ty));
            inner.set_span(group.span());
            TokenTree::Group(inner).into()
        }
        other => other.into(),
    });
    replaced.collect()
}

/// The entry point and its launch bounds, on the GPU only.
fn entry(mut function: ItemFn, name: Ident, arguments: &Arguments) -> TokenStream {
    let mut text = name.to_string();
    for (option, value) in [
        ("max_threads", arguments.max_threads),
        ("min_blocks", arguments.min_blocks),
    ] {
        if let Some(value) = value {
            text.push_str(&format!(" {option}={value}"));
        }
    }
    function.sig.ident = name;
    function.sig.abi = Some(syn::parse_quote! { extern "ptx-kernel" });
    let length = text.len();
    let text = Literal::byte_string(text.as_bytes());
    quote! {
        #[cfg(target_os = "cuda")]
        #[unsafe(no_mangle)]
        #function
        #[cfg(target_os = "cuda")]
        const _: () = {
            #[used]
            #[unsafe(link_section = ".cuda_std.launch_bounds")]
            static BOUNDS: [u8; #length] = *#text;
        };
    }
}

/// Fails to compile, at the parameter, if one is not `Copy`.
fn parameters_are_copy(function: &ItemFn) -> TokenStream {
    let generics = &function.sig.generics;
    let checks = function.sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(parameter) => {
            let ty = &parameter.ty;
            Some(quote_spanned! { ty.span() => cuda_std::parameter::check::<#ty>(); })
        }
        FnArg::Receiver(_) => None,
    });
    let name = format_ident!("{}_parameters", function.sig.ident);
    quote! {
        const _: () = {
            #[allow(dead_code, non_snake_case)]
            fn #name #generics () {
                #(#checks)*
            }
        };
    }
}
