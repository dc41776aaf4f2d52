//! The driver's errors, in the driver's words.

use std::ffi::{CStr, c_char};
use std::fmt::Write;
use std::ptr;

use cust::error::{CudaError, CudaResult};
use cust::sys::CUresult;

use crate::error::Error;

/// The error's name and what the driver says of it.
pub(super) fn describe(error: CudaError) -> String {
    let name = format!("{error:?}");
    let mut text = String::new();
    // `CudaError`'s Display asks the driver, and fails where there is none to ask: `to_string` would panic.
    match write!(text, "{error}") {
        Ok(()) => format!("{} ({name})", text.trim_matches('"')),
        Err(_) => name,
    }
}

/// The same for a code that comes straight from the driver.
pub(super) fn describe_code(code: CUresult) -> String {
    let mut text: *const c_char = ptr::null();
    // SAFETY: the driver stores the address of a static string, or nothing.
    unsafe { cust::sys::cuGetErrorString(code, &mut text) };
    let name = format!("{code:?}");
    if text.is_null() {
        return name;
    }
    // SAFETY: as above.
    let text = unsafe { CStr::from_ptr(text) };
    format!("{} ({name})", text.to_string_lossy())
}

/// Says what was being done when the driver refused.
pub(super) trait During<T> {
    fn during(self, action: &'static str) -> Result<T, Error>;
}

impl<T> During<T> for CudaResult<T> {
    fn during(self, action: &'static str) -> Result<T, Error> {
        self.map_err(|error| Error::Cuda {
            action,
            message: describe(error),
        })
    }
}
