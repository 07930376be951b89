//! Rules about the transports over HTTP: heads, statuses, and which stream a message comes on.

mod body_lengths;
mod params;

use crate::rule::Revisions;
use crate::{Context, Family, Part, Severity, quote, section};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcpreel_trace::correlator::{Observation, Observed};
use mcpreel_trace::http::{Asked, HttpExchange};
use mcpreel_wire::http::body::BodyLength;
use mcpreel_wire::http::{self, Head, coding};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::message::{Body, Direction, Outcome};
use std::borrow::Cow;

const SINCE_B: Revisions = Revisions::since(Revision::V2025_03_26);
const SINCE_C: Revisions = Revisions::since(Revision::V2025_06_18);
const WITH_SESSIONS: Revisions = Revisions::between(Revision::V2025_03_26, Revision::V2025_11_25);

rules! {
    ACCEPT = error("http-accept").of(section::STREAMABLE_HTTP).only(SINCE_B)
        .finds("a POST whose Accept lacks application/json or text/event-stream")
        .why("The server chooses between the two for its answer, and may refuse with 406 a client that takes only one.")
        .fix("Send `Accept: application/json, text/event-stream` with each POST.");

    VERSION_MISSING = error("http-version-header-missing").of(section::STREAMABLE_HTTP).only(SINCE_C)
        .milder_in(Severity::Warning, WITH_SESSIONS)
        .finds("a request after the handshake without the header MCP-Protocol-Version")
        .why("The server has to assume 2025-03-26, whatever was agreed on.")
        .fix("Send the version that was agreed on with each request after `initialize`; a proxy must not drop it.");

    MISMATCH = error("http-header-mismatch").of(section::STREAMABLE_HTTP).only(Revisions::MODERN)
        .finds("a header that says something else than the body")
        .why("Who routes by headers sends the request elsewhere than who reads it, so servers refuse it with 400 and -32020.")
        .fix("Take MCP-Protocol-Version, Mcp-Method and Mcp-Name from the message that is sent, and Mcp-Param-… from the arguments that the tool's schema marks with x-mcp-header; what is no ASCII goes in as =?base64?…?=.");

    SESSION_MISSING = error("http-session-missing").of(section::STREAMABLE_HTTP).only(SINCE_B)
        .finds("a request without the session id that the server has assigned, or with one where there are no sessions")
        .why("Without it the server cannot tell whose request it is, and refuses with 400.")
        .fix("Send `Mcp-Session-Id` from the answer to `initialize` with each request after it; from 2026-07-28 on send none.");

    SESSION_CHARSET = error("http-session-charset").of(section::STREAMABLE_HTTP).only(WITH_SESSIONS)
        .finds("a session id with other characters than visible ASCII")
        .why("Clients and proxies drop or change such a header, and the session is lost.")
        .fix("Make ids of letters, digits and dashes, for example a UUID.");

    NOTIFICATION_STATUS = error("http-notification-status").of(section::STREAMABLE_HTTP).only(SINCE_B)
        .finds("a notification or response that was accepted with another status than 202")
        .why("Clients read the body of a 200 as an answer, and fail where there is none.")
        .fix("Answer with 202 and no body where the POST holds no request.");

    NO_ANSWER = error("http-no-answer").of(section::STREAMABLE_HTTP).only(SINCE_B)
        .finds("an HTTP response that ended with a success status, but without the answer to its request")
        .why("The client has nothing to wait for any more: it fails, or waits until it times out.")
        .fix("Answer each request on the response to its POST, as JSON or as an event; 202 is for notifications and responses only. Where a page came, the URL is that of something else.");

    ERROR_STATUS = warning("http-error-status").of(section::STREAMABLE_HTTP).only(Revisions::MODERN)
        .finds("an error whose HTTP status is not the one for its code")
        .why("Clients tell from the status whether the server knows the method, or the era at all.")
        .fix("Send 404 with -32601, and 400 with -32020, -32021 and -32022.");

    ORIGIN = warning("http-origin").of(section::STREAMABLE_HTTP)
        .finds("a request from a web page of another origin was accepted")
        .why("Any page that the user opens can then use the server.")
        .fix("Compare `Origin` with the origins that are allowed, and answer 403 to all others.");

    BODY_LENGTH = error("http-body-length").of(section::HTTP_BODY_LENGTH)
        .finds("a head that contradicts itself about the length of its body, or a chunk that is not as long as it says")
        .why("A proxy and the server may disagree about where the message ends: one reads as the next request what the other reads as a body (request smuggling).")
        .fix("Send either one Content-Length or `Transfer-Encoding: chunked`; if a proxy adds the second header, let it remove the first. A chunk is its size in hexadecimal digits, its bytes, and `\\r\\n` behind each of the two.");

    UNKNOWN_CODING = warning("http-unknown-coding").of(section::HTTP_CONTENT_ENCODING)
        .finds("a body in a coding that mcpreel does not undo")
        .why("The bytes are on record as they were sent, but no message is read out of them. Clients that do not know the coding take the bytes as they are, or fail.")
        .fix("Send the body without Content-Encoding, or as gzip, deflate, br or zstd, whichever the other side accepts.");

    SERVER_REQUEST = error("http-sse-server-request").of(section::STREAMABLE_HTTP).only(Revisions::MODERN)
        .finds("a request of the server on a stream of events")
        .why("In this era the client has no way to answer it.")
        .fix("Answer with `input_required`, and take the input from the retry.");

    WRONG_STREAM = warning("http-sse-wrong-stream").of(section::STREAMABLE_HTTP).only(WITH_SESSIONS)
        .finds("a response on another stream than that of its request")
        .why("A client that has closed the other stream, or reads it elsewhere, never sees it.")
        .fix("Answer on the response to the POST; on another stream only where the client resumes with Last-Event-ID.");

    TOKEN_IN_QUERY = error("http-token-in-query").of(section::AUTHORIZATION).only(SINCE_B)
        .finds("an access token in the URL")
        .why("URLs end in logs and histories, where others can read the token.")
        .fix("Send it in the header `Authorization: Bearer …`.");

    NO_CHALLENGE = warning("http-401-without-challenge").of(section::AUTHORIZATION).only(SINCE_C)
        .finds("a 401 without the header WWW-Authenticate")
        .why("The client cannot tell where to get a token: it guesses well-known addresses, or gives up.")
        .fix("Send `WWW-Authenticate: Bearer resource_metadata=\"…\"` with each 401.");
}

