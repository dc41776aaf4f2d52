//! The list of symbols against its source, `cust_raw`.

use std::collections::BTreeSet;
use std::fs;

use cargo_metadata::MetadataCommand;

#[test]
fn every_function_that_cust_raw_declares_is_defined_and_no_other() {
    let metadata = MetadataCommand::new()
        // Only what this build has already fetched.
        .other_options(["--offline", "--filter-platform", env!("SHIM_TARGET")].map(str::to_owned))
        .exec()
        .expect("cargo metadata");
    let cust_raw = metadata
        .packages
        .iter()
        .find(|package| package.name.as_str() == "cust_raw")
        .expect("cust depends on cust_raw");
    let bindings = fs::read_to_string(cust_raw.manifest_path.with_file_name("src").join("cuda.rs")).expect("bindings");
    let declared: BTreeSet<&str> = bindings
        .split("pub fn ")
        .skip(1)
        .map(|rest| &rest[..rest.find('(').expect("a parameter list")])
        .filter(|name| name.starts_with("cu"))
        .collect();
    assert!(declared.contains("cuInit"));
    let defined: BTreeSet<&str> = tile33_driver_shim::symbols().iter().copied().collect();
    assert_eq!(defined, declared);
}

#[test]
fn the_list_is_sorted_and_without_repeats() {
    assert!(tile33_driver_shim::symbols().is_sorted_by(|a, b| a < b));
}
