//! Which block runs when.
//!
//! Blocks that cannot tell in which order they run, run side by side on several threads; should two of them turn out to
//! touch the same words, the launch is undone and they run one after the other. Blocks that can tell (through atomics,
//! flags, fences) run on one thread, in turns: as many as the card holds at once, each for a slice, so that a block may
//! wait for another. Either way the result does not depend on the number of threads.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::block::Block;
use super::context::{Context, Gathered, Stop};
use super::findings::{Detail, Record, Thread};
use super::lanes::lowest;
use super::ownership::MOST_CHUNKS;
use super::run::{Shell, Slice};
use crate::check::BlockCheck;
use crate::finding::FindingKind;

/// Warp instructions of a block's slice.
const SLICE: u64 = 1 << 15;
/// Rounds in which everybody spun and nothing changed, after which nobody ever will go on.
const QUIET_ROUNDS: u32 = 2_000;
/// The same for blocks in turns, where a round is longer.
const QUIET_TURNS: u32 = 200;
/// Slices of running blocks after which another one starts beside them.
const PATIENCE: u32 = 64;
/// Blocks that a worker takes at once, at most.
const CHUNK: u64 = 32;

/// Runs the blocks of a launch side by side on `workers` threads, or in order on this one.
pub(crate) fn apart(cx: &Context<'_>, blocks: u64, workers: usize) -> Gathered {
    let next = AtomicU64::new(0);
    let chunk = (blocks / (workers as u64 * 4))
        .clamp(1, CHUNK)
        .max(blocks.div_ceil(MOST_CHUNKS));
    let work = || {
        let mut gathered = Gathered::new(cx.kernel);
        let mut block = Block::new(cx);
        loop {
            let first = next.fetch_add(chunk, Relaxed);
            if first >= blocks {
                return gathered;
            }
            block.state.chunk = (first / chunk) as u16;
            for linear in first..(first + chunk).min(blocks) {
                if cx.conflict.load(Relaxed) {
                    return gathered;
                }
                if linear < cx.stop.load(Relaxed) {
                    to_its_end(cx, &mut block, linear, &mut gathered);
                }
            }
        }
    };
    if workers <= 1 {
        return work();
    }
    let all = Mutex::new(Gathered::new(cx.kernel));
    rayon::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|_| {
                let gathered = work();
                all.lock().unwrap_or_else(PoisonError::into_inner).merge(gathered);
            });
        }
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn to_its_end<'a>(cx: &'a Context<'a>, block: &mut Block, linear: u64, gathered: &mut Gathered) {
    block.start(cx, linear);
    let mut check = cx.check.as_ref().map(|c| c.start_block(linear as u32));
    let mut quiet = 0;
    let result = loop {
        let mut shell = Shell {
            cx,
            gathered,
            check: &mut check,
        };
        match block.slice(&mut shell, u64::MAX) {
            Ok(Slice::Done) => break Ok(()),
            Ok(Slice::Spins) => {
                quiet = if block.state.changed { 0 } else { quiet + 1 };
                if quiet >= QUIET_ROUNDS {
                    stuck(block, gathered);
                    break Ok(());
                }
            }
            Ok(Slice::Long) => {}
            Err(stop) => break Err(stop),
        }
    };
    end(cx, block, check, result, gathered);
}

/// Takes what a block leaves.
fn end(
    cx: &Context<'_>,
    block: &mut Block,
    check: Option<BlockCheck<'_>>,
    result: Result<(), Stop>,
    gathered: &mut Gathered,
) {
    if let Some(check) = check {
        check.finish();
    }
    let linear = block.state.linear;
    if !block.state.output.is_empty() {
        gathered.output.insert(linear, std::mem::take(&mut block.state.output));
    }
    match result {
        Ok(()) | Err(Stop::Over | Stop::Conflict) => {}
        Err(stop) => {
            cx.stop.fetch_min(linear, Relaxed);
            if gathered.failed.as_ref().is_none_or(|(first, _)| linear < *first) {
                gathered.failed = Some((linear, stop));
            }
        }
    }
}

/// Everybody spins on what nobody changes.
fn stuck(block: &Block, gathered: &mut Gathered) {
    let spinning = block
        .warps
        .iter()
        .enumerate()
        .find_map(|(w, warp)| Some((w, warp.groups.first()?)));
    if let Some((w, group)) = spinning {
        let thread = Thread {
            block: block.state.linear,
            thread: w as u32 * 32 + lowest(group.mask) as u32,
        };
        let mut record = Record::new(FindingKind::Deadlock, group.pc, thread);
        record.detail = Detail::Text("spins".into());
        gathered.findings.add(record);
    }
}

struct Resident<'a> {
    block: Block,
    check: Option<BlockCheck<'a>>,
}

/// Runs the blocks of a launch in turns, `most` of them at once.
pub(crate) fn in_turns<'a>(cx: &'a Context<'a>, blocks: u64, most: usize) -> Gathered {
    let mut gathered = Gathered::new(cx.kernel);
    let mut next = 0;
    let mut resident: VecDeque<Resident<'a>> = VecDeque::new();
    let mut spare: Vec<Block> = Vec::new();
    let (mut quiet, mut rounds, mut spun) = (0, 0, false);
    loop {
        // One more block starts when there is none, when one waits, and after a while anyhow.
        if next < blocks && resident.len() < most && (resident.is_empty() || spun || rounds >= PATIENCE) {
            rounds = 0;
            let mut block = spare.pop().unwrap_or_else(|| Block::new(cx));
            block.start(cx, next);
            let check = cx.check.as_ref().map(|c| c.start_block(next as u32));
            resident.push_front(Resident { block, check });
            next += 1;
        }
        if resident.is_empty() {
            return gathered;
        }
        let (mut ended, mut changed) = (false, false);
        (spun, rounds) = (false, rounds + 1);
        for _ in 0..resident.len() {
            let Some(mut one) = resident.pop_front() else { break };
            let mut shell = Shell {
                cx,
                gathered: &mut gathered,
                check: &mut one.check,
            };
            let result = match one.block.slice(&mut shell, SLICE) {
                Ok(Slice::Done) => Ok(()),
                Ok(Slice::Spins) => {
                    changed |= one.block.state.changed;
                    spun = true;
                    resident.push_back(one);
                    continue;
                }
                Ok(Slice::Long) => {
                    changed = true;
                    resident.push_back(one);
                    continue;
                }
                Err(stop) => Err(stop),
            };
            ended = true;
            let failed = matches!(
                result,
                Err(Stop::Unsupported { .. } | Stop::Fault { .. } | Stop::Steps { .. })
            );
            end(cx, &mut one.block, one.check, result, &mut gathered);
            if failed {
                return gathered;
            }
            spare.push(one.block);
        }
        let waits = next >= blocks || resident.len() >= most;
        quiet = if ended || changed || !waits { 0 } else { quiet + 1 };
        if quiet >= QUIET_TURNS {
            if let Some(one) = resident.iter().min_by_key(|r| r.block.state.linear) {
                stuck(&one.block, &mut gathered);
            }
            for mut one in resident.drain(..) {
                end(cx, &mut one.block, one.check, Ok(()), &mut gathered);
            }
            return gathered;
        }
    }
}
