//! Module directives, variables with their initial values, functions with their headers.

use tile33_ptx::{
    FuncId, LaunchBounds, Linkage, Module, PointerAttr, Relocation, Space, SymbolRef, Type, VarId, parse,
};

use crate::common::{body, module};

fn bytes(module: &Module, name: &str) -> Vec<u8> {
    let (_, variable) = module.variable(name).expect("the variable is declared");
    variable.init.as_ref().expect("it is initialised").bytes.clone()
}

#[test]
fn the_header_is_read() {
    let module = parse(".version 9.1\n.target sm_90a, texmode_independent, debug\n.address_size 64\n").unwrap();
    assert_eq!(module.version, (9, 1));
    assert_eq!(module.target, ["sm_90a", "texmode_independent", "debug"]);
    assert_eq!(module.address_size, 64);
    assert_eq!(parse(".version 3.2 .target sm_30").unwrap().address_size, 32);
    assert_eq!(parse(".version 8.10 .target sm_90").unwrap().version, (8, 10));
    assert_eq!(parse(".version 8.0 .target sm_90\0").unwrap().version, (8, 0));
}

#[test]
fn variables_keep_their_space_type_shape_and_linkage() {
    let module = module(
        ".extern .shared .align 16 .b8 dynamic[];
         .visible .const .align 8 .f64 a, b[2][3];
         .weak .global .attribute(.managed) .v4 .f32 c;
         .common .global .u32 d;
         .const[3] .u32 e;
         .global .attribute(.unified(1, 0xff)) .align 4 .b8 f[1+2*3];
         .global .texref t; .global .surfref u;",
    );
    let shape: Vec<_> = module
        .variables
        .iter()
        .map(|v| (v.name.as_str(), v.space, v.ty, v.vector, v.dims.clone(), v.align))
        .collect();
    assert_eq!(
        shape,
        [
            ("dynamic", Space::Shared, Type::B8, 1, vec![None], 16),
            ("a", Space::Const, Type::F64, 1, vec![], 8),
            ("b", Space::Const, Type::F64, 1, vec![Some(2), Some(3)], 8),
            ("c", Space::Global, Type::F32, 4, vec![], 16),
            ("d", Space::Global, Type::U32, 1, vec![], 4),
            ("e", Space::Const, Type::U32, 1, vec![], 4),
            ("f", Space::Global, Type::B8, 1, vec![Some(7)], 4),
            ("t", Space::Global, Type::TexRef, 1, vec![], 8),
            ("u", Space::Global, Type::SurfRef, 1, vec![], 8),
        ]
    );
    let linkage: Vec<_> = module.variables[..5].iter().map(|v| v.linkage).collect();
    use Linkage::*;
    assert_eq!(linkage, [Extern, Visible, Visible, Weak, Common]);
    let sizes: Vec<_> = module.variables[..4].iter().map(|v| v.bytes()).collect();
    assert_eq!(sizes, [0, 8, 48, 16]);
}

#[test]
fn initial_values_become_little_endian_bytes() {
    let module = module(
        ".global .u32 a = 0x01020304;
         .global .b8 b[5] = {1, -1, 300};
         .global .f32 c[2] = {1.5, 0fBF800000};
         .global .f64 d = 0f3F800000;
         .global .b32 e = 0f3F800000;
         .global .u16 f[2][3] = {{1}, {2, 3}};
         .global .s64 g[] = {-1, 2, 3};
         .global .v2 .u32 h[2] = {{1, 2}, {3, 4}};
         .global .v2 .u32 i = {5, 6};
         .global .u32 j = {7};
         .global .b128 k = -2;
         .global .u8 l[] = {};",
    );
    assert_eq!(bytes(&module, "a"), [4, 3, 2, 1]);
    assert_eq!(bytes(&module, "b"), [1, 255, 44]);
    assert_eq!(bytes(&module, "c"), [0, 0, 0xc0, 0x3f, 0, 0, 0x80, 0xbf]);
    assert_eq!(bytes(&module, "d"), 1f64.to_le_bytes());
    assert_eq!(bytes(&module, "e"), 1f32.to_le_bytes());
    assert_eq!(bytes(&module, "f"), [1, 0, 0, 0, 0, 0, 2, 0, 3, 0]);
    assert_eq!(bytes(&module, "g").len(), 24);
    assert_eq!(module.variable("g").unwrap().1.dims, [Some(3)]);
    assert_eq!(bytes(&module, "h"), [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]);
    assert_eq!(bytes(&module, "i"), [5, 0, 0, 0, 6, 0, 0, 0]);
    assert_eq!(bytes(&module, "j"), [7, 0, 0, 0]);
    assert_eq!(bytes(&module, "k"), (-2i128).to_le_bytes());
    assert_eq!(module.variable("l").unwrap().1.dims, [Some(0)]);
}

