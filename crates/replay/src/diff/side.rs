//! One of two recordings: its exchanges, read one at a time.

use super::judge::{Judge, Occurrence, POLL, is_at_work};
use super::key::{self, Digest, Terms};
use super::noise;
use crate::gaps;
use crate::rules::Side;
use mcpreel_store::notices::Notice;
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Document;
use std::ops::Deref;

/// Exchanges of a side that are compared: a hundred bytes are held of each.
pub(super) const MAX_EXCHANGES: usize = 100_000;

/// Of longer messages only the sizes are compared: a parsed message takes ten times its size.
const WHOLE: u64 = 32 * 1024 * 1024;

/// Rows that are read at once, and while a recording is held: to ask for each whether the file has
/// changed takes as long as to read it, and while a live recording is held its log grows.
const PAGE: u32 = 1000;
pub(super) const MAX_READ: usize = 32;

/// Takes one message for both where the other one is the same but for values that are redacted in
/// it; returns how many these are.
pub fn fill_redacted(left: &mut Vec<u8>, right: &mut Vec<u8>) -> u64 {
    if let Some(values) = gaps::hidden(left, right) {
        left.clone_from(right);
        return values;
    }
    let values = gaps::hidden(right, left);
    if values.is_some() {
        right.clone_from(left);
    }
    values.unwrap_or_default()
}

/// An exchange by the digests with which it is paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Digests {
    pub id: ExchangeId,
    /// Digests of the request, of the request without what two runs never share, and of its method
    /// and name.
    pub keys: [Digest; 3],
}

/// An exchange and its messages, read.
pub(super) struct ReadExchange {
    pub exchange: Exchange,
    /// Empty where it is too long.
    pub request: Option<Vec<u8>>,
    pub response: Option<Vec<u8>>,
    cancelled_after_ns: Option<u64>,
    wall_ns: u64,
    is_too_long: bool,
}

impl ReadExchange {
    pub(super) fn occurrence(&self) -> Occurrence<'_> {
        Occurrence {
            request: self.request.as_deref(),
            response: self.response.as_deref(),
            size: self.is_too_long.then_some(self.exchange.response_size),
            cancelled_after_ns: self.cancelled_after_ns,
            ..Occurrence::of(&self.exchange, self.wall_ns)
        }
    }
}

/// One of two recordings.
#[derive(Clone, Copy)]
pub(super) struct OneSide<'r> {
    pub recording: &'r Recording,
    side: Side,
    wall_ns: u64,
    /// The other recording, where this one is redacted and may be its copy.
    original: Option<&'r Recording>,
}

