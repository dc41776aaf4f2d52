//! Runs a launch file with all checks on, and compares.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use tile33::launch_file::{LaunchFile, Prepared};
use tile33_sim::{Checks, Report};

/// Where the corpus lies.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// A launch that ran: its buffers before and after.
pub(crate) struct Run {
    before: HashMap<usize, Vec<u8>>,
    after: HashMap<usize, Vec<u8>>,
    pub(crate) report: Report,
}

/// Runs `launch/NAME.toml`, and wants no finding.
pub(crate) fn run(name: &str) -> Run {
    let path = folder().join("launch").join(name).with_extension("toml");
    let file = LaunchFile::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut prepared = file.prepare().unwrap_or_else(|error| panic!("{name}: {error}"));
    prepared.launch.options.checks = Checks::ALL;
    let buffers = |prepared: &mut Prepared| -> HashMap<usize, Vec<u8>> {
        let arguments = 0..prepared.launch.args.len();
        arguments
            .filter_map(|index| Some((index, prepared.bytes(index)?)))
            .collect()
    };
    let before = buffers(&mut prepared);
    let report = prepared
        .run(file.program())
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let findings: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{name}: {findings:#?}");
    Run {
        before,
        after: buffers(&mut prepared),
        report,
    }
}

impl Run {
    /// Elements of a buffer before the launch.
    pub(crate) fn input<T: Pod>(&self, argument: usize) -> Vec<T> {
        bytemuck::pod_collect_to_vec(&self.before[&argument])
    }

    /// Every buffer after the launch, by argument.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = (usize, &[u8])> {
        self.after.iter().map(|(index, bytes)| (*index, &**bytes))
    }

    /// Elements of a buffer after it.
    pub(crate) fn output<T: Pod>(&self, argument: usize) -> Vec<T> {
        bytemuck::pod_collect_to_vec(&self.after[&argument])
    }
}

/// Wants each element within `relative` of its own size plus `absolute`; NaN and infinities are equal to themselves.
#[track_caller]
pub(crate) fn close(found: &[f32], expected: &[f64], relative: f64, absolute: f64) {
    let found: Vec<f64> = found.iter().map(|&x| x.into()).collect();
    close64(&found, expected, relative, absolute);
}

/// The same for `f64`.
#[track_caller]
pub(crate) fn close64(found: &[f64], expected: &[f64], relative: f64, absolute: f64) {
    assert_eq!(found.len(), expected.len());
    for (index, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let same = found == expected || found.is_nan() && expected.is_nan();
        let near = (found - expected).abs() <= relative * expected.abs() + absolute;
        assert!(same || near, "element {index}: {found} instead of {expected}");
    }
}

/// Wants the same bits; any NaN is as good as another.
#[track_caller]
pub(crate) fn same_bits(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
        assert!(
            same,
            "element {index}: {found:?} ({:#x}) instead of {expected:?}",
            found.to_bits()
        );
    }
}
