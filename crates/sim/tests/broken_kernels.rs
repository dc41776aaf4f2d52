//! The broken kernels of `kernels-gpu` as the device compiler makes them: each has exactly its finding, and its repaired
//! twin none and the right result.
use std::collections::BTreeSet;

use tile33_sim::{Emulator, Finding, FindingKind, Launch, Report};

const PTX: &str = include_str!("ptx/broken.sm_75.ptx");

struct Ran {
    out: Vec<f32>,
    report: Report,
}

/// Runs a kernel on `input`, with `numbers` behind the two buffers.
fn run(kernel: &str, grid: [u32; 2], block: [u32; 2], dynamic: u32, input: &[f32], out: usize, numbers: &[u32]) -> Ran {
    let mut emulator = Emulator::load(PTX).unwrap();
    let x = emulator.buffer(input).unwrap();
    let y = emulator.buffer(&vec![-1.0f32; out]).unwrap();
    let name = format!("broken_{kernel}");
    let mut launch = Launch::new(&name, [grid[0], grid[1], 1], [block[0], block[1], 1])
        .arg(x)
        .arg(y)
        .dynamic_shared(dynamic);
    for &number in numbers {
        launch = launch.arg(number);
    }
    let report = emulator.launch(&launch).unwrap();
    Ran {
        out: emulator.read(y).unwrap(),
        report,
    }
}

impl Ran {
    /// The findings, which are all of one kind. The compiler may unroll a loop, and then the same pair of source lines
    /// appears more than once: they must be of one pair.
    #[track_caller]
    fn only(&self, kind: FindingKind) -> &Finding {
        let findings = &self.report.findings;
        assert!(
            !findings.is_empty() && findings.iter().all(|f| f.kind == kind),
            "{findings:#?}"
        );
        &findings[0]
    }

    #[track_caller]
    fn clean(self) -> Vec<f32> {
        assert!(self.report.is_clean(), "{:#?}", self.report.findings);
        self.out
    }

    /// The pairs of source lines that findings name, as text of the source.
    fn lines(&self, source: &str) -> BTreeSet<BTreeSet<String>> {
        let text: Vec<&str> = source.lines().collect();
        let line = |s: &tile33_sim::Site| {
            let at = s.source.as_ref().expect("the PTX has line numbers").line as usize;
            text[at - 1].trim().to_owned()
        };
        let findings = self.report.findings.iter();
        findings
            .map(|f| std::iter::once(&f.site).chain(&f.other).map(line).collect())
            .collect()
    }
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i % 11) as f32).collect()
}

const ORDERING: &str = include_str!("../../../kernels-gpu/src/broken/ordering.rs");

#[test]
fn a_load_without_a_guard_leaves_a_partial_tile() {
    let (rows, cols) = (21, 37);
    let input = numbers(rows * cols);
    let run = |kernel: &str| {
        run(
            kernel,
            [3, 2],
            [16, 16],
            0,
            &input,
            rows * cols,
            &[rows as u32, cols as u32],
        )
    };
    let broken = run("edge_tile");
    let finding = broken.only(FindingKind::OutOfBounds);
    assert!(finding.site.instruction.contains("ld.global"), "{finding:?}");
    assert_eq!(broken.report.findings.len(), 1);
    assert_eq!(run("edge_tile_repaired").clean(), input);
}

#[test]
fn a_number_of_elements_is_not_a_number_of_bytes() {
    let input = numbers(256);
    let run = |bytes| run("reverse", [1, 1], [256, 1], bytes, &input, 256, &[]);
    run(256).only(FindingKind::OutOfBounds);
    assert_eq!(run(1024).clean(), input.iter().rev().copied().collect::<Vec<_>>());
}

#[test]
fn slices_of_different_types_have_to_be_aligned() {
    let threads = 37;
    let input = numbers(threads as usize);
    let run = |kernel: &str| {
        run(
            kernel,
            [1, 1],
            [threads, 1],
            13 * threads + 16,
            &input,
            threads as usize,
            &[],
        )
    };
    run("carve").only(FindingKind::Misaligned);
    let expected: Vec<f32> = input
        .iter()
        .rev()
        .map(|&v| 2.0 * v + f32::from(u8::from(v > 2.0)))
        .collect();
    assert_eq!(run("carve_repaired").clean(), expected);
}