/// The family of rules about HTTP.
#[derive(Debug, Default)]
pub struct Http {
    /// Whether the server has assigned a session id.
    has_session: bool,
    /// Whether the client sends to an endpoint that a stream of events has named (2024-11-05): its
    /// answers come on that stream, whatever version is agreed on.
    has_endpoint: bool,
    params: params::Params,
}

impl Family for Http {
    fn http(&mut self, http: &HttpExchange, context: &Context<'_>) {
        let (Some(request), Some(response)) = (&http.request_head, &http.response_head) else {
            return;
        };
        let asked = &http.asked;
        let look = Look {
            http,
            request,
            response,
            revision: match asked.version {
                Some(_) => Revision::V2026_07_28,
                None if context.known.is_modern() => Revision::V2026_07_28,
                None => context.known.legacy(),
            },
            context,
        };
        let is_ours = asked.count() > 0 || http.conversation > 0;
        if is_ours {
            if !self.has_endpoint && asked.count() > 0 {
                look.accept();
                look.notification();
            }
            if !self.has_endpoint {
                look.version();
            }
            look.mismatch();
            self.session(&look);
        }
        look.body_lengths();
        look.codings();
        look.origin();
        look.token();
        look.challenge();
        self.has_session |= response.get(mcpreel_trace::http::SESSION).is_some();
    }

    fn http_over(&mut self, http: &HttpExchange, observed: &[Observation], context: &Context<'_>) {
        let is_it = |one: &&Observation| one.kind == Observed::NotInResponse;
        for one in observed.iter().filter(is_it) {
            let detail = quote::text(&http.received());
            let finding = NO_ANSWER.at(one.frame, detail).about(one.exchange);
            context.findings.push(finding);
        }
        for (direction, frame) in &http.broken_chunks {
            let side = match direction {
                Direction::ClientToServer => "request",
                Direction::ServerToClient => "response",
            };
            let detail = format!("the {side}: a chunk of its body is broken");
            context.findings.push(BODY_LENGTH.at(*frame, detail));
        }
    }

