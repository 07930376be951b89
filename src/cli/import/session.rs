//! A session of a log that is being made a recording.

use super::Made;
use super::plan::Plan;
use mcpreel_share::import::{About, DATED_NS, Format, What};
use mcpreel_store::library::REEL;
use mcpreel_store::record::import::{Import, ImportError};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::text::{escape, plural};
use std::path::{Path, PathBuf};

/// A session that is being made.
pub(super) struct Session {
    /// Which of the log it is.
    pub number: usize,
    reel: PathBuf,
    import: Import,
    plan: Plan,
    now: Moment,
    counts: Counts,
}

/// What is told of it at the end.
#[derive(Default)]
struct Counts {
    guesses: u64,
    undated: u64,
    shortened: u64,
    skipped: u64,
}

impl Session {
    /// Begins the recording of a session in `folder`.
    pub fn begin(
        number: usize,
        plan: Plan,
        about: About,
        folder: &Path,
    ) -> Result<Self, ImportError> {
        let reel = folder.join(&plan.id).with_extension(REEL);
        let started = plan.started.clone().unwrap_or_default();
        let context = ProcessContext {
            recording: plan.id.clone(),
            name: about.name,
            origin: "import".into(),
            wall_ns: plan.start_ns.filter(|ns| *ns >= DATED_NS).unwrap_or(0),
            transport: about.transport.unwrap_or_else(|| "stdio".into()),
            argv: if about.argv.is_empty() {
                started.argv
            } else {
                about.argv
            },
            cwd: about.cwd.or(started.cwd),
            path: about.path.or(started.path),
            ..ProcessContext::default()
        };
        let mut import = Import::begin(&reel, context)?;
        if plan.start_ns.is_none() {
            let message = untimed(plan.unread.as_deref());
            import.event(Moment(0), &EventKind::Untimed { message })?;
        }
        Ok(Self {
            number,
            reel,
            import,
            plan,
            now: Moment(0),
            counts: Counts::default(),
        })
    }

    /// Takes what a line says.
    pub fn said(&mut self, wall_ns: Option<u64>, what: What<'_>) -> Result<(), ImportError> {
        if let Some((wall_ns, start_ns)) = wall_ns.zip(self.plan.start_ns) {
            // A clock that was set back must not turn the order round.
            self.now = self.now.max(Moment(wall_ns.saturating_sub(start_ns)));
        }
        match what {
            What::Line {
                stream,
                bytes,
                is_guess,
            } => {
                let is_undated = wall_ns.is_none() && self.plan.start_ns.is_some();
                self.counts.undated += u64::from(is_undated && stream != StreamId::STDERR);
                self.counts.guesses += u64::from(is_guess);
                self.line(stream, bytes)
            }
            What::Event(kind) => {
                match &kind {
                    EventKind::Shortened { .. } => self.counts.shortened += 1,
                    EventKind::Skipped { lines, .. } => {
                        self.counts.skipped = self.counts.skipped.saturating_add(*lines);
                    }
                    _ => {}
                }
                self.import.event(self.now, &kind)
            }
            What::Begin(_) | What::Started(_) | What::Unread(_) | What::Nothing(_) => Ok(()),
        }
    }

    fn line(&mut self, stream: StreamId, bytes: &[u8]) -> Result<(), ImportError> {
        self.import.chunk(stream, self.now, bytes)?;
        self.import.chunk(stream, self.now, b"\n")
    }

    /// The log says no more of it.
    pub fn finish(mut self, format: Format) -> Result<Made, ImportError> {
        let noted = self.noted();
        for message in noted.iter().cloned() {
            let warning = EventKind::Warning { message };
            self.import.event(self.now, &warning)?;
        }
        self.import.finish(self.now)?;
        let is_untimed = self.plan.start_ns.is_none();
        let untimed = is_untimed.then(|| untimed(self.plan.unread.as_deref()));
        Ok(Made {
            reel: self.reel,
            of: format.as_str(),
            told: untimed.into_iter().chain(noted).collect(),
            beginnings: self.plan.beginnings,
        })
    }

    /// What is to be known about the recording, one sentence each.
    fn noted(&self) -> Vec<String> {
        let Counts {
            guesses,
            undated,
            shortened,
            skipped,
        } = self.counts;
        let mut noted = Vec::new();
        if shortened > 0 {
            let lines = plural(shortened, "message");
            noted.push(format!("the log does not hold {lines} whole"));
        }
        if skipped > 0 {
            let lines = plural(skipped, "line");
            noted.push(format!("the log lacks {lines}"));
        }
        if undated > 0 {
            let lines = plural(undated, "line");
            noted.push(format!(
                "the log has no time for {lines}, which stand where the one before does"
            ));
        }
        if guesses > 0 {
            let lines = plural(guesses, "line");
            noted.push(format!(
                "which way {lines} went is a guess: the log does not say it"
            ));
        }
        noted
    }
}

/// Why nothing is known of when it was.
fn untimed(unread: Option<&str>) -> String {
    let why = unread.map_or_else(
        || "the log has no times".to_owned(),
        |time| format!("its times could not be read, like {}", escape(time)),
    );
    format!("{why}: everything stands at 0, and latencies mean nothing")
}
