//! Functions of the device runtime: `vprintf`, `malloc`, `free`, `__assertfail`.

use std::sync::PoisonError;

use super::access::window_of;
use super::call;
use super::context::{Machine, Stop};
use super::findings::{Detail, Record};
use super::global::{Device, Place};
use super::lanes::lanes;
use super::transfer::Bytes;
use super::warp::{Group, Warp};
use crate::decode::ops::{Builtin, Call, MemSpace};
use crate::finding::FindingKind;
use crate::memory::SHARED_BASE;

/// Longest string that is printed.
const LONGEST: usize = 1 << 16;

impl Machine<'_, '_> {
    pub(crate) fn builtin(
        &mut self,
        warp: &mut Warp,
        group: &Group,
        w: u32,
        call: &Call,
        builtin: Builtin,
    ) -> Result<(), Stop> {
        let argument = |warp: &Warp, i: usize, lane: usize| {
            call.args
                .get(i)
                .map_or(0, |arg| call::value(warp, *arg, group.fp, lane))
        };
        for lane in lanes(group.mask) {
            let a = argument(warp, 0, lane);
            let result = match builtin {
                Builtin::Printf => {
                    let list = argument(warp, 1, lane);
                    let text = self.format(warp, lane, a, list);
                    self.block.output.extend_from_slice(&text);
                    // The number of arguments, as the device's printf returns.
                    conversions(&self.string(warp, lane, a)) as u64
                }
                Builtin::Malloc => {
                    self.block.effect = true;
                    self.cx.heap.lock().unwrap_or_else(PoisonError::into_inner).malloc(a)
                }
                Builtin::Free => {
                    self.block.effect = true;
                    let freed = self.cx.heap.lock().unwrap_or_else(PoisonError::into_inner).free(a);
                    if !freed {
                        let mut record = Record::new(FindingKind::OutOfBounds, group.pc, self.thread(w, lane));
                        record.address = Some(a);
                        record.space = MemSpace::Global;
                        record.detail =
                            Detail::Text("free of an address that malloc did not give, or freed before".into());
                        self.gathered.findings.add(record);
                    }
                    0
                }
                Builtin::AssertFail => {
                    let string = |m: &Self, i: usize| {
                        String::from_utf8_lossy(&m.string(warp, lane, argument(warp, i, lane))).into_owned()
                    };
                    let (what, file, function) = (string(self, 0), string(self, 1), string(self, 3));
                    let line = argument(warp, 2, lane) as u32;
                    let mut record = Record::new(FindingKind::Trap, group.pc, self.thread(w, lane));
                    record.detail = Detail::Text(format!("assertion `{what}` failed in {function}, {file}:{line}"));
                    self.gathered.findings.add(record);
                    return Err(Stop::Over);
                }
            };
            if let Some(into) = call.returns.first() {
                call::set_value(warp, *into, group.fp, lane, result);
            }
        }
        Ok(())
    }

    /// Bytes at a generic address; fewer where memory ends.
    fn bytes(&self, warp: &Warp, lane: usize, address: u64, count: usize) -> Vec<u8> {
        let (space, first) = window_of(address);
        let at = address.wrapping_sub(first);
        let one = |i: u64| -> Option<u8> {
            let at = at.wrapping_add(i);
            match space {
                MemSpace::Shared => self.block.shared.get(at.checked_sub(SHARED_BASE)? as usize).copied(),
                MemSpace::Local => (at < warp.local.bytes()).then(|| warp.local.read(lane, at as usize, 1) as u8),
                MemSpace::Const => self.cx.constants.get(at as usize).copied(),
                MemSpace::Param => self.cx.params.get(at as usize).copied(),
                MemSpace::Global | MemSpace::Generic => match self.cx.memory.place(at) {
                    Place::Live(_, a) => Some(Device(&a.data).get(0, (at - a.base) as usize, 1) as u8),
                    Place::Heap => {
                        let heap = self.cx.heap.lock().unwrap_or_else(PoisonError::into_inner);
                        let a = heap.find(at)?;
                        Some(Device(&a.data).get(0, (at - a.base) as usize, 1) as u8)
                    }
                    Place::Nothing => None,
                },
            }
        };
        (0..count as u64).map_while(one).collect()
    }

    /// A string at a generic address.
    fn string(&self, warp: &Warp, lane: usize, address: u64) -> Vec<u8> {
        let mut all = Vec::new();
        while all.len() < LONGEST {
            let part = self.bytes(warp, lane, address + all.len() as u64, 64);
            if let Some(end) = part.iter().position(|b| *b == 0) {
                all.extend_from_slice(&part[..end]);
                return all;
            }
            all.extend_from_slice(&part);
            if part.len() < 64 {
                break;
            }
        }
        all
    }

