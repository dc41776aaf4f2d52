//! The file as TOML has it. Everything that an error may point at keeps its place.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

use super::dtype::DType;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Schema {
    pub(super) ptx: Spanned<PathBuf>,
    pub(super) entry: Spanned<String>,
    pub(super) grid: Spanned<Vec<u32>>,
    pub(super) block: Spanned<Vec<u32>>,
    pub(super) shared_bytes: Option<Spanned<u32>>,
    pub(super) card: Option<Spanned<String>>,
    pub(super) registers: Option<Spanned<u32>>,
    pub(super) max_steps: Option<u64>,
    #[serde(default)]
    pub(super) cooperative: bool,
    #[serde(default, rename = "arg")]
    pub(super) args: Vec<Spanned<Argument>>,
    #[serde(default)]
    pub(super) shared: Vec<Spanned<Shared>>,
    #[serde(default)]
    pub(super) dump: BTreeMap<Spanned<String>, Spanned<PathBuf>>,
}

/// `[[arg]]`: one of its fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Argument {
    pub(super) buffer: Option<Spanned<Buffer>>,
    pub(super) value: Option<Spanned<Value>>,
    pub(super) bytes: Option<Spanned<String>>,
}

/// `buffer = { .. }`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Buffer {
    #[serde(rename = "type")]
    pub(super) ty: Option<Spanned<DType>>,
    pub(super) len: Option<Spanned<u64>>,
    pub(super) shape: Option<Spanned<Vec<u64>>>,
    pub(super) init: Spanned<String>,
}

/// `value = { .. }`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Value {
    #[serde(rename = "type")]
    pub(super) ty: DType,
    pub(super) value: Spanned<toml::Value>,
}

/// `[[shared]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shared {
    pub(super) name: String,
    pub(super) offset: u32,
    pub(super) bytes: u32,
}
