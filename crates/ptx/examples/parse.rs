//! Parses PTX files and says what is in them, and how long it took: `cargo run --release --example parse FILE..`

use std::time::Instant;

fn main() -> std::process::ExitCode {
    let mut failed = false;
    for path in std::env::args().skip(1) {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{path}: {error}");
                failed = true;
                continue;
            }
        };
        let start = Instant::now();
        match tile33_ptx::parse(&text) {
            Ok(module) => {
                let time = start.elapsed();
                let instructions: usize = module
                    .functions
                    .iter()
                    .flat_map(|f| &f.body)
                    .map(|body| body.instructions.len())
                    .sum();
                println!(
                    "{path}: {} bytes, {} functions, {instructions} instructions, {:.2} ms",
                    text.len(),
                    module.functions.len(),
                    time.as_secs_f64() * 1e3
                );
            }
            Err(error) => {
                eprintln!("{path}: {error}");
                failed = true;
            }
        }
    }
    u8::from(failed).into()
}
