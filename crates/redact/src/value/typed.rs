//! The type of a variable between its name and its value.
//!
//! ```text
//!  password: &str = "this"      var password string = "this"      char password[] = "this"
//! ```

const NEAR: usize = 48;

/// One of these is in the name of each type that holds a text.
const TEXTS: [&str; 5] = ["str", "char", "bytes", "any", "text"];

/// Where the equals sign stands behind a type that begins at `at`, if a value in quotes follows.
pub(super) fn past(text: &[u8], at: usize) -> Option<usize> {
    let near = text.get(at..text.len().min(at + NEAR))?;
    let begins = near
        .first()
        .filter(|first| first.is_ascii_alphabetic() || matches!(first, b':' | b'[' | b'?' | b'!'));
    begins?;
    let sign = memchr::memchr(b'=', near)?;
    let after = near[sign + 1..].trim_ascii_start();
    let after = after.strip_prefix(b"\\").unwrap_or(after);
    let is_quoted = matches!(after.first(), Some(b'"' | b'\'' | b'`'));
    (is_quoted && is_type(&near[..sign])).then_some(at + sign)
}

/// Whether it is a type, with what stands in front of one.
fn is_type(said: &[u8]) -> bool {
    let said = said.trim_ascii_end();
    if let Some(length) = said.strip_prefix(b"[").and_then(|it| it.strip_suffix(b"]")) {
        return length.iter().all(u8::is_ascii_digit);
    }
    let said = said
        .strip_prefix(b"?")
        .or(said.strip_prefix(b"!"))
        .unwrap_or(said);
    let said = said.strip_prefix(b":").unwrap_or(said).trim_ascii_start();
    let said = said.strip_prefix(b"&").unwrap_or(said);
    let said = said.strip_prefix(b"'static ").unwrap_or(said);
    let of_type = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.:<>[]|?".contains(byte);
    let small = String::from_utf8_lossy(said).to_ascii_lowercase();
    said.iter().all(of_type) && TEXTS.iter().any(|text| small.contains(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_texts_stand_in_front_of_a_value() {
        for text in [
            ": String = \"a\"",
            ": &str = \"a\"",
            ": &'static str = \"a\"",
            "?: string = 'a'",
            ": Optional[str] = \\\"a\\\"",
            "string = \"a\"",
            "[] = \"a\"",
            "[32]=\"a\"",
        ] {
            assert_eq!(past(text.as_bytes(), 0), text.find('='), "{text}");
        }
        for text in [
            ": invalid, user = \"a\"",
            ": expired user = \"a\"",
            ": u32 = \"a\"",
            ": String == \"a\"",
            ": String = a",
            "[i] = \"a\"",
            "",
        ] {
            assert_eq!(past(text.as_bytes(), 0), None, "{text}");
        }
    }
}
