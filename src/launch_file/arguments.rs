//! From the file to the emulator's memory and launch, and back to the dumps.

use std::fs;
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use tile33_layout::occupancy::{CARDS, Card};
use tile33_ptx::{KernelParameter, Type};
use tile33_sim::{Arg, Launch, LaunchError, Memory, Program, Report, SharedArray};
use toml::Spanned;

use super::dtype::DType;
use super::error::LaunchFileError;
use super::init::Init;
use super::schema::{Argument, Buffer};
use super::{LaunchFile, npy};

/// A launch that is ready to run, with its memory.
#[derive(Debug)]
pub struct Prepared {
    /// The launch, with default checks.
    pub launch: Launch,
    /// Memory that holds the buffers.
    pub memory: Memory,
    /// The buffers, by argument.
    buffers: Vec<Option<Placed>>,
    dumps: Vec<Dump>,
}

/// A buffer to be written after the launch.
#[derive(Debug)]
struct Dump {
    path: PathBuf,
    /// The same, in full.
    file: PathBuf,
    buffer: Placed,
}

/// A buffer in the emulator's memory.
#[derive(Clone, Debug)]
struct Placed {
    address: u64,
    ty: DType,
    shape: Vec<u64>,
}

impl Placed {
    fn bytes(&self) -> u64 {
        self.shape.iter().product::<u64>() * self.ty.bytes()
    }
}

impl LaunchFile {
    /// Fills the buffers and puts the launch together.
    ///
    /// # Errors
    /// When arguments do not fit the kernel, a file cannot be read, or there is not enough memory. What is wrong in the
    /// launch file is pointed at.
    pub fn prepare(&self) -> Result<Prepared, LaunchFileError> {
        let parameters = self.parameters()?;
        let mut memory = Memory::new();
        let mut launch = Launch::new(
            self.entry(),
            self.dimensions(&self.file.grid)?,
            self.dimensions(&self.file.block)?,
        );
        let mut buffers = Vec::new();
        for (index, (argument, parameter)) in self.file.args.iter().zip(&parameters).enumerate() {
            let (arg, buffer) = self.argument(&mut memory, index, argument, parameter)?;
            launch.args.push(arg);
            buffers.push(buffer);
        }
        launch.dynamic_shared = self.file.shared_bytes.as_ref().map_or(0, |bytes| *bytes.get_ref());
        if let Some(card) = self.card()? {
            launch.options.card = card;
        }
        launch.options.registers = self.file.registers.as_ref().map(|count| *count.get_ref());
        launch.options.cooperative = self.file.cooperative;
        launch.options.max_steps = self.file.max_steps.or(launch.options.max_steps);
        launch.options.shared_arrays = self.shared_arrays(launch.dynamic_shared)?;
        Ok(Prepared {
            launch,
            memory,
            dumps: self.dumps(&buffers)?,
            buffers,
        })
    }

    /// The kernel's parameters; as many as there are arguments.
    fn parameters(&self) -> Result<Vec<KernelParameter>, LaunchFileError> {
        let module = self.program.module();
        let Some(kernel) = module.kernel(self.entry()) else {
            let names: Vec<_> = module.kernels().map(|kernel| format!("`{}`", kernel.name)).collect();
            let have = if names.is_empty() {
                "it has none".into()
            } else {
                format!("it has {}", names.join(", "))
            };
            let message = format!("{} has no kernel `{}`: {have}", self.ptx_path.display(), self.entry());
            let help =
                "`entry` is the name after `.entry` in the PTX; nvcc mangles it unless the kernel is extern \"C\"";
            return Err(self.source.invalid(self.file.entry.span(), message, help));
        };
        let parameters = kernel.parameter_layout().parameters;
        let given = self.file.args.len();
        if given == parameters.len() {
            return Ok(parameters);
        }
        let list: Vec<_> = parameters.iter().map(KernelParameter::to_string).collect();
        let message = format!(
            "`{}` takes {} arguments, {given} are given; it has ({})",
            self.entry(),
            parameters.len(),
            list.join(", ")
        );
        let span = match self.file.args.get(parameters.len()) {
            Some(extra) => extra.span(),
            None => self.file.args.last().map_or(self.file.entry.span(), Spanned::span),
        };
        Err(self
            .source
            .invalid(span, message, "one [[arg]] for each parameter, in the kernel's order"))
    }

