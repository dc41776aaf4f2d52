//! The shape of a launch.

use std::fmt;

use tile33_layout::CarveOut;

/// Blocks of a grid, or threads of a block, along x, y and z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim3(pub [u32; 3]);

impl Dim3 {
    /// How many there are in all.
    pub fn count(self) -> u64 {
        // Three factors below 2^32 can exceed 64 bits; a launch check sees the saturated value and refuses it.
        self.0
            .iter()
            .fold(1u64, |product, &n| product.saturating_mul(u64::from(n)))
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self([x, 1, 1])
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self([x, y, 1])
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self([x, y, z])
    }
}

impl From<[u32; 3]> for Dim3 {
    fn from(xyz: [u32; 3]) -> Self {
        Self(xyz)
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "{x} x {y} x {z}")
    }
}

/// An amount of dynamic shared memory. There is no conversion from a bare number: 256 could be bytes or elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharedBytes(u64);

impl SharedBytes {
    /// None.
    pub const NONE: Self = Self(0);

    /// Room for `count` values of type `T`.
    pub const fn of<T>(count: usize) -> Self {
        Self((count as u64).saturating_mul(size_of::<T>() as u64))
    }

    /// As a number of bytes, for instance from a layout's own size.
    pub const fn bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl From<CarveOut> for SharedBytes {
    /// All arrays of a plan.
    ///
    /// ```
    /// use tile33_host::SharedBytes;
    /// use tile33_layout::CarveOut;
    ///
    /// let mut memory = CarveOut::new();
    /// memory.array::<u8>(3);
    /// memory.array::<f32>(2);
    /// assert_eq!(SharedBytes::from(memory).get(), 12);
    /// ```
    fn from(memory: CarveOut) -> Self {
        Self(memory.bytes().into())
    }
}

/// Grid, block and dynamic shared memory of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks.
    pub grid: Dim3,
    /// Threads of each block.
    pub block: Dim3,
    /// Dynamic shared memory of each block.
    pub dynamic_shared: SharedBytes,
}

impl LaunchConfig {
    /// A launch without dynamic shared memory.
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        Self {
            grid: grid.into(),
            block: block.into(),
            dynamic_shared: SharedBytes::NONE,
        }
    }

    /// The same launch with dynamic shared memory: [`SharedBytes`], or a plan of arrays.
    ///
    /// A number does not compile, since it could be bytes or elements:
    ///
    /// ```compile_fail,E0277
    /// tile33_host::LaunchConfig::new(1, 256).with_dynamic_shared(256u64);
    /// ```
    #[must_use]
    pub fn with_dynamic_shared(self, dynamic_shared: impl Into<SharedBytes>) -> Self {
        Self {
            dynamic_shared: dynamic_shared.into(),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_bytes_count_elements_by_their_size() {
        assert_eq!(SharedBytes::of::<f32>(256).get(), 1024);
        assert_eq!(SharedBytes::of::<f64>(256).get(), 2048);
        assert_eq!(SharedBytes::of::<f64>(usize::MAX).get(), u64::MAX);
    }

    #[test]
    fn a_count_that_overflows_saturates() {
        assert_eq!(Dim3::from((2, 3, 4)).count(), 24);
        assert_eq!(Dim3::from([u32::MAX; 3]).count(), u64::MAX);
    }
}
