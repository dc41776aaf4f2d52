//! Puts what a launch found into words, with the PTX text, the source line and the symbol that each address belongs to.

use std::fmt::Write as _;

use tile33_ptx::{Module, SpecialRegister};

use crate::check::{CheckFindings, CheckedSpace};
use crate::decode::Kernel;
use crate::decode::ops::{MemSpace, NOWHERE, Origin};
use crate::decode::place::Symbol;
use crate::exec::context::{Gathered, Stop};
use crate::exec::findings::{Detail, Record, Thread};
use crate::exec::problems::name;
use crate::finding::{Address, Finding, FindingKind, Site};
use crate::launch::{Launch, LaunchError};
use crate::memory::global::Allocation;
use crate::memory::{Memory, SHARED_BASE};
use crate::report::{Counters, InstructionCounters, Report, Residency, SourceLine, Step};

/// The PTX text, by line.
#[derive(Debug)]
pub(crate) struct Text {
    text: Box<str>,
    /// Where each line begins.
    lines: Vec<u32>,
}

impl Text {
    pub(crate) fn new(ptx: &str) -> Self {
        let ends = ptx.match_indices('\n').map(|(at, _)| at as u32 + 1);
        Self {
            text: ptx.into(),
            lines: std::iter::once(0).chain(ends).collect(),
        }
    }

    /// The text from the start of a line, counted from 1, on.
    fn text_at_line(&self, line: u32) -> Option<&str> {
        let start = *self.lines.get((line as usize).checked_sub(1)?)?;
        self.text.get(start as usize..)
    }

    /// The instruction at a place, with its guard, on one line.
    pub(crate) fn instruction(&self, line: u32, column: u32) -> String {
        let Some(rest) = self.text_at_line(line) else {
            return String::new();
        };
        let first = rest.lines().next().unwrap_or_default();
        let at = first
            .char_indices()
            .nth((column as usize).saturating_sub(1))
            .map_or(0, |(i, _)| i);
        let before = &first[..at];
        let start = before.rfind([';', '{', '}', ':']).map_or(0, |i| i + 1);
        let mut text = String::new();
        for (i, line) in rest.lines().take(16).enumerate() {
            let part = if i == 0 { &line[start..] } else { line };
            let part = part.split("//").next().unwrap_or_default();
            // The instruction's own end: not one that stands before it.
            let skip = if i == 0 { at - start } else { 0 };
            match part.get(skip..).and_then(|rest| rest.find(';')) {
                Some(end) => {
                    text.push_str(&part[..skip + end]);
                    break;
                }
                None => {
                    text.push_str(part);
                    text.push(' ');
                }
            }
        }
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// See the module's docs.
pub(crate) struct Composer<'a> {
    pub(crate) module: &'a Module,
    pub(crate) text: &'a Text,
    pub(crate) kernel: &'a Kernel,
    pub(crate) memory: &'a Memory,
    pub(crate) launch: &'a Launch,
}

impl Composer<'_> {
    fn origin(&self, pc: u32) -> &Origin {
        &self.kernel.origins[pc as usize]
    }

    fn instruction(&self, pc: u32) -> String {
        let origin = self.origin(pc);
        match origin.column {
            // The step that ends a function stands for no instruction.
            0 => "ret".to_owned(),
            column => self.text.instruction(origin.line, column),
        }
    }

    fn source(&self, pc: u32) -> Option<SourceLine> {
        let loc = self.origin(pc).loc?;
        let file = self.module.file(loc)?;
        (loc.line > 0).then(|| SourceLine {
            file: file.path.clone(),
            line: loc.line,
            column: loc.column,
        })
    }

    fn block(&self, linear: u64) -> [u32; 3] {
        let [x, y, _] = self.launch.grid.map(u64::from);
        [(linear % x) as u32, (linear / x % y) as u32, (linear / x / y) as u32]
    }

    fn thread(&self, linear: u32) -> [u32; 3] {
        let [x, y, _] = self.launch.block;
        [linear % x, linear / x % y, linear / x / y]
    }

    fn site(&self, pc: u32, by: Thread) -> Site {
        Site {
            instruction: self.instruction(pc),
            line: self.origin(pc).line,
            source: self.source(pc),
            block: self.block(by.block),
            thread: self.thread(by.thread),
        }
    }

