//! Step 5: does the PTX do what the kernels say?
//!
//! Three things can go wrong without any error on the way: shared memory accessed through generic addresses (slow at best,
//! and wrong where the address never was converted), calls of functions that nobody defines, which a driver only reports
//! when the module is loaded, and stores that the assembler takes for conversions ([`narrow_stores`]).

mod narrow_stores;

use std::collections::{BTreeSet, HashMap};

use tile33_ptx::{
    AddressBase, FuncId, Function, Instruction, Linkage, Modifier, Module, Opcode, Operand, RegId, Space, SymbolRef,
    VarId,
};

/// Functions that every CUDA driver provides.
const OF_THE_DRIVER: [&str; 4] = ["vprintf", "malloc", "free", "__assertfail"];

/// One line for each thing that is wrong; each names a kernel. None: the module is sound.
pub(crate) fn findings(module: &Module) -> Vec<String> {
    let mut findings = undefined_functions(module);
    findings.extend(SharedAddresses::of(module).findings());
    findings.extend(narrow_stores::findings(module));
    findings
}

fn undefined_functions(module: &Module) -> Vec<String> {
    let defined: BTreeSet<&str> = module
        .functions
        .iter()
        .filter(|function| function.body.is_some())
        .map(|function| &*function.name)
        .collect();
    let undefined = module.functions.iter().enumerate().filter(|(_, function)| {
        function.body.is_none()
            && function.linkage == Linkage::Extern
            && !defined.contains(&*function.name)
            && !OF_THE_DRIVER.contains(&&*function.name)
    });
    undefined
        .map(|(id, function)| {
            let who = kernels_reaching(module, FuncId(id as u32));
            format!(
                "{who} calls `{}`, which nothing defines: define it in Rust, or do without it",
                function.name
            )
        })
        .collect()
}

/// "kernel `a`, kernel `b`": the kernels that call a function, directly or not.
fn kernels_reaching(module: &Module, target: FuncId) -> String {
    let mut reaching = BTreeSet::from([target]);
    loop {
        let before = reaching.len();
        for (id, function) in functions(module) {
            let calls =
                |instruction: &Instruction| called(instruction).is_some_and(|callee| reaching.contains(&callee));
            if instructions(function).any(calls) {
                reaching.insert(id);
            }
        }
        if reaching.len() == before {
            break;
        }
    }
    let kernels = reaching
        .iter()
        .map(|id| &module.functions[id.0 as usize])
        .filter(|function| function.is_kernel);
    let names: Vec<String> = kernels.map(|kernel| format!("kernel `{}`", kernel.name)).collect();
    if names.is_empty() {
        "no kernel, but the module,".to_owned()
    } else {
        names.join(", ")
    }
}

fn functions(module: &Module) -> impl Iterator<Item = (FuncId, &Function)> {
    module
        .functions
        .iter()
        .enumerate()
        .map(|(id, function)| (FuncId(id as u32), function))
}

fn instructions(function: &Function) -> impl Iterator<Item = &Instruction> {
    function.body.iter().flat_map(|body| &body.instructions)
}

fn called(instruction: &Instruction) -> Option<FuncId> {
    if instruction.opcode != Opcode::Call {
        return None;
    }
    instruction.operands.iter().find_map(|operand| match operand {
        Operand::Symbol(SymbolRef::Function(callee), _) => Some(*callee),
        _ => None,
    })
}

/// What may hold the address of shared memory: a register, or a parameter or return value of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Holder {
    Register(FuncId, RegId),
    Variable(FuncId, VarId),
}

/// Which registers and parameters hold addresses that derive from a shared symbol, by going through all instructions
/// until nothing is added.
struct SharedAddresses<'m> {
    module: &'m Module,
    /// The symbol that each derives from.
    origin: HashMap<Holder, String>,
}

impl<'m> SharedAddresses<'m> {
    fn of(module: &'m Module) -> Self {
        let mut addresses = SharedAddresses {
            module,
            origin: HashMap::new(),
        };
        loop {
            let before = addresses.origin.len();
            for (id, function) in functions(module) {
                for instruction in instructions(function) {
                    addresses.follow(id, instruction);
                }
            }
            if addresses.origin.len() == before {
                return addresses;
            }
        }
    }

