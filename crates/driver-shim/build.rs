//! Leaves an empty `libcuda.a` for the linker to find.
//!
//! `cust_raw` asks for `-lcuda`. The functions come from this crate's Rust code, so the library itself needs to hold
//! nothing; it only has to exist. An archive without members is the eight bytes of its magic number, on every Unix.

use std::path::PathBuf;
use std::{env, fs, io};

const EMPTY_ARCHIVE: &[u8] = b"!<arch>\n";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for name in ["libcuda.a", "cuda.lib"] {
        fs::write(folder.join(name), EMPTY_ARCHIVE)?;
    }
    // For the tests, which ask cargo what was built for this target.
    println!(
        "cargo::rustc-env=SHIM_TARGET={}",
        env::var("TARGET").expect("cargo sets TARGET")
    );
    println!("cargo::rustc-link-search=native={}", folder.display());
    Ok(())
}
