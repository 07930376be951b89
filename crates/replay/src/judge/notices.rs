//! Notifications besides exchanges: which came, and how often. In which order is nobody's promise.

use super::Judge;
use crate::compare::Class;
use crate::key::{Digest, Terms, key};
use crate::report::{Remark, name};
use crate::rules::Side;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Document;
use mcpreel_wire::mcp::methods;
use mcpreel_wire::text::plural;
use std::collections::BTreeMap;

/// Notifications that are told apart in a window; more are counted together.
const MAX_KINDS: usize = 10_000;

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
    /// Puts a notification of one side into a window. Progress and cancellations belong to their
    /// exchanges, log messages count only where they are wanted; bytes that are no notification are
    /// passed over.
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
        if !self.compares(&method) {
            return;
        }
        let scope = self.rules.scope(&method, None);
        let terms = Terms {
            scope: &scope,
            side,
            rewrites: &self.options.rewrites,
            wall_ns,
        };
        let digest = key(root, terms).normalised;
        let told_apart = notices.by.len() < MAX_KINDS || notices.by.contains_key(&digest);
        if !told_apart {
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

    /// Whether such notifications are compared in windows.
    fn compares(&self, method: &str) -> bool {
        match methods::canonical(method) {
            "notifications/progress" | "notifications/cancelled" => false,
            "notifications/message" => self.options.strict_logs,
            _ => true,
        }
    }
}

/// What differs between two windows.
pub(super) fn both(judge: &mut Judge, left: &Notices, right: &Notices) {
    for (digest, notice) in left.in_order() {
        let times = right.by.get(digest).map_or(0, |other| other.times);
        if times < notice.times {
            let text = match times {
                0 => format!("came {}, and does no more", often(notice.times)),
                times => format!("came {}, was {}", often(times), often(notice.times)),
            };
            let seqs = [notice.seq, right.by.get(digest).and_then(|other| other.seq)];
            say(judge, notice, seqs, Class::Changed, &text);
        }
    }
    for (digest, notice) in right.in_order() {
        let times = left.by.get(digest).map_or(0, |other| other.times);
        if times < notice.times {
            let text = match times {
                0 => format!("comes {}, and did not before", often(notice.times)),
                times => format!("came {}, was {}", often(notice.times), often(times)),
            };
            let seqs = [left.by.get(digest).and_then(|other| other.seq), notice.seq];
            say(judge, notice, seqs, Class::Added, &text);
        }
    }
    others(judge, left, right);
}

/// Of what is not told apart only the numbers are compared.
fn others(judge: &mut Judge, left: &Notices, right: &Notices) {
    if left.others != right.others {
        let notice = Notice {
            method: Box::default(),
            seq: None,
            times: 0,
        };
        let counts = [left.others, right.others].map(|count| plural(count, "notification"));
        let text = format!(
            "of the notifications that are not told apart: {}, was {}",
            counts[1], counts[0]
        );
        say(judge, &notice, [None; 2], Class::Changed, &text);
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