impl<'r> OneSide<'r> {
    /// Both of two recordings.
    pub(super) fn both(recordings: [&'r Recording; 2], summaries: &[Summary; 2]) -> [Self; 2] {
        [(0, Side::Left), (1, Side::Right)].map(|(at, side)| Self {
            recording: recordings[at],
            side,
            wall_ns: summaries[at].wall_ns,
            original: (summaries[at].redaction.is_some()).then_some(recordings[1 - at]),
        })
    }

    /// The name of a notification as it was before it was redacted, and how many values are
    /// redacted in it.
    pub(super) fn notice_name(&self, notice: &Notice) -> Result<(Box<str>, u64), ReadError> {
        let before = match notice.part {
            0 => (Seq(notice.seq.0.saturating_sub(1)), u32::MAX),
            part => (notice.seq, part - 1),
        };
        let original = match self.original {
            Some(other) => other.notices(before, notice.seq, 1)?.pop(),
            None => None,
        };
        let name = notice.name.clone().unwrap_or_default();
        Ok(unredacted(name, original.and_then(|notice| notice.name)))
    }

    /// The digests of all exchanges in the order of their requests, as long as `goes_on` says so, which
    /// gets the number of digests.
    pub(super) fn digests(
        &self,
        judge: &Judge,
        goes_on: &mut dyn FnMut(usize) -> bool,
    ) -> Result<Vec<Digests>, ReadError> {
        let mut digests = Vec::new();
        let mut after = ExchangeId(0);
        while digests.len() < MAX_EXCHANGES && goes_on(digests.len()) {
            let page = self.recording.exchanges(after, PAGE)?;
            let Some(last) = page.last() else { break };
            after = last.id;
            for exchanges in page.chunks(MAX_READ) {
                let _held = self.recording.hold()?;
                for exchange in exchanges {
                    digests.push(self.digests_of(exchange, judge)?);
                }
            }
        }
        digests.truncate(MAX_EXCHANGES);
        Ok(digests)
    }

    fn digests_of(&self, exchange: &Exchange, judge: &Judge) -> Result<Digests, ReadError> {
        let method = &*exchange.method;
        let scope = judge.rules().scope(method, exchange.name.as_deref());
        let terms = Terms {
            scope: &scope,
            side: self.side,
            rewrites: &judge.options().rewrites,
            wall_ns: Some(self.wall_ns.saturating_add(exchange.t_request.0)),
            is_exact: true,
        };
        let message = |at, size| {
            self.message(at, size <= WHOLE)
                .map(Option::unwrap_or_default)
        };
        let request = message(exchange.request, exchange.request_size)?;
        let original = match self.original {
            Some(other) => other.message_bytes(exchange.request.0, exchange.request.1)?,
            None => None,
        };
        let (request, _) = unredacted(request, original);
        let answer = exchange.response.filter(|_| method == POLL);
        let answer = answer.map(|at| message(at, exchange.response_size));
        // A client asks again for as long as its task is at work.
        let is_at_work = is_at_work(method, answer.transpose()?.as_deref());
        let document = Document::parse(&request);
        let [exact, normalised] = [true, false].map(|is_exact| match &document {
            Ok(document) => key::digest(document.root(), Terms { is_exact, ..terms }),
            // Nested too deeply, or too long: its bytes are all there is.
            Err(_) => Digest::of(&request),
        });
        // The name of a call about a task is the task's id, which is made up anew every time.
        let name = exchange.name.as_deref();
        let name = name.filter(|_| !method.starts_with("tasks/"));
        let name = noise::shape(name.unwrap_or_default());
        let call = format!("{} {method}", exchange.direction.as_str());
        let keys = [
            format!("{call} {is_at_work} {exact:?}"),
            format!("{call} {is_at_work} {normalised:?}"),
            format!("{call} {name}"),
        ];
        Ok(Digests {
            id: exchange.id,
            keys: keys.map(|key| Digest::of(key.as_bytes())),
        })
    }

    /// A message; empty unless it is read as a whole.
    fn message(&self, at: (Seq, u32), is_whole: bool) -> Result<Option<Vec<u8>>, ReadError> {
        if is_whole {
            return self.recording.message_bytes(at.0, at.1);
        }
        Ok(Some(Vec::new()))
    }
}

/// What a redacted copy has in a place where its original, which has the same frames, has
/// `original`: that, if they differ only by redacted values, and the number of these.
fn unredacted<T: Deref<Target: AsRef<[u8]>>>(copy: T, original: Option<T>) -> (T, u64) {
    match original.map(|it| (gaps::hidden((*copy).as_ref(), (*it).as_ref()), it)) {
        Some((Some(values), original)) => (original, values),
        _ => (copy, 0),
    }
}

/// Reads an exchange of both sides, or of one; its messages as a whole where both can be read so.
pub(super) fn read(
    sides: [OneSide<'_>; 2],
    ids: [Option<ExchangeId>; 2],
) -> Result<[Option<ReadExchange>; 2], ReadError> {
    let exchange = |at: usize| {
        let found = ids[at].map(|id| sides[at].recording.exchange(id));
        found.transpose().map(Option::flatten)
    };
    let exchanges = [exchange(0)?, exchange(1)?];
    let both = || exchanges.iter().flatten();
    let has_whole_request = both().all(|one| one.request_size <= WHOLE);
    let has_whole_response = both().all(|one| one.response_size <= WHOLE);
    let held = |one: OneSide<'_>, exchange: Exchange| {
        let response = exchange
            .response
            .map(|at| one.message(at, has_whole_response));
        Ok::<_, ReadError>(ReadExchange {
            request: one.message(exchange.request, has_whole_request)?,
            response: response.transpose()?.flatten(),
            cancelled_after_ns: one.recording.cancelled_after_ns(&exchange)?,
            wall_ns: one.wall_ns,
            is_too_long: !has_whole_response,
            exchange,
        })
    };
    let [left, right] = exchanges;
    let left = left.map(|it| held(sides[0], it)).transpose()?;
    let right = right.map(|it| held(sides[1], it)).transpose()?;
    Ok([left, right])
}
