//! The emulator as a library: load PTX, fill buffers, launch, look at the report.

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
