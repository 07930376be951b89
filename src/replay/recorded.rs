//! Two recordings, exchange beside exchange; or two exchanges of any recordings.
//!
//! Messages are read one exchange at a time. What is too long to be held is compared by its
//! outline, and by a digest that says whether all of it is the same.

use super::align::{self, Card, Pair};
use super::compare::Class;
use super::judge::{Judge, Missing, Notices, Occurrence, Progress};
use super::key::{self, Digest, Digesting};
use super::report::Remark;
use super::rules::Side;
use crate::protocol::json::{Document, Outline};
use crate::protocol::message::Direction;
use crate::store::open::OpenError;
use crate::store::reader::{ReadError, Recording, Summary};
use crate::text::plural;
use crate::trace::exchange::{Exchange, ExchangeId};
use crate::trace::frame::Seq;
use crate::trace::session::End;
use std::io::Read as _;

/// Exchanges of a side that are compared: a hundred bytes are held of each.
const MAX_EXCHANGES: usize = 100_000;

/// Longer messages are compared by their outline: what is read of one takes ten times its size.
const WHOLE: u64 = 32 * 1024 * 1024;

/// Bytes of a long message that are read at once.
const PIECE: usize = 256 * 1024;

/// Progress notifications of an exchange that are looked at.
const MAX_PROGRESS: u32 = 10_000;

/// One of the recordings.
#[derive(Clone, Copy)]
struct One<'r> {
    recording: &'r Recording,
    side: Side,
    wall_ns: u64,
}

/// Compares two recordings, the left one being the one to go by; `done` hears how many exchanges
/// of how many are compared.
pub fn recordings(
    left: &Recording,
    right: &Recording,
    judge: &mut Judge,
    done: &mut dyn FnMut(usize, usize),
) -> Result<(), ReadError> {
    let summaries = [left.summary()?, right.summary()?];
    let one = One::new(left, Side::Left, &summaries[0]);
    let other = One::new(right, Side::Right, &summaries[1]);
    let (left, right) = (one.cards(judge)?, other.cards(judge)?);
    let cards =
        |side: &[(ExchangeId, Card)]| side.iter().map(|(_, card)| *card).collect::<Vec<_>>();
    let pairs = align::align(&cards(&left), &cards(&right));
    for (at, pair) in pairs.iter().enumerate() {
        done(at, pairs.len());
        match *pair {
            Pair::Both(l, r) => both([(one, left[l].0), (other, right[r].0)], judge)?,
            Pair::Left(l) => {
                let held = one.held(left[l].0)?;
                held.iter()
                    .for_each(|held| judge.missing(&held.occurrence(), Missing::Removed));
            }
            Pair::Right(r) => {
                let held = other.held(right[r].0)?;
                held.iter().for_each(|held| judge.more(&held.occurrence()));
            }
        }
    }
    besides([one, other], judge)?;
    ends(&summaries, judge);
    too_many(&summaries, judge);
    Ok(())
}

/// Compares two exchanges.
pub fn exchanges(
    left: (&Recording, ExchangeId),
    right: (&Recording, ExchangeId),
    judge: &mut Judge,
) -> Result<(), ReadError> {
    let one = One::new(left.0, Side::Left, &left.0.summary()?);
    let other = One::new(right.0, Side::Right, &right.0.summary()?);
    both([(one, left.1), (other, right.1)], judge)
}

