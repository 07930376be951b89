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

/// What is wrong with a file, in a sentence that says where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Problem {
    sentence: String,
    is_fatal: bool,
}

impl Problem {
    /// Something that was set at this place is not in force.
    pub fn new(at: &Position, message: &str) -> Self {
        Self {
            sentence: format!("{at}: {message}"),
            is_fatal: true,
        }
    }

    pub fn unreadable(path: &Path, error: &io::Error) -> Self {
        Self {
            sentence: format!("cannot read {}: {error}", path.display()),
            is_fatal: true,
        }
    }

    /// Whether something that was set is not in force: more than a warning.
    pub fn is_fatal(&self) -> bool {
        self.is_fatal
    }
}

/// A value and where it stands.
pub type Value<'v> = Spanned<DeValue<'v>>;

/// The outermost table of `text`, or why it is no TOML.
pub fn table<'t>(text: &'t str, path: &Path) -> Result<DeTable<'t>, Problem> {
    DeTable::parse(text)
        .map(Spanned::into_inner)
        .map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            Problem::new(&position(text, path, offset), error.message())
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

    /// The text of a key, or of the value of one.
    fn named<T: AsRef<str>>(&self, key: &Spanned<T>) -> Setting {
        Setting {
            text: key.get_ref().as_ref().to_owned(),
            at: self.at(key),
        }
    }

    pub fn text(&mut self, key: &str, value: &Value<'_>) -> Option<Setting> {
        match value.get_ref() {
            DeValue::String(text) => Some(Setting {
                text: text.clone().into_owned(),
                at: self.at(value),
            }),
            _ => self.wrong(key, value, "a string in quotes"),
        }
    }

    pub fn switch(&mut self, key: &str, value: &Value<'_>) -> Option<Setting> {
        match value.get_ref() {
            DeValue::Boolean(on) => Some(Setting {
                text: on.to_string(),
                at: self.at(value),
            }),
            _ => self.wrong(key, value, "true or false"),
        }
    }

    /// A list of texts.
    pub fn list(&mut self, key: &str, value: &Value<'_>) -> Vec<Setting> {
        let DeValue::Array(list) = value.get_ref() else {
            return self.wrong(key, value, "a list").unwrap_or_default();
        };
        list.iter().filter_map(|one| self.text(key, one)).collect()
    }

    /// Gives the members of a table to `read`, but for those that are not `known`.
    pub fn members(
        &mut self,
        table: &DeTable<'_>,
        known: &[&str],
        mut read: impl FnMut(&mut Self, &str, &Value<'_>),
    ) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                name if known.contains(&name) => read(self, name, value),
                _ => self.unknown(key, known),
            }
        }
    }

    /// The same for a value that has to be a table.
    pub fn section(
        &mut self,
        key: &str,
        value: &Value<'_>,
        known: &[&str],
        read: impl FnMut(&mut Self, &str, &Value<'_>),
    ) {
        match value.get_ref() {
            DeValue::Table(table) => self.members(table, known, read),
            _ => drop(self.wrong::<()>(key, value, "a table")),
        }
    }

    /// Gives the members of a table with any keys to `read`.
    pub fn entries(
        &mut self,
        key: &str,
        value: &Value<'_>,
        mut read: impl FnMut(&mut Self, Setting, &Value<'_>),
    ) {
        let DeValue::Table(table) = value.get_ref() else {
            self.wrong::<()>(key, value, "a table");
            return;
        };
        for (key, value) in table {
            let key = self.named(key);
            read(self, key, value);
        }
    }

    /// A value of another type than `expected`.
    pub fn wrong<T>(&mut self, key: &str, value: &Value<'_>, expected: &str) -> Option<T> {
        let found = value.get_ref().type_str();
        let message = format!("`{key}` is {found}, expected {expected}");
        self.problem(Problem::new(&self.at(value), &message));
        None
    }

    /// A key that is none of those `known`: a warning.
    pub fn unknown<T: AsRef<str>>(&mut self, key: &Spanned<T>, known: &[&str]) {
        let Setting { text, at } = self.named(key);
        let hint = match nearest(&text, known) {
            Some(key) => format!("did you mean `{key}`?"),
            None => format!("known are {}", known.join(", ")),
        };
        self.problem(Problem {
            sentence: format!("{at}: unknown key `{text}`, {hint}"),
            is_fatal: false,
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

/// Where the byte at `offset` of a file stands.
pub fn position(text: &str, path: &Path, offset: usize) -> Position {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Position {
        path: path.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}
