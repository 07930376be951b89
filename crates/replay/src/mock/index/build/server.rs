//! What the recorded server said.

use super::{Anchor, Reading, Whose, narrow};
use crate::mock::index::{Act, Ask, NONE, Outcome, Place, Trigger};
use mcpreel_store::reader::{MessageRow, ReadError};
use mcpreel_trace::correlator::MessageKind;

impl Reading<'_> {
    pub(super) fn server_said(&mut self, row: &MessageRow) -> Result<(), ReadError> {
        let place = Place::new(row.record.frame, row.record.part);
        match row.record.kind {
            MessageKind::Response => self.answered(row, place),
            MessageKind::Request => self.asks(row, place)?,
            MessageKind::Notification => self.notified(row, place),
            MessageKind::Other => self.step(place, Act::Say),
        }
        Ok(())
    }

    fn answered(&mut self, row: &MessageRow, place: Place) {
        let entry = match self.whose(row.record.exchange) {
            Whose::Entry(entry) if self.index.entry(entry).response == Some(place) => entry,
            _ => return self.index.orphans += 1,
        };
        if self.index.entry(entry).outcome == Outcome::Stream {
            self.follow(entry);
            return self.step(place, Act::StreamEnds(entry));
        }
        self.anchor = Anchor::Trigger(Trigger::Answered(entry));
    }

    /// A request of the server: within the call that it was made for, while that is open.
    fn asks(&mut self, row: &MessageRow, place: Place) -> Result<(), ReadError> {
        let Some(exchange) = self.exchange(row.record.exchange)? else {
            self.step(place, Act::Say);
            return Ok(());
        };
        let number = narrow(self.index.asks.len());
        self.index.asks.push(Ask {
            request: place,
            answer: exchange.response.map(|(seq, part)| Place::new(seq, part)),
        });
        let trigger = match self.whose(exchange.parent) {
            Whose::Entry(parent) if self.is_open(parent, place) => Trigger::Asked(parent),
            _ => self.trigger(),
        };
        self.push(trigger, place, Act::Ask(number));
        self.belongs(exchange.id, Whose::Ask(number, trigger));
        Ok(())
    }

    fn notified(&mut self, row: &MessageRow, place: Place) {
        let method = row.record.method.as_deref().unwrap_or_default();
        match self.whose(row.record.exchange) {
            Whose::Entry(entry) => self.notified_of(entry, row, method, place),
            Whose::Ask(ask, trigger) if method == "notifications/cancelled" => {
                let trigger = match trigger {
                    Trigger::Asked(entry) if self.is_open(entry, place) => trigger,
                    _ => self.trigger(),
                };
                self.push(trigger, place, Act::Withdraw(ask));
            }
            _ => {
                let act = match method {
                    "notifications/message" => Act::Log(NONE),
                    "notifications/resources/updated" if self.is_subscribed(row) => Act::Updated,
                    _ => Act::Say,
                };
                self.step(place, act);
            }
        }
    }

    /// A notification that belongs to a request of the client.
    fn notified_of(&mut self, entry: u32, row: &MessageRow, method: &str, place: Place) {
        let is_stream = self.index.entry(entry).outcome == Outcome::Stream;
        let act = match method {
            "notifications/progress" => Act::Progress(entry),
            "notifications/cancelled" if is_stream => Act::StreamCancelled(entry),
            _ if is_stream && row.record.subscription.is_some() => Act::OnStream(entry),
            "notifications/message" => Act::Log(entry),
            _ => Act::Own(entry),
        };
        let acknowledges = method == "notifications/subscriptions/acknowledged";
        if self.is_open(entry, place) && (!is_stream || acknowledges) {
            return self.push(Trigger::Asked(entry), place, act);
        }
        self.follow(entry);
        self.step(place, act);
    }

    fn is_subscribed(&self, row: &MessageRow) -> bool {
        let uri = row.record.name.as_deref();
        uri.is_some_and(|uri| self.subscribed.contains(uri))
    }
}
