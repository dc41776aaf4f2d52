//! GPU architectures, and the lowest PTX ISA version that names each.

use std::fmt;
use std::str::FromStr;

use crate::BuildError;

/// Architecture -> lowest PTX ISA version (PTX ISA manual, "Release Notes": the version that introduced the target).
const KNOWN: &[(&str, (u32, u32))] = &[
    ("sm_70", (6, 0)),
    ("sm_72", (6, 1)),
    ("sm_75", (6, 3)),
    ("sm_80", (7, 0)),
    ("sm_86", (7, 1)),
    ("sm_87", (7, 4)),
    ("sm_88", (9, 0)),
    ("sm_89", (7, 8)),
    ("sm_90", (7, 8)),
    ("sm_90a", (8, 0)),
    ("sm_100", (8, 6)),
    ("sm_100a", (8, 6)),
    ("sm_103", (8, 8)),
    ("sm_103a", (8, 8)),
    ("sm_110", (9, 0)),
    ("sm_110a", (9, 0)),
    ("sm_120", (8, 7)),
    ("sm_120a", (8, 7)),
    ("sm_121", (8, 8)),
    ("sm_121a", (8, 8)),
];

/// A GPU architecture that PTX can be made for, such as `sm_75`.
///
/// PTX for one architecture runs on every later one (except for those with a letter), so a module is built for the
/// oldest architecture whose instructions it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Arch {
    index: usize,
}

impl Arch {
    /// The name as compilers take it, `sm_75`.
    pub fn name(self) -> &'static str {
        KNOWN[self.index].0
    }

    /// The lowest PTX ISA version (major, minor) that has this target.
    pub fn lowest_isa(self) -> (u32, u32) {
        KNOWN[self.index].1
    }

    /// Every architecture, oldest first.
    pub fn all() -> impl Iterator<Item = Arch> {
        (0..KNOWN.len()).map(|index| Arch { index })
    }
}

impl FromStr for Arch {
    type Err = BuildError;

    fn from_str(name: &str) -> Result<Arch, BuildError> {
        Arch::all()
            .find(|arch| arch.name() == name)
            .ok_or_else(|| BuildError::UnknownArch {
                asked: name.to_owned(),
                known: KNOWN.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", "),
            })
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
