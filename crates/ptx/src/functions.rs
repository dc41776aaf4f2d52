//! Kernels and functions: the header with its parameters and directives, and whether it has a body.

use std::mem;

use crate::error::{ParseError, Result};
use crate::inlining::Chains;
use crate::lexer::Kind;
use crate::module::{Global, Parser};
use crate::names::{Meaning, Names};
use crate::statements::Pending;
use crate::{Body, FuncId, Function, LaunchBounds, Linkage, Pos, Prototype, SourceLoc, Space, VarId, Variable};

/// What is known while a function is parsed.
#[derive(Default)]
pub(crate) struct FunctionState<'a> {
    pub(crate) names: Names<'a>,
    pub(crate) body: Body,
    /// Labels named before they are known.
    pub(crate) pending: Vec<Pending<'a>>,
    /// The `.loc` in force.
    pub(crate) loc: Option<SourceLoc>,
    pub(crate) chains: Chains<'a>,
    pub(crate) pragmas: Vec<String>,
}

type Named<'a> = Vec<(&'a str, Variable)>;

fn variables(named: &Named<'_>) -> Vec<Variable> {
    named.iter().map(|(_, variable)| variable.clone()).collect()
}

impl<'a> Parser<'a> {
    /// `.entry` or `.func`, up to and with its body.
    pub(crate) fn function(&mut self, linkage: Linkage) -> Result<()> {
        let is_kernel = self.cursor.dotted() == Some("entry");
        self.cursor.bump()?;
        while self.cursor.dotted() == Some("attribute") {
            self.attribute()?;
        }
        let returns = if self.cursor.accept(Kind::LParen)? {
            self.parameters()?
        } else {
            Vec::new()
        };
        let (name, pos) = self.cursor.word("the name of the function")?;
        let params = if self.cursor.accept(Kind::LParen)? {
            self.parameters()?
        } else {
            Vec::new()
        };
        let mut function = Function {
            is_kernel,
            linkage,
            name: name.into(),
            returns: variables(&returns),
            params: variables(&params),
            noreturn: false,
            bounds: LaunchBounds::default(),
            pragmas: Vec::new(),
            alias_of: None,
            body: None,
            pos,
        };
        self.function_directives(&mut function)?;
        let has_body = match self.cursor.kind() {
            Kind::Semicolon => self.cursor.bump().map(|_| false)?,
            Kind::LBrace => true,
            _ => return Err(self.cursor.expected("`{`, `;` or a directive of the function")),
        };
        let id = self.declare_function(name, pos, function, has_body)?;
        if has_body {
            let body = self.body(&returns, &params)?;
            self.sites.push((id.0, mem::take(&mut self.function.chains.sites)));
            let function = &mut self.module.functions[id.0 as usize];
            function.body = Some(body);
            function.pragmas.append(&mut self.function.pragmas);
        }
        Ok(())
    }

    /// A function may be declared any number of times, and defined once; all of it is one [`FuncId`].
    fn declare_function(&mut self, name: &'a str, pos: Pos, function: Function, has_body: bool) -> Result<FuncId> {
        match self.globals.get(name).copied() {
            None => {
                let id = FuncId(self.module.functions.len() as u32);
                self.globals.insert(name, Global::Function(id));
                self.module.functions.push(function);
                Ok(id)
            }
            Some(Global::Function(id)) => {
                let before = &mut self.module.functions[id.0 as usize];
                if has_body && before.body.is_some() {
                    return Err(ParseError::new(pos, "this function already has a body", name));
                }
                if before.is_kernel != function.is_kernel
                    || before.params.len() != function.params.len()
                    || before.returns.len() != function.returns.len()
                {
                    return Err(ParseError::new(pos, "declared before with other parameters", name));
                }
                if has_body {
                    *before = Function {
                        alias_of: before.alias_of,
                        ..function
                    };
                }
                Ok(id)
            }
            Some(Global::Variable(_)) => Err(ParseError::new(pos, "this name is already a variable", name)),
        }
    }

