//! `mcpreel wrap` and `unwrap`: the servers of a host are started through the recorder, or by
//! themselves again.

use super::exit::{Exit, Failure, Outcome, usage};
use super::folder::{self, Folder};
use super::hosts::{Configuration, Found, configurations, other_projects};
use super::output::{self, Ink, Output};
use clap::Args;
use mcpreel_config::nearest;
use mcpreel_hosts::document::{Document, Kind, Node};
use mcpreel_hosts::edit::{self, EditError};
use mcpreel_hosts::file;
use mcpreel_hosts::table::{Host, Scope, Server};
use mcpreel_share::phrases::command;
use mcpreel_share::redacting::masked;
use mcpreel_store::library::Library;
use mcpreel_wire::text::{cut, escape};
use similar::{ChangeTag, TextDiff};
use std::cmp::Reverse;
use std::ops::Range;
use std::path::PathBuf;

/// Columns of a changed line that are shown.
const LONGEST: usize = 1000;

/// Have the servers of an MCP host recorded
///
/// Puts `mcpreel run --name SERVER` in front of the command of a server in the host's configuration, or
/// `mcpreel run --name SERVER --url URL` in place of its URL. Nothing else in the file changes, and
/// `mcpreel unwrap` gives back what was there. The change is shown, and made after a yes. Sessions are
/// recorded from the next start of the server.
///
/// A server with a URL is changed only where it is named: the recorder does not log in for the host.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel wrap claude-code:weather
  mcpreel wrap cursor                all servers of a host
  mcpreel wrap weather --dry-run     by the server's name; only show the change
  mcpreel wrap --file ~/.myhost/config.json --key mcpServers --all
  mcpreel wrap claude-code:weather --print > /tmp/mcp.json; claude --mcp-config /tmp/mcp.json

`mcpreel hosts` lists hosts and servers.")]
pub struct Wrap {
    #[command(flatten)]
    which: Which,
    /// Print the changed entry as a configuration of its own instead of changing the file
    #[arg(long, conflicts_with_all = ["dry_run", "yes"])]
    print: bool,
}

/// Have the servers of an MCP host started without the recorder again
///
/// Takes `mcpreel run …` out of the configurations of hosts, of you and of the project that you are
/// in. Nothing else in the files changes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel unwrap claude-code:weather
  mcpreel unwrap --all")]
pub struct Unwrap {
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, Args)]
struct Which {
    /// HOST, HOST:SERVER, or SERVER
    #[arg(value_name = "SERVER", required_unless_present = "all")]
    names: Vec<String>,
    /// All servers of all hosts
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Only show the change
    #[arg(long)]
    dry_run: bool,
    /// Change without asking
    #[arg(long)]
    yes: bool,
    /// A configuration of a host that mcpreel does not know: JSON, TOML or YAML
    #[arg(long, value_name = "PATH", requires = "key")]
    file: Option<PathBuf>,
    /// Where in it the servers are: mcpServers, tools.mcp, ...
    #[arg(long, value_name = "KEY", requires = "file")]
    key: Option<String>,
}

impl Wrap {
    pub fn run(&self) -> Outcome {
        let recorder = std::env::current_exe()?;
        let recorder = recorder
            .to_str()
            .ok_or_else(|| usage("the path of mcpreel is no text"))?;
        let edit = |configuration: &Configuration, document: &Document, nth| {
            // Others who share the file have mcpreel elsewhere.
            let is_shared = is_shared(configuration);
            let recorder = if is_shared { "mcpreel" } else { recorder };
            edit::wrap(document, &configuration.host, nth, recorder)
        };
        if self.print {
            return self.which.print(&edit);
        }
        self.which.change(&Verb {
            edit: &edit,
            done: "recorded from the next start",
            not_needed: "was recorded already",
            is_wrap: true,
        })
    }
}

impl Unwrap {
    pub fn run(&self) -> Outcome {
        let edit = |configuration: &Configuration, document: &Document, nth| {
            edit::unwrap(document, &configuration.host, nth)
        };
        self.which.change(&Verb {
            edit: &edit,
            done: "no longer recorded after the next start",
            not_needed: "was not recorded",
            is_wrap: false,
        })
    }
}

/// The text in which a server of a configuration is changed; `None` if there is nothing to change.
type Edit<'e> = &'e dyn Fn(&Configuration, &Document, usize) -> Result<Option<String>, EditError>;

/// What is done to servers, and how it is said.
struct Verb<'e> {
    edit: Edit<'e>,
    done: &'static str,
    not_needed: &'static str,
    /// Whether the recorder is put in: the user then learns what the host needs.
    is_wrap: bool,
}

