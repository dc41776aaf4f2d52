//! A warp's registers: rows of 32 lanes, so that one instruction is a loop which the compiler vectorises.
//!
//! A [`Slot`] is an offset in units of one 32-bit row. A 16- or 32-bit register takes one row (16-bit and 8-bit values
//! sit zero-extended in it), a 64-bit one two (viewed as `[u64; 32]`), a 128-bit one four. Predicates are lane masks and
//! live apart. Immediates are rows too, filled once when the warp is made, so an operand is always a slot.

/// Lanes of a warp.
pub const LANES: usize = 32;

/// First row of a register, see the module's docs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(pub u32);

/// Index of a predicate register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PredSlot(pub u32);

/// The registers of one warp.
#[derive(Clone, Debug)]
pub struct Registers {
    rows: Vec<Row>,
    predicates: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Row([u32; LANES]);

impl Registers {
    /// All zero: `rows` 32-bit rows and `predicates` predicates.
    pub fn new(rows: usize, predicates: usize) -> Self {
        Self {
            rows: vec![Row([0; LANES]); rows],
            predicates: vec![0; predicates],
        }
    }

    /// A 16- or 32-bit register.
    #[inline]
    pub fn r32(&self, slot: Slot) -> &[u32; LANES] {
        &self.rows[slot.0 as usize].0
    }

    /// A 16- or 32-bit register, to write.
    #[inline]
    pub fn r32_mut(&mut self, slot: Slot) -> &mut [u32; LANES] {
        &mut self.rows[slot.0 as usize].0
    }

    /// A 64-bit register.
    #[inline]
    pub fn r64(&self, slot: Slot) -> &[u64; LANES] {
        let rows = &self.rows[slot.0 as usize..slot.0 as usize + 2];
        // SAFETY: two rows are 256 contiguous bytes, aligned to 64, and every bit pattern is a u64.
        unsafe { &*rows.as_ptr().cast() }
    }

    /// A 64-bit register, to write.
    #[inline]
    pub fn r64_mut(&mut self, slot: Slot) -> &mut [u64; LANES] {
        let rows = &mut self.rows[slot.0 as usize..slot.0 as usize + 2];
        // SAFETY: as in `r64`, and the borrow is unique.
        unsafe { &mut *rows.as_mut_ptr().cast() }
    }

    /// A 128-bit register.
    #[inline]
    pub fn r128(&self, slot: Slot) -> &[u128; LANES] {
        let rows = &self.rows[slot.0 as usize..slot.0 as usize + 4];
        // SAFETY: four rows are 512 contiguous bytes, aligned to 64, and every bit pattern is a u128.
        unsafe { &*rows.as_ptr().cast() }
    }

    /// A 128-bit register, to write.
    #[inline]
    pub fn r128_mut(&mut self, slot: Slot) -> &mut [u128; LANES] {
        let rows = &mut self.rows[slot.0 as usize..slot.0 as usize + 4];
        // SAFETY: as in `r128`, and the borrow is unique.
        unsafe { &mut *rows.as_mut_ptr().cast() }
    }

    /// A predicate, as a mask of lanes.
    #[inline]
    pub fn pred(&self, slot: PredSlot) -> u32 {
        self.predicates[slot.0 as usize]
    }

    /// A predicate, to write. Inactive lanes' bits must be kept.
    #[inline]
    pub fn pred_mut(&mut self, slot: PredSlot) -> &mut u32 {
        &mut self.predicates[slot.0 as usize]
    }
}
