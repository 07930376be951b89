//! From what a person typed (which `store::library::selector` understands) to a recording that is open
//! and complete.

use super::cassette::Tape;
use super::exit::Failure;
use super::folder::{self, Folder};
use super::output::{self, Ink, Output, Progress, shown};
use clap::Args;
use mcpreel_config::nearest;
use mcpreel_share::phrases;
use mcpreel_store::http::ConversationRow;
use mcpreel_store::library::{Entry, Library, SelectError, Selected, Standing, is_path, spool_of};
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_store::recovery::{self, Outcome as Done, RecoverError, Stage};
use mcpreel_store::schema::State;
use mcpreel_trace::clock::{Clock, Moment, wall_clock_ns};
use mcpreel_wire::text::{escape, plural, size};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Candidates that are named; more do not help in choosing.
const MOST_NAMED: usize = 5;

/// The arguments that name one recording.
#[derive(Debug, Args)]
pub struct RecordingArgs {
    /// A path, @, @2, an id or its first four digits or more, or a name
    #[arg(value_name = "RECORDING", default_value = "@")]
    pub recording: OsString,
    #[command(flatten)]
    pub folder: Folder,
}

impl RecordingArgs {
    pub fn open(&self) -> Result<Recording, Failure> {
        whole(&self.recording, &self.folder)
    }
}

/// The recording that is meant, as a whole. A single frame is refused.
pub fn whole(text: &OsStr, folder: &Folder) -> Result<Recording, Failure> {
    let (recording, selected) = open(text, folder)?;
    if selected.seq.is_some() {
        let frame = phrases::command(&[text.to_string_lossy().into_owned()]);
        return Err(Failure::Usage(format!(
            "#SEQ names one frame, `mcpreel show {frame}` shows it; leave it out for a whole recording"
        )));
    }
    Ok(recording)
}

/// The recording that is meant, and its frame; nothing of it has been read.
pub fn find(text: &OsStr, library: &Library) -> Result<Selected, Failure> {
    let Some(name) = text.to_str() else {
        // Ids and names are text, so this can only be a path.
        return Ok(Selected::new(text.into(), None));
    };
    let selected = library.select(name);
    let selected = selected.map_err(|error| explain(error, library))?;
    if let Some(newer) = &selected.newer {
        let [name, newer] = [name, newer].map(escape);
        output::say(&format!(
            "{name} has a newer recording, {newer}, made by playing another"
        ));
    }
    Ok(selected)
}

/// The recording that is meant, and its frame; see [`recording`]. Of the newest is said whether it is no
/// session that somebody had, but was made by playing one.
pub fn open(text: &OsStr, folder: &Folder) -> Result<(Recording, Selected), Failure> {
    let library = Library::new(folder::of(folder)?);
    let selected = find(text, &library)?;
    let recording = recording(&selected.path, &library)?;
    tell_played(&text.to_string_lossy(), &recording)?;
    Ok((recording, selected))
}

/// The recording `path`, with all that its spool still holds. Of a cassette what it becomes, for as
/// long as that is open; what is wrong with it is said.
pub fn recording(path: &Path, library: &Library) -> Result<Recording, Failure> {
    let Some(tape) = Tape::of(path)? else {
        complete(path, library)?;
        return Ok(Recording::open(path)?);
    };
    tape.tell();
    let recording = Recording::open(tape.reel())?;
    Ok(recording.in_place_of(path, Box::new(tape)))
}

/// Says of the newest recording if nobody had that session: it was made by playing another.
fn tell_played(text: &str, recording: &Recording) -> Result<(), Failure> {
    let summary = recording.summary()?;
    if !text.starts_with('@') || !summary.is_played() {
        return Ok(());
    }
    let short = |id| escape(id).chars().take(4).collect::<String>();
    let what = match &*summary.origin {
        "mock" => "a session with a mock",
        "minimised" => "a minimised session",
        _ => "a replay",
    };
    let of = summary.parent.as_deref().map(short);
    let of = of.map_or_else(String::new, |id| {
        format!(" of {id}; to use the original, name {id}")
    });
    let (named, id) = (escape(text), short(&summary.id));
    output::say(&format!("{named} is {id}, {what}{of}"));
    Ok(())
}