impl Which {
    /// The configurations, and whether all could be read; those that could not are told.
    fn configurations(&self) -> Result<(Vec<Configuration>, Exit), Failure> {
        let (Some(path), Some(key)) = (&self.file, &self.key) else {
            let (configurations, unread) = configurations()?;
            for error in &unread {
                output::say(&escape(&error.to_string()));
            }
            let exit = if unread.is_empty() {
                Exit::Fine
            } else {
                Exit::Refused
            };
            return Ok((configurations, exit));
        };
        let host = Host::of_file(path, key).ok_or_else(|| {
            usage("--file: its name ends with none of .json, .jsonc, .toml, .yaml and .yml")
        })?;
        let configuration = Configuration {
            document: file::read(path, host.format)?,
            host,
            scope: Scope::User,
            path: path.clone(),
        };
        if configuration.servers().next().is_none() {
            let text = format!(
                "{}: there is no server at `{}`",
                output::shown(path),
                escape(key)
            );
            return Err(Failure::Usage(text));
        }
        Ok((vec![configuration], Exit::Fine))
    }

    /// The servers that are meant; `are_all`: no configuration was unreadable.
    fn chosen<'c>(
        &self,
        configurations: &'c [Configuration],
        are_all: bool,
    ) -> Result<Vec<Found<'c>>, Failure> {
        let found = configurations.iter().flat_map(Configuration::servers);
        let mut found: Vec<_> = found.collect();
        let is_one = |name: &&String| found.iter().any(|server| is_meant(server, name));
        if let Some(wanted) = self.names.iter().find(|name| !self.all && !is_one(name)) {
            let names = found.iter().flat_map(|server| {
                let (host, name) = (&server.configuration.host.id, &server.name);
                [host.clone(), name.clone(), format!("{host}:{name}")]
            });
            let names: Vec<_> = names.collect();
            let known: Vec<_> = names.iter().map(String::as_str).collect();
            let hint = match nearest(wanted, &known) {
                Some(near) => format!("did you mean `{}`?", escape(near)),
                None => "`mcpreel hosts` lists them".to_owned(),
            };
            let wanted = escape(wanted);
            let read = if are_all { "" } else { " in what can be read" };
            let text = format!("there is no host or server `{wanted}`{read}; {hint}");
            return Err(Failure::Usage(text));
        }
        found.retain(|server| self.all || self.names.iter().any(|name| is_meant(server, name)));
        Ok(found)
    }

    /// Whether this server is changed: one with a URL only where it is meant by its own name, and not as
    /// one of many.
    fn is_changed(&self, server: &Found<'_>) -> bool {
        let host = &server.configuration.host;
        let is_host = |name: &String| *name == host.id || *name == host.name;
        let mut names = self.names.iter();
        let is_named = names.any(|name| is_meant(server, name) && !is_host(name));
        server.words.is_some() || !self.all && is_named
    }

    /// Shows what changes in each file, asks, and changes it.
    fn change(&self, verb: &Verb<'_>) -> Outcome {
        let (configurations, mut exit) = self.configurations()?;
        let chosen = self.chosen(&configurations, matches!(exit, Exit::Fine))?;
        let (chosen, left): (Vec<_>, Vec<_>) = chosen
            .into_iter()
            .partition(|server| self.is_changed(server));
        let mut out = Output::stdout();
        let mut has_changes = false;
        for configuration in &configurations {
            let of_file = |it: &&Found<'_>| std::ptr::eq(it.configuration, configuration);
            let mut servers: Vec<_> = chosen.iter().filter(of_file).collect();
            let (text, are_all) = self.changed(configuration, &mut servers, verb, &mut out)?;
            if !are_all {
                exit = Exit::Refused;
            }
            if servers.is_empty() {
                continue;
            }
            has_changes = true;
            show(configuration, text, &mut out)?;
            out.flush()?;
            if self.dry_run {
                continue;
            }
            if !self.yes && !is_wanted()? {
                let file = output::shown(&configuration.path);
                out.line(&format!("{file} was not changed"))?;
            } else if !write(configuration, &servers, verb, &mut out)? {
                exit = Exit::Refused;
            }
        }
        if !has_changes && self.all {
            out.line("there is nothing to change")?;
        }
        if self.all && !verb.is_wrap && self.file.is_none() {
            tell_other_projects(&mut out)?;
        }
        let left: Vec<_> = left
            .iter()
            .filter(|it| it.url_problem().is_none())
            .collect();
        if verb.is_wrap && !left.is_empty() {
            let command = if self.file.is_some() {
                ""
            } else {
                "mcpreel wrap "
            };
            let left: Vec<_> = left.iter().map(|it| it.selector()).collect();
            let left = left.join(" ");
            out.line(&format!(
                "with a URL, and changed only where it is named: {command}{left}"
            ))?;
        }
        out.flush()?;
        Ok(exit)
    }

    /// The text of a configuration in which servers are changed, and whether all could be; `servers` keeps
    /// those that were. What cannot be changed is told, and does not keep the others from it.
    fn changed(
        &self,
        configuration: &Configuration,
        servers: &mut Vec<&Found<'_>>,
        verb: &Verb<'_>,
        out: &mut Output,
    ) -> Result<(String, bool), Failure> {
        let (mut text, mut are_all) = (configuration.document.text.clone(), true);
        for server in std::mem::take(servers) {
            let name = escape(&server.name);
            if verb.is_wrap && is_refused(server) {
                are_all = false;
                continue;
            }
            match edited(&text, configuration, &[server], verb.edit) {
                Ok(Some(new)) => {
                    servers.push(server);
                    text = new;
                }
                Ok(None) if self.all => {}
                Ok(None) => out.line(&format!("{name} {}", verb.not_needed))?,
                Err(error) => {
                    output::say(&format!("{name} is left as it is: {error}"));
                    are_all = false;
                }
            }
        }
        Ok((text, are_all))
    }

    /// Prints the changed entries as a configuration of their own, or as command lines.
    fn print(&self, edit: Edit<'_>) -> Outcome {
        let (configurations, mut outcome) = self.configurations()?;
        let mut out = Output::stdout();
        let chosen = self.chosen(&configurations, matches!(outcome, Exit::Fine))?;
        for server in chosen.iter().filter(|server| self.is_changed(server)) {
            if is_refused(server) {
                outcome = Exit::Refused;
                continue;
            }
            let configuration = server.configuration;
            let text = edited(&configuration.document.text, configuration, &[server], edit);
            let text = text.map_err(anyhow::Error::from)?;
            let text = text.unwrap_or_else(|| configuration.document.text.clone());
            let document = Document::parse(text, configuration.document.format);
            let document = document.map_err(anyhow::Error::from)?;
            let servers = configuration.host.servers(&document);
            let mut servers = servers.iter();
            let entry = servers.find(|it| it.name == server.name && it.within == server.within);
            let Some(entry) = entry else { continue };
            let raw = document.raw(&entry.node.at);
            if raw.starts_with('{') && serde_json::from_str::<serde_json::Value>(raw).is_ok() {
                let name = serde_json::to_string(&server.name)?;
                out.line(&format!("{{\"mcpServers\":{{{name}:{raw}}}}}"))?;
            } else if let Some(words) = edit::words(&configuration.host, entry.node) {
                out.line(&command(&words))?;
            }
        }
        out.flush()?;
        Ok(outcome)
    }
}

