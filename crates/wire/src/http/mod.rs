//! What travels over a network connection: HTTP/1, server-sent events, WebSocket, lines.
//!
//! A [`Decoder`] takes the bytes of one connection as they were read, in both directions, and gives
//! [`Piece`]s: heads, bodies without their codings, events, messages, each with its place in the
//! stream and its times.
//!
//! ```text
//! bytes ─▶ decoder ─┬▶ head
//!                   ├▶ content: body (where it ends) ▶ coding (undone) ─┬▶ Body
//!                   │                                                   └▶ events ▶ Event
//!                   ├▶ websocket ▶ Message
//!                   └▶ lines, or what is not understood
//! ```
//!
//! * Which pieces there are depends on the bytes alone, never on how they were read.
//! * Nothing is an error: what is no HTTP is given as it is ([`Part::Other`]), with all that follows
//!   in its direction.
//! * Every byte is looked at once, and memory is bounded, whatever comes.
//! * Pieces of a direction come in the order of their ends and do not overlap, but for control
//!   frames of a WebSocket, which may stand within a message.
//!
//! [`guard`] says who may use a port, [`mod@reference`] what a URL or a relative one means. [`head`] and
//! [`body`] are for those, too, who follow the framing of messages in order to forward them.

pub mod body;
pub mod coding;
mod content;
mod decoder;
mod events;
pub mod guard;
pub mod head;
mod piece;
pub mod reference;
mod websocket;

pub use decoder::{Decoder, Protocol};
pub use head::Head;
pub use piece::{Emit, Ended, EventFields, KEPT, LIMIT, Part, Piece};
