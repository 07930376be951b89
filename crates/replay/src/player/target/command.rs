//! What is started, and where.

use crate::bind::Binder;
use mcpreel_store::reader::Summary;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct Command {
    pub words: Vec<OsString>,
    /// Its working directory; `None`: ours.
    pub dir: Option<PathBuf>,
}

/// Why the recorded command cannot be started again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoCommand {
    Unknown,
    /// Values in it are redacted, and were not supplied: which. Not escaped.
    Redacted(Vec<Box<str>>),
}

impl Command {
    /// The recorded command, in the folder where it was as long as that is there.
    pub fn recorded(summary: &Summary, binder: &Binder) -> Result<Self, NoCommand> {
        let context = &summary.context;
        if context.argv.is_empty() {
            return Err(NoCommand::Unknown);
        }
        let words = context.argv.iter().map(|word| binder.word(word));
        let words: Vec<_> = words
            .collect::<Result<_, _>>()
            .map_err(NoCommand::Redacted)?;
        let dir = context.cwd.as_deref().map(|dir| binder.word(dir));
        let dir = dir.and_then(Result::ok).map(PathBuf::from);
        Ok(Self {
            words: words.into_iter().map(OsString::from).collect(),
            dir: dir.filter(|dir| dir.is_dir()),
        })
    }
}
