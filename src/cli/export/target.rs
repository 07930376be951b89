//! Where an export goes: a file that is whole or not there, a pipe, stdout.

use crate::cli::exit::Failure;
use crate::cli::output::Output;
use mcpreel_share::outgoing::file::Draft;
use mcpreel_share::outgoing::file::{Counted, Replace, Whole, WholeError, is_special};
use mcpreel_wire::text::escape;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where it goes.
pub enum Target {
    Stdout(Box<Output>),
    /// A file that appears when it is whole.
    Whole {
        path: PathBuf,
        out: Counted<Draft>,
        may: Replace,
    },
    /// Something that is there and no file, for example a pipe: it gets what is written at once.
    Direct {
        path: PathBuf,
        out: Counted<File>,
    },
}

impl Target {
    /// Begins. `reel` is the recording that is read, which must not be replaced; another file is
    /// if it `may` be.
    pub fn open(path: Option<&Path>, reel: &Path, may: Replace) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(Self::Stdout(Box::new(Output::stream())));
        };
        if path.metadata().is_ok_and(|there| is_special(&there)) {
            let file = OpenOptions::new().write(true).open(path);
            let out = Counted::new(file.map_err(|error| failure(path, error))?);
            let path = path.to_owned();
            return Ok(Self::Direct { path, out });
        }
        let whole = Whole::begin(path, reel, may)?;
        Ok(Self::Whole {
            path: whole.path,
            out: Counted::new(whole.draft),
            may,
        })
    }

    /// Everything is written; returns how many bytes that were.
    pub fn finish(self) -> Result<u64, Failure> {
        match self {
            Self::Stdout(mut out) => {
                out.flush()?;
                Ok(0)
            }
            Self::Whole { path, out, may } => {
                let bytes = out.bytes();
                let draft = out.into_inner().map_err(|error| failure(&path, error))?;
                Whole { path, draft, may }.finish()?;
                Ok(bytes)
            }
            Self::Direct { path, out } => {
                let bytes = out.bytes();
                out.into_inner().map_err(|error| failure(&path, error))?;
                Ok(bytes)
            }
        }
    }

    /// That something could not be written.
    pub fn failure(&self, error: io::Error) -> Failure {
        match self {
            Self::Stdout(_) => error.into(),
            Self::Whole { path, .. } | Self::Direct { path, .. } => failure(path, error),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.bytes(bytes).map(|()| bytes.len()),
            Self::Whole { out, .. } => out.write(bytes),
            Self::Direct { out, .. } => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::Whole { out, .. } => out.flush(),
            Self::Direct { out, .. } => out.flush(),
        }
    }
}

/// Whoever reads a pipe and has closed it has all that it wanted.
pub fn failure(path: &Path, error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Failure::Closed;
    }
    let path = path.display().to_string();
    let context = format!("could not write {}", escape(&path));
    Failure::Refused(anyhow::Error::from(error).context(context))
}

/// Why a file that appears whole or not at all has not appeared.
pub fn unwritten(error: WholeError) -> Failure {
    match error {
        WholeError::IsThere(path) => {
            let path = path.display().to_string();
            let path = escape(&path);
            Failure::Usage(format!("{path} is there already; --force replaces it"))
        }
        WholeError::IsRecording => {
            let why = "-o names the recording itself, which would be gone; name another file";
            Failure::Usage(why.to_owned())
        }
        WholeError::Write(path, error) => failure(&path, error),
    }
}
