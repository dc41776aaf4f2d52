//! Kernels written by hand, and how the tests run them.
#![allow(dead_code)]

use tile33_sim::{Checks, Emulator, FindingKind, Launch, LaunchError, Options, Report};

/// A module with one kernel `k` that takes pointers `a`, `b`, .. (as many as `params`), after `before`.
pub(crate) fn module(before: &str, params: usize, body: &str) -> String {
    let names: Vec<String> = (0..params)
        .map(|i| format!(".param .u64 {}", (b'a' + i as u8) as char))
        .collect();
    let loads: String = (0..params)
        .map(|i| format!("ld.param.u64 %p{i}, [{}];\n", (b'a' + i as u8) as char))
        .collect();
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n{before}\n.visible .entry k({})\n{{\n\
         .reg .pred %q<16>;\n.reg .b16 %h<16>;\n.reg .b32 %r<64>;\n.reg .b64 %d<64>;\n.reg .f32 %f<32>;\n\
         .reg .f64 %g<16>;\n.reg .b64 %p<8>;\n{loads}\n{body}\nret;\n}}\n",
        names.join(", ")
    )
}

/// What a run left: the first buffer, and the report.
pub(crate) struct Ran {
    pub(crate) out: Vec<u32>,
    pub(crate) report: Report,
}

/// Runs `body` with one buffer of `len` zeros.
pub(crate) fn run(body: &str, grid: u32, block: u32, len: usize) -> Ran {
    run_module(&module("", 1, body), grid, block, len)
}

/// Runs kernel `k` of a module with one buffer of `len` zeros.
pub(crate) fn run_module(ptx: &str, grid: u32, block: u32, len: usize) -> Ran {
    try_module(ptx, grid, block, len, Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Like [`run_module`], with options, and what comes of it.
pub(crate) fn try_module(ptx: &str, grid: u32, block: u32, len: usize, options: Options) -> Result<Ran, LaunchError> {
    let mut emulator = Emulator::load(ptx).unwrap_or_else(|e| panic!("{e}"));
    let buffer = emulator.buffer(&vec![0u32; len]).unwrap();
    let launch = Launch::new("k", [grid, 1, 1], [block, 1, 1])
        .arg(buffer)
        .options(options);
    let report = emulator.launch(&launch)?;
    Ok(Ran {
        out: emulator.read(buffer).unwrap(),
        report,
    })
}

/// Without the checks that cost time.
pub(crate) fn unchecked() -> Options {
    Options {
        checks: Checks::NONE,
        ..Options::default()
    }
}

impl Ran {
    /// Fails if anything was found.
    #[track_caller]
    pub(crate) fn clean(self) -> Self {
        assert!(self.report.is_clean(), "{:#?}", self.report.findings);
        self
    }

    /// The kinds of what was found.
    pub(crate) fn kinds(&self) -> Vec<FindingKind> {
        self.report.findings.iter().map(|f| f.kind).collect()
    }
}
