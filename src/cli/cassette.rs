//! A cassette given where a recording is taken: it becomes one for as long as it is looked at.

use super::exit::Failure;
use super::output::{self, Progress};
use anyhow::Context as _;
use mcpreel_capture::spool::open_regular;
use mcpreel_share::cassette::{self, Entry, Fault, Reader};
use mcpreel_share::outgoing::file::Folder;
use mcpreel_store::library::REEL;
use mcpreel_store::record::import::Import;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::EventKind;
use mcpreel_wire::text::{escape, plural, size};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _};
use std::path::{Path, PathBuf};

/// Faults of a file that are told one by one; more of them say nothing new.
const MOST_TOLD: u64 = 5;

/// Losses that the recording states one by one.
const MOST_RECORDED: u64 = 100;

/// A recording that was made of a cassette, and vanishes with this value.
#[derive(Debug)]
pub struct Tape {
    made: Made,
    _folder: Folder,
}

/// A recording that was made of a file, where nobody looks yet.
#[derive(Debug)]
pub(super) struct Made {
    pub reel: PathBuf,
    /// The format of the file, in words.
    pub format: &'static str,
    /// Remarks for the user, one escaped sentence each.
    pub remarks: Vec<String>,
}

impl Tape {
    /// Makes a recording of the file `path`; `None` if it is no cassette.
    pub fn of(path: &Path) -> Result<Option<Self>, Failure> {
        if !is_one(path) {
            return Ok(None);
        }
        let folder = Folder::make()?;
        let shown = path.display().to_string();
        let made = take_into((path, &escape(&shown)), folder.path(), None)?;
        Ok(made.map(|made| Self {
            made,
            _folder: folder,
        }))
    }

    /// The recording.
    pub fn reel(&self) -> &Path {
        &self.made.reel
    }

    /// Remarks for the user, one escaped sentence each.
    pub fn told(&self) -> &[String] {
        &self.made.remarks
    }

    /// Says that on stderr.
    pub fn tell(&self) {
        for line in &self.made.remarks {
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
/// called `name` if that is given. `None` if the file is no cassette.
pub(super) fn take_into(
    (path, shown): (&Path, &str),
    folder: &Path,
    name: Option<&str>,
) -> Result<Option<Made>, Failure> {
    let Some(file) = look(path) else {
        return Ok(None);
    };
    let made = take((path, shown), file, folder, name);
    Ok(Some(
        made.with_context(|| format!("{shown} cannot be read"))?,
    ))
}

fn take(
    (path, shown): (&Path, &str),
    mut file: File,
    folder: &Path,
    name: Option<&str>,
) -> anyhow::Result<Made> {
    let (len, checksum) = checksum(&mut file)?;
    let mut reader = Reader::new(file)?;
    let mut context = reader.context().clone();
    // Equal files make recordings of the same id.
    context.recording = format!("{checksum:08x}");
    if let Some(name) = name {
        name.clone_into(&mut context.name);
    } else if context.name.is_empty() && context.argv.is_empty() {
        let stem = path.file_stem().unwrap_or_default();
        context.name = stem.to_string_lossy().into_owned();
    }
    let reel = folder.join(&context.recording).with_extension(REEL);
    let mut import = Import::begin(&reel, context)?;
    let mut progress = Progress::stderr();
    let (mut now, mut end, mut faults) = (Moment(0), None, Faults::default());
    while let Some(entry) = reader.next_entry()? {
        if let Entry::Chunk { t, .. } | Entry::Gap { t, .. } | Entry::Event { t, .. } = &entry {
            now = now.max(*t);
        }
        match entry {
            Entry::Chunk { stream, t, bytes } => import.chunk(stream, t, &bytes)?,
            Entry::Carried { head, bytes } => {
                now = now.max(head.t_last);
                import.carried(&head, &bytes)?;
            }
            Entry::LineEnd { stream, t } => import.end_line(stream, t)?,
            Entry::Gap {
                stream,
                t,
                bytes,
                reason,
            } => import.lose(stream, t, bytes, reason)?,
            Entry::Event { t, kind } => import.event(t, &kind)?,
            Entry::End { t } => end = Some(t),
            Entry::Fault(fault) => faults.add(&fault, now, &mut import)?,
        }
        progress
            .now_and_then(|| format!("{shown}: {} of {} read", size(reader.position()), size(len)));
    }
    let mut remarks = faults.end(now, &mut import)?;
    import.finish(end.unwrap_or(now))?;
    if let Some(note) = &reader.header().selection {
        let note = escape(&note.to_string()).into_owned();
        remarks.push(format!(
            "holds a part of a recording ({note}): missing messages are not findings"
        ));
    }
    if reader.is_renumbered() {
        remarks.push("its frames have new numbers here, from #1 on".to_owned());
    }
    let remarks = remarks.iter().map(|remark| format!("{shown}: {remark}"));
    Ok(Made {
        reel,
        format: "a cassette",
        remarks: remarks.collect(),
    })
}

/// What could not be read: told, and on record where something is missing, as far as anybody reads it.
#[derive(Default)]
struct Faults {
    count: u64,
    losses: u64,
    told: Vec<String>,
}

impl Faults {
    fn add(&mut self, fault: &Fault, now: Moment, import: &mut Import) -> anyhow::Result<()> {
        self.count += 1;
        if self.count <= MOST_TOLD {
            self.told.push(escape(&fault.to_string()).into_owned());
        }
        // Whoever looks at the recording must know what it lacks.
        self.losses += u64::from(fault.is_loss);
        if fault.is_loss && self.losses <= MOST_RECORDED {
            import.event(now, &warning(format!("of the cassette, {fault}")))?;
        }
        Ok(())
    }

    /// Says how much more there was. Returns what the user is told.
    fn end(mut self, now: Moment, import: &mut Import) -> anyhow::Result<Vec<String>> {
        if self.losses > MOST_RECORDED {
            let lines = plural(self.losses - MOST_RECORDED, "more line");
            let text = format!("{lines} of the cassette could not be read");
            import.event(now, &warning(text))?;
        }
        if self.count > MOST_TOLD {
            let more = plural(self.count - MOST_TOLD, "more remark");
            self.told.push(format!("{more} of that kind"));
        }
        Ok(self.told)
    }
}

fn warning(message: String) -> EventKind {
    EventKind::Warning { message }
}

/// The length of the file and the CRC-32 of it all.
fn checksum(file: &mut File) -> io::Result<(u64, u32)> {
    let (mut len, mut hasher) = (0, crc32fast::Hasher::new());
    file.rewind()?;
    let mut buffered = BufReader::new(&*file);
    while let bytes @ [_, ..] = buffered.fill_buf()? {
        hasher.update(bytes);
        let read = bytes.len();
        len += read as u64;
        buffered.consume(read);
    }
    file.rewind()?;
    Ok((len, hasher.finalize()))
}
