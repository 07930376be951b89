//! How long a body is, and where it ends (RFC 9112 sections 6 and 7).

use super::head::Head;

/// Digits of the size of a chunk: more say more than there can be.
const MAX_DIGITS: u32 = 16;

/// Bytes of the extensions of a chunk, or of a line of trailers, that are passed over.
const MAX_LINE: u32 = 64 * 1024;

/// What frames a body cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the framing of a body cannot be followed")]
pub struct Malformed;

/// The way in which the end of a body is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLength {
    Length(u64),
    Chunked,
    /// As long as the connection.
    UntilClose,
}

impl BodyLength {
    /// That of a request.
    pub fn of_request(head: &Head) -> Result<Self, Malformed> {
        if head.get("transfer-encoding").is_some() {
            // Both lengths at once are how requests are smuggled: nobody can say where it ends.
            let is_chunked = head
                .list("transfer-encoding")
                .last()
                .is_some_and(|it| it == "chunked");
            let is_single = is_chunked && head.get("content-length").is_none() && !head.is_1_0();
            return if is_single {
                Ok(Self::Chunked)
            } else {
                Err(Malformed)
            };
        }
        Ok(Self::Length(length(head)?.unwrap_or(0)))
    }

    /// That of the response to a request with `method`.
    pub fn of_response(head: &Head, method: &str) -> Result<Self, Malformed> {
        let status = head.status().ok_or(Malformed)?;
        if method == "HEAD" || status < 200 || matches!(status, 204 | 304) {
            return Ok(Self::Length(0));
        }
        if method == "CONNECT" && status < 300 {
            return Ok(Self::UntilClose);
        }
        if head.get("transfer-encoding").is_some() {
            let last = head.list("transfer-encoding").pop();
            let is_chunked = last.is_some_and(|last| last == "chunked");
            return Ok(if is_chunked {
                Self::Chunked
            } else {
                Self::UntilClose
            });
        }
        Ok(length(head)?.map_or(Self::UntilClose, Self::Length))
    }
}

fn length(head: &Head) -> Result<Option<u64>, Malformed> {
    let said = head.list("content-length");
    let Some((first, others)) = said.split_first() else {
        return Ok(None);
    };
    let is_number = first.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number || others.iter().any(|other| other != first) {
        return Err(Malformed);
    }
    first.parse().map(Some).map_err(|_| Malformed)
}

/// Follows a body through whatever pieces it comes in.
#[derive(Clone, Debug)]
pub struct Body {
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Length(u64),
    UntilClose,
    /// The size of a chunk, and how many digits of it have come.
    Size(u64, u32),
    /// Extensions behind the size, so many bytes so far.
    Extension(u64, u32),
    Chunk(u64),
    /// The line end behind a chunk.
    ChunkEnd,
    /// A line of trailers, so many bytes so far.
    Trailer(u32),
    Over,
}

impl Body {
    pub fn new(length: BodyLength) -> Self {
        let state = match length {
            BodyLength::Length(0) => State::Over,
            BodyLength::Length(length) => State::Length(length),
            BodyLength::Chunked => State::Size(0, 0),
            BodyLength::UntilClose => State::UntilClose,
        };
        Self { state }
    }

    /// Whether its end has come.
    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// Whether it is as long as the connection.
    pub fn is_until_close(&self) -> bool {
        self.state == State::UntilClose
    }

    /// Takes what `bytes` have of the body, up to the end of its next piece of content: how much it
    /// took, and which part of that is content. To be called until all is taken or it is over.
    pub fn take<'b>(&mut self, bytes: &'b [u8]) -> Result<(usize, &'b [u8]), Malformed> {
        for (at, &byte) in bytes.iter().enumerate() {
            match &mut self.state {
                State::Over => return Ok((at, &[])),
                State::UntilClose => return Ok((bytes.len(), &bytes[at..])),
                State::Length(left) | State::Chunk(left) => {
                    let room = usize::try_from(*left).unwrap_or(usize::MAX);
                    let content = &bytes[at..][..room.min(bytes.len() - at)];
                    *left -= content.len() as u64;
                    if *left == 0 {
                        let is_chunk = matches!(self.state, State::Chunk(_));
                        self.state = if is_chunk {
                            State::ChunkEnd
                        } else {
                            State::Over
                        };
                    }
                    return Ok((at + content.len(), content));
                }
                _ => self.state = framing(self.state, byte)?,
            }
        }
        Ok((bytes.len(), &[]))
    }

    /// So many bytes of the stream are missing. Whether it still knows where it is.
    pub fn skip(&mut self, missing: u64) -> bool {
        match &mut self.state {
            State::UntilClose => true,
            State::Length(left) if missing <= *left => {
                *left -= missing;
                if *left == 0 {
                    self.state = State::Over;
                }
                true
            }
            _ => false,
        }
    }
}

/// The state behind a byte of what frames chunks.
fn framing(state: State, byte: u8) -> Result<State, Malformed> {
    Ok(match (state, byte) {
        (State::Size(size, digits), _) if byte.is_ascii_hexdigit() => {
            let digit = char::from(byte).to_digit(16).unwrap_or_default();
            if digits == MAX_DIGITS {
                return Err(Malformed);
            }
            State::Size(size << 4 | u64::from(digit), digits + 1)
        }
        (State::Size(_, 0), _) => return Err(Malformed),
        (State::Size(size, _) | State::Extension(size, _), b'\n') => match size {
            0 => State::Trailer(0),
            size => State::Chunk(size),
        },
        (State::Size(size, _), b';' | b' ' | b'\t' | b'\r') => State::Extension(size, 0),
        (State::Extension(size, length), _) if length < MAX_LINE => {
            State::Extension(size, length + 1)
        }
        (State::ChunkEnd, b'\r') => State::ChunkEnd,
        (State::ChunkEnd, b'\n') => State::Size(0, 0),
        (State::Trailer(0), b'\n') => State::Over,
        (State::Trailer(_), b'\n') | (State::Trailer(0), b'\r') => State::Trailer(0),
        (State::Trailer(length), _) if length < MAX_LINE => State::Trailer(length + 1),
        _ => return Err(Malformed),
    })
}
