//! `cargo xtask toolchain`: a device compiler for machines that have none.

use std::env;
use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::process::Command;

use clap::ValueEnum;
use cuda_builder::{BuildError, DeviceCompiler};

/// Debian's compiler that comes with its sources, the sources, and the LLVM that fits them.
const PACKAGES: [&str; 3] = ["rustc-web", "rust-web-src", "llvm-22"];

/// Rustup's components with the sources of `core`, and with opt and llc.
const COMPONENTS: [&str; 2] = ["rust-src", "llvm-tools"];

/// Sets up a device compiler: a rustc with the sources of `core`, and opt and llc of its LLVM.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to get it: Debian's packages, or components for the active Rust toolchain [default: apt where it has them].
    #[arg(long, value_enum)]
    with: Option<Source>,

    /// Only print what would be run.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Source {
    Apt,
    Rustup,
}

pub(crate) fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    match DeviceCompiler::find() {
        Ok(compiler) if args.with.is_none() => {
            println!("nothing to do: {}", describe(&compiler));
            return Ok(());
        }
        Err(error) if !error.is_missing_compiler() => return Err(error.into()),
        _ => {}
    }
    if args.with != Some(Source::Rustup) && on_path("apt-get").is_some() {
        // Lists that were never fetched offer nothing, and old ones offer what is gone. Without them there is rustup.
        let update = Machine::this().as_root(&["apt-get", "update"]).map_err(Into::into);
        if let Err(error) = update.and_then(|update| execute(&[update], args.dry_run)) {
            eprintln!("note: {error}");
        }
    }
    execute(&plan(args.with, &Machine::this())?, args.dry_run)?;
    if args.dry_run {
        return Ok(());
    }
    let compiler = match DeviceCompiler::find() {
        // Debian may have moved on to a compiler with another LLVM.
        Err(BuildError::LlvmMismatch { major, .. }) if args.with != Some(Source::Rustup) => {
            execute(
                &[Machine::this().as_root(&["apt-get", "install", "-y", &format!("llvm-{major}")])?],
                false,
            )?;
            DeviceCompiler::find()?
        }
        found => found?,
    };
    println!("ready: {}", describe(&compiler));
    Ok(())
}

fn describe(compiler: &DeviceCompiler) -> String {
    format!(
        "{} is a device compiler ({})",
        compiler.rustc.display(),
        compiler.identity()
    )
}

/// A command line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step(Vec<String>);

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

fn execute(steps: &[Step], dry_run: bool) -> Result<(), Box<dyn Error>> {
    for step in steps {
        println!("{}{step}", if dry_run { "would run: " } else { "+ " });
        if dry_run {
            continue;
        }
        let status = Command::new(&step.0[0])
            .args(&step.0[1..])
            .env("DEBIAN_FRONTEND", "noninteractive")
            .status();
        let status = status.map_err(|error| format!("`{step}` does not start: {error}"))?;
        if !status.success() {
            return Err(format!("`{step}` failed ({status}); run it by hand to see more").into());
        }
    }
    Ok(())
}

/// What decides the way to a compiler.
struct Machine {
    /// apt-get is there, and offers every package of [`PACKAGES`].
    apt_offers_compiler: bool,
    /// rustup is there.
    has_rustup: bool,
    /// `RUSTUP_AUTO_INSTALL=0`: rustup must not fetch anything.
    rustup_must_not_fetch: bool,
    is_root: bool,
    has_sudo: bool,
}

impl Machine {
    fn this() -> Machine {
        Machine {
            apt_offers_compiler: on_path("apt-get").is_some() && offered(&policy()),
            has_rustup: on_path("rustup").is_some(),
            rustup_must_not_fetch: env::var_os("RUSTUP_AUTO_INSTALL").is_some_and(|value| value == "0"),
            is_root: Command::new("id")
                .arg("-u")
                .output()
                .is_ok_and(|output| output.stdout.starts_with(b"0\n")),
            has_sudo: on_path("sudo").is_some(),
        }
    }

    /// The command, as root.
    fn as_root(&self, command: &[&str]) -> Result<Step, String> {
        let words = command.iter().map(|word| (*word).to_owned());
        match (self.is_root, self.has_sudo) {
            (true, _) => Ok(Step(words.collect())),
            (false, true) => Ok(Step(["sudo".to_owned()].into_iter().chain(words).collect())),
            (false, false) => Err(format!(
                "`{}` needs root, and there is no sudo: run it as root",
                command.join(" ")
            )),
        }
    }
}

