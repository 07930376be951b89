//! How hostile text, sizes and times are written for people.
//!
//! * [`mod@escape`]: whatever a terminal would obey, and whatever a reader could not see, as text;
//! * [`mod@layout`]: a message with one member or element per line;
//! * [`mod@page`]: the words of a page of HTML;
//! * [`mod@width`]: how many columns a text takes, and cutting it to so many;
//! * [`mod@units`]: sizes, durations and counts in words;
//! * [`mod@url`]: URLs without what may be secret in them.
//!
//! Pure: text in, text out. Everything that came off the wire passes through [`mod@escape`] before it
//! reaches a terminal; cutting comes after escaping, because escapes take columns.

pub mod escape;
pub mod layout;
pub mod page;
pub mod units;
pub mod url;
pub mod width;

pub use escape::{escape, escape_bytes, is_hostile, uri_path};
pub use layout::{Layout, Limits, layout};
pub use page::words_of;
pub use units::{clock, count, duration, plural, since, size};
pub use url::masked_url;
pub use width::{cut, cut_middle, pad_end, pad_start, width, wrap};
