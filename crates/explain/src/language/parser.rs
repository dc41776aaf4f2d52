//! Tokens to a tree: precedence climbing, with limits so that no text can exhaust the stack.

use super::lexer::{Token, lex};
use super::{Access, BinaryOp, Builtin, Expr, ExprKind, Span, UnaryOp};
use crate::TextError;

/// Names, numbers and symbols of an access: more than any kernel's index has, few enough for a small stack.
const MAX_TOKENS: usize = 256;
/// Parentheses and unary operators within each other.
const MAX_DEPTH: usize = 64;

const INTEGERS: [&str; 12] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
];

pub(super) fn parse(source: &str) -> Result<Access, TextError> {
    let tokens = lex(source)?;
    if let Some((_, span)) = tokens.get(MAX_TOKENS) {
        let message = format!("the access is longer than {MAX_TOKENS} names, numbers and symbols");
        return Err(TextError::new(source, *span, message, "too long").with_help("give parts of it names with `--let`"));
    }
    let mut parser = Parser {
        source,
        tokens,
        next: 0,
        depth: 0,
    };
    let access = parser.access()?;
    parser.expect(&Token::End, "nothing more")?;
    Ok(access)
}

struct Parser<'a> {
    source: &'a str,
    tokens: Vec<(Token, Span)>,
    next: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }

    fn span(&self) -> Span {
        self.tokens[self.next].1
    }

    fn take(&mut self) -> (Token, Span) {
        let token = self.tokens[self.next].clone();
        // The end stays.
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn accept(&mut self, token: &Token) -> bool {
        let found = self.peek() == token;
        if found {
            self.take();
        }
        found
    }

    fn expect(&mut self, token: &Token, wanted: &str) -> Result<Span, TextError> {
        if self.peek() == token {
            Ok(self.take().1)
        } else {
            Err(self.unexpected(wanted))
        }
    }

    fn unexpected(&self, wanted: &str) -> TextError {
        let message = format!("expected {wanted}, found {}", self.peek().describe());
        TextError::new(self.source, self.span(), message, format!("expected {wanted}"))
    }

    fn access(&mut self) -> Result<Access, TextError> {
        if self.accept(&Token::If) {
            let guard = self.expr(0)?;
            let braces = self.accept(&Token::OpenBrace);
            let (array, indices) = self.indexed()?;
            if braces {
                self.expect(&Token::CloseBrace, "`}`")?;
            }
            return Ok(Access {
                array,
                indices,
                guard: Some(guard),
                source: self.source.to_owned(),
            });
        }
        let (array, indices) = self.indexed()?;
        let guard = if self.accept(&Token::If) {
            Some(self.expr(0)?)
        } else {
            None
        };
        Ok(Access {
            array,
            indices,
            guard,
            source: self.source.to_owned(),
        })
    }

    fn indexed(&mut self) -> Result<(String, Vec<Expr>), TextError> {
        let Token::Name(array) = self.peek().clone() else {
            return Err(self
                .unexpected("an array's name")
                .with_help("an access looks like `tile[ty][tx]`, or `data[2 * tx] if tx < 16`"));
        };
        self.take();
        let mut indices = Vec::new();
        while self.accept(&Token::OpenIndex) {
            indices.push(self.expr(0)?);
            self.expect(&Token::CloseIndex, "`]` or an operator")?;
        }
        if indices.is_empty() {
            return Err(self
                .unexpected("`[`")
                .with_help(format!("index the array: `{array}[tx]`")));
        }
        Ok((array, indices))
    }

    fn expr(&mut self, level: usize) -> Result<Expr, TextError> {
        let Some(operators) = BinaryOp::LEVELS.get(level) else {
            return self.operand();
        };
        let mut left = self.expr(level + 1)?;
        let mut compared = false;
        while let Token::Operator(op) = *self.peek()
            && operators.contains(&op)
        {
            let (_, place) = self.take();
            if compared {
                let message = "comparisons do not chain";
                return Err(TextError::new(self.source, place, message, "second comparison")
                    .with_help("join two comparisons with `&&`: `4 <= tx && tx < 16`"));
            }
            compared = op.is_comparison();
            let right = self.expr(level + 1)?;
            let span = left.span.to(right.span);
            left = Expr {
                kind: ExprKind::Binary(op, place, Box::new(left), Box::new(right)),
                span,
            };
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expr, TextError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("parentheses and signs are nested more than {MAX_DEPTH} deep");
            return Err(TextError::new(self.source, self.span(), message, "too deep"));
        }
        let expr = self.operand_within_depth();
        self.depth -= 1;
        let mut expr = expr?;
        // Rust's casts of index arithmetic, `tx as usize`, change nothing here: all values have 64 bits.
        while *self.peek() == Token::Name("as".to_owned()) {
            self.take();
            match self.peek() {
                Token::Name(name) if INTEGERS.contains(&name.as_str()) => {
                    let (_, span) = self.take();
                    expr.span = expr.span.to(span);
                }
                _ => return Err(self.unexpected("an integer type")),
            }
        }
        Ok(expr)
    }

    fn operand_within_depth(&mut self) -> Result<Expr, TextError> {
        let wanted = "a number, a name, `-`, `!` or `(`";
        let unary = match self.peek() {
            Token::Operator(BinaryOp::Subtract) => Some(UnaryOp::Negate),
            Token::Not => Some(UnaryOp::Not),
            _ => None,
        };
        if let Some(op) = unary {
            let (_, span) = self.take();
            let operand = self.operand()?;
            let span = span.to(operand.span);
            return Ok(Expr {
                kind: ExprKind::Unary(op, Box::new(operand)),
                span,
            });
        }
        let span = self.span();
        let kind = match self.peek().clone() {
            Token::Integer(value) => ExprKind::Integer(value),
            Token::Name(name) => match Builtin::parse(&name) {
                Some(builtin) => ExprKind::Builtin(builtin),
                None => ExprKind::Parameter(name),
            },
            Token::Open => {
                self.take();
                let inner = self.expr(0)?;
                let close = self.expect(&Token::Close, "`)` or an operator")?;
                return Ok(Expr {
                    kind: inner.kind,
                    span: span.to(close),
                });
            }
            _ => return Err(self.unexpected(wanted)),
        };
        self.take();
        Ok(Expr { kind, span })
    }
}
