//! Finding things in a module: functions by name, what a kernel's launch must pass.

use std::fmt;

use crate::{Body, FuncId, Function, Module, PointerAttr, SourceFile, SourceLoc, Type, VarId, Variable};

impl Module {
    /// The kernels that have a body.
    pub fn kernels(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|f| f.is_kernel && f.body.is_some())
    }

    /// The kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<&Function> {
        self.kernels().find(|f| f.name == name)
    }

    /// The id of the function or kernel with this name.
    pub fn function_id(&self, name: &str) -> Option<FuncId> {
        self.functions
            .iter()
            .position(|f| f.name == name)
            .map(|index| FuncId(index as u32))
    }

    /// The function that a call of `id` runs: `id` itself unless it is an alias.
    pub fn resolve_alias(&self, id: FuncId) -> FuncId {
        let mut at = id;
        // A ring of aliases ends where it began.
        for _ in 0..self.functions.len() {
            match self.functions.get(at.0 as usize).and_then(|f| f.alias_of) {
                Some(next) if next != id => at = next,
                _ => break,
            }
        }
        at
    }

    /// The module-scope variable with this name.
    pub fn variable(&self, name: &str) -> Option<(VarId, &Variable)> {
        let index = self.variables.iter().position(|v| v.name == name)?;
        Some((VarId::Module(index as u32), &self.variables[index]))
    }

    /// The `.file` that a `.loc` names.
    pub fn file(&self, loc: SourceLoc) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.number == loc.file)
    }
}

/// Where a kernel's parameters lie in the block of bytes that a launch passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterLayout {
    /// The parameters, in order.
    pub parameters: Vec<KernelParameter>,
    /// Bytes of the whole block.
    pub bytes: u64,
}

/// A parameter of a kernel as a launch sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelParameter {
    /// Its name in the PTX.
    pub name: String,
    /// Element type.
    pub ty: Type,
    /// Bytes from the start of the block.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Alignment in bytes.
    pub align: u32,
    /// What `.ptr` says of it; compilers do not mark every pointer.
    pub pointer: Option<PointerAttr>,
    /// Whether it is an array of bytes: a structure passed by value.
    pub aggregate: bool,
}

impl fmt::Display for KernelParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.aggregate, self.pointer) {
            (true, _) => write!(f, "{} ({} bytes by value)", self.name, self.bytes),
            (false, Some(_)) => write!(f, "{} (pointer)", self.name),
            (false, None) => write!(f, "{} (.{})", self.name, self.ty),
        }
    }
}

impl Body {
    /// The places that instruction `index` was inlined at, innermost first; empty if it was not inlined.
    pub fn inline_chain(&self, index: usize) -> &[SourceLoc] {
        let next = self.inlined.partition_point(|site| site.from as usize <= index);
        next.checked_sub(1).map_or(&[], |at| &self.inlined[at].chain)
    }
}

impl Function {
    /// Offsets and sizes of the parameters, laid out in order with their alignments.
    pub fn parameter_layout(&self) -> ParameterLayout {
        let mut end = 0u64;
        let mut parameters = Vec::with_capacity(self.params.len());
        for param in &self.params {
            let align = u64::from(param.align.max(1));
            let offset = end.div_ceil(align).saturating_mul(align);
            let bytes = param.bytes();
            end = offset.saturating_add(bytes);
            parameters.push(KernelParameter {
                name: param.name.clone(),
                ty: param.ty,
                offset,
                bytes,
                align: param.align,
                pointer: param.pointer,
                aggregate: !param.dims.is_empty(),
            });
        }
        ParameterLayout { parameters, bytes: end }
    }

    /// Registers that the function declares, by the width in bits that they take (predicates are 1).
    pub fn declared_registers(&self) -> Vec<(u32, u64)> {
        let mut totals: Vec<(u32, u64)> = Vec::new();
        for range in self.body.iter().flat_map(|body| &body.declared) {
            let width = if range.ty == Type::Pred {
                1
            } else {
                range.ty.bytes() * 8
            };
            let count = u64::from(range.count.unwrap_or(1)) * u64::from(range.vector.max(1));
            match totals.iter_mut().find(|(w, _)| *w == width) {
                Some((_, total)) => *total += count,
                None => totals.push((width, count)),
            }
        }
        totals.sort_unstable();
        totals
    }
}
