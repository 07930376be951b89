//! A client sees the same with the recorder in between as without it, and what it did is on record.

use crate::interop_session::{Session, converse, record};
use crate::peers::{
    Client, EVERYTHING, NOTES_FASTMCP, NOTES_PYTHON, NOTES_TYPESCRIPT, PYTHON_FASTMCP, PYTHON_SDK,
    Server, TYPESCRIPT_V1, TYPESCRIPT_V2,
};
use serde_json::{Value, json};

#[test]
fn the_python_sdk_sees_the_same_with_the_recorder() {
    assert_same(&PYTHON_SDK, "auto", &[&EVERYTHING, &NOTES_TYPESCRIPT]);
    assert_same(&PYTHON_SDK, "legacy", &[&EVERYTHING]);
}

#[test]
fn fastmcp_sees_the_same_with_the_recorder() {
    assert_same(&PYTHON_FASTMCP, "auto", &[&EVERYTHING, &NOTES_PYTHON]);
}

#[test]
fn both_typescript_sdks_see_the_same_with_the_recorder() {
    assert_same(&TYPESCRIPT_V1, "legacy", &[&EVERYTHING, &NOTES_FASTMCP]);
    assert_same(&TYPESCRIPT_V2, "auto", &[&EVERYTHING, &NOTES_PYTHON]);
}

fn assert_same(client: &'static Client, mode: &'static str, servers: &[&'static Server]) {
    let without = converse(client, mode, servers);
    for (with, without) in record(client, mode, servers).iter().zip(&without) {
        assert_eq!(difference(&with.name(), &with.seen, &without.seen), None);
        assert_is_on_record(with);
    }
}

/// Where two conversations differ first: nobody would read them whole.
pub fn difference(at: &str, with: &Value, without: &Value) -> Option<String> {
    let deeper = match (with, without) {
        (Value::Object(with), Value::Object(without)) if with.keys().eq(without.keys()) => {
            let mut pairs = with.iter().zip(without.values());
            pairs.find_map(|((key, with), without)| {
                difference(&format!("{at}.{key}"), with, without)
            })
        }
        (Value::Array(with), Value::Array(without)) if with.len() == without.len() => {
            let mut pairs = with.iter().zip(without).enumerate();
            pairs.find_map(|(nth, (with, without))| {
                difference(&format!("{at}[{nth}]"), with, without)
            })
        }
        _ => None,
    };
    let here = || (with != without).then(|| format!("{at}: {without} became {with}"));
    deeper.or_else(here)
}

/// Every call that the client made, how it ended, and how the server was started.
fn assert_is_on_record(session: &Session) {
    let exchanges = session.json(&["show", "--exchanges"]);
    let count = |status: &str| {
        let of_call = exchanges.iter().filter(|one| one["method"] == "tools/call");
        of_call.filter(|one| one["status"] == status).count()
    };
    let calls = session.seen["calls"].as_array().expect("it called tools");
    let failed = calls.iter().filter(|call| call["isError"] == true).count();
    let cancelled = count("cancelled") + count("user-cancelled");
    assert_eq!(
        (count("tool-error"), cancelled),
        (failed, 1),
        "{exchanges:#?}"
    );
    // What the server asked before it went on is a call of its own in the modern era, and
    // subscriptions are tried with a call.
    assert!(count("ok") + failed >= calls.len(), "{exchanges:#?}");
    for status in ["open", "lost", "unanswered", "late", "given-up"] {
        assert_eq!(count(status), 0, "{exchanges:#?}");
    }
    for recording in session.library.json(&["ls"]) {
        assert_eq!(recording["command"], json!(session.command()));
    }
}
