//! `mcpreel run`: the recorder, in a host's pipe.
//!
//! Only wrong arguments keep the server from starting. A wrong configuration is put on record, and the
//! session goes on.

use super::exit::{Exit, Failure, Outcome};
use super::folder::{Folder, Settings};
use super::reach::{self, Reach, ServerUrl};
use super::{log, output, quantity};
use clap::Args;
use mcpreel_capture::net::upstream::Upstream;
use mcpreel_store::record;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

/// Record a stdio server: what goes into a host's configuration
///
/// Starts COMMAND, forwards every byte in both directions and on stderr untouched, and records
/// them. Options after COMMAND belong to it. mcpreel prints nothing itself, except one line on
/// stderr if the server cannot be started or the recording fails, or if --url waits at a terminal; a
/// recording that fails never ends the session.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel run -- npx -y @modelcontextprotocol/server-filesystem /home/ada
  mcpreel run --name files --max-size 500MB -- uvx mcp-server-git
  mcpreel run --url https://api.example.com/mcp --header 'Authorization: Bearer ${TOKEN}'

In a host's configuration:
  {\"command\": \"mcpreel\", \"args\": [\"run\", \"--\", \"npx\", \"-y\", \"some-server\"]}

Exit code: the server's, or the same signal; 127 not found, 126 not executable,
125 if mcpreel itself failed before the start.")]
pub struct Run {
    /// The name of the recording [default: the command's]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    folder: Folder,
    /// Record at most this much traffic (the session goes on), for example 500MB
    #[arg(long, value_name = "SIZE", value_parser = quantity::size)]
    max_size: Option<u64>,
    /// Mark the recording as one of the demo
    #[arg(long, hide = true)]
    demo: bool,
    /// Connect the host to the server at this URL instead of starting a command. What goes over the
    /// network is a recording of its own, NAME-http
    #[arg(long, value_name = "URL", value_parser = ServerUrl(reach::http_url), conflicts_with = "command")]
    url: Option<Upstream>,
    /// The server's command and its arguments
    #[arg(
        required_unless_present = "url",
        trailing_var_arg = true,
        value_name = "COMMAND"
    )]
    pub command: Vec<OsString>,
    #[command(flatten)]
    reach: Reach,
}

impl Run {
    /// Records the session; ends as the server did.
    pub fn run(self) -> Outcome {
        let settings = Settings::read();
        let mut faults: Vec<String> = settings.faults().collect();
        let [max_size, slow_ns] = configured(&settings, &mut faults);
        let dir = settings.recordings_dir(&self.folder);
        let given = self.name.clone();
        let mut name = given.and_then(|name| usable(name, &mut faults));
        let (mut id, mut other_side) = (None, None);
        let command = if let Some(url) = &self.url {
            let name = name.get_or_insert_with(|| url.name());
            // Each of the two recordings names the other, unless there will be no other.
            if self.reach.is_usable()
                && let (Ok(this), Ok(other)) = (record::new_id(), record::new_id())
            {
                (id, other_side) = (Some(this), Some(other));
            }
            if io::stdin().is_terminal() {
                output::say(
                    "this waits for a host's messages on stdin; `mcpreel proxy URL` records a client of a URL",
                );
            }
            let dir = dir.as_ref().ok().map(PathBuf::as_path);
            self.bridge(url, name, dir, [&id, &other_side])?
        } else if let Some(option) = self.reach.used() {
            return Err(Failure::Usage(format!(
                "{option} needs --url. Leave it out, or put it after the command if it is meant for the \
                 server"
            )));
        } else {
            self.command
        };
        let options = record::Options {
            command,
            secrets: (self.url.as_ref())
                .map_or_else(Vec::new, |url| self.reach.secrets(&url.to_string())),
            name,
            dir,
            cwd: None,
            transport: "stdio",
            url: None,
            origin: if self.demo { "demo" } else { "live" },
            parent: None,
            id,
            other_side,
            played: None,
            read_only_tools: Vec::new(),
            max_size: self.max_size.or(max_size),
            slow_ns,
            remarks: faults,
        };
        let ending = record::run(&options, log::begin);
        Ok(Exit::Process(record::end_as(ending)))
    }

    /// The command of the server at `url`: the bridge to it, which makes the second of the two recordings.
    fn bridge(
        &self,
        url: &Upstream,
        name: &str,
        dir: Option<&Path>,
        [this, other]: [&Option<String>; 2],
    ) -> Result<Vec<OsString>, Failure> {
        let most = self.max_size.map(|most| format!("{most}B").into());
        let options = [
            ("--name", Some(format!("{name}-http").into())),
            ("--dir", dir.map(Into::into)),
            ("--max-size", most),
            ("--recording-id", other.as_ref().map(Into::into)),
            ("--other-side", this.as_ref().map(Into::into)),
        ];
        let options = options.into_iter();
        let given = options.filter_map(|(option, value)| Some((option, value?)));
        Ok(self.reach.bridge(url, given)?)
    }
}

/// The name, if a selector can ever mean it; the command's is taken instead.
pub(super) fn usable(name: String, faults: &mut Vec<String>) -> Option<String> {
    let why = match name.as_str() {
        "" => "it is empty",
        name if name.starts_with('@') => "it begins with @",
        name if name.contains(['#', ':']) => "it has # or : in it",
        _ => return Some(name),
    };
    faults.push(format!(
        "--name {name:?} is not used, because {why}: the recording has the command's name"
    ));
    None
}

/// `max-size` of the configuration in bytes, where `none` sets no limit, and `slow` in nanoseconds.
pub(super) fn configured(settings: &Settings, faults: &mut Vec<String>) -> [Option<u64>; 2] {
    let mut value = |name: &str, read: fn(&str) -> Result<u64, String>| {
        let setting = settings.config().one(name)?;
        let fault = |message| faults.push(format!("{}: {name}: {message}", setting.at));
        read(&setting.text).map_err(fault).ok()
    };
    let size = |text: &str| match text {
        "none" => Ok(u64::MAX),
        size => quantity::size(size),
    };
    [
        value("max-size", size),
        value("slow", quantity::nanoseconds),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser as _;

    #[test]
    fn a_name_that_no_selector_could_mean_is_a_remark() {
        for name in ["", "@", "@2", "a#1", "a:1"] {
            let mut faults = Vec::new();
            assert_eq!(usable(name.to_owned(), &mut faults), None, "{name}");
            assert_eq!(faults.len(), 1, "{name}");
        }
        let mut faults = Vec::new();
        let name = usable("a b@c".to_owned(), &mut faults);
        assert_eq!((name.as_deref(), faults.len()), (Some("a b@c"), 0));
    }

    fn parsed(words: &[&str]) -> Run {
        let words = ["mcpreel", "run"].iter().chain(words);
        match Cli::try_parse_from(words).expect("it parses").command {
            Some(Command::Run(run)) => run,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_after_the_command_belong_to_it_with_and_without_the_dashes() {
        for words in [
            &["--name", "n", "--", "npx", "-y", "--name", "x"][..],
            &["--name", "n", "npx", "-y", "--name", "x"],
        ] {
            let run = parsed(words);
            assert_eq!(run.command, ["npx", "-y", "--name", "x"]);
            assert_eq!(run.name.as_deref(), Some("n"));
        }
        let after = ["srv", "--", "-x"];
        assert_eq!(parsed(&["srv", "--", "-x"]).command, after);
        assert_eq!(parsed(&["--", "srv", "--", "-x"]).command, after);
        assert_eq!(parsed(&["--", "--odd"]).command, ["--odd"]);
    }
}
