//! Nothing off the wire reaches a terminal.

use super::mcpreel;
use crate::support::Library;
use std::io::Write as _;
use std::process::Stdio;

/// What a server might put into every text that it controls: a title change, a cleared screen, an
/// order of reading turned around, invisible letters, a C1 control.
const EVIL: &str = "\\u001b]0;x\\u0007\\u001b[2J\\u202ebad\\u200b\\udb40\\udc41\\u009b";

/// A session in which everything is hostile: names, versions, methods, ids, stderr, noise.
fn session() -> Library {
    let library = Library::new();
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":"{EVIL}","result":{{"protocolVersion":"{EVIL}","capabilities":{{"{EVIL}":{{"{EVIL}":true}}}},"serverInfo":{{"name":"{EVIL}","version":"{EVIL}"}}}}}}"#
    );
    let script = format!(
        "read line\nprintf '%s\\n' '{answer}'\nprintf '\\033[31mred \\342\\200\\256\\377\\n'\nprintf '\\033]0;title\\007\\n' >&2"
    );
    let mut run = library.mcpreel("run");
    run.args([
        "--name",
        "\x1b[2J\u{202e}name",
        "sh",
        "-c",
        &script,
        "\x1b[2J\u{202e}",
    ])
    .stdin(Stdio::piped())
    .stdout(Stdio::piped())
    .stderr(Stdio::piped());
    let mut run = run.spawn().expect("mcpreel starts");
    let request = format!(
        r#"{{"jsonrpc":"2.0","id":"{EVIL}","method":"initialize","params":{{"protocolVersion":"{EVIL}","capabilities":{{}},"clientInfo":{{"name":"{EVIL}","version":"{EVIL}"}}}}}}
{{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{{"name":"{EVIL}","arguments":{{"{EVIL}":"{EVIL}"}}}}}}
{{"jsonrpc":"2.0","method":"notifications/{EVIL}"}}
"#
    );
    let mut stdin = run.stdin.take().expect("it is a pipe");
    stdin.write_all(request.as_bytes()).expect("it reads");
    drop(stdin);
    run.wait_with_output().expect("it ends");
    library
}

fn is_harmless(character: char) -> bool {
    let is_control = character.is_control() && character != '\n';
    let is_hidden = matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{e0000}'..='\u{e0fff}');
    !is_control && !is_hidden
}

#[test]
fn everything_that_people_see_is_plain_text() {
    let library = session();
    let mut all = String::new();
    for words in [
        "ls",
        "show @",
        "show @ --frames",
        "show @ --events",
        "show @ --findings",
        "show @#1",
        "show @#5",
        "stats @",
        "tail @",
        "show nobody",
        "export @ --raw --format text",
        "export @ --raw --format markdown",
        "prune --keep 0 --dry-run",
    ] {
        let args: Vec<_> = words.split(' ').collect();
        let output = mcpreel(&library, &args);
        for stream in [output.stdout, output.stderr] {
            let text = String::from_utf8(stream).expect("the output is UTF-8");
            let bad = text.chars().find(|&character| !is_harmless(character));
            assert_eq!(bad, None, "{args:?} printed:\n{text:?}");
            all.push_str(&text);
        }
    }
    assert!(
        all.contains("\\x1b[2J\\u{202e}"),
        "what was there is still told:\n{all}"
    );
}

#[test]
fn json_for_programs_has_nothing_that_a_terminal_obeys() {
    let library = session();
    for words in [
        "ls",
        "show @",
        "show @ --frames",
        "show @ --exchanges",
        "show @ --events",
        "show @ --findings",
        "tail @",
        "stats @",
        "search bad",
    ] {
        let args: Vec<_> = words.split(' ').chain(["--json"]).collect();
        let said = String::from_utf8(mcpreel(&library, &args).stdout).expect("it is UTF-8");
        let is_bad = |c: char| {
            c.is_control() && c != '\n'
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert_eq!(said.find(is_bad), None, "{args:?} printed:\n{said:?}");
        assert!(!said.is_empty(), "{args:?}");
        for line in said.lines() {
            serde_json::from_str::<serde_json::Value>(line).expect("it is JSON");
        }
    }
}
