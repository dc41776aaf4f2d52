//! What is transposed: generated numbers, a picture, or a NumPy matrix; and the way back to a file.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use image::{DynamicImage, ImageBuffer, ImageError, ImageFormat, ImageReader};
use npyz::{DType, NpyFile, Order, WriterBuilder};

/// The element types of the generated matrix.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum ElementType {
    F32,
    F64,
    U16,
    U8,
    U128,
}

/// A row-major matrix.
pub struct Matrix {
    pub rows: usize,
    pub cols: usize,
    pub elements: Elements,
    source: Source,
}

/// A matrix's elements. A transpose moves bits, so types of one size share a kernel.
#[derive(Clone)]
pub enum Elements {
    U8(Vec<u8>),
    I8(Vec<i8>),
    U16(Vec<u16>),
    I16(Vec<i16>),
    U32(Vec<u32>),
    I32(Vec<i32>),
    F32(Vec<f32>),
    U64(Vec<u64>),
    I64(Vec<i64>),
    F64(Vec<f64>),
    U128(Vec<u128>),
}

/// Runs `$body` with `$v` bound to the vector, whatever its type.
macro_rules! with_elements {
    ($elements:expr, $v:ident => $body:expr) => {
        match $elements {
            $crate::input::Elements::U8($v) => $body,
            $crate::input::Elements::I8($v) => $body,
            $crate::input::Elements::U16($v) => $body,
            $crate::input::Elements::I16($v) => $body,
            $crate::input::Elements::U32($v) => $body,
            $crate::input::Elements::I32($v) => $body,
            $crate::input::Elements::F32($v) => $body,
            $crate::input::Elements::U64($v) => $body,
            $crate::input::Elements::I64($v) => $body,
            $crate::input::Elements::F64($v) => $body,
            $crate::input::Elements::U128($v) => $body,
        }
    };
}
pub(crate) use with_elements;

/// Where a matrix came from, which is how it is written back.
#[derive(Clone, Copy)]
enum Source {
    Generated,
    Npy,
    /// One byte or two a pixel.
    Grey,
    /// Eight bits a channel, packed into 32-bit pixels; with or without an alpha channel.
    Colour {
        alpha: bool,
    },
    /// Sixteen bits a channel, packed into 64-bit pixels.
    DeepColour {
        alpha: bool,
    },
}

/// Why there is nothing to transpose, or no file to show for it.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum InputError {
    #[error("cannot read {path}: {source}")]
    Read { path: String, source: std::io::Error },
    #[error("cannot write {path}: {source}")]
    Write { path: String, source: std::io::Error },
    #[error("cannot read {path} as a picture: {source}")]
    #[diagnostic(help("PNG, JPEG and .npy files are read"))]
    Picture { path: String, source: ImageError },
    #[error("cannot write {path} as a picture: {source}")]
    #[diagnostic(help("PNG and JPEG files are written, by the name's ending"))]
    WritePicture { path: String, source: ImageError },
    #[error("{path} holds an array of shape {shape:?}")]
    #[diagnostic(help("a matrix has two dimensions, each at least 1"))]
    NotAMatrix { path: String, shape: Vec<u64> },
    #[error("{path} holds elements of type {dtype}")]
    #[diagnostic(help("integers of 8 to 64 bits, f4 and f8 are moved"))]
    Dtype { path: String, dtype: String },
    #[error("a matrix of numbers is written as .npy, not as {path}")]
    #[diagnostic(help("name the output with the ending .npy"))]
    NumbersAsPicture { path: String },
    #[error("a matrix of {rows} x {cols} elements")]
    #[diagnostic(help("rows and columns are at least 1 and at most {}", u32::MAX))]
    Shape { rows: usize, cols: usize },
}

impl Matrix {
    /// A matrix whose elements are all bit patterns in turn, mixed: NaNs, infinities, subnormals and -0.0 among them.
    pub fn generate(rows: usize, cols: usize, element: ElementType) -> Result<Self, InputError> {
        let kernels_count = |n: usize| n > 0 && u32::try_from(n).is_ok();
        let count = rows
            .checked_mul(cols)
            .filter(|_| kernels_count(rows) && kernels_count(cols));
        let count = count.ok_or(InputError::Shape { rows, cols })? as u64;
        let elements = match element {
            ElementType::F32 => Elements::F32((0..count).map(|i| f32::from_bits(mix(i) as u32)).collect()),
            ElementType::F64 => Elements::F64((0..count).map(|i| f64::from_bits(mix(i))).collect()),
            ElementType::U16 => Elements::U16((0..count).map(|i| mix(i) as u16).collect()),
            ElementType::U8 => Elements::U8((0..count).map(|i| mix(i) as u8).collect()),
            ElementType::U128 => {
                let number = |i| u128::from(mix(i)) << 64 | u128::from(!mix(i));
                Elements::U128((0..count).map(number).collect())
            }
        };
        Ok(Self {
            rows,
            cols,
            elements,
            source: Source::Generated,
        })
    }