    /// What `printf` makes of a format and its packed arguments.
    fn format(&self, warp: &Warp, lane: usize, format: u64, list: u64) -> Vec<u8> {
        let format = self.string(warp, lane, format);
        let mut out = Vec::new();
        let mut next = 0u64;
        let mut take = |bytes: u64| {
            next = next.next_multiple_of(bytes);
            let raw = self.bytes(warp, lane, list.wrapping_add(next), bytes as usize);
            next += bytes;
            raw.iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b))
        };
        let mut at = 0;
        while at < format.len() {
            if format[at] != b'%' {
                out.push(format[at]);
                at += 1;
                continue;
            }
            let spec = Spec::parse(&format[at..]);
            let Some((mut spec, used)) = spec else {
                out.push(b'%');
                at += 1;
                continue;
            };
            at += used;
            if spec.star_width {
                spec.width = take(4) as usize;
            }
            if spec.star_precision {
                spec.precision = Some(take(4) as usize);
            }
            match spec.conversion {
                b'%' => out.push(b'%'),
                b's' => {
                    let mut text = self.string(warp, lane, take(8));
                    text.truncate(spec.precision.unwrap_or(usize::MAX));
                    spec.pad(&mut out, text, false);
                }
                b'c' => {
                    let text = vec![take(4) as u8];
                    spec.pad(&mut out, text, false);
                }
                b'p' => {
                    let text = format!("{:#x}", take(8)).into_bytes();
                    spec.pad(&mut out, text, false);
                }
                b'd' | b'i' => {
                    let value = if spec.wide {
                        take(8) as i64
                    } else {
                        i64::from(take(4) as i32)
                    };
                    let text = spec.integer(value < 0, value.unsigned_abs().to_string());
                    spec.pad(&mut out, text, true);
                }
                b'u' | b'x' | b'X' | b'o' => {
                    let value = if spec.wide { take(8) } else { take(4) };
                    let digits = match spec.conversion {
                        b'u' => value.to_string(),
                        b'o' => format!("{value:o}"),
                        b'x' if spec.alternate && value != 0 => format!("0x{value:x}"),
                        b'X' if spec.alternate && value != 0 => format!("0X{value:X}"),
                        b'x' => format!("{value:x}"),
                        _ => format!("{value:X}"),
                    };
                    let text = spec.integer(false, digits);
                    spec.pad(&mut out, text, true);
                }
                _ => {
                    let value = f64::from_bits(take(8));
                    let text = spec.float(value);
                    spec.pad(&mut out, text, value.is_finite());
                }
            }
        }
        out
    }
}

/// Conversions in a format.
fn conversions(format: &[u8]) -> usize {
    let mut count = 0;
    let mut at = 0;
    while at < format.len() {
        match Spec::parse(&format[at..]) {
            Some((spec, used)) if format[at] == b'%' => {
                count += usize::from(spec.conversion != b'%');
                at += used;
            }
            _ => at += 1,
        }
    }
    count
}

#[derive(Debug, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    zero: bool,
    alternate: bool,
    width: usize,
    star_width: bool,
    precision: Option<usize>,
    star_precision: bool,
    wide: bool,
    conversion: u8,
}

