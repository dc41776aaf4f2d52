//! Runs one or a few instructions on rows of operands, and makes operands worth running them on.

use std::collections::HashMap;

use tile33_ptx::ast::{Body, Operand, RegId, Type};
use tile33_sim::alu::{self, Alu, Operands, Unsupported};
use tile33_sim::registers::{LANES, PredSlot, Registers, Slot};

#[path = "../support/operands.rs"]
mod operands;

use operands::low;
pub(crate) use operands::{Random, float_edges, float_shape, integer_edges, random_float};

/// Instructions with named operands, ready to run.
pub(crate) struct Op {
    code: String,
    alus: Vec<Alu>,
    ins: Vec<Place>,
    outs: Vec<Place>,
    fill: Vec<(Slot, Type, u128)>,
    true_predicates: Vec<PredSlot>,
    /// The same instruction with its first destination in the rows of one of its sources.
    sharing: Vec<Op>,
    rows: usize,
    predicates: usize,
}

#[derive(Clone, Copy)]
enum Place {
    Value(Slot, u32),
    Predicate(PredSlot),
}

/// The decoder's part, as small as it can be.
struct Layout<'a> {
    body: &'a Body,
    slots: HashMap<(RegId, u8), Slot>,
    predicates: HashMap<RegId, PredSlot>,
    fill: Vec<(Slot, Type, u128)>,
    true_predicates: Vec<PredSlot>,
    rows: u32,
    predicate_count: u32,
    /// A destination and the source whose first row it shares.
    shared: Option<(RegId, RegId)>,
}

impl Layout<'_> {
    fn rows(&mut self, ty: Type) -> Slot {
        let slot = Slot(self.rows);
        self.rows += ty.bytes().div_ceil(4);
        slot
    }

    fn register(&mut self, id: RegId, component: u8) -> Slot {
        if let Some(slot) = self.slots.get(&(id, component)) {
            return *slot;
        }
        let ty = self.body.registers[id.0 as usize].ty;
        let slot = match self.shared {
            Some((d, a)) if id == d || id == a => {
                let other = self.body.registers[if id == d { a } else { d }.0 as usize].ty;
                let slot = self.rows(if ty.bytes() > other.bytes() { ty } else { other });
                self.slots.extend([((d, 0), slot), ((a, 0), slot)]);
                slot
            }
            _ => self.rows(ty),
        };
        self.slots.insert((id, component), slot);
        slot
    }

    fn predicate(&mut self, id: RegId) -> PredSlot {
        let next = PredSlot(self.predicate_count);
        let slot = *self.predicates.entry(id).or_insert(next);
        if slot == next {
            self.predicate_count += 1;
        }
        slot
    }
}

impl Operands for Layout<'_> {
    fn source(&mut self, operand: &Operand, ty: Type) -> Result<Slot, Unsupported> {
        match operand {
            Operand::Register(id, component) => Ok(self.register(*id, component.unwrap_or(0))),
            _ => match alu::immediate(operand, ty) {
                Some(bits) => Ok(self.constant(bits, ty)),
                None => Err(Unsupported::because("an operand that these tests do not have")),
            },
        }
    }

    fn dest(&mut self, operand: &Operand, ty: Type) -> Result<Slot, Unsupported> {
        match operand {
            Operand::Register(id, component) => Ok(self.register(*id, component.unwrap_or(0))),
            Operand::Sink => Ok(self.rows(ty)),
            _ => Err(Unsupported::because("no register as a destination")),
        }
    }

    fn pred_source(&mut self, operand: &Operand) -> Result<(PredSlot, bool), Unsupported> {
        match operand {
            Operand::Register(id, _) => Ok((self.predicate(*id), false)),
            Operand::NotPredicate(id) => Ok((self.predicate(*id), true)),
            Operand::Integer(value) => {
                let slot = PredSlot(self.predicate_count);
                self.predicate_count += 1;
                self.true_predicates.push(slot);
                Ok((slot, *value == 0))
            }
            _ => Err(Unsupported::because("no predicate")),
        }
    }

    fn pred_dest(&mut self, operand: &Operand) -> Result<PredSlot, Unsupported> {
        match operand {
            Operand::Register(id, _) => Ok(self.predicate(*id)),
            _ => {
                self.predicate_count += 1;
                Ok(PredSlot(self.predicate_count - 1))
            }
        }
    }

    fn declared(&self, operand: &Operand) -> Option<Type> {
        match operand {
            Operand::Register(id, _) => Some(self.body.registers[id.0 as usize].ty),
            _ => None,
        }
    }

    fn vector_len(&self, operand: &Operand) -> u8 {
        match operand {
            Operand::Register(id, None) => self.body.registers[id.0 as usize].vector.max(1),
            _ => 1,
        }
    }

    fn constant(&mut self, bits: u128, ty: Type) -> Slot {
        let slot = self.rows(ty);
        self.fill.push((slot, ty, bits));
        slot
    }

    fn carry(&mut self) -> PredSlot {
        // Above every id that a body has.
        self.predicate(RegId(u32::MAX))
    }
}

