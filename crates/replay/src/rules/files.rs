//! The files that rules are read from.

use super::{Problem, Rules, sidecar};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Longer files of rules are refused: the one beside a recording may come from a stranger.
const LONGEST: u64 = 1 << 20;

/// Why a file of rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("the rules {} cannot be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}", problems.first().map_or_else(String::new, ToString::to_string))]
    Wrong { problems: Vec<Problem> },
}

/// A file that rules were read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub path: PathBuf,
    pub rules: usize,
}

/// The rules of the files `named` and of the one beside `recording`, if there is one; and where
/// they are from.
pub fn read(named: &[PathBuf], recording: &Path) -> Result<(Rules, Vec<Source>), FileError> {
    let mut rules = Rules::default();
    let mut sources = Vec::new();
    let beside = sidecar(recording);
    let named = named.iter().map(|path| &**path);
    for path in named.chain(beside.is_file().then_some(&*beside)) {
        let before = rules.len();
        let text = read_text(path).map_err(|source| FileError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let added = rules.add(&text, path);
        added.map_err(|problems| FileError::Wrong { problems })?;
        sources.push(Source {
            path: path.to_owned(),
            rules: rules.len() - before,
        });
    }
    Ok((rules, sources))
}

fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let file = File::open(path)?;
    file.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        return Err(io::Error::other("it is too long for a file of rules"));
    }
    Ok(text)
}