    /// The whole report.
    pub(crate) fn report(&self, gathered: Gathered, checked: CheckFindings, residency: Residency) -> Report {
        let mut findings: Vec<(u32, Finding)> = gathered
            .findings
            .into_sorted()
            .iter()
            .map(|r| (r.pc, self.finding(r)))
            .collect();
        findings.extend(checked.races.iter().map(|race| (race.second.pc, self.race(race))));
        findings.extend(
            checked
                .uninitialized
                .iter()
                .map(|read| (read.pc, self.uninitialized(read))),
        );
        findings.sort_by_key(|(pc, f)| (*pc, f.kind));
        findings.truncate(self.launch.options.max_findings);
        let mut total = Counters::default();
        let mut per_instruction = Vec::new();
        for (pc, counters) in (0u32..).zip(&gathered.counters) {
            if *counters == Counters::default() {
                continue;
            }
            total += *counters;
            per_instruction.push(InstructionCounters {
                instruction: self.instruction(pc),
                line: self.origin(pc).line,
                source: self.source(pc),
                counters: *counters,
            });
        }
        per_instruction.sort_by_key(|i| i.line);
        let step = |step: &crate::launch::TraceStep| Step {
            instruction: self.instruction(step.pc),
            line: self.origin(step.pc).line,
            source: self.source(step.pc),
            lanes: step.mask,
            active: step.active,
        };
        Report {
            entry: self.launch.entry.clone(),
            findings: findings.into_iter().map(|(_, f)| f).collect(),
            counters: total,
            per_instruction,
            residency: Some(residency),
            output: gathered.output.into_values().flatten().collect(),
            trace: gathered.trace.iter().map(step).collect(),
        }
    }

    /// Why a block could not go on.
    pub(crate) fn error(&self, block: u64, stop: &Stop) -> LaunchError {
        match stop {
            Stop::Unsupported { pc, reason } => LaunchError::Unsupported {
                instruction: self.instruction(*pc),
                line: self.origin(*pc).line,
                reason: reason.clone(),
            },
            Stop::Fault { pc, message } => LaunchError::Fault {
                message: message.clone(),
                instruction: self.instruction(*pc),
                line: self.origin(*pc).line,
            },
            Stop::Steps { pc } => LaunchError::StepLimit {
                limit: self.launch.options.max_steps.unwrap_or(u64::MAX),
                block: self.block(block),
                instruction: self.instruction(*pc),
                line: self.origin(*pc).line,
            },
            Stop::Conflict | Stop::Over => LaunchError::Invalid("the launch ended early".into()),
        }
    }

    fn address(&self, space: MemSpace, address: u64) -> Address {
        let (symbol, start) = match space {
            MemSpace::Shared => self.shared_symbol(address),
            MemSpace::Global | MemSpace::Generic => self.global_symbol(address),
            _ => None,
        }
        .unzip();
        let offset = address.wrapping_sub(start.unwrap_or(0)) as i64;
        Address {
            value: address,
            symbol,
            offset,
        }
    }

    /// An address in local memory by the variable of the function that `pc` is in.
    fn local_address(&self, pc: u32, frame: u32, address: u64) -> Address {
        let function = self.kernel.functions.iter().rev().find(|f| f.entry <= pc);
        let at = address.wrapping_sub(frame.into());
        let inside = |s: &&Symbol| at.wrapping_sub(s.offset) < s.bytes.max(1);
        match function.and_then(|f| f.symbols.iter().find(inside)) {
            Some(s) => Address {
                value: address,
                symbol: Some(s.name.clone()),
                offset: (at - s.offset) as i64,
            },
            None => Address {
                value: address,
                symbol: None,
                offset: address as i64,
            },
        }
    }

