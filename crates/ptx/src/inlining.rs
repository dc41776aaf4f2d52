//! Where code was inlined: from what `.loc` says (nvcc), or from the comment beside it (LLVM).
//!
//! nvcc gives one step, `inlined_at 3 68 9`, and states the place it names as a `.loc` of its own before; following those
//! gives the whole chain. LLVM writes the chain as `// core.rs:125:5 @[ tile.rs:21:14 @[ kernel.rs:40:14 ] ]`, with paths
//! whose `.file` lines come at the end of the module.

use crate::names::Map;
use crate::{Body, Inlined, Module, SourceFile, SourceLoc};

/// Deepest chain that is followed.
const DEEPEST_CHAIN: usize = 64;

/// The chain of one `.loc`.
#[derive(Clone, PartialEq)]
pub(crate) enum Chain<'a> {
    /// Known.
    Places(Vec<SourceLoc>),
    /// What a comment says after its first `@[ `.
    Comment(&'a str),
}

impl Chain<'_> {
    fn is_empty(&self) -> bool {
        matches!(self, Self::Places(places) if places.is_empty())
    }
}

/// The chains of one function while it is parsed.
#[derive(Default)]
pub(crate) struct Chains<'a> {
    /// The instruction from which on a chain holds, in order.
    pub(crate) sites: Vec<(u32, Chain<'a>)>,
    /// Where each place seen was inlined.
    frames: Map<SourceLoc, Option<SourceLoc>>,
}

impl<'a> Chains<'a> {
    /// Notes the chain of a `.loc` that holds from instruction `from` on.
    pub(crate) fn push(&mut self, from: u32, loc: SourceLoc, inlined_at: Option<SourceLoc>, comment: Option<&'a str>) {
        self.frames.insert(loc, inlined_at);
        let chain = match (inlined_at, comment) {
            (None, Some(comment)) => Chain::Comment(comment),
            (first, _) => {
                let next = |at: &SourceLoc| self.frames.get(at).copied().flatten();
                Chain::Places(std::iter::successors(first, next).take(DEEPEST_CHAIN).collect())
            }
        };
        // Only the last of several `.loc` lines before an instruction counts.
        while self.sites.last().is_some_and(|(at, _)| *at == from) {
            self.sites.pop();
        }
        let same = self
            .sites
            .last()
            .map_or(chain.is_empty(), |(_, before)| *before == chain);
        if !same {
            self.sites.push((from, chain));
        }
    }
}

/// How many of a path's last parts may be enough to name it.
const MOST_PARTS: usize = 16;

/// Finds the numbers of the files that comments name.
#[derive(Default)]
pub(crate) struct Paths<'a> {
    /// Files by path, and by the ends of their paths.
    numbers: Map<&'a str, u32>,
    /// What each comment says: the same ones stand all over a function.
    chains: Map<&'a str, Vec<SourceLoc>>,
    largest: u32,
}

impl<'a> Paths<'a> {
    /// Notes a `.file`.
    pub(crate) fn add(&mut self, path: &'a str, number: u32) {
        self.largest = self.largest.max(number);
        self.numbers.insert(path, number);
        for (slash, _) in path.rmatch_indices('/').take(MOST_PARTS) {
            self.numbers.entry(&path[slash + 1..]).or_insert(number);
        }
    }

    /// The number of the file with this path, or whose path ends in it; a new one if no `.file` has it.
    fn number(&mut self, files: &mut Vec<SourceFile>, path: &'a str) -> u32 {
        *self.numbers.entry(path).or_insert_with(|| {
            self.largest = self.largest.saturating_add(1);
            files.push(SourceFile {
                number: self.largest,
                path: path.into(),
            });
            self.largest
        })
    }

    fn chain(&mut self, files: &mut Vec<SourceFile>, comment: &'a str) -> Vec<SourceLoc> {
        if let Some(known) = self.chains.get(comment) {
            return known.clone();
        }
        let chain = self.read_chain(files, comment);
        self.chains.insert(comment, chain.clone());
        chain
    }

    fn read_chain(&mut self, files: &mut Vec<SourceFile>, comment: &'a str) -> Vec<SourceLoc> {
        let place = |part: &'a str| {
            let mut fields = part.split(" ]").next()?.rsplitn(3, ':');
            let column = fields.next()?.trim().parse().ok()?;
            let line = fields.next()?.parse().ok()?;
            Some((fields.next()?, line, column))
        };
        comment
            .split(" @[ ")
            .take(DEEPEST_CHAIN)
            .map_while(place)
            .map(|(path, line, column)| SourceLoc {
                file: self.number(files, path),
                line,
                column,
            })
            .collect()
    }

    /// Writes the chains of a function into its body.
    pub(crate) fn resolve(&mut self, module: &mut Module, function: u32, sites: Vec<(u32, Chain<'a>)>) {
        let Module { functions, files, .. } = module;
        let Some(body) = functions
            .get_mut(function as usize)
            .and_then(|function| function.body.as_mut())
        else {
            return;
        };
        for (from, chain) in sites {
            let chain = match chain {
                Chain::Places(places) => places,
                Chain::Comment(comment) => self.chain(files, comment),
            };
            body.inlined.push(Inlined { from, chain });
        }
        mark(body);
    }
}

/// Gives each instruction the first step of its chain.
fn mark(body: &mut Body) {
    let ends = body
        .inlined
        .iter()
        .skip(1)
        .map(|next| next.from)
        .chain([body.instructions.len() as u32]);
    for (site, end) in body.inlined.iter().zip(ends) {
        for instruction in &mut body.instructions[site.from as usize..end as usize] {
            instruction.inlined_at = site.chain.first().copied();
        }
    }
}
