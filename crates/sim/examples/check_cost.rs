//! What the checks of races and unwritten memory cost per access of a lane, apart from everything else: the accesses of
//! a 1024x1024 padded transpose, and of a tiled matrix product, told to the checks without executing anything.
//!
//! `cargo run --release -p tile33-sim --example check_cost [transpose|matmul]`

use std::time::{Duration, Instant};

use tile33_sim::Memory;
use tile33_sim::check::{BlockCheck, BlocksRun, CheckConfig, LaunchCheck, Site, SiteId, Sites, Touch};

const TILE: u64 = 32;

fn touch<'a>(site: SiteId, warp: u32, addresses: &'a [u64; 32]) -> Touch<'a> {
    Touch {
        site,
        warp,
        active: u32::MAX,
        addresses,
        bytes: 4,
    }
}

fn row(f: impl Fn(u64) -> u64) -> [u64; 32] {
    std::array::from_fn(|lane| 4 * f(lane as u64))
}

/// A block of 32x8 threads moves a tile of 32x32.
fn transpose(check: &mut BlockCheck, s: [SiteId; 4], block: u64, n: u64, input: u64, output: u64) {
    let (bx, by) = (block % (n / TILE), block / (n / TILE));
    let values = [7u32; 32];
    for part in 0..4 {
        for warp in 0..8 {
            let y = 8 * part + warp;
            let from = row(|lane| (by * TILE + y) * n + bx * TILE + lane).map(|a| input + a);
            check.global(&touch(s[0], warp as u32, &from), &());
            check.shared(&touch(s[1], warp as u32, &row(|lane| y * 33 + lane)), &values);
        }
    }
    check.block_barrier();
    for part in 0..4 {
        for warp in 0..8 {
            let y = 8 * part + warp;
            check.shared(&touch(s[2], warp as u32, &row(|lane| lane * 33 + y)), &());
            let to = row(|lane| (bx * TILE + y) * n + by * TILE + lane).map(|a| output + a);
            check.global(&touch(s[3], warp as u32, &to), &values);
        }
    }
}

/// A block of 32x32 threads computes a tile of 32x32 of a product of n x n matrices.
fn matmul(check: &mut BlockCheck, s: [SiteId; 6], block: u64, n: u64, input: u64, output: u64) {
    let (bx, by) = (block % (n / TILE), block / (n / TILE));
    let values = [7u32; 32];
    for k in 0..n / TILE {
        for y in 0..TILE {
            let a = row(|lane| (by * TILE + y) * n + k * TILE + lane).map(|a| input + a);
            check.global(&touch(s[0], y as u32, &a), &());
            check.shared(&touch(s[1], y as u32, &row(|lane| y * TILE + lane)), &values);
            let b = row(|lane| (k * TILE + y) * n + bx * TILE + lane).map(|a| input + a);
            check.global(&touch(s[2], y as u32, &b), &());
            check.shared(&touch(s[3], y as u32, &row(|lane| 1024 + y * TILE + lane)), &values);
        }
        check.block_barrier();
        for y in 0..TILE {
            for i in 0..TILE {
                check.shared(&touch(s[4], y as u32, &row(|_| y * TILE + i)), &());
                check.shared(&touch(s[4], y as u32, &row(|lane| 1024 + i * TILE + lane)), &());
            }
        }
        check.block_barrier();
    }
    for y in 0..TILE {
        let c = row(|lane| (by * TILE + y) * n + bx * TILE + lane).map(|a| output + a);
        check.global(&touch(s[5], y as u32, &c), &values);
    }
}

/// Time on a processor, where the system says, so that a busy machine does not count.
fn cpu_time(since: Instant) -> Duration {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|s| s.split_whitespace().next()?.parse().ok())
        .map_or_else(|| since.elapsed(), Duration::from_nanos)
}

fn main() {
    let began = Instant::now();
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let mut sites = Sites::new();
    let mut add = |site| sites.add(site).expect("a few sites");
    let four = [
        add(Site::load(0)),
        add(Site::store(1)),
        add(Site::load(2)),
        add(Site::store(3)),
    ];
    let six = [4, 5, 6, 7, 8, 9].map(|pc| add(if pc % 2 == 0 { Site::load(pc) } else { Site::store(pc) }));
    let report = |what: &str, lanes: u64, run: &dyn Fn(&LaunchCheck, u64, u64), threads, shared_bytes| {
        if !what.contains(&wanted) {
            return;
        }
        for (races, uninitialized) in [(true, true), (true, false), (false, true)] {
            let mut memory = Memory::new();
            let (input, output) = (memory.alloc(4 << 20), memory.alloc(4 << 20));
            let (input, output) = (input.expect("4 MiB"), output.expect("4 MiB"));
            memory.fill(input, 0, 4 << 20).expect("within");
            let config = CheckConfig {
                races,
                uninitialized,
                threads,
                blocks: 1024,
                shared_bytes,
                local_bytes: 0,
                blocks_run: BlocksRun::Apart,
            };
            let start = cpu_time(began);
            let launch = LaunchCheck::new(config, &sites, &memory);
            run(&launch, input, output);
            let findings = launch.finish();
            let time = cpu_time(began) - start;
            println!(
                "{what}, races {races}, unwritten {uninitialized}: {time:.1?}, {:.2} ns a lane, {} findings",
                time.as_nanos() as f64 / lanes as f64,
                findings.races.len() + findings.uninitialized.len()
            );
        }
    };
    let moves = |launch: &LaunchCheck, input, output| {
        for block in 0..1024 {
            let mut check = launch.start_block(block);
            transpose(&mut check, four, block.into(), 1024, input, output);
            check.finish();
        }
    };
    report("transpose 1024", 4 << 20, &moves, 256, 33 * 32 * 4);
    let multiplies = |launch: &LaunchCheck, input, output| {
        for block in 0..64 {
            let mut check = launch.start_block(block);
            matmul(&mut check, six, block.into(), 256, input, output);
            check.finish();
        }
    };
    report("matmul 256", 64 * (8 * (4 + 64) + 1) * 1024, &multiplies, 1024, 8192);
}
