//! Servers that are reached over the network.
//!
//! | part | what is played | promise |
//! |---|---|---|
//! | `transparency` | real sockets over IPv4 and IPv6, random traffic, cuts and ends, slow readers | both sides receive what the other sent, but for the named edits, and see the same end |
//! | `gone` | clients that reset while a write hangs | the server sees it at once |
//! | `hostile` | floods without an end, bombs, clients that dawdle, requests that say two things | memory is bounded, the other connections go on, and bytes pass as they are |
//! | `edits` | requests and answers that say where they are | what is changed, that it is on record, and who is refused |
//! | `fail_open` | folders and disks that refuse the recording | every byte passes, it is said once, and what is missing is stated |
//! | `credentials` | tokens wherever they can stand | they pass, and their text is nowhere in the recording |
//! | `unreachable` | names, ports and TLS that do not work | a 502 that says which step failed and what to do |
//! | `tls` | a server behind TLS, with an authority of the test | bytes pass as over TCP |
//! | `command` | a server that the proxy starts | connections wait for it, signals reach it, and the proxy ends as it does |
//! | `listening` | ports that are taken, addresses that others can reach | the next free one, or an error that names it; nobody else is let in |
//! | `kill` | 64 open streams and calls, and a proxy that is killed | what either side had received is on record, and told |
//! | `bridge` | a host on pipes, and servers with a URL that misbehave | lines become requests, answers lines; both sides are on record |
//! | `bridge_streams` | the same, with streams of events | they are opened, read and taken up again as servers expect |
//! | `served` | recordings served over HTTP, and replayed to a URL | what was recorded over one transport is used over the other |
//! | `probes` | clients that find out what the server speaks, told by hand | what was refused before the fallback worked is a probe |
//! | `talks` | clients, sessions and connections side by side, told by hand | each message belongs where it was meant |
//! | `sockets` | two clients over WebSocket, and over lines of TCP | each connection is a conversation, with its calls |
//! | `reading` | the same, and cases told by hand | filters, lines and times say what was on the wire |
//! | `broken` | cases told by hand, of streams that break and are taken up again | a call is lost when its stream broke, unless the answer comes on another |
//! | `recorded` | `wire/*`: what real peers sent, read by read | messages, exchanges and HTTP are told as their client saw them |

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/mod.rs"]
mod support;
#[expect(dead_code, reason = "other tests use the rest")]
#[path = "../support/told.rs"]
mod told;
#[path = "../support/wire.rs"]
mod wire;

use support::written;

mod bridge;
mod bridge_streams;
mod broken;
mod command;
mod copies;
mod credentials;
mod edits;
mod fail_open;
mod gone;
mod hostile;
mod http_server;
mod kill;
mod listening;
mod network_filters;
mod probes;
mod reading;
mod recorded;
mod served;
mod sockets;
mod talks;
mod tls;
mod transparency;
mod unreachable;
