//! Puts a session on record, whoever carries it: the pumps of `run`, a replay, a mock.

use super::indexing::{Indexing, PATIENCE};
use super::warning::Warning;
use super::{Options, disk, name};
use crate::library;
use mcpreel_capture::process::context;
use mcpreel_capture::spool::Writer;
use mcpreel_capture::stdio::{self, Gauges};
use mcpreel_capture::tap::Tap;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::event::{DEFAULT_SLOW_NS, EventKind, ProcessContext};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A session that is put on record. What happens is given to its [`Tap`]; nothing here fails: a
/// recording that cannot be made is said once on stderr, and the session goes on.
pub struct Recorder {
    tap: Arc<Tap>,
    gauges: Gauges,
    warning: Arc<Warning>,
    /// The recording, if one could be begun.
    reel: Option<(PathBuf, String)>,
    files: Option<Files>,
    indexing: Option<Indexing>,
}

impl Recorder {
    /// Begins the journal of a session whose t = 0 is that of `clock`.
    pub fn create(options: &Options, clock: Clock) -> Self {
        let (spool, files) = match Files::create(options, clock) {
            Ok((writer, files)) => (Ok(writer), Some(files)),
            Err(reason) => (Err(reason), None),
        };
        let reel = files.as_ref();
        let reel = reel.map(|files| (files.reel.clone(), files.context.recording.clone()));
        Self {
            tap: Arc::new(Tap::new(clock, spool, options.max_size)),
            gauges: stdio::gauges(),
            warning: Arc::default(),
            reel,
            files,
            indexing: None,
        }
    }

    /// Where everything is put on record.
    pub fn tap(&self) -> Arc<Tap> {
        Arc::clone(&self.tap)
    }

    /// What the pumps are doing, which the indexer watches for stalls.
    pub fn gauges(&self) -> Gauges {
        self.gauges.clone()
    }

    /// The recording, if one could be begun.
    pub fn path(&self) -> Option<&Path> {
        self.reel.as_ref().map(|(path, _)| path.as_path())
    }

    /// The id of the recording, if one could be begun.
    pub fn id(&self) -> Option<&str> {
        self.reel.as_ref().map(|(_, id)| id.as_str())
    }

    /// Puts on record that the recording lies where it may hang.
    pub fn warn_of_network(&self) {
        let files = self.files.as_ref();
        if let Some(message) = files.and_then(|files| disk::network(&files.spool)) {
            self.tap.event(EventKind::Warning { message });
        }
    }

    /// Begins to index what is on record, beside the session.
    pub fn start(&mut self) {
        self.warning.tell(&self.tap);
        if let Some(files) = self.files.take() {
            let indexing = Indexing::start(files, &self.tap, &self.gauges, &self.warning);
            self.indexing = Some(indexing);
        }
    }

    /// Says `message` on stderr, if nothing has been said yet.
    pub(super) fn say(&self, message: &str) {
        self.warning.say(message);
    }

    /// The session is over, and its end on record: waits a moment for the indexer. A session that
    /// never began is on record as well.
    ///
    /// Who goes on afterwards and reads the recording waits for its recorder: as long as it takes,
    /// this process has its lock, and nobody else can complete it.
    pub fn finish(mut self) {
        self.start();
        if let Some(indexing) = self.indexing.take() {
            indexing.finish(PATIENCE);
        }
        self.warning.tell(&self.tap);
        self.warning.tell_problem();
    }
}

#[derive(Debug)]
pub(super) struct Files {
    pub(super) spool: PathBuf,
    pub(super) reel: PathBuf,
    pub(super) context: ProcessContext,
}

impl Files {
    fn create(options: &Options, clock: Clock) -> Result<(Writer, Self), String> {
        let dir = options.dir.clone()?;
        let context = start_event(options, clock)?;
        let in_dir = |error: std::io::Error| format!("{}: {error}", dir.display());
        library::create_dir(&dir).map_err(in_dir)?;
        let stem = library::file_stem(context.wall_ns, &context.name, &context.recording);
        let reel = dir.join(format!("{stem}.{}", library::REEL));
        let spool = library::spool_of(&reel);
        let event = EventKind::Start(Box::new(context.clone()));
        let json = serde_json::to_vec(&event).map_err(|error| error.to_string())?;
        let magic = getrandom::u32().map_err(|error| error.to_string())?;
        let writer = Writer::create(&spool, magic, &json).map_err(in_dir)?;
        Ok((
            writer,
            Self {
                spool,
                reel,
                context,
            },
        ))
    }
}

fn start_event(options: &Options, clock: Clock) -> Result<ProcessContext, String> {
    let id = getrandom::u32().map_err(|error| error.to_string())?;
    let name = options.name.clone();
    let ours = context::of(&options.command, clock.wall_ns());
    let cwd = options
        .cwd
        .as_ref()
        .map(|dir| dir.to_string_lossy().into_owned());
    Ok(ProcessContext {
        cwd: cwd.or(ours.cwd),
        recording: format!("{id:08x}"),
        name: name.unwrap_or_else(|| name::of_command(&options.command)),
        origin: options.origin.into(),
        parent: options.parent.clone(),
        played: options.played.clone(),
        read_only_tools: options.read_only_tools.clone(),
        slow_ns: Some(options.slow_ns.unwrap_or(DEFAULT_SLOW_NS)),
        ..ours
    })
}
