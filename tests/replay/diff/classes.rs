//! How bad each kind of difference is, and what is no difference.

use super::made::Story;
use super::{Compared, code, compared, diff, recorded, text};

/// A session in which one call is answered so.
fn answered(result: &str) -> Story {
    Story::new().call("weather", "{}", result)
}

fn beside(left: &str, right: &str, args: &[&str]) -> Compared {
    compared(&answered(left), &answered(right), args)
}

#[test]
fn each_kind_of_difference_has_its_class() {
    for (left, right, said) in [
        (r#"{"a":1}"#, r#"{"a":2}"#, "changed result.a"),
        (
            r#"{"a":"x\ny"}"#,
            r#"{"a":"x\nz"}"#,
            "changed result.a line 2",
        ),
        (r#"{"a":1}"#, r#"{"a":"1"}"#, "breaking result.a"),
        (r#"{"a":1}"#, "{}", "breaking result.a"),
        ("{}", r#"{"a":1}"#, "added result.a"),
        (r#"{"a":[1]}"#, r#"{"a":[1,2]}"#, "added result.a[1]"),
        (
            "{}",
            r#"{"isError":true}"#,
            "breaking result.isError the call fails now",
        ),
    ] {
        let found = beside(left, right, &[]);
        assert_eq!(found.said(), [said], "{left} {right}");
        assert_eq!(found.code, i32::from(!said.starts_with("added")), "{said}");
    }
}

#[test]
fn an_error_instead_of_a_result_is_breaking_and_the_reverse_is_not() {
    let ok = answered("{}");
    let error = Story::new().exchange(
        "tools/call",
        r#"{"name":"weather","arguments":{}}"#,
        r#""error":{"code":-32603,"message":"no"}"#,
    );
    let found = compared(&ok, &error, &[]);
    assert_eq!(
        found.said(),
        ["breaking result an error instead of a result"]
    );
    let found = compared(&error, &ok, &[]);
    assert_eq!(found.said(), ["changed error a result instead of an error"]);
    let silent = Story::new().request("tools/call", r#"{"name":"weather","arguments":{}}"#);
    let found = compared(&ok, &silent, &[]);
    assert_eq!(found.said(), ["breaking  no answer any more"]);
}

#[test]
fn what_the_server_asks_and_notifies_is_compared_as_well() {
    let asks = |message: &str| {
        Story::new()
            .server(&format!(
                r#"{{"jsonrpc":"2.0","id":"s1","method":"elicitation/create","params":{{"message":"{message}"}}}}"#
            ))
            .client(r#"{"jsonrpc":"2.0","id":"s1","result":{"action":"cancel"}}"#)
    };
    let found = compared(&asks("which city"), &asks("which town"), &[]);
    assert_eq!(found.said(), ["changed params.message"]);
    let found = compared(&asks("which city"), &Story::new(), &[]);
    assert_eq!(found.said(), ["changed elicitation/create never-asked"]);
    let notifies = |methods: &[&str]| {
        let line = |method| format!(r#"{{"jsonrpc":"2.0","method":"notifications/{method}"}}"#);
        methods
            .iter()
            .fold(Story::new(), |story, method| story.server(&line(method)))
    };
    let [tools, prompts] = ["tools/list_changed", "prompts/list_changed"];
    let both = notifies(&[tools, prompts]);
    assert_eq!(
        compared(&both, &notifies(&[prompts, tools, "message"]), &[]).said(),
        [""; 0]
    );
    let found = compared(&both, &notifies(&[prompts, prompts]), &[]);
    let texts = found.rows[1..]
        .iter()
        .map(|row| row["text"].as_str().unwrap_or_default());
    assert!(texts.eq(["came once, and does no more", "came twice, was once"]));
}

/// A session in which a task is made and asked about, which is answered so each time.
fn polled(answers: &[&str]) -> Story {
    let made = r#"{"task":{"taskId":"t-1","status":"working"}}"#;
    let call = r#"{"name":"long","task":{}}"#;
    let story = Story::new().result("tools/call", call, made);
    answers.iter().fold(story, |story, answer| {
        let task = format!(r#"{{"taskId":"t-1",{answer}}}"#);
        story.result("tasks/get", r#"{"taskId":"t-1"}"#, &task)
    })
}

/// Once a client that asked less often than another one seemed to be of another server.
#[test]
fn how_often_a_task_is_asked_about_while_it_is_at_work_is_no_difference() {
    let reads = r#""status":"working","statusMessage":"reads""#;
    let writes = r#""status":"working","statusMessage":"writes""#;
    let (done, failed) = (r#""status":"completed""#, r#""status":"failed""#);
    let long = polled(&[reads, reads, writes, done]);
    for other in [polled(&[writes, done]), polled(&[done])] {
        for [left, right] in [[&long, &other], [&other, &long]] {
            let found = compared(left, right, &[]);
            assert_eq!((found.code, found.said()), (0, vec![]));
            assert!(found.count("noise") > 0, "it is counted");
        }
    }
    let found = compared(&long, &polled(&[reads, failed]), &[]);
    assert_eq!(
        (found.code, found.said()),
        (1, vec!["changed result.status".into()])
    );
}

/// A session of the modern era in which two rounds of input are asked for and given.
fn rounds([a, b, c]: [&str; 3]) -> Story {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    let asks = |key: &str, what: &str| {
        format!(r#""{key}":{{"method":"elicitation/create","params":{{"message":"{what}?"}}}}"#)
    };
    let answer = |key: &str, action: &str| format!(r#""{key}":{{"action":"{action}"}}"#);
    let call = |story: Story, given: &[String], result: &str| {
        let responses = match given.join(",") {
            none if none.is_empty() => none,
            all => format!(r#""inputResponses":{{{all}}},"#),
        };
        let params = format!(r#"{{"name":"plan",{responses}{meta}}}"#);
        story.result("tools/call", &params, result)
    };
    let round = |asked: &[String]| {
        let asked = asked.join(",");
        format!(r#"{{"resultType":"input_required","inputRequests":{{{asked}}}}}"#)
    };
    let story = call(
        Story::silent(),
        &[],
        &round(&[asks(a, "who"), asks(b, "when")]),
    );
    let both = [answer(a, "accept"), answer(b, "decline")];
    let story = call(story, &both, &round(&[asks(c, "where")]));
    let result = r#"{"resultType":"complete","content":[]}"#;
    call(story, &[answer(c, "accept")], result)
}

/// Once keys that a server makes up were gone and added, which is breaking.
#[test]
fn under_which_keys_a_server_asks_for_input_is_no_difference() {
    let left = rounds(["a", "b", "c"]);
    let found = compared(&left, &rounds(["k1", "k2", "k3"]), &[]);
    assert_eq!((found.code, found.said()), (0, vec![]));
    // The same keys, the other way round.
    let found = compared(&left, &rounds(["b", "a", "b"]), &[]);
    assert_eq!((found.code, found.said()), (0, vec![]));
    let library = recorded(&left, &rounds(["k1", "k2", "k3"]));
    for frame in [1, 3, 5] {
        let both = [format!("7f3a#{frame}"), format!("c04d#{frame}")];
        let output = diff(&library, &[&both[0], &both[1]]);
        assert_eq!(code(&output), 0, "{}", text(&output.stdout));
    }
}
