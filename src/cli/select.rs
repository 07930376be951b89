//! From what a person typed to a recording that is open and complete.

use super::args::Folder;
use super::cassette::Tape;
use super::exit::Failure;
use super::folder;
use super::output::{self, Progress};
use crate::store::library::selector::Candidate;
use crate::store::library::{Entry, Library, SelectError, Selected, Standing, spool_of};
use crate::store::reader::{Recording, Summary};
use crate::store::recovery::{self, Outcome as Done, RecoverError, Stage};
use crate::store::schema::State;
use crate::text::{escape, plural, size};
use crate::trace::clock::Clock;
use crate::trace::frame::Seq;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Candidates that are named; more do not help in choosing.
const MOST_NAMED: usize = 10;

/// The recording that is meant, and its frame; nothing of it has been read.
pub fn find(text: &OsStr, library: &Library) -> Result<Selected, Failure> {
    match text.to_str() {
        Some(text) => library
            .select(text)
            .map_err(|error| explain(error, library)),
        // Ids and names are text, so this can only be a path.
        None => Ok(Selected {
            path: text.into(),
            seq: None,
        }),
    }
}

/// A recording that can be opened: one with all that its spool held, or what a cassette became.
#[derive(Debug)]
pub struct Ready {
    path: PathBuf,
    tape: Option<Tape>,
}

impl Ready {
    /// Completes the recording `path`. Of a cassette it makes a temporary one, and says what is
    /// wrong with it.
    pub fn new(path: &Path, library: &Library) -> Result<Self, Failure> {
        let tape = Tape::of(path)?;
        match &tape {
            Some(tape) => tape.tell(),
            None => complete(path, library)?,
        }
        Ok(Self {
            path: path.to_owned(),
            tape,
        })
    }

    /// The recording, which people know as the file that they gave.
    pub fn open(&self) -> Result<Recording, Failure> {
        let recording = Recording::open(self.reel())?;
        Ok(match self.tape {
            Some(_) => recording.known_as(&self.path),
            None => recording,
        })
    }

    /// The file that is read.
    pub fn reel(&self) -> &Path {
        self.tape.as_ref().map_or(&self.path, Tape::reel)
    }

    /// Whether it vanishes with this value.
    pub fn is_temporary(&self) -> bool {
        self.tape.is_some()
    }
}

/// The recording that is meant, with all that its spool still holds, and its frame. What it rests
/// on is to be kept for as long as it is read.
pub fn open(text: &OsStr, folder: &Folder) -> Result<(Recording, Option<Seq>, Ready), Failure> {
    let library = Library::new(folder::of(folder)?);
    let selected = find(text, &library)?;
    let ready = Ready::new(&selected.path, &library)?;
    Ok((ready.open()?, selected.seq, ready))
}

/// Whether somebody still records it.
pub fn is_live(recording: &Recording, summary: &Summary) -> bool {
    !summary.state.is_final() && Entry::read(recording.path()).standing == Standing::Live
}

/// What went wrong, and the way out.
fn explain(error: SelectError, library: &Library) -> Failure {
    let dir = library.dir().display().to_string();
    let hint = match &error {
        SelectError::Library(_) => return Failure::Refused(error.into()),
        SelectError::TooFew { count: 0, .. } => format!(
            "no recordings in {}; `mcpreel demo` makes one, `mcpreel run` records a server",
            escape(&dir)
        ),
        SelectError::TooFew { text, count } => {
            let count = plural(*count as u64, "recording");
            let (text, dir) = (escape(text), escape(&dir));
            format!("{text}: there are not that many, {dir} has {count}")
        }
        SelectError::NotANumber { .. } => escape(&error.to_string()).into_owned(),
        SelectError::Unknown { names, .. } if names.is_empty() => format!(
            "{} in {}, where there are no recordings yet",
            escape(&error.to_string()),
            escape(&dir)
        ),
        SelectError::Unknown { names, .. } => format!(
            "{} in {}; names there: {}",
            escape(&error.to_string()),
            escape(&dir),
            named(names.iter().map(String::as_str))
        ),
        SelectError::Ambiguous { candidates, .. } => {
            let is_copy = |one: &Candidate| {
                let same = candidates.iter().filter(|other| other.id == one.id);
                same.count() > 1
            };
            let candidates: Vec<_> = candidates
                .iter()
                .map(|candidate| {
                    if is_copy(candidate) {
                        candidate.path.display().to_string()
                    } else {
                        format!("{} ({})", candidate.id, candidate.name)
                    }
                })
                .collect();
            let named = named(candidates.iter().map(String::as_str));
            format!("{}: {named}", escape(&error.to_string()))
        }
    };
    Failure::Usage(hint)
}

