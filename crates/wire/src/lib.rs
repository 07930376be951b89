//! What is on the wire. Pure: bytes in, values out.
//!
//! * [`framing`] cuts a stream of bytes into lines, whatever the chunks were;
//! * [`http`] takes network connections apart: heads, bodies, server-sent events, WebSocket;
//! * [`json`] reads one line as spans over its raw bytes, nothing lost;
//! * [`message`] says which JSON-RPC messages a frame holds, or why it holds none;
//! * [`brief`] is what is remembered of texts that can be as long as a line;
//! * [`id`] compares request ids by JSON type and exact value;
//! * [`mcp`] knows methods, revisions, eras, error codes and one-line summaries.

pub mod brief;
pub mod framing;
pub mod http;
pub mod id;
pub mod json;
pub mod mcp;
pub mod message;
pub mod text;
