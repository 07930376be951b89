//! What is shown of a server that was reached over HTTP.

use crate::by_hand::{Viewer, has};
use crate::{fixture, wire};
use tempfile::TempDir;

/// A viewer on the recording of a case; see [`wire::told`].
fn open(case: &str) -> (Viewer, TempDir) {
    let dir = tempfile::tempdir().expect("a folder can be made");
    drop(wire::told(dir.path(), case));
    let mut viewer = Viewer::open(&dir.path().join("a.reel"), (120, 30));
    viewer.settle();
    (viewer, dir)
}

#[test]
fn a_call_has_a_bar_of_what_took_how_long_where_that_is_more_than_one_part() {
    let call = "> POST /mcp
        >
        > request 1 ping
        after 600
        < 200
        < Content-Type: application/json
        <
        < result 1 {}
        ";
    let (mut viewer, _dir) = open(&[call, &call.replace(" 1 ", " 2 ")].concat());
    viewer.act("1 g j Enter");
    has(&viewer, &["█ connect 100 µs  ▒ wait 601 ms", "█▒▒▒▒▒▒▒"]);
    // What is left there is one part, of which a bar says nothing.
    viewer.act("Esc j Enter");
    has(&viewer, &["POST /mcp HTTP/1.1"]);
    let text = viewer.text();
    assert!(!text.contains("connect 100"), "{text}");
    assert!(!text.contains("██"), "{text}");
}

#[test]
fn a_request_says_what_the_proxy_changed_in_it_and_in_those_like_it() {
    let call = "> GET /
        < 404
        ";
    let (mut viewer, _dir) = open(&["add X-Team: a\n", call, call].concat());
    viewer.act("1 g j j Enter");
    has(&viewer, &["  changed", "header was added: X-Team: a"]);
    viewer.act("Esc j Enter");
    has(&viewer, &["  changed", "header was added: X-Team: a"]);
}

/// Once the error stood below the heads, and the body nowhere.
#[test]
fn a_call_that_http_refused_shows_the_error_the_heads_and_the_body() {
    let (mut viewer, _dir) = open(
        "> POST /mcp
        >
        > request 1 ping
        < 502
        < Content-Type: text/html
        <
        < <p>gone away
        ",
    );
    viewer.act("1 g j Enter");
    let text = viewer.text();
    let parts = [
        "http-error 502",
        "HTTP request",
        "HTTP response",
        "body",
        "<p>gone away",
    ];
    let at: Vec<_> = parts.iter().map(|part| text.rfind(part)).collect();
    assert!(at.is_sorted() && at[0].is_some(), "{at:?}: {text}");
}

/// The frame of the row under the cursor.
fn selected(viewer: &Viewer) -> Option<u64> {
    viewer.session().list.selected().map(|key| key.seq.0)
}

#[test]
fn a_step_of_a_login_shows_all_of_them_and_what_does_not_match() {
    let (mut viewer, _dir) = open(
        r#"> POST /mcp
        > Host: 127.0.0.1:7339
        >
        > request 1 ping
        < 401
        < WWW-Authenticate: Bearer resource_metadata="http://127.0.0.1:3000/.well-known/oauth-protected-resource"
        > GET /.well-known/oauth-protected-resource
        < 404
        "#,
    );
    // The cause names the head of the call, and the list has the call.
    assert_eq!(selected(&viewer), Some(2));
    viewer.act("1 : '3' Enter");
    assert_eq!(selected(&viewer), Some(2), "the head of its response");
    viewer.act("1 : '5' Enter");
    assert_eq!(selected(&viewer), Some(4), "that of the document");
    viewer.act("1 g j Enter");
    has(
        &viewer,
        &[
            "  authorization",
            "▸    #1  challenge ",
            "     #4  resource-metadata ",
        ],
    );
    viewer.act("Esc j Enter");
    has(
        &viewer,
        &["     #1  challenge ", "▸    #4  resource-metadata "],
    );
}

#[test]
fn the_wire_has_heads_events_and_keep_alives() {
    let (mut viewer, _dir) = open(
        "> POST /mcp
        >
        > request 1 ping
        < 200
        < Content-Type: text/event-stream
        <
        < keep-alive
        < result 1 {}
        < end
        ",
    );
    viewer.act("1 w g");
    has(
        &viewer,
        &[
            "POST /mcp HTTP/1.1",
            "HTTP/1.1 200 Said",
            "a comment, which keeps th",
            "ping ok",
            "the response ended",
        ],
    );
}

#[test]
fn a_call_is_copied_as_a_command_of_curl_that_names_no_credential() {
    let (mut viewer, _dir) = open(
        "> POST /mcp?a=b
        > Authorization: Bearer ‹cred:1 9f3c›
        > Content-Type: application/json
        >
        > request 1 ping
        < 200
        < Content-Type: application/json
        <
        < result 1 {}
        ",
    );
    viewer.act("1 g j y c");
    let command = [
        "curl -X 'POST' 'http://127.0.0.1:3000/mcp?a=b'",
        "-H 'Authorization: Bearer '\"$TOKEN\"",
        "-H 'Content-Type: application/json'",
        r#"--data-raw '{"jsonrpc":"2.0","id":1,"method":"ping"}'"#,
    ];
    let copied = viewer.state.app.copied.as_deref();
    assert_eq!(copied, Some(&*command.join(" \\\n  ")));
}

#[test]
fn several_conversations_are_counted_and_their_calls_told_apart() {
    let conversation = |connection: u32| {
        let lines = "> POST /mcp
            >
            > request 0 initialize {'protocolVersion':'2025-11-25','capabilities':{},'clientInfo':{'name':'c'}}
            < 200
            < Mcp-Session-Id: SESSION
            < Content-Type: application/json
            <
            < result 0 {'protocolVersion':'2025-11-25','capabilities':{},'serverInfo':{'name':'s'}}";
        let lines = lines
            .replace('\'', "\"")
            .replace("SESSION", &format!("s{connection}"));
        let lines = lines
            .lines()
            .map(|line| format!("{connection}{}\n", line.trim_start()));
        lines.collect::<String>()
    };
    let (one, _dir) = open(&conversation(1));
    has(&one, &["⇄ c "]);
    let (mut two, _dir) = open(&[conversation(1), conversation(2)].concat());
    two.act("1");
    has(&two, &["⇄ 2 conversations", "initialize (2) s "]);
}

/// Once the network side stood above its host's, since it began later, and nothing led from one to the other.
#[test]
fn the_network_side_of_a_bridge_stands_below_its_host_side_and_why_leads_to_it() {
    let sides = fixture::bridged();
    let mut viewer = Viewer::folder(sides[0].folder(), (120, 30));
    viewer.settle();
    let text = viewer.text();
    let [host, network] = ["weather-server ", "└ weather-server-http"].map(|name| text.find(name));
    assert!(host.is_some() && host < network, "{text}");
    viewer.act("Enter W");
    has(
        &viewer,
        &["the recording 243df284: what went over the network"],
    );
    viewer.act("j j Enter");
    viewer.settle();
    assert_eq!(viewer.session().path, sides[1].path);
}
