//! What a server offers: gone, new, narrowed, widened.

use super::made::{Story, TOOLS};
use super::{compared, diff, recorded, text};

/// A session that lists these tools.
fn listing(tools: &str) -> Story {
    Story::new().result("tools/list", "{}", tools)
}

#[test]
fn tools_are_compared_by_what_they_take_and_give() {
    for (from, to, said) in [
        (
            r#""name":"cities""#,
            r#""name":"towns""#,
            &["breaking tools cities is gone", "added tools towns is new"][..],
        ),
        (
            r#""required":["city"]"#,
            r#""required":["city","days"]"#,
            &["breaking tools weather input narrowed: `days`: is required now"],
        ),
        (
            r#""maximum":7"#,
            r#""maximum":14"#,
            &["added tools weather input widened: `days`: `maximum` is 14 now"],
        ),
        (
            r#""maximum":7"#,
            r#""maximum":3"#,
            &["breaking tools weather input narrowed: `days`: `maximum` is 3 now"],
        ),
        (
            "The weather",
            "The weather of today",
            &["changed tools weather another `description`"],
        ),
    ] {
        assert!(TOOLS.contains(from), "{from}");
        let found = compared(&listing(TOOLS), &listing(&TOOLS.replace(from, to)), &[]);
        let lines = found.said();
        assert_eq!(lines.len(), said.len(), "{from}: {lines:?}");
        for (line, said) in lines.iter().zip(said) {
            assert!(line.starts_with(said), "{from}: {line}");
        }
        let fails = lines.iter().any(|line| !line.starts_with("added"));
        assert_eq!(found.code, i32::from(fails), "{from}");
    }
}

/// Once twenty changes took three screens before anybody saw which tools they are about.
#[test]
fn of_many_changes_each_tool_is_told_in_a_line_first() {
    let tools = |max: u32, more: &str| {
        let tool = |n: u32| {
            format!(
                r#"{{"name":"t{n}","description":"{max}","inputSchema":{{"type":"object","properties":{{"q":{{"type":"integer","maximum":{max}}}}}}}}}"#
            )
        };
        let tools: Vec<_> = (0..6).map(tool).collect();
        format!(r#"{{"tools":[{}{more}]}}"#, tools.join(","))
    };
    let library = recorded(
        &listing(&tools(7, r#",{"name":"old","inputSchema":{}}"#)),
        &listing(&tools(3, "")),
    );
    let output = diff(&library, &["7f3a", "c04d"]);
    let told = text(&output.stdout);
    let (_, offers) = told
        .split_once("what the server offers\n")
        .expect("it is said");
    let (first, each) = offers
        .split_once("what the server offers, one by one")
        .expect("as well");
    let lines: Vec<_> = first.lines().filter(|line| !line.is_empty()).collect();
    let narrowed = "1 breaking, 1 changed, such as input narrowed: `q`: `maximum` is 3 now";
    assert_eq!(lines.len(), 7, "{told}");
    for n in 0..6 {
        let line = format!("  breaking  tool t{n}  {narrowed}");
        assert!(lines.contains(&&*line), "{line} in\n{told}");
    }
    assert!(lines.contains(&"  breaking  tool old  is gone"), "{told}");
    assert_eq!(
        each.matches("properties.q.maximum\n            was")
            .count(),
        6,
        "{told}"
    );
}
