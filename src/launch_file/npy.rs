//! `.npy` files in and out.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use half::f16;
use npyz::{NpyFile, Order, TypeStr, WriterBuilder};

use super::dtype::DType;

/// An array as the file has it, its elements little-endian.
pub(super) struct Array {
    pub(super) ty: DType,
    pub(super) shape: Vec<u64>,
    pub(super) bytes: Vec<u8>,
}

/// The element type that NumPy's name stands for.
fn dtype(name: &TypeStr) -> Option<DType> {
    let text = name.to_string();
    Some(match text.get(1..)? {
        "b1" => DType::Bool,
        "u1" => DType::U8,
        "i1" => DType::I8,
        "u2" => DType::U16,
        "i2" => DType::I16,
        "f2" => DType::F16,
        "u4" => DType::U32,
        "i4" => DType::I32,
        "f4" => DType::F32,
        "u8" => DType::U64,
        "i8" => DType::I64,
        "f8" => DType::F64,
        _ => return None,
    })
}

/// Reads an array.
pub(super) fn read(path: &Path) -> Result<Array, String> {
    let cannot = |error: io::Error| format!("cannot read {}: {error}", path.display());
    let mut file = BufReader::new(File::open(path).map_err(cannot)?);
    let total = file.get_ref().metadata().map_err(cannot)?.len();
    if !shape_is_countable(&mut file).map_err(cannot)? {
        return Err(format!(
            "{} is cut short: its shape has more elements than 2^64",
            path.display()
        ));
    }
    let header = NpyFile::new(&mut file).map_err(|error| format!("{} is no .npy file: {error}", path.display()))?;
    let npyz::DType::Plain(name) = header.dtype() else {
        return Err(format!("{} holds records; one element type is needed", path.display()));
    };
    let ty = dtype(&name).ok_or_else(|| format!("{} holds `{name}`, which no kernel takes", path.display()))?;
    let shape = header.shape().to_vec();
    if header.order() == Order::Fortran && shape.iter().filter(|&&n| n > 1).count() > 1 {
        return Err(format!(
            "{} is in Fortran order; save it with numpy.ascontiguousarray",
            path.display()
        ));
    }
    let big_endian = name.to_string().starts_with('>');
    drop(header);
    let start = file.stream_position().map_err(cannot)?;
    let elements = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d));
    let bytes = elements
        .and_then(|n| n.checked_mul(ty.bytes()))
        .filter(|&bytes| bytes <= total.saturating_sub(start));
    let Some(bytes) = bytes else {
        let rest = total.saturating_sub(start);
        return Err(format!(
            "{} is cut short: shape {shape:?} of {ty} in {rest} bytes",
            path.display()
        ));
    };
    let mut data = vec![0; bytes as usize];
    file.read_exact(&mut data).map_err(cannot)?;
    if big_endian {
        data.chunks_exact_mut(ty.bytes() as usize).for_each(<[u8]>::reverse);
    }
    Ok(Array { ty, shape, bytes: data })
}

/// Longest header that is looked at, in bytes; NumPy's are some hundred.
const LONGEST_HEADER: u64 = 1 << 16;

/// Whether the number of elements fits into 64 bits. The reader multiplies them without looking.
fn shape_is_countable(file: &mut BufReader<File>) -> io::Result<bool> {
    let mut start = Vec::new();
    file.by_ref().take(LONGEST_HEADER).read_to_end(&mut start)?;
    file.rewind()?;
    let text = String::from_utf8_lossy(&start);
    let shape = text
        .split_once("shape")
        .and_then(|(_, rest)| rest.split_once('(')?.1.split_once(')'));
    let numbers = shape
        .map_or("", |(numbers, _)| numbers)
        .split(',')
        .map(|number| number.trim().trim_end_matches('L'));
    // What is no number is for the reader to refuse.
    let mut sizes = numbers.map(|number| number.parse::<u128>().unwrap_or(1));
    let elements = sizes.try_fold(8u128, |product, size| product.checked_mul(size.max(1)));
    Ok(elements.is_some_and(|bytes| bytes <= u64::MAX.into()))
}

/// Writes an array; whoever reads the path sees the old file or the whole new one.
pub(super) fn write(path: &Path, ty: DType, shape: &[u64], bytes: &[u8]) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // The path in the error would be the temporary one's.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|error| io::Error::from(error.kind()))?;
    {
        let mut out = BufWriter::new(&mut file);
        match ty {
            DType::Bool => elements(&mut out, shape, bytes.iter().map(|&byte| byte != 0))?,
            DType::U8 => numbers(&mut out, shape, bytes, u8::from_le_bytes)?,
            DType::I8 => numbers(&mut out, shape, bytes, i8::from_le_bytes)?,
            DType::U16 | DType::Bf16 => numbers(&mut out, shape, bytes, u16::from_le_bytes)?,
            DType::I16 => numbers(&mut out, shape, bytes, i16::from_le_bytes)?,
            DType::F16 => numbers(&mut out, shape, bytes, f16::from_le_bytes)?,
            DType::U32 => numbers(&mut out, shape, bytes, u32::from_le_bytes)?,
            DType::I32 => numbers(&mut out, shape, bytes, i32::from_le_bytes)?,
            DType::F32 => numbers(&mut out, shape, bytes, f32::from_le_bytes)?,
            DType::U64 => numbers(&mut out, shape, bytes, u64::from_le_bytes)?,
            DType::I64 => numbers(&mut out, shape, bytes, i64::from_le_bytes)?,
            DType::F64 => numbers(&mut out, shape, bytes, f64::from_le_bytes)?,
        }
        out.flush()?;
    }
    readable(&file)?;
    file.persist(path)?;
    Ok(())
}

/// Temporary files are private; a result is read by whoever may read the folder.
#[cfg(unix)]
fn readable(file: &tempfile::NamedTempFile) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable(_: &tempfile::NamedTempFile) -> io::Result<()> {
    Ok(())
}

fn numbers<T: npyz::AutoSerialize, const N: usize>(
    out: &mut impl Write,
    shape: &[u64],
    bytes: &[u8],
    number: fn([u8; N]) -> T,
) -> io::Result<()> {
    elements(out, shape, bytes.as_chunks::<N>().0.iter().map(|&bytes| number(bytes)))
}

fn elements<T: npyz::AutoSerialize>(
    out: &mut impl Write,
    shape: &[u64],
    elements: impl Iterator<Item = T>,
) -> io::Result<()> {
    let mut writer = npyz::WriteOptions::new()
        .default_dtype()
        .shape(shape)
        .writer(out)
        .begin_nd()?;
    writer.extend(elements)?;
    writer.finish()
}
