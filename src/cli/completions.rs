//! `mcpreel completions`: what a shell needs to complete our command line.

use super::args::{Cli, Completions};
use super::exit::{Exit, Outcome};
use super::output::Output;
use clap::CommandFactory as _;

/// Prints them.
pub fn run(args: &Completions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mcpreel", &mut script);
    let mut out = Output::stdout();
    out.bytes(&script)?;
    out.flush()?;
    Ok(Exit::Fine)
}
