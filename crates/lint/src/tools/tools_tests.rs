use crate::Finding;
use crate::lint_tests::all_findings;
use mcpreel_trace::frame::{Seq, StreamId};
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
            .ends_with("; and 9999 more in this frame")
    );
    // The schema of the last one is there, and the value does not fit.
    assert_eq!(of("tool-args-invalid").len(), 1);
    assert!(found.iter().all(|finding| finding.frame != Some(Seq(4))));
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
