//! Progress: whether there was any, whether it went back, whether it came to an end, whether anybody
//! wanted it. How often, and how far each time, is a matter of the clock.

use super::Director;
use super::calls::Call;
use crate::compare::Class;
use crate::report::Remark;
use crate::rules::Side;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::Number;
use mcpreel_wire::message::{Body, Message, Subject};
use mcpreel_wire::text::escape;
use std::collections::HashSet;

/// Tokens that are remembered. Where the client gives more, any may be one of them.
const MOST: usize = 65_536;

/// The tokens by which progress may be told.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    /// As recorded and as sent. They stay: a task goes on after its call was answered.
    given: HashSet<RequestId>,
    /// How often progress was told by one that nobody gave: recorded and live.
    pub strays: [u64; 2],
    pub first: Option<RequestId>,
}

impl Tokens {
    /// The recorded client gives a token.
    pub fn give(&mut self, token: RequestId) {
        if self.given.len() < MOST {
            self.given.insert(token);
        }
    }

    /// Progress was told by a token, then or now.
    pub fn told(&mut self, token: &RequestId, side: Side) {
        if self.given.contains(token) || self.given.len() >= MOST {
            return;
        }
        self.strays[usize::from(side == Side::Right)] += 1;
        if side == Side::Right && self.first.is_none() {
            self.first = Some(token.clone());
        }
    }
}

/// The token by which a notification tells progress.
pub(super) fn token_of(message: &Message) -> Option<&RequestId> {
    let Body::Notification(notification) = &message.body else {
        return None;
    };
    match &notification.subject {
        Subject::Progress { token, .. } => token.as_ref(),
        _ => None,
    }
}

impl Director {
    pub(super) fn progressed(
        &mut self,
        token: &RequestId,
        value: Option<&str>,
        total: Option<&str>,
    ) {
        let Some(call) = self.calls.by_token(token) else {
            return self.tokens.told(token, Side::Right);
        };
        let progress = &mut call.progress;
        progress.count += 1;
        if let Some(value) = value {
            let number = Number::parse(value);
            let before = progress
                .last
                .as_ref()
                .and_then(|(last, _)| Number::parse(last));
            progress.fell |= number.zip(before).is_some_and(|(now, before)| now < before);
            progress.last = Some((value.into(), total.map(Into::into)));
        }
    }

    /// Puts what was told of a call beside what was told then.
    pub(super) fn compare_progress(&mut self, call: &Call) {
        let (exchange, progress) = (&call.exchange, &call.progress);
        let finished = progress.last.as_ref().is_none_or(|(value, total)| {
            let total = total.as_deref().and_then(Number::parse);
            total.is_none_or(|total| Number::parse(value) == Some(total))
        });
        let text = match (exchange.progress_count, progress.count) {
            (1.., 0) => "progress was told in the recording, and is not now",
            _ if progress.fell => "progress goes back",
            (1.., _) if !finished && came_to_an_end(exchange.progress.as_deref()) => {
                "progress does not come to its end"
            }
            _ => return,
        };
        self.judge.remark(Remark {
            left: Some(exchange.request.0),
            right: None,
            method: escape(&exchange.method).into(),
            name: exchange.name.as_deref().map(|name| escape(name).into()),
            class: Class::Changed,
            text: text.into(),
            trouble: None,
        });
    }
}

/// Whether the last progress on record (`100/100 done`) was all of it.
fn came_to_an_end(progress: Option<&str>) -> bool {
    let words = progress.and_then(|text| text.split(' ').next());
    let parts = words.and_then(|words| words.split_once('/'));
    parts.is_some_and(|(value, total)| {
        Number::parse(value).is_some() && Number::parse(value) == Number::parse(total)
    })
}
