//! What `#[kernel]` and the shared-memory macros accept, and the messages for what they do not.

#[test]
fn wrong_kernels_do_not_compile_and_say_why() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/fail/*.rs");
    cases.pass("tests/ui/pass/*.rs");
}
