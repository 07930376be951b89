use super::*;

/// `SESSION TIME WHAT` of what the lines of `text` say; times in milliseconds.
fn told(text: &str) -> Vec<String> {
    let mut reader = Format::of(text.as_bytes()).expect("it is known").reader();
    let mut told = Vec::new();
    let mut tell = |said: Said<'_>| told.push(shown(said));
    for line in text.lines() {
        reader.line(line.as_bytes(), &mut tell);
    }
    reader.finish(&mut tell);
    told
}

fn shown(said: Said<'_>) -> String {
    let time = said
        .wall_ns
        .map_or("-".into(), |ns| (ns / 1_000_000).to_string());
    let what = match said.what {
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
    format!("{} {time} {what}", said.session)
}

#[test]
fn a_file_is_known_by_its_lines() {
    for (text, format) in [
        (
            r#"{"session_id":"a","server_label":"a","seq":1,"ts":"2026-01-01T00:00:00Z","direction":"c2s","raw":{}}"#,
            Some(Format::Snoop),
        ),
        (
            "half a line\n2026-03-10T15:18:27.783Z [a] [info] Initializing server...",
            Some(Format::Claude),
        ),
        (
            "2024-12-01T10:00:00.000Z [info] [filesystem] Initializing server...",
            Some(Format::Claude),
        ),
        (r#"{"jsonrpc":"2.0","method":"x"}"#, Some(Format::Messages)),
        (
            r#"[{"jsonrpc":"2.0","method":"x"}]"#,
            Some(Format::Messages),
        ),
        (
            r#"{"time":1795000000,"msg":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"}"#,
            Some(Format::Messages),
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
    assert_eq!(Format::of(long.as_bytes()), Some(Format::Messages));
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
            r#"s 1767225600500 s2c {"id":1}"#,
            r#"s 1767225600500 {"kind":"warning","message":"mcpsnoop cut this message when it wrote it down"}"#,
            "s 1767225600500 nothing: it does not say which way it went",
            " - nothing: it is no JSON",
        ]
    );
}

/// Lines of a log of mcpsnoop, `MILLISECONDS DIRECTION MESSAGE` each, and what they say.
fn snooped(lines: &[&str]) -> Vec<String> {
    let envelope = |line: &&str| {
        let mut words = line.splitn(3, ' ');
        let mut word = || words.next().expect("three words");
        let (ms, way, raw) = (word(), word(), word());
        let what = if way == "stderr" { "text" } else { "raw" };
        format!(
            r#"{{"session_id":"s","ts":"2026-01-01T00:00:00.{ms:0>3}Z","direction":"{way}","{what}":{raw}}}"#
        )
    };
    let lines: Vec<_> = lines.iter().map(envelope).collect();
    let told = told(&lines.join("\n"));
    let words = told.iter().skip(1).map(|line| {
        line.splitn(3, ' ')
            .nth(2)
            .expect("what was said")
            .to_owned()
    });
    words.collect()
}

const MOVED: &str =
    r#"{"kind":"warning","message":"mcpsnoop wrote this answer down before what it answers"}"#;

#[test]
fn an_answer_that_mcpsnoop_wrote_down_before_its_question_comes_behind_it() {
    // The client's answer was noted first: both were there in the same tenth of a millisecond.
    let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"roots":[]}}"#;
    let question = r#"{"method":"roots/list","jsonrpc":"2.0","id":0}"#;
    let (first, noise) = (r#"{"id":0,"method":"initialize"}"#, r#"{"method":"x"}"#);
    let said = snooped(&[
        &format!("10 c2s {first}"),
        r#"20 s2c {"id":0,"result":{}}"#,
        &format!("30 c2s {answer}"),
        &format!("30 c2s {noise}"),
        r#"30 stderr "slow""#,
        &format!("30 s2c {noise}"),
        &format!("30 s2c {question}"),
        &format!("31 c2s {noise}"),
    ]);
    let [c2s, s2c] = ["c2s", "s2c"].map(|way| move |line: &str| format!("{way} {line}"));
    assert_eq!(
        said,
        [
            c2s(first),
            s2c(r#"{"id":0,"result":{}}"#),
            s2c(noise),
            s2c(question),
            c2s(answer),
            MOVED.to_owned(),
            c2s(noise),
            "stderr slow".to_owned(),
            c2s(noise),
        ],
        "the lines of each side stay in their order"
    );
}

#[test]
fn an_answer_to_nothing_stays_where_it_is() {
    // Nobody asks, one asks too late, and one that was asked before is answered once more.
    let nobody = [r#"1 s2c {"id":7,"result":{}}"#, r#"2 c2s {"method":"x"}"#];
    let late = [
        r#"1 s2c {"id":7,"result":{}}"#,
        r#"200 c2s {"id":7,"method":"ping"}"#,
    ];
    let twice = [
        r#"1 c2s {"id":7,"method":"ping"}"#,
        r#"2 s2c {"id":7,"result":{}}"#,
        r#"3 s2c {"id":7,"result":{}}"#,
        r#"4 c2s {"id":7,"method":"ping"}"#,
    ];
    let mut many = vec![r#"1 s2c {"id":7,"result":{}}"#.to_owned()];
    many.extend((0..100).map(|n| format!(r#"1 c2s {{"id":"{n}","method":"ping"}}"#)));
    many.push(r#"1 c2s {"id":7,"method":"ping"}"#.to_owned());
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    for lines in [&nobody[..], &late, &twice, &many] {
        let without_times = lines
            .iter()
            .map(|line| line.split_once(' ').expect("two").1);
        assert_eq!(snooped(lines), without_times.collect::<Vec<_>>());
    }
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
            "a b 1773155908119 s2c {\"id\":0,\"result\":{\"x\":\"... [9 chars truncated]",
            "a b 1773155908119 {\"kind\":\"warning\",\"message\":\"the log does not hold this message whole\"}",
            "a b 1773155908120 {\"kind\":\"host-log\",\"level\":\"error\",\"message\":\"Server disconnected.\"}",
            "a b 1773155940000 begins About { name: \"a b\", argv: [], cwd: None, transport: None }",
            "a b 1773155940000 {\"kind\":\"host-log\",\"level\":\"info\",\"message\":\"Initializing server...\"}",
            "older 1773155941000 begins About { name: \"older\", argv: [], cwd: None, transport: None }",
            "older 1773155941000 s2c {\"id\":0}",
        ]
    );
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
fn an_object_around_a_message_says_when_and_which_way() {
    for (way, expected) in [
        ("client->server", "c2s"),
        ("Client to Server", "c2s"),
        ("from_client", "c2s"),
        ("host", "c2s"),
        ("to-server", "c2s"),
        ("stdin", "c2s"),
        ("server", "s2c"),
        ("SERVER_TO_CLIENT", "s2c"),
        ("to_client", "s2c"),
        ("stdout", "s2c"),
        ("incoming", "c2s"),
    ] {
        let text = format!(
            r#"{{"ts":1767225600.25,"direction":"{way}","message":{{"jsonrpc":"2.0","id":1,"method":"ping"}}}}"#
        );
        let guess = if way == "incoming" { "?" } else { "" };
        let line = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        assert_eq!(
            told(&text)[1],
            format!(" 1767225600250 {expected}{guess} {line}"),
            "{way}"
        );
    }
}

#[test]
fn times_are_read_as_logs_write_them() {
    let ms = |text: &str| when::of_text(text).map(|ns| ns / 1_000_000);
    assert_eq!(ms("2026-01-01T01:00:00.250+01:00"), Some(1_767_225_600_250));
    assert_eq!(ms("2026-01-01 00:00:00.25"), Some(1_767_225_600_250));
    assert_eq!(ms("2026-01-01T00:00:00"), Some(1_767_225_600_000));
    assert_eq!(ms("yesterday"), None);
    for number in [
        "1767225600",
        "1767225600000",
        "1767225600000000",
        "1767225600000000000",
        "1.7672256e9",
    ] {
        let text = number.as_bytes();
        let document = crate::protocol::json::Document::parse(text).expect("JSON");
        let ns = when::of_value(document.root());
        assert_eq!(ns, Some(1_767_225_600_000_000_000), "{number}");
    }
    let small = crate::protocol::json::Document::parse(b"12").expect("JSON");
    assert_eq!(when::of_value(small.root()), None);
}
