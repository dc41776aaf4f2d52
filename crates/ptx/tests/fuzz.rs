//! Random input: bytes, soups of tokens, and real files with pieces changed. The parser answers with a module or with a
//! position inside the text, and never panics. `crates/ptx/fuzz` does the same without a bound.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use tile33_ptx::{Body, Module, Operand, SymbolRef, VarId, parse};

/// Real PTX: what the corpus of the repository holds, and a file of this test's own with the rare forms.
static SEEDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seeds = vec![include_str!("rare.ptx").to_owned()];
    for folder in ["../../tests/corpus/ptx", "../../kernels-gpu/ptx"] {
        let Ok(entries) = fs::read_dir(here.join(folder)) else {
            continue;
        };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        let ptx = paths.iter().filter(|path| path.extension().is_some_and(|e| e == "ptx"));
        // The small ones: more of them fit into the time.
        seeds.extend(
            ptx.filter_map(|path| fs::read_to_string(path).ok())
                .filter(|text| text.len() < 40_000),
        );
    }
    seeds
});

/// What holds of every answer.
fn check(text: &str) {
    match parse(text) {
        Ok(module) => ids_are_valid(&module),
        Err(error) => {
            let lines = text.matches('\n').count() as u32 + 1;
            assert!((1..=lines).contains(&error.line), "{error}");
            let line = text.split('\n').nth(error.line as usize - 1).unwrap_or("");
            assert!(
                error.column >= 1 && error.column as usize <= line.chars().count() + 1,
                "{error} in {line:?}"
            );
            assert!(!error.message.is_empty());
            let found = error.found.trim_end_matches('…');
            assert!(
                line.contains(found) || error.found.contains("declared"),
                "{error} in {line:?}"
            );
        }
    }
}

/// Every id in the module is an index of what it names.
fn ids_are_valid(module: &Module) {
    for (index, function) in module.functions.iter().enumerate() {
        assert!(
            function
                .alias_of
                .is_none_or(|id| (id.0 as usize) < module.functions.len())
        );
        let Some(body) = &function.body else { continue };
        let symbol = |symbol: &SymbolRef| match *symbol {
            SymbolRef::Variable(VarId::Module(id)) => assert!((id as usize) < module.variables.len()),
            SymbolRef::Variable(VarId::Param(id)) => assert!((id as usize) < module.functions[index].params.len()),
            SymbolRef::Variable(VarId::Return(id)) => assert!((id as usize) < module.functions[index].returns.len()),
            SymbolRef::Variable(VarId::Local(id)) => assert!((id as usize) < body.variables.len()),
            SymbolRef::Function(id) => assert!((id.0 as usize) < module.functions.len()),
        };
        for label in &body.labels {
            assert!(label.target as usize <= body.instructions.len());
        }
        for table in &body.branch_tables {
            assert!(table.targets.iter().all(|id| (id.0 as usize) < body.labels.len()));
        }
        for instruction in &body.instructions {
            assert!(
                instruction
                    .guard
                    .is_none_or(|guard| (guard.register.0 as usize) < body.registers.len())
            );
            instruction
                .operands
                .iter()
                .for_each(|operand| operand_is_valid(body, operand, &symbol));
        }
    }
}

fn operand_is_valid(body: &Body, operand: &Operand, symbol: &dyn Fn(&SymbolRef)) {
    let register = |id: u32| assert!((id as usize) < body.registers.len());
    match operand {
        Operand::Register(id, _) | Operand::NotPredicate(id) => register(id.0),
        Operand::Video { register: id, .. } => register(id.0),
        Operand::Symbol(target, _) => symbol(target),
        Operand::Address { base, .. } => match base {
            tile33_ptx::AddressBase::Register(id) => register(id.0),
            tile33_ptx::AddressBase::Symbol(target) => symbol(target),
            tile33_ptx::AddressBase::Absolute => {}
        },
        Operand::Bracketed(parts) | Operand::Vector(parts) | Operand::List(parts) => {
            parts.iter().for_each(|part| operand_is_valid(body, part, symbol));
        }
        Operand::Pair(a, b) => {
            operand_is_valid(body, a, symbol);
            operand_is_valid(body, b, symbol);
        }
        Operand::Label(id) => assert!((id.0 as usize) < body.labels.len()),
        Operand::BranchTable(index) => assert!((*index as usize) < body.branch_tables.len()),
        Operand::Prototype(index) => assert!((*index as usize) < body.prototypes.len()),
        Operand::CallTargets(index) => assert!((*index as usize) < body.call_targets.len()),
        Operand::Special { .. } | Operand::Integer(_) | Operand::Float32(_) | Operand::Float64(_) | Operand::Sink => {}
    }
}

