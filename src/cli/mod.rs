//! The commands: arguments in, lines out. A command is one file: its arguments, and its code.
//!
//! * [`args`]: the command line, and the options that several commands share; `gone`: flags and
//!   commands that no longer exist, with what to do instead;
//! * [`output`]: the only place that prints; `rows` lays out the rows of a recording, `table` other
//!   columns; `json` makes objects of rows, `machine` reports for test runners and GitHub;
//! * `folder`, `select`, `filter`: which folder, which recording and which rows are meant;
//!   `cassette`: a cassette in place of a recording; `held`: lines of a file of any length;
//!   `quantity`: sizes, ages and durations as people write them;
//! * [`exit`]: the exit codes, and which failure has which.
//!
//! Nothing below this module sees raw arguments.

pub mod args;
pub mod cassette;
mod comparison;
mod demo;
mod diff;
pub mod exit;
mod export;
mod filter;
mod folder;
mod gone;
mod import;
mod json;
mod lint;
mod ls;
mod machine;
mod minimise;
pub mod mock;
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

use args::{Cli, Command};
use clap::Parser as _;
use exit::Outcome;
use std::process::ExitCode;

/// Runs the program: the exit code of whatever the command line asks for.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Help and version are data for stdout, mistakes are diagnostics; clap knows which.
        Err(error) => {
            match gone::line(&error, std::env::args_os()) {
                Some(line) => output::say(&line),
                None => _ = error.print(),
            }
            return match error.exit_code() {
                0 => ExitCode::SUCCESS,
                _ => ExitCode::from(2),
            };
        }
    };
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
        Command::Completions(args) => args.run(),
        Command::Man(args) => args.run(),
        Command::DemoServer(args) => demo::server(&args),
        Command::DemoHost(args) => demo::host(&args),
        Command::Tail(args) => args.run(),
        Command::Demo(args) => demo::run(&args),
    }
}