/// The conversation to play or serve: the one that `asked` names, else the one with most requests of its
/// client; then the others are listed on stderr. `None` over stdio. `done` is `played` or `served`.
pub fn conversation(
    recording: &Recording,
    asked: Option<u32>,
    done: &str,
) -> Result<Option<u32>, Failure> {
    let busiest = recording.busiest_conversations()?;
    let has = |id: u32| busiest.iter().any(|(it, _)| *it == id);
    match (asked, busiest.as_slice()) {
        (Some(id), _) if has(id) => Ok(Some(id)),
        (Some(id), []) => Err(Failure::Usage(format!(
            "--conversation {id}: the recording has one session, and no conversations"
        ))),
        (Some(id), [..]) => Err(Failure::Usage(format!(
            "--conversation {id}: no client asks anything in it"
        ))),
        (None, [(id, _), others @ ..]) => {
            if !others.is_empty() {
                let all = recording.conversations()?;
                let named = busiest.iter().map(|one| described(*one, &all));
                let mut named = output::some(named, busiest.len() as u64, MOST_NAMED).into_iter();
                let first = named.next().unwrap_or_default();
                let others: Vec<_> = named.collect();
                output::say(&format!(
                    "conversation {first} is {done}, the one with most requests; --conversation N takes \
                     another: {}",
                    others.join(", ")
                ));
            }
            Ok(Some(*id))
        }
        (None, []) => Ok(None),
    }
}

/// A conversation with its client and the number of requests: `2 (inspector 1.0, 3 requests)`.
fn described((id, requests): (u32, u64), all: &[ConversationRow]) -> String {
    let session = all.iter().find(|one| one.id == id).map(|one| &one.session);
    let client = session.and_then(|session| phrases::peer(&session.client));
    let client = client.map_or_else(String::new, |client| format!("{client}, "));
    format!("{id} ({client}{})", plural(requests, "request"))
}

/// The standing of a recording. Its row says `live` also where the recorder was killed, or where it
/// is a copy.
pub fn standing(recording: &Recording, summary: &Summary) -> Standing {
    if summary.state.is_final() {
        return Standing::Finished;
    }
    Entry::read(recording.path()).standing
}

/// The standing of a recording in one word.
pub fn state(recording: &Recording, summary: &Summary) -> &'static str {
    match standing(recording, summary) {
        Standing::Finished => summary.state.as_str(),
        standing => standing.as_str(),
    }
}

/// The id, name and state of a recording.
pub fn title(recording: &Recording, summary: &Summary, out: &Output) -> String {
    let title = format!("{}  {}", summary.id, escape(&summary.name));
    let title = out.paint(Ink::Strong, &title);
    format!("{title}  {}", state(recording, summary))
}

/// Whether somebody still records it.
pub fn is_live(recording: &Recording, summary: &Summary) -> bool {
    standing(recording, summary) == Standing::Live
}

/// The time of a session that somebody still records, by the clock of its frames.
pub fn now(recording: &Recording, summary: &Summary) -> Option<Moment> {
    let now = || Moment(wall_clock_ns().saturating_sub(summary.wall_ns));
    is_live(recording, summary).then(now)
}

