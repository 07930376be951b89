//! Where requests go, their heads, and the words for a request that was refused.

use super::Bridge;
use super::message::{Message, Step};
use crate::beginning_of;
use crate::client::{Headers, Request, Response};
use mcpreel_wire::http::reference;
use mcpreel_wire::json::Document;
use mcpreel_wire::text::masked_url;
use std::io;

/// Why a message got no answer.
pub(super) enum Failure {
    /// The server's own JSON-RPC error: its JSON.
    Error(String),
    /// In words.
    Text(String),
    /// The server no longer knows the session that the message named.
    SessionLost(Option<String>),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Text(error.to_string())
    }
}

impl Bridge {
    /// Why a request was refused: in the server's own words, if they are JSON-RPC.
    pub(super) fn refusal(&self, response: &Response<'_>, body: &[u8]) -> Failure {
        let document = Document::parse(body).ok();
        let error = document.as_ref().and_then(|it| it.root().get("error"));
        if let Some(error) = error.filter(|it| it.is_object() && it.get("code").is_some()) {
            return Failure::Error(error.raw_text().into_owned());
        }
        let (status, url) = (response.status(), &self.url);
        // The recorder in between answers with a whole sentence.
        if response.head.is_from_recorder() {
            let text = String::from_utf8_lossy(body);
            return Failure::Text(text.trim().trim_start_matches("mcpreel: ").to_owned());
        }
        let location = response.head.get("location");
        let to = location.map_or(String::new(), |url| format!(" to {}", masked_url(url)));
        let hint = match status {
            401 if self.client.has_header("authorization") => "; it refuses the token",
            401 => "; it wants credentials: --header 'Authorization: Bearer …'",
            404 | 405 => "; is the path of the URL right?",
            _ => "",
        };
        let said = match beginning_of(body) {
            nothing if nothing.is_empty() => nothing,
            said => format!(": {said}"),
        };
        Failure::Text(format!("{url} answered HTTP {status}{to}{said}{hint}"))
    }

    /// Whether the server has moved to another path, where it is asked from now on.
    pub(super) fn moves(&self, response: &Response<'_>) -> bool {
        let location = response.head.get("location");
        let target = location.and_then(|location| self.own_target(location));
        let mut state = self.state.borrow_mut();
        let is_redirect = matches!(response.status(), 307 | 308) && state.moved.is_none();
        let target = target.filter(|_| is_redirect);
        let moves = target.is_some();
        state.moved = target.or(state.moved.take());
        moves
    }

    /// Path and query of the server.
    pub(super) fn target(&self) -> String {
        let moved = self.state.borrow().moved.clone();
        moved.unwrap_or_else(|| self.target.clone())
    }

    /// Path and query of a URL that the server has named; `None` where it is of another server.
    pub(super) fn own_target(&self, url: &str) -> Option<String> {
        let is_own = reference::split(url).is_none_or(|(origin, _)| {
            // The recorder in between puts its own name in the place of the server's where it can.
            let here = format!("http://{}", self.client.address());
            let mut own = [&here, &self.origin].into_iter();
            own.any(|own| reference::is_same_origin(origin, own))
        });
        is_own.then(|| reference::target(&self.target(), url))
    }

    pub(super) fn unreachable(&self, error: &io::Error) -> Failure {
        Failure::Text(format!("{} cannot be reached: {error}", self.url))
    }

    pub(super) fn session_headers(&self) -> Headers {
        let state = self.state.borrow();
        let session = state.session.clone();
        let version = state.version.clone();
        let session = session.map(|it| ("Mcp-Session-Id".into(), it));
        let version = version.map(|it| ("MCP-Protocol-Version".into(), it));
        session.into_iter().chain(version).collect()
    }

    /// The headers that depend on the message.
    pub(super) fn headers(&self, message: &Message) -> Headers {
        let Some(version) = &message.version else {
            return match message.step {
                Step::Initialize => Headers::new(),
                _ => self.session_headers(),
            };
        };
        let mut headers = vec![("MCP-Protocol-Version".into(), version.clone())];
        if let Ok(document) = Document::parse(&message.line) {
            headers.extend(self.state.borrow().mirrored.headers(document.root()));
        }
        headers
    }
}

/// A request with these headers, and those that all requests have.
pub(super) fn request<'a>(
    method: &'static str,
    target: &'a str,
    mut headers: Headers,
    body: Option<&'a [u8]>,
) -> Request<'a> {
    if body.is_some() {
        headers.push(("Content-Type".into(), "application/json".to_owned()));
    }
    let accept = match method {
        "POST" => "application/json, text/event-stream",
        _ => "text/event-stream",
    };
    headers.push(("Accept".into(), accept.to_owned()));
    Request {
        method,
        target,
        headers,
        body: body.map(<[u8]>::trim_ascii),
    }
}
