//! Every case through real processes: a recording made by hand, a server that does what its
//! script says, and the real program in between.

use crate::process::{Case, Row, SAME};

const ALL: &str = "--allow-side-effects";

/// The answers that the recorded server gave, given again.
#[track_caller]
fn alike(rows: &[Row<'_>], options: &[&str], script: &[&str]) {
    Case::new(rows).replay(options, script).is(0, &[SAME]);
}

#[test]
fn the_same_request_twice_with_different_answers() {
    let rows = [
        (0, "c2s", r#"request 1 tools/call {"name":"next"}"#),
        (
            1,
            "s2c",
            r#"result 1 {"content":[{"type":"text","text":"one"}]}"#,
        ),
        (2, "c2s", r#"request 2 tools/call {"name":"next"}"#),
        (
            3,
            "s2c",
            r#"result 2 {"content":[{"type":"text","text":"two"}]}"#,
        ),
    ];
    let say = [
        r#"< "id":1"#,
        r#"> result 1 {"content":[{"type":"text","text":"one"}]}"#,
        r#"< "id":2"#,
    ];
    let two = r#"> result 2 {"content":[{"type":"text","text":"two"}]}"#;
    alike(&rows, &[ALL], &[say[0], say[1], say[2], two]);
    let one = r#"> result 2 {"content":[{"type":"text","text":"one"}]}"#;
    let again = Case::new(&rows).replay(&[ALL], &[say[0], say[1], say[2], one]);
    again.is(1, &["#3"]);
}

#[test]
fn three_requests_in_flight_are_answered_in_any_order() {
    let rows = [
        (0, "c2s", "request 1 a"),
        (1, "c2s", "request 2 b"),
        (2, "c2s", "request 3 c"),
        (3, "s2c", "result 2"),
        (4, "s2c", "result 3"),
        (5, "s2c", "result 1"),
    ];
    // The server answers nothing before it has all three.
    let script = [
        r#"< "id":3"#,
        r#"< "id":1"#,
        r#"< "id":2"#,
        "> result 1",
        "> result 2",
        "> result 3",
    ];
    alike(&rows, &[], &script);
}

#[test]
fn one_at_a_time_works_with_a_server_that_cannot_do_more() {
    let rows = [
        (0, "c2s", "request 1 a"),
        (1, "c2s", "request 2 b"),
        (2, "s2c", "result 1"),
        (3, "s2c", "result 2"),
    ];
    let script = [r#"< "id":1"#, "> result 1", r#"< "id":2"#, "> result 2"];
    alike(&rows, &["--order", "serial"], &script);
    alike(&rows, &["--order", "timed", "--speed", "100"], &script);
}

#[test]
fn what_the_server_asks_within_a_call_is_answered_two_at_once_and_after_the_answer() {
    let rows = [
        (0, "c2s", r#"request 1 tools/call {"name":"plan"}"#),
        (
            1,
            "s2c",
            r#"request 1 elicitation/create {"message":"who?"}"#,
        ),
        (
            2,
            "s2c",
            r#"request 2 elicitation/create {"message":"when?"}"#,
        ),
        (
            3,
            "c2s",
            r#"result 1 {"action":"accept","content":{"who":"ada"}}"#,
        ),
        (4, "c2s", r#"result 2 {"action":"decline"}"#),
        (5, "s2c", "result 1"),
        (6, "s2c", "request 3 roots/list"),
        (7, "c2s", r#"result 3 {"roots":[]}"#),
        (8, "c2s", "request 2 b"),
        (9, "s2c", "result 2"),
    ];
    let script = [
        "< plan",
        r#"> request "x" elicitation/create {"message":"when?"}"#,
        r#"< "id":"x","result":{"action":"decline"}"#,
        r#"> request "y" elicitation/create {"message":"who?"}"#,
        r#"< "id":"y","result":{"action":"accept","content":{"who":"ada"}}"#,
        "> result 1",
        r#"> request "z" roots/list"#,
        r#"< "id":"z","result":{"roots":[]}"#,
        r#"< "method":"b""#,
        "> result 2",
    ];
    alike(&rows, &[ALL], &script);
}

#[test]
fn an_elicitation_that_nobody_answered_is_not_answered() {
    let rows = [
        (0, "c2s", r#"request 1 tools/call {"name":"plan"}"#),
        (
            1,
            "s2c",
            r#"request 7 elicitation/create {"message":"who?"}"#,
        ),
        (
            9000,
            "c2s",
            r#"notify notifications/cancelled {"requestId":1}"#,
        ),
        (9001, "c2s", "request 2 ping"),
        (9002, "s2c", "result 2"),
    ];
    let script = [
        "< plan",
        r#"> request 7 elicitation/create {"message":"who?"}"#,
        "< notifications/cancelled",
        "< ping",
        "> result 2",
    ];
    alike(&rows, &[ALL], &script);
}

#[test]
fn a_cancelled_call_may_be_answered_or_not() {
    let rows = [
        (0, "c2s", r#"request 1 tools/call {"name":"slow"}"#),
        (
            500,
            "c2s",
            r#"notify notifications/cancelled {"requestId":1}"#,
        ),
        (501, "c2s", r#"request 2 tools/call {"name":"slow"}"#),
        (502, "s2c", "result 2"),
        (
            503,
            "c2s",
            r#"notify notifications/cancelled {"requestId":2}"#,
        ),
        (504, "c2s", "request 3 ping"),
        (505, "s2c", "result 3"),
    ];
    let answered = [
        r#"< "requestId":1"#,
        "> result 1",
        r#"< "id":2"#,
        "> result 2",
        r#"< "requestId":2"#,
        "< ping",
        "> result 3",
    ];
    let case = Case::new(&rows);
    let now = "slow (#1), given up in the recording, is answered now";
    case.replay(&[ALL], &answered).is(0, &[SAME, now]);
    let unanswered: Vec<_> = answered
        .into_iter()
        .filter(|step| *step != "> result 1")
        .collect();
    let now = "slow (#1), given up in the recording, is not answered now either";
    case.replay(&[ALL], &unanswered).is(0, &[SAME, now]);
}

#[test]
fn progress_without_a_total_may_be_told_as_often_as_it_likes() {
    let call = r#"request 1 tools/call {"name":"a","_meta":{"progressToken":"t"}}"#;
    let step = r#"notify notifications/progress {"progressToken":"t","progress":1}"#;
    let rows = [(0, "c2s", call), (1, "s2c", step), (2, "s2c", "result 1")];
    let more = r#"> notify notifications/progress {"progressToken":"t","progress":2}"#;
    let tell = format!("> {step}");
    alike(&rows, &[ALL], &["< t", &tell, more, more, "> result 1"]);
    let silent = Case::new(&rows).replay(&[ALL], &["< t", "> result 1"]);
    silent.is(1, &["progress was told in the recording, and is not now"]);
    let back = Case::new(&rows).replay(&[ALL], &["< t", more, &tell, "> result 1"]);
    back.is(1, &["progress goes back"]);
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;

#[test]
fn a_chain_of_input_rounds_goes_on_with_live_states_and_keys() {
    let call = format!(r#"request 1 tools/call {{"name":"plan",{META}}}"#);
    let answers = r#""inputResponses":{"a":{"action":"accept"}},"requestState":"s1""#;
    let first = format!(r#"request 2 tools/call {{"name":"plan",{answers},{META}}}"#);
    let second = format!(r#"request 3 tools/call {{"name":"plan","requestState":"s2",{META}}}"#);
    let rows = [
        (0, "c2s", call.as_str()),
        (
            1,
            "s2c",
            r#"result 1 {"resultType":"input_required","requestState":"s1","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"who?"}}}}"#,
        ),
        (2, "c2s", &first),
        (
            3,
            "s2c",
            r#"result 2 {"resultType":"input_required","requestState":"s2"}"#,
        ),
        (4, "c2s", &second),
        (
            5,
            "s2c",
            r#"result 3 {"resultType":"complete","content":[]}"#,
        ),
    ];
    let script = [
        r#"< "id":1"#,
        r#"> result 1 {"resultType":"input_required","requestState":"L1","inputRequests":{"k9":{"method":"elicitation/create","params":{"message":"who?"}}}}"#,
        r#"< "inputResponses":{"k9":{"action":"accept"}},"requestState":"L1""#,
        r#"> result 2 {"resultType":"input_required","requestState":"L2"}"#,
        r#"< "requestState":"L2""#,
        r#"> result 3 {"resultType":"complete","content":[]}"#,
    ];
    let replayed = Case::new(&rows).replay(&[ALL], &script);
    replayed.is(0, &["3 of 3 requests"]);
}

#[test]
fn an_input_round_that_is_not_needed_any_more_is_not_gone_through() {
    let call = format!(r#"request 1 tools/call {{"name":"plan",{META}}}"#);
    let again = format!(r#"request 2 tools/call {{"name":"plan","requestState":"s1",{META}}}"#);
    let rows = [
        (0, "c2s", call.as_str()),
        (
            1,
            "s2c",
            r#"result 1 {"resultType":"input_required","requestState":"s1"}"#,
        ),
        (2, "c2s", &again),
        (
            3,
            "s2c",
            r#"result 2 {"resultType":"complete","content":[]}"#,
        ),
    ];
    let script = [
        r#"< "id":1"#,
        r#"> result 1 {"resultType":"complete","content":[]}"#,
    ];
    let replayed = Case::new(&rows).replay(&[ALL], &script);
    replayed.is(1, &["1 of 2 requests"]);
}

#[test]
fn pages_are_asked_for_by_live_cursors() {
    let rows = [
        (0, "c2s", "request 1 tools/list"),
        (1, "s2c", r#"result 1 {"tools":[],"nextCursor":"c1"}"#),
        (2, "c2s", r#"request 2 tools/list {"cursor":"c1"}"#),
        (3, "s2c", r#"result 2 {"tools":[],"nextCursor":"c2"}"#),
        (4, "c2s", r#"request 3 tools/list {"cursor":"c2"}"#),
        (5, "s2c", r#"result 3 {"tools":[]}"#),
    ];
    let script = [
        r#"< "id":1"#,
        r#"> result 1 {"tools":[],"nextCursor":"live1"}"#,
        r#"< "id":2,"method":"tools/list","params":{"cursor":"live1"}"#,
        r#"> result 2 {"tools":[],"nextCursor":"live2"}"#,
        r#"< {"cursor":"live2"}"#,
        r#"> result 3 {"tools":[]}"#,
    ];
    alike(&rows, &[], &script);
}

#[test]
fn handles_that_the_server_makes_up_are_given_back_as_they_are_now() {
    let rows = [
        (0, "c2s", r#"request 1 tools/call {"name":"open"}"#),
        (
            1,
            "s2c",
            r#"result 1 {"content":[{"type":"text","text":"opened sess-8f3kd92k"}]}"#,
        ),
        (
            2,
            "c2s",
            r#"request 2 tools/call {"name":"read","arguments":{"s":"sess-8f3kd92k"}}"#,
        ),
        (3, "s2c", "result 2"),
    ];
    let script = [
        "< open",
        r#"> result 1 {"content":[{"type":"text","text":"opened sess-1a2b3c4d"}]}"#,
        r#"< {"s":"sess-1a2b3c4d"}"#,
        "> result 2",
    ];
    let replayed = Case::new(&rows).replay(&[ALL], &script);
    replayed.is(0, &[SAME, "sess-8f3kd92k", "sess-1a2b3c4d"]);
}

#[test]
fn what_does_not_matter_to_a_client_is_no_failure() {
    let rows = [
        (0, "c2s", "request 1 tools/list"),
        (
            1,
            "s2c",
            r#"result 1 {"tools":[{"name":"a","inputSchema":{}},{"name":"b","inputSchema":{}}]}"#,
        ),
        (2, "c2s", "request 2 x"),
        (3, "s2c", r#"result 2 {"n":1,"list":[1]}"#),
    ];
    let script = [
        r#"< "id":1"#,
        // Shuffled, with a field more.
        r#"> result 1 {"tools":[{"name":"b","inputSchema":{},"title":"B"},{"name":"a","inputSchema":{}}]}"#,
        r#"< "id":2"#,
        r#"> result 2 {"list":[1.0],"n":1.0}"#,
    ];
    Case::new(&rows)
        .replay(&[], &script)
        .is(0, &["added", "order"]);
}

#[test]
fn ids_are_what_they_were() {
    let rows = [
        (0, "c2s", r#"request "1" a"#),
        (1, "c2s", "request 1 b"),
        (2, "s2c", r#"result "1""#),
        (3, "s2c", "result 1"),
    ];
    let script = [
        r#"< "id":"1""#,
        r#"< "id":1,"#,
        r#"> result "1""#,
        "> result 1",
    ];
    alike(&rows, &[], &script);
    let swapped = [
        r#"< "id":"1""#,
        r#"< "id":1,"#,
        r#"> result "1""#,
        r#"> result "1""#,
    ];
    let replayed = Case::new(&rows).replay(&["--timeout", "500ms"], &swapped);
    replayed.is(5, &["b (#2)", r#"the id "1""#]);
}

#[test]
fn batches_go_out_and_come_back() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"b"}]"#;
    let answers = r#"[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":1,"result":{}}]"#;
    let rows = [
        (0, "c2s", batch),
        (1, "s2c", answers),
        (2, "c2s", "request 3 c"),
        (3, "s2c", "result 3"),
    ];
    let (expect, say) = (format!("< {batch}"), format!("> {answers}"));
    alike(&rows, &[], &[&expect, &say, r#"< "id":3"#, "> result 3"]);
    alike(
        &rows,
        &[],
        &[
            &expect,
            "> result 1",
            "> result 2",
            r#"< "id":3"#,
            "> result 3",
        ],
    );
}

#[test]
fn a_line_on_stdout_that_is_no_message_is_a_difference_where_there_was_none() {
    let rows = [(0, "c2s", "request 1 a"), (1, "s2c", "result 1")];
    let script = [r#"< "id":1"#, "> Listening on port 80", "> result 1"];
    let replayed = Case::new(&rows).replay(&[], &script);
    replayed.is(1, &["no JSON-RPC", "Listening on port 80"]);
    let noisy = [
        (0, "c2s", "request 1 a"),
        (1, "s2c", "Hello"),
        (2, "s2c", "result 1"),
    ];
    alike(&noisy, &[], &script);
}

#[test]
fn a_server_that_closes_its_output_early_has_failed() {
    let rows = [(0, "c2s", "request 1 a"), (1, "s2c", "result 1")];
    let script = [r#"< "id":1"#, "err it is all over", "close stdout"];
    let replayed = Case::new(&rows).replay(&[], &script);
    replayed.is(
        4,
        &["closed its output", "it is all over", "1 of 1 request sent"],
    );
}

#[test]
fn a_server_that_ignores_the_end_of_its_input_and_sigterm_is_killed() {
    let rows = [(0, "c2s", "request 1 a"), (1, "s2c", "result 1")];
    let script = ["ignore SIGTERM", r#"< "id":1"#, "> result 1", "sleep"];
    let replayed = Case::new(&rows).replay(&[], &script);
    replayed.is(1, &["was killed"]);
}

#[test]
fn a_server_that_does_not_read_hangs() {
    let call = r#"request 1 tools/call {"name":"big","arguments":{"text":"fill(300000)"}}"#;
    let rows = [(0, "c2s", call), (1, "s2c", "result 1")];
    let replayed = Case::new(&rows).replay(&[ALL, "--timeout", "1s"], &["sleep"]);
    replayed.is(5, &["hang", "tools/call big (#1)", "the write is blocked"]);
}

#[test]
fn a_server_that_says_nothing_hangs() {
    let rows = [(0, "c2s", "request 1 a"), (1, "s2c", "result 1")];
    let script = ["err thinking about it", r#"< "id":1"#, "sleep"];
    let replayed = Case::new(&rows).replay(&["--timeout", "1s"], &script);
    replayed.is(5, &["hang", "a (#1)", "not blocked", "thinking about it"]);
}

#[test]
fn a_server_that_crashes_is_named_with_its_last_words() {
    let rows = [
        (0, "c2s", "request 1 a"),
        (1, "s2c", "result 1"),
        (2, "c2s", r#"request 2 tools/call {"name":"boom"}"#),
        (3, "s2c", "result 2"),
        (4, "c2s", "request 3 c"),
        (5, "s2c", "result 3"),
    ];
    let script = [
        r#"< "id":1"#,
        "> result 1",
        "< boom",
        "err fatal: no",
        "raise SIGSEGV",
    ];
    let replayed = Case::new(&rows).replay(&[ALL], &script);
    replayed.is(
        4,
        &[
            "SIGSEGV",
            "after tools/call",
            "2 of 3 requests sent",
            "fatal: no",
        ],
    );
    let script = [r#"< "id":1"#, "> result 1", "exit 3"];
    Case::new(&rows)
        .replay(&[ALL], &script)
        .is(4, &["exit code 3"]);
}

#[test]
fn an_answer_of_five_megabytes_is_compared_whole() {
    let answer = r#"result 1 {"content":[{"type":"text","text":"fill(5000000)"}]}"#;
    let rows = [(0, "c2s", "request 1 a"), (1, "s2c", answer)];
    let say = format!("> {answer}");
    alike(&rows, &[], &[r#"< "id":1"#, &say]);
    let other = say.replace(")\"}", ")!\"}");
    Case::new(&rows)
        .replay(&[], &[r#"< "id":1"#, &other])
        .is(1, &["#1"]);
}

#[test]
fn a_server_of_the_other_era_is_told_apart() {
    let legacy = [
        (
            0,
            "c2s",
            r#"request 1 initialize {"protocolVersion":"2025-11-25"}"#,
        ),
        (
            1,
            "s2c",
            r#"result 1 {"protocolVersion":"2025-11-25","capabilities":{}}"#,
        ),
        (2, "c2s", "notify notifications/initialized"),
    ];
    let refuses = r#"> {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}"#;
    let replayed = Case::new(&legacy).replay(&[], &["< initialize", refuses]);
    replayed.is(3, &["initialize, which the server refuses"]);
    let list = format!("request 1 tools/list {{{META}}}");
    let modern = [
        (0, "c2s", list.as_str()),
        (1, "s2c", r#"result 1 {"resultType":"complete","tools":[]}"#),
    ];
    let replayed = Case::new(&modern).replay(&[], &["< tools/list", "> error 1 -32600"]);
    replayed.is(3, &["legacy era"]);
}

#[test]
fn redacted_values_have_to_be_supplied() {
    let rows = [
        (0, "c2s", "request 1 a"),
        (1, "s2c", "result 1"),
        (
            2,
            "c2s",
            r#"request 2 tools/call {"name":"b","arguments":{"key":"‹secret:1›"}}"#,
        ),
        (3, "s2c", "result 2"),
    ];
    let script = [r#"< "id":1"#, "> result 1"];
    let replayed = Case::new(&rows).replay(&[ALL], &script);
    replayed.is(3, &["secret:1"]);
    let script = [
        r#"< "id":1"#,
        "> result 1",
        r#"< {"key":"hunter2"}"#,
        "> result 2",
    ];
    let case = Case::new(&rows);
    let mut command = case.command(&[ALL, "--bind", "secret:1=env:TOKEN"], &script);
    command.env("TOKEN", "hunter2");
    let replayed = crate::process::Replayed::of(&command.output().unwrap());
    replayed.is(0, &[SAME]);
}

#[test]
fn a_clock_that_went_back_in_the_recording_changes_nothing() {
    let rows = [
        (9000, "c2s", "request 1 a"),
        (8000, "s2c", "result 1"),
        (1000, "c2s", "request 2 b"),
        (900, "s2c", "result 2"),
    ];
    let script = [r#"< "id":1"#, "> result 1", r#"< "id":2"#, "> result 2"];
    alike(&rows, &[], &script);
    alike(&rows, &["--order", "timed"], &script);
}
