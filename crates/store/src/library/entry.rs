//! A recording of a folder, as far as it can be told without reading it all.

use super::{parse_stem, spool_of};
use crate::open::{self, OpenError, real};
use crate::reader::{ReadError, Recording, Summary};
use crate::schema::is_id;
use mcpreel_capture::spool::{self, LockError, SpoolError, SpoolReader, Tail};
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::session::End;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

#[derive(Debug)]
pub struct Entry {
    /// The `.reel` file, which need not exist as long as there is a spool.
    pub path: PathBuf,
    /// The id; of a file that cannot be read the one in its name, or nothing.
    pub id: String,
    /// The server's name; of a file that cannot be read what its name says, or the whole name.
    pub name: String,
    /// When it began: wall clock, nanoseconds since the Unix epoch; of a file that cannot be read
    /// what its name says, or when it was written last.
    pub wall_ns: u64,
    pub size: u64,
    pub standing: Standing,
    pub details: Details,
}

/// The state of a recording, judged by its own word, its spool and the lock on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Standing {
    /// The recorder is running, or somebody is recovering the recording.
    Live,
    /// The session ended; the rest of it is in the spool.
    Pending,
    /// The recorder was killed; the rest is in the spool.
    Interrupted,
    /// A copy of a live recording, which may be short: it says that it is live, and has no spool.
    Cut,
    Finished,
    Unreadable,
}

impl Standing {
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether its spool holds something that a reader can add.
    pub fn is_recoverable(self) -> bool {
        matches!(self, Self::Pending | Self::Interrupted)
    }
}

/// The part of a recording that could be read.
#[derive(Debug)]
pub enum Details {
    Recorded(Box<Summary>),
    /// The start event: there is nothing but a spool yet.
    Started(Box<ProcessContext>),
    Unreadable(EntryError),
}

#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    /// The recording cannot be opened.
    #[error(transparent)]
    Recording(#[from] ReadError),
    /// There is only a spool, and it cannot be read.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// There is only a spool, and it does not begin with a start event.
    #[error("{} does not begin as a spool does", path.display())]
    NoStart { path: PathBuf },
}

impl Entry {
    /// Reads what the recording `reel` says about itself, or its spool.
    pub fn read(reel: &Path) -> Self {
        let file = real(reel);
        let spool = spool_of(&file);
        let (details, standing) = look_at(&file, &spool);
        let size = size_of(reel) + size_of(&open::beside(&file, "-wal")) + size_of(&spool);
        Self::new(reel, details, standing, size)
    }

    /// The recording `reel`, which is finished and says this about itself.
    pub(super) fn finished(reel: &Path, summary: Box<Summary>) -> Self {
        let details = Details::Recorded(summary);
        Self::new(reel, details, Standing::Finished, size_of(reel))
    }

    fn new(reel: &Path, details: Details, standing: Standing, size: u64) -> Self {
        let stem = reel.file_stem().unwrap_or_default().to_string_lossy();
        let (id, name, wall_ns) = match &details {
            Details::Recorded(summary) => {
                (summary.id.clone(), summary.name.clone(), summary.wall_ns)
            }
            Details::Started(it) => (it.recording.clone(), it.name.clone(), it.wall_ns),
            Details::Unreadable(_) => parse_stem(&stem)
                .unwrap_or_else(|| (String::new(), stem.into_owned(), modified(reel))),
        };
        Self {
            path: reel.to_owned(),
            id,
            name,
            wall_ns,
            size,
            standing,
            details,
        }
    }

    /// The process context, as far as it could be read.
    pub fn context(&self) -> Option<&ProcessContext> {
        match &self.details {
            Details::Recorded(summary) => Some(&summary.context),
            Details::Started(context) => Some(context),
            Details::Unreadable(_) => None,
        }
    }

    /// Where this is the network side of a bridge: the id of the side that its client saw.
    pub fn client_side(&self) -> Option<&str> {
        let network = self.context().filter(|context| context.url.is_some())?;
        network.other_side.as_deref()
    }

    /// Whether anything of it can be read.
    pub fn is_readable(&self) -> bool {
        self.standing != Standing::Unreadable
    }

    /// Whether whoever lists it can do something for it: add what its spool holds, or take the
    /// spool away that its recorder was about to remove.
    pub fn is_left_behind(&self) -> bool {
        let is_over = self.standing == Standing::Finished;
        self.standing.is_recoverable() || (is_over && spool_of(&self.path).exists())
    }

