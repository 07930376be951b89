//! Rules about tools, their schemas, and values against them.
//!
//! ```text
//!  tools/list ─▶ definition: names, schemas, headers ─▶ listing: what is known for certain
//!                                                          │
//!  tools/call ─▶ calls: name, arguments ◀──────────────────┤
//!  its answer ─▶ calls: structuredContent ◀────────────────┘
//! ```
//!
//! * `rules`: the rules;
//! * `listing`, `tool`: pages put together, and what is kept of each tool;
//! * `definition`, `header`: what is wrong with a tool as it is listed, told once per
//!   definition, with the help of `report`;
//! * `calls`: arguments, results, and what was answered to wrong ones;
//! * `schema`: values against schemas, with bounded work.

mod calls;
mod definition;
mod header;
mod listing;
mod report;
mod result;
mod rules;
mod schema;
mod tool;

use super::digest;
use super::family::Family;
use super::finding::Findings;
use super::remembered::Remembered;
use super::rule::Rule;
use super::seen::{Part, Seen};
use calls::Calls;
use definition::Definitions;
use listing::Listing;
use mcpreel_wire::message::{Body, Direction, Outcome};
use report::{Place, Report, member};
use rules::{CHECK_SKIPPED, DESCRIPTION_MISSING, DUPLICATE_NAME};
use std::borrow::Cow;

/// Definitions that are remembered as looked at, so that a client that lists the same tools again
/// and again is not told the same each time.
const LOOKED_AT: usize = 16_384;

/// The family of these rules. It remembers the tools of the last list, the calls that are open,
/// and what it has told.
#[derive(Debug)]
pub struct Tools {
    listing: Listing,
    calls: Calls,
    looked_at: Remembered<u64, ()>,
    /// Those whose schemas were looked into as well.
    looked_into: Remembered<u64, ()>,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            listing: Listing::default(),
            calls: Calls::default(),
            looked_at: Remembered::new(LOOKED_AT),
            looked_into: Remembered::new(LOOKED_AT),
        }
    }
}

impl Family for Tools {
    fn name(&self) -> &'static str {
        "tools"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        rules::RULES
    }

    fn frame(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        for part in seen.parts() {
            let is_of_server = part.direction() == Direction::ServerToClient;
            match (&part.message.body, part.method()) {
                (Body::Request(request), Some("tools/call")) if !is_of_server => {
                    self.calls
                        .called(&part, request, &mut self.listing, findings);
                }
                (Body::Response(response), Some("tools/call")) if is_of_server => {
                    self.calls
                        .answered(&part, response, &mut self.listing, findings);
                }
                (Body::Request(_), Some("tools/list")) if !is_of_server => {
                    if let Some(exchange) = part.exchange() {
                        self.listing.asked(exchange, part.param("cursor"));
                    }
                }
                (Body::Response(response), Some("tools/list")) if is_of_server => {
                    let is_result = matches!(response.outcome, Outcome::Result { .. });
                    if is_result && let Some(exchange) = part.exchange() {
                        let (result, revision) = (part.result(), part.revision());
                        let doubles = self.listing.page(exchange, result, revision);
                        self.listed(&part, &doubles, findings);
                    }
                }
                (Body::Notification(_), Some("notifications/tools/list_changed"))
                    if is_of_server =>
                {
                    self.listing.changed();
                }
                _ => {}
            }
        }
    }
}

impl Tools {
    /// Tells what is wrong with the tools of a page; `doubles` are the places of those whose names
    /// were there before.
    fn listed(&mut self, part: &Part<'_>, doubles: &[usize], findings: &mut Findings) {
        let Some(tools) = part.result().and_then(|result| result.get("tools")) else {
            return;
        };
        let revision = part.revision();
        let mut definitions = Definitions::new(revision);
        let mut report = Report::new(part, findings);
        let mut without = Vec::new();
        for (index, tool) in tools.elements().enumerate() {
            let Some(name) = tool.get("name").and_then(|name| name.as_str()) else {
                continue;
            };
            let place = Place { index, name: &name };
            if doubles.binary_search(&index).is_ok() {
                report.add(&DUPLICATE_NAME, place, [member("name")], "listed before");
            }
            let digest = digest::of((tool.raw(), revision));
            let is_new = self.looked_at.is_first(digest);
            if !self.looked_into.contains(&digest)
                && definitions.look(tool, is_new, place, &mut report)
            {
                self.looked_into.insert(digest, ());
            }
            let description = tool.get("description").filter(|text| !text.is_null());
            if is_new && description.is_none_or(|text| text.is_str("")) {
                without.push((index, name));
            }
        }
        without_description(&without, &mut report);
        drop(report);
        let skipped = definitions.skipped();
        findings.extend(skipped.map(|detail| part.at(&CHECK_SKIPPED, detail).path("result.tools")));
    }
}

/// Tells which tools have no description: the first by its place and name, of the others how many.
fn without_description(tools: &[(usize, Cow<'_, str>)], report: &mut Report<'_, '_>) {
    let Some((index, name)) = tools.first() else {
        return;
    };
    let detail = match tools.len() {
        1 => "no description".to_owned(),
        2 => "no description, nor has one other tool".to_owned(),
        many => format!("no description, nor have {} other tools", many - 1),
    };
    let place = Place {
        index: *index,
        name,
    };
    report.add(&DESCRIPTION_MISSING, place, [], &detail);
}

#[cfg(test)]
mod tests;
