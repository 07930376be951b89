//! `mcpreel completions` and `mcpreel man`: our command line for shells, and as a manual page.
//!
//! The completions of a shell ask the program itself, which knows the recordings, the rules and the
//! servers of hosts that there are.

use super::exit::{Exit, Failure, Outcome};
use super::folder::{self, Folder};
use super::hosts;
use super::output::Output;
use anyhow::Context as _;
use clap::{Arg, Args, Command};
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use clap_complete::env::Shells;
use clap_complete::{CompleteEnv, Shell};
use clap_mangen::Man as Page;
use mcpreel_config::nearest;
use mcpreel_share::phrases::when;
use mcpreel_store::library::{Entry, Ids, Library, names};
use mcpreel_wire::text::escape;
use std::ffi::OsStr;
use std::io::{self, Write as _};

/// Set by the script of a shell that wants to know what could come next. Its own name: hosts hand all
/// kinds of variables on, and nothing may keep `run` from its work.
const VARIABLE: &str = "MCPREEL_COMPLETE";

/// Print the completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel completions bash > ~/.local/share/bash-completion/completions/mcpreel
  mcpreel completions zsh > \"${fpath[1]}/_mcpreel\"")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub fn run(&self) -> Outcome {
        let (name, shells) = (self.shell.to_string(), Shells::builtins());
        let shell = shells.completer(&name).context("the shell is not known")?;
        let mut script = Vec::new();
        shell.write_registration(VARIABLE, "mcpreel", "mcpreel", "mcpreel", &mut script)?;
        print(&script)
    }
}

/// Answers a shell that asks what could come next in a command line, and ends; returns if none does.
pub fn complete(program: impl Fn() -> Command) {
    if std::env::var_os(VARIABLE).is_some() {
        CompleteEnv::with_factory(|| completing(&program()))
            .var(VARIABLE)
            .complete();
    }
}

/// The program with what is known of the values of its arguments, by what they are called.
fn completing(program: &Command) -> Command {
    let known = |command: &str, argument: Arg| {
        let name = argument.get_value_names().and_then(|names| names.first());
        let name = name.map(|name| name.trim_end_matches("[#SEQ]").to_owned());
        let (find, takes_files): (fn(&str) -> Vec<_>, _) = match name.as_deref() {
            Some("RECORDING" | "LEFT" | "RIGHT") => (recordings, true),
            Some("RULE") if command == "lint" => (|_| rules(), false),
            Some("SERVER") if command == "unwrap" => (|_| servers(true), false),
            Some("SERVER") => (|_| servers(false), false),
            _ => return argument,
        };
        argument.add(ArgValueCompleter::new(move |typed: &OsStr| {
            let mut fitting = fitting(find(&typed.to_string_lossy()), typed);
            if takes_files {
                fitting.extend(PathCompleter::file().complete(typed));
            }
            fitting
        }))
    };
    let program = visible(program);
    let commands = program.get_subcommands().cloned();
    let commands = commands.map(|command| {
        let name = command.get_name().to_owned();
        command.mut_args(|argument| known(&name, argument))
    });
    Command::new("mcpreel").subcommands(commands.collect::<Vec<_>>())
}

fn rules() -> Vec<(String, String)> {
    let rules = mcpreel_lint::catalogue().iter();
    rules
        .map(|rule| (rule.id.to_owned(), rule.summary.to_owned()))
        .collect()
}

fn servers(are_recorded: bool) -> Vec<(String, String)> {
    let servers = hosts::named(are_recorded).into_iter();
    servers.map(|(label, name)| (name, label)).collect()
}

/// Places of the newest recordings that are offered: `@`, `@2` and so on.
const PLACES: usize = 9;