/// Says where servers are still recorded, as far as that is known.
fn tell_other_projects(out: &mut Output) -> Result<(), Failure> {
    // What is changed is changed: that the others are not known is no failure.
    let known = folder::of(&Folder::default()).map(|dir| Library::new(dir).list());
    let known = known.map_or_else(|_| Vec::new(), Result::unwrap_or_default);
    for (project, servers) in other_projects(&known).unwrap_or_default() {
        let project = output::shown(&project);
        out.line(&format!("still recorded in {project}: {servers}"))?;
    }
    Ok(out.line("other projects keep theirs: `mcpreel unwrap --all` in the folder of each")?)
}

/// Whether the URL of a server cannot be recorded; then it is said.
fn is_refused(server: &Found<'_>) -> bool {
    let problem = server.url_problem();
    if let Some(problem) = &problem {
        let name = escape(&server.name);
        output::say(&format!("{name} is left as it is: {problem}"));
    }
    problem.is_some()
}

/// Changes servers in a configuration and says what is to be done now, or why nothing was changed; then
/// it returns `false`.
fn write(
    configuration: &Configuration,
    servers: &[&Found<'_>],
    verb: &Verb<'_>,
    out: &mut Output,
) -> Result<bool, Failure> {
    let host = &configuration.host;
    if !host.edit {
        let name = &host.name;
        out.line(&format!(
            "{name} does not read what others write: {}",
            host.after
        ))?;
        return Ok(true);
    }
    let changed = file::change(
        &configuration.path,
        configuration.document.format,
        |document| edited(&document.text, configuration, servers, verb.edit),
    );
    if let Err(error) = changed {
        output::say(&escape(&error.to_string()));
        return Ok(false);
    }
    let names: Vec<_> = servers.iter().map(|server| escape(&server.name)).collect();
    let is = if names.len() == 1 { "is" } else { "are" };
    let (names, done, after) = (names.join(", "), verb.done, &host.after);
    out.line(&format!("{names} {is} {done}: {after}"))?;
    if !verb.is_wrap {
        return Ok(true);
    }
    if !host.verified {
        let text = "that this host reads this file is said by others, not by its makers";
        out.inked(Ink::Warn, text)?;
    }
    let of_user = host.note_of_user_file.iter();
    let of_user = of_user.filter(|_| configuration.scope == Scope::User);
    for note in host.note.iter().chain(of_user) {
        out.inked(Ink::Faint, note)?;
    }
    if is_shared(configuration) {
        let text = "the file names `mcpreel`, which has to be on the PATH of whoever uses it";
        out.inked(Ink::Faint, text)?;
    }
    if servers.iter().any(|server| server.words.is_none()) {
        let text = "a server that has the host log in (OAuth) refuses the recorder: unwrap it then";
        out.inked(Ink::Warn, text)?;
    }
    Ok(true)
}

/// Shows the lines that change, with signs in place of secrets.
fn show(configuration: &Configuration, new: String, out: &mut Output) -> Result<(), Failure> {
    out.inked(Ink::Strong, &output::shown(&configuration.path))?;
    let servers: Vec<_> = configuration.servers().collect();
    let commands = servers.iter().filter_map(|server| server.words.as_deref());
    let old = &configuration.document;
    let learned = commands.chain([std::slice::from_ref(&old.text)]);
    let new = Document::parse(new, old.format).map_err(anyhow::Error::from)?;
    let texts = masked(&[without_values(old), without_values(&new)], learned);
    let diff = TextDiff::from_lines(&*texts[0], &*texts[1]);
    for (nth, hunk) in diff
        .unified_diff()
        .context_radius(2)
        .iter_hunks()
        .enumerate()
    {
        if nth > 0 {
            out.inked(Ink::Faint, "  …")?;
        }
        for change in hunk.iter_changes() {
            let (sign, ink) = match change.tag() {
                ChangeTag::Delete => ('-', Ink::Bad),
                ChangeTag::Insert => ('+', Ink::Good),
                ChangeTag::Equal => (' ', Ink::Plain),
            };
            let line = change.value().trim_end_matches(['\r', '\n']);
            let line = line.replace('\t', "    ");
            out.inked(ink, &format!("{sign} {}", cut(&escape(&line), LONGEST)))?;
        }
    }
    Ok(())
}

/// The text without the values of environments and headers: many a secret looks like none.
fn without_values(document: &Document) -> String {
    let (mut text, mut found) = (document.text.clone(), Vec::new());
    find_values(&document.root, false, &mut found);
    found.sort_by_key(|at| Reverse(at.start));
    for at in found {
        text.replace_range(at, "\"***\"");
    }
    text
}

fn find_values(node: &Node, is_hidden: bool, found: &mut Vec<Range<usize>>) {
    let is_of_values = |name: &str| {
        ["env", "envs", "environment"].contains(&name) || name.to_lowercase().ends_with("headers")
    };
    match &node.kind {
        Kind::Map(members) => {
            for (key, value) in members {
                find_values(value, is_hidden || is_of_values(&key.name), found);
            }
        }
        Kind::List(elements) => {
            for element in elements {
                find_values(element, is_hidden, found);
            }
        }
        _ if is_hidden => found.push(node.at.clone()),
        _ => {}
    }
}

/// The text in which each of these servers is changed; `None` if none is.
fn edited(
    text: &str,
    configuration: &Configuration,
    servers: &[&Found<'_>],
    edit: Edit<'_>,
) -> Result<Option<String>, EditError> {
    let mut changed = None;
    for wanted in servers {
        let text = changed.as_deref().unwrap_or(text).to_owned();
        let document = Document::parse(text, configuration.document.format)?;
        let servers = configuration.host.servers(&document);
        let is_it = |it: &_| is_same(it, wanted);
        let Some(nth) = servers.iter().position(is_it) else {
            continue;
        };
        changed = edit(configuration, &document, nth)?.or(changed);
    }
    Ok(changed)
}

/// Whether others have this file too.
fn is_shared(configuration: &Configuration) -> bool {
    configuration.scope == Scope::Project && configuration.host.committed
}

fn is_same(server: &Server<'_>, wanted: &Found<'_>) -> bool {
    server.name == wanted.name && server.within == wanted.within
}

fn is_meant(server: &Found<'_>, wanted: &str) -> bool {
    let host = &server.configuration.host;
    let names = [&*host.id, &*host.name];
    let both = names.iter().filter_map(|name| wanted.strip_prefix(name));
    let mut both = both.filter_map(|rest| rest.strip_prefix(':'));
    names.contains(&wanted) || wanted == server.name || both.any(|name| name == server.name)
}

/// Whether the change is to be made: a person is asked, a script has to say so.
fn is_wanted() -> Result<bool, Failure> {
    if !output::is_attended() {
        let text = "nothing was changed: --yes changes without asking, --dry-run only shows";
        return Err(usage(text));
    }
    let answer = output::ask("change it? [y/N] ")?;
    Ok(["y", "yes"].contains(&answer.as_str()))
}
