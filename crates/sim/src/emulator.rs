//! The emulator as a library: load PTX, fill buffers, launch, look at the report.
//!
//! In a test, a kernel that races fails without a GPU:
//!
//! ```
//! use tile33_sim::{Emulator, FindingKind, Launch};
//!
//! // Every thread writes its element of a shared array and reads its neighbour's.
//! let kernel = |barrier: &str| {
//!     format!(
//!         ".version 7.0
//!          .target sm_75
//!          .address_size 64
//!          .visible .entry neighbours(.param .u64 out) {{
//!              .reg .b32 %r<8>;
//!              .reg .b64 %rd<4>;
//!              .shared .align 4 .b32 line[64];
//!              ld.param.u64 %rd1, [out];
//!              mov.u32 %r1, %tid.x;
//!              mov.u32 %r2, line;
//!              mad.lo.u32 %r3, %r1, 4, %r2;
//!              st.shared.u32 [%r3], %r1;
//!              {barrier}
//!              xor.b32 %r4, %r1, 1;
//!              mad.lo.u32 %r5, %r4, 4, %r2;
//!              ld.shared.u32 %r6, [%r5];
//!              mul.wide.u32 %rd2, %r1, 4;
//!              add.u64 %rd3, %rd1, %rd2;
//!              st.global.u32 [%rd3], %r6;
//!              ret;
//!          }}"
//!     )
//! };
//!
//! let run = |ptx: &str| {
//!     let mut emulator = Emulator::load(ptx)?;
//!     let out = emulator.uninit::<u32>(64)?;
//!     let report = emulator.launch(&Launch::new("neighbours", [1, 1, 1], [64, 1, 1]).arg(out))?;
//!     Ok::<_, Box<dyn std::error::Error>>((emulator.read(out)?, report))
//! };
//!
//! let (out, report) = run(&kernel("bar.sync 0;"))?;
//! assert!(report.is_clean());
//! assert_eq!(out[..4], [1, 0, 3, 2]);
//! assert_eq!((report.counters.shared_load.requests, report.counters.shared_load.wavefronts), (2, 2));
//!
//! let (_, report) = run(&kernel(""))?;
//! let race = &report.findings[0];
//! assert_eq!(race.kind, FindingKind::Race);
//! assert_eq!(race.site.instruction, "ld.shared.u32 %r6, [%r5]");
//! assert_eq!(race.other.as_ref().map(|o| o.instruction.as_str()), Some("st.shared.u32 [%r3], %r1"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::marker::PhantomData;

use bytemuck::Pod;

use crate::launch::{Arg, Launch, LaunchError};
use crate::memory::{Memory, MemoryError};
use crate::program::{LoadError, Program};
use crate::report::Report;

/// A typed buffer in an [`Emulator`]'s memory. It is a handle: dropping it frees nothing.
#[derive(Debug)]
pub struct Buffer<T> {
    address: u64,
    len: usize,
    element: PhantomData<T>,
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Buffer<T> {}

impl<T> Buffer<T> {
    /// Device address of the first element.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T> From<Buffer<T>> for Arg {
    fn from(buffer: Buffer<T>) -> Self {
        Self::Pointer(buffer.address)
    }
}

/// A program with memory of its own.
#[derive(Debug)]
pub struct Emulator {
    program: Program,
    memory: Memory,
}

impl Emulator {
    /// Loads PTX.
    ///
    /// # Errors
    /// When the text is not PTX.
    pub fn load(ptx: &str) -> Result<Self, LoadError> {
        Ok(Self {
            program: Program::load(ptx)?,
            memory: Memory::new(),
        })
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The program and the memory, for what needs both.
    pub fn parts(&mut self) -> (&Program, &mut Memory) {
        (&self.program, &mut self.memory)
    }

    /// The memory, for untyped access.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// A buffer with these elements.
    ///
    /// # Errors
    /// When the host is out of memory.
    pub fn buffer<T: Pod>(&mut self, elements: &[T]) -> Result<Buffer<T>, MemoryError> {
        let buffer = self.uninit(elements.len())?;
        self.memory.write(buffer.address, bytemuck::cast_slice(elements))?;
        Ok(buffer)
    }

    /// A buffer that counts as uninitialised: a kernel that reads it before it writes it is a finding.
    ///
    /// # Errors
    /// When the host is out of memory.
    pub fn uninit<T: Pod>(&mut self, len: usize) -> Result<Buffer<T>, MemoryError> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        Ok(Buffer {
            address: self.memory.alloc(bytes)?,
            len,
            element: PhantomData,
        })
    }

    /// Overwrites a buffer from its start.
    ///
    /// # Errors
    /// When there are more elements than the buffer has, or it was freed.
    pub fn write<T: Pod>(&mut self, buffer: Buffer<T>, elements: &[T]) -> Result<(), MemoryError> {
        self.memory.write(buffer.address, bytemuck::cast_slice(elements))
    }

    /// The elements of a buffer.
    ///
    /// # Errors
    /// When it was freed.
    pub fn read<T: Pod>(&mut self, buffer: Buffer<T>) -> Result<Vec<T>, MemoryError> {
        let mut out = vec![T::zeroed(); buffer.len];
        self.memory.read(buffer.address, bytemuck::cast_slice_mut(&mut out))?;
        Ok(out)
    }

    /// Frees a buffer. A later access through it is a finding.
    ///
    /// # Errors
    /// When it was freed before.
    pub fn free<T>(&mut self, buffer: Buffer<T>) -> Result<(), MemoryError> {
        self.memory.free(buffer.address)
    }

    /// Runs a kernel to its end.
    ///
    /// # Errors
    /// As [`Program::launch`].
    pub fn launch(&mut self, launch: &Launch) -> Result<Report, LaunchError> {
        self.program.launch(&mut self.memory, launch)
    }
}
