//! What heads of HTTP say about the lengths of their bodies (RFC 9112 section 6).

use crate::quote;
use mcpreel_wire::http::Head;
use mcpreel_wire::http::body::BodyLength;

/// What is wrong with the length that a head gives for its body: two readers may disagree about where the
/// message ends.
pub(super) fn contradiction(head: &Head) -> Option<String> {
    // An empty member counts as well: no length follows from it.
    let lengths = head.all("content-length").flat_map(|it| it.split(','));
    let lengths: Vec<_> = lengths.map(str::trim).collect();
    let codings: Vec<_> = head.list("transfer-encoding").collect();
    let is_number = |length: &&str| length.bytes().all(|byte| byte.is_ascii_digit());
    if let (Some(length), false) = (lengths.first(), codings.is_empty()) {
        let (length, codings) = (quote::text(length), quote::text(&codings.join(", ")));
        return Some(format!(
            "Content-Length is {length} and Transfer-Encoding is {codings}"
        ));
    }
    if lengths.iter().any(|length| *length != lengths[0]) {
        let lengths = quote::text(&lengths.join(" and "));
        return Some(format!("Content-Length is {lengths}"));
    }
    if BodyLength::of(head, None) != BodyLength::Unclear {
        return None;
    }
    Some(match lengths.first() {
        Some(&"") => "Content-Length is empty".to_owned(),
        Some(length) if is_number(length) => {
            format!("Content-Length is {}, too large", quote::text(length))
        }
        Some(length) => format!("Content-Length is {}, no number", quote::text(length)),
        None => {
            let codings = quote::text(&codings.join(", "));
            format!(
                "Transfer-Encoding is {codings} in HTTP/1.{}, from which no length follows",
                head.minor
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_that_is_empty_is_told_as_that() {
        let told = |lengths: &str| {
            let head = format!("POST / HTTP/1.1\r\nContent-Length:{lengths}\r\n\r\n");
            contradiction(&Head::parse(head.as_bytes()).unwrap())
        };
        assert_eq!(told(" 3, 3"), None);
        assert_eq!(told("").unwrap(), "Content-Length is empty");
        assert_eq!(told(" 3,").unwrap(), "Content-Length is 3 and ");
        assert!(told(" x").unwrap().contains("no number"));
    }
}
