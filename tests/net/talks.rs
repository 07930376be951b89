//! Several clients, sessions and connections at once, told by hand: each message belongs where it was meant.

use crate::wire;
use mcpreel_lint::cause::causes;
use mcpreel_store::reader::Recording;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_wire::message::Direction;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

/// A POST on this connection, with the headers of a session where `session` names one.
fn post(connection: u32, session: &str, message: &str) -> String {
    let mut head = vec!["POST /mcp".to_owned()];
    head.push("Accept: application/json, text/event-stream".to_owned());
    if !session.is_empty() {
        head.push(format!("Mcp-Session-Id: {session}"));
        head.push("MCP-Protocol-Version: 2025-11-25".to_owned());
    }
    head.extend([String::new(), message.to_owned()]);
    let lines = head.iter().map(|line| format!("{connection}> {line}\n"));
    lines.collect()
}

fn json(connection: u32, head: &str, message: &str) -> String {
    let sign = format!("{connection}<");
    let head = if head.is_empty() {
        String::new()
    } else {
        format!("{sign} {head}\n")
    };
    format!("{sign} 200\n{head}{sign} Content-Type: application/json\n{sign}\n{sign} {message}\n")
}

/// The handshake of a client, and the session that the server assigns.
fn begin(connection: u32, session: &str) -> String {
    let initialize = r#"request 0 initialize {"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}"#;
    let result = r#"result 0 {"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
    let assigns = format!("Mcp-Session-Id: {session}");
    let confirm = post(connection, session, "notify notifications/initialized");
    [
        post(connection, "", initialize),
        json(connection, &assigns, result),
        format!("{confirm}{connection}< 202\n"),
    ]
    .concat()
}

