//! The corpus through the engine, each case a session of its own.

use crate::redact::corpus::{self, Session};
use mcpreel_redact::{Learner, Place, Policy, Report, Settings};
use mcpreel_trace::frame::StreamId;
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};

/// The policy without options.
pub fn policy() -> Arc<Policy> {
    static POLICY: OnceLock<Arc<Policy>> = OnceLock::new();
    let made = || Arc::new(Policy::new(&Settings::default()).expect("it can be had"));
    Arc::clone(POLICY.get_or_init(made))
}

/// A session without its secrets, and the report.
pub fn redacted(session: &Session, policy: &Arc<Policy>) -> (Session, Report) {
    let mut learner = Learner::new(Arc::clone(policy));
    learner.value(&session.context);
    for (stream, raw) in &session.frames {
        learner.frame(*stream, raw);
    }
    for event in &session.events {
        learner.value(event);
    }
    let mut redactor = learner.finish();
    let mut report = redactor.report();
    let context = redactor.context(&session.context, &mut report);
    let mut frames = Vec::new();
    for (seq, (stream, raw)) in session.frames.iter().enumerate() {
        let place = Place::Frame(seq as u64 + 1);
        let raw = redactor.frame(place, raw, &mut report).into_owned();
        frames.push((*stream, raw));
    }
    let mut events = Vec::new();
    for event in &session.events {
        events.push(redactor.event(Place::Event(0), event, &mut report));
    }
    let session = Session {
        context,
        frames,
        events,
    };
    (session, report)
}

/// All of a session as one text.
pub fn text(session: &Session) -> String {
    let mut text = format!("{:?}\n", session.context);
    for (stream, raw) in &session.frames {
        text.push_str(stream.as_str());
        text.push(' ');
        text.push_str(&String::from_utf8_lossy(raw));
    }
    let _ = write!(text, "{:?}", session.events);
    text
}

#[test]
fn nothing_is_left_of_any_planted_secret() {
    let cases = corpus::all("planted");
    assert!(cases.len() >= 100, "the corpus was not found");
    let mut left = Vec::new();
    for case in &cases {
        let (session, report) = redacted(&case.session(), &policy());
        let text = text(&session);
        let found: Vec<_> = case
            .secrets
            .iter()
            .filter(|secret| text.contains(&***secret))
            .collect();
        if !found.is_empty() || report.hits() == 0 {
            left.push(format!("{}: {found:?}\n{text}", case.name));
        }
        let told = serde_json::to_string(&report).expect("it can be written");
        for secret in &case.secrets {
            assert!(
                !told.contains(&**secret),
                "the report of {} says it",
                case.name
            );
        }
    }
    assert!(left.is_empty(), "{}", left.join("\n\n"));
}

#[test]
fn a_report_names_what_tells_a_secret_in_a_text_but_no_secret() {
    let token = "ghp_016C7e4fK2mQ9xZ3vB8nL5tR1wYdHsJaPcUo";
    let lines = [
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"text":"A=1 DB_PASSWORD=k3Jd8fLq2Wz7"}}"#
            .to_owned(),
        "--api-key k3Jd8fLq2Wz8".to_owned(),
        format!("{token}-password=k3Jd8fLq2Wz9"),
        r#"{"jsonrpc":"2.0","id":2,"method":"a","params":{"apiKey":"k3Jd8fLq2Wz0"}}"#.to_owned(),
    ];
    let frames = lines.map(|line| (StreamId::STDERR, line.into_bytes()));
    let session = Session {
        frames: frames.to_vec(),
        ..Session::default()
    };
    let (_, report) = redacted(&session, &policy());
    let places = report
        .places
        .iter()
        .filter(|place| &*place.rule == "key-name");
    let told: Vec<_> = places.map(|place| (&*place.path, &*place.key)).collect();
    assert_eq!(
        told,
        [
            ("params.text", "DB_PASSWORD"),
            ("", "api-key"),
            ("", ""),
            ("params.apiKey", "")
        ]
    );
}

#[test]
fn nothing_that_looks_alike_is_touched() {
    let cases = corpus::all("alike");
    assert!(cases.len() >= 25, "the corpus was not found");
    let mut touched = Vec::new();
    for case in &cases {
        let told = case.session();
        let (session, report) = redacted(&told, &policy());
        for (before, after) in told.frames.iter().zip(&session.frames) {
            if before != after {
                let shown = |raw: &[u8]| String::from_utf8_lossy(raw).into_owned();
                touched.push(format!(
                    "{}: {:?}\n{}{}",
                    case.name,
                    report.rules,
                    shown(&before.1),
                    shown(&after.1)
                ));
            }
        }
    }
    assert!(touched.is_empty(), "{}", touched.join("\n"));
}

#[test]
fn json_stays_json_and_lines_stay_lines() {
    for case in corpus::all("planted") {
        let told = case.session();
        let (session, _) = redacted(&told, &policy());
        for ((_, before), (_, after)) in told.frames.iter().zip(&session.frames) {
            assert_eq!(
                memchr::memchr_iter(b'\n', after).count(),
                1,
                "{}",
                case.name
            );
            let is_json = |raw: &[u8]| serde_json::from_slice::<serde_json::Value>(raw).is_ok();
            assert_eq!(
                is_json(before),
                is_json(after),
                "{}: {}",
                case.name,
                String::from_utf8_lossy(after)
            );
        }
    }
}
