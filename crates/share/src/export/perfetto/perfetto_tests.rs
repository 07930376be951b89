use super::*;
use crate::export::{Selection, exported};
use crate::written::{Session, recorded};
use mcpreel_store::reader::Recording;
use mcpreel_trace::frame::StreamId;
use serde_json::Value;

/// The events of the trace of a session.
fn trace(selection: &Selection, session: impl FnOnce(&mut Session)) -> Vec<Value> {
    let dir = tempfile::tempdir().unwrap();
    let reel = recorded(dir.path(), |made| {
        session(made);
        made.end();
    });
    let recording = Recording::open(&reel).unwrap();
    let file = exported(Excerpt::of(&recording, selection), write);
    let mut whole: Value = serde_json::from_slice(&file).unwrap();
    assert_eq!(whole["otherData"]["recording"], "00000001");
    match whole["traceEvents"].take() {
        Value::Array(events) => events,
        other => panic!("{other}"),
    }
}

fn all() -> Selection {
    Selection::between(None, None)
}

fn of<'v>(events: &'v [Value], ph: &str) -> Vec<&'v Value> {
    events.iter().filter(|event| event["ph"] == ph).collect()
}

/// Two calls that overlap, in the second of which the server asks something.
fn overlapping(session: &mut Session) {
    let mut said = |t: u64, stream, message: &str| {
        session.at(t * 1000);
        session.chunk(
            stream,
            format!("{{\"jsonrpc\":\"2.0\",{message}}}\n").as_bytes(),
        );
    };
    let (c2s, s2c) = (StreamId::C2S, StreamId::S2C);
    said(
        10,
        c2s,
        r#""id":1,"method":"tools/call","params":{"name":"a"}"#,
    );
    said(
        20,
        c2s,
        r#""id":2,"method":"tools/call","params":{"name":"b"}"#,
    );
    said(
        30,
        s2c,
        r#""id":1,"method":"elicitation/create","params":{}"#,
    );
    said(40, c2s, r#""id":1,"result":{}"#);
    said(50, s2c, r#""id":1,"error":{"code":-32000,"message":"no"}"#);
    said(60, s2c, r#""id":2,"result":{"content":[]}"#);
    said(70, s2c, r#""method":"notifications/tools/list_changed""#);
    session.at(80_000);
    session.chunk(StreamId::STDERR, b"bye \x1b[2J\n");
}

#[test]
fn exchanges_are_slices_of_the_side_that_asked_paired_by_their_ids() {
    let events = trace(&all(), overlapping);
    let (begins, ends) = (of(&events, "b"), of(&events, "e"));
    let slices: Vec<_> = begins
        .iter()
        .map(|begin| {
            let is_end = |end: &&&Value| end["id"] == begin["id"] && end["cat"] == begin["cat"];
            let end = ends.iter().find(is_end).unwrap();
            assert_eq!((&end["name"], &end["pid"]), (&begin["name"], &begin["pid"]));
            let name = begin["name"].as_str().unwrap();
            let times = [begin, *end].map(|event| event["ts"].to_string());
            (name, begin["pid"].as_u64().unwrap(), times, &begin["args"])
        })
        .collect();
    assert_eq!(slices.len(), 3);
    let (name, pid, times, args) = &slices[0];
    assert_eq!((*name, *pid), ("tools/call a", 1));
    assert_eq!(*times, ["10.0", "50.0"]);
    assert_eq!(args["seq"], 1);
    assert_eq!(args["status"], "error");
    assert_eq!(args["code"], "-32000");
    assert_eq!(slices[1].2, ["20.0", "60.0"]);
    let (name, pid, times, _) = &slices[2];
    assert_eq!((*name, *pid), ("elicitation/create", 2));
    assert_eq!(*times, ["30.0", "40.0"]);
}

#[test]
fn what_is_no_exchange_is_an_instant_on_a_track_of_its_own() {
    let events = trace(&all(), overlapping);
    let instants: Vec<_> = of(&events, "i")
        .iter()
        .map(|event| {
            let name = event["name"].as_str().unwrap().to_owned();
            (
                name,
                event["cat"].as_str().unwrap(),
                event["args"]["seq"].as_u64(),
            )
        })
        .collect();
    let expected = [
        (
            "notifications/tools/list_changed".to_owned(),
            "notifications",
            Some(7),
        ),
        ("bye \\x1b[2J".to_owned(), "stderr", Some(8)),
    ];
    assert_eq!(instants[..2], expected);
    assert!(
        instants[2]
            .0
            .starts_with("the server ended with exit code 0")
    );
    assert_eq!((instants[2].1, instants[2].2), ("process", None));
    let named: Vec<_> = of(&events, "M")
        .iter()
        .map(|event| &event["name"])
        .collect();
    assert!(named.contains(&&Value::from("process_name")), "{named:?}");
}
