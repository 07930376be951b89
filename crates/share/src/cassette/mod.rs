//! The cassette: a recording as JSON Lines, to be read, reviewed, kept beside the code, replayed.
//!
//! ```text
//! {"cassette":1,"tool":"mcpreel 0.1.0","era":"legacy","protocol":"2025-11-25","transport":"stdio","command":["weather-server"]}
//! {"t":0,"k":"event","event":{"kind":"start","name":"weather-server",…}}
//! {"n":1,"t":0,"d":"c2s","k":"req","m":"initialize","raw":{…}}
//! {"n":2,"t":41250,"d":"s2c","k":"res","re":1,"raw":{…}}
//! {"n":9,"t":2210031,"d":"s2c","k":"req","m":"elicitation/create","in":7,"raw":{…}}
//! {"n":40,"t":9000412,"d":"s2c","k":"other","b64":"…"}
//! {"n":41,"t":9000500,"t0":9000391,"d":"stderr","k":"text","text":"boom\n"}
//! {"t":9001000,"k":"event","event":{"kind":"exit","code":3,…}}
//! {"t":9001020,"k":"end"}
//! ```
//!
//! A header, then a line per frame or event in the order in which they were recorded, then the end;
//! keys in this order, `\n` after each line. `docs/cassette.md` says what the keys mean.
//!
//! The bytes are the truth. `raw` stands verbatim where a frame is one JSON text and `\n`, `text`
//! is a line of stderr, and `b64` anything else, so nothing is lost. `k`, `m`, `re` and `in` are
//! derived, for people and other programs, and are not read back. Times are whole microseconds. A
//! recording that is made of a cassette has the same order, pairing and statuses as the one that
//! the cassette was made of, and the same latencies to the microsecond.
//!
//! * [`Header`]: the first line; * [`write()`]: a recording as lines; * [`Reader`]: lines as
//!   [`Entry`]s, with a [`Fault`] for each line that is damaged.

mod carrier;
mod cassette_header;
mod read;
mod write;

pub use crate::export::{ExportError, Written};
pub use cassette_header::{Header, HeaderError};
pub use read::{Entry, Fault, ReadError, Reader, is_cassette};
pub use write::{write, write_redacted, write_under};

/// The version of the format that is written, and the newest that is read.
pub const VERSION: u64 = 1;

/// Nanoseconds in the unit of time.
const US: u64 = 1000;
