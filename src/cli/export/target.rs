//! Where an export goes: a file that is whole or not there, a pipe, stdout.

use crate::cli::exit::Failure;
use crate::cli::output::Output;
use crate::cli::temporary::Draft;
use crate::text::escape;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Bytes that are written at once.
const BUFFER: usize = 256 * 1024;

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
            return Ok(Self::Stdout(Box::new(Output::stdout())));
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
                let bytes = out.bytes;
                let draft = out.into_inner().map_err(|error| failure(&path, error))?;
                Whole { path, draft, may }.finish()?;
                Ok(bytes)
            }
            Self::Direct { path, out } => {
                let bytes = out.bytes;
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

/// A file that appears when it is whole.
pub struct Whole {
    /// Where it appears.
    pub path: PathBuf,
    /// What is written until then.
    pub draft: Draft,
    may: Replace,
}

/// Whether a file that is there already may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    Yes,
    No,
}

impl Whole {
    /// Begins; see [`Target::open`].
    pub fn begin(path: &Path, reel: &Path, may: Replace) -> Result<Self, Failure> {
        // Through a link its target is written: it may stand elsewhere for a reason.
        let resolved = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        match resolved.metadata() {
            Ok(there) if there.is_dir() => {
                let why = io::Error::from(io::ErrorKind::IsADirectory);
                return Err(failure(path, why));
            }
            Ok(there) if is_special(&there) => {
                let why = io::Error::other("it is no regular file");
                return Err(failure(path, why));
            }
            Ok(there) if is_same(&there, reel) => {
                let why = "-o names the recording itself, which would be gone; name another file";
                return Err(Failure::Usage(why.to_owned()));
            }
            Ok(_) if may == Replace::No => return Err(is_there(path)),
            _ => {}
        }
        let draft = Draft::beside(&resolved).map_err(|error| failure(path, error))?;
        Ok(Self {
            path: resolved,
            draft,
            may,
        })
    }

    /// It is whole: appears.
    pub fn finish(self) -> Result<(), Failure> {
        let appeared = match self.may {
            Replace::Yes => self.draft.replace(&self.path),
            Replace::No => self.draft.appear(&self.path),
        };
        appeared.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => is_there(&self.path),
            _ => failure(&self.path, error),
        })
    }
}

fn is_there(path: &Path) -> Failure {
    let path = path.display().to_string();
    Failure::Usage(format!(
        "{} is there already; --force replaces it",
        escape(&path)
    ))
}

/// Whether something is neither file nor folder: a pipe, a device.
fn is_special(there: &Metadata) -> bool {
    !there.is_file() && !there.is_dir()
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

fn is_same(there: &Metadata, reel: &Path) -> bool {
    let identity = |file: &Metadata| (file.dev(), file.ino());
    reel.metadata()
        .is_ok_and(|reel| identity(&reel) == identity(there))
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

/// Counts what passes.
pub struct Counted<W: Write> {
    out: BufWriter<W>,
    bytes: u64,
}

impl<W: Write> Counted<W> {
    fn new(out: W) -> Self {
        Self {
            out: BufWriter::with_capacity(BUFFER, out),
            bytes: 0,
        }
    }

    fn into_inner(self) -> io::Result<W> {
        self.out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
