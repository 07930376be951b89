//! URLs for people.

/// A URL without user and password, and without the values of its query, which may be secrets.
pub fn masked_url(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let (before, query) = match url.split_once('?') {
        Some((before, query)) => (before, Some(query)),
        None => (url, None),
    };
    let authority = before.find("://").map_or(0, |at| at + "://".len());
    let (scheme, rest) = before.split_at(authority);
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let mut masked = match authority.rsplit_once('@').filter(|_| !scheme.is_empty()) {
        Some((_, host)) => format!("{scheme}…@{host}{path}"),
        None => before.to_owned(),
    };
    for (nth, parameter) in query.into_iter().flat_map(|it| it.split('&')).enumerate() {
        masked.push(if nth == 0 { '?' } else { '&' });
        if let Some((name, _)) = parameter.split_once('=') {
            masked += name;
            masked.push('=');
        }
        masked.push('…');
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_the_values_of_a_query_are_not_shown() {
        for (url, masked) in [
            ("https://a.example/mcp", "https://a.example/mcp"),
            (
                "https://ada:pw@a.example:1/mcp",
                "https://…@a.example:1/mcp",
            ),
            ("https://token@a.example", "https://…@a.example"),
            (
                "https://a.example/p?key=s&flag#f",
                "https://a.example/p?key=…&…",
            ),
            ("/mcp@2?key=s", "/mcp@2?key=…"),
            ("", ""),
        ] {
            assert_eq!(masked_url(url), masked);
        }
    }
}
