//! The engine as a whole.

use super::find::Finder;
use super::*;
use mcpreel_trace::frame::StreamId;
use std::sync::{Arc, OnceLock};

fn policy() -> Arc<Policy> {
    static POLICY: OnceLock<Arc<Policy>> = OnceLock::new();
    let settings = Settings {
        email: true,
        home: true,
        ..Settings::default()
    };
    let made = || Arc::new(Policy::new(&settings).unwrap());
    Arc::clone(POLICY.get_or_init(made))
}

fn redacted(frames: &[&str]) -> Vec<String> {
    let mut learner = Learner::new(policy());
    for frame in frames {
        learner.frame(StreamId::STDERR, frame.as_bytes());
    }
    let mut redactor = learner.finish();
    let mut report = redactor.report();
    let one = |frame: &&str| {
        let bytes = redactor
            .frame(Place::Start, frame.as_bytes(), &mut report)
            .into_owned();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    frames.iter().map(one).collect()
}

#[test]
fn every_rule_finds_its_samples_and_passes_over_what_looks_alike() {
    for rule in rules() {
        assert!(
            !rule.found.is_empty() && !rule.passed.is_empty(),
            "{} has no samples",
            rule.id
        );
        for text in &rule.found {
            let (plain, span) = sample(text);
            let policy = policy();
            let finder = find::Finder {
                policy: &policy,
                known: None,
            };
            let mut found = report::Found::default();
            finder.frame(plain.as_bytes(), &mut Vec::new(), &mut found);
            found.settle();
            let spans: Vec<_> = found.hits.iter().map(|hit| hit.span.clone()).collect();
            assert!(spans.contains(&span), "{}: {plain}: {spans:?}", rule.id);
            assert!(
                found
                    .hits
                    .iter()
                    .any(|hit| policy.rule(hit.rule) == rule.id),
                "{}: {plain}",
                rule.id
            );
        }
        for text in &rule.passed {
            assert_eq!(redacted(&[text]), [text.as_str()], "{}", rule.id);
        }
    }
}

#[test]
fn a_value_has_one_token_and_two_have_two() {
    let frames = redacted(&[
        r#"{"password":"hunter2","token":"abc-123-def"}"#,
        "login with hunter2 and abc-123-def",
        r#"{"note":"{\"apiKey\":\"hunter2\"}"}"#,
    ]);
    assert_eq!(
        frames[0],
        r#"{"password":"‹secret:1›","token":"‹secret:2›"}"#
    );
    assert_eq!(frames[1], "login with ‹secret:1› and ‹secret:2›");
    assert_eq!(frames[2], r#"{"note":"{\"apiKey\":\"‹secret:1›\"}"}"#);
}

/// To look into a frame takes ten times as long as to see that nothing in it needs a look.
#[test]
fn usual_frames_are_not_looked_into() {
    let policy = Policy::new(&Settings::default()).unwrap();
    let finder = Finder {
        policy: &policy,
        known: None,
    };
    for frame in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"limit":10,"query":"red foxes","options":{"exact":true}},"_meta":{"progressToken":7}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"Two rows, the newest first."}],"structuredContent":{"rows":[{"id":1,"name":"one","score":0.5}]},"isError":false}}"#,
        r#"{"jsonrpc":"2.0","id":"a-2","error":{"code":-32602,"message":"unknown tool: serch"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":3,"total":10,"message":"reading"}}"#,
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"probe","version":"1.0"}}}"#,
    ] {
        assert!(!finder.may_have(frame.as_bytes(), 0), "{frame}");
    }
}
