//! Which source line an instruction belongs to.
//!
//! LLVM says for each instruction where it was written and, as a comment, through which calls it was inlined. Written it
//! was in `core` or `cuda_std`, mostly: a load is a line of a pointer's or a tile's `read`. Whoever looks for the cost of a
//! kernel's line wants the kernel's line, and three quarters of the text of a module are such comments. So each `.loc`
//! becomes the innermost place in the kernel crate itself, without a comment: programs carry the PTX with them. Where the
//! line stays the same no second `.loc` is needed.

use std::collections::BTreeMap;
use std::fmt::Write;

/// The PTX with the locations of the crate whose files' paths start with `folder`. Without a folder, as it is.
pub(crate) fn of_the_kernel_crate(ptx: &str, folder: &str) -> String {
    if folder.is_empty() {
        return ptx.to_owned();
    }
    let mut files = Files::of(ptx);
    let mut out = String::with_capacity(ptx.len() / 2);
    let mut last = None;
    for line in ptx.lines() {
        if let Some(location) = line.trim_start().strip_prefix(".loc\t") {
            if let Some(Place { path, line, column }) = own_place(location, folder)
                && last != Some((path, line))
            {
                // Writing to a string cannot fail.
                let _ = writeln!(out, "\t.loc\t{} {line} {column}", files.number(path));
                last = Some((path, line));
            }
            continue;
        }
        if is_location_label(line) {
            continue;
        }
        if line.starts_with('{') || line.starts_with(".file") {
            last = None;
        }
        out.push_str(line);
        out.push('\n');
    }
    for (path, number) in &files.added {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "\t.file\t{number} \"{path}\"");
    }
    out
}

/// The labels that LLVM puts at every change of location, for debug sections that there are none of here.
fn is_location_label(line: &str) -> bool {
    let number = line.strip_prefix("$L__tmp").and_then(|rest| rest.strip_suffix(':'));
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The numbers of the `.file` lines.
struct Files<'a> {
    numbers: BTreeMap<&'a str, u32>,
    added: BTreeMap<&'a str, u32>,
}

impl<'a> Files<'a> {
    fn of(ptx: &'a str) -> Self {
        let file = |line: &'a str| {
            let (number, path) = line.trim_start().strip_prefix(".file")?.trim_start().split_once(' ')?;
            Some((path.trim().trim_matches('"'), number.parse().ok()?))
        };
        let numbers = ptx.lines().filter_map(file).collect();
        Self {
            numbers,
            added: BTreeMap::new(),
        }
    }

    /// The number of a file; one that has none gets one.
    fn number(&mut self, path: &'a str) -> u32 {
        if let Some(number) = self.numbers.get(path).or_else(|| self.added.get(path)) {
            return *number;
        }
        let largest = self.numbers.values().chain(self.added.values()).max();
        let number = largest.map_or(1, |largest| largest + 1);
        self.added.insert(path, number);
        number
    }
}

/// A place in a source file.
#[derive(Clone, Copy)]
struct Place<'a> {
    path: &'a str,
    line: &'a str,
    column: &'a str,
}

impl<'a> Place<'a> {
    /// Reads `src/lib.rs:12:5`, with the brackets that close a chain behind it or not.
    fn read(text: &'a str) -> Option<Self> {
        let text = text.split(" ]").next()?.trim();
        let mut fields = text.rsplitn(3, ':');
        let (column, line, path) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Self { path, line, column })
    }
}

/// The innermost place of a `.loc` in the kernel crate. Line 0 is LLVM's for code that belongs to no line.
fn own_place<'a>(location: &'a str, folder: &str) -> Option<Place<'a>> {
    let comment = location.split_once("//").map_or("", |(_, comment)| comment);
    let mut places = comment.split(" @[ ").filter_map(Place::read);
    places.find(|place| place.path.starts_with(folder) && place.line != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
.entry k()
{
\t.loc\t2 7 5                           // src/num.rs:7:5 @[ crates/cuda_std/src/warp.rs:3:1 @[ kernels/src/a.rs:20:9 @[ kernels/src/b.rs:30:2 ] ] ]
$L__tmp1:
\tadd.s32 \t%r1, %r2, %r3;
\t.loc\t2 8 5                           // src/num.rs:8:5 @[ kernels/src/a.rs:20:9 @[ kernels/src/b.rs:30:2 ] ]
\tadd.s32 \t%r1, %r1, %r3;
\t.loc\t1 0 5                           // kernels/src/a.rs:0:5
\tadd.s32 \t%r1, %r1, %r4;
\t.loc\t1 21 3                          // kernels/src/a.rs:21:3
$L__BB0_1:
\tret;
}
\t.file\t1 \"kernels/src/a.rs\"
\t.file\t2 \"rust/library/core/src/num.rs\"
";

    #[test]
    fn an_instruction_belongs_to_the_innermost_line_of_the_kernel_crate() {
        let expected = "\
.entry k()
{
\t.loc\t1 20 9
\tadd.s32 \t%r1, %r2, %r3;
\tadd.s32 \t%r1, %r1, %r3;
\tadd.s32 \t%r1, %r1, %r4;
\t.loc\t1 21 3
$L__BB0_1:
\tret;
}
\t.file\t1 \"kernels/src/a.rs\"
\t.file\t2 \"rust/library/core/src/num.rs\"
";
        assert_eq!(of_the_kernel_crate(MODULE, "kernels/"), expected);
    }

    #[test]
    fn a_file_that_only_comments_name_gets_a_number() {
        let rewritten = of_the_kernel_crate(MODULE, "kernels/src/b");
        assert!(rewritten.contains("\t.loc\t3 30 2\n"), "{rewritten}");
        assert!(rewritten.ends_with("\t.file\t3 \"kernels/src/b.rs\"\n"), "{rewritten}");
    }

    #[test]
    fn each_function_starts_with_a_location_of_its_own() {
        let twice = format!("{MODULE}{MODULE}");
        let rewritten = of_the_kernel_crate(&twice, "kernels/");
        assert_eq!(rewritten.matches(".loc\t1 20 9").count(), 2, "{rewritten}");
    }

    #[test]
    fn local_variables_are_no_locations() {
        let module = "{\n\t.local .align 8 .b8 \t__local_depot0[12];\n}\n";
        assert_eq!(of_the_kernel_crate(module, "kernels/"), module);
    }

    #[test]
    fn without_a_folder_nothing_changes() {
        assert_eq!(of_the_kernel_crate(MODULE, ""), MODULE);
    }
}
