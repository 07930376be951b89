//! The man in the middle: it moves bytes, and puts them on record before it passes them on.
//!
//! ```text
//!            poll        tap: one mutex          write
//!  source ─▶ read ─▶ append to the spool ─▶ ─▶ sink        one plain thread per stream ([`pump`])
//!                          │
//!                          ▼ unpark
//!                       indexer (a process of its own, not ours)
//! ```
//!
//! Nothing here parses what it moves, and nothing here can fail because of the recording: a
//! [`Tap`] that the kernel refuses goes on counting, and says once what it could not keep.
//!
//! * [`spool`]: the journal;
//! * [`tap`]: the handle through which pumps and life cycle put things on record;
//! * [`gauge`]: what a pump is doing right now, for whoever watches it;
//! * [`pump`]: the loop of one stream;
//! * [`process`]: the server as a process: context, start, signals, survivors;
//! * [`net`]: the transport to servers that are reached by a URL;
//! * [`stdio`]: the transport: descriptors, threads and the life cycle from start to end.

pub mod gauge;
pub mod net;
pub mod process;
pub mod pump;
pub mod spool;
pub mod stdio;
pub mod tap;

pub use tap::Tap;
