//! The commands: arguments in, lines out. A command is one file: its arguments, and its code.
//!
//! * [`output`]: the only place that prints; `rows` lays out the rows of a recording, `table` other
//!   columns; `ci_reports` reports for test runners and GitHub;
//! * `folder`, `select`, `filter`: which folder, which recording and which rows are meant;
//!   `cassette`: a cassette in place of a recording;
//!   `quantity`: sizes, ages and durations as people write them;
//! * [`exit`]: the exit codes, and which failure has which.
//!
//! Nothing below this module sees raw arguments, and no command imports from this file: it alone
//! knows all commands.

mod bridge;
pub mod cassette;
mod ci_reports;
mod comparison;
mod demo;
mod diff;
mod doctor;
pub mod exit;
mod export;
mod filter;
mod folder;
mod hosts;
mod import;
mod lint;
mod listen;
mod log;
mod ls;
mod minimise;
mod mock;
mod open;
pub mod output;
mod proxy;
mod prune;
mod quantity;
mod reach;
mod redact;
mod reindex;
mod replay;
mod report;
mod rows;
mod run;
mod search;
mod select;
mod shell;
mod show;
mod stats;
mod table;
mod tail;
mod why;
mod wrap;

use clap::error::{ContextKind, ErrorKind};
use clap::{
    Arg, ArgAction, Args as _, CommandFactory as _, FromArgMatches as _, Parser, Subcommand,
};
use exit::Outcome;
use mcpreel_share::phrases;
use mcpreel_store::record::{self, indexer_process};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  mcpreel demo                 a built-in host and server, recorded and shown live
  mcpreel run -- npx -y @modelcontextprotocol/server-everything
                               what a host's configuration has in place of the server's command
  mcpreel tail                 follow the session that is being recorded
  mcpreel                      all recordings, in the viewer

RECORDING is a path, also of a cassette; `@` (the newest) or `@2` (the second newest); an id or its
first four digits or more; or a name (its newest recording that no replay or mock made).";

/// A flight recorder for the Model Context Protocol: it sits in the stdio pipe between a host and a
/// server, forwards every byte untouched, and keeps each session in one file.
#[derive(Debug, Parser)]
#[command(name = "mcpreel", version, max_term_width = 100)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", exit::HELP))]
pub struct Cli {
    /// Without one: the viewer with all recordings, or without a terminal `ls`.
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub folder: folder::Folder,
    #[command(flatten)]
    pub appearance: open::Appearance,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(run::Run),
    Proxy(proxy::Proxy),
    #[command(alias = "view")]
    Open(open::Open),
    Ls(ls::Ls),
    Show(show::Show),
    Tail(tail::Tail),
    Stats(stats::Stats),
    Why(why::Why),
    Lint(lint::Lint),
    Search(search::Search),
    Diff(diff::Diff),
    Replay(replay::Replay),
    #[command(alias = "minimize")]
    Minimise(minimise::Minimise),
    Mock(mock::Mock),
    Export(export::Export),
    Import(import::Import),
    Redact(redact::Redact),
    Report(report::Report),
    Demo(demo::Demo),
    Hosts(hosts::Hosts),
    Wrap(wrap::Wrap),
    Unwrap(wrap::Unwrap),
    Doctor(doctor::Doctor),
    Prune(prune::Prune),
    Reindex(reindex::Reindex),
    Completions(shell::Completions),
    Man(shell::Man),
    #[command(hide = true)]
    DemoServer(demo::DemoServer),
    #[command(hide = true)]
    DemoHost(demo::DemoHost),
}

/// Runs the program: the exit code of whatever the command line asks for.
pub fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if let [_, command, spool] = &words[..]
        && command == indexer_process::COMMAND
    {
        indexer_process::main(spool.into(), log::begin);
        return ExitCode::SUCCESS;
    }
    shell::complete(program);
    record::index_by_this_program();
    let cli = match parse(words.clone()) {
        Ok(cli) => cli,
        // Help and version are data for stdout, mistakes are diagnostics; clap knows which.
        Err(error) => {
            let has_no_suggestion = error.get(ContextKind::SuggestedSubcommand).is_none();
            if error.kind() == ErrorKind::InvalidSubcommand && has_no_suggestion {
                let server = words[1..].iter().map(|word| word.to_string_lossy().into());
                let server = phrases::command(&server.collect::<Vec<_>>());
                output::say(&format!("did you mean: mcpreel run -- {server}"));
            } else {
                _ = error.print();
            }
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    if !matches!(cli.command, Some(Command::Run(_))) {
        log::begin();
    }
    let outcome = match cli.command {
        Some(command) => dispatch(command),
        None => open::all(cli.folder, &cli.appearance),
    };
    let (code, message) = exit::code(outcome);
    if let Some(message) = message {
        output::say(&message);
    }
    code
}

/// The commands by what they are for.
const GROUPS: [(&str, &str); 5] = [
    ("Record", "run proxy demo hosts wrap unwrap doctor"),
    ("Look", "open ls show tail stats why search"),
    ("Check", "lint diff replay minimise"),
    ("Share", "export report redact import mock"),
    ("Tidy", "prune reindex completions man"),
];

/// Commands with many options: their `--help` is as short as `-h`.
const LONG: [&str; 6] = ["show", "replay", "minimise", "mock", "export", "diff"];

/// The command line as people see it.
fn program() -> clap::Command {
    let mut program = Cli::command();
    let mut help = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (heading, names) in GROUPS {
        _ = writeln!(help, "\n{heading}:");
        for name in names.split(' ') {
            let command = program.find_subcommand(name).expect("it is a command");
            let about = command.get_about().cloned().unwrap_or_default();
            _ = writeln!(help, "  {name:<12} {about}");
        }
    }
    let short = Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::HelpShort);
    let short = short.help("Print help; `mcpreel man` has more");
    // clap knows no help that is short and has all options: `replay -h` leaves out those marked as rare,
    // which any other help has.
    let is_brief = std::env::args_os().any(|word| word == "-h");
    program = program.mut_subcommands(|command| match command.get_name() {
        "replay" if is_brief => {
            let short = short.clone().help("Print help; --help has all options");
            command.disable_help_flag(true).arg(short)
        }
        name => {
            let is_long = LONG.contains(&name);
            let command = command.mut_args(|option| option.hide_short_help(false));
            let short = is_long.then(|| short.clone());
            command.disable_help_flag(is_long).args(short)
        }
    });
    program.help_template(help + "\nOptions:\n{options}{after-help}")
}

