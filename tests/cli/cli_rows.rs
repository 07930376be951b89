//! The objects of `--json`, and what people see of the same recording.

use super::{demo, sample, stdout};
use serde_json::Value;

fn keys(object: &Value) -> Vec<&str> {
    object
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}

fn find<'a>(rows: &'a [Value], key: &str, value: &str) -> &'a Value {
    rows.iter()
        .find(|row| row[key] == value)
        .unwrap_or_else(|| panic!("no row has {key} = {value}"))
}

#[test]
fn stats_are_sorted_tell_sizes_and_the_slowest_and_no_percentiles_of_a_few() {
    let demo = demo();
    let rows = demo.json(&["stats", "--sort", "bytes"]);
    let tools: Vec<_> = rows.iter().filter(|row| !row["name"].is_null()).collect();
    let bytes = |row: &&Value| {
        let of = |key: &str| row[key].as_u64().expect("a number");
        of("request_bytes") + of("response_bytes")
    };
    assert!(
        tools.is_sorted_by_key(|row| std::cmp::Reverse(bytes(row))),
        "{tools:?}"
    );
    let text = stdout(&demo, &["stats"]);
    assert!(text.contains("BYTES") && text.contains(" %)"), "{text}");
    let (_, slowest) = text.split_once("SLOWEST").expect("it has them");
    assert!(slowest.contains('#'), "{text}");
    let few = find(&rows, "method", "initialize");
    assert_eq!(few["count"], 1);
    let line = text.lines().find(|line| line.contains("initialize"));
    assert!(line.expect("it has a row").contains("–  "), "{text}");
    assert!(text.contains("–: of fewer than five answers"), "{text}");
}

#[test]
fn rows_have_these_fields_in_this_order() {
    const FRAME: &str = "seq stream direction t_first_ns t_last_ns size text";
    const EXCHANGE: &str = "direction method name id request response t_request_ns t_response_ns \
                            latency_ns waited_ns status code era summary";
    const FINDING: &str = "rule severity frame request path message";
    let demo = demo();
    let rows = |option: &str| demo.json(&["show", "@", option]);
    for (option, fields) in [
        ("--frames", FRAME),
        ("--exchanges", EXCHANGE),
        ("--events", "t_ns after_seq kind"),
        ("--findings", FINDING),
    ] {
        let fields: Vec<_> = fields.split_whitespace().collect();
        for row in rows(option) {
            assert_eq!(keys(&row)[..fields.len()], fields, "{option}");
        }
    }
    let frames = rows("--frames");
    for (frame, seq) in frames.iter().zip(1_u64..) {
        assert_eq!(frame["seq"], seq);
        let text = frame["text"].as_str().expect("the demo speaks UTF-8");
        assert_eq!(frame["size"], text.len());
    }
    assert_eq!(demo.json(&["show", "@#2"])[0], frames[1]);
    let calm = stdout(&demo, &["show", &sample("well-behaved")]);
    assert!(calm.contains("; 0 findings, 1 note\n"), "{calm}");
    let exchanges = rows("--exchanges");
    let storm = find(&exchanges, "name", "watch_storm");
    assert_eq!(storm["status"], "user-cancelled");
    assert_eq!(storm["response"], Value::Null);
    let events = rows("--events");
    assert_eq!(events[0]["kind"], "start");
    assert_eq!(find(&events, "kind", "exit")["code"], 0);
    let eof = find(&events, "kind", "eof");
    assert_eq!(
        (&eof["stream"], &eof["by"]),
        (&"c2s".into(), &"writer".into())
    );
}

#[test]
fn command_lines_are_shown_without_their_secrets() {
    const SECRET: &str = "Kq8vWp3mXrT4ZbLd7";
    let library = crate::support::Library::new();
    let mut run = library.run(["sh", "-c", "exit 0", "sh", "--api-key", SECRET]);
    assert!(run.output().expect("mcpreel starts").status.success());
    for said in [
        stdout(&library, &["show"]),
        stdout(&library, &["show", "--json"]),
        stdout(&library, &["show", "--events", "--json"]),
        stdout(&library, &["ls", "--json"]),
        stdout(&library, &["search", "--", "--api-key"]),
    ] {
        assert!(
            said.contains("--api-key") && !said.contains(SECRET),
            "{said}"
        );
    }
}

#[test]
fn a_bad_end_shows_the_last_words_of_the_server_and_who_spoke() {
    let library = crate::support::Library::new();
    let script = "for n in 1 2 3 4 5 6 7 8 9; do echo line $n >&2; done; exit 7";
    let run = library.run_sh(script).output().expect("mcpreel starts");
    assert_eq!(run.status.code(), Some(7));
    let text = stdout(&library, &["show", "@"]);
    assert!(text.contains("no MCP message"), "{text}");
    assert!(!text.contains("did not say who it is"), "{text}");
    let words = &text[text.find("last lines on stderr").expect("they are shown")..];
    assert!(
        !words.contains("line 1") && words.contains("line 2"),
        "{text}"
    );
    assert!(words.trim_end().ends_with("line 9"), "{text}");
    let listed = stdout(&library, &["ls"]);
    assert!(
        listed.contains("exit 7") && listed.contains("NAME"),
        "{listed}"
    );
}
