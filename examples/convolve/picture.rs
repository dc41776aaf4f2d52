//! Pictures as planes of pixels: PNG, JPEG and two-dimensional NumPy arrays.

use std::path::Path;

use image::{DynamicImage, GrayImage, ImageFormat, RgbImage};
use miette::{IntoDiagnostic, Result, WrapErr, miette};

use crate::common::input::{read_array, read_picture, write_array};

/// Chelsea the cat, photographed by Stefan van der Walt, who put the picture into the public domain (CC0). It is one of
/// scikit-image's, here as a JPEG.
const PHOTOGRAPH: &[u8] = include_bytes!("chelsea.jpg");

/// An image of one or three planes, each dense and row-major.
pub struct Picture {
    pub rows: usize,
    pub cols: usize,
    planes: Vec<Pixels>,
}

/// The pixels of a plane.
pub enum Pixels {
    U8(Vec<u8>),
    F32(Vec<f32>),
}

/// The nearest byte, halves to even.
pub fn byte(number: f32) -> u8 {
    number.round_ties_even() as u8
}

impl Picture {
    /// The photograph that comes with the example.
    pub fn photograph() -> Result<Self> {
        let picture = image::load_from_memory_with_format(PHOTOGRAPH, ImageFormat::Jpeg);
        Ok(Self::of(&picture.into_diagnostic()?))
    }

    /// A PNG, a JPEG or a `.npy` array.
    pub fn read(path: &Path) -> Result<Self> {
        if is_array(path) {
            return Self::of_array(path);
        }
        Ok(Self::of(&read_picture(path)?))
    }

    fn of_array(path: &Path) -> Result<Self> {
        let array = read_array(path)?;
        let [rows, cols] = array.shape[..] else {
            let (name, shape) = (path.display(), &array.shape);
            return Err(miette!(
                "{name} holds an array of shape {shape:?}; one of two dimensions is needed"
            ));
        };
        let place = |i: usize| if array.fortran { i % cols * rows + i / cols } else { i };
        let numbers = (0..rows * cols).map(|i| array.elements[place(i)] as f32);
        Ok(Self {
            rows,
            cols,
            planes: vec![Pixels::F32(numbers.collect())],
        })
    }

    fn of(picture: &DynamicImage) -> Self {
        let planes = if picture.color().has_color() {
            let colours = picture.to_rgb8().into_raw();
            let plane = |n| Pixels::U8(colours.iter().skip(n).step_by(3).copied().collect());
            (0..3).map(plane).collect()
        } else {
            vec![Pixels::U8(picture.to_luma8().into_raw())]
        };
        Self {
            rows: picture.height() as usize,
            cols: picture.width() as usize,
            planes,
        }
    }

    /// The brightness of each pixel, by the weights of ITU-R BT.709; an array's own numbers.
    pub fn grey(&self) -> Vec<f32> {
        match &self.planes[..] {
            [Pixels::U8(red), Pixels::U8(green), Pixels::U8(blue)] => {
                let grey = |((&r, &g), &b): ((&u8, &u8), &u8)| {
                    0.2126 * f32::from(r) + 0.7152 * f32::from(g) + 0.0722 * f32::from(b)
                };
                red.iter().zip(green).zip(blue).map(grey).collect()
            }
            [Pixels::U8(grey), ..] => grey.iter().map(|&grey| grey.into()).collect(),
            [Pixels::F32(numbers), ..] => numbers.clone(),
            [] => Vec::new(),
        }
    }

    /// The picture with so many rows and columns: again and again, or cut off.
    pub fn repeated(&self, rows: usize, cols: usize) -> Self {
        fn plane<T: Copy>(from: &Picture, pixels: &[T], rows: usize, cols: usize) -> Vec<T> {
            let row = |row: usize| {
                pixels[row % from.rows * from.cols..][..from.cols]
                    .iter()
                    .cycle()
                    .take(cols)
            };
            (0..rows).flat_map(row).copied().collect()
        }
        let planes = self.planes.iter().map(|pixels| match pixels {
            Pixels::U8(pixels) => Pixels::U8(plane(self, pixels, rows, cols)),
            Pixels::F32(numbers) => Pixels::F32(plane(self, numbers, rows, cols)),
        });
        Self {
            planes: planes.collect(),
            rows,
            cols,
        }
    }

    /// The picture of this size with other planes.
    pub fn map(&self, plane: impl Fn(&Pixels) -> Result<Pixels>) -> Result<Self> {
        Ok(Self {
            planes: self.planes.iter().map(plane).collect::<Result<_>>()?,
            ..*self
        })
    }

    /// The grey picture of this size from numbers: as they are where this is an array, else as bytes.
    pub fn of_numbers(&self, numbers: Vec<f32>, byte: impl Fn(f32) -> u8) -> Self {
        let plane = match &self.planes[..] {
            [Pixels::F32(_)] => Pixels::F32(numbers),
            _ => Pixels::U8(numbers.into_iter().map(byte).collect()),
        };
        Self {
            planes: vec![plane],
            ..*self
        }
    }

    /// Writes it: a picture as PNG or JPEG, by the name's end, anything as a `.npy` array of its brightness.
    pub fn write(&self, path: &Path) -> Result<()> {
        if is_array(path) {
            return write_array(path, &[self.rows as u64, self.cols as u64], &self.grey());
        }
        let (width, height) = (self.cols as u32, self.rows as u32);
        let bytes: Vec<Vec<u8>> = self
            .planes
            .iter()
            .map(|plane| match plane {
                Pixels::U8(pixels) => pixels.clone(),
                Pixels::F32(numbers) => numbers.iter().map(|&number| byte(number)).collect(),
            })
            .collect();
        let picture = match &bytes[..] {
            [red, green, blue] => {
                let colours = red.iter().zip(green).zip(blue).flat_map(|((&r, &g), &b)| [r, g, b]);
                RgbImage::from_raw(width, height, colours.collect()).map(DynamicImage::from)
            }
            [grey] => GrayImage::from_raw(width, height, grey.clone()).map(DynamicImage::from),
            _ => None,
        };
        let picture = picture.ok_or_else(|| miette!("{width} x {height} pixels are too many for a picture"))?;
        let cannot = || format!("cannot write {}", path.display());
        picture.save(path).into_diagnostic().wrap_err_with(cannot)
    }
}

fn is_array(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("npy"))
}
