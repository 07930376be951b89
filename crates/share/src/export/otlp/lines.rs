//! The lines of a file: spans of the client and of the server, each under its resource.

use super::attribute::Attributes;
use super::span::Span;
use super::times::Times;
use crate::export::WriteError;
use mcpreel_store::reader::Summary;
use mcpreel_trace::session::Peer;
use mcpreel_wire::message::Direction;
use serde::Serialize;
use std::io::{self, Write};

/// Spans of a line: whoever reads it holds it.
const SPANS: usize = 1000;

/// Bytes of a line; a span more may stand on it.
const BYTES: usize = 1 << 20;

/// Writes spans, so many on a line.
pub(super) struct Lines<'w, W> {
    out: &'w mut W,
    client: Batch,
    server: Batch,
}

struct Batch {
    head: String,
    spans: Vec<u8>,
    count: usize,
}

#[derive(Serialize)]
struct Resource {
    attributes: Attributes,
}

impl<'w, W: Write> Lines<'w, W> {
    pub fn new(summary: &Summary, times: Times, out: &'w mut W) -> Self {
        let side = |mut resource: Attributes| {
            resource.some("mcpreel.time", times.note());
            Batch::new(resource)
        };
        Self {
            out,
            client: side(client(summary)),
            server: side(server(summary)),
        }
    }

    /// A span of the side that sends this way.
    pub fn push(&mut self, from: Direction, span: &Span) -> Result<(), WriteError> {
        let batch = match from {
            Direction::ClientToServer => &mut self.client,
            Direction::ServerToClient => &mut self.server,
        };
        batch.push(span)?;
        let count = self.client.count + self.server.count;
        let bytes = self.client.spans.len() + self.server.spans.len();
        if count >= SPANS || bytes >= BYTES {
            self.finish()?;
        }
        Ok(())
    }

    /// Ends the line, if anything stands on it.
    pub fn finish(&mut self) -> Result<(), WriteError> {
        let mut before: &[u8] = b"{\"resourceSpans\":[";
        for batch in [&mut self.client, &mut self.server] {
            if batch.count > 0 {
                self.out.write_all(before)?;
                batch.write(self.out)?;
                before = b",";
            }
        }
        if before == b"," {
            self.out.write_all(b"]}\n")?;
        }
        Ok(())
    }
}

impl Batch {
    fn new(resource: Attributes) -> Self {
        let scope = format!(
            "{{\"name\":\"mcpreel\",\"version\":\"{}\"}}",
            env!("CARGO_PKG_VERSION")
        );
        let resource = Resource {
            attributes: resource,
        };
        let resource = serde_json::to_string(&resource);
        debug_assert!(resource.is_ok(), "it is made of texts and numbers");
        let resource = resource.unwrap_or_else(|_| "{}".to_owned());
        Self {
            head: format!(
                "{{\"resource\":{resource},\"scopeSpans\":[{{\"scope\":{scope},\"spans\":["
            ),
            spans: Vec::new(),
            count: 0,
        }
    }

    fn push(&mut self, span: &Span) -> Result<(), WriteError> {
        if self.count > 0 {
            self.spans.push(b',');
        }
        serde_json::to_writer(&mut self.spans, span).map_err(io::Error::from)?;
        self.count += 1;
        Ok(())
    }

    fn write(&mut self, out: &mut impl Write) -> Result<(), WriteError> {
        out.write_all(self.head.as_bytes())?;
        out.write_all(&self.spans)?;
        out.write_all(b"]}]}")?;
        self.spans.clear();
        self.count = 0;
        Ok(())
    }
}

fn client(summary: &Summary) -> Attributes {
    let host = &summary.context.host;
    let name = Some(&*host.name).filter(|name| !name.is_empty());
    let mut attributes = peer(&summary.session.client, name.unwrap_or("mcp-client"));
    if host.pid > 0 {
        attributes.number("process.pid", host.pid.into());
    }
    attributes
}

fn server(summary: &Summary) -> Attributes {
    let mut attributes = peer(&summary.session.server, &summary.name);
    let context = &summary.context;
    attributes.some("process.executable.path", context.executable.as_deref());
    attributes.texts("process.command_args", &context.argv);
    attributes
}

fn peer(peer: &Peer, or: &str) -> Attributes {
    let mut attributes = Attributes::default();
    attributes.text("service.name", peer.name.as_deref().unwrap_or(or));
    attributes.some("service.version", peer.version.as_deref());
    attributes
}