fn text(text: &str) -> String {
    format!(r#"result 1 {{"content":[{{"type":"text","text":"{text}"}}]}}"#)
}

fn told(case: &str) -> (Recording, Vec<Exchange>, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let recording = wire::told(dir.path(), case);
    let calls = recording.exchanges(ExchangeId(0), 100).unwrap();
    (recording, calls, dir)
}

/// Two calls with one id, the first of which is answered last: each has its own answer.
fn assert_answers_are_not_exchanged(case: &str, conversations: [u32; 2]) {
    let (recording, mut calls, _dir) = told(case);
    calls.retain(|call| &*call.method == "tools/call");
    assert_eq!(calls.len(), 2);
    for (call, conversation) in calls.iter().zip(conversations) {
        assert_eq!((call.status, call.conversation), (Status::Ok, conversation));
        let (answer, _) = call.response.unwrap();
        let answer = String::from_utf8(recording.raw(answer).unwrap()).unwrap();
        let asked = call.name.as_deref().unwrap();
        assert!(answer.contains(&format!(r#""text":"{asked}""#)), "{answer}");
    }
    assert!(calls[0].latency_ns() > calls[1].latency_ns());
    let findings = recording.findings(0).unwrap();
    let errors = findings.iter().filter(|it| &*it.severity == "error");
    assert_eq!(errors.count(), 0, "{findings:?}");
}

#[test]
fn two_clients_with_sessions_count_from_the_same_id() {
    let case = [
        begin(1, "s1"),
        begin(2, "s2"),
        post(4, "s1", r#"request 1 tools/call {"name":"slow"}"#),
        post(3, "s2", r#"request 1 tools/call {"name":"fast"}"#),
        "after 100\n".to_owned(),
        json(3, "", &text("fast")),
        "after 300\n".to_owned(),
        json(4, "", &text("slow")),
    ];
    assert_answers_are_not_exchanged(&case.concat(), [1, 2]);
}

/// They look alike, and there is no session: what HTTP pairs is told apart all the same.
#[test]
fn two_clients_of_the_newer_era_count_from_the_same_id() {
    let call = |connection: u32, name: &str| {
        let sign = format!("{connection}>");
        let message = format!(r#"request 1 tools/call {{"name":"{name}",{META}}}"#);
        let head = format!(
            "{sign} MCP-Protocol-Version: 2026-07-28\n{sign} Mcp-Method: tools/call\n{sign} Mcp-Name: {name}\n"
        );
        let first = format!("{sign} POST /mcp\n");
        post(connection, "", &message).replacen(&first, &format!("{first}{head}"), 1)
    };
    let answer =
        |name: &str| text(name).replace("{\"content", "{\"resultType\":\"complete\",\"content");
    let case = [
        call(1, "slow"),
        call(2, "fast"),
        "after 100\n".to_owned(),
        json(2, "", &answer("fast")),
        "after 300\n".to_owned(),
        json(1, "", &answer("slow")),
    ];
    assert_answers_are_not_exchanged(&case.concat(), [1, 1]);
}

#[test]
fn what_the_server_asks_on_its_stream_is_answered_on_another_connection() {
    let stream = "2> GET /mcp\n2> Accept: text/event-stream\n2> Mcp-Session-Id: s1\n\
        2> MCP-Protocol-Version: 2025-11-25\n2< 200\n2< Content-Type: text/event-stream\n2<\n";
    let asks = r#"2< request 7 elicitation/create {"message":"sure?","requestedSchema":{"type":"object","properties":{}}}"#;
    let case = [
        begin(1, "s1"),
        format!("{stream}{asks}\nafter 250\n"),
        post(3, "s1", r#"result 7 {"action":"decline"}"#),
        "3< 202\n".to_owned(),
    ];
    let (recording, calls, _dir) = told(&case.concat());
    let asked = calls.last().unwrap();
    assert_eq!(asked.direction, Direction::ServerToClient);
    assert_eq!((asked.status, asked.conversation), (Status::Ok, 1));
    assert!((250_000_000..260_000_000).contains(&asked.latency_ns().unwrap()));
    let connection = |frame| recording.head(frame).unwrap().unwrap().stream.connection();
    assert_eq!(connection(asked.request.0), Some(2));
    assert_eq!(connection(asked.response.unwrap().0), Some(3));
    let findings = recording.findings(0).unwrap();
    let errors = findings.iter().filter(|it| &*it.severity == "error");
    assert_eq!(errors.count(), 0, "{findings:?}");
}

/// A server that was restarted: the client learns it by 404, and begins a new session.
#[test]
fn a_session_that_is_begun_anew_is_a_conversation_of_its_own() {
    let case = [
        begin(1, "s1"),
        post(1, "s1", "request 1 ping"),
        json(1, "", "result 1"),
        "close server\nlose tcp 127.0.0.1:3000: Connection refused\nafter 2000\n".to_owned(),
        format!("{}2< 404\n", post(2, "s1", "request 2 ping")),
        begin(2, "s2"),
        post(3, "s2", "request 3 ping"),
        json(3, "", "result 3"),
    ];
    let (recording, calls, _dir) = told(&case.concat());
    let told = calls
        .iter()
        .map(|it| (&*it.method, it.status, it.conversation));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            ("initialize", Status::Ok, 1),
            ("ping", Status::Ok, 1),
            ("ping", Status::HttpError, 1),
            ("initialize", Status::Ok, 2),
            ("ping", Status::Ok, 2),
        ]
    );
    let facts = recording.facts(None).unwrap();
    let found: Vec<_> = causes(&facts).iter().map(|it| it.id).collect();
    assert_eq!(found, ["session-renewed"]);
}

/// Once the summary of a session was that of a client that came later and was refused.
#[test]
fn the_summary_is_of_the_last_client_that_was_answered() {
    let other = r#"request 0 initialize {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"other","version":"1"}}"#;
    let case = [begin(1, "s1"), post(2, "", other), "2< 502\n".to_owned()];
    let (recording, ..) = told(&case.concat());
    let session = recording.summary().unwrap().session;
    assert_eq!(session.client.name.as_deref(), Some("c"));
    assert_eq!(session.server.name.as_deref(), Some("s"));
}
