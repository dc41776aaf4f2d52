//! The rewriting of whole snippets.

use super::*;

fn rewritten(ir: &str) -> String {
    prepare(ir)
        .map(|prepared| prepared.text)
        .unwrap_or_else(|problem| panic!("{problem:?}"))
}

fn problem(ir: &str) -> Problem {
    prepare(ir).expect_err("the module is wrong")
}

#[test]
fn a_marked_static_moves_to_shared_memory_and_its_uses_are_cast() {
    let ir = r#"@TILE = internal global [4224 x i8] undef, section ".shared", align 4
@OTHER = internal global [4 x i8] undef, align 4
  %p = getelementptr inbounds float, ptr @TILE, i64 %i
  store float %v, ptr @TILE, align 4
  store float %v, ptr @OTHER, align 4
"#;
    let expected = r#"@TILE = internal addrspace(3) global [4224 x i8] undef, align 16
@OTHER = internal global [4 x i8] undef, align 4
  %p = getelementptr inbounds float, ptr addrspacecast (ptr addrspace(3) @TILE to ptr), i64 %i
  store float %v, ptr addrspacecast (ptr addrspace(3) @TILE to ptr), align 4
  store float %v, ptr @OTHER, align 4
"#;
    assert_eq!(rewritten(ir), expected);
}

#[test]
fn statics_of_several_instances_of_one_function_stay_apart() {
    let ir = r#"@_RNvNvC1k6f_f324TILE = internal unnamed_addr global [4096 x i8] undef, section ".shared", align 4
@_RNvNvC1k6f_f324TILE.12 = internal global [8192 x i8] undef, section ".shared", align 8
  store i32 0, ptr @_RNvNvC1k6f_f324TILE.12
  store i32 0, ptr @_RNvNvC1k6f_f324TILE
"#;
    let expected = r#"@_RNvNvC1k6f_f324TILE = internal addrspace(3) global [4096 x i8] undef, align 16
@_RNvNvC1k6f_f324TILE.12 = internal addrspace(3) global [8192 x i8] undef, align 16
  store i32 0, ptr addrspacecast (ptr addrspace(3) @_RNvNvC1k6f_f324TILE.12 to ptr)
  store i32 0, ptr addrspacecast (ptr addrspace(3) @_RNvNvC1k6f_f324TILE to ptr)
"#;
    assert_eq!(rewritten(ir), expected);
}

#[test]
fn quoted_names_are_rewritten_and_strings_that_hold_them_are_not() {
    let ir = r#"@"k::<f32>::TILE" = internal global [64 x i8] undef, section ".shared.static", align 32
@text = private constant [8 x i8] c"@k\22 TILE", align 1
  store i32 0, ptr @"k::<f32>::TILE" ; @"k::<f32>::TILE"
"#;
    let expected = r#"@"k::<f32>::TILE" = internal addrspace(3) global [64 x i8] undef, align 32
@text = private constant [8 x i8] c"@k\22 TILE", align 1
  store i32 0, ptr addrspacecast (ptr addrspace(3) @"k::<f32>::TILE" to ptr) ; @"k::<f32>::TILE"
"#;
    assert_eq!(rewritten(ir), expected);
}

#[test]
fn dynamic_shared_memory_becomes_an_external_array() {
    let ir =
        "@__cuda_std_dynamic_shared = external global i128\n  %p = call ptr @get(ptr @__cuda_std_dynamic_shared)\n";
    let expected = "@__cuda_std_dynamic_shared = external addrspace(3) global [0 x i8], align 16\n  \
                    %p = call ptr @get(ptr addrspacecast (ptr addrspace(3) @__cuda_std_dynamic_shared to ptr))\n";
    assert_eq!(rewritten(ir), expected);
}

#[test]
fn shared_memory_with_an_initial_value_is_refused() {
    let ir = "\n@X = internal global [4 x i8] zeroinitializer, section \".shared\", align 4\n";
    let problem = problem(ir);
    assert_eq!(problem.line, 2);
    assert!(problem.message.contains("MaybeUninit::uninit()"), "{}", problem.message);
    let constant = "@X = internal constant [4 x i8] undef, section \".shared\", align 4\n";
    assert!(self::problem(constant).message.contains("constant"));
}

