//! What becomes a recording.

use super::Folder;
use clap::Args;
use std::ffi::OsString;

/// Make recordings of cassettes and of other programs' logs
///
/// What a file is, is seen from what is in it: a cassette (`mcpreel export`), a session log of
/// mcpsnoop, an mcp.log or mcp-server-NAME.log of Claude Desktop, or JSON Lines of messages, bare
/// or in an object with a time and a direction. A log of several sessions becomes several
/// recordings. What a log does not say stays unknown; where a direction is guessed or a line passed
/// over, that is said. The same file makes the same recording, and only once.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel import session.jsonl
  mcpreel import ~/Library/Logs/Claude/mcp-server-weather.log
  mcpreel import ~/.local/share/mcpsnoop/sessions/*.jsonl
  journalctl -u my-host -o cat | mcpreel import --name my-host -
  mcpreel why 7f3a                   then as with any recording, by the id that it said")]
pub struct Import {
    /// The files; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<OsString>,
    #[command(flatten)]
    pub folder: Folder,
    /// What the recordings are called [default: as the log says, else after the file]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// One JSON object per recording and line
    #[arg(long)]
    pub json: bool,
}
