//! What clients may keep: the hints of cacheable results.

use super::lists::is_list;
use crate::digest;
use crate::finding::Findings;
use crate::quote;
use crate::remembered::Remembered;
use crate::rule::{Revisions, Rule};
use crate::section;
use crate::seen::Part;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Number, Value};

pub(super) static MISSING: Rule = Rule::error(
    "cache-hints-missing",
    "a cacheable result without `ttlMs` or `cacheScope`",
)
.why("Clients have to ask again every time, or guess how long the answer holds and who may see it.")
.fix("Let the server set `ttlMs`, 0 if the answer may change at any time, and `cacheScope`, `private` if in doubt.")
.of(section::CACHING)
.only(Revisions::MODERN);

pub(super) static INVALID: Rule = Rule::error(
    "cache-hints-invalid",
    "an invalid cache hint, or one that differs between pages",
)
.why("Clients may drop the result, keep it for too long, or show it to somebody who must not see it.")
.fix("Let the server set `ttlMs` to a whole number of milliseconds from 0 on, and `cacheScope` to `public` or `private`, the same on all pages of a list.")
.of(section::CACHING)
.only(Revisions::MODERN);

/// Pages and requests for them that are remembered. Beyond it the oldest are no longer compared.
const PAGES: usize = 1024;

/// The scopes of pages, by the method and the cursor that leads to the next page.
#[derive(Debug)]
pub(super) struct Pages {
    asked: Remembered<ExchangeId, u64>,
    scopes: Remembered<u64, (Scope, Seq)>,
}

impl Default for Pages {
    fn default() -> Self {
        Self {
            asked: Remembered::new(PAGES),
            scopes: Remembered::new(PAGES),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Public,
    Private,
}

impl Scope {
    fn of(value: Value<'_>) -> Option<Self> {
        let all = [("public", Self::Public), ("private", Self::Private)];
        let found = all.into_iter().find(|(name, _)| value.is_str(name));
        found.map(|(_, scope)| scope)
    }
}

fn is_cacheable(method: &str) -> bool {
    matches!(method, "server/discover" | "resources/read") || is_list(method)
}

impl Pages {
    /// A request of the client: it may be for a later page.
    pub(super) fn asked(&mut self, part: &Part<'_>) {
        let Some(method) = part.method().filter(|it| is_list(it)) else {
            return;
        };
        if let Some(cursor) = part.param("cursor")
            && let Some(exchange) = part.exchange()
        {
            let page = digest::of((method, cursor.str_bytes()));
            self.asked.insert(exchange, page);
        }
    }

    pub(super) fn answered(&mut self, part: &Part<'_>, result: Value<'_>, findings: &mut Findings) {
        let Some(method) = part.method().filter(|it| is_cacheable(it)) else {
            return;
        };
        let kind = result.get("resultType");
        if kind.is_some_and(|kind| !kind.is_str("complete")) {
            return;
        }
        let (ttl, scope) = (result.get("ttlMs"), result.get("cacheScope"));
        for (name, value, is_valid) in [
            ("ttlMs", ttl, ttl.is_some_and(is_time)),
            ("cacheScope", scope, scope.and_then(Scope::of).is_some()),
        ] {
            let finding = match value {
                None => part.at(&MISSING, format!("no {name}")),
                Some(value) if !is_valid => part.at(
                    &INVALID,
                    format!("{name} {}", quote::text(&value.raw_text())),
                ),
                Some(_) => continue,
            };
            findings.push(finding.path(format!("result.{name}")));
        }
        if let Some(scope) = scope.and_then(Scope::of) {
            self.page(part, method, result, scope, findings);
        }
    }

    /// Compares the scope of a page with that of the page before.
    fn page(
        &mut self,
        part: &Part<'_>,
        method: &str,
        result: Value<'_>,
        scope: Scope,
        findings: &mut Findings,
    ) {
        let asked = part.exchange().and_then(|id| self.asked.remove(&id));
        let before = asked.and_then(|page| self.scopes.get(&page));
        if let Some((other, frame)) = before
            && *other != scope
        {
            let detail = "cacheScope differs from that of the page before";
            let finding = part.at(&INVALID, detail).and(*frame);
            findings.push(finding.path("result.cacheScope"));
        }
        if let Some(next) = result.get("nextCursor") {
            let page = digest::of((method, next.str_bytes()));
            self.scopes.insert(page, (scope, part.seen.head.seq));
        }
    }
}

/// Whether it is a whole number that is not negative.
fn is_time(value: Value<'_>) -> bool {
    let is_negative = value
        .number_text()
        .is_some_and(|text| text.starts_with('-'));
    let number = value.number();
    let is_zero = number.as_ref().and_then(Number::to_i64) == Some(0);
    number.is_some_and(|number| number.is_integer()) && (!is_negative || is_zero)
}
