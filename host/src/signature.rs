//! What a kernel takes, read from its PTX, and whether a launch gives it that.

use std::collections::BTreeSet;

use tile33_ptx::ast::{
    AddressBase, Body, FuncId, Function, LaunchBounds, Linkage, Module, Operand, Space, SymbolRef, Type, VarId,
    Variable,
};

use crate::args::{Arg, Scalar, Value};
use crate::error::Error;

/// A kernel's parameters, launch bounds and use of shared memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// The kernel's name.
    pub kernel: String,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// `.maxntid` and its kin.
    pub bounds: LaunchBounds,
    /// Bytes of static shared memory that the kernel and the functions it calls name.
    pub static_shared: u64,
    /// Whether they name an array of dynamic shared memory.
    pub uses_dynamic_shared: bool,
}

/// One parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// As the PTX names it.
    pub name: String,
    /// What it takes.
    pub kind: ParameterKind,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// The address of a buffer.
    Pointer,
    /// A number; the type is PTX's, which knows sizes and integer against floating point, not always the sign.
    Scalar(Type),
    /// Eight bytes that can be either: not every compiler marks its pointers.
    PointerOrScalar(Type),
    /// A structure by value.
    Bytes(u64),
}

impl std::fmt::Display for ParameterKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pointer => f.write_str("a pointer to device memory"),
            Self::Scalar(ty) => write!(f, "a scalar of type .{ty}"),
            Self::PointerOrScalar(ty) => write!(f, "a pointer or a scalar of type .{ty}"),
            Self::Bytes(bytes) => write!(f, "a structure of {bytes} bytes"),
        }
    }
}

impl Signature {
    /// The signature of the kernel called `name`.
    ///
    /// # Errors
    /// [`Error::NoSuchKernel`] with the names there are.
    pub fn of(module: &Module, name: &str) -> Result<Self, Error> {
        let kernels = || module.functions.iter().filter(|f| f.is_kernel && f.body.is_some());
        let kernel = kernels().find(|f| f.name == name).ok_or_else(|| Error::NoSuchKernel {
            asked: name.to_owned(),
            available: kernels().map(|f| f.name.clone()).collect(),
        })?;
        let marks_pointers = kernel.params.iter().any(|p| p.pointer.is_some());
        let shared = shared_variables(module, kernel);
        let (dynamic, fixed): (Vec<_>, Vec<_>) = shared.into_iter().partition(|v| v.is_dynamic());
        Ok(Self {
            kernel: name.to_owned(),
            parameters: kernel.params.iter().map(|p| Parameter::of(p, marks_pointers)).collect(),
            bounds: kernel.bounds,
            static_shared: fixed.iter().fold(0, |end, v| end.next_multiple_of(v.align) + v.bytes),
            uses_dynamic_shared: !dynamic.is_empty(),
        })
    }

    /// Whether `args` are what the kernel takes.
    ///
    /// # Errors
    /// [`Error::ArgumentCount`] or [`Error::ArgumentType`].
    pub fn check(&self, args: &[Arg<'_>]) -> Result<(), Error> {
        if args.len() != self.parameters.len() {
            return Err(Error::ArgumentCount {
                kernel: self.kernel.clone(),
                expected: self.parameters.len(),
                given: args.len(),
            });
        }
        for (index, (parameter, arg)) in self.parameters.iter().zip(args).enumerate() {
            if !parameter.kind.accepts(arg) {
                return Err(Error::ArgumentType {
                    kernel: self.kernel.clone(),
                    index,
                    parameter: parameter.name.clone(),
                    expected: parameter.kind,
                    given: describe(arg),
                });
            }
        }
        Ok(())
    }
}

impl Parameter {
    fn of(variable: &Variable, marks_pointers: bool) -> Self {
        let wide = variable.ty.bytes() == 8 && !is_float(variable.ty);
        let kind = if !variable.dims.is_empty() {
            ParameterKind::Bytes(variable.bytes())
        } else if variable.pointer.is_some() {
            ParameterKind::Pointer
        } else if wide && !marks_pointers {
            ParameterKind::PointerOrScalar(variable.ty)
        } else {
            ParameterKind::Scalar(variable.ty)
        };
        Self {
            name: variable.name.clone(),
            kind,
        }
    }
}

impl ParameterKind {
    fn accepts(self, arg: &Arg<'_>) -> bool {
        match (self, &arg.0) {
            (Self::Pointer | Self::PointerOrScalar(_), Value::Buffer(_)) => true,
            (Self::Scalar(ty) | Self::PointerOrScalar(ty), Value::Scalar { kind, .. }) => fits(ty, *kind),
            (Self::Bytes(expected), Value::Bytes(given)) => expected == given.len() as u64,
            // A structure of one field is passed like the field.
            (Self::Scalar(ty), Value::Bytes(given)) => ty.bytes() as usize == given.len(),
            _ => false,
        }
    }
}

fn is_float(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::Bf16 | Type::F32 | Type::F64)
}

