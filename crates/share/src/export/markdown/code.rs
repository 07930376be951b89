//! Text off the wire within Markdown: in code spans and fences, where nothing in it is Markdown,
//! HTML, a mention or a link.

use mcpreel_wire::text::{cut, escape};

/// Columns of a code span: what is longer belongs in a fence.
const COLUMNS: usize = 200;

/// The text as a code span on one line: between more backticks than there are in it.
pub(super) fn code(text: &str) -> String {
    let text = cut(&escape(text), COLUMNS);
    if text.trim().is_empty() {
        return "–".to_owned();
    }
    let ticks = "`".repeat(longest_run(&text) + 1);
    // A space on both sides is taken away again where there is one.
    let needs_room = text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    let room = if needs_room { " " } else { "" };
    format!("{ticks}{room}{text}{room}{ticks}")
}

/// The address of a frame. Outside a code span a number sign and a number would be a link to an
/// issue.
pub(super) fn frame(seq: u64) -> String {
    format!("`#{seq}`")
}

/// A fence around lines that are escaped already, longer than any run of backticks in them.
pub(super) fn fenced(language: &str, lines: &str) -> String {
    let ticks = "`".repeat(longest_run(lines).max(2) + 1);
    let end = if lines.ends_with('\n') || lines.is_empty() {
        ""
    } else {
        "\n"
    };
    format!("{ticks}{language}\n{lines}{end}{ticks}\n")
}

fn longest_run(text: &str) -> usize {
    let runs = text.split(|character| character != '`');
    runs.map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_fence_is_longer_than_what_would_end_it() {
        assert_eq!(fenced("json", "{}\n"), "```json\n{}\n```\n");
        assert_eq!(fenced("text", "a\n```\nb"), "````text\na\n```\nb\n````\n");
        assert_eq!(fenced("", "`````"), "``````\n`````\n``````\n");
    }
}
