//! The top level: `.version`, `.target`, `.file`, variables, functions, aliases, debug sections.

use std::sync::{Arc, LazyLock};

use crate::cursor::Cursor;
use crate::error::{ParseError, Result};
use crate::functions::FunctionState;
use crate::inlining::{Chain, Paths};
use crate::lexer::Kind;
use crate::names::Map;
use crate::{FuncId, Linkage, Modifier, Module, Opcode, Operand, Pos, SourceFile, SpecialRegister, Variable};

/// Zero bytes that initialisers with inner braces may add between the values written: more is an error, since a few
/// characters could otherwise ask for any amount of memory.
const MOST_PADDING: u64 = 64 << 20;

/// What a name at module level means.
#[derive(Clone, Copy)]
pub(crate) enum Global {
    Variable(u32),
    Function(FuncId),
}

/// The state of one run.
pub(crate) struct Parser<'a> {
    pub(crate) cursor: Cursor<'a>,
    pub(crate) module: Module,
    pub(crate) globals: Map<&'a str, Global>,
    /// Dotted words seen, classified once.
    pub(crate) modifiers: Map<&'a str, Modifier>,
    /// All words of an instruction as written without blanks (`.global.v4.f32`), and what they are.
    pub(crate) tails: Map<&'a str, Arc<[Modifier]>>,
    /// Words of video operands and other rare ones.
    pub(crate) words: Map<&'a str, Arc<str>>,
    pub(crate) paths: Paths<'a>,
    /// Where code was inlined, for each function with a body.
    pub(crate) sites: Vec<(u32, Vec<(u32, Chain<'a>)>)>,
    /// Zero bytes that initialisers may still add.
    pub(crate) padding_left: u64,
    /// Modifiers and operands of the instruction being parsed, so that each instruction allocates once for them.
    pub(crate) modifier_scratch: Vec<Modifier>,
    pub(crate) operand_scratch: Vec<Operand>,
    /// The function being parsed.
    pub(crate) function: FunctionState<'a>,
}

/// Opcodes by their word.
pub(crate) static OPCODES: LazyLock<Map<&'static str, Opcode>> =
    LazyLock::new(|| Opcode::ALL.iter().map(|&opcode| (opcode.as_str(), opcode)).collect());

/// Special registers by their word, without the percent sign.
pub(crate) static SPECIAL: LazyLock<Map<&'static str, SpecialRegister>> = LazyLock::new(|| {
    SpecialRegister::ALL
        .iter()
        .map(|&register| (register.as_str(), register))
        .collect()
});

/// Parses a PTX file.
///
/// # Errors
/// The first place that is not PTX, with what was expected there. Nothing is judged that needs an opcode's meaning.
pub fn parse(text: &str) -> std::result::Result<Module, ParseError> {
    // The driver takes PTX as a C string, so files with the final NUL are about.
    let text = text.trim_end_matches('\0');
    let run = || {
        if u32::try_from(text.len()).is_err() {
            return Err(ParseError::new(
                Pos { line: 1, column: 1 },
                "a PTX file must be smaller than 4 GiB",
                "",
            ));
        }
        let mut parser = Parser {
            cursor: Cursor::new(text)?,
            module: Module::default(),
            globals: Map::default(),
            modifiers: Map::default(),
            tails: Map::from_iter([("", Arc::default())]),
            words: Map::default(),
            sites: Vec::new(),
            paths: Paths::default(),
            padding_left: MOST_PADDING,
            modifier_scratch: Vec::new(),
            operand_scratch: Vec::new(),
            function: FunctionState::default(),
        };
        parser.header()?;
        while parser.cursor.kind() != Kind::End {
            parser.top_level()?;
        }
        let Parser {
            mut module,
            sites,
            mut paths,
            ..
        } = parser;
        for (function, sites) in sites {
            paths.resolve(&mut module, function, sites);
        }
        Ok(module)
    };
    run().map_err(|error: Box<ParseError>| *error)
}

impl<'a> Parser<'a> {
    /// `.version`, `.target` and `.address_size`.
    fn header(&mut self) -> Result<()> {
        if !self.cursor.accept_dotted("version")? {
            return Err(self.cursor.expected("`.version`, with which every PTX file begins"));
        }
        let version = self.cursor.text().split_once('.').and_then(|(major, minor)| {
            let number = |digits: &str| digits.parse().ok();
            Some((number(major)?, number(minor)?))
        });
        self.module.version = version.ok_or_else(|| self.cursor.expected("a version like `8.0`"))?;
        self.cursor.bump()?;
        if self.cursor.dotted() != Some("target") {
            return Err(self.cursor.expected("`.target`"));
        }
        self.target()?;
        self.module.address_size = 32;
        if self.cursor.dotted() == Some("address_size") {
            self.address_size()?;
        }
        Ok(())
    }

    fn target(&mut self) -> Result<()> {
        self.cursor.bump()?;
        loop {
            let (word, _) = self.cursor.word("a target like `sm_90`")?;
            self.module.target.push(word.into());
            if !self.cursor.accept(Kind::Comma)? {
                return Ok(());
            }
        }
    }

