//! How a request came over the network, by the conventions for HTTP and for networks in general.

use super::Trace;
use super::span::Attributes;
use crate::export::ExportError;
use mcpreel_capture::net::upstream::Upstream;
use mcpreel_trace::exchange::Exchange;
use mcpreel_wire::http::Head;
use mcpreel_wire::message::{Direction, Era};

impl Trace<'_> {
    /// Adds how a request came over the network, if it did.
    pub(super) fn add_network(
        &self,
        exchange: &Exchange,
        attributes: &mut Attributes,
    ) -> Result<(), ExportError> {
        let url = self.summary.context.url.as_deref();
        let Some(server) = url.and_then(|url| Upstream::parse(url).ok()) else {
            return Ok(());
        };
        // The roles of a span follow its message: this is the address of whoever answers.
        let is_for_server = exchange.direction == Direction::ClientToServer;
        if is_for_server {
            attributes.text("server.address", server.host());
            attributes.number("server.port", server.port().into());
        }
        if self.summary.transport == "ws" {
            attributes.text("network.protocol.name", "websocket");
        }
        let recording = self.excerpt.recording;
        let Some(http) = recording.http(exchange.http)? else {
            return Ok(());
        };
        // Sessions went with the newer era, whatever a client sends.
        let session = http
            .session
            .as_deref()
            .filter(|_| exchange.era == Era::Legacy);
        attributes.some("mcp.session.id", session);
        let head = Head::parse(&recording.raw(http.request)?);
        attributes.text("network.protocol.name", "http");
        if let Some(head) = head {
            attributes.text("network.protocol.version", &format!("1.{}", head.minor));
        }
        if is_for_server {
            attributes.text("http.request.method", &http.method);
            attributes.text("url.full", &format!("{}{}", server.origin(), http.target));
            if let Some(status) = http.status {
                attributes.number("http.response.status_code", status.into());
            }
        }
        Ok(())
    }
}
