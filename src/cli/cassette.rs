//! A cassette given where a recording is taken: it becomes one for as long as it is looked at.

use super::exit::Failure;
use super::output::{self, Progress};
use mcpreel_capture::spool::open_regular;
use mcpreel_share::cassette::{self, Entry, Reader};
use mcpreel_share::outgoing::file::Folder;
use mcpreel_store::library::REEL;
use mcpreel_store::record::import::{Import, ImportError};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::EventKind;
use mcpreel_wire::text::{escape, plural, size};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _};
use std::path::{Path, PathBuf};

/// Faults of a file that are told one by one; more of them say nothing new.
const MOST_TOLD: usize = 5;

/// Losses that the recording states one by one.
const MOST_RECORDED: u64 = 100;

/// A recording that was made of a cassette, and vanishes with this value.
#[derive(Debug)]
pub struct Tape {
    reel: PathBuf,
    told: Vec<String>,
    _folder: Folder,
}

impl Tape {
    /// Makes a recording of the file `path`; `None` if it is no cassette.
    pub fn of(path: &Path) -> Result<Option<Self>, Failure> {
        if !is_one(path) {
            return Ok(None);
        }
        let folder = Folder::make()?;
        let shown = path.display().to_string();
        let taken = take_into((path, &escape(&shown)), folder.path(), None)?;
        Ok(taken.map(|(reel, told)| Self {
            reel,
            told,
            _folder: folder,
        }))
    }

    /// The recording.
    pub fn reel(&self) -> &Path {
        &self.reel
    }

    /// Remarks for the user, one escaped sentence each.
    pub fn told(&self) -> &[String] {
        &self.told
    }

    /// Says that on stderr.
    pub fn tell(&self) {
        for line in &self.told {
            output::say(line);
        }
    }
}

/// Whether the file `path` is a cassette.
pub fn is_one(path: &Path) -> bool {
    look(path).is_some()
}

/// The file `path` if it is a cassette. A file that cannot be opened is refused by the next reader,
/// which takes it for a recording.
fn look(path: &Path) -> Option<File> {
    let mut file = open_regular(path, false).ok()?;
    cassette::is_cassette(&mut file).ok()?.then_some(file)
}

/// Makes a recording in `folder` of the file `path`, which messages call `shown`; the recording is
/// called `name` if that is given. Returns its file and what is to be known about it, one escaped
/// sentence each; `None` if the file is no cassette.
pub(super) fn take_into(
    (path, shown): (&Path, &str),
    folder: &Path,
    name: Option<&str>,
) -> Result<Option<(PathBuf, Vec<String>)>, Failure> {
    let Some(file) = look(path) else {
        return Ok(None);
    };
    let taken = take((path, shown), file, folder, name).map(Some);
    taken.map_err(|error| {
        let context = format!("{shown} cannot be read");
        Failure::Refused(anyhow::Error::from(error).context(context))
    })
}

#[derive(Debug, thiserror::Error)]
enum TakeError {
    #[error(transparent)]
    Read(#[from] cassette::ReadError),
    #[error(transparent)]
    Import(#[from] ImportError),
}

impl From<io::Error> for TakeError {
    fn from(error: io::Error) -> Self {
        Self::Read(error.into())
    }
}

fn take(
    (path, shown): (&Path, &str),
    mut file: File,
    folder: &Path,
    name: Option<&str>,
) -> Result<(PathBuf, Vec<String>), TakeError> {
    let id = checksum(&mut file)?;
    let len = file.metadata()?.len();
    file.rewind()?;
    let mut reader = Reader::new(file)?;
    let mut context = reader.context().clone();
    context.recording = format!("{id:08x}");
    if let Some(name) = name {
        name.clone_into(&mut context.name);
    } else if context.name.is_empty() && context.argv.is_empty() {
        let stem = path.file_stem().unwrap_or_default();
        context.name = stem.to_string_lossy().into_owned();
    }
    let reel = folder.join(&context.recording).with_extension(REEL);
    let mut taking = Taking {
        import: Import::begin(&reel, context)?,
        now: Moment(0),
        end: None,
        faults: 0,
        losses: 0,
        told: Vec::new(),
    };
    let mut progress = Progress::stderr();
    while let Some(entry) = reader.next_entry()? {
        taking.entry(entry, shown)?;
        progress
            .now_and_then(|| format!("{shown}: {} of {} read", size(reader.position()), size(len)));
    }
    drop(progress);
    let mut told = taking.finish(shown)?;
    if let Some(note) = &reader.header().selection {
        told.push(format!(
            "{shown} holds a part of a recording ({}): what is missing is no fault of the session",
            escape(&note.to_string())
        ));
    }
    if reader.is_renumbered() {
        told.push(format!(
            "{shown}: its frames have new numbers here, from #1 on"
        ));
    }
    Ok((reel, told))
}

/// The id of a cassette: equal for equal files.
fn checksum(file: &mut File) -> io::Result<u32> {
    file.rewind()?;
    let mut hasher = crc32fast::Hasher::new();
    let mut reader = BufReader::with_capacity(256 * 1024, file);
    loop {
        let block = reader.fill_buf()?;
        if block.is_empty() {
            return Ok(hasher.finalize());
        }
        hasher.update(block);
        let read = block.len();
        reader.consume(read);
    }
}

/// A cassette that becomes a recording.
struct Taking {
    import: Import,
    /// The last moment so far.
    now: Moment,
    /// The end of the session, as the cassette states it.
    end: Option<Moment>,
    faults: u64,
    /// Lines that could not be read.
    losses: u64,
    /// The first faults.
    told: Vec<String>,
}

impl Taking {
    fn entry(&mut self, entry: Entry, shown: &str) -> Result<(), TakeError> {
        if let Entry::Chunk { t, .. } | Entry::Gap { t, .. } | Entry::Event { t, .. } = &entry {
            self.now = self.now.max(*t);
        }
        match entry {
            Entry::Chunk { stream, t, bytes } => self.import.chunk(stream, t, &bytes)?,
            Entry::LineEnd { stream, t } => self.import.end_line(stream, t)?,
            Entry::Gap {
                stream,
                t,
                bytes,
                reason,
            } => self.import.lose(stream, t, bytes, reason)?,
            Entry::Event { t, kind } => self.import.event(t, &kind)?,
            Entry::End { t } => self.end = Some(t),
            Entry::Fault(fault) => {
                self.faults += 1;
                if self.told.len() < MOST_TOLD {
                    self.told
                        .push(format!("{shown}: {}", escape(&fault.to_string())));
                }
                // Whoever looks at the recording must know what it lacks.
                self.losses += u64::from(fault.is_loss);
                if fault.is_loss && self.losses <= MOST_RECORDED {
                    self.warn(format!("of the cassette, {fault}"))?;
                }
            }
        }
        Ok(())
    }

    fn warn(&mut self, message: String) -> Result<(), TakeError> {
        let kind = EventKind::Warning { message };
        Ok(self.import.event(self.now, &kind)?)
    }

    fn finish(mut self, shown: &str) -> Result<Vec<String>, TakeError> {
        if let more @ 1.. = self.losses.saturating_sub(MOST_RECORDED) {
            let lines = plural(more, "more line");
            self.warn(format!("{lines} of the cassette could not be read"))?;
        }
        self.import.finish(self.end.unwrap_or(self.now))?;
        if let more @ 1.. = self.faults - self.told.len() as u64 {
            let more = plural(more, "more remark");
            self.told.push(format!("{shown}: {more} of that kind"));
        }
        Ok(self.told)
    }
}
