//! The command line: what every command takes, and what its help says.

mod compare;
mod export;
mod import;
mod lint;
mod minimise;
mod mock;
mod reading;
mod redact;
mod replay;
mod report;
mod viewer;

pub use compare::{Diff, Form, ReportFormat, Strictness, rewrite};
pub use export::{Export, ExportFormat};
pub use import::Import;
pub use lint::{Format, Level, Lint, rule};
pub use minimise::Minimise;
pub use mock::{Mock, OnMiss, Said, Sequence};
pub use reading::{Filter, Rows, Search, Show, Stats, Tail, What, Why};
pub use redact::{Redact, Secrets};
pub use replay::{Asked, Bind, Driving, Edit, Order as ReplayOrder, Part, Replay, bind};
pub use report::Report;
pub use viewer::{Appearance, Demo, Open};

use super::{exit, quantity};
use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

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

/// Record a stdio server: what goes into a host's configuration
///
/// Starts COMMAND, forwards every byte in both directions and on stderr untouched, and records
/// them. Options after COMMAND belong to it. mcpreel prints nothing itself, except one line on
/// stderr if the server cannot be started or the recording fails; a recording that fails never ends
/// the session.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel run -- npx -y @modelcontextprotocol/server-filesystem /home/ada
  mcpreel run --name files --max-size 500MB -- uvx mcp-server-git

In a host's configuration:
  {\"command\": \"mcpreel\", \"args\": [\"run\", \"--\", \"npx\", \"-y\", \"some-server\"]}

Exit code: the server's, or the same signal; 127 not found, 126 not executable,
125 if mcpreel itself failed before the start.")]
pub struct Run {
    /// The name of the recording [default: the command's]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    #[command(flatten)]
    pub folder: Folder,
    /// Record at most this much traffic (the session goes on), for example 500MB
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    pub max_size: Option<u64>,
    /// Mark the recording as one of the demo
    #[arg(long, hide = true)]
    pub demo: bool,
    /// The server's command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// List the recordings, live ones first, then the newest
#[derive(Debug, Default, Args)]
#[command(after_help = "\
Examples:
  mcpreel ls
  mcpreel ls -q is:failed        recordings in which something failed
  mcpreel ls --json | jq -r 'select(.failed > 0) | .path'")]
pub struct Ls {
    #[command(flatten)]
    pub folder: Folder,
    /// Only recordings with a row that fits, in the filter language: is:failed, tool:search, ...
    #[arg(
        short = 'q',
        long = "query",
        value_name = "FILTER",
        allow_hyphen_values = true
    )]
    pub query: Option<String>,
    /// One JSON object per recording and line
    #[arg(long)]
    pub json: bool,
}

/// Delete old recordings
///
/// Nothing is ever deleted by itself; live recordings and those with a note are always kept. Each
/// option names recordings to delete; at least one is needed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel prune --older-than 30d --dry-run
  mcpreel prune --keep 100 --max-size 2GB")]
pub struct Prune {
    #[command(flatten)]
    pub folder: Folder,
    #[command(flatten)]
    pub policy: Policy,
    /// Only say what would be deleted
    #[arg(long)]
    pub dry_run: bool,
}

/// What goes.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub struct Policy {
    /// Those that began longer ago, for example 30d, 12h, 2w
    #[arg(long, value_name = "AGE", value_parser = quantity::age)]
    pub older_than: Option<Duration>,
    /// All but the newest N
    #[arg(long, value_name = "N", value_parser = quantity::number)]
    pub keep: Option<usize>,
    /// The oldest, until the rest is no larger, for example 2GB
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    pub max_size: Option<u64>,
}

/// Rebuild what is derived from the recorded bytes
///
/// Exchanges, findings and counts are derived; frames and events are the truth and stay untouched.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel reindex 7f3a
  mcpreel reindex *.reel")]
pub struct Reindex {
    /// Paths, @, @2, ids or their first four digits or more, or names
    #[arg(value_name = "RECORDING", required = true)]
    pub recordings: Vec<OsString>,
    #[command(flatten)]
    pub folder: Folder,
}

/// Print the completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel completions bash > ~/.local/share/bash-completion/completions/mcpreel
  mcpreel completions zsh > \"${fpath[1]}/_mcpreel\"")]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// Print the manual page
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel man | man -l -")]
pub struct Man {}

/// The server of the demo
#[derive(Debug, Args)]
pub struct DemoServer {
    /// How many times faster than normal
    #[arg(long, default_value_t = 1)]
    pub speed: u32,
}

/// The host of the demo
#[derive(Debug, Args)]
pub struct DemoHost {
    /// How many times faster than normal
    #[arg(long, default_value_t = 1)]
    pub speed: u32,
    /// The server's command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

#[cfg(test)]
mod tests;
