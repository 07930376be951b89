//! The filter language: one grammar for the filter bar, `-q`, views and colour rules.
//!
//! ```text
//! query = and *( "OR" and )        and  = not *( [ "AND" ] not )      not = [ "NOT" | "-" ] atom
//! atom  = "(" query ")" | "is:" flag | "has:" path | path op value | text
//! op    = ":" | "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~"
//! path  = name *( "." key | "[" ( int | "*" | string ) "]" )
//! value = word | string | value ".." value                            text = word | string
//! ```
//!
//! * `parse`: text to [`ast::Query`], or [`QueryError`] with the place and the nearest spelling;
//! * [`ast`]: what was asked; it writes itself (`print`) as text that reads back the same;
//! * [`eval`]: whether an [`Item`](crate::item::Item) fits; the store answers the same in
//!   SQL as far as columns go;
//! * [`complete()`]: what may come next at the caret; [`relaxations`]: what would be asked without
//!   one of the conditions;
//! * [`help`]: the language as data.
//!
//! A field that is absent: the positive test is false, its negation true.

pub mod ast;
mod complete;
mod error;
pub mod eval;
mod fields;
pub mod help;
mod parse;
mod print;
mod relax;

pub use ast::Query;
pub use complete::{Candidate, Completion, complete, undecided, value_text};
pub use error::{ErrorKind, QueryError};
pub use eval::{Bodies, Context, Matcher};
pub use parse::{MAX_BYTES, MAX_DEPTH};
pub use relax::relaxations;
