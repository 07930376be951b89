//! The viewer: one recording, or the demo.

use super::Folder;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use mcpreel_tui::app::settings::Color;
use mcpreel_tui::theme::Theme;
use std::ffi::OsString;

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
    /// Times move on only with rows and keys, else every 5 s
    #[arg(long)]
    pub no_motion: bool,
    /// Leave the mouse to the terminal, to select text
    #[arg(long)]
    pub no_mouse: bool,
}

/// One of these words, as what it means.
pub(super) fn words<T: Clone + Send + Sync + 'static>(
    words: &[&'static str],
    parse: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> + use<T> {
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
