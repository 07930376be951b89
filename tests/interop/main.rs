//! Servers and clients that nobody here wrote, recorded as they really talk to each other. Needs
//! node, npm, python3, git, and a network the first time.
//!
//! * [`alarms`]: nothing is called wrong that is right, but for what [`expected`] lists;
//! * [`same`]: a client sees the same with the recorder in between as without it;
//! * [`replayed`]: a recording played to the same server again differs in nothing, and to an
//!   altered one in exactly what was altered;
//! * [`mocked`]: a client whose session was recorded sees the same with the mock of it;
//! * [`exported`]: what is exported is read by the programs that it is for;
//! * [`over_http`]: over HTTP a client sees the same through the proxy, and the recording says of each of
//!   its requests what its own log says;
//! * [`conformance`]: the official conformance suite comes to the same verdicts through the proxy as without it;
//! * [`wrapped`]: a configuration that was wrapped is started by a client that reads such files;
//! * [`interop_session`]: a session of any client with any server, its recordings, and how to have it
//!   again;
//! * [`peers`], [`http_peers`]: the servers and clients; [`packages`]: where they come from.
//!
//! What a client does with a server stands in `plans.json`; `clients/converse.py` and
//! `clients/converse.cjs` do it with whatever the server declares, in each mode that the client
//! has.

#[path = "../support/mod.rs"]
mod support;

#[cfg(feature = "long-tests")]
mod alarms;
#[cfg(feature = "long-tests")]
mod conformance;
#[cfg(feature = "long-tests")]
mod expected;
#[cfg(feature = "long-tests")]
mod exported;
#[cfg(feature = "long-tests")]
mod http_peers;
#[cfg(feature = "long-tests")]
mod interop_session;
#[cfg(feature = "long-tests")]
mod mocked;
#[cfg(feature = "long-tests")]
mod over_http;
#[cfg(feature = "long-tests")]
mod packages;
#[cfg(feature = "long-tests")]
mod peers;
#[cfg(feature = "long-tests")]
mod replayed;
mod rmcp;
#[cfg(feature = "long-tests")]
mod same;
#[cfg(feature = "long-tests")]
mod wrapped;
