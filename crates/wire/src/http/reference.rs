//! URLs and relative references (RFC 3986), as redirects and the `endpoint` event of 2024-11-05 have them.

/// Splits a URL behind its authority. `None` if the reference is relative and names no authority.
pub fn split(reference: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = reference.split_once("//")?;
    // A `//` further on is part of a path or of a query.
    let is_scheme = !scheme.contains(['/', '?', '#']) && scheme.ends_with(':');
    if !scheme.is_empty() && !is_scheme {
        return None;
    }
    let length = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    Some(reference.split_at(reference.len() - rest.len() + length))
}

/// Whether both are one origin (RFC 6454): case and the default port make no difference.
pub fn is_same_origin(one: &str, other: &str) -> bool {
    let normal = |origin: &str| {
        let mut origin = origin.to_ascii_lowercase();
        let default = match origin.split_once("://") {
            Some(("http", _)) => ":80",
            Some(("https", _)) => ":443",
            _ => return origin,
        };
        let without = origin.strip_suffix(default).map(str::len);
        origin.truncate(without.unwrap_or(origin.len()));
        origin
    };
    normal(one) == normal(other)
}

/// Path and query of what `reference` means where `base`, a path and query, was asked for (RFC 3986
/// section 5.2, without dot segments).
pub fn target(base: &str, reference: &str) -> String {
    let authority = split(reference);
    let rest = authority.map_or(reference, |(_, rest)| rest);
    let rest = rest.split('#').next().unwrap_or_default();
    let base = if authority.is_some() { "/" } else { base };
    let path = base.split('?').next().unwrap_or_default();
    match rest.chars().next() {
        None => base.to_owned(),
        Some('/') => rest.to_owned(),
        Some('?') => format!("{path}{rest}"),
        Some(_) => {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            format!("{folder}/{rest}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_seen_from_what_was_asked_for() {
        for (reference, expected) in [
            ("/messages?s=1", "/messages?s=1"),
            ("messages?s=1", "/a/messages?s=1"),
            ("messages?back=https://x/", "/a/messages?back=https://x/"),
            ("?s=1", "/a/sse?s=1"),
            ("", "/a/sse?k=/v"),
            ("https://x/messages?s=1#f", "/messages?s=1"),
            ("https://x?s=1", "/?s=1"),
            ("https://x", "/"),
            ("//x/messages", "/messages"),
        ] {
            assert_eq!(target("/a/sse?k=/v", reference), expected, "{reference}");
        }
    }

    #[test]
    fn the_authority_of_a_url_is_told_from_a_path() {
        for (reference, expected) in [
            ("http://a:1/b", Some(("http://a:1", "/b"))),
            ("http://a?b", Some(("http://a", "?b"))),
            ("http://a", Some(("http://a", ""))),
            ("//a/b", Some(("//a", "/b"))),
            ("/b//c", None),
            ("b//c", None),
            ("b?back=http://a/", None),
        ] {
            assert_eq!(split(reference), expected);
        }
    }

    #[test]
    fn one_origin_may_be_written_in_several_ways() {
        let origin = "https://api.example.com";
        for (other, is_same) in [
            ("HTTPS://API.Example.com:443", true),
            ("https://api.example.com:80", false),
            ("https://api.example.com.evil.example", false),
            ("http://api.example.com", false),
            ("//api.example.com", false),
        ] {
            assert_eq!(is_same_origin(origin, other), is_same, "{other}");
        }
    }
}
