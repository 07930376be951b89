//! How long the body of a message is, and where it ends (RFC 9112, 6 and 7.1).

use super::head::{Head, HeadEnd, Start};

/// How the end of a body is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLength {
    /// The number of its bytes is known; 0 where there is none.
    Known(u64),
    Chunked,
    /// It ends with the connection; responses only.
    UntilClose,
    /// There is no body, and no HTTP after this head: a switch of protocols, or a tunnel.
    Tunnel,
    /// The head contradicts itself: what follows cannot be told apart.
    Unclear,
}

impl BodyLength {
    /// The length of the body that follows `head`. For a response it depends on the method of its
    /// request; `None` is one that is not known.
    pub fn of(head: &Head, request_method: Option<&str>) -> Self {
        let response = match head.start {
            Start::Request { .. } => false,
            Start::Response { status, .. } => {
                let connected = request_method == Some("CONNECT") && (200..300).contains(&status);
                match status {
                    101 => return Self::Tunnel,
                    _ if connected => return Self::Tunnel,
                    100..200 | 204 | 304 => return Self::Known(0),
                    _ if request_method == Some("HEAD") => return Self::Known(0),
                    _ => true,
                }
            }
        };
        let mut codings = head.list("transfer-encoding").peekable();
        if codings.peek().is_some() {
            return Self::of_codings(&codings.collect::<Vec<_>>(), head.minor, response);
        }
        // A list of equal numbers is one number: some senders repeat the header.
        let mut lengths = head
            .all("content-length")
            .flat_map(|value| value.split(','))
            .map(|length| digits(length.trim()));
        match lengths.next() {
            None if response => Self::UntilClose,
            None => Self::Known(0),
            Some(first) => match first {
                Some(length) if lengths.all(|one| one == first) => Self::Known(length),
                _ => Self::Unclear,
            },
        }
    }

    /// The length by `Transfer-Encoding`, which overrides `Content-Length`.
    fn of_codings(codings: &[&str], minor: u8, response: bool) -> Self {
        let chunked = |coding: &&&str| coding.eq_ignore_ascii_case("chunked");
        let last = codings.last().is_some_and(|one| chunked(&one));
        match codings.iter().filter(chunked).count() {
            // HTTP/1.0 has no transfer codings: whoever forwarded this did not understand it.
            _ if minor == 0 => Self::Unclear,
            1 if last => Self::Chunked,
            2.. => Self::Unclear,
            _ if response => Self::UntilClose,
            _ => Self::Unclear,
        }
    }
}

fn digits(text: &str) -> Option<u64> {
    let only_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    only_digits.then(|| text.parse().ok()).flatten()
}

/// What the bytes in front of a [`Follower`] are, and how many of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eaten {
    /// Content, as it was encoded.
    Content(usize),
    /// Lines around chunks.
    Framing(usize),
    /// Trailers, with the empty line that ends them; only that line where there are none.
    Trailers(usize),
    /// The bytes are not framed as the head said: nothing of the rest can be told apart.
    Broken,
}

/// Follows a body to its end, whatever the chunks are that it is read in. Owns no bytes.
#[derive(Clone, Copy, Debug)]
pub struct Follower {
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Known(u64),
    UntilClose,
    /// In the line before a chunk, with what is there of its size.
    Size(Option<u64>),
    /// Behind the size: extensions, or white space before them.
    Extension(u64),
    /// Behind the `\r` of the line before a chunk.
    SizeEnd(u64),
    Chunk(u64),
    /// Behind a chunk, before its `\r`.
    ChunkEnd,
    /// Behind a chunk and its `\r`.
    ChunkEndLine,
    Trailers(HeadEnd),
    Done,
    Broken,
}

impl Follower {
    /// A follower at the start of a body. Without framing ([`BodyLength::Tunnel`],
    /// [`BodyLength::Unclear`]) everything that follows is broken.
    pub fn new(length: BodyLength) -> Self {
        let state = match length {
            BodyLength::Known(0) => State::Done,
            BodyLength::Known(length) => State::Known(length),
            BodyLength::Chunked => State::Size(None),
            BodyLength::UntilClose => State::UntilClose,
            BodyLength::Tunnel | BodyLength::Unclear => State::Broken,
        };
        Self { state }
    }

    /// Whether the message has ended: what comes next belongs to the next one.
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Whether all of the content has been seen; trailers may follow.
    pub fn content_is_over(&self) -> bool {
        matches!(self.state, State::Done | State::Trailers(_))
    }