/// Words and signs that PTX is made of.
const TOKENS: &[&str] = &[
    ".version",
    "8.0",
    ".target",
    "sm_90",
    ".address_size",
    "64",
    ".visible",
    ".extern",
    ".weak",
    ".common",
    ".entry",
    ".func",
    ".global",
    ".shared",
    ".const",
    ".local",
    ".param",
    ".reg",
    ".b32",
    ".u64",
    ".f32",
    ".pred",
    ".b8",
    ".v2",
    ".align",
    ".ptr",
    ".maxntid",
    ".noreturn",
    ".pragma",
    "\"text\"",
    ".file",
    ".loc",
    ".section",
    ".alias",
    ".branchtargets",
    ".calltargets",
    ".callprototype",
    ".attribute",
    ".managed",
    "inlined_at",
    "function_name",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ",",
    ";",
    ":",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "^",
    "~",
    "!",
    "<",
    ">",
    "<<",
    ">>",
    "<=",
    "==",
    "!=",
    "&&",
    "||",
    "?",
    "@",
    "=",
    "0",
    "1",
    "7",
    "0x10",
    "0b1",
    "017",
    "4U",
    "1.5",
    ".5",
    "0f3F800000",
    "0d3FF0000000000000",
    "WARP_SZ",
    "_",
    "k",
    "f",
    "x",
    "%r1",
    "%r<8>",
    "%p1",
    "%tid",
    ".x",
    "%envreg3",
    "add",
    ".s32",
    "ld",
    "st",
    "mov",
    "bra",
    "call",
    "ret",
    "brx",
    ".idx",
    "setp",
    "tex",
    "l",
    "generic",
    "// c\n",
    "/* c */",
    "\n",
    ".s64",
];

fn soup(length: usize) -> impl Strategy<Value = String> {
    vec(prop::sample::select(TOKENS), 0..length).prop_map(|tokens| tokens.join(" "))
}

/// A seed with some of its lines taken out, doubled or swapped, and some bytes replaced by tokens.
fn mutated() -> impl Strategy<Value = String> {
    let edit = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        0..5u8,
        prop::sample::select(TOKENS),
    );
    (0..SEEDS.len(), vec(edit, 1..6)).prop_map(|(seed, edits)| {
        let mut lines: Vec<String> = SEEDS[seed].lines().map(str::to_owned).collect();
        for (a, b, kind, token) in edits {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            match kind {
                0 => drop(lines.remove(a)),
                1 => lines.swap(a, b),
                2 => lines.insert(a, lines[b].clone()),
                3 => lines[a] = format!("{token} {}", lines[a]),
                _ => {
                    let at = lines[a]
                        .char_indices()
                        .nth(b % (lines[a].len() + 1))
                        .map_or(0, |(at, _)| at);
                    lines[a].replace_range(at.., token);
                }
            }
            if lines.is_empty() {
                lines.push(String::new());
            }
        }
        lines.join("\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_bytes_are_answered(bytes in vec(any::<u8>(), 0..300)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_characters_after_a_header_are_answered(text in "\\PC{0,200}") {
        check(&format!(".version 8.0 .target sm_90 {text}"));
    }

    #[test]
    fn any_tokens_at_module_level_are_answered(text in soup(60)) {
        check(&format!(".version 8.0 .target sm_90 .global .u32 x; .func f; {text}"));
    }

    #[test]
    fn any_tokens_in_a_body_are_answered(text in soup(60)) {
        let before = ".version 8.0 .target sm_90 .global .u32 x; .func f; .entry k() { .reg .b32 %r<8>; .reg .pred %p<2>; l: ";
        check(&format!("{before}{text}"));
        check(&format!("{before}{text}; ret; }}"));
        check(&format!("{before}mov.b32 %r1, {text}; }}"));
        check(&format!("{before} }} .global .b8 y[] = {{ {text} }};"));
    }

    #[test]
    fn a_file_cut_anywhere_is_answered(seed in 0..SEEDS.len(), at in any::<prop::sample::Index>()) {
        let text = &SEEDS[seed];
        check(&text[..text.floor_char_boundary(at.index(text.len() + 1))]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_file_with_changes_is_answered(text in mutated()) {
        check(&text);
    }
}

#[test]
fn the_seeds_themselves_parse() {
    for text in SEEDS.iter() {
        if let Err(error) = parse(text) {
            panic!("{error}\n{}", text.lines().nth(error.line as usize - 1).unwrap_or(""));
        }
    }
}
