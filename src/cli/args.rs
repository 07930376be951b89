//! The command line.

#![expect(
    missing_docs,
    reason = "clap shows doc comments in the help: commands and flattened groups have theirs at the struct"
)]

use super::{exit, quantity};
use crate::tui::app::settings::Color;
use crate::tui::theme::Theme;
use clap::builder::{PossibleValuesParser, TypedValueParser};
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

RECORDING is a path, `@` (the newest) or `@2` (the second newest), an id or its
beginning (at least four digits), or a name (the newest of that name).";

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
    Search(Search),
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

/// Which rows.
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

/// How the viewer looks; the configuration file has the same.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Options of the viewer")]
pub struct Appearance {
    /// Colours [default: unless `NO_COLOR` is set or `TERM` is dumb]
    #[arg(long, value_name = "WHEN", value_parser = words(&["auto", "always", "never"], Color::parse))]
    pub color: Option<Color>,
    /// Which colours [default: dark, or those of the last time]
    #[arg(long, value_name = "NAME", value_parser = words(&Theme::ALL.map(Theme::as_str), Theme::parse))]
    pub theme: Option<Theme>,
    /// Boxes, arrows and signs in ASCII
    #[arg(long)]
    pub ascii: bool,
    /// Nothing moves by itself but the rows
    #[arg(long)]
    pub no_motion: bool,
    /// Leave the mouse to the terminal, to select text
    #[arg(long)]
    pub no_mouse: bool,
}

/// One of these words, as what it means.
fn words<T: Clone + Send + Sync + 'static>(
    words: &[&'static str],
    parse: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    let words = PossibleValuesParser::new(words.iter().copied());
    words.map(move |word| parse(&word).expect("it is one of the words"))
}

/// Show a recording in the viewer: a terminal interface, live if it is being recorded
///
/// Keys: `?` shows them all, `q` goes back and quits.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel open                   the newest recording
  mcpreel open weather-server    the newest of that name
  mcpreel open '7f3a#1187'       with the cursor on a frame")]
pub struct Open {
    /// A path, @, @2, an id or its first four digits or more, or a name; #SEQ selects a frame
    #[arg(value_name = "RECORDING[#SEQ]", default_value = "@")]
    pub recording: OsString,
    #[command(flatten)]
    pub folder: Folder,
    #[command(flatten)]
    pub appearance: Appearance,
}

/// Record a stdio server: what goes into a host's configuration
///
/// Starts COMMAND, forwards every byte in both directions and on stderr untouched, and records
/// them. Options after COMMAND belong to it. mcpreel prints nothing itself, except one line on stderr
/// if the server cannot be started or the recording fails; a recording that fails never ends the
/// session.
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

const SHOW_EXAMPLES: &str = "\
Examples:
  mcpreel show                   the newest recording
  mcpreel show 7f3a              by the beginning of its id
  mcpreel show '7f3a#1187'       one frame and its exchange (7f3a:1187 is the same)
  mcpreel show -q 'is:failed OR latency>2s'
  mcpreel show @2 --frames --json | jq -r 'select(.stream == \"stderr\") | .text'";

/// What the words and signs mean that recordings are shown with.
const LEGEND: &str = "\
How to read it:
  #            the number of a frame: one line of a stream as it was read, counted
               over all streams; exchanges have the number of their request
  →  ←         from the client to the server, from the server to the client
  legacy       the era of the protocol with a handshake (initialize)
  modern       the era without one: every request says its version

STATE of a recording:
  live         it is being recorded
  pending      the session is over, the rest of it is not indexed yet
  interrupted  the recorder was killed; the rest is in the spool
  recovered    it was interrupted, and completed from its spool
  cut          a copy of a live recording, which may be short
  complete     all of it is there

STATUS of an exchange:
  open            no answer yet, and the recording is live
  ok              answered with a result
  tool-error      answered with a result that has isError
  error           answered with an error
  input-required  the server asked for input first; joined to the retry
  task            answered with a task; joined to its outcome
  cancelled       cancelled, and never answered
  late            answered after it was cancelled
  lost            the answering side ended before it answered: while its input was
                  open, by a signal, or with an exit code other than 0
  unanswered      the recording ended otherwise before there was an answer
  listening       a subscription that was open until the end; it has no latency";

/// Show a recording, or one frame of it with its exchange
///
/// Without options: who spoke, what they agreed on, how it ended, then a line per exchange. With
/// `#SEQ` after the recording: that frame, and the whole exchange that it belongs to.
#[derive(Debug, Args)]
#[command(after_help = SHOW_EXAMPLES, after_long_help = format!("{SHOW_EXAMPLES}\n\n{LEGEND}"))]
pub struct Show {
    /// A path, @, @2, an id or its first four digits or more, or a name; with #SEQ one frame
    #[arg(value_name = "RECORDING[#SEQ]", default_value = "@")]
    pub recording: OsString,
    #[command(flatten)]
    pub folder: Folder,
    #[command(flatten)]
    pub what: What,
    #[command(flatten)]
    pub filter: Filter,
    /// One JSON object per line; without another option the summary in one object
    #[arg(long)]
    pub json: bool,
}

