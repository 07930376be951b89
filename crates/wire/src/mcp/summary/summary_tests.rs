//! What people read for each kind of message.

use super::*;
use crate::message::{Body, classify};

fn line(frame: &str) -> String {
    let content = classify(format!("{frame}\n").as_bytes());
    content.messages[0].summary.clone()
}

fn call(method: &str, params: &str) -> String {
    line(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#
    ))
}

fn joined(request: &str, response: &str) -> String {
    let request = classify(request.as_bytes()).messages.remove(0);
    let response = classify(response.as_bytes()).messages.remove(0);
    let (Body::Request(call), Body::Response(answer)) = (&request.body, &response.body) else {
        panic!("a request and a response");
    };
    exchange(
        &call.method,
        &request.summary,
        Some(Answer::new(&answer.outcome, &response.summary)),
    )
}

#[test]
fn of_a_traceback_the_fault_is_told() {
    let traceback = r#"{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":"Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    g()\nOperationalError: no slots\nDETAIL: all 8 are taken\n"}]}}"#;
    assert_eq!(line(traceback), "tool error: OperationalError: no slots");
}

#[test]
fn an_exchange_tells_its_outcome_where_that_is_the_news() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_docs","arguments":{"q":"rust"}}}"#;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"c","version":"1"}}}"#;
    let ok = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"x"}]}}"#;
    let tools = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{}]}}"#;
    let server = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"everything","version":"2.0.0"}}}"#;
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool"}}"#;
    assert_eq!(joined(call, ok), r#"tools/call search_docs {q:"rust"}"#);
    assert_eq!(
        joined(call, error),
        r#"tools/call search_docs {q:"rust"} → error -32602 Unknown tool"#
    );
    assert_eq!(joined(list, tools), "tools/list → 1 tool");
    assert_eq!(
        joined(initialize, server),
        "initialize → everything 2.0.0 / 2025-11-25"
    );
    assert_eq!(exchange("tools/list", "tools/list", None), "tools/list");
}

#[test]
fn hostile_values_stay_short() {
    let deep = format!("{}{}", "[".repeat(400), "]".repeat(400));
    assert!(
        call(
            "tools/call",
            &format!(r#"{{"name":"x","arguments":{deep}}}"#)
        )
        .len()
            < 100
    );
    let wide = format!("[{}1]", "1,".repeat(10_000));
    assert!(
        call(
            "tools/call",
            &format!(r#"{{"name":"x","arguments":{wide}}}"#)
        )
        .chars()
        .count()
            <= LINE_CHARS
    );
}
