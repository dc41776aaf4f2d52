//! Whole-process time of the padded transpose: `transpose_speed PTX [ROWS COLS] [--checks]`.
use std::time::Instant;
use tile33_sim::{Checks, Emulator, Launch, Options};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let checks = args.iter().any(|a| a == "--checks");
    let numbers: Vec<u32> = args.iter().filter_map(|a| a.parse().ok()).collect();
    let (rows, cols) = (
        numbers.first().copied().unwrap_or(1024),
        numbers.get(1).copied().unwrap_or(1024),
    );
    let start = Instant::now();
    let ptx = std::fs::read_to_string(&args[0]).expect("a PTX file");
    let mut emulator = Emulator::load(&ptx).expect("PTX");
    let loaded = start.elapsed();
    let input: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
    let x = emulator.buffer(&input).expect("memory");
    let y = emulator.uninit::<f32>(input.len()).expect("memory");
    let options = Options {
        checks: if checks { Checks::ALL } else { Checks::NONE },
        ..Options::default()
    };
    let kernel = args
        .get(1)
        .filter(|a| a.starts_with("transpose"))
        .map_or("transpose_padded_f32", |s| s);
    let launch = Launch::new(kernel, [cols.div_ceil(32), rows.div_ceil(32), 1], [32, 8, 1])
        .arg(x)
        .arg(y)
        .arg(rows)
        .arg(cols)
        .options(options);
    let before = start.elapsed();
    let report = emulator.launch(&launch).expect("a launch");
    let launched = start.elapsed() - before;
    let out = emulator.read(y).expect("memory");
    let right = (0..rows).all(|r| (0..cols).all(|c| out[(c * rows + r) as usize] == input[(r * cols + c) as usize]));
    println!(
        "right: {right}, findings: {}, instructions: {}, load {loaded:?}, launch {launched:?}, all {:?}",
        report.findings.len(),
        report.counters.instructions,
        start.elapsed()
    );
}