    /// One to three sizes.
    fn dimensions(&self, given: &Spanned<Vec<u32>>) -> Result<[u32; 3], LaunchFileError> {
        let mut sizes = [1; 3];
        let values = given.get_ref();
        if values.is_empty() || values.len() > 3 {
            let message = format!("expected one to three sizes, found {}", values.len());
            return Err(self
                .source
                .invalid(given.span(), message, "[x, y, z]; missing ones are 1"));
        }
        sizes[..values.len()].copy_from_slice(values);
        Ok(sizes)
    }

    fn card(&self) -> Result<Option<&'static Card>, LaunchFileError> {
        let Some(name) = &self.file.card else { return Ok(None) };
        let card = Card::find(name.get_ref()).ok_or_else(|| {
            let known: Vec<_> = CARDS.iter().map(|card| card.name).collect();
            let message = format!("no card `{}` is known; there are {}", name.get_ref(), known.join(", "));
            self.source
                .invalid(name.span(), message, "an architecture, or a product like \"H200\"")
        })?;
        Ok(Some(card))
    }

    fn shared_arrays(&self, dynamic: u32) -> Result<Vec<SharedArray>, LaunchFileError> {
        let mut arrays: Vec<SharedArray> = Vec::new();
        for given in &self.file.shared {
            let array = given.get_ref();
            let end = u64::from(array.offset) + u64::from(array.bytes);
            if end > dynamic.into() {
                let message = format!(
                    "`{}` ends at byte {end} of {dynamic} bytes of dynamic shared memory",
                    array.name
                );
                return Err(self.source.invalid(
                    given.span(),
                    message,
                    "raise `shared_bytes`, or correct the carve-out",
                ));
            }
            let meets = |other: &&SharedArray| {
                u64::from(other.offset) < end
                    && u64::from(array.offset) < u64::from(other.offset) + u64::from(other.bytes)
            };
            if let Some(other) = arrays.iter().find(meets) {
                let message = format!("`{}` overlaps `{}`", array.name, other.name);
                return Err(self.source.invalid(given.span(), message, None));
            }
            arrays.push(SharedArray {
                name: array.name.clone(),
                offset: array.offset,
                bytes: array.bytes,
            });
        }
        Ok(arrays)
    }

    fn dumps(&self, buffers: &[Option<Placed>]) -> Result<Vec<Dump>, LaunchFileError> {
        let mut dumps: Vec<Dump> = Vec::new();
        for (key, given) in &self.file.dump {
            let index = key.get_ref().parse::<usize>().ok();
            // `00` would be a second name of the same argument.
            let index = index.filter(|index| index.to_string() == *key.get_ref());
            let Some(Some(buffer)) = index.and_then(|index| buffers.get(index)) else {
                let message = format!("argument `{}` is no buffer", key.get_ref());
                return Err(self.source.invalid(key.span(), message, "arguments count from 0"));
            };
            let path = self.folder.join(given.get_ref());
            let file = self
                .dump_place(&path)
                .map_err(|message| self.source.invalid(given.span(), message, None))?;
            if dumps.iter().any(|dump| dump.file == file) {
                let message = format!("two arguments are written to {}", path.display());
                return Err(self.source.invalid(given.span(), message, "give each its own file"));
            }
            dumps.push(Dump {
                path,
                file,
                buffer: buffer.clone(),
            });
        }
        Ok(dumps)
    }

    /// The file that a dump becomes, by its full path, or why it cannot become one.
    fn dump_place(&self, path: &Path) -> Result<PathBuf, String> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = fs::canonicalize(parent.unwrap_or(Path::new(".")))
            .map_err(|error| format!("cannot write {}: its folder: {error}", path.display()))?;
        let name = path.file_name().filter(|_| !path.is_dir());
        let name = name.ok_or_else(|| format!("cannot write {}: it is a folder", path.display()))?;
        let file = folder.join(name);
        for input in [&self.path, &self.ptx_path] {
            if fs::canonicalize(input).is_ok_and(|input| input == file) {
                return Err(format!(
                    "writing {} would overwrite what the launch is made from",
                    path.display()
                ));
            }
        }
        Ok(file)
    }

    /// The line of this file that a launch which cannot run is due to, if it is one.
    pub fn blame(&self, error: &LaunchError) -> Option<LaunchFileError> {
        let file = &self.file;
        let asked = |place: &Option<Spanned<u32>>| place.as_ref().map(Spanned::span);
        let span = match error {
            LaunchError::Dimension { what: "grid", .. } | LaunchError::Cooperative { .. } => file.grid.span(),
            LaunchError::Dimension { .. } | LaunchError::BlockThreads { .. } | LaunchError::RequiredThreads { .. } => {
                file.block.span()
            }
            LaunchError::SharedMemory { .. } => asked(&file.shared_bytes)?,
            LaunchError::ThreadRegisters { .. } | LaunchError::Registers { .. } => {
                asked(&file.registers).unwrap_or(file.block.span())
            }
            _ => return None,
        };
        Some(self.source.invalid(span, error.to_string(), None))
    }

    fn argument(
        &self,
        memory: &mut Memory,
        index: usize,
        argument: &Spanned<Argument>,
        parameter: &KernelParameter,
    ) -> Result<(Arg, Option<Placed>), LaunchFileError> {
        let mismatch = |span, given: String| {
            let message = format!("argument {index} is {given}, but the kernel takes {parameter}");
            self.source.invalid(
                span,
                message,
                "the types of a kernel's parameters stand after its `.entry`",
            )
        };
        match argument.get_ref() {
            Argument {
                buffer: Some(buffer),
                value: None,
                bytes: None,
            } => {
                if parameter.aggregate || parameter.bytes != 8 || parameter.ty == Type::F64 {
                    return Err(mismatch(buffer.span(), "a buffer".into()));
                }
                let placed = self.buffer(memory, index, buffer)?;
                Ok((Arg::Pointer(placed.address), Some(placed)))
            }
            Argument {
                buffer: None,
                value: Some(value),
                bytes: None,
            } => {
                let ty = value.get_ref().ty;
                let given = &value.get_ref().value;
                let arg = ty
                    .argument(given.get_ref())
                    .map_err(|message| self.source.invalid(given.span(), message, None))?;
                let float = matches!(parameter.ty, Type::F16 | Type::F32 | Type::F64);
                let bits = matches!(parameter.ty, Type::B8 | Type::B16 | Type::B32 | Type::B64);
                if parameter.aggregate || parameter.bytes != ty.bytes() || !bits && float != ty.is_float() {
                    return Err(mismatch(value.span(), format!("a {ty}")));
                }
                Ok((arg, None))
            }
            Argument {
                buffer: None,
                value: None,
                bytes: Some(text),
            } => {
                let bytes = hex(text.get_ref()).ok_or_else(|| {
                    let message = "expected pairs of hexadecimal digits";
                    self.source
                        .invalid(text.span(), message, "for instance bytes = \"00 ff 3c\"")
                })?;
                if bytes.len() as u64 != parameter.bytes {
                    return Err(mismatch(text.span(), format!("{} bytes", bytes.len())));
                }
                Ok((Arg::Bytes(bytes), None))
            }
            _ => {
                let message = "an argument is one of `buffer`, `value` and `bytes`";
                Err(self.source.invalid(argument.span(), message, None))
            }
        }
    }

    fn buffer(&self, memory: &mut Memory, index: usize, given: &Spanned<Buffer>) -> Result<Placed, LaunchFileError> {
        let buffer = given.get_ref();
        let init = Init::parse(buffer.init.get_ref()).map_err(|message| {
            let help = "init is zeros, ones, iota, uninit, random:SEED or FILE.npy";
            self.source.invalid(buffer.init.span(), message, help)
        })?;
        let array = match init {
            Init::File(path) => {
                let read = npy::read(&self.folder.join(path));
                Some(read.map_err(|message| self.source.invalid(buffer.init.span(), message, None))?)
            }
            _ => None,
        };
        let ty = match (&buffer.ty, &array) {
            (Some(ty), None) => *ty.get_ref(),
            (None, Some(array)) => array.ty,
            (Some(ty), Some(array)) => {
                let same = *ty.get_ref() == array.ty || (*ty.get_ref(), array.ty) == (DType::Bf16, DType::U16);
                if !same {
                    let message = format!("the file holds {}, not {}", array.ty, ty.get_ref());
                    return Err(self
                        .source
                        .invalid(ty.span(), message, "leave `type` out to take the file's"));
                }
                *ty.get_ref()
            }
            (None, None) => {
                let message = "a buffer needs a `type`";
                return Err(self
                    .source
                    .invalid(given.span(), message, "for instance type = \"f32\""));
            }
        };
        let shape = self.shape(given, array.as_ref().map(|array| array.shape.as_slice()))?;
        let elements = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d));
        let Some(bytes) = elements
            .and_then(|n| n.checked_mul(ty.bytes()))
            .filter(|&bytes| bytes <= LARGEST_BUFFER)
        else {
            let message = format!("a buffer of shape {shape:?} of {ty} is larger than {LARGEST_BUFFER} bytes");
            return Err(self.source.invalid(given.span(), message, None));
        };
        let allocated = memory.alloc_named(bytes, &format!("arg{index}"));
        let address = allocated.map_err(|error| self.source.invalid(given.span(), error.to_string(), None))?;
        match (init, array) {
            (Init::Uninit, _) => {}
            (_, Some(array)) => memory.write(address, &array.bytes)?,
            (init, None) => init.fill(ty, memory.bytes_mut(address)?),
        }
        Ok(Placed { address, ty, shape })
    }

    /// The shape that the file gives, which must be that of the array if there is one.
    fn shape(&self, given: &Spanned<Buffer>, array: Option<&[u64]>) -> Result<Vec<u64>, LaunchFileError> {
        let buffer = given.get_ref();
        let count = |shape: &[u64]| shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d));
        let shape = buffer.shape.as_ref().map(|shape| shape.get_ref().as_slice()).or(array);
        let Some(len) = &buffer.len else {
            let message = "a buffer needs a `len`";
            let shape = shape.ok_or_else(|| self.source.invalid(given.span(), message, "in elements, not in bytes"))?;
            if let (Some(asked), Some(array)) = (&buffer.shape, array)
                && count(array) != count(asked.get_ref())
            {
                let message = format!("the file has shape {array:?}");
                return Err(self.source.invalid(asked.span(), message, None));
            }
            return Ok(shape.to_vec());
        };
        let of_array = array.and_then(count).is_none_or(|count| count == *len.get_ref());
        let of_shape = shape.is_none_or(|shape| count(shape) == Some(*len.get_ref()));
        if !of_array || !of_shape {
            let message = format!(
                "`len` is {}, the shape is {:?}",
                len.get_ref(),
                array.or(shape).unwrap_or(&[])
            );
            return Err(self.source.invalid(len.span(), message, "one of them is enough"));
        }
        Ok(shape.map_or_else(|| vec![*len.get_ref()], <[u64]>::to_vec))
    }
}

