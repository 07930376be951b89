use super::*;

/// `SESSION TIME WHAT` of what the lines of `text` say; times in milliseconds.
fn told(text: &str) -> Vec<String> {
    let mut reader = Format::of(text.as_bytes()).expect("it is known").reader();
    let mut told = Vec::new();
    let mut tell = |entry: Entry<'_>| told.push(shown(entry));
    for line in text.lines() {
        reader.line(line.as_bytes(), &mut tell);
    }
    told
}

fn shown(entry: Entry<'_>) -> String {
    let time = entry
        .wall_ns
        .map_or("-".into(), |ns| (ns / 1_000_000).to_string());
    let what = match entry.what {
        What::Begin(about) => format!("begins {about:?}"),
        What::Line {
            stream,
            bytes,
            is_guess,
        } => {
            let guess = if is_guess { "?" } else { "" };
            let bytes = String::from_utf8_lossy(bytes);
            format!("{}{guess} {bytes}", stream.as_str())
        }
        What::Event(kind) => serde_json::to_string(&kind).expect("JSON"),
        What::Nothing(why) => format!("nothing: {why}"),
    };
    format!("{} {time} {what}", entry.session)
}

#[test]
fn a_file_is_known_by_its_lines() {
    for (text, format) in [
        (
            r#"{"session_id":"a","server_label":"a","seq":1,"ts":"2026-01-01T00:00:00Z","direction":"c2s","raw":{}}"#,
            Some(Format::Mcpsnoop),
        ),
        (
            "half a line\n2026-03-10T15:18:27.783Z [a] [info] Initializing server...",
            Some(Format::Claude),
        ),
        (
            "2024-12-01T10:00:00.000Z [info] [filesystem] Initializing server...",
            Some(Format::Claude),
        ),
        (r#"{"jsonrpc":"2.0","method":"x"}"#, Some(Format::Jsonl)),
        (r#"[{"jsonrpc":"2.0","method":"x"}]"#, Some(Format::Jsonl)),
        (
            r#"{"time":1795000000,"msg":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"}"#,
            Some(Format::Jsonl),
        ),
        (r#"{"level":"info","msg":"started"}"#, None),
        ("2026-03-10 an ordinary log [a] [b] c", None),
        ("", None),
        ("\u{0}\u{1}", None),
    ] {
        assert_eq!(Format::of(text.as_bytes()), format, "{text}");
    }
    // A first message that is longer than what is looked at.
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"result":"{}"#, "x".repeat(100));
    assert_eq!(Format::of(long.as_bytes()), Some(Format::Jsonl));
}

#[test]
fn a_log_of_mcpsnoop() {
    let envelope = |rest: &str| {
        format!(
            r#"{{"session_id":"s","server_label":"weather","ts":"2026-01-01T00:00:00.5Z",{rest}}}"#
        )
    };
    let text = [
        envelope(
            r#""direction":"meta","transport":"stdio","raw":{"command":["node","a b.js"],"cwd":"/w"}"#,
        ),
        envelope(r#""direction":"c2s","raw":{"id":1.0,"method":"ping"}"#),
        envelope(r#""direction":"s2c","raw":null,"text":"no JSON"}"#.trim_end_matches('}')),
        envelope(r#""direction":"stderr","text":"boom""#),
        envelope(r#""direction":"s2c","raw":{"id":1},"truncated":true"#),
        envelope(r#""direction":"up""#),
        "{".to_owned(),
    ];
    assert_eq!(
        told(&text.join("\n")),
        [
            r#"s 1767225600500 begins About { name: "weather", argv: ["node", "a b.js"], cwd: Some("/w"), transport: Some("stdio") }"#,
            r#"s 1767225600500 c2s {"id":1.0,"method":"ping"}"#,
            "s 1767225600500 s2c no JSON",
            "s 1767225600500 stderr boom",
            r#"s 1767225600500 {"kind":"shortened","stream":1,"message":"mcpsnoop cut it when it wrote it down"}"#,
            r#"s 1767225600500 s2c {"id":1}"#,
            "s 1767225600500 nothing: it does not say which way it went",
            " - nothing: it is not JSON",
        ]
    );
}

#[test]
fn a_log_of_claude_desktop() {
    let text = "\
        rest of a line\n\
        2026-03-10T15:18:27.088Z [a b] [info] Initializing server... { metadata: undefined }\n\
        2026-03-10T15:18:27.100Z [a b] [info] Using MCP server command: C:\\x.exe with path: {\n  \
        metadata: {\n    paths: [ 'C:\\\\Windows' ]\n  }\n} %o\n\
        ready\n\
        2026-03-10T15:18:27.783Z [a b] [info] Message from client: {\"method\":\"initialize\",\"id\":0} { metadata: undefined }\n\
        Traceback (most recent call last):\n\
        2026-03-10T15:18:28.119Z [a b] [info] Message from server: {\"id\":0,\"result\":{\"x\":\"... [9 chars truncated]\n\
        2026-03-10T15:18:28.120Z [a b] [error] Server disconnected.\n\
        2026-03-10T15:19:00.000Z [a b] [info] Initializing server...\n\
        2026-03-10T15:19:01.000Z [info] [older] Message from server: {\"id\":0}";
    assert_eq!(
        told(text),
        [
            " - nothing: it comes before the first line of the log's own",
            "a b 1773155907088 begins About { name: \"a b\", argv: [], cwd: None, transport: None }",
            "a b 1773155907088 {\"kind\":\"host-log\",\"level\":\"info\",\"message\":\"Initializing server...\"}",
            "a b 1773155907100 {\"kind\":\"host-log\",\"level\":\"info\",\"message\":\"Using MCP server command: C:\\\\x.exe with path: {\"}",
            "a b 1773155907100 stderr ready",
            "a b 1773155907783 c2s {\"method\":\"initialize\",\"id\":0}",
            "a b 1773155907783 stderr Traceback (most recent call last):",
            "a b 1773155908119 {\"kind\":\"shortened\",\"stream\":1,\"message\":\"the log does not hold this message whole\"}",
            "a b 1773155908119 s2c {\"id\":0,\"result\":{\"x\":\"... [9 chars truncated]",
            "a b 1773155908120 {\"kind\":\"host-log\",\"level\":\"error\",\"message\":\"Server disconnected.\"}",
            "a b 1773155908120 {\"kind\":\"eof\",\"stream\":1,\"by\":\"writer\"}",
            "a b 1773155940000 begins About { name: \"a b\", argv: [], cwd: None, transport: None }",
            "a b 1773155940000 {\"kind\":\"host-log\",\"level\":\"info\",\"message\":\"Initializing server...\"}",
            "older 1773155941000 begins About { name: \"older\", argv: [], cwd: None, transport: None }",
            "older 1773155941000 s2c {\"id\":0}",
        ]
    );
}

/// What is said behind the time, of a log of Claude Desktop with these texts.
fn claude(texts: &[&str]) -> Vec<String> {
    let line = |text: &&str| match text.strip_prefix('|') {
        Some(rest) => rest.to_owned(),
        None => format!("2026-03-10T15:18:27.088Z [w] [info] {text}"),
    };
    let lines: Vec<_> = texts.iter().map(line).collect();
    let said = told(&lines.join("\n"));
    let said = said.iter().skip(1);
    said.filter_map(|line| Some(line.splitn(3, ' ').nth(2)?.to_owned()))
        .filter(|said| !said.contains("host-log"))
        .collect()
}

#[test]
fn what_the_log_says_of_the_end_is_told_once() {
    let closed = |stream: u8| format!(r#"{{"kind":"eof","stream":{stream},"by":"writer"}}"#);
    let exit = r#"{"kind":"exit","max_rss_bytes":0,"user_ns":0,"system_ns":0}"#;
    let unexpected = "Server transport closed unexpectedly, this is likely due to the process exiting early. { metadata: undefined }";
    let disconnected = "Server disconnected. For guidance { metadata: { context: 'connection', stack: undefined } }";
    assert_eq!(
        claude(&[
            "Server transport closed",
            "Client transport closed",
            unexpected,
            disconnected
        ]),
        [closed(1), exit.to_owned()]
    );
    assert_eq!(
        claude(&[
            "Shutting down server...",
            "Client transport closed",
            "Server transport closed"
        ]),
        [closed(0), closed(1)]
    );
    let failed = |code: u8, message: &str| {
        format!(r#"{{"kind":"spawn-failed","exit_code":{code},"message":"{message}"}}"#)
    };
    for (text, code) in [
        ("spawn npx ENOENT", 127),
        ("spawn a b EACCES", 126),
        ("spawn x EMFILE", 125),
    ] {
        let with = format!("{text} {{ metadata: {{ context: 'connection', stack: 'Error' }} }}");
        assert_eq!(claude(&[&with, text]), [failed(code, text)]);
    }
    assert!(claude(&["spawn of something", "The server transport closed"]).is_empty());
}

#[test]
fn bare_messages_say_by_themselves_which_way_they_went() {
    let text = r#"
{"jsonrpc":"2.0","id":1,"method":"initialize"}
{"jsonrpc":"2.0","id":1,"result":{}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call"}
{"jsonrpc":"2.0","id":"s","method":"roots/list"}
{"jsonrpc":"2.0","id":"s","result":{}}
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}
{"jsonrpc":"2.0","id":3,"method":"ping"}
{"jsonrpc":"2.0","id":9,"result":{}}
{"jsonrpc":"2.0","method":"notifications/custom"}
"#;
    let ways: Vec<_> = told(text.trim())
        .iter()
        .filter_map(|line| Some(line.split(' ').nth(2)?.to_owned()))
        .collect();
    assert_eq!(
        ways,
        [
            "begins", "c2s", "s2c", "c2s", "c2s", "s2c", "c2s", "c2s", "c2s?", "s2c?", "s2c?",
        ]
    );
}

#[test]
fn times_are_read_as_logs_write_them() {
    let ms = |text: &str| time_of_text(text).map(|ns| ns / 1_000_000);
    assert_eq!(ms("2026-01-01T01:00:00.250+01:00"), Some(1_767_225_600_250));
    assert_eq!(ms("2026-01-01 00:00:00.25"), Some(1_767_225_600_250));
    assert_eq!(ms("2026-01-01T00:00:00"), Some(1_767_225_600_000));
    assert_eq!(ms("2026-01-01 00:00:00,500"), Some(1_767_225_600_500));
    assert_eq!(ms("10:00:00.5"), Some(36_000_500));
    assert_eq!(ms("0.5"), Some(500));
    assert_eq!(ms("yesterday"), None);
    for number in [
        "1767225600",
        "1767225600000",
        "1767225600000000",
        "1767225600000000000",
        "1.7672256e9",
    ] {
        let text = number.as_bytes();
        let document = mcpreel_wire::json::Document::parse(text).expect("JSON");
        let ns = time_of_value(document.root());
        assert_eq!(ns, Some(1_767_225_600_000_000_000), "{number}");
    }
    let small = mcpreel_wire::json::Document::parse(b"12").expect("JSON");
    assert_eq!(time_of_value(small.root()), None, "of what?");
    let seconds = mcpreel_wire::json::Document::parse(b"0.5").expect("JSON");
    assert_eq!(time_of_value(seconds.root()), Some(500_000_000));
    let said = told(r#"{"ts":"soon","message":{"jsonrpc":"2.0","id":1,"method":"ping"}}"#);
    assert!(said[1].starts_with(" - c2s"), "{}", said[1]);
}
