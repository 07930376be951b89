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

fn notify(method: &str, params: &str) -> String {
    line(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{params}}}"#
    ))
}

fn result(result: &str) -> String {
    line(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#))
}

#[test]
fn requests_say_what_they_are_about() {
    for (method, params, expected) in [
        (
            "tools/call",
            r#"{"name":"search_docs","arguments":{"q":"rust"}}"#,
            r#"tools/call search_docs {q:"rust"}"#,
        ),
        (
            "tools/call",
            r#"{"name":"add","arguments":{"a":1,"b":[2,{"c":{"d":1}}],"e":{}}}"#,
            "tools/call add {a:1, b:[2, {…}], e:{}}",
        ),
        ("tools/call", r#"{"name":"now"}"#, "tools/call now"),
        (
            "resources/read",
            r#"{"uri":"file:///a.md"}"#,
            "resources/read file:///a.md",
        ),
        (
            "prompts/get",
            r#"{"name":"review","arguments":{"lang":"rs"}}"#,
            r#"prompts/get review {lang:"rs"}"#,
        ),
        (
            "tasks/get",
            r#"{"taskId":"786512e2-1"}"#,
            "tasks/get 786512e2-1",
        ),
        (
            "completion/complete",
            r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"city","value":"Pa"}}"#,
            "completion/complete p city=Pa",
        ),
        (
            "logging/setLevel",
            r#"{"level":"debug"}"#,
            "logging/setLevel debug",
        ),
        (
            "initialize",
            r#"{"protocolVersion":"2025-11-25","clientInfo":{"name":"inspector","version":"1.0"}}"#,
            "initialize inspector 1.0 / 2025-11-25",
        ),
        (
            "elicitation/create",
            r#"{"message":"Your name?"}"#,
            "elicitation/create Your name?",
        ),
        (
            "sampling/createMessage",
            r#"{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}"#,
            "sampling/createMessage hi",
        ),
        ("acme/do", r#"{"name":"it","x":1}"#, "acme/do it"),
        ("ping", "{}", "ping"),
    ] {
        assert_eq!(call(method, params), expected);
    }
}

#[test]
fn notifications_are_told_in_words() {
    for (method, params, expected) in [
        (
            "progress",
            r#"{"progressToken":1,"progress":40,"total":100,"message":"indexing"}"#,
            "progress 40/100 indexing",
        ),
        (
            "progress",
            r#"{"progressToken":1,"progress":0.5}"#,
            "progress 0.5",
        ),
        (
            "message",
            r#"{"level":"warning","logger":"db","data":"slow\n  query"}"#,
            "log warning db: slow query",
        ),
        (
            "message",
            r#"{"level":"info","data":{"a":1}}"#,
            "log info: {a:1}",
        ),
        (
            "cancelled",
            r#"{"requestId":7,"reason":"too late"}"#,
            "cancelled 7: too late",
        ),
        ("cancelled", r#"{"requestId":7}"#, "cancelled 7"),
        (
            "resources/updated",
            r#"{"uri":"file:///a"}"#,
            "resources/updated file:///a",
        ),
        (
            "tasks/status",
            r#"{"taskId":"786512e2-0000-4000-8000-000000000000","status":"working"}"#,
            "task 786512e2 working",
        ),
        ("initialized", "{}", "initialized"),
    ] {
        assert_eq!(notify(method, params), expected);
    }
}

#[test]
fn responses_say_what_came_back() {
    for (json, expected) in [
        (
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"everything","version":"2.0.0"}}"#,
            "everything 2.0.0 / 2025-11-25",
        ),
        (
            r#"{"resultType":"complete","supportedVersions":["2025-11-25","2026-07-28"],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}"#,
            "s 1 / 2025-11-25, 2026-07-28",
        ),
        (r#"{"tools":[{},{}]}"#, "2 tools"),
        (r#"{"tools":[{}],"nextCursor":"x"}"#, "1 tool, more to come"),
        (r#"{"roots":[]}"#, "0 roots"),
        (
            r#"{"content":[{"type":"image","mimeType":"image/png","data":"x"},{"type":"text","text":"a\nb"}]}"#,
            "a b",
        ),
        (
            r#"{"content":[{"type":"image","mimeType":"image/png","data":"x"}]}"#,
            "image image/png",
        ),
        (r#"{"content":[],"structuredContent":{"sum":3}}"#, "{sum:3}"),
        (
            r#"{"contents":[{"uri":"file:///a","text":"hello"}]}"#,
            "hello",
        ),
        (
            r#"{"content":[{"type":"text","text":"no such file"}],"isError":true}"#,
            "tool error: no such file",
        ),
        (
            r#"{"resultType":"input_required","inputRequests":{"name":{},"age":{}}}"#,
            "input required: name, age",
        ),
        (
            r#"{"task":{"taskId":"786512e2-0000-4000-8000-000000000000","status":"working"}}"#,
            "task 786512e2 working",
        ),
        (
            r#"{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}"#,
            "hi",
        ),
        (r#"{"action":"accept","content":{"a":1}}"#, "accept"),
        (r#"{"action":"decline"}"#, "decline"),
        (r#"{"completion":{"values":["a"]}}"#, "1 value"),
        ("{}", "ok"),
        (r#"{"resultType":"complete","_meta":{}}"#, "ok"),
        (r#"{"pong":true}"#, "{pong:true}"),
    ] {
        assert_eq!(result(json), expected, "{json}");
    }
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool"}}"#;
    assert_eq!(line(error), "error -32602 Unknown tool");
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
fn the_answer_of_a_call_that_went_well_is_not_told() {
    // The recording does not even look it up.
    assert!(!tells_answer("tools/call", true));
    assert!(tells_answer("tools/call", false) && tells_answer("tools/list", true));
}

#[test]
fn lines_are_cut_at_a_character() {
    let long = "é".repeat(500);
    let line = result(&format!(
        r#"{{"content":[{{"type":"text","text":"{long}"}}]}}"#
    ));
    assert_eq!(line.chars().count(), LINE_CHARS);
    assert!(line.ends_with("é…"));
    let exact = "é".repeat(LINE_CHARS);
    let line = result(&format!(
        r#"{{"content":[{{"type":"text","text":"{exact}"}}]}}"#
    ));
    assert_eq!(line, exact);
    let method = "m".repeat(500);
    let both = exchange(&method, &method, Some(Answer::Other("tool error: why")));
    assert!(both.ends_with("… → tool error: why"), "{both}");
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