    /// Reads a picture, or a matrix if the name ends in `.npy`.
    pub fn read(path: &Path) -> Result<Self, InputError> {
        if has_extension(path, "npy") {
            read_npy(path)
        } else {
            read_picture(path)
        }
    }

    /// What a variant made of it: rows and columns are exchanged if it transposes.
    pub fn result(&self, elements: Elements, transposed: bool) -> Self {
        let (rows, cols) = if transposed {
            (self.cols, self.rows)
        } else {
            (self.rows, self.cols)
        };
        Self {
            rows,
            cols,
            elements,
            source: self.source,
        }
    }

    /// Writes it the way it came: a picture as a picture, numbers as `.npy`.
    pub fn write(self, path: &Path) -> Result<(), InputError> {
        if has_extension(path, "npy") {
            return write_npy(&self, path);
        }
        let shown = path.display().to_string();
        let numbers = || InputError::NumbersAsPicture { path: shown.clone() };
        let (width, height) = (self.cols as u32, self.rows as u32);
        let picture = match (self.source, self.elements) {
            (Source::Grey, Elements::U8(pixels)) => {
                ImageBuffer::from_raw(width, height, pixels).map(DynamicImage::ImageLuma8)
            }
            (Source::Grey, Elements::U16(pixels)) => {
                ImageBuffer::from_raw(width, height, pixels).map(DynamicImage::ImageLuma16)
            }
            (Source::Colour { alpha }, Elements::U32(pixels)) => {
                let channels = pixels.iter().flat_map(|pixel| pixel.to_ne_bytes()).collect();
                let picture = ImageBuffer::from_raw(width, height, channels).map(DynamicImage::ImageRgba8);
                picture.map(|picture| if alpha { picture } else { picture.into_rgb8().into() })
            }
            (Source::DeepColour { alpha }, Elements::U64(pixels)) => {
                let channels = pixels.iter().flat_map(|&pixel| unpack(pixel)).collect();
                let picture = ImageBuffer::from_raw(width, height, channels).map(DynamicImage::ImageRgba16);
                picture.map(|picture| if alpha { picture } else { picture.into_rgb16().into() })
            }
            _ => return Err(numbers()),
        };
        let picture = picture.ok_or_else(numbers)?;
        // JPEG knows neither an alpha channel nor sixteen bits.
        let picture = match ImageFormat::from_path(path) {
            Ok(ImageFormat::Jpeg) if picture.color().has_color() => picture.into_rgb8().into(),
            Ok(ImageFormat::Jpeg) => picture.into_luma8().into(),
            _ => picture,
        };
        picture
            .save(path)
            .map_err(|source| InputError::WritePicture { path: shown, source })
    }
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// The finaliser of SplitMix64: spreads consecutive numbers over all bit patterns.
fn mix(index: u64) -> u64 {
    let x = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn read_picture(path: &Path) -> Result<Matrix, InputError> {
    let shown = || path.display().to_string();
    let reader = ImageReader::open(path).map_err(|source| InputError::Read { path: shown(), source })?;
    let reader = reader
        .with_guessed_format()
        .map_err(|source| InputError::Read { path: shown(), source })?;
    let picture = reader
        .decode()
        .map_err(|source| InputError::Picture { path: shown(), source })?;
    let (rows, cols) = (picture.height() as usize, picture.width() as usize);
    let (alpha, deep) = (
        picture.color().has_alpha(),
        picture.color().bytes_per_pixel() / picture.color().channel_count(),
    );
    let (source, elements) = match picture {
        DynamicImage::ImageLuma8(pixels) => (Source::Grey, Elements::U8(pixels.into_raw())),
        DynamicImage::ImageLuma16(pixels) => (Source::Grey, Elements::U16(pixels.into_raw())),
        picture if deep == 1 => {
            let channels = picture.into_rgba8().into_raw();
            let pixels = channels
                .as_chunks()
                .0
                .iter()
                .map(|&channels| u32::from_ne_bytes(channels))
                .collect();
            (Source::Colour { alpha }, Elements::U32(pixels))
        }
        picture => {
            let channels = picture.into_rgba16().into_raw();
            let pixels = channels.as_chunks().0.iter().map(|&channels| pack(channels)).collect();
            (Source::DeepColour { alpha }, Elements::U64(pixels))
        }
    };
    Ok(Matrix {
        rows,
        cols,
        elements,
        source,
    })
}

fn pack(channels: [u16; 4]) -> u64 {
    channels
        .iter()
        .rev()
        .fold(0, |pixel, &channel| pixel << 16 | u64::from(channel))
}

fn unpack(pixel: u64) -> [u16; 4] {
    [0, 16, 32, 48].map(|shift| (pixel >> shift) as u16)
}

fn read_npy(path: &Path) -> Result<Matrix, InputError> {
    let shown = || path.display().to_string();
    let error = |source| InputError::Read { path: shown(), source };
    let file = NpyFile::new(BufReader::new(File::open(path).map_err(error)?)).map_err(error)?;
    let (rows, cols) = match *file.shape() {
        [rows, cols] if rows > 0 && cols > 0 => (rows as usize, cols as usize),
        ref shape => {
            return Err(InputError::NotAMatrix {
                path: shown(),
                shape: shape.to_vec(),
            });
        }
    };
    let (order, dtype) = (file.order(), file.dtype().descr());
    let element_type = match file.dtype() {
        // Without the byte order: npyz takes care of it.
        DType::Plain(ty) => ty.to_string().get(1..).unwrap_or("").to_owned(),
        _ => String::new(),
    };
    let elements = match element_type.as_str() {
        "u1" => Elements::U8(file.into_vec().map_err(error)?),
        "i1" => Elements::I8(file.into_vec().map_err(error)?),
        "u2" => Elements::U16(file.into_vec().map_err(error)?),
        "i2" => Elements::I16(file.into_vec().map_err(error)?),
        "u4" => Elements::U32(file.into_vec().map_err(error)?),
        "i4" => Elements::I32(file.into_vec().map_err(error)?),
        "f4" => Elements::F32(file.into_vec().map_err(error)?),
        "u8" => Elements::U64(file.into_vec().map_err(error)?),
        "i8" => Elements::I64(file.into_vec().map_err(error)?),
        "f8" => Elements::F64(file.into_vec().map_err(error)?),
        _ => return Err(InputError::Dtype { path: shown(), dtype }),
    };
    // A Fortran-ordered matrix lies in memory like its transpose in C order.
    let elements = match order {
        Order::C => elements,
        Order::Fortran => with_elements!(elements, v => tile33::host::reference::transpose(&v, cols, rows).into()),
    };
    Ok(Matrix {
        rows,
        cols,
        elements,
        source: Source::Npy,
    })
}

fn write_npy(matrix: &Matrix, path: &Path) -> Result<(), InputError> {
    let write = || {
        let mut file = BufWriter::new(File::create(path)?);
        let shape = [matrix.rows as u64, matrix.cols as u64];
        macro_rules! write_as {
            ($($variant:ident),*) => {
                match &matrix.elements {
                    $(Elements::$variant(elements) => {
                        let options = npyz::WriteOptions::new().default_dtype().shape(&shape);
                        let mut writer = options.writer(&mut file).begin_nd()?;
                        writer.extend(elements)?;
                        writer.finish()?;
                    })*
                    Elements::U128(_) => return Err(std::io::Error::other("NumPy has no integers of 128 bits")),
                }
            };
        }
        write_as!(U8, I8, U16, I16, U32, I32, F32, U64, I64, F64);
        file.flush()
    };
    write().map_err(|source| InputError::Write {
        path: path.display().to_string(),
        source,
    })
}

macro_rules! from_vec {
    ($($ty:ty => $variant:ident),*) => {$(
        impl From<Vec<$ty>> for Elements {
            fn from(elements: Vec<$ty>) -> Self { Self::$variant(elements) }
        }
    )*};
}
from_vec!(u8 => U8, i8 => I8, u16 => U16, i16 => I16, u32 => U32, i32 => I32, f32 => F32, u64 => U64, i64 => I64, f64 => F64, u128 => U128);
