//! The cassette: a recording as JSON Lines, to be read, reviewed, kept beside the code, replayed.
//!
//! ```text
//! {"cassette":1,"tool":"mcpreel 0.1.0","era":"legacy","protocol":"2025-11-25","transport":"stdio","command":["weather-server"]}
//! {"t":0,"k":"event","event":{"kind":"start","name":"weather-server",…}}
//! {"n":1,"t":0,"d":"c2s","k":"req","m":"initialize","raw":{…}}
//! {"n":2,"t":41250,"d":"s2c","k":"res","re":1,"raw":{…}}
//! {"n":9,"t":2210031,"d":"s2c","k":"req","m":"elicitation/create","in":7,"raw":{…}}
//! {"n":10,"t":2390212,"d":"c2s","k":"res","re":9,"seen":9,"raw":{…}}
//! {"n":40,"t":9000412,"d":"s2c","k":"other","b64":"…"}
//! {"n":41,"t":9000500,"t0":9000391,"d":"stderr","k":"text","text":"boom\n"}
//! {"t":9001000,"k":"event","event":{"kind":"exit","code":3,…}}
//! {"t":9001020,"k":"end"}
//! ```
//!
//! A header, then a line per frame or event in the order in which they were recorded, then the end;
//! keys in this order, `\n` after each line. `docs/cassette.md` says what the keys mean. In the
//! header and in the start event nothing stands that another session of the same command would
//! have otherwise: no date, no id, no process number.
//!
//! The bytes are the truth. `raw` stands verbatim where a frame is one JSON text and `\n`, `text`
//! is a line of stderr, and `b64` anything else, so nothing is lost. `k`, `m`, `re` and `in` are
//! derived: for people and other programs, and not read back. `seen` is derived as well, and where
//! it says otherwise than the order and the times of the lines it counts.
//!
//! What nobody knows is not lost: in the header it is kept with the session, in a line as an event
//! before what the line says, and it is written again in its place.
//!
//! Times are whole microseconds, cut off. What is derived from a cassette is what was derived from
//! the recording: order, pairing and statuses the same, latencies to the microsecond.
//!
//! * [`Header`]: the first line; * [`write()`]: a recording as lines; * [`Reader`]: lines as
//!   [`Entry`]s, damaged ones as [`Fault`]s; [`Passed`]: what of a file is in none of them.

mod check;
mod fault;
mod header;
mod keys;
mod passed;
mod read;
mod start;
mod write;

pub use crate::export::{WriteError, Written};
pub use fault::{Fault, FaultKind};
pub use header::{Header, HeaderError};
pub use passed::{Passed, PassedLine};
pub use read::{Entry, ReadError, Reader, is_cassette};
pub use write::{write, write_redacted, write_under};

/// The version of the format that is written, and the newest that is read.
pub const VERSION: u64 = 1;

/// Nanoseconds in the unit of time.
const US: u64 = 1000;