    /// Whether only the end of the connection ends this body.
    pub fn is_until_close(&self) -> bool {
        matches!(self.state, State::UntilClose)
    }

    /// Whether nothing of a chunk is missing but the end of its line, or there are no chunks.
    pub fn is_at_chunk_end(&self) -> bool {
        matches!(self.state, State::ChunkEnd | State::UntilClose)
    }

    /// Leaves out `bytes` that are missing in the stream. Returns whether the follower still knows
    /// where it is.
    pub fn skip(&mut self, bytes: u64) -> bool {
        self.state = match self.state {
            State::Known(left) if bytes < left => State::Known(left - bytes),
            State::Known(left) if bytes == left => State::Done,
            _ => State::Broken,
        };
        !matches!(self.state, State::Broken)
    }

    /// Takes the first of `bytes`, which are not empty: as many as are of one kind. To be called
    /// until [`Self::is_done`] or nothing is left.
    pub fn eat(&mut self, bytes: &[u8]) -> Eaten {
        match &mut self.state {
            State::Known(left) | State::Chunk(left) => {
                let length =
                    usize::try_from(*left).map_or(bytes.len(), |left| left.min(bytes.len()));
                *left -= length as u64;
                match self.state {
                    State::Known(0) => self.state = State::Done,
                    State::Chunk(0) => self.state = State::ChunkEnd,
                    _ => {}
                }
                Eaten::Content(length)
            }
            State::UntilClose => Eaten::Content(bytes.len()),
            State::Trailers(end) => {
                let end = end.push(bytes);
                if end.is_some() {
                    self.state = State::Done;
                }
                Eaten::Trailers(end.unwrap_or(bytes.len()))
            }
            State::Done | State::Broken => Eaten::Broken,
            _ => self.eat_framing(bytes),
        }
    }

    /// Takes lines around chunks, up to where content or trailers begin.
    fn eat_framing(&mut self, bytes: &[u8]) -> Eaten {
        for (at, &byte) in bytes.iter().enumerate() {
            self.state = self.state.after(byte);
            match self.state {
                State::Broken if at == 0 => return Eaten::Broken,
                // The next call says that it is broken, at the same byte however it was read.
                State::Broken => return Eaten::Framing(at),
                State::Chunk(_) | State::Trailers(_) => return Eaten::Framing(at + 1),
                _ => {}
            }
        }
        Eaten::Framing(bytes.len())
    }
}

