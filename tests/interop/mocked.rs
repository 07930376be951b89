//! A client whose session was recorded, run again with the mock of it: it sees the same, and asks
//! for nothing that is not on record.

use crate::http_peers::{free_port, listening, proxy, server};
use crate::interop_session::{Session, record};
use crate::peers::{
    Client, EVERYTHING, HAD_AGAIN, NOTES_PYTHON, NOTES_TYPESCRIPT, PYTHON_SDK, Server,
    TYPESCRIPT_V1, TYPESCRIPT_V2,
};
use crate::same::difference;
use crate::support::{self, Library, MCPREEL, wait_for};
use serde_json::Value;
use std::path::Path;

#[test]
fn a_recorded_client_sees_the_same_with_the_mock_of_its_session() {
    let mut complaints = Vec::new();
    for (client, mode, servers) in HAD_AGAIN {
        complaints.extend(mocked(client, mode, servers));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// A client that knows its server asks for less than one that is new to it.
#[test]
fn a_client_that_asks_which_versions_there_are_is_served_from_a_session_that_did_not() {
    let mut session = record(&TYPESCRIPT_V2, "known", &[&NOTES_TYPESCRIPT]).swap_remove(0);
    let methods = |session: &Session| {
        let exchanges = session.json(&["show", "--exchanges"]);
        let methods = exchanges.iter().filter_map(|it| it["method"].as_str());
        methods.map(str::to_owned).collect::<Vec<_>>()
    };
    // Both clients start a server that they ask for its versions, and another one for the session:
    // each gets the mock of the session.
    let last = session.recordings.pop().expect("it is on record");
    session.recordings = vec![last.clone(), last];
    assert!(!methods(&session).iter().any(|it| it == "server/discover"));
    session.mode = "auto";
    let mut seen = session.again(&mock(&session));
    let mut before = session.seen.clone();
    forget_progress(&mut seen);
    forget_progress(&mut before);
    let ends = ends(&session);
    for what in ["version", "tools", "resources", "calls"] {
        assert_eq!(seen[what], before[what], "{ends:?}");
    }
}

/// Clients with a URL, and the servers whose recordings are served to them: made over pipes, and over HTTP.
#[test]
fn a_client_over_http_sees_the_same_with_the_mock_of_any_recording() {
    for (client, mode, server) in [
        (&PYTHON_SDK, "auto", &NOTES_PYTHON),
        (&PYTHON_SDK, "legacy", &EVERYTHING),
        (&TYPESCRIPT_V1, "legacy", &NOTES_TYPESCRIPT),
    ] {
        let session = record(client, mode, &[server]).swap_remove(0);
        let recording = session.recordings.last().expect("it is on record");
        assert_eq!(
            mocked_over_http(&session, &session.library, recording, &session.seen),
            None
        );
    }
    for (client, mode) in [(&PYTHON_SDK, "legacy"), (&TYPESCRIPT_V1, "legacy")] {
        let session = record(client, mode, &[&EVERYTHING]).swap_remove(0);
        let port = free_port();
        let _running = server("everything:streamableHttp", port);
        let library = Library::new();
        let (recorder, ours) = proxy(&format!("http://127.0.0.1:{port}/mcp"), &library);
        let seen = session.again(&[ours]);
        assert!(recorder.interrupt().success());
        let recording = &library.recordings()[0];
        assert_eq!(mocked_over_http(&session, &library, recording, &seen), None);
    }
}

/// Where the session of a client with the mock of a recording of this library differs from what was `seen`.
fn mocked_over_http(
    session: &Session,
    library: &Library,
    recording: &Path,
    seen: &Value,
) -> Option<String> {
    let recording = recording.to_string_lossy();
    let words = ["mock", &recording, "--assert-no-miss", "--assert-all-used"];
    let (mock, url) = listening(library, &words);
    let (mut again, mut seen) = (session.again(&[url]), seen.clone());
    if session.client.name.starts_with("typescript") {
        forget_progress(&mut again);
        forget_progress(&mut seen);
    }
    let end = mock.interrupt();
    difference(&session.name(), &again, &seen)
        .or_else(|| (!end.success()).then(|| format!("{}: {end}", session.name())))
}

/// What a client sees otherwise, or asks besides.
fn mocked(client: &'static Client, mode: &'static str, servers: &[&'static Server]) -> Vec<String> {
    let mut complaints = Vec::new();
    for session in record(client, mode, servers) {
        let mut seen = session.again(&mock(&session));
        let mut before = session.seen.clone();
        if client.name.starts_with("typescript") {
            forget_progress(&mut seen);
            forget_progress(&mut before);
        }
        let (name, ends) = (session.name(), ends(&session));
        support::note(format_args!("{name}: {ends:?}"));
        if seen != before {
            complaints.push(format!("{name} saw {seen:#}\nnot {before:#}\n{ends:?}"));
        }
        let [recorded, mocked] = ["live", "mock"].map(|origin| progress(&session, origin));
        if recorded != mocked {
            complaints.push(format!("{name}: progress {mocked}, recorded {recorded}"));
        }
        // A client may end its server by a signal, of which the code says nothing.
        let clean = |(code, said): &(i64, String)| *code <= 0 && !said.contains("--assert");
        if !ends.iter().all(clean) || ends.len() != session.recordings.len() {
            complaints.push(format!("{name}: {ends:?}"));
        }
    }
    complaints
}

/// The SDKs in TypeScript hand progress on a moment after they have read it, and forget who wanted
/// it as soon as the answer is read: where both come at once, nobody hears of it.
fn forget_progress(seen: &mut Value) {
    let calls = seen["calls"].as_array_mut();
    for call in calls.into_iter().flatten() {
        if let Some(call) = call.as_object_mut() {
            call.remove("steps");
        }
    }
}

/// How often the recordings of this origin tell of progress.
fn progress(session: &Session, origin: &str) -> usize {
    let recordings = session.library.json(&["ls"]);
    let of_origin = recordings.iter().filter(|it| it["origin"] == origin);
    let count = |recording: &Value| {
        let id = recording["id"].as_str().expect("it has an id");
        let frames = session.library.json(&["show", id, "--frames"]);
        let told = |frame: &&Value| {
            let text = frame["text"].as_str().unwrap_or_default();
            frame["stream"] == "s2c" && text.contains("notifications/progress")
        };
        frames.iter().filter(told).count()
    };
    of_origin.map(count).sum()
}

/// The mock of a session. A client that started its server several times starts the mock of one
/// recording after the other.
fn mock(session: &Session) -> Vec<String> {
    let library = session.library.path().to_string_lossy();
    let list = session.recordings.iter().map(|it| it.to_string_lossy());
    let list: Vec<_> = list.map(|path| format!("'{path}'")).collect();
    let (list, count) = (list.join(" "), format!("{library}/started"));
    let script = format!(
        "echo >> '{count}'; n=$(wc -l < '{count}'); shift $((n - 1)); \
         exec '{MCPREEL}' mock --dir '{library}' --assert-no-miss --assert-all-used \"$1\""
    );
    let words = format!("set -- {list}; {script}");
    ["sh", "-c", &words].map(str::to_owned).to_vec()
}

/// How each mock ended, and its last words.
fn ends(session: &Session) -> Vec<(i64, String)> {
    let mocks = wait_for("the end of the mocks", || {
        let recordings = session.library.json(&["ls"]);
        let is_over = |recording: &Value| recording["state"] != "live";
        recordings.iter().all(is_over).then_some(recordings)
    });
    let mocks = mocks
        .iter()
        .filter(|recording| recording["origin"] == "mock");
    let end = |recording: &Value| {
        let id = recording["id"].as_str().expect("it has an id");
        let events = session.library.json(&["show", id, "--events"]);
        let exit = events.iter().find(|event| event["kind"] == "exit");
        let code = exit.and_then(|exit| exit["code"].as_i64());
        let frames = session.library.json(&["show", id, "--frames"]);
        let said = frames.iter().filter(|frame| frame["stream"] == "stderr");
        let said = said.map(|frame| frame["text"].as_str().unwrap_or_default().to_owned());
        (code.unwrap_or(-1), said.collect::<Vec<_>>().join(" "))
    };
    mocks.map(end).collect()
}
