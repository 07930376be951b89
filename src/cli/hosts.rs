//! `mcpreel hosts`: the MCP hosts of this machine, their servers, and which of them are recorded.
//!
//! ```text
//! HOST         SERVER   STARTED BY            RECORDED
//! Claude Code  weather  npx -y weather        yes, last today 15:17
//! Claude Code  files    files-server ~/notes  no
//! Cursor       remote   https://example.com   no
//! ```

use super::exit::{Exit, Failure, Outcome, usage};
use super::folder::{self, Folder};
use super::output::{self, Ink, Output};
use super::reach;
use super::run;
use super::table::{Cell, Fit, Table};
use clap::Args;
use mcpreel_capture::net::upstream::Upstream;
use mcpreel_config::Environment;
use mcpreel_hosts::document::Document;
use mcpreel_hosts::edit::{Recorded, named_recorded, named_url, recorded, words};
use mcpreel_hosts::file::{self, FileError};
use mcpreel_hosts::table::{Host, Scope, hosts};
use mcpreel_share::phrases::{command, masked_command, when};
use mcpreel_share::redacting::masked;
use mcpreel_store::library::{Entry, Library};
use mcpreel_store::record::of_command;
use mcpreel_wire::text::{escape, masked_url, plural};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// List the MCP hosts of this machine, their servers, and which are recorded
///
/// Looks where each known host keeps its configuration, for the user and for the project that you
/// are in. Nothing is changed; `mcpreel wrap` has a server recorded.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel hosts
  mcpreel hosts --check              tries whether servers with a URL can be reached
  mcpreel hosts --json | jq -r 'select(.recorded | not) | .server'")]
pub struct Hosts {
    #[command(flatten)]
    folder: Folder,
    /// Connect to each server with a URL, and say which cannot be reached
    #[arg(long)]
    check: bool,
    /// One JSON object per server and line
    #[arg(long)]
    json: bool,
}

/// A configuration that was read.
pub struct Configuration {
    pub host: Host,
    pub scope: Scope,
    pub path: PathBuf,
    pub document: Document,
}

/// A server in a configuration.
pub struct Found<'c> {
    pub configuration: &'c Configuration,
    pub name: String,
    /// The project that it is for, where the user's configuration has servers by project.
    pub within: Vec<String>,
    /// The words that start it, with those of the recorder; `None` where it is not started so.
    pub words: Option<Vec<String>>,
    /// As it is written, with what may be secret in it.
    pub url: Option<String>,
    /// Whether the host does not start it.
    pub is_off: bool,
    /// Why it cannot be reached, where that was tried.
    unreachable: Option<String>,
}

/// The configurations of all known hosts, and why some cannot be read.
pub fn configurations() -> Result<(Vec<Configuration>, Vec<FileError>), Failure> {
    configurations_of(&std::env::current_dir()?, &mut HashSet::new())
}

/// Projects with servers that are recorded, other than the one that the user is in: their folders, as far as
/// one of these sessions ran there, and the servers, escaped.
pub fn other_projects(entries: &[Entry]) -> Result<Vec<(PathBuf, String)>, Failure> {
    let mut seen = HashSet::new();
    configurations_of(&std::env::current_dir()?, &mut seen)?;
    // The folder of a recording that was imported is anybody's.
    let folders = entries.iter().filter_map(|entry| {
        let context = entry.context().filter(|context| context.origin == "live")?;
        context.cwd.as_deref()
    });
    let mut projects = Vec::new();
    for folder in folders.collect::<BTreeSet<_>>() {
        let folder = PathBuf::from(folder);
        let (configurations, _) = configurations_of(&folder, &mut seen)?;
        let servers = configurations.iter().flat_map(Configuration::servers);
        let recorded = servers.filter(Found::is_recorded);
        let names: Vec<_> = recorded.map(|it| escape(&it.name).into_owned()).collect();
        if !names.is_empty() {
            projects.push((folder, names.join(", ")));
        }
    }
    Ok(projects)
}

