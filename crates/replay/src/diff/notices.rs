//! Notifications: of an exchange its progress, besides exchanges which came and how often. Their
//! order and the values of progress are nobody's promise; log messages are not compared.

use super::Class;
use super::diff_report::{Remark, name};
use super::exchanges::Judge;
use super::key::{Digest, Terms, key};
use crate::rules::Side;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, Number, Value, canonical};
use mcpreel_wire::mcp::{keys, methods};
use mcpreel_wire::text::plural;
use std::collections::BTreeMap;

/// Notifications that are told apart in a window; more are counted as not compared.
const MAX_KINDS: usize = 10_000;

/// Bytes of a progress token that are looked at.
const MAX_TOKEN: usize = 256;

/// Notifications of one side, in a window or in a whole session.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    /// By method and normalised params.
    by: BTreeMap<Digest, Notice>,
    others: u64,
}

/// Notifications that say the same.
#[derive(Clone, Debug)]
struct Notice {
    method: Box<str>,
    seq: Option<Seq>,
    times: u64,
}

impl Notices {
    pub fn count(&self) -> u64 {
        self.others + self.by.values().map(|notice| notice.times).sum::<u64>()
    }

    /// Each kind, in the order in which they came.
    fn in_order(&self) -> Vec<(&Digest, &Notice)> {
        let mut all: Vec<_> = self.by.iter().collect();
        all.sort_by_key(|(_, notice)| notice.seq);
        all
    }
}

impl Judge {
    /// Puts a notification of one side into a window. Progress, cancellations and log messages
    /// are passed over, as are bytes that are no notification.
    pub fn notice(
        &self,
        notices: &mut Notices,
        side: Side,
        seq: Option<Seq>,
        message: &[u8],
        wall_ns: Option<u64>,
    ) {
        let Ok(document) = Document::parse(message) else {
            return;
        };
        let root = document.root();
        let Some(method) = root.get("method").and_then(|method| method.as_str()) else {
            return;
        };
        if matches!(
            methods::canonical(&method),
            "notifications/progress" | "notifications/cancelled" | "notifications/message"
        ) {
            return;
        }
        let scope = self.rules().scope(&method, None);
        let terms = Terms {
            scope: &scope,
            side,
            rewrites: &self.options().rewrites,
            wall_ns,
        };
        let digest = key(root, terms).normalised;
        if notices.by.len() == MAX_KINDS && !notices.by.contains_key(&digest) {
            notices.others += 1;
            return;
        }
        let known = notices.by.entry(digest).or_insert_with(|| Notice {
            method: name(&method),
            seq,
            times: 0,
        });
        known.times += 1;
    }
}

/// What differs between two windows.
pub(super) fn both(judge: &mut Judge, left: &Notices, right: &Notices) {
    judge.ledger.report().unlooked.values += left.others + right.others;
    for (digest, notice) in left.in_order() {
        let other = right.by.get(digest);
        let text = match other.map_or(0, |other| other.times) {
            0 => format!("came {}, and does no more", often(notice.times)),
            times if times < notice.times => {
                format!("came {}, was {}", often(times), often(notice.times))
            }
            _ => continue,
        };
        let seqs = [notice.seq, other.and_then(|other| other.seq)];
        say(judge, notice, seqs, Class::Changed, &text);
    }
    for (digest, notice) in right.in_order() {
        let other = left.by.get(digest);
        let text = match other.map_or(0, |other| other.times) {
            0 => format!("comes {}, and did not before", often(notice.times)),
            times if times < notice.times => {
                format!("came {}, was {}", often(notice.times), often(times))
            }
            _ => continue,
        };
        let seqs = [other.and_then(|other| other.seq), notice.seq];
        say(judge, notice, seqs, Class::Added, &text);
    }
}

fn say(judge: &mut Judge, notice: &Notice, seqs: [Option<Seq>; 2], class: Class, text: &str) {
    judge.remark(Remark {
        left: seqs[0],
        right: seqs[1],
        method: notice.method.clone(),
        name: None,
        class,
        text: text.into(),
        trouble: None,
    });
}

fn often(times: u64) -> String {
    match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        times => plural(times, "time"),
    }
}

/// The progress notifications of an exchange, as far as they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    count: u64,
    /// The token of the first one, canonical.
    token: Option<String>,
    /// Whether one had another token than the first.
    mixed: bool,
    /// Whether one was no higher than the one before.
    fell: bool,
    last: Option<Number>,
    /// Whether the last one had a total, and reached it.
    end: Option<bool>,
}

impl Progress {
    /// One more `notifications/progress`; bytes that are none are passed over.
    pub fn add(&mut self, message: &[u8]) {
        let Ok(document) = Document::parse(message) else {
            return;
        };
        let Some(params) = document.root().get("params") else {
            return;
        };
        let token = params.get("progressToken").map(token);
        if self.count == 0 {
            self.token = token;
        } else {
            self.mixed |= token != self.token;
        }
        self.count += 1;
        let number = |member| params.get(member).and_then(|value| value.number());
        let (now, total) = (number("progress"), number("total"));
        if let (Some(last), Some(now)) = (&self.last, &now) {
            self.fell |= now <= last;
        }
        self.end = total.zip(now.clone()).map(|(total, now)| now >= total);
        self.last = now;
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// What the progress `right` has that this one has not, `asked` being the two requests.
    pub(super) fn beside(
        &self,
        right: &Self,
        asked: [Option<&[u8]>; 2],
    ) -> Vec<(Class, &'static str)> {
        let mut found = Vec::new();
        if self.count == 0 || right.count == 0 {
            return found;
        }
        if self.is_for(asked[0]) && !right.is_for(asked[1]) {
            let note = "progress for another token than was asked for";
            found.push((Class::Breaking, note));
        }
        if !self.fell && right.fell {
            found.push((Class::Changed, "progress does not always rise any more"));
        }
        match (self.end, right.end) {
            (Some(true), Some(false)) => {
                found.push((Class::Changed, "progress ends before its total"));
            }
            (Some(true), None) => found.push((Class::Changed, "progress has no total any more")),
            _ => {}
        }
        found
    }

    /// Whether all of it is for the token of the request; where that is not known, for one token.
    fn is_for(&self, request: Option<&[u8]>) -> bool {
        let asked = request.and_then(asked);
        !self.mixed && (asked.is_none() || asked == self.token)
    }
}

/// The token that a request asks for progress with.
fn asked(request: &[u8]) -> Option<String> {
    let document = Document::parse(request).ok()?;
    let meta = document.root().get("params")?.get("_meta")?;
    meta.get(keys::PROGRESS_TOKEN).map(token)
}

fn token(value: Value<'_>) -> String {
    if value.raw().len() > MAX_TOKEN {
        return value.raw_text().chars().take(MAX_TOKEN).collect();
    }
    canonical(value)
}
