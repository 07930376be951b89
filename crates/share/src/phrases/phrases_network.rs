//! Sentences about connections over the network.

use super::{duration, escape, pad_end, plural};
use mcpreel_lint::authorization::Step;
use mcpreel_trace::event::{self, EventKind, Party};
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::http::{End, HttpExchange, Timing};
use mcpreel_wire::http::{Ended, Part, head};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::pad_start;

/// An HTTP exchange on one line, not escaped: `GET /mcp → 405 Method Not Allowed`.
pub fn http(http: &HttpExchange) -> String {
    let mut said = if http.method.is_empty() {
        "a request that cannot be read".to_owned()
    } else {
        format!("{} {}", http.method, http.target)
    };
    let Some(code) = http.status else {
        let open = if http.ended.is_some() {
            "no response"
        } else {
            "no response yet"
        };
        return format!("{said} → {open}");
    };
    said = format!("{said} → {}", head::status_line(code));
    if http.is_stream() {
        said = format!("{said}, {}", plural(http.events, "event"));
        said += match http.ended {
            None => ", open",
            Some(End::Whole | End::Closed) => "",
            Some(End::Cut) => ", cut off",
            Some(End::Left) => ", until the client left",
            Some(End::Unfinished) => ", open when the recording ended",
        };
    }
    said
}

/// What took how long: `connect 1.2 ms, TLS 8.0 ms, wait 820 ms, stream 3.4 s`.
pub fn timing(timing: &Timing) -> String {
    let parts = timing.parts();
    let said = parts.map(|(part, ns)| format!("{part} {}", duration(ns)));
    said.collect::<Vec<_>>().join(", ")
}

/// The steps of logging in, a line each, and below it what does not match; `around`: the step that is
/// looked at. Steps that follow each other and say the same are one.
pub fn authorization(steps: &[Step], around: Option<Seq>) -> Vec<String> {
    let mut lines = Vec::new();
    let is_it = |step: &&Step| around.is_some() && step.frame == around;
    let says_same = |one: &Step, other: &Step| {
        (one.kind, &one.said, &one.mismatches) == (other.kind, &other.said, &other.mismatches)
    };
    for run in steps.chunk_by(says_same) {
        let looked_at = run.iter().find(is_it);
        let step = looked_at.unwrap_or(&run[0]);
        let at = step
            .frame
            .map_or("–".to_owned(), |seq| format!("#{}", seq.0));
        let mark = looked_at.map_or(" ", |_| "▸");
        let (at, kind) = (pad_start(&at, 5), pad_end(step.kind.as_str(), 17));
        let times = match run.len() {
            1 => String::new(),
            times => format!(", ×{times}"),
        };
        lines.push(format!("{mark} {at}  {kind}  {}{times}", step.said));
        let wrong = step.mismatches.iter();
        lines.extend(wrong.map(|wrong| format!("         ✗ {wrong}")));
    }
    lines
}

/// A part of HTTP that is no message on one line, not escaped; `preview`: its first bytes.
pub fn part(head: &FrameHead, preview: &[u8]) -> String {
    let text = || String::from_utf8_lossy(preview.trim_ascii()).into_owned();
    let first = || text().lines().next().unwrap_or_default().to_owned();
    let what = match head.stream.messages() {
        Some(Direction::ClientToServer) => "request",
        _ => "response",
    };
    match (head.carried.part, head.carried.ended) {
        (Part::RequestHead | Part::ResponseHead, _) => first(),
        (Part::Event, _) if head.size == 0 => {
            "an event without data: its id is where the client can go on".to_owned()
        }
        (Part::Event, _) if head.carried.is_endpoint => format!("the endpoint is {}", text()),
        (Part::Comment, _) => format!("a comment, which keeps the stream open: {}", text()),
        (Part::End, Some(Ended::Cut)) if head.size == 0 => format!("the {what} was cut off"),
        (Part::End, Some(Ended::Misframed)) => {
            "a chunk of the body is broken, so its end is unknown".to_owned()
        }
        (Part::End, Some(Ended::Unfinished)) => {
            format!("the recording ended before the {what} was complete")
        }
        (Part::End, Some(Ended::Closed)) => format!("the {what} ended with the connection"),
        (Part::End, _) => format!("the {what} ended"),
        _ => text(),
    }
}

/// Headers that curl makes by itself, or that are about the connection.
const OWN: [&str; 6] = [
    "host",
    "content-length",
    "connection",
    "accept-encoding",
    "transfer-encoding",
    "keep-alive",
];

