//! Source positions: `.loc`, chains of inlining as nvcc and LLVM write them, debug sections.

use tile33_ptx::{Body, SourceLoc};

use crate::common::{error, module};

fn at(file: u32, line: u32, column: u32) -> SourceLoc {
    SourceLoc { file, line, column }
}

fn only_body(lines: &str) -> (tile33_ptx::Module, Body) {
    let module = module(lines);
    let body = module.functions[0].body.clone().expect("it is defined");
    (module, body)
}

#[test]
fn a_loc_holds_until_the_next_and_not_into_the_next_function() {
    let module = module(
        ".entry a() { bar.sync 0; .loc 1 10 3\n bar.sync 0; { bar.sync 0; .loc 2 4 0 } bar.sync 0; }
         .entry b() { ret; }
         .file 1 \"a.cu\" .file 2 \"b.cuh\", 1234567, 42",
    );
    let locs = |function: usize| -> Vec<_> {
        module.functions[function]
            .body
            .iter()
            .flat_map(|b| &b.instructions)
            .map(|i| i.loc)
            .collect()
    };
    assert_eq!(
        locs(0),
        [None, Some(at(1, 10, 3)), Some(at(1, 10, 3)), Some(at(2, 4, 0))]
    );
    assert_eq!(locs(1), [None]);
    assert_eq!(module.file(at(2, 4, 0)).map(|f| f.path.as_str()), Some("b.cuh"));
    assert_eq!(module.file(at(7, 4, 0)), None);
}

#[test]
fn the_chain_that_nvcc_writes_is_followed_to_its_end() {
    let (_, body) = only_body(
        ".entry k() {
          .loc 1 10 3
          bar.sync 0;
          .loc 2 20 5, function_name $L__info_string0, inlined_at 1 10 3
          .loc 3 30 7, function_name $L__info_string1+16, inlined_at 2 20 5
          bar.sync 0;
          bar.sync 0;
          .loc 1 11 3
          ret;
        }
        .section .debug_str { $L__info_string0: .b8 95,90,0 $L__info_string1: .b8 0 }",
    );
    assert_eq!(body.inline_chain(0), []);
    assert_eq!(body.inline_chain(1), [at(2, 20, 5), at(1, 10, 3)]);
    assert_eq!(body.inline_chain(2), body.inline_chain(1));
    assert_eq!(body.inline_chain(3), []);
    assert_eq!(body.instructions[1].inlined_at, Some(at(2, 20, 5)));
    assert_eq!(body.instructions[3].inlined_at, None);
}

#[test]
fn a_ring_of_inlining_ends() {
    let (_, body) = only_body(".entry k() { .loc 1 1 1, function_name f, inlined_at 1 1 1\n ret; }");
    assert_eq!(body.instructions[0].inlined_at, Some(at(1, 1, 1)));
}

#[test]
fn the_comment_that_llvm_writes_names_files_by_the_ends_of_their_paths() {
    let (module, body) = only_body(
        ".entry k() {
          .loc 2 125 5 // library/core/mod.rs:125:5 @[ src/lib.rs:21:14 @[ src/lib.rs:40:9 ] ]
          bar.sync 0;
          .loc 1 22 3 // src/lib.rs:22:3
          bar.sync 0;
          .loc 1 23 3 // src/lib.rs:23:3 @[ elsewhere.rs:7:1 ]
          ret;
        }
        .file 1 \"/build/kernels/src/lib.rs\"
        .file 2 \"library/core/mod.rs\"",
    );
    assert_eq!(body.inline_chain(0), [at(1, 21, 14), at(1, 40, 9)]);
    assert_eq!(body.inline_chain(1), []);
    assert_eq!(body.inline_chain(2), [at(3, 7, 1)]);
    assert_eq!(module.file(at(3, 7, 1)).map(|f| f.path.as_str()), Some("elsewhere.rs"));
}

#[test]
fn debug_sections_are_stepped_over() {
    let module = module(
        ".section .debug_info { .b32 100 .b8 2 .b8 0 .b32 .debug_abbrev .b8 8 .b64 $L__begin0 .b64 $L__end0-$L__begin0
           $L__info: .b8 1,2,3 .b32 .debug_line+4 }
         .section .debug_macinfo { }
         .section .debug_loc\n{\n.b64 -1\n}",
    );
    assert_eq!(module.functions.len(), 0);
    assert_eq!(error(".section .debug_info { .b8 1 [").found, "[");
    assert_eq!(error(".section .debug_info { .b8 1 ").found, "");
}
