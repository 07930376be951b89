//! Read with a parser of Markdown: what it takes for text, links and HTML is ours alone.

use super::*;
use crate::export::{Selection, exported};
use crate::written::Session;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::path::Path;

/// What a server might put into every text that it controls.
const EVIL: &str = "EVIL ``` ~~~ `a` | <img src=x onerror=alert(1)> @octocat #1 https://evil.example www.evil.example [x](y) **b** \\u001b[2J\\u202e\\n# h\\n```\\n</pre>";

fn recorded(dir: &Path, session: impl FnOnce(&mut Session)) -> Recording {
    Recording::open(&crate::written::recorded(dir, session)).unwrap()
}

fn report_of(recording: &Recording, selection: &Selection) -> String {
    String::from_utf8(exported(Excerpt::of(recording, selection), write)).unwrap()
}

fn report(session: impl FnOnce(&mut Session)) -> String {
    let dir = tempfile::tempdir().unwrap();
    let recording = recorded(dir.path(), session);
    report_of(&recording, &Selection::between(None, None))
}

fn killed(session: &mut Session, signal: &str) {
    session.end_with(EventKind::Exit {
        code: None,
        signal: Some(signal.to_owned()),
        max_rss_bytes: 1,
        user_ns: 2,
        system_ns: 3,
    });
}

fn hostile(session: &mut Session) {
    let info = format!(r#"{{"name":"{EVIL}","version":"{EVIL}"}}"#);
    session.say(&format!(
        r#"
        > "id":"{EVIL}","method":"initialize","params":{{"protocolVersion":"{EVIL}","capabilities":{{}},"clientInfo":{info}}}
        < "id":"{EVIL}","result":{{"protocolVersion":"{EVIL}","capabilities":{{"{EVIL}":{{}}}},"serverInfo":{info}}}
        > "id":2,"method":"tools/call","params":{{"name":"{EVIL}","arguments":{{"{EVIL}":"{EVIL}"}}}}
        < "id":2,"error":{{"code":"{EVIL}","message":"{EVIL}"}}
        < "method":"notifications/{EVIL}"
        > "id":3,"method":"{EVIL}"
    "#
    ));
    session.chunk(StreamId::S2C, b"EVIL ```\r<b>@octocat\x1b[2J\xe2\x80\xae\n");
    session.chunk(StreamId::STDERR, b"EVIL panic: ````\r</code>@octocat\n");
    killed(session, "EVIL`` <b> @octocat");
}

/// The parts of a report that are no code; and its code, by language.
fn read(report: &str) -> (String, Vec<(String, String)>) {
    let options = Options::ENABLE_TABLES | Options::ENABLE_GFM | Options::ENABLE_STRIKETHROUGH;
    let mut text = String::new();
    let mut code = Vec::new();
    let mut block: Option<(String, String)> = None;
    for event in Parser::new_ext(report, options) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                block = Some((language.to_string(), String::new()));
            }
            Event::End(TagEnd::CodeBlock) => code.extend(block.take()),
            Event::Text(said) => match &mut block {
                Some((_, lines)) => lines.push_str(&said),
                None => text.push_str(&said),
            },
            Event::Code(said) => code.push(("span".to_owned(), said.to_string())),
            Event::Html(html) | Event::InlineHtml(html) => panic!("HTML: {html}"),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                panic!("a link: {dest_url}")
            }
            Event::SoftBreak | Event::HardBreak => text.push('\n'),
            _ => {}
        }
    }
    (text, code)
}

fn is_hidden(character: char) -> bool {
    character.is_control() && character != '\n' || character == '\u{202e}'
}

#[test]
fn nothing_off_the_wire_is_alive() {
    let report = report(hostile);
    let (text, code) = read(&report);
    for alive in ["EVIL", "octocat", "@", "#", "http", "www", "<", "`", "evil"] {
        assert!(!text.contains(alive), "{alive}: {text}");
    }
    assert!(!report.contains(is_hidden), "{report:?}");
    let spans = code.iter().filter(|(kind, _)| kind == "span");
    assert!(spans.clone().any(|(_, span)| span.contains("EVIL")));
    assert!(spans.clone().all(|(_, span)| !span.contains('\n')));
    let headings: Vec<_> = report
        .lines()
        .filter(|line| line.starts_with('#'))
        .collect();
    let ours = [
        "# MCP session: ",
        "## Sequence",
        "## What was said",
        "### `#",
        "## Last lines on stderr",
        "## Findings",
        "## To see it again",
    ];
    for heading in headings {
        assert!(ours.iter().any(|our| heading.starts_with(our)), "{heading}");
    }
}

