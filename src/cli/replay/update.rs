//! `--update`: a cassette becomes what the server says now.

use crate::cli::exit::{Failure, usage};
use crate::cli::output::shown;
use crate::cli::redact::{self, Secrets};
use crate::cli::{cassette, select};
use anyhow::{Context as _, anyhow};
use mcpreel_replay::diff::Class;
use mcpreel_replay::player::Played;
use mcpreel_share::cassette::{Entry, Header, Reader, write_under};
use mcpreel_share::export::{Excerpt, Export, Selection};
use mcpreel_share::outgoing::file::{Draft, Replace};
use mcpreel_store::library::Library;
use mcpreel_store::reader::Recording;
use mcpreel_store::recovery;
use mcpreel_trace::event::ProcessContext;
use mcpreel_wire::text::{escape, plural};
use serde_json::Value;
use std::fs::{File, Metadata};
use std::io::BufWriter;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A cassette that is to be updated.
pub struct Update {
    /// Through links: what they lead to is written.
    path: PathBuf,
    header: Header,
    /// The start event of the cassette. That of the replay has the command that was given now, which
    /// may have secrets in it.
    context: ProcessContext,
    /// The file as it was when the replay began.
    file: Metadata,
}

/// The result of an update.
pub enum Updated {
    /// The cassette is what the server says now: so many places of it look like secrets.
    Written(u64),
    /// The cassette is the same: not a byte of it was changed.
    Same,
    /// The cassette stays as it is, because of this.
    Not(String),
}

impl Updated {
    /// For people.
    pub fn in_words(&self) -> String {
        match self {
            Self::Written(0) => "written anew: it is what the server says now".to_owned(),
            Self::Written(secrets) => format!(
                "written anew: it is what the server says now; {} in it may be secret: `mcpreel \
                 redact --scan` names them, check them before you share it",
                plural(*secrets, "place")
            ),
            Self::Same => "no relevant difference: the cassette stays as it is".to_owned(),
            Self::Not(why) => format!("not updated: {why}"),
        }
    }
}

impl Update {
    /// The update of the cassette that `recording` was read from; refused where it must not be.
    pub fn new(recording: &Recording, in_ci: bool) -> Result<Self, Failure> {
        let ci = std::env::var_os("CI").unwrap_or_default();
        if !in_ci && !["", "false", "0"].iter().any(|off| ci == *off) {
            return Err(Failure::Unsafe(
                "--update is refused where CI is set, because it accepts all that differs; \
                 --update-in-ci updates all the same"
                    .to_owned(),
            ));
        }
        let path = recording.path();
        if !recording.is_temporary() || !cassette::is_one(path) {
            return Err(usage(&format!(
                "--update rewrites a cassette, and {} is a recording, which is what happened and \
                 stays so: `mcpreel export RECORDING --raw -o FILE.jsonl` makes a cassette of it",
                shown(path)
            )));
        }
        let path = path.canonicalize()?;
        let file = File::open(&path)?;
        let metadata = file.metadata()?;
        let mut reader = Reader::new(file).map_err(anyhow::Error::from)?;
        while let Some(entry) = reader.next_entry().map_err(anyhow::Error::from)? {
            if let Entry::Fault(fault) = entry
                && fault.is_loss
            {
                return Err(Failure::Refused(anyhow!(
                    "--update would lose what cannot be read in the cassette: {}",
                    escape(&fault.to_string())
                )));
            }
        }
        let header = reader.header().clone();
        // A note that does not say how much was replaced does not say that it was nothing.
        let has_replaced =
            |note: &Value| note["hits"].as_u64() != Some(0) || note.get("left_out").is_some();
        if header.redaction.as_ref().is_some_and(has_replaced) {
            return Err(Failure::Unsafe(
                "the cassette is redacted: --update would write secrets into it; record the session \
                 anew, and export that"
                    .to_owned(),
            ));
        }
        Ok(Self {
            path,
            header,
            context: recording.summary()?.context,
            file: metadata,
        })
    }

