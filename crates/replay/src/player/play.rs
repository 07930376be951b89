//! One replay from its start to its end, with a recording of its own.

use super::director::Director;
use super::options::Options;
use super::target::{
    self, Command, LeftOut, Library, Outcome, Progress, Signals, TargetError, Wanted,
};
use crate::judge::Judge;
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_store::record::{self, Recorder};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::Seq;
use std::path::PathBuf;

/// What is played, to whom, and where it is put on record.
pub struct Play<'r> {
    pub recording: &'r Recording,
    pub summary: &'r Summary,
    pub until: Option<Seq>,
    /// Which exchanges; `None`: all of them.
    pub wanted: Option<Wanted<'r>>,
    /// Which frames of the client are not sent.
    pub left_out: Option<LeftOut<'r>>,
    /// Everything else that a user chooses.
    pub options: Options,
    pub judge: Judge,
    pub command: &'r Command,
    /// The folder for the new recording, or why there is none.
    pub dir: Result<PathBuf, String>,
    pub signals: &'r Signals,
}

pub struct Played {
    /// What differs, and what was done.
    pub outcome: Outcome,
    pub id: String,
    pub path: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// Nothing is started that is not put on record.
    #[error("the replay cannot be put on record")]
    NoRecord,
    #[error(transparent)]
    Target(#[from] TargetError),
}

impl Play<'_> {
    /// Plays it; `clock` began with it.
    pub fn run(
        self,
        clock: Clock,
        told: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<Played, PlayError> {
        let mut recorder = Recorder::create(&self.to_record()?, clock);
        let made = recorder.id().zip(recorder.path());
        let made = made.map(|(id, path)| (id.to_owned(), path.to_owned()));
        let (id, path) = made.ok_or(PlayError::NoRecord)?;
        // Up to the last frame is all of it.
        let last = self.summary.frames;
        let until = self.until.filter(|until| until.0 < last);
        let library = Library::new(self.recording, until, self.wanted).without(self.left_out);
        let director = Director::new(self.options, self.judge, clock.now());
        let outcome = target::run(
            self.command,
            library,
            director,
            &mut recorder,
            self.signals,
            told,
        );
        recorder.finish();
        let outcome = outcome?;
        Ok(Played { outcome, id, path })
    }

    fn file(&self) -> String {
        let path = self.recording.path();
        let absolute = std::path::absolute(path);
        let path = absolute.as_deref().unwrap_or(path);
        path.to_string_lossy().into_owned()
    }

    fn to_record(&self) -> Result<record::Options, PlayError> {
        let read_only_tools = self.options.guard.read_only_tools(self.recording);
        Ok(record::Options {
            command: self.command.words.clone(),
            name: Some(self.summary.name.clone()),
            dir: self.dir.clone(),
            cwd: self.command.dir.clone(),
            origin: match self.left_out {
                Some(_) => "minimised",
                None => "replay",
            },
            // What was made of a cassette is gone with us; the cassette stays.
            parent: (!self.recording.is_temporary()).then(|| self.summary.id.clone()),
            played: self.recording.is_temporary().then(|| self.file()),
            read_only_tools: read_only_tools.map_err(TargetError::from)?,
            max_size: None,
            slow_ns: Some(self.summary.slow_ns),
            remarks: Vec::new(),
        })
    }
}