#[test]
fn what_happened_stands_first_and_then_who_it_happened_to() {
    let report = report(|session| {
        session.say(r#"
            > "id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}
            < "id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"ledger","version":"2"}}
        "#);
        for id in 2..30 {
            session.say(&format!(
                "> \"id\":{id},\"method\":\"ping\"\n< \"id\":{id},\"result\":{{}}"
            ));
        }
        session.say(r#"> "id":99,"method":"tools/call","params":{"name":"transfer"}"#);
        session.say("! fatal: bad pointer");
        killed(session, "SIGSEGV");
    });
    let at = |part: &str| {
        report
            .find(part)
            .unwrap_or_else(|| panic!("{part}: {report}"))
    };
    let order = [
        "# MCP session: `weather (ledger 2)`",
        "why        the server was ended by SIGSEGV in the middle of transfer (#59)",
        "evidence   #59",
        "- client: `host 1`",
        "- server: `ledger 2`",
        "- version: `2025-11-25",
        "- end: `the server was ended by SIGSEGV",
        "- recorded: `by mcpreel ",
        "    Note over c,s: 55 more frames",
        "    c->>s: #35;59 tools/call transfer",
        "    Note over s: stderr#58; fatal#58; bad pointer",
        "    Note over s: the server was ended by SIGSEGV",
        "### `#59` `tools/call transfer`: lost",
        "\"name\": \"transfer\"",
        "There is no answer on record.",
        "29 more exchanges not told here",
        "## Last lines on stderr",
        "## Findings",
        "mcpreel replay ",
        "mcpreel mock ",
        "Not redacted: read it before you post it.",
    ];
    for pair in order.windows(2) {
        assert!(at(pair[0]) < at(pair[1]), "{pair:?}: {report}");
    }
}

#[test]
fn however_much_there_is_a_report_can_be_read() {
    let report = report(|session| {
        for id in 0..300 {
            session.say(&format!(
                r#"
                > "id":{id},"method":"tools/call","params":{{"name":"t{id}"}}
                < "id":{id},"error":{{"code":1,"message":"no {id}"}}
                ! error {id}
            "#
            ));
        }
        let long = "x".repeat(1_500_000);
        session.say(r#"> "id":"long","method":"tools/call","params":{"name":"long"}"#);
        session.say(&format!(
            r#"< "id":"long","error":{{"code":2,"message":"{long}"}}"#
        ));
        for id in 0..40 {
            let call =
                format!(r#"> "id":"o{id}","method":"tools/call","params":{{"name":"o{id}"}}"#);
            session.say(&call);
        }
        session.end();
    });
    assert!(report.len() < 64 * 1024, "{}", report.len());
    assert!(report.contains("not told here, of which 3"), "{report}");
    // The fifth of five tools that failed was once among what is not told.
    assert!(report.matches(": error\n").count() > 4, "{report}");
    assert!(
        (1..=10).contains(&report.matches("\n### ").count()),
        "{report}"
    );
    let (_, code) = read(&report);
    let diagram = code.iter().find(|(kind, _)| kind == "mermaid").unwrap();
    assert!(diagram.1.lines().count() < 100);
}

#[test]
fn a_code_span_is_longer_than_what_would_end_it() {
    assert_eq!(code("search"), "`search`");
    assert_eq!(code("a`b``c"), "```a`b``c```");
    assert_eq!(code("`"), "`` ` ``");
    assert_eq!(code(" x"), "`  x `");
    assert_eq!(code(""), "–");
    assert_eq!(code("  "), "–");
    assert_eq!(code("a\n\n# b\u{202e}"), "`a\\n\\n# b\\u{202e}`");
    assert!(code(&"x".repeat(1000)).ends_with("…`"));
}