/// Which rows to show.
#[derive(Debug, Default, Args)]
#[group(multiple = false)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one flag each on the command line, of which at most one is set"
)]
pub struct What {
    /// Every line of every stream, as it was read
    #[arg(long)]
    pub frames: bool,
    /// Requests with their responses
    #[arg(long)]
    pub exchanges: bool,
    /// What happened to the process and to the recording
    #[arg(long)]
    pub events: bool,
    /// What is wrong or remarkable
    #[arg(long)]
    pub findings: bool,
}

/// Follow a recording while it is made
///
/// Prints a line when an exchange ends, one per notification, stderr line and event, and one for
/// any exchange that has been open for over a second. Ends when the recording does.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel tail                   the newest live recording, or the next one
  mcpreel tail -q '-kind:stderr -method:notifications/progress'
  mcpreel tail weather-server --json")]
pub struct Tail {
    /// A path, @, @2, an id or its first four digits or more, or a name [default: the newest live
    /// one, or the next]
    #[arg(value_name = "RECORDING")]
    pub recording: Option<OsString>,
    #[command(flatten)]
    pub folder: Folder,
    #[command(flatten)]
    pub filter: Filter,
    /// One JSON object per line
    #[arg(long)]
    pub json: bool,
}

/// Latencies and failures per method and per tool
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel stats
  mcpreel stats -q 'tool:search time>-10m'
  mcpreel stats weather-server --json | jq 'select(.p99_ns > 1e9)'")]
pub struct Stats {
    /// A path, @, @2, an id or its first four digits or more, or a name
    #[arg(value_name = "RECORDING", default_value = "@")]
    pub recording: OsString,
    #[command(flatten)]
    pub folder: Folder,
    #[command(flatten)]
    pub filter: Filter,
    /// One JSON object per method or tool and line
    #[arg(long)]
    pub json: bool,
}

/// Find a text in recordings
///
/// Looks in every byte on record and in the summaries, the newest recording and frame first. Without
/// a capital letter in TEXT case is ignored; text is also found where JSON has escaped it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel search 'quota exceeded'
  mcpreel search --regex 'E[0-9]{4}' weather-server
  mcpreel search timeout --json | jq -r '\"\\(.id)#\\(.seq)\"'")]
pub struct Search {
    /// What is looked for
    #[arg(value_name = "TEXT")]
    pub text: String,
    /// Paths, @, @2, ids or their first four digits or more, or names [default: all recordings]
    #[arg(value_name = "RECORDING")]
    pub recordings: Vec<OsString>,
    #[command(flatten)]
    pub folder: Folder,
    /// TEXT is a regular expression over the bytes as they were on the wire
    #[arg(long)]
    pub regex: bool,
    /// One JSON object per frame and line
    #[arg(long)]
    pub json: bool,
}

/// Record a built-in host and server, and show them live
///
/// About 15 seconds of traffic worth looking at, through the real recorder. Needs nothing else.
/// On a terminal the viewer shows it, and quitting ends it; elsewhere it is printed like `tail`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel demo
  mcpreel demo | cat             as lines")]
pub struct Demo {
    #[command(flatten)]
    pub folder: Folder,
    #[command(flatten)]
    pub appearance: Appearance,
    /// How many times faster than normal
    #[arg(long, value_name = "N", default_value_t = 1, hide = true)]
    pub speed: u32,
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

/// The rows of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    Frames,
    Exchanges,
    Events,
    Findings,
}

impl What {
    /// The rows that were asked for; `None` without any of the options.
    #[must_use]
    pub fn rows(&self) -> Option<Rows> {
        let options = [
            (self.frames, Rows::Frames),
            (self.exchanges, Rows::Exchanges),
            (self.events, Rows::Events),
            (self.findings, Rows::Findings),
        ];
        let asked = options.into_iter().find(|(is_set, _)| *is_set);
        asked.map(|(_, rows)| rows)
    }
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
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn run(words: &[&str]) -> Run {
        let words = ["mcpreel", "run"].iter().chain(words);
        match Cli::try_parse_from(words).expect("it parses").command {
            Some(Command::Run(run)) => run,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_after_the_command_belong_to_it_with_and_without_the_dashes() {
        for words in [
            &["--name", "n", "--", "npx", "-y", "--name", "x"][..],
            &["--name", "n", "npx", "-y", "--name", "x"],
        ] {
            let run = run(words);
            assert_eq!(run.command, ["npx", "-y", "--name", "x"]);
            assert_eq!(run.name.as_deref(), Some("n"));
        }
    }

    #[test]
    fn dashes_after_the_command_belong_to_it() {
        assert_eq!(run(&["srv", "--", "-x"]).command, ["srv", "--", "-x"]);
        assert_eq!(run(&["--", "srv", "--", "-x"]).command, ["srv", "--", "-x"]);
        assert_eq!(run(&["--", "--odd"]).command, ["--odd"]);
    }

    #[test]
    fn a_misspelt_option_is_not_taken_for_the_command() {
        assert!(Cli::try_parse_from(["mcpreel", "run", "--nmae", "n", "srv"]).is_err());
        assert!(Cli::try_parse_from(["mcpreel", "run"]).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn arguments_need_not_be_text() {
        use std::os::unix::ffi::OsStringExt as _;
        let odd = OsString::from_vec(vec![b'/', 0xff]);
        let words = ["mcpreel", "run", "srv"].map(OsString::from);
        let words = words.into_iter().chain([odd.clone()]);
        let Some(Command::Run(run)) = Cli::try_parse_from(words).expect("it parses").command else {
            panic!("another command");
        };
        assert_eq!(run.command[1], odd);
    }
}
