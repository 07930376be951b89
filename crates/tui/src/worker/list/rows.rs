//! Whole rows for the screen.

use crate::worker::{Answer, Job, Progress, Source};
use mcpreel_store::reader::ReadError;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Item, ItemKey, Lens};

/// Rows that are read in one step: some milliseconds.
const AT_ONCE: usize = 64;

#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub lens: Lens,
    pub keys: Vec<ItemKey>,
    /// A frame of which it is asked in which row it is.
    pub find: Option<Seq>,
}

#[derive(Debug, Default)]
pub struct RowsAnswer {
    pub lens: Lens,
    pub items: Vec<Item>,
    /// The frame that was asked about, and the row that it is in: of a response that of its
    /// request.
    pub found: Option<(Seq, ItemKey)>,
}

impl Rows {
    pub(crate) fn job(self) -> Box<dyn Job> {
        Box::new(Reading { ask: self, at: 0 })
    }
}

struct Reading {
    ask: Rows,
    at: usize,
}

impl Job for Reading {
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<Answer>,
    ) -> Result<Progress, ReadError> {
        let ask = &mut self.ask;
        let found = match ask.find.take() {
            Some(seq) => Some((seq, row_of(source, ask.lens, seq)?)),
            None => None,
        };
        let rest = &ask.keys[self.at..];
        let keys = &rest[..rest.len().min(AT_ONCE)];
        self.at += keys.len();
        let items = source.recording.items(ask.lens, keys, None)?;
        answers.push(Answer::Rows(RowsAnswer {
            lens: ask.lens,
            items,
            found,
        }));
        Ok(if self.at < ask.keys.len() {
            Progress::More
        } else {
            Progress::Done
        })
    }
}

/// The row that the frame `seq` is in.
fn row_of(source: &Source<'_>, lens: Lens, seq: Seq) -> Result<ItemKey, ReadError> {
    let own = ItemKey::of_part(seq, 0);
    if lens == Lens::Wire {
        return Ok(own);
    }
    let exchanges = source.recording.exchanges_of_frame(seq)?;
    let messages = source.recording.messages_of_frame(seq)?;
    // A log message that belongs to a call is a row of its own.
    let folded = messages.first().is_some_and(|message| {
        use mcpreel_trace::correlator::MessageKind as Kind;
        let method = message.record.method.as_deref();
        match message.record.kind {
            Kind::Response => true,
            Kind::Notification => matches!(
                method,
                Some("notifications/progress" | "notifications/cancelled")
            ),
            Kind::Request | Kind::Other => false,
        }
    });
    let request = exchanges.first().filter(|_| folded);
    Ok(request.map_or(own, |exchange| {
        ItemKey::of_part(exchange.request.0, exchange.request.1)
    }))
}
