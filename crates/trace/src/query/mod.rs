//! The filter language: one grammar for the filter bar, `-q`, `--only` and the faults of the mock.
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
//! * [`body`]: conditions on values in bodies; [`pattern`]: how texts are searched. Which rows fit
//!   a filter is the store's to say, in SQL;
//! * [`complete()`]: what may come next at the caret; [`relaxations`]: what would be asked without
//!   one of the conditions;
//! * [`help`]: the language as data.
//!
//! A field that is absent: the positive test is false, its negation true.

pub mod ast;
pub mod body;
mod complete;
pub mod help;
mod parse;
pub mod pattern;
mod print;

pub use ast::{Query, relaxations};
pub use complete::{Completion, complete, value_text};
pub use parse::{MAX_BYTES, MAX_DEPTH, QueryError};