/// The configurations for whoever is in this folder, without those `seen`, which learns them.
fn configurations_of(
    folder: &Path,
    seen: &mut HashSet<PathBuf>,
) -> Result<(Vec<Configuration>, Vec<FileError>), Failure> {
    let home = Environment::of_process().home;
    let home = home.ok_or_else(|| usage("there is no home directory: HOME is not set"))?;
    let (mut read, mut unread) = (Vec::new(), Vec::new());
    for host in hosts() {
        for (scope, path) in host.configurations(&home, folder) {
            // Some hosts read the file of another one.
            if !seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
                continue;
            }
            match file::read(&path, host.format_of(&path)) {
                Ok(document) => read.push(Configuration {
                    host: host.clone(),
                    scope,
                    path,
                    document,
                }),
                Err(error) => unread.push(error),
            }
        }
    }
    Ok((read, unread))
}

/// The servers that could be recorded and are not: what they are called, and `HOST:SERVER`.
pub fn not_recorded() -> Vec<(String, String)> {
    named(false)
}

/// The servers that are started by a command and recorded, or not.
pub fn named(is_recorded: bool) -> Vec<(String, String)> {
    let (configurations, _) = configurations().unwrap_or_default();
    let servers = configurations.iter().flat_map(Configuration::servers);
    let fitting = servers.filter(|it| it.words.is_some() && it.is_recorded() == is_recorded);
    let named = fitting.map(|server| {
        let host = &server.configuration.host;
        let (name, started_by) = (escape(&server.name), server.started_by());
        let label = format!("{}  {name}  {started_by}", host.name);
        (label, format!("{}:{}", host.id, server.name))
    });
    named.collect()
}

impl Configuration {
    pub fn servers(&self) -> impl Iterator<Item = Found<'_>> {
        let servers = self.host.servers(&self.document).into_iter();
        let found = servers.map(|server| {
            let words = words(&self.host, server.node);
            let url = match words.as_deref().and_then(recorded) {
                Some(Recorded::Url(url)) => Some(url),
                _ => named_url(&self.host, server.node),
            };
            Found {
                configuration: self,
                url: url.map(str::to_owned),
                words,
                is_off: self.host.is_off(&self.document, server.node),
                name: server.name,
                within: server.within,
                unreachable: None,
            }
        });
        // What is built into a host is neither started nor reached.
        found.filter(|server| server.words.is_some() || server.url.is_some())
    }
}

