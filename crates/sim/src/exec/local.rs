//! Local memory of a warp: 32-bit words in rows of 32 lanes, as registers are, since compilers mostly spill registers
//! there and every lane reads the same word of its own.

use super::lanes;

/// Most bytes of local memory that a thread can have, as on the hardware.
pub(crate) const LOCAL_LIMIT: u32 = 512 * 1024;

/// See the module's docs.
#[derive(Debug, Default)]
pub(crate) struct LocalMemory {
    words: Vec<[u32; 32]>,
    /// For each byte of a word, the lanes that have written it. Empty when nobody asks.
    written: Vec<[u32; 4]>,
    track: bool,
}

impl LocalMemory {
    /// Forgets everything; `track`: whether reads before writes will be asked for.
    pub(crate) fn reset(&mut self, bytes: u32, track: bool) {
        self.words.clear();
        self.written.clear();
        self.track = track;
        self.grow(bytes);
    }

    /// Makes room for `bytes` bytes per lane.
    pub(crate) fn grow(&mut self, bytes: u32) {
        let words = bytes.div_ceil(4) as usize;
        if words > self.words.len() {
            self.words.resize(words, [0; 32]);
            if self.track {
                self.written.resize(words, [0; 4]);
            }
        }
    }

    /// Bytes per lane.
    pub(crate) fn bytes(&self) -> u64 {
        4 * self.words.len() as u64
    }

    /// A new frame: its bytes count as not written for `mask`.
    pub(crate) fn forget(&mut self, from: u32, bytes: u32, mask: u32) {
        if self.track {
            let (from, to) = (from as usize / 4, (from + bytes).div_ceil(4) as usize);
            for word in &mut self.written[from..to] {
                word.iter_mut().for_each(|byte| *byte &= !mask);
            }
        }
    }

    /// Reads up to 8 bytes, little-endian; in bounds and not across an 8-byte boundary.
    #[inline]
    pub(crate) fn read(&self, lane: usize, at: usize, bytes: u32) -> u64 {
        let low = self.words[at / 4][lane];
        match bytes {
            1 => u64::from(low >> (8 * (at % 4)) & 0xff),
            2 => u64::from(low >> (8 * (at % 4)) & 0xffff),
            4 => u64::from(low),
            _ => u64::from(low) | u64::from(self.words[at / 4 + 1][lane]) << 32,
        }
    }

    /// Writes up to 8 bytes.
    #[inline]
    pub(crate) fn write(&mut self, lane: usize, at: usize, bytes: u32, value: u64) {
        let word = &mut self.words[at / 4][lane];
        let shift = 8 * (at % 4);
        match bytes {
            1 => *word = *word & !(0xff << shift) | (value as u32 & 0xff) << shift,
            2 => *word = *word & !(0xffff << shift) | (value as u32 & 0xffff) << shift,
            4 => *word = value as u32,
            _ => {
                *word = value as u32;
                self.words[at / 4 + 1][lane] = (value >> 32) as u32;
            }
        }
        if self.track {
            for i in at..at + bytes as usize {
                self.written[i / 4][i % 4] |= 1 << lane;
            }
        }
    }

    /// The word row at a multiple of 4 bytes.
    #[inline]
    pub(crate) fn row(&self, at: u32) -> &[u32; 32] {
        &self.words[at as usize / 4]
    }

    /// Writes the lanes of `mask` of a word row.
    #[inline]
    pub(crate) fn write_row(&mut self, at: u32, values: &[u32; 32], mask: u32) {
        let word = at as usize / 4;
        super::blend(&mut self.words[word], values, mask);
        if self.track {
            self.written[word].iter_mut().for_each(|byte| *byte |= mask);
        }
    }

    /// The lanes of `mask` that read a byte which nobody wrote, among `bytes` bytes at an offset of each.
    pub(crate) fn unwritten(&self, offsets: &[u64; 32], bytes: u32, mask: u32) -> u32 {
        if !self.track {
            return 0;
        }
        let mut missing = 0;
        for lane in lanes(mask) {
            let at = offsets[lane] as usize;
            if (at..at + bytes as usize).any(|i| self.written[i / 4][i % 4] >> lane & 1 == 0) {
                missing |= 1 << lane;
            }
        }
        missing
    }

    /// Copies `bytes` bytes from one offset to another, for the lanes of `mask`.
    pub(crate) fn copy(&mut self, from: u32, to: u32, bytes: u32, mask: u32) {
        let mut done = 0;
        while done < bytes {
            let row = *self.row(from + done);
            let left = bytes - done;
            if left >= 4 {
                self.write_row(to + done, &row, mask);
            } else {
                for lane in lanes(mask) {
                    for i in 0..left {
                        let value = u64::from(row[lane] >> (8 * i) & 0xff);
                        self.write(lane, (to + done + i) as usize, 1, value);
                    }
                }
            }
            done += 4;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_have_bytes_of_their_own() {
        let mut local = LocalMemory::default();
        local.reset(16, true);
        local.write(3, 5, 1, 0xab);
        local.write(4, 8, 8, 0x1122_3344_5566_7788);
        assert_eq!(local.read(3, 4, 4), 0xab00);
        assert_eq!(local.read(4, 4, 4), 0);
        assert_eq!(local.read(4, 8, 8), 0x1122_3344_5566_7788);
        assert_eq!(local.read(4, 14, 2), 0x1122);
    }

    #[test]
    fn bytes_that_nobody_wrote_are_told_by_lane() {
        let mut local = LocalMemory::default();
        local.reset(16, true);
        local.write_row(4, &[7; 32], 0xff);
        assert_eq!(local.unwritten(&[4; 32], 4, 0xfff), 0xf00);
        assert_eq!(local.unwritten(&[6; 32], 2, 0xff), 0);
        local.forget(0, 16, 1);
        assert_eq!(local.unwritten(&[4; 32], 4, 0xff), 1);
    }

    #[test]
    fn a_copy_of_an_odd_length_leaves_what_follows() {
        let mut local = LocalMemory::default();
        local.reset(32, false);
        local.write(0, 0, 8, 0x0102_0304_0506_0708);
        local.write(0, 16, 8, u64::MAX);
        local.copy(0, 16, 5, 1);
        assert_eq!(local.read(0, 16, 8), 0xffff_ff04_0506_0708);
    }
}