/// PTX's untyped `.b32` takes any four bytes; its `.f32` and `.u32` do not take each other's.
fn fits(ty: Type, kind: Scalar) -> bool {
    let untyped = matches!(ty, Type::B8 | Type::B16 | Type::B32 | Type::B64);
    ty.bytes() as usize == kind.bytes() && (untyped || is_float(ty) == kind.is_float())
}

fn describe(arg: &Arg<'_>) -> String {
    match &arg.0 {
        Value::Scalar { kind, .. } => kind.name().to_owned(),
        Value::Bytes(bytes) => format!("a structure of {} bytes", bytes.len()),
        Value::Buffer(_) => "a buffer".to_owned(),
    }
}

/// A variable in shared memory.
struct SharedVariable {
    bytes: u64,
    align: u64,
    external: bool,
}

impl SharedVariable {
    /// `extern .shared .b8 name[]`: its size comes with the launch.
    fn is_dynamic(&self) -> bool {
        self.external || self.bytes == 0
    }
}

/// Every shared variable that `kernel`, or a function that it can call, names.
fn shared_variables(module: &Module, kernel: &Function) -> Vec<SharedVariable> {
    let mut found = Vec::new();
    let mut named = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut queue = vec![kernel];
    while let Some(function) = queue.pop() {
        let Some(body) = &function.body else { continue };
        found.extend(
            body.variables
                .iter()
                .filter(|v| v.space == Space::Shared)
                .map(SharedVariable::of),
        );
        for symbol in symbols(body) {
            match symbol {
                SymbolRef::Variable(VarId::Module(index)) => {
                    named.insert(index);
                }
                SymbolRef::Function(FuncId(index)) => {
                    if seen.insert(index) {
                        queue.extend(module.functions.get(index as usize));
                    }
                }
                SymbolRef::Variable(_) => {}
            }
        }
    }
    let at_module = named.iter().filter_map(|&index| module.variables.get(index as usize));
    found.extend(at_module.filter(|v| v.space == Space::Shared).map(SharedVariable::of));
    found
}

impl SharedVariable {
    fn of(variable: &Variable) -> Self {
        Self {
            bytes: variable.bytes(),
            align: u64::from(variable.align.max(1)),
            external: variable.linkage == Linkage::Extern,
        }
    }
}

/// The symbols that a body's instructions and call tables name.
fn symbols(body: &Body) -> Vec<SymbolRef> {
    let mut symbols = Vec::new();
    for instruction in &body.instructions {
        for operand in &instruction.operands {
            collect(operand, &mut symbols);
        }
    }
    let targets = body.call_targets.iter().flat_map(|list| &list.targets);
    symbols.extend(targets.map(|&id| SymbolRef::Function(id)));
    symbols
}

fn collect(operand: &Operand, symbols: &mut Vec<SymbolRef>) {
    match operand {
        Operand::Symbol(symbol, _) => symbols.push(*symbol),
        Operand::Address {
            base: AddressBase::Symbol(symbol),
            ..
        } => symbols.push(*symbol),
        Operand::Vector(parts) | Operand::List(parts) => parts.iter().for_each(|part| collect(part, symbols)),
        Operand::Pair(first, second) => {
            collect(first, symbols);
            collect(second, symbols);
        }
        _ => {}
    }
}
