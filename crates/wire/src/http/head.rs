//! Heads of HTTP/1 messages: where one ends, and what it says.
//!
//! A response with broken header lines is read without them, as most clients do. A request is not
//! read at all then: servers that understand such a line and servers that do not disagree about
//! where its body ends.

use super::coding::is_plain;
use compact_str::CompactString;
use httparse::{EMPTY_HEADER, Header, ParserConfig, Status};
use std::ops::Range;

/// The longest head that is taken for one.
pub const MAX_HEAD: usize = 256 << 10;

/// The `Server` of responses that the recorder makes in place of a server.
pub const RECORDER: &str = "mcpreel";

/// Lines that most heads do not have more of.
const USUAL: usize = 32;

/// The head of a request or response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub start: Start,
    /// Minor version of HTTP/1: 0 or 1.
    pub minor: u8,
    /// All of it. Heads stand in the way of traffic, and to allocate each name and value would take most of
    /// the time.
    text: String,
    fields: Vec<Field>,
}

/// Where in the text of a head the name and the value of a header stand.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    name: Range<usize>,
    value: Range<usize>,
}

impl Field {
    fn of(header: &Header<'_>, text: &str) -> Self {
        let range = |part: &[u8]| {
            let start = part.as_ptr().addr() - text.as_ptr().addr();
            start..start + part.len()
        };
        Self {
            name: range(header.name.as_bytes()),
            value: range(header.value),
        }
    }
}

/// The first line of a head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    Request {
        method: CompactString,
        target: CompactString,
    },
    Response {
        status: u16,
        reason: CompactString,
    },
}

impl Head {
    /// Reads a whole head, with its empty line; `None` where the bytes are none. What begins with
    /// `HTTP/` is read as a response.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        // Nearly all are text, which this is quicker to find out than what replaces other bytes.
        let replaced = |_| String::from_utf8_lossy(bytes).into_owned();
        let text = std::str::from_utf8(bytes).map_or_else(replaced, str::to_owned);
        let bytes = text.as_bytes();
        let lines = memchr::memchr_iter(b'\n', bytes).count();
        let (mut few, mut many) = ([EMPTY_HEADER; USUAL], Vec::new());
        let mut room = &mut few[..];
        if lines > USUAL {
            many.resize(lines, EMPTY_HEADER);
            room = &mut many;
        }
        let mut config = ParserConfig::default();
        config
            .ignore_invalid_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .allow_obsolete_multiline_headers_in_responses(true);
        let (start, minor, headers) = if bytes.starts_with(b"HTTP/") {
            let mut response = httparse::Response::new(room);
            let parsed = config.parse_response(&mut response, bytes);
            whole(parsed)?;
            let start = Start::Response {
                status: response.code?,
                reason: response.reason?.into(),
            };
            (start, response.version?, response.headers)
        } else {
            let mut request = httparse::Request::new(room);
            let parsed = config.parse_request(&mut request, bytes);
            whole(parsed)?;
            let start = Start::Request {
                method: request.method?.into(),
                target: request.path?.into(),
            };
            (start, request.version?, request.headers)
        };
        let fields = headers.iter().map(|header| Field::of(header, &text));
        Some(Self {
            start,
            minor,
            fields: fields.collect(),
            text,
        })
    }

    /// Names as they were written and values, in order.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        let text = |range: &Range<usize>| &self.text[range.clone()];
        self.fields
            .iter()
            .map(move |field| (text(&field.name), text(&field.value)))
    }

    pub fn method(&self) -> Option<&str> {
        match &self.start {
            Start::Request { method, .. } => Some(method),
            Start::Response { .. } => None,
        }
    }

    pub fn target(&self) -> Option<&str> {
        match &self.start {
            Start::Request { target, .. } => Some(target),
            Start::Response { .. } => None,
        }
    }

    pub fn status(&self) -> Option<u16> {
        match self.start {
            Start::Request { .. } => None,
            Start::Response { status, .. } => Some(status),
        }
    }

    /// The value of the first header with this name, whatever its case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// The values of all headers with this name, whatever its case, in order.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let is_it = move |field: &&Field| {
            field.name.len() == name.len()
                && self.text[field.name.clone()].eq_ignore_ascii_case(name)
        };
        let fields = self.fields.iter().filter(is_it);
        fields.map(|field| &self.text[field.value.clone()])
    }

    /// The members of the lists in all headers with this name (RFC 9110, 5.6.1), in order.
    pub fn list(&self, name: &str) -> impl Iterator<Item = &str> {
        self.all(name)
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .filter(|member| !member.is_empty())
    }

    /// Whether the recorder made this response in place of a server.
    pub fn is_from_recorder(&self) -> bool {
        self.get("server") == Some(RECORDER)
    }

    /// The media type without its parameters, as it was written.
    pub fn content_type(&self) -> Option<&str> {
        let value = self.get("content-type")?;
        Some(value.split(';').next().unwrap_or_default().trim())
    }

    /// Whether the body is in a content coding.
    pub fn is_encoded(&self) -> bool {
        !self.list("content-encoding").all(is_plain)
    }

    /// Whether the body is a stream of server-sent events.
    pub fn is_event_stream(&self) -> bool {
        let event_stream = |one: &str| one.eq_ignore_ascii_case("text/event-stream");
        self.content_type().is_some_and(event_stream)
    }
}