impl Found<'_> {
    /// The words of the server itself; `None` of one that is reached by a URL.
    pub fn own(&self) -> Option<&[String]> {
        let words = self.words.as_deref()?;
        match recorded(words) {
            Some(Recorded::Command(own)) => Some(own),
            Some(Recorded::Url(_)) => None,
            None => Some(words),
        }
    }

    pub fn is_recorded(&self) -> bool {
        let recorded = self.words.as_deref().and_then(recorded);
        recorded.is_some()
    }

    /// The name of its recordings: that of its entry where nothing records it yet.
    fn recorded_name(&self) -> String {
        let words = self.words.as_deref();
        let Some((given, recorded)) = words.and_then(named_recorded) else {
            return self.name.clone();
        };
        let given = given.and_then(|name| run::usable(name.to_owned(), &mut Vec::new()));
        given.unwrap_or_else(|| match recorded {
            Recorded::Command(own) => of_command(own),
            Recorded::Url(url) => {
                Upstream::parse(url).map_or_else(|_| self.name.clone(), |url| url.name())
            }
        })
    }

    /// When it was recorded last, nanoseconds since the Unix epoch: by its name and its command, by the
    /// name alone where the host fills something in.
    pub fn last_recorded(&self, entries: &[Entry]) -> Option<u64> {
        let (own, name) = (self.own(), self.recorded_name());
        let mut words = own.into_iter().flatten().chain(&self.url);
        let is_filled_in = words.any(|word| word.contains(['$', '{']));
        let is_it = |entry: &&Entry| {
            let context = entry.context();
            let is_same = context
                .is_some_and(|it| it.origin == "live" && own.is_none_or(|own| it.argv == own));
            entry.name == name && (is_filled_in || is_same)
        };
        entries
            .iter()
            .filter(is_it)
            .map(|entry| entry.wall_ns)
            .max()
    }

    /// Why the program that is to record it cannot be started, if so.
    pub fn recorder_problem(&self) -> Option<String> {
        let recorder = self
            .words
            .as_ref()
            .filter(|_| self.is_recorded())?
            .first()?;
        let this = self.selector();
        if !recorder.contains('/') {
            let text = "mcpreel is not on your PATH: its folder has to be on that of the host";
            return (!is_on_path(recorder)).then(|| text.to_owned());
        }
        (!Path::new(recorder).exists()).then(|| {
            let recorder = escape(recorder);
            format!("{recorder} is not there: mcpreel unwrap {this}, then mcpreel wrap {this}")
        })
    }

    /// What keeps the server from being started or reached, as far as that can be seen.
    pub fn problem(&self) -> Option<String> {
        let of_url = self.unreachable.clone().or_else(|| self.url_problem());
        if of_url.is_some() {
            return of_url;
        }
        let program = self.own()?.first()?;
        if program.is_empty() {
            return Some("its command is empty".to_owned());
        }
        // What the host fills in is not known here.
        if program.contains(['$', '~', '{']) {
            return None;
        }
        let shown = escape(program);
        if program.contains('/') {
            let is_there = is_executable(Path::new(program));
            return (!is_there).then(|| format!("there is no program {shown}"));
        }
        (!is_on_path(program)).then(|| match program.split_once(' ') {
            Some((first, _)) if is_on_path(first) => {
                format!(
                    "`{shown}` is no program: what stands behind {first} belongs to its arguments"
                )
            }
            _ => format!("{shown} is not on your PATH"),
        })
    }

    /// Why its URL cannot be recorded.
    pub fn url_problem(&self) -> Option<String> {
        let url = self.url.as_ref().filter(|_| self.own().is_none())?;
        // What the host fills in is not known here.
        if url.contains(['$', '{']) {
            return None;
        }
        let why = reach::http_url(url).err()?;
        Some(format!("its URL cannot be recorded: {why}"))
    }

    fn started_by(&self) -> String {
        match (self.own(), &self.url) {
            (Some(own), _) => masked_command(own),
            (None, Some(url)) => escape(&masked_url(url)).into_owned(),
            (None, None) => String::new(),
        }
    }

    /// `HOST:SERVER`, as a word of a command line.
    pub fn selector(&self) -> String {
        command(&[format!("{}:{}", self.configuration.host.id, self.name)])
    }
}

/// Tries to reach the servers with a URL, and returns how many can be reached, in words.
fn check(servers: &mut [Found<'_>]) -> Result<String, Failure> {
    // What the host fills in is not known here.
    let mut far: Vec<_> = servers
        .iter_mut()
        .filter(|server| server.url.as_ref().is_some_and(|url| !url.contains('$')))
        .collect();
    let urls: Vec<_> = far
        .iter()
        .filter_map(|server| server.url.as_deref())
        .collect();
    let problems = reach::unreachable(&urls)?;
    let reached = problems.iter().filter(|problem| problem.is_none()).count();
    let tried = plural(problems.len() as u64, "server");
    for (server, problem) in far.iter_mut().zip(problems) {
        server.unreachable = problem;
    }
    Ok(format!("{reached} of {tried} with a URL can be reached"))
}

/// Whether a shell would find this program.
pub fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| is_executable(&dir.join(program)))
}

