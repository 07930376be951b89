//! A field of a form in parts, whose value stands behind an empty line.
//!
//! ```text
//!  Content-Disposition: form-data; name="password"
//!
//!  this
//! ```

use std::ops::Range;

/// Bytes of what else is said of a field.
const NEAR: usize = 256;

/// Where the value of the field `name` stands, if it is one.
pub(super) fn value(text: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    let before = text[..name.start].strip_suffix(b"\"")?;
    let is_field = before.ends_with(b"form-data; name=") && text.get(name.end) == Some(&b'"');
    let near = &text[name.end..text.len().min(name.end + NEAR)];
    let empty = [&b"\r\n\r\n"[..], b"\n\n"];
    let empty = empty.into_iter().filter(|_| is_field).find_map(|empty| {
        let at = memchr::memmem::find(near, empty)?;
        Some(name.end + at + empty.len())
    });
    let start = empty?;
    let rest = &text[start..];
    let end = memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
    (end > 0).then_some(start..start + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stands_behind_an_empty_line() {
        let found = |text: &str| {
            let start = text.find("password").unwrap();
            let span = value(text.as_bytes(), &(start..start + 8))?;
            Some(text[span].to_owned())
        };
        for text in [
            "form-data; name=\"password\"\r\n\r\none two\r\n--x",
            "form-data; name=\"password\"\r\nContent-Type: text/plain\r\n\r\none two",
            "form-data; name=\"password\"\n\none two\n--x",
        ] {
            assert_eq!(found(text).as_deref(), Some("one two"), "{text}");
        }
        for text in [
            "form-data; name=\"password\"",
            "form-data; filename=\"password\"\n\none two",
            "name=\"password\"\n\none two",
            "form-data; name=\"password\"\n\n",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
