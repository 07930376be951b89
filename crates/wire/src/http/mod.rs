//! What travels over a network connection: HTTP/1, server-sent events, WebSocket, lines.

pub mod body;
pub mod head;
