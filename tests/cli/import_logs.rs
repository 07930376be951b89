//! `import` of logs that do not hold everything, that say how a session ended, that have grown.

use super::cli_import::{CLAUDE, Import};
use super::{mcpreel, refusal, stdout};
use crate::support::text;
use serde_json::Value;

fn id(taken: &Value) -> &str {
    taken["id"].as_str().expect("it has an id")
}

fn best_cause(import: &Import, taken: &Value) -> Value {
    import.library.json(&["why", id(taken)]).remove(0)
}

/// A log of Claude Desktop with these texts, a second apart.
fn claude(texts: &[&str]) -> String {
    let line = |(at, text): (usize, &&str)| {
        format!("2026-03-10T15:18:{at:02}.000Z [weather] [info] {text} {{ metadata: undefined }}\n")
    };
    texts.iter().enumerate().map(line).collect()
}

const SAYS: [&str; 4] = [
    "Initializing server...",
    r#"Message from client: {"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}},"jsonrpc":"2.0","id":0}"#,
    r#"Message from server: {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"weather","version":"2"}}}"#,
    r#"Message from client: {"method":"notifications/initialized","jsonrpc":"2.0"}"#,
];

#[test]
fn a_server_is_not_blamed_for_what_the_log_shortened() {
    let import = Import::new();
    let asks = r#"Message from client: {"method":"tools/list","jsonrpc":"2.0","id":8}"#;
    let answers = [
        // Its id at the beginning, at the end, and nowhere.
        (
            r#"{"jsonrpc":"2.0","id":8,"result":{"tools":[{"name":"a","description":"Gets a fo...[14696 chars truncated]...red":["city"]}}]}}"#,
            true,
        ),
        (
            r#"{"result":{"tools":[{"name":"a","description":"Gets a fo...[14696 chars truncated]...red":["city"]}}]},"jsonrpc":"2.0","id":8}"#,
            true,
        ),
        (
            r#"{"result":{"tools":[{"name":"a","description":"Gets a fo...[14696 chars truncated]"#,
            false,
        ),
    ];
    for (at, (answer, is_paired)) in answers.into_iter().enumerate() {
        let answer = format!("Message from server: {answer}");
        let rest = ["x"; 40];
        let texts = [&SAYS[..], &[asks, &answer], &rest].concat();
        let log = import.file(&format!("{at}.log"), &claude(&texts));
        let taken = import.taken(&log).remove(0);
        assert_eq!(taken["remarks"][0], "the log does not hold 1 message whole");
        let exchange = import.exchanges(&taken).remove(1);
        assert_eq!(exchange["status"] == "ok", is_paired, "{answer} {exchange}");
        let found = import
            .library
            .json(&["lint", id(&taken), "--fail-on", "never"]);
        let rules: Vec<_> = found.iter().filter_map(|it| it["rule"].as_str()).collect();
        assert!(
            !rules
                .iter()
                .any(|rule| rule.starts_with("frame-not") || rule.contains("unanswered")),
            "{rules:?}"
        );
        assert!(rules.contains(&"frame-shortened"), "{rules:?}");
        let cause = best_cause(&import, &taken);
        assert_eq!(cause["cause"], "cannot-say", "{cause}");
    }
}

