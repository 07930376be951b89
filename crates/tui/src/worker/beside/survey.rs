//! What a replay would do: what is started, which calls are made, which of them may change
//! something.

mod offer;

pub use offer::{Answer, Ask, Call, Offer, Requests};

use super::{Answer as Any, Which, Work};
use mcpreel_replay::arguments::{self, Arguments};
use mcpreel_replay::bind::Binder;
use mcpreel_replay::player::Guard;

use mcpreel_replay::player::{Command, NoCommand};
use mcpreel_share::phrases::sentence;
use mcpreel_store::library::Library;
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::escape;

/// Calls that may change something and are named one by one; all of them are counted, and their
/// tools named.
const NAMED: usize = 100;

/// Kinds of requests that are told apart, and tools. What is beyond is refused.
const KINDS: usize = 1000;

/// Exchanges that are read at once.
const PAGE: u32 = 500;

pub(super) fn look(work: &mut Work<'_>, ask: &Ask) -> Result<(), String> {
    let which = Which::File(ask.path.clone());
    let recording = work.open(&which)?;
    let survey = Survey::new(&recording, work.library);
    let offer = survey.and_then(|survey| survey.offer(ask.call));
    let offer = offer.map_err(|error| sentence(&error))?;
    work.tell(Any::Surveyed(Answer {
        generation: ask.generation,
        offer: Box::new(offer),
    }));
    Ok(())
}

struct Survey<'r> {
    recording: &'r Recording,
    summary: Summary,
    /// Whether this user made the recording.
    is_own: bool,
    guard: Guard,
}

impl<'r> Survey<'r> {
    fn new(recording: &'r Recording, library: &Library) -> Result<Self, ReadError> {
        let summary = recording.summary()?;
        let is_own = library.made(recording, &summary);
        Ok(Self {
            recording,
            summary,
            is_own,
            guard: Guard::from_recording(recording, is_own)?,
        })
    }

    fn offer(&self, call: Option<(Seq, u32)>) -> Result<Offer, ReadError> {
        let last = Seq(self.summary.frames);
        let mut call = match call {
            Some(place) => self.call(place, last)?,
            None => None,
        };
        let whole = self.count(last, call.as_mut())?;
        let context = &self.summary.context;
        let command = Command::recorded(&self.summary, &Binder::default());
        let known = command.as_ref().ok().and_then(|known| known.dir.as_ref());
        let dir = known.map(|dir| escape(&dir.to_string_lossy()).into_owned());
        let gone = context
            .cwd
            .as_deref()
            .filter(|_| known.is_none() && command.is_ok());
        let gone = gone.map(|dir| escape(dir).into_owned());
        Ok(Offer {
            path: self.recording.path().to_owned(),
            short: escape(self.summary.id.get(..4).unwrap_or_default()).into_owned(),
            is_stranger: !self.is_own,
            command: command.map_err(|why| refusal(&why)),
            dir,
            gone,
            last,
            call,
            whole,
        })
    }

    /// Counts all requests, and those of the parts that can be replayed.
    fn count(&self, last: Seq, mut call: Option<&mut Call>) -> Result<Requests, ReadError> {
        let mut whole = Requests::default();
        self.each(last, |exchange| {
            self.add(exchange, &mut whole)?;
            if let Some(call) = &mut call {
                if is_needed(call.id, call.chain, exchange) {
                    self.add(exchange, &mut call.alone)?;
                }
                if exchange.request.0 <= call.until {
                    self.add(exchange, &mut call.up_to)?;
                }
            }
            Ok(())
        })?;
        Ok(whole)
    }

    /// The call at this place, if it is one of the client.
    fn call(&self, place: (Seq, u32), last: Seq) -> Result<Option<Call>, ReadError> {
        let all = self.recording.exchanges_of_frame(place.0)?;
        let Some(exchange) = all.into_iter().find(|one| one.request == place) else {
            return Ok(None);
        };
        if exchange.direction != Direction::ClientToServer {
            return Ok(None);
        }
        let answered = |one: &Exchange| one.response.map_or(last, |(seq, _)| seq);
        let mut until = answered(&exchange);
        if let Some(chain) = exchange.chain {
            self.each(last, |one| {
                if one.chain == Some(chain) {
                    until = until.max(answered(one));
                }
                Ok(())
            })?;
        }
        let arguments = if exchange.request_size > arguments::LONGEST {
            Err("the request is too long to be edited here")
        } else {
            let message = self.recording.message_bytes(place.0, place.1)?;
            Arguments::of(&message.unwrap_or_default(), &exchange.method)
        };
        Ok(Some(Call {
            id: exchange.id,
            chain: exchange.chain,
            request: place,
            until,
            title: title(&exchange),
            arguments,
            alone: Requests::default(),
            up_to: Requests::default(),
        }))
    }

    /// Gives `visit` every request of the client up to the frame `last`.
    fn each(
        &self,
        last: Seq,
        mut visit: impl FnMut(&Exchange) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let mut after = ExchangeId(0);
        loop {
            let page = self.recording.light_exchanges(after, None, PAGE)?;
            let Some(end) = page.last() else {
                return Ok(());
            };
            after = end.id;
            for exchange in &page {
                if exchange.request.0 > last {
                    return Ok(());
                }
                if exchange.direction == Direction::ClientToServer {
                    visit(exchange)?;
                }
            }
        }
    }

    fn add(&self, exchange: &Exchange, to: &mut Requests) -> Result<(), ReadError> {
        to.count += 1;
        let tool = exchange.name.as_deref().unwrap_or_default();
        if &*exchange.method != "tools/call" || self.guard.allows(tool) {
            let title = title(exchange);
            if to.others.len() < KINDS || to.others.contains_key(&title) {
                *to.others.entry(title).or_default() += 1;
            } else {
                to.more += 1;
            }
            return Ok(());
        }
        to.changes += 1;
        to.claimed += u64::from(self.guard.is_claimed(tool));
        if to.tools.len() < KINDS || to.tools.contains_key(tool) {
            *to.tools.entry(tool.into()).or_default() += 1;
        }
        if to.changing.len() < NAMED {
            let whole = self.recording.exchange(exchange.id)?;
            let asked = whole.as_ref().map_or("", Exchange::asked);
            let asked = match asked {
                "" => title(exchange),
                asked => escape(asked).into_owned(),
            };
            to.changing.push((exchange.request.0, asked));
        }
        Ok(())
    }
}

/// Whether `exchange` has to be made so that the call `id` can be: the handshake, the call itself,
/// and its rounds of input.
pub fn is_needed(id: ExchangeId, chain: Option<ExchangeId>, exchange: &Exchange) -> bool {
    let same_chain = chain.is_some() && exchange.chain == chain;
    &*exchange.method == "initialize" || exchange.id == id || same_chain
}

/// `tools/call search_docs`, escaped.
fn title(exchange: &Exchange) -> String {
    let name = exchange.name.as_deref().unwrap_or_default();
    escape(format!("{} {name}", exchange.method).trim_end()).into_owned()
}

/// Why the recorded command cannot be started.
fn refusal(why: &NoCommand) -> String {
    match why {
        NoCommand::Unknown => "the recording names no command".to_owned(),
        NoCommand::Redacted(names) => format!(
            "the recorded command has redacted values in it ({}); `mcpreel replay` takes them with \
             --bind",
            escape(&names.join(", "))
        ),
    }
}
