//! `--scan`: leaks in files of any kind. What is found is told by place and rule, never shown.

use crate::cli::cassette::Tape;
use crate::cli::exit::{Exit, Failure, Outcome, code};
use crate::cli::output::{self, Output};
use mcpreel_capture::spool::open_regular;
use mcpreel_redact::{LIMITS, Learner, Place, Policy, Redactor, Replaced, Report};
use mcpreel_share::cassette::{is_cassette, is_recorded};
use mcpreel_share::lines::Lines;
use mcpreel_share::redacted::HELD;
use mcpreel_store::reader::Recording;
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::text::{escape, plural};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a recording begins with.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// Places that are told of a file; more of them say nothing new.
const MOST: usize = 1000;

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

/// A place where something was found.
#[derive(Serialize)]
struct Line<'l> {
    file: &'l str,
    place: String,
    path: &'l str,
    #[serde(skip_serializing_if = "str::is_empty")]
    key: &'l str,
    rule: &'l str,
}

impl Scan<'_> {
    /// Looks through a file, or through a folder with what is below it. Links are not followed:
    /// they may lead round.
    fn path(&mut self, path: &Path) -> Result<(), Failure> {
        let mut open = vec![path.to_owned()];
        let mut is_named = true;
        while let Some(path) = open.pop() {
            let is_link = path.symlink_metadata().is_ok_and(|file| file.is_symlink());
            if is_link && !is_named {
                continue;
            }
            is_named = false;
            if path.is_dir() {
                match entries(&path) {
                    Ok(entries) => open.extend(entries.into_iter().rev()),
                    Err(error) => self.unread(&path, Failure::Refused(error.into())),
                }
                continue;
            }
            let packed = packed_as(&path);
            match self.file(&path) {
                Ok(report) if packed.is_none() || report.hits() > 0 => self.tell(&path, &report)?,
                Ok(_) => {}
                Err(failure @ Failure::Closed) => return Err(failure),
                Err(failure) => self.unread(&path, failure),
            }
            if let Some(kind) = packed {
                self.packed(&path, kind);
            }
        }
        Ok(())
    }

    fn unread(&mut self, path: &Path, failure: Failure) {
        let (_, why) = code(Err(failure));
        let shown = path.display().to_string();
        let why = why.unwrap_or_default();
        output::say(&format!(
            "not looked through: {}: {}",
            escape(&shown),
            escape(&why)
        ));
        self.is_partial = true;
    }

    /// Says that a file is packed: nothing of what is in it was looked at.
    fn packed(&mut self, path: &Path, kind: &str) {
        let why = format!("what is in a {kind} file is packed: unpack it, and scan that");
        self.unread(path, Failure::Refused(anyhow::anyhow!(why)));
    }

    fn file(&mut self, path: &Path) -> Result<Report, Failure> {
        let mut file = open_regular(path, false)?;
        let mut begin = Vec::new();
        (&mut file)
            .take(SQLITE.len() as u64)
            .read_to_end(&mut begin)?;
        if begin == SQLITE {
            return self.recording(path);
        }
        if let Some(tape) = Tape::of(path)? {
            return self.cassette(file, &tape);
        }
        file.rewind()?;
        self.lines(file)
    }

    fn recording(&mut self, path: &Path) -> Result<Report, Failure> {
        let recording = Recording::open(path)?;
        super::look(&recording, self.policy)
    }

    /// The session that it tells, and as text whatever else stands in the file.
    fn cassette(&mut self, mut file: File, tape: &Tape) -> Result<Report, Failure> {
        let recording = Recording::open(tape.reel())?;
        let (mut report, redactor) = super::looked(&recording, self.policy)?;
        let mut redactor = learned(&mut file, redactor.resume())?;
        for line in tape.told() {
            // It may quote the file.
            let line = redactor.text(Place::Recording, line, &mut Report::default());
            output::say(&line);
        }
        file.rewind()?;
        let (mut too_long, mut is_over) = (0, false);
        each_line(&file, &mut |number, line| {
            let Some(line) = line else {
                too_long += 1;
                return;
            };
            // Of several cassettes in one file the first is read.
            is_over |= number > 1 && is_cassette(&mut &*line).unwrap_or(false);
            let mut found = Report::default();
            redactor.frame(Place::Line(number), line, &mut found);
            for place in &found.places {
                if is_over || !is_recorded(number, line, &place.path) {
                    report.take(place);
                }
            }
        })?;
        self.too_long(too_long);
        Ok(report)
    }

    fn lines(&mut self, mut file: File) -> Result<Report, Failure> {
        let mut redactor = learned(&mut file, Learner::new(Arc::clone(self.policy)))?;
        file.rewind()?;
        let (report, too_long) = replaced(&file, &mut redactor)?;
        self.too_long(too_long);
        Ok(report)
    }

    fn too_long(&mut self, lines: u64) {
        if lines > 0 {
            self.is_partial = true;
            let lines = plural(lines, "line");
            output::say(&format!("{lines} too long to be looked through"));
        }
    }

    fn tell(&mut self, path: &Path, report: &Report) -> Result<(), Failure> {
        self.files += 1;
        self.found += report.hits();
        self.is_partial |= !report.left.is_empty();
        let shown = path.display().to_string();
        for replaced in report.places.iter().take(MOST) {
            self.line(&shown, replaced)?;
        }
        let told = report.places.len().min(MOST) as u64;
        if report.hits() > told && !self.json {
            let more = plural(report.hits() - told, "more place");
            self.out.line(&format!("{}: {more}", escape(&shown)))?;
        }
        Ok(())
    }

    fn line(&mut self, file: &str, replaced: &Replaced) -> Result<(), Failure> {
        let (path, key, rule) = (&*replaced.path, &*replaced.key, &*replaced.rule);
        let place = replaced.place.to_string();
        if self.json {
            let line = Line {
                file,
                place,
                path,
                key,
                rule,
            };
            return Ok(self.out.json(&line)?);
        }
        let inside = if path.is_empty() {
            String::new()
        } else {
            format!(", {}", escape(path))
        };
        let named = match key {
            "" => String::new(),
            key => format!(" ({})", escape(key)),
        };
        let line = format!("{}: {place}{inside}: {}{named}", escape(file), escape(rule));
        Ok(self.out.line(&line)?)
    }

    fn finish(mut self) -> Outcome {
        if !self.json {
            let (places, files) = (plural(self.found, "place"), plural(self.files, "file"));
            self.out.line(&format!("{places} in {files}"))?;
            self.out.line(LIMITS)?;
        }
        self.out.flush()?;
        Ok(match (self.found, self.is_partial) {
            (1.., _) => Exit::Found,
            (0, true) => Exit::Refused,
            (0, false) => Exit::Fine,
        })
    }
}

