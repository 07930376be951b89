//! The built-in host and server.
