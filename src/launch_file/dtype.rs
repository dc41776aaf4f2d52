//! Element types of buffers and values.

use std::fmt;

use half::{bf16, f16};
use serde::Deserialize;
use tile33_sim::Arg;

/// An element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum DType {
    Bool,
    U8,
    I8,
    U16,
    I16,
    F16,
    Bf16,
    U32,
    I32,
    F32,
    U64,
    I64,
    F64,
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::F32 => "f32",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F64 => "f64",
        })
    }
}

impl DType {
    /// Size in bytes.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Bool | Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }

    /// The little-endian bits of an index as this type: integers wrap, floats round.
    pub(super) fn iota(self, index: u64) -> u64 {
        match self {
            Self::F16 => f16::from_f64(index as f64).to_bits().into(),
            Self::Bf16 => bf16::from_f64(index as f64).to_bits().into(),
            Self::F32 => (index as f32).to_bits().into(),
            Self::F64 => (index as f64).to_bits(),
            Self::Bool => u64::from(index != 0),
            _ => index,
        }
    }

    /// The bits of a random element from 64 random bits.
    pub(super) fn random(self, bits: u64) -> u64 {
        let single = (bits >> 40) as f32 / (1u64 << 24) as f32;
        match self {
            Self::F16 => f16::from_f32(single).to_bits().into(),
            Self::Bf16 => bf16::from_f32(single).to_bits().into(),
            Self::F32 => single.to_bits().into(),
            Self::F64 => ((bits >> 11) as f64 / (1u64 << 53) as f64).to_bits(),
            Self::Bool => bits & 1,
            _ => bits,
        }
    }

    /// A value of the file as an argument, or why it is none of this type.
    pub(super) fn argument(self, value: &toml::Value) -> Result<Arg, String> {
        let wrong = || format!("`{value}` is no {self}");
        if self == Self::Bool {
            return value.as_bool().map(|value| Arg::U8(value.into())).ok_or_else(wrong);
        }
        if self.is_float() {
            let value = match value {
                toml::Value::Float(value) => *value,
                toml::Value::Integer(value) => *value as f64,
                _ => return Err(wrong()),
            };
            return Ok(match self {
                Self::F16 => Arg::U16(f16::from_f64(value).to_bits()),
                Self::Bf16 => Arg::U16(bf16::from_f64(value).to_bits()),
                Self::F32 => Arg::F32(value as f32),
                _ => Arg::F64(value),
            });
        }
        // TOML's integers end at 2^63 - 1; larger ones are written as text.
        let integer: i128 = match value {
            toml::Value::Integer(value) => (*value).into(),
            toml::Value::String(text) => match text.strip_prefix("0x") {
                Some(digits) => i128::from_str_radix(digits, 16).map_err(|_| wrong())?,
                None => text.parse().map_err(|_| wrong())?,
            },
            _ => return Err(wrong()),
        };
        let range = || format!("{integer} does not fit into a {self}");
        Ok(match self {
            Self::U8 => Arg::U8(integer.try_into().map_err(|_| range())?),
            Self::I8 => Arg::I8(integer.try_into().map_err(|_| range())?),
            Self::U16 => Arg::U16(integer.try_into().map_err(|_| range())?),
            Self::I16 => Arg::I16(integer.try_into().map_err(|_| range())?),
            Self::U32 => Arg::U32(integer.try_into().map_err(|_| range())?),
            Self::I32 => Arg::I32(integer.try_into().map_err(|_| range())?),
            Self::U64 => Arg::U64(integer.try_into().map_err(|_| range())?),
            _ => Arg::I64(integer.try_into().map_err(|_| range())?),
        })
    }
}