fn both(
    [(one, left), (other, right)]: [(One<'_>, ExchangeId); 2],
    judge: &mut Judge,
) -> Result<(), ReadError> {
    let (Some(left), Some(right)) = (one.exchange(left)?, other.exchange(right)?) else {
        return Ok(());
    };
    let longest = |size: fn(&Exchange) -> u64| size(&left).max(size(&right));
    let whole = [
        longest(|one| one.request_size),
        longest(|one| one.response_size),
    ]
    .map(|size| size <= WHOLE);
    let (left, right) = (one.read(left, whole)?, other.read(right, whole)?);
    judge.both(&left.occurrence(), &right.occurrence());
    Ok(())
}

/// An exchange and its messages.
struct Held {
    exchange: Exchange,
    request: Option<Message>,
    response: Option<Message>,
    progress: Progress,
    wall_ns: u64,
}

/// A message, or its outline with the digest of all of it.
struct Message {
    bytes: Vec<u8>,
    outline: Option<Digest>,
}

impl Message {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Held {
    fn occurrence(&self) -> Occurrence<'_> {
        let exchange = &self.exchange;
        Occurrence {
            seq: Some(exchange.request.0),
            method: &exchange.method,
            name: exchange.name.as_deref(),
            request: self.request.as_ref().map(Message::bytes),
            response: self.response.as_ref().map(Message::bytes),
            outline: self.response.as_ref().and_then(|message| message.outline),
            status: exchange.status,
            latency_ns: exchange.latency_ns(),
            wall_ns: Some(self.wall_ns.saturating_add(exchange.t_request.0)),
            progress: Some(&self.progress),
        }
    }
}

impl<'r> One<'r> {
    fn new(recording: &'r Recording, side: Side, summary: &Summary) -> Self {
        Self {
            recording,
            side,
            wall_ns: summary.wall_ns,
        }
    }

    /// What its exchanges are known by, in the order of their requests.
    fn cards(&self, judge: &Judge) -> Result<Vec<(ExchangeId, Card)>, ReadError> {
        let mut cards = Vec::new();
        let mut after = ExchangeId(0);
        while cards.len() < MAX_EXCHANGES {
            let page = self.recording.exchanges(after)?;
            let Some(last) = page.last() else { break };
            after = last.id;
            for exchange in page.into_iter().take(MAX_EXCHANGES - cards.len()) {
                let card = self.card(&exchange, judge)?;
                cards.push((exchange.id, card));
            }
        }
        Ok(cards)
    }

    fn card(&self, exchange: &Exchange, judge: &Judge) -> Result<Card, ReadError> {
        let (method, name) = (&*exchange.method, exchange.name.as_deref());
        let whole = exchange.request_size <= WHOLE;
        let request = self.message(exchange.request, whole)?;
        let bytes = request.map(|request| request.bytes).unwrap_or_default();
        let scope = judge.rules().scope(method, name);
        let terms = key::Terms {
            scope: &scope,
            side: self.side,
            rewrites: &judge.options().rewrites,
            wall_ns: Some(self.wall_ns.saturating_add(exchange.t_request.0)),
        };
        let key = match Document::parse(&bytes) {
            Ok(document) => key::key(document.root(), terms),
            // Nested too deeply: its bytes are all there is.
            Err(_) => key::Key::of_bytes(&bytes),
        };
        Ok(Card::new(exchange.direction, method, name, key))
    }

    fn exchange(&self, id: ExchangeId) -> Result<Option<Exchange>, ReadError> {
        self.recording.exchange(id)
    }

    fn held(&self, id: ExchangeId) -> Result<Option<Held>, ReadError> {
        let exchange = self.exchange(id)?;
        let read = |exchange: Exchange| {
            let whole = [exchange.request_size, exchange.response_size].map(|size| size <= WHOLE);
            self.read(exchange, whole)
        };
        exchange.map(read).transpose()
    }

    fn read(&self, exchange: Exchange, whole: [bool; 2]) -> Result<Held, ReadError> {
        let request = self.message(exchange.request, whole[0])?;
        let response = match exchange.response {
            Some(place) => self.message(place, whole[1])?,
            None => None,
        };
        Ok(Held {
            progress: self.progress(&exchange)?,
            request,
            response,
            wall_ns: self.wall_ns,
            exchange,
        })
    }

    fn progress(&self, exchange: &Exchange) -> Result<Progress, ReadError> {
        let mut progress = Progress::default();
        if exchange.progress_count == 0 {
            return Ok(progress);
        }
        for at in self.recording.progress_of(exchange.id, MAX_PROGRESS)? {
            let message = self.recording.message_bytes(at.seq, at.part)?;
            progress.add(&message.unwrap_or_default());
        }
        Ok(progress)
    }

    /// A message, or where it is not read as a whole its outline.
    fn message(&self, (seq, part): (Seq, u32), whole: bool) -> Result<Option<Message>, ReadError> {
        if whole {
            let bytes = self.recording.message_bytes(seq, part)?;
            return Ok(bytes.map(|bytes| Message {
                bytes,
                outline: None,
            }));
        }
        let (mut shape, mut digest) = (Outline::new(), Digesting::default());
        let mut blob = self.recording.stream(seq)?;
        let mut piece = vec![0; PIECE];
        loop {
            let read = blob.read(&mut piece).map_err(|source| OpenError::Io {
                path: self.recording.path().to_owned(),
                source,
            })?;
            if read == 0 {
                break;
            }
            shape.push(&piece[..read]);
            digest.push(&piece[..read]);
        }
        Ok(Some(Message {
            // What is no JSON is compared by its digest alone.
            bytes: shape.finish().unwrap_or_default(),
            outline: Some(digest.finish()),
        }))
    }

    /// The notifications that went one way.
    fn notices(&self, way: Direction, judge: &Judge) -> Result<Notices, ReadError> {
        let mut notices = Notices::default();
        let mut after = (Seq(0), 0);
        loop {
            let page = self.recording.notifications(after)?;
            let Some(last) = page.last() else {
                return Ok(notices);
            };
            after = (last.seq, last.part);
            for at in page.iter().filter(|at| at.direction == way) {
                let message = self.recording.message_bytes(at.seq, at.part)?;
                let message = message.unwrap_or_default();
                let wall_ns = Some(self.wall_ns);
                judge.notice(&mut notices, self.side, Some(at.seq), &message, wall_ns);
            }
        }
    }
}

/// What came besides exchanges.
fn besides(sides: [One<'_>; 2], judge: &mut Judge) -> Result<(), ReadError> {
    for way in [Direction::ClientToServer, Direction::ServerToClient] {
        let left = sides[0].notices(way, judge)?;
        let right = sides[1].notices(way, judge)?;
        judge.notices(&left, &right);
    }
    Ok(())
}

/// How the sessions ended: a server that goes down where it did not is worse than any answer.
fn ends(summaries: &[Summary; 2], judge: &mut Judge) {
    let [Some(was), Some(is)] = [0, 1].map(|at| summaries[at].session.phase.end()) else {
        return;
    };
    let known = |end: &End| *end != End::Unknown;
    if was == is || !known(was) || !known(is) {
        return;
    }
    let class = match (is_clean(was), is_clean(is)) {
        (true, false) => Class::Breaking,
        _ => Class::Changed,
    };
    let text = format!("the server {}, was: {}", ended(is), ended(was));
    judge.remark(remark(class, &text));
}

fn is_clean(end: &End) -> bool {
    matches!(end, End::Exited { code: 0 })
}

fn ended(end: &End) -> String {
    match end {
        End::Exited { code } => format!("ended with exit code {code}"),
        End::Killed { signal } => format!("was ended by {signal}"),
        End::NotStarted { .. } => "could not be started".to_owned(),
        End::Unknown => "ended somehow".to_owned(),
    }
}

/// What was not looked at is no success.
fn too_many(summaries: &[Summary; 2], judge: &mut Judge) {
    let most = MAX_EXCHANGES as u64;
    let beyond = summaries
        .iter()
        .map(|one| one.exchanges.saturating_sub(most));
    let beyond: u64 = beyond.sum();
    if beyond > 0 {
        let text = format!(
            "{} not compared: only the first {most} of a recording are",
            plural(beyond, "exchange")
        );
        judge.remark(remark(Class::Changed, &text));
    }
}

fn remark(class: Class, text: &str) -> Remark {
    Remark {
        left: None,
        right: None,
        method: Box::default(),
        name: None,
        class,
        text: super::report::name(text),
        trouble: None,
    }
}