#[test]
fn what_mcpsnoop_cut_or_left_out_is_told_and_blamed_on_nobody() {
    let import = Import::new();
    let line = |seq: u32, rest: &str| {
        format!(
            r#"{{"session_id":"s","server_label":"weather","seq":{seq},"ts":"2026-01-01T00:00:{seq:02}Z","transport":"stdio",{rest}}}"#
        )
    };
    let begins = [
        r#""direction":"c2s","raw":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        r#""direction":"s2c","raw":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"weather","version":"2"}}}"#,
        r#""direction":"c2s","raw":{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#""direction":"c2s","raw":{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        r#""direction":"s2c","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"na","truncated":true"#,
    ];
    let mut log: Vec<_> = (1..)
        .zip(begins)
        .map(|(seq, rest)| line(seq, rest))
        .collect();
    let call = r#""direction":"c2s","raw":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a"}}"#;
    log.extend([
        line(8, call),
        line(53, r#""direction":"stderr","text":"x""#),
    ]);
    let taken = import
        .taken(&import.file("s.jsonl", &log.join("\n")))
        .remove(0);
    let remarks = taken["remarks"].to_string();
    assert!(
        remarks.contains("1 message whole") && remarks.contains("lacks 46 lines"),
        "{remarks}"
    );
    let exchanges = import.exchanges(&taken);
    assert_eq!(exchanges[1]["status"], "ok");
    let events = stdout(&import.library, &["show", id(&taken), "--events"]);
    assert!(
        events.contains("gap: 2 lines not on record: mcpsnoop has no numbers 6 to 7"),
        "{events}"
    );
    let cause = best_cause(&import, &taken);
    assert_eq!(cause["cause"], "cannot-say", "{cause}");
    let found = stdout(&import.library, &["lint", id(&taken), "--fail-on", "never"]);
    assert!(!found.contains("request-unanswered"), "{found}");
}

#[test]
fn a_log_that_has_grown_makes_only_what_is_new() {
    let import = Import::new();
    let log = import.file("mcp-server-weather.log", CLAUDE);
    let first = import.taken(&log);
    let third = CLAUDE
        .lines()
        .take(4)
        .map(|line| format!("{}\n", line.replace("T15:", "T16:")));
    let third: String = third.collect();
    import.file("mcp-server-weather.log", &format!("{CLAUDE}{third}"));
    let again = import.taken(&log);
    let ids = |taken: &[Value]| taken.iter().map(|it| id(it).to_owned()).collect::<Vec<_>>();
    assert_eq!(ids(&again)[..2], ids(&first));
    let there: Vec<_> = again.iter().map(|it| it["already_there"] == true).collect();
    assert_eq!(there, [true, true, false]);
    // What a session says afterwards makes another recording.
    let more = "2026-03-10T16:18:30.000Z [weather] [info] Server transport closed { metadata: undefined }\n";
    import.file("mcp-server-weather.log", &format!("{CLAUDE}{third}{more}"));
    let grown = import.taken(&log).remove(2);
    assert_eq!(grown["already_there"], false);
    // Two sessions that are alike are two.
    let twice = import.file("twice.log", &CLAUDE.repeat(2));
    let ids: std::collections::BTreeSet<_> = ids(&import.taken(&twice)).into_iter().collect();
    assert_eq!(ids.len(), 4);
}

#[test]
fn files_that_are_no_plain_text_and_names_that_are_not_the_files_own() {
    let import = Import::new();
    let marked = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
    let log = import.file("bom.jsonl", marked);
    let taken = import.taken(&log).remove(0);
    assert_eq!(
        (&taken["frames"], &taken["name"]),
        (&2.into(), &"bom".into())
    );
    let path = log.to_str().expect("text");
    let again = import
        .library
        .json(&["import", "--name", "zz", path])
        .remove(0);
    assert_eq!(
        (&again["already_there"], &again["name"]),
        (&true.into(), &"bom".into())
    );
    let packed = log.with_extension("gz");
    std::fs::write(&packed, b"\x1f\x8b\x08\0").expect("the folder is ours");
    let (code, said) = refusal(&import.library, &["import", packed.to_str().expect("text")]);
    assert_eq!(code, Some(3));
    assert!(said.contains("UTF-8"), "{said}");
    let output = mcpreel(&import.library, &["import", path]);
    assert!(output.status.success(), "{}", text(&output));
}

const ASKS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const ANSWERS: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

/// Once such a session was in 1970, and nobody said so.
#[test]
fn a_time_that_the_log_does_not_have_is_no_time_in_what_is_made_of_it() {
    let import = Import::new();
    let log = import.file("bare.jsonl", &format!("{ASKS}\n{ANSWERS}\n"));
    let taken = import.taken(&log).remove(0);
    let export =
        |format: &str| stdout(&import.library, &["export", id(&taken), "--format", format]);
    let trace = export("otlp");
    assert!(!trace.contains("UnixNano"), "{trace}");
    let said = r#"{"key":"mcpreel.time","value":{"stringValue":"not on record"}}"#;
    assert!(trace.contains(said), "{trace}");
    for format in ["markdown", "perfetto", "html"] {
        let text = export(format);
        assert!(
            text.contains("not on record: everything stands at 0"),
            "{text}"
        );
    }
}