#[test]
fn addresses_in_initial_values_are_relocations() {
    let module = module(
        ".global .u32 a; .func f;
         .global .u64 x[4] = {a, generic(a)+4, f, a-8};
         .global .b8 y[4] = {7, 0xFF(a), 0xFF00(generic(a)), 0xFF000000000000(f)};
         .global .u32 z = a;",
    );
    let a = SymbolRef::Variable(VarId::Module(0));
    let f = SymbolRef::Function(FuncId(0));
    let relocations = |name: &str| {
        module
            .variable(name)
            .unwrap()
            .1
            .init
            .as_ref()
            .map(|init| init.relocations.clone())
            .unwrap()
    };
    let at = |offset, width, shift, target, addend, generic| Relocation {
        offset,
        width,
        shift,
        target,
        addend,
        generic,
    };
    assert_eq!(
        relocations("x"),
        [
            at(0, 8, 0, a, 0, false),
            at(8, 8, 0, a, 4, true),
            at(16, 8, 0, f, 0, false),
            at(24, 8, 0, a, -8, false)
        ]
    );
    assert_eq!(
        relocations("y"),
        [
            at(1, 1, 0, a, 0, false),
            at(2, 1, 8, a, 0, true),
            at(3, 1, 48, f, 0, false)
        ]
    );
    assert_eq!(relocations("z"), [at(0, 4, 0, a, 0, false)]);
    assert_eq!(bytes(&module, "y"), [7, 0, 0, 0]);
}

#[test]
fn properties_of_samplers_and_textures_are_accepted() {
    let module = module(
        ".global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = nearest, force_unnormalized_coords = 1 };
         .global .samplerref t[2] = { { addr_mode_0 = wrap }, { filter_mode = linear } };",
    );
    assert_eq!(module.variables.len(), 2);
}

#[test]
fn a_kernel_keeps_its_parameters_and_its_bounds() {
    let module = module(
        ".visible .entry k(
           .param .u64 .ptr .global .align 16 p, .param .u64 .ptr q, .param .align 8 .b8 s[20], .param .f32 x, .param .u64 y
         )
         .maxntid 256, 2
         .reqntid 128
         .minnctapersm 2 .maxnctapersm 4 .maxnreg 64
         .reqnctapercluster 2, 1, 1 .explicitcluster .maxclusterrank 8 .blocksareclusters
         .pragma \"nounroll\", \"other\";
         { ret; }",
    );
    let kernel = module.kernel("k").expect("k is a kernel");
    assert_eq!(
        kernel.bounds,
        LaunchBounds {
            max_threads: Some([256, 2, 1]),
            required_threads: Some([128, 1, 1]),
            min_blocks: Some(2),
            max_registers: Some(64),
            max_blocks: Some(4),
            cluster: Some([2, 1, 1]),
            max_cluster_rank: Some(8),
            explicit_cluster: true,
            blocks_are_clusters: true,
        }
    );
    assert_eq!(kernel.pragmas, ["nounroll", "other"]);
    assert_eq!(
        kernel.params[0].pointer,
        Some(PointerAttr {
            space: Space::Global,
            align: 16
        })
    );
    assert_eq!(
        kernel.params[1].pointer,
        Some(PointerAttr {
            space: Space::Generic,
            align: 4
        })
    );
    let layout = kernel.parameter_layout();
    let places: Vec<_> = layout
        .parameters
        .iter()
        .map(|p| (p.offset, p.bytes, p.aggregate))
        .collect();
    assert_eq!(
        places,
        [
            (0, 8, false),
            (8, 8, false),
            (16, 20, true),
            (36, 4, false),
            (40, 8, false)
        ]
    );
    assert_eq!(layout.bytes, 48);
}