/// The selectors of recordings, with the recordings that they mean: ids, and what else begins like
/// the word that is `typed`.
fn recordings(typed: &str) -> Vec<(String, String)> {
    let dir = folder::of(&Folder::default()).ok();
    let entries = dir.and_then(|dir| Library::new(dir).list().ok());
    let entries = entries.unwrap_or_default();
    let ids = Ids::of(&entries);
    let described = |entry: &Entry| {
        let (name, at) = (escape(&entry.name), when::short(entry.wall_ns));
        format!("{name}, {at}")
    };
    let by_age = entries.iter().take(PLACES).zip(1..).map(|(entry, nth)| {
        let place = if nth == 1 {
            "@".to_owned()
        } else {
            format!("@{nth}")
        };
        (place, described(entry))
    });
    let by_age = by_age.take(if typed.is_empty() { 1 } else { PLACES });
    let by_id = entries.iter();
    let by_id = by_id.map(|entry| (ids.short(&entry.id).to_owned(), described(entry)));
    let mut offered: Vec<_> = by_age.chain(by_id).collect();
    // A name means its newest recording, which comes first.
    for (entry, name) in (entries.iter()).flat_map(|entry| names(entry).map(move |it| (entry, it)))
    {
        let is_known = offered.iter().any(|(known, _)| known == name);
        if !typed.is_empty() && name.starts_with(typed) && !is_known {
            offered.push((name.to_owned(), described(entry)));
        }
    }
    offered
}

fn fitting(all: Vec<(String, String)>, typed: &OsStr) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let fitting = all
        .into_iter()
        .filter(|(value, _)| value.starts_with(&*typed));
    let candidate = |(value, help): (String, String)| {
        let help = Some(help).filter(|help| !help.is_empty());
        CompletionCandidate::new(value).help(help.map(Into::into))
    };
    fitting.map(candidate).collect()
}

/// Print the manual page
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel man | man -l -
  mcpreel man replay | man -l -    the page of one command")]
pub struct Man {
    /// Only the page of this command
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

impl Man {
    pub fn run(&self, mut program: Command) -> Outcome {
        program.build();
        let Some(name) = &self.command else {
            return print(&page(&program)?);
        };
        let mut commands = program.get_subcommands();
        let command = commands.find(|command| command.get_name() == name);
        let command = command.ok_or_else(|| {
            let names = program.get_subcommands().map(Command::get_name);
            let names: Vec<_> = names.collect();
            let hint = nearest(name, &names).map(|near| format!("; did you mean `{near}`?"));
            let name = escape(name);
            Failure::Usage(format!(
                "there is no command `{name}`{}",
                hint.unwrap_or_default()
            ))
        })?;
        let mut manual = Vec::new();
        Page::new(command.clone())
            .title(format!("mcpreel-{name}"))
            .render_title(&mut manual)?;
        section(command, &mut manual)?;
        print(&manual)
    }
}

fn print(bytes: &[u8]) -> Outcome {
    let mut out = Output::stdout();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(Exit::Fine)
}

/// The program without the commands that only the demo starts.
fn visible(all: &Command) -> Command {
    let shown = all
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    Command::new("mcpreel")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommands(shown.cloned())
}

/// The manual page as roff, with a section per command.
fn page(program: &Command) -> io::Result<Vec<u8>> {
    let man = Page::new(program.clone());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    for command in program
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
    {
        if command.get_name() != "help" {
            section(command, &mut page)?;
        }
    }
    page.extend_from_slice(b".SH EXAMPLES\n");
    page.extend_from_slice(as_it_stands(program).as_bytes());
    Ok(page)
}

/// A command as a section of its own: roff's requests for headings are moved one level down.
fn section(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let name = command.get_name().to_uppercase();
    page.extend_from_slice(format!(".SH \"{name}\"\n").as_bytes());
    let man = Page::new(command.clone());
    let mut body = Vec::new();
    man.render_synopsis_section(&mut body)?;
    man.render_description_section(&mut body)?;
    man.render_options_section(&mut body)?;
    for line in body.split_inclusive(|&byte| byte == b'\n') {
        match line.strip_prefix(b".SH ") {
            Some(heading) => {
                page.extend_from_slice(b".SS ");
                page.extend_from_slice(heading);
            }
            None => page.extend_from_slice(line),
        }
    }
    page.extend_from_slice(b".SS EXAMPLES\n");
    page.extend_from_slice(as_it_stands(command).as_bytes());
    Ok(())
}

/// The text below the options in the help, line by line: the renderer would join the lines.
fn as_it_stands(command: &Command) -> String {
    let text = command.get_after_long_help().or(command.get_after_help());
    let text = text.map(ToString::to_string);
    let text = text
        .unwrap_or_default()
        .replace('\\', "\\e")
        .replace('-', "\\-");
    let lines = text.lines().filter(|line| *line != "Examples:");
    let guarded = lines.map(|line| format!("\\&{line}\n"));
    format!(".nf\n{}.fi\n", guarded.collect::<String>())
}