impl Op {
    /// `outs` and `ins` are lists like `b32 d, pred p`; `code` uses those names.
    pub(crate) fn new(outs: &str, ins: &str, code: &str) -> Self {
        match Self::lowered(outs, ins, code) {
            Ok(op) => op,
            Err(error) => panic!("{code}: {error}"),
        }
    }

    /// The same, where lowering may fail.
    pub(crate) fn lowered(outs: &str, ins: &str, code: &str) -> Result<Self, Unsupported> {
        let mut op = Self::placed(outs, ins, code, None)?;
        // Where registers' lives do not overlap, a decoder lets them share rows: the first destination with each source.
        if op.alus.len() == 1 && matches!(op.outs[0], Place::Value(..)) {
            for i in 0..op.ins.len() {
                if matches!(op.ins[i], Place::Value(..)) {
                    op.sharing.push(Self::placed(outs, ins, code, Some(i))?);
                }
            }
        }
        Ok(op)
    }

    fn placed(outs: &str, ins: &str, code: &str, shared: Option<usize>) -> Result<Self, Unsupported> {
        let names = |list: &str| -> Vec<(String, String)> {
            list.split(',')
                .filter_map(|item| item.trim().split_once(' '))
                .map(|(ty, name)| (ty.to_owned(), name.to_owned()))
                .collect()
        };
        let (outs, ins) = (names(outs), names(ins));
        let declared: String = outs
            .iter()
            .chain(&ins)
            .map(|(ty, name)| format!(".reg .{} {name};\n", ty.replace('.', " .")))
            .collect();
        let text = format!(
            ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{{\n{declared}{code}\nret;\n}}\n"
        );
        let module = tile33_ptx::parse(&text).unwrap_or_else(|error| panic!("{code}: {error}"));
        let body = module.functions[0].body.as_ref().expect("a body");
        let mut layout = Layout {
            body,
            slots: HashMap::new(),
            predicates: HashMap::new(),
            fill: Vec::new(),
            true_predicates: Vec::new(),
            rows: 0,
            predicate_count: 0,
            shared: shared.map(|i| {
                let id = |name: &str| {
                    body.registers
                        .iter()
                        .position(|r| r.name == name)
                        .expect("a declared register")
                };
                (RegId(id(&outs[0].1) as u32), RegId(id(&ins[i].1) as u32))
            }),
        };
        let mut alus = Vec::new();
        for instruction in &body.instructions[..body.instructions.len() - 1] {
            alus.push(alu::lower(instruction, &mut layout)?.unwrap_or_else(|| panic!("{code} is no ALU instruction")));
        }
        let mut place = |(_, name): &(String, String)| {
            let at = body
                .registers
                .iter()
                .position(|r| r.name == *name)
                .expect("a declared register");
            let id = RegId(at as u32);
            match body.registers[at].ty {
                Type::Pred => Place::Predicate(layout.predicate(id)),
                ty => Place::Value(layout.register(id, 0), ty.bytes()),
            }
        };
        let (outs, ins) = (
            outs.iter().map(&mut place).collect(),
            ins.iter().map(&mut place).collect(),
        );
        Ok(Self {
            code: code.to_owned(),
            alus,
            ins,
            outs,
            fill: layout.fill,
            true_predicates: layout.true_predicates,
            sharing: Vec::new(),
            rows: layout.rows as usize,
            predicates: layout.predicate_count as usize,
        })
    }

    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    fn put(regs: &mut Registers, place: Place, lane: usize, value: u128) {
        match place {
            Place::Value(slot, 8) => regs.r64_mut(slot)[lane] = value as u64,
            Place::Value(slot, 16) => regs.r128_mut(slot)[lane] = value,
            Place::Value(slot, _) => regs.r32_mut(slot)[lane] = value as u32,
            Place::Predicate(slot) => {
                let p = regs.pred_mut(slot);
                *p = (*p & !(1 << lane)) | ((value as u32 & 1) << lane);
            }
        }
    }

