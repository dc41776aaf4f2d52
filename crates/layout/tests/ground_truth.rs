//! Every access that was measured on hardware costs what the model says.

use serde::Deserialize;
use tile33_layout::{Op, Space, WarpAccess, banks, sectors};

#[derive(Deserialize)]
struct Line {
    space: String,
    op: String,
    width: u32,
    mask: String,
    addrs: [u64; 32],
    wavefronts: Option<u32>,
    sectors: Option<u32>,
    name: String,
}

fn lines(file: &str) -> Vec<Line> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/ground-truth")
        .join(file);
    let text = std::fs::read_to_string(path).expect("the ground truth is part of the repository");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a line of ground truth"))
        .collect()
}

impl Line {
    fn access(&self) -> WarpAccess {
        let space = if self.space == "shared" {
            Space::Shared
        } else {
            Space::Global
        };
        let mask = u32::from_str_radix(self.mask.trim_start_matches("0x"), 16).expect("a mask");
        WarpAccess::new(
            space,
            Op::parse(&self.op).expect("an operation"),
            self.width,
            mask,
            self.addrs,
        )
        .expect("valid")
    }
}

#[test]
fn every_measured_shared_access_costs_what_the_hardware_counted() {
    let lines = lines("shared-wavefronts.jsonl");
    assert_eq!(lines.len(), 1741);
    for (number, line) in lines.iter().enumerate() {
        let access = line.access();
        let told = format!("line {}: {} {} {}", number + 1, line.name, line.op, line.width);
        assert_eq!(Some(access.wavefronts()), line.wavefronts, "{told}");
        assert_eq!(
            Some(access.breakdown().wavefronts()),
            line.wavefronts,
            "breakdown of {told}"
        );
        let narrow = line
            .addrs
            .map(|address| u32::try_from(address).expect("a shared address"));
        assert_eq!(
            Some(banks::wavefronts(access.op(), access.width(), access.mask(), &narrow)),
            line.wavefronts,
            "32-bit addresses of {told}"
        );
        assert!(access.ideal() <= access.wavefronts(), "{told}");
    }
}

#[test]
fn every_measured_global_access_costs_what_the_hardware_counted() {
    let lines = lines("global-sectors.jsonl");
    assert_eq!(lines.len(), 253);
    for (number, line) in lines.iter().enumerate() {
        let access = line.access();
        let told = format!("line {}: {} {} {}", number + 1, line.name, line.op, line.width);
        assert_eq!(Some(access.sectors()), line.sectors, "{told}");
        assert_eq!(
            Some(sectors::sectors(access.mask(), &line.addrs)),
            line.sectors,
            "{told}"
        );
        assert!(access.ideal_sectors() <= access.sectors(), "{told}");
    }
}
