//! The commands: arguments in, lines out.
//!
//! * [`args`]: the command line; one file per command does what it says;
//! * [`output`]: the only place that prints; `table` lays rows out in columns, `lines` makes
//!   lines that need no table, `json` makes objects;
//! * `machine`, `comparison`: reports for machines; what came of a comparison, in every form;
//! * `folder`, `select`, `filter`: which folder, which recording and which rows are meant;
//!   `cassette`: a cassette in place of a recording;
//! * `gone`: flags and commands that no longer exist, with what to do instead;
//! * `held`: lines of a file, as long as they can be held;
//! * [`exit`]: the exit codes, and which failure has which.
//!
//! Nothing below this module sees raw arguments.

pub mod args;
pub mod cassette;
mod comparison;
mod completions;
mod demo;
mod diff;
pub mod exit;
mod export;
mod filter;
mod folder;
mod gone;
mod held;
mod import;
mod json;
mod lines;
mod lint;
mod ls;
mod machine;
mod man;
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
mod run;
mod search;
mod select;
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
        Command::Run(args) => Ok(exit::Exit::Process(run::run(args))),
        Command::Open(args) => open::run(&args),
        Command::Ls(args) => ls::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Why(args) => why::run(&args),
        Command::Lint(args) => lint::run(&args),
        Command::Search(args) => search::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Minimise(args) => minimise::run(&args),
        Command::Mock(args) => mock::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Redact(args) => redact::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Prune(args) => prune::run(&args),
        Command::Reindex(args) => reindex::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(_) => man::run(),
        Command::DemoServer(args) => demo::server(&args),
        Command::DemoHost(args) => demo::host(&args),
        Command::Tail(args) => tail::run(&args),
        Command::Demo(args) => demo::run(&args),
    }
}
