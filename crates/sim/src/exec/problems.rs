//! Accesses that cannot be made: what kind of mistake each is.

use super::access::{At, window_of};
use super::context::Machine;
use super::findings::{Detail, Record};
use super::lanes::lanes;
use crate::decode::ops::MemSpace;
use crate::finding::FindingKind;
use crate::memory::SHARED_BASE;

impl Machine<'_, '_> {
    /// The lanes of `here` access `bytes` bytes outside of `size` bytes of a space, or not aligned to `align`.
    #[cold]
    pub(crate) fn bad_access(&mut self, here: At, at: &[u64; 32], bytes: u32, align: u32, space: MemSpace, size: u64) {
        for lane in lanes(here.mask) {
            // Shared memory was given as offsets from the first variable.
            let address = if space == MemSpace::Shared {
                at[lane].wrapping_add(SHARED_BASE)
            } else {
                at[lane]
            };
            let (kind, detail) = self.kind_of(address, at[lane], bytes, align, space, size);
            let mut record = Record::new(kind, here.pc, self.thread(here.warp, lane));
            record.space = space;
            record.address = Some(address);
            record.bytes = bytes;
            record.frame = here.fp;
            record.detail = detail;
            self.gathered.findings.add(record);
        }
    }

    fn kind_of(
        &self,
        address: u64,
        offset: u64,
        bytes: u32,
        align: u32,
        space: MemSpace,
        size: u64,
    ) -> (FindingKind, Detail) {
        let text = |text: &str| Detail::Text(text.to_owned());
        let shared = |address: u64| address.wrapping_sub(SHARED_BASE) < u64::from(self.cx.shared_bytes);
        match space {
            MemSpace::Global | MemSpace::Generic => {
                if let Some(freed) = self.cx.memory.freed_at(address) {
                    return (FindingKind::UseAfterFree, Detail::Freed(freed.label.clone()));
                }
                let heap = self.cx.heap.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if let Some(freed) = heap.freed_at(address) {
                    return (FindingKind::UseAfterFree, Detail::Freed(freed.label.clone()));
                }
                let inside = heap.find(address).map(|a| (a.base, a.data.len()));
                drop(heap);
                let live = match self.cx.memory.place(address) {
                    super::global::Place::Live(_, a) => Some((a.base, a.data.len())),
                    _ => inside,
                };
                if let Some((base, len)) = live
                    && address - base + u64::from(bytes) <= len as u64
                {
                    return (FindingKind::Misaligned, Detail::None);
                }
                if shared(address) {
                    let detail = "the address is one within shared memory, but the access is not to shared memory: \
                                  the conversion to a generic address (cvta.shared) is missing";
                    return (FindingKind::AddressSpace, text(detail));
                }
                match window_of(address).0 {
                    MemSpace::Global => (FindingKind::OutOfBounds, Detail::None),
                    other => {
                        let detail = format!("the address is in the generic window of {} memory", name(other));
                        (FindingKind::AddressSpace, Detail::Text(detail))
                    }
                }
            }
            _ => {
                let fits = offset.checked_add(u64::from(bytes)).is_some_and(|end| end <= size);
                if fits && !offset.is_multiple_of(u64::from(align)) {
                    return (FindingKind::Misaligned, Detail::None);
                }
                match window_of(address).0 {
                    MemSpace::Global if space == MemSpace::Shared && self.is_live(address) => (
                        FindingKind::AddressSpace,
                        text("the address is one of global memory, but the access is to shared memory"),
                    ),
                    MemSpace::Global => (FindingKind::OutOfBounds, Detail::None),
                    window => {
                        let detail = format!(
                            "a generic address of {} memory, used without the conversion (cvta.to.{})",
                            name(window),
                            name(space)
                        );
                        (FindingKind::AddressSpace, Detail::Text(detail))
                    }
                }
            }
        }
    }

    fn is_live(&self, address: u64) -> bool {
        matches!(self.cx.memory.place(address), super::global::Place::Live(..))
    }

    /// An access to a space that it cannot be made to.
    #[cold]
    pub(crate) fn wrong_space(&mut self, here: At, at: &[u64; 32], bytes: u32, space: MemSpace, why: &str) {
        for lane in lanes(here.mask) {
            let mut record = Record::new(FindingKind::AddressSpace, here.pc, self.thread(here.warp, lane));
            record.space = space;
            record.address = Some(at[lane]);
            record.bytes = bytes;
            record.frame = here.fp;
            record.detail = Detail::Text(format!("the address is in {} memory; {why}", name(space)));
            self.gathered.findings.add(record);
        }
    }

    /// Lanes leave the declared arrays of dynamic shared memory, or the one that the other lanes are in.
    #[cold]
    pub(crate) fn stray(&mut self, here: At, at: &[u64; 32], bytes: u32) {
        for lane in lanes(here.mask) {
            let mut record = Record::new(FindingKind::OutOfBounds, here.pc, self.thread(here.warp, lane));
            record.space = MemSpace::Shared;
            record.address = Some(at[lane].wrapping_add(SHARED_BASE));
            record.bytes = bytes;
            record.frame = here.fp;
            record.detail = Detail::Text("it leaves the array that the instruction's other lanes access".into());
            self.gathered.findings.add(record);
        }
    }

    /// Lanes execute an instruction without being in the member mask that they give.
    #[cold]
    pub(crate) fn not_a_member(&mut self, warp: u32, pc: u32, mask: u32, members: u32) {
        for lane in lanes(mask) {
            let mut record = Record::new(FindingKind::DivergentBarrier, pc, self.thread(warp, lane));
            record.detail = Detail::Members(members);
            self.gathered.findings.add(record);
        }
    }

    /// Local memory read before it was written.
    #[cold]
    pub(crate) fn unwritten_local(&mut self, here: At, at: &[u64; 32], bytes: u32) {
        for lane in lanes(here.mask) {
            let mut record = Record::new(FindingKind::UninitializedLocal, here.pc, self.thread(here.warp, lane));
            record.space = MemSpace::Local;
            record.address = Some(at[lane]);
            record.bytes = bytes;
            record.frame = here.fp;
            self.gathered.findings.add(record);
        }
    }
}

/// A space as a sentence names it.
pub(crate) fn name(space: MemSpace) -> &'static str {
    match space {
        MemSpace::Generic => "generic",
        MemSpace::Global => "global",
        MemSpace::Shared => "shared",
        MemSpace::Local => "local",
        MemSpace::Const => "const",
        MemSpace::Param => "param",
    }
}