    /// The state in one word; a recovered recording says so.
    pub fn state(&self) -> &'static str {
        match (self.standing, self.summary()) {
            (Standing::Finished, Some(summary)) => summary.state.as_str(),
            (standing, _) => standing.as_str(),
        }
    }

    /// The length of the session in nanoseconds; of a live one until `now_ns` of the wall clock.
    pub fn lasted_ns(&self, now_ns: u64) -> Option<u64> {
        match self.standing {
            Standing::Live => Some(now_ns.saturating_sub(self.wall_ns)),
            _ => self.summary().map(|summary| summary.t_last_ns),
        }
    }

    /// The end of the session, where nothing more will be added.
    pub fn end(&self) -> Option<&End> {
        let finished = self.standing == Standing::Finished;
        let summary = self.summary().filter(|_| finished)?;
        Some(summary.session.phase.end().unwrap_or(&End::Unknown))
    }

    /// Its end, where the server was not started or ended with an error.
    pub fn bad_end(&self) -> Option<&End> {
        let is_bad = |end: &&End| matches!(end, End::NotStarted { .. } | End::Exited { code: 1.. });
        self.end().filter(is_bad)
    }

    /// Whether something failed in it: a call, or the server as a whole.
    pub fn has_failed(&self) -> bool {
        self.summary().is_some_and(|summary| summary.failed > 0) || self.bad_end().is_some()
    }

    pub fn summary(&self) -> Option<&Summary> {
        match &self.details {
            Details::Recorded(summary) => Some(summary),
            _ => None,
        }
    }
}

/// Reads the details of a recording, and judges its state.
fn look_at(reel: &Path, spool: &Path) -> (Details, Standing) {
    let details = read_details(reel, spool);
    let standing = standing(&details, spool);
    if standing != Standing::Cut {
        return (details, standing);
    }
    // It may have ended between the two looks: the spool goes after the row says so.
    let details = read_details(reel, spool);
    let standing = self::standing(&details, spool);
    (details, standing)
}

fn read_details(reel: &Path, spool: &Path) -> Details {
    let recorded = Recording::open_as_it_is(reel)
        .map_err(ReadError::from)
        .and_then(|recording| recording.summary());
    let is_in_spool = match &recorded {
        Ok(_) => false,
        // The recorder has not come to creating it, or was killed while it did.
        Err(ReadError::Open(OpenError::Missing { .. } | OpenError::Empty { .. })) => spool.exists(),
        // Its indexer is about to make a damaged one anew.
        Err(_) => matches!(spool::lock(spool), Err(LockError::Held)),
    };
    match recorded {
        Ok(summary) => Details::Recorded(Box::new(summary)),
        Err(_) if is_in_spool => start_of(spool).map_or_else(Details::Unreadable, Details::Started),
        Err(error) => Details::Unreadable(error.into()),
    }
}

pub fn start_of(spool: &Path) -> Result<Box<ProcessContext>, EntryError> {
    let mut reader = SpoolReader::open(spool)?;
    let mut payload = Vec::new();
    let first = reader.first_position();
    reader.read(first, Tail::Growing, &mut payload)?;
    match serde_json::from_slice(&payload) {
        Ok(EventKind::Start(context)) if is_id(&context.recording) => Ok(context),
        _ => Err(EntryError::NoStart {
            path: spool.to_owned(),
        }),
    }
}

fn standing(details: &Details, spool: &Path) -> Standing {
    match details {
        Details::Unreadable(_) => return Standing::Unreadable,
        Details::Recorded(summary) if summary.state.is_final() => return Standing::Finished,
        _ => {}
    }
    match spool::lock(spool) {
        Err(LockError::Missing) => Standing::Cut,
        Err(LockError::Held) if is_over(spool) => Standing::Pending,
        Err(LockError::Held | LockError::Io(_)) => Standing::Live,
        Ok(_lock) => match SpoolReader::open(spool).and_then(|spool| spool.status()) {
            Ok(status) if status.end.is_some() => Standing::Pending,
            _ => Standing::Interrupted,
        },
    }
}

/// Whether the recorder of a spool that somebody holds has ended, and it is the indexer's.
fn is_over(spool: &Path) -> bool {
    SpoolReader::open(spool).is_ok_and(|spool| spool.progress().is_over)
}

/// Bytes that a file takes on disk: a spool has holes where it was trimmed.
fn size_of(path: &Path) -> u64 {
    path.metadata()
        .map_or(0, |metadata| metadata.blocks() * 512)
}

/// When the recording `reel` was changed last, nanoseconds since the Unix epoch.
pub(super) fn changed_at(reel: &Path) -> u64 {
    match modified(reel) {
        // There is nothing but a spool yet.
        0 => modified(&spool_of(reel)),
        at => at,
    }
}

/// When a file was written last, nanoseconds since the Unix epoch.
fn modified(path: &Path) -> u64 {
    let modified = path.metadata().and_then(|metadata| metadata.modified());
    let since = modified.map(|at| at.duration_since(UNIX_EPOCH).unwrap_or_default());
    since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(0))
}