/// The largest buffer, in bytes: the memory of the largest cards.
const LARGEST_BUFFER: u64 = 512 << 30;

impl Prepared {
    /// The elements of the buffer that argument `index` is, as they are now. `None` if that argument is no buffer, or its
    /// elements have another size than `T`.
    pub fn read<T: Pod>(&mut self, index: usize) -> Option<Vec<T>> {
        let buffer = self.buffers.get(index)?.as_ref()?;
        if buffer.ty.bytes() != size_of::<T>() as u64 {
            return None;
        }
        let mut elements = vec![T::zeroed(); (buffer.bytes() / buffer.ty.bytes()) as usize];
        self.memory
            .read(buffer.address, bytemuck::cast_slice_mut(&mut elements))
            .ok()?;
        Some(elements)
    }

    /// The bytes of the buffer that argument `index` is, as they are now. `None` if that argument is no buffer.
    pub fn bytes(&mut self, index: usize) -> Option<Vec<u8>> {
        let buffer = self.buffers.get(index)?.as_ref()?;
        let mut bytes = vec![0; buffer.bytes() as usize];
        self.memory.read(buffer.address, &mut bytes).ok()?;
        Some(bytes)
    }

    /// Runs the launch.
    ///
    /// # Errors
    /// When it does not fit the kernel or the card, or cannot go on. What is wrong with the kernel is in the report.
    pub fn run(&mut self, program: &Program) -> Result<Report, LaunchError> {
        program.launch(&mut self.memory, &self.launch)
    }

    /// Writes the buffers that the file asks for, as they are now.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn dump(&mut self) -> Result<(), LaunchFileError> {
        for Dump { path, buffer, .. } in &self.dumps {
            let mut bytes = vec![0; buffer.bytes() as usize];
            self.memory.read(buffer.address, &mut bytes)?;
            npy::write(path, buffer.ty, &buffer.shape, &bytes).map_err(|error| LaunchFileError::Write {
                path: path.clone(),
                error,
            })?;
        }
        Ok(())
    }
}

/// `00 ff 3c` as bytes.
fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).map(|d| d as u8))
        .collect::<Option<_>>()?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty()
        .then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}
