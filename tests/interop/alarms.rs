//! What the rules and `why` say of sessions without fault is true, and listed in `expected.toml`.

use crate::expected::{self, Expected, Said};
use crate::interop_session::{self, Session};
use crate::peers::{CLIENTS, Client, SERVERS};
use crate::support;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Clients that run at the same time. Most of a session is somebody starting or waiting.
const AT_ONCE: usize = 4;

#[test]
fn nothing_is_called_wrong_that_is_right() {
    let expected = Expected::read();
    let sessions = sessions();
    let found: Vec<_> = sessions.iter().map(findings).collect();
    let named: Vec<_> = sessions.iter().map(causes).collect();
    for (nth, session) in sessions.iter().enumerate() {
        support::note(session.name());
        for said in found[nth].iter().chain(&named[nth]) {
            support::note(format_args!("    {said}"));
        }
    }
    let mut complaints = expected::complaints(&expected.finding, &sessions, &found);
    complaints.extend(expected::complaints(&expected.cause, &sessions, &named));
    let happened: BTreeSet<_> = sessions.iter().flat_map(happened).collect();
    let missing = expected.happens.iter();
    let missing = missing.filter(|what| !happened.contains(what.as_str()));
    complaints.extend(missing.map(|what| format!("{what} never happened")));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Every client in every mode with every server.
fn sessions() -> Vec<Session> {
    let mut asked: Vec<(&Client, &str)> = Vec::new();
    for client in CLIENTS {
        asked.extend(client.modes.iter().map(|mode| (client, *mode)));
    }
    let (asked, had) = (Mutex::new(asked), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = asked.lock().expect("no thread panics in here").pop();
                    let Some((client, mode)) = next else { break };
                    let servers = SERVERS.into_iter().filter(|server| server.has(mode));
                    let sessions =
                        interop_session::record(client, mode, &servers.collect::<Vec<_>>());
                    had.lock()
                        .expect("no thread panics in here")
                        .extend(sessions);
                }
            });
        }
    });
    had.into_inner().expect("no thread panics in here")
}

/// What the rules find that is more than a note, each rule once.
fn findings(session: &Session) -> Vec<Said> {
    let mut findings = session.json(&["show", "--findings"]);
    findings.retain(|finding| finding["severity"] != "note");
    let said = |finding: &Value| Said {
        id: text(&finding["rule"]),
        severity: Some(text(&finding["severity"])),
        text: text(&finding["message"]),
    };
    each_once(findings.iter().map(said))
}

/// What is said to have gone wrong.
fn causes(session: &Session) -> Vec<Said> {
    let mut causes = session.json(&["why"]);
    causes.retain(|cause| cause["cause"] != "nothing-wrong");
    let said = |cause: &Value| Said {
        id: text(&cause["cause"]),
        severity: None,
        text: text(&cause["sentence"]),
    };
    each_once(causes.iter().map(said))
}

fn each_once(said: impl Iterator<Item = Said>) -> Vec<Said> {
    let mut seen = BTreeSet::new();
    said.filter(|said| seen.insert((said.id.clone(), said.text.clone())))
        .collect()
}

/// The methods of requests, and how they ended.
fn happened(session: &Session) -> Vec<String> {
    let exchanges = session.json(&["show", "--exchanges"]);
    let words = |exchange: &Value| [text(&exchange["method"]), text(&exchange["status"])];
    exchanges.iter().flat_map(words).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
