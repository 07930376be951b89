//! Sentences about connections over the network.

use super::{duration, escape, plural};
use mcpreel_trace::event::{EventKind, Party, Step};

/// An event of a connection in one sentence, without a full stop; `None` for any other.
pub fn event(kind: &EventKind) -> Option<String> {
    Some(match kind {
        EventKind::Listening { url, upstream } => {
            format!("listening at {} for {}", escape(url), escape(upstream))
        }
        EventKind::Connected {
            connection,
            client,
            server,
            name_ns,
            tcp_ns,
            tls_ns,
        } => {
            let (client, server) = (escape(client), escape(server));
            let all = [Some(*name_ns), Some(*tcp_ns), *tls_ns];
            let took = duration(all.into_iter().flatten().sum());
            let tls = tls_ns.map_or("", |_| " with TLS");
            format!("connection {connection}: {client} to {server}{tls}, made in {took}")
        }
        EventKind::Unreachable {
            connection,
            client,
            step,
            message,
        } => {
            let (client, message) = (escape(client), escape(message));
            let step = failed(*step);
            format!("connection {connection} of {client}: {step}: {message}")
        }
        EventKind::Refused {
            connection,
            client,
            message,
        } => {
            let (client, message) = (escape(client), escape(message));
            format!("connection {connection} of {client} was refused by mcpreel: {message}")
        }
        EventKind::Edited {
            stream,
            what,
            old,
            new,
            ..
        } => {
            let (what, old, new) = (escape(what), escape(old), escape(new));
            let connection = stream.connection().unwrap_or_default();
            let change = match (old.is_empty(), new.is_empty()) {
                (true, _) => format!("{what} was added: {new}"),
                (_, true) => format!("{what} was left out: {old}"),
                _ => format!("{what} was changed from {old} to {new}"),
            };
            format!("connection {connection}: {change}")
        }
        EventKind::Disconnected {
            connection,
            by,
            reset,
            bytes: [sent, received],
        } => {
            let by = match by {
                Party::Client => "the client",
                Party::Server => "the server",
                Party::Recorder => "mcpreel",
            };
            let how = if *reset { "reset" } else { "closed" };
            let (sent, received) = (plural(*sent, "byte"), plural(*received, "byte"));
            format!("connection {connection} was {how} by {by} after {sent} there, {received} back")
        }
        _ => return None,
    })
}

fn failed(step: Step) -> &'static str {
    match step {
        Step::Name => "the name of the server could not be resolved",
        Step::Tcp => "the server could not be reached",
        Step::Tls => "no TLS connection came about",
    }
}
