//! Notifications besides exchanges: which came, and how often. Their order is nobody's promise.

use super::Class;
use super::diff_report::{Remark, name};
use super::key::Digest;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::plural;
use std::collections::{BTreeMap, BTreeSet};

/// Notifications that are told apart; more are counted as not compared.
const MAX_KINDS: usize = 10_000;

/// Notifications of one side.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    /// By method and normalised params.
    by: BTreeMap<Digest, Notice>,
    /// How many were not told apart.
    others: u64,
}

/// Notifications that say the same.
#[derive(Clone, Debug)]
struct Notice {
    method: Box<str>,
    /// The first of them.
    seq: Seq,
    times: u64,
}

impl Notices {
    pub(super) fn add(&mut self, words: Digest, method: &str, seq: Seq) {
        if self.by.len() == MAX_KINDS && !self.by.contains_key(&words) {
            self.others += 1;
            return;
        }
        let known = self.by.entry(words).or_insert_with(|| Notice {
            method: name(method),
            seq,
            times: 0,
        });
        known.times += 1;
    }
}

/// What differs between the notifications of both sides, and how many were not compared.
pub(super) fn compare(left: &Notices, right: &Notices) -> (Vec<Remark>, u64) {
    let mut remarks = Vec::new();
    let all = left.by.keys().chain(right.by.keys());
    for words in all.collect::<BTreeSet<_>>() {
        let both = [left, right].map(|side| side.by.get(words));
        let [then, now] = both.map(|notice| notice.map_or(0, |notice| notice.times));
        let (Some(notice), true) = (both[0].or(both[1]), then != now) else {
            continue;
        };
        let text = match (then, now) {
            (_, 0) => format!("came {}, and does no more", often(then)),
            (0, _) => format!("comes {}, and did not before", often(now)),
            _ => format!("came {}, was {}", often(now), often(then)),
        };
        remarks.push(Remark {
            left: both[0].map(|notice| notice.seq),
            right: both[1].map(|notice| notice.seq),
            method: notice.method.clone(),
            name: None,
            class: if now < then {
                Class::Changed
            } else {
                Class::Added
            },
            text: text.into(),
            trouble: None,
        });
    }
    remarks.sort_by_key(|remark| (remark.class, remark.left, remark.right));
    (remarks, left.others + right.others)
}

fn often(times: u64) -> String {
    match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        times => plural(times, "time"),
    }
}
