//! JSON as spans over the raw bytes: nothing copied, nothing lost.
//!
//! [`Document::parse`] reads a text into a flat list of nodes, each a span of the bytes, without
//! recursion and without decoding anything; [`Value`] walks them. Key order, duplicate members,
//! the text of numbers and the escapes of strings stay what they were. The grammar is RFC 8259's
//! to the letter, except that strings may hold bytes that are no UTF-8: those are somebody else's
//! finding, and no reason to lose the message.
//!
//! * [`Number`]: exact decimal values, so that `1` equals `1.0` and 2^53 is not 2^53 + 1;
//! * [`Path`]: `result.content[*].text`, read, written and followed;
//! * [`canonical`]: one text for all texts that mean the same;
//! * [`quote`]: a text as a JSON string;
//! * [`Edits`]: other values in place of some, all else as it is;
//! * [`Outline`]: a small text that says what one too large to hold is about.

mod document;
mod edit;
mod number;
mod outline;
mod path;
mod scan;
mod value;

pub use document::{Document, MAX_DEPTH, Node, Stopped, parse_into, parsed_root};
pub use edit::{Edits, canonical, follow, quoted, replaced};
pub use number::Number;
pub use outline::Outline;
pub(crate) use outline::{known, stops_before_its_end};
pub use path::{Path, PathError, Step};
pub use scan::{Chars, Reason, SyntaxError, Unit, Units, quote};
pub use value::{Elements, Kind, Members, Value};
