//! Whole builds of small kernel crates, right ones and wrong ones.

mod common;

use std::fs;

use common::{Kernels, read};
use tile33_cuda_builder::{BuildError, Built, Origin};
use tile33_ptx::{Linkage, Module, Opcode, Space};

fn kernels() -> Option<Kernels> {
    Kernels::new("kernels")
}

fn parsed(built: &Built) -> Module {
    tile33_ptx::parse(&read(&built.ptx)).unwrap()
}

#[test]
fn building_again_with_nothing_changed_does_nothing() {
    let Some(kernels) = kernels() else { return };
    let first = kernels.builder("module_one").build().unwrap();
    assert_eq!(first.kernels, ["turn_one", "turn_twice_one"]);
    let written = |built: &Built| fs::metadata(&built.ptx).unwrap().modified().unwrap();
    let before = written(&first);
    let second = kernels.builder("module_one").build().unwrap();
    assert_eq!(second.origin, Origin::UpToDate);
    assert_eq!(written(&second), before);
    assert_eq!(second.ptx, first.ptx);
}

#[test]
fn a_file_takes_the_kernels_that_no_longer_beginning_takes() {
    let Some(kernels) = Kernels::new("kernels") else { return };
    let kernel = |name| {
        format!(
            "/// Writes.\n/// # Safety\n/// None.\n#[kernel]\n\
             pub unsafe fn {name}(x: *mut u32) {{ unsafe {{ *x = 1 }} }}\n"
        )
    };
    let source = ["turn_one", "turn_twice_one"].map(kernel).concat();
    kernels.write(
        "crates/choosing/src/lib.rs",
        &format!("#![no_std]\nuse cuda_std::prelude::*;\n{source}"),
    );
    let manifest = CHANGING.replace("CUDA_STD", cuda_std()).replace("changing", "choosing");
    let builder = || kernels.builder("choosing");
    let build = |files: &str| {
        let manifest = format!("{manifest}\n[package.metadata.ptx]\n{files}");
        kernels.write("crates/choosing/Cargo.toml", &manifest);
        builder().kernels("turn_").build()
    };
    let all = build("\"all.ptx\" = { arch = \"sm_75\", kernels = \"turn_\" }\n").unwrap();
    assert_eq!(all.kernels, ["turn_one", "turn_twice_one"]);
    let two = "\"a.ptx\" = { arch = \"sm_75\", kernels = \"turn_\" }\n\
               \"b.ptx\" = { arch = \"sm_80\", kernels = \"turn_twice_\" }\n";
    let rest = build(two).unwrap();
    assert_eq!(rest.kernels, ["turn_one"]);
    assert!(!read(&rest.ptx).contains("turn_twice_one"));
    assert_ne!(
        rest.inputs, all.inputs,
        "what other files take decides what is in this one"
    );
    let twice = builder().kernels("turn_twice_").build().unwrap();
    assert_eq!(twice.kernels, ["turn_twice_one"]);

    let error = builder().kernels("walk_").build().unwrap_err();
    assert!(
        error.to_string().contains("no kernel whose name begins with `walk_`"),
        "{error}"
    );
    let error = build("\"b.ptx\" = { arch = \"sm_75\", kernels = \"turn_twice_\" }\n").unwrap_err();
    assert!(
        matches!(&error, BuildError::NoFileForKernel { kernel, .. } if kernel == "turn_one"),
        "{error}"
    );
    assert!(error.to_string().contains("package.metadata.ptx"), "{error}");
}

#[test]
fn a_changed_source_is_built_again_and_changed_back_gives_the_same() {
    let Some(kernels) = Kernels::new("kernels") else { return };
    let path = "crates/changing/src/lib.rs";
    kernels.write("crates/changing/Cargo.toml", &CHANGING.replace("CUDA_STD", cuda_std()));
    let source = |value: u32| {
        format!(
            "#![no_std]\nuse cuda_std::prelude::*;\n/// Writes.\n/// # Safety\n/// None.\n#[kernel]\n\
             pub unsafe fn writes(x: *mut u32) {{ unsafe {{ *x = {value} }} }}\n"
        )
    };
    let build = |value| {
        kernels.write(path, &source(value));
        let built = kernels.builder("changing").build().unwrap();
        (read(&built.ptx), built.inputs)
    };
    let (first, first_inputs) = build(4711);
    let (second, second_inputs) = build(4712);
    assert!(first.contains("4711") && !first.contains("4712"));
    assert!(second.contains("4712") && !second.contains("4711"));
    assert_ne!(first_inputs, second_inputs);
    assert_eq!(build(4711), (first, first_inputs));
}