    /// `.maxntid 256, 1, 1`, `.noreturn`, `.pragma "..";` and so on.
    fn function_directives(&mut self, function: &mut Function) -> Result<()> {
        while let Some(word) = self.cursor.dotted() {
            if word == "pragma" {
                let pragmas = self.pragma()?;
                function.pragmas.extend(pragmas);
                continue;
            }
            if word == "attribute" {
                self.attribute()?;
                continue;
            }
            let text = self.cursor.text();
            let at = self.cursor.bump()?;
            let bounds = &mut function.bounds;
            match word {
                "maxntid" => bounds.max_threads = Some(self.three()?),
                "reqntid" => bounds.required_threads = Some(self.three()?),
                "reqnctapercluster" => bounds.cluster = Some(self.three()?),
                "minnctapersm" => bounds.min_blocks = Some(self.cursor.small("a number of blocks")?),
                "maxnctapersm" => bounds.max_blocks = Some(self.cursor.small("a number of blocks")?),
                "maxnreg" => bounds.max_registers = Some(self.cursor.small("a number of registers")?),
                "maxclusterrank" => bounds.max_cluster_rank = Some(self.cursor.small("a number of blocks")?),
                "explicitcluster" => bounds.explicit_cluster = true,
                "blocksareclusters" => bounds.blocks_are_clusters = true,
                "noreturn" => function.noreturn = true,
                // How the assembler may use registers across calls; nothing that runs depends on it.
                "abi_preserve"
                | "abi_preserve_control"
                | "abi_preserve_after"
                | "local_maxnreg"
                | "minperctamemory"
                | "language"
                | "scratch"
                | "retaddr_allocno"
                | "alloc_class" => {
                    if self.cursor.kind() == Kind::Text {
                        self.cursor.bump()?;
                    } else if !matches!(self.cursor.kind(), Kind::Dotted | Kind::LBrace | Kind::Semicolon) {
                        self.three()?;
                    }
                }
                _ => return Err(ParseError::new(at.pos, "expected a directive of a function", text)),
            }
        }
        Ok(())
    }

    /// `x`, `x, y` or `x, y, z`; missing ones are 1.
    fn three(&mut self) -> Result<[u32; 3]> {
        let mut sizes = [1; 3];
        for (i, size) in sizes.iter_mut().enumerate() {
            if i > 0 && !self.cursor.accept(Kind::Comma)? {
                break;
            }
            *size = self.cursor.small("a number")?;
        }
        Ok(sizes)
    }

    fn body(&mut self, returns: &Named<'a>, params: &Named<'a>) -> Result<Body> {
        self.function = FunctionState::default();
        self.function.names.open();
        for (list, make) in [(returns, VarId::Return as fn(u32) -> VarId), (params, VarId::Param)] {
            for (index, (name, variable)) in list.iter().enumerate() {
                let fresh = if variable.space == Space::Reg {
                    self.register(name, variable.ty, variable.vector)
                } else {
                    name.is_empty() || self.function.names.declare(name, Meaning::Variable(make(index as u32)))
                };
                if !fresh {
                    return Err(ParseError::new(
                        variable.pos,
                        "this parameter is already declared",
                        name,
                    ));
                }
            }
        }
        self.statements()?;
        Ok(mem::take(&mut self.function.body))
    }

    /// `name: .callprototype (returns) _ (parameters) [.noreturn];` from `.callprototype` on.
    pub(crate) fn prototype(&mut self, name: &str) -> Result<Prototype> {
        self.cursor.bump()?;
        let returns = if self.cursor.accept(Kind::LParen)? {
            self.parameters()?
        } else {
            Vec::new()
        };
        self.cursor.word("`_`, where a function has its name")?;
        let params = if self.cursor.accept(Kind::LParen)? {
            self.parameters()?
        } else {
            Vec::new()
        };
        let mut stand_in = Function {
            is_kernel: false,
            linkage: Linkage::Internal,
            name: String::new(),
            returns: Vec::new(),
            params: Vec::new(),
            noreturn: false,
            bounds: LaunchBounds::default(),
            pragmas: Vec::new(),
            alias_of: None,
            body: None,
            pos: Pos::default(),
        };
        self.function_directives(&mut stand_in)?;
        self.cursor.expect(Kind::Semicolon, "`;` after the prototype")?;
        Ok(Prototype {
            name: name.into(),
            returns: variables(&returns),
            params: variables(&params),
            noreturn: stand_in.noreturn,
        })
    }
}