/// The commands that set a compiler up.
fn plan(with: Option<Source>, machine: &Machine) -> Result<Vec<Step>, String> {
    let source = match with {
        Some(source) => source,
        None if machine.apt_offers_compiler => Source::Apt,
        None => Source::Rustup,
    };
    match source {
        Source::Apt if !machine.apt_offers_compiler => Err(format!(
            "apt does not offer {}: run `apt-get update`, or take Debian 12 or later, or `--with rustup`",
            PACKAGES.join(", ")
        )),
        Source::Apt => {
            let install: Vec<&str> = ["apt-get", "install", "-y", "--no-install-recommends"]
                .into_iter()
                .chain(PACKAGES)
                .collect();
            Ok(vec![machine.as_root(&install)?])
        }
        Source::Rustup if !machine.has_rustup => Err(
            "there is no rustup, and apt offers no compiler with its sources: install one of them, \
             or point CUDA_BUILDER_RUSTC at a rustc that has rust-src"
                .to_owned(),
        ),
        Source::Rustup if machine.rustup_must_not_fetch => Err(format!(
            "RUSTUP_AUTO_INSTALL=0 says that rustup must not fetch anything, so `rustup component add {}` was not run: \
             unset it to allow that, or use `--with apt`",
            COMPONENTS.join(" ")
        )),
        Source::Rustup => {
            let words = ["rustup", "component", "add"].into_iter().chain(COMPONENTS);
            Ok(vec![Step(words.map(str::to_owned).collect())])
        }
    }
}

/// What apt knows of the packages.
fn policy() -> String {
    let output = Command::new("apt-cache")
        .arg("policy")
        .args(PACKAGES)
        .env("LC_ALL", "C")
        .output();
    output
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default()
}

/// Whether every package can be installed.
fn offered(policy: &str) -> bool {
    let candidates = policy
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Candidate: "));
    candidates.filter(|candidate| *candidate != "(none)").count() == PACKAGES.len()
}

fn on_path(program: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        Machine {
            apt_offers_compiler: true,
            has_rustup: true,
            rustup_must_not_fetch: false,
            is_root: true,
            has_sudo: false,
        }
    }

    fn planned(with: Option<Source>, machine: &Machine) -> String {
        plan(with, machine)
            .unwrap()
            .iter()
            .map(Step::to_string)
            .collect::<Vec<_>>()
            .join("; ")
    }

    #[test]
    fn apt_is_taken_where_it_offers_a_compiler_with_its_sources() {
        let apt = "apt-get install -y --no-install-recommends rustc-web rust-web-src llvm-22";
        assert_eq!(planned(None, &machine()), apt);
        assert_eq!(
            planned(
                None,
                &Machine {
                    is_root: false,
                    has_sudo: true,
                    ..machine()
                }
            ),
            format!("sudo {apt}")
        );
    }

    #[test]
    fn rustup_is_taken_elsewhere_and_where_it_is_asked_for() {
        let rustup = "rustup component add rust-src llvm-tools";
        assert_eq!(
            planned(
                None,
                &Machine {
                    apt_offers_compiler: false,
                    ..machine()
                }
            ),
            rustup
        );
        assert_eq!(planned(Some(Source::Rustup), &machine()), rustup);
    }

    #[test]
    fn rustup_fetches_nothing_where_it_must_not() {
        let machine = Machine {
            rustup_must_not_fetch: true,
            apt_offers_compiler: false,
            ..machine()
        };
        for with in [None, Some(Source::Rustup)] {
            let problem = plan(with, &machine).unwrap_err();
            assert!(problem.contains("RUSTUP_AUTO_INSTALL=0"), "{problem}");
        }
    }

    #[test]
    fn what_cannot_be_done_says_what_to_do() {
        let problem = plan(
            None,
            &Machine {
                is_root: false,
                ..machine()
            },
        )
        .unwrap_err();
        assert!(problem.contains("needs root"), "{problem}");
        let nothing = Machine {
            apt_offers_compiler: false,
            has_rustup: false,
            ..machine()
        };
        assert!(plan(None, &nothing).unwrap_err().contains("CUDA_BUILDER_RUSTC"));
        assert!(plan(Some(Source::Apt), &nothing).unwrap_err().contains("--with rustup"));
    }

    #[test]
    fn apt_offers_a_compiler_only_if_every_package_has_a_candidate() {
        let package = |name: &str, candidate: &str| format!("{name}:\n  Installed: (none)\n  Candidate: {candidate}\n");
        let all = PACKAGES.map(|name| package(name, "1.0")).concat();
        assert!(offered(&all));
        assert!(!offered(&all.replacen("Candidate: 1.0", "Candidate: (none)", 1)));
        assert!(!offered(&package("rustc-web", "1.0")));
        assert!(!offered(""));
    }
}
