//! The search, among made-up compilers: shell scripts that answer as rustc, opt and llc do.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::*;

/// A machine made of scripts.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        Machine {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn script(&self, path: &str, body: &str) -> PathBuf {
        let file = self.at(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    /// A rustc on this LLVM, in a sysroot of its own.
    fn rustc(&self, name: &str, llvm: &str, with_sources: bool) -> PathBuf {
        let sysroot = self.at(&format!("{name}-sysroot"));
        let core = sysroot.join("lib/rustlib/src/rust/library/core");
        fs::create_dir_all(if with_sources { core.clone() } else { sysroot.clone() }).unwrap();
        if with_sources {
            fs::write(core.join("Cargo.toml"), "").unwrap();
        }
        let version = format!("rustc 1.99.0 ({name})\nbinary: rustc\nhost: made-up\nLLVM version: {llvm}");
        self.script(
            name,
            &format!(
                "case $1 in -vV) echo '{version}';; *) echo '{}';; esac",
                sysroot.display()
            ),
        )
    }

    fn tools(&self, folder: &str, suffix: &str, version: &str) {
        for tool in ["opt", "llc"] {
            let body = format!("echo 'Made-up LLVM version {version}'; echo '  Optimized build.'");
            self.script(&format!("{folder}/{tool}{suffix}"), &body);
        }
    }

    fn find(&self, variable: Option<&Path>, active: &Path, system: &Path) -> Result<DeviceCompiler, BuildError> {
        let around = Surroundings {
            lib: self.at("lib"),
            path: vec![self.at("path")],
        };
        find(
            variable.map(|path| path.as_os_str().to_owned()),
            active.to_owned(),
            system,
            &around,
        )
    }
}

fn nothing() -> &'static Path {
    Path::new("/nowhere/rustc")
}

#[test]
fn the_variable_comes_before_the_active_compiler_and_that_before_the_systems() {
    let machine = Machine::new();
    let [first, second, third] = ["first", "second", "third"].map(|name| machine.rustc(name, "22.1.8", true));
    machine.tools("lib/llvm-22/bin", "", "22.1.0");
    let found = |variable, active, system| machine.find(variable, active, system).unwrap().rustc;
    assert_eq!(found(Some(&first), &second, &third), first);
    assert_eq!(found(None, &second, &third), second);
    assert_eq!(found(None, nothing(), &third), third);
}

#[test]
fn a_compiler_without_the_sources_of_core_is_passed_over() {
    let machine = Machine::new();
    let without = machine.rustc("without", "22.1.8", false);
    let with = machine.rustc("with", "22.1.8", true);
    machine.tools("lib/llvm-22/bin", "", "22.1.0");
    let found = machine.find(None, &without, &with).unwrap();
    assert_eq!(found.rustc, with);
    assert_eq!(found.version, "rustc 1.99.0 (with)");
    assert_eq!(found.identity(), "rustc 1.99.0 (with), LLVM 22.1.8, tools 22.1.0");
}

#[test]
fn without_any_compiler_the_error_says_what_each_lacks_and_what_to_do() {
    let machine = Machine::new();
    let without = machine.rustc("without", "22.1.8", false);
    let error = machine.find(None, &without, nothing()).unwrap_err();
    assert!(error.is_missing_compiler());
    let message = error.to_string();
    assert!(message.contains("has no sources of `core`"), "{message}");
    assert!(message.contains("/nowhere/rustc, which does not start"), "{message}");
    assert!(message.contains("cargo xtask toolchain"), "{message}");
}

#[test]
fn the_variable_is_never_passed_over() {
    let machine = Machine::new();
    let (without, with) = (
        machine.rustc("without", "22.1.8", false),
        machine.rustc("with", "22.1.8", true),
    );
    machine.tools("lib/llvm-22/bin", "", "22.1.0");
    let error = machine.find(Some(&without), &with, &with).unwrap_err();
    assert!(matches!(error, BuildError::BadCompiler { .. }));
    assert!(
        !error.is_missing_compiler(),
        "a wrong variable is a mistake, not a machine without a compiler"
    );
    let none = machine.find(Some(Path::new("none")), &with, &with).unwrap_err();
    assert!(none.is_missing_compiler());
}

#[test]
fn tools_are_looked_for_in_the_sysroot_then_in_the_distribution_then_on_the_path() {
    let machine = Machine::new();
    let rustc = machine.rustc("rustc", "22.1.8", true);
    let opt = || machine.find(None, &rustc, nothing()).unwrap().opt;
    machine.tools("path", "-22", "22.0.3");
    assert_eq!(opt(), machine.at("path/opt-22"));
    machine.tools("lib/llvm-22/bin", "", "22.0.2");
    assert_eq!(opt(), machine.at("lib/llvm-22/bin/opt"));
    machine.tools("rustc-sysroot/lib/rustlib/made-up/bin", "", "22.0.1");
    assert_eq!(opt(), machine.at("rustc-sysroot/lib/rustlib/made-up/bin/opt"));
}

#[test]
fn tools_of_another_llvm_are_refused_with_both_versions() {
    let machine = Machine::new();
    let rustc = machine.rustc("rustc", "22.1.8", true);
    machine.tools("path", "", "14.0.6");
    let error = machine.find(None, &rustc, nothing()).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("built on LLVM 22"), "{message}");
    assert!(message.contains("is of LLVM 14.0.6"), "{message}");
    assert!(message.contains("apt-get install llvm-22"), "{message}");
    assert!(error.is_missing_compiler());
}

#[test]
fn a_later_compiler_with_its_tools_comes_before_an_error_of_an_earlier_one() {
    let machine = Machine::new();
    let (unfit, fit) = (
        machine.rustc("unfit", "23.1.0", true),
        machine.rustc("fit", "22.1.8", true),
    );
    machine.tools("lib/llvm-22/bin", "", "22.1.0");
    assert_eq!(machine.find(None, &unfit, &fit).unwrap().rustc, fit);
    assert!(matches!(
        machine.find(None, &unfit, nothing()),
        Err(BuildError::LlvmMismatch { major: 23, .. })
    ));
}

#[test]
fn an_old_llvm_is_refused() {
    let machine = Machine::new();
    let rustc = machine.rustc("rustc", "18.1.0", true);
    assert!(matches!(
        machine.find(None, &rustc, nothing()),
        Err(BuildError::LlvmTooOld { major: 18, .. })
    ));
}