impl State {
    /// The state behind a byte of a line around chunks. A line ends with `\r\n` and nothing else:
    /// where one side takes a lone `\n` for an end and the other does not, requests are smuggled.
    fn after(self, byte: u8) -> Self {
        let line_ended = |size| match (byte, size) {
            (b'\r', Some(size)) => Self::SizeEnd(size),
            (b'\n', _) | (_, None) => Self::Broken,
            (_, Some(size)) => Self::Extension(size),
        };
        match (self, byte) {
            (Self::Size(size), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16).map_or(0, u64::from);
                let size = size.unwrap_or(0).checked_mul(16);
                size.map_or(Self::Broken, |size| Self::Size(Some(size + digit)))
            }
            (Self::Size(size), b'\r' | b';' | b' ' | b'\t') => line_ended(size),
            (Self::Extension(size), _) => line_ended(Some(size)),
            (Self::SizeEnd(0), b'\n') => Self::Trailers(HeadEnd::default()),
            (Self::SizeEnd(size), b'\n') => Self::Chunk(size),
            (Self::ChunkEnd, b'\r') => Self::ChunkEndLine,
            (Self::ChunkEndLine, b'\n') => Self::Size(None),
            _ => Self::Broken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(head: &str, method: Option<&str>) -> BodyLength {
        let head = head.replace('|', "\r\n") + "\r\n\r\n";
        BodyLength::of(&Head::parse(head.as_bytes()).unwrap(), method)
    }

    #[test]
    fn a_body_is_as_long_as_rfc_9112_says() {
        use BodyLength::{Chunked, Known, Tunnel, Unclear, UntilClose};
        let get = Some("GET");
        for (head, method, expected) in [
            ("GET / HTTP/1.1", None, Known(0)),
            ("POST / HTTP/1.1|Content-Length: 5", None, Known(5)),
            (
                "POST / HTTP/1.1|content-length: 5, 5|Content-Length: 5",
                None,
                Known(5),
            ),
            (
                "POST / HTTP/1.1|Content-Length: 5|Content-Length: 6",
                None,
                Unclear,
            ),
            ("POST / HTTP/1.1|Content-Length: +5", None, Unclear),
            ("POST / HTTP/1.1|Content-Length:", None, Unclear),
            (
                "POST / HTTP/1.1|Content-Length: 99999999999999999999",
                None,
                Unclear,
            ),
            (
                "POST / HTTP/1.1|Transfer-Encoding: gzip, Chunked|Content-Length: 5",
                None,
                Chunked,
            ),
            ("POST / HTTP/1.1|Transfer-Encoding: gzip", None, Unclear),
            (
                "POST / HTTP/1.1|Transfer-Encoding: chunked, gzip",
                None,
                Unclear,
            ),
            (
                "POST / HTTP/1.1|Transfer-Encoding: chunked, chunked",
                None,
                Unclear,
            ),
            ("POST / HTTP/1.0|Transfer-Encoding: chunked", None, Unclear),
            ("HTTP/1.1 200 OK", get, UntilClose),
            ("HTTP/1.1 200 OK|Content-Length: 5", get, Known(5)),
            ("HTTP/1.1 200 OK|Content-Length: 5", Some("HEAD"), Known(0)),
            ("HTTP/1.1 200 OK|Transfer-Encoding: gzip", get, UntilClose),
            ("HTTP/1.1 200 OK", Some("CONNECT"), Tunnel),
            (
                "HTTP/1.1 407 No|Content-Length: 5",
                Some("CONNECT"),
                Known(5),
            ),
            ("HTTP/1.1 100 Continue", get, Known(0)),
            ("HTTP/1.1 101 Switching Protocols", get, Tunnel),
            ("HTTP/1.1 204 No Content|Content-Length: 5", get, Known(0)),
            (
                "HTTP/1.1 304 Not Modified|Transfer-Encoding: chunked",
                get,
                Known(0),
            ),
        ] {
            assert_eq!(length(head, method), expected, "{head}");
        }
    }

    fn follow(mut follower: Follower, bytes: &[u8], step: usize) -> (String, String, bool) {
        let (mut content, mut trailers, mut at) = (String::new(), String::new(), 0);
        while at < bytes.len() && !follower.is_done() {
            let window = &bytes[at..bytes.len().min(at + step)];
            let text = |length| std::str::from_utf8(&window[..length]).unwrap();
            at += match follower.eat(window) {
                Eaten::Content(length) => {
                    content += text(length);
                    length
                }
                Eaten::Trailers(length) => {
                    trailers += text(length);
                    length
                }
                Eaten::Framing(length) => length,
                Eaten::Broken => return (content, trailers, false),
            };
        }
        (content, trailers, follower.is_done() && at == bytes.len())
    }

    #[test]
    fn a_chunked_body_ends_where_its_chunks_say() {
        for (bytes, content, trailers, whole) in [
            ("5\r\nhello\r\n0\r\n\r\n", "hello", "\r\n", true),
            (
                "005 ;a=\"b;c\"\r\nhello\r\n1\r\n!\r\n00\r\n\r\n",
                "hello!",
                "\r\n",
                true,
            ),
            (
                "0\r\nA: b\r\nC: d\r\n\r\n",
                "",
                "A: b\r\nC: d\r\n\r\n",
                true,
            ),
            ("\r\nhello", "", "", false),
            ("5\nhello", "", "", false),
            ("5;a\nhello\r\n", "", "", false),
            ("5\r\nhello!\r\n", "hello", "", false),
            ("-5\r\nhello", "", "", false),
            ("0x5\r\nhello", "", "", false),
            ("10000000000000000\r\nhello", "", "", false),
        ] {
            for step in [bytes.len(), 2, 1] {
                let follower = Follower::new(BodyLength::Chunked);
                let (was, trailing, done) = follow(follower, bytes.as_bytes(), step);
                assert_eq!(
                    (&*was, &*trailing, done),
                    (content, trailers, whole),
                    "{bytes}"
                );
            }
        }
    }

    #[test]
    fn what_is_missing_is_left_out_of_a_body_of_known_length_only() {
        let mut known = Follower::new(BodyLength::Known(10));
        assert_eq!(known.eat(b"abc"), Eaten::Content(3));
        assert!(known.skip(5));
        assert_eq!(known.eat(b"abc"), Eaten::Content(2));
        assert!(known.is_done());
        assert!(!Follower::new(BodyLength::Known(10)).skip(11));
        assert!(!Follower::new(BodyLength::Chunked).skip(1));
    }
}