#[test]
fn a_loop_over_tiles_with_one_barrier_races_at_the_two_lines() {
    let input = numbers(64 * 5);
    let run = |kernel: &str| run(kernel, [1, 1], [64, 1], 0, &input, 64, &[5]);
    let broken = run("tile_loop");
    let finding = broken.only(FindingKind::Race);
    let other = finding.other.as_ref().unwrap();
    assert_eq!(finding.site.thread[0].abs_diff(other.thread[0]), 32);
    assert!(finding.address.is_some());
    let lines = [
        "tile.write(t, *x.add((row * THREADS + t) as usize));",
        "sum += tile.read(t ^ 32);",
    ];
    assert_eq!(
        broken.lines(ORDERING),
        BTreeSet::from([lines.map(str::to_owned).into()])
    );
    let expected: Vec<f32> = (0..64)
        .map(|t| (0..5).map(|row| input[64 * row + (t ^ 32)]).sum())
        .collect();
    assert_eq!(run("tile_loop_repaired").clean(), expected);
}

#[test]
fn a_return_before_a_barrier_names_who_came_and_who_did_not() {
    let input = numbers(40);
    let run = |kernel: &str| run(kernel, [1, 1], [64, 1], 0, &input, 40, &[40]);
    let broken = run("early_return");
    let finding = broken.only(FindingKind::DivergentBarrier);
    assert_eq!(broken.report.findings.len(), 1);
    assert!(
        finding.site.thread[0] < 40 && finding.other.as_ref().unwrap().thread[0] >= 40,
        "{finding:?}"
    );
    assert_eq!(
        run("early_return_repaired").clean(),
        input.iter().rev().copied().collect::<Vec<_>>()
    );
}

#[test]
fn a_warp_that_is_taken_to_step_together_races() {
    let input = numbers(32);
    let run = |kernel: &str| run(kernel, [1, 1], [32, 1], 0, &input, 1, &[]);
    let broken = run("warp_sum");
    broken.only(FindingKind::Race);
    for pair in broken.lines(ORDERING) {
        assert!(pair.iter().all(|line| line.contains("cells.")), "{pair:?}");
    }
    assert_eq!(run("warp_sum_repaired").clean(), [input.iter().sum()]);
}

#[test]
fn the_tail_of_a_reduction_is_read_unwritten() {
    let input = numbers(50);
    let run = |kernel: &str| run(kernel, [1, 1], [64, 1], 0, &input, 1, &[50]);
    let broken = run("tail");
    broken.only(FindingKind::UninitializedShared);
    assert_eq!(run("tail_repaired").clean(), [input.iter().sum()]);
}

fn sums(x: &[f32], rows: usize, cols: usize) -> Vec<f32> {
    let at = |r: isize, c: isize| {
        let inside = r >= 0 && c >= 0 && r < rows as isize && c < cols as isize;
        if inside { x[r as usize * cols + c as usize] } else { 0.0 }
    };
    let sum = |r: isize, c: isize| (-1..=1).flat_map(|i| (-1..=1).map(move |j| at(r + i, c + j))).sum();
    (0..rows as isize)
        .flat_map(|r| (0..cols as isize).map(move |c| (r, c)))
        .map(|(r, c)| sum(r, c))
        .collect()
}

#[test]
fn a_stencil_advances_by_its_tile_and_loads_all_of_its_halo() {
    let run = |kernel: &str, rows: usize, cols: usize| {
        let grid = [cols.div_ceil(16) as u32, rows.div_ceil(16) as u32];
        run(
            kernel,
            grid,
            [16, 16],
            0,
            &numbers(rows * cols),
            rows * cols,
            &[rows as u32, cols as u32],
        )
    };
    for (rows, cols) in [(1, 1), (1, 40), (40, 1), (16, 16), (17, 33), (31, 33)] {
        assert_eq!(
            run("stencil", rows, cols).clean(),
            sums(&numbers(rows * cols), rows, cols),
            "{rows}x{cols}"
        );
    }
    assert_ne!(run("stencil_origin", 40, 40).clean(), sums(&numbers(1600), 40, 40));
    run("stencil_halo", 40, 40).only(FindingKind::UninitializedShared);
}

#[test]
fn rows_of_odd_length_do_not_start_at_pairs() {
    let run = |kernel: &str, cols: usize| run(kernel, [1, 1], [32, 1], 0, &numbers(20 * cols), 20, &[20, cols as u32]);
    let broken = run("pairs", 7);
    let finding = broken.only(FindingKind::Misaligned);
    assert!(finding.site.instruction.contains(".v2."), "{finding:?}");
    for cols in [1, 7, 8] {
        let expected: Vec<f32> = numbers(20 * cols).chunks(cols).map(|row| row.iter().sum()).collect();
        assert_eq!(run("pairs_repaired", cols).clean(), expected);
    }
    run("pairs", 8).clean();
}
