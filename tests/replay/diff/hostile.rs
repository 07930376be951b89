//! Whatever a stranger's recording says, it is shown as text and within bounds.

use super::made::Story;
use super::{code, compared, diff, recorded, text};

/// A title change, a cleared screen, an order of reading turned around, invisible letters, a C1
/// control, markup, and what would end a workflow command.
const EVIL: &str =
    "\\u001b]0;x\\u0007\\u001b[2J\\u202ebad\\u200b\\u009b<b>&]]>%0A::error::x\\r\\n::error::y'";

fn is_harmless(character: char) -> bool {
    let is_control = character.is_control() && character != '\n';
    let is_hidden = matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}');
    !is_control && !is_hidden
}

/// A session in which everything says this.
fn saying(what: &str, again: &str) -> Story {
    let tool = format!(
        r#"{{"name":"{what}","description":"{again}","inputSchema":{{"type":"object","properties":{{"{what}":{{"type":"string","description":"{again}"}}}}}}}}"#
    );
    Story::new()
        .result("tools/list", "{}", &format!(r#"{{"tools":[{tool}]}}"#))
        .call(
            what,
            &format!(r#"{{"{what}":"{again}"}}"#),
            &format!(
                r#"{{"{what}":{{"{what}":"{again}"}},"content":[{{"text":"{again}\\n{again}"}}]}}"#
            ),
        )
        .exchange(
            "x/y",
            "{}",
            &format!(r#""error":{{"code":"{what}","message":"{again}"}}"#),
        )
        .server(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/{what}","params":{{"a":"{again}"}}}}"#
        ))
}

#[test]
fn nothing_off_the_wire_reaches_a_terminal_a_report_or_a_workflow() {
    let left = saying(EVIL, EVIL);
    let right = saying(EVIL, &format!("{EVIL} other"));
    let library = recorded(&left, &right);
    for format in ["text", "json", "junit", "github"] {
        let output = diff(&library, &["7f3a", "c04d", "--format", format]);
        assert_eq!(code(&output), 1);
        let told = text(&output.stdout);
        let bad = told.chars().find(|character| !is_harmless(*character));
        assert_eq!(bad, None, "{format}: {told}");
        if format == "junit" {
            assert!(!told.contains("<b") && !told.contains("]]>"), "{told}");
        }
        if format == "github" {
            let is_ours = |line: &str| {
                ["::error file=", "::notice file="]
                    .iter()
                    .any(|begin| line.starts_with(begin))
            };
            assert!(told.lines().all(is_ours), "{told}");
        }
    }
}

#[test]
fn deep_and_broken_messages_are_compared_as_bytes() {
    let deep = |leaf: &str| format!("{}{leaf}{}", "[".repeat(5000), "]".repeat(5000));
    let story = |leaf: &str| Story::new().call("weather", "{}", &deep(leaf));
    assert_eq!(compared(&story("1"), &story("1"), &[]).code, 0);
    assert_eq!(compared(&story("1"), &story("2"), &[]).code, 1);
    let odd = Story::weather()
        .server("\u{1b}[2J no JSON")
        .server("{\"jsonrpc\":\"2.0\"}");
    assert_eq!(compared(&odd, &odd, &[]).code, 0);
}

#[test]
fn a_name_of_a_file_is_quoted_for_the_shell() {
    let library = recorded(
        &Story::weather(),
        &Story::weather().says("cities", "{}", "x"),
    );
    let mut files = library.recordings();
    files.sort();
    let odd = library.path().join("it's \u{1b}[2J; x.reel");
    let right = files
        .iter()
        .find(|file| file.to_string_lossy().contains("c04d"));
    std::fs::rename(right.expect("it is there"), &odd).expect("it can be renamed");
    let folder = library.path().to_str().expect("text");
    let odd = odd.to_str().expect("text");
    // Named by an option, the folder is not where the next command would look for an id.
    let output = diff(
        &library,
        &["7f3a", odd, "--fail-on", "added", "--dir", folder],
    );
    let told = text(&output.stdout);
    assert!(told.chars().all(is_harmless), "{told}");
    assert_eq!(code(&output), 1);
    let command = format!(r"mcpreel open '{folder}/it'\''s \x1b[2J; x.reel#8'");
    assert!(told.contains(&command), "{told}");
}
