//! Selects a recording by the words of a person.
//!
//! In this order: an existing path, if it looks like one (it has a `/` or ends in `.reel`); `@`,
//! the newest, or `@2`, the second newest (of a bridge the side of the client comes first); the beginning of an id, four digits at least; a name,
//! the recording's or the one that the server gives itself, which means the newest of that name that
//! was not made by playing another one; an existing path of any form. Followed by `#1187` or `:1187` it means that frame of it.
//!
//! Files that cannot be read have no age and no name here: only a path or an id means them.

use super::{Entry, LibraryError, REEL, SPOOL};
use crate::reader::Summary;
use mcpreel_trace::frame::Seq;
use std::path::{Path, PathBuf};

/// Fewer digits of an id would too often be a server's name, and seldom be unique.
const MIN_ID: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    pub path: PathBuf,
    pub seq: Option<Seq>,
    /// The id of a newer recording of the same name, which was made by playing another one.
    pub newer: Option<String>,
}

impl Selected {
    pub fn new(path: PathBuf, seq: Option<Seq>) -> Self {
        let newer = None;
        Self { path, seq, newer }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// `@` or `@N`, and there are not that many.
    #[error("{text}: there are {count} recordings")]
    TooFew { text: String, count: usize },
    /// `@` with something else than a number.
    #[error("{text}: @ means the newest recording, @2 the second newest")]
    NotANumber { text: String },
    #[error("{text}: no recording has this {}", id_or_name(text))]
    Unknown {
        text: String,
        /// The names that there are, the newest first.
        names: Vec<String>,
    },
    #[error("{text}: {} recordings have ids that begin so", paths.len())]
    Ambiguous { text: String, paths: Vec<PathBuf> },
}

/// What a text that selects nothing may have been meant for.
fn id_or_name(text: &str) -> &'static str {
    let (text, _) = split_seq(text);
    let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match text.len() {
        ..MIN_ID if is_hex => "name (an id needs at least four digits)",
        _ if is_hex => "id or name",
        _ => "name",
    }
}

/// Whether `text` can be nothing but a path, whatever names and ids there are.
pub fn is_path(text: &str) -> bool {
    let (text, _) = split_seq(text);
    let ending = Path::new(text).extension();
    text.contains('/') || ending.is_some_and(|ending| ending == REEL || ending == SPOOL)
}

/// The recording whose path `text` is, if there is one.
pub(super) fn existing(text: &str) -> Option<Selected> {
    let file = |text: &str| {
        let path = Path::new(text);
        let is_spool = path.extension().is_some_and(|ending| ending == SPOOL);
        let reel = if is_spool {
            path.with_extension(REEL)
        } else {
            path.to_owned()
        };
        let exists = path.is_file() || super::spool_of(&reel).is_file();
        let is_named = path.is_file() || path.extension().is_some_and(|ending| ending == REEL);
        (exists && is_named).then_some(reel)
    };
    if let Some(path) = file(text) {
        return Some(Selected::new(path, None));
    }
    let (text, seq) = split_seq(text);
    file(text).map(|path| Selected::new(path, seq))
}

/// Selects the one of `entries`, the newest first, that `text` means.
pub fn select(text: &str, entries: &[Entry]) -> Result<Selected, SelectError> {
    let (selector, seq) = split_seq(text);
    let entry = match selector.strip_prefix('@') {
        Some(number) => by_age(selector, number, entries)?,
        None => match by_id(selector, entries)? {
            Some(entry) => entry,
            None => by_name(selector, entries)?,
        },
    };
    let newest = entries.iter();
    let mut newest = newest.filter(|entry| names(entry).any(|name| name == selector));
    let newer = newest
        .next()
        .filter(|newest| newest.path != entry.path && is_played(newest));
    Ok(Selected {
        newer: newer.map(|newest| newest.id.clone()),
        ..Selected::new(entry.path.clone(), seq)
    })
}

fn is_played(entry: &Entry) -> bool {
    // One that has only just begun has no summary yet.
    let origin = entry.context().map(|context| &*context.origin);
    origin.is_some_and(Summary::is_of_player)
}

/// The ids of recordings, in order.
pub struct Ids(Vec<String>);

impl Ids {
    pub fn of(entries: &[Entry]) -> Self {
        let mut ids: Vec<_> = entries.iter().map(|entry| entry.id.clone()).collect();
        ids.sort();
        ids.dedup();
        Self(ids)
    }

    /// The beginning of `id` that no other recording shares, four digits at least.
    pub fn short<'a>(&self, id: &'a str) -> &'a str {
        let shared = |other: &String| {
            let same = id.bytes().zip(other.bytes());
            same.take_while(|(a, b)| a == b).count()
        };
        let at = self.0.partition_point(|other| &**other < id);
        let after = self.0[at..].iter().find(|other| **other != id);
        let neighbours = self.0[..at].last().into_iter().chain(after);
        let longest = neighbours.map(shared).max().unwrap_or(0);
        id.get(..(longest + 1).max(MIN_ID)).unwrap_or(id)
    }
}

/// The beginning of `id` that no other entry shares, four digits at least.
pub fn short_id<'a>(id: &'a str, entries: &[Entry]) -> &'a str {
    Ids::of(entries).short(id)
}

/// `REC#1187` or `REC:1187` as `REC` and the frame.
fn split_seq(text: &str) -> (&str, Option<Seq>) {
    let split = text.rsplit_once(['#', ':']);
    let seq = split.and_then(|(rest, number)| Some((rest, Seq(number.parse().ok()?))));
    match seq {
        Some((rest, seq)) if !rest.is_empty() => (rest, Some(seq)),
        _ => (text, None),
    }
}

