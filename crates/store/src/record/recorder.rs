//! Puts a session on record, whoever carries it: the pumps of `run`, a replay, a mock.

use super::Options;
use super::keeper::{Keeping, lock, network};
use crate::library;
use mcpreel_capture::process::context;
use mcpreel_capture::spool::Writer;
use mcpreel_capture::stdio;
use mcpreel_capture::stdio::Gauges;
use mcpreel_capture::tap::Tap;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::event::{DEFAULT_SLOW_NS, EventKind, ProcessContext};
use mcpreel_wire::text::escape;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::write;
use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A session that is put on record. What happens is given to its [`Tap`]; nothing here fails: a
/// recording that cannot be made is said once on stderr, and the session goes on.
pub struct Recorder {
    tap: Arc<Tap>,
    gauges: Gauges,
    warning: Arc<Warning>,
    /// The files of the recording, if one could be begun.
    files: Option<Arc<Files>>,
    keeping: Option<Keeping>,
}

impl Recorder {
    /// Begins the journal of a session whose t = 0 is that of `clock`.
    pub fn create(options: &Options, clock: Clock) -> Self {
        let (spool, files) = match Files::create(options, clock) {
            Ok((writer, files)) => (Ok(writer), Some(Arc::new(files))),
            Err(reason) => (Err(reason), None),
        };
        Self {
            tap: Arc::new(Tap::new(clock, spool, options.max_size)),
            gauges: stdio::gauges(),
            warning: Arc::default(),
            files,
            keeping: None,
        }
    }

    /// The tap that puts everything on record.
    pub fn tap(&self) -> Arc<Tap> {
        Arc::clone(&self.tap)
    }

    /// The gauges of the pumps, which the indexer watches for stalls.
    pub fn gauges(&self) -> Gauges {
        self.gauges.clone()
    }

    /// The recording, if one could be begun.
    pub fn path(&self) -> Option<&Path> {
        self.files.as_ref().map(|files| &*files.reel)
    }

    /// The id of the recording, if one could be begun.
    pub fn id(&self) -> Option<&str> {
        self.files.as_ref().map(|files| &*files.context.recording)
    }

    /// Puts the remarks of `options` on record, and that the recording lies where it may hang.
    pub fn record_remarks(&self, options: &Options) {
        let files = self.files.as_ref();
        let network = files.and_then(|files| network(&files.spool));
        for message in options.remarks.iter().cloned().chain(network) {
            self.tap.event(EventKind::Warning { message });
        }
    }

