//! The `#[kernel]` attribute of `cuda_std`, where it is documented.

mod arguments;
mod kernel;

use proc_macro::TokenStream;

/// See `cuda_std::kernel`.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(arguments.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
