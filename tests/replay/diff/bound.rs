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
