//! Conversations with tools (Sampling, Tool use and result balance).

use super::asked::{self, Asking};
use super::rules;
use crate::finding::Findings;
use crate::quote;
use crate::seen::Part;
use mcpreel_wire::json::{Kind, Value};
use mcpreel_wire::text::plural;
use std::borrow::Cow;
use std::collections::HashSet;

pub(super) fn part(part: &Part<'_>, findings: &mut Findings) {
    asked::each(part, "sampling/createMessage", &mut |asking| {
        conversation(part, &asking, findings);
    });
}

/// Tells of the first fault only: what comes after it hangs together with it.
fn conversation(part: &Part<'_>, asking: &Asking<'_, '_>, findings: &mut Findings) {
    let Some(messages) = asking.params.get("messages") else {
        return;
    };
    let mut following = messages.elements().skip(1);
    for (index, message) in messages.elements().enumerate() {
        let next = following.next();
        if let Some(detail) = mixed(message).or_else(|| unanswered(message, next)) {
            let place = asking.place.member("messages");
            let finding = part.at(&rules::SAMPLING_TOOL_BALANCE, detail);
            findings.push(finding.path(place.element(index).path()));
            return;
        }
    }
}

/// Results of tools together with something else.
fn mixed(message: Value<'_>) -> Option<String> {
    let results = blocks(message).filter(|block| is_a(*block, "tool_result"));
    let results = results.count();
    let others = blocks(message).count() - results;
    let is_mixed = is_of(message, "user") && results > 0 && others > 0;
    is_mixed.then(|| {
        let results = plural(results as u64, "result");
        let others = plural(others as u64, "other block");
        format!("{results} of tools together with {others}")
    })
}

/// Uses of tools without a result in the next message.
fn unanswered(message: Value<'_>, next: Option<Value<'_>>) -> Option<String> {
    if !is_of(message, "assistant") {
        return None;
    }
    let mut uses = blocks(message)
        .filter(|block| is_a(*block, "tool_use"))
        .filter_map(|block| text(block, "id"))
        .peekable();
    uses.peek()?;
    let next = next.filter(|next| is_of(*next, "user"));
    let results: HashSet<_> = next
        .into_iter()
        .flat_map(blocks)
        .filter(|block| is_a(*block, "tool_result"))
        .filter_map(|block| text(block, "toolUseId"))
        .collect();
    let missing = uses.find(|id| !results.contains(id))?;
    let missing = quote::text(&missing);
    Some(format!(
        "the use \"{missing}\" has no result in the next message"
    ))
}

/// The blocks of a message, one or several.
fn blocks(message: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let content = message.get("content");
    let one = content.filter(Value::is_object);
    let several = content.filter(|content| content.kind() == Kind::Array);
    let several = several.into_iter().flat_map(|content| content.elements());
    one.into_iter().chain(several)
}

fn is_of(message: Value<'_>, role: &str) -> bool {
    message.get("role").is_some_and(|one| one.is_str(role))
}

fn is_a(block: Value<'_>, kind: &str) -> bool {
    block.get("type").is_some_and(|one| one.is_str(kind))
}

fn text<'d>(block: Value<'d>, member: &str) -> Option<Cow<'d, str>> {
    block.get(member)?.as_str()
}
