//! Ids of traces and spans: those that a request carries, else such as follow from the recording.

use super::span::Link;
use mcpreel_store::indexer::COLLECT_LIMIT;
use mcpreel_store::notices::Notice;
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Document;
use mcpreel_wire::mcp::keys;
use sha2::{Digest as _, Sha256};

pub(super) struct Ids<'r> {
    recording: &'r Recording,
    id: String,
    /// The trace and the span of the session.
    pub session: Link,
    /// Whether any message carries the context of a trace.
    is_traced: bool,
}

impl<'r> Ids<'r> {
    pub fn new(recording: &'r Recording, summary: &Summary) -> Result<Self, ReadError> {
        let id = summary.id.clone();
        Ok(Self {
            recording,
            session: Link {
                trace_id: digest(&id, "trace", 16),
                span_id: digest(&id, "session", 8),
            },
            id,
            is_traced: recording.is_traced()?,
        })
    }

    /// The span of the message at this place.
    pub fn span(&self, (seq, part): (Seq, u32)) -> String {
        digest(&self.id, &format!("{}.{part}", seq.0), 8)
    }

    /// The span of the first round of the chain to which an exchange belongs, unless it is this.
    pub fn first_round(&self, exchange: &Exchange) -> Result<Option<Link>, ReadError> {
        let first = exchange.chain.filter(|first| *first != exchange.id);
        let Some(first) = self.find(first)? else {
            return Ok(None);
        };
        let trace_id = self.parent(&first)?.0.trace_id;
        let span_id = self.span(first.request);
        Ok(Some(Link { trace_id, span_id }))
    }

    /// The span above that of an exchange, and whether another program's trace has it: the span
    /// that the request names; else that of the request during which it was asked, or the session.
    pub fn parent(&self, exchange: &Exchange) -> Result<(Link, bool), ReadError> {
        if let Some(named) = self.named(exchange.request, exchange.request_size)? {
            return Ok((named, true));
        }
        let mut parent = self.session.clone();
        if let Some(above) = self.find(exchange.parent)? {
            let named = self.named(above.request, above.request_size)?;
            parent = Link {
                trace_id: named.map_or(parent.trace_id, |named| named.trace_id),
                span_id: self.span(above.request),
            };
        }
        Ok((parent, false))
    }

    /// The span above that of a notification.
    pub fn parent_of_notice(&self, notice: &Notice) -> Result<Link, ReadError> {
        let mut named = None;
        if notice.is_traced {
            named = self.named((notice.seq, notice.part), notice.size)?;
        }
        Ok(named.unwrap_or_else(|| self.session.clone()))
    }

    fn find(&self, id: Option<ExchangeId>) -> Result<Option<Exchange>, ReadError> {
        match id {
            Some(id) => Ok(self.recording.exchanges_of(&[id])?.pop()),
            None => Ok(None),
        }
    }

    /// The parent that the message at this place names, in a frame of so many bytes.
    fn named(&self, (seq, part): (Seq, u32), size: u64) -> Result<Option<Link>, ReadError> {
        if !self.is_traced || size > COLLECT_LIMIT {
            return Ok(None);
        }
        let bytes = self.recording.message_bytes(seq, part)?;
        Ok(bytes.as_deref().and_then(traceparent))
    }
}

/// Derives an id of so many bytes, in hex digits, from the recording and a text.
fn digest(id: &str, what: &str, bytes: usize) -> String {
    let digest = Sha256::digest(format!("mcpreel {id} {what}"));
    hex(&digest[..bytes])
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// The parent that `params._meta.traceparent` of a message names, if that is valid.
fn traceparent(message: &[u8]) -> Option<Link> {
    let document = Document::parse(message).ok()?;
    let meta = document.root().get("params")?.get("_meta")?;
    parsed(&meta.get(keys::TRACEPARENT)?.as_str()?)
}

/// W3C Trace Context, section 3.2.2: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
/// Later versions may have more behind it.
fn parsed(header: &str) -> Option<Link> {
    let fields: Vec<_> = header.splitn(5, '-').collect();
    let [version, trace, parent, flags, ref rest @ ..] = fields[..] else {
        return None;
    };
    let digits = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_hex = |text: &str, length| text.len() == length && text.bytes().all(digits);
    let is_zero = |text: &str| text.bytes().all(|byte| byte == b'0');
    let is_valid = is_hex(version, 2) && is_hex(trace, 32) && is_hex(parent, 16);
    let is_known = version != "ff" && (version != "00" || rest.is_empty());
    let is_some = !is_zero(trace) && !is_zero(parent);
    (is_valid && is_hex(flags, 2) && is_known && is_some).then(|| Link {
        trace_id: trace.to_owned(),
        span_id: parent.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_taken_from_a_valid_header_only() {
        let valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let link = parsed(valid).unwrap();
        assert_eq!(link.trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(link.span_id, "00f067aa0ba902b7");
        assert!(parsed(&format!("{}-more", valid.replacen("00", "01", 1))).is_some());
        for wrong in [
            "00",
            &valid.to_uppercase(),
            &valid.replacen("00", "ff", 1),
            &format!("{valid}-more"),
            &valid[..valid.len() - 1],
            &valid.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            &valid.replace("00f067aa0ba902b7", &"0".repeat(16)),
            &valid.replace("00f067aa0ba902b7", "00f067aa0ba902"),
        ] {
            assert!(parsed(wrong).is_none(), "{wrong:?}");
        }
    }
}