    fn part(&mut self, part: &Part<'_>) {
        let Some(http) = part.seen.http else {
            return;
        };
        self.has_endpoint |= http.has_endpoint;
        if part.direction() != Direction::ServerToClient {
            if let (Some("tools/call"), Some(head)) = (part.method(), &http.request_head) {
                self.params.called(part, head);
            }
            return;
        }
        match (&part.message.body, part.method()) {
            (Body::Response(_), Some("tools/list")) => self.params.listed(part),
            (Body::Notification(_), Some("notifications/tools/list_changed")) => {
                self.params.changed();
            }
            _ => {}
        }
        match &part.message.body {
            // Of the server's own messages only what carries them tells the era.
            Body::Request(request)
                if part.seen.head.carried.part == http::Part::Event
                    && http.asked.version.is_some() =>
            {
                let found = part.at(&SERVER_REQUEST, quote::text(&request.method));
                part.push(found.judged_by(Revision::V2026_07_28));
            }
            Body::Response(response) => {
                if let Outcome::Error { code, .. } = &response.outcome {
                    error_status(part, code.as_deref(), http.status);
                }
                let asked = part.full_exchange().map(|exchange| exchange.http);
                let is_resumed = http
                    .request_head
                    .as_ref()
                    .is_some_and(|head| head.get("Last-Event-ID").is_some());
                let is_elsewhere = !is_resumed && !self.has_endpoint;
                if let Some(asked) = asked.filter(|asked| *asked != http.id && is_elsewhere) {
                    let request = part.full_exchange().map_or(0, |it| it.request.0.0);
                    let detail = format!(
                        "the answer to #{request} came with HTTP exchange {} in place of {asked}",
                        http.id
                    );
                    part.tell(&WRONG_STREAM, detail);
                }
            }
            _ => {}
        }
    }
}

impl Http {
    fn session(&self, look: &Look<'_>) {
        let sent = look.request.get(mcpreel_trace::http::SESSION);
        if look.revision == Revision::V2026_07_28 {
            if let Some(sent) = sent.filter(|_| look.http.asked.version.is_some()) {
                let detail = format!(
                    "{} was sent, where there are no sessions",
                    quote::text(sent)
                );
                look.tell(&SESSION_MISSING, detail);
            }
        } else if self.has_session && sent.is_none() && !look.http.asked.is_initialize {
            look.tell(&SESSION_MISSING, format!("{} without it", look.line()));
        }
        let assigned = look.response.get(mcpreel_trace::http::SESSION);
        // In a copy without secrets a token of mcpreel stands in its place.
        let is_wrong = |id: &&str| {
            let is_token = id.starts_with("‹secret:") && id.ends_with('›');
            !is_token && !id.bytes().all(|byte| byte.is_ascii_graphic())
        };
        if let Some(id) = assigned.filter(is_wrong) {
            look.tell(&SESSION_CHARSET, quote::text(id));
        }
    }
}

/// A request of HTTP whose response has begun.
struct Look<'a> {
    http: &'a HttpExchange,
    request: &'a Head,
    response: &'a Head,
    revision: Revision,
    context: &'a Context<'a>,
}

