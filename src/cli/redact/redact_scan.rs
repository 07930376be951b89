//! `--scan`: leaks in files of any kind. A leak is told by its place and rule, and never shown.

use crate::cli::exit::{Exit, Failure, Outcome, code};
use crate::cli::output::{self, Output, shown};
use mcpreel_capture::spool::open_regular;
use mcpreel_redact::{Learner, Place, Policy, Redactor, Replaced, Report};
use mcpreel_share::lines::Lines;
use mcpreel_share::redacting::HELD;
use mcpreel_store::reader::Recording;
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::text::{escape, plural};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Places that are told of a file.
const MOST: usize = 1000;

/// The first bytes of packed files. A packed file is not called clean: its content was not looked
/// at.
const PACKED: [(&[u8], &str); 8] = [
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"PK\x07\x08", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
];
const SQLITE: &[u8] = b"SQLite format 3\0";

/// Looks through all of `paths`.
pub fn run(paths: &[PathBuf], policy: &Arc<Policy>, json: bool) -> Outcome {
    let mut scan = Scan {
        policy,
        json,
        out: Output::stdout(),
        files: 0,
        found: 0,
        is_partial: false,
    };
    for path in paths {
        scan.path(path)?;
    }
    scan.finish()
}

struct Scan<'p> {
    policy: &'p Arc<Policy>,
    json: bool,
    out: Output,
    files: u64,
    found: u64,
    /// Whether something was not looked at.
    is_partial: bool,
}

impl Scan<'_> {
    /// Looks through a file, or through a folder with everything below it. Links in a folder are
    /// not followed: they may form a circle.
    fn path(&mut self, path: &Path) -> Result<(), Failure> {
        if !path.is_dir() {
            return self.file(path);
        }
        let entries = path.read_dir().and_then(|entries| {
            let paths = entries.map(|entry| Ok(entry?.path()));
            paths.collect::<io::Result<BTreeSet<_>>>()
        });
        let entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                self.unread(path, Failure::Refused(error.into()));
                return Ok(());
            }
        };
        let mut entries = entries.iter().filter(|path| !path.is_symlink());
        entries.try_for_each(|path| self.path(path))
    }

    fn file(&mut self, path: &Path) -> Result<(), Failure> {
        match self.looked_through(path) {
            Ok((report, None)) => self.tell(path, &report)?,
            Ok((report, Some(kind))) => {
                if report.hits() > 0 {
                    self.tell(path, &report)?;
                }
                let why = format!("what is in a {kind} file is packed: unpack it, and scan that");
                self.unread(path, Failure::Refused(anyhow::anyhow!(why)));
            }
            Err(failure @ Failure::Closed) => return Err(failure),
            Err(failure) => self.unread(path, failure),
        }
        Ok(())
    }

    fn unread(&mut self, path: &Path, failure: Failure) {
        let why = code(Err(failure)).1.unwrap_or_default();
        output::say(&format!(
            "not looked through: {}: {}",
            shown(path),
            escape(&why)
        ));
        self.is_partial = true;
    }

    /// Looks through a file; returns the leaks, and the format of a packed file.
    fn looked_through(&mut self, path: &Path) -> Result<(Report, Option<&'static str>), Failure> {
        let mut file = open_regular(path, false)?;
        let mut begin = Vec::new();
        (&file).take(SQLITE.len() as u64).read_to_end(&mut begin)?;
        if begin == SQLITE {
            let recording = Recording::open(path)?;
            return Ok((super::look(&recording, self.policy)?, None));
        }
        let packed = PACKED.iter().find(|(magic, _)| begin.starts_with(magic));
        // A value that is known to be secret in the last line may stand in the first.
        file.rewind()?;
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
        Ok((report, packed.map(|(_, kind)| *kind)))
    }

    fn tell(&mut self, path: &Path, report: &Report) -> Result<(), Failure> {
        self.files += 1;
        self.found += report.hits();
        self.is_partial |= !report.left.is_empty();
        for leak in report.places.iter().take(MOST) {
            self.line(path, leak)?;
        }
        let told = report.places.len().min(MOST) as u64;
        if report.hits() > told && !self.json {
            let more = plural(report.hits() - told, "more place");
            self.out.line(&format!("{}: {more}", shown(path)))?;
        }
        Ok(())
    }

    fn line(&mut self, path: &Path, leak: &Replaced) -> Result<(), Failure> {
        if self.json {
            let key = Some(&leak.key).filter(|key| !key.is_empty());
            return Ok(self.out.json(&json!({
                "file": path.to_string_lossy(),
                "place": leak.place.to_string(),
                "path": leak.path,
                "key": key,
                "rule": leak.rule,
            }))?);
        }
        let inside = match &*leak.path {
            "" => String::new(),
            path => format!(", {}", escape(path)),
        };
        let named = match &*leak.key {
            "" => String::new(),
            key => format!(" ({})", escape(key)),
        };
        let (file, place, rule) = (shown(path), &leak.place, escape(&leak.rule));
        let line = format!("{file}: {place}{inside}: {rule}{named}");
        Ok(self.out.line(&line)?)
    }

    fn finish(mut self) -> Outcome {
        if !self.json {
            let (places, files) = (plural(self.found, "place"), plural(self.files, "file"));
            self.out.line(&format!("{places} in {files}"))?;
            self.out.line(super::WARNING)?;
        }
        self.out.flush()?;
        Ok(match (self.found, self.is_partial) {
            (1.., _) => Exit::Found,
            (0, true) => Exit::Refused,
            (0, false) => Exit::Fine,
        })
    }
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
