//! The transposes as the device compiler makes them: results, counts, and no findings.
use tile33_sim::{Checks, Emulator, Launch, Options, Report};

const PTX: &str = include_str!("../../../kernels-gpu/ptx/transpose.sm_75.ptx");

fn run(kernel: &str, rows: u32, cols: u32, options: Options) -> (Vec<f32>, Report) {
    let mut emulator = Emulator::load(PTX).unwrap();
    let input: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
    let x = emulator.buffer(&input).unwrap();
    let y = emulator.uninit::<f32>((rows * cols) as usize).unwrap();
    let launch = Launch::new(kernel, [cols.div_ceil(32), rows.div_ceil(32), 1], [32, 8, 1])
        .arg(x)
        .arg(y)
        .arg(rows)
        .arg(cols)
        .options(options);
    let report = emulator.launch(&launch).unwrap();
    (emulator.read(y).unwrap(), report)
}

#[test]
fn without_checks_the_padded_transpose_is_the_transpose() {
    let (y, report) = run(
        "transpose_padded_f32",
        64,
        96,
        Options {
            checks: Checks::NONE,
            ..Options::default()
        },
    );
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    for r in 0..64 {
        for c in 0..96 {
            assert_eq!(y[c * 64 + r], (r * 96 + c) as f32);
        }
    }
}