#[test]
fn function_directives_that_change_nothing_here_are_accepted() {
    let module = module(
        ".func f .abi_preserve 8 .abi_preserve_control 2 { ret; }
         .func .attribute(.unified(1, 2)) g() .noreturn;
         .visible .func (.param .align 16 .b8 r[16]) h (.param .b32 _, .param .b8 _[]);
         .entry old;",
    );
    assert!(module.functions[1].noreturn && module.functions[1].body.is_none());
    assert_eq!(module.functions[2].params[0].name, "");
    assert_eq!(module.functions[2].params[1].dims, [None]);
    assert!(module.functions[3].is_kernel);
    assert_eq!(module.kernels().count(), 0);
}

#[test]
fn a_declaration_and_its_definition_are_one_function() {
    let module = module(
        ".func (.param .b32 r) f (.param .b32 a);
         .func g { call f, (1); ret; }
         .func (.param .b32 r) f (.param .b32 named) { ret; }
         .extern .func h;
         .alias h, g;
         .extern .global .u32 v; .extern .global .u32 v; .global .u32 v = 3; .extern .global .u32 v;",
    );
    let names: Vec<_> = module
        .functions
        .iter()
        .map(|f| (f.name.as_str(), f.body.is_some()))
        .collect();
    assert_eq!(names, [("f", true), ("g", true), ("h", false)]);
    assert_eq!(module.functions[0].params[0].name, "named");
    assert_eq!(module.resolve_alias(FuncId(2)), FuncId(1));
    assert_eq!(module.resolve_alias(FuncId(0)), FuncId(0));
    assert_eq!(module.function_id("h"), Some(FuncId(2)));
    assert_eq!((module.variables.len(), bytes(&module, "v")), (1, vec![3, 0, 0, 0]));
}

#[test]
fn rings_of_aliases_end() {
    let module = module(".func a; .func b; .func c; .alias a, b; .alias b, a; .alias c, c;");
    assert_eq!(module.resolve_alias(FuncId(2)), FuncId(2));
    assert_eq!(module.resolve_alias(FuncId(0)), FuncId(1));
}

#[test]
fn register_parameters_are_the_first_registers_of_the_body() {
    let module =
        module(".func (.reg .b32 r) f (.param .b64 p, .reg .f32 a, .reg .pred b) { .reg .b32 t; mov.b32 r, t; ret; }");
    let body = module.functions[0].body.as_ref().expect("f is defined");
    let registers: Vec<_> = body.registers.iter().map(|r| (r.name.as_str(), r.ty)).collect();
    assert_eq!(
        registers,
        [("r", Type::B32), ("a", Type::F32), ("b", Type::Pred), ("t", Type::B32)]
    );
    assert_eq!(module.functions[0].returns[0].space, Space::Reg);
}

#[test]
fn ranges_hold_the_registers_that_are_used_and_remember_what_was_declared() {
    let body = body(".reg .b32 %r<1000000>, %s; .reg .v2 .f32 %v<3>; mov.b32 %r999999, %r0; mov.b32 %r0, %s;");
    let names: Vec<_> = body.registers.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["%s", "%r999999", "%r0"]);
    let declared: Vec<_> = body
        .declared
        .iter()
        .map(|r| (r.prefix.as_str(), r.count, r.ty, r.vector))
        .collect();
    assert_eq!(
        declared,
        [
            ("%r", Some(1_000_000), Type::B32, 1),
            ("%s", None, Type::B32, 1),
            ("%v", Some(3), Type::F32, 2)
        ]
    );
}

#[test]
fn declared_registers_add_up_by_width() {
    let module =
        module(".entry k() { .reg .pred %p<3>; .reg .b32 %r<5>, t; .reg .v2 .f32 %v<2>; .reg .b64 %rd<7>; ret; }");
    assert_eq!(module.functions[0].declared_registers(), [(1, 3), (32, 10), (64, 7)]);
}

#[test]
fn module_and_body_pragmas_are_kept() {
    let module = module(".pragma \"a\"; .entry k() { .pragma \"b\"; ret; }");
    assert_eq!(module.pragmas, ["a"]);
    assert_eq!(module.functions[0].pragmas, ["b"]);
}
