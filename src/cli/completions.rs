//! `mcpreel completions`: what a shell needs to complete our command line.

use super::args::{Cli, Completions};
use super::exit::{Exit, Outcome};
use super::output::Output;
use clap::{Command, CommandFactory as _};

/// Prints them.
pub fn run(args: &Completions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut visible(), "mcpreel", &mut script);
    let mut out = Output::stdout();
    out.bytes(&script)?;
    out.flush()?;
    Ok(Exit::Fine)
}

/// The program without the commands that only the demo starts.
fn visible() -> Command {
    let all = Cli::command();
    let shown = all
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    Command::new("mcpreel")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommands(shown.cloned())
}
