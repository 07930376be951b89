//! Why something was not checked.

use super::{SCHEMA_BYTES, VALUE_BYTES};
use std::fmt;

/// Why a value was not checked against its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Skipped {
    LargeSchema,
    ManyParts,
    DeepSchema,
    /// The schemas of the list are too much together.
    ManySchemas,
    /// The JSON text cannot be read into plain values.
    Unreadable,
    /// `$schema` names a dialect that is not known.
    UnknownDialect,
    /// A `$ref` leads out of the schema.
    External,
    Dangling,
    /// A part of it has an `$id` of its own.
    Embedded,
    /// It refers to itself without ever going deeper into the value.
    Endless,
    /// A regular expression could take too long, or is none here.
    Pattern,
    /// The schema is not valid itself.
    Invalid,
    /// The tool was listed anew since, and its old definition is not kept.
    Gone,
    LargeValue,
    DeepValue,
    Costly,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self {
            Self::LargeSchema => {
                return write!(f, "the schema has more than {} KiB", SCHEMA_BYTES / 1024);
            }
            Self::ManyParts => "the schema has too many parts",
            Self::DeepSchema => "the schema nests too deeply",
            Self::ManySchemas => "the schemas of all tools are too much together",
            Self::Unreadable => {
                "it nests too deeply, or holds a text or number that cannot be represented"
            }
            Self::UnknownDialect => "the dialect of the schema is not known",
            Self::External => "a $ref leads out of the schema, and nothing is ever fetched",
            Self::Dangling => "a $ref leads nowhere",
            Self::Embedded => "a part of the schema has an $id of its own",
            Self::Endless => "the schema refers to itself without end",
            Self::Pattern => "a regular expression could take too long or is not understood",
            Self::Invalid => "the schema itself is not valid",
            Self::Gone => "the tool was defined anew, and its old definition is no longer kept",
            Self::LargeValue => {
                return write!(f, "the value has more than {} KiB", VALUE_BYTES / 1024);
            }
            Self::DeepValue => "the value nests too deeply",
            Self::Costly => "the check could take too long",
        };
        f.write_str(reason)
    }
}
