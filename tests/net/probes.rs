//! Requests that only find out what the server speaks have the status `probe` once that is found.

use crate::wire;
use mcpreel_lint::cause::causes;
use mcpreel_trace::exchange::{ExchangeId, Status};

const ACCEPT: &str = "> Accept: application/json, text/event-stream\n";
const JSON: &str = "< Content-Type: application/json\n<\n";
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
const RESULT: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
const OLD_RESULT: &str = r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;

fn initialize(target: &str) -> String {
    format!(
        r#"> POST {target}
{ACCEPT}>
> request 0 initialize {{"protocolVersion":"2025-11-25","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}
"#
    )
}

/// A request of the modern era.
fn modern(id: u32, method: &str) -> String {
    format!(
        "> POST /mcp\n{ACCEPT}> MCP-Protocol-Version: 2026-07-28\n> Mcp-Method: {method}\n>\n\
         > request {id} {method} {{{META}}}\n"
    )
}

/// The rest of the handshake of streamable HTTP.
fn opened() -> String {
    let initialize = initialize("/mcp");
    format!(
        "{initialize}< 200\n< Mcp-Session-Id: s1\n{JSON}< result 0 {RESULT}\n\
         > POST /mcp\n{ACCEPT}> Mcp-Session-Id: s1\n> MCP-Protocol-Version: 2025-11-25\n>\n\
         > notify notifications/initialized\n< 202\n"
    )
}

/// A stream of HTTP+SSE with a handshake that is answered with `answer`.
fn events(answer: &str) -> String {
    let (initialize, confirm) = (
        initialize("/messages"),
        "> notify notifications/initialized",
    );
    format!(
        "2> GET /mcp\n2> Accept: text/event-stream\n2< 200\n2< Content-Type: text/event-stream\n2<\n\
         2< endpoint /messages\n{initialize}< 202\n2< more\n2< {answer}\n\
         > POST /messages\n>\n{confirm}\n< 202\n"
    )
}

/// The statuses of the requests, the errors that rules found, the best cause, and how many calls failed.
fn told(case: &str) -> (Vec<Status>, Vec<String>, &'static str, u64) {
    let dir = tempfile::tempdir().unwrap();
    let recording = wire::told(dir.path(), case);
    let calls = recording.exchanges(ExchangeId(0), 100).unwrap();
    let errors = recording.findings(0).unwrap().into_iter();
    let errors = errors.filter(|it| &*it.severity == "error");
    let facts = recording.facts(None).unwrap();
    (
        calls.iter().map(|call| call.status).collect(),
        errors.map(|it| it.rule.to_string()).collect(),
        causes(&facts)[0].id,
        recording.summary().unwrap().failed,
    )
}

#[test]
fn what_was_refused_before_the_fallback_worked_is_a_probe_and_nothing_is_wrong() {
    let refused = "< 400\n";
    let with_message = format!("< 400\n{JSON}< error 1 -32600\n");
    let cases = [
        [modern(1, "server/discover"), refused.to_owned(), opened()].concat(),
        [modern(1, "tools/list"), refused.to_owned(), opened()].concat(),
        [modern(1, "tools/list"), with_message, opened()].concat(),
        [
            initialize("/mcp"),
            "< 405\n".to_owned(),
            events(&format!("result 0 {OLD_RESULT}")),
        ]
        .concat(),
        [
            initialize("/mcp"),
            "< 404\n< Content-Type: text/html\n<\n< raw <h1>\n".to_owned(),
            events(&format!("result 0 {OLD_RESULT}")),
        ]
        .concat(),
    ];
    for case in cases {
        let (statuses, errors, cause, failed) = told(&case);
        assert_eq!(statuses, [Status::Probe, Status::Ok], "{case}");
        assert_eq!(
            (errors, cause, failed),
            (vec![], "nothing-wrong", 0),
            "{case}"
        );
    }
}

#[test]
fn what_was_refused_has_failed_where_the_fallback_failed_too_or_was_none() {
    let not_found = format!("{}< 404\n", initialize("/mcp"));
    let no_stream = "> GET /mcp\n> Accept: text/event-stream\n< 404\n";
    let refused_again = events("error 0 -32603");
    let login = format!("{}< 401\n{}", initialize("/mcp"), opened());
    for (case, first, cause) in [
        (not_found.clone(), Status::HttpError, "http-refused"),
        (
            not_found.clone() + no_stream,
            Status::HttpError,
            "http-refused",
        ),
        (
            not_found + &refused_again,
            Status::HttpError,
            "http-refused",
        ),
        (
            modern(1, "tools/list") + "< 400\n",
            Status::HttpError,
            "http-refused",
        ),
        (login, Status::HttpError, "only-warnings"),
    ] {
        let (statuses, _, found, failed) = told(&case);
        assert_eq!(statuses[0], first, "{case}");
        assert!(failed > 0, "{case}");
        assert_eq!(found, cause, "{case}");
    }
}