    fn follow(&mut self, function: FuncId, instruction: &Instruction) {
        let operands = &instruction.operands;
        match instruction.opcode {
            Opcode::Mov
            | Opcode::Cvta
            | Opcode::Cvt
            | Opcode::Add
            | Opcode::Sub
            | Opcode::Or
            | Opcode::Selp
            | Opcode::Mad => {
                let from = operands
                    .iter()
                    .skip(1)
                    .find_map(|operand| self.origin_of(function, operand));
                if let (Some(Operand::Register(to, _)), Some(symbol)) = (operands.first(), from) {
                    self.origin.entry(Holder::Register(function, *to)).or_insert(symbol);
                }
            }
            // Arguments and results of calls travel through .param variables.
            Opcode::St if has_space(instruction, Space::Param) => {
                if let [
                    Operand::Address {
                        base: AddressBase::Symbol(SymbolRef::Variable(to)),
                        ..
                    },
                    value,
                ] = &operands[..]
                    && let Some(symbol) = self.origin_of(function, value)
                {
                    self.origin.entry(Holder::Variable(function, *to)).or_insert(symbol);
                }
            }
            Opcode::Ld if has_space(instruction, Space::Param) => {
                if let [
                    Operand::Register(to, _),
                    Operand::Address {
                        base: AddressBase::Symbol(SymbolRef::Variable(from)),
                        ..
                    },
                ] = &operands[..]
                    && let Some(symbol) = self.origin.get(&Holder::Variable(function, *from)).cloned()
                {
                    self.origin.entry(Holder::Register(function, *to)).or_insert(symbol);
                }
            }
            Opcode::Call => self.follow_call(function, instruction),
            _ => {}
        }
    }

    fn follow_call(&mut self, caller: FuncId, instruction: &Instruction) {
        let Some(callee) = called(instruction) else { return };
        let at = instruction
            .operands
            .iter()
            .position(|operand| matches!(operand, Operand::Symbol(SymbolRef::Function(_), _)));
        let Some(at) = at else { return };
        let flat = |operands: &[Operand]| operands.iter().flat_map(flatten).cloned().collect::<Vec<_>>();
        let (results, arguments) = (flat(&instruction.operands[..at]), flat(&instruction.operands[at + 1..]));
        for (index, argument) in arguments.iter().enumerate() {
            if let Some(symbol) = self.origin_of(caller, argument) {
                self.origin
                    .entry(Holder::Variable(callee, VarId::Param(index as u32)))
                    .or_insert(symbol);
            }
        }
        for (index, result) in results.iter().enumerate() {
            let holder = Holder::Variable(callee, VarId::Return(index as u32));
            if let Some(symbol) = self.origin.get(&holder).cloned() {
                let to = match result {
                    Operand::Register(register, _) => Holder::Register(caller, *register),
                    Operand::Symbol(SymbolRef::Variable(variable), _) => Holder::Variable(caller, *variable),
                    _ => continue,
                };
                self.origin.entry(to).or_insert(symbol);
            }
        }
    }

    /// The shared symbol that an operand's value derives from.
    fn origin_of(&self, function: FuncId, operand: &Operand) -> Option<String> {
        match operand {
            Operand::Register(register, _) => self.origin.get(&Holder::Register(function, *register)).cloned(),
            Operand::Symbol(SymbolRef::Variable(variable), _) => self.symbol(function, *variable),
            _ => None,
        }
    }

    /// The name of a variable that is in shared memory, or what a parameter holds.
    fn symbol(&self, function: FuncId, variable: VarId) -> Option<String> {
        let declared = match variable {
            VarId::Module(index) => self.module.variables.get(index as usize),
            VarId::Local(index) => {
                let body = self.module.functions[function.0 as usize].body.as_ref()?;
                body.variables.get(index as usize)
            }
            VarId::Param(_) | VarId::Return(_) => None,
        };
        match declared {
            Some(declared) if declared.space == Space::Shared => Some(declared.name.clone()),
            _ => self.origin.get(&Holder::Variable(function, variable)).cloned(),
        }
    }

    fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        for (id, function) in functions(self.module) {
            for instruction in instructions(function) {
                let Some(symbol) = self.misused(id, instruction) else {
                    continue;
                };
                let who = kernels_reaching(self.module, id);
                let space = space(instruction).map_or("a generic", |space| match space {
                    Space::Global => "a global",
                    Space::Local => "a local",
                    Space::Const => "a constant",
                    _ => "another",
                });
                let within = if function.is_kernel {
                    String::new()
                } else {
                    format!(" in `{}`", function.name)
                };
                findings.push(format!(
                    "{who} accesses `{symbol}`, which is shared memory, through {space} address{within} ({}): \
                     keep the pointer in one function, or mark the functions that take it #[inline(always)]",
                    place(self.module, instruction)
                ));
            }
        }
        findings.dedup();
        findings
    }

    /// The shared symbol that a memory instruction reaches without saying `.shared`.
    fn misused(&self, function: FuncId, instruction: &Instruction) -> Option<String> {
        if !matches!(
            instruction.opcode,
            Opcode::Ld | Opcode::Ldu | Opcode::St | Opcode::Atom | Opcode::Red
        ) {
            return None;
        }
        if [Space::Shared, Space::SharedCluster, Space::Param]
            .iter()
            .any(|space| has_space(instruction, *space))
        {
            return None;
        }
        instruction.operands.iter().find_map(|operand| match operand {
            Operand::Address {
                base: AddressBase::Register(register),
                ..
            } => self.origin.get(&Holder::Register(function, *register)).cloned(),
            Operand::Address {
                base: AddressBase::Symbol(SymbolRef::Variable(variable)),
                ..
            } => self.symbol(function, *variable),
            _ => None,
        })
    }
}

