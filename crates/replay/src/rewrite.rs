//! Paths of the left side and what stands for them on the right: a workspace that lies elsewhere.

use mcpreel_wire::text::uri_path;
use std::borrow::Cow;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewrites {
    /// The longest first, so that a folder below another one may go elsewhere.
    pairs: Vec<Pair>,
}

/// What stands for a path, as both stand in a text, or in a URI.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pair {
    in_uri: bool,
    from: String,
    to: String,
}

const SCHEME: &str = "file://";

impl Rewrites {
    /// Rewrites no path.
    pub const NONE: Self = Self { pairs: Vec::new() };

    /// Each path with what stands for it. Empty ones stand for nothing.
    pub fn new(pairs: impl IntoIterator<Item = (String, String)>) -> Self {
        // A folder is the same with and without its last slash.
        let bare = |path: String| match path.trim_end_matches('/') {
            "" => path,
            bare => bare.to_owned(),
        };
        let pairs = pairs.into_iter().filter(|(from, _)| !from.is_empty());
        let pairs = pairs.map(|(from, to)| (bare(from), bare(to)));
        let both =
            pairs.flat_map(|(from, to)| [(true, in_uri(&from), in_uri(&to)), (false, from, to)]);
        let mut pairs: Vec<_> = both
            .map(|(in_uri, from, to)| Pair { in_uri, from, to })
            .collect();
        pairs.sort_by_key(|pair| std::cmp::Reverse(pair.from.len()));
        Self { pairs }
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// A decoded text as it reads on the right. Paths are replaced where they stand as a whole or
    /// with something below them: `/home/ada` is not in `/home/adam`.
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut out = String::new();
        let mut copied = 0;
        let mut at = 0;
        while !self.pairs.is_empty() && at < text.len() {
            match self.at(text, at) {
                Some(pair) => {
                    out.push_str(&text[copied..at]);
                    out.push_str(&pair.to);
                    at += pair.from.len();
                    copied = at;
                }
                None => at += text[at..].chars().next().map_or(1, char::len_utf8),
            }
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[copied..]);
        Cow::Owned(out)
    }

    /// The path that stands at `at`.
    fn at(&self, text: &str, at: usize) -> Option<&Pair> {
        let (before, rest) = text.split_at(at);
        let in_uri = before.ends_with(SCHEME);
        let begins = in_uri || !before.ends_with(goes_on);
        let pairs = self
            .pairs
            .iter()
            .filter(|pair| begins && pair.in_uri == in_uri);
        let mut fitting = pairs.filter(|pair| rest.strip_prefix(&*pair.from).is_some_and(ends));
        fitting.next()
    }
}

/// Whether a name goes on with this character.
fn goes_on(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | '~' | '%')
}

/// Whether a path has ended before `rest`: by a slash, or by what belongs to no name.
fn ends(rest: &str) -> bool {
    let mut characters = rest.chars();
    match characters.next() {
        // The full stop of a sentence.
        Some('.') => !characters.next().is_some_and(goes_on),
        next => !next.is_some_and(goes_on),
    }
}

fn in_uri(path: &str) -> String {
    uri_path(path.as_bytes(), b"!$&'()*+,;=:@")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_replaced_once_where_they_stand_as_a_whole() {
        let pairs = [
            ("/home/ada/", "/tmp/w"),
            ("/home/ada/x y", "/z z"),
            ("/tmp/w", "/c"),
            ("", "x"),
        ];
        let pairs = pairs.map(|(from, to)| (from.to_owned(), to.to_owned()));
        let rewrites = Rewrites::new(pairs);
        for (text, expected) in [
            ("/home/ada", "/tmp/w"),
            (
                "in /home/ada/src, see /home/ada.",
                "in /tmp/w/src, see /tmp/w.",
            ),
            ("file:///home/ada/a", "file:///tmp/w/a"),
            ("file:///home/ada/x%20y/a", "file:///z%20z/a"),
            ("(/home/ada/x y/a)", "(/z z/a)"),
        ] {
            assert_eq!(rewrites.apply(text), expected);
        }
        for text in "/home/adam /home/ada.bak /mnt/home/ada /home/ada-2/x é".split(' ') {
            assert!(matches!(rewrites.apply(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