impl Look<'_> {
    fn tell(&self, rule: &'static crate::Rule, detail: impl Into<String>) {
        let finding = rule.at(self.http.request, detail);
        self.context.findings.push(finding.judged_by(self.revision));
    }

    fn line(&self) -> String {
        format!(
            "{} {}",
            quote::text(&self.http.method),
            quote::text(&self.http.target)
        )
    }

    fn accept(&self) {
        if self.http.method != "POST" {
            return;
        }
        let accepted: Vec<_> = self.request.list("accept").collect();
        let takes = |kind: &str| {
            let (main, _) = kind.split_once('/').unwrap_or((kind, ""));
            accepted.iter().any(|one| {
                let one = one
                    .split(';')
                    .next()
                    .unwrap_or(one)
                    .trim()
                    .to_ascii_lowercase();
                one == kind || one == "*/*" || one.strip_suffix("/*") == Some(main)
            })
        };
        let wanted = ["application/json", "text/event-stream"];
        let missing: Vec<_> = wanted.into_iter().filter(|kind| !takes(kind)).collect();
        if !missing.is_empty() {
            let sent = self.request.get("accept").unwrap_or("nothing");
            let detail = format!("{} without {}", quote::text(sent), missing.join(" and "));
            self.tell(&ACCEPT, detail);
        }
    }

    fn version(&self) {
        let asked = &self.http.asked;
        let has_version = self.request.get("MCP-Protocol-Version").is_some();
        // Where the handshake failed there is none to send.
        let is_agreed = self.context.session.version().is_some() || asked.version.is_some();
        if !has_version && is_agreed && !asked.is_initialize {
            self.tell(&VERSION_MISSING, self.line());
        }
    }

    fn mismatch(&self) {
        let Asked {
            method,
            name,
            version,
            ..
        } = &self.http.asked;
        let pairs = [
            ("MCP-Protocol-Version", version),
            ("Mcp-Method", method),
            ("Mcp-Name", name),
        ];
        for (header, said) in pairs {
            let Some(said) = said.as_deref().filter(|_| version.is_some()) else {
                continue;
            };
            match self.request.get(header) {
                Some(sent) if decoded(sent) != said => {
                    let (sent, said) = (quote::text(sent), quote::text(said));
                    self.tell(
                        &MISMATCH,
                        format!("{header} is {sent}, the body says {said}"),
                    );
                }
                None if header != "MCP-Protocol-Version" && self.http.asked.requests > 0 => {
                    self.tell(
                        &MISMATCH,
                        format!("{header} is missing, the body says {}", quote::text(said)),
                    );
                }
                _ => {}
            }
        }
    }

    fn notification(&self) {
        let asked = &self.http.asked;
        let is_other = asked.requests == 0 && asked.others > 0;
        if let Some(status) = self
            .http
            .status
            .filter(|it| is_other && *it < 300 && *it != 202)
        {
            self.tell(&NOTIFICATION_STATUS, status.to_string());
        }
    }

    fn body_lengths(&self) {
        for (side, head) in [("request", self.request), ("response", self.response)] {
            if let Some(wrong) = body_lengths::contradiction(head) {
                self.tell(&BODY_LENGTH, format!("the {side}: {wrong}"));
            }
        }
    }

    fn codings(&self) {
        for (side, head) in [("request", self.request), ("response", self.response)] {
            let method = head.status().map(|_| &*self.http.method);
            let has_body = BodyLength::of(head, method) != BodyLength::Known(0);
            if let Some(unknown) = coding::unknown(head).filter(|_| has_body) {
                let unknown = quote::text(unknown);
                self.tell(
                    &UNKNOWN_CODING,
                    format!("the {side}: Content-Encoding is {unknown}"),
                );
            }
        }
    }

    fn origin(&self) {
        let Some(origin) = self
            .request
            .get("origin")
            .filter(|origin| *origin != "null")
        else {
            return;
        };
        let of = |url: &str| {
            url.split_once("://")
                .map_or(url, |(_, rest)| rest)
                .to_ascii_lowercase()
        };
        let bare = |authority: &str| {
            let host = authority
                .rsplit_once(':')
                .map_or(authority, |(host, _)| host);
            host.to_owned()
        };
        let host = self.request.get("host").map(of).unwrap_or_default();
        let origin_host = bare(&of(origin));
        let is_local = matches!(&*origin_host, "localhost" | "127.0.0.1" | "[::1]");
        let is_accepted = self.http.status.is_some_and(|status| status < 400);
        if is_accepted && !is_local && origin_host != bare(&host) {
            self.tell(&ORIGIN, quote::text(origin));
        }
    }

    fn token(&self) {
        let query = self
            .http
            .target
            .split_once('?')
            .map_or("", |(_, query)| query);
        let mut names = query.split('&').filter_map(|pair| pair.split('=').next());
        let is_token = |name: &&str| matches!(*name, "access_token" | "token" | "id_token");
        if let Some(name) = names.find(is_token) {
            self.tell(&TOKEN_IN_QUERY, format!("the parameter {name}"));
        }
    }

    fn challenge(&self) {
        let is_refused = self.http.status == Some(401);
        if is_refused && self.response.get("www-authenticate").is_none() {
            self.tell(&NO_CHALLENGE, self.line());
        }
    }
}

fn error_status(part: &Part<'_>, code: Option<&str>, status: Option<u16>) {
    let right = match code {
        Some("-32601") => 404,
        Some("-32020" | "-32021" | "-32022") => 400,
        _ => return,
    };
    if let Some(status) = status.filter(|status| *status != right) {
        let code = code.unwrap_or_default();
        part.tell(
            &ERROR_STATUS,
            format!("{status} with {code}, expected {right}"),
        );
    }
}

/// A header as it is meant: what is no ASCII is sent as `=?base64?…?=` (2026-07-28, Transports).
fn decoded(value: &str) -> Cow<'_, str> {
    let inner = value
        .strip_prefix("=?base64?")
        .and_then(|it| it.strip_suffix("?="));
    let bytes = inner.and_then(|inner| STANDARD.decode(inner).ok());
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.map_or(Cow::Borrowed(value), Cow::Owned)
}