/// Whether it can be the name of a header (RFC 9110, 5.6.2).
pub fn is_header_name(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token)
}

/// `404 Not Found`, or the code alone where nobody has named it.
pub fn status_line(code: u16) -> String {
    known_status(code).map_or(code.to_string(), |(code, reason)| {
        format!("{code} {reason}")
    })
}

/// A status code as text, with its reason phrase (RFC 9110 section 15, RFC 6585, and Cloudflare's).
pub fn known_status(code: u16) -> Option<(&'static str, &'static str)> {
    let is_it = |(known, _): &&(&str, &str)| known.parse() == Ok(code);
    STATUSES.iter().find(is_it).copied()
}

const STATUSES: [(&str, &str); 37] = [
    ("101", "Switching Protocols"),
    ("200", "OK"),
    ("201", "Created"),
    ("202", "Accepted"),
    ("204", "No Content"),
    ("206", "Partial Content"),
    ("301", "Moved Permanently"),
    ("302", "Found"),
    ("303", "See Other"),
    ("304", "Not Modified"),
    ("307", "Temporary Redirect"),
    ("308", "Permanent Redirect"),
    ("400", "Bad Request"),
    ("401", "Unauthorized"),
    ("403", "Forbidden"),
    ("404", "Not Found"),
    ("405", "Method Not Allowed"),
    ("406", "Not Acceptable"),
    ("408", "Request Timeout"),
    ("409", "Conflict"),
    ("410", "Gone"),
    ("411", "Length Required"),
    ("412", "Precondition Failed"),
    ("413", "Content Too Large"),
    ("415", "Unsupported Media Type"),
    ("421", "Misdirected Request"),
    ("422", "Unprocessable Content"),
    ("426", "Upgrade Required"),
    ("429", "Too Many Requests"),
    ("500", "Internal Server Error"),
    ("501", "Not Implemented"),
    ("502", "Bad Gateway"),
    ("503", "Service Unavailable"),
    ("504", "Gateway Timeout"),
    ("520", "Unknown Error"),
    ("522", "Connection Timed Out"),
    ("524", "A Timeout Occurred"),
];

/// The bytes that a value in a form or a query stands for.
pub fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let (mut at, mut decoded) = (0, Vec::with_capacity(text.len()));
    while at < text.len() {
        let byte = match (text[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                at += 2;
                u8::try_from(high << 4 | low).unwrap_or_default()
            }
            (b'+', ..) => b' ',
            (byte, ..) => byte,
        };
        decoded.push(byte);
        at += 1;
    }
    decoded
}

/// Whether all of a head is there.
fn whole(parsed: httparse::Result<usize>) -> Option<()> {
    matches!(parsed, Ok(Status::Complete(_))).then_some(())
}

/// A scanner that finds the empty line which ends a head, whatever the chunks are. A line ends with
/// `\n`, with or without `\r` before it (RFC 9112, 2.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct HeadEnd {
    /// What is there of the line so far.
    line: Line,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Line {
    #[default]
    Empty,
    CarriageReturn,
    Text,
}

impl HeadEnd {
    /// How many of `bytes` belong to the head, if it ends in them: to behind its empty line. An
    /// empty line in front of the start line counts, too: it is for the caller to leave it out.
    pub fn push(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            match (bytes[at], self.line) {
                (b'\n', Line::Text) => self.line = Line::Empty,
                (b'\n', Line::Empty | Line::CarriageReturn) => {
                    self.line = Line::Empty;
                    return Some(at + 1);
                }
                (b'\r', Line::Empty) => self.line = Line::CarriageReturn,
                _ => {
                    self.line = Line::Text;
                    let rest = &bytes[at..];
                    at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                    continue;
                }
            }
            at += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_what_was_written() {
        let head = Head::parse(
            b"POST /mcp?a=b HTTP/1.1\r\nContent-Type: Application/JSON; charset=utf-8\r\n\
              ACCEPT: a, b\r\nX: \xff\r\naccept:c\r\n\r\n",
        )
        .unwrap();
        assert_eq!(
            (head.method(), head.target()),
            (Some("POST"), Some("/mcp?a=b"))
        );
        assert_eq!((head.status(), head.minor), (None, 1));
        assert_eq!(head.content_type(), Some("Application/JSON"));
        assert_eq!(head.get("Accept"), Some("a, b"));
        assert_eq!(head.list("accept").collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(head.headers().nth(2), Some(("X", "\u{fffd}")));
        let response = Head::parse(b"HTTP/1.0 404 Not Found\nbroken\nServer : a\n\n").unwrap();
        assert_eq!((response.status(), response.minor), (Some(404), 0));
        assert!(response.headers().eq([("Server", "a")]));
    }

    #[test]
    fn what_servers_would_refuse_is_no_head() {
        for bytes in [
            &b"GET / HTTP/1.1\r\nContent-Length : 5\r\n\r\n"[..],
            b"GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\r\n",
            b"PRI * HTTP/2.0\r\n\r\n",
            b"\x16\x03\x01\r\n\r\n",
            b"",
        ] {
            assert_eq!(Head::parse(bytes), None, "{}", bytes.escape_ascii());
        }
    }
}