/// A request as a command of curl to the server at `url`; `head` are its lines. In place of a credential
/// stands the name of a variable. It is made to be pasted into a shell: nothing that came over the wire
/// stands outside quotes, and `None` is returned where a terminal might act on a byte of it.
pub fn curl(url: &str, head: &[u8], body: Option<&str>) -> Option<String> {
    let head = String::from_utf8_lossy(head);
    let acts = |c: char| c.is_control() && !matches!(c, '\r' | '\n' | '\t');
    if head.contains(acts) || body.is_some_and(|body| body.contains(acts)) {
        return None;
    }
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?, first.next()?);
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?']).next()?;
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let mut command = format!(
        "curl -X {} {}",
        quoted(method),
        quoted(&format!("{scheme}://{authority}{target}"))
    );
    for line in lines {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        if OWN.contains(&&*name.to_ascii_lowercase()) {
            continue;
        }
        let header = match value.find("‹cred:") {
            Some(at) => quoted(&format!("{name}:{}", &value[..at])) + "\"$TOKEN\"",
            None => quoted(line),
        };
        command.extend([" \\\n  -H ", &header]);
    }
    if let Some(body) = body {
        command.extend([" \\\n  --data-raw ", &quoted(body)]);
    }
    Some(command)
}

/// A head as people read it: its lines, without the ends that HTTP wants. Anything else as it is.
pub fn legible(head: &FrameHead, raw: Vec<u8>) -> Vec<u8> {
    if !matches!(head.carried.part, Part::RequestHead | Part::ResponseHead) {
        return raw;
    }
    let lines = raw.split(|byte| *byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    lines.join(&b'\n')
}

/// The status of an HTTP response in one word: its code, where the field knows it.
pub fn status(http: &HttpExchange) -> &'static str {
    let Some(code) = http.status else {
        return if http.ended.is_some() { "lost" } else { "open" };
    };
    head::known_status(code).map_or("other", |(code, _)| code)
}

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
            let connection = stream.connection().unwrap_or_default();
            format!("connection {connection}: {}", change(what, old, new))
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

/// What the proxy changed, escaped; other events are none of its changes.
pub fn edit(kind: &EventKind) -> Option<String> {
    match kind {
        EventKind::Edited { what, old, new, .. } => Some(change(what, old, new)),
        _ => None,
    }
}

fn change(what: &str, old: &str, new: &str) -> String {
    let (what, old, new) = (escape(what), escape(old), escape(new));
    match (old.is_empty(), new.is_empty()) {
        (true, _) => format!("{what} was added: {new}"),
        (_, true) => format!("{what} was left out: {old}"),
        _ => format!("{what} was changed from {old} to {new}"),
    }
}

fn failed(step: event::Step) -> &'static str {
    match step {
        event::Step::Name => "the name of the server could not be resolved",
        event::Step::Tcp => "the server could not be reached",
        event::Step::Tls => "no TLS connection came about",
        event::Step::CertificateTrust
        | event::Step::CertificateName
        | event::Step::CertificateTime => "the certificate of the server is not accepted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_a_command_of_curl_without_its_credentials() {
        let head = b"POST /mcp HTTP/1.1\nHost: 127.0.0.1:7339\nAccept: a, b\nAuthorization: Bearer \xe2\x80\xb9cred:1 9f3c\xe2\x80\xba\nContent-Length: 9";
        let command = curl("https://api.example.com/mcp", head, Some("it's")).unwrap();
        assert_eq!(
            command,
            "curl -X 'POST' 'https://api.example.com/mcp' \\\n  -H 'Accept: a, b' \\\n  \
             -H 'Authorization: Bearer '\"$TOKEN\" \\\n  --data-raw 'it'\\''s'"
        );
    }

    #[test]
    fn what_a_shell_or_a_terminal_acts_upon_does_not_get_to_it() {
        let head = |line: &str| format!("P`id` /$(id) HTTP/1.1\n{line}: $(id) ‹cred:1 9f3c›");
        let command = curl("https://api.example.com", head("A`id`").as_bytes(), None);
        let command = command.unwrap();
        let outside: String = command.split('\'').step_by(2).collect();
        assert_eq!(outside, "curl -X   \\\n  -H \"$TOKEN\"");
        let hostile = curl("https://a", head("B").as_bytes(), Some("\u{1b}[201~\n"));
        assert_eq!(hostile, None);
    }
}
