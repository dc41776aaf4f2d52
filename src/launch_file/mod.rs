//! Launch files: a kernel's launch as TOML, so that any PTX can be run and checked without writing a host program.
//!
//! ```toml
//! ptx = "reverse.ptx"            # relative to this file
//! entry = "reverse"
//! grid = [1, 1, 1]               # one to three numbers; missing ones are 1
//! block = [64, 1, 1]
//! shared_bytes = 256             # dynamic shared memory, bytes per block
//! card = "sm_90"                 # whose limits hold; sm_90 by default
//! registers = 64                 # per thread, if known: they limit the block and the occupancy
//! max_steps = 1000000            # warp instructions of one block before the launch counts as endless
//! cooperative = true             # all blocks are resident at once, as grid.sync() needs; false by default
//!
//! [[arg]]
//! buffer = { type = "f32", len = 64, init = "iota" }
//! [[arg]]
//! value = { type = "u32", value = 64 }
//! [[arg]]
//! bytes = "00 01 ff 7f"          # a structure passed by value
//!
//! [[shared]]                     # what the kernel carves from dynamic shared memory: running from one array into
//! name = "tile"                  # the next is then out of bounds (see below)
//! offset = 0
//! bytes = 256
//!
//! [dump]
//! 0 = "out.npy"                  # argument 0 after the launch
//! ```
//!
//! | `init` | every element |
//! |---|---|
//! | `zeros`, `ones` | 0, 1 |
//! | `iota` | its index, converted to the type as a cast does (integers wrap, floats round) |
//! | `uninit` | not written: a kernel that reads it is reported |
//! | `random:SEED` | the SplitMix64 sequence that starts at `SEED`: floats are its top bits over 2^24 (`f64`: 2^53), in [0, 1); integers its lowest bits |
//! | `FILE.npy` | from the file, relative to this one; `type` and `len` may be left out |
//!
//! # What a declared carve-out finds
//!
//! With `[[shared]]`, an access outside of every array is out of bounds, and so are the lanes of a warp that are in another
//! array than most of the lanes beside them: one instruction indexes one array. An instruction whose lanes are all in the
//! wrong array, the same one, is not found, since PTX does not say which array is meant: with 256 `f32` before it,
//! `first[t + 256]` and `second[t]` are the same instruction, `st.shared.f32 [%base + 1024]`, and which of the two the
//! source said is gone. Nor is it told by where the instruction went before: a function that is called for both arrays, or
//! a loop that swaps two buffers, touches the end of one and then the start of the other, rightly. (Such an access is
//! found where what it overwrites is read without a barrier, or where it reads what nobody wrote.)
//!
//! The same holds for arrays that the PTX declares with a size of their own: an access outside of the block's shared memory
//! is out of bounds, one from a declared array into its neighbour is found only by what it does there.
//!
//! # Types
//!
//! Types are `u8 i8 u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64`, and `bool` (one byte). NumPy has no `bf16`: such buffers are
//! read and written as `u16`.

mod arguments;
mod dtype;
mod error;
mod init;
mod npy;
mod schema;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

pub use arguments::Prepared;
pub use dtype::DType;
pub use error::LaunchFileError;

use error::Source;
use schema::Schema;
use tile33_sim::Program;

/// A launch file that was read, with the PTX that it names.
#[derive(Debug)]
pub struct LaunchFile {
    source: Source,
    path: PathBuf,
    folder: PathBuf,
    file: Schema,
    ptx_path: PathBuf,
    ptx: String,
    program: Program,
}

impl LaunchFile {
    /// Reads a launch file and the PTX beside it.
    ///
    /// # Errors
    /// When one of them cannot be read, is no TOML, or is no PTX. The error points at the line.
    pub fn read(path: &Path) -> Result<Self, LaunchFileError> {
        let text = read_text(path).map_err(|error| LaunchFileError::Read {
            path: path.into(),
            error,
        })?;
        let source = Source::new(path, text);
        let file: Schema = toml::from_str(source.text()).map_err(|error| source.syntax(&error))?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let ptx_path = folder.join(file.ptx.get_ref());
        let ptx = read_text(&ptx_path).map_err(|error| {
            let message = format!("cannot read {}: {error}", ptx_path.display());
            source.invalid(file.ptx.span(), message, "`ptx` is relative to the launch file")
        })?;
        let program = Program::load(&ptx).map_err(|error| LaunchFileError::ptx(&ptx_path, &ptx, &error))?;
        Ok(Self {
            source,
            path: path.to_owned(),
            folder,
            file,
            ptx_path,
            ptx,
            program,
        })
    }

    /// The PTX's path.
    pub fn ptx_path(&self) -> &Path {
        &self.ptx_path
    }

    /// The PTX's text.
    pub fn ptx(&self) -> &str {
        &self.ptx
    }

    /// The decoded PTX.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The kernel's name.
    pub fn entry(&self) -> &str {
        self.file.entry.get_ref()
    }
}

/// The most bytes of a launch file or a PTX file that are read.
const LARGEST_TEXT: u64 = 1 << 28;

fn read_text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    // A device may go on for ever.
    File::open(path)?.take(LARGEST_TEXT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_TEXT {
        let message = format!("it has more than the {LARGEST_TEXT} bytes that are read");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    String::from_utf8(bytes).map_err(|error| {
        let message = format!("byte {} is not UTF-8", error.utf8_error().valid_up_to());
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}
