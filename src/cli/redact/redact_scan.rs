//! `--scan`: leaks in files of any kind. A leak is told by its place and rule, and never shown.

use crate::cli::exit::{Exit, Failure, Outcome};
use crate::cli::folder::Folder;
use crate::cli::output::{self, Output, shown};
use crate::cli::{folder, select};
use mcpreel_capture::spool::open_regular;
use mcpreel_redact::{Learner, Place, Policy, Redactor, Report};
use mcpreel_share::lines::Lines;
use mcpreel_share::redacting::HELD;
use mcpreel_store::library::Library;
use mcpreel_store::reader::Recording;
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::text::{escape, plural};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::NamedTempFile;
use zip::ZipArchive;

/// The first bytes of packed files that are not opened. Such a file is not called clean: its content was not
/// looked at.
const PACKED: [&[u8]; 5] = [
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
    b"BZh",
    b"\xfd7zXZ\0",
    b"7z\xbc\xaf\x27\x1c",
];
const ZIP: &[u8] = b"PK\x03\x04";
const SQLITE: &[u8] = b"SQLite format 3\0";

/// A file in a ZIP that is larger is not unpacked, bytes.
const MOST_UNPACKED: u64 = 4 << 30;

/// Looks through all of `places`: paths, and recordings of `folder`.
pub fn run(places: &[PathBuf], folder: &Folder, policy: &Arc<Policy>, json: bool) -> Outcome {
    let mut scan = Scan {
        policy,
        json,
        out: Output::stdout(),
        files: 0,
        found: 0,
        is_partial: false,
    };
    for place in places {
        match path_of(place, folder) {
            Ok(path) => scan.path(&path)?,
            Err(failure) => scan.unread(place, failure)?,
        }
    }
    if !json {
        let (places, files) = (plural(scan.found, "place"), plural(scan.files, "file"));
        scan.out
            .line(&format!("{places} in {files} looked through"))?;
        scan.out.line(super::WARNING)?;
    }
    scan.out.flush()?;
    Ok(match (scan.found, scan.is_partial) {
        (1.., _) => Exit::Found,
        (0, true) => Exit::Refused,
        (0, false) => Exit::Fine,
    })
}

/// `place` if that path exists, else the path of the recording that it names.
fn path_of(place: &Path, folder: &Folder) -> Result<PathBuf, Failure> {
    if place.symlink_metadata().is_ok() {
        return Ok(place.to_owned());
    }
    let library = Library::new(folder::of(folder)?);
    // A usage error would end the scan; the other places are still scanned.
    let selected = select::find(place.as_os_str(), &library).map_err(|failure| match failure {
        Failure::Usage(why) => Failure::Refused(anyhow::anyhow!(why)),
        failure => failure,
    })?;
    select::recording(&selected.path, &library)?;
    Ok(selected.path)
}

struct Scan<'p> {
    policy: &'p Arc<Policy>,
    json: bool,
    out: Output,
    /// Those that were looked through, and packed ones in which something was found all the same.
    files: u64,
    found: u64,
    /// Whether something was not looked at.
    is_partial: bool,
}

