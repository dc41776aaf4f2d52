//! Finding names.

use super::scan::*;

fn names(line: &str) -> Vec<&str> {
    global_names(line).into_iter().map(|range| &line[range]).collect()
}

#[test]
fn names_are_found_with_every_character_that_llvm_allows() {
    assert_eq!(
        names("store ptr @a.b$c-d_1, ptr @\"two words\""),
        ["@a.b$c-d_1", "@\"two words\""]
    );
    assert_eq!(names("@x = global ptr @y"), ["@x", "@y"]);
}

#[test]
fn at_signs_in_strings_and_comments_name_nothing() {
    assert_eq!(names(r#"@s = constant [3 x i8] c"a@b" ; see @other"#), ["@s"]);
    assert_eq!(names(r#"call void asm "@p bra \22;", "r"(i32 1), !srcloc !1"#), [""; 0]);
    assert_eq!(names(r#"@t = global i8 0, section ".shared@x""#), ["@t"]);
}

#[test]
fn a_definition_is_split_at_its_name() {
    assert_eq!(
        definition("@\"a = b\" = internal global i8 0"),
        Some(("@\"a = b\"", "internal global i8 0"))
    );
    assert_eq!(definition("  store i8 0, ptr @x"), None);
}

#[test]
fn parentheses_in_strings_do_not_close_a_list() {
    let line = r#"call void asm "f(", ")"(i32 1) #2"#;
    assert_eq!(end_of_parentheses(line, 0), Some(line.len() - 3));
    assert_eq!(end_of_parentheses("(((", 0), None);
}

#[test]
fn a_name_that_starts_another_is_not_mistaken_for_it() {
    let by = |name: &str| (name == "@a").then(|| "@b".to_owned());
    assert_eq!(
        replace_names("use(@a, @aa, @a.1, @a)", by).as_deref(),
        Some("use(@b, @aa, @a.1, @b)")
    );
    assert_eq!(replace_names("use(@aa)", by), None);
}