    fn get(regs: &Registers, place: Place, lane: usize) -> u128 {
        match place {
            Place::Value(slot, 8) => regs.r64(slot)[lane].into(),
            Place::Value(slot, 16) => regs.r128(slot)[lane],
            Place::Value(slot, _) => regs.r32(slot)[lane].into(),
            Place::Predicate(slot) => (regs.pred(slot) >> lane & 1).into(),
        }
    }

    /// One warp: `inputs[lane]` has a value for each input; the same of the outputs. Lanes outside `active` keep what
    /// their destinations held before, which is checked.
    pub(crate) fn warp(&self, active: u32, inputs: &[Vec<u128>]) -> Vec<Vec<u128>> {
        let mut regs = Registers::new(self.rows, self.predicates);
        for (slot, ty, bits) in &self.fill {
            for lane in 0..LANES {
                Self::put(&mut regs, Place::Value(*slot, ty.bytes().max(4)), lane, *bits);
            }
        }
        for slot in &self.true_predicates {
            *regs.pred_mut(*slot) = u32::MAX;
        }
        let before = |lane: usize, place: Place| match place {
            Place::Value(_, bytes) => (0x5a5a_1234 + lane as u128) & ((1 << (8 * bytes.min(4))) - 1),
            Place::Predicate(_) => lane as u128 & 1,
        };
        for lane in 0..LANES {
            for out in &self.outs {
                Self::put(&mut regs, *out, lane, before(lane, *out));
            }
        }
        for lane in 0..LANES {
            if let Some(values) = inputs.get(lane) {
                for (place, value) in self.ins.iter().zip(values) {
                    Self::put(&mut regs, *place, lane, *value);
                }
            }
        }
        for alu in &self.alus {
            alu.execute(&mut regs, active);
        }
        let outs = |lane: usize| -> Vec<u128> { self.outs.iter().map(|out| Self::get(&regs, *out, lane)).collect() };
        for lane in (0..LANES).filter(|lane| active >> lane & 1 == 0) {
            for (out, place) in outs(lane).iter().zip(&self.outs) {
                assert_eq!(
                    *out,
                    before(lane, *place),
                    "{}: inactive lane {lane} was written",
                    self.code
                );
            }
        }
        (0..LANES).map(outs).collect()
    }

