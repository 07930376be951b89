//! What a server offers: gone, new, narrowed, widened.

use super::made::Story;
use super::{diff, recorded, text};

/// A session that lists these tools.
fn listing(tools: &str) -> Story {
    Story::new().result("tools/list", "{}", tools)
}

/// Once twenty changes took three screens before anybody saw which tools they are about.
#[test]
fn many_changes_of_tools_are_told_in_a_line_each() {
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
    let lines: Vec<_> = told
        .lines()
        .skip_while(|line| !line.starts_with("what the server offers: tools"))
        .collect();
    assert_eq!(lines.len(), 1 + 2 * 6 + 1 + 1, "{told}");
    for n in 0..6 {
        let narrowed = "input narrowed: `q`: `maximum` is 3 now";
        let line = format!("  breaking  tool t{n}  {narrowed}");
        assert!(lines.contains(&&*line), "{line} in\n{told}");
    }
    assert!(lines.contains(&"  breaking  tool old  is gone"), "{told}");
}
