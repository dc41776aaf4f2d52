//! Checked-in PTX, with and without a compiler. No compiler is run: the crate is made up, and so is the compiler.

use tempfile::TempDir;

use super::*;
use crate::Manifest;

const PTX: &str = ".version 6.3\n.target sm_75\n";

/// A crate with checked-in PTX that says it was made from it.
struct Crate {
    folder: TempDir,
}

impl Crate {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let manifest = "[package]\nname = \"made-up\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
        write(&folder.path().join("Cargo.toml"), manifest).unwrap();
        write(&folder.path().join("src/lib.rs"), "#![no_std]\n").unwrap();
        let made_up = Crate { folder };
        made_up.check_in(&made_up.builder().inputs().unwrap());
        made_up
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join(inside)
    }

    fn builder(&self) -> CudaBuilder {
        let builder = CudaBuilder::new(self.folder.path()).checked_in(self.path("ptx/kernels.ptx"));
        builder
            .target_dir(self.path("target"))
            .copy_to(self.path("out/copy.ptx"))
    }

    fn check_in(&self, inputs: &str) {
        let module = Module {
            file: "kernels.ptx".to_owned(),
            arch: "sm_75".to_owned(),
            features: Vec::new(),
            inputs: inputs.to_owned(),
            compiler: compiler().identity(),
            ptx: digest(PTX),
            kernels: vec!["k".to_owned()],
        };
        Manifest { modules: vec![module] }.write(&self.path("ptx")).unwrap();
        write(&self.path("ptx/kernels.ptx"), PTX).unwrap();
    }
}

fn compiler() -> DeviceCompiler {
    let nowhere = PathBuf::from("/nowhere");
    DeviceCompiler {
        rustc: nowhere.join("rustc"),
        version: "rustc 1.99.0".to_owned(),
        llvm: "22.1.8".to_owned(),
        sysroot: nowhere.clone(),
        opt: nowhere.join("opt"),
        llc: nowhere.join("llc"),
        tools: "22.1.8".to_owned(),
    }
}

fn no_compiler() -> Result<DeviceCompiler, BuildError> {
    Err(BuildError::NoCompiler {
        tried: "nothing".to_owned(),
    })
}

#[test]
fn without_a_compiler_current_ptx_is_used() {
    let made_up = Crate::new();
    let built = made_up.builder().build_with(no_compiler).unwrap();
    assert_eq!(built.origin, Origin::CheckedIn);
    assert_eq!(built.kernels, ["k"]);
    assert_eq!(built.ptx, made_up.path("out/copy.ptx"));
    assert_eq!(fs::read_to_string(built.ptx).unwrap(), PTX);
}

#[test]
fn without_a_compiler_ptx_of_other_sources_is_an_error_with_the_remedy() {
    let made_up = Crate::new();
    write(&made_up.path("src/lib.rs"), "#![no_std]\n// Another thought.\n").unwrap();
    let error = made_up.builder().build_with(no_compiler).unwrap_err();
    assert!(
        matches!(
            &error,
            BuildError::Stale {
                why: "was made from other sources",
                ..
            }
        ),
        "{error}"
    );
    let message = error.to_string();
    assert!(
        message.contains("cargo xtask toolchain") && message.contains("undo the changes"),
        "{message}"
    );
    assert!(
        !made_up.path("out/copy.ptx").exists(),
        "stale PTX must not get anywhere"
    );
}

#[test]
fn ptx_that_was_changed_by_hand_is_not_used() {
    let made_up = Crate::new();
    write(&made_up.path("ptx/kernels.ptx"), &format!("{PTX}// mine\n")).unwrap();
    let error = made_up.builder().build_with(no_compiler).unwrap_err();
    assert!(matches!(
        error,
        BuildError::Stale {
            why: "was changed by hand",
            ..
        }
    ));
    fs::remove_file(made_up.path("ptx/kernels.ptx")).unwrap();
    let error = made_up.builder().build_with(no_compiler).unwrap_err();
    assert!(matches!(error, BuildError::Stale { why: "is missing", .. }));
}

#[test]
fn ptx_and_sources_with_other_line_ends_are_the_same() {
    let made_up = Crate::new();
    write(&made_up.path("ptx/kernels.ptx"), &PTX.replace('\n', "\r\n")).unwrap();
    write(&made_up.path("src/lib.rs"), "#![no_std]\r\n").unwrap();
    let built = made_up.builder().build_with(no_compiler).unwrap();
    assert_eq!(fs::read_to_string(built.ptx).unwrap(), PTX);
}

#[test]
fn a_setting_of_the_build_is_part_of_what_the_ptx_was_made_from() {
    let made_up = Crate::new();
    let of = |builder: CudaBuilder| builder.inputs().unwrap();
    let plain = of(made_up.builder());
    assert_eq!(plain, of(made_up.builder().target_dir("elsewhere")));
    assert_ne!(plain, of(made_up.builder().arch("sm_90")));
    assert_ne!(plain, of(made_up.builder().features(["broken"])));
}

#[test]
fn the_same_compiler_need_not_build_what_is_checked_in() {
    let made_up = Crate::new();
    let built = made_up.builder().build_with(|| Ok(compiler())).unwrap();
    assert_eq!(built.origin, Origin::CheckedIn);
}

#[test]
fn another_compiler_builds_anew() {
    let made_up = Crate::new();
    let other = DeviceCompiler {
        version: "rustc 2.0.0".to_owned(),
        ..compiler()
    };
    // The made-up compiler cannot be run, which shows that it would have been.
    let error = made_up.builder().build_with(|| Ok(other)).unwrap_err();
    assert!(matches!(error, BuildError::Tool { .. }), "{error}");
}

#[test]
fn a_compiler_builds_anew_what_is_stale() {
    let made_up = Crate::new();
    write(&made_up.path("src/lib.rs"), "#![no_std]\n// Another thought.\n").unwrap();
    let error = made_up.builder().build_with(|| Ok(compiler())).unwrap_err();
    assert!(matches!(error, BuildError::Tool { .. }), "{error}");
}

#[test]
fn a_wrong_variable_is_an_error_even_with_current_ptx() {
    let made_up = Crate::new();
    let wrong = || {
        Err(BuildError::BadCompiler {
            path: "/nowhere".into(),
            problem: "does not start".to_owned(),
        })
    };
    assert!(matches!(
        made_up.builder().build_with(wrong),
        Err(BuildError::BadCompiler { .. })
    ));
}

#[test]
fn an_unknown_architecture_is_an_error_that_lists_the_known_ones() {
    let error = CudaBuilder::new(".").arch("sm_42").build().unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("`sm_42`") && message.contains("sm_75") && message.contains("sm_120"),
        "{message}"
    );
}

#[test]
fn a_folder_without_a_crate_is_an_error_that_names_it() {
    let error = CudaBuilder::new("no/such/folder").build().unwrap_err();
    assert!(
        error.to_string().contains("no kernel crate at no/such/folder"),
        "{error}"
    );
}

#[test]
fn a_manifest_that_is_none_is_an_error() {
    let made_up = Crate::new();
    write(&made_up.path("ptx/manifest.json"), "{").unwrap();
    let error = made_up.builder().build_with(no_compiler).unwrap_err();
    assert!(matches!(error, BuildError::BadManifest { .. }));
}