/// What is secret in the lines of a file: what is in the last one may stand in the first.
fn learned(file: &mut File, mut learner: Learner) -> io::Result<Redactor> {
    file.rewind()?;
    each_line(file, &mut |_, line| {
        if let Some(line) = line {
            learner.frame(StreamId::STDERR, line);
        }
    })?;
    Ok(learner.finish())
}

/// What `redactor` finds in the lines of the file `path`.
pub fn known(path: &Path, redactor: &mut Redactor) -> Result<Report, Failure> {
    let file = open_regular(path, false)?;
    Ok(replaced(&file, redactor)?.0)
}

/// What `redactor` finds in the lines of a file, and how many lines are too long for that.
fn replaced(file: &File, redactor: &mut Redactor) -> io::Result<(Report, u64)> {
    let mut report = redactor.report();
    let mut too_long = 0;
    each_line(file, &mut |number, line| match line {
        Some(line) => drop(redactor.frame(Place::Line(number), line, &mut report)),
        None => too_long += 1,
    })?;
    Ok((report, too_long))
}

fn entries(dir: &Path) -> io::Result<BTreeSet<PathBuf>> {
    dir.read_dir()?.map(|entry| Ok(entry?.path())).collect()
}

/// Gives each line to `visit` with its number; none in place of one that is too long to be held.
fn each_line(file: &File, visit: &mut dyn FnMut(u64, Option<&[u8]>)) -> io::Result<()> {
    let mut lines = Lines::of(file, HELD);
    while lines.advance()? {
        visit(lines.number(), lines.held());
    }
    Ok(())
}

/// Bytes that tell.
const MAGIC: u64 = 6;

/// What packed files begin with.
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

/// What the file is packed as, if its first bytes say so. What cannot be read is told by whoever
/// looks through it.
fn packed_as(path: &Path) -> Option<&'static str> {
    let mut begin = Vec::new();
    let file = open_regular(path, false).ok()?;
    file.take(MAGIC).read_to_end(&mut begin).ok()?;
    let found = PACKED.iter().find(|(magic, _)| begin.starts_with(magic));
    found.map(|(_, kind)| *kind)
}