const CHANGING: &str = "[package]\nname = \"changing\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
                        cuda_std = { package = \"tile33-cuda-std\", path = \"CUDA_STD\" }\n";

fn cuda_std() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../cuda_std")
}

#[test]
fn the_ptx_is_copied_where_it_is_wanted() {
    let Some(kernels) = kernels() else { return };
    let folder = tempfile::tempdir().unwrap();
    let wanted = folder.path().join("deep/down/kernels.ptx");
    let built = kernels.builder("module_one").copy_to(&wanted).build().unwrap();
    assert_eq!(built.ptx, wanted);
    fs::write(&wanted, "garbage").unwrap();
    let again = kernels.builder("module_one").copy_to(&wanted).build().unwrap();
    assert_eq!(again.origin, Origin::UpToDate);
    assert_eq!(tile33_cuda_builder::digest(&read(&wanted)), built.digest);
}

#[test]
fn each_architecture_gets_the_lowest_ptx_version_that_names_it() {
    let Some(kernels) = kernels() else { return };
    for (arch, version) in [
        ("sm_75", (6, 3)),
        ("sm_80", (7, 0)),
        ("sm_90", (7, 8)),
        ("sm_100", (8, 6)),
        ("sm_120", (8, 7)),
    ] {
        let module = parsed(&kernels.builder("module_one").arch(arch).build().unwrap());
        assert_eq!(module.target[0], arch);
        assert_eq!(module.version, version, "{arch}");
    }
}

#[test]
fn features_choose_kernels_and_do_not_mix_builds_up() {
    let Some(kernels) = kernels() else { return };
    let build = |features: &[&str]| {
        kernels
            .builder("module_two")
            .features(features.iter().copied())
            .build()
            .unwrap()
    };
    let (without, with) = (build(&[]), build(&["extra"]));
    assert_eq!(without.kernels, ["turn_twice_two", "turn_two"]);
    assert_eq!(with.kernels, ["extra_two", "turn_twice_two", "turn_two"]);
    assert_ne!(without.ptx, with.ptx);
    assert!(!read(&build(&[]).ptx).contains("extra_two"));
}

#[test]
fn the_ptx_names_no_folder_of_the_machine_and_is_the_same_in_another_place() {
    let (Some(here), Some(elsewhere)) = (kernels(), Kernels::new("the same kernels elsewhere")) else {
        return;
    };
    let one = read(&here.builder("device_std").build().unwrap().ptx);
    let other = read(&elsewhere.builder("device_std").build().unwrap().ptx);
    assert_eq!(one, other);
    for line in one.lines().filter(|line| line.trim_start().starts_with(".file")) {
        assert!(!line.contains("\"/"), "{line}");
    }
    assert!(!one.contains(env!("CARGO_MANIFEST_DIR")));
}

#[test]
fn a_barrier_between_two_equal_conditions_stays_one_barrier_that_all_threads_reach() {
    let Some(kernels) = kernels() else { return };
    let module = parsed(&kernels.builder("guarded_barrier").build().unwrap());
    let body = module
        .functions
        .iter()
        .find(|function| function.name == "reverse")
        .unwrap()
        .body
        .as_ref()
        .unwrap();
    let barriers = body
        .instructions
        .iter()
        .filter(|instruction| instruction.opcode == Opcode::Bar);
    assert_eq!(barriers.count(), 1);
}

#[test]
fn launch_bounds_reach_the_ptx() {
    let Some(kernels) = kernels() else { return };
    let module = parsed(&kernels.builder("device_std").build().unwrap());
    let bounds = |name: &str| {
        module
            .functions
            .iter()
            .find(|function| function.name == name)
            .unwrap()
            .bounds
    };
    assert_eq!(bounds("bounded").max_threads, Some([256, 1, 1]));
    assert_eq!(bounds("bounded").min_blocks, Some(2));
    assert_eq!(bounds("named_barriers").max_threads, Some([64, 1, 1]));
    assert_eq!(bounds("named_barriers").min_blocks, None);
    assert_eq!(bounds("votes").max_threads, None);
}

