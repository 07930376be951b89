//! Ids of traces and spans: those that a request carries, else such as follow from the recording.

use mcpreel_store::indexer::COLLECT_LIMIT;
use mcpreel_store::notices::Notice;
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Document;
use mcpreel_wire::mcp::keys;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

pub(super) type TraceId = [u8; 16];
pub(super) type SpanId = [u8; 8];

/// Requests within requests that are followed upwards: there is one in a call, or none.
const DEPTH: usize = 4;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context {
    pub trace: TraceId,
    pub parent: Option<SpanId>,
    /// Whether the parent is not in the recording.
    pub is_remote: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Here {
    pub trace: TraceId,
    pub span: SpanId,
}

pub(super) struct Ids<'r> {
    recording: &'r Recording,
    id: String,
    session: Here,
    /// Whether any message carries the context of a trace.
    is_traced: bool,
}

impl<'r> Ids<'r> {
    pub fn new(recording: &'r Recording, summary: &Summary) -> Result<Self, ReadError> {
        let id = summary.id.clone();
        let session = Here {
            trace: cut(&digest(&id, "trace")),
            span: cut(&digest(&id, "session")),
        };
        let is_traced = recording.is_traced()?;
        Ok(Self {
            recording,
            id,
            session,
            is_traced,
        })
    }

    pub fn session(&self) -> Here {
        self.session
    }

    /// The context of the session's span, which has no parent.
    pub fn root(&self) -> Context {
        Context {
            trace: self.session.trace,
            ..Context::default()
        }
    }

    /// The span of the message at this place.
    pub fn span(&self, (seq, part): (Seq, u32)) -> SpanId {
        cut(&digest(&self.id, &format!("{}.{part}", seq.0)))
    }

    /// The span of the first round of its chain, of a later one.
    pub fn first_round(&self, exchange: &Exchange) -> Option<Here> {
        let first = exchange.chain.filter(|first| *first != exchange.id)?;
        let first = self.find(first).ok().flatten()?;
        let trace = self.context(&first).ok()?.trace;
        let span = self.span(first.request);
        Some(Here { trace, span })
    }

    /// The context of an exchange's span: below what its request names, below the request
    /// during which it was asked, or below the session.
    pub fn context(&self, exchange: &Exchange) -> Result<Context, ReadError> {
        self.context_within(exchange, DEPTH)
    }

    fn context_within(&self, exchange: &Exchange, depth: usize) -> Result<Context, ReadError> {
        if exchange.request_size <= COLLECT_LIMIT
            && let Some(named) = self.named(exchange.request)?
        {
            return Ok(named);
        }
        let parent = exchange.parent.filter(|_| depth > 0);
        if let Some(parent) = parent.map(|id| self.find(id)).transpose()?.flatten() {
            let context = self.context_within(&parent, depth - 1)?;
            return Ok(Context {
                trace: context.trace,
                parent: Some(self.span(parent.request)),
                ..Context::default()
            });
        }
        Ok(self.below_session())
    }

    /// The context of a notification's span.
    pub fn of_notice(&self, notice: &Notice) -> Result<Context, ReadError> {
        let is_short = notice.size <= COLLECT_LIMIT;
        let named = if notice.is_traced && is_short {
            self.named((notice.seq, notice.part))?
        } else {
            None
        };
        Ok(named.unwrap_or_else(|| self.below_session()))
    }

    fn below_session(&self) -> Context {
        Context {
            trace: self.session.trace,
            parent: Some(self.session.span),
            ..Context::default()
        }
    }

    fn find(&self, id: ExchangeId) -> Result<Option<Exchange>, ReadError> {
        Ok(self.recording.exchanges_of(&[id])?.pop())
    }

    /// The parent that the message at this place names.
    fn named(&self, (seq, part): (Seq, u32)) -> Result<Option<Context>, ReadError> {
        if !self.is_traced {
            return Ok(None);
        }
        let bytes = self.recording.message_bytes(seq, part)?;
        let named = bytes.as_deref().and_then(traceparent);
        Ok(named.map(|(trace, parent)| Context {
            trace,
            parent: Some(parent),
            is_remote: true,
        }))
    }
}

fn digest(id: &str, what: &str) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(b"mcpreel ");
    digest.update(id.as_bytes());
    digest.update(b" ");
    digest.update(what.as_bytes());
    digest.finalize().into()
}

/// The beginning of a digest. Ids are not zero: of a digest that is never so.
fn cut<const N: usize>(digest: &[u8; 32]) -> [u8; N] {
    let mut id = [0; N];
    id.copy_from_slice(&digest[..N]);
    id
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// The trace and the parent that `params._meta.traceparent` of a message names, if that is valid.
fn traceparent(message: &[u8]) -> Option<(TraceId, SpanId)> {
    let document = Document::parse(message).ok()?;
    let meta = document.root().get("params")?.get("_meta")?;
    parsed(&meta.get(keys::TRACEPARENT)?.as_str()?)
}

/// W3C Trace Context, section 3.2.2: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
/// Later versions may have more behind it.
fn parsed(header: &str) -> Option<(TraceId, SpanId)> {
    let (version, rest) = header.split_once('-')?;
    let [version] = bytes::<1>(version)?;
    let mut fields = rest.splitn(4, '-');
    let trace = bytes(fields.next()?)?;
    let parent = bytes(fields.next()?)?;
    let _flags = bytes::<1>(fields.next()?)?;
    let is_whole = version > 0 || fields.next().is_none();
    let is_some = trace != [0; 16] && parent != [0; 8];
    (version != 0xff && is_whole && is_some).then_some((trace, parent))
}

/// Reads `N` bytes from lower-case hex digits.
fn bytes<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if hex.len() != 2 * N || !hex.bytes().all(is_hex) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, digits) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
        let digits = std::str::from_utf8(digits).ok()?;
        *byte = u8::from_str_radix(digits, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_taken_from_a_valid_header_only() {
        let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let (trace, parent) = parsed(valid).unwrap();
        assert_eq!(hex(&trace), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(hex(&parent), "00f067aa0ba902b7");
        assert!(parsed(&valid.replacen("00", "cc", 1)).is_some());
        assert!(parsed(&format!("{}-more", valid.replacen("00", "01", 1))).is_some());
        for wrong in [
            "",
            "00",
            &valid.to_uppercase(),
            &valid.replacen("00", "ff", 1),
            &valid.replacen("00", "0g", 1),
            &format!("{valid}-more"),
            &valid[..valid.len() - 1],
            &valid[..valid.len() - 3],
            &valid.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            &valid.replace("00f067aa0ba902b7", &"0".repeat(16)),
            &valid.replace("00f067aa0ba902b7", "00f067aa0ba902"),
        ] {
            assert_eq!(parsed(wrong), None, "{wrong:?}");
        }
    }
}