impl Scan<'_> {
    /// Looks through a file, or through a folder with everything below it. Links in a folder are
    /// not followed: they may form a circle.
    fn path(&mut self, path: &Path) -> Result<(), Failure> {
        if path.is_dir() {
            let entries = path.read_dir().and_then(|entries| {
                let paths = entries.map(|entry| Ok(entry?.path()));
                paths.collect::<io::Result<BTreeSet<_>>>()
            });
            let entries = entries.or_else(|error| self.unread(path, error.into()))?;
            let mut entries = entries.iter().filter(|path| !path.is_symlink());
            return entries.try_for_each(|path| self.path(path));
        }
        match beginning(path) {
            Ok(begin) if begin.starts_with(ZIP) => self.zip(path),
            _ => self.file(path, path),
        }
    }

    /// Looks through the files in a ZIP, one of which may be a recording.
    fn zip(&mut self, path: &Path) -> Result<(), Failure> {
        let archive = open_regular(path, false).ok().map(ZipArchive::new);
        let Some(Ok(mut archive)) = archive else {
            return self.file(path, path);
        };
        for nth in 0..archive.len() {
            let name = archive.by_index_raw(nth);
            // An absolute name in it does not take the place of the ZIP's.
            let name = name.and_then(|file| Ok(path.join(file.name()?.trim_start_matches('/'))));
            let name = name.unwrap_or_else(|_| path.to_owned());
            match unpacked(&mut archive, nth) {
                Ok(Some(file)) => self.file(file.path(), &name)?,
                Ok(None) => {}
                Err(error) => self.unread(&name, error.into())?,
            }
        }
        Ok(())
    }

    /// Looks through the file at `path`, which is called `name`.
    fn file(&mut self, path: &Path, name: &Path) -> Result<(), Failure> {
        let report = self.looked_through(path, name);
        let report = report.or_else(|failure| self.unread(name, failure))?;
        self.found += report.hits();
        self.is_partial |= !report.left.is_empty();
        self.tell(name, &report)
    }

    /// Says why something was not looked at; a reader who has gone ends the scan.
    fn unread<T: Default>(&mut self, path: &Path, failure: Failure) -> Result<T, Failure> {
        failure.skipped(&format!("not looked through: {}", shown(path)))?;
        self.is_partial = true;
        Ok(T::default())
    }

    /// Looks through a file for leaks.
    fn looked_through(&mut self, path: &Path, name: &Path) -> Result<Report, Failure> {
        let mut file = open_regular(path, false)?;
        let begin = beginning(path)?;
        if begin == SQLITE {
            let report = super::look(&Recording::open(path)?, self.policy)?;
            self.files += 1;
            return Ok(report);
        }
        // A value that is known to be secret in the last line may stand in the first.
        let mut learner = Learner::new(Arc::clone(self.policy));
        each_line(&file, |_, line| {
            if let Some(line) = line {
                learner.frame(StreamId::STDERR, line);
            }
        })?;
        file.rewind()?;
        let (report, too_long) = leaks(&file, &mut learner.finish())?;
        if too_long > 0 {
            self.is_partial = true;
            let lines = plural(too_long, "line");
            output::say(&format!("{lines} too long to be looked through"));
        }
        let is_packed = PACKED
            .iter()
            .chain([&ZIP])
            .any(|magic| begin.starts_with(magic));
        self.files += u64::from(!is_packed || report.hits() > 0);
        if is_packed {
            let why = "the file is packed: unpack it and scan the content";
            self.unread::<()>(name, anyhow::anyhow!(why).into())?;
        }
        Ok(report)
    }

    fn tell(&mut self, path: &Path, report: &Report) -> Result<(), Failure> {
        let file = shown(path);
        for leak in &report.places {
            let key = Some(&*leak.key).filter(|key| !key.is_empty());
            if self.json {
                self.out.json(&json!({
                    "file": path.to_string_lossy(),
                    "place": leak.place.to_string(),
                    "path": leak.path,
                    "key": key,
                    "rule": leak.rule,
                }))?;
                continue;
            }
            let inside = match &*leak.path {
                "" => String::new(),
                path => format!(", {}", escape(path)),
            };
            let named = key.map_or_else(String::new, |key| format!(" ({})", escape(key)));
            let (place, rule) = (&leak.place, escape(&leak.rule));
            let line = format!("{file}: {place}{inside}: {rule}{named}");
            self.out.line(&line)?;
        }
        if report.more() > 0 && !self.json {
            let more = plural(report.more(), "more place");
            self.out.line(&format!("{file}: {more}"))?;
        }
        Ok(())
    }
}

/// The first bytes of a file.
fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    let mut begin = Vec::new();
    let file = open_regular(path, false)?;
    file.take(SQLITE.len() as u64).read_to_end(&mut begin)?;
    Ok(begin)
}

/// A copy of a file in a ZIP; none of a folder.
fn unpacked(archive: &mut ZipArchive<File>, nth: usize) -> anyhow::Result<Option<NamedTempFile>> {
    let mut file = archive.by_index(nth)?;
    if file.is_dir() {
        return Ok(None);
    }
    let mut copy = NamedTempFile::new()?;
    let copied = io::copy(&mut (&mut file).take(MOST_UNPACKED), &mut copy)?;
    anyhow::ensure!(copied < MOST_UNPACKED, "it is too large to be unpacked");
    Ok(Some(copy))
}

/// The leaks that `redactor` finds in the lines of a file, and the number of lines that are too
/// long.
pub fn leaks(file: &File, redactor: &mut Redactor) -> io::Result<(Report, u64)> {
    let (mut report, mut too_long) = (redactor.report(), 0);
    each_line(file, |number, line| match line {
        Some(line) => drop(redactor.frame(Place::Line(number), line, &mut report)),
        None => too_long += 1,
    })?;
    Ok((report, too_long))
}

/// Gives each line to `visit` with its number; none in place of one that is too long to be held.
fn each_line(file: &File, mut visit: impl FnMut(u64, Option<&[u8]>)) -> io::Result<()> {
    let mut lines = Lines::of(file, HELD);
    while lines.advance()? {
        visit(lines.number(), lines.held());
    }
    Ok(())
}
