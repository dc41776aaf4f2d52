//! A block: its warps, its shared memory, its barriers.

use super::barrier::Barriers;
use super::context::Context;
use super::warp::Warp;
use crate::decode::operands::{FALSE, TRUE};
use crate::registers::{PredSlot, Slot};
use tile33_ptx::SpecialRegister;

/// A block without its warps.
#[derive(Debug, Default)]
pub(crate) struct BlockState {
    /// `blockIdx`.
    pub(crate) index: [u32; 3],
    /// Linear index in the grid.
    pub(crate) linear: u64,
    /// The chunk of neighbours that run one after the other.
    pub(crate) chunk: u16,
    pub(crate) shared: Vec<u8>,
    pub(crate) barriers: Barriers,
    /// Warp instructions so far.
    pub(crate) steps: u64,
    /// Whether something changed that another thread can see, since the mark was taken back.
    pub(crate) effect: bool,
    /// Whether something was looked at that another thread may change.
    pub(crate) watched: bool,
    /// Whether anything changed, or time was asked for, since the block's slice began.
    pub(crate) changed: bool,
    /// Live lanes by warp, for the barriers.
    pub(crate) live: Vec<u32>,
    /// What the block printed.
    pub(crate) output: Vec<u8>,
}

/// A block and its warps; reused from block to block.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) warps: Vec<Warp>,
    pub(crate) state: BlockState,
    /// The warp whose turn it is.
    pub(crate) next: usize,
}

impl Block {
    /// Room for any block of the launch.
    pub(crate) fn new(cx: &Context<'_>) -> Self {
        let warps = cx.threads.div_ceil(32);
        let mut block = Self {
            warps: (0..warps).map(|_| Warp::new(cx.registers.clone())).collect(),
            state: BlockState {
                shared: vec![0; cx.shared_bytes as usize],
                ..BlockState::default()
            },
            next: 0,
        };
        for (w, warp) in (0u32..).zip(&mut block.warps) {
            for (slot, special) in &cx.kernel.pools.specials {
                let value = |lane: u32| -> Option<u32> {
                    let thread = w * 32 + lane;
                    Some(match special.register {
                        SpecialRegister::Tid => match special.component {
                            0 => thread % cx.block[0],
                            1 => thread / cx.block[0] % cx.block[1],
                            _ => thread / cx.block[0] / cx.block[1],
                        },
                        SpecialRegister::WarpId => w,
                        SpecialRegister::LaneId => lane,
                        SpecialRegister::LanemaskEq => 1 << lane,
                        SpecialRegister::LanemaskLe => (2u32 << lane).wrapping_sub(1),
                        SpecialRegister::LanemaskLt => (1 << lane) - 1,
                        SpecialRegister::LanemaskGe => u32::MAX << lane,
                        SpecialRegister::LanemaskGt => (u32::MAX << lane) << 1,
                        _ => return None,
                    })
                };
                let lanes: Option<Vec<u32>> = (0..32).map(value).collect();
                if let Some(lanes) = lanes {
                    fill(warp, *slot, special.wide, |lane| lanes[lane].into());
                }
            }
        }
        block
    }

    /// Starts block number `linear`.
    pub(crate) fn start(&mut self, cx: &Context<'_>, linear: u64) {
        let [x, y, _] = cx.grid.map(u64::from);
        let index = [(linear % x) as u32, (linear / x % y) as u32, (linear / x / y) as u32];
        let state = &mut self.state;
        (state.index, state.linear) = (index, linear);
        state.shared.fill(0);
        state.barriers.reset(self.warps.len());
        state.steps = 0;
        (state.effect, state.watched) = (false, false);
        state.output.clear();
        state.live.clear();
        self.next = 0;
        for (w, warp) in (0u32..).zip(&mut self.warps) {
            let left = cx.threads - w * 32;
            let valid = if left >= 32 { u32::MAX } else { (1 << left) - 1 };
            warp.start(valid, cx.kernel.functions[0].entry);
            state.live.push(valid);
            for &row in &cx.kernel.zeroed {
                *warp.regs.r32_mut(Slot(row)) = [0; 32];
            }
            for p in 0..cx.kernel.pools.predicates {
                *warp.regs.pred_mut(PredSlot(p)) = 0;
            }
            *warp.regs.pred_mut(TRUE) = u32::MAX;
            *warp.regs.pred_mut(FALSE) = 0;
            warp.local.reset(cx.kernel.functions[0].frame_bytes, cx.track_local);
            for (slot, special) in &cx.kernel.pools.specials {
                let value = match special.register {
                    SpecialRegister::CtaId | SpecialRegister::ClusterId => {
                        u64::from(index.get(special.component as usize).copied().unwrap_or(0))
                    }
                    // Blocks are dealt to multiprocessors in turn, so that the answer is the same from run to run.
                    SpecialRegister::SmId => linear % u64::from(cx.multiprocessors),
                    _ => continue,
                };
                fill(warp, *slot, special.wide, |_| value);
            }
        }
    }

    /// Whether every thread has exited.
    pub(crate) fn is_done(&self) -> bool {
        self.warps.iter().all(|w| w.live() == 0)
    }
}

fn fill(warp: &mut Warp, slot: Slot, wide: bool, value: impl Fn(usize) -> u64) {
    for lane in 0..32 {
        if wide {
            warp.regs.r64_mut(slot)[lane] = value(lane);
        } else {
            warp.regs.r32_mut(slot)[lane] = value(lane) as u32;
        }
    }
}