/// The source line where the PTX knows it, else its own line.
fn place(module: &Module, instruction: &Instruction) -> String {
    let source = instruction.inlined_at.or(instruction.loc).filter(|loc| loc.line > 0);
    let file = source.and_then(|loc| module.files.iter().find(|file| file.number == loc.file));
    match (file, source) {
        (Some(file), Some(loc)) => format!("{}:{}", file.path, loc.line),
        _ => format!("line {} of the PTX", instruction.pos.line),
    }
}

fn flatten(operand: &Operand) -> &[Operand] {
    match operand {
        Operand::List(list) | Operand::Vector(list) => list,
        other => std::slice::from_ref(other),
    }
}

fn has_space(instruction: &Instruction, wanted: Space) -> bool {
    space(instruction) == Some(wanted)
}

fn space(instruction: &Instruction) -> Option<Space> {
    instruction.modifiers.iter().find_map(|modifier| match modifier {
        Modifier::Space(space) => Some(*space),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".version 7.0\n.target sm_75\n.address_size 64\n";

    fn audit(ptx: &str) -> Vec<String> {
        let ptx = format!("{HEAD}{ptx}");
        findings(&tile33_ptx::parse(&ptx).unwrap_or_else(|error| panic!("{error}")))
    }

    #[test]
    fn the_checked_in_kernels_are_sound() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels-gpu/ptx");
        let mut files = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "ptx") {
                let module = tile33_ptx::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
                assert_eq!(findings(&module), [""; 0], "{}", path.display());
                files += 1;
            }
        }
        assert!(files >= 8);
    }

    #[test]
    fn shared_accesses_of_shared_symbols_are_sound() {
        let ptx = "
            .visible .entry k() {
                .reg .b32 %r<3>; .reg .b64 %rd<3>; .shared .align 16 .b8 tile[64];
                mov.u64 %rd1, tile;
                add.s64 %rd2, %rd1, 8;
                st.shared.b32 [%rd2+4], 1;
                ld.shared.b32 %r1, [tile+12];
                ret;
            }";
        assert_eq!(audit(ptx), [""; 0]);
    }

    #[test]
    fn a_generic_access_to_shared_memory_names_kernel_symbol_and_line() {
        let ptx = ".visible .entry k(.param .u64 p) {
                .reg .b32 %r<3>; .reg .b64 %rd<5>; .shared .align 16 .b8 tile[64];
                mov.u64 %rd1, tile;
                cvta.shared.u64 %rd2, %rd1;
                add.s64 %rd3, %rd2, 8;
                ld.b32 %r1, [%rd3];
                ret;
            }";
        let findings = audit(ptx);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].contains("kernel `k` accesses `tile`"), "{}", findings[0]);
        assert!(
            findings[0].contains("a generic address (line 9 of the PTX)"),
            "{}",
            findings[0]
        );
    }

    #[test]
    fn a_shared_address_that_reaches_a_function_is_followed_there() {
        let ptx = "
            .func helper(.param .b64 a) {
                .reg .b64 %rd<2>; .reg .b32 %r<2>;
                ld.param.b64 %rd1, [a];
                st.b32 [%rd1], 7;
                ret;
            }
            .visible .entry k() {
                .reg .b64 %rd<3>; .shared .align 16 .b8 tile[64];
                mov.u64 %rd1, tile;
                cvta.shared.u64 %rd2, %rd1;
                { .param .b64 p0;
                  st.param.b64 [p0], %rd2;
                  call.uni helper, (p0); }
                ret;
            }
            .visible .entry innocent() { ret; }";
        let findings = audit(ptx);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].starts_with("kernel `k` accesses `tile`"), "{}", findings[0]);
    }

    #[test]
    fn generic_accesses_to_other_memory_are_not_its_business() {
        let ptx = "
            .global .align 4 .b8 table[16];
            .visible .entry k(.param .u64 p) {
                .reg .b32 %r<3>; .reg .b64 %rd<5>; .shared .align 16 .b8 tile[64];
                ld.param.u64 %rd1, [p];
                ld.b32 %r1, [%rd1];
                mov.u64 %rd2, table;
                cvta.global.u64 %rd3, %rd2;
                st.b32 [%rd3], %r1;
                mov.u64 %rd4, tile;
                ld.shared.b32 %r2, [%rd4];
                st.global.b32 [%rd1], %r2;
                ret;
            }";
        assert_eq!(audit(ptx), [""; 0]);
    }

    #[test]
    fn an_undefined_function_names_the_kernels_that_need_it() {
        let ptx = "
            .extern .func missing();
            .extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
            .func middle() { call missing; ret; }
            .visible .entry a() { call middle; ret; }
            .visible .entry b() { ret; }
            .visible .entry c() { call missing; ret; }";
        let findings = audit(ptx);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(
            findings[0].starts_with("kernel `a`, kernel `c` calls `missing`"),
            "{}",
            findings[0]
        );
    }
}
