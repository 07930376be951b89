//! The command line: the commands, and the options that several of them share. What else a command
//! takes stands beside its code.

mod args_replay;
mod compare;
mod minimise;
mod mock;

pub use args_replay::{Asked, Bind, Driving, Edit, Order as ReplayOrder, Part, Replay, bind};
pub use compare::{Diff, Form, ReportFormat, Strictness, rewrite};
pub use minimise::Minimise;
pub use mock::{Mock, OnMiss, Said};

use super::demo::{Demo, DemoHost, DemoServer};
use super::exit;
use super::export::Export;
use super::import::Import;
use super::lint::Lint;
use super::ls::Ls;
use super::open::{Appearance, Open};
use super::prune::Prune;
use super::redact::Redact;
use super::reindex::Reindex;
use super::report::Report;
use super::run::Run;
use super::search::Search;
use super::shell::{Completions, Man};
use super::show::Show;
use super::stats::Stats;
use super::tail::Tail;
use super::why::Why;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

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
that name).";

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
    pub folder: Folder,
    #[command(flatten)]
    pub appearance: Appearance,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    Run(Run),
    Open(Open),
    Ls(Ls),
    Show(Show),
    Tail(Tail),
    Stats(Stats),
    Why(Why),
    Lint(Lint),
    Search(Search),
    Diff(Diff),
    Replay(Replay),
    Minimise(Minimise),
    Mock(Mock),
    Export(Export),
    Import(Import),
    Redact(Redact),
    Report(Report),
    Demo(Demo),
    Prune(Prune),
    Reindex(Reindex),
    Completions(Completions),
    Man(Man),
    #[command(hide = true)]
    DemoServer(DemoServer),
    #[command(hide = true)]
    DemoHost(DemoHost),
}

/// Where the recordings are.
#[derive(Debug, Default, Args)]
pub struct Folder {
    /// The folder of the recordings [default: `$MCPREEL_DIR`, else `dir` in
    /// ~/.config/mcpreel/config.toml, else ~/.local/share/mcpreel/recordings]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// Which rows of a recording.
#[derive(Debug, Default, Args)]
pub struct Filter {
    /// Only rows that fit, in the filter language of the viewer: is:failed,
    /// `tool:search latency>500ms`, params.arguments.path~"^/etc/", ...
    #[arg(
        short = 'q',
        long = "query",
        value_name = "FILTER",
        allow_hyphen_values = true
    )]
    pub query: Option<String>,
}

/// One of these words, as what it means.
///
/// # Panics
///
/// When `parse` does not know one of the words.
pub fn words<T: Clone + Send + Sync + 'static>(
    words: &[&'static str],
    parse: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> + use<T> {
    let words = PossibleValuesParser::new(words.iter().copied());
    words.map(move |word| parse(&word).expect("it is one of the words"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