#[test]
fn vector_types_become_vector_accesses() {
    let Some(kernels) = kernels() else { return };
    let ptx = read(&kernels.builder("device_std").build().unwrap().ptx);
    let of = |kernel: &str| {
        ptx.split(&format!(".entry {kernel}("))
            .nth(1)
            .unwrap()
            .split("\n}")
            .next()
            .unwrap()
            .to_owned()
    };
    let wide = of("vectors");
    for access in [
        "ld.global.v4.b32",
        "st.shared.v4.b32",
        "ld.shared.v4.b32",
        "st.global.v4.b32",
    ] {
        assert_eq!(wide.matches(access).count(), 1, "{access}");
    }
    let narrow = of("small_vectors");
    let loads = ["ld.global.v4.b16", "ld.global.v2.b32", "ld.global.b64"];
    assert_eq!(
        loads.iter().map(|load| narrow.matches(load).count()).sum::<usize>(),
        1,
        "{narrow}"
    );
}

#[test]
fn modules_with_the_same_shared_names_share_no_symbol() {
    let Some(kernels) = kernels() else { return };
    let [one, two] = ["module_one", "module_two"].map(|name| kernels.builder(name).build().unwrap());
    for built in [&one, &two] {
        let module = parsed(built);
        let declared = module.functions.iter().filter_map(|function| function.body.as_ref());
        let shared: Vec<_> = declared
            .flat_map(|body| &body.variables)
            .chain(&module.variables)
            .filter(|variable| variable.space == Space::Shared)
            .collect();
        assert!(!shared.is_empty());
        for variable in shared {
            assert_eq!(variable.linkage, Linkage::Internal, "{} could collide", variable.name);
        }
    }
    assert!(one.kernels.iter().all(|kernel| !two.kernels.contains(kernel)));
}

#[test]
fn one_static_that_two_kernels_use_is_memory_of_each() {
    let Some(kernels) = kernels() else { return };
    let module = parsed(&kernels.builder("module_one").build().unwrap());
    // Both kernels inline the function that declares it: one variable of the module, 256 bytes in each block of either.
    let bytes: Vec<u64> = module
        .variables
        .iter()
        .filter(|variable| variable.space == Space::Shared)
        .map(tile33_ptx::Variable::bytes)
        .collect();
    assert_eq!(bytes, [256]);
}

#[test]
fn an_error_in_a_kernel_is_shown_as_rustc_words_it_without_the_rest() {
    let Some(kernels) = kernels() else { return };
    let error = kernels.builder("compile_error").build().unwrap_err();
    assert!(matches!(&error, BuildError::Compile { name, arch: "sm_75", .. } if name == "compile_error"));
    let message = error.to_string();
    assert!(
        message.contains("mismatched types") && message.contains("lib.rs:9"),
        "{message}"
    );
    assert!(
        !message.contains("unused variable") && message.lines().count() < 25,
        "{message}"
    );
}

#[test]
fn a_crate_without_a_kernel_is_an_error() {
    let Some(kernels) = kernels() else { return };
    let error = kernels.builder("no_kernel").build().unwrap_err();
    assert!(matches!(error, BuildError::NoKernels { .. }));
    assert!(error.to_string().contains("#[kernel]"), "{error}");
}

#[test]
fn an_undefined_function_fails_the_audit_and_names_the_kernel() {
    let Some(kernels) = kernels() else { return };
    let error = kernels.builder("undefined_function").build().unwrap_err();
    let BuildError::Audit { findings, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(findings.len(), 1);
    assert!(
        findings[0].contains("kernel `caller` calls `of_another_world`"),
        "{}",
        findings[0]
    );
}

#[test]
fn a_shared_address_in_a_function_of_its_own_fails_the_audit_and_names_kernel_and_function() {
    let Some(kernels) = kernels() else { return };
    let error = kernels.builder("escaping_address").build().unwrap_err();
    let BuildError::Audit { findings, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(
        findings[0].contains("kernel `careless` accesses `careless__ARRAY`"),
        "{}",
        findings[0]
    );
    assert!(findings[0].contains("in `escaping_address__fill`"), "{}", findings[0]);
}

#[test]
fn shared_memory_with_a_value_is_refused() {
    let Some(kernels) = kernels() else { return };
    let error = kernels.builder("initialised").build().unwrap_err();
    assert!(matches!(&error, BuildError::Ir { .. }), "{error}");
    assert!(error.to_string().contains("MaybeUninit::uninit()"), "{error}");
}