fn is_executable(path: &Path) -> bool {
    let meta = path.metadata();
    meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

impl Hosts {
    pub fn run(&self) -> Outcome {
        let (configurations, unread) = configurations()?;
        let library = Library::new(folder::of(&self.folder)?);
        let entries = library.list()?;
        let mut out = Output::stdout();
        let servers = configurations.iter().flat_map(Configuration::servers);
        let mut servers: Vec<_> = servers.collect();
        let checked = self.check.then(|| check(&mut servers)).transpose()?;
        if self.json {
            for server in &servers {
                out.json(&object(server, server.last_recorded(&entries)))?;
            }
        } else {
            write(&servers, &entries, &mut out)?;
            if let Some(checked) = checked {
                out.line(&format!("\n{checked}"))?;
            }
        }
        for error in &unread {
            output::say(&escape(&error.to_string()));
        }
        out.flush()?;
        Ok(if unread.is_empty() {
            Exit::Fine
        } else {
            Exit::Refused
        })
    }
}

fn write(servers: &[Found<'_>], entries: &[Entry], out: &mut Output) -> Result<(), Failure> {
    if servers.is_empty() {
        let known: Vec<_> = hosts().iter().map(|host| &*host.name).collect();
        let known = known.join(", ");
        return Ok(out.line(&format!(
            "no server was found in a configuration of {known}\n\n{OTHER_WAYS}"
        ))?);
    }
    let mut table = Table::new([
        ("HOST", Fit::Left),
        ("SERVER", Fit::Left),
        ("STARTED BY", Fit::Cut),
        ("RECORDED", Fit::Left),
        ("FILE", Fit::Cut),
    ])
    .giving_way(&["FILE"]);
    for server in servers {
        table.push([
            server.configuration.host.name.as_str().into(),
            Cell::new(escape(&server.name), Ink::Strong),
            server.started_by().into(),
            is_recorded(server, entries),
            Cell::new(output::shown(&server.configuration.path), Ink::Faint),
        ]);
    }
    table.write(out)?;
    for server in servers {
        let problem = server.problem().or_else(|| server.recorder_problem());
        if let Some(problem) = problem {
            let name = escape(&server.name);
            out.inked(Ink::Warn, &format!("{name}: {problem}"))?;
        }
    }
    write_open(servers, out)
}

const OTHER_WAYS: &str = "\
mcpreel wrap --file PATH --key mcpServers
                     records those of another host
mcpreel -- COMMAND   records a server that you start yourself
mcpreel proxy URL    records a server that is reached by a URL";

/// Whether a server is recorded, and when it was last, or why it is not.
fn is_recorded(server: &Found<'_>, entries: &[Entry]) -> Cell {
    if server.is_off {
        return Cell::new("no: disabled in the host", Ink::Faint);
    }
    if !server.is_recorded() {
        return "no".into();
    }
    if server.recorder_problem().is_some() {
        return Cell::new("no: its recorder cannot be started", Ink::Bad);
    }
    let last = server.last_recorded(entries).map_or_else(
        || "no session yet".to_owned(),
        |ns| format!("last {}", when::short(ns)),
    );
    Cell::new(format!("yes, {last}"), Ink::Good)
}

/// Writes how servers that are not recorded would be.
fn write_open(servers: &[Found<'_>], out: &mut Output) -> Result<(), Failure> {
    let can_be = |server: &&Found<'_>| !server.is_off && server.url_problem().is_none();
    let open = servers.iter().filter(can_be);
    let open = open.filter(|server| !server.is_recorded());
    let (far, near): (Vec<_>, Vec<_>) = open.partition(|server| server.words.is_none());
    let groups = [
        (near, "", ", mcpreel wrap --all all of them"),
        (
            far,
            " with a URL",
            " (`--all` none of these), unless the host must log in (OAuth)",
        ),
    ];
    for (open, what, more) in groups {
        if let Some(first) = open.first() {
            let (one, count) = (first.selector(), plural(open.len() as u64, "server"));
            out.line(&format!(
                "\n{count}{what} not recorded: mcpreel wrap {one} records one{more}"
            ))?;
        }
    }
    Ok(())
}

fn object(server: &Found<'_>, newest: Option<u64>) -> Value {
    let configuration = server.configuration;
    json!({
        "host": configuration.host.id,
        "server": server.name,
        "file": configuration.path.to_string_lossy(),
        "scope": match configuration.scope {
            Scope::User => "user",
            Scope::Project => "project",
        },
        "project": server.within.first(),
        "command": server.own().map(|own| masked(own, [own])),
        "url": server.url.as_deref().map(masked_url),
        "recorded": server.is_recorded(),
        "disabled": server.is_off,
        "last_recorded": newest.map(when::rfc3339),
        "problem": server.problem(),
    })
}
