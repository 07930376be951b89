//! TOML files as text with positions: where a value stands, and what is wrong with it.

use nix::fcntl::OFlag;
use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A longer file is none of ours, and would be held in memory for as long as it is parsed.
const MAX_SIZE: u64 = 1024 * 1024;

/// A value as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub text: String,
    pub at: Position,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    pub path: PathBuf,
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}:{}:{}",
            self.path.display(),
            self.line,
            self.column
        )
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("cannot read {}", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    /// It is no TOML; nothing in it is used.
    #[error("{at}: {message}")]
    Syntax { at: Position, message: String },
    /// A key that is not known; the others are used.
    #[error("{at}: unknown key `{key}`{}", did_you_mean(*nearest, known))]
    UnknownKey {
        at: Position,
        key: String,
        /// The known key that looks most like it.
        nearest: Option<&'static str>,
        known: &'static [&'static str],
    },
    #[error("{at}: `{key}` is missing here: {meaning}")]
    Missing {
        at: Position,
        key: &'static str,
        meaning: &'static str,
    },
    #[error("{at}: {message}")]
    Meaningless { at: Position, message: String },
    /// A value of the wrong type; the others are used.
    #[error("{at}: `{key}` is {found}, expected {expected}")]
    WrongType {
        at: Position,
        key: String,
        found: &'static str,
        expected: &'static str,
    },
}

impl Problem {
    /// Whether something that was set is not in force: more than a warning.
    pub fn is_fatal(&self) -> bool {
        !matches!(self, Self::UnknownKey { .. })
    }
}

fn did_you_mean(nearest: Option<&str>, known: &[&str]) -> String {
    match nearest {
        Some(key) => format!(", did you mean `{key}`?"),
        None => format!(", known are {}", known.join(", ")),
    }
}

/// The outermost table of `text`, or why it is no TOML.
pub fn table<'t>(text: &'t str, path: &Path) -> Result<DeTable<'t>, Problem> {
    DeTable::parse(text)
        .map(Spanned::into_inner)
        .map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            Problem::Syntax {
                at: position(text, path, offset),
                message: error.message().to_owned(),
            }
        })
}

/// A file that is read: where its values stand, and what is wrong with them.
pub struct Reading<'t> {
    text: &'t str,
    path: &'t Path,
    problems: Vec<Problem>,
}

impl<'t> Reading<'t> {
    /// Nothing read yet of `text`; `path` is for the positions.
    pub fn new(text: &'t str, path: &'t Path) -> Self {
        Self {
            text,
            path,
            problems: Vec::new(),
        }
    }

    pub fn finish(self) -> Vec<Problem> {
        self.problems
    }

    pub fn at<T>(&self, what: &Spanned<T>) -> Position {
        position(self.text, self.path, what.span().start)
    }

    pub fn text(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<Setting> {
        match value.get_ref() {
            DeValue::String(text) => Some(Setting {
                text: text.clone().into_owned(),
                at: self.at(value),
            }),
            _ => self.wrong(key, value, "a string in quotes"),
        }
    }

    pub fn switch(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<Setting> {
        match value.get_ref() {
            DeValue::Boolean(on) => Some(Setting {
                text: on.to_string(),
                at: self.at(value),
            }),
            _ => self.wrong(key, value, "true or false"),
        }
    }

    /// A value of another type than `expected`.
    pub fn wrong<T>(
        &mut self,
        key: &str,
        value: &Spanned<DeValue<'_>>,
        expected: &'static str,
    ) -> Option<T> {
        self.problems.push(Problem::WrongType {
            at: self.at(value),
            key: key.to_owned(),
            found: value.get_ref().type_str(),
            expected,
        });
        None
    }

    /// A key that is none of those `known`.
    pub fn unknown<T: AsRef<str>>(&mut self, key: &Spanned<T>, known: &'static [&'static str]) {
        let key_text = key.get_ref().as_ref();
        self.problems.push(Problem::UnknownKey {
            at: self.at(key),
            key: key_text.to_owned(),
            nearest: nearest(key_text, known),
            known,
        });
    }

    pub fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

/// The text of the regular file `path`. It may be read before a server is started, so a pipe or
/// device in its place must not be waited for, nor an endless one be read to its end.
pub fn read_text(path: &Path) -> io::Result<String> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_CLOEXEC | OFlag::O_NOCTTY;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits())
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    file.take(MAX_SIZE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_SIZE {
        return Err(io::Error::other("it is longer than 1 MiB"));
    }
    Ok(text)
}

/// The word that looks most like `text`, if one does.
pub fn nearest<'k>(text: &str, known: &[&'k str]) -> Option<&'k str> {
    // Below this likeness a suggestion is a guess that sends people the wrong way.
    const ALIKE: f64 = 0.6;
    let likeness = |known: &&str| strsim::normalized_damerau_levenshtein(known, text);
    known
        .iter()
        .copied()
        .filter(|known| likeness(known) >= ALIKE)
        .max_by(|one, other| likeness(one).total_cmp(&likeness(other)))
}

fn position(text: &str, path: &Path, offset: usize) -> Position {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Position {
        path: path.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}