    /// The shared variable or array that an address lies in, or the last one before it.
    fn shared_symbol(&self, address: u64) -> Option<(String, u64)> {
        let shared = &self.kernel.shared;
        let mut symbols: Vec<Symbol> = shared.symbols.clone();
        let arrays = &self.launch.options.shared_arrays;
        if let (Some(name), true) = (&shared.dynamic_name, arrays.is_empty()) {
            let bytes = u64::from(self.launch.dynamic_shared);
            symbols.push(Symbol {
                name: name.clone(),
                offset: shared.dynamic,
                bytes,
            });
        }
        symbols.extend(arrays.iter().map(|a| Symbol {
            name: a.name.clone(),
            offset: shared.dynamic + u64::from(a.offset),
            bytes: a.bytes.into(),
        }));
        let inside = symbols.iter().find(|s| address.wrapping_sub(s.offset) < s.bytes);
        let before = || symbols.iter().filter(|s| s.offset <= address).max_by_key(|s| s.offset);
        inside.or_else(before).map(|s| (s.name.clone(), s.offset))
    }

    fn global_symbol(&self, address: u64) -> Option<(String, u64)> {
        if let Some(f) = self
            .memory
            .freed_at(address)
            .or_else(|| self.memory.heap.freed_at(address))
        {
            return Some((f.label.clone(), f.base));
        }
        if let Some(a) = self.memory.heap.find(address) {
            return Some((a.label.clone(), a.base));
        }
        let a = self.near(address)?;
        Some((self.buffer_name(a.base, &a.label), a.base))
    }

    /// The allocation nearest to an address; far from everything, the number says more.
    fn near(&self, address: u64) -> Option<&Allocation> {
        let is_near = |a: &&Allocation| address.wrapping_add(1 << 30) >= a.base && address < a.end() + (1 << 30);
        self.memory.nearest(address).filter(is_near)
    }

    /// A buffer by the parameter that points to it, if one does.
    fn buffer_name(&self, base: u64, label: &str) -> String {
        let function = &self.module.functions[self.kernel.id.0 as usize];
        let points = |arg: &crate::launch::Arg| matches!(arg, crate::launch::Arg::Pointer(p) if *p == base);
        match self.launch.args.iter().position(points) {
            Some(i) if label.starts_with("buffer#") => {
                let parameter = function.params.get(i).map_or("", |p| &p.name);
                let short = parameter
                    .strip_prefix(&format!("{}_", function.name))
                    .unwrap_or(parameter);
                if short.starts_with("param_") {
                    format!("argument {i}")
                } else {
                    short.to_owned()
                }
            }
            _ => label.to_owned(),
        }
    }

    fn finding(&self, r: &Record) -> Finding {
        let site = self.site(r.pc, r.by);
        let other = r
            .other
            .filter(|_| r.other_pc != NOWHERE)
            .map(|thread| self.site(r.other_pc, thread));
        let address = r.address.map(|a| match r.space {
            MemSpace::Local => self.local_address(r.pc, r.frame, a),
            space => self.address(space, a),
        });
        let who = format!("thread {} of block {}", triple(site.thread), triple(site.block));
        let place = address.as_ref().map_or(String::new(), |a| a.to_string());
        let (message, help) = match r.kind {
            FindingKind::OutOfBounds => self.out_of_bounds(r, &who, &place),
            FindingKind::UseAfterFree => {
                let label = match &r.detail {
                    Detail::Freed(label) => label.as_str(),
                    _ => "a buffer",
                };
                (
                    format!(
                        "{who} accesses {} bytes at {place} of {label}, which was freed",
                        r.bytes
                    ),
                    "keep the buffer alive until the launch has ended".to_owned(),
                )
            }
            FindingKind::Misaligned => (
                format!(
                    "{who} accesses {} bytes at {place} ({} memory, address {:#x}), which is no multiple of {}",
                    r.bytes,
                    name(r.space),
                    r.address.unwrap_or(0),
                    r.bytes
                ),
                "align the address to the access's width, or access narrower elements".to_owned(),
            ),
            FindingKind::AddressSpace => (
                format!("{who} accesses {} bytes at {place}: {}", r.bytes, text(&r.detail)),
                "access shared memory through its own address space (ld.shared, st.shared), or convert the address"
                    .to_owned(),
            ),
            FindingKind::UninitializedLocal => (
                format!(
                    "{who} reads {} bytes of local memory at {place} that it never wrote",
                    r.bytes
                ),
                "write the variable before it is read".to_owned(),
            ),
            FindingKind::DivergentBarrier | FindingKind::Deadlock => self.barrier(r, &who, other.as_ref()),
            FindingKind::Trap => (
                match &r.detail {
                    Detail::Text(what) => format!("{who}: {what}"),
                    _ => format!("{who} executed a trap: a panic, a failed assertion or an unreachable path"),
                },
                if self.asks_for_a_workspace() && !self.launch.options.cooperative {
                    "waiting for the whole grid (grid.sync) needs a cooperative launch: set `cooperative`".to_owned()
                } else {
                    "the launch's results are not valid from here on".to_owned()
                },
            ),
            FindingKind::Race | FindingKind::UninitializedShared | FindingKind::UninitializedGlobal => {
                (who, String::new())
            }
        };
        Finding {
            kind: r.kind,
            message,
            site,
            other,
            address,
            help,
            occurrences: r.count,
        }
    }