/// Reads the words of a command line.
pub fn parse(words: Vec<OsString>) -> Result<Cli, clap::Error> {
    let words = arranged(words);
    // A host waits for its server, and to build all commands takes half a millisecond.
    if let Some(run) = run_alone(&words) {
        return Ok(Cli {
            command: Some(Command::Run(run)),
            folder: folder::Folder::default(),
            appearance: open::Appearance::default(),
        });
    }
    let matches = program().try_get_matches_from(words);
    let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    cli.map_err(|mut error| {
        // The tip to pass an unknown option as a value is never what was meant.
        error.remove(ContextKind::Suggested);
        error
    })
}

/// The arguments of `run`, if the words are that command without a mistake.
fn run_alone(words: &[OsString]) -> Option<run::Run> {
    if words.get(1)? != "run" {
        return None;
    }
    let alone = run::Run::augment_args(clap::Command::new("run"));
    let matches = alone.try_get_matches_from(&words[1..]).ok()?;
    run::Run::from_arg_matches(&matches).ok()
}

/// The words of the command line, with options in front of the command moved behind it, and `run`
/// in front of a command line that stands alone behind `--`.
fn arranged(mut words: Vec<OsString>) -> Vec<OsString> {
    let mut at = 1;
    while let Some(name) = words
        .get(at)
        .and_then(|word| word.to_str()?.strip_prefix("--"))
        && !name.is_empty()
    {
        let program = Cli::command();
        let mut options = program.get_arguments();
        let option = options.find(|option| option.get_long() == Some(name));
        at += 1 + usize::from(option.is_some_and(|option| option.get_action().takes_values()));
    }
    if words.get(at).is_some_and(|word| word == "--") {
        words.insert(at, "run".into());
    }
    if at < words.len() {
        words[1..=at].rotate_right(1);
    }
    words
}

fn dispatch(command: Command) -> Outcome {
    match command {
        Command::Run(args) => args.run(),
        Command::Proxy(args) => args.run(),
        Command::Open(args) => args.run(),
        Command::Ls(args) => args.run(),
        Command::Hosts(args) => args.run(),
        Command::Wrap(args) => args.run(),
        Command::Unwrap(args) => args.run(),
        Command::Doctor(args) => args.run(),
        Command::Show(args) => args.run(),
        Command::Stats(args) => args.run(),
        Command::Why(args) => args.run(),
        Command::Lint(args) => args.run(),
        Command::Search(args) => args.run(),
        Command::Diff(args) => diff::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Minimise(args) => minimise::run(&args),
        Command::Mock(args) => mock::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Redact(args) => redact::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Prune(args) => args.run(),
        Command::Reindex(args) => args.run(),
        Command::Completions(args) => args.run(),
        Command::Man(args) => args.run(Cli::command()),
        Command::DemoServer(args) => demo::server(&args),
        Command::DemoHost(args) => demo::host(&args),
        Command::Tail(args) => args.run(),
        Command::Demo(args) => demo::run(&args),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn run_alone_is_read_as_among_all_commands() {
        for typed in [
            "-- cat",
            "--dir x run --name y --max-size 5MB -- cat --dir z",
            "run --url http://127.0.0.1:9/mcp --header A:b",
        ] {
            let words = format!("mcpreel {typed}");
            let words: Vec<_> = words.split(' ').map(OsString::from).collect();
            let matches = program().get_matches_from(arranged(words.clone()));
            let among_all = Cli::from_arg_matches(&matches).unwrap();
            let alone = run_alone(&arranged(words)).expect("it is right");
            let Some(Command::Run(run)) = among_all.command else {
                panic!("{typed}");
            };
            assert_eq!(format!("{alone:?}"), format!("{run:?}"));
        }
    }

    #[test]
    fn options_in_front_of_a_command_are_taken_as_if_they_stood_behind_it() {
        let cases = [
            ("--dir x run -- cat", "run --dir x -- cat"),
            ("--dir=x --ascii ls --json", "ls --dir=x --ascii --json"),
            ("-- npx foo", "run -- npx foo"),
            ("--dir x -- cat", "run --dir x -- cat"),
            ("run -- cat --dir x", "run -- cat --dir x"),
            ("--dir x", "--dir x"),
            ("--help", "--help"),
            ("-h ls", "-h ls"),
        ];
        for (typed, meant) in cases {
            let words = format!("mcpreel {typed}");
            let arranged = arranged(words.split(' ').map(OsString::from).collect());
            assert_eq!(arranged[1..].join(" ".as_ref()), *meant, "{typed}");
        }
    }
}
