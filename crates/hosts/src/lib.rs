//! The configurations of MCP hosts: where they lie, which servers they name, and how a server is put
//! behind the recorder and taken out again.
//!
//! ```text
//!  hosts.toml ── table: Host ──▶ configurations ── file ──▶ document: a tree with places
//!                                      ▲                          │ servers
//!                                      └────── other bytes ◀── edit: wrap, unwrap
//! ```
//!
//! A file is edited, never written anew and never restored: everything but the command of the one
//! server stays as it is to the byte, whatever has been changed in between.

pub mod document;
pub mod edit;
pub mod file;
pub mod table;
