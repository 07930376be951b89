//! Workspace roots that are elsewhere now.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Paths and what stands for them.
#[derive(Clone, Debug, Default)]
pub(super) struct Roots(Vec<(Box<str>, Box<str>)>);

impl Roots {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn rewrite(&mut self, old: Box<str>, new: Box<str>) {
        if old.is_empty() {
            return;
        }
        let (coded_old, coded_new) = (coded(&old), coded(&new));
        if *coded_old != *old {
            self.0.push((coded_old.into(), coded_new.into()));
        }
        self.0.push((old, new));
        // The longest first: a root within another one is the one that is meant.
        self.0.sort_by_key(|(old, _)| usize::MAX - old.len());
    }

    /// `text` with the roots replaced where they stand as paths: not within a longer name.
    pub(super) fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut changed = String::new();
        let mut rest = text;
        let mut before = None;
        while let Some((at, old, new)) = self.first(rest, before) {
            changed.push_str(&rest[..at]);
            changed.push_str(new);
            before = old.chars().next_back();
            rest = &rest[at + old.len()..];
        }
        if before.is_none() {
            return Cow::Borrowed(text);
        }
        changed.push_str(rest);
        Cow::Owned(changed)
    }

    /// Where the first root begins, and what it becomes. `before` stands in front of the text.
    fn first(&self, text: &str, before: Option<char>) -> Option<(usize, &str, &str)> {
        let places = self.0.iter().filter_map(|(old, new)| {
            let stands = |at: &usize| {
                let in_front = text[..*at].chars().next_back().or(before);
                let behind = text[at + old.len()..].chars().next();
                in_front.is_none_or(|char| !is_name(char))
                    && behind.is_none_or(|char| !is_name(char))
            };
            let at = text.match_indices(&**old).map(|(at, _)| at).find(stands)?;
            Some((at, &**old, &**new))
        });
        places.min_by_key(|(at, old, _)| (*at, usize::MAX - old.len()))
    }
}

/// Whether it goes on with a name, so that the path ends elsewhere. `/` before a root belongs to
/// `file://`, behind it to what is below.
fn is_name(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '-' | '.')
}

/// A path as it stands in a URI (RFC 3986, section 3.3).
fn coded(path: &str) -> String {
    let mut coded = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=:@".contains(&byte) {
            coded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(coded, "%{byte:02X}");
        }
    }
    coded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(all: &[(&str, &str)]) -> Roots {
        let mut roots = Roots::default();
        for (old, new) in all {
            roots.rewrite((*old).into(), (*new).into());
        }
        roots
    }

    #[test]
    fn a_root_is_replaced_where_it_is_a_path() {
        let roots = roots(&[("/home/ada", "/tmp/x y")]);
        for (text, changed) in [
            ("/home/ada", "/tmp/x y"),
            ("/home/ada/src/a.rs", "/tmp/x y/src/a.rs"),
            ("see \"/home/ada\", and /home/ada/b", "see \"/tmp/x y\", and /tmp/x y/b"),
            ("file:///home/ada/c", "file:///tmp/x y/c"),
            ("/home/adam", "/home/adam"),
            ("/mnt/home/ada", "/mnt/home/ada"),
            ("/home/ada.old", "/home/ada.old"),
            ("nothing", "nothing"),
        ] {
            // A name in front of the root makes it another path.
            assert_eq!(roots.apply(text), changed, "{text}");
        }
    }

    #[test]
    fn a_root_is_replaced_in_uris_as_they_are_written() {
        let roots = roots(&[("/home/a b", "/work/ü")]);
        assert_eq!(roots.apply("file:///home/a%20b/c"), "file:///work/%C3%BC/c");
        assert_eq!(roots.apply("/home/a b/c"), "/work/ü/c");
    }

    #[test]
    fn of_two_roots_the_longer_one_is_meant() {
        let roots = roots(&[("/a", "/x"), ("/a/b", "/y")]);
        assert_eq!(roots.apply("/a/b/c /a/c"), "/y/c /x/c");
    }
}