impl Spec {
    /// From `%`, with the number of bytes it takes.
    fn parse(text: &[u8]) -> Option<(Self, usize)> {
        let mut spec = Self::default();
        let mut at = 1;
        loop {
            match text.get(at)? {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'0' => spec.zero = true,
                b'#' => spec.alternate = true,
                _ => break,
            }
            at += 1;
        }
        let number = |at: &mut usize| {
            let mut value = 0usize;
            while let Some(digit) = text.get(*at).filter(|b| b.is_ascii_digit()) {
                value = (value * 10 + usize::from(digit - b'0')).min(4096);
                *at += 1;
            }
            value
        };
        if text.get(at) == Some(&b'*') {
            spec.star_width = true;
            at += 1;
        } else {
            spec.width = number(&mut at);
        }
        if text.get(at) == Some(&b'.') {
            at += 1;
            if text.get(at) == Some(&b'*') {
                spec.star_precision = true;
                at += 1;
            } else {
                spec.precision = Some(number(&mut at));
            }
        }
        while let Some(b'l' | b'h' | b'z' | b'j' | b't' | b'L') = text.get(at) {
            spec.wide |= text[at] != b'h';
            at += 1;
        }
        spec.conversion = *text.get(at)?;
        let known = b"%scpdiuxXofFeEgGaA".contains(&spec.conversion);
        known.then_some((spec, at + 1))
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        }
    }

    fn integer(&self, negative: bool, digits: String) -> Vec<u8> {
        let missing = self.precision.unwrap_or(0).saturating_sub(digits.len());
        let sign = if matches!(self.conversion, b'd' | b'i') {
            self.sign(negative)
        } else {
            ""
        };
        format!("{sign}{}{digits}", "0".repeat(missing)).into_bytes()
    }

    fn float(&self, value: f64) -> Vec<u8> {
        let sign = self.sign(value.is_sign_negative() && !value.is_nan());
        let v = value.abs();
        let upper = self.conversion.is_ascii_uppercase();
        let precision = self.precision.unwrap_or(6);
        let text = if v.is_nan() {
            "nan".to_owned()
        } else if v.is_infinite() {
            "inf".to_owned()
        } else {
            match self.conversion.to_ascii_lowercase() {
                b'f' => format!("{v:.precision$}"),
                b'e' => exponent(v, precision),
                b'a' => hexadecimal(v),
                _ => shortest(v, precision.max(1), self.alternate),
            }
        };
        let text = format!("{sign}{text}");
        if upper {
            text.to_uppercase().into_bytes()
        } else {
            text.into_bytes()
        }
    }

    /// Fills up to the width; with zeros if asked for and it is a number.
    fn pad(&self, out: &mut Vec<u8>, text: Vec<u8>, number: bool) {
        let missing = self.width.saturating_sub(text.len());
        if self.left {
            out.extend_from_slice(&text);
            out.resize(out.len() + missing, b' ');
        } else if self.zero
            && number
            && (self.precision.is_none() || matches!(self.conversion, b'e'..=b'g' | b'E'..=b'G'))
        {
            let sign = usize::from(matches!(text.first(), Some(b'-' | b'+' | b' ')));
            out.extend_from_slice(&text[..sign]);
            out.resize(out.len() + missing, b'0');
            out.extend_from_slice(&text[sign..]);
        } else {
            out.resize(out.len() + missing, b' ');
            out.extend_from_slice(&text);
        }
    }
}

/// `%e`: two digits of exponent at least.
fn exponent(v: f64, precision: usize) -> String {
    let text = format!("{v:.precision$e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |e| ('-', e));
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

/// `%g`
fn shortest(v: f64, precision: usize, keep_zeros: bool) -> String {
    let scientific = exponent(v, precision - 1);
    let power: i32 = scientific
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    let strip = |digits: &str| match digits.contains('.') && !keep_zeros {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits.to_owned(),
    };
    if power < -4 || power >= precision as i32 {
        return match scientific.split_once('e') {
            Some((digits, e)) => format!("{}e{e}", strip(digits)),
            None => scientific,
        };
    }
    strip(&format!("{v:.*}", (precision as i32 - 1 - power) as usize))
}

/// `%a`
fn hexadecimal(v: f64) -> String {
    let bits = v.to_bits();
    let (raw, fraction) = ((bits >> 52) as i64 & 0x7ff, bits & ((1 << 52) - 1));
    let (lead, power) = match (raw, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        _ => (1, raw - 1023),
    };
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{digits}p{power:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(format: &str, value: f64) -> String {
        let (spec, _) = Spec::parse(format.as_bytes()).unwrap();
        let mut out = Vec::new();
        let text = spec.float(value);
        spec.pad(&mut out, text, value.is_finite());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn floats_are_printed_as_c_prints_them() {
        assert_eq!(float("%f", 1.5), "1.500000");
        assert_eq!(float("%8.3f", -2.0), "  -2.000");
        assert_eq!(float("%e", 12345.678), "1.234568e+04");
        assert_eq!(float("%g", 0.0001), "0.0001");
        assert_eq!(float("%g", 1e-5), "1e-05");
        assert_eq!(float("%g", 1234567.0), "1.23457e+06");
        assert_eq!(float("%g", 100000.0), "100000");
        assert_eq!(float("%a", 1.0), "0x1p+0");
        assert_eq!(float("%08.2f", -3.25), "-0003.25");
        assert_eq!(float("%f", f64::NAN), "nan");
        assert_eq!(float("%F", f64::NEG_INFINITY), "-INF");
    }

    #[test]
    fn conversions_are_counted_without_percent_signs() {
        assert_eq!(conversions(b"%d of %5.2f%% at %p\n"), 3);
    }
}
