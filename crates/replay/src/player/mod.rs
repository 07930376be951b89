//! A recording driven again: the recorded client's side is played to a server, and what comes back
//! is compared with what came then.
//!
//! ```text
//!  recording ──script──▶ ┌──────────┐ ──Action──▶ target: writer ──▶ server's stdin
//!                        │ director │
//!  judge ◀──two answers──└──────────┘ ◀──lines─── target: reader ◀── server's stdout
//!                             ▲                      │ every chunk on record first
//!                            bind                    ▼
//!                   recorded → live values        the new recording
//! ```
//!
//! * [`Director`] decides, and does nothing itself: recorded frames are offered to it in order,
//!   live lines arrive, time is an argument; [`Action`]s come out. The tests play it without
//!   processes.
//! * [`target`] starts the server, moves the bytes, and puts them on record.
//! * [`play`]: all of it, with a recording of its own.
//! * [`guard`]: which tools may be called; [`survey`]: what a recording asks for before it is played.
//!   [`Options`]: everything that a user chooses.
//!
//! # The order
//!
//! The walk goes through the recorded frames in the order of seq, and each kind has one rule:
//!
//! | recorded frame | what the walk does |
//! |---|---|
//! | request or notification of the client | is sent; before that waits for what the server had asked before it |
//! | answer of the server | waits until the live answer has arrived; one that came early is not waited for |
//! | request of the server | is noted; the client's next request or notification waits for it |
//! | answer of the client | is noted; it goes out as soon as the live request is there, whatever else is missing |
//! | notification of the server | is noted; waited for only where the client reacted to it at once, or where it confirms a subscription |
//!
//! So a client message goes out after every answer and every question that the recorded client had
//! seen before it, and requests that overlapped then overlap again, at any speed. Since what the
//! server said was put on record before the client had it, the order of seq is never wrong about
//! what the client could have known; it may only wait for more than the client did.
//!
//! Nobody waits for the answer to a request that was cancelled before it came, that was not sent, or
//! that is a listen stream; nor, for longer than a moment, for what belongs to no call.
//!
//! # What goes out
//!
//! The recorded bytes, unless a value in them was chosen by the server, is redacted, or is to be
//! rewritten: see [`bind`](crate::bind). A frame is sent whole or not at all; a batch of
//! which one request may not be sent is not sent.
//!
//! # What ends it
//!
//! The end of the recording; a deadline with work pending (hang); the end of the server with work
//! pending (crash); a server of the other era; the user. In each case the server is ended as the
//! specification wants it: its input is closed, then SIGTERM, then SIGKILL, and whatever was found
//! until then is reported.

mod director;
pub mod guard;
mod options;
mod play;
pub mod script;
mod target;

pub use director::{
    Action, Deadly, Director, Ended, GivenUp, Past, Refusal, Scene, Stop, Tally, Waits, Want,
    Witness,
};
pub use guard::Guard;
pub use options::{Options, Order, Policy};
pub use play::{Play, PlayError, Played};
pub use target::{
    Command, LeftOut, Library, NoCommand, Outcome, Progress, Signals, Stopper, TargetError, Wanted,
};
