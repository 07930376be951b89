//! What is not said of a part of a session: that something is missing. It may stand in the rest.

use super::rule::Rule;
use mcpreel_trace::part::SelectionNote;

/// Rules that find what is missing, by their ids.
const OF_ABSENCE: [&str; 27] = [
    "response-unknown-id",
    "cancel-unknown-request",
    "progress-unknown-token",
    "lifecycle-not-initialized",
    "lifecycle-request-before-init-response",
    "lifecycle-initialized-missing",
    "lifecycle-early-server-request",
    "lifecycle-early-server-notification",
    "modern-discover-missing",
    "mrtr-state-not-echoed",
    "mrtr-response-key-unknown",
    "mrtr-not-retried",
    "subscription-ack-missing",
    "subscription-not-requested",
    "subscription-unknown",
    "log-not-requested",
    "cap-server-not-declared",
    "cap-client-not-declared",
    "cap-subcapability",
    "cap-list-changed-not-declared",
    "cap-logging-not-declared",
    "cap-updated-not-subscribed",
    "server-request-unrelated",
    "list-changed-ignored",
    "page-cursor-unknown",
    "timeout-no-cancel",
    "tool-unknown-called",
];

/// The same of what comes at the end. A filter selects exchanges whole, so that only a bound cuts
/// answers off.
const OF_ITS_END: [&str; 2] = ["request-unanswered", "process-died-in-flight"];

/// Whether findings of a rule stand for something in what is selected.
pub(super) fn applies(rule: &Rule, selection: &SelectionNote) -> bool {
    let is_cut = selection.to.is_some();
    !(OF_ABSENCE.contains(&rule.id) || is_cut && OF_ITS_END.contains(&rule.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_that_is_named_is_one() {
        for id in OF_ABSENCE.iter().chain(&OF_ITS_END) {
            assert!(crate::rule(id).is_some(), "{id}");
        }
    }

    #[test]
    fn only_a_bound_cuts_answers_off() {
        let rule = crate::rule("request-unanswered").unwrap();
        let filtered = SelectionNote {
            query: Some("tool:a".to_owned()),
            ..SelectionNote::default()
        };
        assert!(applies(rule, &filtered));
        let to = Some(7);
        assert!(!applies(rule, &SelectionNote { to, ..filtered }));
    }
}
