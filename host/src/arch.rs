//! Architectures, and which PTX suits a device.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// A compute capability: 7.5 is `sm_75`.
///
/// PTX for one architecture runs on every later one, so of a set of PTX files the best for a device is the latest that is
/// not later than it. (Architecture-specific PTX, `sm_90a`, gives that promise up, and has no place here.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arch {
    major: u32,
    minor: u32,
}

impl Arch {
    /// Compute capability `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.major, self.minor)
    }
}

impl FromStr for Arch {
    type Err = Error;

    /// Reads `sm_75` or `sm_120`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = text.strip_prefix("sm_").unwrap_or("");
        match digits.parse::<u32>() {
            Ok(number) if number >= 10 => Ok(Self::new(number / 10, number % 10)),
            _ => Err(Error::UnknownArch { text: text.to_owned() }),
        }
    }
}

/// One PTX file of a set that holds the same kernels for several architectures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtxImage<'a> {
    /// The architecture that the PTX names as its target.
    pub arch: Arch,
    /// The PTX.
    pub text: &'a str,
}

impl<'a> PtxImage<'a> {
    /// Takes the architecture from the text's own `.target` line.
    ///
    /// # Errors
    /// [`Error::UnknownArch`] without such a line, or with an architecture that gives no promise for later ones.
    pub fn new(text: &'a str) -> Result<Self, Error> {
        let target = text
            .lines()
            .find_map(|line| line.trim_start().strip_prefix(".target"))
            .and_then(|rest| rest.split([',', '/']).next())
            .unwrap_or("")
            .trim();
        Ok(Self {
            arch: target.parse()?,
            text,
        })
    }
}

/// The best of `images` for a device.
///
/// # Errors
/// [`Error::NoPtxForArch`] where every image is for a later architecture.
pub fn best_image<'a>(images: &[PtxImage<'a>], device: Arch) -> Result<PtxImage<'a>, Error> {
    images
        .iter()
        .filter(|image| image.arch <= device)
        .max_by_key(|image| image.arch)
        .copied()
        .ok_or_else(|| Error::NoPtxForArch {
            device,
            available: images
                .iter()
                .map(|image| image.arch.to_string())
                .collect::<Vec<_>>()
                .join(", "),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(text: &str) -> PtxImage<'_> {
        PtxImage::new(text).unwrap()
    }

    #[test]
    fn the_target_line_names_the_architecture() {
        assert_eq!(
            image(".version 6.3\n.target sm_75\n.address_size 64").arch,
            Arch::new(7, 5)
        );
        assert_eq!(image(".version 8.0\n.target sm_90, debug\n").arch, Arch::new(9, 0));
        assert_eq!(image("  .target sm_120 // late").arch, Arch::new(12, 0));
        assert_eq!(image(".target sm_100").arch.to_string(), "sm_100");
    }

    #[test]
    fn a_specific_or_missing_target_is_an_error() {
        assert!(matches!(PtxImage::new(".target sm_90a"), Err(Error::UnknownArch { text }) if text == "sm_90a"));
        assert!(matches!(PtxImage::new("hello"), Err(Error::UnknownArch { text }) if text.is_empty()));
    }

    #[test]
    fn the_latest_image_that_the_device_can_run_is_best() {
        let set = [image(".target sm_75"), image(".target sm_100"), image(".target sm_80")];
        let best = |major, minor| best_image(&set, Arch::new(major, minor)).map(|image| image.arch.to_string());
        assert_eq!(best(7, 5).unwrap(), "sm_75");
        assert_eq!(best(8, 9).unwrap(), "sm_80");
        assert_eq!(best(9, 0).unwrap(), "sm_80");
        assert_eq!(best(12, 0).unwrap(), "sm_100");
        let error = best(7, 0).unwrap_err().to_string();
        assert_eq!(
            error,
            "no PTX for sm_70: there is PTX for sm_75, sm_100, sm_80, and PTX runs on later architectures only"
        );
    }
}
