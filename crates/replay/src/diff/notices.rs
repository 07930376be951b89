//! Notifications besides exchanges: which came, and how often. Their order is nobody's promise.

use super::side::One;
use super::{Class, Judge, noise};
use mcpreel_store::reader::ReadError;
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::mcp::methods;
use mcpreel_wire::text::plural;
use std::collections::BTreeMap;

/// Notifications that are told apart; more are counted as not compared.
const MAX_KINDS: usize = 10_000;

/// Notifications that are read at once.
const PAGE: u32 = 1000;

/// Notifications that are not compared: how many come, and when, depends on time.
const PASSED_OVER: [&str; 3] = [
    "notifications/progress",
    "notifications/cancelled",
    "notifications/message",
];

/// Compares the notifications of two recordings by method and name, as long as `goes_on` says so.
pub(super) fn compare(
    sides: [One<'_>; 2],
    judge: &mut Judge,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<(), ReadError> {
    // The first of each kind on both sides, and how many there are.
    let mut kinds: BTreeMap<_, [(Option<Seq>, u64); 2]> = BTreeMap::new();
    for (side, one) in sides.into_iter().enumerate() {
        let mut after = (Seq(0), 0);
        loop {
            let page = one.recording.notices(after, Seq(u64::MAX), PAGE)?;
            let Some(last) = page.last().filter(|_| goes_on()) else {
                break;
            };
            after = (last.seq, last.part);
            for notice in page {
                let method = notice.method.clone().unwrap_or_default();
                let is_passed_over = PASSED_OVER.contains(&methods::canonical(&method));
                if notice.kind != MessageKind::Notification || is_passed_over {
                    continue;
                }
                let about = notice.name.unwrap_or_default();
                let about = noise::shape(&about).into_owned();
                let kind = (notice.direction.as_str(), method, about);
                if kinds.len() == MAX_KINDS && !kinds.contains_key(&kind) {
                    judge.ledger.report.left_out.values += 1;
                    continue;
                }
                let (first, times) = &mut kinds.entry(kind).or_default()[side];
                first.get_or_insert(notice.seq);
                *times += 1;
            }
        }
    }
    let remarks = kinds.into_iter().filter_map(|((_, method, _), sides)| {
        let [(left, then), (right, now)] = sides;
        let text = match (then, now) {
            _ if then == now => return None,
            (_, 0) => format!("came {}, and does no more", often(then)),
            (0, _) => format!("comes {}, and did not before", often(now)),
            _ => format!("came {}, was {}", often(now), often(then)),
        };
        let class = if now < then {
            Class::Changed
        } else {
            Class::Added
        };
        Some((class, [left, right], method, text))
    });
    let mut remarks: Vec<_> = remarks.collect();
    remarks.sort_by_key(|(class, seqs, ..)| (*class, *seqs));
    for (class, seqs, method, text) in remarks {
        judge.remark(class, seqs, &method, &text);
    }
    Ok(())
}

fn often(times: u64) -> String {
    match times {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        times => plural(times, "time"),
    }
}