#[test]
fn launch_bounds_travel_from_their_mark_to_the_kernel() {
    let ir = r#"@BOUNDS = internal constant [30 x i8] c"saxpy max_threads=256 min_blocks=2", section ".cuda_std.launch_bounds", align 1
@OTHER_BOUNDS = internal constant [5 x i8] c"plain", section ".cuda_std.launch_bounds", align 1
@llvm.compiler.used = appending global [3 x ptr] [ptr @BOUNDS, ptr @kept, ptr @OTHER_BOUNDS], section "llvm.metadata"
define ptx_kernel void @saxpy(ptr noundef %x, i32 noundef %n) unnamed_addr #2 !dbg !7 {
define dso_local ptx_kernel void @plain() {
"#;
    let prepared = prepare(ir).unwrap();
    let expected = r#"@llvm.compiler.used = appending global [1 x ptr] [ptr @kept], section "llvm.metadata"
define ptx_kernel void @saxpy(ptr noundef %x, i32 noundef %n) unnamed_addr #2 "nvvm.maxntid"="256" "nvvm.minctasm"="2" !dbg !7 {
define dso_local ptx_kernel void @plain() {
"#;
    assert_eq!(prepared.text, expected);
    let kernel = |name: &str, max_threads, min_blocks| Kernel {
        name: name.to_owned(),
        max_threads,
        min_blocks,
    };
    assert_eq!(
        prepared.kernels,
        [kernel("saxpy", Some(256), Some(2)), kernel("plain", None, None)]
    );
}

#[test]
fn launch_bounds_without_their_kernel_are_an_error() {
    let ir = "@B = internal constant [1 x i8] c\"gone max_threads=1\", section \".cuda_std.launch_bounds\", align 1\n";
    assert!(problem(ir).message.contains("`gone`"));
    let ir = "@B = internal constant [1 x i8] c\"gone threads=1\", section \".cuda_std.launch_bounds\", align 1\n";
    assert!(problem(ir).message.contains("no launch bound"));
}

#[test]
fn when_nothing_else_is_used_the_list_of_used_globals_goes() {
    let ir = r#"@B = internal constant [1 x i8] c"k max_threads=1", section ".cuda_std.launch_bounds", align 1
@llvm.used = appending global [1 x ptr] [ptr @B], section "llvm.metadata"
define ptx_kernel void @k() {
"#;
    assert_eq!(
        rewritten(ir),
        "\ndefine ptx_kernel void @k() \"nvvm.maxntid\"=\"1\" {\n"
    );
}

#[test]
fn inline_assembly_becomes_convergent() {
    let ir = r#"  call void asm sideeffect "bar.warp.sync $0;", "r,~{memory}"(i32 %mask) #12, !srcloc !4
  %1 = tail call i32 asm "mov.u32 $0, %(laneid);", "=r"()
  %2 = call i32 @asm (i32 0)
"#;
    let expected = r#"  call void asm sideeffect "bar.warp.sync $0;", "r,~{memory}"(i32 %mask) convergent #12, !srcloc !4
  %1 = tail call i32 asm "mov.u32 $0, %(laneid);", "=r"() convergent
  %2 = call i32 @asm (i32 0)
"#;
    assert_eq!(rewritten(ir), expected);
}

#[test]
fn the_processor_that_rustc_assumed_is_dropped() {
    let ir = "attributes #0 = { convergent nounwind \"target-cpu\"=\"sm_30\" \"target-features\"=\"+ptx32\" }\n";
    assert_eq!(rewritten(ir), "attributes #0 = { convergent nounwind }\n");
}

#[test]
fn support_functions_get_their_definition() {
    let declaration = "declare float @__cuda_std_atomic_add_f32_device(ptr noundef, float noundef) unnamed_addr #3\n";
    let definition = rewritten(declaration);
    assert!(
        definition.contains("atomicrmw fadd ptr %p, float %v syncscope(\"device\") monotonic, align 4"),
        "{definition}"
    );
    let declaration = "declare i64 @__cuda_std_atomic_cas_u64_block(ptr noundef, i64 noundef, i64 noundef)\n";
    let definition = rewritten(declaration);
    assert!(definition.contains("cmpxchg ptr %p, i64 %e, i64 %v syncscope(\"block\") monotonic monotonic, align 8"));
    let declaration = "declare i32 @__cuda_std_atomic_min_i32_system(ptr noundef, i32 noundef)\n";
    assert!(rewritten(declaration).contains("atom.sys.global.min.s32 $0, [$1], $2;"));
}

#[test]
fn unknown_support_functions_are_an_error() {
    for name in [
        "atomic_min_f32_device",
        "atomic_add_u32_cluster",
        "atomic_cas_f64_block",
        "teleport",
    ] {
        let problem = problem(&format!("declare void @__cuda_std_{name}(ptr)\n"));
        assert!(problem.message.contains(name), "{}", problem.message);
    }
}

#[test]
fn names_do_not_depend_on_how_the_crate_was_built() {
    let module = |hash: &str| {
        format!(
            "@_RNvNvNtCs{hash}_11kernels_gpu9transpose10padded_f324TILE = internal addrspace(3) global [64 x i8] undef\n\
             @anon.{hash}.0 = private constant [1 x i8] c\"a\"\n\
             @alloc_{hash} = private constant [1 x i8] c\"b\"\n\
             define ptx_kernel void @padded_f32(ptr %x) {{\n\
             \x20 call void @_RNvNtCs{hash}_4core9panicking18panic_bounds_check(ptr @anon.{hash}.0, ptr @alloc_{hash})\n\
             define internal void @_RNvNtCs{hash}_4core9panicking18panic_bounds_check(ptr %a, ptr %b) {{\n"
        )
    };
    let one = stable_names(&module("anIojcP8aaR"));
    assert_eq!(one, stable_names(&module("5pvu0Ts858G")));
    assert!(one.contains("@padded_f32__TILE = internal addrspace(3)"), "{one}");
    assert!(
        one.contains("call void @core__panicking__panic_bounds_check(ptr @constant, ptr @constant_2)"),
        "{one}"
    );
    assert!(one.contains("define ptx_kernel void @padded_f32(ptr %x)"));
}

#[test]
fn new_names_do_not_collide_with_old_ones() {
    let ir = "@k__TILE = internal global i8 0\n@_RNvNvC1m1k4TILE = internal addrspace(3) global [4 x i8] undef\n";
    let named = stable_names(ir);
    assert!(named.contains("@k__TILE = internal global"), "{named}");
    assert!(named.contains("@k__TILE_2 = internal addrspace(3)"), "{named}");
}
