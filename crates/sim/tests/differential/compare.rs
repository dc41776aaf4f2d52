//! One device's results against another's.

#[path = "../support/hash.rs"]
mod hash;

use super::cases::{Case, Closeness};
pub(crate) use hash::hash;

/// Whether two devices' results of one row agree as well as the case asks.
pub(crate) fn agree(case: &Case, operands: &[u64], first: &[u64], second: &[u64]) -> bool {
    match case.closeness {
        Closeness::Exact => first == second,
        Closeness::Within {
            ty,
            relative,
            absolute,
            bounded,
        } => {
            let operands: Vec<f64> = operands.iter().map(|x| number(ty, *x)).collect();
            // The last place of the type's subnormals, which no approximation is finer than.
            let place = number(ty, 1);
            !bounded(&operands)
                || close(
                    number(ty, first[0]),
                    number(ty, second[0]),
                    relative,
                    absolute.max(place),
                )
        }
    }
}

/// Both are within the bounds of one exact result, if they are within twice the bounds of each other.
fn close(x: f64, y: f64, relative: f64, absolute: f64) -> bool {
    if x.is_nan() || y.is_nan() {
        return x.is_nan() && y.is_nan();
    }
    x == y || (x - y).abs() <= 2.0 * (relative * x.abs().max(y.abs())).max(absolute)
}

fn number(ty: &str, bits: u64) -> f64 {
    match ty {
        "f64" => f64::from_bits(bits),
        "f32" => f64::from(f32::from_bits(bits as u32)),
        "bf16" => f64::from(f32::from_bits((bits as u32) << 16)),
        _ => {
            let (sign, field, fraction) = (bits >> 15, bits >> 10 & 31, bits & 0x3ff);
            let magnitude = match field {
                0 => fraction as f64 * 2f64.powi(-24),
                31 if fraction == 0 => f64::INFINITY,
                31 => f64::NAN,
                _ => (1024 + fraction) as f64 * 2f64.powi(field as i32 - 25),
            };
            if sign == 1 { -magnitude } else { magnitude }
        }
    }
}
