//! Whatever is said to mislead it: the engine finds what there is, takes its time in proportion,
//! and breaks nothing.

use crate::redact::corpus::Session;
use crate::redact::engine::{policy, redacted};
use mcpreel_redact::{Learner, Place};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::StreamId;

/// Lines without their secrets.
fn lines(frames: &[&[u8]]) -> Vec<String> {
    let frames = frames
        .iter()
        .map(|raw| (StreamId::S2C, raw.to_vec()))
        .collect();
    let session = Session {
        frames,
        ..Session::default()
    };
    let (session, _) = redacted(&session, &policy());
    let shown = |(_, raw): &(StreamId, Vec<u8>)| String::from_utf8_lossy(raw).into_owned();
    session.frames.iter().map(shown).collect()
}

#[test]
fn tokens_that_were_there_before_stay_and_are_not_given_again() {
    let said = lines(&[
        r#"{"password":"k3Jd8fLq2Wz7Xn5Rb1"}"#.as_bytes(),
        "‹secret:1› and \\u2039secret:2\\u203a password=‹secret:3›".as_bytes(),
        r#"{"password":"‹secret:1›","token":"x‹secret:9›y7"}"#.as_bytes(),
    ]);
    assert_eq!(said[0], r#"{"password":"‹secret:4›"}"#);
    assert_eq!(
        said[1],
        "‹secret:1› and \\u2039secret:2\\u203a password=‹secret:3›"
    );
    assert!(
        said[2].starts_with(r#"{"password":"‹secret:1›","token":"‹secret:5›"#),
        "{}",
        said[2]
    );
}

#[test]
fn secrets_that_overlap_leave_nothing() {
    let said = lines(&[
        br#"{"password":"aaaabbbb1111","secret":"1111ccccdddd"}"#,
        b"aaaabbbb1111ccccdddd",
        b"xaaaabbbb1111xx1111ccccddddx",
    ]);
    for part in ["aaaa", "bbbb", "cccc", "dddd"] {
        assert!(!said.concat().contains(part), "{said:?}");
    }
}

#[test]
fn odd_escapes_hide_nothing() {
    for line in [
        r#"{"\u0070assword":"k3Jd8fLq2Wz7Xn5Rb1"}"#,
        r#"{"pass\u0077ord" : "k3Jd8fLq2Wz\u0037Xn5Rb1"}"#,
        r#"{"t":"\ud83d\ude00 token=k3Jd8fLq2Wz7Xn5Rb1\ud800"}"#,
        r#"{"t":"a\npassword=k3Jd8fLq2Wz7Xn5Rb1\n"}"#,
        r#"{"t":"a\nTOKEN=k3Jd8fLq2Wz7Xn5Rb1\n"}"#,
        r#"{"t":"{\"u\":\"{\\\"password\\\":\\\"k3Jd8fLq2Wz7Xn5Rb1\\\"}\"}"}"#,
        r#"{"password":"k3Jd8fLq2Wz7Xn5Rb1","password":"k3Jd8fLq2Wz7Xn5Rb1"}"#,
        r#"{"broken":"password=k3Jd8fLq2Wz7Xn5Rb1"#,
        r#"{"broken":{"password":"k3Jd8fLq2Wz7Xn5Rb1"#,
        r#"data: {"password":"k3Jd8fLq2Wz7Xn5Rb1"}"#,
        r#"{\"password\":\"k3Jd8fLq2Wz7Xn5Rb1\"}"#,
        "\u{feff}{\"password\":\"k3Jd8fLq2Wz7Xn5Rb1\"}",
    ] {
        let said = lines(&[line.as_bytes()]).remove(0);
        assert!(!said.contains("Jd8fLq2W"), "{line}: {said}");
    }
}

/// Whether a line four times as long takes some four times as long, and not sixteen. Other work may
/// come in between, for longer than a try takes, so one of many is enough.
fn is_in_proportion(line: impl Fn(usize) -> Vec<u8>) -> bool {
    let took = |line: &[u8]| {
        let clock = Clock::start();
        lines(&[line]);
        clock.now().0
    };
    let [short, long] = [25_000, 100_000].map(line);
    (0..50).any(|_| took(&long) < 8 * took(&short))
}

#[test]
fn what_is_made_to_take_long_takes_time_in_proportion() {
    let hostile = [
        "password x1 and token y2, secret z; ",
        "pass,api_key|token\t",
        "password=\"",
        "password='",
        "-----BEGIN PRIVATE KEY-----",
        "PRIVATE KEY",
        "://a:b",
        "sk-",
        "eyJ",
        "eyJaaaaaaaaaa.",
        "%25",
        "QUJD",
        "token:token:",
        "token:\n- ",
        "token: |\n ",
        "token:\n  k3Jd8f\n",
        "Cookie: ‹secret:1› ",
        "Cookie=\"a ",
        "password=[",
        "password=[{",
        "password=(a,",
        "password is ",
        "password: &a ",
        "password = <<E\n",
        "token:\n a: b\n",
        "1: token: |\n",
        "name: token\nvalue: ",
        "curl -u a ",
        "identified with a ",
        "\\",
        "\\u0041",
        "{\"password\":",
        "Bearer ",
        "@",
        "-us1",
        "a.atlasv1.",
        "[",
    ];
    let many = |text: &str, bytes: usize| text.repeat(bytes / text.len());
    let mut slow = Vec::from(hostile);
    slow.retain(|text| !is_in_proportion(|bytes| many(text, bytes).into_bytes()));
    assert!(slow.is_empty(), "{slow:?}");
    let quoted = |bytes| format!("\"{}\"", many("\\\\\\\"", bytes)).into_bytes();
    assert!(is_in_proportion(quoted));
}

#[test]
fn learning_can_go_on() {
    let mut learner = Learner::new(policy());
    learner.frame(StreamId::C2S, b"token=k3Jd8fLq2Wz7Xn5Rb1");
    let mut redactor = learner.finish();
    let mut report = redactor.report();
    let mut said = |redactor: &mut mcpreel_redact::Redactor, raw: &[u8]| {
        String::from_utf8(
            redactor
                .frame(Place::Frame(1), raw, &mut report)
                .into_owned(),
        )
        .unwrap()
    };
    assert_eq!(
        said(&mut redactor, b"k3Jd8fLq2Wz7Xn5Rb1 s3cr3t-value"),
        "‹secret:1› s3cr3t-value"
    );
    let mut learner = redactor.resume();
    learner.frame(StreamId::C2S, b"password=s3cr3t-value");
    let mut redactor = learner.finish();
    assert_eq!(
        said(&mut redactor, b"k3Jd8fLq2Wz7Xn5Rb1 s3cr3t-value"),
        "‹secret:1› ‹secret:2›"
    );
}