    fn address_size(&mut self) -> Result<()> {
        self.cursor.bump()?;
        let (pos, text) = (self.cursor.pos(), self.cursor.text());
        self.module.address_size = self.cursor.small("32 or 64")?;
        if !matches!(self.module.address_size, 32 | 64) {
            return Err(ParseError::new(pos, "expected 32 or 64", text));
        }
        Ok(())
    }

    fn top_level(&mut self) -> Result<()> {
        let linkage = self.linkage()?;
        match self.cursor.dotted() {
            Some("entry" | "func") => self.function(linkage),
            Some("global" | "const" | "shared" | "local" | "param" | "tex") => self.module_variables(linkage),
            Some("file") => self.file(),
            Some("section") => self.section(),
            Some("pragma") => {
                let pragmas = self.pragma()?;
                self.module.pragmas.extend(pragmas);
                Ok(())
            }
            Some("alias") => self.alias(),
            Some("target") => self.target(),
            Some("address_size") => self.address_size(),
            // Stray `.loc` lines stand between functions in the output of some compilers.
            Some("loc") => self.loc(),
            _ if self.cursor.kind() == Kind::Semicolon => self.cursor.bump().map(drop),
            _ => Err(self.cursor.expected(
                "a directive of the module: `.entry`, `.func`, `.global`, `.const`, `.shared`, `.file`, `.section` ..",
            )),
        }
    }

    /// `.visible`, `.extern`, `.weak`, `.common`, of which the last counts.
    pub(crate) fn linkage(&mut self) -> Result<Linkage> {
        let mut linkage = Linkage::Internal;
        loop {
            linkage = match self.cursor.dotted() {
                Some("visible") => Linkage::Visible,
                Some("extern") => Linkage::Extern,
                Some("weak") => Linkage::Weak,
                Some("common") => Linkage::Common,
                _ => return Ok(linkage),
            };
            self.cursor.bump()?;
        }
    }

    fn module_variables(&mut self, linkage: Linkage) -> Result<()> {
        let found = self.variables(linkage)?;
        for (name, variable) in found {
            self.declare_global(name, variable)?;
        }
        Ok(())
    }

    /// A variable may be declared `.extern` any number of times, before or after its definition.
    fn declare_global(&mut self, name: &'a str, variable: Variable) -> Result<()> {
        let index = self.module.variables.len() as u32;
        let loose = |linkage| matches!(linkage, Linkage::Extern | Linkage::Common | Linkage::Weak);
        match self.globals.get(name).copied() {
            None => {
                self.globals.insert(name, Global::Variable(index));
                self.module.variables.push(variable);
            }
            Some(Global::Variable(at)) if variable.linkage == Linkage::Extern => {
                let before = &self.module.variables[at as usize];
                if before.space != variable.space {
                    return Err(ParseError::new(
                        variable.pos,
                        "declared before in another state space",
                        name,
                    ));
                }
            }
            Some(Global::Variable(at)) if loose(self.module.variables[at as usize].linkage) => {
                self.module.variables[at as usize] = variable;
            }
            Some(_) => return Err(ParseError::new(variable.pos, "this name is already declared", name)),
        }
        Ok(())
    }

    /// `.file N "path" [, timestamp, size]`
    pub(crate) fn file(&mut self) -> Result<()> {
        self.cursor.bump()?;
        let number = self.cursor.small("the number of the file")?;
        let text = self.cursor.text();
        self.cursor.expect(Kind::Text, "the path of the file, in quotes")?;
        let path = &text[1..text.len() - 1];
        while self.cursor.accept(Kind::Comma)? {
            self.cursor.integer("a time or a size")?;
        }
        self.paths.add(path, number);
        self.module.files.push(SourceFile {
            number,
            path: path.into(),
        });
        Ok(())
    }

    /// `.pragma "text", ..;`
    pub(crate) fn pragma(&mut self) -> Result<Vec<String>> {
        self.cursor.bump()?;
        let mut pragmas = Vec::new();
        loop {
            let text = self.cursor.text();
            self.cursor.expect(Kind::Text, "the text of the pragma, in quotes")?;
            pragmas.push(text[1..text.len() - 1].into());
            if !self.cursor.accept(Kind::Comma)? {
                break;
            }
        }
        self.cursor.expect(Kind::Semicolon, "`;`")?;
        Ok(pragmas)
    }

    /// `.alias name, function;`
    fn alias(&mut self) -> Result<()> {
        self.cursor.bump()?;
        let name = self.function_name("the name of the alias, a declared function")?;
        self.cursor.expect(Kind::Comma, "`,`")?;
        let target = self.function_name("the function that the alias stands for")?;
        self.cursor.expect(Kind::Semicolon, "`;`")?;
        self.module.functions[name.0 as usize].alias_of = Some(target);
        Ok(())
    }

    /// A function declared before.
    pub(crate) fn function_name(&mut self, what: &str) -> Result<FuncId> {
        match self.globals.get(self.cursor.text()) {
            Some(&Global::Function(id)) if self.cursor.kind() == Kind::Word => {
                self.cursor.bump()?;
                Ok(id)
            }
            _ => Err(self.cursor.expected(what)),
        }
    }

    /// A word shared by all its uses.
    pub(crate) fn shared_word(&mut self, word: &'a str) -> Arc<str> {
        self.words.entry(word).or_insert_with(|| word.into()).clone()
    }
}
