//! The commands: arguments in, lines out. A command is one file: its arguments, and its code.
//!
//! * `gone`: flags and commands that no longer exist, with what to do instead;
//! * [`output`]: the only place that prints; `rows` lays out the rows of a recording, `table` other
//!   columns; `ci_reports` reports for test runners and GitHub;
//! * `folder`, `select`, `filter`: which folder, which recording and which rows are meant;
//!   `cassette`: a cassette in place of a recording;
//!   `quantity`: sizes, ages and durations as people write them;
//! * [`exit`]: the exit codes, and which failure has which.
//!
//! Nothing below this module sees raw arguments, and no command imports from this file: it alone
//! knows all commands.

pub mod cassette;
mod ci_reports;
mod comparison;
mod demo;
mod diff;
pub mod exit;
mod export;
mod filter;
mod folder;
mod import;
mod lint;
mod log;
mod ls;
mod minimise;
mod mock;
mod open;
pub mod output;
mod prune;
mod quantity;
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

use clap::error::ContextKind;
use clap::{CommandFactory as _, Parser, Subcommand};
use exit::Outcome;
use mcpreel_store::record::{self, indexer_process};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  mcpreel demo
      A built-in host and server, recorded and shown live; needs nothing else.
  mcpreel run -- npx -y @modelcontextprotocol/server-everything
      What goes into a host's configuration in place of the server's command.
  mcpreel tail
      Follow the session that is being recorded, from another terminal.
  mcpreel
      All recordings, in the viewer.

RECORDING is a path, also of a cassette, `@` (the newest) or `@2` (the second
newest), an id or its beginning (at least four digits), or a name (the newest of
that name that was not made by a replay or a mock).";

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
    Minimise(minimise::Minimise),
    Mock(mock::Mock),
    Export(export::Export),
    Import(import::Import),
    Redact(redact::Redact),
    Report(report::Report),
    Demo(demo::Demo),
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
    let mut arguments = std::env::args_os().skip(1);
    if arguments
        .next()
        .is_some_and(|command| command == indexer_process::COMMAND)
    {
        arguments
            .next()
            .into_iter()
            .for_each(|spool| indexer_process::main(spool.into(), log::begin));
        return ExitCode::SUCCESS;
    }
    record::index_by_this_program();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Help and version are data for stdout, mistakes are diagnostics; clap knows which.
        Err(error) => {
            match misplaced(&error) {
                Some(line) => output::say(&line),
                None => _ = error.print(),
            }
            return match error.exit_code() {
                0 => ExitCode::SUCCESS,
                _ => ExitCode::from(2),
            };
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

/// The line to print for an option that stands in front of a command: clap only says that they
/// cannot be used together.
fn misplaced(error: &clap::Error) -> Option<String> {
    let command = error.get(ContextKind::InvalidSubcommand)?;
    let option = error.get(ContextKind::PriorArg)?;
    Some(format!(
        "put {option} behind the command: `mcpreel {command} {option}`"
    ))
}

fn dispatch(command: Command) -> Outcome {
    match command {
        Command::Run(args) => Ok(exit::Exit::Process(args.run())),
        Command::Open(args) => args.run(),
        Command::Ls(args) => args.run(),
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
        Command::Completions(args) => args.run(&Cli::command()),
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
    fn an_option_in_front_of_a_command_is_told_where_it_belongs() {
        let words = ["mcpreel", "--dir", "x", "run", "--", "cat"];
        let error = Cli::try_parse_from(words).expect_err("clap takes no option there");
        let line = misplaced(&error).expect("a line of its own");
        assert!(line.contains("mcpreel run --dir <DIR>"), "{line}");
    }
}