    /// Whether the kernel looks for what the blocks of a cooperative launch meet in.
    fn asks_for_a_workspace(&self) -> bool {
        let specials = &self.kernel.pools.specials;
        specials
            .iter()
            .any(|(_, s)| s.register == SpecialRegister::EnvReg && matches!(s.component, 1 | 2))
    }

    fn out_of_bounds(&self, r: &Record, who: &str, place: &str) -> (String, String) {
        let mut message = format!(
            "{who} accesses {} bytes at {place} of {} memory",
            r.bytes,
            name(r.space)
        );
        let mut help = "guard the access, or make the buffer larger".to_owned();
        if let Detail::Text(what) = &r.detail {
            let _ = write!(message, ": {what}");
            return (message, help);
        }
        match r.space {
            MemSpace::Shared => {
                let dynamic = self.launch.dynamic_shared;
                let fixed = self.kernel.shared.static_bytes;
                let _ = write!(message, "; the block has {fixed} static and {dynamic} dynamic bytes");
                if self.kernel.shared.dynamic_name.is_some() {
                    help =
                        "launch with more dynamic shared memory (in bytes, not elements), or guard the access".into();
                }
            }
            MemSpace::Global => match self.near(r.address.unwrap_or(0)) {
                Some(a) => {
                    let label = self.buffer_name(a.base, &a.label);
                    let _ = write!(message, "; {label} has {} bytes", a.data.len());
                }
                None => message.push_str("; nothing is allocated there"),
            },
            _ => {}
        }
        (message, help)
    }

    fn barrier(&self, r: &Record, who: &str, other: Option<&Site>) -> (String, String) {
        if let Detail::Members(mask) = r.detail {
            return (
                format!("{who} executes this instruction, but is not in the member mask {mask:#x} that it gives"),
                "let the mask name every lane that executes the instruction: it is undefined otherwise".to_owned(),
            );
        }
        let detail = text(&r.detail);
        let there = other.map(|o| format!("thread {} of block {}", triple(o.thread), triple(o.block)));
        match (r.kind, detail, there) {
            (FindingKind::DivergentBarrier, "had exited", Some(there)) => (
                format!("{who} arrived at the barrier, {there} did not: it had exited"),
                "let every thread of the block reach the barrier: guard the work, not the barrier".to_owned(),
            ),
            (FindingKind::DivergentBarrier, "at different instructions", Some(there)) => (
                format!(
                    "{who} arrived at the barrier, {there} of the same warp did not: it arrived at another one (line {})",
                    other.map_or(0, |o| o.line)
                ),
                "let all threads of a warp reach the same barrier instruction, outside of the branch".to_owned(),
            ),
            (FindingKind::DivergentBarrier, _, Some(there)) => (
                format!(
                    "{who} arrived at the barrier, {there} did not: it waits elsewhere (line {}), and neither can go on",
                    other.map_or(0, |o| o.line)
                ),
                "let all threads of the block reach the same barrier".to_owned(),
            ),
            (_, "spins", _) => (
                format!("{who} waits in a loop for a change that no running thread can make"),
                "check that whoever it waits for runs at the same time, and that it waits for the right value"
                    .to_owned(),
            ),
            (_, _, Some(there)) => (
                format!(
                    "{who} waits here and {there} waits at line {}: nobody can go on",
                    other.map_or(0, |o| o.line)
                ),
                "check the barriers' numbers and thread counts, and the member masks".to_owned(),
            ),
            _ => (
                format!("{who} waits for threads that never come: nobody can go on"),
                "check the barrier's thread count, and the member mask".to_owned(),
            ),
        }
    }

