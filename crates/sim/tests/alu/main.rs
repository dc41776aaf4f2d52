//! Every register-only instruction, type and modifier against a second evaluation that works differently: i128 for
//! integers, a search among a format's numbers for rounding, loops over single bits for bit fields, matrices written out
//! for products. Operands are edges, in every pair, and random values.

mod approx;
mod bits;
mod carry;
mod compare;
mod convert;
mod float;
mod fragments;
mod half;
mod harness;
mod integer;
mod logic;
mod moves;
mod reference;
mod tensor;
mod unsupported;
mod warp;
