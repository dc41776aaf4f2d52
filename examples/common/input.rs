//! Real input: NumPy arrays and pictures.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use image::{DynamicImage, GrayImage, ImageReader};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use npyz::{AutoSerialize, DType, NpyFile, Order, WriterBuilder};

/// A `.npy` array.
pub struct Array {
    pub shape: Vec<usize>,
    /// Whether the first index is the one that moves fastest in memory.
    pub fortran: bool,
    pub elements: Vec<f64>,
}

impl Array {
    /// The same, if its elements come in the order of its last index.
    pub fn in_c_order(self, path: &Path) -> Result<Self> {
        // In at most one direction there is but one order.
        if self.fortran && self.shape.iter().filter(|&&size| size > 1).count() > 1 {
            return Err(miette!(
                help = "`numpy.ascontiguousarray` makes one in C order",
                "{} holds an array in Fortran order",
                path.display()
            ));
        }
        Ok(self)
    }
}

/// Reads a `.npy` array of f4, f8 or integers of up to 32 bits.
pub fn read_array(path: &Path) -> Result<Array> {
    let cannot = || format!("cannot read {}", path.display());
    let file = File::open(path).into_diagnostic().wrap_err_with(cannot)?;
    let file = NpyFile::new(BufReader::new(file))
        .into_diagnostic()
        .wrap_err_with(cannot)?;
    let shape = file.shape().iter().map(|&size| size as usize).collect();
    let fortran = file.order() == Order::Fortran;
    let element = match file.dtype() {
        DType::Plain(ty) => ty.to_string().get(1..).unwrap_or("").to_owned(),
        _ => String::new(),
    };
    macro_rules! read {
        ($ty:ty) => {{
            let elements: Vec<$ty> = file.into_vec().into_diagnostic().wrap_err_with(cannot)?;
            elements.into_iter().map(f64::from).collect()
        }};
    }
    let elements = match element.as_str() {
        "f4" => read!(f32),
        "f8" => read!(f64),
        "u1" => read!(u8),
        "i1" => read!(i8),
        "u2" => read!(u16),
        "i2" => read!(i16),
        "u4" => read!(u32),
        "i4" => read!(i32),
        other => {
            return Err(miette!(
                help = "f4, f8 and integers of up to 32 bits are read",
                "{} holds elements of type `{other}`",
                path.display()
            ));
        }
    };
    Ok(Array {
        shape,
        fortran,
        elements,
    })
}

/// The elements of a `.npy` array of any shape, as `f32`.
pub fn read_npy(path: &Path) -> Result<Vec<f32>> {
    let array = read_array(path)?.in_c_order(path)?;
    Ok(array.elements.into_iter().map(|element| element as f32).collect())
}

/// Whether the file's name says that it is a `.npy` array.
pub fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case("npy"))
}

/// A `.npy` array of whole numbers from 0 to 255 as a picture, whose width is the array's last axis.
pub fn read_greys(path: &Path) -> Result<GrayImage> {
    let array = read_array(path)?.in_c_order(path)?;
    let grey = |&element: &f64| (element.fract() == 0.0 && (0.0..=255.0).contains(&element)).then_some(element as u8);
    let greys: Option<Vec<u8>> = array.elements.iter().map(grey).collect();
    let width = array.shape.last().copied().unwrap_or(1);
    let height = array.elements.len().checked_div(width).unwrap_or(0);
    let picture = greys
        .zip(u32::try_from(width).ok().zip(u32::try_from(height).ok()))
        .and_then(|(greys, (width, height))| GrayImage::from_raw(width, height, greys));
    picture.ok_or_else(|| {
        miette!(
            help = "whole numbers from 0 to 255 are counted",
            "{} holds other numbers",
            path.display()
        )
    })
}

/// Writes a one-dimensional `.npy` array.
pub fn write_npy(path: &Path, elements: &[f32]) -> Result<()> {
    write_array(path, &[elements.len() as u64], elements)
}

/// Writes a `.npy` array of this shape.
pub fn write_array<T: AutoSerialize + Copy>(path: &Path, shape: &[u64], elements: &[T]) -> Result<()> {
    let write = || -> std::io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        let mut writer = npyz::WriteOptions::new()
            .default_dtype()
            .shape(shape)
            .writer(&mut file)
            .begin_nd()?;
        writer.extend(elements.iter().copied())?;
        writer.finish()?;
        file.flush()
    };
    write()
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write {}", path.display()))
}

/// A picture in shades of grey.
pub fn read_grey(path: &Path) -> Result<GrayImage> {
    Ok(read_picture(path)?.into_luma8())
}

/// A picture, whatever its colours.
pub fn read_picture(path: &Path) -> Result<DynamicImage> {
    let cannot = || format!("cannot read {} as a picture", path.display());
    let reader = ImageReader::open(path).into_diagnostic().wrap_err_with(cannot)?;
    let reader = reader.with_guessed_format().into_diagnostic().wrap_err_with(cannot)?;
    reader.decode().into_diagnostic().wrap_err_with(cannot)
}

/// A picture that is neither flat nor noise: rings around a bright spot, darker to one side, slightly grained.
pub fn draw_grey(width: u32, height: u32) -> GrayImage {
    GrayImage::from_fn(width, height, |x, y| {
        let (dx, dy) = (
            f64::from(x) - f64::from(width) / 3.0,
            f64::from(y) - f64::from(height) / 2.0,
        );
        let distance = dx.hypot(dy) / f64::from(width.max(height));
        let grain = f64::from((x.wrapping_mul(73) ^ y.wrapping_mul(179)) % 13);
        let light = 150.0 * (-3.0 * distance).exp() * (1.2 + (40.0 * distance).cos()) / 2.2;
        image::Luma([(20.0 + light + grain) as u8])
    })
}