    /// Any number of independent operands, a lane each; run with all lanes and again with some, which must agree.
    pub(crate) fn all(&self, inputs: &[Vec<u128>]) -> Vec<Vec<u128>> {
        let mut results = Vec::with_capacity(inputs.len());
        for (i, chunk) in inputs.chunks(LANES).enumerate() {
            let full = if chunk.len() == LANES {
                u32::MAX
            } else {
                (1 << chunk.len()) - 1
            };
            let outs = self.warp(full, chunk);
            if i < 3 && full == u32::MAX {
                for op in &self.sharing {
                    assert_eq!(
                        op.warp(full, chunk),
                        outs,
                        "{}: with a destination in a source's rows",
                        self.code
                    );
                }
            }
            let some = full & 0xa6c3_591eu32.rotate_left(i as u32);
            let partial = self.warp(some, chunk);
            for lane in (0..chunk.len()).filter(|lane| some >> lane & 1 == 1) {
                assert_eq!(
                    partial[lane], outs[lane],
                    "{}: lane {lane} of mask {some:#x}",
                    self.code
                );
            }
            results.extend(outs.into_iter().take(chunk.len()));
        }
        results
    }

    /// Compares the first output with `expected` on every row of operands.
    pub(crate) fn check(&self, inputs: &[Vec<u128>], expected: impl Fn(&[u128]) -> u128) {
        let outs = self.all(inputs);
        for (x, out) in inputs.iter().zip(&outs) {
            let want = expected(x);
            assert_eq!(
                out[0], want,
                "{} of {x:#x?}: {:#x}, expected {want:#x}",
                self.code, out[0]
            );
        }
    }
}

/// Rows of edges and random values: every pair of edges, and random rows besides.
pub(crate) fn pairs(a: &[u128], b: &[u128], mut random: impl FnMut() -> (u128, u128), count: usize) -> Vec<Vec<u128>> {
    let mut rows: Vec<Vec<u128>> = a.iter().flat_map(|a| b.iter().map(|b| vec![*a, *b])).collect();
    rows.extend((0..count).map(|_| {
        let (a, b) = random();
        vec![a, b]
    }));
    rows
}

/// Integer operands of the given widths.
pub(crate) fn integers(widths: &[u32], seed: &str, count: usize) -> Vec<Vec<u128>> {
    let mut random = Random::of(seed);
    let edges: Vec<Vec<u128>> = widths.iter().map(|w| integer_edges(*w)).collect();
    let mut rows = Vec::new();
    match widths.len() {
        1 => rows.extend(edges[0].iter().map(|a| vec![*a])),
        2 => rows = pairs(&edges[0], &edges[1], || (0, 0), 0),
        _ => {}
    }
    for _ in 0..count {
        rows.push(
            widths
                .iter()
                .zip(&edges)
                .map(|(w, edges)| match random.below(4) {
                    0 => edges[random.below(edges.len() as u64) as usize],
                    1 => u128::from(random.next()) & low(*w) & low((1 + random.below(u64::from(*w))) as u32),
                    2 => (u128::from(random.next()) | u128::from(random.next()) << 64) & low(*w),
                    _ => (!(u128::from(random.next()) & low((1 + random.below(u64::from(*w))) as u32))) & low(*w),
                })
                .collect(),
        );
    }
    rows
}

/// Float operands, all of one type.
pub(crate) fn floats(ty: &str, operands: usize, seed: &str, count: usize) -> Vec<Vec<u128>> {
    let mut random = Random::of(seed);
    let edges = float_edges(ty);
    let mut rows = match operands {
        1 => edges.iter().map(|a| vec![*a]).collect(),
        2 => pairs(&edges, &edges, || (0, 0), 0),
        _ => Vec::new(),
    };
    for _ in 0..count {
        let mut row: Vec<u128> = Vec::new();
        for _ in 0..operands {
            let near = row.last().copied();
            row.push(match random.below(5) {
                0 => edges[random.below(edges.len() as u64) as usize],
                1 => random_float(ty, &mut random, None),
                2 => random_float(ty, &mut random, Some(float_edges(ty)[12])),
                _ => random_float(ty, &mut random, near),
            });
        }
        rows.push(row);
    }
    rows
}
