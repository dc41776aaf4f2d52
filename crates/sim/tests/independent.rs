//! Lanes of one warp make progress on their own: what needs that must not hang, and must compute what it says.
mod common;
use common::{module, run, run_module};

#[test]
fn a_spin_lock_taken_by_every_lane_of_a_warp_is_passed_on() {
    // The critical section follows the loop, so the lane that has the lock is the one that left the loop.
    let ran = run(
        "LOOP: atom.global.cas.b32 %r1, [%p0], 0, 1; setp.ne.u32 %q1, %r1, 0; @%q1 bra LOOP;
         membar.gl;
         ld.volatile.global.u32 %r2, [%p0+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%p0+4], %r2;
         membar.gl;
         atom.global.exch.b32 %r3, [%p0], 0;",
        1,
        64,
        2,
    )
    .clean();
    assert_eq!(ran.out, [0, 64]);
}

#[test]
fn a_spin_lock_with_the_work_inside_the_loop_is_passed_on() {
    let ran = run(
        "mov.u32 %r9, 0;
         LOOP: setp.ne.u32 %q3, %r9, 0; @%q3 bra DONE;
         atom.global.acquire.gpu.cas.b32 %r1, [%p0], 0, 1; setp.ne.u32 %q1, %r1, 0; @%q1 bra LOOP;
         ld.global.u32 %r2, [%p0+4]; add.u32 %r2, %r2, 1; st.global.u32 [%p0+4], %r2;
         atom.global.release.gpu.exch.b32 %r3, [%p0], 0; mov.u32 %r9, 1; bra LOOP;
         DONE:",
        2,
        96,
        2,
    )
    .clean();
    assert_eq!(ran.out, [0, 192]);
}

#[test]
fn a_consumer_lane_sees_what_a_producer_lane_of_its_warp_writes() {
    // Lane 0 waits for lane 31, whose branch comes later in the code.
    let ran = run(
        "mov.u32 %r1, %tid.x; setp.eq.u32 %q1, %r1, 31; @%q1 bra PRODUCE;
         setp.ne.u32 %q2, %r1, 0; @%q2 bra END;
         WAIT: ld.acquire.gpu.global.u32 %r2, [%p0]; setp.eq.u32 %q3, %r2, 0; @%q3 bra WAIT;
         ld.global.u32 %r3, [%p0+8]; add.u32 %r3, %r3, 1; st.global.u32 [%p0+4], %r3; bra END;
         PRODUCE: mov.u32 %r4, 41; st.global.u32 [%p0+8], %r4; mov.u32 %r5, 1; st.release.gpu.global.u32 [%p0], %r5;
         END:",
        1,
        32,
        3,
    )
    .clean();
    assert_eq!(ran.out[1], 42);
}

#[test]
fn bar_warp_sync_is_reached_from_divergent_paths() {
    let ran = run_module(
        &module(
            "",
            1,
            ".shared .u32 s[32];
             mov.u32 %r1, %tid.x; mov.u32 %r3, s; shl.b32 %r4, %r1, 2; add.u32 %r5, %r3, %r4;
             setp.lt.u32 %q1, %r1, 16; @%q1 bra LOW;
             st.shared.u32 [%r5], %r1; bar.warp.sync 0xffffffff; bra JOIN;
             LOW: add.u32 %r6, %r1, 1000; st.shared.u32 [%r5], %r6; bar.warp.sync -1;
             JOIN: xor.b32 %r7, %r4, 64; add.u32 %r8, %r3, %r7; ld.shared.u32 %r9, [%r8];
             cvt.u64.u32 %d1, %r4; add.u64 %d2, %p0, %d1; st.global.u32 [%d2], %r9;",
        ),
        1,
        32,
        32,
    )
    .clean();
    let expected: Vec<u32> = (0..32).map(|t| if t < 16 { t + 16 } else { t - 16 + 1000 }).collect();
    assert_eq!(ran.out, expected);
}

#[test]
fn a_shuffle_reached_by_two_instructions_exchanges_across_them() {
    let ran = run(
        "mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 100; add.u32 %r3, %r1, 200;
         setp.lt.u32 %q1, %r1, 16; @%q1 bra LOW;
         shfl.sync.bfly.b32 %r10, %r2, 16, 31, -1; bra JOIN;
         LOW: shfl.sync.bfly.b32 %r11, %r3, 16, 31, -1; mov.u32 %r10, %r11;
         JOIN: mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p0, %d1; st.global.u32 [%d2], %r10;",
        1,
        32,
        32,
    )
    .clean();
    let expected: Vec<u32> = (0..32)
        .map(|t| if t < 16 { t + 16 + 100 } else { t - 16 + 200 })
        .collect();
    assert_eq!(ran.out, expected);
}

#[test]
fn lanes_with_different_member_masks_vote_among_themselves() {
    // Quarter-warps as groups: each lane names its own quarter.
    let ran = run(
        "mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 3; shl.b32 %r3, %r2, 3; mov.u32 %r4, 0xff; shl.b32 %r5, %r4, %r3;
         and.b32 %r6, %r1, 1; setp.eq.u32 %q1, %r6, 0;
         vote.sync.ballot.b32 %r10, %q1, %r5;
         mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p0, %d1; st.global.u32 [%d2], %r10;",
        1,
        32,
        32,
    )
    .clean();
    let expected: Vec<u32> = (0..32).map(|t| 0x55 << (8 * (t / 8))).collect();
    assert_eq!(ran.out, expected);
}

#[test]
fn a_sync_mask_that_names_exited_lanes_does_not_wait_for_them() {
    let ran = run(
        "mov.u32 %r1, %tid.x; setp.ge.u32 %q1, %r1, 8; @%q1 exit;
         shfl.sync.down.b32 %r10, %r1, 1, 31, -1; bar.warp.sync -1;
         mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p0, %d1; st.global.u32 [%d2], %r10;",
        1,
        32,
        32,
    )
    .clean();
    assert_eq!(ran.out[..7], [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn lanes_part_in_a_loop_of_shuffles_and_still_agree() {
    // A sum over lanes that each take the loop a different number of times, with the mask of those still in it.
    let ran = run(
        "mov.u32 %r1, %tid.x; mov.u32 %r10, 0; mov.u32 %r3, 0; mov.u32 %r8, -1;
         LOOP: setp.lt.u32 %q1, %r3, %r1; vote.sync.ballot.b32 %r9, %q1, %r8; @!%q1 bra DONE;
         mov.u32 %r8, %r9; popc.b32 %r11, %r9; add.u32 %r10, %r10, %r11; add.u32 %r3, %r3, 1; bra LOOP;
         DONE: mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %p0, %d1; st.global.u32 [%d2], %r10;",
        1,
        32,
        32,
    )
    .clean();
    let expected: Vec<u32> = (0..32).map(|t| (0..t).map(|i| 31 - i).sum()).collect();
    assert_eq!(ran.out, expected);
}
