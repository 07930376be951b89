//! Whether a list stays the same as long as nobody says that it has changed.
//!
//! The same request has the same method and params, but for what tells one request from another.
//! Its order may not vary at all. Its content may: that is told only where the client listens for
//! changes, and nothing is heard of one for a while.

use super::subscriptions::Streams;
use crate::digest;
use crate::finding::{Finding, Findings};
use crate::remembered::Remembered;
use crate::rule::{Revisions, Rule, Severity};
use crate::section;
use crate::seen::Part;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::keys;

pub(super) static VARIES: Rule = Rule::warning(
    "list-varies",
    "the same request for a list gives another list",
)
.why("Clients cannot keep what they have listed, and models are given another prompt each time.")
.fix("Let the server give lists in an order that does not change, and announce what does change.")
.of(section::TOOLS)
.only(Revisions::MODERN)
.milder_where(
    Severity::Note,
    "nothing but the order differs, and what is listed is no tools",
);

/// Pages, and requests for them, that are remembered. Beyond it the oldest are no longer compared.
const PAGES: usize = 256;

/// How long after a changed list its notification may come, nanoseconds.
const NOTICE_NS: u64 = 1_000_000_000;

#[derive(Debug)]
struct List {
    method: &'static str,
    /// The member of the result that is the list.
    member: &'static str,
    /// The notification that says that it has changed.
    changed: &'static str,
}

const LISTS: [List; 4] = [
    List {
        method: "tools/list",
        member: "tools",
        changed: "notifications/tools/list_changed",
    },
    List {
        method: "prompts/list",
        member: "prompts",
        changed: "notifications/prompts/list_changed",
    },
    List {
        method: "resources/list",
        member: "resources",
        changed: "notifications/resources/list_changed",
    },
    List {
        method: "resources/templates/list",
        member: "resourceTemplates",
        changed: "notifications/resources/list_changed",
    },
];

#[derive(Debug)]
pub(super) struct Lists {
    asked: Remembered<ExchangeId, u64>,
    pages: Remembered<u64, Page>,
    /// How often each list was said to have changed.
    changes: [u64; LISTS.len()],
    /// A list with another content, and when it came: nobody has said yet that it has changed.
    unannounced: [Option<(Moment, Finding)>; LISTS.len()],
}

#[derive(Clone, Copy, Debug)]
struct Page {
    frame: Seq,
    changes: u64,
    ordered: u64,
    unordered: u64,
}

impl Default for Lists {
    fn default() -> Self {
        Self {
            asked: Remembered::new(PAGES),
            pages: Remembered::new(PAGES),
            changes: [0; LISTS.len()],
            unannounced: [const { None }; LISTS.len()],
        }
    }
}

fn position(method: &str) -> Option<usize> {
    LISTS.iter().position(|list| list.method == method)
}

/// Whether it lists something, in pages.
pub(super) fn is_list(method: &str) -> bool {
    position(method).is_some()
}

impl Lists {
    pub(super) fn asked(&mut self, part: &Part<'_>) {
        let is_list = part.method().is_some_and(is_list);
        if is_list
            && part.value.is_some()
            && let Some(exchange) = part.exchange()
        {
            self.asked.insert(exchange, key(part));
        }
    }

    /// A notification of the server: it may say that a list has changed.
    pub(super) fn notification(&mut self, part: &Part<'_>) {
        let Some(method) = part.method().filter(|it| it.ends_with("/list_changed")) else {
            return;
        };
        for (at, list) in LISTS.iter().enumerate() {
            if list.changed == method {
                self.changes[at] += 1;
                self.unannounced[at] = None;
            }
        }
    }

    pub(super) fn answered(
        &mut self,
        part: &Part<'_>,
        result: Value<'_>,
        streams: &Streams,
        findings: &mut Findings,
    ) {
        let Some(at) = part.method().and_then(position) else {
            return;
        };
        let asked = part.exchange().and_then(|id| self.asked.remove(&id));
        let (Some(key), Some(items)) = (asked, result.get(LISTS[at].member)) else {
            return;
        };
        let page = Page::of(items, part.seen.head.seq, self.changes[at]);
        let before = self.pages.get(&key).copied();
        self.pages.insert(key, page);
        let Some(before) = before.filter(|before| before.changes == page.changes) else {
            return;
        };
        let differs = |detail: &str| {
            let finding = part.at(&VARIES, detail).and(before.frame);
            finding.path(format!("result.{}", LISTS[at].member))
        };
        if before.unordered != page.unordered {
            if streams.announce(LISTS[at].changed) {
                let finding = differs("another content, although no change was announced");
                self.unannounced[at] = Some((part.seen.head.t_last, finding));
            }
        } else if before.ordered != page.ordered {
            // Only of tools the specification asks for an order.
            let severity = [Severity::Note, Severity::Warning][usize::from(at == 0)];
            findings.push(differs("the same content in another order").as_bad_as(severity));
        }
    }

    pub(super) fn passed(&mut self, now: Moment, findings: &mut Findings) {
        for slot in &mut self.unannounced {
            let is_due = |(t, _): &mut (Moment, Finding)| now.0.saturating_sub(t.0) >= NOTICE_NS;
            findings.extend(slot.take_if(is_due).map(|(_, finding)| finding));
        }
    }
}

impl Page {
    fn of(items: Value<'_>, frame: Seq, changes: u64) -> Self {
        let digests = items.elements().map(|item| digest::of(item.raw()));
        let add = |(ordered, unordered): (u64, u64), item: u64| {
            (digest::of((ordered, item)), unordered.wrapping_add(item))
        };
        let (ordered, unordered) = digests.fold((0, 0), add);
        Self {
            frame,
            changes,
            ordered,
            unordered,
        }
    }
}

/// What is asked for, without what tells one request from another.
fn key(part: &Part<'_>) -> u64 {
    let mut key = digest::of(part.method());
    let mut add = |name: Value<'_>, value: Value<'_>| {
        let member = digest::of((name.str_bytes(), value.raw()));
        key = key.wrapping_add(member);
    };
    let params = part.params().into_iter().flat_map(|it| it.members());
    for (name, value) in params {
        if !name.is_str("_meta") {
            add(name, value);
            continue;
        }
        for (name, value) in value.members() {
            let says_who = [
                keys::CLIENT_CAPABILITIES,
                keys::CLIENT_INFO,
                keys::PROTOCOL_VERSION,
            ];
            if says_who.iter().any(|key| name.is_str(key)) {
                add(name, value);
            }
        }
    }
    key
}
