//! From an instruction to the line of a program that a person wrote.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tile33::launch_file::LaunchFile;
use tile33_ptx::{Body, Module, SourceLoc};
use tile33_sim::SourceLine;

/// Folders above the PTX in which sources are looked for: paths in PTX are often relative to a project's root.
const FOLDERS_ABOVE: usize = 4;

/// Largest source that is quoted, in bytes.
const LARGEST_SOURCE: u64 = 16 << 20;

/// The PTX, and the sources that it names as far as they are found.
pub(super) struct Sources<'a> {
    module: &'a Module,
    ptx: Rc<Source>,
    ptx_name: String,
    folders: Vec<PathBuf>,
    read: RefCell<HashMap<String, Option<Rc<Source>>>>,
}

/// A source file.
pub(super) struct Source {
    pub(super) text: String,
    /// Whether it belongs to the project at hand rather than to a library.
    own: bool,
}

/// A place with its text, if that is found.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) source: Option<Rc<Source>>,
}

impl<'a> Sources<'a> {
    pub(super) fn new(file: &'a LaunchFile, launch: &Path) -> Self {
        let module = file.program().module();
        let beside = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
        let mut folders = vec![PathBuf::new(), beside(launch), beside(file.ptx_path())];
        if let Ok(full) = fs::canonicalize(file.ptx_path()) {
            folders.extend(full.ancestors().skip(1).take(FOLDERS_ABOVE).map(Path::to_owned));
        }
        let ptx_name = file.ptx_path().display().to_string();
        let ptx = Rc::new(Source {
            text: file.ptx().to_owned(),
            own: true,
        });
        Self {
            module,
            ptx,
            ptx_name,
            folders,
            read: RefCell::default(),
        }
    }

    /// The first instruction in a PTX line, by its body and its index there.
    fn instruction(&self, line: u32) -> Option<(&'a Body, usize)> {
        let bodies = self
            .module
            .functions
            .iter()
            .filter_map(|function| function.body.as_ref());
        bodies
            .map(|body| (body, body.instructions.partition_point(|i| i.pos.line < line)))
            .find(|(body, index)| body.instructions.get(*index).is_some_and(|i| i.pos.line == line))
    }

    /// The text of a source, from wherever it is found.
    fn source(&self, path: &str) -> Option<Rc<Source>> {
        self.read
            .borrow_mut()
            .entry(path.to_owned())
            .or_insert_with(|| self.find(path).map(Rc::new))
            .clone()
    }

    fn find(&self, path: &str) -> Option<Source> {
        let given = Path::new(path);
        let read = |path: &Path| {
            let small = fs::metadata(path)
                .ok()
                .filter(|data| data.is_file() && data.len() <= LARGEST_SOURCE);
            small.and_then(|_| fs::read_to_string(path).ok())
        };
        if given.is_absolute() {
            let here = std::env::current_dir().is_ok_and(|here| given.starts_with(here));
            let own = here
                || self
                    .folders
                    .iter()
                    .any(|f| f.is_absolute() && given.starts_with(f) && f.parent().is_some());
            return read(given).map(|text| Source { text, own });
        }
        self.folders
            .iter()
            .find_map(|folder| read(&folder.join(given)))
            .map(|text| Source { text, own: true })
    }

    fn place(&self, loc: SourceLoc) -> Option<Place> {
        let file = self.module.file(loc).filter(|_| loc.line > 0)?;
        let source = self.source(&file.path);
        Some(Place {
            path: file.path.clone(),
            line: loc.line,
            column: loc.column,
            source,
        })
    }

    /// Where a PTX line comes from: the innermost place of the project's own, else the innermost that is found, else the
    /// one that `.loc` names. Second, the places further out.
    pub(super) fn frames(&self, ptx_line: u32) -> (Option<Place>, Vec<Place>) {
        let Some((body, index)) = self.instruction(ptx_line) else {
            return (None, Vec::new());
        };
        let instruction = &body.instructions[index];
        // A line of 0 means that the compiler made the instruction from several lines; the last known one is near.
        let loc = body.instructions[..=index]
            .iter()
            .rev()
            .find_map(|i| i.loc.filter(|loc| loc.line > 0));
        let chain = if instruction.loc == loc {
            body.inline_chain(index)
        } else {
            &[]
        };
        let mut places: Vec<Place> = loc.iter().chain(chain).filter_map(|&loc| self.place(loc)).collect();
        let own = places
            .iter()
            .position(|place| place.source.as_ref().is_some_and(|source| source.own));
        let found = own
            .or_else(|| places.iter().position(|place| place.source.is_some()))
            .unwrap_or(0);
        if places.is_empty() {
            return (None, places);
        }
        let outer = places.split_off(found + 1);
        (places.pop(), outer)
    }

    /// The place for a person: the source if it is known, else the PTX.
    pub(super) fn best(&self, ptx_line: u32) -> (Place, Vec<Place>) {
        match self.frames(ptx_line) {
            (Some(place), outer) => (place, outer),
            (None, outer) => (self.ptx_place(ptx_line), outer),
        }
    }

    /// A line of the PTX itself.
    pub(super) fn ptx_place(&self, line: u32) -> Place {
        let column = self
            .instruction(line)
            .map_or(0, |(body, index)| body.instructions[index].pos.column);
        Place {
            path: self.ptx_name.clone(),
            line,
            column,
            source: Some(self.ptx.clone()),
        }
    }

    /// A source line as `path:line:column`, the way findings show it.
    pub(super) fn name(&self, ptx_line: u32, source: Option<&SourceLine>) -> String {
        match (self.frames(ptx_line), source) {
            ((Some(place), _), _) => format!("{}:{}", place.path, place.line),
            (_, Some(source)) => format!("{}:{}", source.file, source.line),
            _ => format!("{}:{ptx_line}", self.ptx_name),
        }
    }
}

impl Place {
    /// The bytes to underline: the word at the column, or the line without its indentation.
    pub(super) fn span(&self) -> Option<Range<usize>> {
        let text = &self.source.as_ref()?.text;
        let line = line_span(text, self.line)?;
        let column = (self.column as usize)
            .checked_sub(1)
            .map(|column| line.start + column - indentation(text, self.line));
        let word = column
            .filter(|&at| line.contains(&at) && text.is_char_boundary(at))
            .map(|at| {
                let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
                let length = text[at..line.end].find(|c| !is_word(c)).unwrap_or(line.end - at);
                at..at + length.max(text[at..].chars().next().map_or(1, char::len_utf8))
            });
        Some(word.unwrap_or(line))
    }
}

/// The bytes of a line from its first character that is not blank, if the text has that line.
pub(super) fn line_span(text: &str, line: u32) -> Option<Range<usize>> {
    let index = (line as usize).checked_sub(1)?;
    let mut start = 0;
    for (at, content) in text.split('\n').enumerate() {
        if at == index {
            let content = content.trim_end();
            let first = start + content.len() - content.trim_start().len();
            return Some(first..start + content.len());
        }
        start += content.len() + 1;
    }
    None
}

/// Blank bytes at the start of a line.
fn indentation(text: &str, line: u32) -> usize {
    text.split('\n')
        .nth(line as usize - 1)
        .map_or(0, |content| content.len() - content.trim_start().len())
}
