//! What lanes tell each other: shuffles, votes, matches, cooperative groups.

use super::Case;
use super::run::{Run, close};

pub(crate) const CASES: &[Case] = &[
    ("warp_shuffles", shuffles),
    ("warp_shuffles_sm80", shuffles),
    ("warp_votes", votes),
    ("warp_votes_sm80", votes),
    ("warp_divergence", |run| {
        let expected: Vec<i32> = run.input::<i32>(0).into_iter().map(steps).collect();
        assert_eq!(run.output::<i32>(1), expected);
    }),
    ("warp_redux", redux),
    ("groups_reduce", |run| {
        let sum = run.input::<f32>(0).into_iter().map(f64::from).sum();
        close(&run.output::<f32>(1), &[sum], 1e-5, 0.0);
    }),
    ("groups_tiles", tiles),
];

fn shuffles(run: &Run) {
    let x = &run.input::<i32>(0)[..32];
    let mut expected = Vec::new();
    expected.extend((0..32).map(|t| x[(t * 7) & 31]));
    expected.extend((0..32).map(|t| x[if t >= 3 { t - 3 } else { t }]));
    expected.extend((0..32).map(|t| x[if t % 16 + 5 < 16 { t + 5 } else { t }]));
    expected.extend((0..32).map(|t| x[t ^ 9]));
    expected.extend((0..32).map(|t| x[t / 8 * 8 + 2]));
    expected.extend((0..32).map(|t| x[t ^ 1]));
    expected.extend((0..32).map(|t| t ^ 1));
    assert_eq!(run.output::<i32>(1), expected);
}

/// The mask of the lanes for which something holds.
fn mask(x: &[i32], holds: impl Fn(usize, i32) -> bool) -> u32 {
    x.iter()
        .enumerate()
        .filter(|&(t, &x)| holds(t, x))
        .map(|(t, _)| 1 << t)
        .sum()
}

fn votes(run: &Run) {
    let x = &run.input::<i32>(0)[..32];
    let odd = mask(x, |_, x| x & 1 != 0);
    let all = u32::from(x.iter().all(|&x| x >= 0))
        | u32::from(x.contains(&17)) << 1
        | u32::from(x.iter().any(|&x| x < 0)) << 2;
    let halves = [
        mask(x, |t, x| t < 12 && x & 2 != 0),
        mask(x, |t, x| t >= 12 && x & 4 != 0),
    ];
    let mut expected = vec![odd; 32];
    expected.extend([all; 32]);
    expected.extend((0..32).map(|t| mask(x, |_, other| other % 5 == x[t] % 5)));
    expected.extend([u32::MAX; 64]);
    expected.extend((0..32).map(|t| halves[usize::from(t >= 12)]));
    expected.extend((0..32).map(|t| (odd & ((1 << t) - 1)).count_ones()));
    assert_eq!(run.output::<u32>(1), expected);
}

fn steps(mut x: i32) -> i32 {
    let mut steps = 0;
    while x != 1 && steps < 100 {
        x = match (x & 1 != 0, x % 3 == 0) {
            (true, true) => x / 3 * 2 + 1,
            (true, false) => 3 * x + 1,
            (false, _) => x / 2,
        };
        steps += 1;
    }
    steps
}

fn redux(run: &Run) {
    let x = &run.input::<i32>(0)[..32];
    let group = |t: usize| x[t / 8 * 8..t / 8 * 8 + 8].iter();
    let mut expected: Vec<i32> = (0..32).map(|t| group(t).sum()).collect();
    expected.extend((0..32).map(|t| group(t).copied().max().unwrap_or(0)));
    expected.extend([x.iter().copied().min().unwrap_or(0); 32]);
    expected.extend([x.iter().fold(0, |a, b| a ^ b); 32]);
    assert_eq!(run.output::<i32>(1), expected);
}

fn tiles(run: &Run) {
    let x = &run.input::<i32>(0)[..64];
    let mut expected = Vec::new();
    for t in 0..64 {
        let eight = &x[t / 8 * 8..t / 8 * 8 + 8];
        let warp = &x[t / 32 * 32..t / 32 * 32 + 32];
        let active: Vec<usize> = (0..32).filter(|&lane| warp[lane] % 3 == 0).collect();
        let rank = active.iter().position(|&lane| lane == t % 32);
        expected.push(eight[..t % 8].iter().sum());
        expected.push(eight.iter().copied().max().unwrap_or(0));
        expected.push(x[t / 4 * 4 + (t + 1) % 4]);
        expected.push(rank.map_or(-1, |rank| (rank * 100 + active.len()) as i32));
    }
    assert_eq!(run.output::<i32>(1), expected);
}