/// The message about a selector that means no recording, with the way out.
fn explain(error: SelectError, library: &Library) -> Failure {
    let (dir, fault) = (shown(library.dir()), error.to_string());
    let fault = escape(&fault);
    Failure::Usage(match &error {
        SelectError::Library(_) => return Failure::Refused(error.into()),
        SelectError::TooFew { count: 0, .. } => format!(
            "no recordings in {dir}; `mcpreel demo` makes one, `mcpreel run` records a server"
        ),
        SelectError::TooFew { text, count } => {
            let (text, count) = (escape(text), plural(*count as u64, "recording"));
            format!("{text}: {dir} has only {count}")
        }
        SelectError::NotANumber { .. } => fault.into_owned(),
        SelectError::Unknown { names, .. } if names.is_empty() => {
            format!("{fault} in {dir}, where there are no recordings yet")
        }
        SelectError::Unknown { text, .. } if is_path(text) => {
            format!("{}: there is no such file", escape(text))
        }
        SelectError::Unknown { text, names } => {
            let known: Vec<_> = names.iter().map(String::as_str).collect();
            let alike = nearest(text, &known);
            let is_near = |name: &&String| name.contains(&**text) || alike == Some(name);
            let quoted = |name: &String| format!("`{}`", escape(name));
            let near: Vec<_> = names.iter().filter(is_near).map(quoted).collect();
            let names = names.iter().map(|name| escape(name).into_owned());
            if near.is_empty() {
                format!(
                    "{fault}\nnames in {dir}: {}; `mcpreel ls` has ids",
                    named(names)
                )
            } else {
                format!("{fault}; did you mean {}?", named(near.into_iter()))
            }
        }
        SelectError::Ambiguous { paths, .. } => {
            format!("{fault}: {}", named(paths.iter().map(|path| shown(path))))
        }
    })
}

fn named(all: impl ExactSizeIterator<Item = String>) -> String {
    let count = all.len() as u64;
    output::some(all, count, MOST_NAMED).join(", ")
}

/// Adds what the spool of a recording still holds, and brings it up to date. What cannot be done
/// is said: the recording can still be read as it stands. Where there is nothing but a spool that
/// is the failure.
pub fn complete(path: &Path, library: &Library) -> Result<(), Failure> {
    let shown = shown(path);
    if !library.contains(path) {
        let standing = Entry::read(path).standing;
        if standing.is_recoverable() {
            let standing = standing.as_str();
            output::say(&format!(
                "{shown} ({standing}) is shown without what its spool still holds: it lies outside \
                 the folder of recordings; --dir FOLDER completes it"
            ));
        }
        return Ok(());
    }
    let mut progress = Progress::stderr();
    let outcome = recovery::bring_up_to_date(path, Clock::start(), &mut |stage| {
        let done = match stage {
            Stage::Draining { done, of } => format!("{} of {} read", size(done), size(of)),
            Stage::Deriving { frames } => format!("{} paired", plural(frames, "frame")),
        };
        progress.now_and_then(|| format!("{shown}: {done}"));
    });
    drop(progress);
    match outcome {
        // What cannot be read is said by whoever opens it next.
        Ok(Done::Whole | Done::Live | Done::Partly)
        | Err(RecoverError::Read(_) | RecoverError::Open(_)) => {}
        Ok(Done::ReadOnly) => output::say(&format!(
            "{shown} is shown without what its spool still holds: it may not be written"
        )),
        Ok(Done::Completed { frames, state }) => {
            let id = Entry::read(path).id;
            let (id, frames) = (escape(&id), plural(frames, "frame"));
            // Only a recorder that was killed was interrupted.
            output::say(&match state {
                State::Recovered => {
                    format!("{id} was interrupted; completed from its spool: {frames} in all")
                }
                _ => format!("indexed the rest of {id}: {frames} in all"),
            });
        }
        Err(error) if recovery::is_missing(path) => return Err(not_made(path, error)),
        Err(error) => {
            let error = format!("{:#}", anyhow::Error::from(error));
            let error = escape(&error);
            output::say(&format!("{shown} could not be completed: {error}"));
        }
    }
    Ok(())
}

/// The refusal of a recording that could not be made from its spool, with the way out.
pub fn not_made(path: &Path, error: RecoverError) -> Failure {
    if matches!(error, RecoverError::Busy { .. }) {
        return error.into();
    }
    let spool = spool_of(path);
    let bytes = spool.metadata().map_or(0, |file| file.len());
    let (reel, spool, bytes) = (shown(path), shown(&spool), size(bytes));
    Failure::Refused(anyhow::Error::from(error).context(format!(
        "{reel} could not be made from its spool {spool} ({bytes}), which stays as it is; copy \
         that to a folder that can be written, or free space"
    )))
}
