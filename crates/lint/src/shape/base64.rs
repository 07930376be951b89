//! Bytes as text (RFC 4648, section 4).

use mcpreel_wire::json::Value;

/// What is wrong with a string that should be base64 with padding; `None` where nothing is.
pub fn fault(value: Value<'_>) -> Option<String> {
    let text = value.str_bytes();
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    let digits = &text[..text.len() - padding];
    if let Some(at) = digits.iter().position(|byte| !is_digit(*byte)) {
        let what = match digits[at] {
            b'-' | b'_' => "a digit of the alphabet for URLs",
            b'\n' | b'\r' | b' ' | b'\t' => "white space",
            b'=' => "padding in the middle",
            _ => "no digit of base64",
        };
        return Some(format!("{what} at byte {at}"));
    }
    match (digits.len() % 4, padding) {
        (0, 0) | (2, 2) | (3, 1) => None,
        (1, _) => Some(format!("{} digits are no whole bytes", digits.len())),
        (_, 0) => Some("the padding is missing".to_owned()),
        _ => Some(format!("{padding} signs of padding do not fit")),
    }
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/'
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_wire::json::Document;

    #[test]
    fn base64_is_told_from_what_looks_like_it() {
        for (json, expected) in [
            (r#""""#, None),
            (r#""aGk=""#, None),
            (r#""aA==""#, None),
            (r#""aGkh""#, None),
            (r#""\u0061Gk\u003d""#, None),
            (r#""+\/+/""#, None),
            (r#""aGk""#, Some("the padding is missing")),
            (
                r#""aG-_""#,
                Some("a digit of the alphabet for URLs at byte 2"),
            ),
            (r#""aGkh\naGkh""#, Some("white space at byte 4")),
            (
                r#""data:image/png;base64,aGkh""#,
                Some("no digit of base64 at byte 4"),
            ),
            (r#""aA==aA==""#, Some("padding in the middle at byte 2")),
            (r#""aGkha""#, Some("5 digits are no whole bytes")),
            (r#""aGk==""#, Some("2 signs of padding do not fit")),
            (r#""====""#, Some("4 signs of padding do not fit")),
        ] {
            let document = Document::parse(json.as_bytes()).unwrap();
            assert_eq!(fault(document.root()).as_deref(), expected, "{json}");
        }
    }
}