    /// Writes it anew, if that is right. Waits for what is on record of the replay for as long as
    /// `goes_on` says.
    pub fn write(
        &self,
        played: &Played,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Updated, Failure> {
        let (outcome, tally) = (&played.outcome, &played.outcome.tally);
        let report = &outcome.report;
        let matter = [Class::Breaking, Class::Changed, Class::Added, Class::Order];
        let sent = tally.sent + tally.not_needed;
        let unsent = outcome.requests.saturating_sub(sent);
        let why = if outcome.interrupted.is_some() {
            "the replay was stopped".to_owned()
        } else if report.trouble().is_some() {
            let first = report.troubles.first();
            first
                .map_or("nothing was compared", |(_, text)| text)
                .to_owned()
        } else if matter.iter().all(|class| report.counts.of(*class) == 0) {
            return Ok(Updated::Same);
        } else if unsent > 0 {
            let unsent = plural(unsent, "message");
            format!("{unsent} of the recording could not be sent, and would be lost")
        } else if tally.unexpected > 0 {
            format!(
                "the server asks what the recorded client was not asked ({}), and what a client \
                 answers to that is not known: record the session anew",
                plural(tally.unexpected, "question")
            )
        } else if let Some(now) = whole(&played.path, goes_on)? {
            let secrets = redact::look(&now, &redact::policy(&Secrets::default())?)?.hits();
            self.replace(&now)?;
            return Ok(Updated::Written(secrets));
        } else {
            "the replay is not on record as a whole".to_owned()
        };
        Ok(Updated::Not(why))
    }

    fn replace(&self, now: &Recording) -> Result<(), Failure> {
        let mut header = Header::of(&now.summary()?, None);
        // Nobody has looked through what the server says now.
        header.redaction = None;
        header.command.clone_from(&self.header.command);
        header.selection.clone_from(&self.header.selection);
        let context = || format!("{} could not be updated", shown(&self.path));
        let draft = Draft::beside(&self.path).with_context(context)?;
        let mut out = BufWriter::new(draft);
        let all = Selection::default();
        let export = Export {
            excerpt: Excerpt::of(now, &all),
            out: &mut out,
            progress: &mut |_| Ok(()),
        };
        write_under(&header, &self.context, export).map_err(anyhow::Error::from)?;
        let draft = out.into_inner();
        let draft = draft.map_err(std::io::IntoInnerError::into_error)?;
        // Who may read it is as before: it is kept beside the code.
        std::fs::set_permissions(draft.path(), self.file.permissions())?;
        let identity = |file: &Metadata| (file.ino(), file.len(), file.mtime(), file.mtime_nsec());
        if identity(&self.path.metadata()?) != identity(&self.file) {
            let why = anyhow!("another program changed it during the replay; it stays as it is");
            return Err(Failure::Refused(why.context(context())));
        }
        let settled = draft.settle(&self.path, Replace::Yes);
        Ok(settled.with_context(context)?)
    }
}

/// The recording `path` of a replay that is over; `None` where it lacks something, or was not
/// complete when `goes_on` had enough: what it lacks would be missing in the cassette.
fn whole(path: &Path, goes_on: &mut dyn FnMut() -> bool) -> Result<Option<Recording>, Failure> {
    if !recovery::wait_for_recorder(path, goes_on) {
        return Ok(None);
    }
    let library = Library::new(path.parent().unwrap_or(Path::new(".")));
    let recording = select::recording(path, &library)?;
    let summary = recording.summary()?;
    let is_whole = summary.state.is_final() && summary.gap_bytes == 0;
    Ok(is_whole.then_some(recording))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written::{Session, bytes};
    use mcpreel_capture::spool::Tail;
    use mcpreel_trace::frame::StreamId;

    /// Once a cassette became an empty one: the thread that indexes the replay was not done.
    #[test]
    fn a_replay_that_is_not_on_record_yet_is_waited_for_and_no_part_of_it_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = Session::start(dir.path(), "weather", 1);
        session.chunk(StreamId::C2S, b"{}\n{}\n");
        let reel = session.reel.clone();
        session.indexer().step(Tail::Final, &bytes(1)).unwrap();
        let mut looks = 0;
        let mut gives_up = || {
            looks += 1;
            looks < 3
        };
        assert!(whole(&reel, &mut gives_up).unwrap().is_none());
        assert_eq!(looks, 3);
        session.end();
        session.die();
        let recording = whole(&reel, &mut || panic!("it is over")).unwrap();
        assert_eq!(recording.unwrap().summary().unwrap().frames, 2);
    }
}
