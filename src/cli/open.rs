//! `mcpreel open`, and `mcpreel` alone: the viewer.

use super::cassette::Tape;
use super::exit::{self, Exit, Failure, Outcome};
use super::folder::{Folder, Settings};
use super::ls::Ls;
use super::quantity::one_of;
use super::{hosts, output, redact, select};
use clap::Args;
use mcpreel_redact::Policy;
use mcpreel_share::outgoing::file;
use mcpreel_store::library::Library;
use mcpreel_store::record::{self, Ending};
use mcpreel_tui::settings::{self, Color, Remembered};
use mcpreel_tui::theme::Theme;
use mcpreel_tui::{Ended, Next, Options};
use mcpreel_wire::text::escape;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use terminal_colorsaurus::{QueryOptions, ThemeMode, theme_mode};

/// How long a terminal may take to say what its background is.
const PATIENCE: Duration = Duration::from_millis(100);

/// The options of the viewer; the configuration file has the same.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Options of the viewer")]
pub struct Appearance {
    /// Colours in the viewer [default: unless `NO_COLOR` is set or `TERM` is dumb]
    #[arg(long, value_name = "WHEN", value_parser = one_of::<Color>())]
    color: Option<Color>,
    /// Theme of the viewer [default: that of the last time, or what suits the terminal]
    #[arg(long, value_name = "NAME", value_parser = one_of::<Theme>())]
    theme: Option<Theme>,
    /// Boxes, arrows and signs in ASCII
    #[arg(long)]
    ascii: bool,
    /// Update running times only with new rows and keys, or every 5 s
    #[arg(long)]
    no_motion: bool,
    /// Leave the mouse to the terminal, to select text
    #[arg(long)]
    no_mouse: bool,
}

/// Show a recording in the viewer, live if it is being recorded
///
/// Keys: `?` shows them all, `q` goes back and quits.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpreel open                   the newest recording
  mcpreel open weather-server    the newest session of that name
  mcpreel open '7f3a#1187'       with the cursor on a frame")]
pub struct Open {
    /// A path, @, @2, an id or its first four digits or more, or a name; #SEQ selects a frame
    #[arg(value_name = "RECORDING[#SEQ]", default_value = "@")]
    recording: OsString,
    #[command(flatten)]
    folder: Folder,
    #[command(flatten)]
    appearance: Appearance,
}

impl Open {
    pub fn run(&self) -> Outcome {
        let mut options = options(&self.folder, &self.appearance)?;
        let mut selected = select::find(&self.recording, &options.library)?;
        if !is_terminal() {
            return Err(exit::usage(
                "the viewer needs a terminal; `mcpreel show` prints a recording",
            ));
        }
        let tape = Tape::of(&selected.path)?;
        if let Some(tape) = &tape {
            tape.reel().clone_into(&mut selected.path);
            options.remarks.extend_from_slice(tape.told());
            let fleeting = "this is a cassette: marks and notes that you make here are not kept";
            options.remarks.push(fleeting.to_owned());
        }
        options.open = Some(selected.path);
        options.seq = selected.seq;
        show(options)
    }
}

/// Shows all recordings: in the viewer, or without a terminal as a list.
pub fn all(folder: Folder, appearance: &Appearance) -> Outcome {
    if !is_terminal() {
        return Ls::of(folder).run();
    }
    let mut options = options(&folder, appearance)?;
    options.find_servers = Some(hosts::not_recorded);
    match shown(options)? {
        Shown::Ended(exit) => Ok(exit),
        Shown::Next(next) => go_on(&next),
    }
}

/// Becomes the program that does what comes after the viewer: a thread of this one still reads the keys.
fn go_on(next: &Next) -> Outcome {
    let mut program = Command::new(std::env::current_exe()?);
    match next {
        Next::Demo => program.arg("demo").args(std::env::args_os().skip(1)),
        Next::Wrap(server) => program.args(["wrap", "--", server]),
    };
    Err(program.exec().into())
}

/// Whether somebody sits in front of us, can press keys, and has a terminal that moves its cursor.
pub fn is_terminal() -> bool {
    !output::is_dumb() && io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// The viewer on all recordings, by the options, the configuration, the last time and the terminal.
/// A configuration that cannot be read is refused; what is merely odd is said in the viewer.
pub fn options(folder: &Folder, appearance: &Appearance) -> Result<Options, Failure> {
    let read = Settings::checked()?;
    let dir = read.recordings_dir(folder).map_err(Failure::Usage)?;
    let memory = read.state_file();
    let remembered = memory.as_deref().map(Remembered::read).unwrap_or_default();
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let color = (appearance.color, no_color);
    let suggest = || appearance.theme.unwrap_or_else(suggested);
    let (mut settings, faults) =
        settings::Settings::new(read.config(), &remembered, color, suggest);
    let look = &mut settings.look;
    look.theme = appearance.theme.unwrap_or(look.theme);
    look.ascii |= appearance.ascii;
    settings.motion &= !appearance.no_motion;
    settings.mouse &= !appearance.no_mouse;
    let warnings = read.warnings();
    let warnings = warnings.map(|warning| escape(&warning).into_owned());
    Ok(Options {
        library: match folder.dir {
            Some(_) => Library::of_anybody(dir),
            None => Library::new(dir),
        },
        open: None,
        seq: None,
        settings,
        policy,
        remarks: warnings.chain(faults).collect(),
        find_servers: None,
        memory,
    })
}

/// The theme that suits the terminal: by what it says of itself, else by asking it for its background.
fn suggested() -> Theme {
    let colors = std::env::var("COLORFGBG").unwrap_or_default();
    if !colors.is_empty() || !is_terminal() {
        return Theme::of_terminal(&colors);
    }
    let mut question = QueryOptions::default();
    question.timeout = PATIENCE;
    match theme_mode(question) {
        Ok(ThemeMode::Light) => Theme::Light,
        Ok(ThemeMode::Dark) | Err(_) => Theme::Dark,
    }
}

/// How a viewer ended, and what comes next.
enum Shown {
    Ended(Exit),
    Next(Next),
}

/// Shows the viewer until the user quits.
pub fn show(options: Options) -> Outcome {
    Ok(match shown(options)? {
        Shown::Ended(exit) => exit,
        Shown::Next(_) => Exit::Fine,
    })
}

fn shown(options: Options) -> Result<Shown, Failure> {
    // The viewer takes care of signals: it has a terminal to put in order.
    file::hand_signals_over();
    // What did not end in time may leave something behind, however the viewer ends.
    let sweep = file::Sweep;
    let ended = mcpreel_tui::run(options);
    drop(sweep);
    Ok(match ended? {
        Ended::Quit => Shown::Ended(Exit::Fine),
        Ended::Signal(signal) => {
            Shown::Ended(Exit::Process(record::end_as(Ending::Signal(signal))))
        }
        Ended::Next(next) => Shown::Next(next),
    })
}

/// The user's policy of redaction. Without a usable one recordings can still be looked at.
fn policy() -> Result<Arc<Policy>, String> {
    redact::policy(&redact::Secrets::default()).map_err(|failure| {
        let (_, said) = exit::code(Err(failure));
        said.unwrap_or_default()
    })
}
