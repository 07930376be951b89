use crate::Finding;
use crate::lint_tests::all_findings;
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_wire::json::Path;
use std::fmt::Write;

/// The findings of this family's rules in a session of these lines: a client's and a server's in
/// turn.
fn findings(lines: &[String]) -> Vec<Finding> {
    let sides = [StreamId::C2S, StreamId::S2C].into_iter().cycle();
    let lines: Vec<_> = sides
        .zip(lines.iter().map(|line| format!("{line}\n")))
        .collect();
    let mut findings = all_findings(&lines);
    findings.retain(|finding| super::RULES.contains(&finding.rule));
    findings
}

fn request(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

fn result(id: u64, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

fn ids(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.rule.id).collect()
}

#[test]
fn a_list_of_ten_thousand_bad_tools_is_told_in_a_few_findings() {
    let mut tools = String::new();
    for at in 0..10_000 {
        let comma = if at > 0 { "," } else { "" };
        let _ = write!(
            tools,
            r#"{comma}{{"name":"t {at}","inputSchema":{{"type":"string"}}}}"#
        );
    }
    let list = || result(1, &format!(r#"{{"tools":[{tools}]}}"#));
    let ask = |id| request(id, "tools/list", "{}");
    let call = request(3, "tools/call", r#"{"name":"t 9999","arguments":{}}"#);
    let again = list().replace("\"id\":1", "\"id\":2");
    let found = findings(&[ask(1), list(), ask(2), again, call]);
    let of = |id| {
        found
            .iter()
            .filter(|finding| finding.rule.id == id)
            .collect::<Vec<_>>()
    };
    let invalid = of("tool-input-schema-invalid");
    assert_eq!(invalid.len(), 20);
    assert!(
        invalid[19]
            .detail
            .ends_with("; and 9980 more in this frame")
    );
    assert!(
        of("tool-description-missing")[0]
            .detail
            .contains("9999 other tools")
    );
    // The schema of the last one is there, and the value does not fit.
    assert_eq!(of("tool-args-invalid").len(), 1);
    assert!(found.iter().all(|finding| finding.frame != Some(Seq(4))));
}

#[test]
fn what_is_not_kept_of_a_list_is_not_called_unknown() {
    let filling = "x".repeat(60_000);
    let tool = |at| {
        let schema = format!(r#"{{"type":"object","title":"{filling}"}}"#);
        format!(r#"{{"name":"t{at}","description":"d","inputSchema":{schema}}}"#)
    };
    let tools: Vec<_> = (0..80).map(tool).collect();
    let list = result(1, &format!(r#"{{"tools":[{}]}}"#, tools.join(",")));
    let call = request(2, "tools/call", r#"{"name":"t79"}"#);
    // Nor is it passed over in silence.
    assert_eq!(
        ids(&findings(&[request(1, "tools/list", "{}"), list, call])),
        ["schema-check-skipped"]
    );
}

#[test]
fn a_path_ends_where_it_would_be_too_long_and_can_be_read_back() {
    let schema = r#"{"type":"object","additionalProperties":{"additionalProperties":false}}"#;
    let list = format!(r#"{{"tools":[{{"name":"t","description":"d","inputSchema":{schema}}}]}}"#);
    let listed = || [request(1, "tools/list", "{}"), result(1, &list)];
    let path = |name: &str| {
        let arguments = format!(r#"{{"name":"t","arguments":{{"{name}":{{"x":1}}}}}}"#);
        let [ask, answer] = listed();
        let found = findings(&[ask, answer, request(2, "tools/call", &arguments)]);
        found[0].path.clone().unwrap()
    };
    assert_eq!(&*path("a"), "params.arguments.a");
    assert_eq!(&*path(&"n".repeat(10_000)), "params.arguments");
    let odd = path("\u{202e}\u{e0041}");
    assert_eq!(&*odd, r#"params.arguments["\u202e\udb40\udc41"]"#);
    assert!(odd.parse::<Path>().is_ok());
}

#[test]
fn compiled_schemas_are_kept_as_long_as_the_list_has_them() {
    let tool = r#"{"name":"t","description":"d","inputSchema":{"type":"object","required":["a"]}}"#;
    let list = |id| result(id, &format!(r#"{{"tools":[{tool}]}}"#));
    let call = |id| request(id, "tools/call", r#"{"name":"t","arguments":{}}"#);
    let refused = |id| result(id, r#"{"content":[],"isError":true}"#);
    let found = findings(&[
        request(1, "tools/list", "{}"),
        list(1),
        call(2),
        refused(2),
        request(3, "tools/list", "{}"),
        list(3),
        call(4),
        refused(4),
    ]);
    assert_eq!(ids(&found), ["tool-args-invalid", "tool-args-invalid"]);
}

#[test]
fn an_answer_is_judged_by_the_definition_that_was_listed_before_its_call() {
    let ask = |id| request(id, "tools/list", "{}");
    let list = |id, kind: &str| {
        let output = format!(r#"{{"type":"object","properties":{{"a":{{"type":"{kind}"}}}}}}"#);
        let input = r#""description":"d","inputSchema":{"type":"object"}"#;
        let tool = format!(r#"{{"name":"t",{input},"outputSchema":{output}}}"#);
        result(id, &format!(r#"{{"tools":[{tool}]}}"#))
    };
    let call = || request(2, "tools/call", r#"{"name":"t","arguments":{}}"#);
    let content = r#""content":[{"type":"text","text":"x"}]"#;
    let wrong = || {
        result(
            2,
            &format!(r#"{{{content},"structuredContent":{{"a":1}}}}"#),
        )
    };
    let nothing = || r#"{"jsonrpc":"2.0","method":"notifications/message"}"#.to_owned();
    let first = [ask(1), list(1, "string"), call(), nothing()];
    let second = [ask(3), list(3, "integer")];
    let third = [ask(4), list(4, "number")];
    let told = |pages: &[&[String]]| {
        let mut lines = pages.concat();
        lines.extend([nothing(), wrong()]);
        ids(&findings(&lines))
    };
    assert_eq!(told(&[&first]), ["tool-structured-mismatch"]);
    assert_eq!(told(&[&first, &second]), ["tool-structured-mismatch"]);
    assert_eq!(
        told(&[&first, &second, &third]),
        ["tool-structured-mismatch"]
    );
}
