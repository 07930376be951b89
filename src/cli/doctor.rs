//! `mcpreel doctor`: nothing was recorded: what now?
//!
//! ```text
//! recorder    ~/.cargo/bin/mcpreel, 0.1.0
//! recordings  12 in ~/.local/share/mcpreel/recordings, the newest today 15:17 of weather
//! weather     Claude Code: recorded, last today 15:17
//! files       Claude Code: not recorded; mcpreel wrap claude-code:files
//! browser     Cursor: set up, no session yet; restart Cursor
//!             its log says: spawn npx ENOENT (~/.config/Cursor/logs/…)
//! URLs        mcpreel hosts --check tries whether servers with a URL can be reached
//! undo        mcpreel unwrap --all
//! ```

use super::exit::{Exit, Failure, Outcome};
use super::folder::{self, Folder};
use super::hosts::{Configuration, Found, configurations, is_on_path, other_projects};
use super::output::{self, Ink, Output};
use clap::Args;
use mcpreel_config::Environment;
use mcpreel_share::phrases::when;
use mcpreel_store::library::{Entry, Library};
use mcpreel_wire::text::{cut, escape, plural};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

/// The end of a log that is looked at, bytes.
const LOOKED_AT: u64 = 64 << 10;

/// Columns of a line of a log that are shown.
const LONGEST: usize = 160;

/// Find out why nothing is recorded
///
/// Looks at the recorder, the folder of the recordings, and each server of each host: whether it is
/// recorded, when it last was, whether what is to be started is there, and what the host's own log
/// says. Changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel doctor

Exit code: 0 what is set up has been recorded; 1 something is to be done, and is named.")]
pub struct Doctor {
    #[command(flatten)]
    folder: Folder,
}

impl Doctor {
    pub fn run(&self) -> Outcome {
        let mut out = Output::stdout();
        let mut exit = Exit::Fine;
        let program = std::env::current_exe()?;
        let place = if is_on_path("mcpreel") {
            ""
        } else {
            "; `mcpreel` is not on your PATH"
        };
        let version = env!("CARGO_PKG_VERSION");
        out.fact(
            "recorder",
            &format!("{}, {version}{place}", output::shown(&program)),
        )?;
        let library = Library::new(folder::of(&self.folder)?);
        let entries = library.list()?;
        write_recordings(&library, &entries, &mut out)?;
        if let Some(elsewhere) = folder::elsewhere(library.dir()) {
            out.fact("", &out.paint(Ink::Warn, &elsewhere))?;
        }
        let (configurations, unread) = configurations()?;
        for error in &unread {
            out.fact("unread", &out.paint(Ink::Bad, &escape(&error.to_string())))?;
            exit = Exit::Found;
        }
        let servers: Vec<_> = configurations
            .iter()
            .flat_map(Configuration::servers)
            .collect();
        for server in servers.iter().filter(|server| !server.is_off) {
            let last = server.last_recorded(&entries);
            let (text, ink) = state(server, last);
            if matches!(ink, Ink::Warn | Ink::Bad) {
                exit = Exit::Found;
            }
            let host = &server.configuration.host.name;
            out.fact(
                &escape(&server.name),
                &format!("{host}: {}", out.paint(ink, &text)),
            )?;
            if let Some((line, path)) =
                last_said(server).filter(|_| ink == Ink::Bad || last.is_none())
            {
                let path = output::shown(&path);
                out.fact(
                    "",
                    &format!("its log says: {} ({path})", cut(&escape(&line), LONGEST)),
                )?;
            }
        }
        let projects = other_projects(&entries)?;
        for (project, servers) in &projects {
            let project = output::shown(project);
            let text = format!("{servers} recorded in {project}; `mcpreel doctor` there says more");
            out.fact("elsewhere", &text)?;
        }
        if servers.iter().any(|server| server.url.is_some()) {
            let how = "mcpreel hosts --check tries whether servers with a URL can be reached";
            out.fact("URLs", how)?;
        }
        if servers.iter().any(Found::is_recorded) {
            out.fact("undo", "mcpreel unwrap --all")?;
        } else if !projects.is_empty() {
            out.fact("undo", "mcpreel unwrap --all in the folder of each project")?;
        } else {
            let how = "no server of a host is recorded: mcpreel hosts lists them, mcpreel wrap has \
                       one recorded, mcpreel proxy URL records one without its host's configuration";
            out.fact("begin", how)?;
            exit = Exit::Found;
        }
        out.flush()?;
        Ok(exit)
    }
}

/// Says where the recordings are, and the newest.
fn write_recordings(library: &Library, entries: &[Entry], out: &mut Output) -> Result<(), Failure> {
    let dir = output::shown(library.dir());
    if !library.dir().exists() {
        return Ok(out.fact("recordings", &format!("none yet; they will be in {dir}"))?);
    }
    let writable = tempfile::tempfile_in(library.dir());
    if let Err(error) = writable {
        let text =
            format!("nothing can be written in {dir}: {error}; --dir or MCPREEL_DIR names another");
        out.fact("recordings", &out.paint(Ink::Bad, &text))?;
        return Ok(());
    }
    let count = plural(entries.len() as u64, "recording");
    let newest = entries.first();
    let newest = newest.map(|entry| {
        let (name, at) = (escape(&entry.name), when::short(entry.wall_ns));
        format!(", the newest {at} of {name}")
    });
    let newest = newest.unwrap_or_default();
    Ok(out.fact("recordings", &format!("{count} in {dir}{newest}"))?)
}

/// The state of a server, in the colour of how bad it is.
fn state(server: &Found<'_>, last: Option<u64>) -> (String, Ink) {
    let (configuration, this) = (server.configuration, server.selector());
    if let Some(problem) = server.problem() {
        return (problem, Ink::Bad);
    }
    if !server.is_recorded() {
        let text = format!("not recorded; mcpreel wrap {this}");
        // It may want a login by the host, and then cannot be.
        let ink = if server.words.is_some() {
            Ink::Warn
        } else {
            Ink::Faint
        };
        return (text, ink);
    }
    if let Some(problem) = server.recorder_problem() {
        return (problem, Ink::Bad);
    }
    match last {
        Some(ns) => (format!("recorded, last {}", when::short(ns)), Ink::Good),
        None => (
            format!("set up, no session yet; {}", configuration.host.after),
            Ink::Warn,
        ),
    }
}

/// The last error that the host's logs have about a server, else the last line, with the path of its log.
fn last_said(server: &Found<'_>) -> Option<(String, std::path::PathBuf)> {
    let home = Environment::of_process().home?;
    let logs = server.configuration.host.logs(&home).into_iter().take(5);
    let mut said = logs.filter_map(|path| {
        let mut file = File::open(&path).ok()?;
        let length = file.metadata().ok()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LOOKED_AT)))
            .ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let is_its = path.to_string_lossy().contains(&server.name);
        let lines = text
            .lines()
            .filter(|line| is_its || line.contains(&server.name));
        let lines: Vec<_> = lines.filter(|line| !line.trim().is_empty()).collect();
        let is_error =
            |line: &&&str| line.to_ascii_lowercase().contains("error") || line.contains("ENOENT");
        let line = lines.iter().rev().find(is_error).or(lines.last())?;
        Some((line.trim().to_owned(), path))
    });
    said.next()
}
