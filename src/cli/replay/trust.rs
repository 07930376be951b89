//! Whose command it is that would be started.
//!
//! A recording names the command of its server. One that this user has recorded names a command that
//! this user has started; one from elsewhere may name anything, and whoever looks into a file that a
//! stranger has sent does not expect to run it.

use crate::cli::args::{Driving, Folder};
use crate::cli::exit::Failure;
use crate::cli::folder::Settings;
use crate::cli::output;
use mcpreel_replay::player::Command;
use mcpreel_share::phrases;
use mcpreel_store::library::Library;
use mcpreel_store::reader::{Recording, Summary};
use mcpreel_wire::text::escape;
use std::io::{self, IsTerminal as _};

/// Asks whether the recorded command may be started, where nobody has said so and the recording is
/// not this user's own; without a terminal it is refused.
pub fn ask(
    driving: &Driving,
    recording: &Recording,
    summary: &Summary,
    command: &Command,
) -> Result<(), Failure> {
    let said = !driving.command.is_empty() || driving.allowed.run_recorded_command;
    if said || is_own(recording, summary) {
        return Ok(());
    }
    let path = recording.path().display().to_string();
    let words = command
        .words
        .iter()
        .map(|word| word.to_string_lossy().into_owned());
    let words = phrases::command(&words.collect::<Vec<_>>());
    let place = command.dir.as_ref().map_or_else(
        || "this folder".to_owned(),
        |dir| escape(&dir.display().to_string()).into_owned(),
    );
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::Unsafe(format!(
            "{} is none of your own recordings, so the command in it is not started unseen: \
             {words} (in {place}); give a command after `--`, or start that one with \
             --run-recorded-command",
            escape(&path)
        )));
    }
    output::raw_diagnostic(&format!(
        "{} is none of your own recordings. It names this command:\n  {words}\nin {place}\n\
         Start it? Only `yes` does. ",
        escape(&path)
    ));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if answer.trim().eq_ignore_ascii_case("yes") {
        return Ok(());
    }
    let message =
        "nothing was started; a command after `--` is started instead of the recorded one";
    Err(Failure::Unsafe(message.to_owned()))
}

/// Whether this user has recorded it. A folder that is named by `--dir` may be anybody's.
pub fn is_own(recording: &Recording, summary: &Summary) -> bool {
    let folder = Settings::read().recordings_dir(&Folder::default());
    folder.is_ok_and(|dir| Library::new(dir).made(recording, summary))
}