    /// Begins to index what is on record, beside the session.
    pub fn start(&mut self) {
        self.warning.tell(&self.tap);
        if let (Some(files), None) = (&self.files, &self.keeping) {
            let keeping = Keeping::start(files, &self.tap, &self.gauges, &self.warning);
            self.keeping = Some(keeping);
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
        if let Some(keeping) = self.keeping.take() {
            keeping.finish();
        }
        self.warning.tell(&self.tap);
        self.warning.tell_problem();
    }
}

/// Puts placeholders in the place of these secrets in a word of a command line.
fn hide(word: &mut String, secrets: &[(String, String)]) {
    for (number, (before, secret)) in (1..).zip(secrets) {
        let text = format!("{before}{secret}");
        if !secret.is_empty() && word.contains(&text) {
            *word = word.replace(&text, &format!("{before}‹secret:{number}›"));
        }
    }
}

/// An id for a recording, eight hex digits.
pub fn new_id() -> Result<String, String> {
    Ok(format!("{:08x}", random()?))
}

fn random() -> Result<u32, String> {
    getrandom::u32().map_err(|error| error.to_string())
}

pub(super) struct Files {
    pub(super) spool: PathBuf,
    pub(super) reel: PathBuf,
    pub(super) context: ProcessContext,
}

impl Files {
    fn create(options: &Options, clock: Clock) -> Result<(Writer, Self), String> {
        let dir = options.dir.clone()?;
        let mut ours = context::of(&options.command, clock.wall_ns());
        let words = ours.argv.iter_mut().chain(&mut ours.host.command);
        words.for_each(|word| hide(word, &options.secrets));
        let cwd = options.cwd.as_ref();
        let cwd = cwd.map(|dir| dir.to_string_lossy().into_owned());
        let name = options.name.clone();
        let is_run = options.transport == "stdio" && ["live", "demo"].contains(&options.origin);
        let context = ProcessContext {
            stderr_in_stdout: is_run && stdio::same_file(&io::stdout(), &io::stderr()),
            cwd: cwd.or(ours.cwd),
            recording: options.id.clone().map_or_else(new_id, Ok)?,
            name: name.unwrap_or_else(|| of_command(&options.command)),
            transport: options.transport.into(),
            url: options.url.clone(),
            origin: options.origin.into(),
            parent: options.parent.clone(),
            other_side: options.other_side.clone(),
            played: options.played.clone(),
            read_only_tools: options.read_only_tools.clone(),
            slow_ns: Some(options.slow_ns.unwrap_or(DEFAULT_SLOW_NS)),
            ..ours
        };
        let in_dir = |error: std::io::Error| format!("{}: {error}", dir.display());
        library::create_dir(&dir).map_err(in_dir)?;
        let stem = library::file_stem(context.wall_ns, &context.name, &context.recording);
        let reel = dir.join(format!("{stem}.{}", library::REEL));
        let spool = library::spool_of(&reel);
        let event = EventKind::Start(Box::new(context.clone()));
        let json = serde_json::to_vec(&event).map_err(|error| error.to_string())?;
        let writer = Writer::create(&spool, random()?, &json).map_err(in_dir)?;
        let files = Self {
            spool,
            reel,
            context,
        };
        Ok((writer, files))
    }
}

// What a recording is called where nobody gave it a name.

/// Programs that run something else, which says more than they do.
const LAUNCHERS: [&str; 13] = [
    "bun", "bunx", "deno", "env", "node", "npm", "npx", "pipx", "pnpm", "python", "ruby", "uv",
    "uvx",
];

/// Words after a launcher that are not what it runs.
const VERBS: [&str; 6] = ["dlx", "exec", "run", "tool", "x", "-m"];

/// The name of what `command` runs: of the script or package where the program is a launcher
/// (`npx -y @scope/server-files /home` is `server-files`), else of the program.
pub fn of_command(command: &[impl AsRef<OsStr>]) -> String {
    let mut words = command.iter().map(AsRef::as_ref);
    let Some(program) = words.next() else {
        return String::new();
    };
    let base = |path: &OsStr| {
        let name = Path::new(path).file_name().unwrap_or(path);
        name.to_string_lossy().into_owned()
    };
    let is_launcher = |program: &str| {
        let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        LAUNCHERS.contains(&stem)
    };
    let program = base(program);
    let is_script = |word: &&str| {
        let passed_over = word.starts_with('-') || word.contains('=') || VERBS.contains(word);
        !passed_over && !is_launcher(&base(OsStr::new(word)))
    };
    let mut words = words.filter_map(OsStr::to_str);
    match words.find(is_script).filter(|_| is_launcher(&program)) {
        Some(script) => package(&base(OsStr::new(script))).to_owned(),
        None => program,
    }
}

/// `name@1.2` and `name.py` without what surrounds the name.
fn package(name: &str) -> &str {
    let version = name.find('@').filter(|at| *at > 0);
    let name = version.map_or(name, |at| &name[..at]);
    let stem = [".py", ".js", ".mjs", ".cjs", ".ts", ".rb"];
    let stem = stem.iter().find_map(|ending| name.strip_suffix(ending));
    stem.unwrap_or(name)
}

// The one line that may go to the host's stderr.

/// Says once why something is not on record, whichever thread finds out first.
#[derive(Debug, Default)]
pub struct Warning {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The problem that stands between the session and its recording now, and may yet pass.
    problem: Option<String>,
    /// The line that found no room in the host's pipe.
    unsaid: Option<String>,
    said: bool,
}

impl Warning {
    /// Says why the tap could not keep everything, if it could not.
    pub fn tell(&self, tap: &Tap) {
        let unsaid = tap
            .take_untold()
            .or_else(|| lock(&self.state).unsaid.take());
        if let Some(unsaid) = unsaid {
            self.say(&unsaid);
        }
    }

    /// Keeps what is wrong now; `None` when it has passed.
    pub fn set_problem(&self, problem: Option<String>) {
        lock(&self.state).problem = problem;
    }

    /// Says what is wrong now, if anything is.
    pub fn tell_problem(&self) {
        let problem = lock(&self.state).problem.take();
        if let Some(problem) = problem {
            self.say(&problem);
        }
    }

    /// Says `message`, if nothing has been said yet.
    ///
    /// A host that does not read its side of stderr must not be able to hang the session on our
    /// account: where there is no room now, the next call tries again.
    pub fn say(&self, message: &str) {
        let mut state = lock(&self.state);
        if state.said {
            return;
        }
        let stderr = std::io::stderr();
        let mut fds = [PollFd::new(stderr.as_fd(), PollFlags::POLLOUT)];
        let room = poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready > 0);
        if !room {
            state.unsaid = Some(message.to_owned());
            return;
        }
        let line = format!("mcpreel: {}\n", escape(message));
        // A pipe that has room takes a line of up to 4096 bytes at once.
        let end = line.len().min(4096);
        state.said = write(&stderr, &line.as_bytes()[..end]).is_ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_called_after_what_runs_not_after_what_runs_it() {
        for (command, name) in [
            ("weather-server --port 1", "weather-server"),
            ("/usr/bin/weather-server", "weather-server"),
            (
                "npx -y @modelcontextprotocol/server-files@1.2 /home/ada",
                "server-files",
            ),
            ("python3.11 -u src/notes.py", "notes"),
            ("python -m mcp_server_git", "mcp_server_git"),
            ("env LANG=C node dist/index.mjs", "index"),
            ("uv run notes.py", "notes"),
            ("sh -c anything", "sh"),
            ("node", "node"),
            ("", ""),
        ] {
            let words: Vec<_> = command.split_whitespace().collect();
            assert_eq!(of_command(&words), name, "{command}");
        }
    }
}
