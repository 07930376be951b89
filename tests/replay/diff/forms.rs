//! For people, for programs, for test reports, as annotations.

use super::made::{Story, TOOLS};
use super::{code, diff, recorded, text};
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
