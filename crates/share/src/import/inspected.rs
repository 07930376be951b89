//! Lists of texts in objects as a program in JavaScript prints them for people:
//!
//! ```text
//! {
//!   metadata: {
//!     args: [ '-y', '@scope/server', [length]: 2 ],
//!     paths: [
//!       '/usr/local/bin',
//! ```

/// The texts of the list `name` in `object`; `None` where it has none, or not all of it.
pub(super) fn list(object: &str, name: &str) -> Option<Vec<String>> {
    let mut rest = after(object, name)?;
    let mut texts = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ', '\n', '\r', '\t']);
        let first = rest.chars().next()?;
        match first {
            ']' => return Some(texts),
            // How long it is: `[length]: 2`.
            '[' => rest = rest.split_once(']')?.1.trim_start_matches([':', ' ']),
            '0'..='9' => rest = rest.trim_start_matches(|char: char| char.is_ascii_digit()),
            '\'' | '"' | '`' => {
                let (text, behind) = quoted(&rest[1..], first)?;
                texts.push(text);
                rest = behind;
            }
            // `... 3 more items`
            _ => return None,
        }
    }
}

/// What comes after `name: [`, where the name may be quoted.
fn after<'t>(object: &'t str, name: &str) -> Option<&'t str> {
    let mut places = object.match_indices(name);
    places.find_map(|(at, _)| {
        let rest = object[at + name.len()..]
            .trim_start_matches('"')
            .trim_start();
        rest.strip_prefix(':')?.trim_start().strip_prefix('[')
    })
}

/// The text up to the closing `quote`, and what follows.
fn quoted(rest: &str, quote: char) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut chars = rest.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => text.push(chars.next()?.1),
            _ if char == quote => return Some((text, &rest[at + char.len_utf8()..])),
            _ => text.push(char),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_is_printed() {
        let object = "{\n  metadata: {\n    args: [ '-y', \"it's\", [length]: 2 ],\n    paths: [\n      'C:\\\\Windows',\n      '/bin',\n      [length]: 2\n    ]\n  }\n} %o";
        assert_eq!(list(object, "args"), Some(vec!["-y".into(), "it's".into()]));
        assert_eq!(
            list(object, "paths"),
            Some(vec![r"C:\Windows".into(), "/bin".into()])
        );
        assert_eq!(
            list(r#"{"metadata":{"args":["-y"]}}"#, "args"),
            Some(vec!["-y".into()])
        );
        for broken in [
            "",
            "{ args: [ 'a', ... 3 more items ] }",
            "{ args: [ 'a",
            "{ args: 'a' }",
        ] {
            assert_eq!(list(broken, "args"), None, "{broken}");
        }
    }
}
