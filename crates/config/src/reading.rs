//! TOML files as text with positions: where a value stands, and what is wrong with it.

use nix::fcntl::OFlag;
use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

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

/// A mistake in a file, in a sentence that says where.
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

    /// Something at this place is odd and does no harm.
    pub fn warning(at: &Position, message: &str) -> Self {
        Self {
            is_fatal: false,
            ..Self::new(at, message)
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
