//! What rules bind: values that the server chose anew are the same, and nothing else is.

use super::made::Story;
use super::{LEFT, RIGHT, code, compare, diff, text};
use crate::support::Library;

/// A session in which a handle is made, given back and told again.
fn handles(made: &str, given: &str) -> Story {
    Story::new()
        .call(
            "open",
            "{}",
            &format!(
                r#"{{"content":[{{"type":"text","text":"opened {made}"}}],"structuredContent":{{"handle":"{made}"}}}}"#
            ),
        )
        .says("read", &format!(r#"{{"handle":"{given}"}}"#), &format!("the content of {given}"))
}

const BIND: &str = r#"
[[bind]]
answer = "tool:open"
from = "result.structuredContent.handle"
request = "tool:read"
to = "params.arguments.handle"
"#;

/// Once `replay` said of the same two that nothing differs.
#[test]
fn what_a_rule_binds_is_the_same_on_both_sides_wherever_it_stands() {
    let library = Library::new();
    let left = handles("h-37c25f9c", "h-37c25f9c").record(&library, LEFT);
    handles("h-272da2a8", "h-272da2a8").record(&library, RIGHT);
    let without = compare(&library, &[]);
    assert_eq!((without.code, without.count("changed")), (1, 4));
    let rules = left.with_extension("rules.toml");
    std::fs::write(&rules, BIND).expect("it can be written");
    for args in [&[][..], &["--only", "tool:read"]] {
        let found = compare(&library, args);
        assert_eq!((found.code, found.said()), (0, vec![]), "{args:?}");
        let unfired = found.rows.iter().filter(|row| row["kind"] == "unfired");
        assert_eq!(unfired.count(), 0, "it was of use");
    }
    // Of two exchanges alone it holds as well: once it was not known what was bound before them.
    for frame in [4, 6] {
        let both = [format!("7f3a#{frame}"), format!("c04d#{frame}")];
        let alone = diff(&library, &[&both[0], &both[1]]);
        assert_eq!(code(&alone), 0, "{}", text(&alone.stdout));
        assert!(!text(&alone.stdout).contains("changed nothing"));
    }
}

/// What is said when two such sessions are compared by the rule.
fn said(left: &Story, right: &Story) -> Vec<String> {
    let library = Library::new();
    let reel = left.record(&library, LEFT);
    right.record(&library, RIGHT);
    std::fs::write(reel.with_extension("rules.toml"), BIND).expect("it can be written");
    let found = compare(&library, &[]);
    assert_eq!(found.code, i32::from(!found.said().is_empty()));
    found.said()
}

/// A session in which `handle` is made and a call with it answered so.
fn opened(handle: &str, answer: &str) -> Story {
    let made = format!(r#"{{"structuredContent":{{"handle":"{handle}"}}}}"#);
    let given = format!(r#"{{"handle":"{handle}"}}"#);
    Story::new().call("open", "{}", &made).call(
        "read",
        &given,
        &format!(r#"{{"structuredContent":{answer}}}"#),
    )
}

/// Once the handles 7 and 8 made 7 items and 8 items the same, and `ok` a status that fails.
#[test]
fn what_may_be_chance_is_the_same_only_where_a_rule_says_so() {
    let all = |handle: &str| {
        opened(
            handle,
            &format!(r#"{{"text":"{handle} items","count":"{handle}"}}"#),
        )
    };
    let changed = ["text", "count"].map(|name| format!("changed result.structuredContent.{name}"));
    assert_eq!(said(&all("7"), &all("8")), changed);
    assert_eq!(said(&all("ok"), &all("failed")), changed);
    assert_eq!(said(&all("h-37c2"), &all("h-91d0")), [""; 0]);
    let part = |handle: &str| opened(handle, &format!(r#"{{"text":"x{handle}y"}}"#));
    assert_eq!(said(&part("h-37c2"), &part("h-91d0")), changed[..1]);
}

/// A session in which these handles are made, one after the other.
fn made(handles: &[&str]) -> Story {
    handles.iter().fold(Story::new(), |story, handle| {
        story.call(
            "open",
            "{}",
            &format!(r#"{{"structuredContent":{{"handle":{handle}}}}}"#),
        )
    })
}

/// Once each was the same as the one at its place.
#[test]
fn two_handles_that_become_one_and_one_that_becomes_two_are_told() {
    let once = ["changed result.structuredContent.handle"];
    for [a, b, x, y] in [
        [r#""h-37c2""#, r#""h-91d0""#, r#""g-52ab""#, r#""g-68cd""#],
        ["7", "8", "107", "108"],
        // One of them is as it was.
        ["7", "8", "7", "108"],
    ] {
        assert_eq!(
            said(&made(&[a, b, a]), &made(&[x, y, x])),
            Vec::<String>::new()
        );
        assert_eq!(
            said(&made(&[a, b]), &made(&[x, x])),
            once,
            "{a} and {b} become {x}"
        );
        assert_eq!(
            said(&made(&[a, a]), &made(&[x, y])),
            once,
            "{a} becomes {x} and {y}"
        );
    }
}
