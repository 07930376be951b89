//! The engine as a whole.

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
