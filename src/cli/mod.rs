//! The commands: arguments in, lines out.
//!
//! * [`args`]: the command line; one file per command does what it says;
//! * [`output`]: the only place that prints; [`table`] lays rows out in columns;
//! * [`exit`]: the exit codes, and which failure has which.
//!
//! Nothing below this module sees raw arguments.

pub mod args;
mod completions;
mod demo;
pub mod exit;
pub mod folder;
mod json;
mod man;
pub mod output;
mod quantity;
mod run;
mod show;
pub mod table;
mod words;

use args::{Cli, Command};
use clap::Parser as _;
use exit::Outcome;
use std::process::ExitCode;

/// Runs the program: the exit code of whatever the command line asks for.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Help and version are data for stdout, mistakes are diagnostics; clap knows which.
        Err(error) => {
            let shown = error.print();
            return match (error.exit_code(), shown) {
                (0, _) => ExitCode::SUCCESS,
                _ => ExitCode::from(2),
            };
        }
    };
    let outcome = match cli.command {
        Some(Command::Run(args)) => return run::run(args),
        Some(command) => dispatch(command),
        None => dispatch(Command::Ls(args::Ls::default())),
    };
    let (code, message) = exit::code(outcome);
    if let Some(message) = message {
        output::say(&message);
    }
    code
}

fn dispatch(command: Command) -> Outcome {
    match command {
        Command::Completions(args) => completions::run(&args),
        Command::Man(_) => man::run(),
        Command::DemoServer(args) => demo::server(&args),
        Command::DemoHost(args) => demo::host(&args),
        _ => Err(exit::Failure::Usage("not there yet".to_owned())),
    }
}
