//! Kernel arguments.

use bytemuck::{Pod, bytes_of};

use crate::buffer::{DeviceBuffer, Storage};

/// An argument of a launch, borrowed from a buffer or copied from a value.
///
/// Made by [`args!`](crate::args) or by `From`: `&buffer` for what the kernel reads, `&mut buffer` for what it writes,
/// numbers by value, and [`Arg::structure`] for a `#[repr(C)]` structure passed by value.
#[derive(Clone, Debug)]
pub struct Arg<'a>(pub(crate) Value<'a>);

#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    /// Eight bytes at most, as the parameter space holds them.
    Scalar { kind: Scalar, bytes: [u8; 8] },
    /// A structure's bytes.
    Bytes(Vec<u8>),
    /// A buffer on a device.
    Buffer(&'a Storage),
}

/// The types of scalar arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

impl Scalar {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }
}

impl Arg<'_> {
    /// A structure passed by value, as the kernel's `#[repr(C)]` type has it.
    pub fn structure<T: Pod>(value: &T) -> Self {
        Self::structure_of(bytes_of(value))
    }

    /// A structure passed by value, as these bytes.
    pub fn structure_of(bytes: &[u8]) -> Self {
        Self(Value::Bytes(bytes.to_vec()))
    }
}

macro_rules! scalars {
    ($($ty:ty => $kind:ident),* $(,)?) => {$(
        impl From<$ty> for Arg<'_> {
            fn from(value: $ty) -> Self {
                let mut bytes = [0; 8];
                bytes[..size_of::<$ty>()].copy_from_slice(&value.to_le_bytes());
                Self(Value::Scalar { kind: Scalar::$kind, bytes })
            }
        }
    )*};
}

scalars!(u8 => U8, u16 => U16, u32 => U32, u64 => U64, i8 => I8, i16 => I16, i32 => I32, i64 => I64, f32 => F32, f64 => F64);

impl From<usize> for Arg<'_> {
    /// `usize` of the device, which has 64 bits.
    fn from(value: usize) -> Self {
        Self::from(value as u64)
    }
}

impl<'a, T: Pod> From<&'a DeviceBuffer<T>> for Arg<'a> {
    fn from(buffer: &'a DeviceBuffer<T>) -> Self {
        Self(Value::Buffer(&buffer.storage))
    }
}

impl<'a, T: Pod> From<&'a mut DeviceBuffer<T>> for Arg<'a> {
    fn from(buffer: &'a mut DeviceBuffer<T>) -> Self {
        Self(Value::Buffer(&buffer.storage))
    }
}

/// The arguments of a launch, in the kernel's order: `args![&input, &mut output, rows, cols]`.
#[macro_export]
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::Arg::from($value)),*] };
}
