//! Parameters that cannot work do not compile, and the compiler says why.

#[test]
fn impossible_parameters_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile-fail/*.rs");
}
