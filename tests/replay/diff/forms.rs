//! For people, for programs, for test reports, as annotations.

use super::made::{Story, TOOLS};
use super::{code, compare, diff, recorded, text};
use crate::support::Library;

/// Two sessions of which the second has another tool, fails where the first did not, and says the
/// same thing otherwise three times.
fn sessions() -> Library {
    let left = Story::weather()
        .says("cities", "{}", "two")
        .says("cities", "{}", "two")
        .says("cities", "{}", "two")
        .call(
            "weather",
            r#"{"days":1}"#,
            r#"{"content":[],"isError":false}"#,
        );
    let right = Story::new()
        .result("tools/list", "{}", &TOOLS.replace(r#"["city"]"#, r#"["city","days"]"#))
        .call(
            "weather",
            r#"{"city":"Oslo"}"#,
            r#"{"content":[{"type":"text","text":"rain"}],"structuredContent":{"degrees":7,"wind":[1,2]},"isError":false}"#,
        )
        .says("cities", "{}", "three")
        .says("cities", "{}", "three")
        .says("cities", "{}", "three")
        .call("weather", r#"{"days":1}"#, r#"{"content":[],"isError":true}"#);
    recorded(&left, &right)
}

/// What stands in place of the folder of the test.
fn told(library: &Library, args: &[&str]) -> String {
    let output = diff(library, &[&["7f3a", "c04d"], args].concat());
    assert_eq!(code(&output), 1, "{}", text(&output.stderr));
    let folder = library.path().to_str().expect("it is text");
    text(&output.stdout).replace(folder, "DIR")
}

#[test]
fn people_see_the_verdict_first() {
    insta::assert_snapshot!(told(&sessions(), &[]));
}

#[test]
fn test_reports_have_a_case_for_each_call() {
    insta::assert_snapshot!(told(&sessions(), &["--format", "junit"]));
}

#[test]
fn programs_get_seq_path_class_values_and_command() {
    let library = sessions();
    let found = compare(&library, &[]);
    let rows = found.rows.iter();
    let fails: Vec<_> = rows.filter(|row| row["path"] == "result.isError").collect();
    assert_eq!(fails.len(), 1);
    let row = fails[0];
    assert_eq!((&row["left"], &row["right"]), (&14.into(), &14.into()));
    assert_eq!((&row["was"], &row["is"]), (&"false".into(), &"true".into()));
    assert_eq!(row["class"], "breaking");
    assert_eq!(row["open"][0], "mcpreel open '7f3a#14'");
    let formats = diff(&library, &["7f3a", "c04d", "--format", "json"]);
    let short = diff(&library, &["7f3a", "c04d", "--json"]);
    assert_eq!(formats.stdout, short.stdout);
}

#[test]
fn a_closed_pipe_is_no_error_and_takes_no_verdict_away() {
    use std::io::Read as _;
    use std::process::Stdio;
    let library = sessions();
    let mut command = library.mcpreel("diff");
    command
        .args(["7f3a", "c04d", "--json"])
        .stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("mcpreel starts");
    drop(child.stdout.take());
    let mut said = String::new();
    let mut stderr = child.stderr.take().expect("it is a pipe");
    stderr.read_to_string(&mut said).expect("it is text");
    let status = child.wait().expect("it ends");
    assert_eq!((status.code(), said.as_str()), (Some(1), ""));
}

#[test]
fn what_strangers_may_read_has_no_secrets() {
    let token = "ghp_016C7e4fK2mQ9xZ3vB8nL5tR1wYdHsJaPcUo";
    let answer = |token: &str, password: &str| {
        format!(
            r#"{{"content":[{{"type":"text","text":"got {token}"}}],"structuredContent":{{"password":"{password}"}},"isError":false}}"#
        )
    };
    let story = |token, password| Story::weather().call("weather", "{}", &answer(token, password));
    let left = story(token, "hunter2secretZ9");
    let library = recorded(&left, &story("nothing", "another1secretX8"));
    let secrets = [token, "hunter2secretZ9", "another1secretX8"];
    let shown = told(&library, &[]);
    for secret in secrets {
        assert!(shown.contains(secret), "{shown}");
    }
    for format in ["json", "junit", "github"] {
        let shown = told(&library, &["--format", format]);
        assert!(shown.contains("‹secret:1›"), "{format}: {shown}");
        for secret in secrets {
            assert!(!shown.contains(secret), "{format}: {shown}");
        }
    }
}
