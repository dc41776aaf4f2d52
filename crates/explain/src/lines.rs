//! Files of accesses: one JSON object a line, as in `tile33-layout`'s ground truth.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde::{Deserialize, de};
use thiserror::Error;
use tile33_layout::{AccessError, LANES, Op, Space, WarpAccess};

/// Why a line is no access.
///
/// ```
/// use tile33_explain::lines::{LineError, cost_of_line};
/// assert!(matches!(cost_of_line(b"{}"), Err(LineError::Json { .. })));
/// ```
#[derive(Debug, Error)]
pub enum LineError {
    /// No JSON, or not the fields.
    #[error("{message}")]
    Json {
        /// What is wrong.
        message: String,
        /// Where, in bytes from 1.
        column: usize,
    },
    /// No such access.
    #[error(transparent)]
    Access(#[from] AccessError),
}

impl LineError {
    /// Where in the line, in bytes from 1, if it is a place.
    ///
    /// ```
    /// use tile33_explain::lines::cost_of_line;
    /// assert_eq!(cost_of_line(b"{]").unwrap_err().column(), Some(2));
    /// ```
    pub fn column(&self) -> Option<usize> {
        match self {
            Self::Json { column, .. } if *column > 0 => Some(*column),
            _ => None,
        }
    }

    /// What a line looks like.
    ///
    /// ```
    /// use tile33_explain::lines::cost_of_line;
    /// assert!(cost_of_line(b"{]").unwrap_err().help().contains("addrs"));
    /// ```
    pub fn help(&self) -> &'static str {
        match self {
            Self::Json { .. } => {
                r#"a line looks like {"space":"shared","op":"ld","width":4,"mask":"0xffffffff","addrs":[32 numbers]}"#
            }
            Self::Access(_) => "only active lanes count: clear a lane's bit in the mask if it does nothing",
        }
    }
}

/// What the access of a line costs: wavefronts in shared memory, sectors in global memory.
///
/// # Errors
///
/// No JSON object with the fields, or an access that no warp can make.
///
/// ```
/// use tile33_explain::lines::cost_of_line;
/// let addresses: Vec<u32> = (0..32).map(|lane| 128 * lane).collect();
/// let line = format!(r#"{{"space":"shared","op":"ld","width":4,"mask":"0xff","addrs":{addresses:?}}}"#);
/// assert_eq!(cost_of_line(line.as_bytes()).unwrap(), 8);
/// assert_eq!(cost_of_line(b"{\"space\":1}").unwrap_err().column(), Some(10));
/// ```
pub fn cost_of_line(line: &[u8]) -> Result<u32, LineError> {
    let access = access_of_line(line)?;
    Ok(match access.space() {
        Space::Shared => access.wavefronts(),
        Space::Global => access.sectors(),
    })
}

/// The access of a line.
///
/// # Errors
///
/// As [`cost_of_line`].
///
/// ```
/// use tile33_explain::lines::access_of_line;
/// let line = format!(r#"{{"space":"global","op":"st","width":8,"mask":1,"addrs":{:?}}}"#, [64; 32]);
/// assert_eq!(access_of_line(line.as_bytes()).unwrap().sectors(), 1);
/// ```
pub fn access_of_line(line: &[u8]) -> Result<WarpAccess, LineError> {
    let Fields {
        space: SpaceField(space),
        op: OpField(op),
        width,
        mask: Mask(mask),
        addrs: Addresses(addresses),
    } = serde_json::from_slice(line.trim_ascii_end()).map_err(|error| {
        let column = error.column();
        let text = error.to_string();
        // The line's number is the file's, not the object's.
        let message = text
            .rfind(" at line ")
            .map_or(text.as_str(), |at| &text[..at])
            .to_owned();
        LineError::Json { message, column }
    })?;
    Ok(WarpAccess::new(space, op, width, mask, addresses)?)
}

#[derive(Deserialize)]
struct Fields {
    space: SpaceField,
    op: OpField,
    width: u32,
    mask: Mask,
    addrs: Addresses,
}

struct SpaceField(Space);

impl<'de> Deserialize<'de> for SpaceField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Cow::<str>::deserialize(deserializer)?.as_ref() {
            "shared" => Ok(Self(Space::Shared)),
            "global" => Ok(Self(Space::Global)),
            other => Err(D::Error::unknown_variant(other, &["shared", "global"])),
        }
    }
}

struct OpField(Op);

impl<'de> Deserialize<'de> for OpField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        Op::parse(&name)
            .map(Self)
            .ok_or_else(|| D::Error::unknown_variant(&name, &["ld", "st", "atom", "red", "cas", "exch"]))
    }
}

/// `"0x0000ffff"`, or a number.
struct Mask(u32);

impl<'de> Deserialize<'de> for Mask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MaskVisitor;
        impl Visitor<'_> for MaskVisitor {
            type Value = Mask;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mask of 32 lanes, \"0xffffffff\" or a number")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Mask, E> {
                let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
                let value = match digits {
                    Some(digits) => u32::from_str_radix(digits, 16),
                    None => text.parse(),
                };
                value
                    .map(Mask)
                    .map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Mask, E> {
                u32::try_from(value)
                    .map(Mask)
                    .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(value), &self))
            }
        }
        deserializer.deserialize_any(MaskVisitor)
    }
}

/// 32 numbers.
struct Addresses([u64; LANES]);

impl<'de> Deserialize<'de> for Addresses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AddressesVisitor;
        impl<'de> Visitor<'de> for AddressesVisitor {
            type Value = Addresses;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{LANES} byte addresses")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Addresses, A::Error> {
                let mut addresses = [0; LANES];
                for (lane, address) in addresses.iter_mut().enumerate() {
                    *address = sequence
                        .next_element()?
                        .ok_or_else(|| A::Error::invalid_length(lane, &self))?;
                }
                match sequence.next_element::<de::IgnoredAny>()? {
                    Some(_) => Err(A::Error::custom(format!("more than {LANES} byte addresses"))),
                    None => Ok(Addresses(addresses)),
                }
            }
        }
        deserializer.deserialize_seq(AddressesVisitor)
    }
}