    fn race(&self, race: &crate::check::Race) -> Finding {
        let space = checked(race.space);
        let value = if space == MemSpace::Shared {
            race.address + SHARED_BASE
        } else {
            race.address
        };
        let address = self.address(space, value);
        let by = |a: &crate::check::Access| Thread {
            block: a.block.into(),
            thread: a.thread,
        };
        let (site, other) = (
            self.site(race.second.pc, by(&race.second)),
            self.site(race.first.pc, by(&race.first)),
        );
        let verb = |kind| match kind {
            crate::check::AccessKind::Read => "reads",
            crate::check::AccessKind::Write => "writes",
            crate::check::AccessKind::Atomic | crate::check::AccessKind::Reduction => "updates",
        };
        let same_block = site.block == other.block;
        let same_warp = same_block && race.first.thread / 32 == race.second.thread / 32;
        let message = format!(
            "thread {} of block {} {} {address} in {} memory, which thread {} of block {} {} (line {}), with nothing \
             between them that orders the two",
            triple(site.thread),
            triple(site.block),
            verb(race.second.kind),
            name(space),
            triple(other.thread),
            triple(other.block),
            verb(race.first.kind),
            other.line,
        );
        let copies = [&site, &other].iter().any(|s| s.instruction.contains("cp.async."));
        let help = if copies && same_block {
            "wait for the copy (cp.async.wait_all, or wait_group) in its own thread, then let a barrier order the threads"
        } else if same_warp {
            "put a sync_warp (bar.warp.sync) between the two: lanes of a warp do not run in lockstep"
        } else if same_block {
            "put a barrier (sync_threads) between the two accesses"
        } else {
            "blocks run in any order: use atomics, or a release and an acquire at device scope, or two launches"
        };
        Finding {
            kind: FindingKind::Race,
            message,
            site,
            other: Some(other),
            address: Some(address),
            help: help.to_owned(),
            occurrences: race.count,
        }
    }

    fn uninitialized(&self, read: &crate::check::Uninitialized) -> Finding {
        let space = checked(read.space);
        let value = if space == MemSpace::Shared {
            read.address + SHARED_BASE
        } else {
            read.address
        };
        let address = self.address(space, value);
        let site = self.site(
            read.pc,
            Thread {
                block: read.block.into(),
                thread: read.thread,
            },
        );
        let kind = match read.space {
            CheckedSpace::Shared => FindingKind::UninitializedShared,
            CheckedSpace::Global => FindingKind::UninitializedGlobal,
        };
        let when = if read.written_later {
            "before the block writes it later in this run"
        } else {
            "which nothing has written"
        };
        let message = format!(
            "thread {} of block {} reads {address} in {} memory, {when}",
            triple(site.thread),
            triple(site.block),
            name(space)
        );
        let help = match read.space {
            CheckedSpace::Shared if read.written_later => {
                "let the write come first, with a barrier (sync_threads) between it and this read"
            }
            CheckedSpace::Shared => "write the whole array before it is read, or do not read what no thread wrote",
            CheckedSpace::Global => "initialise the buffer before the launch, or do not read it",
        };
        Finding {
            kind,
            message,
            site,
            other: None,
            address: Some(address),
            help: help.to_owned(),
            occurrences: read.count,
        }
    }
}

fn checked(space: CheckedSpace) -> MemSpace {
    match space {
        CheckedSpace::Shared => MemSpace::Shared,
        CheckedSpace::Global => MemSpace::Global,
    }
}

fn text(detail: &Detail) -> &str {
    match detail {
        Detail::Text(text) => text,
        _ => "",
    }
}

fn triple([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_is_quoted_with_its_guard_and_without_its_comment() {
        let text =
            Text::new("  mov.u32 %r1, 0; @%p1 bra L; // loop\nL: ld.shared.v2.f32\n  {%f1,\n   %f2}, [%r1]; ret;");
        assert_eq!(text.instruction(1, 3), "mov.u32 %r1, 0");
        assert_eq!(text.instruction(1, 24), "@%p1 bra L");
        assert_eq!(text.instruction(2, 4), "ld.shared.v2.f32 {%f1, %f2}, [%r1]");
        assert_eq!(text.instruction(4, 18), "ret");
    }
}