/// How many of the newest have to be known for what `text` means; `None`: it is not `@` or `@N`.
pub(super) fn newest_needed(text: &str) -> Option<usize> {
    match split_seq(text).0.strip_prefix('@')? {
        "" => Some(1),
        number => number.parse().ok(),
    }
}

fn by_age<'a>(text: &str, number: &str, entries: &'a [Entry]) -> Result<&'a Entry, SelectError> {
    let number = if number.is_empty() { "1" } else { number };
    let number = number.parse::<usize>().ok();
    let Some(nth) = number.and_then(|number| number.checked_sub(1)) else {
        let text = text.into();
        return Err(SelectError::NotANumber { text });
    };
    let readable = || entries.iter().filter(|entry| entry.is_readable());
    readable().nth(nth).ok_or_else(|| SelectError::TooFew {
        text: text.into(),
        count: readable().count(),
    })
}

fn by_id<'a>(text: &str, entries: &'a [Entry]) -> Result<Option<&'a Entry>, SelectError> {
    let digits = text.to_ascii_lowercase();
    if digits.len() < MIN_ID || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(None);
    }
    let found = entries.iter();
    let found: Vec<_> = found
        .filter(|entry| entry.id.starts_with(&digits))
        .collect();
    match found[..] {
        [] => Ok(None),
        [entry] => Ok(Some(entry)),
        _ => Err(SelectError::Ambiguous {
            text: text.into(),
            paths: found.into_iter().map(|entry| entry.path.clone()).collect(),
        }),
    }
}

fn by_name<'a>(text: &str, entries: &'a [Entry]) -> Result<&'a Entry, SelectError> {
    let readable = || entries.iter().filter(|entry| entry.is_readable());
    let called = || readable().filter(|entry| names(entry).any(|name| name == text));
    // Who replays a server twice means the same session twice.
    let recorded = || called().filter(|entry| !is_played(entry));
    // A name that somebody gave says more than what servers call themselves.
    recorded()
        .find(|entry| entry.name == text)
        .or_else(|| recorded().next())
        .or_else(|| called().next())
        .ok_or_else(|| {
            let mut known: Vec<String> = Vec::new();
            for name in readable().flat_map(names) {
                if !known.iter().any(|known| known == name) {
                    known.push(name.to_owned());
                }
            }
            let (text, names) = (text.into(), known);
            SelectError::Unknown { text, names }
        })
}

/// The recording's name, and the one that the server gives itself.
pub fn names(entry: &Entry) -> impl Iterator<Item = &str> {
    let summary = entry.summary();
    let server = summary.and_then(|summary| summary.session.server.name.as_deref());
    std::iter::once(&*entry.name).chain(server)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::{Details, EntryError, Standing};

    fn entry(id: &str, name: &str) -> Entry {
        let path = PathBuf::from(format!("/r/{id}.reel"));
        Entry {
            path: path.clone(),
            id: id.into(),
            name: name.into(),
            wall_ns: 0,
            size: 0,
            standing: Standing::Finished,
            details: Details::Unreadable(EntryError::NoStart { path }),
        }
    }

    fn entries() -> Vec<Entry> {
        vec![
            entry("7f3a9c21", "weather"),
            entry("7f3a0000", "files"),
            entry("abcd1234", "weather"),
            entry("00001111", "dead"),
            entry("dead0000", "beef"),
        ]
    }

    fn id_of(text: &str) -> Result<(String, Option<u64>), SelectError> {
        let selected = select(text, &entries())?;
        let stem = selected
            .path
            .file_stem()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        Ok((stem, selected.seq.map(|seq| seq.0)))
    }

    #[test]
    fn selectors_mean_what_is_documented() {
        for (text, id, seq) in [
            ("@", "7f3a9c21", None),
            ("@1", "7f3a9c21", None),
            ("@5", "dead0000", None),
            ("@#12", "7f3a9c21", Some(12)),
            ("@2:3", "7f3a0000", Some(3)),
            ("7f3a9", "7f3a9c21", None),
            ("7F3A9", "7f3a9c21", None),
            ("7f3a0#1187", "7f3a0000", Some(1187)),
            ("weather", "7f3a9c21", None),
            ("files:9", "7f3a0000", Some(9)),
            ("dead", "dead0000", None),
            ("beef", "dead0000", None),
        ] {
            assert_eq!(id_of(text).unwrap(), (id.to_owned(), seq), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_told_says_what_there_is() {
        let SelectError::Ambiguous { paths, .. } = id_of("7f3a").unwrap_err() else {
            panic!("two ids begin so");
        };
        assert_eq!(
            paths,
            ["/r/7f3a9c21.reel", "/r/7f3a0000.reel"].map(PathBuf::from)
        );
        assert!(matches!(
            id_of("@6"),
            Err(SelectError::TooFew { count: 5, .. })
        ));
        assert!(matches!(id_of("@0"), Err(SelectError::NotANumber { .. })));
        assert!(matches!(id_of("@x"), Err(SelectError::NotANumber { .. })));
        let SelectError::Unknown { names, .. } = id_of("abc").unwrap_err() else {
            panic!("three digits are no id");
        };
        assert_eq!(names, ["weather", "files", "dead", "beef"]);
    }

    #[test]
    fn a_path_comes_first_and_may_name_a_frame() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a#1.reel");
        std::fs::write(&path, b"").unwrap();
        let text = path.to_str().unwrap();
        let at = |seq| Some(Selected::new(path.clone(), seq));
        assert_eq!(existing(text), at(None));
        assert_eq!(existing(&format!("{text}#7")), at(Some(Seq(7))));
        assert_eq!(existing(&format!("{text}:7")), at(Some(Seq(7))));
        assert_eq!(existing("@"), None);
    }
}