fn named<'a>(all: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = all.len().saturating_sub(MOST_NAMED);
    let mut names: Vec<_> = all
        .take(MOST_NAMED)
        .map(|name| escape(name).into_owned())
        .collect();
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    names.join(", ")
}

/// Adds what the spool of a recording still holds, and brings it up to date. What cannot be done
/// is said: the recording can still be read as it stands. Where there is nothing but a spool that
/// is the failure.
pub fn complete(path: &Path, library: &Library) -> Result<(), Failure> {
    let shown = path.display().to_string();
    let shown = escape(&shown);
    if !library.contains(path) {
        if spool_of(path).exists() {
            output::say(&format!(
                "{shown} is shown without what its spool still holds: only recordings in the \
                 folder {} are completed; --dir names another",
                escape(&library.dir().display().to_string())
            ));
        }
        return Ok(());
    }
    let mut progress = Progress::stderr();
    let outcome = recovery::bring_up_to_date(path, Clock::start(), &mut |stage| {
        progress.show(&format!("{shown}: {}", in_words(stage)));
    });
    drop(progress);
    match outcome {
        // What cannot be read is said by whoever opens it next.
        Ok(Done::Whole | Done::Live | Done::Partly) | Err(RecoverError::Read(_)) => {}
        Ok(Done::ReadOnly) => output::say(&format!(
            "{shown} is shown without what its spool still holds: it may not be written"
        )),
        Ok(Done::Completed { frames, state }) => {
            let id = Entry::read(path).id;
            output::say(&completed(&escape(&id), frames, state));
        }
        Err(error) if recovery::is_missing(path) => return Err(not_made(path, error)),
        Err(error) => {
            let error = format!("{:#}", anyhow::Error::from(error));
            output::say(&format!(
                "{shown} could not be completed: {}",
                escape(&error)
            ));
        }
    }
    Ok(())
}

/// That the recording `path` could not be made from its spool, where that is and the way out.
pub fn not_made(path: &Path, error: RecoverError) -> Failure {
    if matches!(error, RecoverError::Busy { .. }) {
        return error.into();
    }
    let spool = spool_of(path);
    let bytes = spool.metadata().map_or(0, |file| file.len());
    let (reel, spool) = (path.display().to_string(), spool.display().to_string());
    Failure::Refused(anyhow::Error::from(error).context(format!(
        "{} could not be made from its journal {} ({}), which stays as it is; copy that to a \
         folder that can be written, or free space",
        escape(&reel),
        escape(&spool),
        size(bytes)
    )))
}

/// What was added to a recording whose recorder has gone. Only the one that was killed was
/// interrupted; the other had no time to index everything.
fn completed(id: &str, frames: u64, state: State) -> String {
    let frames = plural(frames, "frame");
    match state {
        State::Recovered => format!("{id} was interrupted; completed from its spool: {frames}"),
        _ => format!("indexed the rest of {id}: {frames}"),
    }
}

fn in_words(stage: Stage) -> String {
    match stage {
        Stage::Draining { done, of } => format!("{} of {} read", size(done), size(of)),
        Stage::Deriving { frames } => format!("{} paired", plural(frames, "frame")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_killed_was_interrupted() {
        let said = completed("7f3a9c21", 5809, State::Complete);
        assert_eq!(said, "indexed the rest of 7f3a9c21: 5 809 frames");
        let said = completed("7f3a9c21", 1, State::Recovered);
        assert_eq!(
            said,
            "7f3a9c21 was interrupted; completed from its spool: 1 frame"
        );
    }
}
